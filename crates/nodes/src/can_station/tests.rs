use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, Input, LocalTime, Node, NodeId, Output, PortId, StreamId, Work,
};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Profile};
use chronoseal_wire::can::{CanFrame, CanId, FrameKind};

use super::*;
use crate::RecordedSignal;
use crate::protection::{Protection, ProtectionError};

const STREAM: StreamId = StreamId(7);

fn id() -> CanId {
    CanId::standard(0x123).expect("11 bits")
}

fn secoc(key: Option<Key128>) -> Protection {
    let profile = secoc::profile_1(FreshnessFormat::Counter { bits: 64 }).expect("8 bits can be sent");
    Protection::Secured { profile, key: key.as_ref().map(Into::into), data_id: 7.into() }
}

fn talker(protection: Protection) -> StationConfig {
    let talker = TalkerConfig {
        stream: STREAM,
        id: id(),
        kind: FrameKind::Classical,
        len: 4,
        pace: Duration::from_ms(10).into(),
        offset: Duration::from_ms(3),
        fill: vec![0xaa; 4],
        signal: None,
        protection,
    };
    StationConfig { node: NodeId(0), talkers: vec![talker], ..StationConfig::default() }
}

fn listener(protection: Protection) -> StationConfig {
    let listener = ListenerConfig::new(STREAM, id(), 4, protection);
    StationConfig { node: NodeId(1), listeners: vec![listener], ..StationConfig::default() }
}

/// What a station does at one time.
#[derive(Default)]
struct Done {
    frames: Vec<Vec<u8>>,
    events: Vec<Event>,
    work: Vec<Work>,
    wakes_at: Option<LocalTime>,
}

fn drain(station: &mut CanStation, now: LocalTime) -> Done {
    let (mut done, mut buffer) = (Done::default(), [0; 1536]);
    loop {
        match station.poll_output(now, &mut buffer) {
            Output::Transmit(transmit) => done.frames.push(buffer[..transmit.len].to_vec()),
            Output::Event(event) => done.events.push(event),
            Output::Work(work) => done.work.push(work),
            Output::Timeout(at) => {
                done.wakes_at = at;
                return done;
            }
            _ => panic!("nothing else is said"),
        }
    }
}

