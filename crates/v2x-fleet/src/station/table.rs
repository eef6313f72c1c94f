//! What is in a frame, worked out once for all who receive it.
//!
//! All of it follows from the frame's bytes alone, or is kept for each kind of receiver by [`SharedMessage`]. A run with
//! the table and one without it are the same, event by event; only the time they take differs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronoseal_core::DiscardReason;
use chronoseal_media::radio::Kinds;
use chronoseal_v2x::types::Psid;
use chronoseal_v2x::verify::{SharedMessage, Verifier};
use chronoseal_wire::ethernet::{self, HEADER_LEN};
use chronoseal_wire::its::geonetworking::{BasicHeader, NextHeader, Packet};
use chronoseal_wire::its::{
    BTP_PORT_CAM, BTP_PORT_CPM, BTP_PORT_DENM, BTP_PORT_VAM, Cam, Cpm, Denm, ETHERTYPE_GEONETWORKING, Vam,
};

/// A kind of message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageKind {
    /// Who is where (EN 302 637-2).
    Cam,
    /// Something happened (EN 302 637-3).
    Denm,
    /// What sensors see of others (TS 103 324).
    Cpm,
    /// Which vulnerable road user is where (TS 103 300-3).
    Vam,
}

impl MessageKind {
    /// All of them, in the order of [`MessageKind::index`].
    pub const ALL: [Self; 4] = [Self::Cam, Self::Denm, Self::Cpm, Self::Vam];

    /// Its place in tables of all kinds.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// As scenarios and reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cam => "cam",
            Self::Denm => "denm",
            Self::Cpm => "cpm",
            Self::Vam => "vam",
        }
    }

    /// The application that a ticket has to permit (ETSI TS 102 965).
    pub const fn psid(self) -> Psid {
        match self {
            Self::Cam => Psid::CAM,
            Self::Denm => Psid::DENM,
            Self::Cpm => Psid::CPM,
            Self::Vam => Psid::VAM,
        }
    }

    /// The port it goes to.
    pub(crate) const fn btp_port(self) -> u16 {
        match self {
            Self::Cam => BTP_PORT_CAM,
            Self::Denm => BTP_PORT_DENM,
            Self::Cpm => BTP_PORT_CPM,
            Self::Vam => BTP_PORT_VAM,
        }
    }
}

/// A message of the facilities layer.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Content {
    /// Who is where.
    Cam(Box<Cam>),
    /// Something happened.
    Denm(Denm),
    /// What sensors see of others.
    Cpm(Box<Cpm>),
    /// Which vulnerable road user is where.
    Vam(Vam),
}

impl Content {
    /// What it is.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Cam(_) => MessageKind::Cam,
            Self::Denm(_) => MessageKind::Denm,
            Self::Cpm(_) => MessageKind::Cpm,
            Self::Vam(_) => MessageKind::Vam,
        }
    }
}

/// A frame, taken apart. What a secured one says is to be believed only when it was verified.
#[derive(Debug)]
pub struct Frame {
    bytes: Box<[u8]>,
    is_secured: bool,
    /// The message of the facilities layer, as bytes.
    text: Box<[u8]>,
    content: Result<Content, DiscardReason>,
    has_certificate: bool,
}

impl Frame {
    /// Header to last byte before the checksum.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is secured.
    pub fn is_secured(&self) -> bool {
        self.is_secured
    }

    /// The message of the facilities layer, as it is encoded; empty if there is none.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What it says, or why it says nothing.
    ///
    /// # Errors
    /// The reason for which a receiver throws it away.
    pub fn content(&self) -> Result<&Content, DiscardReason> {
        self.content.as_ref().map_err(|reason| *reason)
    }

    /// Whether its signer's certificate goes along.
    pub fn has_certificate(&self) -> bool {
        self.has_certificate
    }
}

/// A frame and what receivers found of its security.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) hash: u64,
    pub(super) frame: Arc<Frame>,
    pub(super) secured: Option<SharedMessage>,
}

/// Frames on the air lately. Stations of one process share one; a station alone has one of its own.
#[derive(Clone, Debug)]
pub struct FrameTable(Arc<Mutex<Entries>>);

/// Frames remembered. A frame is received while others are on the air, or wait for a processor.
const ENTRIES: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct Entries {
    /// By the lower bits of a frame's hash; a later frame takes the place of an earlier one.
    places: Vec<Option<Entry>>,
    /// Where the frame asked for last is.
    last: usize,
    shares: bool,
    /// Set up as the receivers are; `None` if nothing is secured.
    verifier: Option<Verifier>,
    made: u64,
}

