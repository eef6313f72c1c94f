//! What one frame of the transport protocol says.

use chronoseal_core::DiscardReason;

use super::super::frame::{CLASSICAL_DATA_LEN_MAX, FD_DATA_LEN_MAX};
use super::format::{FrameFormat, TxDataLength};
use super::{SHORT_LENGTH_MAX, SeparationTime};

/// What a receiver answers to a first frame, and after each block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlowStatus {
    /// CTS: the next block may come.
    ContinueToSend,
    /// WAIT: another flow control frame will follow.
    Wait,
    /// OVFLW: the message is longer than the receiver takes.
    Overflow,
}

/// A flow control frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowControl {
    /// FS: what the sender may do.
    pub status: FlowStatus,
    /// BS: how many consecutive frames may follow before the next flow control frame; 0 for all of them.
    pub block_size: u8,
    /// STmin: how far apart they have to be.
    pub separation_time: SeparationTime,
}

/// The data of a frame, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pdu<'a> {
    /// SF: a whole message.
    Single {
        /// The message, never empty.
        data: &'a [u8],
    },
    /// FF: the first part of a message.
    First {
        /// FF_DL: length of the whole message `[byte]`, more than a single frame of the same length holds.
        message_len: u32,
        /// Its first bytes. The frame has the length of all frames of this message but the last.
        data: &'a [u8],
    },
    /// CF: a further part of a message.
    Consecutive {
        /// SN: counts from 1 after the first frame, modulo 16.
        sequence_number: u8,
        /// The next bytes, with the padding of the last frame.
        data: &'a [u8],
    },
    /// FC: the receiver's answer.
    FlowControl(FlowControl),
}

/// Why the data of a frame is nothing of this protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PduError {
    /// More than a frame holds.
    #[error("{0} bytes are more than the 64 of a frame")]
    TooLong(usize),
    /// It ends within its protocol control information, or holds no data.
    #[error("{len} bytes of data are too few, {needed} are needed")]
    Truncated {
        /// Data there is `[byte]`.
        len: usize,
        /// Data there has to be at least `[byte]`.
        needed: usize,
    },
    /// It is for another station.
    #[error("address byte {found:#04x} is not the expected {expected:#04x}")]
    OtherAddress {
        /// What this receiver listens to.
        expected: u8,
        /// What the frame says.
        found: u8,
    },
    /// A reserved type.
    #[error("type {0} of protocol control information is reserved")]
    ReservedType(u8),
    /// A single frame says it holds nothing, or more than it can.
    #[error("a single frame says it holds {len} bytes, but 1 to {capacity} are possible")]
    SingleLength {
        /// SF_DL `[byte]`.
        len: u8,
        /// What comes after its length `[byte]`.
        capacity: usize,
    },
    /// A single frame of more than 8 bytes without the escape form.
    #[error("a single frame of {0} bytes has its length in the first byte, which only frames of up to 8 bytes may")]
    SingleNotEscaped(usize),
    /// A first frame has to be full, so it has one of the eight lengths.
    #[error("a first frame of {0} bytes; it is 8, 12, 16, 20, 24, 32, 48 or 64")]
    FirstFrameLength(usize),
    /// The message would have fitted a single frame.
    #[error("a first frame announces {message_len} bytes, fewer than the least of {least}")]
    FirstLengthTooSmall {
        /// FF_DL `[byte]`.
        message_len: u32,
        /// The least that a first frame of this length and form may announce `[byte]`.
        least: u32,
    },
    /// A flow status above 2. A sender that waits for one gives its message up.
    #[error("flow status {0} is reserved")]
    ReservedFlowStatus(u8),
}

impl From<PduError> for DiscardReason {
    fn from(error: PduError) -> Self {
        match error {
            PduError::TooLong(_) => Self::TooLong,
            PduError::Truncated { .. } => Self::TooShort,
            PduError::OtherAddress { .. } => Self::UnknownStream,
            _ => Self::Malformed,
        }
    }
}

impl<'a> Pdu<'a> {
    /// Reads the data of a frame, with `address` as its first byte if there is one.
    ///
    /// Padding is accepted whatever it is, and a single frame may be longer than it has to be. A first frame that
    /// announces a message that a single frame would hold, or at most 4095 bytes in the escape form, is refused.
    ///
    /// # Errors
    /// [`PduError`] says what is wrong.
    pub fn parse(data: &'a [u8], address: Option<u8>) -> Result<Self, PduError> {
        if data.len() > FD_DATA_LEN_MAX {
            return Err(PduError::TooLong(data.len()));
        }
        let truncated = |needed| PduError::Truncated { len: data.len(), needed };
        let body = match (address, data) {
            (None, body) => body,
            (Some(_), []) => return Err(truncated(2)),
            (Some(expected), [found, body @ ..]) if expected == *found => body,
            (Some(expected), [found, ..]) => return Err(PduError::OtherAddress { expected, found: *found }),
        };
        let address_len = data.len() - body.len();
        let [control, rest @ ..] = body else { return Err(truncated(address_len + 1)) };
        let low = control & 0x0f;
        match control >> 4 {
            0 => Self::parse_single(data.len(), low, rest),
            1 => Self::parse_first(data.len(), address, low, rest),
            2 if rest.is_empty() => Err(truncated(address_len + 2)),
            2 => Ok(Self::Consecutive { sequence_number: low, data: rest }),
            3 => {
                let [block_size, separation_time, ..] = *rest else { return Err(truncated(address_len + 3)) };
                let status = match low {
                    0 => FlowStatus::ContinueToSend,
                    1 => FlowStatus::Wait,
                    2 => FlowStatus::Overflow,
                    _ => return Err(PduError::ReservedFlowStatus(low)),
                };
                let separation_time = SeparationTime::from_raw(separation_time);
                Ok(Self::FlowControl(FlowControl { status, block_size, separation_time }))
            }
            reserved => Err(PduError::ReservedType(reserved)),
        }
    }

