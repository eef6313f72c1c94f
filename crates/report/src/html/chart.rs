//! Charts as SVG, drawn twice: for a desktop and for a phone. The style shows the one that fits.

use std::fmt::Write;

use super::escape;
use super::scale::Scale;
use crate::document::{Chart, Series, SeriesKind};
use crate::statistics::downsample;

/// Points of one series that are embedded at most, on a desktop and on a phone.
const POINTS_MAX: [usize; 2] = [512, 160];
/// Width and height of the drawing `[pixel]`, on a desktop and on a phone.
const SIZES: [(f64, f64); 2] = [(760.0, 340.0), (340.0, 280.0)];
/// Colours before they repeat; the style has one class for each.
const COLOURS: usize = 8;
/// Average width of a digit of the axis font `[pixel]`.
const DIGIT_PX: f64 = 7.0;

pub(super) fn chart(out: &mut String, chart: &Chart) {
    out.push_str("<figure class=\"chart\">");
    let _ = write!(out, "<figcaption>{}</figcaption>", escape(&chart.caption));
    for (form, ((width, height), points_max)) in ["wide", "narrow"].into_iter().zip(SIZES.into_iter().zip(POINTS_MAX)) {
        svg(out, chart, form, width, height, points_max);
    }
    legend(out, &chart.series);
    out.push_str("</figure>");
}

fn legend(out: &mut String, series: &[Series]) {
    out.push_str("<ul class=\"legend\">");
    for (i, series) in coloured(series).filter(|(_, series)| series.kind != SeriesKind::Interval) {
        let mark = if series.kind == SeriesKind::Points {
            "<circle cx=\"12\" cy=\"5\" r=\"3\"/>"
        } else {
            "<path d=\"M0 5H24\"/>"
        };
        let _ = write!(
            out,
            "<li title=\"{0}\"><svg class=\"s{1}{2}\" viewBox=\"0 0 24 10\" aria-hidden=\"true\">{mark}</svg><span>{0}</span></li>",
            escape(&series.name),
            i % COLOURS,
            points_class(series.kind),
        );
    }
    out.push_str("</ul>");
}

/// Each series with the number of its colour: intervals have that of the series they belong to.
fn coloured(series: &[Series]) -> impl Iterator<Item = (usize, &Series)> {
    let numbers = series.iter().scan(0, |next, series| {
        *next += usize::from(series.kind != SeriesKind::Interval);
        Some(next.saturating_sub(1))
    });
    numbers.zip(series)
}

fn points_class(kind: SeriesKind) -> &'static str {
    match kind {
        SeriesKind::Points => " points",
        SeriesKind::Interval => " interval",
        SeriesKind::Line | SeriesKind::Step | SeriesKind::Ecdf => "",
    }
}

