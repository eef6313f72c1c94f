//! Vector's ASC: `0.019968 1  64  Rx   d 4 64 00 00 00  Length = 0 BitCount = 0 ID = 100`
//!
//! Source: logs of CANalyzer 7 to 16 as public tools keep them for their tests; the events `CAN` and `CANFD`. In a
//! `CANFD` event the third word behind the data is its flags: 0x10 remote, 0x1000 FD (EDL).

use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::{can_id, lines, number, seconds_ns};

const HELP: &str =
    "a frame is `seconds channel identifier Rx|Tx d|r length bytes`, or begins with `seconds CANFD channel`";
const REMOTE_FLAG: u32 = 0x10;
const EDL_FLAG: u32 = 0x1000;

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let mut reader = Reader { base: 16, relative: false, now: 0 };
    for line in lines(bytes) {
        let outcome = reader.line(&line.text, line.place, to);
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        to.spare(outcome)?;
    }
    Ok(())
}

struct Reader {
    /// Of identifiers and data.
    base: u32,
    /// True if each time counts from the event before.
    relative: bool,
    now: u64,
}

/// The words of a frame's line, one after the other.
struct Words<'a> {
    words: std::iter::Peekable<std::iter::Skip<std::str::SplitWhitespace<'a>>>,
    place: Place,
}

