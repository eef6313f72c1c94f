//! Secrets, and what is derived from what.
//!
//! | from | comes | as published |
//! |---|---|---|
//! | agreed secret of an exchange | keys of its confirmations | `k = KDF(r_A r_B P)` |
//! | agreed secret of an exchange | secret of the logical ECU that results | `r = KDF'(r_A r_B P)` |
//! | agreed secret of a pair | key of the private channel to the orchestrator | `sk = KDF''(r_i r_S P)` |
//! | master secret, shares | the symmetric scheme's group secret | `KDF(msk, r_1 P, ... r_S P)` |
//! | hardened: random bytes, the channels of all present members | the master secret, which is the group secret | – |
//! | secret of a logical ECU | its subgroup's key; the root's is the group key | the secret itself |
//!
//! The secret of a logical ECU is the private key of the next exchange, so it is never handed out as a traffic key; one
//! more derivation stands between.

use core::fmt;

use chronoseal_crypto::suite::{AgreedSecret, SECRET_LEN};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_crypto::{Label, kdf};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::identifier::Side;
use crate::profile::Profile;
use crate::signed::KEY_CHECK_LEN;

const CONFIRMATION: Label = Label::new("chronoseal/1 groupkey confirmation");
const CONFIRMATION_OF: [Label; 2] =
    [Label::new("chronoseal/1 groupkey confirmation first"), Label::new("chronoseal/1 groupkey confirmation second")];
const TAG_OF: [Label; 2] =
    [Label::new("chronoseal/1 groupkey tag first"), Label::new("chronoseal/1 groupkey tag second")];
const LOGICAL: Label = Label::new("chronoseal/1 groupkey logical ECU");
const CHANNEL: Label = Label::new("chronoseal/1 groupkey private channel");
const DISTRIBUTION: Label = Label::new("chronoseal/1 groupkey distribution");
const DISTRIBUTION_TAG: Label = Label::new("chronoseal/1 groupkey distribution tag");
const MASTER: Label = Label::new("chronoseal/1 groupkey master secret");
const CONTRIBUTION: Label = Label::new("chronoseal/1 groupkey contribution");
const GROUP: Label = Label::new("chronoseal/1 groupkey traffic");
const COMMIT: Label = Label::new("chronoseal/1 groupkey commit");
const READY: Label = Label::new("chronoseal/1 groupkey ready");

/// 32 bytes no one else may know; wiped when dropped, shown by no formatter.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret([u8; SECRET_LEN]);

impl Secret {
    /// The secret made of these bytes. The caller's own copy stays the caller's to wipe.
    pub const fn from_array(bytes: [u8; SECRET_LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes themselves.
    pub const fn expose(&self) -> &[u8; SECRET_LEN] {
        &self.0
    }

    fn derive(secret: &[u8], label: &Label, context: &[&[u8]]) -> Self {
        let mut derived = Self([0; SECRET_LEN]);
        kdf::derive(secret, &[], label, context, &mut derived.0);
        derived
    }

    /// The key for the traffic of the logical ECU whose secret this is: the group key, if it is the root's.
    pub fn traffic_key(&self) -> Key128 {
        Key128::derive(&self.0, &[], &GROUP, &[])
    }

    /// The key with which members show that they hold this secret.
    pub(crate) fn ready_key(&self) -> Key128 {
        Key128::derive(&self.0, &[], &READY, &[])
    }

    /// What stands for this secret in the signature of a commit: it says which key is meant and nothing about it.
    pub(crate) fn key_check(&self) -> [u8; KEY_CHECK_LEN] {
        *Key128::derive(&self.0, &[], &COMMIT, &[]).expose()
    }

    /// The master secret of the hardened profile, if this is random: every pair whose channel is given has a part in it.
    pub(crate) fn mixed_with<'a>(self, channels: impl Iterator<Item = &'a Key128>) -> Self {
        channels.fold(self, |mixed, channel| Self::derive(&mixed.0, &CONTRIBUTION, &[channel.expose()]))
    }

    /// The group secret of the symmetric scheme, if this is the master secret as published.
    pub(crate) fn with_shares(&self, shares: &[u8; 32]) -> Self {
        Self::derive(&self.0, &MASTER, &[shares])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// What both sides of an exchange have after agreeing.
pub(crate) struct SessionKeys {
    /// Encrypts a side's confirmation. As published it is one key; the counter block tells the sides apart.
    encryption: [Key128; 2],
    tag: [Key128; 2],
    /// `r` of the logical ECU that results.
    pub(crate) logical: Secret,
    /// `sk` of a pair.
    pub(crate) channel: Key128,
}

impl SessionKeys {
    /// Hardened: everything is bound to the transcript, and each direction has keys of its own.
    pub(crate) fn derive(agreed: &AgreedSecret, profile: Profile, transcript: &[u8; 32]) -> Self {
        let secret = agreed.expose();
        let bound: [&[u8]; 1] = [transcript];
        let context: &[&[u8]] = match profile {
            Profile::AsPublished => &[],
            Profile::Hardened => &bound,
        };
        let key = |label: &Label| Key128::derive(secret, &[], label, context);
        let encryption = match profile {
            Profile::AsPublished => [key(&CONFIRMATION), key(&CONFIRMATION)],
            Profile::Hardened => [key(&CONFIRMATION_OF[0]), key(&CONFIRMATION_OF[1])],
        };
        Self {
            encryption,
            tag: [key(&TAG_OF[0]), key(&TAG_OF[1])],
            logical: Secret::derive(secret, &LOGICAL, context),
            channel: key(&CHANNEL),
        }
    }

    pub(crate) const fn encryption(&self, side: Side) -> &Key128 {
        &self.encryption[side.index()]
    }

    pub(crate) const fn tag(&self, side: Side) -> &Key128 {
        &self.tag[side.index()]
    }
}

/// The first counter block of a side's confirmation. A signature takes four blocks, so the sides' never meet.
pub(crate) const fn counter_block(side: Side) -> [u8; 16] {
    let mut block = [0; 16];
    block[0] = side as u8;
    block
}

/// Encrypts the master secret of one epoch under a pair's channel.
pub(crate) fn distribution_key(channel: &Key128, epoch: u32) -> Key128 {
    Key128::derive(channel.expose(), &[], &DISTRIBUTION, &[&epoch.to_be_bytes()])
}

/// Authenticates it.
pub(crate) fn distribution_tag_key(channel: &Key128, epoch: u32) -> Key128 {
    Key128::derive(channel.expose(), &[], &DISTRIBUTION_TAG, &[&epoch.to_be_bytes()])
}
