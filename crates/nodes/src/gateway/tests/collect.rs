//! PDUs of several streams in one frame, from the gateway that collects them to the station that takes them out.

use std::collections::BTreeMap;

use chronoseal_core::FramePart;
use chronoseal_wire::can::CanFrameView;
use chronoseal_wire::container::{Container, HeaderType};

use super::*;
use crate::container::{ContainedConfig, ContainerConfig};

/// The streams that are collected, with the identifiers of their frames and of their PDUs.
const SPEED: (StreamId, u16, u32) = (StreamId(1), 0x101, 5);
const TORQUE: (StreamId, u16, u32) = (StreamId(2), 0x102, 6);
/// The frame they leave in.
const CONTAINER: StreamId = StreamId(9);
const CONTAINER_ID: u16 = 0x80;
const WITHIN: Duration = Duration::from_ms(5);

fn can_id(id: u16) -> CanId {
    CanId::standard(id).expect("11 bits")
}

/// A PDU of `LEN` bytes with a number at its front.
fn pdu(sequence: u32) -> [u8; LEN] {
    let mut bytes = [0xaa; LEN];
    bytes[..4].copy_from_slice(&sequence.to_be_bytes());
    bytes
}

fn frame_of(id: u16, data: &[u8]) -> Vec<u8> {
    let frame = CanFrame::new(can_id(id), KIND, Dlc::holding(data.len()).expect("at most 64"), data);
    let mut buffer = [0; 80];
    let len = frame.emit(&mut buffer);
    buffer[..len].to_vec()
}

fn collect(len_max: usize) -> CollectConfig {
    let streams = [SPEED, TORQUE].map(|(stream, _, id)| (stream, id, LEN)).to_vec();
    CollectConfig { container: CONTAINER, port: PortId(1), streams, header: HeaderType::Short, len_max, within: WITHIN }
}

fn collecting(len_max: usize, protection: Protection, queue_len: usize, config: GatewayConfig) -> Bench<Gateway> {
    let listener = |(stream, id, _): (StreamId, u16, u32)| ListenerConfig {
        delivers: false,
        hands_over: HandOver::Opened,
        ..ListenerConfig::new(stream, can_id(id), LEN, Protection::NONE)
    };
    let from = StationConfig { listeners: [SPEED, TORQUE].map(listener).to_vec(), ..StationConfig::default() };
    let container = RelayConfig { stream: CONTAINER, id: can_id(CONTAINER_ID), kind: KIND, len: len_max, protection };
    let to = StationConfig { collects: vec![container], relay_queue_len_max: queue_len, ..StationConfig::default() };
    let stack = |config| -> Box<dyn Stack + Send> {
        Box::new(CanStation::of_gateway(config, None).expect("a station of a bus is able to"))
    };
    let routes = [SPEED, TORQUE].map(|(stream, ..)| Route { stream, from: PortId(0), to: PortId(1) }).to_vec();
    let config = GatewayConfig { routes, collects: vec![collect(len_max)], ..config };
    Bench::started(Gateway::new(config, vec![stack(from), stack(to)]))
}

/// Uses the speed, and nothing of the torque.
fn receiving(protection: Protection) -> Bench<CanStation> {
    let speed = ContainedConfig {
        stream: SPEED.0,
        pdu_len: LEN,
        len: LEN,
        delivers: true,
        hands_over: HandOver::Nothing,
        supervision: None,
        protection: Protection::NONE,
    };
    let pdus = BTreeMap::from([(SPEED.2, Some(speed)), (TORQUE.2, None)]);
    let container = ContainerConfig { stream: CONTAINER, header: HeaderType::Short, protection, pdus };
    let containers = vec![(can_id(CONTAINER_ID), container)];
    let config = StationConfig { node: NodeId(2), containers, ..StationConfig::default() };
    Bench::started(CanStation::new(config, None).expect("a station of a bus is able to"))
}

/// Identifiers and numbers of the PDUs in a frame without protection.
fn contained(frame: &[u8]) -> Vec<(u32, u64)> {
    let view = CanFrameView::new_checked(frame).expect("a frame of the bus");
    let container = Container::new_checked(HeaderType::Short, view.data()).expect("a container");
    container.pdus().map(|pdu| (pdu.id, number_of(pdu.bytes))).collect()
}

