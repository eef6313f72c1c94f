//! PDUs of several streams in one frame.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{
    CanHop, CollectPlan, Contained, EthernetHop, HopPlan, Plan, ProtectionId, SegmentId, StreamClass, StreamPlan,
};
use chronoseal_scenario::Code;
use chronoseal_wire::container::HeaderType;

use crate::gateways::with_gateway;
use crate::protections::{VEHICLE, only_problem, plan};

const BOTH: &str = "\"brake request\", \"oil\"";

fn collected(streams: &str, on: &str, more: &str) -> String {
    with_gateway(&format!("collect = [{{ streams = [{streams}], on = \"{on}\", within = \"2ms\"{more} }}]"))
}

/// The vehicle whose rear gateway collects two streams for the body, in a frame with this table.
fn on_can(table: &str, protection: &str) -> String {
    let lamp = "[[streams]]\nname = \"lamp\"\nfrom = \"cluster\"\nto = [\"brake-rear\"]\nperiod = \"100ms\"\n\
                length = \"8B\"\n\n[[threats]]";
    let collect = format!(
        "gateway = {{ collect = [{{ streams = [\"brake request\", \"lamp\"], on = \"body\", within = \"2ms\"{table} }}] }}"
    );
    VEHICLE
        .replacen("[[threats]]", lamp, 1)
        .replace("powertrain = { id = \"0x0A0\" }\nbody = { id = \"0x0B0\" }", "powertrain = { id = \"0x0A0\" }")
        .replace("length = \"8B\"\npowertrain", &format!("length = \"8B\"\n{protection}powertrain"))
        .replace("on = [\"backbone\", \"body\"]\ngateway = {}", &format!("on = [\"backbone\", \"body\"]\n{collect}"))
}

fn hop(stream: &StreamPlan, segment: u16) -> &HopPlan {
    stream.hops.iter().find(|hop| hop.segment == SegmentId(segment)).expect("it crosses that")
}

fn container(plan: &Plan) -> (StreamId, &StreamPlan, &CollectPlan) {
    let found = plan.stream_ids().zip(&plan.streams).filter_map(|(id, stream)| Some((id, stream, stream.collected()?)));
    found.last().expect("a gateway collects")
}

#[test]
fn a_frame_on_ethernet_has_a_stream_of_its_own() {
    let plan = plan(&collected(BOTH, "backbone", ""));
    let (id, stream, collect) = container(&plan);
    let streams = [0, 5, 6].map(StreamId).to_vec();
    assert_eq!(plan.streams[6].name, "oil.1", "one with a count stands for all of it");
    assert_eq!(*collect, CollectPlan { streams, within: Duration::from_ms(2), header: HeaderType::Short });
    assert_eq!((stream.name.as_str(), stream.sender, stream.length), ("zone-front.backbone.0", NodeId(1), 3 * (4 + 8)));
    assert!(stream.receivers.is_empty() && stream.hops.len() == 1);
    // Who gets any of them gets the frame.
    assert_eq!(stream.hops[0].to, [NodeId(2), NodeId(4)]);
    assert_eq!(stream.hops[0].facet.get(), Some(&EthernetHop::from(StreamClass::BestEffort { priority: 2 })));
    for member in [0, 5, 6] {
        let hop = hop(&plan.streams[member], 1);
        assert_eq!((hop.container(), hop.class, hop.frame_len), (Some(id), Contained::CLASS, 8));
        assert_eq!(plan.contained_len(&plan.streams[member], hop), 8);
    }
    assert_eq!(plan.container_len_min(id), Some(12));
    let others = plan.streams.iter().filter(|stream| stream.hops.iter().any(|hop| hop.container().is_some()));
    assert_eq!(others.count(), 3, "what stays on its own is in no frame with others");
}

#[test]
fn a_frame_says_how_it_is_addressed_in_the_words_of_a_stream() {
    let more = ", header = \"long\", length = \"100B\", backbone = { class = { best_effort = { priority = 6 } } }";
    let plan = plan(&collected(BOTH, "backbone", more));
    let (_, stream, collect) = container(&plan);
    assert_eq!((collect.header, stream.length), (HeaderType::Long, 100));
    assert_eq!(stream.hops[0].facet.get(), Some(&EthernetHop::from(StreamClass::BestEffort { priority: 6 })));
}

