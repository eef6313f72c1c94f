//! Hosts on which ptp4l (linuxptp) runs: its word counts beside the test bed's own exchanges, and where both contradict each other no latency is
//! shown. All have the clock of one kernel, which no ptp4l sets (`free_running`).

use std::path::PathBuf;
use std::process::Command;

use chronoseal_testbed::PtpReading;

use crate::Test;
use crate::hosts::stored;
use crate::network::{Host, Network, Program, SCENARIO, wait};

pub(crate) const TESTS: &[Test] = &[
    ("ptp4l_tells_times_where_it_is_less_uncertain", ptp4l_tells_times_where_it_is_less_uncertain),
    ("where_ptp4l_contradicts_there_is_no_one_way_latency", where_ptp4l_contradicts_there_is_no_one_way_latency),
];

/// ptp4l of a host, or of the controller, and where it listens.
struct Ptp {
    _program: Program,
    socket: PathBuf,
}

impl Ptp {
    /// Starts it with a line more for its port. The robot's is the grandmaster.
    fn start(network: &Network, host: Option<&Host>, port_line: &str) -> Self {
        let (name, interface) = host.map_or(("controller", "to-self"), |host| (host.name, "eth0"));
        let socket = network.path(&format!("{name}.ptp"));
        let part = if name == "robot" { "priority1 100" } else { "slaveOnly 1" };
        let text = format!(
            "[global]\ntime_stamping software\nnetwork_transport L2\nfree_running 1\n{part}\nuds_address {}\nlogSyncInterval -3\n\
             logMinDelayReqInterval -3\nlogAnnounceInterval -2\n[{interface}]\n{port_line}\n",
            socket.display()
        );
        let config = network.path(&format!("{name}.conf"));
        std::fs::write(&config, text).unwrap();
        let mut command = network.on(host, "ptp4l");
        command.arg("-f").arg(&config);
        Self { _program: network.background(command), socket }
    }

    fn option(&self) -> [&str; 2] {
        ["--ptp", self.socket.to_str().unwrap()]
    }

    fn awaited(&self) -> PtpReading {
        wait(|| PtpReading::take(&self.socket).is_ok(), "ptp4l to know the delay of its path");
        PtpReading::take(&self.socket).unwrap()
    }
}

/// True where the host has none, and says so.
fn is_absent() -> bool {
    let is_absent = Command::new("ptp4l").arg("-v").output().is_err();
    if is_absent {
        println!("skipped: no ptp4l; install linuxptp");
    }
    is_absent
}

fn ptp4l_tells_times_where_it_is_less_uncertain(network: &Network) {
    if is_absent() {
        return;
    }
    network.plug_in_controller();
    let [robot, station] = &network.hosts;
    let all = [Some(robot), Some(station), None].map(|host| Ptp::start(network, host, ""));
    let said = all.each_ref().map(Ptp::awaited);
    assert!(said[0].is_own && said.iter().all(|reading| reading.grandmaster == said[0].grandmaster), "{said:?}");
    let [of_robot, of_station, of_controller] = all.each_ref().map(Ptp::option);
    let ahead = ["--clock-offset", "5ms"];
    let agents = [network.agent(robot, &[&of_robot[..], &ahead].concat()), network.agent(station, &of_station)];
    let output = network.controller(SCENARIO, "ptp", &of_controller);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code != 2), "{error}");
    assert!(error.contains("by ptp4l, which follows"), "{error}");
    let (meta, summary) = stored(network, "ptp");
    for (host, ahead_ns) in meta.hosts.iter().zip([5_000_000, 0]) {
        let [own, ptp] = &host.clock_sources[..] else { panic!("{host:?}") };
        assert_eq!(host.clock_dispute, None, "{host:?}");
        assert!(ptp.name.contains(&said[0].grandmaster) && own.is_used != ptp.is_used, "{host:?}");
        for source in [own, ptp] {
            assert!((source.offset_ns - ahead_ns).abs() <= source.uncertainty_ns, "{source:?}");
        }
        let (used, other) = if own.is_used { (own, ptp) } else { (ptp, own) };
        assert!(used.uncertainty_ns <= other.uncertainty_ns, "{host:?}");
        assert_eq!(host.clock.unwrap().uncertainty_ns, used.uncertainty_ns);
        println!(
            "{}: own {} ns to {}, ptp4l {} ns to {}",
            host.agent, own.offset_ns, own.uncertainty_ns, ptp.offset_ns, ptp.uncertainty_ns
        );
    }
    assert!(meta.unmeasured.is_empty() && summary.streams.iter().all(|stream| stream.end_to_end.all.is_some()));
    drop((agents, all));
}

fn where_ptp4l_contradicts_there_is_no_one_way_latency(network: &Network) {
    if is_absent() {
        return;
    }
    network.plug_in_controller();
    let [robot, station] = &network.hosts;
    // It takes the way there for 10 ms longer than the way back.
    let lies = "delayAsymmetry 10000000";
    let all =
        [(Some(robot), ""), (Some(station), lies), (None, "")].map(|(host, line)| Ptp::start(network, host, line));
    let said = all.each_ref().map(Ptp::awaited);
    println!("{said:?}");
    let [of_robot, of_station, of_controller] = all.each_ref().map(Ptp::option);
    let agents = [network.agent(robot, &of_robot), network.agent(station, &of_station)];
    let output = network.controller(SCENARIO, "dispute", &of_controller);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stdout));
    let (meta, summary) = stored(network, "dispute");
    let dispute = meta.hosts[1].clock_dispute.as_ref().unwrap();
    assert!(dispute.contains("ptp4l and the test bed's own exchanges say"), "{dispute}");
    assert_eq!(meta.hosts[0].clock_dispute, None);
    assert!(
        meta.unmeasured.iter().any(|end| end.why.contains("of the clock of station, ptp4l")),
        "{:?}",
        meta.unmeasured
    );
    // All messages are counted, and no latency is shown.
    for stream in &summary.streams {
        assert!(stream.end_to_end.all.is_none() && stream.receivers[0].balance() == 0, "{stream:?}");
    }
    drop((agents, all));
}
