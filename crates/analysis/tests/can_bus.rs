//! Response times of messages on a simulated bus, exact to the bit, against their bounds.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use chronoseal_analysis::can::{Bus, Format, Message, Traffic, response_times};
use chronoseal_core::{Duration, NodeId, PortId, Priority, Rate, SimTime};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::medium::{Attachment, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId};
use proptest::prelude::*;

fn timing() -> BitTiming {
    BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap()
}

/// A frame to be sent: when its event is, when it is queued, and of which message it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    queued: Duration,
    event: Duration,
    message: usize,
}

/// From event to last bit, at most, of each message. Each has a station of its own, and one more listens.
fn latest(frames: &[CanFrame], mut releases: Vec<Release>, until: Duration) -> Vec<Duration> {
    let port = |node: usize| Attachment { node: NodeId(node as u16), port: PortId(0) };
    let bus = CanBusConfig {
        timing: timing(),
        carries_fd: true,
        controllers: (0..=frames.len()).map(|node| ControllerConfig::new(port(node))).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    let mut network = CanBus::new(bus, 1).unwrap();
    let (mut store, mut out) = (FrameStore::new(), Vec::new());
    let mut timers: BinaryHeap<Reverse<(SimTime, MediumTimer)>> = BinaryHeap::new();
    let listener = port(frames.len());
    let mut waiting: BTreeMap<CanId, VecDeque<Duration>> = BTreeMap::new();
    let mut latest = vec![Duration::ZERO; frames.len()];
    releases.sort();
    let mut releases = releases.into_iter().peekable();
    network.start(SimTime::ZERO, &mut store, &mut out);
    loop {
        let timer = timers.peek().map(|Reverse((at, _))| *at);
        let release = releases.peek().map(|release| SimTime::ZERO + release.queued);
        let Some(now) = [timer, release].into_iter().flatten().min().filter(|now| *now <= SimTime::ZERO + until) else {
            return latest;
        };
        if release == Some(now) {
            let release = releases.next().unwrap();
            let frame = store.allocate(FrameLabel::default());
            let mut bytes = [0; chronoseal_wire::can::layout::FRAME_LEN_MAX];
            let len = frames[release.message].emit(&mut bytes);
            store.buffer(frame)[..len].copy_from_slice(&bytes[..len]);
            store.set_len(frame, len);
            waiting.entry(frames[release.message].id()).or_default().push_back(release.event);
            network.handle_frame(now, port(release.message), Priority(0), frame, &mut store, &mut out);
        } else {
            let Some(Reverse((at, timer))) = timers.pop() else { return latest };
            network.handle_timer(at, timer, &mut store, &mut out);
        }
        for output in out.drain(..) {
            match output {
                MediumOutput::Timer { at, timer } => timers.push(Reverse((at, timer))),
                MediumOutput::Deliver { to, frame, .. } => {
                    let delivered = CanFrame::parse(store.bytes(frame)).unwrap();
                    if to == listener {
                        let event = waiting.get_mut(&delivered.id()).and_then(VecDeque::pop_front).unwrap();
                        let message = frames.iter().position(|frame| frame.id() == delivered.id()).unwrap();
                        latest[message] = latest[message].max(now - (SimTime::ZERO + event));
                    }
                    store.release(frame);
                }
                MediumOutput::Transmitted { frame, .. } => store.release(frame),
                MediumOutput::Discard { .. } => panic!("a frame was thrown away"),
                MediumOutput::Event { .. } => {}
            }
        }
    }
}

/// Messages in the order of their identifiers: bytes, period `[us]`, jitter `[us]`.
fn any_set() -> impl Strategy<Value = Vec<(usize, i64, i64)>> {
    proptest::collection::vec((0usize..=8, 700i64..10_000, 0i64..500), 1..7).prop_filter(
        "more than the bus has",
        |set| {
            set.iter().map(|(len, period, _)| (55 + 10 * *len as i64) as f64 * 2.0 / *period as f64).sum::<f64>() < 0.85
        },
    )
}

fn traffic(index: usize, (len, period_us, jitter_us): (usize, i64, i64)) -> Traffic {
    Traffic {
        id: CanId::standard(0x100 + index as u16).unwrap(),
        format: Format::Classical,
        len,
        period: Duration::from_us(period_us),
        jitter: Duration::from_us(jitter_us),
        deadline: Duration::from_us(period_us),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_simulated_response_is_later_than_its_bound(
        set in any_set(),
        chance in proptest::collection::vec(any::<u32>(), 200),
        fill in any::<u8>(),
    ) {
        let timing = timing();
        let bus = Bus { bit_time: timing.nominal_bit(), other_frame: Duration::ZERO };
        let traffic: Vec<Traffic> = set.iter().enumerate().map(|(index, row)| traffic(index, *row)).collect();
        let messages: Vec<Message> = traffic.iter().map(|one| one.message(&timing).unwrap()).collect();
        let frames: Vec<CanFrame> =
            traffic.iter().map(|one| CanFrame::classical(one.id, &vec![fill; one.len]).unwrap()).collect();
        let until = Duration::from_ms(100);
        let mut chance = chance.iter().cycle().map(|chance| i64::from(*chance));
        let mut releases = Vec::new();
        for (message, one) in traffic.iter().enumerate() {
            let mut event = Duration::from_ps(chance.next().unwrap() * 1000 % one.period.as_ps());
            let mut queued = Duration::ZERO;
            while event < until {
                let late = Duration::from_ps(chance.next().unwrap() * 1000 % (one.jitter.as_ps() + 1));
                queued = queued.max(event + late);
                releases.push(Release { queued, event, message });
                event += one.period;
            }
        }
        let latest = latest(&frames, releases, until);
        for (response, latest) in response_times(&bus, &messages).unwrap().iter().zip(latest) {
            // The bound ends with the interframe space, the delivery before it.
            let bound = response.outcome.as_ref().unwrap().worst() - timing.intermission();
            prop_assert!(latest <= bound, "{}: {latest}, bound {bound}", response.id);
        }
    }
}

/// Three messages near the limit, of which the last has its worst response in a later instance, and a long frame that
/// has just begun: all are queued a bit later, when it is too late to take part.
#[test]
fn the_simulated_bus_reaches_the_bound_at_the_critical_instant() {
    let timing = timing();
    let bit = timing.nominal_bit();
    let ids = [0x100u16, 0x200, 0x300, 0x7f0];
    // The last has more stuff bits than the others: it blocks longest.
    let data = [[0x55; 8], [0x55; 8], [0x55; 8], [0x00; 8]];
    let frame = |index: usize| CanFrame::classical(CanId::standard(ids[index]).unwrap(), &data[index]).unwrap();
    let frames = [frame(0), frame(1), frame(2), frame(3)];
    let occupied = frames.map(|frame| timing.frame(&frame) + timing.intermission());
    // As in Davis et al. 2007, section 3: 2.5, 3.5 and 3.5 times the frame, less what the last one blocks with.
    let periods = [occupied[0] * 5 / 2, occupied[0] * 7 / 2, occupied[0] * 7 / 2, Duration::from_s(1)];
    let message = |index: usize| Message {
        id: frames[index].id(),
        wire_time: occupied[index],
        period: periods[index],
        jitter: Duration::ZERO,
        deadline: periods[index],
    };
    let until = Duration::from_ms(20);
    for count in [3, 4] {
        let messages: Vec<Message> = (0..count).map(message).collect();
        let bus = Bus { bit_time: bit, other_frame: Duration::ZERO };
        let responses = response_times(&bus, &messages).unwrap();
        let mut releases = Vec::new();
        // With a fourth, it has begun a bit before the others are queued.
        let others = if count == 4 { bit } else { Duration::ZERO };
        for (index, one) in messages.iter().enumerate().take(3) {
            let mut event = others;
            while event < until {
                releases.push(Release { queued: event, event, message: index });
                event += one.period;
            }
        }
        if count == 4 {
            releases.push(Release { queued: Duration::ZERO, event: Duration::ZERO, message: 3 });
        }
        let latest = latest(&frames[..count], releases, until);
        // Of the three without a fourth, only the last one's critical instant is that of all: nothing blocks it.
        let checked = if count == 3 { 2..3 } else { 0..3 };
        for index in checked {
            let bound = responses[index].outcome.as_ref().unwrap();
            assert_eq!(latest[index], bound.worst() - timing.intermission() - others, "{}", responses[index].id);
        }
        if count == 3 {
            let bound = responses[2].outcome.as_ref().unwrap();
            assert!(bound.worst() > bound.instances[0], "the first instance is not the worst: {:?}", bound.instances);
        }
    }
}
