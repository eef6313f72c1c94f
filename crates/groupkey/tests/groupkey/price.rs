//! What a frame that nobody signed costs a member.

use chronoseal_core::Duration;
use chronoseal_groupkey::{Address, Identifier, Membership, Operation, Profile, Scheme, Settings, Step, Transport};
use chronoseal_wire::can::{CanFrame, CanId, Dlc};

use crate::bus::{Bus, network};
use crate::swift::Swift;
use crate::unsigned::operate;

const MEMBER: usize = 1;
const VERIFICATION: Duration = Duration::from_ms(10);

fn established(profile: Profile, scheme: Scheme) -> Bus<Swift> {
    let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), scheme, 4);
    bus.start();
    bus.run(Duration::from_s(9));
    bus.common_key();
    bus.set_cost(MEMBER, |operation| if operation == "verify" { VERIFICATION } else { Duration::ZERO });
    bus
}

/// A request that is right in everything but its signature.
fn request(bus: &Bus<Swift>, profile: Profile) -> Vec<u8> {
    let now_ms = (bus.now.since_zero().as_ps() / 1_000_000_000) as u32;
    let members = Membership::of(bus.orchestrator().roster(), bus.orchestrator().tree()).to_bytes();
    let before = match profile {
        Profile::AsPublished => vec![],
        Profile::Hardened => [&1000u32.to_be_bytes()[..], &now_ms.to_be_bytes(), &members].concat(),
    };
    [before, vec![7; 64]].concat()
}

fn send(bus: &mut Bus<Swift>, identifier: Identifier, message: &[u8]) {
    for piece in message.chunks(64) {
        let mut data = piece.to_vec();
        data.resize(Dlc::holding(piece.len()).unwrap().fd_len(), 0);
        bus.inject(&CanFrame::fd(CanId::Extended(identifier.can_id()), &data, true).unwrap());
    }
}

fn verifications(bus: &Bus<Swift>) -> usize {
    bus.works.get(&(MEMBER, "verify")).copied().unwrap_or(0)
}

fn first_request(bus: &Bus<Swift>) -> Identifier {
    let tree = bus.orchestrator().tree();
    tree.exchange(tree.parent(Address(MEMBER as u8)).unwrap()).unwrap().message(Step::Orchestration)
}

#[test]
fn a_forged_request_costs_one_verification_hardened_and_at_most_five_as_published() {
    for scheme in Scheme::ALL {
        for (profile, least, most) in [(Profile::Hardened, 1, 1), (Profile::AsPublished, 2, 5)] {
            let mut bus = established(profile, scheme);
            let before = verifications(&bus);
            let (identifier, message) = (first_request(&bus), request(&bus, profile));
            send(&mut bus, identifier, &message);
            bus.run(Duration::from_s(12));
            let cost = verifications(&bus) - before;
            assert!((least..=most).contains(&cost), "{scheme:?} {profile:?}: {cost}");
        }
    }
}

#[test]
fn a_hardened_request_without_a_timely_stamp_and_a_forged_master_secret_cost_none() {
    let mut bus = established(Profile::Hardened, Scheme::Symmetric);
    let before = verifications(&bus);
    let identifier = first_request(&bus);
    send(&mut bus, identifier, &[0; 88]);
    let stamp = &request(&bus, Profile::Hardened)[..8];
    let delivery = [stamp, &[7; 112]].concat();
    send(&mut bus, Identifier { step: Step::Distribution, ..identifier }, &delivery);
    bus.run(Duration::from_s(12));
    assert_eq!(verifications(&bus), before);
}

/// Nothing but the bus limits how many come. Each costs what one costs, and when they are over the group goes on.
#[test]
fn a_flood_of_forged_requests_costs_each_what_one_costs_and_ends() {
    const FORGED: usize = 100;
    for scheme in Scheme::ALL {
        for (profile, each) in [(Profile::Hardened, 1), (Profile::AsPublished, 5)] {
            let mut bus = established(profile, scheme);
            let (before, old) = (verifications(&bus), bus.station(0).key());
            let (identifier, message) = (first_request(&bus), request(&bus, profile));
            for _ in 0..FORGED {
                send(&mut bus, identifier, &message);
            }
            bus.run(Duration::from_s(16));
            let cost = verifications(&bus) - before;
            assert!((1..=FORGED * each).contains(&cost), "{scheme:?} {profile:?}: {cost}");
            operate(&mut bus, Operation::Establish);
            assert_ne!(Some(bus.common_key()), old, "{scheme:?} {profile:?}");
        }
    }
}
