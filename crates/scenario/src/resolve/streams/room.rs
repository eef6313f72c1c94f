//! Whether payload and protection fit every frame on the way.

use chronoseal_core::Bytes;

use super::Hop;
use crate::kinds::{Context, Segment, StreamRequest};
use crate::limits::TAG_LEN_MIN;
use crate::plan::ProtectionKind;
use crate::problem::Code;

impl Context<'_> {
    /// The payload, cut to what the tightest frame on the way has room for `[byte]`.
    pub(super) fn room(&mut self, stream: &StreamRequest<'_>, hops: &[Hop], segments: &[Segment<'_>]) -> u32 {
        let Some(tightest) = hops.iter().min_by_key(|hop| hop.parts.room.bytes) else { return stream.payload_len };
        let is_tight = |hop: &&Hop| hop.parts.room.bytes == tightest.parts.room.bytes;
        let mut room = tightest.parts.room.clone();
        if hops.iter().filter(is_tight).count() > 1 {
            // More room on one of them would not help.
            room.other_way.clear();
        }
        let segment = segments.get(tightest.step.segment.index()).map_or("", |segment| segment.name);
        let written = stream.spec.length.0;
        let protection = stream.protection;
        let overhead = protection.overhead_bytes();
        let left = room.bytes.saturating_sub(overhead);
        if overhead > room.bytes {
            let help = match largest_tag(stream, room.bytes) {
                Some(tag) => format!("write `tag = \"{tag}B\"` at most{}", room.other_way),
                None => format!("name a shorter protection{}", room.other_way),
            };
            self.report_both(
                Code::ProtectionTooLong,
                (&stream.at("protection"), "too long"),
                (&stream.at("length"), "without the payload"),
                format!(
                    "`{}` adds {}, and {} on `{segment}` holds {}",
                    protection.name,
                    Bytes(u64::from(overhead)),
                    room.frame,
                    Bytes(u64::from(room.bytes))
                ),
                help,
            );
        } else if written.0 > u64::from(left) {
            let with = match overhead {
                0 => String::new(),
                _ => format!(" and {} of `{}`", Bytes(u64::from(overhead)), protection.name),
            };
            let shorter_tag = match largest_tag(stream, room.bytes) {
                Some(tag) => format!(", or a `tag` of {tag}B at most"),
                None => String::new(),
            };
            self.report(
                Code::FrameTooLong,
                &stream.at("length"),
                format!(
                    "{written}{with} do not fit the {} of {} on `{segment}`",
                    Bytes(u64::from(room.bytes)),
                    room.frame
                ),
                "too long",
                format!("write at most {left}B{shorter_tag}{}", room.other_way),
            );
        }
        stream.payload_len.min(left)
    }
}

/// The longest tag of the stream's protection that leaves room for its payload, if the protection has one to choose.
fn largest_tag(stream: &StreamRequest<'_>, room: u32) -> Option<u64> {
    let ProtectionKind::Hmac { freshness, .. } = &stream.protection.kind else { return None };
    let taken = stream.spec.length.0.0.saturating_add(u64::from(freshness.sent_bits().div_ceil(8)));
    let left = u64::from(room).checked_sub(taken)?;
    (left >= TAG_LEN_MIN).then_some(left)
}
