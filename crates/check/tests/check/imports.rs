//! What a capture shows comes out of the scenario that is made of it: as many bytes a second of each class, and no word that
//! an assumption of the importer alone brings about.
use std::collections::BTreeMap;

use chronoseal_catalog::Prepared;
use chronoseal_check::check_with;
use chronoseal_plan::Plan;
use chronoseal_report::Word;
use chronoseal_results::StreamSummary;
use chronoseal_runner::simulate;
use chronoseal_scenario::import::from_any;
use chronoseal_scenario::{NoFiles, load};

/// A frame of the test: when `[ns]`, and its bytes.
type Packet = (u64, Vec<u8>);

/// Written as RFC draft-ietf-opsawg-pcap has it, with times in nanoseconds.
fn pcap(link_type: u32, mut packets: Vec<Packet>) -> Vec<u8> {
    packets.sort_by_key(|(at, _)| *at);
    let mut bytes = Vec::new();
    for word in [0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 0xffff, link_type] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for (at, packet) in packets {
        let at = at + 1_000_000_000_000;
        let len = packet.len() as u64;
        for word in [at / 1_000_000_000, at % 1_000_000_000, len, len] {
            bytes.extend((word as u32).to_le_bytes());
        }
        bytes.extend(packet);
    }
    bytes
}

const fn mac(station: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, station]
}

/// `between` are what stands between the source and the data: tags and type.
fn frame(destination: [u8; 6], source: u8, between: &[u8], data: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = [&destination[..], &mac(source), between, data].concat();
    bytes.resize(len.max(bytes.len()), 0);
    bytes
}

