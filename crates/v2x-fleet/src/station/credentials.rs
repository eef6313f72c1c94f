//! Under which identity a station speaks, and how it knows that of others.

use std::collections::BTreeMap;
use std::sync::Arc;

use chronoseal_core::Operation;
use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_v2x::crypto::{Curve, EcdsaSignature, KeyError, PublicPoint, SigningKey, SoftwareKey};
use chronoseal_v2x::types::{ThreeDLocation, Time32, Time64};
use chronoseal_v2x::verify::Verifier;
use chronoseal_v2x::vss::{Effect, KeyRing, LayerId, NetworkIds, PoolConfig, Preset, Request, Station, Surroundings};

use super::accord::Pseudonym;
use crate::envelope::Identity;
use crate::office::Office;
use crate::security::SecurityError;
use crate::station::MessageKind;

/// What a station shows of itself and trusts in others.
pub enum Credentials {
    /// Packets are not secured: an identity is a number, and every message is believed.
    Unsigned(Box<Unsigned>),
    /// Packets are signed under tickets and verified.
    Signed(Box<Signed>),
}

/// Identities without certificates.
#[derive(Debug)]
pub struct Unsigned {
    number: u32,
    numbers: ChaCha8Rng,
}

/// Identities by authorization tickets: the security subsystem of a station.
pub struct Signed {
    office: Arc<Office>,
    station: Station<u32>,
    layer: LayerId,
    keys: Keys,
    /// Number of the ticket in use.
    number: u32,
    /// When the ticket in use was asked for.
    asked_at: Time32,
    /// When this station asks for its own: all of them at once.
    asks_at: Time32,
    identity: Identity,
    /// Numbers of tickets to come; the station's own chances follow.
    numbers: ChaCha8Rng,
    verifier: Verifier,
    asks: bool,
}

const DAY_S: u32 = 86_400;

/// Private keys by the numbers of their tickets.
#[derive(Default)]
struct Keys(BTreeMap<u32, SoftwareKey>);

struct Borrowed<'a>(&'a mut SoftwareKey);

impl KeyRing<u32> for Keys {
    fn signing_key(&mut self, name: &u32) -> Result<Box<dyn SigningKey + '_>, KeyError> {
        let key = self.0.get_mut(name).ok_or_else(|| KeyError::Device(format!("there is no key {name}")))?;
        Ok(Box::new(Borrowed(key)))
    }
}

impl SigningKey for Borrowed<'_> {
    fn curve(&self) -> Curve {
        self.0.curve()
    }
    fn public_point(&self) -> PublicPoint {
        self.0.public_point()
    }
    fn sign_digest(&mut self, digest: &[u8]) -> Result<EcdsaSignature, KeyError> {
        self.0.sign_digest(digest)
    }
}

/// What a signature on a curve is charged as.
pub const fn sign_operation(curve: Curve) -> Operation {
    Operation(match curve {
        Curve::NistP256 => "p256-sign",
        Curve::NistP384 => "p384-sign",
        Curve::BrainpoolP256r1 => "brainpoolp256r1-sign",
        Curve::BrainpoolP384r1 => "brainpoolp384r1-sign",
    })
}

/// What the check of a signature on a curve is charged as.
pub const fn verify_operation(curve: Curve) -> Operation {
    Operation(match curve {
        Curve::NistP256 => "p256-verify",
        Curve::NistP384 => "p384-verify",
        Curve::BrainpoolP256r1 => "brainpoolp256r1-verify",
        Curve::BrainpoolP384r1 => "brainpoolp384r1-verify",
    })
}

impl Credentials {
    /// Numbers drawn from `numbers`, the first one now.
    pub fn unsigned(mut numbers: ChaCha8Rng) -> Self {
        Self::Unsigned(Box::new(Unsigned { number: numbers.next_u32(), numbers }))
    }

    /// Tickets of `office`, whose numbers are drawn from `numbers`, the first one now; `now_us` is TAI since 2004-01-01
    /// `[us]`. A station that `asks` requests certificates it does not know and sends its own when it is asked for.
    ///
    /// # Errors
    /// [`SecurityError`] if there is no ticket.
    pub fn signed(
        office: Arc<Office>,
        mut numbers: ChaCha8Rng,
        now_us: u64,
        asks: bool,
    ) -> Result<Self, SecurityError> {
        // Tickets come one by one, each when it is taken up: what is never used costs nothing.
        let pool = PoolConfig { never_asks: true, ..PoolConfig::default() };
        let number = numbers.next_u32();
        let verifier = office.verifier();
        // When to change is the business of `policy::Changer`, which knows of the others.
        let mut station = Station::new(pool, Preset::None.policy(), Time64(now_us), &mut numbers);
        let layer = station.register_request_network_id_change();
        let identity = Identity::of_number(number);
        let keys = Keys::default();
        // Some time within the day before, as good as drawn.
        let asks_at = Time32(Time64(now_us).time32().0.saturating_sub(number % DAY_S));
        let mut signed = Signed {
            office,
            station,
            layer,
            keys,
            number,
            asked_at: asks_at,
            asks_at,
            identity,
            numbers,
            verifier,
            asks,
        };
        signed.add_ticket(number, asks_at, now_us)?;
        signed.serve();
        Ok(Self::Signed(Box::new(signed)))
    }

