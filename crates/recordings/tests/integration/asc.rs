use chronoseal_recordings::{Format, Place, Problem, Warning};

use crate::integration::{good, lines, refused};

/// Every kind of line, written by hand after the format's rules.
const LOG: &str = "\
date Sat Nov 21 09:00:00.000 am 2026
base hex  timestamps absolute
internal events logged
// version 13.0.0
Begin Triggerblock Sat Nov 21 09:00:00.000 am 2026
   0.000000 Start of measurement
   0.010000 CAN 1 Status:chip status error active
   1.000000 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%
   1.500000 1  123             Rx   d 4 64 00 A0 0f  Length = 0 BitCount = 0 ID = 291
   1.500250 2  18FEF100x       Tx   d 8 01 02 03 04 05 06 07 08  Length = 273910 BitCount = 141 ID = 419361024x
   1.510000 1  7FF             Rx   r
   1.520000 1  100             Tx   r 3  Length = 1704000 BitCount = 145 ID = 256
   1.530000 1  100             TxRq d 1 01
   1.600000 1  ErrorFrame  Flags = 0xe CodeExt = 0x20a2 Code = 0x82
   1.700000 CANFD   1 Rx        300  EngineData                  1 0 8  8 01 02 03 04 05 06 07 08   102203  133   303000 e0006659 46500250
   1.800000 CANFD   2 Tx      50005x                             0 0 5 0 140000 73 200050 7a60 46500250
   1.900000 CANFD   1 Rx        4EE                              1 1 9 12 01 02 03 04 05 06 07 08 09 0a 0b 0c 1331984 11 307000 46500250
   2.000000 CANFD   1 Rx        4EF                              0 0 2 2 aa bb   102203  133   200000 e0006659
   2.100000 CANFD   2 Tx ErrorFrame Not Acknowledge error, dominant error flag fffe c7 31ca
   2.150000 CANXL   1 Rx        300 Name 1 0 0 8 01 02 03 04 05 06 07 08
   2.200000 1  J1939TP FEE3p        6    0  0   -   Rx   d 23 A0 0F
End TriggerBlock
";

const FRAMES: [&str; 10] = [
    "0 1 123#6400A00F",
    "250000 2 18FEF100#0102030405060708",
    "10000000 1 7FF#R0",
    "20000000 1 100#R3",
    "100000000 1 20000000#0000000000000000",
    "200000000 1 300##50102030405060708",
    "300000000 2 00050005#R5",
    "400000000 1 4EE##70102030405060708090A0B0C",
    "500000000 1 4EF#AABB",
    "600000000 2 20000000#0000000000000000",
];

#[test]
fn reads_every_kind_of_line() {
    let recording = good(LOG);
    assert_eq!(recording.format, Format::Asc);
    assert_eq!(recording.start_ns, 1_500_000_000);
    assert_eq!(lines(&recording), FRAMES);
    let (what, other) = ("requests to send", "events that are no frame");
    assert_eq!(
        recording.warnings,
        [
            Warning::LeftOut { what: "CAN XL frames, which are not read", count: 1, first: Place::Line(20) },
            Warning::LeftOut { what: other, count: 4, first: Place::Line(6) },
            Warning::LeftOut { what, count: 1, first: Place::Line(13) },
        ]
    );
}

#[test]
fn decimal_numbers_and_relative_times_are_read() {
    let log =
        "date x\nbase dec  timestamps relative\n 0.5 1 291 Rx d 2 255 16\n 0.25 CAN 1 Status:x\n 0.25 1 291 Rx d 0\n";
    assert_eq!(lines(&good(log)), ["0 1 123#FF10", "500000000 1 123#"]);
}

#[test]
fn a_broken_line_costs_itself_and_is_named() {
    for (line, expected) in [
        (" 1.0 1 800 Rx d 1 00", "an identifier of 11 bits"),
        (" 1.0 1 20000000x Rx d 1 00", "an identifier of 11 bits"),
        (" 1.0 1 123 Xx d 1 00", "`Rx` or `Tx`"),
        (" 1.0 1 123 Rx q 1 00", "`d` or `r`"),
        (" 1.0 1 123 Rx d 2 00", "as many bytes"),
        (" 1.0 1 123 Rx d 2 00 100", "as many bytes"),
        (" 1.0 1 123 Rx d 10 00", "a data length code"),
        (" x.0 1 123 Rx d 1 00", "a time in seconds"),
        (" 1.0 CANFD 1 Rx 123 1 0 9 9 01 02 03 04 05 06 07 08 09", "12, 16"),
        (" 1.0 CANFD 1 Rx 123 name other 0 1 1 01", "bit rate switch"),
        (" 1.0 CANFD 1 Rx 123 1 0 9", "a data length"),
    ] {
        let recording =
            good(format!("base hex  timestamps absolute\n 0.5 1 123 Rx d 1 00\n{line}\n 2.5 1 123 Rx d 1 01\n"));
        assert_eq!(lines(&recording), ["0 1 123#00", "2000000000 1 123#01"]);
        let [warning] = &recording.warnings[..] else { panic!("{line}: {:?}", recording.warnings) };
        let warning = warning.to_string();
        assert!(warning.contains("1 entries are damaged") && warning.contains("line 3"), "{line}: {warning}");
        assert!(warning.contains(expected), "{line}: {warning}");
        // More damaged than sound: this is something else.
        let error = refused(format!("base hex  timestamps absolute\n{line}\n"));
        assert!(error.to_string().contains("line 2") && error.to_string().contains(expected), "{line}: {error}");
    }
}

#[test]
fn a_log_cut_in_the_middle_of_a_frame_keeps_the_others() {
    let cut = &LOG[..LOG.find(" A0 0f").unwrap()];
    let error = refused(cut);
    assert!(matches!(error.problem, Problem::Truncated { place: Place::Line(9), .. }), "{error}");
    assert_eq!(error.read.frames.len(), 0);
}
