//! The three schemes, run to the end.

use chronoseal_core::{Duration, EventKind};
use chronoseal_crypto::suite::{FourQ, P256, Suite, X25519Ed25519};
use chronoseal_groupkey::crypto_stack::DriverObject;
use chronoseal_groupkey::frame_count::{
    exchanges, frames_of, frames_of_group, frames_of_group_confirmation, frames_of_unordered_exchange,
    orchestration_len,
};
use chronoseal_groupkey::{
    Installation, Member, Monitoring, OrchestrationSigning, Orchestrator, Profile, Scheme, Settings, SpareNode, Step,
    Transport,
};

use crate::bus::{Bus, network, network_of};
use crate::swift::Swift;

const LONG: Duration = Duration::from_s(20);

fn established<S: Suite>(settings: Settings, scheme: Scheme, n: usize) -> Bus<S> {
    let mut bus = network::<S>(settings, scheme, n);
    bus.start();
    bus.run(LONG);
    bus
}

fn agrees<S: Suite>(settings: Settings, scheme: Scheme, n: usize) {
    let bus = established::<S>(settings, scheme, n);
    bus.common_key();
    assert_eq!(bus.aborts(), []);
    assert_eq!(bus.count(EventKind::KeyInstalled), n + 1);
    let (profile, transport) = (settings.profile, settings.transport);
    let due = frames_of_group(scheme, profile, transport, S::SHARE_LEN, n as u32)
        + frames_of_group_confirmation(profile, transport, n as u32);
    assert_eq!(bus.heard.len(), due as usize, "{scheme:?} {profile:?} {transport:?} {n}: {:?}", bus.frames());
}

#[test]
fn all_members_hold_one_key_in_every_scheme_profile_and_size() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [2, 3, 5, 31, 32] {
                agrees::<Swift>(Settings::new(profile, Transport::Fd), scheme, n);
            }
            for n in [2, 5, 32] {
                agrees::<Swift>(Settings::new(profile, Transport::Classical), scheme, n);
            }
        }
    }
}

#[test]
fn the_main_scheme_takes_85_members() {
    agrees::<Swift>(Settings::new(Profile::AsPublished, Transport::Fd), Scheme::FullTree, 85);
    agrees::<Swift>(Settings::new(Profile::Hardened, Transport::Fd), Scheme::FullTree, 85);
}

#[test]
fn the_other_schemes_take_127_members() {
    agrees::<Swift>(Settings::new(Profile::AsPublished, Transport::Fd), Scheme::WithoutOrchestrator, 127);
    agrees::<Swift>(Settings::new(Profile::Hardened, Transport::Fd), Scheme::Symmetric, 127);
}

#[test]
fn every_suite_carries_every_scheme() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            agrees::<FourQ>(Settings::new(profile, Transport::Fd), scheme, 5);
            agrees::<X25519Ed25519>(Settings::new(profile, Transport::Fd), scheme, 3);
            agrees::<P256>(Settings::new(profile, Transport::Classical), scheme, 3);
        }
    }
}

#[test]
fn fourq_takes_the_printed_number_of_frames_at_32() {
    for (scheme, printed) in Scheme::ALL.into_iter().zip([315, 160, 224]) {
        let settings =
            Settings { installation: Installation::Unconfirmed, ..Settings::new(Profile::AsPublished, Transport::Fd) };
        let bus = established::<FourQ>(settings, scheme, 32);
        bus.common_key();
        assert_eq!(bus.heard.len(), printed);
    }
}

#[test]
fn orchestration_may_be_signed_ahead_or_once() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for n in [2, 5, 32] {
                let settings = Settings::new(profile, Transport::Fd);
                agrees::<Swift>(Settings { signing: OrchestrationSigning::Ahead, ..settings }, scheme, n);

                let once = Settings { signing: OrchestrationSigning::Once, ..settings };
                let bus = established::<Swift>(once, scheme, n);
                bus.common_key();
                assert_eq!(bus.aborts(), []);
                let frames = bus.frames();
                assert_eq!(frames.get(&Step::Orchestration), None);
                let (exchanges, share_len) = (exchanges(scheme, n as u32), Swift::SHARE_LEN);
                let due = exchanges * frames_of_unordered_exchange(profile, Transport::Fd, share_len);
                let steps = [Step::ShareFirst, Step::ShareSecond, Step::ConfirmationFirst, Step::ConfirmationSecond];
                assert_eq!(steps.iter().map(|step| frames[step]).sum::<u32>(), due);
                assert_eq!(frames[&Step::Start], frames_of(orchestration_len(profile), Transport::Fd));
            }
        }
    }
}

/// A published aside: one signed message for a static tree leaves 4n + 1 frames in the scheme without the orchestrator.
#[test]
fn a_fixed_tree_of_32_takes_129_frames_without_the_orchestrator() {
    let settings = Settings {
        signing: OrchestrationSigning::Once,
        installation: Installation::Unconfirmed,
        ..Settings::new(Profile::AsPublished, Transport::Fd)
    };
    assert_eq!(established::<Swift>(settings, Scheme::WithoutOrchestrator, 32).heard.len(), 129);
}

#[test]
fn direct_assignments_cost_messages_of_their_own() {
    // Five pairs: 5 -> 3 with one spare node, 3 -> 2 with one, 2 -> 1.
    let settings = Settings::new(Profile::AsPublished, Transport::Fd);
    for (scheme, n, singles) in [(Scheme::FullTree, 5, 2), (Scheme::WithoutOrchestrator, 5, 1)] {
        let mut bus = network_of::<Swift>(settings, scheme, SpareNode::DirectAssignment, n);
        bus.start();
        bus.run(LONG);
        bus.common_key();
        let frames = bus.frames();
        assert_eq!(frames[&Step::DirectAssignment], singles, "{scheme:?}");
        assert_eq!(frames[&Step::Orchestration], exchanges(scheme, n as u32));
    }
}

