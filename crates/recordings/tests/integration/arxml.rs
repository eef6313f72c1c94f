//! AUTOSAR system descriptions, against what cantools reads from its own sample; and a gateway, an Ethernet and damage.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_recordings::arxml::{
    ArxmlError, ChannelKind, Frame, Medium, Route, Secured, SystemDescription, Timing, read_arxml,
};
use chronoseal_wire::can::CanId;

const SYSTEM: &[u8] = include_bytes!("../fixtures/cantools_system-4.2.arxml");
/// Ours: two buses, an Ethernet, and a gateway that carries a secured frame on.
const TWO_BUSES: &str = include_str!("../fixtures/two_buses.arxml");

fn read(bytes: impl AsRef<[u8]>) -> SystemDescription {
    read_arxml(bytes.as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

fn names(found: &SystemDescription, ecus: &[usize]) -> Vec<String> {
    ecus.iter().map(|ecu| found.nodes[*ecu].clone()).collect()
}

fn frame<'f>(found: &'f SystemDescription, name: &str) -> &'f Frame {
    found.channels.iter().flat_map(|channel| &channel.frames).find(|frame| frame.name == name).unwrap()
}

#[test]
fn the_sample_of_cantools_has_its_frames_nodes_and_secured_pdu() {
    let found = read(SYSTEM);
    assert_eq!(found.nodes, ["DJ", "Dancer", "Guard"]);
    let [channel] = &found.channels[..] else { panic!("{} channels", found.channels.len()) };
    assert_eq!(channel.name, "Cluster0");
    assert_eq!(channel.kind, ChannelKind::Can { bit_rate: Some(500_000), data_bit_rate: Some(2_000_000) });
    // As cantools 41.4 says of them: identifier, 29 bits, length, FD.
    let all: Vec<_> = (channel.frames.iter())
        .map(|frame| {
            let Medium::Can { id, fd } = frame.medium else { panic!("{frame:?}") };
            (frame.name.as_str(), id.raw(), id.is_extended(), frame.len, fd)
        })
        .collect();
    assert_eq!(
        all,
        [
            ("MultiplexedMessage", 4, false, 2, Some(true)),
            ("Message1", 5, false, 9, Some(true)),
            ("Message2", 6, true, 7, Some(true)),
            ("Message3", 100, false, 6, None),
            ("Message4", 101, false, 6, None),
            ("OneToContainThemAll", 102, false, 64, None),
            ("AlarmStatus", 1001, false, 1, None),
            ("MessageWithoutPDU", 1002, false, 8, None),
        ]
    );
    let ends =
        |name: &str| [names(&found, &frame(&found, name).senders), names(&found, &frame(&found, name).receivers)];
    assert_eq!(ends("Message1"), [["DJ"], ["Dancer"]]);
    assert_eq!(ends("Message2"), [["Dancer"], ["DJ"]]);
    assert_eq!(ends("Message3"), [["Dancer"], ["DJ"]], "by the PDU that it secures");
    assert_eq!(ends("MultiplexedMessage"), [["Dancer"], ["DJ"]], "by its parts");
    assert_eq!(ends("AlarmStatus"), [vec!["Guard"], vec!["DJ", "Dancer"]], "by network management");
    assert_eq!(
        frame(&found, "Message2").timing,
        Timing::Cyclic(Duration::from_ms(100)),
        "the shorter of 0.1 s and 0.2 s"
    );
    assert_eq!(frame(&found, "Message3").timing, Timing::Unknown);
    let secured = Secured {
        name: "message3_secured".into(),
        authenticator_bits: 10,
        freshness_bits: 32,
        freshness_sent_bits: 6,
        algorithm: None,
    };
    assert_eq!(frame(&found, "Message3").secured, Some(secured));
    assert!(found.routes.is_empty());
}

#[test]
fn a_gateway_carries_a_secured_frame_from_one_bus_to_the_other() {
    let found = read(TWO_BUSES);
    let kinds: Vec<_> = found.channels.iter().map(|channel| (channel.name.as_str(), channel.kind)).collect();
    let can = |bit_rate| ChannelKind::Can { bit_rate, data_bit_rate: None };
    let ethernet = ChannelKind::Ethernet { bit_rate: Some(1_000_000_000) };
    assert_eq!(kinds, [("Front", can(Some(250_000))), ("Rear", can(None)), ("Backbone", ethernet)]);
    let on: Vec<_> = found.channels.iter().map(|channel| names(&found, &channel.nodes)).collect();
    assert_eq!(on, [["Pedal", "Zone"], ["Zone", "Brake"], ["Zone", "Cluster"]]);
    assert_eq!(found.routes, [Route { gateway: 1, from: (0, 0), to: (1, 0) }]);
    let [front, rear, state] = [0, 1, 2].map(|channel: usize| &found.channels[channel].frames[0]);
    assert_eq!(front.medium, Medium::Can { id: CanId::standard(0xa0).unwrap(), fd: None });
    assert_eq!(rear.medium, Medium::Can { id: CanId::extended(0x1a0).unwrap(), fd: None });
    assert_eq!([&front.timing, &rear.timing], [&Timing::Cyclic(Duration::from_ms(10)); 2]);
    let secured = front.secured.as_ref().unwrap();
    let bits = (secured.authenticator_bits, secured.freshness_bits, secured.freshness_sent_bits);
    assert_eq!((bits, secured.algorithm.as_deref()), ((24, 64, 8), Some("CMAC/AES-128")));
    assert_eq!((state.medium, state.len), (Medium::Ethernet { vlan: Some(5) }, 100));
    assert_eq!(state.timing, Timing::Apart(Duration::from_ms(50)));
}

