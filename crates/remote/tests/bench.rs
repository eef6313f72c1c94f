//! Authorities, identities and agents for tests.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use chronoseal_catalog::Prepared;
use chronoseal_remote::{
    AgentEntry, Agents, Authority, ControlError, Identity, Limits, Options, Role, ServeOptions, Server, VirtualClock,
    control,
};
use chronoseal_runner::Run;
use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_testbed::AgentCommand;

/// Two stations that speak both ways, and an image over TCP.
pub(crate) const SCENARIO: &str = r#"
schema_version = 2
name = "two"
duration = "1s"
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
deadline = "100ms"
[[streams]]
name = "command"
from = "station"
to = ["robot"]
period = "5ms"
offset = "1ms"
length = "64B"
deadline = "100ms"
"#;

/// A stream over TCP beside them.
pub(crate) const IMAGE: &str = r#"
[[streams]]
name = "image"
from = "robot"
to = ["station"]
period = "100ms"
length = "200kB"
air = { transport = "tcp" }
"#;

pub(crate) fn load(text: &str) -> Scenario {
    Scenario::load("two.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// A folder with an authority.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) authority: Authority,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca");
        Authority::init(&ca).unwrap();
        Self { authority: Authority::open(&ca).unwrap(), folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn identity(&self, name: &str, role: Role) -> Identity {
        let folder = self.path(&format!("{name}-{role:?}"));
        if !folder.exists() {
            self.authority.enroll(name, role, 1, &folder).unwrap();
        }
        Identity::read(&folder).unwrap()
    }
}

/// An agent on a thread of its own, until this is dropped.
pub(crate) struct Agent {
    pub(crate) address: SocketAddr,
    pub(crate) clock: VirtualClock,
    stop: Arc<AtomicBool>,
    notes: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    /// One that sends from `127.0.0.HOST`.
    pub(crate) fn start(identity: Identity, host: u8, limits: Limits, clock: VirtualClock) -> Self {
        let program = std::env::current_exe().unwrap();
        let options = ServeOptions {
            identity,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            data: Ipv4Addr::new(127, 0, 0, host),
            limits,
            clock,
            ptp: "/nowhere/ptp4l".into(),
            agent_command: Some(AgentCommand { program, arguments: vec!["agent".into()] }),
        };
        let server = Server::bind(options).unwrap();
        let address = server.address().unwrap();
        let (stop, notes) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (its_stop, its_notes) = (Arc::clone(&stop), Arc::clone(&notes));
        let thread = std::thread::spawn(move || {
            server.run(&|line| its_notes.lock().unwrap().push(line.to_owned()), &its_stop);
        });
        Self { address, clock, stop, notes, thread: Some(thread) }
    }

    /// What it said of a connection, when it has said so much.
    pub(crate) fn said(&self, words: &str) {
        for _ in 0..200 {
            if self.notes.lock().unwrap().iter().any(|line| line.contains(words)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("it did not say `{words}` but {:?}", self.notes.lock().unwrap());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Two agents of one authority, for [`SCENARIO`].
pub(crate) fn two(bench: &Bench, clocks: [VirtualClock; 2]) -> [Agent; 2] {
    let [robot, station] = clocks;
    [
        Agent::start(bench.identity("robot", Role::Agent), 21, Limits::default(), robot),
        Agent::start(bench.identity("station", Role::Agent), 22, Limits::default(), station),
    ]
}

pub(crate) fn options(agents: &[(&str, &Agent)]) -> Options {
    let entry = |(name, agent): &(&str, &Agent)| {
        let name = (*name).to_owned();
        (name.clone(), AgentEntry { control: agent.address.to_string(), name, data: None })
    };
    Options { agents: Agents(agents.iter().map(entry).collect::<BTreeMap<_, _>>()), ..Options::default() }
}

pub(crate) fn drive(text: &str, identity: &Identity, options: &Options) -> Result<Run, ControlError> {
    drive_until(text, identity, options, &AtomicBool::new(false))
}

pub(crate) fn drive_until(
    text: &str,
    identity: &Identity,
    options: &Options,
    stop: &AtomicBool,
) -> Result<Run, ControlError> {
    let scenario = load(text);
    let prepared = Prepared::new(&scenario.plan).unwrap();
    control(&scenario, &prepared, identity, options, &|_| {}, stop)
}

/// The processes of stations that this process has started.
pub(crate) fn workers() -> usize {
    let threads = Path::new("/proc/self/task").read_dir().unwrap().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().count()).sum()
}