#[test]
fn the_orchestrator_can_follow_every_exchange() {
    for n in [5, 32] {
        let settings = Settings { monitoring: Monitoring::All, ..Settings::new(Profile::Hardened, Transport::Fd) };
        let bus = established::<Swift>(settings, Scheme::FullTree, n);
        bus.common_key();
        let orchestrator = bus.orchestrator();
        assert!(orchestrator.tree().results().all(|result| orchestrator.logical_secret(result).is_some()));
        for index in 1..=n {
            let member = bus.member(index);
            assert_eq!(member.channel_key(), orchestrator.channel_key(member.address()));
            for result in member.tree().path(member.address()) {
                let subgroup = orchestrator.logical_secret(result).map(|secret| secret.traffic_key());
                assert_eq!(member.logical_secret(result).map(|secret| secret.traffic_key()), subgroup);
            }
        }
    }
}

#[test]
fn subgroups_and_channels_have_keys_of_their_own() {
    let bus = established::<Swift>(Settings::new(Profile::AsPublished, Transport::Fd), Scheme::FullTree, 8);
    let tree = bus.orchestrator().tree();
    let mut keys = std::collections::BTreeSet::new();
    for result in tree.results() {
        let holders: Vec<_> = (1..=8).filter(|index| tree.contains(result, bus.member(*index).address())).collect();
        let key_of =
            |index: usize| bus.member(index).logical_secret(result).map(|secret| *secret.traffic_key().expose());
        let key = key_of(holders[0]).unwrap();
        assert!((1..=8).all(|index| key_of(index) == holders.contains(&index).then_some(key)));
        assert!(keys.insert(key));
    }
    for index in 1..=8 {
        assert!(keys.insert(*bus.member(index).channel_key().unwrap().expose()));
    }
    assert_eq!(keys.len(), 15 + 8);
}

/// Work of one exchange, by party: two verifications, one of each other operation (figure 13).
#[test]
fn an_exchange_is_charged_as_the_source_counts() {
    let settings =
        Settings { installation: Installation::Unconfirmed, ..Settings::new(Profile::AsPublished, Transport::Fd) };
    let bus = established::<Swift>(settings, Scheme::WithoutOrchestrator, 2);
    // ECU 1 is passive in the second exchange, ECU 2 (the more capable) active in both, the orchestrator in the second.
    let work = |station, operation| bus.works.get(&(station, operation)).copied().unwrap_or(0);
    let all = |station| ["verify", "share", "agree", "sign", "aes-128-ctr"].map(|operation| work(station, operation));
    assert_eq!(all(2), [4, 2, 2, 2, 4]);
    assert_eq!(all(1), [2 + 2, 1, 2, 1, 2 + 1]);
    // It signs two requests besides and verifies none.
    assert_eq!(all(0), [1, 1, 1, 2 + 1, 2]);
    let crypto = bus.member(2).crypto();
    let processed = [DriverObject::Curve, DriverObject::Aes, DriverObject::Rng].map(|object| crypto.processed(object));
    assert_eq!(processed, [10, 4, 0]);
}

#[test]
fn a_slow_passive_member_keeps_up() {
    for signing in [OrchestrationSigning::PerStep, OrchestrationSigning::Once] {
        let settings = Settings { signing, ..Settings::new(Profile::Hardened, Transport::Fd) };
        let mut bus = network::<Swift>(settings, Scheme::FullTree, 9);
        // Station 2 is the most capable; 1 and 9 are a hundred times slower.
        for index in 0..=9 {
            bus.set_cost(index, |_| Duration::from_us(200));
        }
        for index in [1, 9] {
            bus.set_cost(index, |_| Duration::from_ms(20));
        }
        bus.start();
        bus.run(LONG);
        bus.common_key();
        assert_eq!(bus.aborts(), []);
    }
}

/// Times in the proportions of a slow and a fast published platform: the orchestrator's share comes while a member still
/// verifies, and actives are ahead of passives.
#[test]
fn processors_that_take_time_change_nothing_but_the_order() {
    fn fast(operation: &str) -> Duration {
        match operation {
            "verify" => Duration::from_us(6750),
            "share" => Duration::from_us(1920),
            "agree" => Duration::from_us(4790),
            "sign" => Duration::from_us(2400),
            _ => Duration::from_us(100),
        }
    }
    fn slow(operation: &str) -> Duration {
        fast(operation) * 3
    }
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            for signing in [OrchestrationSigning::PerStep, OrchestrationSigning::Ahead, OrchestrationSigning::Once] {
                for lead in [fast, slow] {
                    let settings = Settings { signing, ..Settings::new(profile, Transport::Fd) };
                    let mut bus = network::<Swift>(settings, scheme, 7);
                    bus.set_cost(0, lead);
                    for index in 1..=7 {
                        bus.set_cost(index, if index % 3 == 0 { slow } else { fast });
                    }
                    bus.start();
                    bus.run(LONG);
                    bus.common_key();
                    assert_eq!(bus.aborts(), [], "{scheme:?} {profile:?} {signing:?}");
                }
            }
        }
    }
}

/// Tables are bounded and inside the node: what it takes of a controller's memory, 127 checked public keys of 192 bytes
/// included. The platforms of the source have 96 KB (too few beside anything else) to 2 MB.
#[test]
fn a_node_fits_a_controller_of_the_middle_class() {
    assert!(size_of::<Member<FourQ>>() < 96 * 1024, "{}", size_of::<Member<FourQ>>());
    assert!(size_of::<Orchestrator<FourQ>>() < 128 * 1024, "{}", size_of::<Orchestrator<FourQ>>());
}
