//! The station's keys, as its state machine asks for them.

use std::collections::BTreeMap;

use chronoseal_v2x::crypto::{Curve, KeyError, PublicPoint, SigningKey};
use chronoseal_v2x::vss::KeyRing;

use crate::hsm::{EcdsaSignature, HsmKey, KeyHandle, SharedHsm};

/// Keys of the HSM that are in use.
pub(super) struct Ring {
    pub(super) hsm: SharedHsm,
    pub(super) keys: BTreeMap<KeyHandle, HsmKey>,
}

impl Ring {
    pub(super) fn key(&mut self, handle: KeyHandle) -> Result<&mut HsmKey, KeyError> {
        if !self.keys.contains_key(&handle) {
            let key = self.hsm.key(handle).map_err(|error| KeyError::Device(error.to_string()))?;
            self.keys.insert(handle, key);
        }
        self.keys.get_mut(&handle).ok_or_else(|| KeyError::Device("the key is gone".into()))
    }
}

/// A borrowed key.
struct Borrowed<'a>(&'a mut HsmKey);

impl SigningKey for Borrowed<'_> {
    fn curve(&self) -> Curve {
        SigningKey::curve(&*self.0)
    }
    fn public_point(&self) -> PublicPoint {
        SigningKey::public_point(&*self.0)
    }
    fn sign_digest(&mut self, digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
        self.0.sign_digest(digest)
    }
}

impl KeyRing<KeyHandle> for Ring {
    fn signing_key(&mut self, name: &KeyHandle) -> Result<Box<dyn SigningKey + '_>, KeyError> {
        Ok(Box::new(Borrowed(self.key(*name)?)))
    }
}
