//! Names of keys and what can be said about them without seeing them.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Curve;

/// A key inside a back end, by number.
///
/// A handle of a persistent key means the same key after a restart and may be written into a file. Handles are drawn at
/// random and never given out twice on purpose, so that a note about a deleted key does not come to mean another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct KeyHandle(pub u32);

impl KeyHandle {
    /// First handle of the half that names volatile keys.
    pub const VOLATILE: u32 = 0x8000_0000;

    /// Whether the handle names a key that ends with the device's power or process.
    #[must_use]
    pub const fn is_volatile(self) -> bool {
        self.0 >= Self::VOLATILE
    }
}

impl fmt::Display for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// How long a key lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Persistence {
    /// Until the device loses power, its process ends, or the session closes.
    Volatile,
    /// Until it is deleted.
    Persistent,
}

impl Persistence {
    /// Both, for walking over all.
    pub const ALL: [Self; 2] = [Self::Volatile, Self::Persistent];
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Volatile => "volatile",
            Self::Persistent => "persistent",
        })
    }
}

/// What a key is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyKind {
    /// 128 bits for AES-CCM, the only symmetric algorithm of IEEE 1609.2-2022.
    Aes128,
    /// A scalar on this curve, and its public point.
    Pair(Curve),
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aes128 => f.write_str("AES-128"),
            Self::Pair(curve) => write!(f, "{curve}"),
        }
    }
}

/// One line of [`Hsm::list`](super::Hsm::list).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    /// Its name in every other call.
    pub handle: KeyHandle,
    /// Algorithm.
    pub kind: KeyKind,
    /// How long it lives.
    pub persistence: Persistence,
    /// What the caller wrote on it; empty where a device keeps no labels.
    pub label: String,
}

/// A key that comes from outside.
///
/// `Debug` shows the kind alone.
#[derive(Clone)]
pub enum ImportedKey {
    /// 16 bytes.
    Aes128(Zeroizing<[u8; 16]>),
    /// A scalar in 1..n, big-endian, as long as the curve's field.
    Pair(Curve, Zeroizing<Vec<u8>>),
}

impl ImportedKey {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        match self {
            Self::Aes128(_) => KeyKind::Aes128,
            Self::Pair(curve, _) => KeyKind::Pair(*curve),
        }
    }
}

impl fmt::Debug for ImportedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImportedKey({})", self.kind())
    }
}

/// Longest label a caller may write on a key `[byte]`.
pub const LABEL_LEN_MAX: usize = 64;
