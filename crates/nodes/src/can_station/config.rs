//! What a station is made from.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_frameauth::TripResetLayout;
use chronoseal_wire::can::iso_tp::{FrameFormat, SeparationTime};
use chronoseal_wire::can::{CanFrame, CanId, FrameKind, IdFilter};

use super::synchronisation::SyncConfig;
use crate::container::ContainerConfig;
use crate::gateway::HandOver;
use crate::pace::PaceConfig;
use crate::protection::Protection;
use crate::segmentation::{ConfigError, Receiver, ReceiverConfig, Reception, Sender, SenderConfig, Transfer};
use crate::signal::RecordedSignal;
use crate::supervision::SupervisionConfig;

/// What a station is made from.
#[derive(Clone, Debug, Default)]
pub struct StationConfig {
    /// Its number.
    pub node: NodeId,
    /// What it sends.
    pub talkers: Vec<TalkerConfig>,
    /// What it receives.
    pub listeners: Vec<ListenerConfig>,
    /// What it replays.
    pub replays: Vec<ReplayConfig>,
    /// How it comes to trip and reset counters, if it needs them.
    pub synchronisation: Option<SyncConfig>,
    /// Frames in which a gateway has put PDUs of several streams, by identifier.
    pub containers: Vec<(CanId, ContainerConfig)>,
    /// What goes on from here.
    pub relays: Vec<RelayConfig>,
    /// Frames in which this station's node puts PDUs of several streams; the length is that of PDUs and headers at most.
    pub collects: Vec<RelayConfig>,
    /// So many frames of relays may wait in the station and its controller together.
    pub relay_queue_len_max: usize,
    /// Frames that go on from here whole, if this station is an interface of a gateway.
    pub bridge: BridgeConfig,
    /// Which of the streams it sends, receives or takes on are sent in several frames each.
    pub segmented: Vec<SegmentedConfig>,
}

/// Frames that go on from a station whole, since they belong to no stream.
#[derive(Clone, Debug, Default)]
pub struct BridgeConfig {
    /// Those that any of these passes.
    pub passes: Vec<IdFilter>,
    /// But for these identifiers: those of streams, which go where their receivers are.
    pub except: BTreeSet<CanId>,
}

impl BridgeConfig {
    /// True if frames with this identifier go on.
    pub fn takes(&self, id: CanId) -> bool {
        self.passes.iter().any(|filter| filter.passes(id)) && !self.except.contains(&id)
    }
}

/// Which number a frame of a stream has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Numbering {
    /// That at the front of its data.
    #[default]
    AtFront,
    /// The station counts what it receives: frames of a recording carry no number.
    Counted,
    /// The trip and reset counters at the front of a synchronisation message.
    Counters(TripResetLayout),
}

/// A periodic message of this station.
#[derive(Clone, Debug)]
pub struct TalkerConfig {
    /// Which.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Its format.
    pub kind: FrameKind,
    /// Data before protection `[byte]`.
    pub len: usize,
    /// Distance of two frames.
    pub pace: PaceConfig,
    /// Its first frame, from the start of the run.
    pub offset: Duration,
    /// Bytes behind the sequence number, as many as `len`.
    pub fill: Vec<u8>,
    /// A recorded signal to replay: behind the sequence number, before the rest of `fill`.
    pub signal: Option<RecordedSignal>,
    /// How it is protected. Trip and reset counters come from [`StationConfig::synchronisation`]; there is no cycle
    /// counter on a bus.
    pub protection: Protection,
}

/// A message this station uses.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Which.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Data before protection `[byte]`; 0 for any.
    pub len: usize,
    /// Which number each frame has.
    pub numbering: Numbering,
    /// True if this station uses the message; false if it only hands it over.
    pub delivers: bool,
    /// What goes on from here.
    pub hands_over: HandOver,
    /// Within which time a message has to follow another, if the station looks after that.
    pub supervision: Option<SupervisionConfig>,
    /// How it is protected. Trip and reset counters come from [`StationConfig::synchronisation`]; there is no cycle
    /// counter on a bus.
    pub protection: Protection,
}

