//! A simulation that is watched on another thread: what an observer would be told is written down, and told there batch by batch, in the
//! same order. Nothing comes back before the run is over, so that it is the same run on one thread or two.

use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use chronoseal_core::{Duration, Event, FramePart, NodeId, SimTime, StreamId, Work};
use chronoseal_media::medium::FrameLabel;
use chronoseal_media::watch::Passing;
use chronoseal_sim::{FrameContext, Observer};

/// What is handed over together.
const CALLS_MAX: usize = 2048;

/// Batches that may wait to be told: as many as are written while a recorder settles a span, so that the run seldom waits for it.
const WAITING_MAX: usize = 48;

/// One call of an observer. What it says of a frame stands in the batch, in the order of calls.
#[derive(Clone, Copy)]
enum Call {
    Event { at: SimTime, node: NodeId, event: Event, has_frame: bool },
    Transmit { at: SimTime, node: NodeId },
    Carried { at: SimTime, node: NodeId },
    CameFrom { serial: u64, origins: usize },
    Contains { serial: u64, parts: usize },
    Passing(Passing),
    HandedOver { at: SimTime, node: NodeId },
    Taken { at: SimTime, node: NodeId },
    Owed { node: NodeId, stream: StreamId, due_at: SimTime },
    OnWay,
    Work { at: SimTime, node: NodeId, work: Work, cost: Duration },
}

/// What is known of a frame beside its bytes.
#[derive(Clone, Copy)]
struct Frame {
    label: FrameLabel,
    departed_at: Option<SimTime>,
    received_at: Option<SimTime>,
    len: usize,
}

/// Calls, with what they say.
#[derive(Default)]
struct Batch {
    calls: Vec<Call>,
    frames: Vec<Frame>,
    /// Of all frames, one behind the other.
    bytes: Vec<u8>,
    origins: Vec<u64>,
    parts: Vec<FramePart>,
}

impl Batch {
    fn write(&mut self, frame: &FrameContext<'_>) {
        let FrameContext { bytes, label, departed_at, received_at } = *frame;
        self.frames.push(Frame { label: *label, departed_at, received_at, len: bytes.len() });
        self.bytes.extend_from_slice(bytes);
    }

    /// Tells `observer` all of it.
    fn tell(&self, observer: &mut impl Observer) {
        let mut rest = Rest { frames: &self.frames, bytes: &self.bytes, origins: &self.origins, parts: &self.parts };
        for call in &self.calls {
            match *call {
                Call::Event { at, node, event, has_frame } => {
                    observer.event(at, node, &event, has_frame.then(|| rest.frame()));
                }
                Call::Transmit { at, node } => observer.transmit(at, node, rest.frame()),
                Call::Carried { at, node } => observer.carried(at, node, rest.frame()),
                Call::CameFrom { serial, origins } => observer.came_from(serial, take(&mut rest.origins, origins)),
                Call::Contains { serial, parts } => observer.contains(serial, take(&mut rest.parts, parts)),
                Call::Passing(passing) => observer.passing(&passing),
                Call::HandedOver { at, node } => observer.handed_over(at, node, rest.frame()),
                Call::Taken { at, node } => observer.taken(at, node, rest.frame()),
                Call::Owed { node, stream, due_at } => observer.owed(node, stream, due_at),
                Call::OnWay => observer.on_way(rest.frame()),
                Call::Work { at, node, work, cost } => observer.work(at, node, &work, cost),
            }
        }
    }

    fn clear(&mut self) {
        self.calls.clear();
        self.frames.clear();
        self.bytes.clear();
        self.origins.clear();
        self.parts.clear();
    }
}

/// What of a batch is not told yet.
struct Rest<'b> {
    frames: &'b [Frame],
    bytes: &'b [u8],
    origins: &'b [u64],
    parts: &'b [FramePart],
}

