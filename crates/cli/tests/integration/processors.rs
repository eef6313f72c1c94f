//! What a protection costs on a processor is part of the latency, of the bound and of what a deadline is held against.

use crate::integration::support::Bench;

/// A stream with a deadline of 1 ms from `a` to `b`, and a processor that takes 2 ms for each tag.
fn slow(kind: &str, node: &str) -> String {
    let (segment, hop) = match kind {
        "can" => (
            "[segments.net.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n",
            "net = { id = \"0x120\", format = \"fd\" }\n",
        ),
        _ => (
            "[segments.net.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nclass = { best_effort = { priority = 5 } }\n",
            "",
        ),
    };
    let platform = |name: &str| if name == node { "platform = \"slow\"\n" } else { "" };
    format!(
        r#"
schema_version = 2
name = "slow"
duration = "1s"
{segment}
[[platforms]]
name = "slow"
costs = [{{ operation = "cmac-aes-128", base = "2ms", per_byte = "0us" }}]
[[protections]]
name = "cmac-8"
mac = {{ algorithm = "cmac-aes-128", tag = "8B", freshness = {{ rising = {{ sent = "1B" }} }} }}
[[nodes]]
name = "a"
{}
[[nodes]]
name = "b"
{}
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
deadline = "1ms"
length = "8B"
protection = "cmac-8"
{hop}"#,
        platform("a"),
        platform("b")
    )
}

#[test]
fn a_tag_that_takes_longer_than_the_deadline_fails_it_on_paper_and_in_the_simulator() {
    for kind in ["can", "ethernet"] {
        for node in ["a", "b", "neither"] {
            let bench = Bench::new();
            bench.write("slow.toml", slow(kind, node));
            let checked = bench.json(&["check", "slow.toml"]);
            let run = bench.json(&["run", "slow.toml", "--no-store", "--quiet"]);
            let (word, held) = if node == "neither" { ("held", "held") } else { ("broken", "failed") };
            assert_eq!((&checked["word"], &run["word"]), (&word.into(), &held.into()), "{kind}, {node} is slow: {run}");
            let latency = &run["summary"]["streams"][0]["end_to_end"]["all"];
            let [min, max] = ["min_ns", "max_ns"].map(|key| latency[key].as_i64().unwrap());
            let bound = checked["judged"][0]["bound_ns"].as_f64().unwrap();
            assert!(max as f64 <= bound, "{kind}, {node} is slow: {max} ns, bounded by {bound} ns");
            assert_eq!(min > 2_000_000, node != "neither", "{kind}, {node} is slow: {min} ns");
        }
    }
}

#[test]
fn a_deadline_of_all_that_a_frame_takes_on_its_wires_is_not_refused() {
    let scenario = |deadline: &str| {
        let text = slow("ethernet", "neither").replace("deadline = \"1ms\"", &format!("deadline = \"{deadline}\""));
        text.replace("class = {", "sync = \"ideal\"\nclass = {")
    };
    let bench = Bench::new();
    bench.write("least.toml", scenario("12us"));
    let refused = bench.say(&["check", "least.toml"]).assert_code(2).err.clone();
    let least = refused.split("takes at least ").nth(1).and_then(|rest| rest.split(' ').next()).expect("it says so");
    bench.write("least.toml", scenario(least));
    assert_eq!(bench.json(&["check", "least.toml"])["word"], "held", "{least}");
    assert_eq!(bench.json(&["run", "least.toml", "--no-store", "--quiet"])["word"], "held", "{least}");
}
