//! A capture of Ethernet frames, as pcap or pcapng.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_core::statistics::nearest_rank;
use chronoseal_recordings::{CaptureItem, CaptureReader, CapturedPacket, LINKTYPE_ETHERNET};

use super::{CYCLE_WITHOUT_SLOTS, Found, schedulable, write};
use crate::limits::{FRAME_LEN_MAX, FRAME_LEN_MIN, PERIOD_MIN};
use crate::problem::{Code, Problem, Problems};

/// Protocol control frames (SAE AS6802): the bench sends its own.
const ETHERTYPE_PROTOCOL_CONTROL: u16 = chronoseal_wire::protocol_control_frame::ETHERTYPE_PROTOCOL_CONTROL;
/// IEEE 802.1Q tag.
const ETHERTYPE_VLAN: u16 = 0x8100;
/// Periods of scheduled traffic; outside a stream is taken as best effort.
const SCHEDULED_PERIODS: std::ops::RangeInclusive<i64> = 100..=100_000;
/// Frames of a capture that are looked at.
const CAPTURED_MAX: usize = 20_000_000;

type Mac = [u8; 6];

/// One captured frame.
struct Captured {
    at_ns: u64,
    /// Where it was seen, counted over the whole file.
    interface: usize,
    /// It left by that interface.
    is_outbound: bool,
    len: u64,
    destination: Mac,
    source: Mac,
    ethertype: u16,
}

/// What a capture holds.
#[derive(Default)]
struct Capture {
    frames: Vec<Captured>,
    /// Frames too short for a header, or not Ethernet.
    skipped: u64,
    /// Why reading stopped before the end.
    damage: Option<String>,
}

/// A scenario from a capture: each pair of addresses with one EtherType becomes a stream.
///
/// Its period is the median distance of its frames, its frame length the largest seen. It is taken as time-triggered
/// if its frames come evenly and their distance is near a round number, else as best effort; comments say so.
///
/// # Errors
/// If the bytes are no capture of Ethernet, or no flow in it has two frames.
pub fn from_capture(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    let fail = |message: String, help: &str| {
        Problems::one(source_name, "", Problem::new(Code::ImportCapture, message).help(help))
    };
    let capture = read(bytes).map_err(|error| {
        fail(format!("this is no capture of Ethernet: {error}"), "give a pcap or pcapng file of Ethernet frames")
    })?;

    let mut flows: BTreeMap<(Mac, Mac, u16), Vec<&Captured>> = BTreeMap::new();
    let mut stations: BTreeSet<Mac> = BTreeSet::new();
    let mut beacons = 0u64;
    for frame in &capture.frames {
        if frame.ethertype == ETHERTYPE_PROTOCOL_CONTROL {
            beacons += 1;
            continue;
        }
        stations.insert(frame.source);
        if frame.destination[0] & 1 == 0 {
            stations.insert(frame.destination);
        }
        flows.entry((frame.source, frame.destination, frame.ethertype)).or_default().push(frame);
    }
    let elsewhere: u64 = flows.values_mut().map(keep_one_place).sum();
    let single = flows.values().filter(|frames| frames.len() < 2).count();
    flows.retain(|(source, destination, _), frames| frames.len() >= 2 && source != destination);
    if flows.is_empty() {
        let reason = capture.damage.map_or(String::new(), |damage| format!(" ({damage})"));
        return Err(fail(
            format!("no flow with two frames is in the {} frames read{reason}", capture.frames.len()),
            "capture for a few periods of the slowest stream",
        ));
    }

    let mut nodes: BTreeMap<Mac, String> = BTreeMap::new();
    for (i, station) in stations.iter().enumerate() {
        nodes.insert(*station, format!("station-{}", i + 1));
    }
    let mut names: Vec<String> = nodes.values().cloned().collect();
    if names.len() == 1 {
        names.push("listener".into());
    }
    let mut found: Vec<Found> =
        flows.iter().enumerate().map(|(i, (key, frames))| flow(i, *key, frames, &nodes, &names)).collect();
    let mut about = vec![
        format!("{} streams of {} nodes, from {source_name}.", found.len(), names.len()).replace(char::is_control, " "),
        format!("{} Ethernet frames were read.", capture.frames.len()),
    ];
    let cycle = schedulable(&found).unwrap_or_else(|| {
        for stream in &mut found {
            stream.priority = Some(0);
        }
        about.push("No cluster cycle suits all even streams, so all of them are taken as best effort.".into());
        CYCLE_WITHOUT_SLOTS
    });
    for (count, what) in [
        (single as u64, "of the flows were left out: a single frame has no period"),
        (elsewhere, "frames were left out: they were seen at another interface, too, or again on their way out"),
        (beacons, "frames of clock synchronisation were left out: the bench sends its own"),
        (capture.skipped, "packets were left out: they are no whole Ethernet frames"),
    ] {
        if count > 0 {
            about.push(format!("{count} {what}."));
        }
    }
    about.extend(capture.damage.map(|damage| format!("The capture is damaged behind these frames: {damage}.")));
    for (station, name) in &nodes {
        about.push(format!("{name}: {}", show(station)));
    }
    write(source_name, &about, &names, &found, cycle)
}

