//! A row of the table of kinds: what the rest of the program asks of a kind of segment.

use chronoseal_analysis::Infeasible;
use chronoseal_core::{Duration, MessagePart, Node, NodeId, Oscillator, Priority, Rate, SimTime, StreamId};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_nodes::AnyNode;
use chronoseal_nodes::gateway::Stack;
use chronoseal_plan::{Facet, HopPlan, LinkTransport, Plan, SegmentId};
use chronoseal_wire::ipv4;

use crate::{BuildError, BuildOptions, Prepared, Wire};

/// A kind of segment.
pub trait Kind: Sync {
    /// Its name in the plan.
    fn name(&self) -> &'static str;

    /// Works out what a segment needs before anything of it is built.
    ///
    /// # Errors
    /// What finds no place in a schedule, and why.
    fn prepare(&self, plan: &Plan, segment: SegmentId) -> Result<Facet, Box<Infeasible>>;

    /// The segment itself. `guests` are stations on it that the plan does not know.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be built as the plan has it.
    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError>;

    /// A node of the scenario whose only interface is to this segment.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError>;

    /// The same by its type, if that is the one which drivers know ([`chronoseal_nodes::AnyNode`]); [`Self::station`] otherwise.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    fn any_station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<AnyNode, BuildError> {
        self.station(prepared, segment, node, options).map(AnyNode::Other)
    }

    /// The interface to this segment of a node that has several.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    fn stack(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError>;

    /// An attacker on the segment or on one of its links.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    fn attacker(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
    ) -> Result<Box<dyn Node + Send>, BuildError>;

    /// What tells the frames of the segment apart.
    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe>;

    /// Its wires, each for one direction, in the order in which its medium numbers them; none where everybody shares one medium.
    fn wires(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<Wire> {
        let _ = (prepared, segment);
        Vec::new()
    }

    /// What a live run does otherwise than a simulated one, in words.
    fn differs_live(&self, plan: &Plan, segment: SegmentId) -> Vec<String> {
        let _ = (plan, segment);
        Vec::new()
    }

    /// The protection that a stream has on a segment by itself, whatever the stream says.
    fn own_protection(&self, plan: &Plan, hop: &HopPlan) -> Option<OwnProtection> {
        let _ = (plan, hop);
        None
    }

    /// What carries its frames between processes in a live run.
    fn live_link(&self) -> LiveLink;

    /// The sockets through which a node speaks on a segment, of [`LiveLink::Sockets`].
    fn sockets(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> Option<Sockets> {
        let _ = (prepared, segment, node);
        None
    }

    /// The streams on a segment that the program of a node carries, and whether it sends them.
    fn carried_by_programs(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> Vec<(StreamId, bool)> {
        let _ = (prepared, segment, node);
        Vec::new()
    }

    /// Why a segment cannot run live, and what to write instead; `None` if it can.
    fn live_refusal(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<String> {
        let _ = (prepared, segment);
        None
    }

    /// In which process a node of the segment lives in a live run. A node with several interfaces lives where the last of
    /// these, in the order of [`LiveHome`], puts it.
    fn live_home(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> LiveHome {
        let _ = (prepared, segment, node);
        LiveHome::Own
    }

    /// True if a node's host interface is between its port to such a segment and its application.
    fn has_host_interface(&self) -> bool {
        false
    }

    /// True if every node of a segment has a second port to it, behind the first ports of all its interfaces.
    fn has_second_ports(&self, plan: &Plan, segment: SegmentId) -> bool {
        let _ = (plan, segment);
        false
    }

    /// True if gateways pass frames of no stream between such segments, whole.
    fn bridges_frames(&self) -> bool {
        false
    }

    /// The link type of its frames in captures (the registry of tcpdump.org).
    fn link_type(&self) -> u16;

    /// What a reader of results has to know of a segment: names, and values with their units, in the order to show them.
    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        let _ = (prepared, segment);
        Vec::new()
    }

    /// How long the clocks of the segment may take to join when a run begins, if not as long as usual.
    fn startup(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let _ = (prepared, segment);
        None
    }

    /// What the clock of a node runs by that came with the segment, by its index among these.
    fn own_oscillator(&self, prepared: &Prepared<'_>, segment: SegmentId, index: usize) -> Oscillator {
        let _ = (prepared, segment, index);
        Oscillator::default()
    }

    /// How far apart the clocks of the segment may be, where its nodes make the time themselves.
    fn precision(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let _ = (prepared, segment);
        None
    }

    /// The times within which a live host has to keep the schedule of the segment, each with its key in a scenario. None where there is no
    /// schedule.
    fn windows(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, Duration)> {
        let _ = (prepared, segment);
        Vec::new()
    }

    /// True if the segment's own nodes have clocks by which frames go, and not only pass on what keeps those of others together.
    fn has_own_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId) -> bool {
        let _ = (prepared, segment);
        false
    }

    /// The segment's own nodes on whose clocks nobody relies from a time on, since what they do is done elsewhere then.
    fn spared_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(NodeId, SimTime)> {
        let _ = (prepared, segment);
        Vec::new()
    }

    /// Of each of some nodes, the streams of which frames can be late or lost because the clock of that node does not show the time of
    /// the segment. None at all if that is not known, or if the clocks are judged whatever goes by them.
    fn depend_on_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId, nodes: &[NodeId]) -> Vec<Vec<StreamId>> {
        let _ = (prepared, segment, nodes);
        Vec::new()
    }

    /// Distance of two sync beacons, if the segment keeps the clocks of its nodes together.
    fn sync_interval(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let _ = (prepared, segment);
        None
    }
}

/// What carries frames between the processes of a live run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LiveLink {
    /// Ethernet frames over TAP interfaces.
    Tap,
    /// Messages of UDP through the sockets of the kernel ([`Kind::sockets`]), over TAP interfaces.
    Sockets,
    /// Frames of any layout over socket pairs.
    Pair,
    /// As [`LiveLink::Pair`], unless a bus that is there already takes the place of the medium.
    Bus,
}

