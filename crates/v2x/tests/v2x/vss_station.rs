//! The services for sending, with real keys and real certificates: the cases of the source's test plan and more.

use std::collections::BTreeMap;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::coer::Decode;
use chronoseal_v2x::crypto::{Curve, KeyError, SigningKey, SoftwareKey};
use chronoseal_v2x::types::*;
use chronoseal_v2x::vss::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub(super) const START: Time64 = Time64(700_000_000_000_000);
pub(super) const ALONE: Surroundings = Surroundings { near: 0, alike: 0, in_mix_zone: false };

/// An authority and the keys of a station.
pub(super) struct World {
    pub(super) rng: ChaCha8Rng,
    authority: SoftwareKey,
    authority_certificate: CertificateBuf,
    pub(super) keys: Ring,
    made: u32,
}

#[derive(Default)]
pub(super) struct Ring {
    pub(super) keys: BTreeMap<u32, SoftwareKey>,
    /// How often one was asked for.
    asked: usize,
}

impl KeyRing<u32> for Ring {
    fn signing_key(&mut self, name: &u32) -> Result<Box<dyn SigningKey + '_>, KeyError> {
        self.asked += 1;
        let key = self.keys.get_mut(name).ok_or_else(|| KeyError::Device("no such key".into()))?;
        Ok(Box::new(Borrowed(key)))
    }
}

struct Borrowed<'a>(&'a mut SoftwareKey);

impl SigningKey for Borrowed<'_> {
    fn curve(&self) -> Curve {
        self.0.curve()
    }
    fn public_point(&self) -> chronoseal_v2x::crypto::PublicPoint {
        self.0.public_point()
    }
    fn sign_digest(&mut self, digest: &[u8]) -> Result<chronoseal_v2x::crypto::EcdsaSignature, KeyError> {
        self.0.sign_digest(digest)
    }
}

impl World {
    fn new() -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut authority = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let key = VerificationKeyIndicator::VerificationKey(authority.public_point().to_verification_key());
        let period = ValidityPeriod { start: START.time32(), duration: Duration::Years(3) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("aa"), period, key);
        tbs.cert_issue_permissions = Some(vec![PsidGroupPermissions::new(SubjectPermissions::All)]);
        let authority_certificate = issue(tbs, Issuer::SelfSigned, &mut authority).unwrap();
        Self { rng, authority, authority_certificate, keys: Ring::default(), made: 0 }
    }

    pub(super) fn ticket(&mut self, from: Time32, hours: u16) -> (CertificateBuf, u32) {
        self.ticket_with(from, hours, None, None)
    }

    fn ticket_with(
        &mut self,
        from: Time32,
        hours: u16,
        ssp: Option<ServiceSpecificPermissions<'_>>,
        region: Option<GeographicRegion>,
    ) -> (CertificateBuf, u32) {
        self.made += 1;
        let key = SoftwareKey::generate(Curve::NistP256, &mut self.rng);
        let indicator = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
        let period = ValidityPeriod { start: from, duration: Duration::Hours(hours) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, indicator);
        tbs.app_permissions = Some(vec![PsidSsp { psid: Psid(36), ssp }]);
        tbs.region = region;
        let authority = self.authority_certificate.clone();
        let ticket = issue(tbs, Issuer::Certificate(&authority.view()), &mut self.authority).unwrap();
        self.keys.keys.insert(self.made, key);
        (ticket, self.made)
    }
}

/// A CAM of which nothing else is known.
fn request(payload: &[u8]) -> Request<'_> {
    Request {
        psid: Psid::CAM,
        payload,
        location: None,
        position: None,
        ssp_needed: None,
        always_certificate: false,
        wanted: &[],
    }
}

/// A station, its layers and what was done for it.
pub(super) struct Bench {
    pub(super) world: World,
    pub(super) station: Station<u32>,
    pub(super) layers: Vec<LayerId>,
    pub(super) now: Time64,
    pub(super) done: Vec<Effect<u32>>,
    pub(super) refuses: bool,
    /// How long its tickets are valid `[h]`.
    hours: u16,
}

impl Bench {
    fn new(config: PoolConfig, preset: Preset, tickets: usize) -> Self {
        Self::with_hours(config, preset, tickets, 100)
    }

    pub(super) fn with_hours(config: PoolConfig, preset: Preset, tickets: usize, hours: u16) -> Self {
        let mut world = World::new();
        let mut station = Station::new(config, preset.policy(), START, &mut world.rng);
        for _ in 0..tickets {
            let (certificate, key) = world.ticket(START.time32(), hours);
            station.add_pseudonym(certificate, key, START).unwrap();
        }
        let (layers, done) = (Vec::new(), Vec::new());
        let mut bench = Self { world, station, layers, now: START, done, refuses: false, hours };
        bench.serve();
        bench.done.clear();
        bench
    }

