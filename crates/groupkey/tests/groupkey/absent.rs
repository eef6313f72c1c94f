//! Members that missed a message, and members that lost their memory.

use chronoseal_core::{AbortReason, Duration, EventKind};
use chronoseal_groupkey::{
    Address, Identifier, Installation, Member, MembershipChange, Operation, OrchestrationSigning, Orchestrator,
    Persisted, Profile, Scheme, Settings, SpareNode, Step, Transport, Tree,
};

use crate::bus::{Bus, Heard, LEAD, Station, config, network, roster};
use crate::swift::Swift;
use crate::unsigned::operate;

/// The member with this number as it leaves the factory, with what it has kept of an earlier life.
fn reborn(settings: Settings, scheme: Scheme, n: usize, number: usize, persisted: Option<Persisted>) -> Station<Swift> {
    let roster = roster::<Swift>(LEAD, 1, n);
    let tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).unwrap();
    let mut config = config(settings, &roster, &tree, Address(number as u8));
    // From a hardware generator: never the same twice.
    config.seed[2] = 0x77;
    let member = Member::new(config).unwrap();
    Station::Member(Box::new(match persisted {
        Some(persisted) => member.restored(&persisted),
        None => member,
    }))
}

fn requests(heard: &Heard) -> Option<Identifier> {
    heard.identifier().filter(|identifier| identifier.step == Step::Orchestration)
}

#[track_caller]
fn assert_common(bus: &Bus<Swift>, indices: &[usize], old: Option<[u8; 16]>, what: &str) {
    let new = bus.station(0).key();
    assert_ne!(new, old, "{what}: no new key: {:x?}", bus.aborts());
    for &index in indices {
        assert_eq!(bus.station(index).key(), new, "{what}: member {index}: {:x?}", bus.aborts());
    }
}

/// The lowest requests of a removal say by their addresses who leaves; somebody behind a gateway never gets those.
#[test]
fn a_member_that_missed_the_lowest_request_still_knows_who_left() {
    for scheme in [Scheme::FullTree, Scheme::WithoutOrchestrator] {
        for installation in [Installation::Confirmed, Installation::Unconfirmed] {
            let settings = Settings { installation, ..Settings::new(Profile::Hardened, Transport::Fd) };
            let mut bus = network::<Swift>(settings, scheme, 8);
            bus.start();
            bus.run(Duration::from_s(9));
            let old = Some(bus.common_key());
            // Member 2 acts for the logical ECUs that it is in.
            let tree = bus.orchestrator().tree().clone();
            let renewed: Vec<_> = tree.path(Address(2)).collect();
            let kept = renewed[renewed.len() - 2..].to_vec();
            bus.fault = Some(Box::new(move |heard, to| {
                let is_kept_from = requests(heard).is_some_and(|request| !kept.contains(&request.result));
                (to < 5 || !is_kept_from).then_some(heard.frame)
            }));
            operate(&mut bus, Operation::Remove(Address(2)));
            let what = format!("{scheme:?} {installation:?}");
            assert_common(&bus, &[1, 3, 4, 5, 6, 7, 8], old, &what);
            assert!((5..=8).all(|index| !bus.member(index).tree().is_present(Address(2))), "{what}");
            assert_eq!(bus.aborts(), [], "{what}");
        }
    }
}

/// A member's own secrets are of no use any more once it hears that somebody else who holds them was removed.
#[test]
fn a_member_that_missed_its_own_renewal_does_not_act_with_what_the_removed_node_holds() {
    let settings = Settings { retries_max: 0, ..Settings::new(Profile::Hardened, Transport::Fd) };
    let mut bus = network::<Swift>(settings, Scheme::FullTree, 8);
    bus.start();
    bus.run(Duration::from_s(9));
    let tree = bus.orchestrator().tree().clone();
    // Half of the tree, in which 4 only listens.
    let shared = tree.path(Address(2)).nth(2).unwrap();
    assert!(tree.contains(shared, Address(4)) && bus.member(4).logical_secret(shared).is_some());
    bus.fault = Some(Box::new(move |heard, to| {
        (to != 4 || requests(heard).is_none_or(|request| request.result != shared)).then_some(heard.frame)
    }));
    operate(&mut bus, Operation::Remove(Address(2)));
    assert!(bus.member(4).logical_secret(shared).is_none(), "it holds what the removed node holds");
    bus.fault = None;
    let old = bus.station(0).key();
    operate(&mut bus, Operation::Remove(Address(8)));
    assert_common(&bus, &[1, 3, 4, 5, 6, 7], old, "afterwards");
}

/// It comes back with the tree it was configured with, in which nobody has been removed.
#[test]
fn a_member_without_memory_learns_who_is_in_the_group_and_gets_the_next_key() {
    for scheme in Scheme::ALL {
        for signing in [OrchestrationSigning::PerStep, OrchestrationSigning::Ahead, OrchestrationSigning::Once] {
            for persists in [false, true] {
                let settings = Settings { signing, ..Settings::new(Profile::Hardened, Transport::Fd) };
                let mut bus = network::<Swift>(settings, scheme, 5);
                bus.start();
                bus.run(Duration::from_s(9));
                operate(&mut bus, Operation::Remove(Address(2)));
                let persisted = bus.member(1).persisted();
                bus.replace(1, reborn(settings, scheme, 5, 1, persists.then_some(persisted)));
                assert_eq!(bus.member(1).tree().is_present(Address(2)), !persists || scheme == Scheme::Symmetric);
                let old = bus.station(0).key();
                operate(&mut bus, Operation::Establish);
                let what = format!("{scheme:?} {signing:?} {persists}");
                assert_common(&bus, &[1, 3, 4, 5], old, &what);
                assert!(!bus.member(1).tree().is_present(Address(2)), "{what}");
                assert_eq!(bus.aborts(), [], "{what}");
            }
        }
    }
}