/// A header of IPv4 and one of UDP.
fn udp(from: u8, to: u8, ports: (u16, u16), data_len: usize) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend(((28 + data_len) as u16).to_be_bytes());
    bytes.extend([0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    bytes.extend(ports.0.to_be_bytes());
    bytes.extend(ports.1.to_be_bytes());
    bytes.extend(((8 + data_len) as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.resize(28 + data_len, 0);
    bytes
}

fn tagged(pcp: u8, vid: u16) -> Vec<u8> {
    let tag = u16::from(pcp) << 13 | vid;
    [&[0x81, 0][..], &tag.to_be_bytes(), &[8, 0]].concat()
}

/// One datagram in three fragments of IPv4.
fn fragments(at: u64, identification: u16) -> Vec<Packet> {
    let whole = udp(5, 6, (7_000, 7_001), 4_000);
    let data = &whole[20..];
    let piece = |offset: usize| {
        let part = &data[offset..(offset + 1_480).min(data.len())];
        let more = offset + part.len() < data.len();
        let mut header = whole[..20].to_vec();
        header[2..4].copy_from_slice(&((20 + part.len()) as u16).to_be_bytes());
        header[4..6].copy_from_slice(&identification.to_be_bytes());
        header[6..8].copy_from_slice(&(u16::from(more) << 13 | (offset / 8) as u16).to_be_bytes());
        (at + offset as u64 * 10, frame(mac(6), 5, &[8, 0], &[header, part.to_vec()].concat(), 0))
    };
    [0, 1_480, 2_960].into_iter().map(piece).collect()
}

/// Two seconds of everything, by the name of the stream it becomes: frames at their times.
fn classes() -> BTreeMap<&'static str, Vec<Packet>> {
    let every = |period_us: u64, make: &dyn Fn(u64) -> Vec<u8>| -> Vec<Packet> {
        (0..2_000_000 / period_us).map(|i| (i * period_us * 1_000, make(i))).collect()
    };
    let brake = every(1_000, &|_| frame(mac(2), 1, &tagged(6, 100), &udp(1, 2, (1_000, 1_001), 100), 146));
    let log = every(4_000, &|_| frame(mac(2), 1, &tagged(2, 100), &udp(1, 2, (2_000, 2_001), 900), 946));
    // Eight frames at once, thirty times a second.
    let video = (0..480u64).map(|i| {
        let at = i / 8 * 33_333_000 + i % 8 * 12_500;
        (at, frame(mac(2), 3, &[8, 0], &udp(3, 2, (3_000, 3_001), 1_300), 1_400))
    });
    // Lengths and distances as they come.
    let mut chance = 1u64;
    let mut at = 0;
    let uneven = (0..900).map(|_| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        at += 200_000 + (chance >> 33) % 4_000_000;
        let len = 64 + (chance >> 50) as usize % 1_300;
        (at, frame(mac(1), 4, &[8, 0], &udp(4, 1, (4_000, 4_001), len - 42), len))
    });
    // A link whose offset of a few frames tells little: a host that stood still, once.
    let stood = every(5_000, &|i| frame(mac(4), 2, &[0x88, 0xb5], &[i as u8], 300));
    let stood = stood
        .into_iter()
        .enumerate()
        .map(|(i, (at, frame))| (if (100..104).contains(&i) { 520_000_000 + i as u64 } else { at }, frame));
    let link = every(2_000, &|_| frame([3, 0, 0, 0, 0, 7], 8, &[8, 0], &udp(8, 9, (100, 200), 199), 242));
    let secured = every(5_000, &|i| {
        let number = (i as u32 + 1).to_be_bytes();
        let tag = [&[0x88, 0xe5, 0x2c, 0][..], &number, &mac(10), &[0, 1]].concat();
        frame(mac(11), 10, &tag, &[0x5a; 100], 134)
    });
    let message = (0..200u64).flat_map(|i| fragments(i * 10_000_000, i as u16));
    let copies = every(2_000, &|i| {
        let tags = [&tagged(5, 200)[..4], &[0xf1, 0xc1, 0, 0, (i >> 8) as u8, i as u8, 0x22, 0xf0]].concat();
        frame([0x91, 0xe0, 0xf0, 0, 0xfe, 1], 12, &tags, &[], 104)
    });
    BTreeMap::from([
        ("station-1-udp-1001-pcp6", brake),
        ("station-1-udp-2001-pcp2", log),
        ("station-3-udp-3001", video.collect()),
        ("station-4-udp-4001", uneven.collect()),
        ("station-2-88b5", stood.collect()),
        ("vl-7", link),
        ("station-8-88e5-macsec", secured),
        ("station-5-udp-7001-message", message.collect()),
        ("station-10-22f0-pcp5", copies),
    ])
}

/// The scenario of a capture, and what became of each of its streams in a run of ten seconds.
fn imported(bytes: &[u8]) -> (String, Plan, Vec<StreamSummary>) {
    let text = from_any("seen.pcap", bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let ten = [("duration".to_owned(), "10s".to_owned())];
    let plan = load("seen.toml", text.as_bytes(), &ten, &NoFiles).unwrap_or_else(|p| panic!("{}", p.render()));
    let run = simulate(&Prepared::new(&plan).unwrap(), false, &mut |_| true).unwrap();
    (text, Plan::clone(&plan), run.summary.streams)
}

/// Bytes a second that the streams of a class sent, those of a burst together.
fn simulated(class: &str, plan: &Plan, streams: &[StreamSummary]) -> f64 {
    let of_class = |name: &str| name == class || name.strip_prefix(class).is_some_and(|rest| rest.starts_with('.'));
    let bytes = |(written, stream): (&chronoseal_plan::StreamPlan, &StreamSummary)| {
        let len = f64::from(written.hops[0].frame_len);
        // A datagram of 4000 bytes and 8 of UDP goes in three frames, each with 34 bytes of headers.
        let len = if class.ends_with("-message") { 4_008.0 + 3.0 * 34.0 } else { len };
        // In the plan a frame is as it is behind MACsec.
        let macsec = if class.ends_with("-macsec") { 32.0 } else { 0.0 };
        stream.sent as f64 * (len + macsec) / 10.0
    };
    plan.streams.iter().zip(streams).filter(|(written, _)| of_class(&written.name)).map(bytes).sum()
}

fn word(plan: &Plan) -> Word {
    check_with(plan, chronoseal_check::PAGES, chronoseal_catalog::Kinds::BUILT_IN).unwrap().word
}

#[test]
fn each_class_of_a_capture_has_its_bytes_a_second_in_the_run() {
    let classes = classes();
    let (text, plan, streams) = imported(&pcap(1, classes.values().flatten().cloned().collect()));
    for (class, packets) in &classes {
        assert!(packets.len() >= 100, "{class}");
        let (first, last) = (packets[0].0, packets[packets.len() - 1].0);
        let bytes: usize = packets.iter().map(|(_, frame)| frame.len().max(60)).sum();
        // Over the time that it was there; the last frame or burst is the first of the time behind it.
        let span_s = (last - first) as f64 * 1e-9;
        let lasts_s = if packets.len() == 480 {
            60.0 * 0.033_333
        } else {
            span_s * packets.len() as f64 / (packets.len() - 1) as f64
        };
        let (seen, simulated) = (bytes as f64 / lasts_s, simulated(class, &plan, &streams));
        assert!((simulated / seen - 1.0).abs() < 0.1, "{class}: {seen} B/s seen, {simulated} B/s simulated\n{text}");
    }
    let known: usize = streams.iter().filter(|one| classes.keys().any(|class| one.name.starts_with(class))).count();
    assert_eq!(known, streams.len(), "a stream of no class\n{text}");
    // Nothing in it has a deadline or a clock, so nothing can break but by an assumption.
    assert_eq!(word(&plan), Word::Held, "{text}");
    assert!(streams.iter().all(|one| one.discarded.is_empty() && one.missing == 0), "{streams:?}");
    for said in [
        "has redundancy tags (IEEE 802.1CB)",
        "Seen: MACsec on frames of",
        "count = 8    #",
        "bag = \"2ms\" } }, ct_id = 7",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn clocks_and_gaps_that_are_not_in_a_capture_break_nothing() {
    // An even stream in a round period, which a schedule once took for its own.
    let even: Vec<Packet> = (0..20).map(|i| (i * 100_000_000, frame(mac(2), 1, &[0x88, 0xb5], &[], 74))).collect();
    // Messages of IEEE 802.1AS and nothing else; two of them are 50 us apart.
    let clock = |kind: u8, len| frame([1, 0x80, 0xc2, 0, 0, 0xe], 3, &[0x88, 0xf7], &[0x10 | kind, 2], len);
    let clocks: Vec<Packet> =
        (0..16u64).flat_map(|i| [(i * 125_000_000, clock(0, 58)), (i * 125_000_000 + 50_000, clock(8, 90))]).collect();
    // As much as a link of 1 Gbit/s carries, from two hosts to one.
    let load: Vec<Packet> = (0..20_000u64)
        .flat_map(|i| [1, 3].map(|from| (i * 25_000 + u64::from(from), frame(mac(2), from, &[0x88, 0xb5], &[], 1_514))))
        .collect();
    for (packets, per_second) in [(even.clone(), 10.0), (clocks.clone(), 16.0), (load, 80_000.0)] {
        let (text, plan, streams) = imported(&pcap(1, packets));
        assert_eq!(word(&plan), Word::Held, "{text}");
        assert!(!text.contains("sync = ") || text.contains("`sync = "), "{text}");
        let sent: u64 = streams.iter().map(|one| one.sent).sum();
        assert!((sent as f64 / (per_second * 10.0) - 1.0).abs() < 0.1, "{sent} frames in 10 s\n{text}");
    }
    // Beside other traffic they are the clocks of the segment, in their intervals.
    let (text, plan, streams) = imported(&pcap(1, [even, clocks].concat()));
    assert!(text.contains("sync = { gptp = { sync_interval = \"125ms\""), "{text}");
    assert_eq!((streams.len(), word(&plan)), (1, Word::NotChecked), "{text}");
    assert!(streams[0].held(), "{streams:?}");
}

#[test]
fn bursts_that_came_once_break_nothing() {
    let even = (0..1_000).map(|i| (i * 10_000_000, frame(mac(2), 1, &tagged(6, 4), &udp(1, 2, (5, 6), 100), 146)));
    // Forty flows of ten frames each, 1 us apart, which as streams would keep a link busy forty times over.
    let once = (0..400u64).map(|i| {
        let at = (i / 10 + 1) * 50_000_000 + i % 10 * 1_000;
        (at, frame(mac(4), 3, &tagged(3, 4), &udp(3, 4, (100 + (i / 10) as u16, 6), 1_400), 1_446))
    });
    let (text, plan, streams) = imported(&pcap(1, even.chain(once).collect()));
    assert_eq!((streams.len(), word(&plan)), (1, Word::Held), "{text}");
    assert!(text.contains("20 more flows are not in the scenario"), "{text}");
}
