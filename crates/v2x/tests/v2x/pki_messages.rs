//! Messages of TS 102 941: the real European trust list, lists that Bouncy Castle made, and every kind built here.

use chronoseal_v2x::coer::{Decode, Encode, Rules};
use chronoseal_v2x::pki::*;
use chronoseal_v2x::types::{
    CertificateBuf, CurvePoint, HashedId8, Ieee1609Dot2Data, Psid, PsidSsp, PublicVerificationKey, Received,
    ServiceSpecificPermissions, Time32, UnknownAlternative,
};

const EUROPEAN_ECTL: &[u8] = include_bytes!("../data/CE4CF6C19BFED720.oer");
/// Lists of the second vendor's authority, `adapters/bc-pki`.
const BC_CTL: &[u8] = include_bytes!("../data/bc/rca-ctl.oer");
const BC_CRL: &[u8] = include_bytes!("../data/bc/rca-crl.oer");
const BC_ECTL: &[u8] = include_bytes!("../data/bc/ectl.oer");

/// What a signed list says, checked to encode to the bytes it was read from.
fn content(list: &[u8]) -> EtsiTs102941DataContent<'_> {
    let (data, _) = Ieee1609Dot2Data::from_coer_with(list, Rules::LENIENT).unwrap();
    let Some(chronoseal_v2x::types::InnerData::Unsecured(payload)) = data.signed_data().unwrap().tbs_data.payload.data
    else {
        panic!("a list is signed and in the open");
    };
    let message = EtsiTs102941Data::from_coer(payload).unwrap();
    assert_eq!(message.to_coer().unwrap(), payload);
    message.content
}

#[test]
fn reads_the_european_trust_list() {
    let EtsiTs102941DataContent::CertificateTrustListTlm(list) = content(EUROPEAN_ECTL) else {
        panic!("the trust list manager's list");
    };
    assert!(list.is_full_ctl);
    let roots = list.ctl_commands.iter().filter(|command| matches!(command, CtlCommand::Add(CtlEntry::Rca(_)))).count();
    let managers = list.ctl_commands.iter().filter(|command| matches!(command, CtlCommand::Add(CtlEntry::Tlm(_))));
    assert_eq!((list.ctl_commands.len(), roots, managers.count()), (5, 2, 1));
}

#[test]
fn reads_the_second_vendors_lists() {
    let EtsiTs102941DataContent::CertificateTrustListRca(list) = content(BC_CTL) else { panic!("a root's list") };
    let kinds: Vec<_> = list
        .ctl_commands
        .iter()
        .map(|command| match command {
            CtlCommand::Add(CtlEntry::Ea(_)) => "ea",
            CtlCommand::Add(CtlEntry::Aa(_)) => "aa",
            CtlCommand::Add(CtlEntry::Dc(_)) => "dc",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["ea", "aa", "dc"]);
    let EtsiTs102941DataContent::CertificateRevocationList(list) = content(BC_CRL) else { panic!("revoked ones") };
    assert!(list.this_update < list.next_update);
    assert!(matches!(content(BC_ECTL), EtsiTs102941DataContent::CertificateTrustListTlm(_)));
}

fn keys(filler: u8) -> PublicKeys {
    let point = CurvePoint::CompressedY0([filler; 32]);
    PublicKeys { verification_key: PublicVerificationKey::EcdsaNistP256(point), encryption_key: None }
}

fn attributes() -> CertificateSubjectAttributes<'static> {
    let ssp = Some(ServiceSpecificPermissions::Bitmap(&[1, 0xff, 0xff]));
    CertificateSubjectAttributes {
        app_permissions: Some(vec![PsidSsp { psid: Psid(36), ssp }]),
        ..CertificateSubjectAttributes::default()
    }
}

fn shared() -> SharedAtRequest<'static> {
    SharedAtRequest {
        ea_id: HashedId8([1; 8]),
        key_tag: [2; 16],
        certificate_format: CertificateFormat::TS103097_V131,
        requested_subject_attributes: attributes(),
        extensions: Default::default(),
        received: Received::default(),
    }
}

