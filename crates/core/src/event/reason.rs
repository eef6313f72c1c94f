//! Why frames are thrown away, and why key exchanges are given up.

/// Why a frame was thrown away.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum DiscardReason {
    /// Shorter than its headers, freshness value and tag.
    TooShort,
    /// Longer than its stream or the medium allows.
    TooLong,
    /// Its headers contradict themselves or its length.
    Malformed,
    /// No stream of this receiver has its address.
    UnknownStream,
    /// It came in at a port its stream does not use.
    WrongPort,
    /// It came outside its scheduled window.
    OutsideWindow,
    /// A frame of its stream was already taken in this window.
    DuplicateInWindow,
    /// A protocol control frame from a port without a synchronisation master.
    NotSyncMaster,
    /// The tag does not fit key, stream, payload and freshness value.
    TagMismatch,
    /// Its freshness value, or the message itself, was accepted before.
    Replayed,
    /// Its freshness value lies before the replay window.
    FreshnessTooOld,
    /// Its freshness value lies further ahead than the receiver follows.
    FreshnessTooFarAhead,
    /// The receiver's clock is not synchronised, so neither window nor freshness can be judged.
    NotSynchronised,
    /// An egress queue was full.
    QueueFull,
    /// The sender's controller is off its bus and stays off.
    BusOff,
    /// The sender gave up after as many attempts as it may make.
    AttemptsExhausted,
    /// The bus does not carry frames of this format.
    UnsupportedFormat,
    /// It is protected under a group key, and this receiver has none yet.
    NoKey,
    /// It is not signed, and only signed messages are taken.
    Unsecured,
    /// It is secured, and this receiver has nothing to check it with.
    NotExpectedSecured,
    /// Its encoding can be understood and is not the canonical one.
    NotCanonical,
    /// Its security header is not what the profile of its application asks for, or contradicts itself.
    AgainstProfile,
    /// It names an algorithm that this receiver does not compute.
    UnsupportedAlgorithm,
    /// It was made longer ago than its application allows.
    GeneratedTooLongAgo,
    /// It says to have been made later than now, by more than clocks may differ.
    GeneratedInFuture,
    /// The time it is good for is over.
    MessageExpired,
    /// It was made farther away than its application allows.
    TooDistant,
    /// It is signed under a certificate that this receiver has not seen yet.
    UnknownSigner,
    /// A certificate between its signer's and a root is not known.
    IncompleteChain,
    /// The chain of its certificates ends at a root nobody here trusts.
    UntrustedRoot,
    /// A certificate of its chain allows more, or lasts longer, than the one above it.
    InconsistentChain,
    /// A certificate of its chain was revoked.
    CertificateRevoked,
    /// The list of revoked certificates is older than it may be.
    RevocationListOverdue,
    /// Its certificate, or one above it, is over.
    CertificateExpired,
    /// Its certificate was not valid yet when the message was made.
    CertificateNotYetValid,
    /// It was made where its certificate is not valid, or nobody knows where.
    OutsideRegion,
    /// Its certificate does not permit the application, or what the message does in it.
    NotPermitted,
    /// Its signature, or that of a certificate that came along, does not fit.
    SignatureMismatch,
    /// It waited for the receiver's processor longer than it is of use.
    WaitedTooLong,
    /// A newer one of its stream came before it could go on.
    Superseded,
    /// A protocol control frame that was on its way for longer than the cluster's largest transmission delay.
    TransmissionDelayExceeded,
    /// N_UNEXP_PDU: another message of its stream began before all of its frames had come.
    Interrupted,
    /// N_WRONG_SN: of its frames one was lost, doubled or out of order.
    WrongSequence,
    /// N_TIMEOUT_Cr: one of its frames did not come in time.
    FrameMissing,
    /// The buffer between the network interface and the application of its receiver had no room for it.
    HostBufferFull,
    /// Policing: more came on its virtual link than its bandwidth allocation gap and jitter allow (ARINC 664 part 7).
    Policed,
    /// Shorter than its virtual link allows (Lmin, ARINC 664 part 7).
    BelowLmin,
    /// The integrity check of its virtual link: its sequence number is not one of those that may follow (ARINC 664 part 7).
    OutOfSequence,
    /// It was not over its link when this failed.
    LinkDown,
    /// Another copy of it came first over a redundant way; `value` is how much later this one came `[ps]`. It is no loss.
    CopyEliminated,
    /// Longer than its stream filter lets through (Maximum SDU Size, IEEE 802.1Q-2018 §8.6.5.1.1).
    MaxSduExceeded,
    /// Its stream filter is blocked since an oversize frame came (StreamBlockedDueToOversizeFrame, IEEE 802.1Q-2018 §8.6.5.1.1).
    StreamBlocked,
    /// Its stream gate was closed at the time (IEEE 802.1Q-2018 §8.6.5.1.2).
    StreamGateClosed,
    /// Its stream gate stays closed since a frame came while it was closed (GateClosedDueToInvalidRx, IEEE 802.1Q-2018 §8.6.5.1.2).
    GateClosedDueToInvalidRx,
    /// More than its stream gate lets through in one interval (IntervalOctetMax, IEEE 802.1Q-2018 §8.6.5.1.2).
    IntervalOctetsExceeded,
    /// Its stream gate stays closed since too much came in one interval (GateClosedDueToOctetsExceeded, IEEE 802.1Q-2018 §8.6.5.1.2).
    GateClosedDueToOctetsExceeded,
    /// Its flow meter marked it yellow, and drops what is yellow (DropOnYellow, IEEE 802.1Q-2018 §8.6.5.1.3).
    MeteredYellow,
    /// Its flow meter marked it red: more than committed and excess burst hold (IEEE 802.1Q-2018 §8.6.5.1.3).
    MeteredRed,
    /// Its flow meter marks all frames red since one was (MarkAllFramesRed, IEEE 802.1Q-2018 §8.6.5.1.3).
    AllFramesMarkedRed,
    /// It has no SecTAG, and its port takes only frames that MACsec protects (IEEE 802.1AE-2018 §10.6).
    Untagged,
    /// Its frame check sequence did not fit: bits of it were changed by noise on its link (FrameCheckError, IEEE 802.3-2018 §4.3.2).
    FrameCheckError,
    /// The node that held it, or that it came to, started anew.
    Restarted,
    /// It was lost on the way over a lossy link.
    LostOnLink,
    /// Bits of it were changed on its way: the checksum that its sender put into it does not fit.
    ChecksumMismatch,
}

