//! The suite against a plain driver that passes, and against the same driver with one thing broken at a time.

use std::collections::{BTreeMap, VecDeque};

use super::*;
use chronoseal_core::node::FRAME_LEN_MAX;
use chronoseal_core::{Command, Input, LocalTime, Output, TxToken};

/// What is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    NoStart,
    NoStop,
    StartTwice,
    SendsEarly,
    LosesTokens,
    ReturnsTokensTwice,
    PollsOnce,
    LosesInputsWhileComputing,
    NewestInputFirst,
    ForgetsPastDeadlines,
    CorruptsFrames,
    MixesPorts,
    StopsAtABadFrame,
    ClockRunsBackwards,
    ReceivesFromTheFuture,
}

enum Waiting {
    Command(Command),
    Frame(PortId, LocalTime, Vec<u8>),
    Transmitted(TxToken, LocalTime),
    Timeout,
    Launch(PortId, Option<TxToken>, Vec<u8>),
}

struct Host {
    node: TestNode,
    busy_until: LocalTime,
    inbox: VecDeque<Waiting>,
    wake_at: Option<LocalTime>,
}

/// Virtual time, one node after another, work costs 100 us and a link 10 us.
struct PlainDriver(Fault);

const WORK: Duration = Duration::from_us(100);
const LINK: Duration = Duration::from_us(10);
/// A broken driver may never get past one instant.
const STEPS_MAX: u32 = 10_000;

impl Driver for PlainDriver {
    fn name(&self) -> &str {
        "plain"
    }

    fn run(&mut self, network: TestNetwork, until: Duration) -> Result<Vec<(NodeId, Event)>, NotRun> {
        let fault = self.0;
        let mut hosts: Vec<Host> = network
            .nodes
            .into_iter()
            .map(|(_, node)| Host { node, busy_until: LocalTime::ZERO, inbox: VecDeque::new(), wake_at: None })
            .collect();
        let mut agenda: BTreeMap<(LocalTime, u64), (usize, Waiting)> = BTreeMap::new();
        let mut serial = 0;
        let mut told = Vec::new();
        let mut plan = |agenda: &mut BTreeMap<_, _>, at: LocalTime, host: usize, what: Waiting| {
            serial += 1;
            agenda.insert((at, serial), (host, what));
        };
        for host in 0..hosts.len() {
            let starts = match fault {
                Fault::NoStart => 0,
                Fault::StartTwice => 2,
                _ => 1,
            };
            for _ in 0..starts {
                plan(&mut agenda, LocalTime::ZERO, host, Waiting::Command(Command::Start));
            }
            if fault != Fault::NoStop {
                plan(&mut agenda, LocalTime::ZERO + until, host, Waiting::Command(Command::Stop));
            }
        }
        for step in 0.. {
            let Some(((at, _), (index, what))) = agenda.pop_first() else { break };
            if step == STEPS_MAX {
                return Err(format!("does not end; so far {} events", told.len()).into());
            }
            if at > LocalTime::ZERO + until + Duration::from_ms(20) {
                break;
            }
            if let Waiting::Launch(port, token, mut bytes) = what {
                let end = |[a, b]: &[(NodeId, PortId); 2]| match (NodeId(index as u16), port) {
                    from if from == *a => Some(*b),
                    from if from == *b => Some(*a),
                    _ => None,
                };
                if fault == Fault::CorruptsFrames {
                    bytes[40] ^= 0x80;
                }
                if let Some((node, port)) = network.links.iter().find_map(end) {
                    let port = if fault == Fault::MixesPorts { PortId(port.0 + 1) } else { port };
                    let rx_at = at + LINK;
                    let told_rx_at =
                        if fault == Fault::ReceivesFromTheFuture { rx_at + Duration::from_us(1) } else { rx_at };
                    plan(&mut agenda, rx_at, node.index(), Waiting::Frame(port, told_rx_at, bytes));
                }
                let copies = match fault {
                    Fault::LosesTokens => 0,
                    Fault::ReturnsTokensTwice => 2,
                    _ => 1,
                };
                if let Some(token) = token {
                    for _ in 0..copies {
                        let token = TxToken::new(token.id());
                        plan(&mut agenda, at, index, Waiting::Transmitted(token, at));
                    }
                }
                continue;
            }
            let host = &mut hosts[index];
            if host.busy_until > at && !matches!(what, Waiting::Timeout) {
                if fault != Fault::LosesInputsWhileComputing {
                    if fault == Fault::NewestInputFirst {
                        host.inbox.push_front(what);
                    } else {
                        host.inbox.push_back(what);
                    }
                    let free_at = host.busy_until;
                    plan(&mut agenda, free_at, index, Waiting::Timeout);
                }
                continue;
            }
            host.inbox.push_back(what);
            let mut now = at.max(host.busy_until);
            let mut buffer = [0; FRAME_LEN_MAX];
            while let Some(next) = host.inbox.pop_front() {
                let input = match &next {
                    Waiting::Command(command) => Input::Command(*command),
                    Waiting::Frame(port, rx_at, bytes) => Input::Frame { port: *port, rx_at: *rx_at, bytes },
                    Waiting::Transmitted(token, tx_at) => {
                        Input::Transmitted { token: TxToken::new(token.id()), tx_at: *tx_at }
                    }
                    Waiting::Timeout | Waiting::Launch(..) => Input::Timeout,
                };
                let shown = if fault == Fault::ClockRunsBackwards { LocalTime::ZERO - now.since_zero() } else { now };
                host.node.handle_input(shown, input).map_err(|error| error.to_string())?;
                let mut bad = false;
                loop {
                    match host.node.poll_output(shown.max(now), &mut buffer) {
                        Output::Work(_) => now += WORK,
                        Output::Event(event) => {
                            bad |= matches!(event.kind, chronoseal_core::EventKind::Discarded(_));
                            told.push((NodeId(index as u16), event));
                        }
                        Output::Transmit(transmit) => {
                            let early = fault == Fault::SendsEarly;
                            let launch = if early { now } else { now.max(transmit.launch_at) };
                            let bytes = buffer[..transmit.len].to_vec();
                            plan(&mut agenda, launch, index, Waiting::Launch(transmit.port, transmit.token, bytes));
                        }
                        Output::Timeout(at) => {
                            host.wake_at = at;
                            break;
                        }
                        _ => return Err("it wants what a plain driver does not know".into()),
                    }
                    if fault == Fault::PollsOnce {
                        break;
                    }
                }
                if fault == Fault::StopsAtABadFrame && bad {
                    return Err("stopped at a bad frame".into());
                }
            }
            host.busy_until = now;
            let forgets = fault == Fault::ForgetsPastDeadlines;
            if let Some(wake_at) = host.wake_at.filter(|wake_at| !forgets || *wake_at > now) {
                plan(&mut agenda, wake_at.max(now), index, Waiting::Timeout);
            }
        }
        Ok(told)
    }
}

