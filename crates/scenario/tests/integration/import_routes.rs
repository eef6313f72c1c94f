//! A database for each bus and a table of routes become a scenario of several segments.

use crate::support::plan;
use chronoseal_plan::{Can, SegmentId};
use chronoseal_scenario::import::{Database, from_databases, warnings};
use chronoseal_scenario::{Code, Problems};

/// The pedal's bus: its request goes on, the temperature stays.
const FRONT: &str = r#"VERSION ""
BU_: Pedal Zone Dash
BO_ 160 BrakeRequest: 8 Pedal
 SG_ Force : 0|16@1+ (1,0) [0|0] "N" Dash
BO_ 416 OilTemperature: 4 Pedal
 SG_ Oil : 0|8@1+ (1,0) [0|0] "C" Vector__XXX
BO_ 512 Lamp: 2 Dash
 SG_ On : 0|1@1+ (1,0) [0|0] "" Pedal
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 10000;
BA_DEF_DEF_ "GenMsgCycleTime" 0;
BA_ "GenMsgCycleTime" BO_ 160 10;
"#;

/// The brakes' bus: the request comes from the gateway, under another identifier.
const REAR: &str = r#"VERSION ""
BU_: Zone BrakeLeft BrakeRight
BO_ 80 BrakeRequest: 8 Zone
 SG_ Force : 0|16@1+ (1,0) [0|0] "N" BrakeLeft,BrakeRight
BO_ 512 Wear: 2 BrakeLeft
 SG_ Wear : 0|8@1+ (1,0) [0|0] "mm" Vector__XXX
"#;

/// A third bus, whose database says nothing of what comes from elsewhere.
const LOG: &str = r#"VERSION ""
BU_: Logger Zone2
BO_ 1 Heartbeat: 1 Logger
"#;

const ROUTES: &str =
    "# what goes on\nmessage,from,to,gateway\nBrakeRequest,front,rear,Zone\nBrakeRequest,rear,log,Zone2\n";

fn buses() -> Vec<(&'static str, &'static str)> {
    vec![("cars/front.dbc", FRONT), ("rear.dbc", REAR), ("log.dbc", LOG)]
}

fn scenario(buses: &[(&str, &str)], routes: &str) -> Result<String, Problems> {
    let databases: Vec<Database<'_>> =
        (buses.iter()).map(|(source_name, text)| Database { source_name, bytes: text.as_bytes() }).collect();
    from_databases(&databases, "routes.csv", routes.as_bytes())
}

#[test]
fn databases_and_routes_become_segments_gateways_and_streams() {
    let text = scenario(&buses(), ROUTES).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    let segments: Vec<&str> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(segments, ["front", "rear", "log"]);
    let gateways: Vec<(&str, usize)> = (plan.nodes.iter().filter(|node| node.gateway.is_some()))
        .map(|node| (node.name.as_str(), node.interfaces.len()))
        .collect();
    assert_eq!(gateways, [("Zone", 2), ("Zone2", 2)]);
    let request = plan.streams.iter().find(|stream| stream.name == "BrakeRequest").expect("it is carried");
    let name = |id: &chronoseal_core::NodeId| plan.nodes[id.index()].name.as_str();
    assert_eq!(request.receivers.iter().map(name).collect::<Vec<_>>(), ["Dash", "BrakeLeft", "BrakeRight", "Logger"]);
    let ids: Vec<u32> = (0..3)
        .map(|bus| {
            Can::of(&plan, SegmentId(bus)).expect("a bus").messages().find(|one| one.stream.name == "BrakeRequest")
        })
        .map(|message| message.expect("it is there").id.raw())
        .collect();
    assert_eq!(ids, [160, 80, 160], "as each database says, or else as before");
    assert_eq!(request.period, chronoseal_core::Duration::from_ms(10));
    // Its copy on the brakes' bus is no stream of its own, and what stays has its bus's other nodes as receivers.
    assert_eq!(plan.streams.len(), 5);
    assert_eq!(plan.streams[1].receivers.len(), 2);
    insta::assert_snapshot!("scenario_from_routes", text);
}

#[test]
fn where_gateways_stand_in_a_circle_the_table_says_which_is_passed() {
    let triangle =
        "message,from,to,gateway\nBrakeRequest,front,rear,Zone\nBrakeRequest,rear,log,Zone2\nLamp,front,log,Zone3\n";
    let text = scenario(&buses(), triangle).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(text.contains("via = [\"Zone\", \"Zone2\"]") && text.contains("via = [\"Zone3\"]"), "{text}");
    let plan = plan(&text);
    let request = plan.streams.iter().find(|stream| stream.name == "BrakeRequest").expect("it is carried");
    assert_eq!(request.hops.len(), 3);
    assert!(!scenario(&buses(), ROUTES).expect("right").contains("via"), "one way needs no choice");
}

