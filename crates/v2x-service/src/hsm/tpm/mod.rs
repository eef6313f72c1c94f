//! Pairs in a TPM 2.0, by its own commands over a socket or `/dev/tpmrm0`.
//!
//! It does *not* encrypt: TPM 2.0 has no AES-CCM. It does *not* suit keys that come and go by the dozen: a TPM has room for a
//! few persistent keys and takes its time. It is for the enrolment key; tickets' keys live in a
//! [`SoftwareHsm`](super::SoftwareHsm).
//!
//! The commands are written out here, a dozen of them, instead of going through the TCG's C libraries: nothing has to be
//! installed to build this crate, and a TPM simulator can be killed in tests without taking the process along.
//! Authorization is by password, so that a key's PIN crosses the link in the clear: over the kernel's device or a local
//! socket, not over a network. The authorization of the owner hierarchy is taken to be empty, as after manufacture.
//!
//! A TPM that ends without the command `TPM2_Shutdown` after a key's PIN was used counts that as a wrong PIN, since somebody might cut its
//! power to keep it from counting. So the shutdown follows each use of a persistent key: whoever is killed between two uses loses
//! no try.
//!
//! A persistent key is TPM handle `81000000` + its [`KeyHandle`]. A volatile key lies outside the TPM, sealed under a
//! key of the null hierarchy, whose seed changes at every reset: nothing can open it afterwards, not even this TPM.

mod code;
mod codec;
mod command;
mod link;
mod public;

pub use link::TpmEndpoint;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use chronoseal_v2x::crypto::SoftwareKey;
use zeroize::Zeroizing;

use super::curve::{self, check_curve, check_digest, check_signature};
use super::ledger::{Ledger, check_predefined, draw_handle};
use super::{
    Capabilities, Curve, EcdsaSignature, Hsm, HsmError, ImportedKey, KeyHandle, KeyInfo, KeyKind, NONCE_LEN, Operation,
    Persistence, PublicPoint, Recovery, SharedX, Support, check_label,
};
use code::Code;
use command::{Blob, NULL, OWNER, PERSISTENT, TRANSIENT, TpmHandle, Trouble};
use link::Link;
use public::Public;

/// Longest PIN `[byte]`: an authorization is no longer than the key's name hash.
const PIN_LEN_MAX: usize = 32;
/// The owner's persistent handles. [TCG Registry of Reserved TPM 2.0 Handles §2.3.1]
const HANDLE_MAX: u32 = 0x007F_FFFF;
/// Handles below are reserved for the platform's own keys (storage root, endorsement); we draw above.
const DRAWN_MIN: u32 = 0x0010_0000;

/// A TPM and its keys.
pub struct TpmHsm {
    capabilities: Capabilities,
    endpoint: TpmEndpoint,
    /// `None` after it was lost.
    link: Option<Link>,
    pin: Zeroizing<String>,
    parents: Parents,
    keys: BTreeMap<KeyHandle, Key>,
    predefined: Option<RangeInclusive<u32>>,
    ledger: Ledger,
}

/// Loaded storage keys: of the owner, and of the null hierarchy once a volatile key was made.
#[derive(Clone, Copy, Default)]
struct Parents {
    owner: TpmHandle,
    null: Option<TpmHandle>,
}

struct Key {
    point: PublicPoint,
    label: String,
    /// A persistent key lies in the TPM, a volatile one here.
    volatile: Option<Blob>,
}

impl TpmHsm {
    /// Connects, starts the TPM if nobody has, and looks what it holds.
    ///
    /// The PIN is the password of every key made here, and has to be that of the persistent ones that are there. A TPM cannot
    /// check it but by the use of a key, so the first of them is used for an agreement whose result nobody sees.
    ///
    /// # Errors
    /// [`HsmError::WrongPin`], [`HsmError::PinLocked`] after too many of them, [`HsmError::NoDevice`],
    /// [`HsmError::InvalidArgument`] for a PIN beyond 32 bytes or a predefined range outside
    /// the owner's handles, or [`HsmError::Device`].
    pub fn open(endpoint: TpmEndpoint, pin: &str, predefined: Option<RangeInclusive<u32>>) -> Result<Self, HsmError> {
        check_predefined(predefined.as_ref())?;
        if predefined.as_ref().is_some_and(|range| *range.end() > HANDLE_MAX) {
            return Err(HsmError::InvalidArgument(format!("predefined keys of a TPM end at {HANDLE_MAX:08x}")));
        }
        if pin.len() > PIN_LEN_MAX {
            return Err(HsmError::InvalidArgument(format!("the PIN of a TPM key has at most {PIN_LEN_MAX} bytes")));
        }
        let mut link = Link::open(&endpoint)?;
        let (parents, name, curves) = look_around(&mut link).map_err(|trouble| match trouble {
            Trouble::Lost => HsmError::NoDevice("it closed the connection".into()),
            Trouble::Refused(code) => code.error("start"),
            Trouble::Garbled(error) => error,
        })?;
        let capabilities = capabilities(name, &curves);
        let (pin, link) = (Zeroizing::new(pin.to_owned()), Some(link));
        let (keys, ledger) = (BTreeMap::new(), Ledger::default());
        let mut hsm = Self { capabilities, endpoint, link, pin, parents, keys, predefined, ledger };
        hsm.read_keys()?;
        hsm.ledger.recover(&hsm.infos());
        hsm.check_pin()?;
        Ok(hsm)
    }

