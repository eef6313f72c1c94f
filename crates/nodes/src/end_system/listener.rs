//! Judges the frames of one stream.

use chronoseal_core::{DiscardReason, Duration, EventKind, LocalTime, PortId, Work};
use chronoseal_frameauth::Opener;
use chronoseal_media::recovery::SequenceRecovery;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link::SequenceNumber;

use super::config::{CarriedPdu, ListenerConfig, Replication};
use super::datagram::Collecting;
use super::redundancy::Redundancy;
use super::virtual_link::IntegrityCheck;
use crate::gateway::{HandOver, Mark, Pdu, number_of};
use crate::protection::{Protection, ProtectionError};
use crate::supervision::Supervision;

/// The receiver's end of one stream.
pub(super) struct Listener {
    pub(super) config: ListenerConfig,
    opener: Option<Box<Opener>>,
    /// By instance: the last cycle a frame was seen in, accepted or not.
    seen: Vec<Option<i64>>,
    /// Of a stream in slots of which several copies come: the slot of the frame accepted last, as [`Self::slot_count`] has it.
    taken: Option<u64>,
    /// Frames accepted.
    pub(super) accepted: u64,
    pub(super) supervision: Option<Supervision>,
    /// What has come of a message that is longer than a frame.
    pub(super) collecting: Option<Collecting>,
    /// Of a virtual link over one network.
    integrity: IntegrityCheck,
    /// What takes one of several copies.
    elimination: Option<Elimination>,
    /// True if its frames have numbers by which they may be refused, whatever is in them.
    pub(super) is_numbered: bool,
    /// The listener that counts its frames with its own, if it shares a virtual link: the first of them.
    pub(super) counter: Option<usize>,
    /// Of frames that hold PDUs of several streams and have numbers: what takes them apart.
    pub(super) container: Option<usize>,
    /// True if all it asks of a frame is its header: it has no window, number, tag or further way, comes whole, and nobody waits for it.
    pub(super) is_plain: bool,
}

/// Tells listeners that share a virtual link, which is named by its identifier, which of them counts its frames.
pub(super) fn share(listeners: &mut [Listener]) {
    let link = |listener: &Listener| listener.config.ct_id.filter(|_| listener.config.is_virtual_link);
    for index in 1..listeners.len() {
        let Some(own) = link(&listeners[index]) else { continue };
        if let Some(first) = listeners[..index].iter().position(|other| link(other) == Some(own)) {
            listeners[first].counter = Some(first);
            listeners[index].counter = Some(first);
        }
    }
}

/// What takes one of several copies of a frame.
enum Elimination {
    Networks(Redundancy),
    Tagged(Box<SequenceRecovery>),
}

/// A frame with a number, on its way in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbered {
    /// In a redundancy tag, or the eight bits of a virtual link.
    pub(super) number: u16,
    /// 0 for A, 1 for B.
    pub(super) network: usize,
    pub(super) came_at: LocalTime,
}

/// What became of a frame.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) sequence: u64,
    /// What goes on from here.
    pub(super) pdu: Option<Pdu>,
    /// Why it is not used here, if it is only passed on as it came.
    pub(super) refused: Option<DiscardReason>,
}

/// The window a frame came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InWindow {
    pub(super) instance: usize,
    pub(super) cycle: i64,
    /// From the start of its slot.
    pub(super) since_slot: Duration,
}

