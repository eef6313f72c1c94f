//! Synchronisation masters: the end systems whose clocks make the time of the cluster.

use std::collections::VecDeque;

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use super::follower::{Follower, Phase};
use super::permanence::{Pending, Permanent};
use super::{Effect, Integrity, Parameters, Refusal};

/// States of a synchronisation master, as in the standard but for INIT, which is its constructor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynchronisationMasterState {
    /// It listens for a running cluster, or for one that starts.
    Integrate,
    /// It has heard a cluster that is too small to be joined at once and waits for a whole cycle of it.
    Wait4CycleStart,
    /// A cluster starts: it waits for the first cycle.
    Wait4CycleStartCs,
    /// It sends coldstart frames.
    Unsync,
    /// It has heard a coldstart frame, sends an acknowledge frame and waits for the answer.
    Flood,
    /// It runs in a cluster that may still be too small.
    TentativeSync,
    /// It runs in a cluster that is large enough.
    Sync,
    /// It has done so for a while.
    Stable,
}
use SynchronisationMasterState as State;

/// Where in the flood a master is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flood {
    /// Its own acknowledge frame is still to be sent.
    Offset,
    /// It is sent, and the window for its answer is not open yet.
    Waiting,
    /// An acknowledge frame counts.
    Window,
}

/// A synchronisation master.
#[derive(Clone, Debug)]
pub struct SynchronisationMaster {
    parameters: Parameters,
    /// Its bit in memberships.
    own_bit: u32,
    state: State,
    flood: Flood,
    /// `local_timer`.
    timer: Option<LocalTime>,
    follower: Follower,
    pending: Pending<usize>,
    effects: VecDeque<Effect<State>>,
}

