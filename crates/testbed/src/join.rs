//! From what emulator and agents wrote down, each on its own, to one row for each frame at each receiver.
//!
//! A wire keeps the order of its frames, so the n-th frame sent is the n-th one read, unless one was lost between; the
//! hash of its bytes tells.

use chronoseal_core::{AttackKind, DiscardReason, EventKind, NodeId, SimTime, StreamId};
use chronoseal_results::{CaptureRow, FrameRow, Outcome, RunRows, StallRow};

use crate::emulator::{Arrival, Departure, EmulatorLog, Wire};
use crate::live::{AgentConfig, AgentCounts};
use crate::log::{AgentLog, OperationNames, ReceivedRecord, SentRecord};
use crate::traffic::{FrameDescription, Traffic};

/// Frames that may be lost in a row before the sequence is found again.
const GAP_MAX: usize = 8192;

pub(crate) struct Joined {
    pub(crate) rows: RunRows,
    pub(crate) counts: Vec<AgentCounts>,
    pub(crate) warnings: Vec<String>,
}

pub(crate) fn join(
    agents: &[AgentConfig],
    wires: &[Wire],
    emulated: EmulatorLog,
    logs: &[Option<AgentLog>],
    traffic: &dyn Traffic,
) -> Joined {
    let mut counts: Vec<AgentCounts> =
        agents.iter().map(|agent| AgentCounts { node: agent.node.0, ..AgentCounts::default() }).collect();
    let mut sent_of: Vec<Option<SentRecord>> = vec![None; emulated.arrivals.len()];
    let mut received_of: Vec<Option<ReceivedRecord>> = vec![None; emulated.departures.len()];
    let mut lost: Vec<(usize, SentRecord)> = Vec::new();
    for (wire, Wire { attachment, .. }) in wires.iter().enumerate() {
        let Some(agent) = agents.iter().position(|agent| agent.node == attachment.node) else { continue };
        let count = &mut counts[agent];
        let arrivals = indices(&emulated.arrivals, |arrival: &Arrival| arrival.wire == wire);
        let departures =
            indices(&emulated.departures, |departure: &Departure| departure.wire == wire && departure.accepted);
        count.written += departures.len() as u64;
        let Some(log) = &logs[agent] else {
            count.read += arrivals.len() as u64;
            continue;
        };
        let sent: Vec<&SentRecord> = log.sent.iter().filter(|sent| sent.port == attachment.port.0).collect();
        let pairs = pair(
            &sent.iter().map(|sent| sent.hash).collect::<Vec<_>>(),
            &arrivals.iter().map(|index| emulated.arrivals[*index].hash).collect::<Vec<_>>(),
        );
        let mut seen = vec![false; sent.len()];
        for (arrival, found) in arrivals.iter().zip(&pairs) {
            match found {
                Some(index) => {
                    seen[*index] = true;
                    sent_of[*arrival] = Some(*sent[*index]);
                }
                None => count.foreign += 1,
            }
        }
        let unseen = sent.iter().zip(&seen).filter(|(_, seen)| !**seen);
        lost.extend(unseen.map(|(sent, _)| (agent, **sent)));
        count.sent += sent.len() as u64;
        count.read += seen.iter().filter(|seen| **seen).count() as u64;

        let received: Vec<&ReceivedRecord> =
            log.received.iter().filter(|received| received.port == attachment.port.0).collect();
        let pairs = pair(
            &departures.iter().map(|index| emulated.departures[*index].hash).collect::<Vec<_>>(),
            &received.iter().map(|received| received.hash).collect::<Vec<_>>(),
        );
        for (received, found) in received.iter().zip(&pairs) {
            if let Some(index) = found {
                received_of[departures[*index]] = Some(**received);
                count.received += 1;
            }
        }
    }
    for (count, log) in counts.iter_mut().zip(logs) {
        count.lost = count.sent.saturating_sub(count.read);
        count.unread = count.written.saturating_sub(count.received);
        count.refused = log.as_ref().map_or(0, |log| log.refused);
    }
    let warnings = warnings_of(&counts, logs);
    let from_of = emulated.arrivals.iter().map(|arrival| wires[arrival.wire].attachment.node).collect();
    let stalls = Spans::new(&emulated.stalls);
    let is_can = wires.iter().any(|wire| !wire.end.is_ethernet());
    let table = Table { agents, wires, emulated: &emulated, from_of, sent_of, received_of, stalls, traffic, is_can };
    let mut rows = RunRows { frames: table.frame_rows(&lost), captures: table.capture_rows(), ..RunRows::default() };
    collect_events(agents, &emulated, logs, traffic, &mut rows);
    rows.stalls = emulated.stalls;
    rows.releases = emulated.releases;
    Joined { rows, counts, warnings }
}

