//! The sync beacon: the first switch sends it, every other one passes it on.

use chronoseal_core::{Duration, Priority, SimTime, StreamId};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

use super::config::NetworkConfig;
use super::forwarding::Forwarded;
use super::{Network, Timer};
use crate::medium::{FrameLabel, FrameStore, MediumOutput};

/// The way of the beacon: by as few links as possible to every switch, and from there to its stations. Of several such ways it
/// takes the one over the links with the lowest numbers; each of them brings the same time, since a relay adds what it delays.
pub(super) struct BeaconTree {
    /// The lines by which the first switch sends it.
    from_master: Vec<usize>,
    /// By line: those by which it goes on when it came in by this one; none for lines that it does not come by.
    onward: Vec<Option<Vec<usize>>>,
}

impl BeaconTree {
    pub(super) fn new(config: &NetworkConfig) -> Self {
        let mut onward: Vec<Option<Vec<usize>>> = vec![None; 2 * config.links.len()];
        let mut is_reached = vec![false; config.switches.len()];
        let mut from_master = Vec::new();
        if let Some(first) = is_reached.first_mut() {
            *first = true;
        }
        // Each switch with the line by which the beacon comes to it, in the order in which it does.
        let mut reached: Vec<(usize, Option<usize>)> = vec![(0, None)];
        let mut next = 0;
        while let Some(&(switch, came_by)) = reached.get(next) {
            next += 1;
            let mut leaves_by = Vec::new();
            for line in (0..onward.len()).filter(|line| config.switch_before(*line) == Some(switch)) {
                match config.switch_behind(line) {
                    None => leaves_by.push(line),
                    Some(other) if !is_reached[other] => {
                        is_reached[other] = true;
                        leaves_by.push(line);
                        reached.push((other, Some(line)));
                    }
                    Some(_) => {}
                }
            }
            match came_by {
                None => from_master = leaves_by,
                Some(line) => onward[line] = Some(leaves_by),
            }
        }
        Self { from_master, onward }
    }

    /// By line: whether the beacon comes in by it.
    pub(super) fn brings(&self, lines: usize) -> Vec<bool> {
        (0..lines).map(|line| self.onward[line].is_some()).collect()
    }
}

impl Network {
    /// Sends the integration frame of this cycle by every line that leads from the master to stations and other switches.
    pub(super) fn send_beacon(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(beacon) = self.config.beacon else { return };
        let master = self.config.switches[0];
        let control = ProtocolControlFrame {
            integration_cycle: self.integration_cycle,
            membership_new: 1,
            sync_priority: 0,
            sync_domain: 0,
            kind: PcfType::Integration,
            transparent_clock: Duration::ZERO,
        };
        let destination = virtual_link::critical_traffic_address(self.config.ct_marker, beacon.sync_id);
        let source = virtual_link::station_address(master);
        for copy in 0..self.beacon_tree.from_master.len() {
            let line = self.beacon_tree.from_master[copy];
            let label = FrameLabel { sender: master, sent_at: now, ..FrameLabel::default() };
            let frame = frames.allocate(label);
            let len = control.emit_frame(destination, source, frames.buffer(frame));
            frames.set_len(frame, len);
            self.send(now, line, Priority::PROTOCOL_CONTROL, Some(now), (frame, StreamId::NONE), frames, out);
        }
        self.integration_cycle = self.integration_cycle.wrapping_add(1);
        out.push(MediumOutput::Timer { at: now + beacon.integration_cycle, timer: Timer::Beacon.pack() });
    }

    /// Passes the beacon on that came in by a line. Each line gets a frame of its own, since each delays it differently.
    pub(super) fn relay_beacon(
        &mut self,
        now: SimTime,
        line: usize,
        beacon: Forwarded,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let leaves_by = self.beacon_tree.onward[line].clone().unwrap_or_default();
        for line in leaves_by {
            let copy = (frames.duplicate(beacon.frame), StreamId::NONE);
            self.send(now, line, Priority::PROTOCOL_CONTROL, Some(beacon.due), copy, frames, out);
        }
        frames.release(beacon.frame);
    }
}
