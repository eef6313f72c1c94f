//! What vehicles and authorities say to each other, behind the encryption and the signatures that a stranger does not get past.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chronoseal_core::random::{ChaCha8Rng, Purpose, stream};
use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, SigningKey, SoftwareKey};
use chronoseal_v2x::lint::{SecuredPacket, secured_packet};
use chronoseal_v2x::message::{SessionKey, SignerCertificate, SignerForm, encrypt_with_session_key, sign};
use chronoseal_v2x::pki::{
    AnswerStore, Applicant, Authority, AuthorizationAuthority, Credential, DatedRequest, Decision, EnrolmentAuthority,
    EtsiTs102941Data, ListKind, NoAnswer, Pending, PkiError, RequestIdentity, Role, SealedRequest, Station,
    StationStore, Step, TicketWish, TrustedAuthority, delta, issue_authority, open_request, own_trust_list,
    read_revocation_list, read_trust_list, request_credential, request_ticket, seal_answer, sign_revocation_list,
    sign_trust_list,
};
use chronoseal_v2x::types::{
    CertificateBuf, HashedId8, HeaderInfo, Ieee1609Dot2Data, InnerData, Psid, Received, SignedDataPayload, Time64,
    ToBeSignedData, ValidityPeriod,
};
use chronoseal_v2x::verify::TrustStore;

const NOW: Time64 = Time64(722_000_000_000_000);
const ID: &[u8] = b"a vehicle";

/// One station, and no memory of what it was given.
struct Store(Station);

impl AnswerStore for Store {
    fn answer(&mut self, _: RequestIdentity, _: Time64) -> Result<Option<Vec<u8>>, PkiError> {
        Ok(None)
    }

    fn keep_answer(&mut self, _: RequestIdentity, answer: Vec<u8>, _: Time64) -> Result<Vec<u8>, PkiError> {
        Ok(answer)
    }
}

impl StationStore for Store {
    fn station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, PkiError> {
        Ok((canonical_id == self.0.canonical_id).then(|| self.0.clone()))
    }

    fn credential(&mut self, _: HashedId8) -> Result<Option<Credential>, PkiError> {
        Ok(None)
    }

