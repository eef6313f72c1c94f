//! No frame is later than its bound, and none is lost unseen, whichever way frames in slots are integrated with the others on a line
//! (SAE AS6802): the networks of [`super::switched`] with shuffling and with preemption.

use chronoseal_analysis::slots_hold;
use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_plan::{Ethernet, EthernetSegment, Plan};
use chronoseal_sim::{FrameContext, Observer, run};

use super::switched::{network, plan_of};
use super::{from_environment, outcome};

/// So many networks are tried with each policy.
const NETWORKS: u64 = 120;

/// A network that has slots, with a policy.
fn with_policy(seed: u64, policy: &str) -> Option<String> {
    let text = network(seed);
    // What is cut off is followed by a gap, which that accounting does not count.
    let text = text.replace("accounting = \"as-published\"", "accounting = \"on-wire\"");
    let text = text.replace("duration = \"80ms\"", "duration = \"200ms\"");
    let has_slots = text.contains("class = \"time-triggered\"");
    has_slots.then(|| text.replace("access = ", &format!("integration_policy = \"{policy}\"\naccess = ")))
}

/// `INTEGRATION_SEED=17` tries that network alone, `INTEGRATION_NETWORKS=5000` more of them.
#[test]
fn no_frame_is_later_than_its_bound_under_any_integration_policy() {
    let only = from_environment("INTEGRATION_SEED");
    let wanted = from_environment("INTEGRATION_NETWORKS").unwrap_or(NETWORKS);
    for policy in ["shuffling", "preemption"] {
        let (mut tried, mut held, mut bounded, mut waited) = (0, 0, 0, 0);
        for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
            let Some(text) = with_policy(seed, policy) else { continue };
            let plan = plan_of(&text);
            let Some(outcome) = outcome(&plan) else { continue };
            assert!(outcome.wrong.is_empty(), "{policy}, seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
            assert!(
                outcome.lost.is_empty(),
                "{policy}, seed {seed}: frames of {:?} are lost, and nothing says that they can be\n{text}",
                outcome.lost
            );
            tried += 1;
            bounded += outcome.ratios.len();
            if !outcome.has_risk && Ethernet::first(&plan).is_some_and(slots_hold) {
                let seen = in_slots(&plan);
                assert!(seen.wrong.is_empty(), "{policy}, seed {seed}: {:?}\n{text}", seen.wrong);
                held += 1;
                waited += seen.waited;
            }
        }
        println!(
            "{policy}: {tried} networks, {held} of them held, {bounded} ends with a bound, {waited} frames in slots waited"
        );
        assert!(only.is_some() || held > 0 && bounded > 0 && waited > 0, "{policy}: too little was tried");
    }
}

/// What became of frames in slots.
#[derive(Default)]
struct InSlots {
    is_scheduled: Vec<bool>,
    wait_max: Duration,
    settled: SimTime,
    /// Frames that waited for another one.
    waited: u64,
    /// Frames that were lost, or waited for longer than the policy lets them.
    wrong: Vec<(SimTime, NodeId, Event)>,
}

impl Observer for InSlots {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        let is_scheduled = self.is_scheduled.get(event.stream.index()).copied().unwrap_or(true);
        let waited = event.kind == EventKind::Forwarded && event.value > 0;
        self.waited += u64::from(waited);
        let is_late = waited && event.value > self.wait_max.as_ps();
        let is_lost = matches!(event.kind, EventKind::Discarded(_) | EventKind::Missing | EventKind::SyncLost);
        if at > self.settled && is_scheduled && (is_late || is_lost) {
            self.wrong.push((at, node, *event));
        }
    }
}

fn in_slots(plan: &Plan) -> InSlots {
    let view = Ethernet::first(plan).expect("the network is Ethernet");
    let is_scheduled = view.streams().map(|stream| stream.class.is_time_triggered()).collect();
    let network: &EthernetSegment = view.segment;
    let trunks = network.wiring.trunks.iter().map(|trunk| trunk.parameters);
    let links = view.stations().map(|node| network.link_of(node).parameters).chain(trunks);
    let wait_max = links.map(|link| view.integration_wait(link)).max().unwrap_or_default();
    // Two cycles for the clocks, and one for what was under way then.
    let settled = SimTime::ZERO + network.cluster_cycle * 3;
    let seen = InSlots { is_scheduled, wait_max, settled, ..InSlots::default() };
    let prepared = Prepared::new(plan).expect("its frames fit its slots");
    run(&prepared, seen, &mut |_| true).expect("every part can be built").observer
}
