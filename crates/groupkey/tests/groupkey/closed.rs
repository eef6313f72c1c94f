//! A removal that fails leaves everybody on a key that the node to be removed has, or without a key where that is chosen.

use chronoseal_core::{Duration, EventKind};
use chronoseal_groupkey::{
    Address, FailedRemoval, Operation, OrchestrationSigning, Profile, Scheme, Settings, Step, Transport,
};
use chronoseal_wire::can::CanFrame;

use crate::bus::{Bus, network};
use crate::swift::Swift;
use crate::unsigned::operate;

/// A group of four, of which 4 is cut off while 2 is to be removed.
fn failed_removal(settings: Settings, scheme: Scheme) -> Bus<Swift> {
    let mut bus = network::<Swift>(settings, scheme, 4);
    bus.start();
    bus.run(Duration::from_s(9));
    bus.common_key();
    bus.fault = Some(Box::new(|heard, to| (heard.from != 4 && to != 4).then_some(heard.frame)));
    operate(&mut bus, Operation::Remove(Address(2)));
    let until = bus.now.since_zero() + Duration::from_s(15);
    bus.run(until);
    assert!(bus.orchestrator().last_failure().is_some());
    bus
}

fn everywhere(failed_removal: FailedRemoval, check: impl Fn(Settings, Scheme, &str)) {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for transport in Transport::ALL {
                let settings = Settings { failed_removal, ..Settings::new(profile, transport) };
                check(settings, scheme, &format!("{scheme:?} {profile:?} {transport:?}"));
            }
        }
    }
}

#[test]
fn an_available_group_stays_on_the_key_of_the_node_to_be_removed() {
    everywhere(FailedRemoval::Available, |settings, scheme, what| {
        let bus = failed_removal(settings, scheme);
        bus.common_key();
        assert_eq!(bus.count(EventKind::KeyWithdrawn), 0, "{what}");
        assert_eq!(bus.frames().get(&Step::Withdrawal), None, "{what}");
    });
}

#[test]
fn a_closed_group_has_no_key_until_there_is_a_new_one() {
    everywhere(FailedRemoval::Closed, |settings, scheme, what| {
        let mut bus = failed_removal(settings, scheme);
        let old = bus.station(4).key();
        // Who was reached has none; who was cut off cannot know.
        assert_eq!([0, 1, 3].map(|index| bus.station(index).key()), [None; 3], "{what}");
        assert!(old.is_some(), "{what}");
        bus.fault = None;
        operate(&mut bus, Operation::Remove(Address(1)));
        let new = bus.station(0).key();
        assert!(new.is_some() && new != old, "{what}: {:x?}", bus.aborts());
        assert_eq!([3, 4].map(|index| bus.station(index).key()), [new; 2], "{what}");
    });
}

/// Whoever keeps the orchestrator's word from the others does not keep them on the old key, if they were asked to take part.
#[test]
fn a_member_closes_by_itself_when_the_removal_it_was_asked_for_comes_to_nothing() {
    for scheme in [Scheme::FullTree, Scheme::WithoutOrchestrator] {
        for profile in Profile::ALL {
            let settings = Settings {
                failed_removal: FailedRemoval::Closed,
                run_timeout: Duration::from_s(12),
                ..Settings::new(profile, Transport::Fd)
            };
            let mut bus = network::<Swift>(settings, scheme, 4);
            bus.start();
            bus.run(Duration::from_s(9));
            bus.common_key();
            bus.fault = Some(Box::new(|heard, _| {
                let kept = [Step::Withdrawal, Step::Commit];
                (!heard.identifier().is_some_and(|identifier| kept.contains(&identifier.step))).then_some(heard.frame)
            }));
            operate(&mut bus, Operation::Remove(Address(2)));
            let until = bus.now.since_zero() + Duration::from_s(4);
            bus.run(until);
            assert_eq!([1, 3, 4].map(|index| bus.station(index).key()), [None; 3], "{scheme:?} {profile:?}");
        }
    }
}

