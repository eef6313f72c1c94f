//! Streams of an observation, with all that a scenario says of them.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;

use super::dissect::{Key, PROTOCOL_UDP, Secured, Station};
use super::left_out::{self, Fate, LeftOut, show_rate};
use super::observation::{Frame, Observation, Seen};
use super::rate::{Rate, shown};
use super::recorded::{self, Recorded};
use super::{Network, Sent, clocks, link_rate, node_of, nodes, segment_names, show_key};
use crate::import::schedulable;
use crate::limits::{FRAME_LEN_MAX, FRAME_LEN_MIN, HEADER_LEN};

/// Longest message `[byte]`: what a datagram of UDP holds.
const MESSAGE_LEN_MAX: u64 = 65_507;
/// Of a VLAN tag `[byte]`.
const TAG_LEN: u64 = 4;
/// Bandwidth allocation gaps of ARINC 664 part 7 `[ms]`.
const GAPS_MS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Periods of scheduled traffic.
const SCHEDULED_PERIODS: std::ops::RangeInclusive<Duration> = Duration::from_us(100)..=Duration::from_ms(100);
/// What may wait at a port at least, however little was seen `[byte]`.
const QUEUE_MIN: u64 = 1_000_000;
const QUEUE_MAX: u64 = 1_000_000_000;

/// A stream to be written.
pub(super) struct Stream {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: Vec<String>,
    /// What it carries `[byte]`.
    pub(super) length: u64,
    pub(super) period: Duration,
    pub(super) rate: Rate,
    pub(super) class: Class,
    /// The first four bytes of the group that it goes to.
    marker: Option<[u8; 4]>,
    /// What is written above it, a comment a line.
    pub(super) comment: Vec<String>,
}

