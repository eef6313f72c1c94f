//! The exchange of figure 4, for one side: as the active member that speaks, or as a passive one that listens.
//!
//! [`Exchange`] is a state machine without time or transport. It says what it needs next ([`Need`]), is told what came
//! of it, and takes the peer's messages whenever they come; each step waits for both messages of the one before.
//!
//! ```text
//!           stage 1                    stage 2                        stage 3
//! active    (verify) share ─► ⇄ shares agree sign encrypt ─► ⇄ confirm. decrypt verify
//! passive   (verify)          ⇄ shares agree               ⇄ confirm. decrypt verify
//! ```
//! The request is verified before an exchange is made. A passive member checks the other side's confirmation only: it
//! covers both shares, so its own side's share is checked with it.

use core::fmt;

use chronoseal_core::AbortReason;
use chronoseal_crypto::suite::{AgreementError, SIGNATURE_LEN, Share, Suite};

use crate::crypto_stack::{Request, Response};
use crate::frame_count::TAG_LEN;
use crate::identifier::{Address, ExchangeId, Side, Step};
use crate::keys::{Secret, SessionKeys, counter_block};
use crate::profile::Profile;
use crate::signed;
use crate::text::{Stamp, Text};

/// The three stages of figure 13, and what comes before and after.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Stage {
    /// The request.
    Orchestration = 0,
    /// Computing and exchanging the shares.
    Shares = 1,
    /// Extracting the secret key and exchanging the confirmations.
    Confirmations = 2,
    /// Validating the confirmations.
    Validation = 3,
    /// Distributing the master secret (symmetric scheme).
    Distribution = 4,
    /// Confirming and installing the group key.
    Installation = 5,
}

impl Stage {
    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orchestration => "orchestration",
            Self::Shares => "shares",
            Self::Confirmations => "confirmations",
            Self::Validation => "validation",
            Self::Distribution => "distribution",
            Self::Installation => "installation",
        }
    }
}

/// Where and with whom something failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The exchange, or for later stages the operands and the root.
    pub exchange: ExchangeId,
    /// The stage it had come to.
    pub stage: Stage,
    /// The ECU whose message was bad or missing.
    pub peer: Address,
    /// Why.
    pub reason: AbortReason,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExchangeId { first, second, result } = self.exchange;
        let (stage, reason, peer) = (self.stage.name(), self.reason.name(), self.peer);
        write!(f, "exchange {first} + {second} = {result}, stage {stage}, peer {peer}: {reason}")
    }
}

impl core::error::Error for Failure {}

/// Whether a member speaks for its side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// It does. `is_own` if the side is the ECU itself, which then draws a fresh private key.
    Active { is_own: bool },
    /// It listens, and holds its side's secret.
    Passive,
}

/// Everything an exchange is made from.
#[derive(Clone, Copy)]
pub(crate) struct ExchangeSetup {
    pub(crate) id: ExchangeId,
    pub(crate) side: Side,
    pub(crate) part: Part,
    /// Who speaks for first and second operand.
    pub(crate) acting: [Address; 2],
    pub(crate) stamp: Stamp,
    pub(crate) profile: Profile,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Phase {
    Share,
    AwaitShares,
    Sign,
    Encrypt,
    Tag,
    AwaitConfirmations,
    Decrypt,
    VerifySignature,
    Done,
}

/// What an exchange needs to go on.
pub(crate) enum Need {
    /// A message, or the outcome of a job.
    Nothing,
    /// The secret of its side's logical ECU.
    OwnSecret,
    /// A job.
    Job(Request),
    /// Nothing any more.
    Done,
}

/// What a job's outcome led to.
pub(crate) enum Effect {
    Nothing,
    /// A message to send.
    Send(Step, Text),
    /// The exchange has succeeded.
    Done,
}

/// One side's view of one exchange.
pub(crate) struct Exchange {
    setup: ExchangeSetup,
    phase: Phase,
    is_job_open: bool,
    /// The private key drawn for a fresh share.
    private: Option<Secret>,
    shares: [Option<Share>; 2],
    confirmations: [Option<Text>; 2],
    /// Own share and own confirmation have left.
    is_share_out: bool,
    is_confirmation_out: bool,
    transcript: [u8; 32],
    keys: Option<SessionKeys>,
    /// Own signature, then own ciphertext.
    draft: Text,
    peer_signature: Text,
}

impl Exchange {
    pub(crate) fn new(setup: ExchangeSetup) -> Self {
        let phase = if matches!(setup.part, Part::Active { .. }) { Phase::Share } else { Phase::AwaitShares };
        Self {
            setup,
            phase,
            is_job_open: false,
            private: None,
            shares: [None; 2],
            confirmations: [const { None }; 2],
            is_share_out: false,
            is_confirmation_out: false,
            transcript: [0; 32],
            keys: None,
            draft: Text::EMPTY,
            peer_signature: Text::EMPTY,
        }
    }