/// A protection that no scenario chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnProtection {
    /// Every frame has it, and it is checked.
    Checked(&'static str),
    /// Nobody here can say what it is worth.
    Unknown(&'static str),
}

impl OwnProtection {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checked(name) | Self::Unknown(name) => name,
        }
    }
}

/// What a node speaks through on a segment of [`LiveLink::Sockets`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sockets {
    /// The address of its interface.
    pub address: ipv4::Address,
    /// The streams that it sends or gets in datagrams.
    pub datagrams: Vec<Datagrams>,
    /// The longest packet, its header included `[byte]`.
    pub mtu: u32,
    /// The streams that it sends or gets over a connection.
    pub connections: Vec<Connection>,
    /// Its datagrams have no checksum of UDP, since the link alters packets and the kernel would throw them away.
    pub leaves_checksum_out: bool,
    /// The rate at which its own interface holds back whoever sends faster; `None`: it holds nobody back.
    pub held_to: Option<Rate>,
}

/// One end of a stream that travels in datagrams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagrams {
    /// Which stream.
    pub stream: StreamId,
    /// This end sends.
    pub sends: bool,
    /// Who sends it.
    pub sender: NodeId,
    /// Who is at the other end: all receivers, or the sender.
    pub peers: Vec<NodeId>,
    /// If its messages are longer than a datagram: how they are cut into several.
    pub parts: Option<Parts>,
}

/// How a message travels in several datagrams, behind a [part header](chronoseal_wire::part_header) each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// A message, its test-bed header included `[byte]`.
    pub message_len: u32,
    /// What of it is in each datagram but the last, behind the header `[byte]`.
    pub data_len: u16,
}

/// One end of a connection that carries a stream to one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Which stream.
    pub stream: StreamId,
    /// What carries it.
    pub over: LinkTransport,
    /// Who is at the other end.
    pub peer: NodeId,
    /// This end sends, and dials.
    pub sends: bool,
    /// The longest message `[byte]`.
    pub message_len: u32,
}

/// In which process a node lives in a live run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LiveHome {
    /// One of its own.
    #[default]
    Own,
    /// One of its own that computes for long: nobody else should have to wait for it.
    Aside,
    /// All nodes of this kind share one.
    Shared,
}

