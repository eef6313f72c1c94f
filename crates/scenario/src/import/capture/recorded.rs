//! Frames that no period and burst describes, as a recording that their sender replays.

use chronoseal_core::Duration;
use chronoseal_recordings::{LINKTYPE_ETHERNET, write_capture};
use chronoseal_wire::ethernet::ETHERTYPE_VLAN;

use super::dissect::{Key, Station, Vlan};
use super::observation::{Observation, Seen};
use super::rate::{Rate, shown};
use super::stream::{counted, ends, name};
use crate::import::recorded_length;
use crate::limits::{DURATION_MAX, FRAME_LEN_MAX, FRAME_LEN_MIN, HEADER_LEN, REPLAY_MIN};

/// Of a VLAN tag `[byte]`.
const TAG_LEN: u64 = 4;

/// A recording to be written.
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: Vec<String>,
    /// From the first frame of the capture to its own first.
    pub(super) start: Duration,
    pub(super) rate: Rate,
    /// What is written above it, a comment a line.
    pub(super) comment: Vec<String>,
    /// The file.
    pub(super) bytes: Vec<u8>,
}

/// After how long recordings of a capture start again: when all of it is over.
pub(super) fn every(seen: &Observation) -> Duration {
    recorded_length(seen.length_ns(), seen.frames)
}

/// True if a capture is neither too short nor too long to be replayed.
pub(super) fn fits(seen: &Observation) -> bool {
    (REPLAY_MIN..=DURATION_MAX).contains(&every(seen))
}

/// The frames of a flow, for which there is no stream since `why` is so.
pub(super) fn of(
    key: &Key,
    flow: &Seen,
    rate: Rate,
    nodes: &[(Option<Station>, String)],
    (why, begin_ns): (&str, u64),
) -> Recorded {
    let (from, to) = ends(key, nodes);
    let mut comment = counted(key, &rate);
    comment.push(format!("A recording, for {why}."));
    let mut file = File { front: front(key), packets: Vec::new() };
    let is_cut = flow.frames.iter().filter(|frame| file.push(frame.at_ns, frame.len)).count();
    if is_cut > 0 {
        comment.push(format!(
            "assumed: {is_cut} of them, each longer than {FRAME_LEN_MAX}B, come as several frames at once that are as long together."
        ));
    }
    if key.destination == Station::Group {
        comment.push("assumed: every other station receives what goes to a group. Write those that do.".into());
    }
    let name = name(key, &from, !flow.services.is_empty());
    Recorded { name, from, to, start: shown(begin_ns), rate, comment, bytes: file.written() }
}

/// What is there of each frame: its addresses, its tag and its type. Of the rest only the length counts.
fn front(key: &Key) -> Vec<u8> {
    let mac = |station: Station| match station {
        Station::Mac(mac) => mac,
        Station::Ip(_) | Station::Host | Station::Group => [0; 6],
    };
    let mut front = [key.group.unwrap_or_else(|| mac(key.destination)), mac(key.source)].concat();
    if let Some(Vlan { pcp, vid }) = key.vlan {
        let vid = if (1..=4094).contains(&vid) { vid } else { 1 };
        front.extend(ETHERTYPE_VLAN.to_be_bytes());
        front.extend((u16::from(pcp) << 13 | vid).to_be_bytes());
    }
    front.extend(key.ethertype.to_be_bytes());
    front
}

struct File {
    front: Vec<u8>,
    /// When `[ns]` and how long `[byte]`.
    packets: Vec<(u64, u32)>,
}

impl File {
    /// Takes a frame, or all fragments of a datagram together. True if it is longer than a frame, and comes as several.
    fn push(&mut self, at_ns: u64, len: u64) -> bool {
        let tag = if self.front.len() as u64 > u64::from(HEADER_LEN) { TAG_LEN } else { 0 };
        let (most, least) = (u64::from(FRAME_LEN_MAX) + tag, u64::from(FRAME_LEN_MIN) + tag);
        let pieces = len.div_ceil(most).max(1);
        for piece in 0..pieces {
            // As even as they can be: none is shorter than a frame then.
            let piece = len / pieces + u64::from(piece < len % pieces);
            self.packets.push((at_ns, piece.clamp(least, most) as u32));
        }
        pieces > 1
    }

    fn written(&self) -> Vec<u8> {
        write_capture(LINKTYPE_ETHERNET, self.packets.iter().map(|(at_ns, len)| (*at_ns, *len, &self.front[..])))
    }
}
