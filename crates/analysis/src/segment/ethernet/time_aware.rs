//! The messages of IEEE 802.1AS as traffic: how many of them come together at each port, from the first instant of a run on.
//!
//! Below, a *hop* `R` is the longest time from when a message is due at a system until its neighbour has handled it: twice what
//! processors are busy, what control frames wait and take at any port, and the delay of the link. How long they wait depends on how many
//! there are, and some are sent in answer to others. So `R` is assumed first, the messages are counted with it, and the bound of the
//! ports has to confirm it: of all messages the first that took longer would have met only what was counted, and so cannot have.
//!
//! # Link delay
//! A port asks in a raster of its own oscillator, which nothing moves: requests are a period apart, each up to `R` late. There is one
//! response for a request of the neighbour and one follow-up for a response, up to `R` and `2 R` late.
//!
//! # What never happens here
//! [`Steady`] holds the conditions under which no message of a network without faults comes too late to be used:
//! - An exchange of four hops is over before the next request, so no response counts as lost.
//! - What is measured of a link is off by the granularity of stamps, and by what clocks drift meanwhile. If that is within
//!   `mean_link_delay_thresh` and the plausible rates, a port that has found its neighbour capable never finds otherwise.
//! - What a system knows of the grandmaster never gets worse then. Suppose it never has so far. Of two ports at a link one announces
//!   until it hears of something better from the other, which from then on announces nothing worse; so whoever is silent at the other's
//!   master port has its Announce in each interval, and the timeout is longer. An Announce that is refused because its path leads back
//!   here is worse than what is known here.
//! - A Sync comes to a slave port in each interval, as all systems on the way to the grandmaster follow it. If one of them changes to a
//!   better clock its Announce comes first, and the wait begins anew. If it changes to another way of the same length nobody hears of
//!   that, and one Sync may be missed.
//!
//! # Announce and Sync
//! So each system changes its mind only for the better: a clock that it has not followed, or a shorter way to the same. A way holds no
//! system twice, because of the path trace. Out of one port a system announces nothing that it heard there. The times at which it
//! changes its mind and announces that at a port are therefore no more than the ways without a circle from better clocks than its own
//! that do not end at that port, and once for itself ([`Ways::phases`]). All other Announces at a port come an interval after the one before.
//!
//! Between two changes all that it sends on is of one grandmaster, whose raster nothing moves either: it is only once the grandmaster,
//! from the start on. Each Sync and its `Follow_Up` take two hops on each link. A change to a way of the same length further up may
//! bring a Sync twice.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{AttackPlace, Ethernet, PortEnd, TimeAwarePlan, Wiring};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN};
use chronoseal_wire::gptp::{
    Announce, Body, ClockIdentity, ClockQuality, FollowUp, Header, Message, PathTrace, PortIdentity, PtpTime,
    SystemIdentity,
};

use super::super::{Arrivals, Why};
use super::control::{at_least, frames, is_disturbed};
use super::routed::RoutedStream;
use super::wired::Wired;

/// Ways without a circle from one switch that are looked at.
const WAYS_MAX: usize = 256;
/// Steps towards the longest hop.
const STEPS_MAX: usize = 16;
/// Rounding of times by oscillators.
const ROUNDING: Duration = Duration::from_ns(2);
/// By so much the rates of two clocks may seem to differ (`RATE_DEVIATION_MAX` of the protocol) `[ppb]`.
const RATE_MAX_PPB: i128 = 500_000;