fn svg(out: &mut String, chart: &Chart, form: &str, width: f64, height: f64, points_max: usize) {
    let all = || chart.series.iter().flat_map(|series| series.points.iter());
    let shares = !chart.series.is_empty() && chart.series.iter().all(|series| series.kind == SeriesKind::Ecdf);
    let (top, bottom) = (30.0, height - 46.0);
    let y = Scale::over(&chart.y, all().map(|point| point.1), shares.then_some((0.0, 1.0)), (bottom, top));
    let y_ticks = y.ticks();
    let digits = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(1);
    let (left, right) = (16.0 + digits as f64 * DIGIT_PX, width - 18.0);
    let x = Scale::over(&chart.x, all().map(|point| point.0), None, (left, right));

    let label = format!("{}: {} over {}", chart.caption, chart.y.title(), chart.x.title());
    let _ = write!(
        out,
        "<svg class=\"plot {form}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"><g class=\"axis\">",
        escape(&label)
    );
    for tick in &y_ticks {
        let _ = write!(out, "<path d=\"M{left:.1} {0:.1}H{right}\"/>", tick.px);
        let _ =
            write!(out, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"end\">{}</text>", left - 6.0, tick.px + 4.0, tick.label);
    }
    let mut free_from = f64::NEG_INFINITY;
    for tick in x.ticks() {
        let _ = write!(out, "<path d=\"M{0:.1} {bottom}v5\"/>", tick.px);
        // A label that would touch its neighbour is left out; its tick stays.
        let half = tick.label.chars().count() as f64 * DIGIT_PX / 2.0;
        let centre = tick.px.min(width - half - 1.0);
        if centre - half > free_from {
            free_from = centre + half + 6.0;
            let _ = write!(out, "<text x=\"{centre:.1}\" y=\"{}\" class=\"mid\">{}</text>", bottom + 19.0, tick.label);
        }
    }
    let _ = write!(
        out,
        "<path class=\"base\" d=\"M{left:.1} {top}V{bottom}H{right}\"/><text x=\"2\" y=\"15\" class=\"name\">{}</text><text x=\"{:.1}\" y=\"{}\" class=\"name mid\">{}</text></g>",
        escape(&elide(&chart.y.title(), (width / DIGIT_PX) as usize)),
        (left + right) / 2.0,
        height - 8.0,
        escape(&elide(&chart.x.title(), ((right - left) / DIGIT_PX) as usize)),
    );
    for (i, series) in coloured(&chart.series) {
        draw(out, series, i, &x, &y, points_max);
    }
    out.push_str("</svg>");
}

fn draw(out: &mut String, series: &Series, index: usize, x: &Scale, y: &Scale, points_max: usize) {
    let points = downsample(&series.points, points_max);
    let mut pixels = points.iter().filter_map(|point| Some((x.px(point.0)?, y.px(point.1)?)));
    let _ = write!(out, "<g class=\"s{}{}\">", index % COLOURS, points_class(series.kind));
    if series.kind == SeriesKind::Points {
        for (px, py) in pixels {
            let _ = write!(out, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\"/>");
        }
    } else if series.kind == SeriesKind::Interval {
        for ends in series.points.chunks_exact(2).take(points_max) {
            let pixels = |point: &(f64, f64)| Some((x.px(point.0)?, y.px(point.1)?));
            if let (Some((px, from)), Some((_, to))) = (pixels(&ends[0]), pixels(&ends[1])) {
                let (left, right) = (px - 3.0, px + 3.0);
                let _ = write!(
                    out,
                    "<path d=\"M{px:.1} {from:.1}V{to:.1}M{left:.1} {from:.1}H{right:.1}M{left:.1} {to:.1}H{right:.1}\"/>"
                );
            }
        }
    } else if let Some(first) = pixels.next() {
        let _ = write!(out, "<path d=\"M{:.1} {:.1}", first.0, first.1);
        let (mut last, mut drawn) = (first, first);
        for (px, py) in pixels {
            last = (px, py);
            // What moves less than half a pixel is not seen.
            if (px - drawn.0).abs() + (py - drawn.1).abs() < 0.5 {
                continue;
            }
            segment(out, series.kind, drawn, last);
            drawn = last;
        }
        if drawn != last {
            segment(out, series.kind, drawn, last);
        }
        out.push_str("\"/>");
    }
    out.push_str("</g>");
}

fn segment(out: &mut String, kind: SeriesKind, from: (f64, f64), to: (f64, f64)) {
    let _ = if !kind.is_stepped() {
        write!(out, "L{:.1} {:.1}", to.0, to.1)
    } else if (to.1 - from.1).abs() < 0.05 {
        write!(out, "H{:.1}", to.0)
    } else if (to.0 - from.0).abs() < 0.05 {
        write!(out, "V{:.1}", to.1)
    } else {
        write!(out, "H{:.1}V{:.1}", to.0, to.1)
    };
}

/// The first `max` characters of `text`, the last one an ellipsis if there were more.
pub(super) fn elide(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.into();
    }
    text.chars().take(max.saturating_sub(1)).chain(['\u{2026}']).collect()
}
