//! Streams of any scenario that go over a middleware: its programs at their nodes, as a [`crate::Pair`] has them at its own.

use std::collections::BTreeMap;

use chronoseal_core::NodeId;
use chronoseal_plan::{Link, Plan};

use crate::adapter::named;
use crate::pair::{NODES, quoted};
use crate::{Adapter, Configuration, Host, Wire};

/// The programs that a scenario gets, as what is set in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Started {
    /// For `--set`: where in the scenario, and what.
    pub sets: Vec<(String, String)>,
    /// Each configuration, with its middleware and the version of it.
    pub versions: Vec<(String, String)>,
    /// What is known to be wrong with figures of them, one sentence each.
    pub limits: Vec<String>,
}

/// A stream that cannot go over what it names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("stream `{stream}` goes over `{name}`{}", problem.text(name))]
pub struct OverError {
    /// The stream.
    pub stream: String,
    /// The configuration that it names.
    pub name: String,
    /// Why not.
    pub problem: OverProblem,
}

/// Why a stream cannot go over a middleware.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OverProblem {
    /// No adapter has such a configuration; these are there.
    Unknown(Vec<String>),
    /// Its messages would not cross the segment.
    OffWire,
    /// It needs a broker, and no node is one.
    NoBroker,
    /// It needs no broker, and a node is one.
    Broker,
    /// This node of it has a program of its own.
    HasProgram(String),
    /// It cannot be made ready on this host; why, and what to do.
    NotReady(String),
}

impl OverProblem {
    /// What follows the stream and the name, with what to do.
    fn text(&self, name: &str) -> String {
        match self {
            Self::Unknown(known) => format!(", and there is no such configuration: write one of {}", known.join(", ")),
            Self::OffWire => format!(
                ", whose messages do not go over the network, so nothing of its segment would be measured: name another, or measure it alone with \
                 `chronoseal middleware run {name} --network localhost`"
            ),
            Self::NoBroker => {
                ", which needs a broker: add a node for it, and write `broker = \"NODE\"` beside `over`".into()
            }
            Self::Broker => ", which has no broker: leave `broker` out".into(),
            Self::HasProgram(node) => {
                format!(", and node `{node}` has a `program`; a node runs one program: leave either out")
            }
            Self::NotReady(why) => format!(": {why}"),
        }
    }
}

/// A stream that goes over a middleware.
#[derive(Clone, Copy)]
struct Carried<'p> {
    stream: &'p str,
    name: &'p str,
    ends: [NodeId; 2],
    broker: Option<NodeId>,
}

impl Carried<'_> {
    /// In the order of [`NODES`].
    fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.ends.into_iter().chain(self.broker)
    }

    fn not(&self, problem: OverProblem) -> OverError {
        OverError { stream: self.stream.into(), name: self.name.into(), problem }
    }
}

fn carried(plan: &Plan) -> impl Iterator<Item = Carried<'_>> {
    let links = plan.segment_ids().filter_map(|id| Link::of(plan, id));
    links.flat_map(Link::streams).filter_map(|(_, stream, hop, facet)| {
        let over = facet.over.as_ref()?;
        let ends = [hop.from, *hop.to.first()?];
        Some(Carried { stream: &stream.name, name: &over.configuration, ends, broker: over.broker })
    })
}

/// Whether a stream of a plan goes over a middleware.
pub fn is_over(plan: &Plan) -> bool {
    carried(plan).next().is_some()
}

