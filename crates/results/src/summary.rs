//! What a run's rows amount to: counts, spreads, and what became of every attack.

mod account;
pub(crate) mod attacks;
mod copies;
mod displaced;
mod divided;
pub(crate) mod nodes;
mod order;
pub(crate) mod round_trips;
pub(crate) mod segments;
pub(crate) mod streams;
mod ways;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::account::Account;
pub use self::copies::Copies;
pub use self::divided::{DividedLatency, DividedPart, PartKind};
pub use self::round_trips::RoundTripSummary;
pub use self::segments::{CLOCK_DIFFERENCE, CLOCK_OFFSET};
use crate::group::GroupSummary;
use crate::{Allowance, Distribution};

/// Start-up is over after so many integration cycles, or the run has failed.
pub const STARTUP_CYCLES_MAX: i64 = 10;

/// The class of streams that programs carry.
const BY_PROGRAMS: &str = "program";
/// Class of recordings that are replayed.
pub(crate) const RECORDING: &str = "recording";

/// Everything a run amounts to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// How long it ran `[ns]`: of a run that was stopped less than was asked for, of a live one perhaps more, since what was on its way at
    /// the end is waited for.
    #[serde(default)]
    pub passed_ns: i64,
    /// Streams by identifier.
    pub streams: Vec<StreamSummary>,
    /// Streams with their answers, in the order of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub round_trips: Vec<RoundTripSummary>,
    /// One entry for each kind of attack, attacker and stream.
    pub attacks: Vec<AttackSummary>,
    /// Latencies step by step, by stream and receiver; simulated runs only. [`Fold`](crate::Fold) leaves them to who followed the frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divided: Vec<DividedLatency>,
    /// Segments by number.
    pub segments: Vec<SegmentSummary>,
    /// What links were used for, each of its two directions; simulated runs only. [`Fold`](crate::Fold) leaves them to who watched them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkUse>,
    /// Clocks by segment and node, of segments that keep clocks together.
    pub clocks: Vec<ClockSummary>,
    /// Processor time by node and operation.
    pub work: Vec<WorkSummary>,
    /// Response times of node tasks, for nodes that have some.
    pub tasks: Vec<TaskSummary>,
    /// How much later than planned the emulator wrote a frame; live only.
    pub release_error: Option<Distribution>,
    /// Stays off the processor; live only.
    pub stalls: StallSummary,
    /// Frames of no stream, thrown away without being part of an attack.
    pub strangers: u64,
    /// Those of them that gateways were to carry on and had no room for, where a recording is replayed: its frames are of no stream there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_carried: u64,
    /// The group key, if the run had a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSummary>,
    /// The run was stopped before its time.
    pub interrupted: bool,
}

/// One stream. Counts are of rows, one for each frame and receiver; frames of attackers are not among them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamSummary {
    /// As in the scenario.
    pub name: String,
    /// Traffic class.
    pub class: String,
    /// Its frames can be late: they have slots or a deadline.
    pub is_judged: bool,
    /// A segment on its way loses frames by nature, so that a loss breaks nothing by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lossy: bool,
    /// Every clock of the segments on its way had joined by then, and every node had the counters that its frames are
    /// checked with `[ns]`; rows of earlier cycles are start-up.
    pub ready_ns: i64,
    /// Frames that were due for its receivers, whether or not they were sent: the sum of all that became of them.
    #[serde(default)]
    pub due: u64,
    /// Frames the sender handed to its port, as it told in its events; without those, frames seen, each counted once.
    pub sent: u64,
    /// Accepted in time.
    pub delivered: u64,
    /// Accepted after their slot, or after their deadline.
    pub late: u64,
    /// On their way when the run ended, with their deadline over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overdue: u64,
    /// Sent for a slot in which the receiver saw nothing.
    pub missing: u64,
    /// Due after start-up, and nothing was sent.
    pub not_sent: u64,
    /// Of those that were not in time after start-up, the ones that were due or on their way while the host was stalled, or until a clock was back
    /// that was lost then. Live only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_up: u64,
    /// Nobody can say where they are. By radio: lost, or out of reach.
    pub unaccounted: u64,
    /// On their way when the run ended.
    pub in_flight: u64,
    /// Not delivered in cycles that began before [`Self::ready_ns`].
    pub startup: u64,
    /// Displaced by a frame of an attack, as the trace shows: in its slot, in a queue, by its freshness value or in an
    /// attacker's hands.
    pub replaced: u64,
    /// Thrown away after start-up, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// Losses that the scenario allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<Allowance>,
    /// The same counts for each receiver; together they are the ones above.
    #[serde(default)]
    pub receivers: Vec<Account>,
    /// From when a frame was due to when its receiver had accepted it, checks included: [`crate::FrameRow::latency`].
    pub end_to_end: Spread,
    /// Of that, the time in its sender, in each segment, in each node between two of them and in its receiver, in the order of
    /// the way. Empty if its frames cross one segment only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<PartSummary>,
    /// Last bit in to first bit out at the switch.
    pub residence: Spread,
    /// Slot start to last bit in at the switch (the source's *Tx*), each frame once.
    pub tx: Spread,
    /// Slot start to first bit out at the switch (the source's *Rx*).
    pub rx: Spread,
}

