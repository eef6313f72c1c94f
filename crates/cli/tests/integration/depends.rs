//! A stream's word depends on what the stream depends on, and on nothing else; and what is computed has a price.

use serde_json::Value;

use crate::integration::support::{Bench, project};

/// A network of virtual links: nobody on it needs a clock.
const AFDX: &str = r#"schema_version = 2
name = "afdx"
duration = "1s"
[segments.afdx.ethernet]
rate = "100Mbit/s"
forwarding_delay = "16us"
class = { rate_constrained = {} }
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[nodes]]
name = "c"
[[streams]]
name = "v1"
from = "a"
to = ["b"]
period = "128ms"
length = "1400B"
deadline = "10ms"
[[streams]]
name = "v2"
from = "c"
to = ["b"]
period = "32ms"
length = "1400B"
deadline = "10ms"
"#;

/// The scenarios of a page of the guide: its blocks that are whole.
fn of_page(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project(page)).unwrap();
    // Behind the name of the language stands the word that `check` says.
    let blocks = text.split("```toml").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split("```").next());
    blocks.filter(|block| block.starts_with("schema_version")).map(str::to_owned).collect()
}

/// By stream and receiver: word and bound.
fn ends(checked: &Value) -> Vec<(String, String, Value)> {
    let ends = checked["judged"].as_array().unwrap().iter();
    let mut ends: Vec<_> = ends
        .map(|end| {
            let name = format!("{} {}", end["stream"].as_str().unwrap(), end["receiver"].as_str().unwrap());
            (name, end["word"].as_str().unwrap().to_owned(), end["bound_ns"].clone())
        })
        .collect();
    ends.sort_by(|one, other| one.0.cmp(&other.0));
    ends
}

fn word_of(checked: &Value, stream: &str) -> String {
    let all = ends(checked);
    all.iter().find(|(name, ..)| name.starts_with(stream)).map(|(_, word, _)| word.clone()).unwrap()
}

#[test]
fn virtual_links_hold_without_a_clock() {
    let bench = Bench::new();
    bench.write("afdx.toml", AFDX);
    bench.write("cycle.toml", AFDX.replace("forwarding_delay", "cluster_cycle = \"128ms\"\nforwarding_delay"));
    let avionics = &of_page("docs/guide/virtual-links.md")[0];
    let cockpit = &of_page("docs/guide/redundancy.md")[0];
    // Nobody attacks, and no link fails.
    bench.write("avionics.toml", avionics.split("[[threats]]").next().unwrap());
    let failures = cockpit.lines().find(|line| line.starts_with("failures = ")).unwrap();
    bench.write("cockpit.toml", cockpit.replace(failures, ""));
    for file in ["afdx.toml", "cycle.toml", "avionics.toml", "cockpit.toml"] {
        let checked = bench.json(&["check", file]);
        assert_eq!(checked["word"], "held", "{file}: {}", checked["verdict"]);
        bench.say(&["run", file, "--no-store"]).assert_code(0);
    }
    // As they are written, an attack and a link that fails concern the streams that they are about.
    bench.write("attacked.toml", avionics);
    bench.write("failing.toml", cockpit);
    for (file, word) in [("attacked.toml", "not-checked"), ("failing.toml", "held")] {
        assert_eq!(word_of(&bench.json(&["check", file]), "altitude"), word, "{file}");
    }
}

#[test]
fn what_has_slots_or_tasks_needs_a_cycle() {
    let bench = Bench::new();
    let in_slots = AFDX.replace("class = { rate_constrained = {} }", "class = \"time-triggered\"");
    bench.write("slots.toml", in_slots);
    bench.write(
        "tasks.toml",
        AFDX.replacen(
            "name = \"a\"\n",
            "name = \"a\"\ntasks = [{ name = \"t\", period = \"10ms\", wcet = \"1ms\" }]\n",
            1,
        ),
    );
    bench.write("beacon.toml", AFDX.replace("forwarding_delay", "sync = \"beacon\"\nforwarding_delay"));
    for (file, why) in
        [("slots.toml", "stream `v1` has slots"), ("tasks.toml", "node `a` has tasks"), ("beacon.toml", "beacons")]
    {
        bench.say(&["check", file]).assert_refused(&["has no `cluster_cycle`", why, "write `cluster_cycle = "]);
    }
}

