//! What a group key exchange on a CAN bus takes, by the closed forms of the source work.
//!
//! Nothing is executed here and no frame is timed: costs and frame times go in, durations come out. Whole picoseconds
//! throughout.
//!
//! # Source
//! Musuroi, Groza, Popa, Murvay, "Fast and Efficient Group Key Exchange in Controller Area Networks (CAN)", IEEE
//! Transactions on Vehicular Technology, 2021; section V, figures 13 and 15.

use chronoseal_core::Duration;
pub use chronoseal_groupkey::Scheme;
pub use chronoseal_groupkey::frame_count::exchanges;

/// What one exchange costs one of its two parties: the computing steps of figure 4, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartyCosts {
    /// Step 1: verify the orchestrator's signature.
    pub verify_orchestration: Duration,
    /// Step 2: make the share.
    pub share: Duration,
    /// Step 4a: extract the secret.
    pub agree: Duration,
    /// Step 4b: sign both shares.
    pub sign: Duration,
    /// Step 4c: encrypt the signature.
    pub encrypt: Duration,
    /// Step 6a: decrypt the peer's.
    pub decrypt: Duration,
    /// Step 6b: verify it.
    pub verify_confirmation: Duration,
}

impl PartyCosts {
    /// Computing before the shares are sent: `T_ECU(1)`.
    pub fn stage_1(&self) -> Duration {
        self.verify_orchestration + self.share
    }
    /// Computing before the confirmations are sent: `T_ECU(2)`.
    pub fn stage_2(&self) -> Duration {
        self.agree + self.sign + self.encrypt
    }
    /// Computing after the confirmations: `T_ECU(3)`.
    pub fn stage_3(&self) -> Duration {
        self.decrypt + self.verify_confirmation
    }
    /// All three: `T_ECU(1:3)`.
    pub fn total(&self) -> Duration {
        self.stage_1() + self.stage_2() + self.stage_3()
    }

    /// The slower party in each step, as the source adds up two unlike ones.
    pub fn slower(&self, other: &Self) -> Self {
        Self {
            verify_orchestration: self.verify_orchestration.max(other.verify_orchestration),
            share: self.share.max(other.share),
            agree: self.agree.max(other.agree),
            sign: self.sign.max(other.sign),
            encrypt: self.encrypt.max(other.encrypt),
            decrypt: self.decrypt.max(other.decrypt),
            verify_confirmation: self.verify_confirmation.max(other.verify_confirmation),
        }
    }
}

/// What one message takes on the bus, all its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BusCosts {
    /// A share: `T_snd32`.
    pub send_share: Duration,
    /// A confirmation or an orchestration: `T_snd64`.
    pub send_signature: Duration,
}

impl BusCosts {
    /// Two shares and two confirmations: `T_BUS(1:2)`.
    pub fn exchange(&self) -> Duration {
        (self.send_share + self.send_signature) * 2
    }
}

/// One exchange of two parties: `T_kex`. `costs` are those of the slower party in each step.
pub fn exchange(costs: &PartyCosts, bus: &BusCosts) -> Duration {
    costs.total() + bus.exchange()
}

/// When the first of two unlike parties has the key: both wait for the slower one at the end of stages 1 and 2 (that
/// is when frames arrive), and each ends stage 3 by itself.
pub fn exchange_at(own: &PartyCosts, peer: &PartyCosts, bus: &BusCosts) -> Duration {
    own.stage_1().max(peer.stage_1()) + own.stage_2().max(peer.stage_2()) + bus.exchange() + own.stage_3()
}

/// As [`exchange_at`], where the faster party's frame is on the bus while the slower one still computes, as a barrier
/// of two parties and one bus have it; the source adds both frames behind the slower one.
pub fn exchange_overlapping(own: &PartyCosts, peer: &PartyCosts, bus: &BusCosts) -> Duration {
    let both_out = |own: Duration, peer: Duration, frame: Duration| (own.min(peer) + frame).max(own.max(peer)) + frame;
    both_out(own.stage_1(), peer.stage_1(), bus.send_share)
        + both_out(own.stage_2(), peer.stage_2(), bus.send_signature)
        + own.stage_3()
}