    /// Does what the station wants done; its layers agree.
    pub(super) fn serve(&mut self) {
        while let Some(effect) = self.station.poll_effect() {
            match &effect {
                Effect::AskLayers { layers, .. } => {
                    for layer in layers.clone() {
                        self.station.answer(layer, !self.refuses);
                    }
                }
                Effect::DeleteKey(key) => assert!(self.world.keys.keys.remove(key).is_some()),
                Effect::RequestPseudonyms(order) => {
                    let from = order.period.map_or(START.time32(), |period| period.start);
                    for _ in 0..order.count {
                        let (certificate, key) = self.world.ticket(from, self.hours);
                        self.station.add_pseudonym(certificate, key, self.now).unwrap();
                    }
                }
                Effect::Persist(_) | Effect::Changed(_) | Effect::Abandoned(_) => {}
            }
            self.done.push(effect);
        }
    }

    pub(super) fn sign(&mut self, payload: &[u8]) -> Result<Vec<u8>, SignRefusal> {
        let request = request(payload);
        let message =
            self.station.create_signature(self.now, &request, &ALONE, &mut self.world.keys, &mut self.world.rng);
        self.serve();
        message
    }

    /// 200 signatures, 10 a second, each payload a byte longer; how many changes there were.
    fn two_hundred(&mut self, mut before: impl FnMut(&mut Self, usize)) -> usize {
        for len in 1..=200 {
            before(self, len);
            let message = self.sign(&vec![7; len]).unwrap();
            let data = Ieee1609Dot2Data::from_coer(&message).unwrap();
            assert_eq!(data.signed_data().unwrap().tbs_data.payload.unsecured_payload().unwrap().len(), len);
            self.now = self.now.plus_us(100_000);
        }
        self.changes()
    }

    pub(super) fn changes(&self) -> usize {
        self.done.iter().filter(|effect| matches!(effect, Effect::Changed(_))).count()
    }

    fn requested(&self) -> usize {
        let count = |effect: &Effect<u32>| if let Effect::RequestPseudonyms(order) = effect { order.count } else { 0 };
        self.done.iter().map(count).sum()
    }

    pub(super) fn register(&mut self) -> LayerId {
        let layer = self.station.register_request_network_id_change();
        self.layers.push(layer);
        layer
    }
}

pub(super) const NEVER_ASKS: PoolConfig =
    PoolConfig { low_water: 5, preload: 20, never_asks: true, deletes_used: true, ahead_s: 0 };

#[test]
fn without_a_registered_layer_there_is_no_change() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::Source, 5);
    assert_eq!(bench.two_hundred(|_, _| ()), 0);
    assert_eq!(bench.station.change_pseudonym(bench.now, &mut bench.world.rng), Err(ChangeRefusal::NoLayers));
}

#[test]
fn two_hundred_signatures_use_three_pseudonyms_and_the_used_ones_are_gone() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::Source, 5);
    bench.register();
    let keys = bench.world.keys.keys.len();
    assert_eq!(bench.two_hundred(|_, _| ()), 2);
    assert_eq!((bench.world.keys.keys.len(), bench.station.pool().unused().len()), (keys - 2, 2));
    assert_eq!(bench.requested(), 0);
}

#[test]
fn below_the_mark_more_are_requested_and_used() {
    let mut bench = Bench::new(PoolConfig { low_water: 4, preload: 10, ..PoolConfig::default() }, Preset::Source, 5);
    bench.register();
    assert_eq!(bench.two_hundred(|_, _| ()), 2);
    assert_eq!(bench.requested(), 7, "three are left of four, so the pool is filled up to ten");
    assert!(bench.station.pool().unused().len() >= 8);
}

#[test]
fn a_block_longer_than_the_test_prevents_every_change() {
    let mut bench = Bench::new(PoolConfig::default(), Preset::Source, 5);
    bench.register();
    bench.station.block_pseudonym_change(bench.now, 255);
    assert_eq!(bench.two_hundred(|_, _| ()), 0);
    assert!(matches!(
        bench.station.change_pseudonym(bench.now, &mut bench.world.rng),
        Err(ChangeRefusal::Blocked { .. })
    ));
}

#[test]
fn a_block_shorter_than_the_test_delays_the_change() {
    let mut bench = Bench::new(PoolConfig::default(), Preset::Source, 5);
    bench.register();
    bench.station.block_pseudonym_change(bench.now, 12);
    let mut at_110 = None;
    let changes = bench.two_hundred(|bench, len| {
        if len == 110 {
            at_110 = Some(bench.changes());
        }
    });
    assert_eq!((at_110, changes), (Some(0), 1), "at the first signature after the block");
}

