//! What is signed, or tagged: one table, from which every such text is made.
//!
//! `formal/signed-fields.csv` says of each field which attack it stops, or why it is redundant; a test holds the two lists
//! against each other.

use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::membership::Membership;
use crate::profile::Profile;
use crate::text::{Stamp, Text, digest};
use chronoseal_crypto::suite::Share;

/// Length of the value that stands for a key in a commit's signature `[byte]`.
pub(crate) const KEY_CHECK_LEN: usize = 16;

/// Something that a text says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    /// What the text is for.
    Label,
    /// Curve, signature and hash.
    Suite,
    /// The message's identifier: step, operands, result.
    Identifier,
    /// The epoch; as published it is the timestamp.
    Epoch,
    /// Common time of signing.
    Time,
    /// Who is in the group.
    Membership,
    /// A value that only who holds the key can compute.
    KeyCheck,
    /// The side that speaks.
    Role,
    /// Who acts for the first operand.
    FirstActing,
    /// Who acts for the second operand.
    SecondActing,
    /// The first operand's share.
    FirstShare,
    /// The second operand's share.
    SecondShare,
    /// The hash of the transcript.
    Transcript,
    /// The speaker's own share.
    OwnShare,
    /// The other side's share.
    PeerShare,
    /// The master secret.
    Secret,
    /// The hash of the shares of the pairs.
    PairShares,
    /// Whom a delivery is for.
    Member,
    /// What is encrypted.
    Ciphertext,
}

impl Field {
    /// As in `formal/signed-fields.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Suite => "suite",
            Self::Identifier => "identifier",
            Self::Epoch => "epoch",
            Self::Time => "time",
            Self::Membership => "membership",
            Self::KeyCheck => "key-check",
            Self::Role => "role",
            Self::FirstActing => "first-acting",
            Self::SecondActing => "second-acting",
            Self::FirstShare => "first-share",
            Self::SecondShare => "second-share",
            Self::Transcript => "transcript",
            Self::OwnShare => "own-share",
            Self::PeerShare => "peer-share",
            Self::Secret => "secret",
            Self::PairShares => "pair-shares",
            Self::Member => "member",
            Self::Ciphertext => "ciphertext",
        }
    }
}

/// A text that is signed, tagged, or hashed into one that is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SignedText {
    /// The orchestrator requests an exchange, starts a run, assigns a secret, or gives the key up. Signed by it.
    Request,
    /// The orchestrator says that all hold the key. Signed by it.
    Commit,
    /// What an exchange is about; hashed.
    Transcript,
    /// Steps 5a and 5b. Signed by who acts for a side.
    Confirmation,
    /// The encrypted confirmation. Tagged under a key of the exchange.
    ConfirmationTag,
    /// The master secret of the symmetric scheme. Signed by the orchestrator.
    MasterSecret,
    /// The master secret, encrypted for one member. Tagged under a key of the pair's channel.
    Delivery,
    /// A member holds the new key. Tagged under a key that follows from it.
    Ready,
}

impl SignedText {
    /// Every text.
    pub const ALL: [Self; 8] = [
        Self::Request,
        Self::Commit,
        Self::Transcript,
        Self::Confirmation,
        Self::ConfirmationTag,
        Self::MasterSecret,
        Self::Delivery,
        Self::Ready,
    ];

