//! A program of others in the agent's network namespace.
//!
//! It has a process namespace of its own, of which it is the first: when it ends, or the agent does, the kernel ends all that it has
//! started.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, SimTime};
use chronoseal_results::SerializedMeta;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::usage::Meter;
use crate::clock::RunClock;
use crate::config::Program;
use crate::log::{AgentLog, ConnectedSent, EventRecord, ProgramRecord, ProgramUsage};
use crate::program_record::{ProgramMessage, What, parse};
use crate::sys;

/// What is kept of what a program prints: the end of it `[byte]`.
const PRINTED_MAX: usize = 64 << 10;
/// How long a program has to end by itself once it is asked to.
const PATIENCE: Duration = Duration::from_ms(500);
/// How often it is looked at whether it has ended.
const LOOK_EVERY: Duration = Duration::from_ms(20);

/// A program that will be started, runs, or has ended.
pub(super) struct Running {
    config: Program,
    state: State,
    clock: RunClock,
    /// What it writes down of messages, if it carries streams.
    records: Option<File>,
    printed: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
    /// Once it was started.
    meter: Option<Meter>,
}

enum State {
    Waits,
    Runs { child: Child, look_at: SimTime },
    Ended { at: Option<SimTime>, how: String, is_well: bool },
}

impl Running {
    pub(super) fn new(config: Program, clock: RunClock) -> Self {
        Self { config, state: State::Waits, clock, records: None, printed: Arc::default(), reader: None, meter: None }
    }

    /// When it has to be looked at.
    pub(super) fn next_at(&self) -> Option<SimTime> {
        match &self.state {
            State::Waits => Some(SimTime::from_ps(self.config.from_ps)),
            State::Runs { look_at, .. } => Some(*look_at),
            State::Ended { .. } => None,
        }
    }

    /// Starts it if its time has come, and sees whether it has ended.
    pub(super) fn turn(&mut self, now: SimTime) {
        if self.next_at().is_none_or(|at| at > now) {
            return;
        }
        match &mut self.state {
            State::Waits => {
                self.state = match self.start() {
                    Ok(child) => State::Runs { child, look_at: now + LOOK_EVERY },
                    Err(error) => {
                        let how = format!("it could not be started: {error}");
                        State::Ended { at: Some(now), how, is_well: false }
                    }
                }
            }
            State::Runs { child, look_at } => match child.try_wait() {
                Ok(None) | Err(_) => *look_at = now + LOOK_EVERY,
                Ok(Some(status)) => {
                    self.state = State::Ended { at: Some(now), how: in_words(status), is_well: status.success() };
                }
            },
            State::Ended { .. } => {}
        }
    }

    fn start(&mut self) -> io::Result<Child> {
        let mut words = self.config.command.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        let (mut reader, writer) = io::pipe()?;
        command.args(words).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
        if !self.config.streams.is_empty() {
            // In memory, so that nothing is left of it; a program opens it by its name in /proc.
            let file = memfd_create(c"records", MFdFlags::empty())?;
            command.env("CHRONOSEAL_RECORDS", format!("/proc/self/fd/{}", file.as_raw_fd()));
            command.env("CHRONOSEAL_EPOCH_NS", self.clock.epoch_ns.to_string());
            command.env("CHRONOSEAL_STREAMS", serde_json::to_string(&self.config.streams)?);
            self.records = Some(file.into());
        }
        let printed = Arc::clone(&self.printed);
        // Before the process namespace: a process that has one for its children can have no further thread.
        self.reader = Some(thread::Builder::new().spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(len @ 1..) = reader.read(&mut chunk) {
                let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
                printed.extend(&chunk[..len]);
                let over = printed.len().saturating_sub(PRINTED_MAX);
                printed.drain(..over);
            }
        })?);
        self.meter = Some(Meter::start());
        // Here our own ends of the pipe are closed, whether it was started or not.
        sys::spawn_contained(command, &self.config.cpus)
    }

    /// Ends it, if it still runs, and writes down what it says of its streams.
    ///
    /// What is due from `end` on is none of the run's.
    pub(super) fn stop(mut self, end: SimTime, log: &mut AgentLog) -> ProgramRecord {
        let clock = self.clock;
        if let State::Runs { child, .. } = &mut self.state {
            let pid = Pid::from_raw(child.id() as i32);
            let mut ended = child.try_wait().ok().flatten().map(|status| (in_words(status), status.success()));
            if ended.is_none() {
                self.meter.iter_mut().for_each(|meter| meter.look(child.id()));
                let _ = kill(pid, Signal::SIGTERM);
                let until = clock.now() + PATIENCE;
                while clock.now() < until && child.try_wait().ok().flatten().is_none() {
                    clock.poll_until(&mut [], Some(clock.now() + Duration::from_ms(5)));
                }
                let _ = child.kill();
                let _ = child.wait();
                ended = Some(("it ran until the end of the run".into(), true));
            }
            let (how, is_well) = ended.expect("set above");
            self.state = State::Ended { at: None, how, is_well };
        }
        let serialized = self.note_messages(end, log);
        let usage = self.meter.map_or_else(ProgramUsage::default, Meter::end);
        let usage = ProgramUsage { serialized, ..usage };
        // All that wrote to the pipe is gone.
        self.reader.into_iter().for_each(|reader| drop(reader.join()));
        let bytes: Vec<u8> = self.printed.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let printed = String::from_utf8_lossy(&bytes).into_owned();
        match self.state {
            State::Ended { at, how, is_well } => {
                ProgramRecord { ended_ps: at.map(SimTime::as_ps), how, is_well, printed, usage }
            }
            State::Waits | State::Runs { .. } => {
                let how = "the run ended before it was started".into();
                ProgramRecord { ended_ps: None, how, is_well: false, printed, usage }
            }
        }
    }
}

