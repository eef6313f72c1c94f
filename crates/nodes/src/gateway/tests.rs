mod bridges;
mod collect;

use chronoseal_core::{
    AttackKind, Command, DiscardReason, Duration, Event, EventKind, Input, LocalTime, Node, NodeId, Output, PortId,
    StreamId, TxToken,
};
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Profile};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use super::*;
use crate::can_station::{CanStation, ListenerConfig, RelayConfig, StationConfig, TalkerConfig};
use crate::protection::Protection;

const STREAM: StreamId = StreamId(7);
const LEN: usize = 8;
const KIND: FrameKind = FrameKind::Fd { brs: true, esi: false };
const DELAY: Duration = Duration::from_us(40);

fn id() -> CanId {
    CanId::standard(0x123).expect("11 bits")
}

fn protection() -> Protection {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 64, Freshness::Full, 8).expect("a legal profile");
    let key = KeyBytes::from_array([9; 64]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: STREAM.0.into() }
}

fn sealed_len() -> usize {
    LEN + protection().overhead()
}

fn talker() -> TalkerConfig {
    TalkerConfig {
        stream: STREAM,
        id: id(),
        kind: KIND,
        len: LEN,
        pace: Duration::from_ms(10).into(),
        offset: Duration::ZERO,
        fill: vec![0xaa; LEN],
        signal: None,
        protection: protection(),
    }
}

fn sender() -> Bench<CanStation> {
    let config = StationConfig { talkers: vec![talker()], ..StationConfig::default() };
    Bench::started(CanStation::new(config, None).expect("a station of a bus is able to"))
}

fn receiver() -> Bench<CanStation> {
    let listener = ListenerConfig::new(STREAM, id(), LEN, protection());
    let config = StationConfig { node: NodeId(2), listeners: vec![listener], ..StationConfig::default() };
    Bench::started(CanStation::new(config, None).expect("a station of a bus is able to"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    EndToEnd,
    HopByHop,
}

fn gateway(way: Way, queue_len: usize, config: GatewayConfig) -> Bench<Gateway> {
    let (opened, hands_over, len, closed) = match way {
        Way::EndToEnd => (Protection::NONE, HandOver::Sealed { len: sealed_len() }, sealed_len(), Protection::NONE),
        Way::HopByHop => (protection(), HandOver::Opened, LEN, protection()),
    };
    let listener = ListenerConfig { delivers: false, hands_over, ..ListenerConfig::new(STREAM, id(), LEN, opened) };
    let relay = RelayConfig { stream: STREAM, id: id(), kind: KIND, len, protection: closed };
    let from = StationConfig { listeners: vec![listener], ..StationConfig::default() };
    let to = StationConfig { relays: vec![relay], relay_queue_len_max: queue_len, ..StationConfig::default() };
    let stack = |config| -> Box<dyn Stack + Send> {
        Box::new(CanStation::of_gateway(config, None).expect("a station of a bus is able to"))
    };
    let routes = vec![Route { stream: STREAM, from: PortId(0), to: PortId(1) }];
    Bench::started(Gateway::new(GatewayConfig { routes, delay: DELAY, ..config }, vec![stack(from), stack(to)]))
}

fn attack(kind: AttackKind) -> GatewayConfig {
    let attack = RelayAttack { kind, stream: STREAM, start: Duration::ZERO, every: Duration::ZERO, count: 1 };
    GatewayConfig { attacks: vec![attack], ..GatewayConfig::default() }
}

/// A node, and everything it did.
struct Bench<N> {
    node: N,
    frames: Vec<(PortId, Vec<u8>, Vec<u64>)>,
    tokens: Vec<TxToken>,
    events: Vec<Event>,
    declared: Duration,
}

impl<N: Node> Bench<N> {
    fn started(node: N) -> Self {
        let (frames, tokens, events) = (Vec::new(), Vec::new(), Vec::new());
        let mut bench = Self { node, frames, tokens, events, declared: Duration::ZERO };
        bench.put(0, Input::Command(Command::Start));
        bench
    }

    fn put(&mut self, ms: i64, input: Input<'_>) {
        let now = at_ms(ms);
        self.node.handle_input(now, input).expect("the contract is kept");
        let mut buffer = [0; 1536];
        loop {
            match self.node.poll_output(now, &mut buffer) {
                Output::Transmit(transmit) => {
                    let frame = buffer[..transmit.len].to_vec();
                    self.frames.push((transmit.port, frame, self.node.origins().to_vec()));
                    self.tokens.extend(transmit.token);
                }
                Output::Event(event) => self.events.push(event),
                Output::Work(work) => self.declared += work.declared.unwrap_or_default(),
                Output::Timeout(_) => return,
                _ => panic!("nothing else is said"),
            }
        }
    }

    fn hear(&mut self, ms: i64, bytes: &[u8]) {
        self.put(ms, Input::Frame { port: PortId(0), rx_at: at_ms(ms), bytes });
    }

    fn kinds(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events).into_iter().map(|event| event.kind).collect()
    }

    fn said(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames).into_iter().map(|(_, bytes, _)| bytes).collect()
    }
}

