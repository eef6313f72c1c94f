//! Stations and authorities handing each other bytes.

use std::collections::BTreeMap;

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, SigningKey, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm};
use chronoseal_v2x::pki::{
    AnswerStore, Applicant, Authority, AuthorizationAuthority, AuthorizationResponseCode as AtCode, Credential,
    DatedRequest, EnrolmentAuthority, EnrolmentResponseCode as EcCode, EtsiTs102941Data, EtsiTs102941DataContent,
    InnerAtRequest, InnerEcRequest, MemoryAnswers, NoAnswer, Pending, Permissions, PkiError, PublicKeys,
    RequestIdentity, Role, SealedRequest, Station, StationStore, Step, TicketWish, TrustedAuthority, issue_authority,
    key_tag, open_request, request_credential, request_ticket, sign_content,
};
use chronoseal_v2x::types::{
    CertificateBuf, CircularRegion, Duration, GeographicRegion, HashedId8, Ieee1609Dot2Data, Psid, Time32, Time64,
    TwoDLocation, ValidityPeriod,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

pub(crate) const NOW: Time64 = Time64(700_000_000_000_000);
const ID: &[u8] = b"WVWZZZ1JZXW000001";

#[derive(Default)]
pub(crate) struct Memory {
    stations: BTreeMap<Vec<u8>, Station>,
    credentials: BTreeMap<HashedId8, (CertificateBuf, Vec<u8>)>,
    pub(crate) confirmed: Vec<(RequestIdentity, ValidityPeriod)>,
    answers: MemoryAnswers,
}

impl AnswerStore for Memory {
    fn answer(&mut self, request: RequestIdentity, now: Time64) -> Result<Option<Vec<u8>>, PkiError> {
        self.answers.answer(request, now)
    }

    fn keep_answer(&mut self, request: RequestIdentity, answer: Vec<u8>, until: Time64) -> Result<Vec<u8>, PkiError> {
        self.answers.keep_answer(request, answer, until)
    }
}

impl StationStore for Memory {
    fn station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, PkiError> {
        Ok(self.stations.get(canonical_id).cloned())
    }

    fn credential(&mut self, id: HashedId8) -> Result<Option<Credential>, PkiError> {
        let found = self.credentials.get(&id).map(|(certificate, station)| Credential {
            certificate: SignerCertificate::new(certificate.clone()).unwrap(),
            station: self.stations[station].clone(),
        });
        Ok(found)
    }

    fn add_credential(
        &mut self,
        id: HashedId8,
        certificate: &CertificateBuf,
        station: &Station,
    ) -> Result<(), PkiError> {
        self.credentials.insert(id, (certificate.clone(), station.canonical_id.clone()));
        Ok(())
    }

    fn add_confirmed(
        &mut self,
        _: &Station,
        request: DatedRequest,
        period: ValidityPeriod,
        at_once_max: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError> {
        if let Some((_, known)) = self.confirmed.iter().find(|(known, _)| *known == request.identity) {
            return Ok(Some(*known));
        }
        let overlaps = |(_, other): &&(RequestIdentity, ValidityPeriod)| {
            other.start.time64() < period.end() && other.end() > period.start.time64()
        };
        if self.confirmed.iter().filter(overlaps).count() >= at_once_max as usize {
            return Ok(None);
        }
        self.confirmed.push((request.identity, period));
        Ok(Some(period))
    }
}

pub(crate) struct World {
    pub(crate) ea: EnrolmentAuthority,
    pub(crate) aa: AuthorizationAuthority,
    pub(crate) store: Memory,
    pub(crate) answers: MemoryAnswers,
    canonical_key: SoftwareKey,
    pub(crate) rng: ChaCha20Rng,
}

fn authority(
    role: Role,
    curve: Curve,
    issuer: Option<&mut (CertificateBuf, SoftwareKey)>,
    rng: &mut ChaCha20Rng,
) -> Authority {
    let mut key = SoftwareKey::generate(curve, rng);
    let decryption = SoftwareKey::generate(Curve::NistP256, rng);
    let encryption = role.decrypts().then(|| decryption.public_point());
    let public = key.public_point();
    let certificate = match issuer {
        Some((issuer, issuer_key)) => {
            issue_authority(role, "test", &public, encryption.as_ref(), Some(issuer), issuer_key, NOW.time32())
        }
        None => issue_authority(role, "test", &public, encryption.as_ref(), None, &mut key, NOW.time32()),
    };
    Authority {
        certificate: SignerCertificate::new(certificate.unwrap()).unwrap(),
        signing_key: Box::new(key),
        decryption_key: role.decrypts().then(|| Box::new(decryption) as _),
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut root_key = SoftwareKey::generate(Curve::BrainpoolP384r1, &mut rng);
        let public = root_key.public_point();
        let root = issue_authority(Role::Root, "test", &public, None, None, &mut root_key, NOW.time32()).unwrap();
        let mut root = (root, root_key);
        let ea = authority(Role::Enrolment, Curve::NistP256, Some(&mut root), &mut rng);
        let aa = authority(Role::Authorization, Curve::BrainpoolP256r1, Some(&mut root), &mut rng);
        let own_ea = TrustedAuthority { certificate: ea.certificate.clone(), url: "http://ea".to_owned() };
        let ea = EnrolmentAuthority::new(ea, aa.certificate.clone());
        let aa = AuthorizationAuthority::new(aa, own_ea);
        let canonical_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let station = Station {
            canonical_id: ID.to_vec(),
            canonical_key: canonical_key.public_point(),
            permissions: "36:01ffff".parse().unwrap(),
            is_revoked: false,
        };
        let mut store = Memory::default();
        store.stations.insert(ID.to_vec(), station);
        Self { ea, aa, store, answers: MemoryAnswers::default(), canonical_key, rng }
    }

    pub(crate) fn new_key(&mut self) -> SoftwareKey {
        SoftwareKey::generate(Curve::NistP256, &mut self.rng)
    }

    /// Asks an authority that trusts nobody of another root.
    fn ask_ea(&mut self, request: &[u8]) -> Result<Vec<u8>, PkiError> {
        match self.ea.handle(request, &mut self.store, NOW, &mut self.rng)? {
            Step::Done(decision) => Ok(decision.answer),
            Step::LookUp(look_up) => {
                let unknown = Err(look_up.unknown());
                Ok(self.ea.resume_look_up(*look_up, unknown, &mut self.store, NOW, &mut self.rng)?.answer)
            }
            Step::Ask(_) => panic!("an enrolment authority asks nobody"),
        }
    }

    pub(crate) fn ask_aa(&mut self, request: &[u8]) -> Result<Vec<u8>, PkiError> {
        let step = match self.aa.handle(request, &mut self.answers, NOW, &mut self.rng)? {
            Step::LookUp(look_up) => {
                let unknown = Err(look_up.unknown());
                self.aa.resume_look_up(*look_up, unknown, &mut self.answers, NOW, &mut self.rng)?
            }
            step => step,
        };
        match step {
            Step::Done(decision) => Ok(decision.answer),
            Step::Ask(question) => {
                let answer = self.ask_ea(question.message());
                let answer = answer.as_deref().map_err(|error| NoAnswer::Unreached { reason: error.to_string() });
                Ok(self.aa.resume(&question, answer, &mut self.answers, NOW, &mut self.rng)?.answer)
            }
            Step::LookUp(look_up) => panic!("{look_up:?} once more"),
        }
    }

    fn first_request(&mut self, new_key: &mut SoftwareKey, at: Time64) -> Pending {
        let mut canonical_key = self.canonical_key.clone();
        let applicant = Applicant::New { canonical_id: ID, canonical_key: &mut canonical_key };
        request_credential(applicant, new_key, &self.ea.authority.certificate, at, &mut self.rng).unwrap()
    }

    pub(crate) fn enrol(&mut self) -> (SignerCertificate, SoftwareKey) {
        let mut key = self.new_key();
        let pending = self.first_request(&mut key, NOW);
        let answer = self.ask_ea(pending.message()).unwrap();
        (SignerCertificate::new(pending.credential(&answer, NOW).unwrap()).unwrap(), key)
    }

    fn ticket(
        &mut self,
        wish: &TicketWish<'_>,
        credential: &mut (SignerCertificate, SoftwareKey),
    ) -> Result<CertificateBuf, PkiError> {
        let mut key = self.new_key();
        let authorities = (&self.aa.authority.certificate, &self.ea.authority.certificate);
        let pending =
            request_ticket(wish, &mut key, (&credential.0, &mut credential.1), authorities, NOW, &mut self.rng)?;
        let answer = self.ask_aa(pending.message())?;
        pending.ticket(&answer, NOW)
    }

    /// The plaintext of a request to the AA, to be changed.
    pub(crate) fn ticket_request(
        &mut self,
        credential: &mut (SignerCertificate, SoftwareKey),
        key: &mut SoftwareKey,
    ) -> Vec<u8> {
        let authorities = (&self.aa.authority.certificate, &self.ea.authority.certificate);
        let pending =
            request_ticket(&cam(), key, (&credential.0, &mut credential.1), authorities, NOW, &mut self.rng).unwrap();
        let aa = &mut self.aa.authority;
        open_request(pending.message(), &aa.certificate, aa.decryption_key.as_deref_mut().unwrap()).unwrap().plaintext
    }

    fn aa_code(&mut self, plaintext: &[u8]) -> AtCode {
        let sealed = SealedRequest::new(plaintext, &self.aa.authority.certificate.clone(), &mut self.rng).unwrap();
        let answer = self.ask_aa(&sealed.message).unwrap();
        let opened = sealed.open_answer(&answer).unwrap();
        match content(&opened) {
            EtsiTs102941DataContent::AuthorizationResponse(response) => response.response_code,
            other => panic!("{other:?}"),
        }
    }

    fn ea_code(&mut self, plaintext: &[u8]) -> EcCode {
        let sealed = SealedRequest::new(plaintext, &self.ea.authority.certificate.clone(), &mut self.rng).unwrap();
        let answer = self.ask_ea(&sealed.message).unwrap();
        let opened = sealed.open_answer(&answer).unwrap();
        match content(&opened) {
            EtsiTs102941DataContent::EnrolmentResponse(response) => response.response_code,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn cam() -> TicketWish<'static> {
    TicketWish { permissions: "36:018000".parse().unwrap(), validity_period: None, region: None, encryption_key: None }
}

fn payload(message: &[u8]) -> &[u8] {
    let data = Ieee1609Dot2Data::from_coer(message).unwrap();
    data.signed_data().unwrap().tbs_data.payload.unsecured_payload().unwrap()
}

fn content(message: &[u8]) -> EtsiTs102941DataContent<'_> {
    EtsiTs102941Data::from_coer(payload(message)).unwrap().content
}

#[test]
fn a_station_gets_a_credential_a_new_one_and_a_ticket() {
    let mut world = World::new();
    let mut first = world.enrol();
    let mut key = world.new_key();
    let applicant = Applicant::Enrolled { credential: &first.0, key: &mut first.1 };
    let pending =
        request_credential(applicant, &mut key, &world.ea.authority.certificate, NOW, &mut world.rng).unwrap();
    let answer = world.ask_ea(pending.message()).unwrap();
    let second = SignerCertificate::new(pending.credential(&answer, NOW).unwrap()).unwrap();
    assert_ne!(second.id(), first.0.id());
    let ticket = world.ticket(&cam(), &mut (second, key)).unwrap();
    let period = ticket.view().to_be_signed.validity_period;
    // The week it is.
    let start = Time32(NOW.time32().0 / 604_800 * 604_800);
    assert_eq!(period, ValidityPeriod { start, duration: Duration::Hours(168) });
}

#[test]
fn refuses_a_first_request_that_the_canonical_key_did_not_sign() {
    let mut world = World::new();
    let mut key = world.new_key();
    world.canonical_key = key.clone();
    let pending = world.first_request(&mut key, NOW);
    let answer = world.ask_ea(pending.message()).unwrap();
    assert_eq!(
        pending.credential(&answer, NOW),
        Err(PkiError::EnrolmentRefused(EcCode::InvalidSignature)),
        "the new key signed outside, too"
    );
}

#[test]
fn refuses_requests_of_unknown_or_revoked_stations_and_old_ones() {
    let mut world = World::new();
    let mut key = world.new_key();
    let code = |world: &mut World, key: &mut SoftwareKey, at: Time64| {
        let pending = world.first_request(key, at);
        let answer = world.ask_ea(pending.message()).unwrap();
        match pending.credential(&answer, NOW) {
            Err(PkiError::EnrolmentRefused(code)) => code,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(code(&mut world, &mut key, Time64(NOW.0 - 301_000_000)), EcCode::DeniedRequest);
    assert_eq!(code(&mut world, &mut key, NOW.plus_us(301_000_000)), EcCode::DeniedRequest);
    world.store.stations.get_mut(ID).unwrap().is_revoked = true;
    assert_eq!(code(&mut world, &mut key, NOW), EcCode::BadItsStatus);
    world.store.stations.clear();
    assert_eq!(code(&mut world, &mut key, NOW), EcCode::UnknownIts);
}

#[test]
fn refuses_a_key_the_station_does_not_have_and_permissions_of_others() {
    let mut world = World::new();
    let (mut key, other) = (world.new_key(), world.new_key());
    let mut canonical_key = world.canonical_key.clone();
    let pending = world.first_request(&mut key, NOW);
    let ea = &mut world.ea.authority;
    let opened = open_request(pending.message(), &ea.certificate, ea.decryption_key.as_deref_mut().unwrap()).unwrap();
    let EtsiTs102941DataContent::EnrolmentRequest(inner) = content(&opened.plaintext) else { panic!() };
    let inner = inner.to_coer().unwrap();
    let wanted = InnerEcRequest::from_coer(payload(&inner)).unwrap();
    let mut again = |request: &InnerEcRequest<'_>, signer: &mut SoftwareKey| {
        let bytes = request.to_coer().unwrap();
        let signed = sign_raw(&bytes, signer);
        let content = EtsiTs102941DataContent::EnrolmentRequest(Ieee1609Dot2Data::from_coer(&signed).unwrap());
        sign_content(content, Psid::CERTIFICATE_REQUEST, SignerForm::SelfSigned, &mut canonical_key, NOW).unwrap()
    };
    let plaintext = again(&wanted, &mut key);
    assert_eq!(world.ea_code(&plaintext), EcCode::Ok, "unchanged");
    let mut changed = wanted.clone();
    changed.public_keys.verification_key = other.public_point().to_verification_key();
    let plaintext = again(&changed, &mut key);
    assert_eq!(world.ea_code(&plaintext), EcCode::InvalidSignature);
    let too_much: Permissions = "36:01ffff".parse().unwrap();
    let mut changed = wanted.clone();
    changed.requested_subject_attributes.app_permissions = Some(too_much.to_certificate());
    let plaintext = again(&changed, &mut key);
    assert_eq!(world.ea_code(&plaintext), EcCode::DeniedPermissions);
    assert_eq!(world.ea_code(b"\x03\x81"), EcCode::CantParse);
    assert_eq!(world.ea_code(&Ieee1609Dot2Data::unsecured(b"x").to_coer().unwrap()), EcCode::BadContentType);
}

fn sign_raw(payload: &[u8], key: &mut SoftwareKey) -> Vec<u8> {
    use chronoseal_v2x::types::{HeaderInfo, SignedDataPayload, ToBeSignedData};
    let mut header_info = HeaderInfo::new(Psid::CERTIFICATE_REQUEST);
    header_info.generation_time = Some(NOW);
    let tbs =
        ToBeSignedData { payload: SignedDataPayload::unsecured(payload), header_info, received: Default::default() };
    chronoseal_v2x::message::sign(&tbs, SignerForm::SelfSigned, key).unwrap()
}

#[test]
fn refuses_tickets_whose_parts_do_not_belong_together() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut key = world.new_key();
    let plaintext = world.ticket_request(&mut credential, &mut key);
    assert_eq!(world.aa_code(&plaintext), AtCode::Ok, "unchanged");
    let EtsiTs102941DataContent::AuthorizationRequest(wanted) = content(&plaintext) else { panic!() };
    let sign = |request: &InnerAtRequest<'_>, key: &mut SoftwareKey| {
        let content = EtsiTs102941DataContent::AuthorizationRequest(request.clone());
        sign_content(content, Psid::CERTIFICATE_REQUEST, SignerForm::SelfSigned, key, NOW).unwrap()
    };

    let mut other = world.new_key();
    assert_eq!(world.aa_code(&sign(&wanted, &mut other)), AtCode::InvalidSignature, "no possession");
    let mut changed = wanted.clone();
    changed.public_keys.verification_key = other.public_point().to_verification_key();
    assert_eq!(world.aa_code(&sign(&changed, &mut other)), AtCode::ItsAaKeysDontMatch, "tag of other keys");
    changed.shared_at_request.key_tag = key_tag(&changed.hmac_key, &changed.public_keys);
    assert_eq!(
        world.aa_code(&sign(&changed, &mut other)),
        AtCode::InvalidSignature,
        "the credential signed another tag"
    );
    let mut changed = wanted.clone();
    changed.shared_at_request.ea_id = HashedId8([1; 8]);
    assert_eq!(world.aa_code(&sign(&changed, &mut key)), AtCode::ItsAaUnknownEa);
    let mut changed = wanted.clone();
    changed.shared_at_request.requested_subject_attributes.assurance_level = Some(0xe0);
    assert_eq!(world.aa_code(&sign(&changed, &mut key)), AtCode::InvalidSignature, "an attribute added on the way");
    assert_eq!(world.aa_code(&[]), AtCode::ItsAaCantParse);
    let old = sign_content(
        EtsiTs102941DataContent::AuthorizationRequest(wanted.clone()),
        Psid::CERTIFICATE_REQUEST,
        SignerForm::SelfSigned,
        &mut key,
        Time64(NOW.0 - 301_000_000),
    );
    assert_eq!(world.aa_code(&old.unwrap()), AtCode::ItsAaOutOfSyncRequest);
    let elsewhere = sign_content(
        EtsiTs102941DataContent::AuthorizationRequest(wanted),
        Psid::CAM,
        SignerForm::SelfSigned,
        &mut key,
        NOW,
    );
    assert_eq!(world.aa_code(&elsewhere.unwrap()), AtCode::ItsAaBadContentType);
}

#[test]
fn grants_no_more_than_a_station_may_have() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut code = |wish: TicketWish<'_>| match world.ticket(&wish, &mut credential) {
        Err(PkiError::AuthorizationRefused(code)) => Some(code),
        Ok(_) => None,
        Err(other) => panic!("{other}"),
    };
    let permitted = |text: &str| TicketWish { permissions: text.parse().unwrap(), ..cam() };
    assert_eq!(code(permitted("36:01ffff")), None);
    assert_eq!(code(permitted("37:01000000")), Some(AtCode::DeniedPermissions), "the EA says no");
    assert_eq!(code(permitted("36:02ffff")), Some(AtCode::ItsAaDeniedPermissions), "the AA cannot");
    assert_eq!(code(permitted("36")), Some(AtCode::ItsAaDeniedPermissions));
    assert_eq!(code(permitted("99:01")), Some(AtCode::ItsAaDeniedPermissions));
    let at = |us: u64, duration| TicketWish {
        validity_period: Some(ValidityPeriod { start: Time64(us).time32(), duration }),
        ..cam()
    };
    let hour_us = 3_600_000_000;
    assert_eq!(code(at(NOW.0 + hour_us, Duration::Hours(1))), None);
    assert_eq!(code(at(NOW.0 - 2 * hour_us, Duration::Hours(1))), Some(AtCode::DeniedPermissions), "over");
    assert_eq!(
        code(at(NOW.0 + 91 * 24 * hour_us, Duration::Hours(1))),
        Some(AtCode::DeniedPermissions),
        "too far ahead"
    );
}

