//! The egress of a port by IEEE 802.1Q: classes with queues, shapers and gates in front of one wire, and frames that are
//! interrupted on it.
//!
//! ```text
//! priority ─► class ─► queue (scheduler of the stream, if asynchronous) ─► gate, credit ─┐
//!                                                                                      selection ─► wire
//! protocol control, scheduled frames of AS6802 ──────────────────────────────────────────┘
//! ```
//!
//! A frame may start if its class's gate is open and stays so until its last bit has left, if the class's credit is not
//! negative, if its eligibility time has come, and if it delays no reserved start ([`ReservedStarts`]). Of the classes whose
//! first frame may start the highest has the wire, express ones before preemptable ones. While the highest waits for a
//! reserved start, nobody else goes.
//!
//! Where scheduled frames cut off others ([`PortConfig::scheduled_cut`]), what was sent of a frame is lost. It has to be sent again from its
//! beginning, and waits for that as the first of its class.
//!
//! Where nothing is configured this is [`Line`](crate::line::Line), which does the same in fewer steps; a test holds the two
//! against each other.

use chronoseal_core::{Oscillator, Priority, SimTime, StreamId};

use self::asynchronous::Schedulers;
use self::class_set::ClassSet;
pub use self::config::{
    ClassConfig, GateControlList, GateEntry, ListChange, PortConfig, RECOMMENDED_CLASS, SchedulerConfig, Selection,
    TRAFFIC_CLASSES, priority_of,
};
use self::credit::Credit;
use self::gates::{Gate, Gates};
use self::merge::{Held, Sending};
use self::queue::{Queue, Waiting};
use crate::line::{LineSpeed, Offer, ReservedStarts};
use crate::medium::FrameId;

mod asynchronous;
mod class_set;
mod config;
mod credit;
mod gates;
mod merge;
mod queue;
mod repeated;
#[cfg(test)]
mod tests;

/// The class of scheduled frames of AS6802.
const SCHEDULED: usize = Priority::TIME_TRIGGERED.0 as usize;

/// A class of a port at work.
#[derive(Debug)]
struct Class {
    queue: Queue,
    credit: Option<Credit>,
    is_asynchronous: bool,
    is_preemptable: bool,
    room: Option<u64>,
}

/// One port: its queues, and what is on its wire.
#[derive(Debug)]
pub struct Port {
    speed: LineSpeed,
    class_of: [u8; TRAFFIC_CLASSES],
    classes: [Class; Priority::COUNT],
    /// The classes whose queues hold a frame, and those whose frames may be interrupted.
    waiting: ClassSet,
    preemptable: ClassSet,
    gates: Gates,
    schedulers: Schedulers,
    reserved: ReservedStarts,
    /// A queue without a room of its own holds at most this much `[byte]`.
    queue_len_max: u64,
    /// What such queues hold together, if they share that room `[byte]`.
    shared: u64,
    is_shared: bool,
    /// A preemptable frame whose last bit has not left.
    sending: Option<Sending>,
    /// A frame that was interrupted.
    held: Option<Held>,
    /// A scheduled frame cuts off what is on the wire.
    scheduled_cut: bool,
    free_at: SimTime,
    look_again_at: Option<SimTime>,
}

/// A frame that certainly leaves: an express one has just started, the last bit of a preemptable one has just left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// Which.
    pub frame: FrameId,
    /// Its priority.
    pub priority: Priority,
    /// When its first bit left.
    pub started_at: SimTime,
    /// When it is at the other end ([`LineSpeed::reception`]).
    pub arrives_at: SimTime,
    /// When it should have started, if it was due at a time.
    pub due: Option<SimTime>,
}

/// What a look at a port led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortStep {
    /// A frame that leaves.
    pub left: Option<Left>,
    /// The wire is used until then, as far as is known.
    pub free_at: SimTime,
    /// Look again at this time.
    pub look_again_at: Option<SimTime>,
}

/// Why a port does not take a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// Its queue has no room for it.
    #[error("the queue of its class is full")]
    QueueFull,
    /// The scheduler of its stream would let it go after its longest residence time only.
    #[error("its scheduler would keep it longer than it may stay")]
    ResidenceTime,
}

/// Whether the first frame of a class may start.
enum May {
    /// There is none.
    Empty,
    Start,
    /// Not before then, and others may go until then; `None`: never.
    Later(Option<SimTime>),
    /// It would delay a reserved start, and nobody else goes either.
    Reserved(SimTime),
}

