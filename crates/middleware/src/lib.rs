//! Robot middleware of others on lossy links: which there is, and how a publisher and a subscriber of it do.
//!
//! A middleware is a folder with an [`Adapter`]: a program that carries streams of a scenario and writes down what it sent and got. What is
//! here reads those folders, builds the programs, makes keys, and writes the scenario of a [`Pair`], which is run as any other. It
//! contains no measurement of its own.
//!
//! What matters: [`adapters`], [`Cache::built`], [`Pair::ask`] and what it gives, [`Measured`].

mod adapter;
mod attack;
mod attacked;
mod audit;
mod cell;
mod cost;
mod error;
mod host;
mod install;
mod kept;
mod law;
mod over;
mod pair;
mod profile;
mod recording;
mod shares;
mod table;

pub use self::adapter::{Adapter, Configuration, Wire, adapters};
pub use self::attack::{Attack, LATE_UNDER_ATTACK, attacks};
pub use self::attacked::{Trial, attack_matrix, attacked, harmed};
pub use self::audit::{Audit, Finding, audit};
pub use self::cell::{AskError, Measured, Spread, Taken, WARM_UP_PERCENT};
pub use self::cost::{REPETITIONS_MIN, Repetitions, costs, plain_of};
pub use self::error::MiddlewareError;
pub use self::host::{Host, Question};
pub use self::install::{Cache, Keys};
pub use self::kept::{CellName, Kept, Terms};
pub use self::law::{AloneError, alone, beside};
pub use self::over::{OverError, OverProblem, Started, is_over};
pub use self::pair::{Data, NETWORKS, Network, Packets, Pair};
pub use self::profile::Profile;
pub use self::recording::Recording;
pub use self::shares::shares;
pub use self::table::{Answer, Row, document, loss_cell, range_row, rates, taken};