/// A removal renews one path only. Somebody who has lost all secrets has a part in it nevertheless, in the same run.
#[test]
fn a_member_without_memory_does_not_keep_a_removed_node_in() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for without in [1, 2, 7] {
                let settings = Settings::new(profile, Transport::Fd);
                let mut bus = network::<Swift>(settings, scheme, 8);
                bus.start();
                bus.run(Duration::from_s(9));
                let persisted = bus.member(without).persisted();
                bus.replace(without, reborn(settings, scheme, 8, without, Some(persisted)));
                let old = bus.station(0).key();
                let now = bus.now.since_zero();
                operate(&mut bus, Operation::Remove(Address(4)));
                bus.run(now + Duration::from_s(20));
                assert_common(&bus, &[1, 2, 3, 5, 6, 7, 8], old, &format!("{scheme:?} {profile:?} {without}"));
            }
        }
    }
}

/// What a member keeps keeps it from taking an old request for a new one.
#[test]
fn a_member_that_kept_its_epoch_takes_no_request_from_before() {
    for (keeps, started) in [(true, 0), (false, 1)] {
        let settings = Settings::new(Profile::Hardened, Transport::Fd);
        let mut bus = network::<Swift>(settings, Scheme::FullTree, 3);
        bus.start();
        bus.run(Duration::from_s(1));
        let pair = bus.orchestrator().tree().pair_of(Address(1)).unwrap();
        let is_it = |heard: &&Heard| requests(heard).is_some_and(|request| request.result == pair);
        let frames: Vec<_> = bus.heard.iter().filter(is_it).map(|heard| heard.frame).collect();
        let persisted = bus.member(1).persisted();
        bus.replace(1, reborn(settings, Scheme::FullTree, 3, 1, keeps.then_some(persisted)));
        let before = bus.count(EventKind::ExchangeStarted);
        frames.iter().for_each(|frame| bus.inject(frame));
        bus.run(Duration::from_s(3));
        assert_eq!(bus.count(EventKind::ExchangeStarted) - before, started);
        assert_eq!(bus.count(EventKind::ExchangeAborted(AbortReason::OrchestrationStale)) > 0, keeps);
    }
}

/// An orchestrator that comes back asks for nothing under an epoch that was used, and keeps out who is out.
#[test]
fn an_orchestrator_goes_on_where_it_was() {
    for scheme in Scheme::ALL {
        let settings = Settings::new(Profile::Hardened, Transport::Fd);
        let mut bus = network::<Swift>(settings, scheme, 4);
        bus.start();
        bus.run(Duration::from_s(9));
        operate(&mut bus, Operation::Revoke(Address(3)));
        let persisted = Persisted::from_bytes(&bus.orchestrator().persisted().to_bytes());
        let roster = roster::<Swift>(LEAD, 1, 4);
        let tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).unwrap();
        let mut config = config(settings, &roster, &tree, LEAD);
        config.seed[2] = 0x77;
        let old = bus.station(0).key();
        let epoch = bus.orchestrator().group_key().unwrap().epoch;
        let orchestrator = Orchestrator::new(config).unwrap().restored(&persisted);
        bus.replace(0, Station::Orchestrator(Box::new(orchestrator)));
        let until = bus.now.since_zero() + Duration::from_s(10);
        bus.run(until);
        assert_common(&bus, &[1, 2, 4], old, &format!("{scheme:?}"));
        assert!(bus.orchestrator().group_key().unwrap().epoch > epoch);
        let mut without = tree.clone();
        without.apply(MembershipChange::Vacated(Address(3)));
        assert!(bus.orchestrator().tree().present().eq(without.present()));
        operate(&mut bus, Operation::Add(Address(3)));
        assert_eq!(bus.count(EventKind::KeyRefused(AbortReason::WrongAddresses)), 1, "it is still revoked");
    }
}

/// A run after a failed one renews everything, of which the orchestrator follows a part. It still has what the runs after
/// that need of it.
#[test]
fn the_orchestrator_goes_on_after_a_run_that_renewed_everything() {
    for scheme in Scheme::ALL {
        for (first, second) in [(1, 7), (7, 1), (3, 6)] {
            let settings = Settings::new(Profile::Hardened, Transport::Fd);
            let mut bus = network::<Swift>(settings, scheme, 7);
            bus.start();
            bus.run(Duration::from_s(9));
            bus.fault = Some(Box::new(|heard, to| (heard.from != 4 && to != 4).then_some(heard.frame)));
            operate(&mut bus, Operation::Establish);
            let until = bus.now.since_zero() + Duration::from_s(10);
            bus.run(until);
            assert!(bus.orchestrator().last_failure().is_some());
            bus.fault = None;
            for operation in [
                Operation::Remove(Address(first)),
                Operation::Add(Address(first)),
                Operation::Remove(Address(second)),
                Operation::Add(Address(second)),
            ] {
                let (old, before) = (bus.station(0).key(), bus.aborts().len());
                operate(&mut bus, operation);
                let tree = bus.orchestrator().tree().clone();
                let present: Vec<_> = tree.present().map(|member| usize::from(member.0)).collect();
                let what = format!("{scheme:?} {first} {second} {operation:?}");
                assert_common(&bus, &present, old, &what);
                assert_eq!(bus.aborts()[before..], [], "{what}");
            }
        }
    }
}
