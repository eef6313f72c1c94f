//! What the crate promises, a module per behaviour.

mod real_samples;
