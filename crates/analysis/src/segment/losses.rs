//! What can keep a frame from arriving in time although its latency has a bound.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{FailingLink, Plan, SegmentId, StreamPlan};
use chronoseal_wire::can::CanId;

use super::ethernet::stream_filters::FilterRisk;
use super::ethernet::threats::ThreatRisk;
use super::link_risks::LinkRisk;

/// Something that can make frames late or lose them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Risk {
    /// Where.
    pub segment: SegmentId,
    /// Whose frames; `None` for all of the segment.
    pub stream: Option<StreamId>,
    /// What.
    pub cause: Cause,
}

/// Gateways that the scenario lets start anew, for every stream that they pass on, send or receive.
pub(super) fn reboots(plan: &Plan) -> Vec<Risk> {
    let reboot = |node: NodeId| Some((node, plan.nodes[node.index()].gateway.as_ref()?.reboot?.at));
    let of_stream = |(index, stream): (usize, &StreamPlan)| {
        let hit = stream.hops.iter().find_map(|hop| {
            let (node, at) = [hop.from].iter().chain(&hop.to).find_map(|node| reboot(*node))?;
            Some((hop.segment, Cause::Reboots { node, at }))
        });
        hit.map(|(segment, cause)| Risk { segment, stream: Some(StreamId(index as u16)), cause })
    };
    plan.streams.iter().enumerate().filter_map(of_stream).collect()
}

/// A direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From a station to the switch.
    ToSwitch,
    /// From the switch to a station.
    FromSwitch,
}

