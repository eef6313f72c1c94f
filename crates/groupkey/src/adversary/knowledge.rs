//! What follows from secrets and recorded frames.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_crypto::suite::{SECRET_LEN, Share, Suite};
use chronoseal_crypto::symmetric::{Aes128Ctr, Key128};
use chronoseal_wire::can::{CanFrame, CanId};
use rand_core::SeedableRng;

use crate::frame_count::{FRESHNESS_LEN, MASTER_SECRET_LEN, message_len};
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::keys::{Secret, SessionKeys, distribution_key};
use crate::member::{Member, stamp_of};
use crate::profile::Profile;
use crate::roster::Roster;
use crate::signed::transcript;
use crate::text::{Stamp, Text, digest, membership_of};
use crate::tree::{MembershipChange, Tree};

/// One exchange as it was on the bus.
#[derive(Clone)]
struct Record {
    id: ExchangeId,
    stamp: Stamp,
    /// Who acted for its sides.
    acting: [Address; 2],
    shares: [Option<Share>; 2],
}

/// One master secret as it was on the bus, and the hash of the shares it belongs to.
struct Delivery {
    ciphertext: Vec<u8>,
    stamp: Stamp,
    shares: [u8; 32],
}

/// Somebody who holds secrets, has recorded every frame, and derives all that the protocol's own derivations give.
///
/// It is as strong as a former member: it knows the network, the suite and every message, and keeps everything it ever
/// had. It does not break the suite. A test of it has to show both sides: that a member's knowledge gives the key, and
/// that the other's does not.
pub struct Knowledge<S: Suite> {
    profile: Profile,
    /// As everybody who listens knows it.
    tree: Tree,
    members: Vec<Address>,
    secrets: BTreeSet<[u8; SECRET_LEN]>,
    channels: BTreeSet<[u8; Key128::LEN]>,
    records: Vec<Record>,
    deliveries: Vec<Delivery>,
    /// Messages being put together.
    open: BTreeMap<u32, Text>,
    /// Stamp of the last request for all.
    start: Stamp,
    /// Shares of the pairs formed last, by position among the members.
    pair_shares: BTreeMap<usize, [Option<Share>; 2]>,
    is_delivered: bool,
    suite: core::marker::PhantomData<S>,
}

impl<S: Suite> Knowledge<S> {
    /// Of this network, as it is before the first frame.
    pub fn new(profile: Profile, roster: &Roster<S>, tree: Tree) -> Self {
        Self {
            profile,
            tree,
            members: roster.members().map(|member| member.address).collect(),
            secrets: BTreeSet::new(),
            channels: BTreeSet::new(),
            records: Vec::new(),
            deliveries: Vec::new(),
            open: BTreeMap::new(),
            start: Stamp::default(),
            pair_shares: BTreeMap::new(),
            is_delivered: false,
            suite: core::marker::PhantomData,
        }
    }

    /// Takes all that a member holds now.
    pub fn take_from(&mut self, member: &Member<S>) {
        for (secret, channel) in member.manager.all_secrets() {
            self.secrets.insert(*secret.expose());
            self.channels.extend(channel.map(|channel| *channel.expose()));
        }
        if let Some(candidate) = &member.manager.candidate {
            self.secrets.insert(*candidate.secret.expose());
        }
    }

    /// Takes a secret that it came to by other ways.
    pub fn take(&mut self, secret: [u8; SECRET_LEN]) {
        self.secrets.insert(secret);
    }

    /// Takes the seed of a member, and with it the first `count` private keys it ever drew.
    pub fn take_seed(&mut self, seed: [u8; SECRET_LEN], count: usize) {
        let mut rng = ChaCha8Rng::from_seed(seed);
        for _ in 0..count {
            let mut bytes = [0; SECRET_LEN];
            rng.fill_bytes(&mut bytes);
            self.secrets.insert(bytes);
        }
    }

    /// Records a frame. Frames have to come in the order in which they were on the bus.
    pub fn hear(&mut self, frame: &CanFrame) {
        let CanId::Extended(id) = frame.id() else { return };
        let Some(identifier) = Identifier::from_can_id(id) else { return };
        if matches!(identifier.step, Step::Ready | Step::Abort) {
            return;
        }
        let len = message_len(identifier.step, self.profile, S::SHARE_LEN);
        let message = self.open.entry(id.raw()).or_insert(Text::EMPTY);
        message.append(frame.data(), len);
        if message.len() == len
            && let Some(message) = self.open.remove(&id.raw())
        {
            self.hear_message(identifier, &message);
        }
    }

