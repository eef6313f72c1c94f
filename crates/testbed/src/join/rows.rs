//! Rows of frames and captures, from records that are matched.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{AttackKind, DiscardReason, Event, EventKind, FramePart, MessagePart, NodeId, SimTime, StreamId};
use chronoseal_results::{CaptureRow, Direction, FrameRow, OnWayRow, Outcome, Stays};

use super::given_up::GivenUp;
use super::messages::{Messages, is_copy};
use super::ways::{Delivery, Ways};
use super::{Carrier, Line, due_by_itself};
use crate::config::AgentConfig;
use crate::emulator::{Capture, EmulatorLog};
use crate::log::{AgentLog, SentRecord};
use crate::traffic::{FrameDescription, Traffic};

/// Everything rows are made of.
pub(super) struct Table<'a> {
    agents: &'a [AgentConfig],
    pub(super) lines: &'a [&'a Line],
    pub(super) emulated: &'a EmulatorLog,
    pub(super) logs: &'a [Option<AgentLog>],
    pub(super) ways: &'a Ways<'a>,
    stalls: Stays,
    traffic: &'a dyn Traffic,
    pub(super) messages: Messages,
    given_up: GivenUp,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        agents: &'a [AgentConfig],
        lines: &'a [&'a Line],
        emulated: &'a EmulatorLog,
        logs: &'a [Option<AgentLog>],
        ways: &'a Ways<'a>,
        traffic: &'a dyn Traffic,
    ) -> Self {
        let messages = Messages::new(agents, emulated, logs, ways, traffic);
        let given_up = GivenUp::new(agents, emulated, logs);
        Self { agents, lines, emulated, logs, ways, stalls: Stays::new(&emulated.stalls), traffic, messages, given_up }
    }

    /// True if what a node says of attacks is believed.
    fn may_attack(&self, node: NodeId) -> bool {
        let is_it = |agent: &&AgentConfig| agent.node == node;
        self.agents.iter().find(is_it).is_some_and(|agent| agent.is_attacker || agent.is_taken_over)
    }

    fn is_attacker(&self, node: NodeId) -> bool {
        self.agents.iter().any(|agent| agent.node == node && agent.is_attacker)
    }

    pub(super) fn is_agent(&self, node: NodeId) -> bool {
        self.agents.iter().any(|agent| agent.node == node)
    }

    fn attack_of(&self, serial: usize) -> Option<AttackKind> {
        let (_, sent) = self.ways.sent_of[serial]?;
        match EventKind::from_code(sent.attack?)? {
            EventKind::Attacked(kind) => Some(kind),
            _ => None,
        }
    }

    /// What an agent wrote down was lost with it.
    fn is_lost(&self, node: NodeId) -> bool {
        let all = self.agents.iter().zip(self.logs);
        all.into_iter().any(|(agent, log)| agent.node == node && log.is_none())
    }

    /// When a message was due that says so itself, if what its sender wrote down was lost.
    fn due_of(&self, serial: usize, row: &FrameRow, verdict: Option<(SimTime, Event)>) -> Option<SimTime> {
        let (at, event) = verdict.filter(|_| self.is_message(serial) && self.is_lost(row.sender))?;
        due_by_itself(self.agents, [row.sender, row.at], at, &event)
    }

    /// When the frame was handed over. Of who is no agent of ours, or was lost, when we saw it.
    pub(super) fn sent_at(&self, serial: usize) -> Option<SimTime> {
        match self.ways.sent_of[serial] {
            Some((_, sent)) => Some(SimTime::from_ps(sent.at_ps)),
            None => {
                let from = self.ways.from_of[serial];
                let is_seen = !self.is_agent(from) || self.is_lost(from);
                is_seen.then_some(self.emulated.arrivals[serial].read_at)
            }
        }
    }

    /// The row of an arrival, its end still open.
    fn row_of(&self, serial: usize, at: NodeId) -> FrameRow {
        let arrival = &self.emulated.arrivals[serial];
        let from = self.ways.from_of[serial];
        let attack = self.attack_of(serial).filter(|_| self.may_attack(from));
        let description = &arrival.description;
        let sender = if attack.is_some() { from } else { description.sender.unwrap_or(from) };
        let (stream, sequence, begins_at) =
            (description.stream, description.sequence.unwrap_or(0), description.cycle_start);
        FrameRow {
            attack,
            len: arrival.len,
            slot_start: description.slot_start,
            sent_at: self.sent_at(serial),
            arrived_at: Some(arrival.arrived_at.unwrap_or(arrival.read_at)),
            ..FrameRow::open(stream, sequence, sender, at, begins_at, Outcome::Unaccounted)
        }
    }

    fn with_stall(&self, mut row: FrameRow, last: Option<SimTime>) -> FrameRow {
        let first = row.sent_at.or(row.arrived_at);
        row.stalled = first.zip(last.or(row.arrived_at)).is_some_and(|(from, to)| self.stalls.overlap(from, to));
        row
    }

    pub(super) fn frame_rows(&self) -> Vec<FrameRow> {
        let mut rows = Vec::with_capacity(self.ways.deliveries.len());
        // What the kernel carried has got where it wanted when it is heard. What has left its sender on the air was carried,
        // even if nobody heard it.
        let is_carried = |wire: usize| matches!(self.lines[wire].carrier, Carrier::Kernel(_));
        let mut ended: Vec<bool> =
            self.emulated.arrivals.iter().map(|arrival| arrival.has_left || is_carried(arrival.wire)).collect();
        let mut heard: BTreeSet<(Option<usize>, NodeId)> = (self.ways.deliveries.iter())
            .filter(|delivery| delivery.received.is_some())
            .map(|delivery| (delivery.serial, delivery.to))
            .collect();
        for (index, delivery) in self.ways.deliveries.iter().enumerate() {
            // The kernel takes a packet that the medium doubled for the one that was there, where the message has several.
            if delivery.received.is_none() && heard.contains(&(delivery.serial, delivery.to)) {
                continue;
            }
            // What the medium made itself is no frame of a stream; its receivers' events tell of it.
            let Some(serial) = delivery.serial else { continue };
            ended[serial] = true;
            if self.is_message(serial) {
                // Nor are two copies of one that nobody had two messages.
                heard.insert((delivery.serial, delivery.to));
            }
            if self.part(serial) != MessagePart::Whole {
                // A message has one row, at the frame that ended it; and one for each copy of its first frame.
                rows.extend(self.messages.ends.get(&index).and_then(|first| self.message_row(*first, delivery)));
                let is_copy = self.part(serial).is_first() && is_copy(delivery, MessagePart::Begins);
                rows.extend(is_copy.then(|| self.delivered_row(serial, delivery)).flatten());
                continue;
            }
            let parts = self.parts(serial, delivery);
            let is_told_of_whole = parts.is_empty() || self.whole_verdict(serial, delivery).is_some();
            rows.extend(parts.iter().map(|part| self.part_row(serial, delivery, part)));
            rows.extend(is_told_of_whole.then(|| self.delivered_row(serial, delivery)).flatten());
        }
        rows.extend(self.messages.others.iter().filter_map(|(first, outcome)| self.ended_row(*first, *outcome)));
        for discard in &self.emulated.discards {
            let Some(serial) = discard.serial else { continue };
            ended[serial] = true;
            if !self.part(serial).is_first() {
                continue;
            }
            let mut row = self.row_of(serial, discard.node);
            row.outcome = Outcome::thrown_away(&discard.event, row.sent_at, discard.at).unwrap_or(row.outcome);
            rows.push(self.with_stall(row, None));
        }
        // Frames of no stream that end in the medium were meant for it.
        let open = ended.iter().enumerate().filter(|(_, ended)| !**ended).map(|(serial, _)| serial);
        for serial in open {
            let arrival = &self.emulated.arrivals[serial];
            if arrival.description.stream != StreamId::NONE && arrival.description.part.is_first() {
                rows.push(self.with_stall(self.row_of(serial, self.ways.from_of[serial]), None));
            }
        }
        for row in rows.iter_mut().filter(|row| row.outcome == Outcome::Unaccounted) {
            row.outcome = self.given_up.thrown_away(row).unwrap_or(row.outcome);
        }
        rows.extend(self.ways.lost.iter().map(|(agent, sent)| self.lost_row(self.agents[*agent].node, sent)));
        rows.sort_by_key(|row| row.sent_at.or(row.arrived_at));
        rows
    }

    /// The row of a frame at one receiver; `None` for an attacker, and for a node that the frame is not meant for and that
    /// said nothing about it.
    fn delivered_row(&self, serial: usize, delivery: &Delivery) -> Option<FrameRow> {
        if self.is_attacker(delivery.to) {
            return None;
        }
        let mut row = self.row_of(serial, delivery.to);
        let from = self.lines[self.emulated.arrivals[serial].wire].attachment;
        if !self.traffic.is_for(from, row.stream, row.at) {
            return None;
        }
        row.departed_at = delivery.departed_at;
        let mut last = delivery.written_at;
        if delivery.accepted && !self.is_agent(delivery.to) {
            // Nobody there tells us more.
            row.received_at = delivery.written_at;
            row.outcome = Outcome::Delivered;
        }
        if let Some(received) = &delivery.received {
            last = last.max(Some(SimTime::from_ps(received.at_ps)));
            let verdict = self.whole_verdict(serial, delivery);
            judge(&mut row, received.at_ps, verdict, &self.emulated.arrivals[serial].description);
            row.due_at = self.due_of(serial, &row, verdict);
        }
        if row.outcome == Outcome::Unaccounted && self.given_up.thrown_away(&row).is_none() {
            let end = Some(delivery).filter(|delivery| self.is_message(serial) && delivery.received.is_none());
            row.outcome = end.and_then(|delivery| self.given_up.end_of(&row, delivery)).unwrap_or(row.outcome);
        }
        // A node says nothing of a frame in which no PDU is for it.
        let holds_nothing = self.emulated.arrivals[serial].description.is_container && delivery.received.is_some();
        let concerns = || !holds_nothing && self.traffic.concerns(row.stream, row.at);
        let is_told = row.outcome != Outcome::Unaccounted || concerns();
        is_told.then(|| self.with_stall(row, last))
    }

    /// True of what a station sends over a lossy link.
    fn is_message(&self, serial: usize) -> bool {
        self.lines[self.emulated.arrivals[serial].wire].carrier == Carrier::Messages
    }

    fn part(&self, serial: usize) -> MessagePart {
        self.emulated.arrivals[serial].description.part
    }

    /// The row of a message in several frames at one receiver, from its first frame to the one that ended it.
    fn message_row(&self, first: usize, delivery: &Delivery) -> Option<FrameRow> {
        let begun = self.row_of(first, delivery.to);
        let last = self.row_of(delivery.serial?, delivery.to);
        let mut row =
            FrameRow { len: last.len, arrived_at: last.arrived_at, departed_at: delivery.departed_at, ..begun };
        let received = delivery.received.filter(|_| !self.is_attacker(delivery.to))?;
        let verdict = received.verdict.and_then(|record| Some((record.at(), record.event()?)));
        judge(&mut row, received.at_ps, verdict, &self.emulated.arrivals[first].description);
        row.due_at = self.due_of(first, &row, verdict);
        Some(self.with_stall(row, delivery.written_at.max(Some(SimTime::from_ps(received.at_ps)))))
    }

    /// The row of a message in several frames of which no more came.
    fn ended_row(&self, first: usize, outcome: Outcome) -> Option<FrameRow> {
        let delivery = &self.ways.deliveries[first];
        let mut row = self.row_of(delivery.serial.filter(|_| !self.is_attacker(delivery.to))?, delivery.to);
        row.sequence = delivery.said().map_or(row.sequence, |event| event.sequence);
        (row.departed_at, row.outcome) = (delivery.departed_at, outcome);
        // Who waits for the rest of one knows it by its number.
        row.slot_start = row.slot_start.filter(|_| outcome != Outcome::Missing);
        Some(self.with_stall(row, delivery.written_at))
    }

    /// What the receiver said of a frame as a whole.
    fn whole_verdict(&self, serial: usize, delivery: &Delivery) -> Option<(SimTime, Event)> {
        let (received, description) = (delivery.received.as_ref()?, &self.emulated.arrivals[serial].description);
        let of_whole = |(_, event): &(SimTime, Event)| event.stream == description.stream;
        match description.is_container {
            true => self.log_of(delivery)?.verdicts_of(received).into_iter().find(of_whole),
            false => received.verdict.and_then(|record| Some((record.at(), record.event()?))),
        }
    }

    fn log_of(&self, delivery: &Delivery) -> Option<&AgentLog> {
        let agent = self.agents.iter().position(|agent| agent.node == delivery.to)?;
        self.logs.get(agent)?.as_ref()
    }

    /// What the receiver said of each PDU in a frame that holds several, and what its sender knows of it. Of one stream both tell
    /// in their order.
    pub(super) fn parts(&self, serial: usize, delivery: &Delivery) -> Vec<Told> {
        let description = &self.emulated.arrivals[serial].description;
        let Some(received) = delivery.received.as_ref().filter(|_| description.is_container) else { return Vec::new() };
        let sent = self.ways.sent_of[serial];
        let sender = sent.and_then(|(agent, sent)| Some((self.logs[agent].as_ref()?, agent, sent)));
        let parts: Vec<FramePart> = sender.iter().flat_map(|(log, _, sent)| log.parts_of(sent)).collect();
        let mut told: Vec<Told> = Vec::new();
        let verdicts = self.log_of(delivery).map(|log| log.verdicts_of(received)).unwrap_or_default();
        for (at, event) in verdicts.into_iter().filter(|(_, event)| event.stream != description.stream) {
            let before = told.iter().filter(|other| other.event.stream == event.stream).count();
            let part = parts.iter().filter(|part| part.stream == event.stream).nth(before);
            let origin = part
                .and_then(|part| part.origin)
                .zip(sent)
                .and_then(|(input, (agent, _))| *self.ways.serial_of_input[agent].get(usize::try_from(input).ok()?)?);
            told.push(Told { at, event, origin, attack: part.and_then(|part| part.attack) });
        }
        told
    }

    /// The row of a PDU that came in a frame with others.
    fn part_row(&self, serial: usize, delivery: &Delivery, told: &Told) -> FrameRow {
        let mut row = self.row_of(serial, delivery.to);
        let from = self.ways.from_of[serial];
        let attack = told.attack.filter(|_| self.may_attack(from));
        (row.stream, row.sequence, row.sender) = (told.event.stream, told.event.sequence, from);
        row.attack = attack.or(row.attack);
        row.departed_at = delivery.departed_at;
        let at_ps = delivery.received.map_or(told.at.as_ps(), |received| received.at_ps);
        let description = &self.emulated.arrivals[serial].description;
        judge(&mut row, at_ps, Some((told.at, told.event)), description);
        self.with_stall(row, delivery.written_at.max(Some(SimTime::from_ps(at_ps))))
    }

    /// A frame that was handed to the kernel and never seen again.
    fn lost_row(&self, node: NodeId, sent: &SentRecord) -> FrameRow {
        let at = SimTime::from_ps(sent.at_ps);
        FrameRow {
            len: sent.len,
            sent_at: Some(at),
            stalled: self.stalls.overlap(at, at),
            ..FrameRow::open(StreamId::NONE, 0, node, node, at, Outcome::Unaccounted)
        }
    }

    /// How many messages of several packets the kernel of each receiver had whole and never handed over, in words.
    pub(super) fn kept_by_kernels(&self, rows: &[FrameRow]) -> Vec<String> {
        let is_it = |row: &&FrameRow| {
            let is_lost = row.outcome == Outcome::Discarded(DiscardReason::FrameMissing);
            is_lost && self.given_up.is_by_kernel(row)
        };
        let mut counts: BTreeMap<NodeId, u64> = BTreeMap::new();
        rows.iter().filter(is_it).for_each(|row| *counts.entry(row.at).or_default() += 1);
        let words = |agent: &AgentConfig| {
            let (name, count) = (&agent.name, counts.get(&agent.node)?);
            let (messages, were) = if *count == 1 { ("message", "was") } else { ("messages", "were") };
            Some(format!(
                "{name}: {count} {messages} of several packets {were} written whole to its wire, and its kernel did not put them together; they count as \
                 `frame-missing`"
            ))
        };
        self.agents.iter().filter_map(words).collect()
    }

    /// Messages on a lossy link of which a packet was still on its way when the emulator stopped.
    pub(super) fn on_way(&self) -> impl Iterator<Item = OnWayRow> + '_ {
        let is_of_stream = |serial: &usize| self.emulated.arrivals[*serial].description.stream != StreamId::NONE;
        let messages = self.given_up.on_way().filter(|serial| self.is_message(*serial));
        messages.filter(is_of_stream).filter_map(|serial| {
            let description = &self.emulated.arrivals[serial].description;
            let (stream, sequence) = (description.stream, description.sequence);
            Some(OnWayRow { stream, sequence: Some(sequence?), sent_at: self.sent_at(serial)? })
        })
    }

    pub(super) fn capture_rows(&self) -> Vec<CaptureRow> {
        let ends = if self.emulated.captures.is_empty() { BTreeMap::new() } else { self.ends() };
        let row = |capture: &Capture| {
            let description =
                capture.serial.map_or(FrameDescription::UNKNOWN, |serial| self.emulated.arrivals[serial].description);
            let Line { attachment, segment, .. } = *self.lines[capture.wire];
            let mut comment = match (description.stream, description.sequence) {
                (StreamId::NONE, _) => String::new(),
                (stream, None) => self.traffic.stream_name(stream),
                (stream, Some(sequence)) => format!("{} sequence {sequence}", self.traffic.stream_name(stream)),
            };
            if let Some(attack) = capture.serial.and_then(|serial| self.attack_of(serial)) {
                comment = format!("{}: {comment}", attack.name());
            }
            let at = Some(attachment.node).filter(|_| capture.direction == Direction::Departure);
            if let Some(end) = capture.serial.and_then(|serial| ends.get(&(serial, at))) {
                comment += if comment.is_empty() { "" } else { ", " };
                comment += end;
            }
            let (time, node, direction) = (capture.time, attachment.node, capture.direction);
            let bytes = self.emulated.captured[capture.start..capture.end].to_vec();
            CaptureRow { time, segment, node, direction, comment, bytes }
        };
        let mut rows: Vec<CaptureRow> = self.emulated.captures.iter().map(row).collect();
        rows.sort_by_key(|row| row.time);
        rows
    }

    /// What became of frames, by their arrival: at a receiver, or in the medium.
    fn ends(&self) -> BTreeMap<(usize, Option<NodeId>), String> {
        let words = |kind: EventKind| match kind {
            EventKind::Discarded(reason) => Some(format!("discarded: {}", reason.name())),
            EventKind::Delivered | EventKind::Relayed => Some(kind.name().to_owned()),
            _ => None,
        };
        let told = self
            .ways
            .deliveries
            .iter()
            .filter_map(|delivery| Some(((delivery.serial?, Some(delivery.to)), words(delivery.said()?.kind)?)));
        let discarded = self.emulated.discards.iter();
        told.chain(discarded.filter_map(|one| Some(((one.serial?, None), words(one.event.kind)?)))).collect()
    }
}

