//! What nodes and media say happened. One small type for all, so that traces, counters and tests have one shape.

mod transfer;

pub use self::transfer::TransferFault;
use crate::StreamId;

/// Something that happened at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// To which stream, or [`StreamId::NONE`].
    pub stream: StreamId,
    /// Which frame of the stream, counted by its sender from 0; or the kind's own number.
    pub sequence: u64,
    /// The kind's own figure: a span `[ps]` where the kind says so, else 0.
    pub value: i64,
}

impl Event {
    /// An event of a stream without a figure of its own.
    pub const fn of(kind: EventKind, stream: StreamId, sequence: u64) -> Self {
        Self { kind, stream, sequence, value: 0 }
    }
}

/// What happened. Its code is part of a trace's fingerprint and never changes meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// The node's clock joined the cluster; `value` is the first correction `[ps]`.
    SyncAcquired,
    /// The node's clock left its acceptance window for too long.
    SyncLost,
    /// A beacon corrected the clock; `value` is the correction `[ps]`, `sequence` the integration cycle.
    ClockCorrected,
    /// A beacon came outside the acceptance window and was not used; `value` is its distance `[ps]`.
    BeaconRejected,
    /// A frame was handed to the port; `value` is how much later than it was due `[ps]`, 0 if its slot says when that was.
    Sent,
    /// A frame was accepted by its receiver; `value` is the time since its slot began `[ps]`, 0 without a schedule.
    Delivered,
    /// A frame was thrown away, with the reason.
    Discarded(DiscardReason),
    /// A scheduled frame was absent from its slot, or a synchronisation message did not come in time.
    Missing,
    /// A frame left its sender after the slot had begun; `value` is by how much `[ps]`.
    SentLate,
    /// A switch passed a scheduled frame on; `value` is the distance to its dispatch time `[ps]`.
    Forwarded,
    /// A node's task ended; `value` is its response time `[ps]`.
    TaskDone,
    /// A node's task had not ended when it was due again.
    TaskOverrun,
    /// An attacker put a frame of its own on the wire; `sequence` counts its attempts.
    Attacked(AttackKind),
    /// A key exchange began; `sequence` is its CAN identifier.
    ExchangeStarted,
    /// A key exchange succeeded here; `sequence` is its CAN identifier, `value` the run's epoch.
    ExchangeDone,
    /// A key exchange was given up; `sequence` is its CAN identifier, `value` stage times 256 plus the peer's address.
    ExchangeAborted(AbortReason),
    /// A group key was agreed but is not in use yet; `sequence` and `value` are its epoch.
    KeyAgreed,
    /// A group key was taken into use; `sequence` and `value` are its epoch.
    KeyInstalled,
    /// No new group key came of a run, the old one stays; `sequence` and `value` as for an aborted exchange.
    KeyRefused(AbortReason),
    /// The group key in use was given up, for a node that holds it was to be removed and was not; `sequence` and `value`
    /// are its epoch.
    KeyWithdrawn,
    /// A CAN node saw another level than it sent; `value` is how long the error kept the bus `[ps]`, as for the next four.
    BitError,
    /// A CAN node saw six equal bits in a frame.
    StuffError,
    /// A CAN node found that a frame's checksum does not fit.
    CrcError,
    /// A CAN node saw a bit of fixed level with the other one.
    FormError,
    /// No CAN node acknowledged a frame.
    AckError,
    /// A CAN controller is error active again; `sequence` is its transmit, `value` its receive error counter, as for
    /// the next two.
    ErrorActive,
    /// A CAN controller became error passive.
    ErrorPassive,
    /// A CAN controller went off its bus.
    BusOff,
    /// A message was due and not sent, because there is no key or freshness value yet to protect it with.
    Withheld,
    /// A station took up another pseudonym; `sequence` is its new station identifier, `value` how long it says nothing
    /// then `[ps]`.
    PseudonymChanged,
    /// A message was due and not sent, because its sender keeps silent about where it is.
    KeptSilent,
    /// A station says nothing because of the place it is at; `value` is for how long, until it looks again `[ps]`.
    Hushed,
    /// A gateway took a frame that it is to pass on to another segment.
    Relayed,
    /// A gateway starts anew: what it held is lost; `value` is for how long it was away `[ps]`.
    Rebooted,
    /// The first frame of a message came that is sent in several; the receiver waits for the others.
    TransferBegan,
    /// Something went wrong with a message that is sent in several frames. Its sender has given it up, or a frame changed
    /// nothing. A receiver that gives one up throws it away: [`Self::Discarded`].
    TransferFault(TransferFault),
    /// What the clock of a cluster without a beacon showed when it was about to be corrected, or when it had joined: `sequence` is the
    /// time of the cluster `[ps]`, `value` the correction `[ps]`, 0 for a clock that has joined.
    ClockShown,
    /// Of a stream that comes over several ways, more or fewer copies came than frames let expect (IEEE 802.1CB-2017 §7.4.4);
    /// `value` is how many are missing, below zero how many are too many.
    LatentError,
    /// The node follows another grandmaster (IEEE 802.1AS); `sequence` is the number of that node, [`u64::MAX`] if its identity is that
    /// of none.
    GrandmasterChanged,
    /// How much faster the node's clock runs than its oscillator from the [`Self::ClockShown`] on that follows: `value` is the deviation
    /// with 40 fractional bits.
    ClockRate,
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

