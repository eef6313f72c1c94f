//! Configurations that are no network.

use super::*;

fn refused(change: impl Fn(&mut CanNetworkConfig)) -> CanNetworkError {
    let gateway = GatewayConfig {
        node: NodeId(9),
        buses: vec![0, 1],
        delay: Duration::ZERO,
        queue_len_max: 8,
        routes: vec![GatewayRoute { from: 0, filter: IdFilter { id: CanId::standard(0).unwrap(), mask: 0 }, to: 1 }],
    };
    let mut second = bus(0);
    second.controllers = vec![ControllerConfig::new(port(5))];
    let mut config = CanNetworkConfig { buses: vec![bus(2), second], gateways: vec![gateway], seed: 1 };
    assert!(CanNetwork::new(config.clone()).is_ok());
    change(&mut config);
    CanNetwork::new(config).err().expect("this is no network")
}

#[test]
fn each_contradiction_is_named() {
    let node = NodeId(9);
    assert_eq!(refused(|c| c.gateways[0].buses.push(2)), CanNetworkError::UnknownBus { node, bus: 2 });
    assert_eq!(refused(|c| c.gateways[0].routes[0].to = 3), CanNetworkError::UnknownBus { node, bus: 3 });
    assert_eq!(refused(|c| c.gateways[0].routes[0].to = 0), CanNetworkError::RouteToItself { node, bus: 0 });
    let twice = CanNetworkError::AttachedTwice(port(0));
    assert_eq!(refused(|c| c.buses[1].controllers[0].attachment = port(0)), twice);
    let no_queue = CanNetworkError::NoQueue(port(1));
    assert_eq!(refused(|c| c.buses[0].controllers[1].queue_len_max = 0), no_queue);
    let fault = Fault { attempt: 0, bit: 0, seen_by: Some(port(5)) };
    let not_attached = CanNetworkError::NotAttached { attachment: port(5), bus: 0 };
    assert_eq!(refused(|c| c.buses[0].faults.push(fault)), not_attached);
    assert_eq!(refused(|c| c.buses[1].load_window = Some(Duration::ZERO)), CanNetworkError::LoadWindow(1));
    assert_eq!(refused(|c| c.buses = vec![bus(0); 256]), CanNetworkError::TooManyBuses(256));
}
