//! The state machine behind the services for sending: signatures, and the pseudonym they are made with.

use std::collections::{BTreeMap, VecDeque};

use rand_core::Rng;

use super::{
    Answered, CertificateInclusion, ChangeClock, ChangePolicy, ChangeRefusal, Inclusion, LayerId, Layers, Pool,
    PoolConfig, PoolError, PoolRecord, Pseudonym, PseudonymOrder, SignRefusal, Supply, Surroundings,
};
use crate::certificate::CertificateError;
use crate::crypto::{KeyError, SigningKey};
use crate::message::{SignError, SignerCertificate, SignerForm, sign};
use crate::types::{
    CertificateBuf, HashedId8, HeaderInfo, Psid, Received, SignedDataPayload, ThreeDLocation, Time64, ToBeSignedData,
    TwoDLocation,
};
use crate::verify::{Allowance, Context, VerifierConfig};

/// Where private keys are: an HSM.
pub trait KeyRing<K> {
    /// The key called so, to sign with.
    ///
    /// # Errors
    /// [`KeyError::Device`] if it is not there, or whatever the device says.
    fn signing_key(&mut self, name: &K) -> Result<Box<dyn SigningKey + '_>, KeyError>;
}

/// What identifies a station to its neighbours; all of it changes with the pseudonym, and follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkIds {
    /// Of the certificate.
    pub certificate: HashedId8,
    /// Of the facilities layer: `stationId` of its messages.
    pub station_id: u32,
    /// Of the access layer: locally administered, not a group. The GeoNetworking address holds the same octets.
    pub link_address: [u8; 6],
}

impl NetworkIds {
    /// The identifiers that go with a certificate: its own last octets (EN 302 636-4-1 clause 10.2.1.5.2).
    pub fn of(certificate: HashedId8) -> Self {
        let [_, _, m0, m1, m2, m3, m4, m5] = certificate.0;
        Self {
            certificate,
            station_id: u32::from_be_bytes([m2, m3, m4, m5]),
            link_address: [(m0 | 0x02) & 0xfe, m1, m2, m3, m4, m5],
        }
    }
}

/// What the owner of a station has to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<K> {
    /// Write this down, and do nothing else before it is.
    Persist(PoolRecord),
    /// Ask these layers to prepare for these identifiers; each answers with [`Station::answer`].
    AskLayers {
        /// Whom to ask.
        layers: Vec<LayerId>,
        /// What to prepare for.
        ids: NetworkIds,
    },
    /// Tell every layer that these identifiers are the ones now.
    Changed(NetworkIds),
    /// Tell every layer that everything stays as it was, and why.
    Abandoned(ChangeRefusal),
    /// The key of a pseudonym that will not be used again.
    DeleteKey(K),
    /// Ask the authorization authority for these pseudonyms; then [`Station::add_pseudonym`] for each that has come, or
    /// [`Station::asked_in_vain`].
    RequestPseudonyms(PseudonymOrder),
}

/// A message to sign.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Application area.
    pub psid: Psid,
    /// What is said.
    pub payload: &'a [u8],
    /// Where it is said, for services that have that in the header.
    pub location: Option<ThreeDLocation>,
    /// Where it is said, for services that have that in the payload only.
    pub position: Option<TwoDLocation>,
    /// Permissions the payload needs: the bits that have to be set in the ticket, the first octet being the version.
    pub ssp_needed: Option<&'a [u8]>,
    /// Include the certificate whenever it was included last: the service for notifications does, and whoever was asked.
    pub always_certificate: bool,
    /// Certificates of neighbours that are wanted (`inlineP2pcdRequest`): `HashedId3` after `HashedId3`.
    pub wanted: &'a [u8],
}

/// How often a change away from an expired pseudonym is tried, if a layer is in its way `[us]`.
const REPLACE_EVERY_US: u64 = 1_000_000;

/// A station that sends.
#[derive(Debug)]
pub struct Station<K> {
    pool: Pool<K>,
    supply: Supply,
    certificates: BTreeMap<HashedId8, (SignerCertificate, Allowance)>,
    /// What receivers are taken to ask of messages.
    rules: VerifierConfig,
    clock: ChangeClock,
    layers: Layers,
    blocked_until_us: u64,
    /// When a change away from an expired pseudonym is tried again, if a layer was in its way.
    replace_again_us: u64,
    inclusion: CertificateInclusion,
    effects: VecDeque<Effect<K>>,
}

