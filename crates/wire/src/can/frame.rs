//! A frame as a value, and its data length code.

use super::id::CanId;

/// Most data in a classical frame `[byte]`.
pub const CLASSICAL_DATA_LEN_MAX: usize = 8;
/// Most data in an FD frame `[byte]`.
pub const FD_DATA_LEN_MAX: usize = 64;

/// Data lengths of FD frames, by data length code `[byte]`: ISO 11898-1:2015 table 5.
const FD_LENGTHS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/// The four bits that tell the length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Dlc(u8);

impl Dlc {
    /// The code `raw`, or `None` above 15.
    pub const fn new(raw: u8) -> Option<Self> {
        if raw < 16 { Some(Self(raw)) } else { None }
    }

    /// The code of exactly `len` bytes in an FD frame; `None` for lengths no FD frame has. Up to 8 bytes the code is
    /// the length, as in classical frames.
    pub fn of_len(len: usize) -> Option<Self> {
        match len {
            0..=8 => Some(Self(len as u8)),
            _ => FD_LENGTHS.iter().position(|known| usize::from(*known) == len).map(|code| Self(code as u8)),
        }
    }

    /// The code of the shortest FD frame that holds `len` bytes; `None` above 64.
    pub fn holding(len: usize) -> Option<Self> {
        FD_LENGTHS.iter().position(|known| usize::from(*known) >= len).map(|code| Self(code as u8))
    }

    /// As on the wire.
    pub const fn raw(self) -> u8 {
        self.0
    }

    /// Data of a classical frame with this code `[byte]`: 9 to 15 mean 8.
    pub const fn classical_len(self) -> usize {
        if self.0 < 8 { self.0 as usize } else { 8 }
    }

    /// Data of an FD frame with this code `[byte]`.
    pub const fn fd_len(self) -> usize {
        FD_LENGTHS[self.0 as usize] as usize
    }
}

/// What kind of frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameKind {
    /// Classical data frame.
    Classical,
    /// Classical remote frame: asks for data, carries none, names its length.
    Remote,
    /// FD data frame.
    Fd {
        /// Bit rate switch: the data phase runs at the data rate.
        brs: bool,
        /// Error state indicator: recessive (true) if its sender is error passive.
        esi: bool,
    },
}

impl FrameKind {
    /// True for FD frames.
    pub const fn is_fd(self) -> bool {
        matches!(self, Self::Fd { .. })
    }

    /// True for remote frames, whose RTR bit is recessive.
    pub const fn is_remote(self) -> bool {
        matches!(self, Self::Remote)
    }
}

/// A data length no frame of this kind has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LengthError {
    /// Above 8.
    #[error("a classical frame carries at most 8 bytes, not {0}")]
    Classical(usize),
    /// None of 0..=8, 12, 16, 20, 24, 32, 48, 64.
    #[error("no FD frame carries {0} bytes; it is 0 to 8, 12, 16, 20, 24, 32, 48 or 64")]
    Fd(usize),
}

/// A CAN or CAN FD frame: ISO 11898-1:2015 §10.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CanFrame {
    id: CanId,
    kind: FrameKind,
    dlc: Dlc,
    /// Zero beyond the data.
    data: [u8; FD_DATA_LEN_MAX],
}

/// What the header of a frame says, for an owned one and a view of one alike.
macro_rules! header_accessors {
    () => {
        /// What it is about.
        #[inline]
        pub const fn id(&self) -> CanId {
            self.id
        }

        /// What kind it is.
        #[inline]
        pub const fn kind(&self) -> FrameKind {
            self.kind
        }

        /// Its data length code as on the wire.
        #[inline]
        pub const fn dlc(&self) -> Dlc {
            self.dlc
        }
    };
}
pub(super) use header_accessors;

impl CanFrame {
    /// A classical data frame.
    ///
    /// # Errors
    /// [`LengthError::Classical`] above 8 bytes.
    pub fn classical(id: impl Into<CanId>, data: &[u8]) -> Result<Self, LengthError> {
        let dlc = Dlc::of_len(data.len())
            .filter(|_| data.len() <= CLASSICAL_DATA_LEN_MAX)
            .ok_or(LengthError::Classical(data.len()))?;
        Ok(Self::assemble(id.into(), FrameKind::Classical, dlc, data))
    }

