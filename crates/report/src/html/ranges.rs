//! Ranges of many streams: a row of words, drawing and numbers each. Places in the drawings are percent of its width, so
//! that one drawing serves a desktop and a phone; the style moves the words above it where there is no room beside.

use std::fmt::Write;

use super::escape;
use super::scale::{Scale, Tick};
use super::table::one_table;
use crate::document::{Evidence, Mark, RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Tukey, short_number};

/// Height of a lane of a row and of the room above the first `[pixel]`.
const LANE_PX: f64 = 17.0;
const TOP_PX: f64 = 8.0;
/// Width the ticks of the axis are chosen for, and the one some of their labels have to give way at `[pixel]`.
const WIDTHS_PX: [f64; 2] = [640.0, 290.0];
/// Average width of a digit of the axis font `[pixel]`.
const DIGIT_PX: f64 = 7.0;
/// Colours before they repeat; the style has one class for each. The number of the hop tells apart what has one colour.
const COLOURS: usize = 8;
/// A piece of a line this wide has room for one digit `[percent]`.
const NUMBERED_MIN: f64 = 2.6;
/// Rows from which on the axis stands at the top as well.
const AXIS_ABOVE_FROM: usize = 8;
/// Reasons for absent values that are written below the picture.
const REASONS_MAX: usize = 5;

/// What all rows share.
struct Picture<'a> {
    ranges: &'a Ranges,
    rows: Vec<&'a RangeRow>,
    scale: Scale,
    ticks: Vec<Tick>,
    /// Which spread of which source each lane below the bounds holds.
    lanes: Vec<(Evidence, usize)>,
    with_bounds: bool,
    with_deadlines: bool,
    /// What the whole width is for hops, if the axis is logarithmic: lengths on a logarithmic axis do not compare.
    hops_to: Option<f64>,
}

pub(super) fn ranges(out: &mut String, all: &Ranges) {
    let gathered = all.gathered();
    let ranges = &gathered;
    let picture = Picture::new(ranges);
    let _ = write!(out, "<figure class=\"ranges\"><figcaption>{}</figcaption>", escape(&ranges.caption));
    let numbers = 1 + usize::from(picture.with_bounds) + usize::from(picture.with_deadlines);
    let _ = write!(out, "<div class=\"rg n{numbers}\">");
    picture.head(out);
    for row in &picture.rows {
        picture.row(out, row);
    }
    out.push_str("<div class=\"rg-row rg-foot\"><span class=\"rg-name\"></span><span class=\"rg-keys\"></span>");
    picture.axis(out, true);
    out.push_str("<span class=\"rg-nums\"></span></div></div>");
    picture.legend(out);
    let mut notes: Vec<String> = ranges.cut_text().into_iter().collect();
    notes.extend(picture.reasons());
    notes.extend(ranges.footnotes.iter().cloned());
    for note in notes {
        let _ = write!(out, "<p class=\"footnote\">{}</p>", escape(&note));
    }
    out.push_str("<details><summary>Numbers of this picture</summary>");
    one_table(out, &all.table(&all.drawn()));
    out.push_str("</details></figure>");
}

impl<'a> Picture<'a> {
    fn new(ranges: &'a Ranges) -> Self {
        let rows = ranges.drawn();
        let scale = Scale::of_ranges(ranges, &rows, (0.0, WIDTHS_PX[0]));
        let many = |source: Evidence| {
            let count = |row: &&RangeRow| row.spreads.iter().filter(|spread| spread.evidence == source).count();
            rows.iter().map(count).max().unwrap_or(0).max(1)
        };
        let lanes = ranges.sources().into_iter().flat_map(|source| (0..many(source)).map(move |nth| (source, nth)));
        Self {
            lanes: lanes.collect(),
            ticks: scale.ticks(),
            with_bounds: rows.iter().any(|row| row.bound.is_some()),
            with_deadlines: rows.iter().any(|row| row.deadline.is_some()),
            hops_to: if scale.is_log() { longest_divided(&rows) } else { None },
            ranges,
            rows,
            scale,
        }
    }

    fn at(&self, value: f64) -> f64 {
        100.0 * self.scale.share(value)
    }

    /// Where the end of a divided line is: on the axis, or on the scale that all of them share.
    fn end_of(&self, value: f64) -> f64 {
        self.hops_to.map_or_else(|| self.at(value), |hops_to| (100.0 * value / hops_to).clamp(0.0, 100.0))
    }

