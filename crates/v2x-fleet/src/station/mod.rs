//! An ITS station as a node: sends CAMs, CPMs and VAMs by the rules and DENMs when it is told of a hazard, changes its
//! pseudonym by a policy, checks what it hears and hands up what is good.
//!
//! It is built of [`Credentials`] (pseudonyms, signatures, verification: the station of `chronoseal_v2x`), [`Mobility`]
//! (where it is), a [`FrameTable`] (what is in a frame, worked out once a process) and, for policies by which vehicles agree,
//! a [`ChangeAccord`]. Each signature made or verified is [`Work`](chronoseal_core::Work) before its effect. A message is judged as of the time
//! its last bit came in, however long it waits for the processor.
//!
//! Its events: `Sent`, `Delivered` and `Discarded` with the stream and how many of that stream this station has sent,
//! taken or refused before; `PseudonymChanged`, `KeptSilent` and `Hushed`.

mod accord;
mod change;
#[cfg(test)]
mod contract;
mod credentials;
mod lengths;
mod mobility;
mod perception;
mod reception;
mod refusal;
mod sending;
#[cfg(test)]
mod services_tests;
mod stack;
mod surroundings;
mod table;
#[cfg(test)]
mod tests;
mod vulnerable;

pub use accord::{CHANGE_ACCORD, ChangeAccord, MemberId};
pub use change::Kept;
pub use credentials::{Credentials, Signed, Unsigned, sign_operation, verify_operation};
pub use lengths::{frame_len_max, message_len_max};
pub use mobility::Mobility;
pub use perception::{RANGE_MAX_MM, Sight};
pub use reception::ReceivedMessage;
pub use refusal::discard_reason;
pub use sending::priority_of;
pub use stack::{HANDED_MAX, HandedOn, Maker, StationStack};
pub use table::{Content, Frame, FrameTable, MessageKind};
pub use vulnerable::{INTERVAL_MAX as VAM_INTERVAL_MAX, RoadUser};

pub use crate::envelope::Identity;

use std::collections::VecDeque;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{
    Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, StreamId,
};

use crate::accuracy::Accuracy;
use crate::composer::{Composer, ComposerConfig};
use crate::generation::{Generation, INTERVAL_MIN};
use crate::policy::{Changer, Policy};
use crate::road::{Dimensions, Origin};
use perception::Perception;
use reception::Reception;
use sending::{Outgoing, PacketCounts};
use surroundings::Heard;
use vulnerable::Awareness;

/// Stream of CAMs in events, unless the configuration says otherwise.
pub const CAM_STREAM: StreamId = StreamId(0);
/// Stream of DENMs in events, unless the configuration says otherwise.
pub const DENM_STREAM: StreamId = StreamId(1);
/// Stream of CPMs in events, unless the configuration says otherwise.
pub const CPM_STREAM: StreamId = StreamId(2);
/// Stream of VAMs in events, unless the configuration says otherwise.
pub const VAM_STREAM: StreamId = StreamId(3);

