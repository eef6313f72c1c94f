//! Vectors of the standards themselves: `tests/vectors/*.json`, each file with its source.

use chronoseal_crypto::symmetric::Gmac;
use chronoseal_crypto::{KeyLen, MacAlgorithm, MacKey};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VectorFile {
    source: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    hash: String,
    key: String,
    msg: String,
    tag: String,
}

pub(crate) fn bytes(hexadecimal: &str) -> Vec<u8> {
    assert!(hexadecimal.len().is_multiple_of(2));
    (0..hexadecimal.len()).step_by(2).map(|i| u8::from_str_radix(&hexadecimal[i..i + 2], 16).unwrap()).collect()
}

/// A length of keys that an algorithm takes `[byte]`.
pub(crate) fn key_len(algorithm: MacAlgorithm) -> usize {
    match algorithm.key_len() {
        KeyLen::Any => 64,
        KeyLen::Exactly(len) => len,
    }
}

/// A key all of one byte.
pub(crate) fn key_of(algorithm: MacAlgorithm, byte: u8) -> MacKey {
    MacKey::new(algorithm, &vec![byte; key_len(algorithm)]).unwrap()
}

/// The shortest tag of an algorithm `[byte]`.
pub(crate) fn tag_len_min(algorithm: MacAlgorithm) -> usize {
    usize::from(algorithm.tag_bits_min().div_ceil(8))
}

/// Runs every case of a file; returns how many there were and the longest and shortest tag among them `[byte]`.
fn run(text: &str) -> (usize, usize, usize) {
    let file: VectorFile = serde_json::from_str(text).unwrap();
    assert!(!file.source.is_empty());
    let (mut shortest, mut longest) = (usize::MAX, 0);
    for case in &file.cases {
        let (msg, tag) = (bytes(&case.msg), bytes(&case.tag));
        let algorithm: MacAlgorithm = format!("hmac-{}", case.hash).parse().unwrap();
        let mac = MacKey::new(algorithm, &bytes(&case.key)).unwrap();
        let mut computed = vec![0; tag.len()];
        mac.compute(0, &[&msg], &mut computed).unwrap();
        assert_eq!(computed, tag, "{}", case.id);
        assert!(mac.verify(0, &[&msg], &tag), "{}", case.id);
        // The same case with one bit changed must fail, in the tag and in the message.
        computed[tag.len() / 2] ^= 0x10;
        assert!(!mac.verify(0, &[&msg], &computed), "{}", case.id);
        assert!(!mac.verify(0, &[&msg, &[0]], &tag), "{}", case.id);
        (shortest, longest) = (shortest.min(tag.len()), longest.max(tag.len()));
    }
    (file.cases.len(), shortest, longest)
}

#[test]
fn rfc_2202_hmac_sha1() {
    assert_eq!(run(include_str!("../vectors/rfc2202_hmac_sha1.json")), (8, 12, 20));
}

#[test]
fn rfc_4231_hmac_sha256() {
    assert_eq!(run(include_str!("../vectors/rfc4231_hmac_sha256.json")), (7, 16, 32));
}

#[test]
fn rfc_4231_hmac_sha512() {
    assert_eq!(run(include_str!("../vectors/rfc4231_hmac_sha512.json")), (7, 16, 64));
}

#[test]
fn nist_cavp_hmac_sha1_and_sha256() {
    // 300 cases of SHA-1 and 225 of SHA-256: keys below, at (64 bytes) and above the block, each tag length 15 times.
    assert_eq!(run(include_str!("../vectors/nist_cavp_hmac.json")), (525, 10, 32));
}

#[test]
fn nist_examples_hmac_sha3_256() {
    assert_eq!(run(include_str!("../vectors/nist_examples_hmac_sha3_256.json")), (4, 16, 32));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GmacFile {
    source: String,
    cases: Vec<GmacCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GmacCase {
    id: String,
    key: String,
    nonce: String,
    msg: String,
    tag: String,
}

#[test]
fn nist_cavp_gmac() {
    let file: GmacFile = serde_json::from_str(include_str!("../vectors/nist_cavp_gmac.json")).unwrap();
    assert!(!file.source.is_empty());
    for case in &file.cases {
        let nonce = bytes(&case.nonce).try_into().unwrap();
        let gmac = Gmac::new(&bytes(&case.key)).unwrap();
        assert_eq!(gmac.tag(&nonce, &[&bytes(&case.msg)]).to_vec(), bytes(&case.tag), "{}", case.id);
    }
    // 75 cases of each length of keys, with messages of 0, 16, 20, 48 and 90 bytes.
    assert_eq!(file.cases.len(), 150);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Blake3File {
    source: String,
    key: String,
    cases: Vec<Blake3Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Blake3Case {
    input_len: usize,
    tag: String,
}

#[test]
fn blake3_team_keyed_hash() {
    let file: Blake3File = serde_json::from_str(include_str!("../vectors/blake3_keyed.json")).unwrap();
    assert!(!file.source.is_empty());
    let mac = MacKey::new(MacAlgorithm::Blake3, &bytes(&file.key)).unwrap();
    for case in &file.cases {
        let message: Vec<u8> = (0..case.input_len).map(|at| (at % 251) as u8).collect();
        let (front, rest) = message.split_at(case.input_len / 3);
        assert!(mac.verify(0, &[front, rest], &bytes(&case.tag)), "{} bytes", case.input_len);
    }
    // From nothing to 100 KiB, at every border of a block, a chunk and the tree of chunks.
    assert_eq!(file.cases.len(), 35);
}