/// What is known of a PDU that came in a frame with others.
pub(super) struct Told {
    at: SimTime,
    pub(super) event: Event,
    /// The transmission it came from.
    pub(super) origin: Option<usize>,
    attack: Option<AttackKind>,
}

/// What its receiver, which got it at a time `[ps]`, made of a frame.
fn judge(row: &mut FrameRow, at_ps: i64, verdict: Option<(SimTime, Event)>, description: &FrameDescription) {
    row.received_at = match description.has_when_checked {
        true => verdict.map(|(at, _)| at),
        false => Some(SimTime::from_ps(at_ps)),
    };
    let Some((checked_at, event)) = verdict else { return };
    let is_accepted = matches!(event.kind, EventKind::Delivered | EventKind::Relayed);
    row.accepted_at = Some(checked_at).filter(|_| is_accepted);
    if description.sequence.is_none() || is_accepted && description.is_numbered_by_receiver {
        row.sequence = event.sequence;
    }
    let is_after = |at: Option<SimTime>, deadline: Option<SimTime>| at.zip(deadline).is_some_and(|(at, by)| at > by);
    let thrown_away = Outcome::thrown_away(&event, row.sent_at, SimTime::from_ps(at_ps));
    row.outcome = thrown_away.unwrap_or(match event.kind {
        EventKind::BeaconRejected => Outcome::Discarded(DiscardReason::OutsideWindow),
        _ if is_after(row.departed_at, description.leaves_by) => Outcome::Late,
        _ if is_after(Some(checked_at), description.received_by) => Outcome::Late,
        _ => Outcome::Delivered,
    });
}