impl<'a> Words<'a> {
    fn next(&mut self, what: &'static str, to: &Collector) -> Result<&'a str, Problem> {
        self.words.next().ok_or_else(|| to.malformed(self.place, what, "the end of the line", HELP))
    }

    fn number(&mut self, what: &'static str, base: u32, to: &Collector) -> Result<u32, Problem> {
        let word = self.next(what, to)?;
        number(word, base).ok_or_else(|| to.malformed(self.place, what, word, HELP))
    }

    fn bytes(&mut self, len: usize, base: u32, to: &Collector) -> Result<Vec<u8>, Problem> {
        const WHAT: &str = "as many bytes as the length says";
        let byte = |words: &mut Self| {
            let word = words.next(WHAT, to)?;
            let byte = number(word, base).and_then(|byte| u8::try_from(byte).ok());
            byte.ok_or_else(|| to.malformed(words.place, WHAT, word, HELP))
        };
        (0..len).map(|_| byte(self)).collect()
    }
}

impl Reader {
    fn line(&mut self, text: &str, place: Place, to: &mut Collector) -> Result<(), Problem> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["base", base, "timestamps", mode, ..] => {
                self.base = if base == "dec" { 10 } else { 16 };
                self.relative = mode == "relative";
                return Ok(());
            }
            ["date" | "Begin" | "begin" | "End" | "end" | "internal" | "no", ..] => return Ok(()),
            [first, ..] if first.starts_with("//") => return Ok(()),
            _ => {}
        }
        let Some(time_ns) = seconds_ns(words[0]) else {
            return Err(to.malformed(place, "a time in seconds", text, HELP));
        };
        self.now = if self.relative { self.now.saturating_add(time_ns) } else { time_ns };
        let mut words = Words { words: text.split_whitespace().skip(1).peekable(), place };
        match words.next("a channel", to)? {
            "CANFD" => self.fd_event(&mut words, to),
            channel if number(channel, 10).is_some() => self.event(channel, &mut words, to),
            what => {
                let is_xl = what.starts_with("CANXL");
                to.leave_out(
                    if is_xl { "CAN XL frames, which are not read" } else { "events that are no frame" },
                    place,
                );
                Ok(())
            }
        }
    }

    fn id(&self, word: &str) -> Option<CanId> {
        match word.strip_suffix(['x', 'X']) {
            Some(digits) => can_id(number(digits, self.base)?, true),
            None => can_id(number(word, self.base)?, false),
        }
    }

    /// True if `word` stands where an identifier does, in its range or not.
    fn is_number(&self, word: &str) -> bool {
        number(word.strip_suffix(['x', 'X']).unwrap_or(word), self.base).is_some()
    }

    /// What follows `seconds channel`.
    fn event(&self, channel: &str, words: &mut Words<'_>, to: &mut Collector) -> Result<(), Problem> {
        let place = words.place;
        let word = words.next("an identifier", to)?;
        if word == "ErrorFrame" {
            return self.error(channel, place, to);
        }
        if !self.is_number(word) {
            to.leave_out("events that are no frame", place);
            return Ok(());
        }
        let id = self
            .id(word)
            .ok_or_else(|| to.malformed(place, "an identifier of 11 bits, or of 29 with `x`", word, HELP))?;
        match words.next("`Rx` or `Tx`", to)? {
            "Rx" | "Tx" => {}
            "TxRq" => {
                to.leave_out("requests to send", place);
                return Ok(());
            }
            other => return Err(to.malformed(place, "`Rx` or `Tx`", other, HELP)),
        }
        let frame = match words.next("`d` or `r`", to)? {
            "d" | "D" => {
                let written = words.number("a data length code", 16, to)?;
                let dlc = u8::try_from(written).ok().and_then(Dlc::new);
                let wrong = || to.malformed(place, "a data length code of 0 to f", format_args!("{written:x}"), HELP);
                let dlc = dlc.ok_or_else(wrong)?;
                let data = words.bytes(dlc.classical_len(), self.base, to)?;
                CanFrame::new(id, FrameKind::Classical, dlc, &data)
            }
            "r" | "R" => {
                // Older versions leave its length out.
                let len = words.words.peek().and_then(|word| number(word, 16)).unwrap_or(0);
                to.remote_frame(place, id, len)?
            }
            other => return Err(to.malformed(place, "`d` or `r`", other, HELP)),
        };
        let channel = to.channel(channel, place)?;
        to.push(place, self.now, channel, frame)
    }

    /// What follows `seconds CANFD`.
    fn fd_event(&self, words: &mut Words<'_>, to: &mut Collector) -> Result<(), Problem> {
        let place = words.place;
        let channel = words.next("a channel", to)?;
        match words.next("`Rx` or `Tx`", to)? {
            "Rx" | "Tx" => {}
            "TxRq" => {
                to.leave_out("requests to send", place);
                return Ok(());
            }
            other => return Err(to.malformed(place, "`Rx` or `Tx`", other, HELP)),
        }
        let word = words.next("an identifier", to)?;
        if word == "ErrorFrame" {
            return self.error(channel, place, to);
        }
        let id = self
            .id(word)
            .ok_or_else(|| to.malformed(place, "an identifier of 11 bits, or of 29 with `x`", word, HELP))?;
        // The database's name of the message may stand before the bit rate switch.
        let mut brs = words.next("the bit rate switch", to)?;
        if !matches!(brs, "0" | "1") {
            brs = words.next("the bit rate switch", to)?;
        }
        let esi = words.next("the error state indicator", to)?;
        if !matches!((brs, esi), ("0" | "1", "0" | "1")) {
            return Err(to.malformed(place, "bit rate switch and error state indicator, each 0 or 1", esi, HELP));
        }
        let dlc = words.number("a data length code", 16, to)?;
        let len = words.number("a data length", 10, to)?;
        let data = words.bytes(len.min(65) as usize, self.base, to)?;
        let behind: Vec<&str> = words.words.by_ref().take(3).collect();
        let flags = behind.get(2).and_then(|word| number(word, 16)).unwrap_or(0);
        let (brs, esi) = (brs == "1", esi == "1");
        let frame = if flags & REMOTE_FLAG != 0 && data.is_empty() {
            to.remote_frame(place, id, dlc)?
        } else if flags == 0 || flags & EDL_FLAG != 0 || brs || esi || data.len() > 8 {
            to.data_frame(place, id, FrameKind::Fd { brs, esi }, &data)?
        } else {
            to.data_frame(place, id, FrameKind::Classical, &data)?
        };
        let channel = to.channel(channel, place)?;
        to.push(place, self.now, channel, frame)
    }

    fn error(&self, channel: &str, place: Place, to: &mut Collector) -> Result<(), Problem> {
        let channel = to.channel(channel, place)?;
        to.push_error(place, RecordedError { at_ns: self.now, channel, class: 0, details: [0; 8] })
    }
}
