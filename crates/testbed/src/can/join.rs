//! From what stations on a CAN interface of the kernel wrote down, and what was seen there meanwhile, to one row for
//! each frame at each receiver.
//!
//! The kernel shows every listener the same frames in one order, so what the emulator saw is the order of the bus.

use chronoseal_core::{NodeId, SimTime};
use chronoseal_results::{FrameRow, RunRows};

use crate::emulator::{EmulatorLog, Wire};
use crate::join::{Joined, Spans, Table, collect_events, indices, pair, warnings_of};
use crate::live::{AgentConfig, AgentCounts};
use crate::log::{AgentLog, ReceivedRecord, SentRecord};
use crate::traffic::Traffic;

/// As [`crate::join::join`], where nothing lies between the stations but the interface that `wires` end at.
pub(crate) fn join(
    agents: &[AgentConfig],
    wires: &[Wire],
    emulated: EmulatorLog,
    logs: &[Option<AgentLog>],
    traffic: &dyn Traffic,
) -> Joined {
    let arrivals = &emulated.arrivals;
    let mut counts: Vec<AgentCounts> =
        agents.iter().map(|agent| AgentCounts { node: agent.node.0, ..AgentCounts::default() }).collect();
    let mut from_of: Vec<NodeId> = arrivals.iter().map(|arrival| wires[arrival.wire].attachment.node).collect();
    let mut sent_of: Vec<Option<SentRecord>> = vec![None; arrivals.len()];
    let mut lost: Vec<(usize, SentRecord)> = Vec::new();
    for (agent, log) in logs.iter().enumerate() {
        let Some(log) = log else { continue };
        let unclaimed: Vec<usize> = (0..arrivals.len()).filter(|index| sent_of[*index].is_none()).collect();
        let hashes: Vec<u64> = unclaimed.iter().map(|index| arrivals[*index].hash).collect();
        let pairs = pair(&log.sent.iter().map(|sent| sent.hash).collect::<Vec<_>>(), &hashes);
        let mut seen = vec![false; log.sent.len()];
        for (arrival, found) in unclaimed.iter().zip(&pairs) {
            let Some(index) = found else { continue };
            seen[*index] = true;
            sent_of[*arrival] = Some(log.sent[*index]);
            from_of[*arrival] = agents[agent].node;
        }
        lost.extend(log.sent.iter().zip(&seen).filter(|(_, seen)| !**seen).map(|(sent, _)| (agent, *sent)));
        counts[agent].sent = log.sent.len() as u64;
        counts[agent].read = seen.iter().filter(|seen| **seen).count() as u64;
    }
    let received_of: Vec<Vec<Option<ReceivedRecord>>> = agents
        .iter()
        .zip(logs)
        .zip(&mut counts)
        .map(|((agent, log), count)| {
            let mut received_of = vec![None; arrivals.len()];
            let Some(log) = log else { return received_of };
            let of_others = indices(&from_of, |from| *from != agent.node);
            let hashes: Vec<u64> = of_others.iter().map(|index| arrivals[*index].hash).collect();
            let pairs = pair(&hashes, &log.received.iter().map(|received| received.hash).collect::<Vec<_>>());
            for (received, found) in log.received.iter().zip(&pairs) {
                match found {
                    Some(index) => {
                        received_of[of_others[*index]] = Some(*received);
                        count.received += 1;
                    }
                    None => count.foreign += 1,
                }
            }
            count.written = of_others.len() as u64;
            received_of
        })
        .collect();
    for (count, log) in counts.iter_mut().zip(logs) {
        count.lost = count.sent - count.read;
        count.unread = count.written - count.received;
        count.refused = log.as_ref().map_or(0, |log| log.refused);
    }
    let warnings = warnings_of(&counts, logs);
    let stalls = Spans::new(&emulated.stalls);
    let table = Table {
        agents,
        wires,
        emulated: &emulated,
        from_of,
        sent_of,
        received_of: Vec::new(),
        stalls,
        traffic,
        is_can: true,
    };
    let mut rows = RunRows {
        frames: frame_rows(&table, &received_of, &lost),
        captures: table.capture_rows(),
        ..RunRows::default()
    };
    collect_events(agents, &emulated, logs, traffic, &mut rows);
    rows.stalls = emulated.stalls;
    rows.releases = emulated.releases;
    Joined { rows, counts, warnings }
}

fn frame_rows(
    table: &Table<'_>,
    received_of: &[Vec<Option<ReceivedRecord>>],
    lost: &[(usize, SentRecord)],
) -> Vec<FrameRow> {
    let mut rows = Vec::new();
    for (serial, arrival) in table.emulated.arrivals.iter().enumerate() {
        let receivers = table
            .agents
            .iter()
            .zip(received_of)
            .filter(|(agent, _)| agent.node != table.from_of[serial] && !table.is_attacker(agent.node));
        for (agent, received_of) in receivers {
            let mut row = table.row_of(serial, agent.node);
            if let Some(received) = &received_of[serial] {
                row.received_at = Some(SimTime::from_ps(received.at_ps));
                let description = &arrival.description;
                table.judge(&mut row, received, description.late_after, description.sequence.is_none());
            }
            if table.has_say(&row) {
                let last = row.received_at;
                rows.push(table.with_stall(row, last));
            }
        }
    }
    rows.extend(lost.iter().map(|(agent, sent)| table.lost_row(table.agents[*agent].node, sent)));
    rows.sort_by_key(|row| row.sent_at.or(row.arrived_at));
    rows
}
