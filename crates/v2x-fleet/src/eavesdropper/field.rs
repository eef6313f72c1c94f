//! What can be compared of two tracklets beside their places.

use super::Observation;
use super::air::TicketSeen;
use crate::generation::INTERVAL_MIN;

/// Something that is on the air and may be the same before and behind a change of pseudonym.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Field {
    /// Length and width of the vehicle, if its CAMs tell them.
    Dimensions,
    /// Address of the link layer.
    LinkAddress,
    /// Sequence number of GeoBroadcasts.
    PacketNumber,
    /// Where in each 100 ms it makes its CAMs.
    Beat,
    /// What certificates say but for their keys: beginning and length of validity, issuer, permissions, region and the rest.
    Ticket,
    /// The shortest frame.
    FrameLength,
    /// Mean of the received power beyond what places explain.
    Power,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Dimensions,
        Self::LinkAddress,
        Self::PacketNumber,
        Self::Beat,
        Self::Ticket,
        Self::FrameLength,
        Self::Power,
    ];

    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dimensions => "size of the vehicle",
            Self::LinkAddress => "link address",
            Self::PacketNumber => "packet number",
            Self::Beat => "beat of CAMs",
            Self::Ticket => "certificate fields",
            Self::FrameLength => "frame length",
            Self::Power => "received power",
        }
    }
}

/// A set of fields: those an eavesdropper looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fields(u8);

impl Fields {
    /// None: it looks at places only.
    pub const NONE: Self = Self(0);
    /// All.
    pub const ALL: Self = Self((1 << Field::ALL.len()) - 1);

    /// This one more.
    #[must_use]
    pub const fn with(self, field: Field) -> Self {
        Self(self.0 | 1 << field as u8)
    }

    /// All but this one.
    #[must_use]
    pub const fn without(self, field: Field) -> Self {
        Self(self.0 & !(1 << field as u8))
    }

    /// Whether it is one of them.
    pub const fn has(self, field: Field) -> bool {
        self.0 & 1 << field as u8 != 0
    }
}

/// Steps of agreement, the closest first.
pub(super) const LEVELS: usize = 5;

/// What is known of a tracklet at one of its ends.
#[derive(Clone, Copy, Debug)]
struct End {
    beat_us: Option<i64>,
    packet_number: Option<u16>,
}

/// What a tracklet shows beside places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    link_address: Option<[u8; 6]>,
    begin: End,
    end: End,
    ticket: Option<TicketSeen>,
    frame_len: Option<u16>,
    power_db: Option<f64>,
}

const BEAT_US: i64 = INTERVAL_MIN.as_ps() / 1_000_000;

impl Traits {
    /// Of messages that stand in the order of their times.
    pub(super) fn of<'a>(messages: impl DoubleEndedIterator<Item = &'a Observation> + Clone) -> Self {
        let traces = || messages.clone().filter_map(|one| one.trace);
        // Only CAMs have a beat; what is a GeoBroadcast tells of an event when it likes.
        let beat_us = |trace: super::Trace| {
            trace.packet_number.is_none().then_some((trace.generated_us % BEAT_US.unsigned_abs()) as i64)
        };
        let number = |trace: super::Trace| trace.packet_number;
        let begin = End { beat_us: traces().find_map(beat_us), packet_number: traces().find_map(number) };
        let end = End { beat_us: traces().rev().find_map(beat_us), packet_number: traces().rev().find_map(number) };
        let powers = traces().filter_map(|trace| trace.power_db).fold((0.0, 0u32), |sum, db| (sum.0 + db, sum.1 + 1));
        Self {
            link_address: traces().next().map(|trace| trace.link_address),
            begin,
            end,
            ticket: traces().find_map(|trace| trace.ticket),
            frame_len: traces().map(|trace| trace.frame_len).min(),
            power_db: (powers.1 >= POWERS_MIN).then(|| powers.0 / f64::from(powers.1)),
        }
    }

    /// How closely a tracklet agrees with one that may go on from it: 0 is closest. `None` if one of them does not show the field.
    pub(super) fn compare(&self, next: &Self, field: Field) -> Option<usize> {
        let equal = |is: bool| usize::from(!is);
        Some(match field {
            // What tells a size is compared where the messages are.
            Field::Dimensions => return None,
            Field::LinkAddress => equal(self.link_address? == next.link_address?),
            Field::PacketNumber => {
                let ahead = next.begin.packet_number?.wrapping_sub(self.end.packet_number?);
                equal((1..=PACKETS_MISSED).contains(&ahead))
            }
            Field::Beat => {
                let apart = (next.begin.beat_us? - self.end.beat_us?).abs();
                level(apart.min(BEAT_US - apart) as f64, [10.0, 1_000.0, 10_000.0, 25_000.0])
            }
            Field::Ticket => {
                let (one, other) = (self.ticket?, next.ticket?);
                if one.others != other.others {
                    LEVELS - 1
                } else {
                    // To the second, as fast as a batch is issued, or within an hour of each other.
                    level(f64::from(one.start_s.abs_diff(other.start_s)), [0.0, 60.0, 3_600.0, f64::INFINITY])
                }
            }
            Field::FrameLength => equal(self.frame_len? == next.frame_len?),
            Field::Power => level((self.power_db? - next.power_db?).abs(), [0.25, 0.5, 1.0, 2.0]),
        })
    }
}

/// Numbers of packets that may have gone by unheard.
const PACKETS_MISSED: u16 = 16;
/// A mean of fewer powers says little.
const POWERS_MIN: u32 = 5;

/// The first step that holds a value.
fn level(value: f64, steps: [f64; LEVELS - 1]) -> usize {
    steps.iter().position(|step| value <= *step).unwrap_or(LEVELS - 1)
}