#[test]
fn a_longer_ticket_is_cut_and_too_many_are_refused() {
    let mut world = World::new();
    world.ea.policy.tickets_at_once_max = 2;
    let mut credential = world.enrol();
    let long = ValidityPeriod { start: NOW.time32(), duration: Duration::Years(1) };
    let wish = TicketWish { validity_period: Some(long), ..cam() };
    let ticket = world.ticket(&wish, &mut credential).unwrap();
    assert_eq!(ticket.view().to_be_signed.validity_period.duration, Duration::Hours(168));
    world.ticket(&cam(), &mut credential).unwrap();
    let refused = world.ticket(&cam(), &mut credential).unwrap_err();
    assert_eq!(refused, PkiError::AuthorizationRefused(AtCode::DeniedTooManyCerts));
}

/// Every octet of both requests, under the encryption and over it: what is changed is refused or not answered.
#[test]
fn no_changed_octet_is_granted() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut key = world.new_key();
    let pending = world.first_request(&mut key, NOW);
    let request = pending.message().to_vec();
    // [IEEE 1609.2 §5.3.5] Both points of one x agree on the same key, and nothing is over the ephemeral point's sign. The
    // hash of the request tells the station that it was changed on the way.
    let sign = 14;
    for index in 0..request.len() {
        let mut changed = request.clone();
        changed[index] ^= 1;
        match world.ask_ea(&changed) {
            Ok(answer) if index == sign => {
                assert_eq!(pending.credential(&answer, NOW), Err(PkiError::AnotherRequest));
            }
            Ok(_) => panic!("octet {index} does not matter"),
            Err(_) => assert_ne!(index, sign),
        }
    }

    let plaintext = world.ticket_request(&mut credential, &mut key);
    for index in (0..plaintext.len()).step_by(3) {
        let mut changed = plaintext.clone();
        changed[index] ^= 1;
        assert_ne!(world.aa_code(&changed), AtCode::Ok, "octet {index}");
    }
}

