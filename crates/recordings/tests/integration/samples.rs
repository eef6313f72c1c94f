//! Samples that python-can 4.6.1 wrote of frames of ours: `fixtures/make.py`.

use std::fmt::Write;

use chronoseal_recordings::{Format, Place, Problem, read};

use crate::integration::{good, lines, refused};

const BLF: &[u8] = include_bytes!("../fixtures/python_can.blf");
const MF4: &[u8] = include_bytes!("../fixtures/python_can.mf4");

/// The frames of `make.py` in their order: time since the first `[us]`, channel from 0, frame as a log writes it.
pub(super) fn frames() -> Vec<(u64, usize, String)> {
    let mut frames: Vec<(u64, usize, String)> = vec![
        (0, 0, "123#01020304".into()),
        (500, 1, "18FEF100#0102030405060708".into()),
        (1_000, 0, "7FF#R5".into()),
        (2_000, 0, "100##5112233445566778899AABBCC".into()),
        (3_000, 1, "101##4".into()),
        (4_000, 0, format!("1ABCDEF0##7{}", "5A".repeat(64))),
        (5_000, 0, "20000000#0000000000000000".into()),
    ];
    frames.extend((0..6000u32).map(|i| {
        let mut frame = format!("{:03X}#", 0x200 + i % 7);
        let _ = write!(frame, "{:08X}", i * 0x0101);
        (10_000 + u64::from(i) * 1000, i as usize % 2, frame)
    }));
    frames
}

fn expected<'a>(frames: impl IntoIterator<Item = &'a (u64, usize, String)>, channels: [&str; 2]) -> Vec<String> {
    let line =
        |(at_us, channel, frame): &(u64, usize, String)| format!("{} {} {frame}", at_us * 1000, channels[*channel]);
    frames.into_iter().map(line).collect()
}

#[test]
fn reads_the_blf_of_python_can() {
    let mut recording = good(BLF);
    assert_eq!(recording.format, Format::Blf);
    // It counts in binary fractions of a second, so that nanoseconds are cut one short.
    recording.frames.iter_mut().for_each(|recorded| recorded.at_ns = recorded.at_ns.next_multiple_of(1000));
    recording.errors.iter_mut().for_each(|recorded| recorded.at_ns = recorded.at_ns.next_multiple_of(1000));
    assert_eq!(lines(&recording), expected(&frames(), ["1", "2"]));
}

#[test]
fn reads_the_asc_of_python_can() {
    let recording = good(include_bytes!("../fixtures/python_can.asc"));
    assert_eq!(recording.format, Format::Asc);
    assert_eq!(lines(&recording), expected(&frames()[..200], ["1", "2"]));
}

#[test]
fn reads_the_trc_of_python_can() {
    let recording = good(include_bytes!("../fixtures/python_can.trc"));
    assert_eq!(recording.format, Format::Trc);
    // It writes neither remote, FD nor error frames.
    let all = frames();
    let written = all.iter().filter(|(_, _, frame)| !frame.contains("##") && !frame.starts_with("20000000"));
    let written = written.filter(|(_, _, frame)| !frame.contains("#R"));
    assert_eq!(lines(&recording), expected(written.take(199), ["1", "2"]));
}

#[test]
fn reads_the_mf4_of_python_can() {
    let recording = good(MF4);
    assert_eq!(recording.format, Format::Mf4);
    // Error frames were left out.
    let all = frames();
    let written = all.iter().filter(|(_, _, frame)| !frame.starts_with("20000000"));
    assert_eq!(lines(&recording), expected(written.take(1000), ["0", "1"]));
}

#[test]
fn a_blf_cut_anywhere_says_so_and_keeps_the_containers_before() {
    // The first container holds 128 KiB of objects.
    let first = 144 + u32::from_le_bytes(BLF[152..156].try_into().unwrap()) as usize;
    let error = refused(&BLF[..first + 1000]);
    assert!(matches!(error.problem, Problem::Truncated { format: Format::Blf, .. }), "{error}");
    let kept = error.read.frames.len();
    assert!((1000..6006).contains(&kept), "{kept}");
    assert_eq!(error.read.frames, good(BLF).frames[..kept]);
    for cut in (144..BLF.len() - 4).step_by(997) {
        let error = refused(&BLF[..cut + 1]);
        assert!(matches!(error.problem, Problem::Truncated { .. }), "{cut}: {error}");
    }
    assert!(matches!(refused(b"LOGG").problem, Problem::Truncated { place: Place::Byte(0), .. }));
}

#[test]
fn a_damaged_blf_is_refused_with_its_byte() {
    let broken = |at: usize, value: u8| {
        let mut bytes = BLF.to_vec();
        bytes[at] = value;
        refused(bytes).to_string()
    };
    assert!(broken(144, b'X').contains("byte 144: an object"), "{}", broken(144, b'X'));
    assert!(broken(144 + 16, 9).contains("compression method 9"));
    assert!(broken(144 + 40, 0xff).contains("a sound container"));
    assert!(broken(144 + 24, 1).contains("cannot be inflated"));
    assert!(broken(144 + 27, 0x7f).contains("in one container"));
}