/// Which mechanism stopped a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StoppedBy {
    /// The shape of the frame alone.
    Format,
    /// The schedule table: address, port, window.
    Schedule,
    /// The authentication tag, or signature and certificate.
    Tag,
    /// The freshness value.
    Freshness,
    /// A limit of the medium.
    Capacity,
}

impl DiscardReason {
    /// Every reason, in the order reports show them.
    pub const ALL: [Self; 64] = [
        Self::TooShort,
        Self::TooLong,
        Self::Malformed,
        Self::UnknownStream,
        Self::WrongPort,
        Self::OutsideWindow,
        Self::DuplicateInWindow,
        Self::NotSyncMaster,
        Self::TagMismatch,
        Self::Replayed,
        Self::FreshnessTooOld,
        Self::FreshnessTooFarAhead,
        Self::NotSynchronised,
        Self::QueueFull,
        Self::BusOff,
        Self::AttemptsExhausted,
        Self::UnsupportedFormat,
        Self::NoKey,
        Self::Unsecured,
        Self::NotExpectedSecured,
        Self::NotCanonical,
        Self::AgainstProfile,
        Self::UnsupportedAlgorithm,
        Self::GeneratedTooLongAgo,
        Self::GeneratedInFuture,
        Self::MessageExpired,
        Self::TooDistant,
        Self::UnknownSigner,
        Self::IncompleteChain,
        Self::UntrustedRoot,
        Self::InconsistentChain,
        Self::CertificateRevoked,
        Self::RevocationListOverdue,
        Self::CertificateExpired,
        Self::CertificateNotYetValid,
        Self::OutsideRegion,
        Self::NotPermitted,
        Self::SignatureMismatch,
        Self::WaitedTooLong,
        Self::Superseded,
        Self::TransmissionDelayExceeded,
        Self::Interrupted,
        Self::WrongSequence,
        Self::FrameMissing,
        Self::HostBufferFull,
        Self::Policed,
        Self::BelowLmin,
        Self::OutOfSequence,
        Self::LinkDown,
        Self::CopyEliminated,
        Self::MaxSduExceeded,
        Self::StreamBlocked,
        Self::StreamGateClosed,
        Self::GateClosedDueToInvalidRx,
        Self::IntervalOctetsExceeded,
        Self::GateClosedDueToOctetsExceeded,
        Self::MeteredYellow,
        Self::MeteredRed,
        Self::AllFramesMarkedRed,
        Self::Untagged,
        Self::FrameCheckError,
        Self::Restarted,
        Self::LostOnLink,
        Self::ChecksumMismatch,
    ];