#[test]
fn takes_no_answer_but_its_own() {
    let mut world = World::new();
    let (mut key, mut other_key) = (world.new_key(), world.new_key());
    let pending = world.first_request(&mut key, NOW);
    let other = world.first_request(&mut other_key, NOW);
    let answer = world.ask_ea(pending.message()).unwrap();
    assert!(matches!(other.credential(&answer, NOW), Err(PkiError::Decrypt(_))));
    assert!(matches!(pending.ticket(&answer, NOW), Err(PkiError::WrongContent { .. })));
    assert!(matches!(pending.credential(&answer, NOW.plus_us(400_000_000)), Err(PkiError::OutOfSync { .. })));
    for index in 0..answer.len() {
        let mut changed = answer.clone();
        changed[index] ^= 1;
        assert!(pending.credential(&changed, NOW).is_err(), "octet {index}");
    }
    pending.credential(&answer, NOW).unwrap();
}

#[test]
fn an_authorization_authority_without_an_answer_says_so() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let mut key = world.new_key();
    let authorities = (&world.aa.authority.certificate, &world.ea.authority.certificate);
    let signer = (&credential.0, &mut credential.1 as &mut dyn SigningKey);
    let pending = request_ticket(&cam(), &mut key, signer, authorities, NOW, &mut world.rng).unwrap();
    let Step::Ask(question) = world.aa.handle(pending.message(), &mut world.answers, NOW, &mut world.rng).unwrap()
    else {
        panic!()
    };
    assert_eq!(question.url(), "http://ea");
    let silence = NoAnswer::Unreached { reason: "silence".into() };
    for answer in [Err(silence), Ok(&b""[..]), Ok(&[0x5a; 200][..])] {
        let decision = world.aa.resume(&question, answer, &mut world.answers, NOW, &mut world.rng).unwrap();
        assert_eq!(pending.ticket(&decision.answer, NOW), Err(PkiError::AuthorizationRefused(AtCode::AaEaCantReachEa)));
    }
}

