//! Every bit and its length against frames recorded from another controller: see `vectors/README.md`.
//!
//! Encoder and receiver share the checksums, so a wrong one would pass every test between the two of them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a recording that cannot be read or differs is a failed test"
)]

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
fn recorded_frames_have_the_bits_we_make() {
    let (total, equal) = compare(include_str!("vectors/ctu_can_fd_reference.txt"));
    assert_eq!((equal, total), (26, 26));
}

/// A recording that is not of the frame it is said to be of would be found.
#[test]
fn one_wrong_bit_is_found() {
    let text = include_str!("vectors/ctu_can_fd_reference.txt");
    let (line, _) = text.split_once('\n').unwrap();
    assert_eq!(compare(line), (1, 1));
    assert_eq!(compare(&line.replace("Data: 43", "Data: 42")), (1, 0));
}

#[test]
#[ignore = "needs all recordings: CTU_CAN_FD=<their folder>, see vectors/README.md"]
fn every_recorded_frame_has_the_bits_we_make() {
    let folder = std::env::var("CTU_CAN_FD").expect("CTU_CAN_FD names a folder");
    let (mut total, mut equal) = (0, 0);
    for set in 1..=10 {
        let path = format!("{folder}/log_500Kb_2Mb_80p_1K_samples_{set}");
        let (of_set, same) = compare(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")));
        (total, equal) = (total + of_set, equal + same);
    }
    println!("{equal} of {total} recorded frames agree in every level");
    assert_eq!((equal, total), (10_000, 10_000));
}

/// How many frames a recording holds, and how many of them have our levels.
fn compare(text: &str) -> (u32, u32) {
    let timing = BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap();
    let (mut total, mut equal) = (0, 0);
    for recorded in text.lines().map(read) {
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
            eprintln!("differs: {:?}\n ours   {expected:?}\n theirs {:?}", recorded.frame, recorded.levels);
        }
    }
    (total, equal)
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

/// `CAN FD EXTENDED BRS Data length: 16 ID: 287821704 Data: c7 61 … Bit sequence: 8192 0 201 1 …`
fn read(line: &str) -> Recorded {
    let (kind, rest) = line.split_once("Data length:").unwrap();
    let (len, rest) = rest.split_once("ID:").unwrap();
    let (id, rest) = rest.split_once("Data:").unwrap();
    let (data, sequence) = rest.split_once("Bit sequence:").unwrap();
    let is = |word| kind.split_whitespace().any(|other| other == word);
    let id: u32 = id.trim().parse().unwrap();
    let id = if is("EXTENDED") { CanId::extended(id) } else { CanId::standard(id as u16) }.unwrap();
    let frame_kind = match (is("FD"), is("RTR")) {
        (true, _) => FrameKind::Fd { brs: is("BRS"), esi: false },
        (false, true) => FrameKind::Remote,
        (false, false) => FrameKind::Classical,
    };
    let len: usize = len.trim().parse().unwrap();
    let data: Vec<u8> = data.split_whitespace().take(len).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    let numbers: Vec<i64> = sequence.split_whitespace().map(|number| number.parse().unwrap()).collect();
    // The bus was idle before.
    let levels = numbers.chunks(2).map(|pair| (pair[1] == 0, Duration::from_ns(10 * pair[0])));
    Recorded {
        frame: CanFrame::new(id, frame_kind, Dlc::of_len(len).unwrap(), &data),
        levels: levels.skip_while(|(recessive, _)| *recessive).collect(),
    }
}
