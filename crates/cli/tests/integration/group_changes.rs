//! Planned changes of a group count in the verdict: one that does not come about is named, with who is still exposed.

use crate::integration::support::Bench;

/// Three members, of which one is to be removed after a second; `more` is what happens meanwhile.
fn scenario(more: &str) -> String {
    let nodes = ["gate", "a", "b", "c", "rest"].map(|name| format!("[[nodes]]\nname = \"{name}\"\n")).concat();
    format!(
        "schema_version = 2\nname = \"changes\"\nduration = \"2s\"\n\
         [segments.bus.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\
         [keys.bus.group]\norchestrator = \"gate\"\nmembers = [\"a\", \"b\", \"c\"]\nscheme = \"full-tree\"\n\
         changes = [{{ at = \"1s\", remove = \"c\" }}, {{ at = \"1500ms\", add = \"c\" }}]\n{nodes}{more}"
    )
}

#[test]
fn a_removal_that_happens_is_no_matter() {
    let bench = Bench::new();
    bench.write("changes.toml", scenario(""));
    let run = bench.say(&["run", "changes.toml", "--no-store", "--format", "json"]).assert_code(0).json();
    assert_eq!(run["word"], "held", "{run}");
    let changes = run["summary"]["group"]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    for change in changes {
        assert!(change["epoch"].is_u64() && change["lacking"].as_array().unwrap().is_empty(), "{change}");
    }
}

#[test]
fn a_removal_that_does_not_happen_is_named_with_who_still_uses_the_old_key() {
    let bench = Bench::new();
    // Nobody else comes to the bus from then on.
    let babble =
        "[[threats]]\nname = \"mallory\"\nkind = \"babble\"\nstart = \"900ms\"\nevery = \"100us\"\ncount = 20000\n";
    bench.write("changes.toml", scenario(babble));
    let run = bench.say(&["run", "changes.toml", "--no-store", "--format", "json"]).assert_code(1).json();
    assert_eq!(run["word"], "failed", "{run}");
    let verdict = run["verdict"].as_str().unwrap();
    for part in ["the removal of c at 1.000 s", "the key that c has is still in use at gate, a and b", "1 more"] {
        assert!(verdict.contains(part), "{part}: {verdict}");
    }
    let removal = &run["summary"]["group"]["changes"][0];
    assert_eq!((removal["epoch"].is_null(), removal["exposed"].as_array().unwrap().len()), (true, 3), "{removal}");
}

/// What the member that should be out could forge is not sent at all, where that is chosen.
#[test]
fn a_failed_removal_stops_what_the_key_protects_only_where_the_scenario_says_so() {
    let bench = Bench::new();
    // Nobody comes to the bus before the removal has failed; then it is free again.
    let more = "[[threats]]\nname = \"mallory\"\nkind = \"babble\"\nstart = \"900ms\"\nevery = \"1ms\"\ncount = 5000\n\
                [[protections]]\nname = \"sealed\"\nsecoc = { profile = 1 }\n\
                [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nbus = { id = \"0x100\" }\nlength = \"4B\"\n\
                period = \"20ms\"\nprotection = \"sealed\"\n";
    let text = scenario(more).replace("\"2s\"", "\"8s\"").replace(
        "changes = [{ at = \"1s\", remove = \"c\" }, { at = \"1500ms\", add = \"c\" }]",
        "changes = [{ at = \"1s\", remove = \"c\" }]",
    );
    // Frames of 1 ms each: the bus is full as long as the attack lasts.
    let text = text.replace("bit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"", "bit_rate = \"125kbit/s\"");
    let of = |fail: &str| {
        bench.write("changes.toml", text.replace("scheme =", &format!("fail = \"{fail}\"\nscheme =")));
        let run = bench.say(&["run", "changes.toml", "--no-store", "--format", "json"]).assert_code(1).json();
        let group = &run["summary"]["group"];
        (group["withheld"].as_u64().unwrap(), group["changes"][0]["exposed"].as_array().unwrap().len())
    };
    let ((withheld, exposed), (closed_withheld, closed_exposed)) = (of("available"), of("closed"));
    assert_eq!((exposed, closed_exposed), (3, 0));
    // From the failure to the end of the run, more than a second of 50 messages each.
    assert!(closed_withheld > withheld + 50, "{closed_withheld} against {withheld}");
}

