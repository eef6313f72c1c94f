//! Result codes.

/// How a check failed: the result codes of `Sec-SignedDataVerification.confirm`, IEEE 1609.2 clause 9, and at the end six
/// that the standard has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ResultCode {
    /// Nothing failed.
    Success,
    /// The caller asked for what cannot be.
    InconsistentInputParameters,
    /// The bytes are no message.
    SpduParsingInvalidInput,
    /// A field that must be understood is not.
    SpduParsingUnsupportedCriticalInformationField,
    /// The signer's certificate is not known.
    SpduParsingCertificateNotFound,
    /// The time of generation was needed and is missing.
    SpduParsingGenerationTimeNotAvailable,
    /// The place of generation was needed and is missing.
    SpduParsingGenerationLocationNotAvailable,
    /// An issuer's certificate is not known.
    SpduCertificateChainNotEnoughInformationToConstructChain,
    /// The chain's end is trusted by nobody.
    SpduCertificateChainChainEndedAtUntrustedRoot,
    /// More certificates than are looked at.
    SpduCertificateChainChainWasTooLongForImplementation,
    /// A certificate of the chain was revoked.
    SpduCertificateChainCertificateRevoked,
    /// The newest revocation list is too old.
    SpduCertificateChainOverdueCrl,
    /// A certificate ends after its issuer's.
    SpduCertificateChainInconsistentExpiryTimes,
    /// A certificate begins before its issuer's.
    SpduCertificateChainInconsistentStartTimes,
    /// A certificate permits what its issuer may not pass on.
    SpduCertificateChainInconsistentChainPermissions,
    /// A signature is wrong.
    SpduCryptoVerificationFailure,
    /// Made before its certificate began.
    SpduConsistencyFutureCertificateAtGenerationTime,
    /// Made after its certificate ended.
    SpduConsistencyExpiredCertificateAtGenerationTime,
    /// Ends before its certificate begins.
    SpduConsistencyExpiryDateTooEarly,
    /// Ends after its certificate ends.
    SpduConsistencyExpiryDateTooLate,
    /// Made where its certificate is not valid.
    SpduConsistencyGenerationLocationOutsideValidityRegion,
    /// Its certificate is valid somewhere only, and nobody knows where it was made.
    SpduConsistencyNoGenerationLocation,
    /// Its certificate does not permit the application area, or what is done in it.
    SpduConsistencyUnauthorizedPsid,
    /// Ends before it was made.
    SpduInternalConsistencyExpiryTimeBeforeGenerationTime,
    /// The payload that came otherwise has another hash.
    SpduInternalConsistencyExtDataHashDoesntMatch,
    /// The payload was expected otherwise and its hash is missing from the caller.
    SpduInternalConsistencyNoExtDataHashProvided,
    /// The payload came otherwise and the message has no hash of it.
    SpduInternalConsistencyNoExtDataHashPresent,
    /// Not of the application area the caller expects.
    SpduLocalConsistencyPsidsDontMatch,
    /// A longer chain than the application area allows.
    SpduLocalConsistencyChainWasTooLongForSdee,
    /// Too old.
    SpduRelevanceGenerationTimeTooFarInPast,
    /// From too far in the future.
    SpduRelevanceGenerationTimeTooFarInFuture,
    /// Over.
    SpduRelevanceExpiryTimeInPast,
    /// From too far away.
    SpduRelevanceGenerationLocationTooDistant,
    /// Seen before.
    SpduRelevanceReplayedSpdu,
    /// Its certificate is over.
    SpduCertificateExpired,
    /// Understood, but not in the canonical encoding. Not of the standard.
    NotCanonical,
    /// The hash named is not that of the signer's curve. Not of the standard.
    HashDoesNotMatchKey,
    /// Against the profile of the application area in TS 103 097 clause 7. Not of the standard.
    AgainstProfile,
    /// A certificate is valid where its issuer's is not, against IEEE 1609.2 clause 6.4.17, which has no code for it.
    InconsistentRegions,
    /// A certificate's region is none: see [`crate::region::RegionFault`]. Not of the standard.
    InvalidRegion,
    /// Signed or hashed by SM2 or SM3, which are decoded here and not computed. Of the standard's codes it is
    /// `spduParsingUnsupportedCriticalInformationField`, which says less.
    UnsupportedAlgorithm,
}

