//! What frames took in a simulation, stream by stream, for plans that nothing bounds on paper.

use std::collections::BTreeMap;

use chronoseal_catalog::{BuildError, Describe, Prepared};
use chronoseal_core::{Event, EventKind, MessagePart, NodeId, SimTime, StreamId};
use chronoseal_plan::StreamPlan;
use chronoseal_results::Distribution;
use chronoseal_sim::{FrameContext, Observer};

use crate::dues::Dues;
use crate::messages::{About, Messages};

/// Simulates a plan and gives, by stream, the spread of the time from when a frame was due at its sender to its acceptance by a
/// receiver, checks included; `None` for a stream of which nothing was received.
///
/// # Errors
/// [`BuildError`] if a node or a segment cannot be made as the plan has it.
pub fn simulated_latencies(prepared: &Prepared<'_>) -> Result<Vec<Option<Distribution>>, BuildError> {
    let samples = prepared.plan().streams.iter().map(|_| Vec::new()).collect();
    let is_relayed = prepared.plan().streams.iter().map(StreamPlan::is_relayed).collect();
    let observer = Latencies {
        describers: prepared.describers(),
        messages: Messages::default(),
        first_frames: BTreeMap::new(),
        began: BTreeMap::new(),
        origins: BTreeMap::new(),
        dues: Dues::new(prepared),
        is_relayed,
        samples,
    };
    let finished = chronoseal_sim::run(prepared, observer, &mut |_| true)?;
    let Latencies { dues, samples, .. } = finished.observer;
    let of_stream = |(stream, samples): (u16, Vec<Sample>)| {
        let latency = |sample: &Sample| {
            let (sender, left_at) = sample.began;
            (sample.accepted_at - dues.due(StreamId(stream), sender, left_at)).as_ns()
        };
        Distribution::of(&mut samples.iter().map(latency).collect::<Vec<_>>())
    };
    Ok((0..).zip(samples).map(of_stream).collect())
}

/// A frame that was accepted.
struct Sample {
    /// Who sent it first, and when it left there.
    began: (NodeId, SimTime),
    accepted_at: SimTime,
}

struct Latencies {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    messages: Messages,
    /// When the first frame of the message in several was sent that a stream has on its way on a segment.
    first_frames: BTreeMap<(StreamId, u16), SimTime>,
    /// Of frames of streams that gateways carry on, by serial number: the stream, and where and when the frame began its way.
    began: BTreeMap<u64, (StreamId, (NodeId, SimTime))>,
    /// What frames that are not sent yet came from.
    origins: BTreeMap<u64, Vec<u64>>,
    /// By stream: gateways carry it on.
    is_relayed: Vec<bool>,
    dues: Dues,
    /// By stream.
    samples: Vec<Vec<Sample>>,
}

impl Observer for Latencies {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.dues.note(at, node, event);
        let about = self.messages.about(&self.describers, node, event, frame.as_ref());
        let (EventKind::Delivered, Some(frame)) = (event.kind, frame) else { return };
        let label = if let About::Message(label, _) = &about { label } else { frame.label };
        let describer = &self.describers[usize::from(frame.label.segment)];
        let stream = describer.stream_of(frame.bytes);
        if label.attack.is_none()
            && describer.is_for(stream, node)
            && let Some(samples) = self.samples.get_mut(stream.index())
        {
            let of_way = frame.label.serial.and_then(|serial| self.began.get(&serial)).map(|(_, began)| *began);
            samples.push(Sample { began: of_way.unwrap_or((label.sender, label.sent_at)), accepted_at: at });
        }
    }

    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.origins.insert(serial, origins.to_vec());
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let describer = &self.describers[usize::from(frame.label.segment)];
        let (stream, part) = (describer.stream_of(frame.bytes), describer.part(frame.bytes));
        if stream != StreamId::NONE && frame.label.attack.is_none() && part.is_first() {
            self.dues.leave(at, node, stream);
        }
        let Some(serial) = frame.label.serial else { return };
        let origins = self.origins.remove(&serial).unwrap_or_default();
        if self.is_relayed.get(stream.index()) == Some(&true) {
            let of_stream = |origin: &u64| self.began.get(origin).filter(|(known, _)| *known == stream);
            let began =
                origins.iter().filter_map(of_stream).map(|(_, began)| *began).min_by_key(|(_, left_at)| *left_at);
            let key = (stream, frame.label.segment);
            let sent_at = match part {
                MessagePart::Begins => *self.first_frames.entry(key).insert_entry(at).get(),
                MessagePart::Continues => self.first_frames.get(&key).copied().unwrap_or(at),
                MessagePart::Whole | MessagePart::Answers => at,
            };
            self.began.insert(serial, (stream, began.unwrap_or((node, sent_at))));
        }
    }
}
