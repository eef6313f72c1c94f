//! Pages are true: every command block of the documents is run, in a folder of its page's own, and compared with what the page
//! says it prints; every whole scenario is checked, and its word is the one that its page says.
//!
//! How to mark blocks is in `docs/dev/pages.md`.

mod expected;
mod page;
mod shell;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use self::page::{Command, Step, steps};
use self::shell::{Ended, Shell};
use crate::finding::Finding;
use crate::{Failure, TaskResult, built};

/// Where pages are, from the root; of folders all that end with `.md`.
const PLACES: &[&str] =
    &["README.md", "docs", "docs/dev", "docs/guide", "docs/reference", "studies", "examples", "scenarios"];
/// What the program says of itself; its examples are of files that a user has.
const GENERATED: &[&str] = &[
    "docs/reference/command-line.md",
    "docs/reference/command-line-v2x.md",
    "docs/reference/command-line-middleware.md",
];
/// Folders of the project that commands on pages read from.
const READ: &[&str] = &["scenarios", "data", "studies", "examples", "adapters"];

/// What became of the commands of all pages.
#[derive(Default)]
struct Tally {
    run: usize,
    left_out: Vec<(String, usize, String)>,
    findings: Vec<Finding>,
}

/// What is asked for.
#[derive(Default)]
struct Options {
    is_quick: bool,
    binary: Option<PathBuf>,
    pages: Vec<String>,
}

