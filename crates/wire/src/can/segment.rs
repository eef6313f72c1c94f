//! Messages longer than a frame, cut into frames and put together again.
//!
//! The published exchange sends 64-byte signatures and 32-byte shares, one FD frame each, and counts 8, 4, 4, 8 and 8
//! frames for them on classical CAN without saying how. Eight bytes a frame leave no room for a number in the payload,
//! so the rule here is:
//!
//! 1. The 32 frames of an exchange are numbered 0 to 31 in the order of its messages. The number takes the five highest
//!    bits of the identifier, which on FD hold the reserved bit and the step: [`SegmentId`].
//! 2. Each message is cut into pieces of 8 bytes, first bytes first, and the lowest number goes with the first piece.
//!    Since the lower identifier wins, a sender's queue ordered by priority keeps them in order.
//! 3. Both ends know a message's length from its step. Only the last piece may be shorter.
//! 4. A receiver takes pieces in order. Another number is a gap or a duplicate and is refused; the same number with
//!    other bytes is a conflict, which drops what was collected.
//!
//! Messages for which the identifier has no numbers left, in particular those of more than one FD frame, carry the
//! number in the first byte of each frame instead ([`Position::InPayload`]).

use chronoseal_core::DiscardReason;

use super::frame::{CLASSICAL_DATA_LEN_MAX, Dlc, FD_DATA_LEN_MAX};
use super::group_id::Step;
use super::id::ExtendedId;

/// Frames an identifier can number.
pub const NUMBERS: u8 = 32;
const NUMBER_SHIFT: u32 = 24;

/// The identifier of a classical frame of an exchange: number of the frame, then addresses as in
/// [`GroupId`](super::group_id::GroupId).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SegmentId {
    number: u8,
    /// First participant.
    pub a: u8,
    /// Second participant.
    pub b: u8,
    /// The logical node both form.
    pub logical: u8,
}

impl SegmentId {
    /// The identifier of frame `number`; `None` from [`NUMBERS`] on.
    pub const fn new(number: u8, a: u8, b: u8, logical: u8) -> Option<Self> {
        if number < NUMBERS { Some(Self { number, a, b, logical }) } else { None }
    }

    /// Takes an identifier apart. Every identifier of 29 bits is one.
    pub const fn parse(id: ExtendedId) -> Self {
        let [number, a, b, logical] = id.raw().to_be_bytes();
        Self { number, a, b, logical }
    }

    /// Which frame of the exchange.
    pub const fn number(self) -> u8 {
        self.number
    }

    /// The identifier.
    ///
    /// # Panics
    /// Never: a number has five bits.
    pub const fn id(self) -> ExtendedId {
        let raw = (self.number as u32) << NUMBER_SHIFT | u32::from_be_bytes([0, self.a, self.b, self.logical]);
        match ExtendedId::new(raw) {
            Ok(id) => id,
            Err(_) => panic!("5 + 8 + 8 + 8 bits are 29"),
        }
    }
}

/// One message of the published exchange on classical CAN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExchangeMessage {
    /// Its step.
    pub step: Step,
    /// Its length [byte].
    pub len: usize,
    /// Number of its first frame.
    pub first: u8,
}

/// The five messages of an exchange and the numbers of their frames.
pub const EXCHANGE: [ExchangeMessage; 5] = [
    ExchangeMessage { step: Step::ORCHESTRATION, len: 64, first: 0 },
    ExchangeMessage { step: Step::SHARE_A, len: 32, first: 8 },
    ExchangeMessage { step: Step::SHARE_B, len: 32, first: 12 },
    ExchangeMessage { step: Step::CONFIRMATION_A, len: 64, first: 16 },
    ExchangeMessage { step: Step::CONFIRMATION_B, len: 64, first: 24 },
];

/// The message of an exchange that frame `number` belongs to, and its place there; `None` from [`NUMBERS`] on.
pub fn exchange_message(number: u8) -> Option<(ExchangeMessage, u8)> {
    let message = EXCHANGE.iter().rev().find(|message| message.first <= number && number < NUMBERS)?;
    Some((*message, number - message.first))
}

/// Where a piece's number travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// In the identifier; frames are full.
    InIdentifier,
    /// In the first byte of each frame.
    InPayload,
}

/// How messages of one length are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segmentation {
    message_len: usize,
    frame_len: usize,
    position: Position,
}

/// One piece: the data of one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Which piece, from 0.
    pub index: u8,
    data: [u8; FD_DATA_LEN_MAX],
    len: usize,
}

