//! What a program of a node wrote down of its messages.

use chronoseal_testbed::program_record::{ProgramMessage, What, parse};

/// When the run began, by the clock of its host `[ns]`.
pub const PROGRAM_EPOCH_NS: i64 = 5_000_000_000;

/// Of a record `[byte]`.
const LEN: usize = 32;

/// A record of stream 7, as a program writes it.
pub fn record(kind: u8, flags: u8, sequence: u64, due_ns: i64, at_ns: i64) -> Vec<u8> {
    written([kind, flags], 7, 9_000, [sequence, due_ns as u64, at_ns as u64])
}

fn written(front: [u8; 2], stream: u16, len: u32, words: [u64; 3]) -> Vec<u8> {
    let mut bytes = front.to_vec();
    bytes.extend(stream.to_le_bytes());
    bytes.extend(len.to_le_bytes());
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes
}

/// Every byte is of a record or counted as none, and what is read is written again with the same meaning.
pub fn program_records(data: &[u8]) {
    let (messages, bad) = parse(data, PROGRAM_EPOCH_NS);
    assert_eq!(messages.len() * LEN + bad, data.len());
    let again: Vec<u8> = messages.iter().flat_map(of_message).collect();
    assert_eq!(parse(&again, PROGRAM_EPOCH_NS), (messages, 0));
}

fn of_message(message: &ProgramMessage) -> Vec<u8> {
    let (front, due_ns) = match message.what {
        What::Sent { due_ns } => ([1, 0], due_ns),
        What::Received { is_altered } => ([2, u8::from(is_altered)], 0),
        What::Serialized => ([3, 0], 0),
    };
    written(front, message.stream.0, message.len, [message.sequence, due_ns as u64, message.at_ns as u64])
}