    fn add_credential(&mut self, _: HashedId8, _: &CertificateBuf, _: &Station) -> Result<(), PkiError> {
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

fn key(number: u8) -> SoftwareKey {
    SoftwareKey::from_scalar(Curve::NistP256, &[number; 32]).expect("below the order")
}

fn authority(role: Role, number: u8, issuer: Option<&mut (CertificateBuf, SoftwareKey)>) -> Authority {
    let (mut signing, decryption) = (key(number), key(number + 1));
    let (public, encryption) = (signing.public_point(), role.decrypts().then(|| decryption.public_point()));
    let certificate = match issuer {
        Some((issuer, issuer_key)) => {
            issue_authority(role, "fuzz", &public, encryption.as_ref(), Some(issuer), issuer_key, NOW.time32())
        }
        None => issue_authority(role, "fuzz", &public, encryption.as_ref(), None, &mut signing, NOW.time32()),
    };
    Authority {
        certificate: SignerCertificate::new(certificate.expect("an authority")).expect("with a key"),
        signing_key: Box::new(signing),
        decryption_key: role.decrypts().then(|| Box::new(decryption) as _),
    }
}

/// A root, two authorities and a station that has asked both of them for something.
struct Parties {
    ea: EnrolmentAuthority,
    aa: AuthorizationAuthority,
    root: Authority,
    manager: Authority,
    ea_certificate: SignerCertificate,
    aa_certificate: SignerCertificate,
    store: Store,
    enrolling: (Pending, SessionKey),
    asking: (Pending, SessionKey),
    rng: ChaCha8Rng,
}

thread_local! {
    static PARTIES: RefCell<Parties> = RefCell::new(Parties::new());
}

impl Parties {
    fn new() -> Self {
        let mut rng: ChaCha8Rng = stream(2, Purpose::Payload, 1);
        let root = authority(Role::Root, 10, None);
        let mut issuer = (root.certificate.certificate().clone(), key(10));
        let mut ea = authority(Role::Enrolment, 20, Some(&mut issuer));
        let mut aa = authority(Role::Authorization, 30, Some(&mut issuer));
        let (ea_certificate, aa_certificate) = (ea.certificate.clone(), aa.certificate.clone());
        let applicant = Applicant::New { canonical_id: ID, canonical_key: &mut key(40) };
        let enrolling = request_credential(applicant, &mut key(41), &ea_certificate, NOW, &mut rng).expect("a request");
        let wish = TicketWish {
            permissions: "36:010000".parse().expect("permissions of a CAM"),
            validity_period: None,
            region: None,
            encryption_key: None,
        };
        let authorities = (&aa_certificate, &ea_certificate);
        let asking = request_ticket(&wish, &mut key(42), (&ea_certificate, &mut key(41)), authorities, NOW, &mut rng)
            .expect("a request");
        let opened = |pending: Pending, authority: &mut Authority| {
            let key = authority.decryption_key.as_deref_mut().expect("authorities decrypt");
            let opened = open_request(pending.message(), &authority.certificate, key).expect("it is for them");
            (pending, opened.session_key)
        };
        let (enrolling, asking) = (opened(enrolling, &mut ea), opened(asking, &mut aa));
        let own_ea = TrustedAuthority { certificate: ea_certificate.clone(), url: "http://ea".to_owned() };
        let store = Store(Station {
            canonical_id: ID.to_vec(),
            canonical_key: key(40).public_point(),
            permissions: "36:01ffff".parse().expect("permissions of a CAM"),
            is_revoked: false,
        });
        Self {
            ea: EnrolmentAuthority::new(ea, aa_certificate.clone()),
            aa: AuthorizationAuthority::new(aa, own_ea),
            root,
            manager: authority(Role::TrustListManager, 50, None),
            ea_certificate,
            aa_certificate,
            store,
            enrolling,
            asking,
            rng,
        }
    }

    fn ask_ea(&mut self, request: &[u8]) -> Result<Decision, PkiError> {
        let decision = match self.ea.handle(request, &mut self.store, NOW, &mut self.rng)? {
            Step::Done(decision) => decision,
            Step::LookUp(look_up) => {
                let unknown = Err(look_up.unknown());
                self.ea.resume_look_up(*look_up, unknown, &mut self.store, NOW, &mut self.rng)?
            }
            Step::Ask(_) => panic!("an enrolment authority asks nobody"),
        };
        check(&decision);
        Ok(decision)
    }

    fn ask_aa(&mut self, request: &[u8]) {
        let step = match self.aa.handle(request, &mut self.store, NOW, &mut self.rng) {
            Ok(Step::LookUp(look_up)) => {
                let unknown = Err(look_up.unknown());
                self.aa.resume_look_up(*look_up, unknown, &mut self.store, NOW, &mut self.rng)
            }
            step => step,
        };
        match step {
            Ok(Step::Done(decision)) => check(&decision),
            Ok(Step::LookUp(look_up)) => panic!("{look_up:?} once more"),
            Ok(Step::Ask(question)) => {
                let answer = self.ask_ea(question.message());
                let answer = answer.map(|decision| decision.answer).map_err(|error| NoAnswer::Useless(Box::new(error)));
                let answer = answer.as_deref().map_err(Clone::clone);
                if let Ok(decision) = self.aa.resume(&question, answer, &mut self.store, NOW, &mut self.rng) {
                    check(&decision);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }

    /// The station: takes only what is for the key it asked for.
    fn answer(&self, enrolment: &[u8], authorization: &[u8]) {
        for granted in [self.enrolling.0.credential(enrolment, NOW), self.asking.0.ticket(authorization, NOW)] {
            match granted {
                Ok(certificate) => assert!(hashed_id8(&certificate.view()).is_ok()),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// An authority refuses, or it issues; it answers in either case.
fn check(decision: &Decision) {
    assert!(!decision.answer.is_empty());
    assert_eq!(decision.issued.is_some(), decision.refused.is_none());
}

/// A signed message whose payload is anything.
fn signed(payload: &[u8], psid: Psid, form: SignerForm<'_>, key: &mut dyn SigningKey) -> Vec<u8> {
    let mut header_info = HeaderInfo::new(psid);
    header_info.generation_time = Some(NOW);
    let payload = SignedDataPayload::unsecured(payload);
    sign(&ToBeSignedData { payload, header_info, received: Received::default() }, form, key).expect("it can be signed")
}

/// Requests and answers: as they come, encrypted to whom they are for, and signed besides by somebody whose key is known.
pub fn v2x_exchange(data: &[u8]) {
    let [choice, data @ ..] = data else { return };
    PARTIES.with_borrow_mut(|parties| {
        let seal = |plaintext: &[u8], to: &SignerCertificate, rng: &mut ChaCha8Rng| {
            SealedRequest::new(plaintext, to, rng).expect("an authority has a key to encrypt to").message
        };
        let (ea, aa) = (parties.ea_certificate.clone(), parties.aa_certificate.clone());
        match choice % 8 {
            0 => {
                let _ = parties.ask_ea(data);
                parties.ask_aa(data);
                parties.answer(data, data);
            }
            1 => {
                let request = seal(data, &ea, &mut parties.rng);
                let _ = parties.ask_ea(&request);
            }
            2 => {
                let message = signed(data, Psid::CERTIFICATE_REQUEST, SignerForm::SelfSigned, &mut key(40));
                let request = seal(&message, &ea, &mut parties.rng);
                let _ = parties.ask_ea(&request);
            }
            3 => {
                let message = signed(data, Psid::CERTIFICATE_REQUEST, SignerForm::Digest(&aa), &mut key(30));
                let request = seal(&message, &ea, &mut parties.rng);
                let _ = parties.ask_ea(&request);
            }
            4 => {
                let request = seal(data, &aa, &mut parties.rng);
                parties.ask_aa(&request);
            }
            5 => {
                let message = signed(data, Psid::CERTIFICATE_REQUEST, SignerForm::SelfSigned, &mut key(42));
                let request = seal(&message, &aa, &mut parties.rng);
                parties.ask_aa(&request);
            }
            6 => {
                let enrolment = seal_answer(data, &parties.enrolling.1, &mut parties.rng).expect("it is short");
                let authorization = seal_answer(data, &parties.asking.1, &mut parties.rng).expect("it is short");
                parties.answer(&enrolment, &authorization);
            }
            _ => {
                let psid = Psid::CERTIFICATE_REQUEST;
                let enrolment = signed(data, psid, SignerForm::Digest(&ea), &mut key(20));
                let authorization = signed(data, psid, SignerForm::Digest(&aa), &mut key(30));
                let enrolment = seal_answer(&enrolment, &parties.enrolling.1, &mut parties.rng).expect("it is short");
                let authorization =
                    seal_answer(&authorization, &parties.asking.1, &mut parties.rng).expect("it is short");
                parties.answer(&enrolment, &authorization);
            }
        }
    });
}

/// Trust lists and revocation lists: as they come, and signed by whoever may sign them. What is on a list is offered to a trust
/// store, which takes only what is signed by somebody in it.
pub fn v2x_trust_list(data: &[u8]) {
    let [choice, data @ ..] = data else { return };
    PARTIES.with_borrow_mut(|parties| {
        let Parties { root, manager, .. } = parties;
        let (kind, signer, number) = match choice % 4 {
            0 | 1 => (ListKind::Root, &root.certificate, 10),
            _ => (ListKind::TrustListManager, &manager.certificate, 50),
        };
        let message = match choice % 2 {
            0 => data.to_vec(),
            _ => signed(data, Psid::CTL, SignerForm::Digest(signer), &mut key(number)),
        };
        if let Ok(list) = read_trust_list(&message, kind, signer, NOW) {
            assert!(list.next_update.time64() > NOW);
            assert_eq!(own_trust_list(&message).as_ref(), Ok(&list));
            if list.is_full_ctl {
                assert_eq!(delta(&list, &list).map(|commands| commands.len()).unwrap_or(0), 0);
            }
            let mut trust = TrustStore::default();
            trust.insert_root(&root.certificate.certificate().view()).expect("a root");
            for command in &list.ctl_commands {
                let chronoseal_v2x::pki::CtlCommand::Add(entry) = command else { continue };
                let Some(certificate) = entry.certificate() else { continue };
                for inserted in [trust.insert_root(certificate), trust.insert_authority(certificate)] {
                    match inserted {
                        Ok(id) => assert!(trust.authority(id).is_some()),
                        Err(error) => assert!(!error.to_string().is_empty()),
                    }
                }
            }
        }
        let message = match choice % 2 {
            0 => data.to_vec(),
            _ => signed(data, Psid::CRL, SignerForm::Digest(&root.certificate), &mut key(10)),
        };
        if let Ok(list) = read_revocation_list(&message, &root.certificate, NOW) {
            assert!(list.next_update.time64() > NOW);
        }
    });
}

/// Any bytes, looked at for deviations: each finding can be shown, and is about a byte that is there.
pub fn v2x_lint(data: &[u8]) {
    match chronoseal_v2x::lint::lint(data) {
        Ok(report) => {
            for finding in &report.findings {
                assert!(!finding.what.is_empty() && !finding.to_string().is_empty());
                assert!(finding.offset.is_none_or(|offset| offset <= data.len()));
            }
        }
        Err(error) => assert!(error.offset <= data.len() && !error.to_string().is_empty()),
    }
    let _ = chronoseal_v2x::lint::of_old_standard(data);
    // As a frame of every link that is looked into: what is found ends with the frame.
    for link_type in [1, 105, 113, 127, 192, 276] {
        if let SecuredPacket::Secured { offset, bytes } = secured_packet(link_type, data) {
            assert_eq!(data.get(offset..), Some(bytes));
        }
    }
}

/// Seeds by target and name: every message of an enrolment and of an authorization, and a list of each kind.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    PARTIES.with_borrow_mut(|parties| {
        let mut seeds = Vec::new();
        let mut plain: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        let (enrolling, asking) = (parties.enrolling.0.clone(), parties.asking.0.clone());
        let decision = parties.ask_ea(enrolling.message());
        let answer = decision.expect("it is for the authority").answer;
        for (name, message, key) in [
            ("enrolment_request", enrolling.message(), &parties.enrolling.1),
            ("enrolment_response", &answer, &parties.enrolling.1),
            ("authorization_request", asking.message(), &parties.asking.1),
        ] {
            let data = Ieee1609Dot2Data::from_coer(message).expect("it decodes");
            let encrypted = data.encrypted_data().expect("it is encrypted");
            // The key of the request opens it, whoever it was encrypted to.
            let mut encrypted = encrypted.clone();
            encrypted.recipients = vec![chronoseal_v2x::types::RecipientInfo::PreSharedKey(key.id())];
            let symmetric = chronoseal_v2x::message::DecryptionKey::Symmetric(key);
            let opened = chronoseal_v2x::message::decrypt(&encrypted, symmetric).expect("it is the key");
            seeds.push(("v2x_message", name.to_owned(), message.to_vec()));
            plain.insert(name, opened.plaintext);
        }
        let Parties { root, manager, ea_certificate, rng, .. } = parties;
        let entries = vec![ea_certificate.id()];
        plain.insert("revocation_list", sign_revocation_list(root, entries, NOW, 1_000).expect("a list"));
        let entry = chronoseal_v2x::pki::CtlEntry::Ea(chronoseal_v2x::pki::EaEntry {
            ea_certificate: ea_certificate.certificate().view(),
            aa_access_point: "http://ea",
            its_access_point: None,
        });
        let commands = vec![chronoseal_v2x::pki::CtlCommand::Add(entry)];
        let list = sign_trust_list(root, ListKind::Root, (true, 1), commands, NOW, 1_000);
        plain.insert("trust_list_of_root", list.expect("a list"));
        let entry = chronoseal_v2x::pki::CtlEntry::Rca(chronoseal_v2x::pki::RootCaEntry {
            self_signed_root_ca: root.certificate.certificate().view(),
            successor_to: None,
        });
        let commands = vec![chronoseal_v2x::pki::CtlCommand::Add(entry)];
        let list = sign_trust_list(manager, ListKind::TrustListManager, (true, 1), commands, NOW, 1_000);
        plain.insert("trust_list_of_manager", list.expect("a list"));
        for (name, message) in plain {
            let decoded = Ieee1609Dot2Data::from_coer(&message).expect("it decodes");
            let signed = decoded.signed_data().expect("it is signed");
            let Some(InnerData::Unsecured(payload)) = &signed.tbs_data.payload.data else { continue };
            assert!(EtsiTs102941Data::from_coer(payload).is_ok());
            seeds.push(("v2x_pki", name.to_owned(), payload.to_vec()));
            seeds.push(("v2x_lint", name.to_owned(), message.clone()));
            let choices: &[u8] = match name {
                "enrolment_request" => &[1, 2],
                "enrolment_response" => &[6, 7],
                "authorization_request" => &[4, 5],
                "trust_list_of_manager" => &[2, 3],
                _ => &[0, 1],
            };
            let target = if name.contains("list") { "v2x_trust_list" } else { "v2x_exchange" };
            for (choice, bytes) in choices.iter().zip([&message[..], payload]) {
                let form = if bytes.len() == message.len() { "message" } else { "payload" };
                seeds.push((target, format!("{name}_{form}"), [&[*choice][..], bytes].concat()));
            }
        }
        let hello = Ieee1609Dot2Data::unsecured(b"text").to_coer().expect("it is short");
        let sealed = encrypt_with_session_key(
            &hello,
            &[chronoseal_v2x::message::Recipient::PreSharedKey],
            &parties.asking.1,
            rng,
        );
        seeds.push(("v2x_exchange", "answer_raw".to_owned(), [&[0][..], &sealed.expect("it is short")].concat()));
        seeds
    })
}
