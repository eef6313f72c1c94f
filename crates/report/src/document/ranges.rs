//! One picture of many streams: where the times of each lie, how long they can get, and how long they may.

use std::collections::BTreeSet;

use chronoseal_core::statistics::percentile;
use serde::Serialize;

use super::{Axis, Cell, Evidence, Mark, Table, number_text};

/// Rows a page and a terminal draw at most. Data forms hold all.
pub const RANGE_ROWS_MAX: usize = 40;
/// A greatest value this many times the smallest typical one asks for a logarithmic axis.
const LINEAR_MAX: f64 = 20.0;

/// Ranges of one quantity over a common axis, a row for each stream.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Ranges {
    /// What it shows.
    pub caption: String,
    /// The quantity along the axis, such as `end-to-end latency`.
    pub quantity: String,
    /// Unit of every value.
    pub unit: String,
    /// What [`RangePart::hop`] counts: segments and gateways by name. The number of a hop chooses its colour.
    pub hops: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<RangeRow>,
    /// Remarks below it.
    pub footnotes: Vec<String>,
    /// Values that all rows are held against, each with its name: `10 Hz`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(f64, String)>,
    /// The axis is logarithmic, whatever the values are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_log: bool,
}

/// A boxplot of J. W. Tukey (Exploratory Data Analysis, 1977).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tukey {
    /// The values below which a quarter and three quarters of the samples are.
    pub quartiles: [f64; 2],
    /// The least and the greatest sample that is no further from the box than one and a half of its length.
    pub whiskers: [f64; 2],
    /// Samples beyond the whiskers.
    pub beyond: u64,
}

impl Tukey {
    /// Of samples in order; `None` if they are too few for quartiles.
    pub fn of(sorted: &[f64]) -> Option<Self> {
        let quartiles = [percentile(sorted, 0.25)?, percentile(sorted, 0.75)?];
        let reach = 1.5 * (quartiles[1] - quartiles[0]);
        let is_near = |value: &f64| (quartiles[0] - reach..=quartiles[1] + reach).contains(value);
        let (low, high) = (sorted.iter().find(|value| is_near(value))?, sorted.iter().rfind(|value| is_near(value))?);
        let near = sorted.iter().filter(|value| is_near(value)).count();
        Some(Self { quartiles, whiskers: [*low, *high], beyond: (sorted.len() - near) as u64 })
    }
}

/// One stream.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RangeRow {
    /// Its name.
    pub name: String,
    /// The name that it shares with streams that are alike: `wheel` of `wheel.0` and `wheel.1`. Empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instance_of: String,
    /// What it is, in a few words: `pedal -> brake-rear`.
    pub note: String,
    /// Values above this one are too late.
    pub deadline: Option<f64>,
    /// Why there is no deadline; empty if that needs no reason.
    pub no_deadline: String,
    /// No value can be above this one, by analysis.
    pub bound: Option<RangeBound>,
    /// Why there is no bound; empty if that needs no reason.
    pub unbounded: String,
    /// What was seen, each source of numbers for itself.
    pub spreads: Vec<RangeSpread>,
    /// Sources that were asked and saw nothing, each with the reason.
    pub absent: Vec<(Evidence, String)>,
    /// What to think of it beyond what the values themselves show.
    pub mark: Mark,
    /// Why `mark`, in a few words: `3 late, 1 missing`.
    pub remark: String,
}

/// An upper bound, and what of it passes in each hop.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RangeBound {
    /// All of it.
    pub total: f64,
    /// In the order of the way; empty if the bound is not divided.
    pub parts: Vec<RangePart>,
}

/// What passes in one hop.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RangePart {
    /// Index into [`Ranges::hops`].
    pub hop: usize,
    /// In the unit of the picture.
    pub value: f64,
}

/// The spread of what one source of numbers saw.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RangeSpread {
    /// Where the values come from.
    pub evidence: Evidence,
    /// More about the source, where the evidence alone does not tell two of them apart.
    pub note: String,
    /// Samples.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// Median, if the sample can carry it.
    pub median: Option<f64>,
    /// 99th percentile, if the sample can carry it.
    pub p99: Option<f64>,
    /// Largest.
    pub max: f64,
    /// The median in each hop; may be empty.
    pub parts: Vec<RangePart>,
    /// Drawn in place of the range, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tukey: Option<Tukey>,
}

