//! Keys in a PKCS#11 token: SoftHSM, a smart card, a network HSM, whatever brings a module.
//!
//! It does *not* see private keys: they are made non-extractable and sensitive. It does *not* list objects of others: a key
//! is one of ours if its `CKA_ID` has four bytes, which are its handle.
//!
//! A module is foreign code in the process that loads it. The daemon loads none: it starts a
//! [worker](super::worker), so that a module that crashes takes a worker with it and no more.
//!
//! PKCS#11 knows no ECQV, no butterfly expansion and no KDF2. ECIES is ECDH in the token (`CKD_NULL`) and the rest on the
//! host; child keys of a butterfly are scalars the host computed and imports.

mod ccm;
mod error;
mod template;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use chronoseal_v2x::crypto::SoftwareKey;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use zeroize::Zeroizing;

use super::curve::{check_ciphertext, check_curve, check_digest, check_plaintext, check_signature};
use super::ledger::{check_predefined, draw_handle};
use super::software::wrong_kind;
use super::{
    Capabilities, Curve, EcdsaSignature, Hsm, HsmError, ImportedKey, KeyHandle, KeyInfo, KeyKind, NONCE_LEN, Operation,
    Persistence, PublicPoint, Recovery, SharedX, Support, check_label, curve,
};
use error::{Failure, failure};

/// Which token, and how to open it.
#[derive(Clone, Debug)]
pub struct Pkcs11Config {
    /// The module, as `/usr/lib/softhsm/libsofthsm2.so`.
    pub module: PathBuf,
    /// Label of the token.
    pub token: String,
    /// Handles that belong to predefined keys.
    pub predefined: Option<RangeInclusive<u32>>,
    /// Most sessions at a time, at least 1: how many signatures of a batch the token is given at once.
    pub sessions_max: usize,
}

/// One session on one token.
pub struct Pkcs11Hsm {
    capabilities: Capabilities,
    context: Pkcs11,
    slot: Slot,
    /// Owns the volatile keys: they end with it.
    session: Session,
    /// More sessions, for batches: a token works on one operation a session.
    pool: Vec<Session>,
    sessions_max: usize,
    pin: Zeroizing<String>,
    keys: BTreeMap<KeyHandle, Key>,
    predefined: Option<RangeInclusive<u32>>,
}

/// A key's objects in the token.
struct Key {
    kind: KeyKind,
    persistence: Persistence,
    label: String,
    /// AES key or private key.
    secret: ObjectHandle,
    /// Public key and its point; a token may hold a private key without.
    public: Option<(ObjectHandle, PublicPoint)>,
}

impl Pkcs11Hsm {
    /// Loads the module, finds the token, logs in and looks what it can do.
    ///
    /// # Errors
    /// [`HsmError::NoDevice`] without such a module or token, [`HsmError::WrongPin`], [`HsmError::PinLocked`], or
    /// [`HsmError::Device`] for whatever else the token says.
    pub fn open(config: &Pkcs11Config, pin: &str) -> Result<Self, HsmError> {
        check_predefined(config.predefined.as_ref())?;
        let context = load(&config.module)?;
        let slot = find_token(&context, &config.token)?;
        let pin = Zeroizing::new(pin.to_owned());
        let session = log_in(&context, slot, &pin)?;
        let capabilities = look_around(&context, slot, &session, config)?;
        let (keys, predefined) = (BTreeMap::new(), config.predefined.clone());
        let (pool, sessions_max) = (Vec::new(), config.sessions_max);
        let mut hsm = Self { capabilities, context, slot, session, pool, sessions_max, pin, keys, predefined };
        hsm.read_token()?;
        Ok(hsm)
    }

    /// Makes the pairs of the predefined range that are missing.
    ///
    /// # Errors
    /// As [`Hsm::create_pair`].
    pub fn provision(&mut self, curve: Curve) -> Result<(), HsmError> {
        for handle in self.predefined.clone().into_iter().flatten().map(KeyHandle) {
            if !self.keys.contains_key(&handle) {
                self.generate(curve, handle, Persistence::Persistent, "predefined")?;
            }
        }
        Ok(())
    }

