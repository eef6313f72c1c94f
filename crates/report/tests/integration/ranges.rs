use chronoseal_report::{
    Block, Document, Evidence, Mark, RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Section, TerminalStyle,
    Tukey, Verdict, Word, csv, html, json, terminal,
};
use unicode_width::UnicodeWidthStr;

fn spread(evidence: Evidence, median: f64) -> RangeSpread {
    RangeSpread {
        evidence,
        note: String::new(),
        n: 400,
        min: median / 2.0,
        median: Some(median),
        p99: Some(median * 1.5),
        max: median * 2.0,
        parts: vec![],
        tukey: None,
    }
}

fn row(name: &str, median: f64) -> RangeRow {
    RangeRow {
        name: name.into(),
        note: "pedal -> brake".into(),
        deadline: Some(1_000.0),
        bound: Some(RangeBound {
            total: 500.0,
            parts: vec![RangePart { hop: 0, value: 300.0 }, RangePart { hop: 1, value: 200.0 }],
        }),
        spreads: vec![spread(Evidence::Simulated, median)],
        ..RangeRow::default()
    }
}

fn ranges(rows: Vec<RangeRow>) -> Ranges {
    Ranges {
        caption: "Latency".into(),
        quantity: "end-to-end latency".into(),
        unit: "us".into(),
        hops: vec!["can-front".into(), "ethernet".into()],
        rows,
        footnotes: vec![],
        lines: Vec::new(),
        is_log: false,
    }
}

fn document(ranges: Ranges) -> Document {
    Document {
        title: "t".into(),
        subtitle: String::new(),
        verdict: Verdict { word: Word::Held, text: "y".into(), points: vec![] },
        sections: vec![Section::new("All streams").with(Block::Ranges(ranges))],
        environment: vec![],
    }
}

/// The page without style and script.
fn body(rows: Vec<RangeRow>) -> String {
    let page = html(&document(ranges(rows)));
    let from = page.find("<body>").expect("a page has a body");
    page[from..page.find("<script>").expect("a page has its script")].into()
}

fn text(rows: Vec<RangeRow>) -> String {
    terminal(&document(ranges(rows)), TerminalStyle::default())
}

