//! Losses that a scenario allows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::ATTEMPTS_MAX;

/// Losses that do not fail a run. Its verdict names them, each with how many of them there were.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowanceSpec {
    /// Of which stream; `"name.0"` if it has a `count`.
    pub stream: String,
    /// Why its frames do not arrive in time: `late`, `missing`, `not-sent`, `replaced` by frames of an attack, `unaccounted`, or
    /// the reason for which they are thrown away, such as `queue-full`.
    pub reason: String,
    /// So many at most over the whole run, one for each receiver of a frame.
    #[schemars(range(min = 1, max = ATTEMPTS_MAX))]
    pub frames: u32,
}
