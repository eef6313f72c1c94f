//! What a live run is made of: agents with their ports, guests, duration and scheduling.

use std::path::PathBuf;

use chronoseal_core::{Duration, NodeId, PortId, Ppm};
use chronoseal_media::medium::{Attachment, Medium};
use serde::{Deserialize, Serialize};

use crate::can::{Guest, GuestKind};
use crate::error::LiveError;
use crate::host_link::HostLink;
use crate::node_clock::{ClockStep, NodeClock};
use crate::socket::SocketLink;

/// A live run.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// Every station and attacker.
    pub agents: Vec<AgentConfig>,
    /// Who takes part beside them without being an agent.
    pub guests: Vec<Guest>,
    /// Handed to the [`crate::NodeFactory`] of every agent as it is.
    pub node_config: Vec<u8>,
    /// What is run, by the hash of its scenario: every log has it, and one of something else is refused. Empty if it has no scenario.
    pub scenario_hash: String,
    /// From start to stop.
    pub duration: Duration,
    /// How long frames that are on their way may still take after that.
    pub drain: Duration,
    /// Keep every frame's bytes as the medium saw them.
    pub capture: bool,
    /// A wake-up of emulator, agent or sentinel later than this is a stall.
    pub stall_threshold: Duration,
    /// Ask for `SCHED_FIFO`; without it the kernel's time slices show in every figure.
    pub fifo: bool,
    /// Do without `/dev/net/tun` even where it can be opened: pairs of virtual Ethernet interfaces take the place of TAP interfaces.
    pub no_tun: bool,
    /// On which processors.
    pub placement: Placement,
    /// How to start an agent; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
}

/// A station or an attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentConfig {
    /// Its number in the plan.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// In which process.
    pub home: Home,
    /// What each of its ports is, from port 0 on: 1 to 16 of them, of different kinds if need be.
    pub ports: Vec<PortLink>,
    /// A program of others that it runs in its network namespace; it has one of its own by a port of [`PortLink::Socket`].
    pub program: Option<Program>,
    /// What its clock shows when the run starts.
    pub offset: Duration,
    /// How much too fast its clock runs.
    pub drift: Ppm,
    /// Where its clock jumps.
    pub clock_step: Option<ClockStep>,
    /// Frames it sends after reporting an attack are part of the attack; what it receives is no delivery.
    pub is_attacker: bool,
    /// Somebody has taken it over: frames it sends after reporting an attack are part of the attack, and all else is as at any
    /// station.
    pub is_taken_over: bool,
}

/// A program of others.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it is started `[ps]`, from the start of the run.
    pub from_ps: i64,
    /// The processors that it may use; all if there are none.
    pub cpus: Vec<usize>,
    /// The streams that it carries.
    pub streams: Vec<ProgramStream>,
}

/// A process that runs this much later than it should was kept from its processor, unless a run says another time.
pub(crate) const STALL_THRESHOLD: Duration = Duration::from_ms(1);

/// A stream that programs carry, as one of them is told of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct ProgramStream {
    /// Its number, which records have.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// This program sends it; else it receives it.
    pub sends: bool,
    /// Addresses of those at its other end.
    pub peers: Vec<String>,
    /// Distance of two messages `[ns]`.
    pub period_ns: i64,
    /// When the first message is due, from the start of the run `[ns]`.
    pub offset_ns: i64,
    /// A message `[byte]`.
    pub length: u32,
}

/// In which process a node lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Home {
    /// One of its own.
    #[default]
    Own,
    /// One of its own, and what it computes takes so long that the medium should not wait for it: with
    /// [`Placement::OneProcessor`] it is on another processor than the emulator, if there is another.
    Aside,
    /// All nodes of this kind share one, which is placed as [`Home::Aside`] is. They take turns: while one computes, the
    /// others wait.
    Shared,
}