#[test]
fn every_number_of_a_row_can_be_read() {
    let page = body(vec![row("brake", 100.0)]);
    for words in [
        "brake (pedal -&gt; brake)",
        "deadline 1000 us",
        "bound 500.0 us = can-front 300.0 + ethernet 200.0, 50.0 % of the deadline",
        "simulated, n = 400: min 50.00 us, median 100.0 us, p99 150.0 us, max 200.0 us, 20.0 % of the deadline",
        "<title>can-front: 300.0 us, 60 % of 500.0 us</title>",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_simulated_range_is_never_drawn_as_a_measured_one() {
    let page = body(vec![row("brake", 100.0)]);
    assert!(page.contains("rg-simulated") && !page.contains("rg-measured") && !page.contains("measured"));
    let both = RangeRow { spreads: vec![spread(Evidence::Measured, 100.0)], ..row("brake", 100.0) };
    let page = body(vec![both.clone()]);
    assert!(page.contains("rg-measured") && !page.contains("rg-simulated") && !page.contains("simulated"));
    assert!(page.contains("measured on this host") && page.contains("bounded by analysis"));
    let (simulated, measured) = (text(vec![row("brake", 100.0)]), text(vec![both]));
    assert!(simulated.contains("S simulated, o median") && !simulated.contains("measured"));
    assert!(measured.contains("M measured, # median") && !measured.contains("simulated"));
}

#[test]
fn a_missed_deadline_is_marked_in_every_form() {
    let late = row("late", 600.0);
    assert!(late.missed() && !row("early", 100.0).missed());
    let page = body(vec![late.clone()]);
    assert!(page.contains("rg-row bad") && page.contains("simulated beyond deadline") && page.contains("rg-late"));
    assert!(page.contains("simulated beyond bound"));
    assert!(text(vec![late.clone()]).contains("\n  x late"));
    assert!(csv(&document(ranges(vec![late]))).contains("simulated beyond deadline; simulated beyond bound"));
    let page = body(vec![row("early", 100.0)]);
    assert!(!page.contains("rg-row bad") && !page.contains("rg-late"));
}

#[test]
fn a_deadline_that_is_met_to_the_point_is_held() {
    let mut met = row("met", 500.0);
    met.bound = None;
    assert_eq!(met.max_seen(), met.deadline);
    assert!(met.findings().is_empty());
}

#[test]
fn lost_frames_mark_a_row_whatever_its_range() {
    let lost = RangeRow { mark: Mark::Bad, remark: "simulated: 3 missing".into(), ..row("brake", 10.0) };
    assert_eq!(lost.findings(), [(Mark::Bad, "simulated: 3 missing".to_owned())]);
    assert!(body(vec![lost]).contains("simulated: 3 missing"));
}

#[test]
fn a_bound_beyond_the_deadline_is_a_warning() {
    let mut wide = row("wide", 10.0);
    wide.deadline = Some(400.0);
    assert_eq!(wide.findings(), [(Mark::Warn, "bound beyond deadline".to_owned())]);
    assert!(body(vec![wide.clone()]).contains("rg-row warn"));
    assert!(text(vec![wide]).contains("\n  ! wide"));
}

#[test]
fn the_axis_is_logarithmic_where_values_ask_for_it() {
    let near = body(vec![row("a", 100.0), row("b", 90.0)]);
    assert!(near.contains("end-to-end latency [us]</text>") && near.contains("text-anchor=\"middle\">0</text>"));
    let far = body(vec![row("a", 100.0), row("b", 1.0)]);
    assert!(far.contains("end-to-end latency [us], logarithmic</text>"));
    assert!(text(vec![row("a", 100.0), row("b", 1.0)]).contains("[us], logarithmic)"));
}

#[test]
fn lengths_of_hops_compare_on_a_logarithmic_axis() {
    let short = RangeRow {
        bound: Some(RangeBound { total: 50.0, parts: vec![RangePart { hop: 0, value: 50.0 }] }),
        ..row("b", 1.0)
    };
    let page = body(vec![row("a", 100.0), short]);
    assert!(page.contains("the whole width is 500.0 us"), "{page}");
    // 300 and 200 of 500, and 50 of 500.
    for line in ["x1=\"0.00%\" x2=\"60.00%\"", "x1=\"60.00%\" x2=\"100.00%\"", "x1=\"0.00%\" x2=\"10.00%\""] {
        assert!(page.contains(line), "{line}");
    }
    assert!(!body(vec![row("a", 100.0), row("b", 90.0)]).contains("whole width"));
}

#[test]
fn instances_share_a_row_of_the_picture_and_none_of_the_data() {
    let instance = |k: usize| RangeRow { instance_of: "wheel".into(), ..row(&format!("wheel.{k}"), 10.0 + k as f64) };
    let rows: Vec<RangeRow> = (0..4).map(instance).collect();
    let page = body(rows.clone());
    assert_eq!(page.matches("class=\"rg-plot\"").count(), 1);
    assert!(page.contains("<b>wheel</b>") && page.contains("slowest of 4"), "{page}");
    assert!(text(rows.clone()).contains("wheel ") && !text(rows.clone()).contains("wheel.1"));
    assert_eq!(csv(&document(ranges(rows))).matches("wheel.").count(), 8, "a bound and what was seen, of each");
}

#[test]
fn the_worst_forty_are_drawn_and_the_rest_is_counted() {
    let mut rows: Vec<RangeRow> = (1..=100).map(|i| row(&format!("stream-{i:03}"), f64::from(i))).collect();
    let page = body(rows[..40].to_vec());
    assert!(page.contains("stream-001") && !page.contains("left out"), "forty are not too many");
    // The bound outweighs what is seen here, so that is taken away.
    rows.iter_mut().for_each(|row| row.bound = None);
    rows[2].mark = Mark::Bad;
    rows[2].remark = "1 lost".into();
    rows[99].deadline = None;
    let page = body(rows.clone());
    assert_eq!(page.matches("class=\"rg-plot\"").count(), 40);
    assert!(page.contains("60 more are left out") && page.contains("hold all 100"));
    assert!(page.contains("<b>stream-003</b>"), "a marked row is never left out");
    assert!(page.contains("<b>stream-061</b>") && !page.contains("stream-060"));
    assert!(!page.contains("stream-100"), "those with a deadline come first");
    let first = page.find("<b>stream-003</b>").expect("it is there");
    assert!(first < page.find("<b>stream-061</b>").expect("it is there"), "in their own order");
    assert_eq!(text(rows.clone()).matches("  stream-").count(), 40 - 1, "the marked one has its sign before it");
    let csv = csv(&document(ranges(rows)));
    assert_eq!(csv.matches("stream-").count(), 100, "data hold all");
}

#[test]
fn a_long_name_is_cut_only_for_the_eye() {
    let long = "wheel-speed-front-left-after-filtering-and-plausibility-check";
    assert!(body(vec![row(long, 10.0)]).contains(&format!("title=\"{long} pedal")));
    let text = text(vec![row(long, 10.0)]);
    assert!(text.contains("wheel-speed-front-lef~ ") && !text.contains(long));
}

#[test]
fn what_is_absent_is_said_with_its_reason() {
    let nothing = RangeRow {
        name: "log".into(),
        no_deadline: "none is named".into(),
        unbounded: "best effort".into(),
        absent: vec![(Evidence::Measured, "no frame was accepted".into())],
        ..RangeRow::default()
    };
    let rows = vec![row("brake", 10.0), nothing];
    let page = body(rows.clone());
    for words in ["deadline: none is named", "bound: best effort", "measured: no frame was accepted"] {
        assert!(page.contains(words) && text(rows.clone()).replace("\n  ", " ").contains(words), "{words}");
    }
    let csv = csv(&document(ranges(rows)));
    assert!(csv.contains("\nlog,,measured,n/a,n/a,n/a,n/a,n/a,n/a,,,\n"), "{csv}");
    assert!(csv.contains("\nlog,,bound,n/a,n/a,n/a,n/a,n/a,n/a,,,\n"), "{csv}");
}

#[test]
fn terminal_bars_stay_within_a_hundred_columns_and_line_up() {
    let mut both = row("\u{6f22}\u{5b57} \u{6f22}\u{5b57} \u{6f22}\u{5b57} \u{6f22}\u{5b57} \u{6f22}\u{5b57}", 60.0);
    both.spreads.push(spread(Evidence::Measured, 90_000.0));
    let text = text(vec![row("brake", 10.0), both]);
    assert!(text.lines().all(|line| line.width() <= 100), "{text}");
    let plot = |sign| text.lines().find(|line| line.contains(sign)).expect("a line of a bar");
    let ends: Vec<usize> = [" S ", "\u{6f22}"].map(|sign| plot(sign).width()).into();
    assert_eq!(ends[0], ends[1], "{text}");
    assert!(plot(" S ").contains("[=") && plot(" S ").contains('B') && plot(" S ").contains('D'), "{text}");
}

#[test]
fn odd_values_leave_no_trace_in_a_page() {
    let odd = |value: f64| {
        let mut odd = row("odd", value);
        odd.deadline = Some(value);
        odd.bound = Some(RangeBound { total: value, parts: vec![RangePart { hop: 9, value }] });
        odd
    };
    let rows = [f64::NAN, f64::INFINITY, 0.0, -5.0, 1e-9, 1e15].map(odd);
    for rows in [rows.to_vec(), rows[..1].to_vec(), rows[2..3].to_vec(), vec![]] {
        let page = body(rows.clone());
        let drawing: Vec<&str> = page.split('"').filter(|part| part.ends_with('%')).collect();
        assert!(drawing.iter().all(|part| !part.contains("NaN") && !part.contains("inf")), "{drawing:?}");
        text(rows.clone());
        csv(&document(ranges(rows.clone())));
        json(&document(ranges(rows)));
    }
}

#[test]
fn data_hold_every_number_with_its_source() {
    let mut both = row("brake", 100.0);
    both.spreads.push(RangeSpread {
        p99: None,
        parts: vec![RangePart { hop: 1, value: 30.0 }],
        ..spread(Evidence::Measured, 120.0)
    });
    let document = document(ranges(vec![both]));
    let csv = csv(&document);
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(
        lines[..4],
        [
            "stream,\"from, to\",source,n,min [us],median [us],p99 [us],max [us],deadline [us],in can-front [us],in ethernet [us],remark",
            "brake,pedal -> brake,bound,,,,,500,1000,300,200,",
            "brake,pedal -> brake,simulated,400,50,100,150,200,1000,,,",
            "brake,pedal -> brake,measured,400,60,120,n/a,240,1000,,30,",
        ]
    );
    let value: serde_json::Value = serde_json::from_str(&json(&document)).expect("JSON");
    let row = &value["sections"][0]["blocks"][0]["ranges"]["rows"][0];
    assert_eq!(
        (&row["bound"]["parts"][1]["value"], &row["spreads"][1]["evidence"]),
        (&200.0.into(), &"measured".into())
    );
}

#[test]
fn a_boxplot_has_whiskers_within_one_and_a_half_boxes_and_counts_what_is_beyond() {
    let samples: Vec<f64> = (1..=20).map(f64::from).chain([100.0]).collect();
    let tukey = Tukey::of(&samples).expect("enough samples");
    assert_eq!((tukey.quartiles, tukey.whiskers, tukey.beyond), ([6.0, 16.0], [1.0, 20.0], 1));
    assert_eq!(Tukey::of(&samples[..10]), None, "ten samples carry no upper quartile");
    let spread = RangeSpread { min: 1.0, max: 100.0, tukey: Some(tukey), ..spread(Evidence::Measured, 11.0) };
    let row = RangeRow { name: "udp".into(), spreads: vec![spread], ..RangeRow::default() };
    let picture = Ranges { lines: vec![(1_000.0, "limit".into())], is_log: true, ..ranges(vec![row]) };
    let page = html(&document(picture.clone()));
    assert!(csv(&document(picture.clone())).contains(",first quartile [us],"));
    assert!(page.contains("whiskers of Tukey") && page.contains("limit: 1000 us") && page.contains("1 beyond"));
    let shown = terminal(&document(picture), TerminalStyle { colour: false, width: 120 });
    assert!(shown.contains("logarithmic") && shown.contains(": limit"), "{shown}");
}