/// The orchestrator says again and again that the key is given up, each time under an epoch of its own. As published there is
/// one epoch a second, and the next change needs one too.
#[test]
fn saying_that_the_key_is_given_up_does_not_keep_the_next_change_waiting() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            if profile == Profile::AsPublished && scheme == Scheme::WithoutOrchestrator {
                // Nothing tells the one that was cut off who has left.
                continue;
            }
            let settings = Settings {
                failed_removal: FailedRemoval::Closed,
                exchange_timeout: Duration::from_ms(300),
                ..Settings::new(profile, Transport::Fd)
            };
            let mut bus = failed_removal(settings, scheme);
            bus.fault = None;
            let installed = bus.installed.len();
            operate(&mut bus, Operation::Establish);
            let is_new = bus.installed[installed..].iter().any(|installed| installed.station == 0);
            assert!(is_new, "{scheme:?} {profile:?}: {:x?}", bus.aborts());
        }
    }
}

/// As published an epoch is the number of a second: a run that has used those of this second and of the next up waits until
/// there is one for the withdrawal, and nothing but time has to wake the orchestrator.
#[test]
fn a_withdrawal_is_sent_as_soon_as_there_is_an_epoch_for_it() {
    let settings = Settings {
        failed_removal: FailedRemoval::Closed,
        exchange_timeout: Duration::from_ms(100),
        retries_max: 1,
        ..Settings::new(Profile::AsPublished, Transport::Fd)
    };
    let mut bus = network::<Swift>(settings, Scheme::FullTree, 4);
    bus.start();
    bus.run(Duration::from_s(9));
    bus.common_key();
    bus.fault = Some(Box::new(|heard, _| (heard.from == 0).then_some(heard.frame)));
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, Operation::Remove(Address(2))).unwrap();
    bus.wake(0);
    // The request and its repetition take epochs 10 and 11, and fail. There is an epoch 12 from the end of the second on.
    bus.run(Duration::from_ms(9_990));
    assert_eq!((bus.station(0).key(), bus.frames().get(&Step::Withdrawal)), (None, None), "{:x?}", bus.aborts());
    bus.run(Duration::from_ms(10_010));
    assert!(bus.frames().contains_key(&Step::Withdrawal));
}

#[test]
fn a_change_that_removes_nobody_closes_nothing() {
    everywhere(FailedRemoval::Closed, |settings, scheme, what| {
        let mut bus = network::<Swift>(settings, scheme, 4);
        bus.start();
        bus.run(Duration::from_s(9));
        bus.fault = Some(Box::new(|heard, to| (heard.from != 4 && to != 4).then_some(heard.frame)));
        operate(&mut bus, Operation::Establish);
        let until = bus.now.since_zero() + Duration::from_s(15);
        bus.run(until);
        assert!(bus.orchestrator().last_failure().is_some());
        assert!((0..=4).all(|index| bus.station(index).key().is_some()), "{what}");
    });
}

/// A withdrawal is the orchestrator's word alone: neither a forged one nor one of an earlier failure stops anything.
#[test]
fn nobody_else_closes_a_group() {
    for signing in [OrchestrationSigning::PerStep, OrchestrationSigning::Once] {
        for profile in Profile::ALL {
            if profile == Profile::AsPublished && signing == OrchestrationSigning::Once {
                // Nothing tells the one that was cut off who has left.
                continue;
            }
            let settings =
                Settings { failed_removal: FailedRemoval::Closed, signing, ..Settings::new(profile, Transport::Fd) };
            let mut bus = failed_removal(settings, Scheme::FullTree);
            let is_withdrawal = |heard: &&crate::bus::Heard| {
                heard.identifier().is_some_and(|identifier| identifier.step == Step::Withdrawal)
            };
            let recorded: Vec<_> = bus.heard.iter().filter(is_withdrawal).map(|heard| heard.frame).collect();
            assert!(!recorded.is_empty());
            bus.fault = None;
            operate(&mut bus, Operation::Establish);
            let key = bus.station(0).key();
            assert!(key.is_some(), "{profile:?} {signing:?}: {:x?}", bus.aborts());
            for frame in recorded {
                let mut forged = frame.data().to_vec();
                forged.iter_mut().for_each(|byte| *byte ^= 0x55);
                bus.inject(&frame);
                bus.inject(&CanFrame::fd(frame.id(), &forged, true).unwrap());
            }
            let until = bus.now.since_zero() + Duration::from_s(3);
            bus.run(until);
            assert_eq!([0, 1, 3, 4].map(|index| bus.station(index).key()), [key; 4], "{profile:?} {signing:?}");
        }
    }
}