/// What lies between a port of an agent and what carries its frames.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub enum PortLink {
    /// Ethernet frames over a TAP interface in a network namespace of the agent's own. Its other end is at the medium.
    Tap,
    /// Messages of UDP through a socket of the kernel, over a TAP interface in a network namespace of the agent's own. Its other end is
    /// at the medium.
    Socket(SocketLink),
    /// Messages of UDP and TCP through the host's own network, to stations on other hosts. There is no medium: a run with such ports is
    /// made of a [`crate::Worker`] on each host.
    Host(HostLink),
    /// CAN frames, in the layout of [`chronoseal_wire::can::layout`], over a socket pair to the medium: no namespace, no
    /// interface, no privilege.
    Pair,
    /// An Ethernet interface that is there already, such as the end of a cable to another station. It takes the place of
    /// the medium, so there are no rows of its frames. Needs root.
    Existing(ExistingInterface),
    /// The CAN interface of the kernel with this name takes the place of the medium. It is in the network namespace of the
    /// process that calls [`crate::run`]. Rows of its frames come from the guest that listens there
    /// ([`GuestKind::Listener`]), without which such a port is refused.
    CanInterface(String),
}

/// A network interface that is there already.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct ExistingInterface {
    /// Network namespace it is in, as `ip netns` names it.
    pub namespace: String,
    /// Its name there.
    pub interface: String,
}

/// Program and arguments of an agent process. It has to end up in [`crate::agent_main`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Where emulator and agents run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// All on one processor, but for what is set aside ([`Home`]), the last one allowed: waking a thread of another processor costs 10..13 us on a virtual
    /// machine, on the same one 3..5 us.
    OneProcessor,
    /// The emulator on the last processor, the agents on the others in turn.
    Apart,
    /// Wherever the kernel likes. Latencies may then jump in the middle of a run.
    Free,
}

/// The processors that programs of others may use: with no placement asked for, all but the emulator's.
pub fn cpus_of_programs(placement: Option<Placement>) -> Vec<usize> {
    let mut cpus = crate::sys::allowed_cpus();
    match placement {
        Some(Placement::Free) => {}
        Some(Placement::OneProcessor) => cpus = cpus.split_off(cpus.len().saturating_sub(1)),
        Some(Placement::Apart) | None if cpus.len() > 1 => cpus.truncate(cpus.len() - 1),
        Some(Placement::Apart) | None => {}
    }
    cpus
}

/// Most ports of an agent.
const PORTS_MAX: usize = 16;

impl LiveConfig {
    /// A run of `agents` for `duration` without guests, with what suits most hosts.
    pub fn new(agents: Vec<AgentConfig>, node_config: Vec<u8>, duration: Duration) -> Self {
        Self {
            agents,
            guests: Vec::new(),
            node_config,
            scenario_hash: String::new(),
            duration,
            drain: Duration::from_ms(50),
            capture: false,
            stall_threshold: STALL_THRESHOLD,
            fifo: true,
            no_tun: false,
            placement: Placement::OneProcessor,
            agent_command: None,
        }
    }

    /// Whether agents have connections to each other.
    pub(crate) fn connects(&self) -> bool {
        let connects = |link: &PortLink| matches!(link, PortLink::Socket(link) if !link.connections.is_empty());
        self.agents.iter().flat_map(|agent| &agent.ports).any(connects)
    }

    /// Refuses what cannot be run on `medium`.
    pub(crate) fn check(&self, medium: &(dyn Medium + Send)) -> Result<(), LiveError> {
        let wrong = |text: String| Err(LiveError::Configuration(text));
        if self.duration <= Duration::ZERO {
            return wrong(format!("a live run needs a duration above zero, not {}", self.duration));
        }
        for (index, agent) in self.agents.iter().enumerate() {
            if self.agents[..index].iter().any(|other| other.node == agent.node) {
                return wrong(format!("{} is there twice", agent.name));
            }
            self.check_ports(agent)?;
        }
        for (index, guest) in self.guests.iter().enumerate() {
            let Attachment { node, port } = guest.attachment;
            let is_agents = self.agents.iter().any(|agent| agent.node == node);
            if is_agents || self.guests[..index].iter().any(|other| other.attachment == guest.attachment) {
                return wrong(format!("the guest at port {} of node {} has somebody else's place", port.0, node.0));
            }
            let GuestKind::Listener(interface) = &guest.kind else { continue };
            if self.listeners(interface).count() > 1 {
                return wrong(format!("the CAN interface `{interface}` has more than one listener"));
            }
            if medium.segment_of(guest.attachment).is_none() {
                let place = format!("port {} of node {}", port.0, node.0);
                return wrong(format!("the listener on the CAN interface `{interface}` has {place}, on no segment"));
            }
        }
        Ok(())
    }

