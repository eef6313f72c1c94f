//! Checks on what keys do.

use chronoseal_v2x::crypto::{AgreementKey as _, SigningKey as _, ccm_seal};
use zeroize::Zeroizing;

use super::{Bench, Failure, ensure};
use crate::hsm::{
    Curve, HsmError, ImportedKey, KeyHandle, KeyKind, NONCE_LEN, Operation, Persistence, TAG_LEN, curve, random,
};

/// Lengths around the cipher's block of 16 bytes, and one of a real message `[byte]`.
const LENGTHS: [usize; 7] = [0, 1, 15, 16, 17, 32, 301];

impl Bench<'_> {
    pub(super) fn signs(&mut self, curve: Curve) -> Result<(), Failure> {
        let key = self.pair(curve)?;
        let public = self.hsm.export_public(key)?;
        let len = curve.coordinate_len();
        let mut drawn = vec![0; len];
        random(&mut drawn)?;
        for digest in [drawn, vec![0; len], vec![0xFF; len]] {
            let signature = self.hsm.sign_digest(key, &digest)?;
            ensure(curve::verify(&public, &digest, &signature)?, "the host does not accept the signature")?;
        }
        for wrong in [0, len - 1, len + 1] {
            let refused = self.hsm.sign_digest(key, &vec![1; wrong]);
            ensure(matches!(refused, Err(HsmError::InvalidArgument(_))), format!("took a digest of {wrong} bytes"))?;
        }
        let unknown = self.unknown_handle()?;
        let refused = self.hsm.sign_digest(unknown, &vec![1; len]);
        ensure(refused == Err(HsmError::NotFound(unknown)), "an unknown key is not said to be")?;
        if let Some(symmetric) = self.symmetric()? {
            let refused = self.hsm.sign_digest(symmetric, &vec![1; len]);
            ensure(matches!(refused, Err(HsmError::WrongKind { .. })), "an AES key is not refused as such")?;
        }
        Ok(())
    }

    pub(super) fn verifies(&mut self, curve: Curve) -> Result<(), Failure> {
        let mut key = curve::generate(curve)?;
        let public = key.public_point();
        let len = curve.coordinate_len();
        let mut digest = vec![0; len];
        random(&mut digest)?;
        let signature = key.sign_digest(&digest)?;
        ensure(self.hsm.verify(&public, &digest, &signature)?, "refused a signature of the host")?;

        let changed = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[len - 1] ^= 1;
            bytes
        };
        let with = |r: &[u8], s: &[u8]| curve::signature(curve, r, s).ok_or_else(|| Failure("a wrong length".into()));
        let (r, s) = (signature.r(), signature.s());
        let wrong = [
            ("another digest", changed(&digest), signature),
            ("another r", digest.clone(), with(&changed(r), s)?),
            ("another s", digest.clone(), with(r, &changed(s))?),
            ("r and s changed places", digest.clone(), with(s, r)?),
            ("r = 0", digest.clone(), with(&vec![0; len], s)?),
            ("s = 0", digest.clone(), with(r, &vec![0; len])?),
            ("r >= n", digest.clone(), with(&vec![0xFF; len], s)?),
            ("s >= n", digest.clone(), with(r, &vec![0xFF; len])?),
        ];
        for (what, digest, signature) in wrong {
            ensure(!self.hsm.verify(&public, &digest, &signature)?, format!("took {what}"))?;
        }
        let other = curve::generate(curve)?.public_point();
        ensure(!self.hsm.verify(&other, &digest, &signature)?, "took another public key")?;
        let of_another = curve::generate(another(curve))?.public_point();
        let refused = self.hsm.verify(&of_another, &vec![1; another(curve).coordinate_len()], &signature);
        let is_refused = matches!(refused, Err(HsmError::InvalidArgument(_) | HsmError::Unsupported { .. }));
        ensure(is_refused, "took a signature of another curve")
    }

    pub(super) fn agrees(&mut self, curve: Curve) -> Result<(), Failure> {
        let key = self.pair(curve)?;
        let public = self.hsm.export_public(key)?;
        let mut peer = curve::generate(curve)?;
        let here = self.hsm.agree(key, &peer.public_point())?;
        let there = peer.agree(&public)?;
        ensure(here.as_bytes() == there.as_bytes(), "the two sides disagree")?;
        let refused = self.hsm.agree(key, &curve::generate(another(curve))?.public_point());
        ensure(matches!(refused, Err(HsmError::InvalidArgument(_))), "took a point of another curve")
    }

    pub(super) fn encrypts(&mut self) -> Result<(), Failure> {
        let Some((key, twin)) = self.twin()? else { return Ok(()) };
        for len in LENGTHS {
            let plaintext: Vec<u8> = (0..len).map(|at| at.to_le_bytes()[0]).collect();
            let mut nonce = [0; NONCE_LEN];
            random(&mut nonce)?;
            let ciphertext = self.hsm.encrypt(key, &nonce, &plaintext)?;
            ensure(ciphertext == reference(&twin, &nonce, &plaintext)?, format!("{len} bytes: not AES-CCM"))?;
        }
        let too_long = vec![0; crate::hsm::PLAINTEXT_LEN_MAX + 1];
        let refused = self.hsm.encrypt(key, &[0; NONCE_LEN], &too_long);
        ensure(matches!(refused, Err(HsmError::InvalidArgument(_))), "took more than it may")
    }

    pub(super) fn decrypts(&mut self) -> Result<(), Failure> {
        let Some((key, twin)) = self.twin()? else { return Ok(()) };
        for len in LENGTHS {
            let plaintext = vec![0x5A; len];
            let nonce = [3; NONCE_LEN];
            let ciphertext = reference(&twin, &nonce, &plaintext)?;
            ensure(self.hsm.decrypt(key, &nonce, &ciphertext)? == plaintext, format!("{len} bytes: other plaintext"))?;
            let mut changed = ciphertext.clone();
            changed[len / 2] ^= 1;
            for wrong in [&changed[..], &ciphertext[1..], &ciphertext[..TAG_LEN - 1], &[]] {
                let refused = self.hsm.decrypt(key, &nonce, wrong);
                ensure(refused == Err(HsmError::NotAuthentic), format!("{len} bytes: took a changed ciphertext"))?;
            }
            let refused = self.hsm.decrypt(key, &[4; NONCE_LEN], &ciphertext);
            ensure(refused == Err(HsmError::NotAuthentic), "took another nonce")?;
        }
        Ok(())
    }

    /// An imported AES key and itself.
    fn twin(&mut self) -> Result<Option<(KeyHandle, [u8; 16])>, Failure> {
        let Some(persistence) = self.persistence(|p| Operation::Import(KeyKind::Aes128, p)) else { return Ok(None) };
        let mut twin = [0; 16];
        random(&mut twin)?;
        let key = self.hsm.import(&ImportedKey::Aes128(Zeroizing::new(twin)), persistence, "conformance")?;
        Ok(Some((self.keep(key), twin)))
    }

    fn symmetric(&mut self) -> Result<Option<KeyHandle>, Failure> {
        let Some(persistence) = self.persistence(Operation::CreateSymmetric) else { return Ok(None) };
        let key = self.hsm.create_symmetric(persistence, "conformance")?;
        Ok(Some(self.keep(key)))
    }

    fn persistence(&self, operation: impl Fn(Persistence) -> Operation) -> Option<Persistence> {
        Persistence::ALL.into_iter().find(|persistence| self.capabilities().can(operation(*persistence)))
    }
}

/// A curve of the same length.
const fn another(curve: Curve) -> Curve {
    match curve {
        Curve::NistP256 => Curve::BrainpoolP256r1,
        Curve::BrainpoolP256r1 => Curve::NistP256,
        Curve::NistP384 => Curve::BrainpoolP384r1,
        Curve::BrainpoolP384r1 => Curve::NistP384,
    }
}

/// AES-CCM of this process.
fn reference(key: &[u8; 16], nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, Failure> {
    ccm_seal(key, nonce, plaintext).map_err(|error| Failure(error.to_string()))
}
