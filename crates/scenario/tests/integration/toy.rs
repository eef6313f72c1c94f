//! A kind of segment that this crate knows nothing of: two stations, and a wire that takes the same time for every frame.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{AttackPlace, Facet, Plan};
use chronoseal_scenario::kinds::{
    Context, HopParts, HopRequest, Room, SegmentParts, SegmentRequest, Step, ThreatParts, ThreatRequest, schema_of,
};
use chronoseal_scenario::{Code, KINDS, NoFiles, Problems, Quantity, SegmentKind, load_with, parse_with, schema_with};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

struct Toy;

/// What a scenario says of a wire.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireSpec {
    /// What every frame takes.
    delay: Quantity<Duration>,
}

/// What a stream has on a wire.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireStreamSpec {
    /// A number that no other stream has.
    number: u8,
}

/// What an attack has on a wire.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireThreatSpec {}

#[derive(Clone, PartialEq, Debug)]
struct Wire {
    delay: Duration,
}

#[derive(Clone, PartialEq, Debug)]
struct Numbered(u8);

impl SegmentKind for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn segment_schema(&self) -> Json {
        schema_of::<WireSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<WireStreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<WireThreatSpec>()
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        let spec: WireSpec = request.table.read(context)?;
        let at = request.table.at("delay");
        let delay = context.within(&at, "the delay", spec.delay.0, Duration::ZERO, Duration::from_s(1));
        if let Some((third, node)) = request.nodes_on_it().nth(2) {
            context.report(
                Code::TooMany,
                &[Step::Key("nodes"), Step::Index(third), Step::Key("on")],
                format!("`{}` is the third on `{}`", node.name, request.name),
                "one too many",
                "a wire has two ends",
            );
        }
        let plug = format!("{}-plug", request.name);
        Some(SegmentParts { own_nodes: vec![plug], ..SegmentParts::new(Facet::new(Wire { delay })) })
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        let spec: WireStreamSpec = request.table.read(context)?;
        let wire: &Wire = request.segment.facet()?;
        Some(HopParts {
            frame_len: request.stream.payload_len + 1,
            class: "numbered",
            facet: Facet::new(Numbered(spec.number)),
            has_slots: false,
            room: Room { bytes: 100, frame: "a frame of a wire", other_way: String::new() },
            wire_time: wire.delay,
        })
    }

    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        let WireThreatSpec {} = request.table.read(context)?;
        Some(ThreatParts { attacker: "cutter".into(), at_slot_offset: Duration::ZERO, every: None, facet: None })
    }
}

const TWO: &str = r#"
schema_version = 2
name = "two"
duration = "1s"
[segments.wire.toy]
delay = "1ms"
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "s"
from = "a"
to = ["b"]
period = "10ms"
length = "20B"
wire = { number = 7 }
[[threats]]
name = "t"
kind = "spoof"
stream = "s"
"#;

fn load(kinds: &[&dyn SegmentKind], text: &str) -> Result<Plan, Problems> {
    load_with(kinds, "two.toml", text.as_bytes(), &[], &NoFiles)
}

