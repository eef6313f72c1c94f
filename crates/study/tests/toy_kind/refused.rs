//! What is bad: frames, scenarios, tables with a row too few, drivers.

use chronoseal_catalog::{KindTable, Kinds, PrepareError, Prepared};
use chronoseal_check::{PAGES, check_with};
use chronoseal_core::{
    Command, DiscardReason, Duration, EventKind, Input, LocalTime, Node, NodeId, Output, PortId, StreamId,
};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_nodes::gateway::{HandOver, Mark, Pdu, Stack};
use chronoseal_plan::SegmentId;
use chronoseal_scenario::{Code, NoFiles, Problems, Scenario};

use crate::frame::{self, PDU_LEN_MAX};
use crate::runs::{TWO, load};
use crate::station::{Listener, Station, StationConfig, Talker};
use crate::tables::{SCENARIO, TOY, kinds};

pub(crate) fn a_frame_is_read_as_it_was_written() {
    for pdu in [&[1, 2, 3][..], &[9; PDU_LEN_MAX]] {
        let bytes = framed(7, pdu);
        assert_eq!(frame::parse(&bytes), Some((7, pdu)));
        assert_eq!(frame::parse(&bytes[1..]), None, "the mark is missing");
    }
    assert_eq!(frame::parse(&framed(7, &[])), None, "nothing is carried");
    assert_eq!(frame::parse(&framed(7, &[0; PDU_LEN_MAX + 1])), None, "too long");
    assert_eq!(frame::parse(&[]), None);
}

fn framed(number: u8, pdu: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; 1536];
    let len = frame::emit(number, pdu, &mut buffer);
    buffer.truncate(len);
    buffer
}

fn problems(text: &str) -> Problems {
    Scenario::load_with(&SCENARIO, "two.toml", text.as_bytes(), &[], &NoFiles).expect_err("it is wrong")
}

pub(crate) fn what_is_wrong_with_a_scenario_is_reported() {
    let again =
        "[[streams]]\nname = \"again\"\nfrom = \"display\"\nto = [\"sensor\"]\nperiod = \"10ms\"\nlength = \"8B\"\n";
    let sealed = "[[protections]]\nname = \"sealed\"\nsecoc = { profile = 1 }\n[[streams]]\nprotection = \"sealed\"";
    for (old, new, code) in [
        ("delay = \"1ms\"", "delay = \"1\"", Code::MissingUnit),
        ("delay = \"1ms\"", "dealy = \"1ms\"", Code::UnknownKey),
        ("delay = \"1ms\"", "delay = \"1001ms\"", Code::OutOfRange),
        ("number = 7", "number = 256", Code::OutOfRange),
        ("wire = { number = 7 }", "", Code::MissingKey),
        ("length = \"20B\"", "length = \"101B\"", Code::FrameTooLong),
        ("deadline = \"2ms\"", "deadline = \"999us\"", Code::DeadlineTooShort),
        ("name = \"display\"", "name = \"display\"\n[[nodes]]\nname = \"third\"", Code::TooMany),
        ("[[streams]]", &format!("{again}wire = {{ number = 7 }}\n[[streams]]"), Code::DuplicateName),
        ("[[streams]]", sealed, Code::NotYet),
    ] {
        assert!(TWO.contains(old), "`two.toml` no longer has `{old}`: change this list with it");
        let problems = problems(&TWO.replacen(old, new, 1));
        assert!(problems.list().iter().any(|problem| problem.code == code), "{new}: {}", problems.render());
    }
    // The limits are on the other side.
    for (old, new) in [
        ("delay = \"1ms\"", "delay = \"0s\""),
        ("length = \"20B\"", "length = \"100B\""),
        ("number = 7", "number = 255"),
        ("[[streams]]", &format!("{again}wire = {{ number = 8 }}\n[[streams]]")),
    ] {
        load(&TWO.replacen(old, new, 1));
    }
}

pub(crate) fn a_row_that_is_missing_is_reported() {
    // Nobody else knows the kind.
    let error = Scenario::load("two.toml", TWO.as_bytes(), &[], &NoFiles).expect_err("the kind is not built in");
    assert!(error.render().contains("toy"), "{}", error.render());
    let built_in = Kinds::BUILT_IN;
    for (catalog, bounds, table) in [
        (built_in.catalog(), kinds().bounds(), KindTable::Catalog),
        (kinds().catalog(), built_in.bounds(), KindTable::Bounds),
    ] {
        let error = Kinds::new(catalog, bounds).expect_err("a row is missing");
        assert_eq!((error.kind.as_str(), error.table), (TOY, table), "{error}");
        let text = error.to_string();
        assert!(text.contains("`toy`") && text.contains(&table.to_string()), "{text}");
    }
    let scenario = load(TWO);
    let Err(PrepareError::MissingRow(missing)) = Prepared::new(&scenario.plan) else {
        panic!("the kind is not built in");
    };
    assert_eq!(missing.table, KindTable::Catalog);
    let error = check_with(&scenario.plan, PAGES, kinds()).expect_err("there is no page").to_string();
    assert!(error.contains("table of pages") && error.contains("`toy`"), "{error}");
}

