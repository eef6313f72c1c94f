//! A security subsystem for vehicles (PRESERVE, deliverable D3.1.1, 2013): study `v2x-vss`.
//!
//! As `chronoseal-study`, it holds no protocol and no measurement of its own. It is a crate of its own since it needs the services
//! of a station and its authorities, which no other study does.

mod attacks;
mod cases;
mod fields;
mod load;
mod privacy;
mod published;
mod sizes;
mod times;

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_report::{Block, Document, Section, Table, Verdict, Word};
use chronoseal_runner::versions;
use chronoseal_v2x_service::trial::{self, SecondVendor, Trial};

use self::cases::Count;
use chronoseal_study::{Progress, Study, StudyError, StudyOption, StudyOptions, StudyOutcome, V2X_VSS};

/// The study.
pub const STUDY: Study = Study { name: V2X_VSS.name, title: V2X_VSS.title, honours: HONOURS, run };

const HONOURS: &[StudyOption] = &[StudyOption::NoLive, StudyOption::Functional, StudyOption::Seed];

/// Why rows are left out.
const FUNCTIONAL: &str = "Not run: --functional.";

/// Reproduces the work.
///
/// # Errors
/// [`StudyError`] if messages or roads of the study cannot be made; what is not installed on the host is no error, its
/// cells say so.
pub fn run(options: &StudyOptions, stop: &AtomicBool, progress: &mut Progress<'_>) -> Result<StudyOutcome, StudyError> {
    let stopped = || stop.load(Ordering::Relaxed);
    let live = live(options, &stopped, progress);
    progress(0.55, "messages of each kind");
    let kinds = sizes::kinds(options.seed)?;
    let attacks = attacks::run(options.seed)?;
    let mut hides = |done: f64, what: &str| progress(0.6 + 0.38 * done, what);
    let hidden = match options.functional {
        true => None,
        false => Some(privacy::simulate(options.seed, stopped, &mut hides)?),
    };
    progress(0.98, "writing the report");

    let trial = live.trial.as_ref().ok();
    let why_none = live.trial.as_ref().err().map_or("", String::as_str);
    let mut times = Section::new("Signing and verifying");
    let mut latency = Section::new("Latency under load");
    if live.times.is_empty() {
        times = times.with(Block::Text(if options.functional { FUNCTIONAL } else { why_none }.to_owned()));
    } else {
        times = times.with(Block::Table(times::side_by_side(&live.times)));
    }
    for table in times::run_by_run(&live.times) {
        times = times.with(Block::Table(table));
    }
    match &live.loads {
        Ok(loads) => {
            let blocks = [Block::Table(loads.table()), Block::Chart(loads.chart()), Block::Table(loads.capacities())];
            latency = blocks.into_iter().fold(latency, Section::with);
        }
        Err(reason) => latency = latency.with(Block::Text(reason.clone())),
    }
    let findings = Findings {
        cases: trial.map(|trial| Count::of(&trial.cases)),
        services: trial.map(|trial| Count::of(&trial.services)),
        attacks: attacks.len(),
        attacks_stopped: attacks.iter().filter(|attack| attack.is_stopped()).count(),
        privacy_is_sound: hidden.as_ref().map(privacy::Privacy::is_sound),
        loads_are_good: live.loads.as_ref().ok().map(load::Loads::is_good),
        headlines: [
            times::headline(&live.times),
            live.loads.as_ref().ok().and_then(load::Loads::headline),
            trial.map(|trial| format!("The second vendor's authorities: {}.", trial.second_vendor)),
        ],
        why_not: why_none.to_owned(),
        interrupted: stop.load(Ordering::Relaxed),
    };
    let document = Document {
        title: V2X_VSS.title.into(),
        subtitle: "Petit, Feiri, Broekhuis, Lonc, Moalla, Kargl: signed messages, two vendors' authorities, pseudonyms, a hardware security module. Printed, recomputed, simulated and measured side by side.".into(),
        verdict: findings.verdict(),
        sections: vec![
            Section::new("Test cases").with(Block::Table(cases::table(trial, why_none))),
            Section::new("Services").with(Block::Table(cases::services(trial, why_none))),
            times,
            latency,
            Section::new("Size and airtime").with(Block::Table(sizes::table(&kinds))).with(Block::Chart(sizes::chart(&kinds))),
            hidden.as_ref().map_or_else(
                || Section::new(privacy::TITLE).with(Block::Text(FUNCTIONAL.to_owned())),
                privacy::Privacy::section,
            ),
            Section::new("Attacks").with(Block::Table(attacks::table(&attacks))),
            Section::new("Same and different").with(Block::Table(differences())),
        ],
        environment: versions(),
    };
    Ok(StudyOutcome { document, pages: Vec::new() })
}

