//! Protections: what they become, on which stations, over which way, and what a person sees where one cannot be.

use chronoseal_core::NodeId;
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, MacAlgorithm, Profile};
use chronoseal_scenario::kinds::ethernet::relayed_frame_len;
use chronoseal_scenario::{
    Code, DataName, Identity, KeySource, NoFiles, Plan, Problems, ProtectionId, ProtectionKind, load,
};

const VEHICLE: &str = include_str!("vehicle.toml");
/// The protection of the vehicle's streams that stay on one segment, to be changed.
const SEALED: &str = "secoc = { profile = 1 }";
/// The stream of the vehicle that gateways carry, to be protected.
const RELAYED: &str = "length = \"8B\"";

fn plan(text: &str) -> Plan {
    load("vehicle.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn problems(text: &str) -> Problems {
    match load("vehicle.toml", text.as_bytes(), &[], &NoFiles) {
        Ok(_) => panic!("nothing is wrong with {text}"),
        Err(problems) => problems,
    }
}

/// The vehicle with another protection called `sealed`, and FD frames wherever that is sent, so that there is room.
fn sealed(protection: &str) -> String {
    VEHICLE
        .replace(SEALED, protection)
        .replace("body = { id = \"0x100\" }", "body = { id = \"0x100\", format = \"fd\" }")
}

/// The same on a stream of the backbone instead.
fn sealed_on_ethernet(protection: &str) -> String {
    let text =
        VEHICLE.replace(SEALED, protection).replace("length = \"4B\"\nprotection = \"sealed\"", "length = \"4B\"");
    text.replace("length = \"1000B\"\nprotection = \"tagged\"", "length = \"1000B\"\nprotection = \"sealed\"")
}

/// The vehicle with a protection of the relayed stream, which has FD frames on both CAN segments.
fn relayed(protection: &str) -> String {
    VEHICLE
        .replacen(RELAYED, &format!("{RELAYED}\nprotection = {protection}"), 1)
        .replace("powertrain = { id = \"0x0A0\" }", "powertrain = { id = \"0x0A0\", format = \"fd\" }")
        .replace("body = { id = \"0x0B0\" }", "body = { id = \"0x0B0\", format = \"fd\" }")
}

fn secured(plan: &Plan, name: &str) -> (Profile, KeySource, Identity) {
    match &plan.protections.iter().find(|protection| protection.name == name).expect("it is there").kind {
        ProtectionKind::Secured { profile, key, identity } => (*profile, key.clone(), *identity),
        other => panic!("no tag: {other:?}"),
    }
}

/// The one problem of a text: code, the texts that its labels point at, message and help.
#[track_caller]
fn only_problem(text: &str) -> (Code, Vec<String>, String, String) {
    let problems = problems(text);
    let [problem] = problems.list() else { panic!("{}", problems.render()) };
    let labels = problem.labels.iter().map(|(span, _)| text[span.clone()].to_owned()).collect();
    (problem.code, labels, problem.message.clone(), problem.help.clone().expect("it says what to do"))
}

#[test]
fn any_mac_goes_with_any_freshness_on_every_kind_of_segment() {
    let freshness = [
        ("\"full\"", Freshness::Full),
        ("\"none\"", Freshness::None),
        ("{ truncated = \"2B\" }", Freshness::Truncated { bits: 16 }),
        ("{ truncated = \"12bit\" }", Freshness::Truncated { bits: 12 }),
        ("{ rising = { sent = \"1B\" } }", Freshness::Rising { len: 8, sent_bits: 8 }),
        ("{ rising = { counter = \"4B\", sent = \"4bit\" } }", Freshness::Rising { len: 4, sent_bits: 4 }),
    ];
    for mac in MacAlgorithm::ALL {
        for (written, freshness) in freshness {
            let table =
                format!("mac = {{ algorithm = \"{mac}\", tag = \"8B\", freshness = {written}, replay_window = 3 }}");
            for text in [sealed(&table), sealed_on_ethernet(&table)] {
                let plan = plan(&text);
                let (profile, key, identity) = secured(&plan, "sealed");
                assert_eq!(profile, Profile::new(mac, 64, freshness, 3).expect("a legal profile"));
                assert!(matches!(key, KeySource::Shared(key) if mac.takes_key_len(key.expose().len())));
                assert_eq!(identity, Identity::Name);
                assert_eq!(plan.streams.iter().filter(|stream| stream.protection == ProtectionId(2)).count(), 1);
            }
        }
    }
}

#[test]
fn presets_are_profiles_that_can_be_written_out() {
    let counter = secoc::profile_1(FreshnessFormat::Counter { len: 8 }).expect("a profile");
    for (preset, written, profile) in [
        ("secoc = { profile = 1 }", "24bit\", freshness = { rising = { sent = \"1B\" } }, replay_window = 1", counter),
        ("secoc = { profile = 2 }", "24bit\", freshness = \"none\", replay_window = 1", secoc::profile_2()),
    ] {
        let mac = format!("mac = {{ algorithm = \"cmac-aes-128\", tag = \"{written} }}");
        assert_eq!(secured(&plan(&sealed(preset)), "sealed").0, profile);
        assert_eq!(secured(&plan(&sealed(&mac)), "sealed").0, profile);
    }
    let master = "[freshness]\nmaster = \"brake-rear\"\n\n[[recordings]]";
    let counted = |protection: &str| secured(&plan(&sealed(protection).replace("[[recordings]]", master)), "sealed").0;
    assert_eq!(counted("secoc = { profile = 3 }"), secoc::profile_3());
    let written = "mac = { algorithm = \"cmac-aes-128\", tag = \"28bit\", replay_window = 1, \
                   freshness = { trip_reset = { sent = \"4bit\" } } }";
    assert_eq!(counted(written), secoc::profile_3());
    // The preset with an HMAC has keys and identities of its own, and the same profile.
    let hmac = secured(&plan(VEHICLE), "tagged");
    let written = "mac = { algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\" }";
    let mac = secured(
        &plan(&VEHICLE.replace("hmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }", written)),
        "tagged",
    );
    assert_eq!((hmac.0, hmac.2, mac.2), (mac.0, Identity::Number, Identity::Name));
    assert_ne!(hmac.1, mac.1);
}

#[test]
fn a_key_is_drawn_written_or_agreed_on() {
    let with_key = |algorithm: &str, key: &str| {
        sealed(&format!("mac = {{ algorithm = \"{algorithm}\", tag = \"4B\", freshness = \"none\", key = \"{key}\" }}"))
    };
    let key_of = |text: &str| match secured(&plan(text), "sealed").1 {
        KeySource::Shared(key) => key.expose().to_vec(),
        other => panic!("{other:?}"),
    };
    let (cmac, hmac) = ("cmac-aes-128", "hmac-sha-512");
    assert_eq!(key_of(&with_key(cmac, &"5A".repeat(16))), [0x5a; 16]);
    assert_eq!(key_of(&with_key(hmac, "0aff")), [0x0a, 0xff]);
    let drawn = key_of(&with_key(cmac, "pre-shared"));
    assert_eq!(drawn.len(), 16);
    assert_eq!(key_of(&with_key(hmac, "pre-shared")).len(), 64);
    assert_ne!(key_of(&with_key(cmac, "pre-shared").replace("duration", "seed = 2\nduration")), drawn);
    let group = "[keys.vehicle.group]\norchestrator = \"zone-rear\"\nmembers = [\"brake-rear\", \"other\"]\n\
                 scheme = \"symmetric\"\n\n[[nodes]]\nname = \"other\"\non = [\"body\"]\n\n[[recordings]]";
    assert_eq!(
        secured(&plan(&with_key(cmac, "vehicle").replace("[[recordings]]", group)), "sealed").1,
        KeySource::Group
    );
    // What cannot be read may be a key, and is not shown.
    for secret in ["5a".repeat(15), "5a".repeat(17), format!("{}5", "5a".repeat(15)), format!("5x{}", "5a".repeat(15))]
    {
        let text = with_key(cmac, &secret);
        let (code, labels, message, help) = only_problem(&text);
        assert_eq!((code, labels), (Code::BadKey, vec![format!("\"{secret}\"")]));
        assert_eq!(message, "the key cannot be read: cmac-aes-128 takes 32 hexadecimal digits, two for each byte");
        assert!(help.contains("the name of a key") && !message.contains("5a"), "{help}");
    }
    assert_eq!(only_problem(&with_key(hmac, "")).0, Code::BadKey);
    assert_eq!(only_problem(&with_key(hmac, &"00".repeat(65))).0, Code::BadKey);
    let (code, _, _, help) = only_problem(&with_key(cmac, "pre-shard"));
    assert_eq!((code, help.as_str()), (Code::UnknownName, "did you mean `pre-shared`?"));
}

#[test]
fn what_makes_no_profile_is_refused_where_it_is_written() {
    let mac = |algorithm: &str, tag: &str, freshness: &str| {
        sealed(&format!("mac = {{ algorithm = \"{algorithm}\", tag = \"{tag}\", freshness = {freshness} }}"))
    };
    for (text, code, place, message, help) in [
        (
            mac("cmac-aes-128", "23bit", "\"full\""),
            Code::TagLength,
            "\"23bit\"",
            "a tag of 23bit is guessed too soon",
            "write 3B to 16B",
        ),
        (
            mac("hmac-sha-1", "21B", "\"full\""),
            Code::TagLength,
            "\"21B\"",
            "a tag of 21B is longer than the 20B of hmac-sha-1",
            "write 4B to 20B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ truncated = \"8B\" }"),
            Code::FreshnessLength,
            "\"8B\"",
            "a freshness value of 8B cannot be truncated to 8B",
            "\"7B\"",
        ),
        (
            mac("cmac-aes-128", "4B", "{ rising = { counter = \"9B\", sent = \"1B\" } }"),
            Code::FreshnessLength,
            "\"9B\"",
            "a counter of 9B cannot be kept",
            "write 1B to 8B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ rising = { counter = \"1B\", sent = \"9bit\" } }"),
            Code::FreshnessLength,
            "\"9bit\"",
            "9bit of this freshness value cannot be sent",
            "write 0bit to 1B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ trip_reset = { sent = \"1bit\" } }"),
            Code::FreshnessLength,
            "\"1bit\"",
            "1bit of this freshness value cannot be sent",
            "write 2bit to 28bit",
        ),
        (
            mac("md5", "4B", "\"full\""),
            Code::UnknownValue,
            "\"md5\"",
            "`algorithm` cannot be `md5`",
            "`\"cmac-aes-128\"`",
        ),
        (
            mac("cmac-aes-128", "32", "\"full\""),
            Code::MissingUnit,
            "\"32\"",
            "`tag` is no length in bits: ",
            "`\"32bit\"`",
        ),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels[0].as_str()), (code, place));
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
}

