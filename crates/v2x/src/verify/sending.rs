//! What a certificate allows its holder to sign: the checks of a receiver, made before anything is signed.

use super::ResultCode;
use super::check::CheckKind;
use super::config::{Context, VerifierConfig};
use super::header::{check_profile, validity_time};
use super::region::validity_region;
use super::station::CertificateSummary;
use crate::certificate::{CertificateError, CertificateForm};
use crate::region::Containment;
use crate::types::{Certificate, HeaderInfo, TwoDLocation};

/// What a certificate allows its holder to sign.
#[derive(Clone, Debug)]
pub struct Allowance {
    summary: CertificateSummary,
}

impl Allowance {
    /// That of a certificate.
    ///
    /// # Errors
    /// [`CertificateError`] if it has no identifier.
    pub fn new(certificate: &Certificate<'_>) -> Result<Self, CertificateError> {
        Ok(Self { summary: CertificateSummary::new(certificate, CertificateForm::Canonical)? })
    }

    /// Makes the checks that a receiver set up as `config` makes of a message with this header: its fields, the time and the
    /// region of the certificate, the PSID and the permissions in it. `has_certificate` says whether the certificate travels
    /// along; `context` what is known of the payload.
    ///
    /// # Errors
    /// The check that a receiver would refuse the message by, and its code.
    pub fn check(
        &self,
        header: &HeaderInfo<'_>,
        has_certificate: bool,
        config: &VerifierConfig,
        context: &Context<'_>,
    ) -> Result<(), (CheckKind, ResultCode)> {
        let by = |check: CheckKind| move |code: ResultCode| (check, code);
        let policy = config.policy(header.psid).ok_or((CheckKind::Consistency, ResultCode::AgainstProfile))?;
        check_profile(policy.profile, header, has_certificate).map_err(by(CheckKind::Consistency))?;
        if !self.summary.permits(header.psid, context.ssp_needed) {
            return Err((CheckKind::Permissions, ResultCode::SpduConsistencyUnauthorizedPsid));
        }
        validity_time(header, &self.summary, context.now).map_err(by(CheckKind::ValidityTime))?;
        let location = header.generation_location.map(|place| place.two_d()).filter(TwoDLocation::is_known);
        let location = location.or(context.payload_location);
        validity_region(self.summary.region.iter(), Containment::Inside, location, (policy, config), context)
            .map_err(by(CheckKind::ValidityRegion))?;
        Ok(())
    }
}