#[test]
fn what_cannot_be_used_is_left_out_and_counted() {
    let left_out = |old: &str, new: &str| {
        assert!(TWO_BUSES.contains(old), "{old}");
        let found = read(TWO_BUSES.replacen(old, new, 1));
        found.left_out.into_iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join("; ")
    };
    for (old, new, said) in [
        ("<IDENTIFIER>0xA0", "<IDENTIFIER>0x8A0", "1 frames were left out: their identifiers are none"),
        ("<FRAME-LENGTH>8", "<FRAME-LENGTH>65", "2 frames were left out: they are longer than 64 bytes"),
        (
            "CAN-FRAME\">/Net/BrakeRequest",
            "CAN-FRAME\">/Net/Gone",
            "1 frames were left out: what their triggerings refer",
        ),
        ("/Net/Rear/Ch/RequestRear", "/Net/Rear/Ch/Gone", "1 routes were left out"),
        ("<LENGTH>100", "<LENGTH>many", "1 PDUs on Ethernet were left out"),
        ("<GATEWAY>", "<LIN-CLUSTER><SHORT-NAME>L</SHORT-NAME></LIN-CLUSTER><GATEWAY>", "1 LIN clusters were left out"),
    ] {
        let found = left_out(old, new);
        assert!(found.contains(said), "{new}: {found}");
    }
}

#[test]
fn files_that_are_none_are_refused_with_a_line() {
    let refused = |bytes: &[u8]| read_arxml(bytes).unwrap_err();
    let start = r#"<AUTOSAR xmlns="http://autosar.org/schema/r4.0">"#;
    assert_eq!(refused(b""), ArxmlError::CutOff { line: 1 });
    assert_eq!(refused(b"<html/>"), ArxmlError::Root("html".into()));
    assert!(matches!(refused(b"<AUTOSAR xmlns='http://autosar.org/2.1.4'/>"), ArxmlError::Version(_)));
    assert_eq!(refused(format!("{start}</AUTOSAR>").as_bytes()), ArxmlError::Empty(BTreeMap::new()));
    assert_eq!(refused(b"\n\xff"), ArxmlError::NotText { line: 2 });
    assert!(matches!(refused(format!("{start}\n</ECU>").as_bytes()), ArxmlError::Syntax { line: 2, .. }));
    let deep = format!("{start}{}", "<A>".repeat(1_000));
    assert!(refused(deep.as_bytes()).to_string().contains("more than 64 deep"));
    // Elements of networks are limited, others are passed over.
    let many = |element: &str| format!("{start}<AR-PACKAGES>{}</AR-PACKAGES></AUTOSAR>", element.repeat(1_000_001));
    assert!(matches!(refused(many("<ELEMENTS/>").as_bytes()), ArxmlError::TooMany { line: 1 }));
    assert_eq!(refused(many("<I-SIGNAL/>").as_bytes()), ArxmlError::Empty(BTreeMap::new()));
    // A description that refers to itself ends.
    let circle = TWO_BUSES.replace("\"I-SIGNAL-I-PDU\">/Net/Brake<", "\"SECURED-I-PDU\">/Net/BrakeSecured<");
    assert!(circle != TWO_BUSES && read(circle).channels.len() == 3);
}

#[test]
fn every_cut_of_a_description_is_refused() {
    for cut in (0..TWO_BUSES.trim_end().len()).step_by(17).filter(|cut| TWO_BUSES.is_char_boundary(*cut)) {
        assert!(read_arxml(&TWO_BUSES.as_bytes()[..cut]).is_err(), "cut at {cut}");
    }
}

