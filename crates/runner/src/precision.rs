//! How far the clocks of a segment differ, measured: for each clock what it showed last, against the time of the run.
//!
//! Clocks of a cluster are read at nearly the same time, and compared as they were read. A clock of IEEE 802.1AS tells at times of its own
//! what it shows and how fast it runs by its oscillator, which the plan has; what it shows between two such readings follows from
//! that, so that all clocks are compared at one instant.
//!
//! Who follows a grandmaster that lies agrees with all others who do. From the first attack on clocks on the time of the grandmaster
//! until then therefore goes on as one more clock, by the oscillator of that grandmaster.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use chronoseal_catalog::Prepared;
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, Event, EventKind, NodeId, Oscillator, SimTime, StreamId};
use chronoseal_media::medium::Series;
use chronoseal_plan::SegmentId;
use chronoseal_results::{CLOCK_DIFFERENCE, CLOCK_OFFSET};

/// The clocks of all segments that make their time themselves.
pub(crate) struct Precision {
    /// By segment: the distance of two readings of one clock.
    cycles: Vec<Option<Duration>>,
    /// By node, if it has such a clock.
    clocks: Vec<Option<Clock>>,
    window: Duration,
    /// By segment: the largest difference in each window.
    found: Vec<Vec<Duration>>,
    /// By node: on the clocks of which segment it works if it attacks.
    attacks_on: Vec<Option<usize>>,
    /// By segment: the clock of the grandmaster when the first attack began.
    unattacked: Vec<Option<Clock>>,
}

#[derive(Clone)]
struct Clock {
    segment: usize,
    name: String,
    oscillator: Oscillator,
    /// From then on its node is cut off, and its clock is no part of the segment's.
    cut_off_at: SimTime,
    /// How fast it runs by its oscillator, as told last; `None` if it does not tell.
    rate: Option<RateDeviation>,
    reading: Option<Reading>,
    /// Whose time it shows, if it told.
    grandmaster: Option<NodeId>,
    /// The largest distance from the grandmaster, if it was ever compared.
    offset_max: Option<Duration>,
    grandmasters: i64,
}

#[derive(Clone, Copy)]
struct Reading {
    at: SimTime,
    ahead: i64,
}

impl Clock {
    fn new(prepared: &Prepared<'_>, id: SegmentId, node: NodeId, oscillator: Oscillator) -> Self {
        let wires = prepared.wires(id);
        let own = wires.iter().filter(|wire| wire.from == node || wire.to == node);
        let cut_off_at = own.map(|wire| wire.fails_at.unwrap_or(SimTime::MAX)).max();
        Self {
            segment: id.index(),
            name: prepared.plan().node_name(node),
            oscillator,
            cut_off_at: cut_off_at.unwrap_or(SimTime::MAX),
            rate: None,
            reading: None,
            grandmaster: None,
            offset_max: None,
            grandmasters: 0,
        }
    }

    /// What it is ahead of the run, if that is known at a time; `since` is how old a reading may be that stands for itself.
    fn ahead(&self, at: SimTime, since: SimTime) -> Option<i64> {
        let reading = self.reading.filter(|_| at < self.cut_off_at)?;
        match self.rate {
            None => (reading.at >= since).then_some(reading.ahead),
            Some(rate) => {
                let elapsed = self.oscillator.local(at) - self.oscillator.local(reading.at);
                let gained = elapsed + rate.gain(elapsed) - (at - reading.at);
                Some(reading.ahead + gained.as_ps())
            }
        }
    }
}