impl Ranges {
    /// The rows a page or a terminal draws, in their order: all, or the [`RANGE_ROWS_MAX`] worst. Marked rows are
    /// worse than others, and those with a deadline worse than those without. Then decides the greatest value, seen or
    /// bounded, as a share of the deadline; where there is no deadline, the value itself.
    pub fn drawn(&self) -> Vec<&RangeRow> {
        let mut chosen: Vec<usize> = (0..self.rows.len()).collect();
        chosen.sort_by(|&a, &b| {
            let (a, b) = (self.rows[a].severity(), self.rows[b].severity());
            (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2))
        });
        chosen.truncate(RANGE_ROWS_MAX);
        chosen.sort_unstable();
        chosen.into_iter().map(|row| &self.rows[row]).collect()
    }

    /// A sentence on the rows [`Ranges::drawn`] leaves out, if there are any.
    pub fn cut_text(&self) -> Option<String> {
        let left_out = self.rows.len().saturating_sub(RANGE_ROWS_MAX);
        (left_out > 0).then(|| {
            format!(
                "The {RANGE_ROWS_MAX} streams closest to or beyond their deadlines are drawn. {left_out} more are left \
                 out; the CSV and JSON forms of this report hold all {}.",
                self.rows.len()
            )
        })
    }

    /// The axis for `rows`: logarithmic where a linear one would squeeze the ranges of some of them into its first pixels.
    pub fn axis(&self, rows: &[&RangeRow]) -> Axis {
        let high = rows.iter().flat_map(|row| row.values()).fold(0.0, f64::max);
        let typical = rows.iter().filter_map(|row| row.typical()).filter(|value| *value > 0.0);
        let log = self.is_log || high > LINEAR_MAX * typical.fold(f64::INFINITY, f64::min);
        Axis { log, ..Axis::linear(&self.quantity, &self.unit) }
    }

    /// The sources some row has a spread of or misses one of, in the order of their lanes.
    pub fn sources(&self) -> BTreeSet<Evidence> {
        self.rows.iter().flat_map(RangeRow::sources).collect()
    }

    /// Every kind of evidence in it: the sources and, for bounds, [`Evidence::Bounded`].
    pub fn evidence(&self) -> BTreeSet<Evidence> {
        let bounded = self.has_bounds().then_some(Evidence::Bounded);
        let seen = self.rows.iter().flat_map(|row| &row.spreads).map(|spread| spread.evidence);
        seen.chain(bounded).collect()
    }

    /// True if some row has a bound.
    pub fn has_bounds(&self) -> bool {
        self.rows.iter().any(|row| row.bound.is_some())
    }

    /// The name of a hop, or its number if there is none.
    pub fn hop_name(&self, hop: usize) -> String {
        self.hops.get(hop).cloned().unwrap_or_else(|| format!("hop {hop}"))
    }

    /// `value` in words, with the unit.
    pub fn value_text(&self, value: f64) -> String {
        format!("{} {}", short_number(value), self.unit).trim_end().into()
    }

    /// Why values are absent in `rows`, each reason once: `bound: best effort`.
    pub fn na_reasons(rows: &[&RangeRow]) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        let mut add = |what: &str, why: &str| {
            let reason = format!("{what}: {why}");
            if !why.is_empty() && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        };
        for row in rows {
            if row.deadline.is_none() {
                add("deadline", &row.no_deadline);
            }
            if row.bound.is_none() {
                add("bound", &row.unbounded);
            }
            row.absent.iter().for_each(|(source, why)| add(source.name(), why));
        }
        reasons
    }

    /// Everything about one row, a line each.
    pub fn describe(&self, row: &RangeRow) -> Vec<String> {
        let mut lines = vec![match row.note.as_str() {
            "" => row.name.clone(),
            note => format!("{} ({note})", row.name),
        }];
        lines.extend(row.findings().into_iter().map(|(_, finding)| finding));
        match row.deadline {
            Some(deadline) => lines.push(format!("deadline {}", self.value_text(deadline))),
            None => lines.push(absent("deadline", &row.no_deadline)),
        }
        let parts = |parts: &[RangePart]| {
            let parts: Vec<String> =
                parts.iter().map(|part| format!("{} {}", self.hop_name(part.hop), short_number(part.value))).collect();
            parts.join(" + ")
        };
        let share = |value: f64| match row.deadline.filter(|deadline| *deadline > 0.0) {
            Some(deadline) => format!(", {:.1} % of the deadline", 100.0 * value / deadline),
            None => String::new(),
        };
        match &row.bound {
            Some(bound) => {
                let of = if bound.parts.is_empty() { String::new() } else { format!(" = {}", parts(&bound.parts)) };
                lines.push(format!("bound {}{of}{}", self.value_text(bound.total), share(bound.total)));
            }
            None => lines.push(absent("bound", &row.unbounded)),
        }
        for spread in &row.spreads {
            let percentile = |name: &str, value: Option<f64>| match value {
                Some(value) => format!("{name} {}", self.value_text(value)),
                None => format!("{name} n/a: too few samples"),
            };
            let note = if spread.note.is_empty() { String::new() } else { format!(" ({})", spread.note) };
            lines.push(format!(
                "{}{note}, n = {}: min {}, {}, {}, max {}{}",
                spread.evidence.name(),
                spread.n,
                self.value_text(spread.min),
                percentile("median", spread.median),
                percentile("p99", spread.p99),
                self.value_text(spread.max),
                share(spread.max)
            ));
            if let Some(Tukey { quartiles: [q1, q3], whiskers: [low, high], beyond }) = spread.tukey {
                let [q1, q3, low, high] = [q1, q3, low, high].map(|value| self.value_text(value));
                lines.push(format!("quartiles {q1} and {q3}, whiskers from {low} to {high}, {beyond} beyond"));
            }
            if !spread.parts.is_empty() {
                lines.push(format!("{} median by hop: {}", spread.evidence.name(), parts(&spread.parts)));
            }
        }
        lines.extend(row.absent.iter().map(|(source, why)| absent(source.name(), why)));
        lines
    }

    /// Every number of `rows` as a table: a line for the bound and one for each source.
    pub fn table(&self, rows: &[&RangeRow]) -> Table {
        let unit = &self.unit;
        let mut table = Table::new(format!("{}: numbers", self.caption))
            .words("stream")
            .words("from, to")
            .words("source")
            .numbers("n", "")
            .numbers("min", unit)
            .numbers("median", unit)
            .numbers("p99", unit)
            .numbers("max", unit);
        let boxes = rows.iter().flat_map(|row| &row.spreads).any(|spread| spread.tukey.is_some());
        if boxes {
            for name in ["first quartile", "third quartile", "lower whisker", "upper whisker"] {
                table = table.numbers(name, unit);
            }
        }
        table = table.numbers("deadline", unit);
        for hop in &self.hops {
            table = table.numbers(format!("in {hop}"), unit);
        }
        table = table.words("remark");
        for row in rows {
            let findings = row.findings();
            let remark = findings.iter().map(|(_, finding)| finding.as_str()).collect::<Vec<_>>().join("; ");
            let remark = Cell::text(remark).marked(findings.first().map_or(Mark::None, |(mark, _)| *mark));
            let mut push =
                |source: String, numbers: [Cell; 5], tukey: Option<Tukey>, parts: &[RangePart], kind: Evidence| {
                    let deadline = row.deadline.map_or_else(|| Cell::na(&row.no_deadline), number);
                    let mut cells = vec![Cell::text(&row.name), Cell::text(&row.note), Cell::text(source)];
                    cells.extend(numbers.map(|cell| if cell.number.is_some() { cell.from(kind) } else { cell }));
                    if boxes {
                        let values =
                            tukey.map(|Tukey { quartiles: [q1, q3], whiskers: [low, high], .. }| [q1, q3, low, high]);
                        cells.extend(match values {
                            Some(values) => values.map(|value| number(value).from(kind)),
                            None => [(); 4].map(|()| Cell::text("")),
                        });
                    }
                    cells.push(deadline);
                    cells.extend((0..self.hops.len()).map(|hop| {
                        let mut values = parts.iter().filter(|part| part.hop == hop).map(|part| part.value).peekable();
                        match values.peek() {
                            Some(_) => number(values.sum()).from(kind),
                            None => Cell::text(""),
                        }
                    }));
                    cells.push(remark.clone());
                    table.push(cells);
                };
            let nothing = |why: &str| [(); 5].map(|()| Cell::na(why));
            if let Some(bound) = &row.bound {
                let empty = || Cell::text("");
                let cells = [empty(), empty(), empty(), empty(), number(bound.total)];
                push("bound".into(), cells, None, &bound.parts, Evidence::Bounded);
            } else if !row.unbounded.is_empty() {
                push("bound".into(), nothing(&row.unbounded), None, &[], Evidence::Plain);
            }
            for spread in &row.spreads {
                let few =
                    |value: Option<f64>| value.map_or_else(|| Cell::na("too few samples for this percentile"), number);
                let cells = [
                    Cell::count(spread.n),
                    number(spread.min),
                    few(spread.median),
                    few(spread.p99),
                    number(spread.max),
                ];
                let note = if spread.note.is_empty() { String::new() } else { format!(", {}", spread.note) };
                push(format!("{}{note}", spread.evidence.name()), cells, spread.tukey, &spread.parts, spread.evidence);
            }
            for (source, why) in &row.absent {
                push(source.name().into(), nothing(why), None, &[], Evidence::Plain);
            }
        }
        table
    }
}

