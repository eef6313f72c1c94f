//! Matches the records at both ends of each wire.
//!
//! A wire keeps the order of its frames, so the n-th frame sent is the n-th one read, unless one was lost between; the
//! hash of its bytes tells. A CAN interface of the kernel shows every listener the same frames in one order, so what the
//! emulator heard is the order of that bus.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{Event, NodeId, SimTime, StreamId};

use super::{Carrier, Line};
use crate::config::{AgentConfig, PortLink};
use crate::emulator::{Arrival, EmulatorLog};
use crate::live::AgentCounts;
use crate::log::{AgentLog, ReceivedRecord, SentRecord};

/// Frames that may be lost in a row before the sequence is found again.
const GAP_MAX: usize = 8192;

/// A frame at one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Which frame, by its arrival; `None` if the medium made it itself.
    pub(super) serial: Option<usize>,
    pub(super) to: NodeId,
    /// When its first bit left the medium.
    pub(super) departed_at: Option<SimTime>,
    /// When the emulator wrote it.
    pub(super) written_at: Option<SimTime>,
    /// False for the first frame of a message that goes on in others.
    pub(super) is_whole: bool,
    /// The kernel took it.
    pub(super) accepted: bool,
    /// What the receiver wrote down.
    pub(super) received: Option<ReceivedRecord>,
}

impl Delivery {
    /// What its receiver said of it.
    pub(super) fn said(&self) -> Option<Event> {
        self.received?.verdict?.event()
    }
}

/// What became of each frame.
pub(super) struct Ways<'a> {
    agents: &'a [AgentConfig],
    emulated: &'a EmulatorLog,
    logs: &'a [Option<AgentLog>],
    /// By agent.
    pub(super) counts: Vec<AgentCounts>,
    /// Who put it on the wire, by arrival.
    pub(super) from_of: Vec<NodeId>,
    /// By arrival: the sender's place among the agents, and its record.
    pub(super) sent_of: Vec<Option<(usize, SentRecord)>>,
    /// What the emulator wrote, in its order, then what the kernel carried.
    pub(super) deliveries: Vec<Delivery>,
    /// Frames sent and never seen by the emulator: the sender's place among the agents, and its record.
    pub(super) lost: Vec<(usize, SentRecord)>,
    /// By agent and number of the input: the arrival that the frame is.
    pub(super) serial_of_input: Vec<Vec<Option<usize>>>,
}

impl<'a> Ways<'a> {
    pub(super) fn new(
        agents: &'a [AgentConfig],
        lines: &[&Line],
        emulated: &'a EmulatorLog,
        logs: &'a [Option<AgentLog>],
    ) -> Self {
        let count = |agent: &AgentConfig| AgentCounts { node: agent.node.0, ..AgentCounts::default() };
        let written = emulated.departures.iter().map(|departure| Delivery {
            serial: departure.serial,
            to: lines[departure.wire].attachment.node,
            departed_at: Some(departure.departed_at),
            written_at: Some(departure.written_at),
            is_whole: departure.is_whole,
            accepted: departure.accepted,
            received: None,
        });
        let inputs = |log: &Option<AgentLog>| vec![None; log.as_ref().map_or(0, |log| log.received.len())];
        let mut ways = Self {
            agents,
            emulated,
            logs,
            counts: agents.iter().map(count).collect(),
            from_of: emulated.arrivals.iter().map(|arrival| lines[arrival.wire].attachment.node).collect(),
            sent_of: vec![None; emulated.arrivals.len()],
            deliveries: written.collect(),
            lost: Vec::new(),
            serial_of_input: logs.iter().map(inputs).collect(),
        };
        for (wire, line) in lines.iter().enumerate() {
            match &line.carrier {
                Carrier::Emulator | Carrier::Messages => ways.over_emulator(wire, line),
                Carrier::Kernel(interface) => ways.over_kernel(wire, interface),
            }
        }
        for (count, log) in ways.counts.iter_mut().zip(logs) {
            count.lost = count.sent.saturating_sub(count.read);
            count.unread = count.written.saturating_sub(count.received);
            count.refused = log.as_ref().map_or(0, |log| log.refused);
        }
        ways
    }

    /// A wire between one agent and the emulator.
    fn over_emulator(&mut self, wire: usize, line: &Line) {
        let (agents, emulated, logs) = (self.agents, self.emulated, self.logs);
        let Some(agent) = agents.iter().position(|agent| agent.node == line.attachment.node) else { return };
        let port = line.attachment.port.0;
        // Of a message in several frames the first one stands for all.
        let stands = |arrival: &Arrival| line.carrier == Carrier::Emulator || arrival.description.part.is_first();
        let arrivals = indices(&emulated.arrivals, |arrival| arrival.wire == wire && stands(arrival));
        // What programs and the kernel of a station say to each other is nobody's message.
        let is_foreign = |serial: Option<usize>| {
            let stream = serial.map(|serial| emulated.arrivals[serial].description.stream);
            line.carrier == Carrier::Messages && stream == Some(StreamId::NONE)
        };
        let departures = indices(&emulated.departures, |departure| {
            departure.wire == wire && departure.accepted && !is_foreign(departure.serial)
        });
        self.counts[agent].written += departures.len() as u64;
        let Some(log) = &logs[agent] else {
            self.counts[agent].read += arrivals.len() as u64;
            return;
        };
        let known = self.match_sent(agent, log, port, &arrivals);
        self.counts[agent].foreign += arrivals.len() as u64 - known;

        let hashes: Vec<u64> = departures.iter().map(|index| emulated.departures[*index].hash).collect();
        let matched = match line.carrier {
            Carrier::Messages => match_in_any_order(log, port, &hashes),
            Carrier::Emulator | Carrier::Kernel(_) => match_received(log, port, &hashes),
        };
        for (input, found) in matched {
            let Some(index) = found else { continue };
            let delivery = &mut self.deliveries[departures[index]];
            delivery.received = Some(log.received[input]);
            self.serial_of_input[agent][input] = delivery.serial;
            self.counts[agent].received += 1;
        }
        if line.carrier == Carrier::Messages {
            // The kernel hands over what it can complete: the rest of a message may have been lost, or be a second copy.
            let is_part = |index: &&usize| {
                let of_message = !self.deliveries[**index].is_whole;
                of_message && self.deliveries[**index].received.is_none()
            };
            self.counts[agent].written -= departures.iter().filter(is_part).count() as u64;
        }
    }

