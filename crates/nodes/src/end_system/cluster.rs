//! A station's part in a cluster without a beacon: it sends control frames, or only follows them (SAE AS6802).

use chronoseal_core::{Event, EventKind, LocalTime, Output, PortId, Priority, StreamId, Transmit};
use chronoseal_wire::ethernet::Frame;
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;
use chronoseal_wire::virtual_link;

use super::{EndSystem, Stage};
use crate::clock::{Clock, ClusterEffect};

impl EndSystem {
    /// Does the next thing that the clock of a cluster has to do. False if nothing is due, or if it follows a beacon.
    pub(super) fn keep_time(&mut self, now: LocalTime) -> bool {
        let clock = match &mut self.clock {
            Clock::Beacon(_) => return false,
            Clock::Cluster(clock) => clock,
            Clock::TimeAware(_) => return self.keep_grandmasters_time(now),
        };
        let Some(effect) = clock.next_effect(now) else { return false };
        match effect {
            ClusterEffect::Send(frame, due) => self.stage = Stage::Control(frame, due),
            ClusterEffect::Event(kind, sequence, value) => {
                if kind == EventKind::SyncAcquired {
                    // A cluster that started anew counts from zero again.
                    self.seek(now);
                }
                self.base.push(Event { value, ..Event::of(kind, StreamId::NONE, sequence) });
            }
        }
        true
    }

    /// Writes a control frame. What it is late by is part of its age. The network interface puts it on both links, if it has two.
    pub(super) fn send_control(
        &mut self,
        now: LocalTime,
        control: ProtocolControlFrame,
        due: LocalTime,
        frame: &mut [u8],
    ) -> Output {
        let control = ProtocolControlFrame { transparent_clock: now - due, ..control };
        let destination = virtual_link::critical_traffic_address(self.config.ct_marker, self.config.sync_id);
        let len = control.emit_frame(destination, virtual_link::station_address(self.config.node), frame);
        let (port, priority) = (PortId(0), Priority::PROTOCOL_CONTROL);
        Output::Transmit(Transmit { port, priority, launch_at: now, len, token: None })
    }

    /// Hands a control frame to the clock.
    pub(super) fn receive_control(
        &mut self,
        rx_at: LocalTime,
        port: PortId,
        frame: &Frame<'_>,
        control: &ProtocolControlFrame,
    ) {
        let Clock::Cluster(clock) = &mut self.clock else { return };
        let taken = clock.receive(rx_at, (virtual_link::station(frame.source()), port), control);
        self.due_at = self.next_wake();
        if let Err(reason) = taken {
            self.discard(reason, StreamId::NONE);
        }
    }
}
