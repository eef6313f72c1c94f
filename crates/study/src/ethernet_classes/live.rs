//! The measured cells: the same classes, sizes and loads through the emulated switches, with real frames between processes.

use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, SimTime};
use chronoseal_report::{Block, Cell as TableCell, Evidence, Mark, Section, Table};
use chronoseal_results::RunSummary;
use chronoseal_results::rows::FrameRow;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_testbed::{ClockSource, clock_sources};

use super::published::{Latencies, Protocol, table1, table2};
use super::runs::{Cell, HEADERS, scenario};
use super::tables::microseconds;
use crate::live::{LiveRuns, refusal};
use crate::{Progress, StudyError, StudyOptions};

const BE: &str = scenario!("live-be.toml");
const RC: &str = scenario!("live-rc.toml");
const TTE: &str = scenario!("live-tte.toml");
const UDP: &str = scenario!("live-udp.toml");
const FLOOD: &str = scenario!("live-flood.toml");

/// What the links carry here, where the source's carry 1000 `[Mbit/s]`.
const MBPS: u32 = 100;
/// Of a frame of the flood with all that it keeps its link for `[byte]`.
const FLOOD_ON_WIRE: u32 = 1500 + 38;
/// The flood is this share of what is printed, as in the simulated cells: 381 us in place of 369.
const FLOOD_SHARE: f64 = 369.12 / 381.0;
/// Three threads with bursts of ten.
const FLOOD_PACKETS: u32 = 30;
/// Payloads of the quick form `[byte]`.
const QUICK: [u32; 3] = [64, 512, 1472];
/// How often each clock is read.
const READINGS: usize = 1_000_000;

/// What was measured live.
#[derive(Default)]
pub(super) struct Live {
    cells: Vec<Measured>,
    floods: Vec<Flood>,
    clocks: Vec<ClockSource>,
    /// Why there is nothing, or not everything.
    refused: Option<String>,
    /// What the runs left behind beside.
    pub(super) runs: LiveRuns,
}

/// A cell of Table 3.
struct Measured {
    protocol: Protocol,
    payload: u32,
    saturation: u32,
    all: Cell,
    /// Latencies that no stall of the host overlapped `[us]`.
    stall_free: Vec<f64>,
    /// The same scenario in virtual time.
    simulated: Cell,
    flood: Option<Flood>,
}

/// A flood as it was sent.
#[derive(Clone, Copy)]
struct Flood {
    /// As asked for `[%]`.
    saturation: u32,
    /// Frames that were due, that were sent, and that came.
    due: u64,
    sent: u64,
    received: u64,
    /// `[s]`
    passed: f64,
}

impl Flood {
    fn of(saturation: u32, summary: &RunSummary) -> Option<Self> {
        let threads = || summary.streams.iter().filter(|stream| stream.name.starts_with("thread"));
        threads().next()?;
        Some(Self {
            saturation,
            due: threads().map(|stream| stream.due).sum(),
            sent: threads().map(|stream| stream.sent).sum(),
            received: threads().map(|stream| stream.delivered + stream.late).sum(),
            passed: summary.passed_ns as f64 / 1e9,
        })
    }

    /// Of what a link carries `[%]`.
    fn percent(&self) -> f64 {
        let bits = 8.0 * f64::from(FLOOD_ON_WIRE) * self.sent as f64;
        bits / self.passed / (1e4 * f64::from(MBPS))
    }
}

