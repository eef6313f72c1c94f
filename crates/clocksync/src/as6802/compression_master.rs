//! Compression masters: the switches that make one frame of those of all synchronisation masters.

mod collections;

use std::collections::VecDeque;

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use self::collections::{Collections, Point};
use super::follower::{Follower, Phase};
use super::permanence::{Pending, Permanent};
use super::{Effect, Integrity, Parameters, Refusal};

/// States of a compression master, as in the standard but for INIT, which is its constructor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompressionMasterState {
    /// It listens for a running cluster.
    Integrate,
    /// Standard integrity: acknowledge frames have passed, integration frames have to follow.
    Wait4In,
    /// Standard integrity: a coldstart frame has passed, and acknowledge frames may.
    CaEnabled,
    /// It knows of no cluster.
    Unsync,
    /// High integrity: it has heard a small cluster and waits for a whole cycle of it.
    Wait4CycleStart,
    /// High integrity: it runs in a cluster that may still be too small.
    TentativeSync,
    /// It runs in a cluster that is large enough.
    Sync,
    /// It has done so for a while.
    Stable,
}
use CompressionMasterState as State;

/// A compression master.
#[derive(Clone, Debug)]
pub struct CompressionMaster {
    parameters: Parameters,
    state: State,
    /// `local_timer`.
    timer: Option<LocalTime>,
    follower: Follower,
    /// Each with its sender's bit alone.
    pending: Pending<()>,
    collections: Collections,
    /// Compressed frames that are dispatched after the dispatch delay, the earliest first.
    dispatches: VecDeque<Dispatch>,
    effects: VecDeque<Effect<State>>,
    refused: VecDeque<Refusal>,
}

#[derive(Clone, Copy, Debug)]
struct Dispatch {
    due: LocalTime,
    frame: ProtocolControlFrame,
}

