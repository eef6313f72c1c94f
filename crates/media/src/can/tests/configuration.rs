//! Configurations that are no bus.

use super::*;

fn refused(change: impl Fn(&mut CanBusConfig)) -> CanBusError {
    let mut config = bus(2);
    assert!(CanBus::new(config.clone(), 1).is_ok());
    change(&mut config);
    CanBus::new(config, 1).err().expect("this is no bus")
}

#[test]
fn each_contradiction_is_named() {
    assert_eq!(refused(|c| c.controllers[1].attachment = port(0)), CanBusError::AttachedTwice(port(0)));
    assert_eq!(refused(|c| c.controllers[1].queue_len_max = 0), CanBusError::NoQueue(port(1)));
    let fault = Fault { attempt: 0, bit: 0, seen_by: Some(port(5)) };
    assert_eq!(refused(|c| c.faults.push(fault)), CanBusError::NotAttached(port(5)));
    assert_eq!(refused(|c| c.load_window = Some(Duration::ZERO)), CanBusError::LoadWindow);
}
