//! ` (1398128223.803317)  can0  166   [4]  D0 32 00 09`

use chronoseal_wire::can::{CanFrame, CanId, FrameKind};

use super::{ERROR_FLAG, ERROR_MASK};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::{can_id, days_since_1970, hex_number, lines, number, seconds_ns};

const HELP: &str = "a line is `(time) interface identifier [length] bytes`, as `candump -t a` shows it";
const HELP_TIME: &str = "record with `candump -l`, or show times with `candump -t a`";

/// The words of a line.
struct Words<'a> {
    /// Without its parentheses.
    time: Option<&'a str>,
    interface: &'a str,
    /// What `-x` adds: direction, `B` for the bit rate switch and `E` for the error state.
    extra: Option<[&'a str; 3]>,
    id: &'a str,
    len: &'a str,
    data: Vec<&'a str>,
}

fn words(line: &str) -> Option<Words<'_>> {
    let (time, rest) = match line.strip_prefix('(') {
        Some(line) => line.split_once(')').map(|(time, rest)| (Some(time.trim()), rest))?,
        None => (None, line),
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let bracket = words.iter().position(|word| word.starts_with('['))?;
    let (extra, id) = match words.get(1..bracket)? {
        [id] => (None, *id),
        [direction, brs, esi, id] => (Some([*direction, *brs, *esi]), *id),
        _ => return None,
    };
    let len = words[bracket].strip_prefix('[')?.strip_suffix(']')?;
    Some(Words { time, interface: words[0], extra, id, len, data: words[bracket + 1..].to_vec() })
}

/// True for a whole line of the console.
pub(crate) fn is_console_line(line: &str) -> bool {
    // A source text may quote a line of the console.
    let is_interface =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    words(line).is_some_and(|words| {
        is_interface(words.interface)
            && hex_number(words.id).is_some()
            && matches!(words.id.len(), 3 | 8)
            && number(words.len, 10).is_some()
    })
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let mut latest = 0;
    for line in lines(bytes) {
        let outcome = frame(&line.text, line.place, &mut latest, to);
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        outcome?;
    }
    Ok(())
}

fn frame(text: &str, place: Place, latest: &mut u64, to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, expected, found: &str| Err(to.malformed(place, expected, found, HELP));
    let Some(words) = words(text) else { return wrong(to, "a frame", text) };
    let Some(time) = words.time else {
        return Err(to.malformed(place, "a time in parentheses", text, HELP_TIME));
    };
    let Some(at_ns) = seconds_ns(time).or_else(|| date_ns(time)) else {
        return wrong(to, "a time as seconds, or as date and time", time);
    };
    // `-t d` shows differences in the form of `-t z`, and the smallest difference is no time.
    if time.find('.') == Some(3) && at_ns < *latest {
        return Err(to.malformed(place, "times that rise", time, "these are differences of times; show `-t a`"));
    }
    *latest = at_ns;
    let channel = to.channel(words.interface, place)?;
    let raw = hex_number(words.id).filter(|_| matches!(words.id.len(), 3 | 8));
    let Some(raw) = raw else { return wrong(to, "an identifier of 3 or 8 hexadecimal digits", words.id) };
    // FD lengths have two digits, classical ones one.
    let is_fd = words.len.len() == 2;
    let Some(len) = number(words.len, 10) else { return wrong(to, "a length in brackets", words.len) };
    if words.id.len() == 8 && raw & ERROR_FLAG != 0 {
        let details = data(&words, 8, place, to)?.try_into().unwrap_or([0; 8]);
        return to.push_error(place, RecordedError { at_ns, channel, class: raw & ERROR_MASK, details });
    }
    let Some(id) = can_id(raw, words.id.len() == 8) else {
        return wrong(to, "an identifier of 11 or 29 bits", words.id);
    };
    let frame = if words.data.starts_with(&["remote", "request"]) {
        to.remote_frame(place, id, len)?
    } else {
        data_frame(&words, id, is_fd, len as usize, place, to)?
    };
    to.push(place, at_ns, channel, frame)
}

fn data_frame(
    words: &Words<'_>,
    id: CanId,
    is_fd: bool,
    len: usize,
    place: Place,
    to: &mut Collector,
) -> Result<CanFrame, Problem> {
    let kind = match (is_fd, words.extra) {
        (false, _) => FrameKind::Classical,
        (true, Some([_, brs, esi])) => FrameKind::Fd { brs: brs == "B", esi: esi == "E" },
        (true, None) => {
            to.miss("without `candump -x` FD frames do not say whether they switch the bit rate; taken as not");
            FrameKind::Fd { brs: false, esi: false }
        }
    };
    let data = data(words, len, place, to)?;
    to.data_frame(place, id, kind, &data)
}

/// The first `len` words as bytes; what `-a` shows as text behind them is left out.
fn data(words: &Words<'_>, len: usize, place: Place, to: &Collector) -> Result<Vec<u8>, Problem> {
    let bytes: Option<Vec<u8>> = words.data.get(..len).and_then(|data| {
        data.iter().map(|word| hex_number(word).filter(|_| word.len() == 2).map(|b| b as u8)).collect()
    });
    let text = || words.data.join(" ");
    bytes.ok_or_else(|| to.malformed(place, "as many bytes as the brackets say", text(), HELP))
}

/// `2014-04-22 00:57:03.803317`, as `-t A` shows it `[ns since 1970, whatever the time zone]`.
fn date_ns(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(' ')?;
    let mut date = date.splitn(3, '-').map(|part| number(part, 10));
    let days = days_since_1970(date.next()??, date.next()??, date.next()??)?;
    let mut clock = time.splitn(3, ':');
    let (hour, minute) = (number(clock.next()?, 10)?, number(clock.next()?, 10)?);
    let second_ns = seconds_ns(clock.next()?)?;
    let minutes = days * 1440 + u64::from(hour) * 60 + u64::from(minute);
    (hour < 24 && minute < 60).then(|| minutes.checked_mul(60_000_000_000)?.checked_add(second_ns))?
}