impl ListenerConfig {
    /// A message that ends here and has stayed on this segment.
    pub const fn new(stream: StreamId, id: CanId, len: usize, protection: Protection) -> Self {
        Self {
            stream,
            id,
            len,
            numbering: Numbering::AtFront,
            delivers: true,
            hands_over: HandOver::Nothing,
            supervision: None,
            protection,
        }
    }
}

/// A recording this station plays over and over.
#[derive(Clone, Debug)]
pub struct ReplayConfig {
    /// Of all its frames.
    pub stream: StreamId,
    /// Frames by time from its start.
    pub frames: Vec<(Duration, CanFrame)>,
    /// It starts again after this.
    pub length: Duration,
    /// When it begins.
    pub start: Duration,
}

/// A stream that comes to this station's node on another segment and goes on from here.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Which.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Its format.
    pub kind: FrameKind,
    /// Its PDU before the protection of this hop `[byte]`.
    pub len: usize,
    /// How it is protected on this hop.
    pub protection: Protection,
}

/// How the messages of a stream are cut into frames, ISO 15765-2: with flow control, between one sender and one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentedConfig {
    stream: StreamId,
    id: CanId,
    flow_control: CanId,
    kind: FrameKind,
    sender: SenderConfig,
    receiver: ReceiverConfig,
}

impl SegmentedConfig {
    /// Of a stream whose frames have the identifier `id` and are answered with `flow_control`, all in frames of one
    /// format. `block_size` is BS, 0 for no limit; `separation_time` is STmin.
    ///
    /// # Errors
    /// [`ConfigError`] says which of the spans cannot be used.
    pub fn new(
        stream: StreamId,
        [id, flow_control]: [CanId; 2],
        kind: FrameKind,
        block_size: u8,
        separation_time: SeparationTime,
        timeouts: SegmentedTimeouts,
    ) -> Result<Self, ConfigError> {
        let format = if kind.is_fd() { FrameFormat::fd() } else { FrameFormat::classical() };
        let SegmentedTimeouts { n_as, n_bs, n_cr } = timeouts;
        // This receiver never asks to wait, so one that does is another.
        let transfer = Transfer::FlowControlled { n_bs, waits_max: 10 };
        let reception = Reception::FlowControlled {
            block_size,
            separation_time,
            waits_max: 0,
            wait_interval: Duration::from_ms(1),
        };
        let sender = SenderConfig { n_as: Some(n_as), ..SenderConfig::new(format, transfer) };
        let receiver = ReceiverConfig { n_cr, ..ReceiverConfig::new(format, reception) };
        Sender::new(sender)?;
        Receiver::new(receiver)?;
        Ok(Self { stream, id, flow_control, kind, sender, receiver })
    }

    /// Which stream.
    pub const fn stream(&self) -> StreamId {
        self.stream
    }

    /// The identifier of the sender's frames.
    pub const fn id(&self) -> CanId {
        self.id
    }

    /// The identifier of the receiver's flow control frames.
    pub const fn flow_control(&self) -> CanId {
        self.flow_control
    }

    /// The format of all of them.
    pub const fn kind(&self) -> FrameKind {
        self.kind
    }

    /// What the end that sends is made from.
    pub const fn sender(&self) -> SenderConfig {
        self.sender
    }

    /// What the end that receives is made from, but for the longest message it takes.
    pub const fn receiver(&self) -> ReceiverConfig {
        self.receiver
    }
}

/// How long the ends of a transfer wait for one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentedTimeouts {
    /// N_As: until a frame of the sender has left.
    pub n_as: Duration,
    /// N_Bs: until the receiver has answered.
    pub n_bs: Duration,
    /// N_Cr: until the next frame of the sender is there.
    pub n_cr: Duration,
}

impl Default for SegmentedTimeouts {
    /// What ISO 15765-2 gives each at most: one second.
    fn default() -> Self {
        let second = Duration::from_s(1);
        Self { n_as: second, n_bs: second, n_cr: second }
    }
}
