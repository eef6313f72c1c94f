//! Frames of no stream that gateways pass on, key exchanges over gateways, and segments of several buses before that.

use chronoseal_plan::SegmentId;
use chronoseal_scenario::{Code, NoFiles, load, upgrade};
use chronoseal_wire::can::{CanId, IdFilter};

use crate::protections::{only_problem, plan};

/// Two buses and a gateway between them, keys of which are to be written.
const BUSES: &str = r#"schema_version = 2
name = "buses"
duration = "1s"

[segments.front.can]
bit_rate = "1Mbit/s"
data_bit_rate = "2Mbit/s"

[segments.rear.can]
bit_rate = "1Mbit/s"
data_bit_rate = "2Mbit/s"

[keys.vehicle.group]
orchestrator = "lead"
members = ["a", "b"]
scheme = "symmetric"

[[nodes]]
name = "lead"
on = ["front"]

[[nodes]]
name = "a"
on = ["front"]

[[nodes]]
name = "b"
on = ["rear"]

[[nodes]]
name = "zone"
on = ["front", "rear"]
gateway = { BRIDGES }

[[recordings]]
name = "drive"
traffic = { builtin = "vessel-bus" }
from = "b"

[[recordings]]
name = "speed"
signal = { builtin = "vessel-nmea2000", name = "wind_speed" }
"#;

fn buses(bridges: &str) -> String {
    BUSES.replace("BRIDGES", bridges)
}

/// Without keys and recordings.
fn bare(bridges: &str) -> String {
    keyless(bridges).split("\n[[recordings]]").next().expect("it has a beginning").to_owned()
}

fn keyless(bridges: &str) -> String {
    let group = "[keys.vehicle.group]\norchestrator = \"lead\"\nmembers = [\"a\", \"b\"]\nscheme = \"symmetric\"\n\n";
    buses(bridges).replace(group, "")
}

fn bridges(text: &str) -> Vec<IdFilter> {
    plan(text).nodes[3].gateway.as_ref().expect("it is a gateway").bridges.clone()
}

#[test]
fn a_gateway_passes_what_it_says_by_identifier() {
    assert_eq!(bridges(&bare("bridges = [\"all\"]")), IdFilter::ALL);
    assert_eq!(bridges(&bare("")), []);
    let some = bare(
        "bridges = [{ frames = { id = \"0x120\", mask = \"0x7F0\" } }, { frames = { id = \"0x18FEF100\", extended = true } }]",
    );
    let standard = IdFilter { id: CanId::standard(0x120).unwrap(), mask: 0x7f0 };
    assert_eq!(bridges(&some), [standard, IdFilter::exactly(CanId::extended(0x18fe_f100).unwrap())]);
    let recorded = bridges(&buses("bridges = [{ key = \"vehicle\" }, { recording = \"drive\" }]"));
    assert!(recorded.len() > 10, "the exchange, and each identifier of the recording: {}", recorded.len());
}

#[test]
fn what_cannot_be_bridged_is_refused_where_it_stands() {
    for (bridges, code, label, help) in [
        ("bridges = [{ frames = { id = \"0x800\" } }]", Code::BadCanId, "\"0x800\"", "`extended = true`"),
        ("bridges = [{ frames = { id = \"0x1\", mask = \"0xFFF\" } }]", Code::BadCanId, "\"0xFFF\"", "at most 0x7FF"),
        ("bridges = [{ key = \"vehicle\" }, { key = \"vehical\" }]", Code::UnknownName, "\"vehical\"", "`vehicle`"),
        ("bridges = [{ key = \"vehicle\" }, { recording = \"drvie\" }]", Code::UnknownName, "\"drvie\"", "`drive`"),
        ("bridges = [{ key = \"vehicle\" }, { recording = \"speed\" }]", Code::BadGateway, "\"speed\"", "`traffic`"),
    ] {
        let (found, labels, message, text) = only_problem(&buses_with_key(bridges));
        assert_eq!((found, labels[0].as_str()), (code, label), "{message}");
        assert!(text.contains(help), "{text}");
    }
    let alone = bare("bridges = [\"all\"]").replace(
        "[segments.rear.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"",
        "[segments.rear.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"",
    );
    let stream = "[[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"lead\"]\nperiod = \"10ms\"\nlength = \"4B\"\nfront = { id = \"0x1\" }\n";
    let (code, labels, message, _) = only_problem(&format!("{alone}\n{stream}"));
    assert_eq!((code, labels[0].as_str()), (Code::BadGateway, "[\"all\"]"), "{message}");
    assert!(message.contains("`zone` is on one segment"), "{message}");
}

