//! A station as its driver sees it: inputs by hand, every output of each.

mod messages;
mod numbers;

use chronoseal_core::{DiscardReason, NodeId, Priority, StreamId, TxToken};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Profile};
use chronoseal_wire::ethernet::{Frame, HEADER_LEN};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame, add_transparent_clock};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link;

use super::*;
use crate::protection::{Protection, ProtectionError};
use crate::sync_client::SyncConfig;

const MARKER: [u8; 4] = [3, 4, 5, 6];
const SYNC_ID: u16 = 4043;
const CYCLE: Duration = Duration::from_ms(10);
const STREAM: StreamId = StreamId(3);
const CT_ID: u16 = 7;
const RELEASE: Duration = Duration::from_us(900);
const START: Duration = Duration::from_ms(1);
const OPENS: Duration = Duration::from_us(1_010);
const CLOSES: Duration = Duration::from_us(1_050);
const FRAME_LEN: usize = 100;

fn config(node: u16) -> EndSystemConfig {
    EndSystemConfig {
        node: NodeId(node),
        sync: SyncConfig {
            integration_cycle: CYCLE,
            precision: Duration::from_us(10),
            max_transmission_delay: Duration::from_us(100),
        },
        cluster: None,
        time_aware: None,
        ideal_clock: true,
        sync_id: SYNC_ID,
        ct_marker: MARKER,
        cluster_cycle: CYCLE,
        lead: Duration::ZERO,
        hand_over_max: Duration::ZERO,
        has_second_port: false,
        real_bytes: true,
        talkers: Vec::new(),
        listeners: Vec::new(),
        containers: Vec::new(),
        tasks: Vec::new(),
    }
}

fn hmac(freshness: Freshness, key: u8) -> Protection {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 128, freshness, 8).unwrap();
    let key = KeyBytes::from_array([key; KeyBytes::LEN]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: CT_ID.into() }
}

fn talker(protection: Protection) -> TalkerConfig {
    TalkerConfig {
        stream: STREAM,
        timing: TalkerTiming::Slots {
            ct_id: CT_ID,
            slots: vec![SendSlot { release: RELEASE, start: START }],
            is_numbered: false,
            samples: false,
            application: None,
        },
        frame_len: FRAME_LEN,
        tag: None,
        has_r_tag: false,
        fill: vec![0x5a; FRAME_LEN],
        signal: None,
        carried: None,
        datagram: None,
        virtual_link: None,
        protection,
    }
}

fn listener(protection: Protection) -> ListenerConfig {
    let window = ReceiveWindow { slot_start: START, opens: OPENS, closes: CLOSES };
    ListenerConfig::new(STREAM, Some(CT_ID), vec![window], protection)
}

fn sender(protection: Protection) -> Bench {
    Bench::started(EndSystemConfig { talkers: vec![talker(protection)], ..config(0) })
}

fn receiver(protection: Protection) -> Bench {
    Bench::started(EndSystemConfig { listeners: vec![listener(protection)], ..config(1) })
}

const UNPROTECTED: Protection = Protection::None { padding: 0 };

fn at(since_start: Duration) -> LocalTime {
    LocalTime::ZERO + since_start
}

fn beacon(cycle: u32) -> Vec<u8> {
    let control = ProtocolControlFrame {
        integration_cycle: cycle,
        membership_new: 1,
        sync_priority: 0,
        sync_domain: 0,
        kind: PcfType::Integration,
        transparent_clock: Duration::ZERO,
    };
    let mut bytes = vec![0; 60];
    let destination = virtual_link::critical_traffic_address(MARKER, SYNC_ID);
    control.emit_frame(destination, virtual_link::station_address(NodeId(9)), &mut bytes);
    bytes
}

/// All that came of one input.
#[derive(Default, Debug)]
struct Told {
    events: Vec<(EventKind, u64)>,
    values: Vec<i64>,
    sent: Vec<(LocalTime, Priority, Vec<u8>)>,
    work: Vec<Work>,
    wake: Option<LocalTime>,
}

impl Told {
    fn reason(&self) -> DiscardReason {
        match self.events[..] {
            [(EventKind::Discarded(reason), _)] => reason,
            ref other => panic!("one discard expected, got {other:?}"),
        }
    }
}

struct Bench(EndSystem);

