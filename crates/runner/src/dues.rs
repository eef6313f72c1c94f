//! When frames were due at their senders, and which frame left when.
//!
//! A sender tells when it handed a frame over, and how much later that was than the frame was due: what it computed for the
//! frame before, and what held it up. Where a frame has a slot, it is due at the slot's start.

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, Event, EventKind, NodeId, Oscillator, SimTime, StreamId};

/// What senders told of frames and when the frames left.
#[derive(Default)]
pub(crate) struct Dues {
    /// By node: a sender says by its own clock how late it was.
    oscillators: Vec<Oscillator>,
    /// By stream: its senders.
    streams: Vec<Vec<(NodeId, OfSender)>>,
}

/// What one sender told of a stream, in order.
#[derive(Default)]
struct OfSender {
    told: Vec<Told>,
    /// When a frame left its sender, where that is known of every one of them.
    left: Vec<SimTime>,
}

/// What a sender told of a frame.
#[derive(Clone, Copy)]
struct Told {
    handed_at: SimTime,
    due_at: SimTime,
    number: u64,
}

impl Dues {
    /// Nothing told yet.
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let oscillators = prepared.plan().node_ids().map(|id| prepared.oscillator(id)).collect();
        Self { oscillators, streams: Vec::new() }
    }

    fn of_sender(&mut self, stream: StreamId, node: NodeId) -> &mut OfSender {
        if self.streams.len() <= stream.index() {
            self.streams.resize_with(stream.index() + 1, Vec::new);
        }
        let senders = &mut self.streams[stream.index()];
        let place = senders.binary_search_by_key(&node, |(sender, _)| *sender);
        let place = place.unwrap_or_else(|place| {
            senders.insert(place, (node, OfSender::default()));
            place
        });
        &mut senders[place].1
    }

    /// Takes in an event, in the order of events.
    pub(crate) fn note(&mut self, at: SimTime, node: NodeId, event: &Event) {
        if event.kind == EventKind::Sent && event.stream != StreamId::NONE {
            let told = Told { handed_at: at, due_at: self.told_by(at, node, event), number: event.sequence };
            self.of_sender(event.stream, node).told.push(told);
        }
    }

    /// When the frame was due that a sender tells of.
    pub(crate) fn told_by(&self, at: SimTime, node: NodeId, event: &Event) -> SimTime {
        let oscillator = self.oscillators.get(node.index()).copied().unwrap_or_default();
        oscillator.sim(oscillator.local(at) - Duration::from_ps(event.value.max(0)))
    }

    /// Notes that a frame left its sender, in the order in which they do.
    pub(crate) fn leave(&mut self, at: SimTime, node: NodeId, stream: StreamId) {
        if stream != StreamId::NONE {
            self.of_sender(stream, node).left.push(at);
        }
    }

    /// Forgets as many frames that were told of before a time as left their sender before it.
    pub(crate) fn forget(&mut self, before: SimTime) {
        for (_, OfSender { told, left }) in self.streams.iter_mut().flatten() {
            let old = told.partition_point(|told| told.handed_at < before);
            let old_left = left.partition_point(|at| *at < before);
            // Who told of none, or never let one go, keeps no order.
            let (old, old_left) = match (told.is_empty(), left.is_empty()) {
                (false, false) => (old.min(old_left), old.min(old_left)),
                _ => (old, old_left),
            };
            told.drain(..old);
            left.drain(..old_left);
        }
    }

    /// When the frame of a stream was due that left its sender at a time; then, if its sender told nothing of it.
    pub(crate) fn due(&self, stream: StreamId, sender: NodeId, left_at: SimTime) -> SimTime {
        self.told(stream, sender, left_at).map_or(left_at, |told| left_at.min(told.due_at))
    }

    /// Which frame of a stream left its sender at a time, if its sender told of it.
    pub(crate) fn number(&self, stream: StreamId, sender: NodeId, left_at: SimTime) -> Option<u64> {
        self.told(stream, sender, left_at).map(|told| told.number)
    }

    /// When the last frame with a number left its sender before a time, and when it was due.
    pub(crate) fn of_number(
        &self,
        stream: StreamId,
        sender: NodeId,
        number: u64,
        before: SimTime,
    ) -> Option<(SimTime, SimTime)> {
        let OfSender { told, left } = self.sender(stream, sender)?;
        let behind = told.partition_point(|told| told.handed_at <= before);
        let nth = told[..behind].iter().rposition(|told| told.number == number)?;
        let left_at = left.get(nth).copied().unwrap_or(told[nth].handed_at);
        Some((left_at, left_at.min(told[nth].due_at)))
    }

    /// Frames of a stream that left their senders behind a time: number, and when.
    pub(crate) fn left_since(&self, stream: StreamId, since: SimTime) -> impl Iterator<Item = (u64, SimTime)> {
        let of_sender = move |(_, OfSender { told, left }): &(NodeId, OfSender)| {
            let frames = told.iter().enumerate().rev();
            let left = frames.map(|(nth, told)| (told.number, left.get(nth).copied().unwrap_or(told.handed_at)));
            left.take_while(|(_, left_at)| *left_at > since).collect::<Vec<_>>()
        };
        self.streams.get(stream.index()).into_iter().flatten().flat_map(of_sender)
    }

    /// A sender starts anew: takes out what it told of and still had, of which nothing leaves. Stream, number, and when it was due. Of a run
    /// in which every frame is seen to leave.
    pub(crate) fn lose(&mut self, node: NodeId) -> Vec<(StreamId, u64, SimTime)> {
        let mut lost = Vec::new();
        for (stream, senders) in (0..).map(StreamId).zip(&mut self.streams) {
            for (_, OfSender { told, left }) in senders.iter_mut().filter(|(sender, _)| *sender == node) {
                let kept = left.len().min(told.len());
                lost.extend(told.drain(kept..).map(|told| (stream, told.number, told.due_at)));
            }
        }
        lost
    }

    /// Frames that their senders told of and still have: stream, number, and when it was told. Of a run in which every frame is seen to
    /// leave.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (StreamId, u64, SimTime)> {
        let of_stream = |(stream, senders): (StreamId, &Vec<(NodeId, OfSender)>)| {
            let waiting = senders.iter().flat_map(|(_, of)| of.told.iter().skip(of.left.len()));
            waiting.map(|told| (stream, told.number, told.handed_at)).collect::<Vec<_>>()
        };
        (0..).map(StreamId).zip(&self.streams).flat_map(of_stream)
    }

    fn sender(&self, stream: StreamId, sender: NodeId) -> Option<&OfSender> {
        let senders = self.streams.get(stream.index())?;
        let place = senders.binary_search_by_key(&sender, |(node, _)| *node).ok()?;
        Some(&senders[place].1)
    }

    fn told(&self, stream: StreamId, sender: NodeId, left_at: SimTime) -> Option<&Told> {
        let OfSender { told, left } = self.sender(stream, sender)?;
        // A driver keeps the order of what it is handed.
        let nth = left.binary_search(&left_at).ok();
        nth.and_then(|nth| told.get(nth)).or_else(|| nearest(told, left_at))
    }
}

