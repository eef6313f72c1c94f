//! Attacks on a receiver, each with the check that has to refuse it.

use chronoseal_report::{Cell, Evidence, Mark, Table};
use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::{
    CircularRegion, Duration, GeographicRegion, Psid, Time32, Time64, ToBeSignedCertificate, ToBeSignedData,
    TwoDLocation, ValidityPeriod,
};
use chronoseal_v2x::verify::{CheckKind, Context, ResultCode, Verifier, VerifierConfig};
use chronoseal_v2x_load::{NOW, Town};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use chronoseal_study::StudyError;

/// Random messages in the flood.
const FLOOD: usize = 100_000;

const HERE: TwoDLocation = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };

/// One attack and what it came to.
pub(super) struct Attack {
    name: &'static str,
    how: &'static str,
    /// What has to refuse it; none if several checks may.
    expected: Option<(CheckKind, ResultCode)>,
    attempts: u64,
    accepted: u64,
    /// Refused as expected.
    as_expected: u64,
    /// By which checks, with how often.
    refused_by: Vec<(CheckKind, u64)>,
}

impl Attack {
    fn new(name: &'static str, how: &'static str, expected: Option<(CheckKind, ResultCode)>) -> Self {
        Self { name, how, expected, attempts: 0, accepted: 0, as_expected: 0, refused_by: Vec::new() }
    }

    fn try_on(mut self, verifier: &mut Verifier, message: &[u8], context: &Context<'_>) -> Self {
        self.attempt(verifier, message, context);
        self
    }

    fn attempt(&mut self, verifier: &mut Verifier, message: &[u8], context: &Context<'_>) {
        let (verdict, _) = verifier.verify_untimed(message, context);
        self.attempts += 1;
        match verdict.failure() {
            None => self.accepted += 1,
            Some(failure) => {
                self.as_expected += u64::from(self.expected.is_none_or(|expected| expected == failure));
                match self.refused_by.iter_mut().find(|(kind, _)| *kind == failure.0) {
                    Some((_, count)) => *count += 1,
                    None => self.refused_by.push((failure.0, 1)),
                }
            }
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.accepted == 0 && self.as_expected == self.attempts
    }
}

fn failed(error: &dyn std::fmt::Display) -> StudyError {
    StudyError::Scenario(format!("an attack of the study cannot be made: {error}"))
}

struct Stage {
    town: Town,
}

impl Stage {
    fn verifier(&self) -> Result<Verifier, StudyError> {
        self.town.verifier(VerifierConfig::default()).map_err(|error| failed(&error))
    }

