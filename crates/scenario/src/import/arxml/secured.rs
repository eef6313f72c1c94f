//! Secured-I-PDUs as protections.

use chronoseal_frameauth::{MacAlgorithm, SENT_BITS_MAX};
use chronoseal_recordings::arxml::Secured;

/// The widest counter of a freshness value here `[bit]`.
const COUNTER_BITS_MAX: u32 = 64;

/// How a scenario has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Protection {
    pub(super) name: String,
    /// Its key with its table, as TOML.
    pub(super) table: String,
    /// What the file says of it, and what was assumed.
    pub(super) comment: String,
    /// What it is not.
    pub(super) warning: Option<String>,
    /// What it adds `[byte]`.
    pub(super) len: usize,
}

/// The protection of a Secured-I-PDU, and how it is called if no other one has its name.
pub(super) fn protection(secured: &Secured) -> Protection {
    let Secured { authenticator_bits, freshness_bits, freshness_sent_bits, .. } = *secured;
    let len = (u64::from(authenticator_bits) + u64::from(freshness_sent_bits)).div_ceil(8) as usize;
    let name = format!("secoc-{authenticator_bits}-{freshness_sent_bits}-of-{freshness_bits}");
    let mut comment = format!(
        "SecOC: {authenticator_bits} bits of the authenticator and {freshness_sent_bits} of the {freshness_bits} of the freshness value are sent"
    );
    let (algorithm, is_assumed) = algorithm(secured.algorithm.as_deref());
    if is_assumed {
        let written = secured.algorithm.as_deref().unwrap_or("no algorithm").replace(char::is_control, " ");
        comment += &format!("; the file names {written}, so {} is assumed: write yours", algorithm.name());
    }
    let takes = u16::try_from(authenticator_bits).is_ok_and(|bits| {
        (algorithm.tag_bits_min()..=algorithm.tag_bits_max()).contains(&bits) && algorithm.takes_tag_bits(bits)
    });
    if !takes {
        let warning = format!(
            "authenticators of {authenticator_bits} bits are counted by their length and not made or checked: {} has tags of {} to {} bits here",
            algorithm.name(),
            algorithm.tag_bits_min(),
            algorithm.tag_bits_max()
        );
        let table = format!("size_only = {{ overhead = \"{len}B\" }}");
        return Protection { name, table, comment, warning: Some(warning), len };
    }
    let (freshness, warning) = freshness(freshness_bits, freshness_sent_bits);
    comment += "; keys are assumed to be there from the start";
    let named = match algorithm {
        MacAlgorithm::CmacAes128 => String::new(),
        other => format!("algorithm = \"{}\", ", other.name()),
    };
    let table = format!("secoc = {{ {named}authenticator = \"{authenticator_bits}bit\", freshness = {freshness} }}");
    Protection { name, table, comment, warning, len }
}

/// The algorithm of a name, and whether it is assumed.
fn algorithm(written: Option<&str>) -> (MacAlgorithm, bool) {
    let plain: String =
        written.unwrap_or("").to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let known = match plain.as_str() {
        name if name.contains("cmac") => Some(MacAlgorithm::CmacAes128),
        name if name.contains("gmac") && name.contains("256") => Some(MacAlgorithm::GmacAes256),
        name if name.contains("gmac") => Some(MacAlgorithm::GmacAes128),
        name if name.contains("sha3") => Some(MacAlgorithm::HmacSha3_256),
        name if name.contains("hmac") && name.contains("512") => Some(MacAlgorithm::HmacSha512),
        name if name.contains("hmac") => Some(MacAlgorithm::HmacSha256),
        _ => None,
    };
    (known.unwrap_or(MacAlgorithm::CmacAes128), known.is_none())
}

/// How freshness travels, as TOML; and what it is not. The file says nothing of trips and resets, so a counter of the sender is taken.
fn freshness(bits: u32, sent: u32) -> (String, Option<String>) {
    if bits == 0 {
        let warning = (sent > 0).then(|| {
            format!(
                "a freshness value of 0 bits of which {sent} are sent is none: what it protects counts as replayable"
            )
        });
        return ("\"none\"".into(), warning);
    }
    let (counter, most) = (bits.min(COUNTER_BITS_MAX), bits.min(u32::from(SENT_BITS_MAX)));
    let warning = if bits > COUNTER_BITS_MAX {
        Some(format!("freshness values of {bits} bits are kept as ones of {COUNTER_BITS_MAX}"))
    } else {
        (sent > most)
            .then(|| format!("of freshness values of {bits} bits {most} are sent here, and {sent} in the file"))
    };
    (format!("{{ rising = {{ counter = \"{counter}bit\", sent = \"{}bit\" }} }}", sent.min(most)), warning)
}
