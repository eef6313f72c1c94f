//! Contract suite for nodes: every type that implements [`Node`] has to pass it.
//!
//! A [`Contract`] knows how to make a node and has a [`Script`] of real frames for it. It lets one copy of the node play the
//! script with a driver that wakes it exactly when it asked to be woken, and then a fresh copy for each [`Variation`] of
//! what a driver may do, and of what it must not do. What the copies do has to agree.
//!
//! ```no_run
//! use chronoseal_core_testing::{Contract, Script};
//! use chronoseal_core::{Duration, LocalTime, Node, PortId};
//! fn keeps_its_contract(make: impl Fn() -> Box<dyn Node>, frames: &[Vec<u8>]) {
//!     let ms = |ms| LocalTime::ZERO + Duration::from_ms(ms);
//!     let mut script = Script::until(ms(100));
//!     for (number, bytes) in frames.iter().enumerate() {
//!         script = script.hear(ms(10 * number as i64), PortId(0), bytes);
//!     }
//!     let conduct = Contract::new(0..1, script, make).check();
//!     assert!(conduct.frames().count() > 0, "a node that does nothing keeps every contract");
//! }
//! ```
//! [`record()`] makes scripts out of a network of nodes that talk to each other.

mod compare;
mod failure;
mod player;
mod record;
mod script;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use failure::{Breach, ContractFailure, Variation};
pub use record::{bus, record};
pub use script::{Conduct, Deed, Deeds, Script};

use self::player::{Habits, Offers, Player};
use chronoseal_core::{Command, Duration, Node, Operation};

/// A node, and what it has to go through.
pub struct Contract<F> {
    make: F,
    ports: Range<u16>,
    script: Script,
    late_by: Duration,
    silent: &'static [Operation],
    passes_on: bool,
}

impl<N: Node + ?Sized, F: Fn() -> Box<N>> Contract<F> {
    /// A contract for the nodes that `make` makes, each time the same one anew, with frames at `ports`.
    pub fn new(ports: Range<u16>, script: Script, make: F) -> Self {
        Self { make, ports, script, late_by: Duration::from_us(1), silent: &[], passes_on: false }
    }

    /// How late a wake-up may be, and how long work takes where it takes time; 1 us unless told otherwise. It has to be
    /// shorter than the time between two things that the node does by itself, for their order may depend on it.
    #[must_use]
    pub const fn late_by(mut self, late_by: Duration) -> Self {
        self.late_by = late_by;
        self
    }

    /// Operations after which there may be nothing to see, because the node only knows more than before.
    #[must_use]
    pub const fn silent(mut self, operations: &'static [Operation]) -> Self {
        self.silent = operations;
        self
    }

    /// For a node that is part of a wire: frames pass it after [`Command::Stop`] as well.
    #[must_use]
    pub const fn passes_on(mut self) -> Self {
        self.passes_on = true;
        self
    }

    /// What the node does with an exact driver, if it keeps its contract.
    ///
    /// # Panics
    /// With the failure in words, if it does not.
    pub fn check(&self) -> Conduct {
        self.verify().unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// What the node does with an exact driver, if it keeps its contract.
    ///
    /// # Errors
    /// The first way in which it does not.
    pub fn verify(&self) -> Result<Conduct, ContractFailure> {
        let late = Some(self.late_by);
        let exact = self.play(Variation::Exact, Habits::default())?;
        for variation in [Variation::Again, Variation::EarlyAndDoubled, Variation::Refusals] {
            let habits = match variation {
                Variation::EarlyAndDoubled => Habits { early: true, doubled: true, ..Habits::default() },
                Variation::Refusals => Habits { offers: Offers::Impossible, ..Habits::default() },
                _ => Habits::default(),
            };
            let varied = self.play(variation, habits)?;
            compare::same(&exact, &varied).map_err(|breach| breach.of(variation))?;
        }
        for variation in [Variation::Late, Variation::Working] {
            let habits = match variation {
                Variation::Late => Habits { late_by: late, ..Habits::default() },
                _ => Habits { work_takes: late, ..Habits::default() },
            };
            let varied = self.play(variation, habits)?;
            compare::same_but_for_times(&exact, &varied).map_err(|breach| breach.of(variation))?;
        }
        let noisy = self.play(Variation::Noise, Habits { offers: Offers::Noise, ..Habits::default() })?;
        compare::contains(&noisy, &exact).map_err(|breach| breach.of(Variation::Noise))?;
        self.play(Variation::Mutations, Habits { offers: Offers::Mutations, ..Habits::default() })?;
        for quarter in 0..=4 {
            self.stopped_after(quarter).map_err(|breach| breach.of(Variation::Stopped))?;
        }
        Ok(exact)
    }

    fn play(&self, variation: Variation, habits: Habits) -> Result<Conduct, ContractFailure> {
        let mut node = (self.make)();
        let mut player = self.player(&mut *node, habits);
        player.play(&self.script, self.script.end()).map_err(|breach| breach.of(variation))?;
        player.command(self.script.end(), Command::Stop).map_err(|breach| breach.of(variation))?;
        Ok(player.into_conduct())
    }

    /// Stops the node after so many quarters of the script's time, and lets the rest of the script happen.
    fn stopped_after(&self, quarters: i64) -> Result<(), Breach> {
        let mut node = (self.make)();
        let mut player = self.player(&mut *node, Habits::default());
        let stop_at = self.script.part_end(quarters, 4);
        player.play(&self.script, stop_at)?;
        player.command(stop_at, Command::Stop)?;
        player.stopped = true;
        player.go_on(&self.script, self.script.end())
    }

    fn player<'a>(&self, node: &'a mut N, habits: Habits) -> Player<'a, N> {
        let mut player = Player::new(node, self.ports.clone(), habits);
        (player.silent, player.passes_on) = (Some(self.silent), self.passes_on);
        player
    }
}
