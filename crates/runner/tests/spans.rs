//! Rows that are forgotten when they are counted come to the same summary as all of them together.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};

use chronoseal_catalog::Prepared;
use chronoseal_core::Duration;
use chronoseal_results::{FrameFigures, FrameRow, RunRows, RunSummary};
use chronoseal_runner::{Run, Span, simulate_folded, simulate_followed};
use chronoseal_scenario::{FileError, Files, Scenario, upgrade};

/// The folder of a scenario.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let unreadable = |reason| FileError::Unreadable { place: path.to_owned(), reason };
        std::fs::read(self.0.join(path)).map_err(unreadable)
    }
}

/// Every scenario of a folder that can be prepared, with its name.
fn for_each(folder: &str, mut check: impl FnMut(&str, &Prepared<'_>)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        // Long enough for several spans.
        let sets = [("duration".to_owned(), "1s".to_owned())];
        let text = std::fs::read_to_string(&path).unwrap();
        let text = upgrade(name, &text).map_or(text, |upgraded| upgraded.text);
        let Ok(scenario) = Scenario::load(name, text.as_bytes(), &sets, &Folder(folder.clone())) else { continue };
        if let Ok(prepared) = Prepared::new(&scenario.plan) {
            check(name, &prepared);
        }
    }
}

/// The first line in which two summaries differ.
fn difference(whole: &RunSummary, folded: &RunSummary) -> Option<String> {
    let [whole, folded] = [whole, folded].map(|summary| serde_json::to_string_pretty(summary).unwrap());
    let lines = whole.lines().zip(folded.lines()).zip(1..);
    let different = lines.clone().find(|((whole, folded), _)| whole != folded);
    let mut different = different.map(|((whole, folded), line)| format!("line {line}: {whole} became {folded}"));
    if different.is_none() && whole.len() != folded.len() {
        different = Some("one is longer".into());
    }
    different
}

/// What reports show of the frames.
fn different_figures(whole: &Run, folded: &Run) -> Option<String> {
    let [whole, folded] = [whole, folded].map(|run| run.rows.figures(&run.meta, &run.summary));
    let counted =
        |figures: &FrameFigures| figures.latencies.iter().map(|all| all.clone().into_counted()).collect::<Vec<_>>();
    match () {
        () if counted(&whole) != counted(&folded) => Some("latencies differ".into()),
        () if whole.stopped != folded.stopped => Some(format!("{:?} became {:?}", whole.stopped, folded.stopped)),
        () if whole.lost_at != folded.lost_at => Some(format!("{:?} became {:?}", whole.lost_at, folded.lost_at)),
        () => None,
    }
}

/// What tells nearly all frames apart.
fn order(row: &FrameRow) -> impl Ord + use<> {
    let times = [row.due_at, row.sent_at, row.arrived_at, row.departed_at, row.received_at, row.accepted_at];
    (row.stream, row.sequence, row.sender, row.at, row.cycle_start, times, row.len)
}

/// Events and computations are the same, and so are frames and transmissions in another order.
fn different_rows(whole: &RunRows, folded: &RunRows) -> Option<String> {
    if (&whole.events, &whole.work, &whole.hops) != (&folded.events, &folded.work, &folded.hops) {
        return Some("events, computations or transmissions differ".into());
    }
    let [whole, folded] = [whole, folded].map(|rows| {
        let mut frames: Vec<&FrameRow> = rows.frames.iter().collect();
        frames.sort_by(|one, other| {
            let debug = |row: &FrameRow| format!("{row:?}");
            order(one).cmp(&order(other)).then_with(|| debug(one).cmp(&debug(other)))
        });
        frames
    });
    let pairs = whole.iter().zip(&folded).find(|(whole, folded)| whole != folded);
    let pairs = pairs.map(|(whole, folded)| format!("{whole:?}\nbecame {folded:?}"));
    pairs.or_else(|| (whole.len() != folded.len()).then(|| format!("{} frames became {}", whole.len(), folded.len())))
}

#[test]
fn a_run_in_many_spans_comes_to_what_it_does_as_a_whole() {
    let mut compared = 0;
    let mut failed = Vec::new();
    for folder in ["scenarios", "crates/cli/tests/golden/defects", "crates/cli/tests/golden/more"] {
        for_each(folder, |name, prepared| {
            // Key exchanges take long to compute; some of the other folders have them too.
            if folder == "crates/cli/tests/golden/more" && prepared.plan().group_key.is_some() {
                return;
            }
            let Ok(whole) = simulate_followed(prepared, false, &mut |_| true) else { return };
            let span = Span { rows: 1, time: Duration::from_ms(60) };
            let mut rows = RunRows::default();
            let folded = simulate_folded(prepared, span, false, &mut rows, &mut |_| true).expect("it could be built");
            assert!(folded.rows.frames.is_empty() && folded.rows.events.is_empty());
            assert_eq!(whole.meta, folded.meta);
            compared += 1;
            let summaries = difference(&whole.summary, &folded.summary);
            let others =
                summaries.or_else(|| different_figures(&whole, &folded)).or_else(|| different_rows(&whole.rows, &rows));
            failed.extend(others.map(|text| format!("{folder}/{name}: {text}")));
        });
    }
    assert!(failed.is_empty(), "{} of {compared}:\n{}", failed.len(), failed.join("\n"));
    assert!(compared > 30, "{compared}");
}
