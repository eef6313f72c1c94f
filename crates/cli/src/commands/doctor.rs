//! `chronoseal doctor`

use std::path::Path;

use chronoseal_console::{Format, Printer, Status, Trouble};
use chronoseal_core::Duration;
use chronoseal_middleware::adapters;
use chronoseal_report::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict, Word};
use chronoseal_testbed::host::TunAccess;
use chronoseal_testbed::{HostReport, LiveConfig, Ptp, PtpStatus, probe};

use super::middleware::ADAPTERS;
use crate::arguments::Doctor;

/// A buffer that holds four clouds of points, as robots send them at once: what adapters of middleware ask for `[byte]`.
const RECEIVE_BUFFER_WANTED: u64 = 4 * 640 * 480 * 32;
/// A clock that takes longer to read is no counter of the processor `[ns]`.
const CLOCK_SLOW_NS: f64 = 250.0;

pub(crate) fn run(options: &Doctor, printer: &Printer) -> Result<Status, Trouble> {
    let report = probe(&LiveConfig::new(Vec::new(), Vec::new(), Duration::ZERO));
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&report)?);
    } else {
        printer.document(&document(&report), options.format);
    }
    Ok(if report.live_refused.is_none() { Status::Held } else { Status::Failed })
}

/// What was found, what it means for results, and what to do about it; nothing to do if it is as wished.
struct Finding {
    what: &'static str,
    found: String,
    means: &'static str,
    improve: Option<String>,
}

fn fine(what: &'static str, found: impl Into<String>, means: &'static str) -> Finding {
    Finding { what, found: found.into(), means, improve: None }
}

fn poor(what: &'static str, found: impl Into<String>, means: &'static str, improve: impl Into<String>) -> Finding {
    Finding { what, found: found.into(), means, improve: Some(improve.into()) }
}

fn us(ns: i64) -> String {
    format!("{:.1} us", ns as f64 / 1000.0)
}

fn findings(report: &HostReport) -> Vec<Finding> {
    let mut all = vec![
        fine("kernel", &report.kernel, "stated with every live result"),
        fine("processor", format!("{} ({} usable)", report.cpu_model, report.cpus), "measured figures are this one's"),
    ];
    all.push(match report.virtualised {
        false => fine("virtual machine", "no", "nobody but this system takes a processor away"),
        true => poor(
            "virtual machine",
            "yes",
            "the hypervisor takes processors away for milliseconds; such stalls are seen and marked, not prevented",
            "measure on hardware where the tails count",
        ),
    });
    let per_processor = report.load / report.cpus.max(1) as f64;
    let load = format!("{:.2} on {} processors", report.load, report.cpus);
    all.push(if per_processor < 0.3 {
        fine("load of the last minute", load, "processors are free for the run")
    } else {
        poor(
            "load of the last minute",
            load,
            "live latencies have the waiting for others in them",
            "end other work first",
        )
    });
    if !report.governor.is_empty() {
        let means = "a processor that slows down when idle answers later to what comes rarely";
        all.push(match report.governor.as_str() {
            "performance" => fine("frequency governor", "performance", "processors keep their speed"),
            other => poor("frequency governor", other, means, "cpupower frequency-set -g performance"),
        });
    }
    all.extend(of_namespaces(report));
    all.extend(of_time(report));
    let buffer = format!("{} kB", report.receive_buffer_max >> 10);
    all.push(if report.receive_buffer_max >= RECEIVE_BUFFER_WANTED {
        fine("largest receive buffer", buffer, "holds a burst of large messages")
    } else if report.root {
        fine("largest receive buffer", buffer, "root may go beyond it, so a burst of large messages is held")
    } else {
        poor(
            "largest receive buffer",
            buffer,
            "large messages over UDP are lost at a receiver that is slow for a moment",
            format!("sysctl -w net.core.rmem_max={RECEIVE_BUFFER_WANTED}"),
        )
    });
    all.push(match report.socket_can {
        true => fine("SocketCAN", "yes", "live buses may be interfaces of the kernel"),
        false => fine("SocketCAN", "no", "live buses are chronoseal's own"),
    });
    all
}

