//! The fuzz targets' bodies: each takes any bytes and panics if the code under test breaks a promise.
//!
//! `fuzz_targets/` gives them to libFuzzer, `tests/mutations.rs` runs them on stable Rust.
#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a target panics on a broken promise, and only then"
)]
#![allow(clippy::disallowed_methods, reason = "a daemon serves while its client writes")]

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Counters, Freshness, HashAlgorithm, KeyBytes, Opener, Profile, Sealer};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{Files, NoFiles, Problems};
use chronoseal_wire::ethernet::{self, Frame, TypeOrLength};
use chronoseal_wire::protocol_control_frame::{self, ProtocolControlFrame};
use chronoseal_wire::secured_pdu::SecuredPduLayout;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link::{self, DEFAULT_CT_MARKER};

mod bounds;
mod can;
mod container;
mod fourq;
mod gptp;
mod ip_fragments;
mod iso_tp;
mod its;
mod measured;
mod program_records;
mod schedule;
mod v2x;
mod v2x_pki;
mod vss;

pub use bounds::{other_bounds, output_port_network};
pub use can::{can_bits, can_frame};
pub use container::container_pdu;
pub use fourq::{fourq_point, fourq_signature};
pub use gptp::gptp_message;
pub use ip_fragments::{ip_fragments, message as ip_message, record as ip_record};
pub use iso_tp::{Setting as IsoTpSetting, iso_tp, record as iso_tp_record};
pub use its::{its_packet, sumo_trace};
pub use measured::{load_measured, measured_middleware};
pub use program_records::{PROGRAM_EPOCH_NS, program_records, record as program_record};
pub use schedule::{gate_control_list, schedule_table, stream_table};
pub use v2x::{World as V2xWorld, v2x_certificate, v2x_message, v2x_pki, v2x_report, v2x_verify};
pub use v2x_pki::{seeds as v2x_pki_seeds, v2x_exchange, v2x_lint, v2x_trust_list};

pub use vss::{vss_configuration, vss_frame};

/// A target: takes any bytes, panics on a broken promise.
pub type Target = fn(&[u8]);

/// Every target by name; a corpus folder has the same name.
pub const TARGETS: &[(&str, Target)] = &[
    ("can_bits", can_bits),
    ("can_database", can_database),
    ("can_frame", can_frame),
    ("container_pdu", container_pdu),
    ("ethernet_frame", ethernet_frame),
    ("foreign_file", foreign_file),
    ("fourq_point", fourq_point),
    ("fourq_signature", fourq_signature),
    ("gate_control_list", gate_control_list),
    ("gptp_message", gptp_message),
    ("import_arxml", import_arxml),
    ("import_capture", import_capture),
    ("import_table", import_table),
    ("ip_fragments", ip_fragments),
    ("iso_tp", iso_tp),
    ("its_packet", its_packet),
    ("measured_middleware", measured_middleware),
    ("other_bounds", other_bounds),
    ("output_port_network", output_port_network),
    ("program_records", program_records),
    ("protocol_control_frame", protocol_control_frame),
    ("recording_asc", recording),
    ("recording_blf", recording),
    ("recording_busmaster", recording),
    ("recording_candump", recording),
    ("recording_csv", recording_csv),
    ("recording_mf4", recording),
    ("recording_pcap", recording),
    ("recording_sqlite", recording),
    ("recording_trc", recording),
    ("replayed_datagrams", replayed_datagrams),
    ("scenario_text", scenario_text),
    ("schedule_table", schedule_table),
    ("secured_pdu_open", secured_pdu_open),
    ("stream_table", stream_table),
    ("sumo_trace", sumo_trace),
    ("v2x_certificate", v2x_certificate),
    ("v2x_exchange", v2x_exchange),
    ("v2x_lint", v2x_lint),
    ("v2x_message", v2x_message),
    ("v2x_pki", v2x_pki),
    ("v2x_report", v2x_report),
    ("v2x_trust_list", v2x_trust_list),
    ("v2x_verify", v2x_verify),
    ("vss_configuration", vss_configuration),
    ("vss_frame", vss_frame),
];

