//! Writes the seeds of the corpora of recordings: `cargo run --example recording_seeds` in this folder.
//!
//! Small files with one of everything, uncompressed, so that a changed byte reaches what it means.

use std::path::Path;

use chronoseal_recordings::{read, write_pcap};

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder).expect("the corpus folder can be made");
    std::fs::write(folder.join(name), bytes).expect("the seed can be written");
}

const CANDUMP: &str = "\
# a remark
(1436509052.249713) vcan0 044#2A366C2BBA
(1436509052.650004) vcan1 00000123#0102
(1436509052.850000) vcan0 123#R
(1436509052.900000) vcan0 123#R5
(1436509052.950000) vcan0 12345678##5112233445566778899AABBCC
(1436509053.000000) vcan0 321##6
(1436509053.100000) vcan0 5AA#1122334455667788_B
(1436509053.200000) vcan0 20000080#0000000000000000
";

const CONSOLE: &str = " (0000000000.249713)  vcan0  044   [5]  2A 36 6C 2B BA
 (0000000000.350000)  vcan0  12345678   [2]  01 02   '..'
 (0000000000.360000)  vcan0  123   [0]  remote request
 (0000000000.370000)  vcan1  RX B -  123  [12]  01 02 03 04 05 06 07 08 09 0A 0B 0C
 (0000000000.390000)  vcan0  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME
 (2014-04-22 00:57:03.803317)  can0  166   [4]  D0 32 00 09
";

const BUSMASTER: &str = "***BUSMASTER Ver 3.2.2***
***PROTOCOL CAN***
***HEX***
***SYSTEM MODE***
23:59:59:9999 Rx 1 12345678 x 2 FE 36
23:59:59:9999 Tx 1 7FF sr 3
00:00:00:2 Rx 2 00000001 xr 0
00:00:00:12 Rx 2 021 s 8 01 02 03 04 05 06 07 08
***[STOP LOGGING SESSION]***
";

const ASC: &str = "date Sat Nov 21 09:00:00.000 am 2026
base hex  timestamps absolute
   0.000000 Start of measurement
   1.000000 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%
   1.500000 1  123             Rx   d 4 64 00 A0 0f  Length = 0 BitCount = 0 ID = 291
   1.510000 1  18FEF100x       Rx   r 3
   1.600000 1  ErrorFrame  Flags = 0xe
   1.700000 CANFD   1 Rx        300  EngineData  1 0 9 12 01 02 03 04 05 06 07 08 09 0a 0b 0c 102203  133   303000 e0006659
   1.800000 CANFD   2 Tx      50005x 0 0 5 0 140000 73 200050 7a60 46500250
";

const TRC_2: &str = ";$FILEVERSION=2.1
;$COLUMNS=N,O,T,B,I,d,R,L,D
      1      1000.400 DT 1      0100 Tx -  8    00 01 02 03 04 05 06 07
      2      1000.500 ST 1         - Rx -  4    00 00 00 08
      4      1002.400 FD 1  12345678 Rx -  9    00 01 02 03 04 05 06 07 08 09 0A 0B
      8      1006.400 RR 1      0704 Rx -  1
      9      1007.400 ER 1         - Rx -  5    04 00 02 00 00
";

const TRC_1: &str = ";$FILEVERSION=1.1
     1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00
     2)      1060.9  Warng  FFFFFFFF  4  00 00 00 08  BUSLIGHT
     3)      1061.9  Rx  0300  4  RTR
";

const DBC: &str = "VERSION \"\"

BU_: Engine Gateway

BO_ 256 Speed: 8 Engine
 SG_ Wheel : 0|16@1+ (0.01,0) [0|655.35] \"km/h\" Gateway

BO_ 2566844926 Lights: 3 Vector__XXX
 SG_ High : 0|1@1+ (1,0) [0|1] \"\" Gateway

BO_ 257 Camera: 48 Gateway

BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;
BA_DEF_DEF_ \"GenMsgCycleTime\" 100;
BA_ \"GenMsgCycleTime\" BO_ 256 20;
";

/// Objects of a BLF: what follows their head, by type.
fn blf_object(kind: u32, body: &[u8]) -> Vec<u8> {
    let len = 32 + body.len();
    let mut object = b"LOBJ".to_vec();
    object.extend([32, 0, 1, 0]);
    object.extend((len as u32).to_le_bytes());
    object.extend(kind.to_le_bytes());
    object.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    object.extend(1_000_000u64.to_le_bytes());
    object.extend(body);
    object.resize(len.next_multiple_of(4), 0);
    object
}

