//! What the crate promises, a module per behaviour.

mod pki_messages;
mod real_samples;
