//! Messages longer than a frame on Ethernet: bounded, simulated and run live; what was lost is lost with a reason.

use crate::integration::support::Bench;

/// An image of 20 kB and a short command over two switches.
fn images(segment: &str, class: &str) -> String {
    format!(
        r#"schema_version = 2
name = "images"
duration = "400ms"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
switches = ["front", "rear"]
links = [{{ between = ["front", "rear"] }}, {{ between = ["camera", "front"] }}, {{ between = ["fusion", "rear"] }}]
{segment}
[[protections]]
name = "signed"
mac = {{ algorithm = "cmac-aes-128", tag = "16B", freshness = "full" }}
[[nodes]]
name = "camera"
[[nodes]]
name = "fusion"
[[streams]]
name = "image"
from = "camera"
to = ["fusion"]
period = "20ms"
length = "20kB"
protection = "signed"
backbone = {{ class = {class} }}
[[streams]]
name = "brake"
from = "camera"
to = ["fusion"]
period = "5ms"
length = "64B"
protection = "signed"
backbone = {{ class = {{ best_effort = {{ priority = 6 }} }} }}
"#
    )
}

const CLASSES: [&str; 3] = ["{ best_effort = {} }", "{ vlan = { pcp = 3 } }", "{ rate_constrained = {} }"];

/// The account of a stream at its only receiver.
fn account<'v>(run: &'v serde_json::Value, stream: &str) -> &'v serde_json::Value {
    let streams = run["summary"]["streams"].as_array().unwrap();
    let own = streams.iter().find(|own| own["name"] == stream).unwrap();
    &own["receivers"][0]
}

#[test]
fn every_class_that_has_messages_keeps_its_bounds() {
    for class in CLASSES {
        let bench = Bench::new();
        bench.write("images.toml", images("", class));
        let check = bench.say(&["check", "images.toml", "--format", "json"]);
        check.assert_code(0);
        let run = bench.json(&["run", "images.toml", "--out", "run"]);
        let image = account(&run, "image");
        let of = |key: &str| image[key].as_u64().unwrap();
        assert_eq!((of("sent"), of("in_time") + of("in_flight"), of("unaccounted")), (20, 20, 0), "{class}");
        assert!(of("in_time") >= 19, "{class}: {image}");
        assert_eq!(image["discarded"], serde_json::json!({}), "{class}");
    }
}

#[test]
fn a_message_of_which_a_frame_was_lost_is_lost_with_a_reason_and_the_account_adds_up() {
    let noise = "frame_losses = [{ link = [\"front\", \"rear\"], ratio = 0.05 }]\n";
    for class in CLASSES {
        let bench = Bench::new();
        bench.write("images.toml", images(noise, class));
        let run = bench.say(&["run", "images.toml", "--out", "run", "--format", "json"]).json();
        let image = account(&run, "image");
        let of = |key: &str| image[key].as_u64().unwrap();
        let reasons = image["discarded"].as_object().unwrap();
        let lost: u64 = reasons.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(of("sent"), of("in_time") + lost + of("in_flight") + of("unaccounted"), "{class}: {image}");
        // Of fourteen frames each is lost one time in twenty, so half of the messages are.
        assert!(lost >= 4 && of("in_time") >= 4 && of("unaccounted") <= 1, "{class}: {image}");
        let known = ["frame-check-error", "wrong-sequence", "interrupted"];
        assert!(reasons.keys().all(|reason| known.contains(&reason.as_str())), "{class}: {image}");
    }
}

#[test]
fn a_queue_without_room_for_a_message_is_found_on_paper_and_loses_messages() {
    let bench = Bench::new();
    bench.write("images.toml", images("queue_len_max = \"10kB\"\n", CLASSES[0]));
    let check = bench.say(&["check", "images.toml"]);
    check.assert_code(3);
    assert!(check.out.contains("NOT PROVEN") && check.out.contains("write a larger"), "{}", check.out);
    let run = bench.say(&["run", "images.toml", "--out", "run", "--format", "json"]).json();
    let image = account(&run, "image");
    assert_eq!((&image["in_time"], &image["unaccounted"]), (&0.into(), &0.into()), "{image}");
}

#[test]
fn a_receiver_that_gives_up_too_soon_is_found_on_paper_and_loses_messages() {
    let bench = Bench::new();
    let class = format!("{}, reassembly_timeout = \"1ms\"", CLASSES[0]);
    bench.write("images.toml", images("", &class));
    let check = bench.say(&["check", "images.toml"]);
    check.assert_code(3);
    assert!(check.out.contains("NOT PROVEN") && check.out.contains("reassembly_timeout"), "{}", check.out);
    let run = bench.say(&["run", "images.toml", "--out", "run", "--format", "json"]).json();
    let image = account(&run, "image");
    assert_eq!((&image["sent"], &image["discarded"]["frame-missing"]), (&20.into(), &20.into()), "{image}");
}

