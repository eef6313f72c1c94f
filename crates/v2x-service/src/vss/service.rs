//! The services of a station, as a library.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{has_words, provider_name};
use chronoseal_v2x::message::{DecryptionKey, KeySource, Recipient, decrypt, encrypt};
use chronoseal_v2x::misbehaviour::Detector;
use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x::types::{
    Certificate, CertificateBuf, HashedId8, Ieee1609Dot2Content, Ieee1609Dot2Data, Psid, ThreeDLocation, Time64,
    TwoDLocation,
};
use chronoseal_v2x::verify::{Verifier, VerifierConfig};
use chronoseal_v2x::vss::{
    Answered, ChangeRefusal, Effect, LayerId, NetworkIds, PseudonymOrder, Request, SignRefusal, Station, Surroundings,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::VssError;
use super::config::VssConfig;
use super::lists::{ListSource, StoredLists, trusted};
use super::receiving::Waiting;
use super::ring::Ring;
use super::statistics::{EventLog, Record, Statistics};
use super::store::{Folder, Stored};
use crate::hsm::{KeyHandle, SharedHsm};
use crate::pki::Meta;
use crate::private::warning_if_readable;

/// Something the owner of a station has to know of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// These layers are to prepare for these identifiers and to answer: `requestNetworkIdChange`.
    AskLayers {
        /// Whom to ask.
        layers: Vec<LayerId>,
        /// What for.
        ids: NetworkIds,
    },
    /// The identifiers are these now.
    Changed(NetworkIds),
    /// A change did not take place.
    Abandoned(ChangeRefusal),
    /// These pseudonyms are to be requested; then [`Vss::add_ticket`] or [`Vss::adopt_ticket`] for each, or [`Vss::asked_in_vain`].
    RequestPseudonyms(PseudonymOrder),
}

/// What is known of a payload that is to be signed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'a> {
    /// Where it was made, for the header.
    pub location: Option<ThreeDLocation>,
    /// Where it was made, if only the payload says so.
    pub position: Option<TwoDLocation>,
    /// Permissions it needs: the bits that have to be set in the ticket, the first octet being the version.
    pub ssp_needed: Option<&'a [u8]>,
}

/// A station: its nine services and what they need.
pub struct Vss {
    pub(super) station: Station<KeyHandle>,
    pub(super) verifier: Verifier,
    pub(super) lists: StoredLists,
    pub(super) waiting: Waiting,
    pub(super) ring: Ring,
    pub(super) folder: Folder,
    pub(super) metas: BTreeMap<HashedId8, (CertificateBuf, Meta)>,
    surroundings: Surroundings,
    pub(super) rng: ChaCha20Rng,
    pub(super) record: Record,
    notices: VecDeque<Notice>,
    /// What is remembered of neighbours to see what is wrong with them, if that is looked for.
    pub(super) detector: Option<Detector>,
    /// Where this station last said that it was.
    pub(super) place: Option<ThreeDLocation>,
    /// Why none came, the last time.
    pub(super) no_pseudonyms: Option<String>,
}

/// What opening a station found amiss; none of it keeps the station from working.
#[derive(Clone, Debug, Default)]
pub struct Warnings(pub Vec<String>);

impl Vss {
    /// Opens a station as it is on the disk; a change that was cut short is finished.
    ///
    /// # Errors
    /// [`VssError`]: the configuration, a wrong PIN, a corrupt state, a full disk.
    pub fn open(config: &VssConfig, now: Time64) -> Result<(Self, Warnings), VssError> {
        let pin = super::read_pin(&config.pin_file)?;
        let hsm = SharedHsm::new(config.hsm.open_anywhere(&pin)?);
        Self::open_with(config, hsm, now)
    }

