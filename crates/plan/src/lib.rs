//! What a scenario means: every name resolved, every default filled.

pub use chronoseal_scenario::plan::*;
