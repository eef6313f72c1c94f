//! Keys in files, sealed under a PIN, used in this process.
//!
//! Several processes may have a folder open: a lock is held only while a file is written or removed, keys that another process
//! has made are read when they are asked for, and a list is that of the files.
//!
//! It does *not* hide keys from who can read this process's memory; a token does. It has no device that could be lost:
//! volatile keys end with the process.

mod record;
mod store;

pub use record::PinCost;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use chronoseal_v2x::crypto::{AgreementKey as _, SigningKey as _, SoftwareKey, ccm_open, ccm_seal};
use zeroize::Zeroizing;

use super::ledger::{check_predefined, draw_handle};
use super::{
    Capabilities, Curve, EcdsaSignature, Hsm, HsmError, ImportedKey, KeyHandle, KeyInfo, KeyKind, NONCE_LEN, Operation,
    Persistence, PublicPoint, Recovery, SharedX, Support, check_label, curve, random,
};
use record::{MasterKey, Record, Refusal};
use store::Folder;

/// Keys in a folder of encrypted files.
///
/// A file is written whole or not at all: a crash or a full disk loses no key that was there before. A damaged key file
/// ends that key alone: calls on it say [`HsmError::StoreCorrupt`], all others go on.
pub struct SoftwareHsm {
    capabilities: Capabilities,
    folder: Folder,
    master: MasterKey,
    keys: BTreeMap<KeyHandle, Key>,
    damaged: BTreeMap<KeyHandle, &'static str>,
    predefined: Option<RangeInclusive<u32>>,
}

struct Key {
    label: String,
    persistence: Persistence,
    secret: Secret,
}

enum Secret {
    Aes128(Zeroizing<[u8; 16]>),
    Pair(Box<SoftwareKey>),
}

impl SoftwareHsm {
    /// Makes a new store in `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// [`HsmError::StoreExists`], [`HsmError::StoreInUse`] if another process has been changing it for ten seconds,
    /// [`HsmError::DiskFull`], or [`HsmError::Io`].
    pub fn create(folder: impl AsRef<Path>, pin: &str) -> Result<Self, HsmError> {
        Self::create_with(folder, pin, PinCost::default())
    }

    /// As [`SoftwareHsm::create`], with another price of trying a PIN.
    ///
    /// # Errors
    /// As [`SoftwareHsm::create`].
    pub fn create_with(folder: impl AsRef<Path>, pin: &str, cost: PinCost) -> Result<Self, HsmError> {
        let folder = Folder::create(folder.as_ref())?;
        let mut master = Zeroizing::new([0; 32]);
        random(master.as_mut_slice())?;
        let sealed = record::seal_store(pin, cost, &master)?;
        {
            let change = folder.change()?;
            if folder.store_path().exists() {
                return Err(HsmError::StoreExists(folder.path().to_owned()));
            }
            change.write(&folder.store_path(), &sealed)?;
        }
        Ok(Self::over(folder, master))
    }

    /// Opens the store in `folder` and unseals its keys.
    ///
    /// # Errors
    /// [`HsmError::NoStore`], [`HsmError::StoreInUse`], [`HsmError::WrongPin`], [`HsmError::StoreCorrupt`] if the file
    /// that holds the master key is damaged, or [`HsmError::Io`].
    pub fn open(folder: impl AsRef<Path>, pin: &str) -> Result<Self, HsmError> {
        let folder = Folder::open(folder.as_ref())?;
        let path = folder.store_path();
        let sealed = folder.read(&path)?.ok_or_else(|| HsmError::NoStore(folder.path().to_owned()))?;
        let master = record::open_store(&sealed, pin).map_err(|refusal| match refusal {
            Refusal::WrongPin => HsmError::WrongPin,
            Refusal::Damaged(reason) => HsmError::StoreCorrupt { path, reason: reason.into() },
        })?;
        let mut hsm = Self::over(folder, master);
        hsm.read_keys()?;
        Ok(hsm)
    }

    /// Opens the store in `folder`, or makes one if there is none.
    ///
    /// # Errors
    /// As [`SoftwareHsm::open`] and [`SoftwareHsm::create`].
    pub fn open_or_create(folder: impl AsRef<Path>, pin: &str) -> Result<Self, HsmError> {
        match Self::open(folder.as_ref(), pin) {
            Err(HsmError::NoStore(_)) => match Self::create(folder.as_ref(), pin) {
                // Another process made it meanwhile.
                Err(HsmError::StoreExists(_)) => Self::open(folder, pin),
                created => created,
            },
            opened => opened,
        }
    }

