//! One station as a node: sends signed CAMs by the rules and a DENM when it is told to, checks what it hears.
//!
//! For live runs and small simulations; a fleet has a driver of its own ([`crate::simulation`]).

use std::collections::VecDeque;

use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, Output, PortId, SimTime,
    StreamId, Transmit,
};
use chronoseal_media::radio::AccessCategory;
use chronoseal_wire::its::geonetworking::Area;
use chronoseal_wire::its::{BTP_PORT_CAM, BTP_PORT_DENM, Cam, Denm, ReferencePosition, Situation};

use crate::envelope::{Envelope, Opened, open};
use crate::generation::{Generation, INTERVAL_MIN};
use crate::road::{Origin, State};
use crate::security::Security;

/// Stream of CAMs in events.
pub const CAM_STREAM: StreamId = StreamId(0);
/// Stream of DENMs in events.
pub const DENM_STREAM: StreamId = StreamId(1);

/// A station that drives straight on.
#[derive(Clone, PartialEq, Debug)]
pub struct ItsStationConfig {
    /// StationID; addresses are made from it.
    pub pseudonym: u32,
    /// Where it is at the start of the run.
    pub state: State,
    /// Where on the ellipsoid the plane touches.
    pub origin: Origin,
    /// TAI since 2004-01-01 when its clock shows zero [us].
    pub starts_at_us: u64,
    /// When it sends its first CAM. Of stations that do not hear each other and begin together, every message collides
    /// where both are heard.
    pub first_cam_at: LocalTime,
    /// When it begins to tell of a stationary vehicle at its place, and how often then.
    pub event: Option<(LocalTime, Duration)>,
}

/// The station.
pub struct ItsStation<S> {
    config: ItsStationConfig,
    security: S,
    generation: Generation,
    certificate_at: Option<SimTime>,
    running: bool,
    next_cam_at: LocalTime,
    next_denm_at: Option<LocalTime>,
    denms: u16,
    sent: [u64; 2],
    heard: [u64; 2],
    told: VecDeque<Event>,
    last: LocalTime,
}

/// A whole certificate goes along this often.
const CERTIFICATE_INTERVAL: Duration = Duration::from_s(1);
/// A DENM is for whoever is within so much [m].
const RELEVANCE_M: u16 = 500;
/// CauseCodeType of a stationary vehicle.
const STATIONARY_VEHICLE: u8 = 94;

impl<S: Security> ItsStation<S> {
    /// A station that signs and checks by `security`.
    pub fn new(config: ItsStationConfig, security: S) -> Self {
        Self {
            next_denm_at: config.event.map(|(at, _)| at),
            next_cam_at: config.first_cam_at,
            config,
            security,
            generation: Generation::default(),
            certificate_at: None,
            running: false,
            denms: 0,
            sent: [0; 2],
            heard: [0; 2],
            told: VecDeque::new(),
            last: LocalTime::from_ps(i64::MIN),
        }
    }

    fn now_us(&self, now: LocalTime) -> u64 {
        self.config.starts_at_us.saturating_add_signed(now.as_ps() / 1_000_000)
    }

    fn state_at(&self, now: LocalTime) -> State {
        let (sin, cos) = libm::sincos(self.config.state.heading_deg.to_radians());
        let way_m = self.config.state.speed_m_s * now.since_zero().as_secs_f64();
        let State { x_m, y_m, .. } = self.config.state;
        State { x_m: x_m + way_m * sin, y_m: y_m + way_m * cos, ..self.config.state }
    }

    /// A frame around a message; `None` if it cannot be made, which only a place off the map can bring about.
    fn seal(
        &mut self,
        now: LocalTime,
        state: &State,
        message: &[u8],
        broadcast: Option<(u16, Area)>,
    ) -> Option<Vec<u8>> {
        let (latitude, longitude) = self.config.origin.to_wgs84(state.x_m, state.y_m);
        let at = SimTime::from_ps(now.as_ps());
        let with_certificate = self.certificate_at.is_none_or(|last| at - last >= CERTIFICATE_INTERVAL);
        if with_certificate {
            self.certificate_at = Some(at);
        }
        let envelope = Envelope {
            pseudonym: self.config.pseudonym,
            now_us: self.now_us(now),
            with_certificate,
            latitude,
            longitude,
            speed_cm_s: libm::round(state.speed_m_s * 100.0) as u16,
            heading: libm::round(state.heading_deg * 10.0) as u16 % 3600,
            broadcast,
            message,
        };
        envelope.seal(Some(&mut self.security)).ok()
    }

