//! The controller: one run made of what agents on several hosts did.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration as Time, NodeId};
use chronoseal_results::{ClockSource, Fact, HostClock, HostMeta};
use chronoseal_runner::{HostRun, MeasureError, OverHosts, Run, stations};
use chronoseal_scenario::Scenario;
use chronoseal_testbed::{AgentRecord, monotonic_ns};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use crate::agents::{AgentEntry, Agents};
use crate::channel::{Channel, ChannelError};
use crate::clocks::{self, ClockLine, Exchange, Reading, VirtualClock};
use crate::identity::Identity;
use crate::message::{Build, FromAgent, Prepare, ToAgent};
use crate::session::SILENT_IN_RUN;
use crate::tls::{self, Unusable};

/// A connection has to stand within this time.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// An agent may take so long to set its station up.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Exchanges that clocks are compared by, before the run and after it.
const EXCHANGES: usize = 64;

/// In the run an agent is asked this often, which also says that the controller is there.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// From arming to the start of the run.
const LEAD: Time = Time::from_ms(500);

/// The same where stations connect to each other first.
const LEAD_TO_CONNECT: Time = Time::from_ms(3_000);

/// Messages that were sent may come so long after the run's end; what has not come then is lost.
const DRAIN: Time = Time::from_ms(1_000);

/// From the decision to stop early to the stop, so that all agents hear of it before and stop together.
const STOP_AFTER: Time = Time::from_ms(600);

/// An agent sends something of its records at least this often.
const RECORD_WITHIN: Duration = Duration::from_secs(30);

/// The longest record `[byte]`; one of an hour fits.
const RECORD_LEN_MAX: u64 = 4 << 30;

/// What an agent's clock is compared by in any run.
const EXCHANGES_NAME: &str = "the test bed's own exchanges";

/// An agent has asked its ptp4l after this time.
const PTP_WITHIN: Duration = Duration::from_secs(10);

/// Exchanges of the run that stand for those after it where an agent was lost.
const LAST_EXCHANGES: usize = 8;

/// How to run a scenario over several hosts.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// Where each node is.
    pub agents: Agents,
    /// Do without `SCHED_FIFO` even where it is granted.
    pub no_fifo: bool,
    /// How far apart clocks may be, whatever deadlines are.
    pub clock_uncertainty: Option<Time>,
    /// Where ptp4l of this host listens, if there is one.
    pub ptp: PathBuf,
}

impl Options {
    /// What is not as usual, by the names of the command line's options.
    fn facts(&self) -> Vec<Fact> {
        let fifo = self.no_fifo.then(|| ("no-fifo".into(), "yes".into()));
        let clocks = self.clock_uncertainty.map(|limit| ("clock-uncertainty".into(), limit.to_string()));
        fifo.into_iter().chain(clocks).collect()
    }
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The scenario is none for several hosts.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// This identity.
    #[error(transparent)]
    Identity(#[from] Unusable),
    /// A node has no agent.
    #[error("no agent is given for node {0}; add a line such as {0} = \"10.0.0.1:7600\"")]
    Missing(String),
    /// An agent has no node.
    #[error("there is an agent for {name}, and the scenario's nodes are {nodes}; leave it out or mend the name")]
    Unknown {
        /// For whom.
        name: String,
        /// Who there is.
        nodes: String,
    },
    /// Two nodes on one host.
    #[error(
        "the agents of {one} and {other} both send from {address}, and each needs an address of its own: start one with another --data, \
         or run on one host: chronoseal run FILE --engine live"
    )]
    SameAddress {
        /// A node.
        one: String,
        /// Another.
        other: String,
        /// Their address.
        address: Ipv4Addr,
    },
    /// An agent that does not take part.
    #[error("the agent of {node} at {control}: {reason}")]
    Agent {
        /// Its node.
        node: String,
        /// Where it listens.
        control: String,
        /// Why not, in words.
        reason: String,
    },
    /// Ctrl-C before it began.
    #[error("stopped before the run began")]
    Stopped,
}

