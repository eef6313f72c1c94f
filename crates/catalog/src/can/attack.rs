//! Attackers of a plan on a CAN bus.

use chronoseal_core::{Node, NodeId, StreamId};
use chronoseal_crypto::suite::{Share, Suite, SuiteVisitor};
use chronoseal_groupkey::adversary::{Adversary, Attack};
use chronoseal_groupkey::{Settings, Step};
use chronoseal_nodes::{CanAttacker, CanAttackerConfig, CanAttackerKind, SegmentedAttacker, SegmentedAttackerConfig};
use chronoseal_plan::{Can, CanMessage, ExchangeAttack, GroupKeyPlan, Plan, ThreatKind};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, StandardId};

use super::{agent, segmented_config};
use crate::BuildError;

/// The node of an attacker.
pub(super) fn attacker(view: Can<'_>, id: NodeId) -> Result<Box<dyn Node + Send>, BuildError> {
    let plan = view.plan;
    // Each attack on a bus has an attacker of its own.
    let threat = plan.threats.iter().find(|threat| plan.attacker_id(threat.attacker) == id);
    let threat = threat.ok_or(BuildError::UnknownNode(id))?;
    let on_bus = |kind, stream| {
        let config = CanAttackerConfig { kind, stream, start: threat.start, every: threat.every, count: threat.count };
        Ok(Box::new(CanAttacker::new(config)) as Box<dyn Node + Send>)
    };
    let message = |stream| view.message(stream).ok_or(BuildError::Attack(id));
    // Who attacks a message in several frames is a sender of such messages.
    let on_messages = |message: &CanMessage<'_>, spoofed: Option<Vec<u8>>| {
        let stream = segmented_config(message)?;
        let (start, every, count) = (threat.start, threat.every, threat.count);
        let config = SegmentedAttackerConfig { stream, spoofed, start, every, count };
        Some(Box::new(SegmentedAttacker::new(config)) as Box<dyn Node + Send>)
    };
    match threat.kind {
        ThreatKind::Spoof(stream) => {
            let message = message(stream)?;
            if let Some(attacker) = on_messages(&message, Some(vec![0x5a; view.secured_len(&message)])) {
                return Ok(attacker);
            }
            let dlc = Dlc::holding(view.secured_len(&message)).expect("a plan holds only lengths that fit a frame");
            on_bus(CanAttackerKind::Spoof(CanFrame::new(message.id, message.kind, dlc, &[0x5a; 64])), stream)
        }
        ThreatKind::Replay(stream) => {
            let message = message(stream)?;
            match on_messages(&message, None) {
                Some(attacker) => Ok(attacker),
                None => on_bus(CanAttackerKind::Replay(message.id), stream),
            }
        }
        ThreatKind::Tamper(_)
        | ThreatKind::Withhold(_)
        | ThreatKind::Flood(_)
        | ThreatKind::Delay(..)
        | ThreatKind::OnClocks(_) => Err(BuildError::Attack(id)),
        ThreatKind::Babble(_) => {
            let first = CanId::Standard(StandardId::ZERO);
            let frame = CanFrame::classical(first, &[0; 8]).expect("8 bytes fit a classical frame");
            on_bus(CanAttackerKind::Babble(frame), StreamId::NONE)
        }
        ThreatKind::OnExchange(kind) => {
            let group = plan.group_key.as_ref().ok_or(BuildError::NoExchange)?;
            group.suite.dispatch(OnExchange { plan, group, kind, count: threat.count })
        }
    }
}

struct OnExchange<'a> {
    plan: &'a Plan,
    group: &'a GroupKeyPlan,
    kind: ExchangeAttack,
    count: u32,
}

impl SuiteVisitor for OnExchange<'_> {
    type Output = Result<Box<dyn Node + Send>, BuildError>;

    fn visit<S: Suite>(self) -> Self::Output {
        let Self { plan, group, kind, count } = self;
        let settings: Settings = agent::settings(group);
        let attack = match kind {
            ExchangeAttack::ReplayedOrchestration(after) => Attack::Replay { step: Step::Orchestration, after },
            ExchangeAttack::SwappedAddresses => Attack::SwappedAddresses,
            ExchangeAttack::ReflectedShare => Attack::ReflectedShare,
            ExchangeAttack::SmallOrderShare => Attack::ForgedShare(small_order_share::<S>()),
            ExchangeAttack::TruncatedConfirmation => Attack::TruncatedConfirmation,
            ExchangeAttack::ForgedConfirmation => Attack::ForgedConfirmation,
            ExchangeAttack::ForgedCommit => Attack::ForgedCommit,
            ExchangeAttack::ImpersonatedOrchestrator => {
                let (_, tree) = agent::network::<S>(plan, group)?;
                let exchange = tree.results().find_map(|result| tree.exchange(result));
                Attack::ImpersonatedOrchestrator(exchange.ok_or(BuildError::NoExchange)?)
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
