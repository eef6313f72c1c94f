//! What a user has of a CAN bus becomes a scenario that resolves, and says what was assumed.

use crate::support::plan;
use chronoseal_core::Duration;
use chronoseal_plan::Can;
use chronoseal_scenario::Code;
use chronoseal_scenario::import::{from_any, from_database, from_recording, warnings};
use chronoseal_wire::can::{CanId, FrameKind};
use proptest::prelude::*;

const CAR: &[u8] = include_bytes!("../../../../data/can/car_busmaster.log");
const VESSEL: &[u8] = include_bytes!("../../../../data/can/vessel_bus.log");

fn imported(name: &str, bytes: &[u8]) -> String {
    from_any(name, bytes).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// Frames on two channels, every kind; 0x20 is asked for, 0x30 seen once.
fn small() -> String {
    let mut log = String::new();
    for i in 0..5 {
        log += &format!("(1.{:06}) can0 123#0102030405\n", i * 10_003);
        log += &format!("(1.{:06}) can0 18FEF100#01020304\n", i * 20_000 + 100);
        log += &format!("(1.{:06}) can0 124##1{}\n", i * 33_333 + 200, "AB".repeat(16));
        log += &format!("(1.{:06}) can1 123#01\n", i * 50_000 + 300);
        log += &format!("(1.{:06}) can0 020#R3\n", i * 50_000 + 400);
    }
    log + "(1.300000) can0 030#01\n"
}

#[test]
fn a_log_becomes_messages_with_lengths_and_median_periods() {
    let text = imported("my car.log", small().as_bytes());
    let plan = plan(&text);
    assert_eq!(plan.name, "my-car");
    let bus = Can::first(&plan).expect("it is one");
    let messages: Vec<_> = bus.messages().map(|one| (one.id, one.kind, one.hop.frame_len, one.stream.period)).collect();
    let standard = |raw| CanId::standard(raw).unwrap();
    assert_eq!(
        messages,
        [
            (standard(0x123), FrameKind::Classical, 5, Duration::from_ms(10)),
            (standard(0x124), FrameKind::Fd { brs: true, esi: false }, 16, Duration::from_us(33_333)),
            (CanId::extended(0x18FE_F100).unwrap(), FrameKind::Classical, 4, Duration::from_ms(20)),
        ]
    );
    assert!(plan.streams.iter().all(|one| one.deadline == Some(one.period) && one.receivers.len() == 1));
    insta::assert_snapshot!("scenario_from_can_log", text);
}

#[test]
fn each_channel_with_messages_becomes_a_segment() {
    let log = "(0.00) can0 123#01\n(0.00) 1 123#0102\n(0.00) bus/2 100#01\n(0.01) can0 123#01\n(0.02) 1 123#0102\n";
    let log =
        log.to_owned() + "(0.02) can0 18FEF100#01\n(0.03) period 7#0102\n(0.04) period 7#01\n(0.06) can0 18FEF100#01\n";
    let log = log.replace("period 7#", "period 007#");
    let text = imported("three.log", log.as_bytes());
    let plan = plan(&text);
    let segments: Vec<_> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(segments, ["can0", "channel-1", "period-bus"], "{text}");
    let streams: Vec<_> = (plan.streams.iter())
        .map(|one| {
            let segment = &plan.segments[one.hops[0].segment.index()].name;
            (one.name.as_str(), segment.as_str(), one.hops[0].frame_len, one.period)
        })
        .collect();
    let ms = Duration::from_ms;
    assert_eq!(
        streams,
        [
            ("0x123-can0", "can0", 1, ms(10)),
            ("0x18fef100x-can0", "can0", 1, ms(40)),
            ("0x123-channel-1", "channel-1", 2, ms(20)),
            // Two bytes and one, 10 ms apart: as many a second.
            ("0x7-period-bus", "period-bus", 2, Duration::from_us(13_333)),
        ]
    );
    assert!(text.contains("# 1 identifiers of channel bus/2 were left out: they have no period"), "{text}");
    assert!(text.contains("3 channels have messages, and each is a segment of its own"), "{text}");
}

#[test]
fn more_channels_than_segments_are_refused() {
    let mut log = String::new();
    for second in 0..2 {
        (0..65).for_each(|channel| log += &format!("({second}.0) can{channel} 123#01\n"));
    }
    let problems = from_recording("many.log", log.as_bytes()).expect_err("too many");
    assert!(
        problems.list()[0].message.contains("65 channels; a scenario has at most 64 segments"),
        "{}",
        problems.render()
    );
}

#[test]
fn whole_recordings_become_scenarios() {
    let car = plan(&imported("car_busmaster.log", CAR));
    // Two identifiers were seen once.
    assert_eq!(car.streams.len(), 178);
    assert_eq!(Can::first(&car).expect("it is one").segment.timing.nominal_bit(), Duration::from_us(2));
    let vessel = plan(&imported("vessel_bus.log", VESSEL));
    let bus = Can::first(&vessel).expect("it is one");
    assert!(bus.messages().all(|message| message.id.is_extended()));
    assert_eq!(bus.segment.timing.nominal_bit(), Duration::from_us(4));
}

/// What a median says of bursts would fill the bus.
#[test]
fn a_period_gives_the_bytes_a_second_that_were_counted() {
    let mut log = String::new();
    for i in 0..400 {
        log += &format!("({}.{:06}) can0 123#0102030405060708\n", i / 40, i / 4 % 10 * 100_000 + i % 4 * 1_000);
        let len = if i % 2 == 0 { 4 } else { 8 };
        log += &format!("({}.{:06}) can0 124#{}\n", i / 40, i % 40 * 25_000 + 500, "AB".repeat(len));
    }
    for i in 0..20 {
        log += &format!("(3.{:06}) can0 125#0102\n", i * 1_000);
        log += &format!("(4.{:06}) can0 126#\n", i * i * 1_000);
    }
    let text = imported("bursts.log", log.as_bytes());
    let periods: Vec<_> = plan(&text).streams.iter().map(|one| one.period.as_us_f64()).collect();
    // 400 of 8B, and 400 of 6B on average, in 10 s; 20 in 10 s.
    let wanted = [25_000.0, 33_333.0, 500_000.0, 500_000.0];
    assert!(
        periods.iter().zip(wanted).all(|(period, wanted)| (period / wanted - 1.0).abs() < 0.02),
        "{periods:?}\n{text}"
    );
    assert!(text.contains(
        "# 400 frames; usual distance 1ms, up to 4 at once. assumed: as many bytes a second as were counted"
    ));
    assert!(
        text.contains("assumed: evenly spread over all of the recording, though it was seen for 19ms of 9.976s only"),
        "{text}"
    );
    assert!(text.contains("duration = \"9.99s\""), "{text}");
}

#[test]
fn a_run_is_as_long_as_what_was_recorded_and_shows_each_message() {
    for (us, wanted) in
        [(100, "duration = \"1ms\""), (1_234, "duration = \"12.4ms\""), (250_000, "duration = \"2.5s\"")]
    {
        let log: String =
            (0..10).map(|i| format!("({}.{:06}) can0 123#01\n", i * us / 1_000_000, i * us % 1_000_000)).collect();
        let text = imported("short.log", log.as_bytes());
        assert!(text.contains(wanted), "{text}");
    }
    // The slowest is seen four times.
    let log = "(0.0) can0 123#01\n(0.0) can0 124#01\n(3.0) can0 123#01\n(3.1) can0 124#01\n";
    assert!(imported("slow.log", log.as_bytes()).contains("duration = \"12.4s\""));
    // Replayed, exactly as long as its last frame and the gap behind it.
    let log = "(0.0) can0 123#01\n(0.010001) can0 123#01\n(0.020001) can0 123#01\n";
    assert!(
        imported("exact.log", log.as_bytes())
            .contains("`duration = \"25.00125ms\"`, in which each of its frames is sent once")
    );
}

/// A database of this many messages without cycle times, and one with.
fn database(without: u32, cycle_ms: u32, with: u32) -> String {
    let mut text = "VERSION \"\"\nBU_: Engine Cluster\n".to_owned();
    for i in 0..without + with {
        text += &format!("BO_ {} M{i}: 8 Engine\n SG_ S : 0|8@1+ (1,0) [0|0] \"\" Cluster\n", 16 + i);
    }
    text += "BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;\nBA_DEF_DEF_ \"GenMsgCycleTime\" 0;\n";
    for i in without..without + with {
        text += &format!("BA_ \"GenMsgCycleTime\" BO_ {} {cycle_ms};\n", 16 + i);
    }
    text
}

#[test]
fn what_is_assumed_of_a_bus_does_not_fill_it() {
    let of = |text: &str| {
        let plan = plan(text);
        let bus = Can::first(&plan).expect("it is one");
        (
            bus.segment.timing.nominal_bit(),
            plan.streams[0].period,
            plan.streams.iter().filter(|one| one.deadline > Some(one.period)).count(),
        )
    };
    let (us, ms) = (Duration::from_us, Duration::from_ms);
    // 270 us each at 500 kbit/s, 135 us at 1 Mbit/s.
    assert_eq!(of(&imported("few.dbc", database(300, 0, 0).as_bytes())), (us(2), ms(100), 0));
    assert_eq!(of(&imported("more.dbc", database(500, 0, 0).as_bytes())), (us(1), ms(100), 0));
    let text = imported("many.dbc", database(1_000, 0, 0).as_bytes());
    assert_eq!(of(&text), (us(1), ms(200), 0), "{text}");
    assert!(
        text.contains("# Assumed: 200ms for 1000 messages without a cycle time.\n# With 100ms no bus would have room")
    );
    // Those that have a cycle time keep it, and get a deadline where it cannot hold.
    let text = imported("late.dbc", database(40, 5, 1).as_bytes());
    assert_eq!(of(&text), (us(2), ms(100), 1), "{text}");
    assert!(text.contains("period = \"5ms\"\ndeadline = \"11.1ms\"    # assumed\n"), "{text}");
    assert!(
        text.contains("# Assumed: deadlines of 1 messages, which may be later than their next one is due."),
        "{text}"
    );
}

#[test]
fn a_damaged_log_is_used_up_to_the_damage_and_says_so() {
    let log = small();
    let text = imported("car.log", &log.as_bytes()[..log.len() - 2]);
    assert!(text.contains("damaged behind these frames") && text.contains("line 26"), "{text}");
    let warned = warnings(&text).find(|warning| warning.contains("the recording is damaged behind these frames"));
    assert!(warned.is_some(), "it says so on the terminal too: {text}");
    plan(&text);
    // A wrong line in the middle is no damage at the end.
    let problems = from_recording("car.log", log.replace("(1.040012) can0 123#", "(1.040012) can0 12#").as_bytes())
        .expect_err("a wrong line");
    assert_eq!(problems.list()[0].code, Code::ImportRecording);
    assert!(problems.list()[0].message.contains("3 or 8 hexadecimal digits"), "{}", problems.render());
}

#[test]
fn a_recording_without_periods_is_refused() {
    for log in
        ["(0.0) can0 123#01\n", "(0.0) can0 123#01\n(11.0) can0 123#01\n", "(0.0) can0 123#R\n(1.0) can0 123#R\n"]
    {
        let problems = from_recording("x.log", log.as_bytes()).expect_err("no message");
        assert_eq!(problems.list()[0].code, Code::ImportRecording, "{}", problems.render());
    }
}

const DBC: &str = "\
VERSION \"\"

BU_: Engine Gateway Cluster

BO_ 256 Speed: 8 Engine
 SG_ Wheel : 0|16@1+ (0.01,0) [0|655.35] \"km/h\" Gateway

BO_ 2566844926 Lights: 3 Vector__XXX
 SG_ High : 0|1@1+ (1,0) [0|1] \"\" Gateway

BO_ 257 Camera: 48 Gateway

BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;
BA_DEF_DEF_ \"GenMsgCycleTime\" 0;
BA_ \"GenMsgCycleTime\" BO_ 256 20;
";

#[test]
fn a_database_becomes_messages_with_senders_and_cycle_times() {
    let text = imported("my car.dbc", DBC.as_bytes());
    let plan = plan(&text);
    let name = |node: chronoseal_core::NodeId| &plan.nodes[usize::from(node.0)].name[..];
    let messages: Vec<_> =
        plan.streams.iter().map(|one| (&one.name[..], name(one.sender), one.hops[0].frame_len, one.period)).collect();
    let ms = Duration::from_ms;
    assert_eq!(
        messages,
        [("Speed", "Engine", 8, ms(20)), ("Lights", "rest-bus", 3, ms(100)), ("Camera", "Gateway", 48, ms(100))]
    );
    assert_eq!(plan.nodes.len(), 4);
    insta::assert_snapshot!("scenario_from_database", text);
}

#[test]
fn a_database_with_errors_is_refused_with_its_line() {
    let problems = from_database("x.dbc", DBC.replace("BU_: ", "BU_: \"\" ").as_bytes()).expect_err("no name");
    assert_eq!(problems.list()[0].code, Code::ImportDatabase);
    assert!(problems.list()[0].message.contains("line "), "{}", problems.render());
}

#[test]
fn what_of_a_database_is_wrong_is_left_out_with_a_warning() {
    for (from, to, wrong, names) in [
        ("8 Engine", "Engine", "line 5: this cannot be read", ["Lights", "Camera"]),
        ("BO_ 257 ", "BO_ 256 ", "Speed has already", ["Speed", "Lights"]),
    ] {
        let text = imported("x.dbc", DBC.replace(from, to).as_bytes());
        let said: Vec<_> = warnings(&text).collect();
        let [said] = said[..] else { panic!("{text}") };
        assert!(said.contains(wrong) && said.ends_with("what stands there is left out."), "{said}");
        assert!(plan(&text).streams.iter().map(|stream| &stream.name[..]).eq(names), "{text}");
    }
}

#[test]
fn one_message_with_a_bad_number_is_left_out_with_a_warning() {
    let bad = DBC.replace("BO_ 257 Camera", "BO_ 65793 Camera");
    assert_ne!(bad, DBC, "the database has such a message");
    let text = imported("x.dbc", bad.as_bytes());
    let told: Vec<_> = warnings(&text).collect();
    let [told] = told[..] else { panic!("{text}") };
    assert!(told.contains("message Camera is left out") && told.contains("65793 is no identifier"), "{told}");
    let names: Vec<_> = plan(&text).streams.iter().map(|stream| stream.name.clone()).collect();
    assert_eq!(names, ["Speed", "Lights"]);
    assert_eq!(warnings(&imported("x.dbc", DBC.as_bytes())).count(), 0);
}

#[test]
fn signals_that_look_like_those_of_secoc_are_proposed_and_not_applied() {
    let signal = |name: &str, at: u32, bits: u32| format!(" SG_ {name} : {at}|{bits}@0+ (1,0) [0|0] \"\" Gateway\n");
    for (signals, table) in [
        // As opendbc has them of a Toyota.
        (
            signal("RESET_FLAG", 37, 2) + &signal("MSG_CNT_LOWER", 39, 2) + &signal("AUTHENTICATOR", 35, 28),
            "secoc = { profile = 3 }`, and `length = \"4B\"",
        ),
        (
            signal("Speed_MAC", 39, 24) + &signal("SpeedFreshness", 63, 8),
            "secoc = { authenticator = \"24bit\", freshness = { rising = { sent = \"8bit\" } } }`, and `length = \"4B\"",
        ),
        (signal("CMAC", 39, 32), "secoc = { authenticator = \"32bit\", freshness = \"none\" }`, and `length = \"4B\""),
    ] {
        let text = imported("x.dbc", format!("VERSION \"\"\nBU_: A Gateway\nBO_ 256 Speed: 8 A\n{signals}").as_bytes());
        assert!(text.contains(&format!("Proposed and not applied: a protection with `{table}")), "{text}");
        assert!(text.contains("# 1 messages have signals that look like those of SecOC"), "{text}");
        let plan = plan(&text);
        assert_eq!((plan.streams[0].length, plan.protections.len()), (8, 1), "nothing is applied");
    }
    for signals in [
        signal("MachineState", 39, 24),
        signal("MAC_A", 39, 8) + &signal("MAC_B", 47, 8),
        // Nothing else would be left.
        signal("MAC", 7, 64),
    ] {
        let text = imported("x.dbc", format!("VERSION \"\"\nBU_: A Gateway\nBO_ 256 Speed: 8 A\n{signals}").as_bytes());
        assert!(!text.contains("Proposed"), "{text}");
    }
}

/// A message of 32 bytes of J1939, the format named by its word as editors number it in each database.
const J1939: &str = "\
VERSION \"\"
BU_: ECU Engine
BO_ 2164095232 AT1TI: 32 ECU
 SG_ A : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX
BO_ 2566844926 CCVS: 20 Engine
 SG_ B : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX
BO_ 2364540158 EEC1: 8 Engine
 SG_ C : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX
BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;
BA_DEF_ BO_ \"VFrameFormat\" ENUM \"StandardCAN\",\"ExtendedCAN\",\"StandardCAN_FD\",\"ExtendedCAN_FD\",\"J1939PG\";
BA_DEF_DEF_ \"GenMsgCycleTime\" 0;
BA_DEF_DEF_ \"VFrameFormat\" \"J1939PG\";
BA_ \"VFrameFormat\" BO_ 2164095232 4;
BA_ \"GenMsgCycleTime\" BO_ 2164095232 500;
BA_ \"GenMsgCycleTime\" BO_ 2364540158 20;
";

#[test]
fn messages_of_j1939_longer_than_a_frame_go_by_its_transport_protocol() {
    let text = imported("truck.dbc", J1939.as_bytes());
    let plan = plan(&text);
    let bus = Can::first(&plan).expect("it is one");
    let mut seen: Vec<_> =
        bus.messages().map(|one| (one.id.raw(), one.hop.frame_len, one.stream.period.as_ns() / 1_000)).collect();
    seen.sort_unstable();
    // 32 bytes are 5 packets, 20 are 3; without a cycle time a second is assumed.
    let expected = [
        (0x0cf0_04fe, 8, 20_000),
        (0x1ceb_ff00, 8, 100_000),
        (0x1ceb_fffe, 8, 333_333),
        (0x1cec_ff00, 8, 500_000),
        (0x1cec_fffe, 8, 1_000_000),
    ];
    assert_eq!(seen, expected, "{text}");
    assert!(bus.messages().all(|one| one.kind == FrameKind::Classical && one.id.is_extended()), "no CAN FD\n{text}");
    assert!(text.contains("J1939-21") && text.contains("CCVS of 20B every 1s, assumed"), "{text}");
    // A database that says nothing of J1939 has CAN FD as before.
    let plain = J1939.replace("J1939PG", "ExtendedCAN_XX");
    assert!(imported("truck.dbc", plain.as_bytes()).contains("fd"));
}

#[test]
fn a_table_that_begins_like_a_recording_is_a_table() {
    // With the column that the first letters of other files are taken from.
    let table = "LOGG,name,from,to,period,frame\nx,speed,wheel,brake,10ms,60B\n";
    let problems = from_any("t.csv", table.as_bytes()).expect_err("a column too many");
    assert_eq!(problems.list()[0].code, Code::ImportCsv, "{}", problems.render());
}

#[test]
fn other_bytes_go_where_they_belong() {
    let table = "name,from,to,period,frame\nspeed,wheel,brake,10ms,60B\n";
    assert!(imported("t.csv", table.as_bytes()).contains("[segments.network.ethernet]"));
    let recording = chronoseal_recordings::read(small().as_bytes()).expect("a log");
    let capture = chronoseal_recordings::write_pcap(&recording);
    assert!(imported("t.pcap", &capture).contains("[segments.bus.can]"));
}

proptest! {
    #[test]
    fn any_log_is_refused_or_resolves(
        frames in proptest::collection::vec((0u32..0x2000_0000, 0u64..20_000_000, 0usize..=8), 0..60),
    ) {
        let mut log = String::new();
        for (id, us, len) in &frames {
            let id = if id % 2 == 0 { format!("{:03X}", id % 16) } else { format!("{:08X}", id % 16) };
            log += &format!("({}.{:06}) can0 {id}#{}\n", us / 1_000_000, us % 1_000_000, "5A".repeat(*len));
        }
        if let Ok(text) = from_any("any.log", log.as_bytes()) {
            plan(&text);
        }
    }
}
