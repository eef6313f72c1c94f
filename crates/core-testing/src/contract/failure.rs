//! How a node breaks its contract.

use core::fmt;

use super::script::Deed;
use chronoseal_core::{HandleError, LocalTime};

/// What a driver does with a copy of the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Variation {
    /// It wakes the node exactly when it asked to be woken, and work takes no time.
    Exact,
    /// The same a second time, for the same inputs must give the same effects.
    Again,
    /// It wakes the node at other times as well, and twice after each input.
    EarlyAndDoubled,
    /// It wakes the node late.
    Late,
    /// Work takes time, and inputs wait until it is done.
    Working,
    /// It offers inputs that the node has to refuse: unknown ports, times that ran backwards.
    Refusals,
    /// It offers frames of random bytes.
    Noise,
    /// It offers each frame of the script with bytes changed, cut off or added before the true one.
    Mutations,
    /// It stops the node in the middle of the script.
    Stopped,
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "with exact wake-ups",
            Self::Again => "with exact wake-ups a second time",
            Self::EarlyAndDoubled => "with early and doubled wake-ups",
            Self::Late => "with late wake-ups",
            Self::Working => "with work that takes time",
            Self::Refusals => "with inputs that have to be refused",
            Self::Noise => "with random bytes on every port",
            Self::Mutations => "with frames that were changed on their way",
            Self::Stopped => "stopped before the script ends",
        })
    }
}

/// A rule of the contract that a node broke.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Breach {
    /// It refused a legal input.
    Refused {
        /// Time of the input.
        at: LocalTime,
        /// What it said.
        error: HandleError,
    },
    /// It took an input that it has to refuse, or refused it with another error.
    NotRefused {
        /// Time of the input.
        at: LocalTime,
        /// The right answer.
        expected: HandleError,
        /// Its answer.
        answer: Result<(), HandleError>,
    },
    /// Outputs do not come to an end.
    Endless {
        /// Time of the polls.
        at: LocalTime,
    },
    /// It asks again and again to be woken at once, and does nothing then.
    WokenInVain {
        /// Time of the wake-ups.
        at: LocalTime,
    },
    /// After [`chronoseal_core::Output::Timeout`] it wanted something else without another legal input.
    ChangedItsMind {
        /// Time of the poll.
        at: LocalTime,
        /// When it wanted to be woken before.
        wanted: Option<LocalTime>,
        /// What it said instead.
        output: String,
    },
    /// Work was announced, and no effect followed.
    WorkWithoutEffect {
        /// Time of the work.
        at: LocalTime,
        /// What was to be computed.
        operation: &'static str,
    },
    /// A frame's origin is an input that the node was not given.
    UnknownOrigin {
        /// Time of the frame.
        at: LocalTime,
        /// The number of the input.
        origin: u64,
        /// How many frames it had been given.
        given: u64,
    },
    /// It sent a frame by itself after [`chronoseal_core::Command::Stop`].
    SentAfterStop {
        /// Time of the frame.
        at: LocalTime,
    },
    /// It did something else than with exact wake-ups.
    Differs {
        /// So many deeds agree.
        after: usize,
        /// What it did with exact wake-ups; `None` if it did nothing more.
        expected: Option<Box<(LocalTime, Deed)>>,
        /// What it did.
        got: Option<Box<(LocalTime, Deed)>>,
    },
}

impl Breach {
    pub(super) const fn of(self, variation: Variation) -> ContractFailure {
        ContractFailure { variation, breach: self }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { at, error } => write!(f, "at {at} it refused a legal input: {error}"),
            Self::NotRefused { at, expected, answer } => {
                write!(f, "an input at {at} has to be refused with {expected:?}; the answer was {answer:?}")
            }
            Self::Endless { at } => write!(f, "at {at} its outputs do not come to an end"),
            Self::WokenInVain { at } => {
                write!(f, "at {at} it asks again and again to be woken at once, and does nothing then")
            }
            Self::ChangedItsMind { at, wanted, output } => {
                write!(f, "at {at} it wanted to be woken at {wanted:?}, and without an input then gave {output}")
            }
            Self::WorkWithoutEffect { at, operation } => write!(f, "at {at} no effect followed the work `{operation}`"),
            Self::UnknownOrigin { at, origin, given } => {
                write!(f, "the frame at {at} comes from input {origin}, but only {given} frames were given")
            }
            Self::SentAfterStop { at } => write!(f, "it sent a frame by itself at {at}, after it was stopped"),
            Self::Differs { after, expected, got } => {
                write!(f, "after {after} deeds in common it was to do\n  {expected:?}\nand did\n  {got:?}")
            }
        }
    }
}

/// A node that breaks its contract, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContractFailure {
    /// What the driver did.
    pub variation: Variation,
    /// What the node did.
    pub breach: Breach,
}

impl fmt::Display for ContractFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the node breaks its contract {}: {}", self.variation, self.breach)
    }
}

impl core::error::Error for ContractFailure {}
