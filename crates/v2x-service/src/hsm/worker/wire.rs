//! Requests and answers between a daemon and its worker: MessagePack behind a length of four bytes.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::hsm::config::BackEnd;
use crate::hsm::{
    Capabilities, EcdsaSignature, HsmError, ImportedKey, KeyHandle, KeyInfo, KeyKind, NONCE_LEN, Operation,
    Persistence, PublicPoint, Recovery, Support, curve, read_once,
};

/// Longest message `[byte]`: the longest plaintext has 64 KiB, the longest list is of some thousand keys.
const MESSAGE_LEN_MAX: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    Open { back_end: BackEnd, pin: String },
    CreateSymmetric { persistence: Persistence, label: String },
    CreatePair { curve: u8, persistence: Persistence, label: String },
    Import { kind: u8, secret: Vec<u8>, persistence: Persistence, label: String },
    ExportPublic { key: KeyHandle },
    List,
    Delete { key: KeyHandle },
    Sign { key: KeyHandle, digest: Vec<u8> },
    SignBatch { key: KeyHandle, digests: Vec<Vec<u8>> },
    Verify { public: Point, digest: Vec<u8>, signature: Point },
    Encrypt { key: KeyHandle, nonce: [u8; NONCE_LEN], plaintext: Vec<u8> },
    Decrypt { key: KeyHandle, nonce: [u8; NONCE_LEN], ciphertext: Vec<u8> },
    Agree { key: KeyHandle, peer: Point },
    ReloadPredefined,
    Recover,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    Opened { capabilities: Description, predefined: Option<(u32, u32)> },
    Done,
    Key(KeyHandle),
    Keys(Vec<KeyHandle>),
    Infos(Vec<Info>),
    Point(Point),
    Points(Vec<Point>),
    Holds(bool),
    Bytes(Vec<u8>),
    Recovery { kept: Vec<KeyHandle>, lost: Vec<KeyHandle> },
    Refused(HsmError),
}

/// Two numbers of a curve: x and y, or r and s.
#[derive(Serialize, Deserialize)]
pub(super) struct Point {
    curve: u8,
    first: Vec<u8>,
    second: Vec<u8>,
}

impl Point {
    pub(super) fn of_public(point: &PublicPoint) -> Self {
        Self { curve: curve::code(point.curve()), first: point.x().to_vec(), second: point.y().to_vec() }
    }

    pub(super) fn of_signature(signature: &EcdsaSignature) -> Self {
        Self { curve: curve::code(signature.curve()), first: signature.r().to_vec(), second: signature.s().to_vec() }
    }

    pub(super) fn public(&self) -> Result<PublicPoint, HsmError> {
        let point = curve::of_code(self.curve).and_then(|curve| curve::point(curve, &self.first, &self.second));
        point.ok_or_else(|| HsmError::InvalidArgument("not a point of its curve".into()))
    }

    pub(super) fn signature(&self) -> Result<EcdsaSignature, HsmError> {
        let signature = curve::of_code(self.curve).and_then(|curve| curve::signature(curve, &self.first, &self.second));
        signature.ok_or_else(|| HsmError::InvalidArgument("the signature is not of the curve's length".into()))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Info {
    handle: KeyHandle,
    kind: u8,
    persistence: Persistence,
    label: String,
}

impl From<KeyInfo> for Info {
    fn from(info: KeyInfo) -> Self {
        let KeyInfo { handle, kind, persistence, label } = info;
        Self { handle, kind: kind_code(kind), persistence, label }
    }
}

impl Info {
    pub(super) fn info(self) -> Result<KeyInfo, HsmError> {
        let Self { handle, kind, persistence, label } = self;
        Ok(KeyInfo { handle, kind: kind_of_code(kind)?, persistence, label })
    }
}

/// Capabilities; what is said about each operation, in the order of [`Operation::all`].
#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    name: String,
    device: String,
    is_simulated: bool,
    support: Vec<Said>,
}

#[derive(Serialize, Deserialize)]
enum Said {
    Device,
    Shared(String),
    Unsupported(String),
}

impl Description {
    pub(super) fn of(capabilities: &Capabilities) -> Self {
        let said = |(_, support): (Operation, &Support)| match support {
            Support::Device => Said::Device,
            Support::Shared(part) => Said::Shared(part.clone()),
            Support::Unsupported(reason) => Said::Unsupported(reason.clone()),
        };
        Self {
            name: capabilities.name.clone(),
            device: capabilities.device.clone(),
            is_simulated: capabilities.is_simulated,
            support: capabilities.iter().map(said).collect(),
        }
    }