/// Why the messages of IEEE 802.1AS are not counted where nothing disturbs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsteady {
    /// Too many ways from one switch to others.
    #[error("its switches have more than {WAYS_MAX} ways without a circle from one of them; join them by fewer links")]
    Ways,
    /// Nothing bounds how long they wait.
    #[error("nothing bounds how long they wait for one another; write longer intervals, or a higher `rate`")]
    Load,
    /// Nothing bounds how long processors are busy.
    #[error("nothing bounds how long the processor of one of its nodes is busy before it handles them")]
    Busy,
    /// A measurement of a link may not be over when the next begins.
    #[error("the delay of a link can take {needed:.3} to measure; write a longer `pdelay_interval` than that")]
    Pdelay {
        /// At most.
        needed: Duration,
    },
    /// A link may seem longer than it is.
    #[error(
        "a link can seem to be {needed:.3} long, by the granularity of stamps and clocks that drift, and counts as none above \
         `mean_link_delay_thresh`; write a threshold of that or more"
    )]
    Threshold {
        /// At most.
        needed: Duration,
    },
    /// A clock may seem to have jumped.
    #[error(
        "clocks can seem to run apart by {} ppm, by their drift and the granularity of stamps, and more than 500 ppm is not believed; write a \
         finer `granularity`, less drift or a longer `pdelay_interval`",
        .ppb / 1_000
    )]
    Rate {
        /// By so much `[ppb]`.
        ppb: i64,
    },
    /// A master may seem gone that announces itself.
    #[error(
        "Announce messages can be {needed:.3} apart; write a larger `announce_receipt_timeout`, or a longer interval"
    )]
    Announce {
        /// At most.
        needed: Duration,
    },
    /// A master may seem gone that sends its time.
    #[error("Sync messages can be {needed:.3} apart; write a larger `sync_receipt_timeout`, or a longer interval")]
    Sync {
        /// At most.
        needed: Duration,
    },
}

/// Why nothing is bounded where clocks follow a grandmaster, if so, whatever the intervals are.
pub(super) fn unbounded(view: Ethernet<'_>, has_tasks: bool) -> Option<Why> {
    if has_tasks || view.streams().any(|stream| stream.class.is_time_triggered()) {
        return Some(Why::TimeAwareClocks);
    }
    // A node that claims to be a better clock is none on a link.
    let is_on_it = |node| view.stations().any(|station| station == node);
    let mut places = view.plan.attackers.iter().map(|attacker| attacker.place);
    let is_betrayed = places.any(|place| matches!(place, AttackPlace::AtNode(node) if is_on_it(node)));
    (is_betrayed || view.segment.wiring.has_networks() || is_disturbed(view)).then_some(Why::TimeAwareDisturbed)
}

/// A way over switches without a circle: so many links between switches, and the last of them.
type Way = (usize, Option<usize>);

/// Ways over switches without a circle.
struct Ways {
    /// From each switch to each.
    all: Vec<Vec<Vec<Way>>>,
    /// The most links between switches on one of them.
    longest: usize,
    /// At most so often systems change to another way of the same length to one grandmaster.
    alike: i64,
}

impl Ways {
    fn new(wiring: &Wiring) -> Result<Self, Unsteady> {
        let count = usize::from(wiring.switches);
        let mut all = vec![vec![Vec::new(); count]; count];
        for (from, found) in all.iter_mut().enumerate() {
            let mut at = vec![(vec![from], None)];
            let mut seen = 0;
            while let Some((way, last)) = at.pop() {
                let here = way[way.len() - 1];
                seen += 1;
                if seen > WAYS_MAX {
                    return Err(Unsteady::Ways);
                }
                found[here].push((way.len() - 1, last));
                for (trunk, link) in wiring.trunks.iter().enumerate() {
                    let next = usize::from(link.from(here as u16));
                    if link.ends.contains(&(here as u16)) && !way.contains(&next) {
                        at.push(([way.as_slice(), &[next]].concat(), Some(trunk)));
                    }
                }
            }
        }
        let longest = all.iter().flatten().flatten().map(|(len, _)| *len).max().unwrap_or(0);
        let alike_to = |ways: &Vec<Way>| {
            let mut lengths: Vec<usize> = ways.iter().map(|(len, _)| *len).collect();
            lengths.sort_unstable();
            lengths.windows(2).filter(|pair| pair[0] == pair[1]).count() as i64
        };
        let alike = all.iter().map(|from| from.iter().map(alike_to).sum()).max().unwrap_or(0);
        Ok(Self { all, longest, alike })
    }

