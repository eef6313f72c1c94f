//! MACsec: the protection of frames over one link (IEEE 802.1AE-2018), with the cipher suites GCM-AES-128 and GCM-AES-256.
//!
//! A [`TransmitSa`] protects what one SecY sends, a [`ReceiveSa`] checks it at the other end. Both stay with one secure
//! association key: key agreement (MKA, IEEE 802.1X), a change of keys and extended packet numbers (XPN) are not here.
//!
//! ```
//! use chronoseal_core::DiscardReason;
//! use chronoseal_frameauth::macsec::{CipherSuite, Confidentiality, ReceiveSa, SecureChannel, TransmitSa};
//! use chronoseal_wire::macsec::Sci;
//!
//! let channel = SecureChannel { sci: Sci::new([2, 0, 0, 0, 0, 1], 1), is_explicit: false, is_end_station: true, association: 0 };
//! let key = [7; 16];
//! let mut sender = TransmitSa::new(CipherSuite::GcmAes128, channel, Confidentiality::From(0), &key)?;
//! let mut receiver = ReceiveSa::new(CipherSuite::GcmAes128, channel, Confidentiality::From(0), &key, 0)?;
//!
//! let mut frame = [0x42; 60 + 24];
//! frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
//! assert_eq!(sender.protect(&mut frame, 60)?, 84);
//! let copy = frame;
//! assert_eq!(receiver.check(&mut frame, 84), Ok(60));
//! assert_eq!(frame[12..60], [0x42; 48]);
//! // A frame that comes again is late: its packet number is not above the last one.
//! assert_eq!(receiver.check(&mut copy.clone(), 84), Err(DiscardReason::FreshnessTooOld));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use chronoseal_core::DiscardReason;
use chronoseal_crypto::symmetric::AesGcm;
use chronoseal_wire::macsec::{ADDRESSES_LEN, ICV_LEN, SECTAG_LEN, SHORT_LENGTH_END, Sci, SecTag, overhead_len};

/// A cipher suite: IEEE 802.1AE-2018 §14.5 and §14.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CipherSuite {
    /// The default, with keys of 16 bytes.
    GcmAes128,
    /// With keys of 32 bytes.
    GcmAes256,
}

impl CipherSuite {
    /// Length of a secure association key `[byte]`.
    pub const fn key_len(self) -> usize {
        match self {
            Self::GcmAes128 => 16,
            Self::GcmAes256 => 32,
        }
    }

    /// As the standard calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GcmAes128 => "GCM-AES-128",
            Self::GcmAes256 => "GCM-AES-256",
        }
    }
}

/// What of the user data is encrypted. All of it is authenticated, whatever this says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidentiality {
    /// Nothing.
    None,
    /// What follows its first so many bytes: 0, 30 or 50 (IEEE 802.1AE-2018 §10.7.25).
    From(u8),
}

/// One direction of a link under MACsec, and which of its keys is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecureChannel {
    /// Its identifier, of the sender.
    pub sci: Sci,
    /// True if every frame has the identifier in its SecTAG.
    pub is_explicit: bool,
    /// True if the sender is an end station that sends frames of its own address alone (ES).
    pub is_end_station: bool,
    /// Association number, 0..=3.
    pub association: u8,
}

/// Why there is no secure association.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SaError {
    /// The key does not fit the suite.
    #[error("{} takes keys of {} bytes, and the key has {found}", .suite.name(), .suite.key_len())]
    KeyLength {
        /// The suite.
        suite: CipherSuite,
        /// Of the key `[byte]`.
        found: usize,
    },
    /// The association number is not 0..=3.
    #[error("association number {0} is not 0 to 3")]
    Association(u8),
    /// The confidentiality offset is not 0, 30 or 50.
    #[error("a confidentiality offset is 0, 30 or 50 bytes, not {0}")]
    Offset(u8),
}

/// Why a frame is not protected, and so not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProtectError {
    /// Every packet number of the key was used; a second use of one would give the key away.
    #[error("all packet numbers of this key are used; the link needs another key")]
    PacketNumbersExhausted,
    /// The frame has nothing behind its addresses.
    #[error("a frame of {0} bytes has no data behind its addresses")]
    TooShort(usize),
    /// There is no room behind the frame.
    #[error("a frame of {len} bytes needs room for {needed} and has {room}")]
    NoRoom {
        /// Of the frame `[byte]`.
        len: usize,
        /// With its SecTAG and check value `[byte]`.
        needed: usize,
        /// What it lies in `[byte]`.
        room: usize,
    },
}