impl Precision {
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let plan = prepared.plan();
        let cycles: Vec<_> = plan.segment_ids().map(|id| prepared.kind(id).sync_interval(prepared, id)).collect();
        let has_clocks = |id: &SegmentId| cycles[id.index()].is_some();
        let of_node = |node: NodeId| {
            let id = plan.nodes[node.index()].interfaces.iter().copied().find(has_clocks)?;
            Some(Clock::new(prepared, id, node, prepared.oscillator(node)))
        };
        let mut clocks: Vec<_> = (0..plan.nodes.len()).map(|node| of_node(NodeId(node as u16))).collect();
        for id in plan.segment_ids() {
            for index in 0..plan.segments[id.index()].own_nodes.len() {
                let node = plan.own_node(id, index);
                clocks.resize(clocks.len().max(node.index() + 1), None);
                let own = || Clock::new(prepared, id, node, prepared.kind(id).own_oscillator(prepared, id, index));
                clocks[node.index()] = has_clocks(&id).then(own);
            }
        }
        let found = vec![Vec::new(); cycles.len()];
        let on_segment = |node: NodeId| match plan.attacker(node) {
            Some(attacker) => attacker.place.segment().map(SegmentId::index),
            None => clocks.get(node.index())?.as_ref().map(|clock| clock.segment),
        };
        let attacks_on = plan.node_ids().map(on_segment).collect();
        let unattacked = vec![None; cycles.len()];
        Self { found, cycles, clocks, window: chronoseal_catalog::load_window(plan), attacks_on, unattacked }
    }

    /// An attack on clocks begins: keeps the clock of the grandmaster that most follow.
    fn attacked(&mut self, node: NodeId) {
        let Some(segment) = self.attacks_on.get(node.index()).copied().flatten() else { return };
        if self.unattacked[segment].is_some() {
            return;
        }
        let mut followers: BTreeMap<NodeId, usize> = BTreeMap::new();
        let of_segment = self.clocks.iter().flatten().filter(|clock| clock.segment == segment);
        for grandmaster in of_segment.filter_map(|clock| clock.grandmaster) {
            *followers.entry(grandmaster).or_default() += 1;
        }
        let most = followers.into_iter().max_by_key(|(node, count)| (*count, Reverse(*node)));
        let clock = most.and_then(|(grandmaster, _)| self.clocks.get(grandmaster.index())?.clone());
        self.unattacked[segment] = clock.map(|clock| Clock { cut_off_at: SimTime::MAX, ..clock });
    }

    /// A node tells of its clock.
    pub(crate) fn tell(&mut self, at: SimTime, node: NodeId, event: &Event) {
        if let EventKind::Attacked(kind) = event.kind
            && (kind.is_on_clocks() || event.stream == StreamId::NONE)
        {
            self.attacked(node);
        }
        let Some(Some(clock)) = self.clocks.get_mut(node.index()) else { return };
        let segment = clock.segment;
        match event.kind {
            EventKind::ClockShown => {
                let ahead = event.sequence as i64 - at.since_zero().as_ps();
                clock.reading = Some(Reading { at, ahead });
                self.compare(at, segment);
                if self.clocks[node.index()].as_ref().is_some_and(|clock| clock.rate.is_some()) {
                    self.compare_with_grandmaster(at, node);
                    // It goes on from what it shows now.
                    if let Some(clock) = &mut self.clocks[node.index()] {
                        clock.reading = Some(Reading { at, ahead: ahead + event.value });
                    }
                    self.compare(at, segment);
                }
            }
            EventKind::ClockRate => clock.rate = Some(RateDeviation::from_fixed(event.value)),
            EventKind::GrandmasterChanged => {
                clock.grandmaster = u16::try_from(event.sequence).ok().map(NodeId);
                clock.grandmasters += 1;
            }
            // Who has lost its cluster shows no time of it.
            EventKind::SyncLost => clock.reading = None,
            _ => {}
        }
    }

    /// Notes how far the clocks of a segment are apart at a time.
    fn compare(&mut self, at: SimTime, segment: usize) {
        // Clocks of one cluster are read at nearly the same time; one that was not read since has left it.
        let Some(since) = self.cycles[segment].map(|cycle| at - cycle / 2) else { return };
        let of_segment = self.clocks.iter().flatten().filter(|clock| clock.segment == segment);
        let ahead = of_segment.chain(&self.unattacked[segment]).filter_map(|clock| clock.ahead(at, since));
        let (low, high) = ahead.fold((i64::MAX, i64::MIN), |(low, high), ahead| (low.min(ahead), high.max(ahead)));
        if low > high {
            return;
        }
        let window = at.since_zero().div_floor(self.window).max(0) as usize;
        let found = &mut self.found[segment];
        found.resize(found.len().max(window + 1), Duration::ZERO);
        found[window] = found[window].max(Duration::from_ps(high - low));
    }

    /// Notes how far a clock is from that of its grandmaster at a time.
    fn compare_with_grandmaster(&mut self, at: SimTime, node: NodeId) {
        let ahead = |node: NodeId| self.clocks.get(node.index())?.as_ref()?.ahead(at, at);
        let own = self.clocks[node.index()].as_ref();
        let Some(grandmaster) = own.and_then(|clock| clock.grandmaster).filter(|grandmaster| *grandmaster != node)
        else {
            return;
        };
        let Some(offset) = ahead(node).zip(ahead(grandmaster)).map(|(own, its)| Duration::from_ps((own - its).abs()))
        else {
            return;
        };
        if let Some(clock) = &mut self.clocks[node.index()] {
            clock.offset_max = Some(clock.offset_max.map_or(offset, |known| known.max(offset)));
        }
    }

    /// What was found on a segment: over the whole run, and by window; of clocks that follow a grandmaster also how far each was from it,
    /// its rate at the end, and how often it had another.
    pub(crate) fn series(&self, segment: usize) -> Vec<Series> {
        let found = &self.found[segment];
        let Some(largest) = found.iter().max() else { return Vec::new() };
        let values = found.iter().map(|difference| difference.as_ns()).collect();
        let mut series = vec![
            Series::total(CLOCK_DIFFERENCE, "ns", largest.as_ns()),
            Series { name: CLOCK_DIFFERENCE.into(), unit: "ns", window: Some(self.window), values },
        ];
        for clock in self.clocks.iter().flatten().filter(|clock| clock.segment == segment) {
            let named = |what: &str| Cow::from(format!("{what}{}", clock.name));
            let offset = clock.offset_max.map(|offset| Series::total(named(CLOCK_OFFSET), "ns", offset.as_ns()));
            let ppb = |rate: RateDeviation| rate.gain(Duration::from_ms(1)).as_ps();
            let rate = clock.rate.map(|rate| Series::total(named("rate by its oscillator of "), "ppb", ppb(rate)));
            let changes = clock.rate.map(|_| Series::total(named("grandmasters of "), "clocks", clock.grandmasters));
            series.extend(offset.into_iter().chain(rate).chain(changes));
        }
        series
    }
}