pub(crate) fn indices<T>(all: &[T], wanted: impl Fn(&T) -> bool) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, one)| wanted(one)).map(|(index, _)| index).collect()
}

/// For each of `after` the one of `before` it is, both in order; `None` for one that came from nowhere.
pub(crate) fn pair(before: &[u64], after: &[u64]) -> Vec<Option<usize>> {
    let mut next = 0;
    after
        .iter()
        .map(|hash| {
            let gap = before[next..].iter().take(GAP_MAX).position(|candidate| candidate == hash)?;
            next += gap + 1;
            Some(next - 1)
        })
        .collect()
}

pub(crate) fn warnings_of(counts: &[AgentCounts], logs: &[Option<AgentLog>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (count, log) in counts.iter().zip(logs) {
        let node = count.node;
        let mut warn = |number: u64, what: &str| {
            if number > 0 {
                warnings.push(format!("node {node}: {number} frames {what}"));
            }
        };
        if log.is_none() {
            continue;
        }
        warn(count.lost, "were sent but never reached the emulator");
        warn(count.unread, "were written to its wire but never received");
        warn(count.foreign, "on its wire were not its own (sent by the kernel)");
        warn(count.refused, "were refused by the kernel");
    }
    warnings
}

pub(crate) fn collect_events(
    agents: &[AgentConfig],
    emulated: &EmulatorLog,
    logs: &[Option<AgentLog>],
    traffic: &dyn Traffic,
    rows: &mut RunRows,
) {
    let mut names = OperationNames::default();
    rows.events.extend(&emulated.events);
    for (agent, log) in agents.iter().zip(logs) {
        let Some(log) = log else { continue };
        rows.events.extend(log.event_rows(agent.node));
        rows.work.extend(log.work_rows(agent.node, &mut names));
    }
    // Stable, so that each node's events stay in its own order.
    rows.events.sort_by_key(|row| row.time);
    rows.work.sort_by_key(|row| row.time);
    let missing = rows.events.iter().filter(|row| row.event.kind == EventKind::Missing);
    rows.frames.extend(missing.filter_map(|row| traffic.missing(row)));
}

pub(crate) struct Table<'a> {
    pub(crate) agents: &'a [AgentConfig],
    pub(crate) wires: &'a [Wire],
    pub(crate) emulated: &'a EmulatorLog,
    /// Who put it on the wire, by arrival.
    pub(crate) from_of: Vec<NodeId>,
    /// By arrival.
    pub(crate) sent_of: Vec<Option<SentRecord>>,
    /// By departure.
    pub(crate) received_of: Vec<Option<ReceivedRecord>>,
    pub(crate) stalls: Spans,
    pub(crate) traffic: &'a dyn Traffic,
    /// The medium is a CAN bus: a frame is late by when its receiver has it, not by when it left a switch.
    pub(crate) is_can: bool,
}

