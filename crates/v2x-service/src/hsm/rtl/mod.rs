//! A P-256 accelerator as RTL in the loop: the multiplications happen in simulated hardware, the rest on the host.
//!
//! It does *not* measure: every time it reports is cycles at a declared clock plus a declared model of the link, and is
//! labelled simulated. It is *not* a secure element: the host draws private keys and nonces, hashes, and inverts scalars;
//! the engine multiplies points and keeps keys in its slots.
//!
//! Persistent keys lie in the slots that the flash beside the FPGA fills when it is configured; their handles are the
//! numbers of those slots, so that, unlike elsewhere, the handle of a deleted key comes again. Volatile keys lie in the
//! other slots and end when the device is configured anew or its process ends.

mod device;
mod frame;

pub use device::{RtlConfig, RtlLink};

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use chronoseal_v2x::crypto::SoftwareKey;
use p256::NonZeroScalar;
use p256::elliptic_curve::PrimeField as _;
use p256::elliptic_curve::ops::Invert as _;
use zeroize::Zeroizing;

use super::curve::{self, check_curve, check_digest, check_signature};
use super::ledger::{Ledger, draw_handle};
use super::{
    Capabilities, Curve, EcdsaSignature, Hsm, HsmError, ImportedKey, KeyHandle, KeyInfo, KeyKind, NONCE_LEN, Operation,
    Persistence, PublicPoint, Recovery, SharedX, SimulatedCost, Support, check_label, random,
};
use device::{Device, refused};
use frame::{Answer, Kind};

/// The one curve the engine knows.
const CURVE: Curve = Curve::NistP256;

/// A simulated accelerator.
pub struct RtlHsm {
    capabilities: Capabilities,
    config: RtlConfig,
    /// `None` after it was lost.
    device: Option<Device>,
    keys: BTreeMap<KeyHandle, Key>,
    ledger: Ledger,
    cost: Option<SimulatedCost>,
}

struct Key {
    slot: u8,
    label: String,
}

impl RtlHsm {
    /// Starts the simulator.
    ///
    /// # Errors
    /// [`HsmError::Io`] without the program, [`HsmError::StoreCorrupt`] for a flash file that is not what was written,
    /// [`HsmError::InvalidArgument`] for predefined slots the device has not, [`HsmError::NoDevice`] if it does not run.
    pub fn open(config: RtlConfig) -> Result<Self, HsmError> {
        let device = Device::start(&config)?;
        if let Some((first, last)) = config.predefined
            && (first > last || last >= device.predefined.into() || !device.has_flash)
        {
            let slots = device.predefined;
            let what = format!("predefined slots {first} to {last}: there are 0 to {}, with flash", slots - 1);
            return Err(HsmError::InvalidArgument(what));
        }
        let capabilities = capabilities(&config, device.has_flash);
        let (keys, ledger) = (BTreeMap::new(), Ledger::default());
        let mut hsm = Self { capabilities, config, device: Some(device), keys, ledger, cost: None };
        hsm.read_slots()?;
        hsm.ledger.recover(&hsm.infos());
        Ok(hsm)
    }

    /// Makes the predefined keys that are missing.
    ///
    /// # Errors
    /// As [`Hsm::create_pair`].
    pub fn provision(&mut self) -> Result<(), HsmError> {
        for handle in self.predefined_key_range().into_iter().flatten().map(KeyHandle) {
            if !self.keys.contains_key(&handle) {
                let slot = u8::try_from(handle.0).map_err(|_| HsmError::NotFound(handle))?;
                self.place(&curve::generate(CURVE)?, handle, slot, Persistence::Persistent, "predefined")?;
            }
        }
        Ok(())
    }

