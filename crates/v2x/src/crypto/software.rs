//! Private keys in memory.

use chronoseal_ecdsa_lanes::{self as lanes, Signing};
use p256::elliptic_curve::{CurveArithmetic, FieldBytes, NonZeroScalar, SecretKey, point::AffineCoordinates};
use rand_core::CryptoRng;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::curve::with_curve;
use super::provider::{Provider, has_words, installed};
use super::{AgreementKey, Curve, EcdsaSignature, KeyError, PublicPoint, SharedX, SigningKey};

/// A private key in memory, wiped when dropped. Signs with the nonces of RFC 6979, so a digest has one signature.
#[derive(Clone)]
pub struct SoftwareKey {
    scalar: Zeroizing<[u8; 48]>,
    public: PublicPoint,
}

impl ZeroizeOnDrop for SoftwareKey {}

impl SoftwareKey {
    /// Makes a key of `curve` from `rng`.
    pub fn generate(curve: Curve, rng: &mut impl CryptoRng) -> Self {
        let mut octets = Zeroizing::new([0; 48]);
        // One try in 2^32 (NIST) or in 3 (brainpool, whose order begins with 0xa9) is not below the order.
        loop {
            rng.fill_bytes(&mut octets[..curve.coordinate_len()]);
            if let Ok(key) = Self::from_scalar(curve, &octets[..curve.coordinate_len()]) {
                return key;
            }
        }
    }

    /// A key from its number in 1..n, big-endian.
    ///
    /// # Errors
    /// [`KeyError::InvalidScalar`].
    pub fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Self, KeyError> {
        if scalar.len() != curve.coordinate_len() {
            return Err(KeyError::InvalidScalar(curve));
        }
        let sec1 = with_curve!(curve, C, D => {
            let secret = SecretKey::<C>::from_slice(scalar).map_err(|_| KeyError::InvalidScalar(curve))?;
            secret.public_key().to_sec1_bytes()
        });
        let mut octets = Zeroizing::new([0; 48]);
        octets[..scalar.len()].copy_from_slice(scalar);
        Ok(Self { scalar: octets, public: PublicPoint::from_sec1(curve, &sec1)? })
    }

    /// The private number, to be sealed and stored. Handle with care.
    pub fn scalar(&self) -> &[u8] {
        &self.scalar[..self.public.curve().coordinate_len()]
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        self.public.curve()
    }

    /// Its public half.
    pub fn public_point(&self) -> PublicPoint {
        self.public
    }

    fn check_digest(&self, digest: &[u8]) -> Result<(), KeyError> {
        let expected = self.curve().coordinate_len();
        if digest.len() == expected { Ok(()) } else { Err(KeyError::DigestLength { expected, found: digest.len() }) }
    }
}

/// Signs on P-256 with RFC 6979's nonce, in words where the processor lets it and else with the provider's multiple of the generator; the
/// lengths were checked. None where there is neither.
fn sign_p256(scalar: &[u8], digest: &[u8]) -> Option<Result<EcdsaSignature, KeyError>> {
    let provider = installed();
    (has_words() || provider.is_some()).then(|| sign_p256_by(provider, scalar, digest))
}

fn sign_p256_by(provider: Option<&dyn Provider>, scalar: &[u8], digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
    let refused = || KeyError::InvalidScalar(Curve::NistP256);
    let (secret, digest) = (scalar.try_into().map_err(|_| refused())?, digest.try_into().map_err(|_| refused())?);
    let job = Signing { curve: lanes::Curve::NistP256, digest, secret, entropy: &[] };
    let signature = if has_words() {
        let mut signature = [None];
        lanes::Engine::Mulx.sign_batch(&[job], &mut signature);
        signature[0]
    } else {
        lanes::sign_with_multiple(&job, |nonce| provider?.multiply_generator(nonce))
    };
    let octets = signature.map(|both| [both.r, both.s]).ok_or_else(refused)?;
    EcdsaSignature::from_octets(Curve::NistP256, octets.as_flattened())
}

fn non_zero_scalar<C: CurveArithmetic>(octets: &[u8]) -> NonZeroScalar<C> {
    let repr = FieldBytes::<C>::try_from(octets).expect("a scalar is as long as its curve makes it");
    NonZeroScalar::<C>::from_repr(repr).into_option().expect("checked when the key was made")
}

impl SigningKey for SoftwareKey {
    fn curve(&self) -> Curve {
        self.public.curve()
    }

    fn public_point(&self) -> PublicPoint {
        self.public
    }

    fn sign_digest(&mut self, digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
        self.check_digest(digest)?;
        let curve = self.public.curve();
        if curve == Curve::NistP256
            && let Some(signed) = sign_p256(self.scalar(), digest)
        {
            return signed;
        }
        with_curve!(curve, C, D => {
            let scalar = Zeroizing::new(non_zero_scalar::<C>(self.scalar()));
            let (signature, _) = ecdsa::hazmat::sign_prehashed_rfc6979::<C, D>(&scalar, digest, b"");
            EcdsaSignature::from_octets(curve, &signature.to_bytes())
        })
    }
}

impl AgreementKey for SoftwareKey {
    fn curve(&self) -> Curve {
        self.public.curve()
    }

    fn public_point(&self) -> PublicPoint {
        self.public
    }

    fn agree(&mut self, peer: &PublicPoint) -> Result<SharedX, KeyError> {
        let (expected, found) = (self.public.curve(), peer.curve());
        if expected != found {
            return Err(KeyError::CurveMismatch { expected, found });
        }
        with_curve!(expected, C, D => {
            let scalar = Zeroizing::new(non_zero_scalar::<C>(self.scalar()));
            let peer = p256::elliptic_curve::PublicKey::<C>::from_sec1_bytes(&peer.to_sec1_uncompressed())
                .map_err(|_| KeyError::NotAPoint(found))?;
            // A prime-order curve: no multiple of a point by a number in 1..n is at infinity.
            let product = peer.to_projective() * **scalar;
            let x = Zeroizing::new(p256::elliptic_curve::group::Curve::to_affine(&product).x());
            SharedX::new(&x)
        })
    }
}

impl core::fmt::Debug for SoftwareKey {
    /// Not the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SoftwareKey({:?})", self.public)
    }
}
