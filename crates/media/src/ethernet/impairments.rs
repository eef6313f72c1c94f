//! Links that fail, and links over which frames are lost.

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{DiscardReason, SimTime};

use super::config::NetworkConfig;

/// What can happen to a frame on its link.
pub(super) struct Impairments {
    /// By link: from when on a frame over it may be lost.
    from: Vec<SimTime>,
    /// By link: from when on it is down.
    down_from: Vec<SimTime>,
    /// By line, if frames are lost on any: whether they are on this one.
    losses: Vec<Option<Loss>>,
}

/// How frames are lost on one line.
struct Loss {
    /// A frame is lost if the number that is drawn for it, of 64 bits, is below this one.
    below: u64,
    rng: ChaCha8Rng,
}

/// Numbers of generators of lines begin here; those below are of switches.
const FIRST_LINE: u64 = 1 << 32;

impl Impairments {
    pub(super) fn new(config: &NetworkConfig) -> Self {
        let links = config.links.len();
        let mut down_from = vec![SimTime::MAX; links];
        for failure in &config.failures {
            let known = &mut down_from[failure.link];
            *known = failure.at.min(*known);
        }
        let mut from = down_from.clone();
        let mut losses: Vec<Option<Loss>> = Vec::new();
        for loss in &config.frame_losses {
            from[loss.link] = SimTime::ZERO;
            losses.resize_with(2 * links, || None);
            for line in [2 * loss.link, 2 * loss.link + 1] {
                let rng = random::stream(config.seed, Purpose::Medium, FIRST_LINE + line as u64);
                // 2^64 times the ratio, which is at most 1; all but one frame in 2^64 are lost then.
                let below = (loss.ratio * 18_446_744_073_709_551_616.0) as u64;
                losses[line] = Some(Loss { below, rng });
            }
        }
        Self { from, down_from, losses }
    }

    /// By link: from when on it is down.
    pub(super) fn down_from(&self) -> &[SimTime] {
        &self.down_from
    }

    /// False if a frame whose last bit comes over a line at this time is not lost.
    #[inline(always)]
    pub(super) fn may_take(&self, line: usize, at: SimTime) -> bool {
        at >= self.from[line / 2]
    }

    /// Why a frame does not come over a line, whose last bit would be there now. To be asked once for each frame.
    #[cold]
    pub(super) fn take(&mut self, line: usize, now: SimTime) -> Option<DiscardReason> {
        if now >= self.down_from[line / 2] {
            return Some(DiscardReason::LinkDown);
        }
        let loss = self.losses.get_mut(line)?.as_mut()?;
        (loss.rng.next_u64() < loss.below).then_some(DiscardReason::FrameCheckError)
    }
}
