//! Attackers of a plan on a CAN bus.

use chronoseal_core::{Node, StreamId};
use chronoseal_crypto::suite::{Share, Suite, SuiteVisitor};
use chronoseal_groupkey::adversary::{Adversary, Attack};
use chronoseal_groupkey::{Settings, Step};
use chronoseal_nodes::{CanAttacker, CanAttackerConfig, CanAttackerKind};
use chronoseal_scenario::plan::{CanAttackKind, CanAttackPlan, CanPlan, GroupKeyPlan};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, StandardId};

use super::agent;

/// The node of an attack.
pub(super) fn attacker(plan: &CanPlan, attack: &CanAttackPlan) -> Result<Box<dyn Node + Send>, String> {
    let on_bus = |kind, stream| {
        let config = CanAttackerConfig { kind, stream, start: attack.start, every: attack.every, count: attack.count };
        Ok(Box::new(CanAttacker::new(config)) as Box<dyn Node + Send>)
    };
    match attack.kind {
        CanAttackKind::Spoof(stream) => {
            let message = &plan.messages[stream.index()];
            let dlc = Dlc::holding(plan.secured_len(message)).expect("a plan holds only lengths that fit a frame");
            on_bus(CanAttackerKind::Spoof(CanFrame::new(message.id, message.kind, dlc, &[0x5a; 64])), stream)
        }
        CanAttackKind::Replay(stream) => on_bus(CanAttackerKind::Replay(plan.messages[stream.index()].id), stream),
        CanAttackKind::Babble => {
            let first = CanId::Standard(StandardId::ZERO);
            let frame = CanFrame::classical(first, &[0; 8]).expect("8 bytes fit a classical frame");
            on_bus(CanAttackerKind::Babble(frame), StreamId::NONE)
        }
        kind => {
            let group = plan.group_key.as_ref().ok_or("there is no key exchange to attack")?;
            group.suite.dispatch(OnExchange { plan, group, kind, count: attack.count })
        }
    }
}

struct OnExchange<'a> {
    plan: &'a CanPlan,
    group: &'a GroupKeyPlan,
    kind: CanAttackKind,
    count: u32,
}

impl SuiteVisitor for OnExchange<'_> {
    type Output = Result<Box<dyn Node + Send>, String>;

    fn visit<S: Suite>(self) -> Self::Output {
        let Self { plan, group, kind, count } = self;
        let settings: Settings = agent::settings(group);
        let attack = match kind {
            CanAttackKind::ReplayedOrchestration(after) => Attack::Replay { step: Step::Orchestration, after },
            CanAttackKind::SwappedAddresses => Attack::SwappedAddresses,
            CanAttackKind::ReflectedShare => Attack::ReflectedShare,
            CanAttackKind::SmallOrderShare => Attack::ForgedShare(small_order_share::<S>()),
            CanAttackKind::TruncatedConfirmation => Attack::TruncatedConfirmation,
            CanAttackKind::ForgedConfirmation => Attack::ForgedConfirmation,
            CanAttackKind::ForgedCommit => Attack::ForgedCommit,
            _ => {
                let (_, tree) = agent::network::<S>(plan, group)?;
                let exchange = tree.results().find_map(|result| tree.exchange(result));
                Attack::ImpersonatedOrchestrator(exchange.ok_or("the tree has no exchange to ask for")?)
            }
        };
        Ok(Box::new(Adversary::new::<S>(settings, attack, count)))
    }
}

/// A share of small order; on P-256, which has none, no point.
fn small_order_share<S: Suite>() -> Share {
    let mut bytes = [0; chronoseal_crypto::suite::SHARE_LEN_MAX];
    if S::NAME == chronoseal_crypto::suite::FourQ::NAME {
        // The neutral point of FourQ is (0, 1). All zeros is the point of order two of Curve25519.
        bytes[0] = 1;
    }
    Share::new(&bytes[..S::SHARE_LEN]).expect("no share is longer than the longest")
}
