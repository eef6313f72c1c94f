//! Messages and the texts that are signed, as bounded byte strings.

use chronoseal_crypto::suite::Share;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::frame_count::FRESHNESS_LEN;
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::membership::Membership;
use crate::profile::Profile;

/// Length of the value that stands for a key in a commit's signature `[byte]`.
pub(crate) const KEY_CHECK_LEN: usize = 16;
/// Longest message and longest signed text `[byte]`.
pub(crate) const TEXT_LEN_MAX: usize = 128;

/// A short byte string, wiped when dropped: some hold what is going to be encrypted.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Text {
    bytes: [u8; TEXT_LEN_MAX],
    len: u8,
}

impl Text {
    pub(crate) const EMPTY: Self = Self { bytes: [0; TEXT_LEN_MAX], len: 0 };

    /// The parts one after the other. All texts of this crate are shorter than the limit.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut text = Self::EMPTY;
        for part in parts {
            text.push(part);
        }
        text
    }

    fn push(&mut self, part: &[u8]) {
        let start = usize::from(self.len);
        self.bytes[start..start + part.len()].copy_from_slice(part);
        self.len += part.len() as u8;
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.len)]
    }

    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    /// The `N` bytes from `start` on, if there are so many.
    pub(crate) fn array<const N: usize>(&self, start: usize) -> Option<[u8; N]> {
        self.as_bytes().get(start..start + N)?.try_into().ok()
    }

    /// Appends as much of `piece` as belongs to a message of `len` bytes.
    pub(crate) fn append(&mut self, piece: &[u8], len: usize) {
        let room = len.min(TEXT_LEN_MAX) - self.len();
        self.push(&piece[..piece.len().min(room)]);
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// When the orchestrator asked for something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Stamp {
    /// Increases with every run and every repetition. As published it is the timestamp itself: the number of the
    /// granule of common time; it is signed but not sent. The hardened profile sends it.
    pub epoch: u32,
    /// Common time of signing, of the hardened profile `[ms]`, modulo 2^32.
    pub time_ms: u32,
}

impl Stamp {
    /// As sent in the hardened profile.
    pub(crate) fn to_bytes(self) -> [u8; FRESHNESS_LEN] {
        (u64::from(self.epoch) << 32 | u64::from(self.time_ms)).to_be_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; FRESHNESS_LEN]) -> Self {
        let value = u64::from_be_bytes(bytes);
        Self { epoch: (value >> 32) as u32, time_ms: value as u32 }
    }
}

/// What an orchestrator's message is about besides identifier and time. As published nothing says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// A request: who is in the group. It is sent.
    Group(Membership),
    /// A commit: a value that whoever holds the key computes. It is not sent.
    Key([u8; KEY_CHECK_LEN]),
}

/// What the orchestrator signs to request, start, assign or commit: the identifier and a timestamp.
///
/// Hardened: what it is for, the suite, and who is in the group or which key is meant, besides.
pub(crate) fn orchestrator_text(
    profile: Profile,
    suite: &str,
    identifier: Identifier,
    stamp: Stamp,
    about: About,
) -> Text {
    let id = identifier.can_id().raw().to_be_bytes();
    let bound = match about {
        About::Group(membership) => membership.to_bytes(),
        About::Key(check) => check,
    };
    match profile {
        Profile::AsPublished => Text::of(&[&id, &u64::from(stamp.epoch).to_be_bytes()]),
        Profile::Hardened => {
            let label = b"chronoseal/1 orchestrator";
            Text::of(&[label, suite.as_bytes(), &id, &stamp.to_bytes(), &bound])
        }
    }
}

/// Who is in the group, as a request says it; as published none does.
pub(crate) fn membership_of(profile: Profile, request: &Text) -> Option<Membership> {
    match profile {
        Profile::AsPublished => None,
        Profile::Hardened => request.array(FRESHNESS_LEN).map(Membership::from_bytes),
    }
}

/// All that an exchange is about, hashed: what hardened signatures and keys are bound to.
pub(crate) fn transcript(
    suite: &str,
    exchange: ExchangeId,
    stamp: Stamp,
    acting: [Address; 2],
    shares: [&Share; 2],
) -> [u8; 32] {
    let parts: [&[u8]; 6] = [
        suite.as_bytes(),
        &exchange.message(Step::Orchestration).can_id().raw().to_be_bytes(),
        &stamp.to_bytes(),
        &[acting[0].0, acting[1].0],
        shares[0].as_bytes(),
        shares[1].as_bytes(),
    ];
    digest(b"chronoseal/1 transcript", &parts)
}

/// SHA-256 of a label and parts, each with its length before it.
pub(crate) fn digest(label: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in core::iter::once(&label).chain(parts) {
        hash.update([part.len() as u8]);
        hash.update(part);
    }
    hash.finalize().into()
}

/// What a side signs (step 4b): its share and the other's. Hardened: its role and the transcript.
pub(crate) fn confirmation_text(profile: Profile, side: Side, shares: [&Share; 2], transcript: &[u8; 32]) -> Text {
    match profile {
        Profile::AsPublished => Text::of(&[shares[side.index()].as_bytes(), shares[side.other().index()].as_bytes()]),
        Profile::Hardened => Text::of(&[b"chronoseal/1 confirmation", &[side as u8], transcript]),
    }
}

