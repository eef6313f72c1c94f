//! Lossy links: what a run says of what the laws lose, of what a queue throws away, and of altered packets; and what a count says.

use serde_json::Value;

use super::support::Bench;

/// A long message one way and a short one the other, over a link with these laws.
fn scenario(laws: &str, period: &str, deadline: &str) -> String {
    format!(
        r#"schema_version = 2
name = "lossy"
duration = "2s"
[segments.air.link]
{laws}
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "{period}"
length = "9kB"
{deadline}
[[streams]]
name = "command"
from = "station"
to = ["robot"]
period = "10ms"
length = "64B"
{deadline}
"#
    )
}

fn run(text: &str, more: &[&str]) -> Value {
    let bench = Bench::new();
    bench.write("lossy.toml", text);
    let words = ["run", "lossy.toml", "--no-store", "--quiet", "--format", "json"];
    bench.say(&[&words[..], more].concat()).json()
}

/// What was thrown away of a stream for a reason.
fn discarded(run: &Value, stream: usize, reason: &str) -> u64 {
    run["summary"]["streams"][stream]["receivers"][0]["discarded"][reason].as_u64().unwrap_or(0)
}

#[test]
fn what_the_laws_lose_fails_a_deadline_and_what_a_queue_throws_away_fails_all() {
    const DEADLINE: &str = "deadline = \"150ms\"";
    let free = run(&scenario("profile = \"wifi\"", "25ms", ""), &[]);
    assert_eq!(free["word"], "held", "{}", free["verdict"]);
    assert!(discarded(&free, 0, "lost-on-link") > 0, "{}", free["verdict"]);
    let judged = run(&scenario("profile = \"wifi\"", "25ms", DEADLINE), &[]);
    assert_eq!(judged["word"], "failed", "{}", judged["verdict"]);
    let full = run(&scenario("profile = \"wifi\"\nqueue = \"5 frames\"", "25ms", ""), &[]);
    assert_eq!(full["word"], "failed", "{}", full["verdict"]);
    assert!(discarded(&full, 0, "queue-full") > 0, "{}", full["verdict"]);
}

#[test]
fn every_altered_message_is_found_and_accounted_for() {
    let altered = run(&scenario("corrupt = \"20%\"", "25ms", ""), &[]);
    assert_eq!(altered["word"], "held", "{}", altered["verdict"]);
    for (stream, least) in [(0, 40), (1, 20)] {
        let account = &altered["summary"]["streams"][stream]["receivers"][0];
        let mismatched = discarded(&altered, stream, "checksum-mismatch");
        let open = account["in_flight"].as_u64().unwrap();
        assert_eq!(
            account["due"].as_u64().unwrap(),
            account["in_time"].as_u64().unwrap() + mismatched + open,
            "{account}"
        );
        assert!(mismatched >= least, "{account}");
    }
}

#[test]
fn a_packet_that_comes_twice_is_a_copy_and_no_second_end() {
    let doubled = run(&scenario("duplicate = \"20%\"", "25ms", "deadline = \"5ms\""), &[]);
    assert_eq!(doubled["word"], "held", "{}", doubled["verdict"]);
    let account = &doubled["summary"]["streams"][1]["receivers"][0];
    assert_eq!((&account["due"], &account["in_time"]), (&200.into(), &200.into()), "{account}");
    assert!(account["copies"]["eliminated"].as_u64().unwrap() >= 20, "{account}");
}

#[test]
fn a_count_has_the_latencies_of_a_run_where_packets_overtake_each_other() {
    let text = scenario("profile = \"wifi\"", "25ms", "");
    let (whole, counted) = (run(&text, &[]), run(&text, &["--count"]));
    for stream in [0, 1] {
        let of_run = &whole["summary"]["streams"][stream]["end_to_end"]["all"];
        let of_count = &counted["flows"][stream];
        assert_eq!(of_run["n"], of_count["count"]);
        for (one, other) in [("mean_ns", "latency_mean_ns"), ("max_ns", "latency_max_ns")] {
            let (one, other) = (of_run[one].as_f64().unwrap(), of_count[other].as_f64().unwrap());
            assert!((one - other).abs() < 2.0, "{one} {other}");
        }
    }
}

