//! Messages of IEEE 802.1AS become clocks of their segment.

use super::dissect::{Key, Station};
use super::observation::Observation;
use super::rate::Rate;

/// Types of messages: IEEE 1588-2019, table 36.
const SYNC: u8 = 0x0;
const PDELAY_REQ: u8 = 0x2;
pub(super) const ANNOUNCE: u8 = 0xb;

pub(super) const fn name(kind: u8) -> &'static str {
    match kind {
        SYNC => "sync",
        0x1 => "delay-req",
        PDELAY_REQ => "pdelay-req",
        0x3 => "pdelay-resp",
        0x8 => "follow-up",
        0x9 => "delay-resp",
        0xa => "pdelay-resp-follow-up",
        ANNOUNCE => "announce",
        0xc => "signaling",
        0xd => "management",
        _ => "ptp",
    }
}

/// What the clocks of a segment go by.
pub(super) struct Clocks {
    /// Who sends Sync.
    pub(super) grandmaster: Station,
    /// `priority1`, `clockClass` and `priority2` of its Announce.
    announced: Option<(u8, u8, u8)>,
    /// Intervals `[ns]`; `None` where no such message was seen, or at no power of two.
    intervals: [(&'static str, Option<u64>); 3],
    /// Messages that were seen.
    pub(super) messages: usize,
}

/// The clocks of a segment, if a Sync was seen there again and again.
pub(super) fn clocks(seen: &Observation, segment: usize) -> Option<Clocks> {
    let of = |kind: u8| {
        let mut flows = seen.flows.iter().filter(move |(key, _)| key.segment == segment && key.clock == Some(kind));
        let most = flows.next()?;
        Some(flows.fold(most, |most, one| if one.1.frames.len() > most.1.frames.len() { one } else { most }))
    };
    let interval = |kind| {
        let (_, flow) = of(kind)?;
        let frames: Vec<_> = flow.frames.iter().map(|frame| (frame.at_ns, frame.len)).collect();
        power_of_two(Rate::of(&frames, seen.length_ns()).filter(|rate| rate.count == 1)?.period_ns)
    };
    let (sync, _) = of(SYNC)?;
    let intervals = [
        ("sync_interval", Some(interval(SYNC)?)),
        ("announce_interval", interval(ANNOUNCE)),
        ("pdelay_interval", interval(PDELAY_REQ)),
    ];
    let announced = of(ANNOUNCE).filter(|(key, _)| key.source == sync.source).and_then(|(_, flow)| flow.announced);
    // A system with 255 is never the grandmaster, and this one is.
    let announced = announced.filter(|(priority1, ..)| *priority1 < 255);
    let messages = seen.flows.iter().filter(|(key, _)| is_clock(key, segment)).map(|(_, flow)| flow.frames.len()).sum();
    Some(Clocks { grandmaster: sync.source, announced, intervals, messages })
}

pub(super) fn is_clock(key: &Key, segment: usize) -> bool {
    key.segment == segment && key.clock.is_some()
}

/// The power of two of a second that is within a tenth `[ns]`: IEEE 802.1AS has no other intervals.
fn power_of_two(ns: u64) -> Option<u64> {
    let powers = (-7..=5).map(|power: i32| (1e9 * 2f64.powi(power)) as u64);
    powers.into_iter().find(|power| power.abs_diff(ns) * 10 <= *power)
}

impl Clocks {
    /// Its entry in a segment's table, with what is assumed in it.
    pub(super) fn text(&self, grandmaster: &str) -> String {
        let (mut keys, mut assumed) = (Vec::new(), Vec::new());
        for (key, interval) in self.intervals {
            match interval {
                Some(ns) => keys.push(format!("{key} = \"{}\"", chronoseal_core::Duration::from_ns(ns as i64))),
                None => assumed.push(key),
            }
        }
        let priority = match self.announced {
            Some((priority1, class, priority2)) => {
                format!("priority1 = {priority1}, priority2 = {priority2}, clock_class = {class}")
            }
            None => {
                assumed.push("priority1");
                "priority1 = 100".into()
            }
        };
        keys.push(format!("systems = [{{ names = [\"{grandmaster}\"], {priority} }}]"));
        let mut text = format!("# Seen: {} messages of IEEE 802.1AS, Sync from {grandmaster}.\n", self.messages);
        if !assumed.is_empty() {
            text += &format!(
                "# assumed: {}, since the capture does not show it. Write what your grandmaster is set to.\n",
                assumed.join(", ")
            );
        }
        text + &format!("sync = {{ gptp = {{ {} }} }}\n", keys.join(", "))
    }
}