/// How long a link was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinkUse {
    /// Number of its segment.
    pub segment: u16,
    /// Index into the segment's [`links`](crate::SegmentMeta::links).
    pub link: u16,
    /// From its first end to its second, and back, gaps between frames included `[ns]`.
    pub busy_ns: [i64; 2],
}

/// The time frames of a stream spent in one part of their way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartSummary {
    /// Name of the segment, or of the node between two segments.
    pub name: String,
    /// In a segment from the first bit out of its sender there to the last bit in at its receiver there; in a node from then
    /// to the first bit out on the next segment; in the sender from when the frame was due to its first bit; in the receiver
    /// from the last bit to when it had accepted the frame.
    pub time: Distribution,
}

/// What one segment was used for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SegmentSummary {
    /// As in the scenario.
    pub name: String,
    /// What was counted on it.
    pub series: Vec<SeriesSummary>,
    /// How far apart its clocks were, where that was measured and may not be anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionSummary>,
}

/// How far apart the clocks of a segment were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PrecisionSummary {
    /// At most, over the whole run `[ns]`.
    pub measured_ns: i64,
    /// So much is allowed `[ns]`.
    pub allowed_ns: i64,
}

/// A figure of a segment. What each window came to is in the rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeriesSummary {
    /// What was counted.
    pub name: String,
    /// In what, such as `frames`; `ns` is time that was used.
    pub unit: String,
    /// Over the whole run.
    pub total: i64,
    /// Length of a window, if it was counted by windows `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<i64>,
    /// In the window with the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_max: Option<i64>,
    /// Of time that was used: the share of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Of time that was used: the share of the window with the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_max: Option<f64>,
}

/// A quantity over every accepted frame, and over those no stall of the host overlapped.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Spread {
    /// Every accepted frame after start-up.
    pub all: Option<Distribution>,
    /// Those no stall overlapped.
    pub stall_free: Option<Distribution>,
}

/// What became of one attack.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AttackSummary {
    /// What the attacker did: the name of a [`chronoseal_core::AttackKind`], or as the scenario names an attack on the exchange of keys.
    pub attack: String,
    /// The attacker, whose name says where it sits.
    pub attacker: String,
    /// The stream it was aimed at, `none` if its frames belong to no stream.
    pub stream: String,
    /// The stream carries a tag that is checked, where the attacker is.
    pub authenticated: bool,
    /// Gateways on the stream's way open it and seal it again, so they have its keys.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_opened_on_way: bool,
    /// The stream's protection lets a recorded frame pass again.
    pub replayable: bool,
    /// The tag, if it is so short that a forger guesses it `[bit]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guessed_bits: Option<u16>,
    /// The segment protects all its frames by itself, as stations of V2X sign theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_segment: bool,
    /// Frames put on the wire.
    pub attempts: u64,
    /// Copies stopped by the shape of the frame alone.
    pub stopped_by_format: u64,
    /// Copies stopped by address, port or window.
    pub stopped_by_schedule: u64,
    /// Copies stopped by the tag.
    pub stopped_by_tag: u64,
    /// Copies stopped by the freshness value.
    pub stopped_by_freshness: u64,
    /// Copies stopped by a full queue.
    pub stopped_by_capacity: u64,
    /// Copies neither stopped nor accepted when the run ended: on their way, waiting for a processor, or of a message of which the rest
    /// had not come.
    pub in_flight: u64,
    /// Copies a receiver took for real; of a grandmaster that is none the clocks that followed it.
    pub accepted: u64,
}

