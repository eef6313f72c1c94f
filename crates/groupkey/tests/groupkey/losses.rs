//! Frames that get lost, and members that do not answer.

use chronoseal_core::{AbortReason, Duration, EventKind};
use chronoseal_groupkey::{Address, OrchestrationSigning, Profile, Scheme, Settings, Stage, Step, Transport};
use chronoseal_wire::can::CanFrame;
use proptest::prelude::*;

use crate::bus::{Bus, network};
use crate::swift::Swift;

const STEPS: [Step; 8] = [
    Step::Orchestration,
    Step::ShareFirst,
    Step::ShareSecond,
    Step::ConfirmationFirst,
    Step::ConfirmationSecond,
    Step::Distribution,
    Step::Ready,
    Step::Commit,
];

/// The frame with this number among those of `step` is lost for everybody.
fn lose(bus: &mut Bus<Swift>, step: Step, number: usize) {
    let mut count = 0;
    let mut last = None;
    bus.fault = Some(Box::new(move |heard, to| {
        // Called for every receiver of a frame: a new frame begins with a receiver that is not higher.
        let is_new = last.is_none_or(|last| to <= last);
        last = Some(to);
        if heard.identifier().is_some_and(|identifier| identifier.step == step) {
            count += usize::from(is_new);
            return (count != number + 1).then_some(heard.frame);
        }
        Some(heard.frame)
    }));
}

#[test]
fn one_lost_frame_of_any_step_is_made_good() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for transport in Transport::ALL {
                for step in STEPS {
                    for number in [0, 1, 3] {
                        let mut bus = network::<Swift>(Settings::new(profile, transport), scheme, 4);
                        lose(&mut bus, step, number);
                        bus.start();
                        bus.run(Duration::from_s(20));
                        bus.common_key();
                    }
                }
            }
        }
    }
}

#[test]
fn a_dead_member_is_named_with_the_stage() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), scheme, 4);
            for index in [0, 1, 2, 4] {
                bus.start_one(index);
            }
            bus.run(Duration::from_s(30));
            assert_eq!(bus.count(EventKind::KeyInstalled), 0);
            let failure = bus.orchestrator().last_failure().unwrap();
            assert_eq!((failure.stage, failure.peer), (Stage::Shares, Address(3)), "{scheme:?} {failure}");
            assert_eq!(failure.reason, AbortReason::ShareMissing);
            assert!(bus.count(EventKind::KeyRefused(AbortReason::ShareMissing)) > 0);
            // The request and two repetitions.
            let asked = bus.heard.iter().filter_map(|heard| heard.identifier()).filter(|identifier| {
                identifier.step == Step::Orchestration && identifier.result == failure.exchange.result
            });
            let frames = if profile == Profile::Hardened { 2 } else { 1 };
            assert_eq!(asked.count(), 3 * frames);
        }
    }
}

#[test]
fn a_member_that_dies_after_its_share_is_named_with_the_stage() {
    for (step, stage, reason) in [
        (Step::ConfirmationFirst, Stage::Confirmations, AbortReason::ConfirmationMissing),
        (Step::Ready, Stage::Installation, AbortReason::ReadyMissing),
    ] {
        let mut bus = network::<Swift>(Settings::new(Profile::AsPublished, Transport::Fd), Scheme::FullTree, 3);
        bus.fault = Some(Box::new(move |heard, _| {
            let is_lost = heard.identifier().is_some_and(|identifier| identifier.step == step) && heard.from == 1;
            (!is_lost).then_some(heard.frame)
        }));
        bus.start();
        bus.run(Duration::from_s(30));
        let failure = bus.orchestrator().last_failure().unwrap();
        assert_eq!((failure.stage, failure.peer, failure.reason), (stage, Address(1), reason), "{failure}");
        assert_eq!(bus.count(EventKind::KeyInstalled), 0);
    }
}

#[test]
fn the_old_key_stays_when_a_run_fails_and_the_next_run_makes_it_good() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), scheme, 5);
            bus.start();
            bus.run(Duration::from_s(9));
            let old = bus.common_key();
            let operate = |bus: &mut Bus<Swift>, operation, until| {
                let now = bus.now;
                bus.orchestrator_mut().schedule(now, operation).unwrap();
                bus.wake(0);
                bus.run(Duration::from_s(until));
            };
            // Member 5 is cut off.
            bus.fault = Some(Box::new(|heard, to| (heard.from != 5 && to != 5).then_some(heard.frame)));
            operate(&mut bus, chronoseal_groupkey::Operation::Establish, 40);
            assert_eq!(bus.common_key(), old, "{scheme:?} {profile:?}");
            bus.fault = None;
            operate(&mut bus, chronoseal_groupkey::Operation::Establish, 80);
            assert_ne!(bus.common_key(), old);
        }
    }
}