/// What makes frames late or loses them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// A clock can be further off than the precision when a beacon comes.
    Clock {
        /// Whose.
        node: NodeId,
        /// By so much.
        error: Duration,
        /// Of the segment.
        precision: Duration,
    },
    /// The clocks of a cluster can differ by more than the precision that it is built for.
    Cluster {
        /// The station with the worst oscillator.
        node: NodeId,
        /// So much.
        needed: Duration,
        /// Of the segment.
        precision: Duration,
    },
    /// The clocks of a cluster can differ by more than its precision from the start of a slot to its end.
    ClusterSlots {
        /// So much.
        needed: Duration,
        /// Of the segment.
        precision: Duration,
        /// Between two corrections of a clock.
        cycle: Duration,
    },
    /// A control frame of a cluster can be under way for longer than its devices allow.
    ControlDelay {
        /// So long.
        delay: Duration,
        /// The largest transmission delay of the segment.
        limit: Duration,
    },
    /// The clocks of a cluster can need longer to start than the run lasts.
    ClusterStart {
        /// So long.
        needed: Duration,
        /// Of the run.
        duration: Duration,
    },
    /// A segment takes its stations' clocks for the switch's, and one of them shows another time.
    NoBeacon {
        /// Whose.
        node: NodeId,
    },
    /// A beacon can take longer than its receivers wait for it.
    Beacon {
        /// To which station.
        node: NodeId,
        /// The largest transmission delay of the segment.
        limit: Duration,
    },
    /// The switch throws a frame away that comes after its slot has closed.
    SlotClosed {
        /// So much later at most.
        by: Duration,
    },
    /// The switch passes a frame on after its slot is over.
    SlotOver {
        /// So much later at most.
        by: Duration,
    },
    /// A frame that a gateway carries into slots waits for the next of them, and a newer one takes its place there.
    Superseded {
        /// Which gateway.
        node: NodeId,
        /// Two frames can come this near to each other; `None` if nothing bounds it.
        distance: Option<Duration>,
        /// Two slots are this far from each other.
        gap: Duration,
    },
    /// An application with a timer of its own has data before those that wait have left in their slot, and replaces them.
    Outrun {
        /// Whose.
        node: NodeId,
        /// Two data can be ready this near to each other; `None` if nothing bounds it.
        distance: Option<Duration>,
        /// Two slots are this far from each other.
        gap: Duration,
    },
    /// Nothing bounds when the sender's processor is free.
    SenderUnbounded {
        /// Whose.
        node: NodeId,
    },
    /// The queues in front of a line have no room for a frame.
    QueueFull {
        /// At whose link.
        node: NodeId,
        /// Which direction of it.
        direction: Direction,
        /// So much can wait `[byte]`; `None` if nothing bounds it.
        bytes: Option<u64>,
        /// So much is there `[byte]`.
        room: u64,
    },
    /// The buffer of a node's host interface is not known to have room for every frame.
    HostBufferFull {
        /// Whose.
        node: NodeId,
        /// At most so much of the stream's class is in it `[byte]`; `None` if nothing bounds it.
        bytes: Option<u64>,
        /// So much is there `[byte]`.
        room: u64,
    },
    /// The queues in front of a link of a segment of several switches are not known to have room for every frame: what the
    /// analysis says of them may be more than can ever wait.
    LinkFull {
        /// Who sends on the link.
        from: NodeId,
        /// Who receives.
        to: NodeId,
        /// At most so much waits `[byte]`; `None` if nothing bounds it.
        bytes: Option<u64>,
        /// So much is there `[byte]`.
        room: u64,
    },
    /// The scenario lets a link fail.
    LinkFails {
        /// Its two ends.
        ends: [NodeId; 2],
        /// When.
        at: Duration,
    },
    /// Frames are lost by noise on a link, and no way is without such a link.
    FramesLost {
        /// The two ends of one of these links.
        ends: [NodeId; 2],
        /// Whom most of the frames do not reach.
        node: NodeId,
        /// The share of them that does not come there `[10^-9]`, rounded up.
        lost_ppb: u64,
    },
    /// A message has several frames, of which noise takes one on one of its ways, so that its copy comes behind the next frame.
    FragmentOvertaken {
        /// The two ends of the link with noise.
        ends: [NodeId; 2],
    },
    /// A switch that eliminates copies can pass a frame of a message on after the next one of it.
    FragmentsReordered {
        /// Which switch.
        node: NodeId,
    },
    /// Frames that keep clocks together are lost by noise on a link.
    ClockFramesLost {
        /// Which link.
        link: FailingLink,
        /// Its two ends.
        ends: [NodeId; 2],
    },
    /// The copies of a frame can come so far apart that their receiver takes the later one for a new frame.
    Skew {
        /// Which receiver.
        node: NodeId,
        /// So far apart at most; `None` if nothing bounds it.
        skew: Option<Duration>,
        /// The largest skew that it allows for.
        limit: Duration,
        /// What helps.
        remedy: SkewRemedy,
    },
    /// The scenario lets a gateway start anew, and what it holds then is lost, as is what comes meanwhile.
    Reboots {
        /// Which gateway.
        node: NodeId,
        /// When.
        at: Duration,
    },
    /// The scenario lets a link fail by which the beacon comes to stations.
    BeaconFails {
        /// Which link.
        link: FailingLink,
        /// Its two ends.
        ends: [NodeId; 2],
        /// When.
        at: Duration,
    },
    /// Frames of a recording on the same bus have an identifier of the stream.
    Recorded {
        /// The recording.
        recording: StreamId,
        /// The identifier.
        id: CanId,
    },
    /// Frames and signatures of a key exchange go before it, or before what it meets.
    KeyExchange {
        /// A segment that carries the exchange.
        on: SegmentId,
    },
    /// The scenario throws a node out of the group whose key protects what it sends.
    ThrownOut {
        /// Which node.
        node: NodeId,
        /// When.
        at: Duration,
    },
    /// A node that seals or opens its frames under the group key is not in the group.
    NotInGroup {
        /// Which node.
        node: NodeId,
        /// The one receiver that is concerned; `None` for all.
        receiver: Option<NodeId>,
    },
    /// A filter, gate or meter of a switch takes a frame, or is not known to leave it.
    StreamFilter(FilterRisk),
    /// A threat of the scenario.
    Threat(ThreatRisk),
    /// What a lossy link or the receiver of its packets does.
    OnLink(LinkRisk),
    /// A switch can take a frame of a virtual link for one too many, and police it.
    Policed {
        /// The jitter that policing would have to allow; `None` if no jitter is known to be enough.
        needed: Option<Duration>,
        /// What it allows.
        allowed: Duration,
    },
}

