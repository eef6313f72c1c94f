use chronoseal_recordings::{Place, Problem, read};

use crate::integration::{Figures, figures, good, lines, refused};

/// CSS Electronics, MIT: see data/SOURCES.md. From a CANedge logger: unsorted, and never finished.
const VESSEL: &[u8] = include_bytes!("../fixtures/css_vessel.mf4");
/// The same by asammdf 8.8.28.
const VESSEL_LOG: &[u8] = include_bytes!("../../../../data/can/vessel_bus.log");

#[test]
fn reads_the_frames_asammdf_reads() {
    let recording = good(VESSEL);
    let expected = Figures {
        frames: 9600,
        errors: 0,
        identifiers: 50,
        data_len: 76_630,
        data_sum: 11_232_808,
        id_sum: 2_364_425_894_562,
    };
    assert_eq!(figures(&recording), expected);
    let log = good(VESSEL_LOG);
    assert_eq!(recording.start_ns, log.start_ns);
    assert_eq!(recording.frames, log.frames);
    assert_eq!(recording.channels, ["1"]);
}

#[test]
fn a_file_cut_anywhere_keeps_the_frames_before() {
    let all = good(VESSEL);
    let mut kept_before = 0;
    for cut in (0..VESSEL.len()).step_by(31_337) {
        match read(&VESSEL[..cut]) {
            // An unfinished file has no end of its own: cut between records it is whole.
            Ok(recording) => assert_eq!(recording.frames, all.frames[..recording.frames.len()]),
            Err(error) => {
                let is_begun = matches!(error.problem, Problem::Truncated { .. });
                assert!(is_begun || matches!(error.problem, Problem::UnknownFormat { .. }), "{cut}: {error}");
                assert_eq!(lines(&error.read), lines(&all)[..error.read.frames.len()]);
                assert!(error.read.frames.len() >= kept_before);
                kept_before = error.read.frames.len();
            }
        }
    }
    assert!(kept_before > 8000, "{kept_before}");
}

#[test]
fn a_damaged_file_is_refused_with_its_byte() {
    let broken = |at: usize, value: u8| {
        let mut bytes = VESSEL.to_vec();
        bytes[at] = value;
        refused(bytes)
    };
    let header = broken(66, b'X');
    assert!(matches!(header.problem, Problem::Malformed { place: Place::Byte(64), .. }), "{header}");
    let version = broken(8, b'3');
    assert!(matches!(version.problem, Problem::Unsupported { place: Place::Byte(8), .. }), "{version}");
    // The first link of the header leads to the first data group.
    let link = broken(64 + 24 + 7, 0x7f);
    assert!(matches!(link.problem, Problem::Truncated { .. }), "{link}");
    let link = broken(64 + 24, 0x41);
    assert!(matches!(link.problem, Problem::Malformed { .. }), "{link}");
}

/// Figures python-can 4.6.1 reads.
#[test]
#[ignore = "needs CAN_SAMPLES, a folder with two more files of CSS Electronics"]
fn reads_two_more_files() {
    let folder = std::env::var("CAN_SAMPLES").expect("CAN_SAMPLES names a folder");
    for (name, frames, identifiers, data_len, data_sum, id_sum, end) in [
        ("css_2F6913DB_00000001.MF4", 5588, 12, 43_736, 4_955_285, 484_451, 63_470_000_000u64),
        ("css_17BD1DB7_00000170.MF4", 2010, 2, 16_080, 1_458_715, 4_032_180, 299_016_300_000),
    ] {
        let recording = good(std::fs::read(format!("{folder}/{name}")).unwrap());
        assert_eq!(figures(&recording), Figures { frames, errors: 0, identifiers, data_len, data_sum, id_sum });
        assert_eq!(recording.length_ns(), end);
    }
}
