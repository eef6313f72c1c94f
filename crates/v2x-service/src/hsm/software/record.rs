//! Key files, byte by byte.
//!
//! ```text
//! store.hsm   "CSHS" | version 1 | argon2id: memory u32 [KiB], passes u32, lanes u32 | salt 16
//!             | nonce 24 | sealed master key 48 | SHA-256 of all before 32
//! HANDLE.key  "CSHK" | version 1 | handle u32 | kind u8 | nonce 24 | sealed (label length u8, label, key) | SHA-256 32
//! ```
//!
//! Sealed is XChaCha20-Poly1305: the master key under argon2id of the PIN, the keys under the master key, each with
//! everything before its nonce as associated data. The checksum tells a damaged file from a wrong PIN; it protects
//! nothing, the tags do.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::hsm::{HsmError, KeyHandle, KeyKind, curve, random};

const STORE_MAGIC: &[u8; 5] = b"CSHS\x01";
const KEY_MAGIC: &[u8; 5] = b"CSHK\x01";
const SALT_LEN: usize = 16;
const SEAL_NONCE_LEN: usize = 24;
const CHECKSUM_LEN: usize = 32;
const STORE_HEAD_LEN: usize = 5 + 12 + SALT_LEN;
const STORE_LEN: usize = STORE_HEAD_LEN + SEAL_NONCE_LEN + 32 + 16 + CHECKSUM_LEN;
const KEY_HEAD_LEN: usize = 5 + 4 + 1;

/// Most memory a store file may ask for `[KiB]`. A forged one cannot take the machine down with it.
const ARGON2_MEMORY_MAX_KIB: u32 = 1 << 20;
const ARGON2_PASSES_MAX: u32 = 64;

/// What turning the PIN into a key costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PinCost {
    /// Memory `[KiB]`.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
}

impl Default for PinCost {
    /// Second recommendation of RFC 9106 §4 for little memory: 64 MiB, three passes, one lane instead of four.
    fn default() -> Self {
        Self { memory_kib: 64 << 10, passes: 3 }
    }
}

/// Key that seals the others.
pub(super) type MasterKey = Zeroizing<[u8; 32]>;

/// A key as a file holds it.
pub(super) struct Record {
    pub(super) kind: KeyKind,
    pub(super) label: String,
    pub(super) secret: Zeroizing<Vec<u8>>,
}

