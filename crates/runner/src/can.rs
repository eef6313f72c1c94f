//! A plan on a CAN bus in the simulator.

use std::collections::BTreeMap;
use std::ops::Range;

use chronoseal_catalog::can::{CanDescriber, monitor, node_ids, node_name};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId, Work};
use chronoseal_media::can::CanNetwork;
use chronoseal_results::meta::{NodeMeta, NodeRole, StreamMeta};
use chronoseal_results::rows::{BusRow, CaptureRow, Direction, EventRow, FrameRow, Outcome, RunRows, WorkRow};
use chronoseal_results::{BusMeta, Engine, GroupMeta, RunMeta};
use chronoseal_scenario::plan::{CanPlan, CanProtectionKind, GroupChange};
use chronoseal_sim::{Fingerprint, FrameContext, Observer};
use chronoseal_wire::can::CanFrameView;

use crate::{Run, versions};

/// Data of the synchronisation message: one classical frame [byte].
const SYNC_LEN: u32 = 8;

/// Simulates a plan on a CAN bus and keeps every row; with `capture`, every frame too.
///
/// # Errors
/// Why a station cannot be made.
pub fn simulate_can(plan: &CanPlan, capture: bool, keep_going: &mut dyn FnMut(SimTime) -> bool) -> Result<Run, String> {
    let observer = (Fingerprint::of_bytes(), Recorder::new(plan, capture));
    let (network, (fingerprint, recorder), finished) = chronoseal_sim::run_can(plan, observer, keep_going)?;
    let mut rows = recorder.into_rows(plan, &network);
    leave_out_removed(plan, &mut rows);
    rows.interrupted = !finished;
    let mut meta = describe_can(plan, Engine::Sim);
    meta.clock_source = "virtual".into();
    meta.fingerprint = Some(fingerprint.finish());
    Ok(Run::new(meta, rows))
}

/// Keeps every row.
struct Recorder {
    describer: CanDescriber,
    rows: RunRows,
    bus: BusRow,
    /// When each frame of a stream was handed to the bus, in order.
    sent: BTreeMap<StreamId, Vec<SimTime>>,
    /// How many of a stream's frames became of something at a node.
    ended: BTreeMap<(StreamId, NodeId), usize>,
    /// Where frames come from that are captured: stations and attackers, not the gateway, which only repeats them.
    captured: Option<Range<u16>>,
}