impl<'b> Rest<'b> {
    fn frame(&mut self) -> FrameContext<'b> {
        let [Frame { label, departed_at, received_at, len }] = take(&mut self.frames, 1) else {
            unreachable!("a batch has a frame for each call that is about one")
        };
        let bytes = take(&mut self.bytes, *len);
        FrameContext { bytes, label, departed_at: *departed_at, received_at: *received_at }
    }
}

/// The first of what is left.
fn take<'b, T>(left: &mut &'b [T], count: usize) -> &'b [T] {
    let (first, others) = left.split_at(count);
    *left = others;
    first
}

/// Writes down what `O` is told on another thread.
pub(crate) struct Relay<O> {
    batch: Batch,
    filled: SyncSender<Batch>,
    emptied: Receiver<Batch>,
    /// Of those that were told, the one that was last is still in a cache and is written next.
    free: Vec<Batch>,
    observer: PhantomData<fn(O)>,
}

impl<O> Relay<O> {
    #[inline]
    fn call(&mut self, call: Call) {
        self.batch.calls.push(call);
        if self.batch.calls.len() >= CALLS_MAX {
            self.hand_over();
        }
    }

    #[inline]
    fn of_frame(&mut self, call: Call, frame: &FrameContext<'_>) {
        self.batch.write(frame);
        self.call(call);
    }

    #[cold]
    fn hand_over(&mut self) {
        self.free.extend(self.emptied.try_iter());
        let next = self.free.pop().unwrap_or_default();
        // Nobody takes it if the other thread has panicked, which shows when the run is over.
        let _ = self.filled.send(std::mem::replace(&mut self.batch, next));
    }
}

impl<O: Observer> Observer for &mut Relay<O> {
    const WATCHES_LINES: bool = O::WATCHES_LINES;
    const WATCHES_INPUTS: bool = O::WATCHES_INPUTS;

    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let call = Call::Event { at, node, event: *event, has_frame: frame.is_some() };
        if let Some(frame) = &frame {
            self.batch.write(frame);
        }
        self.call(call);
    }
    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.of_frame(Call::Transmit { at, node }, &frame);
    }
    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.of_frame(Call::Carried { at, node }, &frame);
    }
    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.batch.origins.extend_from_slice(origins);
        self.call(Call::CameFrom { serial, origins: origins.len() });
    }
    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.batch.parts.extend_from_slice(parts);
        self.call(Call::Contains { serial, parts: parts.len() });
    }
    fn passing(&mut self, passing: &Passing) {
        self.call(Call::Passing(*passing));
    }
    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.of_frame(Call::HandedOver { at, node }, &frame);
    }
    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.of_frame(Call::Taken { at, node }, &frame);
    }
    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        self.call(Call::Owed { node, stream, due_at });
    }
    fn on_way(&mut self, frame: FrameContext<'_>) {
        self.of_frame(Call::OnWay, &frame);
    }
    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        self.call(Call::Work { at, node, work: *work, cost });
    }
}