impl Port {
    /// A port of a line, with so much room in the queue of each class that has no room of its own `[byte]`, whose `reserved` starts no lower class may
    /// delay.
    ///
    /// # Panics
    /// If a priority has a class that is none.
    pub fn new(config: &PortConfig, speed: LineSpeed, queue_len_max: u64, reserved: ReservedStarts) -> Self {
        assert!(config.class_of.iter().all(|class| usize::from(*class) < TRAFFIC_CLASSES), "there are eight classes");
        let class = |class: usize| {
            let ClassConfig { selection, is_preemptable, room } =
                config.classes.get(class).copied().unwrap_or_default();
            let credit = match selection {
                Selection::CreditBased { idle_slope, changed } => {
                    Some(Credit::new([idle_slope, changed.unwrap_or(idle_slope)], speed.rate()))
                }
                Selection::Strict | Selection::Asynchronous => None,
            };
            let is_asynchronous = selection == Selection::Asynchronous;
            Class { queue: Queue::default(), credit, is_asynchronous, is_preemptable, room }
        };
        let mut classes: [Class; Priority::COUNT] = std::array::from_fn(class);
        let mut preemptable = ClassSet::default();
        for (number, class) in classes.iter_mut().enumerate() {
            class.is_preemptable |= config.scheduled_cut && number < SCHEDULED;
            if class.is_preemptable {
                preemptable.insert(number);
            }
        }
        Self {
            speed,
            class_of: config.class_of,
            classes,
            waiting: ClassSet::default(),
            preemptable,
            gates: Gates::new(config.gates.as_ref()),
            schedulers: Schedulers::new(&config.schedulers),
            reserved,
            queue_len_max,
            shared: 0,
            is_shared: false,
            sending: None,
            held: None,
            scheduled_cut: config.scheduled_cut,
            free_at: SimTime::ZERO,
            look_again_at: None,
        }
    }

    /// The same port, whose queues without a room of their own have the room of one together.
    #[must_use]
    pub fn with_shared_queue(mut self, is_shared: bool) -> Self {
        self.is_shared = is_shared;
        self
    }

    /// Its reserved starts go by a clock from now on ([`ReservedStarts::follow`]).
    pub fn follow(&mut self, clock: Option<Oscillator>) {
        self.reserved.follow(clock);
    }

    /// Its gates go by a clock from now on; without one all are open, as before a list begins. Whoever says so looks at the port in the
    /// same instant, since a frame may have to go or to wait that did not before.
    pub fn gates_follow(&mut self, now: SimTime, clock: Option<Oscillator>) {
        // Credit was earned by the gates as they were.
        (0..self.classes.len()).for_each(|class| self.advance(now, class));
        self.gates.follow(clock);
    }

    /// What its gates go by.
    pub fn gates_clock(&self) -> Option<Oscillator> {
        self.gates.clock()
    }

    /// Takes a frame of a stream into the queue of its class, and starts whichever may start.
    ///
    /// # Errors
    /// Why it does not take it.
    pub fn offer(&mut self, now: SimTime, offer: Offer, stream: StreamId) -> Result<PortStep, Refused> {
        let priority = usize::from(offer.priority.0).min(Priority::COUNT - 1);
        let number = self.class_of.get(priority).map_or(priority, |class| usize::from(*class));
        let class = &mut self.classes[number];
        let held = if class.room.is_none() && self.is_shared { self.shared } else { class.queue.bytes() };
        let max = class.room.unwrap_or(self.queue_len_max);
        if held + offer.len > max {
            return Err(Refused::QueueFull);
        }
        let eligible = match class.is_asynchronous {
            true => self.schedulers.eligible(now, stream, self.speed.counted(offer.len)),
            false => Some(now),
        };
        let eligible = eligible.ok_or(Refused::ResidenceTime)?;
        self.advance(now, number);
        let offer = Offer { priority: Priority(priority as u8), ..offer };
        if eligible <= now
            && self.is_idle(now)
            && !self.classes[number].is_preemptable
            && matches!(self.may_go(now, number, offer.len), May::Start)
        {
            // Nobody else waits, so that it need not either.
            self.look_again_at = self.look_again_at.filter(|at| *at > now);
            let left = Some(self.go(now, number, &offer));
            return Ok(PortStep { left, free_at: self.free_at, look_again_at: None });
        }
        let class = &mut self.classes[number];
        class.queue.push(Waiting { offer, eligible });
        self.waiting.insert(number);
        if class.room.is_none() {
            self.shared += offer.len;
        }
        if now < self.free_at && self.sending.is_none() {
            // Whoever is next, it is not before then.
            let look_again_at = self.ask_for_look(now, Some(self.free_at));
            return Ok(PortStep { left: None, free_at: self.free_at, look_again_at });
        }
        Ok(self.step(now))
    }