#[test]
fn stations_refuse_what_they_cannot_do_where_the_stream_names_it() {
    let mac = |rest: &str| format!("mac = {{ algorithm = \"cmac-aes-128\", tag = \"4B\", {rest} }}");
    let group = |text: String| {
        let keys = "[keys.vehicle.group]\norchestrator = \"zone-rear\"\nmembers = [\"brake-rear\", \"other\"]\n\
                    scheme = \"symmetric\"\n\n[[nodes]]\nname = \"other\"\non = [\"body\"]\n\n[[recordings]]";
        text.replace("[[recordings]]", keys)
    };
    for (text, code, message, help) in [
        (
            sealed(&mac("freshness = \"cycle-counter\"")),
            Code::FreshnessWithoutSlot,
            "`sealed` cannot be used on `body`: a CAN bus has no slots",
            "rising",
        ),
        (
            sealed_on_ethernet(&mac("freshness = \"cycle-counter\"")),
            Code::FreshnessWithoutSlot,
            "`sealed` takes freshness from the cycle counter, but best-effort frames",
            "`freshness = \"full\"`",
        ),
        (
            group(sealed_on_ethernet(&mac("freshness = \"full\", key = \"vehicle\""))),
            Code::WrongNetwork,
            "`sealed` cannot be used on `backbone`: a station on Ethernet has no group key",
            "`key = \"pre-shared\"`",
        ),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels), (code, vec!["\"sealed\"".to_owned()]));
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
    // Nobody counts trips and resets for a station on Ethernet, and it says so itself.
    let counted = problems(&sealed_on_ethernet("secoc = { profile = 3 }"));
    let told: Vec<&str> = counted.list().iter().map(|problem| problem.message.as_str()).collect();
    assert!(told.iter().any(|told| told.starts_with("`sealed` cannot be used on `backbone`: ")), "{told:?}");
    assert!(counted.list().iter().all(|problem| problem.code == Code::BadFreshness), "{told:?}");
}