impl Bench {
    fn started(config: EndSystemConfig) -> Self {
        let mut bench = Self(EndSystem::new(config).unwrap());
        bench.input(LocalTime::ZERO, Input::Command(Command::Start));
        bench
    }

    fn input(&mut self, now: LocalTime, input: Input<'_>) -> Told {
        self.0.handle_input(now, input).unwrap();
        let (mut told, mut frame) = (Told::default(), [0xee; chronoseal_core::node::FRAME_LEN_MAX]);
        loop {
            match self.0.poll_output(now, &mut frame) {
                Output::Event(event) => {
                    told.events.push((event.kind, event.sequence));
                    told.values.push(event.value);
                }
                Output::Transmit(Transmit { launch_at, priority, len, .. }) => {
                    told.sent.push((launch_at, priority, frame[..len].to_vec()));
                }
                Output::Work(work) => told.work.push(work),
                Output::Timeout(wake) => return Told { wake, ..told },
                other => panic!("unknown output {other:?}"),
            }
        }
    }

    fn wake(&mut self, now: LocalTime) -> Told {
        self.input(now, Input::Timeout)
    }

    fn receive(&mut self, now: LocalTime, bytes: &[u8]) -> Told {
        self.input(now, Input::Frame { port: PortId(0), rx_at: now, bytes })
    }
}

/// The frames a sender makes in its first cycles.
fn genuine(protection: Protection, cycles: i64) -> Vec<Vec<u8>> {
    let mut sender = sender(protection);
    (0..cycles).flat_map(|cycle| sender.wake(at(CYCLE * cycle + RELEASE)).sent).map(|(.., bytes)| bytes).collect()
}

#[test]
fn keeps_its_slots_and_asks_to_be_woken_for_the_next() {
    let mut sender = sender(UNPROTECTED);
    for cycle in 0..50 {
        let release = CYCLE * cycle + RELEASE;
        let early = sender.wake(at(release - Duration::from_ps(1)));
        assert_eq!((early.sent.len(), early.wake), (0, Some(at(release))), "an early wake-up is legal");
        let told = sender.wake(at(release));
        let [(launch_at, priority, bytes)] = &told.sent[..] else { panic!("{told:?}") };
        assert_eq!((*launch_at, *priority), (at(CYCLE * cycle + START), Priority::TIME_TRIGGERED));
        assert_eq!(told.events, [(EventKind::Sent, cycle as u64)]);
        let frame = Frame::new_checked(bytes).unwrap();
        assert_eq!(virtual_link::ct_id(frame.destination(), MARKER), Some(CT_ID));
        let header = TestBedHeader { stream: STREAM, sequence: cycle as u32 };
        assert_eq!(TestBedHeader::parse(frame.payload()), Ok(header));
        let late = sender.wake(at(release));
        assert_eq!((late.sent.len(), late.wake), (0, Some(at(release + CYCLE))), "a duplicate wake-up is legal");
    }
}

#[test]
fn a_stopped_station_sends_nothing_more() {
    let mut sender = sender(UNPROTECTED);
    assert_eq!(sender.input(LocalTime::ZERO, Input::Command(Command::Stop)).wake, None);
    let told = sender.wake(at(RELEASE));
    assert_eq!((told.sent.len(), told.wake), (0, None));
}

#[test]
fn accepts_a_frame_in_its_window_and_tells_the_time_since_its_slot_began() {
    let frames = genuine(UNPROTECTED, 1);
    let mut receiver = receiver(UNPROTECTED);
    let told = receiver.receive(at(OPENS), &frames[0]);
    assert_eq!(told.events, [(EventKind::Delivered, 0)]);
    assert_eq!(told.values, [(OPENS - START).as_ps()]);
    let told = receiver.wake(at(CLOSES + Duration::from_ps(1)));
    assert_eq!((told.events.len(), told.wake), (0, Some(at(CYCLE + CLOSES + Duration::from_ps(1)))), "not missing");
}

#[test]
fn a_missing_frame_is_told_once_after_its_window() {
    let mut receiver = receiver(UNPROTECTED);
    for cycle in 0..3 {
        let over = at(CYCLE * cycle + CLOSES + Duration::from_ps(1));
        assert_eq!(receiver.wake(at(CYCLE * cycle + CLOSES)).events, [], "it could still come");
        assert_eq!(receiver.wake(over).events, [(EventKind::Missing, cycle as u64)]);
        assert_eq!(receiver.wake(over).events, []);
    }
}