    /// Takes over what the token holds; volatile keys stay.
    fn read_token(&mut self) -> Result<(), HsmError> {
        let mut keys = BTreeMap::new();
        for (class, kind) in [(ObjectClass::SECRET_KEY, KeyType::AES), (ObjectClass::PRIVATE_KEY, KeyType::EC)] {
            let wanted = [Attribute::Token(true), Attribute::Class(class), Attribute::KeyType(kind)];
            for object in self.call("list", |session| session.find_objects(&wanted))? {
                if let Some((handle, key)) = self.read_key(object, class)? {
                    keys.insert(handle, key);
                }
            }
        }
        self.keys.retain(|_, key| key.persistence == Persistence::Volatile);
        self.keys.append(&mut keys);
        Ok(())
    }

    /// A key of the token, if it is one of ours.
    fn read_key(&self, object: ObjectHandle, class: ObjectClass) -> Result<Option<(KeyHandle, Key)>, HsmError> {
        let mut wanted = vec![AttributeType::Id, AttributeType::Label];
        if class == ObjectClass::PRIVATE_KEY {
            wanted.push(AttributeType::EcParams);
        }
        let attributes = self.call("list", |session| session.get_attributes(object, &wanted))?;
        let (mut handle, mut label, mut curve) = (None, String::new(), None);
        for attribute in attributes {
            match attribute {
                Attribute::Id(id) => handle = template::handle_of_id(&id).filter(|handle| !handle.is_volatile()),
                Attribute::Label(bytes) => label = String::from_utf8_lossy(&bytes).into_owned(),
                Attribute::EcParams(params) => curve = template::curve_of_params(&params),
                _ => {}
            }
        }
        let kind = match class {
            ObjectClass::PRIVATE_KEY => curve.map(KeyKind::Pair),
            _ => Some(KeyKind::Aes128),
        };
        let (Some(handle), Some(kind)) = (handle, kind) else { return Ok(None) };
        let public = match kind {
            KeyKind::Pair(curve) => self.find_public(curve, handle)?,
            KeyKind::Aes128 => None,
        };
        Ok(Some((handle, Key { kind, persistence: Persistence::Persistent, label, secret: object, public })))
    }

    fn find_public(&self, curve: Curve, handle: KeyHandle) -> Result<Option<(ObjectHandle, PublicPoint)>, HsmError> {
        let wanted =
            [Attribute::Token(true), Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::Id(template::id(handle))];
        let objects = self.call("list", |session| session.find_objects(&wanted))?;
        let Some(object) = objects.first().copied() else { return Ok(None) };
        Ok(Some((object, self.read_point(curve, object)?)))
    }

    fn read_point(&self, curve: Curve, object: ObjectHandle) -> Result<PublicPoint, HsmError> {
        let attributes = self.call("export public", |s| s.get_attributes(object, &[AttributeType::EcPoint]))?;
        let point = attributes.iter().find_map(|attribute| match attribute {
            Attribute::EcPoint(bytes) => template::point_of(curve, bytes),
            _ => None,
        });
        point.ok_or_else(|| HsmError::Protocol("CKA_EC_POINT is no uncompressed point of the key's curve".into()))
    }

