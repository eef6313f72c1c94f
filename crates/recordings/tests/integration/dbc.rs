use chronoseal_core::Duration;
use chronoseal_recordings::{Database, DatabaseError, is_database, read_dbc};
use chronoseal_wire::can::CanId;

/// cantools, MIT: see data/SOURCES.md.
pub(super) const VEHICLE: &[u8] = include_bytes!("../fixtures/cantools_vehicle.dbc");
pub(super) const ABS: &[u8] = include_bytes!("../fixtures/cantools_abs.dbc");

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
    let error = refused(SMALL.replace("BU_: Engine", "BU_: \"Engine\""));
    assert!(matches!(error, DatabaseError::Syntax { line: 3, .. }), "{error}");
    assert!(error.to_string().contains("line 3"), "{error}");
    let error = refused("VERSION \"\"\n\nBU_: A\n".into());
    assert_eq!(error, DatabaseError::Empty);
    // Nothing else is left of it.
    let cut = refused(SMALL[..SMALL.find("BO_ 256").unwrap() + 15].into());
    assert!(matches!(cut, DatabaseError::Syntax { line: 5, .. }), "{cut}");
    let many = "BA_ \"A\" nothing;\n".repeat(21);
    let error = refused(SMALL.replace("BA_DEF_ BO_", &format!("{many}BA_DEF_ BO_")));
    assert!(matches!(error, DatabaseError::Syntax { line: 17, .. }), "{error}");
}

/// The faults of what `SMALL` becomes, and the names of the messages left.
fn left(text: &str) -> (Vec<String>, Vec<String>) {
    let database = good(text.as_bytes());
    let names = database.messages.into_iter().map(|message| message.name).collect();
    (database.faults.iter().map(ToString::to_string).collect(), names)
}

#[test]
fn what_cannot_be_read_costs_itself_and_nothing_else() {
    let all = ["Speed", "Lights", "Camera", "Position"];
    for (from, to, line, names) in [
        ("0|16@1+", "0|16@7+", 6, &all[..]),
        ("BO_ 257 Camera: 48 Gateway", "BO_ 257 Camera 48 Gateway", 11, &["Speed", "Lights", "Position"]),
        ("BO_ 2566844926 Lights: 3", "BO_ 2566844926 Lights 3", 8, &["Speed", "Camera", "Position"]),
        // As canmatrix writes it.
        ("BA_DEF_DEF_ ", "BA_DEF_ BO_ \"GenMsgSendType\" ENU;\nBA_DEF_DEF_ ", 18, &all),
        (
            "BA_DEF_DEF_ ",
            "BA_DEF_ BO_ \"Sendable\" BOOL False True;\nBA_ \"Sendable\" BO_ 256 False;\nBA_ \"Sendable\" BO_ 257 True;\nBA_DEF_DEF_ ",
            18,
            &all,
        ),
        ("BA_DEF_DEF_ ", "CM_ BO_ 256 said \"over\nlines; and more\";\nBA_DEF_DEF_ ", 18, &all),
        ("BO_ 257 Camera", "BO_ 256 Camera", 11, &["Speed", "Lights", "Position"]),
    ] {
        let text = SMALL.replacen(from, to, 1);
        let (faults, found) = left(&text);
        assert_eq!(found, names, "{to}: {faults:?}");
        assert!(matches!(&faults[..], [fault] if fault.contains(&format!("line {line}:"))), "{to}: {faults:?}");
    }
    // What stands behind it still holds.
    let text = SMALL.replacen("BA_DEF_DEF_ ", "BA_ \"GenMsgCycleTime\" BO_ 256 x;\nBA_DEF_DEF_ ", 1);
    assert_eq!(good(text.as_bytes()).messages[0].cycle_time, Some(Duration::from_ms(20)));
    // A quote that is never closed takes nothing with it.
    let open = SMALL.replacen("BA_DEF_DEF_ ", "CM_ \"open;\nBA_DEF_DEF_ ", 1) + &"\n".repeat(300);
    assert!(matches!(read_dbc(open.as_bytes()), Err(DatabaseError::Syntax { .. })));
}

#[test]
fn a_message_whose_number_is_no_identifier_is_left_out_and_no_other() {
    // 16 bits of 65792 are 256, the identifier of another message with a cycle time of its own.
    for raw in [65_792, 65_793, 2048, u64::MAX] {
        let written = if raw == u64::MAX { "99999999999999999999".to_owned() } else { raw.to_string() };
        let said =
            format!("BA_ \"GenMsgCycleTime\" BO_ {written} 2048;\nCM_ BO_ {written} \"BO_ {written} is quoted\";\n");
        let text = SMALL
            .replace("BO_ 257 Camera", &format!("BO_ {written} Camera"))
            .replace("BA_ \"GenMsgCycleTime\" BO_ 257 0;\n", &said);
        let (whole, found) = (good(SMALL.as_bytes()), good(text.as_bytes()));
        let others: Vec<_> = whole.messages.into_iter().filter(|message| message.name != "Camera").collect();
        assert_eq!(found.messages, others, "{raw}");
        let [bad] = &found.misnumbered[..] else { panic!("{:?}", found.misnumbered) };
        assert_eq!((bad.line, &bad.name[..], bad.raw), (11, "Camera", raw));
        assert!(bad.to_string().contains("line 11: message Camera is left out"), "{bad}");
    }
    // A cycle time that happens to be such a number is none.
    let text = SMALL.replace("BO_ 257 Camera", "BO_ 2048 Camera").replace("BO_ 257 0", "BO_ 258 2048");
    let position = good(text.as_bytes()).messages.pop().expect("it is the last");
    assert_eq!((&position.name[..], position.cycle_time), ("Position", Some(Duration::from_ms(2048))));
    // If none is left, there is nothing to give.
    let error = read_dbc(b"VERSION \"\"\n\nBU_: A\n\nBO_ 4096 Only: 8 A\n").expect_err("no message is left");
    assert!(matches!(&error, DatabaseError::Identifier(bad) if bad.raw == 4096), "{error}");
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
    for text in [
        "name,from,to,period,frame\n",
        "(0.0) can0 123#01\n",
        "VERSION,a\n",
        "VERSION;name;from\n",
        "VERSION\tname\tfrom\n",
        "NS_name;from;to\n",
        "BU_;from\n",
        "BO_ name;from\n",
        "CM_,name,from\n",
        "CM_ name from\n",
        "VAL_;name;from\n",
        "",
    ] {
        assert!(!is_database(text.as_bytes()), "{text}");
    }
    for text in [
        "VERSION \"\"\n",
        "NS_ :\n",
        "BS_:\n",
        "BU_: A B\n",
        "\n// a remark\nBO_ 256 Speed: 8 Engine\n",
        "CM_ \"said first\";\n",
        "CM_ BO_ 256 \"begun\nand ended\";",
        "\u{feff}BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 1000;\n",
    ] {
        assert!(is_database(text.as_bytes()), "{text}");
    }
    assert!(is_database(VEHICLE) && is_database(ABS));
}