fn at_ms(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn started(config: StationConfig) -> CanStation {
    let mut station = CanStation::new(config, None).expect("a station of a bus is able to");
    station.handle_input(at_ms(0), Input::Command(Command::Start)).expect("time runs forwards");
    station
}

fn hear(station: &mut CanStation, now: LocalTime, bytes: &[u8]) -> Done {
    station.handle_input(now, Input::Frame { port: PortId(0), rx_at: now, bytes }).expect("port 0 is there");
    drain(station, now)
}

#[test]
fn sends_each_message_when_it_is_due_and_counts_it() {
    let mut station = started(talker(Protection::NONE));
    assert_eq!(drain(&mut station, at_ms(0)).wakes_at, Some(at_ms(3)));
    for (sequence, ms) in [(0, 3), (1, 13), (2, 23)] {
        station.handle_input(at_ms(ms), Input::Timeout).expect("time runs forwards");
        let done = drain(&mut station, at_ms(ms));
        assert_eq!(done.events, [Event::of(EventKind::Sent, STREAM, sequence)]);
        let frame = CanFrame::parse(&done.frames[0]).expect("a frame");
        assert_eq!((frame.id(), frame.data()), (id(), &(sequence as u32).to_be_bytes()[..]));
        assert_eq!(done.wakes_at, Some(at_ms(ms + 10)));
    }
}

#[test]
fn a_recorded_signal_stands_behind_the_sequence_number() {
    let mut config = talker(Protection::NONE);
    let ms = Duration::from_ms;
    let signal = RecordedSignal { samples: vec![(ms(0), vec![1, 2]), (ms(10), vec![3, 4])], length: ms(20) };
    let talker = &mut config.talkers[0];
    (talker.len, talker.fill, talker.signal) = (7, vec![0xaa; 7], Some(signal));
    let mut station = started(config);
    // The sample that holds when the message is due, and the fill behind it.
    for (sequence, due, asked, sample) in [(0, 3, 3, [1, 2]), (1, 13, 13, [3, 4]), (2, 23, 29, [1, 2])] {
        station.handle_input(at_ms(asked), Input::Timeout).expect("time runs forwards");
        let frames = drain(&mut station, at_ms(asked)).frames;
        let frame = CanFrame::parse(&frames[0]).expect("a frame");
        assert_eq!(frame.data(), [0, 0, 0, sequence, sample[0], sample[1], 0xaa], "due at {due} ms");
    }
}

#[test]
fn what_one_station_secures_the_other_accepts_once() {
    let key = Key128::from_array([7; 16]);
    let (mut sender, mut receiver) = (started(talker(secoc(Some(key.clone())))), started(listener(secoc(Some(key)))));
    let sent = drain(&mut sender, at_ms(3));
    assert_eq!((sent.frames.len(), sent.work.len()), (1, 1));
    let heard = hear(&mut receiver, at_ms(4), &sent.frames[0]);
    assert_eq!(heard.events, [Event::of(EventKind::Delivered, STREAM, 0)]);
    assert_eq!(heard.work.len(), 1, "checking is charged");

    let again = hear(&mut receiver, at_ms(5), &sent.frames[0]);
    assert!(matches!(again.events[0].kind, EventKind::Discarded(DiscardReason::Replayed)), "{:?}", again.events);
    let mut changed = drain(&mut sender, at_ms(13)).frames.remove(0);
    let last = changed.len() - 6;
    changed[last] ^= 1;
    let forged = hear(&mut receiver, at_ms(14), &changed);
    assert!(matches!(forged.events[0].kind, EventKind::Discarded(DiscardReason::TagMismatch)), "{:?}", forged.events);
}

#[test]
fn without_the_group_key_nothing_is_sent_and_nothing_believed() {
    let mut sender = started(talker(secoc(None)));
    let done = drain(&mut sender, at_ms(3));
    assert_eq!(done.events, [Event::of(EventKind::Withheld, STREAM, 0)]);
    assert!(done.frames.is_empty());

    let mut plain = started(talker(Protection::NONE));
    let frame = drain(&mut plain, at_ms(3)).frames.remove(0);
    let mut receiver = started(listener(secoc(None)));
    let heard = hear(&mut receiver, at_ms(4), &frame);
    assert!(matches!(heard.events[0].kind, EventKind::Discarded(DiscardReason::NoKey)));
}

#[test]
fn a_frame_that_is_none_is_an_event_and_other_traffic_is_not() {
    let mut receiver = started(listener(Protection::NONE));
    let heard = hear(&mut receiver, at_ms(1), &[0; 3]);
    assert!(matches!(heard.events[0].kind, EventKind::Discarded(DiscardReason::Malformed)));
    let mut bytes = [0; 72];
    let other = CanFrame::classical(CanId::standard(0x124).expect("11 bits"), &[1, 2]).expect("2 bytes fit");
    let len = other.emit(&mut bytes);
    assert!(hear(&mut receiver, at_ms(2), &bytes[..len]).events.is_empty());
}

#[test]
fn replays_a_recording_over_and_over_with_its_own_timing() {
    let frame = |data: u8| CanFrame::classical(id(), &[data]).expect("1 byte fits");
    let replay = ReplayConfig {
        stream: STREAM,
        frames: vec![(Duration::ZERO, frame(1)), (Duration::from_ms(2), frame(2))],
        length: Duration::from_ms(5),
        start: Duration::from_ms(1),
    };
    let config =
        StationConfig { node: NodeId(0), replays: vec![replay], synchronisation: None, ..StationConfig::default() };
    let mut station = started(config);
    for ms in [1, 3, 6, 8, 11] {
        assert_eq!(drain(&mut station, at_ms(ms - 1)).wakes_at, Some(at_ms(ms)));
        station.handle_input(at_ms(ms), Input::Timeout).expect("time runs forwards");
        assert_eq!(drain(&mut station, at_ms(ms)).frames.len(), 1);
    }
}

const SYNC_STREAM: StreamId = StreamId(8);
const SYNC_PERIOD_MS: i64 = 20;

fn jaspar(key: Option<Key128>) -> Protection {
    Protection::Secured { profile: secoc::profile_3(), key: key.as_ref().map(Into::into), data_id: 7.into() }
}

fn synchronisation(is_master: bool, key: Option<Key128>) -> Option<SyncConfig> {
    Some(SyncConfig {
        hands_over: false,
        is_master,
        stream: SYNC_STREAM,
        id: CanId::standard(0x010).expect("11 bits"),
        period: Duration::from_ms(SYNC_PERIOD_MS),
        layout: secoc::JASPAR,
        mac: MacAlgorithm::CmacAes128,
        tag_bits: 28,
        key: key.as_ref().map(Into::into),
        data_id: 8.into(),
        last_trip: 0,
    })
}

fn key() -> Key128 {
    Key128::from_array([7; 16])
}

/// A master that counts, a sender and a receiver that follow.
fn trio() -> [CanStation; 3] {
    let master = StationConfig {
        node: NodeId(2),
        synchronisation: synchronisation(true, Some(key())),
        ..StationConfig::default()
    };
    let follow = |config| StationConfig { synchronisation: synchronisation(false, Some(key())), ..config };
    [master, follow(talker(jaspar(Some(key())))), follow(listener(jaspar(Some(key()))))].map(started)
}

/// The frame of the one station that has one to send at this time, and what it says.
fn say(station: &mut CanStation, ms: i64) -> Done {
    station.handle_input(at_ms(ms), Input::Timeout).expect("time runs forwards");
    drain(station, at_ms(ms))
}

fn kinds(done: &Done) -> Vec<EventKind> {
    done.events.iter().map(|event| event.kind).collect()
}

#[test]
fn followers_of_a_master_believe_each_other_and_nothing_twice() {
    let [mut master, mut sender, mut receiver] = trio();
    let told = drain(&mut master, at_ms(0));
    assert_eq!((told.frames.len(), told.work.len(), kinds(&told)), (1, 1, vec![EventKind::Sent]));
    for station in [&mut sender, &mut receiver] {
        let heard = hear(station, at_ms(1), &told.frames[0]);
        assert_eq!((kinds(&heard), heard.work.len()), (vec![EventKind::Delivered], 1), "checking is charged");
        let again = hear(station, at_ms(2), &told.frames[0]);
        assert_eq!(kinds(&again), [EventKind::Discarded(DiscardReason::Replayed)], "the same message again");
    }
    let sent = say(&mut sender, 3);
    assert_eq!(hear(&mut receiver, at_ms(4), &sent.frames[0]).events, [Event::of(EventKind::Delivered, STREAM, 0)]);
    let replayed = hear(&mut receiver, at_ms(5), &sent.frames[0]);
    assert_eq!(kinds(&replayed), [EventKind::Discarded(DiscardReason::Replayed)]);

    // In the next reset cycle too, and an earlier synchronisation message takes nobody back.
    let next = say(&mut master, SYNC_PERIOD_MS);
    assert_eq!(kinds(&hear(&mut receiver, at_ms(21), &next.frames[0])), [EventKind::Delivered]);
    let back = hear(&mut receiver, at_ms(22), &told.frames[0]);
    assert_eq!(kinds(&back), [EventKind::Discarded(DiscardReason::FreshnessTooOld)]);
    let replayed = hear(&mut receiver, at_ms(23), &sent.frames[0]);
    assert_eq!(kinds(&replayed), [EventKind::Discarded(DiscardReason::Replayed)]);
}

#[test]
fn a_receiver_that_missed_synchronisation_messages_is_back_with_the_next() {
    let [mut master, mut sender, mut receiver] = trio();
    let mut outcomes = Vec::new();
    for cycle in 0..7 {
        let told = say(&mut master, SYNC_PERIOD_MS * cycle);
        let at = SYNC_PERIOD_MS * cycle;
        hear(&mut sender, at_ms(at), &told.frames[0]);
        // It hears the first one and the last one.
        if cycle == 0 || cycle == 6 {
            hear(&mut receiver, at_ms(at), &told.frames[0]);
        }
        let sent = say(&mut sender, at + 3);
        let heard = hear(&mut receiver, at_ms(at + 4), sent.frames.last().expect("a message is due"));
        outcomes.extend(heard.events.into_iter().filter(|event| event.stream == STREAM).map(|event| event.kind));
    }
    let lost = EventKind::Discarded(DiscardReason::TagMismatch);
    let unknown = EventKind::Discarded(DiscardReason::FreshnessTooOld);
    // Up to two resets apart are bridged; with four the flag is that of the cycle it knows, with others of none.
    assert_eq!(outcomes[..3], [EventKind::Delivered; 3], "{outcomes:?}");
    assert!(outcomes[3..6].iter().all(|kind| *kind == lost || *kind == unknown), "{outcomes:?}");
    assert_eq!(outcomes[6], EventKind::Delivered, "{outcomes:?}");
}

#[test]
fn without_a_master_messages_are_withheld_and_its_absence_is_told() {
    let [_, mut sender, mut receiver] = trio();
    assert_eq!(kinds(&drain(&mut sender, at_ms(3))), [EventKind::Withheld]);
    assert_eq!(drain(&mut receiver, at_ms(3)).wakes_at, Some(at_ms(30)), "one and a half cycles");
    let told = say(&mut receiver, 30);
    assert_eq!(told.events, [Event::of(EventKind::Missing, SYNC_STREAM, 0)]);
    assert_eq!(say(&mut receiver, 50).events, [Event::of(EventKind::Missing, SYNC_STREAM, 1)]);

    // A message of somebody who is synchronised means nothing to one who is not.
    let [mut master, mut other, _] = trio();
    let sync = drain(&mut master, at_ms(0));
    hear(&mut other, at_ms(1), &sync.frames[0]);
    let sent = say(&mut other, 3);
    let heard = hear(&mut receiver, at_ms(51), &sent.frames[0]);
    assert_eq!(kinds(&heard), [EventKind::Discarded(DiscardReason::NotSynchronised)]);
}

#[test]
fn a_forged_synchronisation_message_moves_nobody() {
    let [mut master, mut sender, _] = trio();
    let mut forged = drain(&mut master, at_ms(0)).frames.remove(0);
    let last = forged.len() - 1;
    forged[last] ^= 1;
    let heard = hear(&mut sender, at_ms(1), &forged);
    assert_eq!(kinds(&heard), [EventKind::Discarded(DiscardReason::TagMismatch)]);
    assert_eq!(kinds(&say(&mut sender, 3)), [EventKind::Withheld], "still without counters");
}

#[test]
fn until_there_is_a_group_key_the_master_says_that_it_cannot() {
    let config = StationConfig {
        synchronisation: synchronisation(true, None),
        ..StationConfig { talkers: vec![], ..talker(Protection::NONE) }
    };
    let mut master = started(config);
    let done = drain(&mut master, at_ms(0));
    assert_eq!(done.events, [Event::of(EventKind::Withheld, SYNC_STREAM, 0)]);
    assert!(done.frames.is_empty());
}

/// HMAC-SHA-256 with a tag of 32 bits.
fn hmac(freshness: Freshness) -> Protection {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 32, freshness, 8).expect("a legal profile");
    let key = KeyBytes::from_array([5; KeyBytes::LEN]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: 7.into() }
}