    /// Uses the first persistent key, if there is one.
    fn check_pin(&mut self) -> Result<(), HsmError> {
        let first = self.keys.iter().find(|(_, key)| key.volatile.is_none());
        let Some((handle, point)) = first.map(|(handle, key)| (*handle, key.point)) else { return Ok(()) };
        let used = self.with_key(handle, "check the PIN", |link, key, pin| {
            link.agree(key, pin, point.x(), point.y()).map(|secret| drop(Zeroizing::new(secret)))
        });
        match used {
            // A key of another program may be for something else; of the PIN that says nothing.
            Err(HsmError::Device { .. }) => Ok(()),
            other => other,
        }
    }

    /// Makes the pairs of the predefined range that are missing.
    ///
    /// # Errors
    /// As [`Hsm::create_pair`].
    pub fn provision(&mut self, curve: Curve) -> Result<(), HsmError> {
        for handle in self.predefined.clone().into_iter().flatten().map(KeyHandle) {
            if !self.keys.contains_key(&handle) {
                self.create(curve, handle, Persistence::Persistent, "")?;
            }
        }
        Ok(())
    }

    /// Process of the software TPM, if it is ours and runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.link.as_ref().and_then(Link::process_id)
    }

    /// Takes over the persistent keys; volatile ones stay.
    fn read_keys(&mut self) -> Result<(), HsmError> {
        let ours = |handle: u32, range: &Option<RangeInclusive<u32>>| {
            (DRAWN_MIN..=HANDLE_MAX).contains(&handle) || range.as_ref().is_some_and(|range| range.contains(&handle))
        };
        let mut found = BTreeMap::new();
        for tpm_handle in self.run("list", |link| link.handles(PERSISTENT))? {
            let handle = tpm_handle - PERSISTENT;
            if !ours(handle, &self.predefined) {
                continue;
            }
            let public = self.run("list", |link| link.read_public(tpm_handle))?;
            if let Some(point) = public.and_then(|public| public.point()) {
                let label = self.keys.get(&KeyHandle(handle)).map(|key| key.label.clone()).unwrap_or_default();
                found.insert(KeyHandle(handle), Key { point, label, volatile: None });
            }
        }
        self.keys.retain(|_, key| key.volatile.is_some());
        self.keys.append(&mut found);
        Ok(())
    }

    fn infos(&self) -> Vec<KeyInfo> {
        let info = |(handle, key): (&KeyHandle, &Key)| KeyInfo {
            handle: *handle,
            kind: KeyKind::Pair(key.point.curve()),
            persistence: key.persistence(),
            label: key.label.clone(),
        };
        self.keys.iter().map(info).collect()
    }

    fn create(
        &mut self,
        curve: Curve,
        handle: KeyHandle,
        persistence: Persistence,
        label: &str,
    ) -> Result<(), HsmError> {
        let (parent, pin) = (self.parent(persistence)?, self.pin.clone());
        let blob =
            self.run("create a pair", |link| link.create(parent, pin.as_bytes(), &Public::pair(curve, persistence)))?;
        self.keep(parent, blob, handle, persistence, label)
    }

    /// Puts a new key where its persistence says.
    fn keep(
        &mut self,
        parent: TpmHandle,
        blob: Blob,
        handle: KeyHandle,
        persistence: Persistence,
        label: &str,
    ) -> Result<(), HsmError> {
        let point = Public::read(&blob.public).and_then(|public| public.point());
        let point = point.ok_or_else(|| HsmError::Protocol("the TPM made another key than asked for".into()))?;
        let volatile = match persistence {
            Persistence::Volatile => Some(blob),
            Persistence::Persistent => {
                let loaded = self.run("keep a key", |link| link.load(parent, &blob))?;
                let kept = self.run("keep a key", |link| link.evict(loaded, PERSISTENT + handle.0));
                self.run("keep a key", |link| link.flush(loaded))?;
                kept?;
                None
            }
        };
        self.keys.insert(handle, Key { point, label: label.to_owned(), volatile });
        self.ledger.insert(handle, persistence);
        Ok(())
    }

    /// The storage key that seals keys of this persistence.
    fn parent(&mut self, persistence: Persistence) -> Result<TpmHandle, HsmError> {
        match (persistence, self.parents.null) {
            (Persistence::Persistent, _) => Ok(self.parents.owner),
            (Persistence::Volatile, Some(null)) => Ok(null),
            (Persistence::Volatile, None) => {
                let null = self.run("create a pair", |link| link.create_primary(NULL))?;
                self.parents.null = Some(null);
                Ok(null)
            }
        }
    }

    /// Uses a key: a persistent one where it lies, a volatile one loaded for as long.
    fn with_key<T>(
        &mut self,
        handle: KeyHandle,
        operation: &str,
        work: impl FnOnce(&mut Link, TpmHandle, &[u8]) -> Result<T, Trouble>,
    ) -> Result<T, HsmError> {
        let pin = self.pin.clone();
        let Some(blob) = self.key(handle)?.volatile.clone() else {
            return self.run(operation, |link| {
                let result = work(link, PERSISTENT + handle.0, pin.as_bytes());
                if link.may_end() && !matches!(result, Err(Trouble::Lost)) {
                    link.shutdown()?;
                }
                result
            });
        };
        let parent = self.parent(Persistence::Volatile)?;
        let loaded = self.run(operation, |link| link.load(parent, &blob))?;
        let result = self.run(operation, |link| work(link, loaded, pin.as_bytes()));
        self.run(operation, |link| link.flush(loaded))?;
        result
    }

    fn key(&self, handle: KeyHandle) -> Result<&Key, HsmError> {
        self.keys.get(&handle).ok_or(HsmError::NotFound(handle))
    }

    fn draw(&self, persistence: Persistence) -> Result<KeyHandle, HsmError> {
        loop {
            let drawn = draw_handle(persistence, None, |_| false)?;
            let handle = match persistence {
                Persistence::Volatile => drawn,
                Persistence::Persistent => KeyHandle(drawn.0 & HANDLE_MAX),
            };
            let is_reserved = handle.0 < DRAWN_MIN || self.predefined.as_ref().is_some_and(|r| r.contains(&handle.0));
            if !is_reserved && !self.keys.contains_key(&handle) {
                return Ok(handle);
            }
        }
    }

    /// Runs commands; a TPM that is gone is noted.
    fn run<T>(
        &mut self,
        operation: &str,
        commands: impl FnOnce(&mut Link) -> Result<T, Trouble>,
    ) -> Result<T, HsmError> {
        let Some(link) = &mut self.link else { return Err(self.ledger.device_lost()) };
        commands(link).map_err(|trouble| match trouble {
            Trouble::Refused(code) => code.error(operation),
            Trouble::Garbled(error) => error,
            Trouble::Lost => {
                self.link = None;
                self.ledger.device_lost()
            }
        })
    }
}