    /// Does what is to be done now.
    pub fn step(&mut self, now: SimTime) -> PortStep {
        let mut left = None;
        if let Some(sending) = self.sending {
            if now >= sending.last_bit(&self.speed) {
                self.sending = None;
                left = Some(self.left(&sending.frame.offer, sending.frame.started_at, sending.last_bit(&self.speed)));
            } else if self.interrupts(now) {
                self.cut(now, &sending);
            }
        }
        if left.is_none() && now >= self.free_at {
            left = self.select(now);
        }
        let at = self.next_look(now);
        let look_again_at = self.ask_for_look(now, at);
        PortStep { left, free_at: self.free_at, look_again_at }
    }

    /// `at`, unless an earlier look is still to come.
    fn ask_for_look(&mut self, now: SimTime, at: Option<SimTime>) -> Option<SimTime> {
        self.look_again_at = self.look_again_at.filter(|asked| *asked > now);
        let is_asked = self.look_again_at.is_some_and(|asked| at.is_none_or(|at| asked <= at));
        let look_again_at = if is_asked { None } else { at };
        self.look_again_at = look_again_at.or(self.look_again_at);
        look_again_at
    }

    /// True if nothing waits and nothing is on the wire.
    fn is_idle(&self, now: SimTime) -> bool {
        self.waiting.is_empty() && self.sending.is_none() && self.held.is_none() && now >= self.free_at
    }

    /// Lets a class's credit grow or shrink until now, if it has any.
    #[inline(always)]
    fn advance(&mut self, now: SimTime, class: usize) {
        if self.classes[class].credit.is_some() {
            self.advance_credit(now, class);
        }
    }

    #[inline(never)]
    fn advance_credit(&mut self, now: SimTime, class: usize) {
        let is_held = self.held.is_some_and(|held| held.class == class);
        let Class { queue, credit, .. } = &mut self.classes[class];
        if let Some(credit) = credit {
            credit.advance(now, is_held || !queue.is_empty(), self.gates.of(class));
        }
    }

    /// The express classes in which frames wait.
    fn express(&self) -> ClassSet {
        self.waiting.without(self.preemptable)
    }

    /// Starts the frame that is next, if one may start.
    fn select(&mut self, now: SimTime) -> Option<Left> {
        for class in self.express() {
            match self.may_start(now, class) {
                May::Start => return self.start(now, class),
                May::Reserved(_) => return None,
                May::Empty | May::Later(_) => {}
            }
        }
        let preemptable = self.waiting.and(self.preemptable);
        if preemptable.is_empty() && self.held.is_none() || self.holds(now).is_some() {
            return None;
        }
        if let Some(held) = self.held {
            // What was begun is ended before another frame that may be interrupted, whatever its class's gate is.
            if self.reserved.blocked_until(now, held.occupancy(&self.speed)).is_none() {
                self.go_on(now, held);
            }
            return None;
        }
        for class in preemptable {
            match self.may_start(now, class) {
                May::Start => return self.start(now, class),
                May::Reserved(_) => return None,
                May::Empty | May::Later(_) => {}
            }
        }
        None
    }

    /// Whether the first frame of a class may start now if the wire is free.
    #[inline]
    fn may_start(&mut self, now: SimTime, class: usize) -> May {
        let Some(&Waiting { offer: Offer { len, .. }, eligible }) = self.classes[class].queue.first() else {
            return May::Empty;
        };
        if eligible > now {
            return May::Later(Some(eligible));
        }
        self.advance(now, class);
        self.may_go(now, class, len)
    }

    /// Whether a frame of a class may start now if the wire is free and its time has come. Time was let pass until now.
    #[inline]
    fn may_go(&self, now: SimTime, class: usize, len: u64) -> May {
        let gate = self.gates.of(class);
        if let Some(credit) = &self.classes[class].credit {
            let clear_at = credit.clear_at(now, gate);
            if clear_at > now {
                return May::Later(Some(clear_at));
            }
        }
        match gate.at(now) {
            Gate::Open(None) => {}
            Gate::Open(Some(closes)) if now + self.speed.transmission(len) <= closes => {}
            Gate::Open(Some(closes)) => return May::Later(Some(gate.opens_after(closes)).filter(|at| *at > now)),
            Gate::Closed(opens) => return May::Later(opens),
        }
        if class == SCHEDULED {
            return May::Start;
        }
        match self.reserved.blocked_until(now, self.speed.occupancy(len)) {
            Some(at) => May::Reserved(at),
            None => May::Start,
        }
    }

    /// Until when preemptable frames are held, if they are.
    fn holds(&self, now: SimTime) -> Option<SimTime> {
        match self.gates.held().at(now) {
            Gate::Open(until) => Some(until.unwrap_or(SimTime::MAX)),
            Gate::Closed(_) => None,
        }
    }

