//! Jobs: what is asked, and what comes of it.

use chronoseal_core::Work;
use chronoseal_crypto::suite::{AgreedSecret, AgreementError, Share, Signature, Suite, SuiteOperations};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128, Key128};

use super::DriverObject;
use crate::identifier::Address;
use crate::keys::Secret;
use crate::text::Text;

/// A service of the Crypto Service Manager (AUTOSAR CP, Specification of Crypto Service Manager).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceName {
    /// `Csm_SignatureVerify`, 0x64.
    SignatureVerify,
    /// `Csm_SignatureGenerate`, 0x76.
    SignatureGenerate,
    /// `Csm_KeyExchangeCalcPubVal`, 0x6C; as a job `Csm_JobKeyExchangeCalcPubVal`, 0x7E.
    KeyExchangeCalcPubVal,
    /// `Csm_KeyExchangeCalcSecret`, 0x6D; as a job `Csm_JobKeyExchangeCalcSecret`, 0x7F. The derivation of keys from
    /// the secret (`Csm_KeyDerive`, 0x6B) is part of it, as in the source's "extract".
    KeyExchangeCalcSecret,
    /// `Csm_Encrypt`, 0x5E.
    Encrypt,
    /// `Csm_Decrypt`, 0x5F.
    Decrypt,
    /// `Csm_MacGenerate`, 0x60.
    MacGenerate,
    /// `Csm_MacVerify`, 0x61.
    MacVerify,
    /// `Csm_RandomGenerate`, 0x72.
    RandomGenerate,
}

/// Higher goes first; among equals the earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum JobPriority {
    /// The group's confirmation.
    Confirmation,
    /// A node's own exchanges.
    Exchange,
    /// What others wait for: requests of the orchestrator.
    Orchestration,
}

/// What a job is to compute, with everything it needs but the node's own signature key and the public keys.
pub(crate) enum Request {
    SignatureVerify {
        signer: Address,
        text: Text,
        signature: Signature,
    },
    SignatureGenerate {
        text: Text,
    },
    /// Without a private key one is drawn.
    KeyExchangeCalcPubVal {
        private: Option<Secret>,
    },
    KeyExchangeCalcSecret {
        private: Secret,
        peer: Share,
    },
    Encrypt {
        key: Key128,
        counter: [u8; 16],
        text: Text,
    },
    Decrypt {
        key: Key128,
        counter: [u8; 16],
        text: Text,
    },
    MacGenerate {
        key: Key128,
        text: Text,
    },
    MacVerify {
        key: Key128,
        text: Text,
        tag: [u8; 16],
    },
    RandomGenerate,
}

/// What came of a job.
pub(crate) enum Response {
    SignatureVerified(bool),
    Signature(Signature),
    PublicValue { private: Secret, share: Share },
    Agreed(Result<AgreedSecret, AgreementError>),
    Ciphered(Text),
    Tag([u8; 16]),
    TagVerified(bool),
    Random(Secret),
}

/// Whom a response belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// The exchange in this slot, if it is still the one with this number.
    Exchange { slot: u8, number: u32 },
    /// The orchestrator's request for this result.
    Orchestration(Address),
    /// The distribution of the master secret; for a member the one with this number.
    Distribution(u32),
    /// The tag that shows that a member holds the key; on the orchestrator's side whose.
    Ready(Address),
    /// The orchestrator's word that all hold it.
    Commit,
    /// The orchestrator's word that the key in use is given up.
    Withdrawal,
}

/// A job in the queue.
pub(crate) struct Job {
    pub(crate) owner: Owner,
    pub(crate) priority: JobPriority,
    pub(crate) request: Request,
}

impl Request {
    /// The service it asks for.
    pub(crate) const fn service(&self) -> ServiceName {
        match self {
            Self::SignatureVerify { .. } => ServiceName::SignatureVerify,
            Self::SignatureGenerate { .. } => ServiceName::SignatureGenerate,
            Self::KeyExchangeCalcPubVal { .. } => ServiceName::KeyExchangeCalcPubVal,
            Self::KeyExchangeCalcSecret { .. } => ServiceName::KeyExchangeCalcSecret,
            Self::Encrypt { .. } => ServiceName::Encrypt,
            Self::Decrypt { .. } => ServiceName::Decrypt,
            Self::MacGenerate { .. } => ServiceName::MacGenerate,
            Self::MacVerify { .. } => ServiceName::MacVerify,
            Self::RandomGenerate => ServiceName::RandomGenerate,
        }
    }

    /// What it is charged as. Randomness is free: in the source it is part of making a share.
    pub(crate) fn work<S: Suite>(&self) -> Option<Work> {
        let symmetric = |operation, text: &Text| Work::of(operation, text.len() as u32);
        Some(match self {
            Self::SignatureVerify { text, .. } => SuiteOperations::work(S::OPERATIONS.verify, text.len()),
            Self::SignatureGenerate { text } => SuiteOperations::work(S::OPERATIONS.sign, text.len()),
            Self::KeyExchangeCalcPubVal { .. } => SuiteOperations::work(S::OPERATIONS.share, S::SHARE_LEN),
            Self::KeyExchangeCalcSecret { .. } => SuiteOperations::work(S::OPERATIONS.agree, S::SHARE_LEN),
            Self::Encrypt { text, .. } | Self::Decrypt { text, .. } => symmetric(Aes128Ctr::OPERATION, text),
            Self::MacGenerate { text, .. } | Self::MacVerify { text, .. } => symmetric(CmacAes128::OPERATION, text),
            Self::RandomGenerate => return None,
        })
    }
}

impl ServiceName {
    /// The driver object that computes it.
    pub const fn driver_object(self) -> DriverObject {
        match self {
            Self::SignatureVerify
            | Self::SignatureGenerate
            | Self::KeyExchangeCalcPubVal
            | Self::KeyExchangeCalcSecret => DriverObject::Curve,
            Self::Encrypt | Self::Decrypt | Self::MacGenerate | Self::MacVerify => DriverObject::Aes,
            Self::RandomGenerate => DriverObject::Rng,
        }
    }
}