fn of_namespaces(report: &HostReport) -> Vec<Finding> {
    let tun = match report.tun {
        TunAccess::Everybody => fine("/dev/net/tun", "open to everybody", "stations need no privileges"),
        TunAccess::Privileged => poor(
            "/dev/net/tun",
            "closed to users",
            "without root, veth pairs take the place of TAP interfaces: slower",
            "chmod 666 /dev/net/tun, as distributions have it",
        ),
        TunAccess::Missing => poor(
            "/dev/net/tun",
            "missing",
            "veth pairs take the place of TAP interfaces: slower",
            "modprobe tun; in a container, pass --device /dev/net/tun",
        ),
    };
    let needed = match report.user_namespace {
        Some(true) => fine(
            "privileges",
            "none: user namespaces",
            "no root needed; tails of latency are longer without SCHED_FIFO",
        ),
        Some(false) => {
            fine("privileges", if report.root { "root" } else { "of its own" }, "namespaces are made directly")
        }
        None => poor(
            "privileges",
            "not enough",
            "no live run",
            "sysctl -w kernel.unprivileged_userns_clone=1 (Debian) or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or run as root",
        ),
    };
    let fifo = match report.fifo {
        true => fine("SCHED_FIFO", "granted", "time slices of others do not show in live figures"),
        false => poor(
            "SCHED_FIFO",
            "refused",
            "time slices of other processes show in live figures",
            "setcap cap_sys_nice+ep on the program, or a line `rtprio 50` for your user in /etc/security/limits.conf",
        ),
    };
    vec![tun, needed, fifo]
}

fn of_time(report: &HostReport) -> Vec<Finding> {
    let mut all = Vec::new();
    let monotonic = report.clocks.iter().find(|clock| clock.name == "CLOCK_MONOTONIC");
    let median_ns = monotonic.and_then(|clock| clock.reading).map_or(f64::INFINITY, |reading| reading.median_ns);
    let clock = format!("{}, read in {median_ns:.0} ns, step {} ns", report.clocksource, report.clock_resolution_ns);
    all.push(if median_ns < CLOCK_SLOW_NS {
        fine("clock", clock, "stamps cost next to nothing")
    } else {
        poor(
            "clock",
            clock,
            "each stamp takes a part of what it measures",
            "boot with clocksource=tsc where the counter is constant",
        )
    });
    let skew = report.skew.iter().map(|skew| skew.from_ns.abs().max(skew.to_ns.abs())).max();
    all.push(match skew {
        None => fine("clocks of processors", "one processor, or none answered", "nothing to be apart"),
        Some(ns) if report.skew.iter().all(|skew| skew.from_ns <= 0 && skew.to_ns >= 0) => {
            fine("clocks of processors", format!("together within {ns} ns"), "stamps of two processes can be compared")
        }
        Some(ns) => poor(
            "clocks of processors",
            format!("up to {ns} ns apart"),
            "latencies between processors are wrong by that",
            "boot with another clocksource, or use --placement one",
        ),
    });
    all.push(of_ptp(&report.ptp));
    let wake_up = format!("{} median, {} of 99 %", us(report.wake_up_error_p50_ns), us(report.wake_up_error_p99_ns));
    all.push(if report.wake_up_error_p99_ns < 100_000 {
        fine("wake-ups late by", wake_up, "sending times are kept")
    } else {
        poor(
            "wake-ups late by",
            wake_up,
            "sending times are missed by that; it is stated with results",
            "give it SCHED_FIFO and an idle machine",
        )
    });
    all.push(fine(
        "the same, looking at the clock",
        format!("{} of 99 %", us(report.precise_wake_up_error_p99_ns)),
        "what the emulator keeps",
    ));
    let stalls = format!("{} of {} wake-ups", report.stalls, 2 * report.samples);
    all.push(match report.stalls {
        0 => fine("stalls over 1 ms", stalls, "none was seen; a run looks for them all the time"),
        _ => poor(
            "stalls over 1 ms",
            stalls,
            "messages under way then are marked, and tables show them apart",
            "an idle machine; hardware",
        ),
    });
    all
}

