//! A message that a station sends by itself, in a frame or in several.

use chronoseal_core::{Event, EventKind, LocalTime, Work};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Moment, Sealer};

use super::config::TalkerConfig;
use crate::gateway::SEQUENCE_LEN;
use crate::pace::Pace;
use crate::protection::{Protection, ProtectionError};

pub(super) struct Talker {
    pub(super) config: TalkerConfig,
    sealer: Option<Sealer>,
    pace: Pace,
    pub(super) sequence: u64,
    pub(super) due: LocalTime,
}

impl Talker {
    pub(super) fn new(config: TalkerConfig) -> Result<Self, ProtectionError> {
        config.protection.check_on_can()?;
        let sealer = match &config.protection {
            Protection::Secured { profile, key: Some(key), data_id } => Some(Sealer::new(*profile, key, *data_id)?),
            Protection::Secured { key: None, .. } | Protection::None { .. } => None,
        };
        let pace = Pace::new(config.pace, config.stream.0);
        Ok(Self { config, sealer, pace, sequence: 0, due: LocalTime::ZERO })
    }

    /// Takes the group key, or goes without. Every protection under it takes keys of its length, or there would be no
    /// station.
    pub(super) fn use_group_key(&mut self, key: Option<&Key128>) {
        if let Protection::Secured { profile, key: None, data_id } = self.config.protection {
            self.sealer = key.and_then(|key| Sealer::new(profile, key, data_id).ok());
        }
    }

    /// Lets the next message become due, and says when this one was.
    pub(super) fn step(&mut self) -> LocalTime {
        let due = self.due;
        self.due += self.pace.step();
        due
    }

    /// What sealing a message costs, if there is anything to seal.
    ///
    /// # Errors
    /// What happens to it if there is no key or freshness value to seal it with.
    pub(super) fn work(&mut self, moment: Moment) -> Result<Option<Work>, Event> {
        match (&self.config.protection, &self.sealer) {
            (Protection::Secured { profile, .. }, Some(sealer))
                if moment != Moment::Unknown || !profile.freshness().needs_master() =>
            {
                Ok(Some(sealer.work(self.config.len)))
            }
            (Protection::Secured { .. }, _) => Err(self.withheld()),
            (Protection::None { .. }, _) => Ok(None),
        }
    }

    /// What a message takes with its protection `[byte]`.
    pub(super) const fn secured_len(&self) -> usize {
        self.config.len + self.config.protection.overhead()
    }

    /// Writes the message that was due `since_start` after the start to the front of `data`, sealed, and says its length.
    /// `data` has room for [`Self::secured_len`] bytes.
    ///
    /// # Errors
    /// What happens to it when its freshness value is used up.
    pub(super) fn make(
        &mut self,
        data: &mut [u8],
        since_start: Option<chronoseal_core::Duration>,
        moment: Moment,
    ) -> Result<usize, Event> {
        let config = &self.config;
        data[..config.len].copy_from_slice(&config.fill[..config.len]);
        let sequence_len = SEQUENCE_LEN.min(config.len);
        data[..sequence_len].copy_from_slice(&self.sequence.to_be_bytes()[8 - sequence_len..]);
        if let (Some(signal), Some(since_start)) = (&config.signal, since_start) {
            let signal = signal.at(since_start);
            let len = signal.len().min(config.len - sequence_len);
            data[sequence_len..sequence_len + len].copy_from_slice(&signal[..len]);
        }
        match &mut self.sealer {
            None => Ok(config.len + config.protection.overhead()),
            Some(sealer) => sealer.seal_next(data, config.len, moment).map_err(|_| self.withheld()),
        }
    }

    /// Counts the message that was made last, and tells that it is sent, as late as that is.
    pub(super) fn sent(&mut self, now: LocalTime, due: LocalTime) -> Event {
        let event = Event::of(EventKind::Sent, self.config.stream, self.sequence);
        self.sequence += 1;
        Event { value: (now - due).as_ps(), ..event }
    }

    /// No key or no freshness value: what cannot be protected is not sent.
    fn withheld(&mut self) -> Event {
        let event = Event::of(EventKind::Withheld, self.config.stream, self.sequence);
        self.sequence += 1;
        event
    }
}
