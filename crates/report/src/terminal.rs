//! A document as plain text for a terminal: verdict, tables, ranges as bars of characters, and the outline of charts and
//! timelines.

mod ranges;

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::document::{Align, Block, Cell, Chart, Document, Evidence, Mark, SeriesKind, Table, Timeline};

/// Columns between two columns of a table.
const GAP: usize = 2;

/// Rows of a table that are shown whatever they say.
const ROWS_MAX: usize = 100;

/// How a terminal wants its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TerminalStyle {
    /// With ANSI colours.
    pub colour: bool,
    /// Paragraphs are wrapped to this many columns; tables are not.
    pub width: usize,
}

impl Default for TerminalStyle {
    fn default() -> Self {
        Self { colour: false, width: 100 }
    }
}

/// The whole document; charts as their caption and ranges, since a terminal cannot draw them.
pub fn terminal(document: &Document, style: TerminalStyle) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", paint(style, "1", &clean(&document.title)));
    wrap(&mut out, &clean(&document.subtitle), "", style.width);
    out.push('\n');
    out.push_str(&verdict(document, style));
    for section in &document.sections {
        let title = clean(&section.title);
        let _ = writeln!(out, "\n{}\n{}", paint(style, "1", &title), "-".repeat(title.width()));
        for block in &section.blocks {
            match block {
                Block::Text(text) => wrap(&mut out, &clean(text), "", style.width),
                Block::Notes(notes) => notes.iter().for_each(|note| wrap(&mut out, &clean(note), "- ", style.width)),
                Block::Table(table) => one_table(&mut out, table, style),
                Block::Chart(chart) => one_chart(&mut out, chart, style),
                Block::Timeline(timeline) => one_timeline(&mut out, timeline, style),
                Block::Ranges(ranges) => ranges::ranges(&mut out, ranges, style),
                Block::Divided(divided) => one_table(&mut out, &divided.table(), style),
                Block::Topology(topology) => one_table(&mut out, &topology.table(), style),
            }
            out.push('\n');
        }
    }
    if document.environment.is_empty() {
        return out;
    }
    let _ = writeln!(out, "{}", paint(style, "1", "Environment"));
    let names = document.environment.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in &document.environment {
        let name = clean(name);
        let _ = writeln!(out, "  {name}{}  {}", " ".repeat(names.saturating_sub(name.width())), clean(value));
    }
    out
}

/// Only the verdict, for the last lines of a command.
pub fn verdict(document: &Document, style: TerminalStyle) -> String {
    let mut out = String::new();
    let word = document.verdict.word;
    let _ = writeln!(out, "{}", paint(style, word.tone().code(), &word.name().to_uppercase()));
    wrap(&mut out, &clean(&document.verdict.text), "", style.width);
    for point in &document.verdict.points {
        wrap(&mut out, &clean(point), "- ", style.width);
    }
    out
}

fn paint(style: TerminalStyle, code: &str, text: &str) -> String {
    if style.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
}

/// Text of others must not steer the terminal; narrow spaces are not drawn alike everywhere.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{202f}' | '\u{a0}' | '\n' | '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

