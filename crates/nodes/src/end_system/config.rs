//! What an end system is built from.

use std::sync::Arc;

use chronoseal_core::{Duration, NodeId, Priority, StreamId};
use chronoseal_media::recovery::RecoveryConfig;
use chronoseal_wire::ethernet::VlanTag;

use super::datagram::DatagramConfig;
use crate::RecordedMessages;
use crate::clock::ClusterConfig;
use crate::container::ContainerConfig;
use crate::gateway::HandOver;
use crate::pace::PaceConfig;
use crate::protection::Protection;
use crate::signal::RecordedSignal;
use crate::supervision::SupervisionConfig;
use crate::sync_client::SyncConfig;
use crate::time_aware::TimeAwareConfig;

/// A station of a time-triggered Ethernet.
#[derive(Clone)]
pub struct EndSystemConfig {
    /// Itself.
    pub node: NodeId,
    /// How the cluster keeps time.
    pub sync: SyncConfig,
    /// Its part in a cluster that keeps its clocks together without a beacon.
    pub cluster: Option<ClusterConfig>,
    /// Its part in a network of time-aware systems (IEEE 802.1AS).
    pub time_aware: Option<TimeAwareConfig>,
    /// True if the oscillator is cluster time and no beacon is needed.
    pub ideal_clock: bool,
    /// Identifier of the sync beacon's virtual link.
    pub sync_id: u16,
    /// First four bytes of a critical-traffic destination.
    pub ct_marker: [u8; 4],
    /// The schedule repeats after this.
    pub cluster_cycle: Duration,
    /// Frames are made ready this much before their release, to hide the wake-up of a real host. Zero in the simulator.
    pub lead: Duration,
    /// A frame is handed over at most this much after it came in: only then is it said of a slot that nothing came in it.
    pub hand_over_max: Duration,
    /// False: only headers are written and nothing is computed.
    pub real_bytes: bool,
    /// True if it has a link to each of the networks A and B: frames of B come by port 1.
    pub has_second_port: bool,
    /// Streams it sends.
    pub talkers: Vec<TalkerConfig>,
    /// Streams it receives.
    pub listeners: Vec<ListenerConfig>,
    /// Best-effort frames in which a gateway has put PDUs of several streams.
    pub containers: Vec<ContainerConfig>,
    /// Runs of its tasks, from the start of the cluster cycle, with the processor time each takes.
    pub tasks: Vec<TaskRun>,
}

/// A stream this station sends.
#[derive(Clone)]
pub struct TalkerConfig {
    /// Which.
    pub stream: StreamId,
    /// When.
    pub timing: TalkerTiming,
    /// Header and payload before protection, without checksum `[byte]`.
    pub frame_len: usize,
    /// The VLAN tag of its frames; those in slots have none.
    pub tag: Option<VlanTag>,
    /// True if a redundancy tag follows the VLAN tag; without that it has no place.
    pub has_r_tag: bool,
    /// What every frame carries unless [`TalkerConfig::signal`] has something newer.
    pub fill: Vec<u8>,
    /// A recorded signal to replay: behind the sequence number.
    pub signal: Option<RecordedSignal>,
    /// The PDU in its frames, if gateways carry it on.
    pub carried: Option<CarriedPdu>,
    /// How its messages are sent, if they are longer than a frame; [`TalkerConfig::frame_len`] is that of a frame with room for one
    /// then.
    pub datagram: Option<DatagramConfig>,
    /// What regulates it, if it is a virtual link; its priority stands before that of its timing.
    pub virtual_link: Option<VirtualLinkConfig>,
    /// How it is protected. Trip and reset counters and the group key are not to be had here.
    pub protection: Protection,
}

/// A virtual link at its sender (ARINC 664 part 7). Its frames end with a sequence number of one byte, which
/// [`TalkerConfig::frame_len`] does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualLinkConfig {
    /// Last two bytes of the destination.
    pub ct_id: u16,
    /// Bandwidth allocation gap: least distance of two frames, by the station's own oscillator.
    pub bag: Duration,
    /// One of the two egress queues of its class.
    pub priority: Priority,
    /// True if receivers tell copies apart by the number, so that it is written even if only headers are.
    pub is_replicated: bool,
}

