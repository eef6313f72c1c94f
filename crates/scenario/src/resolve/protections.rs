//! Ways to protect a stream.

mod keys;
mod profiles;

use chronoseal_core::Bytes;
use chronoseal_frameauth::HashAlgorithm;
use chronoseal_plan::{Identity, KeySource, ProtectionId, ProtectionKind, ProtectionPlan};

use crate::kinds::{Context, Place};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{HashSpec, HmacSpec, MacSpec, ProtectionSpec, SecOcSpec};
use profiles::Written;

/// The protection that always exists.
const NONE: &str = "none";

impl Context<'_> {
    /// The protections, `none` first. `key` is the name of the key that nodes have in common.
    pub(super) fn protections(&mut self, key: Option<&str>) -> Vec<ProtectionPlan> {
        self.check_counters();
        let specs = &self.spec.protections;
        self.unique("protections", specs.iter().map(|spec| spec.name.as_str()));
        let mut protections = vec![ProtectionPlan { name: NONE.into(), kind: ProtectionKind::None }];
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["protections", i, "name"], "the protection's name");
            self.exactly_one(i, spec);
            let kind = match (&spec.size_only, &spec.mac, &spec.hmac, &spec.secoc) {
                (Some(size_only), ..) => {
                    let path = at!["protections", i, "size_only", "overhead"];
                    let max = Bytes(u64::from(FRAME_LEN_MAX - FRAME_LEN_MIN));
                    let overhead = self.within(path, "the overhead", size_only.overhead.0, Bytes(0), max);
                    ProtectionKind::SizeOnly { overhead: overhead.0 as u32 }
                }
                (None, Some(mac), ..) => self.mac(i, mac, key),
                (None, None, Some(hmac), _) => self.hmac(i, hmac),
                (None, None, None, Some(secoc)) => self.secoc(i, secoc, key),
                (None, None, None, None) => ProtectionKind::None,
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

    fn exactly_one(&mut self, i: usize, spec: &ProtectionSpec) {
        let written = [
            spec.none.is_some(),
            spec.size_only.is_some(),
            spec.mac.is_some(),
            spec.hmac.is_some(),
            spec.secoc.is_some(),
        ];
        if written.iter().filter(|written| **written).count() == 1 {
            return;
        }
        self.report(
            Code::ChooseOne,
            at!["protections", i],
            format!(
                "protection `{}` has to be exactly one of `none`, `size_only`, `mac`, `hmac`, `secoc`",
                shortened(&spec.name)
            ),
            "not exactly one",
            "write `hmac = { hash = \"sha-256\", tag = \"16B\" }`, `secoc = { profile = 1 }`, \
             `mac = { algorithm = \"cmac-aes-128\", tag = \"8B\", freshness = \"full\" }`, \
             `size_only = { overhead = \"24B\" }` or `none = {}`",
        );
    }

    fn mac(&mut self, i: usize, spec: &MacSpec, key: Option<&str>) -> ProtectionKind {
        let mac = spec.algorithm.0;
        let place = Place::new("protections").entry(i).key("mac");
        let written = Written { mac, tag: spec.tag.0, freshness: spec.freshness, replay_window: spec.replay_window };
        ProtectionKind::Secured {
            profile: self.profile(&place, ["algorithm", "tag"], &written),
            key: self.key(i, mac, spec.key.as_deref(), key),
            identity: Identity::Name,
        }
    }

    /// The preset with an HMAC: its key is 64 bytes long, as in the published design.
    fn hmac(&mut self, i: usize, spec: &HmacSpec) -> ProtectionKind {
        let mac = match spec.hash {
            HashSpec::Sha1 => HashAlgorithm::Sha1,
            HashSpec::Sha256 => HashAlgorithm::Sha256,
            HashSpec::Sha3_256 => HashAlgorithm::Sha3_256,
        }
        .mac();
        let place = Place::new("protections").entry(i).key("hmac");
        let written = Written { mac, tag: spec.tag.0, freshness: spec.freshness, replay_window: spec.replay_window };
        ProtectionKind::Secured {
            profile: self.profile(&place, ["hash", "tag"], &written),
            key: KeySource::Shared(self.key_of_64_bytes(i, spec.key.as_deref())),
            identity: Identity::Number,
        }
    }

    /// The presets of SecOC: each stream has a key of its own unless it is the group key.
    fn secoc(&mut self, i: usize, spec: &SecOcSpec, key: Option<&str>) -> ProtectionKind {
        let is_group_key = self.is_under(at!["protections", i, "secoc", "key"], spec.key.as_deref(), key);
        ProtectionKind::Secured {
            profile: self.secoc_profile(i, spec),
            key: if is_group_key { KeySource::Group } else { KeySource::OfStream },
            identity: Identity::Number,
        }
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
