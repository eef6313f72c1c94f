//! Every node of the protocol keeps the contract of nodes, with the frames of a real exchange.

use chronoseal_core::{AttackKind, Duration, EventKind, LocalTime, Node, Operation};
use chronoseal_core_testing::{Conduct, Contract, Script, bus, record};
use chronoseal_crypto::suite::Suite;
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128};
use chronoseal_groupkey::adversary::{Adversary, Attack};
use chronoseal_groupkey::{Address, Profile, Scheme, Settings, SpareNode, Step, Transport, Tree};

use crate::bus::{self as network, LEAD, Station};
use crate::swift::Swift;

const MEMBERS: usize = 5;
const END: LocalTime = LocalTime::from_ps(4_000_000_000_000);

/// Orchestrator and members, who remove one of them after a second.
fn nodes(settings: Settings, scheme: Scheme) -> Vec<Box<dyn Node>> {
    let roster = network::roster::<Swift>(LEAD, 1, MEMBERS);
    let tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).unwrap();
    let stations = network::stations(settings, &roster, &tree).into_iter();
    stations
        .map(|station| -> Box<dyn Node> {
            match station {
                Station::Orchestrator(mut node) => {
                    let at = LocalTime::ZERO + Duration::from_s(1);
                    node.schedule(at, chronoseal_groupkey::Operation::Remove(Address(2))).unwrap();
                    node
                }
                Station::Member(node) => node,
                Station::Other(node) => node,
            }
        })
        .collect()
}

fn on_a_bus(nodes: &mut [Box<dyn Node>]) -> Vec<(Script, Conduct)> {
    let count = nodes.len();
    let mut nodes: Vec<&mut dyn Node> = nodes.iter_mut().map(|node| &mut **node as &mut dyn Node).collect();
    record(&mut nodes, bus(count), END)
}

/// Work after which a node may only know more than before: a secret that both sides have, for the confirmations to come,
/// that the orchestrator wants what others have to do, and that one more member holds the key.
const SILENT: &[Operation] = &[Swift::OPERATIONS.agree, Swift::OPERATIONS.verify, CmacAes128::OPERATION];

#[test]
fn orchestrator_and_members_keep_it_in_every_scheme_and_profile() {
    for scheme in Scheme::ALL {
        for profile in Profile::ALL {
            let settings = Settings::new(profile, Transport::Fd);
            let make = || nodes(settings, scheme);
            for (number, (script, conduct)) in on_a_bus(&mut make()).into_iter().enumerate() {
                let checked = Contract::new(0..1, script, || make().swap_remove(number)).silent(SILENT).check();
                assert_eq!(checked, conduct, "{scheme:?} {profile:?}: node {number} alone does what it did on the bus");
                let installed = checked.events().filter(|event| event.kind == EventKind::KeyInstalled).count();
                assert!(installed > 0, "{scheme:?} {profile:?}: node {number} has come to a key");
                assert!(checked.frames().count() > 0 && checked.work().count() > 0);
            }
        }
    }
}

#[test]
fn whoever_attacks_keeps_it_too() {
    let settings = Settings::new(Profile::Hardened, Transport::Fd);
    let replay = Attack::Replay { step: Step::ShareFirst, after: Duration::from_ms(1200) };
    let roster = network::roster::<Swift>(LEAD, 1, MEMBERS);
    let tree = Tree::new(&roster, Scheme::WithoutOrchestrator, SpareNode::JoinsHigherLevel).unwrap();
    let first = tree.results().find_map(|result| tree.exchange(result)).expect("members have something to exchange");
    let attacks = [
        (replay, AttackKind::Replay),
        (Attack::SwappedAddresses, AttackKind::Spoof),
        (Attack::ReflectedShare, AttackKind::Spoof),
        (Attack::TruncatedConfirmation, AttackKind::Spoof),
        (Attack::ForgedConfirmation, AttackKind::Spoof),
        (Attack::ImpersonatedOrchestrator(first), AttackKind::Spoof),
        (Attack::ForgedCommit, AttackKind::Spoof),
        (Attack::ForgedReady(Address(1)), AttackKind::Spoof),
    ];
    for (attack, kind) in attacks {
        let adversary = || Box::new(Adversary::new::<Swift>(settings, attack, 3));
        let mut network = nodes(settings, Scheme::WithoutOrchestrator);
        network.push(adversary());
        let (script, conduct) = on_a_bus(&mut network).pop().expect("the adversary is the last");
        let checked = Contract::new(0..1, script, adversary).check();
        assert_eq!(checked, conduct, "{attack:?}");
        assert!(checked.events().any(|event| event.kind == EventKind::Attacked(kind)), "{attack:?}");
    }
}