#[test]
fn rows_that_cannot_be_followed_say_so_with_their_place() {
    let row = |row: &str| format!("message,from,to,gateway\n{row}\n");
    for (routes, place, message, help) in [
        (
            row("BrakeRequst,front,rear,Zone"),
            "BrakeRequst,front,rear,Zone",
            "`front` has no message `BrakeRequst`",
            "did you mean `BrakeRequest`?",
        ),
        (
            row("BrakeRequest,front,raer,Zone"),
            "BrakeRequest,front,raer,Zone",
            "there is no bus `raer`",
            "did you mean `rear`?",
        ),
        (
            row("BrakeRequest,front,front,Zone"),
            "BrakeRequest,front,front,Zone",
            "the message goes from `front` to itself",
            "name another bus",
        ),
        (
            row("BrakeRequest,front,rear,"),
            "BrakeRequest,front,rear,",
            "`gateway` is empty",
            "write `message,from,to,gateway`",
        ),
        (
            row("BrakeRequest,front,rear,the zone"),
            "BrakeRequest,front,rear,the zone",
            "the gateway `the zone` is no plain name",
            "begin with a letter",
        ),
        (
            row("Lamp,front,rear,Zone"),
            "Lamp,front,rear,Zone",
            "`Lamp` keeps its identifier 0x200 on `rear`, where `Wear` has it",
            "add the message to the database of `rear`",
        ),
        (
            row("Lamp,front,log,Zone\nLamp,front,log,Zone2"),
            "Lamp,front,log,Zone2",
            "`Lamp` goes from `front` to `log` already",
            "leave the row out",
        ),
        (
            row(
                "Lamp,front,log,Zone\nBrakeRequest,front,rear,Zone\nBrakeRequest,front,log,Zone\nBrakeRequest,rear,log,Zone2",
            ),
            "BrakeRequest,rear,log,Zone2",
            "`BrakeRequest` comes to `log` twice",
            "keep one",
        ),
        (
            row("BrakeRequest,front,rear,Zone\nBrakeRequest,rear,front,Zone"),
            "BrakeRequest,front,rear,Zone",
            "`BrakeRequest` goes round in a circle and begins nowhere",
            "leave out the row",
        ),
        ("message,from,to\nLamp,front,log\n".to_owned(), "message,from,to", "the column `gateway` is missing", "write"),
    ] {
        let problems = scenario(&buses(), &routes).expect_err(message);
        let problem = &problems.list()[0];
        assert_eq!((problem.code, problem.message.as_str()), (Code::ImportCsv, message));
        assert_eq!(&routes[problem.labels[0].0.clone()], place, "{message}");
        assert!(problem.help.as_ref().is_some_and(|told| told.contains(help)), "{message}: {:?}", problem.help);
    }
    let twice = scenario(&[("a/body.dbc", FRONT), ("b/body.dbc", REAR)], ROUTES).expect_err("two of one name");
    assert_eq!(
        (twice.list()[0].code, twice.list()[0].message.as_str()),
        (Code::ImportDatabase, "two databases are of a bus `body`")
    );
    assert_eq!(
        scenario(&[("front.dbc", "BO_ x")], ROUTES).expect_err("no database").list()[0].code,
        Code::ImportDatabase
    );
}

#[test]
fn a_message_with_a_bad_number_is_left_out_of_its_bus_with_a_warning() {
    let front = FRONT.replace("BO_ 416 ", "BO_ 4096 ");
    let mut buses = buses();
    buses[0].1 = &front;
    let text = scenario(&buses, ROUTES).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let told: Vec<_> = warnings(&text).collect();
    assert!(matches!(told[..], [one] if one.contains("cars/front.dbc") && one.contains("OilTemperature")), "{told:?}");
    assert!(plan(&text).streams.iter().all(|stream| stream.name != "OilTemperature"));
}

#[test]
fn a_bus_that_the_usual_rate_does_not_hold_gets_a_faster_one_and_late_messages_a_deadline() {
    let mut rear = REAR.to_owned();
    (0..400).for_each(|i| rear += &format!("BO_ {} M{i}: 8 BrakeLeft\n", 600 + i));
    rear += "BO_ 1999 Late: 8 BrakeLeft\nBA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 10000;\nBA_DEF_DEF_ \"GenMsgCycleTime\" 0;\n";
    rear += "BA_ \"GenMsgCycleTime\" BO_ 1999 20;\n";
    let text = scenario(
        &[("front.dbc", FRONT), ("rear.dbc", &rear)],
        "message,from,to,gateway\nBrakeRequest,front,rear,Zone\n",
    )
    .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    let rate = |segment| Can::of(&plan, SegmentId(segment)).expect("it is one").segment.timing.nominal_bit().as_ns();
    assert_eq!((rate(0), rate(1)), (2_000, 1_000), "{text}");
    let late: Vec<&str> =
        plan.streams.iter().filter(|one| one.deadline > Some(one.period)).map(|one| one.name.as_str()).collect();
    assert_eq!(late, ["Late"]);
    assert!(text.contains("# Assumed: deadlines of 1 messages"), "{text}");
}