impl Segment {
    /// Data of the frame, filled up with zeros to a length that frames have.
    pub fn data(&self) -> &[u8] {
        &self.data[..self.len]
    }
}

/// A message that cannot be cut so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentationError {
    /// Nothing to send.
    #[error("an empty message has no pieces")]
    Empty,
    /// More pieces than can be numbered.
    #[error("a message of {len} bytes takes {count} frames; {count_max} can be numbered")]
    TooLong {
        /// Of the message [byte].
        len: usize,
        /// Frames it would take.
        count: usize,
        /// Frames there are numbers for.
        count_max: usize,
    },
}

/// Why a piece was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// It belongs to another message.
    #[error("a piece of message {found:#x} while {expected:#x} is collected")]
    Foreign {
        /// The message being collected.
        expected: u32,
        /// The message it belongs to.
        found: u32,
    },
    /// Pieces before it are missing.
    #[error("piece {found} came, but {expected} is missing")]
    Gap {
        /// The next piece.
        expected: u8,
        /// The piece that came.
        found: u8,
    },
    /// It came before, with the same bytes.
    #[error("piece {0} came twice")]
    Duplicate(u8),
    /// It came before, with other bytes. What was collected is dropped.
    #[error("piece {0} came again with other content")]
    Conflict(u8),
    /// No message of this length has such a piece.
    #[error("piece {index} of {len} bytes; this piece has {expected}")]
    WrongLength {
        /// The piece that came.
        index: u8,
        /// Its data [byte].
        len: usize,
        /// What it should have [byte]; 0 if there is no such piece.
        expected: usize,
    },
}

impl From<SegmentError> for DiscardReason {
    fn from(error: SegmentError) -> Self {
        match error {
            SegmentError::Foreign { .. } => Self::UnknownStream,
            SegmentError::Gap { .. } | SegmentError::Conflict(_) | SegmentError::WrongLength { .. } => Self::Malformed,
            SegmentError::Duplicate(_) => Self::Replayed,
        }
    }
}

impl Segmentation {
    /// Messages of `message_len` bytes in classical frames.
    ///
    /// # Errors
    /// [`SegmentationError`] for an empty message, or one with more pieces than numbers.
    pub const fn classical(message_len: usize, position: Position) -> Result<Self, SegmentationError> {
        Self::new(message_len, CLASSICAL_DATA_LEN_MAX, position)
    }

    /// Messages of `message_len` bytes in FD frames.
    ///
    /// # Errors
    /// [`SegmentationError`] for an empty message, or one with more pieces than numbers.
    pub const fn fd(message_len: usize, position: Position) -> Result<Self, SegmentationError> {
        Self::new(message_len, FD_DATA_LEN_MAX, position)
    }

    const fn new(message_len: usize, frame_len: usize, position: Position) -> Result<Self, SegmentationError> {
        let this = Self { message_len, frame_len, position };
        let count_max = match position {
            Position::InIdentifier => NUMBERS as usize,
            Position::InPayload => 256,
        };
        let count = message_len.div_ceil(this.piece_len());
        if message_len == 0 {
            Err(SegmentationError::Empty)
        } else if count > count_max {
            Err(SegmentationError::TooLong { len: message_len, count, count_max })
        } else {
            Ok(this)
        }
    }

    const fn header_len(&self) -> usize {
        match self.position {
            Position::InIdentifier => 0,
            Position::InPayload => 1,
        }
    }

    /// Bytes of the message in a full frame.
    const fn piece_len(&self) -> usize {
        self.frame_len - self.header_len()
    }

    /// Frames a message takes.
    pub const fn count(&self) -> usize {
        self.message_len.div_ceil(self.piece_len())
    }

    /// Length of the message [byte].
    pub const fn message_len(&self) -> usize {
        self.message_len
    }

    /// Bytes of the message in piece `index`.
    fn range(&self, index: usize) -> core::ops::Range<usize> {
        let start = index * self.piece_len();
        start..(start + self.piece_len()).min(self.message_len)
    }

    /// Data of the frame with piece `index` [byte]: filled up where an FD frame has no such length.
    fn data_len(&self, index: usize) -> usize {
        let len = self.header_len() + self.range(index).len();
        // Up to 64 bytes there is always a length that holds them.
        Dlc::holding(len).map_or(len, Dlc::fd_len)
    }

