//! The hosts, what runs on them, and what they say.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chronoseal-testbed");

/// Two stations that speak both ways, and an image over TCP.
pub(crate) const SCENARIO: &str = r#"
schema_version = 2
name = "two"
duration = "2s"
[segments.air.link]
[[nodes]]
name = "robot"
clock = "ideal"
[[nodes]]
name = "station"
clock = "ideal"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "20ms"
offset = "1ms"
length = "9kB"
deadline = "200ms"
[[streams]]
name = "command"
from = "station"
to = ["robot"]
period = "5ms"
offset = "1ms"
length = "64B"
deadline = "200ms"
[[streams]]
name = "image"
from = "robot"
to = ["station"]
period = "100ms"
length = "200kB"
air = { transport = "tcp" }
"#;

/// A host: whoever is in its network namespace.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) address: &'static str,
    /// Keeps the namespace.
    holder: Child,
}

pub(crate) struct Network {
    folder: tempfile::TempDir,
    pub(crate) hosts: [Host; 2],
}

fn run(command: &str, words: &[&str]) {
    let output = Command::new(command).args(words).output().unwrap();
    assert!(output.status.success(), "{command} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Network {
    /// The bridge, a cable to each host, and identities for all.
    pub(crate) fn new() -> Self {
        run("ip", &["link", "set", "lo", "up"]);
        run("ip", &["link", "add", "name", "bridge", "type", "bridge"]);
        run("ip", &["address", "add", "10.77.0.254/24", "dev", "bridge"]);
        run("ip", &["link", "set", "bridge", "up"]);
        let hosts = [("robot", "10.77.0.1"), ("station", "10.77.0.2")].map(|(name, address)| {
            let mut holder = Command::new("unshare").args(["--net", "sleep", "3600"]).spawn().unwrap();
            let pid = holder.id().to_string();
            // It is in its own namespace a moment after it was started.
            let own = || std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
            wait(|| own().is_some_and(|own| own != std::fs::read_link("/proc/self/ns/net").unwrap()), "a namespace");
            assert!(holder.try_wait().unwrap().is_none());
            let cable = format!("to-{name}");
            run("ip", &["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns", &pid]);
            run("ip", &["link", "set", &cable, "master", "bridge", "up"]);
            let of_host = |words: &[&str]| run("nsenter", &[&["--net", "--target", &pid, "ip"][..], words].concat());
            of_host(&["address", "add", &format!("{address}/24"), "dev", "eth0"]);
            of_host(&["link", "set", "eth0", "up"]);
            of_host(&["link", "set", "lo", "up"]);
            Host { name, address, holder }
        });
        let network = Self { folder: tempfile::tempdir().unwrap(), hosts };
        network.say(&["ca", "init", "ca"]);
        for name in ["robot", "station"] {
            network.say(&["ca", "enroll", "ca", name]);
        }
        network.say(&["ca", "enroll", "ca", "bench", "--controller"]);
        let agents = "robot = \"10.77.0.1:7600\"\nstation = \"10.77.0.2:7600\"\n";
        std::fs::write(network.path("agents.toml"), agents).unwrap();
        network
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command that has to end well.
    pub(crate) fn say(&self, words: &[&str]) {
        let output = self.program().args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Starts the agent of a host, and waits until it listens.
    pub(crate) fn agent(&self, host: &Host, more: &[&str]) -> Program {
        let listen = format!("{}:7600", host.address);
        let pid = host.holder.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &pid, PROGRAM, "agent", "serve", "--identity", host.name]);
        command.args(["--listen", &listen, "--data", host.address]).args(more);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        let agent = Program::start(command);
        agent.said("waits for controllers");
        agent
    }

    pub(crate) fn agents(&self) -> [Program; 2] {
        [0, 1].map(|index| self.agent(&self.hosts[index], &[]))
    }

    /// A program on a host, or beside the controller.
    pub(crate) fn on(&self, host: Option<&Host>, program: &str) -> Command {
        let Some(host) = host else { return Command::new(program) };
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &host.holder.id().to_string(), program]);
        command
    }

    /// Starts a program that goes on until it is dropped.
    pub(crate) fn background(&self, mut command: Command) -> Program {
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        Program::start(command)
    }

    /// Gives the controller an interface of its own, `to-self`, beside that to the bridge.
    pub(crate) fn plug_in_controller(&self) {
        if Command::new("ip").args(["link", "show", "dev", "to-self"]).output().unwrap().status.success() {
            return;
        }
        run("ip", &["link", "add", "to-self", "type", "veth", "peer", "name", "to-controller"]);
        run("ip", &["link", "set", "to-controller", "master", "bridge", "up"]);
        run("ip", &["link", "set", "to-self", "up"]);
    }

    /// Occupies an address of a host's.
    pub(crate) fn occupy(&self, host: &Host, address: &str) -> Program {
        let pid = host.holder.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &pid]).arg(std::env::current_exe().unwrap()).args(["hold", address]);
        let held = Program::start(command);
        held.said("holds");
        held
    }

    fn controller_command(&self, text: &str, out: &str, more: &[&str]) -> Command {
        std::fs::write(self.path("two.toml"), text).unwrap();
        let mut command = self.program();
        command.args(["controller", "two.toml", "--identity", "bench", "--agents", "agents.toml", "--out", out]);
        command.args(more);
        command
    }

    /// Runs the controller to its end.
    pub(crate) fn controller(&self, text: &str, out: &str, more: &[&str]) -> Output {
        self.controller_command(text, out, more).output().unwrap()
    }

    /// Starts the controller, and waits until the run is armed.
    pub(crate) fn controller_started(&self, text: &str, out: &str) -> Program {
        let controller = Program::start(self.controller_command(text, out, &[]));
        controller.said("running over 2 hosts");
        controller
    }

    /// Pulls the cable of a host, or puts it back.
    pub(crate) fn cable(&self, host: &Host, is_there: bool) {
        run("ip", &["link", "set", &format!("to-{}", host.name), if is_there { "up" } else { "down" }]);
    }

    /// No process but those that keep the hosts, and this one.
    pub(crate) fn nothing_is_left(&self) {
        let expected: Vec<i32> = self.hosts.iter().map(|host| host.holder.id() as i32).collect();
        let others = || processes().into_iter().filter(|pid| !expected.contains(pid)).count();
        wait(|| others() == 0, "the end of all processes");
    }
}