/// Two members, and two nodes that come in together after a second; `more` is what happens meanwhile.
fn merging(more: &str) -> String {
    let nodes = ["gate", "a", "b", "lamp", "axle"].map(|name| format!("[[nodes]]\nname = \"{name}\"\n")).concat();
    format!(
        "schema_version = 2\nname = \"merging\"\nduration = \"2s\"\n\
         [segments.bus.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\
         [keys.bus.group]\norchestrator = \"gate\"\nscheme = \"full-tree\"\n\
         changes = [{{ at = \"1s\", merge = [\"lamp\", \"axle\"] }}]\n{nodes}{more}"
    )
}

#[test]
fn nodes_that_come_in_later_are_waited_for_from_then_on() {
    let bench = Bench::new();
    let sealed = "[[protections]]\nname = \"sealed\"\nsecoc = { profile = 1 }\n\
                  [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\", \"lamp\"]\nbus = { id = \"0x100\" }\n\
                  length = \"4B\"\nperiod = \"20ms\"\nprotection = \"sealed\"\n";
    bench.write("merging.toml", merging(sealed));
    let run = bench.say(&["run", "merging.toml", "--no-store", "--format", "json"]).assert_code(0).json();
    assert_eq!(run["word"], "held", "{run}");
    assert!(run["verdict"].as_str().unwrap().starts_with("All 3 nodes shared a key"), "{run}");
    let group = &run["summary"]["group"];
    assert!(group["changes"][0]["epoch"].is_u64(), "{group}");
    let installed: Vec<usize> =
        group["keys"].as_array().unwrap().iter().map(|key| key["installed_ns"].as_object().unwrap().len()).collect();
    assert_eq!(installed, [3, 5]);
    // A frame that the newcomer could not read before it was in is no loss.
    let shown = bench.say(&["run", "merging.toml", "--no-store"]);
    assert!(shown.out.contains("not in yet"), "{}", shown.out);
}

#[test]
fn a_merge_that_does_not_happen_is_named_with_who_goes_on_without() {
    let bench = Bench::new();
    let babble =
        "[[threats]]\nname = \"mallory\"\nkind = \"babble\"\nstart = \"900ms\"\nevery = \"100us\"\ncount = 20000\n";
    bench.write("merging.toml", merging(babble));
    let run = bench.say(&["run", "merging.toml", "--no-store", "--format", "json"]).assert_code(1).json();
    assert_eq!(run["word"], "failed", "{run}");
    let verdict = run["verdict"].as_str().unwrap();
    for part in ["the merge of lamp and axle at 1.000 s", "a key of before is still in use at gate, a and b"] {
        assert!(verdict.contains(part), "{part}: {verdict}");
    }
}

/// Who is not in the group yet reads what another key protects all the same, and what it throws away of that counts.
#[test]
fn what_the_group_key_does_not_protect_is_meant_for_newcomers_from_the_start() {
    let bench = Bench::new();
    let own = "[[protections]]\nname = \"fixed\"\nsecoc = { profile = 1, key = \"pre-shared\" }\n\
               [[streams]]\nname = \"own\"\nfrom = \"b\"\nto = [\"lamp\"]\nbus = { id = \"0x110\" }\nlength = \"4B\"\n\
               period = \"20ms\"\nprotection = \"fixed\"\n\
               [[threats]]\nname = \"mallory\"\nkind = \"spoof\"\nstream = \"own\"\nstart = \"100ms\"\nevery = \"10ms\"\n\
               count = 5\n";
    bench.write("merging.toml", merging(own));
    let run = bench.say(&["run", "merging.toml", "--no-store", "--format", "json"]).assert_code(0).json();
    let attack = &run["summary"]["attacks"][0];
    assert_eq!((attack["attempts"].as_u64(), attack["stopped_by_tag"].as_u64()), (Some(5), Some(5)), "{attack}");
}
