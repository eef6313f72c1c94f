//! Protections of streams over gateways: from end to end or segment by segment, and what each hop has room for.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{DataName, Ethernet, PayloadPlan, ProtectionId, relayed_frame_len};
use chronoseal_scenario::{Code, NoFiles, load};

use crate::protections::{SEALED, VEHICLE, only_problem, plan, sealed};

/// The stream of the vehicle that gateways carry, to be protected.
const RELAYED: &str = "length = \"8B\"";

/// The vehicle with a protection of the relayed stream, which has FD frames on both CAN segments.
fn relayed(protection: &str) -> String {
    VEHICLE
        .replacen(RELAYED, &format!("{RELAYED}\nprotection = {protection}"), 1)
        .replace("powertrain = { id = \"0x0A0\" }", "powertrain = { id = \"0x0A0\", format = \"fd\" }")
        .replace("body = { id = \"0x0B0\" }", "body = { id = \"0x0B0\", format = \"fd\" }")
}

#[test]
fn on_one_segment_every_spelling_means_the_same() {
    let shown = |protection: &str| {
        let text = VEHICLE.replace("protection = \"tagged\"", &format!("protection = {protection}"));
        crate::shown(plan(&text))
    };
    let plain = shown("\"tagged\"");
    assert_eq!(shown("{ end_to_end = \"tagged\" }"), plain);
    assert_eq!(shown("{ backbone = \"tagged\" }"), plain);
    assert_eq!(shown("{}"), shown("\"none\""));
    assert_ne!(shown("{}"), plain);
}

#[test]
fn from_end_to_end_gateways_pass_on_what_the_sender_sealed() {
    for protection in ["\"tagged\"", "{ end_to_end = \"tagged\" }"] {
        let plan = plan(&relayed(protection));
        let brake = &plan.streams[0];
        assert_eq!((brake.protection, brake.length), (ProtectionId(1), 8));
        assert!(brake.hops.iter().all(|hop| hop.protection.is_none()));
        // 8 bytes, their freshness value and tag: 14 and 8 bytes of header before them on Ethernet, which pads to 60.
        let lengths: Vec<u32> = brake.hops.iter().map(|hop| plan.secured_len(brake, hop)).collect();
        assert_eq!(lengths, [32, 60, 32]);
        assert_eq!(brake.hops.iter().map(|hop| hop.frame_len).collect::<Vec<_>>(), [8, 36, 8]);
        let names: Vec<DataName> = brake.hops.iter().map(|hop| plan.data_name(brake, hop)).collect();
        assert_eq!(names, vec![DataName::Name("brake request".into()); 3], "one identity behind all gateways");
    }
}

#[test]
fn by_segment_gateways_open_and_seal_again() {
    let plan = plan(&relayed("{ powertrain = \"sealed\", backbone = \"tagged\" }"));
    let brake = &plan.streams[0];
    let hops: Vec<_> = brake.hops.iter().map(|hop| (hop.protection, plan.secured_len(brake, hop))).collect();
    assert_eq!(hops, [(Some(ProtectionId(2)), 12), (Some(ProtectionId(1)), 60), (None, 8)]);
    assert_eq!(brake.protection, ProtectionId(0), "nothing from end to end");
    let name = |index: usize| plan.data_name(brake, &brake.hops[index]);
    assert_eq!(name(0), DataName::Name("brake request@powertrain".into()));
    assert_eq!(name(1), DataName::Name("brake request@backbone".into()), "no frame of one hop passes on another");
    // Streams that stay on a segment keep the numbers of a preset.
    let (door, picture) = (&plan.streams[4], &plan.streams[1]);
    assert_eq!(plan.data_name(door, &door.hops[0]), DataName::Number);
    assert_eq!(plan.data_name(picture, &picture.hops[0]), DataName::Number);
}