/// What the orchestrator signs over a master secret: the secret and the shares exchanged since the last one, hashed.
/// Hardened: what it is for, suite, secret, epoch and time. The shares are in the secret already.
pub(crate) fn master_secret_text(
    profile: Profile,
    suite: &str,
    secret: &[u8; 32],
    shares: &[u8; 32],
    stamp: Stamp,
) -> Text {
    match profile {
        Profile::AsPublished => Text::of(&[secret, shares]),
        Profile::Hardened => Text::of(&[b"chronoseal/1 master secret", suite.as_bytes(), secret, &stamp.to_bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCHANGE: ExchangeId = ExchangeId { first: Address(1), second: Address(2), result: Address(9) };

    fn share(byte: u8) -> Share {
        Share::new(&[byte; 32]).unwrap()
    }

    /// What the hardened profile's signatures and keys are bound to: a difference in any of it is a difference.
    #[test]
    fn a_transcript_differs_if_anything_does() {
        let stamp = Stamp { epoch: 7, time_ms: 1000 };
        let (one, two) = (share(1), share(2));
        let acting = [Address(1), Address(2)];
        let base = transcript("suite", EXCHANGE, stamp, acting, [&one, &two]);
        let others = [
            transcript("other", EXCHANGE, stamp, acting, [&one, &two]),
            transcript("suite", ExchangeId { first: Address(3), ..EXCHANGE }, stamp, acting, [&one, &two]),
            transcript("suite", ExchangeId { second: Address(3), ..EXCHANGE }, stamp, acting, [&one, &two]),
            transcript("suite", ExchangeId { result: Address(3), ..EXCHANGE }, stamp, acting, [&one, &two]),
            transcript("suite", EXCHANGE, Stamp { epoch: 8, ..stamp }, acting, [&one, &two]),
            transcript("suite", EXCHANGE, Stamp { time_ms: 1001, ..stamp }, acting, [&one, &two]),
            transcript("suite", EXCHANGE, stamp, [Address(4), Address(2)], [&one, &two]),
            transcript("suite", EXCHANGE, stamp, [Address(1), Address(4)], [&one, &two]),
            transcript("suite", EXCHANGE, stamp, acting, [&two, &one]),
            transcript("suite", EXCHANGE, stamp, acting, [&one, &share(3)]),
        ];
        assert!(others.iter().all(|other| *other != base));
    }

    #[test]
    fn a_confirmation_binds_the_role_in_both_profiles() {
        let (one, two) = (share(1), share(2));
        for profile in Profile::ALL {
            let signed = |side| confirmation_text(profile, side, [&one, &two], &[5; 32]);
            assert!(signed(Side::First) != signed(Side::Second));
        }
        // As published it is the two shares, one's own first, and nothing else.
        let signed = confirmation_text(Profile::AsPublished, Side::Second, [&one, &two], &[5; 32]);
        assert_eq!(signed.as_bytes(), [[2; 32], [1; 32]].concat());
    }

    #[test]
    fn a_request_binds_identifier_and_time_and_the_hardened_one_suite_and_purpose() {
        let identifier = EXCHANGE.message(Step::Orchestration);
        let stamp = Stamp { epoch: 7, time_ms: 1000 };
        let group = About::Group(Membership::NONE);
        let published = orchestrator_text(Profile::AsPublished, "suite", identifier, stamp, group);
        assert_eq!(published.as_bytes(), [&0x0101_0209u32.to_be_bytes()[..], &7u64.to_be_bytes()].concat());
        let hardened = |suite, identifier, stamp| orchestrator_text(Profile::Hardened, suite, identifier, stamp, group);
        let base = hardened("suite", identifier, stamp);
        assert!(hardened("other", identifier, stamp) != base);
        assert!(hardened("suite", EXCHANGE.message(Step::Commit), stamp) != base);
        assert!(hardened("suite", identifier, Stamp { time_ms: 1, ..stamp }) != base);
        let mut other = Membership::NONE;
        other.set(9, true);
        for about in [About::Group(other), About::Key([1; KEY_CHECK_LEN])] {
            assert!(orchestrator_text(Profile::Hardened, "suite", identifier, stamp, about) != base);
        }
        assert_eq!(Stamp::from_bytes(stamp.to_bytes()), stamp);
    }

    #[test]
    fn parts_of_a_digest_do_not_run_into_each_other() {
        assert_ne!(digest(b"label", &[b"ab", b"c"]), digest(b"label", &[b"a", b"bc"]));
        assert_ne!(digest(b"label", &[b"abc"]), digest(b"labe", &[b"labc"]));
    }

    /// The longest texts there are fit.
    #[test]
    fn every_text_fits() {
        let longest = crate::frame_count::distribution_len(Profile::Hardened);
        assert!(longest <= TEXT_LEN_MAX);
        let name = "x25519-ed25519-or-longer-still";
        let stamp = Stamp::default();
        let text =
            orchestrator_text(Profile::Hardened, name, EXCHANGE.message(Step::Commit), stamp, About::Key([0; 16]));
        assert!(text.len() < TEXT_LEN_MAX);
        assert!(master_secret_text(Profile::Hardened, name, &[0; 32], &[0; 32], stamp).len() < TEXT_LEN_MAX);
        let mut text = Text::of(&[&[1; 100]]);
        text.append(&[2; 64], 110);
        assert_eq!((text.len(), text.array::<1>(109), text.array::<1>(110)), (110, Some([2]), None));
    }
}
