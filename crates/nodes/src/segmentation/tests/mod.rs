//! Two ends and a line between them that a test steps by hand.

mod properties;
mod receiver;
mod sender;

use chronoseal_core::{Duration, LocalTime};

use super::{FRAME_DATA_LEN_MAX, Output, ReceiveEvent, Receiver, SendEvent, Sender};

fn ms(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

/// Bytes that differ from their neighbours and from padding most of the time.
fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 37 + i / 251) as u8).collect()
}

/// Everything a sender gives until it waits: frames, events, when it wants to be woken.
fn drain_sender(sender: &mut Sender, now: LocalTime) -> (Vec<Vec<u8>>, Vec<SendEvent>, Option<LocalTime>) {
    let mut data = [0xee; FRAME_DATA_LEN_MAX];
    let (mut frames, mut events) = (Vec::new(), Vec::new());
    loop {
        match sender.poll(now, &mut data) {
            Output::Frame(len) => frames.push(data[..len].to_vec()),
            Output::Event(event) => events.push(event),
            Output::Timeout(at) => return (frames, events, at),
        }
    }
}

/// Everything a receiver gives until it waits.
fn drain_receiver(receiver: &mut Receiver, now: LocalTime) -> (Vec<Vec<u8>>, Vec<ReceiveEvent>, Option<LocalTime>) {
    let mut data = [0xee; FRAME_DATA_LEN_MAX];
    let (mut frames, mut events) = (Vec::new(), Vec::new());
    loop {
        match receiver.poll(now, &mut data) {
            Output::Frame(len) => frames.push(data[..len].to_vec()),
            Output::Event(event) => events.push(event),
            Output::Timeout(at) => return (frames, events, at),
        }
    }
}
