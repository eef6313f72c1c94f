use chronoseal_recordings::{Format, Place, Problem, Warning, write_candump};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};
use proptest::prelude::*;

use crate::integration::{good, lines, refused};

/// Every kind of line `candump -l` writes, times from another day.
const LOG: &str = "\
(1436509052.249713) vcan0 044#2A366C2BBA
(1436509052.449847) vcan0 0F6#7ADFE07BD2
(1436509052.650004) vcan1 00000123#0102
(1436509052.850000) vcan0 123#R
(1436509052.900000) vcan0 123#R5
(1436509052.950000) vcan0 12345678##5112233445566778899AABBCC
(1436509053.000000) vcan0 321##6
(1436509053.100000) vcan0 5AA#1122334455667788_B
(1436509053.200000) vcan0 20000080#0000000000000000
";

#[test]
fn reads_every_kind_of_line_of_a_log() {
    let recording = good(LOG);
    assert_eq!(recording.format, Format::CandumpLog);
    assert_eq!(recording.start_ns, 1_436_509_052_249_713_000);
    assert_eq!(recording.channels, ["vcan0", "vcan1"]);
    let kinds: Vec<_> = recording.frames.iter().map(|recorded| recorded.frame.kind()).collect();
    let fd = |brs, esi| FrameKind::Fd { brs, esi };
    let (classical, remote) = (FrameKind::Classical, FrameKind::Remote);
    assert_eq!(kinds, [classical, classical, classical, remote, remote, fd(true, false), fd(false, true), classical]);
    assert_eq!(recording.frames[2].frame.id(), CanId::extended(0x123).unwrap());
    assert_eq!(recording.frames[4].frame.dlc().raw(), 5);
    assert_eq!(recording.frames[7].frame.dlc().raw(), 11);
    assert_eq!((recording.errors[0].class, recording.errors[0].at_ns), (0x80, 950_287_000));
    assert_eq!(recording.frames[1].at_ns, 200_134_000);
    assert!(recording.warnings.is_empty());
}

#[test]
fn writes_what_it_read() {
    let again = write_candump(&good(LOG));
    let canonical = LOG.replace("123#R\n", "123#R0\n");
    assert_eq!(again, canonical);
    assert_eq!(good(&again).frames, good(LOG).frames);
}

#[test]
fn remarks_are_left_out_and_counted() {
    let recording = good(format!("# by hand\n\n{LOG}# end\n"));
    assert_eq!(recording.frames, good(LOG).frames);
    assert_eq!(recording.warnings, [Warning::LeftOut { what: "remarks", count: 2, first: Place::Line(1) }]);
}

#[test]
fn frames_out_of_order_are_sorted_and_told() {
    let recording = good("(2.000000) a 1B0#01\n(1.500000) b 1B1#02\n(1.600000) b 1B1#03\n");
    assert_eq!(lines(&recording), ["0 b 1B1#02", "100000000 b 1B1#03", "500000000 a 1B0#01"]);
    assert_eq!(recording.warnings, [Warning::OutOfOrder { count: 2, back_ns: 500_000_000 }]);
}

/// A logger that gets the time of day after its first frames.
#[test]
fn frames_behind_a_jump_of_the_clock_are_left_out_and_told() {
    let recording = good("(0.0) a 1B0#01\n(1.0) a 1B0#01\n(4320000.0) a 1B0#02\n(4320000.000001) a 1B0#03\n");
    assert_eq!(recording.frames.len(), 3);
    assert_eq!(recording.warnings, [Warning::TooLate { count: 1 }]);
}

#[test]
fn a_broken_line_is_named_and_what_came_before_is_kept() {
    for (line, expected, found) in [
        ("(1.0) can0 123#010", "hexadecimal digits", "010"),
        ("(1.0) can0 123#0G", "hexadecimal digits", "0G"),
        ("(1.0) can0 123", "identifier#data", "123"),
        ("(1.0) can0 1234#01", "3 or 8", "1234"),
        ("(1.0) can0 800#01", "11 or 29 bits", "800"),
        ("(1.0) can0 123#010203040506070809", "at most 8", "9 bytes"),
        ("(1.0) can0 123##1010203040506070809", "12, 16", "9 bytes"),
        ("(1.0) can0 123##", "digit of flags", ""),
        ("(1.0) can0 123##+01", "digit of flags", "+01"),
        ("(1.0) can0 123#R99", "0 to 15", ""),
        ("(1.0) can0 123#01_B", "8 bytes before", "01"),
        ("(1.0) can0 123#1122334455667788_8", "9 to F", "8"),
        ("(1.0) can0", "an interface and a frame", "can0"),
        ("(x.0) can0 123#01", "a time in seconds", "x.0"),
        ("(-1.0) can0 123#01", "a time in seconds", "-1.0"),
        ("(99999999999.0) can0 123#01", "a time in seconds", "99999999999.0"),
        ("(1.0 can0 123#01", "`)` behind the time", "(1.0"),
        ("(1.0) can0 123#01 more", "nothing behind", "more"),
        ("(1.0) can0 20000080#00", "8 bytes about an error", "00"),
    ] {
        let error = refused(format!("(0.5) can0 123#00\n{line}\n(2.0) can0 123#02\n"));
        let text = error.to_string();
        assert!(text.contains("line 2") && text.contains(expected) && text.contains(found), "{line}: {text}");
        assert!(text.contains("1 frames before it were read"), "{text}");
        assert_eq!(lines(&error.read), ["0 can0 123#00"]);
    }
}