/// Bytes from the wire: a frame is accepted exactly if its lengths and type are sound, and its parts are the whole.
pub fn ethernet_frame(data: &[u8]) {
    let frame = match Frame::new_checked(data) {
        Ok(frame) => frame,
        Err(error) => {
            let is_of_frame_length = (ethernet::FRAME_LEN_MIN..=ethernet::FRAME_LEN_MAX).contains(&data.len());
            assert_eq!(DiscardReason::from(error) == DiscardReason::Malformed, is_of_frame_length);
            return;
        }
    };
    let payload = frame.payload();
    assert!(data[ethernet::HEADER_LEN..].starts_with(payload));
    if let TypeOrLength::Length(length) = frame.type_or_length() {
        assert_eq!(payload.len(), usize::from(length));
    }
    let mut header = [0; ethernet::HEADER_LEN];
    frame.header().emit(&mut header);
    assert_eq!(header, data[..ethernet::HEADER_LEN]);

    if let Some(ct_id) = virtual_link::ct_id(frame.destination(), DEFAULT_CT_MARKER) {
        assert_eq!(virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, ct_id), frame.destination());
    }
    match TestBedHeader::parse(payload) {
        Ok(header) => {
            let mut bytes = [0; TestBedHeader::LEN];
            header.emit(&mut bytes);
            assert!(payload.starts_with(&bytes));
        }
        Err(error) => {
            assert_eq!(payload.len() < TestBedHeader::LEN, DiscardReason::from(error) == DiscardReason::TooShort)
        }
    }
}

/// The payload of a control frame: what is accepted is emitted again with the same meaning, and delays add up.
pub fn protocol_control_frame(data: &[u8]) {
    let mut frame = data.to_vec();
    protocol_control_frame::add_transparent_clock(&mut frame, chronoseal_core::Duration::MAX);
    let Ok(pcf) = ProtocolControlFrame::parse(data) else { return };
    let mut buf = [0xaa; protocol_control_frame::FRAME_LEN];
    let address = virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 4043);
    let len = pcf.emit_frame(address, address, &mut buf);
    let emitted = |bytes: &[u8]| ProtocolControlFrame::parse(Frame::new_checked(bytes).unwrap().payload()).unwrap();
    assert_eq!(emitted(&buf[..len]), pcf);
    let delay = chronoseal_core::Duration::from_ns(1);
    protocol_control_frame::add_transparent_clock(&mut buf, delay);
    let later = emitted(&buf).transparent_clock;
    // At the end of its range the field stays where it is.
    assert!(later >= pcf.transparent_clock && later <= pcf.transparent_clock + delay);
}

/// A PDU for a receiver, under the profile that its first byte chooses: bytes as they are, then the same bytes sealed,
/// changed and replayed. Profiles have tags of at least eight bytes, so that no input is a lucky forgery.
pub fn secured_pdu_open(data: &[u8]) {
    let [choice, flip, expected, pdu @ ..] = data else { return };
    let profiles = profiles();
    let profile = profiles[usize::from(*choice) % profiles.len()];
    let key = KeyBytes::from_array(std::array::from_fn(|i| i as u8));
    let mut opener = Opener::new(profile, &key, 100).expect("HMAC takes any key");
    let cycle = u64::from(*expected);

    // As it is: nobody without the key made it, unless it is one of the sealed seeds.
    let freshness_len = usize::from(profile.freshness().sent_bits() / 8);
    let shorter = SecuredPduLayout { freshness_len, tag_len: usize::from(profile.tag_bits() / 8) };
    let outcome = opener.open(pdu, (*expected != 0).then_some(cycle));
    match outcome {
        Ok(opened) => assert!(pdu.starts_with(opened.payload)),
        Err(reason) => {
            assert!(Counters::REASONS.contains(&reason));
            assert_eq!(reason == DiscardReason::TooShort, shorter.split(pdu).is_err());
        }
    }
    assert_eq!(opener.counters().accepted() + opener.counters().discarded_total(), 1);

    // Sealed: accepted once by a new receiver, refused after any change and, with freshness, the second time.
    let mut sealed = vec![0; pdu.len() + profile.overhead()];
    sealed[..pdu.len()].copy_from_slice(pdu);
    let len = Sealer::new(profile, &key, 100).expect("HMAC takes any key").seal(&mut sealed, pdu.len(), cycle).unwrap();
    assert_eq!(len, sealed.len());
    let mut opener = Opener::new(profile, &key, 100).expect("HMAC takes any key");
    let at = usize::from(*flip) * 8 % (sealed.len() * 8);
    sealed[at / 8] ^= 1 << (flip % 8);
    assert!(opener.open(&sealed, Some(cycle)).is_err());
    sealed[at / 8] ^= 1 << (flip % 8);
    assert!(opener.open(&sealed[..len - 1], Some(cycle)).is_err());
    let opened = opener.open(&sealed, Some(cycle)).expect("an authentic and fresh PDU");
    assert_eq!(opened.payload, pdu);
    assert_eq!(opened.freshness, (profile.freshness() != Freshness::None).then_some(cycle));
    let again = opener.open(&sealed, Some(cycle));
    assert_eq!(again.is_ok(), profile.freshness() == Freshness::None);
    assert_eq!(opener.counters().accepted() + opener.counters().discarded_total(), 4);
}

