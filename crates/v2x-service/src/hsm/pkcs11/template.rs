//! Attributes of the objects we make in a token, and what its attributes say back.

use cryptoki::object::{Attribute, KeyType, ObjectClass};

use crate::hsm::{Curve, ImportedKey, KeyHandle, Persistence, PublicPoint, curve};

/// What every object of ours carries: lifetime, handle, label.
struct Common<'a> {
    handle: KeyHandle,
    persistence: Persistence,
    label: &'a str,
}

impl Common<'_> {
    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::Token(self.persistence == Persistence::Persistent),
            Attribute::Id(id(self.handle)),
            Attribute::Label(self.label.as_bytes().to_vec()),
        ]
    }
}

/// CKA_ID: the handle, so that every program that knows our files finds the key.
pub(super) fn id(handle: KeyHandle) -> Vec<u8> {
    handle.0.to_be_bytes().to_vec()
}

/// The handle in a CKA_ID, if it is one of ours.
pub(super) fn handle_of_id(id: &[u8]) -> Option<KeyHandle> {
    <[u8; 4]>::try_from(id).ok().map(|bytes| KeyHandle(u32::from_be_bytes(bytes)))
}

/// Public and private template of a new pair. The private key signs and agrees, and never leaves the token.
pub(super) fn new_pair(
    curve: Curve,
    handle: KeyHandle,
    persistence: Persistence,
    label: &str,
) -> (Vec<Attribute>, Vec<Attribute>) {
    let common = Common { handle, persistence, label };
    let mut public = common.attributes();
    public.extend([Attribute::Private(false), Attribute::Verify(true), Attribute::EcParams(params(curve))]);
    let mut private = common.attributes();
    private.extend(private_use());
    (public, private)
}

/// Template of a new AES key.
pub(super) fn new_symmetric(handle: KeyHandle, persistence: Persistence, label: &str) -> Vec<Attribute> {
    let mut template = Common { handle, persistence, label }.attributes();
    template.extend(secret_use());
    template.push(Attribute::ValueLen(16.into()));
    template
}

/// Template of the secret object of an imported key.
pub(super) fn imported(key: &ImportedKey, handle: KeyHandle, persistence: Persistence, label: &str) -> Vec<Attribute> {
    let mut template = Common { handle, persistence, label }.attributes();
    match key {
        ImportedKey::Aes128(key) => {
            template.extend([Attribute::Class(ObjectClass::SECRET_KEY), Attribute::KeyType(KeyType::AES)]);
            template.extend(secret_use());
            template.push(Attribute::Value(key.to_vec()));
        }
        ImportedKey::Pair(curve, scalar) => {
            template.extend([Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::KeyType(KeyType::EC)]);
            template.extend(private_use());
            template.extend([Attribute::EcParams(params(*curve)), Attribute::Value(scalar.to_vec())]);
        }
    }
    template
}

/// Template of a public key object: beside an imported private key, or for one verification.
pub(super) fn public(point: &PublicPoint, of: Option<(KeyHandle, Persistence, &str)>) -> Vec<Attribute> {
    let mut template = match of {
        Some((handle, persistence, label)) => Common { handle, persistence, label }.attributes(),
        None => vec![Attribute::Token(false)],
    };
    template.extend([
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::KeyType(KeyType::EC),
        Attribute::Private(false),
        Attribute::Verify(true),
        Attribute::EcParams(params(point.curve())),
        Attribute::EcPoint(octet_string(&point.to_sec1_uncompressed())),
    ]);
    template
}

/// Template of an agreed x coordinate, which is read out and thrown away.
pub(super) fn agreed(curve: Curve) -> Vec<Attribute> {
    vec![
        Attribute::Token(false),
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::ValueLen((curve.coordinate_len() as u64).into()),
    ]
}

fn private_use() -> [Attribute; 5] {
    [
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Sign(true),
        Attribute::Derive(true),
    ]
}

fn secret_use() -> [Attribute; 5] {
    [
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Encrypt(true),
        Attribute::Decrypt(true),
    ]
}

/// CKA_EC_PARAMS: the DER object identifier of the curve. [RFC 5480 §2.1.1.1, RFC 5639 §4.1]
pub(super) fn params(curve: Curve) -> Vec<u8> {
    match curve {
        // 1.2.840.10045.3.1.7
        Curve::NistP256 => vec![6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
        // 1.3.132.0.34
        Curve::NistP384 => vec![6, 5, 0x2B, 0x81, 0x04, 0x00, 0x22],
        // 1.3.36.3.3.2.8.1.1.7
        Curve::BrainpoolP256r1 => vec![6, 9, 0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7],
        // 1.3.36.3.3.2.8.1.1.11
        Curve::BrainpoolP384r1 => vec![6, 9, 0x2B, 0x24, 3, 3, 2, 8, 1, 1, 11],
    }
}

pub(super) fn curve_of_params(bytes: &[u8]) -> Option<Curve> {
    Curve::ALL.into_iter().find(|curve| params(*curve) == bytes)
}

/// The point in CKA_EC_POINT: the standard wants an OCTET STRING around it, some tokens leave that off. Both begin with
/// 04, so the length tells them apart.
pub(super) fn point_of(curve: Curve, attribute: &[u8]) -> Option<PublicPoint> {
    let len = curve.coordinate_len();
    let bytes =
        if attribute.len() == 1 + 2 * len { attribute } else { attribute.strip_prefix(&[4, 1 + 2 * len as u8])? };
    let (form, coordinates) = bytes.split_first()?;
    let (x, y) = coordinates.split_at_checked(len)?;
    if *form == 4 { curve::point(curve, x, y) } else { None }
}

/// DER; all our points are shorter than 128 bytes.
fn octet_string(bytes: &[u8]) -> Vec<u8> {
    [&[4, bytes.len() as u8], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point whose first coordinate begins like the wrapping does.
    fn starting_with_4(curve: Curve) -> PublicPoint {
        let points = std::iter::repeat_with(|| curve::generate(curve).unwrap().public_point());
        points.take(20_000).find(|point| point.x()[0] == 4).unwrap()
    }

    #[test]
    fn reads_points_with_and_without_their_octet_string() {
        for curve in Curve::ALL {
            let point = starting_with_4(curve);
            let raw = point.to_sec1_uncompressed();
            assert_eq!(point_of(curve, &raw), Some(point));
            assert_eq!(point_of(curve, &octet_string(&raw)), Some(point));
            assert_eq!(point_of(curve, &raw[..raw.len() - 1]), None);
            assert_eq!(point_of(curve, &[]), None);
        }
    }

    #[test]
    fn curves_are_told_apart_by_their_identifiers() {
        for curve in Curve::ALL {
            assert_eq!(curve_of_params(&params(curve)), Some(curve));
        }
        assert_eq!(curve_of_params(&[6, 5, 0x2B, 0x81, 0x04, 0x00, 0x0A]), None);
    }

    #[test]
    fn only_identifiers_of_four_bytes_are_ours() {
        assert_eq!(handle_of_id(&id(KeyHandle(0x0102_0304))), Some(KeyHandle(0x0102_0304)));
        assert_eq!(handle_of_id(&[1, 2, 3]), None);
        assert_eq!(handle_of_id(&[1, 2, 3, 4, 5]), None);
    }
}
