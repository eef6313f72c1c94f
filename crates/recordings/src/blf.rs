//! Vector's BLF: objects, most of them in deflated containers.
//!
//! Source: Vector's "Read Write BLF API 2018 version 8" (header file), held against files python-can writes. The crate
//! `ablf` knows neither FD frames nor CAN message type 1, and panics at a damaged container; so this is our own.

use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use crate::bytes::{array, inflate, u8_at, u16_at, u32_at, u64_at};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::can_id;

/// Signature, sizes and type of an object `[byte]`.
const BASE_LEN: usize = 16;
/// Those, and what a container says of itself `[byte]`.
const CONTAINER_HEADER_LEN: usize = 32;
/// A container's length that is inflated; writers make them of 128 KiB.
const CONTAINER_LEN_MAX: usize = 64 << 20;
/// Unused bytes before an object at most.
const PADDING_MAX: usize = 4;

const CAN_MESSAGE: u32 = 1;
const CAN_ERROR: u32 = 2;
const LOG_CONTAINER: u32 = 10;
const CAN_ERROR_EXT: u32 = 73;
const CAN_MESSAGE2: u32 = 86;
const CAN_FD_MESSAGE: u32 = 100;
const CAN_FD_MESSAGE_64: u32 = 101;
const CAN_FD_ERROR_64: u32 = 104;
/// Frames and error frames of a channel of CAN XL, as Wireshark's `wiretap/blf.h` numbers them.
const CAN_XL_CHANNEL: [u32; 2] = [139, 140];

const HELP: &str = "the file is damaged; export the recording again";

/// The head of an object.
struct Head {
    /// Of the head `[byte]`.
    head_len: usize,
    /// Of all of it `[byte]`.
    len: usize,
    kind: u32,
}

fn head(bytes: &[u8], at: usize) -> Option<Head> {
    let [head_len, _version] = [u16_at(bytes, at + 4)?, u16_at(bytes, at + 6)?];
    Some(Head { head_len: usize::from(head_len), len: u32_at(bytes, at + 8)? as usize, kind: u32_at(bytes, at + 12)? })
}

/// Where the object begins that is expected at `at`.
enum Next {
    At(usize),
    /// Too few bytes to say.
    End,
    Nothing,
}

fn next(bytes: &[u8], at: usize) -> Next {
    for padding in 0..=PADDING_MAX {
        match bytes.get(at + padding..at + padding + 4) {
            Some(b"LOBJ") => return Next::At(at + padding),
            Some(_) => {}
            None => return Next::End,
        }
    }
    Next::Nothing
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let start = u32_at(bytes, 4).map(|len| len as usize).filter(|len| (8..=bytes.len()).contains(len));
    let mut at = start.ok_or_else(|| to.truncated(Place::Byte(0), "the file's header"))?;
    // Objects reach over the end of a container into the next.
    let mut stream: Vec<u8> = Vec::new();
    loop {
        let place = Place::Byte(at as u64);
        match next(bytes, at) {
            Next::At(found) => at = found,
            Next::End if at >= bytes.len() || bytes[at..].iter().all(|byte| *byte == 0) => break,
            Next::End => return Err(to.truncated(place, "an object")),
            Next::Nothing => return Err(to.malformed(place, "an object (`LOBJ`)", "other bytes", HELP)),
        }
        let place = Place::Byte(at as u64);
        let Some(head) = head(bytes, at) else { return Err(to.truncated(place, "an object's head")) };
        if head.len < BASE_LEN {
            return Err(to.malformed(place, "an object of 16 bytes or more", head.len, HELP));
        }
        let Some(object) = bytes.get(at..at.saturating_add(head.len)) else {
            return Err(to.truncated(place, "a container"));
        };
        if head.kind == LOG_CONTAINER {
            stream.extend(container(object, place, to)?);
            let used = objects(&stream, place, to)?;
            stream.drain(..used);
        } else {
            let outcome = take(&head, object, place, to);
            to.spare(outcome)?;
        }
        at += head.len;
    }
    if stream.iter().any(|byte| *byte != 0) {
        return Err(to.truncated(Place::Byte(bytes.len() as u64), "an object"));
    }
    Ok(())
}

/// What a container holds.
fn container(object: &[u8], place: Place, to: &Collector) -> Result<Vec<u8>, Problem> {
    let wrong = |found: &dyn std::fmt::Display| to.malformed(place, "a sound container", found, HELP);
    let (Some(method), Some(len), Some(data)) =
        (u16_at(object, BASE_LEN), u32_at(object, BASE_LEN + 8), object.get(CONTAINER_HEADER_LEN..))
    else {
        return Err(wrong(&"too few bytes"));
    };
    let len = len as usize;
    if len > CONTAINER_LEN_MAX {
        return Err(wrong(&format_args!("{len} bytes in one container")));
    }
    match method {
        0 => Ok(data.to_vec()),
        2 => inflate(data, len).ok_or_else(|| wrong(&"bytes that cannot be inflated")),
        other => Err(to.unsupported(place, format_args!("compression method {other}"), HELP)),
    }
}

/// Takes the whole objects of `stream`; how many bytes they were.
fn objects(stream: &[u8], place: Place, to: &mut Collector) -> Result<usize, Problem> {
    let mut at = 0;
    loop {
        match next(stream, at) {
            Next::At(found) => at = found,
            Next::End => return Ok(at.min(stream.len())),
            Next::Nothing => {
                return Err(to.malformed(place, "an object (`LOBJ`) in the container", "other bytes", HELP));
            }
        }
        let Some(head) = head(stream, at) else { return Ok(at) };
        if head.len < BASE_LEN {
            return Err(to.malformed(place, "an object of 16 bytes or more", head.len, HELP));
        }
        let Some(object) = stream.get(at..at.saturating_add(head.len)) else { return Ok(at) };
        let outcome = take(&head, object, place, to);
        to.spare(outcome)?;
        at += head.len;
    }
}

