//! What all nodes of a network agree on, and how long they wait.

use chronoseal_core::{Duration, LocalTime, PortId};

use crate::profile::{FailedRemoval, Installation, Monitoring, OrchestrationSigning, Profile, Transport};
use crate::text::Stamp;

/// Settings of a node. [`Settings::new`] has values that suit the slowest published platform.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much the messages bind.
    pub profile: Profile,
    /// What carries them.
    pub transport: Transport,
    /// When a new key is taken into use.
    pub installation: Installation,
    /// What becomes of the key in use when a removal fails.
    pub failed_removal: FailedRemoval,
    /// When the orchestrator signs.
    pub signing: OrchestrationSigning,
    /// Which exchanges the orchestrator follows.
    pub monitoring: Monitoring,
    /// Pairs the orchestrator forms at once. The source has one: the orchestrator takes part in each.
    pub pairs_at_once: u8,
    /// The orchestrator repeats a request when its exchange has not ended by then; a member gives up after twice this.
    pub exchange_timeout: Duration,
    /// How often a request, and a member's word that it holds the key, are repeated.
    pub retries_max: u8,
    /// A run without step-by-step requests has to end by then. Where a failed removal closes the group, a member that was
    /// asked to take part in one gives the key in use up if it has no new one by then.
    pub run_timeout: Duration,
    /// As published: the length of one timestamp's time. A request is signed over the number of the granule of common
    /// time and accepted in that granule, the next two, and one granule early.
    pub granule: Duration,
    /// Hardened: a request is accepted until it is this old.
    pub age_max: Duration,
    /// Hardened: a request is accepted if it seems to come from at most this far in the future.
    pub skew_max: Duration,
    /// The port to the bus.
    pub port: PortId,
}

impl Settings {
    /// One second for an exchange, two repetitions, 30 s for a run, granules of one second, requests of up to 5 s;
    /// confirmed installation, a signature per step, one path monitored; the key in use stays when a removal fails.
    pub const fn new(profile: Profile, transport: Transport) -> Self {
        Self {
            profile,
            transport,
            installation: Installation::Confirmed,
            failed_removal: FailedRemoval::Available,
            signing: OrchestrationSigning::PerStep,
            monitoring: Monitoring::Path,
            pairs_at_once: 1,
            exchange_timeout: Duration::from_s(1),
            retries_max: 2,
            run_timeout: Duration::from_s(30),
            granule: Duration::from_s(1),
            age_max: Duration::from_s(5),
            skew_max: Duration::from_ms(100),
            port: PortId(0),
        }
    }

    /// The timestamp of now, as published. It begins with 1: 0 is before all time.
    pub(crate) fn granule_of(&self, now: LocalTime) -> u32 {
        (now.since_zero().div_floor(self.granule) + 1).clamp(1, i64::from(u32::MAX)) as u32
    }

    /// Timestamps that a request received at `rx_at` may bear, the likeliest first, without those refused already.
    pub(crate) fn candidates(&self, rx_at: LocalTime, running: u32, accepted: u32) -> Candidates {
        let granule = self.granule_of(rx_at);
        let epochs = [running, granule, granule.saturating_sub(1), granule + 1, granule.saturating_sub(2)];
        let mut candidates = Candidates::default();
        for epoch in epochs {
            let is_known = candidates.epochs[..usize::from(candidates.len)].contains(&epoch);
            if epoch > accepted && epoch >= running && !is_known {
                candidates.epochs[usize::from(candidates.len)] = epoch;
                candidates.len += 1;
            }
        }
        candidates
    }

    /// How the hardened profile's time of signing lies to the time of reception.
    pub(crate) fn is_timely(&self, stamp: Stamp, rx_at: LocalTime) -> bool {
        let age_ms = i64::from(time_ms(rx_at).wrapping_sub(stamp.time_ms) as i32);
        let age = Duration::from_ms(age_ms);
        age <= self.age_max && -age <= self.skew_max
    }
}

/// Common time `[ms]`, modulo 2^32.
pub(crate) const fn time_ms(now: LocalTime) -> u32 {
    (now.since_zero().as_ps() / 1_000_000_000) as u32
}

/// Epochs to try, in order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Candidates {
    epochs: [u32; 5],
    len: u8,
    next: u8,
}

impl Candidates {
    pub(crate) const fn only(epoch: u32) -> Self {
        Self { epochs: [epoch, 0, 0, 0, 0], len: 1, next: 0 }
    }
}

impl Iterator for Candidates {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let epoch = (self.next < self.len).then(|| self.epochs[usize::from(self.next)])?;
        self.next += 1;
        Some(epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn tries_the_running_epoch_first_and_none_twice() {
        let settings = Settings::new(Profile::AsPublished, Transport::Fd);
        let tried = |rx_at, running, accepted| settings.candidates(rx_at, running, accepted).collect::<Vec<_>>();
        assert_eq!(tried(at(5500), 0, 0), [6, 5, 7, 4]);
        assert_eq!(tried(at(5500), 5, 0), [5, 6, 7]);
        assert_eq!(tried(at(5500), 6, 0), [6, 7]);
        assert_eq!(tried(at(5500), 5, 5), [6, 7]);
        assert_eq!(tried(at(5500), 7, 7), []);
        assert_eq!(tried(at(0), 0, 0), [1, 2]);
    }

    #[test]
    fn a_time_of_signing_counts_within_its_window_and_over_the_wrap() {
        let settings = Settings::new(Profile::Hardened, Transport::Fd);
        let timely =
            |signed: i64, heard: i64| settings.is_timely(Stamp { epoch: 1, time_ms: time_ms(at(signed)) }, at(heard));
        assert!(timely(1000, 1000) && timely(1000, 6000) && timely(1100, 1000));
        assert!(!timely(1000, 6001) && !timely(1101, 1000));
        let wrap = 1i64 << 32;
        assert!(timely(wrap - 1000, wrap + 1000));
        assert!(!timely(wrap - 1000, wrap + 5000));
    }
}
