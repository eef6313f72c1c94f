//! Cases 9 to 15, and the nine services.

use std::path::Path;

use chronoseal_v2x::types::{Psid, ThreeDLocation, Time64};
use chronoseal_v2x::verify::Context;
use chronoseal_v2x::vss::{Relevance, SkipReason};

use super::car::Car;
use super::hands::Hands;
use super::vendor::Vendor;
use super::{Case, Outcome, TrialError, ensure, outcome};
use crate::hsm::BackEnd;
use crate::vss::{Lists, Logging, Notice, Pseudonyms, Socket, Trust, Verification, Vss, VssConfig};

/// Messages of each case.
const MESSAGES: usize = 200;
/// Time from one to the next: 10 a second `[us]`.
const INTERVAL_US: u64 = 100_000;
/// Signatures after which the preset `source` wants a change.
const CHANGE_AFTER: usize = 80;

/// Where the station is.
const PLACE: ThreeDLocation = ThreeDLocation { latitude: 481_351_253, longitude: 115_819_806, elevation: 0 };

/// What a case does differently.
#[derive(Clone, Copy)]
struct Plan {
    has_layer: bool,
    asks: bool,
    pseudonyms: usize,
    block_s: Option<u8>,
    free_after: Option<usize>,
    one_of: Option<u32>,
}

const PLAIN: Plan = Plan { has_layer: true, asks: false, pseudonyms: 4, block_s: None, free_after: None, one_of: None };

/// What a case saw.
struct Seen {
    verified: usize,
    /// After how many messages each change was.
    changes: Vec<usize>,
    requested: usize,
    stored: usize,
    skipped: u64,
}

pub(super) fn all(
    hands: &Hands,
    folder: &Path,
    vendor: &Vendor,
    progress: &mut dyn FnMut(&str),
) -> (Vec<Case>, Vec<Case>) {
    let mut bench = Bench::new(hands, folder, vendor);
    let mut cases = Vec::new();
    let mut case = |name: &'static str, plan: Plan, judge: fn(&Seen) -> Result<String, TrialError>| {
        progress(name);
        let result = bench.as_mut().map_err(|error| TrialError::Wrong(error.to_string())).and_then(|bench| {
            let seen = bench.run(plan)?;
            ensure(seen.verified + seen.skipped as usize == MESSAGES, || {
                format!("{} of {MESSAGES} messages were accepted", seen.verified)
            })?;
            judge(&seen)
        });
        cases.push(Case { name, outcome: outcome(result), device: "software".into(), is_simulated: false });
    };
    case("Test_Sign_Verify_VB_01", Plan { has_layer: false, ..PLAIN }, |seen| {
        ensure(seen.changes.is_empty(), || format!("changes after {:?}", seen.changes))?;
        Ok("200 signed, 200 accepted, no change: nobody had registered".into())
    });
    case("Test_Sign_Verify_VB_02", PLAIN, |seen| {
        ensure(seen.changes.len() == 2 && seen.stored == 2, || {
            format!("changes after {:?}, {} pseudonyms in the store", seen.changes, seen.stored)
        })?;
        Ok(format!("200 signed, 200 accepted, 3 pseudonyms used, changes after {:?}, used ones removed", seen.changes))
    });
    case("Test_Sign_Verify_VB_03", Plan { asks: true, ..PLAIN }, |seen| {
        ensure(!seen.changes.is_empty() && seen.requested > 0 && seen.stored > 2, || {
            format!("{} changes, {} requested, {} in the store", seen.changes.len(), seen.requested, seen.stored)
        })?;
        let (changes, requested, stored) = (seen.changes.len(), seen.requested, seen.stored);
        Ok(format!(
            "200 accepted, {changes} changes, {requested} pseudonyms requested and stored, {stored} there at the end"
        ))
    });
    case("Test_Sign_Verify_VB_04", Plan { block_s: Some(255), ..PLAIN }, |seen| {
        ensure(seen.changes.is_empty(), || format!("changes after {:?}", seen.changes))?;
        Ok("200 accepted in 20 s of the station's time, blocked for 255 s, no change".into())
    });
    case("Test_Sign_Verify_VB_05", Plan { block_s: Some(12), ..PLAIN }, |seen| {
        ensure(seen.changes.first().is_some_and(|after| *after >= 120), || {
            format!("changes after {:?}", seen.changes)
        })?;
        Ok(format!("200 accepted, blocked for 12 s of 20 s, changes after {:?}", seen.changes))
    });
    case("Test_Sign_Verify_VB_06", Plan { block_s: Some(255), free_after: Some(150), ..PLAIN }, |seen| {
        ensure(seen.changes.first().is_some_and(|after| *after >= 150), || {
            format!("changes after {:?}", seen.changes)
        })?;
        Ok(format!("200 accepted, blocked for 255 s, freed after 150 messages, changes after {:?}", seen.changes))
    });
    case("Test_Verification_On_Demand_VB_01", Plan { one_of: Some(10), ..PLAIN }, |seen| {
        ensure(seen.verified == MESSAGES / 10 && seen.skipped == 180, || {
            format!("{} verified, {} skipped", seen.verified, seen.skipped)
        })?;
        Ok("sampling, one of 10: 20 verified, 180 in the audit".into())
    });
    progress("the nine services");
    let services = match &mut bench {
        Ok(bench) => bench.nine_services(),
        Err(error) => {
            let failed = Outcome::Failed(error.to_string());
            let case = |name| Case { name, outcome: failed.clone(), device: "software".into(), is_simulated: false };
            SERVICES.map(case).to_vec()
        }
    };
    (cases, services)
}