/// One station's clock, as a segment keeps it. Events do not say which segment moved a clock: a node that is on several
/// which do has the same figures on each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockSummary {
    /// The segment, as in the scenario.
    pub segment: String,
    /// As in the scenario.
    pub node: String,
    /// When it first joined the cluster `[ns]`.
    pub acquired_ns: Option<i64>,
    /// The same, in integration cycles begun.
    pub acquired_cycles: Option<i64>,
    /// Size of the first correction `[ns]`.
    pub first_correction_ns: Option<i64>,
    /// Largest correction after it had joined, without its sign `[ns]`.
    pub correction_max_ns: Option<i64>,
    /// Corrections after it had joined.
    pub corrections: u64,
    /// Times it left the cluster.
    pub lost: u64,
    /// Of these, when nobody relied on it any more: a link of its network had failed, and the other network goes on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spared: u64,
    /// Of the others, within a cycle after the host was stalled, or while it was, or while another clock was gone for that reason. Live only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_up: u64,
    /// The host was stalled before it had joined. Live only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_start_held_up: bool,
    /// No frame goes by it, so that nothing fails for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unused: bool,
    /// Beacons outside its acceptance window.
    pub beacons_rejected: u64,
    /// It has so many integration cycles to join, if not [`STARTUP_CYCLES_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_cycles: Option<i64>,
}

/// Processor time of one operation at one node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorkSummary {
    /// As in the scenario.
    pub node: String,
    /// What was computed.
    pub operation: String,
    /// Over at least this much `[byte]`.
    pub len_min: u32,
    /// Over at most this much `[byte]`.
    pub len_max: u32,
    /// How long it took.
    pub duration: Distribution,
}

/// Tasks of one node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskSummary {
    /// As in the scenario.
    pub node: String,
    /// Runs that ended.
    pub done: u64,
    /// Runs that had not ended when due again.
    pub overruns: u64,
    /// Their response time.
    pub response: Option<Distribution>,
}

/// Stays of the emulator off the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StallSummary {
    /// How many.
    pub count: u64,
    /// How long together `[ns]`.
    pub total_ns: i64,
    /// The longest `[ns]`.
    pub max_ns: i64,
    /// Rows of frames that one of them overlapped.
    pub frames: u64,
}

/// Above it a run says more of its host than of its network `[%]`.
const STALLED_MAX: u64 = 10;

impl RunSummary {
    /// The share of frames that were on their way, or due, while a process was kept from its processor, if it is so high that a run is unfit
    /// for saying how long anything takes `[%]`. None of a simulated one is.
    pub fn unfit(&self) -> Option<u64> {
        let due: u64 = self.streams.iter().map(|stream| stream.due).sum();
        let percent = self.stalls.frames.saturating_mul(100).checked_div(due.max(self.stalls.frames))?;
        (percent > STALLED_MAX).then_some(percent)
    }

    /// True if some stream has deadlines.
    pub fn has_deadlines(&self) -> bool {
        self.streams.iter().any(|stream| stream.is_judged)
    }

    /// Frames kept from their receivers by attacks.
    pub fn replaced(&self) -> u64 {
        self.streams.iter().map(|stream| stream.replaced).sum()
    }

    /// Losses that the scenario allows, and that happened.
    pub fn allowed(&self) -> u64 {
        self.streams.iter().map(StreamSummary::allowed).sum()
    }

    /// True if the scenario allows losses, whether or not there were any.
    pub fn has_allowances(&self) -> bool {
        self.streams.iter().any(|stream| !stream.allowances.is_empty())
    }