/// What lets a receiver tell copies that come further apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkewRemedy {
    /// A larger `skew_max` (ARINC 664 part 7).
    SkewMax,
    /// A longer `reset_timeout` (IEEE 802.1CB).
    ResetTimeout,
    /// Vector recovery, which compares with more than the last frame (IEEE 802.1CB).
    Vector,
}

impl SkewRemedy {
    fn text(self, skew: Duration) -> String {
        match self {
            Self::SkewMax => format!("write `skew_max = \"{skew:.3}\"` for the virtual link"),
            Self::ResetTimeout => format!("write a `reset_timeout` above {skew:.3}"),
            Self::Vector => "write `recovery = \"vector\"`, or a longer period".to_owned(),
        }
    }
}

impl Cause {
    /// True if it can keep frames from this receiver of the stream that it is about.
    pub fn concerns(&self, receiver: NodeId) -> bool {
        !matches!(self, Self::NotInGroup { receiver: Some(only), .. } if *only != receiver)
    }

    /// True if it is not known whether it happens, because nothing bounds what leads to it.
    pub const fn is_unbounded(&self) -> bool {
        if let Self::StreamFilter(risk) = self {
            return risk.is_unbounded();
        }
        matches!(
            self,
            Self::SenderUnbounded { .. }
                | Self::QueueFull { bytes: None, .. }
                | Self::LinkFull { .. }
                | Self::HostBufferFull { .. }
                | Self::Policed { .. }
                | Self::Skew { skew: None, .. }
                | Self::KeyExchange { .. }
                | Self::Threat(_)
        )
    }