    fn cam(&mut self, now: LocalTime) -> Option<Vec<u8>> {
        let state = self.state_at(now);
        self.generation.check(SimTime::from_ps(now.as_ps()), &state)?;
        let (latitude, longitude) = self.config.origin.to_wgs84(state.x_m, state.y_m);
        let cam = Cam {
            station_id: self.config.pseudonym,
            generation_delta_time_ms: (self.now_us(now) / 1000) as u16,
            position: ReferencePosition::at(latitude, longitude),
            heading: libm::round(state.heading_deg * 10.0) as u16 % 3600,
            speed_cm_s: libm::round(state.speed_m_s * 100.0).min(16_382.0) as u16,
            drive_direction: 0,
            ..Cam::default()
        };
        let mut message = [0; Cam::LEN_MAX];
        let len = cam.emit(&mut message).ok()?;
        self.seal(now, &state, &message[..len], None)
    }

    fn denm(&mut self, now: LocalTime) -> Option<Vec<u8>> {
        let state = self.state_at(now);
        let (latitude, longitude) = self.config.origin.to_wgs84(state.x_m, state.y_m);
        let now_ms = self.now_us(now) / 1000;
        let (first, interval) = self.config.event?;
        let denm = Denm {
            station_id: self.config.pseudonym,
            originating_station_id: self.config.pseudonym,
            sequence_number: 1,
            detection_time_ms: self.now_us(first) / 1000,
            reference_time_ms: now_ms,
            event_position: ReferencePosition::at(latitude, longitude),
            transmission_interval_ms: Some((interval.as_ns() / 1_000_000).clamp(1, 10_000) as u16),
            situation: Some(Situation { information_quality: 3, cause_code: STATIONARY_VEHICLE, sub_cause_code: 0 }),
            ..Denm::default()
        };
        let mut message = [0; Denm::LEN_MAX];
        let len = denm.emit(&mut message).ok()?;
        self.denms = self.denms.wrapping_add(1);
        let area = Area { latitude, longitude, distance_a_m: RELEVANCE_M, ..Area::default() };
        self.seal(now, &state, &message[..len], Some((self.denms, area)))
    }

    fn receive(&mut self, now: LocalTime, bytes: &[u8]) {
        let now_us = self.now_us(now);
        let discarded = |reason| Event::of(EventKind::Discarded(reason), StreamId::NONE, 0);
        let event = match open(bytes, now_us, Some(&mut self.security)) {
            Opened::Message(BTP_PORT_CAM, message) => match Cam::parse(message) {
                Ok(_) => self.delivered(CAM_STREAM),
                Err(error) => discarded(error.into()),
            },
            Opened::Message(BTP_PORT_DENM, message) => match Denm::parse(message) {
                Ok(_) => self.delivered(DENM_STREAM),
                Err(error) => discarded(error.into()),
            },
            Opened::Message(..) => discarded(DiscardReason::UnknownStream),
            Opened::Malformed => discarded(DiscardReason::Malformed),
            Opened::Refused => discarded(DiscardReason::TagMismatch),
        };
        self.told.push_back(event);
    }

    fn delivered(&mut self, stream: StreamId) -> Event {
        let count = &mut self.heard[stream.index()];
        *count += 1;
        Event::of(EventKind::Delivered, stream, *count - 1)
    }

    /// Hands a frame to the driver.
    fn transmit(&mut self, now: LocalTime, stream: StreamId, bytes: &[u8], frame: &mut [u8]) -> Option<Output> {
        frame.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let count = &mut self.sent[stream.index()];
        *count += 1;
        self.told.push_back(Event::of(EventKind::Sent, stream, *count - 1));
        let category = if stream == DENM_STREAM { AccessCategory::Video } else { AccessCategory::BestEffort };
        let (priority, len) = (category.priority(), bytes.len());
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at: now, len, token: None }))
    }
}