/// A connection to the agent of a node.
struct Link {
    node: NodeId,
    name: String,
    entry: AgentEntry,
    channel: Channel,
    data: Ipv4Addr,
    facts: Vec<Fact>,
}

/// An agent over a run.
struct Watched {
    exchanges: Vec<Exchange>,
    after: Option<Compared>,
    record: Result<AgentRecord, String>,
}

/// An agent's clock beside this host's, at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Compared {
    /// By exchanges with the agent.
    own: Reading,
    /// By what the ptp4l of both hosts say, with the clock that they follow, or why not; `None` if this host has none.
    ptp: Option<Result<(String, Reading), String>>,
}

/// What all who watch an agent share.
struct Watch<'s> {
    /// Where ptp4l of this host listens.
    ptp: &'s Path,
    /// Of what is run.
    scenario_hash: &'s str,
    /// When the run ends, what is under way included, by this host's clock `[ns]`.
    end_ns: i64,
    stop: &'s AtomicBool,
    /// An agent was lost.
    is_lost: AtomicBool,
    /// When all stop before that, by this host's clock `[ns]`; 0 if they do not.
    stop_at_ns: AtomicI64,
}

impl Watch<'_> {
    /// When all are to stop before the end, if they are; the first who has a reason says when.
    fn stop_at_ns(&self, now_ns: i64) -> Option<i64> {
        if self.stop.load(Ordering::Relaxed) || self.is_lost.load(Ordering::Relaxed) {
            let at_ns = now_ns + STOP_AFTER.as_ns();
            // Whoever is second takes the time of the first.
            let _ = self.stop_at_ns.compare_exchange(0, at_ns, Ordering::Relaxed, Ordering::Relaxed);
        }
        Some(self.stop_at_ns.load(Ordering::Relaxed)).filter(|at_ns| *at_ns != 0)
    }
}

