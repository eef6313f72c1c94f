//! One model for everything a reader is shown: a page, a terminal, JSON and CSV are made from the same document.

mod divided;
mod instances;
mod ranges;
mod topology;

use serde::Serialize;

use crate::word::Word;
pub(crate) use divided::Of;
pub use divided::{Divided, DividedRow, Piece};
pub(crate) use ranges::short_number;
pub use ranges::{RANGE_ROWS_MAX, RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Tukey};
pub(crate) use topology::{STEPS, step_of_share};
pub use topology::{Topology, TopologyLink, TopologyNode};

/// A whole report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// The answer, before any table.
    pub verdict: Verdict,
    /// What supports it.
    pub sections: Vec<Section>,
    /// Where and with what it was made.
    pub environment: Vec<(String, String)>,
}

/// The answer of a report in plain words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// In one word.
    pub word: Word,
    /// One sentence.
    pub text: String,
    /// What it rests on, one sentence each.
    pub points: Vec<String>,
}

/// One part of a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Anchor: lower case letters, digits and hyphens.
    pub id: String,
    /// Content in order.
    pub blocks: Vec<Block>,
}

/// One piece of content.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// A schedule drawn over time.
    Timeline(Timeline),
    /// Ranges of many streams over a common axis.
    Ranges(Ranges),
    /// Stacked bars: where times go.
    Divided(Divided),
    /// A drawing of who is linked to whom.
    Topology(Topology),
    /// Remarks as a list.
    Notes(Vec<String>),
}

/// A table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows from top to bottom, each with one cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks below it.
    pub footnotes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Unit of its numbers, empty if they have none.
    pub unit: String,
    /// Which way its cells lean.
    pub align: Align,
}

/// Which way the cells of a column lean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// As shown.
    pub text: String,
    /// Its exact value in the column's unit, if it is a number.
    pub number: Option<f64>,
    /// From where to where the value is likely to lie, in the same unit, if it is an estimate; the table says how likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Where the value comes from.
    pub kind: Evidence,
    /// What to think of it.
    pub mark: Mark,
    /// More about it, shown on demand.
    pub title: String,
}

/// Where a value comes from. Never mixed up: each has a letter and a colour of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Neither: a name, an input, a count of inputs.
    Plain,
    /// Printed in a publication.
    Printed,
    /// Computed again from a publication's formula or algorithm.
    Recomputed,
    /// A worst case by our own analysis: no run can exceed it.
    Bounded,
    /// From virtual time.
    Simulated,
    /// From a clock, on real hardware.
    Measured,
    /// Computed by a formula from what was measured: as true as the formula, and only for the hardware of the measurement.
    Derived,
}

/// What to think of a cell or a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Nothing in particular.
    #[default]
    None,
    /// As wished.
    Good,
    /// Not as wished.
    Bad,
    /// Look twice.
    Warn,
    /// There is no value, for a reason.
    Na,
}

/// A chart of one or more series over two axes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Chart {
    /// What it shows.
    pub caption: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis of a chart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Axis {
    /// The quantity.
    pub label: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// Logarithmic; values not above zero are left out.
    pub log: bool,
}

/// One series of a chart.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Series {
    /// As in the legend.
    pub name: String,
    /// How it is drawn.
    pub kind: SeriesKind,
    /// `(x, y)` in the axes' units, by x.
    pub points: Vec<(f64, f64)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesKind {
    /// Straight lines from point to point.
    Line,
    /// Each value holds until the next point.
    Step,
    /// Points alone.
    Points,
    /// Steps of a cumulative share, from [`crate::statistics::ecdf`].
    Ecdf,
    /// Intervals around the points of the series before it, in its colour: each two points are the ends of one.
    Interval,
}

/// Bars in lanes over one cycle.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Timeline {
    /// What it shows.
    pub caption: String,
    /// From the left end to the right end `[ns]`.
    pub cycle_ns: i64,
    /// From top to bottom.
    pub lanes: Vec<Lane>,
}