impl RangeRow {
    /// The greatest value seen, whatever the source.
    pub fn max_seen(&self) -> Option<f64> {
        self.spreads.iter().map(|spread| spread.max).filter(|max| max.is_finite()).reduce(f64::max)
    }

    /// True if a value beyond the deadline was seen.
    pub fn missed(&self) -> bool {
        matches!((self.max_seen(), self.deadline), (Some(max), Some(deadline)) if max > deadline)
    }

    /// What is wrong with it, the worst first; empty if nothing is.
    pub fn findings(&self) -> Vec<(Mark, String)> {
        let mut findings = Vec::new();
        for spread in &self.spreads {
            if self.deadline.is_some_and(|deadline| spread.max > deadline) {
                findings.push((Mark::Bad, format!("{} beyond deadline", spread.evidence.name())));
            }
        }
        if self.mark == Mark::Bad {
            findings.push((Mark::Bad, self.remark.clone()));
        }
        if let Some(bound) = &self.bound {
            if self.deadline.is_some_and(|deadline| bound.total > deadline) {
                findings.push((Mark::Warn, "bound beyond deadline".into()));
            }
            for spread in self.spreads.iter().filter(|spread| spread.max > bound.total) {
                findings.push((Mark::Warn, format!("{} beyond bound", spread.evidence.name())));
            }
        }
        if self.mark == Mark::Warn {
            findings.push((Mark::Warn, self.remark.clone()));
        }
        findings.retain(|(_, finding)| !finding.is_empty());
        findings
    }

