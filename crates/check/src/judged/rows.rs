//! What is judged, as it is written for programs.

use chronoseal_analysis::segment::QueueBound;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::Plan;
use chronoseal_report::Word;
use schemars::JsonSchema;
use serde::Serialize;

use super::ns;
use crate::left_out::LeftOut;
use crate::report::word;

/// A schedule that fits.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ScheduleReport {
    /// So many slots.
    pub(crate) slots: usize,
    /// In each cluster cycle.
    pub(crate) cycle_ns: f64,
}

impl ScheduleReport {
    pub(super) fn of(table: &ScheduleTable) -> Option<Self> {
        let slots = table.slots.len();
        (slots > 0).then(|| Self { slots, cycle_ns: ns(table.cluster_cycle) })
    }
}

/// Why a schedule does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct InfeasibleReport {
    /// The stream or task that found no place.
    pub(crate) name: String,
    /// Streams and tasks that do not fit together.
    pub(crate) conflict: Vec<String>,
    /// Streams that fit.
    pub(crate) fitted: usize,
    /// Time-triggered streams of the plan.
    pub(crate) wanted: usize,
    /// All of it in words, and what to change.
    pub(crate) text: String,
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JudgedKind {
    /// A stream.
    Stream,
    /// A replayed recording.
    Recording,
}

/// A stream or a recording at one of its receivers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Judged {
    /// Its name.
    pub(crate) stream: String,
    /// Who receives it; `all N` where everybody hears it by radio.
    pub(crate) receiver: String,
    /// Which of the two it is.
    pub(crate) kind: JudgedKind,
    /// What can be said of it.
    #[schemars(schema_with = "word")]
    pub(crate) word: Word,
    /// The same as if what is left out were not there.
    #[schemars(schema_with = "word")]
    pub(crate) by_bound: Word,
    /// Why it is not held.
    pub(crate) why: Option<String>,
    /// From the instant at which a frame is due to its reception, checked, at most.
    pub(crate) bound_ns: Option<f64>,
    /// Of this receiver.
    pub(crate) deadline_ns: Option<f64>,
    /// Why it has none.
    pub(crate) no_deadline: Option<String>,
    /// What the deadline limits: `reaction`, which is the bound, or `age`, a period more.
    pub(crate) deadline_kind: &'static str,
    /// Where there is no bound, and why.
    pub(crate) no_bound: Option<String>,
    /// In the order of the way, up to the first place without a bound; behind a radio it goes on, from the instant of reception.
    pub(crate) parts: Vec<PartReport>,
    /// Nothing bounds it because it comes by radio.
    #[serde(skip)]
    pub(crate) by_radio: bool,
    /// Its reason is that of something else, which is the first to know.
    #[serde(skip)]
    pub(super) follows: bool,
}

/// What one place on the way adds at most.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PartReport {
    /// `sender`, `segment`, `host interface`, `gateway` or `receiver`.
    pub(crate) role: &'static str,
    /// The name of the node or segment.
    pub(crate) place: String,
    /// At most.
    pub(crate) max_ns: f64,
}

/// The queue of a gateway for a segment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct QueueReport {
    /// Whose.
    pub(crate) gateway: String,
    /// Where its frames are sent.
    pub(crate) segment: String,
    /// So many frames wait in it at most.
    pub(crate) frames_max: Option<u64>,
    /// So many it holds.
    pub(crate) room_frames: u64,
    /// What can be said of it.
    #[schemars(schema_with = "word")]
    pub(crate) word: Word,
    /// Why it is not held, and what helps.
    pub(crate) why: Option<String>,
}

/// What can keep clocks of a segment from staying together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ClockReport {
    /// Whose clocks.
    pub(crate) segment: String,
    /// What can be said of them.
    #[schemars(schema_with = "word")]
    pub(crate) word: Word,
    /// Why they are not held.
    pub(crate) why: String,
}

impl Judged {
    /// Its frames wait in a queue: if that can overflow, any of them can be lost.
    pub(super) fn is_behind(&mut self, queue: &QueueReport) {
        if queue.word > self.word && self.kind == JudgedKind::Stream {
            (self.word, self.by_bound, self.why) = (queue.word, queue.word, queue.why.clone());
            self.follows = queue.frames_max.is_none();
        }
    }

    /// What an attack that nothing counts does to it is not checked.
    pub(super) fn leaves_out(&mut self, attack: Option<&LeftOut>) {
        self.by_bound = self.word;
        if let (Word::Held, Some(attack)) = (self.word, attack) {
            (self.word, self.why) = (Word::NotChecked, Some(attack.text.clone()));
        }
    }
}

impl QueueReport {
    pub(super) fn of(plan: &Plan, queue: &QueueBound) -> Self {
        let mut report = Self {
            gateway: plan.node_name(queue.gateway),
            segment: plan.segments[queue.segment.index()].name.clone(),
            frames_max: queue.frames,
            room_frames: queue.room,
            word: if queue.holds() { Word::Held } else { Word::NotProven },
            why: None,
        };
        report.why = (report.word != Word::Held).then(|| report.warning());
        report
    }

    fn warning(&self) -> String {
        let Self { gateway, segment, room_frames, .. } = self;
        match self.frames_max {
            Some(frames) => format!(
                "the analysis allows for {} in `{gateway}` for `{segment}`, and its queue holds {room_frames}: write \
                 `queue = \"{frames} frames\"`",
                if frames == 1 { "1 frame that waits".into() } else { format!("{frames} frames that wait") }
            ),
            None => format!(
                "nothing bounds how many frames wait in `{gateway}` for `{segment}`: its queue will overflow unless what \
                 has no bound sends less"
            ),
        }
    }
}
