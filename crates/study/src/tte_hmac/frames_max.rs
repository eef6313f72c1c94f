//! How many frames fit in a base period, found by simulating more and more of them.
//!
//! No formula is asked: frames are added, one slot after the other, until in the trace one is thrown away, absent, or
//! passed on after its slot or its period has ended. Where the search begins may be guessed; what it finds does not depend on that.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_analysis::synthesis::{explicit, slot_pitch};
use chronoseal_catalog::{Describe, Prepared};
use chronoseal_core::{Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_plan::{Accounting, Ethernet, EthernetHop, Facet, Fidelity, Plan, StreamClass};
use chronoseal_sim::{FrameContext, Observer};

use super::scenarios;
use crate::StudyError;

/// Base periods each trial lasts; the frames of the last one may still be on their way when it ends.
const PERIODS: i64 = 3;

/// A base period to be filled.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// End nodes, 2 or 4; frame k is sent by node k modulo this number to all others.
    pub nodes: usize,
    /// Frame before protection `[byte]`.
    pub frame_len: u32,
    /// Name of a protection in `slots.toml`.
    pub protection: &'static str,
    /// What counts as time on the wire.
    pub accounting: Accounting,
    /// Guard period.
    pub guard: Duration,
    /// Make and check every byte, or only headers.
    pub real_bytes: bool,
}

/// The most frames of which every one keeps its slot and its period, by simulation. `None` if `stop` is set before that
/// is known; it is looked at between simulations.
///
/// # Errors
/// If the study's scenario does not load.
pub fn frames_max(question: &Question, stop: &AtomicBool) -> Result<Option<u64>, StudyError> {
    frames_max_near(1, question, stop)
}

/// [`frames_max`], sooner if the answer is `guess`: two simulations show then that so many frames fit and one more does not.
pub(super) fn frames_max_near(guess: u64, question: &Question, stop: &AtomicBool) -> Result<Option<u64>, StudyError> {
    let plan = plan(question)?;
    let mut failed = None;
    let found = search(guess, |count| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        holds(&filled(&plan, count, question.nodes)).map_err(|error| failed = Some(error)).ok()
    });
    failed.map_or(Ok(found), Err)
}

/// The longest time from the start of a slot to the last bit at the switch, with `count` frames in the base period.
///
/// # Errors
/// If the study's scenario does not load.
pub fn frame_time_max(question: &Question, count: u64) -> Result<Duration, StudyError> {
    let plan = filled(&plan(question)?, count, question.nodes);
    let summary = chronoseal_runner::simulate(&one_after_another(&plan)?, false, &mut |_| true)?.summary;
    let longest = summary.streams.iter().filter_map(|stream| stream.tx.all.map(|tx| tx.max_ns)).max();
    Ok(Duration::from_ns(longest.unwrap_or(0)))
}

/// Adds frames to `guess` of them, first in doubling and then in halving steps, until the next one would be one too many. `None` as
/// soon as `holds` gives up.
fn search(guess: u64, mut holds: impl FnMut(u64) -> Option<bool>) -> Option<u64> {
    let (mut fits, mut too_many) = (0, guess.max(1));
    let mut step = 1;
    while holds(too_many)? {
        fits = too_many;
        too_many += step;
        step *= 2;
    }
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if holds(middle)? { fits = middle } else { too_many = middle }
    }
    Some(fits)
}

fn plan(question: &Question) -> Result<Plan, StudyError> {
    let length = scenarios::length(question.frame_len);
    let guard = question.guard.to_string();
    let mut plan = scenarios::load(
        scenarios::SLOTS,
        &[
            ("streams.frame.length", &length),
            ("streams.frame.protection", question.protection),
            ("segments.network.ethernet.guard_period", &guard),
            ("segments.network.ethernet.accounting", question.accounting.name()),
        ],
    )?
    .plan;
    plan.nodes.truncate(question.nodes);
    plan.fidelity = if question.real_bytes { Fidelity::Bytes } else { Fidelity::Timing };
    plan.duration = view(&plan).segment.cluster_cycle * PERIODS;
    Ok(plan)
}

/// The only segment of the study's plans.
fn view(plan: &Plan) -> Ethernet<'_> {
    Ethernet::first(plan).expect("the study's scenarios are on Ethernet")
}

/// The plan with its slots one after the other, whether they fit or not.
fn one_after_another(plan: &Plan) -> Result<Prepared<'_>, StudyError> {
    let view = view(plan);
    let first = view.streams().next().expect("a period to be filled has a frame");
    let schedule = explicit(view, slot_pitch(view, &first));
    Ok(Prepared::with_schedule(plan, view.id, schedule)?)
}

/// The plan with `count` frames, senders in turn.
fn filled(plan: &Plan, count: u64, nodes: usize) -> Plan {
    let sync_id = view(plan).segment.sync_id;
    let mut plan = plan.clone();
    let first = plan.streams.remove(0);
    plan.streams = (0..count as usize)
        .map(|index| {
            let mut stream = first.clone();
            stream.name = format!("frame.{index}");
            stream.sender = NodeId((index % nodes) as u16);
            stream.receivers =
                (0..nodes).filter(|node| *node != index % nodes).map(|node| NodeId(node as u16)).collect();
            // The beacon's identifier is left out.
            let ct_id = index as u16 + 1;
            let class = StreamClass::TimeTriggered { ct_id: ct_id + u16::from(ct_id >= sync_id) };
            for hop in &mut stream.hops {
                (hop.from, hop.to, hop.facet) =
                    (stream.sender, stream.receivers.clone(), Facet::new(EthernetHop::from(class)));
            }
            stream
        })
        .collect();
    plan
}