impl CompressionMaster {
    /// A compression master that is powered on at a time.
    pub fn new(parameters: &Parameters, power_on: LocalTime) -> Self {
        Self {
            state: State::Integrate,
            timer: Some(power_on + parameters.cm_listen_timeout),
            follower: Follower::new(parameters, parameters.cm_scheduled_pit, 1),
            pending: Pending::new(&parameters.cluster, parameters.max_integration_cycles),
            collections: Collections::new(parameters),
            dispatches: VecDeque::new(),
            effects: VecDeque::new(),
            refused: VecDeque::new(),
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

    /// Takes a frame that arrived at a time, by a way over which the masters with these bits send.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn receive(&mut self, arrived: LocalTime, masters: u32, frame: &ProtocolControlFrame) -> Result<(), Refusal> {
        let bit = frame.membership_new;
        if !bit.is_power_of_two() || masters & bit == 0 {
            return Err(Refusal::Membership);
        }
        self.pending.add(arrived, (), frame)
    }

    /// When [`Self::advance`] has something to do, if nothing arrives before.
    pub fn wake_at(&self) -> Option<LocalTime> {
        self.next().map(|(at, _)| at)
    }

    /// What it did and wants done, in order.
    pub fn poll(&mut self) -> Option<Effect<State>> {
        self.effects.pop_front()
    }

    /// Why frames were not used that were refused only after they had become permanent, in order.
    pub fn poll_refused(&mut self) -> Option<Refusal> {
        self.refused.pop_front()
    }

    /// Does all that was to be done by a time.
    pub fn advance(&mut self, now: LocalTime) {
        while let Some((at, due)) = self.next().filter(|(at, _)| *at <= now) {
            match due {
                Due::Frame => {
                    if let Some(frame) = self.pending.take() {
                        self.handle(&frame);
                    }
                }
                Due::Window => self.collections.end_window(),
                Due::Point => {
                    if let Some(point) = self.collections.take_point() {
                        self.compressed(at, &point);
                    }
                }
                Due::Dispatch => {
                    if let Some(Dispatch { due, frame }) = self.dispatches.pop_front() {
                        self.effects.push_back(Effect::Send { frame, due });
                    }
                }
                Due::Timer => self.time_out(at),
                Due::Phase(phase) => self.phase(at, phase),
            }
        }
    }

    fn next(&self) -> Option<(LocalTime, Due)> {
        let frame = self.pending.next_at().map(|at| (at, Due::Frame));
        let window = self.collections.window_ends_at().map(|at| (at, Due::Window));
        let point = self.collections.point_at().map(|at| (at, Due::Point));
        let dispatch = self.dispatches.front().map(|dispatch| (dispatch.due, Due::Dispatch));
        let timer = self.timer.map(|at| (at, Due::Timer));
        let phase = self.runs().then(|| self.follower.next()).map(|(at, phase)| (at, Due::Phase(phase)));
        [frame, window, point, dispatch, timer, phase].into_iter().flatten().min_by_key(|(at, due)| (*at, due.rank()))
    }

    /// True in states in which the local clock runs through cycles.
    fn runs(&self) -> bool {
        matches!(self.state, State::TentativeSync | State::Sync | State::Stable)
    }

    fn is_standard(&self) -> bool {
        self.parameters.cluster.integrity == Integrity::Standard
    }

    fn enter(&mut self, at: LocalTime, to: State, timer: Option<Duration>) {
        self.timer = timer.map(|timer| at + timer);
        let from = std::mem::replace(&mut self.state, to);
        if from != to {
            self.effects.push_back(Effect::Entered { from, to, at });
        }
    }

    /// A frame has become permanent.
    fn handle(&mut self, frame: &Permanent<()>) {
        match frame.kind {
            PcfType::ColdStart if self.passes_coldstart() => {
                self.relay(frame);
                if self.is_standard() {
                    self.enter(frame.at, State::CaEnabled, Some(self.parameters.cm_ca_enabled_timeout));
                }
            }
            PcfType::ColdStart => {}
            PcfType::ColdStartAck if !self.is_standard() => self.relay(frame),
            PcfType::ColdStartAck | PcfType::Integration => {
                if let Err(refusal) = self.collections.add(frame) {
                    self.refused.push_back(refusal);
                }
            }
        }
    }

    /// Coldstart frames are blocked while a cluster starts or runs, by those who check their neighbours; CoRE4INET relays them in the
    /// same states of high integrity.
    fn passes_coldstart(&self) -> bool {
        match self.state {
            State::Unsync => true,
            State::Wait4CycleStart | State::TentativeSync => !self.is_standard(),
            State::Integrate | State::Wait4In | State::CaEnabled | State::Sync | State::Stable => false,
        }
    }

    /// Passes a start-up frame on as soon as it is permanent.
    fn relay(&mut self, frame: &Permanent<()>) {
        let frame_out = self.parameters.frame(frame.kind, frame.membership, frame.integration_cycle);
        self.effects.push_back(Effect::Send { frame: frame_out, due: frame.at });
    }

    /// Dispatches the compressed frame of a point after the dispatch delay.
    fn dispatch(&mut self, at: LocalTime, point: &Point) {
        let frame = self.parameters.frame(point.kind, point.membership, point.integration_cycle);
        self.dispatches.push_back(Dispatch { due: at + self.parameters.dispatch_delay, frame });
    }

    fn compressed(&mut self, at: LocalTime, point: &Point) {
        match point.kind {
            PcfType::ColdStartAck => self.compressed_acknowledge(at, point),
            _ if self.is_standard() => self.compressed_standard(at, point),
            _ => self.compressed_high(at, point),
        }
    }

    fn compressed_acknowledge(&mut self, at: LocalTime, point: &Point) {
        let is_start_elsewhere = point.membership.count_ones() >= self.parameters.thresholds.cm_unsync_to_sync_thrld;
        if self.state == State::Unsync && is_start_elsewhere {
            // It missed the coldstart frame, but enough masters answer one.
            self.enter(at, State::CaEnabled, Some(self.parameters.cm_ca_enabled_timeout));
        }
        if self.state == State::CaEnabled {
            self.dispatch(at, point);
        }
    }

    /// Integration frames, standard integrity: only what is in schedule, and of that the best, goes on.
    fn compressed_standard(&mut self, at: LocalTime, point: &Point) {
        let thresholds = &self.parameters.thresholds;
        let bits = point.membership.count_ones();
        let joins = match self.state {
            State::Integrate => bits >= thresholds.cm_integrate_to_sync_thrld,
            State::Unsync | State::Wait4In => bits >= thresholds.cm_unsync_to_sync_thrld,
            _ => false,
        };
        if joins {
            self.join(at, point);
            self.enter(at, State::Sync, None);
            self.dispatch(at, point);
        } else if self.runs() && self.follower.sort(at, 0, point.membership, point.integration_cycle) {
            let waits = |dispatch: &&mut Dispatch| dispatch.frame.kind == PcfType::Integration;
            match self.dispatches.iter_mut().find(waits) {
                Some(dispatch) if dispatch.frame.membership_new.count_ones() > bits => {}
                Some(_) => {
                    self.dispatches.retain(|dispatch| dispatch.frame.kind != PcfType::Integration);
                    self.dispatch(at, point);
                }
                None => self.dispatch(at, point),
            }
        }
    }

    /// Integration frames, high integrity: every compressed frame goes on.
    fn compressed_high(&mut self, at: LocalTime, point: &Point) {
        self.dispatch(at, point);
        let thresholds = self.parameters.thresholds;
        let bits = point.membership.count_ones();
        let wait = self.parameters.cluster.integration_cycle + self.parameters.acceptance_window / 2;
        match self.state {
            State::Integrate if bits >= thresholds.cm_integrate_to_sync_thrld => {
                self.join(at, point);
                self.enter(at, State::Sync, None);
            }
            State::Integrate if bits >= thresholds.cm_integrate_to_wait_thrld => {
                self.join(at, point);
                self.enter(at, State::Wait4CycleStart, Some(wait));
            }
            State::Unsync if bits >= thresholds.cm_unsync_to_sync_thrld => {
                self.join(at, point);
                self.enter(at, State::Sync, None);
            }
            State::Unsync if bits >= thresholds.cm_unsync_to_tentative_thrld => {
                self.join(at, point);
                self.enter(at, State::TentativeSync, None);
            }
            State::Wait4CycleStart => {
                let is_in_schedule = self.follower.sort_next(at, 0, point.membership, point.integration_cycle);
                if !is_in_schedule && bits >= thresholds.cm_wait_threshold_async {
                    self.join(at, point);
                    self.enter(at, State::Wait4CycleStart, Some(wait));
                }
            }
            State::TentativeSync | State::Sync | State::Stable => {
                self.follower.sort(at, 0, point.membership, point.integration_cycle);
            }
            _ => {}
        }
    }

    fn join(&mut self, at: LocalTime, point: &Point) {
        self.follower.join(at, 0, point.membership, point.integration_cycle);
    }

    fn time_out(&mut self, at: LocalTime) {
        match self.state {
            State::CaEnabled => self.enter(at, State::Wait4In, Some(self.parameters.cm_wait_4_in_timeout)),
            State::Integrate | State::Wait4In => self.enter(at, State::Unsync, None),
            State::Wait4CycleStart => match self.follower.end_of_wait(at) {
                0 => self.enter(at, State::Unsync, None),
                _ => self.enter(at, State::TentativeSync, None),
            },
            State::Unsync | State::TentativeSync | State::Sync | State::Stable => self.timer = None,
        }
    }

    fn phase(&mut self, at: LocalTime, phase: Phase) {
        match phase {
            Phase::CycleStart => self.follower.begin_cycle(),
            Phase::Evaluate => self.evaluate(at),
            Phase::Correct => {
                if let Some(by) = self.follower.correct() {
                    self.effects.push_back(Effect::Corrected { by, at });
                }
            }
        }
    }

    /// Asynchronous, then synchronous clique detection, both at the end of the acceptance window.
    fn evaluate(&mut self, at: LocalTime) {
        let thresholds = self.parameters.thresholds;
        let bits = self.follower.evaluate();
        let restart = Some(self.parameters.cm_restart_timeout);
        let threshold_async = match self.state {
            State::TentativeSync => thresholds.cm_tentative_sync_threshold_async,
            State::Sync => thresholds.cm_sync_threshold_async,
            _ => thresholds.cm_stable_threshold_async,
        };
        if self.follower.is_in_wrong_clique(at, threshold_async) {
            return match self.state {
                State::TentativeSync => self.enter(at, State::Unsync, None),
                _ => self.enter(at, State::Integrate, restart),
            };
        }
        match self.state {
            State::TentativeSync if bits < thresholds.cm_tentative_sync_threshold_sync => {
                self.enter(at, State::Unsync, None);
            }
            State::TentativeSync if bits >= thresholds.cm_tentative_to_sync_thrld => {
                self.follower.cycles_counted = 0;
                self.enter(at, State::Sync, None);
            }
            State::Sync if bits < thresholds.cm_sync_threshold_sync => {
                self.follower.cycles_counted = 0;
                match self.is_standard() {
                    true => self.enter(at, State::Integrate, restart),
                    false => self.enter(at, State::TentativeSync, None),
                }
            }
            State::Sync if self.follower.cycles_counted < self.parameters.num_stable_cycles => {
                self.follower.cycles_counted += 1;
            }
            State::Sync => {
                self.follower.cycles_counted = 0;
                self.enter(at, State::Stable, None);
            }
            State::Stable if bits >= thresholds.cm_stable_threshold_sync => self.follower.cycles_counted = 0,
            State::Stable if self.follower.cycles_counted < self.parameters.num_unstable_cycles => {
                self.follower.cycles_counted += 1;
            }
            State::Stable => self.enter(at, State::Integrate, restart),
            _ => {}
        }
    }
}

/// What comes next. Of one instant frames come before the end of the window that they are in, and a compressed point before the
/// evaluation of the acceptance window that it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    Frame,
    Window,
    Point,
    Dispatch,
    Timer,
    Phase(Phase),
}

impl Due {
    fn rank(self) -> u8 {
        match self {
            Self::Frame => 0,
            Self::Window => 1,
            Self::Point => 2,
            Self::Dispatch => 3,
            Self::Timer => 4,
            Self::Phase(_) => 5,
        }
    }
}