/// Runs a scenario over the hosts of agents. What happens is told to `note`, a line at a time; `stop` ends it early with what there is.
///
/// # Errors
/// [`ControlError`]. An agent that is lost in the middle is no error: what the others wrote down is the run, and it says so.
pub fn control(
    scenario: &Scenario,
    prepared: &Prepared<'_>,
    identity: &Identity,
    options: &Options,
    note: &dyn Fn(&str),
    stop: &AtomicBool,
) -> Result<Run, ControlError> {
    let plan = prepared.plan();
    let nodes = stations(prepared)?;
    let entries = entries(prepared, &nodes, &options.agents)?;
    let tls = tls::client(identity)?;
    let mut links = Vec::new();
    for (node, entry) in entries {
        let name = plan.node_name(node);
        links.push(connect(node, name, entry, &tls)?);
    }
    check_addresses(&links)?;
    let addresses = links.iter().map(|link| (link.node, link.data.octets())).collect();
    let hosts = OverHosts::new(prepared, &addresses)?;
    let by_name: BTreeMap<String, [u8; 4]> = links.iter().map(|link| (link.name.clone(), link.data.octets())).collect();
    for link in &mut links {
        let prepare = Prepare {
            texts: scenario.texts().clone(),
            scenario_hash: plan.scenario_hash.clone(),
            node: link.name.clone(),
            addresses: by_name.clone(),
            no_fifo: options.no_fifo,
        };
        set_up(link, prepare)?;
    }
    let mut before = Vec::new();
    for link in &mut links {
        let compared = compare(link, &options.ptp).map_err(|error| link.error(error))?;
        let Compared { own: reading, ptp } = &compared;
        note(&format!(
            "{}: agent `{}` at {}, its clock ahead by {:.6} ms, to {:.3} us",
            link.name,
            link.entry.name,
            link.entry.control,
            reading.offset as f64 / 1e6,
            reading.uncertainty as f64 / 1e3
        ));
        match ptp {
            Some(Ok((grandmaster, reading))) => note(&format!(
                "{}: by ptp4l, which follows {grandmaster}, ahead by {:.6} ms, to {:.3} us",
                link.name,
                reading.offset as f64 / 1e6,
                reading.uncertainty as f64 / 1e3
            )),
            Some(Err(why)) => note(&format!("{}: not compared by ptp4l, because {why}", link.name)),
            None => {}
        }
        before.push(compared);
    }
    if stop.load(Ordering::Relaxed) {
        return Err(ControlError::Stopped);
    }
    let lead = if hosts.connects() { LEAD_TO_CONNECT } else { LEAD };
    let epoch_ns = monotonic_ns() + lead.as_ns();
    for (link, compared) in links.iter_mut().zip(&before) {
        let armed = link.channel.send(&ToAgent::Arm { epoch_ns: epoch_ns + compared.own.offset });
        armed.map_err(|error| link.error(error))?;
    }
    note(&format!("running over {} hosts for {}", links.len(), plan.duration));
    let watch = Watch {
        ptp: &options.ptp,
        scenario_hash: &plan.scenario_hash,
        end_ns: epoch_ns + (plan.duration + DRAIN).as_ns(),
        stop,
        is_lost: AtomicBool::new(false),
        stop_at_ns: AtomicI64::new(0),
    };
    let watched: Vec<Watched> = thread::scope(|scope| {
        let each = |(link, before): (_, &Compared)| {
            let (watch, ahead_ns) = (&watch, before.own.offset);
            scope.spawn(move || watch_over(link, ahead_ns, watch))
        };
        let threads: Vec<_> = links.iter_mut().zip(&before).map(each).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|watched| watched.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });

    let mut run = HostRun {
        records: BTreeMap::new(),
        hosts: Vec::new(),
        lost: None,
        interrupted: stop.load(Ordering::Relaxed),
        tolerance: options.clock_uncertainty,
        options: options.facts(),
    };
    for ((link, before), watched) in links.iter().zip(before).zip(watched) {
        let Watched { exchanges, after, record } = watched;
        let ahead_ns = before.own.offset;
        let judged = after.map(|after| Judged::new(&before, &after, &exchanges));
        let clock = judged.as_ref().map(|Judged { line, .. }| HostClock {
            offset_ns: line.offset_at(epoch_ns),
            drift_ppb: line.drift_ppb(),
            uncertainty_ns: line.uncertainty_ns(),
        });
        let (line, clock_sources, clock_dispute) = match judged {
            Some(Judged { line, sources, dispute }) => (Some(line), sources, dispute),
            None => (None, Vec::new(), None),
        };
        run.hosts.push(HostMeta {
            node: link.node.0,
            agent: link.entry.name.clone(),
            control: link.entry.control.clone(),
            data: link.data.to_string(),
            facts: link.facts.clone(),
            clock,
            clock_sources,
            clock_dispute,
        });
        match record {
            Ok(mut record) => {
                let agent_epoch_ns = epoch_ns + ahead_ns;
                record.tell_by(|at| {
                    let agent_ns = agent_epoch_ns + at.since_zero().as_ns();
                    let ahead = line.map_or(ahead_ns, |line| agent_ns - line.controller_ns(agent_ns));
                    at + Time::from_ns(ahead_ns - ahead)
                });
                run.records.insert(link.node, record);
            }
            Err(reason) => {
                let lost = format!("the agent of {} was lost in the middle of the run ({reason})", link.name);
                run.lost = Some(run.lost.map_or(lost.clone(), |known| format!("{known}, and {lost}")));
            }
        }
    }
    Ok(hosts.finish(run))
}