/// Why a file cannot be used.
pub(super) enum Refusal {
    Damaged(&'static str),
    WrongPin,
}

/// Contents of a new store file.
pub(super) fn seal_store(pin: &str, cost: PinCost, master: &MasterKey) -> Result<Vec<u8>, HsmError> {
    let mut bytes = STORE_MAGIC.to_vec();
    for number in [cost.memory_kib, cost.passes, 1] {
        bytes.extend(number.to_be_bytes());
    }
    let mut salt = [0; SALT_LEN];
    random(&mut salt)?;
    bytes.extend(salt);
    let key = pin_key(pin, cost, &salt)
        .ok_or_else(|| HsmError::InvalidArgument(format!("argon2id does not take {cost:?}")))?;
    seal(&key, bytes, master.as_slice())
}

/// The master key in a store file.
pub(super) fn open_store(bytes: &[u8], pin: &str) -> Result<MasterKey, Refusal> {
    let head = checked(bytes, STORE_MAGIC)?;
    if bytes.len() != STORE_LEN {
        return Err(Refusal::Damaged("wrong length"));
    }
    let cost = PinCost { memory_kib: number_at(head, 5), passes: number_at(head, 9) };
    if cost.memory_kib > ARGON2_MEMORY_MAX_KIB || cost.passes > ARGON2_PASSES_MAX || number_at(head, 13) != 1 {
        return Err(Refusal::Damaged("absurd argon2id parameters"));
    }
    let mut salt = [0; SALT_LEN];
    salt.copy_from_slice(&head[STORE_HEAD_LEN - SALT_LEN..STORE_HEAD_LEN]);
    let key = pin_key(pin, cost, &salt).ok_or(Refusal::Damaged("absurd argon2id parameters"))?;
    let opened = unseal(&key, head, STORE_HEAD_LEN).ok_or(Refusal::WrongPin)?;
    let mut master = Zeroizing::new([0; 32]);
    master.copy_from_slice(opened.get(..32).ok_or(Refusal::Damaged("wrong length"))?);
    Ok(master)
}

/// Contents of a key file.
pub(super) fn seal_key(master: &MasterKey, handle: KeyHandle, record: &Record) -> Result<Vec<u8>, HsmError> {
    let mut bytes = KEY_MAGIC.to_vec();
    bytes.extend(handle.0.to_be_bytes());
    bytes.push(kind_code(record.kind));
    let mut plain = Zeroizing::new(Vec::with_capacity(1 + record.label.len() + record.secret.len()));
    // Labels are refused above `LABEL_LEN_MAX` bytes, which fits.
    plain.push(u8::try_from(record.label.len()).unwrap_or(u8::MAX));
    plain.extend(record.label.as_bytes());
    plain.extend(record.secret.iter());
    seal(master, bytes, &plain)
}

/// The key in a key file that is named after `handle`.
pub(super) fn open_key(master: &MasterKey, handle: KeyHandle, bytes: &[u8]) -> Result<Record, Refusal> {
    let head = checked(bytes, KEY_MAGIC)?;
    if head.len() < KEY_HEAD_LEN + SEAL_NONCE_LEN {
        return Err(Refusal::Damaged("wrong length"));
    }
    if number_at(head, 5) != handle.0 {
        return Err(Refusal::Damaged("it is the file of another handle"));
    }
    let kind = kind_of_code(head[9]).ok_or(Refusal::Damaged("unknown kind of key"))?;
    let plain = unseal(master, head, KEY_HEAD_LEN).ok_or(Refusal::Damaged("its seal is not of this store"))?;
    let secret_len = match kind {
        KeyKind::Aes128 => 16,
        KeyKind::Pair(curve) => curve.coordinate_len(),
    };
    let label_len = usize::from(*plain.first().ok_or(Refusal::Damaged("wrong length"))?);
    if plain.len() != 1 + label_len + secret_len {
        return Err(Refusal::Damaged("wrong length"));
    }
    let label = std::str::from_utf8(&plain[1..=label_len]).map_err(|_| Refusal::Damaged("its label is no text"))?;
    Ok(Record { kind, label: label.to_owned(), secret: Zeroizing::new(plain[1 + label_len..].to_vec()) })
}

/// argon2id of the PIN; `None` if the parameters are not for it.
fn pin_key(pin: &str, cost: PinCost, salt: &[u8; SALT_LEN]) -> Option<MasterKey> {
    let params = Params::new(cost.memory_kib, cost.passes, 1, Some(32)).ok()?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(pin.as_bytes(), salt, key.as_mut_slice())
        .ok()?;
    Some(key)
}

fn seal(key: &MasterKey, mut head: Vec<u8>, plain: &[u8]) -> Result<Vec<u8>, HsmError> {
    let mut nonce = [0; SEAL_NONCE_LEN];
    random(&mut nonce)?;
    let sealed = XChaCha20Poly1305::new((&**key).into())
        .encrypt((&nonce).into(), Payload { msg: plain, aad: &head })
        // A few dozen bytes are far below what the cipher's counter allows.
        .map_err(|_| HsmError::InvalidArgument("key too long to seal".into()))?;
    head.extend(nonce);
    head.extend(sealed);
    let checksum = Sha256::digest(&head);
    head.extend(checksum);
    Ok(head)
}

/// `bytes` are head, nonce and sealed part.
fn unseal(key: &MasterKey, bytes: &[u8], head_len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let (head, rest) = bytes.split_at_checked(head_len)?;
    let (nonce, sealed) = rest.split_first_chunk::<SEAL_NONCE_LEN>()?;
    let cipher = XChaCha20Poly1305::new((&**key).into());
    cipher.decrypt(nonce.into(), Payload { msg: sealed, aad: head }).ok().map(Zeroizing::new)
}

/// All but the checksum, if that holds and the file is of this kind.
fn checked<'a>(bytes: &'a [u8], magic: &[u8]) -> Result<&'a [u8], Refusal> {
    let Some(len) = bytes.len().checked_sub(CHECKSUM_LEN).filter(|len| *len >= KEY_HEAD_LEN) else {
        return Err(Refusal::Damaged("too short"));
    };
    let (head, checksum) = bytes.split_at(len);
    if !head.starts_with(magic) {
        return Err(Refusal::Damaged("no key file, or of a version this program does not know"));
    }
    if Sha256::digest(head).as_slice() != checksum {
        return Err(Refusal::Damaged("wrong checksum"));
    }
    Ok(head)
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u32::from_be_bytes(*chunk))
}

