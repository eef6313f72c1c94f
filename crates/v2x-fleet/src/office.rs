//! An authority for a fleet: a root, an authority below it, and a ticket for every number, made up from the seed.
//!
//! The keys are test material by nature: whoever knows the seed knows them all. Whoever has the seed, in whatever process,
//! makes the same.

use chronoseal_core::random::{self, Purpose};
use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::types::{
    BitmapSspRange, CertificateBuf, CertificateId, Duration, Psid, PsidGroupPermissions, PsidSsp, PsidSspRange,
    ServiceSpecificPermissions, SspRange, SubjectPermissions, Time32, Time64, ToBeSignedCertificate, ValidityPeriod,
    VerificationKeyIndicator,
};
use chronoseal_v2x::verify::{Verifier, VerifierConfig};

use crate::security::SecurityError;

/// Issues tickets.
#[derive(Debug)]
pub struct Office {
    seed: u64,
    curve: Curve,
    root: CertificateBuf,
    authority: CertificateBuf,
    authority_key: SoftwareKey,
    /// Start of all validities.
    since: Time32,
    verifier: Verifier,
}

/// CAM, with whatever a vehicle may say of itself; DENM, of every cause (EN 302 637-2 annex, EN 302 637-3 clause 5.4).
const CAM_SSP: [u8; 3] = [1, 0xff, 0xfc];
const DENM_SSP: [u8; 4] = [1, 0xff, 0xff, 0xff];
/// Keys of root and authority have this stream, those of tickets the ones behind it.
const TICKET_STREAM: u64 = 1 << 32;
const HOUR_US: u64 = 3_600_000_000;
/// Messages a station remembers against replay: more than are heard while one is fresh.
const REPLAYS_MAX: usize = 8_192;

impl Office {
    /// A root and an authority below it, valid from shortly before `starts_at_us` on `[us of TAI since 2004-01-01]`.
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

        let mut verifier = Verifier::new(VerifierConfig { replays_max: REPLAYS_MAX, ..VerifierConfig::default() });
        verifier.trust_mut().insert_root(&root.view())?;
        verifier.trust_mut().insert_authority(&authority.view())?;
        Ok(Self { seed, curve, root, authority, authority_key, since, verifier })
    }

    /// The root's certificate.
    pub fn root(&self) -> &CertificateBuf {
        &self.root
    }

    /// The authority's certificate.
    pub fn authority(&self) -> &CertificateBuf {
        &self.authority
    }

    /// The curve of all keys.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// A receiver that trusts this office and knows nobody yet.
    pub fn verifier(&self) -> Verifier {
        self.verifier.clone()
    }

    /// The ticket with this number and its key, always the same.
    ///
    /// # Errors
    /// [`SecurityError`] if it cannot be issued.
    pub fn issue(&self, number: u32) -> Result<(CertificateBuf, SoftwareKey), SecurityError> {
        let mut rng = random::stream(self.seed, Purpose::Key, TICKET_STREAM + 1 + u64::from(number));
        let key = SoftwareKey::generate(self.curve, &mut rng);
        let validity = ValidityPeriod { start: self.since, duration: Duration::Hours(168) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, validity, indicator(&key));
        tbs.app_permissions = Some(vec![
            PsidSsp { psid: Psid::CAM, ssp: Some(ServiceSpecificPermissions::Bitmap(&CAM_SSP)) },
            PsidSsp { psid: Psid::DENM, ssp: Some(ServiceSpecificPermissions::Bitmap(&DENM_SSP)) },
        ]);
        let mut authority_key = self.authority_key.clone();
        let certificate = issue(tbs, Issuer::Certificate(&self.authority.view()), &mut authority_key);
        Ok((certificate?, key))
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

    #[test]
    fn whoever_has_the_seed_makes_the_same_tickets() {
        let office = |seed| Office::new(Curve::NistP256, 722_000_000_000_000, seed).expect("certificates");
        let ticket = |office: &Office, number| office.issue(number).expect("a ticket").0;
        let (one, same, other) = (office(1), office(1), office(2));
        assert_eq!(ticket(&one, 7).as_bytes(), ticket(&same, 7).as_bytes());
        assert_ne!(ticket(&one, 7).as_bytes(), ticket(&one, 8).as_bytes());
        assert_ne!(ticket(&one, 7).as_bytes(), ticket(&other, 7).as_bytes());
        assert_eq!(one.root().as_bytes(), same.root().as_bytes());
        assert_eq!(one.authority().as_bytes(), same.authority().as_bytes());
    }
}
