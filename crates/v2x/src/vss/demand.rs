//! Verification on demand: which of the received signatures are worth the time.
//!
//! A message that is not verified is not trusted; it is delivered, if at all, as unverified. Each one is in the
//! [`Audit`], so that afterwards nobody has to guess what was skipped and why.

use sha2::{Digest, Sha256};

/// So many of each second, the first ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerSecond {
    second: u64,
    taken: u32,
}

impl PerSecond {
    /// Whether one more is taken at `now_us`, if `per_second` are.
    pub fn takes(&mut self, now_us: u64, per_second: u32) -> bool {
        let second = now_us / 1_000_000;
        if second != self.second {
            (self.second, self.taken) = (second, 0);
        }
        self.taken = self.taken.saturating_add(1);
        self.taken <= per_second
    }
}

/// Which messages are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemandPolicy {
    /// All.
    Always,
    /// The first of each so many (`pm.policy.verificationpolicy = sampling` of the source).
    Sampling {
        /// One of these `[messages]`.
        one_of: u32,
    },
    /// The first so many of each second.
    Threshold {
        /// Messages a second.
        per_second: u32,
    },
    /// Those of whoever is near or about to be.
    Relevance {
        /// Nearer than this `[m]`.
        distance_m: u32,
        /// Or met sooner than this `[ms]`.
        time_to_collision_ms: u32,
    },
    /// Those an application asks for.
    OnDemand,
}

/// What the caller knows of a message before its signature is verified: nothing of it is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relevance {
    /// Of the sender, by what the message says `[m]`.
    pub distance_m: Option<u32>,
    /// By what the message says `[ms]`.
    pub time_to_collision_ms: Option<u32>,
    /// An emergency, or an application asks: always verified.
    pub is_demanded: bool,
}

impl Relevance {
    /// Whether the sender is nearer than this `[m]`, or met sooner than that `[ms]`. Whoever does not say where it is might be
    /// anywhere.
    pub fn is_near(&self, distance_m: u32, time_to_collision_ms: u32) -> bool {
        self.distance_m.is_none_or(|distance| distance <= distance_m)
            || self.time_to_collision_ms.is_some_and(|time| time <= time_to_collision_ms)
    }
}

/// Why a message was not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Not in the sample.
    NotSampled,
    /// This second's are verified.
    OverThreshold,
    /// Far, and not coming near.
    NotRelevant,
    /// No application has asked.
    NotDemanded,
    /// More came than can be verified; the least relevant were dropped.
    Overload,
}

impl SkipReason {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::NotSampled, Self::OverThreshold, Self::NotRelevant, Self::NotDemanded, Self::Overload];

    /// For logs and statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotSampled => "not-sampled",
            Self::OverThreshold => "over-threshold",
            Self::NotRelevant => "not-relevant",
            Self::NotDemanded => "not-demanded",
            Self::Overload => "overload",
        }
    }
}

/// Applies a policy.
#[derive(Clone, Debug)]
pub struct Demand {
    policy: DemandPolicy,
    /// Messages so far, for sampling.
    seen: u64,
    in_second: PerSecond,
}

impl Demand {
    /// With this policy.
    pub fn new(policy: DemandPolicy) -> Self {
        Self { policy, seen: 0, in_second: PerSecond::default() }
    }

    /// Whether a message is verified; if not, why not.
    ///
    /// # Errors
    /// The reason to skip it.
    pub fn decide(&mut self, now_us: u64, relevance: &Relevance) -> Result<(), SkipReason> {
        let number = self.seen;
        self.seen += 1;
        if relevance.is_demanded {
            return Ok(());
        }
        let (is_verified, reason) = match self.policy {
            DemandPolicy::Always => (true, SkipReason::NotDemanded),
            DemandPolicy::Sampling { one_of } => {
                (number.is_multiple_of(u64::from(one_of.max(1))), SkipReason::NotSampled)
            }
            DemandPolicy::Threshold { per_second } => {
                (self.in_second.takes(now_us, per_second), SkipReason::OverThreshold)
            }
            DemandPolicy::Relevance { distance_m, time_to_collision_ms } => {
                (relevance.is_near(distance_m, time_to_collision_ms), SkipReason::NotRelevant)
            }
            DemandPolicy::OnDemand => (false, SkipReason::NotDemanded),
        };
        if is_verified { Ok(()) } else { Err(reason) }
    }
}

/// A message that was not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// When [us of `Time64`].
    pub at_us: u64,
    /// The last octets of its SHA-256.
    pub message: crate::types::HashedId8,
    /// Why.
    pub reason: SkipReason,
}

