//! What is printed: tables and quoted totals, beside the same on this host.

use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_runner::SuiteCostTable;

use super::published::{Platform, Primitives, Tables, quoted};

const TABLE1: &str = include_str!("../../../../studies/can-group-key/published/table1.csv");

/// Table I: other works, with the times quoted for them.
pub(super) fn table_1() -> Table {
    let mut table = Table::new("Table I: key agreement on CAN, with the times the source quotes")
        .words("work")
        .words("cryptography")
        .words("bus")
        .words("platform")
        .words("what")
        .words("time [ms]")
        .footnote("Other hardware and other protocols: orders of magnitude, no ranking.");
    for line in TABLE1.lines().skip(1) {
        let mut row: Vec<Cell> = line.split(',').map(Cell::text).collect();
        if let Some(time) = row.pop() {
            row.push(time.from(Evidence::Printed));
        }
        table.push(row);
    }
    table
}

/// Table III: the boards.
pub(super) fn table_3() -> Table {
    let mut table = Table::new("Table III: the boards").words("characteristic").words("unit");
    for platform in Platform::ALL {
        table = table.numbers(platform.name(), "");
    }
    for (name, unit, values) in Tables::read().platforms {
        let mut row = vec![Cell::text(name.replace('_', " ")), Cell::text(unit)];
        row.extend(values.map(|value| Cell::text(value).from(Evidence::Printed)));
        table.push(row);
    }
    table.footnote("1 is yes, 0 is no; CAN-FD on the Infineon boards needs a transceiver of one's own.")
}

/// Names of the operations in a platform, in the order of [`Primitives::rows`].
const OPERATIONS: [&str; 5] = ["share", "agree", "generate", "sign", "verify"];

/// Tables IV and V, with this host beside them.
pub(super) fn primitives(costs: &SuiteCostTable) -> [Table; 2] {
    let tables = Tables::read();
    let table = |caption: &str, printed: &[Primitives; 4], suite: &str| {
        let mut table = Table::new(caption).words("operation");
        for platform in Platform::ALL {
            table = table.numbers(platform.name(), "ms");
        }
        table = table.numbers("this host, median", "ms").numbers("of calls", "");
        for (index, operation) in OPERATIONS.iter().enumerate() {
            let mut row = vec![Cell::text(printed[0].rows()[index].0)];
            for primitives in printed {
                row.push(Cell::number(primitives.rows()[index].1.as_ms_f64(), 2).from(Evidence::Printed));
            }
            let name = format!("{suite}-{operation}");
            row.push(host_cell(costs, &name));
            let calls = costs.rows.iter().find(|row| row.operation == name).map_or(0, |row| row.duration.n);
            row.push(Cell::count(calls));
            table.push(row);
        }
        table
    };
    [
        table("Table IV: FourQ, ECDH and Schnorr signatures", &tables.fourq, "fourq"),
        table(
            "Table V: P-256, ECDH and ECDSA (the source with RELIC, this host with RustCrypto)",
            &tables.p256,
            "p256",
        ),
    ]
}

fn host_cell(costs: &SuiteCostTable, operation: &str) -> Cell {
    match costs.median_ns(operation) {
        Some(ns) => Cell::number(ns as f64 / 1e6, 4).from(Evidence::Measured),
        None => Cell::na("too few calls for a median"),
    }
}

/// Figures 11 and 12: both curves on every board, this host included.
pub(super) fn figures_11_and_12(costs: &SuiteCostTable) -> [Chart; 2] {
    let tables = Tables::read();
    let chart = |caption: &str, indices: &[usize]| {
        let mut series = Vec::new();
        for (curve, printed, suite) in [("FourQ", &tables.fourq, "fourq"), ("P-256", &tables.p256, "p256")] {
            for index in indices {
                let mut points: Vec<(f64, f64)> = printed
                    .iter()
                    .enumerate()
                    .map(|(board, primitives)| ((board + 1) as f64, primitives.rows()[*index].1.as_ms_f64()))
                    .collect();
                let host = costs.median_ns(&format!("{suite}-{}", OPERATIONS[*index]));
                points.extend(host.map(|ns| (5.0, ns as f64 / 1e6)));
                let name = format!("{curve}, {}", printed[0].rows()[*index].0);
                series.push(Series { name, kind: SeriesKind::Points, points });
            }
        }
        Chart {
            caption: caption.into(),
            x: Axis::linear("1 TC224, 2 TC277, 3 TC297, 4 SAM V71 (printed), 5 this host (measured)", ""),
            y: Axis::log("time", "ms"),
            series,
        }
    };
    [
        chart("Figure 11: time of a Diffie-Hellman exchange's operations", &[0, 1]),
        chart("Figure 12: time of a signature's operations", &[2, 3, 4]),
    ]
}

/// Every total the text quotes, with whether it follows from its own tables.
pub(super) fn quoted_totals() -> Table {
    let mut table = Table::new("Totals and claims of the source's text, each computed again from its own tables")
        .words("what")
        .words("printed")
        .words("unit")
        .words("computed again")
        .words("reproduces")
        .words("how it was read");
    for row in quoted() {
        table.push(vec![
            Cell::text(row.quantity),
            if row.printed.is_empty() {
                Cell::na("the text gives no figure")
            } else {
                Cell::text(row.printed).from(Evidence::Printed)
            },
            Cell::text(row.unit),
            Cell::text(row.recomputed).from(Evidence::Recomputed),
            Cell::text(row.reproduces.name()).marked(row.reproduces.mark()),
            Cell::text(row.note),
        ]);
    }
    table
}
