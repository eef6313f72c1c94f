//! Those who attack.

use chronoseal_core::testing::{Contract, Script};
use chronoseal_core::{AttackKind, Duration, EventKind, NodeId, PortId};
use chronoseal_nodes::{Attack, Attacker, AttackerConfig, CanAttacker, CanAttackerConfig, CanAttackerKind};
use chronoseal_wire::can::{CanFrame, CanId};
use chronoseal_wire::ethernet::{HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::virtual_link;

use super::{STREAM, at, count, ms};

const LEN: usize = 76;

fn attack(kind: AttackKind) -> Attack {
    Attack {
        kind,
        stream: STREAM,
        destination: virtual_link::critical_traffic_address([3, 4, 5, 6], 1),
        source: virtual_link::station_address(NodeId(0)),
        frame_len: LEN,
        ether_type: None,
        value_at: 22,
        slot_start: Duration::from_us(100),
        period: Duration::from_ms(10),
        first: Duration::from_ms(15),
        every: Duration::from_ms(20),
        count: 3,
        at_slot_offset: Duration::ZERO,
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
    Box::new(Attacker::new(AttackerConfig { node: NodeId(9), on_link, attacks: vec![attack(kind)], seed: 1 }))
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