    /// How often a system changes its mind and says so at a port, at most; once for what it says of itself at first.
    fn phases(&self, view: Ethernet<'_>, clocks: &TimeAwarePlan, port: Sender) -> i64 {
        let Sender::Switch { switch, by, to } = port else { return 1 };
        let own = |node: NodeId, quality| clocks.parameters_of(TimeAwarePlan::clock_of(node), quality).identity;
        let bridges: Vec<SystemIdentity> =
            view.switches().zip(&clocks.bridges).map(|(node, (quality, _))| own(node, *quality)).collect();
        let Some(mine) = bridges.get(switch) else { return 1 };
        let ways = |from: usize| {
            let not_back = |(_, last): &&Way| by.is_none() || *last != by;
            self.all[from][switch].iter().filter(not_back).count() as i64
        };
        let others = bridges.iter().enumerate().filter(|(other, identity)| *other != switch && *identity < mine);
        let stations =
            clocks.stations.iter().filter(|(node, quality)| to != Some(**node) && own(**node, **quality) < *mine);
        let from = |node: &NodeId| usize::from(view.segment.wiring.switch_of(*node));
        1 + others.map(|(other, _)| ways(other)).sum::<i64>() + stations.map(|(node, _)| ways(from(node))).sum::<i64>()
    }
}

/// Whose port sends on a link.
#[derive(Clone, Copy)]
enum Sender {
    Station,
    /// By a link between switches, or to a node.
    Switch {
        switch: usize,
        by: Option<usize>,
        to: Option<NodeId>,
    },
}

/// What does not depend on how long a hop takes.
struct Steady<'a> {
    clocks: &'a TimeAwarePlan,
    ways: Ways,
    /// The most that an oscillator deviates by `[ppb]`.
    drift: i64,
    /// How long a processor of a node can be busy.
    busy: Duration,
    /// The longest propagation delay of a link.
    propagation: Duration,
}

impl<'a> Steady<'a> {
    fn new(view: Ethernet<'a>, arrivals: &Arrivals) -> Result<Self, Why> {
        let clocks = view.segment.time_aware.as_ref().ok_or(Why::TimeAwareDisturbed)?;
        let busy = |node: NodeId| arrivals.busy(node).map_err(|_| Unsteady::Busy);
        let busy: Result<Vec<Duration>, Unsteady> = view.stations().map(busy).collect();
        let bridges = clocks.bridges.iter().map(|(_, drift)| drift.0.abs());
        let stations = view.stations().map(|node| view.plan.nodes[node.index()].clock.drift_max.0.abs());
        let trunks = view.segment.wiring.trunks.iter().map(|trunk| trunk.parameters);
        let links = view.stations().map(|node| view.segment.link_of(node).parameters).chain(trunks);
        Ok(Self {
            clocks,
            ways: Ways::new(&view.segment.wiring)?,
            drift: bridges.chain(stations).max().unwrap_or_default(),
            busy: busy?.into_iter().max().unwrap_or_default(),
            propagation: links.map(|link| link.propagation_delay).max().unwrap_or_default(),
        })
    }

    /// A time by the slowest clock, by true time at most.
    fn at_most(&self, time: Duration) -> Duration {
        // Twice the drift is more than what dividing by a rate adds, for all drifts below one half.
        time + (time - at_least(time, self.drift)) * 2
    }

    fn at_least(&self, time: Duration) -> Duration {
        at_least(time, self.drift)
    }

