//! One frame that nobody signed ends no run, though a member is so slow that its messages of an exchange that was given up
//! would fall into the next.

use chronoseal_core::Duration;
use chronoseal_groupkey::adversary::{Adversary, Attack};
use chronoseal_groupkey::{Address, ExchangeId, OrchestrationSigning, Profile, Scheme, Settings, Step, Transport};
use chronoseal_wire::can::{CanFrame, CanId};

use crate::bus::{Bus, Station, network};
use crate::swift::Swift;

const SLOW: usize = 2;

/// An exchange takes this member most of the second that the orchestrator gives it.
fn slowly(operation: &str) -> Duration {
    let is_symmetric = operation.contains("cmac") || operation.contains("aes");
    Duration::from_ms(if is_symmetric { 1 } else { 190 })
}

/// A run in which `frame` of each exchange that the slow member is in comes once, and whether it comes to a key.
fn succeeds(settings: Settings, scheme: Scheme, at: Duration, frame: impl Fn(ExchangeId) -> CanFrame) -> bool {
    let mut bus: Bus<Swift> = network(settings, scheme, 3);
    bus.set_cost(SLOW, slowly);
    bus.start();
    bus.run(at);
    let tree = bus.orchestrator().tree().clone();
    let first = tree.path(Address(SLOW as u8)).next().and_then(|result| tree.exchange(result));
    bus.inject(&frame(first.expect("nobody has been removed")));
    bus.run(Duration::from_s(25));
    let key = bus.station(0).key();
    key.is_some() && (1..=3).all(|index| bus.station(index).key() == key)
}

fn everywhere(step: Step, signings: &[OrchestrationSigning], data: &[u8]) {
    for profile in Profile::ALL {
        for scheme in Scheme::ALL {
            for &signing in signings {
                let settings = Settings { signing, ..Settings::new(profile, Transport::Fd) };
                for at in (0..1300).step_by(130).map(Duration::from_ms) {
                    let frame =
                        |id: ExchangeId| CanFrame::fd(CanId::Extended(id.message(step).can_id()), data, true).unwrap();
                    assert!(
                        succeeds(settings, scheme, at, frame),
                        "{profile:?} {scheme:?} {signing:?}: a {step:?} after {at} ends the run"
                    );
                }
            }
        }
    }
}

/// A member of a pair that refuses a confirmation has no channel for the master secret, and says nothing when it comes. It has
/// said why, so it is not given another second to find what it does not have.
#[test]
fn a_confirmation_that_nobody_sent_costs_one_second() {
    for profile in Profile::ALL {
        for scheme in Scheme::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let mut bus: Bus<Swift> = network(settings, scheme, 3);
            let adversary = Adversary::new::<Swift>(settings, Attack::ForgedConfirmation, 1);
            bus.push(Station::Other(Box::new(adversary)));
            bus.start();
            bus.run(Duration::from_ms(1500));
            let key = bus.station(0).key();
            assert!(key.is_some() && (1..=3).all(|index| bus.station(index).key() == key), "{profile:?} {scheme:?}");
        }
    }
}

const REPAIRED: [OrchestrationSigning; 2] = [OrchestrationSigning::PerStep, OrchestrationSigning::Ahead];

#[test]
fn a_report_of_failure_that_nobody_made_changes_nothing() {
    let all = [OrchestrationSigning::PerStep, OrchestrationSigning::Ahead, OrchestrationSigning::Once];
    everywhere(Step::Abort, &all, &[1, 1, SLOW as u8]);
}

#[test]
fn a_share_that_nobody_sent_costs_one_repetition() {
    everywhere(Step::ShareFirst, &REPAIRED, &[7; 32]);
    everywhere(Step::ShareSecond, &REPAIRED, &[7; 32]);
}

#[test]
fn a_frame_that_is_no_piece_of_a_message_costs_one_repetition() {
    everywhere(Step::ShareFirst, &REPAIRED, &[7; 8]);
    everywhere(Step::ConfirmationFirst, &REPAIRED, &[7; 8]);
}
