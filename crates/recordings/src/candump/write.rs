//! A recording as `candump -l` would have written it.

use std::fmt::Write;

use chronoseal_wire::can::FrameKind;

use super::{BRS_FLAG, ERROR_FLAG, ESI_FLAG, FDF_FLAG};
use crate::recording::{RecordedError, RecordedFrame, Recording};

/// The recording as a log that `canplayer` plays and [`read`](crate::read) reads.
///
/// Times are whole microseconds, cut off: the format has no finer ones. A channel whose name is a number gets `can` before
/// it, since Linux calls its interfaces so; one with white space gets `_` instead.
///
/// ```
/// let log = b"(1398128223.803317) can0 166#D0320009\n(1398128223.804583) can0 158##1000000000000000A\n";
/// let recording = chronoseal_recordings::read(log)?;
/// let written = chronoseal_recordings::write_candump(&recording);
/// assert_eq!(written, "(1398128223.803317) can0 166#D0320009\n(1398128223.804583) can0 158##5000000000000000A\n");
/// # Ok::<(), chronoseal_recordings::ReadError>(())
/// ```
pub fn write(recording: &Recording) -> String {
    let mut text = String::new();
    let names: Vec<String> = recording.channels.iter().map(|name| interface(name)).collect();
    let mut errors = recording.errors.iter().peekable();
    for frame in &recording.frames {
        while let Some(error) = errors.next_if(|error| error.at_ns < frame.at_ns) {
            write_error(&mut text, recording, &names, error);
        }
        write_frame(&mut text, recording, &names, frame);
    }
    for error in errors {
        write_error(&mut text, recording, &names, error);
    }
    text
}

fn interface(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("can{name}") } else { name }
}

fn begin(text: &mut String, recording: &Recording, names: &[String], at_ns: u64, channel: u16) {
    let us = recording.start_ns.saturating_add(at_ns) / 1000;
    let name = names.get(usize::from(channel)).map_or("can", String::as_str);
    let _ = write!(text, "({}.{:06}) {name} ", us / 1_000_000, us % 1_000_000);
}

fn write_frame(text: &mut String, recording: &Recording, names: &[String], recorded: &RecordedFrame) {
    begin(text, recording, names, recorded.at_ns, recorded.channel);
    let frame = &recorded.frame;
    let _ = write!(text, "{}#", frame.id());
    match frame.kind() {
        FrameKind::Fd { brs, esi } => {
            let flags = FDF_FLAG | if brs { BRS_FLAG } else { 0 } | if esi { ESI_FLAG } else { 0 };
            let _ = write!(text, "#{flags:X}");
        }
        FrameKind::Remote => {
            let _ = write!(text, "R{}", frame.dlc().raw().min(8));
        }
        FrameKind::Classical => {}
    }
    for byte in frame.data() {
        let _ = write!(text, "{byte:02X}");
    }
    if !frame.kind().is_fd() && frame.dlc().raw() > 8 {
        let _ = write!(text, "_{:X}", frame.dlc().raw());
    }
    text.push('\n');
}

fn write_error(text: &mut String, recording: &Recording, names: &[String], error: &RecordedError) {
    begin(text, recording, names, error.at_ns, error.channel);
    let _ = write!(text, "{:08X}#", ERROR_FLAG | error.class);
    for byte in error.details {
        let _ = write!(text, "{byte:02X}");
    }
    text.push('\n');
}
