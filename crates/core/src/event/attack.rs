//! What attackers do.

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