impl Table<'_> {
    pub(crate) fn is_attacker(&self, node: NodeId) -> bool {
        self.agents.iter().any(|agent| agent.node == node && agent.is_attacker)
    }

    fn is_agent(&self, node: NodeId) -> bool {
        self.agents.iter().any(|agent| agent.node == node)
    }

    fn attack_of(&self, serial: usize) -> Option<AttackKind> {
        match EventKind::from_code(self.sent_of[serial]?.attack?)? {
            EventKind::Attacked(kind) => Some(kind),
            _ => None,
        }
    }

    /// The row of an arrival, its end still open.
    pub(crate) fn row_of(&self, serial: usize, at: NodeId) -> FrameRow {
        let arrival = &self.emulated.arrivals[serial];
        let from = self.from_of[serial];
        let attack = self.attack_of(serial).filter(|_| self.is_attacker(from));
        let description = &arrival.description;
        FrameRow {
            stream: description.stream,
            sequence: description.sequence.unwrap_or(0),
            sender: if attack.is_some() { from } else { description.sender.unwrap_or(from) },
            at,
            attack,
            len: arrival.len,
            cycle_start: description.cycle_start,
            slot_start: description.slot_start,
            // Who is no agent of ours has sent it when we see it.
            sent_at: match self.sent_of[serial] {
                Some(sent) => Some(SimTime::from_ps(sent.at_ps)),
                None => (!self.is_agent(from)).then_some(arrival.read_at),
            },
            arrived_at: Some(arrival.arrived_at.unwrap_or(arrival.read_at)),
            departed_at: None,
            received_at: None,
            outcome: Outcome::Unaccounted,
            stalled: false,
        }
    }

    pub(crate) fn with_stall(&self, mut row: FrameRow, last: Option<SimTime>) -> FrameRow {
        let first = row.sent_at.or(row.arrived_at);
        row.stalled = first.zip(last.or(row.arrived_at)).is_some_and(|(from, to)| self.stalls.overlap(from, to));
        row
    }

    fn frame_rows(&self, lost: &[(usize, SentRecord)]) -> Vec<FrameRow> {
        let mut rows = Vec::with_capacity(self.emulated.departures.len());
        let mut ended = vec![false; self.emulated.arrivals.len()];
        for (index, departure) in self.emulated.departures.iter().enumerate() {
            // What the medium made itself is no frame of a stream; its receivers' events tell of it.
            let Some(serial) = departure.serial else { continue };
            ended[serial] = true;
            let to = self.wires[departure.wire].attachment.node;
            if self.is_attacker(to) {
                continue;
            }
            let mut row = self.row_of(serial, to);
            row.departed_at = Some(departure.departed_at);
            let mut last = departure.written_at;
            if departure.accepted && !self.is_agent(to) {
                // Nobody there tells us more.
                row.received_at = Some(departure.written_at);
                row.outcome = Outcome::Delivered;
            }
            if let Some(received) = &self.received_of[index] {
                let received_at = SimTime::from_ps(received.at_ps);
                last = last.max(received_at);
                row.received_at = Some(received_at);
                let description = &self.emulated.arrivals[serial].description;
                self.judge(&mut row, received, description.late_after, description.sequence.is_none());
            }
            if self.has_say(&row) {
                rows.push(self.with_stall(row, Some(last)));
            }
        }
        for discard in &self.emulated.discards {
            let Some(serial) = discard.serial else { continue };
            ended[serial] = true;
            let mut row = self.row_of(serial, discard.node);
            if let EventKind::Discarded(reason) = discard.event.kind {
                row.outcome = Outcome::Discarded(reason);
            }
            rows.push(self.with_stall(row, None));
        }
        // Frames of no stream that end in the medium were meant for it.
        let open = ended.iter().enumerate().filter(|(_, ended)| !**ended).map(|(serial, _)| serial);
        for serial in open {
            let arrival = &self.emulated.arrivals[serial];
            if arrival.description.stream != StreamId::NONE {
                rows.push(self.with_stall(self.row_of(serial, self.from_of[serial]), None));
            }
        }
        rows.extend(lost.iter().map(|(agent, sent)| self.lost_row(self.agents[*agent].node, sent)));
        rows.sort_by_key(|row| row.sent_at.or(row.arrived_at));
        rows
    }

    /// False for what became of a frame at a node that it is not meant for, and that said nothing about it.
    pub(crate) fn has_say(&self, row: &FrameRow) -> bool {
        row.outcome != Outcome::Unaccounted || self.traffic.concerns(row.stream, row.at)
    }

    pub(crate) fn judge(
        &self,
        row: &mut FrameRow,
        received: &ReceivedRecord,
        late_after: Option<SimTime>,
        counts: bool,
    ) {
        let Some((verdict, event)) = received.verdict.and_then(|record| Some((record, record.event()?))) else {
            return;
        };
        if counts {
            row.sequence = event.sequence;
        }
        let ends_at = if self.is_can { Some(verdict.at()) } else { row.departed_at };
        row.outcome = match event.kind {
            EventKind::Discarded(reason) => Outcome::Discarded(reason),
            EventKind::BeaconRejected => Outcome::Discarded(DiscardReason::OutsideWindow),
            _ if late_after.zip(ends_at).is_some_and(|(latest, end)| end > latest) => Outcome::Late,
            _ => Outcome::Delivered,
        };
    }

    /// A frame that was handed to the kernel and never seen again.
    pub(crate) fn lost_row(&self, node: NodeId, sent: &SentRecord) -> FrameRow {
        let at = SimTime::from_ps(sent.at_ps);
        FrameRow {
            stream: StreamId::NONE,
            sequence: 0,
            sender: node,
            at: node,
            attack: None,
            len: sent.len,
            cycle_start: at,
            slot_start: None,
            sent_at: Some(at),
            arrived_at: None,
            departed_at: None,
            received_at: None,
            outcome: Outcome::Unaccounted,
            stalled: self.stalls.overlap(at, at),
        }
    }

    pub(crate) fn capture_rows(&self) -> Vec<CaptureRow> {
        let row = |capture: &crate::emulator::Capture| {
            let description =
                capture.serial.map_or(FrameDescription::UNKNOWN, |serial| self.emulated.arrivals[serial].description);
            let mut comment = match (description.stream, description.sequence) {
                (StreamId::NONE, _) => String::new(),
                (stream, None) => format!("stream {}", stream.0),
                (stream, Some(sequence)) => format!("stream {} sequence {sequence}", stream.0),
            };
            if let Some(attack) = capture.serial.and_then(|serial| self.attack_of(serial)) {
                comment = format!("{}: {comment}", attack.name());
            }
            CaptureRow {
                time: capture.time,
                node: self.wires[capture.wire].attachment.node,
                direction: capture.direction,
                comment,
                bytes: self.emulated.captured[capture.start..capture.end].to_vec(),
            }
        };
        let mut rows: Vec<CaptureRow> = self.emulated.captures.iter().map(row).collect();
        rows.sort_by_key(|row| row.time);
        rows
    }
}

