//! Reports of misbehaviour: found among the verified messages, signed, on the disk until the authority has them.
//!
//! A report waits in `reports` of the station's folder, encrypted to the authority, so that one that was made without a network
//! arrives after a restart as well. What each report says is signed with the pseudonym in use, which the authority alone can read.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::misbehaviour::{Detector, FINDINGS_MAX, Finding, seal_report};
use chronoseal_v2x::pipeline::{Judged, Message};
use chronoseal_v2x::types::{HashedId8, Ieee1609Dot2Data, Psid, SignerIdentifier, ThreeDLocation, Time64};
use chronoseal_v2x::vss::SignRefusal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::VssError;
use super::server::lock;
use super::service::Vss;
use crate::motion::motion_of_cam;
use crate::pki::{Clock, HttpClient, ServiceError, read_certificate};
use crate::private::{private_folder, replace};

/// How often findings are looked for.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Reports that wait for the authority; further ones are not made.
const WAITING_MAX: usize = 100;
/// How long the authority may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// From one attempt that failed to the next, at first and at most `[us]`.
const RETRY_US: (u64, u64) = (5_000_000, 900_000_000);
/// A place that is not known (TS 102 894-2), at the height of the ellipsoid.
const NOWHERE: ThreeDLocation = ThreeDLocation { latitude: 900_000_001, longitude: 1_800_000_001, elevation: 4_095 };

/// Whom misbehaviour is reported to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misbehaviour {
    /// Address of the misbehaviour authority.
    pub url: String,
    /// File of its certificate.
    pub ma: PathBuf,
}

/// Looks at a message that was verified.
pub(super) fn watch<M: Message>(
    detector: &mut Option<Detector>,
    judged: &Judged<'_, M>,
    is_own: impl Fn(HashedId8) -> bool,
) {
    let Some(detector) = detector else { return };
    if judged.verdict.failure().is_some() || judged.skipped.is_some() {
        return;
    }
    let Some(signed) = judged.data.as_ref().and_then(Ieee1609Dot2Data::signed_data) else { return };
    let (header, payload) = (&signed.tbs_data.header_info, signed.tbs_data.payload.unsecured_payload());
    let (Some(signer), Some(time), Some(payload)) = (judged.verdict.signer, header.generation_time, payload) else {
        return;
    };
    if header.psid != Psid::CAM || is_own(signer) {
        return;
    }
    let certificate = match &signed.signer {
        SignerIdentifier::Certificate(chain) => chain.first().map(|certificate| certificate.received.0),
        _ => None,
    };
    if let Some(motion) = motion_of_cam(payload, time) {
        detector.see(signer, certificate, judged.message.bytes(), motion);
    }
}

/// Reports what a station that serves has found.
pub struct Reporter {
    ma: SignerCertificate,
    url: String,
    folder: PathBuf,
    http: HttpClient,
    rng: ChaCha20Rng,
    /// Findings that could not be signed yet.
    findings: VecDeque<Finding>,
    failures: u32,
    not_before: Time64,
    told: Option<String>,
}

