//! What a scenario can say and nothing bounds, simulates or measures yet.

use crate::problem::{Code, Problem, Problems};
use crate::source::{Step, at};
use crate::spec::Spec;

/// Refuses what would be read and then left out of every answer.
///
/// # Errors
/// One problem, [`Code::NotYet`], for everything that is left out.
pub fn refuse_unfinished(spec: &Spec) -> Result<(), Problems> {
    let mut problems = Problems::new(&spec.source.name, &spec.source.text);
    let mut refuse = |path: &[Step<'_>], message: String, help: &str| {
        let problem = Problem::new(Code::NotYet, message).label(spec.source.span(path), "not there yet").help(help);
        problems.push(problem);
    };
    for (i, node) in spec.nodes.iter().enumerate() {
        if node.gateway.as_ref().is_some_and(|gateway| !gateway.collect.is_empty()) {
            let message = format!(
                "`{}` collects PDUs of several streams in one frame, and gateways only pass each on yet",
                node.name
            );
            refuse(
                at!["nodes", i, "gateway", "collect"],
                message,
                "leave `collect` out: each PDU has a frame of its own",
            );
        }
    }
    problems.or(())
}