impl Listener {
    pub(super) fn new(config: ListenerConfig) -> Result<Self, ProtectionError> {
        config.protection.check_on_ethernet()?;
        let opener = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => {
                Some(Box::new(Opener::new(*profile, key, *data_id)?))
            }
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let seen = vec![None; config.windows.len()];
        let supervision = config.supervision.map(Supervision::new);
        let elimination = config.replication.map(|replication| match replication {
            Replication::Networks { skew_max } => Elimination::Networks(Redundancy::new(skew_max)),
            Replication::Tagged(recovery) => Elimination::Tagged(Box::new(SequenceRecovery::new(recovery))),
        });
        let is_numbered = config.is_virtual_link || elimination.is_some();
        let (collecting, integrity) = (config.datagram.map(Collecting::new), IntegrityCheck::default());
        let comes_when_it_will = config.ct_id.is_none() && !is_numbered && supervision.is_none();
        let is_plain = comes_when_it_will && opener.is_none() && config.carried.is_none() && collecting.is_none();
        Ok(Self {
            is_plain,
            config,
            opener,
            seen,
            taken: None,
            accepted: 0,
            supervision,
            collecting,
            integrity,
            elimination,
            is_numbered,
            counter: None,
            container: None,
        })
    }

    /// How many frames a message has.
    pub(super) fn frames(&self) -> usize {
        self.config.datagram.map_or(1, |datagram| datagram.reassembly.cut.fragments())
    }

    /// From the start of the slot in which a message begins to that of its slot with this count.
    pub(super) fn since_first(&self, slot_count: u64) -> Duration {
        let windows = &self.config.windows;
        let instance = slot_count as usize % windows.len().max(1);
        let first = instance - instance % self.frames();
        let start = |instance: usize| windows.get(instance).map_or(Duration::ZERO, |window| window.slot_start);
        start(instance) - start(first)
    }

    /// What it tells of a frame that it accepts.
    pub(super) const fn accepted_as(&self) -> EventKind {
        if self.config.delivers { EventKind::Delivered } else { EventKind::Relayed }
    }

    /// True if several copies of its frames come.
    pub(super) const fn is_replicated(&self) -> bool {
        self.elimination.is_some()
    }

    /// Where its frames have their number.
    pub(super) const fn has_r_tag(&self) -> bool {
        matches!(self.elimination, Some(Elimination::Tagged(_)))
    }

    /// Why a frame is thrown away unopened, and how much later than the first it came if it is a copy of one that was accepted;
    /// `None` if it is to be opened.
    pub(super) fn eliminate(&mut self, frame: Numbered) -> Option<(DiscardReason, Duration)> {
        match self.elimination.as_mut()? {
            Elimination::Networks(redundancy) => {
                let number = SequenceNumber(frame.number as u8);
                let since = redundancy.since_first(number, frame.came_at)?;
                redundancy.eliminate(frame.network, number);
                Some((DiscardReason::CopyEliminated, since))
            }
            Elimination::Tagged(recovery) => match recovery.refuses(frame.number, frame.came_at)? {
                DiscardReason::CopyEliminated => {
                    let since = recovery.eliminate(frame.number, frame.came_at);
                    Some((DiscardReason::CopyEliminated, since))
                }
                reason => Some((reason, Duration::ZERO)),
            },
        }
    }

    /// True if the network of a frame that comes over two refuses it, whatever it holds.
    pub(super) fn refuses(&mut self, frame: Numbered) -> bool {
        match &mut self.elimination {
            Some(Elimination::Networks(redundancy)) => {
                redundancy.refuses(frame.network, SequenceNumber(frame.number as u8))
            }
            Some(Elimination::Tagged(_)) | None => false,
        }
    }

    /// By how many copies more or fewer came than should have, if that is to be told now.
    pub(super) fn latent_error(&mut self, at: LocalTime) -> Option<i64> {
        match self.elimination.as_mut()? {
            Elimination::Networks(_) => None,
            Elimination::Tagged(recovery) => recovery.latent_error(at),
        }
    }