#[test]
fn a_frame_on_can_has_an_identifier_and_the_protection_of_what_is_in_it() {
    let fd = ", body = { id = \"0x050\", format = \"fd\" }";
    let plain = plan(&on_can(fd, ""));
    let (_, stream, _) = container(&plain);
    assert!(matches!(stream.hops[0].facet.get(), Some(CanHop::Message { id, .. }) if id.raw() == 0x50));
    assert_eq!((stream.length, stream.protection), (24, ProtectionId(0)));
    // From end to end each PDU has its own tag.
    let end_to_end = plan(
        &on_can(fd, "protection = \"sealed\"\n")
            .replace("powertrain = { id = \"0x0A0\" }", "powertrain = { id = \"0x0A0\", format = \"fd\" }"),
    );
    let (_, stream, _) = container(&end_to_end);
    assert_eq!((stream.length, stream.protection), (4 + 8 + 4 + 4 + 8, ProtectionId(0)));
    // On this hop alone the frame has one for all.
    let apart = on_can(fd, "protection = { body = \"sealed\" }\n");
    let (code, labels, message, help) = only_problem(&apart);
    assert_eq!((code, labels[0].as_str()), (Code::BadGateway, "\"lamp\""));
    assert_eq!(
        message,
        "on `body` alone `brake request` is protected by `sealed` and `lamp` not, and one tag is over the whole frame"
    );
    assert_eq!(help, "write the same protection on `body` for both, or collect them in frames of their own");
    let both = apart.replace(
        "length = \"8B\"\n\n[[threats]]",
        "length = \"8B\"\nprotection = { body = \"sealed\" }\n\n[[threats]]",
    );
    let both = plan(&both);
    let (_, stream, _) = container(&both);
    assert_eq!((stream.length, stream.protection), (24, ProtectionId(2)));
}