#[test]
fn a_relayed_frame_holds_headers_pdu_and_protection() {
    for (pdu, overhead, len, secured) in [
        (8, 0, 60, 60),
        (38, 0, 60, 60),
        (39, 0, 61, 61),
        (8, 24, 36, 60),
        (14, 24, 36, 60),
        (15, 24, 37, 61),
        (0, 60, 22, 82),
        (1492, 0, 1514, 1514),
        (1468, 24, 1490, 1514),
    ] {
        let found = relayed_frame_len(pdu, overhead);
        assert_eq!((found, found + overhead), (len, secured), "a PDU of {pdu} with {overhead} of protection");
    }
}

#[test]
fn each_hop_has_room_for_the_protection_it_has() {
    // On the backbone a tag of 16 bytes has room; on classical CAN it has not, and nothing asks for it there.
    let classical = |protection: &str, length: &str| {
        VEHICLE.replacen(RELAYED, &format!("length = \"{length}\"\nprotection = {protection}"), 1)
    };
    plan(&classical("{ backbone = \"tagged\" }", "8B"));
    let (code, labels, told, help) = only_problem(&classical("{ backbone = \"tagged\", body = \"sealed\" }", "5B"));
    assert_eq!((code, labels), (Code::FrameTooLong, vec!["\"5B\"".to_owned()]));
    assert_eq!(told, "5B and 4B of `sealed` do not fit the 8B of a classical CAN frame on `body`");
    assert_eq!(
        help,
        "write at most 4B, or `format = \"fd\"` for up to 60B, or `segmented = { flow_control = \"0x…\" }` for several frames"
    );
    let (code, labels, told, help) = only_problem(&classical("{ backbone = \"tagged\", body = \"tagged\" }", "3B"));
    assert_eq!((code, labels[0].as_str()), (Code::ProtectionTooLong, "\"tagged\""));
    assert_eq!(told, "`tagged` adds 24B, and a classical CAN frame on `body` holds 8B");
    assert_eq!(
        help,
        "name a shorter protection, or `format = \"fd\"` for up to 40B, or `segmented = { flow_control = \"0x…\" }` for several frames"
    );
    // The largest tag that fits, to the bit.
    let tagged = "hmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }";
    let short = "mac = { algorithm = \"cmac-aes-128\", tag = \"6B\", freshness = { truncated = \"4bit\" } }";
    let (code, _, _, help) = only_problem(&classical("\"tagged\"", "4B").replace(tagged, short));
    assert_eq!((code, help.as_str()), (Code::FrameTooLong, "write at most 1B, or a `tag` of 28bit at most"));
    let long = "mac = { algorithm = \"cmac-aes-128\", tag = \"16B\", freshness = { truncated = \"1B\" } }";
    let (code, _, _, help) = only_problem(&classical("\"tagged\"", "3B").replace(tagged, long));
    assert_eq!((code, help.as_str()), (Code::ProtectionTooLong, "write `tag = \"4B\"` at most"));
    // On Ethernet 8 bytes stand before a relayed PDU.
    let to_the_cluster = |length: &str| {
        let text = VEHICLE.replace("from = \"cluster\"\nto = [\"logger\"]", "from = \"cluster\"\nto = [\"far\"]");
        let far = "[segments.far.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\n\
                   class = { best_effort = {} }\n\n[segments.body.can]";
        let nodes = "name = \"logger\"\non = [\"backbone\", \"far\"]\ngateway = {}\n\n[[nodes]]\nname = \"far\"\non = [\"far\"]";
        text.replace("[segments.body.can]", far)
            .replace(
                "name = \"logger\"\non = [\"backbone\"]\ndriver = { min = \"1us\", mean = \"2us\", max = \"3us\" }",
                nodes,
            )
            .replace("length = \"1000B\"", &format!("length = \"{length}\""))
    };
    let whole = plan(&to_the_cluster("1468B"));
    assert_eq!(whole.secured_len(&whole.streams[1], &whole.streams[1].hops[1]), 1514);
    let cut = plan(&to_the_cluster("1469B"));
    let frames = |segment| Ethernet::of(&cut, segment)?.stream(StreamId(1)).map(|stream| stream.frames());
    let cut: Vec<Option<u32>> = cut.streams[1].hops.iter().map(|hop| frames(hop.segment)).collect();
    assert!(cut.contains(&Some(2)), "one more byte takes a second frame: {cut:?}");
}

