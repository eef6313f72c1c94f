//! Recorded frames that a node on an Ethernet segment sends again.

use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, Plan, StreamClass};
use chronoseal_recordings::write_capture;
use chronoseal_scenario::{Code, FileError, Files, Problems, load};

const SCENARIO: &str = "schema_version = 2
name = \"replayed\"
duration = \"1s\"

[segments.network.ethernet]
rate = \"100Mbit/s\"

[[nodes]]
name = \"server\"

[[nodes]]
name = \"gateway\"

[[recordings]]
name = \"update\"
traffic = { file = \"update.pcap\" }
from = \"server\"
to = [\"gateway\"]
";

struct Update(Vec<u8>);

impl Files for Update {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        if path == "update.pcap" { Ok(self.0.clone()) } else { Err(FileError::Unknown) }
    }
}

/// Behind twelve bytes of addresses.
fn front(behind: &[u8]) -> Vec<u8> {
    [&[2; 12], behind].concat()
}

fn capture(link_type: u32, packets: &[(u64, u32, &[u8])]) -> Update {
    Update(write_capture(link_type, packets.iter().copied()))
}

fn loaded(text: &str, file: &Update) -> Result<Plan, Problems> {
    load("replayed.toml", text.as_bytes(), &[], file)
}

#[test]
fn frames_keep_their_times_lengths_and_tag() {
    let (ms, tagged) = (1_000_000, front(&[0x81, 0, 0xb0, 7, 8, 0, 0xaa]));
    // Out of order, cut behind the tag but for a byte, and one that is shorter than any frame.
    let file = capture(1, &[(9 * ms, 1_518, &tagged), (5 * ms, 46, &tagged), (8 * ms, 500, &tagged)]);
    let plan = loaded(SCENARIO, &file).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Ethernet::first(&plan).unwrap();
    let stream = view.streams().next().unwrap();
    assert_eq!(stream.tag.map(|tag| (tag.pcp, tag.vid)), Some((5, 7)));
    assert!(matches!(stream.class, StreamClass::BestEffort { priority: 5 }));
    assert_eq!((view.secured_len(&stream), view.shortest_len(&stream)), (1_518, 64));
    let recorded = stream.stream.recorded().unwrap();
    let seen: Vec<_> =
        recorded.messages().iter().map(|(at, content)| (at.as_ns() / ms as i64, content.len())).collect();
    assert_eq!(seen, [(0, 46), (3, 482), (4, 1_500)]);
    assert_eq!(recorded.messages()[2].1[..2], [0xaa, 0]);
    assert_eq!(recorded.length(), Duration::from_ms(6));
    let every = loaded(&format!("{SCENARIO}every = \"50ms\"\nstart = \"2ms\"\n"), &file).unwrap();
    assert_eq!(every.streams[0].recorded().unwrap().length(), Duration::from_ms(50));
    assert_eq!((every.streams[0].period, every.streams[0].offset), (Duration::from_ms(50), Some(Duration::from_ms(2))));
}

#[test]
fn one_frame_needs_to_be_told_how_often_it_comes() {
    let file = capture(1, &[(0, 100, &front(&[8, 0]))]);
    let problems = loaded(SCENARIO, &file).expect_err("no distance").render();
    assert!(problems.contains("one frame") && problems.contains("every ="), "{problems}");
    let plan = loaded(&format!("{SCENARIO}every = \"20ms\"\n"), &file).unwrap();
    assert_eq!(plan.streams[0].recorded().unwrap().length(), Duration::from_ms(20));
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place() {
    let (plain, tagged, untagged) = (front(&[8, 0]), front(&[0x81, 0, 0xb0, 7]), front(&[0x81, 0, 0xb0, 0]));
    let second = 1_000_000_000;
    let of = |behind: &[(u64, u32, &[u8])]| capture(1, &[&[(0, 100, &plain[..])], behind].concat());
    let sound = || of(&[(second, 100, &plain)]);
    let refused = |text: &str, file: &Update, code: Code, said: &str| {
        let problems = loaded(text, file).expect_err(said);
        assert!(problems.list().iter().any(|problem| problem.code == code), "{}", problems.render());
        let shown = problems.render().split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert!(shown.contains(said), "{said}: {shown}");
    };
    assert!(loaded(SCENARIO, &sound()).is_ok());
    let bad = Code::BadRecording;
    refused(SCENARIO, &Update(b"no capture".to_vec()), bad, "update.pcap");
    refused(SCENARIO, &capture(1, &[]), bad, "no frame");
    refused(SCENARIO, &capture(227, &[(0, 16, &[0; 16])]), bad, "link of type 227");
    refused(SCENARIO, &of(&[(second, 1_515, &plain)]), bad, "1515");
    refused(SCENARIO, &of(&[(second, 100, &tagged)]), bad, "VLAN 7");
    refused(SCENARIO, &of(&[(second, 100, &untagged)]), bad, "tag of no VLAN");
    refused(SCENARIO, &of(&[(second, 100, &plain[..13])]), bad, "no whole header");
    refused(SCENARIO, &of(&[(90_000 * second, 100, &plain)]), bad, "more than a day");
    refused(SCENARIO, &of(&[(20, 100, &plain)]), bad, "every =");
    let mut cut = sound();
    cut.0.pop();
    refused(SCENARIO, &cut, bad, "update.pcap");
    let with = |key: &str| format!("{SCENARIO}{key}\n");
    refused(&with("every = \"1s\""), &sound(), Code::OutOfRange, "before its last frame");
    refused(&with("every = \"0s\""), &sound(), Code::OutOfRange, "the time of a round");
    refused(&SCENARIO.replace("to = [\"gateway\"]\n", ""), &sound(), Code::MissingKey, "nobody receives");
    let flow = SCENARIO.replace("update.pcap\" }", "update.pcap\", flow = \"a to b\" }");
    refused(&flow, &sound(), Code::ChooseOne, "all frames of a file");
    let payload = SCENARIO.replace("traffic = { file = \"update.pcap\" }", "frames = { builtin = \"car-frames\" }");
    refused(&(payload + "every = \"1s\"\n"), &sound(), Code::ChooseOne, "`every` belongs to `traffic`");
}

#[test]
fn a_recording_has_one_way() {
    let ring = SCENARIO.replace(
        "rate = \"100Mbit/s\"",
        "rate = \"100Mbit/s\"
switches = [\"a\", \"b\", \"c\", \"d\"]
links = [
    { between = [\"server\", \"a\"] }, { between = [\"gateway\", \"c\"] },
    { between = [\"a\", \"b\"] }, { between = [\"b\", \"c\"] }, { between = [\"c\", \"d\"] }, { between = [\"d\", \"a\"] },
]",
    );
    let file = capture(1, &[(0, 100, &front(&[8, 0])), (1_000_000_000, 100, &front(&[8, 0]))]);
    let problems = loaded(&ring, &file).expect_err("two ways");
    assert_eq!(problems.list()[0].code, Code::SeveralWays, "{}", problems.render());
    let line = ring.replace(", { between = [\"d\", \"a\"] }", "");
    assert!(loaded(&line, &file).is_ok());
}
