//! Messages and certificates of vehicles, from the air.

use std::sync::OnceLock;

use chronoseal_v2x::certificate::{CertificateForm, Issuer, certificate_hash, issue};
use chronoseal_v2x::coer::{Decode, Encode, Rules};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SessionKey, SignerCertificate, SignerForm, decrypt, sign};
use chronoseal_v2x::misbehaviour::MisbehaviourData;
use chronoseal_v2x::pki::EtsiTs102941Data;
use chronoseal_v2x::types::{
    Certificate, CertificateBuf, CertificateId, Duration, HeaderInfo, Ieee1609Dot2Data, Psid, PsidGroupPermissions,
    PsidSsp, Received, ServiceSpecificPermissions, SignedDataPayload, SubjectPermissions, Time32, Time64,
    ToBeSignedCertificate, ToBeSignedData, ValidityPeriod, VerificationKeyIndicator,
};
use chronoseal_v2x::verify::{Context, NoStopwatch, Verifier, VerifierConfig};

/// What every type promises: the strict rules accept the canonical encoding only, so it is encoded to the same bytes;
/// what they accept, the lenient ones accept without a remark; what those accept means the same after a turn.
fn round_trip<'a, T: Decode<'a> + Encode + PartialEq + std::fmt::Debug>(data: &'a [u8]) -> Option<T> {
    let lenient = T::from_coer_with(data, Rules::LENIENT);
    let strict = T::from_coer(data);
    match (&strict, &lenient) {
        (Ok(value), Ok((same, deviations))) => {
            assert_eq!(value, same);
            assert!(deviations.is_empty());
            assert_eq!(value.to_coer().expect("what was decoded is within its bounds"), data);
        }
        (Ok(_), Err(error)) => panic!("lenient rules refuse what strict ones accept: {error}"),
        (Err(_), Ok((value, deviations))) => {
            assert!(!deviations.is_empty());
            value.to_coer().expect("what was decoded is within its bounds");
        }
        (Err(strict), Err(lenient)) => assert!(strict.offset <= lenient.offset && lenient.offset <= data.len()),
    }
    lenient.ok().map(|(value, _)| value)
}

/// A message: `round_trip`; and if it is encrypted, a key it is not for does not open it.
pub fn v2x_message(data: &[u8]) {
    let Some(message) = round_trip::<Ieee1609Dot2Data<'_>>(data) else { return };
    if let Some(encrypted) = message.encrypted_data() {
        assert!(decrypt(encrypted, chronoseal_v2x::message::DecryptionKey::Symmetric(&SessionKey([0; 16]))).is_err());
    }
}

/// A certificate: `round_trip`; its canonical form is canonical, and has the same identifier.
pub fn v2x_certificate(data: &[u8]) {
    let Some(certificate) = round_trip::<Certificate<'_>>(data) else { return };
    let canonical = certificate.canonical();
    assert_eq!(canonical, canonical.canonical());
    let hash = certificate_hash(&certificate, CertificateForm::Canonical);
    assert_eq!(hash, certificate_hash(&canonical, CertificateForm::Canonical));
}

/// A message of TS 102 941: `round_trip`.
pub fn v2x_pki(data: &[u8]) {
    round_trip::<EtsiTs102941Data<'_>>(data);
}

/// A misbehaviour report: `round_trip`.
pub fn v2x_report(data: &[u8]) {
    round_trip::<MisbehaviourData<'_>>(data);
}

/// A message, all checks: only what a trusted station signed is accepted.
pub fn v2x_verify(data: &[u8]) {
    let world = World::shared();
    let mut verifier = world.verifier.clone();
    let (verdict, _) = verifier.verify(data, &Context::at(World::NOW), &mut NoStopwatch);
    if verdict.is_accepted() {
        assert!(world.messages.iter().any(|message| message == data), "accepted and never signed");
    }
}

/// A root, an authority, a station and its messages, always the same.
pub struct World {
    verifier: Verifier,
    /// By certificate and by digest.
    pub messages: Vec<Vec<u8>>,
    /// From the root down.
    pub certificates: Vec<CertificateBuf>,
}

impl World {
    const NOW: Time64 = Time64(722_000_000_000_000);

    /// Made at the first call.
    pub fn shared() -> &'static Self {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(Self::new)
    }

    fn new() -> Self {
        let key = |number| SoftwareKey::from_scalar(Curve::NistP256, &[number; 32]).expect("below the order");
        let (mut root_key, mut authority_key, mut ticket_key) = (key(1), key(2), key(3));
        let contents = |key: &SoftwareKey, years| {
            let validity = ValidityPeriod { start: Time32(700_000_000), duration: Duration::Years(years) };
            let public = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
            ToBeSignedCertificate::new(CertificateId::None, validity, public)
        };
        let issues = |min_chain_length| {
            let group = PsidGroupPermissions::new(SubjectPermissions::All);
            Some(vec![PsidGroupPermissions { min_chain_length, ..group }])
        };
        let mut tbs = contents(&root_key, 9);
        tbs.cert_issue_permissions = issues(2);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key).expect("a root");
        let mut tbs = contents(&authority_key, 8);
        tbs.cert_issue_permissions = issues(1);
        let authority = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key).expect("an authority");
        let mut tbs = contents(&ticket_key, 7);
        let ssp = Some(ServiceSpecificPermissions::Bitmap(&[1, 0, 0]));
        tbs.app_permissions = Some(vec![PsidSsp { psid: Psid::CAM, ssp }]);
        let ticket = issue(tbs, Issuer::Certificate(&authority.view()), &mut authority_key).expect("a ticket");
        let signer = SignerCertificate::new(ticket.clone()).expect("a ticket with a key");

        let mut header_info = HeaderInfo::new(Psid::CAM);
        header_info.generation_time = Some(Self::NOW);
        let payload = SignedDataPayload::unsecured(b"text");
        let tbs = ToBeSignedData { payload, header_info, received: Received::default() };
        let forms = [SignerForm::Certificate(&signer), SignerForm::Digest(&signer)];
        let messages = forms.map(|form| sign(&tbs, form, &mut ticket_key).expect("a message"));

        // Copied for each input, so it remembers few messages.
        let mut verifier = Verifier::new(VerifierConfig { replays_max: 64, ..VerifierConfig::default() });
        verifier.trust_mut().insert_root(&root.view()).expect("a root");
        verifier.trust_mut().insert_authority(&authority.view()).expect("an authority");
        // The ticket becomes known by another message.
        let payload = SignedDataPayload::unsecured(b"hello");
        let hello = sign(&ToBeSignedData { payload, ..tbs }, forms[0], &mut ticket_key).expect("a message");
        assert!(verifier.verify(&hello, &Context::at(Self::NOW), &mut NoStopwatch).0.is_accepted());
        Self { verifier, messages: messages.into(), certificates: vec![root, authority, ticket] }
    }
}
