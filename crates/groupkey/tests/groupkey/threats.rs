//! What an adversary on the bus can do: have runs fail, never have a key installed that it knows or that others lack.

use chronoseal_core::{AbortReason, Duration, EventKind};
use chronoseal_crypto::suite::{FourQ, P256, Share, Suite, X25519Ed25519};
use chronoseal_groupkey::adversary::{Adversary, Attack};
use chronoseal_groupkey::{Address, Installation, Operation, Profile, Scheme, Settings, Step, Transport};
use chronoseal_wire::can::{CanFrame, CanId, Dlc};
use proptest::prelude::*;

use crate::bus::{Bus, LEAD, Station, network};
use crate::swift::{SMALL_ORDER_SHARE, Swift};

const ALWAYS: u32 = 1000;

/// A network of three and an adversary whose frames come before those of member `slow`, which computes slowly.
fn attacked<S: Suite>(settings: Settings, attack: Attack, slow: usize) -> Bus<S> {
    let mut bus = network::<S>(settings, Scheme::WithoutOrchestrator, 3);
    let adversary = Adversary::new::<S>(settings, attack, ALWAYS);
    bus.push(Station::Other(Box::new(adversary)));
    bus.set_cost(slow, |_| Duration::from_ms(20));
    bus.start();
    bus.run(Duration::from_s(20));
    bus
}

/// Nobody but perhaps the adversary has anything.
#[track_caller]
fn assert_nothing_installed<S: Suite>(bus: &Bus<S>, reason: AbortReason) {
    for index in 0..=3 {
        assert_eq!(bus.station(index).key(), None, "station {index}");
    }
    assert_eq!(bus.count(EventKind::KeyInstalled), 0);
    assert!(bus.count(EventKind::ExchangeAborted(reason)) > 0, "{:x?}", bus.aborts());
    assert_eq!(bus.orchestrator().last_failure().map(|failure| failure.reason), Some(reason));
    let told = bus.events.iter().filter(|(_, event)| matches!(event.kind, EventKind::Attacked(_))).count();
    assert!(told > 0, "the adversary did nothing");
}

fn everywhere(check: impl Fn(Settings)) {
    for profile in Profile::ALL {
        for transport in Transport::ALL {
            check(Settings::new(profile, transport));
        }
    }
}

/// Member 2 is the second operand of the first exchange.
const SECOND: usize = 2;

#[test]
fn refuses_a_reflected_share() {
    everywhere(|settings| {
        let bus = attacked::<Swift>(settings, Attack::ReflectedShare, SECOND);
        assert_nothing_installed(&bus, AbortReason::ReflectedShare);
        let failure = bus.orchestrator().last_failure().unwrap();
        assert_eq!((failure.exchange.first, failure.exchange.second), (Address(1), Address(2)));
    });
}

#[test]
fn refuses_a_share_of_small_order() {
    everywhere(|settings| {
        let attack = Attack::ForgedShare(Share::new(&SMALL_ORDER_SHARE).unwrap());
        assert_nothing_installed(&attacked::<Swift>(settings, attack, SECOND), AbortReason::SmallOrderShare);
    });
    // The neutral point of FourQ, and the point of order two of Curve25519.
    let settings = Settings::new(Profile::AsPublished, Transport::Fd);
    let mut share = [0; 32];
    share[0] = 1;
    let attack = Attack::ForgedShare(Share::new(&share).unwrap());
    assert_nothing_installed(&attacked::<FourQ>(settings, attack, SECOND), AbortReason::SmallOrderShare);
    let attack = Attack::ForgedShare(Share::new(&[0; 32]).unwrap());
    assert_nothing_installed(&attacked::<X25519Ed25519>(settings, attack, SECOND), AbortReason::SmallOrderShare);
}

#[test]
fn refuses_a_share_that_is_no_point() {
    let settings = Settings::new(Profile::Hardened, Transport::Classical);
    let attack = Attack::ForgedShare(Share::new(&[0xff; 32]).unwrap());
    assert_nothing_installed(&attacked::<Swift>(settings, attack, SECOND), AbortReason::ShareNotAPoint);
    let attack = Attack::ForgedShare(Share::new(&[0xff; 33]).unwrap());
    assert_nothing_installed(&attacked::<P256>(settings, attack, SECOND), AbortReason::ShareNotAPoint);
}