    /// As [`Vss::open`], with an HSM that is open already.
    ///
    /// # Errors
    /// As [`Vss::open`].
    pub fn open_with(config: &VssConfig, hsm: SharedHsm, now: Time64) -> Result<(Self, Warnings), VssError> {
        let refused = |reason| VssError::Config { file: config.folder.clone(), reason };
        let policy = config.change_policy().map_err(refused)?;
        let waiting = Waiting::new(config).map_err(refused)?;
        let mut warnings = Warnings(warning_if_readable(&config.pin_file).into_iter().collect());
        let (folder, found) = Folder::open(&config.folder.join("at"))?;
        for (file, reason) in &found.damaged {
            warnings.0.push(format!("{} was set aside: {reason}", file.display()));
        }
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| VssError::Random(error.to_string()))?;
        let mut rng = ChaCha20Rng::from_seed(seed);
        let known: Vec<KeyHandle> = hsm.lock().list()?.iter().map(|info| info.handle).collect();
        let mut metas = BTreeMap::new();
        let mut tickets = Vec::new();
        for Stored { id, certificate, meta } in found.stored {
            if !known.contains(&meta.signing_key) {
                warnings.0.push(format!("ticket {id} is of no use: its key {} is not in the HSM", meta.signing_key));
                continue;
            }
            tickets.push((certificate.clone(), meta.signing_key));
            metas.insert(id, (certificate, meta));
        }
        let station = Station::recover(config.pool(), policy, tickets, found.current, found.begun, now, &mut rng)?;
        let verifier = Verifier::new(VerifierConfig {
            replays_max: config.verification.replays,
            rules: config.trust.rules(),
            are_signer_tables_kept: config.verification.signer_tables,
            is_overdue_crl_refused: config.lists.refuses_overdue().map_err(refused)?,
            ..VerifierConfig::default()
        });
        let held = trusted(&config.trust)?;
        let lists = StoredLists::open(held, &config.folder, now, &mut warnings.0)?;
        let logging = &config.logging;
        let log = logging.file.as_deref().map(|file| EventLog::open(file, logging.circular, logging.file_len_max));
        let mut statistics = Statistics::new(logging.statistics, logging.memory);
        statistics.property("batches", waiting.engine().name());
        statistics.property("scalar", provider_name());
        statistics.property("scalar_p256", if has_words() { Engine::Words.name() } else { provider_name() });
        let own = metas.keys().copied().collect();
        let mut vss = Self {
            station,
            verifier,
            lists,
            waiting,
            ring: Ring { hsm, keys: BTreeMap::new() },
            folder,
            metas,
            surroundings: Surroundings::default(),
            rng,
            record: Record {
                statistics,
                log: log.transpose()?,
                own,
                names_own: logging.pseudonyms,
                tells_results: logging.results,
            },
            notices: VecDeque::new(),
            detector: config.misbehaviour.as_ref().map(|_| Detector::default()),
            place: None,
            no_pseudonyms: None,
        };
        warnings.0.extend(vss.lists.trust(&mut vss.verifier, now, &mut vss.record));
        vss.take_lists(ListSource::new(&config.lists).read_files(), now)?;
        if vss.station.certificate().is_none() {
            // Nothing was on the air yet: the first pseudonym needs nobody's consent.
            vss.station.begin_first(now);
        }
        vss.settle(now)?;
        Ok((vss, warnings))
    }

    /// The HSM.
    pub fn hsm(&self) -> &SharedHsm {
        &self.ring.hsm
    }

    /// Whom to trust, and what is remembered of neighbours.
    pub fn verifier_mut(&mut self) -> &mut Verifier {
        &mut self.verifier
    }

    /// The pseudonym in use.
    pub fn certificate(&self) -> Option<HashedId8> {
        self.station.certificate().map(|certificate| certificate.id())
    }

    /// Pseudonyms that were never used.
    pub fn unused(&self) -> usize {
        self.station.pool().unused().len()
    }

    /// Measured and counted so far.
    pub fn statistics(&self) -> &Statistics {
        &self.record.statistics
    }

    /// The next notice for the owner.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// `createSignature`.
    ///
    /// # Errors
    /// [`VssError::Sign`] with the reason.
    pub fn create_signature(
        &mut self,
        now: Time64,
        psid: Psid,
        payload: &[u8],
        location: Option<ThreeDLocation>,
    ) -> Result<Vec<u8>, VssError> {
        self.create_signature_for(now, psid, payload, &Claims { location, ..Claims::default() })
    }

    /// `createSignature` of a payload of which more is known: the ticket has to allow that, too.
    ///
    /// # Errors
    /// As [`Vss::create_signature`].
    pub fn create_signature_for(
        &mut self,
        now: Time64,
        psid: Psid,
        payload: &[u8],
        claims: &Claims<'_>,
    ) -> Result<Vec<u8>, VssError> {
        if let Some(authority) = self.revoked_authority() {
            self.record.statistics.count("signatures", "refused-revoked");
            return Err(VssError::OwnAuthorityRevoked(authority));
        }
        let began = Instant::now();
        // Whoever reads one of these may never have heard the station before.
        let is_lone = matches!(psid, Psid::DENM | Psid::MISBEHAVIOUR);
        let wanted = if is_lone { Vec::new() } else { self.verifier.peers_mut().inline_request(now) };
        let always_certificate = is_lone || self.verifier.peers_mut().take_own_wanted();
        let Claims { location, position, ssp_needed } = *claims;
        let said = location.or_else(|| {
            position.map(|TwoDLocation { latitude, longitude }| ThreeDLocation {
                latitude,
                longitude,
                elevation: 4_095,
            })
        });
        self.place = said.or(self.place);
        let request = Request { psid, payload, location, position, ssp_needed, always_certificate, wanted: &wanted };
        let signed = self.station.create_signature(now, &request, &self.surroundings, &mut self.ring, &mut self.rng);
        self.record.statistics.checkpoint("createSignature", nanoseconds(began));
        self.settle(now)?;
        match signed {
            Ok(message) => {
                self.record.statistics.count("signatures", "made");
                self.record.result(now, "createSignature", "success");
                Ok(message)
            }
            Err(refusal) => {
                self.record.statistics.count("signatures", name_of(&refusal));
                self.record.note(now, &format!("no signature: {refusal}"));
                Err(refusal.into())
            }
        }
    }

    /// `encryptSendingFrame`: for the holders of these certificates.
    ///
    /// # Errors
    /// [`VssError::Encrypt`] if one has no key to encrypt to.
    pub fn encrypt_sending_frame(
        &mut self,
        payload: &[u8],
        recipients: &[Certificate<'_>],
    ) -> Result<Vec<u8>, VssError> {
        let began = Instant::now();
        let plaintext = Ieee1609Dot2Data::unsecured(payload).to_coer()?;
        let recipients: Vec<Recipient<'_>> = recipients.iter().map(Recipient::Certificate).collect();
        let (message, _) = encrypt(&plaintext, &recipients, &mut self.rng)?;
        self.record.statistics.checkpoint("encryptSendingFrame", nanoseconds(began));
        self.record.statistics.count("frames", "encrypted");
        Ok(message)
    }

    /// `decryptReceivedFrame`: what was encrypted to a certificate of this station. A message inside comes as its bytes.
    ///
    /// # Errors
    /// [`VssError::NotForUs`], or [`VssError::Decrypt`].
    pub fn decrypt_received_frame(&mut self, message: &[u8]) -> Result<Vec<u8>, VssError> {
        let began = Instant::now();
        let data = Ieee1609Dot2Data::from_coer(message)?;
        let encrypted = data.encrypted_data().ok_or(VssError::NotEncrypted)?;
        let ours = encrypted.recipients.iter().find_map(|recipient| {
            let (certificate, meta) = self.metas.get(&recipient.recipient_id())?;
            Some((certificate, meta.decryption_key?))
        });
        let (certificate, handle) = ours.ok_or(VssError::NotForUs)?;
        let key = self.ring.key(handle).map_err(|error| VssError::Key(error.to_string()))?;
        let source = KeySource::Certificate(&certificate.view());
        let decrypted = decrypt(encrypted, DecryptionKey::Private { source, key })?;
        self.record.statistics.checkpoint("decryptReceivedFrame", nanoseconds(began));
        self.record.statistics.count("frames", "decrypted");
        let plaintext = decrypted.plaintext.to_vec();
        let inner = Ieee1609Dot2Data::from_coer(&plaintext)?;
        Ok(match inner.content {
            Ieee1609Dot2Content::UnsecuredData(payload) => payload.to_vec(),
            _ => plaintext.clone(),
        })
    }

    /// `changePseudonym`.
    ///
    /// # Errors
    /// [`VssError::Change`] with what stands in the way.
    pub fn change_pseudonym(&mut self, now: Time64) -> Result<(), VssError> {
        let begun = self.station.change_pseudonym(now, &mut self.rng);
        self.settle(now)?;
        Ok(begun?)
    }

    /// `blockPseudonymChange`.
    pub fn block_pseudonym_change(&mut self, now: Time64, duration_s: u8) {
        self.station.block_pseudonym_change(now, duration_s);
        self.record.note(now, &format!("changes blocked for {duration_s} s"));
    }

    /// `freePseudonymChange`.
    pub fn free_pseudonym_change(&mut self, now: Time64) {
        self.station.free_pseudonym_change();
        self.record.note(now, "changes free");
    }

    /// `registerRequestNetworkIdChange`.
    pub fn register_request_network_id_change(&mut self) -> LayerId {
        self.station.register_request_network_id_change()
    }

    /// A layer's answer to [`Notice::AskLayers`].
    ///
    /// # Errors
    /// [`VssError::Io`] if the change cannot be written down; it is abandoned when its time is over.
    pub fn answer(&mut self, now: Time64, layer: LayerId, is_ready: bool) -> Result<Answered, VssError> {
        let answered = self.station.answer(layer, is_ready);
        self.settle(now)?;
        Ok(answered)
    }

    /// A layer is gone.
    ///
    /// # Errors
    /// As [`Vss::answer`].
    pub fn remove_layer(&mut self, now: Time64, layer: LayerId) -> Result<(), VssError> {
        self.station.remove_layer(layer);
        self.settle(now)
    }

    /// `indicateNetworkIdChange`.
    ///
    /// # Errors
    /// As [`Vss::change_pseudonym`].
    pub fn indicate_network_id_change(&mut self, now: Time64, layer: LayerId) -> Result<(), VssError> {
        let begun = self.station.indicate_network_id_change(layer, now, &mut self.rng);
        self.settle(now)?;
        Ok(begun?)
    }

    /// The station has moved, and these are around it now.
    pub fn moved(&mut self, distance_mm: u64, surroundings: Surroundings) {
        self.station.moved(distance_mm);
        self.surroundings = surroundings;
    }

    /// Time passed. To be called every 100 ms or so.
    ///
    /// # Errors
    /// [`VssError::Io`] if something cannot be written down.
    pub fn handle_timeout(&mut self, now: Time64) -> Result<(), VssError> {
        self.station.handle_timeout(now, &self.surroundings, &mut self.rng);
        self.settle(now)
    }

    /// Does what the station wants done, the disk first.
    pub(super) fn settle(&mut self, now: Time64) -> Result<(), VssError> {
        while let Some(effect) = self.station.poll_effect() {
            match effect {
                Effect::Persist(record) => {
                    let began = Instant::now();
                    self.folder.persist(&record)?;
                    self.record.statistics.checkpoint("persist", nanoseconds(began));
                }
                Effect::AskLayers { layers, ids } => self.notices.push_back(Notice::AskLayers { layers, ids }),
                Effect::Changed(ids) => {
                    self.record.statistics.count("pseudonym_changes", "made");
                    let name = self.record.name_of(ids.certificate);
                    self.record.note(now, &format!("pseudonym changed{name}"));
                    self.verifier.peers_mut().set_own([ids.certificate]);
                    self.notices.push_back(Notice::Changed(ids));
                }
                Effect::Abandoned(why) => {
                    self.record.statistics.count("pseudonym_changes", "abandoned");
                    self.record.note(now, &format!("change abandoned: {why}"));
                    self.notices.push_back(Notice::Abandoned(why));
                }
                Effect::DeleteKey(handle) => self.delete_key(now, handle),
                Effect::RequestPseudonyms(order) => {
                    let from = order.period.map(|period| format!(", valid from {} UTC", period.start.time64().date()));
                    let text = format!("{} pseudonyms to be requested{}", order.count, from.unwrap_or_default());
                    self.record.note(now, &text);
                    self.notices.push_back(Notice::RequestPseudonyms(order));
                }
            }
        }
        Ok(())
    }
}

fn name_of(refusal: &SignRefusal) -> &'static str {
    match refusal {
        SignRefusal::Pool(chronoseal_v2x::vss::PoolError::Changing) => "refused-changing",
        SignRefusal::Pool(_) => "refused-no-pseudonym",
        SignRefusal::Silence { .. } => "refused-silence",
        SignRefusal::NotAllowed { .. } => "refused-by-ticket",
        SignRefusal::Sign(_) => "refused-key",
    }
}

pub(super) fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
