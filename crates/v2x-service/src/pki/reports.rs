//! The misbehaviour authority: takes reports over HTTP, examines them and keeps them.
//!
//! TS 103 759 says where a report is posted to; what is answered is this project's own, since a station waits for no decision.

use axum::http::StatusCode;
use chronoseal_v2x::misbehaviour::{ReportRefusal, examine};
use chronoseal_v2x::pki::{PkiError, Role};

use super::ServiceError;
use super::server::{State, lock};
use crate::motion::motion_of_cam;
use crate::store::Filed;

/// What a report is answered with.
pub(super) enum ReportAnswer {
    /// It is kept, now or since before: by what it is known.
    Taken([u8; 32]),
    /// It is not, with the status that says whether to send it again.
    Refused(StatusCode, String),
}

impl State {
    /// Examines a report and keeps it.
    pub(super) fn take_report(&self, report: &[u8]) -> Result<ReportAnswer, ServiceError> {
        let now = self.clock.now();
        let issuers = [self.certificate(Role::Authorization).clone()];
        let examined = {
            let mut ma = lock(&self.ma);
            let certificate = ma.certificate.clone();
            let key = ma.decryption_key.as_deref_mut().ok_or(PkiError::Incomplete("decryption key"))?;
            examine(report, (&certificate, key), &issuers, &motion_of_cam, now)
        };
        let examined = match examined {
            Ok(examined) => examined,
            Err(ReportRefusal::Unreadable(error)) if super::service::is_of_device(&error) => return Err(error.into()),
            Err(refusal) => return Ok(ReportAnswer::Refused(StatusCode::BAD_REQUEST, refusal.to_string())),
        };
        Ok(match lock(&self.store).file_report(&examined, now)? {
            Filed::New | Filed::Known => ReportAnswer::Taken(examined.id),
            Filed::Full => {
                let reason = "the authority has no room for further reports";
                ReportAnswer::Refused(StatusCode::INSUFFICIENT_STORAGE, reason.to_owned())
            }
        })
    }
}