    /// A genuine CAM with another header or another time.
    fn cam(&mut self, change: impl FnOnce(&mut ToBeSignedData<'static>)) -> Result<Vec<u8>, StudyError> {
        let mut tbs = Town::cam(b"a cam", NOW);
        change(&mut tbs);
        let (ticket, key) = &mut self.town.stations[0];
        sign(&tbs, SignerForm::Certificate(ticket), key).map_err(|error| failed(&error))
    }

    /// A CAM under a genuine ticket that says something else.
    fn under(&self, change: impl FnOnce(&mut ToBeSignedCertificate<'static>)) -> Result<Vec<u8>, StudyError> {
        let mut key = SoftwareKey::generate(Curve::NistP256, &mut ChaCha20Rng::seed_from_u64(99));
        let mut tbs = Town::ticket(&key, NOW);
        change(&mut tbs);
        let mut authority_key = self.town.authority_key.clone();
        let ticket = issue(tbs, Issuer::Certificate(&self.town.authority.view()), &mut authority_key);
        let ticket = SignerCertificate::new(ticket.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
        sign(&Town::cam(b"a cam", NOW), SignerForm::Certificate(&ticket), &mut key).map_err(|error| failed(&error))
    }
}

/// Runs them all.
pub(super) fn run(seed: u64) -> Result<Vec<Attack>, StudyError> {
    let mut stage = Stage { town: Town::new(1, seed).map_err(|error| failed(&error))? };
    let now = Context::at(NOW);
    let genuine = stage.cam(|_| ())?;
    let mut attacks = Vec::new();

    let mut verifier = stage.verifier()?;
    verifier.verify_untimed(&genuine, &now);
    let expected = Some((CheckKind::Replay, ResultCode::SpduRelevanceReplayedSpdu));
    attacks.push(Attack::new("replay", "a genuine CAM, received once more", expected).try_on(
        &mut verifier,
        &genuine,
        &now,
    ));

    let past = Some((CheckKind::Freshness, ResultCode::SpduRelevanceGenerationTimeTooFarInPast));
    let old = stage.cam(|tbs| tbs.header_info.generation_time = Some(Time64(NOW.0 - 3_000_000)))?;
    attacks.push(Attack::new("fake time", "signed with a time 3 s ago", past).try_on(
        &mut stage.verifier()?,
        &old,
        &now,
    ));
    let future = Some((CheckKind::Freshness, ResultCode::SpduRelevanceGenerationTimeTooFarInFuture));
    let early = stage.cam(|tbs| tbs.header_info.generation_time = Some(NOW.plus_us(1_000_000)))?;
    attacks.push(Attack::new("fake time", "signed with a time 1 s ahead", future).try_on(
        &mut stage.verifier()?,
        &early,
        &now,
    ));

    let expected = Some((CheckKind::ValidityTime, ResultCode::SpduConsistencyExpiredCertificateAtGenerationTime));
    let expired = stage.under(|tbs| {
        tbs.validity_period = ValidityPeriod { start: Time32(720_000_000), duration: Duration::Hours(1) };
    })?;
    attacks.push(Attack::new("expired", "a ticket of weeks ago", expected).try_on(
        &mut stage.verifier()?,
        &expired,
        &now,
    ));

    let expected = Some((CheckKind::Revocation, ResultCode::SpduCertificateChainCertificateRevoked));
    let mut verifier = stage.verifier()?;
    verifier.trust_mut().revoke(stage.town.stations[0].0.id());
    attacks.push(Attack::new("revoked", "the ticket is on the list", expected).try_on(&mut verifier, &genuine, &now));
    let mut verifier = stage.verifier()?;
    let authority = chronoseal_v2x::certificate::hashed_id8(&stage.town.authority.view());
    verifier.trust_mut().revoke(authority.map_err(|error| failed(&error))?);
    attacks.push(Attack::new("revoked", "its authority is on the list", expected).try_on(
        &mut verifier,
        &genuine,
        &now,
    ));

    let expected = Some((CheckKind::Permissions, ResultCode::SpduConsistencyUnauthorizedPsid));
    let other = stage.cam(|tbs| tbs.header_info.psid = Psid::VAM)?;
    attacks.push(Attack::new("wrong PSID", "a ticket for CAM and DENM signs another service", expected).try_on(
        &mut stage.verifier()?,
        &other,
        &now,
    ));

    let code = ResultCode::SpduConsistencyGenerationLocationOutsideValidityRegion;
    let away = TwoDLocation { latitude: HERE.latitude + 900_000, longitude: HERE.longitude };
    let elsewhere = stage
        .under(|tbs| tbs.region = Some(GeographicRegion::Circular(CircularRegion { center: away, radius: 1_000 })))?;
    let context = Context { payload_location: Some(HERE), ..Context::at(NOW) };
    let attack =
        Attack::new("wrong region", "a ticket for a circle 10 km away", Some((CheckKind::ValidityRegion, code)));
    attacks.push(attack.try_on(&mut stage.verifier()?, &elsewhere, &context));

    let mut foreign = Town::new(1, seed.wrapping_add(1)).map_err(|error| failed(&error))?;
    let above = [foreign.authority.clone(), foreign.root.clone()];
    let (ticket, key) = &mut foreign.stations[0];
    let message =
        sign(&Town::cam(b"a cam", NOW), SignerForm::Chain(ticket, &above), key).map_err(|error| failed(&error))?;
    let expected = Some((CheckKind::Chain, ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot));
    attacks.push(Attack::new("foreign root", "a whole chain, well made, below another root", expected).try_on(
        &mut stage.verifier()?,
        &message,
        &now,
    ));

    attacks.push(mutations(&stage, &genuine, &now)?);
    attacks.push(flood(&stage, seed, &now)?);
    attacks.extend(bombs(&stage, &now)?);
    Ok(attacks)
}

/// One bit of each byte of a genuine message, one at a time.
fn mutations(stage: &Stage, genuine: &[u8], now: &Context<'_>) -> Result<Attack, StudyError> {
    let mut attack =
        Attack::new("mutated byte", "each byte of a genuine CAM with its certificate, each bit of it", None);
    let mut verifier = stage.verifier()?;
    for at in 0..genuine.len() {
        for bit in 0..8 {
            let mut message = genuine.to_vec();
            message[at] ^= 1 << bit;
            attack.attempt(&mut verifier, &message, now);
        }
    }
    Ok(attack)
}

/// Random bytes, every other one with the first bytes of a signed message.
fn flood(stage: &Stage, seed: u64, now: &Context<'_>) -> Result<Attack, StudyError> {
    let mut attack =
        Attack::new("garbage flood", "100,000 messages of 1 to 300 random bytes, half of them begin well", None);
    let mut verifier = stage.verifier()?;
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut bytes = [0; 300];
    for number in 0..FLOOD {
        let len = 1 + rng.next_u64() as usize % bytes.len();
        rng.fill_bytes(&mut bytes[..len]);
        if number % 2 == 0 && len > 4 {
            bytes[..4].copy_from_slice(&[3, 0x81, 0, 0x40]);
        }
        attack.attempt(&mut verifier, &bytes[..len], now);
    }
    Ok(attack)
}

/// Messages in messages, certificates by the thousand, and lengths beyond the end.
fn bombs(stage: &Stage, now: &Context<'_>) -> Result<Vec<Attack>, StudyError> {
    let expected = Some((CheckKind::Encoding, ResultCode::SpduParsingInvalidInput));
    let mut verifier = stage.verifier()?;
    // Signed data whose payload is signed data, and so on; no message is longer than 65,535 bytes.
    let nested = [3, 0x81, 0, 0x40].repeat(16_000);
    let deep = Attack::new("certificate bomb", "16,000 messages, each inside the next", expected);
    let mut attacks = vec![deep.try_on(&mut verifier, &nested, now)];
    // A signer with a sequence of 2^32 - 1 certificates, of which nothing follows.
    let (ticket, _) = &stage.town.stations[0];
    let mut claimed = vec![3, 0x81, 0, 0x40, 3, 0x80, 1, 0, 0x40, 1, 36];
    claimed.extend(NOW.0.to_be_bytes());
    claimed.extend([0x81, 4, 0xFF, 0xFF, 0xFF, 0xFF]);
    claimed.extend(ticket.certificate().as_bytes());
    let many = Attack::new("certificate bomb", "4 billion certificates announced, one there", expected);
    attacks.push(many.try_on(&mut verifier, &claimed, now));
    Ok(attacks)
}

/// What each came to.
pub(super) fn table(attacks: &[Attack]) -> Table {
    let mut table = Table::new("Attacks on a receiver: what was tried, and which check refused it")
        .words("attack")
        .words("how")
        .words("refused by")
        .words("result code")
        .numbers("attempts", "")
        .numbers("accepted", "")
        .numbers("refused as expected", "")
        .footnote("Result codes are those of IEEE 1609.2; where several checks may refuse, each is named with how often it did.");
    for attack in attacks {
        let mut refused_by = attack.refused_by.clone();
        refused_by.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named = |(kind, count): &(CheckKind, u64)| match attack.attempts {
            1 => kind.name().to_owned(),
            _ => format!("{} {count}", kind.name()),
        };
        let code = attack.expected.map_or("", |(_, code)| code.name());
        let good = |is_good: bool| if is_good { Mark::Good } else { Mark::Bad };
        table.push(vec![
            Cell::text(attack.name),
            Cell::text(attack.how),
            Cell::text(refused_by.iter().map(named).collect::<Vec<_>>().join(", ")),
            Cell::text(code),
            Cell::count(attack.attempts),
            Cell::count(attack.accepted).from(Evidence::Simulated).marked(good(attack.accepted == 0)),
            Cell::count(attack.as_expected).from(Evidence::Simulated).marked(good(attack.is_stopped())),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_is_refused_by_the_check_that_is_for_it() {
        for attack in run(3).unwrap() {
            assert!(attack.is_stopped(), "{}, {}: {:?}", attack.name, attack.how, attack.refused_by);
        }
    }

    #[test]
    fn the_genuine_message_is_accepted() {
        let mut stage = Stage { town: Town::new(1, 3).unwrap() };
        let genuine = stage.cam(|_| ()).unwrap();
        assert!(stage.verifier().unwrap().verify_untimed(&genuine, &Context::at(NOW)).0.is_accepted());
    }
}
