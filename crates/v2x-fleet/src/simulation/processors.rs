//! What signing and checking would have taken on processors of given speed.
//!
//! Each vehicle has one processor, which does one thing after the other. Signatures are never dropped. The load changes
//! nothing on the air: a CAM goes out when it is due, and how late it would have been is counted here.

use chronoseal_core::{Duration, SimTime};

use super::config::Platform;

/// The load of one platform, all vehicles together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProcessorLoad {
    /// Which platform.
    pub platform: String,
    /// Signatures made.
    pub signed: u64,
    /// Messages checked.
    pub verified: u64,
    /// Messages dropped, because they would have waited too long.
    pub dropped: u64,
    /// Time spent.
    pub busy: Duration,
    /// Longest wait of a message before its check began.
    pub wait_max: Duration,
    /// Longest wait of a CAM before its signature began.
    pub sign_wait_max: Duration,
}

/// Processors of all vehicles on all platforms.
pub(super) struct Processors {
    platforms: Vec<(Platform, ProcessorLoad, Vec<SimTime>)>,
}

impl Processors {
    pub(super) fn new(platforms: &[Platform], vehicles: usize) -> Self {
        let load = |platform: &Platform| ProcessorLoad { platform: platform.name.clone(), ..ProcessorLoad::default() };
        let each = |platform: &Platform| (platform.clone(), load(platform), vec![SimTime::ZERO; vehicles]);
        Self { platforms: platforms.iter().map(each).collect() }
    }

    /// A vehicle signs a message.
    pub(super) fn sign(&mut self, now: SimTime, vehicle: usize) {
        for (platform, load, free_at) in &mut self.platforms {
            let begins_at = free_at[vehicle].max(now);
            free_at[vehicle] = begins_at + platform.sign;
            load.signed += 1;
            load.busy += platform.sign;
            load.sign_wait_max = load.sign_wait_max.max(begins_at - now);
        }
    }

    /// A vehicle checks a message, with as many signatures.
    pub(super) fn verify(&mut self, now: SimTime, vehicle: usize, signatures: u32) {
        for (platform, load, free_at) in &mut self.platforms {
            let begins_at = free_at[vehicle].max(now);
            let wait = begins_at - now;
            if wait > platform.backlog_max {
                load.dropped += 1;
                continue;
            }
            let work = platform.verify * i64::from(signatures);
            free_at[vehicle] = begins_at + work;
            load.verified += 1;
            load.busy += work;
            load.wait_max = load.wait_max.max(wait);
        }
    }

    pub(super) fn finish(&mut self) -> Vec<ProcessorLoad> {
        std::mem::take(&mut self.platforms).into_iter().map(|(_, load, _)| load).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_too_long_is_dropped() {
        let ms = Duration::from_ms;
        let platform = Platform { name: "slow".into(), sign: ms(30), verify: ms(40), backlog_max: ms(100) };
        let mut processors = Processors::new(&[platform], 2);
        let at = |t| SimTime::ZERO + ms(t);
        processors.sign(at(0), 0);
        for _ in 0..4 {
            // Waits of 30, 70 and 110 ms.
            processors.verify(at(0), 0, 1);
        }
        processors.verify(at(200), 0, 2);
        processors.verify(at(0), 1, 1);
        let load = &processors.finish()[0];
        assert_eq!((load.signed, load.verified, load.dropped), (1, 4, 2));
        assert_eq!((load.busy, load.wait_max), (ms(30 + 5 * 40), ms(70)));
    }
}
