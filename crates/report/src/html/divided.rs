//! Stacked bars: a row of words, two bars and numbers each. Each row has a scale of its own, in percent of its width.

use std::fmt::Write;

use super::escape;
use super::table::one_table;
use crate::document::{Divided, DividedRow, Mark, Of, short_number};

/// Colours; the style has one class for each.
pub(super) const COLOURS: usize = 13;
/// A piece this wide has room for one digit `[percent]`.
const NUMBERED_MIN: f64 = 2.6;
/// Height of the lane of a bar and of the room above the first `[pixel]`.
const LANE_PX: f64 = 17.0;
const TOP_PX: f64 = 8.0;

pub(super) fn divided(out: &mut String, divided: &Divided) {
    let rows = divided.drawn();
    let has_bounds = rows.iter().any(|row| row.bound.is_some());
    let numbers = if has_bounds { 3 } else { 2 };
    let _ = write!(
        out,
        "<figure class=\"ranges\"><figcaption>{} <span class=\"chip ev simulated\"><sup>S</sup>simulated</span></figcaption>\
         <div class=\"rg n{numbers}\"><div class=\"rg-row rg-head\"><span class=\"rg-name\">stream</span>\
         <span class=\"rg-keys\"></span><span></span><span class=\"rg-nums\">",
        escape(&divided.caption)
    );
    for name in ["longest", "mean", "bound"].into_iter().take(numbers) {
        let _ = write!(out, "<span>{name}<br><em>{}</em></span>", escape(&divided.unit));
    }
    out.push_str("</span></div>");
    for row in &rows {
        one_row(out, divided, row, has_bounds);
    }
    out.push_str("</div>");
    legend(out, divided, has_bounds);
    let scale = if has_bounds { "its bound, or what took longest where there is none" } else { "what took longest" };
    let _ = write!(
        out,
        "<p class=\"footnote\">The upper bar of a row is the frame that took longest, the lower one the mean of all. Each row has a \
         scale of its own: the right end is {scale}. Every piece has its place as a title.</p>"
    );
    for note in divided.cut_text().iter().chain(&divided.footnotes) {
        let _ = write!(out, "<p class=\"footnote\">{}</p>", escape(note));
    }
    out.push_str("<details><summary>Numbers of this picture</summary>");
    one_table(out, &divided.table());
    one_table(out, &divided.steps());
    out.push_str("</details></figure>");
}

fn one_row(out: &mut String, divided: &Divided, row: &DividedRow, has_bounds: bool) {
    let (longest, mean) = (row.longest(), row.mean());
    let end = longest.max(row.bound.unwrap_or(0.0)).max(f64::MIN_POSITIVE);
    let _ = write!(
        out,
        "<div class=\"rg-row\"><div class=\"rg-name\" title=\"{0} {1}\"><b>{0}</b><small>{1}</small></div>\
         <div class=\"rg-keys\"></div>",
        escape(&row.name),
        escape(&row.note)
    );
    let height = TOP_PX + 2.0 * LANE_PX + 3.0;
    let value = |number: f64| format!("{} {}", short_number(number), divided.unit);
    let mut words = format!("{} took {}, the mean of {} is {}", row.longest, value(longest), row.n, value(mean));
    if let Some(bound) = row.bound {
        let _ = write!(words, ", the bound is {}", value(bound));
    }
    let _ = write!(
        out,
        "<div class=\"rg-plot\" style=\"min-height:{height}px\"><svg role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        escape(&words)
    );
    let bars: [(Of, &str, f64); 2] =
        [(|piece| piece.longest, row.longest.as_str(), longest), (|piece| piece.mean, "the mean", mean)];
    for (lane, (of, what, sum)) in bars.into_iter().enumerate() {
        let mut from = 0.0;
        let y = TOP_PX + LANE_PX * lane as f64 + 2.0;
        for piece in row.pieces.iter().filter(|piece| of(piece) > 0.0) {
            let width = 100.0 * of(piece) / end;
            let kind = divided.kinds.get(piece.kind).map_or("", String::as_str);
            let title = format!(
                "{kind}, {}: {}, {:.0} % of {} of {what}",
                piece.place,
                value(of(piece)),
                100.0 * of(piece) / sum.max(f64::MIN_POSITIVE),
                value(sum)
            );
            let _ = write!(
                out,
                "<rect class=\"k{}\" x=\"{from:.2}%\" y=\"{y}\" width=\"{width:.2}%\" height=\"13\"><title>{}</title></rect>",
                piece.kind % COLOURS,
                escape(&title)
            );
            if width >= NUMBERED_MIN * (piece.kind + 1).to_string().len() as f64 {
                let (at, below) = (from + width / 2.0, y + 10.0);
                let _ = write!(out, "<text class=\"rg-hop\" x=\"{at:.2}%\" y=\"{below}\">{}</text>", piece.kind + 1);
            }
            from += width;
        }
    }
    if let Some(bound) = row.bound {
        let at = 100.0 * bound / end;
        let _ = write!(
            out,
            "<line class=\"rg-bound\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"4\" y2=\"{height}\"><title>bound: {}</title></line>",
            escape(&value(bound))
        );
    }
    let _ = write!(
        out,
        "</svg></div><div class=\"rg-nums\"><div><i>longest</i><span title=\"{}\">{}</span></div><div><i>mean</i><span>{}</span></div>",
        escape(&row.longest),
        short_number(longest),
        short_number(mean)
    );
    if has_bounds {
        out.push_str("<div><i>bound</i>");
        let _ = match row.bound {
            Some(bound) => write!(out, "<span class=\"ev bounded\">{}</span>", short_number(bound)),
            None => {
                write!(out, "<span class=\"mark {}\" title=\"analysis gives no bound\">n/a</span>", Mark::Na.name())
            }
        };
        out.push_str("</div>");
    }
    out.push_str("</div></div>");
}

fn legend(out: &mut String, divided: &Divided, has_bounds: bool) {
    out.push_str("<ul class=\"legend\">");
    let mut entry = |drawing: &str, text: &str| {
        let _ = write!(
            out,
            "<li title=\"{0}\"><svg class=\"rg-key\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">{drawing}</svg><span>{0}</span></li>",
            escape(text)
        );
    };
    for kind in divided.used() {
        let drawing = format!(
            "<rect class=\"k{}\" width=\"34\" height=\"13\"/><text class=\"rg-hop\" x=\"17\" y=\"10\">{}</text>",
            kind % COLOURS,
            kind + 1
        );
        entry(&drawing, &divided.kinds[kind]);
    }
    if has_bounds {
        entry("<line class=\"rg-bound\" x1=\"17\" x2=\"17\" y1=\"0\" y2=\"14\"/>", "B bound");
    }
    out.push_str("</ul>");
}
