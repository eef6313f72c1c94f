//! Ethernet traffic classes under load (DornerWorks and TARDEC, 2015): study `ethernet-classes`.

mod figures;
mod further;
mod live;
mod model;
pub mod published;
mod runs;
mod tables;

use std::sync::atomic::AtomicBool;

use self::further::Further;
use self::live::Live;
use self::model::Model;
use self::published::{ERRATA, Protocol};
use self::runs::{Class, Question};
use self::tables::Compared;
use crate::{Progress, StudyError, StudyOptions, StudyOutcome};
use chronoseal_report::{Block, Document, Section, Verdict, Word};

/// As read.
pub const TITLE: &str = "Ethernet traffic classes under load (DornerWorks, TARDEC)";

/// The share of the study's time that Table 3 takes.
const TABLE: f64 = 0.4;
/// The share until the further questions are asked.
const FURTHER: f64 = 0.5;

/// Reproduces the work.
///
/// # Errors
/// [`StudyError`] if a scenario of the study does not load or cannot be made.
pub fn run(options: &StudyOptions, stop: &AtomicBool, progress: &mut Progress<'_>) -> Result<StudyOutcome, StudyError> {
    let printed = published::table3();
    let model = Model::of(&printed);
    let mut cells = Vec::with_capacity(printed.len());
    for (number, row) in printed.iter().enumerate() {
        let name = row.protocol.name();
        let what = format!("simulating {name}, {} B at {} %", row.payload, row.saturation);
        progress(TABLE * number as f64 / printed.len() as f64, &what);
        let question = Question {
            class: Class::Printed(row.protocol),
            payload: row.payload,
            saturation: row.saturation,
            seed: options.seed,
            sets: &[],
        };
        cells.push(Compared { printed: *row, modelled: model.cell(row), simulated: question.ask(stop)? });
    }
    let further = Further::ask(options.seed, stop, &mut |done, what| progress(TABLE + (FURTHER - TABLE) * done, what))?;
    let live =
        live::measure_all(&printed, options, stop, &mut |done, what| progress(FURTHER + (1.0 - FURTHER) * done, what))?;
    progress(1.0, "writing the report");

    let mut sections: Vec<Section> = Protocol::ALL.into_iter().map(|protocol| of_protocol(protocol, &cells)).collect();
    sections
        .push(Section::new("The model").with(Block::Text(MODEL.into())).with(Block::Table(tables::parameters(&model))));
    sections.push(Section::new("The source's explanations").with(Block::Table(further.explanations(&cells, &model))));
    sections.push(
        Section::new("The application synchronised to the network")
            .with(Block::Text(SYNCHRONISED.into()))
            .with(Block::Table(further.synchronised())),
    );
    sections.push(
        Section::new("TSN in place of TTE").with(Block::Text(TSN.into())).with(Block::Table(further.gated(&cells))),
    );
    sections.push(
        Section::new("With authentication")
            .with(Block::Text(AUTHENTICATED.into()))
            .with(Block::Table(further.authenticated())),
    );
    sections.push(
        Section::new("With MACsec").with(Block::Text(MACSEC.into())).with(Block::Table(further.protected_links())),
    );
    sections.push(live.section());
    let tables = [Some(tables::first()), live.clocks(), Some(tables::second()), live.flood()].into_iter().flatten();
    let others = Section::new("Tables 1 and 2");
    sections.push(tables.fold(others, |section, table| section.with(Block::Table(table))));
    sections.push(Section::new("Defects of the printed text").with(Block::Notes(ERRATA.map(str::to_owned).to_vec())));
    let document = Document {
        title: TITLE.into(),
        subtitle: "Four classes of traffic, six sizes, three loads: printed, modelled, simulated and measured.".into(),
        verdict: verdict(&cells, &live),
        sections,
        environment: live.runs.environment(),
    };
    Ok(StudyOutcome { document, pages: live.runs.pages })
}

const MODEL: &str = "The latencies of an idle network are straight lines over the payload, with a slope twelve times that of three links of 1 Gbit/s. \
    A host interface that copies one frame at a time explains it, and the same copy of one flood frame explains, with nothing left to choose, by how much a saturated network \
    is slower and how far its latencies spread. This is an inference from the table; the source leaves the cause open. The simulated columns are runs of the scenarios in \
    studies/ethernet-classes/scenarios with that host interface: 269.5 ns for each byte, 85 kB for each class.";
const SYNCHRONISED: &str = "The source wished for an application that is synchronised to the network and had none. Here its data are ready 10 us before the slot, by a timer without drift.";
const AUTHENTICATED: &str = "Each message carries a tag of 16 bytes (HMAC with SHA-256) and 8 bytes of freshness, made and checked. What that costs a processor is an assumption: 1 us and 4 ns for each \
    byte, SHA-256 in software at 3.4 GHz. The 24 bytes pass the host interface like any others. A payload of 1472 bytes has no room for them in one frame.";