/// A silent member's pair is begun anew when every member has had the master secret, and they all need the new one.
#[test]
fn a_repeated_pair_costs_the_symmetric_scheme_no_round_of_waiting() {
    for profile in Profile::ALL {
        let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), Scheme::Symmetric, 4);
        let mut left = 2;
        bus.fault = Some(Box::new(move |heard, to| {
            let is_ready = heard.identifier().is_some_and(|identifier| identifier.step == Step::Ready);
            let is_lost = is_ready && heard.from == 3 && left > 0;
            left -= usize::from(is_lost && to == 0);
            (!is_lost).then_some(heard.frame)
        }));
        bus.start();
        bus.run(Duration::from_ms(1900));
        assert_eq!(bus.count(EventKind::KeyInstalled), 0);
        // Two frames for each of four members, and once more for the silent one.
        assert_eq!(bus.frames()[&Step::Distribution], 2 * 5);
        // As published it waits for the next timestamp but one.
        bus.run(Duration::from_ms(if profile == Profile::Hardened { 2200 } else { 3200 }));
        bus.common_key();
        assert_eq!(bus.frames()[&Step::Distribution], 2 * (5 + 4));
    }
}

/// The orchestrator listens to the last exchange and is the only one that cannot read it.
#[test]
fn the_orchestrator_does_not_wait_for_ever_for_an_exchange_that_it_could_not_follow() {
    for scheme in [Scheme::FullTree, Scheme::WithoutOrchestrator] {
        for profile in Profile::ALL {
            let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), scheme, 8);
            let root = bus.orchestrator().tree().root().unwrap();
            let mut left = 1;
            bus.fault = Some(Box::new(move |heard, to| {
                let identifier = heard.identifier()?;
                let is_it = identifier.result == root && identifier.step == Step::ConfirmationFirst;
                if to != 0 || !is_it || left == 0 {
                    return Some(heard.frame);
                }
                left -= 1;
                Some(CanFrame::fd(heard.frame.id(), &heard.frame.data()[..20], true).unwrap())
            }));
            bus.start();
            bus.run(Duration::from_s(20));
            assert!(!bus.orchestrator().is_busy(), "{scheme:?} {profile:?}");
            bus.common_key();
        }
    }
}

#[test]
fn a_run_along_the_fixed_tree_fails_as_a_whole() {
    let settings = Settings {
        signing: OrchestrationSigning::Once,
        run_timeout: Duration::from_s(3),
        ..Settings::new(Profile::Hardened, Transport::Fd)
    };
    let mut bus = network::<Swift>(settings, Scheme::WithoutOrchestrator, 5);
    lose(&mut bus, Step::ShareSecond, 2);
    bus.start();
    bus.run(Duration::from_s(20));
    assert_eq!(bus.count(EventKind::KeyInstalled), 0);
    assert_eq!(bus.orchestrator().last_failure().map(|failure| failure.stage), Some(Stage::Shares));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is lost for whomever: all members have one new key, or all that have one have the old one and the
    /// orchestrator says what failed. A member may be left without the new key only if it lost the orchestrator's word.
    #[test]
    fn no_loss_makes_two_new_keys(
        scheme in prop::sample::select(Scheme::ALL.to_vec()),
        profile in prop::sample::select(Profile::ALL.to_vec()),
        transport in prop::sample::select(Transport::ALL.to_vec()),
        losses in prop::collection::btree_set((0usize..400, 0usize..6), 0..12),
    ) {
        let mut bus = network::<Swift>(Settings::new(profile, transport), scheme, 5);
        let mut last = None;
        let mut number = 0;
        bus.fault = Some(Box::new(move |heard, to| {
            number += usize::from(last.is_some_and(|last| to <= last));
            last = Some(to);
            (!losses.contains(&(number, to))).then_some(heard.frame)
        }));
        bus.start();
        bus.run(Duration::from_s(60));
        let keys: std::collections::BTreeSet<_> = bus.keys().into_iter().flatten().collect();
        prop_assert!(keys.len() <= 1, "{keys:?}");
        let holders = bus.count(EventKind::KeyInstalled);
        prop_assert!(holders == 6 || bus.orchestrator().last_failure().is_some() || !bus.aborts().is_empty());
    }
}

/// As published an epoch is the number of a second and may be one ahead. A third request in one second waits for the next.
#[test]
fn requests_that_are_repeated_faster_than_seconds_pass_wait_for_an_epoch_of_their_own() {
    let settings = Settings {
        exchange_timeout: Duration::from_ms(100),
        retries_max: 5,
        ..Settings::new(Profile::AsPublished, Transport::Fd)
    };
    let mut bus = network::<Swift>(settings, Scheme::FullTree, 3);
    bus.fault = Some(Box::new(|heard, _| (heard.from == 0).then_some(heard.frame)));
    bus.start();
    bus.run(Duration::from_ms(300));
    bus.fault = None;
    bus.run(Duration::from_ms(990));
    assert!(bus.installed.is_empty(), "epochs 1 and 2 were begun, and 3 may not be used yet");
    // The next second brings it, and with it the key at once.
    bus.run(Duration::from_ms(1_050));
    bus.common_key();
    assert_eq!(bus.installed.iter().map(|installed| installed.epoch).collect::<Vec<_>>(), [3; 4]);
}
