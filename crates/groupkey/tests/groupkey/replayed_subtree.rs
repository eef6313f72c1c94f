//! The attack that the published protocol leaves open to a removed node: it answers for the renewed half of an exchange
//! with what that half said before the removal, and the untouched half agrees on the old secret again.

use chronoseal_core::{Duration, LocalTime, PortId};
use chronoseal_groupkey::adversary::Replayer;
use chronoseal_groupkey::{Address, Installation, Operation, Profile, Scheme, Settings, Transport};

use crate::bus::{Bus, Station, network};
use crate::swift::Swift;

/// True if a present member takes the key that the removed one has into use again, under a new epoch.
fn brings_the_old_key_back(settings: Settings, scheme: Scheme, n: usize, removed: usize) -> bool {
    let mut bus: Bus<Swift> = network(settings, scheme, n);
    let own: Vec<_> = bus.orchestrator().tree().path(Address(removed as u8)).collect();
    let removed_at = LocalTime::ZERO + Duration::from_s(9);
    bus.push(Station::Other(Box::new(Replayer::new(PortId(0), own, removed_at))));
    bus.start();
    bus.run(Duration::from_s(9));
    let old = bus.station(removed).key();
    let first_epoch = bus.member(removed).group_key().unwrap().epoch;
    // Frames of the attacker come before those of others, who compute.
    for index in 0..=n {
        bus.set_cost(index, |_| Duration::from_ms(2));
    }
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, Operation::Remove(Address(removed as u8))).unwrap();
    bus.wake(0);
    bus.run(now.since_zero() + Duration::from_s(20));
    let is_deceived = |index: &usize| {
        let key = bus.member(*index).group_key().unwrap();
        key.epoch > first_epoch && Some(*key.key.expose()) == old
    };
    (1..=n).filter(|index| *index != removed).any(|index| is_deceived(&index))
}

/// How many of all removals from groups of 3 to 8.
fn counted(settings: Settings, scheme: Scheme) -> (usize, usize) {
    let removals = || (3..=8).flat_map(|n| (1..=n).map(move |removed| (n, removed)));
    let succeed = removals().filter(|(n, removed)| brings_the_old_key_back(settings, scheme, *n, *removed));
    (succeed.count(), removals().count())
}

#[test]
fn as_published_a_removed_node_can_bring_the_old_key_back_and_no_default_lets_it() {
    let published = Settings::new(Profile::AsPublished, Transport::Fd);
    let at_once = Settings { installation: Installation::Unconfirmed, ..published };
    let hardened = Settings::new(Profile::Hardened, Transport::Fd);
    let schemes = [Scheme::FullTree, Scheme::WithoutOrchestrator, Scheme::Symmetric];
    // The symmetric scheme has no half that a removal leaves untouched.
    assert_eq!(schemes.map(|scheme| counted(at_once, scheme)), [(21, 33), (12, 33), (0, 33)]);
    for settings in [published, hardened, Settings { installation: Installation::Unconfirmed, ..hardened }] {
        assert_eq!(schemes.map(|scheme| counted(settings, scheme)), [(0, 33); 3]);
    }
}
