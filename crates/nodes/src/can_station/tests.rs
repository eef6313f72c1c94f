use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, Input, LocalTime, Node, NodeId, Output, PortId, StreamId, Work,
};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::secoc::{FreshnessFormat, SecOcProfile};
use chronoseal_wire::can::{CanFrame, CanId, FrameKind};

use super::*;

const STREAM: StreamId = StreamId(7);

fn id() -> CanId {
    CanId::standard(0x123).expect("11 bits")
}

fn secoc(key: Option<Key128>) -> MessageProtection {
    let profile = SecOcProfile::profile_1(FreshnessFormat::Counter { len: 8 }).expect("8 bits can be sent");
    MessageProtection::SecOc { profile, key, data_id: 7 }
}

fn talker(protection: MessageProtection) -> StationConfig {
    let talker = TalkerConfig {
        stream: STREAM,
        id: id(),
        kind: FrameKind::Classical,
        len: 4,
        period: Duration::from_ms(10),
        offset: Duration::from_ms(3),
        fill: vec![0xaa; 4],
        protection,
    };
    StationConfig { node: NodeId(0), talkers: vec![talker], listeners: vec![], replays: vec![] }
}

fn listener(protection: MessageProtection) -> StationConfig {
    let listener = ListenerConfig { stream: STREAM, id: id(), len: 4, counts_itself: false, protection };
    StationConfig { node: NodeId(1), talkers: vec![], listeners: vec![listener], replays: vec![] }
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
    let mut station = CanStation::new(config, None);
    station.handle_input(at_ms(0), Input::Command(Command::Start)).expect("time runs forwards");
    station
}

fn hear(station: &mut CanStation, now: LocalTime, bytes: &[u8]) -> Done {
    station.handle_input(now, Input::Frame { port: PortId(0), rx_at: now, bytes }).expect("port 0 is there");
    drain(station, now)
}

#[test]
fn sends_each_message_when_it_is_due_and_counts_it() {
    let mut station = started(talker(MessageProtection::None));
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

    let mut plain = started(talker(MessageProtection::None));
    let frame = drain(&mut plain, at_ms(3)).frames.remove(0);
    let mut receiver = started(listener(secoc(None)));
    let heard = hear(&mut receiver, at_ms(4), &frame);
    assert!(matches!(heard.events[0].kind, EventKind::Discarded(DiscardReason::NoKey)));
}

#[test]
fn a_frame_that_is_none_is_an_event_and_other_traffic_is_not() {
    let mut receiver = started(listener(MessageProtection::None));
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
    let config = StationConfig { node: NodeId(0), talkers: vec![], listeners: vec![], replays: vec![replay] };
    let mut station = started(config);
    for ms in [1, 3, 6, 8, 11] {
        assert_eq!(drain(&mut station, at_ms(ms - 1)).wakes_at, Some(at_ms(ms)));
        station.handle_input(at_ms(ms), Input::Timeout).expect("time runs forwards");
        assert_eq!(drain(&mut station, at_ms(ms)).frames.len(), 1);
    }
}
