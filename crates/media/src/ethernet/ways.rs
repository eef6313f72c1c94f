//! Where streams go, laid out so that a frame finds what a switch does with it in few steps.
//!
//! [`NetworkConfig::routes`] says the same for people: a list of streams, each with a list of switches, each with a list of
//! lines. A frame that had to go through all of them would wait for memory three times at every switch.

use chronoseal_core::{Priority, StreamId};

use super::config::{NetworkConfig, Route, RouteClass, RouteHop};

/// One switch on the way of one stream, or what else a frame is passed on as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HopId(pub(super) u32);

impl HopId {
    /// Of its number; the others of a word are free for a priority.
    pub(super) const BITS: u32 = 28;
    /// From here on numbers are not of streams.
    const OTHERS: u32 = 1 << (Self::BITS - 1);
    /// A beacon.
    pub(super) const BEACON: Self = Self((1 << Self::BITS) - 1);

    /// A control frame of a cluster, by the number of its way.
    pub(super) const fn of_control(number: usize) -> Self {
        Self(Self::OTHERS | number as u32)
    }

    /// The number given to [`Self::of_control`], if it was.
    pub(super) const fn control(self) -> Option<usize> {
        if self.0 >= Self::OTHERS && self.0 != Self::BEACON.0 { Some((self.0 - Self::OTHERS) as usize) } else { None }
    }

    /// True for a frame of a stream.
    #[inline(always)]
    pub(super) const fn is_of_stream(self) -> bool {
        self.0 < Self::OTHERS
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one switch does with the frames of one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// The only line by which they may come in.
    pub(super) ingress: u32,
    /// Those by which they leave are `lines[first..first + count]`.
    first: u32,
    count: u16,
    pub(super) stream: StreamId,
    /// The egress queue, unless their tag names it.
    pub(super) priority: Priority,
}

/// What a switch has to know of a stream before it lets a frame of it in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    first_hop: u32,
    hops: u16,
    /// As [`Route::vid`] has it; [`NO_VID`] for `None`.
    vid: u16,
    /// Longest and shortest frame, without checksum `[byte]`.
    pub(super) len_max: u32,
    pub(super) len_min: u32,
    pub(super) kind: Kind,
}

/// No VLAN has this identifier, which has 12 bits.
const NO_VID: u16 = u16::MAX;

/// [`RouteClass`] without its figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    TimeTriggered,
    BestEffort,
    RateConstrained,
    Elsewhere,
}

/// The ways of all streams.
pub(super) struct Ways {
    streams: Vec<Stream>,
    hops: Vec<Hop>,
    lines: Vec<u32>,
}

impl Ways {
    pub(super) fn new(config: &NetworkConfig) -> Self {
        let mut ways = Self { streams: Vec::new(), hops: Vec::new(), lines: Vec::new() };
        for (index, route) in config.routes.iter().enumerate() {
            ways.streams.push(stream(route, ways.hops.len()));
            for RouteHop { ingress, egress } in &route.hops {
                ways.hops.push(Hop {
                    ingress: *ingress as u32,
                    first: ways.lines.len() as u32,
                    count: egress.len() as u16,
                    stream: StreamId(index as u16),
                    priority: route.class.priority(),
                });
                ways.lines.extend(egress.iter().map(|line| *line as u32));
            }
        }
        assert!(ways.hops.len() < HopId::OTHERS as usize, "ways have fewer than 2^27 switches together");
        ways
    }

    /// What is known of a stream; `None` for a number that none has.
    #[inline(always)]
    pub(super) fn stream(&self, stream: StreamId) -> Option<&Stream> {
        self.streams.get(stream.index())
    }

    /// The switch on the way of a stream where its frames come in by a line.
    #[inline(always)]
    pub(super) fn hop_by(&self, stream: &Stream, line: usize) -> Option<HopId> {
        let first = stream.first_hop as usize;
        let own = &self.hops[first..first + usize::from(stream.hops)];
        let place = own.iter().position(|hop| hop.ingress as usize == line)?;
        Some(HopId(stream.first_hop + place as u32))
    }

    /// A switch on the way of a stream, counted from its sender.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn hop_of(&self, stream: StreamId, hop: u16) -> HopId {
        let Stream { first_hop, hops, .. } = self.streams[stream.index()];
        assert!(hop < hops, "a turn of the schedule table is at a switch on its stream's way");
        HopId(first_hop + u32::from(hop))
    }

    /// What happens there to frames of a stream.
    #[inline(always)]
    pub(super) fn hop(&self, hop: HopId) -> &Hop {
        &self.hops[hop.index()]
    }

    /// How many switches there are on all ways together.
    pub(super) fn hop_count(&self) -> usize {
        self.hops.len()
    }

    /// The lines by which frames of a stream leave there.
    #[inline(always)]
    pub(super) fn egress(&self, hop: &Hop) -> &[u32] {
        let first = hop.first as usize;
        &self.lines[first..first + usize::from(hop.count)]
    }
}

impl Stream {
    /// True if frames of this stream bear the tag of this VLAN, or none.
    #[inline(always)]
    pub(super) fn is_in(&self, vid: Option<u16>) -> bool {
        self.vid == vid.unwrap_or(NO_VID)
    }
}

fn stream(route: &Route, first_hop: usize) -> Stream {
    let (kind, len_min) = match route.class {
        RouteClass::TimeTriggered { .. } => (Kind::TimeTriggered, 0),
        RouteClass::BestEffort { .. } => (Kind::BestEffort, 0),
        RouteClass::RateConstrained { len_min, .. } => (Kind::RateConstrained, len_min),
        RouteClass::Elsewhere => (Kind::Elsewhere, 0),
    };
    Stream {
        first_hop: first_hop as u32,
        hops: route.hops.len() as u16,
        vid: route.vid.unwrap_or(NO_VID),
        len_max: route.len_max,
        len_min,
        kind,
    }
}