    /// Sets aside a range of handles for predefined pairs and makes those that are missing.
    ///
    /// # Errors
    /// [`HsmError::InvalidArgument`] for a range no back end takes; else as [`Hsm::create_pair`].
    pub fn provision(&mut self, curve: Curve, range: RangeInclusive<u32>) -> Result<(), HsmError> {
        check_predefined(Some(&range))?;
        self.predefined = Some(range.clone());
        for handle in range.map(KeyHandle) {
            if !self.is_taken(handle) {
                let secret = Secret::Pair(Box::new(curve::generate(curve)?));
                if self.write_key(handle, "predefined", &secret)? {
                    self.keep(handle, Persistence::Persistent, "predefined", secret);
                } else {
                    self.read_key(handle)?;
                }
            }
        }
        Ok(())
    }

    /// Changes the PIN. Key files stay as they are.
    ///
    /// # Errors
    /// [`HsmError::DiskFull`] or [`HsmError::Io`]; the old PIN holds then.
    pub fn change_pin(&mut self, pin: &str, cost: PinCost) -> Result<(), HsmError> {
        let sealed = record::seal_store(pin, cost, &self.master)?;
        self.folder.change()?.write(&self.folder.store_path(), &sealed)
    }

    /// Key files that cannot be used, each with what is wrong.
    pub fn damaged(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        self.damaged.iter().map(|(handle, reason)| (self.folder.key_path(*handle), *reason))
    }

    fn over(folder: Folder, master: MasterKey) -> Self {
        let device = format!("encrypted files in {}", folder.path().display());
        let capabilities = Capabilities::new("software", device, false, |_| Support::Device);
        Self { capabilities, folder, master, keys: BTreeMap::new(), damaged: BTreeMap::new(), predefined: None }
    }

    /// Takes over what the files say; volatile keys stay.
    fn read_keys(&mut self) -> Result<(), HsmError> {
        self.keys.retain(|_, key| key.persistence == Persistence::Volatile);
        self.damaged.clear();
        self.follow()
    }

    /// Takes over what other processes did to the files.
    fn follow(&mut self) -> Result<(), HsmError> {
        let there = self.folder.handles()?;
        let is_there = |handle: &KeyHandle| there.binary_search(handle).is_ok();
        self.keys.retain(|handle, key| key.persistence == Persistence::Volatile || is_there(handle));
        self.damaged.retain(|handle, _| is_there(handle));
        for handle in there {
            self.read_key(handle)?;
        }
        Ok(())
    }

    /// Takes over what the file of one key says, if it is not known yet; that there is none is no failure.
    fn read_key(&mut self, handle: KeyHandle) -> Result<(), HsmError> {
        if self.keys.contains_key(&handle) || self.damaged.contains_key(&handle) {
            return Ok(());
        }
        let Some(bytes) = self.folder.read(&self.folder.key_path(handle))? else { return Ok(()) };
        match record::open_key(&self.master, handle, &bytes) {
            Ok(record) => match Secret::new(record.kind, &record.secret) {
                Ok(secret) => self.keep(handle, Persistence::Persistent, &record.label, secret),
                Err(_) => drop(self.damaged.insert(handle, "its scalar is not in 1..n")),
            },
            Err(Refusal::Damaged(reason)) => drop(self.damaged.insert(handle, reason)),
            Err(Refusal::WrongPin) => drop(self.damaged.insert(handle, "its seal is not of this store")),
        }
        Ok(())
    }

    fn is_taken(&self, handle: KeyHandle) -> bool {
        self.keys.contains_key(&handle) || self.damaged.contains_key(&handle)
    }

    fn add(&mut self, secret: Secret, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        loop {
            let handle = draw_handle(persistence, self.predefined.as_ref(), |handle| self.is_taken(handle))?;
            if persistence == Persistence::Volatile || self.write_key(handle, label, &secret)? {
                self.keep(handle, persistence, label, secret);
                return Ok(handle);
            }
        }
    }

    /// Writes a new key; false if another process has one of that handle.
    fn write_key(&self, handle: KeyHandle, label: &str, secret: &Secret) -> Result<bool, HsmError> {
        let record = Record { kind: secret.kind(), label: label.to_owned(), secret: secret.bytes() };
        let sealed = record::seal_key(&self.master, handle, &record)?;
        let (path, change) = (self.folder.key_path(handle), self.folder.change()?);
        if path.exists() {
            return Ok(false);
        }
        change.write(&path, &sealed).map(|()| true)
    }

    fn keep(&mut self, handle: KeyHandle, persistence: Persistence, label: &str, secret: Secret) {
        self.keys.insert(handle, Key { label: label.to_owned(), persistence, secret });
    }

    /// A key; one that another process has made meanwhile is read.
    fn key(&mut self, handle: KeyHandle) -> Result<&Key, HsmError> {
        if !handle.is_volatile() {
            self.read_key(handle)?;
        }
        if let Some(reason) = self.damaged.get(&handle) {
            return Err(HsmError::StoreCorrupt { path: self.folder.key_path(handle), reason: (*reason).into() });
        }
        self.keys.get(&handle).ok_or(HsmError::NotFound(handle))
    }

