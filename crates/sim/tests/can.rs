//! Plans on a CAN bus, in virtual time.

use std::collections::BTreeMap;

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, Event, NodeId, SimTime};
use chronoseal_plan::Plan;
use chronoseal_plan::{ChangeKind, GroupChange};
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{Fingerprint, FrameContext, Observer};

/// Events by node and kind.
#[derive(Default)]
struct Counted(BTreeMap<(NodeId, &'static str), Vec<SimTime>>);

impl Observer for Counted {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        self.0.entry((node, event.kind.name())).or_default().push(at);
    }
}

impl Counted {
    fn of(&self, node: u16, kind: &'static str) -> usize {
        self.0.get(&(NodeId(node), kind)).map_or(0, Vec::len)
    }
}

fn plan(members: usize, scheme: &str, profile: &str, suite: &str, more: &str) -> Plan {
    let mut text = format!(
        "schema_version = 2\nname = \"group\"\nduration = \"3s\"\n\
         [segments.bus.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\
         [keys.bus.group]\norchestrator = \"gateway\"\nscheme = \"{scheme}\"\nprofile = \"{profile}\"\nsuite = \"{suite}\"\n\
         [[nodes]]\nname = \"gateway\"\n"
    );
    for member in 1..=members {
        text += &format!("[[nodes]]\nname = \"ecu{member}\"\n");
    }
    text += more;
    load("group.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn run(plan: &Plan) -> (Counted, String) {
    let observer = (Counted::default(), Fingerprint::of_bytes());
    let prepared = Prepared::new(plan).expect("a bus needs no schedule");
    let finished = chronoseal_sim::run(&prepared, observer, &mut |_| true).expect("the plan's stations can be made");
    assert!(finished.is_whole);
    let (counted, fingerprint) = finished.observer;
    (counted, fingerprint.finish())
}

#[test]
fn every_member_comes_to_a_key_by_every_scheme_and_profile() {
    for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
        for profile in ["as-published", "hardened"] {
            let (counted, _) = run(&plan(5, scheme, profile, "fourq", ""));
            for node in 0..=5 {
                assert_eq!(counted.of(node, "key-installed"), 1, "{scheme}, {profile}, node {node}: {:?}", counted.0);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let plan = plan(3, "full-tree", "hardened", "x25519-ed25519", "");
    assert_eq!(run(&plan).1, run(&plan).1);
}

#[test]
fn messages_wait_for_the_key_and_are_believed_from_then_on() {
    let more = "[[protections]]\nname = \"sealed\"\nsecoc = { profile = 1 }\n\
                [[streams]]\nname = \"speed\"\nfrom = \"ecu1\"\nto = [\"ecu2\", \"ecu3\"]\nbus = { id = \"0x100\" }\n\
                length = \"4B\"\nperiod = \"1ms\"\nprotection = \"sealed\"\n\
                [[platforms]]\nname = \"slow\"\nbuiltin = \"tc297\"\ncosts = [{ operation = \"cmac-aes-128\", base = \"0s\" }]\n";
    let mut plan = plan(3, "without-orchestrator", "hardened", "fourq", more);
    for node in &mut plan.nodes {
        node.platform.0 = 1;
    }
    let (counted, _) = run(&plan);
    let (withheld, sent) = (counted.of(1, "withheld"), counted.of(1, "sent"));
    assert!(withheld > 20, "{withheld} messages were due before the key was there");
    assert!(sent > 2_000, "{sent}");
    assert_eq!(counted.of(2, "delivered") + counted.of(2, "discarded"), sent);
    assert!(counted.of(2, "discarded") <= 2, "{} discarded", counted.of(2, "discarded"));
}

#[test]
fn no_attack_on_an_exchange_gives_anybody_a_key_of_the_attackers_making() {
    let kinds = [
        "\"swapped-addresses\"",
        "\"reflected-share\"",
        "\"small-order-share\"",
        "\"truncated-confirmation\"",
        "\"forged-confirmation\"",
        "\"impersonated-orchestrator\"",
        "\"forged-commit\"",
        "{ replayed_orchestration = { after = \"50ms\" } }",
    ];
    let clean = run(&plan(3, "without-orchestrator", "hardened", "fourq", "")).0;
    assert_eq!(clean.of(1, "exchange-aborted"), 0);
    for kind in kinds {
        let more = format!("[[threats]]\nname = \"mallory\"\nkind = {kind}\ncount = 3\n");
        let (counted, _) = run(&plan(3, "without-orchestrator", "hardened", "fourq", &more));
        assert!(counted.of(4, "attacked") > 0, "{kind}: nothing was tried");
        let installed: usize = (0..4).map(|node| counted.of(node, "key-installed")).sum();
        // Either the attack comes to nothing and all have the key, or the exchange is given up and nobody has one.
        assert!(installed == 4 || installed == 0, "{kind}: {installed} have a key");
        if installed == 0 {
            let given_up: usize =
                (0..4).map(|node| counted.of(node, "exchange-aborted") + counted.of(node, "key-refused")).sum();
            assert!(given_up > 0, "{kind}: nobody says why");
        }
    }
}

#[test]
fn spoofed_and_replayed_messages_are_stopped_where_they_are_protected() {
    for (protection, expected) in [("sealed", false), ("none", true)] {
        let more = format!(
            "[[protections]]\nname = \"sealed\"\nsecoc = {{ profile = 1 }}\n\
             [[streams]]\nname = \"speed\"\nfrom = \"ecu1\"\nto = [\"ecu2\"]\nbus = {{ id = \"0x100\" }}\nlength = \"4B\"\n\
             period = \"10ms\"\nprotection = \"{protection}\"\n\
             [[threats]]\nname = \"spoofer\"\nkind = \"spoof\"\nstream = \"speed\"\nstart = \"1s\"\ncount = 20\n\
             [[threats]]\nname = \"replayer\"\nkind = \"replay\"\nstream = \"speed\"\nstart = \"1s\"\ncount = 20\n"
        );
        let (counted, _) = run(&plan(2, "without-orchestrator", "hardened", "fourq", &more));
        assert_eq!((counted.of(3, "attacked"), counted.of(4, "attacked") >= 19), (20, true));
        let sent = counted.of(1, "sent");
        let believed = counted.of(2, "delivered");
        assert_eq!(believed > sent, expected, "{protection}: {believed} of {sent} and 40 forged");
    }
}

#[test]
fn a_babbling_node_keeps_everybody_off_the_bus() {
    let more = "[[threats]]\nname = \"babbler\"\nkind = \"babble\"\nevery = \"50us\"\ncount = 1000000\n";
    let mut plan = plan(2, "without-orchestrator", "hardened", "fourq", more);
    // Long enough for the orchestrator to give up.
    plan.duration = Duration::from_s(6);
    let (counted, _) = run(&plan);
    assert_eq!((0..3).map(|node| counted.of(node, "key-installed")).sum::<usize>(), 0);
    assert!(counted.of(0, "key-refused") + counted.of(0, "exchange-aborted") > 0);
}

/// Two buses, members on both, and a node `zone` between them.
fn zones(gateway: &str, more: &str) -> Plan {
    let mut text = String::from(
        "schema_version = 2\nname = \"zones\"\nduration = \"3s\"\n\
         [segments.front.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\
         [segments.rear.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n",
    );
    for (node, segment) in [("gate", "front"), ("a", "front"), ("b", "rear"), ("c", "rear"), ("d", "front")] {
        text += &format!("[[nodes]]\nname = \"{node}\"\non = [\"{segment}\"]\n");
    }
    text += &format!("[[nodes]]\nname = \"zone\"\non = [\"front\", \"rear\"]\ngateway = {gateway}\n{more}");
    load("zones.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

const GROUP: &str = "[keys.bus.group]\norchestrator = \"gate\"\nmembers = [\"a\", \"b\", \"c\", \"d\"]\n";
const SPEED: &str = "[[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"d\", \"b\"]\nfront = { id = \"0x100\" }\n\
     rear = { id = \"0x100\" }\nlength = \"4B\"\nperiod = \"10ms\"\noffset = \"1ms\"\n";

#[test]
fn a_group_spans_buses_across_a_gateway() {
    for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
        for bridges in ["\"all\"", "{ key = \"bus\" }"] {
            let gateway = format!("{{ queue = \"256 frames\", bridges = [{bridges}] }}");
            let (counted, _) = run(&zones(&gateway, &format!("{GROUP}scheme = \"{scheme}\"\n{SPEED}")));
            for node in 0..5 {
                assert_eq!(counted.of(node, "key-installed"), 1, "{scheme} {bridges} node {node}");
            }
            assert_eq!(counted.of(5, "key-installed"), 0);
            let sent = counted.of(1, "sent");
            assert!(sent >= 290 && counted.of(4, "delivered") >= sent - 1 && counted.of(2, "delivered") >= sent - 1);
        }
    }
}

#[test]
fn a_gateway_can_orchestrate_and_be_a_member_itself() {
    for (orchestrator, members) in [("zone", "\"a\", \"b\", \"c\""), ("gate", "\"a\", \"b\", \"zone\"")] {
        let group = format!(
            "[keys.bus.group]\norchestrator = \"{orchestrator}\"\nmembers = [{members}]\nscheme = \"full-tree\"\n"
        );
        let (counted, _) = run(&zones("{ queue = \"256 frames\", bridges = [{ key = \"bus\" }] }", &group));
        let installed: Vec<usize> = (0..6).map(|node| counted.of(node, "key-installed")).collect();
        let expected = if orchestrator == "zone" { [0, 1, 1, 1, 0, 1] } else { [1, 1, 1, 0, 0, 1] };
        assert_eq!(installed, expected, "{orchestrator}");
    }
}

#[test]
fn a_key_and_counters_from_another_bus_protect_a_message_from_end_to_end() {
    let more = format!(
        "{GROUP}scheme = \"without-orchestrator\"\n{SPEED}protection = \"jaspar\"\n\
         [[protections]]\nname = \"jaspar\"\nsecoc = {{ profile = 3 }}\n"
    );
    let (counted, _) = run(&zones("{ bridges = [{ key = \"bus\" }] }", &more));
    let (sent, withheld) = (counted.of(1, "sent"), counted.of(1, "withheld"));
    assert!(withheld > 0 && sent > 250, "{sent} sent, {withheld} withheld");
    for receiver in [2, 4] {
        assert!(counted.of(receiver, "delivered") + 2 >= sent, "{receiver}: {}", counted.of(receiver, "delivered"));
    }
}

const JASPAR: &str = "[[protections]]\nname = \"jaspar\"\nsecoc = { profile = 3 }\n\
    [[streams]]\nname = \"speed\"\nfrom = \"ecu1\"\nto = [\"ecu2\"]\nbus = { id = \"0x100\" }\nlength = \"4B\"\n\
    period = \"10ms\"\noffset = \"1ms\"\nprotection = \"jaspar\"\n";

#[test]
fn profile_3_follows_the_orchestrator_by_every_scheme() {
    for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
        let plan = plan(3, scheme, "hardened", "fourq", JASPAR);
        let (counted, _) = run(&plan);
        // Synchronisation messages are sent by the orchestrator and taken by both ends of the message.
        assert!(counted.of(0, "sent") >= 25, "{scheme}: {}", counted.of(0, "sent"));
        let (sent, withheld) = (counted.of(1, "sent"), counted.of(1, "withheld"));
        assert!(sent >= 250 && sent + withheld >= 299, "{scheme}: {sent} sent, {withheld} withheld");
        assert_eq!(counted.of(1, "delivered"), counted.of(0, "sent"), "{scheme}");
        assert_eq!(counted.of(2, "delivered"), sent + counted.of(0, "sent"), "{scheme}");
    }
}

#[test]
fn profile_3_goes_on_under_a_new_key() {
    let more = format!("{JASPAR}[[nodes]]\nname = \"late\"\n");
    for kind in [ChangeKind::Remove, ChangeKind::Revoke] {
        let mut plan = plan(3, "without-orchestrator", "hardened", "fourq", &more);
        let group = plan.group_key.as_mut().expect("a group");
        group.changes.push(GroupChange { at: Duration::from_s(1), members: vec![NodeId(3)], kind });
        let (counted, _) = run(&plan);
        assert_eq!(counted.of(1, "key-installed"), 2, "{kind:?}");
        let sent = counted.of(1, "sent");
        assert!(sent >= 280, "{kind:?}: {sent}");
        let taken = counted.of(2, "delivered");
        assert!(taken + 2 >= sent + counted.of(0, "sent"), "{kind:?}: {taken} of {sent} and the master's");
    }
}

#[test]
fn replayed_and_spoofed_messages_under_trips_and_resets_are_stopped() {
    let own =
        JASPAR.replace("profile = 3", "authenticator = \"25bit\", freshness = { trip_reset = { sent = \"5bit\" } }");
    let counters = "[freshness]\ncounters = { trip = \"8bit\", reset = \"16bit\", message = \"9bit\" }\nauthenticator = \"33bit\"\n";
    stops_replayed_and_spoofed(JASPAR);
    stops_replayed_and_spoofed(&(counters.to_owned() + &own));
}

fn stops_replayed_and_spoofed(protected: &str) {
    let more = format!(
        "{protected}\
         [[threats]]\nname = \"spoofer\"\nkind = \"spoof\"\nstream = \"speed\"\nstart = \"1s\"\ncount = 20\n\
         [[threats]]\nname = \"replayer\"\nkind = \"replay\"\nstream = \"speed\"\nstart = \"1s\"\ncount = 20\n"
    );
    let (counted, _) = run(&plan(2, "without-orchestrator", "hardened", "fourq", &more));
    assert_eq!((counted.of(3, "attacked"), counted.of(4, "attacked") >= 19), (20, true));
    assert_eq!(counted.of(2, "delivered"), counted.of(1, "sent") + counted.of(0, "sent"));
    assert!(counted.of(2, "discarded") >= 39, "{}", counted.of(2, "discarded"));
}

/// As [`plan`] with five nodes: 4 is removed, then 3 and 5 come in together.
fn merging(scheme: &str, profile: &str, installation: &str, more: &str) -> Plan {
    let text = format!(
        "schema_version = 2\nname = \"merging\"\nduration = \"5s\"\n\
         [segments.bus.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\
         [keys.bus.group]\norchestrator = \"gateway\"\nscheme = \"{scheme}\"\nprofile = \"{profile}\"\n\
         installation = \"{installation}\"\n\
         changes = [{{ at = \"1s\", remove = \"ecu4\" }}, {{ at = \"2500ms\", merge = [\"ecu3\", \"ecu5\"] }}]\n\
         [[nodes]]\nname = \"gateway\"\n\
         [[nodes]]\nname = \"ecu1\"\n[[nodes]]\nname = \"ecu2\"\n[[nodes]]\nname = \"ecu3\"\n[[nodes]]\nname = \"ecu4\"\n\
         [[nodes]]\nname = \"ecu5\"\n[[protections]]\nname = \"sealed\"\nsecoc = {{ profile = 1 }}\n\
         [[streams]]\nname = \"speed\"\nfrom = \"ecu1\"\nto = [\"ecu2\", \"ecu3\"]\nbus = {{ id = \"0x100\" }}\n\
         length = \"4B\"\nperiod = \"10ms\"\nprotection = \"sealed\"\n{more}"
    );
    load("merging.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

#[test]
fn nodes_come_in_later_by_every_scheme_profile_and_installation() {
    // A recorder that repeats the first request when the newcomers have come in, or nobody.
    let recorder = "[[threats]]\nname = \"mallory\"\nkind = { replayed_orchestration = { after = \"2600ms\" } }\n";
    for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
        for profile in ["as-published", "hardened"] {
            for installation in ["confirmed", "unconfirmed"] {
                for more in ["", recorder] {
                    let (counted, _) = run(&merging(scheme, profile, installation, more));
                    let case = format!("{scheme}, {profile}, {installation}, {more}");
                    // The first key, that of the removal, and that of the merge.
                    let keys: Vec<usize> = (0..=5).map(|node| counted.of(node, "key-installed")).collect();
                    assert_eq!(keys, [3, 3, 3, 1, 1, 1], "{case}");
                    let came_in = counted.0[&(NodeId(3), "key-installed")][0];
                    assert!(came_in >= SimTime::ZERO + Duration::from_ms(2500), "{case}: {came_in}");
                    // It reads what is protected from then on, and nothing of before.
                    let read = &counted.0[&(NodeId(3), "delivered")];
                    assert!(read[0] >= came_in && read.len() > 200, "{case}: {} from {} on", read.len(), read[0]);
                    assert_eq!(counted.of(6, "attacked"), usize::from(!more.is_empty()), "{case}");
                }
            }
        }
    }
}

#[test]
fn attacks_on_a_merge_leave_nobody_with_a_key_of_the_attackers_making() {
    let kinds = ["reflected-share", "small-order-share", "forged-confirmation", "forged-commit", "swapped-addresses"];
    for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
        for kind in kinds {
            // It has more attempts than there are exchanges, so the merge meets it too where it waits for a while.
            let more = format!("[[threats]]\nname = \"mallory\"\nkind = \"{kind}\"\ncount = 100\n");
            let (counted, _) = run(&merging(scheme, "hardened", "confirmed", &more));
            assert!(counted.of(6, "attacked") > 0, "{scheme}, {kind}");
            let of = |node: u16| counted.of(node, "key-installed");
            // All who are in have the same number of keys, and the newcomers one less than those by the two of before.
            assert_eq!([of(0), of(0)], [of(1), of(2)], "{scheme}, {kind}: {:?}", counted.0.keys());
            assert!(of(3) == of(5) && of(3) <= 1 && (of(3) == 0 || of(0) > 0), "{scheme}, {kind}");
        }
    }
}