/// The same with messages of another length `[byte]`.
fn with_len(mut config: StationConfig, len: usize) -> StationConfig {
    config.talkers.iter_mut().for_each(|talker| talker.len = len);
    config.listeners.iter_mut().for_each(|listener| listener.len = len);
    config
}

#[test]
fn an_hmac_protects_a_message_of_a_bus_as_a_cmac_does() {
    let truncated = Freshness::Truncated { bits: 4 };
    let mut sender = started(with_len(talker(hmac(truncated)), 3));
    let mut receiver = started(with_len(listener(hmac(truncated)), 3));
    for count in 0..40 {
        let now = at_ms(3 + 10 * count);
        let Done { mut frames, work, .. } = drain(&mut sender, now);
        assert_eq!((work[0].operation.0, work[0].len), ("hmac-sha-256", 2 + 3 + 8));
        let frame = frames.remove(0);
        for expected in [EventKind::Delivered, EventKind::Discarded(DiscardReason::Replayed)] {
            let input = Input::Frame { port: PortId(0), rx_at: now, bytes: &frame };
            receiver.handle_input(now, input).expect("a frame of the bus");
            let done = drain(&mut receiver, now);
            assert_eq!(done.work, work);
            assert_eq!(done.events.iter().map(|event| event.kind).collect::<Vec<_>>(), [expected], "{count}");
        }
    }
}

