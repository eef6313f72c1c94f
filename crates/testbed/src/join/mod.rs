//! From what emulator and agents wrote down, each on its own, to one row for each frame at each receiver, and one for each
//! transmission.

mod connected;
pub(crate) mod connections;
mod given_up;
mod hops;
mod messages;
mod resolution;
mod rows;
#[cfg(test)]
mod tests;
mod ways;

use chronoseal_core::{Event, EventKind, LocalTime, NodeId, SimTime, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_results::{OwedRow, RunRows, Stays};

use self::rows::Table;
use self::ways::Ways;
use crate::config::{AgentConfig, PortLink};
use crate::emulator::EmulatorLog;
use crate::live::AgentCounts;
use crate::log::{AgentLog, OperationNames};
use crate::traffic::Traffic;

/// A wire as the records know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Whose port it leads to.
    pub(crate) attachment: Attachment,
    /// On which segment.
    pub(crate) segment: u16,
    /// Who carries its frames; decides how records are matched.
    pub(crate) carrier: Carrier,
}

/// Who carries the frames of a wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Carrier {
    /// The emulator reads them from it and writes them to it.
    Emulator,
    /// So it does, and the kernel at the other end cuts messages into frames: of each message its first frame is the one that is matched.
    Messages,
    /// The CAN interface of the kernel with this name; the emulator only hears what is on it.
    Kernel(String),
}

pub(crate) struct Joined {
    pub(crate) rows: RunRows,
    pub(crate) counts: Vec<AgentCounts>,
    pub(crate) warnings: Vec<String>,
}

/// When a message was due that says so itself, as its receiver told when it accepted it; `None` for what says nothing.
fn due_by_itself(
    agents: &[AgentConfig],
    [sender, receiver]: [NodeId; 2],
    accepted_at: SimTime,
    event: &Event,
) -> Option<SimTime> {
    let clock = |node| Some(agents.iter().find(|agent| agent.node == node)?.clock());
    let says = event.kind == EventKind::Delivered && event.value != 0;
    // The sender says it by its clock, and the receiver counts from there by its own.
    let local = clock(receiver).filter(|_| says)?.local(accepted_at);
    Some(clock(sender)?.sim(LocalTime::from_ps(local.as_ps().saturating_sub(event.value))))
}

/// Matches what was written down at both ends of each of `lines` and makes the rows. Rounds the times of it first.
pub(crate) fn join(
    agents: &[AgentConfig],
    lines: &[&Line],
    mut emulated: EmulatorLog,
    logs: &mut [Option<AgentLog>],
    traffic: &dyn Traffic,
) -> Joined {
    resolution::round_up(logs, &mut emulated);
    let logs = &*logs;
    let ways = Ways::new(agents, lines, &emulated, logs);
    let mut warnings = warnings_of(agents, &ways.counts, logs, traffic);
    let table = Table::new(agents, lines, &emulated, logs, &ways, traffic);
    let mut rows = RunRows {
        frames: table.frame_rows(),
        hops: table.hop_rows(),
        captures: table.capture_rows(),
        on_way: table.on_way().collect(),
        ..RunRows::default()
    };
    warnings.extend(table.kept_by_kernels(&rows.frames));
    let (connected, on_way, told) = connected::rows(agents, logs, &Stays::new(&emulated.stalls), traffic);
    warnings.extend(told);
    rows.frames.extend(connected);
    rows.on_way.extend(on_way);
    rows.frames.sort_by_key(|row| row.sent_at.or(row.arrived_at));
    collect_events(agents, &emulated, logs, traffic, &mut rows);
    let counts = ways.counts;
    rows.stalls = emulated.stalls;
    rows.releases = emulated.releases;
    Joined { rows, counts, warnings }
}

fn warnings_of(
    agents: &[AgentConfig],
    counts: &[AgentCounts],
    logs: &[Option<AgentLog>],
    traffic: &dyn Traffic,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for ((agent, count), log) in agents.iter().zip(counts).zip(logs) {
        let name = &agent.name;
        let unconnected = log.as_ref().map_or(0, |log| log.unconnected);
        if unconnected > 0 {
            warnings.push(format!(
                "{name}: {unconnected} connections of its streams did not stand when the run began; their messages wait at the sender"
            ));
        }
        let Some(log) = log else { continue };
        warnings.extend(connections::broken(agent, agents, log, traffic));
        let mut warn = |number: u64, what: &str| {
            if number > 0 {
                warnings.push(format!("{name}: {number} frames {what}"));
            }
        };
        let is_held = agent.ports.iter().any(|link| matches!(link, PortLink::Socket(link) if link.held_to.is_some()));
        warn(
            count.lost,
            if is_held {
                "never reached the emulator: they waited at its interface, which holds it back, when the run ended"
            } else {
                "were sent but never reached the emulator"
            },
        );
        warn(count.unread, "were written to its wire but never received");
        // What its program sends is the kernel's too.
        let foreign = if agent.program.is_some() { 0 } else { count.foreign };
        warn(foreign, "on its wire were not its own (sent by the kernel)");
        warn(count.refused, "were refused by the kernel");
        warn(log.strangers, "came from elsewhere to its sockets and are no part of the run");
    }
    warnings
}

fn collect_events(
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
        let owed = |(stream, due_ps): &(u16, i64)| OwedRow {
            node: agent.node,
            stream: StreamId(*stream),
            due_at: SimTime::from_ps(*due_ps),
        };
        rows.owed.extend(log.owed.iter().map(owed));
    }
    // Stable, so that each node's events stay in its own order.
    rows.events.sort_by_key(|row| row.time);
    rows.work.sort_by_key(|row| row.time);
    let missing = rows.events.iter().filter(|row| row.event.kind == EventKind::Missing);
    rows.frames.extend(missing.filter_map(|row| traffic.missing(row)));
}
