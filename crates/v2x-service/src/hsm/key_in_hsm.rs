//! A key in a back end as `chronoseal-v2x` sees keys.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronoseal_v2x::crypto::{AgreementKey, KeyError, SigningKey};

use super::{Curve, EcdsaSignature, Hsm, HsmError, KeyHandle, PublicPoint, Recovery, SharedX};

/// A back end several keys of it are used from.
#[derive(Clone)]
pub struct SharedHsm {
    hsm: Arc<Mutex<Box<dyn Hsm>>>,
    recoveries: Arc<Mutex<Vec<Recovery>>>,
}

impl SharedHsm {
    /// Takes the back end over.
    #[must_use]
    pub fn new(hsm: Box<dyn Hsm>) -> Self {
        Self { hsm: Arc::new(Mutex::new(hsm)), recoveries: Arc::default() }
    }

    /// The back end, for as long as nobody else may use it.
    pub fn lock(&self) -> MutexGuard<'_, Box<dyn Hsm>> {
        // A back end has no state of its own that a panic elsewhere could have left half changed.
        self.hsm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of the keys each time a [`HsmKey`] found the device lost and brought it back, since the last call of
    /// this.
    pub fn take_recoveries(&self) -> Vec<Recovery> {
        std::mem::take(&mut self.recoveries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works with the device; if it turns out to be lost, brings it back once and tries again.
    fn with<T>(&self, mut work: impl FnMut(&mut dyn Hsm) -> Result<T, HsmError>) -> Result<T, HsmError> {
        let mut hsm = self.lock();
        match work(&mut **hsm) {
            Err(HsmError::DeviceLost { .. }) => {
                let recovery = hsm.recover()?;
                self.recoveries.lock().unwrap_or_else(PoisonError::into_inner).push(recovery);
                work(&mut **hsm)
            }
            done => done,
        }
    }

    /// One of its pairs.
    ///
    /// # Errors
    /// As [`Hsm::export_public`].
    pub fn key(&self, handle: KeyHandle) -> Result<HsmKey, HsmError> {
        let public = self.lock().export_public(handle)?;
        Ok(HsmKey { hsm: self.clone(), handle, public, last_error: None })
    }
}

/// A pair in a back end, which signs and agrees for `chronoseal-v2x`.
///
/// When the device was lost it is brought back and the call made again: a persistent key goes on, a volatile one is
/// [not found](HsmError::NotFound), and [`SharedHsm::take_recoveries`] tells of it.
///
/// ```
/// use chronoseal_v2x::crypto::{SigningKey, VerifyingKey};
/// use chronoseal_v2x_service::hsm::{Curve, Hsm, Persistence, SharedHsm, SoftwareHsm};
///
/// # let folder = std::env::temp_dir().join(format!("chronoseal-key-{}", std::process::id()));
/// let hsm = SharedHsm::new(Box::new(SoftwareHsm::create(&folder, "4711")?));
/// let handle = hsm.lock().create_pair(Curve::NistP256, Persistence::Volatile, "ticket")?;
/// let mut key = hsm.key(handle)?;
/// let signature = key.sign_digest(&[7; 32])?;
/// assert!(VerifyingKey::new(SigningKey::public_point(&key)).verify_digest(&[7; 32], &signature));
/// # drop((key, hsm));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HsmKey {
    hsm: SharedHsm,
    handle: KeyHandle,
    public: PublicPoint,
    last_error: Option<HsmError>,
}

impl HsmKey {
    /// Its number in the back end.
    #[must_use]
    pub const fn handle(&self) -> KeyHandle {
        self.handle
    }

    /// What the last call failed with: `chronoseal-v2x` passes on no more than its text.
    #[must_use]
    pub const fn last_error(&self) -> Option<&HsmError> {
        self.last_error.as_ref()
    }

    fn use_key<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Hsm, KeyHandle) -> Result<T, HsmError>,
    ) -> Result<T, KeyError> {
        let result = self.hsm.with(|hsm| work(hsm, self.handle));
        result.map_err(|error| {
            let text = error.to_string();
            self.last_error = Some(error);
            KeyError::Device(text)
        })
    }
}

impl SigningKey for HsmKey {
    fn curve(&self) -> Curve {
        self.public.curve()
    }

    fn public_point(&self) -> PublicPoint {
        self.public
    }

    fn sign_digest(&mut self, digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
        self.use_key(|hsm, key| hsm.sign_digest(key, digest))
    }
}

impl AgreementKey for HsmKey {
    fn curve(&self) -> Curve {
        self.public.curve()
    }

    fn public_point(&self) -> PublicPoint {
        self.public
    }

    fn agree(&mut self, peer: &PublicPoint) -> Result<SharedX, KeyError> {
        self.use_key(|hsm, key| hsm.agree(key, peer))
    }
}