/// One message of each kind that has no certificate in it, and one of each list with all kinds of entries.
fn each_kind(certificate: &CertificateBuf) -> Vec<EtsiTs102941DataContent<'_>> {
    let request = InnerEcRequest {
        its_id: &[1, 2, 3],
        certificate_format: CertificateFormat::TS103097_V131,
        public_keys: keys(7),
        requested_subject_attributes: attributes(),
        extensions: Default::default(),
    };
    assert_eq!(InnerEcRequest::from_coer(&request.to_coer().unwrap()).unwrap(), request);
    let add = |entry| CtlCommand::Add(entry);
    let all = [
        add(CtlEntry::Rca(RootCaEntry {
            self_signed_root_ca: certificate.view(),
            successor_to: Some(certificate.view()),
        })),
        add(CtlEntry::Ea(EaEntry {
            ea_certificate: certificate.view(),
            aa_access_point: "http://127.0.0.1:1/ea",
            its_access_point: Some("http://127.0.0.1:1/its"),
        })),
        add(CtlEntry::Aa(AaEntry { aa_certificate: certificate.view(), access_point: "" })),
        add(CtlEntry::Dc(DcEntry { url: "http://a/", cert: vec![HashedId8([3; 8]); 2] })),
        add(CtlEntry::Tlm(TlmEntry {
            self_signed_tlm_certificate: certificate.view(),
            successor_to: None,
            access_point: "http://b/",
        })),
        add(CtlEntry::Unknown(UnknownAlternative { number: 9, bytes: vec![1, 2] })),
        CtlCommand::Delete(CtlDelete::Cert(HashedId8([4; 8]))),
        CtlCommand::Delete(CtlDelete::Dc("http://c/")),
    ];
    let list = |is_full_ctl: bool| {
        let keep = |command: &&CtlCommand<'_>| !is_full_ctl || !matches!(command, CtlCommand::Delete(_));
        CtlFormat {
            next_update: Time32(5),
            is_full_ctl,
            ctl_sequence: 255,
            ctl_commands: all.iter().filter(keep).cloned().collect(),
            extensions: Default::default(),
        }
    };
    let (full, delta) = (list(true), list(false));
    vec![
        EtsiTs102941DataContent::EnrolmentRequest(Ieee1609Dot2Data::unsecured(b"request")),
        EtsiTs102941DataContent::EnrolmentResponse(InnerEcResponse {
            request_hash: [1; 16],
            response_code: EnrolmentResponseCode::DeniedRequest,
            certificate: None,
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::EnrolmentResponse(InnerEcResponse {
            request_hash: [1; 16],
            response_code: EnrolmentResponseCode::Ok,
            certificate: Some(certificate.view()),
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::AuthorizationRequest(InnerAtRequest {
            public_keys: keys(9),
            hmac_key: [8; 32],
            shared_at_request: shared(),
            ec_signature: EcSignature::Encrypted(Ieee1609Dot2Data::unsecured(b"signature")),
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::AuthorizationResponse(InnerAtResponse {
            request_hash: [1; 16],
            response_code: AuthorizationResponseCode::Unknown(99),
            certificate: None,
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::CertificateRevocationList(ToBeSignedCrl {
            this_update: Time32(1),
            next_update: Time32(2),
            entries: vec![HashedId8([5; 8])],
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::CertificateTrustListTlm(full),
        EtsiTs102941DataContent::CertificateTrustListRca(delta),
        EtsiTs102941DataContent::AuthorizationValidationRequest(AuthorizationValidationRequest {
            shared_at_request: shared(),
            ec_signature: EcSignature::Plain(Ieee1609Dot2Data::unsecured(b"signature")),
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::AuthorizationValidationResponse(AuthorizationValidationResponse {
            request_hash: [1; 16],
            response_code: AuthorizationValidationResponseCode::Ok,
            confirmed_subject_attributes: Some(attributes()),
            extensions: Default::default(),
        }),
        EtsiTs102941DataContent::Unknown(UnknownAlternative { number: 12, bytes: vec![1, 2, 3] }),
    ]
}

fn a_certificate() -> CertificateBuf {
    let EtsiTs102941DataContent::CertificateTrustListRca(list) = content(BC_CTL) else { panic!("a root's list") };
    let CtlCommand::Add(entry) = &list.ctl_commands[0] else { panic!("an addition") };
    CertificateBuf::encoded(entry.certificate().unwrap()).unwrap()
}

#[test]
fn every_kind_of_message_is_read_as_it_was_written() {
    let certificate = a_certificate();
    for content in each_kind(&certificate) {
        let message = EtsiTs102941Data::new(content);
        let bytes = message.to_coer().unwrap();
        assert_eq!(EtsiTs102941Data::from_coer(&bytes).unwrap(), message);
    }
}

#[test]
fn refuses_every_torn_message() {
    let certificate = a_certificate();
    for content in each_kind(&certificate) {
        let bytes = EtsiTs102941Data::new(content).to_coer().unwrap();
        for len in 0..bytes.len() {
            assert!(EtsiTs102941Data::from_coer(&bytes[..len]).is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn what_decodes_after_a_changed_byte_encodes_to_those_bytes() {
    let certificate = a_certificate();
    let (mut read, mut refused) = (0, 0);
    for content in each_kind(&certificate) {
        let whole = EtsiTs102941Data::new(content).to_coer().unwrap();
        for at in 0..whole.len() {
            // Every single bit, and the ends of the range.
            let changes = (0..8).map(|bit| whole[at] ^ 1 << bit);
            for value in changes.chain([0, 0x7f, 0xff]) {
                let mut bytes = whole.clone();
                bytes[at] = value;
                match EtsiTs102941Data::from_coer(&bytes) {
                    Ok(message) => {
                        assert_eq!(message.to_coer().unwrap(), bytes, "byte {at} as {value:#04x}");
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}

#[test]
fn a_code_and_what_is_granted_agree() {
    let grant = |code, certificate| {
        let response =
            InnerEcResponse { request_hash: [0; 16], response_code: code, certificate, extensions: Default::default() };
        InnerEcResponse::from_coer(&response.to_coer().unwrap()).is_ok()
    };
    let certificate = a_certificate();
    assert!(grant(EnrolmentResponseCode::Ok, Some(certificate.view())));
    assert!(!grant(EnrolmentResponseCode::Ok, None));
    assert!(!grant(EnrolmentResponseCode::UnknownIts, Some(certificate.view())));
    assert!(grant(EnrolmentResponseCode::UnknownIts, None));
}

#[test]
fn every_code_has_its_number_and_its_name() {
    assert_eq!(EnrolmentResponseCode::ALL.len(), 14);
    assert_eq!(AuthorizationResponseCode::ALL.len(), 27);
    assert_eq!(AuthorizationValidationResponseCode::ALL.len(), 15);
    for (number, code) in AuthorizationResponseCode::ALL.iter().enumerate() {
        assert_eq!(usize::from(code.number()), number);
        assert_eq!(AuthorizationResponseCode::from_name(&code.to_string()), Some(*code));
        assert_eq!(AuthorizationResponseCode::from_coer(&code.to_coer().unwrap()).unwrap(), *code);
    }
}

#[test]
fn a_later_versions_additions_to_a_revocation_list_are_kept() {
    let list = ToBeSignedCrl {
        this_update: Time32(1),
        next_update: Time32(2),
        entries: vec![HashedId8([5; 8])],
        extensions: Default::default(),
    };
    let plain = list.to_coer().unwrap();
    // The extension bit, and at the end one addition of three octets.
    let mut extended = plain.clone();
    extended[0] |= 0x80;
    extended.extend([2, 7, 0x80, 3, 7, 8, 9]);
    let read = ToBeSignedCrl::from_coer(&extended).unwrap();
    assert_eq!((&read.entries, read.to_coer().unwrap()), (&list.entries, extended.clone()));
    assert_ne!(read, list);
}
