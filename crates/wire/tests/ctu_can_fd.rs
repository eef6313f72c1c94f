//! Every bit and its length against frames recorded from hardware: the 10,000 reference frames of the CTU CAN FD IP
//! core (500 kbit/s and 2 Mbit/s), which its licence keeps out of here.
//!
//! `CTU_CAN_FD=<checkout> cargo test -p chronoseal-wire --test ctu_can_fd -- --ignored --nocapture`
#![allow(clippy::unwrap_used, reason = "a recording that cannot be read is a failed test")]

use chronoseal_core::{Duration, Rate};
use chronoseal_wire::can::plain::{self, WireBits};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId, Dlc, FrameKind};

/// One recorded frame: what was sent, and levels with their lengths from the first dominant one on.
struct Recorded {
    frame: CanFrame,
    levels: Vec<(bool, Duration)>,
}

/// A recorded level may be off by this much: transceivers lengthen one level at the cost of the other.
const TOLERANCE: Duration = Duration::from_ns(160);

#[test]
#[ignore = "needs the recordings: CTU_CAN_FD=<checkout of Logic-Design-Services/CTU-CAN-FD>"]
fn every_recorded_frame_has_the_bits_we_make() {
    let checkout = std::env::var("CTU_CAN_FD").expect("CTU_CAN_FD names a checkout");
    let timing = BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap();
    let (mut total, mut equal) = (0, 0);
    for set in 1..=10 {
        let path = format!("{checkout}/test/main_tb/reference_test_data_sets/reference_data_set_{set}.vhd");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        for recorded in text.split("frame =>").skip(1).map(read) {
            total += 1;
            let expected = levels(&plain::encode(&recorded.frame), &timing);
            // The last level goes on into the pause after the frame.
            let (last, ours) = expected.split_last().expect("a frame has levels");
            let (theirs_last, theirs) = recorded.levels.split_last().expect("a recording has levels");
            let same = ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= TOLERANCE)
                && last.0 == theirs_last.0
                && theirs_last.1 + TOLERANCE >= last.1;
            if same {
                equal += 1;
            } else if total - equal <= 3 {
                println!("differs: {:?}\n ours   {expected:?}\n theirs {:?}", recorded.frame, recorded.levels);
            }
        }
    }
    println!("{equal} of {total} recorded frames agree in every level");
    assert_eq!((equal, total), (10_000, 10_000));
}

/// Levels of a frame that one receiver acknowledges.
fn levels(bits: &WireBits, timing: &BitTiming) -> Vec<(bool, Duration)> {
    let mut levels: Vec<(bool, Duration)> = Vec::new();
    let mut begins_fast = false;
    for bit in bits.iter() {
        let length = timing.bit(begins_fast, bit.ends_fast);
        begins_fast = bit.ends_fast;
        let level = bit.recessive && bit.field != plain::Field::AckSlot;
        match levels.last_mut() {
            Some(last) if last.0 == level => last.1 += length,
            _ => levels.push((level, length)),
        }
    }
    levels
}

fn read(text: &str) -> Recorded {
    let field = |name: &str| {
        let at = text.find(&format!("{name} =>")).unwrap_or_else(|| panic!("no {name} in {text}"));
        text[at + name.len() + 3..].trim_start()
    };
    let is_set = |name| field(name).starts_with("'1'");
    let id = field("identifier").split([',', ' ']).next().unwrap().parse::<u32>().unwrap();
    let id = if is_set("ident_type") { CanId::extended(id) } else { CanId::standard(id as u16) }.unwrap();
    let kind = match (is_set("frame_format"), is_set("rtr")) {
        (true, _) => FrameKind::Fd { brs: is_set("brs"), esi: is_set("esi") },
        (false, true) => FrameKind::Remote,
        (false, false) => FrameKind::Classical,
    };
    let dlc = Dlc::new(u8::from_str_radix(&field("dlc")[1..5], 2).unwrap()).unwrap();
    let list = field(" data").split_once(')').unwrap().0;
    let data: Vec<u8> = list.split("x\"").skip(1).map(|byte| u8::from_str_radix(&byte[..2], 16).unwrap()).collect();
    let sequence = &text[text.find("seq =>").unwrap()..];
    let levels = sequence.split("OTHERS").next().unwrap().split("('").skip(1).map(|entry| {
        let nanoseconds = entry[3..].split(" ns").next().unwrap().trim();
        (entry.starts_with('1'), Duration::from_ns(nanoseconds.parse().unwrap()))
    });
    // The bus was idle before.
    let levels = levels.skip_while(|(recessive, _)| *recessive).collect();
    Recorded { frame: CanFrame::new(id, kind, dlc, &data), levels }
}
