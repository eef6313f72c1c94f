//! Trip and reset counters at a station: it counts for all, or follows the one that does.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, StreamId, Work};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{
    DataId, MacAlgorithm, SealError, Secret, SymmetricKey, SyncMaster, SyncProtection, SyncProtectionError, SyncSlave,
    TripReset, TripResetLayout,
};
use chronoseal_wire::can::{CanFrame, CanId};

use crate::gateway::{Mark, Pdu};
use crate::protection::ProtectionError;

/// A master that has taken a new group key waits so long with its next message: the others take the key when they hear
/// that all hold it, and a synchronisation message sent at once would win the bus against that.
pub(super) const KEY_SETTLING: Duration = Duration::from_ms(10);

/// How a station comes to its trip and reset counters.
#[derive(Clone, Debug)]
pub struct SyncConfig {
    /// True if this station counts, false if it follows.
    pub is_master: bool,
    /// True if the message goes on from here to another segment.
    pub hands_over: bool,
    /// Of the synchronisation message.
    pub stream: StreamId,
    /// The identifier of the synchronisation message, a classical frame.
    pub id: CanId,
    /// Distance of two synchronisation messages: the reset cycle.
    pub period: Duration,
    /// Widths of the counters. Together with the tag they fit 8 bytes.
    pub layout: TripResetLayout,
    /// The algorithm of the tag.
    pub mac: MacAlgorithm,
    /// How much of the tag is sent `[bit]`.
    pub tag_bits: u16,
    /// The key, or `None` if it is the group key.
    pub key: Option<SymmetricKey>,
    /// The identity under the tag.
    pub data_id: DataId,
    /// The last trip of an earlier run, 0 if there was none. For the master.
    pub last_trip: u32,
}

/// Counters of a station, and when it has something to do for them.
pub(super) struct Synchronisation {
    config: SyncConfig,
    side: Side,
    /// Master: its next message. Slave: the latest time for the next one.
    due: LocalTime,
    /// Messages that were due and could not be sent, or did not come.
    absent: u64,
}

/// `None` within: there is no key yet.
enum Side {
    Master {
        counters: Option<SyncMaster>,
        /// Somebody may know the counters: the next message is of the next reset cycle.
        is_told: bool,
    },
    Slave(Option<SyncSlave>),
}

/// What is to be done now.
pub(super) enum Due {
    /// A message is to be made, at this price.
    Announce(Work),
    /// Nothing but to tell this.
    Tell(Event),
}

impl Synchronisation {
    /// Fails if layout, tag and key are impossible together, so that no later key is refused.
    pub(super) fn new(config: SyncConfig) -> Result<Self, ProtectionError> {
        let side = if config.is_master { Side::Master { counters: None, is_told: false } } else { Side::Slave(None) };
        let key = config.key.clone();
        let mut new = Self { config, side, due: LocalTime::ZERO, absent: 0 };
        match key {
            Some(key) => new.use_key(&key)?,
            // Whether the group key will do depends on its length alone.
            None => drop(new.protection(&Key128::from_array([0; Key128::LEN]))?),
        }
        Ok(new)
    }

    fn protection(&self, key: &impl Secret) -> Result<SyncProtection, SyncProtectionError> {
        let SyncConfig { layout, mac, tag_bits, data_id, .. } = self.config;
        SyncProtection::new(layout, mac, tag_bits, key, data_id)
    }

    /// The counters now, as far as this station knows.
    pub(super) fn current(&self) -> Option<TripReset> {
        match &self.side {
            Side::Master { counters, .. } => counters.as_ref().map(SyncMaster::current),
            Side::Slave(slave) => slave.as_ref().and_then(SyncSlave::current),
        }
    }

    /// The identifier to listen to; a master listens to nobody.
    pub(super) fn listens_to(&self) -> Option<CanId> {
        (!self.config.is_master).then_some(self.config.id)
    }

    pub(super) const fn stream(&self) -> StreamId {
        self.config.stream
    }

    pub(super) const fn due(&self) -> LocalTime {
        self.due
    }

    pub(super) fn start(&mut self, now: LocalTime) {
        self.due = if self.config.is_master { now } else { now + self.patience() };
    }