    /// When start-up was over on every segment `[ns]`.
    pub fn ready_ns(&self) -> i64 {
        self.streams.iter().map(|stream| stream.ready_ns).max().unwrap_or(0)
    }

    /// The first stream and receiver whose account does not add up: a frame ended twice there, so nothing is certain of it.
    pub fn unbalanced(&self) -> Option<(&StreamSummary, &Account)> {
        let all = self.streams.iter().flat_map(|stream| stream.receivers.iter().map(move |account| (stream, account)));
        all.into_iter().find(|(_, account)| account.balance() != 0)
    }

    /// True if the accounts of all frames add up, on every segment every clock that frames go by joined in time, stayed and kept the precision, and
    /// after start-up no frame was late, absent, lost, replaced or thrown away, but for those that the scenario allows.
    pub fn deadlines_held(&self) -> bool {
        self.unbalanced().is_none()
            && self.clocks.iter().all(ClockSummary::held)
            && self.segments.iter().all(SegmentSummary::kept_precision)
            && self.streams.iter().all(StreamSummary::held)
    }

    /// True if deadlines did not hold, and for no reason but the host of a live run: it was stalled while each of the frames that failed was due or
    /// on its way, and when a clock was lost. What the network would have done is not known then.
    pub fn failed_in_stalls(&self) -> bool {
        self.failed_for(ClockSummary::failed_in_stalls, StreamSummary::failed_in_stalls)
    }

    /// True if deadlines did not hold in a live run that is unfit for saying how long anything takes, and nothing failed but by its time. What the
    /// network would have done is not known then either.
    pub fn failed_while_unfit(&self) -> bool {
        self.unfit().is_some() && self.failed_for(|clock| clock.acquired_ns.is_some(), StreamSummary::failed_by_time)
    }

    /// True if deadlines did not hold, and of all that failed something is true.
    fn failed_for(&self, clock: impl Fn(&ClockSummary) -> bool, stream: impl Fn(&StreamSummary) -> bool) -> bool {
        !self.deadlines_held()
            && self.unbalanced().is_none()
            && self.clocks.iter().all(|known| known.held() || clock(known))
            && self.segments.iter().all(SegmentSummary::kept_precision)
            && self.streams.iter().all(|known| known.held() || stream(known))
    }

    /// The streams of which no frame could be judged.
    pub fn unjudged(&self) -> impl Iterator<Item = &StreamSummary> {
        self.streams.iter().filter(|stream| stream.is_unjudged())
    }

    /// What a segment was used for, by its name.
    pub fn segment(&self, name: &str) -> Option<&SegmentSummary> {
        self.segments.iter().find(|segment| segment.name == name)
    }

    /// Copies of forged, changed or repeated frames a receiver took for real.
    pub fn forged_accepted(&self) -> u64 {
        self.attacks.iter().map(|attack| attack.accepted).sum()
    }

    /// Frames put on a wire by attackers.
    pub fn attack_attempts(&self) -> u64 {
        self.attacks.iter().map(|attack| attack.attempts).sum()
    }
}

impl StreamSummary {
    /// True if a program that is not ours carries it: what it reports can contradict itself, and only it is to blame.
    pub fn is_by_programs(&self) -> bool {
        self.class == BY_PROGRAMS
    }

    /// True if after start-up every frame came in time, but for those that the scenario allows.
    pub fn held(&self) -> bool {
        self.failed() == 0
    }

    /// True if the host was stalled while each frame that was not in time was due or on its way.
    pub fn failed_in_stalls(&self) -> bool {
        !self.held() && self.held_up == self.losses().map(|(_, count)| count).sum::<u64>()
    }

    /// True if frames failed, and each for coming too late or nowhere.
    pub fn failed_by_time(&self) -> bool {
        !self.held() && self.losses().all(|(loss, _)| account::is_by_time(loss))
    }

    /// True if none failed, and its frames can be late and the run was over before one could be judged, or most of them were still under way.
    pub fn is_unjudged(&self) -> bool {
        self.failed() == 0 && (self.is_judged && self.delivered == 0 || self.is_under_way())
    }