    /// Whether an authentic frame may follow those that came before.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn follows(&mut self, frame: Numbered) -> Result<(), DiscardReason> {
        let number = SequenceNumber(frame.number as u8);
        match &mut self.elimination {
            Some(Elimination::Networks(redundancy)) => redundancy.judge(frame.network, number, frame.came_at),
            Some(Elimination::Tagged(recovery)) => recovery.take(frame.number, frame.came_at),
            None if self.integrity.admits(number) => Ok(()),
            None => Err(DiscardReason::OutOfSequence),
        }
    }

    /// The same for a message of several frames with these numbers.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn message_follows(&mut self, numbers: (SequenceNumber, SequenceNumber)) -> Result<(), DiscardReason> {
        let admitted = self.integrity.admits_message(numbers.0, numbers.1);
        if admitted { Ok(()) } else { Err(DiscardReason::OutOfSequence) }
    }

    /// What checking a sealed payload of `len` bytes takes; `None` if there is nothing to compute.
    pub(super) fn work(&self, len: usize) -> Option<Work> {
        let covered = |opener: &Opener| match self.config.carried {
            Some(CarriedPdu { len, is_sealed: true }) => len,
            _ => opener.profile().payload_len(len).unwrap_or(0),
        };
        self.opener.as_ref().map(|opener| opener.work(covered(opener)))
    }

    /// True if its frames come in windows.
    pub(super) const fn has_windows(&self) -> bool {
        self.config.ct_id.is_some() && !self.config.is_virtual_link
    }

    /// The window that holds a cluster time, of those for frames that come by a port.
    pub(super) fn window(&self, port: PortId, at: Duration, cycle_len: Duration) -> Result<InWindow, DiscardReason> {
        let is_second = port != PortId(0) && !self.config.second_windows.is_empty();
        let windows = if is_second { &self.config.second_windows } else { &self.config.windows };
        windows
            .iter()
            .enumerate()
            .find_map(|(instance, window)| {
                let since_open = at - window.opens;
                let inside = since_open.rem_floor(cycle_len) <= window.closes - window.opens;
                inside.then(|| {
                    let cycle = since_open.div_floor(cycle_len);
                    InWindow { instance, cycle, since_slot: at - (cycle_len * cycle + window.slot_start) }
                })
            })
            .ok_or(DiscardReason::OutsideWindow)
    }

    /// The freshness value both ends count without sending it: slots of the stream since the cluster started.
    pub(super) fn slot_count(&self, window: InWindow) -> u64 {
        (window.cycle * self.config.windows.len() as i64 + window.instance as i64) as u64
    }

    /// Notes that the slot was used. False if it already was.
    pub(super) fn mark_seen(&mut self, window: InWindow) -> bool {
        let seen = &mut self.seen[window.instance];
        let fresh = seen.is_none_or(|cycle| cycle < window.cycle);
        if fresh {
            *seen = Some(window.cycle);
        }
        fresh
    }

    /// True if a frame was accepted in a slot of which several copies come: none of the others is opened any more, whatever its number
    /// is.
    pub(super) fn has_taken(&self, slot_count: Option<u64>) -> bool {
        slot_count.is_some() && self.taken == slot_count
    }

    /// Notes the slot of an accepted frame. Before a frame is known to be authentic it takes nothing from its other copy.
    pub(super) fn take_slot(&mut self, slot_count: Option<u64>) {
        self.taken = slot_count;
    }

    /// What was seen in cycles that are still to come was seen by another time.
    pub(super) fn forget_after(&mut self, cycle: i64) {
        self.taken = None;
        self.seen.iter_mut().for_each(|seen| *seen = seen.filter(|seen| *seen <= cycle));
    }

    /// True if nothing came in a slot that has ended.
    pub(super) fn is_missing(&self, instance: usize, cycle: i64) -> bool {
        cycle >= 0 && self.seen[instance].is_none_or(|seen| seen < cycle)
    }

    /// Checks the payload of a frame of one that [is plain](Self::is_plain), and gives its number.
    #[inline(always)]
    pub(super) fn open_plain(&mut self, payload: &[u8]) -> Result<u64, DiscardReason> {
        let sequence = self.sequence(payload)?;
        self.accepted += 1;
        Ok(sequence)
    }

    /// Checks the payload of a frame. Without real bytes there is no tag to check.
    #[inline(always)]
    pub(super) fn open(
        &mut self,
        payload: &[u8],
        slot_count: Option<u64>,
        real_bytes: bool,
    ) -> Result<Opened, DiscardReason> {
        if let Some(carried) = self.config.carried {
            return self.open_carried(carried, payload, slot_count, real_bytes);
        }
        let payload = match &mut self.opener {
            Some(opener) if real_bytes => opener.open(payload, known_count(opener, slot_count))?.payload,
            _ => payload,
        };
        Ok(Opened { sequence: self.open_plain(payload)?, pdu: None, refused: None })
    }

    /// The number in the test-bed header.
    #[inline]
    fn sequence(&self, payload: &[u8]) -> Result<u64, DiscardReason> {
        let header = TestBedHeader::parse(payload).map_err(DiscardReason::from)?;
        if header.stream != self.config.stream {
            return Err(DiscardReason::Malformed);
        }
        Ok(u64::from(header.sequence))
    }

    /// [`Self::open`] for a frame with a PDU that gateways carry on.
    #[inline(never)]
    fn open_carried(
        &mut self,
        carried: CarriedPdu,
        payload: &[u8],
        slot_count: Option<u64>,
        real_bytes: bool,
    ) -> Result<Opened, DiscardReason> {
        let pdu_of = |payload: &[u8], len: usize| {
            let pdu = payload.get(TestBedHeader::LEN..).and_then(|rest| rest.get(..len)).map(<[u8]>::to_vec);
            pdu.ok_or(DiscardReason::TooShort)
        };
        if !real_bytes {
            let sequence = self.sequence(payload)?;
            let goes_on = self.config.hands_over != HandOver::Nothing;
            self.accepted += 1;
            return Ok(Opened { sequence, pdu: goes_on.then(|| self.pdu(sequence, Vec::new())), refused: None });
        }
        if !carried.is_sealed {
            let payload = match &mut self.opener {
                Some(opener) => opener.open(payload, known_count(opener, slot_count))?.payload,
                None => payload,
            };
            let sequence = self.sequence(payload)?;
            let bytes = pdu_of(payload, carried.len)?;
            self.accepted += 1;
            let goes_on = self.config.hands_over != HandOver::Nothing;
            return Ok(Opened { sequence, pdu: goes_on.then(|| self.pdu(sequence, bytes)), refused: None });
        }
        let sequence = self.sequence(payload)?;
        let passed = match self.config.hands_over {
            HandOver::Sealed { len } => Some(pdu_of(payload, len)?),
            HandOver::Opened => Some(pdu_of(payload, carried.len)?),
            HandOver::Nothing => None,
        };
        let (sequence, refused) = match &mut self.opener {
            Some(opener) if self.config.delivers => {
                let sealed = pdu_of(payload, opener.profile().secured_len(carried.len))?;
                match opener.open(&sealed, known_count(opener, slot_count)) {
                    // Anybody can write the header: from here on only the number under the tag counts.
                    Ok(opened) => (number_of(opened.payload), None),
                    Err(reason) => (sequence, Some(reason)),
                }
            }
            _ => (sequence, None),
        };
        match (refused, passed) {
            (Some(reason), None) => Err(reason),
            (refused, passed) => {
                self.accepted += u64::from(refused.is_none());
                Ok(Opened { sequence, pdu: passed.map(|bytes| self.pdu(sequence, bytes)), refused })
            }
        }
    }

    fn pdu(&self, sequence: u64, bytes: Vec<u8>) -> Pdu {
        Pdu { stream: self.config.stream, sequence, bytes, mark: Mark::default() }
    }
}

/// What a receiver knows of the count that a frame was sealed with: that of its slot, unless its sender counts by itself.
#[inline]
fn known_count(opener: &Opener, slot_count: Option<u64>) -> Option<u64> {
    slot_count.filter(|_| !opener.profile().mac().needs_nonce())
}
