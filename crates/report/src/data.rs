//! A document as data: JSON whole, CSV table by table.

use std::fmt::Write;

use serde::Serialize;

use crate::document::{Block, Cell, Document, Evidence, Ranges, Section, Table};

/// Version of what [`json`] writes.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Versioned<'a> {
    schema_version: u32,
    #[serde(flatten)]
    document: &'a Document,
}

/// The document as one JSON object with a `schema_version`.
#[expect(clippy::missing_panics_doc, reason = "serialising a document cannot fail")]
pub fn json(document: &Document) -> String {
    let versioned = Versioned { schema_version: SCHEMA_VERSION, document };
    serde_json::to_string_pretty(&versioned).expect("a document has only text keys and plain values")
}

/// Every table of the document and every number of its ranges, one after another: a line `# section: caption`, the
/// columns with their units, the rows, an empty line. Numbers are written exactly. If any cell of a column has them, columns
/// `… low` and `… high` follow with the ends of its interval, and one `… evidence` that says where its values come from.
/// Of ranges the column `source` says it for the whole line.
pub fn csv(document: &Document) -> String {
    let mut out = String::new();
    for section in &document.sections {
        for block in &section.blocks {
            match block {
                Block::Table(table) => titled(&mut out, section, table),
                Block::Ranges(ranges) => titled(&mut out, section, &flat(ranges)),
                Block::Divided(divided) => titled(&mut out, section, &divided.table()),
                Block::Topology(topology) => titled(&mut out, section, &topology.table()),
                Block::Text(_) | Block::Chart(_) | Block::Timeline(_) | Block::Notes(_) => {}
            }
        }
    }
    out
}

/// All rows, whether a page draws them or not.
fn flat(ranges: &Ranges) -> Table {
    let mut table = ranges.table(&ranges.rows.iter().collect::<Vec<_>>());
    table.rows.iter_mut().flatten().for_each(|cell| cell.kind = Evidence::Plain);
    table
}

fn titled(out: &mut String, section: &Section, table: &Table) {
    let _ = writeln!(out, "# {}: {}", one_line(&section.title), one_line(&table.caption));
    csv_table(out, table);
    out.push('\n');
}

fn csv_table(out: &mut String, table: &Table) {
    let any = |i: usize, is: fn(&Cell) -> bool| table.rows.iter().any(|row| row.get(i).is_some_and(is));
    let further: Vec<(bool, bool)> = (0..table.columns.len())
        .map(|i| (any(i, |cell| cell.interval.is_some()), any(i, |cell| !cell.kind.letter().is_empty())))
        .collect();
    let mut heads = Vec::new();
    for (column, (has_intervals, is_evident)) in table.columns.iter().zip(&further) {
        let unit = if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
        heads.push(format!("{}{unit}", column.name));
        if *has_intervals {
            heads.extend(["low", "high"].map(|end| format!("{} {end}{unit}", column.name)));
        }
        if *is_evident {
            heads.push(format!("{} evidence", column.name));
        }
    }
    line(out, &heads);
    for row in &table.rows {
        let mut fields = Vec::new();
        for (cell, (has_intervals, is_evident)) in row.iter().zip(&further) {
            fields.push(exact(cell.number).unwrap_or_else(|| cell.text.clone()));
            if *has_intervals {
                let ends = cell.interval.map_or([None; 2], |ends| ends.map(Some));
                fields.extend(ends.map(|end| exact(end).unwrap_or_default()));
            }
            if *is_evident {
                fields.push(cell.kind.name().into());
            }
        }
        line(out, &fields);
    }
}

fn exact(number: Option<f64>) -> Option<String> {
    number.filter(|number| number.is_finite()).map(|number| number.to_string())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [RFC 4180 §2] fields with commas, quotes or line breaks are quoted, quotes doubled.
fn line(out: &mut String, fields: &[String]) {
    for (i, field) in fields.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains(['"', ',', '\n', '\r']) || field.starts_with('#') {
            let _ = write!(out, "\"{}\"", field.replace('"', "\"\""));
        } else {
            out.push_str(field);
        }
    }
    out.push('\n');
}
