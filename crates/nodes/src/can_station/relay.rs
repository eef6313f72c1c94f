//! What comes to a station's node on another segment and goes on from here.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{DiscardReason, Event, EventKind, StreamId, TxToken, Work};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Moment, Sealer};
use chronoseal_wire::can::{CanFrame, Dlc};

use super::config::RelayConfig;
use super::listener::discard;
use crate::gateway::{Mark, Pdu};
use crate::protection::{Protection, ProtectionError};

/// In tokens of relays, and in no others.
const TOKEN_BIT: u64 = 1 << 63;

struct Relay {
    config: RelayConfig,
    /// True if its PDUs may be shorter: the frame is filled up then.
    is_container: bool,
    sealer: Option<Sealer>,
}

impl Relay {
    /// What is sealed of a PDU: a container is filled up before, so that a receiver finds the tag at the end of the frame `[byte]`.
    fn payload_len(&self, pdu: &Pdu) -> usize {
        if !self.is_container {
            return self.config.len;
        }
        let overhead = self.config.protection.overhead();
        let dlc = Dlc::holding(pdu.bytes.len() + overhead);
        let len_of = |dlc: Dlc| if self.config.kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() };
        dlc.map_or(pdu.bytes.len(), |dlc| len_of(dlc).saturating_sub(overhead))
    }
}

/// The relays of a station, and the one queue they have.
pub(super) struct Relays {
    relays: Vec<Relay>,
    by_stream: BTreeMap<StreamId, usize>,
    /// Waiting in the station, each with its relay if it is of a stream.
    waiting: VecDeque<(Option<usize>, Pdu)>,
    /// Waiting in the station or its controller.
    queued: usize,
    queue_len_max: usize,
    /// Tokens of earlier lives are nobody's any more.
    life: u64,
    /// Of the frame transmitted last, if it was a relay's.
    pub(super) sent: Option<Mark>,
}

impl Relays {
    pub(super) fn new(
        configs: Vec<RelayConfig>,
        containers: Vec<RelayConfig>,
        queue_len_max: usize,
    ) -> Result<Self, ProtectionError> {
        let streams = configs.iter().chain(&containers).map(|config| config.stream);
        let by_stream = streams.enumerate().map(|(index, stream)| (stream, index)).collect();
        let relay = |(config, is_container): (RelayConfig, bool)| {
            config.protection.check_on_can()?;
            let sealer = match &config.protection {
                Protection::Secured { profile, key: Some(key), data_id } => Some(Sealer::new(*profile, key, *data_id)?),
                Protection::Secured { key: None, .. } | Protection::None { .. } => None,
            };
            Ok(Relay { config, is_container, sealer })
        };
        let configs = configs.into_iter().map(|config| (config, false));
        let configs = configs.chain(containers.into_iter().map(|config| (config, true)));
        let relays = configs.map(relay).collect::<Result<_, ProtectionError>>()?;
        Ok(Self { relays, by_stream, waiting: VecDeque::new(), queued: 0, queue_len_max, life: 0, sent: None })
    }

    /// Begins another life after `lives` earlier ones.
    pub(super) fn after(mut self, lives: u64) -> Self {
        self.life = lives;
        self
    }

    /// How many lives it had before this one.
    pub(super) const fn life(&self) -> u64 {
        self.life
    }

    pub(super) fn use_group_key(&mut self, key: Option<&Key128>) {
        for relay in &mut self.relays {
            if let Protection::Secured { profile, key: None, data_id } = relay.config.protection {
                relay.sealer = key.and_then(|key| Sealer::new(profile, key, data_id).ok());
            }
        }
    }

    /// Queues a PDU; what is told of one that finds no room, or no way.
    pub(super) fn push(&mut self, pdu: Pdu) -> Option<Event> {
        let relay = self.by_stream.get(&pdu.stream).copied();
        if relay.is_none() && !pdu.is_frame() {
            return Some(discard(DiscardReason::UnknownStream, pdu.stream, pdu.sequence));
        }
        if self.queued >= self.queue_len_max {
            return Some(discard(DiscardReason::QueueFull, pdu.stream, pdu.sequence));
        }
        self.queued += 1;
        self.waiting.push_back((relay, pdu));
        None
    }