/// One stream in slots, one beside it that is not, and a clock that leaves the precision between two beacons.
const BESIDE: &str = r#"schema_version = 2
name = "beside"
duration = "1s"
[segments.n.ethernet]
rate = "100Mbit/s"
cluster_cycle = "20ms"
class = { best_effort = {} }
[[nodes]]
name = "a"
clock = { fixed = { offset = "0s", drift = "900ppm" } }
[[nodes]]
name = "b"
clock = "ideal"
[[nodes]]
name = "c"
clock = "ideal"
[[nodes]]
name = "d"
clock = "ideal"
[[streams]]
name = "slotted"
from = "a"
to = ["b"]
period = "10ms"
length = "100B"
n = { class = "time-triggered" }
[[streams]]
name = "beside"
from = "a"
to = ["d"]
period = "10ms"
length = "100B"
deadline = "5ms"
[[streams]]
name = "apart"
from = "c"
to = ["d"]
period = "10ms"
length = "100B"
deadline = "5ms"
"#;

#[test]
fn a_lost_clock_breaks_the_streams_that_go_by_it() {
    let bench = Bench::new();
    bench.write("beside.toml", BESIDE);
    let checked = bench.json(&["check", "beside.toml"]);
    let words = ["slotted", "beside", "apart"].map(|stream| word_of(&checked, stream));
    assert_eq!(
        words,
        ["broken", "not-proven", "held"],
        "the port of `a` sends frames in slots: {}",
        checked["verdict"]
    );
    // Nobody has slots: no clock is kept, and none can be lost.
    bench.write("none.toml", BESIDE.replace("n = { class = \"time-triggered\" }\n", "deadline = \"5ms\"\n"));
    let checked = bench.json(&["check", "none.toml"]);
    assert_eq!(checked["word"], "held", "{}", checked["verdict"]);
}

/// Two classes behind one port, one above the other by table 8-5 of IEEE 802.1Q.
const FLIP: &str = r#"schema_version = 2
name = "flip"
duration = "4ms"
[segments.n.ethernet]
rate = "100Mbit/s"
links = [{ between = ["a", "switch"] }, { between = ["c", "switch"] }, { between = ["b", "switch"] }]
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[nodes]]
name = "c"
[[streams]]
name = "p0"
from = "a"
to = ["b"]
period = "4ms"
offset = "100us"
length = "500B"
deadline = "4ms"
n = { class = { vlan = { pcp = 0 } } }
[[streams]]
name = "p1"
from = "c"
to = ["b"]
period = "4ms"
offset = "100us"
length = "1500B"
deadline = "4ms"
n = { class = { vlan = { pcp = 1 } } }
"#;

/// A stream of a scenario as it is written.
fn streams_turned(text: &str) -> String {
    let mut parts: Vec<&str> = text.split("[[streams]]").collect();
    parts[1..].reverse();
    parts.join("[[streams]]")
}

#[test]
fn an_empty_table_an_unused_port_and_the_order_of_the_file_change_nothing() {
    let bench = Bench::new();
    let unused = "{ between = [\"d\", \"switch\"], ports = { switch = { traffic_classes = 2, classes = [{ class = 1, preemptable = true }], \
                  gates = { cycle = \"1ms\", entries = [{ open = [0], lasts = \"1ms\" }] } } } }";
    let variants = [
        ("plain", FLIP.to_owned()),
        ("empty", FLIP.replace("links = [", "bridge_ports = {}\nlinks = [")),
        ("stations", FLIP.replace("links = [", "station_ports = {}\nlinks = [")),
        ("own", FLIP.replace("[\"a\", \"switch\"] }", "[\"a\", \"switch\"], ports = { a = {}, switch = {} } }")),
        (
            "unused",
            FLIP.replace("links = [", &format!("links = [{unused}, ")).replacen(
                "[[nodes]]",
                "[[nodes]]\nname = \"d\"\n[[nodes]]",
                1,
            ),
        ),
        ("turned", streams_turned(FLIP)),
    ];
    let mut all = Vec::new();
    for (name, text) in &variants {
        bench.write(&format!("{name}.toml"), text);
        let checked = bench.json(&["check", &format!("{name}.toml")]);
        all.push((name, checked["word"].clone(), ends(&checked)));
    }
    for (name, word, ends) in &all[1..] {
        assert_eq!((word, ends), (&all[0].1, &all[0].2), "{name}");
    }
    // Background traffic, priority 1, goes below best effort, priority 0: the long frame in the way of `p0` is one that had begun.
    let bound = |place: usize| all[0].2[place].2.as_f64().unwrap();
    assert!(bound(0) < bound(1), "{:?}", all[0].2);
    let run = bench.json(&["run", "empty.toml", "--no-store"]);
    assert_eq!(run["word"], "held", "{run}");
}

