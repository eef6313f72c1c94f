//! Removing, taking back, revoking, merging.

use chronoseal_core::{AbortReason, Duration, EventKind, LocalTime};
use chronoseal_groupkey::{
    Address, Operation, OperationError, Profile, Roster, Scheme, Settings, SpareNode, Step, Transport, Tree,
};

use crate::bus::{Bus, LEAD, Station, network, roster, stations};
use crate::swift::Swift;

fn at(s: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_s(s)
}

/// An established network that then does `operations`, one every ten seconds.
fn after(settings: Settings, scheme: Scheme, n: usize, operations: &[Operation]) -> Bus<Swift> {
    let mut bus = network::<Swift>(settings, scheme, n);
    bus.start();
    bus.run(Duration::from_s(9));
    bus.common_key();
    for operation in operations {
        let now = bus.now;
        bus.orchestrator_mut().schedule(now, *operation).unwrap();
        let until = now.since_zero() + Duration::from_s(10);
        bus.wake(0);
        bus.run(until);
    }
    bus
}

fn key(bus: &Bus<Swift>, index: usize) -> [u8; 16] {
    bus.station(index).key().unwrap()
}

#[test]
fn a_removed_member_is_left_behind_and_the_others_go_on() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [2, 3, 5, 31, 32] {
                for removed in [1, n / 2 + 1, n] {
                    let settings = Settings::new(profile, Transport::Fd);
                    let address = Address(removed as u8);
                    let bus = after(settings, scheme, n, &[Operation::Remove(address)]);
                    let old = key(&bus, removed);
                    let new = key(&bus, 0);
                    assert_ne!(old, new);
                    for index in (0..=n).filter(|index| *index != removed) {
                        assert_eq!(key(&bus, index), new, "{scheme:?} {profile:?} {n} -{removed}: {index}");
                    }
                    assert_eq!(bus.aborts(), []);
                }
            }
        }
    }
}

#[test]
fn removal_renews_the_path_to_the_root_inclusive_and_nothing_else() {
    let settings = Settings::new(Profile::AsPublished, Transport::Fd);
    let bus = after(settings, Scheme::FullTree, 8, &[Operation::Remove(Address(2))]);
    let requests = |bus: &Bus<Swift>| bus.frames()[&Step::Orchestration];
    // 15 exchanges to establish, then the three logical ECUs above the removed one's pair.
    assert_eq!(requests(&bus), 15 + 3);
    let bus = after(settings, Scheme::FullTree, 8, &[Operation::Remove(Address(2)), Operation::Add(Address(2))]);
    // Its pair besides.
    assert_eq!(requests(&bus), 15 + 3 + 4);
    let bus = after(settings, Scheme::Symmetric, 8, &[Operation::Remove(Address(2))]);
    assert_eq!((requests(&bus), bus.frames()[&Step::Distribution]), (8, 2 * (8 + 7)));
}

#[test]
fn a_member_can_come_back() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [2, 3, 5, 32] {
                let settings = Settings::new(profile, Transport::Classical);
                for address in [Address(1), Address(n as u8)] {
                    let bus = after(settings, scheme, n, &[Operation::Remove(address), Operation::Add(address)]);
                    bus.common_key();
                    assert_eq!(bus.aborts(), []);
                }
            }
        }
    }
}

#[test]
fn half_of_the_members_can_go_one_after_the_other() {
    for scheme in Scheme::ALL {
        let settings = Settings::new(Profile::Hardened, Transport::Fd);
        let removals: Vec<_> = [1, 2, 3, 4, 7].map(|number| Operation::Remove(Address(number))).to_vec();
        let bus = after(settings, scheme, 8, &removals);
        let keys: Vec<_> = [0, 5, 6, 8].map(|index| key(&bus, index)).to_vec();
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{scheme:?}");
        for removed in [1, 2, 3, 4, 7] {
            assert_ne!(key(&bus, removed), keys[0]);
        }
        assert_eq!(bus.aborts(), []);
    }
}

#[test]
fn a_member_that_was_never_there_joins() {
    for scheme in Scheme::ALL {
        let settings = Settings::new(Profile::Hardened, Transport::Fd);
        let roster = roster::<Swift>(LEAD, 1, 5);
        let mut tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).unwrap();
        tree.apply(chronoseal_groupkey::MembershipChange::Vacated(Address(4)));
        let mut bus = Bus::new(stations(settings, &roster, &tree));
        for index in [0, 1, 2, 3, 5] {
            bus.start_one(index);
        }
        bus.run(Duration::from_s(5));
        assert_eq!(bus.station(4).key(), None);
        assert_eq!(key(&bus, 0), key(&bus, 5));
        bus.start_one(4);
        bus.orchestrator_mut().schedule(at(5), Operation::Add(Address(4))).unwrap();
        bus.wake(0);
        bus.run(Duration::from_s(10));
        bus.common_key();
    }
}

