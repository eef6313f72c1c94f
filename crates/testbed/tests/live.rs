//! Live runs for real: processes, network namespaces, TAP interfaces, packet sockets.
//!

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeId, Output, PortId, Ppm,
    Priority, SimTime, StreamId, Transmit,
};
use chronoseal_core_testing::{self as testing, Driver, NotRun, TestNetwork};
use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_results::{Direction, Outcome};
use chronoseal_testbed::{
    AgentConfig, ExistingInterface, FactoryError, FrameDescription, LiveConfig, LiveError, LiveOutcome, Placement,
    PortLink, Traffic, probe, run,
};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("passes_the_conformance_suite", passes_the_conformance_suite),
    ("passes_the_conformance_suite_over_socket_pairs", passes_the_conformance_suite_over_socket_pairs),
    ("exchanges_frames_and_accounts_for_each", exchanges_frames_and_accounts_for_each),
    ("frames_keep_their_vlan_tags", frames_keep_their_vlan_tags),
    ("carries_frames_wherever_its_threads_run", carries_frames_wherever_its_threads_run),
    ("frames_leave_at_their_launch_times", frames_leave_at_their_launch_times),
    ("clocks_show_offset_and_drift", clocks_show_offset_and_drift),
    ("an_attack_is_labelled_by_its_sender", an_attack_is_labelled_by_its_sender),
    ("declared_work_takes_its_time", declared_work_takes_its_time),
    ("stops_early_when_told_and_keeps_what_there_is", stops_early_when_told_and_keeps_what_there_is),
    ("a_killed_agent_is_an_error_with_partial_rows", a_killed_agent_is_an_error_with_partial_rows),
    ("agents_end_with_a_killed_controller", agents_end_with_a_killed_controller),
    ("refuses_what_cannot_be_run", refuses_what_cannot_be_run),
];

/// Why the host refuses them, if it does.
pub(crate) fn refusal() -> Option<String> {
    let host = probe(&LiveConfig::new(vec![AgentConfig::new(NodeId(0))], vec![], Duration::from_ms(1)));
    println!("host: {host:?}");
    host.live_refused
}

/// Runs until it is killed.
pub(crate) fn controller() -> ExitCode {
    go(&stream_config(Duration::from_s(60)), Duration::ZERO);
    ExitCode::SUCCESS
}

/// In the agent's process. A case of the suite by its name, or one of the nodes below.
pub(crate) fn build(config: &[u8], node: NodeId) -> Result<Box<dyn Node + Send>, FactoryError> {
    let text = std::str::from_utf8(config)?;
    if let Some(network) = testing::network_of(text) {
        let found = network.nodes.into_iter().find(|(id, _)| *id == node);
        return Ok(found.ok_or("no such node in this case")?.1);
    }
    match (text, node.0) {
        ("stream", 0) => Ok(Box::new(Sender::every(Duration::from_ms(2)))),
        ("tagged", 0) => Ok(Box::new(Sender { is_tagged: true, ..Sender::every(Duration::from_ms(2)) })),
        ("attack", 0) => Ok(Box::new(Sender { attacks: true, ..Sender::every(Duration::from_ms(2)) })),
        ("work", 0) => Ok(Box::new(Sender { works: true, ..Sender::every(Duration::from_ms(20)) })),
        ("slots", 0..4) => {
            let first = Duration::from_us(250 * i64::from(node.0));
            Ok(Box::new(Sender { first, lead: Duration::from_us(120), ..Sender::every(Duration::from_ms(1)) }))
        }
        ("stream" | "tagged" | "attack" | "work", 1) => Ok(Box::new(Listener { events: Vec::new() })),
        ("unbuildable", _) => Err("this node cannot be".into()),
        _ => Err(format!("no node {} in {text:?}", node.0).into()),
    }
}

/// Sends a numbered frame every period until stopped.
struct Sender {
    period: Duration,
    /// Launch time of the first frame, after a period.
    first: Duration,
    /// How long before its launch time a frame is handed over.
    lead: Duration,
    started: Option<LocalTime>,
    sent: u32,
    is_tagged: bool,
    attacks: bool,
    works: bool,
    pending: Vec<Output>,
    running: bool,
}

