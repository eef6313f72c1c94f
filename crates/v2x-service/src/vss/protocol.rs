//! Requests and answers as bytes: `docs/reference/vss-protocol.md`.

use chronoseal_v2x::types::{CertificateBuf, Psid, ThreeDLocation, Time64, TwoDLocation};
use chronoseal_v2x::verify::Outcome;
use chronoseal_v2x::vss::{Answered, LayerId, NetworkIds, Relevance, Surroundings};

use super::VssError;
use super::receiving::{Verified, summary};
use super::service::{Claims, Vss};

/// Version of the protocol, the first byte of every request.
pub const PROTOCOL_VERSION: u8 = 1;
/// Longest request or answer `[byte]`.
pub(super) const FRAME_LEN_MAX: usize = 1 << 18;

/// What operation 1 says of its payload, bits of an octet.
const LOCATION: u8 = 1;
const SSP_NEEDED: u8 = 2;
const POSITION: u8 = 4;

/// The operation that others may overtake.
pub(super) const VERIFY_SIGNATURE: u8 = 2;

/// What an event is about, its first byte.
pub(super) const EVENT_REQUEST_NETWORK_ID_CHANGE: u8 = 1;
pub(super) const EVENT_CHANGED: u8 = 2;
pub(super) const EVENT_ABANDONED: u8 = 3;

const UNKNOWN: u32 = u32::MAX;

/// First byte of what is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Ok = 0,
    Refused = 1,
    Malformed = 2,
    Event = 0x80,
}

/// A request.
pub(super) struct Request {
    pub(super) operation: u8,
    pub(super) id: u32,
    body: Vec<u8>,
}

impl Request {
    /// What stands behind the length; none if it is of another version, or too short.
    pub(super) fn read(frame: &[u8]) -> Option<Self> {
        let (head, body) = frame.split_first_chunk::<6>()?;
        let [version, operation, id @ ..] = *head;
        (version == PROTOCOL_VERSION).then(|| Self { operation, id: u32::from_be_bytes(id), body: body.to_vec() })
    }

    /// Of operation 2, the message and what its sender says of it.
    pub(super) fn to_verify(&self) -> Result<(Vec<u8>, Relevance), Refusal> {
        let mut body = Body(&self.body);
        let is_demanded = body.u8()? != 0;
        let relevance = Relevance { is_demanded, distance_m: body.known()?, time_to_collision_ms: body.known()? };
        Ok((body.rest().to_vec(), relevance))
    }

    /// Performs any other operation.
    pub(super) fn perform(&self, vss: &mut Vss, now: Time64, layers: &mut Vec<LayerId>) -> Result<Vec<u8>, Refusal> {
        perform(vss, now, self.operation, &mut Body(&self.body), layers)
    }
}

/// What a request is answered with: all but its id.
pub(super) type Answer = (Status, Vec<u8>);

/// What became of a request.
pub(super) fn answer(result: Result<Vec<u8>, Refusal>) -> Answer {
    match result {
        Ok(answer) => (Status::Ok, answer),
        Err(Refusal::Service(error)) => (Status::Refused, error.to_string().into_bytes()),
        Err(Refusal::Malformed(what)) => (Status::Malformed, what.into()),
    }
}

/// Appends what is sent, with its length in front.
pub(super) fn push_frame(frames: &mut Vec<u8>, status: Status, id: u32, body: &[u8]) {
    frames.extend(u32::try_from(body.len() + 5).unwrap_or(u32::MAX).to_be_bytes());
    frames.push(status as u8);
    frames.extend(id.to_be_bytes());
    frames.extend(body);
}

/// How a station's identifiers travel.
pub(super) fn ids_of(ids: &NetworkIds) -> Vec<u8> {
    [&ids.certificate.0[..], &ids.station_id.to_be_bytes(), &ids.link_address].concat()
}

/// Why there is no result.
pub(super) enum Refusal {
    Service(VssError),
    Malformed(&'static str),
}

impl<E: Into<VssError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Reads a request's body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Refusal::Malformed("the body is too short"))?;
        self.0 = rest;
        Ok(*head)
    }
    fn u8(&mut self) -> Result<u8, Refusal> {
        self.array::<1>().map(|[byte]| byte)
    }
    fn u16(&mut self) -> Result<u16, Refusal> {
        self.array().map(u16::from_be_bytes)
    }
    fn u32(&mut self) -> Result<u32, Refusal> {
        self.array().map(u32::from_be_bytes)
    }
    fn known(&mut self) -> Result<Option<u32>, Refusal> {
        self.u32().map(|value| (value != UNKNOWN).then_some(value))
    }
    fn take(&mut self, len: usize) -> Result<&'a [u8], Refusal> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Refusal::Malformed("the body is too short"))?;
        self.0 = rest;
        Ok(head)
    }
    /// What operation 1 says of its payload, by the bits of the first octet.
    fn claims(&mut self) -> Result<Claims<'a>, Refusal> {
        let flags = self.u8()?;
        if flags & !(LOCATION | SSP_NEEDED | POSITION) != 0 {
            return Err(Refusal::Malformed("the flags of createSignature are 1 location, 2 permissions, 4 position"));
        }
        let mut claims = Claims::default();
        if flags & LOCATION != 0 {
            let [latitude, longitude] = [self.u32()?.cast_signed(), self.u32()?.cast_signed()];
            claims.location = Some(ThreeDLocation { latitude, longitude, elevation: self.u16()? });
        }
        if flags & SSP_NEEDED != 0 {
            let len = self.u8()?.into();
            claims.ssp_needed = Some(self.take(len)?);
        }
        if flags & POSITION != 0 {
            let [latitude, longitude] = [self.u32()?.cast_signed(), self.u32()?.cast_signed()];
            claims.position = Some(TwoDLocation { latitude, longitude });
        }
        Ok(claims)
    }
    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

