//! MACsec for networks of any kind: on every other one, some of whose links may be without it.

use chronoseal_core::random::{self, Purpose};

use super::switched::{below, one_of};

/// What it is on a segment, with times for a byte that links at 1 Gbit/s allow.
const MACSEC: [&str; 4] = [
    "macsec = {}",
    "macsec = { include_sci = false, protect = { base = \"2us\" } }",
    "macsec = { cipher_suite = \"gcm-aes-256\", protect = { base = \"1500ns\", per_byte = \"200ps\" }, check = { base = \"40ns\", per_byte = \"100ps\" } }",
    "macsec = { include_sci = false, check = { per_byte = \"300ps\" } }",
];

/// The scenario of a network with an Ethernet segment, every other one with MACsec there.
pub(super) fn secured(text: String, seed: u64) -> String {
    // Of its own, so that nothing else of the network depends on it.
    let rng = &mut random::stream(seed, Purpose::Medium, 23);
    if below(rng, 2) == 0 {
        return text;
    }
    let macsec = one_of(rng, &MACSEC);
    let is_mixed = below(rng, 2) == 0;
    let line = |line: &str| {
        if is_mixed && line.trim_start().starts_with("{ between = [") && below(rng, 3) == 0 {
            return line.replacen("] }", "], macsec = false }", 1).replacen("], rate", "], macsec = false, rate", 1);
        }
        line.to_owned()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    let text = lines.join("\n") + "\n";
    text.replacen("\nrate = ", &format!("\n{macsec}\nrate = "), 1)
}