    /// The length is in the first byte of frames of up to 8 bytes, in the second of longer ones.
    fn parse_single(frame_len: usize, low: u8, rest: &'a [u8]) -> Result<Self, PduError> {
        let (len, room) = match (frame_len > CLASSICAL_DATA_LEN_MAX, low) {
            (true, 0) => rest.split_first().map_or((0, rest), |(len, room)| (*len, room)),
            (true, _) => return Err(PduError::SingleNotEscaped(frame_len)),
            (false, len) => (len, rest),
        };
        match room.get(..usize::from(len)) {
            Some(data) if len > 0 => Ok(Self::Single { data }),
            _ => Err(PduError::SingleLength { len, capacity: room.len() }),
        }
    }

    /// 12 bits of length, or if they are zero, 32 bits.
    fn parse_first(frame_len: usize, address: Option<u8>, low: u8, rest: &'a [u8]) -> Result<Self, PduError> {
        let tx_data_len = TxDataLength::new(frame_len).map_err(|_| PduError::FirstFrameLength(frame_len))?;
        let truncated = PduError::Truncated { len: frame_len, needed: 8 };
        let (low_byte, rest) = rest.split_first().ok_or(truncated)?;
        let short = u32::from(low) << 8 | u32::from(*low_byte);
        let (message_len, data, least) = if short > 0 {
            let single_max = FrameFormat { address, ..FrameFormat::new(tx_data_len) }.single_len_max();
            (short, rest, single_max as u32 + 1)
        } else {
            let (long, data) = rest.split_first_chunk().ok_or(truncated)?;
            (u32::from_be_bytes(*long), data, SHORT_LENGTH_MAX + 1)
        };
        if message_len < least {
            return Err(PduError::FirstLengthTooSmall { message_len, least });
        }
        Ok(Self::First { message_len, data })
    }

    /// Writes the data of a frame to the front of `out` and says how many bytes it takes, address byte and padding
    /// included.
    ///
    /// # Panics
    /// If the data are not as long as `format` has them: 1 to [`FrameFormat::single_len_max`] bytes in a single frame,
    /// [`FrameFormat::first_len`] in a first frame, 1 to [`FrameFormat::consecutive_len`] in a consecutive frame.
    pub fn emit(&self, format: &FrameFormat, out: &mut [u8; FD_DATA_LEN_MAX]) -> usize {
        let mut writer = Writer { out, len: 0 };
        if let Some(address) = format.address {
            writer.put(&[address]);
        }
        match *self {
            Self::Single { data } => {
                assert!((1..=format.single_len_max()).contains(&data.len()), "a single frame of {} bytes", data.len());
                // At most 62.
                let len = data.len() as u8;
                if format.address_len() + 1 + data.len() <= CLASSICAL_DATA_LEN_MAX {
                    writer.put(&[len]);
                } else {
                    writer.put(&[0, len]);
                }
                writer.put(data);
            }
            Self::First { message_len, data } => {
                assert!(data.len() == format.first_len(message_len), "a first frame with {} bytes", data.len());
                let [.., high, low] = message_len.to_be_bytes();
                if message_len <= SHORT_LENGTH_MAX {
                    writer.put(&[0x10 | high, low]);
                } else {
                    writer.put(&[0x10, 0]);
                    writer.put(&message_len.to_be_bytes());
                }
                writer.put(data);
            }
            Self::Consecutive { sequence_number, data } => {
                assert!((1..=format.consecutive_len()).contains(&data.len()), "a frame of {} bytes", data.len());
                writer.put(&[0x20 | sequence_number & 0x0f]);
                writer.put(data);
            }
            Self::FlowControl(FlowControl { status, block_size, separation_time }) => {
                let status = match status {
                    FlowStatus::ContinueToSend => 0,
                    FlowStatus::Wait => 1,
                    FlowStatus::Overflow => 2,
                };
                writer.put(&[0x30 | status, block_size, separation_time.raw()]);
            }
        }
        let len = format.padded_len(writer.len);
        writer.out[writer.len..len].fill(format.padding.byte);
        len
    }
}

struct Writer<'a> {
    out: &'a mut [u8; FD_DATA_LEN_MAX],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}
