//! Signatures to be verified, taken out of the rest.

use std::sync::Arc;

use crate::crypto::{Curve, EcdsaSignature, HashValue, KeyError, VerifyingKey};
use crate::types::{HashedId8, PublicVerificationKey};

/// The key of a [`SignatureJob`].
#[derive(Clone, Debug)]
pub enum JobKey {
    /// Ready.
    Ready(Arc<VerifyingKey>),
    /// From a certificate that is new: still a compressed point.
    New(PublicVerificationKey),
}

impl JobKey {
    /// The key, ready.
    ///
    /// # Errors
    /// [`KeyError`] if it is no point, or of no use.
    pub fn ready(&self) -> Result<Arc<VerifyingKey>, KeyError> {
        match self {
            Self::Ready(key) => Ok(Arc::clone(key)),
            Self::New(key) => VerifyingKey::from_verification_key(key).map(Arc::new),
        }
    }
}

/// A signature to be verified.
#[derive(Clone, Debug)]
pub struct SignatureJob {
    /// The key.
    pub key: JobKey,
    /// What was signed.
    pub digest: HashValue,
    /// The signature.
    pub signature: EcdsaSignature,
    /// The certificate the signature is of; none: the message.
    pub certificate: Option<HashedId8>,
}

impl SignatureJob {
    /// Curve of the signature.
    pub fn curve(&self) -> Curve {
        self.signature.curve()
    }

    /// Verifies it here and now.
    pub fn verify(&self) -> bool {
        match &self.key {
            JobKey::Ready(key) => key.verify_digest(self.digest.as_bytes(), &self.signature),
            JobKey::New(_) => {
                self.key.ready().is_ok_and(|key| key.verify_digest(self.digest.as_bytes(), &self.signature))
            }
        }
    }
}