const SERVICES: [&str; 9] = [
    "createSignature",
    "verifySignature",
    "changePseudonym",
    "blockPseudonymChange",
    "freePseudonymChange",
    "registerRequestNetworkIdChange",
    "indicateNetworkIdChange",
    "encryptSendingFrame",
    "decryptReceivedFrame",
];

/// A car that is enrolled, and a station of it for each case.
struct Bench<'a> {
    car: Car,
    vendor: &'a Vendor,
    trust: Trust,
    stations: usize,
    hands: Hands,
}

impl<'a> Bench<'a> {
    fn new(hands: &Hands, folder: &Path, vendor: &'a Vendor) -> Result<Self, TrialError> {
        let car = Car::new(&folder.join("car-s"), 9, hands.clock())?;
        car.enrol(vendor)?;
        let (root, authority) = (car.folder.join("rca.oer"), car.folder.join("aa.oer"));
        for (path, certificate) in [(&root, &vendor.root), (&authority, &vendor.aa)] {
            std::fs::write(path, certificate.certificate().as_bytes()).map_err(TrialError::file(path))?;
        }
        Ok(Self {
            car,
            vendor,
            trust: Trust { roots: vec![root], authorities: vec![authority], ..Trust::default() },
            stations: 0,
            hands: hands.clone(),
        })
    }

    /// A station with nothing in its store.
    fn open(&mut self, plan: Plan, start: Time64) -> Result<(Vss, VssConfig), TrialError> {
        self.stations += 1;
        let folder = self.car.folder.join(format!("station-{}", self.stations));
        let sampling =
            plan.one_of.map(|value| Verification { policy: "sampling".into(), value, ..Verification::default() });
        let config = VssConfig {
            authority: None,
            socket: Socket::default(),
            lists: Lists::default(),
            folder: folder.clone(),
            hsm: BackEnd::Software { folder: self.car.folder.join("keys"), predefined: None },
            pin_file: folder.join("pin"),
            trust: self.trust.clone(),
            pseudonyms: Pseudonyms {
                policy: "source".into(),
                ask: plan.asks,
                low_water: 3,
                preload: 4,
                // Its tickets end a day from now, and what is counted is what its changes use up.
                ahead_s: 0,
                ..Pseudonyms::default()
            },
            misbehaviour: None,
            verification: sampling.unwrap_or_default(),
            logging: Logging {
                file: Some(self.car.folder.join(format!("log-{}", self.stations))),
                results: true,
                ..Logging::default()
            },
        };
        let (vss, _) = Vss::open_with(&config, self.car.hsm.clone(), start)?;
        Ok((vss, config))
    }

