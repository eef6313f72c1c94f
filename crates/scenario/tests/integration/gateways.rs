//! What gateways do beside forwarding, and who withholds in them.

use chronoseal_core::{Duration, StreamId};
use chronoseal_scenario::{
    AttackPlace, Code, CollectPlan, NoFiles, RebootPlan, SegmentId, ThreatKind, parse, refuse_unfinished,
};

use crate::protections::{VEHICLE, only_problem, plan};

/// The vehicle with a second stream from the powertrain to the backbone, and keys for the gateway between them.
fn with_gateway(keys: &str) -> String {
    let oil = "[[streams]]\nname = \"oil\"\nfrom = \"pedal\"\nto = [\"cluster\"]\ncount = 2\nperiod = \"100ms\"\n\
               length = \"8B\"\npowertrain = { id = \"0x1A0\" }\n\n[[threats]]";
    VEHICLE.replacen("[[threats]]", oil, 1).replace("queue = \"32 frames\"", &format!("queue = \"32 frames\", {keys}"))
}

#[test]
fn a_gateway_reboots_within_the_run() {
    let reboot = |at: &str, takes: &str| with_gateway(&format!("reboot = {{ at = \"{at}\", takes = \"{takes}\" }}"));
    let found = plan(&reboot("500ms", "300ms")).nodes[1].gateway.as_ref().and_then(|gateway| gateway.reboot);
    assert_eq!(found, Some(RebootPlan { at: Duration::from_ms(500), takes: Duration::from_ms(300) }));
    // It may be away when the run ends.
    plan(&reboot("999ms", "1s"));
    let (code, labels, message, help) = only_problem(&reboot("1s", "300ms"));
    assert_eq!((code, labels[0].as_str()), (Code::OutOfRange, "\"1s\""));
    assert_eq!(message, "`zone-front` reboots at 1s, and the run lasts 1s");
    assert_eq!(help, "write an earlier time, or a longer duration");
    assert_eq!(only_problem(&reboot("-1ms", "300ms")).0, Code::OutOfRange);
    assert_eq!(only_problem(&reboot("1ms", "0s")).0, Code::OutOfRange);
    assert_eq!(only_problem(&reboot("1ms", "2s")).0, Code::OutOfRange);
}

#[test]
fn streams_that_leave_by_a_gateway_onto_ethernet_are_collected() {
    let text =
        with_gateway("collect = [{ streams = [\"brake request\", \"oil\"], on = \"backbone\", within = \"2ms\" }]");
    let plan = plan(&text);
    let gateway = plan.nodes[1].gateway.as_ref().expect("it forwards");
    let streams = [0, 5, 6].map(StreamId).to_vec();
    assert_eq!(plan.streams[6].name, "oil.1", "one with a count stands for all of it");
    assert_eq!(gateway.collects, [CollectPlan { segment: SegmentId(1), streams, within: Duration::from_ms(2) }]);
    // No gateway does so yet.
    let spec = parse("vehicle.toml", text.as_bytes()).expect("nothing is wrong with it");
    let refused = refuse_unfinished(&spec).expect_err("it would be left out");
    assert!(refused.list().iter().any(|problem| problem.message.contains("collects PDUs")), "{}", refused.render());
    // The builders do not need it.
    chronoseal_scenario::resolve(&spec, &NoFiles).expect("nothing is wrong with it");
}

#[test]
fn what_cannot_leave_in_one_frame_is_not_collected() {
    let collect = |streams: &str, on: &str| {
        with_gateway(&format!("collect = [{{ streams = [{streams}], on = \"{on}\", within = \"2ms\" }}]"))
    };
    let both = "\"brake request\", \"oil\"";
    let in_slots = collect(both, "backbone").replace(
        "length = \"8B\"\npowertrain = { id = \"0x1A0\" }",
        "length = \"8B\"\nbackbone = { class = \"time-triggered\" }\npowertrain = { id = \"0x1A0\" }",
    );
    let in_slots = in_slots.replace("period = \"100ms\"", "period = \"10ms\"");
    for (text, code, place, message, help) in [
        (
            collect("\"brake request\", \"door\"", "backbone"),
            Code::BadGateway,
            "\"door\"",
            "stream `door` does not go on from `zone-front` to `backbone`",
            "leave it out",
        ),
        (
            collect(both, "powertrain"),
            Code::BadGateway,
            "\"brake request\"",
            "stream `brake request` does not go on from `zone-front` to `powertrain`",
            "name the gateway",
        ),
        (
            in_slots,
            Code::BadGateway,
            "\"oil\"",
            "stream `oil.0` has slots on `backbone`",
            "`backbone = { class = { best_effort = {} } }`",
        ),
        (collect("\"brake request\"", "backbone"), Code::BadGateway, "[\"brake request\"]", "", "name another stream"),
        (
            collect("\"brake request\", \"oil\", \"brake request\"", "backbone"),
            Code::BadGateway,
            "[\"brake request\", \"oil\", \"brake request\"]",
            "stream `brake request` is collected twice",
            "once",
        ),
        (
            collect("\"brake\", \"oil\"", "backbone"),
            Code::UnknownName,
            "\"brake\"",
            "there is no stream named `brake`",
            "",
        ),
        (collect(both, "bckbone"), Code::UnknownName, "\"bckbone\"", "", "did you mean `backbone`?"),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels[0].as_str()), (code, place));
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
    // A CAN frame carries one PDU.
    let rear = with_gateway("delay = \"1us\"").replace(", delay = \"1us\"", "").replace(
        "on = [\"backbone\", \"body\"]\ngateway = {}",
        "on = [\"backbone\", \"body\"]\n\
         gateway = { collect = [{ streams = [\"brake request\", \"lamp\"], on = \"body\", within = \"2ms\" }] }",
    );
    let lamp = "[[streams]]\nname = \"lamp\"\nfrom = \"cluster\"\nto = [\"brake-rear\"]\nperiod = \"100ms\"\n\
                length = \"8B\"\nbody = { id = \"0x1B0\" }\n\n[[threats]]";
    let (code, labels, told, help) = only_problem(&rear.replacen("[[threats]]", lamp, 1));
    assert_eq!((code, labels[0].as_str()), (Code::BadGateway, "\"body\""));
    assert_eq!(told, "`body` is a segment of kind `can`, on which a frame carries one PDU");
    assert_eq!(help, "leave the entry out, or name an Ethernet segment");
}

