//! Those who attack.

use std::slice::from_ref;

use chronoseal_core::{AttackKind, Duration, EventKind, Node, NodeId, PortId};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_nodes::attacker::{FollowedConfig, FollowedPart};
use chronoseal_nodes::can_station::{
    CanStation, ListenerConfig, SegmentedConfig, SegmentedTimeouts, StationConfig, TalkerConfig,
};
use chronoseal_nodes::{
    Attack, Attacker, AttackerConfig, CanAttacker, CanAttackerConfig, CanAttackerKind, Protection, SegmentedAttacker,
    SegmentedAttackerConfig,
};
use chronoseal_wire::can::iso_tp::SeparationTime;
use chronoseal_wire::can::{CanFrame, CanId, FrameKind};
use chronoseal_wire::ethernet::{HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::virtual_link;

use super::end_system::{compressed, part_in_cluster};
use super::time_aware::{bridge, follower};
use super::{STREAM, at, count, ms, on_a_bus};

const LEN: usize = 76;

fn attack(kind: AttackKind) -> Attack {
    Attack {
        kind,
        stream: STREAM,
        destination: virtual_link::critical_traffic_address([3, 4, 5, 6], 1),
        source: virtual_link::station_address(NodeId(0)),
        frame_len: LEN,
        tag: None,
        has_r_tag: false,
        ether_type: None,
        value_at: 22,
        slot_start: Duration::from_us(100),
        period: Duration::from_ms(10),
        first: Duration::from_ms(15),
        every: Duration::from_ms(20),
        count: 3,
        at_slot_offset: Duration::ZERO,
        delay: Duration::ZERO,
        is_timed: false,
        datagram: None,
    }
}

/// The stream's own frames, one every 10 ms.
fn genuine() -> Script {
    let Attack { destination, source, .. } = attack(AttackKind::Spoof);
    (0..10).fold(Script::until(ms(100)), |script, number: u8| {
        let mut frame = [number; LEN];
        let type_or_length = TypeOrLength::Length((LEN - HEADER_LEN) as u16);
        Header { destination, source, type_or_length }.emit(&mut frame);
        script.hear(at(Duration::from_us(200) + Duration::from_ms(10) * i64::from(number)), PortId(0), &frame)
    })
}

fn attacker(kind: AttackKind, on_link: bool) -> Box<Attacker> {
    Box::new(Attacker::new(AttackerConfig {
        node: NodeId(9),
        on_link,
        attacks: vec![attack(kind)],
        on_clocks: vec![],
        follows: None,
        seed: 1,
    }))
}

#[test]
fn an_attacker_on_a_link_keeps_it() {
    for (kind, frames) in
        [(AttackKind::Spoof, 13), (AttackKind::Tamper, 10), (AttackKind::Replay, 10), (AttackKind::Withhold, 7)]
    {
        let conduct = Contract::new(0..1, genuine(), || attacker(kind, true)).passes_on().check();
        assert_eq!(count(&conduct, |other| other == EventKind::Attacked(kind)), 3, "{kind:?}");
        assert_eq!(conduct.frames().count(), frames, "{kind:?}");
    }
}

#[test]
fn an_attacker_on_a_port_of_its_own_keeps_it() {
    for kind in [AttackKind::Spoof, AttackKind::Replay] {
        let conduct = Contract::new(0..1, genuine(), || attacker(kind, false)).check();
        assert_eq!(count(&conduct, |other| other == EventKind::Attacked(kind)), 3, "{kind:?}");
        assert_eq!(conduct.frames().count(), 3, "{kind:?}");
    }
}

/// The clocks of the segment are those of others: a cluster that begins late, or a grandmaster that is far ahead.
#[test]
fn an_attacker_that_follows_the_clocks_of_its_segment_keeps_it() {
    let follows = |part: FollowedPart| Some(FollowedConfig { part, precision: Duration::from_us(10) });
    let attacker = |part: FollowedPart, first: Duration| {
        let attacks = vec![Attack { first, every: Duration::from_ms(10), ..attack(AttackKind::Spoof) }];
        let (node, follows) = (NodeId(0), follows(part));
        Box::new(Attacker::new(AttackerConfig { node, on_link: false, attacks, on_clocks: vec![], follows, seed: 1 }))
    };
    let spoofed = |kind| kind == EventKind::Attacked(AttackKind::Spoof);

    let client = || attacker(FollowedPart::Client(Box::new(part_in_cluster(None))), Duration::ZERO);
    let conduct = Contract::new(0..1, compressed(), client).check();
    assert_eq!(count(&conduct, spoofed), 3);
    assert_eq!(conduct.frames().count(), 3, "a client sends nothing, and so much less one that only listens");

    // Stamps are of the time at which messages leave: all wake-ups are exact.
    let end_station = || attacker(FollowedPart::EndStation(follower()), Duration::from_s(6));
    let conduct = Contract::new(0..1, bridge(), end_station).late_by(Duration::ZERO).check();
    assert_eq!(count(&conduct, spoofed), 3);
    assert!(conduct.frames().count() >= 12 + 3, "it asks for the delay each second");
    assert_eq!(conduct.events().count(), 3, "it tells of its attempts and of no clock");
}

#[test]
fn an_attacker_on_a_bus_keeps_it() {
    let id = CanId::standard(0x100).expect("11 bits");
    let frame = CanFrame::classical(id, &[9; 8]).expect("8 bytes fit");
    let mut bytes = [0; 72];
    let len = frame.emit(&mut bytes);
    let kinds = [
        (CanAttackerKind::Spoof(frame), AttackKind::Spoof),
        (CanAttackerKind::Replay(id), AttackKind::Replay),
        (CanAttackerKind::Babble(frame), AttackKind::Spoof),
    ];
    for (kind, event) in kinds {
        let [start, every] = [12, 20].map(Duration::from_ms);
        let config = CanAttackerConfig { kind, stream: STREAM, start, every, count: 4 };
        let script = (0..10).fold(Script::until(ms(100)), |script, number| {
            script.hear(at(Duration::from_us(200) + Duration::from_ms(10) * number), PortId(0), &bytes[..len])
        });
        let conduct = Contract::new(0..1, script, || Box::new(CanAttacker::new(config.clone()))).check();
        assert_eq!(count(&conduct, |other| other == EventKind::Attacked(event)), 4, "{kind:?}");
        assert_eq!(conduct.frames().count(), 4, "{kind:?}");
    }
}

#[test]
fn an_attacker_on_messages_in_several_frames_keeps_it() {
    let ids = [0x100, 0x108].map(|raw| CanId::standard(raw).expect("11 bits"));
    let (kind, separation) = (FrameKind::Classical, SeparationTime::ZERO);
    let stream = SegmentedConfig::new(STREAM, ids, kind, 0, separation, SegmentedTimeouts::default());
    let stream = stream.expect("no span is zero");
    let talker = TalkerConfig {
        stream: STREAM,
        id: ids[0],
        kind,
        len: 30,
        pace: Duration::from_ms(40).into(),
        offset: Duration::from_ms(2),
        fill: vec![0xaa; 30],
        signal: None,
        protection: Protection::NONE,
    };
    let listener = ListenerConfig::new(STREAM, ids[0], 30, Protection::NONE);
    let station = |talkers: &[TalkerConfig], listeners: &[ListenerConfig]| {
        let (talkers, listeners, segmented) = (talkers.to_vec(), listeners.to_vec(), vec![stream]);
        let config = StationConfig { talkers, listeners, segmented, ..StationConfig::default() };
        Box::new(CanStation::new(config, None).expect("a station of a bus is able to"))
    };
    for (spoofed, kind) in [(Some(vec![0x5a; 30]), AttackKind::Spoof), (None, AttackKind::Replay)] {
        let [start, every] = [1, 40].map(Duration::from_ms);
        let attacker = || {
            let spoofed = spoofed.clone();
            Box::new(SegmentedAttacker::new(SegmentedAttackerConfig { stream, spoofed, start, every, count: 4 }))
        };
        let mut nodes: Vec<Box<dyn Node>> =
            vec![station(from_ref(&talker), &[]), station(&[], from_ref(&listener)), attacker()];
        let conducts = on_a_bus(&mut nodes, ms(200));
        let (script, conduct) = &conducts[2];
        let checked = Contract::new(0..1, script.clone(), attacker).check();
        assert_eq!(checked, *conduct, "alone the attacker does what it did on the bus");
        assert_eq!(count(&checked, |other| other == EventKind::Attacked(kind)), 4, "{kind:?}");
        let delivered = count(&conducts[1].1, |other| other == EventKind::Delivered);
        assert!(delivered >= 5 + 3, "{kind:?}: {delivered} of five true messages and four others");
    }
}
