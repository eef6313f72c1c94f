//! The radio channel for real: stations in network namespaces of their own send signed CAMs and DENMs, as frames to
//! everyone, through the channel that the simulator uses, driven by the wall clock.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, EventKind, LocalTime, Node, NodeId, PortId, Priority, SimTime};
use chronoseal_media::medium::Attachment;
use chronoseal_media::radio::{
    AccessCategory, OfdmRate, Position, Propagation, RadioChannel, RadioConfig, StationConfig, psdu_len,
};
use chronoseal_results::Direction;
use chronoseal_testbed::{AgentConfig, FactoryError, FrameDescription, LiveConfig, LiveOutcome, Traffic, run};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::lint::{Finding, SecuredPacket, Severity, lint_packet, secured_packet};
use chronoseal_v2x_fleet::office::Office;
use chronoseal_v2x_fleet::road::{Origin, State};
use chronoseal_v2x_fleet::station::{
    CAM_STREAM, Credentials, DENM_STREAM, FrameTable, Hazard, ItsStation, ItsStationConfig, Mobility,
    STATIONARY_VEHICLE,
};
use pcap_file::pcap::{PcapPacket, PcapWriter};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("stations_in_reach_accept_each_others_messages", stations_in_reach_accept_each_others_messages),
    ("no_frame_arrives_before_its_last_bit", no_frame_arrives_before_its_last_bit),
    ("lint_and_tshark_agree_with_what_is_on_the_air", lint_and_tshark_agree_with_what_is_on_the_air),
];

/// Where the stations are `[m]`; the first two hear each other, the second and the third, and nobody else.
const PLACES_M: [i64; 3] = [0, 250, 500];
const STARTS_AT_US: u64 = 722_000_000_000_000;

/// In the agent's process. Station 0 tells of an event as well.
pub(crate) fn build(_: &[u8], node: NodeId) -> Result<Box<dyn Node + Send>, FactoryError> {
    let x_m = *PLACES_M.get(node.index()).ok_or("no such station")? as f64;
    let hazard = (node == NodeId(0)).then_some(Hazard {
        at: LocalTime::ZERO + Duration::from_ms(130),
        every: Duration::from_ms(200),
        cause_code: STATIONARY_VEHICLE,
    });
    let config = ItsStationConfig {
        first_look_at: LocalTime::ZERO + Duration::from_ms(30 * i64::from(node.0)),
        hazard,
        ..ItsStationConfig::new(Origin { latitude_deg: 48.77, longitude_deg: 9.18 }, STARTS_AT_US)
    };
    // Each process makes the same authority from the same seed.
    let office = Arc::new(Office::new(Curve::NistP256, STARTS_AT_US, 1).map_err(|error| error.to_string())?);
    let table = FrameTable::new(Some(office.verifier()));
    let numbers = random::stream(1, Purpose::Medium, u64::from(node.0));
    let credentials = Credentials::signed(office, numbers, STARTS_AT_US, true).map_err(|error| error.to_string())?;
    // Fast enough for a CAM every 100 ms.
    let mobility = Mobility::Straight(State { x_m, speed_m_s: 50.0, heading_deg: 90.0, ..State::default() });
    Ok(Box::new(ItsStation::new(config, credentials, mobility, table, None)))
}

struct OnAir;

impl Traffic for OnAir {
    fn priority(&self, _: Attachment, bytes: &[u8]) -> Priority {
        // The traffic class is within the signed part; DENMs travel up to five hops, CAMs one.
        let category = if bytes.get(17) == Some(&1) { AccessCategory::BestEffort } else { AccessCategory::Video };
        category.priority()
    }

    fn describe(&self, _: Attachment, _: &[u8], arrived_at: SimTime) -> FrameDescription {
        FrameDescription { cycle_start: arrived_at, ..FrameDescription::UNKNOWN }
    }
}

