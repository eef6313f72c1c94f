//! The messages of the generalized precision time protocol: IEEE 802.1AS-2020 clauses 10.6 and 11.4.
//!
//! ```text
//! header, 34 bytes, of every message                body, from byte 34
//!  0  majorSdoId 1, messageType    4+4 bit          Sync                   10 reserved
//!  1  minor version, version 2     4+4 bit          Follow_Up              preciseOriginTimestamp 10, TLV 32
//!  2  messageLength                2                Pdelay_Req             20 reserved
//!  4  domainNumber                 1                Pdelay_Resp            requestReceiptTimestamp 10, port identity 10
//!  5  minorSdoId                   1                Pdelay_Resp_Follow_Up  responseOriginTimestamp 10, port identity 10
//!  6  flags                        2                Announce               30 and the path trace TLV, 4 + 8n
//!  8  correctionField [2^-16 ns]   8
//! 16  messageTypeSpecific          4
//! 20  sourcePortIdentity          10
//! 30  sequenceId                   2
//! 32  controlField                 1
//! 33  logMessageInterval           1
//! ```
//! All fields are big-endian; reserved ones are sent as 0 and ignored. Event messages, Sync, `Pdelay_Req` and `Pdelay_Resp`, carry no
//! time of their own departure: the time stamp of each is in the message that follows it up. A one-step Sync, which the edition
//! of 2020 allows as an option, is refused, because its sender would have to write the time stamp while the frame leaves.
//!
//! # Times
//! A [`PtpTime`] is a whole number of picoseconds. On the wire it is seconds and whole nanoseconds; what is left over goes into the
//! correction field, whose unit of 2^-16 ns is finer than our picosecond, so that every picosecond survives.

mod emit;
mod parse;
#[cfg(test)]
mod tests;
mod time;

use core::fmt;

use chronoseal_core::{DiscardReason, Duration};

use crate::ethernet::MacAddress;

pub use self::emit::emit_frame;
pub use self::time::PtpTime;

/// EtherType of every message of the protocol: IEEE 802.1AS-2020 §11.3.5.
pub const ETHERTYPE_PTP: u16 = 0x88f7;
/// Where every message goes: the nearest non-TPMR bridge, which consumes it (IEEE 802.1AS-2020 §11.3.4).
pub const PTP_ADDRESS: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// Length of the common header `[byte]`.
pub const HEADER_LEN: usize = 34;
/// Longest message: what an Ethernet frame can carry `[byte]`.
pub const MESSAGE_LEN_MAX: usize = 1500;
/// Clock identities that fit into the path trace of the longest message: IEEE 802.1AS-2020 §10.3.9.23 leaves the TLV out beyond.
pub const PATH_TRACE_MAX: usize = (MESSAGE_LEN_MAX - ANNOUNCE_LEN - TLV_HEADER_LEN) / 8;

/// The flags of an Announce that say something of the grandmaster's time, IEEE 802.1AS-2020 table 10-9: `leap61` 1, `leap59` 2,
/// `currentUtcOffsetValid` 4, `ptpTimescale` 8, `timeTraceable` 16 and `frequencyTraceable` 32. Bridges pass them on.
pub const TIME_FLAGS: u8 = 0x3f;
/// `ptpTimescale`: the epoch is that of TAI. Messages of this standard have it set, unless a grandmaster's Announce says otherwise.
pub const FLAG_PTP_TIMESCALE: u8 = 0x08;

const SYNC_LEN: usize = 44;
const PDELAY_LEN: usize = 54;
const ANNOUNCE_LEN: usize = 64;
const TLV_HEADER_LEN: usize = 4;
const FOLLOW_UP_LEN: usize = 44;
/// Length of what follows the header of the TLV of a `Follow_Up` `[byte]`.
const FOLLOW_UP_TLV_LEN: usize = 28;
const TLV_ORGANIZATION_EXTENSION: u16 = 0x0003;
const TLV_PATH_TRACE: u16 = 0x0008;
/// Organization 00-80-C2 of IEEE 802.1, subtype 1.
const FOLLOW_UP_ORGANIZATION: [u8; 6] = [0x00, 0x80, 0xc2, 0x00, 0x00, 0x01];
const MAJOR_SDO_ID: u8 = 1;
const VERSION: u8 = 2;
const FLAG_TWO_STEP: u8 = 0x02;

/// Identity of a clock; by custom its station's MAC address with `ff:fe` in the middle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ClockIdentity(pub [u8; 8]);

impl ClockIdentity {
    /// The identity of the station with a MAC address.
    pub const fn from_mac(address: MacAddress) -> Self {
        let [a, b, c, d, e, f] = address.0;
        Self([a, b, c, 0xff, 0xfe, d, e, f])
    }

    /// The MAC address it was made from, if it was made from one.
    pub const fn mac(self) -> Option<MacAddress> {
        match self.0 {
            [a, b, c, 0xff, 0xfe, d, e, f] => Some(MacAddress([a, b, c, d, e, f])),
            _ => None,
        }
    }
}

impl fmt::Display for ClockIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g, h, i] = self.0;
        write!(f, "{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{g:02x}{h:02x}{i:02x}")
    }
}

/// A port of a clock; ports are numbered from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PortIdentity {
    /// Whose port.
    pub clock: ClockIdentity,
    /// Its number.
    pub port: u16,
}

/// What the header says, beside the type of the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Messages of other domains belong to other clocks.
    pub domain: u8,
    /// The port that sent it.
    pub source: PortIdentity,
    /// Counts the messages of a type, and is the same in a message and its follow-up.
    pub sequence: u16,
    /// Added to the time in the body.
    pub correction: Duration,
    /// Binary logarithm of the interval between messages of this type `[log2 s]`; 0x7f where there is none.
    pub log_interval: i8,
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// Its header.
    pub header: Header,
    /// What it says.
    pub body: Body<'a>,
}

