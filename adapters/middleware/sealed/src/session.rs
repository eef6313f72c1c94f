//! How both ends agree on a key that no run before them had: each adds what it drew.
//!
//! The publisher greets with a random value. The receiver answers with one of its own, and a new one for each publisher that it has heard of since it
//! last took a message, so that nothing recorded before opens again, whoever of them started anew. Both are tagged under the common
//! key. The key of a session is derived from that key, the stream and both values; a receiver takes it for good when a datagram opens under it.

use std::io;

use chronoseal_crypto::{KeyLen, Label, MacAlgorithm, MacKey, SymmetricKey};
use chronoseal_frameauth::{Opener, Sealer};
use zeroize::Zeroizing;

use crate::datagram::profile;

const HELLO: Label = Label::new("chronoseal sealed datagrams hello");
const SESSION: Label = Label::new("chronoseal sealed datagrams session");

/// Of the common key, and of those derived from it for algorithms that take any `[byte]`.
const KEY_LEN: usize = 32;

/// Of a greeting `[byte]`.
pub(crate) const HELLO_LEN: usize = 8 + 2 * DRAWN_LEN + TAG_LEN;
const TAG_LEN: usize = 16;
const DRAWN_LEN: usize = 16;

/// Where a datagram with a part has the number of its stream; no stream has this one.
const MARK: [u8; 2] = [0xff; 2];

/// What an end of a session drew.
pub(crate) type Drawn = [u8; DRAWN_LEN];

/// What is derived from the common key.
#[derive(Clone)]
pub(crate) struct Secrets {
    mac: MacAlgorithm,
    common: SymmetricKey,
    hello: MacKey,
}

/// A greeting, or the answer to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    pub(crate) is_answer: bool,
    pub(crate) stream: u16,
    /// Data in each datagram but the last of a message `[byte]`.
    pub(crate) data_len: u16,
    pub(crate) publisher: Drawn,
    /// Zeros in a greeting.
    pub(crate) receiver: Drawn,
}

/// Draws from the operating system.
pub(crate) fn draw() -> io::Result<Drawn> {
    let mut drawn = [0; DRAWN_LEN];
    getrandom::fill(&mut drawn).map_err(io::Error::other)?;
    Ok(drawn)
}

impl Secrets {
    pub(crate) fn read(mac: MacAlgorithm, file: &str) -> Result<Self, String> {
        let bytes = Zeroizing::new(std::fs::read(file).map_err(|error| error.to_string())?);
        if bytes.len() != KEY_LEN {
            return Err(format!("a key has {KEY_LEN} bytes, and this file {}", bytes.len()));
        }
        profile(mac).map_err(|error| error.to_string())?;
        Self::new(mac, &bytes).ok_or_else(|| "no key can be made of it".to_owned())
    }

    pub(crate) fn new(mac: MacAlgorithm, common: &[u8]) -> Option<Self> {
        let hello = SymmetricKey::derive(KEY_LEN, common, b"", &HELLO, &[])?;
        let hello = MacKey::new(MacAlgorithm::HmacSha256, hello.expose()).ok()?;
        Some(Self { mac, common: SymmetricKey::from_slice(common)?, hello })
    }

    fn key(&self, hello: &Hello) -> Option<SymmetricKey> {
        let len = match self.mac.key_len() {
            KeyLen::Any => KEY_LEN,
            KeyLen::Exactly(len) => len,
        };
        let (stream, data_len) = (hello.stream.to_be_bytes(), hello.data_len.to_be_bytes());
        let mac = self.mac.name().as_bytes();
        let context: [&[u8]; 5] = [mac, &stream, &data_len, &hello.publisher, &hello.receiver];
        SymmetricKey::derive(len, self.common.expose(), b"", &SESSION, &context)
    }

    /// What seals the datagrams of a session that this answer agreed on.
    pub(crate) fn sealer(&self, answer: &Hello) -> Option<Sealer> {
        Sealer::new(profile(self.mac).ok()?, &self.key(answer)?, answer.stream).ok()
    }

