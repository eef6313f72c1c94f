//! What a run's rows amount to: counts, spreads, and what became of every attack.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{AttackKind, EventKind, NodeId, SimTime, StoppedBy, StreamId};
use serde::{Deserialize, Serialize};

use crate::group::{self, BusSummary, GroupSummary};
use crate::{Distribution, FrameRow, NodeRole, Outcome, RunMeta, RunRows};

/// Everything a run amounts to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Streams by identifier.
    pub streams: Vec<StreamSummary>,
    /// One entry for each kind of attack, attacker and stream.
    pub attacks: Vec<AttackSummary>,
    /// Stations by identifier.
    pub clocks: Vec<ClockSummary>,
    /// Processor time by node and operation.
    pub work: Vec<WorkSummary>,
    /// Response times of node tasks, for nodes that have some.
    pub tasks: Vec<TaskSummary>,
    /// How much later than planned the emulator wrote a frame; live only.
    pub release_error: Option<Distribution>,
    /// Stays off the processor; live only.
    pub stalls: StallSummary,
    /// Every station's clock had joined the cluster by then `[ns]`; rows of earlier cycles are start-up.
    pub ready_ns: i64,
    /// Frames of no stream, thrown away without being part of an attack.
    pub strangers: u64,
    /// The use of the CAN bus, on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusSummary>,
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
    /// Frames the sender handed to its port, as it told in its events; without those, frames seen, each counted once.
    pub sent: u64,
    /// Accepted in time.
    pub delivered: u64,
    /// Accepted, but passed on after the slot.
    pub late: u64,
    /// Never seen in their slot.
    pub missing: u64,
    /// Lost without a trace.
    pub unaccounted: u64,
    /// On their way when the run ended.
    pub in_flight: u64,
    /// Not delivered in cycles that began before every clock had joined.
    pub startup: u64,
    /// Not delivered in a cycle in which an attack hit the stream: its slot was taken, or the frame was changed.
    pub denied: u64,
    /// Thrown away after start-up, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// First bit left the sender to last bit in at the receiver.
    pub end_to_end: Spread,
    /// Last bit in to first bit out at the switch.
    pub residence: Spread,
    /// Slot start to last bit in at the switch (the source's *Tx*), each frame once.
    pub tx: Spread,
    /// Slot start to first bit out at the switch (the source's *Rx*).
    pub rx: Spread,
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
    /// What the attacker did: `spoof`, `tamper`, `replay`.
    pub attack: String,
    /// The attacker, whose name says where it sits.
    pub attacker: String,
    /// The stream it was aimed at, `none` if its frames belong to no stream.
    pub stream: String,
    /// The stream carries a tag that is checked.
    pub authenticated: bool,
    /// The stream's protection lets a recorded frame pass again.
    pub replayable: bool,
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
    /// Copies neither stopped nor accepted when the run ended.
    pub unaccounted: u64,
    /// Copies a receiver took for real.
    pub accepted: u64,
}

/// One station's clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockSummary {
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
    /// Beacons outside its acceptance window.
    pub beacons_rejected: u64,
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

impl RunSummary {
    /// True if some stream has deadlines.
    pub fn has_deadlines(&self) -> bool {
        self.streams.iter().any(StreamSummary::has_deadline)
    }

    /// Frames kept from their receivers by attacks.
    pub fn denied(&self) -> u64 {
        self.streams.iter().map(|stream| stream.denied).sum()
    }