    /// The same exchange now that its request is verified: what came early counts, except what only oneself may send.
    pub(crate) fn authorised(self, setup: ExchangeSetup) -> Self {
        let mut authorised = Self::new(setup);
        (authorised.shares, authorised.confirmations) = (self.shares, self.confirmations);
        if authorised.is_active() {
            authorised.shares[setup.side.index()] = None;
            authorised.confirmations[setup.side.index()] = None;
        }
        authorised
    }

    pub(crate) const fn setup(&self) -> &ExchangeSetup {
        &self.setup
    }

    /// Both shares, once both are known.
    pub(crate) fn shares(&self) -> Option<[&Share; 2]> {
        Some([self.shares[0].as_ref()?, self.shares[1].as_ref()?])
    }

    /// What the exchange gave; only once it is done.
    pub(crate) fn into_keys(self) -> Option<SessionKeys> {
        self.keys.filter(|_| self.phase == Phase::Done)
    }

    const fn peer(&self) -> Side {
        self.setup.side.other()
    }

    const fn is_active(&self) -> bool {
        matches!(self.setup.part, Part::Active { .. })
    }

    /// The failure that `reason` means now.
    pub(crate) fn failure(&self, reason: AbortReason) -> Failure {
        let stage = match self.phase {
            Phase::Share | Phase::AwaitShares => Stage::Shares,
            Phase::Sign | Phase::Encrypt | Phase::Tag | Phase::AwaitConfirmations => Stage::Confirmations,
            Phase::Decrypt | Phase::VerifySignature | Phase::Done => Stage::Validation,
        };
        // A passive member may miss its own side's message as well as the other's.
        let is_missing = |side: Side| match stage {
            Stage::Shares => self.shares[side.index()].is_none(),
            _ => self.confirmations[side.index()].is_none(),
        };
        let is_own_fault = !self.is_active() && !is_missing(self.peer()) && is_missing(self.setup.side);
        let side = if is_own_fault { self.setup.side } else { self.peer() };
        Failure { exchange: self.setup.id, stage, peer: self.setup.acting[side.index()], reason }
    }

    /// The failure of waiting in vain.
    pub(crate) fn timed_out(&self) -> Failure {
        let reason = match self.phase {
            Phase::Share | Phase::AwaitShares if self.shares().is_none() => AbortReason::ShareMissing,
            Phase::Share | Phase::AwaitShares => AbortReason::SecretMissing,
            _ => AbortReason::ConfirmationMissing,
        };
        self.failure(reason)
    }

    /// A share came. The first one counts; of one's own side only a passive member takes one. True if it was taken.
    pub(crate) fn on_share(&mut self, side: Side, bytes: &[u8]) -> bool {
        let is_mine = side == self.setup.side && self.is_active();
        let slot = &mut self.shares[side.index()];
        if is_mine || slot.is_some() {
            return false;
        }
        *slot = Share::new(bytes);
        slot.is_some()
    }

