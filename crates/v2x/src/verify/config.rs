//! What is asked of messages.

use std::collections::BTreeMap;

use crate::certificate::CertificateForm;
use crate::coer::Rules;
use crate::region::{Geography, NoGeography};
use crate::types::{Psid, Time64, TwoDLocation};

/// Which header fields TS 103 097 clause 7.1 asks for and forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Any header.
    #[default]
    None,
    /// Clause 7.1.1: generation time; no place; signed by digest or certificate.
    Cam,
    /// Clause 7.1.2: generation time and place; signed by certificate.
    Denm,
    /// Clause 7.1.3: generation time.
    Other,
}

/// What is asked of the messages of one application area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PsidPolicy {
    /// The profile.
    pub profile: Profile,
    /// How old a message may be; 0: any age `[us]`.
    pub past_max_us: u64,
    /// How far ahead the sender's clock may be; only with `past_max_us` `[us]`.
    pub future_max_us: u64,
    /// How far away a message may have been made; 0: anywhere `[m]`.
    pub distance_max_m: u32,
    /// Whether a message seen before is refused.
    pub is_replay_refused: bool,
    /// Whether a message is refused if its certificate is valid somewhere only and nobody knows where it was made.
    pub is_location_needed: bool,
}

impl PsidPolicy {
    /// CAM, TS 103 097 clause 7.1.1: 2 s old at most, 200 ms ahead.
    pub const CAM: Self = Self {
        profile: Profile::Cam,
        past_max_us: 2_000_000,
        future_max_us: 200_000,
        distance_max_m: 0,
        is_replay_refused: true,
        is_location_needed: false,
    };
    /// DENM, TS 103 097 clause 7.1.2: repeated, hence 10 min old at most.
    pub const DENM: Self = Self { profile: Profile::Denm, past_max_us: 600_000_000, ..Self::CAM };
    /// Any other, with CAM's times.
    pub const OTHER: Self = Self { profile: Profile::Other, ..Self::CAM };
    /// Messages of authorities: of any age, from anywhere.
    pub const AUTHORITY: Self = Self {
        profile: Profile::Other,
        past_max_us: 0,
        future_max_us: 0,
        distance_max_m: 0,
        is_replay_refused: false,
        is_location_needed: false,
    };
}

/// How a [`Verifier`](super::Verifier) is set up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VerifierConfig {
    /// Strictness and limits of decoding.
    pub rules: Rules,
    /// What certificates are identified by.
    pub certificate_form: CertificateForm,
    /// Policies of single application areas.
    pub policies: BTreeMap<Psid, PsidPolicy>,
    /// That of all others; none: they are refused.
    pub other: Option<PsidPolicy>,
    /// Longest message that is looked at `[byte]`.
    pub message_len_max: usize,
    /// Most neighbours kept.
    pub neighbours_max: usize,
    /// Most messages remembered against replay. If more than half of them come while a message is fresh, at 2.2 s and
    /// 32,768 more than 7,400 a second, some are forgotten early: [`ReplayCache::cut_short_count`](super::ReplayCache::cut_short_count).
    pub replays_max: usize,
    /// Take the memory for them at once, so that no message that comes takes any; else as they come, for who makes many receivers.
    pub are_replays_reserved: bool,
    /// Whether multiples of each neighbour's key are kept from the second message on, 8 KB for each of `neighbours_max`, gone with the
    /// neighbour: [`VerifyingKey::remember`](crate::crypto::VerifyingKey::remember). Off, because patents claim it in places (see the
    /// README of `chronoseal-ecdsa-lanes`). Those of authorities' keys are always kept.
    pub are_signer_tables_kept: bool,
    /// Whether a chain is refused while the newest revocation list of its root is overdue.
    pub is_overdue_crl_refused: bool,
    /// Whether a message is refused if its certificates' regions cannot be judged: a country without a map, regions of which
    /// nobody can say whether one lies in the other. IEEE 1609.2 clause 6.4.17 says so; the default is not to, and to
    /// say in the verdict what was skipped, since most receivers have no map and most European certificates name countries.
    /// A message's own place is held against every region of the chain in either case.
    pub is_region_doubt_refused: bool,
}

impl Default for VerifierConfig {
    fn default() -> Self {
        let policies = [(Psid::CAM, PsidPolicy::CAM), (Psid::DENM, PsidPolicy::DENM)];
        Self {
            rules: Rules::STRICT,
            certificate_form: CertificateForm::Canonical,
            policies: policies.into(),
            other: Some(PsidPolicy::OTHER),
            message_len_max: 65_535,
            neighbours_max: 1_000,
            replays_max: 32_768,
            are_replays_reserved: true,
            are_signer_tables_kept: false,
            is_overdue_crl_refused: false,
            is_region_doubt_refused: false,
        }
    }
}

impl VerifierConfig {
    /// The policy of an application area.
    pub fn policy(&self, psid: Psid) -> Option<&PsidPolicy> {
        self.policies.get(&psid).or(self.other.as_ref())
    }
}

/// What the receiver knows when a message comes in.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The time.
    pub now: Time64,
    /// Where the receiver is, to tell how far away the sender is.
    pub position: Option<TwoDLocation>,
    /// Where the payload says that it was made; used if the header does not say.
    pub payload_location: Option<TwoDLocation>,
    /// The application area the message came in by.
    pub psid: Option<Psid>,
    /// Permissions the payload needs: the bits that have to be set, the first octet being the version.
    pub ssp_needed: Option<&'a [u8]>,
    /// The payload, if it came otherwise.
    pub external_payload: Option<&'a [u8]>,
    /// Where countries lie.
    pub geography: &'a dyn Geography,
}

impl Context<'_> {
    /// Nothing is known but the time.
    pub fn at(now: Time64) -> Self {
        Self {
            now,
            position: None,
            payload_location: None,
            psid: None,
            ssp_needed: None,
            external_payload: None,
            geography: &NoGeography,
        }
    }
}

impl core::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("position", &self.position).finish_non_exhaustive()
    }
}
