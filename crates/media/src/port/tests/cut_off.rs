//! Scheduled frames that cut off others (SAE AS6802), by hand and against a plain model that goes byte by byte.

use std::collections::VecDeque;

use super::*;

/// What a scheduled frame waits for behind what it cut off.
const GAP: i64 = 12;
/// Preamble and checksum.
const AROUND: i64 = 12;

fn cutting() -> Port {
    port(&PortConfig { scheduled_cut: true, ..PortConfig::default() })
}

fn bytes(count: i64) -> SimTime {
    SimTime::ZERO + BYTE * count
}

#[test]
fn a_frame_that_is_cut_off_is_sent_again_from_its_beginning() {
    for cut in [1, 7, 60, 700, 1525] {
        let log = play(&mut cutting(), &[one(bytes(0), 1514, 0), one(bytes(cut), 60, 11)]);
        let scheduled = cut + GAP;
        let again = scheduled + AROUND + 60 + GAP;
        let expected = [(1, bytes(scheduled), bytes(scheduled + AROUND + 60)), (0, bytes(again), bytes(again + 1526))];
        assert_eq!(log, expected, "cut after {cut} bytes");
    }
    // Its last bit has left: nothing is cut, and only what is left of the gap is waited for.
    let log = play(&mut cutting(), &[one(bytes(0), 1514, 0), one(bytes(1526), 60, 11)]);
    assert_eq!(log, [(0, bytes(0), bytes(1526)), (1, bytes(1538), bytes(1538 + AROUND + 60))]);
}

#[test]
fn a_frame_that_was_cut_off_waits_as_the_first_of_its_class() {
    let coming = [one(bytes(0), 1000, 3), one(bytes(1), 100, 3), one(bytes(2), 100, 5), one(bytes(500), 60, 11)];
    let log = play(&mut cutting(), &coming);
    assert_eq!(log.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [3, 2, 0, 1]);
}

#[test]
fn a_control_frame_is_cut_off_as_well_and_nobody_cuts_off_a_scheduled_one() {
    let log = play(&mut cutting(), &[one(bytes(0), 60, 10), one(bytes(5), 60, 11), one(bytes(20), 60, 11)]);
    assert_eq!(log.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [1, 2, 0]);
    assert_eq!(log[1].1, bytes(5 + GAP + AROUND + 60 + GAP));
}

/// A wire in steps of a byte.
#[derive(Default)]
struct Model {
    queues: [VecDeque<(usize, i64)>; 12],
    /// Number, length, class and start of a frame that may be cut off.
    sending: Option<(usize, i64, usize, i64)>,
    free_at: i64,
    log: Log,
}

impl Model {
    fn look(&mut self, now: i64) {
        if let Some((number, len, class, started)) = self.sending {
            if now >= started + len + AROUND {
                self.log.push((number, bytes(started), bytes(started + len + AROUND)));
                (self.sending, self.free_at) = (None, started + len + AROUND + GAP);
            } else if !self.queues[11].is_empty() {
                self.queues[class].push_front((number, len));
                (self.sending, self.free_at) = (None, now + GAP);
            }
        }
        if self.sending.is_some() || now < self.free_at {
            return;
        }
        let Some(class) = (0..12).rev().find(|class| !self.queues[*class].is_empty()) else { return };
        let Some((number, len)) = self.queues[class].pop_front() else { return };
        if class < 11 {
            self.sending = Some((number, len, class, now));
            return;
        }
        self.log.push((number, bytes(now), bytes(now + len + AROUND)));
        self.free_at = now + len + AROUND + GAP;
    }

    fn play(mut self, coming: &[(i64, i64, usize)]) -> Log {
        let work: i64 = coming.iter().map(|(_, len, _)| len + 24).sum();
        let last = coming.last().map_or(0, |(at, ..)| *at);
        // Each frame may be sent as often as there are others to cut it off.
        for now in 0..=last + work * (coming.len() as i64 + 1) {
            for (number, (_, len, class)) in coming.iter().enumerate().filter(|(_, (at, ..))| *at == now) {
                self.queues[*class].push_back((number, *len));
                self.look(now);
            }
            self.look(now);
        }
        self.log.sort_unstable();
        self.log
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_port_whose_frames_are_cut_off_does_what_the_plain_model_does(
        frames in proptest::collection::vec((0i64..300, 60u64..400, prop_oneof![0u8..11, Just(11u8)]), 1..14),
    ) {
        let frames: Vec<(i64, u64, u8, u16)> =
            frames.into_iter().map(|(later, len, class)| (later, len, class, 0)).collect();
        let mut log = play(&mut cutting(), &coming(frames.clone()));
        log.sort_unstable();
        let mut at = 0;
        let plain: Vec<(i64, i64, usize)> = frames
            .iter()
            .map(|(later, len, class, _)| {
                at += later;
                (at, *len as i64, usize::from(*class))
            })
            .collect();
        prop_assert_eq!(log, Model::default().play(&plain));
    }
}