    /// A confirmation came; as for a share.
    pub(crate) fn on_confirmation(&mut self, side: Side, message: &Text) -> bool {
        let is_mine = side == self.setup.side && self.is_active();
        let slot = &mut self.confirmations[side.index()];
        if is_mine || slot.is_some() {
            return false;
        }
        *slot = Some(message.clone());
        true
    }

    /// One's own message left.
    pub(crate) fn on_transmitted(&mut self, step: Step) {
        self.is_share_out |= step == self.setup.side.share_step();
        self.is_confirmation_out |= step == self.setup.side.confirmation_step();
    }

    /// What it needs now. `own` is the secret of its side's logical ECU, if it has one.
    pub(crate) fn need(&mut self, own: Option<&Secret>) -> Result<Need, AbortReason> {
        if self.is_job_open {
            return Ok(Need::Nothing);
        }
        let request = match self.phase {
            Phase::Share => match (self.setup.part, own) {
                (Part::Active { is_own: true }, _) => Request::KeyExchangeCalcPubVal { private: None },
                (_, Some(own)) => Request::KeyExchangeCalcPubVal { private: Some(own.clone()) },
                (_, None) => return Ok(Need::OwnSecret),
            },
            Phase::AwaitShares => {
                let (Some(first), Some(second)) = (self.shares[0], self.shares[1]) else { return Ok(Need::Nothing) };
                if self.is_active() && !self.is_share_out {
                    return Ok(Need::Nothing);
                }
                if first == second {
                    return Err(AbortReason::ReflectedShare);
                }
                let peer = if self.setup.side == Side::First { second } else { first };
                let Some(private) = self.private.as_ref().or(own) else { return Ok(Need::OwnSecret) };
                Request::KeyExchangeCalcSecret { private: private.clone(), peer }
            }
            Phase::Sign => {
                let text = self.signed_text(self.setup.side)?;
                Request::SignatureGenerate { text }
            }
            Phase::Encrypt => {
                let (side, keys) = (self.setup.side, self.keys()?);
                let key = keys.encryption(side).clone();
                Request::Encrypt { key, counter: counter_block(side), text: self.draft.clone() }
            }
            Phase::Tag => {
                let side = self.setup.side;
                Request::MacGenerate { key: self.keys()?.tag(side).clone(), text: self.tagged_text(side, &self.draft) }
            }
            Phase::AwaitConfirmations => {
                let own_is_out = if self.is_active() {
                    self.is_confirmation_out
                } else {
                    self.confirmations[self.setup.side.index()].is_some()
                };
                let Some(message) = self.confirmations[self.peer().index()].as_ref().filter(|_| own_is_out) else {
                    return Ok(Need::Nothing);
                };
                match self.setup.profile {
                    Profile::AsPublished => {
                        self.phase = Phase::Decrypt;
                        return self.need(own);
                    }
                    Profile::Hardened => {
                        let ciphertext = Text::of(&[&message.as_bytes()[..SIGNATURE_LEN]]);
                        let tag = message.array::<TAG_LEN>(SIGNATURE_LEN).ok_or(AbortReason::WrongLength)?;
                        let text = self.tagged_text(self.peer(), &ciphertext);
                        Request::MacVerify { key: self.keys()?.tag(self.peer()).clone(), text, tag }
                    }
                }
            }
            Phase::Decrypt => {
                let message =
                    self.confirmations[self.peer().index()].as_ref().ok_or(AbortReason::ConfirmationMissing)?;
                let ciphertext = message.as_bytes().get(..SIGNATURE_LEN).ok_or(AbortReason::WrongLength)?;
                let (key, text) = (self.keys()?.encryption(self.peer()).clone(), Text::of(&[ciphertext]));
                Request::Decrypt { key, counter: counter_block(self.peer()), text }
            }
            Phase::VerifySignature => {
                let signature = self.peer_signature.array(0).ok_or(AbortReason::WrongLength)?;
                let (signer, text) = (self.setup.acting[self.peer().index()], self.signed_text(self.peer())?);
                Request::SignatureVerify { signer, text, signature }
            }
            Phase::Done => return Ok(Need::Done),
        };
        self.is_job_open = true;
        Ok(Need::Job(request))
    }

