//! An authority for a fleet: a root, an authority below it, and a ticket for every number, made up from the seed.
//!
//! Its tickets are those of [`chronoseal_v2x::pki`]: issued by the same function, for periods that the same policy confirms.
//!
//! The keys are test material by nature: whoever knows the seed knows them all. Whoever has the seed, in whatever process,
//! makes the same.

use chronoseal_core::random::{self, Purpose};
use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::pki::{CertificateSubjectAttributes, PublicKeys, TicketPeriods, issue_ticket};
use chronoseal_v2x::types::{
    BitmapSspRange, CertificateBuf, CertificateId, Duration, Psid, PsidGroupPermissions, PsidSsp, PsidSspRange,
    ServiceSpecificPermissions, SspRange, SubjectPermissions, Time32, Time64, ToBeSignedCertificate, ValidityPeriod,
    VerificationKeyIndicator,
};
use chronoseal_v2x::verify::{Verifier, VerifierConfig};

use crate::security::SecurityError;
use crate::station::MessageKind;

/// Issues tickets.
#[derive(Debug)]
pub struct Office {
    seed: u64,
    curve: Curve,
    root: CertificateBuf,
    authority: CertificateBuf,
    authority_key: SoftwareKey,
    periods: TicketPeriods,
    /// What tickets permit beside CAMs and DENMs.
    permits: Vec<MessageKind>,
    verifier: Verifier,
}

/// CAM, with whatever a vehicle may say of itself; DENM, of every cause (EN 302 637-2 annex, EN 302 637-3 clause 5.4).
const CAM_SSP: [u8; 3] = [1, 0xff, 0xfc];
const DENM_SSP: [u8; 4] = [1, 0xff, 0xff, 0xff];
/// CPM and VAM, with whatever they may contain, as our own authorities permit it (`chronoseal_v2x::pki`).
const CPM_SSP: [u8; 2] = [1, 0xff];
const VAM_SSP: [u8; 2] = [1, 0xff];
/// Keys of root and authority have this stream, those of tickets the ones behind it.
const TICKET_STREAM: u64 = 1 << 32;
/// How long before a run tickets may have been asked for.
const DAY_US: u64 = 86_400_000_000;
/// How long a ticket is asked for `[h]`.
const ASKED_H: u16 = 168;
/// Messages a station remembers against replay: more than are heard while one is fresh.
const REPLAYS_MAX: usize = 8_192;

impl Office {
    /// A root and an authority below it, valid from the week on in which the day before `starts_at_us` is `[us of TAI since
    /// 2004-01-01]`. Tickets have the periods that our authorities confirm if nothing else is said.
    ///
    /// # Errors
    /// [`SecurityError`] if a certificate cannot be issued.
    pub fn new(curve: Curve, starts_at_us: u64, seed: u64) -> Result<Self, SecurityError> {
        Self::with_permissions(curve, starts_at_us, seed, &[])
    }

    /// The same, whose tickets permit further kinds of messages beside CAMs and DENMs.
    ///
    /// # Errors
    /// [`SecurityError`] if a certificate cannot be issued.
    pub fn with_permissions(
        curve: Curve,
        starts_at_us: u64,
        seed: u64,
        permits: &[MessageKind],
    ) -> Result<Self, SecurityError> {
        let mut rng = random::stream(seed, Purpose::Key, TICKET_STREAM);
        let since = Time64(starts_at_us.saturating_sub(DAY_US)).time32();
        let asked = ValidityPeriod { start: since, duration: Duration::Hours(ASKED_H) };
        let since = TicketPeriods::Weeks.align(asked, since).start;
        let mut root_key = SoftwareKey::generate(curve, &mut rng);
        let authority_key = SoftwareKey::generate(curve, &mut rng);
        let years = |count| ValidityPeriod { start: since, duration: Duration::Years(count) };

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("fleet root"), years(3), indicator(&root_key));
        let mut permissions = issue_permissions(permits);
        permissions[0].min_chain_length = 2;
        tbs.cert_issue_permissions = Some(permissions);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key)?;

        let name = CertificateId::Name("fleet authority");
        let mut tbs = ToBeSignedCertificate::new(name, years(1), indicator(&authority_key));
        tbs.cert_issue_permissions = Some(issue_permissions(permits));
        let authority = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key)?;

        let mut verifier = Verifier::new(VerifierConfig {
            replays_max: REPLAYS_MAX,
            are_replays_reserved: false,
            ..VerifierConfig::default()
        });
        verifier.trust_mut().insert_root(&root.view())?;
        verifier.trust_mut().insert_authority(&authority.view())?;
        let (periods, permits) = (TicketPeriods::default(), permits.to_vec());
        Ok(Self { seed, curve, root, authority, authority_key, periods, permits, verifier })
    }

    /// The same with tickets for other periods.
    #[must_use]
    pub fn with_periods(self, periods: TicketPeriods) -> Self {
        Self { periods, ..self }
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

    /// The ticket with this number and its key, asked for at one time and confirmed at another; always the same, if both are in
    /// one period.
    ///
    /// # Errors
    /// [`SecurityError`] if it cannot be issued.
    pub fn issue(
        &self,
        number: u32,
        asked_at: Time32,
        now: Time32,
    ) -> Result<(CertificateBuf, SoftwareKey), SecurityError> {
        let mut rng = random::stream(self.seed, Purpose::Key, TICKET_STREAM + 1 + u64::from(number));
        let key = SoftwareKey::generate(self.curve, &mut rng);
        let asked = ValidityPeriod { start: asked_at, duration: Duration::Hours(ASKED_H) };
        let confirmed = CertificateSubjectAttributes {
            validity_period: Some(self.periods.align(asked, now)),
            app_permissions: Some(services(&self.permits).map(permission).collect()),
            ..CertificateSubjectAttributes::default()
        };
        let keys = PublicKeys { verification_key: key.public_point().to_verification_key(), encryption_key: None };
        let mut authority_key = self.authority_key.clone();
        Ok((issue_ticket(&self.authority, &mut authority_key, &keys, confirmed)?, key))
    }
}

