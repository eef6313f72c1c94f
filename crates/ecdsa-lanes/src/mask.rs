//! Lanes that the processor has and nobody is to use.

use std::sync::OnceLock;

/// The variable of the environment: with any value but none, this processor counts as one without lanes. Read once, at the first
/// look; results are the same, and take longer.
pub const MASK_VARIABLE: &str = "CHRONOSEAL_NO_LANES";

pub(crate) fn is_masked() -> bool {
    static MASKED: OnceLock<bool> = OnceLock::new();
    *MASKED.get_or_init(|| std::env::var_os(MASK_VARIABLE).is_some_and(|value| !value.is_empty()))
}
