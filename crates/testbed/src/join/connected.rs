//! Rows of messages that went over connections, through a network of others, or that programs carried: the emulator saw no packet that
//! stands for one, so they are made of what both ends wrote down.

use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, DiscardReason, EventKind, NodeId, SimTime, StreamId};
use chronoseal_results::{FrameRow, OnWayRow, Outcome, Stays};

use super::due_by_itself;
use crate::config::{AgentConfig, PortLink};
use crate::connection::ConnectionEnd;
use crate::connection::channel::Transport;
use crate::host_link::DatagramEnd;
use crate::log::{AgentLog, ConnectedSent};
use crate::traffic::Traffic;

/// Who gets a stream.
#[derive(Default)]
struct Receivers {
    nodes: Vec<NodeId>,
    /// Its messages come soon or never, so one that has not come by the end of the run is lost. Others may wait to be sent again.
    are_datagrams: bool,
    /// One may come before those that were sent before it.
    overtake: bool,
}

/// A message at a receiver: stream, number, who.
type Key = (StreamId, u64, NodeId);

/// The rows, what was still on its way when the run ended, and what does not fit together, in words.
pub(super) fn rows(
    agents: &[AgentConfig],
    logs: &[Option<AgentLog>],
    stalls: &Stays,
    traffic: &dyn Traffic,
) -> (Vec<FrameRow>, Vec<OnWayRow>, Vec<String>) {
    let known = senders(agents, logs);
    // What a sender wrote down that was lost is not known; only what came of it, by what it says of itself.
    let lost: BTreeMap<StreamId, NodeId> = (agents.iter().zip(logs))
        .filter(|(_, log)| log.is_none())
        .flat_map(|(agent, _)| sent(agent).into_iter().map(|stream| (stream, agent.node)))
        .collect();
    let mut by_themselves: BTreeMap<(StreamId, u64), ConnectedSent> = BTreeMap::new();
    let mut came: BTreeMap<Key, Vec<(SimTime, EventKind)>> = BTreeMap::new();
    let mut last: BTreeMap<(StreamId, NodeId), u64> = BTreeMap::new();
    for (agent, log) in agents.iter().zip(logs) {
        for (record, len) in log.iter().flat_map(|log| &log.connected_received) {
            let Some(event) = record.event() else { continue };
            came.entry((event.stream, event.sequence, agent.node)).or_default().push((record.at(), event.kind));
            let due = |sender: &NodeId| due_by_itself(agents, [*sender, agent.node], record.at(), &event);
            if let Some(due) = lost.get(&event.stream).and_then(due) {
                let (stream, sequence) = (event.stream.0, event.sequence);
                let said = ConnectedSent { at_ps: due.as_ps(), stream, sequence, len: *len, is_refused: false };
                by_themselves.entry((event.stream, sequence)).or_insert(said);
            } else if !known.contains_key(&(event.stream, event.sequence)) {
                // One that nobody sent says nothing of those before it.
                continue;
            }
            let highest = last.entry((event.stream, agent.node)).or_default();
            *highest = event.sequence.max(*highest);
        }
    }
    let receivers = receivers(agents);
    let (mut rows, mut on_way, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let written = agents.iter().zip(logs).flat_map(|(agent, log)| {
        let sent = log.iter().flat_map(|log| &log.connected_sent);
        sent.map(|sent| (agent.node, sent, false))
    });
    let said = by_themselves.iter().filter_map(|((stream, _), sent)| Some((*lost.get(stream)?, sent, true)));
    for (sender, sent, is_said) in written.chain(said) {
        let stream = StreamId(sent.stream);
        let Some(Receivers { nodes, are_datagrams, overtake }) = receivers.get(&stream) else { continue };
        for at in nodes {
            let mut row = open(sender, *at, sent);
            if is_said {
                // When it left nobody knows.
                row.due_at = row.sent_at.take();
            }
            let begun = row;
            let ends = came.remove(&(stream, sent.sequence, *at)).unwrap_or_default();
            match ends.first() {
                _ if sent.is_refused => row.outcome = Outcome::Discarded(DiscardReason::QueueFull),
                None if *are_datagrams => row.outcome = Outcome::Missing,
                // One behind it was there: this one will not come.
                None if !overtake && last.get(&(stream, *at)).is_some_and(|last| *last > sent.sequence) => {
                    row.outcome = Outcome::Missing;
                }
                None => on_way.push(OnWayRow {
                    stream,
                    sequence: Some(sent.sequence),
                    sent_at: SimTime::from_ps(sent.at_ps),
                }),
                Some((when, kind)) => end(&mut row, *when, *kind, stalls),
            }
            rows.push(row);
            // An application that had it twice.
            rows.extend(ends.iter().skip(1).map(|(when, _)| {
                let mut copy = begun;
                end(&mut copy, *when, EventKind::Discarded(DiscardReason::CopyEliminated), stalls);
                copy
            }));
        }
    }
    for (agent, log) in agents.iter().zip(logs) {
        let bad = log.as_ref().map_or(0, |log| log.bad_records);
        if bad > 0 {
            warnings.push(format!("the program of {} wrote {bad} bytes that are no record of its streams", agent.name));
        }
    }
    warnings.extend(lost.iter().map(|(stream, sender)| {
        let count = by_themselves.keys().filter(|(its, _)| its == stream).count();
        let (name, what) = (name_of(agents, *sender), traffic.stream_name(*stream));
        format!(
            "{name} was lost with what it wrote down: of {what} only the {count} messages that came are known, by the number and time that they \
             carry"
        )
    }));
    came.retain(|(stream, ..), _| !lost.contains_key(stream));
    let mut strange: BTreeMap<(StreamId, NodeId), usize> = BTreeMap::new();
    for ((stream, sequence, at), ends) in &came {
        if let Some((sender, sent)) = known.get(&(*stream, *sequence)) {
            // Genuine, and not for this one.
            rows.extend(ends.iter().map(|(when, kind)| {
                let mut row = open(*sender, *at, sent);
                end(&mut row, *when, *kind, stalls);
                row
            }));
            continue;
        }
        *strange.entry((*stream, *at)).or_default() += 1;
        rows.extend(ends.iter().map(|(when, kind)| forged(*stream, *sequence, *at, *when, *kind)));
    }
    warnings.extend(strange.iter().map(|((stream, at), count)| {
        let (who, what) = (name_of(agents, *at), traffic.stream_name(*stream));
        format!("{who} got {count} messages of {what} that nobody wrote down as sent")
    }));
    (rows, on_way, warnings)
}

/// What people call a node.
fn name_of(agents: &[AgentConfig], node: NodeId) -> String {
    let agent = agents.iter().find(|agent| agent.node == node);
    agent.map_or_else(|| format!("node {}", node.0), |agent| agent.name.clone())
}

/// What was written down as sent, and by whom.
fn senders<'a>(
    agents: &[AgentConfig],
    logs: &'a [Option<AgentLog>],
) -> BTreeMap<(StreamId, u64), (NodeId, &'a ConnectedSent)> {
    let of = |(agent, log): (&AgentConfig, &'a Option<AgentLog>)| {
        let node = agent.node;
        let sent = log.iter().flat_map(|log| &log.connected_sent);
        sent.map(move |sent| ((StreamId(sent.stream), sent.sequence), (node, sent)))
    };
    agents.iter().zip(logs).flat_map(of).collect()
}