#[test]
fn a_block_that_is_lifted_ends() {
    let mut bench = Bench::new(PoolConfig::default(), Preset::Source, 5);
    bench.register();
    bench.station.block_pseudonym_change(bench.now, 255);
    let changes = bench.two_hundred(|bench, len| {
        if len == 150 {
            bench.station.free_pseudonym_change();
        }
    });
    assert_eq!(changes, 1);
}

#[test]
fn a_customer_can_force_a_change() {
    let mut bench = Bench::new(PoolConfig::default(), Preset::None, 5);
    let layer = bench.register();
    let before = bench.station.certificate().unwrap().id();
    bench.station.change_pseudonym(bench.now, &mut bench.world.rng).unwrap();
    assert_eq!(bench.sign_in_mid_change(), Err(SignRefusal::Pool(PoolError::Changing)));
    bench.serve();
    let after = bench.station.certificate().unwrap().id();
    assert_ne!(before, after);
    assert!(bench.sign(b"x").is_ok());
    // And a layer whose own identifier has changed takes all others with it.
    bench.station.indicate_network_id_change(layer, bench.now, &mut bench.world.rng).unwrap();
    bench.serve();
    assert_ne!(bench.station.certificate().unwrap().id(), after);
}

impl Bench {
    fn sign_in_mid_change(&mut self) -> Result<Vec<u8>, SignRefusal> {
        let request = request(b"x");
        self.station.create_signature(self.now, &request, &ALONE, &mut self.world.keys, &mut self.world.rng)
    }
}

#[test]
fn every_record_comes_before_what_follows_from_it() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::None, 3);
    bench.register();
    bench.station.change_pseudonym(bench.now, &mut bench.world.rng).unwrap();
    bench.serve();
    let names: Vec<&str> = bench
        .done
        .iter()
        .map(|effect| match effect {
            Effect::Persist(PoolRecord::ChangeBegun { .. }) => "begun",
            Effect::AskLayers { .. } => "ask",
            Effect::Persist(PoolRecord::Changed { .. }) => "changed",
            Effect::DeleteKey(_) => "delete key",
            Effect::Changed(_) => "tell",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["begun", "ask", "changed", "delete key", "tell"]);
}

#[test]
fn a_refusal_leaves_pseudonym_and_key() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::None, 3);
    let layer = bench.register();
    bench.refuses = true;
    let before = bench.station.certificate().unwrap().id();
    bench.station.change_pseudonym(bench.now, &mut bench.world.rng).unwrap();
    bench.serve();
    assert_eq!(bench.done.last(), Some(&Effect::Abandoned(ChangeRefusal::Refused(layer))));
    assert_eq!(bench.station.certificate().unwrap().id(), before);
    assert!(bench.sign(b"x").is_ok());
    assert_eq!(bench.station.pool().unused().len(), 2);
}

#[test]
fn a_silent_layer_does_not_keep_the_station_silent() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::None, 3);
    let layer = bench.register();
    bench.station.change_pseudonym(bench.now, &mut bench.world.rng).unwrap();
    while bench.station.poll_effect().is_some() {}
    assert!(bench.sign_in_mid_change().is_err());
    bench.now = Time64(bench.station.next_timeout_us().unwrap());
    bench.station.handle_timeout(bench.now, &ALONE, &mut bench.world.rng);
    bench.serve();
    assert_eq!(bench.done.last(), Some(&Effect::Abandoned(ChangeRefusal::Silent(layer))));
    assert!(bench.sign(b"x").is_ok());
}

#[test]
fn a_crash_in_mid_change_is_recovered_with_the_new_identity_alone() {
    let mut world = World::new();
    let stored: Vec<_> = (0..3).map(|_| world.ticket(START.time32(), 100)).collect();
    let ids: Vec<HashedId8> = stored
        .iter()
        .map(|(certificate, _)| chronoseal_v2x::certificate::hashed_id8(&certificate.view()).unwrap())
        .collect();
    let recover = |begun, rng: &mut ChaCha8Rng| {
        let policy = Preset::None.policy();
        Station::recover(NEVER_ASKS, policy, stored.clone(), Some(ids[0]), begun, START, rng).unwrap()
    };
    let mut station = recover(Some(ids[2]), &mut world.rng);
    assert_eq!(station.certificate().unwrap().id(), ids[2]);
    let effects: Vec<_> = std::iter::from_fn(|| station.poll_effect()).collect();
    let changed = PoolRecord::Changed { from: Some(ids[0]), to: ids[2], deletes: true };
    assert_eq!(
        effects,
        [Effect::Persist(changed), Effect::DeleteKey(stored[0].1), Effect::Changed(NetworkIds::of(ids[2]))]
    );
    let mut station = recover(None, &mut world.rng);
    assert_eq!(station.certificate().unwrap().id(), ids[0]);
    assert_eq!(station.poll_effect(), None);
}

