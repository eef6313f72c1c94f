//! The symmetric scheme's last part: each node gets the master secret, signed and encrypted for it.

use chronoseal_core::{AbortReason, EventKind, LocalTime};
use chronoseal_crypto::suite::{SIGNATURE_LEN, Suite};

use crate::crypto_stack::{JobPriority, Owner, Request, Response};
use crate::frame_count::{FRESHNESS_LEN, MASTER_SECRET_LEN, TAG_LEN};
use crate::identifier::{Address, Identifier, Step};
use crate::keys::{Secret, distribution_key, distribution_tag_key};
use crate::member::{Member, stamp_of};
use crate::pair_shares::Guesses;
use crate::profile::Profile;
use crate::settings::Candidates;
use crate::signed;
use crate::station_to_station::{Failure, Stage};
use crate::text::{Stamp, Text};

const CIPHERTEXT_LEN: usize = MASTER_SECRET_LEN + SIGNATURE_LEN;

/// A master secret on its way in.
pub(crate) struct Incoming {
    message: Text,
    candidates: Candidates,
    /// Epochs left to try with the shares that are being tried.
    epochs: Candidates,
    /// What it may have been signed with, set when it is begun with; before, its pair's exchange may not have ended here.
    shares: Option<Guesses>,
    guess: usize,
    stamp: Stamp,
    plain: Text,
    /// Tells its jobs from those of an earlier one.
    number: u32,
}

/// The identifier under which `member` gets the master secret.
pub(crate) const fn identifier(member: Address, lead: Address, pair: Address) -> Identifier {
    Identifier { step: Step::Distribution, first: member, second: lead, result: pair }
}

impl<S: Suite> Member<S> {
    pub(crate) fn on_distribution(&mut self, message: Text, rx_at: LocalTime) {
        if message == self.delivered {
            // The orchestrator has not heard that it is here; the member says so by itself.
            return;
        }
        let (settings, agreed) = (&self.manager.settings, self.manager.agreed);
        let candidates = match settings.profile {
            Profile::AsPublished => settings.candidates(rx_at, self.epoch(), agreed),
            Profile::Hardened => {
                let stamp = stamp_of(settings.profile, &message, 0);
                // Not only above that of the key in use: a key that was agreed on later may still wait for its commit.
                if stamp.epoch <= agreed || stamp.epoch < self.epoch() || !settings.is_timely(stamp, rx_at) {
                    return self.refuse_distribution(AbortReason::OrchestrationStale);
                }
                Candidates::only(stamp.epoch)
            }
        };
        self.manager.pair_shares.on_delivery();
        self.deliveries = self.deliveries.wrapping_add(1);
        self.incoming = Some(Incoming {
            message,
            candidates,
            epochs: candidates,
            shares: None,
            guess: 0,
            stamp: Stamp::default(),
            plain: Text::EMPTY,
            number: self.deliveries,
        });
        self.resume_distribution();
    }

    /// Begins with a distribution that waited for its pair's exchange.
    pub(crate) fn resume_distribution(&mut self) {
        let is_waiting = self.incoming.as_ref().is_some_and(|incoming| incoming.shares.is_none());
        if is_waiting && self.channel_key().is_some() {
            let guesses = self.manager.pair_shares.guesses();
            self.incoming.iter_mut().for_each(|incoming| incoming.shares = Some(guesses));
            self.try_distribution();
        }
    }

