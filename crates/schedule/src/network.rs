//! What is scheduled: nodes, links, streams, and what can be wrong with their description.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, Rate};

/// Bytes of a frame on the wire that its length does not count: preamble and delimiter 8, checksum 4, gap 12
/// (IEEE 802.3 clauses 3.2 and 4.4.2).
pub const WIRE_OVERHEAD: u32 = 24;
/// The gap after a frame, which is part of [`WIRE_OVERHEAD`] `[byte]`.
const GAP: u32 = 12;
/// Instances of all streams within one hyperperiod, at most.
const INSTANCES_MAX: i128 = 2_000_000;

/// A station or a bridge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its name, which no other node has.
    pub name: String,
    /// True if it passes frames of others on.
    pub is_bridge: bool,
}

/// What the protection of a link adds to every frame on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkProtection {
    /// On the wire `[byte]`.
    pub bytes: u32,
    /// Delay at both ends together.
    pub base: Duration,
    /// The same for each byte of the frame.
    pub per_byte: Duration,
}

/// One direction of a wire, and the port that sends on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Who sends on it, an index into the nodes.
    pub from: usize,
    /// Who receives on it, an index into the nodes.
    pub to: usize,
    /// How fast it carries bits.
    pub rate: Rate,
    /// How long a bit is on its way.
    pub propagation: Duration,
    /// What protects every frame on it, whatever its stream has: MACsec.
    pub protection: LinkProtection,
    /// From the last bit at the receiving end until that node can send the frame on.
    pub processing: Duration,
    /// How many entries the gate control list of its port holds; no limit if `None`.
    pub gate_entries_max: Option<usize>,
}

/// Nodes by name and links by the names of their ends, whatever order they were given in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    nodes: Vec<Node>,
    links: Vec<Link>,
    /// The links that begin at each node.
    leaving: Vec<Vec<usize>>,
    /// Bytes on the wire beside a frame's length; [`WIRE_OVERHEAD`] on Ethernet.
    pub overhead: u32,
    /// Kept free after each frame on a link, for clocks that differ.
    pub guard: Duration,
    /// Gates open and close at whole multiples of it, and talkers start there.
    pub granularity: Duration,
    /// Nobody tells a processor when to wait: listeners check a frame as soon as it has arrived.
    pub checks_at_once: bool,
}

impl Network {
    /// A network with Ethernet's overhead, no guard, and gates that are exact to the picosecond.
    ///
    /// # Errors
    /// Everything that is wrong with the nodes and links.
    pub fn new(nodes: Vec<Node>, links: Vec<Link>) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|a, b| nodes[*a].name.cmp(&nodes[*b].name));
        for pair in order.windows(2).filter(|pair| nodes[pair[0]].name == nodes[pair[1]].name) {
            faults.push(Fault::NodeTwice { node: nodes[pair[0]].name.clone() });
        }
        let mut place = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        let mut sorted = Vec::with_capacity(links.len());
        for (number, link) in links.into_iter().enumerate() {
            let ends = (place.get(link.from), place.get(link.to));
            let (Some(&from), Some(&to)) = ends else {
                faults.push(Fault::LinkWithoutNode { number });
                continue;
            };
            sorted.push(Link { from, to, ..link });
        }
        sorted.sort_by_key(|link| (link.from, link.to));
        let nodes: Vec<Node> = order.iter().map(|old| nodes[*old].clone()).collect();
        let name = |link: &Link| format!("{}->{}", nodes[link.from].name, nodes[link.to].name);
        for (index, link) in sorted.iter().enumerate() {
            if link.from == link.to
                || sorted[..index].last().is_some_and(|last| (last.from, last.to) == (link.from, link.to))
            {
                faults.push(Fault::BadEnds { link: name(link) });
            }
            let times = [link.propagation, link.processing, link.protection.base, link.protection.per_byte];
            if link.rate.0 == 0 || times.iter().any(|time| time.is_negative() || *time > Duration::from_s(1)) {
                faults.push(Fault::BadLink { link: name(link) });
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut leaving = vec![Vec::new(); nodes.len()];
        sorted.iter().enumerate().for_each(|(index, link)| leaving[link.from].push(index));
        Ok(Self {
            nodes,
            links: sorted,
            leaving,
            overhead: WIRE_OVERHEAD,
            guard: Duration::ZERO,
            granularity: Duration::from_ps(1),
            checks_at_once: false,
        })
    }

    /// The same network, where no gate control list holds more than `entries_max` entries.
    #[must_use]
    pub fn with_gate_entries(mut self, entries_max: usize) -> Self {
        self.links.iter_mut().for_each(|link| link.gate_entries_max = Some(entries_max));
        self
    }

    /// The nodes, by name.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The links, by the names of their ends.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links that begin at `node`.
    pub fn leaving(&self, node: usize) -> &[usize] {
        &self.leaving[node]
    }

    /// The node with this name.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.name.as_str().cmp(name)).ok()
    }

    /// The link between two nodes.
    pub fn link(&self, from: usize, to: usize) -> Option<usize> {
        self.links.binary_search_by_key(&(from, to), |link| (link.from, link.to)).ok()
    }

    /// `from->to` with the names of the nodes.
    pub fn link_name(&self, link: usize) -> String {
        let link = &self.links[link];
        format!("{}->{}", self.nodes[link.from].name, self.nodes[link.to].name)
    }

    /// How long `bytes` of a frame take on a link, everything on the wire counted `[ps]`.
    pub(crate) fn wire_time(&self, link: usize, bytes: u32) -> i64 {
        self.links[link].rate.time_of(u64::from(bytes) + self.overhead_on(link)).as_ps()
    }

    /// Bytes on a link beside a frame's length.
    fn overhead_on(&self, link: usize) -> u64 {
        u64::from(self.overhead) + u64::from(self.links[link].protection.bytes)
    }

    /// From the last bit of a frame on a link until it is at the other end, checked `[ps]`.
    pub(crate) fn transit(&self, link: usize, bytes: u32) -> i64 {
        let Link { propagation, protection, .. } = &self.links[link];
        (*propagation + protection.base + protection.per_byte * i64::from(bytes)).as_ps()
    }

    /// When the last bit of such a frame leaves, from when it starts: before the gap behind it, if the overhead counts that `[ps]`.
    pub(crate) fn last_bit(&self, link: usize, bytes: u32) -> i64 {
        let overhead = self.overhead_on(link) - u64::from(GAP.min(self.overhead));
        self.links[link].rate.time_of(u64::from(bytes) + overhead).as_ps()
    }

    /// How long before a scheduled frame the gates of the other classes close: one of theirs may end at that instant, and then
    /// keeps the wire for the gap behind it `[ps]`.
    pub(crate) fn lead(&self, link: usize) -> i64 {
        self.links[link].rate.time_of(u64::from(GAP)).as_ps()
    }
}