/// Measures everything, or nothing if the host refuses.
pub(super) fn measure_all(
    printed: &[Latencies],
    options: &StudyOptions,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Result<Live, StudyError> {
    let mut live = Live::default();
    if !options.live {
        live.refused = Some("left out on request".into());
        return Ok(live);
    }
    live.refused = refusal(everything(&mut live, printed, options, stop, progress))?;
    Ok(live)
}

fn everything(
    live: &mut Live,
    printed: &[Latencies],
    options: &StudyOptions,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Result<(), StudyError> {
    progress(0.0, "reading clocks");
    live.clocks = clock_sources(READINGS);
    let is_asked = |row: &&Latencies| options.full || QUICK.contains(&row.payload);
    let rows: Vec<&Latencies> = printed.iter().filter(is_asked).collect();
    for (number, row) in rows.iter().enumerate() {
        let Latencies { protocol, payload, saturation, .. } = **row;
        let name = format!("{}-{payload}B-{saturation}", protocol.name().to_lowercase());
        progress(number as f64 / (rows.len() + 4) as f64, &format!("live: {name}"));
        let scenario = load(protocol, payload, saturation, options.seed)?;
        let Some((run, _)) = live.runs.run(options, stop, &scenario, &name)? else { return Ok(()) };
        let simulated = simulate(&Prepared::new(&scenario.plan)?, false, &mut |_| true)?;
        let (rows, from) = messages(&run);
        let (modelled, begins) = messages(&simulated);
        live.cells.push(Measured {
            protocol,
            payload,
            saturation,
            all: Cell::of(rows.clone(), from),
            stall_free: Cell::of(rows.filter(|row| !row.stalled), from).latencies,
            simulated: Cell::of(modelled, begins),
            flood: Flood::of(saturation, &run.summary),
        });
    }
    // The flood alone.
    for (number, row) in table2().iter().enumerate() {
        let name = format!("flood-{}", row.percent);
        progress((rows.len() + number) as f64 / (rows.len() + 4) as f64, &format!("live: {name}"));
        let scenario = load(Protocol::Be, QUICK[0], row.percent, options.seed)?;
        let Some((run, _)) = live.runs.run(options, stop, &scenario, &name)? else { return Ok(()) };
        live.floods.extend(Flood::of(row.percent, &run.summary));
    }
    Ok(())
}

/// The messages of a run, which are its first stream, and when start-up is over for them.
fn messages(run: &Run) -> (impl Iterator<Item = &FrameRow> + Clone, SimTime) {
    let ready_ns = run.summary.streams.first().map_or(0, |stream| stream.ready_ns);
    (run.rows.frames.iter().filter(|row| row.stream.index() == 0), SimTime::ZERO + Duration::from_ns(ready_ns))
}

fn load(protocol: Protocol, payload: u32, saturation: u32, seed: u64) -> Result<Scenario, StudyError> {
    let text = match protocol {
        Protocol::Tte => TTE,
        Protocol::Rc => RC,
        Protocol::Be => BE,
        Protocol::Udp => UDP,
    };
    // The last byte of a virtual link's UDP payload is its sequence number, which the class adds.
    let length = payload + HEADERS - u32::from(protocol == Protocol::Rc);
    let mut sets =
        vec![("seed".to_owned(), seed.to_string()), ("streams.message.length".to_owned(), format!("{length}B"))];
    let mut text = text.to_owned();
    if saturation > 0 {
        text.push_str(FLOOD);
        let on_wire = f64::from(8 * FLOOD_ON_WIRE * FLOOD_PACKETS) / f64::from(MBPS);
        let period = on_wire / FLOOD_SHARE * 100.0 / f64::from(saturation);
        for thread in 0..3u8 {
            let path = |key: &str| format!("streams.thread{}.{key}", thread + 1);
            sets.push((path("period"), format!("{}us", period.round())));
            sets.push((path("offset"), format!("{}us", (period * f64::from(thread) / 3.0).round())));
        }
    }
    Scenario::load("live.toml", text.as_bytes(), &sets, &NoFiles)
        .map_err(|problems| StudyError::Scenario(problems.render()))
}

impl Live {
    fn why_nothing(&self) -> String {
        self.refused.clone().unwrap_or_else(|| "the study was stopped before it".into())
    }

    /// Why nothing stands in the measured cells, if nothing does.
    pub(super) fn missing(&self) -> Option<String> {
        self.cells.is_empty().then(|| format!("Not measured: {}.", self.why_nothing()))
    }

    /// Everything that was measured.
    pub(super) fn section(&self) -> Section {
        let section = Section::new("Measured live").with(Block::Text(TEXT.into()));
        match self.missing() {
            Some(why) => section.with(Block::Notes(vec![why])),
            None => section.with(Block::Table(self.third())),
        }
    }

    fn third(&self) -> Table {
        let mut table = Table::new(
            "Table 3 at 100 Mbit/s: one-way latencies measured live (M), the same scenario simulated (S), and what the host adds to a median",
        )
        .words("class")
        .numbers("load", "%")
        .numbers("flood sent", "%")
        .numbers("payload", "B")
        .numbers("N M", "")
        .numbers("lost M", "")
        .numbers("lost S", "")
        .numbers("mean M", "us")
        .numbers("mean M, stall-free", "us")
        .numbers("mean S", "us")
        .numbers("s.d. M", "us")
        .numbers("s.d. S", "us")
        .numbers("median M", "us")
        .numbers("host adds", "us");
        for cell in &self.cells {
            let measured = |value: Option<f64>| microseconds(value, Evidence::Measured);
            let simulated = |value: Option<f64>| microseconds(value, Evidence::Simulated);
            let (median, of_model) = (median(&cell.all.latencies), median(&cell.simulated.latencies));
            let stall_free = Cell { latencies: cell.stall_free.clone(), lost: 0 };
            let lost = TableCell::count(cell.all.lost).from(Evidence::Measured);
            let is_more = cell.all.lost > cell.simulated.lost;
            table.push(vec![
                TableCell::text(cell.protocol.name()),
                TableCell::count(u64::from(cell.saturation)),
                cell.flood.map_or_else(
                    || TableCell::count(0),
                    |flood| TableCell::number(flood.percent(), 1).from(Evidence::Measured),
                ),
                TableCell::count(u64::from(cell.payload)),
                TableCell::count(cell.all.n()).from(Evidence::Measured),
                if is_more { lost.marked(Mark::Warn) } else { lost },
                TableCell::count(cell.simulated.lost).from(Evidence::Simulated),
                measured(cell.all.mean()),
                measured(stall_free.mean()),
                simulated(cell.simulated.mean()),
                measured(cell.all.sd()),
                simulated(cell.simulated.sd()),
                measured(median),
                microseconds(median.zip(of_model).map(|(live, model)| live - model), Evidence::Derived),
            ]);
        }
        table.footnote(
            "Lost: due in the first two seconds, and not accepted; late in a slot counts. Where the host lost more than the simulation, it is marked. \
             The flood is three threads with bursts of ten, 97 % of what is printed for a load.",
        )
    }

    /// Beside Table 1.
    pub(super) fn clocks(&self) -> Option<Table> {
        if self.clocks.is_empty() {
            return None;
        }
        let mut table =
            Table::new(format!("Table 1 on this host: what reading a clock takes, {READINGS} times")).words("clock");
        for name in ["mean", "median", "s.d.", "min", "max"] {
            table = table.numbers(name, "ns");
        }
        for clock in &self.clocks {
            let mut row = vec![TableCell::text(&clock.name)];
            match clock.reading {
                None => row.extend((0..5).map(|_| TableCell::na(clock.missing.as_str()))),
                Some(reading) => {
                    let all =
                        [reading.mean_ns, reading.median_ns, reading.deviation_ns, reading.min_ns, reading.max_ns];
                    row.extend(all.map(|ns| TableCell::number(ns, 1).from(Evidence::Measured)));
                }
            }
            table.push(row);
        }
        let slowest = table1().iter().map(|source| source.latencies[1]).fold(0.0, f64::max);
        Some(table.footnote(format!(
            "By the counter of the processor, on one processor. The source's slowest, a clock of its network interface, took {slowest:.0} ns."
        )))
    }

    /// Beside Table 2.
    pub(super) fn flood(&self) -> Option<Table> {
        if self.floods.is_empty() {
            return None;
        }
        let mut table = Table::new("Table 2 live, at 100 Mbit/s: the flood beside one stream of 64 bytes")
            .numbers("load", "%")
            .numbers("due", "")
            .numbers("sent", "")
            .numbers("received", "")
            .numbers("sent, of the link", "%")
            .numbers("one packet in", "us");
        for flood in &self.floods {
            let count = |count| TableCell::count(count).from(Evidence::Measured);
            table.push(vec![
                TableCell::count(u64::from(flood.saturation)),
                TableCell::count(flood.due),
                count(flood.sent),
                count(flood.received),
                TableCell::number(flood.percent(), 1).from(Evidence::Measured),
                TableCell::number(1e6 * flood.passed / flood.sent.max(1) as f64, 1).from(Evidence::Measured),
            ]);
        }
        Some(table)
    }
}

const TEXT: &str = "Real frames between processes of this host, through the two emulated switches (UDP: one). The links have 100 Mbit/s in place of 1 Gbit/s, so that a flood is 8,000 frames a \
    second and not 80,000, which is more than this emulator carries on two processors; a frame takes ten times as long on each link. The host interface is the host's own, so these figures stand \
    beside a simulation of the same scenario without one, and not beside those that are printed for 1 Gbit/s.";

fn median(latencies: &[f64]) -> Option<f64> {
    let mut sorted = latencies.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet_classes::published::{SATURATIONS, table3};

    #[test]
    fn every_live_scenario_loads_and_a_flood_asks_for_less_than_its_link_has() {
        for row in table3() {
            let scenario = load(row.protocol, row.payload, row.saturation, 1)
                .unwrap_or_else(|error| panic!("{:?} {}: {error}", row.protocol, row.payload));
            if let Err(error) = Prepared::new(&scenario.plan) {
                panic!("{:?} {} B at {} %: {error}", row.protocol, row.payload, row.saturation);
            }
        }
        assert_eq!(SATURATIONS, [0, 50, 100]);
        let full = load(Protocol::Be, 64, 100, 1).expect("it loads");
        let periods: Vec<f64> = full.plan.streams[1..].iter().map(|stream| stream.period.as_us_f64()).collect();
        // 369 us at a tenth of the rate, and 3 % more.
        assert!(periods.iter().all(|period| (period - 3810.0).abs() < 2.0), "{periods:?}");
    }

    #[test]
    fn what_a_flood_came_to_is_its_share_of_the_link() {
        let flood = Flood { saturation: 50, due: 8_127, sent: 8_127, received: 8_127, passed: 2.0 };
        // 4063.5 frames a second of 12304 bits.
        assert!((flood.percent() - 50.0).abs() < 0.01, "{}", flood.percent());
    }
}
