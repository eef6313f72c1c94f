//! What will be run on a lossy link.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::link::{DelayLaw, LastPacket, LinkLaws, Order};
use chronoseal_nodes::RecordedMessages;
use chronoseal_nodes::udp_station;
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN};
use chronoseal_wire::ipv4::{self, Cut};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;

use crate::{Charged, HopPlan, MeasuredMiddleware, Plan, SegmentId, StreamPlan};

/// The kind's name.
pub const LINK: &str = "link";

/// A lossy link between stations.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSegment {
    /// The profile that it began with, if it has one.
    pub profile: Option<&'static str>,
    /// What it does to packets.
    pub laws: LinkLaws,
    /// The longest packet, its header included `[byte]`.
    pub mtu: u32,
    /// The node through which all packets go: its program passes them on, or does not.
    pub through: Option<NodeId>,
    /// What configurations of robot middleware took, for simulations of streams that they carry.
    pub measured: Vec<MeasuredMiddleware>,
}

/// What carries the messages of a stream over a lossy link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkTransport {
    /// A datagram each, to all receivers at once.
    #[default]
    Udp,
    /// A connection to each receiver, over which nothing is lost and everything waits for what is.
    Tcp,
    /// TLS 1.3 over a connection to each receiver, with certificates on both sides.
    Tls,
    /// A QUIC connection to each receiver, with certificates on both sides. Each message is a stream of its own on it, so that none waits
    /// for another.
    Quic,
    /// What the programs of its nodes carry them in; they write down what they sent and got.
    Program,
}

impl LinkTransport {
    /// It sends again what is lost, in packets that nobody can name before.
    pub const fn is_connection(self) -> bool {
        matches!(self, Self::Tcp | Self::Tls | Self::Quic)
    }

    /// As people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Tls => "TLS",
            Self::Quic => "QUIC",
            Self::Program => "programs",
        }
    }

    /// As scenarios and reports write it; for streams, [`LinkHop::carrier`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Quic => "quic",
            Self::Program => "program",
        }
    }
}

/// The robot middleware that carries a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Middleware {
    /// The name of its configuration, as `chronoseal middleware list` shows it.
    pub configuration: String,
    /// The node that runs its broker, if the scenario names one.
    pub broker: Option<NodeId>,
    /// What a simulation charges for it; `None` if that was not measured, and it is live only.
    pub charged: Option<Charged>,
}

/// What a stream is on a lossy link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkHop {
    /// What carries its messages.
    pub transport: LinkTransport,
    /// Of messages that programs carry: the middleware whose programs they are, if the scenario names that and no programs.
    pub over: Option<Middleware>,
    /// How its messages are cut into packets, with all that stands behind the header of IPv4 in each.
    pub cut: Cut,
    /// Of messages that are longer than a datagram: how what is behind their test-bed header is cut, each part a datagram in a packet
    /// of its own.
    pub parts: Option<Cut>,
    /// A receiver waits for the rest of a message so long.
    pub timeout: Duration,
}

/// A lossy link of a plan with what travels on it.
#[derive(Clone, Copy, Debug)]
pub struct Link<'p> {
    /// The whole plan.
    pub plan: &'p Plan,
    /// Which of its segments.
    pub id: SegmentId,
    /// The segment itself.
    pub segment: &'p LinkSegment,
}

impl<'p> Link<'p> {
    /// A segment of a plan, if it is of this kind.
    pub fn of(plan: &'p Plan, id: SegmentId) -> Option<Self> {
        let segment = plan.segments.get(id.index())?.facet.get()?;
        Some(Self { plan, id, segment })
    }

    /// Everything that travels on it, in the order of stream numbers.
    pub fn streams(self) -> impl Iterator<Item = (StreamId, &'p StreamPlan, &'p HopPlan, &'p LinkHop)> {
        self.plan.on_segment(self.id).filter_map(|(id, stream, hop)| Some((id, stream, hop, hop.facet.get()?)))
    }

    /// The node that is the link itself.
    pub fn node(self) -> NodeId {
        self.plan.own_node(self.id, 0)
    }

