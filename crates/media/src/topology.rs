//! Several segments as one medium: each attachment belongs to one of them, and so does each timer.
//!
//! A driver sees one [`Medium`], however many segments a network has. Frames never pass from one segment to another here:
//! that is the work of nodes that have an attachment on both.

use chronoseal_core::{DiscardReason, Event, EventKind, Oscillator, Priority, SimTime, StreamId};

use crate::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// Segments a topology can hold.
pub const SEGMENTS_MAX: usize = u16::MAX as usize;

/// The segments of a network.
#[derive(Default)]
pub struct Topology {
    segments: Vec<Box<dyn Medium + Send>>,
    /// `by_node[node]` are the segments of that node's ports.
    by_node: Vec<Ports>,
}

/// Where the ports of a node lead to. Most nodes have one port, which is found without a further step.
#[derive(Clone)]
struct Ports {
    first: u16,
    others: Vec<u16>,
}

/// The number of no segment: there are fewer.
const NOWHERE: u16 = u16::MAX;

impl Ports {
    #[inline(always)]
    fn segment(&self, port: usize) -> u16 {
        match port {
            0 => self.first,
            port => self.others.get(port - 1).copied().unwrap_or(NOWHERE),
        }
    }

    /// The place of a port, made if it is not there.
    fn place(&mut self, port: usize) -> &mut u16 {
        match port {
            0 => &mut self.first,
            port => {
                self.others.resize(self.others.len().max(port), NOWHERE);
                &mut self.others[port - 1]
            }
        }
    }
}

/// A segment whose frames somebody else carries: what is handed to it goes nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Absent;

impl Medium for Absent {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}

    fn handle_frame(
        &mut self,
        _: SimTime,
        _: Attachment,
        _: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        _: &mut Vec<MediumOutput>,
    ) {
        frames.release(frame);
    }

    fn handle_timer(&mut self, _: SimTime, _: MediumTimer, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
}

/// Why a segment cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// One port on two segments, or twice on one.
    #[error("port {} of node {} is attached twice; give the node another port", .0.port.0, .0.node.0)]
    AttachedTwice(Attachment),
    /// More segments than a timer can name.
    #[error("a network has at most {SEGMENTS_MAX} segments")]
    TooMany,
}

impl Topology {
    /// Without segments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a segment and says which ports of nodes lead to it. Returns its number; segments are counted from 0.
    ///
    /// # Errors
    /// [`TopologyError`] if a port is taken already, or there are [`SEGMENTS_MAX`] segments.
    pub fn add(
        &mut self,
        medium: Box<dyn Medium + Send>,
        attachments: impl IntoIterator<Item = Attachment>,
    ) -> Result<u16, TopologyError> {
        let number = u16::try_from(self.segments.len()).ok().filter(|number| usize::from(*number) < SEGMENTS_MAX);
        let number = number.ok_or(TopologyError::TooMany)?;
        for attachment in attachments {
            let Attachment { node, port } = attachment;
            if self.by_node.len() <= node.index() {
                self.by_node.resize(node.index() + 1, Ports { first: NOWHERE, others: Vec::new() });
            }
            let place = self.by_node[node.index()].place(port.index());
            if *place != NOWHERE {
                return Err(TopologyError::AttachedTwice(attachment));
            }
            *place = number;
        }
        self.segments.push(medium);
        Ok(number)
    }

    /// The segment a port leads to.
    #[inline(always)]
    pub fn segment_of(&self, attachment: Attachment) -> Option<u16> {
        Some(self.number(attachment)).filter(|number| *number != NOWHERE)
    }

    #[inline(always)]
    fn number(&self, attachment: Attachment) -> u16 {
        self.by_node.get(attachment.node.index()).map_or(NOWHERE, |ports| ports.segment(attachment.port.index()))
    }

