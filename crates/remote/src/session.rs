//! An agent's side of one connection: from the first word to the end of a run, or of the controller.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chronoseal_catalog::Prepared;
use chronoseal_core::NodeId;
use chronoseal_plan::Plan;
use chronoseal_runner::OverHosts;
use chronoseal_testbed::{AgentRecord, HostState, LiveConfig, Worker, monotonic_ns};

use crate::channel::{Channel, ChannelError};
use crate::clocks::{self, is_of_a_host};
use crate::message::{Build, FromAgent, Prepare, ToAgent};
use crate::serve::{Claim, Server};

/// A controller that is silent for so long during a run is gone.
pub(crate) const SILENT_IN_RUN: Duration = Duration::from_secs(2);

/// And so long before one, when the other agents may be making their plans.
const SILENT_BEFORE: Duration = Duration::from_secs(60);

/// The process of a station is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A run has to be armed this much before it begins `[ns]`.
const ARMED_BEFORE_NS: i64 = 10_000_000;

/// The longest message of a controller that is known `[byte]`.
const LEN_MAX: u64 = 256 << 20;

/// A station that is set up.
struct Station<'s> {
    worker: Worker,
    duration: chronoseal_core::Duration,
    /// When it begins, by the clock of the host and by the clock that the agent shows `[ns]`.
    epoch: Option<(i64, i64)>,
    /// When it is to stop before its time, by the clock of the host `[ns]`.
    stop_at_ns: Option<i64>,
    name: String,
    _claim: Claim<'s>,
}

pub(crate) fn run(
    server: &Server,
    mut channel: Channel,
    from: SocketAddr,
    note: &(dyn Fn(&str) + Sync),
    stop: &AtomicBool,
) -> Result<(), ChannelError> {
    let who = format!("controller `{}` at {from}", channel.peer_name());
    let data = server.data.octets();
    channel.send(&FromAgent::Welcome { build: Build::own(), data, facts: facts() })?;
    let shown = || server.clock.shown(monotonic_ns());
    let (mut station, mut heard, mut is_known): (Option<Station<'_>>, Instant, bool) = (None, Instant::now(), false);
    loop {
        if stop.load(Ordering::Relaxed) {
            channel.send(&FromAgent::Refused("the agent was ended".into()))?;
            return Ok(());
        }
        let within =
            if station.as_ref().is_some_and(|station| station.epoch.is_some()) { SILENT_IN_RUN } else { SILENT_BEFORE };
        let look_within = station.as_mut().map_or(LOOK_EVERY, Station::stop_in_time);
        let Some((message, at)) = channel.receive::<ToAgent>(look_within, shown)? else {
            if heard.elapsed() > within {
                return Err(ChannelError::Silent(within));
            }
            if let Some(reason) = station.as_mut().and_then(|station| station.worker.lost()) {
                channel.send(&FromAgent::Lost(reason.to_owned()))?;
                station = None;
            }
            continue;
        };
        heard = Instant::now();
        match message {
            ToAgent::Hello { build } if build == Build::own() => {
                is_known = true;
                channel.len_max = LEN_MAX;
                channel.send(&FromAgent::Accepted)?;
            }
            ToAgent::Hello { build } => {
                let reason = format!(
                    "it is {}, and the controller is {}: install the same on both",
                    Build::own().words(),
                    build.words()
                );
                return refuse(channel, &who, reason, note);
            }
            _ if !is_known => return Err(ChannelError::Strange("it did not say first which build it is".into())),
            ToAgent::Ask { t1 } => channel.send(&FromAgent::Answer { t1, t2: at, t3: shown() })?,
            ToAgent::AskPtp => {
                channel.send(&FromAgent::Ptp(clocks::by_ptp(&server.ptp, &server.clock)))?;
                heard = Instant::now();
            }
            ToAgent::Prepare(prepare) => match set_up(server, &who, &prepare) {
                Ok(made) => {
                    note(&format!("{who}: {}", made.name));
                    station = Some(made);
                    channel.send(&FromAgent::Ready { scenario_hash: prepare.scenario_hash })?;
                }
                Err(reason) => return refuse(channel, &who, reason, note),
            },
            ToAgent::Arm { epoch_ns: ns } | ToAgent::Stop { at_ns: ns } if !is_of_a_host(ns) => {
                return Err(ChannelError::Strange(format!("{ns} ns is no time of a host's clock")));
            }
            ToAgent::Arm { epoch_ns } => {
                let Some(station) = &mut station else { continue };
                let now = monotonic_ns();
                let host_ns = server.clock.host(epoch_ns, now);
                if host_ns - now < ARMED_BEFORE_NS {
                    let reason =
                        "it was to begin at a time that is over: is the network between controller and agents slow?"
                            .into();
                    return refuse(channel, &who, reason, note);
                }
                station.worker.arm(host_ns, station.duration);
                station.epoch = Some((host_ns, epoch_ns));
            }
            ToAgent::Stop { at_ns } => {
                let at_ns = server.clock.host(at_ns, monotonic_ns());
                station.iter_mut().for_each(|station| station.stop_at_ns = Some(at_ns));
            }
            ToAgent::Finish => {
                let Some(station) = station.take() else { continue };
                let name = station.name.clone();
                match finish(server, station) {
                    Ok(record) => {
                        channel.send(&FromAgent::Record(Box::new(record)))?;
                        note(&format!("{who}: {name}: done"));
                    }
                    Err(reason) => channel.send(&FromAgent::Lost(reason))?,
                }
                heard = Instant::now();
            }
        }
    }
}

impl Station<'_> {
    /// Stops it if the time for that has come; how long there is nothing to do otherwise.
    fn stop_in_time(&mut self) -> Duration {
        let Some(at_ns) = self.stop_at_ns else { return LOOK_EVERY };
        let left_ns = at_ns - monotonic_ns();
        if left_ns > 0 {
            return LOOK_EVERY.min(Duration::from_nanos(left_ns.unsigned_abs()));
        }
        self.worker.stop();
        self.stop_at_ns = None;
        LOOK_EVERY
    }
}