    fn check_ports(&self, agent: &AgentConfig) -> Result<(), LiveError> {
        let wrong = |text: String| Err(LiveError::Configuration(text));
        let (name, ports) = (&agent.name, agent.ports.len());
        if !(1..=PORTS_MAX).contains(&ports) {
            return wrong(format!("{name} has {ports} ports; 1 to {PORTS_MAX} can be run live"));
        }
        let has_network = agent.ports.iter().any(|link| matches!(link, PortLink::Socket(_)));
        if agent.program.is_some() && !(has_network && agent.home == Home::Own) {
            return wrong(format!("{name} has a program, and no network and process of its own for it"));
        }
        if agent.ports.iter().any(|link| matches!(link, PortLink::Host(_))) {
            return wrong(format!("{name} speaks to other hosts, and this run is of one host"));
        }
        for (port, link) in agent.ports.iter().enumerate() {
            if !link.is_wire() && agent.ports[..port].contains(link) {
                return wrong(format!("two ports of {name} are the same interface"));
            }
            if let PortLink::CanInterface(interface) = link
                && self.listeners(interface).next().is_none()
            {
                return wrong(format!(
                    "port {port} of {name} is the CAN interface `{interface}`, where nobody listens for the records"
                ));
            }
        }
        Ok(())
    }

    fn listeners<'a>(&'a self, interface: &'a str) -> impl Iterator<Item = &'a Guest> {
        let listens = move |kind: &GuestKind| matches!(kind, GuestKind::Listener(name) if name == interface);
        self.guests.iter().filter(move |guest| listens(&guest.kind))
    }
}

impl AgentConfig {
    /// A station with one port, a TAP interface, and a perfect clock.
    pub fn new(node: NodeId) -> Self {
        Self {
            node,
            name: format!("node {}", node.0),
            home: Home::Own,
            ports: vec![PortLink::Tap],
            program: None,
            offset: Duration::ZERO,
            drift: Ppm(0),
            clock_step: None,
            is_attacker: false,
            is_taken_over: false,
        }
    }

    /// Its clock.
    pub(crate) fn clock(&self) -> NodeClock {
        NodeClock::new(self.offset, self.drift, self.clock_step)
    }

    /// Each port and what it is.
    pub(crate) fn attachments(&self) -> impl Iterator<Item = (Attachment, &PortLink)> {
        let at = |port: usize| Attachment { node: self.node, port: PortId(port as u16) };
        self.ports.iter().enumerate().map(move |(port, link)| (at(port), link))
    }
}

impl PortLink {
    /// It leads to the emulator, which holds its other end.
    pub(crate) fn is_wire(&self) -> bool {
        matches!(self, Self::Tap | Self::Socket(_) | Self::Pair)
    }

    /// Whether its owner is told when a frame has left, on a medium that says so or not. A TAP interface carries frames
    /// only; a CAN interface of the kernel says it always.
    pub(crate) fn is_told(&self, medium_tells: bool) -> bool {
        match self {
            Self::Tap | Self::Socket(_) | Self::Host(_) | Self::Existing(_) => false,
            Self::Pair => medium_tells,
            Self::CanInterface(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_waits_for_no_word_that_its_link_cannot_carry() {
        let cable = ExistingInterface { namespace: "a".into(), interface: "cable".into() };
        let told = |link: &PortLink| [false, true].map(|medium_tells| link.is_told(medium_tells));
        // A frame to such an interface has left when it was handed over, whatever the medium could tell.
        assert_eq!(told(&PortLink::Tap), [false, false]);
        assert_eq!(told(&PortLink::Existing(cable)), [false, false]);
        assert_eq!(told(&PortLink::Pair), [false, true]);
        assert_eq!(told(&PortLink::CanInterface("can0".into())), [true, true]);
    }
}