#[test]
fn what_cannot_leave_in_one_frame_is_not_collected() {
    let fd = ", body = { id = \"0x050\", format = \"fd\" }";
    let table = |text: &str, stream: &str, table: &str| text.replace(stream, &format!("{stream}\n{table}"));
    for (text, code, place, message, help) in [
        (
            collected("\"brake request\", \"door\"", "backbone", ""),
            Code::BadGateway,
            "\"door\"",
            "stream `door` does not go on from `zone-front` to `backbone`",
            "leave it out",
        ),
        (
            collected(BOTH, "powertrain", ""),
            Code::BadGateway,
            "\"brake request\"",
            "stream `brake request` does not go on from `zone-front` to `powertrain`",
            "name the gateway",
        ),
        (
            collected(BOTH, "backbone", ", backbone = { class = \"time-triggered\" }"),
            Code::BadGateway,
            "\"time-triggered\"",
            "a frame collected on `backbone` leaves when it is full or has waited",
            "`backbone = { class = { best_effort = {} } }` for the entry of `collect`",
        ),
        (
            collected("\"brake request\"", "backbone", ""),
            Code::BadGateway,
            "[\"brake request\"]",
            "",
            "name another stream",
        ),
        (
            collected("\"brake request\", \"oil\", \"brake request\"", "backbone", ""),
            Code::BadGateway,
            "[\"brake request\", \"oil\", \"brake request\"]",
            "stream `brake request` is collected twice",
            "once",
        ),
        (
            collected("\"brake\", \"oil\"", "backbone", ""),
            Code::UnknownName,
            "\"brake\"",
            "there is no stream named `brake`",
            "",
        ),
        (collected(BOTH, "bckbone", ""), Code::UnknownName, "\"bckbone\"", "", "did you mean `backbone`?"),
        (
            collected(BOTH, "backbone", "").replace("2ms\" }]", "0s\" }]"),
            Code::OutOfRange,
            "\"0s\"",
            "the waiting time is 0s",
            "1us",
        ),
        (
            collected(BOTH, "backbone", ", body = { id = \"0x050\" }"),
            Code::SegmentTable,
            "{ id = \"0x050\" }",
            "the frame is sent on `backbone`",
            "leave the table out",
        ),
        (
            table(&collected(BOTH, "backbone", ""), "powertrain = { id = \"0x1A0\" }", "backbone = {}"),
            Code::SegmentTable,
            "{}",
            "PDUs of stream `oil` are collected in a frame on `backbone`",
            "`backbone = { … }`",
        ),
        (
            on_can("", ""),
            Code::MissingKey,
            "{ streams = [\"brake request\", \"lamp\"], on = \"body\", within = \"2ms\" }",
            "`zone-rear` collects PDUs in a frame on `body`",
            "add `body = {",
        ),
        (
            on_can(", body = { id = \"0x050\" }", ""),
            Code::FrameTooLong,
            "[\"brake request\", \"lamp\"]",
            "the PDUs need 24B in one frame with their headers, and a classical CAN frame on `body` has 8B for them",
            "`format = \"fd\"`",
        ),
        (
            on_can(&format!("{fd}, length = \"65B\""), ""),
            Code::FrameTooLong,
            "\"65B\"",
            "65B of PDUs and headers do not fit the 64B of a CAN-FD frame",
            "`length = \"64B\"` at most",
        ),
        (
            on_can(&format!("{fd}, length = \"23B\""), ""),
            Code::FrameTooLong,
            "\"23B\"",
            "the PDUs need 24B in one frame with their headers, and a CAN-FD frame on `body` has 23B for them",
            "collect shorter ones",
        ),
        (
            on_can(", body = { id = \"0x100\", format = \"fd\" }", ""),
            Code::BadCanId,
            "\"0x100\"",
            "the frame collected on `body` has the identifier 0x100 of another",
            "one of its own",
        ),
        (
            on_can(fd, "").replace(
                "kind = \"tamper\"\nstream = \"brake request\"\nat = { node = \"zone-front\" }",
                "kind = \"spoof\"\nstream = \"lamp\"\nat = { segment = \"body\" }",
            ),
            Code::ThreatPlace,
            "\"body\"",
            "on `body` stream `lamp` has no frame of its own: a gateway collects it",
            "attack it in the gateway",
        ),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels[0].as_str()), (code, place), "{told}: {advice}");
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
}

/// Between two Ethernet segments.
fn two(length: u32, more: &str) -> String {
    format!(
        "schema_version = 2\nname = \"two\"\nduration = \"1s\"\n\
         [segments.one.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = {{ best_effort = {{}} }}\n\
         [segments.two.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"10ms\"\nclass = {{ best_effort = {{}} }}\n\
         [[nodes]]\nname = \"a\"\non = [\"one\"]\n[[nodes]]\nname = \"b\"\non = [\"two\"]\n\
         [[nodes]]\nname = \"gate\"\non = [\"one\", \"two\"]\n\
         gateway = {{ collect = [{{ streams = [\"s\"], on = \"two\", within = \"1ms\"{more} }}] }}\n\
         [[streams]]\nname = \"s\"\ncount = 2\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\n\
         length = \"{length}B\"\n"
    )
}

#[test]
fn a_frame_holds_what_is_collected_in_it_to_the_byte() {
    // PDUs of 738 bytes each with 8 bytes before them, and 22 of headers.
    let long = ", header = \"long\"";
    let container_len = |text: &str| container(&plan(text)).1.length;
    assert_eq!(container_len(&two(738, long)), 1492);
    let (code, _, message, _) = only_problem(&two(739, long));
    assert_eq!(code, Code::FrameTooLong);
    assert!(message.starts_with("the PDUs need 1494B") && message.contains("has 1492B for them"), "{message}");
    // A short header says no more than 255.
    assert_eq!(container_len(&two(255, "")), 2 * 259);
    let (code, labels, message, help) = only_problem(&two(256, ""));
    assert_eq!((code, labels[0].as_str()), (Code::FrameTooLong, "\"256B\""));
    assert!(message.contains("do not fit the 255B of a header before a collected PDU on `two`"), "{message}");
    assert!(help.contains("`header = \"long\"` for the entry of `collect`"), "{help}");
}

