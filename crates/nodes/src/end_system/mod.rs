//! A station of a time-triggered Ethernet: clock, slots, virtual links, keys, tasks (SAE AS6802 synchronisation client, ARINC
//! 664 part 7).

mod agenda;
mod by_clock;
mod cluster;
mod config;
mod datagram;
mod due_times;
mod listener;
mod receive;
mod redundancy;
mod relay;
mod sub_virtual_links;
mod talker;
#[cfg(test)]
mod tests;
mod time_aware;
mod virtual_link;

use std::collections::VecDeque;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{
    Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Operation, Output, PortId,
    StreamId, Transmit, Work,
};

pub use self::config::{
    Application, CarriedPdu, EndSystemConfig, ListenerConfig, ReceiveWindow, Replication, SendSlot, TalkerConfig,
    TalkerTiming, TaskRun, VirtualLinkConfig,
};

pub use self::datagram::{DatagramConfig, sub_link_of};

use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;

use self::agenda::{Action, Agenda};
use self::due_times::DueTimes;
use self::listener::{Listener, Numbered};
use self::receive::Received;
use self::sub_virtual_links::SubVirtualLinks;
use self::talker::{Regulation, Talker};
use crate::clock::{Clock, ClusterClock};
use crate::container::Containers;
use crate::gateway::{Mark, Pdu};
use crate::protection::{Protection, ProtectionError};
use crate::sync_client::SyncClient;
use crate::time_aware::TimeAwareClock;

/// What a platform's profile calls a node's own task.
pub const TASK: Operation = Operation("task");

/// A station of a time-triggered Ethernet.
///
/// It has one port, 0, and a second one if it is on the networks A and B: it sends by the first, and its network interface puts
/// copies on both links. Until the clock has joined the cluster it sends no scheduled frame and judges no window.
pub struct EndSystem {
    base: NodeBase<VecDeque<Event>>,
    config: EndSystemConfig,
    clock: Clock,
    talkers: Vec<Talker>,
    listeners: Vec<Listener>,
    /// `listener_of[ct_id]`, for critical traffic.
    listener_of: Vec<Option<u16>>,
    /// `listener_of_stream[stream]`, for best effort.
    listener_of_stream: Vec<Option<u16>>,
    containers: Containers,
    agenda: Agenda,
    /// True if a listener looks after its frames coming in time.
    is_supervising: bool,
    /// True if a listener's messages come in several frames.
    is_collecting: bool,
    /// What a message is of that has frames to be sent.
    in_fragments: Option<Sealing>,
    /// True if it has nothing to do by the clock but to send, and its clock is right by itself.
    only_sends: bool,
    /// When the processor was free again, if no time that the station had asked for was over since then: what came meanwhile may wait still.
    free_at: Option<LocalTime>,
    /// Virtual links that several of its talkers share.
    shared: Vec<SubVirtualLinks>,
    /// Next frame of each periodic talker, by the oscillator: (time, talker).
    periodic: DueTimes,
    running: bool,
    /// It was made anew and waits to be started again.
    has_restarted: bool,
    /// No task that was due before is done.
    started_at: LocalTime,
    /// Before this time of the oscillator nothing is due; `None` if nothing will be until the next input. What
    /// [`EndSystem::next_wake`] gives, kept so that a poll in between costs nothing.
    due_at: Option<LocalTime>,
    /// To be announced before `stage` is computed.
    work: Option<Work>,
    stage: Stage,
    /// The payload that [`Stage::Open`] is about.
    held: Vec<u8>,
    /// The number of the frame that is looked at, if its stream is a virtual link, or has copies, and it was written.
    numbered: Option<Numbered>,
    /// What goes on from here, for the owner of this station.
    handed: VecDeque<Pdu>,
    /// What has come from another segment and waits for its frame: which talker, what.
    outgoing: VecDeque<(usize, Pdu)>,
    /// Of the frame given last, if it carries what came from another segment.
    sent: Option<Mark>,
    /// What it is made from again after a restart; kept where it is part of a gateway.
    blueprint: Option<Box<EndSystemConfig>>,
}