impl Host {
    /// Makes ready what the streams of a plan go over, and says what their nodes run. Keys are there as long as the host is.
    ///
    /// # Errors
    /// [`OverError`] for the first stream that cannot go over what it names. What is wrong with the scenario comes before what is wrong with the host.
    pub fn started(&mut self, plan: &Plan, adapters: &[Adapter]) -> Result<Started, OverError> {
        let mut programs: BTreeMap<NodeId, Program<'_>> = BTreeMap::new();
        for one in carried(plan) {
            let (adapter, configuration) = judged(&one, plan, adapters)?;
            for (node, role) in one.nodes().zip(NODES) {
                programs.entry(node).or_insert(Program { adapter, configuration, role, of: one });
            }
        }
        let mut started = Started::default();
        for (node, program) in programs {
            let Program { adapter, configuration, role, of } = program;
            let ready = self
                .ready(adapter, configuration)
                .as_ref()
                .map_err(|why| of.not(OverProblem::NotReady(why.clone())))?;
            let node_of = |role: &str| {
                let known = of.nodes().zip(NODES).find(|(_, name)| *name == role);
                plan.node_name(known.map_or(node, |(node, _)| node)).to_owned()
            };
            let program = if role == NODES[2] { configuration.broker.as_ref() } else { Some(&configuration.program) };
            let words = program.into_iter().flatten();
            let words: Vec<String> =
                words.map(|word| quoted(&ready.places(None).filled(word, role, &node_of))).collect();
            started
                .sets
                .push((format!("nodes.{}.program", node.index()), format!("{{ run = [{}] }}", words.join(", "))));
            let version = format!("{} {}", adapter.title, adapter.version().unwrap_or_default());
            let version = (configuration.name.clone(), version);
            if !started.versions.contains(&version) {
                started.versions.push(version);
                started.limits.extend(adapter.limits.iter().map(|limit| format!("{}: {limit}", adapter.title)));
            }
        }
        Ok(started)
    }
}

/// What a node runs.
#[derive(Clone, Copy)]
struct Program<'a> {
    adapter: &'a Adapter,
    configuration: &'a Configuration,
    role: &'static str,
    of: Carried<'a>,
}

