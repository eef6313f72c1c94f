//! Tables of a page.

use std::fmt::Write;

use super::escape;
use crate::document::{Align, Cell, Evidence, Mark, Table};

/// A table, with where its numbers come from and what its columns mean.
pub(super) fn one_table(out: &mut String, table: &Table) {
    // Where all numbers have one source, the caption says it once.
    let one_evidence = match table.evidence()[..] {
        [kind] => Some(kind),
        _ => None,
    };
    let deciding = deciding(table);
    let _ = write!(
        out,
        "<figure class=\"table\"><figcaption>{}{}</figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table{2}><thead><tr>",
        escape(&table.caption),
        one_evidence.map_or_else(String::new, |kind| format!(
            " <span class=\"chip ev {}\"><sup>{}</sup>{0}</span>",
            kind.name(),
            kind.letter()
        )),
        if deciding.is_some() { " class=\"judged\"" } else { "" },
    );
    for (index, column) in table.columns.iter().enumerate() {
        let mut classes = Vec::new();
        if column.align == Align::Right {
            classes.push("num");
        }
        if deciding == Some(index) {
            classes.push("decides");
        }
        let _ = write!(out, "<th scope=\"col\"{}>{}", class_attribute(&classes), escape(&column.name));
        if !column.unit.is_empty() {
            let _ = write!(out, "<span class=\"unit\">{}</span>", escape(&column.unit));
        }
        out.push_str("</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        for (index, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            one_cell(out, cell, column.align, one_evidence.is_none(), deciding == Some(index));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    let reasons = table.na_reasons();
    if !reasons.is_empty() {
        let _ = write!(out, "<p class=\"footnote\">n/a: {}.</p>", escape(&reasons.join("; ")));
    }
    for footnote in &table.footnotes {
        let _ = write!(out, "<p class=\"footnote\">{}</p>", escape(footnote));
    }
    out.push_str("</figure>");
}

/// Words up to this long stay on one line `[character]`.
const SHORT_MAX: usize = 26;

fn is_short(cell: &Cell) -> bool {
    cell.text.chars().count() <= SHORT_MAX
}

/// An answer up to this long leaves room beside it on a narrow screen `[character]`.
const ANSWER_MAX: usize = 14;

/// The column with the answer of each row: the last one that judges, if all of it is short. On a narrow screen it stays in sight
/// once it was reached.
fn deciding(table: &Table) -> Option<usize> {
    (1..table.columns.len()).rev().find(|&index| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(index));
        let judges = |cell: &Cell| matches!(cell.mark, Mark::Good | Mark::Bad | Mark::Warn);
        cells.clone().any(judges) && cells.all(|cell| cell.text.chars().count() <= ANSWER_MAX)
    })
}

fn class_attribute(classes: &[&str]) -> String {
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn one_cell(out: &mut String, cell: &Cell, align: Align, with_letter: bool, decides: bool) {
    let mut classes = Vec::new();
    if is_short(cell) {
        classes.push("short");
    }
    if align == Align::Right {
        classes.push("num");
    }
    if cell.kind != Evidence::Plain {
        classes.extend(["ev", cell.kind.name()]);
    }
    if cell.mark != Mark::None {
        classes.extend(["mark", cell.mark.name()]);
    }
    if decides {
        classes.push("decides");
    }
    out.push_str("<td");
    out.push_str(&class_attribute(&classes));
    if !cell.title.is_empty() {
        let _ = write!(out, " title=\"{}\"", escape(&cell.title));
    }
    out.push('>');
    out.push_str(&escape(&cell.text));
    if with_letter && cell.kind != Evidence::Plain && cell.mark != Mark::Na {
        let _ = write!(out, "<sup>{}</sup>", cell.kind.letter());
    }
    out.push_str("</td>");
}