    fn generate(
        &mut self,
        curve: Curve,
        handle: KeyHandle,
        persistence: Persistence,
        label: &str,
    ) -> Result<(), HsmError> {
        let (public, private) = template::new_pair(curve, handle, persistence, label);
        let (public, secret) = self
            .call("create a pair", |session| session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private))?;
        let point = self.read_point(curve, public)?;
        let (kind, label) = (KeyKind::Pair(curve), label.to_owned());
        self.keys.insert(handle, Key { kind, persistence, label, secret, public: Some((public, point)) });
        Ok(())
    }

    /// Opens sessions for a batch of this length; a token that has no more of them has no more.
    fn fill_pool(&mut self, batch_len: usize) {
        let wanted = self.sessions_max.min(batch_len).saturating_sub(1);
        while self.pool.len() < wanted {
            match log_in(&self.context, self.slot, &self.pin) {
                Ok(session) => self.pool.push(session),
                Err(_) => return,
            }
        }
    }

    fn draw(&self, persistence: Persistence) -> Result<KeyHandle, HsmError> {
        draw_handle(persistence, self.predefined.as_ref(), |handle| self.keys.contains_key(&handle))
    }

    fn key(&self, handle: KeyHandle) -> Result<&Key, HsmError> {
        self.keys.get(&handle).ok_or(HsmError::NotFound(handle))
    }

    fn pair(&self, handle: KeyHandle, operation: fn(Curve) -> Operation) -> Result<(Curve, ObjectHandle), HsmError> {
        let key = self.key(handle)?;
        let KeyKind::Pair(curve) = key.kind else {
            return Err(wrong_kind(handle, key.kind, operation(Curve::NistP256)));
        };
        self.capabilities.require(operation(curve))?;
        Ok((curve, key.secret))
    }

    fn symmetric(&self, handle: KeyHandle, operation: Operation) -> Result<ObjectHandle, HsmError> {
        self.capabilities.require(operation)?;
        let key = self.key(handle)?;
        if key.kind == KeyKind::Aes128 { Ok(key.secret) } else { Err(wrong_kind(handle, key.kind, operation)) }
    }

    /// Last block of AES-CBC with a zero initial vector.
    fn cbc_mac(&self, key: ObjectHandle, blocks: &[u8]) -> Result<Vec<u8>, HsmError> {
        let encrypted = self.call("encrypt", |session| session.encrypt(&Mechanism::AesCbc([0; 16]), key, blocks))?;
        let last = encrypted.len().checked_sub(16).and_then(|at| encrypted.get(at..));
        last.map(<[u8]>::to_vec).ok_or_else(|| HsmError::Protocol("AES-CBC gave less than a block".into()))
    }

    fn ecb(&self, key: ObjectHandle, blocks: &[u8]) -> Result<Vec<u8>, HsmError> {
        self.call("encrypt", |session| session.encrypt(&Mechanism::AesEcb, key, blocks))
    }

    /// Runs a call; a token that is gone takes the volatile keys along.
    fn call<T>(&self, operation: &str, call: impl FnOnce(&Session) -> Result<T, Error>) -> Result<T, HsmError> {
        call(&self.session).map_err(|error| match failure(operation, &error) {
            Failure::Told(error) => error,
            Failure::Lost => {
                let of =
                    |wanted| self.keys.iter().filter(move |(_, key)| key.persistence == wanted).map(|(key, _)| *key);
                HsmError::DeviceLost {
                    persistent: of(Persistence::Persistent).collect(),
                    volatile: of(Persistence::Volatile).collect(),
                }
            }
        })
    }
}