/// What a station is told when it is built.
#[derive(Clone, PartialEq, Debug)]
pub struct ItsStationConfig {
    /// Where on the ellipsoid the plane touches.
    pub origin: Origin,
    /// TAI since 2004-01-01 when its clock shows zero `[us]`.
    pub starts_at_us: u64,
    /// When it looks for the first time whether a CAM is due, and then every [`INTERVAL_MIN`]. Stations that begin together
    /// and do not hear each other collide wherever both are heard.
    pub first_look_at: LocalTime,
    /// Shortest time between two CAMs, T_GenCam_DCC: 100 ms to 1 s.
    pub cam_interval_min: Duration,
    /// True if it sends CAMs.
    pub sends_cams: bool,
    /// How well it knows what it tells.
    pub accuracy: Accuracy,
    /// Its size, if its CAMs tell that.
    pub dimensions: Option<Dimensions>,
    /// What it tells of by DENMs.
    pub hazard: Option<Hazard>,
    /// What it sees of the road's traffic, if it sends CPMs.
    pub sight: Option<Sight>,
    /// Which vulnerable road user it is, if it sends VAMs.
    pub road_user: Option<RoadUser>,
    /// When it changes its pseudonym.
    pub policy: Policy,
    /// What stays as it is when the pseudonym changes, against all rules. [`Kept::NOTHING`] but for stations that show what it
    /// gives away.
    pub keeps: Kept,
    /// True if it was on its way before the run: then it has had its pseudonym for some time.
    pub is_under_way: bool,
    /// A message that has waited longer for the processor is dropped unread.
    pub wait_max: Duration,
    /// Most messages kept for [`ItsStation::take_received`]; the oldest are dropped. 0: none are.
    pub received_max: usize,
    /// Streams in events, by [`MessageKind::index`].
    pub streams: [StreamId; MessageKind::ALL.len()],
    /// Seeds policy and errors of the sensors.
    pub seed: u64,
    /// Tells its chances from those of others with the same seed.
    pub index: u64,
}

/// Something on the road, to be told again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// When it is noticed, at the place the station is at then.
    pub at: LocalTime,
    /// Time between two DENMs, 100 ms at least.
    pub every: Duration,
    /// CauseCodeType; 94 is a stationary vehicle.
    pub cause_code: u8,
}

/// CauseCodeType of a stationary vehicle.
pub const STATIONARY_VEHICLE: u8 = 94;

impl ItsStationConfig {
    /// A station that looks for the first time when its clock shows zero, with sensors that do not err, that never changes its
    /// pseudonym and tells no size; 100 ms between CAMs at least, messages wait for 100 ms at most.
    pub fn new(origin: Origin, starts_at_us: u64) -> Self {
        Self {
            origin,
            starts_at_us,
            first_look_at: LocalTime::ZERO,
            cam_interval_min: INTERVAL_MIN,
            sends_cams: true,
            accuracy: Accuracy { position_m: 0.0, speed_m_s: 0.0, heading_deg: 0.0 },
            dimensions: None,
            hazard: None,
            sight: None,
            road_user: None,
            policy: chronoseal_v2x::vss::Preset::None.into(),
            keeps: Kept::NOTHING,
            is_under_way: false,
            wait_max: Duration::from_ms(100),
            received_max: 0,
            streams: [CAM_STREAM, DENM_STREAM, CPM_STREAM, VAM_STREAM],
            seed: 1,
            index: 0,
        }
    }
}

/// The station.
pub struct ItsStation {
    base: NodeBase<VecDeque<Event>>,
    config: ItsStationConfig,
    credentials: Credentials,
    mobility: Mobility,
    table: FrameTable,
    accord: Option<(ChangeAccord, MemberId)>,
    composer: Composer,
    generation: Generation,
    changer: Changer,
    /// When it begins to look around after a change.
    beats: ChaCha8Rng,
    /// The link address it keeps, if it is one that does.
    kept_address: Option<[u8; 6]>,
    /// Number of its latest GeoBroadcast under the pseudonym of the moment.
    packet_number: u16,
    /// `None` if its policy asks for nobody.
    heard: Option<Heard>,
    silent_until: LocalTime,
    is_running: bool,
    /// True from its first look at the road until it has left.
    is_there: bool,
    next_look_at: Option<LocalTime>,
    /// After it has left: when it forgets whom it has heard.
    forgets_at: Option<LocalTime>,
    /// True if it had nothing to do when it was to look next, so that whatever keeps it from looking is the host.
    is_idle: bool,
    next_denm_at: Option<LocalTime>,
    reception: Reception,
    /// Messages that wait for their signatures, in order.
    outgoing: VecDeque<Outgoing>,
    /// What is random in CPMs and VAMs.
    sensors: ChaCha8Rng,
    perception: Perception,
    awareness: Awareness,
    counts: PacketCounts,
    /// Prints of the frames it has sent lately.
    said: VecDeque<u64>,
    received: VecDeque<ReceivedMessage>,
}