fn at_ms(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

/// Frames of a sender, from its start on.
fn sent(count: i64) -> Vec<Vec<u8>> {
    let mut sender = sender();
    (1..count).for_each(|k| sender.put(10 * k, Input::Timeout));
    sender.said()
}

#[test]
fn a_frame_passes_with_its_origin_and_takes_the_time_of_its_gateway() {
    for way in [Way::EndToEnd, Way::HopByHop] {
        let (mut gateway, mut receiver) = (gateway(way, 4, GatewayConfig::default()), receiver());
        for (k, frame) in sent(3).iter().enumerate() {
            gateway.hear(k as i64, frame);
            let (port, passed, origins) = gateway.frames.pop().expect("it goes on");
            assert_eq!((port, origins), (PortId(1), vec![k as u64]));
            // Nothing but the freshness of the hop could differ, and both sides count alike here.
            assert_eq!(&passed, frame, "{way:?}");
            receiver.hear(k as i64, &passed);
        }
        assert_eq!(gateway.kinds(), [EventKind::Relayed; 3], "{way:?}");
        assert_eq!(gateway.declared, DELAY * 3);
        assert_eq!(receiver.kinds(), [EventKind::Delivered; 3], "{way:?}");
    }
}

#[test]
fn a_gateway_that_lies_is_believed_hop_by_hop_and_not_end_to_end() {
    let refused = EventKind::Discarded(DiscardReason::TagMismatch);
    for (way, made_of_it) in [(Way::EndToEnd, refused), (Way::HopByHop, EventKind::Delivered)] {
        for kind in [AttackKind::Tamper, AttackKind::Spoof] {
            let (mut gateway, mut receiver) = (gateway(way, 4, attack(kind)), receiver());
            gateway.hear(1, &sent(1)[0]);
            gateway.put(2, Input::Timeout);
            let frames = gateway.said();
            let lie = frames.last().expect("it says something");
            receiver.hear(3, lie);
            assert_eq!(receiver.kinds(), [made_of_it], "{way:?} {kind:?}");
            assert_eq!(gateway.kinds(), [EventKind::Relayed, EventKind::Attacked(kind)], "{way:?}");
        }
    }
}

#[test]
fn what_is_kept_back_is_told_and_does_not_go_on() {
    let mut gateway = gateway(Way::EndToEnd, 4, attack(AttackKind::Withhold));
    let frames = sent(2);
    gateway.hear(1, &frames[0]);
    assert_eq!(gateway.said(), Vec::<Vec<u8>>::new());
    gateway.hear(2, &frames[1]);
    assert_eq!(gateway.said(), frames[1..]);
    let withheld = EventKind::Attacked(AttackKind::Withhold);
    assert_eq!(gateway.kinds(), [EventKind::Relayed, withheld, EventKind::Relayed]);
}

#[test]
fn a_full_queue_loses_the_frame_that_finds_it_full() {
    let mut gateway = gateway(Way::EndToEnd, 2, GatewayConfig::default());
    let frames = sent(5);
    frames[..3].iter().for_each(|frame| gateway.hear(1, frame));
    assert_eq!(gateway.said(), frames[..2]);
    let full = EventKind::Discarded(DiscardReason::QueueFull);
    assert_eq!(gateway.kinds(), [EventKind::Relayed, EventKind::Relayed, EventKind::Relayed, full]);
    // One leaves and one never will: there is room for two.
    let (first, second) = (gateway.tokens.remove(0), gateway.tokens.remove(0));
    gateway.put(2, Input::Transmitted { token: first, tx_at: at_ms(2) });
    gateway.put(2, Input::Dropped { token: second });
    frames[3..].iter().for_each(|frame| gateway.hear(3, frame));
    assert_eq!(gateway.said(), frames[3..]);
}

#[test]
fn after_a_reboot_its_counters_begin_again() {
    let reboot = Some((Duration::from_ms(5), Duration::from_ms(10)));
    let config = GatewayConfig { reboot, ..GatewayConfig::default() };
    let (mut gateway, mut receiver) = (gateway(Way::HopByHop, 4, config), receiver());
    let frames = sent(4);
    gateway.hear(1, &frames[0]);
    gateway.hear(2, &frames[1]);
    assert_eq!(gateway.said().iter().map(|frame| receiver.hear(2, frame)).count(), 2);
    let late = gateway.tokens.remove(0);
    // Away: it hears nothing, and what left meanwhile is nobody's any more.
    gateway.hear(6, &frames[2]);
    gateway.put(7, Input::Transmitted { token: late, tx_at: at_ms(7) });
    assert_eq!((gateway.said(), gateway.events.len()), (vec![], 2));
    gateway.put(15, Input::Timeout);
    gateway.hear(16, &frames[3]);
    assert_eq!(gateway.kinds()[2..], [EventKind::Rebooted, EventKind::Relayed]);
    // Its first freshness value after the reboot has been used before.
    gateway.said().iter().for_each(|frame| receiver.hear(17, frame));
    let delivered = EventKind::Delivered;
    assert_eq!(receiver.kinds(), [delivered, delivered, EventKind::Discarded(DiscardReason::Replayed)]);
}

#[test]
fn what_is_due_while_a_gateway_starts_anew_is_owed() {
    let config = StationConfig { talkers: vec![talker()], ..StationConfig::default() };
    let stack = CanStation::of_gateway(config, None).expect("a station of a bus is able to");
    let reboot = Some((Duration::from_ms(5), Duration::from_ms(20)));
    let config = GatewayConfig { reboot, ..GatewayConfig::default() };
    let mut gateway = Bench::started(Gateway::new(config, vec![Box::new(stack)]));
    gateway.put(5, Input::Timeout);
    // Of a run that ends here the second one is not due.
    assert_eq!(gateway.node.owed(at_ms(12)), Some((STREAM, at_ms(10))));
    assert_eq!(gateway.node.owed(at_ms(12)), None);
    gateway.put(25, Input::Timeout);
    assert_eq!(gateway.kinds(), [EventKind::Sent, EventKind::Rebooted, EventKind::Sent]);
    assert_eq!(gateway.node.owed(at_ms(30)), Some((STREAM, at_ms(20))));
    assert_eq!(gateway.node.owed(at_ms(30)), None);
}

#[test]
fn bad_frames_and_ports_stop_nothing() {
    let mut gateway = gateway(Way::HopByHop, 4, GatewayConfig::default());
    gateway.hear(1, &[1, 2, 3]);
    let short = CanFrame::new(id(), KIND, Dlc::holding(4).expect("a length there is"), &[0; 64]);
    let mut buffer = [0; 80];
    let len = short.emit(&mut buffer);
    gateway.hear(1, &buffer[..len]);
    let malformed = EventKind::Discarded(DiscardReason::Malformed);
    assert_eq!(gateway.kinds(), [malformed, EventKind::Discarded(DiscardReason::TooShort)]);
    let nowhere = Input::Frame { port: PortId(2), rx_at: at_ms(1), bytes: &[] };
    assert_eq!(gateway.node.handle_input(at_ms(1), nowhere), Err(HandleError::UnknownPort(PortId(2))));
    let nobodys = Input::Dropped { token: TxToken::new(99) };
    assert_eq!(gateway.node.handle_input(at_ms(1), nobodys), Err(HandleError::UnknownToken(99)));
    let back = gateway.node.handle_input(at_ms(0), Input::Timeout);
    assert!(matches!(back, Err(HandleError::TimeRanBackwards { .. })));
}
