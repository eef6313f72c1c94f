//! The clocks by which gates open and close: those of ports (IEEE 802.1Q-2022 §8.6.9) and those of streams (IEEE 802.1Q-2018 §8.6.10).
//!
//! Where stations and switches make the time themselves, the gates of a switch go by its clock and those of a station by the station's. A
//! list begins when its clock has joined the others for the first time. Until then all gates are open, as *AdminGateStates* leaves them
//! before *ConfigChangeTime* has come. A clock that has left the others goes on by itself, as *CurrentTime* of the standard does, and
//! so do its gates; what it shows when it has joined again is a step like any other.

use chronoseal_core::{Duration, Oscillator, SimTime};

use super::config::{Ends, NetworkConfig};
use super::slot_clocks::goes_on;
use super::{Network, Timer};
use crate::medium::{Attachment, MediumOutput};

/// What gates go by.
pub(super) struct GateClocks {
    /// By clock of a switch: what it showed last; `None` if it never showed anything.
    shown: Vec<Option<Oscillator>>,
    /// By clock of a switch: the lines behind gates that go by it.
    lines: Vec<Vec<usize>>,
    /// Stations whose gates go by clocks of their own, each with its line.
    stations: Vec<(Attachment, usize)>,
}

impl GateClocks {
    /// `shown` is what the clocks of switches show at first, and `clock_of` which of them is whose.
    pub(super) fn new(
        config: &NetworkConfig,
        shown: Vec<Option<Oscillator>>,
        clock_of: &dyn Fn(usize) -> usize,
    ) -> Self {
        let mut lines = vec![Vec::new(); shown.len()];
        let mut stations = Vec::new();
        let are_own = config.has_own_clocks();
        for (&line, _) in config.ports.iter().filter(|(_, port)| are_own && port.gates.is_some()) {
            match (config.switch_before(line), config.links[line / 2].ends) {
                (Some(switch), _) => lines[clock_of(switch)].push(line),
                (None, Ends::Station { station, .. }) => stations.push((station, line)),
                (None, Ends::Switches(_)) => {}
            }
        }
        Self { shown, lines, stations }
    }

    /// The stations whose clocks their gates go by.
    pub(super) fn stations(&self) -> impl Iterator<Item = Attachment> + '_ {
        self.stations.iter().map(|(station, _)| *station)
    }
}

impl Network {
    /// No list has begun that goes by a clock of its own.
    pub(super) fn open_gates(&mut self, now: SimTime) {
        let gates = &self.slot_clocks.gates;
        let own = gates.lines.iter().flatten().chain(gates.stations.iter().map(|(_, line)| line));
        for line in own.copied().collect::<Vec<_>>() {
            if let Some(port) = &mut self.ports[line] {
                port.gates_follow(now, None);
            }
        }
    }

    /// What the clock shows that the stream gates of the switch at the end of a line go by; `None` if it never showed anything.
    pub(super) fn gates_shown_behind(&self, now: SimTime, line: usize) -> Option<Duration> {
        let clock = self.slot_clocks.of_switch(self.config.switch_behind(line)?);
        Some(self.slot_clocks.gates.shown[clock]?.local(now).since_zero())
    }

    /// The gates of a switch go by what its clock shows now, if it shows anything.
    pub(super) fn gates_of_switch_follow(
        &mut self,
        now: SimTime,
        clock: usize,
        shown: Option<Oscillator>,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(shown) = shown else { return };
        self.slot_clocks.gates.shown[clock] = Some(shown);
        for place in 0..self.slot_clocks.gates.lines[clock].len() {
            self.gates_follow(now, self.slot_clocks.gates.lines[clock][place], shown, out);
        }
    }

    /// The gates of a station go by what its clock shows now.
    pub(super) fn gates_of_station_follow(
        &mut self,
        now: SimTime,
        from: Attachment,
        shown: Oscillator,
        out: &mut Vec<MediumOutput>,
    ) {
        for place in 0..self.slot_clocks.gates.stations.len() {
            let (station, line) = self.slot_clocks.gates.stations[place];
            if station == from {
                self.gates_follow(now, line, shown, out);
            }
        }
    }

    /// The port looks last of all that happens in this instant, so that a gate that is open now finds all that has come.
    fn gates_follow(&mut self, now: SimTime, line: usize, shown: Oscillator, out: &mut Vec<MediumOutput>) {
        let Some(port) = &mut self.ports[line] else { return };
        if !port.gates_clock().is_some_and(|old| goes_on(now, old, shown)) {
            port.gates_follow(now, Some(shown));
            out.push(MediumOutput::Timer { at: now, timer: Timer::Port(line).pack() });
        }
    }
}