    /// Gives it tickets that are valid from now on, by the time that the authorities go by, too.
    fn give(&self, vss: &mut Vss, count: usize, at: Time64) -> Result<(), TrialError> {
        for (ticket, meta) in self.car.pseudonyms(count, self.vendor, self.vendor, Some(at))? {
            vss.add_ticket(ticket.certificate().clone(), meta, at)?;
        }
        Ok(())
    }

    fn run(&mut self, plan: Plan) -> Result<Seen, TrialError> {
        let start = self.hands.clock().now();
        self.hands.set(start);
        let (mut vss, config) = self.open(plan, start)?;
        self.give(&mut vss, plan.pseudonyms, start)?;
        self.serve(&mut vss, start)?;
        if plan.has_layer {
            vss.register_request_network_id_change();
        }
        if let Some(seconds) = plan.block_s {
            vss.block_pseudonym_change(start, seconds);
        }
        let mut seen = Seen { verified: 0, changes: Vec::new(), requested: 0, stored: 0, skipped: 0 };
        for number in 1..=MESSAGES {
            // The station's time runs at 10 messages a second, however fast the case goes.
            let at = start.plus_us(number as u64 * INTERVAL_US);
            self.hands.set(at);
            let payload = vec![0x5A; number];
            let message = vss.create_signature(at, Psid::CAM, &payload, None)?;
            let verified = vss.verify_signature(&message, &Relevance::default(), &Context::at(at));
            seen.verified += usize::from(verified.verdict.is_accepted());
            let (changes, requested) = self.serve(&mut vss, at)?;
            seen.changes.extend(std::iter::repeat_n(number, changes));
            seen.requested += requested;
            if plan.free_after == Some(number) {
                vss.free_pseudonym_change(at);
            }
        }
        seen.skipped = vss.audit().count(SkipReason::NotSampled);
        seen.stored = certificates_in(&config.folder.join("at"))?;
        // As the source counted them: lines of the log.
        if let Some(file) = &config.logging.file {
            let log = std::fs::read_to_string(file).map_err(TrialError::file(file))?;
            let signed = log.lines().filter(|line| line.ends_with(" createSignature: success")).count();
            ensure(signed == MESSAGES, || format!("{signed} of {MESSAGES} signatures are in the log"))?;
        }
        Ok(seen)
    }

    /// Does what the station wants done; how many changes there were, and pseudonyms requested.
    fn serve(&self, vss: &mut Vss, at: Time64) -> Result<(usize, usize), TrialError> {
        let (mut changes, mut requested) = (0, 0);
        while let Some(notice) = vss.poll_notice() {
            match notice {
                Notice::AskLayers { layers, .. } => {
                    for layer in layers {
                        vss.answer(at, layer, true)?;
                    }
                }
                Notice::Changed(_) => changes += 1,
                Notice::Abandoned(why) => return Err(TrialError::Wrong(format!("a change was abandoned: {why}"))),
                Notice::RequestPseudonyms(order) => {
                    self.give(vss, order.count, at)?;
                    requested += order.count;
                }
            }
        }
        Ok((changes, requested))
    }

    /// Each service for itself, the three the source left untested among them.
    fn nine_services(&mut self) -> Vec<Case> {
        let result = self.each_service();
        let case = |(name, outcome)| Case { name, outcome, device: "software".into(), is_simulated: false };
        match result {
            Ok(seen) => SERVICES.into_iter().zip(seen.map(Outcome::Passed)).map(case).collect(),
            Err(error) => SERVICES.map(|name| case((name, Outcome::Failed(error.to_string())))).to_vec(),
        }
    }

