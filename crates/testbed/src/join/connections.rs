//! What became of connections, from what both of their ends wrote down.

use chronoseal_core::{Duration, NodeId, SimTime, StreamId};

use crate::config::{AgentConfig, PortLink};
use crate::connection::channel::Transport;
use crate::log::{AgentLog, ConnectionRecord};
use crate::traffic::Traffic;

/// What became of a connection that carries a stream to one of its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectionFact {
    /// Which stream.
    pub stream: StreamId,
    /// What carried it.
    pub transport: Transport,
    /// Who dialled.
    pub sender: NodeId,
    /// Who was dialled.
    pub receiver: NodeId,
    /// From dialling until it was open to messages at its receiver, handshakes included; `None` if it never was.
    pub opened_after: Option<Duration>,
}

/// The connections of a run, in the order of those that dialled.
pub(crate) fn facts(agents: &[AgentConfig], logs: &[Option<AgentLog>]) -> Vec<ConnectionFact> {
    let ends = || agents.iter().zip(logs).flat_map(|(agent, log)| log.iter().map(move |log| (agent, log)));
    let records = || ends().flat_map(|(agent, log)| log.connections.iter().map(move |record| (agent, record)));
    let dialled = records().filter(|(_, record)| record.config.sends);
    let fact = |(agent, ours): (&AgentConfig, &ConnectionRecord)| {
        let is_other = |(other, record): &(&AgentConfig, &ConnectionRecord)| {
            !record.config.sends
                && record.config.stream == ours.config.stream
                && addresses(other).any(|address| address == ours.config.peer)
                && addresses(agent).any(|address| address == record.config.peer)
        };
        let (receiver, theirs) = records().find(is_other)?;
        let opened_after = theirs.opened_ps.zip(ours.dialled_ps).map(|(opened, dialled)| opened - dialled);
        Some(ConnectionFact {
            stream: StreamId(ours.config.stream),
            transport: ours.config.transport,
            sender: agent.node,
            receiver: receiver.node,
            opened_after: opened_after.map(Duration::from_ps),
        })
    };
    dialled.filter_map(fact).collect()
}

/// The ends that broke before their run was over, in words.
pub(super) fn broken(
    agent: &AgentConfig,
    agents: &[AgentConfig],
    log: &AgentLog,
    traffic: &dyn Traffic,
) -> impl Iterator<Item = String> {
    let words = |record: &ConnectionRecord| {
        let (at_ps, why) = record.broken.as_ref()?;
        let peer = agents.iter().find(|other| addresses(other).any(|address| address == record.config.peer));
        let [a, b, c, d] = record.config.peer;
        let peer = peer.map_or_else(|| format!("{a}.{b}.{c}.{d}"), |peer| peer.name.clone());
        let (name, stream) = (&agent.name, traffic.stream_name(StreamId(record.config.stream)));
        let at = SimTime::from_ps(*at_ps).since_zero();
        Some(format!("{name}: the connection of {stream} with {peer} broke at {at}: {why}"))
    };
    log.connections.iter().filter_map(words)
}

fn addresses(agent: &AgentConfig) -> impl Iterator<Item = [u8; 4]> {
    agent.ports.iter().filter_map(|link| match link {
        PortLink::Socket(link) => Some(link.address),
        PortLink::Host(link) => Some(link.address),
        PortLink::Tap | PortLink::Pair | PortLink::Existing(_) | PortLink::CanInterface(_) => None,
    })
}