#[test]
fn refuses_a_share_of_an_adversary_that_takes_part_well() {
    everywhere(|settings| {
        // A share whose private key the adversary knows; all that is missing is a signature.
        let share = Swift::share(&Swift::secret(&[7; 32]));
        let bus = attacked::<Swift>(settings, Attack::ForgedShare(share), SECOND);
        let reason = match settings.profile {
            Profile::AsPublished => AbortReason::SignatureRefused,
            Profile::Hardened => AbortReason::ConfirmationRefused,
        };
        assert_nothing_installed(&bus, reason);
    });
}

#[test]
fn refuses_a_truncated_confirmation() {
    everywhere(|settings| {
        let bus = attacked::<Swift>(settings, Attack::TruncatedConfirmation, SECOND);
        assert_nothing_installed(&bus, AbortReason::WrongLength);
    });
}

#[test]
fn refuses_a_forged_confirmation() {
    everywhere(|settings| {
        let bus = attacked::<Swift>(settings, Attack::ForgedConfirmation, SECOND);
        let reason = match settings.profile {
            Profile::AsPublished => AbortReason::SignatureRefused,
            Profile::Hardened => AbortReason::ConfirmationRefused,
        };
        assert_nothing_installed(&bus, reason);
    });
}

/// The orchestrator hears that somebody speaks in its name, and the members refuse; the run itself goes on.
#[track_caller]
fn assert_refused_in_passing(bus: &Bus<Swift>, reason: AbortReason) {
    let keys: std::collections::BTreeSet<_> = (0..=3).map(|index| bus.station(index).key()).collect();
    assert_eq!(keys.len(), 1, "{:x?}", bus.aborts());
    let aborts = bus.aborts();
    let at_members =
        aborts.iter().filter(|(index, event)| *index != 0 && event.kind == EventKind::ExchangeAborted(reason));
    assert!(at_members.count() > 0, "{:x?}", bus.aborts());
    assert!(bus.aborts().iter().any(|(index, _)| *index == 0), "the orchestrator does not tell");
    assert_eq!(bus.count(EventKind::KeyInstalled), 4);
}

#[test]
fn refuses_swapped_addresses() {
    everywhere(|settings| {
        let bus = attacked::<Swift>(settings, Attack::SwappedAddresses, SECOND);
        assert_refused_in_passing(&bus, AbortReason::WrongAddresses);
    });
}

#[test]
fn refuses_an_impersonated_orchestrator() {
    everywhere(|settings| {
        let mut bus = network::<Swift>(settings, Scheme::WithoutOrchestrator, 3);
        let tree = bus.orchestrator().tree();
        let victims = tree.exchange(tree.results().next().unwrap()).unwrap();
        let adversary = Adversary::new::<Swift>(settings, Attack::ImpersonatedOrchestrator(victims), 1);
        bus.push(Station::Other(Box::new(adversary)));
        for index in 1..=4 {
            bus.start_one(index);
        }
        bus.run(Duration::from_s(5));
        assert_eq!(bus.count(EventKind::ExchangeAborted(AbortReason::OrchestrationRefused)), 2);
        assert_eq!(bus.count(EventKind::ExchangeStarted), 0);
        // It also fails beside the true one.
        let bus = attacked::<Swift>(settings, Attack::ImpersonatedOrchestrator(victims), SECOND);
        assert_eq!(bus.keys().into_iter().flatten().count(), 1);
    });
}

