//! An attack explains a loss only where its own frame had what the genuine one lacked.

use chronoseal_core::{DiscardReason, NodeId};
use chronoseal_results::{FrameRow, Outcome, RunRows, summarise};

use crate::sample::{delivered, meta, spoofed, us};

/// Replaced and discarded of a run of 40 frames, of which frame 9 is `genuine` and beside which there is one of an attack.
fn told(genuine: FrameRow, attack: FrameRow) -> (u64, u64) {
    let mut frames: Vec<_> = (0..40).map(delivered).collect();
    frames[9] = genuine;
    frames.push(attack);
    let mut meta = meta();
    // Nothing here has clocks to wait for.
    meta.segments.iter_mut().for_each(|segment| segment.clocks = None);
    let summary = summarise(&meta, &RunRows { frames, ..RunRows::default() });
    assert!(summary.unbalanced().is_none() && !summary.deadlines_held());
    assert_eq!(summary.replaced(), summary.streams[0].replaced);
    (summary.streams[0].replaced, summary.streams[0].discarded_total())
}

#[test]
fn a_full_queue_is_an_attacks_doing_while_a_frame_of_it_waits_there() {
    let switch = NodeId(3);
    let genuine = |arrived_us| FrameRow {
        at: switch,
        arrived_at: Some(us(arrived_us)),
        departed_at: None,
        received_at: None,
        outcome: Outcome::Discarded(DiscardReason::QueueFull),
        ..delivered(9)
    };
    let attack = FrameRow { arrived_at: Some(us(100)), departed_at: Some(us(200)), ..spoofed(9, Outcome::Delivered) };
    for (arrived_us, expected) in [(99, (0, 1)), (100, (1, 0)), (199, (1, 0)), (200, (0, 1))] {
        assert_eq!(told(genuine(arrived_us), attack), expected, "it came at {arrived_us} us");
    }
    // It waits for the link of somebody who is no receiver of the stream.
    let elsewhere = FrameRow { at: NodeId(2), ..attack };
    assert_eq!(told(genuine(150), elsewhere), (0, 1));
}

#[test]
fn a_repeated_freshness_value_is_an_attacks_doing_if_the_receiver_took_its_frame_before() {
    let genuine =
        FrameRow { received_at: Some(us(500)), outcome: Outcome::Discarded(DiscardReason::Replayed), ..delivered(9) };
    let attack = |at_us, outcome| FrameRow { received_at: Some(us(at_us)), ..spoofed(9, outcome) };
    assert_eq!(told(genuine, attack(500, Outcome::Delivered)), (1, 0));
    assert_eq!(told(genuine, attack(400, Outcome::Late)), (1, 0));
    assert_eq!(told(genuine, attack(501, Outcome::Delivered)), (0, 1), "it came behind");
    assert_eq!(told(genuine, attack(400, Outcome::Discarded(DiscardReason::TagMismatch))), (0, 1));
    let elsewhere = FrameRow { at: NodeId(2), ..attack(400, Outcome::Delivered) };
    assert_eq!(told(genuine, elsewhere), (0, 1), "another receiver took it");
}
