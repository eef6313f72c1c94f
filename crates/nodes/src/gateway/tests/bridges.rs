//! Frames of no stream, which pass whole.

use std::collections::BTreeSet;

use chronoseal_wire::can::IdFilter;

use super::*;
use crate::can_station::BridgeConfig;

/// Of a stream that stays on its segment.
const LOCAL: u16 = 0x200;

fn bridge(queue_len: usize, config: GatewayConfig) -> Bench<Gateway> {
    let passes = vec![IdFilter { id: CanId::standard(0x200).expect("11 bits"), mask: 0x600 }, IdFilter::ALL[1]];
    let except = BTreeSet::from([CanId::standard(LOCAL).expect("11 bits")]);
    let stack = || -> Box<dyn Stack + Send> {
        let bridge = BridgeConfig { passes: passes.clone(), except: except.clone() };
        let config = StationConfig { bridge, relay_queue_len_max: queue_len, ..StationConfig::default() };
        Box::new(CanStation::of_gateway(config, None).expect("a station of a bus is able to"))
    };
    let route = |from, to| Route { stream: StreamId::NONE, from: PortId(from), to: PortId(to) };
    let routes = vec![route(0, 1), route(1, 0)];
    Bench::started(Gateway::new(GatewayConfig { routes, delay: DELAY, ..config }, vec![stack(), stack()]))
}

fn frame(id: CanId, byte: u8) -> Vec<u8> {
    let mut buffer = [0; 80];
    let len = CanFrame::fd(id, &[byte; 12], true).expect("a length there is").emit(&mut buffer);
    buffer[..len].to_vec()
}

fn standard(id: u16, byte: u8) -> Vec<u8> {
    frame(CanId::standard(id).expect("11 bits"), byte)
}

#[test]
fn frames_pass_whole_by_their_identifier_in_both_directions() {
    let mut gateway = bridge(8, GatewayConfig::default());
    let extended = frame(CanId::extended(0x18fe_f100).expect("29 bits"), 7);
    for (ms, passing) in [(1, standard(0x3ff, 1)), (2, extended)] {
        gateway.hear(ms, &passing);
        let (port, left, origins) = gateway.frames.pop().expect("it goes on");
        assert_eq!((port, &left, origins), (PortId(1), &passing, vec![ms as u64 - 1]));
    }
    // Another set of identifiers, a stream of this segment, and what is no frame.
    for staying in [standard(0x400, 1), standard(LOCAL, 1), vec![1, 2]] {
        gateway.hear(3, &staying);
        assert_eq!(gateway.said(), Vec::<Vec<u8>>::new());
    }
    let back = standard(0x201, 3);
    gateway.put(4, Input::Frame { port: PortId(1), rx_at: at_ms(4), bytes: &back });
    assert_eq!(gateway.frames.pop(), Some((PortId(0), back, vec![5])));
    assert_eq!(gateway.declared, DELAY * 3);
    assert_eq!(gateway.kinds(), [EventKind::Discarded(DiscardReason::Malformed)]);
}

#[test]
fn a_frame_that_finds_the_queue_full_is_lost_and_told() {
    let mut gateway = bridge(2, GatewayConfig::default());
    let frames: Vec<Vec<u8>> = (0..5).map(|byte| standard(0x210, byte)).collect();
    frames[..3].iter().for_each(|frame| gateway.hear(1, frame));
    assert_eq!(gateway.said(), frames[..2]);
    let full = Event::of(EventKind::Discarded(DiscardReason::QueueFull), StreamId::NONE, 0);
    let full = Event { value: 2, ..full };
    assert_eq!(std::mem::take(&mut gateway.events), [full]);
    // The other direction has a queue of its own.
    gateway.put(2, Input::Frame { port: PortId(1), rx_at: at_ms(2), bytes: &frames[3] });
    assert_eq!(gateway.said(), frames[3..4]);
    let token = gateway.tokens.remove(0);
    gateway.put(3, Input::Transmitted { token, tx_at: at_ms(3) });
    gateway.hear(3, &frames[4]);
    assert_eq!((gateway.said(), gateway.kinds()), (frames[4..].to_vec(), vec![]));
}

#[test]
fn frames_that_wait_for_the_processor_are_counted_too() {
    let mut gateway = bridge(8, GatewayConfig { waiting_max: 2, ..GatewayConfig::default() });
    let frames: Vec<Vec<u8>> = (0..4).map(|byte| standard(0x210, byte)).collect();
    // They come while the processor does something else.
    for frame in &frames {
        gateway
            .node
            .handle_input(at_ms(1), Input::Frame { port: PortId(0), rx_at: at_ms(1), bytes: frame })
            .expect("it is on");
    }
    gateway.put(1, Input::Timeout);
    assert_eq!(gateway.said(), frames[..2]);
    assert_eq!(gateway.kinds(), [EventKind::Discarded(DiscardReason::QueueFull); 2]);
}

#[test]
fn what_waits_is_lost_in_a_reboot() {
    let reboot = Some((Duration::from_ms(5), Duration::from_ms(10)));
    let mut gateway = bridge(1, GatewayConfig { reboot, ..GatewayConfig::default() });
    gateway.hear(1, &standard(0x210, 1));
    gateway.hear(6, &standard(0x210, 2));
    assert_eq!(gateway.said(), [standard(0x210, 1)]);
    gateway.put(15, Input::Timeout);
    // The token of the first one never came back, and its place is free again.
    gateway.hear(16, &standard(0x210, 3));
    assert_eq!(gateway.said(), [standard(0x210, 3)]);
    assert_eq!(gateway.kinds(), [EventKind::Rebooted]);
}