/// What a stream goes over, if it can.
fn judged<'a>(
    one: &Carried<'_>,
    plan: &Plan,
    adapters: &'a [Adapter],
) -> Result<(&'a Adapter, &'a Configuration), OverError> {
    let Some((adapter, configuration)) = named(adapters, one.name) else {
        let known = adapters.iter().flat_map(|adapter| &adapter.configurations);
        let known = known.filter(|one| one.wire == Wire::Yes).map(|one| one.name.clone());
        return Err(one.not(OverProblem::Unknown(known.collect())));
    };
    if configuration.wire == Wire::No {
        return Err(one.not(OverProblem::OffWire));
    }
    match (&configuration.broker, one.broker) {
        (Some(_), None) => return Err(one.not(OverProblem::NoBroker)),
        (None, Some(_)) => return Err(one.not(OverProblem::Broker)),
        (Some(_), Some(_)) | (None, None) => {}
    }
    let has_own = |node: &NodeId| plan.nodes.get(node.index()).is_some_and(|node| node.program.is_some());
    match one.nodes().find(has_own) {
        Some(node) => Err(one.not(OverProblem::HasProgram(plan.node_name(node).to_owned()))),
        None => Ok((adapter, configuration)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use chronoseal_scenario::{NoFiles, load};

    use super::*;
    use crate::{Cache, adapters};

    /// The middleware's subscriber has the name that a pair gives its publisher, and the other way round.
    const SCENARIO: &str = r#"
        schema_version = 2
        name = "any"
        duration = "1s"
        [segments.air.link]
        [[nodes]]
        name = "station"
        [[nodes]]
        name = "other"
        [[nodes]]
        name = "robot"
        [[nodes]]
        name = "master"
        [[streams]]
        name = "laser"
        from = "station"
        to = ["robot"]
        period = "25ms"
        length = "9kB"
        air = { over = "own", broker = "master" }
        [[streams]]
        name = "image"
        from = "station"
        to = ["robot"]
        period = "25ms"
        length = "9kB"
        air = { over = "own", broker = "master" }
    "#;

    const ADAPTER: &str = r#"
        title = "Own"
        version = ["echo", "1.2"]
        packages = ["one"]
        limits = ["It is slow."]
        [[configurations]]
        name = "own"
        title = "Own"
        security = "encrypted"
        keys = "mutual"
        program = ["{built}/adapter", "{self}", "{broker}", "{keys}/{node}"]
        broker = ["{built}/broker", "{self}", "{robot} {station}", "{keys}/{node}"]
        [[configurations]]
        name = "alone"
        title = "Alone"
        security = "none"
        program = ["{built}/adapter"]
        [[configurations]]
        name = "shared"
        title = "Shared"
        security = "none"
        wire = "no"
        program = ["{built}/adapter"]
    "#;

    fn started(adapter: &str, scenario: &str) -> Result<(Started, Host), OverError> {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("adapter.toml"), adapter).unwrap();
        for name in ["build.sh", "keys.sh"] {
            std::fs::write(own.join(name), "#!/bin/sh\nmkdir -p $1/robot\n").unwrap();
            std::fs::set_permissions(own.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let plan = load("any.toml", scenario.as_bytes(), &[], &NoFiles).unwrap();
        let mut host = Host::new(Cache::new(folder.path().join("cache")), None);
        let all = adapters(folder.path()).unwrap();
        host.started(&plan, &all).map(|started| (started, host))
    }

    fn refusal(adapter: &str, scenario: &str) -> String {
        started(adapter, scenario).expect_err("it is refused").to_string()
    }

    #[test]
    fn nodes_of_any_name_get_the_programs_of_a_pair_with_its_keys() {
        let _alone = crate::install::tests::alone();
        let (found, host) = started(ADAPTER, SCENARIO).unwrap();
        let plan = load("any.toml", SCENARIO.as_bytes(), &found.sets, &NoFiles).unwrap();
        let program = |name: &str| {
            let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
            node.program.as_ref().map(|program| program.command.clone())
        };
        let of = |words: &[String]| words[1..].iter().map(|word| word.rsplit('/').next().unwrap().to_owned()).collect();
        let ends: Vec<Vec<String>> = ["station", "robot", "master"].map(|name| of(&program(name).unwrap())).into();
        assert_eq!(ends[0], ["10.0.0.1", "10.0.0.4", "robot"]);
        assert_eq!(ends[1], ["10.0.0.3", "10.0.0.4", "station"]);
        assert_eq!(ends[2], ["10.0.0.4", "10.0.0.1 10.0.0.3", "broker"]);
        assert_eq!(program("other"), None);
        assert_eq!(found.versions, [("own".to_owned(), "Own 1.2".to_owned())]);
        assert_eq!(found.limits, ["Own: It is slow."]);
        let keys = program("station").unwrap()[3].clone();
        assert!(std::path::Path::new(&keys).is_dir());
        drop(host);
        assert!(!std::path::Path::new(&keys).exists());
    }

    #[test]
    fn what_cannot_carry_a_stream_is_named_with_the_next_step() {
        let _alone = crate::install::tests::alone();
        let without = SCENARIO.replace(", broker = \"master\"", "");
        let said = refusal(ADAPTER, &without);
        assert!(
            said.contains("stream `laser` goes over `own`, which needs a broker") && said.contains("`broker ="),
            "{said}"
        );
        let said = refusal(ADAPTER, &without.replace("\"own\"", "\"nothing\""));
        assert!(said.contains("`nothing`, and there is no such") && said.ends_with("one of own, alone"), "{said}");
        let said = refusal(ADAPTER, &without.replace("\"own\"", "\"shared\""));
        assert!(said.contains("do not go over the network") && said.contains("middleware run shared"), "{said}");
        assert!(refusal(ADAPTER, &SCENARIO.replace("\"own\"", "\"alone\"")).contains("has no broker"));
        let missing = ADAPTER.replace("[\"echo\", \"1.2\"]", "[\"false\"]");
        assert!(refusal(&missing, SCENARIO).ends_with("Own is not installed: apt-get install one"));
        let program = SCENARIO.replace("name = \"robot\"", "name = \"robot\"\nprogram = { run = [\"true\"] }");
        assert!(refusal(ADAPTER, &program).contains("node `robot` has a `program`"));
    }
}