fn go(duration: Duration) -> LiveOutcome {
    let node = |index: usize| NodeId(index as u16);
    let station = |(index, x_m): (usize, &i64)| StationConfig {
        attachment: Attachment { node: node(index), port: PortId(0) },
        position: Position::from_m(*x_m, 0),
    };
    let stations = PLACES_M.iter().enumerate().map(station).collect();
    let config = RadioConfig::new(stations, Propagation::Disc { range_mm: 300_000 });
    let mut channel = RadioChannel::new(config).unwrap();
    let agents = (0..PLACES_M.len()).map(|index| AgentConfig::new(node(index))).collect();
    let agent_command = Some(crate::agents("radio_live"));
    let config = LiveConfig { capture: true, agent_command, ..LiveConfig::new(agents, vec![], duration) };
    run(&config, &mut channel, &OnAir, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

fn stations_in_reach_accept_each_others_messages() {
    let outcome = go(Duration::from_ms(1_500));
    let rows = &outcome.rows;
    let count = |node: u16, kind, stream| {
        let is_it = |row: &&chronoseal_results::EventRow| {
            row.node == NodeId(node) && row.event.kind == kind && row.event.stream == stream
        };
        rows.events.iter().filter(is_it).count()
    };
    let sent = |node, stream| count(node, EventKind::Sent, stream);
    let heard = |node, stream| count(node, EventKind::Delivered, stream);
    let figures = |of: &dyn Fn(u16, chronoseal_core::StreamId) -> usize| {
        [0, 1, 2].map(|node| (of(node, CAM_STREAM), of(node, DENM_STREAM)))
    };
    println!("  sent {:?}, accepted {:?}, warnings {:?}", figures(&sent), figures(&heard), outcome.warnings);
    assert!(sent(0, CAM_STREAM) >= 8 && sent(0, DENM_STREAM) >= 4, "a CAM every 100 ms, a DENM every 200 ms");
    assert!(heard(1, DENM_STREAM) >= 1, "the neighbour accepts DENMs");
    assert_eq!(heard(2, DENM_STREAM), 0, "500 m are out of reach");
    // The one in the middle hears both others, each of them only it; collisions of hidden stations take some.
    assert!(heard(0, CAM_STREAM) >= 4 && heard(2, CAM_STREAM) >= 4 && heard(1, CAM_STREAM) >= 4);
    assert!(heard(0, CAM_STREAM) <= sent(1, CAM_STREAM));
    assert!(heard(1, CAM_STREAM) <= sent(0, CAM_STREAM) + sent(2, CAM_STREAM));
}

fn no_frame_arrives_before_its_last_bit() {
    let outcome = go(Duration::from_ms(800));
    let captures = &outcome.rows.captures;
    let mut checked = 0;
    for departure in captures.iter().filter(|row| row.direction == Direction::Departure) {
        let same =
            |row: &&chronoseal_results::CaptureRow| row.direction == Direction::Arrival && row.bytes == departure.bytes;
        let arrival = captures.iter().find(same).unwrap();
        let airtime = OfdmRate::Mbps6.airtime(psdu_len(departure.bytes.len() as u64));
        // The record says when it was handed over and when it was given to a receiver.
        assert!(departure.time - arrival.time >= airtime, "{} for {airtime}", departure.time - arrival.time);
        checked += 1;
    }
    assert!(checked >= 10, "{checked} deliveries");
    println!("  {checked} deliveries, none before its last bit");
}

fn lint_and_tshark_agree_with_what_is_on_the_air() {
    let outcome = go(Duration::from_ms(900));
    let frames: Vec<&[u8]> = outcome
        .rows
        .captures
        .iter()
        .filter(|row| row.direction == Direction::Arrival)
        .map(|row| row.bytes.as_ref())
        .collect();
    for frame in &frames {
        let SecuredPacket::Secured { bytes, .. } = secured_packet(1, frame) else {
            panic!("not secured: {frame:02x?}")
        };
        let report = lint_packet(bytes, &[]).unwrap();
        // Whoever has no certificate of its issuer cannot check a ticket.
        let is_known = |finding: &Finding| finding.severity == Severity::NotChecked;
        assert!(report.findings.iter().all(is_known), "{:?}", report.findings);
    }
    let Some(rows) = tshark(&frames) else {
        let required = std::env::var("CHRONOSEAL_REQUIRE_LIVE").is_ok_and(|value| value == "1");
        assert!(!required, "tshark does not start");
        return println!("  skipped: tshark does not start");
    };
    assert_eq!(rows.len(), frames.len());
    let mut kinds = [0; 2];
    let mut stations = std::collections::BTreeSet::new();
    for row in &rows {
        let [port, station, psid, latitude, malformed] = &row[..] else { panic!("{row:?}") };
        assert_eq!(malformed, "");
        stations.insert(station.clone());
        assert_eq!(latitude, "487700000", "all are on one latitude");
        match (port.as_str(), psid.as_str()) {
            ("2001", "36") => kinds[0] += 1,
            ("2002", "37") => kinds[1] += 1,
            _ => panic!("{row:?}"),
        }
    }
    assert!(kinds[0] >= 10 && kinds[1] >= 2, "{kinds:?}");
    assert_eq!(stations.len(), 3, "{stations:?}");
    println!("  {} CAMs and {} DENMs, signed, dissected", kinds[0], kinds[1]);
}

/// BTP port, station, application area, latitude and whether it is malformed, of each frame; `None` without tshark.
fn tshark(frames: &[&[u8]]) -> Option<Vec<Vec<String>>> {
    let fields = ["btpb.dstport", "its.stationID", "ieee1609dot2.psid", "its.latitude", "_ws.malformed"];
    let mut child = Command::new("tshark")
        .args(["-r", "-", "-T", "fields", "-E", "occurrence=f"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(&pcap(frames)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "tshark failed: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// A capture of Ethernet frames, one a millisecond.
fn pcap(frames: &[&[u8]]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (index, frame) in frames.iter().enumerate() {
        let at = std::time::Duration::from_millis(index as u64);
        writer.write_packet(&PcapPacket::new(at, frame.len() as u32, frame)).unwrap();
    }
    writer.into_writer()
}
