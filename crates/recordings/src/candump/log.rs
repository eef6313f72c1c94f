//! `(1398128223.803317) can0 166#D0320009`

use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use super::{BRS_FLAG, ERROR_FLAG, ERROR_MASK, ESI_FLAG};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::{can_id, hex, hex_number, lines, seconds_ns};

const HELP: &str = "a line is `(seconds.microseconds) interface identifier#data`, as `candump -l` writes it";

/// True for a line of the log, whole or broken.
pub(crate) fn is_log_line(line: &str) -> bool {
    let Some((time, rest)) = line.strip_prefix('(').and_then(|line| line.split_once(')')) else { return false };
    let mut words = rest.split_whitespace();
    let (_, frame) = (words.next(), words.next());
    seconds_ns(time.trim()).is_some() && frame.is_some_and(|frame| frame.contains('#'))
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    for line in lines(bytes) {
        // As canplayer does: what does not begin with a time is a remark.
        if !line.text.starts_with('(') {
            to.leave_out("remarks", line.place);
            continue;
        }
        let outcome = frame(&line.text, line.place, to);
        if line.is_open {
            if outcome.is_err() {
                return Err(to.truncated(line.place, "a frame"));
            }
            to.miss("the last line has no line end: its frame may be cut off");
        }
        outcome?;
    }
    Ok(())
}

fn frame(text: &str, place: Place, to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, expected, found: &str| Err(to.malformed(place, expected, found, HELP));
    let Some((time, rest)) = text.trim_start_matches('(').split_once(')') else {
        return wrong(to, "`)` behind the time", text);
    };
    let Some(at_ns) = seconds_ns(time.trim()) else { return wrong(to, "a time in seconds", time) };
    let mut words = rest.split_whitespace();
    let (Some(interface), Some(frame)) = (words.next(), words.next()) else {
        return wrong(to, "an interface and a frame", rest);
    };
    // `-x` adds whether the frame was received or sent.
    if let Some(more) = words.find(|word| !matches!(*word, "R" | "T")) {
        return wrong(to, "nothing behind the frame", more);
    }
    let channel = to.channel(interface, place)?;
    let Some((id_text, data_text)) = frame.split_once('#') else { return wrong(to, "identifier#data", frame) };
    // `05123#81:00:12345678#112233`: flags, type and acceptance field.
    if data_text.split('#').next().is_some_and(|fields| fields.split(':').count() == 3) {
        to.leave_out("CAN XL frames, which are not read", place);
        return Ok(());
    }
    let raw = hex_number(id_text).filter(|_| matches!(id_text.len(), 3 | 8));
    let Some(raw) = raw else { return wrong(to, "an identifier of 3 or 8 hexadecimal digits", id_text) };
    if id_text.len() == 8 && raw & ERROR_FLAG != 0 {
        let details = hex(data_text).and_then(|data| <[u8; 8]>::try_from(data).ok());
        let Some(details) = details else { return wrong(to, "8 bytes about an error", data_text) };
        return to.push_error(place, RecordedError { at_ns, channel, class: raw & ERROR_MASK, details });
    }
    let Some(id) = can_id(raw, id_text.len() == 8) else { return wrong(to, "an identifier of 11 or 29 bits", id_text) };
    let frame = match data_text.strip_prefix('#') {
        Some(fd) => fd_frame(fd, id, place, to)?,
        None => classical_frame(data_text, id, place, to)?,
    };
    to.push(place, at_ns, channel, frame)
}

/// `fd` is the flags' digit and data.
fn fd_frame(fd: &str, id: CanId, place: Place, to: &Collector) -> Result<CanFrame, Problem> {
    let (flags, data) = fd.split_at_checked(1).unwrap_or(("", ""));
    let flags = if flags.is_empty() { None } else { hex_number(flags) };
    let Some(flags) = flags else {
        return Err(to.malformed(place, "a digit of flags behind `##`", fd, HELP));
    };
    let data = bytes_of(data, place, to)?;
    to.data_frame(place, id, FrameKind::Fd { brs: flags & BRS_FLAG != 0, esi: flags & ESI_FLAG != 0 }, &data)
}

/// `text` is data, or `R` and a length; a data length code above 8 follows as `_B`.
fn classical_frame(text: &str, id: CanId, place: Place, to: &Collector) -> Result<CanFrame, Problem> {
    let (text, dlc) = match text.split_once('_') {
        Some((text, code)) => {
            let dlc = hex_number(code).and_then(|code| Dlc::new(u8::try_from(code).ok()?)).filter(|dlc| dlc.raw() > 8);
            let wrong = || to.malformed(place, "a data length code of 9 to F behind `_`", code, HELP);
            (text, Some(dlc.ok_or_else(wrong)?))
        }
        None => (text, None),
    };
    if let Some(len) = text.strip_prefix('R') {
        let len = if len.is_empty() { Some(0) } else { hex_number(len) };
        let Some(len) = len else { return Err(to.malformed(place, "a length behind `R`", text, HELP)) };
        return to.remote_frame(place, id, dlc.map_or(len, |dlc| u32::from(dlc.raw())));
    }
    let data = bytes_of(text, place, to)?;
    match dlc {
        Some(dlc) if data.len() == 8 => Ok(CanFrame::new(id, FrameKind::Classical, dlc, &data)),
        Some(_) => Err(to.malformed(place, "8 bytes before `_`", text, HELP)),
        None => to.data_frame(place, id, FrameKind::Classical, &data),
    }
}

/// Hexadecimal digits; a dot may stand between bytes, as `cansend` takes them.
fn bytes_of(text: &str, place: Place, to: &Collector) -> Result<Vec<u8>, Problem> {
    hex(&text.replace('.', "")).ok_or_else(|| to.malformed(place, "data as pairs of hexadecimal digits", text, HELP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_its_own_lines() {
        assert!(is_log_line("(1398128223.803317) can0 166#D0320009"));
        assert!(!is_log_line("(1398128223.803317)  can0  166   [4]  D0 32 00 09"));
        assert!(!is_log_line("date Tue May 27 04:09:35.000 pm 2014"));
    }
}
