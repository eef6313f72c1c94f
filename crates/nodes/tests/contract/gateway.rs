//! Nodes between segments.

use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, Duration, EventKind, LocalTime, Node, PortId, StreamId};
use chronoseal_core_testing::{Conduct, Contract, Script, record};
use chronoseal_frameauth::Freshness;
use chronoseal_nodes::can_station::{
    self, CanStation, ListenerConfig, RelayConfig, SegmentedConfig, SegmentedTimeouts, StationConfig,
};
use chronoseal_nodes::container::{ContainedConfig, ContainerConfig};
use chronoseal_nodes::end_system::{CarriedPdu, EndSystem, EndSystemConfig, TalkerConfig, TalkerTiming};
use chronoseal_nodes::gateway::{CollectConfig, Gateway, GatewayConfig, HandOver, RELAY, RelayAttack, Route, Stack};
use chronoseal_nodes::{Protection, SupervisionConfig};
use chronoseal_wire::can::iso_tp::SeparationTime;
use chronoseal_wire::can::{CanId, FrameKind};
use chronoseal_wire::container::HeaderType;

use super::{STREAM, count, end_system, hmac, ms};

const LEN: usize = 8;
const KIND: FrameKind = FrameKind::Fd { brs: true, esi: false };
const END: i64 = 200;
/// The stream of frames that hold several PDUs, and what a PDU is called in them.
const CONTAINER: StreamId = StreamId(11);
const PDU_ID: u32 = 4;

fn id() -> CanId {
    CanId::standard(0x123).expect("11 bits")
}

/// Frames of a sender on the first segment: one every 10 ms.
fn frames() -> Script {
    let talker = can_station::TalkerConfig {
        stream: STREAM,
        id: id(),
        kind: KIND,
        len: LEN,
        pace: Duration::from_ms(10).into(),
        offset: Duration::from_ms(2),
        fill: vec![0xaa; LEN],
        signal: None,
        protection: hmac(Freshness::Full),
    };
    let config = StationConfig { talkers: vec![talker], ..StationConfig::default() };
    let make = || Box::new(CanStation::new(config.clone(), None).expect("a station of a bus is able to"));
    let sent = Contract::new(0..1, Script::until(ms(END)), make).check();
    let nothing = Script::until(ms(END));
    sent.frames().fold(nothing, |script, (launch_at, _, bytes)| {
        script.hear(launch_at + Duration::from_us(100), PortId(0), bytes)
    })
}

type AnyStack = Box<dyn Stack + Send>;

/// A bus where the stream goes on.
fn bus() -> AnyStack {
    let relay = RelayConfig { stream: STREAM, id: id(), kind: KIND, len: LEN, protection: hmac(Freshness::Full) };
    let config = StationConfig { relays: vec![relay], relay_queue_len_max: 4, ..StationConfig::default() };
    Box::new(CanStation::of_gateway(config, None).expect("a station of a bus is able to"))
}

/// How a long stream is cut on a bus.
fn segmented() -> SegmentedConfig {
    let separation = SeparationTime::at_least(Duration::from_us(200)).expect("200 us can be said");
    let ids = [id(), CanId::standard(0x456).expect("11 bits")];
    SegmentedConfig::new(STREAM, ids, KIND, 2, separation, SegmentedTimeouts::default()).expect("no span is zero")
}

