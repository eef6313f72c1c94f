//! What of a page is to be run: its command blocks, what they are to print, and the files that the page has its reader write.

use std::ops::Range;

/// One thing to do on a page, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A file that the reader writes.
    Write { file: String, text: String, appends: bool },
    /// Commands of one block, run by one shell.
    Run { commands: Vec<Command>, is_slow: bool, varies: bool },
    /// A block that is not run.
    LeftOut { line: usize, reason: String },
}

/// One command of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Command {
    /// From 1.
    pub(crate) line: usize,
    /// For the shell.
    pub(crate) text: String,
    /// What the page says it prints, if it says so.
    pub(crate) expected: Option<String>,
    /// The word that its output has to begin a line with.
    pub(crate) word: Option<&'static str>,
}

impl Command {
    /// Why it is not run, if it is one that no page has to mark.
    pub(crate) fn left_out(&self) -> Option<&'static str> {
        let mut words = self.text.split_whitespace().skip_while(|word| word.contains('='));
        let is_live = self.text.contains("--engine live") || self.text.contains("--engine both");
        match words.next() {
            _ if is_live => Some("since it runs live"),
            // What `cargo run` runs is the program.
            Some("cargo") if words.next() != Some("run") => Some("since it builds or tests the project"),
            _ => None,
        }
    }
}

/// Every word of a verdict; longer ones before those they begin with.
const WORDS: [&str; 6] = ["NOT CHECKED", "NOT PROVEN", "HELD", "WORSE", "BROKEN", "FAILED"];

/// A fenced block.
struct Block<'t> {
    /// Of its first fence, from 1.
    line: usize,
    info: &'t str,
    body: Vec<&'t str>,
    /// Nothing but empty lines stand between it and the block before it.
    is_next: bool,
}

/// The steps of a page.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let blocks = blocks(text);
    let mut steps = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let mut words = block.info.split_whitespace();
        let language = words.next().unwrap_or_default();
        let marks: Vec<&str> = words.collect();
        let is_session = language == "text" && block.body.first().is_some_and(|line| line.starts_with("$ "));
        if let Some((_, reason)) = block.info.split_once("not-run:") {
            steps.push(Step::LeftOut { line: block.line, reason: reason.trim().to_owned() });
        } else if is_session || matches!(language, "sh" | "console") {
            let mut commands = if is_session { session(block) } else { script(block) };
            let output = blocks.get(number + 1).filter(|next| !is_session && next.is_next && is_output(next));
            if let (Some(output), Some(last)) = (output, commands.last_mut()) {
                last.expected = Some(output.body.join("\n"));
            }
            let has = |mark: &str| marks.iter().any(|word| word.trim_end_matches(':') == mark);
            steps.push(Step::Run { commands, is_slow: has("slow"), varies: has("varies") });
        } else if matches!(language, "toml" | "csv" | "json") {
            steps.extend(file(block, &marks));
        }
    }
    steps
}

/// Text that a command printed.
fn is_output(block: &Block<'_>) -> bool {
    block.info == "text" && !block.body.first().is_some_and(|line| line.starts_with("$ "))
}

/// The file that a block is: one that it names, or of a whole scenario `NAME.toml`; and a check of a whole scenario.
fn file(block: &Block<'_>, marks: &[&str]) -> Vec<Step> {
    let text = block.body.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    let value_of = |key: &str| {
        let line = block.body.iter().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
        Some(line.trim().trim_matches('"').to_owned())
    };
    let is_whole = value_of("schema_version").is_some();
    let named = marks.iter().find(|mark| mark.contains('.')).map(|name| (*name).to_owned());
    let Some(file) = named.or_else(|| Some(format!("{}.toml", value_of("name").filter(|_| is_whole)?))) else {
        return Vec::new();
    };
    let appends = marks.first() == Some(&">>");
    let mut steps = vec![Step::Write { file: file.clone(), text, appends }];
    if is_whole {
        let word = word_in(block.info).or(Some("HELD"));
        let check = Command { line: block.line, text: format!("chronoseal check {file}"), expected: None, word };
        steps.push(Step::Run { commands: vec![check], is_slow: false, varies: false });
    }
    steps
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut lines = text.lines().zip(1..);
    let mut is_next = false;
    while let Some((first, line)) = lines.next() {
        let fence = &first[..first.len() - first.trim_start_matches('`').len()];
        if fence.len() < 3 {
            is_next &= first.trim().is_empty();
            continue;
        }
        let info = first[fence.len()..].trim();
        let body = lines.by_ref().map(|(line, _)| line).take_while(|line| line.trim_end() != fence).collect();
        blocks.push(Block { line, info, body, is_next });
        is_next = true;
    }
    blocks
}

