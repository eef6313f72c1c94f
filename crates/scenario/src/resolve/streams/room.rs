//! Whether payload and protection fit every frame on the way.

use chronoseal_core::Bytes;
use chronoseal_plan::ProtectionPlan;

use super::{Hop, World, protection};
use crate::kinds::{Context, Room, StreamRequest};
use crate::problem::Code;
use crate::quantity::Bits;

/// A hop with what of its frame the protection there leaves.
struct Tight<'a> {
    segment: &'a str,
    room: Room,
    protection: &'a ProtectionPlan,
    /// True if that is the protection of this hop alone.
    is_alone: bool,
    /// What is left for the payload `[byte]`.
    left: u32,
}

impl Context<'_> {
    /// The payload, cut to what the tightest frame on the way has room for `[byte]`.
    pub(super) fn room(&mut self, stream: &StreamRequest<'_>, hops: &[Hop], world: &World<'_>) -> u32 {
        let tight = |hop: &Hop| {
            let protection = &world.protections[usize::from(hop.protection.0)];
            Tight {
                segment: world.segments.get(hop.step.segment.index()).map_or("", |segment| segment.name),
                room: hop.parts.room.clone(),
                protection,
                is_alone: hop.is_alone,
                left: hop.parts.room.bytes.saturating_sub(protection.overhead_bytes()),
            }
        };
        let mut ways: Vec<Tight<'_>> = hops.iter().map(tight).collect();
        let Some(left) = ways.iter().map(|hop| hop.left).min() else { return stream.payload_len };
        // More room on one of several that are too small would not help.
        let fits =
            |hop: &&Tight<'_>| stream.payload_len <= hop.left && hop.protection.overhead_bytes() <= hop.room.bytes;
        if ways.iter().filter(|hop| !fits(hop)).count() > 1 {
            ways.iter_mut().for_each(|hop| hop.room.other_way.clear());
        }
        let too_long = |hop: &&Tight<'_>| hop.protection.overhead_bytes() > hop.room.bytes;
        for hop in ways.iter().filter(too_long).filter(|hop| hop.is_alone) {
            self.protection_too_long(stream, hop);
        }
        // One protection for the whole way is one problem, pointed out where there is the least room.
        let end_to_end = ways.iter().filter(too_long).filter(|hop| !hop.is_alone);
        if let Some(hop) = end_to_end.min_by_key(|hop| hop.room.bytes) {
            self.protection_too_long(stream, hop);
        }
        let tightest = ways.iter().min_by_key(|hop| hop.left);
        let is_too_long = |hop: &&Tight<'_>| stream.payload_len > hop.left;
        if let Some(hop) = tightest.filter(|_| !ways.iter().any(|hop| too_long(&hop))).filter(is_too_long) {
            self.payload_too_long(stream, hop);
        }
        stream.payload_len.min(left)
    }

    fn protection_too_long(&mut self, stream: &StreamRequest<'_>, hop: &Tight<'_>) {
        let Tight { segment, room, protection, .. } = hop;
        let help = match largest_tag(stream, hop) {
            Some(tag) => format!("write `tag = \"{tag}\"` at most{}", room.other_way),
            None => format!("name a shorter protection{}", room.other_way),
        };
        self.report_both(
            Code::ProtectionTooLong,
            (&protection::place(stream, segment), "too long"),
            (&stream.at("length"), "without the payload"),
            format!(
                "`{}` adds {}, and {} on `{segment}` holds {}",
                protection.name,
                Bytes(u64::from(protection.overhead_bytes())),
                room.frame,
                Bytes(u64::from(room.bytes))
            ),
            help,
        );
    }

    fn payload_too_long(&mut self, stream: &StreamRequest<'_>, hop: &Tight<'_>) {
        let Tight { segment, room, protection, left, .. } = hop;
        let written = Bytes(u64::from(stream.payload_len));
        let with = match protection.overhead_bytes() {
            0 => String::new(),
            overhead => format!(" and {} of `{}`", Bytes(u64::from(overhead)), protection.name),
        };
        let shorter_tag = match largest_tag(stream, hop) {
            Some(tag) => format!(", or a `tag` of {tag} at most"),
            None => String::new(),
        };
        self.report(
            Code::FrameTooLong,
            &stream.at("length"),
            format!("{written}{with} do not fit the {} of {} on `{segment}`", Bytes(u64::from(room.bytes)), room.frame),
            "too long",
            format!("write at most {left}B{shorter_tag}{}", room.other_way),
        );
        self.has_stand_ins = true;
    }
}

/// The longest tag of the hop's protection that leaves room for the payload, if it has one.
fn largest_tag(stream: &StreamRequest<'_>, hop: &Tight<'_>) -> Option<Bits> {
    let profile = hop.protection.profile()?;
    let tag = profile.tag_bits_that_fit(hop.room.bytes as usize, stream.payload_len as usize)?;
    (tag < profile.tag_bits()).then_some(Bits(u32::from(tag)))
}
