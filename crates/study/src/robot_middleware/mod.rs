//! Robot middleware with and without security (Martín, Soriano-Salvador, Cañas, 2018): study `robot-middleware`.

mod attacks;
mod cells;
mod only;
pub mod published;
mod tables;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use chronoseal_middleware::{Adapter, Cache, Data, Host, Kept, NETWORKS, Trial, adapters, attack_matrix, attacked};
use chronoseal_report::{Block, Document, Section, Verdict, Word};
use chronoseal_runner::versions;

use self::cells::{Cells, Plan};
use self::only::Only;
use self::published::{Printed, contradiction};
use crate::{Progress, StudyError, StudyOptions, StudyOutcome};

/// As read.
pub const TITLE: &str = "Robot middleware with and without security (Martin et al., 2018)";

/// Where the adapters are in a checkout, from which a study is run.
const ADAPTERS: &str = "adapters/middleware";

/// Reproduces the work.
///
/// # Errors
/// [`StudyError::Middleware`] if there are no adapters, or [`StudyError`] if a scenario of the study does not load.
pub fn run(options: &StudyOptions, stop: &AtomicBool, progress: &mut Progress<'_>) -> Result<StudyOutcome, StudyError> {
    let all = adapters(Path::new(ADAPTERS))?;
    let printed = published::tables();
    let plan = Plan {
        is_full: options.full,
        is_live: options.live,
        seed: options.seed,
        no_fifo: options.no_fifo,
        only: Only::of(&options.only, &all)?,
    };
    let mut kept = match (options.live, options.resumes) {
        (false, _) => Kept::default(),
        (true, false) => Kept::begin(&options.folder, &plan.terms())?,
        (true, true) => Kept::resume(&options.folder, &plan.terms())?,
    };
    let cache = Cache::of_user()?;
    let bodies = if options.live { Some(cache.bodies(Path::new(ADAPTERS))?) } else { None };
    let mut host = Host::new(cache, bodies);
    let cells = cells::measure(&mut host, &all, &plan, &mut kept, stop, &mut |done, what| progress(CELLS * done, what));
    let known = chronoseal_middleware::attacks(Path::new(ADAPTERS))?;
    let trials = attacks::run(&mut host, &all, &known, &plan, stop, &mut |done, what| {
        progress(CELLS + (1.0 - CELLS) * done, what)
    });
    progress(1.0, "writing the report");

    let sensors = Data::recorded();
    let mut sections = Vec::new();
    for (number, data) in sensors.iter().enumerate() {
        let title = format!("Table {}: latency, {}", number + 1, data.name);
        let mut section = Section::new(title).with(Block::Table(tables::latency(&all, data, &cells, &printed)));
        for network in NETWORKS {
            let ranges = tables::ranges(&all, data, network, &cells);
            if !ranges.rows.is_empty() {
                section = section.with(Block::Ranges(ranges));
            }
        }
        let beside = NETWORKS[1..].iter().filter_map(|network| tables::beside_network(&all, data, *network, &cells));
        sections.push(beside.fold(section, |section, table| section.with(Block::Table(table))));
    }
    sections.push(Section::new("Table 4: messages lost").with(Block::Table(tables::loss(&all, &cells, &printed))));
    let mut security = Section::new("What security costs").with(Block::Text(SECURITY.into()));
    for data in sensors.iter().filter(|_| plan.is_full) {
        let tables = NETWORKS.into_iter().filter_map(|network| tables::security(&all, data, network, &cells));
        security = tables.fold(security, |security, table| security.with(Block::Table(table)));
        let shares = NETWORKS[1..].iter().filter_map(|network| tables::shares(&all, data, *network, &cells));
        security = shares.fold(security, |security, table| security.with(Block::Table(table)));
    }
    sections.push(security);
    let programs = sensors.iter().map(|data| Block::Table(tables::programs(&all, data, &cells)));
    sections.push(programs.fold(Section::new("What programs take"), Section::with));
    let matrix = attack_matrix(
        all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one))),
        &known,
        &trials,
    );
    let attacks = Section::new("Attacks").with(Block::Text(attacks::TEXT.into())).with(Block::Table(matrix));
    sections.push(attacks.with(Block::Table(attacked(&trials))));
    sections.push(Section::new("Contradictions of the printed tables").with(Block::Notes(contradictions(&printed))));
    sections.push(Section::new("What to know").with(Block::Notes(notes(&all, &cells))));
    sections.push(Section::new("Not there yet").with(Block::Notes(NOT_YET.map(str::to_owned).to_vec())));
    let mut verdict = verdict(&all, &cells, &trials);
    verdict.points.extend(kept.trouble().map(str::to_owned));
    let document = Document {
        title: TITLE.into(),
        subtitle: "Nine configurations of the source and those of today, three kinds of data, three networks: printed beside measured.".into(),
        verdict,
        sections,
        environment: versions(),
    };
    Ok(StudyOutcome { document, pages: Vec::new() })
}

const SECURITY: &str = "The same middleware with and without security, held against each other in each of ten rounds of the full form. The quick form has not \
    enough repetitions, because it runs each cell once: what processes take to wake up scatters by tens of microseconds from run to run.";

/// The share of the study's time that its cells take.
const CELLS: f64 = 0.7;

const NOT_YET: [&str; 2] = [
    "DTLS 1.3, which OpenSSL 3.0 does not have: DTLS is 1.2 here. QUIC is there as a transport of Zenoh.",
    "The source's own recordings, which are not public any more. Scans are assembled of three shorter ones.",
];