impl Sender {
    fn every(period: Duration) -> Self {
        let pending = Vec::new();
        let (first, lead) = (Duration::ZERO, Duration::ZERO);
        Self {
            period,
            first,
            lead,
            started: None,
            sent: 0,
            is_tagged: false,
            attacks: false,
            works: false,
            pending,
            running: true,
        }
    }
    fn due(&self) -> Option<LocalTime> {
        let launch_at = LocalTime::ZERO + self.first + self.period * (i64::from(self.sent) + 1);
        (self.running && self.started.is_some()).then_some(launch_at - self.lead)
    }
}

impl Node for Sender {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match input {
            Input::Command(Command::Start) => {
                self.started = Some(now);
                // Tells what its clock showed at the start.
                let event = Event { value: now.as_ps(), ..Event::of(EventKind::SyncAcquired, StreamId::NONE, 0) };
                self.pending.push(Output::Event(event));
            }
            Input::Command(Command::Stop) => {
                self.running = false;
                let event = Event { value: now.as_ps(), ..Event::of(EventKind::SyncLost, StreamId::NONE, 0) };
                self.pending.push(Output::Event(event));
            }
            _ => {}
        }
        Ok(())
    }
    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.pending.pop() {
            return output;
        }
        let Some(launch_at) = self.due().filter(|due| *due <= now) else { return Output::Timeout(self.due()) };
        let (number, launch_at) = (self.sent, launch_at + self.lead);
        self.sent += 1;
        let attack = self.attacks && number.is_multiple_of(2);
        frame[..100].fill(0);
        frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5]);
        frame[14..18].copy_from_slice(&number.to_be_bytes());
        if self.is_tagged {
            frame.copy_within(12..96, 16);
            frame[12..16].copy_from_slice(&VLAN_TAG);
        }
        let send =
            Output::Transmit(Transmit { port: PortId(0), priority: Priority(0), launch_at, len: 100, token: None });
        if attack {
            let event = Event::of(EventKind::Attacked(AttackKind::Spoof), StreamId(3), u64::from(number));
            self.pending.push(send);
            return Output::Event(event);
        }
        if self.works {
            self.pending.push(send);
            let operation = chronoseal_core::Operation("task");
            return Output::Work(chronoseal_core::Work::declared(operation, Duration::from_ms(3)));
        }
        send
    }
}

/// Tells each frame it gets; every tenth is refused.
struct Listener {
    events: Vec<Event>,
}

impl Node for Listener {
    fn handle_input(&mut self, _: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        if let Input::Frame { bytes, .. } = input {
            let number = number_of(bytes).unwrap_or(u64::MAX);
            let kind = match number % 10 {
                9 => EventKind::Discarded(chronoseal_core::DiscardReason::TagMismatch),
                _ => EventKind::Delivered,
            };
            self.events.insert(0, Event::of(kind, StreamId(3), number));
        }
        Ok(())
    }
    fn poll_output(&mut self, _: LocalTime, _: &mut [u8]) -> Output {
        self.events.pop().map_or(Output::Timeout(None), Output::Event)
    }
}

/// Priority 6, VLAN 5.
const VLAN_TAG: [u8; 4] = [0x81, 0, 0xc0, 5];

fn number_of(bytes: &[u8]) -> Option<u64> {
    let at = if bytes.get(12..16)? == VLAN_TAG { 18 } else { 14 };
    Some(u64::from(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?)))
}

/// Wires between pairs of attachments that take `delay` and nothing else.
struct Patch {
    links: Vec<[Attachment; 2]>,
    delay: Duration,
    under_way: Vec<(Attachment, FrameId)>,
}

impl Patch {
    fn new(links: &[[(NodeId, PortId); 2]], delay: Duration) -> Self {
        let links = links.iter().map(|ends| ends.map(|(node, port)| Attachment { node, port })).collect();
        Self { links, delay, under_way: Vec::new() }
    }
    fn pair(delay: Duration) -> Self {
        Self::new(&[[(NodeId(0), PortId(0)), (NodeId(1), PortId(0))]], delay)
    }
}