/// Calls `run` with an observer, and tells `observer` on another thread all that this one is told.
///
/// # Panics
/// If `observer` panics, with what it panics with.
pub(crate) fn watched_apart<O: Observer + Send, T>(mut observer: O, run: impl FnOnce(&mut Relay<O>) -> T) -> (T, O) {
    let (filled, batches) = sync_channel::<Batch>(WAITING_MAX);
    let (told, emptied): (Sender<Batch>, Receiver<Batch>) = channel();
    thread::scope(|scope| {
        let telling = scope.spawn(move || {
            for mut batch in batches {
                batch.tell(&mut observer);
                batch.clear();
                // Whoever writes has ended if nobody takes it.
                let _ = told.send(batch);
            }
            observer
        });
        let mut relay = Relay { batch: Batch::default(), filled, emptied, free: Vec::new(), observer: PhantomData };
        let ran = run(&mut relay);
        relay.hand_over();
        drop(relay);
        match telling.join() {
            Ok(observer) => (ran, observer),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// True if this process may use a second processor.
pub(crate) fn has_second_processor() -> bool {
    thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{EventKind, Operation, Priority};
    use chronoseal_media::watch::Passed;

    use super::*;

    /// Writes down every call, and panics at one.
    #[derive(Default)]
    struct Log {
        calls: Vec<String>,
        panics_at: Option<usize>,
    }

    impl Log {
        fn note(&mut self, call: String) {
            assert_ne!(self.panics_at, Some(self.calls.len()), "as the test wants it");
            self.calls.push(call);
        }
    }

    impl Observer for Log {
        const WATCHES_LINES: bool = true;

        fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
            self.note(format!("event {at:?} {node:?} {event:?} {frame:?}"));
        }
        fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
            self.note(format!("transmit {at:?} {node:?} {frame:?}"));
        }
        fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
            self.note(format!("carried {at:?} {node:?} {frame:?}"));
        }
        fn came_from(&mut self, serial: u64, origins: &[u64]) {
            self.note(format!("came from {serial} {origins:?}"));
        }
        fn contains(&mut self, serial: u64, parts: &[FramePart]) {
            self.note(format!("contains {serial} {parts:?}"));
        }
        fn passing(&mut self, passing: &Passing) {
            self.note(format!("{passing:?}"));
        }
        fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
            self.note(format!("handed over {at:?} {node:?} {frame:?}"));
        }
        fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
            self.note(format!("taken {at:?} {node:?} {frame:?}"));
        }
        fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
            self.note(format!("owed {node:?} {stream:?} {due_at:?}"));
        }
        fn on_way(&mut self, frame: FrameContext<'_>) {
            self.note(format!("on way {frame:?}"));
        }
        fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
            self.note(format!("work {at:?} {node:?} {work:?} {cost:?}"));
        }
    }

    /// Calls of every kind with frames of every length, more than fit into a few batches.
    fn call_all(observer: &mut impl Observer) {
        for number in 0..CALLS_MAX as u64 {
            let (at, node) = (SimTime::from_ps(number as i64 * 7), NodeId((number % 5) as u16));
            let bytes: Vec<u8> = (0..number % 1500).map(|place| (place ^ number) as u8).collect();
            let label = FrameLabel { sent_at: at, serial: Some(number), ..FrameLabel::default() };
            let frame = FrameContext { bytes: &bytes, label: &label, departed_at: None, received_at: Some(at) };
            let event = Event::of(EventKind::Delivered, StreamId(3), number);
            let part = FramePart { stream: StreamId(4), origin: Some(number), attack: None };
            let what = Passed::Queued { priority: Priority(2) };
            observer.came_from(number, &[number, 9][..(number % 3) as usize % 2 + 1]);
            observer.contains(number, &vec![part; (number % 4) as usize]);
            observer.transmit(at, node, frame);
            observer.passing(&Passing { segment: 1, line: 2, frame: Some(number), at, what });
            observer.carried(at, node, frame);
            observer.handed_over(at, node, frame);
            observer.taken(at, node, frame);
            observer.event(at, node, &event, Some(frame));
            observer.event(at, node, &event, None);
            observer.work(at, node, &Work::of(Operation("hash"), 12), Duration::from_ns(5));
            observer.owed(node, StreamId(1), at);
            observer.on_way(frame);
        }
    }

    #[test]
    fn an_observer_apart_is_told_the_same_in_the_same_order() {
        let mut here = Log::default();
        call_all(&mut here);
        let (answer, apart) = watched_apart(Log::default(), |mut relay| {
            call_all(&mut relay);
            7
        });
        assert_eq!((answer, apart.calls.len()), (7, CALLS_MAX * 12));
        assert!(apart.calls == here.calls);
        assert_eq!(watched_apart(Log::default(), |_| ()).1.calls.len(), 0);
    }

    #[test]
    #[should_panic(expected = "as the test wants it")]
    fn a_panic_of_an_observer_apart_is_one_here() {
        let log = Log { panics_at: Some(3 * CALLS_MAX), ..Log::default() };
        watched_apart(log, |mut relay| call_all(&mut relay));
    }
}
