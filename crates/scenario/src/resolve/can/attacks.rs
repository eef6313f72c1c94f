//! Attacks on a bus.

use chronoseal_core::{Duration, StreamId};

use super::Resolver;
use crate::limits::{DURATION_MAX, PERIOD_MIN};
use crate::plan::{CanAttackKind, CanAttackPlan, MessagePlan};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{AttackKindSpec, AttackSpec};

impl Resolver<'_> {
    pub(super) fn attacks(&mut self, messages: &[MessagePlan], duration: Duration) -> Vec<CanAttackPlan> {
        let specs = &self.spec.attacks;
        self.unique("attacks", specs.iter().map(|spec| spec.name.as_str()));
        let mut plans = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["attacks", i, "name"], "the attack's name");
            let kind = self.attack_kind(i, spec, messages);
            if kind.is_on_exchange() && self.spec.group_key.is_none() {
                self.report(
                    Code::BadGroup,
                    at!["attacks", i, "kind"],
                    format!("`{}` attacks a key exchange, and this scenario has none", spec.name),
                    "nothing to attack",
                    "add `[group_key]`, or attack a message",
                );
            }
            let start = self.instant(at!["attacks", i, "start"], "the start", spec.start.0);
            if start >= duration {
                self.report(
                    Code::ThreatTooLate,
                    at!["attacks", i, "start"],
                    format!("the attack begins at {start}, after the end of the run"),
                    "too late",
                    format!("write a time before {duration}"),
                );
            }
            let path = at!["attacks", i, "every"];
            let every = self.within(path, "the distance of attempts", spec.every.0, PERIOD_MIN, DURATION_MAX);
            plans.push(CanAttackPlan { name: spec.name.clone(), kind, start, every, count: spec.count });
        }
        plans
    }

    fn attack_kind(&mut self, i: usize, spec: &AttackSpec, messages: &[MessagePlan]) -> CanAttackKind {
        let mut message = |kind: &str, name: &str| {
            let names: Vec<&str> = messages.iter().map(|message| message.name.as_str()).collect();
            let found = self.find(name, &names, at!["attacks", i, "kind", kind, "message"], "message", "messages");
            StreamId(found.unwrap_or(0) as u16)
        };
        match &spec.kind {
            AttackKindSpec::Spoof(spoofed) => CanAttackKind::Spoof(message("spoof", &spoofed.message)),
            AttackKindSpec::Replay(replayed) => CanAttackKind::Replay(message("replay", &replayed.message)),
            AttackKindSpec::ReplayedOrchestration(replayed) => {
                let path = at!["attacks", i, "kind", "replayed_orchestration", "after"];
                let after = self.within(path, "the delay", replayed.after.0, PERIOD_MIN, DURATION_MAX);
                CanAttackKind::ReplayedOrchestration(after)
            }
            AttackKindSpec::Babble => CanAttackKind::Babble,
            AttackKindSpec::SwappedAddresses => CanAttackKind::SwappedAddresses,
            AttackKindSpec::ReflectedShare => CanAttackKind::ReflectedShare,
            AttackKindSpec::SmallOrderShare => CanAttackKind::SmallOrderShare,
            AttackKindSpec::TruncatedConfirmation => CanAttackKind::TruncatedConfirmation,
            AttackKindSpec::ForgedConfirmation => CanAttackKind::ForgedConfirmation,
            AttackKindSpec::ImpersonatedOrchestrator => CanAttackKind::ImpersonatedOrchestrator,
            AttackKindSpec::ForgedCommit => CanAttackKind::ForgedCommit,
        }
    }
}