/// The agent of each station, and none beside.
fn entries(
    prepared: &Prepared<'_>,
    nodes: &[NodeId],
    agents: &Agents,
) -> Result<Vec<(NodeId, AgentEntry)>, ControlError> {
    let names: Vec<String> = nodes.iter().map(|node| prepared.plan().node_name(*node)).collect();
    if let Some(name) = agents.0.keys().find(|name| !names.contains(name)) {
        return Err(ControlError::Unknown { name: name.clone(), nodes: names.join(", ") });
    }
    let entry = |(node, name): (&NodeId, &String)| {
        let entry = agents.0.get(name).ok_or_else(|| ControlError::Missing(name.clone()))?;
        Ok((*node, entry.clone()))
    };
    nodes.iter().zip(&names).map(entry).collect()
}

/// Connects to an agent, and makes sure that it is of the same build.
fn connect(node: NodeId, name: String, entry: AgentEntry, tls: &Arc<ClientConfig>) -> Result<Link, ControlError> {
    let wrong = |reason: String| ControlError::Agent { node: name.clone(), control: entry.control.clone(), reason };
    let server = ServerName::try_from(entry.name.clone()).map_err(|error| wrong(error.to_string()))?;
    let tcp = dial(&entry.control).map_err(|error| wrong(no_connection(&error)))?;
    let client = ClientConnection::new(Arc::clone(tls), server).map_err(|error| wrong(error.to_string()))?;
    let mut channel = Channel::open(client, tcp, "an agent").map_err(|error| wrong(error.to_string()))?;
    let welcome = hear(&mut channel, CONNECT_WITHIN).map_err(|error| wrong(error.to_string()))?;
    let FromAgent::Welcome { build, data, facts } = welcome else {
        return Err(wrong(format!("it answered out of turn: {}", words(&welcome))));
    };
    let own = Build::own();
    if build != own {
        return Err(wrong(format!("it is {}, and this is {}: install the same on both", build.words(), own.words())));
    }
    channel.send(&ToAgent::Hello { build: own }).map_err(|error| wrong(error.to_string()))?;
    match hear(&mut channel, CONNECT_WITHIN).map_err(|error| wrong(error.to_string()))? {
        FromAgent::Accepted => {}
        FromAgent::Refused(reason) => return Err(wrong(reason)),
        other => return Err(wrong(format!("it answered out of turn: {}", words(&other)))),
    }
    channel.len_max = RECORD_LEN_MAX;
    let data = entry.data.unwrap_or(Ipv4Addr::from(data));
    Ok(Link { node, name, entry, channel, data, facts })
}

fn dial(control: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the name has no address");
    for address in control.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn no_connection(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "nobody listens there; start it with `chronoseal agent serve` on that host".into()
        }
        io::ErrorKind::TimedOut => format!(
            "no answer within {} s; is the host up, and does a firewall let the port through?",
            CONNECT_WITHIN.as_secs()
        ),
        _ => format!("cannot connect: {error}"),
    }
}

/// Two stations at one address would take each other's messages.
fn check_addresses(links: &[Link]) -> Result<(), ControlError> {
    for (index, link) in links.iter().enumerate() {
        if let Some(other) = links[..index].iter().find(|other| other.data == link.data) {
            let (one, other) = (other.name.clone(), link.name.clone());
            return Err(ControlError::SameAddress { one, other, address: link.data });
        }
    }
    Ok(())
}

fn set_up(link: &mut Link, prepare: Prepare) -> Result<(), ControlError> {
    let hash = prepare.scenario_hash.clone();
    link.channel.send(&ToAgent::Prepare(Box::new(prepare))).map_err(|error| link.error(error))?;
    match hear(&mut link.channel, READY_WITHIN).map_err(|error| link.error(error))? {
        FromAgent::Ready { scenario_hash } if scenario_hash == hash => Ok(()),
        FromAgent::Ready { .. } => Err(link.wrong("it read another scenario".into())),
        FromAgent::Refused(reason) => Err(link.wrong(reason)),
        other => Err(link.wrong(format!("it answered out of turn: {}", words(&other)))),
    }
}

