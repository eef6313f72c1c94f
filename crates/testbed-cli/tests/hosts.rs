//! What comes of a run over two hosts, beside what comes of it on one, and where the network or a port fails.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_results::{Account, RunMeta, RunSummary, store};
use chronoseal_runner::{LiveOptions, measure};
use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_testbed::AgentCommand;

use crate::Test;
use crate::network::{Network, SCENARIO};

pub(crate) const TESTS: &[Test] = &[
    ("two_hosts_have_the_accounts_of_one", two_hosts_have_the_accounts_of_one),
    (
        "a_cable_that_is_out_for_a_while_loses_what_was_sent_meanwhile",
        a_cable_that_is_out_for_a_while_loses_what_was_sent_meanwhile,
    ),
    ("a_clock_that_is_ahead_changes_no_latency", a_clock_that_is_ahead_changes_no_latency),
    ("a_clock_that_jumps_leaves_no_one_way_latency", a_clock_that_jumps_leaves_no_one_way_latency),
    ("a_relay_answers_over_hosts", a_relay_answers_over_hosts),
    ("a_port_in_use_is_said_with_the_agent", a_port_in_use_is_said_with_the_agent),
];

pub(crate) fn stored(network: &Network, out: &str) -> (RunMeta, RunSummary) {
    store::read(&network.path(out)).unwrap()
}

pub(crate) fn accounts(summary: &RunSummary) -> BTreeMap<String, Account> {
    summary.streams.iter().map(|stream| (stream.name.clone(), stream.receivers[0].clone())).collect()
}

fn two_hosts_have_the_accounts_of_one(network: &Network) {
    let agents = network.agents();
    let output = network.controller(SCENARIO, "two-hosts", &[]);
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.code().is_some_and(|code| code != 2), "{out}{error}");
    assert!(out.contains("the network between the agents"), "{out}");
    let (meta, summary) = stored(network, "two-hosts");
    // All that was sent was counted, and each message has one end.
    let over_hosts = accounts(&summary);
    assert!(over_hosts.values().all(|account| account.balance() == 0), "{over_hosts:?}");
    assert_eq!(meta.hosts.len(), 2);
    let scenario = Scenario::load("two.toml", SCENARIO.as_bytes(), &[], &NoFiles).unwrap();
    let prepared = Prepared::new(&scenario.plan).unwrap();
    let program = env!("CARGO_BIN_EXE_chronoseal-testbed").into();
    let agent_command = Some(AgentCommand { program, arguments: vec!["agent".into()] });
    let options = LiveOptions { agent_command, ..LiveOptions::default() };
    let run = measure(&prepared, scenario.texts(), &options, &AtomicBool::new(false)).unwrap();
    let on_one = accounts(&run.summary);
    for (name, sent) in [("laser", 100), ("command", 400), ("image", 20)] {
        let (hosts, one) = (&over_hosts[name], &on_one[name]);
        for (whose, account) in [("hosts", hosts), ("one", one)] {
            // A machine that is busy when the run ends has its last message under way.
            assert_eq!(account.due, sent, "{name} of {whose}: {account:?}");
            let under_way = account.in_flight + account.overdue;
            assert!(under_way <= 1, "{name} of {whose}: {account:?}");
            assert_eq!(account.in_time + account.late + under_way, account.due, "{name} of {whose}: {account:?}");
        }
    }
    drop(agents);
}

fn a_cable_that_is_out_for_a_while_loses_what_was_sent_meanwhile(network: &Network) {
    let agents = network.agents();
    // Agents notice a silence of two seconds; this is shorter. TCP sends again what was lost.
    let controller = network.controller_started(&SCENARIO.replace("\"2s\"", "\"4s\""), "cable");
    std::thread::sleep(std::time::Duration::from_millis(4_500));
    network.cable(&network.hosts[0], false);
    std::thread::sleep(std::time::Duration::from_millis(300));
    network.cable(&network.hosts[0], true);
    let ended = controller.ended();
    let (meta, summary) = stored(network, "cable");
    // A host that is stalled all the time leaves nothing that could fail.
    let is_held_up = summary.failed_in_stalls() || summary.failed_while_unfit();
    assert_eq!(ended, Some(if is_held_up { 3 } else { 1 }));
    assert_eq!(meta.lost, None);
    let accounts = accounts(&summary);
    for name in ["laser", "command"] {
        let account = &accounts[name];
        assert!(account.missing > 0, "{name}: {account:?}");
        assert_eq!(account.balance(), 0, "{name}: {account:?}");
        assert_eq!(account.unaccounted, 0, "{name}: {account:?}");
    }
    assert_eq!(accounts["image"].missing, 0, "{:?}", accounts["image"]);
    drop(agents);
}