fn right(kinds: &[&dyn SegmentKind], text: &str) -> Plan {
    load(kinds, text).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

#[test]
fn a_kind_of_ones_own_resolves_its_segments_and_hops() {
    let plan = right(&[&Toy], TWO);
    assert_eq!((plan.segments[0].name.as_str(), plan.segments[0].kind), ("wire", "toy"));
    assert_eq!(plan.segments[0].facet.get(), Some(&Wire { delay: Duration::from_ms(1) }));
    assert_eq!(plan.segments[0].own_nodes, ["wire-plug"]);
    let hop = &plan.streams[0].hops[0];
    assert_eq!((hop.frame_len, hop.class, hop.facet.get()), (21, "numbered", Some(&Numbered(7))));
    assert!(plan.streams[0].offset.is_some_and(|offset| offset < Duration::from_ms(10)), "it is drawn");
    assert_eq!(plan.attackers[0].name, "cutter");
    assert!(matches!(plan.attackers[0].place, AttackPlace::OnSegment(_)));
    assert_eq!(plan.threats[0].every, Duration::from_ms(10), "the period of its stream");
}

#[test]
fn a_kind_of_ones_own_stands_beside_the_others() {
    let kinds: Vec<&dyn SegmentKind> = KINDS.iter().copied().chain([&Toy as &dyn SegmentKind]).collect();
    let more = "name = \"b\"\non = [\"wire\", \"bus\"]\ngateway = {}\n[[nodes]]\nname = \"c\"\non = [\"bus\"]\n";
    let text = TWO
        .replace("[segments.wire.toy]", "[segments.bus.can]\nbit_rate = \"500kbit/s\"\n[segments.wire.toy]")
        .replace("name = \"a\"\n", "name = \"a\"\non = [\"wire\"]\n")
        .replace("name = \"b\"\n", more)
        .replace("to = [\"b\"]", "to = [\"c\"]")
        .replace("length = \"20B\"", "length = \"8B\"\nbus = { id = \"0x1\" }");
    let plan = right(&kinds, &text);
    let way: Vec<(&str, NodeId)> = plan.streams[0].hops.iter().map(|hop| (hop.class, hop.from)).collect();
    assert_eq!(way, [("numbered", NodeId(0)), ("message", NodeId(1))]);
    let validator = jsonschema::validator_for(&schema_with(&kinds)).expect("a JSON Schema");
    let table: toml::Table = text.parse().expect("TOML");
    assert!(validator.is_valid(&serde_json::to_value(table).expect("tables are objects")));
}

#[test]
fn what_is_wrong_with_a_kind_of_ones_own_is_found_like_everything_else() {
    let recording = "[[recordings]]\nname = \"r\"\ntraffic = { file = \"x\" }\nfrom = \"a\"\n[[threats]]";
    for (old, new, code) in [
        ("delay = \"1ms\"", "delay = \"1\"", Code::MissingUnit),
        ("delay = \"1ms\"", "dealy = \"1ms\"", Code::UnknownKey),
        ("delay = \"1ms\"", "delay = \"2s\"", Code::OutOfRange),
        ("number = 7", "number = 256", Code::OutOfRange),
        ("number = 7", "nmuber = 7", Code::UnknownKey),
        ("wire = { number = 7 }", "", Code::MissingKey),
        ("wire = { number = 7 }", "wier = { number = 7 }", Code::UnknownKey),
        ("length = \"20B\"", "length = \"101B\"", Code::FrameTooLong),
        ("length = \"20B\"", "length = \"20B\"\ndeadline = \"500us\"", Code::DeadlineTooShort),
        ("name = \"b\"", "name = \"b\"\n[[nodes]]\nname = \"c\"", Code::TooMany),
        ("name = \"b\"", "name = \"b\"\n[[nodes]]\nname = \"wire-plug\"", Code::BadName),
        ("name = \"b\"", "name = \"b\"\naddress = 3", Code::WrongNetwork),
        ("[segments.wire.toy]", "[segments.wire.can]", Code::UnknownValue),
        ("[[threats]]", recording, Code::NotYet),
    ] {
        assert!(TWO.contains(old), "{old}");
        let problems = load(&[&Toy], &TWO.replacen(old, new, 1)).expect_err(new);
        assert!(problems.list().iter().any(|problem| problem.code == code), "{new}: {}", problems.render());
    }
}

#[test]
fn the_scenario_as_written_shows_its_segments() {
    let spec = parse_with(&[&Toy], "two.toml", TWO.as_bytes(), &[]).expect("right");
    let (name, segment) = spec.segments_in_order()[0];
    assert_eq!((name, segment.kind(), segment.table()["delay"].as_str()), ("wire", "toy", Some("1ms")));
}
