//! The engines of the bench and how each is built and run. To add one, add a line to [`ENGINES`].

/// One simulator on one variant of the star.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) name: &'static str,
    /// From the root.
    pub(super) build: &'static [&'static str],
    /// From the root; `{chronoseal}` is our build of profile `dist`, `{simulated_ms}` the simulated time, and `{phases}` the
    /// overrides that give our scenario the phases of `peers/star.csv`. It prints one object as described in
    /// `bench/README.md`.
    pub(super) command: &'static [&'static str],
    /// Whose latencies it must reproduce.
    pub(super) model: Model,
}

/// Engines of one model must give the same latencies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Model {
    /// `peers/star.md` whole.
    StrictPriority,
    /// The same with one queue a port; latencies are too short by a known span `[ns]`.
    FirstInFirstOut {
        /// What its framing leaves out.
        shorter_ns: i64,
    },
    /// Frames of other lengths: only the number of frames can agree.
    CountsOnly,
    /// Ports that delay frames as nobody else's do: nothing of it is compared but its speed.
    Alone,
}

/// The engine that ratios refer to.
pub(super) const RATIO_TO: &str = "ns-3 l2";

/// Builds `{chronoseal}`.
pub(super) const BUILD_OURS: &[&str] =
    &["cargo", "build", "--quiet", "--profile", "dist", "--locked", "--bin", "chronoseal"];
const BUILD_NS3: &[&str] = &["make", "-C", "peers/ns3"];
const BUILD_NEXOSIM: &[&str] = &[
    "cargo",
    "build",
    "--quiet",
    "--release",
    "--locked",
    "--manifest-path",
    "peers/nexosim/Cargo.toml",
    "--target-dir",
    "peers/nexosim/target",
];

/// Our star, times only.
pub(super) const TIMING: &str = "scenarios/star.toml";
/// Our star behind ports of IEEE 802.1Q.
pub(super) const TSN: &str = "scenarios/star-tsn.toml";
/// Our star, with a tag made and checked for every frame.
pub(super) const HMAC: &str = "scenarios/star-hmac.toml";

/// Our command for a scenario.
macro_rules! ours {
    ($scenario:expr $(, $more:expr)*) => {
        &[
            "{chronoseal}",
            "run",
            $scenario,
            "--engine",
            "sim",
            "--count",
            "--allow-unchecked",
            "--format",
            "json",
            "--set",
            "duration={simulated_ms}ms",
            $($more,)*
            "{phases}",
        ]
    };
}

pub(super) const ENGINES: &[Engine] = &[
    Engine { name: "chronoseal, timing", build: BUILD_OURS, command: ours!(TIMING), model: Model::StrictPriority },
    Engine {
        name: "chronoseal, bytes",
        build: BUILD_OURS,
        command: ours!(TIMING, "--set", "fidelity=bytes"),
        model: Model::StrictPriority,
    },
    Engine {
        name: "chronoseal, gates, shapers and policing",
        build: BUILD_OURS,
        command: ours!(TSN),
        model: Model::Alone,
    },
    Engine { name: "chronoseal, HMAC-SHA-256", build: BUILD_OURS, command: ours!(HMAC), model: Model::CountsOnly },
    Engine {
        name: "ns-3 l2",
        build: BUILD_NS3,
        command: &["peers/ns3/build/star", "--flows=peers/star.csv", "--variant=l2", "--duration-ms={simulated_ms}"],
        model: Model::FirstInFirstOut { shorter_ns: 0 },
    },
    Engine {
        name: "ns-3 udp",
        build: BUILD_NS3,
        command: &["peers/ns3/build/star", "--flows=peers/star.csv", "--variant=udp", "--duration-ms={simulated_ms}"],
        // Two hops, each 24 bytes short at 1 Gb/s: PPP framing (peers/README.md).
        model: Model::FirstInFirstOut { shorter_ns: 384 },
    },
    Engine {
        name: "nexosim",
        build: BUILD_NEXOSIM,
        command: &["peers/nexosim/target/release/star-nexosim", "peers/star.csv", "{simulated_ms}", "1000"],
        model: Model::StrictPriority,
    },
    Engine {
        name: "nexosim, fifo",
        build: BUILD_NEXOSIM,
        command: &["peers/nexosim/target/release/star-nexosim", "peers/star.csv", "{simulated_ms}", "1000", "fifo"],
        model: Model::FirstInFirstOut { shorter_ns: 0 },
    },
];

impl Engine {
    /// The engine that runs this scenario of ours.
    pub(super) fn of_scenario(scenario: &str) -> Option<&'static Self> {
        ENGINES.iter().find(|engine| engine.command.contains(&scenario))
    }

    /// The command with everything filled in.
    pub(super) fn words(&self, chronoseal: &str, simulated_ms: u64, phases: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        for word in self.command {
            match *word {
                "{phases}" => words.extend_from_slice(phases),
                "{chronoseal}" => words.push(chronoseal.to_owned()),
                word => words.push(word.replace("{simulated_ms}", &simulated_ms.to_string())),
            }
        }
        words
    }
}
