//! A message that a station uses, or hands over.

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, Work};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Moment, Opener};

use super::config::{ListenerConfig, Numbering};
use crate::gateway::{HandOver, Mark, Pdu, number_of};
use crate::protection::{Protection, ProtectionError};
use crate::supervision::Supervision;

pub(super) struct Listener {
    pub(super) config: ListenerConfig,
    received: u64,
    opener: Option<Opener>,
    pub(super) supervision: Option<Supervision>,
}

impl Listener {
    pub(super) fn new(config: ListenerConfig) -> Result<Self, ProtectionError> {
        config.protection.check_on_can()?;
        let opener = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => Some(Opener::new(*profile, key, *data_id)?),
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let supervision = config.supervision.map(Supervision::new);
        Ok(Self { config, opener, received: 0, supervision })
    }

    /// Takes the group key, or goes without. Every protection under it takes keys of its length, or there would be no
    /// station.
    pub(super) fn use_group_key(&mut self, key: Option<&Key128>) {
        if let Protection::Secured { profile, key: None, data_id } = self.config.protection {
            self.opener = key.and_then(|key| Opener::new(profile, key, data_id).ok());
        }
    }

    /// What checking a message costs; `None` if nothing is checked.
    pub(super) fn work(&self) -> Option<Work> {
        self.opener.as_ref().map(|opener| opener.work(self.config.len))
    }

    /// What a message has at most, as it comes `[byte]`.
    pub(super) const fn secured_len(&self) -> usize {
        let own = self.config.len + self.config.protection.overhead();
        match self.config.hands_over {
            HandOver::Sealed { len } if len > own => len,
            _ => own,
        }
    }

    /// Checks a message and tells what comes of it; what goes on from here is put behind `handed`.
    pub(super) fn open(&mut self, data: &[u8], now: LocalTime, moment: Moment, handed: &mut impl Extend<Pdu>) -> Event {
        let Self { config, opener, received, supervision } = self;
        let stream = config.stream;
        let Some(payload) = data.get(..config.len) else { return discard(DiscardReason::TooShort, stream, 0) };
        let sequence = match config.numbering {
            Numbering::AtFront => number_of(payload),
            Numbering::Counted => *received,
            Numbering::Counters(layout) => layout.counters_in(payload).number(),
        };
        *received += 1;
        let mut hand_over = |bytes: &[u8]| {
            handed.extend([Pdu { stream, sequence, bytes: bytes.to_vec(), mark: Mark::default() }]);
        };
        if let HandOver::Sealed { len } = config.hands_over {
            let Some(pdu) = data.get(..len) else { return discard(DiscardReason::TooShort, stream, sequence) };
            hand_over(pdu);
            if !config.delivers {
                return Event::of(EventKind::Relayed, stream, sequence);
            }
        }
        match (&config.protection, opener) {
            (Protection::None { .. }, _) => {}
            (_, None) => return discard(DiscardReason::NoKey, stream, sequence),
            (_, Some(opener)) => {
                // What the bus added to fill up the frame comes off first.
                let len = opener.profile().secured_len(config.len);
                let opened = data.get(..len).ok_or(DiscardReason::TooShort).and_then(|pdu| opener.open(pdu, moment));
                if let Err(reason) = opened {
                    return discard(reason, stream, sequence);
                }
            }
        }
        if let Some(supervision) = supervision {
            supervision.met(now, sequence);
        }
        if config.hands_over == HandOver::Opened {
            hand_over(payload);
        }
        let kind = if config.delivers { EventKind::Delivered } else { EventKind::Relayed };
        Event::of(kind, stream, sequence)
    }
}

pub(super) fn discard(reason: DiscardReason, stream: chronoseal_core::StreamId, sequence: u64) -> Event {
    Event::of(EventKind::Discarded(reason), stream, sequence)
}