impl Recorder {
    fn new(plan: &CanPlan, capture: bool) -> Self {
        let senders = 0..(plan.nodes.len() + plan.attacks.len()) as u16;
        Self {
            captured: capture.then_some(senders),
            describer: CanDescriber::new(plan),
            rows: RunRows::default(),
            bus: BusRow::default(),
            sent: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }

    fn into_rows(mut self, plan: &CanPlan, network: &CanNetwork) -> RunRows {
        self.unaccounted(plan);
        let statistics = chronoseal_catalog::can::statistics(plan, network);
        self.rows.bus = Some(BusRow {
            frames: statistics.frames,
            failed_attempts: statistics.failed_attempts,
            lost_arbitrations: statistics.lost_arbitrations,
            busy: statistics.busy,
            window: chronoseal_catalog::can::LOAD_WINDOW,
            busy_by_window: statistics.busy_by_window,
            ..self.bus
        });
        self.rows
    }

    /// A row for each frame that was handed to the bus and never seen again. A sender's frames of one message reach each
    /// receiver in their order, so they are the last ones.
    fn unaccounted(&mut self, plan: &CanPlan) {
        for (index, message) in plan.messages.iter().enumerate() {
            let stream = StreamId(index as u16);
            let Some(sent) = self.sent.get(&stream) else { continue };
            for receiver in &message.receivers {
                let ended = self.ended.get(&(stream, *receiver)).copied().unwrap_or(0).min(sent.len());
                for (sequence, sent_at) in sent.iter().enumerate().skip(ended) {
                    self.rows.frames.push(FrameRow {
                        stream,
                        sequence: sequence as u64,
                        sender: message.sender,
                        at: *receiver,
                        attack: None,
                        len: plan.secured_len(message) as u32,
                        cycle_start: *sent_at,
                        slot_start: None,
                        sent_at: Some(*sent_at),
                        arrived_at: None,
                        departed_at: None,
                        received_at: None,
                        outcome: Outcome::Unaccounted,
                        stalled: false,
                    });
                }
            }
        }
    }

    fn frame_row(&mut self, at: SimTime, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let described = self.describer.describe(frame.bytes);
        if described.stream != StreamId::NONE && frame.label.attack.is_none() {
            *self.ended.entry((described.stream, node)).or_default() += 1;
        }
        let response = at - frame.label.sent_at;
        let outcome = match event.kind {
            EventKind::Discarded(reason) => Outcome::Discarded(reason),
            _ if described.deadline.is_some_and(|deadline| response > deadline) => Outcome::Late,
            _ => Outcome::Delivered,
        };
        self.rows.frames.push(FrameRow {
            stream: described.stream,
            sequence: event.sequence,
            sender: match frame.label.attack {
                Some(_) => frame.label.sender,
                None => described.sender.unwrap_or(frame.label.sender),
            },
            at: node,
            attack: frame.label.attack,
            len: frame.bytes.len() as u32,
            cycle_start: frame.label.sent_at,
            slot_start: None,
            sent_at: Some(frame.label.sent_at),
            arrived_at: None,
            departed_at: frame.departed_at,
            // When the application has it, checked: a deadline is not held by bytes nobody may believe yet.
            received_at: Some(at),
            outcome,
            stalled: false,
        });
    }
}

impl Observer for Recorder {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.rows.events.push(EventRow { time: at, node, event: *event });
        if let (EventKind::Delivered | EventKind::Discarded(_), Some(frame)) = (event.kind, frame) {
            self.frame_row(at, node, event, frame);
        }
    }

    fn transmit(&mut self, at: SimTime, _: NodeId, frame: FrameContext<'_>) {
        if frame.label.attack.is_some() {
            return;
        }
        let stream = self.describer.describe(frame.bytes).stream;
        if stream == StreamId::NONE {
            self.bus.key_frames += 1;
            self.bus.key_bytes += CanFrameView::new_checked(frame.bytes).map_or(0, |view| view.data().len() as u64);
        } else {
            self.sent.entry(stream).or_default().push(at);
        }
    }

    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        if !self.captured.as_ref().is_some_and(|senders| senders.contains(&node.0)) {
            return;
        }
        let mut comment = match self.describer.describe(frame.bytes).stream {
            StreamId::NONE => String::new(),
            stream => format!("stream {}", stream.0),
        };
        if let Some(attack) = frame.label.attack {
            comment = format!("{}: {comment}", attack.name());
        }
        let bytes = frame.bytes.to_vec();
        self.rows.captures.push(CaptureRow { time: at, node, direction: Direction::Carried, comment, bytes });
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        let row = WorkRow { time: at, node, operation: work.operation.0, len: work.len, duration: cost };
        self.rows.work.push(row);
    }
}

/// Leaves out what a member threw away because it could not read it while it was out of the group: that was not meant
/// for it. It is out from its removal until it takes a key into use after it was asked back. The events stay.
pub(crate) fn leave_out_removed(plan: &CanPlan, rows: &mut RunRows) {
    let removals = removals(plan);
    let events = &rows.events;
    let out: Vec<(NodeId, SimTime, SimTime)> = removals
        .into_iter()
        .map(|(node, from, back)| {
            let has_key = |row: &&EventRow| {
                row.node == node
                    && row.event.kind == EventKind::KeyInstalled
                    && back.is_some_and(|back| row.time >= back)
            };
            (node, from, events.iter().filter(has_key).map(|row| row.time).min().unwrap_or(SimTime::MAX))
        })
        .collect();
    rows.frames.retain(|row| {
        let at = row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO);
        let is_out = out.iter().any(|(node, from, until)| row.at == *node && at >= *from && at < *until);
        !(is_out && row.outcome == Outcome::Discarded(DiscardReason::TagMismatch))
    });
}

