//! Scenarios on a CAN bus: what is accepted, and what a person sees for each thing that is wrong.

use chronoseal_core::NodeId;
use chronoseal_groupkey::Installation;
use chronoseal_plan::Can;
use chronoseal_scenario::{Code, FileError, Files, NoFiles, load};

const BUS: &str = include_str!("bus.toml");

/// A log that ends in the middle of a frame, one without frames, a platform, and one that is none.
struct Beside;

impl Files for Beside {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "bus.log" => Ok(b"(0.000000) can0 123#0102\n(0.010000) can0 124#0304\n".to_vec()),
            "empty.log" => Ok(b"# nothing\n".to_vec()),
            "two.log" => Ok(b"(0.000000) can0 123#0102\n(0.010000) can1 124#0304\n".to_vec()),
            "broken.log" => {
                Ok(b"(0.000000) can0 123#0102\n(0.010000) can0 1234567890#\n(0.020000) can0 124#01\n".to_vec())
            }
            "mine.toml" => Ok(b"[[costs]]\noperation = \"fourq-sign\"\nbase = \"1ms\"\n".to_vec()),
            "none.toml" => Ok(b"costs = 3\n".to_vec()),
            _ => Err(FileError::Unknown),
        }
    }
}

/// The part of the scenario that says how a key comes to be.
const GROUP: &str = "[keys.bus.group]
orchestrator = \"gate\"
members = [\"a\", \"b\", \"c\"]
suite = \"fourq\"
scheme = \"full-tree\"
changes = [{ at = \"500ms\", remove = \"c\" }]
";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
pub(crate) const CASES: &[(&str, Code, &str, &str)] = &[
    ("bus_timing", Code::WrongNetwork, "duration = \"1s\"", "duration = \"1s\"\nfidelity = \"timing\""),
    ("bus_hmac", Code::FreshnessWithoutSlot, "secoc = { profile = 1 }", "hmac = { hash = \"sha-256\", tag = \"4B\" }"),
    ("bus_profile_4", Code::OutOfRange, "secoc = { profile = 1 }", "secoc = { profile = 4 }"),
    ("bus_id_too_large", Code::BadCanId, "id = \"0x100\"", "id = \"0x800\""),
    ("bus_id_decimal", Code::BadCanId, "id = \"0x100\"", "id = \"256\""),
    ("bus_id_twice", Code::BadCanId, "id = \"0x101\"", "id = \"0x100\""),
    ("bus_rate", Code::BadBitTiming, "\"500kbit/s\"", "\"5Mbit/s\""),
    ("bus_data_rate_below", Code::BadBitTiming, "\"2Mbit/s\"", "\"250kbit/s\""),
    ("bus_sample_point", Code::BadBitTiming, "sample_point = \"80%\"", "sample_point = \"10%\""),
    ("bus_brs_without_rate", Code::BadBitTiming, "data_bit_rate = \"2Mbit/s\"", ""),
    ("bus_length", Code::FrameTooLong, "length = \"4B\"", "length = \"5B\""),
    (
        "bus_segmented_to_many",
        Code::SegmentedToMany,
        "id = \"0x101\", format = \"fd-brs\"",
        "id = \"0x101\", format = \"fd-brs\", segmented = { flow_control = \"0x109\" }",
    ),
    (
        "bus_segmented_id_taken",
        Code::BadCanId,
        "id = \"0x100\"",
        "id = \"0x100\", segmented = { flow_control = \"0x101\" }",
    ),
    (
        "bus_segmented_id_its_own",
        Code::BadCanId,
        "id = \"0x100\"",
        "id = \"0x100\", segmented = { flow_control = \"0x100\" }",
    ),
    (
        "bus_segmented_without_answer",
        Code::MissingKey,
        "id = \"0x100\"",
        "id = \"0x100\", segmented = { block_size = 4 }",
    ),
    (
        "bus_segmented_st_min",
        Code::OutOfRange,
        "id = \"0x100\"",
        "id = \"0x100\", segmented = { flow_control = \"0x108\", st_min = \"950us\" }",
    ),
    (
        "bus_segmented_waits_too_long",
        Code::OutOfRange,
        "id = \"0x100\"",
        "id = \"0x100\", segmented = { flow_control = \"0x108\", n_bs = \"2s\" }",
    ),
    (
        "bus_segmented_too_long",
        Code::FrameTooLong,
        "bus = { id = \"0x100\" }\nlength = \"4B\"",
        "bus = { id = \"0x100\", segmented = { flow_control = \"0x108\" } }\nlength = \"70kB\"",
    ),
    ("bus_address_twice", Code::BadAddress, "name = \"b\"", "name = \"b\"\naddress = 7"),
    ("bus_address_reserved", Code::OutOfRange, "address = 7", "address = 0"),
    ("bus_group_of_one", Code::BadGroup, "members = [\"a\", \"b\", \"c\"]", "members = [\"a\"]"),
    ("bus_member_twice", Code::BadGroup, "members = [\"a\", \"b\", \"c\"]", "members = [\"a\", \"b\", \"b\"]"),
    ("bus_orchestrator_is_member", Code::BadGroup, "orchestrator = \"gate\"", "orchestrator = \"a\""),
    ("bus_unknown_member", Code::UnknownName, "members = [\"a\", \"b\", \"c\"]", "members = [\"a\", \"b\", \"d\"]"),
    ("bus_unknown_suite", Code::UnknownValue, "suite = \"fourq\"", "suite = \"four-q\""),
    ("bus_add_of_a_member", Code::BadGroup, "remove = \"c\"", "add = \"c\""),
    (
        "bus_add_of_a_revoked_member",
        Code::BadGroup,
        "{ at = \"500ms\", remove = \"c\" }",
        "{ at = \"500ms\", revoke = \"c\" }, { at = \"700ms\", add = \"c\" }",
    ),
    (
        "bus_revoke_of_a_removed_member",
        Code::BadGroup,
        "{ at = \"500ms\", remove = \"c\" }",
        "{ at = \"500ms\", remove = \"c\" }, { at = \"700ms\", revoke = \"c\" }",
    ),
    ("bus_change_of_two_kinds", Code::ChooseOne, "remove = \"c\" }", "remove = \"c\", revoke = \"c\" }"),
    ("bus_change_too_late", Code::BadGroup, "at = \"500ms\"", "at = \"2s\""),
    ("bus_attack_without_group", Code::BadGroup, GROUP, ""),
    ("bus_attack_unknown_message", Code::UnknownName, "stream = \"speed\"", "stream = \"sped\""),
    ("bus_attack_too_late", Code::ThreatTooLate, "start = \"300ms\"", "start = \"3s\""),
    ("bus_log_broken", Code::BadRecording, "file = \"bus.log\"", "file = \"broken.log\""),
    ("bus_log_empty", Code::BadRecording, "file = \"bus.log\"", "file = \"empty.log\""),
    ("bus_log_of_two_channels", Code::BadRecording, "file = \"bus.log\"", "file = \"two.log\""),
    ("bus_platform_unknown", Code::UnknownName, "builtin = \"tc297\"", "builtin = \"tc279\""),
    ("bus_platform_file", Code::BadPlatform, "file = \"mine.toml\"", "file = \"none.toml\""),
];

/// A message of profile 3, and the master that it needs, behind the rest of the scenario.
const COUNTED: &str = "
[[protections]]
name = \"counted\"
secoc = { profile = 3 }

[[streams]]
name = \"torque\"
from = \"b\"
to = [\"gate\"]
bus = { id = \"0x102\" }
length = \"4B\"
period = \"10ms\"
protection = \"counted\"

[freshness]
master = \"gate\"
period = \"50ms\"
";

/// As [`CASES`], with [`COUNTED`].
pub(crate) const COUNTED_CASES: &[(&str, Code, &str, &str)] = &[
    ("bus_counted_by_nobody", Code::BadFreshness, "[freshness]\nmaster = \"gate\"\nperiod = \"50ms\"\n", ""),
    ("bus_counted_outside", Code::BadFreshness, "to = [\"gate\"]", "to = [\"rest\"]"),
    ("bus_counted_master_removed", Code::BadFreshness, "master = \"gate\"", "master = \"c\""),
    ("bus_counted_id_taken", Code::BadCanId, "master = \"gate\"", "id = \"0x101\""),
    ("bus_counted_too_often", Code::OutOfRange, "period = \"50ms\"", "period = \"100us\""),
    ("bus_counted_too_long", Code::OutOfRange, "duration = \"1s\"", "duration = \"60000s\""),
    (
        "bus_counted_length",
        Code::FrameTooLong,
        "length = \"4B\"\nperiod = \"10ms\"\nprotection = \"counted\"",
        "length = \"5B\"\nperiod = \"10ms\"\nprotection = \"counted\"",
    ),
];

#[test]
fn every_problem_of_a_bus_is_shown_with_its_place() {
    let counted = format!("{BUS}{COUNTED}");
    // Who has no group has no orchestrator that could count.
    let by_nobody =
        counted.replacen(GROUP, "", 1).replacen("[[threats]]\nname = \"mallory\"\nkind = \"reflected-share\"\n", "", 1);
    let plain = CASES.iter().map(|case| (BUS, case));
    let others =
        COUNTED_CASES.iter().enumerate().map(|(index, case)| (if index == 0 { &*by_nobody } else { &*counted }, case));
    for (bus, (name, code, old, new)) in plain.chain(others) {
        assert!(bus.contains(old), "{name}: the scenario has no {old}");
        let text = bus.replacen(old, new, 1);
        let problems = load("bus.toml", text.as_bytes(), &[], &Beside).expect_err(name);
        let codes: Vec<Code> = problems.list().iter().map(|problem| problem.code).collect();
        assert!(codes.contains(code), "{name}: {codes:?}");
        let found = problems.list().iter().find(|problem| problem.code == *code).expect("found above");
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn the_whole_scenario_is_a_plan() {
    let plan =
        load("bus.toml", BUS.as_bytes(), &[], &Beside).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let group = plan.group_key.as_ref().expect("a group");
    assert_eq!((group.members.len(), group.changes.len(), group.suite.name()), (3, 1, "fourq"));
    let addresses: Vec<u8> = plan.nodes.iter().map(|node| node.address).collect();
    assert_eq!(addresses, [1, 7, 2, 3, 4], "written ones stay, the others get the next free");
    let bus = Can::first(&plan).expect("it is one");
    let messages: Vec<_> = bus.messages().collect();
    assert_eq!(bus.secured_len(&messages[0]), 8);
    assert!(bus.protection_of(&messages[0]).needs_group_key());
    assert_eq!(bus.recordings().next().map(|(_, _, recording)| recording.frames.len()), Some(2));
    assert_eq!(plan.platforms[2].cost("fourq-sign", 0).as_us_f64(), 1000.0);
}

/// Where the source ends, a removed node can bring the old key back; whoever wants that has to write it.
#[test]
fn a_key_waits_for_every_members_word_unless_something_else_is_written() {
    let installation = |more: &str| {
        let text = BUS.replacen("suite = \"fourq\"", &format!("suite = \"fourq\"\n{more}"), 1);
        let plan = load("bus.toml", text.as_bytes(), &[], &Beside);
        plan.unwrap_or_else(|problems| panic!("{}", problems.render())).group_key.expect("a group").installation
    };
    for profile in ["profile = \"hardened\"\n", "profile = \"as-published\"\n"] {
        assert_eq!(installation(profile), Installation::Confirmed, "{profile}");
        let more = format!("{profile}installation = \"unconfirmed\"\n");
        assert_eq!(installation(&more), Installation::Unconfirmed, "{profile}");
    }
}

#[test]
fn messages_of_profile_3_have_a_master_and_slaves() {
    let load = |text: String| {
        load("bus.toml", text.as_bytes(), &[], &Beside).unwrap_or_else(|problems| panic!("{}", problems.render()))
    };
    let plan = load(format!("{BUS}{COUNTED}"));
    let freshness = plan.freshness.as_ref().expect("a message needs it");
    assert_eq!((freshness.master, &freshness.slaves[..]), (NodeId(0), &[NodeId(2)][..]));
    assert_eq!((freshness.period.as_ms_f64(), freshness.under_group_key), (50.0, true));
    let (synchronisation, ..) = Can::first(&plan).and_then(Can::synchronisation).expect("a message of its own");
    assert_eq!(synchronisation.index(), plan.streams.len() - 1, "behind messages and recordings");
    // The orchestrator counts if nobody else is named; where no message needs a master there is none.
    let (without, _) = COUNTED.split_once("[freshness]").expect("it has the table");
    assert_eq!(load(format!("{BUS}{without}")).freshness.map(|freshness| freshness.master), Some(NodeId(0)));
    let unused = load(format!("{BUS}[freshness]\nmaster = \"a\"\n"));
    assert!(
        unused.freshness.is_none() && unused.notes.iter().any(|note| note.contains("master")),
        "{:?}",
        unused.notes
    );
}

#[test]
fn a_bus_has_as_many_nodes_as_there_are_addresses() {
    let scenario = |count: usize| {
        let nodes: String = (0..count).map(|index| format!("[[nodes]]\nname = \"n{index}\"\n")).collect();
        let text = format!(
            "schema_version = 2\nname = \"x\"\nduration = \"1s\"\n[segments.b.can]\nbit_rate = \"500kbit/s\"\n{nodes}"
        );
        load("x.toml", text.as_bytes(), &[], &NoFiles)
    };
    assert_eq!(scenario(255).unwrap_or_else(|problems| panic!("{}", problems.render())).nodes[254].address, 255);
    let problems = scenario(256).expect_err("one too many");
    assert!(problems.render().contains("at most 255"), "{}", problems.render());
}