/// What both ends share.
#[derive(Clone, Debug)]
struct Association {
    cipher: AesGcm,
    channel: SecureChannel,
    confidentiality: Confidentiality,
}

impl Association {
    fn new(
        suite: CipherSuite,
        channel: SecureChannel,
        confidentiality: Confidentiality,
        key: &[u8],
    ) -> Result<Self, SaError> {
        if channel.association > 3 {
            return Err(SaError::Association(channel.association));
        }
        if let Confidentiality::From(offset) = confidentiality
            && !matches!(offset, 0 | 30 | 50)
        {
            return Err(SaError::Offset(offset));
        }
        let cipher = AesGcm::new(key).filter(|_| key.len() == suite.key_len());
        let cipher = cipher.ok_or(SaError::KeyLength { suite, found: key.len() })?;
        Ok(Self { cipher, channel, confidentiality })
    }

    /// [IEEE 802.1AE-2018 §14.5] the identifier of the channel, and the packet number.
    fn nonce(&self, packet_number: u32) -> [u8; AesGcm::NONCE_LEN] {
        let mut nonce = [0; AesGcm::NONCE_LEN];
        let (sci, number) = nonce.split_at_mut(self.channel.sci.0.len());
        sci.copy_from_slice(&self.channel.sci.0);
        number.copy_from_slice(&packet_number.to_be_bytes());
        nonce
    }

    /// Where in a frame of so much user data, which begin at `data_at`, the encrypted ones begin: at their end if none are.
    fn encrypted_from(&self, is_encrypted: bool, data_at: usize, end: usize) -> usize {
        match self.confidentiality {
            Confidentiality::From(offset) if is_encrypted => (data_at + usize::from(offset)).min(end),
            _ => end,
        }
    }
}

/// A secure association of the sender.
#[derive(Clone, Debug)]
pub struct TransmitSa {
    association: Association,
    /// `None` once all are used.
    next_packet_number: Option<u32>,
}

impl TransmitSa {
    /// With packet numbers from 1 on.
    ///
    /// # Errors
    /// [`SaError`] if key, association number or offset is none of the suite's.
    pub fn new(
        suite: CipherSuite,
        channel: SecureChannel,
        confidentiality: Confidentiality,
        key: &[u8],
    ) -> Result<Self, SaError> {
        let association = Association::new(suite, channel, confidentiality, key)?;
        Ok(Self { association, next_packet_number: Some(1) })
    }

    /// The same with another next packet number; 0 is none.
    #[must_use]
    pub fn continued_at(self, next_packet_number: u32) -> Self {
        Self { next_packet_number: (next_packet_number > 0).then_some(next_packet_number), ..self }
    }

    /// What it adds to a frame `[byte]`.
    pub const fn overhead_len(&self) -> usize {
        overhead_len(self.association.channel.is_explicit)
    }

    /// Protects the frame of `len` bytes that `bytes` begin with, from its destination to the last byte before the checksum, in
    /// place, and gives its length then.
    ///
    /// # Errors
    /// [`ProtectError`]; frame and packet number are as they were then.
    pub fn protect(&mut self, bytes: &mut [u8], len: usize) -> Result<usize, ProtectError> {
        let (needed, room) = (len.saturating_add(self.overhead_len()), bytes.len());
        if len <= ADDRESSES_LEN {
            return Err(ProtectError::TooShort(len));
        }
        if needed > room {
            return Err(ProtectError::NoRoom { len, needed, room });
        }
        let packet_number = self.next_packet_number.ok_or(ProtectError::PacketNumbersExhausted)?;
        let SecureChannel { sci, is_explicit, is_end_station, association } = self.association.channel;
        let is_encrypted = self.association.confidentiality != Confidentiality::None;
        let user_len = len - ADDRESSES_LEN;
        let tag = SecTag {
            end_station: is_end_station && !is_explicit,
            single_copy_broadcast: false,
            encrypted: is_encrypted,
            changed: is_encrypted,
            association,
            short_length: if user_len < SHORT_LENGTH_END { user_len as u8 } else { 0 },
            packet_number,
            sci: is_explicit.then_some(sci),
        };
        let data_at = ADDRESSES_LEN + tag.emitted_len();
        let end = data_at + user_len;
        bytes.copy_within(ADDRESSES_LEN..len, data_at);
        tag.emit(&mut bytes[ADDRESSES_LEN..]);
        let (frame, behind) = bytes.split_at_mut(end);
        let from = self.association.encrypted_from(is_encrypted, data_at, end);
        let (associated, data) = frame.split_at_mut(from);
        let icv = self.association.cipher.seal(&self.association.nonce(packet_number), associated, data);
        behind[..ICV_LEN].copy_from_slice(&icv);
        self.next_packet_number = packet_number.checked_add(1);
        Ok(needed)
    }
}