/// True if in a simulation of the plan, one slot after the other, every frame keeps its slot and its period.
pub(super) fn holds(plan: &Plan) -> Result<bool, StudyError> {
    let prepared = one_after_another(plan)?;
    let watch = SlotWatch { describers: prepared.describers(), delivered: 0, violated: false };
    let receivers = plan.streams.iter().map(|stream| stream.receivers.len() as u64).sum::<u64>();
    let watch = chronoseal_sim::run(&prepared, watch, &mut |_| true)?.observer;
    // The last period's frames may still be on their way; all others have to be there.
    Ok(!watch.violated && watch.delivered >= receivers * (PERIODS as u64 - 1))
}

/// Sees whether every frame keeps its slot and its period.
struct SlotWatch {
    describers: Vec<Box<dyn Describe>>,
    delivered: u64,
    violated: bool,
}

impl Observer for SlotWatch {
    fn event(&mut self, _: SimTime, _: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Delivered => {
                self.delivered += 1;
                let Some(frame) = frame else { return };
                let describer = &self.describers[usize::from(frame.label.segment)];
                let leaves_by = describer.describe(frame.bytes, frame.label.sent_at).leaves_by;
                self.violated |= frame.departed_at > leaves_by;
            }
            EventKind::Discarded(_) | EventKind::Missing => self.violated = true,
            EventKind::Forwarded => self.violated |= event.value > 0,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_analysis::tdma;
    use chronoseal_core::StreamId;
    use chronoseal_plan::{AttackPlace, AttackerPlan, ThreatKind, ThreatPlan};

    fn question(frame_len: u32, protection: &'static str) -> Question {
        Question {
            nodes: 2,
            frame_len,
            protection,
            accounting: Accounting::AsPublished,
            guard: Duration::from_us(200),
            real_bytes: true,
        }
    }

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_search_that_is_stopped_has_no_answer() {
        assert_eq!(frames_max(&question(60, "none"), &AtomicBool::new(true)).unwrap(), None);
        // Stopped on the way: 1 and 2 were tried, 4 was not.
        let mut tried = Vec::new();
        let found = search(1, |count| {
            tried.push(count);
            (count < 4).then_some(true)
        });
        assert_eq!((found, tried), (None, vec![1, 2, 4]));
    }

    #[test]
    fn what_a_search_finds_does_not_depend_on_where_it_begins() {
        for answer in [0, 1, 2, 47, 48, 49, 700] {
            for guess in [0, 1, 2, 46, 47, 48, 49, 50, 95, 96, 699, 700, 701, 5_000] {
                let mut tried = 0;
                let found = search(guess, |count| {
                    tried += 1;
                    Some(count <= answer)
                });
                assert_eq!(found, Some(answer), "begun at {guess}");
                assert!(guess != answer || answer == 0 || tried == 2, "{answer}: {tried} tries");
            }
        }
    }

    #[test]
    fn simulated_frames_max_equals_the_formula_for_every_size_tag_accounting_and_guard() {
        let overheads = [("none", 0), ("sha256-16", 16), ("sha1-20", 20), ("macsec-24", 24), ("sha256-32", 32)];
        for (protection, overhead) in overheads {
            for frame_len in [60, 105, 577, 1514 - overhead] {
                for accounting in [Accounting::AsPublished, Accounting::OnWire] {
                    for guard in [Duration::ZERO, Duration::from_us(200)] {
                        let asked =
                            Question { accounting, guard, real_bytes: false, ..question(frame_len, protection) };
                        let plan = plan(&asked).unwrap();
                        let frame_time = view(&plan).frame_time(frame_len + overhead);
                        let expected = tdma::frames_max(view(&plan).segment.cluster_cycle, frame_time, guard);
                        assert_eq!(frames_max_near(expected, &asked, &GO_ON).unwrap(), Some(expected), "{asked:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn four_nodes_fill_a_period_as_two_do() {
        let asked = question(60, "none");
        let four = frames_max(&Question { nodes: 4, ..asked }, &GO_ON).unwrap();
        assert!(four.is_some());
        assert_eq!(four, frames_max(&asked, &GO_ON).unwrap());
    }

    #[test]
    fn one_corrupted_tag_makes_a_period_that_holds_fail() {
        let plan = plan(&question(60, "sha1-20")).unwrap();
        let mut plan = filled(&plan, 48, 2);
        assert!(holds(&plan).unwrap(), "48 frames with a SHA-1 tag fit");
        let place = AttackPlace::OnLink(view(&plan).id, NodeId(0));
        plan.attackers.push(AttackerPlan { name: "attacker-on-n0".into(), place });
        plan.threats.push(ThreatPlan {
            name: "one bit".into(),
            kind: ThreatKind::Tamper(StreamId(6)),
            attacker: 0,
            start: Duration::ZERO,
            every: Duration::from_ms(10),
            count: 1,
            at_slot_offset: Duration::ZERO,
            facet: None,
        });
        assert!(!holds(&plan).unwrap(), "one tag that does not verify is one frame too few");
    }
}
