//! A station enrols and gets a ticket; every message on the way, encrypted, signed, and what is in it.

use std::collections::BTreeMap;

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{AgreementKey, Curve, SoftwareKey};
use chronoseal_v2x::message::{DecryptionKey, SessionKey, SignerCertificate, decrypt};
use chronoseal_v2x::pki::*;
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Ieee1609Dot2Data, Time64, ValidityPeriod};
use rand_chacha::ChaCha20Rng;

use super::{Corpus, add};
use crate::stations::rng;

const NOW: Time64 = Time64(722_000_000_000_000);
const ID: &[u8] = b"WVWZZZ1JZXW000001";
const DATA: &str = "Ieee1609Dot2Data";

#[derive(Default)]
struct Memory {
    stations: Vec<Station>,
    credentials: BTreeMap<HashedId8, CertificateBuf>,
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
        Ok(self.stations.iter().find(|station| station.canonical_id == canonical_id).cloned())
    }

    fn credential(&mut self, id: HashedId8) -> Result<Option<Credential>, PkiError> {
        let certificate = self.credentials.get(&id).cloned();
        Ok(certificate.map(|certificate| Credential {
            certificate: SignerCertificate::new(certificate).unwrap(),
            station: self.stations[0].clone(),
        }))
    }

    fn add_credential(&mut self, id: HashedId8, certificate: &CertificateBuf, _: &Station) -> Result<(), PkiError> {
        self.credentials.insert(id, certificate.clone());
        Ok(())
    }

    fn add_confirmed(
        &mut self,
        _: &Station,
        _: DatedRequest,
        period: ValidityPeriod,
        _: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError> {
        Ok(Some(period))
    }
}

fn authority(role: Role, issuer: Option<&mut (CertificateBuf, SoftwareKey)>, rng: &mut ChaCha20Rng) -> Authority {
    let mut key = SoftwareKey::generate(Curve::NistP256, rng);
    let decryption = SoftwareKey::generate(Curve::NistP256, rng);
    let encryption = role.decrypts().then(|| decryption.public_point());
    let public = key.public_point();
    let certificate = match issuer {
        Some((issuer, issuer_key)) => {
            issue_authority(role, "peers", &public, encryption.as_ref(), Some(issuer), issuer_key, NOW.time32())
        }
        None => issue_authority(role, "peers", &public, encryption.as_ref(), None, &mut key, NOW.time32()),
    };
    Authority {
        certificate: SignerCertificate::new(certificate.unwrap()).unwrap(),
        signing_key: Box::new(key),
        decryption_key: role.decrypts().then(|| Box::new(decryption) as _),
    }
}

/// A signed message, its payload, and what that holds.
fn signed(corpus: &mut Corpus, name: &str, message: &[u8]) {
    add(corpus, &format!("{name}-signed"), DATA, message);
    let signed = SignedMessage::decode(message).unwrap();
    add(corpus, name, "EtsiTs102941Data", signed.payload().unwrap());
    let mut content =
        |kind: &str, bytes: Result<Vec<u8>, _>| add(corpus, &format!("{name}-content"), kind, &bytes.unwrap());
    match signed.content().unwrap() {
        EtsiTs102941DataContent::EnrolmentRequest(inner) => {
            content(DATA, inner.to_coer());
        }
        EtsiTs102941DataContent::EnrolmentResponse(inner) => content("InnerEcResponse", inner.to_coer()),
        EtsiTs102941DataContent::AuthorizationRequest(inner) => content("InnerAtRequest", inner.to_coer()),
        EtsiTs102941DataContent::AuthorizationResponse(inner) => content("InnerAtResponse", inner.to_coer()),
        EtsiTs102941DataContent::CertificateRevocationList(inner) => content("ToBeSignedCrl", inner.to_coer()),
        EtsiTs102941DataContent::CertificateTrustListTlm(inner)
        | EtsiTs102941DataContent::CertificateTrustListRca(inner) => content("CtlFormat", inner.to_coer()),
        EtsiTs102941DataContent::AuthorizationValidationRequest(inner) => {
            content("AuthorizationValidationRequest", inner.to_coer());
        }
        EtsiTs102941DataContent::AuthorizationValidationResponse(inner) => {
            content("AuthorizationValidationResponse", inner.to_coer());
        }
        EtsiTs102941DataContent::Unknown(_) => unreachable!("nothing newer is made here"),
    }
}

