//! Any message over any line: without faults it arrives as it is, with faults both ends come to rest and say why.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::can::iso_tp::{FrameFormat, Padding, Segments, SeparationTime, TxDataLength};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{
    ReceiveEvent, Receiver, ReceiverConfig, Reception, SendError, SendEvent, Sender, SenderConfig, Transfer,
};
use super::{drain_receiver, drain_sender, message};

/// What happens to one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Arrives,
    Lost,
    Doubled,
    /// Comes before the frame ahead of it, if that is still on the line.
    Overtakes,
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    format: FrameFormat,
    block_size: u8,
    separation_time: SeparationTime,
    confirms: bool,
    is_paced: bool,
}

fn any_setting() -> impl Strategy<Value = Setting> {
    let format = (0usize..8, any::<Option<u8>>(), any::<bool>());
    let separation = prop_oneof![Just(0), Just(0xf1), Just(1), Just(0x80), Just(0x7f), any::<u8>()];
    (format, prop_oneof![Just(0), 1u8..5, any::<u8>()], separation, any::<bool>(), any::<bool>()).prop_map(
        |((tx, address, up_to_eight), block_size, separation, confirms, is_paced)| Setting {
            format: FrameFormat {
                tx_data_len: TxDataLength::ALL[tx],
                address,
                padding: Padding { byte: 0xcc, up_to_eight },
            },
            block_size,
            separation_time: SeparationTime::from_raw(separation),
            confirms,
            is_paced,
        },
    )
}

fn ends(setting: &Setting, message_len_max: u32) -> (Sender, Receiver) {
    let Setting { format, block_size, separation_time, confirms, is_paced } = *setting;
    let (transfer, reception) = if is_paced {
        let separation = separation_time.duration();
        (Transfer::PacedBroadcast { separation }, Reception::PacedBroadcast)
    } else {
        let wait_interval = Duration::from_ms(500);
        let reception = Reception::FlowControlled { block_size, separation_time, waits_max: 3, wait_interval };
        (Transfer::flow_controlled(), reception)
    };
    let n_as = confirms.then_some(Duration::from_ms(100));
    let sender = Sender::new(SenderConfig { n_as, ..SenderConfig::new(format, transfer) }).unwrap();
    let receiver = Receiver::new(ReceiverConfig { message_len_max, ..ReceiverConfig::new(format, reception) }).unwrap();
    (sender, receiver)
}

/// What a run came to.
struct Outcome {
    sent: Vec<SendEvent>,
    received: Vec<ReceiveEvent>,
    frames: Vec<Vec<u8>>,
    last_frame_at: LocalTime,
}

