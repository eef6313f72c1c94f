//! Why a schedule does not fit, in words and as data.

use std::fmt;

use chronoseal_core::{Duration, StreamId};
use chronoseal_plan::Ethernet;
use chronoseal_schedule::conflict::irreducible;

use super::needs::{offset, scheduled};
use super::place::{Order, Placer, items};
use super::{Failure, Item, Resource, slot_pitch};

/// Placements the search for a minimal conflict may spend; a limit for plans of thousands of streams.
const CONFLICT_EFFORT_MAX: usize = 1_000_000;
/// Names a message lists before it only counts.
const NAMES_SHOWN_MAX: usize = 6;

/// Why one item found no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// A resource has no free span of this length at any possible time.
    NoGap {
        /// Which resource, as far as the search got.
        resource: Resource,
        /// The span it needs.
        length: Duration,
    },
    /// Even alone it needs more time than its period leaves.
    PeriodTooShort {
        /// Time it needs within its period.
        needed: Duration,
    },
    /// The frame with its protection is longer than Ethernet allows.
    FrameTooLong {
        /// Its length without checksum `[byte]`.
        len: u32,
    },
    /// Its period is not a whole part of the cluster cycle.
    PeriodDoesNotDivideCycle {
        /// Its period.
        period: Duration,
        /// The cluster cycle.
        cycle: Duration,
    },
}

/// A plan for which no schedule table was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Infeasible {
    /// The first stream or task without a place.
    pub item: Item,
    /// Its name: of a stream as in the plan, of a task `node/task`.
    pub name: String,
    /// Why it has no place.
    pub reason: Reason,
    /// Streams and tasks that do not fit together, the one above included. If [`Self::is_minimal`], taking any one
    /// away lets the others fit.
    pub conflict: Vec<String>,
    /// False only for plans so large that the search for the smallest conflict was cut short.
    pub is_minimal: bool,
    /// How many streams find a place when those that do not are left out.
    pub fitted: usize,
    /// How many time-triggered streams there are.
    pub wanted: usize,
    /// What to change, in words.
    pub advice: String,
    described: String,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schedule does not fit: {}; {} of {} frames fit", self.described, self.fitted, self.wanted)?;
        if self.conflict.len() > 1 {
            let shown = &self.conflict[..self.conflict.len().min(NAMES_SHOWN_MAX)];
            write!(f, ". These {} do not fit together: {}", self.conflict.len(), shown.join(", "))?;
            if shown.len() < self.conflict.len() {
                write!(f, " and {} more", self.conflict.len() - shown.len())?;
            }
        }
        write!(f, ". {}", self.advice)
    }
}

impl std::error::Error for Infeasible {}

impl Failure {
    /// Adds names, the conflict and advice.
    pub(super) fn explain(self, view: Ethernet<'_>, order: Order) -> Infeasible {
        let (conflict, is_minimal) = conflict(view, order, self.item);
        let wanted = scheduled(view).count();
        Infeasible {
            item: self.item,
            name: name(view, self.item),
            reason: self.reason,
            conflict: conflict.into_iter().map(|item| name(view, item)).collect(),
            is_minimal,
            fitted: self.fitted,
            wanted,
            advice: advice(view, self.item, self.reason, wanted - self.fitted),
            described: describe(view, self.item, self.reason),
        }
    }
}

/// The smallest set around `culprit` that finds no place.
fn conflict(view: Ethernet<'_>, order: Order, culprit: Item) -> (Vec<Item>, bool) {
    let mut effort = CONFLICT_EFFORT_MAX;
    let mut kept = items(view, order);
    let end = kept.iter().position(|item| *item == culprit).map_or(kept.len(), |at| at + 1);
    kept.truncate(end);
    irreducible(kept, |rest| {
        effort = effort.checked_sub(rest.len())?;
        Some(fits(view, rest))
    })
}

fn fits(view: Ethernet<'_>, items: &[Item]) -> bool {
    let mut placer = Placer::new(view);
    items.iter().all(|item| placer.place(*item).is_ok())
}

fn name(view: Ethernet<'_>, item: Item) -> String {
    match item {
        Item::Stream(StreamId(id)) => view.plan.streams[usize::from(id)].name.clone(),
        Item::Task { node, index } => {
            let station = &view.plan.nodes[node.index()];
            format!("{}/{}", station.name, station.tasks[usize::from(index)].name)
        }
    }
}