    /// The mechanism this reason belongs to.
    pub const fn stopped_by(self) -> StoppedBy {
        match self {
            Self::TooShort
            | Self::TooLong
            | Self::Malformed
            | Self::UnsupportedFormat
            | Self::NotExpectedSecured
            | Self::NotCanonical
            | Self::AgainstProfile
            | Self::UnsupportedAlgorithm
            | Self::TooDistant
            | Self::Interrupted
            | Self::WrongSequence
            | Self::FrameMissing
            | Self::BelowLmin
            | Self::MaxSduExceeded
            | Self::StreamBlocked
            | Self::FrameCheckError
            | Self::ChecksumMismatch => StoppedBy::Format,
            Self::UnknownStream
            | Self::WrongPort
            | Self::OutsideWindow
            | Self::DuplicateInWindow
            | Self::NotSyncMaster
            | Self::NotSynchronised
            | Self::TransmissionDelayExceeded
            | Self::StreamGateClosed
            | Self::GateClosedDueToInvalidRx => StoppedBy::Schedule,
            Self::TagMismatch
            | Self::NoKey
            | Self::Unsecured
            | Self::Untagged
            | Self::UnknownSigner
            | Self::IncompleteChain
            | Self::UntrustedRoot
            | Self::InconsistentChain
            | Self::CertificateRevoked
            | Self::RevocationListOverdue
            | Self::CertificateExpired
            | Self::CertificateNotYetValid
            | Self::OutsideRegion
            | Self::NotPermitted
            | Self::SignatureMismatch => StoppedBy::Tag,
            Self::Replayed
            | Self::FreshnessTooOld
            | Self::FreshnessTooFarAhead
            | Self::OutOfSequence
            | Self::CopyEliminated
            | Self::GeneratedTooLongAgo
            | Self::GeneratedInFuture
            | Self::MessageExpired => StoppedBy::Freshness,
            Self::QueueFull
            | Self::BusOff
            | Self::AttemptsExhausted
            | Self::WaitedTooLong
            | Self::Superseded
            | Self::HostBufferFull
            | Self::Policed
            | Self::LinkDown
            | Self::IntervalOctetsExceeded
            | Self::GateClosedDueToOctetsExceeded
            | Self::MeteredYellow
            | Self::MeteredRed
            | Self::AllFramesMarkedRed
            | Self::Restarted
            | Self::LostOnLink => StoppedBy::Capacity,
        }
    }

    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too-short",
            Self::TooLong => "too-long",
            Self::Malformed => "malformed",
            Self::UnknownStream => "unknown-stream",
            Self::WrongPort => "wrong-port",
            Self::OutsideWindow => "outside-window",
            Self::DuplicateInWindow => "duplicate-in-window",
            Self::NotSyncMaster => "not-sync-master",
            Self::TagMismatch => "tag-mismatch",
            Self::Replayed => "replayed",
            Self::FreshnessTooOld => "freshness-too-old",
            Self::FreshnessTooFarAhead => "freshness-too-far-ahead",
            Self::NotSynchronised => "not-synchronised",
            Self::QueueFull => "queue-full",
            Self::BusOff => "bus-off",
            Self::AttemptsExhausted => "attempts-exhausted",
            Self::UnsupportedFormat => "unsupported-format",
            Self::NoKey => "no-key",
            Self::Unsecured => "unsecured",
            Self::NotExpectedSecured => "not-expected-secured",
            Self::NotCanonical => "not-canonical",
            Self::AgainstProfile => "against-profile",
            Self::UnsupportedAlgorithm => "unsupported-algorithm",
            Self::GeneratedTooLongAgo => "generated-too-long-ago",
            Self::GeneratedInFuture => "generated-in-future",
            Self::MessageExpired => "message-expired",
            Self::TooDistant => "too-distant",
            Self::UnknownSigner => "unknown-signer",
            Self::IncompleteChain => "incomplete-chain",
            Self::UntrustedRoot => "untrusted-root",
            Self::InconsistentChain => "inconsistent-chain",
            Self::CertificateRevoked => "certificate-revoked",
            Self::RevocationListOverdue => "revocation-list-overdue",
            Self::CertificateExpired => "certificate-expired",
            Self::CertificateNotYetValid => "certificate-not-yet-valid",
            Self::OutsideRegion => "outside-region",
            Self::NotPermitted => "not-permitted",
            Self::SignatureMismatch => "signature-mismatch",
            Self::WaitedTooLong => "waited-too-long",
            Self::Superseded => "superseded",
            Self::TransmissionDelayExceeded => "transmission-delay-exceeded",
            Self::Interrupted => "interrupted",
            Self::WrongSequence => "wrong-sequence",
            Self::FrameMissing => "frame-missing",
            Self::HostBufferFull => "host-buffer-full",
            Self::Policed => "policed",
            Self::BelowLmin => "below-lmin",
            Self::OutOfSequence => "out-of-sequence",
            Self::LinkDown => "link-down",
            Self::CopyEliminated => "copy-eliminated",
            Self::MaxSduExceeded => "max-sdu-exceeded",
            Self::StreamBlocked => "stream-blocked",
            Self::StreamGateClosed => "stream-gate-closed",
            Self::GateClosedDueToInvalidRx => "gate-closed-due-to-invalid-rx",
            Self::IntervalOctetsExceeded => "interval-octets-exceeded",
            Self::GateClosedDueToOctetsExceeded => "gate-closed-due-to-octets-exceeded",
            Self::MeteredYellow => "metered-yellow",
            Self::MeteredRed => "metered-red",
            Self::AllFramesMarkedRed => "all-frames-marked-red",
            Self::Untagged => "untagged",
            Self::FrameCheckError => "frame-check-error",
            Self::Restarted => "restarted",
            Self::LostOnLink => "lost-on-link",
            Self::ChecksumMismatch => "checksum-mismatch",
        }
    }
}

