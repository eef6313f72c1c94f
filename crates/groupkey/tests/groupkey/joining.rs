//! Nodes that come into a group together: with one key, and without the keys of before.

use std::collections::BTreeSet;

use chronoseal_core::{AbortReason, Duration, EventKind};
use chronoseal_groupkey::adversary::Knowledge;
use chronoseal_groupkey::{
    Address, Installation, Membership, MembershipChange, Operation, OperationError, OrchestrationSigning, Orchestrator,
    Profile, Scheme, Settings, SpareNode, Step, Transport, Tree,
};

use crate::bus::{Bus, LEAD, Station, config, roster, seed, stations};
use crate::swift::Swift;

/// Private keys any member draws in these tests, and some more.
const DRAWS: usize = 12;

/// A network of `n` places of which these are not taken yet. Everybody is on the bus.
fn network_without(settings: Settings, scheme: Scheme, spare: SpareNode, n: usize, absent: &[u8]) -> Bus<Swift> {
    let roster = roster::<Swift>(LEAD, 1, n);
    let mut tree = Tree::new(&roster, scheme, spare).unwrap();
    absent.iter().for_each(|number| tree.apply(MembershipChange::Vacated(Address(*number))));
    let mut bus = Bus::new(stations(settings, &roster, &tree));
    bus.start();
    bus.run(Duration::from_s(9));
    bus
}

/// The places of members with addresses from 1 on.
fn places(numbers: &[u8]) -> Membership {
    let mut places = Membership::NONE;
    numbers.iter().for_each(|number| places.set(usize::from(*number) - 1, true));
    places
}

fn operate(bus: &mut Bus<Swift>, operation: Operation) {
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, operation).unwrap();
    bus.wake(0);
    bus.run(now.since_zero() + Duration::from_s(10));
}