    /// The simulator's process, while it runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.device.as_ref().map(Device::process_id)
    }

    /// Takes over which slots are occupied.
    fn read_slots(&mut self) -> Result<(), HsmError> {
        let occupied = self.slots(Kind::Slots)?;
        self.keys.retain(|_, key| occupied >> key.slot & 1 == 1);
        let predefined = self.device.as_ref().map_or(0, |device| device.predefined);
        for slot in (0..predefined).filter(|slot| occupied >> slot & 1 == 1) {
            let label = String::new();
            self.keys.entry(KeyHandle(slot.into())).or_insert(Key { slot, label });
        }
        Ok(())
    }

    /// The bitmap of occupied slots that two requests answer with.
    fn slots(&mut self, kind: Kind) -> Result<u64, HsmError> {
        let result = self.ask(kind, &[], "list", None)?;
        let bitmap = <[u8; 8]>::try_from(&result[..]);
        bitmap.map(u64::from_be_bytes).map_err(|_| HsmError::Protocol("a bitmap that is none".into()))
    }

    fn infos(&self) -> Vec<KeyInfo> {
        let info = |(handle, key): (&KeyHandle, &Key)| KeyInfo {
            handle: *handle,
            kind: KeyKind::Pair(CURVE),
            persistence: persistence_of(*handle),
            label: key.label.clone(),
        };
        self.keys.iter().map(info).collect()
    }

    /// A free slot for a key of this persistence, and its handle.
    fn free_slot(&self, persistence: Persistence) -> Result<(KeyHandle, u8), HsmError> {
        let Some(device) = &self.device else { return Err(self.ledger.device_lost()) };
        let range = self.predefined_key_range();
        let (mut slots, is_reserved): (_, &dyn Fn(u8) -> bool) = match persistence {
            Persistence::Persistent => {
                (0..device.predefined, &|slot| range.as_ref().is_some_and(|range| range.contains(&slot.into())))
            }
            Persistence::Volatile => (device.predefined..device.slots, &|_| false),
        };
        let is_free = |slot: &u8| !is_reserved(*slot) && self.keys.values().all(|key| key.slot != *slot);
        let slot = slots.find(is_free);
        let slot = slot.ok_or_else(|| HsmError::DeviceFull(format!("the slots for {persistence} keys")))?;
        let handle = match persistence {
            Persistence::Persistent => KeyHandle(slot.into()),
            Persistence::Volatile => draw_handle(persistence, None, |handle| self.keys.contains_key(&handle))?,
        };
        Ok((handle, slot))
    }

    fn place(
        &mut self,
        key: &SoftwareKey,
        handle: KeyHandle,
        slot: u8,
        persistence: Persistence,
        label: &str,
    ) -> Result<(), HsmError> {
        let kind = match persistence {
            Persistence::Volatile => Kind::Import,
            Persistence::Persistent => Kind::Provision,
        };
        let payload = Zeroizing::new([&[slot], key.scalar()].concat());
        self.ask(kind, &payload, "keep a key", Some(handle))?;
        self.keys.insert(handle, Key { slot, label: label.to_owned() });
        self.ledger.insert(handle, persistence);
        Ok(())
    }

    fn add(&mut self, key: &SoftwareKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        self.begin();
        let (handle, slot) = self.free_slot(persistence)?;
        self.place(key, handle, slot, persistence, label)?;
        Ok(handle)
    }

    fn slot(&self, handle: KeyHandle) -> Result<u8, HsmError> {
        if self.device.is_none() {
            return Err(self.ledger.device_lost());
        }
        self.keys.get(&handle).map(|key| key.slot).ok_or(HsmError::NotFound(handle))
    }

    /// Costs are those of one call.
    fn begin(&mut self) {
        if let Some(device) = &mut self.device {
            device.reset_cost();
        }
    }

    /// A request that has to succeed.
    fn ask(
        &mut self,
        kind: Kind,
        payload: &[u8],
        operation: &str,
        key: Option<KeyHandle>,
    ) -> Result<Vec<u8>, HsmError> {
        let answer = self.ask_any(kind, payload)?;
        if answer.status == 0 { Ok(answer.result) } else { Err(refused(answer.status, operation, key, &self.config)) }
    }

    /// A request, whatever its status; a simulator that is gone is noted.
    fn ask_any(&mut self, kind: Kind, payload: &[u8]) -> Result<Answer, HsmError> {
        let Some(device) = &mut self.device else { return Err(self.ledger.device_lost()) };
        match device.ask(kind, payload) {
            Ok(answer) => {
                self.cost = Some(device.cost());
                Ok(answer)
            }
            Err(_) => {
                self.device = None;
                Err(self.ledger.device_lost())
            }
        }
    }
}

