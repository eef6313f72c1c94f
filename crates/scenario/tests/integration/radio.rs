//! Radio segments: the road beside them, their stations, messages and attacks.

use crate::support::plan;
use chronoseal_core::{Duration, NodeId};
use chronoseal_media::radio::Position;
use chronoseal_plan::{AttackerPlace, Radio, SegmentId};
use chronoseal_scenario::{Code, FileError, Files, NoFiles, Problems, load};
use chronoseal_v2x_fleet::simulation::{Perceives, Rider};
use chronoseal_v2x_fleet::station::{MessageKind, RoadUser};
use chronoseal_wire::its::VruProfile;

const STREET: &str = r#"
schema_version = 2
name = "street"
duration = "3s"
[segments.street.radio]
road = { highway = { length = "1km", vehicles = 20, warm_up = "40s" } }
vehicles = { platform = "unit", pseudonyms = { policy = "segments", silence = { min = "3s", max = "13s" } } }
posts = [{ x = "10m", y = "-5m" }]
[[platforms]]
name = "unit"
costs = [{ operation = "p256-sign", base = "0s" }, { operation = "p256-verify", base = "0s" }]
[[nodes]]
name = "roadside"
station = { x = "500m", y = "10m" }
[[streams]]
name = "awareness"
from = "street"
street = { message = "cam" }
[[streams]]
name = "warning"
from = "street"
to = ["roadside"]
period = "500ms"
deadline = "100ms"
street = { message = "denm" }
[[threats]]
name = "echo"
kind = "replay"
stream = "awareness"
street = { x = "-3m", y = "4m" }
"#;

fn problems(text: &str) -> Problems {
    load("street.toml", text.as_bytes(), &[], &NoFiles).expect_err("it is refused")
}

#[test]
fn vehicles_of_the_road_are_nodes_behind_those_of_the_scenario() {
    let plan = plan(STREET);
    let view = Radio::first(&plan).expect("a radio segment");
    let vehicles = view.segment.fleet.trips.trips.len();
    assert!((10..60).contains(&vehicles), "{vehicles}");
    assert_eq!(plan.segments[0].brought, 1..2 + vehicles as u16, "the post is the last one");
    assert_eq!((plan.nodes[0].name.as_str(), plan.nodes[1].name.as_str()), ("roadside", "street-0"));
    let post = &plan.nodes[vehicles + 1];
    assert_eq!(
        (post.name.as_str(), plan.platforms[usize::from(post.platform.0)].name.as_str()),
        ("street-post-0", "unit")
    );
    assert!(matches!(view.rider(NodeId(0)), Some(Rider::Station(_))));
    assert!(matches!(view.rider(NodeId(1)), Some(Rider::Vehicle(0))));
    assert!(matches!(
        view.rider(NodeId(1 + vehicles as u16)),
        Some(Rider::Post(Position { x_mm: 10_000, y_mm: -5_000 }))
    ));
    assert!(view.rider(NodeId(2 + vehicles as u16)).is_none(), "the attacker is none of them");
    assert_eq!(view.segment.fleet.policy.name, "segments, 3 to 13 s silent");
}

#[test]
fn whoever_of_the_road_sends_a_stream_and_everybody_hears_it() {
    let plan = plan(STREET);
    let [cam, denm] = &plan.streams[..] else { panic!("two streams") };
    let all = plan.nodes.len();
    assert_eq!((cam.sent_by, cam.sender, cam.receivers.len()), (Some(SegmentId(0)), NodeId(1), all));
    assert_eq!((cam.period, cam.min_distance), (Duration::from_ms(100), Some(Duration::from_ms(100))));
    assert_eq!((denm.receivers.as_slice(), denm.deadline), (&[NodeId(0)][..], Some(Duration::from_ms(100))));
    let view = Radio::first(&plan).expect("a radio segment");
    let (_, _, hop, facet) = view.stream(MessageKind::Denm).expect("a stream of DENMs");
    let witness = facet.vehicle.expect("a vehicle of the road");
    let messages = |node: usize| view.messages(NodeId(node as u16));
    let hazard = messages(1 + witness).hazard.expect("what it noticed");
    assert_eq!((hazard.every, hop.class), (Duration::from_ms(500), "denm"));
    let other = (0..3).find(|index| *index != witness).expect("one of three is another");
    assert!(messages(1 + other).sends_cam && messages(1 + other).hazard.is_none());
    assert!(!messages(0).sends_cam, "the roadside unit is none of the road's vehicles");
    assert_eq!(
        plan.threats[0].facet.as_ref().and_then(|facet| facet.get()),
        Some(&AttackerPlace(Position { x_mm: -3_000, y_mm: 4_000 }))
    );
}

