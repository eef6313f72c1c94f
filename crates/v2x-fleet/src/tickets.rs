//! Real signatures for a fleet: a root, an authority, and a ticket for every pseudonym, made up from the seed.
//!
//! The keys are test material by nature: whoever knows the seed knows them all.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, Purpose};
use chronoseal_v2x::certificate::{CertificateError, Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::{
    BitmapSspRange, CertificateBuf, CertificateId, Duration, HeaderInfo, Psid, PsidGroupPermissions, PsidSsp,
    PsidSspRange, Received, ServiceSpecificPermissions, SignedDataPayload, SspRange, SubjectPermissions,
    ThreeDLocation, Time32, Time64, ToBeSignedCertificate, ToBeSignedData, ValidityPeriod, VerificationKeyIndicator,
};
use chronoseal_v2x::verify::{Context, Verdict, Verifier, VerifierConfig};

use crate::security::{SecureRequest, Security, SecurityError};

/// Signs with tickets of its own authority and checks against its root.
///
/// One verifier stands for all receivers: it knows every ticket that was sent whole before.
pub struct Tickets {
    seed: u64,
    curve: Curve,
    root: CertificateBuf,
    authority: CertificateBuf,
    authority_key: SoftwareKey,
    /// Start of all validities.
    since: Time32,
    tickets: BTreeMap<u32, (SignerCertificate, SoftwareKey)>,
    verifier: Verifier,
}

/// CAM, with whatever a vehicle may say of itself; DENM, of every cause (EN 302 637-2 annex, EN 302 637-3 clause 5.4).
const CAM_SSP: [u8; 3] = [1, 0xff, 0xfc];
const DENM_SSP: [u8; 4] = [1, 0xff, 0xff, 0xff];

impl Tickets {
    /// A root, an authority below it and an empty pool, valid from shortly before `starts_at_us` on [us of TAI since
    /// 2004-01-01].
    ///
    /// # Errors
    /// [`SecurityError`] if a certificate cannot be issued.
    pub fn new(curve: Curve, starts_at_us: u64, seed: u64) -> Result<Self, SecurityError> {
        let mut rng = random::stream(seed, Purpose::Key, TICKET_STREAM);
        let since = Time64(starts_at_us.saturating_sub(HOUR_US)).time32();
        let mut root_key = SoftwareKey::generate(curve, &mut rng);
        let authority_key = SoftwareKey::generate(curve, &mut rng);
        let years = |count| ValidityPeriod { start: since, duration: Duration::Years(count) };

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("fleet root"), years(3), indicator(&root_key));
        let mut permissions = issue_permissions();
        permissions[0].min_chain_length = 2;
        tbs.cert_issue_permissions = Some(permissions);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key)?;

        let name = CertificateId::Name("fleet authority");
        let mut tbs = ToBeSignedCertificate::new(name, years(1), indicator(&authority_key));
        tbs.cert_issue_permissions = Some(issue_permissions());
        let authority = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key)?;

        let config = VerifierConfig { neighbours_max: TICKETS_MAX, ..VerifierConfig::default() };
        let mut verifier = Verifier::new(config);
        verifier.trust_mut().insert_root(&root.view())?;
        verifier.trust_mut().insert_authority(&authority.view())?;
        Ok(Self { seed, curve, root, authority, authority_key, since, tickets: BTreeMap::new(), verifier })
    }

    /// The root's certificate.
    pub fn root(&self) -> &CertificateBuf {
        &self.root
    }

    /// The authority's certificate.
    pub fn authority(&self) -> &CertificateBuf {
        &self.authority
    }

    /// Tickets issued so far.
    pub fn issued(&self) -> usize {
        self.tickets.len()
    }

    /// Checks a secured packet; the verdict says what was checked.
    pub fn check<'a>(&mut self, secured: &'a [u8], now_us: u64) -> (Verdict, Option<&'a [u8]>) {
        let (verdict, message) = self.verifier.verify_untimed(secured, &Context::at(Time64(now_us)));
        let payload = message.as_ref().and_then(|message| message.signed_data()?.tbs_data.payload.unsecured_payload());
        (verdict, payload)
    }

    fn issue_ticket(&mut self, pseudonym: u32) -> Result<(SignerCertificate, SoftwareKey), CertificateError> {
        let mut rng = random::stream(self.seed, Purpose::Key, TICKET_STREAM + 1 + u64::from(pseudonym));
        let key = SoftwareKey::generate(self.curve, &mut rng);
        let validity = ValidityPeriod { start: self.since, duration: Duration::Hours(168) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, validity, indicator(&key));
        tbs.app_permissions = Some(vec![
            PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&CAM_SSP)) },
            PsidSsp { psid: Psid::DENM, ssp: Some(ServiceSpecificPermissions::Bitmap(&DENM_SSP)) },
        ]);
        let certificate = issue(tbs, Issuer::Certificate(&self.authority.view()), &mut self.authority_key)?;
        Ok((SignerCertificate::new(certificate)?, key))
    }
}