    /// Takes the group key that came into use at `now`, if that is the key of the message.
    ///
    /// A master begins a trip. A slave forgets what it knew, which whoever is no longer in the group may have said. Without
    /// a key nobody counts.
    pub(super) fn use_group_key(&mut self, now: LocalTime, key: Option<&Key128>) {
        let Some(key) = key else {
            if self.config.key.is_none() {
                match &mut self.side {
                    Side::Master { counters, .. } => *counters = None,
                    Side::Slave(slave) => *slave = None,
                }
            }
            return;
        };
        if self.config.key.is_none() {
            self.use_key(key).expect("a key of its length was tried when the station was made");
            self.due = now + if self.config.is_master { KEY_SETTLING } else { KEY_SETTLING + self.patience() };
        }
    }

    fn use_key(&mut self, key: &impl Secret) -> Result<(), SyncProtectionError> {
        let protection = self.protection(key)?;
        let last_trip = self.config.last_trip;
        match &mut self.side {
            Side::Master { counters, is_told } => {
                let last = counters.as_ref().map_or(last_trip, |counters| counters.current().trip);
                // At the end of the trip counter there are no messages any more, which is told each time one is due.
                *counters = SyncMaster::start(protection, last).ok();
                *is_told = false;
            }
            Side::Slave(slave) => *slave = Some(SyncSlave::new(protection)),
        }
        Ok(())
    }

    /// What is due at `now`, if anything is.
    pub(super) fn poll(&mut self, now: LocalTime) -> Option<Due> {
        if self.due > now {
            return None;
        }
        self.due += self.config.period;
        let absent = match &mut self.side {
            Side::Slave(_) => EventKind::Missing,
            Side::Master { counters, is_told } => {
                if let Some(counters) = counters
                    && (!*is_told || counters.advance().is_ok())
                {
                    *is_told = true;
                    return Some(Due::Announce(counters.protection().work()));
                }
                EventKind::Withheld
            }
        };
        let event = Event::of(absent, self.config.stream, self.absent);
        self.absent += 1;
        Some(Due::Tell(event))
    }

    /// The message of the current reset cycle.
    pub(super) fn announcement(&self) -> Result<(CanFrame, Event), SealError> {
        let Side::Master { counters: Some(counters), .. } = &self.side else { return Err(SealError::NotSynchronised) };
        let mut data = [0; 8];
        let len = counters.write_message(&mut data)?;
        let frame = CanFrame::classical(self.config.id, &data[..len]).expect("a message of 8 bytes at most");
        Ok((frame, Event::of(EventKind::Sent, self.config.stream, counters.current().number())))
    }

    /// A message as a PDU for the owner of this station, if it goes on from there.
    pub(super) fn handed(&self, frame: &CanFrame) -> Option<Pdu> {
        let SyncConfig { stream, layout, hands_over, .. } = &self.config;
        let sequence = layout.counters_in(frame.data()).number();
        let pdu = || Pdu { stream: *stream, sequence, bytes: frame.data().to_vec(), mark: Mark::default() };
        hands_over.then(pdu)
    }

    /// What checking a message costs, if there is a key for it.
    pub(super) fn checking(&self) -> Option<Work> {
        match &self.side {
            Side::Master { .. } => None,
            Side::Slave(slave) => slave.as_ref().map(|slave| slave.protection().work()),
        }
    }

    /// Takes a message that came at `now`, or says why not.
    pub(super) fn follow(&mut self, now: LocalTime, frame: &CanFrame) -> Event {
        let stream = self.config.stream;
        let patience = self.patience();
        let outcome = match &mut self.side {
            Side::Master { .. } | Side::Slave(None) => Err(DiscardReason::NoKey),
            Side::Slave(Some(slave)) => slave.handle_message(frame.data()),
        };
        match outcome {
            Ok(epoch) => {
                self.due = now + patience;
                Event::of(EventKind::Delivered, stream, epoch.number())
            }
            Err(reason) => Event::of(EventKind::Discarded(reason), stream, 0),
        }
    }

    /// How long a slave waits for the next message before it says that there is none.
    fn patience(&self) -> Duration {
        self.config.period + self.config.period / 2
    }
}
