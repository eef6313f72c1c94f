//! Frames in slots that are sealed and checked at a high price for each byte: what the schedule keeps for it is what it takes, so
//! that no slot is late.

use std::fmt::Write as _;

use chronoseal_core::random::{self, Purpose};

use super::switched::{below, one_of, plan_of};
use super::{from_environment, outcome};

/// So many scenarios are tried.
const SCENARIOS: u64 = 40;

/// One switch, and streams in slots with little room behind them.
fn scenario(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 11);
    let (stations, price) = (2 + below(rng, 3), one_of(rng, &[200, 1_000, 3_000]));
    let mut text = format!(
        "schema_version = 2\nname = \"sealed\"\nseed = {seed}\nduration = \"100ms\"\n\
         [segments.network.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nsync = \"ideal\"\nprecision = \"1us\"\n\
         guard_period = \"{}us\"\naccess = \"{}\"\n\
         [[platforms]]\nname = \"ecu\"\ncosts = [{{ operation = \"hmac-sha-256\", base = \"4us\", per_byte = \"{price}ns\" }}]\n",
        one_of(rng, &[3, 8, 20]),
        one_of(rng, &["shared-slots", "per-link"]),
    );
    for (number, freshness) in
        ["\"none\"", "\"full\"", "{ truncated = \"2B\" }", "\"cycle-counter\""].iter().enumerate()
    {
        let tag = one_of(rng, &[8, 16, 32]);
        let _ = writeln!(
            text,
            "[[protections]]\nname = \"p{number}\"\nhmac = {{ hash = \"sha-256\", tag = \"{tag}B\", freshness = {freshness} }}"
        );
    }
    for n in 0..stations {
        let _ = writeln!(text, "[[nodes]]\nname = \"n{n}\"\nplatform = \"ecu\"\nclock = \"ideal\"");
    }
    for n in 0..1 + below(rng, 4) {
        let from = below(rng, stations);
        let to = (from + 1 + below(rng, stations - 1)) % stations;
        let (length, protection) = (one_of(rng, &[46, 100, 333]), below(rng, 4));
        let _ = writeln!(
            text,
            "[[streams]]\nname = \"s{n}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"10ms\"\nlength = \"{length}B\"\n\
             protection = \"p{protection}\""
        );
    }
    text
}

/// `SEALED_SEED=17` tries that scenario alone, `SEALED_SCENARIOS=2000` more of them.
#[test]
fn no_slot_is_late_for_the_bytes_under_its_tag() {
    let wanted = from_environment("SEALED_SCENARIOS").unwrap_or(SCENARIOS);
    let only = from_environment("SEALED_SEED");
    let mut ends = 0;
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = scenario(seed);
        let Some(outcome) = outcome(&plan_of(&text)) else { continue };
        // A frame that is late for its slot is thrown away.
        let streams = text.matches("[[streams]]").count();
        assert_eq!(outcome.ratios.len(), streams, "seed {seed}: frames of a stream never come\n{text}");
        let found = (outcome.wrong, outcome.unbounded, outcome.lost);
        assert_eq!(found, (vec![], vec![], vec![]), "seed {seed}\n{text}");
        ends += outcome.ratios.len();
    }
    println!("{ends} ends");
    assert!(only.is_some() || ends as u64 > wanted, "{ends} ends");
}
