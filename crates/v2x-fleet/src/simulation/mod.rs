//! A fleet on the air: vehicles drive, send CAMs by the rules, change their pseudonyms, and hear each other over a radio
//! channel.
//!
//! [`Fleet`] makes what an engine drives: an [`ItsStation`](crate::station::ItsStation) for each vehicle, further stations
//! and attackers, and the channel they are on. [`Watch`] is what looks on: the eavesdropper, and whoever counts what changes of pseudonyms cost. Whoever
//! has an engine puts them together.

mod config;
mod fleet;
mod motion;
mod receivers;
mod watch;

pub use config::{FleetConfig, FleetError, ORIGIN, QUEUE_LEN_MAX, STARTS_AT_US, WAIT_MAX, WatchConfig};
pub use fleet::{Fleet, Messages, Perceives, Post, StationConfig, Trust};
pub use motion::{Place, Rider};
pub use receivers::{HEADWAY_S, Reception, Safety};
pub use watch::{FrameSeen, Processing, Watch};

use chronoseal_media::radio::StationStatistics;

use crate::eavesdropper::{Heard, Score, Tracker};

/// What happened.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FleetOutcome {
    /// What the eavesdropper heard, in the order of time.
    pub heard: Vec<Heard>,
    /// Messages by what they carried.
    pub with_certificate: MessageCount,
    /// Messages signed under a digest, or not at all.
    pub with_digest: MessageCount,
    /// What was received and what it was worth.
    pub reception: Reception,
    /// What the changes cost.
    pub safety: Safety,
    /// What signing and verifying took.
    pub processing: Processing,
    /// Sum over all vehicles.
    pub radio: StationStatistics,
    /// Frames that were taken apart and checked; each once, however many receive it, unless that is switched off.
    pub checks: u64,
    /// Pseudonyms taken up, the first ones included.
    pub pseudonyms: u64,
}

/// Messages of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageCount {
    /// How many.
    pub messages: u64,
    /// PSDUs of them `[byte]`.
    pub psdu_bytes: u64,
    /// The longest of them `[byte]`.
    pub psdu_len_max: u64,
}

impl FleetOutcome {
    /// What a tracker makes of what was heard, held against the truth.
    pub fn score(&self, tracker: &Tracker) -> Score {
        tracker.score(&self.heard)
    }
}

/// vehicleLengthValue: 1022 is out of range, 1023 unavailable.
const UNKNOWN_LENGTH: u16 = 1022;

impl MessageCount {
    fn add(&mut self, psdu_len: u64) {
        self.messages += 1;
        self.psdu_bytes += psdu_len;
        self.psdu_len_max = self.psdu_len_max.max(psdu_len);
    }
}

fn add(sum: &mut StationStatistics, one: &StationStatistics) {
    sum.sent += one.sent;
    sum.sent_bytes += one.sent_bytes;
    sum.sent_airtime += one.sent_airtime;
    sum.access_delay += one.access_delay;
    sum.access_delay_max = sum.access_delay_max.max(one.access_delay_max);
    sum.refused += one.refused;
    sum.received += one.received;
    sum.lost_to_overlap += one.lost_to_overlap;
    sum.lost_to_own_transmission += one.lost_to_own_transmission;
    sum.too_weak += one.too_weak;
    sum.internal_collisions += one.internal_collisions;
    sum.busy += one.busy;
}