    /// All conditions under which no message comes too late to be used, if a hop takes no longer than this.
    fn check(&self, hop: Duration) -> Result<(), Unsteady> {
        let TimeAwarePlan { parameters, port, granularity, .. } = self.clocks;
        let asked = self.at_least(self.clocks.pdelay_interval());
        if hop * 4 >= asked {
            return Err(Unsteady::Pdelay { needed: hop * 4 });
        }
        // A stamp is early by less than the granularity, so that each of two distances is off by less than that.
        let (stamps, over) = (*granularity * 2 + ROUNDING, asked - hop * 4);
        let noise = i128::from(stamps.as_ps()) * 1_000_000_000 / i128::from(over.as_ps().max(1)) + 1;
        let links = self.ways.longest as i64 + 2;
        let drift = i128::from(self.drift) * 2 + i128::from(self.drift) * i128::from(self.drift) / 250_000_000 + 10;
        let rate = drift + noise * i128::from(links + 1);
        if rate > RATE_MAX_PPB {
            return Err(Unsteady::Rate { ppb: i64::try_from(rate).unwrap_or(i64::MAX) });
        }
        // The delay is half of what two hops take more than the neighbour says, each of the two by its own clock.
        let drifted = Duration::from_ps((i128::from(hop.as_ps()) * (drift + noise) / 1_000_000_000) as i64);
        let seems = self.propagation + *granularity + drifted + ROUNDING;
        if seems > port.mean_link_delay_thresh {
            return Err(Unsteady::Threshold { needed: seems });
        }
        let announced = self.at_most(self.clocks.announce_interval()) + hop;
        let timeout = self.clocks.announce_interval() * i64::from(parameters.announce_receipt_timeout);
        if announced >= self.at_least(timeout) {
            return Err(Unsteady::Announce { needed: announced });
        }
        let interval = self.clocks.sync_interval();
        let synced = (self.at_most(interval) + hop * (3 * links)) * (1 + self.ways.alike);
        let is_early = hop * (4 * links) >= self.at_least(interval);
        if is_early || synced >= self.at_least(interval * i64::from(parameters.sync_receipt_timeout)) {
            return Err(Unsteady::Sync { needed: synced });
        }
        Ok(())
    }

    /// Messages of one kind at a port: so many frames for each that the distance counts, `times` of which may come at once, all up to so
    /// much late.
    fn messages(&self, name: String, every: Duration, (times, late): (i64, Duration), lens: &[u64]) -> RoutedStream {
        let distance = self.at_least(every).max(Duration::from_ps(1));
        // A bucket of `times` frames, each late, that fills at the rate of one in each distance.
        let late = distance * (times - 1) + late * times;
        let of = |len: Option<&u64>| len.copied().unwrap_or(FRAME_LEN_MIN as u64);
        let (len_max, len_min) = (of(lens.iter().max()), of(lens.iter().min()));
        RoutedStream { counted_len: lens.iter().sum(), len_max, len_min, ..frames(name, distance, late) }
    }

    /// What a port sends, if a hop takes no longer than this and each frame costs so much beyond its own.
    fn sent(
        &self,
        view: Ethernet<'_>,
        from: Sender,
        (name, hop): (&str, Duration),
        overhead: u64,
    ) -> [RoutedStream; 3] {
        let phases = self.ways.phases(view, self.clocks, from);
        let links = match from {
            Sender::Station => 1,
            Sender::Switch { .. } => self.ways.longest as i64 + 2,
        };
        let alike = if matches!(from, Sender::Station) { 0 } else { self.ways.alike };
        let (pdelay, sync, follow_up) =
            (frame_len(Body::PdelayReq), frame_len(Body::Sync), frame_len(Body::FollowUp(FOLLOW_UP)));
        let path = vec![[0; 8]; self.ways.longest + 2];
        let announce = frame_len(Body::Announce(Announce { path_trace: PathTrace::new(&path), ..ANNOUNCE }));
        let together = |lens: &[u64]| -> Vec<u64> {
            // Each frame but the first is counted with what it costs beyond its own; the first is where the distance is.
            lens.iter().enumerate().map(|(at, len)| if at == 0 { *len } else { len + overhead }).collect()
        };
        let of = |kind: &str| format!("{kind} of {name}");
        let mut delays =
            self.messages(of("Pdelay messages"), self.clocks.pdelay_interval(), (1, hop * 2), &together(&[pdelay; 3]));
        (delays.len_max, delays.len_min) = (pdelay, pdelay);
        let every = self.clocks.sync_interval();
        let mut syncs = self.messages(
            of("Sync messages"),
            every,
            (phases + alike, hop * (2 * links)),
            &together(&[sync, follow_up]),
        );
        (syncs.len_max, syncs.len_min) = (follow_up, sync);
        let announces =
            self.messages(of("Announce messages"), self.clocks.announce_interval(), (phases, hop), &[announce]);
        [delays, syncs, RoutedStream { len_min: frame_len(Body::Announce(ANNOUNCE)), ..announces }]
    }
}