#[test]
fn a_recording_with_frames_of_a_stream_is_refused_where_they_meet() {
    let passes = "bridges = [{ recording = \"drive\" }]";
    let known = bridges(&keyless(passes)).into_iter().find(|filter| filter.id.is_extended());
    let id = known.expect("it has identifiers of 29 bits").id.raw();
    let with = |bridges: &str, stream: &str| {
        format!("{}\n[[streams]]\nname = \"wind\"\nperiod = \"10ms\"\nlength = \"4B\"\n{stream}\n", keyless(bridges))
    };
    let rear = format!("from = \"b\"\nto = [\"zone\"]\nrear = {{ id = \"{id:#X}\", extended = true }}");
    let front = format!("from = \"a\"\nto = [\"lead\"]\nfront = {{ id = \"{id:#X}\", extended = true }}");
    for (text, on) in [(with("", &rear), "rear"), (with(passes, &front), "front")] {
        let (code, labels, message, help) = only_problem(&text);
        assert_eq!((code, labels[0].as_str()), (Code::BadCanId, "{ builtin = \"vessel-bus\" }"), "{message}");
        let says = format!("frames with the identifier {id:#05X}, which stream `wind` has on `{on}`");
        assert!(message.contains(&says) && help.contains("give `wind` another identifier"), "{message}: {help}");
    }
    // Where the recording does not come, the identifier is free.
    plan(&with("", &front));
}

/// The members reach each other whatever is wrong with the other entries.
fn buses_with_key(bridges: &str) -> String {
    match bridges.contains("key") {
        true => buses(bridges),
        false => bare(bridges),
    }
}

#[test]
fn a_loop_of_bridges_is_refused_and_one_for_other_identifiers_is_not() {
    let second = |bridges: &str| {
        format!(
            "{}\n[[nodes]]\nname = \"back\"\non = [\"rear\", \"front\"]\ngateway = {{ {bridges} }}\n",
            bare("bridges = [\"all\"]")
        )
    };
    let (code, labels, message, help) = only_problem(&second("bridges = [{ frames = { id = \"0x100\" } }]"));
    assert_eq!((code, labels.len()), (Code::BadGateway, 2));
    assert_eq!(message, "frames that `zone` and `back` pass on would circle between `rear` and `front` for ever");
    assert!(help.contains("only one of them"), "{help}");
    plan(&second(""));
    let low = "bridges = [{ frames = { id = \"0x000\", mask = \"0x400\" } }]";
    let high = "bridges = [{ frames = { id = \"0x400\", mask = \"0x400\" } }]";
    plan(&second(high).replace("bridges = [\"all\"]", low));
    assert_eq!(only_problem(&second(low).replace("bridges = [\"all\"]", low)).0, Code::BadGateway);
    // Over three segments as well.
    let ring = second("bridges = [\"all\"]").replace("on = [\"rear\", \"front\"]", "on = [\"rear\", \"far\"]").replace(
        "[[nodes]]\nname = \"lead\"",
        "[segments.far.can]\nbit_rate = \"1Mbit/s\"\n\n[[nodes]]\nname = \"lead\"",
    );
    plan(&ring);
    let closed = format!(
        "{ring}\n[[nodes]]\nname = \"third\"\non = [\"far\", \"front\"]\ngateway = {{ bridges = [\"all\"] }}\n"
    );
    let (code, _, message, _) = only_problem(&closed);
    assert_eq!(code, Code::BadGateway, "{message}");
}

#[test]
fn a_group_reaches_as_far_as_its_messages() {
    let segments = |text: &str| plan(text).group_key.expect("there is a group").segments;
    for bridges in
        ["\"all\"", "{ key = \"vehicle\" }", "{ frames = { id = \"0x0\", mask = \"0x0\", extended = true } }"]
    {
        let text = buses(&format!("bridges = [{bridges}]"));
        assert_eq!(segments(&text), [SegmentId(0), SegmentId(1)], "{bridges}");
    }
    // None, or not all of them.
    for bridges in ["", "bridges = [{ frames = { id = \"0x0\", mask = \"0x1F000000\", extended = true } }]"] {
        let (code, labels, message, help) = only_problem(&buses(bridges));
        assert_eq!((code, labels[0].as_str()), (Code::BadGroup, "\"b\""));
        assert_eq!(message, "`b` is not on `front`, and no gateway passes the messages of the exchange on to it");
        assert_eq!(help, "add `bridges = [{ key = \"vehicle\" }]` to the gateway `zone`");
    }
    // FD has to be possible everywhere.
    let slow = buses("bridges = [\"all\"]").replacen("data_bit_rate = \"2Mbit/s\"\n\n[keys", "\n[keys", 1);
    assert_eq!(format!("{:?}", plan(&slow).group_key.expect("there is a group").transport), "Classical");
}