impl<K: super::KeyName> Station<K> {
    /// A station without pseudonyms, at the start of a trip.
    pub fn new(pool: PoolConfig, policy: ChangePolicy, now: Time64, rng: &mut impl Rng) -> Self {
        let clock = ChangeClock::new(policy, now.0, rng);
        Self {
            pool: Pool::new(pool),
            supply: Supply::new(pool, rng),
            certificates: BTreeMap::new(),
            rules: VerifierConfig::default(),
            clock,
            layers: Layers::default(),
            blocked_until_us: 0,
            replace_again_us: 0,
            inclusion: CertificateInclusion::default(),
            effects: VecDeque::new(),
        }
    }

    /// A station as a store has it; see [`Pool::recover`].
    ///
    /// # Errors
    /// [`CertificateError`] of the first certificate that has no usable key.
    pub fn recover(
        config: PoolConfig,
        policy: ChangePolicy,
        stored: impl IntoIterator<Item = (CertificateBuf, K)>,
        current: Option<HashedId8>,
        begun: Option<HashedId8>,
        now: Time64,
        rng: &mut impl Rng,
    ) -> Result<Self, CertificateError> {
        let mut station = Self::new(config, policy, now, rng);
        let (mut in_use, mut unused) = (None, Vec::new());
        for (certificate, key) in stored {
            let pseudonym = station.learn(certificate, key)?;
            if Some(pseudonym.id) == current { in_use = Some(pseudonym) } else { unused.push(pseudonym) }
        }
        let old = in_use.clone();
        let (pool, record) = Pool::recover(config, in_use, unused, begun);
        station.pool = pool;
        if let Some(record) = record {
            station.effects.push_back(Effect::Persist(record));
            station.forget(old);
            station.tell_changed();
        }
        Ok(station)
    }

    fn learn(&mut self, certificate: CertificateBuf, key: K) -> Result<Pseudonym<K>, CertificateError> {
        let period = certificate.view().to_be_signed.validity_period;
        let allowance = Allowance::new(&certificate.view())?;
        let signer = SignerCertificate::new(certificate)?;
        let (id, valid_from, valid_until) = (signer.id(), period.start, period.end().time32());
        self.certificates.insert(id, (signer, allowance));
        Ok(Pseudonym { id, key, valid_from, valid_until })
    }

    /// Adds a pseudonym that has come, and begins to use it if there was none. Whoever adds it has written it down.
    ///
    /// # Errors
    /// [`CertificateError`] if it has no usable key.
    pub fn add_pseudonym(
        &mut self,
        certificate: CertificateBuf,
        key: K,
        now: Time64,
    ) -> Result<HashedId8, CertificateError> {
        let pseudonym = self.learn(certificate, key)?;
        let id = pseudonym.id;
        self.pool.add(pseudonym);
        self.supply.came();
        self.begin_first(now);
        Ok(id)
    }

    /// Begins to use a pseudonym if none is in use: it replaces nothing that was on the air, so no layer has to agree.
    pub fn begin_first(&mut self, now: Time64) {
        if self.pool.in_use().is_none() && !self.pool.is_changing() && self.pool.begin_change(now.time32()).is_ok() {
            self.commit();
        }
    }

    /// The next thing to do.
    pub fn poll_effect(&mut self) -> Option<Effect<K>> {
        self.effects.pop_front()
    }

    /// The pseudonyms.
    pub fn pool(&self) -> &Pool<K> {
        &self.pool
    }

    /// The certificate in use, valid or not.
    pub fn certificate(&self) -> Option<&SignerCertificate> {
        self.certificates.get(&self.pool.in_use()?.id).map(|(certificate, _)| certificate)
    }