impl ResultCode {
    /// Its name as written in trust and test reports: that of the standard, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::InconsistentInputParameters => "inconsistentInputParameters",
            Self::SpduParsingInvalidInput => "spduParsingInvalidInput",
            Self::SpduParsingUnsupportedCriticalInformationField => "spduParsingUnsupportedCriticalInformationField",
            Self::SpduParsingCertificateNotFound => "spduParsingCertificateNotFound",
            Self::SpduParsingGenerationTimeNotAvailable => "spduParsingGenerationTimeNotAvailable",
            Self::SpduParsingGenerationLocationNotAvailable => "spduParsingGenerationLocationNotAvailable",
            Self::SpduCertificateChainNotEnoughInformationToConstructChain => {
                "spduCertificateChainNotEnoughInformationToConstructChain"
            }
            Self::SpduCertificateChainChainEndedAtUntrustedRoot => "spduCertificateChainChainEndedAtUntrustedRoot",
            Self::SpduCertificateChainChainWasTooLongForImplementation => {
                "spduCertificateChainChainWasTooLongForImplementation"
            }
            Self::SpduCertificateChainCertificateRevoked => "spduCertificateChainCertificateRevoked",
            Self::SpduCertificateChainOverdueCrl => "spduCertificateChainOverdueCRL",
            Self::SpduCertificateChainInconsistentExpiryTimes => "spduCertificateChainInconsistentExpiryTimes",
            Self::SpduCertificateChainInconsistentStartTimes => "spduCertificateChainInconsistentStartTimes",
            Self::SpduCertificateChainInconsistentChainPermissions => {
                "spduCertificateChainInconsistentChainPermissions"
            }
            Self::SpduCryptoVerificationFailure => "spduCryptoVerificationFailure",
            Self::SpduConsistencyFutureCertificateAtGenerationTime => {
                "spduConsistencyFutureCertificateAtGenerationTime"
            }
            Self::SpduConsistencyExpiredCertificateAtGenerationTime => {
                "spduConsistencyExpiredCertificateAtGenerationTime"
            }
            Self::SpduConsistencyExpiryDateTooEarly => "spduConsistencyExpiryDateTooEarly",
            Self::SpduConsistencyExpiryDateTooLate => "spduConsistencyExpiryDateTooLate",
            Self::SpduConsistencyGenerationLocationOutsideValidityRegion => {
                "spduConsistencyGenerationLocationOutsideValidityRegion"
            }
            Self::SpduConsistencyNoGenerationLocation => "spduConsistencyNoGenerationLocation",
            Self::SpduConsistencyUnauthorizedPsid => "spduConsistencyUnauthorizedPSID",
            Self::SpduInternalConsistencyExpiryTimeBeforeGenerationTime => {
                "spduInternalConsistencyExpiryTimeBeforeGenerationTime"
            }
            Self::SpduInternalConsistencyExtDataHashDoesntMatch => "spduInternalConsistencyextDataHashDoesntMatch",
            Self::SpduInternalConsistencyNoExtDataHashProvided => "spduInternalConsistencynoExtDataHashProvided",
            Self::SpduInternalConsistencyNoExtDataHashPresent => "spduInternalConsistencynoExtDataHashPresent",
            Self::SpduLocalConsistencyPsidsDontMatch => "spduLocalConsistencyPSIDsDontMatch",
            Self::SpduLocalConsistencyChainWasTooLongForSdee => "spduLocalConsistencyChainWasTooLongForSDEE",
            Self::SpduRelevanceGenerationTimeTooFarInPast => "spduRelevanceGenerationTimeTooFarInPast",
            Self::SpduRelevanceGenerationTimeTooFarInFuture => "spduRelevanceGenerationTimeTooFarInFuture",
            Self::SpduRelevanceExpiryTimeInPast => "spduRelevanceExpiryTimeInPast",
            Self::SpduRelevanceGenerationLocationTooDistant => "spduRelevanceGenerationLocationTooDistant",
            Self::SpduRelevanceReplayedSpdu => "spduRelevanceReplayedSpdu",
            Self::SpduCertificateExpired => "spduCertificateExpired",
            Self::NotCanonical => "notCanonical",
            Self::HashDoesNotMatchKey => "hashDoesNotMatchKey",
            Self::AgainstProfile => "againstProfile",
            Self::InconsistentRegions => "inconsistentRegions",
            Self::InvalidRegion => "invalidRegion",
            Self::UnsupportedAlgorithm => "unsupportedAlgorithm",
        }
    }

    /// Whether the standard has this code.
    pub fn is_standard(self) -> bool {
        !matches!(
            self,
            Self::NotCanonical
                | Self::HashDoesNotMatchKey
                | Self::AgainstProfile
                | Self::InconsistentRegions
                | Self::InvalidRegion
                | Self::UnsupportedAlgorithm
        )
    }
}

impl core::fmt::Display for ResultCode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