/// Keys of root and authority have this stream, those of tickets the ones behind it: whoever has the seed, in whatever
/// process, makes the same.
const TICKET_STREAM: u64 = 1 << 32;
const HOUR_US: u64 = 3_600_000_000;
/// More than a run takes up; a verifier that forgot one would refuse what is signed under its digest.
const TICKETS_MAX: usize = 100_000;

impl Security for Tickets {
    fn secure(&mut self, request: &SecureRequest<'_>, out: &mut Vec<u8>) -> Result<(), SecurityError> {
        if !self.tickets.contains_key(&request.pseudonym) {
            let ticket = self.issue_ticket(request.pseudonym)?;
            self.tickets.insert(request.pseudonym, ticket);
        }
        let (certificate, key) = self.tickets.get_mut(&request.pseudonym).expect("it was put in if it was not there");
        let mut header_info = HeaderInfo::new(if request.event.is_some() { Psid::DENM } else { Psid::CAM });
        header_info.generation_time = Some(Time64(request.generation_time_us));
        header_info.generation_location = request.event.map(|(latitude, longitude)| ThreeDLocation {
            latitude,
            longitude,
            // The highest value stands for an elevation that is not known.
            elevation: u16::MAX,
        });
        let payload = SignedDataPayload::unsecured(request.packet);
        let tbs = ToBeSignedData { payload, header_info, received: Received::default() };
        // [TS 103 097 §7.1.2] A DENM always has its certificate.
        let form = match request.with_certificate || request.event.is_some() {
            true => SignerForm::Certificate(certificate),
            false => SignerForm::Digest(certificate),
        };
        let signed = sign(&tbs, form, key)?;
        out.extend_from_slice(&signed);
        Ok(())
    }

    fn open<'a>(&mut self, secured: &'a [u8], now_us: u64) -> Result<&'a [u8], SecurityError> {
        match self.check(secured, now_us) {
            (verdict, Some(payload)) if verdict.is_accepted() => Ok(payload),
            (verdict, _) => Err(SecurityError::Refused(Box::new(verdict))),
        }
    }
}

fn indicator(key: &SoftwareKey) -> VerificationKeyIndicator {
    VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key())
}

fn issue_permissions() -> Vec<PsidGroupPermissions<'static>> {
    let range = |psid, ssp_value, ssp_bitmask| PsidSspRange {
        psid,
        ssp_range: Some(SspRange::Bitmap(BitmapSspRange { ssp_value, ssp_bitmask })),
    };
    let ranges =
        vec![range(Psid::CAM, &CAM_SSP[..], &[0xff, 0, 3]), range(Psid::DENM, &DENM_SSP[..], &[0xff, 0, 0, 0])];
    vec![PsidGroupPermissions::new(SubjectPermissions::Explicit(ranges))]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_US: u64 = 722_000_000_000_000;

    fn tickets() -> Tickets {
        Tickets::new(Curve::NistP256, NOW_US, 1).expect("certificates")
    }

    fn request(pseudonym: u32, with_certificate: bool) -> SecureRequest<'static> {
        SecureRequest { pseudonym, generation_time_us: NOW_US, with_certificate, event: None, packet: b"a packet" }
    }

    fn secured(tickets: &mut Tickets, request: &SecureRequest<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        tickets.secure(request, &mut out).expect("a signature");
        out
    }

    #[test]
    fn what_was_signed_opens_and_nothing_else() {
        let mut tickets = tickets();
        let whole = secured(&mut tickets, &request(7, true));
        let digest = secured(&mut tickets, &SecureRequest { generation_time_us: NOW_US + 1, ..request(7, false) });
        assert!(whole.len() > digest.len() + 100);
        assert!(tickets.open(&digest, NOW_US).is_err(), "nobody has the certificate yet");
        assert_eq!(tickets.open(&whole, NOW_US), Ok(&b"a packet"[..]));
        assert_eq!(tickets.open(&digest, NOW_US), Ok(&b"a packet"[..]));
        assert!(tickets.open(&digest, NOW_US).is_err(), "a second time it is replayed");
        for at in [digest.len() - 1, digest.len() / 2, 20] {
            let mut changed =
                secured(&mut tickets, &SecureRequest { generation_time_us: NOW_US + 2, ..request(7, false) });
            changed[at] ^= 1;
            assert!(tickets.open(&changed, NOW_US).is_err(), "byte {at}");
        }
        assert_eq!(tickets.issued(), 1);
    }

    #[test]
    fn another_fleet_is_not_trusted() {
        let mut other = Tickets::new(Curve::NistP256, NOW_US, 2).expect("certificates");
        let foreign = secured(&mut other, &request(7, true));
        assert!(tickets().open(&foreign, NOW_US).is_err());
    }

    #[test]
    fn an_event_has_its_place_and_its_certificate() {
        let mut tickets = tickets();
        let event = SecureRequest { event: Some((487_758_459, 91_829_321)), ..request(7, false) };
        let denm = secured(&mut tickets, &event);
        let (verdict, payload) = tickets.check(&denm, NOW_US);
        assert!(verdict.is_accepted(), "{verdict}");
        assert_eq!((verdict.psid, payload), (Some(Psid::DENM), Some(&b"a packet"[..])));
    }
}
