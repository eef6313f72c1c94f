//! The star of peers/star.md on nexosim: store-and-forward, strict priorities, six events a frame.
//!
//! ```text
//! Host ── frame_out ──► Switch::frame_in (1 us) ──► egress queues ── frame_out[host] ──► Host::frame_in
//! ```
//! Events of a frame: `generate`, `transmitted` (host), `frame_in` (switch), `enqueue`, `transmitted` (switch),
//! `frame_in` (host). Prints one line of JSON.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nexosim::Message;
use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

/// Checksum 4, preamble and delimiter 8, gap 12 [byte] (IEEE 802.3).
const ON_WIRE_OVERHEAD: u64 = 24;
/// A frame has arrived before its gap of 12 bytes, its port is busy to the end of the gap [ns]. One event stands for
/// both, and this is taken off the delays that follow: at the switch and from the latency.
const GAP_NS: u64 = 12 * NS_PER_BYTE;
/// At 1 Gb/s [ns].
const NS_PER_BYTE: u64 = 8;
const HOSTS: usize = 4;
const QUEUES: usize = 8;

/// One line of `star.csv`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flow {
    sender: usize,
    receiver: usize,
    /// Without checksum [byte].
    frame_len: u64,
    period_ns: u64,
    phase_ns: u64,
    priority: usize,
}

#[derive(Clone, Copy, Debug, Message, Serialize, Deserialize)]
struct Frame {
    flow: u16,
    priority: u8,
    receiver: u8,
    wire_ns: u32,
    sent_ns: u64,
}

/// Strict-priority egress queues and the wire behind them.
#[derive(Default, Serialize, Deserialize)]
struct Egress {
    queues: [VecDeque<Frame>; QUEUES],
    sending: bool,
}

impl Egress {
    /// Queues `frame`; gives back the one to start now, if the wire was free.
    fn push(&mut self, frame: Frame) -> Option<Frame> {
        self.queues[frame.priority as usize].push_back(frame);
        if self.sending { None } else { self.next() }
    }

    /// The wire became free; gives back the frame to start now.
    fn next(&mut self) -> Option<Frame> {
        let frame = self.queues.iter_mut().rev().find_map(VecDeque::pop_front);
        self.sending = frame.is_some();
        frame
    }
}

fn now_ns(cx: &Context<impl Model>) -> u64 {
    let time = cx.time();
    time.as_secs() as u64 * 1_000_000_000 + u64::from(time.subsec_nanos())
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tally {
    count: u64,
    latency_sum_ns: u64,
    latency_max_ns: u64,
}

/// One host's results, read after the run.
#[derive(Clone, Default)]
struct Results(Arc<Mutex<Vec<Tally>>>);

#[derive(Serialize, Deserialize)]
struct Host {
    frame_out: Output<Frame>,
    flows: Vec<(u16, Flow)>,
    stop_ns: u64,
    fifo: bool,
    egress: Egress,
    #[serde(skip)]
    results: Results,
}

#[Model]
impl Host {
    /// Plans the first frame of every flow.
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        for local in 0..self.flows.len() {
            // nexosim schedules into the future only; START_NS puts phase 0 there.
            let at = Duration::from_nanos(START_NS + self.flows[local].1.phase_ns);
            cx.schedule_event(at, schedulable!(Self::generate), local).expect("in the future");
        }
    }

    #[nexosim(schedulable)]
    async fn generate(&mut self, local: usize, cx: &Context<Self>) {
        let now = now_ns(cx);
        let (id, flow) = &self.flows[local];
        let frame = Frame {
            flow: *id,
            priority: if self.fifo { 0 } else { flow.priority as u8 },
            receiver: flow.receiver as u8,
            wire_ns: ((flow.frame_len + ON_WIRE_OVERHEAD) * NS_PER_BYTE) as u32,
            sent_ns: now,
        };
        if now + flow.period_ns < self.stop_ns {
            let period = Duration::from_nanos(flow.period_ns);
            cx.schedule_event(period, schedulable!(Self::generate), local).expect("in the future");
        }
        if let Some(frame) = self.egress.push(frame) {
            self.start(frame, cx);
        }
    }

    fn start(&self, frame: Frame, cx: &Context<Self>) {
        let wire = Duration::from_nanos(u64::from(frame.wire_ns));
        cx.schedule_event(wire, schedulable!(Self::transmitted), frame).expect("in the future");
    }

    #[nexosim(schedulable)]
    async fn transmitted(&mut self, frame: Frame, cx: &Context<Self>) {
        self.frame_out.send(frame).await;
        if let Some(next) = self.egress.next() {
            self.start(next, cx);
        }
    }

    async fn frame_in(&mut self, frame: Frame, cx: &Context<Self>) {
        let latency = now_ns(cx) - GAP_NS - frame.sent_ns;
        let mut tallies = self.results.0.lock().expect("no holder panics");
        let tally = &mut tallies[frame.flow as usize];
        tally.count += 1;
        tally.latency_sum_ns += latency;
        tally.latency_max_ns = tally.latency_max_ns.max(latency);
    }
}

#[derive(Serialize, Deserialize)]
struct Switch {
    frame_out: Vec<Output<Frame>>,
    egress: Vec<Egress>,
    delay_ns: u64,
}

