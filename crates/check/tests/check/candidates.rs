//! Candidates are the scenario with each of them applied.

use chronoseal_report::Word;
use serde_json::Value;

use crate::words::{BUS, SWITCH};
use crate::{changed, checked, json, load};

const PROTECTIONS: &str = r#"
[[protections]]
name = "old"
hmac = { hash = "sha-1", tag = "4B", freshness = "full" }
[[protections]]
name = "open"
mac = { algorithm = "cmac-aes-128", tag = "4B", freshness = "none" }
[[protections]]
name = "short"
mac = { algorithm = "cmac-aes-128", tag = "4B", freshness = { rising = { sent = "1B" } } }
[[protections]]
name = "long"
mac = { algorithm = "cmac-aes-128", tag = "16B", freshness = "full" }
"#;

const CANDIDATES: &str = "candidates = [\"none\", \"old\", \"open\", \"short\", \"long\"]\n";

fn with_candidates(text: &str) -> String {
    changed(text, "[segments.", &format!("{CANDIDATES}[segments.")) + PROTECTIONS
}

fn candidate<'j>(json: &'j Value, name: &str) -> &'j Value {
    let all = json["candidates"].as_array().unwrap();
    all.iter().find(|one| one["protection"] == name).unwrap_or_else(|| panic!("{name} in {all:?}"))
}

/// A processor that has 150 % to do is no place for the lightest protection.
#[test]
fn what_a_processor_cannot_do_is_not_the_lightest() {
    let text = changed(
        SWITCH,
        "[[nodes]]\nname = \"a\"",
        "[[platforms]]\nname = \"p\"\ncosts = [{ operation = \"cmac-aes-128\", base = \"1500us\" }]\n[[protections]]\nname = \"m\"\nmac = { algorithm = \"cmac-aes-128\", tag = \"8B\", freshness = \"full\" }\n[[nodes]]\nname = \"a\"\nplatform = \"p\"",
    );
    let text = changed(&text, "[segments.", "candidates = [\"m\"]\n[segments.");
    let json = json(&text);
    let one = candidate(&json, "m");
    assert_eq!((&json["lightest"], &one["word"]), (&Value::Null, &"broken".into()), "{one}");
    assert!((one["processor_share_max_percent"].as_f64().unwrap() - 150.0).abs() < 0.1, "{one}");
    assert!(one["why_not"].as_str().unwrap().contains("`a`"), "{one}");
}

#[test]
fn the_lightest_stops_replay_and_has_a_hash_for_new_designs() {
    let report = json(&with_candidates(SWITCH));
    assert_eq!(report["lightest"], "short", "{}", report["lightest_reason"]);
    assert_eq!(candidate(&report, "old")["kept_for_comparison"], true);
    let all = report["candidates"].as_array().unwrap();
    assert!(all.iter().all(|one| one["word"] == "held" && one["why_not"].is_null()), "{all:?}");
}

#[test]
fn where_there_is_a_replayer_nothing_replayable_is_named() {
    let replayable = with_candidates(SWITCH).replace(CANDIDATES, "candidates = [\"none\", \"open\"]\n");
    let report = json(&replayable);
    assert_eq!(report["lightest"], "open", "{}", report["lightest_reason"]);
    let replayed = replayable
        + "[[threats]]\nname = \"again\"\nkind = \"replay\"\nstream = \"bulk\"\nat = { link = \"c\" }\nstart = \"10ms\"\ncount = 5\n";
    let report = json(&replayed);
    assert_eq!(report["lightest"], Value::Null, "{}", report["lightest_reason"]);
    assert!(report["lightest_reason"].as_str().unwrap().contains("attackers"), "{report}");
}

