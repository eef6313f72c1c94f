//! What a removed, a new and a foreign node can derive from all they hold and all that was on the bus.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_crypto::suite::{FourQ, Suite};
use chronoseal_groupkey::adversary::Knowledge;
use chronoseal_groupkey::{Address, Operation, Profile, Scheme, Settings, Transport};

use crate::bus::{Bus, LEAD, network, seed};
use crate::swift::Swift;

/// Private keys any member draws in these tests, and some more.
const DRAWS: usize = 12;

fn knowledge_of<S: Suite>(bus: &Bus<S>, profile: Profile, before: &[&[u8; 16]]) -> Knowledge<S> {
    let mut knowledge = Knowledge::new(profile, bus.orchestrator().roster(), bus.first_tree.clone());
    bus.heard.iter().for_each(|heard| knowledge.hear(&heard.frame));
    assert!(before.iter().all(|key| !knowledge.gives(key)), "knows keys before it was told anything");
    knowledge
}

fn operate<S: Suite>(bus: &mut Bus<S>, operation: Operation) {
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, operation).unwrap();
    bus.wake(0);
    bus.run(now.since_zero() + Duration::from_s(5));
}

fn removed_member_is_shut_out<S: Suite>(scheme: Scheme, profile: Profile, n: usize, removed: usize) {
    let mut bus = network::<S>(Settings::new(profile, Transport::Fd), scheme, n);
    bus.start();
    bus.run(Duration::from_s(9));
    let old = bus.common_key();
    let root_before = bus
        .orchestrator()
        .tree()
        .root()
        .map(|root| *bus.orchestrator().logical_secret(root).expect("it follows the root").expose());

    // Everything it holds while it is a member, before any of it is wiped.
    let mut held = knowledge_of(&bus, profile, &[&old]);
    held.take_from(bus.member(removed));
    held.take_seed(seed(2, removed as u8), DRAWS);

    let first_frame = bus.heard.len();
    operate(&mut bus, Operation::Remove(Address(removed as u8)));
    let new = bus.station(0).key().unwrap();
    assert_ne!(new, old);
    let root_after = bus
        .orchestrator()
        .tree()
        .root()
        .map(|root| *bus.orchestrator().logical_secret(root).expect("it follows the root").expose());
    assert!(root_before.is_none() || root_before != root_after, "the root has to be renewed");

    // And all frames, those of the removal included, and what it may have kept afterwards.
    bus.heard[first_frame..].iter().for_each(|heard| held.hear(&heard.frame));
    held.take_from(bus.member(removed));
    held.take_seed(seed(2, removed as u8), DRAWS);
    let secrets = held.derive_all();
    assert!(held.gives(&old), "{scheme:?}: the derivation finds the key it was a member for, among {secrets} secrets");
    assert!(!held.gives(&new), "{scheme:?} {profile:?} {n} -{removed}: a removed member knows the new key");

    // The same derivation does find the new key for whoever is still a member.
    let present = if removed == 1 { 2 } else { 1 };
    let mut member = knowledge_of(&bus, profile, &[&old, &new]);
    member.take_seed(seed(2, present as u8), DRAWS);
    member.derive_all();
    assert!(member.gives(&new), "{scheme:?} {profile:?} {n} -{removed}: the derivation is too weak to prove anything");
    assert!(member.gives(&old));
}

#[test]
fn a_removed_member_cannot_derive_the_new_key() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [2, 3, 5, 31] {
                let everyone: Vec<_> = if n <= 5 { (1..=n).collect() } else { vec![1, n] };
                for removed in everyone {
                    removed_member_is_shut_out::<Swift>(scheme, profile, n, removed);
                }
            }
        }
    }
}

#[test]
fn nor_can_one_of_85() {
    for profile in Profile::ALL {
        removed_member_is_shut_out::<Swift>(Scheme::FullTree, profile, 85, 43);
    }
}

#[test]
fn nor_with_the_suite_of_the_source() {
    for scheme in Scheme::ALL {
        removed_member_is_shut_out::<FourQ>(scheme, Profile::AsPublished, 3, 2);
        removed_member_is_shut_out::<FourQ>(scheme, Profile::Hardened, 3, 2);
    }
}

#[test]
fn a_member_that_comes_back_does_not_learn_the_keys_it_missed() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [3, 5, 32] {
                let number = n as u8 - 1;
                let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), scheme, n);
                bus.start();
                bus.run(Duration::from_s(9));
                operate(&mut bus, Operation::Remove(Address(number)));
                let missed_first = bus.station(0).key().unwrap();
                operate(&mut bus, Operation::Remove(Address(1)));
                let missed_second = bus.station(0).key().unwrap();
                operate(&mut bus, Operation::Add(Address(number)));
                let current = bus.station(0).key().unwrap();
                let distinct = BTreeSet::from([missed_first, missed_second, current]);
                assert_eq!(distinct.len(), 3);

                let mut knowledge = knowledge_of(&bus, profile, &[&missed_first, &missed_second, &current]);
                knowledge.take_from(bus.member(usize::from(number)));
                knowledge.take_seed(seed(2, number), DRAWS);
                knowledge.derive_all();
                assert!(knowledge.gives(&current), "{scheme:?} {profile:?} {n}");
                assert!(!knowledge.gives(&missed_first), "{scheme:?} {profile:?} {n}");
                assert!(!knowledge.gives(&missed_second), "{scheme:?} {profile:?} {n}");
            }
        }
    }
}

#[test]
fn a_new_member_does_not_learn_earlier_keys() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let roster = crate::bus::roster::<Swift>(LEAD, 1, 5);
            let spare = chronoseal_groupkey::SpareNode::JoinsHigherLevel;
            let mut tree = chronoseal_groupkey::Tree::new(&roster, scheme, spare).unwrap();
            tree.apply(chronoseal_groupkey::MembershipChange::Vacated(Address(3)));
            let mut bus = Bus::new(crate::bus::stations(settings, &roster, &tree));
            bus.start();
            bus.run(Duration::from_s(9));
            let earlier = bus.station(0).key().unwrap();
            operate(&mut bus, Operation::Add(Address(3)));
            let current = bus.common_key();
            let mut knowledge = knowledge_of(&bus, profile, &[&earlier, &current]);
            knowledge.take_from(bus.member(3));
            knowledge.take_seed(seed(2, 3), DRAWS);
            knowledge.derive_all();
            assert!(knowledge.gives(&current));
            assert!(!knowledge.gives(&earlier));
        }
    }
}

/// Forward secrecy that the source does not give: who later learns the secret of one logical ECU derives what was agreed
/// with it as the private key.
#[test]
fn a_logical_secret_gives_away_everything_above_it_until_it_is_renewed() {
    for profile in Profile::ALL {
        let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), Scheme::FullTree, 8);
        bus.start();
        bus.run(Duration::from_s(9));
        operate(&mut bus, Operation::Remove(Address(1)));
        let current = bus.station(0).key().unwrap();
        // What member 8 drew for its pair, months ago.
        let mut thief = knowledge_of(&bus, profile, &[&current]);
        thief.take_seed(seed(2, 8), 1);
        thief.derive_all();
        assert!(thief.gives(&current));
    }
}
