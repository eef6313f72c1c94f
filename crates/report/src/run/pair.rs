//! The report of one scenario that was run twice, such as simulated and live.

use chronoseal_results::{RunMeta, RunRows, RunSummary};

use super::{environment, ranges, sections_below, verdict};
use crate::document::{Document, Section, Verdict};
use crate::word::Word;

/// One run, as a report sees it.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// What it was.
    pub meta: &'a RunMeta,
    /// What it amounts to.
    pub summary: &'a RunSummary,
    /// What it left behind.
    pub rows: &'a RunRows,
}

/// The document of two runs: one picture with the ranges of both, and below it everything of the first and then of the second.
/// Streams are matched by name. It holds if both hold.
pub fn pair_report(first: RunView<'_>, second: RunView<'_>) -> Document {
    let names = names(first.meta, second.meta);
    let both = [(first, names[0]), (second, names[1])];
    let picture = ranges::section((first.meta, first.summary), Some((second.meta, second.summary)));
    let below = both.into_iter().flat_map(|(run, name)| {
        let sections = sections_below(run.meta, run.summary, run.rows).into_iter();
        // Titles are anchors, and the same section is there twice.
        let renamed = move |section: Section| Section {
            blocks: section.blocks,
            ..Section::new(format!("{}, {name}", section.title))
        };
        sections.map(renamed)
    });
    Document {
        title: format!("{}: {} and {}", first.meta.name, names[0], names[1]),
        subtitle: first.meta.description.clone(),
        verdict: of_both(both),
        sections: std::iter::once(picture).chain(below).filter(|section| !section.blocks.is_empty()).collect(),
        environment: facts(both),
    }
}

/// What tells the two apart in titles.
fn names(first: &RunMeta, second: &RunMeta) -> [&'static str; 2] {
    match first.engine == second.engine {
        true => ["first run", "second run"],
        false => [first.engine.evidence(), second.engine.evidence()],
    }
}

fn of_both(both: [(RunView<'_>, &str); 2]) -> Verdict {
    let verdicts = both.map(|(run, name)| (verdict::verdict(run.meta, run.summary), name));
    let mut merged = Verdict { word: Word::Held, text: String::new(), points: Vec::new() };
    for (verdict, name) in verdicts {
        merged.word = merged.word.and(verdict.word);
        if !merged.text.is_empty() {
            merged.text.push(' ');
        }
        merged.text += &format!("{}: {}", capitalised(name), verdict.text);
        merged.points.extend(verdict.points.into_iter().map(|point| format!("{}: {point}", capitalised(name))));
    }
    merged
}

fn capitalised(name: &str) -> String {
    let mut name = name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// What is the same of both once, and what differs of each.
fn facts(both: [(RunView<'_>, &str); 2]) -> Vec<(String, String)> {
    let [first, second] = both.map(|(run, name)| (environment(run.meta), name));
    let of = |(facts, name): &(Vec<(String, String)>, &str), others: &[(String, String)]| {
        let differing = facts.iter().filter(|fact| !others.contains(fact));
        differing.map(|(fact, value)| (format!("{fact}, {name}"), value.clone())).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = first.0.iter().filter(|fact| second.0.contains(fact)).cloned().collect();
    all.extend(of(&first, &second.0));
    all.extend(of(&second, &first.0));
    all
}