impl StoppedBy {
    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Schedule => "schedule",
            Self::Tag => "tag",
            Self::Freshness => "freshness",
            Self::Capacity => "capacity",
        }
    }
}

/// Why a key exchange, or the run it belongs to, was given up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum AbortReason {
    /// The orchestrator's signature fits no timestamp in the window: forged, changed or replayed.
    OrchestrationRefused,
    /// The orchestrator's message is older than the window allows, or of an earlier epoch.
    OrchestrationStale,
    /// The orchestrator's message was accepted before.
    OrchestrationReplayed,
    /// The addresses of a request are no exchange of this network.
    WrongAddresses,
    /// A message does not have the length of its step.
    WrongLength,
    /// The peer's share is one's own.
    ReflectedShare,
    /// The peer's share is no point of the curve.
    ShareNotAPoint,
    /// The peer's share, or the secret it gives, has small order.
    SmallOrderShare,
    /// The tag of the peer's confirmation does not fit.
    ConfirmationRefused,
    /// The peer's signature does not fit the shares.
    SignatureRefused,
    /// A share did not come in time.
    ShareMissing,
    /// A confirmation did not come in time.
    ConfirmationMissing,
    /// A member did not show in time that it holds the new key.
    ReadyMissing,
    /// A member showed that it holds another key.
    ReadyRefused,
    /// The orchestrator's word that all hold the new key did not come in time.
    CommitMissing,
    /// The orchestrator's word that all hold the new key is not its own.
    CommitRefused,
    /// The master secret was not for this node, or not from the orchestrator.
    DistributionRefused,
    /// A secret of an earlier step is missing.
    SecretMissing,
    /// A table or queue was full.
    Overloaded,
}

impl AbortReason {
    /// Every reason, in the order reports show them.
    pub const ALL: [Self; 19] = [
        Self::OrchestrationRefused,
        Self::OrchestrationStale,
        Self::OrchestrationReplayed,
        Self::WrongAddresses,
        Self::WrongLength,
        Self::ReflectedShare,
        Self::ShareNotAPoint,
        Self::SmallOrderShare,
        Self::ConfirmationRefused,
        Self::SignatureRefused,
        Self::ShareMissing,
        Self::ConfirmationMissing,
        Self::ReadyMissing,
        Self::ReadyRefused,
        Self::CommitMissing,
        Self::CommitRefused,
        Self::DistributionRefused,
        Self::SecretMissing,
        Self::Overloaded,
    ];

    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OrchestrationRefused => "orchestration-refused",
            Self::OrchestrationStale => "orchestration-stale",
            Self::OrchestrationReplayed => "orchestration-replayed",
            Self::WrongAddresses => "wrong-addresses",
            Self::WrongLength => "wrong-length",
            Self::ReflectedShare => "reflected-share",
            Self::ShareNotAPoint => "share-not-a-point",
            Self::SmallOrderShare => "small-order-share",
            Self::ConfirmationRefused => "confirmation-refused",
            Self::SignatureRefused => "signature-refused",
            Self::ShareMissing => "share-missing",
            Self::ConfirmationMissing => "confirmation-missing",
            Self::ReadyMissing => "ready-missing",
            Self::ReadyRefused => "ready-refused",
            Self::CommitMissing => "commit-missing",
            Self::CommitRefused => "commit-refused",
            Self::DistributionRefused => "distribution-refused",
            Self::SecretMissing => "secret-missing",
            Self::Overloaded => "overloaded",
        }
    }
}