/// What an attacker does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum AttackKind {
    /// Makes up a frame.
    Spoof,
    /// Changes a frame on its way.
    Tamper,
    /// Repeats a frame heard before.
    Replay,
    /// Keeps a frame back that it should pass on.
    Withhold,
    /// Sends in a station's name as fast as its port does.
    Babble,
    /// Sends at a port of its own as fast as that does.
    Flood,
    /// Passes a frame on later than it came.
    Delay,
    /// Makes up a message that tells the time.
    ForgedTime,
    /// Changes the time that a message tells, on its way.
    AlteredTime,
    /// Claims to be a better grandmaster than it is (IEEE 802.1AS).
    RogueGrandmaster,
}

impl DiscardReason {
    /// Every reason, in the order reports show them.
    pub const ALL: [Self; 61] = [
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
            | Self::FrameCheckError => StoppedBy::Format,
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
            | Self::AllFramesMarkedRed => StoppedBy::Capacity,
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

impl AttackKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Spoof,
        Self::Tamper,
        Self::Replay,
        Self::Withhold,
        Self::Babble,
        Self::Flood,
        Self::Delay,
        Self::ForgedTime,
        Self::AlteredTime,
        Self::RogueGrandmaster,
    ];

    /// True if it is one on clocks and on nothing else.
    pub const fn is_on_clocks(self) -> bool {
        matches!(self, Self::ForgedTime | Self::AlteredTime | Self::RogueGrandmaster)
    }

    /// True if the frame that follows is the attacker's own, false if there is none or it is what came, unchanged.
    pub const fn makes_frame(self) -> bool {
        !matches!(self, Self::Withhold | Self::Delay | Self::RogueGrandmaster)
    }

    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spoof => "spoof",
            Self::Tamper => "tamper",
            Self::Replay => "replay",
            Self::Withhold => "withhold",
            Self::Babble => "babble",
            Self::Flood => "flood",
            Self::Delay => "delay",
            Self::ForgedTime => "forged-time",
            Self::AlteredTime => "altered-time",
            Self::RogueGrandmaster => "rogue-grandmaster",
        }
    }
}

impl EventKind {
    /// Every kind without a detail.
    pub const PLAIN: [Self; 35] = [
        Self::SyncAcquired,
        Self::SyncLost,
        Self::ClockCorrected,
        Self::BeaconRejected,
        Self::Sent,
        Self::Delivered,
        Self::Missing,
        Self::SentLate,
        Self::Forwarded,
        Self::TaskDone,
        Self::TaskOverrun,
        Self::ExchangeStarted,
        Self::ExchangeDone,
        Self::KeyAgreed,
        Self::KeyInstalled,
        Self::BitError,
        Self::StuffError,
        Self::CrcError,
        Self::FormError,
        Self::AckError,
        Self::ErrorActive,
        Self::ErrorPassive,
        Self::BusOff,
        Self::Withheld,
        Self::PseudonymChanged,
        Self::KeptSilent,
        Self::Hushed,
        Self::Relayed,
        Self::Rebooted,
        Self::TransferBegan,
        Self::KeyWithdrawn,
        Self::ClockShown,
        Self::LatentError,
        Self::GrandmasterChanged,
        Self::ClockRate,
    ];

    /// Every kind with every detail.
    pub fn all() -> impl Iterator<Item = Self> {
        let attacks = AttackKind::ALL.into_iter().map(Self::Attacked);
        let discards = DiscardReason::ALL.into_iter().map(Self::Discarded);
        let aborts = AbortReason::ALL.into_iter();
        let aborts = aborts.flat_map(|reason| [Self::ExchangeAborted(reason), Self::KeyRefused(reason)]);
        let faults = TransferFault::ALL.into_iter().map(Self::TransferFault);
        Self::PLAIN.into_iter().chain(attacks).chain(discards).chain(aborts).chain(faults)
    }

    /// The inverse of [`Self::code`].
    pub fn from_code(code: u16) -> Option<Self> {
        Self::all().find(|kind| kind.code() == code)
    }

    /// A number for traces and fingerprints: the kind, and for some a detail below it.
    pub const fn code(self) -> u16 {
        let detail = match self {
            Self::Discarded(reason) => reason as u16,
            Self::Attacked(kind) => kind as u16,
            Self::ExchangeAborted(reason) | Self::KeyRefused(reason) => reason as u16,
            _ => 0,
        };
        self.kind_code() | detail
    }

