//! A comparison as a document: the word, what is worse in one line for each kind of figure, and a table of every figure.

use std::collections::BTreeMap;

use chronoseal_results::Engine;

use super::{Change, CompareReport, EFFECT_MIN, Kind, Line, RUNS_MIN, SHARE_EFFECT_MIN};
use crate::document::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict};
use crate::inputs::listed;
use crate::word::Word;

/// The comparison as a document; `names` are those of the two sides.
pub fn compare_document(report: &CompareReport, names: (&str, &str)) -> Document {
    Document {
        title: format!("{} against {}", names.1, names.0),
        subtitle: "Runs are compared, not packets.".into(),
        verdict: Verdict { word: report.word, text: text(report, names), points: points(report, names) },
        sections: vec![Section::new("Comparison").with(Block::Table(table(report, names)))],
        environment: Vec::new(),
    }
}

fn text(report: &CompareReport, (a, b): (&str, &str)) -> String {
    let all = report.lines.len();
    match report.word {
        Word::Worse => {
            let worse = report.count(Change::Worse);
            format!("{b} is worse than {a} in {worse} of {all} figures: {}.", listed(&kinds(report, Change::Worse)))
        }
        Word::Failed | Word::Broken => {
            let (was, is) = report.failed;
            let nothing = match report.has_enough() {
                true => format!("Nothing is worse in {b} than in {a}, but"),
                false => format!(
                    "Nothing that can be counted is worse in {b} than in {a}, and the rest was not checked, because a test needs at least \
                     {RUNS_MIN} runs of each side; but"
                ),
            };
            format!("{nothing} {is} of its {} failed, as {was} of {} did in {a}.", runs(report.runs.1), report.runs.0)
        }
        Word::Held if report.count(Change::Better) > 0 => {
            let better = report.count(Change::Better);
            let kinds = listed(&kinds(report, Change::Better));
            format!("{b} is better than {a} in {better} of {all} figures: {kinds}; nothing is worse.")
        }
        Word::Held => format!("No difference worth reporting was found between {a} and {b} in {all} figures."),
        Word::NotChecked | Word::NotProven if !report.has_enough() => format!(
            "Nothing that can be counted is worse in {b} than in {a}, but the rest was not checked: a test needs at least \
             {RUNS_MIN} runs of each side, and there are {} and {}.",
            report.runs.0, report.runs.1
        ),
        Word::NotChecked | Word::NotProven => {
            let why = match report.open {
                0 => "but not everything was".to_owned(),
                open => {
                    format!("but {open} of the {} of {b} {} not held themselves", runs(report.runs.1), were_open(open))
                }
            };
            format!("Nothing is worse in {b} than in {a} as far as it was checked, {why}.")
        }
    }
}

const fn were_open(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".into() } else { format!("{count} runs") }
}

/// The kinds of figures that changed so, each once.
fn kinds(report: &CompareReport, change: Change) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in report.lines.iter().filter(|line| line.change == change) {
        if names.last().is_none_or(|last| last != line.kind.name()) {
            names.push(line.kind.name().to_owned());
        }
    }
    names
}

/// What is worse, one line for each kind of figure with the largest difference of it; then why something was not checked.
fn points(report: &CompareReport, (a, b): (&str, &str)) -> Vec<String> {
    let mut worse: BTreeMap<Kind, Vec<&Line>> = BTreeMap::new();
    for line in report.lines.iter().filter(|line| line.change == Change::Worse) {
        worse.entry(line.kind).or_default().push(line);
    }
    let mut points: Vec<String> = worse.values().filter_map(|lines| largest(report, lines)).collect();
    if report.word != Word::Failed && report.failed.0 > 0 {
        points.push(format!(
            "{} of {} of {a} failed, and {} of {} of {b}.",
            report.failed.0,
            runs(report.runs.0),
            report.failed.1,
            report.runs.1
        ));
    }
    for (count, name) in [(report.interrupted.0, a), (report.interrupted.1, b)] {
        if count > 0 {
            points.push(format!("Stopped before their time, so not checked to their end: {} of {name}.", runs(count)));
        }
    }
    for (count, name) in [(report.repeated.0, a), (report.repeated.1, b)] {
        if count > 0 {
            points.push(format!(
                "Left out, since they repeat another run with the same scenario and seed: {} of {name}.",
                runs(count)
            ));
        }
    }
    if report.has_enough() {
        let not_checked = report.lines.iter().filter(|line| line.change == Change::NotChecked);
        let mut why: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        not_checked.for_each(|line| why.entry(&line.note).or_default().push(line));
        points.extend(why.into_iter().map(|(why, lines)| {
            let more = if lines.len() > 1 { format!(" and {} more", lines.len() - 1) } else { String::new() };
            format!("Not checked: {}{more}, because {why}.", figure_of(lines[0]))
        }));
    }
    points
}