    /// True if every clock joined and, attacks aside, no frame of a time-triggered stream was late, absent, lost or
    /// thrown away. True without time-triggered streams: there is no deadline then.
    pub fn deadlines_held(&self) -> bool {
        if !self.has_deadlines() {
            return true;
        }
        // A bus needs no common clock.
        (self.bus.is_some() || self.clocks.iter().all(|clock| clock.acquired_ns.is_some()))
            && self.streams.iter().filter(|stream| stream.has_deadline()).all(StreamSummary::held)
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
    /// True if its frames have slots.
    pub fn is_time_triggered(&self) -> bool {
        self.class == "time-triggered"
    }

    /// True if its frames have slots or, on a CAN bus, deadlines.
    pub fn has_deadline(&self) -> bool {
        self.is_time_triggered() || self.class == "message" || self.class == "recording"
    }

    /// True if something was delivered and, after start-up and attacks aside, nothing was late, absent, lost or thrown away.
    pub fn held(&self) -> bool {
        self.delivered > 0 && self.late + self.missing + self.unaccounted + self.discarded_total() == 0
    }

    /// Thrown away after start-up.
    pub fn discarded_total(&self) -> u64 {
        self.discarded.values().sum()
    }
}

impl AttackSummary {
    /// Copies stopped, by whatever.
    pub fn stopped(&self) -> u64 {
        self.stopped_by_format
            + self.stopped_by_schedule
            + self.stopped_by_tag
            + self.stopped_by_freshness
            + self.stopped_by_capacity
    }
}

/// Sums up a run. Rows may come in any order.
pub fn summarise(meta: &RunMeta, rows: &RunRows) -> RunSummary {
    let clocks = clocks(meta, rows);
    let ready_ns = clocks.iter().filter_map(|clock| clock.acquired_ns).max().unwrap_or(0);
    RunSummary {
        streams: streams(meta, rows, ready_ns),
        attacks: attacks(meta, rows),
        clocks,
        work: work(meta, rows),
        tasks: tasks(meta, rows),
        release_error: Distribution::of(&mut rows.releases.iter().map(|row| row.error.as_ns()).collect::<Vec<_>>()),
        stalls: StallSummary {
            count: rows.stalls.len() as u64,
            total_ns: rows.stalls.iter().map(|row| row.duration.as_ns()).sum(),
            max_ns: rows.stalls.iter().map(|row| row.duration.as_ns()).max().unwrap_or(0),
            frames: rows.frames.iter().filter(|row| row.stalled).count() as u64,
        },
        ready_ns,
        strangers: strangers(rows),
        bus: group::bus(meta, rows),
        group: group::group(meta, rows),
        interrupted: meta.interrupted || rows.interrupted,
    }
}

fn strangers(rows: &RunRows) -> u64 {
    let is_stranger = |row: &&FrameRow| {
        row.stream == StreamId::NONE && row.attack.is_none() && matches!(row.outcome, Outcome::Discarded(_))
    };
    rows.frames.iter().filter(is_stranger).count() as u64
}

/// Samples of one quantity `[ns]`, and those of them no stall overlapped.
#[derive(Default)]
struct Samples {
    all: Vec<i64>,
    stall_free: Vec<i64>,
}

impl Samples {
    fn push(&mut self, from: Option<SimTime>, to: Option<SimTime>, stalled: bool) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let ns = (to - from).as_ns();
        self.all.push(ns);
        if !stalled {
            self.stall_free.push(ns);
        }
    }

    fn spread(mut self) -> Spread {
        Spread { all: Distribution::of(&mut self.all), stall_free: Distribution::of(&mut self.stall_free) }
    }
}

#[derive(Default)]
struct StreamCounts {
    sent: BTreeSet<u64>,
    arrived: BTreeSet<u64>,
    delivered: u64,
    late: u64,
    missing: u64,
    unaccounted: u64,
    in_flight: u64,
    startup: u64,
    denied: u64,
    attacked_cycles: BTreeSet<SimTime>,
    /// Slots whose frame was thrown away, with the node that did it.
    explained: BTreeSet<(SimTime, NodeId)>,
    discarded: BTreeMap<String, u64>,
    end_to_end: Samples,
    residence: Samples,
    tx: Samples,
    rx: Samples,
}

impl StreamCounts {
    /// True if the frame a receiver misses is known to have been thrown away, by itself or before it could get there.
    fn is_explained(&self, missing: &FrameRow, receivers: &[u16]) -> bool {
        let Some(slot) = missing.slot_start else { return false };
        let nodes = (slot, NodeId(0))..=(slot, NodeId(u16::MAX));
        self.explained.range(nodes).any(|(_, node)| *node == missing.at || !receivers.contains(&node.0))
    }

    fn add(&mut self, row: &FrameRow, ready_ns: i64, last_sent: SimTime, period_ns: i64) {
        if row.sent_at.is_some() {
            self.sent.insert(row.sequence);
        }
        let in_startup = row.cycle_start.since_zero().as_ns() < ready_ns;
        if in_startup {
            *(if row.outcome == Outcome::Delivered { &mut self.delivered } else { &mut self.startup }) += 1;
            return;
        }
        match row.outcome {
            Outcome::Delivered => self.delivered += 1,
            Outcome::Late => self.late += 1,
            _ if self.attacked_cycles.contains(&row.cycle_start) => self.denied += 1,
            Outcome::Discarded(reason) => *self.discarded.entry(reason.name().into()).or_default() += 1,
            Outcome::Missing => self.missing += 1,
            Outcome::Unaccounted => {
                // Sent within the last period: the run ended before its receiver could have it.
                let sent = row.sent_at.or(row.slot_start).unwrap_or(row.cycle_start);
                let young = (last_sent - sent).as_ns() < period_ns;
                *(if young { &mut self.in_flight } else { &mut self.unaccounted }) += 1;
            }
        }
        if !matches!(row.outcome, Outcome::Delivered | Outcome::Late) {
            return;
        }
        self.end_to_end.push(row.sent_at, row.received_at, row.stalled);
        self.residence.push(row.arrived_at, row.departed_at, row.stalled);
        self.rx.push(row.slot_start, row.departed_at, row.stalled);
        // The copies for several receivers share one arrival.
        if self.arrived.insert(row.sequence) {
            self.tx.push(row.slot_start, row.arrived_at, row.stalled);
        }
    }
}

