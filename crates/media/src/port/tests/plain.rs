//! Where nothing is configured, a port and a line do the same.

use super::*;
use crate::line::{Line, Step};

/// As [`play`], on a line.
fn play_line(line: &mut Line, coming: &[Coming]) -> Log {
    let mut frames = FrameStore::new();
    let numbers: Vec<FrameId> = coming.iter().map(|_| frames.allocate(FrameLabel::default())).collect();
    let mut looks = std::collections::BTreeSet::new();
    let (mut log, mut next) = (Log::new(), 0);
    loop {
        let look = looks.first().copied();
        let (now, step) = match coming.get(next) {
            Some(frame) if look.is_none_or(|look| frame.at <= look) => {
                let offer =
                    Offer { frame: numbers[next], len: frame.len, priority: Priority(frame.priority), due: None };
                next += 1;
                let Ok(step) = line.offer(frame.at, offer) else { continue };
                (frame.at, step)
            }
            _ => {
                let Some(now) = looks.pop_first() else { return log };
                (now, line.step(now))
            }
        };
        looks.extend(match step {
            Step::Started(started) => {
                let number = numbers.iter().position(|frame| *frame == started.frame).unwrap();
                log.push((number, now, started.arrives_at));
                started.look_again_at
            }
            Step::LookAgain(at) => Some(at),
            Step::Idle => None,
        });
    }
}

proptest! {
    #[test]
    fn a_port_without_anything_is_a_line(
        frames in proptest::collection::vec((0i64..600, 60u64..1515, 0u8..11, 0u16..1), 1..60),
        starts in proptest::collection::vec(0i64..40_000, 0..4), tolerance in 0i64..100, room in 1514u64..6000,
        class_of: [u8; TRAFFIC_CLASSES], is_shared: bool,
    ) {
        let reserved = || {
            let starts = starts.iter().map(|start| BYTE * *start);
            match starts.len() {
                0 => ReservedStarts::default(),
                _ => ReservedStarts::new(BYTE * 40_000, starts, BYTE * tolerance),
            }
        };
        let coming = coming(frames);
        let class_of = class_of.map(|class| class % TRAFFIC_CLASSES as u8);
        let config = PortConfig { class_of, ..PortConfig::default() };
        prop_assert!(config.is_strict());
        let mut line = Line::new(speed(), room, reserved()).with_classes(class_of).with_shared_queue(is_shared);
        let mut port = Port::new(&config, speed(), room, reserved()).with_shared_queue(is_shared);
        prop_assert_eq!(play(&mut port, &coming), play_line(&mut line, &coming));
    }
}
