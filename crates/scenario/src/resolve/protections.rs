//! Ways to protect a stream.

use chronoseal_core::Bytes;
use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_frameauth::Profile;
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, HashAlgorithm, KeyBytes};

use crate::kinds::Context;
use crate::limits::*;
use crate::plan::{Key, ProtectionId, ProtectionKind, ProtectionPlan};
use crate::problem::Code;
use crate::source::{Step, at};
use crate::spec::{FreshnessSpec, HashSpec, HmacSpec, SecOcSpec};

/// The protection that always exists.
const NONE: &str = "none";
/// The key that all have from the start.
const PRE_SHARED: &str = "pre-shared";
/// Freshness values of profile 1, which leaves their format open: one counter for each stream.
const SECOC_FRESHNESS: FreshnessFormat = FreshnessFormat::Counter { len: 8 };

impl Context<'_> {
    /// The protections, `none` first. `key` is the name of the key that nodes have in common.
    pub(super) fn protections(&mut self, key: Option<&str>) -> Vec<ProtectionPlan> {
        let specs = &self.spec.protections;
        self.unique("protections", specs.iter().map(|spec| spec.name.as_str()));
        let mut protections = vec![ProtectionPlan { name: NONE.into(), kind: ProtectionKind::None }];
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["protections", i, "name"], "the protection's name");
            let written = [spec.none.is_some(), spec.size_only.is_some(), spec.hmac.is_some(), spec.secoc.is_some()];
            if written.iter().filter(|written| **written).count() != 1 {
                self.report(
                    Code::ChooseOne,
                    at!["protections", i],
                    format!("protection `{}` has to be exactly one of `none`, `size_only`, `hmac`, `secoc`", spec.name),
                    "not exactly one",
                    "write `hmac = { hash = \"sha-256\", tag = \"16B\" }`, `secoc = { profile = 1 }`, \
                     `size_only = { overhead = \"24B\" }` or `none = {}`",
                );
            }
            let kind = match (&spec.size_only, &spec.hmac, &spec.secoc) {
                (Some(size_only), ..) => {
                    let path = at!["protections", i, "size_only", "overhead"];
                    let max = Bytes(u64::from(FRAME_LEN_MAX - FRAME_LEN_MIN));
                    let overhead = self.within(path, "the overhead", size_only.overhead.0, Bytes(0), max);
                    ProtectionKind::SizeOnly { overhead: overhead.0 as u32 }
                }
                (None, Some(hmac), _) => self.hmac(i, hmac),
                (None, None, Some(secoc)) => ProtectionKind::SecOc {
                    profile: self.secoc_profile(i, secoc),
                    under_group_key: self.is_under(at!["protections", i, "secoc", "key"], secoc.key.as_deref(), key),
                },
                (None, None, None) => ProtectionKind::None,
            };
            if spec.name == NONE {
                if !matches!(kind, ProtectionKind::None) {
                    self.report(
                        Code::BadName,
                        at!["protections", i, "name"],
                        "`none` is the protection that does nothing",
                        "misleading",
                        "give it another name",
                    );
                }
                continue;
            }
            protections.push(ProtectionPlan { name: spec.name.clone(), kind });
        }
        protections
    }

    /// Whether a key named `written`, or not named, is that called `key`; otherwise it is drawn from the seed.
    pub(super) fn is_under(&mut self, path: &[Step<'_>], written: Option<&str>, key: Option<&str>) -> bool {
        match (written, key) {
            (Some(PRE_SHARED), _) | (None, None) => false,
            (None, Some(_)) => true,
            (Some(name), Some(key)) if name == key => true,
            (Some(name), _) => {
                let mut names: Vec<&str> = self.spec.keys.keys().map(String::as_str).collect();
                names.push(PRE_SHARED);
                // A second key has been refused already.
                if !self.spec.keys.contains_key(name) {
                    self.find(name, &names, path, "key", "keys");
                }
                key.is_some()
            }
        }
    }

    fn secoc_profile(&mut self, i: usize, spec: &SecOcSpec) -> Profile {
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

    fn hmac(&mut self, i: usize, spec: &HmacSpec) -> ProtectionKind {
        let hash = match spec.hash {
            HashSpec::Sha1 => HashAlgorithm::Sha1,
            HashSpec::Sha256 => HashAlgorithm::Sha256,
            HashSpec::Sha3_256 => HashAlgorithm::Sha3_256,
        };
        let tag_max = hash.output_len() as u64;
        let tag = spec.tag.0.0;
        if tag > tag_max {
            self.report_both(
                Code::TagLength,
                (at!["protections", i, "hmac", "tag"], "longer than the hash"),
                (at!["protections", i, "hmac", "hash"], &format!("gives {tag_max} bytes")),
                format!("a tag of {tag}B is longer than the {tag_max}B of {}", hash.name()),
                format!("write {TAG_LEN_MIN}B to {tag_max}B"),
            );
        } else if tag < TAG_LEN_MIN {
            self.report(
                Code::TagLength,
                at!["protections", i, "hmac", "tag"],
                format!("a tag of {tag}B is guessed too soon"),
                "too short",
                format!("write {TAG_LEN_MIN}B to {tag_max}B"),
            );
        }
        let freshness = match spec.freshness {
            FreshnessSpec::CycleCounter => Freshness::CycleCounter,
            FreshnessSpec::Full => Freshness::Full,
            FreshnessSpec::None => Freshness::None,
            FreshnessSpec::Truncated(len) => match len.0.0 {
                len @ 1..=7 => Freshness::Truncated { bits: 8 * len as u8 },
                len => {
                    self.report(
                        Code::FreshnessLength,
                        at!["protections", i, "hmac", "freshness", "truncated"],
                        format!("a freshness value of 8B cannot be truncated to {len}B"),
                        "1B to 7B",
                        "write 1B to 7B, or `freshness = \"full\"` for all 8",
                    );
                    Freshness::Full
                }
            },
        };
        ProtectionKind::Hmac {
            hash,
            tag_len: tag.clamp(TAG_LEN_MIN, tag_max) as u8,
            freshness,
            replay_window: spec.replay_window,
            key: Key(self.key(i, spec.key.as_deref())),
        }
    }

    /// The key as written, or drawn from the seed. A key that cannot be read is never shown.
    fn key(&mut self, i: usize, written: Option<&str>) -> KeyBytes {
        if let Some(text) = written {
            match KeyBytes::from_hex(text) {
                Ok(key) => return key,
                Err(error) => self.report(
                    Code::BadKey,
                    at!["protections", i, "hmac", "key"],
                    format!("the key cannot be read: {error}"),
                    "no key",
                    format!("write {} hexadecimal digits, or leave `key` out", 2 * KeyBytes::LEN),
                ),
            }
        }
        let mut bytes = [0; KeyBytes::LEN];
        random::stream(self.spec.seed, Purpose::Key, i as u64).fill_bytes(&mut bytes);
        KeyBytes::from_array(bytes)
    }

    /// What `check` compares.
    pub(super) fn candidates(&mut self, protections: &[ProtectionPlan]) -> Vec<ProtectionId> {
        let Some(written) = &self.spec.candidates else {
            return (0..protections.len()).map(|i| ProtectionId(i as u16)).collect();
        };
        let names: Vec<&str> = protections.iter().map(|protection| protection.name.as_str()).collect();
        let mut candidates = Vec::new();
        for (i, name) in written.iter().enumerate() {
            let path = at!["candidates", i];
            let Some(found) = self.find(name, &names, path, "protection", "protections") else { continue };
            let id = ProtectionId(found as u16);
            if candidates.contains(&id) {
                self.report(
                    Code::DuplicateName,
                    path,
                    format!("`{name}` is twice among the candidates"),
                    "again here",
                    "keep one of them",
                );
                continue;
            }
            candidates.push(id);
        }
        candidates
    }
}
