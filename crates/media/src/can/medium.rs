//! A bus behind the seam to a driver.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{DiscardReason, Event, EventKind, Priority, SimTime, StreamId};

use super::bus::{Bus, Wish};
use super::config::{CanBusConfig, CanBusError};
use super::controller::Controller;
use super::counters::ErrorCounters;
use super::statistics::BusStatistics;
use crate::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// A CAN bus.
pub struct CanBus {
    bus: Bus,
    /// The number of the turn it waits for; turns with other numbers are void.
    turn: u32,
    /// The index of each controller.
    places: BTreeMap<Attachment, usize>,
}

/// The number of a [`MediumTimer`]: that of a turn, or this bit.
const LOOK: u32 = 1 << 30;
const TURN_MASK: u32 = (1 << 22) - 1;
// A look is never taken for a turn, however many there were.
const _: () = assert!(LOOK & TURN_MASK == 0 && LOOK != 0);

impl CanBus {
    /// Builds the bus. `seed` is that of its bit errors.
    ///
    /// # Errors
    /// [`CanBusError`] for the first contradiction found.
    pub fn new(mut config: CanBusConfig, seed: u64) -> Result<Self, CanBusError> {
        let mut places = BTreeMap::new();
        for (index, controller) in config.controllers.iter().enumerate() {
            if controller.queue_len_max == 0 {
                return Err(CanBusError::NoQueue(controller.attachment));
            }
            if places.insert(controller.attachment, index).is_some() {
                return Err(CanBusError::AttachedTwice(controller.attachment));
            }
        }
        let faults = config.faults.iter().filter_map(|fault| fault.seen_by);
        let mut named = faults.chain(config.babblers.iter().map(|babbler| babbler.attachment));
        if let Some(attachment) = named.find(|attachment| !places.contains_key(attachment)) {
            return Err(CanBusError::NotAttached(attachment));
        }
        if config.load_window.is_some_and(|window| window <= chronoseal_core::Duration::ZERO) {
            return Err(CanBusError::LoadWindow);
        }
        let controllers = core::mem::take(&mut config.controllers).into_iter().map(Controller::new).collect();
        let rng = random::stream(seed, Purpose::Medium, 0);
        Ok(Self { bus: Bus::new(config, controllers, rng), turn: 0, places })
    }

    /// What it was used for so far.
    pub fn statistics(&self) -> &BusStatistics {
        &self.bus.statistics
    }

    /// The error counters of a controller.
    pub fn counters(&self, attachment: Attachment) -> Option<ErrorCounters> {
        Some(self.bus.controllers[*self.places.get(&attachment)?].counters)
    }

    /// Frames that wait in a controller, the one being sent included.
    pub fn queue_len(&self, attachment: Attachment) -> Option<usize> {
        let controller = &self.bus.controllers[*self.places.get(&attachment)?];
        Some(controller.mailbox.len() + usize::from(controller.sending.is_some()))
    }

    /// Sees to what the bus wants.
    fn grant(&mut self, out: &mut Vec<MediumOutput>) {
        for wish in self.bus.wishes.drain(..) {
            let (at, number) = match wish {
                Wish::Turn(at) => {
                    self.turn = (self.turn + 1) & TURN_MASK;
                    (at, self.turn)
                }
                Wish::Look(at) => (at, LOOK),
            };
            out.push(MediumOutput::Timer { at, timer: MediumTimer::new(number) });
        }
    }
}

impl Medium for CanBus {
    fn tells_transmitted(&self, _from: Attachment) -> bool {
        true
    }

    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.bus.start(now, frames, out);
        self.grant(out);
    }

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        match self.places.get(&from) {
            Some(controller) => {
                self.bus.offer(now, *controller, frame, frames, out);
                self.grant(out);
            }
            None => {
                let serial = frames.label(frame).serial.unwrap_or(0);
                let event = Event::of(EventKind::Discarded(DiscardReason::WrongPort), StreamId::NONE, serial);
                out.push(MediumOutput::Discard { node: from.node, event, frame });
            }
        }
    }

    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        if timer.number == LOOK {
            self.bus.handle_look(now, frames, out);
        } else if timer.number == self.turn {
            self.bus.handle_turn(now, frames, out);
        } else {
            return;
        }
        self.grant(out);
    }

    fn series(&self) -> Vec<Series> {
        let statistics = &self.bus.statistics;
        let count = |name, unit, count: u64| Series::total(name, unit, count as i64);
        let mut series = vec![
            count("frames", "frames", statistics.frames),
            count("failed attempts", "attempts", statistics.failed_attempts),
            count("lost arbitrations", "attempts", statistics.lost_arbitrations),
            Series::total("busy", "ns", statistics.busy.as_ns()),
        ];
        if let Some(window) = self.bus.config.load_window {
            let values = statistics.busy_by_window.iter().map(|busy| busy.as_ns()).collect();
            series.push(Series { name: "busy".into(), unit: "ns", window: Some(window), values });
        }
        series
    }
}
