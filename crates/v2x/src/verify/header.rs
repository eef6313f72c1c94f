//! Checks that look at the message alone.

use super::ResultCode;
use super::check::{Outcome, SkipReason};
use super::config::{Context, Profile, PsidPolicy};
use super::progress::{PASSED, skipped};
use super::station::CertificateSummary;
use crate::region::distance_m;
use crate::types::{
    Certificate, HashAlgorithm, HeaderInfo, IssuerIdentifier, PublicVerificationKey, Signature, SignedData,
    SignerIdentifier, Time64, TwoDLocation, VerificationKeyIndicator,
};

/// Whether a message cannot be verified without SM2 or SM3.
pub(super) fn needs_unsupported(signed: &SignedData<'_>) -> bool {
    let is_sm2 = |signature: &Signature| matches!(signature, Signature::Sm2 { .. });
    let is_in = |certificate: &Certificate<'_>| {
        let tbs = &certificate.to_be_signed;
        certificate.signature.as_ref().is_some_and(is_sm2)
            || matches!(certificate.issuer, IssuerIdentifier::Sm3AndDigest(_))
            || matches!(
                tbs.verify_key_indicator,
                VerificationKeyIndicator::VerificationKey(PublicVerificationKey::EcsigSm2(_))
            )
    };
    signed.hash_id == HashAlgorithm::Sm3
        || is_sm2(&signed.signature)
        || matches!(&signed.signer, SignerIdentifier::Certificate(list) if list.iter().any(is_in))
}

/// Whether the header has what the profile asks for, and nothing it forbids; `has_certificate` if the signer's travels along.
pub(super) fn check_profile(
    profile: Profile,
    header: &HeaderInfo<'_>,
    has_certificate: bool,
) -> Result<(), ResultCode> {
    if profile == Profile::None {
        return Ok(());
    }
    // [ETSI TS 103 097 V2.1.1 §5.2] Never in a header.
    if header.p2pcd_learning_request.is_some() || header.missing_crl_identifier.is_some() {
        return Err(ResultCode::AgainstProfile);
    }
    match profile {
        // [ETSI TS 103 097 V2.1.1 §7.1.1]
        Profile::Cam if header.generation_location.is_some() || header.expiry_time.is_some() => {
            Err(ResultCode::AgainstProfile)
        }
        // [ETSI TS 103 097 V2.1.1 §7.1.2]
        Profile::Denm if header.generation_location.is_none() => {
            Err(ResultCode::SpduParsingGenerationLocationNotAvailable)
        }
        Profile::Denm if !has_certificate => Err(ResultCode::AgainstProfile),
        _ => Ok(()),
    }
}

pub(super) fn freshness(
    header: &HeaderInfo<'_>,
    policy: &PsidPolicy,
    now: Time64,
) -> Result<((), Outcome), ResultCode> {
    if header.expiry_time.is_some_and(|expiry| expiry < now) {
        return Err(ResultCode::SpduRelevanceExpiryTimeInPast);
    }
    if policy.past_max_us == 0 {
        return Ok(skipped(SkipReason::NotAskedFor));
    }
    let generation = header.generation_time.ok_or(ResultCode::SpduParsingGenerationTimeNotAvailable)?;
    if now.0.saturating_sub(generation.0) > policy.past_max_us {
        return Err(ResultCode::SpduRelevanceGenerationTimeTooFarInPast);
    }
    if generation.0.saturating_sub(now.0) > policy.future_max_us {
        return Err(ResultCode::SpduRelevanceGenerationTimeTooFarInFuture);
    }
    Ok(PASSED)
}

pub(super) fn distance(
    location: Option<TwoDLocation>,
    policy: &PsidPolicy,
    context: &Context<'_>,
) -> Result<((), Outcome), ResultCode> {
    if policy.distance_max_m == 0 {
        return Ok(skipped(SkipReason::NotAskedFor));
    }
    let (Some(location), Some(position)) = (location, context.position) else {
        return Ok(skipped(SkipReason::NoLocation));
    };
    if distance_m(location, position) > f64::from(policy.distance_max_m) {
        return Err(ResultCode::SpduRelevanceGenerationLocationTooDistant);
    }
    Ok(PASSED)
}

pub(super) fn validity_time(
    header: &HeaderInfo<'_>,
    summary: &CertificateSummary,
    now: Time64,
) -> Result<((), Outcome), ResultCode> {
    let generation = header.generation_time.unwrap_or(now);
    let validity = &summary.validity;
    if generation < validity.start.time64() {
        return Err(ResultCode::SpduConsistencyFutureCertificateAtGenerationTime);
    }
    if generation >= validity.end() {
        return Err(ResultCode::SpduConsistencyExpiredCertificateAtGenerationTime);
    }
    match header.expiry_time {
        Some(expiry) if expiry < validity.start.time64() => Err(ResultCode::SpduConsistencyExpiryDateTooEarly),
        Some(expiry) if expiry > validity.end() => Err(ResultCode::SpduConsistencyExpiryDateTooLate),
        _ => Ok(PASSED),
    }
}
