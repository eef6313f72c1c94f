//! What lines did with each frame: how long it waited there, behind whom, and when it was on the wire.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{Duration, Priority, SimTime};
use chronoseal_media::watch::{Passed, Passing};

/// A frame at one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) segment: u16,
    pub(super) line: u32,
    pub(super) priority: Priority,
    /// It came to the queue.
    pub(super) queued_at: SimTime,
    /// Its first bit left.
    pub(super) started_at: SimTime,
    /// Its last bit was at the other end.
    pub(super) arrives_at: SimTime,
    /// Of its time in the queue: the wire had a frame of a lower class.
    pub(super) blocked: Duration,
    /// Of its time in the queue: the wire had a frame of its own class or a higher one.
    pub(super) behind: Duration,
    /// Between its first and its last bit it was interrupted for so long.
    pub(super) interrupted: Duration,
    /// The number of the next pass of the same frame; its own if there is none.
    next: u64,
}

/// Lines that are used, frames that wait for them, and what became of every frame that left.
#[derive(Default)]
pub(super) struct Passes {
    /// By number, from that of the first one that is not forgotten.
    passes: VecDeque<Pass>,
    first: u64,
    /// By the driver's number, from that of the first frame that is not forgotten: the frame's last pass, if any.
    last: VecDeque<Option<u64>>,
    first_frame: u64,
    /// By segment, and there by number.
    lines: Vec<Vec<Use>>,
}

#[derive(Clone, Copy)]
struct Waiting {
    priority: Priority,
    at: SimTime,
    used: Account,
}

/// How long a line was used: by classes below one, by frames that can be interrupted, and by others.
#[derive(Clone, Copy)]
struct Account {
    below: Duration,
    interruptible: Duration,
    others: Duration,
}

/// How long a line was used, by class. A frame that can be interrupted is told of when it has left, so that its class is not known
/// while it uses the line.
#[derive(Clone, Default)]
struct Use {
    by_class: [Duration; Priority::COUNT],
    interruptible: Duration,
    /// Who uses the line, and from when until when it is not in the account yet.
    class: Option<Priority>,
    from: SimTime,
    until: SimTime,
    /// The account at the times at which a frame may have begun that can be interrupted.
    begun: Vec<(SimTime, [Duration; Priority::COUNT], Duration)>,
    /// Frames in its queues, by the driver's number.
    waiting: BTreeMap<u64, Waiting>,
}

impl Use {
    /// Adds what has been used until now to the account of whoever uses the line.
    fn advance(&mut self, now: SimTime) {
        let until = self.until.min(now);
        if until > self.from {
            let account = match self.class {
                Some(class) => &mut self.by_class[place(class)],
                None => &mut self.interruptible,
            };
            *account += until - self.from;
            self.from = until;
        }
    }

    /// Somebody has the line from now on.
    fn begin(&mut self, now: SimTime, until: SimTime, class: Option<Priority>) {
        self.advance(now);
        (self.from, self.until, self.class) = (now, until, class);
    }

    /// What was used so far, as a class sees it.
    fn account(&mut self, now: SimTime, class: Priority) -> Account {
        self.advance(now);
        account(&self.by_class, self.interruptible, class)
    }

    /// What had been used when a frame began, as its class sees it.
    fn account_at(&mut self, began: SimTime, now: SimTime, class: Priority) -> Account {
        match self.begun.iter().find(|(at, ..)| *at == began) {
            Some((_, by_class, interruptible)) => account(by_class, *interruptible, class),
            None => self.account(now, class),
        }
    }
}

fn place(class: Priority) -> usize {
    usize::from(class.0).min(Priority::COUNT - 1)
}

fn account(by_class: &[Duration; Priority::COUNT], interruptible: Duration, class: Priority) -> Account {
    let sum = |classes: &[Duration]| classes.iter().fold(Duration::ZERO, |sum, one| sum + *one);
    let (below, others) = by_class.split_at(place(class));
    Account { below: sum(below), interruptible, others: sum(others) }
}

/// The thing with this number, which is made if there is none.
pub(super) fn at<T: Default>(things: &mut Vec<T>, number: usize) -> &mut T {
    if things.len() <= number {
        things.resize_with(number + 1, T::default);
    }
    &mut things[number]
}

