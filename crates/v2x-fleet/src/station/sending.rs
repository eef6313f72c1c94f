//! From a message that is due to a frame.

use chronoseal_core::{Event, EventKind, LocalTime, Output, PortId, Priority, Transmit, Work};
use chronoseal_media::radio::AccessCategory;
use chronoseal_wire::its::geonetworking::Area;
use chronoseal_wire::its::{Cam, Cpm, Denm, ReferencePosition, Situation, UperError, Vam};

use super::{Hazard, ItsStation, MessageKind, STATIONARY_VEHICLE};
use crate::envelope::{Envelope, Identity};
use crate::generation::{Due, INTERVAL_MIN};
use crate::road::State;

/// A DENM is for whoever is within so much `[m]`.
const RELEVANCE_M: u16 = 500;

/// Messages of this station so far, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacketCounts {
    sent: [u64; MessageKind::ALL.len()],
    delivered: [u64; MessageKind::ALL.len()],
    discarded: u64,
    withheld: u64,
}

impl PacketCounts {
    fn next(count: &mut u64) -> u64 {
        *count += 1;
        *count - 1
    }
    pub(super) fn next_sent(&mut self, kind: MessageKind) -> u64 {
        Self::next(&mut self.sent[kind.index()])
    }
    pub(super) fn next_delivered(&mut self, kind: MessageKind) -> u64 {
        Self::next(&mut self.delivered[kind.index()])
    }
    pub(super) fn next_discarded(&mut self) -> u64 {
        Self::next(&mut self.discarded)
    }
    pub(super) fn next_withheld(&mut self) -> u64 {
        Self::next(&mut self.withheld)
    }
}

/// A message that waits for its signature.
#[derive(Debug)]
pub(super) struct Outgoing {
    kind: MessageKind,
    is_charged: bool,
    /// When it was made, and all work for it began.
    due: LocalTime,
    identity: Identity,
    now_us: u64,
    at: Told,
    broadcast: Option<(u16, Area)>,
    message: Vec<u8>,
}

/// Where a message says that its sender is: latitude and longitude `[0.1 microdegree]`, speed `[cm/s]`, heading
/// `[0.1 degree]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) latitude: i32,
    pub(super) longitude: i32,
    pub(super) speed_cm_s: u16,
    pub(super) heading: u16,
}

/// A station knows so many of its latest frames again: more than it sends while one of its CAMs is fresh.
const SAID_MAX: usize = 32;

/// What any message fits into.
const MESSAGE_LEN_MAX: usize = Cpm::LEN_MAX;
const _: () =
    assert!(Cam::LEN_MAX <= MESSAGE_LEN_MAX && Denm::LEN_MAX <= MESSAGE_LEN_MAX && Vam::LEN_MAX <= MESSAGE_LEN_MAX);

impl ItsStation {
    /// The CAM that is due; `None` if it cannot be written, which only a place off the map can bring about.
    pub(super) fn cam(&mut self, now: LocalTime, state: &State, due: Due) -> Option<Outgoing> {
        let (station_id, now_us) = (self.identity().station_id, self.tai_us(now));
        let cam = self.composer.cam(now, now_us, station_id, state, due.with_low_frequency);
        let at = Told {
            latitude: cam.position.latitude,
            longitude: cam.position.longitude,
            speed_cm_s: cam.speed_cm_s,
            heading: cam.heading,
        };
        self.outgoing(MessageKind::Cam, now, at, |message| cam.emit(message))
    }

    /// A message that waits for its signature; `None` if it cannot be written.
    pub(super) fn outgoing(
        &self,
        kind: MessageKind,
        now: LocalTime,
        at: Told,
        emit: impl FnOnce(&mut [u8]) -> Result<usize, UperError>,
    ) -> Option<Outgoing> {
        let mut message = [0; MESSAGE_LEN_MAX];
        let len = emit(&mut message).ok()?;
        Some(Outgoing {
            kind,
            is_charged: false,
            due: now,
            identity: self.identity(),
            now_us: self.tai_us(now),
            at,
            broadcast: None,
            message: message[..len].to_vec(),
        })
    }

    /// A DENM of what is on the road; `None` where the station is not.
    pub(super) fn denm(&mut self, now: LocalTime, hazard: &Hazard) -> Option<Outgoing> {
        let state = self.mobility.state_at(now)?;
        let (latitude, longitude) = self.config.origin.to_wgs84(state.x_m, state.y_m);
        let (identity, now_us) = (self.identity(), self.tai_us(now));
        let denm = Denm {
            station_id: identity.station_id,
            originating_station_id: identity.station_id,
            sequence_number: 1,
            detection_time_ms: self.tai_us(hazard.at) / 1000,
            reference_time_ms: now_us / 1000,
            event_position: ReferencePosition::at(latitude, longitude),
            ..denm_of(hazard)
        };
        let at = Told {
            latitude,
            longitude,
            speed_cm_s: libm::round(state.speed_m_s * 100.0) as u16,
            heading: libm::round(state.heading_deg * 10.0) as u16 % 3600,
        };
        let area = Area { latitude, longitude, distance_a_m: RELEVANCE_M, ..Area::default() };
        let outgoing = self.outgoing(MessageKind::Denm, now, at, |message| denm.emit(message))?;
        self.packet_number = self.packet_number.wrapping_add(1);
        Some(Outgoing { broadcast: Some((self.packet_number, area)), ..outgoing })
    }

