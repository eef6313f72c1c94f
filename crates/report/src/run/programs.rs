//! What became of the programs of others that nodes ran.

use chronoseal_results::{ProgramMeta, RunMeta};

use crate::document::{Block, Cell, Evidence, Mark, Section, Table};

/// Lines of what a program printed that are shown; the manifest has the rest.
const LINES_MAX: usize = 16;

pub(super) fn section(meta: &RunMeta) -> Section {
    let mut section = Section::new("Programs");
    if meta.programs.is_empty() {
        return section;
    }
    let mut table = Table::new("What nodes ran")
        .words("node")
        .words("program")
        .numbers("ended at", "s")
        .words("how")
        .numbers("processor time", "s")
        .numbers("memory", "MB");
    for program in &meta.programs {
        let how = Cell::text(&program.how);
        table.push(vec![
            Cell::text(meta.node_name(program.node)),
            Cell::text(program.command.join(" ")),
            program.ended_ns.map_or_else(|| Cell::text("with the run"), |ns| Cell::number(ns as f64 / 1e9, 3)),
            if program.is_well { how } else { how.marked(Mark::Bad) },
            program.processor_ns.map_or_else(
                || Cell::na("a process of it ended of which nobody knows"),
                |ns| Cell::number(ns as f64 / 1e9, 3).from(Evidence::Measured),
            ),
            program.memory.map_or_else(
                || Cell::na("it ended before the run did"),
                |bytes| Cell::number(bytes as f64 / 1e6, 1).from(Evidence::Measured),
            ),
        ]);
    }
    section = section.with(Block::Table(table)).with(Block::Text(
        "What a program says of itself is its own: nothing of it is checked here. What the link did with its packets stands with the \
         segment."
            .into(),
    ));
    for program in &meta.programs {
        section = section.with(Block::Table(printed(meta, program)));
    }
    section
}

fn printed(meta: &RunMeta, program: &ProgramMeta) -> Table {
    let printed = plain(&program.printed);
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LINES_MAX);
    let mut table = Table::new(format!("What the program of {} printed", meta.node_name(program.node))).words("line");
    for line in &lines[first..] {
        table.push(vec![Cell::text(*line)]);
    }
    match first {
        _ if lines.is_empty() => table.footnotes.push("It printed nothing.".into()),
        0 => {}
        before => table.footnotes.push(format!("{before} lines before these are in the manifest.")),
    }
    table
}

/// A text without what would colour, move or clear on a terminal (ECMA-48).
fn plain(printed: &str) -> String {
    let mut text = String::new();
    let mut chars = printed.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.as_str().starts_with('[') => {
                chars.next();
                let _ = chars.by_ref().find(|c| ('@'..='~').contains(c));
            }
            '\n' => text.push('\n'),
            '\t' => text.push(' '),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    text
}

/// The programs that failed, in words.
pub(super) fn failed(meta: &RunMeta) -> Vec<String> {
    let failed = meta.programs.iter().filter(|program| !program.is_well);
    failed.map(|program| format!("the program of {} failed ({})", meta.node_name(program.node), program.how)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_cannot_move_or_colour_a_terminal() {
        assert_eq!(plain("\u{1b}[2;35mfast\u{1b}[0m\r\nnext\tone\u{7}"), "fast\nnext one");
        assert_eq!(plain("cut off \u{1b}[2"), "cut off ");
    }
}