fn refuse(mut channel: Channel, who: &str, reason: String, note: &(dyn Fn(&str) + Sync)) -> Result<(), ChannelError> {
    note(&format!("{who}: refused: {reason}"));
    channel.send(&FromAgent::Refused(reason))?;
    channel.close();
    Ok(())
}

/// What a reader of results has to know of this host.
fn facts() -> Vec<(String, String)> {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let own = ("processors".to_owned(), processors.to_string());
    HostState::read().facts().into_iter().chain([own]).collect()
}

/// Makes the plan that the controller made, and the station that is asked for; or says why not.
fn set_up<'s>(server: &'s Server, who: &str, prepare: &Prepare) -> Result<Station<'s>, String> {
    let Prepare { texts, scenario_hash, node: name, addresses, no_fifo } = prepare;
    let plan = texts.plan().map_err(|problems| format!("it cannot read the scenario:\n{}", problems.render()))?;
    if plan.scenario_hash != *scenario_hash {
        return Err(format!("it read another scenario ({}) than the controller ({scenario_hash})", plan.scenario_hash));
    }
    let claim = server.claim(format!("{who} runs `{}`", plan.name))?;
    let node = node_named(&plan, name).ok_or_else(|| format!("the scenario has no node {name}"))?;
    let prepared = Prepared::new(&plan).map_err(|error| error.to_string())?;
    let by_node = addresses.iter().filter_map(|(name, address)| Some((node_named(&plan, name)?, *address)));
    let hosts = OverHosts::new(&prepared, &by_node.collect::<BTreeMap<_, _>>()).map_err(|error| error.to_string())?;
    let config = hosts.config(node, texts).ok_or_else(|| format!("node {name} is no station"))?;
    let ports = config.agents.iter().flat_map(|agent| &agent.ports);
    if let Some(reason) = ports.into_iter().find_map(|port| server.limits.refusal(&prepared, node, port, server.data)) {
        return Err(reason);
    }
    let agent_command = server.agent_command.clone();
    let config = LiveConfig { fifo: !no_fifo, agent_command, ..config };
    let worker = Worker::start(&config).map_err(|error| error.to_string())?;
    let words = format!("node {name} of `{}`, {}", plan.name, plan.duration);
    Ok(Station { worker, duration: plan.duration, epoch: None, stop_at_ns: None, name: words, _claim: claim })
}

fn node_named(plan: &Plan, name: &str) -> Option<NodeId> {
    plan.node_ids().find(|node| plan.node_name(*node) == name)
}

/// What a station wrote down, by the clock that the agent shows.
fn finish(server: &Server, station: Station<'_>) -> Result<AgentRecord, String> {
    let epoch = station.epoch;
    let mut record = station.worker.finish().map_err(|error| error.to_string())?;
    if let Some((host_ns, shown_ns)) = epoch {
        record.tell_by(|at| {
            let host = host_ns + at.since_zero().as_ns();
            at + chronoseal_core::Duration::from_ns(server.clock.shown(host) - host - (shown_ns - host_ns))
        });
    }
    Ok(record)
}