/// What a message says, by type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// Its departure is the point in time that the `Follow_Up` names.
    Sync,
    /// When the Sync of the same number left.
    FollowUp(FollowUp),
    /// Asks the neighbour for the delay of the link.
    PdelayReq,
    /// When the request arrived.
    PdelayResp {
        /// By the responder's clock.
        received: PtpTime,
        /// Who asked.
        requesting: PortIdentity,
    },
    /// When the response left.
    PdelayRespFollowUp {
        /// By the responder's clock.
        sent: PtpTime,
        /// Who asked.
        requesting: PortIdentity,
    },
    /// Who the grandmaster is, as far as the sender knows.
    Announce(Announce<'a>),
}

/// What a `Follow_Up` says: IEEE 802.1AS-2020 §11.4.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowUp {
    /// When the grandmaster sent the Sync, without what the correction field adds.
    pub precise_origin: PtpTime,
    /// Rate of the grandmaster against the sender's, minus 1 `[2^-41]`.
    pub cumulative_scaled_rate_offset: i32,
    /// Counts the changes of the grandmaster's source of time.
    pub gm_time_base_indicator: u16,
    /// What the time jumped by at the last change `[2^-16 ns]`, 96 bits.
    pub last_gm_phase_change: i128,
    /// What the rate jumped by at the last change `[2^-41]`.
    pub scaled_last_gm_freq_change: i32,
}

/// How good a clock is: IEEE 802.1AS-2020 §8.6.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ClockQuality {
    /// `clockClass`; 248 if nothing more is known.
    pub class: u8,
    /// `clockAccuracy`; 0xfe if it is not known.
    pub accuracy: u8,
    /// `offsetScaledLogVariance`; 0x436a if it is not known.
    pub variance: u16,
}

impl Default for ClockQuality {
    fn default() -> Self {
        Self { class: 248, accuracy: 0xfe, variance: 0x436a }
    }
}

/// What decides which clock becomes the grandmaster; the lower is the better. The order of the fields is that of the comparison:
/// IEEE 802.1AS-2020 §10.3.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SystemIdentity {
    /// Set by whoever runs the network; 255 if the clock must not become grandmaster.
    pub priority1: u8,
    /// How good the clock is.
    pub quality: ClockQuality,
    /// Decides among clocks of one quality.
    pub priority2: u8,
    /// Decides in the end.
    pub clock: ClockIdentity,
}

/// What an Announce says: IEEE 802.1AS-2020 §10.6.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announce<'a> {
    /// What is known of the time: leap seconds, time scale, traceability; see [`TIME_FLAGS`].
    pub time_flags: u8,
    /// TAI minus UTC `[s]`.
    pub current_utc_offset: i16,
    /// The grandmaster.
    pub grandmaster: SystemIdentity,
    /// Links between the grandmaster and the sender.
    pub steps_removed: u16,
    /// Where the grandmaster has its time from; 0xa0 is an oscillator of its own.
    pub time_source: u8,
    /// The clocks from the grandmaster to the sender, both included.
    pub path_trace: PathTrace<'a>,
}

/// The clocks through which an Announce came, the grandmaster first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathTrace<'a>(&'a [[u8; 8]]);

impl<'a> PathTrace<'a> {
    /// Of these clocks. [`Message::emit`] leaves out a trace of more than [`PATH_TRACE_MAX`].
    pub const fn new(clocks: &'a [[u8; 8]]) -> Self {
        Self(clocks)
    }

    /// The clocks.
    pub fn clocks(&self) -> impl ExactSizeIterator<Item = ClockIdentity> + 'a {
        self.0.iter().map(|bytes| ClockIdentity(*bytes))
    }
}

/// Why a payload is no message that the protocol takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GptpError {
    /// Shorter than its type needs, or than its header says.
    #[error("a payload of {len} bytes ends before the {needed} that the message needs")]
    TooShort {
        /// Of the payload `[byte]`.
        len: usize,
        /// What is needed `[byte]`.
        needed: usize,
    },
    /// Its length field holds less than its type needs.
    #[error("the message says that it has {stated} bytes, its type needs {needed}")]
    WrongLength {
        /// As in its header `[byte]`.
        stated: usize,
        /// What is needed `[byte]`.
        needed: usize,
    },
    /// It is of another version of PTP than 2.
    #[error("version {0} of PTP is not 2")]
    Version(u8),
    /// It is of another profile: `majorSdoId` is not 1.
    #[error("majorSdoId {0} is not the 1 of IEEE 802.1AS")]
    Profile(u8),
    /// Its type is none of [`Body`].
    #[error("message type {0:#x} is none that is used here")]
    UnknownType(u8),
    /// A Sync without follow-up.
    #[error("a one-step message, which carries its own time stamp, is not taken")]
    OneStep,
    /// More nanoseconds than a second has.
    #[error("a time with {0} nanoseconds beyond its seconds has a second too many")]
    Nanoseconds(u32),
    /// A `Follow_Up` without its TLV.
    #[error("a Follow_Up without the Follow_Up information TLV of IEEE 802.1AS")]
    NoInformation,
    /// A TLV that ends beyond the message, or whose length is none of its type.
    #[error("the TLV of type {kind:#06x} says {stated} bytes, which does not fit")]
    Tlv {
        /// Its type.
        kind: u16,
        /// As in its header `[byte]`.
        stated: usize,
    },
}

impl From<GptpError> for DiscardReason {
    fn from(error: GptpError) -> Self {
        match error {
            GptpError::TooShort { .. } => Self::TooShort,
            _ => Self::Malformed,
        }
    }
}
