//! The tracks of a run: for each station and switch its processor, what comes in, and a port for each of its wires.

use std::collections::BTreeMap;

use chronoseal_catalog::{Prepared, Wire};
use chronoseal_core::{NodeId, Priority, SimTime};
use chronoseal_results::trace::{Category, NameId, Slice, Trace};

/// One of the things that a node's tracks show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Lane {
    /// Tasks and computations.
    Processor,
    /// What a gateway holds.
    Gateway,
    /// What a switch holds before it queues it.
    Switching,
    /// What is copied to the application.
    Host,
    /// What it accepted, or threw away.
    Frames,
}

/// A port in front of a wire, or of a shared medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Port {
    /// A line of a segment.
    Line(u16, u32),
    /// A node on a segment that everybody shares.
    Shared(u16, NodeId),
}

/// Which track is where. Tracks are made when something is drawn on them for the first time, but nodes come in the plan's order.
pub(super) struct Tracks {
    nodes: Vec<u32>,
    lanes: BTreeMap<(NodeId, Lane), u32>,
    ports: BTreeMap<Port, u32>,
    queues: BTreeMap<(Port, Priority), u32>,
    waiting: BTreeMap<Port, u32>,
    wires: BTreeMap<Port, u32>,
    media: Vec<Option<u32>>,
    segments: Vec<String>,
    names: Vec<String>,
    /// By segment.
    pub(super) lines: Vec<Vec<Wire>>,
}

impl Tracks {
    pub(super) fn new(prepared: &Prepared<'_>, trace: &mut Trace) -> Self {
        let plan = prepared.plan();
        let lines: Vec<Vec<Wire>> = plan.segment_ids().map(|segment| prepared.wires(segment)).collect();
        let segments: Vec<String> = plan.segments.iter().map(|segment| segment.name.clone()).collect();
        let media = (segments.iter().zip(&lines))
            .map(|(name, lines)| {
                lines.is_empty().then(|| {
                    let segment = trace.track(name.as_str(), None);
                    trace.track("medium, shared by all on it", Some(segment))
                })
            })
            .collect();
        let names: Vec<String> = plan.all_nodes().map(|(_, name)| name.to_owned()).collect();
        Self {
            nodes: names.iter().map(|name| trace.track(name.as_str(), None)).collect(),
            lanes: BTreeMap::new(),
            ports: BTreeMap::new(),
            queues: BTreeMap::new(),
            waiting: BTreeMap::new(),
            wires: BTreeMap::new(),
            media,
            segments,
            names,
            lines,
        }
    }

    /// The wire behind a port.
    pub(super) fn wire_of(&self, segment: u16, line: u32) -> Option<&Wire> {
        self.lines.get(usize::from(segment))?.get(line as usize)
    }

    fn node(&self, node: NodeId) -> Option<u32> {
        self.nodes.get(node.index()).copied()
    }

    pub(super) fn lane(&mut self, trace: &mut Trace, node: NodeId, lane: Lane) -> u32 {
        let parent = self.node(node);
        let name = match lane {
            Lane::Processor => "processor",
            Lane::Gateway => "gateway",
            Lane::Switching => "switching",
            Lane::Host => "host interface",
            Lane::Frames => "accepted or thrown away",
        };
        *self.lanes.entry((node, lane)).or_insert_with(|| trace.track(name, parent))
    }

    fn port(&mut self, trace: &mut Trace, port: Port) -> u32 {
        let (parent, name) = match port {
            Port::Line(segment, line) => match self.wire_of(segment, line) {
                Some(wire) => {
                    let to = self.names.get(wire.to.index()).map_or("", String::as_str);
                    (self.node(wire.from), format!("port to {to}"))
                }
                None => (None, format!("line {line}")),
            },
            Port::Shared(segment, node) => {
                (self.node(node), format!("port to {}", self.segments[usize::from(segment)]))
            }
        };
        *self.ports.entry(port).or_insert_with(|| trace.track(name, parent))
    }

    pub(super) fn queue(&mut self, trace: &mut Trace, port: Port, priority: Priority) -> u32 {
        let parent = self.port(trace, port);
        let name = match priority {
            Priority::TIME_TRIGGERED => "queue of scheduled frames".to_owned(),
            Priority::PROTOCOL_CONTROL => "queue of control frames".to_owned(),
            Priority(number) if matches!(port, Port::Line(..)) => format!("queue {number}"),
            Priority(_) => "queue".to_owned(),
        };
        *self.queues.entry((port, priority)).or_insert_with(|| trace.track(name, Some(parent)))
    }

    pub(super) fn waiting(&mut self, trace: &mut Trace, port: Port) -> u32 {
        let parent = self.port(trace, port);
        *self.waiting.entry(port).or_insert_with(|| trace.counter("frames waiting", Some(parent), "frames"))
    }

    /// The wire of a line, or the shared medium.
    pub(super) fn wire(&mut self, trace: &mut Trace, port: Port) -> u32 {
        if let Port::Shared(segment, _) = port
            && let Some(Some(medium)) = self.media.get(usize::from(segment))
        {
            return *medium;
        }
        let parent = self.port(trace, port);
        *self.wires.entry(port).or_insert_with(|| trace.track("wire", Some(parent)))
    }

    /// Every gate of every port, where it is open.
    pub(super) fn draw_gates(
        &mut self,
        trace: &mut Trace,
        [from, until]: [SimTime; 2],
        room: usize,
    ) -> Result<(), SimTime> {
        let open: NameId = trace.name("open");
        let lines: Vec<(u16, u32, Wire)> = (0..)
            .zip(&self.lines)
            .flat_map(|(segment, lines)| (0..).zip(lines).map(move |(line, wire)| (segment, line, wire.clone())))
            .collect();
        for (segment, line, wire) in lines {
            let Some(gates) = wire.gates else { continue };
            let port = self.port(trace, Port::Line(segment, line));
            let mut classes = gates.class_of.to_vec();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                let track = trace.track(format!("gate of class {class}"), Some(port));
                for (opens, closes) in gates.list.open_windows(usize::from(class), from, until) {
                    if trace.len() >= room {
                        return Err(opens);
                    }
                    let [from, to] = [opens, closes].map(|at| at.since_zero().as_ns());
                    trace.slices.push(Slice::new(track, from, to, open, Category::Gate));
                }
            }
        }
        Ok(())
    }
}