fn verdict(all: &[Adapter], cells: &Cells, trials: &[Trial<'_>]) -> Verdict {
    let nine = || all.iter().flat_map(|adapter| &adapter.configurations).filter(|one| one.published.is_some());
    let (asked, measured) = cells.counts();
    let of_nine = nine().filter(|one| cells.has_any(&one.name)).count();
    let mut points = cells.problems();
    let incomplete = cells.incomplete();
    if incomplete > 0 {
        points.push(format!("In {incomplete} measured cells a program failed or nothing came; they are marked."));
    }
    points.push(attacks::in_words(trials));
    let (word, text) = if measured == 0 {
        (Word::NotChecked, "Nothing was measured.".to_owned())
    } else {
        let text = format!(
            "{measured} of {asked} cells were measured, with {of_nine} of the 9 configurations of the source; the rest says why not. Measured figures are this host's."
        );
        (Word::NotProven, text)
    };
    Verdict { word, text, points }
}

fn contradictions(printed: &[Printed]) -> Vec<String> {
    let floor = |cell: &Printed| {
        let data = Data::published().into_iter().find(|data| data.name == cell.data)?;
        let network = NETWORKS.into_iter().find(|network| network.profile == cell.network)?;
        Some(data.overload(network).map_or(0.0, |times| 100.0 * (1.0 - 1.0 / times)))
    };
    let mut found: Vec<String> = printed
        .iter()
        .filter_map(|cell| {
            let what = contradiction(cell, floor(cell)?)?;
            Some(format!("{}, {}, {}: {what}.", cell.configuration, cell.data, cell.network))
        })
        .collect();
    found.extend(CONTRADICTIONS.map(str::to_owned));
    found
}

const CONTRADICTIONS: [&str; 4] = [
    "A laser scan of 9 kB over Wi-Fi takes 17.3 ms in the tables: the clamped delay of one packet (16.8 ms) and its bits at 54 Mbit/s (1.3 ms). So each scan was one packet, and not the seven that a network of 1500-byte packets makes of it, of which the slowest decides (42.8 ms).",
    "With 1 % of the packets lost, none of 2,158 best-effort scans lost has the probability 4e-10, and the tables print it twice: the loss cannot have acted on those runs.",
    "The overloaded cells agree with a queue of 1,000 packets of 64 kB, NetEm's default: image over Wi-Fi computed 95.5 % lost and 4.64 s, printed 94.9 % and 4.61 s. Every message that is delivered then is of the first 5 % of the run, so the first 10 % cannot have been left out there.",
    "ROS takes 41.6 ms for a scan on one machine, and less over Ethernet; 62 us are usual today. It looks like delayed acknowledgements of 40 ms, or a loop at 30 Hz.",
];

fn notes(all: &[Adapter], cells: &Cells) -> Vec<String> {
    let mut notes = vec![
        "Localhost is the emulated link without delay, loss and rate, so a message passes two kernels and the emulator; shared memory is off.".to_owned(),
        format!("Packets are as in the source: one for up to {} bytes.", chronoseal_middleware::Packets::Large.mtu()),
        "Latency is from when a message was due to when the subscriber had it; the source measured from before serialisation, so that a publisher that was held up showed none of it.".to_owned(),
        "The rates of Ethernet and Wi-Fi are kept behind the sender's device (`shaper = \"behind\"`), as in the source: what is too much is lost. `chronoseal middleware run --shaper sender` keeps them on its own device, where it is late.".to_owned(),
        "Networks: localhost as it is; Ethernet 1 Gbit/s with a delay of N(300 us, 360 us); Wi-Fi 54 Mbit/s, N(13 ms, 22 ms), 1 % of the packets lost; negative delays are none.".to_owned(),
    ];
    for adapter in all {
        notes.extend(adapter.other_version());
        notes.extend(adapter.limits.iter().map(|limit| format!("{}: {limit}", adapter.title)));
    }
    notes.extend(cells.limits());
    let stalled = cells.stalled();
    if stalled > 0 {
        notes.push(format!(
            "{stalled} messages were on their way while the host was away: their latency is the host's."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contradictions_of_the_source_are_found_by_arithmetic() {
        let found = contradictions(&published::tables());
        let of_rate = found.iter().filter(|text| text.contains("no room on the link")).count();
        let of_itself = found.iter().filter(|text| text.contains("every message was lost")).count();
        assert_eq!((of_rate, of_itself), (5, 1), "{found:#?}");
    }

    #[test]
    fn without_live_runs_the_study_says_that_nothing_was_measured() {
        let options = StudyOptions {
            only: Vec::new(),
            resumes: false,
            full: false,
            live: false,
            functional: false,
            no_fifo: false,
            seed: 1,
            folder: std::path::PathBuf::new(),
            agent_command: None,
        };
        // A study runs in a checkout's root, its tests in their crate's folder.
        let all = adapters(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ADAPTERS)).expect("they are here");
        let only = Only::of(&options.only, &all).expect("nothing is named");
        let plan = Plan { is_full: false, is_live: options.live, seed: 1, no_fifo: false, only };
        let mut host = Host::new(Cache::new("nothing is built"), None);
        let cells =
            cells::measure(&mut host, &all, &plan, &mut Kept::default(), &AtomicBool::new(false), &mut |_, _| {});
        let verdict = verdict(&all, &cells, &[]);
        assert_eq!((verdict.word, verdict.text.as_str()), (Word::NotChecked, "Nothing was measured."));
        let table = tables::loss(&all, &cells, &published::tables());
        assert!(table.rows.len() >= 9, "{}", table.rows.len());
    }
}