impl<S: Security> Node for ItsStation<S> {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        if now < self.last {
            return Err(HandleError::TimeRanBackwards { last: self.last, now });
        }
        self.last = now;
        match input {
            Input::Frame { port: PortId(0), bytes, .. } => self.receive(now, bytes),
            Input::Frame { port, .. } => return Err(HandleError::UnknownPort(port)),
            Input::Transmitted { token, .. } => return Err(HandleError::UnknownToken(token.id())),
            Input::Command(Command::Start) => {
                self.running = true;
                self.next_cam_at = now.max(self.config.first_cam_at);
            }
            Input::Command(Command::Stop) => self.running = false,
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(event) = self.told.pop_front() {
            return Output::Event(event);
        }
        if !self.running {
            return Output::Timeout(None);
        }
        if self.next_denm_at.is_some_and(|at| at <= now) {
            let interval = self.config.event.map(|(_, interval)| interval.max(INTERVAL_MIN));
            self.next_denm_at = interval.map(|interval| now + interval);
            if let Some(bytes) = self.denm(now)
                && let Some(output) = self.transmit(now, DENM_STREAM, &bytes, frame)
            {
                return output;
            }
        }
        if self.next_cam_at <= now {
            self.next_cam_at = now + INTERVAL_MIN;
            if let Some(bytes) = self.cam(now)
                && let Some(output) = self.transmit(now, CAM_STREAM, &bytes, frame)
            {
                return output;
            }
        }
        let next = self.next_denm_at.map_or(self.next_cam_at, |at| at.min(self.next_cam_at));
        Output::Timeout(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tickets::Tickets;
    use chronoseal_core::node::FRAME_LEN_MAX;
    use chronoseal_v2x::crypto::Curve;

    const STARTS_AT_US: u64 = 722_000_000_000_000;

    fn station(pseudonym: u32, event: Option<(LocalTime, Duration)>) -> ItsStation<Tickets> {
        let state = State { speed_m_s: 50.0, heading_deg: 90.0, ..State::default() };
        let origin = Origin { latitude_deg: 48.77, longitude_deg: 9.18 };
        let config = ItsStationConfig {
            pseudonym,
            state,
            origin,
            starts_at_us: STARTS_AT_US,
            first_cam_at: LocalTime::ZERO,
            event,
        };
        ItsStation::new(config, Tickets::new(Curve::NistP256, STARTS_AT_US, 1).expect("certificates"))
    }

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    /// Drives one station alone; frames with the times they were sent [ms].
    fn sent(station: &mut ItsStation<Tickets>, until_ms: i64) -> Vec<(i64, Vec<u8>)> {
        let mut frames = Vec::new();
        let mut now = at(0);
        station.handle_input(now, Input::Command(Command::Start)).expect("it may start");
        loop {
            let mut frame = [0; FRAME_LEN_MAX];
            match station.poll_output(now, &mut frame) {
                Output::Transmit(transmit) => {
                    frames.push((now.as_ps() / 1_000_000_000, frame[..transmit.len].to_vec()));
                }
                Output::Timeout(Some(next)) if next <= at(until_ms) => now = next,
                Output::Timeout(_) => return frames,
                _ => {}
            }
        }
    }

    fn heard(station: &mut ItsStation<Tickets>, ms: i64, bytes: &[u8]) -> Event {
        station.handle_input(at(ms), Input::Frame { port: PortId(0), rx_at: at(ms), bytes }).expect("a frame");
        match station.poll_output(at(ms), &mut [0; FRAME_LEN_MAX]) {
            Output::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn stations_of_one_authority_understand_each_other() {
        let frames = sent(&mut station(7, Some((at(250), Duration::from_ms(500)))), 1_000);
        // 50 m/s: a CAM every 100 ms; DENMs at 250 and 750 ms.
        let times: Vec<_> = frames.iter().map(|frame| frame.0).collect();
        assert_eq!(times, [0, 100, 200, 250, 300, 400, 500, 600, 700, 750, 800, 900, 1_000]);
        let mut receiver = station(8, None);
        let streams: Vec<_> = frames
            .iter()
            .map(|(ms, bytes)| {
                let event = heard(&mut receiver, *ms, bytes);
                assert_eq!(event.kind, EventKind::Delivered, "{ms} ms");
                event.stream
            })
            .collect();
        assert_eq!(streams.iter().filter(|stream| **stream == DENM_STREAM).count(), 2);
        let replayed = heard(&mut receiver, 1_000, &frames[12].1);
        assert_eq!(replayed.kind, EventKind::Discarded(DiscardReason::TagMismatch));
    }

    #[test]
    fn refuses_what_is_broken_foreign_or_unsigned() {
        let frames = sent(&mut station(7, None), 0);
        let good = &frames[0].1;
        let kind = |bytes: &[u8]| heard(&mut station(8, None), 0, bytes).kind;
        assert_eq!(kind(good), EventKind::Delivered);
        for at in [30, 100, good.len() - 1] {
            let mut broken = good.clone();
            broken[at] ^= 1;
            assert_eq!(kind(&broken), EventKind::Discarded(DiscardReason::TagMismatch), "byte {at}");
        }
        assert_eq!(kind(&good[..40]), EventKind::Discarded(DiscardReason::Malformed));
        let mut foreign = good.clone();
        foreign[12..14].copy_from_slice(&[0x88, 0xb5]);
        assert_eq!(kind(&foreign), EventKind::Discarded(DiscardReason::Malformed));
        let mut unsigned = good.clone();
        unsigned[14] = 0x11;
        assert_eq!(kind(&unsigned), EventKind::Discarded(DiscardReason::TagMismatch));
    }

    #[test]
    fn says_when_the_driver_is_wrong() {
        let mut station = station(7, None);
        let frame = Input::Frame { port: PortId(1), rx_at: at(5), bytes: &[] };
        assert_eq!(station.handle_input(at(5), frame), Err(HandleError::UnknownPort(PortId(1))));
        let backwards = Err(HandleError::TimeRanBackwards { last: at(5), now: at(4) });
        assert_eq!(station.handle_input(at(4), Input::Timeout), backwards);
    }
}
