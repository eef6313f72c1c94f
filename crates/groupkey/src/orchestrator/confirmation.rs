//! The end of a run: the master secret of the symmetric scheme, then every member's word, then the orchestrator's.

use chronoseal_core::{AbortReason, DiscardReason, EventKind, LocalTime};
use chronoseal_crypto::suite::{Signature, Suite};

use super::{Distributing, Orchestrator, Phase, Readiness};
use crate::crypto_stack::{JobPriority, Owner, Request, Response};
use crate::distribution::identifier;
use crate::frame_count::TAG_LEN;
use crate::identifier::{Address, Identifier};
use crate::keys::{Secret, distribution_key, distribution_tag_key};
use crate::profile::{Installation, Profile};
use crate::signed::{self, About};
use crate::station_to_station::{Failure, Stage};
use crate::text::Text;

/// Tags being checked at once.
const CHECKING_MAX: usize = 4;
/// How often a commit is sent again to members that missed it.
const COMMIT_REPEATS: u8 = 8;

impl<S: Suite> Orchestrator<S> {
    // ---- the master secret

    pub(super) fn advance_distribution(&mut self, now: LocalTime, step: Distributing) -> bool {
        match step {
            Distributing::Draw => self.draw_master_secret(now),
            Distributing::Signing | Distributing::Sealing(_) => false,
            Distributing::Next => self.serve_next(now),
        }
    }

    /// Draws a master secret, under a timestamp of its own: the pairs may have taken long.
    fn draw_master_secret(&mut self, now: LocalTime) -> bool {
        self.epoch = self.epoch.max(self.manager.settings.granule_of(now));
        self.master_stamp = self.stamp(now);
        let is_asked = self.manager.submit(Owner::Distribution(0), JobPriority::Exchange, Request::RandomGenerate);
        if is_asked {
            self.phase = Phase::Distributing(Distributing::Signing);
        }
        is_asked
    }

    fn sign_master_secret(&mut self, secret: Secret) {
        let (profile, stamp) = (self.manager.settings.profile, self.master_stamp);
        let secret = match profile {
            Profile::AsPublished => secret,
            Profile::Hardened => {
                secret.mixed_with(self.manager.tree.present().filter_map(|member| self.channel_key(member)))
            }
        };
        let shares = self.manager.pair_shares.digest();
        let text = signed::master_secret_text(profile, S::NAME, secret.expose(), &shares, stamp);
        self.master = Some(secret);
        let generate = Request::SignatureGenerate { text };
        if !self.manager.submit(Owner::Distribution(0), JobPriority::Exchange, generate) {
            self.phase = Phase::Distributing(Distributing::Draw);
        }
    }

    /// Encrypts the secret and its signature for the next member; after the last one the key is agreed.
    fn serve_next(&mut self, now: LocalTime) -> bool {
        if !self.manager.outbox.has_room() {
            return false;
        }
        let next = self.manager.tree.present().find(|member| !self.is_served[member.index()]);
        let Some(master) = self.master.as_ref() else { return false };
        let Some(member) = next else {
            if self.manager.candidate.is_none() {
                let secret = match self.manager.settings.profile {
                    Profile::AsPublished => master.with_shares(&self.manager.pair_shares.digest()),
                    Profile::Hardened => master.clone(),
                };
                self.on_agreed(now, secret, self.master_stamp.epoch);
            } else {
                self.phase = Phase::Confirming;
            }
            return true;
        };
        let Some(channel) = self.channel_key(member) else {
            let exchange = self.distribution_identifier(member).exchange();
            let (stage, reason) = (Stage::Distribution, AbortReason::SecretMissing);
            self.fail_run(Failure { exchange, stage, peer: member, reason });
            return true;
        };
        let key = distribution_key(channel, self.master_stamp.epoch);
        let text = Text::of(&[master.expose(), self.master_signature.as_bytes()]);
        let encrypt = Request::Encrypt { key, counter: [0; 16], text };
        let is_asked = self.manager.submit(Owner::Distribution(0), JobPriority::Exchange, encrypt);
        if is_asked {
            self.phase = Phase::Distributing(Distributing::Sealing(member));
        }
        is_asked
    }