#[test]
fn what_is_told_apart_by_its_bytes_needs_them() {
    let text = two(60, "").replace("duration = \"1s\"", "duration = \"1s\"\nfidelity = \"timing\"");
    let (code, _, message, help) = only_problem(&text);
    assert_eq!((code, help.as_str()), (Code::WrongNetwork, "leave `fidelity` out"));
    assert_eq!(message, "what `gate` collects is told apart by its bytes, and `fidelity` is `\"timing\"`");
}

/// Between two Ethernet segments, of which the second can have virtual links of any gap.
fn as_link(class: &str) -> String {
    two(60, &format!(", two = {{ {class} }}"))
        .replace("[[nodes]]\nname = \"a\"", "virtual_links = { standard = false }\n[[nodes]]\nname = \"a\"")
}

#[test]
fn a_frame_of_several_pdus_can_be_a_virtual_link() {
    let plan = plan(&as_link("class = { rate_constrained = {} }"));
    let (_, stream, _) = container(&plan);
    let link = stream.hops[0].facet.get::<EthernetHop>().and_then(|hop| hop.class.virtual_link().copied()).unwrap();
    // A frame each millisecond and two of 64 bytes every 10 ms in one of 128 at the most; alone they would be 5 ms apart.
    assert_eq!((link.ct_id, link.bag), (1, Duration::from_us(4_950)));
    let (code, labels, message, help) = only_problem(&as_link("class = { rate_constrained = { bag = \"6ms\" } }"));
    assert_eq!((code, labels[0].as_str()), (Code::BadVirtualLink, "\"6ms\""));
    assert!(message.starts_with("the frame in which stream `s` is collected leaves every 5ms on average"), "{message}");
    assert!(help.contains("`bag = \"5ms\"`") && help.contains("`within`"), "{help}");
}

#[test]
fn a_virtual_link_of_several_pdus_has_an_identifier_that_is_nobodys() {
    let class = "class = { rate_constrained = { bag = \"1ms\" } }";
    let other = "[[streams]]\nname = \"t\"\nfrom = \"gate\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"60B\"\n\
                 two = { class = { rate_constrained = {} } }\n";
    let beside = format!("{}{other}", as_link(class));
    assert_eq!(container(&plan(&beside)).1.hops[0].facet.get::<EthernetHop>().unwrap().class.ct_id(), Some(2));
    let taken = format!("{}{other}", as_link(&format!("ct_id = 1, {class}")));
    let (code, labels, message, _) = only_problem(&taken);
    assert_eq!((code, labels[0].as_str(), message.as_str()), (Code::BadCtId, "1", "identifier 1 is used twice"));
}

