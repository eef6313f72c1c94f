//! Keeps the enrolment credential valid: asks for a new one with the old one, before that ends.
//!
//! Requests are those of [`Client::renew`], on the disk before they are sent, so that a lost answer or a restart in between makes no
//! second credential. Tickets are requested with the old one until the new one is there.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{PkiError, check_issued_by};
use chronoseal_v2x::types::Time64;
use chronoseal_v2x::vss::{HeldCredential, Renewal};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::VssError;
use super::config::Authority;
use super::server::lock;
use super::service::Vss;
use crate::hsm::SharedHsm;
use crate::pki::{Client, Clock, Endpoint, KeyDevice, ServiceError, read_certificate};

/// How often the clock and the file of the credential are looked at: it may be replaced by a command.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Renews the credential of a station that serves.
pub struct CredentialKeeper {
    client: Client,
    ea: SignerCertificate,
    url: Option<String>,
    renewal: Renewal,
    rng: ChaCha20Rng,
    /// What is wrong, as the log has it: once for as long as it is so.
    told: Option<String>,
}

impl CredentialKeeper {
    /// That of the station in `folder`, at the enrolment authority that `authority` names. Requests are dated by `clock`.
    ///
    /// # Errors
    /// [`VssError::Authority`] if the authority's certificate cannot be read, [`VssError::Random`].
    pub fn new(folder: &Path, authority: &Authority, hsm: SharedHsm, clock: &Clock) -> Result<Self, VssError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| VssError::Random(error.to_string()))?;
        Ok(Self {
            client: Client::new(folder, KeyDevice::new(hsm)).with_clock(clock.clone()),
            ea: read_certificate(&authority.ea)?,
            url: authority.ea_url.clone(),
            renewal: Renewal::new(authority.renew_ahead_s),
            rng: ChaCha20Rng::from_seed(seed),
            told: None,
        })
    }

    /// The client it asks with, which others of this process may use: they do not get in each other's way.
    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Looks at the credential, and renews it if it is time.
    pub(super) fn look(&mut self, vss: &Mutex<Vss>, clock: &Clock) {
        let now = clock.now();
        let credential = match self.client.credential_certificate() {
            Ok(credential) => credential,
            Err(error) => {
                self.renewal.lose();
                return self.tell(vss, now, &format!("no enrolment credential: {error}"));
            }
        };
        let period = credential.certificate().view().to_be_signed.validity_period;
        let held = self.renewal.hold(credential.id(), period, &mut self.rng);
        lock(vss).credential_held(&held);
        if self.renewal.has_ended(now) {
            let date = held.ends_at.date();
            let reason = format!(
                "the enrolment credential ended at {date} UTC and cannot be renewed any more; enrol anew: chronoseal pki enrol"
            );
            return self.tell(vss, now, &reason);
        }
        if !self.renewal.is_due(now) {
            return;
        }
        match self.renew(&credential, period.start.time64()) {
            Ok(()) => {
                self.told = None;
                if let Ok(new) = self.client.credential_certificate() {
                    let period = new.certificate().view().to_be_signed.validity_period;
                    let held = self.renewal.hold(new.id(), period, &mut self.rng);
                    lock(vss).credential_renewed(now, &held);
                }
            }
            Err(trouble) => {
                // By the time it took to find out.
                let now = clock.now();
                self.renewal.asked_in_vain(now, &mut self.rng);
                lock(vss).credential_not_renewed(trouble.kind());
                let reason =
                    format!("the enrolment credential, which ends at {} UTC, is not renewed", held.ends_at.date());
                self.tell(vss, now, &format!("{reason}: {trouble}"));
            }
        }
    }

    fn renew(&self, credential: &SignerCertificate, at: Time64) -> Result<(), Trouble> {
        let url = self.url.as_deref().ok_or(Trouble::NoAddress)?;
        check_issued_by(credential, &self.ea, at)
            .map_err(|error| Trouble::WrongAuthority(self.ea.id().to_string(), error))?;
        let endpoint = Endpoint { certificate: &self.ea, url };
        match self.client.renew(endpoint, credential.curve()) {
            Ok(_) => Ok(()),
            Err(error) => Err(Trouble::Service(error)),
        }
    }

    fn tell(&mut self, vss: &Mutex<Vss>, now: Time64, trouble: &str) {
        if self.told.as_deref() != Some(trouble) {
            lock(vss).note(now, trouble);
            self.told = Some(trouble.to_owned());
        }
    }
}

/// Why a credential is not renewed.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("authority.ea_url does not say where its authority is")]
    NoAddress,
    #[error("authority.ea is {0}, which has not issued it ({1}); name the certificate of the authority that has")]
    WrongAuthority(String, PkiError),
    #[error("it is asked for again: {0}")]
    Service(ServiceError),
}

impl Trouble {
    /// Under which it is counted.
    fn kind(&self) -> &'static str {
        match self {
            Self::Service(ServiceError::Pki(PkiError::EnrolmentRefused(_))) => "refused",
            Self::NoAddress | Self::WrongAuthority(..) => "misconfigured",
            Self::Service(_) => "failed",
        }
    }
}

impl Vss {
    /// How long the credential is good for, for the statistics.
    fn credential_held(&mut self, held: &HeldCredential) {
        let unix_s = |time: Time64| time.to_unix_us() / 1_000_000;
        self.record.statistics.gauge("credential_end_timestamp_seconds", unix_s(held.ends_at));
        self.record.statistics.gauge("credential_renewal_timestamp_seconds", unix_s(held.renewed_from));
    }

    fn credential_renewed(&mut self, now: Time64, held: &HeldCredential) {
        self.credential_held(held);
        self.record.statistics.count("credential_renewals", "granted");
        self.record.note(now, &format!("enrolment credential renewed, valid until {} UTC", held.ends_at.date()));
    }

    fn credential_not_renewed(&mut self, kind: &'static str) {
        self.record.statistics.count("credential_renewals", kind);
    }

    pub(super) fn note(&mut self, now: Time64, text: &str) {
        self.record.note(now, text);
    }
}