impl Stream {
    pub(super) const fn virtual_link(&self) -> Option<u16> {
        match self.class {
            Class::VirtualLink { identifier, .. } => Some(identifier),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    BestEffort,
    Vlan { pcp: u8, vid: u16 },
    VirtualLink { identifier: u16, gap_ms: u64 },
    TimeTriggered,
}

/// What an observation becomes.
pub(super) struct Described {
    pub(super) networks: Vec<Network>,
    /// What of the capture is not in the scenario, and why.
    pub(super) warnings: Vec<String>,
    /// What helps if there is no stream.
    pub(super) help: &'static str,
}

/// Streams, clocks and MACsec of each segment.
pub(super) fn describe(seen: &Observation, writes_recordings: bool) -> Described {
    let (names, nodes) = (segment_names(seen), nodes(seen));
    let (mut networks, mut left_out) = (Vec::new(), LeftOut::new(writes_recordings && recorded::fits(seen)));
    let mut taken = BTreeSet::new();
    for (segment, (name, nodes)) in names.into_iter().zip(nodes).enumerate() {
        let clocks = clocks::clocks(seen, segment);
        let has_clocks = clocks.is_some();
        // A segment of clocks alone would have nothing to carry: there their messages are streams.
        let mut is_clocked = false;
        let mut streams: Vec<Stream> = Vec::new();
        let mut recordings: Vec<Recorded> = Vec::new();
        let mut links: BTreeSet<u16> = BTreeSet::new();
        let flows = seen.flows.iter().filter(|(key, _)| key.segment == segment);
        let (of_clocks, others): (Vec<_>, Vec<_>) = flows.partition(|(key, _)| key.clock.is_some());
        for (key, flow) in others.into_iter().chain(of_clocks) {
            if is_clocked && key.clock.is_some() {
                continue;
            }
            let Some(rate) = rate(flow, seen.length_ns()) else {
                left_out.take_unmeasured(flow);
                continue;
            };
            let begin_ns = left_out::begin_ns(seen, key);
            match left_out.fate(key, &rate, begin_ns, seen.length_ns()) {
                Fate::Stream => {}
                Fate::LeftOut => continue,
                Fate::Recording(why) => {
                    let mut recorded = recorded::of(key, flow, rate, &nodes, (&why, begin_ns));
                    unique(&mut recorded.name, &mut taken);
                    recordings.push(recorded);
                    is_clocked |= has_clocks && key.clock.is_none();
                    continue;
                }
            }
            if let Some(identifier) = key.virtual_link.filter(|identifier| !links.insert(*identifier)) {
                left_out.warn(format!(
                    "{} is not in the scenario: virtual link {identifier} is there already. If these are its copies on network B, \
                     write the two `networks`",
                    show_key(key)
                ));
                continue;
            }
            let mut stream = stream(key, flow, rate, &nodes, &mut left_out);
            stream.comment.extend(left_out::assumed(&stream.rate, begin_ns, seen.length_ns()));
            if has_clocks && key.clock.is_some() {
                let what = "assumed: a stream like any other, for the capture has nothing but clocks. Beside streams of yours write";
                stream.comment.push(format!("{what} `sync = {{ gptp = {{}} }}` instead."));
            }
            unique(&mut stream.name, &mut taken);
            streams.push(stream);
            is_clocked |= has_clocks && key.clock.is_none();
        }
        if seen.beacons > 0 {
            slots(&mut streams, seen.marker);
        }
        let of_streams = streams.iter().map(|stream| (&stream.from, &stream.to, &stream.rate));
        let of_recordings = recordings.iter().map(|recorded| (&recorded.from, &recorded.to, &recorded.rate));
        let sent: Vec<Sent<'_>> = of_streams.chain(of_recordings).collect();
        let rate = link_rate(&sent);
        let queue: u64 = sent.iter().map(|(.., rate)| rate.count * (rate.longest + 40)).sum();
        let macsec = macsec(seen, segment, &nodes);
        networks.push(Network {
            virtual_links: streams.iter().any(|stream| matches!(stream.class, Class::VirtualLink { .. })),
            clocks: clocks.filter(|_| is_clocked),
            queue: (queue * 4).clamp(QUEUE_MIN, QUEUE_MAX),
            name,
            rate,
            nodes,
            macsec,
            streams,
            recordings,
        });
    }
    Described { networks, help: left_out.help(), warnings: left_out.into_warnings(seen.length_ns()) }
}

/// Makes a name one that nothing else has.
fn unique(name: &mut String, taken: &mut BTreeSet<String>) {
    while !taken.insert(name.clone()) {
        *name = format!("{name}-{}", taken.len());
    }
}

fn rate(flow: &Seen, capture_ns: u64) -> Option<Rate> {
    let frames: Vec<(u64, u64)> = flow.frames.iter().map(|Frame { at_ns, len, .. }| (*at_ns, *len)).collect();
    Rate::of(&frames, capture_ns)
}

fn stream(key: &Key, flow: &Seen, rate: Rate, nodes: &[(Option<Station>, String)], left_out: &mut LeftOut) -> Stream {
    let (from, to) = ends(key, nodes);
    let is_single = key.destination != Station::Group;
    let mut comment = counted(key, &rate);
    if !flow.services.is_empty() {
        let services: Vec<String> =
            flow.services.iter().map(|(service, method)| format!("{service:#06x}.{method:#06x}")).collect();
        comment.push(format!("SOME/IP, service and method {}.", services.join(", ")));
    }
    let mut period = shown(rate.period_ns);
    let class = class(key, &rate, &mut period, &mut comment);
    if rate.is_rounded {
        comment.push("assumed: the period is the round number within 1 % of what was counted.".into());
    }
    if rate.is_few {
        comment
            .push("assumed: so few frames go on as often as in this capture. Write the period that you know.".into());
    }
    if rate.shortest < rate.longest {
        comment.push("assumed: all frames are as long as the longest, and so many fewer.".into());
    }
    if !is_single {
        comment.push("assumed: every other station receives what goes to a group. Write those that do.".into());
    }
    let inner = key.inner.iter().flatten().count() as u64;
    if inner > 0 {
        comment.push(format!(
            "assumed: switches go by the outer tag alone, as those of a provider do; the {}B of what is in it are a part of the length.",
            inner * TAG_LEN
        ));
    }
    if key.redundant {
        let again = if flow.repeated > 0 { format!(", {} numbers came again", flow.repeated) } else { String::new() };
        let what = format!("{} has redundancy tags (IEEE 802.1CB){again}", show_key(key));
        left_out.warn(format!(
            "{what}: its copies are no copies in the scenario, since a capture does not show their ways; write your \
             switches and `replication = {{ ways = [[\"left\"], [\"right\"]] }}`"
        ));
        comment.push("Its redundancy tag is a part of the length: 6B to take out once it has a `replication`.".into());
    }
    let tag = if matches!(class, Class::Vlan { .. }) { TAG_LEN } else { 0 };
    // A virtual link has its sequence number behind the data.
    let behind = u64::from(matches!(class, Class::VirtualLink { .. }));
    let whole = rate.longest.max(u64::from(FRAME_LEN_MIN));
    let mut length = whole.saturating_sub(u64::from(HEADER_LEN) + tag + behind).max(1);
    let room = u64::from(FRAME_LEN_MAX - HEADER_LEN) - behind;
    if key.fragmented {
        length = flow.datagram_len.max(room + 1);
    } else if length > room {
        comment.push(format!(
            "assumed: frames of {}B are messages in fragments, for the bench cuts what is longer than 1514B.",
            rate.longest
        ));
    }
    if length > MESSAGE_LEN_MAX {
        left_out.warn(format!("{} is cut to {MESSAGE_LEN_MAX}B, the longest message there is", show_key(key)));
    }
    Stream {
        name: name(key, &from, !flow.services.is_empty()),
        marker: key.group.and_then(|group| group.first_chunk().copied()),
        length: length.min(MESSAGE_LEN_MAX),
        from,
        to,
        period,
        rate,
        class,
        comment,
    }
}

/// Who sends a flow, and who receives it.
pub(super) fn ends(key: &Key, nodes: &[(Option<Station>, String)]) -> (String, Vec<String>) {
    let from = node_of(nodes, key.source).unwrap_or("unknown").to_owned();
    let receiver = node_of(nodes, key.destination).filter(|_| key.destination != Station::Group);
    let to = match receiver {
        Some(receiver) => vec![receiver.to_owned()],
        None => nodes.iter().map(|(_, name)| name).filter(|name| **name != from).cloned().collect(),
    };
    (from, to)
}

/// What was seen of a flow, and what was counted.
pub(super) fn counted(key: &Key, rate: &Rate) -> Vec<String> {
    let what = if key.fragmented { "datagrams in fragments" } else { "frames" };
    vec![format!("Seen: {} {what}, {}.", rate.frames, show_key(key)), show_counted(rate)]
}

/// What was counted, as a curve that bounds it.
fn show_counted(rate: &Rate) -> String {
    let span = shown(rate.span_ns);
    let lengths = if rate.shortest == rate.longest {
        format!("{}B each", rate.longest)
    } else {
        format!("{}B to {}B", rate.shortest, rate.longest)
    };
    format!(
        "Counted: {lengths} in {span}, {}; never more than {:.0}B and that rate.",
        show_rate(rate.bytes_per_s),
        (rate.burst - 1e-3).ceil()
    )
}

fn class(key: &Key, rate: &Rate, period: &mut Duration, comment: &mut Vec<String>) -> Class {
    if let Some(identifier) = key.virtual_link {
        let period_ns = period.as_ps() as u64 / 1_000;
        // A clock that is fast makes a gap seem shorter than it is.
        let gap = GAPS_MS.into_iter().rev().find(|ms| ms * 970_000 <= period_ns);
        match gap.filter(|_| rate.count == 1 && rate.longest <= u64::from(FRAME_LEN_MAX)) {
            Some(gap_ms) => {
                *period = (*period).max(Duration::from_ms(gap_ms as i64));
                comment.push(format!(
                    "assumed: the virtual link {identifier} of ARINC 664 has the longest gap of the standard that its frames keep."
                ));
                return Class::VirtualLink { identifier, gap_ms };
            }
            None => comment.push(format!(
                "assumed: best effort, for the frames of virtual link {identifier} are nearer together than any gap allows."
            )),
        }
    }
    match key.vlan {
        Some(vlan) if (1..=4094).contains(&vlan.vid) => Class::Vlan { pcp: vlan.pcp, vid: vlan.vid },
        Some(vlan) => {
            comment.push("assumed: VLAN 1, for the tag names none.".into());
            Class::Vlan { pcp: vlan.pcp, vid: 1 }
        }
        None => Class::BestEffort,
    }
}

pub(super) fn name(key: &Key, from: &str, is_some_ip: bool) -> String {
    if let Some(identifier) = key.virtual_link {
        return format!("vl-{identifier}");
    }
    if let Some(kind) = key.clock {
        return format!("{from}-{}", clocks::name(kind));
    }
    let what = match key.ip {
        Some(ip) if is_some_ip => format!("someip-{}", ip.to_port),
        Some(ip) if ip.protocol == PROTOCOL_UDP => format!("udp-{}", ip.to_port),
        Some(ip) if ip.protocol == 6 => format!("tcp-{}", ip.to_port),
        Some(ip) => format!("ip-{}", ip.protocol),
        None => format!("{:04x}", key.ethertype),
    };
    let mut class = key.vlan.map_or(String::new(), |vlan| format!("-pcp{}", vlan.pcp));
    key.inner.iter().flatten().for_each(|vlan| class += &format!("-vlan{}", vlan.vid));
    let more = if key.secured.is_some() {
        "-macsec"
    } else if key.fragmented {
        "-message"
    } else {
        ""
    };
    format!("{from}-{what}{class}{more}")
}

/// Where control frames of AS6802 were seen, even critical traffic has slots.
fn slots(streams: &mut [Stream], marker: Option<[u8; 4]>) {
    let period = |stream: &Stream| {
        let is_critical = stream.class == Class::BestEffort && marker.is_some() && stream.marker == marker;
        let fits = stream.rate.frames >= 5 && stream.rate.longest <= u64::from(FRAME_LEN_MAX);
        let period = stream.rate.usual_period_us().filter(|_| is_critical && fits).map(Duration::from_us);
        period.filter(|period| SCHEDULED_PERIODS.contains(period))
    };
    let even: Vec<(usize, Duration)> =
        streams.iter().enumerate().filter_map(|(i, stream)| Some((i, period(stream)?))).collect();
    if schedulable(even.iter().map(|(_, period)| *period)).is_none() {
        return;
    }
    for (i, period) in even {
        let stream = &mut streams[i];
        (stream.class, stream.period, stream.rate.count) = (Class::TimeTriggered, period, 1);
        stream.comment.push("assumed: time-triggered, for it is critical traffic of AS6802 and comes evenly.".into());
    }
}

/// MACsec of a segment, and the stations whose frames have it.
fn macsec(seen: &Observation, segment: usize, nodes: &[(Option<Station>, String)]) -> Option<(Secured, Vec<String>)> {
    let mut frames: BTreeMap<Secured, usize> = BTreeMap::new();
    let mut stations = BTreeSet::new();
    for (key, flow) in seen.flows.iter().filter(|(key, _)| key.segment == segment) {
        let Some(secured) = key.secured else { continue };
        *frames.entry(secured).or_default() += flow.frames.len();
        stations.extend([key.source, key.destination].into_iter().filter_map(|station| node_of(nodes, station)));
    }
    let most = frames.into_iter().max_by_key(|(_, count)| *count)?.0;
    Some((most, stations.into_iter().map(str::to_owned).collect()))
}
