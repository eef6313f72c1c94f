//! Why a message was refused, in the words of events.

use chronoseal_core::DiscardReason;
use chronoseal_v2x::verify::ResultCode;

/// The reason of an event for a result code; `None` if nothing failed.
pub fn discard_reason(code: ResultCode) -> Option<DiscardReason> {
    Some(match code {
        ResultCode::Success => return None,
        ResultCode::SpduParsingInvalidInput => DiscardReason::Malformed,
        ResultCode::NotCanonical => DiscardReason::NotCanonical,
        ResultCode::UnsupportedAlgorithm | ResultCode::SpduParsingUnsupportedCriticalInformationField => {
            DiscardReason::UnsupportedAlgorithm
        }
        ResultCode::SpduRelevanceReplayedSpdu => DiscardReason::Replayed,
        ResultCode::SpduRelevanceGenerationTimeTooFarInPast => DiscardReason::GeneratedTooLongAgo,
        ResultCode::SpduRelevanceGenerationTimeTooFarInFuture => DiscardReason::GeneratedInFuture,
        ResultCode::SpduRelevanceExpiryTimeInPast => DiscardReason::MessageExpired,
        ResultCode::SpduRelevanceGenerationLocationTooDistant => DiscardReason::TooDistant,
        ResultCode::SpduParsingCertificateNotFound => DiscardReason::UnknownSigner,
        ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain => DiscardReason::IncompleteChain,
        ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot => DiscardReason::UntrustedRoot,
        ResultCode::SpduCertificateChainChainWasTooLongForImplementation
        | ResultCode::SpduCertificateChainInconsistentExpiryTimes
        | ResultCode::SpduCertificateChainInconsistentStartTimes
        | ResultCode::SpduCertificateChainInconsistentChainPermissions
        | ResultCode::InconsistentRegions
        | ResultCode::InvalidRegion
        | ResultCode::SpduLocalConsistencyChainWasTooLongForSdee => DiscardReason::InconsistentChain,
        ResultCode::SpduCertificateChainCertificateRevoked => DiscardReason::CertificateRevoked,
        ResultCode::SpduCertificateChainOverdueCrl => DiscardReason::RevocationListOverdue,
        ResultCode::SpduCertificateExpired
        | ResultCode::SpduConsistencyExpiredCertificateAtGenerationTime
        | ResultCode::SpduConsistencyExpiryDateTooLate => DiscardReason::CertificateExpired,
        ResultCode::SpduConsistencyFutureCertificateAtGenerationTime
        | ResultCode::SpduConsistencyExpiryDateTooEarly => DiscardReason::CertificateNotYetValid,
        ResultCode::SpduConsistencyGenerationLocationOutsideValidityRegion
        | ResultCode::SpduConsistencyNoGenerationLocation => DiscardReason::OutsideRegion,
        ResultCode::SpduConsistencyUnauthorizedPsid => DiscardReason::NotPermitted,
        ResultCode::SpduCryptoVerificationFailure => DiscardReason::SignatureMismatch,
        // Header against itself, its profile, or what its receiver expects.
        _ => DiscardReason::AgainstProfile,
    })
}