/// Stalls as disjoint spans in order.
pub(crate) struct Spans(Vec<(SimTime, SimTime)>);

impl Spans {
    /// `stalls` in order of their begin.
    pub(crate) fn new(stalls: &[StallRow]) -> Self {
        let mut spans: Vec<(SimTime, SimTime)> = Vec::new();
        for stall in stalls {
            let end = stall.time + stall.duration;
            match spans.last_mut() {
                Some(last) if stall.time <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((stall.time, end)),
            }
        }
        Self(spans)
    }

    fn overlap(&self, from: SimTime, to: SimTime) -> bool {
        let first = self.0.partition_point(|(_, end)| *end < from);
        self.0.get(first).is_some_and(|(begin, _)| *begin <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::Duration;

    #[test]
    fn frames_are_paired_across_losses_and_strangers() {
        assert_eq!(pair(&[1, 2, 3, 4], &[1, 3, 9, 4]), [Some(0), Some(2), None, Some(3)]);
        assert_eq!(pair(&[7, 7, 7], &[7, 7]), [Some(0), Some(1)]);
        assert_eq!(pair(&[], &[5]), [None]);
    }

    #[test]
    fn a_stall_marks_what_it_overlaps() {
        let at = |us| SimTime::ZERO + Duration::from_us(us);
        let stall = |us, len| StallRow { time: at(us), duration: Duration::from_us(len) };
        let spans = Spans::new(&[stall(100, 50), stall(120, 100), stall(1000, 10)]);
        assert_eq!(spans.0.len(), 2);
        assert!(spans.overlap(at(90), at(100)) && spans.overlap(at(219), at(400)) && spans.overlap(at(0), at(2000)));
        assert!(
            !spans.overlap(at(0), at(99)) && !spans.overlap(at(221), at(999)) && !spans.overlap(at(1011), at(1012))
        );
    }
}
