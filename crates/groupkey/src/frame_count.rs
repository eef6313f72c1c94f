//! How many frames each part of the protocol takes: constants of profile, transport and suite.
//!
//! The protocol, executed, is held against these in the tests.

use crate::identifier::Step;
use crate::membership::MEMBERSHIP_LEN;
use crate::profile::{Profile, Scheme, Transport};
use chronoseal_crypto::suite::SIGNATURE_LEN;

/// Length of the explicit freshness value of the hardened profile: epoch and time, 4 bytes each `[byte]`.
pub const FRESHNESS_LEN: usize = 8;
/// Length of every tag `[byte]`.
pub const TAG_LEN: usize = 16;
/// Length of the master secret key as sent `[byte]`.
pub const MASTER_SECRET_LEN: usize = 32;
/// Length of a report that an exchange was aborted: reason, stage, reporter `[byte]`.
pub const ABORT_LEN: usize = 3;

/// Length of an orchestration message, a start, a direct assignment, and a withdrawal `[byte]`: a signature, and in the hardened
/// profile a freshness value and who is in the group before it.
pub const fn orchestration_len(profile: Profile) -> usize {
    match profile {
        Profile::AsPublished => SIGNATURE_LEN,
        Profile::Hardened => FRESHNESS_LEN + MEMBERSHIP_LEN + SIGNATURE_LEN,
    }
}

/// Length of a commit `[byte]`: a signature, and in the hardened profile a freshness value before it.
pub const fn commit_len(profile: Profile) -> usize {
    match profile {
        Profile::AsPublished => SIGNATURE_LEN,
        Profile::Hardened => FRESHNESS_LEN + SIGNATURE_LEN,
    }
}

/// Length of a confirmation: an encrypted signature, and in the hardened profile its tag `[byte]`.
pub const fn confirmation_len(profile: Profile) -> usize {
    match profile {
        Profile::AsPublished => SIGNATURE_LEN,
        Profile::Hardened => SIGNATURE_LEN + TAG_LEN,
    }
}

/// Length of what the symmetric scheme sends each node, in parts that are sent one after the other `[byte]`: the
/// encrypted master secret, and the encrypted signature. The hardened profile puts a freshness value before and a tag
/// behind them and sends one message.
pub const fn distribution_len(profile: Profile) -> usize {
    match profile {
        Profile::AsPublished => MASTER_SECRET_LEN + SIGNATURE_LEN,
        Profile::Hardened => FRESHNESS_LEN + MASTER_SECRET_LEN + SIGNATURE_LEN + TAG_LEN,
    }
}

/// Length of a message by its step `[byte]`, where a share has `share_len`.
pub const fn message_len(step: Step, profile: Profile, share_len: usize) -> usize {
    match step {
        Step::Orchestration | Step::Start | Step::DirectAssignment | Step::Withdrawal => orchestration_len(profile),
        Step::Commit => commit_len(profile),
        Step::ShareFirst | Step::ShareSecond => share_len,
        Step::ConfirmationFirst | Step::ConfirmationSecond => confirmation_len(profile),
        Step::Distribution => distribution_len(profile),
        Step::Ready => TAG_LEN,
        Step::Abort => ABORT_LEN,
    }
}

/// Frames a message of `len` bytes takes.
pub const fn frames_of(len: usize, transport: Transport) -> u32 {
    len.div_ceil(transport.data_len_max()) as u32
}

/// Frames of a key exchange between two parties with shares of `share_len` bytes, its orchestration included.
///
/// As published 5 on CAN FD; 32 on classical CAN with shares of 32 bytes, 34 with those of P-256.
pub const fn frames_of_exchange(profile: Profile, transport: Transport, share_len: usize) -> u32 {
    frames_of(orchestration_len(profile), transport) + frames_of_unordered_exchange(profile, transport, share_len)
}

/// Frames of a key exchange that needs no orchestration message of its own.
pub const fn frames_of_unordered_exchange(profile: Profile, transport: Transport, share_len: usize) -> u32 {
    2 * frames_of(share_len, transport) + 2 * frames_of(confirmation_len(profile), transport)
}

/// Key exchanges among `n` ECUs, the orchestrator not counted: `2n - 1`, `n` or `n`.
pub const fn exchanges(scheme: Scheme, n: u32) -> u32 {
    match scheme {
        Scheme::FullTree => 2 * n - 1,
        Scheme::WithoutOrchestrator | Scheme::Symmetric => n,
    }
}

/// Frames until `n` ECUs and the orchestrator hold a group key, each exchange orchestrated by a message of its own, no
/// direct assignments, group confirmation not counted ([`frames_of_group_confirmation`]).
///
/// As published at n = 32 with shares of 32 bytes: 315, 160, 224 on CAN FD, 2016, 1024, 1408 on classical CAN.
pub const fn frames_of_group(scheme: Scheme, profile: Profile, transport: Transport, share_len: usize, n: u32) -> u32 {
    let exchanges = exchanges(scheme, n) * frames_of_exchange(profile, transport, share_len);
    match scheme {
        Scheme::FullTree | Scheme::WithoutOrchestrator => exchanges,
        Scheme::Symmetric => exchanges + n * frames_of(distribution_len(profile), transport),
    }
}

/// Frames of the group confirmation: a tag from each of `n` ECUs and the orchestrator's signed commit.
pub const fn frames_of_group_confirmation(profile: Profile, transport: Transport, n: u32) -> u32 {
    n * frames_of(TAG_LEN, transport) + frames_of(commit_len(profile), transport)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile::{AsPublished, Hardened};
    use crate::profile::Scheme::{FullTree, Symmetric, WithoutOrchestrator};
    use crate::profile::Transport::{Classical, Fd};

    #[test]
    fn the_printed_counts_at_32() {
        let count = |scheme, transport| frames_of_group(scheme, AsPublished, transport, 32, 32);
        assert_eq!([FullTree, WithoutOrchestrator, Symmetric].map(|scheme| count(scheme, Fd)), [315, 160, 224]);
        assert_eq!([FullTree, WithoutOrchestrator, Symmetric].map(|s| count(s, Classical)), [2016, 1024, 1408]);
        for n in 2..=85 {
            let count = |scheme, transport| frames_of_group(scheme, AsPublished, transport, 32, n);
            assert_eq!([count(FullTree, Fd), count(FullTree, Classical)], [10 * n - 5, 64 * n - 32]);
            assert_eq!([count(WithoutOrchestrator, Fd), count(WithoutOrchestrator, Classical)], [5 * n, 32 * n]);
            assert_eq!([count(Symmetric, Fd), count(Symmetric, Classical)], [7 * n, 44 * n]);
        }
    }

    #[test]
    fn an_exchange_of_each_profile() {
        assert_eq!([Fd, Classical].map(|bus| frames_of_exchange(AsPublished, bus, 32)), [5, 32]);
        assert_eq!([Fd, Classical].map(|bus| frames_of_exchange(AsPublished, bus, 33)), [5, 34]);
        // 88 bytes are 2 frames or 11, 80 bytes 2 or 10.
        assert_eq!([Fd, Classical].map(|bus| frames_of_exchange(Hardened, bus, 32)), [8, 39]);
        assert_eq!([Fd, Classical].map(|bus| frames_of(distribution_len(Hardened), bus)), [2, 15]);
    }
}