    /// True if a preemptable frame on the wire has to make room.
    fn interrupts(&mut self, now: SimTime) -> bool {
        let mut express = self.express();
        self.holds(now).is_some() || express.any(|class| matches!(self.may_start(now, class), May::Start))
    }

    fn cut(&mut self, now: SimTime, sending: &Sending) {
        if self.scheduled_cut {
            return self.cut_off(now, sending);
        }
        let Some(cut) = sending.cut(now, &self.speed) else { return };
        let class = cut.held.class;
        self.advance(now, class);
        if let Some(credit) = &mut self.classes[class].credit {
            credit.cut(cut.ends_at);
        }
        (self.sending, self.held, self.free_at) = (None, Some(cut.held), cut.free_at);
    }

    /// What was sent of the frame on the wire is lost, and the wire is free after a gap.
    fn cut_off(&mut self, now: SimTime, sending: &Sending) {
        let Held { offer, class, .. } = sending.frame;
        let frame = &mut self.classes[class];
        frame.queue.put_back(Waiting { offer, eligible: now });
        if frame.room.is_none() {
            self.shared += offer.len;
        }
        self.waiting.insert(class);
        (self.sending, self.free_at) = (None, now + self.speed.gap());
    }

    fn go_on(&mut self, now: SimTime, held: Held) {
        self.advance(now, held.class);
        self.held = None;
        self.send(held, now);
    }

    fn send(&mut self, frame: Held, now: SimTime) {
        let sending = Sending::new(frame, now);
        self.free_at = sending.free_at(&self.speed);
        if let Some(credit) = &mut self.classes[frame.class].credit {
            credit.send(sending.own_from(&self.speed), self.free_at);
        }
        self.sending = Some(sending);
    }

    /// Starts the first frame of a class.
    fn start(&mut self, now: SimTime, class: usize) -> Option<Left> {
        self.advance(now, class);
        let taken = &mut self.classes[class];
        let Waiting { offer, .. } = taken.queue.pop()?;
        if taken.queue.is_empty() {
            self.waiting.remove(class);
        }
        if taken.room.is_none() {
            self.shared -= offer.len;
        }
        if taken.is_preemptable {
            self.send(Held::whole(offer, class, now), now);
            return None;
        }
        Some(self.go(now, class, &offer))
    }

    /// An express frame has the wire.
    fn go(&mut self, now: SimTime, class: usize, offer: &Offer) -> Left {
        self.free_at = now + self.speed.occupancy(offer.len);
        if let Some(credit) = &mut self.classes[class].credit {
            credit.send(now, self.free_at);
        }
        self.left(offer, now, now + self.speed.transmission(offer.len))
    }

    fn left(&self, offer: &Offer, started_at: SimTime, last_bit: SimTime) -> Left {
        let Offer { frame, len, priority, due } = *offer;
        Left { frame, priority, started_at, arrives_at: last_bit + self.speed.delay(len), due }
    }

    /// When something can change next without a frame coming.
    fn next_look(&mut self, now: SimTime) -> Option<SimTime> {
        let is_waiting = self.held.is_some() || !self.waiting.is_empty();
        if let Some(sending) = self.sending {
            let last_bit = sending.last_bit(&self.speed);
            // A frame that cannot be cut now cannot be cut later.
            let may_be_cut = sending.cut(now, &self.speed).is_some();
            let hold = match self.gates.held().at(now) {
                Gate::Closed(Some(held)) => held,
                _ => last_bit,
            };
            let first = if may_be_cut { self.express_from(now).map_or(hold, |at| at.min(hold)) } else { last_bit };
            return Some(first.min(last_bit));
        }
        if now < self.free_at {
            return is_waiting.then_some(self.free_at);
        }
        if !is_waiting {
            return None;
        }
        let mut next: Option<SimTime> = None;
        let mut look = |at: Option<SimTime>| next = next.into_iter().chain(at.filter(|at| *at > now)).min();
        for class in self.waiting {
            match self.may_start(now, class) {
                May::Empty => {}
                May::Start => look(self.holds(now).filter(|_| self.classes[class].is_preemptable)),
                May::Later(at) => look(at),
                May::Reserved(at) => look(Some(at)),
            }
        }
        if let Some(held) = self.held {
            look(self.holds(now));
            look(self.reserved.blocked_until(now, held.occupancy(&self.speed)));
        }
        next
    }

    /// When an express frame that waits may start, if it waits for a time.
    fn express_from(&mut self, now: SimTime) -> Option<SimTime> {
        let at = |may: May| match may {
            May::Later(at) => at,
            May::Reserved(at) => Some(at),
            May::Empty | May::Start => None,
        };
        self.express().filter_map(|class| at(self.may_start(now, class))).min()
    }
}
