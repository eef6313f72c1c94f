//! What gateways do beside forwarding, and who withholds in them.

use chronoseal_core::{Duration, StreamId};
use chronoseal_plan::{AttackPlace, RebootPlan, SegmentId, ThreatKind};
use chronoseal_scenario::Code;

use crate::protections::{VEHICLE, only_problem, plan};

/// The vehicle with a second stream from the powertrain to the backbone, and keys for the gateway between them.
pub(crate) fn with_gateway(keys: &str) -> String {
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

#[test]
fn a_gateway_that_reboots_does_not_seal_with_nonces() {
    let text = |mac: &str, reboot: &str| {
        format!(
            "schema_version = 2\nname = \"ways\"\nduration = \"1s\"\n\
             [segments.one.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"100us\"\n\
             [segments.two.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"100us\"\n\
             [[protections]]\nname = \"sealed\"\nmac = {{ algorithm = \"{mac}\", tag = \"16B\", freshness = \"full\" }}\n\
             [[nodes]]\nname = \"a\"\non = [\"one\"]\n[[nodes]]\nname = \"b\"\non = [\"two\"]\n\
             [[nodes]]\nname = \"between\"\non = [\"one\", \"two\"]\ngateway = {{{reboot}}}\n\
             [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"20B\"\n\
             protection = PROTECTION\none = {{ class = {{ best_effort = {{}} }} }}\ntwo = {{ class = {{ best_effort = {{}} }} }}\n"
        )
    };
    const REBOOT: &str = " reboot = { at = \"500ms\", takes = \"100ms\" } ";
    let hops = |text: String| text.replace("PROTECTION", "{ one = \"sealed\", two = \"sealed\" }");
    let (code, _, message, help) = only_problem(&hops(text("gmac-aes-128", REBOOT)));
    assert_eq!(code, Code::BadFreshness);
    assert_eq!(
        message,
        "`between` seals stream `speed` with gmac-aes-128, and would use its nonces again after the reboot"
    );
    assert!(help.contains("blake3"), "{help}");
    plan(&hops(text("gmac-aes-128", "")));
    plan(&hops(text("blake3", REBOOT)));
    // From end to end it seals nothing.
    plan(&text("gmac-aes-128", REBOOT).replace("PROTECTION", "{ end_to_end = \"sealed\" }"));
}
