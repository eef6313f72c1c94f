//! A document as one HTML page that works offline: style and script inside, charts as SVG that read without script.

mod chart;
mod divided;
mod ranges;
pub(crate) mod scale;
mod table;
mod timeline;
mod topology;

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::document::{Block, Document, Evidence, Section};

const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

/// The page. It names no address outside itself.
pub fn html(document: &Document) -> String {
    let mut out = String::with_capacity(128 * 1024);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>",
        escape(&document.title)
    );
    head(&mut out, document);
    out.push_str("<main>");
    verdict(&mut out, document);
    for section in &document.sections {
        one_section(&mut out, section);
    }
    environment(&mut out, document);
    let _ = write!(out, "</main>\n<script>\n{SCRIPT}</script></body></html>\n");
    out
}

/// `text` with everything HTML gives a meaning to made harmless, inside elements and quoted attributes alike.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no place in a page.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn head(out: &mut String, document: &Document) {
    let _ = write!(
        out,
        "<header><p class=\"brand\">chronoseal<button type=\"button\" id=\"theme\" hidden>light / dark</button></p>\
         <h1>{}</h1><p class=\"subtitle\">{}</p></header>",
        escape(&document.title),
        escape(&document.subtitle)
    );
    out.push_str("<nav aria-label=\"sections\"><div>");
    for section in &document.sections {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", escape(&section.id), escape(&section.title));
    }
    out.push_str("<a href=\"#environment\">Environment</a></div></nav>");
}

fn verdict(out: &mut String, document: &Document) {
    let verdict = &document.verdict;
    let tone = verdict.word.tone();
    let _ = write!(
        out,
        "<section class=\"verdict {}\" id=\"verdict\"><div class=\"sign\" aria-hidden=\"true\">{}</div><div>\
         <h2>{}</h2><p class=\"answer\">{}</p>",
        tone.class(),
        tone.sign(),
        verdict.word.name(),
        escape(&verdict.text)
    );
    list(out, &verdict.points);
    out.push_str("</div></section>");
    let used: BTreeSet<Evidence> = blocks(document).flat_map(evidence).collect();
    if !used.is_empty() {
        out.push_str("<ul class=\"evidence\" aria-label=\"where numbers come from\">");
        for kind in Evidence::LETTERED.into_iter().filter(|kind| used.contains(kind)) {
            let what = match kind {
                Evidence::Plain => "",
                Evidence::Printed => "printed in the publication",
                Evidence::Recomputed => "recomputed from the publication",
                Evidence::Bounded => "bounded by analysis",
                Evidence::Simulated => "simulated in virtual time",
                Evidence::Measured => "measured on this host",
                Evidence::Derived => "computed by a formula from what was measured",
            };
            let _ = write!(out, "<li class=\"ev {}\"><sup>{}</sup>{what}</li>", kind.name(), kind.letter());
        }
        out.push_str("</ul>");
    }
}

fn blocks(document: &Document) -> impl Iterator<Item = &Block> {
    document.sections.iter().flat_map(|section| &section.blocks)
}

fn evidence(block: &Block) -> Vec<Evidence> {
    match block {
        Block::Table(table) => table.evidence(),
        Block::Ranges(ranges) => ranges.evidence().into_iter().collect(),
        Block::Divided(_) => vec![Evidence::Simulated],
        Block::Topology(topology) => topology.evidence.into_iter().collect(),
        Block::Text(_) | Block::Chart(_) | Block::Timeline(_) | Block::Notes(_) => Vec::new(),
    }
}

fn one_section(out: &mut String, section: &Section) {
    let _ = write!(out, "\n<section id=\"{}\"><h2>{}</h2>", escape(&section.id), escape(&section.title));
    for block in &section.blocks {
        match block {
            Block::Text(text) => {
                let _ = write!(out, "<p>{}</p>", escape(text));
            }
            Block::Notes(notes) => list(out, notes),
            Block::Table(table) => table::one_table(out, table),
            Block::Chart(chart) => chart::chart(out, chart),
            Block::Timeline(timeline) => timeline::timeline(out, timeline),
            Block::Ranges(ranges) => ranges::ranges(out, ranges),
            Block::Divided(divided) => divided::divided(out, divided),
            Block::Topology(topology) => topology::topology(out, topology),
        }
    }
    out.push_str("</section>");
}

fn list(out: &mut String, items: &[String]) {
    if items.is_empty() {
        return;
    }
    out.push_str("<ul class=\"notes\">");
    for item in items {
        let _ = write!(out, "<li>{}</li>", escape(item));
    }
    out.push_str("</ul>");
}

fn environment(out: &mut String, document: &Document) {
    out.push_str("\n<section id=\"environment\"><h2>Environment</h2><dl>");
    for (name, value) in &document.environment {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    out.push_str("</dl></section>");
}