#[test]
fn a_station_alone_can_send_what_the_others_hear() {
    let text = STREET.replacen("from = \"street\"", "from = \"roadside\"", 1);
    let plan = plan(&text);
    let view = Radio::first(&plan).expect("a radio segment");
    assert_eq!((plan.streams[0].sent_by, plan.streams[0].receivers.len()), (None, plan.nodes.len() - 1));
    assert!(view.messages(NodeId(0)).sends_cam && !view.messages(NodeId(1)).sends_cam);
}

#[test]
fn what_senders_of_cpms_and_vams_are_is_said_by_their_streams() {
    let second = "street = { message = \"denm\" }";
    let of = |text: &str, kind, node: usize| {
        let plan = plan(text);
        let view = Radio::first(&plan).expect("a radio segment");
        (view.permits(), view.stream(kind).expect("the stream").2.class, view.messages(NodeId(node as u16)))
    };
    assert_eq!(of(STREET, MessageKind::Cam, 1).0, [], "what nobody sends is in no ticket");
    let cpm = STREET.replacen(second, "street = { message = \"cpm\", range = \"50m\" }", 1);
    let (permits, class, vehicle) = of(&cpm, MessageKind::Cpm, 1);
    assert_eq!((permits.as_slice(), class), (&[MessageKind::Cpm][..], "cpm"));
    let perceives = Perceives { range_mm: 50_000, every: Duration::from_ms(500) };
    assert_eq!((vehicle.perceives, vehicle.sends_cam, vehicle.hazard), (Some(perceives), true, None));
    assert_eq!(of(&cpm, MessageKind::Cpm, 0).2.perceives, None, "the roadside unit is none of the road's vehicles");

    let vam = STREET.replacen("from = \"street\"\nto = [\"roadside\"]", "from = \"roadside\"", 1);
    let vam = vam.replacen(second, "street = { message = \"vam\", profile = \"bicyclist\" }", 1);
    let (permits, _, walker) = of(&vam, MessageKind::Vam, 0);
    assert_eq!(permits, [MessageKind::Vam]);
    let every = Duration::from_ms(500);
    assert_eq!(walker.road_user, Some(RoadUser { profile: VruProfile::Bicyclist(1), every }));
    assert_eq!(of(&vam, MessageKind::Vam, 1).2.road_user, None);
    for (message, longest, said) in [("cpm", "1s", "two CPMs"), ("vam", "5s", "two VAMs")] {
        for (period, is_taken) in [(longest, true), ("50ms", false), ("6s", false)] {
            let text = vam.replacen(
                "street = { message = \"vam\", profile = \"bicyclist\" }",
                "street = { message = \"KIND\" }",
                1,
            );
            let text = text.replacen("KIND", message, 1).replacen("500ms", period, 1);
            match load("street.toml", text.as_bytes(), &[], &NoFiles) {
                Ok(_) => assert!(is_taken, "{message} every {period}"),
                Err(problems) => assert!(!is_taken && problems.render().contains(said), "{}", problems.render()),
            }
        }
    }
}

#[test]
fn a_road_without_written_nodes_is_enough_and_one_without_anybody_is_not() {
    let alone = STREET.replace("[[nodes]]\nname = \"roadside\"\nstation = { x = \"500m\", y = \"10m\" }\n", "");
    let alone = alone.replace("to = [\"roadside\"]\n", "");
    assert_eq!(plan(&alone).segments[0].brought.start, 0);
    let nobody = "schema_version = 2\nname = \"x\"\nduration = \"1s\"\n[segments.s.radio]\nrate = \"6Mbit/s\"\n";
    assert_eq!(problems(nobody).list()[0].code, Code::MissingKey);
}

struct Trace(&'static str);

impl Files for Trace {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "town.xml" => Ok(self.0.into()),
            _ => Err(FileError::Unknown),
        }
    }
}