#[test]
fn a_frame_that_is_handed_over_late_is_not_called_missing_before() {
    let (hand_over_max, late) = (Duration::from_ms(2), Duration::from_ms(1));
    let listeners = vec![listener(UNPROTECTED)];
    let mut receiver = Bench::started(EndSystemConfig { listeners, hand_over_max, ..config(1) });
    assert_eq!(receiver.wake(at(CLOSES + late)).events, [], "it may lie in the socket");
    let (rx_at, bytes) = (at(CLOSES), &genuine(UNPROTECTED, 1)[0]);
    let told = receiver.input(at(CLOSES + late), Input::Frame { port: PortId(0), rx_at, bytes });
    assert_eq!(told.events, [(EventKind::Delivered, 0)], "its window is judged by when it came in");
    assert_eq!(receiver.wake(at(CYCLE)).events, []);
    let over = at(CYCLE + CLOSES + hand_over_max + Duration::from_ps(1));
    assert_eq!(receiver.wake(over).events, [(EventKind::Missing, 1)]);
}

#[test]
fn refuses_frames_outside_their_window_or_twice_in_it() {
    let frames = genuine(UNPROTECTED, 1);
    let ps = Duration::from_ps(1);
    for (time, accepted) in [(OPENS - ps, false), (OPENS, true), (CLOSES, true), (CLOSES + ps, false)] {
        // A wake-up is not due before the frame here, so the first event is about the frame.
        let told = receiver(UNPROTECTED).receive(at(time), &frames[0]);
        let refused = (EventKind::Discarded(DiscardReason::OutsideWindow), 0);
        assert_eq!(told.events[0], if accepted { (EventKind::Delivered, 0) } else { refused }, "{time}");
    }
    let mut receiver = receiver(UNPROTECTED);
    receiver.receive(at(OPENS), &frames[0]);
    assert_eq!(receiver.receive(at(OPENS), &frames[0]).reason(), DiscardReason::DuplicateInWindow);
}

#[test]
fn refuses_what_is_no_frame_of_its_streams() {
    let good = &genuine(UNPROTECTED, 1)[0];
    let changed = |offset: usize| {
        let mut bytes = good.clone();
        bytes[offset] ^= 1;
        bytes
    };
    let mut beacon_of_another = beacon(0);
    beacon_of_another[5] ^= 1;
    let mut unknown_kind = beacon(0);
    unknown_kind[HEADER_LEN + 14] = 0x0f;
    for (bytes, reason) in [
        (good[..59].to_vec(), DiscardReason::TooShort),
        (vec![0; 1515], DiscardReason::TooLong),
        (changed(5), DiscardReason::UnknownStream),
        (changed(0), DiscardReason::UnknownStream),
        // The address of the stream, the header of another.
        (changed(HEADER_LEN), DiscardReason::Malformed),
        (changed(HEADER_LEN + 2), DiscardReason::Malformed),
        (beacon_of_another, DiscardReason::UnknownStream),
        (unknown_kind, DiscardReason::Malformed),
    ] {
        assert_eq!(receiver(UNPROTECTED).receive(at(OPENS), &bytes).reason(), reason);
    }
}

#[test]
fn an_unsynchronised_station_neither_sends_nor_judges_windows() {
    let mut node = Bench::started(EndSystemConfig {
        ideal_clock: false,
        talkers: vec![talker(UNPROTECTED)],
        listeners: vec![ListenerConfig { stream: StreamId(4), ct_id: Some(8), ..listener(UNPROTECTED) }],
        ..config(0)
    });
    let mut foreign = genuine(UNPROTECTED, 1).remove(0);
    (foreign[5], foreign[HEADER_LEN + 1]) = (8, 4);
    assert_eq!(node.wake(at(RELEASE)).sent.len(), 0);
    assert_eq!(node.receive(at(OPENS), &foreign).reason(), DiscardReason::NotSynchronised);

    // Its oscillator shows 3 ms more than cluster time.
    let ahead = Duration::from_ms(3);
    let joined = node.receive(at(CYCLE + ahead), &beacon(1));
    assert_eq!(joined.events, [(EventKind::SyncAcquired, 1)]);
    let release = CYCLE + ahead + RELEASE;
    assert_eq!(joined.wake, Some(at(release)), "the slots of the past are left out");
    let told = node.wake(at(release));
    assert_eq!(told.sent[0].0, at(CYCLE + ahead + START));
    assert_eq!(node.receive(at(CYCLE + ahead + OPENS), &foreign).events, [(EventKind::Delivered, 0)]);
}