/// One lane of a timeline.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Lane {
    /// What it belongs to.
    pub name: String,
    /// Bars by start.
    pub bars: Vec<Bar>,
}

/// One bar of a timeline; times count from its left end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Bar {
    /// Left `[ns]`.
    pub start_ns: i64,
    /// Right `[ns]`.
    pub end_ns: i64,
    /// What it is.
    pub label: String,
    /// How it is coloured.
    pub kind: BarKind,
}

/// What a bar stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BarKind {
    /// A planned frame on the sender's wire.
    Frame,
    /// A planned frame on a receiver's wire.
    Dispatch,
    /// Guard period.
    Guard,
    /// A task or a computation on a processor.
    Task,
    /// A sync beacon.
    Beacon,
    /// A frame as it was really seen.
    Seen,
    /// A frame of an attacker, or one that was late, absent or thrown away.
    Trouble,
}

impl Evidence {
    /// Every kind that carries a letter, in the order legends show them.
    pub const LETTERED: [Self; 6] =
        [Self::Printed, Self::Recomputed, Self::Bounded, Self::Simulated, Self::Measured, Self::Derived];

    /// The letter shown beside a value; empty for [`Evidence::Plain`].
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Printed => "P",
            Self::Recomputed => "R",
            Self::Bounded => "B",
            Self::Simulated => "S",
            Self::Measured => "M",
            Self::Derived => "D",
        }
    }

    /// As shown to people and used in styles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Printed => "printed",
            Self::Recomputed => "recomputed",
            Self::Bounded => "bounded",
            Self::Simulated => "simulated",
            Self::Measured => "measured",
            Self::Derived => "derived",
        }
    }
}

impl Mark {
    /// As used in styles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Na => "na",
        }
    }
}

impl SeriesKind {
    /// True if the value between two points is that of the left one.
    pub const fn is_stepped(self) -> bool {
        matches!(self, Self::Step | Self::Ecdf)
    }
}

impl BarKind {
    /// Every kind, in the order legends show them.
    pub const ALL: [Self; 7] =
        [Self::Frame, Self::Dispatch, Self::Guard, Self::Task, Self::Beacon, Self::Seen, Self::Trouble];

    /// As shown in the legend.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "planned at the sender",
            Self::Dispatch => "planned at the receiver",
            Self::Guard => "guard period",
            Self::Task => "task",
            Self::Beacon => "sync beacon",
            Self::Seen => "seen",
            Self::Trouble => "attack, late or lost",
        }
    }

    /// As used in styles.
    pub const fn style(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Dispatch => "dispatch",
            Self::Guard => "guard",
            Self::Task => "task",
            Self::Beacon => "beacon",
            Self::Seen => "seen",
            Self::Trouble => "trouble",
        }
    }
}

impl Section {
    /// A section whose anchor is made from its title.
    pub fn new(title: impl Into<String>) -> Self {
        let title = title.into();
        let mut id = String::new();
        for c in title.chars() {
            if c.is_ascii_alphanumeric() {
                id.push(c.to_ascii_lowercase());
            } else if !id.is_empty() && !id.ends_with('-') {
                id.push('-');
            }
        }
        let id = id.trim_end_matches('-').to_owned();
        Self { title, id, blocks: Vec::new() }
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

impl Table {
    /// An empty table with a caption.
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..Self::default() }
    }

    /// Adds a column of words.
    #[must_use]
    pub fn words(mut self, name: impl Into<String>) -> Self {
        self.columns.push(Column { name: name.into(), unit: String::new(), align: Align::Left });
        self
    }

    /// Adds a column of numbers in `unit`.
    #[must_use]
    pub fn numbers(mut self, name: impl Into<String>, unit: impl Into<String>) -> Self {
        self.columns.push(Column { name: name.into(), unit: unit.into(), align: Align::Right });
        self
    }