#[test]
fn a_frame_of_several_pdus_can_share_a_virtual_link() {
    let link_of = |stream: &StreamPlan| {
        let hop = stream.hops.iter().find_map(|hop| hop.facet.get::<EthernetHop>());
        hop.and_then(|hop| hop.class.virtual_link().copied()).unwrap()
    };
    let other = "[[streams]]\nname = \"t\"\nfrom = \"gate\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"60B\"\n\
                 two = { class = { rate_constrained = {} } }\n";
    let third = other
        .replace("name = \"t\"", "name = \"u\"")
        .replace("class = { rate_constrained = {} }", "sub_virtual_link_of = \"t\"");
    let shared = as_link("sub_virtual_link_of = \"t\"");
    let plan = plan(&format!("{shared}{other}{third}"));
    let own = link_of(container(&plan).1);
    let of = |name: &str| link_of(plan.streams.iter().find(|stream| stream.name == name).unwrap());
    assert_eq!((own, own), (of("t"), of("u")));
    // Two that send every 10 ms and one that does each 5 ms at most, with a hundredth for the other clock: a third of that.
    assert_eq!((own.ct_id, own.sub_links, own.bag), (1, 3, Duration::from_us(1_650)));
    // The longest frame is that of several PDUs, 22 of headers, 128 and the number, with its checksum.
    assert_eq!(own.lmax, 22 + 128 + 1 + 4);

    let refused = |text: &str| {
        let (code, labels, message, help) = only_problem(text);
        assert_eq!(code, Code::BadVirtualLink, "{message}");
        (labels[0].clone(), message, help)
    };
    let back = other.replace("from = \"gate\"\nto = [\"b\"]", "from = \"b\"\nto = [\"gate\"]");
    let (label, message, _) = refused(&format!("{shared}{back}"));
    assert_eq!(label, "\"t\"");
    assert!(message.starts_with("the frame collected there is sent by `gate` and `t` by `b`"), "{message}");
    let (_, message, _) = refused(&format!("{shared}{}", other.replace("rate_constrained = {}", "best_effort = {}")));
    assert_eq!(message, "the frame collected there shares the virtual link of `t`, which is not rate-constrained");
    let (_, message, help) =
        refused(&format!("{shared}{}", other.replace("rate_constrained = {}", "rate_constrained = { bag = \"4ms\" }")));
    assert!(
        message.starts_with("the 2 sub-virtual links of `t` send more often than a bandwidth allocation gap of 4ms"),
        "{message}"
    );
    assert!(help.contains("write `bag = \"2.475ms\"` for `t`"), "{help}");
    let (_, message, _) = refused(&format!(
        "{shared}{}",
        other.replace("rate_constrained = {}", "rate_constrained = { lmax = \"100B\" }")
    ));
    assert_eq!(
        message,
        "the frame collected there has 155B with its protection and checksum, and `lmax` of its virtual link is 100B"
    );
    let (label, message, _) = refused(&format!("{}{other}{third}", as_link("sub_virtual_link_of = \"u\"")));
    assert_eq!(
        (label.as_str(), message.as_str()),
        ("\"u\"", "the frame collected there shares the virtual link of `u`, which has none of its own")
    );
    let (_, message, _) = refused(&format!("{}{other}", as_link("sub_virtual_link_of = \"t\", ct_id = 7")));
    assert!(message.contains("which says what their virtual link is"), "{message}");
    let (code, _, message, _) = only_problem(&format!("{}{other}", as_link("sub_virtual_link_of = \"tt\"")));
    assert_eq!(code, Code::UnknownName, "{message}");
    // A fifth queue is one too many.
    let more: String =
        ["u", "v", "w"].map(|name| third.replace("name = \"u\"", &format!("name = \"{name}\""))).concat();
    let (label, message, _) = refused(&format!("{shared}{other}{more}"));
    assert_eq!(label, "\"t\"");
    assert!(message.contains("would have 5 sub-virtual links"), "{message}");
}

#[test]
fn copies_of_a_frame_of_several_pdus_need_ways_of_their_own() {
    let class = "class = { vlan = { pcp = 6 } }, replication = { ways = [[\"x\"], [\"y\"]] }";
    let link = |one: &str, other: &str| format!("{{ between = [\"{one}\", \"{other}\"] }}");
    let trunks = [("w", "x"), ("x", "z"), ("w", "y"), ("y", "z"), ("gate", "w"), ("b", "z")];
    let links: Vec<String> = trunks.iter().map(|(one, other)| link(one, other)).collect();
    let wiring =
        format!("switches = [\"w\", \"x\", \"y\", \"z\"]\nlinks = [{}]\n[[nodes]]\nname = \"a\"", links.join(", "));
    let text = |class: &str| as_link(class).replace("[[nodes]]\nname = \"a\"", &wiring);
    let whole = plan(&text(class));
    let hop = container(&whole).1.hops[0].facet.get::<EthernetHop>().cloned().unwrap();
    assert_eq!(hop.copies.count(), 2);
    let (code, _, message, _) = only_problem(&text(&class.replace("[\"y\"]]", "[\"x\"]]")));
    assert_eq!(code, Code::BadReplication);
    assert!(message.contains("two copies of stream `the frame collected there` pass the link between"), "{message}");
}