#[test]
fn a_stream_under_the_key_of_others_is_refused() {
    let stream = "[[protections]]\nname = \"sealed\"\nsecoc = { profile = 1 }\n\n[[streams]]\nname = \"speed\"\nfrom = \"a\"\n\
                  to = [\"b\", \"c\"]\nperiod = \"10ms\"\nlength = \"4B\"\nfront = { id = \"0x1\" }\nrear = { id = \"0x1\" }\n\
                  protection = \"sealed\"\n\n[[nodes]]\nname = \"c\"\non = [\"rear\"]\n";
    let text = format!("{}\n{stream}", buses("bridges = [{ key = \"vehicle\" }]"));
    let (code, labels, message, help) = only_problem(&text);
    assert_eq!((code, labels[0].as_str()), (Code::BadGroup, "\"sealed\""));
    assert!(message.contains("`c` is not in the group") && help.contains("make `c` a member"), "{message}: {help}");
    plan(&text.replace("\"a\", \"b\"]", "\"a\", \"b\", \"c\"]"));
}

/// A file of this version with several buses, as it could be written before.
const BEFORE: &str = r#"schema_version = 2
name = "zones"
duration = "1s"
# The only network.
[segments.bus.can]
bit_rate = "1Mbit/s"
buses = ["from", "rear"]   # two
# stores
gateway_delay = "70us"
[keys.bus.group]
orchestrator = "gate"
scheme = "symmetric"
[[nodes]]
name = "gate"   # leads
[[nodes]]
name = "a"
bus = "from"   # there
[[nodes]]
name = "b"
bus = "rear"
[[nodes]]
name = "player"
bus = "rear"
[[recordings]]
name = "drive"
from = "player"
traffic = { builtin = "vessel-bus" }
segment = "bus"
[[streams]]
name = "speed"
from = "b"
to = ["a"]
bus = { id = "0x100" }   # urgent
length = "4B"
period = "10ms"
[[streams]]
name = "local"
from = "b"
to = ["player"]
bus = { id = "0x101" }
length = "4B"
period = "10ms"
[[threats]]
name = "forger"
kind = "spoof"
stream = "local"
"#;

#[test]
fn several_buses_become_segments_and_a_gateway() {
    let problems = load("zones.toml", BEFORE.as_bytes(), &[], &NoFiles).expect_err("it is of an earlier form");
    assert_eq!((problems.count(), problems.list()[0].code), (1, Code::OldVersion));
    let help = problems.list()[0].help.as_deref().unwrap_or_default();
    assert!(help.contains("`chronoseal scenario upgrade zones.toml`"), "{help}");

    let new = upgrade("zones.toml", BEFORE).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(new.is_changed());
    insta::assert_snapshot!("upgraded_buses", new.text);
    assert!(!upgrade("zones.toml", &new.text).expect("it is of the current form").is_changed());
    let plan = plan(&new.text);
    let names: Vec<&str> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    // `from` is a key of streams.
    assert_eq!(names, ["bus-from", "rear"]);
    assert_eq!((plan.streams[0].hops.len(), plan.streams[1].hops.len()), (2, 1));
    assert_eq!(plan.group_key.expect("there is a group").members.len(), 2);
}

#[test]
fn one_named_bus_is_what_a_segment_is() {
    let one = BEFORE
        .replace("\"from\", \"rear\"", "\"only\"")
        .replace("bus = \"from\"", "bus = \"only\"")
        .replace("bus = \"rear\"", "bus = \"only\"");
    let new = upgrade("zones.toml", &one).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(
        !new.text.contains("\"only\"") && new.text.contains("# stores") && new.text.contains("# there"),
        "{}",
        new.text
    );
    assert_eq!(plan(&new.text).segments.len(), 1);
}