impl Passes {
    /// Takes in what a line tells.
    pub(super) fn note(&mut self, passing: &Passing) {
        let Passing { segment, line, frame, at: now, what } = *passing;
        let used = at(at(&mut self.lines, usize::from(segment)), line as usize);
        match what {
            Passed::Queued { priority } => {
                if let Some(frame) = frame {
                    let waiting = Waiting { priority, at: now, used: used.account(now, priority) };
                    used.waiting.insert(frame, waiting);
                }
            }
            Passed::Refused => {
                used.waiting.remove(&frame.unwrap_or(0));
            }
            Passed::Used { until } if until > now => {
                // Somebody goes on, is cut, or begins. If it cannot be interrupted, it is told next who that is.
                let class = used.class.filter(|_| used.until > now);
                used.begin(now, until, class);
                if class.is_none() {
                    used.begun.push((now, used.by_class, used.interruptible));
                }
            }
            Passed::Used { .. } => {}
            Passed::Sent { started_at, left_at, arrives_at, free_at, transmission } => {
                let waiting = frame.and_then(|frame| used.waiting.remove(&frame));
                let priority = waiting.map_or(Priority::PROTOCOL_CONTROL, |waiting| waiting.priority);
                let then = used.account_at(started_at, now, priority);
                let is_interruptible = started_at < now;
                if is_interruptible {
                    used.begun.clear();
                } else {
                    used.begin(now, free_at, Some(priority));
                    used.begun.retain(|(begun, ..)| *begun < now);
                }
                let (Some(frame), Some(Waiting { at: queued_at, used: before, .. })) = (frame, waiting) else { return };
                let below = then.below - before.below;
                let interruptible = then.interruptible - before.interruptible;
                let others = then.others - before.others;
                let (blocked, behind) = match is_interruptible {
                    true => (below, others + interruptible),
                    false => (below + interruptible, others),
                };
                let interrupted = (left_at - started_at) - transmission;
                let pass = Pass {
                    segment,
                    line,
                    priority,
                    queued_at,
                    started_at,
                    arrives_at,
                    blocked,
                    behind,
                    interrupted,
                    next: 0,
                };
                self.keep(frame, pass);
            }
        }
    }

    /// How long each line was used until a time: segment, line, and how long.
    pub(super) fn used(&mut self, until: SimTime) -> Vec<(u16, u32, Duration)> {
        let whole = |used: &mut Use| {
            used.advance(until);
            used.by_class.iter().fold(used.interruptible, |sum, one| sum + *one)
        };
        let mut all = Vec::new();
        for (segment, lines) in (0..).zip(&mut self.lines) {
            all.extend((0..).zip(lines).map(|(line, used)| (segment, line, whole(used))));
        }
        all
    }

    /// Forgets passes that were over before a time, and frames before one.
    pub(super) fn forget(&mut self, before: SimTime, frame: u64) {
        let old = self.passes.iter().take_while(|pass| pass.arrives_at < before).count();
        self.passes.drain(..old);
        self.first += old as u64;
        let old = usize::try_from(frame.saturating_sub(self.first_frame)).unwrap_or(0).min(self.last.len());
        self.last.drain(..old);
        self.first_frame = self.first_frame.max(frame);
    }

    fn keep(&mut self, frame: u64, pass: Pass) {
        let Some(place) = self.place(frame) else { return };
        if self.last.len() <= place {
            self.last.resize(place + 1, None);
        }
        let number = self.first + self.passes.len() as u64;
        self.passes.push_back(Pass { next: self.last[place].unwrap_or(number), ..pass });
        self.last[place] = Some(number);
    }

    fn place(&self, frame: u64) -> Option<usize> {
        usize::try_from(frame.checked_sub(self.first_frame)?).ok()
    }

    /// Every pass of a frame, the last one first.
    pub(super) fn of(&self, frame: u64) -> impl Iterator<Item = &Pass> {
        let mut next = self.place(frame).and_then(|place| *self.last.get(place)?);
        std::iter::from_fn(move || {
            let number = next?;
            let pass = self.passes.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
            next = (pass.next != number).then_some(pass.next);
            Some(pass)
        })
    }
}