#[test]
fn the_tag_is_over_both_keys() {
    let mut world = World::new();
    let (one, two) = (world.new_key().public_point(), world.new_key().public_point());
    let keys = PublicKeys { verification_key: one.to_verification_key(), encryption_key: None };
    let more = PublicKeys { encryption_key: Some(two.to_encryption_key().unwrap()), ..keys.clone() };
    assert_ne!(key_tag(&[0; 32], &keys), key_tag(&[0; 32], &more));
    assert_ne!(key_tag(&[0; 32], &keys), key_tag(&[1; 32], &keys));
}

#[test]
fn a_region_that_is_none_is_denied() {
    let mut world = World::new();
    let mut credential = world.enrol();
    let center = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };
    let round = GeographicRegion::Circular(CircularRegion { center, radius: 900 });
    let wish = TicketWish { region: Some(round.clone()), ..cam() };
    let ticket = world.ticket(&wish, &mut credential).unwrap();
    assert_eq!(ticket.view().to_be_signed.region, Some(round));
    let wish = TicketWish { region: Some(GeographicRegion::Rectangular(vec![])), ..cam() };
    let refused = world.ticket(&wish, &mut credential).unwrap_err();
    assert_eq!(refused, PkiError::AuthorizationRefused(AtCode::ItsAaDeniedPermissions));
}