impl SynchronisationMaster {
    /// The master number `index` of a cluster with so many compression masters, powered on at a time.
    ///
    /// # Panics
    /// If a membership has no bit for it.
    pub fn new(parameters: &Parameters, index: u8, compression_masters: usize, power_on: LocalTime) -> Self {
        assert!(usize::from(index) < super::MASTERS_MAX, "a membership has a bit for masters 0 to 31, not for {index}");
        Self {
            own_bit: 1 << index,
            state: State::Integrate,
            flood: Flood::Offset,
            timer: Some(power_on + parameters.sm_listen_timeout),
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

    /// True if it runs in a cluster that is large enough.
    pub fn is_synchronised(&self) -> bool {
        matches!(self.state, State::Sync | State::Stable)
    }

    /// Time of the cluster since its cycle 0 began; nothing while it is not in one that is large enough.
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
        self.next().map(|(at, _)| at)
    }

    /// What it did and wants done, in order.
    pub fn poll(&mut self) -> Option<Effect<State>> {
        self.effects.pop_front()
    }

    /// Does all that was to be done by a time.
    pub fn advance(&mut self, now: LocalTime) {
        while let Some((at, due)) = self.next().filter(|(at, _)| *at <= now) {
            match due {
                Due::Frame => {
                    if let Some(frame) = self.pending.take() {
                        self.handle(frame);
                    }
                }
                Due::Timer => self.time_out(at),
                Due::Phase(phase) => self.phase(at, phase),
            }
        }
    }

    /// What comes next; of one instant frames first, then the timer.
    fn next(&self) -> Option<(LocalTime, Due)> {
        let frame = self.pending.next_at().map(|at| (at, Due::Frame));
        let timer = self.timer.map(|at| (at, Due::Timer));
        let phase = self.runs().then(|| self.follower.next()).map(|(at, phase)| (at, Due::Phase(phase)));
        [frame, timer, phase].into_iter().flatten().min_by_key(|(at, due)| (*at, due.rank()))
    }

    /// True in states in which the local clock runs through cycles.
    fn runs(&self) -> bool {
        matches!(self.state, State::TentativeSync | State::Sync | State::Stable)
    }

    fn enter(&mut self, at: LocalTime, to: State, timer: Option<Duration>) {
        self.timer = timer.map(|timer| at + timer);
        let from = std::mem::replace(&mut self.state, to);
        if from != to {
            self.effects.push_back(Effect::Entered { from, to, at });
        }
    }

    fn send(&mut self, due: LocalTime, kind: PcfType, integration_cycle: u32) {
        let frame = self.parameters.frame(kind, self.own_bit, integration_cycle);
        self.effects.push_back(Effect::Send { frame, due });
    }

    fn handle(&mut self, frame: Permanent<usize>) {
        match frame.kind {
            PcfType::ColdStart => self.coldstart(&frame),
            PcfType::ColdStartAck => self.acknowledge(&frame),
            PcfType::Integration => self.integration(&frame),
        }
    }

    fn coldstart(&mut self, frame: &Permanent<usize>) {
        let is_usable = match self.parameters.cluster.integrity {
            Integrity::Standard => true,
            // A master of high integrity does not answer itself.
            Integrity::High => frame.membership != self.own_bit,
        };
        if is_usable && matches!(self.state, State::Unsync | State::Flood | State::Wait4CycleStartCs) {
            self.flood = Flood::Offset;
            self.enter(frame.at, State::Flood, Some(self.parameters.cs_offset));
        }
    }

    fn acknowledge(&mut self, frame: &Permanent<usize>) {
        let is_usable = match self.state {
            State::Integrate | State::Unsync | State::Wait4CycleStartCs | State::TentativeSync | State::Sync => true,
            State::Flood => self.flood == Flood::Window,
            State::Stable => self.parameters.stable_ca_enabled,
            State::Wait4CycleStart => false,
        };
        if is_usable {
            self.enter(frame.at, State::Wait4CycleStartCs, Some(self.parameters.ca_offset));
        }
    }

    fn integration(&mut self, frame: &Permanent<usize>) {
        let thresholds = &self.parameters.thresholds;
        let bits = frame.membership.count_ones();
        let join = |follower: &mut Follower| {
            follower.join(frame.at, frame.from, frame.membership, frame.integration_cycle);
        };
        let wait = self.parameters.cluster.integration_cycle + self.parameters.acceptance_window / 2;
        match self.state {
            State::Integrate if bits >= thresholds.sm_integrate_to_sync_thrld => {
                join(&mut self.follower);
                self.enter(frame.at, State::Sync, None);
            }
            State::Integrate if bits >= thresholds.sm_integrate_to_wait_thrld => {
                join(&mut self.follower);
                self.enter(frame.at, State::Wait4CycleStart, Some(wait));
            }
            State::Unsync if bits >= thresholds.sm_unsync_to_sync_thrld => {
                join(&mut self.follower);
                self.enter(frame.at, State::Sync, None);
            }
            State::Unsync if bits >= thresholds.sm_unsync_to_tentative_thrld => {
                join(&mut self.follower);
                self.enter(frame.at, State::TentativeSync, None);
            }
            State::Wait4CycleStart => {
                let is_in_schedule =
                    self.follower.sort_next(frame.at, frame.from, frame.membership, frame.integration_cycle);
                if !is_in_schedule && bits >= thresholds.sm_wait_threshold_async {
                    join(&mut self.follower);
                    self.enter(frame.at, State::Wait4CycleStart, Some(wait));
                }
            }
            State::TentativeSync | State::Sync | State::Stable => {
                self.follower.sort(frame.at, frame.from, frame.membership, frame.integration_cycle);
            }
            _ => {}
        }
    }

    fn time_out(&mut self, at: LocalTime) {
        let parameters = &self.parameters;
        let half_window = parameters.ca_acceptance_window / 2;
        let coldstart = Some(parameters.sm_coldstart_timeout);
        match self.state {
            State::Integrate | State::Unsync => {
                self.enter(at, State::Unsync, coldstart);
                self.send(at, PcfType::ColdStart, 0);
            }
            State::Flood => match self.flood {
                Flood::Offset => {
                    self.flood = Flood::Waiting;
                    self.timer = Some(at + (parameters.ca_round_trip - half_window));
                    self.send(at, PcfType::ColdStartAck, 0);
                }
                Flood::Waiting => {
                    self.flood = Flood::Window;
                    self.timer = Some(at + half_window + half_window);
                }
                Flood::Window => self.enter(at, State::Unsync, coldstart),
            },
            State::Wait4CycleStartCs => {
                self.follower.begin_at(at, 0);
                self.enter(at, State::TentativeSync, None);
            }
            State::Wait4CycleStart => match self.follower.end_of_wait(at) {
                0 => self.enter(at, State::Unsync, Some(parameters.sm_restart_timeout_sync)),
                _ => self.enter(at, State::TentativeSync, None),
            },
            State::TentativeSync | State::Sync | State::Stable => self.timer = None,
        }
    }

    fn phase(&mut self, at: LocalTime, phase: Phase) {
        match phase {
            Phase::CycleStart => self.begin_cycle(at),
            Phase::Evaluate => self.evaluate(at),
            Phase::Correct => {
                if let Some(by) = self.follower.correct() {
                    self.effects.push_back(Effect::Corrected { by, at });
                }
            }
        }
    }

    /// Asynchronous clique detection, then the dispatch of the cycle's integration frame.
    fn begin_cycle(&mut self, at: LocalTime) {
        let thresholds = &self.parameters.thresholds;
        let threshold = match self.state {
            State::TentativeSync => thresholds.sm_tentative_sync_threshold_async,
            State::Sync => thresholds.sm_sync_threshold_async,
            _ => thresholds.sm_stable_threshold_async,
        };
        if self.follower.is_in_wrong_clique(at, threshold) {
            return match self.state {
                State::Stable => self.enter(at, State::Integrate, Some(self.parameters.sm_restart_timeout)),
                _ => self.enter(at, State::Unsync, Some(self.parameters.sm_restart_timeout_async)),
            };
        }
        self.follower.begin_cycle();
        self.send(at, PcfType::Integration, self.follower.cycle());
    }

    /// Synchronous clique detection.
    fn evaluate(&mut self, at: LocalTime) {
        let bits = self.follower.evaluate();
        let thresholds = &self.parameters.thresholds;
        let restart = Some(self.parameters.sm_restart_timeout_sync);
        match self.state {
            State::TentativeSync if bits < thresholds.sm_tentative_sync_threshold_sync => {
                self.enter(at, State::Unsync, restart);
            }
            State::TentativeSync if bits >= thresholds.sm_tentative_to_sync_thrld => {
                self.follower.cycles_counted = 0;
                self.enter(at, State::Sync, None);
            }
            State::TentativeSync => self.count_stable_cycle(at),
            State::Sync if bits == 0 => self.enter(at, State::Integrate, restart),
            State::Sync if bits < thresholds.sm_sync_threshold_sync => self.enter(at, State::Unsync, restart),
            State::Sync => self.count_stable_cycle(at),
            State::Stable if bits >= thresholds.sm_stable_threshold_sync => self.follower.cycles_counted = 0,
            State::Stable if self.follower.cycles_counted < self.parameters.num_unstable_cycles => {
                self.follower.cycles_counted += 1;
            }
            State::Stable => self.enter(at, State::Integrate, Some(self.parameters.sm_restart_timeout)),
            _ => {}
        }
    }

    fn count_stable_cycle(&mut self, at: LocalTime) {
        if self.follower.cycles_counted < self.parameters.num_stable_cycles {
            self.follower.cycles_counted += 1;
            return;
        }
        self.follower.cycles_counted = 0;
        self.enter(at, State::Stable, None);
    }
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    Frame,
    Timer,
    Phase(Phase),
}

impl Due {
    fn rank(self) -> u8 {
        match self {
            Self::Frame => 0,
            Self::Timer => 1,
            Self::Phase(_) => 2,
        }
    }
}
