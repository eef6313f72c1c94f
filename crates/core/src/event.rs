//! What nodes and media say happened. One small type for all, so that traces, counters and tests have one shape.

mod attack;
mod reason;
mod transfer;

pub use self::attack::AttackKind;
pub use self::reason::{AbortReason, DiscardReason, StoppedBy};
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
    /// A frame was accepted by its receiver; `value` is the time since its slot began `[ps]`; without a schedule 0, or, of a message that says
    /// when it was due by its sender's clock, the time since then by the receiver's.
    Delivered,
    /// A frame was thrown away, with the reason. By a gateway that passes streams on, `value` is 1 more than the port whose interface
    /// threw it away, or was to send it on.
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
    /// A message was due and not sent, because there is no key or freshness value yet to protect it with. By its sender `value` is how much
    /// later than it was due that is `[ps]`; by a gateway that passes streams on it is as of what is thrown away.
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
            Self::TransferFault(fault) => fault as u16,
            _ => 0,
        };
        self.kind_code() | detail
    }

    /// The code without its detail. Numbers alone are looked up in a table, without a jump.
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
            Self::TransferFault(_) => 0x2300,
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