fn perform(
    vss: &mut Vss,
    now: Time64,
    operation: u8,
    body: &mut Body<'_>,
    layers: &mut Vec<LayerId>,
) -> Result<Vec<u8>, Refusal> {
    let mine = |layers: &[LayerId], layer| {
        if layers.contains(&layer) {
            Ok(layer)
        } else {
            Err(Refusal::Malformed("this client did not register that layer"))
        }
    };
    Ok(match operation {
        1 => {
            let psid = Psid(body.u32()?.into());
            let claims = body.claims()?;
            vss.create_signature_for(now, psid, body.rest(), &claims)?
        }
        3 => {
            let mut certificates = Vec::new();
            for _ in 0..body.u8()? {
                let len = body.u16()?.into();
                certificates.push(CertificateBuf::new(body.take(len)?)?);
            }
            let views: Vec<_> = certificates.iter().map(CertificateBuf::view).collect();
            vss.encrypt_sending_frame(body.rest(), &views)?
        }
        4 => vss.decrypt_received_frame(body.rest())?,
        5 => vss.change_pseudonym(now).map(|()| Vec::new())?,
        6 => {
            let duration_s = body.u8()?;
            vss.block_pseudonym_change(now, duration_s);
            Vec::new()
        }
        7 => {
            vss.free_pseudonym_change(now);
            Vec::new()
        }
        8 => {
            let layer = vss.register_request_network_id_change();
            layers.push(layer);
            layer.0.to_be_bytes().to_vec()
        }
        9 => {
            let layer = mine(layers, LayerId(body.u16()?))?;
            let answered = vss.answer(now, layer, body.u8()? != 0)?;
            vec![match answered {
                Answered::Waiting => 0,
                Answered::AllReady => 1,
                Answered::Refused(_) => 2,
                Answered::Unexpected => 3,
            }]
        }
        10 => {
            let layer = mine(layers, LayerId(body.u16()?))?;
            vss.indicate_network_id_change(now, layer).map(|()| Vec::new())?
        }
        11 => {
            let distance_mm = body.u32()?.into();
            let (near, alike) = (body.u32()?, body.u32()?);
            vss.moved(distance_mm, Surroundings { near, alike, in_mix_zone: body.u8()? != 0 });
            Vec::new()
        }
        12 => vss.statistics().prometheus().into_bytes(),
        13 => {
            let audit = vss.audit();
            let mut lines = format!("total {} chain {}\n", audit.total(), hex(&audit.chain()));
            for skipped in audit.last() {
                lines += &format!("{} {} {}\n", skipped.at_us, skipped.message, skipped.reason.name());
            }
            lines.into_bytes()
        }
        _ => return Err(Refusal::Malformed("no such operation")),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How a verdict travels.
pub(super) fn answer_of(verified: &Verified) -> Vec<u8> {
    let outcome = match (verified.verdict.failure(), verified.skipped) {
        (Some(_), _) => 1,
        (None, Some(_)) => 2,
        (None, None) => 0,
    };
    let mut answer = Vec::with_capacity(512);
    answer.push(outcome);
    answer.extend(verified.verdict.signer.map_or([0; 8], |id| id.0));
    answer.extend(verified.generation_time.map_or(0, |time| time.0).to_be_bytes());
    answer.push(verified.verdict.checks.len() as u8);
    for check in &verified.verdict.checks {
        let (code, name) = match check.outcome {
            Outcome::Passed => (0, ""),
            Outcome::Failed(code) => (1, code.name()),
            Outcome::Skipped(reason) => (2, reason.name()),
        };
        for text in [check.kind.name(), name] {
            answer.push(text.len() as u8);
            answer.extend(text.as_bytes());
        }
        answer.push(code);
        answer.extend(check.took_ns.to_be_bytes());
    }
    let text = summary(verified);
    answer.extend((text.len() as u16).to_be_bytes());
    answer.extend(text.as_bytes());
    answer.extend(verified.payload.as_deref().unwrap_or_default());
    answer
}