impl Running {
    /// Its records, as those of messages over connections: no packet stands for one of these either. What it says of serializing them.
    fn note_messages(&mut self, end: SimTime, log: &mut AgentLog) -> Vec<SerializedMeta> {
        let (mut bytes, mut serialized) = (Vec::new(), Vec::new());
        if let Some(mut file) = self.records.take() {
            // Of what cannot be read nothing was sent, as far as anybody knows.
            let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
        }
        let (messages, bad) = parse(&bytes, self.clock.epoch_ns);
        self.note_owed(&messages, end, log);
        log.bad_records += bad as u64;
        for message in messages {
            let ProgramMessage { what, stream, len, sequence, at_ns } = message;
            let time = |ns: i64| SimTime::ZERO + Duration::from_ns(ns - self.clock.epoch_ns);
            let at = time(at_ns);
            let is_its =
                |sends: bool| self.config.streams.iter().any(|known| known.number == stream.0 && known.sends == sends);
            match what {
                What::Sent { due_ns } if is_its(true) => {
                    let late = Duration::from_ns((at_ns - due_ns).max(0));
                    let event = Event { value: late.as_ps(), ..Event::of(EventKind::Sent, stream, sequence) };
                    log.events.push(EventRecord::new(at, &event));
                    let is_refused = false;
                    log.connected_sent.push(ConnectedSent {
                        at_ps: at.as_ps(),
                        stream: stream.0,
                        sequence,
                        len,
                        is_refused,
                    });
                }
                What::Received { is_altered } => {
                    let kind = match is_altered {
                        // Whose it is shows where all records are together.
                        _ if !is_its(false) => EventKind::Discarded(DiscardReason::UnknownStream),
                        true => EventKind::Discarded(DiscardReason::Malformed),
                        false => EventKind::Delivered,
                    };
                    let record = EventRecord::new(at, &Event::of(kind, stream, sequence));
                    log.events.push(record);
                    log.connected_received.push((record, len));
                }
                What::Serialized if is_its(true) || is_its(false) => {
                    serialized.push(SerializedMeta { stream: stream.0, messages: len, median_ns: sequence });
                }
                What::Sent { .. } | What::Serialized => log.bad_records += 32,
            }
        }
        log.events.sort_by_key(EventRecord::at);
        serialized
    }

    /// What was due and nobody wrote down as sent: a program that stops, or that is held up, owes the rest. The schedule of a stream begins with
    /// its first message; of one without any, when it could have begun.
    fn note_owed(&self, messages: &[ProgramMessage], end: SimTime, log: &mut AgentLog) {
        let end_ns = end.since_zero().as_ns();
        for stream in self.config.streams.iter().filter(|stream| stream.sends) {
            let of_stream = messages.iter().filter(|message| message.stream.0 == stream.number);
            let dues = of_stream.filter_map(|message| match message.what {
                What::Sent { due_ns } => Some(due_ns - self.clock.epoch_ns).filter(|due| *due < end_ns),
                What::Received { .. } | What::Serialized => None,
            });
            let (mut sent, mut first_ns) = (0, None);
            for due in dues {
                sent += 1;
                first_ns = Some(first_ns.map_or(due, |first: i64| first.min(due)));
            }
            let begin_ns = Duration::from_ps(self.config.from_ps).as_ns() + stream.offset_ns;
            let first_ns = first_ns.unwrap_or(begin_ns);
            let due_ns = (sent..).map(|number| first_ns + number * stream.period_ns.max(1));
            let owed =
                due_ns.take_while(|due| *due < end_ns).map(|due| (stream.number, Duration::from_ns(due).as_ps()));
            log.owed.extend(owed);
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => status.to_string(),
    }
}
