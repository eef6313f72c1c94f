//! Gathers frames while a format is read, and makes a recording of them.

use std::collections::BTreeMap;

use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind, LengthError};

use crate::error::{Place, Problem};
use crate::format::Format;
use crate::recording::{RecordedError, RecordedFrame, Recording, Warning};

/// Frames that are read of one recording.
pub const FRAMES_MAX: usize = 20_000_000;
/// Longest recording `[ns]`: 50 days. What comes later is left out, for then the recorder's clock was set in between.
pub const LENGTH_NS_MAX: u64 = 50 * 86_400 * 1_000_000_000;
/// Channels that are told apart.
const CHANNELS_MAX: usize = 256;

/// Longest piece of a file that an error shows `[char]`.
const SHOWN_MAX: usize = 60;

/// What has been read so far.
pub(crate) struct Collector {
    format: Format,
    channels: Vec<String>,
    /// With the recorder's own times.
    frames: Vec<RecordedFrame>,
    errors: Vec<RecordedError>,
    left_out: BTreeMap<&'static str, (u64, Place)>,
    missing: Vec<&'static str>,
    /// Entries that are damaged, and what is wrong with the first.
    damaged: Option<(u64, Problem)>,
}

impl Collector {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            channels: Vec::new(),
            frames: Vec::new(),
            errors: Vec::new(),
            left_out: BTreeMap::new(),
            missing: Vec::new(),
            damaged: None,
        }
    }

    /// The number of the channel of this name.
    pub(crate) fn channel(&mut self, name: &str, place: Place) -> Result<u16, Problem> {
        if let Some(known) = self.channels.iter().position(|known| known == name) {
            return Ok(known as u16);
        }
        if self.channels.len() == CHANNELS_MAX {
            return Err(self.too_many("channels", CHANNELS_MAX, place));
        }
        self.channels.push(name.to_owned());
        Ok((self.channels.len() - 1) as u16)
    }

    /// A data frame with exactly `data`.
    pub(crate) fn data_frame(
        &self,
        place: Place,
        id: CanId,
        kind: FrameKind,
        data: &[u8],
    ) -> Result<CanFrame, Problem> {
        let frame = match kind {
            FrameKind::Fd { brs, esi } => CanFrame::fd(id, data, brs).map(|frame| frame.with_error_state(esi)),
            FrameKind::Classical | FrameKind::Remote => CanFrame::classical(id, data),
        };
        frame.map_err(|error| {
            let expected = match error {
                LengthError::Fd(_) => "0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes of data",
                _ => "at most 8 bytes of data",
            };
            self.malformed(place, expected, format_args!("{} bytes", data.len()), "no CAN frame has that many")
        })
    }

    /// A remote frame that asks for `len` bytes.
    pub(crate) fn remote_frame(&self, place: Place, id: CanId, len: u32) -> Result<CanFrame, Problem> {
        let dlc = u8::try_from(len).ok().and_then(Dlc::new);
        let wrong = || self.malformed(place, "a data length code of 0 to 15", len, "no remote frame has that");
        Ok(CanFrame::remote(id, dlc.ok_or_else(wrong)?))
    }

    /// Takes a frame; `at_ns` is the recorder's own time.
    pub(crate) fn push(&mut self, place: Place, at_ns: u64, channel: u16, frame: CanFrame) -> Result<(), Problem> {
        if self.frames.len() == FRAMES_MAX {
            return Err(self.too_many("frames", FRAMES_MAX, place));
        }
        self.frames.push(RecordedFrame { at_ns, channel, frame });
        Ok(())
    }

    /// Takes an error; its `at_ns` is the recorder's own time.
    pub(crate) fn push_error(&mut self, place: Place, error: RecordedError) -> Result<(), Problem> {
        if self.errors.len() == FRAMES_MAX {
            return Err(self.too_many("errors", FRAMES_MAX, place));
        }
        self.errors.push(error);
        Ok(())
    }

    /// Counts an entry that is no frame.
    pub(crate) fn leave_out(&mut self, what: &'static str, place: Place) {
        self.left_out.entry(what).or_insert((0, place)).0 += 1;
    }

    /// Counts an entry that is damaged, in a format whose entries stand for themselves. Anything else goes on as it is.
    pub(crate) fn spare(&mut self, outcome: Result<(), Problem>) -> Result<(), Problem> {
        match outcome {
            Err(problem @ Problem::Malformed { .. }) => {
                self.damaged.get_or_insert((0, problem)).0 += 1;
                Ok(())
            }
            other => other,
        }
    }

    /// What is wrong with the first damaged entry, if there are more of them than of sound ones.
    pub(crate) fn too_damaged(&self) -> Option<Problem> {
        let (count, problem) = self.damaged.as_ref()?;
        (*count > (self.frames.len() + self.errors.len()) as u64).then(|| problem.clone())
    }

    /// Notes, once, what the format does not say.
    pub(crate) fn miss(&mut self, what: &'static str) {
        if !self.missing.contains(&what) {
            self.missing.push(what);
        }
    }

    pub(crate) fn malformed(
        &self,
        place: Place,
        expected: &'static str,
        found: impl std::fmt::Display,
        help: &'static str,
    ) -> Problem {
        Problem::Malformed { format: self.format, place, expected, found: shortened(&found.to_string()), help }
    }

    pub(crate) fn truncated(&self, place: Place, expected: &'static str) -> Problem {
        Problem::Truncated { format: self.format, place, expected }
    }

    pub(crate) fn unsupported(&self, place: Place, what: impl std::fmt::Display, help: &'static str) -> Problem {
        Problem::Unsupported { format: self.format, place, what: shortened(&what.to_string()), help }
    }

    fn too_many(&self, what: &'static str, limit: usize, place: Place) -> Problem {
        Problem::TooMany { format: self.format, place, what, limit }
    }

    /// The recording: times from the first frame, in order.
    pub(crate) fn finish(self) -> Recording {
        let Self { format, channels, mut frames, mut errors, left_out, missing, damaged } = self;
        let mut warnings: Vec<Warning> =
            left_out.into_iter().map(|(what, (count, first))| Warning::LeftOut { what, count, first }).collect();
        warnings.extend(damaged.map(|(count, first)| Warning::Damaged { count, first: Box::new(first) }));
        warnings.extend(missing.into_iter().map(Warning::Missing));
        let (mut latest, mut count, mut back_ns) = (0, 0, 0);
        for frame in &frames {
            if frame.at_ns < latest {
                count += 1;
                back_ns = back_ns.max(latest - frame.at_ns);
            }
            latest = latest.max(frame.at_ns);
        }
        if count > 0 {
            warnings.push(Warning::OutOfOrder { count, back_ns });
        }
        frames.sort_by_key(|frame| frame.at_ns);
        errors.sort_by_key(|error| error.at_ns);
        let starts = [frames.first().map(|frame| frame.at_ns), errors.first().map(|error| error.at_ns)];
        let start_ns = starts.into_iter().flatten().min().unwrap_or(0);
        for at_ns in frames.iter_mut().map(|frame| &mut frame.at_ns).chain(errors.iter_mut().map(|e| &mut e.at_ns)) {
            *at_ns -= start_ns;
        }
        let count = frames.len() + errors.len();
        frames.retain(|frame| frame.at_ns <= LENGTH_NS_MAX);
        errors.retain(|error| error.at_ns <= LENGTH_NS_MAX);
        let late = (count - frames.len() - errors.len()) as u64;
        if late > 0 {
            warnings.push(Warning::TooLate { count: late });
        }
        Recording { format, start_ns, channels, frames, errors, warnings }
    }
}

/// At most [`SHOWN_MAX`] characters, none of which moves a cursor.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}
