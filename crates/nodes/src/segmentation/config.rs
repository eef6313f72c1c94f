//! What a sender and a receiver are told once.

use chronoseal_core::Duration;
use chronoseal_wire::can::iso_tp::{FrameFormat, SHORT_LENGTH_MAX, SeparationTime};

/// The longest span a configuration may name.
pub const SPAN_MAX: Duration = Duration::from_s(3_600);

/// What ISO 15765-2 gives N_As, N_Bs and N_Cr at most.
const TIMEOUT: Duration = Duration::from_ms(1_000);

/// How a sender sends a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// To one receiver, which controls the flow. Physical addressing of ISO 15765-2.
    FlowControlled {
        /// N_Bs: the longest wait for a flow control frame.
        n_bs: Duration,
        /// How many flow control frames in a row may ask to wait; one more ends the transfer. Without such a limit a
        /// receiver could hold the sender for ever.
        waits_max: u8,
    },
    /// To any number of receivers, in a single frame. Functional addressing of ISO 15765-2.
    SingleFrame,
    /// To any number of receivers, in as many frames as the message takes, without flow control. Outside ISO 15765-2.
    PacedBroadcast {
        /// From handing over one frame to handing over the next. May be zero.
        separation: Duration,
    },
}

impl Transfer {
    /// With flow control, N_Bs of 1 s and at most ten waits in a row.
    pub const fn flow_controlled() -> Self {
        Self::FlowControlled { n_bs: TIMEOUT, waits_max: 10 }
    }
}

/// A sender's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderConfig {
    /// How its frames are laid out.
    pub format: FrameFormat,
    /// The address byte of the flow control frames it listens to. It has to be there exactly if
    /// [`FrameFormat::address`] is.
    pub peer_address: Option<u8>,
    /// How it sends a message.
    pub transfer: Transfer,
    /// N_As: the longest time from handing over a frame to [`Sender::handle_transmitted`](super::Sender). `None` if the
    /// driver does not say when frames leave. Then a frame counts as transmitted when it is handed over, and STmin
    /// starts there, so frames that the bus held up may follow each other faster than STmin.
    pub n_as: Option<Duration>,
}

impl SenderConfig {
    /// A sender that is not told when frames leave and whose peer uses the same address byte.
    pub const fn new(format: FrameFormat, transfer: Transfer) -> Self {
        Self { format, peer_address: format.address, transfer, n_as: None }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_addresses(&self.format, self.peer_address)?;
        if let Some(n_as) = self.n_as {
            check_timeout("N_As", n_as)?;
        }
        match self.transfer {
            Transfer::FlowControlled { n_bs, .. } => check_timeout("N_Bs", n_bs),
            Transfer::SingleFrame => Ok(()),
            Transfer::PacedBroadcast { separation: Duration::ZERO } => Ok(()),
            Transfer::PacedBroadcast { separation } => check_timeout("the separation", separation),
        }
    }
}

/// What a receiver takes, and how it answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// From one sender, whose flow this receiver controls. Physical addressing of ISO 15765-2.
    FlowControlled {
        /// BS: consecutive frames between two flow control frames; 0 for no limit.
        block_size: u8,
        /// STmin: the least time between consecutive frames.
        separation_time: SeparationTime,
        /// WFTmax: how often in a row it may ask the sender to wait while it is busy.
        waits_max: u8,
        /// From one such request to the next. It has to be shorter than the sender's N_Bs.
        wait_interval: Duration,
    },
    /// Single frames only. Functional addressing of ISO 15765-2.
    SingleFrame,
    /// What [`Transfer::PacedBroadcast`] sends. Outside ISO 15765-2.
    PacedBroadcast,
}

impl Reception {
    /// With flow control, all in one block, as fast as the bus allows, and at most ten waits of 500 ms.
    pub const fn flow_controlled() -> Self {
        Self::FlowControlled {
            block_size: 0,
            separation_time: SeparationTime::ZERO,
            waits_max: 10,
            wait_interval: Duration::from_ms(500),
        }
    }
}

/// A receiver's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverConfig {
    /// How its flow control frames are laid out.
    pub format: FrameFormat,
    /// The address byte of the frames it listens to. It has to be there exactly if [`FrameFormat::address`] is.
    pub peer_address: Option<u8>,
    /// What it takes.
    pub reception: Reception,
    /// N_Cr: the longest wait for a consecutive frame, from handing over a flow control frame or receiving the frame
    /// before. It also covers a flow control frame that never leaves, so there is no N_Ar.
    pub n_cr: Duration,
    /// The longest message it takes `[byte]`. A longer one is refused; with flow control the sender is told so.
    pub message_len_max: u32,
}

impl ReceiverConfig {
    /// A receiver of up to 4095 bytes, the longest message without the escape form, with N_Cr of 1 s, whose peer uses
    /// the same address byte.
    pub const fn new(format: FrameFormat, reception: Reception) -> Self {
        Self { format, peer_address: format.address, reception, n_cr: TIMEOUT, message_len_max: SHORT_LENGTH_MAX }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_addresses(&self.format, self.peer_address)?;
        check_timeout("N_Cr", self.n_cr)?;
        match self.reception {
            Reception::FlowControlled { wait_interval, .. } => check_timeout("the wait interval", wait_interval),
            Reception::SingleFrame | Reception::PacedBroadcast => Ok(()),
        }
    }
}

/// Why parameters cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A span is not above zero, or above [`SPAN_MAX`].
    #[error("{name} is {span}, but has to be above 0s and at most {SPAN_MAX}")]
    Span {
        /// Which.
        name: &'static str,
        /// As given.
        span: Duration,
    },
    /// One direction has an address byte and the other has none.
    #[error("frames of one direction have an address byte, the others have none")]
    AddressInOneDirection,
}

fn check_timeout(name: &'static str, span: Duration) -> Result<(), ConfigError> {
    if span > Duration::ZERO && span <= SPAN_MAX { Ok(()) } else { Err(ConfigError::Span { name, span }) }
}

fn check_addresses(format: &FrameFormat, peer: Option<u8>) -> Result<(), ConfigError> {
    if format.address.is_some() == peer.is_some() { Ok(()) } else { Err(ConfigError::AddressInOneDirection) }
}
