//! What a network of switches is built from.

use std::collections::BTreeMap;

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, Priority, SimTime, StreamId};

use super::control::ClusterClocks;
use super::macsec::SecuredLink;
use super::policing::Policing;
use super::time_aware::TimeAwareBridges;
use crate::line::LineSpeed;
use crate::medium::Attachment;
use crate::port::PortConfig;
use crate::psfp::PsfpConfig;
use crate::recovery::RecoveryConfig;
use crate::schedule::ScheduleTable;

/// Switches that follow one schedule table, the links between them, and one full-duplex link to each station.
///
/// # Numbers of lines
/// A link is two lines, one for each direction. Line `2 * i` leads from the first end of link `i` to the second, line `2 * i + 1`
/// back. The first end of a station's link is the station.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The switches as they are called in events. The first one sends the beacon.
    pub switches: Vec<NodeId>,
    /// Of these, by their place: those of a second network, B, that no links join with the others. Empty: there is one network.
    pub switches_of_b: Vec<usize>,
    /// Every link: first those of stations, one for each or, to the networks A and B, two of which that to A comes first; then
    /// those between switches.
    pub links: Vec<Link>,
    /// Each queue in front of a line holds at most this much `[byte]`.
    pub queue_len_max: u64,
    /// The queues of a line have that room together.
    pub shares_queues: bool,
    /// By line: what its port does beyond strict priority.
    pub ports: BTreeMap<usize, PortConfig>,
    /// By switch: how it filters and polices streams where they come in, beyond the checks that every switch makes.
    pub psfp: BTreeMap<usize, PsfpConfig>,
    /// Attackers on the wire from a station to its switch.
    pub splices: Vec<Splice>,
    /// The keys of links on which an attacker has protected frames in its hands.
    pub secured: Vec<SecuredLink>,
    /// Links that fail in the run.
    pub failures: Vec<Failure>,
    /// Links over which frames are lost, each at most once.
    pub frame_losses: Vec<FrameLoss>,
    /// By switch and stream: copies of a frame that come to it several ways become one there (IEEE 802.1CB).
    pub recoveries: BTreeMap<(usize, StreamId), RecoveryConfig>,
    /// Where each stream goes; `routes[i]` is that of `StreamId(i)`.
    pub routes: Vec<Route>,
    /// First four bytes of a critical-traffic destination.
    pub ct_marker: [u8; 4],
    /// The sync beacon, if the first switch is the clock master.
    pub beacon: Option<Beacon>,
    /// The masters of a cluster that keeps its clocks together by itself; there is no beacon then.
    pub clocks: Option<ClusterClocks>,
    /// The switches as bridges of IEEE 802.1AS; there is neither beacon nor cluster then.
    pub time_aware: Option<TimeAwareBridges>,
    /// Slots of the time-triggered streams.
    pub schedule: ScheduleTable,
    /// True if a scheduled frame waits for its dispatch time, false if only for the forwarding delay.
    pub waits_for_dispatch: bool,
    /// How scheduled frames share lines with all others.
    pub integration: Integration,
    /// From the last bit in to the first bit out, at the earliest.
    pub forwarding_delay: Duration,
    /// Additional random part of it; each switch draws its own.
    pub forwarding_jitter: Jitter,
    /// A frame may arrive this much before its slot allows (clock precision).
    pub early_tolerance: Duration,
    /// Stamps are taken behind one more store-and-forward switch, as is the beacon's.
    pub sniffing_switch: bool,
    /// Length of the windows by which frames and busy time are counted; `None`: over the whole run only.
    pub load_window: Option<Duration>,
    /// Seeds the forwarding jitter.
    pub seed: u64,
}

impl NetworkConfig {
    /// True if switches have clocks of their own by which frames go: in slots, or through gates. Else the table and all gates follow
    /// the time in which the run is counted.
    pub fn has_own_clocks(&self) -> bool {
        let make_the_time = self.clocks.is_some() || self.time_aware.is_some();
        make_the_time && (!self.schedule.slots.is_empty() || self.has_gates())
    }

    fn has_gates(&self) -> bool {
        let changes = |psfp: &PsfpConfig| psfp.gates.iter().any(|gate| gate.list.changes());
        self.ports.values().any(|port| port.gates.is_some()) || self.psfp.values().any(changes)
    }
}

/// How scheduled frames are integrated with those of lower classes on a line (SAE AS6802).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Integration {
    /// A frame of a lower class starts only if it is over before the next scheduled one.
    #[default]
    TimelyBlock,
    /// A scheduled frame waits until the frame on the line is over.
    Shuffling,
    /// A scheduled frame cuts the frame on the line off, which is sent again from its beginning. The scheduled frame waits for
    /// the gap between two frames.
    Preemption,
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// What it joins.
    pub ends: Ends,
    /// How long frames take on each of its two lines.
    pub speed: LineSpeed,
}

/// What a link joins. Switches are indices into [`NetworkConfig::switches`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// A station and its switch.
    Station {
        /// The station's port.
        station: Attachment,
        /// Its switch.
        switch: usize,
    },
    /// Two switches.
    Switches([usize; 2]),
}

impl Ends {
    /// The switch into which the line leads that goes from the first end to the second, or back.
    pub const fn switch_behind(self, is_back: bool) -> Option<usize> {
        match (self, is_back) {
            (Self::Station { switch, .. }, false) => Some(switch),
            (Self::Station { .. }, true) => None,
            (Self::Switches([_, second]), false) => Some(second),
            (Self::Switches([first, _]), true) => Some(first),
        }
    }
}