/// Commands after `$ `, each with the lines up to the next one as what it prints.
fn session(block: &Block<'_>) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut lines = block.body.iter().zip(block.line + 1..).peekable();
    while let Some((text, line)) = lines.next() {
        if let Some(first) = text.strip_prefix("$ ") {
            let mut text = first.to_owned();
            while text.ends_with('\\') {
                let Some((more, _)) = lines.next() else { break };
                text = format!("{text}\n{more}");
            }
            commands.push(Command { line, text, ..Command::default() });
        } else if let Some(last) = commands.last_mut() {
            let expected = last.expected.get_or_insert_default();
            expected.push_str(text);
            expected.push('\n');
        }
    }
    commands
}

/// The commands of a block without prompts; a word in the comment behind one is what it says.
fn script(block: &Block<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut next = 0;
    while let Some(first) = block.body.get(next) {
        let range = command_at(&block.body, next);
        next = range.end;
        if !first.trim().is_empty() && !first.trim_start().starts_with('#') {
            let text = block.body[range.clone()].join("\n");
            let word = text.split_once("  #").and_then(|(_, comment)| word_in(comment));
            commands.push(Command { line: block.line + 1 + range.start, text, expected: None, word });
        }
    }
    commands
}

/// The lines of the command that begins at `start`: what a backslash continues, and what a here-document holds.
fn command_at(lines: &[&str], start: usize) -> Range<usize> {
    let mut end = start + 1;
    while lines[end - 1].ends_with('\\') && end < lines.len() {
        end += 1;
    }
    if let Some((_, rest)) = lines[end - 1].split_once("<<") {
        let label = rest.split_whitespace().next().unwrap_or_default().trim_matches(['\'', '"']);
        while end < lines.len() && lines[end] != label {
            end += 1;
        }
        end = (end + 1).min(lines.len());
    }
    start..end
}

/// The first word of a verdict in a text.
fn word_in(text: &str) -> Option<&'static str> {
    WORDS.into_iter().filter_map(|word| Some((text.find(word)?, word))).min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: usize, text: &str, expected: Option<&str>, word: Option<&'static str>) -> Command {
        Command { line, text: text.into(), expected: expected.map(Into::into), word }
    }

    #[test]
    fn a_session_is_commands_and_what_they_print() {
        let page = "Text.\n\n```text\n$ one \\\n   more\na\nb\n$ two\n```\n";
        let commands = vec![command(4, "one \\\n   more", Some("a\nb\n"), None), command(8, "two", None, None)];
        assert_eq!(steps(page), [Step::Run { commands, is_slow: false, varies: false }]);
    }

    #[test]
    fn a_script_has_words_in_its_comments_and_its_output_in_the_block_behind_it() {
        let page = "```sh slow\n# first\nchronoseal check a.toml   # BROKEN, since it is\n\ncat <<'END'\nx\nEND\n```\n\n```text\nx\n```\n";
        let commands = vec![
            command(3, "chronoseal check a.toml   # BROKEN, since it is", None, Some("BROKEN")),
            command(5, "cat <<'END'\nx\nEND", Some("x"), None),
        ];
        assert_eq!(steps(page), [Step::Run { commands, is_slow: true, varies: false }]);
        let apart = page.replace("\n\n```text", "\nAnother thing:\n\n```text");
        let Step::Run { commands, .. } = &steps(&apart)[0] else { panic!() };
        assert_eq!(commands[1].expected, None, "a text that does not follow at once is no output");
    }

    #[test]
    fn a_block_that_is_not_run_says_why() {
        let reason = "it needs a bus".to_owned();
        assert_eq!(steps("```sh not-run: it needs a bus\nx\n```\n"), [Step::LeftOut { line: 1, reason }]);
    }

    #[test]
    fn a_whole_scenario_is_written_and_checked_and_parts_are_appended_where_they_say() {
        let whole = "schema_version = 2\nname = \"a\"\n";
        let check = |file: &str, word| {
            let commands = vec![command(1, &format!("chronoseal check {file}"), None, Some(word))];
            Step::Run { commands, is_slow: false, varies: false }
        };
        let write = |file: &str, text: &str, appends| Step::Write { file: file.into(), text: text.into(), appends };
        assert_eq!(steps(&format!("```toml\n{whole}```\n")), [write("a.toml", whole, false), check("a.toml", "HELD")]);
        let marked = steps(&format!("```toml b.toml NOT PROVEN\n{whole}```\n"));
        assert_eq!(marked, [write("b.toml", whole, false), check("b.toml", "NOT PROVEN")]);
        assert_eq!(steps("```toml >> a.toml\nx = 1\n```\n"), [write("a.toml", "x = 1\n", true)]);
        assert_eq!(steps("```toml\nx = 1\n```\n"), []);
    }

    #[test]
    fn what_builds_or_tests_the_project_or_runs_live_is_left_out() {
        let is_left_out = |text: &str| command(1, text, None, None).left_out().is_some();
        assert!(is_left_out("cargo build --release") && is_left_out("CASES=5 cargo test -p x"));
        assert!(is_left_out("chronoseal run a.toml --engine live"));
        assert!(!is_left_out("cargo run --release --bin chronoseal -- doctor") && !is_left_out("chronoseal doctor"));
    }
}
