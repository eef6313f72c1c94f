//! Two suites: one for drivers, and [`Contract`] for nodes.
//!
//! This crate runs no node outside its suites and is for tests only; it needs an allocator, which `chronoseal-core` does without.
//!
//! The conformance suite is for drivers: whoever drives a [`Node`] has to pass it, in virtual time or by the wall clock.
//!
//! Each [`Case`] is a small network of test stations and the events each of them must tell, in order. Times and
//! [`Event::value`] are excluded, so a simulator and a loaded host have to agree on everything that is left. The
//! stations also watch the contract of the seam themselves: what a driver gets wrong shows up as an event too much,
//! and [`Rule`] says what it means.
//!
//! ```no_run
//! use chronoseal_core_testing::{Driver, run_all};
//! fn conforms(driver: &mut dyn Driver) {
//!     println!("{}", run_all(driver));
//! }
//! ```
//! To add a case, write its stations in `cases.rs` and add one line to the table there.

mod cases;
mod contract;
mod station;
#[cfg(test)]
mod tests;

use core::fmt;

pub use contract::{Breach, Conduct, Contract, ContractFailure, Deed, Deeds, Script, Variation, bus, record};
pub use station::Rule;

use chronoseal_core::{Duration, Event, Node, NodeId, PortId, StreamId};

/// Something that can run nodes: the suite is generic over it.
pub trait Driver {
    /// Shown in reports.
    fn name(&self) -> &str;

    /// Runs `network` from time zero, gives every node [`chronoseal_core::Command::Stop`] at `until`, and returns what the nodes
    /// told, each node's events in its own order. All clocks are perfect and show zero at the start. A link carries
    /// frames both ways, loses none and keeps their order; how long it takes is up to the driver, below 5 ms. A driver
    /// that charges [`chronoseal_core::Work`] may charge up to 1 ms for each.
    ///
    /// # Errors
    /// If the run could not be made.
    fn run(&mut self, network: TestNetwork, until: Duration) -> Result<Vec<(NodeId, Event)>, NotRun>;
}

/// Why a driver could not run a network: whatever its own error is.
pub type NotRun = Box<dyn core::error::Error + Send + Sync>;

/// A boxed test station.
pub type TestNode = Box<dyn Node + Send>;

/// What a driver has to run.
pub struct TestNetwork {
    /// Name of the case; [`network_of`] builds the same network again, in another process if need be.
    pub case: &'static str,
    /// Stations, by ascending identifier from 0.
    pub nodes: Vec<(NodeId, TestNode)>,
    /// Point-to-point links between ports.
    pub links: Vec<[(NodeId, PortId); 2]>,
}

/// One case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// The behaviour it checks.
    pub name: &'static str,
    /// How long it runs.
    pub until: Duration,
    build: fn() -> CaseParts,
}

/// A case's stations, links and expectation, before it got its name.
struct CaseParts {
    nodes: Vec<TestNode>,
    links: Vec<[(NodeId, PortId); 2]>,
    expected: Vec<Vec<Event>>,
}

impl Case {
    /// Its network, built anew.
    pub fn network(&self) -> TestNetwork {
        let parts = (self.build)();
        let nodes = parts.nodes.into_iter().enumerate().map(|(index, node)| (NodeId(index as u16), node)).collect();
        TestNetwork { case: self.name, nodes, links: parts.links }
    }

    /// What each station, by index, must tell.
    pub fn expected(&self) -> Vec<Vec<Event>> {
        (self.build)().expected
    }
}

/// Every case, in the order they run.
pub fn cases() -> &'static [Case] {
    cases::TABLE
}

/// The network of the case called `name`, for drivers whose nodes live in other processes.
pub fn network_of(name: &str) -> Option<TestNetwork> {
    cases().iter().find(|case| case.name == name).map(Case::network)
}

/// What a driver passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// [`Driver::name`].
    pub driver: String,
    /// Name and number of events of every case.
    pub cases: Vec<(&'static str, usize)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "driver {}: {} cases agree", self.driver, self.cases.len())?;
        for (name, events) in &self.cases {
            writeln!(f, "  {name}: {events} events")?;
        }
        Ok(())
    }
}

/// Runs every case.
///
/// # Panics
/// With the difference per node, if any case fails.
pub fn run_all(driver: &mut dyn Driver) -> Report {
    let mut report = Report { driver: driver.name().into(), cases: Vec::new() };
    let mut failures = Vec::new();
    for case in cases() {
        match run_case(driver, case) {
            Ok(events) => report.cases.push((case.name, events)),
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    assert!(
        failures.is_empty(),
        "driver {}: {} of {} cases fail\n{}",
        report.driver,
        failures.len(),
        cases().len(),
        failures.join("\n")
    );
    report
}

/// How a driver fails a case.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CaseFailure {
    /// The run could not be made.
    NotRun {
        /// Name of the case.
        case: &'static str,
        /// What the driver says.
        reason: String,
    },
    /// The stations told something else than they must.
    Difference {
        /// Name of the case.
        case: &'static str,
        /// Per node, what was expected and what came, on lines of their own.
        difference: String,
    },
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRun { case, reason } => write!(f, "case {case}: {reason}"),
            Self::Difference { case, difference } => write!(f, "case {case}:\n{difference}"),
        }
    }
}

impl core::error::Error for CaseFailure {}

/// Runs one case and counts its events.
///
/// # Errors
/// [`CaseFailure`], ready to be shown.
pub fn run_case(driver: &mut dyn Driver, case: &Case) -> Result<usize, CaseFailure> {
    let not_run = |reason: NotRun| CaseFailure::NotRun { case: case.name, reason: reason.to_string() };
    let told = driver.run(case.network(), case.until).map_err(not_run)?;
    let expected = case.expected();
    let mut difference = String::new();
    if let Some((node, _)) = told.iter().find(|(node, _)| node.index() >= expected.len()) {
        difference += &format!("  an event came from node {}, which is not in the network\n", node.0);
    }
    for (index, expected) in expected.iter().enumerate() {
        let told: Vec<Event> = told.iter().filter(|(node, _)| node.index() == index).map(|(_, event)| *event).collect();
        difference += &difference_of(index, expected, &told);
    }
    if difference.is_empty() { Ok(told.len()) } else { Err(CaseFailure::Difference { case: case.name, difference }) }
}

/// Empty if both say the same.
fn difference_of(node: usize, expected: &[Event], told: &[Event]) -> String {
    let same = |a: &Event, b: &Event| (a.kind, a.stream, a.sequence) == (b.kind, b.stream, b.sequence);
    let first = expected.iter().zip(told).take_while(|(a, b)| same(a, b)).count();
    if first == expected.len() && first == told.len() {
        return String::new();
    }
    let show = |events: &[Event]| match events.get(first) {
        None => "nothing more".to_owned(),
        Some(event) => {
            let rest: Vec<String> = events[first..].iter().take(4).map(describe).collect();
            let more = events.len().saturating_sub(first + 4);
            let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
            match Rule::of(event) {
                Some(rule) => format!("the driver broke a rule: {rule}"),
                None => rest.join(", ") + &tail,
            }
        }
    };
    format!(
        "  node {node}, after {first} events in common:\n    expected {}\n    got      {}\n",
        show(expected),
        show(told)
    )
}

fn describe(event: &Event) -> String {
    let detail = match event.kind {
        chronoseal_core::EventKind::Discarded(reason) => format!("({})", reason.name()),
        _ => String::new(),
    };
    let stream = if event.stream == StreamId::NONE { String::new() } else { format!(" stream {}", event.stream.0) };
    format!("{}{detail}{stream} #{}", event.kind.name(), event.sequence)
}