const MACSEC: &str = "Each of the three links on the way protects what it carries (IEEE 802.1AE, GCM-AES-128): 32 bytes more on the wire, and 500 ns at each of its ends, which is an assumption. \
    The host interface copies frames as they were before, so on an idle network what MACsec adds does not depend on the payload, where a tag has to be copied with the message. A slot that was planned for frames without it has to stay open for longer: \
    check says so, and the slots here have a guard period of 3 us in place of 1. The flood's frames have 32 bytes more as well, which takes a flood of 97 % of a link to 99 %: with slots of long messages beside it that is more than the link carries, and what is lost then is the price of that.";
const TSN: &str = "The same network with gates of IEEE 802.1Qbv in both switches and in the sender's interface, and no slots: class 7 has 60 us of each millisecond for itself. Where the application keeps \
    its own time, a message waits for the window as it would for a slot. In step its data are ready 10 us before the window.";
fn of_protocol(protocol: Protocol, cells: &[Compared]) -> Section {
    let title = match protocol {
        Protocol::Tte => "TTE: time-triggered",
        Protocol::Rc => "RC: rate-constrained",
        Protocol::Be => "BE: best effort over the same switches",
        Protocol::Udp => "UDP: over a plain switch",
    };
    let section = Section::new(title).with(Block::Table(tables::third(protocol, cells)));
    figures::densities(protocol, cells).into_iter().fold(section, |section, chart| section.with(Block::Chart(chart)))
}

fn verdict(cells: &[Compared], live: &Live) -> Verdict {
    let is_whole = cells.iter().all(|cell| cell.simulated.is_some());
    let asked = cells.iter().filter(|cell| cell.tolerance().is_some()).count();
    let misses: Vec<String> = cells.iter().flat_map(Compared::misses).collect();
    let (word, text) = match (is_whole, misses.is_empty()) {
        (false, _) => (Word::NotChecked, "The run was stopped before all of Table 3 was simulated.".to_owned()),
        (true, true) => (
            Word::Held,
            format!(
                "The {asked} cells of Table 3 that the model speaks of are reproduced within the tolerances set before."
            ),
        ),
        (true, false) => (
            Word::NotProven,
            format!("Most of the {asked} cells that the model speaks of are reproduced, and some are not."),
        ),
    };
    let mut points = vec![
        "Asked for: RC within 5 % of the mean, and of the standard deviation within 3 % on a saturated network, 1472 B at 100 % left out; TTE within 15 % and 10 %; BE on a saturated network within 20 % of the mean, with losses at the source's sizes.".to_owned(),
    ];
    points.extend(misses);
    points.extend(live.missing());
    Verdict { word, text, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_cells_are_as_printed_within_what_is_asked() {
        let printed = published::table3();
        let model = Model::of(&printed);
        let stop = AtomicBool::new(false);
        let is_asked = |row: &&published::Latencies| row.saturation == 0 && [64, 1472].contains(&row.payload);
        for row in printed.iter().filter(is_asked) {
            let (protocol, payload) = (row.protocol, row.payload);
            let question = Question { class: Class::Printed(protocol), payload, saturation: 0, seed: 1, sets: &[] };
            let simulated = question.ask(&stop).expect("it can be made");
            let cell = Compared { printed: *row, modelled: model.cell(row), simulated };
            assert_eq!(cell.misses(), Vec::<String>::new());
            let (mean, _) = cell.deviations().expect("messages came");
            assert!(mean.abs() < 0.15, "{protocol:?} {payload}: {mean}");
            assert_eq!(cell.simulated.expect("it was not stopped").lost, 0);
        }
    }

    #[test]
    fn a_flood_adds_the_rest_of_one_copy_and_no_more() {
        let printed = published::table3();
        let row = printed.iter().find(|row| row.protocol == Protocol::Rc && row.payload == 512 && row.saturation == 50);
        let row = row.expect("it is printed");
        let stop = AtomicBool::new(false);
        let class = Class::Printed(Protocol::Rc);
        let question = Question { class, payload: 512, saturation: 50, seed: 1, sets: &[] };
        let simulated = question.ask(&stop).expect("it can be made");
        let cell = Compared { printed: *row, modelled: Model::of(&printed).cell(row), simulated };
        assert_eq!(cell.misses(), Vec::<String>::new());
        assert!(cell.deviations().is_some());
    }

    #[test]
    fn a_study_that_was_stopped_says_so_and_judges_nothing() {
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
        let outcome = run(&options, &AtomicBool::new(true), &mut |_, _| {}).expect("a report all the same");
        assert_eq!(outcome.document.verdict.word, Word::NotChecked);
        assert!(outcome.document.verdict.text.contains("stopped"), "{}", outcome.document.verdict.text);
        assert!(outcome.document.sections.len() > 8);
    }
}