    /// As in `formal/signed-fields.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Commit => "commit",
            Self::Transcript => "transcript",
            Self::Confirmation => "confirmation",
            Self::ConfirmationTag => "confirmation-tag",
            Self::MasterSecret => "master-secret",
            Self::Delivery => "delivery",
            Self::Ready => "ready",
        }
    }

    const fn label(self) -> &'static [u8] {
        match self {
            Self::Request | Self::Commit => b"chronoseal/1 orchestrator",
            Self::Transcript => b"chronoseal/1 transcript",
            Self::Confirmation => b"chronoseal/1 confirmation",
            Self::MasterSecret => b"chronoseal/1 master secret",
            Self::ConfirmationTag | Self::Delivery | Self::Ready => b"",
        }
    }

    /// What it says, in order. The parts matter where they are hashed: each has its length before it. A profile without
    /// such a text has none.
    pub const fn parts(self, profile: Profile) -> &'static [&'static [Field]] {
        use Field::*;
        match (profile, self) {
            (Profile::AsPublished, Self::Request | Self::Commit) => &[&[Identifier], &[Epoch]],
            (Profile::AsPublished, Self::Confirmation) => &[&[OwnShare], &[PeerShare]],
            (Profile::AsPublished, Self::MasterSecret) => &[&[Secret], &[PairShares]],
            (Profile::AsPublished, Self::Transcript | Self::ConfirmationTag | Self::Delivery) => &[],
            (Profile::Hardened, Self::Request) => &[&[Label], &[Suite], &[Identifier], &[Epoch, Time], &[Membership]],
            (Profile::Hardened, Self::Commit) => &[&[Label], &[Suite], &[Identifier], &[Epoch, Time], &[KeyCheck]],
            (Profile::Hardened, Self::Transcript) => &[
                &[Label],
                &[Suite],
                &[Identifier],
                &[Epoch, Time],
                &[FirstActing, SecondActing],
                &[FirstShare],
                &[SecondShare],
            ],
            (Profile::Hardened, Self::Confirmation) => &[&[Label], &[Role], &[Transcript]],
            (Profile::Hardened, Self::ConfirmationTag) => &[&[Role], &[Transcript], &[Ciphertext]],
            (Profile::Hardened, Self::MasterSecret) => &[&[Label], &[Suite], &[Secret], &[Epoch, Time]],
            (Profile::Hardened, Self::Delivery) => &[&[Member], &[Epoch, Time], &[Ciphertext]],
            (_, Self::Ready) => &[&[Identifier], &[Epoch]],
        }
    }

    /// The text that says these values; those that it does not say may be given too.
    fn of(self, profile: Profile, values: &[(Field, &[u8])]) -> Text {
        let mut text = Text::EMPTY;
        for field in self.parts(profile).iter().copied().flatten() {
            text.push(self.value(*field, values));
        }
        text
    }

    /// The hash of that text, with the length of each part before it.
    fn digest(self, profile: Profile, values: &[(Field, &[u8])]) -> [u8; 32] {
        let mut parts = [const { Text::EMPTY }; 8];
        let mut len = 0;
        for part in self.parts(profile).iter().filter(|part| **part != [Field::Label]) {
            part.iter().for_each(|field| parts[len].push(self.value(*field, values)));
            len += 1;
        }
        digest(self.label(), parts[..len].iter().map(Text::as_bytes))
    }

    fn value<'a>(self, field: Field, values: &[(Field, &'a [u8])]) -> &'a [u8] {
        if field == Field::Label {
            return self.label();
        }
        let known = values.iter().find(|(known, _)| *known == field);
        debug_assert!(known.is_some(), "{self:?} says {field:?}, and nobody gives it");
        known.map_or(&[], |(_, value)| value)
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

/// What the orchestrator signs to request, start, assign, commit or withdraw.
pub(crate) fn orchestrator_text(
    profile: Profile,
    suite: &str,
    identifier: Identifier,
    stamp: Stamp,
    about: About,
) -> Text {
    let (text, field, bound) = match about {
        About::Group(membership) => (SignedText::Request, Field::Membership, membership.to_bytes()),
        About::Key(check) => (SignedText::Commit, Field::KeyCheck, check),
    };
    let (published, [epoch, time]) = (u64::from(stamp.epoch).to_be_bytes(), stamp.parts());
    // As published the timestamp takes the place of both.
    let epoch = if profile == Profile::AsPublished { &published[..] } else { &epoch };
    let id = identifier.can_id().raw().to_be_bytes();
    let values: [(Field, &[u8]); 5] = [
        (Field::Suite, suite.as_bytes()),
        (Field::Identifier, &id),
        (Field::Epoch, epoch),
        (Field::Time, &time),
        (field, &bound),
    ];
    text.of(profile, &values)
}