/// A link that fails, and stays so: what is not over it then is lost, in both directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Which, as an index into [`NetworkConfig::links`].
    pub link: usize,
    /// From then on.
    pub at: SimTime,
}

/// A link over which each frame, in either direction, can be lost, whatever became of those before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameLoss {
    /// Which, as an index into [`NetworkConfig::links`].
    pub link: usize,
    /// The share that is lost on average, 0 to 1.
    pub ratio: f64,
}

/// Where on the wire of a station an attacker sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Seat {
    /// In front of the wire: what the station sends reaches it at once, and what it sends waits for the wire.
    #[default]
    BeforeWire,
    /// At the other end, behind the stamps that the station takes of its messages of IEEE 802.1AS, and behind its SecY, which numbers and
    /// protects what leaves its queues (IEEE 802.1AE): what the station sends reaches it when it has come over the wire. What it lets pass
    /// then is in the switch at once; all else it sends takes its time on the wire before, so that it is there at once only if the wire was
    /// free, and what comes behind it has to wait.
    BehindWire,
    /// In the station itself: what the station sends does not reach it, and what it sends leaves by the station's port, which is one queue
    /// for all but protocol control frames then.
    InStation,
}

/// A wire from a station to its switch that an attacker has cut and joined. What comes by reaches port 0 of the attacker; what it sends
/// on port 1 goes on to the switch. The attacker itself adds no delay: the strongest one.
#[derive(Clone, Copy, Debug)]
pub struct Splice {
    /// The station's link, as an index into [`NetworkConfig::links`].
    pub victim: usize,
    /// Who sits there.
    pub attacker: NodeId,
    /// At which end of the wire.
    pub seat: Seat,
    /// What comes through it leaves in the order of the station's port, by the priority that the station gave frames to the same
    /// address: so it is with an attacker behind the port that puts in none of its own. Else all it sends is of one priority.
    pub keeps_priorities: bool,
}

/// Where a stream goes.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its class and address.
    pub class: RouteClass,
    /// What each switch on its way does with it. The first is the one that its sender is linked to; together they are a tree.
    pub hops: Vec<RouteHop>,
    /// Longest frame, protection included, without checksum `[byte]`.
    pub len_max: u32,
    /// The VLAN that its frames name in their tag, whose priority they have then; `None`: they have no tag.
    pub vid: Option<u16>,
}

/// What one switch does with a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteHop {
    /// The only line by which it may come in.
    pub ingress: usize,
    /// The lines by which it leaves.
    pub egress: Vec<usize>,
}

/// Class of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RouteClass {
    /// Addressed by its critical-traffic identifier, in slots.
    TimeTriggered {
        /// Last two bytes of the destination.
        ct_id: u16,
    },
    /// Addressed by its stream address.
    BestEffort {
        /// Egress queue 0..=7.
        priority: u8,
    },
    /// Addressed by its critical-traffic identifier, policed where it enters a switch (ARINC 664 part 7).
    RateConstrained {
        /// Last two bytes of the destination: its virtual link.
        ct_id: u16,
        /// One of the two egress queues of its class.
        priority: Priority,
        /// Its shortest frame, without checksum `[byte]`.
        len_min: u32,
        /// What it is allowed.
        policing: Policing,
    },
    /// It does not come by here: no switch knows an address of it.
    Elsewhere,
}

/// The sync beacon: an integration frame to every station at the start of each integration cycle.
#[derive(Clone, Copy, Debug)]
pub struct Beacon {
    /// Identifier of its virtual link.
    pub sync_id: u16,
    /// Distance of two beacons.
    pub integration_cycle: Duration,
}

impl RouteClass {
    /// The critical-traffic identifier it is addressed by, if it is.
    pub const fn ct_id(self) -> Option<u16> {
        match self {
            Self::TimeTriggered { ct_id } | Self::RateConstrained { ct_id, .. } => Some(ct_id),
            Self::BestEffort { .. } | Self::Elsewhere => None,
        }
    }

    /// The egress queue of its frames.
    pub fn priority(self) -> Priority {
        match self {
            Self::TimeTriggered { .. } => Priority::TIME_TRIGGERED,
            Self::RateConstrained { priority, .. } => priority,
            Self::BestEffort { priority } => Priority(priority.min(7)),
            Self::Elsewhere => Priority(0),
        }
    }
}

impl Route {
    /// That of a stream which does not come by here.
    pub const ELSEWHERE: Self = Self { class: RouteClass::Elsewhere, hops: Vec::new(), len_max: 0, vid: None };

    /// Over one switch: in by one line and out by others.
    pub fn over_one_switch(class: RouteClass, ingress: usize, egress: Vec<usize>, len_max: u32) -> Self {
        Self { class, hops: vec![RouteHop { ingress, egress }], len_max, vid: None }
    }
}

impl NetworkConfig {
    /// The route of `stream`.
    pub fn route(&self, stream: StreamId) -> Option<&Route> {
        self.routes.get(stream.index())
    }

    /// Links of stations. They are the first ones.
    pub(super) fn station_links(&self) -> usize {
        let is_station = |link: &&Link| matches!(link.ends, Ends::Station { .. });
        self.links.iter().take_while(is_station).count()
    }

    /// The switch into which a line leads, if it leads to one.
    pub(super) fn switch_behind(&self, line: usize) -> Option<usize> {
        self.links[line / 2].ends.switch_behind(line % 2 == 1)
    }

    /// The switch that a line leaves, if it leaves one.
    pub(super) fn switch_before(&self, line: usize) -> Option<usize> {
        self.links[line / 2].ends.switch_behind(line.is_multiple_of(2))
    }
}