#[test]
fn a_frame_holds_what_is_collected_in_it_to_the_byte() {
    // From one Ethernet segment to another, PDUs of 742 bytes each with 8 bytes before them, and 14 of header.
    let text = |length: u32| {
        format!(
            "schema_version = 2\nname = \"two\"\nduration = \"1s\"\n\
             [segments.one.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = {{ best_effort = {{}} }}\n\
             [segments.two.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = {{ best_effort = {{}} }}\n\
             [[nodes]]\nname = \"a\"\non = [\"one\"]\n[[nodes]]\nname = \"b\"\non = [\"two\"]\n\
             [[nodes]]\nname = \"gate\"\non = [\"one\", \"two\"]\n\
             gateway = {{ collect = [{{ streams = [\"s\"], on = \"two\", within = \"1ms\" }}] }}\n\
             [[streams]]\nname = \"s\"\ncount = 2\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\n\
             length = \"{length}B\"\n"
        )
    };
    assert_eq!(plan(&text(742)).nodes[2].gateway.as_ref().map(|gateway| gateway.collects.len()), Some(1));
    let (code, _, message, _) = only_problem(&text(743));
    assert_eq!(code, Code::FrameTooLong);
    assert!(message.ends_with("has 1502B, and a frame has room for 1500B"), "{message}");
}

#[test]
fn frames_are_withheld_in_gateways_and_on_links() {
    let in_gateway = plan(&VEHICLE.replace("kind = \"tamper\"", "kind = \"withhold\""));
    assert_eq!(in_gateway.threats[0].kind, ThreatKind::Withhold(StreamId(0)));
    for kind in ["spoof", "tamper", "replay", "withhold"] {
        plan(&VEHICLE.replace("kind = \"tamper\"", &format!("kind = \"{kind}\"")));
    }
    let aimed = |kind: &str, stream: &str, at: &str| {
        let threat = format!("kind = \"{kind}\"\nstream = \"{stream}\"\nat = {at}");
        VEHICLE.replace("kind = \"tamper\"\nstream = \"brake request\"\nat = { node = \"zone-front\" }", &threat)
    };
    let on_link = plan(&aimed("withhold", "slots.1", "{ link = \"logger\" }"));
    assert!(matches!(on_link.attackers[0].place, AttackPlace::OnLink(SegmentId(1), _)));
    let (code, labels, message, help) = only_problem(&aimed("withhold", "slots.1", "{ segment = \"backbone\" }"));
    assert_eq!((code, labels[1].as_str()), (Code::ThreatPlace, "\"withhold\""));
    assert_eq!(message, "a port of its own lets an attacker send, not keep back what others send");
    assert_eq!(help, "write `at = { link = \"logger\" }`, or a gateway that the stream passes");
    let (code, labels, message, help) = only_problem(&aimed("withhold", "door", "{ segment = \"body\" }"));
    assert_eq!((code, labels[0].as_str()), (Code::ThreatPlace, "\"withhold\""));
    assert_eq!(
        message,
        "`compromised gateway` would keep back frames that all nodes of a bus receive at the same time"
    );
    assert!(help.contains("attack in a gateway"), "{help}");
    let (code, _, message, _) = only_problem(&VEHICLE.replacen("stream = \"door\"", "", 1).replacen(
        "kind = \"spoof\"",
        "kind = \"withhold\"",
        1,
    ));
    assert_eq!((code, message.as_str()), (Code::MissingKey, "threat `forged door` has no `stream`"));
}