/// A request as sent and all that is in it; the key its answer comes under.
fn request(
    corpus: &mut Corpus,
    name: &str,
    message: &[u8],
    certificate: &SignerCertificate,
    key: &mut dyn AgreementKey,
) -> SessionKey {
    add(corpus, &format!("{name}-encrypted"), DATA, message);
    let opened = open_request(message, certificate, key).unwrap();
    signed(corpus, name, &opened.plaintext);
    opened.session_key
}

fn answer(corpus: &mut Corpus, name: &str, message: &[u8], key: &SessionKey) {
    add(corpus, &format!("{name}-encrypted"), DATA, message);
    let data = Ieee1609Dot2Data::from_coer(message).unwrap();
    let opened = decrypt(data.encrypted_data().unwrap(), DecryptionKey::Symmetric(key)).unwrap();
    signed(corpus, name, &opened.plaintext);
}

pub(crate) fn exchanges(corpus: &mut Corpus) {
    let mut rng = rng(4);
    let mut root_key = SoftwareKey::generate(Curve::NistP384, &mut rng);
    let public = root_key.public_point();
    let root = issue_authority(Role::Root, "peers", &public, None, None, &mut root_key, NOW.time32()).unwrap();
    let mut issuer = (root.clone(), root_key.clone());
    let mut tlm = authority(Role::TrustListManager, None, &mut rng);
    let ea = authority(Role::Enrolment, Some(&mut issuer), &mut rng);
    let aa = authority(Role::Authorization, Some(&mut issuer), &mut rng);
    let (ea_certificate, aa_certificate) = (ea.certificate.clone(), aa.certificate.clone());
    for (name, certificate) in [
        ("pki-root", &root),
        ("pki-tlm", tlm.certificate.certificate()),
        ("pki-ea", ea_certificate.certificate()),
        ("pki-aa", aa_certificate.certificate()),
    ] {
        add(corpus, name, "Certificate", certificate.as_bytes());
    }
    lists(corpus, &root, root_key, &mut tlm, [&ea_certificate, &aa_certificate]);

    let mut canonical = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let mut store = Memory::default();
    store.stations.push(Station {
        canonical_id: ID.to_vec(),
        canonical_key: canonical.public_point(),
        permissions: Permissions::tickets(),
        is_revoked: false,
    });
    let own_ea = TrustedAuthority { certificate: ea_certificate.clone(), url: "http://ea".to_owned() };
    let mut ea = EnrolmentAuthority::new(ea, aa_certificate.clone());
    let mut aa = AuthorizationAuthority::new(aa, own_ea);
    let mut answers = MemoryAnswers::default();

    let mut credential_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let applicant = Applicant::New { canonical_id: ID, canonical_key: &mut canonical };
    let pending = request_credential(applicant, &mut credential_key, &ea_certificate, NOW, &mut rng).unwrap();
    let key = ea.authority.decryption_key.as_deref_mut().unwrap();
    let session = request(corpus, "enrolment-request", pending.message(), &ea_certificate, key);
    let response = ea.handle(pending.message(), &mut store, NOW, &mut rng).unwrap().done().unwrap().answer;
    answer(corpus, "enrolment-response", &response, &session);
    let credential = SignerCertificate::new(pending.credential(&response, NOW).unwrap()).unwrap();
    add(corpus, "enrolment-credential", "Certificate", credential.certificate().as_bytes());

    let mut ticket_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let encryption = SoftwareKey::generate(Curve::NistP256, &mut rng).public_point();
    let wish = TicketWish {
        permissions: "36:01ffff 37:01ffffff".parse().unwrap(),
        validity_period: None,
        region: None,
        encryption_key: Some(&encryption),
    };
    let authorities = (&aa_certificate, &ea_certificate);
    let pending =
        request_ticket(&wish, &mut ticket_key, (&credential, &mut credential_key), authorities, NOW, &mut rng).unwrap();
    let key = aa.authority.decryption_key.as_deref_mut().unwrap();
    let session = request(corpus, "authorization-request", pending.message(), &aa_certificate, key);
    let Step::Ask(question) = aa.handle(pending.message(), &mut answers, NOW, &mut rng).unwrap() else {
        panic!("the enrolment authority is asked");
    };
    let key = ea.authority.decryption_key.as_deref_mut().unwrap();
    let of_question = request(corpus, "validation-request", question.message(), &ea_certificate, key);
    let confirmed = ea.handle(question.message(), &mut store, NOW, &mut rng).unwrap().done().unwrap().answer;
    answer(corpus, "validation-response", &confirmed, &of_question);
    let response = aa.resume(&question, Ok(&confirmed), &mut answers, NOW, &mut rng).unwrap().answer;
    answer(corpus, "authorization-response", &response, &session);
    let ticket = pending.ticket(&response, NOW).unwrap();
    add(corpus, "authorization-ticket", "Certificate", ticket.as_bytes());
}