    /// One sentence for a reader, with what helps.
    pub fn text(&self, plan: &Plan) -> String {
        match self {
            Self::Clock { node, error, precision } => format!(
                "the clock of `{}` can be {error:.3} off when a beacon comes, and beacons further off than the precision of \
                 {precision} are not used: write a precision of at least {error:.3}, or a shorter integration cycle",
                plan.node_name(*node)
            ),
            Self::Cluster { node, needed, precision } => format!(
                "oscillators like that of `{}` drift so far apart in an integration cycle that clocks can differ by {needed:.3}, and \
                 the cluster is built for a precision of {precision}: write a precision of at least {needed:.3}, or a shorter \
                 integration cycle",
                plan.node_name(*node)
            ),
            Self::ClusterSlots { needed, precision, cycle } => format!(
                "a clock of the cluster can be corrected while a frame in a slot is under way, so that clocks can differ by {needed:.3} from \
                 its start to its end, and slots are planned for a precision of {precision}: write a precision of at least {needed:.3}, \
                 or an integration cycle shorter than {cycle}"
            ),
            Self::ControlDelay { delay, limit } => format!(
                "a control frame can be under way for {delay:.3}, and one older than the largest transmission delay of {limit} is \
                 not used: write `max_transmission_delay = \"{delay:.3}\"`, or, if nothing has slots, leave it out"
            ),
            Self::ClusterStart { needed, duration } => format!(
                "its clocks can need {needed:.3} from cold until all have joined, and the run ends after {duration}: write a longer duration"
            ),
            Self::NoBeacon { node } => format!(
                "with `sync = \"ideal\"` nothing keeps the clock of `{}` with the switch's, and it is not exact: write \
                 `clock = \"ideal\"` for it, or leave `sync` out",
                plan.node_name(*node)
            ),
            Self::Beacon { node, limit } => format!(
                "a beacon can take longer to `{}` than the largest transmission delay of {limit}, and is not used then: write a \
                 larger `max_transmission_delay`, or leave more room between scheduled frames",
                plan.node_name(*node)
            ),
            Self::SlotClosed { by } => format!(
                "a frame can come up to {by:.3} after its slot has closed, and the switch throws it away: lengthen the guard period \
                 by that, or write a smaller precision, driver or forwarding delay, or shorter tasks"
            ),
            Self::SlotOver { by } => format!(
                "the switch can pass a frame on up to {by:.3} after its slot is over: lengthen the guard period by that, or write a \
                 smaller forwarding jitter or shorter frames of other streams"
            ),
            Self::Superseded { node, distance, gap } => {
                let near = distance.map_or("at once".to_owned(), |distance| format!("{distance:.3} after each other"));
                format!(
                    "frames can come to `{}` {near} and its slots are up to {gap:.3} apart, so a newer frame can take the place of one \
                     that waits for a slot: write `class = {{ best_effort = {{ priority = 7 }} }}` for the stream there",
                    plan.node_name(*node)
                )
            }
            Self::Outrun { node, distance, gap } => {
                let near = distance.map_or("at once".to_owned(), |distance| format!("{distance:.3} after each other"));
                format!(
                    "the application of `{}` can have data {near} and its slots are up to {gap:.3} apart, so newer data can take the \
                     place of what waits for a slot: write a longer `period` for the application, or a shorter one for the stream",
                    plan.node_name(*node)
                )
            }
            Self::SenderUnbounded { node } => {
                format!("nothing bounds when the processor of `{}` is free to make a frame", plan.node_name(*node))
            }
            Self::QueueFull { node, direction, bytes, room } => {
                let line = match direction {
                    Direction::ToSwitch => "from",
                    Direction::FromSwitch => "to",
                };
                let name = plan.node_name(*node);
                match bytes {
                    Some(bytes) => format!(
                        "up to {bytes} bytes can wait in one queue in front of the link {line} `{name}`, and it holds {room}: write a \
                         larger `queue_len_max`"
                    ),
                    None => format!(
                        "nothing bounds what waits in the same queue in front of the link {line} `{name}`, which holds {room} bytes"
                    ),
                }
            }
            Self::HostBufferFull { node, bytes, room } => {
                let name = plan.node_name(*node);
                match bytes {
                    Some(bytes) => format!(
                        "the analysis allows for {bytes} bytes of one class in the host interface of `{name}`, whose buffer for it \
                         holds {room}, so it cannot say that no frame is lost: write a larger `buffer`"
                    ),
                    None => format!(
                        "nothing bounds what waits in the host interface of `{name}`, whose buffer for a class holds {room} bytes: \
                         let less come to it, or write a smaller `base` or `per_byte`"
                    ),
                }
            }
            Self::LinkFails { ends: [one, other], at } => format!(
                "the scenario lets the link between `{}` and `{}` fail at {at}, and what is not over it then is lost: lead the stream \
                 another way, or take the failure out",
                plan.node_name(*one),
                plan.node_name(*other)
            ),
            Self::FramesLost { ends: [one, other], node, lost_ppb } => format!(
                "frames are lost over the link between `{}` and `{}`, and of this stream at least {} % do not come to `{}`: lead it, or a copy of it, \
                 over links without `frame_losses`, or take these out to see what holds else",
                plan.node_name(*one),
                plan.node_name(*other),
                *lost_ppb as f64 / 1e7,
                plan.node_name(*node)
            ),
            Self::FragmentOvertaken { ends: [one, other] } => format!(
                "frames are lost over the link between `{}` and `{}`; of a message of several frames the copy of a lost one can come behind \
                 the next frame, out of order, and the message is lost: lead its copies over links without `frame_losses`",
                plan.node_name(*one),
                plan.node_name(*other)
            ),
            Self::FragmentsReordered { node } => format!(
                "copies of a message's frames come to `{}` by several links, and one that is taken from one of them can be passed on after the \
                 next, taken from another, where frames of different links do not take the same time: leave `forwarding_jitter`, \
                 `stream_filters` and `macsec` out, or `eliminate_at`",
                plan.node_name(*node)
            ),
            Self::ClockFramesLost { ends: [one, other], .. } => format!(
                "frames are lost over the link between `{}` and `{}`, among them those that keep the clocks behind it together: take the \
                 loss out, or write `sync = \"ideal\"` if clocks are not what is asked about",
                plan.node_name(*one),
                plan.node_name(*other)
            ),
            Self::Skew { node, skew: Some(skew), limit, remedy } => format!(
                "copies of a frame can come to `{}` {skew:.3} apart, and one that comes more than {limit:.3} after the first is taken for a new \
                 frame there, so a frame can be delivered twice: {}",
                plan.node_name(*node),
                remedy.text(*skew)
            ),
            Self::Skew { node, skew: None, limit, .. } => format!(
                "nothing bounds how far apart copies of a frame come to `{}`, and one that comes more than {limit:.3} after the first is \
                 taken for a new frame there",
                plan.node_name(*node)
            ),
            Self::Reboots { node, at } => format!(
                "`{}` starts anew at {at}, and frames that it holds or that come meanwhile are lost: lead the stream another way, or \
                 take the `reboot` out",
                plan.node_name(*node)
            ),
            Self::BeaconFails { ends: [one, other], at, .. } => format!(
                "the scenario lets the link between `{}` and `{}` fail at {at}, and the clocks behind it are lost, to which the sync \
                 beacon comes by it: take the failure out, or write `sync = \"ideal\"` if clocks are not what is asked about",
                plan.node_name(*one),
                plan.node_name(*other)
            ),
            Self::Recorded { recording, id } => format!(
                "the recording `{}` has frames with its identifier {:#05X}, and two senders of one identifier destroy each other's \
                 frames, or are taken for one another: write another `id`, or leave those frames out of the recording",
                plan.streams[recording.index()].name,
                id.raw()
            ),
            Self::KeyExchange { on } => format!(
                "while nodes of segment `{}` come to a key, frames and signatures of the exchange go before others, and nothing bounds \
                 how long: simulate, or take the group key out to see what holds without it",
                plan.segments[on.index()].name
            ),
            Self::ThrownOut { node, at } => format!(
                "the scenario throws `{}` out of the group at {at}, and whoever has the new key throws away what it sends under the old one: \
                 let another node send the stream, or take the change out",
                plan.node_name(*node)
            ),
            Self::NotInGroup { node, .. } => format!(
                "it is under the group key, and `{}` is not in the group, so that it never has that key: make it a member, or write \
                 `key = \"pre-shared\"` for the protection",
                plan.node_name(*node)
            ),
            Self::StreamFilter(risk) => risk.text(plan),
            Self::Threat(risk) => risk.text(plan),
            Self::OnLink(risk) => risk.text(),
            Self::Policed { needed: Some(needed), allowed } => format!(
                "a frame can come to a switch {needed:.3} later than its bandwidth allocation gap says, and policing allows {allowed}, so \
                 it cannot be said that none is thrown away: write `jitter = \"{needed:.3}\"` for the virtual link"
            ),
            Self::Policed { needed: None, allowed } => format!(
                "nothing bounds how near together its frames come to a switch by true time, and policing allows a jitter of {allowed}: \
                 write a period or a bandwidth allocation gap that is longer by the drift of its sender's clock, or a larger \
                 `clock_tolerance`"
            ),
            Self::LinkFull { from, to, bytes, room } => {
                let (from, to) = (plan.node_name(*from), plan.node_name(*to));
                match bytes {
                    Some(bytes) => format!(
                        "the analysis allows for {bytes} bytes that wait in one queue in front of the link from `{from}` to `{to}`, which \
                         holds {room}, so it cannot say that no frame is lost: write a larger `queue_len_max`"
                    ),
                    None => format!(
                        "nothing bounds what waits in the same queue in front of the link from `{from}` to `{to}`, which holds {room} \
                         bytes"
                    ),
                }
            }
        }
    }
}
