use chronoseal_recordings::{Format, Place, Problem};

use crate::integration::{Figures, figures, good, lines, refused};

/// collin80/SavvyCAN, MIT: see data/SOURCES.md.
const CAR: &[u8] = include_bytes!("../fixtures/savvycan_busmaster.log");

const HEADER: &str = "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***HEX***\n***SYSTEM MODE***\n";

/// python-can 4.6.1 reads these figures from the same capture as SavvyCAN keeps it as a candump log (12,974 frames with
/// times cut to whole seconds).
#[test]
fn reads_the_figures_python_can_reads_of_the_same_capture() {
    let recording = good(CAR);
    assert_eq!(recording.format, Format::Busmaster);
    let expected = Figures {
        frames: 12_974,
        errors: 0,
        identifiers: 180,
        data_len: 89_281,
        data_sum: 6_090_721,
        id_sum: 7_675_013,
    };
    assert_eq!(figures(&recording), expected);
    let lines = lines(&recording);
    assert_eq!(lines[0], "0 0 21A#FE3612FE690507AD");
    assert_eq!(lines[12_973], "8560000000 0 102#0C96D0FFC1FF");
    assert_eq!(recording.start_ns, (22 * 3600 + 20 * 60 + 14) * 1_000_000_000 + 992_000_000);
    assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
}

#[test]
fn milliseconds_have_no_leading_zeros_and_tenths_of_them_four_digits() {
    let log = good(format!("{HEADER}10:00:00:2 Rx 1 100 s 0\n10:00:00:12 Rx 1 100 s 0\n10:00:00:102 Rx 1 100 s 0\n"));
    assert_eq!(lines(&log), ["0 1 100#", "10000000 1 100#", "100000000 1 100#"]);
    let log = good(format!("{HEADER}10:00:00:0002 Rx 1 100 s 0\n10:00:00:0012 Rx 1 100 s 0\n"));
    assert_eq!(lines(&log), ["0 1 100#", "1000000 1 100#"]);
}

#[test]
fn reads_extended_remote_and_decimal_lines_past_midnight() {
    let hex = good(format!(
        "{HEADER}23:59:59:9999 Rx 1 12345678 x 2 FE 36\n23:59:59:9999 Tx 1 7FF sr 3\n\
         00:00:00:0001 Rx 2 00000001 xr 0\n***[STOP LOGGING SESSION]***\n"
    ));
    assert_eq!(lines(&hex), ["0 1 12345678#FE36", "0 1 7FF#R3", "200000 2 00000001#R0"]);
    let decimal = good(format!("{}10:00:00:000 Rx 1 291 s 2 254 054\n", HEADER.replace("HEX", "DEC")));
    assert_eq!(lines(&decimal), ["0 1 123#FE36"]);
}

#[test]
fn a_broken_line_is_named() {
    for (line, expected) in [
        ("10:00:00:000 Rx 1 800 s 1 00", "an identifier of 11 bits"),
        ("10:00:00:000 Rx 1 20000000 x 1 00", "an identifier of 29 bits"),
        ("10:00:00:000 Rx 1 123 q 1 00", "`s`, `x`, `sr` or `xr`"),
        ("10:00:00:000 Rx 1 123 s 2 00", "as many bytes"),
        ("10:00:00:000 Rx 1 123 s 1 100", "as many bytes"),
        ("10:00:00:000 Rx 1 123 s 9 0 0 0 0 0 0 0 0 0", "12, 16"),
        ("10:60:00:000 Rx 1 123 s 1 00", "a time as"),
        ("10:00:00 Rx 1 123 s 1 00", "a time as"),
        ("10:00:00:000 Xx 1 123 s 1 00", "`Rx` or `Tx`"),
        ("10:00:00:000 Rx 1 123", "six words"),
    ] {
        let error = refused(format!("{HEADER}10:00:00:000 Rx 1 123 s 1 00\n{line}\n"));
        let text = error.to_string();
        assert!(text.contains("line 6") && text.contains(expected), "{line}: {text}");
        assert_eq!(error.read.frames.len(), 1);
    }
}

#[test]
fn a_log_of_another_bus_or_with_relative_times_is_refused() {
    let error = refused(HEADER.replace("PROTOCOL CAN", "PROTOCOL LIN"));
    assert!(matches!(error.problem, Problem::Unsupported { place: Place::Line(2), .. }), "{error}");
    let error = refused(HEADER.replace("SYSTEM", "RELATIVE"));
    assert!(matches!(error.problem, Problem::Unsupported { place: Place::Line(4), .. }), "{error}");
}

#[test]
fn a_log_cut_in_the_middle_of_a_frame_keeps_the_others() {
    let cut = &CAR[..CAR.len() - 10];
    let error = refused(cut);
    assert!(matches!(error.problem, Problem::Truncated { place: Place::Line(12_987), .. }), "{error}");
    assert_eq!(error.read.frames.len(), 12_973);
}
