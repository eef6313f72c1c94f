use chronoseal_report::{Block, Cell, Document, Mark, Section, Series, SeriesKind, Table, html};

use crate::sample::document;

/// Every way a page can name something outside itself.
const OUTSIDE: [&str; 12] = [
    "http://",
    "https://",
    "//cdn",
    "src=",
    "@import",
    "url(",
    "<link",
    "<iframe",
    "<object",
    "fetch(",
    "XMLHttpRequest",
    "WebSocket",
];

#[test]
fn names_no_address_outside_itself() {
    let mut plain = document();
    // The hostile text itself says `src=`; as text that is harmless, but would hide a real one here.
    let page = html(&plain).replace("src=x", "");
    for outside in OUTSIDE {
        assert!(!page.contains(outside), "{outside}");
    }
    plain.sections.clear();
    assert!(!html(&plain).replace("src=x", "").contains("src="));
}

#[test]
fn text_stays_text() {
    let page = html(&document());
    assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;/title&gt;&lt;script&gt;alert(&quot;x&quot;)"));
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    assert_eq!(page.matches("</script>").count(), 1);
    let timeline = page.split("<figure class=\"timeline\"").nth(1).expect("there is one");
    let timeline = timeline.split("</figure>").next().expect("a part before the end");
    let bars = timeline.matches("<rect").count() - timeline.matches("\"stripe\"").count();
    assert_eq!(timeline.matches("<title>").count(), bars, "every bar has its words");
}

#[test]
fn tags_are_balanced() {
    let page = html(&document());
    for tag in
        ["section", "figure", "table", "tr", "td", "th", "ul", "li", "svg", "g", "div", "p", "span", "dl", "main"]
    {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn the_verdict_comes_before_everything_else() {
    let page = html(&document());
    let verdict = page.find("id=\"verdict\"").unwrap();
    assert!(verdict < page.find("<figure").unwrap() && verdict < page.find("<table").unwrap());
}

#[test]
fn every_chart_has_axes_units_and_a_caption() {
    let page = html(&document());
    let charts = page.matches("<figure class=\"chart\">").count();
    assert_eq!(charts, 1);
    assert_eq!(page.matches("latency [us]</text>").count(), 2 * charts, "for a desktop and for a phone");
    assert_eq!(page.matches("class=\"plot").count(), 2 * charts);
    assert!(!page.contains("NaN") && !page.contains("inf "));
}

#[test]
fn a_curve_embeds_at_most_512_points() {
    let page = html(&document());
    let longest = page.split("<path d=\"").map(|path| path.split('"').next().unwrap()).map(str::len).max().unwrap();
    // Two numbers of at most six characters each, with their letters.
    assert!(longest < 512 * 14, "{longest}");
}

#[test]
fn a_large_study_stays_below_half_a_megabyte() {
    let one = document();
    let Block::Chart(chart) = &one.sections[0].blocks[3] else { panic!("the fourth block is the chart") };
    let Block::Table(table) = &one.sections[0].blocks[2] else { panic!("the third block is the table") };
    let mut table = table.clone();
    while table.rows.len() < 60 {
        table.rows.extend_from_within(..3);
    }
    let mut study: Document = one.clone();
    for _ in 0..12 {
        study.sections[0].blocks.push(Block::Chart(chart.clone()));
        study.sections[0].blocks.push(Block::Table(table.clone()));
    }
    let size = html(&study).len();
    println!("{size} bytes");
    assert!(size < 500_000, "{size}");
}

#[test]
fn a_timeline_of_thousands_of_bars_is_cut_and_says_so() {
    use chronoseal_report::{Bar, BarKind};
    let mut document = document();
    let Block::Timeline(timeline) = &mut document.sections[0].blocks[4] else {
        panic!("the fifth block is the timeline")
    };
    let bar = |i: i64, kind| Bar { start_ns: i * 1_000, end_ns: i * 1_000 + 500, label: format!("frame {i}"), kind };
    timeline.lanes[0].bars = (0..9_000).flat_map(|i| [bar(i, BarKind::Frame), bar(i, BarKind::Guard)]).collect();
    let page = html(&document);
    assert_eq!(page.matches("<rect class=\"frame\"").count(), 1_500);
    assert!(page.contains("Only the 1500 bars that begin before 1.5 ms are drawn."));
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn the_column_with_the_answer_stays_in_sight_on_a_narrow_screen() {
    let table = |judged: fn(Cell) -> Cell, remark: &str| {
        let mut table = Table::new("t").words("stream").numbers("latency", "ms").words("within").words("remark");
        for word in ["yes", "no"] {
            table.push(vec![Cell::text("s"), Cell::number(1.0, 1), judged(Cell::text(word)), Cell::text(remark)]);
        }
        let mut document = document();
        document.sections = vec![Section::new("s").with(Block::Table(table))];
        html(&document)
    };
    let page = table(|cell| cell.marked(Mark::Good), "it is so");
    assert!(
        page.contains("<th scope=\"col\" class=\"decides\">within")
            && page.contains("class=\"short mark good decides\"")
    );
    assert_eq!(page.matches(" decides\"").count(), 2, "one column, and no other");
    assert!(
        page.contains(".decides { position: sticky; left: 7.5rem; background"),
        "the style keeps it there, and not at the right edge"
    );
    // Nothing is judged, or the judgement is too long to stand beside the rest.
    assert!(!table(|cell| cell, "").contains("class=\"decides\""));
    assert!(
        !table(|_| Cell::text("a sentence that goes on and on").marked(Mark::Bad), "").contains("class=\"decides\"")
    );
}

#[test]
fn evidence_is_told_apart_by_letter_and_colour() {
    let page = html(&document());
    assert!(page.contains("class=\"short num ev measured\"") && page.contains("<sup>M</sup>"));
    assert!(page.contains("class=\"short num ev printed mark bad") && page.contains("<sup>P</sup>"));
    assert!(page.contains("printed in the publication") && page.contains("measured on this host"));
    assert!(!page.contains("simulated in virtual time"), "the legend names only what is there");
}

#[test]
fn an_interval_is_drawn_in_the_colour_of_its_series_and_has_no_legend() {
    let mut one = document();
    let Block::Chart(chart) = &mut one.sections[0].blocks[3] else { panic!("the fourth block is the chart") };
    let series = |kind, points| Series { name: "policy".into(), kind, points };
    chart.series = vec![
        series(SeriesKind::Points, vec![(1.0, 50.0)]),
        series(SeriesKind::Interval, vec![(1.0, 40.0), (1.0, 60.0)]),
        series(SeriesKind::Points, vec![(2.0, 50.0)]),
    ];
    let page = html(&one);
    assert_eq!(
        page.matches("<g class=\"s0 interval\"><path d=\"M").count(),
        2,
        "an interval, for a desktop and for a phone"
    );
    assert_eq!(page.matches("<g class=\"s1 points\">").count(), 2, "the next series has the next colour");
    assert_eq!(page.matches("<li title=\"policy\">").count(), 2, "two legends for three series");
}