/// A scenario file: refused with places in its text, or a plan whose every index points at something.
pub fn scenario_text(data: &[u8]) {
    check_outcome(chronoseal_scenario::load("fuzz.toml", data, &[], &NoFiles));
}

/// A user's table of streams: refused with places in it, or a scenario that loads as it is.
pub fn import_table(data: &[u8]) {
    check_import(chronoseal_scenario::import::from_csv("fuzz.csv", data));
}

/// Any file of another tool, packed or not: recognised by its content, refused by name, or a scenario that loads as it is.
pub fn foreign_file(data: &[u8]) {
    use chronoseal_recordings::content::{Purpose, not_read, recognised};
    const UNPACKED_MAX: usize = 1 << 20;
    let Ok(unpacked) = chronoseal_recordings::unpacked_within(data, UNPACKED_MAX) else { return };
    assert!(unpacked.len() <= UNPACKED_MAX.max(data.len()), "no more than the limit");
    let refusal = not_read(&unpacked, Purpose::Import);
    assert!(!refusal.message.is_empty() && refusal.help.contains("read here"), "a refusal says what is read");
    if let Some(entry) = recognised(&unpacked) {
        assert!(refusal.message.contains(entry.name), "what is recognised is named");
    }
    check_import(chronoseal_scenario::import::from_any("fuzz.bin", &unpacked));
}

/// An AUTOSAR system description: refused, or channels whose frames, ends and routes are there, and a scenario that loads as it is.
pub fn import_arxml(data: &[u8]) {
    if let Ok(found) = chronoseal_recordings::arxml::read_arxml(data) {
        for frame in found.channels.iter().flat_map(|channel| &channel.frames) {
            assert!(frame.senders.iter().chain(&frame.receivers).all(|ecu| *ecu < found.nodes.len()));
        }
        let is_there = |(channel, frame): (usize, usize)| frame < found.channels[channel].frames.len();
        assert!(
            found.routes.iter().all(|route| is_there(route.from) && is_there(route.to) && route.from.0 != route.to.0)
        );
    }
    check_import(chronoseal_scenario::import::from_description("fuzz.arxml", data));
}

/// A user's capture, pcap or pcapng: refused, or a scenario that loads as it is.
pub fn import_capture(data: &[u8]) {
    check_import(chronoseal_scenario::import::from_capture("fuzz.pcap", data));
    match chronoseal_scenario::import::with_recordings("fuzz.pcap", data) {
        Ok(imported) => {
            let loaded = chronoseal_scenario::load("imported.toml", imported.text.as_bytes(), &[], &imported);
            assert!(loaded.is_ok(), "an imported scenario loads beside its recordings");
        }
        Err(problems) => assert!(problems.count() > 0, "a refusal says why"),
    }
}

fn check_import(imported: Result<String, Problems>) {
    match imported {
        Ok(text) => {
            let loaded = chronoseal_scenario::load("imported.toml", text.as_bytes(), &[], &NoFiles);
            assert!(loaded.is_ok(), "an imported scenario loads");
        }
        Err(problems) => assert!(problems.count() > 0, "a refusal says why"),
    }
}

