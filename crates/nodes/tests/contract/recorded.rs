//! What is recorded, sent again, and what bounds it.

use std::sync::Arc;

use chronoseal_core::{Duration, LocalTime, StreamId};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_nodes::end_system::{EndSystem, EndSystemConfig, TalkerConfig, TalkerTiming};
use chronoseal_nodes::{Protection, RecordedMessages};
use chronoseal_wire::ethernet::VlanTag;
use chronoseal_wire::test_bed_header::TestBedHeader;
use proptest::prelude::*;

use super::end_system::{config, talker};
use super::ms;

/// More than a frame may have around what is recorded of it `[byte]`.
const AROUND_MAX: usize = 100;

proptest! {
    #[test]
    fn what_bounds_a_recording_is_nowhere_below_it(
        messages in proptest::collection::vec((0i64..100, 46usize..1500), 1..60),
        behind in 1i64..50,
        around in 0..=AROUND_MAX,
    ) {
        let mut messages: Vec<_> = messages.into_iter().map(|(at, len)| (ms_long(at), vec![0; len])).collect();
        messages.sort();
        let length = messages[messages.len() - 1].0 + ms_long(behind);
        let recorded = RecordedMessages::new(messages, length);
        let count = recorded.messages().len();
        let of = |len: usize| i64::try_from(len + around).expect("it is small");
        let rounds = (0..3).flat_map(|round| recorded.messages().iter().map(move |one| (round, one)));
        let all: Vec<(Duration, i64)> =
            rounds.map(|(round, (at, content))| (length * round + *at, of(content.len()))).collect();
        for first in 0..count {
            let mut sum = 0;
            for (time, len) in &all[first..] {
                sum += len;
                let window = *time - all[first].0 + recorded.jitter();
                let most = of(recorded.longest()) * (window.div_floor(recorded.distance()) + 1);
                prop_assert!(sum <= most, "{sum} of {most} bytes within {window}");
            }
        }
    }
}

fn ms_long(ms: i64) -> Duration {
    Duration::from_ms(ms)
}

#[test]
fn even_messages_come_at_their_distance() {
    let messages = (0..10).map(|i| (ms_long(i), vec![0; 100])).collect();
    let recorded = RecordedMessages::new(messages, ms_long(10));
    assert_eq!((recorded.distance(), recorded.jitter()), (ms_long(1), ms_long(1)));
    assert_eq!((recorded.longest(), recorded.shortest()), (100, 100));
}

/// Three frames, two of them at once, in rounds of 10 ms from the third millisecond on; behind a VLAN tag.
#[test]
fn a_station_that_replays_keeps_it() {
    let messages = vec![(ms_long(0), vec![1; 46]), (ms_long(4), vec![2; 100]), (ms_long(4), vec![3; 60])];
    let recorded = Arc::new(RecordedMessages::new(messages, ms_long(10)));
    let timing = TalkerTiming::Recorded { priority: 6, phase: ms_long(3), recorded };
    let tagged = TalkerConfig {
        frame_len: 18 + 100,
        tag: Some(VlanTag { pcp: 6, drop_eligible: false, vid: 7 }),
        ..talker(StreamId(4), timing, Protection::NONE)
    };
    for real_bytes in [true, false] {
        let talkers = vec![tagged.clone()];
        let make = || {
            let config = EndSystemConfig { talkers: talkers.clone(), real_bytes, ..config(0, true) };
            Box::new(EndSystem::new(config).expect("it is able to"))
        };
        let conduct = Contract::new(0..1, Script::until(ms(20)), make).check();
        let mut sent = Vec::new();
        for (number, (at, _, bytes)) in (0u32..).zip(conduct.frames()) {
            let header = TestBedHeader::parse(&bytes[18..]).expect("each has its number");
            assert_eq!((header.stream, header.sequence), (StreamId(4), number));
            assert_eq!(bytes[12..16], [0x81, 0, 0xc0, 7]);
            let content = if real_bytes { bytes[bytes.len() - 1] } else { 0 };
            sent.push(((at - LocalTime::ZERO).as_ns() / 1_000_000, bytes.len() - 18, content));
        }
        let expected = [(3, 46, 1), (7, 100, 2), (7, 60, 3), (13, 46, 1), (17, 100, 2), (17, 60, 3)];
        assert_eq!(sent, expected.map(|(at, len, content)| (at, len, if real_bytes { content } else { 0 })));
    }
}
