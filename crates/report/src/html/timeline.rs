//! A schedule as one SVG whose horizontal unit is the nanosecond. It reads as it is; the script adds zoom and pan.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::escape;
use crate::document::{BarKind, Timeline, number_text};

/// Bars drawn at most, guard periods not counted.
const BARS_MAX: usize = 1_500;
/// Height of a lane and of a bar in it `[pixel]`.
const LANE_PX: usize = 30;
const BAR_PX: usize = 18;

pub(super) fn timeline(out: &mut String, timeline: &Timeline) {
    let cycle_ns = timeline.cycle_ns.max(1);
    let height = timeline.lanes.len() * LANE_PX;
    let until_ns = drawn_until(timeline);
    let _ = write!(
        out,
        "<figure class=\"timeline\" data-cycle=\"{cycle_ns}\"><figcaption>{}</figcaption>",
        escape(&timeline.caption)
    );
    out.push_str(concat!(
        "<div class=\"tl-bar\" hidden><button type=\"button\" data-do=\"in\" title=\"zoom in (+)\">+</button>",
        "<button type=\"button\" data-do=\"out\" title=\"zoom out (-)\">\u{2212}</button>",
        "<button type=\"button\" data-do=\"left\" title=\"earlier (arrow left)\">\u{2190}</button>",
        "<button type=\"button\" data-do=\"right\" title=\"later (arrow right)\">\u{2192}</button>",
        "<button type=\"button\" data-do=\"all\" title=\"the whole cycle (0)\">whole cycle</button>",
        "<span class=\"tl-hint\">drag to move; pinch, Ctrl + wheel, or click and use + \u{2212} \u{2190} \u{2192} to zoom and move</span></div>"
    ));
    let _ = write!(out, "<div class=\"tl-body\"><div class=\"tl-names\" style=\"height:{height}px\">");
    for lane in &timeline.lanes {
        let _ = write!(out, "<div title=\"{0}\">{0}</div>", escape(&lane.name));
    }
    let _ = write!(
        out,
        "</div><div class=\"tl-view\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><svg style=\"height:{height}px\" viewBox=\"0 0 {cycle_ns} {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}\">",
        escape(&timeline.caption)
    );
    for (i, lane) in timeline.lanes.iter().enumerate() {
        let top = i * LANE_PX;
        if i % 2 == 1 {
            let _ =
                write!(out, "<rect class=\"stripe\" x=\"0\" y=\"{top}\" width=\"{cycle_ns}\" height=\"{LANE_PX}\"/>");
        }
        let mut guards = String::new();
        for bar in lane.bars.iter().filter(|bar| bar.start_ns < until_ns) {
            let span = (bar.end_ns - bar.start_ns).max(0);
            if bar.kind == BarKind::Guard {
                let _ = write!(guards, "M{} {}h{span}", bar.start_ns, top + LANE_PX / 2);
                continue;
            }
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{span}\" height=\"{BAR_PX}\"><title>{}</title></rect>",
                bar.kind.style(),
                bar.start_ns,
                top + (LANE_PX - BAR_PX) / 2,
                escape(&bar.label),
            );
        }
        if !guards.is_empty() {
            let _ = write!(out, "<path class=\"guard\" d=\"{guards}\"/>");
        }
    }
    out.push_str("</svg><div class=\"tl-labels\" aria-hidden=\"true\"></div><div class=\"tl-axis\">");
    for i in 0..=4 {
        let _ = write!(out, "<span style=\"left:{}%\">{}</span>", i * 25, time_text(cycle_ns * i / 4));
    }
    out.push_str("</div></div></div>");
    let _ = write!(
        out,
        "<p class=\"tl-unit\">time since the cycle began</p><p class=\"tl-read\" aria-live=\"polite\"></p>"
    );
    if until_ns < i64::MAX {
        let _ = write!(
            out,
            "<p class=\"footnote\">Only the {BARS_MAX} bars that begin before {} are drawn.</p>",
            time_text(until_ns)
        );
    }
    let kinds: BTreeSet<BarKind> = timeline.lanes.iter().flat_map(|lane| &lane.bars).map(|bar| bar.kind).collect();
    out.push_str("<ul class=\"legend\">");
    for kind in kinds {
        let _ = write!(out, "<li><i class=\"key {}\"></i><span>{}</span></li>", kind.style(), kind.name());
    }
    out.push_str("</ul></figure>");
}

/// Bars that begin from here on are not drawn, so that a page stays small.
fn drawn_until(timeline: &Timeline) -> i64 {
    let bars = timeline.lanes.iter().flat_map(|lane| &lane.bars).filter(|bar| bar.kind != BarKind::Guard);
    let mut starts: Vec<i64> = bars.map(|bar| bar.start_ns).collect();
    starts.sort_unstable();
    starts.get(BARS_MAX).copied().unwrap_or(i64::MAX)
}

/// A time with the unit that keeps it short.
fn time_text(ns: i64) -> String {
    let trim = |value: f64, unit: &str| {
        let text = number_text(value, 3);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        format!("{text} {unit}")
    };
    match ns.abs() {
        0 => "0".into(),
        1..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => trim(ns as f64 / 1e3, "\u{b5}s"),
        _ => trim(ns as f64 / 1e6, "ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_exact() {
        let texts = [0, 80, 6_400, 204_800, 10_000_000, -1_500].map(time_text);
        assert_eq!(texts, ["0", "80 ns", "6.4 \u{b5}s", "204.8 \u{b5}s", "10 ms", "-1.5 \u{b5}s"]);
    }
}
