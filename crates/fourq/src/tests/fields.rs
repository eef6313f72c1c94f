//! Whoever computes in the field, the bytes are the same: keys, shared secrets, signatures, and what is refused.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::ecdh::{PublicKey, SecretKey};
use crate::field::{Field, Portable};
use crate::fp::P;
use crate::schnorrq::{Signature, SigningKey, VerifyingKey};
use crate::tests::with_each_field;

/// Cases of each kind; `FOURQ_DIFFERENTIAL_CASES` as in [`super::differential`].
fn cases() -> usize {
    std::env::var("FOURQ_DIFFERENTIAL_CASES").map_or(20, |text| text.parse::<usize>().expect("a number") / 250)
}

/// Secrets: random ones, and those at the edges of 256 bits.
fn secrets(rng: &mut ChaCha20Rng) -> impl Iterator<Item = [u8; 32]> {
    let mut one = [0; 32];
    one[0] = 1;
    let edges = [[0; 32], one, [0xff; 32], [0x80; 32]];
    let random = move || {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        bytes
    };
    edges.into_iter().chain(std::iter::repeat_with(random).take(cases()).collect::<Vec<_>>())
}

#[test]
fn same_keys_and_shared_secrets() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let peers: Vec<[u8; 32]> = secrets(&mut rng).skip(1).collect();
        for (bytes, peer) in secrets(&mut rng).zip(peers) {
            let (secret, peer) = (SecretKey::from_bytes(bytes), SecretKey::from_bytes(peer).public_by(Portable));
            assert_eq!(secret.public_by(field), secret.public_by(Portable), "{bytes:x?}");
            let fast = secret.agree_by(&PublicKey::from_bytes_by(&peer, field).unwrap(), field);
            let plain = secret.agree_by(&PublicKey::from_bytes_by(&peer, Portable).unwrap(), Portable);
            let bytes_of = |shared: subtle::CtOption<crate::ecdh::SharedSecret>| {
                Option::from(shared).map(|shared: crate::ecdh::SharedSecret| *shared.as_bytes())
            };
            assert_eq!(bytes_of(fast), bytes_of(plain), "{bytes:x?} {peer:x?}");
        }
    }
    with_each_field!(run);
}

#[test]
fn same_signatures_and_verdicts() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        for seed in secrets(&mut rng) {
            let (fast, plain) = (SigningKey::from_seed_by(seed, field), SigningKey::from_seed_by(seed, Portable));
            assert_eq!(fast.public(), plain.public(), "{seed:x?}");
            let signature = fast.sign_by(&seed, field);
            assert_eq!(signature, plain.sign_by(&seed, Portable), "{seed:x?}");
            let mut changed = signature.to_bytes();
            changed[usize::from(seed[7]) % 64] ^= 1 << (seed[8] % 8);
            for signature in [signature, Signature::from_bytes(&changed)] {
                let verdict = fast.verifying_key().verify_by(&seed, &signature, field);
                assert_eq!(verdict, plain.verifying_key().verify_by(&seed, &signature, Portable), "{seed:x?}");
            }
        }
    }
    with_each_field!(run);
}

#[test]
fn same_points_and_refusals() {
    fn run<F: Field>(field: F) {
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let halves = [0, 1, 2, 9 << 64, 14 << 64, (1 << 126) - 1, 1 << 126, P - 1, P];
        let edges = halves.iter().flat_map(|&re| {
            halves.map(|im| {
                let bytes = [re.to_le_bytes(), im.to_le_bytes()];
                std::array::from_fn(|i| bytes[i / 16][i % 16])
            })
        });
        for mut bytes in edges.chain(secrets(&mut rng)) {
            for _ in 0..2 {
                let (fast, plain) =
                    (PublicKey::from_bytes_by(&bytes, field), PublicKey::from_bytes_by(&bytes, Portable));
                assert_eq!(fast, plain, "{bytes:x?}");
                let (fast, plain) =
                    (VerifyingKey::from_bytes_by(&bytes, field), VerifyingKey::from_bytes_by(&bytes, Portable));
                assert_eq!(fast, plain, "{bytes:x?}");
                // The other sign, and no reserved bit.
                bytes[15] &= 0x7f;
                bytes[31] ^= 0x80;
            }
        }
    }
    with_each_field!(run);
}