impl Link {
    fn wrong(&self, reason: String) -> ControlError {
        ControlError::Agent { node: self.name.clone(), control: self.entry.control.clone(), reason }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    fn error(&self, error: ChannelError) -> ControlError {
        self.wrong(error.to_string())
    }
}

/// What an agent says within a time.
fn hear(channel: &mut Channel, within: Duration) -> Result<FromAgent, ChannelError> {
    hear_stamped(channel, within).map(|(message, _)| message)
}

fn hear_stamped(channel: &mut Channel, within: Duration) -> Result<(FromAgent, i64), ChannelError> {
    channel.receive(within, monotonic_ns)?.ok_or(ChannelError::Silent(within))
}

/// What was said, without what it holds.
fn words(message: &FromAgent) -> String {
    match message {
        FromAgent::Welcome { .. } => "its build".into(),
        FromAgent::Refused(reason) | FromAgent::Lost(reason) => reason.clone(),
        FromAgent::Accepted => "that it knows us".into(),
        FromAgent::Ready { .. } => "that it is ready".into(),
        FromAgent::Answer { .. } => "what its clock shows".into(),
        FromAgent::Ptp(_) => "what ptp4l says".into(),
        FromAgent::Record(_) => "its record".into(),
    }
}

/// Asks an agent once what its clock shows.
fn ask(channel: &mut Channel) -> Result<Exchange, ChannelError> {
    let asked = monotonic_ns();
    channel.send(&ToAgent::Ask { t1: asked })?;
    match hear_stamped(channel, SILENT_IN_RUN)? {
        (FromAgent::Answer { t1, t2, t3 }, t4) if t1 == asked => Exchange::new(t1, t2, t3, t4)
            .ok_or_else(|| ChannelError::Strange("its clock shows a time that no clock of a host does".into())),
        (FromAgent::Answer { .. }, _) => Err(ChannelError::Strange("it answered what was not asked".into())),
        (other, _) => Err(ChannelError::Refused(words(&other))),
    }
}

/// Compares an agent's clock with this host's, also by ptp4l if one of this host listens at `ptp`.
fn compare(link: &mut Link, ptp: &Path) -> Result<Compared, ChannelError> {
    let exchanges: Vec<Exchange> =
        (0..EXCHANGES).map(|_| ask(&mut link.channel)).collect::<Result<_, ChannelError>>()?;
    let own = Reading::of(&exchanges)
        .ok_or_else(|| ChannelError::Strange("its clock jumped in each of the exchanges that compare it".into()))?;
    if !ptp.exists() {
        return Ok(Compared { own, ptp: None });
    }
    link.channel.send(&ToAgent::AskPtp)?;
    // Both are asked at once.
    let here = clocks::by_ptp(ptp, &VirtualClock::default());
    let answered = match hear(&mut link.channel, PTP_WITHIN)? {
        FromAgent::Ptp(answered) => answered,
        other => return Err(ChannelError::Refused(words(&other))),
    };
    let reading = here.map_err(|why| format!("{why} on the controller's host")).and_then(|here| {
        let there = answered.map_err(|why| format!("{why} on its host"))?;
        Ok((here.grandmaster.clone(), Reading::by_ptp(&here, &there)?))
    });
    Ok(Compared { own, ptp: Some(reading) })
}

/// What is known of an agent's clock over a run.
struct Judged {
    /// What its times are told by.
    line: ClockLine,
    sources: Vec<ClockSource>,
    /// Why none of them is to be believed.
    dispute: Option<String>,
}

impl Judged {
    fn new(before: &Compared, after: &Compared, between: &[Exchange]) -> Self {
        let own = ClockLine::new(before.own, after.own, between);
        let source = |name: String, line: &ClockLine, at: i64, is_used: bool| ClockSource {
            name,
            offset_ns: line.offset_at(at),
            uncertainty_ns: line.uncertainty_ns(),
            is_used,
        };
        let at = before.own.at;
        let alone =
            |own| Self { line: own, sources: vec![source(EXCHANGES_NAME.into(), &own, at, true)], dispute: None };
        let (Some(Ok((grandmaster, first))), Some(Ok((still, last)))) = (&before.ptp, &after.ptp) else {
            return alone(own);
        };
        if grandmaster != still {
            return alone(own);
        }
        let name = format!("ptp4l, which follows {grandmaster}");
        // By itself, since exchanges that contradict it would make it as uncertain as they need.
        let by_itself = ClockLine::new(*first, *last, &[]);
        let dispute = own.contradicts(&by_itself).map(|apart_ns| {
            format!(
                "ptp4l and the test bed's own exchanges say {:.3} us apart what its clock shows, and are uncertain by {:.3} and {:.3} us",
                apart_ns as f64 / 1e3,
                by_itself.uncertainty_ns() as f64 / 1e3,
                own.uncertainty_ns() as f64 / 1e3
            )
        });
        let ptp = if dispute.is_some() { by_itself } else { ClockLine::new(*first, *last, between) };
        let by_ptp = dispute.is_none() && ptp.uncertainty_ns() < own.uncertainty_ns();
        let sources = vec![source(EXCHANGES_NAME.into(), &own, at, !by_ptp), source(name, &ptp, at, by_ptp)];
        Self { line: if by_ptp { ptp } else { own }, sources, dispute }
    }
}

/// Watches over an agent until it has sent what its station wrote down, or is lost.
///
/// Its clock was ahead by `ahead_ns` before the run.
fn watch_over(link: &mut Link, ahead_ns: i64, watch: &Watch<'_>) -> Watched {
    let mut exchanges = Vec::new();
    match to_the_end(link, ahead_ns, watch, &mut exchanges) {
        Ok((after, record)) => Watched { exchanges, after: Some(after), record: Ok(record) },
        Err(error) => {
            watch.is_lost.store(true, Ordering::Relaxed);
            let last = &exchanges[exchanges.len().saturating_sub(LAST_EXCHANGES)..];
            let after = Reading::of(last).map(|own| Compared { own, ptp: None });
            Watched { after, exchanges, record: Err(error.to_string()) }
        }
    }
}

fn to_the_end(
    link: &mut Link,
    ahead_ns: i64,
    watch: &Watch<'_>,
    exchanges: &mut Vec<Exchange>,
) -> Result<(Compared, AgentRecord), ChannelError> {
    let (mut end_ns, mut is_told) = (watch.end_ns, false);
    loop {
        let now = monotonic_ns();
        if now >= end_ns {
            break;
        }
        if let Some(at_ns) = watch.stop_at_ns(now).filter(|_| !is_told) {
            is_told = true;
            link.channel.send(&ToAgent::Stop { at_ns: at_ns + ahead_ns })?;
            end_ns = end_ns.min(at_ns + DRAIN.as_ns());
        }
        exchanges.push(ask(&mut link.channel)?);
        // What an agent says without being asked is that it is lost.
        let left = Duration::from_nanos((end_ns - monotonic_ns()).max(0).unsigned_abs());
        if let Some((message, _)) = link.channel.receive::<FromAgent>(ASK_EVERY.min(left), monotonic_ns)? {
            return Err(ChannelError::Refused(words(&message)));
        }
    }
    let after = compare(link, watch.ptp)?;
    link.channel.send(&ToAgent::Finish)?;
    match link.channel.receive_long(RECORD_WITHIN)? {
        FromAgent::Record(record) => match record.refuse_another(watch.scenario_hash) {
            Ok(()) => Ok((after, *record)),
            Err(other) => Err(ChannelError::Strange(other.to_string())),
        },
        other => Err(ChannelError::Refused(words(&other))),
    }
}
