//! The way of a message through the checks.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::begun::{Begun, CERTIFICATES_MAX, JOBS_MAX};
use super::check::{CheckKind, NoStopwatch, Outcome, SkipReason, Stopwatch, Verdict};
use super::config::{Context, PsidPolicy, VerifierConfig};
use super::header::{check_profile, distance, freshness, needs_unsupported, validity_time};
use super::job::{JobKey, SignatureJob};
use super::progress::{PASSED, Progress, skipped};
use super::region::{fit, fit_new, regions, validity_region};
use super::station::{CertificateSummary, Neighbours, Station};
use super::trust::{certificate_job, check_link, check_link_between, explicit_key};
use super::{PeerDistribution, ReplayCache, ResultCode, TrustStore};
use crate::certificate::{CertificateError, CertificateHash, implicit_public_key};
use crate::coer::{Decode, DecodeErrorKind, Reader};
use crate::crypto::{EcdsaSignature, KeyError, VerifyingKey, hash};
use crate::message::message_digest;
use crate::region::Containment;
use crate::types::{
    Certificate, CertificateType, HashAlgorithm, HashedData, HashedId8, Ieee1609Dot2Data, SignedData, SignerIdentifier,
    Time64, TwoDLocation,
};

/// Verifies messages.
///
/// ```
/// # use chronoseal_v2x::certificate::{Issuer, issue};
/// # use chronoseal_v2x::crypto::{Curve, SoftwareKey};
/// # use chronoseal_v2x::types::*;
/// # use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
/// use chronoseal_v2x::verify::{Context, NoStopwatch, ResultCode, Verifier, VerifierConfig};
///
/// let mut verifier = Verifier::new(VerifierConfig::default());
/// # let mut key = SoftwareKey::generate(Curve::NistP256, &mut ChaCha20Rng::seed_from_u64(1));
/// # let validity = ValidityPeriod { start: Time32(0), duration: Duration::Years(30) };
/// # let public = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
/// # let tbs = ToBeSignedCertificate::new(CertificateId::None, validity, public);
/// # let root = issue(tbs, Issuer::SelfSigned, &mut key)?;
/// verifier.trust_mut().insert_root(&root.view())?;
///
/// let now = Time64::from_unix_us(1_795_000_000_000_000);
/// let (verdict, _message) = verifier.verify(b"no message", &Context::at(now), &mut NoStopwatch);
/// assert_eq!(verdict.result(), ResultCode::SpduParsingInvalidInput);
/// assert_eq!(verdict.to_string(), "refused by encoding: spduParsingInvalidInput");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    pub(super) config: VerifierConfig,
    /// A hash of `config`, for comparison within one process.
    pub(super) config_print: u64,
    pub(super) trust: TrustStore,
    pub(super) neighbours: Neighbours,
    pub(super) replays: ReplayCache,
    pub(super) peers: PeerDistribution,
    /// The certificate that was found missing last.
    pub(super) last_unknown: Option<HashedId8>,
}

/// Whoever signed, as far as it is known.
enum Signer {
    /// Verified before.
    Known(Arc<Station>),
    /// Came along, and is below an authority that is known; the first is the signer's.
    New(Vec<CertificateSummary>),
}

impl Signer {
    fn summary(&self) -> Option<&CertificateSummary> {
        match self {
            Self::Known(station) => Some(&station.summary),
            Self::New(list) => list.first(),
        }
    }

    /// Its certificates below the authority that is known, the signer's first.
    fn new_or_known(&self) -> &[CertificateSummary] {
        match self {
            Self::Known(station) => core::slice::from_ref(&station.summary),
            Self::New(list) => list,
        }
    }

    /// Whose chain is asked for: the highest one's issuer, or itself if it is a root.
    fn authority(&self) -> Option<HashedId8> {
        let highest = match self {
            Self::Known(station) => &station.summary,
            Self::New(list) => list.last()?,
        };
        Some(highest.issuer.unwrap_or_else(|| highest.id()))
    }
}

impl Verifier {
    /// With nothing trusted and nothing known.
    pub fn new(config: VerifierConfig) -> Self {
        // Whatever any policy lets pass has to be remembered for that long.
        let windows = config.policies.values().chain(&config.other).filter(|policy| policy.is_replay_refused);
        let window_us = windows.map(|policy| policy.past_max_us + policy.future_max_us).max().unwrap_or(0);
        Self {
            trust: TrustStore::new(config.certificate_form),
            neighbours: Neighbours::new(config.neighbours_max),
            replays: match config.are_replays_reserved {
                true => ReplayCache::new(config.replays_max, window_us),
                false => ReplayCache::growing(config.replays_max, window_us),
            },
            peers: PeerDistribution::default(),
            last_unknown: None,
            config_print: print_of(&config),
            config,
        }
    }