fn wrap(out: &mut String, text: &str, bullet: &str, width: usize) {
    let indent = " ".repeat(bullet.len());
    let mut line = String::from(bullet);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.width() + 1 + word.width() > width {
            let _ = writeln!(out, "{line}");
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    if !empty {
        let _ = writeln!(out, "{line}");
    }
}

fn cell_text(cell: &Cell, with_letter: bool) -> String {
    let mark = match cell.mark {
        Mark::None | Mark::Na => "",
        Mark::Good => "+ ",
        Mark::Bad => "x ",
        Mark::Warn => "! ",
    };
    let letter = if !with_letter || cell.mark == Mark::Na || cell.kind == Evidence::Plain {
        String::new()
    } else {
        format!(" {}", cell.kind.letter())
    };
    format!("{mark}{}{letter}", clean(&cell.text))
}

fn one_table(out: &mut String, table: &Table, style: TerminalStyle) {
    wrap(out, &clean(&table.caption), "", style.width);
    let heads: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let name = clean(&column.name);
            if column.unit.is_empty() { name } else { format!("{name} [{}]", clean(&column.unit)) }
        })
        .collect();
    let kinds = table.evidence();
    let text_of = |cell: &Cell| cell_text(cell, kinds.len() > 1);
    // Of a long table the rows that warn of something are all there.
    let is_shown = |(number, row): &(usize, &Vec<Cell>)| {
        *number < ROWS_MAX || row.iter().any(|cell| matches!(cell.mark, Mark::Bad | Mark::Warn))
    };
    let shown: Vec<&Vec<Cell>> = table.rows.iter().enumerate().filter(is_shown).map(|(_, row)| row).collect();
    let texts: Vec<Vec<String>> = shown.iter().map(|row| row.iter().map(text_of).collect()).collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(i, head)| {
            texts.iter().filter_map(|row| row.get(i)).map(|text| text.width()).max().unwrap_or(0).max(head.width())
        })
        .collect();
    let mut line = |cells: &[String], colours: &dyn Fn(usize) -> Option<&'static str>| {
        let mut text = String::new();
        for (i, (cell, column)) in cells.iter().zip(&table.columns).enumerate() {
            let room = " ".repeat(widths[i].saturating_sub(cell.width()));
            let shown = colours(i).map_or_else(|| cell.clone(), |code| paint(style, code, cell));
            if i > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            match column.align {
                Align::Left => text.extend([shown, room]),
                Align::Right => text.extend([room, shown]),
            }
        }
        let _ = writeln!(out, "  {}", text.trim_end());
    };
    line(&heads, &|_| Some("1"));
    line(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>(), &|_| None);
    for (row, cells) in texts.iter().zip(&shown) {
        line(row, &|i| match cells.get(i).map(|cell| cell.mark) {
            Some(Mark::Good) => Some("32"),
            Some(Mark::Bad) => Some("31"),
            Some(Mark::Warn) => Some("33"),
            Some(Mark::Na) => Some("2"),
            _ => None,
        });
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        let _ = writeln!(out, "  … {left_out} more rows, none with a warning; --format json has them all");
    }
    match kinds[..] {
        [] => {}
        [kind] => {
            let _ = writeln!(out, "  (all {})", kind.name());
        }
        _ => {
            let letters: Vec<String> = kinds.iter().map(|kind| format!("{} {}", kind.letter(), kind.name())).collect();
            let _ = writeln!(out, "  {}", letters.join(", "));
        }
    }
    let reasons = table.na_reasons();
    if !reasons.is_empty() {
        wrap(out, &clean(&format!("n/a: {}.", reasons.join("; "))), "  ", style.width);
    }
    table.footnotes.iter().for_each(|note| wrap(out, &clean(note), "  ", style.width));
}

fn one_chart(out: &mut String, chart: &Chart, style: TerminalStyle) {
    let axes = format!("Chart: {}: {} over {}", chart.caption, chart.y.title(), chart.x.title());
    wrap(out, &clean(&axes), "", style.width);
    for series in &chart.series {
        let range = |value: fn(&(f64, f64)) -> f64| {
            let values = || series.points.iter().map(value);
            format!(
                "{:.6} .. {:.6}",
                values().fold(f64::INFINITY, f64::min),
                values().fold(f64::NEG_INFINITY, f64::max)
            )
        };
        let text = if series.points.is_empty() {
            format!("{}: no points", series.name)
        } else if series.kind == SeriesKind::Interval {
            format!("{}: {} intervals, y {}", series.name, series.points.len() / 2, range(|p| p.1))
        } else {
            format!("{}: {} points, x {}, y {}", series.name, series.points.len(), range(|p| p.0), range(|p| p.1))
        };
        wrap(out, &clean(&text), "- ", style.width);
    }
}

fn one_timeline(out: &mut String, timeline: &Timeline, style: TerminalStyle) {
    let text = format!("Timeline: {} ({:.3} ms)", timeline.caption, timeline.cycle_ns as f64 / 1e6);
    wrap(out, &clean(&text), "", style.width);
    for lane in &timeline.lanes {
        let busy_ns: i64 = lane.bars.iter().map(|bar| bar.end_ns - bar.start_ns).sum();
        let text = format!("{}: {} bars, {:.3} ms together", lane.name, lane.bars.len(), busy_ns as f64 / 1e6);
        wrap(out, &clean(&text), "- ", style.width);
    }
}
