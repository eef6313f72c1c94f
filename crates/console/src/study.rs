//! `study run`, for the studies that a program has.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use chronoseal_report::html;
use chronoseal_results::disk::Filling;
use chronoseal_study::{Study, StudyOption, StudyOptions, StudyOutcome};
use chronoseal_testbed::interrupt;

use clap::Args;

use crate::{Format, Printer, Status, Trouble, files};

/// What can be typed behind `study run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal study run tte-hmac
  chronoseal study run tte-hmac --no-live --out results/on-paper

Next: open the report.html it names; studies/NAME/README.md says what was published.")]
pub struct StudyRun {
    /// Its name, as `study list` shows it
    pub name: String,
    /// Measure as long as the source did
    ///
    /// `tte-hmac` and `ethernet-classes` capture five minutes for each live test in place of 10 seconds. `robot-middleware` runs each cell for 64 s
    /// in place of 5, ten times, and leaves none out: about 64 hours with all that it can measure, so use --only or --resume.
    #[arg(long, conflicts_with = "no_live")]
    pub full: bool,
    /// Leave the live rows out
    #[arg(long)]
    pub no_live: bool,
    /// Only what works or does not, in seconds: no row of speed or latency, and nothing that is simulated for long
    #[arg(long, conflicts_with_all = ["full", "no_live"])]
    pub functional: bool,
    /// Live: do without SCHED_FIFO even where it is granted
    #[arg(long, conflicts_with = "no_live")]
    pub no_fifo: bool,
    /// robot-middleware: only the configurations, data or networks of this name, such as raw-udp, laser or wifi; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// robot-middleware: go on in the folder of a run that was ended; what that has measured is not measured again. Give the same options
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "no_live"])]
    pub resume: Option<PathBuf>,
    /// Seed of all chance [default: 1]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder for results and report [default: results/NAME, with a number behind it if that exists]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
}

/// The seed where none is given.
const SEED: u64 = 1;

/// Reproduces the study that `options` name, one of `studies`, and writes its results and report.
///
/// # Errors
/// [`Trouble`] if there is no such study, an option would do nothing, it could not be run, or its results could not be written.
pub fn reproduce(studies: &[Study], options: &StudyRun, printer: &Printer) -> Result<Status, Trouble> {
    let Some(study) = studies.iter().find(|study| study.name == options.name) else {
        let names: Vec<_> = studies.iter().map(|study| study.name).collect();
        return Err(Trouble(format!(
            "error: there is no study named {}\nhelp: write one of {}",
            options.name,
            names.join(", ")
        )));
    };
    study.check(&given(options))?;
    let seed = options.seed.unwrap_or(SEED);
    let folder = options.resume.as_ref().or(options.out.as_ref()).cloned();
    let folder = folder.unwrap_or_else(|| files::fresh_folder(study.name));
    match options.resume.is_some() {
        true if folder.is_dir() => {}
        true => {
            return Err(Trouble(format!(
                "error: {} is no folder; nothing was run\nhelp: name the folder of the run that was ended, as its last line did",
                folder.display()
            )));
        }
        false => files::claim(&folder)?,
    }
    let filling = Filling::begin(&folder)?;
    let stop = interrupt::flag();
    let bar = printer.progress(100, study.name);
    let mut progress = |done: f64, what: &str| {
        bar.set_position((done * 100.0) as u64);
        bar.set_message(what.to_owned());
    };
    let outcome = (study.run)(
        &StudyOptions {
            full: options.full,
            live: !options.no_live,
            functional: options.functional,
            no_fifo: options.no_fifo,
            seed,
            only: options.only.clone(),
            resumes: options.resume.is_some(),
            folder: folder.clone(),
            agent_command: None,
        },
        stop,
        &mut progress,
    )?;
    bar.finish_and_clear();
    let page = keep(&folder, filling, &outcome)?;
    printer.document(&outcome.document, options.format);
    let interrupted = stop.load(Ordering::Relaxed);
    if interrupted {
        printer.note("interrupted: what there was is kept and marked as such");
    }
    printer.hint(&last_line(study.honours, &folder, &page, seed));
    let status = outcome.document.verdict.word.status();
    Ok(if interrupted { status.max(Status::Unproven) } else { status })
}

/// Writes what a study found, and takes the mark off its folder when all of it is there. The page to begin with.
fn keep(folder: &Path, filling: Filling, outcome: &StudyOutcome) -> Result<PathBuf, Trouble> {
    let page = folder.join("report.html");
    files::write(&page, &html(&outcome.document))?;
    for (path, page) in &outcome.pages {
        files::write(path, page)?;
    }
    files::write(&folder.join("tables.csv"), &chronoseal_report::csv(&outcome.document))?;
    files::write(&folder.join("report.json"), &chronoseal_report::json(&outcome.document))?;
    filling.finish()?;
    Ok(page)
}

/// What of a study's options was typed.
fn given(options: &StudyRun) -> Vec<StudyOption> {
    let typed = [
        (options.full, StudyOption::Full),
        (options.no_live, StudyOption::NoLive),
        (options.functional, StudyOption::Functional),
        (options.no_fifo, StudyOption::NoFifo),
        (options.seed.is_some(), StudyOption::Seed),
        (!options.only.is_empty(), StudyOption::Only),
        (options.resume.is_some(), StudyOption::Resume),
    ];
    typed.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
}

/// Where everything is, and the seed if the study has used it.
fn last_line(honours: &[StudyOption], folder: &Path, page: &Path, seed: u64) -> String {
    let line = format!("results: {}  report: {}", folder.display(), page.display());
    if honours.contains(&StudyOption::Seed) { format!("{line}  seed: {seed}") } else { line }
}

#[cfg(test)]
mod tests {
    use chronoseal_report::{Document, Verdict, Word};
    use chronoseal_results::disk::{UNFINISHED, check_finished};

    use super::*;

    #[test]
    fn a_study_that_cannot_be_written_keeps_its_mark() {
        let folder = tempfile::tempdir().unwrap();
        let verdict = Verdict { word: Word::Held, text: "It holds.".into(), points: Vec::new() };
        let (title, subtitle) = (String::new(), String::new());
        let document = Document { title, subtitle, verdict, sections: Vec::new(), environment: Vec::new() };
        let outcome = StudyOutcome { document, pages: Vec::new() };
        let names = || -> Vec<_> {
            let mut names: Vec<_> = folder
                .path()
                .read_dir()
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        // Something else has the name of a file: as good a reason as a full disk not to write it.
        std::fs::create_dir(folder.path().join("tables.csv")).unwrap();
        let filling = || Filling::begin(folder.path()).unwrap();
        let Err(Trouble(text)) = keep(folder.path(), filling(), &outcome) else { panic!("it cannot be written") };
        assert!(text.contains("cannot write") && text.contains("tables.csv"), "{text}");
        assert_eq!(names(), [UNFINISHED, "report.html", "tables.csv"]);
        assert!(check_finished(folder.path()).is_err());

        std::fs::remove_dir(folder.path().join("tables.csv")).unwrap();
        assert!(keep(folder.path(), filling(), &outcome).is_ok());
        assert_eq!(names(), ["report.html", "report.json", "tables.csv"]);
    }

    #[test]
    fn the_last_line_names_a_seed_that_was_used_and_no_other() {
        let line = |honours: &[StudyOption]| last_line(honours, Path::new("results/x"), Path::new("x.html"), 7);
        assert_eq!(line(&[StudyOption::Seed]), "results: results/x  report: x.html  seed: 7");
        assert_eq!(line(&[StudyOption::NoLive]), "results: results/x  report: x.html");
    }
}
