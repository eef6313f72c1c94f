use chronoseal_recordings::{Format, Place, Problem, Warning};

use crate::integration::{good, lines, refused};

const V2_1: &str = "\
;$FILEVERSION=2.1
;$STARTTIME=44548.6028595139
;$COLUMNS=N,O,T,B,I,d,R,L,D
;
;   Message   Time    Type    ID     Rx/Tx
;---+-- ------+------ +- +- --+----- +- +- +--- +- -- -- -- -- -- -- --
      1      1000.400 DT 1      0100 Tx -  8    00 01 02 03 04 05 06 07
      2      1000.500 ST 1         - Rx -  4    00 00 00 08
      3      1001.400 DT 2  18FEF100 Rx -  2    AA BB
      4      1002.400 FD 1      0123 Rx -  9    00 01 02 03 04 05 06 07 08 09 0A 0B
      5      1003.400 FB 1      0123 Rx -  1    AA
      6      1004.400 FE 1      0123 Rx -  1    AA
      7      1005.400 BI 1      0123 Rx -  1    AA
      8      1006.400 RR 1      0704 Rx -  1
      9      1007.400 ER 1         - Rx -  5    04 00 02 00 00
";

const FRAMES: [&str; 8] = [
    "0 1 100#0001020304050607",
    "1000000 2 18FEF100#AABB",
    "2000000 1 123##4000102030405060708090A0B",
    "3000000 1 123##5AA",
    "4000000 1 123##6AA",
    "5000000 1 123##7AA",
    "6000000 1 704#R1",
    "7000000 1 20000000#0000000000000000",
];

#[test]
fn reads_version_2_1_with_named_columns() {
    let recording = good(V2_1);
    assert_eq!(recording.format, Format::Trc);
    assert_eq!(lines(&recording), FRAMES);
    let left_out = Warning::LeftOut { what: "messages of the hardware", count: 1, first: Place::Line(8) };
    assert_eq!(recording.warnings, [left_out]);
}

#[test]
fn reads_version_2_0_with_lengths_in_bytes() {
    let log = ";$FILEVERSION=2.0\n;$COLUMNS=N,O,T,I,d,l,D\n 1 10.5 FD 0123 Rx 12 00 01 02 03 04 05 06 07 08 09 0A 0B\n";
    assert_eq!(lines(&good(log)), ["0 1 123##4000102030405060708090A0B"]);
}

/// The examples of PEAK's description, one of each version.
#[test]
fn reads_versions_1() {
    let v1_0 = ";##########\n;   Start time: 05.08.2003\n     1)      1841  0001  8  00 00 00 00 00 00 00 00\n\
                \x20    2)      1842  00000008  2  19 08\n     3)      1843  FFFFFFFF  4  00 00 00 04\n";
    assert_eq!(lines(&good(v1_0)), ["0 1 001#0000000000000000", "1000000 1 00000008#1908"]);
    let v1_1 = ";$FILEVERSION=1.1\n;$STARTTIME=1\n     1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00\n\
                \x20    2)      1060.9  Warng  FFFFFFFF  4  00 00 00 08  BUSLIGHT\n     3)      1061.9  Rx  0300  4  RTR\n";
    assert_eq!(lines(&good(v1_1)), ["0 1 300#00000000040000", "2000000 1 300#R4"]);
    let v1_3 = ";$FILEVERSION=1.3\n;$STARTTIME=1\n     1)      1059.900 2  Rx  0300 -  2    FF 00\n";
    assert_eq!(lines(&good(v1_3)), ["0 2 300#FF00"]);
}

#[test]
fn a_broken_line_or_an_unknown_version_is_named() {
    for (line, expected) in [
        ("      1      x.400 DT 1      0100 Tx -  1    00", "a time in milliseconds"),
        ("      1      1.400 QQ 1      0100 Tx -  1    00", "a kind of message"),
        ("      1      1.400 DT 1      0800 Tx -  1    00", "an identifier"),
        ("      1      1.400 DT 1      0100 Tx -  2    00", "as many bytes"),
        ("      1      1.400 DT 1      0100 Tx -  16   00", "a length"),
        ("      1      1.400 DT 1", "an identifier"),
    ] {
        let error = refused(format!("{V2_1}{line}\n"));
        assert!(error.to_string().contains("line 16") && error.to_string().contains(expected), "{line}: {error}");
        assert_eq!(error.read.frames.len(), 7);
    }
    let error = refused(V2_1.replace("=2.1", "=3.0"));
    assert!(matches!(error.problem, Problem::Unsupported { place: Place::Line(1), .. }), "{error}");
    let error = refused(V2_1.replace("N,O,T,B,I,d,R,L,D", "N,T,B,I,d,R,L,D"));
    assert!(matches!(error.problem, Problem::Malformed { place: Place::Line(3), .. }), "{error}");
}

#[test]
fn a_trace_cut_in_the_middle_of_a_frame_keeps_the_others() {
    let cut = &V2_1[..V2_1.find(" 06 07\n").unwrap()];
    let error = refused(cut);
    assert!(matches!(error.problem, Problem::Truncated { place: Place::Line(7), .. }), "{error}");
}
