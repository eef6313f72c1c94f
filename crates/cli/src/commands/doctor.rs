//! `chronoseal doctor`

use chronoseal_console::{Format, Printer, Status, Trouble};
use chronoseal_core::Duration;
use chronoseal_report::{Block, Cell, Document, Section, Table, Verdict, Word};
use chronoseal_testbed::{HostReport, LiveConfig, probe};

use crate::arguments::Doctor;

pub(crate) fn run(options: &Doctor, printer: &Printer) -> Result<Status, Trouble> {
    let report = probe(&LiveConfig::new(Vec::new(), Vec::new(), Duration::ZERO));
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&report)?);
    } else {
        printer.document(&document(&report), options.format);
    }
    Ok(if report.live_refused.is_none() { Status::Held } else { Status::Failed })
}

fn document(report: &HostReport) -> Document {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let us = |ns: i64| format!("{:.1} us", ns as f64 / 1000.0);
    let rows: Vec<(&str, String)> = vec![
        ("kernel", report.kernel.clone()),
        ("processor", format!("{} ({} usable)", report.cpu_model, report.cpus)),
        ("virtual machine", yes(report.virtualised).into()),
        ("clock source", report.clocksource.clone()),
        ("clock resolution", format!("{} ns", report.clock_resolution_ns)),
        ("runs as root", yes(report.root).into()),
        ("user namespaces needed", report.user_namespace.map_or("unknown", yes).into()),
        (
            "SCHED_FIFO",
            if report.fifo { "granted".into() } else { "refused: time slices will show in live figures".into() },
        ),
        ("wake-up error, median", us(report.wake_up_error_p50_ns)),
        ("wake-up error, 99 %", us(report.wake_up_error_p99_ns)),
        ("sleep-then-look error, 99 %", us(report.precise_wake_up_error_p99_ns)),
        ("stalls over 1 ms", format!("{} of {} wake-ups", report.stalls, report.samples)),
        ("SocketCAN", yes(report.socket_can).into()),
    ];
    let mut table = Table::new("What a live run finds on this host").words("what").words("found");
    for (name, value) in rows {
        table.rows.push(vec![Cell::text(name), Cell::text(value)]);
    }
    let (word, text) = match &report.live_refused {
        None => (Word::Held, "This host can simulate and run live.".to_owned()),
        Some(why) => (Word::Failed, format!("This host can simulate, but not run live: {why}")),
    };
    let mut points = Vec::new();
    if report.stalls > 0 {
        points.push(
            "The host stops this machine now and then; live results mark every frame such a stall overlaps.".into(),
        );
    }
    Document {
        title: "This host".into(),
        subtitle: String::new(),
        verdict: Verdict { word, text, points },
        sections: vec![Section::new("Host").with(Block::Table(table))],
        environment: Vec::new(),
    }
}