/// A recording beside a scenario, as a signal and as raw frames.
pub fn recording_csv(data: &[u8]) {
    for outcome in load_with_recording(data) {
        check_outcome(outcome);
    }
}

/// Two stations and `recording`: taken for the signal `heading`, taken for raw frames.
pub fn load_with_recording(recording: &[u8]) -> [Result<Plan, Problems>; 2] {
    [r#"signal = { file = "r.csv", name = "heading" }"#, r#"frames = { file = "r.csv" }"#].map(|selection| {
        let text = format!("{TWO_STATIONS}\n[[recordings]]\nname = \"r\"\n{selection}\n");
        chronoseal_scenario::load("fuzz.toml", text.as_bytes(), &[], &One(recording))
    })
}

/// A capture of datagrams that a station replays over a lossy link, or of frames on Ethernet.
pub fn replayed_datagrams(data: &[u8]) {
    for (outcome, least) in [(load_replayed(data), 8), (load_replayed_frames(data), 46)] {
        let Ok(plan) = outcome else { continue };
        let recorded =
            plan.streams.first().and_then(|stream| stream.recorded()).expect("it is what the stream carries");
        let messages = recorded.messages();
        assert!(messages.iter().all(|(at, message)| *at < recorded.length() && message.len() >= least));
        assert!(messages.is_sorted_by_key(|(at, _)| *at));
    }
}

/// As [`load_replayed`], of a switched Ethernet.
///
/// # Errors
/// Why it cannot be replayed.
pub fn load_replayed_frames(recording: &[u8]) -> Result<Plan, Problems> {
    let text = REPLAYED.replace("[segments.air.link]", "[segments.network.ethernet]\nrate = \"100Mbit/s\"");
    chronoseal_scenario::load("fuzz.toml", text.as_bytes(), &[], &One(recording))
}

/// Two stations on a link and a recording.
///
/// # Errors
/// Why it cannot be replayed.
pub fn load_replayed(recording: &[u8]) -> Result<Plan, Problems> {
    chronoseal_scenario::load("fuzz.toml", REPLAYED.as_bytes(), &[], &One(recording))
}

const REPLAYED: &str = r#"
schema_version = 2
name = "replayed"
duration = "1s"
[segments.air.link]
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[recordings]]
name = "r"
traffic = { file = "r.pcap" }
from = "robot"
to = ["station"]
"#;

/// One file, whatever it is called.
struct One<'a>(&'a [u8]);

impl Files for One<'_> {
    fn read(&self, _: &str) -> Result<Vec<u8>, chronoseal_scenario::FileError> {
        Ok(self.0.to_vec())
    }
}

/// A scenario that plays the recording `r`, which is still to be added.
const TWO_STATIONS: &str = r#"
schema_version = 2
name = "two-stations"
duration = "1s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "s"
from = "a"
to = ["b"]
period = "10ms"
length = "86B"
payload = { recording = "r" }
"#;

fn check_outcome(outcome: Result<Plan, Problems>) {
    let plan = match outcome {
        Ok(plan) => plan,
        Err(problems) => {
            assert!(!problems.list().is_empty());
            assert!(problems.list().len() <= Problems::KEPT_MAX && problems.count() >= problems.list().len());
            assert!(!problems.render().is_empty());
            assert!(problems.to_json().is_object() || problems.to_json().is_array());
            return;
        }
    };
    for stream in &plan.streams {
        assert!(stream.sender.index() < plan.nodes.len());
        assert!(stream.receivers.iter().all(|node| node.index() < plan.nodes.len() && *node != stream.sender));
        for hop in &stream.hops {
            assert!(hop.segment.index() < plan.segments.len());
            if let Some(view) = Ethernet::of(&plan, hop.segment) {
                assert!(plan.secured_len(stream, hop) as usize <= ethernet::FRAME_LEN_MAX);
                assert!(hop.frame_len as usize >= ethernet::FRAME_LEN_MIN);
                assert!(!view.frame_time(plan.secured_len(stream, hop)).is_negative());
            }
        }
        if let chronoseal_plan::PayloadPlan::Recorded { recording } = stream.payload {
            let recording = &plan.recordings[usize::from(recording)];
            assert!(recording.samples.iter().all(|sample| sample.at < recording.length));
            assert!(recording.samples.is_sorted_by_key(|sample| sample.at));
        }
    }
    assert!(plan.nodes.iter().all(|node| usize::from(node.platform.0) < plan.platforms.len()));
    assert!(plan.candidates.iter().all(|candidate| usize::from(candidate.0) < plan.protections.len()));
    let targets = || plan.threats.iter().filter_map(|threat| threat.kind.target());
    assert!(targets().all(|target| target.index() < plan.streams.len()));
    assert!(plan.threats.iter().all(|threat| usize::from(threat.attacker) < plan.attackers.len()));
    assert!(plan.all_nodes().all(|(_, name)| !name.is_empty()));
}