/// Processes of this namespace that live, but for this one.
fn processes() -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let lives = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    pids.filter(lives).filter(|pid| *pid != std::process::id() as i32).collect()
}

/// Processes of stations: those of the program with the one argument `agent`.
pub(crate) fn stations() -> Vec<i32> {
    let is_station = |pid: &i32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("chronoseal-testbed") && line.ends_with("\0agent\0")
    };
    processes().into_iter().filter(is_station).collect()
}

/// Waits for something for ten seconds.
pub(crate) fn wait(mut is_so: impl FnMut() -> bool, what: &str) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(10), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A process, and what it says on standard error.
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (to, lines) = channel();
        std::thread::spawn(move || errors.lines().map_while(Result::ok).all(|line| to.send(line).is_ok()));
        Self { child, lines }
    }

    /// Waits for a line that has these words.
    pub(crate) fn said(&self, words: &str) -> String {
        let mut all = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(10)) {
                Ok(line) if line.contains(words) => return line,
                Ok(line) => all.push(line),
                Err(_) => panic!("it did not say `{words}` but {all:?}"),
            }
        }
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Its exit status, when it has ended by itself.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Holds a port of UDP until it is ended.
#[expect(clippy::disallowed_types, reason = "it is somebody else's program")]
pub(crate) fn hold(address: &str) -> ExitCode {
    let address: SocketAddr = address.parse().unwrap();
    let _socket = std::net::UdpSocket::bind(address).unwrap();
    eprintln!("holds {address}");
    std::thread::sleep(Duration::from_secs(60));
    ExitCode::SUCCESS
}