fn of_ptp(ptp: &Ptp) -> Finding {
    const WHAT: &str = "ptp4l (IEEE 1588)";
    const OWN: &str = "the test bed compares clocks of hosts by messages of its own, and sets none";
    match ptp {
        Ptp::Absent => fine(WHAT, "not installed", OWN),
        Ptp::Idle => fine(WHAT, "installed, does not run", OWN),
        Ptp::Silent => poor(
            WHAT,
            "runs, and does not answer pmc",
            "its state is not known",
            "as root, or in the group of /var/run/ptp4l",
        ),
        Ptp::Running(PtpStatus { ports, grandmaster: None, .. }) => fine(
            WHAT,
            format!("runs: {}, follows no other clock", ports.join(", ")),
            "others may follow this host's clock",
        ),
        Ptp::Running(PtpStatus { ports, grandmaster: Some(grandmaster), offset_ns, .. }) => {
            let offset = offset_ns.map_or_else(|| "an unknown time".to_owned(), |ns| format!("{ns} ns"));
            let found = format!("runs: {}, {offset} from {grandmaster}", ports.join(", "));
            match ports.iter().any(|port| port == "SLAVE") {
                true => fine(
                    WHAT,
                    found,
                    "the wall clock, or that of an interface, follows another; runs over several hosts compare clocks by the wall clock too",
                ),
                false => poor(
                    WHAT,
                    found,
                    "it has not locked",
                    "wait until its port is SLAVE; `pmc -u -b 0 'GET PORT_DATA_SET'` shows it",
                ),
            }
        }
    }
}

fn document(report: &HostReport) -> Document {
    let mut table =
        Table::new("What a live run finds on this host").words("what").words("found").words("means").words("better");
    for Finding { what, found, means, improve } in findings(report) {
        let better = improve.as_deref().map_or_else(|| Cell::text(""), Cell::text);
        let mark = if improve.is_some() { Mark::Warn } else { Mark::None };
        table.push(vec![Cell::text(what), Cell::text(found).marked(mark), Cell::text(means), better]);
    }
    let mut clocks = Table::new("What reading each clock takes").words("clock");
    for name in ["mean", "median", "s.d.", "min", "max", "resolution"] {
        clocks = clocks.numbers(name, "ns");
    }
    for clock in &report.clocks {
        let mut row = vec![Cell::text(&clock.name)];
        match clock.reading {
            None => row.extend((0..6).map(|_| Cell::na(clock.missing.as_str()))),
            Some(reading) => {
                let values = [reading.mean_ns, reading.median_ns, reading.deviation_ns, reading.min_ns, reading.max_ns];
                row.extend(values.map(|value| Cell::number(value, 0).from(Evidence::Measured)));
                row.push(reading.resolution_ns.map_or_else(
                    || Cell::na("a counter: as fine as its ticks"),
                    |ns| Cell::count(ns as u64).from(Evidence::Measured),
                ));
            }
        }
        clocks.push(row);
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
    points.extend(missing_middleware());
    Document {
        title: "This host".into(),
        subtitle: String::new(),
        verdict: Verdict { word, text, points },
        sections: vec![
            Section::new("Host").with(Block::Table(table)),
            Section::new("Clocks").with(Block::Table(clocks)),
        ],
        environment: Vec::new(),
    }
}

/// One command for all of the middleware that is not installed, if there are adapters here.
fn missing_middleware() -> Option<String> {
    let all = adapters(Path::new(ADAPTERS)).ok()?;
    let missing: Vec<_> = all.iter().filter(|adapter| adapter.version().is_none()).collect();
    let titles: Vec<&str> = missing.iter().map(|adapter| adapter.title.as_str()).collect();
    let mut packages: Vec<&str> = missing.iter().flat_map(|adapter| &adapter.packages).map(String::as_str).collect();
    packages.sort_unstable();
    packages.dedup();
    (!missing.is_empty()).then(|| {
        format!(
            "Robot middleware not installed: {}. Install it: apt-get install {}",
            titles.join(", "),
            packages.join(" ")
        )
    })
}