impl Wired<'_> {
    /// The messages of IEEE 802.1AS at every port.
    pub(super) fn time_aware(&mut self) -> Result<(), Why> {
        let steady = Steady::new(self.view, self.arrivals)?;
        let others = self.routed.streams.len();
        let longest = frame_len(Body::Announce(ANNOUNCE)) + 8 * (steady.ways.longest as u64 + 2);
        let on_the_way = self.routed.links.iter().map(|link| link.speed.delay(longest)).max().unwrap_or_default();
        let mut waits = Duration::ZERO;
        for _ in 0..STEPS_MAX {
            let hop = waits + on_the_way + steady.busy * 2 + ROUNDING;
            steady.check(hop)?;
            self.routed.streams.truncate(others);
            for link in 0..self.routed.links.len() {
                let from = self.sender(link);
                let name = self.view.plan.node_name(self.routed.links[link].from);
                let sent = steady.sent(self.view, from, (&format!("`{name}`"), hop), self.routed.overhead);
                self.routed.streams.extend(sent.map(|sent| RoutedStream { hops: vec![(link, None)], ..sent }));
            }
            let found = self.routed.control_delay().ok_or(Unsteady::Load)?;
            if found <= waits {
                return Ok(());
            }
            // A little more than was found, so that it comes to an end.
            waits = found + found / 64;
        }
        Err(Unsteady::Load.into())
    }

    fn sender(&self, link: usize) -> Sender {
        let wiring = &self.view.segment.wiring;
        match self.ends[link] {
            PortEnd::Station(_) => Sender::Station,
            PortEnd::ToStation(node) => {
                Sender::Switch { switch: usize::from(wiring.switch_of(node)), by: None, to: Some(node) }
            }
            PortEnd::Between(switch, _) => {
                let by = (0..wiring.trunks.len()).find(|trunk| self.onward(*trunk, switch) == link);
                Sender::Switch { switch: usize::from(switch), by, to: None }
            }
        }
    }
}

/// A frame with a message, without checksum `[byte]`.
fn frame_len(body: Body<'_>) -> u64 {
    let source = PortIdentity { clock: ClockIdentity([0; 8]), port: 0 };
    let header = Header { domain: 0, source, sequence: 0, correction: Duration::ZERO, log_interval: 0 };
    (HEADER_LEN + Message { header, body }.emitted_len()).max(FRAME_LEN_MIN) as u64
}

/// What an Announce without a path says; its length is all that counts.
const ANNOUNCE: Announce<'static> = Announce {
    time_flags: 0,
    current_utc_offset: 0,
    grandmaster: SystemIdentity {
        priority1: 0,
        quality: ClockQuality { class: 0, accuracy: 0, variance: 0 },
        priority2: 0,
        clock: ClockIdentity([0; 8]),
    },
    steps_removed: 0,
    time_source: 0,
    path_trace: PathTrace::new(&[]),
};

const FOLLOW_UP: FollowUp = FollowUp {
    precise_origin: PtpTime::EPOCH,
    cumulative_scaled_rate_offset: 0,
    gm_time_base_indicator: 0,
    last_gm_phase_change: 0,
    scaled_last_gm_freq_change: 0,
};
