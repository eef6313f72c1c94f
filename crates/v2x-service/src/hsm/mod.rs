//! Keys behind one seam, wherever they lie.
//!
//! It does *not* decide which key signs what, and it does not hash: callers hand in digests. No back end ever gives a
//! private key back; there is no call for it.
//!
//! [`Hsm`] is the seam. [`Capabilities`] is what a back end says of itself before it is asked: each [`Operation`] is
//! done by the device, shared with the host, or [unsupported](Support::Unsupported) with the reason.
//!
//! | back end | keys lie in | notes |
//! |---|---|---|
//! | [`SoftwareHsm`] | files, sealed under the PIN | all operations, all curves |
//! | [`RtlHsm`] | simulated hardware | P-256 pairs; point multiplications there, the rest on the host |
//! | [`TpmHsm`] | a TPM 2.0 | pairs only; for the enrolment key |
//! | [`Pkcs11Hsm`] | any PKCS#11 token | non-extractable; AES-CCM is put together on the host |

mod capability;
mod config;
pub mod conformance;

mod curve;
mod error;
mod key;
mod key_in_hsm;
mod ledger;
pub mod local;
pub mod measure;
pub mod pkcs11;
pub mod rtl;
pub mod software;
pub mod tpm;
pub mod worker;

pub use capability::{Capabilities, Operation, Support};
pub use chronoseal_v2x::crypto::{Curve, EcdsaSignature, PublicPoint, SharedX};
pub use config::BackEnd;
pub use error::HsmError;
pub use key::{ImportedKey, KeyHandle, KeyInfo, KeyKind, LABEL_LEN_MAX, Persistence};
pub use key_in_hsm::{HsmKey, SharedHsm};
pub use measure::measure;
pub use pkcs11::{Pkcs11Config, Pkcs11Hsm};
pub use rtl::{RtlConfig, RtlHsm, RtlLink};
pub use software::SoftwareHsm;
pub use tpm::{TpmEndpoint, TpmHsm};

use std::io::{self, Read};
use std::ops::RangeInclusive;

/// Length of an AES-CCM nonce `[byte]`. [IEEE 1609.2-2022 §5.3.8]
pub const NONCE_LEN: usize = 12;
/// Length of an AES-CCM tag, which follows the ciphertext `[byte]`. [IEEE 1609.2-2022 §5.3.8]
pub const TAG_LEN: usize = 16;
/// Longest plaintext one call encrypts `[byte]`.
pub const PLAINTEXT_LEN_MAX: usize = 0xFFFF;

/// A place that keeps keys and works with them.
///
/// Every call may return [`HsmError::Unsupported`] where [`Hsm::capabilities`] says so, and [`HsmError::DeviceLost`]
/// when the device has gone; after that every call does, until [`Hsm::recover`] succeeds.
pub trait Hsm: Send {
    /// What this back end can do.
    fn capabilities(&self) -> &Capabilities;

