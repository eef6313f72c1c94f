//! A small world: a root, an authority, a station.

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// 2026-11-21 or so.
pub(crate) const NOW: Time64 = Time64(722_000_000_000_000);

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

pub(crate) fn year(count: u16) -> ValidityPeriod {
    ValidityPeriod { start: Time32(700_000_000), duration: Duration::Years(count) }
}

/// Unhexes text in which white space does not count.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

pub(crate) struct World {
    pub(crate) root: CertificateBuf,
    pub(crate) root_key: SoftwareKey,
    pub(crate) authority: CertificateBuf,
    pub(crate) authority_key: SoftwareKey,
    pub(crate) authority_encryption_key: SoftwareKey,
    pub(crate) ticket: SignerCertificate,
    pub(crate) ticket_key: SoftwareKey,
}

pub(crate) fn cam_and_denm() -> Vec<PsidSsp<'static>> {
    vec![
        PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&[1, 0xff, 0xfc])) },
        PsidSsp { psid: Psid::DENM, ssp: Some(ServiceSpecificPermissions::Bitmap(&[1, 0xff, 0xff, 0xff])) },
    ]
}

pub(crate) fn issue_permissions() -> Vec<PsidGroupPermissions<'static>> {
    let ranges = vec![
        PsidSspRange {
            psid: Psid::CAM,
            ssp_range: Some(SspRange::Bitmap(BitmapSspRange {
                ssp_value: &[1, 0xff, 0xfc],
                ssp_bitmask: &[0xff, 0, 3],
            })),
        },
        PsidSspRange {
            psid: Psid::DENM,
            ssp_range: Some(SspRange::Bitmap(BitmapSspRange {
                ssp_value: &[1, 0xff, 0xff, 0xff],
                ssp_bitmask: &[0xff, 0, 0, 0],
            })),
        },
    ];
    vec![PsidGroupPermissions::new(SubjectPermissions::Explicit(ranges))]
}

pub(crate) fn key_of(key: &SoftwareKey) -> VerificationKeyIndicator {
    VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key())
}

pub(crate) fn ticket_contents(key: &SoftwareKey) -> ToBeSignedCertificate<'static> {
    let validity = ValidityPeriod { start: Time32(721_900_000), duration: Duration::Hours(168) };
    let mut tbs = ToBeSignedCertificate::new(CertificateId::None, validity, key_of(key));
    tbs.app_permissions = Some(cam_and_denm());
    tbs
}

impl World {
    pub(crate) fn new(curve: Curve) -> Self {
        Self::with_curves(curve, curve, curve)
    }

    pub(crate) fn with_curves(root: Curve, authority: Curve, ticket: Curve) -> Self {
        let mut rng = rng(7);
        let mut root_key = SoftwareKey::generate(root, &mut rng);
        let mut authority_key = SoftwareKey::generate(authority, &mut rng);
        let authority_encryption_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let ticket_key = SoftwareKey::generate(ticket, &mut rng);

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("root"), year(10), key_of(&root_key));
        let mut permissions = issue_permissions();
        permissions[0].min_chain_length = 2;
        tbs.cert_issue_permissions = Some(permissions);
        tbs.app_permissions =
            Some(vec![PsidSsp { psid: Psid::CRL, ssp: Some(ServiceSpecificPermissions::Bitmap(&[1])) }]);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key).unwrap();

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("authority"), year(5), key_of(&authority_key));
        tbs.cert_issue_permissions = Some(issue_permissions());
        tbs.encryption_key = Some(authority_encryption_key.public_point().to_encryption_key().unwrap());
        let authority = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key).unwrap();

        let ticket =
            issue(ticket_contents(&ticket_key), Issuer::Certificate(&authority.view()), &mut authority_key).unwrap();
        let ticket = SignerCertificate::new(ticket).unwrap();
        Self { root, root_key, authority, authority_key, authority_encryption_key, ticket, ticket_key }
    }

    pub(crate) fn cam<'a>(payload: &'a [u8]) -> ToBeSignedData<'a> {
        let mut header_info = HeaderInfo::new(Psid::CAM);
        header_info.generation_time = Some(NOW);
        ToBeSignedData { payload: SignedDataPayload::unsecured(payload), header_info, received: Received::default() }
    }

    pub(crate) fn signed_cam(&mut self, with_certificate: bool) -> Vec<u8> {
        let form =
            if with_certificate { SignerForm::Certificate(&self.ticket) } else { SignerForm::Digest(&self.ticket) };
        sign(&Self::cam(b"a cam"), form, &mut self.ticket_key).unwrap()
    }
}
