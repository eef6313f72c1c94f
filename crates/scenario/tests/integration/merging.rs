//! Nodes that come into a group later: what is accepted, and what a person sees for each thing that is wrong.

use chronoseal_core::NodeId;
use chronoseal_groupkey::Scheme;
use chronoseal_plan::ChangeKind;
use chronoseal_plan::Plan;
use chronoseal_scenario::{Code, NoFiles, Problems, load};

/// Three members, of whom the third is removed for a time, and two nodes that come in together.
const MERGING: &str = "schema_version = 2
name = \"merging\"
duration = \"4s\"

[segments.bus.can]
bit_rate = \"500kbit/s\"
data_bit_rate = \"2Mbit/s\"

[segments.other.can]
bit_rate = \"500kbit/s\"

[keys.bus.group]
orchestrator = \"gate\"
members = [\"a\", \"b\", \"c\"]
scheme = \"full-tree\"
start = \"100ms\"
changes = [
    { at = \"1s\", remove = \"c\" },
    { at = \"2s\", merge = [\"lamp\", \"axle\"] },
    { at = \"3s\", add = \"c\" },
]

[[nodes]]
name = \"gate\"
on = [\"bus\"]

[[nodes]]
name = \"a\"
on = [\"bus\"]

[[nodes]]
name = \"axle\"
on = [\"bus\"]

[[nodes]]
name = \"b\"
on = [\"bus\"]

[[nodes]]
name = \"c\"
on = [\"bus\"]

[[nodes]]
name = \"lamp\"
on = [\"bus\"]

[[nodes]]
name = \"far\"
on = [\"other\"]
";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
const CASES: &[(&str, Code, &str, &str)] = &[
    ("merge_of_a_member", Code::BadGroup, "\"lamp\", \"axle\"", "\"lamp\", \"b\""),
    ("merge_of_a_removed_member", Code::BadGroup, "\"lamp\", \"axle\"", "\"lamp\", \"c\""),
    (
        "merge_of_a_revoked_node",
        Code::BadGroup,
        "remove = \"c\" },\n    { at = \"2s\", merge = [\"lamp\", \"axle\"] },\n    { at = \"3s\", add = \"c\" }",
        "revoke = \"c\" },\n    { at = \"2s\", merge = [\"lamp\", \"c\"] }",
    ),
    ("merge_of_the_orchestrator", Code::BadGroup, "\"lamp\", \"axle\"", "\"gate\""),
    ("merge_of_one_twice", Code::BadGroup, "\"lamp\", \"axle\"", "\"lamp\", \"lamp\""),
    ("merge_of_one_that_came_before", Code::BadGroup, "add = \"c\"", "merge = [\"axle\"]"),
    ("merge_of_nobody", Code::MissingKey, "\"lamp\", \"axle\"", ""),
    ("merge_of_a_node_elsewhere", Code::BadGroup, "\"lamp\", \"axle\"", "\"lamp\", \"far\""),
    ("merge_of_an_unknown_node", Code::UnknownName, "\"lamp\", \"axle\"", "\"lamp\", \"axel\""),
    ("merge_before_the_first_key", Code::BadGroup, "at = \"1s\", remove = \"c\"", "at = \"100ms\", merge = [\"axle\"]"),
    ("merge_at_the_time_of_another_change", Code::BadGroup, "at = \"2s\"", "at = \"1s\""),
    ("merge_after_the_end", Code::BadGroup, "at = \"3s\", add = \"c\"", "at = \"4s\", add = \"c\""),
    ("merge_and_removal_in_one", Code::ChooseOne, "remove = \"c\"", "remove = \"c\", merge = [\"axle\"]"),
    ("add_of_a_node_that_was_never_in", Code::BadGroup, "merge = [\"lamp\", \"axle\"]", "add = \"lamp\""),
    ("removal_before_the_merge", Code::BadGroup, "remove = \"c\"", "remove = \"lamp\""),
];

fn read(text: &str) -> Result<Plan, Problems> {
    load("merging.toml", text.as_bytes(), &[], &NoFiles)
}

fn plan(text: &str) -> Plan {
    read(text).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

#[test]
fn every_problem_of_a_merge_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        assert!(MERGING.contains(old), "{name}: the scenario has no {old}");
        let problems = read(&MERGING.replacen(old, new, 1)).expect_err(name);
        let found = problems.list().iter().find(|problem| problem.code == *code);
        let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
        assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn who_is_merged_has_the_places_behind_those_of_the_start() {
    let group = plan(MERGING).group_key.expect("a group");
    assert_eq!(group.members, [1, 3, 4, 5, 2].map(NodeId));
    assert_eq!(group.founders().collect::<Vec<_>>(), [1, 3, 4].map(NodeId));
    let merge = &group.changes[1];
    assert_eq!(
        (merge.kind, &merge.members[..], merge.admits()),
        (ChangeKind::Merge, &[NodeId(5), NodeId(2)][..], true)
    );
    assert_eq!(group.merge_of(NodeId(2)), Some(merge));
    assert_eq!(group.merge_of(NodeId(4)), None);
}

#[test]
fn by_default_all_but_those_that_come_later_are_in_from_the_start() {
    let group = plan(&MERGING.replacen("members = [\"a\", \"b\", \"c\"]\n", "", 1)).group_key.expect("a group");
    assert_eq!(group.founders().collect::<Vec<_>>(), [1, 3, 4].map(NodeId));
    // Whoever has come in can leave, and come back.
    let more = "{ at = \"3s\", add = \"c\" },\n    { at = \"3100ms\", remove = \"axle\" },\n    { at = \"3200ms\", add = \"axle\" }";
    assert_eq!(
        plan(&MERGING.replacen("{ at = \"3s\", add = \"c\" }", more, 1)).group_key.expect("a group").changes.len(),
        5
    );
}

/// As many members from the start as named, one that is merged, and a change more than that where it is asked for.
fn many(members: usize, merged: usize, scheme: &str) -> Result<Plan, Problems> {
    let mut text = format!(
        "schema_version = 2\nname = \"many\"\nduration = \"4s\"\n[segments.bus.can]\nbit_rate = \"500kbit/s\"\n\
         [keys.bus.group]\norchestrator = \"gate\"\nscheme = \"{scheme}\"\nchanges = [{{ at = \"1s\", merge = ["
    );
    (0..merged).for_each(|number| text += &format!("\"new{number}\", "));
    text += "] }]\n[[nodes]]\nname = \"gate\"\n";
    (0..members).for_each(|number| text += &format!("[[nodes]]\nname = \"ecu{number}\"\n"));
    (0..merged).for_each(|number| text += &format!("[[nodes]]\nname = \"new{number}\"\n"));
    read(&text)
}

#[test]
fn as_many_come_in_as_the_tree_has_places_and_no_more() {
    for scheme in Scheme::ALL {
        let limit = scheme.members_max();
        assert!(many(limit - 2, 2, scheme.name()).is_ok(), "{scheme:?}");
        let problems = many(limit - 2, 3, scheme.name()).expect_err("one too many");
        assert!(problems.render().contains(&format!("needs {} places", limit + 1)), "{}", problems.render());
        assert!(problems.render().contains("merge = ["), "it points at the merge: {}", problems.render());
    }
}

#[test]
fn as_many_changes_are_read_as_an_orchestrator_can_have_before_it() {
    let changes = |count: usize| {
        let one = |number: usize| {
            let what = if number.is_multiple_of(2) { "remove" } else { "add" };
            format!("{{ at = \"{}ms\", {what} = \"a\" }}, ", 200 + number)
        };
        let list: String = (0..count).map(one).collect();
        let begin = MERGING.find("changes = [").expect("it has changes");
        let end = MERGING.find("[[nodes]]").expect("it has nodes");
        read(&format!("{}changes = [{list}]\n{}", &MERGING[..begin], &MERGING[end..]))
    };
    assert_eq!(
        changes(15)
            .unwrap_or_else(|problems| panic!("{}", problems.render()))
            .group_key
            .expect("a group")
            .changes
            .len(),
        15
    );
    assert!(changes(16).expect_err("one too many").render().contains("at most 15"));
}

#[test]
fn who_counts_for_all_is_in_from_the_start() {
    let counted = "[[protections]]\nname = \"counted\"\nsecoc = { profile = 3 }\n\
                   [[streams]]\nname = \"torque\"\nfrom = \"a\"\nto = [\"b\"]\nlength = \"4B\"\nperiod = \"10ms\"\n\
                   protection = \"counted\"\nbus = { id = \"0x102\" }\n[freshness]\nperiod = \"50ms\"\nmaster = ";
    let problems = read(&format!("{MERGING}{counted}\"axle\"\n")).expect_err("nobody follows it");
    let found = problems.list().iter().find(|problem| problem.code == Code::BadFreshness).expect("a problem");
    assert!(found.message.contains("comes into the group only at 2s"), "{}", problems.render());
    assert!(read(&format!("{MERGING}{counted}\"b\"\n")).is_ok());
}