    /// Whether a node runs a program that is not in the scenario: that of a middleware that carries a stream from it or to it, or its broker.
    pub fn has_middleware(self, node: NodeId) -> bool {
        let at =
            |hop: &HopPlan, over: &Middleware| hop.from == node || hop.to.contains(&node) || over.broker == Some(node);
        self.streams().any(|(_, _, hop, facet)| facet.over.as_ref().is_some_and(|over| at(hop, over)))
    }

    /// What all packets of a message take at the rate of their sender.
    pub fn sending_time(self, hop: &LinkHop) -> Duration {
        self.segment.sending_time(hop.cut)
    }

    /// When all of a message has come that is sent to an idle interface, from then on.
    ///
    /// # Errors
    /// [`NotOfLink`] if the link alone does not say it.
    pub fn last_packet(self, stream: &StreamPlan, hop: &LinkHop) -> Result<LastPacket<'p>, NotOfLink> {
        match hop.transport {
            LinkTransport::Udp if stream.recorded().is_some() => Err(NotOfLink::Recording),
            LinkTransport::Udp => self.in_time(hop).and_then(|()| self.segment.last_packet(hop.cut)),
            LinkTransport::Program => Err(NotOfLink::Program),
            over => Err(NotOfLink::Connection(over.title())),
        }
    }

    /// The probability that all packets of a message over UDP come that is sent to an idle interface.
    ///
    /// # Errors
    /// [`NotOfLink`] if the losses of the link alone do not say it.
    pub fn whole(self, hop: &LinkHop) -> Result<f64, NotOfLink> {
        self.in_time(hop).and_then(|()| self.segment.whole(hop.cut))
    }

    /// Refuses a message that its receiver may give up before the rest of it has come. Of a law without an end the last deviations do not
    /// count, which no figure shows.
    fn in_time(self, hop: &LinkHop) -> Result<(), NotOfLink> {
        let delay = &self.segment.laws.delay;
        let longest = match (delay, delay.max()) {
            (DelayLaw::Normal { mean, deviation }, None) => *mean + *deviation * 12,
            (_, max) => max.unwrap_or_default(),
        };
        let takes = self.segment.after_first(hop.cut) + longest - delay.min();
        let is_cut = hop.cut.fragments() > 1;
        if is_cut && takes >= hop.timeout { Err(NotOfLink::GivenUp { takes, timeout: hop.timeout }) } else { Ok(()) }
    }

    /// What all messages of a recording take at the rate of their sender, each in a packet of its own.
    pub fn time_of_recorded(self, recorded: &RecordedMessages) -> Duration {
        let time = |len: usize| {
            let datagram_len = udp::HEADER_LEN + len;
            self.segment.sending_time(Cut { datagram_len, fragment_len: datagram_len })
        };
        recorded.messages().iter().fold(Duration::ZERO, |sum, (_, message)| sum + time(message.len()))
    }
}

/// Why the laws of a link alone do not say when a message has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotOfLink {
    /// Programs carry it.
    #[error("how programs send a message is theirs")]
    Program,
    /// A connection carries it.
    #[error("over {0} a message waits for those before it, and for what is sent again")]
    Connection(&'static str),
    /// Its messages have lengths of their own.
    #[error("its recorded messages have lengths of their own")]
    Recording,
    /// It does not fit the queue of its sender.
    #[error(
        "its {packets} packets come at once, and {queue} have room at its sender's interface: it never arrives whole"
    )]
    Queue {
        /// Packets of a message.
        packets: usize,
        /// Packets that may wait.
        queue: u32,
    },
    /// Its receiver may give it up.
    #[error(
        "its packets can come {takes:.3} apart, and a message of which not all has come after {timeout} is given up (`reassembly_timeout`)"
    )]
    GivenUp {
        /// The first and the last.
        takes: Duration,
        /// Of the receiver.
        timeout: Duration,
    },
    /// Packets stay in their order.
    #[error("packets wait for those before them, also of other messages")]
    Order,
    /// Packets may come twice.
    #[error("packets may come twice, and the first copy counts")]
    Copies,
}

impl LinkHop {
    /// How many of its messages a receiver puts together at once; the oldest is given up for one more.
    pub fn unfinished_max(&self) -> usize {
        udp_station::unfinished_max(
            self.parts.map_or(self.cut.datagram_len, |parts| TestBedHeader::LEN + parts.datagram_len),
        )
    }