/// What needs this host: processes, devices, its clock.
struct Live {
    trial: Result<Trial, String>,
    times: Vec<times::Measured>,
    loads: Result<load::Loads, String>,
}

fn live(options: &StudyOptions, stopped: &impl Fn() -> bool, progress: &mut Progress<'_>) -> Live {
    let none = |reason: &str| Live { trial: Err(reason.into()), times: Vec::new(), loads: Err(reason.into()) };
    if !options.live {
        return none("Nothing was run on this host: --no-live.");
    }
    let mut live = none("The run was stopped before this part.");
    let folder = options.folder.join("trial");
    progress(0.0, "test cases");
    let mut begun = 0.0;
    live.trial = trial::run(&folder, &SecondVendor::find(), &mut |what| {
        begun += 1.0;
        progress(0.01 * begun, what);
    })
    .map_err(|error| error.to_string());
    if options.functional {
        live.loads = Err(FUNCTIONAL.into());
        return live;
    }
    if !stopped() {
        progress(0.15, "signing and verifying on every device");
        live.times = times::measure(options.seed, &folder);
    }
    if !stopped() {
        let mut within = |done: f64, what: &str| progress(0.2 + 0.35 * done, what);
        live.loads = load::measure(options.seed, &mut within).map_err(|error| error.to_string());
    }
    live
}

/// What the verdict rests on.
struct Findings {
    cases: Option<Count>,
    services: Option<Count>,
    attacks: usize,
    attacks_stopped: usize,
    privacy_is_sound: Option<bool>,
    loads_are_good: Option<bool>,
    headlines: [Option<String>; 3],
    why_not: String,
    interrupted: bool,
}

impl Findings {
    fn verdict(&self) -> Verdict {
        let failed = [self.cases, self.services].into_iter().flatten().any(|count| count.failed > 0)
            || self.attacks_stopped < self.attacks
            || self.privacy_is_sound == Some(false);
        let is_whole = self.cases.is_some_and(|count| count.not_applicable == 0)
            && self.loads_are_good == Some(true)
            && self.privacy_is_sound == Some(true)
            && !self.interrupted;
        let (word, text) = match (failed, is_whole) {
            (true, _) => (Word::Failed, "Something does not work as the source says or as it should; it is marked."),
            (false, true) => {
                (Word::Held, "Every test case and every service of the source works, every attack is refused.")
            }
            (false, false) => (Word::NotChecked, "What could be tried here works; the rest is marked with the reason."),
        };
        let mut points = Vec::new();
        match self.cases {
            Some(count) => points.push(format!(
                "{} of 15 test cases passed, {} failed, {} could not be tried here; of the nine services {} passed, three of which the source left untested.",
                count.passed,
                count.failed,
                count.not_applicable,
                self.services.map_or(0, |count| count.passed)
            )),
            None => points.push(self.why_not.clone()),
        }
        points.push(format!(
            "{} of {} attacks refused, by the check that is for them where there is one: mutations and the flood may fail any.",
            self.attacks_stopped, self.attacks
        ));
        if self.loads_are_good == Some(false) {
            points.push("Under load something was refused, lost without a note, or an emergency was dropped; see the latency table.".into());
        }
        points.extend(self.headlines.iter().flatten().cloned());
        Verdict { word, text: text.into(), points }
    }
}

fn differences() -> Table {
    use chronoseal_report::Cell;
    let processors = published::processors();
    let builds = published::builds();
    let mut table = Table::new("What is the same, and what is not").words("").words("source").words("here");
    for [what, source, here] in [
        [
            "messages",
            "an early draft of IEEE 1609.2",
            "IEEE 1609.2-2022 as ETSI TS 103 097 V2 profiles it, canonical COER",
        ],
        [
            "authorities",
            "Fraunhofer's and Escrypt's",
            "chronoseal's and, where Java is, Bouncy Castle's; TS 102 941 over HTTP",
        ],
        [
            "hardware",
            "FPGA on USB, measured",
            "RTL of a P-256 engine, simulated at a declared clock; SoftHSM and a software TPM, measured",
        ],
        ["processors", &processors, "this host, one core"],
        ["builds", &builds, "one program under the profiles size and dist"],
        ["a run", "one message signed, then verified", "the same; devices sign and verify a digest"],
        ["radio", "none in these tables", "airtime by the OFDM formula; the fleet is simulated"],
    ] {
        table.push(vec![Cell::text(what), Cell::text(source), Cell::text(here)]);
    }
    table
}
