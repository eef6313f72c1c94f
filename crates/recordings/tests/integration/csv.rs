//! SavvyCAN's and python-can's CSV.

use crate::integration::{good, lines, refused};

/// The beginning of `examples/GVRET_Log.csv` of collin80/SavvyCAN (commit d0cf69f54f60768cce914b0554268a5f09a3b308; MIT, Copyright (c)
/// 2015 Collin Kidder), without a direction as it was then.
const GVRET: &str = "\
Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8
166064000,0000021A,false,0,8,FE,36,12,FE,69,05,07,AD,
166064000,0000027A,false,0,7,30,30,0D,8C,09,15,00,00,
166074000,000003A8,false,0,8,30,30,31,00,03,00,00,00,
";

/// What python-can 4 writes of an extended, a standard, a remote, an error and an empty frame.
const PYTHON: &str = "\
timestamp,arbitration_id,extended,remote,error,dlc,data
1483389946.197,0xdadada,1,0,0,4,d29vbw==
1483389946.2971234,0x7ff,0,0,0,8,AAECAwQFBgc=
1483389946.3,0x123,0,1,0,3,
1483389946.4,0x0,0,0,1,0,
1483389946.5,0x10,0,0,0,0,
";

#[test]
fn the_example_of_savvycan_is_read() {
    let recording = good(GVRET);
    let all = ["0 0 21A#FE3612FE690507AD", "0 0 27A#30300D8C091500", "10000000 0 3A8#3030310003000000"];
    assert_eq!(lines(&recording), all);
    // As later versions write it, with a direction, a second bus, 29 bits and an FD frame.
    let bytes = "AB,".repeat(12);
    let later = format!(
        "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4\r\n5,18FEF100,true,Rx,1,1,0A,\r\n9,123,false,Tx,0,12,{bytes}\r\n"
    );
    assert_eq!(lines(&good(later)), ["0 1 18FEF100#0A", "4000 0 123##4ABABABABABABABABABABABAB"]);
}

#[test]
fn what_python_can_writes_is_read() {
    let recording = good(PYTHON);
    assert_eq!(recording.errors.len(), 1);
    let frames: Vec<String> = lines(&recording).into_iter().filter(|line| !line.contains("#00000000")).collect();
    assert_eq!(frames[..2], ["0 can 00DADADA#776F6F6F", "100123400 can 7FF#0001020304050607"]);
    assert!(frames.iter().any(|line| line == "103000000 can 123#R3"), "{frames:?}");
    assert!(frames.iter().any(|line| line == "303000000 can 010#"), "{frames:?}");
}

#[test]
fn bad_lines_cost_themselves_and_are_counted() {
    for (old, new) in [
        ("FE,36", "FE,XY"),
        ("0000021A", "8FFFFFFF"),
        ("21A,false", "21A,maybe"),
        (",8,FE", ",9,FE"),
        ("166064000,0000021A", "soon,0000021A"),
    ] {
        assert!(GVRET.contains(old), "{old}");
        let recording = good(GVRET.replacen(old, new, 1));
        assert_eq!(
            (recording.frames.len(), recording.warnings.iter().any(|it| it.to_string().contains('1'))),
            (2, true),
            "{new}"
        );
    }
    for (old, new) in [("d29vbw==", "d29vbw="), ("0xdadada", "0xzz"), (",1,0,0,4", ",2,0,0,4"), (",0,4,", ",0,5,")] {
        assert!(PYTHON.contains(old), "{old}");
        assert_eq!(good(PYTHON.replacen(old, new, 1)).frames.len(), 3, "{new}");
    }
    // More bad lines than good ones are no log.
    assert!(refused("Time Stamp,ID,Extended,Bus,LEN\n1,2\n3,4\n").to_string().contains("five fields and data"));
    let cut = refused(&GVRET[..GVRET.len() - 20]);
    assert_eq!((cut.read.frames.len(), cut.to_string().contains("ends in the middle of a frame")), (2, true), "{cut}");
}
