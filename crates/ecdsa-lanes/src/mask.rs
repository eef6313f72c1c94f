//! Lanes that the processor has and nobody is to use.

use std::sync::OnceLock;

/// The variable of the environment: with any value but none, this processor counts as one without lanes, and with the value `all`
/// as one that has nothing but what every processor has. Read once, at the first look; results are the same, and take longer.
pub const MASK_VARIABLE: &str = "CHRONOSEAL_NO_LANES";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    Nothing,
    Lanes,
    All,
}

fn mask() -> Mask {
    static MASK: OnceLock<Mask> = OnceLock::new();
    *MASK.get_or_init(|| match std::env::var_os(MASK_VARIABLE) {
        None => Mask::Nothing,
        Some(value) if value.is_empty() => Mask::Nothing,
        Some(value) if value == "all" => Mask::All,
        Some(_) => Mask::Lanes,
    })
}

pub(crate) fn is_masked() -> bool {
    mask() != Mask::Nothing
}

pub(crate) fn is_all_masked() -> bool {
    mask() == Mask::All
}