fn nearest(told: &[Told], at: SimTime) -> Option<&Told> {
    let place = told.partition_point(|told| told.handed_at <= at);
    let around = [place.checked_sub(1).and_then(|before| told.get(before)), told.get(place)];
    around.into_iter().flatten().min_by_key(|told| (told.handed_at - at).as_ps().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: StreamId = StreamId(3);
    const SENDER: NodeId = NodeId(1);

    fn at(us: i64) -> SimTime {
        SimTime::ZERO + Duration::from_us(us)
    }

    fn told(frames: &[(i64, i64)]) -> Dues {
        let mut dues = Dues::default();
        for ((handed, late), number) in frames.iter().zip(0..) {
            let value = Duration::from_us(*late).as_ps();
            dues.note(at(*handed), SENDER, &Event { value, ..Event::of(EventKind::Sent, STREAM, number) });
        }
        dues
    }

    #[test]
    fn a_frame_is_due_before_what_its_sender_computes_for_it() {
        let dues = told(&[(120, 20), (220, 20)]);
        assert_eq!(dues.due(STREAM, SENDER, at(121)), at(100));
        assert_eq!(dues.due(STREAM, SENDER, at(219)), at(200));
        // Made ready before it may leave, or told of by nobody.
        assert_eq!(told(&[(90, -10)]).due(STREAM, SENDER, at(100)), at(90));
        assert_eq!(dues.due(STREAM, NodeId(2), at(219)), at(219));
    }

    #[test]
    fn how_late_a_sender_was_is_by_its_own_clock() {
        // 100 ms of a clock that is a thousandth too fast are 99.9 ms and a tenth of a microsecond.
        let fast = Oscillator::new(Duration::ZERO, chronoseal_core::Ppm(1_000_000));
        let dues = Dues { oscillators: vec![Oscillator::default(), fast], ..Dues::default() };
        let sent = Event { value: Duration::from_ms(100).as_ps(), ..Event::of(EventKind::Sent, STREAM, 0) };
        let due = dues.told_by(at(500_000), SENDER, &sent);
        assert!((due - at(400_099)).abs() < Duration::from_us(1), "{due:?}");
        assert_eq!(dues.told_by(at(500_000), NodeId(0), &sent), at(400_000));
    }

    #[test]
    fn frames_that_wait_long_in_a_driver_are_told_apart_by_their_order() {
        let mut dues = told(&[(100, 0), (200, 0), (300, 0)]);
        for left in [290, 291, 301] {
            dues.leave(at(left), SENDER, STREAM);
        }
        assert_eq!([290, 291, 301].map(|left| dues.due(STREAM, SENDER, at(left))), [100, 200, 300].map(at));
        assert_eq!([290, 291, 301].map(|left| dues.number(STREAM, SENDER, at(left))), [0, 1, 2].map(Some));
        assert_eq!(dues.waiting().count(), 0);
    }

    #[test]
    fn a_frame_that_is_held_on_its_way_is_known_by_its_number() {
        let mut dues = told(&[(100, 20), (200, 20), (300, 20)]);
        for left in [101, 201, 301] {
            dues.leave(at(left), SENDER, STREAM);
        }
        let of = |number, before| dues.of_number(STREAM, SENDER, number, at(before));
        assert_eq!(of(1, 450), Some((at(201), at(180))));
        assert_eq!(of(2, 250), None, "it had not left");
        assert_eq!(of(3, 900), None);
        // A sender that started anew counts from the beginning.
        let again = told(&[(100, 0), (200, 0), (300, 0)]);
        assert_eq!(again.of_number(STREAM, SENDER, 0, at(900)), Some((at(100), at(100))));
    }

    #[test]
    fn what_has_not_left_waits_at_its_sender() {
        let mut dues = told(&[(100, 0), (200, 0), (300, 0)]);
        dues.leave(at(150), SENDER, STREAM);
        assert_eq!(dues.waiting().collect::<Vec<_>>(), [(STREAM, 1, at(200)), (STREAM, 2, at(300))]);
        // When it starts anew, that is lost.
        assert_eq!(dues.lose(NodeId(2)), []);
        assert_eq!(dues.lose(SENDER), [(STREAM, 1, at(200)), (STREAM, 2, at(300))]);
        assert_eq!(dues.waiting().count(), 0);
    }
}
