//! What the switch lets in: address, port, length, window, once for each slot.

use chronoseal_core::{DiscardReason, Duration, SimTime, StreamId};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::{protocol_control_frame, virtual_link};

use super::config::{RouteClass, StarConfig};

/// Where an admitted frame goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    /// A scheduled frame in the window of one of its slots.
    Slot {
        /// Index into the schedule table.
        slot: usize,
        /// Which repetition of the table.
        cycle: i64,
    },
    /// A best-effort frame.
    Stream(StreamId),
}

/// The ingress side of the switch.
pub(super) struct Filter {
    /// `by_ct_id[id]` is the stream with that identifier.
    by_ct_id: Vec<Option<StreamId>>,
    /// `slots_of[stream]` lists its slots.
    slots_of: Vec<Vec<usize>>,
}

impl Filter {
    pub(super) fn new(config: &StarConfig) -> Self {
        let mut by_ct_id = Vec::new();
        for (index, route) in config.routes.iter().enumerate() {
            if let RouteClass::TimeTriggered { ct_id } = route.class {
                let ct_id = usize::from(ct_id);
                if by_ct_id.len() <= ct_id {
                    by_ct_id.resize(ct_id + 1, None);
                }
                by_ct_id[ct_id] = Some(StreamId(index as u16));
            }
        }
        let mut slots_of = vec![Vec::new(); config.routes.len()];
        for (index, slot) in config.schedule.slots.iter().enumerate() {
            slots_of[slot.stream.index()].push(index);
        }
        Self { by_ct_id, slots_of }
    }

    /// The stream a frame's destination names.
    #[inline(always)]
    pub(super) fn stream_of(&self, config: &StarConfig, frame: &Frame<'_>) -> Option<StreamId> {
        let destination = frame.destination();
        match virtual_link::ct_id(destination, config.ct_marker) {
            Some(ct_id) => self.by_ct_id.get(usize::from(ct_id)).copied().flatten(),
            None => virtual_link::stream(destination).filter(|stream| {
                config.route(*stream).is_some_and(|route| matches!(route.class, RouteClass::BestEffort { .. }))
            }),
        }
    }

    /// Judges a frame whose last bit came in at `port` at `now`.
    #[inline(always)]
    pub(super) fn judge(
        &self,
        config: &StarConfig,
        now: SimTime,
        port: usize,
        bytes: &[u8],
    ) -> Result<Admission, (DiscardReason, StreamId)> {
        let frame = Frame::new_checked(bytes).map_err(|error| (error.into(), StreamId::NONE))?;
        if frame.type_or_length() == TypeOrLength::EtherType(protocol_control_frame::ETHERTYPE_PROTOCOL_CONTROL) {
            // Only a synchronisation master may send these, and here that is the switch itself.
            return Err((DiscardReason::NotSyncMaster, StreamId::NONE));
        }
        let stream = self.stream_of(config, &frame).ok_or((DiscardReason::UnknownStream, StreamId::NONE))?;
        let route = &config.routes[stream.index()];
        if route.ingress != port {
            return Err((DiscardReason::WrongPort, stream));
        }
        if bytes.len() > route.len_max as usize {
            return Err((DiscardReason::TooLong, stream));
        }
        match route.class {
            RouteClass::Elsewhere => Err((DiscardReason::UnknownStream, stream)),
            RouteClass::BestEffort { .. } => Ok(Admission::Stream(stream)),
            RouteClass::TimeTriggered { .. } => {
                self.window(config, now, stream, bytes.len() as u64).ok_or((DiscardReason::OutsideWindow, stream))
            }
        }
    }

    /// The slot in whose receive window `now` lies.
    ///
    /// The window opens when the last bit can be there at the earliest, and closes when the frame can no longer leave
    /// in time: at its dispatch, or at the end of its slot if the switch does not wait for dispatch times.
    #[inline(never)]
    fn window(&self, config: &StarConfig, now: SimTime, stream: StreamId, len: u64) -> Option<Admission> {
        let cycle_len = config.schedule.cluster_cycle;
        let reception = config.speed.reception(len);
        self.slots_of[stream.index()].iter().find_map(|&index| {
            let slot = &config.schedule.slots[index];
            let opens = slot.start + reception - config.early_tolerance;
            let closes = if config.waits_for_dispatch { slot.dispatch - config.forwarding_delay } else { slot.end };
            let since_open = now.since_zero() - opens;
            let cycle = since_open.div_floor(cycle_len);
            let inside = since_open.rem_floor(cycle_len) <= closes - opens && closes - opens >= Duration::ZERO;
            inside.then_some(Admission::Slot { slot: index, cycle })
        })
    }
}