/// So long after it has left a station can hear nobody any more, and needs no memory for that.
const FORGETS_AFTER: Duration = Duration::from_s(1);
/// Streams of the random numbers of errors, beside those of the radio with the same purpose.
const ERROR_STREAMS: u64 = 1 << 34;
/// Streams of the phase purpose for the beats of stations, behind those of roads and policies.
const BEAT_STREAMS: u64 = 1 << 35;
/// Streams of the random numbers of what sensors see, behind those of errors.
const SENSOR_STREAMS: u64 = 1 << 36;

impl ItsStation {
    /// A station. Without an accord a policy by which vehicles agree finds nobody to agree with.
    pub fn new(
        config: ItsStationConfig,
        credentials: Credentials,
        mobility: Mobility,
        table: FrameTable,
        accord: Option<(ChangeAccord, MemberId)>,
    ) -> Self {
        let composer =
            ComposerConfig { origin: config.origin, accuracy: config.accuracy, dimensions: config.dimensions };
        let errors = random::stream(config.seed, Purpose::Medium, ERROR_STREAMS + config.index);
        let changer =
            Changer::new(&config.policy, config.seed, config.index, config.first_look_at, config.is_under_way);
        let accord = accord.filter(|_| config.policy.agrees());
        if let Some((accord, place)) = &accord {
            accord.join(*place);
        }
        Self {
            base: NodeBase::new(0..1),
            composer: Composer::new(composer, errors),
            generation: Generation::with_interval_min(config.cam_interval_min),
            changer,
            beats: random::stream(config.seed, Purpose::Phase, BEAT_STREAMS + config.index),
            kept_address: config.keeps.link_address.then(|| credentials.identity().link_address),
            packet_number: 0,
            heard: config.policy.asks_for_neighbours().then(Heard::default),
            silent_until: LocalTime::from_ps(i64::MIN),
            is_running: false,
            is_there: false,
            next_look_at: None,
            forgets_at: None,
            is_idle: false,
            next_denm_at: config.hazard.map(|hazard| hazard.at),
            reception: Reception::default(),
            outgoing: VecDeque::new(),
            sensors: random::stream(config.seed, Purpose::Medium, SENSOR_STREAMS + config.index),
            perception: Perception::default(),
            awareness: Awareness::default(),
            counts: PacketCounts::default(),
            said: VecDeque::new(),
            received: VecDeque::new(),
            config,
            credentials,
            mobility,
            table,
            accord,
        }
    }

    /// What shows of it on the air.
    pub fn identity(&self) -> Identity {
        let identity = self.credentials.identity();
        Identity { link_address: self.kept_address.unwrap_or(identity.link_address), ..identity }
    }

    /// Where it goes.
    pub fn mobility(&self) -> &Mobility {
        &self.mobility
    }

    /// Something on the road, from now on instead of what it was told before. The driver wakes the station for it only
    /// when it looks around next.
    pub fn report_hazard(&mut self, hazard: Hazard) {
        self.next_denm_at = Some(hazard.at);
        self.config.hazard = Some(hazard);
    }

    /// The next message that was taken, oldest first; see [`ItsStationConfig::received_max`].
    pub fn take_received(&mut self) -> Option<ReceivedMessage> {
        self.received.pop_front()
    }

    /// TAI since 2004-01-01 `[us]`.
    fn tai_us(&self, now: LocalTime) -> u64 {
        self.config.starts_at_us.saturating_add_signed(now.as_ps().div_euclid(1_000_000))
    }