impl Medium for Patch {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        frames.label_mut(frame).arrived_at = Some(now);
        let to = self.links.iter().find_map(|[a, b]| if *a == from { Some(*b) } else { (*b == from).then_some(*a) });
        let to = to.expect("every port of these networks is linked");
        if self.delay == Duration::ZERO {
            out.push(MediumOutput::Deliver { to, frame, departed_at: now });
        } else {
            self.under_way.push((to, frame));
            let timer = MediumTimer::new(self.under_way.len() as u32 - 1);
            out.push(MediumOutput::Timer { at: now + self.delay, timer });
        }
    }
    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, _: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let (to, frame) = self.under_way[timer.number as usize];
        out.push(MediumOutput::Deliver { to, frame, departed_at: now });
    }
}

struct Plain;

impl Traffic for Plain {
    fn priority(&self, _: Attachment, _: &[u8]) -> Priority {
        Priority(0)
    }
    fn describe(&self, _: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        let sequence = number_of(bytes);
        FrameDescription { stream: StreamId(3), sequence, cycle_start: arrived_at, ..FrameDescription::UNKNOWN }
    }
}

/// The test bed as a driver of the conformance suite: nodes are built again in the agents' processes.
struct Live(PortLink);

impl Driver for Live {
    fn name(&self) -> &str {
        match self.0 {
            PortLink::Pair => "testbed, socket pairs",
            _ => "testbed",
        }
    }
    fn run(&mut self, network: TestNetwork, until: Duration) -> Result<Vec<(NodeId, Event)>, NotRun> {
        let mut agents: Vec<AgentConfig> = network.nodes.iter().map(|(node, _)| AgentConfig::new(*node)).collect();
        for (node, port) in network.links.iter().flatten() {
            let agent = agents.iter_mut().find(|agent| agent.node == *node).ok_or("a link leads nowhere")?;
            agent.ports.resize(agent.ports.len().max(port.index() + 1), PortLink::Tap);
        }
        for link in agents.iter_mut().flat_map(|agent| &mut agent.ports) {
            *link = self.0.clone();
        }
        let config = LiveConfig::new(agents, network.case.as_bytes().to_vec(), until);
        let mut medium = Patch::new(&network.links, Duration::from_us(20));
        let outcome = run(&config, &mut medium, &Plain, &AtomicBool::new(false))?;
        Ok(outcome.rows.events.iter().map(|row| (row.node, row.event)).collect())
    }
}

fn passes_the_conformance_suite() {
    print!("{}", testing::run_all(&mut Live(PortLink::Tap)));
}

fn passes_the_conformance_suite_over_socket_pairs() {
    print!("{}", testing::run_all(&mut Live(PortLink::Pair)));
}

fn stream_config(duration: Duration) -> LiveConfig {
    let agents = vec![AgentConfig::new(NodeId(0)), AgentConfig::new(NodeId(1))];
    LiveConfig { capture: true, ..LiveConfig::new(agents, b"stream".to_vec(), duration) }
}

/// The kernel hands a tag over beside its frame, and the frame is shorter then than the one that was written.
fn frames_keep_their_vlan_tags() {
    let config = LiveConfig { node_config: b"tagged".to_vec(), ..stream_config(Duration::from_ms(200)) };
    let outcome = go(&config, Duration::from_us(300));
    let n = outcome.rows.frames.len();
    assert!(n > 50, "a frame every 2 ms for 200 ms, got {n}");
    for (index, row) in outcome.rows.frames.iter().enumerate() {
        assert_eq!((row.sequence, row.len), (index as u64, 100));
        assert!(row.received_at.is_some(), "frame {index} was not received as it was written");
    }
    assert_eq!((outcome.counts[1].received, outcome.counts[1].unread), (n as u64, 0));
}

