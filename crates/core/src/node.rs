//! The seam: a node takes inputs with a timestamp and gives back outputs until it says when to wake it.

use crate::oscillator::RateDeviation;
use crate::{AttackKind, Event, LocalTime, PortId, Priority, StreamId, Work};

/// A protocol's side of the seam. No I/O, no clock, no randomness but what it was built with.
///
/// # Contract
/// - After each [`Node::handle_input`] the driver calls [`Node::poll_output`] until it returns [`Output::Timeout`];
///   after that nothing changes until the next input.
/// - `now` never runs backwards. Early, late and duplicate [`Input::Timeout`]s are legal.
/// - [`Output::Work`] comes before the effect it delays: the *next* poll performs it. The simulator lets its cost pass
///   before that poll, the test bed measures how long that poll takes.
/// - A bad frame is an [`Output::Event`] with a reason. It never stops a node.
/// - An input that is refused with a [`HandleError`] changes nothing, the time of the last input included.
/// - After [`Command::Stop`] a node sends nothing of its own, and asks for no wake-up that it does nothing with.
///
/// [`NodeBase`](crate::NodeBase) has the checks and a queue of effects; the contract suite of `chronoseal-core-testing` holds a
/// node to all of this.
pub trait Node {
    /// Takes one input.
    ///
    /// # Errors
    /// [`HandleError`] only if the driver broke the contract.
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError>;

    /// The next effect. A frame to transmit is written to the front of `frame`, which holds at least
    /// [`FRAME_LEN_MAX`] bytes.
    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output;

    /// The inputs that the frame just given by [`Self::poll_output`] came from, each by its number: frames handed to this
    /// node, over all its ports, are counted from 0. For records only. A driver may ask after each [`Output::Transmit`],
    /// before the next poll.
    fn origins(&self) -> &[u64] {
        &[]
    }

    /// What is in the frame just given by [`Self::poll_output`], if that is PDUs of several streams: each, in order. For records
    /// only, and to be asked for when [`Self::origins`] is. An attack on one of them is no attack on the frame.
    fn parts(&self) -> &[FramePart] {
        &[]
    }

    /// What the clock shows that the node keeps with others on the segment of a port, and how much faster it runs than the node's
    /// oscillator; `None` while it can rely on none. To be asked between a poll and the next input, with the `now` of that poll: the
    /// network interface of the node does by this clock what it does at times, as opening gates.
    fn shown_time(&self, port: PortId, now: LocalTime) -> Option<(LocalTime, RateDeviation)> {
        let _ = (port, now);
        None
    }

    /// A frame of the node's own that was due by `now` and that it has not handed over: of which stream, and when it was due. For
    /// records only. A driver asks at the end of a run, before [`Command::Stop`], until there is none; the node gives each of them
    /// up as it tells of it.
    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        let _ = now;
        None
    }
}

/// A PDU in a frame that holds several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Of which stream.
    pub stream: StreamId,
    /// The input it came from, as in [`Node::origins`].
    pub origin: Option<u64>,
    /// What an attacker in the node did to it.
    pub attack: Option<AttackKind>,
}

/// Room a driver offers for one outgoing frame `[byte]`: Ethernet's longest with a VLAN tag, a redundancy tag and MACsec has 1556
/// without its checksum.
pub const FRAME_LEN_MAX: usize = 1568;

/// What happens to a node.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A whole frame arrived.
    Frame {
        /// Where it came in.
        port: PortId,
        /// When its last bit came in; may lie before `now`.
        rx_at: LocalTime,
        /// From the first byte of the header to the last before the checksum.
        bytes: &'a [u8],
    },
    /// A frame this node sent with a token left it: on a medium that says so (a CAN bus) the whole frame, where others
    /// may have come first; on any other its first bit.
    Transmitted {
        /// The token of [`Transmit::token`].
        token: TxToken,
        /// When its first bit left; where only its end is known, when this was told.
        tx_at: LocalTime,
    },
    /// A frame this node sent with a token will never leave: what should have carried it threw it away.
    Dropped {
        /// The token of [`Transmit::token`].
        token: TxToken,
    },
    /// The run's owner wants something.
    Command(Command),
    /// Time passed, perhaps less than asked for.
    Timeout,
}

/// What the owner of a run can ask of any node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Command {
    /// Begin; the first input of every node.
    Start,
    /// Send nothing more.
    Stop,
}

/// What a node wants done.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// The next poll computes this.
    Work(Work),
    /// Send the frame just written.
    Transmit(Transmit),
    /// Something worth telling.
    Event(Event),
    /// Nothing until this time, or until the next input if `None`.
    Timeout(Option<LocalTime>),
}

/// A frame to send.
#[derive(Debug)]
pub struct Transmit {
    /// Where it leaves.
    pub port: PortId,
    /// Its egress queue.
    pub priority: Priority,
    /// Not before this time (a time-triggered slot); at once if it has passed.
    pub launch_at: LocalTime,
    /// How much of the buffer it fills `[byte]`.
    pub len: usize,
    /// Given back in [`Input::Transmitted`] or [`Input::Dropped`]; `None` if the node does not want to know.
    pub token: Option<TxToken>,
}

/// Proof that a transmit time belongs to a frame. It cannot be copied, so each time is returned at most once.
#[derive(PartialEq, Eq, Debug)]
pub struct TxToken(u64);

impl TxToken {
    /// A token the node recognises by `id`.
    pub const fn new(id: u64) -> Self {
        Self(id)
    }
    /// What it was made with.
    pub const fn id(&self) -> u64 {
        self.0
    }
}

/// The driver broke the contract of [`Node`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandleError {
    /// The node has no such port.
    UnknownPort(PortId),
    /// The token is none of this node's open ones.
    UnknownToken(u64),
    /// `now` lies before an earlier `now`.
    TimeRanBackwards {
        /// The latest time seen before.
        last: LocalTime,
        /// The time given.
        now: LocalTime,
    },
}

impl core::fmt::Display for HandleError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::UnknownPort(port) => {
                write!(f, "the driver delivered a frame on port {}, which this node has not", port.0)
            }
            Self::UnknownToken(id) => write!(f, "the driver returned transmit token {id}, which is not open"),
            Self::TimeRanBackwards { last, now } => write!(f, "the driver's clock ran backwards from {last} to {now}"),
        }
    }
}
impl core::error::Error for HandleError {}