fn streams(meta: &RunMeta, rows: &RunRows, ready_ns: i64) -> Vec<StreamSummary> {
    let mut counts: Vec<StreamCounts> = meta.streams.iter().map(|_| StreamCounts::default()).collect();
    let last_sent = rows.frames.iter().filter_map(|row| row.sent_at).max().unwrap_or(SimTime::ZERO);
    for row in rows.frames.iter().filter(|row| row.attack.is_some()) {
        if let Some(stream) = counts.get_mut(row.stream.index()) {
            stream.attacked_cycles.insert(row.cycle_start);
        }
    }
    for row in rows.frames.iter().filter(|row| row.attack.is_none()) {
        if let (Some(stream), Outcome::Discarded(_)) = (counts.get_mut(row.stream.index()), row.outcome) {
            stream.explained.extend(row.slot_start.map(|slot| (slot, row.at)));
        }
    }
    for row in rows.frames.iter().filter(|row| row.attack.is_none()) {
        if let Some(stream) = counts.get_mut(row.stream.index()) {
            let receivers = &meta.streams[row.stream.index()].receivers;
            if row.outcome == Outcome::Missing && stream.is_explained(row, receivers) {
                continue;
            }
            // What is thrown away before it was copied is lost to every receiver.
            let copies = if receivers.contains(&row.at.0) { 1 } else { receivers.len().max(1) };
            for _ in 0..if matches!(row.outcome, Outcome::Discarded(_)) { copies } else { 1 } {
                stream.add(row, ready_ns, last_sent, meta.streams[row.stream.index()].period_ns);
            }
        }
    }
    let mut told = vec![0u64; meta.streams.len()];
    for row in rows.events.iter().filter(|row| row.event.kind == EventKind::Sent) {
        let index = row.event.stream.index();
        if meta.streams.get(index).is_some_and(|stream| stream.sender == row.node.0) {
            told[index] += 1;
        }
    }
    meta.streams
        .iter()
        .zip(counts)
        .zip(told)
        .map(|((stream, counts), told)| StreamSummary {
            name: stream.name.clone(),
            class: stream.class.clone(),
            sent: if told > 0 { told } else { counts.sent.len() as u64 },
            delivered: counts.delivered,
            late: counts.late,
            missing: counts.missing,
            unaccounted: counts.unaccounted,
            in_flight: counts.in_flight,
            startup: counts.startup,
            denied: counts.denied,
            discarded: counts.discarded,
            end_to_end: counts.end_to_end.spread(),
            residence: counts.residence.spread(),
            tx: counts.tx.spread(),
            rx: counts.rx.spread(),
        })
        .collect()
}

fn attacks(meta: &RunMeta, rows: &RunRows) -> Vec<AttackSummary> {
    let mut found: BTreeMap<(AttackKind, NodeId, StreamId), AttackSummary> = BTreeMap::new();
    let mut entry = |attack: AttackKind, attacker: NodeId, stream: StreamId, add: &dyn Fn(&mut AttackSummary)| {
        let target = meta.streams.get(stream.index());
        add(found.entry((attack, attacker, stream)).or_insert_with(|| AttackSummary {
            attack: attack.name().into(),
            attacker: meta.node_name(attacker.0),
            stream: meta.stream_name(stream.0),
            authenticated: target.is_some_and(|target| target.authenticated),
            replayable: target.is_none_or(|target| target.replayable),
            attempts: 0,
            stopped_by_format: 0,
            stopped_by_schedule: 0,
            stopped_by_tag: 0,
            stopped_by_freshness: 0,
            stopped_by_capacity: 0,
            unaccounted: 0,
            accepted: 0,
        }));
    };
    for row in &rows.events {
        if let EventKind::Attacked(attack) = row.event.kind {
            entry(attack, row.node, row.event.stream, &|summary| summary.attempts += 1);
        }
    }
    for row in &rows.frames {
        let Some(attack) = row.attack else { continue };
        entry(attack, row.sender, row.stream, &|summary| match row.outcome {
            Outcome::Delivered | Outcome::Late => summary.accepted += 1,
            Outcome::Missing | Outcome::Unaccounted => summary.unaccounted += 1,
            Outcome::Discarded(reason) => {
                *match reason.stopped_by() {
                    StoppedBy::Format => &mut summary.stopped_by_format,
                    StoppedBy::Schedule => &mut summary.stopped_by_schedule,
                    StoppedBy::Tag => &mut summary.stopped_by_tag,
                    StoppedBy::Freshness => &mut summary.stopped_by_freshness,
                    StoppedBy::Capacity => &mut summary.stopped_by_capacity,
                } += 1;
            }
        });
    }
    let mut attacks: Vec<_> = found.into_values().collect();
    for attack in attacks.iter_mut().filter(|attack| attack.attempts == 0) {
        // A trace without events: every copy is all there is to count.
        attack.attempts = attack.stopped() + attack.unaccounted + attack.accepted;
    }
    attacks
}

