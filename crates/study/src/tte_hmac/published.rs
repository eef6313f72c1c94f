//! What the source printed, each cell recomputed beside it, and where the two disagree.
//!
//! The printed values are read from `studies/tte-hmac/published/*.csv`; everything else is computed here from the
//! closed forms of [`chronoseal_analysis::tdma`]. Nothing printed is corrected.
//!
//! # Source
//! Martins, Bhattacharjee, Dubey, Koutsoukos, "Performance evaluation of an authentication mechanism in
//! time-triggered networked control systems", ISRCS 2014, Tables I to III.

mod inconsistencies;

use chronoseal_analysis::tdma::{Cluster, frames_max, frames_max_by_transmission, transmission_time_max};
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;

pub use inconsistencies::{Inconsistency, claimed_of_tags, inconsistencies};

/// What the source assumes its sniffing switch adds to each measured frame time (its SO).
pub const SWITCH_OVERHEAD: Duration = Duration::from_us(100);

const TABLE1: &str = include_str!("../../../../studies/tte-hmac/published/table1.csv");
const TABLE2: &str = include_str!("../../../../studies/tte-hmac/published/table2.csv");
const TABLE3: &str = include_str!("../../../../studies/tte-hmac/published/table3.csv");

/// Frames and slot of one cell of Table I.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table1Cell {
    /// NFmax.
    pub frames_max: u64,
    /// Frametime.
    pub frame_time: Duration,
    /// Frametime and guard period.
    pub slot_time: Duration,
}

/// One column of Table I: theory, BP = 10 ms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table1Row {
    /// GP.
    pub guard: Duration,
    /// Without checksum `[byte]`.
    pub frame_len: u32,
    /// NFmax as printed.
    pub frames_max_printed: u64,
    /// "Frametime" as printed.
    pub frame_time_printed: Duration,
    /// Recomputed in the source's accounting.
    pub recomputed: Table1Cell,
    /// Recomputed with checksum, preamble and gap.
    pub on_wire: Table1Cell,
    /// [`Inconsistency::id`]s that concern this column.
    pub inconsistencies: Vec<u8>,
    /// Where it is printed.
    pub citation: &'static str,
}

/// Minimum, average and maximum of one row of Table II.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table2Cells {
    /// Least.
    pub min: Duration,
    /// Average.
    pub avg: Duration,
    /// Greatest.
    pub max: Duration,
}

/// What a row of Table II shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Table2Quantity {
    /// Arrival at the switch, from the sync beacon.
    Tx,
    /// Departure from the switch, from the sync beacon.
    Rx,
    /// Time in the switch.
    Diff,
}

impl Table2Quantity {
    /// As the source prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tx => "Tx",
            Self::Rx => "Rx",
            Self::Diff => "Diff",
        }
    }
}

/// One row of one half of Table II: measured at the switch with 2 nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table2Row {
    /// Which row.
    pub quantity: Table2Quantity,
    /// Without checksum `[byte]`.
    pub frame_len: u32,
    /// As printed.
    pub printed: Table2Cells,
    /// For `Diff`, column by column the difference Rx - Tx of the printed rows; `None` for what was measured.
    pub recomputed: Option<Table2Cells>,
    /// [`Inconsistency::id`]s that concern this row.
    pub inconsistencies: Vec<u8>,
    /// Where it is printed.
    pub citation: &'static str,
}

/// Which half of Table III.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Table3Column {
    /// From the formula.
    Theoretical,
    /// From Table II.
    Measured,
}

impl Table3Column {
    /// As the source prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Theoretical => "Theoretical",
            Self::Measured => "Measured",
        }
    }
}

/// One column of Table III, BP = 10 ms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table3Row {
    /// Which half.
    pub column: Table3Column,
    /// Without checksum `[byte]`.
    pub frame_len: u32,
    /// NFmax as printed.
    pub frames_max_printed: u64,
    /// Frametime as printed.
    pub frame_time_printed: Duration,
    /// MaxTT as printed.
    pub transmission_time_max_printed: Duration,
    /// Frametime from the formula; `None` for what was measured.
    pub frame_time_recomputed: Option<Duration>,
    /// SO that the printed MaxTT implies: none in theory, [`SWITCH_OVERHEAD`] in the measurement.
    pub switch_overhead: Duration,
    /// MaxTT from the printed Frametime.
    pub transmission_time_max_recomputed: Duration,
    /// NFmax as `floor(BP / MaxTT)`.
    pub frames_max_by_transmission: u64,
    /// NFmax as `floor(BP / (Frametime + GP))`.
    pub frames_max_by_slot: u64,
    /// [`Inconsistency::id`]s that concern this column.
    pub inconsistencies: Vec<u8>,
    /// Where it is printed.
    pub citation: &'static str,
}