    /// `createSignature`: a signed message, by the pseudonym of the moment. A key is asked for only if the pseudonym's
    /// certificate allows the message.
    ///
    /// # Errors
    /// [`SignRefusal`]; in mid-change and in a silence after it, sign again later.
    pub fn create_signature(
        &mut self,
        now: Time64,
        request: &Request<'_>,
        around: &Surroundings,
        keys: &mut impl KeyRing<K>,
        rng: &mut impl Rng,
    ) -> Result<Vec<u8>, SignRefusal> {
        if now.0 < self.clock.silent_until_us() {
            return Err(SignRefusal::Silence { until_us: self.clock.silent_until_us() });
        }
        self.replace_expired(now, rng);
        let current = self.pool.current(now.time32())?.clone();
        let (signer, allowance) = self.certificates.get(&current.id).ok_or(PoolError::Empty)?;
        let header_info = HeaderInfo {
            generation_time: Some(now),
            generation_location: request.location,
            inline_p2pcd_request: crate::types::HashedId3List::new(request.wanted).filter(|list| list.iter().len() > 0),
            ..HeaderInfo::new(request.psid)
        };
        let tbs = ToBeSignedData {
            payload: SignedDataPayload::unsecured(request.payload),
            header_info,
            received: Received::default(),
        };
        let included = self.inclusion.clone().decide(now.0, current.id, request.always_certificate);
        let context =
            Context { payload_location: request.position, ssp_needed: request.ssp_needed, ..Context::at(now) };
        allowance
            .check(&tbs.header_info, included == Inclusion::Certificate, &self.rules, &context)
            .map_err(|(check, code)| SignRefusal::NotAllowed { check, code })?;
        let mut key = keys.signing_key(&current.key).map_err(SignError::from)?;
        let form = match included {
            Inclusion::Certificate => SignerForm::Certificate(signer),
            Inclusion::Digest => SignerForm::Digest(signer),
        };
        let message = sign(&tbs, form, &mut *key)?;
        drop(key);
        // Only what was really signed counts.
        self.inclusion.decide(now.0, current.id, request.always_certificate);
        self.clock.count_signature();
        self.handle_timeout(now, around, rng);
        Ok(message)
    }

    /// The station has moved on `[mm]`.
    pub fn moved(&mut self, distance_mm: u64) {
        self.clock.count_distance(distance_mm);
    }

    /// Time passed: what the policy wants, layers that are late, pseudonyms that have expired, more to ask for.
    pub fn handle_timeout(&mut self, now: Time64, around: &Surroundings, rng: &mut impl Rng) {
        if let Some(layer) = self.layers.time_out(now.0) {
            self.abandon(ChangeRefusal::Silent(layer));
        }
        for Pseudonym { id, key, .. } in self.pool.expire(now.time32()) {
            self.certificates.remove(&id);
            self.effects.push_back(Effect::Persist(PoolRecord::Expired(id)));
            self.effects.push_back(Effect::DeleteKey(key));
        }
        self.replace_expired(now, rng);
        if self.clock.wants_change(now.0, around) {
            // What stands in the way may be gone the next time.
            let _ = self.change_pseudonym(now, rng);
        }
        if let Some(order) = self.supply.order(&self.pool, now) {
            self.effects.push_back(Effect::RequestPseudonyms(order));
        }
    }

    /// Changes away from a pseudonym that has expired, as soon as there is another one. Neither a block nor the want of a layer keeps
    /// the station from it: both are to let it keep its identity, which it can no longer show, and it would be silent.
    fn replace_expired(&mut self, now: Time64, rng: &mut impl Rng) {
        let has_expired = self.pool.in_use().is_some_and(|current| !current.is_valid(now.time32()));
        let is_due = has_expired && !self.pool.is_changing() && now.0 >= self.replace_again_us;
        if is_due && self.begin(now, rng).is_ok() {
            self.replace_again_us = now.plus_us(REPLACE_EVERY_US).0;
            if self.layers.registered().is_empty() {
                self.commit();
            }
        }
    }

    /// `changePseudonym`: begins a change.
    ///
    /// # Errors
    /// [`ChangeRefusal`] if it cannot begin.
    pub fn change_pseudonym(&mut self, now: Time64, rng: &mut impl Rng) -> Result<(), ChangeRefusal> {
        if self.layers.is_blocked(now.0) {
            return Err(ChangeRefusal::Blocked { until_us: self.blocked_until_us });
        }
        if self.pool.is_changing() {
            return Err(ChangeRefusal::UnderWay);
        }
        if self.layers.registered().is_empty() {
            return Err(ChangeRefusal::NoLayers);
        }
        self.begin(now, rng)
    }

