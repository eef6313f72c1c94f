//! Checks and the verdict they make up.

use core::fmt;

use super::ResultCode;
use crate::types::{HashedId8, Psid};

/// What is checked of a message, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// The bytes are a signed message, canonical if that is asked for.
    Encoding,
    /// The header agrees with itself, with the application area's profile and with what the caller expects.
    Consistency,
    /// Made a short time ago and not over.
    Freshness,
    /// Made near by.
    Distance,
    /// The signer's certificate is known or came along.
    Signer,
    /// It leads to a trusted root, by certificates that agree with each other.
    Chain,
    /// None of them was revoked.
    Revocation,
    /// Its certificate was valid when it was made.
    ValidityTime,
    /// Its certificate is valid where it was made.
    ValidityRegion,
    /// Its certificate permits the application area and what is done in it.
    Permissions,
    /// Not seen before.
    Replay,
    /// The signature, and those of certificates that are new.
    Signature,
}

impl CheckKind {
    /// All, in their order.
    pub const ALL: [Self; 12] = [
        Self::Encoding,
        Self::Consistency,
        Self::Freshness,
        Self::Distance,
        Self::Signer,
        Self::Chain,
        Self::Revocation,
        Self::ValidityTime,
        Self::ValidityRegion,
        Self::Permissions,
        Self::Replay,
        Self::Signature,
    ];

    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encoding => "encoding",
            Self::Consistency => "consistency",
            Self::Freshness => "freshness",
            Self::Distance => "distance",
            Self::Signer => "signer",
            Self::Chain => "chain",
            Self::Revocation => "revocation",
            Self::ValidityTime => "validity-time",
            Self::ValidityRegion => "validity-region",
            Self::Permissions => "permissions",
            Self::Replay => "replay",
            Self::Signature => "signature",
        }
    }
}

/// Why a check was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// One before it failed.
    EarlierFailure,
    /// The policy does not ask for it.
    NotAskedFor,
    /// The message says nothing to check it by, and need not.
    NothingToCheck,
    /// There is no revocation list of the root.
    NoList,
    /// Nobody knows where the message was made.
    NoLocation,
    /// Nobody knows where the countries of the certificate lie.
    NoGeography,
    /// Nobody can say whether the region of a certificate lies in that of its issuer.
    RegionsNotComparable,
    /// It was done when the certificate came, and nothing has changed since.
    DoneBefore,
    /// A verification policy left it for later.
    Postponed,
}

impl SkipReason {
    /// A few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::EarlierFailure => "an earlier check failed",
            Self::NotAskedFor => "not asked for",
            Self::NothingToCheck => "nothing to check",
            Self::NoList => "no list",
            Self::NoLocation => "no location",
            Self::NoGeography => "no map of countries",
            Self::RegionsNotComparable => "regions of the chain not comparable",
            Self::DoneBefore => "done before",
            Self::Postponed => "postponed",
        }
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Well.
    Passed,
    /// Not well.
    Failed(ResultCode),
    /// It was not done.
    Skipped(SkipReason),
}

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub kind: CheckKind,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took, by the stopwatch handed in; at most some 4 s `[ns]`.
    pub took_ns: u32,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Each check, in order.
    pub checks: [Check; 12],
    /// Who says to have signed it.
    pub signer: Option<HashedId8>,
    /// The application area it says to belong to.
    pub psid: Option<Psid>,
    /// Places in which its encoding is not canonical; under lenient rules.
    pub deviation_count: u16,
}

impl Verdict {
    pub(super) fn new() -> Self {
        let skipped = Outcome::Skipped(SkipReason::EarlierFailure);
        let checks = CheckKind::ALL.map(|kind| Check { kind, outcome: skipped, took_ns: 0 });
        Self { checks, signer: None, psid: None, deviation_count: 0 }
    }

    /// Of a message nobody has looked at: every check left for later.
    #[must_use]
    pub fn postponed() -> Self {
        let mut verdict = Self::new();
        for check in &mut verdict.checks {
            check.outcome = Outcome::Skipped(SkipReason::Postponed);
        }
        verdict
    }

    pub(super) fn set(&mut self, kind: CheckKind, outcome: Outcome, took_ns: u32) {
        self.checks[kind as usize] = Check { kind, outcome, took_ns };
    }

    /// One check.
    pub fn check(&self, kind: CheckKind) -> &Check {
        &self.checks[kind as usize]
    }

    /// The first check that failed, and its code.
    pub fn failure(&self) -> Option<(CheckKind, ResultCode)> {
        self.checks.iter().find_map(|check| match check.outcome {
            Outcome::Failed(code) => Some((check.kind, code)),
            _ => None,
        })
    }

    /// The code of the first check that failed.
    pub fn result(&self) -> ResultCode {
        self.failure().map_or(ResultCode::Success, |(_, code)| code)
    }

    /// Whether nothing failed and the signature was verified.
    pub fn is_accepted(&self) -> bool {
        self.failure().is_none() && self.check(CheckKind::Signature).outcome == Outcome::Passed
    }

    /// Sum of the times of all checks `[ns]`.
    pub fn took_ns(&self) -> u64 {
        self.checks.iter().map(|check| u64::from(check.took_ns)).sum()
    }
}

impl fmt::Display for Verdict {
    /// One line: what failed, or that nothing did.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failure() {
            Some((kind, code)) => write!(f, "refused by {}: {code}", kind.name()),
            None if self.is_accepted() => f.write_str("accepted"),
            None => f.write_str("not verified"),
        }
    }
}

/// What tells how long a check took. This crate reads no clock itself.
pub trait Stopwatch {
    /// Time since some moment, never running backwards `[ns]`.
    fn now_ns(&mut self) -> u64;
}

/// Takes no times: all are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStopwatch;

impl Stopwatch for NoStopwatch {
    fn now_ns(&mut self) -> u64 {
        0
    }
}

impl<F: FnMut() -> u64> Stopwatch for F {
    fn now_ns(&mut self) -> u64 {
        self()
    }
}