    fn each_service(&mut self) -> Result<[String; 9], TrialError> {
        let at = self.hands.clock().now();
        self.hands.set(at);
        let (mut vss, _) = self.open(PLAIN, at)?;
        self.give(&mut vss, 4, at)?;
        self.serve(&mut vss, at)?;
        let message = vss.create_signature(at, Psid::DENM, b"ice on the road", Some(PLACE))?;
        let verified = vss.verify_signature(&message, &Relevance::default(), &Context::at(at));
        ensure(verified.verdict.is_accepted(), || verified.verdict.to_string())?;
        let cam = vss.create_signature(at, Psid::CAM, b"here", None)?;
        let accepted = vss.verify_signature(&cam, &Relevance::default(), &Context::at(at));
        ensure(accepted.verdict.is_accepted(), || accepted.verdict.to_string())?;

        let first = vss.certificate();
        let alone = vss.change_pseudonym(at).err().map(|error| error.to_string()).unwrap_or_default();
        ensure(vss.certificate() == first, || "it changed though no layer takes part".into())?;
        let layers = [vss.register_request_network_id_change(), vss.register_request_network_id_change()];
        vss.change_pseudonym(at)?;
        let (changed, _) = self.serve(&mut vss, at)?;
        let second = vss.certificate();
        ensure(changed == 1 && second != first, || format!("{changed} changes"))?;

        vss.block_pseudonym_change(at, 255);
        let blocked = vss.change_pseudonym(at).err().map(|error| error.to_string()).unwrap_or_default();
        ensure(vss.certificate() == second && !blocked.is_empty(), || "it changed though changes are blocked".into())?;
        vss.free_pseudonym_change(at);
        vss.change_pseudonym(at)?;
        self.serve(&mut vss, at)?;
        let third = vss.certificate();
        ensure(third != second, || "it did not change after it was freed".into())?;

        vss.indicate_network_id_change(at, layers[0])?;
        self.serve(&mut vss, at)?;
        ensure(vss.certificate() != third, || "the certificate did not follow the layer".into())?;

        let own = self.car.client.tickets()?;
        let recipient = own.iter().find(|(ticket, _)| Some(ticket.id()) == vss.certificate());
        let recipient = recipient.ok_or_else(|| TrialError::Wrong("the ticket in use is not in the folder".into()))?;
        let frame = vss.encrypt_sending_frame(b"toll", &[recipient.0.certificate().view()])?;
        let plain = vss.decrypt_received_frame(&frame)?;
        ensure(plain == b"toll", || "decryption gave something else".into())?;
        let mut forged = frame.clone();
        if let Some(last) = forged.last_mut() {
            *last ^= 1;
        }
        ensure(vss.decrypt_received_frame(&forged).is_err(), || "a changed frame was decrypted".into())?;
        Ok([
            format!("CAM of {} and DENM of {} bytes", cam.len(), message.len()),
            format!("both {}", verified.verdict),
            format!("all layers asked, certificate changed; without layers: {alone}"),
            format!("a change is refused: {blocked}"),
            "the change then takes place".into(),
            "two layers registered, both asked at each change".into(),
            "a layer's own change takes the certificate along".into(),
            format!("{} bytes for 4 to one recipient", frame.len()),
            "the same 4 bytes; a changed byte is refused".into(),
        ])
    }
}

fn certificates_in(folder: &Path) -> Result<usize, TrialError> {
    let entries = std::fs::read_dir(folder).map_err(TrialError::file(folder))?;
    let is_certificate = |path: &Path| path.extension().is_some_and(|extension| extension == "oer");
    Ok(entries.filter_map(Result::ok).filter(|entry| is_certificate(&entry.path())).count())
}

const _: () = assert!(MESSAGES > 2 * CHANGE_AFTER, "two changes fit");