/// What an application took for a message of its stream and no sender of it wrote down.
fn forged(stream: StreamId, sequence: u64, at: NodeId, when: SimTime, kind: EventKind) -> FrameRow {
    let sent = ConnectedSent { at_ps: when.as_ps(), stream: stream.0, sequence, len: 0, is_refused: false };
    let mut row = FrameRow { attack: Some(AttackKind::Spoof), sent_at: None, ..open(NodeId::UNKNOWN, at, &sent) };
    end(&mut row, when, kind, &Stays::default());
    row
}

fn end(row: &mut FrameRow, when: SimTime, kind: EventKind, stalls: &Stays) {
    row.received_at = Some(when);
    row.outcome = match kind {
        EventKind::Discarded(reason) => Outcome::Discarded(reason),
        _ => Outcome::Delivered,
    };
    row.accepted_at = Some(when).filter(|_| row.outcome == Outcome::Delivered);
    row.stalled = row.sent_at.or(row.due_at).is_some_and(|from| stalls.overlap(from, when));
}

/// Who gets the messages of each stream that only its ends know of.
fn receivers(agents: &[AgentConfig]) -> BTreeMap<StreamId, Receivers> {
    let mut receivers: BTreeMap<StreamId, Receivers> = BTreeMap::new();
    let mut add = |stream: u16, node, is_datagram: bool, overtakes: bool| {
        let known = receivers.entry(StreamId(stream)).or_default();
        known.nodes.push(node);
        known.are_datagrams |= is_datagram;
        known.overtake |= overtakes;
    };
    for agent in agents {
        for link in &agent.ports {
            let (connections, datagrams) = ends(link);
            for end in connections.iter().filter(|end| !end.sends) {
                add(end.stream, agent.node, false, end.transport == Transport::Quic);
            }
            for end in datagrams.iter().filter(|end| !end.sends) {
                add(end.stream, agent.node, true, true);
            }
        }
        for stream in agent.program.iter().flat_map(|program| &program.streams).filter(|stream| !stream.sends) {
            add(stream.number, agent.node, false, false);
        }
    }
    receivers
}