/// A secure association of the receiver.
#[derive(Clone, Debug)]
pub struct ReceiveSa {
    association: Association,
    /// Packet numbers may be so much below the next expected one.
    replay_window: u32,
    /// One above the highest packet number of an authentic frame.
    next_packet_number: u64,
}

impl ReceiveSa {
    /// With a replay window: with 0, packet numbers have to rise. Within a larger one nothing tells a frame that comes twice, as the
    /// standard has it (IEEE 802.1AE-2018 §10.6.5).
    ///
    /// # Errors
    /// [`SaError`] if key, association number or offset is none of the suite's.
    pub fn new(
        suite: CipherSuite,
        channel: SecureChannel,
        confidentiality: Confidentiality,
        key: &[u8],
        replay_window: u32,
    ) -> Result<Self, SaError> {
        let association = Association::new(suite, channel, confidentiality, key)?;
        Ok(Self { association, replay_window, next_packet_number: 1 })
    }

    /// The lowest packet number that is taken.
    pub const fn lowest_packet_number(&self) -> u64 {
        let lowest = self.next_packet_number.saturating_sub(self.replay_window as u64);
        if lowest == 0 { 1 } else { lowest }
    }

    /// Checks the frame of `len` bytes that `bytes` begin with and gives it without its protection, in place, with its length.
    /// The packet number counts only once the check value fits.
    ///
    /// # Errors
    /// Why it is discarded; it is as it was then.
    pub fn check(&mut self, bytes: &mut [u8], len: usize) -> Result<usize, DiscardReason> {
        let frame = bytes.get_mut(..len).ok_or(DiscardReason::TooShort)?;
        let tag = SecTag::parse(frame).map_err(DiscardReason::from)?;
        let SecureChannel { sci, association, .. } = self.association.channel;
        if tag.encrypted != tag.changed {
            return Err(DiscardReason::Malformed);
        }
        if tag.association != association || !self.is_of_channel(&tag, frame, sci) {
            return Err(DiscardReason::NoKey);
        }
        if tag.encrypted && self.association.confidentiality == Confidentiality::None {
            return Err(DiscardReason::Malformed);
        }
        let (data_at, end) = (ADDRESSES_LEN + tag.emitted_len(), len - ICV_LEN);
        let from = self.association.encrypted_from(tag.encrypted, data_at, end);
        let (covered, icv) = frame.split_at_mut(end);
        let icv: &[u8; ICV_LEN] = icv.first_chunk().ok_or(DiscardReason::TooShort)?;
        let (associated, data) = covered.split_at_mut(from);
        if u64::from(tag.packet_number) < self.lowest_packet_number() {
            return Err(DiscardReason::FreshnessTooOld);
        }
        if !self.association.cipher.open(&self.association.nonce(tag.packet_number), associated, data, icv) {
            return Err(DiscardReason::TagMismatch);
        }
        self.next_packet_number = self.next_packet_number.max(u64::from(tag.packet_number) + 1);
        frame.copy_within(data_at..end, ADDRESSES_LEN);
        Ok(ADDRESSES_LEN + end - data_at)
    }

    /// Whether a frame is of its channel: by its SCI, by its source if it is that of an end station, or as the only one there is.
    fn is_of_channel(&self, tag: &SecTag, frame: &[u8], sci: Sci) -> bool {
        match tag.sci {
            Some(named) => named == sci,
            None if tag.end_station => frame.get(6..ADDRESSES_LEN) == sci.0.get(..6),
            None => !self.association.channel.is_explicit,
        }
    }
}

const _: () = assert!(SECTAG_LEN + ICV_LEN == overhead_len(false));
