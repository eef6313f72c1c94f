//! Group keys on CAN and CAN-FD (Musuroi, Groza, Popa, Murvay, IEEE TVT 2021): study `can-group-key`.

mod baselines;
mod exchange;
mod groups;
mod old_key;
mod on_bus;
mod peers;
pub mod published;
mod scenarios;
mod tables;
mod traffic;

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_report::{Block, Document, Section, Verdict, Word};
use chronoseal_runner::{suite_cost, versions};

use self::exchange::Judged;
use self::published::{Reproduces, quoted};
use crate::{Progress, StudyError, StudyOptions, StudyOutcome};

/// As read.
pub const TITLE: &str = "Group keys on CAN and CAN-FD (IEEE TVT 2021)";

/// Calls for each operation.
const CALLS: usize = 300;

/// Reproduces the work.
///
/// # Errors
/// [`StudyError`] if a scenario of the study does not load or run.
pub fn run(options: &StudyOptions, stop: &AtomicBool, progress: &mut Progress<'_>) -> Result<StudyOutcome, StudyError> {
    let seed = options.seed;
    let stopped = || stop.load(Ordering::Relaxed);
    progress(0.0, "processor time of each operation");
    let costs = suite_cost(CALLS);
    let mut findings = Findings::default();

    progress(0.1, "executing: two parties");
    let mut exchanges = Section::new("One exchange").with(Block::Chart(exchange::figure_14()));
    for pair in exchange::pairs() {
        let simulated = pair.simulated(seed)?;
        findings.totals.extend(pair.judged(simulated));
        exchanges = exchanges.with(Block::Table(pair.table(simulated)));
    }

    let mut groups = Section::new("Groups");
    if !stopped() {
        progress(0.2, "executing: groups of 2 to 32");
        let sweep = groups::sweep(seed)?;
        findings.within = groups::within_bound(&sweep);
        for chart in groups::figure_15(&sweep) {
            groups = groups.with(Block::Chart(chart));
        }
        groups = groups.with(Block::Table(groups::bounds(&sweep))).with(Block::Table(groups::sub_buses(&sweep, seed)?));
    }
    let mut counted = Section::new("Frames");
    if !stopped() {
        progress(0.5, "executing: frames on both buses");
        let frames = groups::frames(seed)?;
        findings.frames_agree = frames.agree;
        counted = counted.with(Block::Table(frames.table));
    }
    let mut load = Section::new("Under a bus's own traffic");
    if !stopped() {
        progress(0.7, "executing: under recorded traffic");
        let traffic = traffic::traffic(seed)?;
        findings.late = traffic.late;
        load = load.with(Block::Table(traffic.table));
        for chart in traffic.charts {
            load = load.with(Block::Chart(chart));
        }
    }
    let mut modern = Section::new("Modern baselines");
    if !stopped() {
        progress(0.85, "executing: baselines and removals");
        let baselines = baselines::Baselines::new(&costs, seed)?;
        modern =
            modern.with(Block::Table(baselines::table(&baselines))).with(Block::Chart(baselines::chart(&baselines)));
    }
    let mut removals = Section::new("Removal under attack");
    if !stopped() {
        progress(0.95, "executing: removals under attack");
        removals = removals.with(Block::Table(old_key::table(seed)?));
    }
    findings.interrupted = stopped();
    progress(0.98, "writing the report");

    let mut primitives = Section::new("Operations").with(Block::Table(tables::table_3()));
    for table in tables::primitives(&costs) {
        primitives = primitives.with(Block::Table(table));
    }
    for chart in tables::figures_11_and_12(&costs) {
        primitives = primitives.with(Block::Chart(chart));
    }
    let document = Document {
        title: TITLE.into(),
        subtitle: "Musuroi, Groza, Popa, Murvay: station-to-station exchanges over FourQ, joined to a group key by an orchestrator. Printed, recomputed, executed in virtual time, and the operations measured on this host.".into(),
        verdict: findings.verdict(),
        sections: vec![
            Section::new("What the text quotes").with(Block::Table(tables::quoted_totals())),
            exchanges,
            groups,
            counted,
            load,
            primitives,
            modern,
            removals,
            Section::new("Other works").with(Block::Table(tables::table_1())),
            Section::new("Not there yet").with(Block::Notes(vec![
                "The exchange on a live bus: nothing here was measured on a wire, emulated or real; only the processor times of this host are measurements.".into(),
                "MLS executed here: its messages are on our bus with the lengths and times that a peer measured on its host.".into(),
                "The source's recordings of a bus: it published none. The recordings here are of other vehicles.".into(),
            ])),
        ]
        .into_iter()
        .filter(|section| !section.blocks.is_empty())
        .collect(),
        environment: versions()
            .into_iter()
            .chain([(
                "operations measured on processor".to_owned(),
                costs.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            )])
            .collect(),
    };
    Ok(StudyOutcome { document, pages: Vec::new() })
}