/// What was skipped: counts of all, the last ones themselves, and a hash over all of them in their order, by which a
/// log that was kept elsewhere can be checked against this one.
#[derive(Clone, Debug)]
pub struct Audit {
    counts: [u64; SkipReason::ALL.len()],
    last: std::collections::VecDeque<Skipped>,
    kept: usize,
    chain: [u8; 32],
}

impl Audit {
    /// Keeps the last `kept` messages.
    pub fn new(kept: usize) -> Self {
        Self { counts: [0; 5], last: std::collections::VecDeque::with_capacity(kept), kept, chain: [0; 32] }
    }

    /// Writes a skipped message down.
    pub fn record(&mut self, skipped: Skipped) {
        self.counts[skipped.reason as usize] += 1;
        self.chain = Sha256::new()
            .chain_update(self.chain)
            .chain_update(skipped.at_us.to_be_bytes())
            .chain_update(skipped.message.0)
            .chain_update([skipped.reason as u8])
            .finalize()
            .into();
        if self.kept == 0 {
            return;
        }
        if self.last.len() == self.kept {
            self.last.pop_front();
        }
        self.last.push_back(skipped);
    }

    /// How many were skipped for this reason.
    pub fn count(&self, reason: SkipReason) -> u64 {
        self.counts[reason as usize]
    }

    /// How many were skipped.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The last ones, the oldest first.
    pub fn last(&self) -> impl ExactSizeIterator<Item = &Skipped> {
        self.last.iter()
    }

    /// SHA-256 over the chain so far and each next one: time, message, reason.
    pub fn chain(&self) -> [u8; 32] {
        self.chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::HashedId8;

    const ANY: Relevance = Relevance { distance_m: None, time_to_collision_ms: None, is_demanded: false };

    fn verified(policy: DemandPolicy, count: u64, relevance: impl Fn(u64) -> Relevance) -> Vec<u64> {
        let mut demand = Demand::new(policy);
        // 10 a second.
        (0..count).filter(|number| demand.decide(number * 100_000, &relevance(*number)).is_ok()).collect()
    }

    #[test]
    fn sampling_takes_one_of_each_so_many() {
        assert_eq!(verified(DemandPolicy::Sampling { one_of: 4 }, 12, |_| ANY), [0, 4, 8]);
        assert_eq!(verified(DemandPolicy::Sampling { one_of: 0 }, 3, |_| ANY), [0, 1, 2]);
        assert_eq!(verified(DemandPolicy::Always, 3, |_| ANY), [0, 1, 2]);
    }

    #[test]
    fn a_threshold_counts_anew_each_second() {
        assert_eq!(verified(DemandPolicy::Threshold { per_second: 2 }, 22, |_| ANY), [0, 1, 10, 11, 20, 21]);
    }

    #[test]
    fn relevance_takes_the_near_the_coming_and_the_unknown() {
        let policy = DemandPolicy::Relevance { distance_m: 100, time_to_collision_ms: 3000 };
        let cases =
            [(Some(100), None), (Some(101), None), (Some(500), Some(3000)), (Some(500), Some(3001)), (None, None)];
        let relevance = |number: u64| {
            let (distance_m, time_to_collision_ms) = cases[number as usize];
            Relevance { distance_m, time_to_collision_ms, is_demanded: false }
        };
        assert_eq!(verified(policy, 5, relevance), [0, 2, 4]);
    }

    #[test]
    fn what_is_demanded_is_verified_under_every_policy() {
        let demanded = Relevance { is_demanded: true, distance_m: Some(9999), ..ANY };
        for policy in [
            DemandPolicy::OnDemand,
            DemandPolicy::Threshold { per_second: 0 },
            DemandPolicy::Sampling { one_of: 1000 },
            DemandPolicy::Relevance { distance_m: 0, time_to_collision_ms: 0 },
        ] {
            assert_eq!(verified(policy, 5, |_| demanded).len(), 5);
            assert!(verified(policy, 5, |_| Relevance { distance_m: Some(1), ..ANY }).len() <= 1);
        }
    }

    #[test]
    fn the_audit_counts_all_keeps_some_and_chains_all() {
        let skipped = |number: u64| Skipped {
            at_us: number,
            message: HashedId8([number as u8; 8]),
            reason: SkipReason::ALL[number as usize % 5],
        };
        let (mut audit, mut other) = (Audit::new(3), Audit::new(0));
        for number in 0..10 {
            audit.record(skipped(number));
            other.record(skipped(number));
        }
        assert_eq!((audit.total(), audit.count(SkipReason::Overload)), (10, 2));
        assert_eq!(audit.last().map(|one| one.at_us).collect::<Vec<_>>(), [7, 8, 9]);
        assert_eq!(audit.chain(), other.chain());
        other.record(skipped(3));
        assert_ne!(audit.chain(), other.chain());
    }
}
