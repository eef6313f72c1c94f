//! How a station lays out the data of its frames.

use super::super::frame::{CLASSICAL_DATA_LEN_MAX, Dlc};
use super::SHORT_LENGTH_MAX;

/// TX_DL: the length of every frame of a segmented message but the last `[byte]`.
///
/// It is 8, 12, 16, 20, 24, 32, 48 or 64; above 8 the frames are FD frames.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxDataLength(u8);

/// A length that no segmented message can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("frames of a segmented message have 8, 12, 16, 20, 24, 32, 48 or 64 bytes, not {0}")]
pub struct TxDataLengthError(pub usize);

impl TxDataLength {
    /// Full classical frames.
    pub const CLASSICAL: Self = Self(8);
    /// The longest FD frames.
    pub const FD_MAX: Self = Self(64);
    /// Every length there is, in ascending order.
    pub const ALL: [Self; 8] = [Self(8), Self(12), Self(16), Self(20), Self(24), Self(32), Self(48), Self(64)];

    /// The length `len` `[byte]`.
    ///
    /// # Errors
    /// [`TxDataLengthError`] if `len` is none of the eight lengths.
    pub fn new(len: usize) -> Result<Self, TxDataLengthError> {
        Self::ALL.into_iter().find(|known| known.get() == len).ok_or(TxDataLengthError(len))
    }

    /// The length `[byte]`.
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// True if only FD frames are that long.
    pub const fn is_fd(self) -> bool {
        self.get() > CLASSICAL_DATA_LEN_MAX
    }
}

/// What stands behind the end of a message, and up to where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Padding {
    /// The byte that fills. The standard recommends 0xCC, which causes few stuff bits.
    pub byte: u8,
    /// True to fill every frame up to eight bytes at least. Otherwise a frame of up to eight bytes is as short as it
    /// can be; a longer one is always filled up to the next data length of FD frames.
    pub up_to_eight: bool,
}

/// How one station lays out its frames.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameFormat {
    /// The length of full frames.
    pub tx_data_len: TxDataLength,
    /// The byte before the protocol control information: the target address in extended addressing, the address
    /// extension in mixed addressing, absent in normal addressing.
    pub address: Option<u8>,
    /// How short frames are filled up.
    pub padding: Padding,
}

impl FrameFormat {
    /// Frames of `tx_data_len` in normal addressing, filled up to eight bytes at least with 0xCC.
    pub const fn new(tx_data_len: TxDataLength) -> Self {
        Self { tx_data_len, address: None, padding: Padding { byte: 0xcc, up_to_eight: true } }
    }

    /// [`Self::new`] with classical frames.
    pub const fn classical() -> Self {
        Self::new(TxDataLength::CLASSICAL)
    }

    /// [`Self::new`] with FD frames of 64 bytes.
    pub const fn fd() -> Self {
        Self::new(TxDataLength::FD_MAX)
    }

    /// The longest message that a single frame holds `[byte]`: 7 in classical frames, 62 in FD frames of 64 bytes, one
    /// less with an address byte.
    pub const fn single_len_max(&self) -> usize {
        let control_len = if self.tx_data_len.is_fd() { 2 } else { 1 };
        self.tx_data_len.get() - self.address_len() - control_len
    }

    /// How much of a message of `message_len` bytes its first frame holds `[byte]`.
    pub const fn first_len(&self, message_len: u32) -> usize {
        let control_len = if message_len <= SHORT_LENGTH_MAX { 2 } else { 6 };
        self.tx_data_len.get() - self.address_len() - control_len
    }

    /// How much of a message a consecutive frame holds `[byte]`.
    pub const fn consecutive_len(&self) -> usize {
        self.tx_data_len.get() - self.address_len() - 1
    }

    /// Length of a flow control frame's data `[byte]`.
    pub fn flow_control_len(&self) -> usize {
        self.padded_len(self.address_len() + 3)
    }

    /// Bytes before the protocol control information.
    pub(super) const fn address_len(&self) -> usize {
        if self.address.is_some() { 1 } else { 0 }
    }

    /// Length of a single frame's data for a message of `message_len` bytes, which fit `[byte]`.
    pub(super) fn single_frame_len(&self, message_len: usize) -> usize {
        let is_short = self.address_len() + 1 + message_len <= CLASSICAL_DATA_LEN_MAX;
        self.padded_len(self.address_len() + if is_short { 1 } else { 2 } + message_len)
    }

    /// Length of the data of a frame that has to hold `len` bytes, at most 64.
    pub(super) fn padded_len(&self, len: usize) -> usize {
        if len <= CLASSICAL_DATA_LEN_MAX {
            return if self.padding.up_to_eight { CLASSICAL_DATA_LEN_MAX } else { len };
        }
        Dlc::holding(len).expect("no frame holds more than 64 bytes").fd_len()
    }
}