    pub(super) fn capabilities(self) -> Capabilities {
        let operations = Operation::all();
        let support = |operation| {
            let index = operations.iter().position(|other| *other == operation);
            match index.and_then(|index| self.support.get(index)) {
                Some(Said::Device) => Support::Device,
                Some(Said::Shared(part)) => Support::shared(part.clone()),
                Some(Said::Unsupported(reason)) => Support::unsupported(reason.clone()),
                None => Support::unsupported("the worker says nothing about it"),
            }
        };
        Capabilities::new(self.name.clone(), self.device.clone(), self.is_simulated, support)
    }
}

pub(super) fn imported(kind: u8, secret: Vec<u8>) -> Result<ImportedKey, HsmError> {
    let secret = Zeroizing::new(secret);
    match kind_of_code(kind)? {
        KeyKind::Pair(curve) => Ok(ImportedKey::Pair(curve, secret)),
        KeyKind::Aes128 => {
            let key = <[u8; 16]>::try_from(secret.as_slice());
            let key = key.map_err(|_| HsmError::InvalidArgument("an AES-128 key has 16 bytes".into()))?;
            Ok(ImportedKey::Aes128(Zeroizing::new(key)))
        }
    }
}

pub(super) const fn kind_code(kind: KeyKind) -> u8 {
    match kind {
        KeyKind::Aes128 => 0,
        KeyKind::Pair(curve) => curve::code(curve),
    }
}

fn kind_of_code(code: u8) -> Result<KeyKind, HsmError> {
    match (code, curve::of_code(code)) {
        (0, _) => Ok(KeyKind::Aes128),
        (_, Some(curve)) => Ok(KeyKind::Pair(curve)),
        _ => Err(HsmError::Protocol(format!("kind of key {code}"))),
    }
}

impl From<Recovery> for Answer {
    fn from(Recovery { kept, lost }: Recovery) -> Self {
        Self::Recovery { kept, lost }
    }
}

/// Sends one message in one piece.
pub(super) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = Zeroizing::new(vec![0; 4]);
    rmp_serde::encode::write(&mut *bytes, message).map_err(io::Error::other)?;
    let len = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&len.to_be_bytes());
    to.write_all(&bytes)
}

/// Waits for one message. `Ok(None)` is the other side's end before a message began.
pub(super) fn receive<M: DeserializeOwned>(mut from: impl Read) -> io::Result<Option<M>> {
    let mut len = [0; 4];
    match read_once(&mut from, &mut len)? {
        0 => return Ok(None),
        read => from.read_exact(&mut len[read..])?,
    }
    let len = u32::from_be_bytes(len) as usize;
    if len > MESSAGE_LEN_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {len} bytes")));
    }
    let mut bytes = Zeroizing::new(vec![0; len]);
    from.read_exact(&mut bytes)?;
    let message = rmp_serde::from_slice(&bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hsm::Curve;

    #[test]
    fn capabilities_cross_unchanged() {
        let capabilities = Capabilities::new("a", "b", true, |operation| match operation {
            Operation::Encrypt => Support::unsupported("no AES"),
            Operation::Sign(Curve::NistP384) => Support::shared("half"),
            _ => Support::Device,
        });
        let mut bytes = Vec::new();
        send(&mut bytes, &Description::of(&capabilities)).unwrap();
        let back: Description = receive(&bytes[..]).unwrap().unwrap();
        assert_eq!(back.capabilities(), capabilities);
    }

    #[test]
    fn an_absurd_length_is_refused_before_memory_is_taken() {
        let refused = receive::<Answer>(&[0xFF; 64][..]).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_end_between_messages_is_told_from_one_inside() {
        assert!(receive::<Answer>(&[][..]).unwrap().is_none());
        assert!(receive::<Answer>(&[0, 0, 0][..]).is_err());
        assert!(receive::<Answer>(&[0, 0, 0, 9, 1][..]).is_err());
    }

    /// Interrupted before every read of the bytes, as by a signal.
    struct Interrupted<'a> {
        bytes: &'a [u8],
        is_next: bool,
    }

    impl Read for Interrupted<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            if self.is_next { Err(io::ErrorKind::Interrupted.into()) } else { self.bytes.read(into) }
        }
    }

    #[test]
    fn a_signal_while_it_waits_is_no_end() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Answer::Holds(true)).unwrap();
        let interrupted = Interrupted { bytes: &bytes, is_next: false };
        assert!(matches!(receive(interrupted), Ok(Some(Answer::Holds(true)))));
        assert!(receive::<Answer>(Interrupted { bytes: &[], is_next: false }).unwrap().is_none());
    }

    #[test]
    fn garbage_of_any_length_is_an_error_and_no_panic() {
        let mut state = 1u32;
        for len in 0..200usize {
            let mut bytes = u32::try_from(len).unwrap().to_be_bytes().to_vec();
            bytes.extend((0..len).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            }));
            // Some garbage is a message; none may do worse than fail.
            let _ = receive::<Request>(&bytes[..]);
            let _ = receive::<Answer>(&bytes[..]);
        }
    }
}
