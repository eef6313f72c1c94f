//! Ranges as bars of characters: a line for each source of a stream, on one axis.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::{TerminalStyle, clean, paint, wrap};
use crate::document::{Evidence, Mark, RangeRow, RangeSpread, Ranges, short_number};
use crate::html::scale::Scale;

/// Columns of a name, and of a number.
const NAME: usize = 22;
const NUMBER: usize = 9;
/// Columns of the drawing.
const BAR: usize = 44;
/// Width of a column as the scale counts it, which decides how many ticks there are `[pixel]`.
const COLUMN_PX: usize = 14;

pub(super) fn ranges(out: &mut String, all: &Ranges, style: TerminalStyle) {
    let ranges = &all.gathered();
    let rows = ranges.drawn();
    let scale = Scale::of_ranges(ranges, &rows, (0.0, (BAR * COLUMN_PX) as f64));
    let log = if scale.is_log() { ", logarithmic" } else { "" };
    wrap(out, &clean(&format!("{} ({}{log})", ranges.caption, ranges.axis(&rows).title())), "", style.width);
    let head =
        format!("    {:NAME$}   {:BAR$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}", "stream", "", "max", "bound", "deadline");
    let _ = writeln!(out, "{}", paint(style, "1", head.trim_end()));
    for row in &rows {
        one_row(out, ranges, row, &scale, style);
    }
    axis(out, &scale);
    wrap(out, &key(ranges, &rows), "  ", style.width);
    let reasons = Ranges::na_reasons(&rows);
    if !reasons.is_empty() {
        wrap(out, &clean(&format!("n/a: {}.", reasons.join("; "))), "  ", style.width);
    }
    let cut = ranges.cut_text();
    cut.iter().chain(&ranges.footnotes).for_each(|note| wrap(out, &clean(note), "  ", style.width));
}

fn one_row(out: &mut String, ranges: &Ranges, row: &RangeRow, scale: &Scale, style: TerminalStyle) {
    let findings = row.findings();
    let (sign, colour) = match findings.first() {
        Some((Mark::Bad, _)) => ("x", Some("31")),
        Some((Mark::Warn, _)) => ("!", Some("33")),
        _ => (" ", None),
    };
    let lines: Vec<Option<&RangeSpread>> = match row.spreads[..] {
        [] => vec![None],
        _ => row.spreads.iter().map(Some).collect(),
    };
    for (i, spread) in lines.into_iter().enumerate() {
        let first = i == 0;
        // The second source's line has room for the way.
        let name = match i {
            0 => fit(&clean(&row.name), NAME),
            1 => fit(&format!("  {}", clean(&row.note)), NAME),
            _ => " ".repeat(NAME),
        };
        let letter = spread.map_or(" ", |spread| spread.evidence.letter());
        let number = |value: Option<f64>| value.map_or_else(|| "n/a".into(), |value| clean(&short_number(value)));
        let once = |value: Option<f64>| if first { number(value) } else { String::new() };
        let text = format!(
            "  {} {name} {letter} {}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}",
            if first { sign } else { " " },
            bar(ranges, row, spread, scale),
            number(spread.map(|spread| spread.max)),
            once(row.bound.as_ref().map(|bound| bound.total)),
            once(row.deadline),
        );
        let text = text.trim_end();
        let _ = writeln!(out, "{}", colour.map_or_else(|| text.to_owned(), |colour| paint(style, colour, text)));
    }
    for (mark, finding) in findings {
        let colour = if mark == Mark::Bad { "31" } else { "33" };
        let _ = writeln!(out, "{:4}{:NAME$}   {}", "", "", paint(style, colour, &clean(&finding)));
    }
}

