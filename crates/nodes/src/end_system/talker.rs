//! Makes the frames of one stream.

use chronoseal_core::{Duration, LocalTime, NodeId, Priority, Work};
use chronoseal_frameauth::{Freshness, Moment, Sealer};
use chronoseal_wire::ethernet::{
    FRAME_LEN_MIN, HEADER_LEN, Header, REPLICATED_HEADER_LEN, TAGGED_HEADER_LEN, TypeOrLength,
};
use chronoseal_wire::r_tag::RTag;
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::virtual_link::{self, SequenceNumber};

use super::config::{CarriedPdu, TalkerConfig, TalkerTiming};
use super::datagram::Fragmenter;
use super::virtual_link::{Numbering, Regulator};
use crate::gateway::{Pdu, SEQUENCE_LEN};
use crate::pace::{Pace, PaceConfig};
use crate::protection::{Protection, ProtectionError};

/// Ethernet header without a tag, and test-bed header `[byte]`.
const PLAIN_HEADERS_LEN: usize = HEADER_LEN + TestBedHeader::LEN;

/// What lets the frames of a stream go.
pub(super) enum Regulation {
    /// Nothing: they go when they are due.
    Free,
    /// Their slots, and each has a number.
    Numbered(Numbering),
    /// The regulator of a virtual link that is its own.
    Own(Regulator),
    /// That of a virtual link which it shares with others of its station.
    Shared {
        /// Which.
        link: usize,
        /// Its queue there.
        queue: usize,
    },
}

/// The sender's end of one stream.
pub(super) struct Talker {
    pub(super) config: TalkerConfig,
    /// A whole frame but for sequence, replayed signal and protection.
    template: Vec<u8>,
    /// The frame on the wire `[byte]`.
    pub(super) secured_len: usize,
    /// Ethernet header, tag included `[byte]`.
    header_len: usize,
    /// Bytes written even if only headers are asked for: Ethernet header and test-bed header.
    pub(super) headers_len: usize,
    sealer: Option<Box<Sealer>>,
    /// Its egress queue.
    pub(super) priority: Priority,
    /// Its frames leave in slots.
    pub(super) has_slots: bool,
    /// It says of each frame how long that waited. A slot says by itself when a frame was due, unless its way goes on.
    pub(super) tells_wait: bool,
    /// Of one that keeps to no slots.
    pub(super) pace: Pace,
    /// What lets its frames go.
    pub(super) regulation: Regulation,
    /// Of one whose messages are longer than a frame.
    pub(super) fragmenter: Option<Box<Fragmenter>>,
    /// True if the sealer counts freshness values by itself.
    seals_by_own_count: bool,
    /// Frames made so far; the sequence number of the next one, and its freshness value but for cycle counters.
    pub(super) made: u64,
    /// What has come from another segment and goes into the next frame.
    pub(super) next: Option<Pdu>,
    /// Since when its application's data wait for a slot.
    pub(super) ready_at: Option<LocalTime>,
}