#[Model]
impl Switch {
    async fn frame_in(&mut self, frame: Frame, cx: &Context<Self>) {
        let delay = Duration::from_nanos(self.delay_ns);
        cx.schedule_event(delay, schedulable!(Self::enqueue), frame).expect("in the future");
    }

    #[nexosim(schedulable)]
    async fn enqueue(&mut self, frame: Frame, cx: &Context<Self>) {
        if let Some(frame) = self.egress[frame.receiver as usize].push(frame) {
            self.start(frame, cx);
        }
    }

    fn start(&self, frame: Frame, cx: &Context<Self>) {
        let wire = Duration::from_nanos(u64::from(frame.wire_ns));
        cx.schedule_event(wire, schedulable!(Self::transmitted), frame).expect("in the future");
    }

    #[nexosim(schedulable)]
    async fn transmitted(&mut self, frame: Frame, cx: &Context<Self>) {
        self.frame_out[frame.receiver as usize].send(frame).await;
        if let Some(next) = self.egress[frame.receiver as usize].next() {
            self.start(next, cx);
        }
    }
}

/// Traffic starts here, as on ns-3.
const START_NS: u64 = 1_000_000;

fn read_flows(path: &str) -> Result<Vec<Flow>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut flows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let fields = line.split(',').map(|field| field.trim().parse::<u64>()).collect::<Result<Vec<_>, _>>();
        let fields = fields.map_err(|error| format!("{path}: {error} in: {line}"))?;
        let [index, sender, receiver, frame_len, period_ns, phase_ns, priority] = fields[..] else {
            return Err(format!("{path}: seven fields expected in: {line}").into());
        };
        let fits = |host: u64| (host as usize) < HOSTS;
        if index as usize != flows.len() || !fits(sender) || !fits(receiver) || priority as usize >= QUEUES {
            return Err(format!("{path}: flow, host or priority out of range in: {line}").into());
        }
        let (sender, receiver, priority) = (sender as usize, receiver as usize, priority as usize);
        flows.push(Flow { sender, receiver, frame_len, period_ns, phase_ns, priority });
    }
    Ok(flows)
}

fn cpu_seconds() -> f64 {
    // SAFETY: an all-zero rusage is a valid value, and getrusage only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: star-nexosim STAR_CSV SIMULATED_MS SWITCH_DELAY_NS [fifo]";
    let path = arguments.next().ok_or(usage)?;
    let duration_ms: u64 = arguments.next().ok_or(usage)?.parse()?;
    let delay_ns: u64 = arguments.next().ok_or(usage)?.parse()?;
    if delay_ns <= GAP_NS {
        return Err(format!("the switch delay must be longer than {GAP_NS} ns").into());
    }
    let fifo = arguments.next().is_some_and(|word| word == "fifo");
    let flows = read_flows(&path)?;
    let stop_ns = START_NS + duration_ms * 1_000_000;

    let mut switch = Switch { frame_out: Vec::new(), egress: Vec::new(), delay_ns: delay_ns - GAP_NS };
    let switch_mailbox = Mailbox::new();
    let mut bench = SimInit::with_num_threads(1);
    let mut results = Vec::new();
    for number in 0..HOSTS {
        let mine = flows.iter().enumerate().filter(|(_, flow)| flow.sender == number);
        let tallies = Results(Arc::new(Mutex::new(vec![Tally::default(); flows.len()])));
        results.push(tallies.clone());
        let mut host = Host {
            frame_out: Output::default(),
            flows: mine.map(|(id, flow)| (id as u16, flow.clone())).collect(),
            stop_ns,
            fifo,
            egress: Egress::default(),
            results: tallies,
        };
        let mailbox = Mailbox::new();
        host.frame_out.connect(Switch::frame_in, &switch_mailbox);
        let mut out = Output::default();
        out.connect(Host::frame_in, &mailbox);
        switch.frame_out.push(out);
        switch.egress.push(Egress::default());
        bench = bench.add_model(host, mailbox, &format!("host-{number}"));
    }
    let mut simulation = bench.add_model(switch, switch_mailbox, "switch").init(MonotonicTime::EPOCH)?;

    let before = cpu_seconds();
    simulation.step_until(Duration::from_nanos(stop_ns))?;
    let cpu_s = cpu_seconds() - before;

    let mut rows = Vec::new();
    let mut delivered = 0;
    for (id, flow) in flows.iter().enumerate() {
        let tally = results[flow.receiver].0.lock().expect("no holder panics")[id];
        delivered += tally.count;
        rows.push(format!(
            r#"{{"flow":{id},"count":{},"latency_mean_ns":{:.6},"latency_max_ns":{}}}"#,
            tally.count,
            tally.latency_sum_ns as f64 / tally.count as f64,
            tally.latency_max_ns
        ));
    }
    println!(
        r#"{{"engine":"nexosim 1.0.0","variant":"{}","simulated_s":{:.6},"frames_delivered":{delivered},"cpu_s":{cpu_s:.6},"frames_per_cpu_s":{:.6},"flows":[{}]}}"#,
        if fifo { "fifo" } else { "strict-priority" },
        duration_ms as f64 / 1e3,
        delivered as f64 / cpu_s,
        rows.join(",")
    );
    Ok(())
}
