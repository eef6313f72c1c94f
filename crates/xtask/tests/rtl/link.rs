//! Frames: what is read, what is refused, and what the link is declared to take.

use crate::device::{Device, START, UNREADABLE, command, frame, request, status};
use crate::reference::{base, coordinates, small};

#[test]
#[ignore = "needs the simulator"]
fn says_what_it_is() {
    let info = Device::start().result(request::INFO, &[]);
    assert_eq!(info, [&[0, 1][..], &100_000_000u32.to_be_bytes(), &[2, 64, 8, 0]].concat());
    let mut slow = Device::start_with(&["--link", "usb-full", "--clock-hz", "48000000"]);
    assert_eq!(slow.result(request::INFO, &[])[2..7], [&48_000_000u32.to_be_bytes()[..], &[1]].concat());
}

#[test]
#[ignore = "needs the simulator"]
fn a_frame_with_any_bit_flipped_is_not_obeyed() {
    let good = frame(request::IMPORT, 3, &[&[8][..], &small(5)].concat());
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        // Room for the longest frame that a broken length may announce.
        bad.resize(good.len() + 600, 0);
        let mut device = Device::start_with(&["--link", "none"]);
        device.send(&bad);
        if bit >= 8 {
            let answer = device.answer();
            assert_eq!((answer.kind, answer.status, answer.cycles), (UNREADABLE, status::BAD_FRAME, 0), "bit {bit}");
        }
        device.send(&frame(request::SLOTS, 4, &[]));
        // A broken length may have made frames of the padding.
        let mut answer = device.answer();
        while answer.kind == UNREADABLE {
            answer = device.answer();
        }
        assert_eq!((answer.sequence, &answer.result[..]), (4, &[0; 8][..]), "bit {bit}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn finds_the_next_frame_after_noise_and_in_pieces() {
    let mut device = Device::start();
    device.send(&[0, 1, 2, 0x5a]);
    let asked = frame(request::MULTIPLY_BASE, 9, &small(2));
    for byte in &asked {
        device.send(&[*byte]);
    }
    assert_eq!(device.answer().result, coordinates(&base(&small(2))));
    // Two in one piece.
    device.send(&[frame(request::SLOTS, 10, &[]), frame(request::INFO, 11, &[])].concat());
    assert_eq!((device.answer().sequence, device.answer().sequence), (10, 11));
}

#[test]
#[ignore = "needs the simulator"]
fn a_length_above_the_greatest_is_refused_at_once() {
    let mut device = Device::start();
    // 512 is the greatest; the request is then too long for its type.
    device.send(&frame(request::MULTIPLY_BASE, 1, &[0; 512]));
    assert_eq!(device.answer().status, status::WRONG_LENGTH);
    device.send(&[START, request::INFO, 2, 2, 1]);
    let answer = device.answer();
    assert_eq!((answer.kind, answer.sequence, answer.status), (UNREADABLE, 2, status::BAD_FRAME));
    device.send(&frame(request::INFO, 3, &[]));
    assert_eq!(device.answer().status, status::OK);
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_what_it_does_not_know_and_what_has_another_length() {
    let mut device = Device::start();
    for kind in [0x00, 0x04, 0x14, 0x27, 0x7f] {
        assert_eq!(device.status(kind, &[]), status::UNKNOWN_TYPE);
    }
    assert_eq!(device.status(request::DIAGNOSE, &[&[5], &[0; 64]]), status::UNKNOWN_TYPE);
    let lengths: [(u8, usize); 15] = [
        (request::INFO, 0),
        (request::SLOTS, 0),
        (request::RELOAD, 0),
        (request::IMPORT, 33),
        (request::PROVISION, 33),
        (request::ERASE, 1),
        (request::PUBLIC, 1),
        (request::MULTIPLY_BASE, 32),
        (request::MULTIPLY_POINT, 96),
        (request::MULTIPLY_DUAL, 128),
        (request::AGREE, 65),
        (request::SIGN, 97),
        (request::VERIFY, 160),
        (request::CHECK, 64),
        (request::DIAGNOSE, 65),
    ];
    for (kind, len) in lengths {
        for wrong in [len.wrapping_sub(1), len + 1].into_iter().filter(|wrong| *wrong < 512) {
            assert_eq!(device.status(kind, &[&vec![0; wrong]]), status::WRONG_LENGTH, "{kind:#04x} {wrong}");
        }
        assert_ne!(device.status(kind, &[&vec![0; len]]), status::WRONG_LENGTH, "{kind:#04x} {len}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn the_link_takes_what_is_declared() {
    // Two waits for a (micro)frame and the packets: a request of 41 bytes, an answer of 90.
    let packets = |interval_ns: u64, per_interval, count| count * interval_ns / per_interval;
    let full = 2 * 1_000_000 + packets(1_000_000, 19, 1) + packets(1_000_000, 19, 2);
    let high = 2 * 125_000 + packets(125_000, 13, 1) + packets(125_000, 13, 1);
    for (link, expected) in [("none", 0), ("usb-full", full), ("usb-high", high)] {
        let answer = Device::start_with(&["--link", link]).ask(request::MULTIPLY_BASE, &[&small(1)]);
        assert_eq!(answer.link_ns, expected, "{link}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn ends_with_its_input() {
    assert_eq!(Device::start().end(), Some(0));
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_options_that_make_no_sense() {
    for words in [
        &["--link", "pigeon"][..],
        &["--clock-hz", "0"],
        &["--clock-hz", "-1"],
        &["--clock-hz", "4294967296"],
        &["--clock-hz"],
        &["--speed", "1"],
        &["--flash", "/"],
    ] {
        let output = command(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty());
    }
}