fn take(head: &Head, object: &[u8], place: Place, to: &mut Collector) -> Result<(), Problem> {
    let kinds =
        [CAN_MESSAGE, CAN_MESSAGE2, CAN_FD_MESSAGE, CAN_FD_MESSAGE_64, CAN_ERROR, CAN_ERROR_EXT, CAN_FD_ERROR_64];
    if CAN_XL_CHANNEL.contains(&head.kind) {
        to.leave_out("frames of CAN XL channels, which are not read", place);
        return Ok(());
    }
    if !kinds.contains(&head.kind) {
        to.leave_out("objects that are no CAN frame", place);
        return Ok(());
    }
    let at_ns = time_ns(object);
    let body = object.get(head.head_len..);
    let (Some(at_ns), Some(body)) = (at_ns, body) else {
        return Err(to.malformed(place, "an object with a time", "too few bytes", HELP));
    };
    let is_error = matches!(head.kind, CAN_ERROR | CAN_ERROR_EXT | CAN_FD_ERROR_64);
    let channel = if matches!(head.kind, CAN_FD_MESSAGE_64 | CAN_FD_ERROR_64) {
        u8_at(body, 0).map(u16::from)
    } else {
        u16_at(body, 0)
    };
    let Some(channel) = channel else {
        return Err(to.malformed(place, "an object with a channel", "too few bytes", HELP));
    };
    let channel = to.channel(&channel.to_string(), place)?;
    if is_error {
        return to.push_error(place, RecordedError { at_ns, channel, class: 0, details: [0; 8] });
    }
    let message = match head.kind {
        CAN_FD_MESSAGE => Message::fd(body),
        CAN_FD_MESSAGE_64 => Message::fd_64(body),
        _ => Message::classical(body),
    };
    let Some(message) = message else {
        return Err(to.malformed(place, "a whole CAN frame", format_args!("{} bytes", body.len()), HELP));
    };
    let frame = message.frame(place, to)?;
    to.push(place, at_ns, channel, frame)
}

/// Of the data of a frame what the object has: some recorders write fewer bytes than they say.
fn kept(data: &[u8], valid_len: u8) -> &[u8] {
    &data[..data.len().min(valid_len.into()).min(64)]
}

/// An object's time since the start of the measurement `[ns]`.
fn time_ns(object: &[u8]) -> Option<u64> {
    let flags = u32_at(object, BASE_LEN)?;
    let time = u64_at(object, BASE_LEN + 8)?;
    // 1: in units of 10 us. 2: in nanoseconds.
    if flags == 1 { time.checked_mul(10_000) } else { Some(time) }
}

/// What all three kinds of frames say.
struct Message<'a> {
    id: u32,
    dlc: u8,
    kind: FrameKind,
    data: &'a [u8],
}

impl<'a> Message<'a> {
    /// `CAN_MESSAGE` and `CAN_MESSAGE2`.
    fn classical(body: &'a [u8]) -> Option<Self> {
        let [_, _, flags, dlc] = array(body, 0)?;
        let kind = if flags & 0x80 != 0 { FrameKind::Remote } else { FrameKind::Classical };
        Some(Self { id: u32_at(body, 4)?, dlc, kind, data: body.get(8..16)? })
    }

    fn fd(body: &'a [u8]) -> Option<Self> {
        let [_, _, flags, dlc] = array(body, 0)?;
        let [fd_flags, valid_len] = array(body, 13)?;
        let kind = match (fd_flags & 1 != 0, flags & 0x80 != 0) {
            (true, _) => FrameKind::Fd { brs: fd_flags & 2 != 0, esi: fd_flags & 4 != 0 },
            (false, true) => FrameKind::Remote,
            (false, false) => FrameKind::Classical,
        };
        Some(Self { id: u32_at(body, 4)?, dlc, kind, data: kept(body.get(20..)?, valid_len) })
    }

    fn fd_64(body: &'a [u8]) -> Option<Self> {
        let [_, dlc, valid_len, _] = array(body, 0)?;
        let flags = u32_at(body, 12)?;
        let kind = match (flags & 0x1000 != 0, flags & 0x10 != 0) {
            (true, _) => FrameKind::Fd { brs: flags & 0x2000 != 0, esi: flags & 0x4000 != 0 },
            (false, true) => FrameKind::Remote,
            (false, false) => FrameKind::Classical,
        };
        let data = if kind.is_remote() { &[] } else { kept(body.get(40..)?, valid_len) };
        Some(Self { id: u32_at(body, 4)?, dlc, kind, data })
    }

    fn frame(&self, place: Place, to: &Collector) -> Result<CanFrame, Problem> {
        let id = self.id();
        let id = id.ok_or_else(|| {
            to.malformed(place, "an identifier of 11 or 29 bits", format_args!("{:#x}", self.id), HELP)
        })?;
        let dlc = Dlc::new(self.dlc);
        let dlc = dlc.ok_or_else(|| to.malformed(place, "a data length code of 0 to 15", self.dlc, HELP))?;
        // The frame has as many bytes as its code says; those a recorder did not keep are zero.
        Ok(CanFrame::new(id, self.kind, dlc, self.data))
    }

    fn id(&self) -> Option<CanId> {
        const EXTENDED_FLAG: u32 = 0x8000_0000;
        can_id(self.id & !EXTENDED_FLAG, self.id & EXTENDED_FLAG != 0)
    }
}
