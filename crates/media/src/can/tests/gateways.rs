//! From one bus to another.

use super::*;

const GATEWAY: NodeId = NodeId(9);

/// Stations 0 and 1 on bus 0, 2 and 3 on bus 1, and a gateway for 0x100 to 0x1ff from bus 0 to bus 1.
fn network(delay: Duration) -> CanNetworkConfig {
    let mut second = bus(0);
    second.controllers = vec![ControllerConfig::new(port(2)), ControllerConfig::new(port(3))];
    second.carries_fd = false;
    let filter = IdFilter { id: CanId::standard(0x100).unwrap(), mask: 0x700 };
    let routes = vec![GatewayRoute { from: 0, filter, to: 1 }];
    let gateway = GatewayConfig { node: GATEWAY, buses: vec![0, 1], delay, queue_len_max: 2, routes };
    CanNetworkConfig { buses: vec![bus(2), second], gateways: vec![gateway], seed: 1 }
}

#[test]
fn a_frame_is_stored_delayed_and_forwarded() {
    let delay = Duration::from_us(50);
    let mut clockwork = Clockwork::new(network(delay));
    let frame = base(0x123, &[1, 2, 3]);
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(2));
    let first = at(timing().frame(&frame));
    let second = first + delay + timing().frame(&frame);
    let heard: Vec<_> = clockwork.deliveries.iter().map(|one| (one.at, one.to, one.sender)).collect();
    let sender = NodeId(0);
    assert_eq!(heard, [(first, port(1), sender), (second, port(2), sender), (second, port(3), sender)]);
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn a_frame_without_a_route_stays_on_its_bus() {
    let mut clockwork = Clockwork::new(network(Duration::ZERO));
    clockwork.send(port(0), &base(0x223, &[]));
    clockwork.send(port(2), &base(0x123, &[]));
    clockwork.run_for(Duration::from_ms(2));
    let mut heard: Vec<_> = clockwork.deliveries.iter().map(|one| one.to).collect();
    heard.sort_unstable();
    assert_eq!(heard, [port(1), port(3)]);
    assert_eq!(clockwork.network.statistics(1).unwrap().frames, 1);
}

#[test]
fn what_the_other_bus_cannot_take_is_discarded_by_the_gateway() {
    let mut clockwork = Clockwork::new(network(Duration::ZERO));
    clockwork.send(port(0), &CanFrame::fd(CanId::standard(0x100).unwrap(), &[], false).unwrap());
    clockwork.run_for(Duration::from_ms(1));
    let reason = |reason| (GATEWAY.0, EventKind::Discarded(reason));
    assert_eq!(clockwork.told(), [reason(chronoseal_core::DiscardReason::UnsupportedFormat)]);
    // Bus 1 is taken by lower identifiers, and the gateway holds two frames.
    for _ in 0..20 {
        clockwork.send(port(2), &base(0x001, &[0; 8]));
    }
    for _ in 0..3 {
        clockwork.send(port(0), &base(0x101, &[]));
    }
    clockwork.run_for(Duration::from_ms(20));
    assert_eq!(clockwork.told()[1..], [reason(chronoseal_core::DiscardReason::QueueFull)]);
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn a_gateway_acknowledges_like_any_node() {
    let mut config = network(Duration::ZERO);
    config.buses[0].controllers.truncate(1);
    let mut clockwork = Clockwork::new(config);
    clockwork.send(port(0), &base(0x123, &[]));
    clockwork.run_for(Duration::from_ms(1));
    assert_eq!(clockwork.delivered_to(port(3)).len(), 1);
    assert!(clockwork.events.is_empty());
}