#[test]
fn a_trace_comes_in_as_bytes_and_its_problems_have_a_line() {
    let trace = "<fcd-export>\n<timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\" angle=\"0\" speed=\"3\"/></timestep>\n\
                 <timestep time=\"1\"><vehicle id=\"a\" x=\"1\" y=\"5\" angle=\"0\" speed=\"3\"/></timestep>\n</fcd-export>\n";
    let road = "road = { highway = { length = \"1km\", vehicles = 20, warm_up = \"40s\" } }";
    let text = STREET
        .replace(road, "road = { sumo = \"town.xml\" }")
        .replace("from = \"street\"\nto", "from = \"roadside\"\nto");
    let text = text.replace("to = [\"roadside\"]\n", "");
    let load_with = |trace, text: &str| load("street.toml", text.as_bytes(), &[], &Trace(trace));
    let plan = load_with(trace, &text).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Radio::first(&plan).expect("a radio segment");
    assert_eq!((view.segment.fleet.trips.trips.len(), view.segment.middle), (1, Position { x_mm: 1_000, y_mm: 3_500 }));
    let cut = load_with("<fcd-export>\n", &text).expect_err("it ends too early");
    assert!(cut.render().contains("town.xml:") && cut.render().contains("--fcd-output"), "{}", cut.render());
    let missing = load_with(trace, &text.replace("town.xml", "nowhere.xml")).expect_err("there is none");
    assert!(missing.render().contains("nowhere.xml"), "{}", missing.render());
}

#[test]
fn what_cannot_be_is_refused_with_its_place_and_what_to_write() {
    for (old, new, code, said) in [
        ("length = \"1km\"", "length = \"1\"", Code::MissingUnit, "1km"),
        ("length = \"1km\"", "length = \"99m\"", Code::OutOfRange, "from 100m to 100km"),
        ("vehicles = 20", "vehicles = 2000", Code::OutOfRange, "write at most"),
        ("vehicles = 20", "vehicles = 20, flow = \"100/h\"", Code::ChooseOne, "keep one of them"),
        ("vehicles = 20", "vehicles = 20, speed = \"10km/h\"", Code::OutOfRange, "speed"),
        ("[segments.street.radio]", "[segments.street.radio]\nrate = \"7Mbit/s\"", Code::OutOfRange, "6Mbit/s"),
        (
            "[segments.street.radio]",
            "[segments.street.radio]\ncapture = \"10dB\"\npath_loss = { disc = { range = \"300m\" } }",
            Code::ChooseOne,
            "capture",
        ),
        (
            "[segments.street.radio]",
            "[segments.street.radio]\npath_loss = { log_distance = { sensitivity = \"-90dBm\" } }",
            Code::OutOfRange,
            "carrier_sense",
        ),
        (
            "[segments.street.radio]",
            "[segments.street.radio]\npath_loss = { log_distance = { exponent = 11 } }",
            Code::OutOfRange,
            "free space",
        ),
        (
            "[segments.street.radio]",
            "[segments.street.radio]\norigin = { latitude = \"95deg\", longitude = \"9deg\" }",
            Code::OutOfRange,
            "latitude",
        ),
        ("policy = \"segments\"", "policy = \"segment\"", Code::UnknownName, "segments"),
        ("policy = \"segments\"", "policy = \"mix-zone\"", Code::MissingKey, "mix_zones"),
        ("min = \"3s\", max", "min = \"30s\", max", Code::OutOfRange, "the shorter one as `min`"),
        ("platform = \"unit\"", "platform = \"unti\"", Code::UnknownName, "unit"),
        ("station = { x", "# { x", Code::MissingKey, "station = {}"),
        ("station = { x = \"500m\"", "station = { speed = \"400km/h\", x = \"500m\"", Code::OutOfRange, "speed"),
        ("street = { message = \"cam\" }", "", Code::MissingKey, "street"),
        ("message = \"cam\" }", "message = \"cam\" }\nlength = \"60B\"", Code::SegmentTable, "leave it out"),
        ("message = \"cam\" }", "message = \"cam\" }\nperiod = \"1s\"", Code::SegmentTable, "leave it out"),
        ("message = \"cam\" }", "message = \"cam\", cause = 94 }", Code::SegmentTable, "denm"),
        ("message = \"cam\" }", "message = \"cam\" }\ncount = 2", Code::TooMany, "count"),
        ("message = \"denm\" }", "message = \"denm\", at = \"90s\" }", Code::NoReceivers, "another time"),
        ("message = \"denm\" }", "message = \"cam\" }", Code::SegmentTable, "period"),
        ("message = \"denm\" }", "message = \"cpm\", cause = 94 }", Code::SegmentTable, "message = \"denm\""),
        ("message = \"denm\" }", "message = \"cpm\", range = \"500m\" }", Code::OutOfRange, "from 1m to 400m"),
        ("message = \"denm\" }", "message = \"denm\", range = \"50m\" }", Code::SegmentTable, "message = \"cpm\""),
        ("message = \"denm\" }", "message = \"cpm\", profile = \"bicyclist\" }", Code::SegmentTable, "vulnerable"),
        ("message = \"denm\" }", "message = \"vam\" }", Code::NotYet, "no vulnerable road users"),
        ("message = \"denm\" }", "message = \"vam\", profile = \"horse\" }", Code::UnknownValue, "pedestrian"),
        ("period = \"500ms\"\n", "", Code::MissingKey, "period"),
        ("from = \"street\"\nto", "from = \"stret\"\nto", Code::UnknownName, "stret"),
        ("to = [\"roadside\"]", "to = [\"street-3\"]", Code::UnknownName, "street-3"),
        ("kind = \"replay\"", "kind = \"tamper\"", Code::ThreatPlace, "spoof"),
        ("kind = \"replay\"", "kind = \"replay\"\nat = { link = \"roadside\" }", Code::ThreatPlace, "segment"),
        ("name = \"roadside\"", "name = \"street-0\"", Code::BadName, "another name"),
    ] {
        assert!(STREET.contains(old), "{old}");
        let found = problems(&STREET.replacen(old, new, 1));
        let is_it = |problem: &&chronoseal_scenario::Problem| problem.code == code;
        assert!(found.list().iter().any(|problem| is_it(&problem)), "{new}: {}", found.render());
        assert!(found.render().contains(said), "{new}: {}", found.render());
    }
}