    /// How it is set up.
    pub fn config(&self) -> &VerifierConfig {
        &self.config
    }

    /// Whom it trusts.
    pub fn trust(&self) -> &TrustStore {
        &self.trust
    }

    /// Whom it trusts, to be changed.
    pub fn trust_mut(&mut self) -> &mut TrustStore {
        &mut self.trust
    }

    /// Whose certificates it has verified.
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Whose certificates it has verified, to forget some.
    pub fn neighbours_mut(&mut self) -> &mut Neighbours {
        &mut self.neighbours
    }

    /// The messages it has seen.
    pub fn replays(&self) -> &ReplayCache {
        &self.replays
    }

    /// Which certificates are asked for, here and by others.
    pub fn peers_mut(&mut self) -> &mut PeerDistribution {
        &mut self.peers
    }

    /// Verifies a message: all checks, here and now.
    pub fn verify<'a>(
        &mut self,
        bytes: &'a [u8],
        context: &Context<'_>,
        stopwatch: &mut impl Stopwatch,
    ) -> (Verdict, Option<Ieee1609Dot2Data<'a>>) {
        let mut begun = self.begin(bytes, context, stopwatch);
        let mut results = [false; JOBS_MAX];
        let start_ns = stopwatch.now_ns();
        for (job, result) in begun.jobs_mut().zip(&mut results) {
            if let Ok(key) = job.key.ready() {
                job.key = JobKey::Ready(key);
                *result = job.verify();
            }
            if !*result {
                break;
            }
        }
        let took_ns = stopwatch.now_ns().saturating_sub(start_ns);
        let count = begun.jobs().count();
        self.finish(begun, &results[..count], took_ns)
    }

    /// All checks but signatures. Those are in [`Begun::jobs`]; with the answers, [`Verifier::finish`] ends it.
    pub fn begin<'a>(&mut self, bytes: &'a [u8], context: &Context<'_>, stopwatch: &mut impl Stopwatch) -> Begun<'a> {
        self.begin_into(Begun::new(context.now), bytes, context, stopwatch)
    }

    /// As [`Verifier::begin`], with what is asked of the verification in `begun`.
    pub(super) fn begin_into<'a>(
        &mut self,
        mut begun: Begun<'a>,
        bytes: &'a [u8],
        context: &Context<'_>,
        stopwatch: &mut impl Stopwatch,
    ) -> Begun<'a> {
        let mut progress = Progress { verdict: Verdict::new(), stopwatch };
        let message = progress.check(CheckKind::Encoding, |verdict| self.decode(bytes, verdict));
        if let Some(signed) = message.as_ref().and_then(Ieee1609Dot2Data::signed_data)
            && self.examine(signed, context, &mut progress, &mut begun).is_none()
        {
            begun.forget_jobs();
        }
        begun.message = message;
        begun.verdict = progress.verdict;
        begun
    }

    fn decode<'a>(
        &self,
        bytes: &'a [u8],
        verdict: &mut Verdict,
    ) -> Result<(Ieee1609Dot2Data<'a>, Outcome), ResultCode> {
        if bytes.len() > self.config.message_len_max {
            return Err(ResultCode::SpduParsingInvalidInput);
        }
        let mut reader = Reader::new(bytes, self.config.rules);
        let decoded = Ieee1609Dot2Data::decode(&mut reader).and_then(|message| reader.finish().map(|()| message));
        let message = decoded.map_err(|error| match error.kind {
            DecodeErrorKind::NotCanonical(_) => ResultCode::NotCanonical,
            _ => ResultCode::SpduParsingInvalidInput,
        })?;
        verdict.deviation_count = u16::try_from(reader.deviations().len()).unwrap_or(u16::MAX);
        let Some(signed) = message.signed_data() else { return Err(ResultCode::SpduParsingInvalidInput) };
        verdict.psid = Some(signed.tbs_data.header_info.psid);
        if needs_unsupported(signed) {
            return Err(ResultCode::UnsupportedAlgorithm);
        }
        match &signed.signer {
            SignerIdentifier::Digest(id) => verdict.signer = Some(*id),
            SignerIdentifier::Unknown(_) => return Err(ResultCode::SpduParsingUnsupportedCriticalInformationField),
            SignerIdentifier::Certificate(_) | SignerIdentifier::SelfSigned => {}
        }
        Ok((message, Outcome::Passed))
    }

    fn examine<S: Stopwatch>(
        &mut self,
        signed: &SignedData<'_>,
        context: &Context<'_>,
        progress: &mut Progress<'_, S>,
        begun: &mut Begun<'_>,
    ) -> Option<()> {
        let header = &signed.tbs_data.header_info;
        let policy = progress.check(CheckKind::Consistency, |_| self.consistency(signed, context))?;
        progress.check(CheckKind::Freshness, |_| freshness(header, &policy, context.now))?;
        let location = header.generation_location.map(|place| place.two_d()).filter(TwoDLocation::is_known);
        let location = location.or(context.payload_location);
        progress.check(CheckKind::Distance, |_| distance(location, &policy, context))?;

        let mut signer = progress.check(CheckKind::Signer, |verdict| self.signer(signed, context.now, verdict))?;
        let fit = progress.check(CheckKind::Chain, |_| self.chain(signed, &mut signer, context, begun))?;
        let summary = signer.summary()?;
        progress.check(CheckKind::Revocation, |_| self.revocation(&signer, context.now))?;
        progress.check(CheckKind::ValidityTime, |_| validity_time(header, summary, context.now))?;
        progress.check(CheckKind::ValidityRegion, |_| {
            let chain = signer.authority().and_then(|authority| self.trust.chain(authority).ok());
            let regions = regions(signer.new_or_known(), chain);
            validity_region(regions, fit, location, (&policy, &self.config), context)
        })?;
        progress.check(CheckKind::Permissions, |_| {
            if summary.permits(header.psid, context.ssp_needed) {
                Ok(PASSED)
            } else {
                Err(ResultCode::SpduConsistencyUnauthorizedPsid)
            }
        })?;
        let digest = progress.check(CheckKind::Replay, |_| {
            let omitted = context.external_payload.filter(|_| signed.tbs_data.payload.omitted);
            let tbs = signed.tbs_data.received.0;
            let digest = message_digest(signed.hash_id, tbs, omitted, Some(&summary.hash.value))
                .map_err(|_| ResultCode::SpduParsingUnsupportedCriticalInformationField)?;
            if !policy.is_replay_refused {
                return Ok((digest, Outcome::Skipped(SkipReason::NotAskedFor)));
            }
            if begun.is_replay_left {
                return Ok((digest, Outcome::Skipped(SkipReason::Postponed)));
            }
            if self.replays.contains(digest.as_bytes()) {
                return Err(ResultCode::SpduRelevanceReplayedSpdu);
            }
            Ok((digest, Outcome::Passed))
        })?;
        progress.check(CheckKind::Signature, |_| {
            let signature = EcdsaSignature::from_signature(&signed.signature)
                .map_err(|_| ResultCode::SpduParsingUnsupportedCriticalInformationField)?;
            let key = match &signer {
                // Its certificate was accepted with an earlier message: this is the second at least.
                Signer::Known(station) => {
                    if self.config.are_signer_tables_kept {
                        station.key.remember();
                    }
                    JobKey::Ready(Arc::clone(&station.key))
                }
                Signer::New(_) => begun.new_key.take().ok_or(ResultCode::InconsistentInputParameters)?,
            };
            begun.push(SignatureJob { key, digest, signature, certificate: None });
            Ok(skipped::<()>(SkipReason::Postponed))
        })?;
        begun.digest = Some(digest);
        begun.is_replay_refused = policy.is_replay_refused;
        if let Signer::New(list) = signer {
            begun.new = list;
        }
        Some(())
    }

    fn consistency(&self, signed: &SignedData<'_>, context: &Context<'_>) -> Result<(PsidPolicy, Outcome), ResultCode> {
        let header = &signed.tbs_data.header_info;
        if context.psid.is_some_and(|psid| psid != header.psid) {
            return Err(ResultCode::SpduLocalConsistencyPsidsDontMatch);
        }
        let policy = self.config.policy(header.psid).ok_or(ResultCode::AgainstProfile)?;
        if let (Some(generation), Some(expiry)) = (header.generation_time, header.expiry_time)
            && generation >= expiry
        {
            return Err(ResultCode::SpduInternalConsistencyExpiryTimeBeforeGenerationTime);
        }
        let payload = &signed.tbs_data.payload;
        match (payload.ext_data_hash, context.external_payload) {
            (None, None) if payload.omitted => return Err(ResultCode::SpduInternalConsistencyNoExtDataHashProvided),
            (None, None) => {}
            (None, Some(_)) if payload.omitted => {}
            (None, Some(_)) => return Err(ResultCode::SpduInternalConsistencyNoExtDataHashPresent),
            (Some(_), None) => return Err(ResultCode::SpduInternalConsistencyNoExtDataHashProvided),
            (Some(expected), Some(external)) => {
                let (algorithm, expected) = match &expected {
                    HashedData::Sha256(hash) => (HashAlgorithm::Sha256, &hash.0[..]),
                    HashedData::Sha384(hash) => (HashAlgorithm::Sha384, &hash.0[..]),
                    HashedData::Sm3(_) => return Err(ResultCode::UnsupportedAlgorithm),
                };
                let found = hash(algorithm, &[external])
                    .map_err(|_| ResultCode::SpduParsingUnsupportedCriticalInformationField)?;
                if found.as_bytes() != expected {
                    return Err(ResultCode::SpduInternalConsistencyExtDataHashDoesntMatch);
                }
            }
        }
        let has_certificate = matches!(signed.signer, SignerIdentifier::Certificate(_));
        check_profile(policy.profile, header, has_certificate)?;
        Ok((*policy, Outcome::Passed))
    }

    fn signer(
        &mut self,
        signed: &SignedData<'_>,
        now: Time64,
        verdict: &mut Verdict,
    ) -> Result<(Signer, Outcome), ResultCode> {
        let signer = match &signed.signer {
            SignerIdentifier::Digest(id) => match self.look_up(*id) {
                Some(station) => Signer::Known(station),
                None => {
                    self.note_unknown(*id, now);
                    return Err(ResultCode::SpduParsingCertificateNotFound);
                }
            },
            SignerIdentifier::Certificate(list) => {
                let signer = self.new_signer(list)?;
                verdict.signer = signer.summary().map(CertificateSummary::id);
                signer
            }
            SignerIdentifier::SelfSigned | SignerIdentifier::Unknown(_) => {
                return Err(ResultCode::SpduParsingCertificateNotFound);
            }
        };
        // [IEEE 1609.2-2022 §6.3.4] The hash is that of the signer's curve.
        if signer.summary().is_some_and(|summary| summary.hash.algorithm != signed.hash_id) {
            return Err(ResultCode::HashDoesNotMatchKey);
        }
        Ok((signer, Outcome::Passed))
    }

    fn note_unknown(&mut self, id: HashedId8, now: Time64) {
        self.last_unknown = Some(id);
        self.peers.note_unknown(id, now);
    }

    fn look_up(&mut self, id: HashedId8) -> Option<Arc<Station>> {
        let known = self.neighbours.look_up(id);
        known.or_else(|| self.trust.authority(id).map(|record| Arc::new(record.station.clone())))
    }

    /// Certificates that came along, up to the first that is known.
    fn new_signer(&mut self, list: &[Certificate<'_>]) -> Result<Signer, ResultCode> {
        if list.len() > CERTIFICATES_MAX {
            return Err(ResultCode::SpduCertificateChainChainWasTooLongForImplementation);
        }
        let mut new: Vec<CertificateSummary> = Vec::new();
        for certificate in list {
            let summary = CertificateSummary::new(certificate, self.config.certificate_form).map_err(refusal)?;
            let is_next = new.last().is_none_or(|below| below.issuer == Some(summary.id()));
            if !is_next {
                return Err(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain);
            }
            if new.is_empty()
                && let Some(station) = self.neighbours.look_up(summary.id())
                && station.summary.hash == summary.hash
            {
                return Ok(Signer::Known(station));
            }
            if let Some(known) = self.trust.authority(summary.id()).filter(|known| *known.hash() == summary.hash) {
                if new.is_empty() {
                    return Ok(Signer::Known(Arc::new(known.station.clone())));
                }
                break;
            }
            new.push(summary);
        }
        Ok(Signer::New(new))
    }

    /// The chain above, and how new certificates fit into it; leaves their signatures to be verified. Gives back whether
    /// each region lies in the next.
    fn chain(
        &mut self,
        signed: &SignedData<'_>,
        signer: &mut Signer,
        context: &Context<'_>,
        begun: &mut Begun<'_>,
    ) -> Result<(Containment, Outcome), ResultCode> {
        let now = context.now;
        let Some(authority) = signer.authority() else {
            return Err(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain);
        };
        let chain = match self.trust.chain(authority) {
            Ok(chain) => chain,
            Err(code) => {
                let is_untrusted =
                    matches!(signer, Signer::New(list) if list.last().is_some_and(|last| last.issuer.is_none()));
                if is_untrusted {
                    return Err(ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot);
                }
                if code == ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain {
                    self.note_unknown(authority, now);
                }
                return Err(code);
            }
        };
        begun.chain_until = Some(chain.until);
        if now >= chain.until {
            return Err(ResultCode::SpduCertificateExpired);
        }
        if let (Signer::New(new), SignerIdentifier::Certificate(list)) = (&mut *signer, &signed.signer) {
            self.new_chain(&list[..new.len()], new, begun)?;
            fit_new(new, chain);
        }
        match fit(signer.new_or_known(), chain, context.geography) {
            Containment::Outside => Err(ResultCode::InconsistentRegions),
            fit => Ok((fit, Outcome::Passed)),
        }
    }

    /// Links new certificates, from the known authority down.
    fn new_chain(
        &self,
        certificates: &[Certificate<'_>],
        summaries: &[CertificateSummary],
        begun: &mut Begun<'_>,
    ) -> Result<(), ResultCode> {
        for (at, certificate) in certificates.iter().enumerate().rev() {
            let (hash, key): (&CertificateHash, JobKey) = match (certificates.get(at + 1), summaries.get(at + 1)) {
                (Some(issuer), Some(summary)) => {
                    check_link_between(issuer, certificate)?;
                    (&summary.hash, JobKey::New(explicit_key(issuer).map_err(refusal)?))
                }
                _ => {
                    let issuer = self.trust.issuer_of(certificate)?;
                    check_link(issuer, certificate)?;
                    // Whoever is trusted to certify has certified many.
                    issuer.key().remember();
                    (issuer.hash(), JobKey::Ready(Arc::clone(issuer.key())))
                }
            };
            if certificate.r#type == CertificateType::Implicit {
                // Reconstructed at once, which takes a key that is known to be right: the issuer's must not be new too.
                let JobKey::Ready(issuer_key) = key else {
                    return Err(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain);
                };
                if at > 0 {
                    return Err(ResultCode::SpduParsingUnsupportedCriticalInformationField);
                }
                let point = implicit_public_key(certificate, hash, issuer_key.point()).map_err(refusal)?;
                begun.new_key = Some(JobKey::Ready(Arc::new(VerifyingKey::new(point))));
                continue;
            }
            let mut job = certificate_job(certificate, Some(hash), key).map_err(refusal)?;
            job.certificate = Some(summaries[at].id());
            begun.push(job);
            if at == 0 {
                begun.new_key = Some(JobKey::New(explicit_key(certificate).map_err(refusal)?));
            }
        }
        Ok(())
    }

    fn revocation(&self, signer: &Signer, now: Time64) -> Result<((), Outcome), ResultCode> {
        let Some(Ok(chain)) = signer.authority().map(|authority| self.trust.chain(authority)) else {
            return Err(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain);
        };
        if signer.new_or_known().iter().any(|summary| self.trust.is_revoked_below(chain, summary)) {
            return Err(ResultCode::SpduCertificateChainCertificateRevoked);
        }
        if self.config.is_overdue_crl_refused && self.trust.is_crl_overdue(chain.root, now) {
            return Err(ResultCode::SpduCertificateChainOverdueCrl);
        }
        // That nobody said who is revoked does not mean that nobody is.
        if self.trust.has_revocation_list(chain.root) { Ok(PASSED) } else { Ok(skipped(SkipReason::NoList)) }
    }

    /// As [`Verifier::verify`] without taking times.
    pub fn verify_untimed<'a>(
        &mut self,
        bytes: &'a [u8],
        context: &Context<'_>,
    ) -> (Verdict, Option<Ieee1609Dot2Data<'a>>) {
        self.verify(bytes, context, &mut NoStopwatch)
    }
}

fn print_of(config: &VerifierConfig) -> u64 {
    let mut hasher = DefaultHasher::new();
    config.hash(&mut hasher);
    hasher.finish()
}

/// What is wrong with a certificate, as a code.
fn refusal(error: CertificateError) -> ResultCode {
    match error {
        CertificateError::NotCanonical => ResultCode::NotCanonical,
        CertificateError::Key(KeyError::Unsupported(_)) => ResultCode::UnsupportedAlgorithm,
        CertificateError::WrongIssuer => ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain,
        _ => ResultCode::SpduParsingUnsupportedCriticalInformationField,
    }
}