#[test]
fn refuses_a_request_for_an_exchange_of_removed_members() {
    // A request that would bring a removed member back, signed by nobody.
    everywhere(|settings| {
        let mut bus = network::<Swift>(settings, Scheme::FullTree, 3);
        bus.start();
        let now = bus.now;
        bus.orchestrator_mut().schedule(now, Operation::Remove(Address(2))).unwrap();
        bus.run(Duration::from_s(8));
        let pair = bus.orchestrator().tree().pair_of(Address(2)).unwrap();
        let back = chronoseal_groupkey::ExchangeId { first: Address(2), second: LEAD, result: pair };
        let old = bus.station(1).key();
        bus.push(Station::Other(Box::new(Adversary::new::<Swift>(
            settings,
            Attack::ImpersonatedOrchestrator(back),
            1,
        ))));
        bus.start_one(4);
        bus.run(Duration::from_s(16));
        assert!((1..=3).all(|index| !bus.member(index).tree().is_present(Address(2))));
        assert_eq!(bus.count(EventKind::ExchangeAborted(AbortReason::OrchestrationRefused)), 3 + 1);
        assert_eq!(bus.station(1).key(), old);
    });
}

#[test]
fn refuses_a_replayed_request_in_the_same_run() {
    everywhere(|settings| {
        let replay = Attack::Replay { step: Step::Orchestration, after: Duration::from_ms(80) };
        let bus = attacked::<Swift>(settings, replay, SECOND);
        let reason = match settings.profile {
            Profile::AsPublished => AbortReason::OrchestrationRefused,
            Profile::Hardened => AbortReason::OrchestrationReplayed,
        };
        assert_refused_in_passing(&bus, reason);
    });
}

#[test]
fn refuses_a_replayed_request_of_an_earlier_run() {
    everywhere(|settings| {
        let replay = Attack::Replay { step: Step::Orchestration, after: Duration::from_s(15) };
        let bus = attacked::<Swift>(settings, replay, SECOND);
        let started = bus.count(EventKind::ExchangeStarted);
        let reason = match settings.profile {
            Profile::AsPublished => AbortReason::OrchestrationRefused,
            Profile::Hardened => AbortReason::OrchestrationReplayed,
        };
        assert_refused_in_passing(&bus, reason);
        // Three exchanges and the orchestrator's own part in telling; none began again.
        assert_eq!(
            started,
            attacked::<Swift>(settings, Attack::ForgedReady(Address(9)), SECOND).count(EventKind::ExchangeStarted)
        );
    });
}

/// A member that was away cannot be talked into a run that is long over.
#[test]
fn refuses_a_request_that_is_too_old() {
    for transport in Transport::ALL {
        let settings = Settings::new(Profile::Hardened, transport);
        let mut bus = network::<Swift>(settings, Scheme::WithoutOrchestrator, 3);
        bus.push(Station::Other(Box::new(Adversary::new::<Swift>(
            settings,
            Attack::Replay { step: Step::Orchestration, after: Duration::from_s(10) },
            1,
        ))));
        for index in [0, 4] {
            bus.start_one(index);
        }
        bus.run(Duration::from_s(8));
        for index in 1..=3 {
            bus.start_one(index);
        }
        bus.run(Duration::from_s(12));
        assert_eq!(bus.count(EventKind::ExchangeAborted(AbortReason::OrchestrationStale)), 2);
        assert_eq!(bus.count(EventKind::KeyInstalled), 0);
    }
}

#[test]
fn a_forged_commit_installs_nothing() {
    everywhere(|settings| {
        // The orchestrator is slow, so that the forged word comes first.
        let bus = attacked::<Swift>(settings, Attack::ForgedCommit, 0);
        assert!(bus.count(EventKind::ExchangeAborted(AbortReason::CommitRefused)) > 0);
        assert_refused_in_passing(&bus, AbortReason::CommitRefused);
    });
}

#[test]
fn a_forged_ready_confirms_nothing() {
    everywhere(|settings| {
        let bus = attacked::<Swift>(settings, Attack::ForgedReady(Address(3)), 3);
        // The forged word is refused, the member's own taken.
        assert_eq!(bus.count(EventKind::KeyInstalled), 4);
        assert!(bus.count(EventKind::ExchangeAborted(AbortReason::ReadyRefused)) > 0, "{:x?}", bus.aborts());
    });
}

