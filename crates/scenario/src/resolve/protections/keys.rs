//! Where the keys of protections come from.

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_crypto::{KeyLen, MacAlgorithm};
use chronoseal_frameauth::{KeyBytes, SymmetricKey};
use chronoseal_plan::KeySource;

use crate::kinds::Context;
use crate::near::nearest;
use crate::problem::Code;
use crate::source::{Step, at};
use crate::spec::Spec;

/// The key that all have from the start.
const PRE_SHARED: &str = "pre-shared";
/// How many random streams of [`Purpose::Key`] come before those of `mac`: keys of streams, of `hmac`, and those that nodes
/// of a group have of their own use the first ones.
const MAC_KEYS: u64 = 3 << 32;

impl Context<'_> {
    /// Whether a key named `written`, or not named, is that called `key`; otherwise it is drawn from the seed.
    pub(in crate::resolve) fn is_under(&mut self, path: &[Step<'_>], written: Option<&str>, key: Option<&str>) -> bool {
        match (written, key) {
            (Some(PRE_SHARED), _) | (None, None) => false,
            (None, Some(_)) => true,
            (Some(name), Some(key)) if name == key => true,
            (Some(name), _) => {
                let names = key_names(self.spec);
                // A second key has been refused already.
                if !self.spec.keys.contains_key(name) {
                    self.find(name, &names, path, "key", "keys");
                }
                key.is_some()
            }
        }
    }

    /// The key of a `mac`: that of a group called `key`, one drawn from the seed, or the bytes written.
    pub(super) fn key(&mut self, i: usize, mac: MacAlgorithm, written: Option<&str>, key: Option<&str>) -> KeySource {
        let len = match mac.key_len() {
            KeyLen::Any => KeyBytes::LEN,
            KeyLen::Exactly(len) => len,
        };
        let path = at!["protections", i, "mac", "key"];
        if let Some(text) = written.filter(|text| !self.is_name_of_key(text)) {
            if mac.needs_nonce() {
                self.report(
                    Code::BadKey,
                    path,
                    format!(
                        "a key of {mac} cannot be written: senders count from the beginning in each run, so that its nonces would come \
                         again under the same key"
                    ),
                    "one key for every run",
                    "leave `key` out, or write the name of a key that nodes agree on",
                );
                return KeySource::Shared(self.drawn(MAC_KEYS + i as u64, len));
            }
            match from_hex(text).filter(|key| mac.takes_key_len(key.expose().len())) {
                Some(key) => return KeySource::Shared(key),
                None => {
                    let digits = match mac.key_len() {
                        KeyLen::Any => format!("2 to {}", 2 * len),
                        KeyLen::Exactly(len) => (2 * len).to_string(),
                    };
                    self.report(
                        Code::BadKey,
                        path,
                        format!("the key cannot be read: {mac} takes {digits} hexadecimal digits, two for each byte"),
                        "no key",
                        "write these digits, the name of a key, or `\"pre-shared\"`",
                    );
                }
            }
        } else if self.is_under(path, written, key) {
            return KeySource::Group;
        }
        KeySource::Shared(self.drawn(MAC_KEYS + i as u64, len))
    }

    /// Whether a text is meant as a name: it is one, or near one. Anything else may be a key, which is never shown.
    fn is_name_of_key(&self, text: &str) -> bool {
        nearest(text, key_names(self.spec)).is_some()
    }

    /// The key of an `hmac` as written, or drawn from the seed. A key that cannot be read is never shown.
    pub(super) fn key_of_64_bytes(&mut self, i: usize, written: Option<&str>) -> SymmetricKey {
        if let Some(text) = written {
            match KeyBytes::from_hex(text) {
                Ok(key) => return (&key).into(),
                Err(error) => self.report(
                    Code::BadKey,
                    at!["protections", i, "hmac", "key"],
                    format!("the key cannot be read: {error}"),
                    "no key",
                    format!("write {} hexadecimal digits, or leave `key` out", 2 * KeyBytes::LEN),
                ),
            }
        }
        self.drawn(i as u64, KeyBytes::LEN)
    }

    /// A key of `len` bytes from the random stream of this number.
    fn drawn(&self, number: u64, len: usize) -> SymmetricKey {
        let mut bytes = [0; KeyBytes::LEN];
        random::stream(self.spec.seed, Purpose::Key, number).fill_bytes(&mut bytes[..len]);
        SymmetricKey::from_slice(&bytes[..len]).expect("every algorithm takes keys of 1 to 64 bytes")
    }
}

/// What a key can be called.
fn key_names(spec: &Spec) -> Vec<&str> {
    spec.keys.keys().map(String::as_str).chain([PRE_SHARED]).collect()
}

/// The bytes of an even number of hexadecimal digits, if there are as many as a key can have.
fn from_hex(text: &str) -> Option<SymmetricKey> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    if rest.is_empty() { SymmetricKey::from_slice(&bytes) } else { None }
}