    /// What the hops of a row's bound take, if they have a lane of their own.
    fn hop_lane<'r>(&self, row: &'r RangeRow) -> Option<&'r RangeBound> {
        row.bound.as_ref().filter(|bound| self.hops_to.is_some() && bound.total.is_finite() && is_divided(&bound.parts))
    }

    fn height(&self, row: &RangeRow) -> f64 {
        let above = usize::from(self.with_bounds) + usize::from(self.hop_lane(row).is_some());
        TOP_PX + LANE_PX * (self.lanes.len() + above).max(1) as f64 + 3.0
    }

    fn head(&self, out: &mut String) {
        out.push_str(
            "<div class=\"rg-row rg-head\"><span class=\"rg-name\">stream</span><span class=\"rg-keys\"></span>",
        );
        if self.rows.len() >= AXIS_ABOVE_FROM {
            self.axis(out, false);
        } else {
            out.push_str("<span></span>");
        }
        out.push_str("<span class=\"rg-nums\">");
        let bound = self.with_bounds.then_some("bound");
        let deadline = self.with_deadlines.then_some("deadline");
        for name in std::iter::once("max").chain(bound).chain(deadline) {
            let _ = write!(out, "<span>{name}<br><em>{}</em></span>", escape(&self.ranges.unit));
        }
        out.push_str("</span></div>");
    }

    /// Ticks with their labels; with the name of the axis if it is the one `below`.
    fn axis(&self, out: &mut String, below: bool) {
        let height = if below { 40 } else { 20 };
        let (tick, text) = if below { (0, 18) } else { (15, 12) };
        let _ = write!(out, "<svg class=\"rg-axis\" height=\"{height}\" aria-hidden=\"true\">");
        let mut free_from = [f64::NEG_INFINITY; 2];
        for Tick { px, label } in &self.ticks {
            let share = px / WIDTHS_PX[0];
            let _ =
                write!(out, "<line x1=\"{0:.2}%\" x2=\"{0:.2}%\" y1=\"{tick}\" y2=\"{1}\"/>", 100.0 * share, tick + 5);
            let half = label.chars().count() as f64 * DIGIT_PX / 2.0;
            let mut fits = [false; 2];
            let anchor = match share {
                share if share > 0.97 => "end",
                _ => "middle",
            };
            for (i, width) in WIDTHS_PX.into_iter().enumerate() {
                let centre = match anchor {
                    "end" => share * width - half,
                    _ => share * width,
                };
                fits[i] = centre - half > free_from[i];
                if fits[i] {
                    free_from[i] = centre + half + 8.0;
                }
            }
            if fits[0] {
                let class = if fits[1] { "" } else { " class=\"roomy\"" };
                let _ = write!(
                    out,
                    "<text x=\"{:.2}%\" y=\"{text}\" text-anchor=\"{anchor}\"{class}>{label}</text>",
                    100.0 * share
                );
            }
        }
        if below {
            let log = if self.scale.is_log() { ", logarithmic" } else { "" };
            let title = format!("{}{log}", self.ranges.axis(&self.rows).title());
            let _ =
                write!(out, "<text class=\"name\" x=\"50%\" y=\"36\" text-anchor=\"middle\">{}</text>", escape(&title));
        }
        out.push_str("</svg>");
    }

    fn row(&self, out: &mut String, row: &RangeRow) {
        let findings = row.findings();
        let class = findings.first().map_or("", |(mark, _)| mark.name());
        let _ = write!(
            out,
            "<div class=\"rg-row {class}\"><div class=\"rg-name\" title=\"{0}\"><b>{1}</b><small>{2}</small>",
            escape(&format!("{} {}", row.name, row.note)),
            escape(&row.name),
            escape(&row.note)
        );
        for (mark, finding) in &findings {
            let _ = write!(out, "<small class=\"mark {}\">{}</small>", mark.name(), escape(finding));
        }
        let _ = write!(out, "</div><div class=\"rg-keys\" style=\"padding-top:{TOP_PX}px\" aria-hidden=\"true\">");
        let mut key = |source: Evidence, text: &str| {
            let _ = write!(out, "<span class=\"ev {}\">{text}</span>", source.name());
        };
        if self.with_bounds {
            key(Evidence::Bounded, Evidence::Bounded.letter());
        }
        if self.hop_lane(row).is_some() {
            key(Evidence::Bounded, "\u{2261}");
        }
        self.lanes.iter().for_each(|(source, _)| key(*source, source.letter()));
        out.push_str("</div>");
        self.plot(out, row);
        self.numbers(out, row);
        out.push_str("</div>");
    }

    fn numbers(&self, out: &mut String, row: &RangeRow) {
        out.push_str("<div class=\"rg-nums\"><div><i>max</i>");
        for spread in &row.spreads {
            let late = row.deadline.is_some_and(|deadline| spread.max > deadline);
            let _ = write!(
                out,
                "<span class=\"ev {}{}\">{}<sup>{}</sup></span>",
                spread.evidence.name(),
                if late { " late" } else { "" },
                short_number(spread.max),
                spread.evidence.letter()
            );
        }
        if row.spreads.is_empty() {
            let why: Vec<&str> = row.absent.iter().map(|(_, why)| why.as_str()).collect();
            na(out, &why.join("; "));
        }
        out.push_str("</div>");
        let mut column = |name: &str, value: Option<f64>, why: &str, class: &str| {
            let _ = write!(out, "<div><i>{name}</i>");
            match value {
                Some(value) => {
                    let _ = write!(out, "<span{class}>{}</span>", short_number(value));
                }
                None => na(out, why),
            }
            out.push_str("</div>");
        };
        if self.with_bounds {
            let bound = row.bound.as_ref().map(|bound| bound.total);
            column("bound", bound, &row.unbounded, " class=\"ev bounded\"");
        }
        if self.with_deadlines {
            column("deadline", row.deadline, &row.no_deadline, "");
        }
        out.push_str("</div>");
    }

    fn plot(&self, out: &mut String, row: &RangeRow) {
        let height = self.height(row);
        let words = self.ranges.describe(row);
        let _ = write!(
            out,
            "<div class=\"rg-plot\" style=\"min-height:{height}px\"><svg role=\"img\" aria-label=\"{}\"><title>{}</title><g class=\"rg-grid\">",
            escape(&words.join("; ")),
            escape(&words.join("\n"))
        );
        for tick in &self.ticks {
            let at = 100.0 * tick.px / WIDTHS_PX[0];
            let _ = write!(out, "<line x1=\"{at:.2}%\" x2=\"{at:.2}%\" y2=\"100%\"/>");
        }
        out.push_str("</g>");
        for (value, name) in &self.ranges.lines {
            let at = self.at(*value);
            let _ = write!(
                out,
                "<line class=\"rg-mark\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y2=\"100%\"><title>{}</title></line>",
                escape(name)
            );
        }
        let deadline = row.deadline.filter(|deadline| deadline.is_finite()).map(|deadline| self.at(deadline));
        if let Some(at) = deadline {
            let width = 100.0 - at;
            let _ = write!(out, "<rect class=\"rg-beyond\" x=\"{at:.2}%\" width=\"{width:.2}%\" height=\"100%\"/>");
        }
        let mut y = TOP_PX + LANE_PX / 2.0;
        if self.with_bounds {
            self.bound(out, row, y, height);
            y += LANE_PX;
        }
        if let Some(at) = deadline {
            let _ = write!(
                out,
                "<line class=\"rg-deadline\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y2=\"100%\"/>\
                 <svg x=\"{at:.2}%\" overflow=\"visible\"><path class=\"rg-deadline\" d=\"M-6 0h12l-6 8z\"/></svg>"
            );
        }
        if let Some(bound) = self.hop_lane(row) {
            // Nothing of the axis shows through what is on a scale of its own.
            let top = y - LANE_PX / 2.0 + 1.0;
            let _ =
                write!(out, "<rect class=\"rg-hops\" y=\"{top:.1}\" width=\"100%\" height=\"{:.1}\"/>", LANE_PX - 2.0);
            self.parts(out, &bound.parts, self.end_of(bound.total), y, "rg-parts");
            y += LANE_PX;
        }
        for &(source, nth) in &self.lanes {
            let mut spreads = row.spreads.iter().filter(|spread| spread.evidence == source);
            if let Some(spread) = spreads.nth(nth) {
                self.spread(out, spread, row.deadline, y);
            }
            y += LANE_PX;
        }
        let _ = write!(out, "</svg>{}</div>", self.absences(row));
    }

    /// Words in the lanes that hold no drawing; the style cuts them at the end of the lane.
    fn absences(&self, row: &RangeRow) -> String {
        let mut out = String::new();
        let mut top = TOP_PX;
        let mut lane = |is_empty: bool, why: &str| {
            if is_empty {
                let why = if why.is_empty() { "n/a".into() } else { format!("n/a: {why}") };
                let _ = write!(out, "<div class=\"rg-na\" style=\"top:{top}px\" title=\"{0}\">{0}</div>", escape(&why));
            }
            top += LANE_PX;
        };
        if self.with_bounds {
            lane(row.bound.is_none(), &row.unbounded);
        }
        if self.hop_lane(row).is_some() {
            lane(false, "");
        }
        for &(source, nth) in &self.lanes {
            let why = row.absent.iter().find(|(absent, _)| *absent == source).map(|(_, why)| why.as_str());
            match row.spreads.iter().filter(|spread| spread.evidence == source).nth(nth) {
                Some(spread) => lane(!is_drawn(spread), "its values are no numbers"),
                None => lane(why.is_some(), why.unwrap_or_default()),
            }
        }
        out
    }

    fn bound(&self, out: &mut String, row: &RangeRow, y: f64, height: f64) {
        let Some(bound) = row.bound.as_ref().filter(|bound| bound.total.is_finite()) else {
            return;
        };
        let at = self.at(bound.total);
        let parts = if self.hop_lane(row).is_some() { &[][..] } else { &bound.parts };
        self.parts(out, parts, at, y, "rg-parts");
        let _ = write!(
            out,
            "<line class=\"rg-bound\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"{:.1}\" y2=\"{height}\"/>",
            y - 6.0
        );
    }

    /// A line from the left end to `end` percent, divided in the shares of its parts.
    fn parts(&self, out: &mut String, parts: &[RangePart], end: f64, y: f64, class: &str) {
        let sum: f64 = parts.iter().map(|part| part.value.max(0.0)).sum();
        if sum <= 0.0 || !sum.is_finite() {
            let _ = write!(out, "<line class=\"{class} whole\" x2=\"{end:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            return;
        }
        let mut from = 0.0;
        for part in parts {
            let share = part.value.max(0.0) / sum;
            let to = from + end * share;
            let line = |class: &str, title: &str| {
                format!(
                    "<line class=\"{class}\" x1=\"{from:.2}%\" x2=\"{to:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\">{title}</line>"
                )
            };
            let title = format!(
                "<title>{}: {}, {:.0} % of {}</title>",
                escape(&self.ranges.hop_name(part.hop)),
                escape(&self.ranges.value_text(part.value)),
                100.0 * share,
                escape(&self.ranges.value_text(sum))
            );
            out.push_str(&line(&format!("{class} h{}", part.hop % COLOURS), &title));
            if class == "rg-parts" && end * share >= NUMBERED_MIN * (part.hop + 1).to_string().len() as f64 {
                let _ = write!(
                    out,
                    "<text class=\"rg-hop\" x=\"{:.2}%\" y=\"{:.1}\">{}</text>",
                    from + end * share / 2.0,
                    y + 3.5,
                    part.hop + 1
                );
            }
            // A gap, so that neighbours of one colour or none are told apart.
            if to < end {
                let (top, bottom) = (y - 5.5, y + 5.5);
                let _ = write!(
                    out,
                    "<line class=\"rg-gap\" x1=\"{to:.2}%\" x2=\"{to:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
                );
            }
            from = to;
        }
    }

    fn spread(&self, out: &mut String, spread: &RangeSpread, deadline: Option<f64>, y: f64) {
        if !is_drawn(spread) {
            return;
        }
        let (min, max) = (self.at(spread.min), self.at(spread.max));
        if let (false, Some(median)) = (spread.parts.is_empty(), spread.median) {
            self.parts(out, &spread.parts, self.end_of(median), y + 7.0, "rg-strip");
        }
        let (top, bottom) = (y - 4.0, y + 4.0);
        if let Some(tukey) = &spread.tukey {
            self.boxplot(out, spread, tukey, y);
            return;
        }
        let _ = write!(
            out,
            "<g class=\"rg-{}\"><line x1=\"{min:.2}%\" x2=\"{max:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <line x1=\"{min:.2}%\" x2=\"{min:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>\
             <line x1=\"{max:.2}%\" x2=\"{max:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>",
            spread.evidence.name()
        );
        if let Some(p99) = spread.p99.filter(|p99| p99.is_finite()) {
            let _ = write!(
                out,
                "<rect x=\"{min:.2}%\" width=\"{:.2}%\" y=\"{top:.1}\" height=\"8\"/>",
                (self.at(p99) - min).max(0.0)
            );
        }
        if let Some(deadline) = deadline.filter(|deadline| spread.max > *deadline) {
            let from = self.at(deadline).max(min);
            let _ =
                write!(out, "<line class=\"rg-late\" x1=\"{from:.2}%\" x2=\"{max:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        }
        if let Some(median) = spread.median.filter(|median| median.is_finite()) {
            let at = self.at(median);
            let _ = match spread.evidence {
                Evidence::Measured => write!(
                    out,
                    "<svg x=\"{at:.2}%\" y=\"{y:.1}\" overflow=\"visible\"><path d=\"M0 -5.5L5.5 0 0 5.5 -5.5 0z\"/></svg>"
                ),
                _ => write!(out, "<circle cx=\"{at:.2}%\" cy=\"{y:.1}\" r=\"4\"/>"),
            };
        }
        out.push_str("</g>");
    }

    /// Box of the quartiles with the median, whiskers, and a dot at the least and the greatest value where they are beyond.
    fn boxplot(&self, out: &mut String, spread: &RangeSpread, tukey: &Tukey, y: f64) {
        let [low, high] = tukey.whiskers.map(|value| self.at(value));
        let [q1, q3] = tukey.quartiles.map(|value| self.at(value));
        let (top, bottom) = (y - 4.0, y + 4.0);
        let _ = write!(
            out,
            "<g class=\"rg-{}\"><line x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <rect x=\"{q1:.2}%\" width=\"{:.2}%\" y=\"{top:.1}\" height=\"8\"/>",
            spread.evidence.name(),
            (q3 - q1).max(0.2)
        );
        if let Some(median) = spread.median {
            let at = self.at(median);
            let _ = write!(
                out,
                "<line class=\"rg-median\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
            );
        }
        for at in [low, high] {
            let _ = write!(out, "<line x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>");
        }
        let beyond = [(spread.min, spread.min < tukey.whiskers[0]), (spread.max, spread.max > tukey.whiskers[1])];
        for (value, _) in beyond.into_iter().filter(|(_, is_beyond)| *is_beyond) {
            let _ = write!(out, "<circle class=\"rg-dot\" cx=\"{:.2}%\" cy=\"{y:.1}\" r=\"2\"/>", self.at(value));
        }
        out.push_str("</g>");
    }

    fn legend(&self, out: &mut String) {
        out.push_str("<ul class=\"legend\">");
        let mut entry = |drawing: &str, text: &str| {
            let _ = write!(
                out,
                "<li title=\"{0}\"><svg class=\"rg-key\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">{drawing}</svg><span>{0}</span></li>",
                escape(text)
            );
        };
        let seen = |kind: Evidence| self.rows.iter().flat_map(|row| &row.spreads).any(|spread| spread.evidence == kind);
        for kind in Evidence::LETTERED.into_iter().filter(|kind| seen(*kind)) {
            let median = match kind {
                Evidence::Measured => "<path d=\"M10 1.5L15.5 7 10 12.5 4.5 7z\"/>",
                _ => "<circle cx=\"10\" cy=\"7\" r=\"4\"/>",
            };
            let drawing = format!(
                "<g class=\"rg-{}\"><line x1=\"1\" x2=\"33\" y1=\"7\" y2=\"7\"/><line x1=\"33\" x2=\"33\" y1=\"3\" y2=\"11\"/>\
                 <rect x=\"1\" y=\"3\" width=\"20\" height=\"8\"/>{median}</g>",
                kind.name()
            );
            let shape = if kind == Evidence::Measured { "diamond" } else { "circle" };
            if self.has_boxplots() {
                let drawing = format!(
                    "<g class=\"rg-{}\"><line x1=\"1\" x2=\"27\" y1=\"7\" y2=\"7\"/><rect x=\"7\" y=\"3\" width=\"13\" height=\"8\"/>\
                     <line class=\"rg-median\" x1=\"12\" x2=\"12\" y1=\"3\" y2=\"11\"/><circle class=\"rg-dot\" cx=\"32\" cy=\"7\" r=\"2\"/></g>",
                    kind.name()
                );
                let words = "quartiles and median, whiskers of Tukey, dots: least, greatest";
                entry(&drawing, &format!("{} {}: {words}", kind.letter(), kind.name()));
                continue;
            }
            entry(&drawing, &format!("{} {}: {shape} median, box min to p99, line to max", kind.letter(), kind.name()));
        }
        for (value, name) in &self.ranges.lines {
            let drawing = "<line class=\"rg-mark\" x1=\"17\" x2=\"17\" y2=\"14\"/>";
            entry(drawing, &format!("{name}: {}", self.ranges.value_text(*value)));
        }
        if self.with_deadlines {
            let drawing = "<rect class=\"rg-beyond\" x=\"12\" width=\"22\" height=\"14\"/>\
                           <line class=\"rg-deadline\" x1=\"12\" x2=\"12\" y2=\"14\"/><path class=\"rg-deadline\" d=\"M6 0h12l-6 8z\"/>";
            entry(drawing, "deadline; shaded is too late");
        }
        if self.with_bounds {
            let parts = self.rows.iter().filter_map(|row| row.bound.as_ref()).any(|bound| !bound.parts.is_empty());
            let drawing = "<line class=\"rg-parts whole\" x1=\"0\" x2=\"26\" y1=\"7\" y2=\"7\"/><line class=\"rg-bound\" x1=\"26\" x2=\"26\" y1=\"0\" y2=\"14\"/>";
            entry(
                drawing,
                if parts && self.hops_to.is_none() { "B bound, its line divided by hop:" } else { "B bound" },
            );
            if parts && self.hops_to.is_some() {
                entry(
                    "<text class=\"ev bounded\" x=\"17\" y=\"11\" text-anchor=\"middle\">\u{2261}</text>",
                    "bound by hop, on a linear scale:",
                );
            }
        }
        let mut used: Vec<usize> = Vec::new();
        for row in &self.rows {
            let bound = row.bound.iter().flat_map(|bound| &bound.parts);
            used.extend(row.spreads.iter().flat_map(|spread| &spread.parts).chain(bound).map(|part| part.hop));
        }
        used.sort_unstable();
        used.dedup();
        for hop in used {
            let drawing = format!(
                "<line class=\"rg-parts h{}\" x1=\"0\" x2=\"34\" y1=\"7\" y2=\"7\"/><text class=\"rg-hop\" x=\"17\" y=\"10.5\">{}</text>",
                hop % COLOURS,
                hop + 1
            );
            entry(&drawing, &self.ranges.hop_name(hop));
        }
        out.push_str("</ul>");
        let divided = self.rows.iter().any(|row| {
            row.bound.as_ref().is_some_and(|bound| !bound.parts.is_empty())
                || row.spreads.iter().any(|spread| !spread.parts.is_empty())
        });
        if divided {
            let strips = self.rows.iter().flat_map(|row| &row.spreads).any(|spread| !spread.parts.is_empty());
            let strips = if strips { " A thin line under a range divides its median in the same way." } else { "" };
            let scale = match self.hops_to {
                Some(longest) => format!(
                    "Lines divided by hop are on a linear scale that all rows share, not on the axis: the whole width is {}.",
                    escape(&self.ranges.value_text(longest))
                ),
                None => "Each piece of a divided line is what one hop takes.".to_owned(),
            };
            let _ = write!(out, "<p class=\"footnote\">{scale}{strips}</p>");
        }
        if self.scale.is_log() && self.rows.iter().flat_map(|row| row.values()).any(|value| value <= 0.0) {
            out.push_str("<p class=\"footnote\">Values of zero and below are drawn at the left end.</p>");
        }
    }

    fn has_boxplots(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.spreads).any(|spread| spread.tukey.is_some())
    }

    fn reasons(&self) -> Option<String> {
        let reasons = Ranges::na_reasons(&self.rows);
        let more = match reasons.len().saturating_sub(REASONS_MAX) {
            0 => String::new(),
            more => format!("; and {more} more reasons, in the numbers"),
        };
        let first = reasons.iter().take(REASONS_MAX).cloned().collect::<Vec<_>>().join("; ");
        (!reasons.is_empty()).then(|| format!("n/a: {first}{more}."))
    }
}

fn na(out: &mut String, why: &str) {
    let _ = write!(out, "<span class=\"mark {}\" title=\"{}\">n/a</span>", Mark::Na.name(), escape(why));
}

fn is_divided(parts: &[RangePart]) -> bool {
    parts.iter().any(|part| part.value > 0.0)
}

/// The longest line that is divided by hop.
fn longest_divided(rows: &[&RangeRow]) -> Option<f64> {
    let bounds = rows.iter().filter_map(|row| row.bound.as_ref()).filter(|bound| is_divided(&bound.parts));
    let spreads = rows.iter().flat_map(|row| &row.spreads).filter(|spread| is_divided(&spread.parts));
    let ends = bounds.map(|bound| bound.total).chain(spreads.filter_map(|spread| spread.median));
    ends.filter(|end| end.is_finite() && *end > 0.0).reduce(f64::max)
}

fn is_drawn(spread: &RangeSpread) -> bool {
    spread.min.is_finite() && spread.max.is_finite()
}