    /// Adds a row. Short rows are filled with empty cells, long ones cut.
    pub fn push(&mut self, mut row: Vec<Cell>) {
        row.resize_with(self.columns.len(), || Cell::text(""));
        self.rows.push(row);
    }

    /// Adds a remark below the table.
    #[must_use]
    pub fn footnote(mut self, text: impl Into<String>) -> Self {
        self.footnotes.push(text.into());
        self
    }

    /// Why cells have no value: each reason once, the first few, for readers who cannot point at a cell.
    pub fn na_reasons(&self) -> Vec<&str> {
        const REASONS_MAX: usize = 4;
        let mut reasons = Vec::new();
        for cell in self.rows.iter().flatten().filter(|cell| cell.mark == Mark::Na && !cell.title.is_empty()) {
            if reasons.len() < REASONS_MAX && !reasons.contains(&cell.title.as_str()) {
                reasons.push(cell.title.as_str());
            }
        }
        reasons
    }

    /// The kinds of evidence its cells carry, without repetition.
    pub fn evidence(&self) -> Vec<Evidence> {
        let kinds: std::collections::BTreeSet<_> = self.rows.iter().flatten().map(|cell| cell.kind).collect();
        kinds.into_iter().filter(|kind| *kind != Evidence::Plain).collect()
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: None,
            interval: None,
            kind: Evidence::Plain,
            mark: Mark::None,
            title: String::new(),
        }
    }

    /// A number with `digits` after the point.
    pub fn number(value: f64, digits: usize) -> Self {
        Self { text: number_text(value, digits), number: Some(value), ..Self::text("") }
    }

    /// A number with the interval it is likely to lie in.
    pub fn estimate(value: f64, [low, high]: [f64; 2], digits: usize) -> Self {
        let [shown, from, to] = [value, low, high].map(|number| number_text(number, digits));
        Self {
            text: format!("{shown} [{from}, {to}]"),
            number: Some(value),
            interval: Some([low, high]),
            ..Self::text("")
        }
    }

    /// A whole number.
    pub fn count(value: u64) -> Self {
        Self { text: number_text(value as f64, 0), number: Some(value as f64), ..Self::text("") }
    }

    /// No value, with the reason.
    pub fn na(why: impl Into<String>) -> Self {
        Self { text: "n/a".into(), mark: Mark::Na, title: why.into(), ..Self::text("") }
    }

    /// The same, with where it comes from.
    #[must_use]
    pub fn from(mut self, kind: Evidence) -> Self {
        self.kind = kind;
        self
    }

    /// The same, with what to think of it.
    #[must_use]
    pub fn marked(mut self, mark: Mark) -> Self {
        self.mark = mark;
        self
    }

    /// The same, with more about it.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), log: false }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label, unit) }
    }

    /// Label and unit together.
    pub fn title(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} [{}]", self.label, self.unit) }
    }
}

/// `value` with `digits` after the point and narrow spaces between groups of three digits from five digits on.
pub fn number_text(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "n/a".into();
    }
    let plain = format!("{value:.digits$}");
    let (sign, rest) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    // What is shown as zero has no sign.
    let sign = if rest.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) { sign } else { "" };
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() >= 5 && (whole.len() - i) % 3 == 0 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_plain() {
        assert_eq!(Section::new("Table I: frames (2 nodes)").id, "table-i-frames-2-nodes");
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(number_text(1234.5, 1), "1234.5");
        assert_eq!(number_text(-1_234_567.0, 0), "-1\u{202f}234\u{202f}567");
        assert_eq!(number_text(f64::NAN, 1), "n/a");
    }

    #[test]
    fn a_row_always_fits_its_columns() {
        let mut table = Table::new("x").words("a").numbers("b", "us");
        table.push(vec![Cell::text("only one")]);
        table.push(vec![Cell::text("1"), Cell::count(2), Cell::count(3)]);
        assert!(table.rows.iter().all(|row| row.len() == 2));
    }
}