fn removals(plan: &CanPlan) -> Vec<(NodeId, SimTime, Option<SimTime>)> {
    let changes = plan.group_key.as_ref().map_or(&[][..], |group| &group.changes);
    let at = |change: &GroupChange| SimTime::ZERO + change.at;
    changes
        .iter()
        .enumerate()
        .filter(|(_, change)| !change.returns)
        .map(|(index, change)| {
            let back = changes[index..].iter().find(|later| later.returns && later.member == change.member);
            (change.member, at(change), back.map(at))
        })
        .collect()
}

/// Describes a run of `plan` before it begins.
pub fn describe_can(plan: &CanPlan, engine: Engine) -> RunMeta {
    let bits = &plan.bus.bits;
    RunMeta {
        description: plan.description.clone(),
        warnings: plan.notes.clone(),
        scenario_hash: plan.scenario_hash.clone(),
        duration_ns: plan.duration.as_ns(),
        versions: versions(),
        commit: env!("CHRONOSEAL_COMMIT").into(),
        nodes: node_ids(plan)
            .map(|id| {
                let is_station = id.index() < plan.nodes.len();
                let role = if is_station { NodeRole::Station } else { NodeRole::Attacker };
                NodeMeta { name: node_name(plan, id), role }
            })
            .chain(plan.gateway().map(|_| NodeMeta { name: "bus-gateway".into(), role: NodeRole::Switch }))
            .collect(),
        streams: streams(plan),
        bus: Some(BusMeta {
            bit_rate: bits.nominal_rate.0,
            data_bit_rate: (bits.data_rate != bits.nominal_rate).then_some(bits.data_rate.0),
        }),
        group: plan.group_key.as_ref().map(|group| GroupMeta {
            orchestrator: group.orchestrator.0,
            members: group.members.iter().map(|node| node.0).collect(),
            suite: group.suite.name().into(),
            scheme: group.scheme.name().into(),
            profile: group.profile.name().into(),
            start_ns: group.start.as_ns(),
        }),
        ..RunMeta::new(plan.name.clone(), engine, plan.seed)
    }
}

fn streams(plan: &CanPlan) -> Vec<StreamMeta> {
    let messages = plan.messages.iter().map(|message| {
        let protection = plan.protection_of(message);
        StreamMeta {
            name: message.name.clone(),
            sender: message.sender.0,
            receivers: message.receivers.iter().map(|node| node.0).collect(),
            class: "message".into(),
            period_ns: message.period.as_ns(),
            frame_len: u32::from(message.len),
            secured_len: plan.secured_len(message) as u32,
            protection: protection.name.clone(),
            replayable: protection.kind.is_replayable(),
            authenticated: matches!(protection.kind, CanProtectionKind::SecOc { .. }),
            deadline_ns: Some(message.deadline.as_ns()),
            bound: None,
            unbounded: None,
        }
    });
    let background = plan.background.iter().map(|recording| StreamMeta {
        name: recording.name.clone(),
        sender: recording.node.0,
        receivers: monitor(plan, recording).map(|id| id.0).into_iter().collect(),
        class: "recording".into(),
        period_ns: recording.length.as_ns(),
        frame_len: recording.frames.iter().map(|(_, frame)| frame.data().len() as u32).max().unwrap_or(0),
        secured_len: recording.frames.iter().map(|(_, frame)| frame.data().len() as u32).max().unwrap_or(0),
        protection: "none".into(),
        replayable: true,
        authenticated: false,
        deadline_ns: None,
        bound: None,
        unbounded: None,
    });
    let synchronisation = plan.freshness.as_ref().map(|freshness| StreamMeta {
        name: "freshness".into(),
        sender: freshness.master.0,
        receivers: freshness.slaves.iter().map(|node| node.0).collect(),
        class: "synchronisation".into(),
        period_ns: freshness.period.as_ns(),
        frame_len: SYNC_LEN,
        secured_len: SYNC_LEN,
        protection: "secoc-sync".into(),
        replayable: false,
        authenticated: true,
        deadline_ns: Some(freshness.period.as_ns()),
        bound: None,
        unbounded: None,
    });
    messages.chain(background).chain(synchronisation).collect()
}