impl Hsm for Pkcs11Hsm {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create_symmetric(&mut self, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::CreateSymmetric(persistence))?;
        let handle = self.draw(persistence)?;
        let template = template::new_symmetric(handle, persistence, label);
        let secret = self.call("create AES", |session| session.generate_key(&Mechanism::AesKeyGen, &template))?;
        let (kind, label) = (KeyKind::Aes128, label.to_owned());
        self.keys.insert(handle, Key { kind, persistence, label, secret, public: None });
        Ok(handle)
    }

    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::CreatePair(curve, persistence))?;
        let handle = self.draw(persistence)?;
        self.generate(curve, handle, persistence, label)?;
        Ok(handle)
    }

    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.capabilities.require(Operation::Import(key.kind(), persistence))?;
        let handle = self.draw(persistence)?;
        // PKCS#11 has no way to ask for the point of a private key, so it is computed here, where the scalar still is.
        let point = match key {
            ImportedKey::Pair(curve, scalar) => Some(SoftwareKey::from_scalar(*curve, scalar)?.public_point()),
            ImportedKey::Aes128(_) => None,
        };
        let template = template::imported(key, handle, persistence, label);
        let secret = self.call("import", |session| session.create_object(&template))?;
        let public = match point {
            Some(point) => {
                let template = template::public(&point, Some((handle, persistence, label)));
                let made = self.call("import", |session| session.create_object(&template));
                if made.is_err() {
                    // Half a pair is of no use; that it cannot be removed either is not the caller's first trouble.
                    let _ = self.session.destroy_object(secret);
                }
                Some((made?, point))
            }
            None => None,
        };
        self.keys.insert(handle, Key { kind: key.kind(), persistence, label: label.to_owned(), secret, public });
        Ok(handle)
    }

    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError> {
        if !key.is_volatile() && !self.keys.contains_key(&key) {
            // Another process may have made it.
            self.read_token()?;
        }
        let (curve, secret) = self.pair(key, Operation::ExportPublic)?;
        match &self.key(key)?.public {
            Some((_, point)) => Ok(*point),
            // Some tokens put the point on the private key.
            None => self.read_point(curve, secret),
        }
    }

    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError> {
        self.read_token()?;
        let info = |(handle, key): (&KeyHandle, &Key)| KeyInfo {
            handle: *handle,
            kind: key.kind,
            persistence: key.persistence,
            label: key.label.clone(),
        };
        Ok(self.keys.iter().map(info).collect())
    }

    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError> {
        if self.predefined.as_ref().is_some_and(|range| range.contains(&key.0)) {
            return Err(HsmError::Predefined(key));
        }
        let Key { secret, public, .. } = self.key(key)?;
        let (secret, public) = (*secret, public.as_ref().map(|(object, _)| *object));
        self.call("delete", |session| session.destroy_object(secret))?;
        self.keys.remove(&key);
        match public {
            Some(public) => self.call("delete", |session| session.destroy_object(public)),
            None => Ok(()),
        }
    }

    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        let (curve, secret) = self.pair(key, Operation::Sign)?;
        check_digest(curve, digest)?;
        let bytes = self.call("sign", |session| session.sign(&Mechanism::Ecdsa, secret, digest))?;
        signature_of(curve, &bytes)
    }

    fn sign_batch(&mut self, key: KeyHandle, digests: &[&[u8]]) -> Result<Vec<EcdsaSignature>, HsmError> {
        let (curve, secret) = self.pair(key, Operation::Sign)?;
        for digest in digests {
            check_digest(curve, digest)?;
        }
        self.fill_pool(digests.len());
        let share = digests.len().div_ceil(1 + self.pool.len()).max(1);
        let sign = |session: &mut Session, digests: &[&[u8]]| -> Vec<_> {
            digests.iter().map(|digest| session.sign(&Mechanism::Ecdsa, secret, digest)).collect()
        };
        let mut shares = digests.chunks(share);
        let own = shares.next().unwrap_or_default();
        let signed = std::thread::scope(|scope| {
            let others: Vec<_> = self
                .pool
                .iter_mut()
                .zip(shares)
                .map(|(session, share)| scope.spawn(move || sign(session, share)))
                .collect();
            let mut signed = sign(&mut self.session, own);
            for other in others {
                // A thread that only calls the module panics only if memory has run out.
                signed.extend(other.join().unwrap_or_default());
            }
            signed
        });
        if signed.len() != digests.len() {
            return Err(HsmError::Protocol("part of a batch was not signed".into()));
        }
        signed.into_iter().map(|bytes| signature_of(curve, &self.call("sign", |_| bytes)?)).collect()
    }

    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
        self.capabilities.require(Operation::Verify(public.curve()))?;
        check_digest(public.curve(), digest)?;
        check_signature(public.curve(), signature)?;
        // Some tokens call r or s outside 1..n a failure of their own instead of a wrong signature.
        if !curve::is_in_range(signature) {
            return Ok(false);
        }
        let object = self.call("verify", |session| session.create_object(&template::public(public, None)))?;
        let bytes = [signature.r(), signature.s()].concat();
        let verified = self.session.verify(&Mechanism::Ecdsa, object, digest, &bytes);
        self.call("verify", |session| session.destroy_object(object))?;
        match verified {
            Ok(()) => Ok(true),
            Err(Error::Pkcs11(RvError::SignatureInvalid | RvError::SignatureLenRange, _)) => Ok(false),
            Err(error) => self.call("verify", |_| Err(error)),
        }
    }

    fn encrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let key = self.symmetric(key, Operation::Encrypt)?;
        check_plaintext(plaintext)?;
        let mac = self.cbc_mac(key, &ccm::mac_blocks(nonce, plaintext))?;
        let stream = self.ecb(key, &ccm::counter_blocks(nonce, plaintext.len()))?;
        ccm::seal(plaintext, &mac, &stream).ok_or_else(|| HsmError::Protocol("AES-ECB gave too little".into()))
    }

    fn decrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let key = self.symmetric(key, Operation::Decrypt)?;
        check_ciphertext(ciphertext)?;
        let stream = self.ecb(key, &ccm::counter_blocks(nonce, ciphertext.len()))?;
        let (plaintext, tag) =
            ccm::unmask(ciphertext, &stream).ok_or_else(|| HsmError::Protocol("AES-ECB gave too little".into()))?;
        let mac = self.cbc_mac(key, &ccm::mac_blocks(nonce, &plaintext))?;
        if ccm::same_tag(&tag, &mac) { Ok(plaintext) } else { Err(HsmError::NotAuthentic) }
    }

    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        let (curve, secret) = self.pair(key, Operation::Agree)?;
        check_curve(curve, peer.curve())?;
        let point = peer.to_sec1_uncompressed();
        let mechanism = Mechanism::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), &point));
        let agreed = self.call("agree", |session| session.derive_key(&mechanism, secret, &template::agreed(curve)))?;
        let value = self.call("agree", |session| session.get_attributes(agreed, &[AttributeType::Value]));
        self.call("agree", |session| session.destroy_object(agreed))?;
        let x = value?.into_iter().find_map(|attribute| match attribute {
            Attribute::Value(bytes) => Some(Zeroizing::new(bytes)),
            _ => None,
        });
        match x {
            Some(x) if x.len() == curve.coordinate_len() => Ok(SharedX::new(&x)?),
            _ => Err(HsmError::Protocol("no agreed value of the curve's length".into())),
        }
    }

    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        self.predefined.clone()
    }

    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError> {
        self.recover()?;
        let range = self.predefined.clone();
        Ok(self.keys.keys().copied().filter(|key| range.as_ref().is_some_and(|r| r.contains(&key.0))).collect())
    }

    fn recover(&mut self) -> Result<Recovery, HsmError> {
        let before: Vec<KeyHandle> = self.keys.keys().copied().collect();
        let session = log_in(&self.context, self.slot, &self.pin)?;
        // The old session ends here and its objects, the volatile keys, with it.
        self.session = session;
        self.pool.clear();
        self.keys.clear();
        self.read_token()?;
        let (kept, lost) = before.into_iter().partition(|handle| self.keys.contains_key(handle));
        Ok(Recovery { kept, lost })
    }
}

