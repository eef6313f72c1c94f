//! What can be chosen about the protocol.

/// How a group of ECUs comes to a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scheme {
    /// Each ECU with the orchestrator, then pairs of logical ECUs up to the root: the main scheme (section III-C.1).
    FullTree,
    /// The orchestrator is one leaf of `n + 1` and otherwise only orchestrates (section III-C.2).
    WithoutOrchestrator,
    /// Each ECU with the orchestrator, which then sends each the master secret (section III-C.3).
    Symmetric,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 3] = [Self::FullTree, Self::WithoutOrchestrator, Self::Symmetric];

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FullTree => "full-tree",
            Self::WithoutOrchestrator => "without-orchestrator",
            Self::Symmetric => "symmetric",
        }
    }

    /// Most ECUs the one-byte addresses allow, the orchestrator not counted.
    ///
    /// Full tree: n ECUs, 2n - 1 logical ones, the orchestrator and the reserved 0 make 3n + 1 <= 256. Without it in
    /// each logical ECU: n ECUs, n logical ones, the orchestrator and 0; so also for the symmetric scheme.
    pub const fn members_max(self) -> usize {
        match self {
            Self::FullTree => (256 - 1) / 3,
            Self::WithoutOrchestrator | Self::Symmetric => (256 - 2) / 2,
        }
    }
}

/// Most ECUs of any scheme, the orchestrator not counted.
pub const MEMBERS_MAX: usize = 127;

/// How much the messages bind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Profile {
    /// The messages of figure 4, to the byte; see the crate's table for where the text does not say enough.
    AsPublished,
    /// Signatures and keys bound to the whole transcript, explicit freshness, keys per direction, key confirmation.
    Hardened,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 2] = [Self::AsPublished, Self::Hardened];

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPublished => "as-published",
            Self::Hardened => "hardened",
        }
    }
}

/// What carries the messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transport {
    /// Classical CAN, up to 8 bytes a frame.
    Classical,
    /// CAN FD with bit-rate switching, up to 64 bytes a frame.
    Fd,
}

impl Transport {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Classical, Self::Fd];

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classical => "can",
            Self::Fd => "can-fd",
        }
    }

    /// Most data in a frame `[byte]`.
    pub const fn data_len_max(self) -> usize {
        match self {
            Self::Classical => 8,
            Self::Fd => 64,
        }
    }
}

/// When the orchestrator signs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OrchestrationSigning {
    /// Each orchestration message when its turn comes.
    PerStep,
    /// All of a run before its first message is sent; repetitions are signed anew.
    Ahead,
    /// One message for the whole run; the nodes proceed along the fixed tree by themselves. Such a run is not repaired
    /// step by step: what goes wrong ends it.
    Once,
}

/// When a node takes a new key into use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Installation {
    /// When every member has shown the orchestrator that it holds the key, and the orchestrator has said so.
    Confirmed,
    /// As soon as the node holds it. This is where the published protocol ends.
    Unconfirmed,
}

/// What becomes of the key in use when a removal fails: it is a key that the node to be removed has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailedRemoval {
    /// It stays in use: messages go on, and the node that should be out can forge them.
    Available,
    /// It is given up: nothing is sent or believed under a group key until there is a new one.
    Closed,
}

/// What a spare node on a level of the tree does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SpareNode {
    /// It joins a higher level: no logical ECU has a single child, and every merge is an exchange.
    JoinsHigherLevel,
    /// A logical ECU of its own, to which the orchestrator assigns its secret directly (appendix A: an exchange with
    /// address 0). Costs addresses and messages.
    DirectAssignment,
}

/// Which exchanges the orchestrator follows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Monitoring {
    /// Those of one path to the root, as many as it needs for the group key.
    Path,
    /// All it can: it then holds every subgroup's key, for one agreement and one verification each.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_writes_is_the_name() {
        assert_eq!(Scheme::ALL.map(Scheme::name), ["full-tree", "without-orchestrator", "symmetric"]);
        assert_eq!(Profile::ALL.map(Profile::name), ["as-published", "hardened"]);
        assert_eq!(Transport::ALL.map(Transport::name), ["can", "can-fd"]);
    }
}