    /// Every value an axis has to show.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let spreads = self.spreads.iter().flat_map(|spread| [spread.min, spread.max]);
        let bound = self.bound.as_ref().map(|bound| bound.total);
        spreads.chain(bound).chain(self.deadline).filter(|value| value.is_finite())
    }

    fn sources(&self) -> impl Iterator<Item = Evidence> {
        self.spreads.iter().map(|spread| spread.evidence).chain(self.absent.iter().map(|(source, _)| *source))
    }

    /// Where most of it lies.
    fn typical(&self) -> Option<f64> {
        let spread = self.spreads.iter().map(|spread| spread.median.unwrap_or(spread.max)).reduce(f64::min);
        spread.or(self.bound.as_ref().map(|bound| bound.total)).or(self.deadline).filter(|value| value.is_finite())
    }

    /// The greater, the worse; never NaN.
    fn severity(&self) -> (bool, bool, f64) {
        let bound = self.bound.as_ref().map(|bound| bound.total).filter(|total| total.is_finite());
        let worst = self.max_seen().into_iter().chain(bound).fold(0.0, f64::max);
        let deadline = self.deadline.filter(|deadline| deadline.is_finite() && *deadline > 0.0);
        (self.missed() || self.mark == Mark::Bad, deadline.is_some(), worst / deadline.unwrap_or(1.0))
    }
}

/// `value` with four digits that count, and no more than three after the point.
pub(crate) fn short_number(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 10.0 => 3,
        size if size < 100.0 => 2,
        size if size < 1_000.0 => 1,
        _ => 0,
    };
    number_text(value, digits)
}

fn number(value: f64) -> Cell {
    if value.is_finite() {
        Cell { number: Some(value), ..Cell::text(short_number(value)) }
    } else {
        Cell::na("no number")
    }
}

fn absent(what: &str, why: &str) -> String {
    if why.is_empty() { format!("{what} n/a") } else { format!("{what} n/a: {why}") }
}