/// What the next poll computes.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Idle,
    Seal(Sealing),
    Control(ProtocolControlFrame, LocalTime),
    TimeMessage,
    Open(Received),
    OpenContainer {
        container: usize,
        /// What judges its number, if it has one.
        listener: Option<usize>,
    },
    JudgeContained,
    Task {
        run: usize,
        cycle: i64,
        began: LocalTime,
    },
}

/// What was begun.
enum Begun {
    /// Nothing was due.
    Nothing,
    /// What `base`, `work` and `stage` say.
    Something,
    /// A frame that takes no work to be announced first.
    Frame(Sealing),
    /// Another frame of a message that was made before.
    Fragment(Sealing),
    /// A frame of a shared virtual link, which was made before.
    Release(usize),
}

/// A frame about to be made.
#[derive(Clone, Copy, Debug)]
struct Sealing {
    talker: usize,
    launch_at: LocalTime,
    /// What to replay a signal at.
    signal_time: Duration,
    freshness: u64,
}

impl EndSystem {
    /// A station that waits for [`Command::Start`].
    ///
    /// # Errors
    /// [`ProtectionError`] if a stream is protected in a way that this kind of station is not able to.
    pub fn new(mut config: EndSystemConfig) -> Result<Self, ProtectionError> {
        let mut talkers: Vec<Talker> = std::mem::take(&mut config.talkers)
            .into_iter()
            .map(|talker| Talker::new(talker, config.node, config.ct_marker))
            .collect::<Result<_, _>>()?;
        let shared = sub_virtual_links::of(&mut talkers);
        let mut listeners: Vec<Listener> =
            std::mem::take(&mut config.listeners).into_iter().map(Listener::new).collect::<Result<_, _>>()?;
        listener::share(&mut listeners);
        let (mut listener_of, mut listener_of_stream) = (Vec::new(), Vec::new());
        for (index, listener) in listeners.iter().enumerate() {
            let (table, number) = match listener.config.ct_id {
                Some(ct_id) => (&mut listener_of, usize::from(ct_id)),
                None => (&mut listener_of_stream, listener.config.stream.index()),
            };
            table.resize(table.len().max(number + 1), None);
            // Of those that share a virtual link the first, which counts its frames.
            table[number] = Some(listener.counter.unwrap_or(index) as u16);
        }
        let clock = match (config.cluster.take(), config.time_aware.take()) {
            (Some(cluster), _) => Clock::Cluster(Box::new(ClusterClock::new(cluster))),
            (None, Some(time_aware)) => Clock::TimeAware(Box::new(TimeAwareClock::new(time_aware))),
            (None, None) if config.ideal_clock => Clock::Beacon(SyncClient::ideal(config.sync)),
            (None, None) => Clock::Beacon(SyncClient::new(config.sync)),
        };
        let containers = Containers::new(std::mem::take(&mut config.containers), Protection::check_on_ethernet)?;
        for listener in &mut listeners {
            listener.container = containers.find(listener.config.stream);
        }
        let is_supervising =
            listeners.iter().any(|listener| listener.supervision.is_some()) || containers.is_supervising();
        let ports = if config.has_second_port { 2 } else { 1 };
        let agenda = Agenda::new(config.cluster_cycle, actions(&config, &talkers, &listeners));
        let is_ideal = config.ideal_clock && matches!(clock, Clock::Beacon(_));
        let is_collecting = listeners.iter().any(|listener| listener.collecting.is_some());
        let only_sends = is_ideal && agenda.is_empty() && !is_supervising && !is_collecting && shared.is_empty();
        let base = NodeBase::with_queue(0..ports, VecDeque::with_capacity(4));
        let base = if matches!(clock, Clock::TimeAware(_)) { base.giving_tokens() } else { base };
        Ok(Self {
            base,
            clock,
            talkers,
            listeners,
            listener_of,
            listener_of_stream,
            containers,
            agenda,
            is_supervising,
            is_collecting,
            in_fragments: None,
            only_sends,
            free_at: None,
            shared,
            periodic: DueTimes::default(),
            running: false,
            has_restarted: false,
            started_at: LocalTime::ZERO,
            due_at: None,
            work: None,
            stage: Stage::Idle,
            held: Vec::new(),
            numbered: None,
            handed: VecDeque::new(),
            outgoing: VecDeque::new(),
            sent: None,
            blueprint: None,
            config,
        })
    }