#[test]
fn a_stream_over_tcp_has_no_bound_and_is_not_simulated_and_both_say_what_to_do() {
    let bench = Bench::new();
    let text = scenario("profile = \"wifi\"", "25ms", "deadline = \"150ms\"\nair = { transport = \"tcp\" }");
    bench.write("lossy.toml", &text);
    let check = bench.say(&["check", "lossy.toml"]);
    check.assert_code(3);
    assert!(check.out.contains("NOT PROVEN") && check.out.contains("TCP"), "{}", check.out);
    bench.say(&["run", "lossy.toml", "--no-store"]).assert_refused(&["`laser` goes over TCP", "--engine live"]);
    // A message has an end, whatever carries it.
    bench.write("image.toml", text.replace("9kB", "10001kB").replace("air = { transport = \"tcp\" }", ""));
    bench.say(&["check", "image.toml"]).assert_refused(&["10000000"]);
}

#[test]
fn a_stream_over_tls_or_quic_is_only_live_too() {
    let bench = Bench::new();
    for (over, title) in [("tls", "TLS"), ("quic", "QUIC")] {
        let stream = format!("deadline = \"150ms\"\nair = {{ transport = \"{over}\" }}");
        let text = scenario("profile = \"wifi\"", "25ms", &stream);
        bench.write("lossy.toml", &text);
        let check = bench.say(&["check", "lossy.toml"]);
        check.assert_code(3);
        assert!(
            check.out.contains("NOT PROVEN") && check.out.contains(&format!("over {title} what is lost")),
            "{}",
            check.out
        );
        let says = format!("`laser` goes over {title}, which is not simulated");
        bench.say(&["run", "lossy.toml", "--no-store"]).assert_refused(&[&says, "--engine live"]);
        bench.write("timeout.toml", text.replace("transport =", "reassembly_timeout = \"1s\", transport ="));
        bench.say(&["check", "timeout.toml"]).assert_refused(&[&format!("over `{over}` no message is given up")]);
        bench.write("long.toml", text.replace("9kB", "10001kB"));
        bench.say(&["check", "long.toml"]).assert_refused(&["10000000"]);
        bench.write("key.toml", text.replace("transport =", "program = \"x\", transport ="));
        bench.say(&["check", "key.toml"]).assert_refused(&["program"]);
        bench.write("short.toml", text.replace("profile =", "mtu = \"1227B\"\nprofile ="));
        let short = bench.say(&["check", "short.toml"]);
        match over {
            "quic" => short.assert_refused(&["whose packets need 1228B", "1227B"]),
            _ => short.assert_code(3),
        };
    }
}

#[test]
fn a_stream_over_a_middleware_is_only_live_and_each_reason_against_it_is_said() {
    let bench = Bench::new();
    let adapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware");
    let adapters = adapters.to_str().unwrap();
    let scenario = |over: &str| {
        let text = r#"schema_version = 2
name = "over"
duration = "1s"
[segments.air.link]
profile = "wifi"
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "25ms"
length = "9kB"
deadline = "150ms"
air = { over = "OVER" }
"#;
        bench.write("over.toml", text.replace("OVER", over));
    };
    scenario("raw-udp");
    let check = bench.say(&["check", "over.toml"]);
    check.assert_code(3);
    for said in ["NOT CHECKED", "`laser` over a middleware", "a middleware carries its messages", "raw-udp"] {
        assert!(check.out.contains(said), "{said}: {}", check.out);
    }
    bench.say(&["run", "over.toml", "--no-store"]).assert_refused(&[
        "`laser` goes over `raw-udp`",
        "chronoseal middleware profile raw-udp --out FILE",
        "--engine live",
    ]);
    bench
        .say(&["saturate", "over.toml", "--stream", "laser", "--engine", "live", "--to", "50"])
        .assert_refused(&["over a middleware", "chronoseal run"]);
    let live = |over: &str| {
        scenario(over);
        bench.say(&["run", "over.toml", "--no-store", "--engine", "live", "--adapters", adapters])
    };
    live("fast-dds").assert_refused(&["`fast-dds`, and there is no such configuration", "fast-dds-reliable-encrypted"]);
    live("iceoryx2").assert_refused(&["do not go over the network", "chronoseal middleware run iceoryx2"]);
    live("ros-1").assert_refused(&["needs a broker", "`broker = "]);
    bench.say(&["run", "over.toml", "--no-store", "--engine", "live"]).assert_refused(&["--adapters"]);
}