impl FrameTable {
    /// A table for receivers that are set up as `verifier` is; without one, of frames that are not secured.
    pub fn new(verifier: Option<Verifier>) -> Self {
        Self::with(verifier, true)
    }

    /// One that remembers nothing: every receiver works everything out anew.
    pub fn forgetful(verifier: Option<Verifier>) -> Self {
        Self::with(verifier, false)
    }

    fn with(verifier: Option<Verifier>, shares: bool) -> Self {
        let places = (0..ENTRIES).map(|_| None).collect();
        Self(Arc::new(Mutex::new(Entries { places, last: 0, shares, verifier, made: 0 })))
    }

    /// The frame, taken apart.
    pub fn frame(&self, bytes: &[u8]) -> Arc<Frame> {
        Arc::clone(&self.lock().entry(bytes).frame)
    }

    /// How many frames were taken apart.
    pub fn made(&self) -> u64 {
        self.lock().made
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Entries> {
        // Nothing here is left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kinds for FrameTable {
    fn kind_of(&self, frame: &[u8]) -> Option<&'static str> {
        self.frame(frame).content().ok().map(|content| content.kind().name())
    }
}

impl Entries {
    /// What is known of a frame.
    pub(super) fn entry(&mut self, bytes: &[u8]) -> &mut Entry {
        // Receivers of one frame ask one after the other.
        let is_it = |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| *entry.frame.bytes == *bytes);
        if !(self.shares && is_it(&self.places[self.last])) {
            let hash = hash(bytes);
            self.last = hash as usize % ENTRIES;
            let is_there = self.places[self.last].as_ref().is_some_and(|entry| entry.hash == hash);
            if !(self.shares && is_there && is_it(&self.places[self.last])) {
                self.places[self.last] = None;
            }
        }
        let (made, verifier) = (&mut self.made, self.verifier.as_ref());
        self.places[self.last].get_or_insert_with(|| {
            *made += 1;
            Entry::new(bytes, verifier)
        })
    }
}

impl Entry {
    fn new(bytes: &[u8], verifier: Option<&Verifier>) -> Self {
        let mut frame = Frame {
            bytes: bytes.into(),
            is_secured: false,
            text: Box::default(),
            content: Err(DiscardReason::Malformed),
            has_certificate: false,
        };
        let mut secured = None;
        match outer(bytes) {
            Ok((NextHeader::Common, packet)) => (frame.text, frame.content) = inner(packet),
            Ok((NextHeader::Secured, rest)) => {
                frame.is_secured = true;
                secured = verifier.map(|verifier| SharedMessage::new(rest, verifier));
                if let Some(message) = &secured {
                    frame.has_certificate = message.has_certificate();
                    if let Some(packet) = message.payload() {
                        (frame.text, frame.content) = inner(packet);
                    }
                }
            }
            Err(reason) => frame.content = Err(reason),
        }
        Self { hash: hash(bytes), frame: Arc::new(frame), secured }
    }
}

/// Link layer and basic header, and what stands behind them.
fn outer(bytes: &[u8]) -> Result<(NextHeader, &[u8]), DiscardReason> {
    let header = ethernet::Frame::new_checked(bytes).map_err(DiscardReason::from)?;
    if header.type_or_length().raw() != ETHERTYPE_GEONETWORKING {
        return Err(DiscardReason::Malformed);
    }
    let payload = &bytes[HEADER_LEN..];
    let basic = BasicHeader::parse(payload)?;
    Ok((basic.next, &payload[BasicHeader::LEN..]))
}

/// Common header and all behind it.
fn inner(packet: &[u8]) -> (Box<[u8]>, Result<Content, DiscardReason>) {
    let packet = match Packet::parse(packet) {
        Ok(packet) => packet,
        Err(error) => return (Box::default(), Err(error.into())),
    };
    let content = match packet.destination_port {
        BTP_PORT_CAM => Cam::parse(packet.message).map(|cam| Content::Cam(Box::new(cam))).map_err(DiscardReason::from),
        BTP_PORT_DENM => Denm::parse(packet.message).map(Content::Denm).map_err(DiscardReason::from),
        BTP_PORT_CPM => Cpm::parse(packet.message).map(|cpm| Content::Cpm(Box::new(cpm))).map_err(DiscardReason::from),
        BTP_PORT_VAM => Vam::parse(packet.message).map(Content::Vam).map_err(DiscardReason::from),
        _ => Err(DiscardReason::UnknownStream),
    };
    (packet.message.into(), content)
}

/// Spreads frames over the places; equal hashes are told apart by the bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(29) ^ word).wrapping_mul(ODD);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
    hash ^ hash >> 32
}
