//! Rows of FourQlib, byte for byte; `tests/vectors/README.md` says how they were made.

use chronoseal_fourq::{ecdh, schnorrq};

use crate::{unhex, unhex_vec};

fn rows() -> Vec<Vec<&'static str>> {
    let text = include_str!("../vectors/fourqlib.csv");
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect()).collect()
}

#[test]
fn every_row_is_read() {
    assert_eq!(rows().len(), 33);
}

#[test]
fn public_keys_of_key_agreement() {
    for row in rows() {
        for (secret, public) in [(row[1], row[2]), (row[3], row[4])] {
            assert_eq!(ecdh::SecretKey::from_bytes(unhex(secret)).public(), unhex(public), "row {}", row[0]);
        }
    }
}

#[test]
fn shared_secrets() {
    for row in rows() {
        for (secret, public) in [(row[1], row[4]), (row[3], row[2])] {
            let public = ecdh::PublicKey::from_bytes(&unhex(public)).unwrap();
            let shared = ecdh::SecretKey::from_bytes(unhex(secret)).agree(&public).unwrap();
            assert_eq!(*shared.as_bytes(), unhex(row[5]), "row {}", row[0]);
        }
    }
}

#[test]
fn public_keys_of_signatures() {
    for row in rows() {
        assert_eq!(schnorrq::SigningKey::from_seed(unhex(row[6])).public(), unhex(row[7]), "row {}", row[0]);
    }
}

#[test]
fn signatures() {
    for row in rows() {
        let key = schnorrq::SigningKey::from_seed(unhex(row[6]));
        assert_eq!(key.sign(&unhex_vec(row[8])).to_bytes(), unhex(row[9]), "row {}", row[0]);
    }
}

#[test]
fn signatures_verify() {
    for row in rows() {
        let key = schnorrq::VerifyingKey::from_bytes(&unhex(row[7])).unwrap();
        let signature = schnorrq::Signature::from_bytes(&unhex(row[9]));
        assert_eq!(key.verify(&unhex_vec(row[8]), &signature), Ok(()), "row {}", row[0]);
        assert_eq!(schnorrq::SigningKey::from_seed(unhex(row[6])).verifying_key(), key);
    }
}

#[test]
fn secret_one_has_the_generator_for_public_key() {
    // draft-ladd-cfrg-4q's reference implementation, test_encode.
    let generator = unhex("87b2cb2b46a224b95a7820a19bee3f0e5c8b4c8444c3a74942020e63f84a1c6e");
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!(ecdh::SecretKey::from_bytes(one).public(), generator);
}
