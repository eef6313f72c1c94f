//! Algorithm, tag and freshness, checked against each other.

use chronoseal_core::Bytes;
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, MacAlgorithm, Profile, ProfileError};

use crate::kinds::{Context, Place};
use crate::problem::Code;
use crate::quantity::Bits;
use crate::source::at;
use crate::spec::{FreshnessSpec, SecOcSpec};

/// Freshness values of profile 1, which leaves their format open: one counter for each stream.
const SECOC_FRESHNESS: FreshnessFormat = FreshnessFormat::Counter { len: 8 };

/// What a table says of a profile.
pub(super) struct Written {
    pub(super) mac: MacAlgorithm,
    pub(super) tag: Bits,
    pub(super) freshness: FreshnessSpec,
    pub(super) replay_window: u8,
}

impl Context<'_> {
    /// The profile of a table at `place`, whose key `algorithm` names the algorithm. What is wrong is replaced.
    pub(super) fn profile(&mut self, place: &Place<'_>, algorithm: &str, written: &Written) -> Profile {
        let &Written { mac, replay_window, .. } = written;
        let tag_bits = self.tag(place, algorithm, mac, written.tag);
        let freshness = freshness(written.freshness);
        match Profile::new(mac, tag_bits, freshness, replay_window) {
            Ok(profile) => profile,
            Err(error) => {
                self.no_profile(place, written.freshness, error);
                Profile::new(mac, tag_bits, Freshness::Full, replay_window.clamp(1, 64))
                    .expect("a tag within its limits and a whole freshness value go with every algorithm")
            }
        }
    }

    /// The length of the tag, held between the least and the most of the algorithm `[bit]`.
    fn tag(&mut self, place: &Place<'_>, algorithm: &str, mac: MacAlgorithm, tag: Bits) -> u16 {
        let (least, most) = (Bits(u32::from(mac.tag_bits_min())), Bits(u32::from(mac.tag_bits_max())));
        let (at, help) = (place.clone().key("tag"), format!("write {least} to {most}"));
        if tag > most {
            self.report_both(
                Code::TagLength,
                (&at, "longer than the whole tag"),
                (&place.clone().key(algorithm), &format!("gives {most}")),
                format!("a tag of {tag} is longer than the {most} of {mac}"),
                help,
            );
        } else if tag < least {
            let message = match mac.needs_nonce() {
                // Each forgery that passes tells of the key of the hash.
                true => format!(
                    "a tag of {tag} of {mac} is for applications that limit messages and forgeries (NIST SP 800-38D, appendix C), \
                     and nothing on a network limits what a forger sends"
                ),
                false => format!("a tag of {tag} is guessed too soon"),
            };
            self.report(Code::TagLength, &at, message, "too short", help);
        } else if !mac.takes_tag_bits(tag.0 as u16) {
            self.report(Code::TagLength, &at, format!("{mac} has no tag of {tag}"), "not in whole bytes", help);
        }
        let tag_bits = tag.clamp(least, most).0 as u16;
        tag_bits / mac.tag_bits_step() * mac.tag_bits_step()
    }

    fn no_profile(&mut self, place: &Place<'_>, written: FreshnessSpec, error: ProfileError) {
        let at = place.clone().key("freshness");
        let (at, message, label, help) = match (written, error) {
            (FreshnessSpec::Truncated(len), _) => (
                at.key("truncated"),
                format!("a freshness value of 8B cannot be truncated to {}", len.0),
                "1bit to 63bit",
                "write `\"1B\"` to `\"7B\"`, or `freshness = \"full\"` for all 8".to_owned(),
            ),
            (FreshnessSpec::Rising(_), ProfileError::CounterLen { found }) => (
                at.key("rising").key("counter"),
                format!("a counter of {} cannot be kept", Bytes(u64::from(found))),
                "1B to 8B",
                "write 1B to 8B".to_owned(),
            ),
            (FreshnessSpec::Rising(_) | FreshnessSpec::TripReset(_), ProfileError::SentBits { found, least, most }) => {
                let table = if matches!(written, FreshnessSpec::Rising(_)) { "rising" } else { "trip_reset" };
                (
                    at.key(table).key("sent"),
                    format!("{} of this freshness value cannot be sent", Bits(u32::from(found))),
                    "not as much as it has",
                    format!("write {}bit to {}", least, Bits(u32::from(most))),
                )
            }
            (_, error) => {
                (at, error.to_string(), "does not go with the algorithm", "choose another freshness".to_owned())
            }
        };
        self.report(Code::FreshnessLength, &at, message, label, help);
    }

    pub(super) fn secoc_profile(&mut self, i: usize, spec: &SecOcSpec) -> Profile {
        let counted = secoc::profile_1(SECOC_FRESHNESS).expect("8 bits of a counter of 8 bytes can be sent");
        match spec.profile {
            1 => counted,
            2 => secoc::profile_2(),
            3 => secoc::profile_3(),
            other => {
                self.report(
                    Code::OutOfRange,
                    at!["protections", i, "secoc", "profile"],
                    format!("SecOC has no profile {other}"),
                    "no such profile",
                    "write `profile = 1`, 2 or 3",
                );
                counted
            }
        }
    }
}

/// As written; a length that no value has stays one that none has.
fn freshness(spec: FreshnessSpec) -> Freshness {
    let bits = |bits: Bits| u8::try_from(bits.0).unwrap_or(u8::MAX);
    match spec {
        FreshnessSpec::CycleCounter => Freshness::CycleCounter,
        FreshnessSpec::Full => Freshness::Full,
        FreshnessSpec::None => Freshness::None,
        FreshnessSpec::Truncated(sent) => Freshness::Truncated { bits: bits(sent.0) },
        FreshnessSpec::Rising(rising) => Freshness::Rising {
            len: u8::try_from(rising.counter.0.0).unwrap_or(u8::MAX),
            sent_bits: bits(rising.sent.0),
        },
        // The synchronisation message announces counters of this layout.
        FreshnessSpec::TripReset(counted) => {
            Freshness::TripReset { layout: secoc::JASPAR, sent_bits: bits(counted.sent.0) }
        }
    }
}
