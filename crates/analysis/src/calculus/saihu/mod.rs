//! Networks and results in the JSON files of Saihu, which runs xTFA, DiscoDNC and Panco on one description of a network.
//!
//! Source: Tsai, Tabatabaee, Plassart, Le Boudec, "Saihu: A Common Interface of Worst-Case Delay Analysis Tools for
//! Time-Sensitive Networks" (arXiv 2303.14565), and the description of its files in the manual of
//! `adfeel220/Saihu-TSN-Analysis-Tool-Integration` (MIT): the *output-port network* and the data it exports.
//!
//! Times here are in seconds and data in bits, whatever units a file is written in. Numbers are taken as the decimals
//! that stand there, so nothing is rounded.

mod check;
mod network;
mod results;
mod units;
mod write;

pub use network::{SaihuEnd, SaihuNetwork, read_network};
pub use results::{OtherBounds, read_results};
pub use write::{WriteError, write_network};