#[test]
fn a_beacon_that_was_on_its_way_for_too_long_is_not_used() {
    let delay_max = config(0).sync.max_transmission_delay;
    for (delay, is_used) in [(delay_max, true), (delay_max + Duration::from_ns(1), false)] {
        let mut node = Bench::started(EndSystemConfig { ideal_clock: false, ..config(0) });
        let mut late = beacon(0);
        add_transparent_clock(&mut late, delay);
        let told = node.receive(at(delay), &late);
        if is_used {
            assert_eq!(told.events, [(EventKind::SyncAcquired, 0)]);
        } else {
            assert_eq!(told.reason(), DiscardReason::TransmissionDelayExceeded);
        }
    }
}

#[test]
fn loses_the_cluster_when_no_beacon_comes_and_joins_it_again() {
    let mut node =
        Bench::started(EndSystemConfig { ideal_clock: false, talkers: vec![talker(UNPROTECTED)], ..config(0) });
    node.receive(at(Duration::ZERO), &beacon(0));
    let mut lost_at = None;
    let mut wake = node.wake(at(Duration::ZERO)).wake;
    while let Some(now) = wake {
        let told = node.wake(now);
        if told.events.contains(&(EventKind::SyncLost, 0)) {
            assert_eq!(told.wake, None, "nothing to do before the next beacon");
            lost_at = Some(now);
        }
        wake = told.wake;
    }
    assert_eq!(lost_at, Some(at(CYCLE * 3 + Duration::from_us(10))), "three cycles and the precision");
    let again = node.receive(at(CYCLE * 7), &beacon(7));
    assert_eq!(again.events, [(EventKind::SyncAcquired, 7)]);
    assert!(again.wake.is_some());
}

#[test]
fn sealing_and_opening_are_told_before_their_effect() {
    let mut sender = sender(hmac(Freshness::Full, 1));
    let told = sender.wake(at(RELEASE));
    assert_eq!((told.work.len(), told.sent.len()), (1, 1));
    let sealed = &told.sent[0].2;
    assert_eq!(sealed.len(), FRAME_LEN + 8 + 16, "freshness value and tag are added");

    let mut node = receiver(hmac(Freshness::Full, 1)).0;
    node.handle_input(at(OPENS), Input::Frame { port: PortId(0), rx_at: at(OPENS), bytes: sealed }).unwrap();
    let mut frame = [0; 1536];
    assert!(matches!(node.poll_output(at(OPENS), &mut frame), Output::Work(work) if work == told.work[0]));
    // The processor took its time; the frame counts from when it came.
    let done = at(CLOSES + Duration::from_ms(1));
    let Output::Event(event) = node.poll_output(done, &mut frame) else { panic!("the frame is judged") };
    assert_eq!((event.kind, event.value), (EventKind::Delivered, (OPENS - START).as_ps()));
}

#[test]
fn refuses_replayed_changed_and_foreign_frames_with_the_reason() {
    let frames = genuine(hmac(Freshness::Full, 1), 3);
    let window = |cycle: i64| at(CYCLE * cycle + OPENS);
    let mut node = receiver(hmac(Freshness::Full, 1));
    for (cycle, frame) in (0..).zip(&frames[..2]) {
        assert_eq!(node.receive(window(cycle), frame).events.last(), Some(&(EventKind::Delivered, cycle as u64)));
    }
    assert_eq!(node.receive(window(2), &frames[0]).reason(), DiscardReason::Replayed);
    for offset in HEADER_LEN..frames[2].len() {
        let mut changed = frames[2].clone();
        changed[offset] ^= 0x10;
        let mut fresh = receiver(hmac(Freshness::Full, 1));
        assert_eq!(fresh.receive(window(0), &changed).reason(), DiscardReason::TagMismatch, "byte {offset}");
    }
    let foreign = &genuine(hmac(Freshness::Full, 2), 1)[0];
    assert_eq!(receiver(hmac(Freshness::Full, 1)).receive(window(0), foreign).reason(), DiscardReason::TagMismatch);
    let plain = &genuine(UNPROTECTED, 1)[0];
    assert_eq!(receiver(hmac(Freshness::Full, 1)).receive(window(0), plain).reason(), DiscardReason::TagMismatch);
}