    /// A station that is an interface of a gateway.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_gateway(config: EndSystemConfig) -> Result<Self, ProtectionError> {
        Ok(Self { blueprint: Some(Box::new(config.clone())), ..Self::new(config)? })
    }

    /// Its clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    #[cold]
    fn obey(&mut self, now: LocalTime, command: Command) {
        if command == Command::Start {
            self.start(now);
        } else {
            self.running = false;
        }
        self.due_at = self.next_wake();
    }

    fn start(&mut self, now: LocalTime) {
        self.running = true;
        self.in_fragments = None;
        // A clock that needs nobody shows the time at once, and what was due before is not done now.
        if std::mem::take(&mut self.has_restarted) && self.clock.is_synchronised() {
            self.seek(now);
        }
        self.started_at = now;
        match &mut self.clock {
            Clock::Beacon(_) => {}
            Clock::Cluster(clock) => clock.start(now),
            Clock::TimeAware(clock) => clock.start(now),
        }
        self.periodic = self
            .talkers
            .iter_mut()
            .enumerate()
            .filter_map(|(index, talker)| match talker.config.timing {
                TalkerTiming::Periodic { phase, .. }
                | TalkerTiming::Recorded { phase, .. }
                | TalkerTiming::Slots { application: Some(Application { phase, .. }), .. } => {
                    Some((now + phase + talker.pace.restart(), index))
                }
                TalkerTiming::Slots { .. } | TalkerTiming::Relayed { .. } | TalkerTiming::Collected { .. } => None,
            })
            .collect();
        for supervision in self.listeners.iter_mut().filter_map(|listener| listener.supervision.as_mut()) {
            supervision.start(now);
        }
        self.containers.start(now);
    }

    /// Begins the next thing that is due.
    #[inline(always)]
    fn advance(&mut self, now: LocalTime) -> Begun {
        let begun = if self.running { self.begin_due(now) } else { Begun::Nothing };
        self.due_at = self.next_wake();
        begun
    }

    #[inline(always)]
    fn begin_due(&mut self, now: LocalTime) -> Begun {
        if let Some(sealing) = self.in_fragments {
            return Begun::Fragment(sealing);
        }
        if !self.only_sends {
            match self.begin_by_clock(now) {
                Begun::Nothing => {}
                begun => return begun,
            }
        }
        if let Some((talker, pdu)) = self.outgoing.pop_front() {
            self.talkers[talker].next = Some(pdu);
            let freshness = self.talkers[talker].made;
            return self.begin_send(Sealing { talker, launch_at: now, signal_time: now.since_zero(), freshness });
        }
        if self.is_supervising && self.begin_absent(now) {
            return Begun::Something;
        }
        let talkers = &mut self.talkers;
        let Some((launch_at, talker)) = self.periodic.take_due(now, |talker| talkers[talker].pace.step()) else {
            return Begun::Nothing;
        };
        if self.talkers[talker].has_slots {
            return self.make_ready(launch_at, talker);
        }
        let signal_time = launch_at.since_zero();
        let freshness = self.talkers[talker].made;
        self.begin_send(Sealing { talker, launch_at, signal_time, freshness })
    }

    #[inline(always)]
    fn begin_send(&mut self, sealing: Sealing) -> Begun {
        if self.config.real_bytes {
            self.work = self.talkers[sealing.talker].work();
        }
        if self.work.is_none() {
            return Begun::Frame(sealing);
        }
        self.stage = Stage::Seal(sealing);
        Begun::Something
    }

    /// `None` if the frame waits for its turn in a virtual link.
    #[inline(always)]
    fn finish_send(&mut self, now: LocalTime, sealing: Sealing, frame: &mut [u8]) -> Option<Output> {
        let talker = &mut self.talkers[sealing.talker];
        let sequence = talker.made;
        let (signal_time, freshness, real_bytes) = (sealing.signal_time, sealing.freshness, self.config.real_bytes);
        // Most talkers have none of these; looked at before they are taken, nothing is moved then.
        let len = if talker.fragmenter.is_none() {
            talker.make(frame, signal_time, freshness, real_bytes)
        } else {
            talker.make_message((signal_time, freshness), real_bytes);
            0
        };
        if talker.next.is_some() {
            self.sent = talker.next.take().map(|pdu| pdu.mark);
        } else {
            let since = if talker.ready_at.is_some() {
                talker.ready_at.take()
            } else {
                talker.tells_wait.then_some(sealing.launch_at)
            };
            let value = since.map_or(0, |since| (now - since).as_ps().max(0));
            self.base.push(Event { value, ..Event::of(EventKind::Sent, talker.config.stream, sequence) });
        }
        if talker.fragmenter.is_some() {
            return match talker.regulation {
                Regulation::Shared { .. } => {
                    self.hold_fragments(sealing, frame);
                    None
                }
                _ => self.send_fragment(sealing, frame),
            };
        }
        let launch_at = match &mut talker.regulation {
            Regulation::Free | Regulation::Numbered(_) => sealing.launch_at,
            Regulation::Own(regulator) => regulator.release(sealing.launch_at),
            Regulation::Shared { .. } => {
                let lens = (len, talker.headers_len);
                self.hold(sealing.launch_at, sealing.talker, frame, lens);
                return None;
            }
        };
        let priority = talker.priority;
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at, len, token: None }))
    }

    /// Computes what was announced, and begins what is due. Most polls never come here.
    #[inline(never)]
    fn go_on(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        loop {
            let output = match self.stage {
                Stage::Idle => self.begin(now, frame),
                _ => self.compute(now, frame),
            };
            if let Some(output) = output {
                return output;
            }
            if let Some(output) = self.base.next(now, frame) {
                return output;
            }
        }
    }

    /// Begins what is due. `None` if that led to effects that wait, or to something to be computed.
    #[inline(always)]
    fn begin(&mut self, now: LocalTime, frame: &mut [u8]) -> Option<Output> {
        if self.begin_contained(now) {
            return None;
        }
        match self.advance(now) {
            Begun::Nothing => Some(Output::Timeout(self.due_at)),
            Begun::Something => None,
            Begun::Frame(sealing) => self.finish_send(now, sealing, frame),
            Begun::Fragment(sealing) => self.send_fragment(sealing, frame),
            Begun::Release(link) => self.release(link, frame),
        }
    }

    /// Announces what is to be computed, or computes it if that was done.
    #[inline(never)]
    fn compute(&mut self, now: LocalTime, frame: &mut [u8]) -> Option<Output> {
        if let Some(work) = self.work.take() {
            return Some(Output::Work(work));
        }
        self.free_at = Some(now);
        match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => {}
            Stage::Control(control, due) => return Some(self.send_control(now, control, due, frame)),
            Stage::TimeMessage => return Some(self.send_time_message(now, frame)),
            Stage::Seal(sealing) => return self.finish_send(now, sealing, frame),
            Stage::Open(received) => self.finish_receive(now, received),
            Stage::OpenContainer { container, listener } => self.finish_container(container, listener),
            Stage::JudgeContained => self.judge_contained(now),
            Stage::Task { run, cycle, began } => self.finish_task(now, run, cycle, began),
        }
        None
    }

    #[inline(always)]
    fn next_wake(&self) -> Option<LocalTime> {
        // What was taken out of a frame, or given to be sent on, is due at once, whatever went before it.
        if self.containers.are_waiting() {
            return Some(LocalTime::from_ps(i64::MIN));
        }
        if !self.running {
            return None;
        }
        if !self.outgoing.is_empty() || self.in_fragments.is_some() {
            return Some(LocalTime::from_ps(i64::MIN));
        }
        let next = self.periodic.earliest();
        if self.only_sends { next } else { self.next_by_clock().into_iter().chain(next).min() }
    }
}

