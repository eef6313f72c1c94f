//! Replayed recordings.

use chronoseal_core::{Duration, NodeId};
use chronoseal_wire::can::{CanFrame, FrameKind};

use super::super::ONLY;
use super::Resolver;
use crate::limits::RECORDING_LEN_MAX;
use crate::load::Files;
use crate::near::suggest;
use crate::plan::{CanHop, DeadlineKind, CanRecording, Facet, HopPlan, NodePlan, PayloadPlan, ProtectionId, StreamPlan};
use crate::problem::Code;
use crate::recording::CAN_BUILTIN;
use crate::source::at;
use crate::spec::{BackgroundSpec, NetworkSpec};

impl Resolver<'_> {
    pub(super) fn background(&mut self, nodes: &[NodePlan], files: &dyn Files) -> Vec<StreamPlan> {
        let specs = &self.spec.background;
        self.unique("background", specs.iter().map(|spec| spec.name.as_str()));
        let mut plans = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["background", i, "name"], "the recording's name");
            let node = self.can_node(&spec.from, nodes, at!["background", i, "from"]);
            let start = self.instant(at!["background", i, "start"], "the start", spec.start.0);
            let (source, frames) = self.recorded(i, spec, files).unwrap_or_default();
            // After its last frame comes its usual gap.
            let last = frames.last().map_or(Duration::ZERO, |(at, _)| *at);
            let gap = last / (frames.len().saturating_sub(1)).max(1) as i64;
            let length = (last + gap).max(Duration::from_ms(1));
            let len_max = frames.iter().map(|(_, frame)| frame.data().len() as u32).max();
            // One node takes note of its frames: all others receive them at the same time.
            let monitor = (0..nodes.len() as u16).map(NodeId).find(|id| *id != node);
            let receivers: Vec<NodeId> = monitor.into_iter().collect();
            let recording = CanRecording { source, frames, length, start };
            plans.push(StreamPlan {
                name: spec.name.clone(),
                sender: node,
                receivers: receivers.clone(),
                period: length,
                offset: Some(start),
                min_distance: None,
                deadline: None,
                deadlines: Vec::new(),
                deadline_kind: DeadlineKind::default(),
                payload: PayloadPlan::Synthetic,
                protection: ProtectionId(0),
                hops: vec![HopPlan {
                    segment: ONLY,
                    from: node,
                    to: receivers,
                    frame_len: len_max.unwrap_or(0),
                    class: "recording",
                    facet: Facet::new(CanHop::Recording(recording)),
                    previous: None,
                }],
            });
        }
        plans
    }

    fn recorded(
        &mut self,
        i: usize,
        spec: &BackgroundSpec,
        files: &dyn Files,
    ) -> Option<(String, Vec<(Duration, CanFrame)>)> {
        let (key, source, bytes) = match (&spec.builtin, &spec.file) {
            (Some(name), None) => {
                let Some(builtin) = CAN_BUILTIN.iter().find(|builtin| builtin.name == name) else {
                    let names: Vec<&str> = CAN_BUILTIN.iter().map(|builtin| builtin.name).collect();
                    self.report(
                        Code::UnknownName,
                        at!["background", i, "builtin"],
                        format!("there is no built-in recording `{name}`"),
                        "no such recording",
                        suggest(name, &names, "built-in recordings of a bus"),
                    );
                    return None;
                };
                ("builtin", format!("built-in {name}"), builtin.bytes.to_vec())
            }
            (None, Some(path)) => match files.read(path) {
                Ok(bytes) if bytes.len() <= RECORDING_LEN_MAX => ("file", path.clone(), bytes),
                Ok(bytes) => {
                    self.report(
                        Code::BadRecording,
                        at!["background", i, "file"],
                        format!("`{path}` has {} bytes", bytes.len()),
                        "too long",
                        format!("a recording has at most {RECORDING_LEN_MAX}: cut out a part"),
                    );
                    return None;
                }
                Err(reason) => {
                    self.report(
                        Code::BadRecording,
                        at!["background", i, "file"],
                        format!("`{path}` cannot be read: {reason}"),
                        "cannot be read",
                        "the path counts from the scenario's folder",
                    );
                    return None;
                }
            },
            _ => {
                self.report(
                    Code::ChooseOne,
                    at!["background", i],
                    "a recording comes from exactly one of `builtin`, `file`",
                    "not exactly one",
                    "write `builtin = \"car-busmaster\"` or `file = \"recording.log\"`",
                );
                return None;
            }
        };
        match chronoseal_recordings::read(&bytes) {
            Ok(recording) if !recording.frames.is_empty() => {
                let switches = matches!(&self.spec.network, NetworkSpec::CanBus(bus) if bus.data_bit_rate.is_some());
                if !switches
                    && recording
                        .frames
                        .iter()
                        .any(|frame| matches!(frame.frame.kind(), FrameKind::Fd { brs: true, .. }))
                {
                    self.report(
                        Code::BadBitTiming,
                        at!["background", i, key],
                        format!("{source} has frames with bit-rate switch, and the bus has one bit rate"),
                        "nothing to switch to",
                        "add `data_bit_rate` to the bus",
                    );
                }
                let frames = recording.frames.iter();
                Some((source, frames.map(|frame| (Duration::from_ns(frame.at_ns as i64), frame.frame)).collect()))
            }
            Ok(_) => {
                self.report(
                    Code::BadRecording,
                    at!["background", i, key],
                    format!("{source} has no frame in it"),
                    "empty",
                    "name a recording with at least one frame",
                );
                None
            }
            Err(error) => {
                self.report(
                    Code::BadRecording,
                    at!["background", i, key],
                    format!("{source}: {error}"),
                    "cannot be used",
                    "mend the file or cut it before that place",
                );
                None
            }
        }
    }
}