fn lists(
    corpus: &mut Corpus,
    root: &CertificateBuf,
    root_key: SoftwareKey,
    tlm: &mut Authority,
    [ea, aa]: [&SignerCertificate; 2],
) {
    let signer = SignerCertificate::new(root.clone()).unwrap();
    let id = signer.id();
    let mut authority = Authority { certificate: signer, signing_key: Box::new(root_key), decryption_key: None };
    let of_root = vec![
        CtlCommand::Add(CtlEntry::Ea(EaEntry {
            ea_certificate: ea.certificate().view(),
            aa_access_point: "http://ea/aa",
            its_access_point: Some("http://ea/its"),
        })),
        CtlCommand::Add(CtlEntry::Aa(AaEntry { aa_certificate: aa.certificate().view(), access_point: "http://aa" })),
        CtlCommand::Add(CtlEntry::Dc(DcEntry { url: "http://dc", cert: vec![id] })),
    ];
    let full = sign_trust_list(&mut authority, ListKind::Root, (true, 1), of_root, NOW, 86_400).unwrap();
    signed(corpus, "ctl-full", &full);
    let changes = vec![CtlCommand::Delete(CtlDelete::Cert(ea.id())), CtlCommand::Delete(CtlDelete::Dc("http://dc"))];
    let delta = sign_trust_list(&mut authority, ListKind::Root, (false, 2), changes, NOW, 86_400).unwrap();
    signed(corpus, "ctl-delta", &delta);
    let crl = sign_revocation_list(&mut authority, vec![ea.id(), aa.id()], NOW, 86_400).unwrap();
    signed(corpus, "crl", &crl);
    let own = tlm.certificate.certificate().clone();
    let of_tlm = vec![
        CtlCommand::Add(CtlEntry::Tlm(TlmEntry {
            self_signed_tlm_certificate: own.view(),
            successor_to: None,
            access_point: "http://tlm",
        })),
        CtlCommand::Add(CtlEntry::Rca(RootCaEntry { self_signed_root_ca: root.view(), successor_to: None })),
        CtlCommand::Add(CtlEntry::Dc(DcEntry { url: "http://dc", cert: vec![id] })),
    ];
    let ectl = sign_trust_list(tlm, ListKind::TrustListManager, (true, 255), of_tlm, NOW, 86_400).unwrap();
    signed(corpus, "ectl", &ectl);
}
