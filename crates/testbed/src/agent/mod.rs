//! An end system as a process: its own network namespace, its own interfaces, one node, or several that share it.

mod driver;
mod launch;
mod member;
mod own_cost;
mod port;
mod program;
mod setup;
mod usage;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use chronoseal_core::{Duration, Node, NodeId};

use self::member::Member;
pub use self::own_cost::{OwnCost, OwnStream, own_cost};
use crate::clock::RunClock;
use crate::connection::channel::{NoTransports, Transports};
use crate::message::{self, FromAgent, MemberSetup, Step, ToAgent};

/// Records of each kind the logs of an agent have room for together before one has to grow.
const LOG_ROOM: usize = 1 << 18;

/// Builds the nodes of one process, in the order in which they are called for, from the scenario's bytes, as
/// [`crate::LiveConfig::node_config`] holds them.
pub type NodeFactory<'a> = dyn Fn(&[u8], &[NodeId]) -> Result<Vec<Box<dyn Node + Send>>, FactoryError> + 'a;

/// Why there is no node: an error of whoever knows scenarios, which this crate does not. It travels to the controller as
/// text.
pub type FactoryError = Box<dyn std::error::Error + Send + Sync>;

/// True if the standard input of this process is a socket, as that of an agent's is: nobody typed its command.
pub fn has_controller() -> bool {
    let input = std::io::stdin().as_fd().try_clone_to_owned();
    input.is_ok_and(|input| UnixStream::from(input).local_addr().is_ok())
}

/// [`agent_main_together`] for nodes that share nothing, each built by itself.
pub fn agent_main(factory: impl Fn(&[u8], NodeId) -> Result<Box<dyn Node + Send>, FactoryError>) -> ExitCode {
    agent_main_together(&NoTransports, |config, nodes| nodes.iter().map(|node| factory(config, *node)).collect())
}

/// The whole life of an agent that has `transports` beside the kernel's; the process does nothing else. Its standard input is the socket to the controller, so
/// it ends when the controller does, however that ends.
///
/// The binary that calls [`crate::run`] has to call this when it is started with [`crate::LiveConfig::agent_command`].
pub fn agent_main_together(
    transports: &dyn Transports,
    factory: impl Fn(&[u8], &[NodeId]) -> Result<Vec<Box<dyn Node + Send>>, FactoryError>,
) -> ExitCode {
    let Ok(socket) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(2);
    };
    // Where the controller's thread dies without closing its sockets, the kernel ends us.
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    match live(&socket, transports, &factory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Told(step, reason)) => {
            // If nobody listens any more there is nobody to tell.
            let _ = message::send(&socket, &FromAgent::Failed { step, reason });
            ExitCode::from(2)
        }
        Err(Failure::ControllerGone) => ExitCode::from(3),
    }
}

/// Why an agent ends before its time.
enum Failure {
    /// Something the controller should hear of.
    Told(Step, String),
    /// The controller closed the socket.
    ControllerGone,
}

impl Failure {
    fn at(step: Step) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::Told(step, error.to_string())
    }
}

fn live(socket: &UnixStream, transports: &dyn Transports, factory: &NodeFactory<'_>) -> Result<(), Failure> {
    let gone = |_| Failure::ControllerGone;
    let setup = match message::receive(socket).map_err(gone)? {
        ToAgent::Setup(setup) => setup,
        ToAgent::Enrol(addresses) => {
            let made = transports.enrol(&addresses);
            let made = made.map_err(|error| Failure::Told(Step::Transport, error.to_string()))?;
            return message::send(socket, &FromAgent::Enrolled(made)).map_err(gone);
        }
        ToAgent::Arm { .. } | ToAgent::Stop | ToAgent::Finish => {
            return Err(Failure::Told(Step::Run, "the first message is not the set-up".into()));
        }
    };
    let (mut ports, ends, facts) = setup::make(&setup, transports)?;
    if setup.is_trial {
        return message::send(socket, &FromAgent::Ready(facts)).map_err(gone);
    }
    let ids: Vec<NodeId> = setup.members.iter().map(|member| NodeId(member.node)).collect();
    let nodes = factory(&setup.config, &ids).map_err(|error| Failure::Told(Step::Node, error.to_string()))?;
    if nodes.len() != ids.len() {
        let reason = format!("{} nodes were built of the {} that share this process", nodes.len(), ids.len());
        return Err(Failure::Told(Step::Node, reason));
    }
    message::send(socket, &FromAgent::Ready(facts)).map_err(gone)?;
    crate::sys::send_descriptors(socket, &ends).map_err(gone)?;
    // From here on only the emulator holds the other ends of the wires.
    drop(ends);
    let ToAgent::Arm { epoch_ns, duration_ps } = message::receive(socket).map_err(gone)? else {
        return Err(Failure::Told(Step::Run, "the second message does not arm the run".into()));
    };
    let clock = RunClock { epoch_ns, shares_processor: facts.fifo };
    let (duration, records) = (Duration::from_ps(duration_ps), LOG_ROOM / ids.len().max(1));
    let member = |(member, node): (&MemberSetup, _)| {
        let own = ports.drain(..member.ports.len()).collect();
        Member::new(member, own, node, clock, duration, records)
    };
    let members: Vec<Member> = setup.members.iter().zip(nodes).map(member).collect();
    let mut logs = driver::run(socket, members, clock, Duration::from_ps(setup.stall_threshold_ps))?;
    logs.iter_mut().for_each(|log| log.scenario_hash.clone_from(&setup.scenario_hash));
    message::send(socket, &FromAgent::Logs(logs)).map_err(gone)
}