#[test]
fn a_gateway_that_puts_messages_together_and_cuts_them_again_keeps_it() {
    const LONG: usize = 300;
    let station = |config| StationConfig { segmented: vec![segmented()], ..config };
    let talker = can_station::TalkerConfig {
        stream: STREAM,
        id: id(),
        kind: KIND,
        len: LONG,
        pace: Duration::from_ms(40).into(),
        offset: Duration::from_ms(2),
        fill: vec![0xaa; LONG],
        signal: None,
        protection: hmac(Freshness::Full),
    };
    let sender = station(StationConfig { talkers: vec![talker], ..StationConfig::default() });
    let end = ListenerConfig::new(STREAM, id(), LONG, hmac(Freshness::Full));
    let listener = ListenerConfig { delivers: false, hands_over: HandOver::Opened, ..end.clone() };
    let receiver = station(StationConfig { listeners: vec![end], ..StationConfig::default() });
    let relay = RelayConfig { stream: STREAM, id: id(), kind: KIND, len: LONG, protection: hmac(Freshness::Full) };
    let make = || {
        let from = station(StationConfig { listeners: vec![listener.clone()], ..StationConfig::default() });
        let to = StationConfig { relays: vec![relay.clone()], relay_queue_len_max: 4, ..StationConfig::default() };
        let stack = |config| -> AnyStack { Box::new(CanStation::of_gateway(config, None).expect("it is able to")) };
        let routes = vec![Route { stream: STREAM, from: PortId(0), to: PortId(1) }];
        let config = GatewayConfig { routes, delay: Duration::from_us(40), ..GatewayConfig::default() };
        Box::new(Gateway::new(config, vec![stack(from), stack(station(to))]))
    };
    let own = |config: &StationConfig| CanStation::new(config.clone(), None).expect("a station of a bus is able to");
    let mut gateway = make();
    let (mut sender, mut receiver) = (own(&sender), own(&receiver));
    let mut nodes: Vec<&mut dyn Node> = vec![&mut sender, &mut *gateway, &mut receiver];
    // The sender is on the first bus with the gateway, and the receiver on the second.
    let far = |node: usize, port: PortId| match (node, port.0) {
        (0, _) => vec![(1, PortId(0))],
        (1, 0) => vec![(0, PortId(0))],
        (1, _) => vec![(2, PortId(0))],
        _ => vec![(1, PortId(1))],
    };
    let conducts = record(&mut nodes, far, ms(END));
    let (script, conduct) = &conducts[1];
    let checked = Contract::new(0..2, script.clone(), make).check();
    assert_eq!(checked, *conduct, "alone the gateway does what it did between the buses");
    assert_eq!(count(&checked, |kind| kind == EventKind::Relayed), 5);
    assert_eq!(count(&conducts[2].1, |kind| kind == EventKind::Delivered), 5);
    // Three answers to the sender, and six frames to the receiver, each with the frame that it came from.
    let to = |port| checked.frames().filter(move |(_, at, _)| *at == PortId(port)).count();
    assert_eq!((to(0), to(1)), (5 * 3, 5 * 6));
}

/// An Ethernet where it goes on, in no slot.
fn ethernet() -> AnyStack {
    let talker = TalkerConfig {
        carried: Some(CarriedPdu { len: LEN, is_sealed: false }),
        ..end_system::talker(STREAM, TalkerTiming::Relayed { priority: 5 }, hmac(Freshness::Full))
    };
    let config = EndSystemConfig { talkers: vec![talker], ..end_system::config(3, true) };
    Box::new(EndSystem::of_gateway(config).expect("it is able to"))
}

/// Opens what comes in at port 0 and seals it again where it leaves, at port 1.
fn gateway(config: GatewayConfig, to: AnyStack) -> Box<Gateway> {
    let hands_over = HandOver::Opened;
    let listener =
        ListenerConfig { delivers: false, hands_over, ..ListenerConfig::new(STREAM, id(), LEN, hmac(Freshness::Full)) };
    let from = StationConfig { listeners: vec![listener], ..StationConfig::default() };
    let from = CanStation::of_gateway(from, None).expect("a station of a bus is able to");
    let routes = vec![Route { stream: STREAM, from: PortId(0), to: PortId(1) }];
    let config = GatewayConfig { routes, delay: Duration::from_us(40), ..config };
    Box::new(Gateway::new(config, vec![Box::new(from), to]))
}

fn check(config: GatewayConfig) -> Conduct {
    Contract::new(0..2, frames(), || gateway(config.clone(), bus())).check()
}

#[test]
fn a_gateway_that_passes_frames_on_keeps_it() {
    let conduct = check(GatewayConfig::default());
    assert_eq!((conduct.frames().count(), count(&conduct, |kind| kind == EventKind::Relayed)), (20, 20));
    assert_eq!(conduct.work().count(), 60, "it opens, relays and seals");
    assert!(conduct.frames().all(|(_, port, _)| port == PortId(1)));
}

#[test]
fn a_gateway_from_a_bus_to_an_ethernet_keeps_it() {
    let reboot = Some((Duration::from_ms(55), Duration::from_ms(30)));
    let config = GatewayConfig { reboot, ..GatewayConfig::default() };
    let conduct = Contract::new(0..2, frames(), || gateway(config.clone(), ethernet())).check();
    assert_eq!(count(&conduct, |kind| kind == EventKind::Rebooted), 1);
    let relayed = count(&conduct, |kind| kind == EventKind::Relayed);
    assert_eq!((conduct.frames().count(), relayed), (17, 17), "three came while it was away");
}

