//! Documents, tables, charts and comparisons made from results.
//!
//! This crate does no I/O and runs nothing: it returns text. The type that matters is [`Document`]; [`html()`],
//! [`terminal()`], [`json`] and [`csv`] show the same one. [`run_report`] makes the document of one run,
//! [`pair_report`] draws a second run of the same scenario beside it, [`compare()`] judges two sets of runs.
//!
//! ```
//! use chronoseal_report::{Document, Verdict, Word, html, terminal};
//! let document = Document {
//!     title: "Sample".into(),
//!     subtitle: String::new(),
//!     verdict: Verdict { word: Word::Held, text: "Every deadline held.".into(), points: vec![] },
//!     sections: vec![],
//!     environment: vec![],
//! };
//! assert!(html(&document).contains("Every deadline held."));
//! assert!(terminal(&document, Default::default()).contains("HELD"));
//! ```

pub mod compare;
mod counted;
pub mod data;
pub mod document;
mod html;
mod inputs;
pub mod run;
pub mod statistics;
pub mod terminal;
mod word;

pub use compare::{Change, CompareReport, compare, compare_document};
pub use counted::counted;
pub use data::{csv, json};
pub use document::{
    Align, Axis, Bar, BarKind, Block, Cell, Chart, Column, Divided, DividedRow, Document, Evidence, Lane, Mark, Piece,
    RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Section, Series, SeriesKind, Table, Timeline, Topology,
    TopologyLink, TopologyNode, Tukey, Verdict,
};
pub use html::html;
pub use inputs::scenarios_of;
pub use run::{RunView, pair_report, run_report};
pub use terminal::{TerminalStyle, terminal};
pub use word::{Status, Word};
