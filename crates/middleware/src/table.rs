//! What a comparison of configurations is shown as.

use chronoseal_core::Duration;
use chronoseal_report::{
    Block, Cell, Document, Evidence, Mark, RangeRow, RangeSpread, Ranges, Section, Table, Tukey, Verdict, Word,
};
use chronoseal_results::Distribution;
use chronoseal_runner::versions;

use crate::pair::NODES;
use crate::{Configuration, Data, Measured, Network, Packets, Taken, WARM_UP_PERCENT, Wire, beside};

/// What there is of one configuration.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It ran.
    Measured(Box<Measured>),
    /// It was not run, because…
    Not(String),
}

impl Answer {
    /// Several runs of one configuration as one: what was measured, or why nothing was.
    pub fn pooled(answers: &[Self]) -> Self {
        let runs = answers.iter().filter_map(|answer| match answer {
            Self::Measured(measured) => Some(&**measured),
            Self::Not(_) => None,
        });
        match (Measured::pooled(&runs.collect::<Vec<_>>()), answers.first()) {
            (Some(measured), _) => Self::Measured(Box::new(measured)),
            (None, Some(first)) => first.clone(),
            (None, None) => Self::Not("it was not asked for".into()),
        }
    }
}

/// A configuration and its answer.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Which.
    pub configuration: &'a Configuration,
    /// What came of it.
    pub answer: Answer,
    /// The same over localhost, if that was measured beside it.
    pub host: Option<Measured>,
}

impl Row<'_> {
    fn measured(&self) -> Option<&Measured> {
        match &self.answer {
            Answer::Measured(measured) => Some(measured),
            Answer::Not(_) => None,
        }
    }

    /// What the best have least of: losses, deadlines missed, the 99th percentile of the latency or what stands for it.
    /// What is not on the wire has no place among those that are, and comes last.
    fn rank(&self) -> (bool, u8, u64, i64) {
        let off_wire = self.configuration.wire == Wire::No;
        let Some(measured) = self.measured() else { return (off_wire, 3, 0, 0) };
        let (Some(loss), Some(latency)) = (measured.loss_percent(), measured.latency) else {
            return (off_wire, 2, 0, 0);
        };
        let broken = u8::from(measured.trouble.is_some() || measured.keeps_deadline() == Some(false));
        let silent = 1e8 * measured.silent as f64 / measured.due.max(1) as f64;
        (off_wire, broken, (loss * 1e6 + silent) as u64, latency.p99_ns.unwrap_or(latency.max_ns))
    }
}