#[test]
fn a_revoked_member_does_not_come_back() {
    let settings = Settings::new(Profile::Hardened, Transport::Fd);
    let bus = after(settings, Scheme::FullTree, 3, &[Operation::Revoke(Address(2)), Operation::Add(Address(2))]);
    assert_eq!(bus.count(EventKind::KeyRefused(AbortReason::WrongAddresses)), 1);
    assert_eq!(bus.orchestrator().last_failure().map(|failure| failure.peer), Some(Address(2)));
    assert_ne!(key(&bus, 2), key(&bus, 0));
    assert_eq!(key(&bus, 1), key(&bus, 0));
}

#[test]
fn operations_that_make_no_sense_are_refused_and_change_nothing() {
    let settings = Settings::new(Profile::Hardened, Transport::Fd);
    let mut bus = after(settings, Scheme::FullTree, 2, &[Operation::Remove(Address(1))]);
    let old = key(&bus, 0);
    assert_eq!(
        bus.orchestrator_mut().schedule(at(0), Operation::Add(Address(9))),
        Err(OperationError::UnknownAddress(Address(9)))
    );
    for refused in
        [Operation::Remove(Address(1)), Operation::Remove(Address(2)), Operation::Add(Address(2)), Operation::Merge]
    {
        let now = bus.now;
        bus.orchestrator_mut().schedule(now, refused).unwrap();
    }
    bus.wake(0);
    bus.run(Duration::from_s(40));
    assert_eq!(bus.count(EventKind::KeyRefused(AbortReason::WrongAddresses)), 4);
    assert_eq!(key(&bus, 0), old);
    assert_eq!(key(&bus, 2), old);
}

/// Two networks with orchestrators of their own on one bus; the second's becomes a member of the first.
#[test]
fn two_networks_merge() {
    for scheme in [Scheme::FullTree, Scheme::WithoutOrchestrator] {
        for profile in Profile::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let rosters: [Roster<Swift>; 2] = [roster(LEAD, 1, 4), roster(Address(251), 101, 3)];
            let first = Tree::new(&rosters[0], scheme, SpareNode::JoinsHigherLevel).unwrap();
            let second = Tree::new(&rosters[1], scheme, SpareNode::JoinsHigherLevel).unwrap();
            assert!(first.merged_with(&second).is_err());
            let second = second.renumbered(&first).unwrap();
            let mut bus = Bus::new(stations(settings, &rosters[0], &first));
            let mut other = Bus::new(stations(settings, &rosters[1], &second));
            for bus in [&mut bus, &mut other] {
                bus.start();
                bus.run(Duration::from_s(5));
            }
            let old = [bus.common_key(), other.common_key()];
            assert_ne!(old[0], old[1]);

            let merged = rosters[0].merged_with(&rosters[1]).unwrap();
            let tree = first.merged_with(&second).unwrap();
            bus.orchestrator_mut().merge_into(merged.clone(), tree.clone());
            for index in 1..bus.len() {
                bus.member_mut(index).merge_into(merged.clone(), tree.clone());
            }
            for station in other.into_stations() {
                let member = match station {
                    Station::Orchestrator(node) => (*node).retire(merged.clone(), tree.clone()),
                    Station::Member(mut node) => {
                        node.merge_into(merged.clone(), tree.clone());
                        *node
                    }
                    Station::Other(_) => unreachable!("a network has no others"),
                };
                let index = bus.push(Station::Member(Box::new(member)));
                bus.start_one(index);
            }
            bus.heard.clear();
            let now = bus.now;
            bus.orchestrator_mut().schedule(now, Operation::Merge).unwrap();
            bus.orchestrator_mut().schedule(now + Duration::from_s(1), Operation::Remove(Address(102))).unwrap();
            bus.wake(0);
            bus.run(Duration::from_ms(5900));
            let new = bus.common_key();
            assert!(!old.contains(&new));
            assert_eq!(bus.frames()[&Step::ShareFirst], 1);
            // The first network's orchestrator now also removes members of the second.
            bus.run(Duration::from_s(20));
            assert_eq!(bus.keys().len(), 2);
            assert_eq!(bus.member(6).address(), Address(101));
            assert_eq!(key(&bus, 7), new);
            assert_eq!(bus.aborts(), []);
        }
    }
}

#[test]
fn networks_with_common_addresses_do_not_merge() {
    let rosters: [Roster<Swift>; 2] = [roster(LEAD, 1, 4), roster(Address(251), 4, 3)];
    assert!(matches!(
        rosters[0].merged_with(&rosters[1]),
        Err(chronoseal_groupkey::RosterError::DuplicateAddress(Address(4)))
    ));
}