/// When a stream is sent.
#[derive(Clone)]
pub enum TalkerTiming {
    /// In slots, addressed by a critical-traffic identifier.
    Slots {
        /// Last two bytes of the destination.
        ct_id: u16,
        /// By instance, from the start of the cluster cycle.
        slots: Vec<SendSlot>,
        /// True if each frame ends with a sequence number, as those of virtual links do: receivers tell copies apart by it. It is
        /// written even if only headers are, and [`TalkerConfig::frame_len`] does not count it.
        is_numbered: bool,
        /// True if each carries the newest PDU that has come from another segment of this station's node, if there is one.
        samples: bool,
        /// When its application has something for it, if that is not in time for each slot.
        application: Option<Application>,
    },
    /// By the station's own oscillator.
    Periodic {
        /// Egress queue 0..=7.
        priority: u8,
        /// The first frame.
        phase: Duration,
        /// Distance of two frames.
        pace: PaceConfig,
    },
    /// As a recording has them, by the station's own oscillator: each message is a frame behind its headers, without protection.
    Recorded {
        /// Egress queue 0..=7.
        priority: u8,
        /// The recording begins.
        phase: Duration,
        /// What is sent; none is longer than [`TalkerConfig::frame_len`] has room for, or shorter than a test-bed header.
        recorded: Arc<RecordedMessages>,
    },
    /// When they come from another segment of this station's node.
    Relayed {
        /// Egress queue 0..=7.
        priority: u8,
    },
    /// When this station's node has collected PDUs of several streams: what it has, up to [`TalkerConfig::frame_len`].
    Collected {
        /// Egress queue 0..=7, unless a virtual link has its own.
        priority: u8,
    },
}

/// A timer by which the application of a stream in slots has data for it. The newest wait for the next slot; what they replace is
/// lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Application {
    /// From the start of the station to the first data, by its oscillator.
    pub phase: Duration,
    /// From data to data.
    pub step: Duration,
}

/// A PDU of a stream that gateways carry on, as it lies in this segment's frames: behind the test-bed header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CarriedPdu {
    /// Without any protection `[byte]`.
    pub len: usize,
    /// True if it is itself protected, from its sender to its receivers; false if the frame is, on this hop.
    pub is_sealed: bool,
}

/// One turn of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SendSlot {
    /// The frame's computation begins.
    pub release: Duration,
    /// Its first bit leaves.
    pub start: Duration,
}

/// A stream this station receives.
#[derive(Clone)]
pub struct ListenerConfig {
    /// Which.
    pub stream: StreamId,
    /// Its critical-traffic identifier; `None` for best effort.
    pub ct_id: Option<u16>,
    /// By instance: when the last bit may come in, from the start of the cluster cycle. Empty for best effort.
    pub windows: Vec<ReceiveWindow>,
    /// The same of copies that come over network B, of a stream that goes over both networks; else empty.
    pub second_windows: Vec<ReceiveWindow>,
    /// True if it is a virtual link (ARINC 664 part 7): its frames end with a sequence number, and come in no windows.
    pub is_virtual_link: bool,
    /// How copies of its frames are told apart, if several come.
    pub replication: Option<Replication>,
    /// True if a slot without a frame of it is an event: its sender has one for each.
    pub fills_slots: bool,
    /// The PDU in its frames, if gateways carry it on.
    pub carried: Option<CarriedPdu>,
    /// How its messages come, if they are longer than a frame.
    pub datagram: Option<DatagramConfig>,
    /// True if this station uses the stream; false if it only hands it over.
    pub delivers: bool,
    /// What goes on from here.
    pub hands_over: HandOver,
    /// Within which time a frame has to follow another, if the station looks after that.
    pub supervision: Option<SupervisionConfig>,
    /// How it is protected. Trip and reset counters and the group key are not to be had here.
    pub protection: Protection,
}

impl ListenerConfig {
    /// A stream that ends here and has stayed on this segment.
    pub const fn new(
        stream: StreamId,
        ct_id: Option<u16>,
        windows: Vec<ReceiveWindow>,
        protection: Protection,
    ) -> Self {
        Self {
            stream,
            ct_id,
            windows,
            second_windows: Vec::new(),
            is_virtual_link: false,
            replication: None,
            fills_slots: true,
            carried: None,
            datagram: None,
            delivers: true,
            hands_over: HandOver::Nothing,
            supervision: None,
            protection,
        }
    }
}

/// Where the copies of a frame come from, and by what its receiver tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replication {
    /// Over the networks A and B, by ports 0 and 1, with the number behind the frames of a virtual link (ARINC 664 part 7).
    Networks {
        /// So much later than the first a copy may come.
        skew_max: Duration,
    },
    /// Over several ways of one network, with a redundancy tag (IEEE 802.1CB).
    Tagged(RecoveryConfig),
}

/// One turn of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    /// Start of the slot, to count latency from.
    pub slot_start: Duration,
    /// Last bit at the earliest.
    pub opens: Duration,
    /// Last bit at the latest; then the frame is missing.
    pub closes: Duration,
}

/// One run of a task in each cluster cycle.
#[derive(Clone, Copy, Debug)]
pub struct TaskRun {
    /// Which task of the node.
    pub task: u16,
    /// From the start of the cluster cycle.
    pub start: Duration,
    /// Processor time.
    pub length: Duration,
}