    /// Looks where it is, thinks about its pseudonym, and has messages to send if some are due.
    fn look(&mut self, now: LocalTime, planned: LocalTime) {
        let Some(state) = self.mobility.state_at(now) else {
            self.next_look_at = None;
            self.is_there = false;
            self.forgets_at = Some(now + FORGETS_AFTER);
            if let Some((accord, me)) = &self.accord {
                accord.leaves(*me);
            }
            return;
        };
        let next = planned + INTERVAL_MIN;
        // Whoever was kept busy for longer does not make up for it.
        self.next_look_at = Some(if next > now { next } else { now + INTERVAL_MIN });
        if !std::mem::replace(&mut self.is_there, true) {
            self.tell_accord();
        }
        let planned_next = self.next_look_at;
        self.replace_ticket_that_is_over(now);
        self.follow_orders(now);
        let is_hushed = self.think(now, &state);
        // Whoever has another pseudonym now looks again by another beat, and says nothing before.
        if self.next_look_at != planned_next {
            return;
        }
        // Being woken late is no part of the rules, and a station that sends as often as it may would miss every other turn.
        // What its own processor kept it from is.
        let as_of = if self.is_idle { planned } else { now };
        let is_silent = is_hushed || now < self.silent_until;
        let cam = self.config.sends_cams.then(|| self.generation.check(as_of, &state)).flatten();
        if let Some(due) = cam.filter(|_| self.may_say(MessageKind::Cam, is_silent)) {
            let cam = self.cam(now, &state, due);
            self.outgoing.extend(cam);
        }
        if let Some((seen, with_sensors)) = self.perceive(now, as_of, &state)
            && self.may_say(MessageKind::Cpm, is_silent)
        {
            let cpm = self.cpm(now, &state, &seen, with_sensors);
            self.outgoing.extend(cpm);
        }
        if let Some(with_low_frequency) =
            self.config.road_user.and_then(|user| self.awareness.check(as_of, &user, &state))
            && self.may_say(MessageKind::Vam, is_silent)
        {
            let vam = self.vam(now, &state, with_low_frequency);
            self.outgoing.extend(vam);
        }
    }

    /// Whether a message that is due may be sent; one that may not is counted.
    fn may_say(&mut self, kind: MessageKind, is_silent: bool) -> bool {
        if is_silent {
            let withheld = self.counts.next_withheld();
            self.base.push(Event::of(EventKind::KeptSilent, self.config.streams[kind.index()], withheld));
        }
        !is_silent
    }

    /// When it wants to be woken.
    fn next_wake(&self) -> Option<LocalTime> {
        match (self.next_look_at, self.next_denm_at) {
            (Some(look), Some(denm)) => Some(look.min(denm)),
            // DENMs come from where it is, so not after it has left.
            (look, _) => look.or(self.forgets_at),
        }
    }
}

impl Node for ItsStation {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Frame { rx_at, bytes, .. } => {
                self.is_idle &= self.next_look_at.is_some_and(|at| at < now);
                self.reception.arrive(rx_at, bytes);
            }
            Input::Command(Command::Start) => {
                self.is_running = true;
                self.next_look_at = Some(now.max(self.config.first_look_at));
            }
            Input::Command(Command::Stop) => self.is_running = false,
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        loop {
            if let Some(output) = self.base.next(now, frame) {
                return output;
            }
            if !self.reception.is_idle() {
                match self.receive(now) {
                    Some(output) => return output,
                    None => continue,
                }
            }
            if !self.outgoing.is_empty() {
                match self.send(now, frame) {
                    Some(output) => return output,
                    None => continue,
                }
            }
            if !self.is_running {
                return Output::Timeout(None);
            }
            let is_there = self.next_look_at.is_some();
            if let (Some(at), Some(hazard)) = (self.next_denm_at.filter(|_| is_there), self.config.hazard)
                && at <= now
            {
                self.next_denm_at = Some(now + hazard.every.max(INTERVAL_MIN));
                let denm = self.denm(now, &hazard);
                self.outgoing.extend(denm);
                continue;
            }
            if let Some(planned) = self.next_look_at.filter(|at| *at <= now) {
                self.look(now, planned);
                self.is_idle = false;
                continue;
            }
            if self.forgets_at.is_some_and(|at| at <= now) {
                self.forgets_at = None;
                self.credentials.forget_others();
            }
            self.is_idle = true;
            return Output::Timeout(self.next_wake());
        }
    }
}