    pub(super) fn on_distribution_response(&mut self, response: Response) {
        match (self.phase, response) {
            (Phase::Distributing(Distributing::Signing), Response::Random(secret)) => self.sign_master_secret(secret),
            (Phase::Distributing(Distributing::Signing), Response::Signature(signature)) => {
                self.master_signature = Text::of(&[&signature]);
                self.phase = Phase::Distributing(Distributing::Next);
            }
            (Phase::Distributing(Distributing::Sealing(member)), Response::Ciphered(ciphertext)) => {
                match self.manager.settings.profile {
                    Profile::AsPublished => self.serve(member, ciphertext),
                    Profile::Hardened => self.seal(member, ciphertext),
                }
            }
            (Phase::Distributing(Distributing::Sealing(member)), Response::Tag(tag)) => {
                let stamp = self.master_stamp.to_bytes();
                let message = Text::of(&[&stamp, self.sealed.as_bytes(), &tag]);
                self.serve(member, message);
            }
            _ => {}
        }
    }

    fn seal(&mut self, member: Address, ciphertext: Text) {
        let Some(channel) = self.channel_key(member) else { return };
        let key = distribution_tag_key(channel, self.master_stamp.epoch);
        let text = signed::delivery_text(member, self.master_stamp, ciphertext.as_bytes());
        self.sealed = ciphertext;
        if !self.manager.submit(Owner::Distribution(0), JobPriority::Exchange, Request::MacGenerate { key, text }) {
            // Begins with this member again.
            self.phase = Phase::Distributing(Distributing::Next);
        }
    }

    fn serve(&mut self, member: Address, message: Text) {
        self.send(self.distribution_identifier(member), message);
        self.manager.pair_shares.on_delivery();
        self.is_served[member.index()] = true;
        self.phase = Phase::Distributing(Distributing::Next);
    }

    fn distribution_identifier(&self, member: Address) -> Identifier {
        let tree = &self.manager.tree;
        identifier(member, tree.lead(), tree.pair_of(member).unwrap_or(Address::RESERVED))
    }

    // ---- every member's word

    /// It holds the new key itself.
    pub(super) fn on_agreed(&mut self, now: LocalTime, secret: Secret, epoch: u32) {
        self.manager.agree(secret, epoch);
        if self.manager.settings.installation == Installation::Unconfirmed {
            return self.conclude();
        }
        self.phase = Phase::Confirming;
        self.rounds_left = self.manager.settings.retries_max;
        self.deadline = now + self.confirmation_time();
    }

    pub(super) fn on_ready(&mut self, identifier: Identifier, data: &[u8], rx_at: LocalTime) {
        let member = identifier.first;
        let tag = match self.manager.inbox.push(identifier, data, TAG_LEN, rx_at) {
            Ok(message) => message.and_then(|message| message.array(0)),
            Err(_) => {
                let sequence = u64::from(identifier.can_id().raw());
                return self.manager.tell(EventKind::Discarded(DiscardReason::Malformed), sequence, 0);
            }
        };
        let Some(tag) = tag.filter(|_| self.manager.tree.is_present(member)) else { return };
        if self.phase == Phase::Idle {
            // It has not heard that the key is confirmed.
            if self.commit_repeats_left > 0 && self.commit.len() > 0 {
                self.commit_repeats_left -= 1;
                let commit = self.commit.clone();
                self.send(self.manager.commit_identifier(), commit);
            }
        } else if !matches!(self.readiness[member.index()], Readiness::Ready | Readiness::Checking) {
            self.readiness[member.index()] = Readiness::Heard(tag);
        }
    }

    pub(super) fn advance_confirmation(&mut self, now: LocalTime) -> bool {
        let Some(candidate) = &self.manager.candidate else { return false };
        let (key, epoch) = (candidate.secret.ready_key(), candidate.epoch);
        let checking = self.readiness.iter().filter(|readiness| **readiness == Readiness::Checking).count();
        let heard = self.manager.tree.present().find_map(|member| match self.readiness[member.index()] {
            Readiness::Heard(tag) => Some((member, tag)),
            _ => None,
        });
        if let Some((member, tag)) = heard.filter(|_| checking < CHECKING_MAX) {
            let verify = Request::MacVerify { key, text: self.manager.ready_text(member, epoch), tag };
            let is_asked = self.manager.submit(Owner::Ready(member), JobPriority::Confirmation, verify);
            if is_asked {
                self.readiness[member.index()] = Readiness::Checking;
            }
            return is_asked;
        }
        let all_ready = self.manager.tree.present().all(|member| self.readiness[member.index()] == Readiness::Ready);
        all_ready && self.ask_commit(now)
    }