fn a_clock_that_is_ahead_changes_no_latency(network: &Network) {
    let [robot, station] = &network.hosts;
    let agents =
        [network.agent(robot, &["--clock-offset", "5ms", "--clock-drift", "50ppm"]), network.agent(station, &[])];
    let output = network.controller(SCENARIO, "ahead", &[]);
    assert!(output.status.code().is_some_and(|code| code != 2), "{}", String::from_utf8_lossy(&output.stderr));
    let (meta, summary) = stored(network, "ahead");
    let clock = meta.hosts[0].clock.unwrap();
    // 50 ppm of the seconds since the agent began come on top.
    let most = 5_000_000 + 50 * 60_000 + clock.uncertainty_ns;
    assert!((5_000_000 - clock.uncertainty_ns..most).contains(&clock.offset_ns), "{clock:?}");
    let apart: i64 = meta.hosts.iter().filter_map(|host| host.clock).map(|clock| clock.uncertainty_ns).sum();
    for stream in summary.streams.iter().filter(|stream| stream.name != "image") {
        let median = stream.end_to_end.all.unwrap().p50_ns.unwrap();
        // Taken at its word, the clock would make one of them 5 ms shorter than nothing.
        assert!((-apart..5_000_000).contains(&median), "{}: {median} ns, clocks {apart} ns apart", stream.name);
    }
    drop(agents);
}

fn a_clock_that_jumps_leaves_no_one_way_latency(network: &Network) {
    let [robot, station] = &network.hosts;
    // Connections are made for three seconds before the run, which lasts two: the jump is in between, wherever exactly.
    let agents = [network.agent(robot, &["--clock-step", "5s+30ms"]), network.agent(station, &[])];
    let output = network.controller(SCENARIO, "jump", &[]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stdout));
    let (meta, summary) = stored(network, "jump");
    let clock = meta.hosts[0].clock.unwrap();
    assert!(clock.uncertainty_ns >= 30_000_000, "{clock:?}");
    // A tenth of their deadline is less, so none of both has a latency; all messages are counted.
    let of = |name: &str| summary.streams.iter().find(|stream| stream.name == name).unwrap();
    for name in ["laser", "command"] {
        assert!(of(name).end_to_end.all.is_none() && of(name).receivers[0].sent > 90, "{:?}", of(name));
    }
    assert_eq!(meta.unmeasured.iter().filter(|end| end.deadline_ns.is_some()).count(), 2, "{:?}", meta.unmeasured);
    drop(agents);
}

fn a_relay_answers_over_hosts(network: &Network) {
    const RELAY: &str = r#"
[[streams]]
name = "echo"
from = "station"
answers = "laser"
[[streams]]
name = "count"
from = "robot"
to = ["station"]
period = "50ms"
length = "1kB"
payload = "random"
air = { transport = "tcp" }
[[streams]]
name = "count-echo"
from = "station"
answers = "count"
air = { transport = "tcp" }
"#;
    let agents = network.agents();
    let output = network.controller(&format!("{SCENARIO}{RELAY}"), "relay", &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code != 2), "{error}");
    let (_, summary) = stored(network, "relay");
    for (trip, asked) in summary.round_trips.iter().zip([100, 40]) {
        assert!((asked - 1..=asked).contains(&trip.asked), "{trip:?}");
        assert_eq!((trip.answered, trip.lost_out, trip.lost_back), (trip.asked, 0, 0), "{trip:?}");
        let median = trip.from_due.all.unwrap().p50_ns.unwrap();
        assert!((1..200_000_000).contains(&median), "{trip:?}");
    }
    assert_eq!(summary.round_trips.len(), 2);
    drop(agents);
}

fn a_port_in_use_is_said_with_the_agent(network: &Network) {
    let agents = network.agents();
    let held = network.occupy(&network.hosts[1], "10.77.0.2:49152");
    let output = network.controller(SCENARIO, "port", &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("the agent of station at 10.77.0.2:7600: cannot open its sockets on 10.77.0.2"), "{error}");
    assert!(!network.path("port").exists(), "nothing was stored");
    drop((agents, held));
}