#[test]
fn a_log_that_ends_in_the_middle_of_a_frame_says_so_and_keeps_the_others() {
    for cut in LOG.len() - 40..LOG.len() - 1 {
        let text = &LOG[..cut];
        let whole = text.rfind('\n').unwrap() + 1;
        if whole == cut {
            assert!(good(text).warnings.is_empty());
            continue;
        }
        match chronoseal_recordings::read(text.as_bytes()) {
            Err(error) => {
                let line = text.lines().count() as u64;
                let place = Place::Line(line);
                assert_eq!(
                    error.problem,
                    Problem::Truncated { format: Format::CandumpLog, place, expected: "a frame" }
                );
                assert_eq!(*error.read, good(&text[..whole]));
            }
            // `#1122` cut from `#112233` cannot be told from a whole frame, but is open.
            Ok(recording) => assert!(matches!(recording.warnings[..], [Warning::Missing(_)]), "{text}"),
        }
    }
}

/// As candump 2023.03 shows it: plain, with `-x`, with `-a`, and with a date.
#[test]
fn reads_what_the_console_shows() {
    let recording = good(
        " (0000000000.249713)  vcan0  044   [5]  2A 36 6C 2B BA\n\
         \x20(0000000000.350000)  vcan0  12345678   [2]  01 02   '..'\n\
         \x20(0000000000.360000)  vcan0  123   [0]  remote request\n\
         \x20(0000000000.370000)  vcan1  RX B -  123  [12]  01 02 03 04 05 06 07 08 09 0A 0B 0C\n\
         \x20(0000000000.380000)  vcan1  TX - E  123  [03]  01 02 03\n\
         \x20(0000000000.390000)  vcan0  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME\n",
    );
    assert_eq!(recording.format, Format::CandumpConsole);
    assert_eq!(
        lines(&recording),
        [
            "0 vcan0 044#2A366C2BBA",
            "100287000 vcan0 12345678#0102",
            "110287000 vcan0 123#R0",
            "120287000 vcan1 123##50102030405060708090A0B0C",
            "130287000 vcan1 123##6010203",
            "140287000 vcan0 20000080#0000000000000000",
        ]
    );
    let recording = good(" (2014-04-22 00:57:03.803317)  can0  166   [4]  D0 32 00 09\n");
    assert_eq!(recording.start_ns, 1_398_128_223_803_317_000);
}

#[test]
fn a_console_without_times_or_with_differences_is_refused_with_what_to_do() {
    let error = refused("  vcan0  044   [5]  2A 36 6C 2B BA\n");
    assert!(error.to_string().contains("candump -l"), "{error}");
    let error =
        refused(" (000.000000)  v  044   [1]  2A\n (000.100000)  v  044   [1]  2A\n (000.050000)  v  044   [0]\n");
    assert!(error.to_string().contains("line 3") && error.to_string().contains("-t a"), "{error}");
    assert_eq!(error.read.frames.len(), 2);
    let error = refused(" (1.0)  v  044   [2]  2A 36\n (1.1)  v  044   [2]  2A");
    assert!(matches!(error.problem, Problem::Truncated { place: Place::Line(2), .. }), "{error}");
}

#[test]
fn a_date_beyond_what_can_be_counted_is_refused() {
    let error = refused(" (2014-04-22 00:57:03.8)  v  044   [0]\n (6014-04-22 00:57:03.8)  v  044   [0]\n");
    assert!(error.to_string().contains("line 2") && error.to_string().contains("a time"), "{error}");
}

fn any_frame() -> impl Strategy<Value = CanFrame> {
    let id = (any::<bool>(), any::<u32>()).prop_map(|(extended, raw)| {
        if extended { CanId::extended(raw >> 3) } else { CanId::standard((raw >> 21) as u16) }.unwrap()
    });
    let kind = prop_oneof![
        Just(FrameKind::Classical),
        Just(FrameKind::Remote),
        (any::<bool>(), any::<bool>()).prop_map(|(brs, esi)| FrameKind::Fd { brs, esi }),
    ];
    (id, kind, 0u8..16, proptest::collection::vec(any::<u8>(), 64)).prop_map(|(id, kind, dlc, data)| {
        // A remote frame's code above 8 has no place in the log.
        let dlc = if kind == FrameKind::Remote { dlc % 9 } else { dlc };
        CanFrame::new(id, kind, Dlc::new(dlc).unwrap(), &data)
    })
}

proptest! {
    #[test]
    fn every_frame_survives_the_log(frames in proptest::collection::vec((any_frame(), 0u32..3, 0u64..10_000_000), 0..40)) {
        let mut log = String::from("(0.000000) can0 000#\n");
        let mut recording = good(&log);
        let mut at_ns = 0;
        recording.channels = vec!["can0".into(), "can1".into(), "can2".into()];
        for (frame, channel, step_us) in &frames {
            at_ns += step_us * 1000;
            recording.frames.push(chronoseal_recordings::RecordedFrame { at_ns, channel: *channel as u16, frame: *frame });
        }
        log = write_candump(&recording);
        let again = good(&log);
        prop_assert_eq!(lines(&again), lines(&recording));
        for (again, recorded) in again.frames.iter().zip(&recording.frames) {
            prop_assert_eq!((again.at_ns, again.frame), (recorded.at_ns, recorded.frame));
        }
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..400) {
        let _ = chronoseal_recordings::read(&bytes);
        let mut log = LOG.as_bytes()[..cut.min(LOG.len())].to_vec();
        log.extend(bytes);
        let _ = chronoseal_recordings::read(&log);
    }
}