    pub(super) fn on_ready_checked(&mut self, member: Address, fits: bool) {
        if self.phase != Phase::Confirming || self.readiness[member.index()] != Readiness::Checking {
            return;
        }
        if fits {
            self.readiness[member.index()] = Readiness::Ready;
            return;
        }
        // It says it again, so that a forged word does no harm.
        self.readiness[member.index()] = Readiness::Missing;
        let exchange = self.manager.ready_identifier(member).exchange();
        let failure = Failure { exchange, stage: Stage::Installation, peer: member, reason: AbortReason::ReadyRefused };
        self.manager.tell_failure(EventKind::ExchangeAborted, failure);
    }

    /// Not all have said that they hold the key.
    pub(super) fn on_confirmation_overdue(&mut self, now: LocalTime) {
        let is_missing = |member: &Address| self.readiness[member.index()] != Readiness::Ready;
        let missing = self.manager.tree.present().find(is_missing).unwrap_or(self.manager.own);
        if self.rounds_left == 0 {
            let exchange = self.manager.ready_identifier(missing).exchange();
            let (stage, reason) = (Stage::Installation, AbortReason::ReadyMissing);
            let silent = Failure { exchange, stage, peer: missing, reason };
            return self.fail_run(self.told_of(missing).unwrap_or(silent));
        }
        self.rounds_left -= 1;
        self.deadline = now + self.confirmation_time();
        let tree = self.manager.tree.clone();
        let readiness = self.readiness;
        let is_missing = |member: &Address| readiness[member.index()] != Readiness::Ready;
        // Whoever is silent so long may have lost its secrets, and this run may not have asked for them. If it has said that
        // an exchange failed, there is no use in waiting. Nobody has signed that, but all it does is to choose between two
        // repairs, of which this one does what the other does and more.
        let has_told = tree.present().filter(is_missing).any(|member| self.told_of(member).is_some());
        let has_to_renew = self.rounds_left == 0 || has_told;
        if has_to_renew && !self.is_along_tree && core::mem::take(&mut self.can_renew) {
            let needs = |result: &Address| {
                tree.present().filter(is_missing).any(|member| tree.path(member).any(|above| above == *result))
            };
            return self.renew(now, tree.results().filter(needs));
        }
        if self.master.is_some() {
            for index in 0..self.is_served.len() {
                self.is_served[index] = self.readiness[index] == Readiness::Ready;
            }
            self.phase = Phase::Distributing(Distributing::Next);
        }
    }

    // ---- the orchestrator's word

    fn ask_commit(&mut self, now: LocalTime) -> bool {
        let Some(candidate) = &self.manager.candidate else { return false };
        let (epoch, check) = (candidate.epoch, candidate.secret.key_check());
        let mut stamp = self.stamp(now);
        stamp.epoch = epoch;
        let identifier = self.manager.commit_identifier();
        let about = About::Key(check);
        let text = signed::orchestrator_text(self.manager.settings.profile, S::NAME, identifier, stamp, about);
        let generate = Request::SignatureGenerate { text };
        let is_asked = self.manager.submit(Owner::Commit, JobPriority::Orchestration, generate);
        if is_asked {
            self.commit_stamp = stamp;
            self.phase = Phase::Committing;
        }
        is_asked
    }

    pub(super) fn on_commit_signed(&mut self, signature: Signature) {
        if self.phase != Phase::Committing {
            return;
        }
        self.commit = match self.manager.settings.profile {
            Profile::AsPublished => Text::of(&[&signature]),
            Profile::Hardened => Text::of(&[&self.commit_stamp.to_bytes(), &signature]),
        };
        self.commit_repeats_left = COMMIT_REPEATS;
        let commit = self.commit.clone();
        self.send(self.manager.commit_identifier(), commit);
        self.manager.install();
        self.conclude();
    }
}