/// Everything a station does in a cluster cycle, by cluster time.
fn actions<'a>(
    config: &'a EndSystemConfig,
    talkers: &'a [Talker],
    listeners: &'a [Listener],
) -> impl Iterator<Item = (Duration, Action)> + 'a {
    let sends = talkers.iter().enumerate().flat_map(move |(talker, entry)| {
        let slots: &[SendSlot] = match &entry.config.timing {
            TalkerTiming::Slots { slots, .. } => slots,
            TalkerTiming::Periodic { .. }
            | TalkerTiming::Recorded { .. }
            | TalkerTiming::Relayed { .. }
            | TalkerTiming::Collected { .. } => &[],
        };
        slots
            .iter()
            .enumerate()
            .map(move |(instance, slot)| (slot.release - config.lead, Action::Send { talker, instance }))
    });
    // A frame at the very end of its window is still in time, and may not have been handed over.
    let after = config.hand_over_max + Duration::from_ps(1);
    let checks = listeners.iter().enumerate().flat_map(move |(listener, entry)| {
        let windows = entry.config.windows.iter().enumerate();
        // Of two copies the later one can be the only one that comes.
        let closes = move |instance: usize, window: &ReceiveWindow| {
            let second = entry.config.second_windows.get(instance);
            second.map_or(window.closes, |second| second.closes.max(window.closes))
        };
        // A message is missed in the slot in which it should begin; what is left out of one that has begun ends with its time.
        let begins = windows.filter(move |(instance, _)| instance.is_multiple_of(entry.frames()));
        begins.map(move |(instance, window)| (closes(instance, window) + after, Action::Check { listener, instance }))
    });
    let tasks = config.tasks.iter().enumerate().map(|(run, task)| (task.start, Action::Task { run }));
    sends.chain(checks).chain(tasks)
}