    /// A CAN interface of the kernel: all agents with a port there, and what the emulator heard on `wire`.
    fn over_kernel(&mut self, wire: usize, interface: &str) {
        let (agents, emulated, logs) = (self.agents, self.emulated, self.logs);
        let is_it = |link: &PortLink| matches!(link, PortLink::CanInterface(name) if name == interface);
        let port_of = |agent: &AgentConfig| agent.ports.iter().position(is_it).map(|port| port as u16);
        let ports: Vec<(usize, u16)> =
            agents.iter().enumerate().filter_map(|(agent, config)| Some((agent, port_of(config)?))).collect();
        let arrivals = indices(&emulated.arrivals, |arrival| arrival.wire == wire);
        for &(agent, port) in &ports {
            let Some(log) = &logs[agent] else { continue };
            let unclaimed: Vec<usize> =
                arrivals.iter().copied().filter(|serial| self.sent_of[*serial].is_none()).collect();
            self.match_sent(agent, log, port, &unclaimed);
        }
        let first = self.deliveries.len();
        for &(agent, port) in &ports {
            let node = agents[agent].node;
            let of_others: Vec<usize> =
                arrivals.iter().copied().filter(|serial| self.from_of[*serial] != node).collect();
            let begin = self.deliveries.len();
            self.deliveries.extend(of_others.iter().map(|serial| Delivery {
                serial: Some(*serial),
                to: node,
                departed_at: None,
                written_at: None,
                is_whole: true,
                accepted: true,
                received: None,
            }));
            let Some(log) = &logs[agent] else { continue };
            let hashes: Vec<u64> = of_others.iter().map(|serial| emulated.arrivals[*serial].hash).collect();
            for (input, found) in match_received(log, port, &hashes) {
                let Some(index) = found else {
                    self.counts[agent].foreign += 1;
                    continue;
                };
                self.deliveries[begin + index].received = Some(log.received[input]);
                self.serial_of_input[agent][input] = Some(of_others[index]);
                self.counts[agent].received += 1;
            }
            self.counts[agent].written += of_others.len() as u64;
        }
        // Stable, so that the receivers of a frame stay in the order of the agents.
        self.deliveries[first..].sort_by_key(|delivery| delivery.serial);
    }

    /// Finds out which of `arrivals` an agent sent from one of its ports, and says how many.
    fn match_sent(&mut self, agent: usize, log: &AgentLog, port: u16, arrivals: &[usize]) -> u64 {
        let sent: Vec<&SentRecord> = log.sent.iter().filter(|sent| sent.port == port).collect();
        let pairs = pair(
            &sent.iter().map(|sent| sent.hash).collect::<Vec<_>>(),
            &arrivals.iter().map(|serial| self.emulated.arrivals[*serial].hash).collect::<Vec<_>>(),
        );
        let mut seen = vec![false; sent.len()];
        for (serial, found) in arrivals.iter().zip(&pairs) {
            let Some(index) = found else { continue };
            seen[*index] = true;
            self.sent_of[*serial] = Some((agent, *sent[*index]));
            self.from_of[*serial] = self.agents[agent].node;
        }
        let unseen = sent.iter().zip(&seen).filter(|(_, seen)| !**seen);
        self.lost.extend(unseen.map(|(sent, _)| (agent, **sent)));
        let known = seen.iter().filter(|seen| **seen).count() as u64;
        self.counts[agent].sent += sent.len() as u64;
        self.counts[agent].read += known;
        known
    }
}

/// For each frame an agent received at `port`, by the number of the input, the index of its hash in `carried`, if it is
/// there.
fn match_received(log: &AgentLog, port: u16, carried: &[u64]) -> Vec<(usize, Option<usize>)> {
    let inputs = indices(&log.received, |received| received.port == port);
    let hashes: Vec<u64> = inputs.iter().map(|input| log.received[*input].hash).collect();
    let pairs = pair(carried, &hashes);
    inputs.into_iter().zip(pairs).collect()
}

/// The same where the kernel hands messages over in the order in which all of them is there, and perhaps twice.
fn match_in_any_order(log: &AgentLog, port: u16, carried: &[u64]) -> Vec<(usize, Option<usize>)> {
    let mut open: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
    for (index, hash) in carried.iter().enumerate() {
        open.entry(*hash).or_default().push_back(index);
    }
    let inputs = indices(&log.received, |received| received.port == port);
    let found = |input: &usize| open.get_mut(&log.received[*input].hash).and_then(VecDeque::pop_front);
    let found: Vec<Option<usize>> = inputs.iter().map(found).collect();
    inputs.into_iter().zip(found).collect()
}

fn indices<T>(all: &[T], wanted: impl Fn(&T) -> bool) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, one)| wanted(one)).map(|(index, _)| index).collect()
}

/// For each of `after` the one of `before` it is, both in order; `None` for one that came from nowhere.
pub(super) fn pair(before: &[u64], after: &[u64]) -> Vec<Option<usize>> {
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