impl Talker {
    pub(super) fn new(config: TalkerConfig, node: NodeId, ct_marker: [u8; 4]) -> Result<Self, ProtectionError> {
        config.protection.check_on_ethernet()?;
        let ct_id = match config.timing {
            TalkerTiming::Slots { ct_id, .. } => Some(ct_id),
            TalkerTiming::Periodic { .. }
            | TalkerTiming::Recorded { .. }
            | TalkerTiming::Relayed { .. }
            | TalkerTiming::Collected { .. } => config.virtual_link.map(|link| link.ct_id),
        };
        let destination = match ct_id {
            Some(ct_id) => virtual_link::critical_traffic_address(ct_marker, ct_id),
            None => virtual_link::stream_address(config.stream),
        };
        let sealer = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => {
                Some(Box::new(Sealer::new(*profile, key, *data_id)?))
            }
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        // The count of slots begins anew when the cluster does, and no nonce may come twice.
        let seals_by_own_count = sealer.as_ref().is_some_and(|sealer| {
            matches!(sealer.profile().freshness(), Freshness::Rising { .. }) || sealer.profile().mac().needs_nonce()
        });
        let header_len = match config.tag {
            None => HEADER_LEN,
            Some(_) if config.has_r_tag => REPLICATED_HEADER_LEN,
            Some(_) => TAGGED_HEADER_LEN,
        };
        let headers_len = header_len + TestBedHeader::LEN;
        let regulation = match (config.virtual_link, &config.timing) {
            (Some(link), _) => Regulation::Own(Regulator::new(link.bag)),
            (None, TalkerTiming::Slots { is_numbered: true, .. }) => Regulation::Numbered(Numbering::new()),
            (None, _) => Regulation::Free,
        };
        let secured_len = config.frame_len + config.protection.overhead() + trailer_len(&regulation);
        let type_or_length = match ct_id {
            // Critical traffic carries its length, as the data frames of time-triggered Ethernet do.
            Some(_) => TypeOrLength::Length((secured_len - header_len) as u16),
            None => TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT),
        };
        let mut template = vec![0; secured_len];
        let header = Header { destination, source: virtual_link::station_address(node), type_or_length };
        match config.tag {
            Some(tag) if config.has_r_tag => header.emit_replicated(tag, RTag { sequence: 0 }, &mut template),
            Some(tag) => header.emit_tagged(tag, &mut template),
            None => header.emit(&mut template),
        }
        let fill_len = config.fill.len().min(config.frame_len.saturating_sub(headers_len));
        template[headers_len..headers_len + fill_len].copy_from_slice(&config.fill[..fill_len]);
        let paced = |pace| Pace::new(pace, config.stream.0);
        let pace = match &config.timing {
            TalkerTiming::Periodic { pace, .. } => paced(*pace),
            TalkerTiming::Recorded { recorded, .. } => Pace::Recorded(recorded.clone(), 0),
            TalkerTiming::Slots { application: Some(application), .. } => paced(PaceConfig::Period(application.step)),
            TalkerTiming::Slots { application: None, .. }
            | TalkerTiming::Relayed { .. }
            | TalkerTiming::Collected { .. } => paced(PaceConfig::Period(Duration::ZERO)),
        };
        let priority = priority(&config);
        let fragmenter = config.datagram.map(|datagram| {
            let has_r_tag = config.has_r_tag && config.tag.is_some();
            Box::new(Fragmenter::new(datagram, &template, header_len, has_r_tag))
        });
        Ok(Self {
            fragmenter,
            priority,
            has_slots: matches!(config.timing, TalkerTiming::Slots { .. }),
            tells_wait: config.carried.is_some() || priority != Priority::TIME_TRIGGERED,
            config,
            pace,
            regulation,
            template,
            secured_len,
            header_len,
            headers_len,
            sealer,
            seals_by_own_count,
            made: 0,
            next: None,
            ready_at: None,
        })
    }

    /// What computing the next frame takes; `None` if there is nothing to compute.
    pub(super) fn work(&self) -> Option<Work> {
        let covered = match self.config.carried {
            _ if self.is_container() => self.unsealed_len() - self.header_len,
            Some(CarriedPdu { len, is_sealed: true }) => len,
            _ => self.config.frame_len - self.header_len,
        };
        self.sealer.as_ref().map(|sealer| sealer.work(covered))
    }

    /// How many frames a message has.
    pub(super) fn frames(&self) -> usize {
        self.config.datagram.map_or(1, |datagram| datagram.reassembly.cut.fragments())
    }

    /// True if its frames carry what comes from another segment.
    pub(super) const fn is_relay(&self) -> bool {
        self.is_container()
            || matches!(self.config.timing, TalkerTiming::Relayed { .. } | TalkerTiming::Slots { samples: true, .. })
    }

    /// True if its frames carry PDUs of several streams.
    const fn is_container(&self) -> bool {
        matches!(self.config.timing, TalkerTiming::Collected { .. })
    }

    /// The number behind all else, if there is one `[byte]`.
    pub(super) const fn trailer_len(&self) -> usize {
        trailer_len(&self.regulation)
    }

    /// Its next frame without what protects it, filled up so that the tag is at the end of the shortest frame `[byte]`.
    fn unsealed_len(&self) -> usize {
        let Some(pdu) = self.next.as_ref().filter(|_| self.is_container()) else { return self.config.frame_len };
        let behind = self.config.protection.overhead() + self.trailer_len();
        let least = (FRAME_LEN_MIN + self.header_len - HEADER_LEN).saturating_sub(behind);
        (self.headers_len + pdu.bytes.len()).max(least).min(self.config.frame_len)
    }

    /// Makes the next message of a talker whose messages are longer than a frame; the first frame of it is then to be written. The
    /// parameters are those of [`Self::make`].
    #[inline(never)]
    pub(super) fn make_message(&mut self, sealing: (Duration, u64), real_bytes: bool) {
        let Some(mut fragmenter) = self.fragmenter.take() else { return };
        let sequence = self.made;
        self.make(&mut fragmenter.bytes, sealing.0, sealing.1, real_bytes);
        fragmenter.begin((sequence, sealing.1), self.next.as_ref().map(|pdu| pdu.mark), real_bytes);
        self.fragmenter = Some(fragmenter);
    }

    /// Writes the next frame and returns its length. `freshness` is the slot's count, or the frame's own.
    #[inline]
    pub(super) fn make(&mut self, frame: &mut [u8], signal_time: Duration, freshness: u64, real_bytes: bool) -> usize {
        let sequence = self.next.as_ref().map_or(self.made, |pdu| pdu.sequence);
        let header = TestBedHeader { stream: self.config.stream, sequence: sequence as u32 };
        let number = self.made;
        self.made += 1;
        if let Some(content) = self.pace.content() {
            return self.write_recorded(frame, (content, header), real_bytes);
        }
        if !real_bytes {
            match (frame.first_chunk_mut::<PLAIN_HEADERS_LEN>(), self.template.first_chunk()) {
                // A length that is known here is copied without a call.
                (Some(frame), Some(headers)) if self.headers_len == PLAIN_HEADERS_LEN => *frame = *headers,
                _ => frame[..self.headers_len].copy_from_slice(&self.template[..self.headers_len]),
            }
            header.emit(&mut frame[self.header_len..]);
            self.write_r_tag(frame, number);
            let is_numbered = matches!(self.regulation, Regulation::Numbered(_));
            if is_numbered || self.config.virtual_link.is_some_and(|link| link.is_replicated) {
                self.write_number(&mut frame[..self.secured_len]);
            }
            return self.secured_len;
        }
        frame[..self.secured_len].copy_from_slice(&self.template);
        header.emit(&mut frame[self.header_len..]);
        self.write_r_tag(frame, number);
        if let Some(signal) = self.config.signal.as_ref().map(|signal| signal.at(signal_time)) {
            // A PDU begins with a sequence number of its own.
            let from = self.headers_len + if self.config.carried.is_some() { SEQUENCE_LEN } else { 0 };
            let len = signal.len().min(self.config.frame_len.saturating_sub(from));
            frame[from..from + len].copy_from_slice(&signal[..len]);
        }
        let (covered_from, covered_len) = match self.config.carried {
            _ if self.is_container() => self.place_container(frame),
            None => (self.header_len, self.config.frame_len - self.header_len),
            Some(carried) => self.place_pdu(frame, carried, sequence),
        };
        if let Some(sealer) = &mut self.sealer {
            let pdu = &mut frame[covered_from..];
            let sealed = if self.seals_by_own_count {
                sealer.seal_next(pdu, covered_len, Moment::Unknown)
            } else {
                sealer.seal(pdu, covered_len, freshness)
            };
            debug_assert!(sealed.is_ok_and(|len| covered_from + len <= self.secured_len), "the frame holds its seal");
        }
        let len = match self.is_container() {
            true => covered_from + covered_len + self.config.protection.overhead() + self.trailer_len(),
            false => self.secured_len,
        };
        self.write_number(&mut frame[..len]);
        len
    }

    /// Writes a frame with what was recorded, its number over what that begins with, and returns its length.
    #[inline(never)]
    fn write_recorded(&self, frame: &mut [u8], (content, header): (&[u8], TestBedHeader), real_bytes: bool) -> usize {
        let len = self.header_len + content.len();
        frame[..self.header_len].copy_from_slice(&self.template[..self.header_len]);
        if real_bytes {
            frame[self.header_len..len].copy_from_slice(content);
        }
        header.emit(&mut frame[self.header_len..]);
        len
    }

    /// Writes the number of a frame into its redundancy tag, if it has one: the lowest 16 bits of how many were made before.
    #[inline]
    fn write_r_tag(&self, frame: &mut [u8], number: u64) {
        if self.config.has_r_tag {
            number_r_tag(&mut frame[..self.header_len], number);
        }
    }

    /// Writes the number of a frame behind all else, if it has one and that is not known only when the frame goes. `frame` ends with
    /// it.
    #[inline]
    fn write_number(&mut self, frame: &mut [u8]) {
        let number = match (&mut self.regulation, &self.config.datagram) {
            (Regulation::Numbered(numbering), None) => numbering.number(),
            (Regulation::Own(regulator), None) => regulator.number(),
            // Of a message in several frames each has a number.
            (Regulation::Numbered(_) | Regulation::Own(_), Some(_))
            | (Regulation::Free | Regulation::Shared { .. }, _) => return,
        };
        frame[frame.len() - SequenceNumber::LEN] = number.0;
    }

    /// Puts a container behind the headers, filled up with zeros, and tells what a seal covers: from where, how much.
    fn place_container(&self, frame: &mut [u8]) -> (usize, usize) {
        let len = self.unsealed_len();
        frame[self.headers_len..self.secured_len].fill(0);
        if let Some(pdu) = &self.next {
            let room = &mut frame[self.headers_len..len];
            let held = pdu.bytes.len().min(room.len());
            room[..held].copy_from_slice(&pdu.bytes[..held]);
        }
        if self.config.virtual_link.is_some() {
            // Critical traffic says how long it is.
            let said = len + self.config.protection.overhead() + self.trailer_len() - self.header_len;
            frame[self.header_len - 2..self.header_len].copy_from_slice(&(said as u16).to_be_bytes());
        }
        (self.header_len, len - self.header_len)
    }

    /// Puts the PDU behind the headers, and tells what a seal covers: from where, how much.
    fn place_pdu(&self, frame: &mut [u8], carried: CarriedPdu, sequence: u64) -> (usize, usize) {
        let room = &mut frame[self.headers_len..self.secured_len];
        match &self.next {
            Some(pdu) => {
                let len = pdu.bytes.len().min(room.len());
                room[..len].copy_from_slice(&pdu.bytes[..len]);
            }
            None => {
                let len = SEQUENCE_LEN.min(carried.len);
                room[..len].copy_from_slice(&sequence.to_be_bytes()[8 - len..]);
            }
        }
        if carried.is_sealed {
            (self.headers_len, carried.len)
        } else {
            (self.header_len, self.config.frame_len - self.header_len)
        }
    }
}

/// Writes a number into the redundancy tag at the end of a header, in front of the type of the payload.
pub(super) fn number_r_tag(header: &mut [u8], number: u64) {
    let end = header.len() - 2;
    header[end - 2..end].copy_from_slice(&(number as u16).to_be_bytes());
}

/// What stands behind frames of such regulation `[byte]`.
const fn trailer_len(regulation: &Regulation) -> usize {
    if matches!(regulation, Regulation::Free) { 0 } else { SequenceNumber::LEN }
}

fn priority(config: &TalkerConfig) -> Priority {
    if let Some(link) = config.virtual_link {
        return link.priority;
    }
    match config.timing {
        TalkerTiming::Slots { .. } => Priority::TIME_TRIGGERED,
        TalkerTiming::Periodic { priority, .. }
        | TalkerTiming::Recorded { priority, .. }
        | TalkerTiming::Relayed { priority }
        | TalkerTiming::Collected { priority } => Priority(priority.min(7)),
    }
}