#[test]
fn a_gateway_that_starts_anew_keeps_it() {
    let reboot = Some((Duration::from_ms(55), Duration::from_ms(30)));
    let conduct = check(GatewayConfig { reboot, ..GatewayConfig::default() });
    assert_eq!(count(&conduct, |kind| kind == EventKind::Rebooted), 1);
    let times: Vec<LocalTime> = conduct.frames().map(|(launch_at, ..)| launch_at).collect();
    assert!(times.len() > 15 && !times.iter().any(|time| (ms(55)..ms(85)).contains(time)), "{times:?}");
}

#[test]
fn a_gateway_with_an_attacker_in_it_keeps_it() {
    for kind in [AttackKind::Tamper, AttackKind::Spoof, AttackKind::Replay, AttackKind::Withhold] {
        let (start, every) = (Duration::from_ms(33), Duration::from_ms(40));
        let attack = RelayAttack { kind, stream: STREAM, start, every, count: 3 };
        let conduct = check(GatewayConfig { attacks: vec![attack], ..GatewayConfig::default() });
        assert_eq!(count(&conduct, |other| other == EventKind::Attacked(kind)), 3, "{kind:?}");
    }
}

/// Collects two PDUs for a frame of the Ethernet, and takes what has waited for 25 ms.
fn collecting(len_max: usize) -> Box<Gateway> {
    let hands_over = HandOver::Opened;
    let listener =
        ListenerConfig { delivers: false, hands_over, ..ListenerConfig::new(STREAM, id(), LEN, hmac(Freshness::Full)) };
    let from = StationConfig { listeners: vec![listener], ..StationConfig::default() };
    let from = CanStation::of_gateway(from, None).expect("a station of a bus is able to");
    let talker = end_system::talker(CONTAINER, TalkerTiming::Collected { priority: 5 }, hmac(Freshness::Full));
    let to = EndSystemConfig { talkers: vec![talker], ..end_system::config(3, true) };
    let to = EndSystem::of_gateway(to).expect("it is able to");
    let collect = CollectConfig {
        container: CONTAINER,
        port: PortId(1),
        streams: vec![(STREAM, PDU_ID, LEN)],
        header: HeaderType::Long,
        len_max,
        within: Duration::from_ms(25),
    };
    let config = GatewayConfig {
        routes: vec![Route { stream: STREAM, from: PortId(0), to: PortId(1) }],
        collects: vec![collect],
        delay: Duration::from_us(40),
        ..GatewayConfig::default()
    };
    Box::new(Gateway::new(config, vec![Box::new(from), Box::new(to)]))
}

/// A station that takes the frames apart.
fn taking_apart() -> Box<EndSystem> {
    let contained = ContainedConfig {
        stream: STREAM,
        pdu_len: LEN,
        len: LEN,
        delivers: true,
        hands_over: HandOver::Nothing,
        supervision: Some(SupervisionConfig { within: Duration::from_ms(45), period: Duration::from_ms(45) }),
        protection: Protection::NONE,
    };
    let container = ContainerConfig {
        stream: CONTAINER,
        header: HeaderType::Long,
        protection: hmac(Freshness::Full),
        pdus: BTreeMap::from([(PDU_ID, Some(contained))]),
    };
    let config = EndSystemConfig { containers: vec![container], ..end_system::config(4, true) };
    Box::new(EndSystem::new(config).expect("it is able to"))
}

#[test]
fn a_gateway_that_collects_and_a_station_that_takes_apart_keep_it() {
    // Room for two, so that each second PDU fills a frame; and for ten, so that the first of three has waited.
    for (len_max, in_frame) in [(2 * (8 + LEN), 2), (10 * (8 + LEN), 3)] {
        // What is passed on may wait for others, and nothing is to be seen of it then.
        let conduct = Contract::new(0..2, frames(), || collecting(len_max)).silent(&[RELAY]).check();
        let sent = conduct.frames().count();
        assert_eq!(sent, 20_usize.div_ceil(in_frame) - usize::from(in_frame == 3), "{in_frame} in a frame");
        assert_eq!(conduct.work().count(), 40 + sent, "each is opened and relayed, each frame is sealed");
        let heard = conduct.frames().fold(Script::until(ms(END)), |script, (launch_at, _, bytes)| {
            script.hear(launch_at + Duration::from_us(100), PortId(0), bytes)
        });
        let heard = Contract::new(0..1, heard, taking_apart).check();
        let delivered = count(&heard, |kind| kind == EventKind::Delivered);
        assert_eq!((delivered, heard.work().count()), (sent * in_frame, sent));
    }
}