#[test]
fn a_live_run_has_one_row_a_message_too() {
    let bench = Bench::new();
    bench.write("images.toml", images("", CLASSES[0]).replace("sync = \"ideal\"\n", ""));
    let run = bench.say(&["run", "images.toml", "--engine", "live", "--out", "run", "--format", "json"]).json();
    let image = account(&run, "image");
    let of = |key: &str| image[key].as_u64().unwrap();
    // A busy host may lose some.
    assert!(of("sent") >= 15 && of("in_time") >= 10, "{image}");
    assert_eq!(of("unaccounted"), 0, "{image}");
}

/// The image over two Ethernets and the gateway between them, with what protects it and how it leaves the gateway.
fn zones(protection: &str, class: &str, more: &str) -> String {
    format!(
        r#"schema_version = 2
name = "zones"
duration = "400ms"
[segments.zone.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
sync = "ideal"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
[[protections]]
name = "signed"
mac = {{ algorithm = "cmac-aes-128", tag = "16B", freshness = "full" }}
[[nodes]]
name = "camera"
on = ["zone"]
[[nodes]]
name = "gate"
on = ["zone", "backbone"]
gateway = {{ delay = "20us" }}
[[nodes]]
name = "fusion"
on = ["backbone"]
[[streams]]
name = "image"
from = "camera"
to = ["fusion"]
period = "20ms"
length = "20kB"
deadline = "40ms"
protection = {protection}
zone = {{ class = {{ best_effort = {{}} }} }}
backbone = {{ class = {class} }}
{more}"#
    )
}

const END_TO_END: &str = "\"signed\"";
const HOP_BY_HOP: &str = "{ zone = \"signed\", backbone = \"signed\" }";

#[test]
fn a_gateway_puts_messages_together_and_cuts_them_anew() {
    for (class, protection) in CLASSES.iter().flat_map(|class| [END_TO_END, HOP_BY_HOP].map(|one| (class, one))) {
        let bench = Bench::new();
        bench.write("zones.toml", zones(protection, class, ""));
        let check = bench.say(&["check", "zones.toml", "--format", "json"]);
        check.assert_code(0);
        let bound = check.json()["judged"][0]["bound_ns"].as_f64().unwrap();
        for (fidelity, code) in [("bytes", 0), ("timing", 3)] {
            let set = format!("fidelity={fidelity}");
            let run = bench.say(&["run", "zones.toml", "--no-store", "--set", &set, "--format", "json"]);
            run.assert_code(code);
        }
        let run = bench.json(&["run", "zones.toml", "--out", "run"]);
        let image = account(&run, "image");
        assert_eq!((&image["sent"], &image["in_time"]), (&20.into(), &20.into()), "{class}, {protection}: {image}");
        let seen = run["summary"]["streams"][0]["end_to_end"]["all"]["max_ns"].as_f64().unwrap();
        // All of it has come to the gateway before any of it leaves.
        assert!(seen <= bound && seen > 1_800_000.0, "{class}, {protection}: {seen} of {bound}");
    }
}

#[test]
fn a_gateway_that_changes_a_message_is_stopped_by_the_tag_of_its_sender_alone() {
    let liar = "[[threats]]\nname = \"liar\"\nkind = \"tamper\"\nstream = \"image\"\nat = { node = \"gate\" }\nstart = \"100ms\"\n\
                every = \"20ms\"\ncount = 5\n";
    for (protection, stopped) in [(END_TO_END, 5), (HOP_BY_HOP, 0)] {
        let bench = Bench::new();
        bench.write("zones.toml", zones(protection, CLASSES[0], liar));
        let run = bench.say(&["run", "zones.toml", "--out", "run", "--format", "json"]).json();
        let attacked = &run["summary"]["attacks"][0];
        assert_eq!(attacked["attempts"], 5, "{attacked}");
        assert_eq!(attacked["accepted"], 5 - stopped, "{protection}: {attacked}");
    }
}

#[test]
fn every_forged_beginning_of_a_message_in_slots_is_accounted_for() {
    // Before the first slot of a message and before its second, where no message can begin.
    for (start, lost) in [("99ms", "replaced"), ("100ms", "discarded")] {
        let bench = Bench::new();
        let forger = format!(
            "[[threats]]\nname = \"forger\"\nkind = \"spoof\"\nstream = \"image\"\nat = {{ link = \"camera\" }}\nstart = \"{start}\"\n\
             every = \"20ms\"\ncount = 5\n"
        );
        bench.write("images.toml", in_slots() + &forger);
        let run = bench.say(&["run", "images.toml", "--out", "run", "--format", "json"]).json();
        let attacked = &run["summary"]["attacks"][0];
        assert_eq!((&attacked["attempts"], &attacked["accepted"]), (&5.into(), &0.into()), "{start}: {attacked}");
        assert_eq!(attacked["stopped_by_format"], 5, "{start}: {attacked}");
        let image = account(&run, "image");
        let count = |value: &serde_json::Value| match value.as_object() {
            Some(reasons) => reasons.values().filter_map(serde_json::Value::as_u64).sum(),
            None => value.as_u64().unwrap(),
        };
        assert_eq!((count(&image[lost]), count(&image["unaccounted"])), (5, 0), "{start}: {image}");
    }
}

/// A run of the images with an attack on the link of the camera, from 99ms on, every 20ms and five times.
fn attacked(text: &str, kind: &str) -> serde_json::Value {
    let threat = format!(
        "[[threats]]\nname = \"changer\"\nkind = \"{kind}\"\nstream = \"image\"\nat = {{ link = \"camera\" }}\nstart = \"99ms\"\n\
         every = \"20ms\"\ncount = 5\n"
    );
    let bench = Bench::new();
    bench.write("images.toml", text.to_owned() + &threat);
    bench.say(&["run", "images.toml", "--out", "run", "--format", "json"]).json()
}

/// The attack of a run, its column `stopped`, and what its stream lost.
fn is_accounted(run: &serde_json::Value, column: &str, what: &str) {
    let attacked = &run["summary"]["attacks"][0];
    assert_eq!((&attacked["attempts"], &attacked[column]), (&5.into(), &5.into()), "{what}: {attacked}");
    let image = account(run, "image");
    assert_eq!((&image["replaced"], &image["unaccounted"]), (&5.into(), &0.into()), "{what}: {image}");
    assert_eq!(image["discarded"], serde_json::json!({}), "{what}: {image}");
}

#[test]
fn a_changed_first_frame_of_a_message_is_stopped_by_its_tag_and_by_nothing_where_it_has_none() {
    let plain = "protection = \"signed\"\nbackbone = { class = ";
    for class in CLASSES.into_iter().chain(["\"time-triggered\""]) {
        let text = if class.starts_with('"') { in_slots() } else { images("", class) };
        is_accounted(&attacked(&text, "tamper"), "stopped_by_tag", class);
        let text = text.replacen(plain, "backbone = { class = ", 1);
        is_accounted(&attacked(&text, "tamper"), "accepted", class);
    }
}

#[test]
fn a_repeated_first_frame_begins_a_message_that_never_becomes_whole() {
    for class in CLASSES.into_iter().chain(["\"time-triggered\""]) {
        let text = if class.starts_with('"') { in_slots() } else { images("", class) };
        is_accounted(&attacked(&text, "replay"), "stopped_by_format", class);
    }
}

#[test]
fn first_frames_that_were_changed_or_repeated_on_a_link_with_macsec_end_at_its_switch() {
    // Frames of virtual links alone are short enough for an attacker's hands, without an SCI.
    let text = images("macsec = { include_sci = false }\n", CLASSES[2]);
    is_accounted(&attacked(&text, "tamper"), "stopped_by_tag", "tamper");
    is_accounted(&attacked(&text, "replay"), "stopped_by_freshness", "replay");
}

/// An image of two frames, each in a slot of its own.
fn in_slots() -> String {
    let own_ports = "[{ between = [\"camera\", \"rear\"] }, { between = [\"fusion\", \"rear\"] }]";
    let links = "[{ between = [\"front\", \"rear\"] }, { between = [\"camera\", \"front\"] }, { between = [\"fusion\", \"rear\"] }]";
    let text = images("guard_period = \"800us\"", "\"time-triggered\"");
    let text = text.replace("sync = \"ideal\"\n", "").replace(links, own_ports);
    let text = text.replace("switches = [\"front\", \"rear\"]", "switches = [\"rear\"]");
    text.replace("cluster_cycle = \"10ms\"", "cluster_cycle = \"20ms\"").replace("20kB", "4kB")
}

#[test]
fn a_live_gateway_carries_messages_too() {
    let bench = Bench::new();
    bench.write("zones.toml", zones(END_TO_END, CLASSES[0], "").replace("sync = \"ideal\"\n", ""));
    let run = bench.say(&["run", "zones.toml", "--engine", "live", "--out", "run", "--format", "json"]).json();
    let image = account(&run, "image");
    let of = |key: &str| image[key].as_u64().unwrap();
    // A busy host may lose some.
    assert!(of("sent") >= 15 && of("in_time") >= 10, "{image}");
    assert_eq!(of("unaccounted"), 0, "{image}");
}