impl Key {
    const fn persistence(&self) -> Persistence {
        if self.volatile.is_some() { Persistence::Volatile } else { Persistence::Persistent }
    }
}

impl Hsm for TpmHsm {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create_symmetric(&mut self, persistence: Persistence, _label: &str) -> Result<KeyHandle, HsmError> {
        Err(self.refusal(Operation::CreateSymmetric(persistence)))
    }

    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::CreatePair(curve, persistence))?;
        let handle = self.draw(persistence)?;
        self.create(curve, handle, persistence, label)?;
        Ok(handle)
    }

    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        let ImportedKey::Pair(curve, scalar) = key else {
            return Err(self.refusal(Operation::Import(KeyKind::Aes128, persistence)));
        };
        self.capabilities.require(Operation::Import(key.kind(), persistence))?;
        let point = SoftwareKey::from_scalar(*curve, scalar)?.public_point();
        let handle = self.draw(persistence)?;
        let (parent, pin) = (self.parent(persistence)?, self.pin.clone());
        let public = Public::imported(&point, persistence);
        let blob = self.run("import", |link| link.import(parent, pin.as_bytes(), &public, scalar))?;
        self.keep(parent, blob, handle, persistence, label)?;
        Ok(handle)
    }

    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError> {
        // The host knows it since the key was made or found.
        if self.link.is_none() {
            return Err(self.ledger.device_lost());
        }
        Ok(self.key(key)?.point)
    }

    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError> {
        self.read_keys()?;
        Ok(self.infos())
    }

    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError> {
        if self.predefined.as_ref().is_some_and(|range| range.contains(&key.0)) {
            return Err(HsmError::Predefined(key));
        }
        if self.key(key)?.volatile.is_none() {
            let persistent = PERSISTENT + key.0;
            self.run("delete", |link| link.evict(persistent, persistent))?;
        }
        self.keys.remove(&key);
        self.ledger.remove(key);
        Ok(())
    }

    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        let curve = self.key(key)?.point.curve();
        check_digest(curve, digest)?;
        let (r, s) = self.with_key(key, "sign", |link, key, pin| link.sign(key, pin, curve, digest))?;
        let filled = public::fill_up(curve, &r).zip(public::fill_up(curve, &s));
        let signature = filled.and_then(|(r, s)| curve::signature(curve, &r, &s));
        signature.ok_or_else(|| HsmError::Protocol("a signature longer than its curve".into()))
    }

    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
        let curve = public.curve();
        self.capabilities.require(Operation::Verify(curve))?;
        check_digest(curve, digest)?;
        check_signature(curve, signature)?;
        // The TPM would call this an error in a parameter instead of a wrong signature.
        if !curve::is_in_range(signature) {
            return Ok(false);
        }
        let loaded = self.run("verify", |link| link.load_public(&Public::verifier(public)))?;
        let holds = self.run("verify", |link| link.verify(loaded, curve, digest, signature.r(), signature.s()));
        self.run("verify", |link| link.flush(loaded))?;
        holds
    }

    fn encrypt(&mut self, _key: KeyHandle, _nonce: &[u8; NONCE_LEN], _plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
        Err(self.refusal(Operation::Encrypt))
    }

    fn decrypt(&mut self, _key: KeyHandle, _nonce: &[u8; NONCE_LEN], _ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
        Err(self.refusal(Operation::Decrypt))
    }

    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        let curve = self.key(key)?.point.curve();
        check_curve(curve, peer.curve())?;
        let x = self.with_key(key, "agree", |link, key, pin| link.agree(key, pin, peer.x(), peer.y()))?;
        let x = public::fill_up(curve, &x)
            .ok_or_else(|| HsmError::Protocol("a coordinate longer than its curve".into()))?;
        Ok(SharedX::new(&Zeroizing::new(x))?)
    }

    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        self.predefined.clone()
    }

    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError> {
        self.keys.retain(|_, key| key.volatile.is_none());
        self.ledger.forget_volatile();
        self.read_keys()?;
        let range = self.predefined.clone();
        Ok(self.keys.keys().copied().filter(|key| range.as_ref().is_some_and(|r| r.contains(&key.0))).collect())
    }

    fn recover(&mut self) -> Result<Recovery, HsmError> {
        // Ends a software TPM of ours that may still hold the state's lock.
        self.link = None;
        let mut link = Link::open(&self.endpoint)?;
        let found = look_around(&mut link);
        self.link = Some(link);
        self.parents = self.run("recover", |_| found)?.0;
        self.read_keys()?;
        // A reset changed the null hierarchy's seed; if only the connection broke, its keys still open.
        if self.keys.values().any(|key| key.volatile.is_some()) {
            let parent = self.parent(Persistence::Volatile)?;
            let volatile: Vec<_> =
                self.keys.iter().filter_map(|(handle, key)| Some((*handle, key.volatile.clone()?))).collect();
            for (handle, blob) in volatile {
                let opens = self.run("recover", |link| match link.load(parent, &blob) {
                    Ok(loaded) => link.flush(loaded).map(|()| true),
                    Err(Trouble::Refused(Code::INTEGRITY)) => Ok(false),
                    Err(trouble) => Err(trouble),
                })?;
                if !opens {
                    self.keys.remove(&handle);
                }
            }
        }
        Ok(self.ledger.recover(&self.infos()))
    }
}