/// Table I, printed and recomputed.
pub fn table1() -> Vec<Table1Row> {
    rows(TABLE1)
        .map(|[guard, frame_len, frames_max, frame_time, citation]| {
            let (guard, frame_len) = (ms(guard), number(frame_len) as u32);
            let cell = |accounting| {
                let cluster = Cluster { guard, accounting, ..Cluster::AS_PUBLISHED };
                let frame_time = cluster.frame_time(frame_len);
                Table1Cell { frames_max: cluster.frames_max(frame_len), frame_time, slot_time: frame_time + guard }
            };
            Table1Row {
                guard,
                frame_len,
                frames_max_printed: number(frames_max),
                frame_time_printed: ms(frame_time),
                recomputed: cell(Accounting::AsPublished),
                on_wire: cell(Accounting::OnWire),
                inconsistencies: if guard == Duration::ZERO { vec![1] } else { vec![2, 7] },
                citation,
            }
        })
        .collect()
}

/// Table II, printed; `Diff` recomputed from the other rows.
pub fn table2() -> Vec<Table2Row> {
    let mut table: Vec<_> = rows(TABLE2)
        .map(|[quantity, frame_len, min, avg, max, citation]| {
            let quantity = match quantity {
                "Tx" => Table2Quantity::Tx,
                "Rx" => Table2Quantity::Rx,
                _ => Table2Quantity::Diff,
            };
            Table2Row {
                quantity,
                frame_len: number(frame_len) as u32,
                printed: Table2Cells { min: ms(min), avg: ms(avg), max: ms(max) },
                recomputed: None,
                inconsistencies: match quantity {
                    Table2Quantity::Tx => vec![5, 8],
                    Table2Quantity::Rx => vec![],
                    Table2Quantity::Diff => vec![6],
                },
                citation,
            }
        })
        .collect();
    let printed: Vec<_> = table.iter().map(|row| (row.quantity, row.frame_len, row.printed)).collect();
    let find = |wanted, len| printed.iter().find(|row| (row.0, row.1) == (wanted, len)).map(|row| row.2);
    for row in table.iter_mut().filter(|row| row.quantity == Table2Quantity::Diff) {
        let (tx, rx) = (find(Table2Quantity::Tx, row.frame_len), find(Table2Quantity::Rx, row.frame_len));
        row.recomputed =
            tx.zip(rx).map(|(tx, rx)| Table2Cells { min: rx.min - tx.min, avg: rx.avg - tx.avg, max: rx.max - tx.max });
    }
    table
}

/// Table III, printed and recomputed under both rules.
pub fn table3() -> Vec<Table3Row> {
    let cluster = Cluster::AS_PUBLISHED;
    rows(TABLE3)
        .map(|[column, frame_len, frames_max_printed, frame_time, max_tt, citation]| {
            let (frame_len, frame_time) = (number(frame_len) as u32, ms(frame_time));
            let (column, switch_overhead, computed) = match column {
                "Theoretical" => (Table3Column::Theoretical, Duration::ZERO, Some(cluster.frame_time(frame_len))),
                _ => (Table3Column::Measured, SWITCH_OVERHEAD, None),
            };
            let max_tt_recomputed = transmission_time_max(frame_time, switch_overhead, cluster.guard);
            Table3Row {
                column,
                frame_len,
                frames_max_printed: number(frames_max_printed),
                frame_time_printed: frame_time,
                transmission_time_max_printed: ms(max_tt),
                frame_time_recomputed: computed,
                switch_overhead,
                transmission_time_max_recomputed: max_tt_recomputed,
                frames_max_by_transmission: frames_max_by_transmission(cluster.base_period, max_tt_recomputed),
                frames_max_by_slot: frames_max(cluster.base_period, frame_time, cluster.guard),
                inconsistencies: match (column, frame_len) {
                    (Table3Column::Theoretical, _) => vec![3],
                    (Table3Column::Measured, 80) => vec![3, 4, 5],
                    (Table3Column::Measured, _) => vec![3, 4],
                },
                citation,
            }
        })
        .collect()
}

/// The rows of one of our CSV files: the header skipped, the last cell in quotation marks, no other quoting.
fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines().skip(1).map(|line| {
        let mut cells = [""; N];
        let mut parts = line.splitn(N, ',');
        for cell in &mut cells {
            *cell = parts.next().expect("the files are part of this crate and read by its tests").trim_matches('"');
        }
        cells
    })
}

fn ms(cell: &str) -> Duration {
    format!("{cell}ms").parse().expect("the files are part of this crate and read by its tests")
}

fn number(cell: &str) -> u64 {
    cell.parse().expect("the files are part of this crate and read by its tests")
}