#[test]
fn a_frame_of_an_earlier_cycle_does_not_fit_the_cycle_counter() {
    let frames = genuine(hmac(Freshness::CycleCounter, 1), 2);
    let mut node = receiver(hmac(Freshness::CycleCounter, 1));
    assert_eq!(node.receive(at(OPENS), &frames[0]).events, [(EventKind::Delivered, 0)]);
    let next = at(CYCLE + OPENS);
    assert_eq!(node.receive(next, &frames[0]).reason(), DiscardReason::TagMismatch);
    let mut node = receiver(hmac(Freshness::CycleCounter, 1));
    assert_eq!(node.receive(next, &frames[1]).events.last(), Some(&(EventKind::Delivered, 1)));
}

#[test]
fn without_real_bytes_lengths_and_times_are_the_same_and_nothing_is_computed() {
    let protection = || hmac(Freshness::Full, 1);
    let timing = |config: EndSystemConfig| Bench::started(EndSystemConfig { real_bytes: false, ..config });
    let mut node = timing(EndSystemConfig { talkers: vec![talker(protection())], ..config(0) });
    let told = node.wake(at(RELEASE));
    let real = sender(protection()).wake(at(RELEASE));
    assert_eq!((told.work.len(), real.work.len()), (0, 1));
    let shape = |told: &Told| (told.events.clone(), told.wake, told.sent[0].0, told.sent[0].1, told.sent[0].2.len());
    assert_eq!(shape(&told), shape(&real));
    let headers = HEADER_LEN + TestBedHeader::LEN;
    assert_eq!(told.sent[0].2[..headers], real.sent[0].2[..headers]);
    let mut listening = timing(EndSystemConfig { listeners: vec![listener(protection())], ..config(1) });
    assert_eq!(listening.receive(at(OPENS), &told.sent[0].2).events, [(EventKind::Delivered, 0)]);
}

#[test]
fn best_effort_streams_follow_the_oscillator_without_a_beacon() {
    let periodic = |stream: u16, phase_us: i64, period_us: i64| TalkerConfig {
        stream: StreamId(stream),
        timing: TalkerTiming::Periodic {
            priority: 2,
            phase: Duration::from_us(phase_us),
            pace: Duration::from_us(period_us).into(),
        },
        ..talker(UNPROTECTED)
    };
    let talkers = vec![periodic(0, 30, 100), periodic(1, 10, 40), periodic(2, 50, 1000)];
    let mut node = Bench::started(EndSystemConfig { ideal_clock: false, talkers, ..config(0) });
    let mut seen = Vec::new();
    let mut wake = node.wake(LocalTime::ZERO).wake;
    while let Some(now) = wake.filter(|now| *now < at(Duration::from_us(140))) {
        let told = node.wake(now);
        for (launch_at, priority, bytes) in &told.sent {
            assert_eq!((*launch_at, *priority), (now, Priority(2)));
            let header = TestBedHeader::parse(Frame::new_checked(bytes).unwrap().payload()).unwrap();
            seen.push(((now - LocalTime::ZERO).as_ns() / 1000, header.stream.0, header.sequence));
        }
        wake = told.wake;
    }
    assert_eq!(seen, [(10, 1, 0), (30, 0, 0), (50, 1, 1), (50, 2, 0), (90, 1, 2), (130, 0, 1), (130, 1, 3)]);
}

#[test]
fn all_that_is_to_be_sent_on_leaves_at_once_whatever_goes_before_it() {
    use crate::gateway::{Mark, Pdu, Stack};

    let relay = TalkerConfig {
        timing: TalkerTiming::Relayed { priority: 2 },
        carried: Some(CarriedPdu { len: 8, is_sealed: true }),
        ..talker(UNPROTECTED)
    };
    // A task is due at the same instant, and is over at once.
    let tasks = vec![TaskRun { task: 0, start: Duration::ZERO, length: Duration::ZERO }];
    let mut node = Bench::started(EndSystemConfig { talkers: vec![relay], tasks, ..config(0) });
    let now = at(CYCLE);
    for sequence in [5, 6] {
        node.0.send(now, Pdu { stream: STREAM, sequence, bytes: vec![0; 8], mark: Mark::default() });
    }
    let told = node.wake(now);
    let sequence =
        |bytes: &Vec<u8>| TestBedHeader::parse(Frame::new_checked(bytes).unwrap().payload()).unwrap().sequence;
    assert_eq!(told.sent.iter().map(|(.., bytes)| sequence(bytes)).collect::<Vec<_>>(), [5, 6]);
    assert_eq!(told.events, [(EventKind::TaskDone, 0)]);
}

