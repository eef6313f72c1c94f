//! From a scenario file to a checked plan.
//!
//! This crate runs nothing, opens no file and reads no clock: it takes bytes, and what a scenario refers to comes
//! through [`Files`]. Three steps: [`parse`] gives a [`Spec`], what was written; [`resolve()`] gives a
//! [`Plan`](chronoseal_plan::Plan), every name resolved and every default filled; [`load()`] does both, with overrides in between,
//! and a [`Scenario`] keeps the texts beside the plan, so that another process can make the same. Whatever is wrong comes back as
//! [`Problems`]: all of them at once, each pointing at the text and saying what to write. What only one kind of segment has is in
//! [`kinds`]; each of these functions has a form `…_with` that takes other kinds. [`upgrade()`] rewrites a scenario of version 1 of
//! the format.
//!
//! ```
//! use chronoseal_scenario::{NoFiles, load};
//!
//! let text = r#"
//! schema_version = 2
//! name = "two-stations"
//! duration = "100ms"
//! [segments.network.ethernet]
//! rate = "100Mbit/s"
//! cluster_cycle = "10ms"
//! [[nodes]]
//! name = "a"
//! [[nodes]]
//! name = "b"
//! [[streams]]
//! name = "speed"
//! from = "a"
//! to = ["b"]
//! period = "10ms"
//! length = "46B"
//! "#;
//! let plan = load("two-stations.toml", text.as_bytes(), &[], &NoFiles)?;
//! assert_eq!(plan.streams[0].hops[0].frame_len, 60);
//!
//! let problems = load("two-stations.toml", text.replace("10ms", "10").as_bytes(), &[], &NoFiles).unwrap_err();
//! assert_eq!(problems.list()[0].code.text(), "scenario::missing-unit");
//! # Ok::<(), chronoseal_scenario::Problems>(())
//! ```

pub mod import;
pub mod kinds;
pub mod limits;
pub mod spec;

mod inputs;
mod load;
mod mend;
mod near;
mod overrides;
mod problem;
mod protected;
mod quantity;
mod recording;
mod resolve;
mod scenario;
mod schema;
mod shape;
mod source;
mod upgrade;

pub use kinds::ethernet::gated::{PortGates, with_gates, without_stream};
pub use kinds::{KINDS, SegmentKind};
pub use load::{FileError, Files, NoFiles, load, load_with, parse, parse_with, parse_with_overrides};
pub use problem::{Code, Problem, Problems};
pub use quantity::{Bits, Frames, Measured, Quantity};
pub use resolve::{resolve, resolve_with};
pub use scenario::{Scenario, Texts};
pub use schema::{schema, schema_with};
pub use spec::Spec;
pub use upgrade::{Upgraded, upgrade};
