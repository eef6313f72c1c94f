//! Networks of several segments: what they become, and what a person sees for each thing that is wrong.

use crate::support::{changed, plan, refused};
use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{AttackPlace, Can, DeadlineKind, Ethernet, SegmentId, StreamClass};
use chronoseal_scenario::Code;

const VEHICLE: &str = include_str!("vehicle.toml");

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("segment_unknown", Code::UnknownName, "on = [\"body\"]", "on = [\"bdoy\"]"),
    (
        "segment_twice",
        Code::DuplicateName,
        "on = [\"backbone\", \"body\"]",
        "on = [\"backbone\", \"backbone\", \"body\"]",
    ),
    ("segment_not_named", Code::MissingKey, "name = \"pedal\"\non = [\"powertrain\"]", "name = \"pedal\""),
    ("segment_kind_unknown", Code::UnknownValue, "[segments.body.can]", "[segments.body.cam]"),
    ("segment_of_two_kinds", Code::ChooseOne, "[segments.body.can]", "[segments.body.ethernet]\n[segments.body.can]"),
    ("segment_named_like_a_key", Code::BadName, "[segments.body.can]", "[segments.length.can]"),
    ("table_misspelt", Code::UnknownKey, "body = { id = \"0x0B0\" }", "bdoy = { id = \"0x0B0\" }"),
    ("table_missing", Code::MissingKey, "body = { id = \"0x0B0\" }\n", ""),
    ("table_of_the_first_missing", Code::MissingKey, "powertrain = { id = \"0x0A0\" }\n", ""),
    ("table_not_crossed", Code::SegmentTable, "length = \"1000B\"", "length = \"1000B\"\nbody = { id = \"0x1\" }"),
    (
        "table_of_another_kind",
        Code::SegmentTable,
        "backbone = { class = \"time-triggered\" }",
        "backbone = { id = \"0x100\" }",
    ),
    ("table_is_a_text", Code::WrongType, "body = { id = \"0x0B0\" }", "body = \"0x0B0\""),
    ("no_way", Code::NoWay, "gateway = {}\n", ""),
    ("no_way_at_all", Code::NoWay, "on = [\"backbone\", \"body\"]\ngateway = {}", "on = [\"body\"]"),
    ("gateway_of_one_segment", Code::BadGateway, "name = \"cluster\"", "name = \"cluster\"\ngateway = {}"),
    ("gateway_queue_without_unit", Code::MissingUnit, "\"32 frames\"", "\"32\""),
    ("gateway_queue_empty", Code::OutOfRange, "\"32 frames\"", "\"0 frames\""),
    (
        "several_ways",
        Code::SeveralWays,
        "name = \"cluster\"\non = [\"backbone\"]",
        "name = \"cluster\"\non = [\"powertrain\", \"backbone\"]\ngateway = {}",
    ),
    (
        "several_segments",
        Code::SeveralWays,
        "on = [\"backbone\"]\n\n[[nodes]]\nname = \"logger\"\non = [\"backbone\"]",
        "on = [\"backbone\", \"body\"]\n\n[[nodes]]\nname = \"logger\"\non = [\"backbone\", \"body\"]",
    ),
    (
        "via_twice",
        Code::BadVia,
        "length = \"8B\"",
        "length = \"8B\"\nvia = [\"zone-front\", \"zone-front\", \"zone-rear\"]",
    ),
    (
        "via_no_gateway",
        Code::BadVia,
        "length = \"8B\"",
        "length = \"8B\"\nvia = [\"cluster\", \"zone-front\", \"zone-rear\"]",
    ),
    ("via_not_passed", Code::BadVia, "length = \"1000B\"", "length = \"1000B\"\nvia = [\"zone-rear\"]"),
    ("via_leads_nowhere", Code::NoWay, "length = \"8B\"", "length = \"8B\"\nvia = [\"zone-front\"]"),
    ("payload_too_long_on_the_way", Code::FrameTooLong, "length = \"8B\"", "length = \"9B\""),
    ("payload_too_long_with_tag", Code::FrameTooLong, "length = \"1000B\"", "length = \"65490B\""),
    ("protection_too_long", Code::ProtectionTooLong, "length = \"8B\"", "length = \"8B\"\nprotection = \"tagged\""),
    ("deadline_too_short", Code::DeadlineTooShort, "brake-rear = \"6ms\"", "brake-rear = \"300us\""),
    ("deadline_of_no_receiver", Code::UnknownName, "cluster = \"2ms\"", "clustre = \"2ms\""),
    (
        "deadline_is_a_number",
        Code::MissingUnit,
        "deadline = { brake-rear = \"6ms\", cluster = \"2ms\" }",
        "deadline = 6",
    ),
    ("period_twice", Code::ChooseOne, "deadline_kind = \"age\"", "period = \"10ms\""),
    ("period_missing", Code::MissingKey, "on_change = { min_distance = \"20ms\" }\n", ""),
    ("receivers_missing", Code::MissingKey, "to = [\"logger\"]\n", ""),
    (
        "switches",
        Code::BadIntegration,
        "rate = \"1Gbit/s\"",
        "rate = \"1Gbit/s\"\ndispatch = \"immediate\"\nswitches = [\"front\", \"rear\"]",
    ),
    (
        "links",
        Code::BadIntegration,
        "rate = \"1Gbit/s\"",
        "rate = \"1Gbit/s\"\ndispatch = \"immediate\"\nlinks = [{ between = [\"cluster\", \"switch\"], rate = \"100Mbit/s\" }]",
    ),
    ("on_change_in_slots", Code::MissingKey, "count = 2\nperiod = \"5ms\"", "on_change = { min_distance = \"5ms\" }"),
    (
        "keys_two",
        Code::NotYet,
        "[[recordings]]",
        "[keys.one.group]\norchestrator = \"pedal\"\nscheme = \"symmetric\"\n\
         [keys.two.group]\norchestrator = \"pedal\"\nscheme = \"symmetric\"\n[[recordings]]",
    ),
    (
        "keys_over_gateways",
        Code::BadGroup,
        "[[recordings]]",
        "[keys.one.group]\norchestrator = \"pedal\"\nmembers = [\"zone-front\", \"brake-rear\"]\n\
         scheme = \"symmetric\"\n[[recordings]]",
    ),
    ("key_unknown", Code::UnknownName, "secoc = { profile = 1 }", "secoc = { profile = 1, key = \"pre-shred\" }"),
    ("traffic_elsewhere", Code::NoWay, "from = \"pedal\"\n\n", "from = \"pedal\"\nsegment = \"body\"\n\n"),
    ("traffic_on_ethernet", Code::UnknownName, "from = \"pedal\"\n\n", "from = \"cluster\"\n\n"),
    ("threat_in_a_station", Code::ThreatPlace, "at = { node = \"zone-front\" }", "at = { node = \"cluster\" }"),
    ("threat_in_another_gateway", Code::ThreatPlace, "at = { node = \"zone-front\" }", "at = { node = \"other\" }"),
    (
        "threat_on_another_segment",
        Code::ThreatPlace,
        "stream = \"door\"",
        "stream = \"door\"\nat = { segment = \"backbone\" }",
    ),
    ("threat_without_stream", Code::MissingKey, "stream = \"door\"\n", ""),
    ("tamper_on_can", Code::ThreatPlace, "kind = \"spoof\"", "kind = \"tamper\""),
    (
        "tasks_on_can",
        Code::WrongNetwork,
        "name = \"pedal\"",
        "name = \"pedal\"\ntasks = [{ name = \"t\", period = \"5ms\", wcet = \"1ms\" }]",
    ),
    ("address_on_ethernet", Code::WrongNetwork, "name = \"logger\"", "name = \"logger\"\naddress = 3"),
];