    /// The code without its detail. Apart from that, the kinds' numbers follow one another and are computed without a jump.
    const fn kind_code(self) -> u16 {
        match self {
            Self::SyncAcquired => 0x0100,
            Self::SyncLost => 0x0200,
            Self::ClockCorrected => 0x0300,
            Self::BeaconRejected => 0x0400,
            Self::Sent => 0x0500,
            Self::Delivered => 0x0600,
            Self::Discarded(_) => 0x0700,
            Self::Missing => 0x0800,
            Self::SentLate => 0x0900,
            Self::Forwarded => 0x0a00,
            Self::TaskDone => 0x0b00,
            Self::TaskOverrun => 0x0c00,
            Self::Attacked(_) => 0x0d00,
            Self::ExchangeStarted => 0x0e00,
            Self::ExchangeDone => 0x0f00,
            Self::ExchangeAborted(_) => 0x1000,
            Self::KeyAgreed => 0x1100,
            Self::KeyInstalled => 0x1200,
            Self::KeyRefused(_) => 0x1300,
            Self::BitError => 0x1400,
            Self::StuffError => 0x1500,
            Self::CrcError => 0x1600,
            Self::FormError => 0x1700,
            Self::AckError => 0x1800,
            Self::ErrorActive => 0x1900,
            Self::ErrorPassive => 0x1a00,
            Self::BusOff => 0x1b00,
            Self::Withheld => 0x1c00,
            Self::PseudonymChanged => 0x1d00,
            Self::KeptSilent => 0x1e00,
            Self::Hushed => 0x1f00,
            Self::Relayed => 0x2000,
            Self::Rebooted => 0x2100,
            Self::TransferBegan => 0x2200,
            Self::TransferFault(fault) => 0x2300 | fault as u16,
            Self::KeyWithdrawn => 0x2400,
            Self::ClockShown => 0x2500,
            Self::LatentError => 0x2600,
            Self::GrandmasterChanged => 0x2700,
            Self::ClockRate => 0x2800,
        }
    }

    /// The detail of those that have one: a reason, or what an attacker did.
    pub const fn detail(self) -> Option<&'static str> {
        match self {
            Self::Discarded(reason) => Some(reason.name()),
            Self::Attacked(attack) => Some(attack.name()),
            Self::ExchangeAborted(reason) | Self::KeyRefused(reason) => Some(reason.name()),
            Self::TransferFault(fault) => Some(fault.name()),
            _ => None,
        }
    }

    /// As shown to people and written to results, without the detail.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SyncAcquired => "sync-acquired",
            Self::SyncLost => "sync-lost",
            Self::ClockCorrected => "clock-corrected",
            Self::BeaconRejected => "beacon-rejected",
            Self::ClockShown => "clock-shown",
            Self::LatentError => "latent-error",
            Self::GrandmasterChanged => "grandmaster-changed",
            Self::ClockRate => "clock-rate",
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Discarded(_) => "discarded",
            Self::Missing => "missing",
            Self::SentLate => "sent-late",
            Self::Forwarded => "forwarded",
            Self::TaskDone => "task-done",
            Self::TaskOverrun => "task-overrun",
            Self::Attacked(_) => "attacked",
            Self::ExchangeStarted => "exchange-started",
            Self::ExchangeDone => "exchange-done",
            Self::ExchangeAborted(_) => "exchange-aborted",
            Self::KeyAgreed => "key-agreed",
            Self::KeyInstalled => "key-installed",
            Self::KeyRefused(_) => "key-refused",
            Self::BitError => "bit-error",
            Self::StuffError => "stuff-error",
            Self::CrcError => "crc-error",
            Self::FormError => "form-error",
            Self::AckError => "ack-error",
            Self::ErrorActive => "error-active",
            Self::ErrorPassive => "error-passive",
            Self::BusOff => "bus-off",
            Self::Withheld => "withheld",
            Self::PseudonymChanged => "pseudonym-changed",
            Self::KeptSilent => "kept-silent",
            Self::Hushed => "hushed",
            Self::Relayed => "relayed",
            Self::Rebooted => "rebooted",
            Self::TransferBegan => "transfer-began",
            Self::KeyWithdrawn => "key-withdrawn",
            Self::TransferFault(_) => "transfer-fault",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        for kind in EventKind::all() {
            assert_eq!(EventKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(EventKind::from_code(0xffff), None);
    }

    #[test]
    fn reasons_keep_their_codes_and_have_names_of_their_own() {
        // Reasons are only ever appended: their place in the list is their code.
        for (place, reason) in DiscardReason::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(EventKind::Discarded(reason).code()), 0x0700 + place, "{}", reason.name());
        }
        let kept =
            [(DiscardReason::Replayed, 0x0709), (DiscardReason::NoKey, 0x0711), (DiscardReason::Unsecured, 0x0712)];
        for (reason, code) in kept {
            assert_eq!(EventKind::Discarded(reason).code(), code);
        }
        let mut names = DiscardReason::ALL.map(DiscardReason::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DiscardReason::ALL.len());
    }
}