/// What the verdict rests on.
#[derive(Default)]
struct Findings {
    /// Executed exchanges held against the measured totals of the source.
    totals: Vec<Judged>,
    /// Executed groups within the source's bound, and all of them.
    within: (usize, usize),
    frames_agree: bool,
    /// Late frames of a car's traffic without and with the exchange.
    late: (u64, u64),
    interrupted: bool,
}

impl Findings {
    fn verdict(&self) -> Verdict {
        let quoted = quoted();
        let count = |wanted: &[Reproduces]| quoted.iter().filter(|row| wanted.contains(&row.reproduces)).count();
        let (yes, no) = (count(&[Reproduces::Yes]), count(&[Reproduces::No, Reproduces::NotForClassical]));
        // A count is exact. A measured total that is not met, and a bound that is passed, take the yes away.
        let off: Vec<&Judged> = self.totals.iter().filter(|total| total.reproduces == Reproduces::No).collect();
        let whole = self.within.0 == self.within.1 && off.is_empty();
        let word = match (self.frames_agree && !self.interrupted, whole) {
            (true, true) => Word::Held,
            (true, false) => Word::NotProven,
            (false, _) => Word::Failed,
        };
        let text = match word {
            Word::Held => "The source's exchanges, frame counts and bounds hold when its protocol is executed.".into(),
            Word::NotProven => {
                let mut parts = Vec::new();
                if self.within.0 != self.within.1 {
                    parts.push("some of its bounds on whole groups do not".to_owned());
                }
                if !off.is_empty() {
                    let (not_met, all) = (off.len(), self.totals.len());
                    parts.push(format!(
                        "{not_met} of its {all} measured totals of one exchange is off by more than 2 %"
                    ));
                }
                format!("The source's frame counts hold when its protocol is executed; {}.", parts.join(", and "))
            }
            Word::Failed if self.interrupted => "The study was stopped before its end; what is there is marked.".into(),
            Word::Failed | Word::Broken | Word::Worse | Word::NotChecked => {
                "A count of frames on the bus differs from the source.".to_owned()
            }
        };
        let mut points = vec![format!(
            "Of {} totals and claims quoted in the text, {yes} follow from its own tables, {no} do not; the others nearly do, or have no figure.",
            quoted.len()
        )];
        if !self.totals.is_empty() {
            let one = |total: &Judged| {
                let Judged { pair: [a, b], party, off_percent, reproduces } = total;
                let word = match reproduces {
                    Reproduces::Yes => "met",
                    Reproduces::No => "NOT met",
                    _ => "nearly met",
                };
                format!("{party} of {a} and {b} {off_percent:+.2} %, {word}")
            };
            points.push(format!(
                "Executed at the boards' prices, an exchange is this far from the total that the source measured: {}. Met is within 0.1 %, nearly within 2 %.",
                self.totals.iter().map(one).collect::<Vec<_>>().join("; ")
            ));
        }
        if self.within.1 > 0 {
            points
                .push(format!("{} of {} executed groups lie within the source's bound.", self.within.0, self.within.1));
        }
        if self.frames_agree {
            points.push("Frames counted on the bus equal the closed forms: 315, 160 and 224 on CAN-FD, 2016, 1024 and 1408 on CAN at n = 32.".into());
        }
        if !self.interrupted {
            points.push(format!(
                "Under a real car's traffic, {} of its frames are late without an exchange and {} with the fastest scheme.",
                self.late.0, self.late.1
            ));
        }
        Verdict { word, text, points }
    }
}