#[test]
fn on_one_segment_every_spelling_means_the_same() {
    let shown = |protection: &str| {
        let text = VEHICLE.replace("protection = \"tagged\"", &format!("protection = {protection}"));
        let mut plan = plan(&text);
        plan.scenario_hash.clear();
        format!("{plan:?}")
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
        // 8 bytes, their freshness value and tag: 14 and 6 bytes of header before them on Ethernet, which pads to 60.
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
        (40, 0, 60, 60),
        (41, 0, 61, 61),
        (8, 24, 36, 60),
        (16, 24, 36, 60),
        (17, 24, 37, 61),
        (0, 60, 20, 80),
        (1494, 0, 1514, 1514),
        (1470, 24, 1490, 1514),
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
    assert_eq!(help, "write at most 4B, or `format = \"fd\"` for up to 60B");
    let (code, labels, told, help) = only_problem(&classical("{ backbone = \"tagged\", body = \"tagged\" }", "3B"));
    assert_eq!((code, labels[0].as_str()), (Code::ProtectionTooLong, "\"tagged\""));
    assert_eq!(told, "`tagged` adds 24B, and a classical CAN frame on `body` holds 8B");
    assert_eq!(help, "name a shorter protection, or `format = \"fd\"` for up to 40B");
    // The largest tag that fits, to the bit.
    let tagged = "hmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }";
    let short = "mac = { algorithm = \"cmac-aes-128\", tag = \"6B\", freshness = { truncated = \"4bit\" } }";
    let (code, _, _, help) = only_problem(&classical("\"tagged\"", "4B").replace(tagged, short));
    assert_eq!((code, help.as_str()), (Code::FrameTooLong, "write at most 1B, or a `tag` of 28bit at most"));
    let long = "mac = { algorithm = \"cmac-aes-128\", tag = \"16B\", freshness = { truncated = \"1B\" } }";
    let (code, _, _, help) = only_problem(&classical("\"tagged\"", "3B").replace(tagged, long));
    assert_eq!((code, help.as_str()), (Code::ProtectionTooLong, "write `tag = \"4B\"` at most"));
    // On Ethernet 6 bytes stand before a relayed PDU.
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
    let whole = plan(&to_the_cluster("1470B"));
    assert_eq!(whole.secured_len(&whole.streams[1], &whole.streams[1].hops[1]), 1514);
    let (code, _, told, _) = only_problem(&to_the_cluster("1471B"));
    assert_eq!(code, Code::FrameTooLong);
    assert!(told.starts_with("1471B and 24B of `tagged` do not fit the 1494B of an Ethernet frame on "), "{told}");
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
    assert!(told.contains("trips and resets") && help.contains("segments one by one"), "{told}: {help}");
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
    assert_eq!(code, Code::NotYet);
    assert!(told.contains("under the group key") && help.contains("pre-shared"), "{told}: {help}");
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
    assert_eq!((code, help.as_str()), (Code::BadName, "write a name that is 1 bytes shorter"));
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
fn slots_behind_a_gateway_are_found_by_the_scheduler() {
    let text = relayed("\"tagged\"").replace(
        "period = \"10ms\"\ndeadline = { brake",
        "period = \"10ms\"\noffset = \"1ms\"\nbackbone = { class = \"time-triggered\" }\ndeadline = { brake",
    );
    let plan = plan(&text);
    let brake = &plan.streams[0];
    assert_eq!(brake.hops[1].class, "time-triggered");
    assert_eq!(brake.offset, Some(chronoseal_core::Duration::from_ms(1)), "of its first hop, which is no slot");
}