    /// Begins a change, and asks whoever is registered.
    fn begin(&mut self, now: Time64, rng: &mut impl Rng) -> Result<(), ChangeRefusal> {
        let record = self.pool.begin_change(now.time32()).map_err(|_| ChangeRefusal::NoOther)?;
        self.effects.push_back(Effect::Persist(record));
        self.layers.prepare(now.0);
        // The clock starts again with the attempt: one that is refused is not repeated at each message.
        self.clock.changed(now.0, rng);
        let layers = self.layers.registered().to_vec();
        if let Some(next) = self.pool.next().filter(|_| !layers.is_empty()) {
            self.effects.push_back(Effect::AskLayers { layers, ids: NetworkIds::of(next.id) });
        }
        Ok(())
    }

    /// A layer has answered [`Effect::AskLayers`].
    pub fn answer(&mut self, layer: LayerId, is_ready: bool) -> Answered {
        let answered = self.layers.answer(layer, is_ready);
        self.settle(answered);
        answered
    }

    fn settle(&mut self, answered: Answered) {
        match answered {
            Answered::AllReady => self.commit(),
            Answered::Refused(layer) => self.abandon(ChangeRefusal::Refused(layer)),
            Answered::Waiting | Answered::Unexpected => {}
        }
    }

    fn commit(&mut self) {
        let old = self.pool.in_use().cloned();
        let Ok(record) = self.pool.commit_change() else { return };
        let deletes = matches!(record, PoolRecord::Changed { deletes: true, .. });
        self.effects.push_back(Effect::Persist(record));
        self.forget(old.filter(|_| deletes));
        self.tell_changed();
    }

    fn forget(&mut self, old: Option<Pseudonym<K>>) {
        if let Some(old) = old {
            self.certificates.remove(&old.id);
            self.effects.push_back(Effect::DeleteKey(old.key));
        }
    }

    fn tell_changed(&mut self) {
        if let Some(current) = self.pool.in_use() {
            self.effects.push_back(Effect::Changed(NetworkIds::of(current.id)));
        }
    }

    fn abandon(&mut self, why: ChangeRefusal) {
        if let Ok(record) = self.pool.abandon_change() {
            self.effects.push_back(Effect::Persist(record));
            self.effects.push_back(Effect::Abandoned(why));
        }
    }

    /// `blockPseudonymChange`.
    pub fn block_pseudonym_change(&mut self, now: Time64, duration_s: u8) {
        self.layers.block(now.0, duration_s);
        self.blocked_until_us = now.plus_us(u64::from(duration_s) * 1_000_000).0;
    }

    /// `freePseudonymChange`.
    pub fn free_pseudonym_change(&mut self) {
        self.layers.free();
    }

    /// `registerRequestNetworkIdChange`: a layer that will be asked.
    pub fn register_request_network_id_change(&mut self) -> LayerId {
        self.layers.register()
    }

    /// A layer is gone.
    pub fn remove_layer(&mut self, layer: LayerId) {
        let answered = self.layers.remove(layer);
        self.settle(answered);
    }

    /// `indicateNetworkIdChange`: a layer's identifier has changed for a reason of its own, so all others follow. That
    /// layer is ready for it.
    ///
    /// # Errors
    /// As [`Station::change_pseudonym`].
    pub fn indicate_network_id_change(
        &mut self,
        layer: LayerId,
        now: Time64,
        rng: &mut impl Rng,
    ) -> Result<(), ChangeRefusal> {
        self.change_pseudonym(now, rng)?;
        self.answer(layer, true);
        Ok(())
    }

    /// Those pseudonyms of [`Effect::RequestPseudonyms`] that have not come will not come; see [`Supply::asked_in_vain`].
    pub fn asked_in_vain(&mut self, now: Time64, rng: &mut impl Rng) {
        self.supply.asked_in_vain(now, rng);
    }

    /// When [`Station::handle_timeout`] has something to do whatever else happens [us of `Time64`].
    pub fn next_timeout_us(&self) -> Option<u64> {
        self.layers.deadline_us()
    }
}