    /// True if more of its frames were under way when the run was over than had come: nothing is known of those.
    pub fn is_under_way(&self) -> bool {
        self.in_flight > 1 && self.in_flight > self.delivered
    }

    /// Why frames were not in time after start-up, and how many.
    pub fn losses(&self) -> impl Iterator<Item = (&str, u64)> {
        let own = [
            ("late", self.late),
            ("overdue", self.overdue),
            ("missing", self.missing),
            ("not-sent", self.not_sent),
            ("replaced", self.replaced),
            ("unaccounted", self.unaccounted),
        ];
        let discarded = self.discarded.iter().map(|(reason, count)| (reason.as_str(), *count));
        own.into_iter().chain(discarded).filter(|(_, count)| *count > 0)
    }

    /// True if the scenario allows so many losses for a reason.
    fn allows(&self, reason: &str, count: u64) -> bool {
        self.allowances.iter().any(|allowance| allowance.reason == reason && count <= allowance.copies)
    }

    /// Frames that break the verdict. Where a segment loses frames by nature, only those that can be late do.
    pub fn failed(&self) -> u64 {
        if self.is_lossy && !self.is_judged {
            return 0;
        }
        self.losses().filter(|(reason, count)| !self.allows(reason, *count)).map(|(_, count)| count).sum()
    }

    /// Losses that the scenario allows, and that happened.
    pub fn allowed(&self) -> u64 {
        self.losses().filter(|(reason, count)| self.allows(reason, *count)).map(|(_, count)| count).sum()
    }

    /// Thrown away after start-up.
    pub fn discarded_total(&self) -> u64 {
        self.discarded.values().sum()
    }
}

impl SegmentSummary {
    /// One of its figures, by name.
    pub fn series(&self, name: &str) -> Option<&SeriesSummary> {
        self.series.iter().find(|series| series.name == name)
    }

    /// False if its clocks were further apart than they may be.
    pub fn kept_precision(&self) -> bool {
        self.precision.is_none_or(|precision| precision.measured_ns <= precision.allowed_ns)
    }

    /// The figure that says how much of the time it was used.
    pub fn load(&self) -> Option<&SeriesSummary> {
        self.series.iter().find(|series| series.share.is_some())
    }
}

/// For what is left out where there is none of it.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ClockSummary {
    /// It has so many integration cycles to join.
    pub fn startup_cycles_max(&self) -> i64 {
        self.startup_cycles.unwrap_or(STARTUP_CYCLES_MAX)
    }

    /// True if it joined in time and was never lost while anybody relied on it, or if nobody relies on it at all.
    pub fn held(&self) -> bool {
        self.is_unused || self.has_kept()
    }

    /// True if it joined in time and was never lost while anybody might rely on it.
    pub fn has_kept(&self) -> bool {
        self.acquired_ns.is_some() && self.lost == self.spared && !self.joined_late()
    }

    /// True if it joined late or was lost, and the host was stalled each time.
    pub fn failed_in_stalls(&self) -> bool {
        let was_held_up = self.lost == self.spared + self.held_up && (!self.joined_late() || self.is_start_held_up);
        !self.held() && self.acquired_ns.is_some() && was_held_up
    }

    /// True if start-up took longer than it may.
    pub fn joined_late(&self) -> bool {
        self.acquired_cycles.is_some_and(|cycles| cycles > self.startup_cycles_max())
    }
}

impl AttackSummary {
    /// True if it was aimed at clocks.
    pub fn is_on_clocks(&self) -> bool {
        chronoseal_core::AttackKind::ALL.into_iter().any(|kind| kind.is_on_clocks() && kind.name() == self.attack)
    }

    /// True if it was aimed at the exchange of keys: whether that came through says what became of it.
    pub fn is_on_keys(&self) -> bool {
        chronoseal_core::AttackKind::ALL.into_iter().all(|kind| kind.name() != self.attack)
    }

    /// Copies stopped, by whatever.
    pub fn stopped(&self) -> u64 {
        self.stopped_by_format
            + self.stopped_by_schedule
            + self.stopped_by_tag
            + self.stopped_by_freshness
            + self.stopped_by_capacity
    }
}