/// What authentication and encryption add to every frame of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Security {
    /// Bytes on every frame: tag, freshness, or header and check value of MACsec.
    pub bytes: u32,
    /// Processor time of the talker, directly before the frame is sent.
    pub seal: Duration,
    /// Processor time of each listener after the frame has arrived.
    pub open: Duration,
    /// Time in every bridge, where each hop is protected for itself.
    pub per_hop: Duration,
}

/// Frames of one length that repeat with one period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Its name, which no other stream has.
    pub name: String,
    /// The talker, an index into [`Network::nodes`].
    pub from: usize,
    /// The listeners, indices into [`Network::nodes`].
    pub to: Vec<usize>,
    /// Length of a frame without what [`Network::overhead`] and the protection add `[byte]`.
    pub len: u32,
    /// Time from one frame to the next.
    pub period: Duration,
    /// From the beginning of sealing until the last listener has checked the frame, at most.
    pub deadline: Duration,
    /// How far a frame may be from the strict period.
    pub jitter: Duration,
    /// When the first frame leaves the talker, if that is given.
    pub offset: Option<Duration>,
    /// The links it takes, if those are given, in any order.
    pub route: Option<Vec<usize>>,
    /// What its protection adds.
    pub security: Security,
}

impl Stream {
    /// Length with the protection `[byte]`.
    pub fn secured_len(&self) -> u32 {
        self.len.saturating_add(self.security.bytes)
    }
}

/// Something wrong with the description of a network or its streams.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Two nodes share a name.
    #[error("two nodes have the name `{node}`; give each its own")]
    NodeTwice {
        /// The name.
        node: String,
    },
    /// A link ends at no node.
    #[error("link number {number} ends at a node that is not there; its ends have to be indices of nodes")]
    LinkWithoutNode {
        /// Its number in the input, from 0.
        number: usize,
    },
    /// A link from a node to itself, or the second between two nodes.
    #[error("the link {link} is there twice or leads back to its own node; remove it")]
    BadEnds {
        /// Its ends.
        link: String,
    },
    /// A link that carries nothing or takes more than a second.
    #[error("the link {link} needs a rate above 0, and a propagation and processing time from 0 to 1s")]
    BadLink {
        /// Its ends.
        link: String,
    },
    /// Two streams share a name.
    #[error("two streams have the name `{stream}`; give each its own")]
    StreamTwice {
        /// The name.
        stream: String,
    },
    /// A talker or listener that does not exist, no listener, or a talker that listens to itself.
    #[error("stream `{stream}` needs a talker and at least one listener that are different nodes of the network")]
    BadEndpoints {
        /// Its name.
        stream: String,
    },
    /// A frame without a byte.
    #[error("stream `{stream}` has frames of 0 bytes; write how long they are")]
    NoLength {
        /// Its name.
        stream: String,
    },
    /// A period, deadline, jitter, offset or processing time out of range.
    #[error("stream `{stream}`: {what} is {value}; it has to be {expected}")]
    BadTime {
        /// Its name.
        stream: String,
        /// Which time.
        what: &'static str,
        /// What it is.
        value: Duration,
        /// What it may be.
        expected: &'static str,
    },
    /// A route that is no tree from the talker to all listeners.
    #[error("stream `{stream}`: its route is no tree of links from its talker to all of its listeners through bridges")]
    BadRoute {
        /// Its name.
        stream: String,
    },
    /// Periods without a small common multiple.
    #[error(
        "the periods have no common multiple short enough: with `{stream}` (every {period}) there are more than \
         2000000 frames in it; write periods of which the longer are multiples of the shorter"
    )]
    HyperperiodTooLong {
        /// The stream that makes it too long.
        stream: String,
        /// Its period.
        period: Duration,
    },
}