    /// Piece `index` of `message`; `None` if there is no such piece, or if the message has another length.
    pub fn segment(&self, message: &[u8], index: usize) -> Option<Segment> {
        if index >= self.count() || message.len() != self.message_len {
            return None;
        }
        let piece = &message[self.range(index)];
        let mut segment = Segment { index: index as u8, data: [0; FD_DATA_LEN_MAX], len: self.data_len(index) };
        if self.position == Position::InPayload {
            segment.data[0] = segment.index;
        }
        segment.data[self.header_len()..][..piece.len()].copy_from_slice(piece);
        Some(segment)
    }
}

/// Puts one message together, at most `LEN_MAX` bytes.
#[derive(Clone, Debug)]
pub struct Reassembler<const LEN_MAX: usize> {
    segmentation: Segmentation,
    message: u32,
    next: usize,
    bytes: [u8; LEN_MAX],
}

impl<const LEN_MAX: usize> Reassembler<LEN_MAX> {
    /// Waits for the first piece of the message named `message`: what its identifier is without the number. `None` if
    /// such messages are longer than `LEN_MAX`.
    pub const fn new(segmentation: Segmentation, message: u32) -> Option<Self> {
        if segmentation.message_len > LEN_MAX {
            return None;
        }
        Some(Self { segmentation, message, next: 0, bytes: [0; LEN_MAX] })
    }

    /// Forgets what was collected.
    pub const fn reset(&mut self) {
        self.next = 0;
    }

    /// Pieces collected so far.
    pub const fn collected(&self) -> usize {
        self.next
    }