/// A group of `n` units without the orchestrator's signing: the `T_gkex` of a scheme.
///
/// Logarithms are rounded up to whole levels. The source says so for its first scheme; the 0.17 s it quotes for the
/// second need it there too.
pub fn group(scheme: Scheme, n: u32, costs: &PartyCosts, bus: &BusCosts) -> Duration {
    let n_times = i64::from(n);
    match scheme {
        Scheme::FullTree => costs.total() * (n_times + levels(n)) + bus.exchange() * (2 * n_times - 1),
        Scheme::WithoutOrchestrator => costs.total() * levels(n + 1) + bus.exchange() * n_times,
        Scheme::Symmetric => {
            (costs.total() + bus.exchange()) * n_times
                + costs.sign
                + costs.encrypt * n_times
                + bus.exchange() / 2 * n_times
                + costs.stage_3()
        }
    }
}

/// The orchestrator signs and sends one message for each exchange: the `T_SoECU` of a scheme.
pub fn orchestration(scheme: Scheme, n: u32, sign: Duration, bus: &BusCosts) -> Duration {
    (sign + bus.send_signature) * i64::from(exchanges(scheme, n))
}

/// Time on the bus alone, orchestration included.
pub fn bus_time(scheme: Scheme, n: u32, bus: &BusCosts) -> Duration {
    let exchanged = (bus.exchange() + bus.send_signature) * i64::from(exchanges(scheme, n));
    match scheme {
        Scheme::FullTree | Scheme::WithoutOrchestrator => exchanged,
        Scheme::Symmetric => exchanged + bus.exchange() / 2 * i64::from(n),
    }
}

/// Levels of a binary tree over `leaves`: the logarithm to base 2, rounded up.
fn levels(leaves: u32) -> i64 {
    i64::from(leaves.max(1).next_power_of_two().trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    fn ms(count: i64) -> Duration {
        Duration::from_ms(count)
    }

    /// Every step takes this long.
    fn party(step: Duration) -> PartyCosts {
        PartyCosts {
            verify_orchestration: step,
            share: step,
            agree: step,
            sign: step,
            encrypt: step,
            decrypt: step,
            verify_confirmation: step,
        }
    }

    const BUS: BusCosts = BusCosts { send_share: Duration::from_ms(1), send_signature: Duration::from_ms(2) };

    #[test]
    fn parties_wait_for_the_slower_one_and_frames_may_pass_meanwhile() {
        let (own, peer) = (party(ms(1)), party(ms(2)));
        assert_eq!(exchange(&own, &BUS), ms(7 + 6));
        assert_eq!(exchange(&own.slower(&peer), &BUS), ms(14 + 6));
        assert_eq!(exchange_at(&own, &peer, &BUS), ms(4 + 6 + 6 + 2));
        assert_eq!(exchange_overlapping(&own, &peer, &BUS), ms(5 + 8 + 2));
    }

    #[test]
    fn a_group_of_two_adds_up_as_by_hand() {
        let costs = party(ms(1));
        assert_eq!(group(Scheme::FullTree, 2, &costs, &BUS), ms(7 * 3 + 6 * 3));
        assert_eq!(group(Scheme::WithoutOrchestrator, 2, &costs, &BUS), ms(7 * 2 + 6 * 2));
        assert_eq!(group(Scheme::Symmetric, 2, &costs, &BUS), ms((7 + 6) * 2 + 1 + 2 + 3 * 2 + 2));
        assert_eq!(orchestration(Scheme::FullTree, 2, costs.sign, &BUS), ms((1 + 2) * 3));
        assert_eq!(bus_time(Scheme::WithoutOrchestrator, 2, &BUS), ms((6 + 2) * 2));
        assert_eq!(bus_time(Scheme::Symmetric, 2, &BUS), ms((6 + 2) * 2 + 3 * 2));
    }

    #[test]
    fn levels_round_up() {
        assert_eq!([1, 2, 3, 4, 5, 32, 33].map(levels), [0, 1, 2, 2, 3, 5, 6]);
    }
}
