//! Attacks on a bus.

use chronoseal_core::{Duration, StreamId};

use super::super::ONLY;
use super::Resolver;
use crate::limits::{DURATION_MAX, PERIOD_MIN};
use crate::plan::{AttackPlace, AttackerPlan, ExchangeAttack, StreamPlan, ThreatKind, ThreatPlan};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{AttackKindSpec, AttackSpec};

impl Resolver<'_> {
    /// The attacks, each by a node of its own.
    pub(super) fn attacks(
        &mut self,
        messages: &[StreamPlan],
        duration: Duration,
    ) -> (Vec<AttackerPlan>, Vec<ThreatPlan>) {
        let specs = &self.spec.attacks;
        self.unique("attacks", specs.iter().map(|spec| spec.name.as_str()));
        let (mut attackers, mut threats) = (Vec::new(), Vec::new());
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["attacks", i, "name"], "the attack's name");
            let kind = self.attack_kind(i, spec, messages);
            if matches!(kind, ThreatKind::OnExchange(_)) && self.spec.group_key.is_none() {
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
            attackers.push(AttackerPlan { name: spec.name.clone(), place: AttackPlace::OnSegment(ONLY) });
            threats.push(ThreatPlan {
                name: spec.name.clone(),
                kind,
                attacker: i as u16,
                start,
                every,
                count: spec.count,
                at_slot_offset: Duration::ZERO,
            });
        }
        (attackers, threats)
    }

    fn attack_kind(&mut self, i: usize, spec: &AttackSpec, messages: &[StreamPlan]) -> ThreatKind {
        let mut message = |kind: &str, name: &str| {
            let names: Vec<&str> = messages.iter().map(|message| message.name.as_str()).collect();
            let found = self.find(name, &names, at!["attacks", i, "kind", kind, "message"], "message", "messages");
            StreamId(found.unwrap_or(0) as u16)
        };
        let on_exchange = match &spec.kind {
            AttackKindSpec::Spoof(spoofed) => return ThreatKind::Spoof(message("spoof", &spoofed.message)),
            AttackKindSpec::Replay(replayed) => return ThreatKind::Replay(message("replay", &replayed.message)),
            AttackKindSpec::Babble => return ThreatKind::Babble,
            AttackKindSpec::ReplayedOrchestration(replayed) => {
                let path = at!["attacks", i, "kind", "replayed_orchestration", "after"];
                let after = self.within(path, "the delay", replayed.after.0, PERIOD_MIN, DURATION_MAX);
                ExchangeAttack::ReplayedOrchestration(after)
            }
            AttackKindSpec::SwappedAddresses => ExchangeAttack::SwappedAddresses,
            AttackKindSpec::ReflectedShare => ExchangeAttack::ReflectedShare,
            AttackKindSpec::SmallOrderShare => ExchangeAttack::SmallOrderShare,
            AttackKindSpec::TruncatedConfirmation => ExchangeAttack::TruncatedConfirmation,
            AttackKindSpec::ForgedConfirmation => ExchangeAttack::ForgedConfirmation,
            AttackKindSpec::ImpersonatedOrchestrator => ExchangeAttack::ImpersonatedOrchestrator,
            AttackKindSpec::ForgedCommit => ExchangeAttack::ForgedCommit,
        };
        ThreatKind::OnExchange(on_exchange)
    }
}
