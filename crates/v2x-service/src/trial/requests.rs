//! Cases 1 to 8: certificates asked for.

use std::path::Path;

use chronoseal_v2x::pki::{TicketWish, check_issued_by, request_ticket};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::car::Car;
use super::vendor::Vendor;
use super::{Case, TrialError, ensure, outcome};
use crate::hsm::{BackEnd, HsmError, KeyHandle, RtlConfig, local};
use crate::pki::{Clock, HttpClient, ServiceError, TicketOptions};

/// Pseudonyms asked for in one case.
const COUNT: usize = 5;
/// Slots of the simulated device whose keys are made before the first request.
const PREDEFINED: (u32, u32) = (4, 7);

pub(super) fn all(
    clock: &Clock,
    folder: &Path,
    (first, second): (&Vendor, &Vendor),
    progress: &mut dyn FnMut(&str),
) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &'static str, device: &str, result: Result<String, TrialError>| {
        let is_simulated = device != "software";
        cases.push(Case { name, outcome: outcome(result), device: device.to_owned(), is_simulated });
    };
    let absent = || TrialError::Wrong("the case before it has not left a station".into());

    progress("Test_LTCREQ");
    let a = Car::new(&folder.join("car-a"), 1, clock);
    let b = Car::new(&folder.join("car-b"), 2, clock);
    let engine = engine(folder);
    let c = engine.and_then(|keys| Car::with(&folder.join("car-c"), 3, &keys, clock));
    let device = c.as_ref().map_or_else(|_| "RTL".to_owned(), |car| car.hsm.lock().capabilities().device.clone());
    add("Test_LTCREQ_VB_01", "software", enrolled(&a, first));
    add("Test_LTCREQ_VB_02", "software", enrolled(&b, second));
    let hardware = match &c {
        Ok(car) => car.enrol(first),
        Err(error) => Err(again(error)),
    };
    add("Test_LTCREQ_VB_03", &device, hardware);

    progress("Test_PSNYMREQ");
    let ask = |car: &Result<Car, TrialError>, vendor: &Vendor, enrolled_at: &Vendor| {
        let car = car.as_ref().map_err(|_| absent())?;
        let tickets = car.pseudonyms(COUNT, vendor, enrolled_at, None)?;
        Ok(format!("{} pseudonyms, signatures verified, stored with .meta, keys in the device", tickets.len()))
    };
    add("Test_PSNYMREQ_VB_01", "software", ask(&a, first, first));
    add("Test_PSNYMREQ_VB_02", "software", ask(&b, second, second));
    add("Test_PSNYMREQ_VB_03", "software", ask(&a, second, first));
    add("Test_PSNYMREQ_VB_04", "software", ask(&b, first, second));
    let hardware = match &c {
        Ok(car) => predefined(clock, car, first),
        Err(error) => Err(again(error)),
    };
    add("Test_PSNYMREQ_VB_05", &device, hardware);
    cases
}

fn enrolled(car: &Result<Car, TrialError>, vendor: &Vendor) -> Result<String, TrialError> {
    match car {
        Ok(car) => car.enrol(vendor),
        Err(error) => Err(again(error)),
    }
}

/// The same once more: why there is no device concerns two cases.
fn again(error: &TrialError) -> TrialError {
    match error {
        TrialError::Hsm(HsmError::NoDevice(reason)) => HsmError::NoDevice(reason.clone()).into(),
        other => TrialError::Wrong(other.to_string()),
    }
}

/// The simulated accelerator with flash and a range of predefined keys.
fn engine(folder: &Path) -> Result<BackEnd, TrialError> {
    let back_end = local::rtl(Some(&folder.join("flash")))?;
    Ok(match back_end {
        BackEnd::Rtl(config) => BackEnd::Rtl(RtlConfig { predefined: Some(PREDEFINED), ..config }),
        other => other,
    })
}

/// Pseudonyms for the keys that are in the device already, before and after it was configured anew.
fn predefined(clock: &Clock, car: &Car, vendor: &Vendor) -> Result<String, TrialError> {
    let handles: Vec<KeyHandle> = (PREDEFINED.0..=PREDEFINED.1).map(KeyHandle).collect();
    let reloaded = car.hsm.lock().reload_predefined()?;
    ensure(reloaded == handles, || format!("predefined keys {handles:?}, after a reload {reloaded:?}"))?;
    let (credential, mut credential_key) = car.client.credential()?;
    let http = HttpClient::default();
    for handle in &handles {
        let mut key = car.hsm.key(*handle)?;
        let permissions = TicketOptions::default().permissions;
        let wish = TicketWish { permissions, validity_period: None, region: None, encryption_key: None };
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| TrialError::Wrong(error.to_string()))?;
        let mut rng = ChaCha20Rng::from_seed(seed);
        let authorities = (&vendor.aa, &vendor.ea);
        let pending =
            request_ticket(&wish, &mut key, (&credential, &mut credential_key), authorities, clock.now(), &mut rng);
        let pending = pending.map_err(ServiceError::from)?;
        let answer = http.post(vendor.aa_endpoint().url, pending.message())?;
        let ticket = pending.ticket(&answer, clock.now()).map_err(ServiceError::from)?;
        let ticket = chronoseal_v2x::message::SignerCertificate::new(ticket)
            .map_err(|error| TrialError::Wrong(error.to_string()))?;
        check_issued_by(&ticket, &vendor.aa, clock.now()).map_err(ServiceError::from)?;
        car.client.keep_ticket(ticket.certificate(), *handle)?;
    }
    let stored = car.client.tickets()?.len();
    ensure(stored == handles.len(), || format!("{stored} of {} pseudonyms are in the folder", handles.len()))?;
    let (first, last) = PREDEFINED;
    Ok(format!("{stored} pseudonyms for the predefined keys {first} to {last}, after a reload; stored with .meta"))
}