fn describe(view: Ethernet<'_>, item: Item, reason: Reason) -> String {
    let subject = match item {
        Item::Stream(id) => {
            let stream = &view.plan.streams[id.index()];
            let own = view.stream(id);
            let len = own.map(|stream| view.secured_len(&stream)).unwrap_or_default();
            let frames = own.map_or(1, |stream| stream.frames());
            let several = if frames > 1 { format!("{frames} frames of up to ") } else { String::new() };
            format!("stream `{}` ({several}{len}B with its protection, every {})", stream.name, stream.period)
        }
        Item::Task { node, index } => {
            let task = &view.plan.nodes[node.index()].tasks[usize::from(index)];
            format!("task `{}` ({} every {})", name(view, item), task.wcet, task.period)
        }
    };
    match reason {
        Reason::NoGap { resource, length } => {
            let place = match resource {
                Resource::Cluster => "between the other slots".to_owned(),
                Resource::LinkToSwitch(node) => format!("on the link from `{}`", view.plan.node_name(node)),
                Resource::LinkFromSwitch(node) => format!("on the link to `{}`", view.plan.node_name(node)),
                Resource::SecondToSwitch(node) => {
                    format!("on the link from `{}` into network B", view.plan.node_name(node))
                }
                Resource::SecondFromSwitch(node) => {
                    format!("on the link out of network B to `{}`", view.plan.node_name(node))
                }
                Resource::LinkBetween { link, from } => {
                    let to = view.segment.wiring.trunks[link].from(from);
                    let [from, to] = [from, to].map(|switch| {
                        let switch = view.plan.own_node(view.id, usize::from(switch));
                        view.plan.node_name(switch)
                    });
                    format!("on the link from `{from}` to `{to}`")
                }
                Resource::Processor(node) => format!("on the processor of `{}`", view.plan.node_name(node)),
            };
            format!("{subject} finds no free {length} {place}")
        }
        Reason::PeriodTooShort { needed } => format!("{subject} alone needs {needed:.3} of its period"),
        Reason::FrameTooLong { len } => {
            format!("{subject} is a frame of {len}B, and Ethernet carries {}B", crate::tdma::FRAME_LEN_MAX)
        }
        Reason::PeriodDoesNotDivideCycle { cycle, .. } => {
            format!("{subject} does not repeat a whole number of times in the cluster cycle of {cycle}")
        }
    }
}

fn advice(view: Ethernet<'_>, item: Item, reason: Reason, surplus: usize) -> String {
    let guard = view.segment.guard_period;
    match (reason, item) {
        (Reason::NoGap { resource: Resource::Cluster, .. }, _) => {
            let cycle = view.segment.cluster_cycle;
            let needed: Duration = scheduled(view)
                .map(|stream| {
                    let slots = cycle.div_floor(stream.stream.period) * i64::from(stream.frames());
                    slot_pitch(view, &stream).saturating_mul(slots)
                })
                .fold(Duration::ZERO, |sum, slots| Duration::from_ps(sum.as_ps().saturating_add(slots.as_ps())));
            format!(
                "All slots together need {needed:.3} of a cluster cycle of {cycle}: lengthen the periods, shorten the guard \
                 period of {guard} or the frames and tags, or take out {surplus} of the frames"
            )
        }
        (Reason::NoGap { resource: Resource::Processor(_), .. }, _) => {
            "Choose a cheaper protection or a faster platform, lengthen the periods, or shorten the tasks of this node"
                .into()
        }
        (Reason::NoGap { .. }, _) => format!(
            "Lengthen the periods, shorten the guard period of {guard} or the frames on this link, or move frames to \
             another node"
        ),
        (Reason::PeriodTooShort { needed }, Item::Stream(id))
            if view.stream(id).is_some_and(|stream| offset(&stream).is_some()) =>
        {
            format!("Move its offset so that {needed:.3} remain before the end of its period, or leave the offset out")
        }
        (Reason::PeriodTooShort { needed }, _) => format!("Write a period of at least {needed:.3}"),
        (Reason::FrameTooLong { len }, _) => {
            let over = len - crate::tdma::FRAME_LEN_MAX;
            format!("Shorten the frame by {over}B, or choose a shorter tag")
        }
        (Reason::PeriodDoesNotDivideCycle { .. }, _) => {
            "Write a period that divides the cluster cycle, or lengthen the cluster cycle".into()
        }
    }
}