    /// A remote frame that asks for `dlc`.
    pub fn remote(id: impl Into<CanId>, dlc: Dlc) -> Self {
        Self::assemble(id.into(), FrameKind::Remote, dlc, &[])
    }

    /// An FD frame from an error-active sender.
    ///
    /// # Errors
    /// [`LengthError::Fd`] if no FD frame has exactly this many bytes.
    pub fn fd(id: impl Into<CanId>, data: &[u8], brs: bool) -> Result<Self, LengthError> {
        let dlc = Dlc::of_len(data.len()).ok_or(LengthError::Fd(data.len()))?;
        Ok(Self::assemble(id.into(), FrameKind::Fd { brs, esi: false }, dlc, data))
    }

    /// A frame of `kind` with the code `dlc` and the bytes it stands for, taken from the front of `data` and filled up
    /// with zeros.
    pub fn new(id: impl Into<CanId>, kind: FrameKind, dlc: Dlc, data: &[u8]) -> Self {
        let len = data_len(kind, dlc).min(data.len());
        Self::assemble(id.into(), kind, dlc, &data[..len])
    }

    #[inline]
    fn assemble(id: CanId, kind: FrameKind, dlc: Dlc, bytes: &[u8]) -> Self {
        let mut data = [0; FD_DATA_LEN_MAX];
        data[..bytes.len()].copy_from_slice(bytes);
        Self { id, kind, dlc, data }
    }

    header_accessors!();

    /// Its data; none in a remote frame.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.data[..data_len(self.kind, self.dlc)]
    }

    /// The same frame with the error state indicator as its sender's state demands. Classical frames have none.
    #[must_use]
    pub const fn with_error_state(mut self, error_passive: bool) -> Self {
        if let FrameKind::Fd { brs, esi } = self.kind {
            self.kind = FrameKind::Fd { brs, esi: esi || error_passive };
        }
        self
    }

    /// The bits by which it competes: see [`CanId::arbitration_rank`].
    #[inline]
    pub const fn arbitration_rank(&self) -> u32 {
        self.id.arbitration_rank(self.kind.is_remote())
    }
}

/// Data of a frame of `kind` with the code `dlc` `[byte]`.
pub(super) const fn data_len(kind: FrameKind, dlc: Dlc) -> usize {
    match kind {
        FrameKind::Classical => dlc.classical_len(),
        FrameKind::Remote => 0,
        FrameKind::Fd { .. } => dlc.fd_len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: CanId = CanId::Standard(super::super::id::StandardId::ZERO);

    #[test]
    fn lengths_and_codes_are_those_of_the_standard() {
        for (raw, len) in (0..16).zip(FD_LENGTHS) {
            let dlc = Dlc::new(raw).unwrap();
            assert_eq!(dlc.fd_len(), usize::from(len));
            assert_eq!(dlc.classical_len(), usize::from(len).min(8));
            assert_eq!(Dlc::of_len(usize::from(len)), Some(dlc));
        }
        assert_eq!(Dlc::new(16), None);
        assert_eq!(Dlc::of_len(13), None);
        assert_eq!(Dlc::holding(13), Dlc::new(10));
        assert_eq!(Dlc::holding(64), Dlc::new(15));
        assert_eq!(Dlc::holding(65), None);
    }

    #[test]
    fn refuses_lengths_no_frame_has() {
        assert_eq!(CanFrame::classical(ID, &[0; 8]).unwrap().data().len(), 8);
        assert_eq!(CanFrame::classical(ID, &[0; 9]), Err(LengthError::Classical(9)));
        assert_eq!(CanFrame::fd(ID, &[0; 64], true).unwrap().data().len(), 64);
        assert_eq!(CanFrame::fd(ID, &[0; 9], true), Err(LengthError::Fd(9)));
        assert_eq!(CanFrame::fd(ID, &[0; 65], true), Err(LengthError::Fd(65)));
    }

    #[test]
    fn a_remote_frame_names_a_length_and_carries_nothing() {
        let frame = CanFrame::remote(ID, Dlc::new(5).unwrap());
        assert_eq!((frame.dlc().raw(), frame.data().len()), (5, 0));
    }
}