#[test]
fn on_a_bus_they_are_compared_as_well() {
    let report = json(&with_candidates(BUS));
    let long = candidate(&report, "long");
    assert_eq!(long["word"], "broken");
    assert!(long["why_not"].as_str().unwrap().contains("holds 8B"), "{long}");
    assert_eq!(report["lightest"], Value::Null, "8 bytes leave no room for a tag: {report}");
    let fd = with_candidates(BUS).replace("id = \"0x100\"", "id = \"0x100\", format = \"fd\"");
    let fd = fd
        .replace("id = \"0x200\"", "id = \"0x200\", format = \"fd\"")
        .replace("bit_rate = \"500kbit/s\"", "bit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"");
    let report = json(&fd);
    assert_eq!(report["lightest"], "short", "{report}");
    let loads: Vec<f64> =
        ["none", "short", "long"].map(|name| candidate(&report, name)["load_max_percent"].as_f64().unwrap()).to_vec();
    assert!(loads[0] < loads[1] && loads[1] < loads[2], "{loads:?}");
}

/// A bus with little room beside an Ethernet: a candidate is put where it fits, and the others keep their own.
#[test]
fn on_a_mixed_network_streams_keep_their_own_where_a_candidate_does_not_fit() {
    let mixed = changed(
        BUS,
        "[[nodes]]\nname = \"a\"",
        "[segments.net.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nsync = \"ideal\"\nclass = { best_effort = {} }\n[[nodes]]\nname = \"a\"\non = [\"bus\"]",
    );
    let mixed = changed(
        &mixed,
        "[[nodes]]\nname = \"b\"",
        "[[nodes]]\nname = \"b\"\non = [\"bus\"]\n[[nodes]]\nname = \"x\"\non = [\"net\"]\nclock = \"ideal\"\n[[nodes]]\nname = \"y\"\non = [\"net\"]\nclock = \"ideal\"",
    );
    let mixed = with_candidates(&mixed)
        + "[[streams]]\nname = \"wide\"\nfrom = \"x\"\nto = [\"y\"]\nperiod = \"1ms\"\nlength = \"46B\"\n";
    let report = json(&mixed);
    let short = candidate(&report, "short");
    assert_eq!(short["kept"], serde_json::json!(["fast", "slow"]), "{short}");
    assert_eq!((&short["word"], &report["lightest"]), (&"held".into(), &"short".into()), "{report}");
}

#[test]
fn without_candidates_all_protections_are_compared() {
    let report = json(&(SWITCH.to_owned() + PROTECTIONS));
    let names: Vec<&str> =
        report["candidates"].as_array().unwrap().iter().map(|one| one["protection"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "old", "open", "short", "long"]);
    assert_eq!(json(SWITCH)["candidates"], serde_json::json!([]), "nothing is protected, and nothing asked for");
}

/// Many networks, drawn from their number: the protection that is named holds when it is applied.
///
/// `LIGHTEST_NETWORKS` asks for more of them than usual, `LIGHTEST_NUMBER` for one.
#[test]
fn the_one_that_is_named_holds() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let only = variable("LIGHTEST_NUMBER");
    let wanted = variable("LIGHTEST_NETWORKS").unwrap_or(30);
    let (mut named, mut refused) = (0, 0);
    for number in only.map_or(0..wanted, |number| number..number + 1) {
        let text = drawn(number);
        let report = json(&text);
        let Some(lightest) = report["lightest"].as_str() else {
            refused += 1;
            continue;
        };
        let streams = text.split("[[streams]]").collect::<Vec<_>>();
        let applied: Vec<String> = streams
            .iter()
            .enumerate()
            .map(|(at, part)| match at {
                0 => (*part).to_owned(),
                _ => changed(part, "length = ", &format!("protection = \"{lightest}\"\nlength = ")),
            })
            .collect();
        let applied = applied.join("[[streams]]");
        let word = checked(&applied).word;
        assert_eq!(
            word,
            Word::Held,
            "number {number}: {lightest} is named, and with it the scenario is {word:?}:\n{applied}"
        );
        named += 1;
    }
    println!("{named} networks with one named, {refused} without");
    assert!(only.is_some() || (named > 0 && refused > 0), "{named} named, {refused} not: too little was tried");
}