/// Every hash with every way of freshness, tags of 8 bytes and of full length.
pub fn profiles() -> Vec<Profile> {
    let truncated = (1..=7).map(|len| Freshness::Truncated { bits: 8 * len });
    let ways: Vec<_> =
        [Freshness::None, Freshness::Full, Freshness::CycleCounter].into_iter().chain(truncated).collect();
    let mut profiles = Vec::new();
    for hash in [HashAlgorithm::Sha1, HashAlgorithm::Sha256, HashAlgorithm::Sha3_256] {
        let mac = hash.mac();
        for tag_bits in [64, mac.tag_bits_max()] {
            profiles.extend(ways.iter().map(|&way| Profile::new(mac, tag_bits, way, 16).expect("a valid profile")));
        }
    }
    profiles
}

/// A log or capture of a CAN bus in any format: what is read is in order, is written and read again as it is, and what is
/// said about it adds up. A refusal keeps what came before.
pub fn recording(data: &[u8]) {
    use chronoseal_recordings::{identifiers, read, write_candump, write_pcap};
    let recording = match read(data) {
        Ok(recording) => recording,
        Err(error) => {
            assert!(!error.problem.to_string().is_empty());
            *error.read
        }
    };
    let frames = &recording.frames;
    assert!(frames.is_sorted_by_key(|frame| frame.at_ns));
    assert!(frames.iter().all(|frame| usize::from(frame.channel) < recording.channels.len()));
    assert!(recording.errors.iter().all(|error| usize::from(error.channel) < recording.channels.len()));
    let statistics = identifiers(&recording);
    assert_eq!(statistics.iter().map(|one| one.count).sum::<u64>(), frames.len() as u64);
    assert!(statistics.iter().all(|one| one.len_min <= one.len_max && one.len_max <= 64));
    if frames.is_empty() {
        return;
    }
    let again = read(write_candump(&recording).as_bytes()).expect("a written log is sound");
    assert_eq!((again.frames.len(), again.errors.len()), (frames.len(), recording.errors.len()));
    // A pcap has 32 bits for seconds.
    let end_ns = recording.start_ns.saturating_add(frames[frames.len() - 1].at_ns);
    if end_ns / 1_000_000_000 <= u64::from(u32::MAX) {
        let again = read(&write_pcap(&recording)).expect("a written capture is sound");
        assert!(again.frames.iter().map(|frame| frame.frame).eq(frames.iter().map(|frame| frame.frame)));
    }
    check_can_import(chronoseal_scenario::import::from_recording("fuzz", data));
}

/// A database of CAN messages: refused with its line, or every message fits a frame, and a scenario can be made of it.
pub fn can_database(data: &[u8]) {
    if let Ok(database) = chronoseal_recordings::read_dbc(data) {
        assert!(database.messages.iter().all(|message| message.len <= 64));
        let ids: std::collections::BTreeSet<_> = database.messages.iter().map(|message| message.id).collect();
        assert_eq!(ids.len(), database.messages.len());
    }
    check_can_import(chronoseal_scenario::import::from_database("fuzz.dbc", data));
}

fn check_can_import(imported: Result<String, Problems>) {
    match imported {
        Ok(text) => {
            let loaded = chronoseal_scenario::load("imported.toml", text.as_bytes(), &[], &NoFiles);
            assert!(loaded.is_ok(), "an imported scenario loads");
        }
        Err(problems) => assert!(problems.count() > 0, "a refusal says why"),
    }
}
