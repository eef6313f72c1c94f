//! One vehicle's sending side: identity, CAMs and packets.

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{Duration, LocalTime, SimTime};
use chronoseal_wire::its::Cam;

use super::config::{FleetConfig, FleetError};
use crate::composer::{Composer, ComposerConfig};
use crate::envelope::{Envelope, Identity, SealError};
use crate::generation::{Due, Generation};
use crate::policy::Changer;
use crate::road::{Dimensions, State};
use crate::security::Security;

/// A frame ready to send.
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    pub(super) pseudonym: u32,
    pub(super) with_certificate: bool,
}

/// One vehicle.
pub(super) struct Sender {
    name: String,
    pub(super) dimensions: Dimensions,
    pub(super) begins_at: SimTime,
    /// Where it is, while it is there.
    pub(super) state: Option<State>,
    pub(super) pseudonym: u32,
    pub(super) generation: Generation,
    /// `None` only while it decides.
    pub(super) changer: Option<Changer>,
    pub(super) silent_until: SimTime,
    /// When it last took up an identity or fell silent.
    pub(super) changed_at: Option<SimTime>,
    certificate_at: Option<SimTime>,
    composer: Composer,
    rng: ChaCha8Rng,
}

/// Streams of pseudonyms and of errors of place, beside those of the radio with the same purpose.
const PSEUDONYM_STREAMS: u64 = 1 << 33;
const ERROR_STREAMS: u64 = 1 << 34;

impl Sender {
    pub(super) fn new(config: &FleetConfig, index: usize) -> Self {
        let trip = &config.trips.trips[index];
        let mut rng = random::stream(config.seed, Purpose::Medium, PSEUDONYM_STREAMS + index as u64);
        // Vehicles do not tick together.
        let phase = random::uniform_i64(&mut rng, 0, crate::generation::INTERVAL_MIN.as_ps() - 1);
        let begins_at = trip.begins_at + Duration::from_ps(phase);
        // Who is there when the record begins was on its way before.
        let is_under_way = trip.begins_at == SimTime::ZERO;
        Self {
            name: trip.name.clone(),
            dimensions: trip.dimensions,
            begins_at,
            state: None,
            pseudonym: rng.next_u32(),
            generation: Generation::with_interval_min(config.cam_interval_min),
            changer: Some(Changer::new(&config.policy, config.seed, index as u64, local(begins_at), is_under_way)),
            silent_until: SimTime::ZERO,
            changed_at: None,
            certificate_at: None,
            composer: Composer::new(
                ComposerConfig {
                    origin: config.origin,
                    accuracy: config.accuracy,
                    dimensions: config.tells_dimensions.then_some(trip.dimensions),
                },
                random::stream(config.seed, Purpose::Medium, ERROR_STREAMS + index as u64),
            ),
            rng,
        }
    }

    /// Takes up an identity, and forgets whatever would tell of the one before.
    pub(super) fn change(&mut self, now: SimTime, silence: Duration, identity: Option<u32>) {
        self.pseudonym = identity.unwrap_or_else(|| self.rng.next_u32());
        self.silent_until = now + silence;
        self.changed_at = Some(now);
        self.certificate_at = None;
        self.composer.forget();
    }

    /// True from a change to some time behind its silence.
    pub(super) fn is_changing(&self, now: SimTime, around_change: Duration) -> bool {
        self.changed_at.is_some_and(|at| now <= at.max(self.silent_until) + around_change)
    }

    /// The next message.
    pub(super) fn compose(
        &mut self,
        config: &FleetConfig,
        now: SimTime,
        state: &State,
        due: Due,
        security: Option<&mut (dyn Security + '_)>,
    ) -> Result<Message, FleetError> {
        let now_us = config.tai_us(now);
        let cam = self.composer.cam(local(now), now_us, self.pseudonym, state, due.with_low_frequency);
        let mut message = [0; Cam::LEN_MAX];
        let len = cam
            .emit(&mut message)
            .map_err(|error| FleetError::Message { vehicle: self.name.clone(), reason: error.to_string() })?;
        let with_certificate = security.is_some() && self.certificate_is_due(now, config.certificate_interval);
        let envelope = Envelope {
            identity: Identity::of_number(self.pseudonym),
            now_us,
            latitude: cam.position.latitude,
            longitude: cam.position.longitude,
            speed_cm_s: cam.speed_cm_s,
            heading: cam.heading,
            broadcast: None,
            message: &message[..len],
        };
        let bytes = envelope.seal(with_certificate, security).map_err(|error| match error {
            SealError::Packet(error) => FleetError::Message { vehicle: self.name.clone(), reason: error.to_string() },
            SealError::Security(error) => FleetError::Security(error),
        })?;
        if let Some(changer) = &mut self.changer {
            changer.count_message();
        }
        Ok(Message { bytes, pseudonym: self.pseudonym, with_certificate })
    }

    fn certificate_is_due(&mut self, now: SimTime, interval: Duration) -> bool {
        let is_due = self.certificate_at.is_none_or(|at| now - at >= interval);
        if is_due {
            self.certificate_at = Some(now);
        }
        is_due
    }
}

/// A time of the run on a clock that shows it exactly.
pub(super) fn local(at: SimTime) -> LocalTime {
    LocalTime::from_ps(at.as_ps())
}
