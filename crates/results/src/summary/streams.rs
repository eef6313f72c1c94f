//! What became of each stream's frames.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{NodeId, SimTime, StreamId};

use super::account::{Keys, Ledger, Settled};
use super::nodes::Clocks;
use super::order::Order;
use super::ways::Ways;
use super::{Account, PartSummary, Spread, StreamSummary};
use crate::{Absence, Distribution, EventRow, FrameRow, HopRow, OnWayRow, OwedRow, RunMeta, Samples, Stays};

/// Every stream of a run.
pub(crate) struct Streams {
    streams: Vec<Stream>,
    ways: Ways,
    order: Order,
    keys: Keys,
    /// By stream: its messages tell the counters that frames of others are checked with.
    tells_counters: Vec<bool>,
    /// When a node first accepted a message with counters `[ns]`, by stream and node.
    counted: BTreeMap<(u16, NodeId), i64>,
    /// Who is known to be out of the group from when to when.
    absences: Vec<Absence>,
    /// When start-up was over for each, as far as is known `[ns]`.
    ready_ns: Vec<i64>,
}

impl Streams {
    pub(crate) fn new(meta: &RunMeta) -> Self {
        let stream = |index: usize| {
            let known = &meta.streams[index];
            let has_own = known.senders.is_none() && known.receivers.len() > 1;
            Stream { ledger: Ledger::new(meta, index), spreads: Spreads { has_own, ..Spreads::default() } }
        };
        let mut tells_counters = vec![false; meta.streams.len()];
        for counters in meta.streams.iter().filter_map(|stream| stream.counters) {
            if let Some(tells) = tells_counters.get_mut(usize::from(counters)) {
                *tells = true;
            }
        }
        Self {
            streams: (0..meta.streams.len()).map(stream).collect(),
            ways: Ways::new(meta),
            order: Order::default(),
            keys: Keys::default(),
            tells_counters,
            counted: BTreeMap::new(),
            absences: Vec::new(),
            ready_ns: vec![0; meta.streams.len()],
        }
    }

    /// Takes in an event, in the order of events.
    pub(crate) fn event(&mut self, meta: &RunMeta, row: &EventRow) {
        self.keys.event(row);
        self.order.event(row);
        if let Some(stream) = self.streams.get_mut(row.event.stream.index()) {
            stream.ledger.event(meta, &self.keys, row);
        }
    }

    pub(crate) fn hop(&mut self, meta: &RunMeta, row: &HopRow) {
        self.ways.hop(meta, row);
    }

    pub(crate) fn frame(&mut self, row: &FrameRow) {
        let index = row.stream.index();
        let Some(stream) = self.streams.get_mut(index) else { return };
        if let (true, None, Some(at)) = (self.tells_counters[index], row.attack, row.accepted_at) {
            let ns = at.since_zero().as_ns();
            let first = self.counted.entry((row.stream.0, row.at)).or_insert(ns);
            *first = (*first).min(ns);
        }
        self.ways.frame(row);
        stream.ledger.frame(row);
    }

    /// Who is known to be out of the group from when to when.
    pub(crate) fn set_absences(&mut self, absences: &[Absence]) {
        absences.clone_into(&mut self.absences);
    }

    /// When start-up was over for each stream, as far as is known `[ns]`: when the last clock had joined that it goes by, and every node
    /// that needs them had the counters its frames are checked with.
    pub(crate) fn ready_ns(&self) -> &[i64] {
        &self.ready_ns
    }

    fn find_ready(&self, meta: &RunMeta, clocks: &Clocks) -> Vec<i64> {
        let counted = |counters: Option<u16>| counters.map_or(0, |counters| self.counters_ns(meta, counters));
        let mut ready: Vec<i64> = meta.streams.iter().map(|stream| counted(stream.counters)).collect();
        // Clocks are in the order of segments and of the nodes of each.
        let mut joined = clocks.joined().map(|joined| joined.unwrap_or(0));
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
    fn counters_ns(&self, meta: &RunMeta, counters: u16) -> i64 {
        let Some(told) = meta.streams.get(usize::from(counters)) else { return 0 };
        let first =
            |receiver: &u16| self.counted.get(&(counters, NodeId(*receiver))).copied().unwrap_or(told.period_ns);
        told.receivers.iter().map(first).max().unwrap_or(0).min(told.period_ns)
    }

    /// Settles what has come; `end` is what nodes owe, and what is known to have been somewhere, when the run is over. `held_up` is when the host
    /// kept a live run, of which everything is settled at its end, from going on.
    pub(crate) fn settle(
        &mut self,
        meta: &RunMeta,
        clocks: &Clocks,
        now: SimTime,
        end: Option<(&[OwedRow], &[OnWayRow])>,
        held_up: &Stays,
    ) {
        self.ready_ns = self.find_ready(meta, clocks);
        self.ways.settle(meta, &self.ready_ns, end.is_some());
        for (stream, ready_ns) in self.streams.iter_mut().zip(&self.ready_ns) {
            stream.settle(Settled { now, ready_ns: *ready_ns, absences: &self.absences, end, held_up });
        }
    }

    /// What became of each, and how long its frames took.
    pub(crate) fn finish(self, meta: &RunMeta) -> (Vec<StreamSummary>, Vec<Samples>) {
        let streams = (0..).map(StreamId).zip(self.streams).zip(&meta.streams);
        let (ways, order) = (self.ways.finish(meta), &self.order);
        streams
            .zip(ways)
            .map(|(((id, stream), meta), way)| stream.finish(meta, way, &|at| order.reordered(id, at)))
            .unzip()
    }
}

struct Stream {
    ledger: Ledger,
    spreads: Spreads,
}

impl Stream {
    fn settle(&mut self, settled: Settled<'_>) {
        self.spreads.settle(settled.ready_ns);
        for row in self.ledger.unsettled().iter().filter(|row| row.is_accepted_from(settled.ready_ns)) {
            self.spreads.add(row);
        }
        self.ledger.settle(settled);
    }