#[test]
fn a_full_frame_leaves_at_once_and_another_when_its_first_pdu_has_waited() {
    let mut gateway = collecting(24, Protection::NONE, 4, GatewayConfig::default());
    gateway.hear(0, &frame_of(SPEED.1, &pdu(7)));
    gateway.put(4, Input::Timeout);
    assert!(gateway.frames.is_empty(), "it waits for another");
    gateway.hear(4, &frame_of(TORQUE.1, &pdu(3)));
    let (port, frame, origins) = gateway.frames.pop().expect("it is full");
    assert_eq!((port, contained(&frame), origins), (PortId(1), vec![(5, 7), (6, 3)], vec![0, 1]));
    let part = |stream, origin| FramePart { stream, origin: Some(origin), attack: None };
    assert_eq!(gateway.node.parts(), [part(SPEED.0, 0), part(TORQUE.0, 1)]);
    // The first of the next one comes at 10 ms, and another of its stream goes in beside it.
    gateway.hear(10, &frame_of(SPEED.1, &pdu(8)));
    gateway.hear(12, &frame_of(SPEED.1, &pdu(9)));
    assert_eq!(gateway.frames.pop().map(|(_, frame, _)| contained(&frame)), Some(vec![(5, 8), (5, 9)]));
    gateway.hear(20, &frame_of(TORQUE.1, &pdu(4)));
    gateway.put(24, Input::Timeout);
    assert!(gateway.frames.is_empty());
    gateway.put(25, Input::Timeout);
    assert_eq!(gateway.frames.pop().map(|(_, frame, _)| contained(&frame)), Some(vec![(6, 4)]));
}

#[test]
fn what_finds_no_room_begins_another_frame() {
    // Two of three PDUs with their headers.
    let mut gateway = collecting(35, Protection::NONE, 4, GatewayConfig::default());
    gateway.hear(0, &frame_of(SPEED.1, &pdu(1)));
    gateway.hear(1, &frame_of(SPEED.1, &pdu(2)));
    let frame = gateway.frames.pop().expect("11 bytes are left, and the shortest needs 12").1;
    assert_eq!(contained(&frame), [(5, 1), (5, 2)]);
    let mut collector =
        Collector::new(CollectConfig { streams: vec![(SPEED.0, 5, 20), (TORQUE.0, 6, 4)], ..collect(40) });
    let pdu = |stream, sequence, len| Pdu { stream, sequence, bytes: vec![1; len], mark: Mark::default() };
    assert_eq!(collector.add(at_ms(0), &pdu(SPEED.0, 1, 20)).map(|leaving| leaving.len()), Ok(0));
    let leaving = collector.add(at_ms(3), &pdu(SPEED.0, 2, 20)).expect("there is room for it alone");
    assert_eq!(leaving.iter().map(|(_, parts)| parts[0].sequence).collect::<Vec<_>>(), [1]);
    assert_eq!(collector.due(), Some(at_ms(8)), "the second has waited since it came");
    let too_long = Event::of(EventKind::Discarded(DiscardReason::TooLong), SPEED.0, 3);
    assert_eq!(collector.add(at_ms(4), &pdu(SPEED.0, 3, 37)).map(|leaving| leaving.len()), Err(too_long));
}

#[test]
fn one_tag_is_over_the_whole_frame_and_opens_each_pdu_in_it() {
    let mut gateway = collecting(24, protection(), 4, GatewayConfig::default());
    let mut receiver = receiving(protection());
    for k in 0..3 {
        gateway.hear(10 * i64::from(k), &frame_of(SPEED.1, &pdu(k)));
        gateway.hear(10 * i64::from(k), &frame_of(TORQUE.1, &pdu(k)));
    }
    let frames = gateway.said();
    assert_eq!(frames.len(), 3);
    frames.iter().for_each(|frame| receiver.hear(30, frame));
    let told: Vec<Event> = std::mem::take(&mut receiver.events);
    assert_eq!(told, [0, 1, 2].map(|number| Event::of(EventKind::Delivered, SPEED.0, number)));
    // Changed on its way, all of it is refused; sent again, too.
    let mut changed = frames[2].clone();
    changed[20] ^= 1;
    receiver.hear(31, &changed);
    receiver.hear(31, &frames[2]);
    let refused = |reason| Event::of(EventKind::Discarded(reason), CONTAINER, 0);
    assert_eq!(receiver.events, [refused(DiscardReason::TagMismatch), refused(DiscardReason::Replayed)]);
}