    fn hear_message(&mut self, identifier: Identifier, message: &Text) {
        let id = identifier.exchange();
        let stamp = stamp_of(self.profile, message, 0);
        let is_request = matches!(identifier.step, Step::Orchestration | Step::Start | Step::DirectAssignment);
        if let Some(says) = membership_of(self.profile, message).filter(|_| is_request) {
            for (position, &address) in self.members.iter().enumerate() {
                let change = if says.contains(position) {
                    MembershipChange::Occupied(address)
                } else {
                    MembershipChange::Vacated(address)
                };
                self.tree.apply(change);
            }
        }
        match identifier.step {
            Step::Orchestration => {
                let changes = self.tree.changes(id).into_iter().flatten().flatten();
                changes.for_each(|change| self.tree.apply(change));
                self.records.push(self.record(id, stamp));
            }
            Step::Start => self.start = stamp,
            Step::ShareFirst | Step::ShareSecond => {
                let side = identifier.step as usize - Step::ShareFirst as usize;
                let known =
                    self.records.iter_mut().rev().find(|record| record.id == id && record.shares[side].is_none());
                let share = Share::new(message.as_bytes());
                match known {
                    Some(record) => record.shares[side] = share,
                    None => {
                        let mut record = self.record(id, self.start);
                        record.shares[side] = share;
                        self.records.push(record);
                    }
                }
                if let Some(position) = self.members.iter().position(|address| *address == id.first) {
                    if core::mem::take(&mut self.is_delivered) {
                        self.pair_shares.clear();
                    }
                    self.pair_shares.entry(position).or_default()[side] = share;
                }
            }
            Step::Distribution => {
                let start = if self.profile == Profile::Hardened { FRESHNESS_LEN } else { 0 };
                let ciphertext = message.as_bytes()[start..].to_vec();
                let delivery = Delivery { ciphertext, stamp, shares: self.shares_digest() };
                self.deliveries.push(delivery);
                self.is_delivered = true;
            }
            _ => {}
        }
    }

    fn record(&self, id: ExchangeId, stamp: Stamp) -> Record {
        let acting = [Side::First, Side::Second].map(|side| self.tree.active_of(id, side));
        Record { id, stamp, acting, shares: [None; 2] }
    }

    fn shares_digest(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        for (position, shares) in &self.pair_shares {
            if let [Some(first), Some(second)] = shares {
                let parts: [&[u8]; 4] = [&hash, &[*position as u8], first.as_bytes(), second.as_bytes()];
                hash = digest(b"chronoseal/1 pair shares", parts);
            }
        }
        hash
    }

    /// Derives everything, until nothing new comes: each secret against each exchange, each channel against each
    /// delivery. Returns how many secrets it holds then.
    pub fn derive_all(&mut self) -> usize {
        let mut fresh: Vec<_> = self.secrets.iter().copied().collect();
        while let Some(secret) = fresh.pop() {
            for (logical, channel) in self.exchanges_of(&Secret::from_array(secret)) {
                self.channels.insert(channel);
                if self.secrets.insert(logical) {
                    fresh.push(logical);
                }
            }
        }
        let delivered: Vec<_> = self.deliveries.iter().flat_map(|delivery| self.open_delivery(delivery)).collect();
        self.secrets.extend(delivered);
        self.secrets.len()
    }

    /// Logical secrets and channels of every exchange in which a share was made from `secret`. With any other share it
    /// gives what no two parties have agreed on.
    fn exchanges_of(&self, secret: &Secret) -> Vec<([u8; SECRET_LEN], [u8; Key128::LEN])> {
        let private = S::secret(secret.expose());
        let own = S::share(&private);
        let mut found = Vec::new();
        for record in &self.records {
            for (mine, theirs) in [(0, 1), (1, 0)] {
                let Some(peer) = record.shares[theirs].filter(|_| record.shares[mine] == Some(own)) else { continue };
                let Ok(agreed) = S::agree(&private, peer.as_bytes()) else { continue };
                let [Some(first), Some(second)] = &record.shares else { continue };
                let transcript = transcript(S::NAME, record.id, record.stamp, record.acting, [first, second]);
                let keys = SessionKeys::derive(&agreed, self.profile, &transcript);
                found.push((*keys.logical.expose(), *keys.channel.expose()));
            }
        }
        found
    }

    fn open_delivery(&self, delivery: &Delivery) -> Vec<[u8; SECRET_LEN]> {
        // As published the epoch is not sent; a run of tests has few.
        let epochs = match self.profile {
            Profile::AsPublished => 0..=100,
            Profile::Hardened => delivery.stamp.epoch..=delivery.stamp.epoch,
        };
        let mut found = Vec::new();
        for channel in self.channels.iter().map(|channel| Key128::from_array(*channel)) {
            for epoch in epochs.clone() {
                let mut plain = [0; MASTER_SECRET_LEN];
                plain.copy_from_slice(&delivery.ciphertext[..MASTER_SECRET_LEN]);
                Aes128Ctr::new(&distribution_key(&channel, epoch)).apply_keystream(&[0; 16], &mut plain);
                let secret = Secret::from_array(plain);
                let secret = match self.profile {
                    Profile::AsPublished => secret.with_shares(&delivery.shares),
                    Profile::Hardened => secret,
                };
                found.push(*secret.expose());
            }
        }
        found
    }

    /// True if one of its secrets gives this traffic key.
    pub fn gives(&self, key: &[u8; Key128::LEN]) -> bool {
        self.secrets.iter().any(|secret| Secret::from_array(*secret).traffic_key().expose() == key)
    }
}
