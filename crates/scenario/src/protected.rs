//! A scenario with one protection on all streams that can have it.

use chronoseal_plan::Plan;
use toml_edit::Value as Toml;

use crate::kinds::SegmentKind;
use crate::load::parse_with;
use crate::problem::{Problem, Problems};
use crate::scenario::Texts;
use crate::source::{Node, Source, Step, Value};

/// The plan with a protection on every stream that can have it, and the names of the others.
pub(crate) fn protected(
    kinds: &[&dyn SegmentKind],
    texts: &Texts,
    protection: &str,
) -> Result<(Plan, Vec<String>), Problems> {
    let spec = parse_with(kinds, &texts.name, &texts.text, &texts.sets)?;
    let value = Toml::from(protection).to_string();
    let mut wanted: Vec<usize> = (0..spec.streams.len()).collect();
    loop {
        let mut texts = texts.clone();
        texts.sets.extend(wanted.iter().map(|entry| (format!("streams.{entry}.protection"), value.clone())));
        let problems = match texts.plan_with(kinds) {
            Ok(plan) => {
                let kept = (0..spec.streams.len()).filter(|entry| !wanted.contains(entry));
                return Ok((plan, kept.map(|entry| spec.streams[entry].name.clone()).collect()));
            }
            Err(problems) => problems,
        };
        // The places are those of the text with the protection in it.
        let Ok(tried) = parse_with(kinds, &texts.name, &texts.text, &texts.sets) else { return Err(problems) };
        let refused: Vec<usize> =
            problems.list().iter().flat_map(|problem| concerned(&tried.source, problem)).collect();
        let left: Vec<usize> = wanted.iter().copied().filter(|entry| !refused.contains(entry)).collect();
        if left.is_empty() || left.len() == wanted.len() {
            return Err(problems);
        }
        wanted = left;
    }
}

/// The entries of streams that a problem points at.
fn concerned(source: &Source, problem: &Problem) -> Vec<usize> {
    let Some(Value::List(streams)) = source.root.child(Step::Key("streams")).map(|entry| &entry.node.value) else {
        return Vec::new();
    };
    let is_meant = |stream: &Node| problem.labels.iter().any(|(span, _)| holds(stream, span.start));
    (0..streams.len()).filter(|entry| is_meant(&streams[*entry])).collect()
}

/// True if what stands at a place of the text is a value of this table, or of one in it.
fn holds(node: &Node, place: usize) -> bool {
    match &node.value {
        Value::Table(entries) => {
            entries.iter().any(|entry| entry.key_span.contains(&place) || holds(&entry.node, place))
        }
        Value::List(items) => items.iter().any(|item| holds(item, place)),
        _ => node.span.contains(&place),
    }
}