pub(crate) fn a_station_reports_bad_frames() {
    let (now, mut buffer) = (LocalTime::ZERO, [0; 1536]);
    let listener = Listener { stream: StreamId(3), number: 7, delivers: true, hands_over: HandOver::Nothing };
    let config = StationConfig { listeners: vec![listener], relays: vec![(StreamId(4), 9)], ..Default::default() };
    let mut station = Station::new(config);
    let mut said = |station: &mut Station, bytes: &[u8]| {
        station.handle_input(now, Input::Frame { port: PortId(0), rx_at: now, bytes }).unwrap();
        match station.poll_output(now, &mut buffer) {
            Output::Event(event) => (event.kind, event.stream, event.sequence),
            other => panic!("{other:?}"),
        }
    };
    let discarded = |reason| (EventKind::Discarded(reason), StreamId::NONE, 0);
    assert_eq!(said(&mut station, &[]), discarded(DiscardReason::Malformed));
    assert_eq!(said(&mut station, &framed(8, &[1])), discarded(DiscardReason::UnknownStream));
    assert_eq!(said(&mut station, &framed(7, &[0, 0, 1, 2, 5])), (EventKind::Delivered, StreamId(3), 258));
    station.handle_input(now, Input::Command(Command::Start)).unwrap();
    // What it is given to send on is a frame, or an event with a reason.
    for (stream, len) in [(StreamId(5), 8), (StreamId(4), PDU_LEN_MAX + 1)] {
        station.send(now, Pdu { stream, sequence: 0, bytes: vec![0; len], mark: Mark::default() });
        assert!(matches!(station.poll_output(now, &mut buffer), Output::Event(event) if event.stream == stream));
    }
    let mark = Mark { origin: Some(2), attack: None, ..Mark::default() };
    station.send(now, Pdu { stream: StreamId(4), sequence: 0, bytes: vec![6; 8], mark });
    let Output::Transmit(transmit) = station.poll_output(now, &mut buffer) else { panic!("it goes on") };
    assert_eq!(buffer[..transmit.len], framed(9, &[6; 8]));
    assert_eq!((station.take_sent(), station.take_sent()), (Some(mark), None), "asked for once");
}

/// What a driver may do, what it must not do, and any bytes.
pub(crate) fn a_station_keeps_the_contract_of_nodes() {
    let ms = |ms| LocalTime::ZERO + Duration::from_ms(ms);
    let talker = |number, period| Talker {
        stream: StreamId(u16::from(number)),
        number,
        period: Duration::from_ms(period),
        offset: Duration::from_ms(1),
        len: 20,
    };
    let listener = Listener { stream: StreamId(3), number: 3, delivers: true, hands_over: HandOver::Nothing };
    let config =
        StationConfig { talkers: vec![talker(1, 10), talker(2, 7)], listeners: vec![listener], relays: Vec::new() };
    let script = (0..10).fold(Script::until(ms(100)), |script, number| {
        script.hear(ms(10 * i64::from(number)), PortId(0), &framed(3, &[0, 0, 0, number]))
    });
    let conduct = Contract::new(0..1, script, || Box::new(Station::new(config.clone()))).check();
    assert_eq!(conduct.frames().count(), 10 + 15);
}

pub(crate) fn an_attack_on_it_is_refused() {
    let threat = "\n[[threats]]\nname = \"t\"\nkind = \"spoof\"\nstream = \"speed\"\nat = { segment = \"wire\" }\n";
    let problems = problems(&format!("{TWO}{threat}"));
    assert!(problems.list().iter().any(|problem| problem.code == Code::NotYet), "{}", problems.render());
    // Nor is there an attacker in the catalog.
    let scenario = load(TWO);
    let prepared = Prepared::with_kinds(&scenario.plan, kinds()).unwrap();
    let segment = SegmentId(0);
    assert!(prepared.kind(segment).attacker(&prepared, segment, NodeId(0)).is_err(), "nobody attacks there");
}
