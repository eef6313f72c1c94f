//! The channel, and the seam to a driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, Priority, SimTime, StreamId};

use super::access::AccessCategory;
use super::config::{RadioConfig, RadioError};
use super::kinds::Kinds;
use super::motion::{Motion, Step};
use super::ofdm::{OfdmRate, psdu_len};
use super::propagation::{Path, Position, milliwatt};
use super::station::{Reception, Station, Waiting};
use super::statistics::StationStatistics;
use crate::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// A broadcast channel.
pub struct RadioChannel {
    stations: Vec<Station>,
    places: BTreeMap<Attachment, usize>,
    rate: OfdmRate,
    path: Path,
    capture_ratio: Option<f64>,
    queue_len_max: usize,
    motion: Option<Arc<dyn Motion>>,
    kinds: Option<Arc<dyn Kinds>>,
    /// Time on the air by kind of message, where kinds are told apart.
    airtime: BTreeMap<Option<&'static str>, Duration>,
    transmissions: Vec<Transmission>,
    free: Vec<u32>,
}

/// A frame on the air, or room for one.
#[derive(Default)]
struct Transmission {
    frame: Option<FrameId>,
    sender: usize,
    started_at: SimTime,
    airtime: Duration,
    /// Who hears it: settled at its first bit, wherever they move.
    hearers: Vec<usize>,
}

/// Packed into the number of a [`MediumTimer`]. At one instant frames end before others start, and stations move
/// last: a signal that is over disturbs none, and one that starts is heard where everybody was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    End { transmission: u32 },
    Turn { station: usize },
    Move { station: usize },
}

/// Numbers of stations and transmissions are below 2^17.
const TURN_BIT: u32 = 1 << 30;
const MOVE_BIT: u32 = 1 << 31;

impl Timer {
    fn pack(self) -> MediumTimer {
        MediumTimer::new(match self {
            Self::End { transmission } => transmission,
            Self::Turn { station } => TURN_BIT | station as u32,
            Self::Move { station } => MOVE_BIT | station as u32,
        })
    }

    fn unpack(timer: MediumTimer) -> Self {
        let index = timer.number & !(TURN_BIT | MOVE_BIT);
        match timer.number & (TURN_BIT | MOVE_BIT) {
            MOVE_BIT => Self::Move { station: index as usize },
            TURN_BIT => Self::Turn { station: index as usize },
            _ => Self::End { transmission: index },
        }
    }
}

/// Streams of a station's backoff have its number; those of its fading this one more.
const FADING_STREAMS: u64 = 1 << 32;

impl RadioChannel {
    /// Builds the channel.
    ///
    /// # Errors
    /// [`RadioError`] for the first contradiction found.
    pub fn new(config: RadioConfig) -> Result<Self, RadioError> {
        config.check()?;
        let mut places = BTreeMap::new();
        let mut stations = Vec::with_capacity(config.stations.len());
        for (index, station) in config.stations.iter().enumerate() {
            if places.insert(station.attachment, index).is_some() {
                return Err(RadioError::AttachedTwice(station.attachment));
            }
            let rng = |base| random::stream(config.seed, Purpose::Medium, base + index as u64);
            let (backoff, fading) = (rng(0), rng(FADING_STREAMS));
            stations.push(Station::new(station.attachment, station.position, &config.access, backoff, fading));
        }
        Ok(Self {
            stations,
            places,
            rate: config.rate,
            path: Path::new(&config.propagation),
            capture_ratio: config.capture_db.map(milliwatt),
            queue_len_max: config.queue_len_max,
            motion: config.motion,
            kinds: config.kinds,
            airtime: BTreeMap::new(),
            transmissions: Vec::new(),
            free: Vec::new(),
        })
    }

    /// Moves a station. Frames on the air are heard where it was at their first bit. False if there is no such station.
    pub fn move_to(&mut self, attachment: Attachment, position: Position) -> bool {
        let place = self.places.get(&attachment);
        place.map(|index| self.stations[*index].position = position).is_some()
    }

    /// Asks where a station is from now on, and for a timer at its next step.
    fn follow(&mut self, now: SimTime, index: usize, out: &mut Vec<MediumOutput>) {
        let (Some(motion), Some(station)) = (&self.motion, self.stations.get_mut(index)) else { return };
        let Step { position, next } = motion.step(index, now);
        station.position = position;
        if let Some(at) = next {
            out.push(MediumOutput::Timer { at, timer: Timer::Move { station: index }.pack() });
        }
    }

    /// Where a station is.
    pub fn position(&self, attachment: Attachment) -> Option<Position> {
        self.places.get(&attachment).map(|index| self.stations[*index].position)
    }

    /// What a station did and met so far.
    pub fn statistics(&self, attachment: Attachment) -> Option<&StationStatistics> {
        self.places.get(&attachment).map(|index| &self.stations[*index].statistics)
    }

    /// Frames that wait in a station, without the one on the air.
    pub fn queue_len(&self, attachment: Attachment) -> Option<usize> {
        self.places.get(&attachment).map(|index| self.stations[*index].queue_len())
    }

    /// Asks for a timer at the next start of a station, unless one comes early enough to ask again.
    fn arm(&mut self, index: usize, out: &mut Vec<MediumOutput>) {
        let station = &mut self.stations[index];
        let Some(at) = station.next_start() else { return };
        if station.armed_for.is_none_or(|armed| armed > at) {
            station.armed_for = Some(at);
            out.push(MediumOutput::Timer { at, timer: Timer::Turn { station: index }.pack() });
        }
    }