    /// The PDU that is next.
    pub(super) fn next(&mut self) -> Option<(Option<usize>, Pdu)> {
        self.waiting.pop_front()
    }

    /// The one taken last does not become a frame.
    pub(super) fn forget(&mut self) {
        self.queued = self.queued.saturating_sub(1);
    }

    /// A frame has left, or never will. False if it is none of a relay's.
    pub(super) fn left(&mut self, token: u64) -> bool {
        if token & TOKEN_BIT != 0 && token & !TOKEN_BIT == self.life {
            self.forget();
        }
        token & TOKEN_BIT != 0
    }

    /// What sealing a PDU costs, if there is anything to seal.
    ///
    /// # Errors
    /// What happens to it if there is no key or freshness value to seal it with.
    pub(super) fn work(&self, relay: usize, pdu: &Pdu, moment: Moment) -> Result<Option<Work>, EventKind> {
        let Relay { config, sealer, .. } = &self.relays[relay];
        let len = self.relays[relay].payload_len(pdu);
        match (&config.protection, sealer) {
            (Protection::None { .. }, _) => Ok(None),
            (Protection::Secured { profile, .. }, Some(sealer))
                if moment != Moment::Unknown || !profile.freshness().needs_master() =>
            {
                Ok(Some(sealer.work(len)))
            }
            (Protection::Secured { .. }, _) => Err(EventKind::Withheld),
        }
    }

    /// A frame that leaves as it came, and what tells when it has left.
    pub(super) fn whole(&mut self, pdu: &Pdu) -> TxToken {
        self.sent = Some(pdu.mark);
        TxToken::new(TOKEN_BIT | self.life)
    }

    /// How a relay is made.
    pub(super) fn config(&self, relay: usize) -> &RelayConfig {
        &self.relays[relay].config
    }

    /// Writes a PDU to the front of `data`, sealed for this hop, and says its length. `data` has room for what the relay
    /// has with its protection.
    ///
    /// # Errors
    /// What happens to a PDU of another length than its stream has, or when freshness values are used up.
    pub(super) fn seal(
        &mut self,
        relay: usize,
        pdu: &Pdu,
        moment: Moment,
        data: &mut [u8],
    ) -> Result<usize, EventKind> {
        let payload_len = self.relays[relay].payload_len(pdu);
        let Relay { config, is_container, sealer } = &mut self.relays[relay];
        let fits = if *is_container { pdu.bytes.len() <= config.len } else { pdu.bytes.len() == config.len };
        let Some(room) = data.get_mut(..pdu.bytes.len()).filter(|_| fits) else {
            return Err(EventKind::Discarded(DiscardReason::Malformed));
        };
        room.copy_from_slice(&pdu.bytes);
        match sealer {
            None => Ok(payload_len + config.protection.overhead()),
            Some(sealer) => sealer.seal_next(data, payload_len, moment).map_err(|_| EventKind::Withheld),
        }
    }

    /// The frame of a sealed PDU of `len` bytes, and what tells when it has left.
    ///
    /// # Errors
    /// What happens to one that no frame holds.
    pub(super) fn frame(
        &mut self,
        relay: usize,
        mark: Mark,
        len: usize,
        data: &[u8],
    ) -> Result<(CanFrame, TxToken), EventKind> {
        let config = &self.relays[relay].config;
        // A length between two that FD has is filled up to the next one.
        let dlc = Dlc::holding(len).ok_or(EventKind::Discarded(DiscardReason::TooLong))?;
        self.sent = Some(mark);
        Ok((CanFrame::new(config.id, config.kind, dlc, data), TxToken::new(TOKEN_BIT | self.life)))
    }
}
