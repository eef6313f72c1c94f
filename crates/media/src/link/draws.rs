//! What chance has in store for a packet.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{Duration, NodeId, StreamId};

use super::config::{LinkConfig, LinkLaws, Loss};
use super::name::Name;

/// What becomes of a packet on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fate {
    /// It never comes.
    pub is_lost: bool,
    /// What it takes.
    pub delay: Duration,
    /// What a second copy of it takes, if there is one.
    pub copy: Option<Duration>,
    /// The bit that comes altered, as a part of all of its bits: `bits / 2^64`.
    pub altered: Option<u64>,
}

/// The draws of one sender.
pub(super) struct Draws {
    rng: ChaCha8Rng,
    laws: LinkLaws,
    /// By stream, of a channel that has a state: whether it is bad.
    channels: BTreeMap<StreamId, bool>,
}

/// Words of 32 bits in a block of the generator, which is what a packet has.
const WORDS: u128 = 16;

impl Draws {
    pub(super) fn new(config: &LinkConfig, sender: NodeId) -> Self {
        let index = 1 << 48 | u64::from(config.number) << 16 | u64::from(sender.0);
        Self {
            rng: random::stream(config.seed, Purpose::Medium, index),
            laws: config.laws.clone(),
            channels: BTreeMap::new(),
        }
    }

    /// What becomes of a packet: the same each time for the same name, but for channels with a state, which go on with each packet.
    pub(super) fn fate(&mut self, name: Name) -> Fate {
        // A generator that counts blocks: each packet has one of its own, wherever the others are.
        self.rng.set_stream(u64::from(name.stream.0) << 32 | u64::from(name.fragment));
        self.rng.set_word_pos(u128::from(name.sequence) * WORDS);
        let [loss, change, duplicate, corrupt, delay, copy, bit] = std::array::from_fn(|_| self.rng.next_u64());
        Fate {
            is_lost: self.loses(name.stream, loss, change),
            delay: self.laws.delay.at(delay),
            copy: is_within(duplicate, self.laws.duplicate).then(|| self.laws.delay.at(copy)),
            altered: is_within(corrupt, self.laws.corrupt).then_some(bit),
        }
    }

    fn loses(&mut self, stream: StreamId, loss: u64, change: u64) -> bool {
        match self.laws.loss {
            Loss::Independent(share) => is_within(loss, share),
            Loss::GilbertElliott { to_bad, to_good, good, bad } => {
                let is_bad = self.channels.entry(stream).or_default();
                let is_lost = is_within(loss, if *is_bad { bad } else { good });
                *is_bad ^= is_within(change, if *is_bad { to_good } else { to_bad });
                is_lost
            }
        }
    }
}

/// True with this probability.
fn is_within(bits: u64, probability: f64) -> bool {
    // 2^-53 of the upper bits, exactly.
    ((bits >> 11) as f64) * (1.0 / 9_007_199_254_740_992.0) < probability
}