/// r and s, one after the other.
fn signature_of(curve: Curve, bytes: &[u8]) -> Result<EcdsaSignature, HsmError> {
    let halves = bytes.split_at_checked(curve.coordinate_len());
    let signature = halves.and_then(|(r, s)| curve::signature(curve, r, s));
    signature.ok_or_else(|| HsmError::Protocol(format!("a signature of {} bytes", bytes.len())))
}

fn load(module: &Path) -> Result<Pkcs11, HsmError> {
    let no_device = |error: Error| HsmError::NoDevice(format!("{}: {error}", module.display()));
    let context = Pkcs11::new(module).map_err(no_device)?;
    match context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(context),
        Err(error) => Err(no_device(error)),
    }
}

fn find_token(context: &Pkcs11, label: &str) -> Result<Slot, HsmError> {
    let no_device = |error: Error| HsmError::NoDevice(error.to_string());
    let mut seen = Vec::new();
    for slot in context.get_slots_with_initialized_token().map_err(no_device)? {
        let token = context.get_token_info(slot).map_err(no_device)?;
        if token.label() == label {
            return Ok(slot);
        }
        seen.push(token.label().to_owned());
    }
    Err(HsmError::NoDevice(format!("no token labelled {label:?} among {seen:?}")))
}

fn log_in(context: &Pkcs11, slot: Slot, pin: &str) -> Result<Session, HsmError> {
    let told = |error: Error| match failure("open a session", &error) {
        Failure::Told(error) => error,
        Failure::Lost => HsmError::NoDevice(error.to_string()),
    };
    let session = context.open_rw_session(slot).map_err(told)?;
    match session.login(UserType::User, Some(&AuthPin::new(pin.into()))) {
        // Login counts for all sessions of a process, so a second one finds it done.
        Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(session),
        Err(error) => Err(told(error)),
    }
}