#[test]
fn freshness_that_one_segment_counts_does_not_go_from_end_to_end() {
    let counted = "mac = { algorithm = \"cmac-aes-128\", tag = \"4B\", freshness = \"cycle-counter\" }";
    let slots = |text: String| text.replace("class = { best_effort = { priority = 2 } }", "");
    let (code, labels, told, help) = only_problem(&slots(
        relayed("\"sealed\"").replace(SEALED, counted).replace("protection = \"sealed\"\nbody", "body"),
    ));
    assert_eq!((code, labels), (Code::FreshnessWithoutSlot, vec!["\"sealed\"".to_owned()]));
    assert!(told.ends_with("and stream `brake request` crosses `powertrain` and `backbone` and `body`"), "{told}");
    assert!(help.contains("rising") && help.contains("`protection = { powertrain = \"…\" }`"), "{help}");
    // On the segment with slots alone it does.
    let backbone = slots(relayed("{ backbone = \"sealed\" }").replace(SEALED, counted));
    plan(&backbone.replace("protection = \"sealed\"\nbody", "body"));
    let by_number = "[freshness]\nmaster = \"zone-front\"\n\n[[recordings]]";
    let tripped = |protection: &str| {
        let text = relayed(protection).replace(SEALED, "secoc = { profile = 3 }").replace("[[recordings]]", by_number);
        text.replace("protection = \"sealed\"\nbody", "body")
    };
    let (code, _, told, help) = only_problem(&tripped("{ end_to_end = \"sealed\" }"));
    assert_eq!(code, Code::BadFreshness);
    assert!(told.contains("hears no master of trip and reset counters"), "{told}: {help}");
    let plan = plan(&tripped("{ powertrain = \"sealed\" }"));
    let freshness = plan.freshness.as_ref().expect("a hop needs it");
    assert_eq!((freshness.master, &freshness.slaves[..]), (NodeId(1), &[NodeId(0)][..]), "who is on that hop");
    // Nodes of one segment agree on a key.
    let group = "[keys.vehicle.group]\norchestrator = \"zone-front\"\nmembers = [\"pedal\", \"other\"]\n\
                 scheme = \"symmetric\"\n\n[[nodes]]\nname = \"other\"\non = [\"powertrain\"]\n\n[[recordings]]";
    let grouped = |protection: &str| {
        let text = relayed(protection).replace("[[recordings]]", group);
        text.replace("protection = \"sealed\"\nbody", "body")
    };
    let (code, _, told, help) = only_problem(&grouped("\"sealed\""));
    assert_eq!(code, Code::WrongNetwork);
    assert!(told.contains("on Ethernet has no group key") && help.contains("pre-shared"), "{told}: {help}");
    load("vehicle.toml", grouped("{ powertrain = \"sealed\" }").as_bytes(), &[], &NoFiles).expect("they all have it");
}

#[test]
fn a_protection_by_segment_names_segments_of_the_way() {
    for (protection, code, place, help) in [
        ("{ powertrian = \"sealed\" }", Code::UnknownName, "\"sealed\"", "did you mean `powertrain`?"),
        ("{ powertrain = \"seald\" }", Code::UnknownName, "\"seald\"", "did you mean `sealed`?"),
        ("{ end_to_end = \"seald\" }", Code::UnknownName, "\"seald\"", "did you mean `sealed`?"),
        ("{ end_to_end = \"sealed\", body = \"sealed\" }", Code::ChooseOne, "", "keep `end_to_end`, or the segments"),
    ] {
        let text = relayed(protection);
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, advice.as_str()), (code, help), "{told}");
        assert!(labels[0].contains(place), "{labels:?}");
    }
    let elsewhere = VEHICLE.replace("protection = \"tagged\"", "protection = { body = \"tagged\" }");
    let (code, labels, told, _) = only_problem(&elsewhere);
    assert_eq!((code, labels), (Code::SegmentTable, vec!["\"tagged\"".to_owned()]));
    assert_eq!(told, "stream `picture` does not cross `body`");
    let named = VEHICLE.replace("body", "end_to_end");
    assert_eq!(only_problem(&named).0, Code::BadName);
}