impl Node for EndSystem {
    #[inline(always)]
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Frame { rx_at, port, bytes } => self.receive(now, rx_at, port, bytes),
            Input::Command(command) => self.obey(now, command),
            // At the instant at which the processor is free again some inputs may stand behind this one.
            Input::Timeout => self.free_at = self.free_at.filter(|free_at| now <= *free_at),
            Input::Transmitted { token, tx_at } => return self.departed(now, &token, Some(tx_at)),
            Input::Dropped { token } => return self.departed(now, &token, None),
            _ => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        // Work is announced for a stage to come, so there is none while it is idle.
        if matches!(self.stage, Stage::Idle) && self.due_at.is_none_or(|due_at| due_at > now) {
            return Output::Timeout(self.due_at);
        }
        self.go_on(now, frame)
    }

    fn shown_time(&self, _: PortId, now: LocalTime) -> Option<(LocalTime, RateDeviation)> {
        self.clock.shown(now)
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        if !self.running {
            return None;
        }
        if let Stage::Seal(sealing) = self.stage {
            let talker = &self.talkers[sealing.talker];
            // What goes on from another segment is owed by its sender, and what leaves in slots is missed in them.
            if talker.next.is_none() && !talker.has_slots {
                (self.stage, self.work) = (Stage::Idle, None);
                return Some((talker.config.stream, sealing.launch_at));
            }
        }
        let waiting = |talker: &mut Talker| Some((talker.config.stream, talker.ready_at.take()?));
        if let Some(waiting) = self.talkers.iter_mut().find_map(waiting) {
            return Some(waiting);
        }
        let talkers = &mut self.talkers;
        let (due, talker) = self.periodic.take_due(now, |talker| talkers[talker].pace.step())?;
        Some((self.talkers[talker].config.stream, due))
    }
}