    /// Makes an AES-128 key.
    ///
    /// # Errors
    /// [`HsmError::DiskFull`] or [`HsmError::DeviceFull`] without room for it.
    fn create_symmetric(&mut self, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError>;

    /// Makes a private key and its public point.
    ///
    /// # Errors
    /// [`HsmError::DiskFull`] or [`HsmError::DeviceFull`] without room for it.
    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError>;

    /// Takes in a key that was made elsewhere.
    ///
    /// # Errors
    /// [`HsmError::InvalidArgument`] for a scalar that is not in 1..n; else as [`Hsm::create_pair`].
    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError>;

    /// Public point of a pair.
    ///
    /// # Errors
    /// [`HsmError::NotFound`], or [`HsmError::WrongKind`] for a symmetric key.
    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError>;

    /// All keys, by handle.
    ///
    /// # Errors
    /// Those every call has.
    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError>;

    /// Ends a key.
    ///
    /// # Errors
    /// [`HsmError::NotFound`], or [`HsmError::Predefined`].
    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError>;

    /// ECDSA over a digest as long as the curve's hash: 32 bytes for the curves of 256 bits, 48 for those of 384.
    ///
    /// # Errors
    /// [`HsmError::NotFound`], [`HsmError::WrongKind`], or [`HsmError::InvalidArgument`] for a digest of another length.
    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError>;

    /// Signs several digests by one key, in their order. Devices that can do so work on several at a time.
    ///
    /// # Errors
    /// As [`Hsm::sign_digest`]; then none of them is signed as far as the caller can tell.
    fn sign_batch(&mut self, key: KeyHandle, digests: &[&[u8]]) -> Result<Vec<EcdsaSignature>, HsmError> {
        digests.iter().map(|digest| self.sign_digest(key, digest)).collect()
    }

    /// Whether `signature` over `digest` is of the private key of `public`.
    ///
    /// # Errors
    /// [`HsmError::InvalidArgument`] for a signature of another curve or a digest of another length. A wrong signature is `Ok(false)`.
    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError>;

    /// AES-CCM without associated data: ciphertext, then tag. A nonce must never be used twice with a key.
    ///
    /// # Errors
    /// [`HsmError::NotFound`], [`HsmError::WrongKind`], or [`HsmError::InvalidArgument`] beyond [`PLAINTEXT_LEN_MAX`].
    fn encrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, HsmError>;

    /// What [`Hsm::encrypt`] was given.
    ///
    /// # Errors
    /// [`HsmError::NotAuthentic`] if anything was changed; else as [`Hsm::encrypt`].
    fn decrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], ciphertext: &[u8]) -> Result<Vec<u8>, HsmError>;

    /// ECDH: the x coordinate of private key times `peer`. The rest of ECIES (KDF2, MAC1) is the caller's.
    ///
    /// # Errors
    /// [`HsmError::NotFound`], [`HsmError::WrongKind`], or [`HsmError::InvalidArgument`] for a point of another curve.
    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError>;

    /// Handles of the keys that are there before the first call, if the back end was set up with such.
    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        None
    }

    /// Brings the predefined keys back to what was provisioned, and ends every volatile key: what configuring an FPGA
    /// anew does. Returns the predefined keys that are there.
    ///
    /// # Errors
    /// Those every call has.
    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError>;

    /// Starts or finds the device again after [`HsmError::DeviceLost`] and says what became of the keys.
    ///
    /// # Errors
    /// Whatever opening it may return.
    fn recover(&mut self) -> Result<Recovery, HsmError>;

    /// What the last call would have taken on the hardware a simulation stands for.
    fn simulated_cost(&self) -> Option<SimulatedCost> {
        None
    }
}

/// What is left after a device was lost and found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recovery {
    /// Keys that were known before and are there.
    pub kept: Vec<KeyHandle>,
    /// Keys that were known before and are not there any more.
    pub lost: Vec<KeyHandle>,
}

/// Time by a model, never by a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulatedCost {
    /// Cycles the simulated device counted.
    pub cycles: u64,
    /// Clock the device is declared to run at `[Hz]`.
    pub clock_hz: u64,
    /// Time the frames take on the modelled link `[ns]`.
    pub link_ns: u64,
}

impl SimulatedCost {
    /// Cycles at the declared clock and the link together `[ns]`.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        let clock_hz = u128::from(self.clock_hz.max(1));
        let engine_ns = u128::from(self.cycles) * 1_000_000_000 / clock_hz;
        u64::try_from(engine_ns).unwrap_or(u64::MAX).saturating_add(self.link_ns)
    }
}

/// Refuses labels no device could keep.
fn check_label(label: &str) -> Result<(), HsmError> {
    if label.len() > LABEL_LEN_MAX || label.chars().any(char::is_control) {
        return Err(HsmError::InvalidArgument(format!(
            "a label has at most {LABEL_LEN_MAX} bytes and no control characters"
        )));
    }
    Ok(())
}

/// Random bytes of the operating system.
fn random(bytes: &mut [u8]) -> Result<(), HsmError> {
    getrandom::fill(bytes).map_err(|error| HsmError::Device {
        operation: "draw random bytes".into(),
        reason: format!("the operating system has none: {error}"),
    })
}

/// One read, as [`Read::read`], which a signal does not end.
///
/// A signal that the process ignores, such as the one for a child that ends, still interrupts a read from a socket with
/// a timeout (`signal(7)`). The device has not failed then; the read waits anew, with the whole timeout.
fn read_once(mut from: impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