#[test]
fn a_plain_driver_passes() {
    let report = run_all(&mut PlainDriver(Fault::None));
    assert_eq!(report.cases.len(), cases().len());
    assert!(report.cases.iter().all(|(_, events)| *events > 0));
}

/// The cases a broken driver fails, and all that was said about it.
fn failures_of(fault: Fault) -> (Vec<&'static str>, String) {
    let outcome =
        |case: &Case| run_case(&mut PlainDriver(fault), case).err().map(|failure| (case.name, failure.to_string()));
    let (names, texts): (Vec<_>, Vec<_>) = cases().iter().filter_map(outcome).unzip();
    (names, texts.join("\n"))
}

#[test]
fn every_fault_is_found_by_the_case_made_for_it() {
    for (fault, case, says) in [
        (Fault::NoStart, "start-first-and-stop-obeyed", "Command::Start is the first input"),
        (Fault::StartTwice, "start-first-and-stop-obeyed", "Command::Start is the first input"),
        (Fault::NoStop, "start-first-and-stop-obeyed", "expected sync-lost"),
        (Fault::SendsEarly, "launch-at-is-not-early", "no frame leaves before its launch_at"),
        (Fault::LosesTokens, "transmit-token-returns-once", "expected sent"),
        (Fault::ReturnsTokensTwice, "transmit-token-returns-once", "a transmit token comes back once"),
        (Fault::PollsOnce, "outputs-drained-until-timeout", "outputs are drained until Timeout"),
        (Fault::LosesInputsWhileComputing, "inputs-kept-in-order-while-computing", "got      nothing more"),
        (Fault::NewestInputFirst, "inputs-kept-in-order-while-computing", "expected delivered stream 0 #1"),
        (Fault::ForgetsPastDeadlines, "past-deadline-wakes-at-once", "expected task-done stream 0 #0"),
        (Fault::CorruptsFrames, "ping-pong-of-ethernet-frames", "discarded(malformed)"),
        (Fault::MixesPorts, "each-port-is-its-own", "discarded(wrong-port)"),
        (Fault::StopsAtABadFrame, "bad-frame-is-an-event", "stopped at a bad frame"),
        (Fault::ClockRunsBackwards, "ticker-wakes-at-its-times", "now never runs backwards"),
        (Fault::ReceivesFromTheFuture, "ping-pong-of-ethernet-frames", "rx_at and tx_at are not after now"),
    ] {
        let (names, text) = failures_of(fault);
        assert!(names.contains(&case), "{fault:?} was not found by {case}, only by {names:?}");
        assert!(text.contains(says), "{fault:?}: {says:?} is not in\n{text}");
    }
}

#[test]
#[should_panic(expected = "cases fail")]
fn a_broken_driver_panics_with_the_difference() {
    run_all(&mut PlainDriver(Fault::SendsEarly));
}

#[test]
fn a_network_is_found_by_name() {
    assert_eq!(network_of("each-port-is-its-own").map(|network| network.nodes.len()), Some(3));
    assert!(network_of("no such case").is_none());
}