/// A BLF without a container: 22 objects `CAN_FD_MESSAGE_64` of 120 bytes, as TSMaster writes them, which say 64 bytes of data
/// and have 48; and one whose identifier has too many bits.
#[test]
fn an_object_shorter_than_it_says_is_read_and_a_bad_one_costs_itself() {
    let object = |id: u32| {
        let mut body = vec![7, 15, 64, 0];
        body.extend(id.to_le_bytes());
        body.extend(64u32.to_le_bytes());
        body.extend(0x3000u32.to_le_bytes());
        body.resize(40, 0);
        body.resize(88, 0x5a);
        let mut object = b"LOBJ".to_vec();
        object.extend(32u16.to_le_bytes());
        object.extend(1u16.to_le_bytes());
        object.extend(120u32.to_le_bytes());
        object.extend(101u32.to_le_bytes());
        object.extend([2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        object.extend(body);
        object
    };
    let mut bytes = b"LOGG".to_vec();
    bytes.extend(144u32.to_le_bytes());
    bytes.resize(144, 0);
    (0..22).for_each(|_| bytes.extend(object(0x6a9)));
    bytes.extend(object(0x4444_4444));
    let recording = good(&bytes);
    assert_eq!(recording.frames.len(), 22);
    assert!(recording.frames.iter().all(|one| one.frame.data().len() == 64 && one.frame.data()[..48] == [0x5a; 48]));
    let [warning] = &recording.warnings[..] else { panic!("{:?}", recording.warnings) };
    let warning = warning.to_string();
    assert!(warning.contains("1 entries are damaged") && warning.contains("0x44444444"), "{warning}");
    // Frames and error frames of channels of CAN XL are named; an object of another kind is not.
    let kinds = [139u32, 140, 115]
        .map(|kind| [&b"LOBJ"[..], &[32, 0, 1, 0, 32, 0, 0, 0], &kind.to_le_bytes(), &[0; 16]].concat());
    let others = good([&bytes[..144 + 22 * 120], &kinds.concat()].concat());
    let said: Vec<String> = others.warnings.iter().map(ToString::to_string).collect();
    assert!(others.frames.len() == 22 && said.len() == 2, "{said:?}");
    assert!(said[0].contains('2') && said[0].contains("frames of CAN XL channels, which are not read"), "{said:?}");
    let alone = [&bytes[..144], &object(0x4444_4444)].concat();
    assert!(refused(&alone).to_string().contains("an identifier of 11 or 29 bits"));
}

/// Where the user keeps the samples of python-can's own tests, under LGPL and so not here: CAN_SAMPLES. Figures are those
/// python-can 4.6.1 reads.
#[test]
#[ignore = "needs CAN_SAMPLES, a folder with samples of python-can and ICSim"]
fn reads_what_python_can_reads_of_its_own_samples() {
    let folder = std::env::var("CAN_SAMPLES").expect("CAN_SAMPLES names a folder");
    let figures = |name: &str| {
        let bytes = std::fs::read(format!("{folder}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let recording = good(bytes);
        let figures = crate::integration::figures(&recording);
        (figures.frames, figures.errors, figures.identifiers, figures.data_len, figures.data_sum, figures.id_sum)
    };
    assert_eq!(figures("icsim_sample-can.log"), (6158, 0, 34, 40_762, 1_084_175, 2_286_282));
    assert_eq!(figures("savvycan_candump.log"), (12_974, 0, 180, 89_281, 6_090_721, 7_675_013));
    assert_eq!(figures("pythoncan_issue_1256.asc"), (1457, 0, 6, 6885, 216_483, 104_270));
    // python-can takes the data of the last error frame, 64 bytes of zeros, too.
    assert_eq!(figures("pythoncan_logfile.asc"), (16, 4, 8, 152, 8464, 3_345_290_212));
    assert_eq!(figures("pythoncan_test_CanFdMessage.asc"), (3, 0, 3, 24, 525, 474_842_801));
    assert_eq!(figures("pythoncan_test_CanFdMessage64.asc"), (2, 0, 2, 128, 556, 474_842_517));
    assert_eq!(figures("pythoncan_test_CanMessage_V2_1.trc"), (11, 0, 3, 80, 0, 3588));
    // Identifiers of more than 11 bits without the flag for 29: python-can lets them pass.
    for name in
        ["pythoncan_test_CanMessage.blf", "pythoncan_test_CanFdMessage.blf", "pythoncan_test_CanFdMessage64.blf"]
    {
        let error = read(&std::fs::read(format!("{folder}/{name}")).unwrap()).unwrap_err();
        assert!(error.to_string().contains("an identifier of 11 or 29 bits"), "{name}: {error}");
    }
}
