//! Where times go: stacked bars of a few frames or means, each against what it can be at most.

use serde::Serialize;

use super::{Cell, Evidence, RANGE_ROWS_MAX, Table, short_number};

/// Stacked bars, two to a row: the case that took longest, and the mean.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Divided {
    /// What it shows.
    pub caption: String,
    /// Unit of every value.
    pub unit: String,
    /// What [`Piece::kind`] counts, as in the legend. The number of a kind chooses its colour.
    pub kinds: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<DividedRow>,
    /// Remarks below it.
    pub footnotes: Vec<String>,
}

/// One thing that is divided.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DividedRow {
    /// Its name.
    pub name: String,
    /// What it is, in a few words: `pedal → brake-rear`.
    pub note: String,
    /// Which case took longest, such as `frame 17`.
    pub longest: String,
    /// Cases that the mean is of.
    pub n: u64,
    /// No case can take longer, by analysis.
    pub bound: Option<f64>,
    /// In the order of the way.
    pub pieces: Vec<Piece>,
}

/// A piece of both bars.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Piece {
    /// Index into [`Divided::kinds`].
    pub kind: usize,
    /// Where it was spent.
    pub place: String,
    /// In the case that took longest.
    pub longest: f64,
    /// On average.
    pub mean: f64,
}

/// Which of its two values a bar shows of a piece.
pub(crate) type Of = fn(&Piece) -> f64;

impl Divided {
    /// The rows a page draws: all, or the [`RANGE_ROWS_MAX`] that come closest to their bounds, or take longest without one.
    pub fn drawn(&self) -> Vec<&DividedRow> {
        let mut chosen: Vec<usize> = (0..self.rows.len()).collect();
        let share = |row: &DividedRow| row.bound.map_or(0.0, |bound| row.longest() / bound.max(f64::MIN_POSITIVE));
        chosen.sort_by(|a, b| {
            let (a, b) = (&self.rows[*a], &self.rows[*b]);
            share(b).total_cmp(&share(a)).then(b.longest().total_cmp(&a.longest()))
        });
        chosen.truncate(RANGE_ROWS_MAX);
        chosen.sort_unstable();
        chosen.into_iter().map(|row| &self.rows[row]).collect()
    }

    /// A sentence on the rows [`Divided::drawn`] leaves out, if there are any.
    pub fn cut_text(&self) -> Option<String> {
        let left_out = self.rows.len().saturating_sub(RANGE_ROWS_MAX);
        let all = self.rows.len();
        (left_out > 0).then(|| {
            format!(
                "The {RANGE_ROWS_MAX} that come closest to their bounds are drawn. {left_out} more are left out; the CSV and \
                 JSON forms of this report hold all {all}."
            )
        })
    }

    /// The kinds that take time anywhere, in their order.
    pub fn used(&self) -> Vec<usize> {
        let takes_time = |kind: &usize| {
            let mut pieces = self.rows.iter().flat_map(|row| &row.pieces);
            pieces.any(|piece| piece.kind == *kind && (piece.longest > 0.0 || piece.mean > 0.0))
        };
        (0..self.kinds.len()).filter(takes_time).collect()
    }

    /// By kind: two lines for each row.
    pub fn table(&self) -> Table {
        let used = self.used();
        let mut table = Table::new(self.caption.clone()).words("stream").words("at").words("of");
        for kind in &used {
            table = table.numbers(self.kinds[*kind].clone(), self.unit.clone());
        }
        table = table.numbers("together", self.unit.clone()).numbers("bound", self.unit.clone());
        for row in &self.rows {
            let cases: [(String, Of); 2] =
                [(row.longest.clone(), |piece| piece.longest), (format!("mean of {}", row.n), |piece| piece.mean)];
            for (case, value) in cases {
                let sum =
                    |is: &dyn Fn(&Piece) -> bool| row.pieces.iter().filter(|piece| is(piece)).map(value).sum::<f64>();
                let mut cells = vec![Cell::text(row.name.clone()), Cell::text(row.note.clone()), Cell::text(case)];
                cells.extend(used.iter().map(|kind| number(sum(&|piece| piece.kind == *kind))));
                cells.push(number(sum(&|_| true)));
                cells.push(match row.bound {
                    Some(bound) => Cell { kind: Evidence::Bounded, ..number(bound) },
                    None => Cell::na("analysis gives no bound"),
                });
                table.push(cells);
            }
        }
        table.footnotes.clone_from(&self.footnotes);
        table
    }

    /// Step by step, of the rows that are drawn.
    pub fn steps(&self) -> Table {
        let mut table = Table::new("Step by step")
            .words("stream")
            .words("at")
            .words("step")
            .words("where")
            .numbers("longest", self.unit.clone())
            .numbers("mean", self.unit.clone());
        for row in self.drawn() {
            for piece in &row.pieces {
                table.push(vec![
                    Cell::text(row.name.clone()),
                    Cell::text(row.note.clone()),
                    Cell::text(self.kinds.get(piece.kind).cloned().unwrap_or_default()),
                    Cell::text(piece.place.clone()),
                    number(piece.longest),
                    number(piece.mean),
                ]);
            }
        }
        table
    }
}

impl DividedRow {
    /// What the longest case took.
    pub fn longest(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.longest).sum()
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.mean).sum()
    }
}

fn number(value: f64) -> Cell {
    Cell { number: Some(value), kind: Evidence::Simulated, ..Cell::text(short_number(value)) }
}