/// Runs until both ends wait for nothing. `fate` decides over every frame of either direction by its number.
fn run(sender: &mut Sender, receiver: &mut Receiver, confirms: bool, mut fate: impl FnMut(usize) -> Fate) -> Outcome {
    let mut now = LocalTime::ZERO;
    let mut outcome = Outcome { sent: vec![], received: vec![], frames: vec![], last_frame_at: now };
    let (mut to_receiver, mut to_sender): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (vec![], vec![]);
    let mut number = 0;
    let mut carry = |frame: Vec<u8>, line: &mut Vec<Vec<u8>>| {
        match fate(number) {
            Fate::Arrives => line.push(frame),
            Fate::Lost => {}
            Fate::Doubled => line.extend([frame.clone(), frame]),
            Fate::Overtakes => line.insert(line.len().saturating_sub(1), frame),
        }
        number += 1;
    };
    loop {
        let (frames, events, sender_wake) = drain_sender(sender, now);
        outcome.sent.extend(events);
        let is_busy = !frames.is_empty();
        for frame in frames {
            outcome.last_frame_at = now;
            outcome.frames.push(frame.clone());
            carry(frame, &mut to_receiver);
            if confirms {
                sender.handle_transmitted(now);
            }
        }
        let has_news = !to_receiver.is_empty() || !to_sender.is_empty();
        for frame in to_receiver.drain(..) {
            receiver.handle_frame(now, &frame);
            sender.handle_frame(now, &frame);
        }
        let (answers, events, receiver_wake) = drain_receiver(receiver, now);
        outcome.received.extend(events);
        let has_answers = !answers.is_empty();
        for answer in answers {
            carry(answer, &mut to_sender);
        }
        for answer in to_sender.drain(..) {
            sender.handle_frame(now, &answer);
            receiver.handle_frame(now, &answer);
        }
        if is_busy || has_news || has_answers {
            continue;
        }
        now = match (sender_wake, receiver_wake) {
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return outcome,
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn without_faults_any_message_arrives_as_it_is(setting in any_setting(), len in 0usize..=5000) {
        let (mut sender, mut receiver) = ends(&setting, 5000);
        let message = message(len);
        if len == 0 {
            prop_assert_eq!(sender.send(LocalTime::ZERO, message), Err(SendError::Empty));
            return Ok(());
        }
        sender.send(LocalTime::ZERO, message.clone()).unwrap();
        let outcome = run(&mut sender, &mut receiver, setting.confirms, |_| Fate::Arrives);

        let segments = Segments::of(len as u32, &setting.format).unwrap();
        prop_assert_eq!(outcome.sent, [SendEvent::Sent { message_len: len, frames: segments.frames() }]);
        prop_assert_eq!(outcome.received, [ReceiveEvent::Received(message)]);
        // The arithmetic of bounds is what happens on a line that takes no time.
        prop_assert_eq!(outcome.frames.len() as u64, segments.frames());
        prop_assert_eq!(outcome.frames.iter().map(Vec::len).sum::<usize>() as u64, segments.data_len());
        let least = if setting.is_paced {
            segments.paced_min(setting.separation_time.duration())
        } else {
            segments.separation_min(setting.block_size, setting.separation_time)
        };
        prop_assert_eq!(outcome.last_frame_at.since_zero(), least);
    }

    #[test]
    fn whatever_a_line_does_both_ends_come_to_rest_and_nothing_false_arrives(
        setting in any_setting(),
        len in 1usize..=5000,
        faults in proptest::collection::vec((any::<Index>(), 0usize..3), 1..6),
    ) {
        let (mut sender, mut receiver) = ends(&setting, 5000);
        let message = message(len);
        sender.send(LocalTime::ZERO, message.clone()).unwrap();
        let frames = Segments::of(len as u32, &setting.format).unwrap().frames() as usize;
        let faults: Vec<_> = faults
            .iter()
            .map(|(at, kind)| (at.index(frames + 2), [Fate::Lost, Fate::Doubled, Fate::Overtakes][*kind]))
            .collect();
        let outcome = run(&mut sender, &mut receiver, setting.confirms, |number| {
            faults.iter().find(|(at, _)| *at == number).map_or(Fate::Arrives, |(_, fate)| *fate)
        });
        prop_assert!(sender.is_idle() && receiver.is_idle());
        let ended = |event: &&SendEvent| matches!(event, SendEvent::Sent { .. } | SendEvent::Aborted(_));
        prop_assert_eq!(outcome.sent.iter().filter(ended).count(), 1);
        for event in &outcome.received {
            if let ReceiveEvent::Received(received) = event {
                // Sixteen frames lost in a row are invisible to the sequence number; fewer faults than that are made here.
                prop_assert_eq!(received, &message);
            }
        }
    }

    /// The peer sends whatever it likes, often something near to a real frame.
    #[test]
    fn a_hostile_peer_breaks_nothing_and_takes_no_more_than_the_limit(
        setting in any_setting(),
        message_len_max in 0u32..300,
        steps in proptest::collection::vec(
            (
                0i64..1_500,
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..66),
                    (0u8..0x40, any::<u8>(), any::<u8>(), 5usize..62).prop_map(|(a, b, c, rest)| {
                        [&[a, b, c][..], &vec![0x11; rest]].concat()
                    }),
                ],
                any::<Option<bool>>(),
            ),
            0..60,
        ),
    ) {
        let (mut sender, mut receiver) = ends(&setting, message_len_max);
        let mut now = LocalTime::ZERO;
        for (wait_ms, mut data, is_busy) in steps {
            now += Duration::from_ms(wait_ms);
            if let (Some(address), Some(first)) = (setting.format.address, data.first_mut()) {
                *first = address;
            }
            let _ = sender.send(now, message(200));
            if let Some(is_busy) = is_busy {
                receiver.set_busy(is_busy);
            }
            sender.handle_frame(now, &data);
            receiver.handle_frame(now, &data);
            let (_, events, wake) = drain_receiver(&mut receiver, now);
            prop_assert!(wake.is_none_or(|at| at > now));
            for event in events {
                match event {
                    ReceiveEvent::Received(message) => prop_assert!(message.len() <= message_len_max as usize),
                    ReceiveEvent::Refused { message_len, .. } => prop_assert!(message_len > message_len_max),
                    ReceiveEvent::Aborted { received, .. } => prop_assert!(received <= message_len_max as usize),
                    ReceiveEvent::Ignored(_) => {}
                }
            }
            let (_, _, wake) = drain_sender(&mut sender, now);
            prop_assert!(wake.is_none_or(|at| at > now));
            sender.handle_transmitted(now);
        }
    }
}