/// The report of a comparison: the best first. With what security costs, if there are configurations that differ in it only.
pub fn document(
    rows: &[Row<'_>],
    data: &Data,
    (network, packets): (Network, Packets),
    costs: Option<Table>,
) -> Document {
    let mut ranked: Vec<&Row<'_>> = rows.iter().collect();
    ranked.sort_by_key(|row| row.rank());
    let title = format!("Robot middleware: {} over {}", data.name, network.title);
    let subtitle = format!(
        "{} B every {:.2} ({:.1} Mbit/s without headers), measured live through the emulated link.{}",
        data.length,
        data.period,
        data.load() / 1e6,
        network.shaped_where().map_or_else(String::new, |place| format!(" {place}"))
    );
    let mut measured = Section::new("Measured").with(Block::Table(table(&ranked)));
    if ranked.iter().any(|row| row.measured().is_some_and(|measured| measured.latency.is_some())) {
        measured = measured.with(Block::Ranges(ranges(&ranked, data)));
    }
    let answers = ranked.iter().map(|row| match &row.answer {
        Answer::Measured(measured) => (row.configuration, Ok(&**measured)),
        Answer::Not(why) => (row.configuration, Err(why.as_str())),
    });
    let hosts = ranked.iter().map(|row| row.host.as_ref());
    let against = answers.clone().zip(hosts).map(|((configuration, answer), host)| (configuration, answer, host));
    let mut sections = vec![measured];
    sections.extend(
        beside(data, network, packets, against)
            .map(|table| Section::new("What the network alone takes").with(Block::Table(table))),
    );
    sections.push(Section::new("What programs take").with(Block::Table(taken(answers))));
    sections.extend(costs.map(|costs| Section::new("What security costs").with(Block::Table(costs))));
    sections.push(Section::new("What to know").with(Block::Notes(notes(&ranked, data, network))));
    Document { title, subtitle, verdict: verdict(&ranked, data, network), sections, environment: versions() }
}

fn verdict(ranked: &[&Row<'_>], data: &Data, network: Network) -> Verdict {
    let asked = ranked.len();
    let ran: Vec<(String, &Measured)> =
        ranked.iter().filter_map(|row| Some((row.configuration.shown(), row.measured()?))).collect();
    let mut points = Vec::new();
    if let Some(times) = data.overload(network) {
        points.push(format!(
            "The data ask for {times:.2} times what {} carries: at least {:.1} % have to be lost or late, whatever carries them.",
            network.title,
            100.0 * (1.0 - 1.0 / times)
        ));
    }
    points.extend(ranked.iter().filter_map(|row| match &row.answer {
        Answer::Not(why) => Some(format!("{}: not measured, because {why}", row.configuration.name)),
        Answer::Measured(measured) => {
            measured.trouble.as_ref().map(|trouble| format!("{}: {trouble}", row.configuration.name))
        }
    }));
    let keeps: Vec<Option<bool>> = ran.iter().map(|(_, measured)| measured.keeps_deadline()).collect();
    let held = keeps.iter().filter(|keeps| **keeps == Some(true)).count();
    let (word, text) = match data.deadline {
        _ if ran.is_empty() => (Word::NotChecked, "Nothing was measured.".to_owned()),
        None => {
            let text = format!("{} of {asked} configurations were measured; no deadline was given.", ran.len());
            (Word::NotChecked, text)
        }
        Some(deadline) if held == 0 && keeps.iter().all(|keeps| *keeps == Some(false)) && ran.len() == asked => {
            (Word::Failed, format!("None of {asked} configurations brings every message within {deadline}."))
        }
        Some(deadline) => {
            let first = ran.iter().zip(&keeps).find(|(_, keeps)| **keeps == Some(true)).map(|((name, _), _)| name);
            let best = first.map_or_else(String::new, |name| format!("; the fastest of them is {name}"));
            let text = format!(
                "{held} of {asked} configurations brought every message that was measured within {deadline}{best}."
            );
            // A run shows that a deadline was missed, and never that it cannot be.
            (Word::NotProven, text)
        }
    };
    Verdict { word, text, points }
}

fn table(ranked: &[&Row<'_>]) -> Table {
    let mut table = Table::new("Each configuration, the best first")
        .words("configuration")
        .words("security")
        .numbers("due", "")
        .numbers("came", "")
        .numbers("lost", "%")
        .numbers("under way", "")
        .numbers("late", "")
        .numbers("p50", "us")
        .numbers("p99", "us")
        .numbers("max", "us")
        .numbers("wire/data", "")
        .numbers("ready after", "s")
        .footnote(format!(
            "The first {WARM_UP_PERCENT} % of the messages are left out. Latency is from when a message was due to when the subscriber had it. \
             Lost: never came and a later one did, was altered, or was not sent because its publisher was held up; what was under way when the run ended counts \
             neither way. Wire/data: bytes that crossed the link for each byte of a message that came; less than 1, and the messages took another way. Ready after: when the first message was due, until when both ends had to start and find each other."
        ));
    for row in ranked {
        let mut cells = vec![row.configuration.cell(), Cell::text(&row.configuration.security)];
        match &row.answer {
            Answer::Not(why) => cells.extend((0..10).map(|_| Cell::na(why.as_str()))),
            Answer::Measured(measured) => cells.extend(measured_cells(measured)),
        }
        table.push(cells);
    }
    table
}

/// Processor time and memory of the programs of each configuration, or why that is not known.
pub fn taken<'a>(rows: impl Iterator<Item = (&'a Configuration, Result<&'a Measured, &'a str>)>) -> Table {
    let mut table = Table::new("What programs take").words("configuration");
    for node in NODES {
        table = table.numbers(format!("{node}, processor"), "us/message").numbers(format!("{node}, memory"), "MB");
    }
    table = table.footnote(
        "Processor time of a program and of all that it started, the kernel's for it included, for each message that was sent. All from start to end \
         is in it, handshakes too, so that it is more in a shorter run; what the emulated link takes is not. Memory: the most that each process had, in sum.",
    );
    for (configuration, answer) in rows {
        let mut cells = vec![configuration.cell()];
        for node in NODES {
            let [processor, memory] = match answer {
                Err(why) => [0; 2].map(|_| Cell::na(why)),
                Ok(measured) => match measured.programs.iter().find(|program| program.node == node) {
                    None => [0; 2].map(|_| Cell::na("it has no such node")),
                    Some(program) => taken_cells(program, measured.sent),
                },
            };
            cells.extend([processor, memory]);
        }
        table.push(cells);
    }
    table
}

fn taken_cells(program: &Taken, sent: u64) -> [Cell; 2] {
    let processor = match program.processor_ns {
        None => Cell::na("a process of it ended of which nobody knows"),
        Some(_) if sent == 0 => Cell::na("nothing was sent"),
        Some(ns) => Cell::number(ns as f64 / 1e3 / sent as f64, 1).from(Evidence::Measured),
    };
    let memory = program.memory.map_or_else(
        || Cell::na("it ended before the run did"),
        |bytes| Cell::number(bytes as f64 / 1e6, 1).from(Evidence::Measured),
    );
    [processor, memory]
}

fn measured_cells(measured: &Measured) -> Vec<Cell> {
    let count = |value: u64| Cell::count(value).from(Evidence::Measured);
    let bad = |cell: Cell, is_bad: bool| if is_bad { cell.marked(Mark::Bad) } else { cell };
    let lost = loss_cell(measured);
    let late = match measured.late {
        None => Cell::na("no deadline was given"),
        Some(late) => bad(count(late), late > 0),
    };
    let percentile = |chosen: fn(&Distribution) -> Option<i64>| match measured.latency.as_ref() {
        None => Cell::na("nothing came"),
        Some(latency) => match chosen(latency) {
            None => Cell::na("too few messages for it"),
            Some(ns) => Cell::number(ns as f64 / 1e3, 1).from(Evidence::Measured),
        },
    };
    let ready = measured
        .first_due_ns
        .map_or_else(|| Cell::na("nothing was sent"), |ns| Cell::number(ns as f64 / 1e9, 2).from(Evidence::Measured));
    let wire = measured.wire.map_or_else(
        || Cell::na("nothing came"),
        |wire| {
            let cell = Cell::number(wire, 2).from(Evidence::Measured);
            if wire < 1.0 {
                cell.marked(Mark::Warn).titled("not on the wire: the messages took another way")
            } else {
                cell
            }
        },
    );
    vec![
        count(measured.due),
        count(measured.came),
        lost,
        if measured.silent > 0 { count(measured.under_way).marked(Mark::Warn) } else { count(measured.under_way) },
        late,
        percentile(|latency| latency.p50_ns),
        percentile(|latency| latency.p99_ns),
        percentile(|latency| Some(latency.max_ns)),
        wire,
        ready,
    ]
}

/// The share that was lost. It is no good news where others are under way for longer than they should be.
pub fn loss_cell(measured: &Measured) -> Cell {
    let Some(loss) = measured.loss_percent() else {
        return Cell::na("nothing came, and nobody knows of what was sent whether it is lost");
    };
    let cell = Cell::number(loss, 2).from(Evidence::Measured);
    match (loss > 0.0, measured.silent) {
        (true, _) if !measured.limits.is_empty() => cell.marked(Mark::Bad).titled(measured.limits.join("; ")),
        (true, _) => cell.marked(Mark::Bad),
        (false, 0) => cell,
        (false, silent) => {
            let title = format!("{silent} more were under way for over a second when the run ended");
            cell.marked(Mark::Warn).titled(title)
        }
    }
}

/// A row of a picture of latencies; `None` if nothing came.
pub fn range_row(configuration: &Configuration, measured: &Measured, deadline: Option<Duration>) -> Option<RangeRow> {
    let us = |ns: i64| ns as f64 / 1e3;
    let latency = measured.latency?;
    let spread = RangeSpread {
        evidence: Evidence::Measured,
        note: String::new(),
        n: latency.n,
        min: us(latency.min_ns),
        median: latency.p50_ns.map(us),
        p99: latency.p99_ns.map(us),
        max: us(latency.max_ns),
        parts: Vec::new(),
        tukey: Tukey::of(&measured.latencies_ns.iter().map(|ns| us(*ns)).collect::<Vec<f64>>()),
    };
    let loss = measured.loss_percent().filter(|loss| *loss > 0.0);
    let remark = match (loss, measured.silent) {
        (Some(loss), _) => format!("{loss:.2} % lost"),
        (None, 0) => String::new(),
        (None, silent) => format!("{silent} of {} had not come after a second", measured.due),
    };
    Some(RangeRow {
        name: configuration.shown(),
        note: configuration.security.clone(),
        deadline: deadline.map(Duration::as_us_f64),
        no_deadline: "none was given".into(),
        unbounded: "the way through kernels and a middleware has no bound".into(),
        spreads: vec![spread],
        mark: if remark.is_empty() { Mark::None } else { Mark::Bad },
        remark,
        ..RangeRow::default()
    })
}

/// What pictures of latencies are held against: the periods of the fastest and of the slowest loop that is usual on a robot `[us]`.
pub fn rates() -> Vec<(f64, String)> {
    [33.0, 10.0].map(|hertz| (1e6 / hertz, format!("{hertz} Hz"))).to_vec()
}

fn ranges(ranked: &[&Row<'_>], data: &Data) -> Ranges {
    let rows = ranked.iter().filter_map(|row| range_row(row.configuration, row.measured()?, data.deadline));
    Ranges {
        caption: "Latency of each configuration".into(),
        quantity: "latency".into(),
        unit: "us".into(),
        hops: Vec::new(),
        rows: rows.collect(),
        footnotes: Vec::new(),
        lines: rates(),
        is_log: true,
    }
}

fn notes(ranked: &[&Row<'_>], data: &Data, network: Network) -> Vec<String> {
    let mut notes = vec![format!(
        "Publisher and subscriber are processes in network namespaces of their own, on this host, and {} is emulated between them by the \
         profile `{}`. Latencies include the emulator and the kernel on both sides.",
        network.title, network.profile
    )];
    let stalled: u64 = ranked.iter().filter_map(|row| row.measured()).map(|measured| measured.stalled).sum();
    if stalled > 0 {
        notes.push(format!(
            "{stalled} messages were on their way while the host was away: their latency is the host's."
        ));
    }
    if data.length > 65_000 {
        notes.push("Messages of this length show copies and ciphers; those of a few kilobytes show how fast processes wake up.".into());
    }
    for row in ranked {
        let Some(measured) = row.measured() else { continue };
        for warning in measured.warnings.iter().chain(&measured.limits) {
            let text = format!("{}: {warning}", row.configuration.name);
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NETWORKS;

    fn configuration(name: &str) -> Configuration {
        Configuration {
            name: name.into(),
            title: name.into(),
            published: None,
            security: "none".into(),
            plain: None,
            variant: false,
            keys: None,
            wire: Wire::Yes,
            listens: Vec::new(),
            program: vec!["true".into()],
            broker: None,
        }
    }

    fn measured(came: u64, lost: u64, late: u64, us: i64) -> Answer {
        let mut latencies: Vec<i64> = vec![us * 1_000; came as usize];
        let latency = Distribution::of(&mut latencies);
        Answer::Measured(Box::new(Measured {
            due: came + lost,
            came,
            lost,
            late: Some(late),
            latency,
            ..Measured::default()
        }))
    }

    const fn row(configuration: &Configuration, answer: Answer) -> Row<'_> {
        Row { configuration, answer, host: None }
    }

    #[test]
    fn who_keeps_the_deadline_comes_first_and_silence_last() {
        let names = ["slow", "missing", "late", "fast", "lossy", "silent"].map(configuration);
        let silent = Measured { due: 5, under_way: 5, late: Some(0), ..Measured::default() };
        let answers = [
            measured(2_000, 0, 0, 900),
            Answer::Not("it is not installed".into()),
            measured(2_000, 0, 7, 100),
            measured(2_000, 0, 0, 90),
            measured(1_990, 10, 0, 80),
            Answer::Measured(Box::new(silent)),
        ];
        let rows: Vec<Row<'_>> =
            names.iter().zip(answers).map(|(configuration, answer)| row(configuration, answer)).collect();
        let data = Data { deadline: Some(Duration::from_ms(1)), ..Data::published()[0].clone() };
        let document = document(&rows, &data, (NETWORKS[1], Packets::Real), None);
        let Block::Table(table) = &document.sections[0].blocks[0] else { panic!("the table comes first") };
        let order: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
        assert_eq!(order, ["fast", "slow", "late", "lossy", "silent", "missing"]);
        assert_eq!(document.verdict.word, Word::NotProven);
        assert!(document.verdict.text.starts_with("2 of 6 configurations brought"), "{}", document.verdict.text);
        assert!(document.verdict.text.ends_with("the fastest of them is fast."), "{}", document.verdict.text);
        assert_eq!(document.verdict.points, ["missing: not measured, because it is not installed"]);
    }

    #[test]
    fn what_is_not_on_the_wire_is_marked_and_never_the_fastest() {
        let (wired, shared) = (configuration("wired"), Configuration { wire: Wire::No, ..configuration("shared") });
        let rows = [row(&shared, measured(2_000, 0, 0, 9)), row(&wired, measured(2_000, 0, 0, 900))];
        let data = Data { deadline: Some(Duration::from_ms(1)), ..Data::published()[0].clone() };
        let document = document(&rows, &data, (NETWORKS[0], Packets::Real), None);
        let blocks = &document.sections[0].blocks;
        let (Block::Table(table), Block::Ranges(ranges)) = (&blocks[0], &blocks[1]) else {
            panic!("table and picture")
        };
        let order: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
        assert_eq!(order, ["wired", "shared (not on the wire)"]);
        assert_eq!(ranges.rows[1].name, "shared (not on the wire)");
        assert!(document.verdict.text.ends_with("the fastest of them is wired."), "{}", document.verdict.text);
    }

    #[test]
    fn an_overload_is_said_before_anything_else() {
        let own = configuration("own");
        let rows = [row(&own, Answer::Not("it was stopped".into()))];
        let [_, image, _] = Data::published();
        let document = document(&rows, &image, (NETWORKS[2], Packets::Real), None);
        assert_eq!(document.verdict.word, Word::NotChecked);
        assert!(document.verdict.points[0].contains("4.24 times") && document.verdict.points[0].contains("76.4 %"));
    }
}
