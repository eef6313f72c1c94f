//! Algorithm, tag and freshness, checked against each other.

use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, MacAlgorithm, Profile, ProfileError, TripResetLayout};

use crate::kinds::{Context, Place};
use crate::problem::Code;
use crate::quantity::Bits;
use crate::source::at;
use crate::spec::{FreshnessSpec, SecOcSpec};

/// Freshness values of profile 1, which leaves their format open: one counter for each stream.
const SECOC_FRESHNESS: FreshnessFormat = FreshnessFormat::Counter { bits: 64 };

/// What a table says of a profile.
pub(super) struct Written {
    pub(super) mac: MacAlgorithm,
    pub(super) tag: Bits,
    pub(super) freshness: FreshnessSpec,
    pub(super) replay_window: u8,
}

impl Context<'_> {
    /// The profile of a table at `place`, whose keys name the algorithm and the length of the tag. What is wrong is replaced.
    pub(super) fn profile(&mut self, place: &Place<'_>, keys: [&str; 2], written: &Written) -> Profile {
        let &Written { mac, replay_window, .. } = written;
        let tag_bits = self.tag(place, keys, mac, written.tag);
        let freshness = self.freshness_of(written.freshness);
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
    fn tag(&mut self, place: &Place<'_>, [algorithm, key]: [&str; 2], mac: MacAlgorithm, tag: Bits) -> u16 {
        let (least, most) = (Bits(u32::from(mac.tag_bits_min())), Bits(u32::from(mac.tag_bits_max())));
        let (at, help) = (place.clone().key(key), format!("write {least} to {most}"));
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
                false if tag == Bits(0) => format!("a tag of {tag} is none"),
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
            (FreshnessSpec::Rising(rising), ProfileError::CounterWidth { .. }) => (
                at.key("rising").key("counter"),
                format!("a counter of {} cannot be kept", rising.counter.0),
                "1bit to 8B",
                "write 1bit to 8B".to_owned(),
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

    /// The profile that a table of SecOC names, or whose lengths it has.
    pub(super) fn secoc_profile(&mut self, i: usize, spec: &SecOcSpec) -> Profile {
        let place = Place::new("protections").entry(i).key("secoc");
        let own = [
            ("authenticator", spec.authenticator.is_some()),
            ("freshness", spec.freshness.is_some()),
            ("algorithm", spec.algorithm.is_some()),
        ];
        let counted = secoc::profile_1(SECOC_FRESHNESS).expect("8 bits of a counter of 8 bytes can be sent");
        match (spec.profile, spec.authenticator, spec.freshness) {
            (Some(profile), ..) => {
                if let Some((key, _)) = own.iter().find(|(_, is_written)| *is_written) {
                    self.report(
                        Code::ChooseOne,
                        &place.key(key),
                        format!("profile {profile} of SecOC has its own lengths"),
                        "beside a profile",
                        "take this out, or `profile`",
                    );
                }
                self.preset(i, profile).unwrap_or(counted)
            }
            (None, Some(authenticator), Some(freshness)) => {
                let mac = spec.algorithm.map_or(MacAlgorithm::CmacAes128, |algorithm| algorithm.0);
                let is_of_secoc =
                    matches!(freshness, FreshnessSpec::Rising(_) | FreshnessSpec::TripReset(_) | FreshnessSpec::None);
                if !is_of_secoc {
                    self.report(
                        Code::BadFreshness,
                        &place.clone().key("freshness"),
                        "SecOC counts messages, or trips, resets and messages",
                        "none of SecOC",
                        "write `{ rising = { counter = \"32bit\", sent = \"8bit\" } }`, `{ trip_reset = { sent = \"4bit\" } }` or \
                         `\"none\"`, or use `mac` for this one",
                    );
                    return counted;
                }
                let names = [if spec.algorithm.is_some() { "algorithm" } else { "authenticator" }, "authenticator"];
                self.profile(&place, names, &Written { mac, tag: authenticator.0, freshness, replay_window: 1 })
            }
            (None, ..) => {
                self.report(
                    Code::ChooseOne,
                    &place,
                    "SecOC needs a profile, or lengths of authenticator and freshness",
                    "neither whole",
                    "write `{ profile = 1 }`, or `{ authenticator = \"28bit\", freshness = { rising = { counter = \"32bit\", sent = \
                     \"4bit\" } } }`",
                );
                counted
            }
        }
    }

    /// AUTOSAR's own profiles.
    fn preset(&mut self, i: usize, number: u8) -> Option<Profile> {
        match number {
            1 => secoc::profile_1(SECOC_FRESHNESS).ok(),
            2 => Some(secoc::profile_2()),
            3 => {
                let layout = self.counters();
                if secoc::JASPAR.complete_len() != layout.complete_len() || layout.padding_bits() != 0 {
                    self.report(
                        Code::BadFreshness,
                        at!["freshness", "counters"],
                        "profile 3 of SecOC has a freshness value of 64 bits",
                        "62 bits are needed, and the reset flag",
                        "write counters of 62 bits in all, or lengths of your own instead of `profile = 3`",
                    );
                    return Some(secoc::profile_3());
                }
                secoc::profile(FreshnessFormat::TripReset(layout), 4, 28).ok()
            }
            other => {
                self.report(
                    Code::OutOfRange,
                    at!["protections", i, "secoc", "profile"],
                    format!("SecOC has no profile {other}"),
                    "no such profile",
                    "write `profile = 1`, 2 or 3",
                );
                None
            }
        }
    }

    /// The counters that `[freshness]` describes, or those of profile 3. What is impossible of them is reported by [`Self::check_counters`].
    pub(in crate::resolve) fn counters(&self) -> TripResetLayout {
        let written = self.spec.freshness.as_ref().and_then(|freshness| freshness.counters);
        let layout = written.map(|counters| {
            let width = |bits: Bits| u8::try_from(bits.0).unwrap_or(u8::MAX);
            TripResetLayout {
                trip_bits: width(counters.trip.0),
                reset_bits: width(counters.reset.0),
                message_bits: width(counters.message.0),
            }
        });
        layout.filter(|layout| layout.check().is_ok()).unwrap_or(secoc::JASPAR)
    }

    /// Reports counters that no freshness value is made of.
    pub(super) fn check_counters(&mut self) {
        let Some(counters) = self.spec.freshness.as_ref().and_then(|freshness| freshness.counters) else { return };
        let place = Place::new("freshness").key("counters");
        let limits =
            [("trip", counters.trip, 1, 24), ("reset", counters.reset, 2, 24), ("message", counters.message, 1, 48)];
        let mut sum = 0u32;
        for (key, bits, least, most) in limits {
            sum = sum.saturating_add(bits.0.0);
            if !(least..=most).contains(&bits.0.0) {
                self.report(
                    Code::BadFreshness,
                    &place.clone().key(key),
                    format!("a {key} counter of {} cannot be kept", bits.0),
                    &format!("{least}bit to {most}bit"),
                    format!("write {least}bit to {most}bit"),
                );
                return;
            }
        }
        if sum > 62 {
            self.report(
                Code::BadFreshness,
                &place,
                format!("counters of {sum} bits and the 2 of the reset flag are more than the 64 of a freshness value"),
                "too wide together",
                "write 62 bits in all at most",
            );
        }
    }

    /// As written; a length that no value has stays one that none has.
    fn freshness_of(&self, spec: FreshnessSpec) -> Freshness {
        let bits = |bits: Bits| u8::try_from(bits.0).unwrap_or(u8::MAX);
        match spec {
            FreshnessSpec::CycleCounter => Freshness::CycleCounter,
            FreshnessSpec::Full => Freshness::Full,
            FreshnessSpec::None => Freshness::None,
            FreshnessSpec::Truncated(sent) => Freshness::Truncated { bits: bits(sent.0) },
            FreshnessSpec::Rising(rising) => {
                Freshness::Rising { bits: bits(rising.counter.0), sent_bits: bits(rising.sent.0) }
            }
            // The synchronisation message announces counters of this layout.
            FreshnessSpec::TripReset(counted) => {
                Freshness::TripReset { layout: self.counters(), sent_bits: bits(counted.sent.0) }
            }
        }
    }
}