#[test]
fn a_frame_that_lies_is_told_with_its_reason() {
    let mut receiver = receiving(Protection::NONE);
    let mut data = [0; 24];
    data[..4].copy_from_slice(&[0, 0, 5, 8]);
    for (at, value, reason) in [
        (3, 21, DiscardReason::Malformed),
        (3, 7, DiscardReason::Malformed),
        (20, 1, DiscardReason::Malformed),
        (2, 99, DiscardReason::UnknownStream),
    ] {
        let mut lie = data;
        lie[at] = value;
        receiver.hear(1, &frame_of(CONTAINER_ID, &lie));
        assert_eq!(receiver.kinds(), [EventKind::Discarded(reason)], "byte {at} is {value}");
    }
    receiver.hear(1, &frame_of(CONTAINER_ID, &data));
    assert_eq!(receiver.kinds(), [EventKind::Delivered]);
    // Nothing for this station, and nothing at all.
    data[2] = 6;
    receiver.hear(1, &frame_of(CONTAINER_ID, &data));
    receiver.hear(1, &frame_of(CONTAINER_ID, &[0; 24]));
    assert_eq!(receiver.kinds(), []);
}

#[test]
fn a_container_that_finds_no_room_is_told_of_each_pdu_in_it() {
    let mut gateway = collecting(24, Protection::NONE, 1, GatewayConfig::default());
    for k in 0..2 {
        gateway.hear(0, &frame_of(SPEED.1, &pdu(k)));
        gateway.hear(0, &frame_of(TORQUE.1, &pdu(k)));
    }
    assert_eq!(gateway.said().len(), 1);
    let full = EventKind::Discarded(DiscardReason::QueueFull);
    let lost: Vec<Event> = gateway.events.iter().filter(|event| event.kind == full).copied().collect();
    // It was to leave by port 1.
    let lost_there = |stream| Event { value: 2, ..Event::of(full, stream, 1) };
    assert_eq!(lost, [lost_there(SPEED.0), lost_there(TORQUE.0)]);
}

#[test]
fn an_attacker_works_on_one_pdu_and_the_others_stay_as_they_are() {
    for kind in [AttackKind::Tamper, AttackKind::Spoof, AttackKind::Replay, AttackKind::Withhold] {
        let start = if kind == AttackKind::Replay { WITHIN * 2 } else { Duration::ZERO };
        let attack = RelayAttack { kind, stream: TORQUE.0, start, every: Duration::from_ms(100), count: 1 };
        let config = GatewayConfig { attacks: vec![attack], ..GatewayConfig::default() };
        let mut gateway = collecting(36, Protection::NONE, 4, config);
        let mut attacked = Vec::new();
        for k in 0..2 {
            gateway.hear(12 * i64::from(k), &frame_of(TORQUE.1, &pdu(k)));
            gateway.hear(12 * i64::from(k), &frame_of(SPEED.1, &pdu(k)));
            gateway.put(12 * i64::from(k) + 10, Input::Timeout);
            attacked
                .extend(gateway.node.parts().iter().filter(|part| part.attack == Some(kind)).map(|part| part.stream));
        }
        let told = gateway.events.iter().filter(|event| event.kind == EventKind::Attacked(kind)).count();
        assert_eq!(told, 1, "{kind:?}");
        let frames = gateway.said();
        let speeds = frames.iter().flat_map(|frame| contained(frame)).filter(|(id, _)| *id == SPEED.2);
        assert_eq!(speeds.collect::<Vec<_>>(), [(5, 0), (5, 1)], "{kind:?}");
        let expected = if kind == AttackKind::Withhold { vec![] } else { vec![TORQUE.0] };
        assert_eq!(attacked, expected, "{kind:?}");
    }
}

#[test]
fn what_is_collected_is_lost_in_a_reboot_and_nothing_leaves_after_a_stop() {
    let reboot = Some((Duration::from_ms(5), Duration::from_ms(10)));
    let config = GatewayConfig { reboot, ..GatewayConfig::default() };
    let mut gateway = collecting(24, Protection::NONE, 4, config);
    gateway.hear(4, &frame_of(SPEED.1, &pdu(1)));
    gateway.put(5, Input::Timeout);
    gateway.put(15, Input::Timeout);
    gateway.hear(16, &frame_of(TORQUE.1, &pdu(2)));
    gateway.put(21, Input::Timeout);
    assert_eq!(gateway.said().iter().map(|frame| contained(frame)).collect::<Vec<_>>(), [vec![(6, 2)]]);
    gateway.hear(22, &frame_of(SPEED.1, &pdu(3)));
    gateway.put(23, Input::Command(Command::Stop));
    gateway.put(40, Input::Timeout);
    assert!(gateway.said().is_empty());
}