/// A network with its streams, checked and in an order of its own: streams by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    network: Network,
    streams: Vec<Stream>,
    hyperperiod: i64,
}

impl Problem {
    /// Checks and sorts.
    ///
    /// # Errors
    /// Everything that is wrong with the streams.
    pub fn new(network: Network, mut streams: Vec<Stream>) -> Result<Self, Vec<Fault>> {
        streams.sort_by(|a, b| a.name.cmp(&b.name));
        let mut faults: Vec<Fault> = streams.iter().filter_map(|stream| check(&network, stream).err()).collect();
        for pair in streams.windows(2).filter(|pair| pair[0].name == pair[1].name) {
            faults.push(Fault::StreamTwice { stream: pair[0].name.clone() });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let hyperperiod = hyperperiod(&streams).map_err(|fault| vec![fault])?;
        Ok(Self { network, streams, hyperperiod })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The streams, by name.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The number of the stream with this name.
    pub fn stream(&self, name: &str) -> Option<usize> {
        self.streams.binary_search_by(|stream| stream.name.as_str().cmp(name)).ok()
    }

    /// After this everything repeats: the least common multiple of the periods.
    pub fn hyperperiod(&self) -> Duration {
        Duration::from_ps(self.hyperperiod)
    }

    /// The same network with some of the streams.
    #[expect(clippy::missing_panics_doc, reason = "part of what fits does so as well")]
    pub fn with(&self, keep: impl Fn(&Stream) -> bool) -> Self {
        let streams: Vec<Stream> = self.streams.iter().filter(|stream| keep(stream)).cloned().collect();
        let hyperperiod = hyperperiod(&streams).expect("part of what fits does so as well");
        Self { network: self.network.clone(), streams, hyperperiod }
    }
}

/// The least common multiple of all periods.
pub(crate) fn hyperperiod(streams: &[Stream]) -> Result<i64, Fault> {
    let mut periods = BTreeMap::new();
    let mut all = 1i128;
    for stream in streams {
        let (period, count) = (i128::from(stream.period.as_ps()), periods.entry(stream.period).or_insert(0i128));
        *count += 1;
        all = all / gcd(all, period) * period;
        let instances: i128 = periods.iter().map(|(period, count)| all / i128::from(period.as_ps()) * count).sum();
        if instances > INSTANCES_MAX || all > i128::from(i64::MAX / 16) {
            return Err(Fault::HyperperiodTooLong { stream: stream.name.clone(), period: stream.period });
        }
    }
    Ok(all as i64)
}

/// The greatest common divisor.
pub fn gcd<T: Copy + Default + PartialEq + std::ops::Rem<Output = T>>(a: T, b: T) -> T {
    if b == T::default() { a } else { gcd(b, a % b) }
}

/// What can be wrong with one stream of a network.
pub(crate) fn check(network: &Network, stream: &Stream) -> Result<(), Fault> {
    if stream.len == 0 {
        return Err(Fault::NoLength { stream: stream.name.clone() });
    }
    let name = || stream.name.clone();
    let known = |node: &usize| *node < network.nodes.len();
    let mut listeners = stream.to.clone();
    listeners.sort_unstable();
    listeners.dedup();
    if !known(&stream.from)
        || listeners.is_empty()
        || listeners.len() < stream.to.len()
        || !listeners.iter().all(|node| known(node) && *node != stream.from)
    {
        return Err(Fault::BadEndpoints { stream: name() });
    }
    let (hour, period) = (Duration::from_s(3600), stream.period);
    let bad = |what, value, expected| Err(Fault::BadTime { stream: name(), what, value, expected });
    if period < Duration::from_ns(1) || period > hour {
        return bad("the period", period, "from 1ns to 1h");
    }
    if stream.deadline < Duration::ZERO || stream.deadline > hour {
        return bad("the deadline", stream.deadline, "from 0 to 1h");
    }
    if stream.jitter < Duration::ZERO || stream.jitter > period {
        return bad("the jitter", stream.jitter, "from 0 to the period");
    }
    if let Some(offset) = stream.offset.filter(|offset| offset.is_negative() || *offset >= period) {
        return bad("the offset", offset, "from 0 to the period, without it");
    }
    for time in [stream.security.seal, stream.security.open, stream.security.per_hop] {
        if time.is_negative() || time > hour {
            return bad("a processing time", time, "from 0 to 1h");
        }
    }
    match &stream.route {
        Some(route) if crate::route::in_order(network, stream, route).is_none() => {
            Err(Fault::BadRoute { stream: name() })
        }
        _ => Ok(()),
    }
}
