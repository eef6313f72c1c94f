//! Checks on keys coming and going.

use chronoseal_v2x::crypto::SigningKey as _;
use zeroize::Zeroizing;

use super::{Bench, Failure, ensure};
use crate::hsm::{
    Curve, HsmError, ImportedKey, KeyHandle, KeyKind, NONCE_LEN, Operation, Persistence, PublicPoint, curve, random,
};

const LABEL: &str = "conformance";

impl Bench<'_> {
    pub(super) fn creates_symmetric(&mut self, persistence: Persistence) -> Result<(), Failure> {
        let key = self.hsm.create_symmetric(persistence, LABEL)?;
        self.keep(key);
        self.is_listed(key, KeyKind::Aes128, persistence)?;
        let other = self.hsm.create_symmetric(persistence, LABEL)?;
        self.keep(other);
        let nonce = [1; NONCE_LEN];
        let (one, two) = (self.hsm.encrypt(key, &nonce, &[0; 16])?, self.hsm.encrypt(other, &nonce, &[0; 16])?);
        ensure(key != other && one != two, "two keys are the same")
    }

    pub(super) fn creates_pair(&mut self, curve: Curve, persistence: Persistence) -> Result<(), Failure> {
        let key = self.hsm.create_pair(curve, persistence, LABEL)?;
        self.keep(key);
        self.is_listed(key, KeyKind::Pair(curve), persistence)?;
        let other = self.hsm.create_pair(curve, persistence, LABEL)?;
        self.keep(other);
        let (one, two) = (self.hsm.export_public(key)?, self.hsm.export_public(other)?);
        ensure(key != other && one != two, "two keys are the same")
    }

    pub(super) fn imports(&mut self, kind: KeyKind, persistence: Persistence) -> Result<(), Failure> {
        let KeyKind::Pair(curve) = kind else { return self.imports_symmetric(persistence) };
        let twin = curve::generate(curve)?;
        let key =
            self.hsm.import(&ImportedKey::Pair(curve, Zeroizing::new(twin.scalar().to_vec())), persistence, LABEL)?;
        self.keep(key);
        self.is_listed(key, kind, persistence)?;
        ensure(self.hsm.export_public(key)? == twin.public_point(), "its public point is not the imported key's")?;
        let len = curve.coordinate_len();
        for (what, scalar) in [("0", vec![0; len]), ("2^n - 1", vec![0xFF; len]), ("too short", vec![1; len - 1])] {
            match self.hsm.import(&ImportedKey::Pair(curve, Zeroizing::new(scalar)), persistence, LABEL) {
                Err(HsmError::InvalidArgument(_)) => {}
                Err(error) => return Err(Failure(format!("scalar {what}: {error}"))),
                Ok(key) => {
                    self.keep(key);
                    return Err(Failure(format!("took the scalar {what}")));
                }
            }
        }
        Ok(())
    }

    fn imports_symmetric(&mut self, persistence: Persistence) -> Result<(), Failure> {
        let key = self.hsm.import(&ImportedKey::Aes128(Zeroizing::new([7; 16])), persistence, LABEL)?;
        self.keep(key);
        self.is_listed(key, KeyKind::Aes128, persistence)
    }

    pub(super) fn exports_public(&mut self, curve: Curve) -> Result<(), Failure> {
        let key = self.pair(curve)?;
        let point = self.hsm.export_public(key)?;
        ensure(point.curve() == curve, "it is of another curve")?;
        ensure(self.hsm.export_public(key)? == point, "it is another point the second time")?;
        let unknown = self.unknown_handle()?;
        ensure(self.hsm.export_public(unknown) == Err(HsmError::NotFound(unknown)), "an unknown key is not said to be")
    }

    pub(super) fn lists(&mut self) -> Result<(), Failure> {
        let before = self.hsm.list()?;
        ensure(before.is_sorted_by_key(|key| key.handle), "not in order of handles")?;
        let Some(curve) = self.any_curve() else { return Ok(()) };
        let key = self.pair(curve)?;
        let after = self.hsm.list()?;
        let added: Vec<_> = after.iter().filter(|key| !before.contains(key)).map(|key| key.handle).collect();
        ensure(added == [key], format!("{} keys appeared, one was made", added.len()))
    }

    pub(super) fn deletes(&mut self) -> Result<(), Failure> {
        let Some(curve) = self.any_curve() else { return Ok(()) };
        for persistence in Persistence::ALL {
            if !self.capabilities().can(Operation::CreatePair(curve, persistence)) {
                continue;
            }
            let key = self.hsm.create_pair(curve, persistence, LABEL)?;
            self.keep(key);
            self.hsm.delete(key)?;
            let gone = || HsmError::NotFound(key);
            ensure(self.hsm.list()?.iter().all(|other| other.handle != key), "still listed")?;
            ensure(self.hsm.export_public(key) == Err(gone()), "still has a public point")?;
            let digest = vec![1; curve.coordinate_len()];
            ensure(self.hsm.sign_digest(key, &digest) == Err(gone()), "still signs")?;
            ensure(self.hsm.delete(key) == Err(gone()), "can be deleted twice")?;
        }
        Ok(())
    }

    pub(super) fn reloads_predefined(&mut self) -> Result<(), Failure> {
        let Some(range) = self.hsm.predefined_key_range() else {
            return ensure(self.hsm.reload_predefined()?.is_empty(), "predefined keys without a range for them");
        };
        let keys: Vec<_> = range.clone().map(KeyHandle).collect();
        let before = keys.iter().map(|key| self.hsm.export_public(*key)).collect::<Result<Vec<_>, _>>()?;
        let curve = before.first().map_or(Curve::NistP256, PublicPoint::curve);
        let volatile = if self.capabilities().can(Operation::CreatePair(curve, Persistence::Volatile)) {
            Some(self.hsm.create_pair(curve, Persistence::Volatile, LABEL)?)
        } else {
            None
        };
        ensure(self.hsm.reload_predefined()? == keys, "not all came back")?;
        let after = keys.iter().map(|key| self.hsm.export_public(*key)).collect::<Result<Vec<_>, _>>()?;
        ensure(before == after, "other keys came back")?;
        if let Some(volatile) = volatile {
            self.keep(volatile);
            let gone = self.hsm.export_public(volatile) == Err(HsmError::NotFound(volatile));
            ensure(gone, "a volatile key outlived it")?;
        }
        for key in keys {
            ensure(self.hsm.delete(key) == Err(HsmError::Predefined(key)), "a predefined key could be deleted")?;
        }
        Ok(())
    }

    /// Calls what is declared unsupported.
    pub(super) fn is_refused(&mut self, operation: Operation, reason: &str) -> Result<(), Failure> {
        ensure(!reason.is_empty(), "declared unsupported without a reason")?;
        let key = KeyHandle(KeyHandle::VOLATILE);
        let refused = match operation {
            Operation::CreateSymmetric(persistence) => self.hsm.create_symmetric(persistence, LABEL).map(drop),
            Operation::CreatePair(curve, persistence) => self.hsm.create_pair(curve, persistence, LABEL).map(drop),
            Operation::Import(KeyKind::Aes128, persistence) => {
                let key = ImportedKey::Aes128(Zeroizing::new([1; 16]));
                self.hsm.import(&key, persistence, LABEL).map(drop)
            }
            Operation::Import(KeyKind::Pair(curve), persistence) => {
                let key = ImportedKey::Pair(curve, Zeroizing::new(vec![1; curve.coordinate_len()]));
                self.hsm.import(&key, persistence, LABEL).map(drop)
            }
            Operation::Verify(curve) => {
                let mut key = curve::generate(curve)?;
                let digest = vec![1; curve.coordinate_len()];
                self.hsm.verify(&key.public_point(), &digest, &key.sign_digest(&digest)?).map(drop)
            }
            Operation::Encrypt => self.hsm.encrypt(key, &[0; NONCE_LEN], b"x").map(drop),
            Operation::Decrypt => self.hsm.decrypt(key, &[0; NONCE_LEN], &[0; 17]).map(drop),
            Operation::List => self.hsm.list().map(drop),
            Operation::Delete => self.hsm.delete(key),
            Operation::ReloadPredefined => self.hsm.reload_predefined().map(drop),
            // There is no key such a call could name: the device makes and takes none.
            Operation::ExportPublic(curve) | Operation::Sign(curve) | Operation::Agree(curve) => {
                let made = Persistence::ALL.into_iter().find_map(|p| self.hsm.create_pair(curve, p, LABEL).ok());
                let Some(made) = made else { return Ok(()) };
                self.keep(made);
                match operation {
                    Operation::ExportPublic(_) => self.hsm.export_public(made).map(drop),
                    Operation::Sign(_) => self.hsm.sign_digest(made, &vec![1; curve.coordinate_len()]).map(drop),
                    _ => self.hsm.agree(made, &curve::generate(curve)?.public_point()).map(drop),
                }
            }
        };
        match refused {
            Err(HsmError::Unsupported { reason: told, .. }) => {
                ensure(told == reason, format!("told another reason: {told}"))
            }
            Err(error) => Err(Failure(format!("declared unsupported, failed otherwise: {error}"))),
            Ok(()) => Err(Failure("declared unsupported and works".into())),
        }
    }

    fn is_listed(&mut self, key: KeyHandle, kind: KeyKind, persistence: Persistence) -> Result<(), Failure> {
        ensure(key.is_volatile() == (persistence == Persistence::Volatile), "its handle names the other persistence")?;
        let listed = self.hsm.list()?.into_iter().find(|info| info.handle == key);
        let listed = listed.ok_or_else(|| Failure("not listed".into()))?;
        ensure(listed.kind == kind, format!("listed as {}", listed.kind))?;
        ensure(listed.persistence == persistence, format!("listed as {}", listed.persistence))?;
        ensure(listed.label == LABEL || listed.label.is_empty(), format!("labelled {:?}", listed.label))
    }

    /// Some pair on `curve`, however this device comes by one.
    pub(super) fn pair(&mut self, curve: Curve) -> Result<KeyHandle, Failure> {
        for persistence in Persistence::ALL {
            if self.capabilities().can(Operation::CreatePair(curve, persistence)) {
                let key = self.hsm.create_pair(curve, persistence, LABEL)?;
                return Ok(self.keep(key));
            }
        }
        for persistence in Persistence::ALL {
            if self.capabilities().can(Operation::Import(KeyKind::Pair(curve), persistence)) {
                let scalar = Zeroizing::new(curve::generate(curve)?.scalar().to_vec());
                let key = self.hsm.import(&ImportedKey::Pair(curve, scalar), persistence, LABEL)?;
                return Ok(self.keep(key));
            }
        }
        Err(Failure(format!("no way to a key on {}", curve)))
    }

    pub(super) fn any_curve(&self) -> Option<Curve> {
        let can = |curve: &Curve| {
            Persistence::ALL.into_iter().any(|p| self.hsm.capabilities().can(Operation::CreatePair(*curve, p)))
        };
        Curve::ALL.into_iter().find(can)
    }

    pub(super) fn unknown_handle(&mut self) -> Result<KeyHandle, Failure> {
        let known = self.hsm.list()?;
        loop {
            let mut bytes = [0; 4];
            random(&mut bytes)?;
            let handle = KeyHandle(u32::from_be_bytes(bytes) | KeyHandle::VOLATILE);
            if known.iter().all(|key| key.handle != handle) {
                return Ok(handle);
            }
        }
    }
}
