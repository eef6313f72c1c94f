//! The time of a segment whose stations and switches make it themselves, as an attacker with a port of its own learns it.
//!
//! Nobody knows that time before a run, so the attacker listens as any station does that is connected there: in a cluster of SAE AS6802
//! it is one more synchronisation client, and in IEEE 802.1AS one more end station that is never the grandmaster. It answers what its
//! bridge asks, since a bridge serves its time only over a link whose delay is measured. Until it knows the time it makes no attempt in
//! a slot.

use chronoseal_core::{Duration, EventKind, HandleError, LocalTime, NodeId, Output, PortId, TxToken};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::gptp::ETHERTYPE_PTP;
use chronoseal_wire::protocol_control_frame::{ETHERTYPE_PROTOCOL_CONTROL, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

use super::{Attack, Campaign, FollowedConfig, FollowedPart};
use crate::clock::{Clock, ClusterClock, ClusterEffect};
use crate::time_aware::{TimeAwareClock, TimeAwareEffect, shows_another_time};

/// A slot, by a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    /// Since then the clock shows the time that it shows.
    since: LocalTime,
    begins: Duration,
}

/// The clock of an attacker that follows those of its segment.
pub(super) struct Followed {
    node: NodeId,
    precision: Duration,
    clock: Clock,
    /// Since then it shows the time that it shows: what was due before belongs to a later slot.
    since: LocalTime,
}

impl Followed {
    pub(super) fn new(node: NodeId, config: &FollowedConfig) -> Self {
        let clock = match &config.part {
            FollowedPart::Client(config) => Clock::Cluster(Box::new(ClusterClock::new(config.as_ref().clone()))),
            FollowedPart::EndStation(config) => Clock::TimeAware(Box::new(TimeAwareClock::new(config.clone()))),
        };
        Self { node, precision: config.precision, clock, since: LocalTime::ZERO }
    }

    /// True if it sends messages whose departure it has to be told.
    pub(super) const fn gives_tokens(&self) -> bool {
        matches!(self.clock, Clock::TimeAware(_))
    }

    /// Power-on.
    pub(super) fn start(&mut self, now: LocalTime) {
        match &mut self.clock {
            Clock::Beacon(_) => {}
            Clock::Cluster(clock) => clock.start(now),
            Clock::TimeAware(clock) => clock.start(now),
        }
    }

    /// Takes a message that keeps clocks together. What the clock has no use for it forgets: an attacker reports no frame as lost.
    pub(super) fn receive(&mut self, now: LocalTime, port: PortId, rx_at: LocalTime, bytes: &[u8]) {
        let Ok(frame) = Frame::new_checked(bytes) else { return };
        match (&mut self.clock, frame.type_or_length()) {
            (Clock::Cluster(clock), TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL)) => {
                let Ok(control) = ProtocolControlFrame::parse(frame.payload()) else { return };
                let _ = clock.receive(rx_at, (virtual_link::station(frame.source()), port), &control);
            }
            (Clock::TimeAware(clock), TypeOrLength::EtherType(ETHERTYPE_PTP)) => {
                let _ = clock.receive(now, (port, rx_at), frame.payload(), bytes.len());
            }
            _ => {}
        }
    }

    /// A message of its own left at a time, or never will.
    pub(super) fn departed(
        &mut self,
        now: LocalTime,
        token: &TxToken,
        sent: Option<LocalTime>,
    ) -> Result<(), HandleError> {
        let Clock::TimeAware(clock) = &mut self.clock else { return Ok(()) };
        clock.departed(now, token.id(), sent).then_some(()).ok_or(HandleError::UnknownToken(token.id()))
    }

    /// Lets the clock do all that is due, up to the next message that it sends.
    pub(super) fn next_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Option<Output> {
        loop {
            let has_sought = match &mut self.clock {
                Clock::Beacon(_) => return None,
                Clock::Cluster(clock) => match clock.next_effect(now)? {
                    // A client never sends.
                    ClusterEffect::Send(..) => false,
                    ClusterEffect::Event(kind, ..) => kind == EventKind::SyncAcquired,
                },
                Clock::TimeAware(clock) => match clock.next_effect(now)? {
                    TimeAwareEffect::Send(message) => {
                        clock.writes(message);
                        return Some(clock.send(now, self.node, frame));
                    }
                    TimeAwareEffect::Event(event) => shows_another_time(&event, self.precision),
                },
            };
            if has_sought {
                self.since = now;
            }
        }
    }

    /// When the clock has something to do, if nothing arrives before.
    pub(super) fn wake_at(&self) -> Option<LocalTime> {
        match &self.clock {
            Clock::Beacon(_) => None,
            Clock::Cluster(clock) => clock.wake_at(),
            Clock::TimeAware(clock) => clock.wake_at(),
        }
    }

    /// The slot of the next attempt of a campaign, which is due at a time; `None` while nobody knows when it is. Attempts that were due
    /// before the time was known are made up for one a slot, unless their attack has several in a slot anyhow.
    pub(super) fn slot(&self, Campaign { attack, taken, .. }: &Campaign, due: LocalTime) -> Option<Slot> {
        let clock = Some(&self.clock).filter(|clock| clock.is_synchronised())?;
        // A frame that is to be early has to be so in a slot that is still to come.
        let sought = clock.cluster_time(self.since) - attack.at_slot_offset;
        let taken = taken.filter(|slot| slot.since == self.since && attack.every >= attack.period);
        let free = taken.map_or(Duration::ZERO, |slot| slot.begins + attack.period);
        let begins = attack.slot_from(clock.cluster_time(due).max(sought).max(free));
        Some(Slot { since: self.since, begins })
    }

    /// When the frame of an attack leaves in a slot.
    pub(super) fn leaves_at(&self, attack: &Attack, slot: Slot) -> LocalTime {
        self.clock.local_time(slot.begins + attack.at_slot_offset)
    }
}
