//! What a program that carries streams writes down: one record of 32 bytes for each message that it sends or gets, appended to the file that
//! `CHRONOSEAL_RECORDS` names. Numbers are little-endian, times are those of `CLOCK_MONOTONIC`.
//!
//! ```text
//! 0      1       2        4        8          16       24     32
//! +------+-------+--------+--------+----------+--------+------+
//! | kind | flags | stream | length | sequence | due    | at   |
//! +------+-------+--------+--------+----------+--------+------+
//! ```
//!
//! Kind 1 is a message that was sent: when it was due (0 if at once), and when the program handed it over. Kind 2 is one that was received: the
//! application had it at the time `at`. Flag 1 of one received: its bytes are not those that were sent. Kind 3 is no message: at the time `at` the
//! program had serialized as many of the stream as stand in the place of a length, or deserialized them if it receives it, and half of them took at
//! most as long as stands in the place of a number `[ns]`. The file is appended to with one `write` for each record or a whole number of them.

use chronoseal_core::StreamId;

/// Of a record `[byte]`.
const LEN: usize = 32;
const SENT: u8 = 1;
const RECEIVED: u8 = 2;
const SERIALIZED: u8 = 3;
const ALTERED: u8 = 1;

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramMessage {
    /// What became of the message.
    pub what: What,
    /// Its stream.
    pub stream: StreamId,
    /// Its length `[byte]`.
    pub len: u32,
    /// Its number.
    pub sequence: u64,
    /// When `[ns]`.
    pub at_ns: i64,
}

/// What became of a message at the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// It was handed over.
    Sent {
        /// When it was due `[ns]`.
        due_ns: i64,
    },
    /// The application had it.
    Received {
        /// Its bytes are not those that were sent.
        is_altered: bool,
    },
    /// No message: as many as its length says were serialized, and half of them took at most as long as its number says `[ns]`.
    Serialized,
}

/// Times further than this from the start of a run are not of it `[ns]`.
const FAR_NS: u64 = 1_000_000_000_000_000;

/// The records in a file of a run that began at `epoch_ns`, and how many bytes of it are none.
pub fn parse(bytes: &[u8], epoch_ns: i64) -> (Vec<ProgramMessage>, usize) {
    let (chunks, rest) = bytes.as_chunks::<LEN>();
    let is_of_run = |record: &ProgramMessage| {
        let is_near = |ns: i64| ns.abs_diff(epoch_ns) < FAR_NS;
        let due_ns = if let What::Sent { due_ns } = record.what { due_ns } else { record.at_ns };
        is_near(record.at_ns) && is_near(due_ns)
    };
    let records: Vec<ProgramMessage> = chunks.iter().filter_map(record).filter(is_of_run).collect();
    let bad = (chunks.len() - records.len()) * LEN + rest.len();
    (records, bad)
}

fn record(bytes: &[u8; LEN]) -> Option<ProgramMessage> {
    let number = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let [kind, flags, s0, s1, l0, l1, l2, l3, ..] = *bytes;
    let at_ns = i64::try_from(number(24)).ok()?;
    let what = match (kind, flags) {
        (SENT, 0) => What::Sent { due_ns: i64::try_from(number(16)).ok().filter(|due| *due != 0).unwrap_or(at_ns) },
        (RECEIVED, 0 | ALTERED) => What::Received { is_altered: flags == ALTERED },
        (SERIALIZED, 0) if number(8) < FAR_NS => What::Serialized,
        _ => return None,
    };
    let stream = StreamId(u16::from_le_bytes([s0, s1]));
    Some(ProgramMessage { what, stream, len: u32::from_le_bytes([l0, l1, l2, l3]), sequence: number(8), at_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: u8, flags: u8, due: u64) -> Vec<u8> {
        let mut bytes = vec![kind, flags];
        bytes.extend(7u16.to_le_bytes());
        bytes.extend(9_000u32.to_le_bytes());
        for word in [3, due, 5_000_000_000] {
            bytes.extend(u64::to_le_bytes(word));
        }
        bytes
    }

    #[test]
    fn records_are_read_and_what_is_none_is_counted() {
        let sent = What::Sent { due_ns: 4_999_999_000 };
        let of = |what| ProgramMessage { what, stream: StreamId(7), len: 9_000, sequence: 3, at_ns: 5_000_000_000 };
        let good = [
            (written(1, 0, 4_999_999_000), sent),
            (written(1, 0, 0), What::Sent { due_ns: 5_000_000_000 }),
            (written(2, 0, 0), What::Received { is_altered: false }),
            (written(2, 1, 0), What::Received { is_altered: true }),
            (written(3, 0, 0), What::Serialized),
        ];
        for (bytes, what) in good {
            assert_eq!(parse(&bytes, 4_000_000_000), (vec![of(what)], 0));
        }
        // Times that no clock of this run can have shown.
        let mut far = written(2, 0, 0);
        far[24..].copy_from_slice(&i64::MAX.to_le_bytes());
        let bad = [
            far,
            written(1, 0, i64::MAX as u64),
            written(0, 0, 0),
            written(3, 1, 0),
            written(4, 0, 0),
            written(1, 1, 0),
            written(2, 2, 0),
            vec![1; LEN - 1],
        ];
        for bytes in bad {
            assert_eq!(parse(&bytes, 4_000_000_000), (Vec::new(), bytes.len()));
        }
        // A program that was stopped in the middle of a record loses that one.
        let cut = [written(1, 0, 0), written(2, 0, 0)].concat();
        assert_eq!(parse(&cut[..40], 0).0.len(), 1);
        assert_eq!(parse(&cut[..40], 0).1, 8);
    }
}