#[test]
fn padding_fills_a_frame_as_a_mechanism_of_that_size_would() {
    let mut sender = started(talker(Protection::None { padding: 3 }));
    let mut receiver = started(listener(Protection::None { padding: 3 }));
    let Done { frames, work, .. } = drain(&mut sender, at_ms(3));
    assert!(work.is_empty());
    let frame = chronoseal_wire::can::CanFrameView::new_checked(&frames[0]).expect("a frame").to_frame();
    assert_eq!(frame.data(), [0, 0, 0, 0, 0, 0, 0]);
    let input = Input::Frame { port: PortId(0), rx_at: at_ms(3), bytes: &frames[0] };
    receiver.handle_input(at_ms(3), input).expect("a frame of the bus");
    assert_eq!(drain(&mut receiver, at_ms(3)).events[0].kind, EventKind::Delivered);
}

#[test]
fn a_station_refuses_what_a_bus_does_not_have() {
    let refusal = |config| CanStation::new(config, None).map(|_| ()).unwrap_err();
    for config in [talker(hmac(Freshness::CycleCounter)), listener(hmac(Freshness::CycleCounter))] {
        assert_eq!(refusal(config), ProtectionError::CycleCounterOnCan);
    }
    let mut long = synchronisation(false, None).expect("a slave");
    long.tag_bits = 65;
    let config = StationConfig { synchronisation: Some(long), ..talker(Protection::NONE) };
    assert!(matches!(refusal(config), ProtectionError::Synchronisation(_)));
}