/// A network of one segment whose processors are slow enough that tags can be too much.
fn drawn(number: u64) -> String {
    // Xorshift, so that a number is always the same network.
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |choices: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % choices
    };
    let is_bus = draw(4) == 0;
    let nodes = 2 + draw(4);
    let class = ["best_effort = {}", "rate_constrained = {}", "vlan = { pcp = 3 }"][draw(3) as usize];
    let segment = match is_bus {
        true => "[segments.e.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n".to_owned(),
        false => format!(
            "[segments.e.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nsync = \"ideal\"\nclass = {{ {class} }}\nvirtual_links = {{ standard = false }}\n"
        ),
    };
    let mut text = format!(
        "schema_version = 2\nname = \"c{number}\"\nduration = \"1s\"\ncandidates = [\"c8\", \"h16\"]\n{segment}[[platforms]]\nname = \"p\"\ncosts = [\n  {{ operation = \"cmac-aes-128\", base = \"{}us\", per_byte = \"{}ns\" }},\n  {{ operation = \"hmac-sha-256\", base = \"{}us\", per_byte = \"{}ns\" }},\n]\n\
         [[protections]]\nname = \"c8\"\nmac = {{ algorithm = \"cmac-aes-128\", tag = \"8B\", freshness = \"full\", key = \"pre-shared\" }}\n\
         [[protections]]\nname = \"h16\"\nmac = {{ algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\", key = \"pre-shared\" }}\n",
        5 + draw(400),
        10 + draw(900),
        5 + draw(400),
        10 + draw(900)
    );
    for node in 0..nodes {
        text += &format!("[[nodes]]\nname = \"n{node}\"\nplatform = \"p\"\nclock = \"ideal\"\n");
    }
    for stream in 0..2 + draw(7) {
        let from = draw(nodes);
        let to = (from + 1 + draw(nodes - 1)) % nodes;
        let period = [1, 2, 4, 10][draw(4) as usize];
        let length = if is_bus { [8, 16, 24][draw(3) as usize] } else { [46, 200, 1000][draw(3) as usize] };
        let message = if is_bus {
            format!("e = {{ id = \"0x{:03x}\", format = \"fd-brs\" }}\n", 0x100 + stream)
        } else {
            String::new()
        };
        text += &format!(
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"{period}ms\"\nlength = \"{length}B\"\ndeadline = \"{period}ms\"\n{message}"
        );
    }
    load(&text);
    text
}

/// One that counts slots is for frames in slots; what has none keeps its own, and that is no reason against it.
#[test]
fn what_counts_slots_is_put_on_frames_in_slots() {
    let text = SWITCH.replace(
        "to = [\"b\"]\nperiod = \"10ms\"",
        "to = [\"b\"]\nperiod = \"10ms\"\nnet = { class = \"time-triggered\" }",
    );
    let text = changed(&text, "cluster_cycle = \"10ms\"", "cluster_cycle = \"10ms\"\nguard_period = \"200us\"");
    let text = changed(&text, "deadline = \"300us\"", "deadline = \"10ms\"");
    let counted = "[[protections]]\nname = \"counted\"\nhmac = { hash = \"sha-256\", tag = \"16B\" }\n";
    let report = json(&(text + counted));
    let one = candidate(&report, "counted");
    assert_eq!((&one["word"], &one["kept"]), (&"held".into(), &serde_json::json!(["brake"])), "{one}");
    assert_eq!((&report["lightest"], &one["open_streams"]), (&"counted".into(), &1.into()), "{report}");
}

/// A tag of eight bits is lighter than any other, and guessed at once.
#[test]
fn a_tag_that_is_guessed_stops_no_forger_and_is_not_the_lightest() {
    let guessed = "[[protections]]\nname = \"guessed\"\nmac = { algorithm = \"cmac-aes-128\", tag = \"1B\", freshness = { rising = { sent = \"1B\" } } }\n";
    let text = with_candidates(SWITCH).replace("\"short\"", "\"guessed\"").replace("\"long\"]", "\"long\", \"short\"]")
        + guessed;
    let text = text.replace(
        "name = \"guessed\"\nmac = { algorithm = \"cmac-aes-128\", tag = \"4B\"",
        "name = \"short\"\nmac = { algorithm = \"cmac-aes-128\", tag = \"4B\"",
    );
    let report = json(&text);
    assert_eq!((&report["lightest"], &candidate(&report, "guessed")["guessed_bits"]), (&"short".into(), &8.into()));
    let alone = text.replace(", \"long\", \"short\"]", "]").replace("\"none\", \"old\", \"open\", ", "");
    let report = json(&alone);
    assert_eq!(report["lightest"], Value::Null, "{report}");
    assert!(report["lightest_reason"].as_str().unwrap().contains("shorter ones are guessed"), "{report}");
}
