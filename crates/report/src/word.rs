//! The words of every answer, in one table: how each is shown and how a command ends with it.

use serde::Serialize;

/// The word of an answer, from the best to the worst: of several answers the worst counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// All of it was checked, and holds.
    Held,
    /// Nothing failed, and something was not checked.
    NotChecked,
    /// On paper, something cannot be told either way.
    NotProven,
    /// Of two sides compared, the second is worse.
    Worse,
    /// On paper, a frame can be lost or late.
    Broken,
    /// In a run, something did not hold.
    Failed,
}

/// How a command ends; that it could not run is status 2 and an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// All that was asked holds.
    Held,
    /// Nothing failed, but something is not proven or not checked.
    Unproven,
    /// Something does not hold.
    Failed,
}

/// How a word looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    Good,
    Open,
    Bad,
}

impl Word {
    /// As shown to people, in lower case.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// How a command ends whose answer it is.
    pub const fn status(self) -> Status {
        self.row().1
    }

    pub(crate) const fn tone(self) -> Tone {
        match self.status() {
            Status::Held => Tone::Good,
            Status::Unproven => Tone::Open,
            Status::Failed => Tone::Bad,
        }
    }

    /// A side of a comparison, a bound, a run: none is better than its worst part.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }

    const fn row(self) -> (&'static str, Status) {
        match self {
            Self::Held => ("held", Status::Held),
            Self::NotChecked => ("not checked", Status::Unproven),
            Self::NotProven => ("not proven", Status::Unproven),
            Self::Worse => ("worse", Status::Failed),
            Self::Broken => ("broken", Status::Failed),
            Self::Failed => ("failed", Status::Failed),
        }
    }
}

impl Tone {
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Good => "\u{2713}",
            Self::Open => "\u{223c}",
            Self::Bad => "\u{2717}",
        }
    }

    /// The style of a page that it has.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Open => "open",
            Self::Bad => "bad",
        }
    }

    /// Colour on a terminal.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Good => "1;32",
            Self::Open => "1;33",
            Self::Bad => "1;31",
        }
    }
}

impl Status {
    /// The exit status of a program.
    pub const fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Unproven => 3,
            Self::Failed => 1,
        }
    }
}