    fn finish(
        self,
        meta: &crate::StreamMeta,
        way: Vec<PartSummary>,
        reordered: &dyn Fn(NodeId) -> u64,
    ) -> (StreamSummary, Samples) {
        let Self { ledger, mut spreads } = self;
        let mut receivers = ledger.accounts();
        for (account, receiver) in receivers.iter_mut().zip(&meta.receivers) {
            account.end_to_end = spreads.by_receiver.get_mut(&NodeId(*receiver)).and_then(Samples::spread);
            account.reordered = if meta.senders.is_none() { reordered(NodeId(*receiver)) } else { 0 };
        }
        let mut all = if receivers.is_empty() { ledger.of_nobody().clone() } else { Account::default() };
        receivers.iter().for_each(|account| all.add(account));
        let (end_to_end, latencies) = spreads.end_to_end.finish();
        let summary = StreamSummary {
            name: meta.name.clone(),
            class: meta.class.clone(),
            is_judged: meta.is_judged,
            is_lossy: meta.is_lossy,
            ready_ns: spreads.ready_ns,
            due: all.due,
            sent: ledger.sent(),
            delivered: all.in_time,
            late: all.late,
            overdue: all.overdue,
            missing: all.missing,
            not_sent: all.not_sent,
            held_up: all.held_up,
            unaccounted: all.unaccounted,
            in_flight: all.in_flight,
            startup: all.startup,
            replaced: all.replaced,
            discarded: all.discarded,
            allowances: meta.allowances.clone(),
            receivers,
            end_to_end,
            way,
            residence: spreads.residence.finish().0,
            tx: spreads.tx.finish().0,
            rx: spreads.rx.finish().0,
        };
        (summary, latencies)
    }
}

/// Samples of one quantity `[ns]`: those that a stall overlapped, and the others.
#[derive(Default)]
pub(super) struct Divided {
    stall_free: Samples,
    stalled: Samples,
}

impl Divided {
    pub(super) fn push(&mut self, from: Option<SimTime>, to: Option<SimTime>, stalled: bool) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let samples = if stalled { &mut self.stalled } else { &mut self.stall_free };
        samples.push((to - from).as_ns());
    }

    /// Their spread, and all of them.
    pub(super) fn finish(self) -> (Spread, Samples) {
        let Self { mut stall_free, stalled: mut all } = self;
        if all.is_empty() {
            let all: Option<Distribution> = stall_free.spread();
            return (Spread { all, stall_free: all }, stall_free);
        }
        all.extend(&stall_free);
        (Spread { all: all.spread(), stall_free: stall_free.spread() }, all)
    }
}

/// Of frames that were accepted after start-up.
#[derive(Default)]
struct Spreads {
    ready_ns: i64,
    /// Numbers of frames of which the arrival is known, of what is not settled and of the time before.
    arrived: [BTreeSet<u64>; 2],
    end_to_end: Divided,
    residence: Divided,
    tx: Divided,
    rx: Divided,
    /// Receivers have figures of their own: there are several, and they are told apart.
    has_own: bool,
    /// Of each receiver, if so `[ns]`.
    by_receiver: BTreeMap<NodeId, Samples>,
}

impl Spreads {
    /// What comes from now on is settled later. What came before start-up was over does not count.
    fn settle(&mut self, ready_ns: i64) {
        if ready_ns > self.ready_ns {
            *self = Self { has_own: self.has_own, ..Self::default() };
        }
        self.ready_ns = ready_ns;
        self.arrived.rotate_left(1);
        self.arrived[1].clear();
    }

    fn add(&mut self, row: &FrameRow) {
        self.end_to_end.push(row.due_at, row.accepted_at, row.stalled);
        if let Some(latency) = row.latency().filter(|_| self.has_own) {
            self.by_receiver.entry(row.at).or_default().push(latency.as_ns());
        }
        self.residence.push(row.arrived_at, row.departed_at, row.stalled);
        self.rx.push(row.slot_start, row.departed_at, row.stalled);
        // The copies for several receivers share one arrival.
        if row.slot_start.is_some()
            && row.arrived_at.is_some()
            && !self.arrived[0].contains(&row.sequence)
            && self.arrived[1].insert(row.sequence)
        {
            self.tx.push(row.slot_start, row.arrived_at, row.stalled);
        }
    }
}
