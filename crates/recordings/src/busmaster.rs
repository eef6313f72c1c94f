//! BUSMASTER: `22:20:14:992 Rx 0 0000021A s 8 FE 36 12 FE 69 05 07 AD`
//!
//! Source: the header such a log has, `***<Time><Tx/Rx><Channel><CAN ID><Type><DLC><DataBytes>***`, and logs of versions
//! 2.4 and 3.2. Behind the second stand milliseconds without leading zeros, or tenths of them with four digits.

use chronoseal_wire::can::FrameKind;

use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::text::{can_id, lines, number};

/// The first line of every log.
pub(crate) const BEGINNING: &str = "***BUSMASTER";

const HELP: &str = "a line is `hours:minutes:seconds:fraction Rx|Tx channel identifier s|x|sr|xr length bytes`";
const DAY_NS: u64 = 86_400_000_000_000;

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let mut reader = Reader { base: 16, days: 0, latest: 0 };
    for line in lines(bytes) {
        let outcome = if line.text.starts_with("***") {
            reader.header(&line.text, line.place, to)
        } else {
            reader.frame(&line.text, line.place, to)
        };
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        outcome?;
    }
    Ok(())
}

struct Reader {
    /// Of identifiers and data.
    base: u32,
    /// Midnights passed so far.
    days: u64,
    /// The latest time of day `[ns]`.
    latest: u64,
}

impl Reader {
    fn header(&mut self, text: &str, place: Place, to: &Collector) -> Result<(), Problem> {
        match text.trim_matches('*').trim() {
            "HEX" => self.base = 16,
            "DEC" => self.base = 10,
            "RELATIVE MODE" => {
                let help = "log again with the system's or absolute time";
                return Err(to.unsupported(place, "a log with relative times", help));
            }
            other if other.starts_with("PROTOCOL") && other != "PROTOCOL CAN" => {
                return Err(to.unsupported(place, other, "give a log of a CAN bus"));
            }
            _ => {}
        }
        Ok(())
    }

    fn frame(&mut self, text: &str, place: Place, to: &mut Collector) -> Result<(), Problem> {
        let wrong = |to: &Collector, expected, found: &str| Err(to.malformed(place, expected, found, HELP));
        let words: Vec<&str> = text.split_whitespace().collect();
        let [time, direction, channel, id, kind, len, data @ ..] = words.as_slice() else {
            return wrong(to, "six words and data", text);
        };
        let Some(of_day_ns) = time_of_day_ns(time) else {
            return wrong(to, "a time as hours:minutes:seconds:fraction", time);
        };
        if !matches!(*direction, "Rx" | "Tx") {
            return wrong(to, "`Rx` or `Tx`", direction);
        }
        let (extended, remote) = match *kind {
            "s" => (false, false),
            "x" => (true, false),
            "sr" => (false, true),
            "xr" => (true, true),
            other => return wrong(to, "`s`, `x`, `sr` or `xr`", other),
        };
        let id_text = id.strip_prefix("0x").unwrap_or(id);
        let Some(id) = number(id_text, self.base).and_then(|raw| can_id(raw, extended)) else {
            return wrong(to, if extended { "an identifier of 29 bits" } else { "an identifier of 11 bits" }, id);
        };
        let Some(len) = number(len, 10) else { return wrong(to, "a length", len) };
        let frame = if remote {
            to.remote_frame(place, id, len)?
        } else {
            let bytes: Option<Vec<u8>> =
                data.iter().map(|word| number(word, self.base).and_then(|byte| u8::try_from(byte).ok())).collect();
            let Some(bytes) = bytes.filter(|bytes| bytes.len() == len as usize) else {
                return wrong(to, "as many bytes as the length says", &data.join(" "));
            };
            let kind = if len > 8 { FrameKind::Fd { brs: false, esi: false } } else { FrameKind::Classical };
            if kind.is_fd() {
                to.miss("the format does not tell FD frames: longer ones are taken as FD without bit rate switch");
            }
            to.data_frame(place, id, kind, &bytes)?
        };
        let channel = to.channel(channel, place)?;
        // Past midnight the clock begins again; a smaller step back is a late entry.
        if of_day_ns + DAY_NS / 2 < self.latest {
            self.days += 1;
            self.latest = of_day_ns;
        }
        self.latest = self.latest.max(of_day_ns);
        to.push(place, self.days.saturating_mul(DAY_NS).saturating_add(of_day_ns), channel, frame)
    }
}

fn time_of_day_ns(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hours, minutes, seconds, fraction] = parts.as_slice() else { return None };
    let [hours, minutes, seconds] = [hours, minutes, seconds].map(|part| number(part, 10));
    let (hours, minutes, seconds) = (hours?, minutes?, seconds?);
    let unit_ns = match fraction.len() {
        1..=3 => 1_000_000,
        4 => 100_000,
        _ => return None,
    };
    let count = number(fraction, 10)?;
    if hours >= 24 || minutes >= 60 || seconds >= 60 {
        return None;
    }
    Some(u64::from((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + u64::from(count) * unit_ns)
}