#[test]
fn every_problem_of_a_network_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let mut text = changed(name, VEHICLE, old, new);
        if *name == "threat_in_another_gateway" {
            let other =
                "name = \"other\"\non = [\"powertrain\", \"body\"]\ngateway = {}\n\n[[nodes]]\nname = \"pedal\"";
            text = text
                .replace("name = \"pedal\"", other)
                .replace("length = \"8B\"", "length = \"8B\"\nvia = [\"zone-front\", \"zone-rear\"]");
        }
        let problems = refused(name, "vehicle.toml", &text, *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn a_stream_finds_its_way_over_gateways_as_a_tree() {
    let plan = plan(VEHICLE);
    let names: Vec<&str> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(names, ["powertrain", "backbone", "body"], "in the order of the text");
    let way: Vec<_> = (plan.streams[0].hops.iter())
        .map(|hop| (hop.segment.0, hop.from.0, hop.to.iter().map(|node| node.0).collect::<Vec<_>>(), hop.previous))
        .collect();
    assert_eq!(way, [(0, 0, vec![1], None), (1, 1, vec![2, 4], Some(0)), (2, 2, vec![3], Some(1))]);
    let lengths: Vec<u32> = plan.streams[0].hops.iter().map(|hop| hop.frame_len).collect();
    assert_eq!(lengths, [8, 60, 8], "Ethernet pads what is shorter than its smallest frame");
    let gateway = plan.nodes[1].gateway.as_ref().expect("it forwards");
    assert_eq!((gateway.delay, gateway.queue_len_max), (Duration::from_us(40), 32));
    assert_eq!(plan.nodes[2].gateway.as_ref().map(|gateway| gateway.queue_len_max), Some(64));
    assert_eq!(plan.nodes[1].interfaces, [SegmentId(0), SegmentId(1)]);
}

#[test]
fn via_chooses_between_ways_of_one_length() {
    let two_ways = VEHICLE.replacen(
        "name = \"cluster\"\non = [\"backbone\"]",
        "name = \"cluster\"\non = [\"powertrain\", \"backbone\"]\ngateway = {}",
        1,
    );
    for (via, first) in [("[\"zone-front\", \"zone-rear\"]", 1), ("[\"cluster\", \"zone-rear\"]", 4)] {
        let text = two_ways
            .replacen("length = \"8B\"", &format!("length = \"8B\"\nvia = {via}"), 1)
            .replace("at = { node = \"zone-front\" }", "at = { node = \"zone-rear\" }");
        let plan = plan(&text);
        assert_eq!(plan.streams[0].hops[1].from, NodeId(first));
        // The cluster hears the pedal itself.
        assert!(plan.streams[0].hops[0].to.contains(&NodeId(4)));
    }
}

#[test]
fn each_kind_sees_its_own_streams() {
    let plan = plan(VEHICLE);
    let backbone = Ethernet::first(&plan).expect("there is one");
    let classes: Vec<StreamClass> = backbone.streams().map(|stream| stream.class).collect();
    let best_effort = StreamClass::BestEffort { priority: 2 };
    let slots = [1, 2].map(|ct_id| StreamClass::TimeTriggered { ct_id });
    assert_eq!(classes, [best_effort, best_effort, slots[0], slots[1]]);
    assert_eq!(backbone.stations().count(), 4);
    let (powertrain, body) = (Can::of(&plan, SegmentId(0)).expect("CAN"), Can::of(&plan, SegmentId(2)).expect("CAN"));
    assert_eq!((powertrain.messages().count(), body.messages().count()), (1, 2));
    assert_eq!((powertrain.recordings().count(), body.recordings().count()), (1, 0));
    assert_eq!(plan.nodes.iter().map(|node| node.address).collect::<Vec<_>>(), [1, 2, 3, 4, 0, 0]);
}

#[test]
fn deadlines_differ_by_receiver_and_default_by_kind() {
    let plan = plan(VEHICLE);
    let [brake, picture, .., door] = &plan.streams[..5] else { panic!("five streams") };
    let ms = Duration::from_ms;
    assert_eq!((brake.deadline_of(NodeId(3)), brake.deadline_of(NodeId(4))), (Some(ms(6)), Some(ms(2))));
    assert_eq!(picture.deadline, None);
    assert_eq!((door.deadline, door.min_distance, door.period), (Some(ms(20)), Some(ms(20)), ms(20)));
    assert_eq!((brake.deadline_kind, door.deadline_kind), (DeadlineKind::Reaction, DeadlineKind::Age));
    // Who names no receivers reaches all others on its segment.
    assert_eq!(door.receivers, [NodeId(2)]);
}

#[test]
fn attackers_sit_in_gateways_and_on_segments() {
    let plan = plan(VEHICLE);
    let places: Vec<_> = plan.attackers.iter().map(|attacker| (attacker.name.as_str(), attacker.place)).collect();
    assert_eq!(
        places,
        [
            ("attacker-in-zone-front", AttackPlace::AtNode(NodeId(1))),
            ("forged door", AttackPlace::OnSegment(SegmentId(2)))
        ]
    );
    assert_eq!(plan.threats[0].every, Duration::from_ms(10), "the period of its stream");
}

#[test]
fn identifiers_of_streams_alike_follow_the_first() {
    let text = VEHICLE.replace("on_change = { min_distance = \"20ms\" }", "count = 3\nperiod = \"20ms\"");
    let plan = plan(&text.replace("stream = \"door\"", "stream = \"door.1\""));
    let body = Can::of(&plan, SegmentId(2)).expect("CAN");
    assert_eq!(body.messages().map(|message| message.id.raw()).collect::<Vec<_>>(), [0xb0, 0x100, 0x101, 0x102]);
}

#[test]
fn a_named_switch_is_the_segments_own_node() {
    let named = VEHICLE.replace("rate = \"1Gbit/s\"", "rate = \"1Gbit/s\"\nswitches = [\"core\"]");
    assert_eq!(plan(&named).segments[1].own_nodes, ["core"]);
    assert_eq!(plan(VEHICLE).segments[1].own_nodes, ["switch"]);
}