#[test]
fn two_streams_of_one_kind_of_message_and_other_protections_are_refused() {
    let twice = STREET.replace("period = \"500ms\"\n", "").replace("message = \"denm\"", "message = \"cam\"");
    let found = problems(&twice);
    assert!(found.list().iter().any(|problem| problem.code == Code::TooMany), "{}", found.render());
    let protected = STREET.replacen("street = { message", "protection = \"tag\"\nstreet = { message", 1)
        + "[[protections]]\nname = \"tag\"\nmac = { algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\" }\n";
    let found = problems(&protected);
    assert!(found.render().contains("`security` of the segment"), "{}", found.render());
    let on_ethernet = "schema_version = 2\nname = \"x\"\nduration = \"1s\"\n[segments.n.ethernet]\nrate = \"100Mbit/s\"\n\
                       cluster_cycle = \"10ms\"\n[[nodes]]\nname = \"a\"\nstation = {}\n[[nodes]]\nname = \"b\"\n";
    let found = problems(on_ethernet);
    assert!(found.list().iter().any(|problem| problem.code == Code::WrongNetwork), "{}", found.render());
}

/// Any number of vehicles that stand, a second long.
struct Town(usize);

impl Files for Town {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileError> {
        let vehicle =
            |index: usize| format!("<vehicle id=\"v{index}\" x=\"{index}\" y=\"0\" angle=\"0\" speed=\"0\"/>");
        let all: String = (0..self.0).map(vehicle).collect();
        let step = |time: u32| format!("<timestep time=\"{time}\">{all}</timestep>");
        Ok(format!("<fcd-export>{}{}</fcd-export>", step(0), step(1)).into_bytes())
    }
}

#[test]
fn a_town_of_vehicles_is_a_scenario_and_more_than_node_numbers_is_not() {
    let text = "schema_version = 2\nname = \"town\"\nduration = \"1s\"\n[segments.t.radio]\nroad = { sumo = \"town\" }\n\
                [[streams]]\nname = \"cam\"\nfrom = \"t\"\nt = { message = \"cam\" }\n";
    let town = |vehicles| load("town.toml", text.as_bytes(), &[], &Town(vehicles));
    let plan = town(1_200).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!((plan.nodes.len(), plan.streams[0].receivers.len()), (1_200, 1_200));
    let found = town(60_001).expect_err("too many");
    assert!(found.list().iter().any(|problem| problem.code == Code::TooMany), "{}", found.render());
}

/// JSON values, by way of which a scenario is read, hold no such numbers, so nothing but the shape may refuse them.
#[test]
fn numbers_that_are_none_are_refused_at_their_place() {
    for number in ["inf", "-inf", "nan", "+nan"] {
        let text = STREET
            .replace("road = {", &format!("path_loss = {{ log_distance = {{ exponent = {number} }} }}\nroad = {{"));
        let problems = problems(&text);
        let [problem] = problems.list() else { panic!("{number}: {}", problems.render()) };
        assert_eq!(problem.code, Code::WrongType, "{number}");
        assert_eq!(&text[problem.labels[0].0.clone()], number);
        assert!(problems.render().contains("a finite number"), "{}", problems.render());
    }
    let text = STREET.replace("road = {", "path_loss = { log_distance = { exponent = 2.5e0 } }\nroad = {");
    assert!(load("street.toml", text.as_bytes(), &[], &NoFiles).is_ok());
}