    /// What a segment counted so far.
    pub fn series_of(&self, number: u16) -> Vec<Series> {
        self.segments.get(usize::from(number)).map(|medium| medium.series()).unwrap_or_default()
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// True without segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
}

/// Writes the segment on what a medium appended behind the `first` outputs: on the timers asked for, and on the frames that
/// it may have made itself. What belongs to segment 0 bears its number already.
#[inline(always)]
fn claim(segment: u16, first: usize, frames: &mut FrameStore, out: &mut [MediumOutput]) {
    if segment != 0 {
        claim_all(segment, first, frames, out);
    }
}

#[inline(never)]
fn claim_all(segment: u16, first: usize, frames: &mut FrameStore, out: &mut [MediumOutput]) {
    for output in &mut out[first..] {
        match output {
            MediumOutput::Timer { timer, .. } => timer.segment = segment,
            MediumOutput::Deliver { frame, .. }
            | MediumOutput::Transmitted { frame, .. }
            | MediumOutput::Discard { frame, .. }
            | MediumOutput::Event { frame: Some(frame), .. } => frames.label_mut(*frame).segment = segment,
            MediumOutput::Event { frame: None, .. } => {}
        }
    }
}

/// The same where there are no frames.
fn claim_timers(segment: u16, first: usize, out: &mut [MediumOutput]) {
    for output in &mut out[first..] {
        if let MediumOutput::Timer { timer, .. } = output {
            timer.segment = segment;
        }
    }
}

impl Medium for Topology {
    fn tells_transmitted(&self, from: Attachment) -> bool {
        self.segment_of(from).is_some_and(|segment| self.segments[usize::from(segment)].tells_transmitted(from))
    }

    #[inline(always)]
    fn segment_of(&self, attachment: Attachment) -> Option<u16> {
        Self::segment_of(self, attachment)
    }

    fn follows_clocks_of(&self) -> Vec<Attachment> {
        self.segments.iter().flat_map(|medium| medium.follows_clocks_of()).collect()
    }

    fn clock_shown(&mut self, now: SimTime, from: Attachment, clock: Oscillator, out: &mut Vec<MediumOutput>) {
        let segment = self.number(from);
        let Some(medium) = self.segments.get_mut(usize::from(segment)) else { return };
        let first = out.len();
        medium.clock_shown(now, from, clock, out);
        claim_timers(segment, first, out);
    }

    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        for (number, medium) in self.segments.iter_mut().enumerate() {
            let (first, told) = (out.len(), frames.told_len());
            medium.start(now, frames, out);
            claim(number as u16, first, frames, out);
            frames.claim_told(told, number as u16);
        }
    }