    /// Signs and hands over what is to be sent; before that, says what that takes.
    pub(super) fn send(&mut self, now: LocalTime, frame: &mut [u8]) -> Option<Output> {
        let outgoing = self.outgoing.front_mut()?;
        if let Some(operation) = self.credentials.signs_by().filter(|_| !outgoing.is_charged) {
            outgoing.is_charged = true;
            return Some(Output::Work(Work::of(operation, outgoing.message.len() as u32)));
        }
        let outgoing = self.outgoing.pop_front()?;
        let kind = outgoing.kind;
        let bytes = self.seal(&outgoing)?;
        frame.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        if kind == MessageKind::Cam {
            self.changer.count_message();
        }
        if self.said.len() == SAID_MAX {
            self.said.pop_front();
        }
        self.said.push_back(super::table::hash(&bytes));
        let sequence = self.counts.next_sent(kind);
        let value = (now - outgoing.due).as_ps();
        self.base.push(Event { value, ..Event::of(EventKind::Sent, self.config.streams[kind.index()], sequence) });
        let priority = priority_of(kind);
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at: now, len: bytes.len(), token: None }))
    }

    /// The frame of a message. What cannot be signed is not sent; a ticket that has run out is the only way to that.
    fn seal(&mut self, outgoing: &Outgoing) -> Option<Vec<u8>> {
        let envelope = Envelope {
            kind: outgoing.kind,
            identity: outgoing.identity,
            user: self.config.road_user.map(|user| user.profile),
            now_us: outgoing.now_us,
            latitude: outgoing.at.latitude,
            longitude: outgoing.at.longitude,
            speed_cm_s: outgoing.at.speed_cm_s,
            heading: outgoing.at.heading,
            broadcast: outgoing.broadcast,
            message: &outgoing.message,
        };
        let (kind, now_us, event) = (outgoing.kind, outgoing.now_us, envelope.event());
        let secure = self
            .credentials
            .subsystem()
            .map(|signed| move |packet: &[u8], out: &mut Vec<u8>| signed.secure(kind, now_us, event, packet, out));
        envelope.seal(secure).ok()
    }

    /// A frame with a message of this kind, made now whether one is due or not; `None` where the station is not.
    pub(crate) fn make(&mut self, now: LocalTime, kind: MessageKind) -> Option<Vec<u8>> {
        let state = self.mobility.state_at(now)?;
        self.replace_ticket_that_is_over(now);
        let outgoing = match kind {
            MessageKind::Cam => self.cam(now, &state, Due { with_low_frequency: false })?,
            MessageKind::Denm => {
                let hazard = Hazard { at: now, every: INTERVAL_MIN, cause_code: STATIONARY_VEHICLE };
                self.denm(now, &hazard)?
            }
            MessageKind::Cpm => self.cpm(now, &state, &[], true)?,
            MessageKind::Vam => self.vam(now, &state, true)?,
        };
        self.counts.next_sent(outgoing.kind);
        self.seal(&outgoing)
    }
}

/// What a DENM says of a hazard wherever it was noticed.
fn denm_of(hazard: &Hazard) -> Denm {
    Denm {
        transmission_interval_ms: Some((hazard.every.as_ns() / 1_000_000).clamp(1, 10_000) as u16),
        situation: Some(Situation { information_quality: 3, cause_code: hazard.cause_code, sub_cause_code: 0 }),
        ..Denm::default()
    }
}

/// Length of every DENM that a station sends: all its fields have a fixed one `[byte]`.
pub(super) fn denm_len() -> usize {
    let hazard = Hazard { at: LocalTime::ZERO, every: INTERVAL_MIN, cause_code: STATIONARY_VEHICLE };
    denm_of(&hazard).emit(&mut [0; Denm::LEN_MAX]).unwrap_or(Denm::LEN_MAX)
}

/// The queue that a message waits in (TS 102 636-4-2: its traffic class as an access category).
pub const fn priority_of(kind: MessageKind) -> Priority {
    match kind {
        MessageKind::Cam | MessageKind::Cpm | MessageKind::Vam => AccessCategory::BestEffort.priority(),
        MessageKind::Denm => AccessCategory::Video.priority(),
    }
}