    /// The queue had no room for the job it asked for.
    pub(crate) const fn job_refused(&mut self) {
        self.is_job_open = false;
    }

    /// A job it asked for is done.
    pub(crate) fn on_response<S: Suite>(&mut self, response: Response) -> Result<Effect, AbortReason> {
        self.is_job_open = false;
        let side = self.setup.side;
        match (self.phase, response) {
            (Phase::Share, Response::PublicValue { private, share }) => {
                if self.setup.part == (Part::Active { is_own: true }) {
                    self.private = Some(private);
                }
                self.shares[side.index()] = Some(share);
                self.phase = Phase::AwaitShares;
                return Ok(Effect::Send(side.share_step(), Text::of(&[share.as_bytes()])));
            }
            (Phase::AwaitShares, Response::Agreed(agreed)) => {
                let agreed = agreed.map_err(|error| match error {
                    AgreementError::SmallOrder => AbortReason::SmallOrderShare,
                    AgreementError::WrongLength { .. } => AbortReason::WrongLength,
                    _ => AbortReason::ShareNotAPoint,
                })?;
                self.private = None;
                let ExchangeSetup { id, stamp, acting, profile, .. } = self.setup;
                let shares = self.shares().ok_or(AbortReason::ShareMissing)?;
                self.transcript = signed::transcript(S::NAME, id, stamp, acting, shares);
                self.keys = Some(SessionKeys::derive(&agreed, profile, &self.transcript));
                self.phase = if self.is_active() { Phase::Sign } else { Phase::AwaitConfirmations };
            }
            (Phase::Sign, Response::Signature(signature)) => {
                self.draft = Text::of(&[&signature]);
                self.phase = Phase::Encrypt;
            }
            (Phase::Encrypt, Response::Ciphered(ciphertext)) => {
                self.draft = ciphertext;
                match self.setup.profile {
                    Profile::Hardened => self.phase = Phase::Tag,
                    Profile::AsPublished => return Ok(self.confirm(&[])),
                }
            }
            (Phase::Tag, Response::Tag(tag)) => return Ok(self.confirm(&tag)),
            (Phase::AwaitConfirmations, Response::TagVerified(fits)) => {
                if !fits {
                    return Err(AbortReason::ConfirmationRefused);
                }
                self.phase = Phase::Decrypt;
            }
            (Phase::Decrypt, Response::Ciphered(signature)) => {
                self.peer_signature = signature;
                self.phase = Phase::VerifySignature;
            }
            (Phase::VerifySignature, Response::SignatureVerified(fits)) => {
                if !fits {
                    return Err(AbortReason::SignatureRefused);
                }
                self.phase = Phase::Done;
                return Ok(Effect::Done);
            }
            // A response to a question it did not ask cannot come: it has one job at a time.
            _ => {}
        }
        Ok(Effect::Nothing)
    }

    fn confirm(&mut self, tag: &[u8]) -> Effect {
        self.phase = Phase::AwaitConfirmations;
        Effect::Send(self.setup.side.confirmation_step(), Text::of(&[self.draft.as_bytes(), tag]))
    }

    fn keys(&self) -> Result<&SessionKeys, AbortReason> {
        self.keys.as_ref().ok_or(AbortReason::SecretMissing)
    }

    fn signed_text(&self, side: Side) -> Result<Text, AbortReason> {
        let shares = self.shares().ok_or(AbortReason::ShareMissing)?;
        Ok(signed::confirmation_text(self.setup.profile, side, shares, &self.transcript))
    }

    fn tagged_text(&self, side: Side, ciphertext: &Text) -> Text {
        signed::confirmation_tag_text(side, &self.transcript, ciphertext.as_bytes())
    }
}

#[cfg(test)]
mod tests;
