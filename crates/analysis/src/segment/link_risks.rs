//! What keeps messages over a lossy link from being delivered although what they take has a bound, or makes it certain that none comes.
//!
//! Packets of one sender leave its interface in their order, and overtake each other by what their delays differ in. A message can be
//! overtaken by later ones which are due within the jitter of what it takes; no more of them than have their time at the rate
//! meanwhile. A receiver tells so many apart as its freshness values, its window and its memory allow.

use chronoseal_core::Duration;
use chronoseal_frameauth::Freshness;
use chronoseal_media::link::Order;
use chronoseal_plan::{HopPlan, Link, LinkHop, LinkTransport, NUMBERS_TOLD_APART, StreamPlan};

use super::losses::{Cause, Risk};
use super::{Arrivals, HopBound};

/// What a lossy link or the receiver of its packets does to messages.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LinkRisk {
    /// Every packet is lost or altered.
    NothingComes,
    /// A message has more packets than its sender's queue holds, and they come at once.
    LongerThanQueue {
        /// Of a message.
        packets: usize,
        /// As the segment has it.
        queue: u32,
    },
    /// Its packets come so far apart that its receiver gives each message up.
    GivenUp {
        /// The first and the last, at least.
        takes: Duration,
        /// Of the receiver.
        timeout: Duration,
    },
    /// More messages can overtake one than its protection allows.
    Overtaken {
        /// At most.
        messages: i64,
        /// Name of the protection.
        protection: String,
        /// One that so many overtake is thrown away.
        limit: i64,
    },
    /// More messages can overtake one than its receiver tells apart from copies.
    Forgotten {
        /// At most.
        messages: i64,
    },
    /// More messages can be there in part than a receiver keeps.
    Unfinished {
        /// At most.
        messages: i64,
        /// It keeps so many.
        room: usize,
    },
}

impl LinkRisk {
    /// True if it happens whenever the scenario runs.
    pub const fn is_certain(&self) -> bool {
        matches!(self, Self::NothingComes | Self::LongerThanQueue { .. } | Self::GivenUp { .. })
    }

    /// One sentence for a reader, with what helps.
    pub(super) fn text(&self) -> String {
        match self {
            Self::NothingComes => {
                "the link loses or alters every packet, so no message ever comes: write a smaller `loss` or `corrupt`"
                    .into()
            }
            Self::LongerThanQueue { packets, queue } => format!(
                "the {packets} packets of a message come at once, and `queue = \"{queue} frames\"` holds fewer, so it never arrives whole: write \
                 a longer queue"
            ),
            Self::GivenUp { takes, timeout } => format!(
                "the packets of a message come at least {takes:.3} apart, the first and the last, and its receiver gives it up after {timeout}: write a \
                 longer `reassembly_timeout`, a shorter message or a higher rate"
            ),
            Self::Overtaken { messages, protection, limit } => format!(
                "up to {messages} can overtake one, and `{protection}` throws a message away that {limit} later or more are before: write \
                 `order = \"strict\"`, a longer period, or a protection with a larger window (`freshness = \"full\"`, `replay_window` up to 64)",
                messages = counted(*messages),
            ),
            Self::Forgotten { messages } => format!(
                "up to {messages} can overtake one, and a receiver takes what comes after {NUMBERS_TOLD_APART} later ones for a copy: write \
                 `order = \"strict\"` or a longer period",
                messages = counted(*messages),
            ),
            Self::Unfinished { messages, room } => format!(
                "up to {messages} can have come in part, and a receiver keeps {room} and gives the oldest up for one more: write \
                 `order = \"strict\"`, a longer period or shorter messages",
                messages = counted(*messages),
            ),
        }
    }
}

fn counted(messages: i64) -> String {
    if messages == 1 { "1 message".into() } else { format!("{messages} messages") }
}