    #[inline(always)]
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let segment = self.number(from);
        let Some(medium) = self.segments.get_mut(usize::from(segment)) else {
            let serial = frames.label(frame).serial.unwrap_or(0);
            let event = Event::of(EventKind::Discarded(DiscardReason::WrongPort), StreamId::NONE, serial);
            out.push(MediumOutput::Discard { node: from.node, event, frame });
            return;
        };
        let first = out.len();
        if frames.is_watched() {
            let told = frames.told_len();
            medium.handle_frame(now, from, priority, frame, frames, out);
            frames.claim_told(told, segment);
        } else {
            medium.handle_frame(now, from, priority, frame, frames, out);
        }
        claim(segment, first, frames, out);
    }

    #[inline(always)]
    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(medium) = self.segments.get_mut(usize::from(timer.segment)) else { return };
        let first = out.len();
        if frames.is_watched() {
            let told = frames.told_len();
            medium.handle_timer(now, MediumTimer::new(timer.number), frames, out);
            frames.claim_told(told, timer.segment);
        } else {
            medium.handle_timer(now, MediumTimer::new(timer.number), frames, out);
        }
        claim(timer.segment, first, frames, out);
    }

    /// Of all segments together; [`Topology::series_of`] tells them apart.
    fn series(&self) -> Vec<Series> {
        self.segments.iter().flat_map(|medium| medium.series()).collect()
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Duration, NodeId, PortId};

    use super::*;
    use crate::medium::FrameLabel;

    /// Gives every frame back to its sender after a time, and says which timer it was told of.
    struct Echo {
        delay: Duration,
        waiting: Vec<(Attachment, FrameId)>,
        tells: bool,
    }

    impl Medium for Echo {
        fn tells_transmitted(&self, _: Attachment) -> bool {
            self.tells
        }
        fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
        fn handle_frame(
            &mut self,
            now: SimTime,
            from: Attachment,
            _: Priority,
            frame: FrameId,
            _: &mut FrameStore,
            out: &mut Vec<MediumOutput>,
        ) {
            self.waiting.push((from, frame));
            let timer = MediumTimer::new(self.waiting.len() as u32 - 1);
            out.push(MediumOutput::Timer { at: now + self.delay, timer });
        }
        fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, _: &mut FrameStore, out: &mut Vec<MediumOutput>) {
            let (to, frame) = self.waiting[timer.number as usize];
            out.push(MediumOutput::Deliver { to, frame, departed_at: now });
        }
        fn series(&self) -> Vec<Series> {
            vec![Series::total("echoed", "frames", self.waiting.len() as i64)]
        }
    }

    fn echo(delay_us: i64, tells: bool) -> Box<dyn Medium + Send> {
        Box::new(Echo { delay: Duration::from_us(delay_us), waiting: Vec::new(), tells })
    }

    fn at(node: u16, port: u16) -> Attachment {
        Attachment { node: NodeId(node), port: PortId(port) }
    }

    /// Node 0 is on both segments, nodes 1 and 2 on one each.
    fn two() -> Topology {
        let mut topology = Topology::new();
        topology.add(echo(1, false), [at(0, 0), at(1, 0)]).unwrap();
        topology.add(echo(2, true), [at(0, 1), at(2, 0)]).unwrap();
        topology
    }

    #[test]
    fn each_port_reaches_its_own_segment_and_timers_come_back_to_it() {
        let (mut topology, mut frames, mut out) = (two(), FrameStore::new(), Vec::new());
        for (from, segment) in [(at(0, 0), 0), (at(0, 1), 1), (at(2, 0), 1), (at(1, 0), 0)] {
            let frame = frames.allocate(FrameLabel::default());
            topology.handle_frame(SimTime::ZERO, from, Priority(0), frame, &mut frames, &mut out);
            let Some(MediumOutput::Timer { at, timer }) = out.pop() else { panic!("an echo takes time") };
            assert_eq!(timer.segment, segment);
            topology.handle_timer(at, timer, &mut frames, &mut out);
            assert_eq!(out.pop(), Some(MediumOutput::Deliver { to: from, frame, departed_at: at }));
            assert_eq!(topology.tells_transmitted(from), segment == 1);
        }
    }

    #[test]
    fn a_frame_from_a_port_that_leads_nowhere_is_discarded_with_a_reason() {
        let (mut topology, mut frames, mut out) = (two(), FrameStore::new(), Vec::new());
        for from in [at(1, 1), at(3, 0)] {
            let frame = frames.allocate(FrameLabel::default());
            topology.handle_frame(SimTime::ZERO, from, Priority(0), frame, &mut frames, &mut out);
            let Some(MediumOutput::Discard { node, event, .. }) = out.pop() else { panic!("it leads nowhere") };
            assert_eq!((node, event.kind), (from.node, EventKind::Discarded(DiscardReason::WrongPort)));
            assert!(!topology.tells_transmitted(from));
        }
    }

    #[test]
    fn each_segment_has_series_of_its_own() {
        let (mut topology, mut frames, mut out) = (two(), FrameStore::new(), Vec::new());
        for from in [at(0, 1), at(1, 0), at(2, 0)] {
            let frame = frames.allocate(FrameLabel::default());
            topology.handle_frame(SimTime::ZERO, from, Priority(0), frame, &mut frames, &mut out);
        }
        let values = |series: Vec<Series>| series.into_iter().flat_map(|one| one.values).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(|segment| values(topology.series_of(segment))), [vec![1], vec![2], vec![]]);
        assert_eq!(values(topology.series()), [1, 2], "of all together");
    }

    #[test]
    fn a_port_is_attached_once() {
        let mut topology = two();
        assert_eq!(topology.add(echo(1, false), [at(2, 0)]), Err(TopologyError::AttachedTwice(at(2, 0))));
    }
}