fn go(config: &LiveConfig, delay: Duration) -> LiveOutcome {
    run(config, &mut Patch::pair(delay), &Plain, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

fn exchanges_frames_and_accounts_for_each() {
    let delay = Duration::from_us(300);
    let outcome = go(&stream_config(Duration::from_ms(400)), delay);
    let rows = &outcome.rows;
    let n = rows.frames.len();
    assert!((150..=200).contains(&n), "a frame every 2 ms for 400 ms, got {n}");
    assert!(!rows.interrupted);
    for (index, row) in rows.frames.iter().enumerate() {
        assert_eq!((row.stream, row.sequence, row.sender, row.at), (StreamId(3), index as u64, NodeId(0), NodeId(1)));
        assert_eq!((row.len, row.attack), (100, None));
        let refused = Outcome::Discarded(chronoseal_core::DiscardReason::TagMismatch);
        assert_eq!(row.outcome, if index % 10 == 9 { refused } else { Outcome::Delivered });
        let times = [row.sent_at, row.arrived_at, row.departed_at, row.received_at].map(|time| time.expect("known"));
        assert!(times[0] <= times[1] && times[1] + delay <= times[2], "{times:?}");
        // The kernel stamps the frame while the write is still going on.
        // Its stamp comes from another clock, read within a microsecond of this one.
        let received = times[3] + Duration::from_us(1);
        assert!(received >= times[1] + delay && times[3] <= times[2] + Duration::from_ms(5), "{times:?}");
    }
    assert_eq!(rows.releases.len(), n);
    assert!(rows.releases.iter().all(|release| !release.error.is_negative()));
    let count = |direction| rows.captures.iter().filter(|capture| capture.direction == direction).count();
    assert_eq!((count(Direction::Arrival), count(Direction::Departure)), (n, n));
    assert!(rows.captures.iter().all(|capture| number_of(&capture.bytes).is_some() && !capture.comment.is_empty()));
    let left = rows.captures.iter().filter(|capture| capture.direction == Direction::Departure);
    for (index, capture) in left.enumerate() {
        let end = if index % 10 == 9 { "discarded: tag-mismatch" } else { "delivered" };
        assert_eq!(capture.comment, format!("stream 3 sequence {index}, {end}"));
    }
    let sender = outcome.counts[0];
    assert_eq!((sender.sent, sender.read, sender.lost, sender.foreign), (n as u64, n as u64, 0, 0));
    assert_eq!((outcome.counts[1].received, outcome.counts[1].unread), (n as u64, 0));
    assert_eq!(outcome.host.agents.len(), 2);
    let mut errors: Vec<i64> = rows.releases.iter().map(|release| release.error.as_ns()).collect();
    errors.sort_unstable();
    println!(
        "  n={n}, release error p50 {} ns, max {} ns, {} stalls, {:?}, warnings {:?}",
        errors[n / 2],
        errors[n - 1],
        rows.stalls.len(),
        outcome.host,
        outcome.warnings
    );
}

fn carries_frames_wherever_its_threads_run() {
    for placement in [Placement::Apart, Placement::Free] {
        let config = LiveConfig { placement, fifo: false, ..stream_config(Duration::from_ms(100)) };
        let outcome = go(&config, Duration::ZERO);
        assert!(!outcome.host.emulator_fifo);
        assert!(outcome.rows.frames.len() > 20, "{placement:?}: {}", outcome.rows.frames.len());
        assert!(outcome.rows.frames.iter().all(|row| row.outcome != Outcome::Unaccounted));
    }
}

/// Four senders on one processor, a slot every 250 us, wires that keep the emulator waking up in between.
fn frames_leave_at_their_launch_times() {
    let agents = (0..4).map(|node| AgentConfig::new(NodeId(node))).collect();
    let config = LiveConfig::new(agents, b"slots".to_vec(), Duration::from_s(1));
    let link = |a, b| [(NodeId(a), PortId(0)), (NodeId(b), PortId(0))];
    let mut medium = Patch::new(&[link(0, 1), link(2, 3)], Duration::from_us(130));
    let outcome = run(&config, &mut medium, &Plain, &AtomicBool::new(false)).unwrap();
    let mut late = Vec::new();
    for row in &outcome.rows.frames {
        let first = Duration::from_us(250 * i64::from(row.sender.0));
        let launch_at = SimTime::ZERO + first + Duration::from_ms(1) * (row.sequence as i64 + 1);
        let sent_at = row.sent_at.expect("the agent wrote it down");
        assert!(sent_at >= launch_at, "{row:?} left before {launch_at}");
        late.push((sent_at - launch_at).as_ns());
    }
    late.sort_unstable();
    let n = late.len();
    assert!(n > 3_900, "{n} of 4000");
    // Half of them: even a loaded host is on time for these.
    assert!(late[n / 2] < 200_000, "{} ns", late[n / 2]);
    let mut releases: Vec<i64> = outcome.rows.releases.iter().map(|release| release.error.as_ns()).collect();
    releases.sort_unstable();
    let at = |of: &[i64], share: f64| of[((of.len() - 1) as f64 * share) as usize];
    println!(
        "  n={n}, launch late p50 {} p99 {} p99.9 {} ns, release error p50 {} p99 {} p99.9 {} ns, {} stalls",
        at(&late, 0.5),
        at(&late, 0.99),
        at(&late, 0.999),
        at(&releases, 0.5),
        at(&releases, 0.99),
        at(&releases, 0.999),
        outcome.rows.stalls.len()
    );
}

fn clocks_show_offset_and_drift() {
    let mut config = stream_config(Duration::from_ms(500));
    config.agents[0].offset = Duration::from_ms(5);
    config.agents[0].drift = Ppm(100_000_000);
    let outcome = go(&config, Duration::ZERO);
    let told = |kind| outcome.rows.events.iter().find(|row| row.event.kind == kind).expect("told");
    for row in [told(EventKind::SyncAcquired), told(EventKind::SyncLost)] {
        let shown = Duration::from_ps(row.event.value);
        let expected = Duration::from_ms(5) + row.time.since_zero() + row.time.since_zero() / 10;
        // The event is stamped a moment after the clock was shown.
        let difference = expected - shown;
        assert!(!difference.is_negative() && difference < Duration::from_ms(20), "{expected} {shown}");
    }
    // A frame every 2 ms of a clock that shows 5 ms at the start and 555 ms at the end.
    let n = outcome.rows.frames.len();
    assert!((250..=277).contains(&n), "{n}");
}

fn an_attack_is_labelled_by_its_sender() {
    let mut config = stream_config(Duration::from_ms(100));
    config.node_config = b"attack".to_vec();
    config.agents[0].is_attacker = true;
    let outcome = go(&config, Duration::ZERO);
    assert!(outcome.rows.frames.len() > 20);
    for row in &outcome.rows.frames {
        assert_eq!(row.attack, (row.sequence % 2 == 0).then_some(AttackKind::Spoof), "{row:?}");
    }
    config.agents[0].is_attacker = false;
    let outcome = go(&config, Duration::ZERO);
    assert!(outcome.rows.frames.iter().all(|row| row.attack.is_none()));
}

fn declared_work_takes_its_time() {
    let mut config = stream_config(Duration::from_ms(100));
    config.node_config = b"work".to_vec();
    let outcome = go(&config, Duration::ZERO);
    assert!(outcome.rows.work.len() >= 3);
    for row in &outcome.rows.work {
        assert_eq!((row.node, row.operation), (NodeId(0), "task"));
        assert!(row.duration >= Duration::from_ms(3), "{row:?}");
    }
}

fn stops_early_when_told_and_keeps_what_there_is() {
    let stop = chronoseal_testbed::interrupt::flag();
    let began = Instant::now();
    let config = stream_config(Duration::from_s(60));
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(400));
            // As Ctrl-C at the terminal does.
            let status = std::process::Command::new("kill").args(["-INT", &std::process::id().to_string()]).status();
            assert!(status.unwrap().success());
        });
        run(&config, &mut Patch::pair(Duration::from_us(100)), &Plain, stop).unwrap()
    });
    assert!(stop.load(Ordering::Relaxed));
    assert!(began.elapsed().as_secs() < 10);
    assert!(outcome.rows.interrupted);
    assert!(outcome.rows.frames.len() > 50 && outcome.rows.frames.iter().any(|row| row.outcome == Outcome::Delivered));
    assert!(outcome.rows.events.iter().any(|row| row.event.kind == EventKind::SyncLost), "the node was told to stop");
}

