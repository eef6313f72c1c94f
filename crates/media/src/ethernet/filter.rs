//! What a switch lets in: address, line, length, window, once for each turn.

use chronoseal_core::{DiscardReason, Duration, StreamId};
use chronoseal_wire::ethernet::{Frame, TypeOrLength, VlanTag};
use chronoseal_wire::{protocol_control_frame, virtual_link};

use super::config::NetworkConfig;
use super::ways::{HopId, Kind, Ways};
use crate::schedule::Turn;

/// Where an admitted frame goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    /// A scheduled frame, whose window is still to be found.
    Scheduled(HopId),
    /// A frame of a virtual link, which is still to be policed.
    VirtualLink(HopId),
    /// A best-effort frame, and its VLAN tag if its stream has one.
    Stream(HopId, Option<VlanTag>),
    /// The beacon, from the switch that sends it.
    Beacon,
}

/// A window of a scheduled frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InTurn {
    /// Of which turn, as the schedule table counts them.
    pub(super) turn: usize,
    /// Which repetition of the table.
    pub(super) cycle: i64,
}

/// The ingress side of the switches.
pub(super) struct Filter {
    /// `by_ct_id[id]` is the stream with that identifier.
    by_ct_id: Vec<Option<StreamId>>,
    /// By switch on the way of a stream: its turns there.
    turns_at: Vec<Vec<(usize, Turn)>>,
    /// True for a line by which the beacon comes in.
    brings_beacon: Vec<bool>,
}

impl Filter {
    pub(super) fn new(config: &NetworkConfig, ways: &Ways, brings_beacon: Vec<bool>) -> Self {
        let mut by_ct_id = Vec::new();
        for (index, route) in config.routes.iter().enumerate() {
            if let Some(ct_id) = route.class.ct_id() {
                let ct_id = usize::from(ct_id);
                if by_ct_id.len() <= ct_id {
                    by_ct_id.resize(ct_id + 1, None);
                }
                by_ct_id[ct_id] = Some(StreamId(index as u16));
            }
        }
        let mut turns_at = vec![Vec::new(); ways.hop_count()];
        for (index, turn) in config.schedule.turns().enumerate() {
            turns_at[ways.hop_of(turn.stream, turn.hop).index()].push((index, turn));
        }
        Self { by_ct_id, turns_at, brings_beacon }
    }

    /// The stream a frame's destination names.
    #[inline(always)]
    pub(super) fn stream_of(&self, config: &NetworkConfig, ways: &Ways, frame: &Frame<'_>) -> Option<StreamId> {
        let destination = frame.destination();
        match virtual_link::ct_id(destination, config.ct_marker) {
            Some(ct_id) => self.by_ct_id.get(usize::from(ct_id)).copied().flatten(),
            None => virtual_link::stream(destination)
                .filter(|stream| ways.stream(*stream).is_some_and(|stream| stream.kind == Kind::BestEffort)),
        }
    }

    /// Judges a frame whose last bit came in by `line`.
    #[inline(always)]
    pub(super) fn judge(
        &self,
        config: &NetworkConfig,
        ways: &Ways,
        line: usize,
        bytes: &[u8],
    ) -> Result<Admission, (DiscardReason, StreamId)> {
        let frame = Frame::new_checked(bytes).map_err(|error| (error.into(), StreamId::NONE))?;
        if frame.type_or_length() == TypeOrLength::EtherType(protocol_control_frame::ETHERTYPE_PROTOCOL_CONTROL) {
            // Only a synchronisation master may send these, and here that is the first switch.
            let is_beacon = self.brings_beacon[line];
            return if is_beacon { Ok(Admission::Beacon) } else { Err((DiscardReason::NotSyncMaster, StreamId::NONE)) };
        }
        let stream = self.stream_of(config, ways, &frame).ok_or((DiscardReason::UnknownStream, StreamId::NONE))?;
        let known = ways.stream(stream).ok_or((DiscardReason::UnknownStream, StreamId::NONE))?;
        let tag = frame.tag();
        if !known.is_in(tag.map(|tag| tag.vid)) {
            return Err((DiscardReason::UnknownStream, stream));
        }
        let hop = ways.hop_by(known, line).ok_or((DiscardReason::WrongPort, stream))?;
        if bytes.len() > known.len_max as usize {
            return Err((DiscardReason::TooLong, stream));
        }
        match known.kind {
            Kind::BestEffort => Ok(Admission::Stream(hop, tag)),
            Kind::Elsewhere => Err((DiscardReason::UnknownStream, stream)),
            Kind::RateConstrained if bytes.len() < known.len_min as usize => Err((DiscardReason::BelowLmin, stream)),
            Kind::RateConstrained => Ok(Admission::VirtualLink(hop)),
            Kind::TimeTriggered => Ok(Admission::Scheduled(hop)),
        }
    }

    /// The turn in whose receive window a frame of so many bytes came in by `line`, when the clock of the switch showed `shown`.
    ///
    /// The window opens when the last bit can be there at the earliest, and closes when the frame can no longer leave
    /// in time: at its dispatch, or at the end of its turn if the switches do not wait for dispatch times.
    #[inline(never)]
    pub(super) fn window(
        &self,
        config: &NetworkConfig,
        shown: Duration,
        hop: HopId,
        (line, len): (usize, u64),
    ) -> Option<InTurn> {
        let reception = config.links[line / 2].speed.reception(len);
        let cycle_len = config.schedule.cluster_cycle;
        self.turns_at[hop.index()].iter().copied().find_map(|(index, turn)| {
            let opens = turn.start + reception - config.early_tolerance;
            let closes = if config.waits_for_dispatch { turn.dispatch - config.forwarding_delay } else { turn.end };
            let since_open = shown - opens;
            let cycle = since_open.div_floor(cycle_len);
            let inside = since_open.rem_floor(cycle_len) <= closes - opens && closes - opens >= Duration::ZERO;
            inside.then_some(InTurn { turn: index, cycle })
        })
    }
}
