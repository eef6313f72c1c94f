//! A frame as bytes: the layout of Linux's `struct can_frame` and `struct canfd_frame`, the identifier word high byte
//! first as in captures of link type 227 (LINKTYPE_CAN_SOCKETCAN).
//!
//! ```text
//! 0                4      5       6         7          8
//! +----------------+------+-------+---------+----------+-----------------------+
//! | flags, id (BE) | len  | flags | reserved| len8_dlc | data, 8 or 64 bytes   |
//! +----------------+------+-------+---------+----------+-----------------------+
//! ```
//! 16 bytes are a classical frame and 72 an FD frame, always filled up with zeros, so that a capture holds these bytes
//! as they are. A socket of Linux has the identifier word in the host's byte order instead.

use chronoseal_core::DiscardReason;

use super::frame::{CanFrame, Dlc, FD_DATA_LEN_MAX, FrameKind, data_len, header_accessors};
use super::id::{CanId, EXTENDED_ID_MAX, ExtendedId, StandardId};
use crate::field;

/// A classical frame (`CAN_MTU`) `[byte]`.
pub const CLASSICAL_LEN: usize = 16;
/// An FD frame (`CANFD_MTU`) `[byte]`.
pub const FD_LEN: usize = 72;
/// The longer of both `[byte]`.
pub const FRAME_LEN_MAX: usize = FD_LEN;

/// What comes before the data of either `[byte]`.
pub const HEADER_LEN: usize = 8;

const EXTENDED_FLAG: u32 = 0x8000_0000;
const REMOTE_FLAG: u32 = 0x4000_0000;
const ERROR_FLAG: u32 = 0x2000_0000;
const BRS_FLAG: u8 = 0x01;
const ESI_FLAG: u8 = 0x02;
const FDF_FLAG: u8 = 0x04;

/// Why bytes are no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Neither 16 nor 72 bytes.
    #[error("{0} bytes are no CAN frame; a classical one takes 16, an FD one 72")]
    WrongLength(usize),
    /// A message of a controller about errors (`CAN_ERR_FLAG`), which was never on a bus.
    #[error("identifier word {0:#010x} marks a controller's error message, which is no frame")]
    ErrorMessage(u32),
    /// More than 11 bits without the flag for 29.
    #[error("identifier {0:#x} has more than 11 bits, and the flag for 29 bits is not set")]
    IdBeyondFormat(u32),
    /// FD frames have no remote frames.
    #[error("an FD frame with the remote flag set; there are no FD remote frames")]
    RemoteFd,
    /// No frame of this kind has so much data.
    #[error("the length field says {len} bytes, which a frame of {frame_len} bytes cannot mean")]
    WrongDataLength {
        /// By the length field `[byte]`.
        len: u8,
        /// Classical or FD `[byte]`.
        frame_len: usize,
    },
}

impl From<FrameError> for DiscardReason {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::WrongLength(len) if len < CLASSICAL_LEN => Self::TooShort,
            FrameError::WrongLength(len) if len > FD_LEN => Self::TooLong,
            _ => Self::Malformed,
        }
    }
}

/// A frame's bytes, checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CanFrameView<'a> {
    id: CanId,
    kind: FrameKind,
    dlc: Dlc,
    data: &'a [u8],
}

impl<'a> CanFrameView<'a> {
    /// Checks length, flags, identifier and data length. What lies behind the data is not looked at.
    ///
    /// # Errors
    /// [`FrameError`]. An FD frame is known by its 72 bytes: kernels before 6.0 leave the FDF flag clear.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let is_fd = match bytes.len() {
            CLASSICAL_LEN => false,
            FD_LEN => true,
            len => return Err(FrameError::WrongLength(len)),
        };
        let [a, b, c, d, len, flags, _, len8_dlc] =
            field::read::<HEADER_LEN>(bytes, 0).ok_or(FrameError::WrongLength(bytes.len()))?;
        let word = u32::from_be_bytes([a, b, c, d]);
        if word & ERROR_FLAG != 0 {
            return Err(FrameError::ErrorMessage(word));
        }
        let raw = word & EXTENDED_ID_MAX;
        let id = if word & EXTENDED_FLAG != 0 {
            ExtendedId::new(raw).map(CanId::Extended)
        } else {
            u16::try_from(raw)
                .map_err(|_| super::id::IdError::Standard(raw))
                .and_then(StandardId::new)
                .map(CanId::Standard)
        }
        .map_err(|_| FrameError::IdBeyondFormat(raw))?;
        let is_remote = word & REMOTE_FLAG != 0;
        let kind = match (is_fd, is_remote) {
            (true, true) => return Err(FrameError::RemoteFd),
            (true, false) => FrameKind::Fd { brs: flags & BRS_FLAG != 0, esi: flags & ESI_FLAG != 0 },
            (false, true) => FrameKind::Remote,
            (false, false) => FrameKind::Classical,
        };
        let wrong = FrameError::WrongDataLength { len, frame_len: bytes.len() };
        let dlc = match (is_fd, len) {
            (true, _) => Dlc::of_len(usize::from(len)).ok_or(wrong)?,
            // A classical code above 8 means 8 bytes and is kept beside the length.
            (false, 8) if len8_dlc > 8 => Dlc::new(len8_dlc).ok_or(wrong)?,
            (false, 0..=8) => Dlc::new(len).ok_or(wrong)?,
            (false, _) => return Err(wrong),
        };
        let data = &bytes[HEADER_LEN..HEADER_LEN + data_len(kind, dlc)];
        Ok(Self { id, kind, dlc, data })
    }

    header_accessors!();

    /// Its data; none in a remote frame.
    #[inline]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The frame as a value.
    #[inline]
    pub fn to_frame(&self) -> CanFrame {
        CanFrame::new(self.id, self.kind, self.dlc, self.data)
    }
}

