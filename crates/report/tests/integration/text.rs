use chronoseal_report::{Block, Cell, Document, Evidence, Mark, Section, Table, TerminalStyle, csv, json, terminal};

use crate::sample::document;

#[test]
fn terminal_tables_line_up_whatever_the_script() {
    let text = terminal(&document(), TerminalStyle::default());
    // The footnote of the table quotes nothing, so these lines are its rows.
    let row = text.lines().find(|line| line.contains("\u{6f22}\u{5b57}")).unwrap();
    let other = text.lines().find(|line| line.contains("printed, \"quoted\"")).unwrap();
    let width = unicode_width::UnicodeWidthStr::width;
    assert_eq!(width(row), width(other), "{row}\n{other}");
    assert!(other.ends_with("x 1.5 P"));
    assert!(row.ends_with("n/a"));
}

#[test]
fn the_reason_of_an_absent_value_can_be_read() {
    assert!(terminal(&document(), TerminalStyle::default()).contains("n/a: too few samples."));
    assert!(chronoseal_report::html(&document()).contains("n/a: too few samples."));
}

/// A town has thousands of rows: the terminal has the first of them and all that warn, and says what it left out.
#[test]
fn a_long_table_is_shortened_and_nothing_that_warns_is_left_out() {
    let mut table = Table::new("Stations").words("name").numbers("value", "us");
    for number in 0..500 {
        let mark = if number % 100 == 99 { Mark::Bad } else { Mark::Good };
        table.push(vec![Cell::text(format!("station-{number}.")), Cell::number(1.0, 0).marked(mark)]);
    }
    let document = Document { sections: vec![Section::new("Long").with(Block::Table(table))], ..document() };
    let text = terminal(&document, TerminalStyle::default());
    for (number, is_shown) in [(0, true), (99, true), (100, false), (199, true), (498, false), (499, true)] {
        assert_eq!(text.contains(&format!("station-{number}.")), is_shown, "{number}");
    }
    assert!(text.contains("396 more rows, none with a warning; --format json has them all"), "{text}");
}

#[test]
fn terminal_text_cannot_steer_the_terminal() {
    assert!(!terminal(&document(), TerminalStyle::default()).contains('\u{1b}'));
    let coloured = terminal(&document(), TerminalStyle { colour: true, width: 80 });
    assert!(coloured.contains("\u{1b}[1;33mNOT CHECKED\u{1b}[0m"));
    assert!(!coloured.contains("\u{1b}[31m\u{1b}"));
    let own = ["\u{1b}[1m", "\u{1b}[0m", "\u{1b}[1;33m", "\u{1b}[31m", "\u{1b}[2m"];
    assert_eq!(
        own.iter().map(|code| coloured.matches(code).count()).sum::<usize>(),
        coloured.matches('\u{1b}').count()
    );
}

#[test]
fn json_is_one_object_with_a_version() {
    let value: serde_json::Value = serde_json::from_str(&json(&document())).unwrap();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["verdict"]["word"], "not-checked");
    let cell = &value["sections"][0]["blocks"][2]["table"]["rows"][0][1];
    assert_eq!((cell["number"].as_f64(), cell["kind"].as_str()), (Some(12_345.678_9), Some("measured")));
}

#[test]
fn csv_keeps_exact_numbers_units_and_their_evidence() {
    let text = csv(&document());
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("# ") && lines[0].ends_with(": A table"));
    assert_eq!(lines[1], "name,value [us],value evidence");
    assert!(lines[2].ends_with(",12345.6789,measured"), "{}", lines[2]);
    assert_eq!(lines[3], "\"printed, \"\"quoted\"\"\",1.5,printed");
    assert_eq!(lines[4], "l\u{e4}nge \u{6f22}\u{5b57},n/a,plain");
}

#[test]
fn data_keeps_intervals_and_has_no_columns_for_none() {
    let mut table = Table::new("Shares").words("policy").numbers("linked", "%");
    table.push(vec![Cell::text("a"), Cell::estimate(97.25, [95.125, 98.5], 1).from(Evidence::Simulated)]);
    table.push(vec![Cell::text("b"), Cell::na("no vehicle changed")]);
    let mut document = document();
    document.sections = vec![Section { id: "s".into(), title: "S".into(), blocks: vec![Block::Table(table)] }];
    let csv = csv(&document);
    let lines: Vec<_> = csv.lines().skip(1).collect();
    assert_eq!(lines[0], "policy,linked [%],linked low [%],linked high [%],linked evidence");
    assert_eq!(lines[1..3], ["a,97.25,95.125,98.5,simulated", "b,n/a,,,plain"]);
    let value: serde_json::Value = serde_json::from_str(&json(&document)).expect("JSON");
    let rows = &value["sections"][0]["blocks"][0]["table"]["rows"];
    assert_eq!((&rows[0][1]["text"], &rows[0][1]["interval"][1]), (&"97.2 [95.1, 98.5]".into(), &98.5.into()));
    assert!(rows[1][1].get("interval").is_none());
}