/// The first of these lines, which is the largest, in words.
fn largest(report: &CompareReport, lines: &[&Line]) -> Option<String> {
    let first = lines.first()?;
    let more = match lines.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more of this kind"),
    };
    if first.kind == Kind::Verdict && first.detail == super::figures::FAILED {
        let ((was, is), (of_a, of_b)) = (report.failed, report.runs);
        return Some(format!("Worse: {is} of {} failed, against {was} of {of_a}.", runs(of_b)));
    }
    let value = |value: Option<f64>| value.map_or_else(|| "none".into(), |value| number(first.kind, value));
    let (from, to) = (value(first.values.0), value(first.values.1));
    let shift = first.shift.filter(|_| first.values.0 != Some(0.0)).map_or_else(String::new, |shift| {
        if first.kind.is_absolute() { String::new() } else { format!(", {}", percent(shift)) }
    });
    let note = if first.note.is_empty() { String::new() } else { format!(": {}", first.note) };
    let unit = first.kind.unit();
    Some(format!("Worse: {} from {from} to {to} {unit}{shift}{note}{more}.", figure_of(first)))
}

fn number(kind: Kind, value: f64) -> String {
    format!("{:.*}", digits(kind), kind.shown(value))
}

/// Digits after the point of a figure as shown.
const fn digits(kind: Kind) -> usize {
    match kind {
        Kind::Verdict => 0,
        Kind::Forgeries => 1,
        Kind::Losses => 2,
        Kind::Keys | Kind::Bound | Kind::Tail | Kind::Median => 3,
        Kind::Load | Kind::Processor => 2,
    }
}

fn percent(shift: f64) -> String {
    signed(shift, 1, "%")
}

/// A share in hundredths with its sign; what rounds to nothing has none.
fn signed(share: f64, digits: usize, unit: &str) -> String {
    let text = format!("{:+.digits$} {unit}", 100.0 * share);
    if text.contains(|c: char| c.is_ascii_digit() && c != '0') { text } else { text[1..].to_owned() }
}

/// A line's figure, such as `latency (p99)`.
fn figure(line: &Line) -> String {
    if line.detail.is_empty() { line.kind.name().to_owned() } else { format!("{} ({})", line.kind.name(), line.detail) }
}

fn figure_of(line: &Line) -> String {
    if line.of.is_empty() { figure(line) } else { format!("{} of {}", figure(line), line.of) }
}

fn table(report: &CompareReport, names: (&str, &str)) -> Table {
    let mut table = Table::new(format!("{} against {}, the largest harm first", names.1, names.0))
        .words("change")
        .words("figure")
        .words("of")
        .numbers(names.0, "")
        .numbers(names.1, "")
        .words("unit")
        .numbers("difference", "")
        .numbers("95 % interval", "")
        .numbers("p", "")
        .numbers("runs", "");
    for line in &report.lines {
        table.push(row(report, line));
    }
    let how = match report.pairs {
        Some(pairs) => format!("Tested are {pairs} pairs of runs with the same seed"),
        None if report.has_enough() => {
            "Tested are the runs of both sides, not in pairs, since their seeds do not match".to_owned()
        }
        None => format!("Nothing was tested, since a test needs {RUNS_MIN} runs of each side"),
    };
    table
        .footnote(format!(
            "{how}. p is the share of exchanges of runs between the sides in which any figure stands out as much; one \
             below 0.05 is a change. Differences below {:.0} %, and of shares below {} percentage points, do not stand out.",
            EFFECT_MIN * 100.0,
            SHARE_EFFECT_MIN * 100.0
        ))
        .footnote(
            "Verdicts and forgeries that only one side has are counted, and bounds are exact. Columns of a side: the mean of its \
             runs, of latencies the geometric one.",
        )
}

fn row(report: &CompareReport, line: &Line) -> Vec<Cell> {
    let kind = line.kind;
    let value = |value: Option<f64>, engine: Engine| {
        let from = match (kind, engine) {
            (Kind::Bound, _) => Evidence::Bounded,
            (_, Engine::Sim) => Evidence::Simulated,
            (_, Engine::Live) => Evidence::Measured,
        };
        value.map_or_else(
            || Cell::na(if line.note.is_empty() { "no run has it" } else { &line.note }),
            |value| Cell::number(kind.shown(value), digits(kind)).from(from),
        )
    };
    let mark = match line.change {
        Change::Better => Mark::Good,
        Change::Worse => Mark::Bad,
        Change::Same => Mark::None,
        Change::NotChecked => Mark::Warn,
    };
    let shown = |shift: f64| {
        if kind.is_absolute() { signed(shift, 2, "points") } else { percent(shift) }
    };
    // What was never there before is no ratio.
    let is_ratio = kind.is_absolute() || line.values.0.is_some_and(|value| value > 0.0);
    let shift = match line.shift.filter(|_| is_ratio) {
        Some(shift) => Cell { number: Some(shift), ..Cell::text(shown(shift)) },
        None => Cell::na("not a ratio"),
    };
    let interval = match line.interval.filter(|_| is_ratio) {
        Some((low, high)) => Cell::text(format!("{} .. {}", shown(low), shown(high))),
        None => Cell::na(if kind.is_counted() { "counted" } else { "not tested" }),
    };
    vec![
        Cell::text(line.change.name()).marked(mark).titled(&line.note),
        Cell::text(figure(line)),
        Cell::text(&line.of),
        value(line.values.0, report.engines.0),
        value(line.values.1, report.engines.1),
        Cell::text(kind.unit()),
        shift,
        interval,
        line.p.map_or_else(|| Cell::na("not tested"), |p| Cell::number(p, 4)),
        Cell::text(format!("{} / {}", line.n.0, line.n.1)),
    ]
}