#[test]
fn several_come_in_with_one_key_by_every_scheme_profile_and_installation() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for installation in [Installation::Confirmed, Installation::Unconfirmed] {
                for signing in [OrchestrationSigning::PerStep, OrchestrationSigning::Ahead, OrchestrationSigning::Once]
                {
                    // Two who share a logical ECU, a half of the tree, all but one, and some here and there.
                    for (n, newcomers) in
                        [(4, &[3, 4][..]), (6, &[4, 5, 6]), (5, &[1, 2, 3, 4]), (9, &[2, 5, 9]), (3, &[2])]
                    {
                        let settings = Settings { installation, signing, ..Settings::new(profile, Transport::Fd) };
                        let spare = SpareNode::JoinsHigherLevel;
                        let mut bus = network_without(settings, scheme, spare, n, newcomers);
                        let case = format!("{scheme:?} {profile:?} {installation:?} {signing:?} {newcomers:?} of {n}");
                        let old = bus.station(0).key();
                        for index in 1..=n {
                            let is_in = !newcomers.contains(&(index as u8));
                            assert_eq!(bus.station(index).key(), old.filter(|_| is_in), "{case}: {index}");
                        }
                        let keys = bus.installed.len();
                        operate(&mut bus, Operation::Admit(places(newcomers)));
                        assert_ne!(Some(bus.common_key()), old, "{case}");
                        assert_eq!(bus.installed.len(), keys + n + 1, "{case}: one key each");
                        assert_eq!(bus.aborts(), [], "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn several_come_in_where_a_spare_node_is_assigned_directly() {
    for scheme in [Scheme::FullTree, Scheme::WithoutOrchestrator] {
        for profile in Profile::ALL {
            for (n, newcomers) in [(5, &[4, 5][..]), (7, &[2, 7])] {
                let settings = Settings::new(profile, Transport::Classical);
                let mut bus = network_without(settings, scheme, SpareNode::DirectAssignment, n, newcomers);
                operate(&mut bus, Operation::Admit(places(newcomers)));
                bus.common_key();
                assert_eq!(bus.aborts(), [], "{scheme:?} {profile:?} {newcomers:?} of {n}");
            }
        }
    }
}

/// A direct assignment follows at once on the exchange whose secret it takes over, and who is slow is still at that.
#[test]
fn who_is_slow_takes_a_direct_assignment_when_it_has_what_is_assigned() {
    let groups = [(6, &[5][..]), (9, &[9])];
    for (profile, looks_at_once) in Profile::ALL.into_iter().flat_map(|profile| [(profile, false), (profile, true)]) {
        for (n, newcomers, slow) in groups.iter().flat_map(|(n, names)| (0..=*n).map(move |slow| (*n, *names, slow))) {
            let settings = Settings::new(profile, Transport::Fd);
            let mut bus = network_without(settings, Scheme::FullTree, SpareNode::DirectAssignment, n, newcomers);
            bus.set_cost(slow, |_| Duration::from_ms(4));
            bus.looks_at_once = looks_at_once;
            operate(&mut bus, Operation::Admit(places(newcomers)));
            bus.common_key();
            let lacks = EventKind::ExchangeAborted(AbortReason::SecretMissing);
            assert_eq!(bus.count(lacks), 0, "{profile:?} {looks_at_once} {n}: {slow} is slow");
        }
    }
}

#[test]
fn only_what_is_above_the_newcomers_is_renewed() {
    let settings = Settings::new(Profile::Hardened, Transport::Fd);
    let mut bus = network_without(settings, Scheme::FullTree, SpareNode::JoinsHigherLevel, 8, &[3, 4]);
    bus.heard.clear();
    operate(&mut bus, Operation::Admit(places(&[3, 4])));
    bus.common_key();
    // Two pairs, what the two share, and the two logical ECUs above that. A request takes two frames.
    assert_eq!(bus.frames()[&Step::Orchestration], 2 * 5);
}

#[test]
fn all_come_in_or_nobody_does() {
    let settings = Settings::new(Profile::Hardened, Transport::Fd);
    let mut bus = network_without(settings, Scheme::FullTree, SpareNode::JoinsHigherLevel, 5, &[4, 5]);
    let tree_has = |bus: &Bus<Swift>, number| bus.orchestrator().tree().is_present(Address(number));
    // One that is in already, and one whose credential is revoked.
    operate(&mut bus, Operation::Admit(places(&[1, 4])));
    assert!(!tree_has(&bus, 4));
    operate(&mut bus, Operation::Revoke(Address(2)));
    let old = bus.station(0).key();
    operate(&mut bus, Operation::Admit(places(&[2, 4])));
    assert!(!tree_has(&bus, 2) && !tree_has(&bus, 4));
    assert_eq!(bus.count(EventKind::KeyRefused(AbortReason::WrongAddresses)), 2);
    assert_eq!(bus.orchestrator().last_failure().map(|failure| failure.peer), Some(Address(2)));
    assert_eq!(bus.station(0).key(), old);
    operate(&mut bus, Operation::Admit(places(&[4, 5])));
    assert_eq!(bus.station(4).key(), bus.station(0).key());
    assert_ne!(bus.station(0).key(), old);
    // What no roster has is refused at once.
    let now = bus.now;
    let mut schedule = |places| bus.orchestrator_mut().schedule(now, Operation::Admit(places));
    assert_eq!(schedule(Membership::NONE), Err(OperationError::Nobody));
    assert_eq!(schedule(places(&[1, 6])), Err(OperationError::UnknownPlace(5)));
}

#[test]
fn newcomers_learn_no_earlier_key_and_who_was_removed_before_learns_theirs_neither() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for newcomers in [&[5, 6][..], &[1, 4], &[3]] {
                let settings = Settings::new(profile, Transport::Fd);
                let mut bus = network_without(settings, scheme, SpareNode::JoinsHigherLevel, 6, newcomers);
                let first = bus.station(0).key().unwrap();
                let mut removed = Knowledge::<Swift>::new(profile, bus.orchestrator().roster(), bus.first_tree.clone());
                removed.take_from(bus.member(2));
                removed.take_seed(seed(2, 2), DRAWS);
                operate(&mut bus, Operation::Remove(Address(2)));
                let second = bus.station(0).key().unwrap();
                operate(&mut bus, Operation::Admit(places(newcomers)));
                let third = bus.station(0).key().unwrap();
                assert_eq!(BTreeSet::from([first, second, third]).len(), 3);
                let case = format!("{scheme:?} {profile:?} {newcomers:?}");

                // Who was removed has recorded everything, and so has each newcomer.
                bus.heard.iter().for_each(|heard| removed.hear(&heard.frame));
                removed.derive_all();
                assert_eq!([first, second, third].map(|key| removed.gives(&key)), [true, false, false], "{case}");
                for number in newcomers {
                    let station = usize::from(*number);
                    assert_eq!(bus.station(station).key(), Some(third), "{case}");
                    let mut knowledge =
                        Knowledge::<Swift>::new(profile, bus.orchestrator().roster(), bus.first_tree.clone());
                    bus.heard.iter().for_each(|heard| knowledge.hear(&heard.frame));
                    knowledge.take_from(bus.member(station));
                    knowledge.take_seed(seed(2, *number), DRAWS);
                    knowledge.derive_all();
                    let known = [first, second, third].map(|key| knowledge.gives(&key));
                    assert_eq!(known, [false, false, true], "{case}: {number}");
                }
            }
        }
    }
}