/// Asks the token for its mechanisms, and for a key on each curve: there is no other way to learn its curves.
fn look_around(
    context: &Pkcs11,
    slot: Slot,
    session: &Session,
    config: &Pkcs11Config,
) -> Result<Capabilities, HsmError> {
    let no_device = |error: Error| HsmError::NoDevice(error.to_string());
    let mechanisms = context.get_mechanism_list(slot).map_err(no_device)?;
    let lacks = |wanted: MechanismType| {
        let missing = !mechanisms.contains(&wanted);
        missing.then(|| Support::unsupported(format!("the token lists no {wanted}")))
    };
    let curves = Curve::ALL.map(|curve| (curve, refused_curve(session, curve)));
    let on_curve = |curve: Curve| {
        let refused = curves.iter().find(|(other, _)| *other == curve).and_then(|(_, refused)| refused.clone());
        refused.map(|reason| Support::unsupported(format!("the token refuses {}: {reason}", curve)))
    };
    let aes =
        || [MechanismType::AES_KEY_GEN, MechanismType::AES_CBC, MechanismType::AES_ECB].into_iter().find_map(lacks);
    let shared_ccm = "the token's AES-CBC and AES-ECB, put together to CCM on the host";
    let info = context.get_token_info(slot).map_err(no_device)?;
    let device = format!("{} {} ({})", info.manufacturer_id(), info.model(), config.module.display());
    Ok(Capabilities::new("pkcs11", device, false, |operation| {
        let refused = match operation {
            Operation::Sign(curve) | Operation::Verify(curve) => {
                on_curve(curve).or_else(|| lacks(MechanismType::ECDSA))
            }
            Operation::Agree(curve) => on_curve(curve).or_else(|| lacks(MechanismType::ECDH1_DERIVE)),
            operation if operation.is_symmetric() => aes(),
            operation => operation.curve().and_then(on_curve),
        };
        refused.unwrap_or_else(|| match operation {
            Operation::Encrypt | Operation::Decrypt => Support::shared(shared_ccm),
            Operation::Import(KeyKind::Pair(_), _) => Support::shared("the public point is computed on the host"),
            _ => Support::Device,
        })
    }))
}

/// Why the token makes no key on this curve, if it makes none.
fn refused_curve(session: &Session, curve: Curve) -> Option<String> {
    let (public, private) = template::new_pair(curve, KeyHandle(u32::MAX), Persistence::Volatile, "probe");
    match session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private) {
        Ok((public, private)) => {
            // Session objects: what cannot be destroyed now ends with the session.
            let _ = session.destroy_object(public);
            let _ = session.destroy_object(private);
            None
        }
        Err(error) => Some(error.to_string()),
    }
}