impl CanFrame {
    /// Reads what [`Self::emit`] writes.
    ///
    /// # Errors
    /// As [`CanFrameView::new_checked`].
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameError> {
        CanFrameView::new_checked(bytes).map(|view| view.to_frame())
    }

    /// Writes the frame to the front of `bytes` and says how many it took: 16 or 72.
    ///
    /// # Panics
    /// If `bytes` is shorter than [`FRAME_LEN_MAX`].
    pub fn emit(&self, bytes: &mut [u8]) -> usize {
        let word = self.id().raw()
            | if self.id().is_extended() { EXTENDED_FLAG } else { 0 }
            | if self.kind().is_remote() { REMOTE_FLAG } else { 0 };
        let (frame_len, flags) = match self.kind() {
            FrameKind::Fd { brs, esi } => {
                let flags = FDF_FLAG | if brs { BRS_FLAG } else { 0 } | if esi { ESI_FLAG } else { 0 };
                (FD_LEN, flags)
            }
            FrameKind::Classical | FrameKind::Remote => (CLASSICAL_LEN, 0),
        };
        let len = match self.kind() {
            FrameKind::Fd { .. } => self.dlc().fd_len(),
            FrameKind::Classical | FrameKind::Remote => self.dlc().classical_len(),
        };
        let len8_dlc = if !self.kind().is_fd() && self.dlc().raw() > 8 { self.dlc().raw() } else { 0 };
        let out = &mut bytes[..FRAME_LEN_MAX][..frame_len];
        out[..4].copy_from_slice(&word.to_be_bytes());
        out[4..HEADER_LEN].copy_from_slice(&[len as u8, flags, 0, len8_dlc]);
        let mut data = [0; FD_DATA_LEN_MAX];
        data[..self.data().len()].copy_from_slice(self.data());
        out[HEADER_LEN..].copy_from_slice(&data[..frame_len - HEADER_LEN]);
        frame_len
    }
}

impl chronoseal_core::WriteFrame for CanFrame {
    fn write(&self, buffer: &mut [u8]) -> usize {
        self.emit(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::can::testing::any_frame;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_those_of_linux() {
        let id = CanId::extended(0x18da_f110).unwrap();
        let mut bytes = [0xee; FRAME_LEN_MAX];
        let frame = CanFrame::fd(id, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], true).unwrap();
        assert_eq!(frame.emit(&mut bytes), FD_LEN);
        assert_eq!(bytes[..10], [0x98, 0xda, 0xf1, 0x10, 12, 0x05, 0, 0, 1, 2]);
        assert_eq!(bytes[20..], [0; 52]);
        let frame = CanFrame::remote(CanId::standard(0x123).unwrap(), Dlc::new(4).unwrap());
        assert_eq!(frame.emit(&mut bytes), CLASSICAL_LEN);
        assert_eq!(bytes[..9], [0x40, 0, 0x01, 0x23, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn refuses_what_is_no_frame_and_says_why() {
        let mut good = [0; FRAME_LEN_MAX];
        CanFrame::fd(CanId::standard(1).unwrap(), &[0; 64], false).unwrap().emit(&mut good);
        let refused = |change: &dyn Fn(&mut [u8; FRAME_LEN_MAX]), len: usize| {
            let mut bytes = good;
            change(&mut bytes);
            CanFrame::parse(&bytes[..len]).unwrap_err()
        };
        assert_eq!(refused(&|_| {}, 71), FrameError::WrongLength(71));
        assert_eq!(refused(&|_| {}, 0), FrameError::WrongLength(0));
        assert_eq!(refused(&|b| b[0] = 0x20, FD_LEN), FrameError::ErrorMessage(0x2000_0001));
        assert_eq!(refused(&|b| b[2] = 0x08, FD_LEN), FrameError::IdBeyondFormat(0x801));
        assert_eq!(refused(&|b| b[0] = 0x01, FD_LEN), FrameError::IdBeyondFormat(0x0100_0001));
        assert_eq!(refused(&|b| b[0] = 0x40, FD_LEN), FrameError::RemoteFd);
        assert_eq!(refused(&|b| b[4] = 63, FD_LEN), FrameError::WrongDataLength { len: 63, frame_len: 72 });
        assert_eq!(refused(&|b| b[4] = 9, 16), FrameError::WrongDataLength { len: 9, frame_len: 16 });
        assert_eq!(DiscardReason::from(FrameError::WrongLength(3)), DiscardReason::TooShort);
        assert_eq!(DiscardReason::from(FrameError::WrongLength(73)), DiscardReason::TooLong);
        assert_eq!(DiscardReason::from(FrameError::RemoteFd), DiscardReason::Malformed);
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read_back(frame in any_frame()) {
            let mut bytes = [0xaa; FRAME_LEN_MAX];
            let len = frame.emit(&mut bytes);
            prop_assert_eq!(CanFrame::parse(&bytes[..len]), Ok(frame));
        }

        #[test]
        fn what_is_accepted_keeps_its_meaning(bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 16), proptest::collection::vec(any::<u8>(), 72),
        ]) {
            if let Ok(frame) = CanFrame::parse(&bytes) {
                let mut again = [0; FRAME_LEN_MAX];
                let len = frame.emit(&mut again);
                prop_assert_eq!(CanFrame::parse(&again[..len]), Ok(frame));
            }
        }
    }
}