impl Reporter {
    /// That of the station in `folder`.
    ///
    /// # Errors
    /// [`VssError::Authority`] if the authority's certificate cannot be read, [`VssError::Io`], [`VssError::Random`].
    pub fn new(folder: &Path, to: &Misbehaviour) -> Result<Self, VssError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| VssError::Random(error.to_string()))?;
        let folder = folder.join("reports");
        private_folder(&folder).map_err(|error| VssError::io(&folder, error))?;
        Ok(Self {
            ma: read_certificate(&to.ma)?,
            url: to.url.clone(),
            folder,
            http: HttpClient::new(ANSWER_TIME_MAX),
            rng: ChaCha20Rng::from_seed(seed),
            findings: VecDeque::new(),
            failures: 0,
            not_before: Time64(0),
            told: None,
        })
    }

    /// Makes reports of what was found, and sends those that wait.
    pub(super) fn look(&mut self, vss: &Mutex<Vss>, clock: &Clock) {
        if let Err(error) = self.make(vss, clock.now()).and_then(|()| self.send(vss, clock)) {
            self.tell(vss, clock.now(), &format!("no report of misbehaviour: {error}"));
        }
    }

    fn make(&mut self, vss: &Mutex<Vss>, now: Time64) -> Result<(), VssError> {
        while self.findings.len() < FINDINGS_MAX
            && let Some(finding) = lock(vss).next_finding()
        {
            self.findings.push_back(finding);
        }
        while let Some(finding) = self.findings.front() {
            let signed = lock(vss).sign_report(finding, now);
            let signed = match signed {
                Ok(signed) => signed,
                Err(VssError::Sign(SignRefusal::NotAllowed { .. })) => {
                    self.findings.clear();
                    lock(vss).count("misbehaviour_reports", "not-permitted");
                    let reason = "the ticket in use does not permit reports of misbehaviour; request tickets with the permission 38";
                    self.tell(vss, now, reason);
                    return Ok(());
                }
                // In mid-change, in a silence or without a pseudonym: later.
                Err(VssError::Sign(_)) => return Ok(()),
                Err(error) => {
                    self.findings.pop_front();
                    return Err(error);
                }
            };
            let Some(finding) = self.findings.pop_front() else { return Ok(()) };
            let kind = if self.waiting()?.len() < WAITING_MAX {
                let sealed = seal_report(&signed, &self.ma, &mut self.rng).map_err(ServiceError::from)?;
                let id: String = Sha256::digest(&signed).iter().map(|octet| format!("{octet:02x}")).collect();
                let path = self.folder.join(format!("{id}.oer"));
                replace(&path, &sealed).map_err(|error| VssError::io(&path, error))?;
                "made"
            } else {
                "no-room"
            };
            let what: Vec<&str> = finding.observations.iter().map(|one| one.name()).collect();
            let mut vss = lock(vss);
            vss.count("misbehaviour_reports", kind);
            vss.note(now, &format!("misbehaviour of {}: {}; report {kind}", finding.signer, what.join(", ")));
        }
        Ok(())
    }

    /// The reports that wait, in an order of no meaning.
    fn waiting(&self) -> Result<Vec<PathBuf>, VssError> {
        let at = |error| VssError::io(&self.folder, error);
        let entries = fs::read_dir(&self.folder).map_err(at)?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "oer"));
        paths.sort();
        Ok(paths)
    }

    fn send(&mut self, vss: &Mutex<Vss>, clock: &Clock) -> Result<(), VssError> {
        let now = clock.now();
        // A wait longer than any is that of a clock that was set back.
        if now < self.not_before && self.not_before.0 - now.0 <= RETRY_US.1 {
            return Ok(());
        }
        for path in self.waiting()? {
            let sealed = fs::read(&path).map_err(|error| VssError::io(&path, error))?;
            let kind = match self.http.post(&self.url, &sealed) {
                Ok(_) => "taken",
                Err(error @ ServiceError::Http { status: Some(400), .. }) => {
                    lock(vss).note(clock.now(), &format!("a report of misbehaviour is refused: {error}"));
                    "refused"
                }
                Err(error) => {
                    let wait_us = RETRY_US.0 << self.failures.min(10);
                    self.failures += 1;
                    self.not_before = clock.now().plus_us(wait_us.min(RETRY_US.1));
                    let reason = format!("reports of misbehaviour wait: {error}");
                    self.tell(vss, clock.now(), &reason);
                    return Ok(());
                }
            };
            (self.failures, self.told) = (0, None);
            lock(vss).count("misbehaviour_reports", kind);
            fs::remove_file(&path).map_err(|error| VssError::io(&path, error))?;
        }
        Ok(())
    }

    /// A line in the log, once for as long as it is so.
    fn tell(&mut self, vss: &Mutex<Vss>, now: Time64, text: &str) {
        if self.told.as_deref() != Some(text) {
            lock(vss).note(now, text);
            self.told = Some(text.to_owned());
        }
    }
}

impl Vss {
    /// Something that a verified message has shown, if misbehaviour is looked for.
    pub fn next_finding(&mut self) -> Option<Finding> {
        self.detector.as_mut()?.poll_finding()
    }

    /// A report of it, signed with the pseudonym in use; where this station was is what it last said itself.
    ///
    /// # Errors
    /// [`VssError::Sign`]: above all that the ticket does not permit reports.
    pub fn sign_report(&mut self, finding: &Finding, now: Time64) -> Result<Vec<u8>, VssError> {
        let report = finding.report(self.place.unwrap_or(NOWHERE), now).map_err(ServiceError::from)?;
        self.create_signature(now, Psid::MISBEHAVIOUR, &report, None)
    }

    fn count(&mut self, name: &'static str, kind: &'static str) {
        self.record.statistics.count(name, kind);
    }
}