    /// A frame's data. `index` is the number the identifier gave, less that of the message's first frame; it is not
    /// looked at if the number is in the payload. The whole message once its last piece has come.
    ///
    /// # Errors
    /// [`SegmentError`]; what was collected stays, except after [`SegmentError::Conflict`].
    pub fn push(&mut self, message: u32, index: u8, data: &[u8]) -> Result<Option<&[u8]>, SegmentError> {
        if message != self.message {
            return Err(SegmentError::Foreign { expected: self.message, found: message });
        }
        let index = match self.segmentation.position {
            Position::InIdentifier => index,
            Position::InPayload => *data.first().ok_or(SegmentError::WrongLength {
                index,
                len: 0,
                expected: self.segmentation.frame_len,
            })?,
        };
        let at = usize::from(index);
        let expected = if at < self.segmentation.count() { self.segmentation.data_len(at) } else { 0 };
        if data.len() != expected || expected == 0 {
            return Err(SegmentError::WrongLength { index, len: data.len(), expected });
        }
        let range = self.segmentation.range(at);
        let piece = &data[self.segmentation.header_len()..][..range.len()];
        if at > self.next {
            return Err(SegmentError::Gap { expected: self.next as u8, found: index });
        }
        if at < self.next {
            if self.bytes[range] == *piece {
                return Err(SegmentError::Duplicate(index));
            }
            self.reset();
            return Err(SegmentError::Conflict(index));
        }
        self.bytes[range].copy_from_slice(piece);
        self.next += 1;
        let is_whole = self.next == self.segmentation.count();
        Ok(is_whole.then(|| &self.bytes[..self.segmentation.message_len]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exchange_takes_32_classical_frames_with_a_number_each() {
        let mut numbers = 0;
        for (message, count) in EXCHANGE.iter().zip([8, 4, 4, 8, 8]) {
            let segmentation = Segmentation::classical(message.len, Position::InIdentifier).unwrap();
            assert_eq!(segmentation.count(), count);
            assert_eq!(usize::from(message.first), numbers);
            for index in 0..count {
                assert_eq!(exchange_message((numbers + index) as u8), Some((*message, index as u8)));
            }
            numbers += count;
        }
        assert_eq!(numbers, usize::from(NUMBERS));
        assert_eq!(exchange_message(32), None);
    }

    /// The published counts for 32 nodes: 2n - 1 exchanges, n exchanges, and n exchanges with one message of 64 bytes and
    /// one of 32 more for each node.
    #[test]
    fn the_three_schemes_take_the_published_number_of_frames() {
        let frames = |len| Segmentation::classical(len, Position::InIdentifier).unwrap().count();
        let exchange: usize = EXCHANGE.iter().map(|message| frames(message.len)).sum();
        assert_eq!(exchange * 63, 2016);
        assert_eq!(exchange * 32, 1024);
        assert_eq!((exchange + frames(64) + frames(32)) * 32, 1408);
    }

    #[test]
    fn refuses_gaps_duplicates_conflicts_and_foreign_pieces() {
        let segmentation = Segmentation::classical(20, Position::InIdentifier).unwrap();
        let message: [u8; 20] = core::array::from_fn(|i| i as u8);
        let piece = |index| segmentation.segment(&message, index).unwrap();
        let mut reassembler = Reassembler::<20>::new(segmentation, 7).unwrap();
        let gap = SegmentError::Gap { expected: 0, found: 1 };
        assert_eq!(reassembler.push(7, 1, piece(1).data()), Err(gap));
        assert_eq!(reassembler.push(8, 0, piece(0).data()), Err(SegmentError::Foreign { expected: 7, found: 8 }));
        assert_eq!(reassembler.push(7, 0, piece(0).data()), Ok(None));
        assert_eq!(reassembler.push(7, 0, piece(0).data()), Err(SegmentError::Duplicate(0)));
        let short = SegmentError::WrongLength { index: 1, len: 7, expected: 8 };
        assert_eq!(reassembler.push(7, 1, &[0; 7]), Err(short));
        let beyond = SegmentError::WrongLength { index: 3, len: 8, expected: 0 };
        assert_eq!(reassembler.push(7, 3, &[0; 8]), Err(beyond));
        assert_eq!(reassembler.push(7, 1, piece(1).data()), Ok(None));
        assert_eq!(reassembler.push(7, 0, &[9; 8]), Err(SegmentError::Conflict(0)));
        assert_eq!(reassembler.collected(), 0);
        for index in 0..2 {
            assert_eq!(reassembler.push(7, index, piece(usize::from(index)).data()), Ok(None));
        }
        assert_eq!(reassembler.push(7, 2, piece(2).data()), Ok(Some(&message[..])));
        assert_eq!(DiscardReason::from(gap), DiscardReason::Malformed);
    }

    #[test]
    fn refuses_messages_it_cannot_number() {
        assert_eq!(Segmentation::classical(0, Position::InIdentifier), Err(SegmentationError::Empty));
        assert!(Segmentation::classical(256, Position::InIdentifier).is_ok());
        let too_long = SegmentationError::TooLong { len: 257, count: 33, count_max: 32 };
        assert_eq!(Segmentation::classical(257, Position::InIdentifier), Err(too_long));
        assert!(Segmentation::classical(7 * 256, Position::InPayload).is_ok());
        assert!(Segmentation::classical(7 * 256 + 1, Position::InPayload).is_err());
        let segmentation = Segmentation::classical(21, Position::InIdentifier).unwrap();
        assert!(Reassembler::<20>::new(segmentation, 0).is_none());
    }

    #[test]
    fn numbers_lie_above_the_addresses() {
        let id = SegmentId::new(31, 1, 2, 0x81).unwrap();
        assert_eq!(id.id().raw(), 0x1f01_0281);
        assert_eq!(SegmentId::parse(id.id()), id);
        assert_eq!(SegmentId::new(32, 1, 2, 3), None);
    }

    proptest! {
        #[test]
        fn pieces_make_the_message(
            message in proptest::collection::vec(any::<u8>(), 1..200),
            is_fd: bool,
            in_payload: bool,
        ) {
            let position = if in_payload { Position::InPayload } else { Position::InIdentifier };
            let cut = if is_fd { Segmentation::fd } else { Segmentation::classical };
            let segmentation = cut(message.len(), position).unwrap();
            let mut reassembler = Reassembler::<200>::new(segmentation, 1).unwrap();
            for index in 0..segmentation.count() {
                let segment = segmentation.segment(&message, index).unwrap();
                prop_assert!(Dlc::of_len(segment.data().len()).is_some());
                let is_last = index + 1 == segmentation.count();
                let whole = reassembler.push(1, segment.index, segment.data()).unwrap();
                prop_assert_eq!(whole, is_last.then_some(&message[..]));
            }
        }

        #[test]
        fn never_panics(pieces in proptest::collection::vec((0u8..5, any::<u8>(), 0usize..65), 0..20), in_payload: bool) {
            let position = if in_payload { Position::InPayload } else { Position::InIdentifier };
            let segmentation = Segmentation::classical(30, position).unwrap();
            let mut reassembler = Reassembler::<30>::new(segmentation, 1).unwrap();
            for (index, byte, len) in pieces {
                let _ = reassembler.push(1, index, &[byte; 64][..len]);
            }
        }
    }
}