fn clocks(meta: &RunMeta, rows: &RunRows) -> Vec<ClockSummary> {
    let mut clocks: Vec<ClockSummary> = meta
        .nodes
        .iter()
        .map(|node| ClockSummary {
            node: node.name.clone(),
            acquired_ns: None,
            acquired_cycles: None,
            first_correction_ns: None,
            correction_max_ns: None,
            corrections: 0,
            lost: 0,
            beacons_rejected: 0,
        })
        .collect();
    let mut in_order: Vec<_> = rows.events.iter().collect();
    in_order.sort_by_key(|row| row.time);
    for row in in_order {
        let Some(clock) = clocks.get_mut(row.node.index()) else { continue };
        let value_ns = row.event.value / 1_000;
        match row.event.kind {
            EventKind::SyncAcquired if clock.acquired_ns.is_none() => {
                let ns = row.time.since_zero().as_ns();
                clock.acquired_ns = Some(ns);
                clock.first_correction_ns = Some(value_ns);
                let cycle = meta.integration_cycle_ns;
                clock.acquired_cycles = (cycle > 0).then(|| ns.div_euclid(cycle) + i64::from(ns.rem_euclid(cycle) > 0));
            }
            EventKind::SyncLost => clock.lost += 1,
            EventKind::BeaconRejected => clock.beacons_rejected += 1,
            EventKind::ClockCorrected if clock.acquired_ns.is_some_and(|ns| ns < row.time.since_zero().as_ns()) => {
                clock.corrections += 1;
                clock.correction_max_ns = Some(clock.correction_max_ns.unwrap_or(0).max(value_ns.abs()));
            }
            _ => {}
        }
    }
    clocks
        .into_iter()
        .zip(&meta.nodes)
        .filter(|(_, node)| node.role == NodeRole::Station)
        .map(|(clock, _)| clock)
        .collect()
}

fn work(meta: &RunMeta, rows: &RunRows) -> Vec<WorkSummary> {
    let mut found: BTreeMap<(NodeId, &str), (u32, u32, Vec<i64>)> = BTreeMap::new();
    for row in &rows.work {
        let (len_min, len_max, durations) =
            found.entry((row.node, row.operation)).or_insert((row.len, row.len, Vec::new()));
        *len_min = (*len_min).min(row.len);
        *len_max = (*len_max).max(row.len);
        durations.push(row.duration.as_ns());
    }
    found
        .into_iter()
        .filter_map(|((node, operation), (len_min, len_max, mut durations))| {
            Some(WorkSummary {
                node: meta.node_name(node.0),
                operation: operation.into(),
                len_min,
                len_max,
                duration: Distribution::of(&mut durations)?,
            })
        })
        .collect()
}

fn tasks(meta: &RunMeta, rows: &RunRows) -> Vec<TaskSummary> {
    let mut found: BTreeMap<NodeId, (u64, Vec<i64>)> = BTreeMap::new();
    for row in &rows.events {
        match row.event.kind {
            EventKind::TaskDone => found.entry(row.node).or_default().1.push(row.event.value / 1_000),
            EventKind::TaskOverrun => found.entry(row.node).or_default().0 += 1,
            _ => {}
        }
    }
    found
        .into_iter()
        .map(|(node, (overruns, mut responses))| TaskSummary {
            node: meta.node_name(node.0),
            done: responses.len() as u64,
            overruns,
            response: Distribution::of(&mut responses),
        })
        .collect()
}