    fn handle_turn(&mut self, now: SimTime, index: usize, out: &mut Vec<MediumOutput>) {
        let Some(station) = self.stations.get_mut(index) else { return };
        // An earlier timer may have been asked for after this one.
        if station.armed_for.is_some_and(|armed| armed <= now) {
            station.armed_for = None;
        }
        match station.begin_sending(now) {
            Some(waiting) => self.begin(now, index, waiting, out),
            None => self.arm(index, out),
        }
    }

    /// The first bit of a frame.
    fn begin(&mut self, now: SimTime, sender: usize, waiting: Waiting, out: &mut Vec<MediumOutput>) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.transmissions.push(Transmission::default());
            // No more than one a station, and a station has a number of 16 bits.
            (self.transmissions.len() - 1) as u32
        });
        let airtime = self.rate.airtime(waiting.psdu_len);
        let transmission = &mut self.transmissions[id as usize];
        *transmission = Transmission {
            frame: Some(waiting.frame),
            sender,
            started_at: now,
            airtime,
            hearers: core::mem::take(&mut transmission.hearers),
        };
        let from = self.stations[sender].position;
        for (index, station) in self.stations.iter_mut().enumerate() {
            if index == sender {
                continue;
            }
            if let Some(heard) = self.path.heard(from, station.position, &mut station.fading_rng) {
                station.begin_hearing(now, id, heard);
                transmission.hearers.push(index);
            }
        }
        out.push(MediumOutput::Timer { at: now + airtime, timer: Timer::End { transmission: id }.pack() });
    }

    /// The last bit of a frame.
    fn end(&mut self, now: SimTime, id: u32, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(transmission) = self.transmissions.get_mut(id as usize) else { return };
        let Some(frame) = transmission.frame.take() else { return };
        let (sender, departed_at) = (transmission.sender, transmission.started_at);
        let mut hearers = core::mem::take(&mut transmission.hearers);
        self.stations[sender].end_sending(now, transmission.airtime);
        if let Some(kinds) = &self.kinds {
            *self.airtime.entry(kinds.kind_of(frames.bytes(frame))).or_default() += transmission.airtime;
        }
        self.arm(sender, out);
        frames.label_mut(frame).arrived_at = Some(now);
        frames.retain(frame);
        let from = self.stations[sender].attachment;
        out.push(MediumOutput::Transmitted { from, frame, departed_at });
        for index in hearers.drain(..) {
            let station = &mut self.stations[index];
            if station.end_hearing(now, id, self.capture_ratio) == Some(Reception::Whole) {
                frames.retain(frame);
                out.push(MediumOutput::Deliver { to: station.attachment, frame, departed_at });
            }
            self.arm(index, out);
        }
        frames.release(frame);
        self.transmissions[id as usize].hearers = hearers;
        self.free.push(id);
    }
}

impl Medium for RadioChannel {
    fn tells_transmitted(&self, _from: Attachment) -> bool {
        true
    }

    fn start(&mut self, now: SimTime, _frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        for station in &mut self.stations {
            station.start(now);
        }
        for index in 0..self.stations.len() {
            self.follow(now, index, out);
        }
    }

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let mut discard = |reason| {
            let serial = frames.label(frame).serial.unwrap_or(0);
            let event = Event::of(EventKind::Discarded(reason), StreamId::NONE, serial);
            out.push(MediumOutput::Discard { node: from.node, event, frame });
        };
        let Some(index) = self.places.get(&from).copied() else { return discard(DiscardReason::WrongPort) };
        let psdu_len = psdu_len(frames.len_of(frame));
        let category = AccessCategory::of_priority(priority) as usize;
        let waiting = Waiting { frame, psdu_len, offered_at: now };
        if self.stations[index].offer(now, category, waiting, self.queue_len_max).is_err() {
            return discard(DiscardReason::QueueFull);
        }
        self.arm(index, out);
    }

    /// Sums over all stations; a frame counts as received once for each of them.
    fn series(&self) -> Vec<Series> {
        let all = || self.stations.iter().map(|station| &station.statistics);
        let count =
            |name, of: fn(&StationStatistics) -> u64| Series::total(name, "frames", all().map(of).sum::<u64>() as i64);
        let time = |name, of: fn(&StationStatistics) -> Duration| {
            Series::total(name, "ns", all().map(|one| of(one).as_ns()).sum())
        };
        let by_kind = self.airtime.iter().map(|(kind, airtime)| {
            Series::total(format!("on the air: {}", kind.unwrap_or("none of these")), "ns", airtime.as_ns())
        });
        let longest = all().map(|one| one.access_delay_max.as_ns()).max().unwrap_or(0);
        let mut series = vec![
            count("frames", |one| one.sent),
            count("received", |one| one.received),
            count("lost to others at the same time", |one| one.lost_to_overlap),
            count("lost while sending", |one| one.lost_to_own_transmission),
            count("too weak to decode", |one| one.too_weak),
            count("refused by full queues", |one| one.refused),
            time("on the air", |one| one.sent_airtime),
        ];
        series.extend(by_kind);
        series.push(time("waited for the channel", |one| one.access_delay));
        series.push(Series::total("longest wait for the channel", "ns", longest));
        series
    }

    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        match Timer::unpack(timer) {
            Timer::End { transmission } => self.end(now, transmission, frames, out),
            Timer::Turn { station } => self.handle_turn(now, station, out),
            Timer::Move { station } => self.follow(now, station, out),
        }
    }
}