/// All of a link with these bounds.
pub(super) fn of(view: Link<'_>, arrivals: &Arrivals, bounds: &[HopBound]) -> Vec<Risk> {
    let mut risks = Vec::new();
    let over_udp = view
        .streams()
        .filter(|(_, stream, _, facet)| facet.transport == LinkTransport::Udp && stream.recorded().is_none());
    for (id, stream, hop, facet) in over_udp {
        let mut found: Vec<LinkRisk> = certain(view, stream, hop, facet);
        let of_it = bounds.iter().filter(|bound| bound.stream == id).filter_map(|bound| bound.received.ok());
        if let Some(jitter) = of_it.map(|span| span.jitter()).max()
            && view.segment.laws.order == Order::AsDelayed
        {
            found.extend(out_of_order(view, (stream, hop, facet), jitter, arrivals.at(id, view.id).distance));
        }
        risks.extend(found.into_iter().map(|risk| Risk {
            segment: view.id,
            stream: Some(id),
            cause: Cause::OnLink(risk),
        }));
    }
    risks
}

/// What happens whatever is drawn.
fn certain(view: Link<'_>, stream: &StreamPlan, hop: &HopPlan, facet: &LinkHop) -> Vec<LinkRisk> {
    let laws = &view.segment.laws;
    let mut found = Vec::new();
    // What the laws lose fails only what has a deadline.
    let has_deadline = hop.to.iter().any(|node| stream.deadline_of(*node).is_some());
    if has_deadline && (laws.loss.share() >= 1.0 || laws.corrupt >= 1.0) {
        found.push(LinkRisk::NothingComes);
    }
    let (packets, queue) = (facet.cut.fragments(), laws.queue);
    // A driver that takes time hands them over one after the other.
    let is_at_once = view.plan.nodes[hop.from.index()].driver.max == Duration::ZERO;
    if laws.rate.is_some() && is_at_once && packets > queue as usize {
        found.push(LinkRisk::LongerThanQueue { packets, queue });
    }
    if let (true, Some(longest)) = (packets > 1, laws.delay.max()) {
        // The first takes the longest on the way, and the last the shortest. No clock is wrong by more than a thousandth.
        let takes = view.segment.after_first(facet.cut) + laws.delay.min() - longest;
        let timeout = facet.timeout;
        if takes - takes / 999 > timeout {
            found.push(LinkRisk::GivenUp { takes, timeout });
        }
    }
    found
}

/// What disorder can do.
fn out_of_order(
    view: Link<'_>,
    (stream, hop, facet): (&StreamPlan, &HopPlan, &LinkHop),
    jitter: Duration,
    distance: Duration,
) -> Vec<LinkRisk> {
    let laws = &view.segment.laws;
    let spread = laws.delay.max().unwrap_or(jitter) - laws.delay.min();
    // What has the same delay keeps its order.
    if spread <= Duration::ZERO || distance <= Duration::ZERO {
        return Vec::new();
    }
    let fit =
        |time: Duration, each: Duration| if each > Duration::ZERO { time.as_ps() / each.as_ps() } else { i64::MAX };
    let messages = fit(jitter, distance).min(fit(spread, view.sending_time(facet)));
    let mut found = Vec::new();
    let protection = view.plan.protection_on(stream, hop);
    if let Some(limit) = protection.profile().and_then(|profile| limit(profile.freshness(), profile.replay_window()))
        && messages >= limit
    {
        found.push(LinkRisk::Overtaken { messages, protection: protection.name.clone(), limit });
    }
    if messages >= NUMBERS_TOLD_APART as i64 {
        found.push(LinkRisk::Forgotten { messages });
    }
    if facet.cut.fragments() > 1 {
        let messages = fit(jitter + view.segment.after_first(facet.cut), distance) + 1;
        let room = facet.unfinished_max();
        if messages > room as i64 {
            found.push(LinkRisk::Unfinished { messages, room });
        }
    }
    found
}

/// A message that so many later ones overtake is thrown away; `None` if any may.
fn limit(freshness: Freshness, window: u8) -> Option<i64> {
    let window = i64::from(window);
    match freshness {
        Freshness::None => None,
        Freshness::Full => Some(window),
        // Completed to the value nearest to the next one, so that half the range can be ahead of it or behind.
        Freshness::Truncated { bits } => Some(window.min(1 << (bits.clamp(1, 62) - 1))),
        // Only rising values are taken.
        _ => Some(1),
    }
}