    /// What opens them.
    pub(crate) fn opener(&self, answer: &Hello) -> Option<Opener> {
        Opener::new(profile(self.mac).ok()?, &self.key(answer)?, answer.stream).ok()
    }

    pub(crate) fn write(&self, hello: &Hello) -> [u8; HELLO_LEN] {
        let mut bytes = [0; HELLO_LEN];
        bytes[..2].copy_from_slice(&MARK);
        bytes[2] = u8::from(hello.is_answer);
        bytes[4..6].copy_from_slice(&hello.stream.to_be_bytes());
        bytes[6..8].copy_from_slice(&hello.data_len.to_be_bytes());
        bytes[8..][..DRAWN_LEN].copy_from_slice(&hello.publisher);
        bytes[8 + DRAWN_LEN..][..DRAWN_LEN].copy_from_slice(&hello.receiver);
        let (covered, tag) = bytes.split_at_mut(HELLO_LEN - TAG_LEN);
        self.hello.compute(0, &[covered], tag).expect("HMAC-SHA-256 has tags of 16 bytes");
        bytes
    }

    /// A greeting or an answer that somebody with the key wrote.
    pub(crate) fn read_hello(&self, bytes: &[u8]) -> Option<Hello> {
        let bytes: &[u8; HELLO_LEN] = bytes.try_into().ok()?;
        let (covered, tag) = bytes.split_at(HELLO_LEN - TAG_LEN);
        let is_ours = is_hello(bytes) && bytes[2] <= 1 && bytes[3] == 0 && self.hello.verify(0, &[covered], tag);
        let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let drawn = |at: usize| bytes[at..at + DRAWN_LEN].try_into().ok();
        let hello = Hello {
            is_answer: bytes[2] == 1,
            stream: number(4),
            data_len: number(6),
            publisher: drawn(8)?,
            receiver: drawn(8 + DRAWN_LEN)?,
        };
        is_ours.then_some(hello)
    }
}

/// True of what begins as greetings do.
pub(crate) fn is_hello(datagram: &[u8]) -> bool {
    datagram.len() == HELLO_LEN && datagram.starts_with(&MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_key_greets() {
        let secrets = |byte: u8| Secrets::new(MacAlgorithm::GmacAes128, &[byte; 32]).unwrap();
        let hello = Hello { is_answer: true, stream: 7, data_len: 1_400, publisher: [1; 16], receiver: [2; 16] };
        let bytes = secrets(1).write(&hello);
        assert_eq!(secrets(1).read_hello(&bytes), Some(hello));
        assert_eq!(secrets(2).read_hello(&bytes), None);
        for bit in 0..8 * HELLO_LEN {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(secrets(1).read_hello(&changed), None, "bit {bit}");
        }
    }

    #[test]
    fn each_value_that_was_drawn_makes_another_key() {
        let secrets = Secrets::new(MacAlgorithm::GmacAes128, &[1; 32]).unwrap();
        let hello = Hello { is_answer: true, stream: 7, data_len: 1_400, publisher: [1; 16], receiver: [2; 16] };
        let others = [
            Hello { publisher: [3; 16], ..hello },
            Hello { receiver: [3; 16], ..hello },
            Hello { stream: 8, ..hello },
            Hello { data_len: 1_401, ..hello },
        ];
        let key = |hello: &Hello| secrets.key(hello).unwrap().expose().to_vec();
        let of_another = Secrets::new(MacAlgorithm::GmacAes256, &[1; 32]).unwrap().key(&hello).unwrap();
        assert_ne!(of_another.expose()[..16], key(&hello), "nor do two algorithms share one");
        assert!(others.iter().all(|other| key(other) != key(&hello)));
        assert_eq!(key(&Hello { is_answer: false, ..hello }), key(&hello));
    }
}
