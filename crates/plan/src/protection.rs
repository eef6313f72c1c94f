//! How streams are protected.

use chronoseal_core::StreamId;
use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Profile, SymmetricKey};

use crate::{HopPlan, Plan, StreamPlan};

/// Index into [`Plan::protections`]. The first, which is the default, does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ProtectionId(pub u16);

/// A way to protect a stream.
#[derive(Clone, Debug)]
pub struct ProtectionPlan {
    /// As in the scenario.
    pub name: String,
    /// What it does.
    pub kind: ProtectionKind,
}

/// What a protection does.
#[derive(Clone, Debug)]
pub enum ProtectionKind {
    /// Nothing.
    None,
    /// Adds bytes as another mechanism would, and nothing else. It stops no attack.
    SizeOnly {
        /// Added to every frame `[byte]`.
        overhead: u32,
    },
    /// A tag and, with most profiles, a freshness value.
    Secured {
        /// Algorithm, tag, freshness and replay window.
        profile: Profile,
        /// Where its key comes from.
        key: KeySource,
        /// What streams are called under the tag.
        identity: Identity,
    },
}

/// Where the key of a protection comes from. Shown by no formatter.
#[derive(Clone, PartialEq, Debug)]
pub enum KeySource {
    /// It is the group key, which nodes agree on in the run.
    Group,
    /// Every stream has its own, drawn from the seed, and its nodes have it from the start: [`stream_key`].
    OfStream,
    /// All streams that are protected so have this one from the start: test material as written, or drawn from the seed.
    Shared(SymmetricKey),
}

/// What a stream that stays on one segment is called under its tag. One that gateways carry has its name in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// By a number: of a time-triggered stream its critical-traffic identifier, else that of the stream. Presets of a
    /// published design have this.
    Number,
    /// By its name.
    Name,
}

/// What a stream is called under the tag on one of its hops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataName {
    /// By the number it has on this segment.
    Number,
    /// By this name of at most [`chronoseal_frameauth::NAME_LEN_MAX`] bytes: the stream's own from end to end, with that of
    /// the segment behind it on a hop that is protected alone, so that nothing of one hop passes on another.
    Name(String),
}

impl KeySource {
    /// The key of a stream, or `None` if it is the group key. `seed` is that of the plan.
    pub fn of_stream(&self, seed: u64, stream: StreamId) -> Option<SymmetricKey> {
        match self {
            Self::Group => None,
            Self::OfStream => Some(stream_key(seed, stream)),
            Self::Shared(key) => Some(key.clone()),
        }
    }
}

/// The key of 16 bytes that a stream's nodes have from the start under [`KeySource::OfStream`].
pub fn stream_key(seed: u64, stream: StreamId) -> SymmetricKey {
    let mut bytes = [0; Key128::LEN];
    random::stream(seed, Purpose::Key, u64::from(stream.0)).fill_bytes(&mut bytes);
    (&Key128::from_array(bytes)).into()
}

impl ProtectionPlan {
    /// Algorithm, tag and freshness, if frames carry a tag that is checked.
    pub const fn profile(&self) -> Option<&Profile> {
        match &self.kind {
            ProtectionKind::Secured { profile, .. } => Some(profile),
            ProtectionKind::None | ProtectionKind::SizeOnly { .. } => None,
        }
    }

    /// Bytes it adds to a frame.
    pub fn overhead_bytes(&self) -> u32 {
        match &self.kind {
            ProtectionKind::None => 0,
            ProtectionKind::SizeOnly { overhead } => *overhead,
            ProtectionKind::Secured { profile, .. } => profile.overhead() as u32,
        }
    }

    /// True if a frame recorded earlier passes again.
    pub fn is_replayable(&self) -> bool {
        self.profile().is_none_or(Profile::is_replayable)
    }

    /// True if frames carry a tag that is checked.
    pub const fn is_authenticated(&self) -> bool {
        self.profile().is_some()
    }

    /// True if its freshness value has trip and reset counters, which a master tells.
    pub fn needs_master(&self) -> bool {
        self.profile().is_some_and(|profile| profile.freshness().needs_master())
    }

    /// True if its key is the group key, so that nothing is sent before there is one.
    pub const fn needs_group_key(&self) -> bool {
        matches!(&self.kind, ProtectionKind::Secured { key: KeySource::Group, .. })
    }
}

impl Plan {
    /// How `stream` is protected from its sender to its receivers.
    pub fn protection_of(&self, stream: &StreamPlan) -> &ProtectionPlan {
        &self.protections[usize::from(stream.protection.0)]
    }

    /// How `stream` is protected on one of its hops: as the hop itself is, or else from end to end.
    pub fn protection_on(&self, stream: &StreamPlan, hop: &HopPlan) -> &ProtectionPlan {
        &self.protections[usize::from(hop.protection.unwrap_or(stream.protection).0)]
    }

    /// A frame of `stream` on one of its hops with its protection, as segments of that kind count it `[byte]`.
    pub fn secured_len(&self, stream: &StreamPlan, hop: &HopPlan) -> u32 {
        hop.frame_len + self.protection_on(stream, hop).overhead_bytes()
    }

    /// What `stream` is called under the tag on one of its hops.
    pub fn data_name(&self, stream: &StreamPlan, hop: &HopPlan) -> DataName {
        let by_number =
            matches!(self.protection_on(stream, hop).kind, ProtectionKind::Secured { identity: Identity::Number, .. });
        match (stream.is_relayed(), hop.protection) {
            (false, _) if by_number => DataName::Number,
            (true, Some(_)) => DataName::Name(hop_name(&stream.name, &self.segments[hop.segment.index()].name)),
            _ => DataName::Name(stream.name.clone()),
        }
    }
}

/// What a stream is called under the tag on a hop that is protected alone.
pub fn hop_name(stream: &str, segment: &str) -> String {
    format!("{stream}@{segment}")
}
