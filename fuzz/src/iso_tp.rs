//! ISO-TP: frames of a peer that says whatever it likes.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_nodes::segmentation::{
    Output, ReceiveEvent, Receiver, ReceiverConfig, Reception, SendEvent, Sender, SenderConfig, Transfer,
};
use chronoseal_wire::can::iso_tp::{FrameFormat, Padding, Pdu, SeparationTime, TxDataLength};

/// The longest message a receiver takes `[byte]`.
const MESSAGE_LEN_MAX: u32 = 300;

/// What the first four bytes of an input choose.
pub struct Setting {
    format: FrameFormat,
    reception: Reception,
    /// The sender is told when its frames leave.
    confirms: bool,
}

impl Setting {
    /// Flags, address byte, BS and STmin. Of the flags, the lowest three bits are the data length, then whether there is
    /// an address byte, whether frames are confirmed, two for the kind of reception and one for padding.
    pub fn new([flags, address, block_size, separation_time]: [u8; 4]) -> Self {
        let format = FrameFormat {
            tx_data_len: TxDataLength::ALL[usize::from(flags & 7)],
            address: (flags & 8 != 0).then_some(address),
            padding: Padding { byte: 0xcc, up_to_eight: flags & 0x80 == 0 },
        };
        let reception = match flags >> 5 & 3 {
            1 => Reception::PacedBroadcast,
            2 => Reception::SingleFrame,
            _ => Reception::FlowControlled {
                block_size,
                separation_time: SeparationTime::from_raw(separation_time),
                waits_max: 2,
                wait_interval: Duration::from_ms(100),
            },
        };
        Self { format, reception, confirms: flags & 0x10 != 0 }
    }
}

/// A frame as it stands in an input: how long after the one before `[4 ms]`, its length `[byte]`, its data.
pub fn record(wait: u8, data: &[u8]) -> Vec<u8> {
    [&[wait, data.len() as u8], data].concat()
}

/// A setting, then frames of a peer: what is accepted is emitted with the same meaning; a receiver takes no more than it
/// may and says when to wake it; and after whatever came, the next message is taken.
pub fn iso_tp(data: &[u8]) {
    let Some((head, mut rest)) = data.split_first_chunk() else { return };
    let Setting { format, reception, confirms } = Setting::new(*head);
    let config = ReceiverConfig { message_len_max: MESSAGE_LEN_MAX, ..ReceiverConfig::new(format, reception) };
    let mut receiver = Receiver::new(config).expect("every span is above zero");
    let n_as = confirms.then_some(Duration::from_ms(50));
    let config = SenderConfig { n_as, ..SenderConfig::new(format, Transfer::flow_controlled()) };
    let mut sender = Sender::new(config).expect("every span is above zero");
    let mut now = LocalTime::ZERO;

    while let [wait, len, records @ ..] = rest {
        let (frame, records) = records.split_at(records.len().min(usize::from(*len)));
        rest = records;
        now += Duration::from_ms(4 * i64::from(*wait));
        read_and_written(frame, &format);
        receiver.set_busy(*wait & 1 == 1);
        // Refused while the one before is on its way.
        let _ = sender.send(now, vec![0x5a; 100]);
        sender.handle_frame(now, frame);
        receiver.handle_frame(now, frame);
        drain(&format, &mut sender, &mut receiver, now);
        sender.handle_transmitted(now);
    }
    receiver.set_busy(false);
    takes_the_next(&format, reception, &mut receiver, now);
}

/// What is read from a frame means the same when it is written again.
fn read_and_written(frame: &[u8], format: &FrameFormat) {
    let Ok(pdu) = Pdu::parse(frame, format.address) else { return };
    let tx_data_len = match pdu {
        Pdu::First { .. } => TxDataLength::new(frame.len()).expect("a first frame has one of the eight lengths"),
        _ => TxDataLength::FD_MAX,
    };
    let mut out = [0xee; 64];
    let len = pdu.emit(&FrameFormat { tx_data_len, ..*format }, &mut out);
    let again = Pdu::parse(&out[..len], format.address).expect("what was accepted is accepted again");
    match (pdu, again) {
        // The end of a message is not visible in its last frame, so padding counts as data.
        (Pdu::Consecutive { sequence_number, data }, Pdu::Consecutive { sequence_number: again, data: longer }) => {
            assert_eq!(sequence_number, again);
            assert!(longer.starts_with(data));
        }
        (pdu, again) => assert_eq!(pdu, again),
    }
}

fn drain(format: &FrameFormat, sender: &mut Sender, receiver: &mut Receiver, now: LocalTime) {
    let mut data = [0; 64];
    loop {
        match receiver.poll(now, &mut data) {
            Output::Frame(len) => assert!(matches!(Pdu::parse(&data[..len], format.address), Ok(Pdu::FlowControl(_)))),
            Output::Event(ReceiveEvent::Received(message)) => assert!(message.len() <= MESSAGE_LEN_MAX as usize),
            Output::Event(ReceiveEvent::Aborted { received, .. }) => assert!(received <= MESSAGE_LEN_MAX as usize),
            Output::Event(_) => {}
            Output::Timeout(at) => {
                assert_eq!(at.is_none(), receiver.is_idle());
                assert!(at.is_none_or(|at| at > now));
                break;
            }
        }
    }
    loop {
        match sender.poll(now, &mut data) {
            Output::Frame(_) | Output::Event(_) => {}
            Output::Timeout(at) => {
                assert_eq!(at.is_none(), sender.is_idle());
                assert!(at.is_none_or(|at| at > now));
                return;
            }
        }
    }
}

/// A receiver that has seen anything takes a message that is sent as agreed.
fn takes_the_next(format: &FrameFormat, reception: Reception, receiver: &mut Receiver, now: LocalTime) {
    let (transfer, len) = match reception {
        Reception::FlowControlled { .. } => (Transfer::flow_controlled(), MESSAGE_LEN_MAX as usize),
        Reception::PacedBroadcast => {
            (Transfer::PacedBroadcast { separation: Duration::ZERO }, MESSAGE_LEN_MAX as usize)
        }
        _ => (Transfer::SingleFrame, format.single_len_max()),
    };
    let message: Vec<u8> = (0..len).map(|i| i as u8).collect();
    let mut sender = Sender::new(SenderConfig::new(*format, transfer)).expect("every span is above zero");
    sender.send(now, message.clone()).expect("it is idle and the message is not too long");
    let (mut now, mut data) = (now, [0; 64]);
    loop {
        let sender_wake = loop {
            match sender.poll(now, &mut data) {
                Output::Frame(len) => receiver.handle_frame(now, &data[..len]),
                Output::Event(event) => assert!(matches!(event, SendEvent::Sent { .. }), "{event:?}"),
                Output::Timeout(at) => break at,
            }
        };
        let mut answered = false;
        loop {
            match receiver.poll(now, &mut data) {
                Output::Frame(len) => {
                    answered = true;
                    sender.handle_frame(now, &data[..len]);
                }
                Output::Event(ReceiveEvent::Received(received)) => {
                    assert_eq!(received, message);
                    return;
                }
                Output::Event(ReceiveEvent::Aborted { .. }) => {}
                Output::Event(event) => panic!("{event:?}"),
                Output::Timeout(_) => break,
            }
        }
        if !answered {
            now = now.max(sender_wake.expect("the message has not arrived, so its sender waits for a time"));
        }
    }
}