fn indicator(key: &SoftwareKey) -> VerificationKeyIndicator {
    VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key())
}

/// What a ticket permits: application, service-specific permissions, and which of their bits have to be as they are.
fn services(permits: &[MessageKind]) -> impl Iterator<Item = (Psid, &'static [u8], &'static [u8])> {
    [MessageKind::Cam, MessageKind::Denm].into_iter().chain(permits.iter().copied()).map(|kind| {
        let (ssp, mask): (&[u8], &[u8]) = match kind {
            MessageKind::Cam => (&CAM_SSP, &[0xff, 0, 3]),
            MessageKind::Denm => (&DENM_SSP, &[0xff, 0, 0, 0]),
            MessageKind::Cpm => (&CPM_SSP, &[0xff, 0]),
            MessageKind::Vam => (&VAM_SSP, &[0xff, 0]),
        };
        (kind.psid(), ssp, mask)
    })
}

fn permission((psid, ssp, _): (Psid, &'static [u8], &'static [u8])) -> PsidSsp<'static> {
    PsidSsp { psid, ssp: Some(ServiceSpecificPermissions::Bitmap(ssp)) }
}

fn issue_permissions(permits: &[MessageKind]) -> Vec<PsidGroupPermissions<'static>> {
    let range = |psid, ssp_value, ssp_bitmask| PsidSspRange {
        psid,
        ssp_range: Some(SspRange::Bitmap(BitmapSspRange { ssp_value, ssp_bitmask })),
    };
    let ranges = services(permits).map(|(psid, ssp, mask)| range(psid, ssp, mask)).collect();
    vec![PsidGroupPermissions::new(SubjectPermissions::Explicit(ranges))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_seed_makes_the_same_tickets() {
        let office = |seed| Office::new(Curve::NistP256, 722_000_000_000_000, seed).expect("certificates");
        let now = Time32(722_000_000);
        let ticket = |office: &Office, number| office.issue(number, now, now).expect("a ticket").0;
        let (one, same, other) = (office(1), office(1), office(2));
        assert_eq!(ticket(&one, 7).as_bytes(), ticket(&same, 7).as_bytes());
        assert_ne!(ticket(&one, 7).as_bytes(), ticket(&one, 8).as_bytes());
        assert_ne!(ticket(&one, 7).as_bytes(), ticket(&other, 7).as_bytes());
        assert_eq!(one.root().as_bytes(), same.root().as_bytes());
        assert_eq!(one.authority().as_bytes(), same.authority().as_bytes());
    }
    #[test]
    fn tickets_are_those_of_our_own_authority() {
        let office = |periods| {
            let office = Office::new(Curve::NistP256, 722_000_000_000_000, 1).expect("certificates");
            office.with_periods(periods)
        };
        let now = Time32(722_000_000);
        let start = |periods, number, asked_s| {
            let (ticket, _) = office(periods).issue(number, Time32(asked_s), now).expect("a ticket");
            let period = ticket.view().to_be_signed.validity_period;
            assert_eq!(period.duration, Duration::Hours(168));
            period.start.0
        };
        // The week that began at 721 526 400 s, whoever asked when; else the second, or the hour, of the request.
        assert_eq!(start(TicketPeriods::default(), 1, 721_999_877), 721_526_400);
        assert_eq!(start(TicketPeriods::default(), 2, 721_900_000), 721_526_400);
        assert_eq!(start(TicketPeriods::Hours, 1, 721_999_877), 721_998_000);
        assert_eq!(start(TicketPeriods::AsAsked, 1, 721_999_877), 721_999_877);
    }
}