#[test]
fn a_newcomer_that_lost_its_power_before_or_after_is_in() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let newcomers = [2, 5];
            let mut bus = network_without(settings, scheme, SpareNode::JoinsHigherLevel, 5, &newcomers);
            let roster = roster::<Swift>(LEAD, 1, 5);
            let reboot = |bus: &mut Bus<Swift>, station: usize, life: u8| {
                let persisted = bus.member(station).persisted();
                let mut config = config(settings, &roster, &bus.first_tree, Address(station as u8));
                config.seed[2] = life;
                let member = chronoseal_groupkey::Member::new(config).unwrap().restored(&persisted);
                bus.replace(station, Station::Member(Box::new(member)));
            };
            reboot(&mut bus, 5, 1);
            operate(&mut bus, Operation::Admit(places(&newcomers)));
            bus.common_key();
            // It is still in when it comes back: the removal of another gives it the new key.
            reboot(&mut bus, 5, 2);
            operate(&mut bus, Operation::Remove(Address(1)));
            let new = bus.station(0).key();
            assert!(new.is_some() && bus.station(1).key() != new);
            assert!((2..=5).all(|station| bus.station(station).key() == new), "{scheme:?} {profile:?}");
        }
    }
}

#[test]
fn an_orchestrator_that_lost_its_power_knows_who_has_come_in() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let mut bus = network_without(settings, scheme, SpareNode::JoinsHigherLevel, 5, &[2, 4, 5]);
            operate(&mut bus, Operation::Admit(places(&[2, 5])));
            let persisted = bus.orchestrator().persisted();
            let roster = roster::<Swift>(LEAD, 1, 5);
            let mut config = config(settings, &roster, &bus.first_tree, LEAD);
            config.seed[2] = 1;
            let orchestrator = Orchestrator::new(config).unwrap().restored(&persisted);
            // It begins with a key for everybody who was in.
            bus.replace(0, Station::Orchestrator(Box::new(orchestrator)));
            let until = bus.now.since_zero() + Duration::from_s(10);
            bus.run(until);
            let new = bus.station(0).key();
            let has_it: Vec<usize> = (1..=5).filter(|station| bus.station(*station).key() == new).collect();
            assert!(new.is_some() && has_it == [1, 2, 3, 5], "{scheme:?} {profile:?}: {has_it:?}");
        }
    }
}
