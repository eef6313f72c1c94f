//! AUTOSAR system descriptions become scenarios that resolve, and say what was assumed.

use crate::support::plan;
use chronoseal_core::Duration;
use chronoseal_frameauth::Freshness;
use chronoseal_plan::{Can, Plan, ProtectionKind};
use chronoseal_scenario::import::{from_any, warnings};

const SYSTEM: &[u8] = include_bytes!("../../../recordings/tests/fixtures/cantools_system-4.2.arxml");
const TWO_BUSES: &str = include_str!("../../../recordings/tests/fixtures/two_buses.arxml");

fn imported(bytes: impl AsRef<[u8]>) -> String {
    from_any("car.arxml", bytes.as_ref()).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn of_stream(plan: &Plan, name: &str) -> usize {
    plan.streams.iter().position(|stream| stream.name == name).expect("it is one of them")
}

#[test]
fn the_sample_of_cantools_resolves_with_its_tag_in_the_length() {
    let text = imported(SYSTEM);
    let plan = plan(&text);
    assert_eq!(plan.streams.len(), 8);
    let bus = Can::first(&plan).expect("it is one");
    let secured = bus.messages().find(|message| message.stream.name == "Message3").unwrap();
    assert_eq!(secured.hop.frame_len, 4, "6 bytes without what secures them");
    assert!(
        text.contains("# SecOC: 10 bits of the authenticator and 6 of the 32 of the freshness value are sent"),
        "{text}"
    );
    let written =
        "secoc = { authenticator = \"10bit\", freshness = { rising = { counter = \"32bit\", sent = \"6bit\" } } }";
    assert!(text.contains(written), "{text}");
    let profile = *plan.protection_of(secured.stream).profile().expect("it is made and checked");
    assert_eq!((profile.tag_bits(), profile.freshness()), (10, Freshness::Rising { bits: 32, sent_bits: 6 }));
    // What of lengths cannot be is said.
    let file = std::str::from_utf8(SYSTEM).expect("it is text");
    let longer = file.replace(
        "<FRESHNESS-VALUE-LENGTH>32</FRESHNESS-VALUE-LENGTH>",
        "<FRESHNESS-VALUE-LENGTH>80</FRESHNESS-VALUE-LENGTH>",
    );
    assert_ne!(longer, file, "the length is in the file");
    let longer = imported(longer);
    assert!(warnings(&longer).any(|warning| warning.contains("80 bits are kept as ones of 64")), "{longer}");
    // What nothing is written of is marked where it stands.
    let period = |name: &str| {
        text.split(&format!("name = \"{name}\"")).nth(1).unwrap().lines().find(|line| line.starts_with("period"))
    };
    assert_eq!(period("Message2"), Some("period = \"100ms\""));
    assert_eq!(period("Message3"), Some("period = \"100ms\"    # assumed: the file says nothing of it"));
}

#[test]
fn a_frame_is_followed_over_its_gateway_and_sealed_as_the_file_says() {
    let text = imported(TWO_BUSES);
    let plan = plan(&text);
    let names: Vec<&str> = plan.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names, ["BrakeRequest", "State"], "the frame behind the gateway is the same stream");
    let request = &plan.streams[of_stream(&plan, "BrakeRequest")];
    assert_eq!((request.hops.len(), request.period), (2, Duration::from_ms(10)));
    let receivers: Vec<&str> = request.receivers.iter().map(|node| plan.nodes[node.index()].name.as_str()).collect();
    assert_eq!(receivers, ["Brake"]);
    let protection = &plan.protections[usize::from(request.protection.0)];
    assert!(matches!(protection.kind, ProtectionKind::Secured { .. }), "{:?}", protection.kind);
    for line in [
        "secoc = { authenticator = \"24bit\", freshness = { rising = { counter = \"64bit\", sent = \"8bit\" } } }",
        "Front = { id = \"0xa0\" }",
        "Rear = { id = \"0x1a0\", extended = true }",
        "via = [\"Zone\"]",
        "bit_rate = \"250kbit/s\"",
        "period = \"50ms\"    # assumed: as often as its minimum delay allows",
        "length = \"136B\"",
    ] {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
    // Where both sides differ in length, the frame behind is one of the gateway.
    let other = TWO_BUSES.replacen(
        "CAN-FRAME\">/Net/BrakeRequest</FRAME-REF>\n                  <CAN-ADDRESSING",
        "CAN-FRAME\">/Net/Other</FRAME-REF>\n                  <CAN-ADDRESSING",
        1,
    );
    let other = other.replacen(
        "<CAN-FRAME>",
        "<CAN-FRAME><SHORT-NAME>Other</SHORT-NAME><FRAME-LENGTH>3</FRAME-LENGTH></CAN-FRAME>\n<CAN-FRAME>",
        1,
    );
    assert_ne!(other, TWO_BUSES);
    let text = imported(other);
    assert!(
        warnings(&text).any(|warning| warning.contains("1 routes of gateways are written as frames of the gateway")),
        "{text}"
    );
    assert!(text.contains("name = \"Other\"\nfrom = \"Zone\"\nto = [\"Brake\"]"), "{text}");
}