#[test]
fn a_name_under_a_tag_is_not_longer_than_a_tag_covers() {
    let named = |len: usize, protection: &str| {
        let name = "x".repeat(len);
        relayed(protection).replace("\"brake request\"", &format!("\"{name}\""))
    };
    plan(&named(64, "\"tagged\""));
    plan(&named(53, "{ powertrain = \"tagged\" }"));
    let (code, _, told, help) = only_problem(&named(54, "{ powertrain = \"tagged\" }"));
    assert_eq!((code, help.as_str()), (Code::BadName, "write a name of 53 bytes at most"));
    assert!(told.contains("65 bytes"), "{told}");
    // Streams that stay on a segment have a name there if nothing gives them a number.
    let counted = |protection: &str| {
        let count = "length = \"20B\"\nprotection = \"sealed\"";
        let text = sealed(protection).replace("length = \"20B\"", count);
        text.replace("\"slots\"", &format!("\"{}\"", "y".repeat(63)))
    };
    plan(&counted(SEALED));
    let mac = "mac = { algorithm = \"cmac-aes-128\", tag = \"4B\", freshness = \"full\" }";
    assert_eq!(only_problem(&counted(mac)).0, Code::BadName);
}

#[test]
fn a_recorded_signal_has_the_room_behind_what_the_bench_needs() {
    let text = |length: u32, stream: &str| {
        format!(
            "schema_version = 2\nname = \"signals\"\nduration = \"1s\"\n\
             [segments.bus.can]\nbit_rate = \"500kbit/s\"\n\
             [segments.net.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = {{ best_effort = {{}} }}\n\
             [[recordings]]\nname = \"heading\"\nsignal = {{ builtin = \"vessel-nmea2000\", name = \"heading\" }}\n\
             [[nodes]]\nname = \"a\"\non = [\"bus\"]\n[[nodes]]\nname = \"b\"\non = [\"bus\"]\n\
             [[nodes]]\nname = \"gate\"\non = [\"bus\", \"net\"]\ngateway = {{}}\n\
             [[nodes]]\nname = \"c\"\non = [\"net\"]\n[[nodes]]\nname = \"d\"\non = [\"net\"]\n\
             [[streams]]\nname = \"heading\"\nperiod = \"10ms\"\nlength = \"{length}B\"\n\
             payload = {{ recording = \"heading\" }}\n{stream}\n"
        )
    };
    let bus = "bus = { id = \"0x1\", format = \"fd\" }";
    // A sample of 8 bytes behind 4 on a bus and over gateways, behind 8 on Ethernet alone.
    for (stream, least) in [
        (format!("from = \"a\"\nto = [\"b\"]\n{bus}"), 12),
        (format!("from = \"c\"\nto = [\"b\"]\n{bus}"), 12),
        ("from = \"c\"\nto = [\"d\"]".to_owned(), 16),
    ] {
        assert!(matches!(plan(&text(least, &stream)).streams[0].payload, PayloadPlan::Recorded { recording: 0 }));
        let (code, _, _, help) = only_problem(&text(least - 1, &stream));
        assert_eq!((code, help), (Code::RecordingTooLong, format!("write `length = \"{least}B\"`")));
    }
}

#[test]
fn slots_behind_a_gateway_are_found_by_the_scheduler() {
    let text = relayed("\"tagged\"").replace(
        "period = \"10ms\"\ndeadline = { brake",
        "period = \"10ms\"\noffset = \"1ms\"\nbackbone = { class = \"time-triggered\" }\ndeadline = { brake",
    );
    let plan = plan(&text);
    let brake = &plan.streams[0];
    assert_eq!(brake.hops[1].class, "time-triggered");
    assert_eq!(brake.offset, Some(Duration::from_ms(1)), "of its first hop, which is no slot");
}