#[test]
fn a_task_takes_its_time_and_tells_how_long_it_took() {
    let task = TaskRun { task: 5, start: START, length: Duration::from_us(200) };
    let mut node = Bench::started(EndSystemConfig { tasks: vec![task], ..config(0) }).0;
    node.handle_input(at(START), Input::Timeout).unwrap();
    let mut frame = [0; 1536];
    let Output::Work(work) = node.poll_output(at(START), &mut frame) else { panic!("the task is due") };
    assert_eq!(work, Work::declared(TASK, task.length));
    let Output::Event(done) = node.poll_output(at(START + task.length), &mut frame) else { panic!("it has ended") };
    assert_eq!((done.kind, done.sequence, done.value), (EventKind::TaskDone, 5, task.length.as_ps()));
}

#[test]
fn a_driver_that_breaks_the_contract_is_told() {
    let mut node = receiver(UNPROTECTED).0;
    let frame = Input::Frame { port: PortId(1), rx_at: LocalTime::ZERO, bytes: &[] };
    assert_eq!(node.handle_input(LocalTime::ZERO, frame), Err(HandleError::UnknownPort(PortId(1))));
    let transmitted = Input::Transmitted { token: TxToken::new(4), tx_at: LocalTime::ZERO };
    assert_eq!(node.handle_input(LocalTime::ZERO, transmitted), Err(HandleError::UnknownToken(4)));
}

/// SecOC's profile 1 with a counter of 8 bytes, under AES-128-CMAC.
fn secoc_1() -> Protection {
    let profile = secoc::profile_1(FreshnessFormat::Counter { bits: 64 }).unwrap();
    let key = Key128::from_array([3; Key128::LEN]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: CT_ID.into() }
}

#[test]
fn secoc_protects_a_scheduled_stream_and_counts_by_itself() {
    let frames = genuine(secoc_1(), 3);
    let mut receiver = receiver(secoc_1());
    for (cycle, frame) in (0..).zip(&frames) {
        assert_eq!(frame.len(), FRAME_LEN + 4);
        assert_eq!(frame[FRAME_LEN], cycle as u8 + 1, "the sender's own count, which begins with 1");
        let now = at(CYCLE * cycle + OPENS);
        let told = receiver.receive(now, frame);
        assert_eq!(told.events, [(EventKind::Delivered, cycle as u64)]);
        assert_eq!(
            (told.work[0].operation.0, told.work[0].len as usize),
            ("cmac-aes-128", 2 + FRAME_LEN - HEADER_LEN + 8)
        );
    }
    let told = receiver.receive(at(CYCLE * 3 + OPENS), &frames[2]);
    assert_eq!(told.reason(), DiscardReason::Replayed);
}

#[test]
fn refuses_what_a_station_on_ethernet_does_not_have() {
    let refusal = |config| EndSystem::new(config).map(|_| ()).unwrap_err();
    let with = |profile, key| Protection::Secured { profile, key, data_id: CT_ID.into() };
    let key = || Some((&Key128::from_array([3; Key128::LEN])).into());
    let Protection::Secured { profile: hmac, .. } = hmac(Freshness::Full, 1) else { panic!("it is secured") };
    for (protection, error) in [
        (with(secoc::profile_3(), key()), ProtectionError::TripResetOnEthernet),
        (with(hmac, None), ProtectionError::GroupKeyOnEthernet),
    ] {
        let sender = EndSystemConfig { talkers: vec![talker(protection.clone())], ..config(0) };
        let receiver = EndSystemConfig { listeners: vec![listener(protection)], ..config(1) };
        assert_eq!(refusal(sender), error);
        assert_eq!(refusal(receiver), error);
    }
}