/// The streams among them that an agent sends.
fn sent(agent: &AgentConfig) -> Vec<StreamId> {
    let mut streams: Vec<StreamId> = Vec::new();
    for link in &agent.ports {
        let (connections, datagrams) = ends(link);
        streams.extend(connections.iter().filter(|end| end.sends).map(|end| StreamId(end.stream)));
        streams.extend(datagrams.iter().filter(|end| end.sends).map(|end| StreamId(end.stream)));
    }
    let of_program = agent.program.iter().flat_map(|program| &program.streams).filter(|stream| stream.sends);
    streams.extend(of_program.map(|stream| StreamId(stream.number)));
    streams
}

/// The ends of streams at a port that only their ends know of.
fn ends(link: &PortLink) -> (&[ConnectionEnd], &[DatagramEnd]) {
    match link {
        PortLink::Socket(link) => (&link.connections, &[]),
        PortLink::Host(link) => (&link.connections, &link.datagrams),
        PortLink::Tap | PortLink::Pair | PortLink::Existing(_) | PortLink::CanInterface(_) => (&[], &[]),
    }
}

fn open(sender: NodeId, at: NodeId, sent: &ConnectedSent) -> FrameRow {
    let sent_at = SimTime::from_ps(sent.at_ps);
    let (stream, outcome) = (StreamId(sent.stream), Outcome::Unaccounted);
    let row = FrameRow::open(stream, sent.sequence, sender, at, sent_at, outcome);
    FrameRow { len: sent.len, sent_at: Some(sent_at), ..row }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Event;

    use super::super::tests::Nothing;
    use super::*;
    use crate::host_link::HostLink;
    use crate::log::EventRecord;

    const STREAM: u16 = 3;

    /// One end of a stream, with what it wrote down.
    fn end(node: u16, sends: bool, is_datagram: bool, log: AgentLog) -> (AgentConfig, Option<AgentLog>) {
        let datagram =
            DatagramEnd { stream: STREAM, sends, group: [0; 4], station: [0; 4], peers: Vec::new(), parts: None };
        let transport = Transport::Tcp;
        let connection = ConnectionEnd { stream: STREAM, transport, peer: [0; 4], sends, message_len: 100 };
        let link = HostLink {
            address: [0; 4],
            port: 1,
            datagrams: if is_datagram { vec![datagram] } else { Vec::new() },
            connections: if is_datagram { Vec::new() } else { vec![connection] },
        };
        (AgentConfig { ports: vec![PortLink::Host(link)], ..AgentConfig::new(NodeId(node)) }, Some(log))
    }

    fn log(sent: &[(u64, bool)], came: &[(u64, EventKind)]) -> AgentLog {
        let mut log = AgentLog::with_room(0);
        let of = |(sequence, is_refused): &(u64, bool)| ConnectedSent {
            at_ps: *sequence as i64,
            stream: STREAM,
            sequence: *sequence,
            len: 100,
            is_refused: *is_refused,
        };
        log.connected_sent = sent.iter().map(of).collect();
        let event = |(sequence, kind): &(u64, EventKind)| Event::of(*kind, StreamId(STREAM), *sequence);
        log.connected_received =
            came.iter().map(|told| (EventRecord::new(SimTime::from_ps(1_000), &event(told)), 100)).collect();
        log
    }

    /// Six messages are sent and one is refused: two come, one of them twice, one is damaged, and one comes that nobody sent.
    fn outcomes(is_datagram: bool) -> (Vec<(u64, Outcome)>, usize, Vec<String>) {
        let sent: Vec<(u64, bool)> = (0..7).map(|sequence| (sequence, sequence == 6)).collect();
        let damaged = EventKind::Discarded(DiscardReason::Malformed);
        let came = [
            (0, EventKind::Delivered),
            (2, EventKind::Delivered),
            (2, EventKind::Delivered),
            (3, damaged),
            (99, EventKind::Delivered),
        ];
        let ends = [end(0, true, is_datagram, log(&sent, &[])), end(1, false, is_datagram, log(&[], &came))];
        let (agents, logs): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let (rows, on_way, warnings) = rows(&agents, &logs, &Stays::default(), &Nothing);
        let told = rows.iter().map(|row| (row.sequence, row.outcome)).collect();
        (told, on_way.len(), warnings)
    }

    #[test]
    fn a_datagram_that_has_not_come_is_lost_and_every_message_has_an_end() {
        let copy = Outcome::Discarded(DiscardReason::CopyEliminated);
        let damaged = Outcome::Discarded(DiscardReason::Malformed);
        let refused = Outcome::Discarded(DiscardReason::QueueFull);
        let (told, on_way, warnings) = outcomes(true);
        let ends = [
            (0, Outcome::Delivered),
            (1, Outcome::Missing),
            (2, Outcome::Delivered),
            (2, copy),
            (3, damaged),
            (4, Outcome::Missing),
            (5, Outcome::Missing),
            (6, refused),
            (99, Outcome::Delivered),
        ];
        assert_eq!(told, ends);
        assert_eq!(on_way, 0);
        assert!(warnings[0].contains("1 messages of stream 3 that nobody wrote down as sent"), "{warnings:?}");
    }

    #[test]
    fn a_message_of_a_connection_may_still_be_under_way() {
        let (_, on_way, _) = outcomes(false);
        assert_eq!(on_way, 2, "what nobody sent has passed none");
        let sent = [(0, false), (1, false), (2, false)];
        let came = [(0, EventKind::Delivered)];
        let ends = [end(0, true, false, log(&sent, &[])), end(1, false, false, log(&[], &came))];
        let (agents, logs): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let (_, on_way, _) = rows(&agents, &logs, &Stays::default(), &Nothing);
        assert_eq!(on_way.iter().map(|row| row.sequence).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }

    #[test]
    fn what_a_lost_sender_sent_is_known_by_what_came_of_it() {
        let (agent, _) = end(0, true, true, AgentLog::default());
        let (receiver, log) = end(1, false, true, log(&[], &[(0, EventKind::Delivered), (2, EventKind::Delivered)]));
        let mut log = log.expect("it has one");
        // The second says that it was due 300 ps before it was accepted; the first is too short to say so.
        let due = Event { value: 300, ..Event::of(EventKind::Delivered, StreamId(STREAM), 2) };
        log.connected_received[1] = (EventRecord::new(SimTime::from_ps(1_000), &due), 100);
        let (rows, on_way, warnings) = rows(&[agent, receiver], &[None, Some(log)], &Stays::default(), &Nothing);
        let told: Vec<_> = rows.iter().map(|row| (row.sequence, row.sent_at, row.due_at, row.outcome)).collect();
        assert_eq!(told, [(2, None, Some(SimTime::from_ps(700)), Outcome::Delivered)]);
        assert_eq!((rows[0].sender, rows[0].attack, on_way.len()), (NodeId(0), None, 0));
        assert!(warnings[0].contains("only the 1 messages that came are known"), "{warnings:?}");
    }
}
