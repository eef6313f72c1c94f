use chronoseal_core::Duration;
use chronoseal_recordings::{Database, DatabaseError, is_database, read_dbc};
use chronoseal_wire::can::CanId;

/// cantools, MIT: see data/SOURCES.md.
const VEHICLE: &[u8] = include_bytes!("../fixtures/cantools_vehicle.dbc");
const ABS: &[u8] = include_bytes!("../fixtures/cantools_abs.dbc");

fn good(bytes: &[u8]) -> Database {
    read_dbc(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Messages, signals, bytes of all messages, sum of identifiers, sum of cycle times in milliseconds.
fn figures(database: &Database) -> (usize, usize, usize, u64, i64) {
    let messages = &database.messages;
    (
        messages.len(),
        messages.iter().map(|message| message.signals.len()).sum(),
        messages.iter().map(|message| message.len).sum(),
        messages.iter().map(|message| u64::from(message.id.raw())).sum(),
        messages.iter().filter_map(|message| message.cycle_time).map(|period| period.as_ns() / 1_000_000).sum(),
    )
}

const SMALL: &str = "\
VERSION \"\"

BU_: Engine Gateway

BO_ 256 Speed: 8 Engine
 SG_ Wheel : 0|16@1+ (0.01,0) [0|655.35] \"km/h\" Gateway

BO_ 2566844926 Lights: 3 Vector__XXX
 SG_ High : 0|1@1+ (1,0) [0|1] \"\" Gateway

BO_ 257 Camera: 48 Gateway

BO_ 258 Position: 51 Gateway

BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX

BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;
BA_DEF_DEF_ \"GenMsgCycleTime\" 100;
BA_ \"GenMsgCycleTime\" BO_ 256 20;
BA_ \"GenMsgCycleTime\" BO_ 257 0;
";

#[test]
fn reads_names_lengths_senders_and_cycle_times() {
    let database = good(SMALL.as_bytes());
    assert!(is_database(SMALL.as_bytes()));
    assert_eq!(database.nodes, ["Engine", "Gateway"]);
    let [speed, lights, camera, position] = &database.messages[..] else { panic!("{database:?}") };
    assert_eq!((speed.id, &speed.name[..], speed.len, speed.fd), (CanId::standard(256).unwrap(), "Speed", 8, false));
    assert_eq!((speed.sender.as_deref(), speed.cycle_time), (Some("Engine"), Some(Duration::from_ms(20))));
    assert_eq!(
        (&speed.signals[0].name[..], &speed.signals[0].unit[..], speed.signals[0].len_bits),
        ("Wheel", "km/h", 16)
    );
    assert_eq!((lights.id, lights.len), (CanId::extended(0x18FE_F1FE).unwrap(), 3));
    assert_eq!((lights.sender.as_deref(), lights.cycle_time), (None, Some(Duration::from_ms(100))));
    assert_eq!((camera.fd, camera.cycle_time), (true, None));
    // 51 bytes fit a frame of 64; 65 do not.
    assert_eq!((position.fd, position.len), (true, 51));
    let longer = SMALL.replace("Position: 51", "Position: 65");
    assert_eq!(good(longer.as_bytes()).left_out, ["Position"]);
}

/// As cantools 45.1 counts them.
#[test]
fn reads_the_figures_cantools_reads() {
    assert_eq!(figures(&good(VEHICLE)), (217, 462, 877, 34_029_108_024, 0));
    assert_eq!(figures(&good(ABS)), (18, 89, 144, 13_088, 180));
    let first = &good(VEHICLE).messages[0];
    assert_eq!((&first.name[..], first.id.raw(), first.len), ("RT_SB_INS_Vel_Body_Axes", 0x0958_8322, 8));
}

#[test]
fn an_error_names_its_line() {
    let refused = |bytes: String| read_dbc(bytes.as_bytes()).expect_err("an error is in it");
    let error = refused(SMALL.replace("0|16@1+", "0|16@7+"));
    assert!(matches!(error, DatabaseError::Syntax { line: 6, .. }), "{error}");
    assert!(error.to_string().contains("line 6"), "{error}");
    // 16 bits of it would be an identifier.
    let error = refused(SMALL.replace("BO_ 257 ", "BO_ 65793 "));
    assert_eq!(error, DatabaseError::Identifier { line: 11, raw: 65_793 });
    let error = refused(SMALL.replace("BO_ 257 ", "BO_ 99999999999999999999 "));
    assert!(matches!(error, DatabaseError::Identifier { line: 11, .. }), "{error}");
    let error = refused(SMALL.replace("BO_ 257 Camera", "BO_ 256 Camera"));
    assert!(matches!(&error, DatabaseError::SameIdentifier { line: 11, other, .. } if other == "Speed"), "{error}");
    let error = refused("VERSION \"\"\n\nBU_: A\n".into());
    assert_eq!(error, DatabaseError::Empty);
    let cut = refused(SMALL[..SMALL.find("[0|655").unwrap() + 5].into());
    assert!(matches!(cut, DatabaseError::Syntax { line: 6, .. }), "{cut}");
}

#[test]
fn windows_text_is_read() {
    let mut bytes = SMALL.as_bytes().to_vec();
    let at = SMALL.find("km/h").unwrap();
    bytes.splice(at..at + 4, [0xb0, b'C']);
    assert_eq!(good(&bytes).messages[0].signals[0].unit, "°C");
}

#[test]
fn a_table_or_a_log_is_no_database() {
    for text in ["name,from,to,period,frame\n", "(0.0) can0 123#01\n", "VERSION,a\n", ""] {
        assert!(!is_database(text.as_bytes()), "{text}");
    }
    assert!(is_database(VEHICLE) && is_database(ABS));
}
