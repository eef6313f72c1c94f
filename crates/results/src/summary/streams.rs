//! What became of each stream's frames.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{NodeId, SimTime, StreamId};

use super::{Account, ClockSummary, Spread, StreamSummary, account, ways};
use crate::{Distribution, FrameRow, Outcome, RunMeta, RunRows, StreamMeta};

pub(super) fn strangers(rows: &RunRows) -> u64 {
    let is_stranger = |row: &&FrameRow| {
        row.stream == StreamId::NONE && row.attack.is_none() && matches!(row.outcome, Outcome::Discarded(_))
    };
    rows.frames.iter().filter(is_stranger).count() as u64
}

/// By stream: when the last clock had joined that it goes by, and every node that needs them had the counters its frames are checked
/// with `[ns]`.
fn ready_ns(meta: &RunMeta, rows: &RunRows, clocks: &[ClockSummary]) -> Vec<i64> {
    let counted = |stream: &StreamMeta| stream.counters.map_or(0, |counters| counters_ns(meta, rows, counters));
    let mut ready: Vec<i64> = meta.streams.iter().map(counted).collect();
    // Summaries of clocks are in the order of segments and of the nodes of each.
    let mut joined = clocks.iter().map(|clock| clock.acquired_ns.unwrap_or(0));
    for (number, domain) in
        (0u16..).zip(&meta.segments).filter_map(|(number, segment)| Some((number, segment.clocks.as_ref()?)))
    {
        for (place, joined_ns) in (0..domain.nodes.len()).zip(&mut joined) {
            let known = domain.dependents.get(place);
            for (id, (stream, ready_ns)) in (0u16..).zip(meta.streams.iter().zip(&mut ready)) {
                let goes_by = known.map_or_else(|| stream.segments.contains(&number), |known| known.contains(&id));
                if goes_by {
                    *ready_ns = (*ready_ns).max(joined_ns);
                }
            }
        }
    }
    ready
}

/// When the last node first had counters, which may take one period of the messages that tell them and no longer `[ns]`.
fn counters_ns(meta: &RunMeta, rows: &RunRows, counters: u16) -> i64 {
    let Some(told) = meta.streams.get(usize::from(counters)) else { return 0 };
    let first = |receiver: &u16| {
        let own = rows.frames.iter().filter(|row| row.stream == StreamId(counters) && row.at == NodeId(*receiver));
        let accepted = own.filter(|row| row.attack.is_none()).filter_map(|row| row.accepted_at);
        accepted.map(|at| at.since_zero().as_ns()).min().unwrap_or(told.period_ns)
    };
    told.receivers.iter().map(first).max().unwrap_or(0).min(told.period_ns)
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

/// Of frames that were accepted after start-up.
#[derive(Default)]
struct Spreads {
    arrived: BTreeSet<u64>,
    end_to_end: Samples,
    residence: Samples,
    tx: Samples,
    rx: Samples,
    /// Of each receiver `[ns]`.
    by_receiver: BTreeMap<NodeId, Vec<i64>>,
}

impl Spreads {
    fn add(&mut self, row: &FrameRow) {
        self.end_to_end.push(row.due_at, row.accepted_at, row.stalled);
        if let Some(latency) = row.latency() {
            self.by_receiver.entry(row.at).or_default().push(latency.as_ns());
        }
        self.residence.push(row.arrived_at, row.departed_at, row.stalled);
        self.rx.push(row.slot_start, row.departed_at, row.stalled);
        // The copies for several receivers share one arrival.
        if self.arrived.insert(row.sequence) {
            self.tx.push(row.slot_start, row.arrived_at, row.stalled);
        }
    }
}

pub(super) fn streams(meta: &RunMeta, rows: &RunRows, clocks: &[ClockSummary]) -> Vec<StreamSummary> {
    let ready_ns: Vec<i64> = ready_ns(meta, rows, clocks);
    let mut ways = ways::parts(meta, rows, &ready_ns).into_iter();
    let mut spreads: Vec<Spreads> = meta.streams.iter().map(|_| Spreads::default()).collect();
    let is_accepted =
        |row: &&FrameRow| row.attack.is_none() && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
    for row in rows.frames.iter().filter(is_accepted) {
        let index = row.stream.index();
        if let Some(spreads) = spreads.get_mut(index)
            && row.cycle_start.since_zero().as_ns() >= ready_ns[index]
        {
            spreads.add(row);
        }
    }
    let ledgers = account::ledgers(meta, rows, &ready_ns);
    (meta.streams.iter().zip(ledgers).zip(spreads).zip(ready_ns.iter().copied()))
        .map(|(((stream, ledger), mut spreads), ready_ns)| {
            let mut receivers = ledger.accounts(meta);
            if stream.senders.is_none() && stream.receivers.len() > 1 {
                for (account, receiver) in receivers.iter_mut().zip(&stream.receivers) {
                    let samples = spreads.by_receiver.get_mut(&NodeId(*receiver));
                    account.end_to_end = samples.and_then(|samples| Distribution::of(samples));
                }
            }
            let mut all = if receivers.is_empty() { ledger.of_nobody() } else { Account::default() };
            receivers.iter().for_each(|account| all.add(account));
            StreamSummary {
                name: stream.name.clone(),
                class: stream.class.clone(),
                is_judged: stream.is_judged,
                is_lossy: stream.is_lossy,
                ready_ns,
                due: all.due,
                sent: ledger.sent(),
                delivered: all.in_time,
                late: all.late,
                overdue: all.overdue,
                missing: all.missing,
                not_sent: all.not_sent,
                unaccounted: all.unaccounted,
                in_flight: all.in_flight,
                startup: all.startup,
                replaced: all.replaced,
                discarded: all.discarded,
                allowances: stream.allowances.clone(),
                receivers,
                end_to_end: spreads.end_to_end.spread(),
                way: ways.next().unwrap_or_default(),
                residence: spreads.residence.spread(),
                tx: spreads.tx.spread(),
                rx: spreads.rx.spread(),
            }
        })
        .collect()
}