/// A frame that passed a switch was seen twice: keeps what came in there if anything did, else what went out, and of several
/// interfaces the one that saw most of a flow, the first if they are alike. How many frames were dropped.
fn keep_one_place(frames: &mut Vec<&Captured>) -> u64 {
    // Copies for several receivers went out by one interface.
    let is_outbound = frames.iter().all(|frame| frame.is_outbound);
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for frame in frames.iter().filter(|frame| frame.is_outbound == is_outbound) {
        *seen.entry(frame.interface).or_default() += 1;
    }
    let most = seen.values().copied().max().unwrap_or(0);
    let kept = frames.iter().map(|frame| frame.interface).find(|interface| seen.get(interface) == Some(&most));
    let before = frames.len();
    frames.retain(|frame| Some(frame.interface) == kept && frame.is_outbound == is_outbound);
    (before - frames.len()) as u64
}

/// One flow as a stream.
fn flow(
    i: usize,
    key: (Mac, Mac, u16),
    frames: &[&Captured],
    nodes: &BTreeMap<Mac, String>,
    names: &[String],
) -> Found {
    let (source, destination, ethertype) = key;
    let mut times: Vec<u64> = frames.iter().map(|frame| frame.at_ns).collect();
    times.sort_unstable();
    let mut gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let [quartile_ns, median_ns, upper_ns] = [0.25, 0.5, 0.75].map(|q| nearest_rank(&gaps, q).unwrap_or(0));
    let spread_ns = upper_ns - quartile_ns;
    let round_us = round_period_us(median_ns);
    let even = gaps.len() >= 4 && spread_ns <= median_ns / 10;
    let scheduled_us = round_us.filter(|us| even && SCHEDULED_PERIODS.contains(us));
    let day_us = 86_400_000_000;
    let period = Duration::from_us(scheduled_us.unwrap_or((median_ns / 1_000).clamp(1, day_us) as i64)).max(PERIOD_MIN);

    let longest = frames.iter().map(|frame| frame.len).max().unwrap_or(0);
    let frame_len = longest.clamp(u64::from(FRAME_LEN_MIN), u64::from(FRAME_LEN_MAX));
    let from = nodes[&source].clone();
    let group = destination[0] & 1 == 1;
    let to = match nodes.get(&destination) {
        Some(receiver) if !group => vec![receiver.clone()],
        _ => names.iter().filter(|name| **name != from).cloned().collect(),
    };
    let mut comment = format!(
        "{} frames {} to {}, type {ethertype:#06x}; median distance {}, middle half within {}, longest {longest}B.",
        frames.len(),
        show(&source),
        show(&destination),
        Duration::from_ns(median_ns.min(day_us * 1_000) as i64),
        Duration::from_ns(spread_ns.min(day_us * 1_000) as i64),
    );
    comment += match scheduled_us {
        Some(_) => "\n# Guessed: time-triggered, for they come evenly; the period is rounded.",
        None => "\n# Guessed: best effort, for they come unevenly, seldom, or at no round distance.",
    };
    if group {
        comment += "\n# A group address: every other station is taken as a receiver.";
    }
    if frame_len < longest {
        comment += "\n# Longer than the bench carries; cut to 1514B.";
    }
    Found {
        name: format!("flow-{}", i + 1),
        from,
        to,
        period,
        frame_len,
        priority: if scheduled_us.is_some() { None } else { Some(0) },
        protection: "none".into(),
        comment: Some(comment),
    }
}

/// 1, 2, 2.5, 4, 5 or 8 times a power of ten `[us]`, if `ns` is within 3 % of it.
pub(super) fn round_period_us(ns: u64) -> Option<i64> {
    let mut power_ns = 1_000u64;
    while power_ns <= 1_000_000_000 {
        for tenths in [10, 20, 25, 40, 50, 80] {
            let candidate = power_ns * tenths / 10;
            if ns.abs_diff(candidate).saturating_mul(100) <= candidate * 3 && candidate.is_multiple_of(1_000) {
                return Some((candidate / 1_000) as i64);
            }
        }
        power_ns *= 10;
    }
    None
}

fn show(mac: &Mac) -> String {
    mac.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

impl Capture {
    fn packet(&mut self, at_ns: u64, packet: &CapturedPacket<'_>) {
        let CapturedPacket { interface, is_outbound, ref data, .. } = *packet;
        let field = |at: usize| data.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        let ethertype = match field(12) {
            Some(ETHERTYPE_VLAN) => field(16),
            other => other,
        };
        let (Some(ethertype), true) = (ethertype, self.frames.len() < CAPTURED_MAX) else {
            self.skipped += 1;
            return;
        };
        // Below this it is a length; frames that differ in it belong together.
        let ethertype = if ethertype < 0x0600 { 0 } else { ethertype };
        let mac = |at: usize| Mac::try_from(&data[at..at + 6]).expect("a header was read behind it");
        let (destination, source, len) = (mac(0), mac(6), u64::from(packet.original_len));
        self.frames.push(Captured { at_ns, interface, is_outbound, len, destination, source, ethertype });
    }
}

fn read(bytes: &[u8]) -> Result<Capture, String> {
    let mut capture = Capture::default();
    let mut link_types = BTreeSet::new();
    for item in CaptureReader::new(bytes).map_err(|problem| problem.to_string())? {
        match item {
            Ok(CaptureItem::Interface(interface)) => {
                link_types.insert(interface.link_type);
            }
            Ok(CaptureItem::Packet(packet)) => match packet.at_ns {
                Some(at_ns) if packet.link_type == LINKTYPE_ETHERNET => {
                    capture.packet(at_ns, &packet);
                }
                _ => capture.skipped += 1,
            },
            Err(problem) => capture.damage = Some(problem.to_string()),
        }
    }
    if !link_types.is_empty() && !link_types.contains(&LINKTYPE_ETHERNET) {
        return Err(format!("its packets have link type {link_types:?}, and Ethernet is {LINKTYPE_ETHERNET}"));
    }
    Ok(capture)
}