#[test]
fn one_changed_bit_of_a_signature_makes_the_exchange_fail() {
    for profile in Profile::ALL {
        for step in [Step::Orchestration, Step::ConfirmationFirst, Step::ConfirmationSecond] {
            let settings = Settings { retries_max: 0, ..Settings::new(profile, Transport::Fd) };
            let mut bus = network::<FourQ>(settings, Scheme::WithoutOrchestrator, 2);
            bus.fault = Some(Box::new(move |heard, _| {
                let is_target = heard.identifier().is_some_and(|identifier| identifier.step == step);
                if !is_target || heard.frame.data().len() < 64 {
                    return Some(heard.frame);
                }
                let mut data = heard.frame.data().to_vec();
                data[40] ^= 4;
                Some(CanFrame::fd(heard.frame.id(), &data, true).unwrap())
            }));
            bus.start();
            bus.run(Duration::from_s(20));
            assert_eq!(bus.count(EventKind::KeyInstalled), 0, "{profile:?} {step:?}");
            assert_eq!(bus.keys().len(), 1);
            let failure = bus.orchestrator().last_failure().unwrap();
            let reason = match (step, profile) {
                (Step::Orchestration, _) => AbortReason::ShareMissing,
                (_, Profile::AsPublished) => AbortReason::SignatureRefused,
                (_, Profile::Hardened) => AbortReason::ConfirmationRefused,
            };
            assert_eq!(failure.reason, reason, "{profile:?} {step:?}");
        }
    }
}

/// What the source's protocol ends with: the tree's last exchange. An adversary that spoils it then leaves some with the
/// new key and others with the old; the confirmed installation is there for that.
#[test]
fn without_group_confirmation_a_spoilt_last_step_divides_the_group() {
    let settings =
        |installation| Settings { installation, retries_max: 0, ..Settings::new(Profile::AsPublished, Transport::Fd) };
    let divided = |settings: Settings| {
        let mut bus = network::<Swift>(settings, Scheme::WithoutOrchestrator, 3);
        let root = bus.orchestrator().tree().root().unwrap();
        bus.fault = Some(Box::new(move |heard, to| {
            let identifier = heard.identifier()?;
            let is_last = identifier.step == Step::ConfirmationSecond && identifier.result == root;
            (!is_last || to != 1).then_some(heard.frame)
        }));
        bus.start();
        bus.run(Duration::from_s(20));
        bus.keys().len() > 1
    };
    assert!(divided(settings(Installation::Unconfirmed)));
    assert!(!divided(settings(Installation::Confirmed)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Frames with identifiers of the protocol and any content, before and during a run, stop no node; a true key or none.
    #[test]
    fn no_frame_stops_a_node(
        frames in prop::collection::vec((0u8..16, 0u8..6, 0u8..6, 0u8..12, prop::collection::vec(any::<u8>(), 0..65)), 1..60),
        transport in prop::sample::select(Transport::ALL.to_vec()),
        profile in prop::sample::select(Profile::ALL.to_vec()),
        scheme in prop::sample::select(Scheme::ALL.to_vec()),
    ) {
        let mut bus = network::<Swift>(Settings::new(profile, transport), scheme, 3);
        let frames = frames.into_iter().map(|(step, first, second, result, data)| {
            // 5 stands for the orchestrator.
            let address = |number: u8| if number == 5 { LEAD.0 } else { number };
            let raw = u32::from_be_bytes([step, address(first), address(second), result]);
            let id = CanId::extended(raw).unwrap();
            let len = if transport == Transport::Fd { Dlc::holding(data.len()).unwrap().fd_len() } else { data.len().min(8) };
            let mut padded = data;
            padded.resize(len, 0);
            match transport {
                Transport::Fd => CanFrame::fd(id, &padded, true).unwrap(),
                Transport::Classical => CanFrame::classical(id, &padded).unwrap(),
            }
        });
        for frame in frames {
            bus.inject(&frame);
        }
        bus.start();
        bus.run(Duration::from_s(30));
        let keys: std::collections::BTreeSet<_> = bus.keys().into_iter().flatten().collect();
        prop_assert!(keys.len() <= 1);
    }
}
