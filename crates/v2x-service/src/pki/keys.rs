//! Keys of a device as the exchanges want them, and public keys as other programs want them.

use std::fmt;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use chronoseal_v2x::crypto::{Curve, PublicPoint};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{ServiceError, files};
use crate::hsm::{BackEnd, HsmError, HsmKey, KeyHandle, Persistence, SharedHsm};
use crate::private::warning_if_readable;

/// A device that several keys of one process are in.
#[derive(Clone)]
pub struct KeyDevice {
    hsm: SharedHsm,
}

impl fmt::Debug for KeyDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDevice")
    }
}

impl KeyDevice {
    /// A device that is open already.
    #[must_use]
    pub fn new(hsm: SharedHsm) -> Self {
        Self { hsm }
    }

    /// The key files in the folder `keys` of `directory`, sealed under the PIN in the file `pin` there, which is made
    /// up at first: whoever can read that file can use the keys.
    ///
    /// # Errors
    /// [`ServiceError::Hsm`] or [`ServiceError::File`].
    pub fn software(directory: &Path) -> Result<Self, ServiceError> {
        let pin = pin(&Self::pin_file(directory))?;
        let back_end = BackEnd::Software { folder: directory.join("keys"), predefined: None };
        Ok(Self::new(SharedHsm::new(back_end.open(&pin)?)))
    }

    /// Any device, with the PIN in this file.
    ///
    /// # Errors
    /// [`ServiceError::Hsm`] or [`ServiceError::File`].
    pub fn open(back_end: &BackEnd, pin_file: &Path) -> Result<Self, ServiceError> {
        let pin =
            String::from_utf8(files::read(pin_file)?).map_err(|_| ServiceError::content(pin_file, "a PIN is text"))?;
        Ok(Self::new(SharedHsm::new(back_end.open_anywhere(pin.trim_end())?)))
    }

    /// What to say of a file with a PIN that others than its owner can read: whoever has the PIN can use the keys.
    #[must_use]
    pub fn pin_warning(pin_file: &Path) -> Option<String> {
        warning_if_readable(pin_file)
    }

    /// Where [`KeyDevice::software`] has the PIN of the keys in `directory`.
    #[must_use]
    pub fn pin_file(directory: &Path) -> PathBuf {
        directory.join("pin")
    }

    /// Makes a pair and gives back its handle.
    ///
    /// # Errors
    /// Those of the device.
    pub fn create(&self, curve: Curve, label: &str) -> Result<KeyHandle, HsmError> {
        self.hsm.lock().create_pair(curve, Persistence::Persistent, label)
    }

    /// Ends a key that came to no use.
    pub(super) fn discard(&self, handle: KeyHandle) {
        // It is no loss if it stays: nothing refers to it.
        let _ = self.hsm.lock().delete(handle);
    }

    /// A key of the device.
    ///
    /// # Errors
    /// Those of the device: above all that there is no such key.
    pub fn key(&self, handle: KeyHandle) -> Result<HsmKey, HsmError> {
        self.hsm.key(handle)
    }
}

/// The PIN in a file, made up if there is none.
fn pin(path: &Path) -> Result<String, ServiceError> {
    if path.exists() {
        return String::from_utf8(files::read(path)?).map_err(|_| ServiceError::content(path, "a PIN is text"));
    }
    let mut octets = [0; 16];
    getrandom::fill(&mut octets).map_err(|error| ServiceError::content(path, error))?;
    let pin: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    files::write(path, pin.as_bytes(), 0o600)?;
    Ok(pin)
}

/// A generator seeded by the operating system.
pub(super) fn rng() -> Result<ChaCha20Rng, ServiceError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| ServiceError::content(Path::new("random numbers"), error))?;
    Ok(ChaCha20Rng::from_seed(seed))
}

/// Algorithm identifier of a public key: id-ecPublicKey (RFC 5480) and the curve's object identifier.
fn algorithm(curve: Curve) -> Vec<u8> {
    const EC_PUBLIC_KEY: &[u8] = &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    let named: &[u8] = match curve {
        Curve::NistP256 => &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
        Curve::NistP384 => &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
        Curve::BrainpoolP256r1 => &[0x06, 0x09, 0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07],
        Curve::BrainpoolP384r1 => &[0x06, 0x09, 0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0b],
    };
    tlv(0x30, &[EC_PUBLIC_KEY, named].concat())
}

/// Tag, length, value; of values shorter than 128 octets.
fn tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("a public key is shorter than 128 octets");
    [&[tag, length], value].concat()
}

/// A public key as PEM, `SubjectPublicKeyInfo` (RFC 5480) with the point uncompressed.
#[must_use]
pub fn public_key_pem(key: &PublicPoint) -> String {
    let point = [&[0], key.to_sec1_uncompressed().as_slice()].concat();
    let info = tlv(0x30, &[algorithm(key.curve()), tlv(0x03, &point)].concat());
    let text = Base64::encode_string(&info);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned());
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.collect::<Vec<_>>().join("\n"))
}

/// Reads what [`public_key_pem`] or another program wrote.
///
/// # Errors
/// [`ServiceError::Content`].
pub fn read_public_key(path: &Path) -> Result<PublicPoint, ServiceError> {
    let text = String::from_utf8(files::read(path)?).map_err(|_| ServiceError::content(path, "no PEM"))?;
    parse_public_key(&text)
        .ok_or_else(|| ServiceError::content(path, "no public key on one of the four curves in PEM (BEGIN PUBLIC KEY)"))
}

fn parse_public_key(text: &str) -> Option<PublicPoint> {
    let (_, rest) = text.split_once("-----BEGIN PUBLIC KEY-----")?;
    let (body, _) = rest.split_once("-----END PUBLIC KEY-----")?;
    let body: String = body.split_whitespace().collect();
    let info = Base64::decode_vec(&body).ok()?;
    Curve::ALL.into_iter().find_map(|curve| {
        // The point may be compressed or not; everything before it is given by the curve.
        let algorithm = algorithm(curve);
        let rest = info.get(2..)?.strip_prefix(algorithm.as_slice())?;
        let point = PublicPoint::from_sec1(curve, rest.get(3..)?).ok()?;
        let expected = tlv(0x30, &[algorithm, tlv(0x03, &[&[0], rest.get(3..)?].concat())].concat());
        (expected == info).then_some(point)
    })
}
