//! The shares of pairs, from which the symmetric scheme's key is derived as published.
//!
//! A member hears the exchanges of other pairs and does not verify them, so what it collects is a guess. It is put to the
//! proof when a master secret comes: the orchestrator has signed it together with the hash of the shares. Only what was
//! signed is kept as [settled](PairShares::settle), and no frame of anybody else takes it away again.

use chronoseal_crypto::suite::Share;

use crate::identifier::Side;
use crate::profile::MEMBERS_MAX;
use crate::text;

/// Most hashes that a master secret may have been signed with.
const GUESSES_MAX: usize = 3;

/// What was heard of the shares of pairs, by the pair's place in the roster.
pub(crate) struct PairShares {
    heard: [[Option<Share>; 2]; MEMBERS_MAX],
    /// Heard since the last master secret, whoever that was for.
    is_recent: [bool; MEMBERS_MAX],
    /// A master secret was on the bus: the next share begins a new collection.
    is_delivered: bool,
    /// This node has had a master secret that was signed with what is collected.
    is_settled: bool,
    /// The hash with which the last master secret was signed.
    settled: [u8; 32],
}

impl PairShares {
    pub(crate) const fn new() -> Self {
        Self {
            heard: [[None; 2]; MEMBERS_MAX],
            is_recent: [false; MEMBERS_MAX],
            is_delivered: false,
            is_settled: false,
            settled: [0; 32],
        }
    }

    /// A pair's share was heard, or sent.
    pub(crate) fn note(&mut self, position: usize, side: Side, share: Option<Share>) {
        if core::mem::take(&mut self.is_delivered) {
            self.is_recent = [false; MEMBERS_MAX];
        }
        if core::mem::take(&mut self.is_settled) {
            self.heard = [[None; 2]; MEMBERS_MAX];
        }
        self.heard[position][side.index()] = share;
        self.is_recent[position] = true;
    }

    /// A master secret was on the bus, for whomever: the next share belongs to the next one.
    pub(crate) const fn on_delivery(&mut self) {
        self.is_delivered = true;
    }

    /// The orchestrator has signed a master secret with this hash.
    pub(crate) const fn settle(&mut self, digest: [u8; 32]) {
        self.settled = digest;
        self.is_settled = true;
        self.is_delivered = true;
    }

    /// The shares of the pairs formed last, hashed in the order of the roster.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest_of(|position| self.is_recent[position])
    }

    fn digest_of(&self, counts: impl Fn(usize) -> bool) -> [u8; 32] {
        let mut digest = [0; 32];
        for (position, shares) in self.heard.iter().enumerate().filter(|(position, _)| counts(*position)) {
            if let [Some(first), Some(second)] = shares {
                let label = b"chronoseal/1 pair shares";
                digest = text::digest(label, [&digest[..], &[position as u8], first.as_bytes(), second.as_bytes()]);
            }
        }
        digest
    }

    /// The hashes that the next master secret may have been signed with, the likeliest first: that of the shares heard
    /// since the last one, that of the last one if no pair was formed since, and that of all shares if somebody only
    /// pretended that there was one between them.
    pub(crate) fn guesses(&self) -> Guesses {
        let mut guesses = Guesses { digests: [[0; 32]; GUESSES_MAX], len: 0 };
        for digest in [self.digest(), self.settled, self.digest_of(|_| true)] {
            if !guesses.digests[..guesses.len].contains(&digest) {
                guesses.digests[guesses.len] = digest;
                guesses.len += 1;
            }
        }
        guesses
    }
}

/// Hashes to try, in order.
#[derive(Clone, Copy)]
pub(crate) struct Guesses {
    digests: [[u8; 32]; GUESSES_MAX],
    len: usize,
}

impl Guesses {
    pub(crate) fn get(&self, index: usize) -> Option<[u8; 32]> {
        self.digests[..self.len].get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(shares: &mut PairShares, positions: &[usize], seed: u8) {
        for &position in positions {
            for side in [Side::First, Side::Second] {
                shares.note(position, side, Share::new(&[seed + side as u8; 32]));
            }
        }
    }

    fn of(positions: &[usize], seed: u8) -> [u8; 32] {
        let mut shares = PairShares::new();
        noted(&mut shares, positions, seed);
        shares.digest()
    }

    #[test]
    fn a_pair_counts_when_both_its_shares_are_there() {
        let mut shares = PairShares::new();
        shares.note(3, Side::First, Share::new(&[1; 32]));
        assert_eq!(shares.digest(), PairShares::new().digest());
        shares.note(3, Side::Second, Share::new(&[2; 32]));
        assert_ne!(shares.digest(), PairShares::new().digest());
    }

    #[test]
    fn the_first_guess_is_what_came_since_the_last_master_secret() {
        let mut shares = PairShares::new();
        noted(&mut shares, &[0, 1], 1);
        let first = shares.digest();
        assert_eq!(shares.guesses().get(0), Some(first));
        shares.settle(first);
        // Nobody's share has changed: the next master secret is signed with the same hash.
        assert_eq!((shares.guesses().get(0), shares.guesses().get(1)), (Some(first), None));
        noted(&mut shares, &[1], 5);
        assert_eq!(shares.guesses().get(0), Some(of(&[1], 5)));
    }

    #[test]
    fn what_was_signed_outlives_whatever_is_heard_later() {
        let mut shares = PairShares::new();
        noted(&mut shares, &[0, 1], 1);
        let signed = shares.digest();
        shares.settle(signed);
        noted(&mut shares, &[0], 9);
        shares.on_delivery();
        noted(&mut shares, &[1], 9);
        assert!((0..3).any(|index| shares.guesses().get(index) == Some(signed)));
    }

    #[test]
    fn a_master_secret_that_never_was_divides_no_collection() {
        let mut shares = PairShares::new();
        noted(&mut shares, &[0], 1);
        shares.on_delivery();
        noted(&mut shares, &[1], 1);
        assert_eq!(shares.guesses().get(0), Some(of(&[1], 1)));
        assert!((0..3).any(|index| shares.guesses().get(index) == Some(of(&[0, 1], 1))));
    }
}