/// All that an exchange is about, hashed: what hardened signatures and keys are bound to.
pub(crate) fn transcript(
    suite: &str,
    exchange: ExchangeId,
    stamp: Stamp,
    acting: [Address; 2],
    shares: [&Share; 2],
) -> [u8; 32] {
    let (id, [epoch, time]) = (exchange.message(Step::Orchestration).can_id().raw().to_be_bytes(), stamp.parts());
    let values: [(Field, &[u8]); 8] = [
        (Field::Suite, suite.as_bytes()),
        (Field::Identifier, &id),
        (Field::Epoch, &epoch),
        (Field::Time, &time),
        (Field::FirstActing, &[acting[0].0]),
        (Field::SecondActing, &[acting[1].0]),
        (Field::FirstShare, shares[0].as_bytes()),
        (Field::SecondShare, shares[1].as_bytes()),
    ];
    SignedText::Transcript.digest(Profile::Hardened, &values)
}

/// What a side signs (step 4b): its share and the other's. Hardened: its role and the transcript.
pub(crate) fn confirmation_text(profile: Profile, side: Side, shares: [&Share; 2], transcript: &[u8; 32]) -> Text {
    let values: [(Field, &[u8]); 4] = [
        (Field::Role, &[side as u8]),
        (Field::Transcript, transcript),
        (Field::OwnShare, shares[side.index()].as_bytes()),
        (Field::PeerShare, shares[side.other().index()].as_bytes()),
    ];
    SignedText::Confirmation.of(profile, &values)
}

/// What the tag of a hardened confirmation covers.
pub(crate) fn confirmation_tag_text(side: Side, transcript: &[u8; 32], ciphertext: &[u8]) -> Text {
    let values: [(Field, &[u8]); 3] =
        [(Field::Role, &[side as u8]), (Field::Transcript, transcript), (Field::Ciphertext, ciphertext)];
    SignedText::ConfirmationTag.of(Profile::Hardened, &values)
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
    let [epoch, time] = stamp.parts();
    let values: [(Field, &[u8]); 5] = [
        (Field::Suite, suite.as_bytes()),
        (Field::Secret, secret),
        (Field::PairShares, shares),
        (Field::Epoch, &epoch),
        (Field::Time, &time),
    ];
    SignedText::MasterSecret.of(profile, &values)
}

/// What the tag of a hardened delivery of the master secret covers.
pub(crate) fn delivery_text(member: Address, stamp: Stamp, ciphertext: &[u8]) -> Text {
    let [epoch, time] = stamp.parts();
    let values: [(Field, &[u8]); 4] =
        [(Field::Member, &[member.0]), (Field::Epoch, &epoch), (Field::Time, &time), (Field::Ciphertext, ciphertext)];
    SignedText::Delivery.of(Profile::Hardened, &values)
}

/// What a member's word that it holds a key is computed over.
pub(crate) fn ready_text(profile: Profile, identifier: Identifier, epoch: u32) -> Text {
    let id = identifier.can_id().raw().to_be_bytes();
    SignedText::Ready.of(profile, &[(Field::Identifier, &id), (Field::Epoch, &epoch.to_be_bytes())])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::text::TEXT_LEN_MAX;

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

    /// `formal/signed-fields.csv` is what the formal model says of each of them.
    #[test]
    fn the_formal_model_knows_every_field_that_is_signed_and_no_other() {
        let judged = include_str!("../../../formal/signed-fields.csv");
        let judged: BTreeSet<String> = judged
            .lines()
            .filter(|line| !line.starts_with('#'))
            .skip(1)
            .map(|line| line.splitn(4, ',').take(3).collect::<Vec<_>>().join(","))
            .collect();
        let mut signed = BTreeSet::new();
        for profile in Profile::ALL {
            for text in SignedText::ALL {
                for field in text.parts(profile).iter().copied().flatten() {
                    signed.insert([profile.name(), text.name(), field.name()].join(","));
                }
            }
        }
        assert_eq!(judged, signed);
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
    }
}
