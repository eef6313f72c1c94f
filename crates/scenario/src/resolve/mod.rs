//! From what was written to what will be run.

mod can;
mod names;
mod network;
mod nodes;
mod platforms;
mod protections;
mod recordings;
mod streams;
mod threats;

use std::fmt::Display;

use crate::limits::*;
use crate::load::Files;
use crate::plan::{ETHERNET, Facet, Fidelity, Plan, ProtectionKind, SegmentId, SegmentPlan};
use crate::problem::{Code, Problem, Problems};
use crate::source::{Step, at};
use crate::spec::{FidelitySpec, NetworkSpec, Spec, TimeTriggeredEthernetSpec};

/// Resolves every name, fills every default and checks what a scenario means.
///
/// # Errors
/// Everything that is wrong with it.
pub fn resolve(spec: &Spec, files: &dyn Files) -> Result<Plan, Problems> {
    let mut resolver = Resolver::new(spec);
    let plan = match &spec.network {
        NetworkSpec::TimeTriggeredEthernet(network) => Some(resolver.plan(network, files)),
        NetworkSpec::CanBus(bus) => resolver.can_plan(bus, files),
    };
    match plan {
        Some(plan) => resolver.problems.or(plan),
        None => Err(resolver.problems),
    }
}

/// The only segment that a file of this format has.
const ONLY: SegmentId = SegmentId(0);

/// The problems so far. A part that is wrong is replaced by one that is possible, so that the rest can be checked.
struct Resolver<'a> {
    spec: &'a Spec,
    problems: Problems,
    /// False if the cluster cycle is wrong itself, so that nothing can be said about what has to divide it.
    cycle_is_known: bool,
}

impl<'a> Resolver<'a> {
    fn new(spec: &'a Spec) -> Self {
        Self { spec, problems: Problems::new(&spec.source.name, &spec.source.text), cycle_is_known: true }
    }

    fn plan(&mut self, network: &TimeTriggeredEthernetSpec, files: &dyn Files) -> Plan {
        let spec = self.spec;
        self.not_on_ethernet();
        self.identifier(&spec.name, at!["name"], "the scenario's name");
        let duration = self.within(at!["duration"], "the duration", spec.duration.0, PERIOD_MIN, DURATION_MAX);
        let network_spec = network;
        let network = self.network(network_spec);
        let platforms = self.platforms(files);
        let (nodes, longest_driver) = self.nodes(&network, &platforms);
        let network = Self::with_transmission_delay(network_spec, network, longest_driver);
        let protections = self.protections();
        let candidates = self.candidates(&protections);
        let recordings = self.recordings(files);
        let streams = self.streams(&network, &nodes, &protections, &recordings, duration);
        let (attackers, threats) = self.threats(&network, &nodes, &streams, duration);
        let fidelity = match spec.fidelity {
            FidelitySpec::Bytes => Fidelity::Bytes,
            FidelitySpec::Timing => Fidelity::Timing,
        };

        let mut notes = Vec::new();
        let any_hmac = streams
            .iter()
            .any(|stream| matches!(protections[stream.protection.0 as usize].kind, ProtectionKind::Hmac { .. }));
        if fidelity == Fidelity::Timing && any_hmac {
            notes.push(
                "Fidelity is timing: tags take their time and length, but none is made or checked, \
                 so nothing is said about attacks."
                    .to_owned(),
            );
        }
        Plan {
            name: spec.name.clone(),
            description: spec.description.clone(),
            seed: spec.seed,
            duration,
            fidelity,
            segments: vec![SegmentPlan {
                name: "network".into(),
                kind: ETHERNET,
                facet: Facet::new(network),
                own_nodes: vec!["switch".into()],
            }],
            nodes,
            attackers,
            streams,
            protections,
            candidates,
            threats,
            platforms,
            recordings,
            group_key: None,
            freshness: None,
            scenario_hash: spec.source.hash.clone(),
            notes,
        }
    }

    /// What only a CAN bus has, and what only it can do without.
    fn not_on_ethernet(&mut self) {
        let spec = self.spec;
        let misplaced = [
            ("messages", spec.messages.is_empty()),
            ("background", spec.background.is_empty()),
            ("attacks", spec.attacks.is_empty()),
            ("group_key", spec.group_key.is_none()),
            ("freshness", spec.freshness.is_none()),
        ];
        for (key, _) in misplaced.into_iter().filter(|(_, is_absent)| !is_absent) {
            self.report(
                Code::WrongNetwork,
                at![key],
                format!("`{key}` belongs to a CAN bus; this network is time-triggered Ethernet"),
                "not on this network",
                "leave it out, or write `[network.can_bus]`",
            );
        }
        for (i, node) in spec.nodes.iter().enumerate() {
            for (key, is_written) in [("address", node.address.is_some()), ("bus", node.bus.is_some())] {
                if is_written {
                    self.report(
                        Code::WrongNetwork,
                        at!["nodes", i, key],
                        format!("`{key}` belongs to a CAN bus; this network is time-triggered Ethernet"),
                        "not on this network",
                        "leave it out",
                    );
                }
            }
        }
        if spec.streams.is_empty() {
            self.report(
                Code::MissingKey,
                at!["streams"],
                "the scenario has no `streams`",
                "`streams` is missing",
                "add a `[[streams]]`",
            );
        }
    }

    /// A problem at `path`.
    fn report(
        &mut self,
        code: Code,
        path: &[Step<'_>],
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) {
        let span = self.spec.source.span(path);
        self.problems.push(Problem::new(code, message).label(span, label).help(help));
    }

    /// A problem at `path` that has to do with another place too.
    fn report_both(
        &mut self,
        code: Code,
        (path, label): (&[Step<'_>], &str),
        (other, other_label): (&[Step<'_>], &str),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (span, other_span) = (self.spec.source.span(path), self.spec.source.span(other));
        let mut problem = Problem::new(code, message).label(span.clone(), label);
        if span != other_span {
            problem = problem.label(other_span, other_label);
        }
        self.problems.push(problem.help(help));
    }

    /// `value`, held between `min` and `max`; outside it is a problem.
    fn within<T: Ord + Copy + Display>(&mut self, path: &[Step<'_>], what: &str, value: T, min: T, max: T) -> T {
        if value >= min && value <= max {
            return value;
        }
        let label = if value < min { "too small" } else { "too large" };
        self.report(
            Code::OutOfRange,
            path,
            format!("{what} is {value}"),
            label,
            format!("write a value from {min} to {max}"),
        );
        value.clamp(min, max)
    }
}