/// An authorization authority of another root that has this world's enrolment authority asked.
fn stranger(world: &mut World) -> AuthorizationAuthority {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut root_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let public = root_key.public_point();
    let root = issue_authority(Role::Root, "other", &public, None, None, &mut root_key, NOW.time32()).unwrap();
    let aa = authority(Role::Authorization, Curve::NistP256, Some(&mut (root, root_key)), &mut rng);
    let ea = world.ea.authority.certificate.clone();
    AuthorizationAuthority::new(aa, TrustedAuthority { certificate: ea, url: "http://ea".to_owned() })
}

/// What `aa` asks this world's enrolment authority for a station.
fn question_of(world: &mut World, aa: &mut AuthorizationAuthority, wish: &TicketWish<'_>) -> Vec<u8> {
    let (credential, mut credential_key) = world.enrol();
    let mut key = world.new_key();
    let authorities = (&aa.authority.certificate, &world.ea.authority.certificate);
    let signer = (&credential, &mut credential_key as &mut dyn SigningKey);
    let pending = request_ticket(wish, &mut key, signer, authorities, NOW, &mut world.rng).unwrap();
    match aa.handle(pending.message(), &mut MemoryAnswers::default(), NOW, &mut world.rng).unwrap() {
        Step::Ask(question) => question.message().to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_enrolment_authority_looks_nobody_up_before_a_station_of_its_own_is_proved() {
    let mut world = World::new();
    let mut aa = stranger(&mut world);
    let question = question_of(&mut world, &mut aa, &cam());
    let World { ea, store, rng, .. } = &mut world;
    // The station is known and may have what it asks for: now it matters who the authority is.
    let Step::LookUp(look_up) = ea.handle(&question, store, NOW, rng).unwrap() else { panic!() };
    assert_eq!((look_up.role(), look_up.id()), (Role::Authorization, aa.authority.id()));
    assert_eq!(look_up.unknown(), PkiError::UntrustedAa(aa.authority.id()));
    assert!(store.confirmed.is_empty(), "nothing is granted before it is found");
    let found = TrustedAuthority { certificate: aa.authority.certificate.clone(), url: "http://aa".to_owned() };
    let decision = ea.resume_look_up(*look_up, Ok(found.clone()), store, NOW, rng).unwrap();
    assert_eq!((decision.refused, store.confirmed.len()), (None, 1));
    // One that was found, and is another one.
    let Step::LookUp(look_up) = ea.handle(&question, store, NOW, rng).unwrap() else { panic!() };
    let other = TrustedAuthority { certificate: ea.own_aa.clone(), ..found };
    let refused = ea.resume_look_up(*look_up, Ok(other), store, NOW, rng).unwrap().refused;
    assert_eq!(refused, Some(PkiError::UntrustedAa(aa.authority.id())));

    // Of a station nobody knows, of one that is revoked, for what it may not have, too late: refused at once.
    let later = NOW.plus_us(301_000_000);
    let refused = ea.handle(&question, store, later, rng).unwrap().done().unwrap().refused;
    assert!(matches!(refused, Some(PkiError::OutOfSync { .. })), "{refused:?}");
    store.stations.get_mut(ID).unwrap().is_revoked = true;
    let refused = ea.handle(&question, store, NOW, rng).unwrap().done().unwrap().refused;
    assert!(matches!(refused, Some(PkiError::RevokedStation(_))), "{refused:?}");
    let credentials = std::mem::take(&mut store.credentials);
    let refused = ea.handle(&question, store, NOW, rng).unwrap().done().unwrap().refused;
    assert!(matches!(refused, Some(PkiError::UnknownStation(_))), "{refused:?}");
    store.credentials = credentials;
    store.stations.get_mut(ID).unwrap().is_revoked = false;
    let wish = TicketWish { permissions: "37:01ffffff".parse().unwrap(), ..cam() };
    let question = question_of(&mut world, &mut aa, &wish);
    let World { ea, store, rng, .. } = &mut world;
    let refused = ea.handle(&question, store, NOW, rng).unwrap().done().unwrap().refused;
    assert!(matches!(refused, Some(PkiError::Permission(_))), "{refused:?}");
}

#[test]
fn an_authorization_authority_gives_a_look_up_to_its_caller_and_goes_on_with_what_was_found() {
    let mut world = World::new();
    let mut aa = stranger(&mut world);
    let own = aa.own_ea.clone();
    // Now the enrolment authority is of another root than its own.
    aa.own_ea.certificate = world.aa.authority.certificate.clone();
    let (credential, mut credential_key) = world.enrol();
    let mut key = world.new_key();
    let authorities = (&aa.authority.certificate, &own.certificate);
    let signer = (&credential, &mut credential_key as &mut dyn SigningKey);
    let pending = request_ticket(&cam(), &mut key, signer, authorities, NOW, &mut world.rng).unwrap();
    let (answers, rng) = (&mut MemoryAnswers::default(), &mut world.rng);
    let mut look_up = || match aa.handle(pending.message(), answers, NOW, rng).unwrap() {
        Step::LookUp(look_up) => look_up,
        other => panic!("{other:?}"),
    };
    let (one, two, three) = (look_up(), look_up(), look_up());
    assert_eq!((one.role(), one.id()), (Role::Enrolment, own.certificate.id()));
    let answers = &mut MemoryAnswers::default();
    let Step::Ask(question) = aa.resume_look_up(*one, Ok(own.clone()), answers, NOW, &mut world.rng).unwrap() else {
        panic!("it was found")
    };
    assert_eq!(question.url(), own.url);
    let revoked = Err(PkiError::RevokedEa(own.certificate.id()));
    let step = aa.resume_look_up(*two, revoked.clone(), answers, NOW, &mut world.rng).unwrap();
    assert_eq!(step.done().unwrap().refused, revoked.err());
    let other = Ok(TrustedAuthority { certificate: aa.authority.certificate.clone(), ..own.clone() });
    let step = aa.resume_look_up(*three, other, answers, NOW, &mut world.rng).unwrap();
    assert_eq!(step.done().unwrap().refused, Some(PkiError::UnknownEa(own.certificate.id())));
}