/// Tells what a frame on a segment is. It sees bytes and times, as anybody on the segment would. All times are those of the segment,
/// which is the time of the run unless its nodes make the time of their slots themselves ([`SegmentTime`](crate::SegmentTime)).
pub trait Describe: Send + Sync {
    /// The stream a frame belongs to, or [`StreamId::NONE`].
    fn stream_of(&self, bytes: &[u8]) -> StreamId;

    /// What of a message a frame is.
    fn part(&self, bytes: &[u8]) -> MessagePart {
        let _ = bytes;
        MessagePart::Whole
    }

    /// Describes a frame whose first bit left its sender at about `sent_at`. Of a message in several frames that is when the
    /// first of them did.
    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description;

    /// Describes a frame that should have been seen at about a time; `None` where nobody waits for frames.
    fn missing(&self, stream: StreamId, sequence: u64, at: SimTime) -> Option<Description> {
        let _ = (stream, sequence, at);
        None
    }

    /// The egress queue a frame belongs to.
    fn priority(&self, bytes: &[u8]) -> Priority {
        let _ = bytes;
        Priority(0)
    }

    /// The class in which a frame passes its receiver's host interface; `None` if it ends in the network interface, as a
    /// protocol control frame does.
    fn host_class(&self, bytes: &[u8]) -> Option<Priority> {
        Some(self.priority(bytes))
    }

    /// Time the frame took on its wire until its last bit was in.
    fn reception(&self, bytes: &[u8]) -> Duration {
        let _ = bytes;
        Duration::ZERO
    }

    /// What a frame carries, without headers \[byte\].
    fn payload_len(&self, bytes: &[u8]) -> u64;

    /// True if a frame of this stream can be late here whatever deadline the stream has: it has a slot, or its segment
    /// knows a deadline of it.
    fn is_judged(&self, stream: StreamId) -> bool;

    /// True if everybody on the segment hears every frame, so that it is seen once, when it has been carried.
    fn is_shared(&self) -> bool;

    /// True if the segment loses frames by nature, as a radio channel does: a loss is no failure by itself.
    fn loses_frames(&self) -> bool {
        false
    }

    /// True if packets of one stream overtake each other, so that a receiver may have several of its messages half.
    fn overtakes(&self) -> bool {
        false
    }

    /// What a frame of so many bytes takes at the rate of its sender, if the segment delays it behind that, as a lossy link does.
    fn sending_time_before_delay(&self, frame_len: u64) -> Option<Duration> {
        let _ = frame_len;
        None
    }

    /// True if a node is one of those that a stream is for; others that hear it say nothing of it in rows.
    fn is_for(&self, stream: StreamId, node: NodeId) -> bool {
        let _ = (stream, node);
        true
    }

    /// True if several copies of each frame of this stream are sent, of which its receivers take one.
    fn is_replicated(&self, stream: StreamId) -> bool {
        let _ = stream;
        false
    }

    /// True if a frame of this stream that nobody tells anything of is to be accounted for by the record: its receivers
    /// do not notice that it is missing.
    fn is_accounted(&self, stream: StreamId) -> bool {
        let _ = stream;
        false
    }
}

/// What a frame's bytes and time tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// Its stream, or [`StreamId::NONE`].
    pub stream: StreamId,
    /// The sequence number its sender wrote, if its bytes tell; else the receiver counts.
    pub sequence: Option<u64>,
    /// Who sends the stream.
    pub sender: Option<NodeId>,
    /// Start of the cycle it belongs to; where there are none, when it was sent.
    pub cycle_start: SimTime,
    /// Start of its slot.
    pub slot_start: Option<SimTime>,
    /// It is late if the medium passes it on after this.
    pub leaves_by: Option<SimTime>,
    /// It is late if its receiver has it, checked, after this; of frames whose deadline is not that of their stream.
    pub received_by: Option<SimTime>,
    /// True if it counts as received when the receiver's application has it, checked; false: with its last bit.
    pub is_received_when_checked: bool,
}