    /// What shows on the air.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Unsigned(unsigned) => Identity::of_number(unsigned.number),
            Self::Signed(signed) => signed.identity,
        }
    }

    /// Forgets the messages and the certificates of others.
    pub(super) fn forget_others(&mut self) {
        if let Self::Signed(signed) = self {
            signed.verifier = signed.office.verifier();
        }
    }

    pub(super) fn pseudonym(&self) -> Pseudonym {
        let (number, asked_at_s) = match self {
            Self::Unsigned(unsigned) => (unsigned.number, 0),
            Self::Signed(signed) => (signed.number, signed.asked_at.0),
        };
        Pseudonym { number, asked_at_s, station_id: self.identity().station_id }
    }

    /// Takes up a new identity.
    pub(super) fn renew(&mut self, now_us: u64) -> Result<(), SecurityError> {
        let has_run_out = self.has_run_out(now_us);
        match self {
            Self::Unsigned(unsigned) => {
                unsigned.number = unsigned.numbers.next_u32();
                Ok(())
            }
            Self::Signed(signed) => {
                if has_run_out {
                    signed.asks_at = Time64(now_us).time32();
                }
                let number = signed.numbers.next_u32();
                signed.take_up(number, signed.asks_at, now_us)
            }
        }
    }

    /// Takes up an identity that may have been another station's.
    pub(super) fn take_up(&mut self, pseudonym: Pseudonym, now_us: u64) -> Result<(), SecurityError> {
        match self {
            Self::Unsigned(unsigned) => {
                unsigned.number = pseudonym.number;
                Ok(())
            }
            Self::Signed(signed) => signed.take_up(pseudonym.number, Time32(pseudonym.asked_at_s), now_us),
        }
    }

    /// Whether the ticket in use is no longer valid.
    pub(super) fn has_run_out(&self, now_us: u64) -> bool {
        match self {
            Self::Unsigned(_) => false,
            Self::Signed(signed) => {
                let now = Time64(now_us).time32();
                signed.station.pool().in_use().is_some_and(|ticket| ticket.valid_until <= now)
            }
        }
    }

    /// What a signature is charged as; `None` if nothing is signed.
    pub(super) fn signs_by(&self) -> Option<Operation> {
        match self {
            Self::Unsigned(_) => None,
            Self::Signed(signed) => Some(sign_operation(signed.office.curve())),
        }
    }

    pub(super) fn subsystem(&mut self) -> Option<&mut Signed> {
        match self {
            Self::Unsigned(_) => None,
            Self::Signed(signed) => Some(signed),
        }
    }

    pub(super) fn verifier(&mut self) -> Option<&mut Verifier> {
        self.subsystem().map(|signed| &mut signed.verifier)
    }
}

impl Signed {
    fn add_ticket(&mut self, number: u32, asked_at: Time32, now_us: u64) -> Result<(), SecurityError> {
        let (certificate, key) = self.office.issue(number, asked_at, Time64(now_us).time32())?;
        self.keys.0.insert(number, key);
        self.station.add_pseudonym(certificate, number, Time64(now_us))?;
        (self.number, self.asked_at) = (number, asked_at);
        Ok(())
    }

    fn take_up(&mut self, number: u32, asked_at: Time32, now_us: u64) -> Result<(), SecurityError> {
        if number == self.number {
            return Ok(());
        }
        self.add_ticket(number, asked_at, now_us)?;
        self.station.change_pseudonym(Time64(now_us), &mut self.numbers)?;
        self.serve();
        Ok(())
    }

    /// Does what the station wants done: here all layers are ready at once, and nothing is written down.
    fn serve(&mut self) {
        while let Some(effect) = self.station.poll_effect() {
            match effect {
                Effect::AskLayers { .. } => {
                    self.station.answer(self.layer, true);
                }
                Effect::Changed(NetworkIds { certificate, station_id, link_address }) => {
                    self.identity = Identity { station_id, link_address };
                    self.verifier.peers_mut().set_own([certificate]);
                }
                Effect::DeleteKey(number) => {
                    self.keys.0.remove(&number);
                }
                Effect::Persist(_) | Effect::Abandoned(_) | Effect::RequestPseudonyms(_) => {}
            }
        }
    }

    /// Appends a packet with a message of this kind, signed under the ticket of the moment. A DENM's has the place of its event.
    pub(super) fn secure(
        &mut self,
        kind: MessageKind,
        now_us: u64,
        event: Option<(i32, i32)>,
        packet: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), SecurityError> {
        let now = Time64(now_us);
        let (is_cam, is_denm) = (kind == MessageKind::Cam, kind == MessageKind::Denm);
        // [TS 103 097 §7.1.1] CAMs ask for certificates and answer; [§7.1.2] a DENM always has its certificate; [§7.1.3] others
        // ask for none, and have theirs once a second or when it is wanted.
        let peers = self.verifier.peers_mut();
        let wanted = if self.asks && is_cam { peers.inline_request(now) } else { Vec::new() };
        let is_wanted = self.asks && !is_denm && peers.take_own_wanted();
        let request = Request {
            position: None,
            ssp_needed: None,
            psid: kind.psid(),
            payload: packet,
            // The highest value stands for an elevation that is not known.
            location: event.map(|(latitude, longitude)| ThreeDLocation { latitude, longitude, elevation: u16::MAX }),
            always_certificate: is_denm || is_wanted,
            wanted: &wanted,
        };
        let around = Surroundings::default();
        let signed = self.station.create_signature(now, &request, &around, &mut self.keys, &mut self.numbers);
        out.extend_from_slice(&signed?);
        self.serve();
        Ok(())
    }
}
