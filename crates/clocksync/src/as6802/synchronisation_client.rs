//! Synchronisation clients: end systems and switches that follow the time of the cluster and do not make it.

use std::collections::VecDeque;

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use super::follower::{Follower, Phase};
use super::permanence::{Pending, Permanent};
use super::{Effect, Parameters, Refusal};

/// States of a synchronisation client, as in the standard but for INIT, which is its constructor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynchronisationClientState {
    /// It listens for a cluster.
    Integrate,
    /// It follows one.
    Sync,
    /// It has done so for a while.
    Stable,
}
use SynchronisationClientState as State;

/// A synchronisation client.
#[derive(Clone, Debug)]
pub struct SynchronisationClient {
    parameters: Parameters,
    state: State,
    follower: Follower,
    pending: Pending<usize>,
    effects: VecDeque<Effect<State>>,
}

impl SynchronisationClient {
    /// A client of a cluster with so many compression masters. It listens until it hears one, so that the time of its power-on
    /// does not matter.
    pub fn new(parameters: &Parameters, compression_masters: usize) -> Self {
        Self {
            state: State::Integrate,
            follower: Follower::new(parameters, parameters.smc_scheduled_receive_pit, compression_masters),
            pending: Pending::new(&parameters.cluster, parameters.max_integration_cycles),
            effects: VecDeque::new(),
            parameters: parameters.clone(),
        }
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// True if it follows a cluster.
    pub fn is_synchronised(&self) -> bool {
        self.state != State::Integrate
    }

    /// Time of the cluster since its cycle 0 began; nothing while it follows none.
    pub fn cluster_time(&self, at: LocalTime) -> Option<Duration> {
        self.is_synchronised().then(|| self.follower.cluster_time(at))
    }

    /// Takes a frame of compression master number `source` that arrived at a time.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn receive(&mut self, arrived: LocalTime, source: usize, frame: &ProtocolControlFrame) -> Result<(), Refusal> {
        self.follower.knows(source).then_some(()).ok_or(Refusal::UnknownSource)?;
        self.pending.add(arrived, source, frame)
    }

    /// When [`Self::advance`] has something to do, if nothing arrives before.
    pub fn wake_at(&self) -> Option<LocalTime> {
        let phase = self.is_synchronised().then(|| self.follower.next().0);
        self.pending.next_at().into_iter().chain(phase).min()
    }

    /// What it did, in order. It never sends.
    pub fn poll(&mut self) -> Option<Effect<State>> {
        self.effects.pop_front()
    }

    /// Does all that was to be done by a time.
    pub fn advance(&mut self, now: LocalTime) {
        loop {
            let frame_at = self.pending.next_at().filter(|at| *at <= now);
            let phase = self.is_synchronised().then(|| self.follower.next()).filter(|(at, _)| *at <= now);
            match (frame_at, phase) {
                // A frame at the end of the acceptance window is in it.
                (Some(at), phase) if phase.is_none_or(|(phase_at, _)| at <= phase_at) => {
                    if let Some(frame) = self.pending.take() {
                        self.handle(&frame);
                    }
                }
                (_, Some((at, phase))) => self.phase(at, phase),
                (_, None) => return,
            }
        }
    }

    fn enter(&mut self, at: LocalTime, to: State) {
        let from = std::mem::replace(&mut self.state, to);
        self.effects.push_back(Effect::Entered { from, to, at });
    }

    fn handle(&mut self, frame: &Permanent<usize>) {
        let Permanent { at, from, kind, membership, integration_cycle } = *frame;
        if kind != PcfType::Integration {
            return;
        }
        if self.is_synchronised() {
            self.follower.sort(at, from, membership, integration_cycle);
        } else if membership.count_ones() >= self.parameters.thresholds.sc_integrate_to_sync_thrld {
            self.follower.join(at, from, membership, integration_cycle);
            self.enter(at, State::Sync);
        }
    }

    fn phase(&mut self, at: LocalTime, phase: Phase) {
        let thresholds = &self.parameters.thresholds;
        let is_stable = self.state == State::Stable;
        match phase {
            Phase::CycleStart => {
                let threshold = match is_stable {
                    true => thresholds.sc_stable_threshold_async,
                    false => thresholds.sc_sync_threshold_async,
                };
                match self.follower.is_in_wrong_clique(at, threshold) {
                    true => self.enter(at, State::Integrate),
                    false => self.follower.begin_cycle(),
                }
            }
            Phase::Evaluate => {
                let bits = self.follower.evaluate();
                self.evaluate(at, is_stable, bits);
            }
            Phase::Correct => {
                if let Some(by) = self.follower.correct() {
                    self.effects.push_back(Effect::Corrected { by, at });
                }
            }
        }
    }

    /// Synchronous clique detection.
    fn evaluate(&mut self, at: LocalTime, is_stable: bool, bits: u32) {
        let thresholds = &self.parameters.thresholds;
        let counted = &mut self.follower.cycles_counted;
        match is_stable {
            true if bits >= thresholds.sc_stable_threshold_sync => *counted = 0,
            true if *counted < self.parameters.num_unstable_cycles => *counted += 1,
            false if bits >= thresholds.sc_sync_threshold_sync => {
                *counted += 1;
                if *counted > self.parameters.num_stable_cycles {
                    *counted = 0;
                    self.enter(at, State::Stable);
                }
            }
            _ => self.enter(at, State::Integrate),
        }
    }
}