    /// Tries the next epoch it may bear, and the next shares it may have been signed with.
    fn try_distribution(&mut self) {
        let (profile, own) = (self.manager.settings.profile, self.manager.own);
        let Some(channel) = self.channel_key().cloned() else { return };
        let Some(incoming) = self.incoming.as_mut() else { return };
        let epoch = incoming.epochs.next().or_else(|| {
            incoming.guess += 1;
            let guesses = incoming.shares.filter(|_| profile == Profile::AsPublished)?;
            guesses.get(incoming.guess)?;
            incoming.epochs = incoming.candidates;
            incoming.epochs.next()
        });
        let Some(epoch) = epoch else {
            return self.refuse_distribution(AbortReason::DistributionRefused);
        };
        incoming.stamp = stamp_of(profile, &incoming.message, epoch);
        let request = match profile {
            Profile::AsPublished => decrypt(&channel, incoming, 0),
            Profile::Hardened => {
                let ciphertext = &incoming.message.as_bytes()[FRESHNESS_LEN..][..CIPHERTEXT_LEN];
                incoming.message.array::<TAG_LEN>(FRESHNESS_LEN + CIPHERTEXT_LEN).map(|tag| Request::MacVerify {
                    key: distribution_tag_key(&channel, epoch),
                    text: signed::delivery_text(own, incoming.stamp, ciphertext),
                    tag,
                })
            }
        };
        self.ask(request);
    }

    fn ask(&mut self, request: Option<Request>) {
        let owner = Owner::Distribution(self.incoming.as_ref().map_or(0, |incoming| incoming.number));
        let is_asked = request.is_some_and(|request| self.manager.submit(owner, JobPriority::Exchange, request));
        if !is_asked {
            self.refuse_distribution(AbortReason::Overloaded);
        }
    }

    pub(crate) fn on_distribution_response(&mut self, number: u32, response: Response) {
        let profile = self.manager.settings.profile;
        let channel = self.channel_key().cloned();
        let incoming = self.incoming.as_mut().filter(|incoming| incoming.number == number);
        let (Some(incoming), Some(channel)) = (incoming, channel) else { return };
        let shares = incoming.shares.and_then(|guesses| guesses.get(incoming.guess)).unwrap_or_default();
        match response {
            Response::TagVerified(true) => {
                let request = decrypt(&channel, incoming, FRESHNESS_LEN);
                self.ask(request);
            }
            Response::Ciphered(plain) => {
                let parts = (plain.array::<MASTER_SECRET_LEN>(0), plain.array(MASTER_SECRET_LEN));
                incoming.plain = plain;
                let (Some(secret), Some(signature)) = parts else { return };
                let text = signed::master_secret_text(profile, S::NAME, &secret, &shares, incoming.stamp);
                let signer = self.manager.tree.lead();
                self.ask(Some(Request::SignatureVerify { signer, text, signature }));
            }
            Response::SignatureVerified(true) => {
                let (secret, epoch) = (incoming.plain.array::<MASTER_SECRET_LEN>(0), incoming.stamp.epoch);
                self.delivered = incoming.message.clone();
                self.incoming = None;
                let Some(secret) = secret.map(Secret::from_array) else { return };
                let secret = match profile {
                    Profile::AsPublished => {
                        self.manager.pair_shares.settle(shares);
                        secret.with_shares(&shares)
                    }
                    Profile::Hardened => secret,
                };
                self.pass_epoch(epoch);
                self.on_agreed(secret, epoch);
            }
            _ => self.try_distribution(),
        }
    }

    fn refuse_distribution(&mut self, reason: AbortReason) {
        self.incoming = None;
        let (own, lead) = (self.manager.own, self.manager.tree.lead());
        let pair = self.manager.tree.pair_of(own).unwrap_or(Address::RESERVED);
        let exchange = identifier(own, lead, pair).exchange();
        let failure = Failure { exchange, stage: Stage::Distribution, peer: lead, reason };
        self.manager.tell_failure(EventKind::ExchangeAborted, failure);
    }
}

fn decrypt(channel: &chronoseal_crypto::symmetric::Key128, incoming: &Incoming, start: usize) -> Option<Request> {
    let ciphertext = incoming.message.as_bytes().get(start..start + CIPHERTEXT_LEN)?;
    let key = distribution_key(channel, incoming.stamp.epoch);
    Some(Request::Decrypt { key, counter: [0; 16], text: Text::of(&[ciphertext]) })
}