#[test]
fn a_key_that_is_gone_is_an_error_and_counts_for_nothing() {
    let mut bench = Bench::new(NEVER_ASKS, Preset::Source, 2);
    bench.register();
    bench.world.keys.keys.clear();
    assert!(matches!(bench.sign(b"x"), Err(SignRefusal::Sign(_))));
    assert_eq!(bench.changes(), 0);
}

#[test]
fn identifiers_of_all_layers_follow_from_the_certificate() {
    let ids = NetworkIds::of(HashedId8([1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(ids.station_id, 0x0506_0708);
    assert_eq!(ids.link_address, [2, 4, 5, 6, 7, 8]);
    for first in 0..=u8::MAX {
        let [byte, ..] = NetworkIds::of(HashedId8([0, 0, first, 0, 0, 0, 0, 0])).link_address;
        assert_eq!(byte & 3, 2, "local and not a group");
    }
}

/// A message that the ticket does not allow: no key is asked for a signature.
#[test]
fn signs_nothing_that_its_ticket_does_not_allow() {
    let mut bench = Bench::new(PoolConfig::default(), Preset::None, 1);
    let somewhere = ThreeDLocation { latitude: 10, longitude: 10, elevation: 0 };
    let mut sign = |psid: Psid, location: Option<ThreeDLocation>| {
        let request = Request { psid, location, always_certificate: psid == Psid::DENM, ..request(b"x") };
        let before = bench.world.keys.asked;
        let signed =
            bench.station.create_signature(START, &request, &ALONE, &mut bench.world.keys, &mut bench.world.rng);
        (signed.map(|_| ()).map_err(|refusal| refusal.to_string()), bench.world.keys.asked - before)
    };
    assert_eq!(sign(Psid::CAM, None), (Ok(()), 1));
    let (refused, asked) = sign(Psid::DENM, Some(somewhere));
    let refused = refused.expect_err("signed for a PSID that is not in the ticket");
    assert!(refused.contains("spduConsistencyUnauthorizedPSID"), "{refused}");
    let (no_place, asked_too) = sign(Psid::CAM, Some(somewhere));
    assert!(no_place.expect_err("signed a CAM with a place in its header").contains("againstProfile"));
    assert_eq!((asked, asked_too), (0, 0), "the key was asked for");
}

/// Of a ticket with permissions for special vehicles in a circle of 1 km, what is inside both and what is not.
#[test]
fn signs_inside_the_permissions_and_the_region_of_its_ticket() {
    let mut world = World::new();
    let mut station = Station::new(PoolConfig::default(), Preset::None.policy(), START, &mut world.rng);
    let center = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };
    let circle = GeographicRegion::Circular(CircularRegion { center, radius: 1000 });
    let ssp = ServiceSpecificPermissions::Bitmap(&[1, 0b1000_0000, 0]);
    let (ticket, key) = world.ticket_with(START.time32(), 100, Some(ssp), Some(circle));
    station.add_pseudonym(ticket, key, START).unwrap();
    let far = TwoDLocation { latitude: center.latitude + 200_000, ..center };
    let mut sign = |ssp_needed: Option<&[u8]>, position: Option<TwoDLocation>| {
        let request = Request { position, ssp_needed, ..request(b"x") };
        let signed = station.create_signature(START, &request, &ALONE, &mut world.keys, &mut world.rng);
        signed.map(|_| ()).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(sign(None, None), Ok(()));
    assert_eq!(sign(Some(&[1, 0b1000_0000, 0]), Some(center)), Ok(()));
    let ssp = sign(Some(&[1, 0b0100_0000, 0]), Some(center)).unwrap_err();
    assert!(ssp.ends_with("by permissions: spduConsistencyUnauthorizedPSID"), "{ssp}");
    let version = sign(Some(&[2, 0b1000_0000, 0]), Some(center)).unwrap_err();
    assert!(version.ends_with("by permissions: spduConsistencyUnauthorizedPSID"), "{version}");
    let region = sign(None, Some(far)).unwrap_err();
    assert!(region.contains("OutsideValidityRegion"), "{region}");
    assert_eq!(world.keys.asked, 2, "only for what was signed");
}
