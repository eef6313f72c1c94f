//! Messages over lossy links that lose nothing: none is later than its bound, in packets that overtake each other or do not.

use std::fmt::Write as _;

use chronoseal_core::random::{self, Purpose};

use super::switched::{below, one_of, plan_of};
use super::{from_environment, outcome};

/// So many scenarios are tried.
const SCENARIOS: u64 = 24;

/// Two to four stations, and messages of one to many packets among them.
fn scenario(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 12);
    let stations = 2 + below(rng, 3);
    let mut text = format!(
        "schema_version = 2\nname = \"links\"\nseed = {seed}\nduration = \"300ms\"\n[segments.air.link]\nrate = \"{}Mbit/s\"\n\
         queue = \"2000 frames\"\norder = \"{}\"\nmtu = \"{}B\"\ndelay = {}\n",
        one_of(rng, &[10, 54, 100]),
        one_of(rng, &["as-delayed", "strict"]),
        one_of(rng, &[576, 1500]),
        one_of(rng, &["{ constant = \"2ms\" }", "{ uniform = { min = \"100us\", max = \"5ms\" } }"]),
    );
    for n in 0..stations {
        let clock = one_of(rng, &["\"ideal\"", "{ seeded = { drift_max = \"100ppm\" } }"]);
        let _ = writeln!(text, "[[nodes]]\nname = \"n{n}\"\nclock = {clock}");
    }
    for n in 0..1 + below(rng, 5) {
        let from = below(rng, stations);
        let to = (from + 1 + below(rng, stations - 1)) % stations;
        let (length, period) = (one_of(rng, &[64, 1400, 9_000]), one_of(rng, &[7, 10, 23]));
        let _ = writeln!(
            text,
            "[[streams]]\nname = \"s{n}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"{period}ms\"\nlength = \"{length}B\""
        );
    }
    text
}

/// `LINKS_SEED=17` tries that scenario alone, `LINKS_SCENARIOS=2000` more of them.
#[test]
fn no_message_over_a_link_is_later_than_its_bound() {
    let wanted = from_environment("LINKS_SCENARIOS").unwrap_or(SCENARIOS);
    let only = from_environment("LINKS_SEED");
    let (mut ends, mut unbounded, mut tightest) = (0, 0, f64::INFINITY);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = scenario(seed);
        let Some(outcome) = outcome(&plan_of(&text)) else { continue };
        assert_eq!((outcome.wrong, outcome.lost), (vec![], vec![]), "seed {seed}\n{text}");
        ends += outcome.ratios.len();
        unbounded += outcome.unbounded.len();
        tightest = outcome.ratios.iter().copied().fold(tightest, f64::min);
    }
    println!("{ends} ends, {unbounded} without a bound, {tightest} times what came at most");
    assert!(only.is_some() || ends as u64 > wanted && tightest < 1.2, "{ends} ends, {tightest}");
}
