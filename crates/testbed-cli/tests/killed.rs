//! Whoever is killed in the middle of a run leaves no process behind, and the others go on.

use nix::sys::signal::Signal;

use crate::Test;
use crate::hosts::{accounts, stored};
use crate::network::{Network, SCENARIO, stations, wait};

pub(crate) const TESTS: &[Test] = &[
    (
        "an_agent_that_is_killed_leaves_what_the_others_wrote_down",
        an_agent_that_is_killed_leaves_what_the_others_wrote_down,
    ),
    (
        "agents_of_a_controller_that_is_killed_wait_for_the_next",
        agents_of_a_controller_that_is_killed_wait_for_the_next,
    ),
    ("agents_of_a_silent_controller_stop", agents_of_a_silent_controller_stop),
    ("a_station_that_is_killed_is_an_agent_lost", a_station_that_is_killed_is_an_agent_lost),
    ("an_interrupted_controller_keeps_what_there_is", an_interrupted_controller_keeps_what_there_is),
];

fn long() -> String {
    SCENARIO.replace("\"2s\"", "\"30s\"")
}

/// The run has begun, and goes on for a while.
fn in_the_middle() {
    wait(|| stations().len() == 2, "two stations");
    std::thread::sleep(std::time::Duration::from_millis(4_500));
}

fn an_agent_that_is_killed_leaves_what_the_others_wrote_down(network: &Network) {
    let [robot, station] = network.agents();
    let controller = network.controller_started(&long(), "agent-killed");
    in_the_middle();
    robot.send(Signal::SIGKILL);
    wait(|| stations().is_empty(), "the end of all stations");
    assert_eq!(controller.ended(), Some(3));
    let (meta, summary) = stored(network, "agent-killed");
    assert!(meta.interrupted);
    let lost = meta.lost.unwrap();
    assert!(lost.contains("the agent of robot was lost in the middle of the run"), "{lost}");
    // The other's record is there: it sent all the while.
    assert!(accounts(&summary)["command"].sent > 50);
    // Of what the lost one sent, what came is known: each message says when it was due.
    let laser = &accounts(&summary)["laser"];
    assert!(laser.in_time + laser.late > 20 && laser.balance() == 0, "{laser:?}");
    let words = "robot was lost with what it wrote down: of stream laser only the";
    assert!(meta.warnings.iter().any(|warning| warning.contains(words)), "{:?}", meta.warnings);
    let laser = summary.streams.iter().find(|stream| stream.name == "laser").unwrap();
    assert!(laser.end_to_end.all.and_then(|all| all.p50_ns).is_some_and(|ns| ns < 200_000_000), "{laser:?}");
    drop((robot, station));
}

fn agents_of_a_controller_that_is_killed_wait_for_the_next(network: &Network) {
    let agents = network.agents();
    let controller = network.controller_started(&long(), "controller-killed");
    in_the_middle();
    controller.send(Signal::SIGKILL);
    wait(|| stations().is_empty(), "the end of all stations");
    let output = network.controller(&SCENARIO.replace("\"2s\"", "\"200ms\""), "next", &[]);
    assert!(output.status.code().is_some_and(|code| code != 2), "{}", String::from_utf8_lossy(&output.stderr));
    drop(agents);
}

fn agents_of_a_silent_controller_stop(network: &Network) {
    let agents = network.agents();
    let controller = network.controller_started(&long(), "silent");
    in_the_middle();
    controller.send(Signal::SIGSTOP);
    wait(|| stations().is_empty(), "the end of all stations");
    agents[0].said("nothing was heard for 2 s");
    controller.send(Signal::SIGCONT);
    assert_eq!(controller.ended(), Some(3));
    assert!(stored(network, "silent").0.lost.is_some());
    drop(agents);
}

fn a_station_that_is_killed_is_an_agent_lost(network: &Network) {
    let agents = network.agents();
    let controller = network.controller_started(&long(), "station-killed");
    in_the_middle();
    let station = stations()[0];
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(station), Signal::SIGKILL).unwrap();
    assert_eq!(controller.ended(), Some(3));
    let lost = stored(network, "station-killed").0.lost.unwrap();
    assert!(lost.contains("signal: 9"), "{lost}");
    wait(|| stations().is_empty(), "the end of all stations");
    drop(agents);
}

fn an_interrupted_controller_keeps_what_there_is(network: &Network) {
    let agents = network.agents();
    let controller = network.controller_started(&long(), "interrupted");
    in_the_middle();
    controller.send(Signal::SIGINT);
    assert_eq!(controller.ended(), Some(3));
    let (meta, summary) = stored(network, "interrupted");
    assert!(meta.interrupted && meta.lost.is_none(), "{:?}", meta.lost);
    assert!(accounts(&summary)["command"].in_time > 50);
    wait(|| stations().is_empty(), "the end of all stations");
    drop(agents);
}