    /// Of a stream in datagrams whose messages have so many bytes, their protection included, on a segment.
    pub fn in_datagrams(message_len: usize, segment: &LinkSegment, timeout: Duration) -> Self {
        let transport = LinkTransport::Udp;
        if message_len <= udp::DATA_LEN_MAX {
            return Self {
                transport,
                over: None,
                cut: Cut::new(udp::HEADER_LEN + message_len, segment.mtu as usize),
                parts: None,
                timeout,
            };
        }
        let headers = udp::HEADER_LEN + PartHeader::LEN;
        let fragment_len = (segment.mtu as usize - ipv4::HEADER_LEN - headers).max(1);
        let parts = Cut { datagram_len: message_len - TestBedHeader::LEN, fragment_len };
        let cut = Cut {
            datagram_len: parts.datagram_len + parts.fragments() * headers,
            fragment_len: fragment_len + headers,
        };
        Self { transport, over: None, cut, parts: Some(parts), timeout }
    }

    /// What a simulation makes of messages of so many bytes that a middleware carries: datagrams whose frames have as many bytes as it is
    /// charged for.
    pub fn charged(message_len: usize, charged: &Charged, segment: &LinkSegment, timeout: Duration) -> Self {
        let wire = charged.wire as usize;
        let frames = wire.div_ceil(HEADER_LEN + segment.mtu as usize);
        let content = wire.saturating_sub(frames * (HEADER_LEN + ipv4::HEADER_LEN) + udp::HEADER_LEN);
        Self::in_datagrams(message_len.max(content), segment, timeout)
    }

    /// By how much what its frames carry is longer than messages of so many bytes `[byte]`.
    pub fn padding(&self, message_len: usize) -> usize {
        let carried = match self.parts {
            Some(parts) => TestBedHeader::LEN + parts.datagram_len,
            None => self.cut.datagram_len - udp::HEADER_LEN,
        };
        carried.saturating_sub(message_len)
    }

    /// What carries its messages, as scenarios and reports write it: a middleware by the name of its configuration.
    pub fn carrier(&self) -> &str {
        self.over.as_ref().map_or(self.transport.name(), |over| &over.configuration)
    }
}

impl LinkSegment {
    /// What all packets of a message take at the rate of their sender.
    pub fn sending_time(&self, cut: Cut) -> Duration {
        let frame_len = |data_len: usize| (HEADER_LEN + ipv4::HEADER_LEN + data_len).max(FRAME_LEN_MIN) as u64;
        let time = |data_len: usize| self.laws.sending_time(frame_len(data_len));
        time(cut.fragment_len) * (cut.fragments() as i64 - 1) + time(cut.last_len())
    }

    /// What the packets of a message behind its first take at the rate of their sender.
    pub fn after_first(&self, cut: Cut) -> Duration {
        let first = Cut { datagram_len: cut.fragment_len.min(cut.datagram_len), ..cut };
        self.sending_time(cut) - self.sending_time(first)
    }

    /// The probability that all packets of a message come that is sent to an idle interface.
    ///
    /// # Errors
    /// [`NotOfLink`] if the losses of the link alone do not say it.
    pub fn whole(&self, cut: Cut) -> Result<f64, NotOfLink> {
        let (packets, queue) = (cut.fragments(), self.laws.queue);
        if self.laws.rate.is_some() && packets > queue as usize {
            return Err(NotOfLink::Queue { packets, queue });
        }
        match self.laws.duplicate > 0.0 {
            true => Err(NotOfLink::Copies),
            false => Ok(self.laws.whole(packets)),
        }
    }

    /// When all packets of a message have come.
    fn last_packet(&self, cut: Cut) -> Result<LastPacket<'_>, NotOfLink> {
        self.whole(cut)?;
        if self.laws.order == Order::Strict {
            return Err(NotOfLink::Order);
        }
        let longest = self.sending_time(Cut { datagram_len: cut.fragment_len, ..cut });
        let ns = |time: Duration| time.as_ps() as f64 / 1e3;
        let whole = ns(self.sending_time(cut));
        let starts = (1..cut.fragments()).map(|packet| ns(longest) * packet as f64).chain([whole]);
        Ok(LastPacket::new(&self.laws.delay, starts.collect()))
    }
}