/// As AUTOSAR 3.2 writes it, and canmatrix with it.
const OF_AUTOSAR_3: &str = r#"<AUTOSAR xmlns="http://autosar.org/3.2.3"><TOP-LEVEL-PACKAGES>
<AR-PACKAGE><SHORT-NAME>Net</SHORT-NAME><ELEMENTS>
<CAN-CLUSTER><SHORT-NAME>Body</SHORT-NAME><PHYSICAL-CHANNELS><PHYSICAL-CHANNEL><SHORT-NAME>Ch</SHORT-NAME>
<FRAME-TRIGGERINGSS>
<CAN-FRAME-TRIGGERING><SHORT-NAME>t</SHORT-NAME><FRAME-REF DEST="FRAME">/Net/In/Doors</FRAME-REF>
<CAN-ADDRESSING-MODE>EXTENDED</CAN-ADDRESSING-MODE><IDENTIFIER>291</IDENTIFIER></CAN-FRAME-TRIGGERING>
<CAN-FRAME-TRIGGERING><SHORT-NAME>u</SHORT-NAME><FRAME-REF DEST="FRAME">/Net/In/Bare</FRAME-REF><IDENTIFIER>4</IDENTIFIER>
</CAN-FRAME-TRIGGERING></FRAME-TRIGGERINGSS></PHYSICAL-CHANNEL></PHYSICAL-CHANNELS><SPEED>250000</SPEED></CAN-CLUSTER>
<ECU-INSTANCE><SHORT-NAME>Door</SHORT-NAME><ASSOCIATED-I-PDU-GROUP-REFS>
<ASSOCIATED-I-PDU-GROUP-REF DEST="I-PDU-GROUP">/Net/Tx</ASSOCIATED-I-PDU-GROUP-REF></ASSOCIATED-I-PDU-GROUP-REFS></ECU-INSTANCE>
<I-PDU-GROUP><SHORT-NAME>Tx</SHORT-NAME><COMMUNICATION-DIRECTION>OUT</COMMUNICATION-DIRECTION><I-PDU-REFS>
<I-PDU-REF DEST="SIGNAL-I-PDU">/Net/In/P</I-PDU-REF></I-PDU-REFS></I-PDU-GROUP></ELEMENTS>
<SUB-PACKAGES><AR-PACKAGE><SHORT-NAME>In</SHORT-NAME><ELEMENTS>
<FRAME><SHORT-NAME>Doors</SHORT-NAME><FRAME-LENGTH>6</FRAME-LENGTH><PDU-TO-FRAME-MAPPINGS><PDU-TO-FRAME-MAPPING>
<SHORT-NAME>m</SHORT-NAME><PDU-REF DEST="SIGNAL-I-PDU">/Net/In/P</PDU-REF></PDU-TO-FRAME-MAPPING></PDU-TO-FRAME-MAPPINGS></FRAME>
<FRAME><SHORT-NAME>Bare</SHORT-NAME></FRAME>
<SIGNAL-I-PDU><SHORT-NAME>P</SHORT-NAME><I-PDU-TIMING-SPECIFICATION><CYCLIC-TIMING/></I-PDU-TIMING-SPECIFICATION>
<LENGTH>48</LENGTH></SIGNAL-I-PDU></ELEMENTS></AR-PACKAGE></SUB-PACKAGES></AR-PACKAGE></TOP-LEVEL-PACKAGES></AUTOSAR>"#;

#[test]
fn a_description_of_autosar_3_is_read_by_its_own_names() {
    let found = read(OF_AUTOSAR_3);
    let [channel] = &found.channels[..] else { panic!("{} channels", found.channels.len()) };
    assert_eq!(channel.kind, ChannelKind::Can { bit_rate: Some(250_000), data_bit_rate: None });
    let [doors] = &channel.frames[..] else { panic!("{:?}", channel.frames) };
    assert_eq!(doors.medium, Medium::Can { id: CanId::extended(291).unwrap(), fd: None });
    assert_eq!((doors.len, names(&found, &doors.senders)), (6, vec!["Door".to_owned()]), "48 of its PDU are bits");
    let left_out: Vec<_> = found.left_out.into_iter().collect();
    assert_eq!(left_out, [("frames were left out: their lengths are not in the file", 1)]);
    // The names of version 3 mean nothing in version 4, and other versions are refused.
    let as_4 = OF_AUTOSAR_3.replace("http://autosar.org/3.2.3", "http://autosar.org/schema/r4.0");
    assert!(matches!(read_arxml(as_4.as_bytes()), Err(ArxmlError::Empty(_))));
    let as_2 = OF_AUTOSAR_3.replace("http://autosar.org/3.2.3", "http://autosar.org/2.1.4");
    assert!(matches!(read_arxml(as_2.as_bytes()), Err(ArxmlError::Version(_))));
}

#[test]
fn a_description_of_which_nothing_is_left_says_what_was_left_out() {
    let dangling = OF_AUTOSAR_3.replace("/Net/In/Doors", "/Net/In/Door").replace("/Net/In/Bare", "/Nowhere");
    let error = read_arxml(dangling.as_bytes()).expect_err("nothing is left").to_string();
    assert!(error.contains("2 frames were left out: what their triggerings refer to is not in the file"), "{error}");
}
