//! What a star is built from.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, StreamId};

use crate::line::LineSpeed;
use crate::medium::Attachment;
use crate::schedule::ScheduleTable;

/// A switch with a schedule table and one full-duplex link to each station.
#[derive(Clone, Debug)]
pub struct StarConfig {
    /// The switch itself, in events.
    pub switch: NodeId,
    /// Of every link.
    pub speed: LineSpeed,
    /// Each line's queues hold at most this much `[byte]`.
    pub queue_len_max: u64,
    /// Port `i` of the switch leads to station `stations[i]`.
    pub stations: Vec<Attachment>,
    /// Attackers on the wire from a station to the switch.
    pub splices: Vec<Splice>,
    /// Where each stream goes; `routes[i]` is that of `StreamId(i)`.
    pub routes: Vec<Route>,
    /// First four bytes of a critical-traffic destination.
    pub ct_marker: [u8; 4],
    /// The sync beacon, if the switch is the clock master.
    pub beacon: Option<Beacon>,
    /// Slots of the time-triggered streams.
    pub schedule: ScheduleTable,
    /// True if a scheduled frame waits for its dispatch time, false if only for the forwarding delay.
    pub waits_for_dispatch: bool,
    /// From the last bit in to the first bit out, at the earliest.
    pub forwarding_delay: Duration,
    /// Additional random part of it.
    pub forwarding_jitter: Jitter,
    /// A frame may arrive this much before its slot allows (clock precision).
    pub early_tolerance: Duration,
    /// Stamps are taken behind a second store-and-forward switch, as is the beacon's.
    pub sniffing_switch: bool,
    /// Length of the windows by which frames and busy time are counted; `None`: over the whole run only.
    pub load_window: Option<Duration>,
    /// Seeds the forwarding jitter.
    pub seed: u64,
}

/// A wire from a station to the switch that an attacker has cut and joined.
///
/// What the station sends reaches port 0 of the attacker at once; what the attacker sends on port 1 goes on to the
/// switch. The attacker itself adds no delay: the strongest one.
#[derive(Clone, Copy, Debug)]
pub struct Splice {
    /// Index into [`StarConfig::stations`].
    pub victim: usize,
    /// Who sits there.
    pub attacker: NodeId,
}

/// Where a stream goes.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its class and address.
    pub class: RouteClass,
    /// The only switch port it may come in at.
    pub ingress: usize,
    /// The ports it leaves at.
    pub egress: Vec<usize>,
    /// Longest frame, protection included, without checksum `[byte]`.
    pub len_max: u32,
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
    /// It does not come by this switch, which knows no address of it.
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

impl Route {
    /// That of a stream which does not come by this switch.
    pub const ELSEWHERE: Self =
        Self { class: RouteClass::Elsewhere, ingress: usize::MAX, egress: Vec::new(), len_max: 0 };
}

impl StarConfig {
    /// The route of `stream`.
    pub fn route(&self, stream: StreamId) -> Option<&Route> {
        self.routes.get(stream.index())
    }
}