impl TpmHsm {
    /// What the capabilities say about something that is never supported.
    fn refusal(&self, operation: Operation) -> HsmError {
        HsmError::Unsupported { operation: operation.to_string(), reason: NO_AES_CCM.into() }
    }
}

const NO_AES_CCM: &str = "TPM 2.0 has no AES-CCM; symmetric keys belong in a software back end";

/// Starts the TPM, throws out what a previous connection left loaded, and asks what it is.
fn look_around(link: &mut Link) -> Result<(Parents, String, Vec<u16>), Trouble> {
    link.startup()?;
    // Behind the kernel's resource manager these are ours alone; a software TPM has no other user.
    for loaded in link.handles(TRANSIENT)? {
        link.flush(loaded)?;
    }
    let parents = Parents { owner: link.create_primary(OWNER)?, null: None };
    Ok((parents, link.name()?, link.curves()?))
}

fn capabilities(name: String, curves: &[u16]) -> Capabilities {
    Capabilities::new("tpm", name, false, |operation| match operation {
        operation if operation.is_symmetric() => Support::unsupported(NO_AES_CCM),
        operation => match operation.curve() {
            Some(curve) if !curves.contains(&public::number(curve)) => {
                Support::unsupported(format!("this TPM lists no curve {}", curve))
            }
            _ => match operation {
                Operation::Import(..) => Support::shared("the public point is computed on the host"),
                Operation::CreatePair(_, Persistence::Volatile) => {
                    Support::shared("sealed by the TPM, kept by the host")
                }
                _ => Support::Device,
            },
        },
    })
}