/// Messages of 8 kB and of 10 kB took `us` each, whatever their place among the others, and 10 and 12 kB on the wire.
fn measured(us: u64) -> String {
    let times = vec![format!("\"{us}us\""); 101].join(", ");
    let of = |length: &str, wire: &str| {
        format!(
            "[[configurations.lengths]]\nlength = \"{length}\"\nwire = \"{wire}\"\nmessages = 100\ntimes = [{times}]\n"
        )
    };
    let lengths = of("8kB", "10kB") + &of("10kB", "12kB");
    format!("[[configurations]]\nname = \"own\"\nsource = \"Own 1.2 on a host\"\n{lengths}")
}

#[test]
fn a_stream_over_a_middleware_that_was_measured_is_simulated_and_charged_for_it() {
    let bench = Bench::new();
    let laws = "rate = \"100Mbit/s\"\nmeasured = \"own.toml\"";
    let over = |laws: &str| {
        let text = scenario(laws, "25ms", "deadline = \"2ms\"");
        text.replacen("length = \"9kB\"\n", "length = \"9kB\"\nair = { over = \"own\" }\n", 1)
    };
    bench.write("over.toml", over(laws));
    let run = |us: u64| {
        bench.write("own.toml", measured(us));
        bench.say(&["run", "over.toml", "--no-store", "--quiet", "--format", "json"]).json()
    };
    let charged = run(500);
    assert_eq!(charged["word"], "held", "{charged:#}");
    let warned = charged["warnings"].to_string();
    assert!(warned.contains("charged what `own` took") && warned.contains("Own 1.2 on a host"), "{warned}");
    let stream = charged["summary"]["streams"].as_array().unwrap()[0].clone();
    let latency = &stream["end_to_end"]["all"];
    // 11 kB in 8 frames, with the 24 bytes between frames, at 100 Mbit/s are 895.36 us, and then 500 of the middleware.
    assert_eq!(latency["min_ns"], latency["max_ns"], "{stream:#}");
    assert_eq!(latency["max_ns"], 1_395_360, "{stream:#}");
    assert_eq!(run(1_500)["word"], "failed");
    // What sends again is not simulated, and a length that was not measured is not made up.
    bench.write("over.toml", over(&format!("{laws}\nloss = {{ independent = \"1%\" }}")));
    bench
        .say(&["run", "over.toml", "--no-store"])
        .assert_refused(&["`laser` goes over `own`", "give the link no losses"]);
    bench.write("over.toml", over(laws).replacen("9kB", "11kB", 1));
    bench.say(&["check", "over.toml"]).assert_refused(&[
        "11000B",
        "8000B to 10000B",
        "middleware profile own --length 11000B",
    ]);
    bench.write("over.toml", over(laws));
    for (broken, said) in [
        (measured(5).replacen("[\"5us\", ", "[", 1), "has 100 times of 8000B"),
        (measured(5).replacen("\"5us\"", "\"6us\"", 1), "do not rise"),
        (measured(5).replacen("8kB", "12kB", 1), "the shortest first"),
        (measured(5).replacen("messages", "count", 1), "count"),
        (measured(5) + &measured(5), "`own` twice"),
        (measured(5).replacen("Own 1.2", &"Own".repeat(100), 1), "write 300 at most"),
        ("configurations = 5".into(), "invalid type"),
    ] {
        bench.write("own.toml", broken);
        bench.say(&["check", "over.toml"]).assert_refused(&["own.toml: ", said, "`chronoseal middleware profile`"]);
    }
}

#[test]
fn a_program_is_run_only_live_and_only_if_it_may() {
    let bench = Bench::new();
    let program = "name = \"robot\"\nprogram = { run = [\"true\", \"{station}\"] }";
    let text = scenario("profile = \"wifi\"", "25ms", "").replace("name = \"robot\"", program);
    bench.write("lossy.toml", &text);
    bench.say(&["run", "lossy.toml", "--no-store"]).assert_refused(&["node `robot` runs a program", "--engine live"]);
    let live = ["run", "lossy.toml", "--no-store", "--engine", "live"];
    bench.say(&live).assert_refused(&["node robot runs a program: true 10.0.0.2", "--programs"]);
    // Elsewhere no kernel speaks for a node.
    let bus = text.replace("[segments.air.link]\nprofile = \"wifi\"", "[segments.air.can]\nbit_rate = \"500kbit/s\"");
    bench.write("bus.toml", bus);
    bench.say(&["check", "bus.toml"]).assert_refused(&["`program` is for nodes on segments that are lossy links"]);
}
