//! How busy a bus is.

use chronoseal_core::{Duration, StreamId};
use chronoseal_plan::{Can, CanMessage, CanRecording, HopPlan, StreamPlan};

use super::bounds::{format_of, occupancy};
use super::transfer::Transfer;
use crate::segment::load::Share;

/// What the messages of a bus need, every stuff bit counted, and its recordings, frame by frame.
pub(crate) fn bus_load(view: Can<'_>) -> Share {
    let mut share = Share::default();
    for (id, stream, hop, facet) in view.streams() {
        let Some((can_id, kind)) = format_of(facet) else { continue };
        let len = view.plan.secured_len(stream, hop);
        let cost = transfer_cost(view, (id, stream, hop), len)
            .unwrap_or_else(|| occupancy(&view.segment.timing, can_id, kind, len as usize));
        // How full the frames of a container are, and how many vehicles send, is open.
        if stream.collected().is_some() || stream.sent_by.is_some() {
            share.estimate();
        }
        share.add(cost, stream.period);
    }
    let bridged = view.bridged();
    let local = view.recordings().map(|(_, _, recording)| recording);
    for recording in local.chain(bridged.iter().map(|(_, recording)| recording)) {
        share.add(of_recording(view, recording), recording.length);
    }
    share
}

/// All frames of a message in several, those that answer it included.
fn transfer_cost(view: Can<'_>, (id, stream, hop): (StreamId, &StreamPlan, &HopPlan), len: u32) -> Option<Duration> {
    let message = CanMessage::of(id, stream, hop)?;
    let transfer = Transfer::of(view, &message, len, None)?;
    Some(transfer.bursts(Duration::ZERO).iter().map(|burst| burst.total).sum())
}

fn of_recording(view: Can<'_>, recording: &CanRecording) -> Duration {
    let frames = recording.frames.iter();
    frames.map(|(_, frame)| occupancy(&view.segment.timing, frame.id(), frame.kind(), frame.data().len())).sum()
}
