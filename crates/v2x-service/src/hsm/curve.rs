//! What the back ends share about curves and the numbers that cross the seam.

use chronoseal_v2x::crypto::{Curve, EcdsaSignature, KeyError, PublicPoint, SoftwareKey, VerifyingKey};
use zeroize::Zeroizing;

use super::{HsmError, PLAINTEXT_LEN_MAX, TAG_LEN, random};

/// Number of a curve where one byte has to say it: key files and the link to a worker.
pub(super) const fn code(curve: Curve) -> u8 {
    match curve {
        Curve::NistP256 => 1,
        Curve::NistP384 => 2,
        Curve::BrainpoolP256r1 => 3,
        Curve::BrainpoolP384r1 => 4,
    }
}

/// The curve of a [`code`].
pub(super) fn of_code(byte: u8) -> Option<Curve> {
    Curve::ALL.into_iter().find(|curve| code(*curve) == byte)
}

/// The point with these coordinates, if it is one.
pub(super) fn point(curve: Curve, x: &[u8], y: &[u8]) -> Option<PublicPoint> {
    PublicPoint::from_coordinates(curve, x, y).ok()
}

/// A signature of two numbers of the right length.
pub(super) fn signature(curve: Curve, r: &[u8], s: &[u8]) -> Option<EcdsaSignature> {
    if r.len() != s.len() {
        return None;
    }
    EcdsaSignature::from_octets(curve, &[r, s].concat()).ok()
}

/// A new private key.
pub(super) fn generate(curve: Curve) -> Result<SoftwareKey, HsmError> {
    let mut scalar = Zeroizing::new(vec![0; curve.coordinate_len()]);
    loop {
        random(&mut scalar)?;
        // Zero, or not below the order: at most one draw in three (brainpool) is thrown away.
        if let Ok(key) = SoftwareKey::from_scalar(curve, &scalar) {
            return Ok(key);
        }
    }
}

/// Whether the signature holds, by this process's own code.
pub(super) fn verify(public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
    check_digest(public.curve(), digest)?;
    check_signature(public.curve(), signature)?;
    Ok(VerifyingKey::new(*public).verify_digest(digest, signature))
}

/// Refuses digests that are not of the curve's hash.
pub(super) fn check_digest(curve: Curve, digest: &[u8]) -> Result<(), HsmError> {
    let (expected, found) = (curve.coordinate_len(), digest.len());
    if found == expected { Ok(()) } else { Err(KeyError::DigestLength { expected, found }.into()) }
}

/// Refuses a signature that belongs to another curve.
pub(super) fn check_signature(curve: Curve, signature: &EcdsaSignature) -> Result<(), HsmError> {
    check_curve(curve, signature.curve())
}

/// Refuses what is of another curve.
pub(super) fn check_curve(expected: Curve, found: Curve) -> Result<(), HsmError> {
    if found == expected { Ok(()) } else { Err(KeyError::CurveMismatch { expected, found }.into()) }
}

/// Refuses plaintexts no back end takes.
pub(super) fn check_plaintext(plaintext: &[u8]) -> Result<(), HsmError> {
    if plaintext.len() > PLAINTEXT_LEN_MAX { Err(too_long()) } else { Ok(()) }
}

/// Too short for a tag is not authentic; too long is not looked at.
pub(super) fn check_ciphertext(ciphertext: &[u8]) -> Result<(), HsmError> {
    match ciphertext.len() {
        0..TAG_LEN => Err(HsmError::NotAuthentic),
        len if len > PLAINTEXT_LEN_MAX + TAG_LEN => Err(too_long()),
        _ => Ok(()),
    }
}

fn too_long() -> HsmError {
    HsmError::InvalidArgument(format!("at most {PLAINTEXT_LEN_MAX} bytes are encrypted at once"))
}

/// Whether both halves are in 1..n. Devices call what is not a failure of all kinds; it is a wrong signature.
pub(super) fn is_in_range(signature: &EcdsaSignature) -> bool {
    let order = order(signature.curve());
    [signature.r(), signature.s()].iter().all(|half| half.iter().any(|byte| *byte != 0) && *half < order)
}

/// The curve's order, big-endian. [FIPS 186-5 via SP 800-186 §3.2.1; RFC 5639 §3.4, §3.6]
const fn order(curve: Curve) -> &'static [u8] {
    match curve {
        Curve::NistP256 => &[
            0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
            0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
        ],
        Curve::NistP384 => &[
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2,
            0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
        ],
        Curve::BrainpoolP256r1 => &[
            0xa9, 0xfb, 0x57, 0xdb, 0xa1, 0xee, 0xa9, 0xbc, 0x3e, 0x66, 0x0a, 0x90, 0x9d, 0x83, 0x8d, 0x71, 0x8c, 0x39,
            0x7a, 0xa3, 0xb5, 0x61, 0xa6, 0xf7, 0x90, 0x1e, 0x0e, 0x82, 0x97, 0x48, 0x56, 0xa7,
        ],
        Curve::BrainpoolP384r1 => &[
            0x8c, 0xb9, 0x1e, 0x82, 0xa3, 0x38, 0x6d, 0x28, 0x0f, 0x5d, 0x6f, 0x7e, 0x50, 0xe6, 0x41, 0xdf, 0x15, 0x2f,
            0x71, 0x09, 0xed, 0x54, 0x56, 0xb3, 0x1f, 0x16, 0x6e, 0x6c, 0xac, 0x04, 0x25, 0xa7, 0xcf, 0x3a, 0xb6, 0xaf,
            0x6b, 0x7f, 0xc3, 0x10, 0x3b, 0x88, 0x32, 0x02, 0xe9, 0x04, 0x65, 0x65,
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_the_first_numbers_that_are_no_private_keys() {
        for curve in Curve::ALL {
            let mut scalar = order(curve).to_vec();
            assert!(SoftwareKey::from_scalar(curve, &scalar).is_err(), "{curve}");
            *scalar.last_mut().unwrap() -= 1;
            assert!(SoftwareKey::from_scalar(curve, &scalar).is_ok(), "{curve}");
        }
    }

    #[test]
    fn both_halves_have_to_be_in_range() {
        for curve in Curve::ALL {
            let (zero, order) = (vec![0; curve.coordinate_len()], order(curve).to_vec());
            let mut below = order.clone();
            *below.last_mut().unwrap() -= 1;
            let in_range = |r: &[u8], s: &[u8]| is_in_range(&signature(curve, r, s).unwrap());
            assert!(in_range(&below, &below), "{curve}");
            for wrong in [&zero, &order] {
                assert!(!in_range(wrong, &below) && !in_range(&below, wrong), "{curve}");
            }
        }
    }

    #[test]
    fn codes_name_their_curves() {
        for curve in Curve::ALL {
            assert_eq!(of_code(code(curve)), Some(curve));
        }
        assert_eq!((of_code(0), of_code(5)), (None, None));
    }
}
