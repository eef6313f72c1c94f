//! FourQ: bytes taken for public keys and for signatures.

use chronoseal_fourq::internals::{Affine, Field, Mulx, Portable, Scalar, Vectors};
use chronoseal_fourq::{Error, ecdh, internals, schnorrq};

/// 32 bytes as a point: what is accepted lies on the curve and is encoded by these very bytes, and both kinds of public
/// key agree on it; a key that is accepted gives both sides of an exchange the same secret. Vectors, assembly and portable
/// code decode the same and come to the same multiples.
pub fn fourq_point(data: &[u8]) {
    let Some((bytes, rest)) = data.split_first_chunk::<32>() else { return };
    let agreement = ecdh::PublicKey::from_bytes(bytes);
    let signature = schnorrq::VerifyingKey::from_bytes(bytes);
    assert_eq!(agreement.as_ref().err(), signature.as_ref().err());
    let decoded = Affine::decode_vartime(bytes, Portable);
    match &agreement {
        Err(Error::PublicKey(reason)) => assert_eq!(decoded.as_ref().err(), Some(reason)),
        outcome => {
            let point = decoded.expect("what is no encoding is refused as such");
            assert!(bool::from(point.is_on_curve()));
            assert_eq!(point.encode(), *bytes);
            let cleared = point.to_extended().clear_cofactor(Portable);
            assert_eq!(outcome.is_err(), bool::from(cleared.is_identity()));
        }
    }
    if let Some(secret) = rest.first_chunk::<32>() {
        if let Some(mulx) = Mulx::detect() {
            compare(bytes, secret, mulx);
        }
        if let Some(vectors) = Vectors::detect() {
            compare(bytes, secret, vectors);
        }
    }
    if let (Ok(peer), Some(secret)) = (agreement, rest.first_chunk::<32>()) {
        let ours = ecdh::SecretKey::from_bytes(*secret);
        let shared = ours.agree(&peer);
        assert_eq!(shared.is_err(), Scalar::from_bytes_mod_order(secret) == Scalar::ZERO);
        if shared.is_ok() {
            let generator = ecdh::SecretKey::from_bytes(core::array::from_fn(|i| u8::from(i == 0)));
            let public = ecdh::PublicKey::from_bytes(&ours.public()).expect("one's own key");
            let there = ecdh::PublicKey::from_bytes(&generator.public()).expect("the generator");
            let (one, other) = (generator.agree(&public), ours.agree(&there));
            assert_eq!(one.expect("order N").as_bytes(), other.expect("order N").as_bytes());
        }
    }
}

/// `field` and portable code decode the same and come to the same multiples.
fn compare<F: Field>(bytes: &[u8; 32], secret: &[u8; 32], field: F) {
    let decoded = Affine::decode_vartime(bytes, Portable);
    assert_eq!(decoded, Affine::decode_vartime(bytes, field));
    if let Ok(point) = decoded {
        assert_eq!(multiples(&point, secret, field), multiples(&point, secret, Portable));
    }
}

/// Every multiple that the public interface makes of a secret number and a point, encoded.
fn multiples<F: Field>(point: &Affine, secret: &[u8; 32], field: F) -> [[u8; 32]; 3] {
    let scalar = Scalar::from_bytes_mod_order(secret);
    let point = point.to_extended().clear_cofactor(field);
    let own = internals::multiply_generator(&scalar, field);
    let shared = internals::multiply(scalar.words(), &point, field);
    let both = internals::double_multiply_vartime(&scalar, &scalar, &point, field);
    [own, shared, both].map(|point| point.to_affine(field).encode())
}

/// Key, signature, message: nothing panics, a batch of one is at least as lenient as single verification; and what the
/// first 32 bytes sign as a seed verifies, but not after a bit of it is changed.
pub fn fourq_signature(data: &[u8]) {
    let Some((key_bytes, rest)) = data.split_first_chunk::<32>() else { return };
    let Some((signature, message)) = rest.split_first_chunk::<64>() else { return };
    let signature = schnorrq::Signature::from_bytes(signature);
    if let Ok(key) = schnorrq::VerifyingKey::from_bytes(key_bytes) {
        let alone = key.verify(message, &signature);
        let item = chronoseal_fourq::batch::BatchItem { key: &key, message, signature: &signature };
        let batch = chronoseal_fourq::batch::verify_batch_vartime(&[item], *key_bytes);
        assert!(alone.is_err() || batch.is_ok());
    }

    let key = schnorrq::SigningKey::from_seed(*key_bytes);
    let own = key.sign(message);
    assert_eq!(key.verifying_key().verify(message, &own), Ok(()));
    let mut changed = own.to_bytes();
    let bit = usize::from(data[0]) | usize::from(data[1] & 1) << 8;
    changed[bit / 8] ^= 1 << (bit % 8);
    assert!(key.verifying_key().verify(message, &schnorrq::Signature::from_bytes(&changed)).is_err());
}
