//! Attacks on clocks that a protocol keeps together.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{ClockThreat, NodePlan, RogueGrandmaster, ThreatKind};

use crate::kinds::Context;
use crate::limits::DRIFT_MAX;
use crate::problem::Code;
use crate::quantity::Quantity;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{AlteredTimeSpec, ForgedTimeSpec, RogueGrandmasterSpec, ThreatSpec};

/// The most by which a time can be off.
const OFFSET_MAX: Duration = Duration::from_s(1);

impl Context<'_> {
    /// A node that claims to be a better grandmaster than it is.
    pub(super) fn rogue_grandmaster(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        rogue: &RogueGrandmasterSpec,
    ) -> ThreatKind {
        self.no_stream(i, spec);
        for (key, _) in [("every", spec.every.is_some()), ("count", spec.count.is_some())].iter().filter(|(_, is)| *is)
        {
            self.report(
                Code::ThreatPlace,
                at!["threats", i, *key],
                format!("threat `{}` begins at its `start` and goes on until the end", shortened(&spec.name)),
                "has no attempts",
                format!("leave `{key}` out"),
            );
        }
        let offset = self.clock_offset(i, "rogue_grandmaster", rogue.offset);
        let path = at!["threats", i, "kind", "rogue_grandmaster", "drift"];
        let least = chronoseal_core::Ppm(-DRIFT_MAX.0);
        let drift = self.within(path, "the drift", rogue.drift.0, least, DRIFT_MAX);
        let RogueGrandmasterSpec { priority1, clock_class, .. } = *rogue;
        ThreatKind::OnClocks(ClockThreat::RogueGrandmaster(RogueGrandmaster { priority1, clock_class, offset, drift }))
    }

    /// Messages that are made up.
    pub(super) fn forged_time(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        forged: &ForgedTimeSpec,
        nodes: &[NodePlan],
    ) -> Option<ThreatKind> {
        self.no_stream(i, spec);
        let offset = self.clock_offset(i, "forged_time", forged.offset);
        let of = match &forged.of {
            None => None,
            Some(name) => {
                let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                let path = at!["threats", i, "kind", "forged_time", "of"];
                Some(NodeId(self.find(name, &names, path, "node", "nodes")? as u16))
            }
        };
        Some(ThreatKind::OnClocks(ClockThreat::ForgedTime { offset, of }))
    }

    /// Messages that are changed.
    pub(super) fn altered_time(&mut self, i: usize, spec: &ThreatSpec, altered: &AlteredTimeSpec) -> ThreatKind {
        self.no_stream(i, spec);
        let offset = self.clock_offset(i, "altered_time", altered.offset);
        ThreatKind::OnClocks(ClockThreat::AlteredTime { offset })
    }

    fn clock_offset(&mut self, i: usize, kind: &'static str, offset: Quantity<Duration>) -> Duration {
        let path = at!["threats", i, "kind", kind, "offset"];
        self.within(path, "the offset", offset.0, -OFFSET_MAX, OFFSET_MAX)
    }

    /// Refuses a node with several interfaces, whose clocks are several as well.
    pub(super) fn with_one_interface(&mut self, i: usize, node: &NodePlan) {
        if node.interfaces.len() > 1 {
            self.report(
                Code::NotYet,
                at!["threats", i, "at", "node"],
                format!(
                    "`{}` is on several segments, and attacks on the clock of such a node are not there yet",
                    node.name
                ),
                "on several segments",
                "name a node that is on one segment",
            );
        }
    }
}
