//! Scenarios of earlier and later versions, and what is read and not run yet.

use crate::integration::support::Bench;

const OLD: &str = "# of version 1\nschema_version = 1\nname = \"old\"\nduration = \"100ms\"\n\n\
    [network.time_triggered_ethernet] # the cluster\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"200us\"\n\n\
    [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\n\
    [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nframe = \"60B\" # the shortest\n";

#[test]
fn an_old_scenario_is_refused_with_the_command_that_mends_it() {
    let bench = Bench::new();
    bench.write("old.toml", OLD);
    for command in ["check", "run"] {
        let said = bench.say(&[command, "old.toml"]);
        said.assert_refused(&["scenario::old-version", "old.toml:2:18", "chronoseal scenario upgrade old.toml"]);
    }
    bench.say(&["scenario", "upgrade", "old.toml"]).assert_code(0).assert_says(&["chronoseal check old.toml"]);
    bench.say(&["check", "old.toml"]).assert_code(0);
    let new = std::fs::read_to_string(bench.path("old.toml")).unwrap();
    for comment in ["# of version 1", "# the cluster", "# the shortest"] {
        assert!(new.contains(comment), "{comment} is gone:\n{new}");
    }

    assert!(!bench.path("old.toml.part").exists(), "nothing is left beside it");
    bench.say(&["scenario", "upgrade", "old.toml"]).assert_code(0).assert_says(&["nothing was written"]);
    let printed = bench.say(&["scenario", "upgrade", "old.toml", "--out", "-"]);
    assert_eq!(printed.assert_code(0).out, new, "a second upgrade changes nothing");
}

#[test]
fn what_cannot_be_upgraded_is_left_as_it_is() {
    let bench = Bench::new();
    bench.write("later.toml", OLD.replace("schema_version = 1", "schema_version = 3"));
    bench.say(&["check", "later.toml"]).assert_refused(&["later.toml:2:18", "version 3", "a later chronoseal"]);
    bench.say(&["scenario", "upgrade", "later.toml"]).assert_refused(&["later.toml:2:18", "nothing was written"]);
    bench.write("none.toml", "name = \"x\"\n");
    bench.say(&["scenario", "upgrade", "none.toml"]).assert_refused(&["schema_version", "nothing was written"]);
    bench.write("bytes.toml", [0xff_u8, 0xfe]);
    bench.say(&["scenario", "upgrade", "bytes.toml"]).assert_refused(&["bytes.toml", "not UTF-8", "help:"]);
    assert_eq!(std::fs::read(bench.path("bytes.toml")).unwrap(), [0xff, 0xfe]);
}