#[test]
fn a_class_that_nothing_bounds_takes_no_other_along() {
    let bench = Bench::new();
    bench.write("classes.toml", &of_page("docs/guide/traffic-classes.md")[0]);
    let checked = bench.json(&["check", "classes.toml"]);
    assert_eq!(word_of(&checked, "brake"), "held", "{}", checked["verdict"]);
    assert_eq!(word_of(&checked, "picture"), "not-proven");
    // Unless the file says that they share a queue.
    let shared = of_page("docs/guide/traffic-classes.md")[0]
        .replace("class = { vlan = { pcp = 1 } }", "shared_queues = true\nclass = { vlan = { pcp = 1 } }");
    bench.write("shared.toml", shared);
    let checked = bench.json(&["check", "shared.toml"]);
    assert_eq!(word_of(&checked, "brake"), "not-proven", "{}", checked["verdict"]);
}

#[test]
fn more_of_an_unrelated_stream_lowers_no_bound() {
    let bench = Bench::new();
    let text = |extra: &str| {
        let stream = |name: &str, from: &str, to: &str, (period, length, priority): (&str, &str, u8)| {
            format!(
                "[[streams]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = [\"{to}\"]\nperiod = \"{period}\"\nlength = \"{length}\"\n\
                 deadline = \"50ms\"\nnet = {{ class = {{ best_effort = {{ priority = {priority} }} }} }}\n"
            )
        };
        let nodes: String = (0..6).map(|number| format!("[[nodes]]\nname = \"n{number}\"\n")).collect();
        format!(
            "schema_version = 2\nname = \"t\"\nduration = \"1s\"\n[segments.net.ethernet]\nrate = \"100Mbit/s\"\nsync = \"ideal\"\n\
             class = {{ best_effort = {{}} }}\n{nodes}{}{}{}{}",
            stream("s0", "n3", "n5", ("10ms", "971B", 3)),
            stream("s6", "n3", "n5", ("2ms", "1109B", 3)),
            stream("s20", "n2", "n5", ("5ms", "86B", 3)),
            stream("extra", "n0", "n1", ("10ms", extra, 0)),
        )
    };
    let bounds = ["1400B", "1600B"].map(|length| {
        bench.write("t.toml", text(length));
        let checked = bench.json(&["check", "t.toml"]);
        let all = ends(&checked).into_iter().filter(|(name, ..)| !name.starts_with("extra"));
        all.map(|(name, _, bound)| (name, bound.as_f64().unwrap())).collect::<Vec<_>>()
    });
    for (shorter, longer) in bounds[0].iter().zip(&bounds[1]) {
        assert!(shorter.1 <= longer.1, "{shorter:?} {longer:?}");
    }
}

#[test]
fn a_platform_without_a_price_is_refused_with_the_nearest_and_what_to_do() {
    let bench = Bench::new();
    let guide = &of_page("docs/guide/can-bus.md")[0];
    let line = guide.lines().find(|line| line.starts_with("costs = ")).unwrap();
    let without = guide.replace(line, "");
    bench.write("free.toml", &without);
    bench.say(&["check", "free.toml"]).assert_refused(&[
        "platform `tc297` has no price for `cmac-aes-128`",
        "`brakes` computes",
        "aes-128-ctr",
        "chronoseal bench --platform",
        "costs = [{ operation = \"cmac-aes-128\"",
    ]);
    // Whoever says that it costs nothing has said so; and without any platform nothing was promised.
    bench.write("said.toml", guide.replace(line, "costs = [{ operation = \"cmac-aes-128\", base = \"0s\" }]"));
    bench.write("none.toml", without.replace("platform = \"tc297\"\n", ""));
    for file in ["said.toml", "none.toml"] {
        let said = bench.say(&["check", file]);
        assert_ne!(said.code, Some(2), "{file}: {}", said.err);
    }
}