    fn pair(&mut self, handle: KeyHandle, operation: fn(Curve) -> Operation) -> Result<&mut SoftwareKey, HsmError> {
        self.key(handle)?;
        match &mut self.keys.get_mut(&handle).ok_or(HsmError::NotFound(handle))?.secret {
            Secret::Pair(pair) => Ok(pair),
            Secret::Aes128(_) => Err(wrong_kind(handle, KeyKind::Aes128, operation(Curve::NistP256))),
        }
    }

    fn symmetric(&mut self, handle: KeyHandle, operation: Operation) -> Result<&[u8; 16], HsmError> {
        match &self.key(handle)?.secret {
            Secret::Aes128(key) => Ok(key),
            Secret::Pair(pair) => Err(wrong_kind(handle, KeyKind::Pair(pair.curve()), operation)),
        }
    }
}

impl Hsm for SoftwareHsm {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create_symmetric(&mut self, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        let mut key = Zeroizing::new([0; 16]);
        random(key.as_mut_slice())?;
        self.add(Secret::Aes128(key), persistence, label)
    }

    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.add(Secret::Pair(Box::new(curve::generate(curve)?)), persistence, label)
    }

    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        let secret = match key {
            ImportedKey::Aes128(key) => Secret::Aes128(key.clone()),
            ImportedKey::Pair(curve, scalar) => Secret::Pair(Box::new(SoftwareKey::from_scalar(*curve, scalar)?)),
        };
        self.add(secret, persistence, label)
    }

    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError> {
        Ok(self.pair(key, Operation::ExportPublic)?.public_point())
    }

    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError> {
        self.follow()?;
        let info = |(handle, key): (&KeyHandle, &Key)| KeyInfo {
            handle: *handle,
            kind: key.secret.kind(),
            persistence: key.persistence,
            label: key.label.clone(),
        };
        Ok(self.keys.iter().map(info).collect())
    }

    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError> {
        if self.predefined.as_ref().is_some_and(|range| range.contains(&key.0)) {
            return Err(HsmError::Predefined(key));
        }
        if self.damaged.contains_key(&key) {
            self.folder.change()?.remove(&self.folder.key_path(key))?;
            self.damaged.remove(&key);
            return Ok(());
        }
        if self.key(key)?.persistence == Persistence::Persistent {
            self.folder.change()?.remove(&self.folder.key_path(key))?;
        }
        self.keys.remove(&key);
        Ok(())
    }

    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        Ok(self.pair(key, Operation::Sign)?.sign_digest(digest)?)
    }

    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
        curve::verify(public, digest, signature)
    }

    fn encrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let key = self.symmetric(key, Operation::Encrypt)?;
        curve::check_plaintext(plaintext)?;
        ccm_seal(key, nonce, plaintext).map_err(|error| HsmError::InvalidArgument(error.to_string()))
    }

    fn decrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let key = self.symmetric(key, Operation::Decrypt)?;
        curve::check_ciphertext(ciphertext)?;
        ccm_open(key, nonce, ciphertext).ok_or(HsmError::NotAuthentic)
    }

    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        Ok(self.pair(key, Operation::Agree)?.agree(peer)?)
    }

    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        self.predefined.clone()
    }

    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError> {
        self.keys.retain(|_, key| key.persistence == Persistence::Persistent);
        self.read_keys()?;
        let range = self.predefined.clone();
        Ok(self.keys.keys().copied().filter(|key| range.as_ref().is_some_and(|r| r.contains(&key.0))).collect())
    }

    fn recover(&mut self) -> Result<Recovery, HsmError> {
        let before: Vec<KeyHandle> = self.keys.keys().copied().collect();
        self.read_keys()?;
        let (kept, lost) = before.into_iter().partition(|handle| self.keys.contains_key(handle));
        Ok(Recovery { kept, lost })
    }
}

impl Secret {
    fn new(kind: KeyKind, bytes: &[u8]) -> Result<Self, HsmError> {
        match kind {
            KeyKind::Aes128 => {
                let key = <[u8; 16]>::try_from(bytes)
                    .map_err(|_| HsmError::InvalidArgument("an AES-128 key has 16 bytes".into()))?;
                Ok(Self::Aes128(Zeroizing::new(key)))
            }
            KeyKind::Pair(curve) => Ok(Self::Pair(Box::new(SoftwareKey::from_scalar(curve, bytes)?))),
        }
    }

    fn kind(&self) -> KeyKind {
        match self {
            Self::Aes128(_) => KeyKind::Aes128,
            Self::Pair(pair) => KeyKind::Pair(pair.curve()),
        }
    }

    fn bytes(&self) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Aes128(key) => Zeroizing::new(key.to_vec()),
            Self::Pair(pair) => Zeroizing::new(pair.scalar().to_vec()),
        }
    }
}

pub(crate) fn wrong_kind(handle: KeyHandle, kind: KeyKind, operation: Operation) -> HsmError {
    HsmError::WrongKind { handle, kind: kind.to_string(), operation: operation.to_string() }
}