fn blf() -> Vec<u8> {
    let classical = [&[1, 0, 0, 4, 0x23, 1, 0, 0][..], &[1, 2, 3, 4, 0, 0, 0, 0]].concat();
    let mut fd = [&[2, 0, 0, 9, 0x23, 1, 0, 0x80][..], &[0, 0, 0, 0, 0, 3, 12, 0, 0, 0, 0, 0]].concat();
    fd.extend([0x5a; 64]);
    let mut fd_64 = vec![1, 9, 12, 0, 0x23, 1, 0, 0, 0, 0, 0, 0, 0, 0x30, 0, 0];
    fd_64.extend([0; 24]);
    fd_64.extend([0xa5; 12]);
    let objects =
        [(1, classical.as_slice()), (86, &classical), (100, &fd), (101, &fd_64), (2, &[1, 0, 0, 0]), (6, &[])];
    let objects: Vec<u8> = objects.iter().flat_map(|(kind, body)| blf_object(*kind, body)).collect();
    let mut file = b"LOGG".to_vec();
    file.extend(144u32.to_le_bytes());
    file.resize(144, 0);
    // The second container begins in the middle of an object.
    for part in objects.chunks(objects.len() / 2 + 1) {
        let len = 32 + part.len();
        file.extend(b"LOBJ\x10\0\x01\0");
        file.extend((len as u32).to_le_bytes());
        file.extend(10u32.to_le_bytes());
        file.extend([0; 8]);
        file.extend((part.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(part);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

/// Appends a block of an MF4 and says where it is.
fn block(file: &mut Vec<u8>, kind: &[u8; 2], links: &[u64], data: &[u8]) -> u64 {
    file.resize(file.len().next_multiple_of(8), 0);
    let at = file.len() as u64;
    file.extend(b"##");
    file.extend(kind);
    file.extend([0; 4]);
    file.extend((24 + links.len() as u64 * 8 + data.len() as u64).to_le_bytes());
    file.extend((links.len() as u64).to_le_bytes());
    links.iter().for_each(|link| file.extend(link.to_le_bytes()));
    file.extend(data);
    at
}

/// A channel: its kind, type of data, and where it stands.
fn channel(file: &mut Vec<u8>, name: &str, next: u64, parts: u64, pieces: u64, shape: (u8, u8, u32, u32)) -> u64 {
    let name = block(file, b"TX", &[], format!("{name}\0").as_bytes());
    let (channel_type, data_type, byte_offset, bit_count) = shape;
    let mut data = vec![channel_type, u8::from(channel_type == 2), data_type, 0];
    data.extend(byte_offset.to_le_bytes());
    data.extend(bit_count.to_le_bytes());
    data.resize(72, 0);
    block(file, b"CN", &[next, parts, name, 0, 0, pieces, 0, 0], &data)
}

fn group(file: &mut Vec<u8>, next: u64, channels: u64, record_id: u64, count: u64, flags: u8, len: u32) -> u64 {
    let mut data = [record_id.to_le_bytes(), count.to_le_bytes(), [flags, 0, 0, 0, 0, 0, 0, 0]].concat();
    data.extend(len.to_le_bytes());
    data.extend([0; 4]);
    block(file, b"CG", &[next, channels, 0, 0, 0, 0], &data)
}

/// Data frames of 8 bytes within their records, or, `unsorted`, of any length beside them.
fn mf4(unsorted: bool) -> Vec<u8> {
    let mut file = b"MDF     4.10    seed    ".to_vec();
    file.resize(64, 0);
    // Links are set when all else is there.
    block(&mut file, b"HD", &[0; 6], &[0; 32]);
    let pieces = if unsorted { group(&mut file, 0, 0, 2, 3, 1, 0) } else { 0 };
    let data = if unsorted { (1, 0, 17, 64) } else { (0, 10, 17, 64) };
    let mut next = channel(&mut file, "CAN_DataFrame.DataBytes", 0, 0, pieces, data);
    for (name, byte, bits) in
        [("DataLength", 16, 8), ("EDL", 15, 8), ("DLC", 14, 8), ("IDE", 13, 8), ("ID", 9, 32), ("BusChannel", 8, 8)]
    {
        next = channel(&mut file, &format!("CAN_DataFrame.{name}"), next, 0, 0, (0, 0, byte, bits));
    }
    let frame = channel(&mut file, "CAN_DataFrame", 0, next, 0, (0, 10, 8, 136));
    let time = channel(&mut file, "Timestamp", frame, 0, 0, (2, 4, 0, 64));
    let group = group(&mut file, pieces, time, 1, 3, 6, 25);
    let mut records = Vec::new();
    for i in 0..3u8 {
        if unsorted {
            records.push(1);
        }
        records.extend((f64::from(i) * 0.01).to_le_bytes());
        records.extend([1, 0x23, 1, 0, 0, 0, 8, 0, 8]);
        if unsorted {
            records.extend((u64::from(i) * 12).to_le_bytes());
            records.extend([2, 8, 0, 0, 0]);
        }
        records.extend([i; 8]);
    }
    let (first, second) = records.split_at(30);
    let parts = [first, second].map(|part| block(&mut file, b"DT", &[], part));
    let list = block(&mut file, b"DL", &[0, parts[0], parts[1]], &[0; 16]);
    let data_group = block(&mut file, b"DG", &[0, group, list, 0], &[u8::from(unsorted), 0, 0, 0, 0, 0, 0, 0]);
    file[88..96].copy_from_slice(&data_group.to_le_bytes());
    file
}

fn main() {
    write("recording_candump", "log.log", CANDUMP.as_bytes());
    write("recording_candump", "console.txt", CONSOLE.as_bytes());
    write("recording_busmaster", "first.log", BUSMASTER.as_bytes());
    write("recording_asc", "first.asc", ASC.as_bytes());
    write("recording_trc", "second.trc", TRC_2.as_bytes());
    write("recording_trc", "first.trc", TRC_1.as_bytes());
    write("can_database", "first.dbc", DBC.as_bytes());
    write("recording_blf", "first.blf", &blf());
    write("recording_mf4", "sorted.mf4", &mf4(false));
    write("recording_mf4", "unsorted.mf4", &mf4(true));
    let capture = write_pcap(&read(CANDUMP.as_bytes()).expect("the log is sound"));
    write("recording_pcap", "first.pcap", &capture);
    let mut pcapng = vec![0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
    pcapng.extend([0xff; 8]);
    pcapng.extend([28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 227, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]);
    for i in 0..4u8 {
        pcapng.extend([6, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, i, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0]);
        pcapng.extend([0, 0, 1, 0x23, 2, 0, 0, 0, i, i, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0]);
    }
    write("recording_pcap", "first.pcapng", &pcapng);
}