const fn kind_code(kind: KeyKind) -> u8 {
    match kind {
        KeyKind::Aes128 => 0,
        KeyKind::Pair(curve) => curve::code(curve),
    }
}

fn kind_of_code(byte: u8) -> Option<KeyKind> {
    if byte == 0 { Some(KeyKind::Aes128) } else { curve::of_code(byte).map(KeyKind::Pair) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hsm::Curve;

    const CHEAP: PinCost = PinCost { memory_kib: 8, passes: 1 };

    fn master() -> MasterKey {
        Zeroizing::new([9; 32])
    }

    fn record() -> Record {
        let secret = Zeroizing::new(vec![3; 32]);
        Record { kind: KeyKind::Pair(Curve::NistP256), label: "ticket 4".into(), secret }
    }

    #[test]
    fn any_changed_byte_of_a_key_file_is_refused() {
        let bytes = seal_key(&master(), KeyHandle(5), &record()).unwrap();
        assert!(open_key(&master(), KeyHandle(5), &bytes).is_ok());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(matches!(open_key(&master(), KeyHandle(5), &changed), Err(Refusal::Damaged(_))), "byte {at}");
        }
        for len in 0..bytes.len() {
            assert!(open_key(&master(), KeyHandle(5), &bytes[..len]).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn a_changed_byte_with_a_mended_checksum_is_refused_by_the_seal() {
        let bytes = seal_key(&master(), KeyHandle(5), &record()).unwrap();
        for at in KEY_HEAD_LEN - 1..bytes.len() - CHECKSUM_LEN {
            let mut changed = bytes[..bytes.len() - CHECKSUM_LEN].to_vec();
            changed[at] ^= 1;
            let checksum = Sha256::digest(&changed);
            changed.extend(checksum);
            assert!(open_key(&master(), KeyHandle(5), &changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_file_under_another_name_is_refused() {
        let bytes = seal_key(&master(), KeyHandle(5), &record()).unwrap();
        let refused = open_key(&master(), KeyHandle(6), &bytes);
        assert!(matches!(refused, Err(Refusal::Damaged("it is the file of another handle"))));
    }

    #[test]
    fn tells_a_wrong_pin_from_a_damaged_store() {
        let bytes = seal_store("1234", CHEAP, &master()).unwrap();
        assert_eq!(bytes.len(), STORE_LEN);
        assert!(matches!(open_store(&bytes, "1234"), Ok(key) if *key == *master()));
        assert!(matches!(open_store(&bytes, "1235"), Err(Refusal::WrongPin)));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            assert!(matches!(open_store(&changed, "1234"), Err(Refusal::Damaged(_))), "byte {at}");
        }
    }

    #[test]
    fn a_store_that_asks_for_absurd_memory_is_refused_before_it_gets_it() {
        let mut bytes = seal_store("1234", CHEAP, &master()).unwrap();
        bytes.truncate(STORE_LEN - CHECKSUM_LEN);
        bytes[5..9].copy_from_slice(&u32::MAX.to_be_bytes());
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        assert!(matches!(open_store(&bytes, "1234"), Err(Refusal::Damaged("absurd argon2id parameters"))));
    }
}