fn a_killed_agent_is_an_error_with_partial_rows() {
    let config = stream_config(Duration::from_s(60));
    let began = Instant::now();
    let controller = std::process::id();
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(500));
            // The newest child is the listener.
            let children = std::fs::read_to_string(format!("/proc/{controller}/task/{controller}/children")).unwrap();
            let victim = children.split_whitespace().last().expect("agents are running").to_owned();
            let status = std::process::Command::new("kill").args(["-9", &victim]).status().unwrap();
            assert!(status.success());
        });
        run(&config, &mut Patch::pair(Duration::from_us(100)), &Plain, &AtomicBool::new(false))
    });
    assert!(began.elapsed().as_secs() < 10);
    let Err(LiveError::AgentLost { node, reason, partial, .. }) = result else { panic!("{result:?}") };
    assert_eq!(node, NodeId(1));
    assert!(reason.contains("signal"), "{reason}");
    assert!(partial.rows.interrupted);
    assert!(partial.rows.frames.len() > 50, "the emulator saw them pass");
    assert!(partial.rows.frames.iter().all(|row| row.received_at.is_none() && row.outcome == Outcome::Unaccounted));
    assert!(partial.rows.frames.iter().any(|row| row.sent_at.is_some()), "the other agent's log is there");
}

fn agents_end_with_a_killed_controller() {
    let mut controller =
        std::process::Command::new(std::env::current_exe().unwrap()).arg("controller").spawn().unwrap();
    let pause = |ms| std::thread::sleep(std::time::Duration::from_millis(ms));
    pause(500);
    let pid = controller.id();
    let agents = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert_eq!(agents.split_whitespace().count(), 2);
    controller.kill().unwrap();
    controller.wait().unwrap();
    pause(500);
    for agent in agents.split_whitespace() {
        // Whoever adopted it may take its time to bury it.
        let state = std::fs::read_to_string(format!("/proc/{agent}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }
}

fn refuses_what_cannot_be_run() {
    let attempt = |change: fn(&mut LiveConfig)| {
        let mut config = stream_config(Duration::from_ms(10));
        change(&mut config);
        run(&config, &mut Patch::pair(Duration::ZERO), &Plain, &AtomicBool::new(false)).unwrap_err()
    };
    let twice = attempt(|config| config.agents[1].node = NodeId(0));
    assert!(matches!(&twice, LiveError::Configuration(text) if text.contains("twice")), "{twice}");
    let portless = attempt(|config| config.agents[1].ports.clear());
    assert!(matches!(&portless, LiveError::Configuration(text) if text.contains("0 ports")), "{portless}");
    let crowded = attempt(|config| config.agents[1].ports = vec![PortLink::Pair; 17]);
    assert!(matches!(&crowded, LiveError::Configuration(text) if text.contains("17 ports")), "{crowded}");
    let doubled = attempt(|config| {
        let cable = ExistingInterface { namespace: "nowhere".into(), interface: "cable".into() };
        config.agents[1].ports = vec![PortLink::Existing(cable); 2];
    });
    assert!(matches!(&doubled, LiveError::Configuration(text) if text.contains("same interface")), "{doubled}");
    let instant = attempt(|config| config.duration = Duration::ZERO);
    assert!(matches!(&instant, LiveError::Configuration(_)), "{instant}");
    let unbuildable = attempt(|config| config.node_config = b"unbuildable".to_vec());
    assert!(
        matches!(&unbuildable, LiveError::Node { node: NodeId(0), reason, .. } if reason == "this node cannot be"),
        "{unbuildable}"
    );
    let nowhere = attempt(|config| {
        let arguments = vec![];
        config.agent_command =
            Some(chronoseal_testbed::AgentCommand { program: "/nonexistent/agent".into(), arguments });
    });
    assert!(matches!(&nowhere, LiveError::Start(_)), "{nowhere}");
    let mute = attempt(|config| {
        let arguments = vec![];
        config.agent_command = Some(chronoseal_testbed::AgentCommand { program: "/bin/true".into(), arguments });
    });
    assert!(matches!(&mute, LiveError::Start(_)), "{mute}");
}