impl Options {
    fn new(words: &[&str]) -> Result<Self, Failure> {
        let (mut options, mut words) = (Self::default(), words.iter());
        while let Some(word) = words.next() {
            match *word {
                "--quick" => options.is_quick = true,
                "--binary" => {
                    let file = words.next().ok_or_else(|| Failure::because("--binary needs a file"))?;
                    options.binary = Some(Path::new(file).to_owned());
                }
                page => options.pages.push(page.to_owned()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> TaskResult {
    let options = Options::new(words)?;
    let all = pages(root)?;
    if let Some(unknown) = options.pages.iter().find(|page| !all.contains(page)) {
        let example = "name it from the root of the workspace, as in docs/guide/bounds.md";
        return Err(Failure::because(format!("there is no page {unknown}; {example}")));
    }
    let pages = if options.pages.is_empty() { all } else { options.pages };
    let program = match options.binary {
        Some(file) => root.join(file),
        None => {
            // They answer for some commands, from beside it.
            built::program(root, "chronoseal-v2x")?;
            built::program(root, "chronoseal-testbed")?;
            built::program(root, "chronoseal")?
        }
    };
    let texts: BTreeMap<String, String> = pages
        .iter()
        .map(|page| Ok((page.clone(), fs::read_to_string(root.join(page)).map_err(|error| unreadable(page, &error))?)))
        .collect::<Result<_, Failure>>()?;
    let shared = shared_files(root)?;
    let mut tally = Tally::default();
    for (page, text) in &texts {
        one(root, &program, (page, text), &shared, options.is_quick, &mut tally)?;
    }
    report(&tally)
}

fn report(tally: &Tally) -> TaskResult {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (page, line, reason) in &tally.left_out {
        reasons.entry(reason).or_default().push(format!("{page}:{line}"));
    }
    for (reason, places) in &reasons {
        println!("not run, {reason}: {}", places.join(", "));
    }
    for finding in &tally.findings {
        println!("{finding}");
    }
    println!("{} commands run, {} blocks left out, {} findings", tally.run, tally.left_out.len(), tally.findings.len());
    if tally.findings.is_empty() { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Every page that a person wrote, by path from the root.
fn pages(root: &Path) -> Result<Vec<String>, Failure> {
    let mut pages = Vec::new();
    for place in PLACES {
        let folder = root.join(place);
        if folder.is_file() {
            pages.push((*place).to_owned());
            continue;
        }
        // Studies and examples have a folder each.
        let inner = if matches!(*place, "studies" | "examples") { folders(&folder)? } else { vec![folder] };
        for folder in inner {
            pages.extend(
                entries(&folder)?
                    .into_iter()
                    .filter(|path| path.extension().is_some_and(|end| end == "md"))
                    .map(|path| path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned()),
            );
        }
    }
    pages.retain(|page| !GENERATED.contains(&page.as_str()));
    Ok(pages)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(&folder.display().to_string(), &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn unreadable(what: &str, error: &std::io::Error) -> Failure {
    Failure::because(format!("cannot read {what}: {error}"))
}

/// The files that pages have their readers write: one page may use what is written on another.
fn shared_files(root: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    for page in pages(root)? {
        let text = fs::read_to_string(root.join(&page)).map_err(|error| unreadable(&page, &error))?;
        for step in steps(&text) {
            if let Step::Write { file, text, appends: false } = step {
                files.entry(file).or_insert(text);
            }
        }
    }
    Ok(files)
}

/// Runs one page in a folder of its own.
fn one(
    root: &Path,
    program: &Path,
    (page, text): (&str, &str),
    shared: &BTreeMap<String, String>,
    is_quick: bool,
    tally: &mut Tally,
) -> TaskResult {
    let steps = steps(text);
    if !steps.iter().any(|step| matches!(step, Step::Run { .. } | Step::LeftOut { .. })) {
        return Ok(());
    }
    let mut shell = Shell::new(root, program, page, READ)?;
    for (file, text) in shared {
        shell.write(file, text, false)?;
    }
    for step in steps {
        match step {
            Step::Write { file, text, appends } => shell.write(&file, &text, appends)?,
            Step::LeftOut { line, reason } => tally.left_out.push((page.to_owned(), line, reason)),
            Step::Run { commands, is_slow: true, .. } if is_quick => {
                let line = commands.first().map_or(0, |command| command.line);
                tally.left_out.push((page.to_owned(), line, "since it is slow".into()));
            }
            Step::Run { commands, varies, .. } => {
                let (left_out, commands): (Vec<Command>, Vec<Command>) =
                    commands.into_iter().partition(|command| command.left_out().is_some());
                tally.left_out.extend(
                    left_out
                        .iter()
                        .filter_map(|command| Some((page.to_owned(), command.line, command.left_out()?.to_owned()))),
                );
                for (command, ended) in commands.iter().zip(shell.run(&commands)?) {
                    tally.run += 1;
                    println!(
                        "{page}:{}: {:.1} s, {}: {}",
                        command.line,
                        ended.seconds,
                        ended.status,
                        first_line(command)
                    );
                    tally.findings.extend(judge(page, command, &ended, varies));
                }
            }
        }
    }
    Ok(())
}

fn first_line(command: &Command) -> &str {
    command.text.lines().next().unwrap_or_default()
}

/// What is wrong with how a command ended and what it printed.
fn judge(page: &str, command: &Command, ended: &Ended, varies: bool) -> Option<Finding> {
    let last = || {
        let lines: Vec<&str> = ended.printed.lines().rev().take(6).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n      ")
    };
    let expects_refusal = command.expected.as_ref().is_some_and(|text| text.contains("error: "));
    // 0, 1 and 3 are answers of ours: it held, it did not, it was not all checked.
    let is_answer = matches!(ended.status, 0 | 1 | 3) || (ended.status == 2 && expects_refusal);
    if !is_answer {
        return Some(Finding::new(
            page,
            command.line,
            format!("`{}` ends with status {}\n      {}", first_line(command), ended.status, last()),
            "mend the page or the program; a block that cannot run here is marked, as in ```sh not-run: why",
        ));
    }
    if let Some(part) = command.expected.as_ref().and_then(|text| expected::missing(text, &ended.printed, varies)) {
        return Some(Finding::new(
            page,
            command.line,
            format!("`{}` does not print `{part}`, it ends with\n      {}", first_line(command), last()),
            "write what it prints, with … for what may be anything",
        ));
    }
    let word = command.word?;
    let says = |line: &str| line.trim() == word;
    (!ended.printed.lines().any(says)).then(|| {
        let is = ended.printed.lines().find(|line| !line.is_empty() && line.chars().all(|c| c.is_ascii_uppercase() || c == ' '));
        Finding::new(
            page,
            command.line,
            format!("`{}` says {}, the page says {word}", first_line(command), is.unwrap_or("no word at all")),
            "mend the scenario, or say the word that it has: behind the command, or in the first line of the scenario's block",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: i32, printed: &str) -> Ended {
        Ended { status, seconds: 0.0, printed: printed.into() }
    }

    #[test]
    fn a_word_a_text_and_a_status_are_judged() {
        let command = Command { text: "chronoseal check a.toml".into(), word: Some("HELD"), ..Command::default() };
        assert_eq!(judge("a.md", &command, &ended(0, "Title\n\nHELD\nAll holds."), false), None);
        let finding = judge("a.md", &command, &ended(1, "Title\n\nBROKEN\nIt does not."), false).unwrap();
        assert!(finding.what.contains("says BROKEN, the page says HELD"), "{finding}");
        assert!(judge("a.md", &command, &ended(2, "error: no file"), false).unwrap().what.contains("status 2"));
        let printing = Command { expected: Some("All … holds.\n".into()), word: None, ..command };
        assert_eq!(judge("a.md", &printing, &ended(0, "All of it holds."), false), None);
        assert!(judge("a.md", &printing, &ended(0, "All of it fails."), false).is_some());
        let refused = Command { expected: Some("error: no file".into()), ..printing };
        assert_eq!(judge("a.md", &refused, &ended(2, "error: no file"), false), None);
    }
}
