//! Stations, attackers and posts keep the contract of nodes, with what two stations really say to each other.

use std::sync::Arc;

use chronoseal_core::{AttackKind, DiscardReason, Duration, EventKind, LocalTime, Node, PortId};
use chronoseal_core_testing::{Conduct, Contract, Script, bus, record};
use chronoseal_nodes::Protection;
use chronoseal_nodes::can_station::{CanStation, RelayConfig, StationConfig};
use chronoseal_nodes::gateway::{Gateway, GatewayConfig, Route};
use chronoseal_wire::can::{CanId, FrameKind};

use super::tests::{at, config, office, station_of};
use super::{
    CAM_STREAM, Credentials, FrameTable, HANDED_MAX, HandedOn, Hazard, ItsStation, ItsStationConfig, MessageKind,
    Mobility, STATIONARY_VEHICLE, StationStack,
};
use crate::attacker::{Attacker, AttackerConfig, AttackerKind};
use crate::office::Office;
use crate::road::State;
use crate::simulation::Post;

const END: LocalTime = LocalTime::from_ps(850_000_000_000);
/// Shorter than the resolution of the time in a message.
const LATE_BY: Duration = Duration::from_ns(1);

/// The one of index 1 has a hazard to report. They look around at different times.
fn signed(office: &Arc<Office>, index: u64) -> Box<ItsStation> {
    let hazard = Hazard { at: at(270), every: Duration::from_ms(500), cause_code: STATIONARY_VEHICLE };
    let hazard = (index == 1).then_some(hazard);
    let first_look_at = at(30 * index as i64);
    Box::new(station_of(office, ItsStationConfig { hazard, first_look_at, ..config() }, 7 + index))
}

fn unsigned(index: u64) -> Box<ItsStation> {
    let numbers = chronoseal_core::random::stream(9, chronoseal_core::random::Purpose::Medium, index);
    let mobility = Mobility::Straight(State { speed_m_s: 50.0, ..State::default() });
    let config = ItsStationConfig { first_look_at: at(30 * index as i64), ..config() };
    Box::new(ItsStation::new(config, Credentials::unsigned(numbers), mobility, FrameTable::new(None), None))
}

fn on_the_air(mut nodes: Vec<Box<dyn Node>>) -> Vec<(Script, Conduct)> {
    let count = nodes.len();
    let mut nodes: Vec<&mut dyn Node> = nodes.iter_mut().map(|node| &mut **node as &mut dyn Node).collect();
    record(&mut nodes, bus(count), END)
}

fn count(conduct: &Conduct, kind: EventKind) -> usize {
    conduct.events().filter(|event| event.kind == kind).count()
}

#[test]
fn stations_that_sign_keep_it() {
    let office = office();
    let recorded = on_the_air(vec![signed(&office, 0), signed(&office, 1)]);
    for (index, (script, conduct)) in recorded.into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || signed(&office, index as u64)).late_by(LATE_BY).check();
        assert_eq!(checked, conduct, "alone station {index} does what it did with the other");
        assert!(count(&checked, EventKind::Sent) >= 9, "station {index}");
        assert!(count(&checked, EventKind::Delivered) >= 8, "station {index}");
    }
}

#[test]
fn stations_and_posts_that_ask_for_no_signature_keep_it() {
    let recorded = on_the_air(vec![unsigned(0), unsigned(1), Box::new(Post::default())]);
    for (index, (script, conduct)) in recorded.into_iter().enumerate() {
        let checked = match index {
            2 => Contract::new(0..1, script, || Box::new(Post::default())).check(),
            _ => Contract::new(0..1, script, || unsigned(index as u64)).late_by(LATE_BY).check(),
        };
        assert_eq!(checked, conduct, "alone node {index} does what it did with the others");
        let heard = count(&checked, EventKind::Delivered);
        assert_eq!((heard, checked.work().count()), if index == 2 { (18, 0) } else { (9, 0) }, "node {index}");
        assert_eq!(count(&checked, EventKind::Discarded(DiscardReason::Malformed)), 0);
    }
}

#[test]
fn attackers_on_the_air_keep_it() {
    let office = office();
    let attacker = |kind| {
        let [start, every] = [50, 200].map(Duration::from_ms);
        Box::new(Attacker::new(AttackerConfig {
            kind,
            message: MessageKind::Cam,
            stream: CAM_STREAM,
            start,
            every,
            count: 3,
        }))
    };
    let make = |kind| match kind {
        AttackKind::Replay => attacker(AttackerKind::Replay(FrameTable::new(Some(office.verifier())))),
        _ => attacker(AttackerKind::Spoof(signed(&office, 5))),
    };
    for kind in [AttackKind::Replay, AttackKind::Spoof] {
        let mut recorded = on_the_air(vec![signed(&office, 0), make(kind)]);
        let (script, conduct) = recorded.pop().expect("the attacker is the last");
        let checked = Contract::new(0..1, script, || make(kind)).late_by(LATE_BY).check();
        assert_eq!(checked, conduct, "{kind:?}");
        assert_eq!((count(&checked, EventKind::Attacked(kind)), checked.frames().count()), (3, 3), "{kind:?}");
    }
}

#[test]
fn a_gateway_from_the_air_to_a_bus_keeps_it() {
    const LEN: usize = 60;
    let office = office();
    let (script, _) = on_the_air(vec![signed(&office, 0), signed(&office, 2)]).remove(1);
    let make = || {
        let office = Arc::clone(&office);
        let station = move || {
            let config = ItsStationConfig { received_max: HANDED_MAX, first_look_at: at(60), ..config() };
            Some(station_of(&office, config, 9))
        };
        let hands_on = vec![HandedOn { stream: CAM_STREAM, len: LEN, delivers: false }];
        let air = StationStack::new(Box::new(station), hands_on).expect("its maker makes one");
        let (id, kind) = (CanId::standard(0x123).expect("11 bits"), FrameKind::Fd { brs: true, esi: false });
        let relay = RelayConfig { stream: CAM_STREAM, id, kind, len: LEN, protection: Protection::NONE };
        let bus = StationConfig { relays: vec![relay], relay_queue_len_max: 4, ..StationConfig::default() };
        let bus = CanStation::of_gateway(bus, None).expect("a station of a bus is able to");
        let routes = vec![Route { stream: CAM_STREAM, from: PortId(0), to: PortId(1) }];
        let reboot = Some((Duration::from_ms(420), Duration::from_ms(120)));
        let config =
            GatewayConfig { routes, delay: Duration::from_us(40), reboot, waiting_max: 64, ..GatewayConfig::default() };
        Box::new(Gateway::new(config, vec![Box::new(air), Box::new(bus)]))
    };
    let conduct = Contract::new(0..2, script, make).late_by(LATE_BY).check();
    assert_eq!(count(&conduct, EventKind::Rebooted), 1);
    let relayed = conduct.frames().filter(|(_, port, _)| *port == PortId(1)).count();
    assert!(relayed >= 4 && relayed == count(&conduct, EventKind::Relayed), "{relayed} messages reach the bus");
    assert!(conduct.frames().any(|(_, port, _)| port == PortId(0)), "it sends messages of its own as well");
}