impl Hsm for RtlHsm {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create_symmetric(&mut self, persistence: Persistence, _label: &str) -> Result<KeyHandle, HsmError> {
        self.capabilities.require(Operation::CreateSymmetric(persistence))?;
        Err(impossible())
    }

    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::CreatePair(curve, persistence))?;
        self.add(&curve::generate(CURVE)?, persistence, label)
    }

    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::Import(key.kind(), persistence))?;
        let ImportedKey::Pair(_, scalar) = key else { return Err(impossible()) };
        self.add(&SoftwareKey::from_scalar(CURVE, scalar)?, persistence, label)
    }

    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError> {
        self.begin();
        let slot = self.slot(key)?;
        let result = self.ask(Kind::Public, &[slot], "export public", Some(key))?;
        let point = result.split_at_checked(32).and_then(|(x, y)| curve::point(CURVE, x, y));
        point.ok_or_else(|| HsmError::Protocol("a public key that is no point".into()))
    }

    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError> {
        self.begin();
        self.read_slots()?;
        Ok(self.infos())
    }

    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError> {
        if self.predefined_key_range().is_some_and(|range| range.contains(&key.0)) {
            return Err(HsmError::Predefined(key));
        }
        self.begin();
        let slot = self.slot(key)?;
        self.ask(Kind::Erase, &[slot], "delete", Some(key))?;
        self.keys.remove(&key);
        self.ledger.remove(key);
        Ok(())
    }

    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        check_digest(CURVE, digest)?;
        self.begin();
        let slot = self.slot(key)?;
        // A random nonce: that of RFC 6979 is made of the private key, which does not come back out of its slot.
        let nonce = nonce()?;
        let inverse = Zeroizing::new(nonce.invert());
        let payload = Zeroizing::new([&[slot], digest, &nonce.to_repr(), &inverse.to_repr()].concat());
        let result = self.ask(Kind::Sign, &payload, "sign", Some(key))?;
        let signature = result.split_at_checked(32).and_then(|(r, s)| curve::signature(CURVE, r, s));
        signature.ok_or_else(|| HsmError::Protocol(format!("a signature of {} bytes", result.len())))
    }

    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
        self.capabilities.require(Operation::Verify(public.curve()))?;
        check_digest(CURVE, digest)?;
        check_signature(CURVE, signature)?;
        self.begin();
        // The engine looks at r; s is inverted here, so it is looked at here.
        let s = p256::FieldBytes::try_from(signature.s()).ok().and_then(|s| NonZeroScalar::from_repr(s).into_option());
        let Some(s) = s.filter(|_| curve::is_in_range(signature)) else { return Ok(false) };
        let inverse = s.invert_vartime();
        let payload = [digest, signature.r(), &inverse.to_repr(), public.x(), public.y()].concat();
        match self.ask_any(Kind::Verify, &payload)?.status {
            0 => Ok(true),
            // A sum at infinity has no x that could be r.
            3 | 4 => Ok(false),
            status => Err(refused(status, "verify", None, &self.config)),
        }
    }

    fn encrypt(&mut self, _key: KeyHandle, _nonce: &[u8; NONCE_LEN], _plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
        self.capabilities.require(Operation::Encrypt)?;
        Err(impossible())
    }

    fn decrypt(&mut self, _key: KeyHandle, _nonce: &[u8; NONCE_LEN], _ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
        self.capabilities.require(Operation::Decrypt)?;
        Err(impossible())
    }

    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        check_curve(CURVE, peer.curve())?;
        self.begin();
        let slot = self.slot(key)?;
        let payload = [&[slot], peer.x(), peer.y()].concat();
        let x = Zeroizing::new(self.ask(Kind::Agree, &payload, "agree", Some(key))?);
        Ok(SharedX::new(&x)?)
    }

    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        self.config.predefined.map(|(first, last)| first..=last)
    }

    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError> {
        self.begin();
        let occupied = self.slots(Kind::Reload)?;
        self.keys.retain(|handle, key| !handle.is_volatile() && occupied >> key.slot & 1 == 1);
        self.ledger.forget_volatile();
        let range = self.predefined_key_range();
        Ok(self.keys.keys().copied().filter(|key| range.as_ref().is_some_and(|r| r.contains(&key.0))).collect())
    }

    fn recover(&mut self) -> Result<Recovery, HsmError> {
        // Ends a simulator that may still have the flash open.
        self.device = None;
        self.device = Some(Device::start(&self.config)?);
        self.keys.retain(|handle, _| !handle.is_volatile());
        self.read_slots()?;
        Ok(self.ledger.recover(&self.infos()))
    }

    fn simulated_cost(&self) -> Option<SimulatedCost> {
        self.cost
    }
}

fn persistence_of(handle: KeyHandle) -> Persistence {
    if handle.is_volatile() { Persistence::Volatile } else { Persistence::Persistent }
}

/// What only a capability that contradicts this file would lead to.
fn impossible() -> HsmError {
    HsmError::Protocol("the engine knows P-256 alone".into())
}

/// A nonce in 1..n.
fn nonce() -> Result<Zeroizing<NonZeroScalar>, HsmError> {
    let mut bytes = Zeroizing::new([0; 32]);
    loop {
        random(bytes.as_mut_slice())?;
        // One draw in 2^32 is not below the order.
        if let Some(nonce) = NonZeroScalar::from_repr((*bytes).into()).into_option() {
            return Ok(Zeroizing::new(nonce));
        }
    }
}

fn capabilities(config: &RtlConfig, has_flash: bool) -> Capabilities {
    let device =
        format!("simulated P-256 engine, {} MHz declared, link {}", config.clock_hz / 1_000_000, config.link.name());
    Capabilities::new("rtl", device, true, |operation| match (operation, operation.curve()) {
        (operation, _) if operation.is_symmetric() => {
            Support::unsupported("the engine multiplies points; it has no AES")
        }
        (_, Some(curve)) if curve != CURVE => Support::unsupported("the engine is built for the prime of P-256"),
        (operation, _) if operation.persistence() == Some(Persistence::Persistent) && !has_flash => {
            Support::unsupported("this device was given no flash")
        }
        (Operation::CreatePair(..), _) => Support::shared("the private key is drawn on the host"),
        (Operation::Sign(_), _) => Support::shared("hash, nonce and its inverse are the host's"),
        (Operation::Verify(_), _) => Support::shared("hash and inverse of s are the host's"),
        _ => Support::Device,
    })
}