/// `[==o==]---|    B     D`: box from min to p99, line to max, median `o` simulated and `#` measured.
fn bar(ranges: &Ranges, row: &RangeRow, spread: Option<&RangeSpread>, scale: &Scale) -> String {
    let at = |value: f64| ((scale.share(value) * BAR as f64) as usize).min(BAR - 1);
    let mut cells = [' '; BAR];
    if let Some(deadline) = row.deadline {
        cells[at(deadline)..].fill('.');
    }
    for (value, _) in &ranges.lines {
        cells[at(*value)] = ':';
    }
    if let Some(spread) = spread.filter(|spread| spread.min.is_finite() && spread.max.is_finite()) {
        let (min, max) = (at(spread.min), at(spread.max).max(at(spread.min)));
        let [low, high] = spread.tukey.map_or([min, max], |tukey| tukey.whiskers.map(at));
        cells[min] = '*';
        cells[max] = '*';
        cells[low..=high].fill('-');
        cells[low] = '|';
        cells[high] = '|';
        if let Some(tukey) = spread.tukey {
            let [q1, q3] = tukey.quartiles.map(at);
            cells[q1..=q3].fill('=');
            cells[q1] = '[';
            cells[q3] = ']';
        } else if let Some(p99) = spread.p99 {
            let p99 = at(p99).clamp(min, max);
            cells[min..=p99].fill('=');
            cells[min] = '[';
            cells[p99] = ']';
        }
        if let Some(median) = spread.median {
            cells[at(median).clamp(min, max)] = median_sign(spread.evidence);
        }
    }
    if let Some(bound) = &row.bound {
        cells[at(bound.total)] = 'B';
    }
    if let Some(deadline) = row.deadline {
        cells[at(deadline)] = 'D';
    }
    cells.iter().collect()
}

fn median_sign(evidence: Evidence) -> char {
    if evidence == Evidence::Measured { '#' } else { 'o' }
}

fn axis(out: &mut String, scale: &Scale) {
    let (mut line, mut labels) = (vec!['-'; BAR], String::new());
    for tick in scale.ticks() {
        let column = ((tick.px / COLUMN_PX as f64) as usize).min(BAR - 1);
        line[column] = '+';
        let label = clean(&tick.label);
        let from = column.saturating_sub(label.width() / 2);
        if labels.is_empty() || from > labels.width() {
            labels.push_str(&" ".repeat(from - labels.width()));
            labels.push_str(&label);
        }
    }
    let before = " ".repeat(4 + NAME + 3);
    let _ = writeln!(out, "{before}{}\n{before}{labels}", line.into_iter().collect::<String>());
}

fn key(ranges: &Ranges, rows: &[&RangeRow]) -> String {
    let mut words = Vec::new();
    for source in ranges.evidence().into_iter().filter(|source| *source != Evidence::Bounded) {
        words.push(format!("{} {}, {} median", source.letter(), source.name(), median_sign(source)));
    }
    let has_boxplots = rows.iter().flat_map(|row| &row.spreads).any(|spread| spread.tukey.is_some());
    words.push(if has_boxplots {
        "[..] quartiles, | whiskers of Tukey, * the least and the greatest".into()
    } else {
        "[..] min to p99, | max".into()
    });
    words.extend(ranges.lines.iter().map(|(value, name)| format!(": {name}, {}", ranges.value_text(*value))));
    if rows.iter().any(|row| row.bound.is_some()) {
        words.push("B bound by analysis".into());
    }
    if rows.iter().any(|row| row.deadline.is_some()) {
        words.push("D deadline, dotted beyond".into());
    }
    words.join("; ") + "."
}

/// `text` in exactly `columns` columns, cut if it has to be.
fn fit(text: &str, columns: usize) -> String {
    let mut fitted = String::new();
    if text.width() > columns {
        for c in text.chars() {
            if fitted.width() + c.to_string().width() >= columns {
                break;
            }
            fitted.push(c);
        }
        fitted.push('~');
    } else {
        fitted.push_str(text);
    }
    let room = columns.saturating_sub(fitted.width());
    fitted + &" ".repeat(room)
}
