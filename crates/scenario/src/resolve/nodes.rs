//! Stations.

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Duration, Ppm};

use super::{ONLY, Resolver};
use super::network::divisors_help;
use crate::limits::*;
use crate::plan::{ClockPlan, EthernetSegment, NodePlan, PlatformId, PlatformPlan, TaskPlan};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{ClockSpec, NodeSpec};

impl Resolver<'_> {
    /// The stations, and the longest time any of their drivers takes.
    pub(super) fn nodes(&mut self, network: &EthernetSegment, platforms: &[PlatformPlan]) -> (Vec<NodePlan>, Duration) {
        let specs = &self.spec.nodes;
        self.unique("nodes", specs.iter().map(|spec| spec.name.as_str()));
        let platform_names: Vec<&str> = platforms.iter().map(|platform| platform.name.as_str()).collect();
        let mut longest_driver = Duration::ZERO;
        let mut nodes = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.identifier(&spec.name, at!["nodes", i, "name"], "the node's name");
            if spec.name == "switch" || spec.name.starts_with("attacker") {
                self.report(
                    Code::BadName,
                    at!["nodes", i, "name"],
                    format!("`{}` is the name of a part of the bench itself", spec.name),
                    "taken",
                    "give the node another name",
                );
            }
            let platform = spec.platform.as_ref().and_then(|name| {
                self.find(name, &platform_names, at!["nodes", i, "platform"], "platform", "platforms")
            });
            let driver = self.jitter(at!["nodes", i, "driver"], "the driver's time", spec.driver);
            longest_driver = longest_driver.max(driver.max);
            nodes.push(NodePlan {
                name: spec.name.clone(),
                clock: self.clock(i, spec.clock),
                platform: PlatformId(platform.unwrap_or(0) as u16),
                driver,
                tasks: self.tasks(i, spec, network),
                address: 0,
                interfaces: vec![ONLY],
                gateway: None,
            });
        }
        (nodes, longest_driver)
    }

    pub(super) fn clock(&mut self, node: usize, spec: ClockSpec) -> ClockPlan {
        let no_drift = Ppm(0);
        match spec {
            ClockSpec::Ideal => ClockPlan { offset: Duration::ZERO, drift: no_drift },
            ClockSpec::Fixed(spec) => {
                let path = at!["nodes", node, "clock", "fixed", "offset"];
                let offset = self.within(path, "the clock's offset", spec.offset.0, -DELAY_MAX, DELAY_MAX);
                let path = at!["nodes", node, "clock", "fixed", "drift"];
                let drift = self.within(path, "the clock's drift", spec.drift.0, Ppm(-DRIFT_MAX.0), DRIFT_MAX);
                ClockPlan { offset, drift }
            }
            ClockSpec::Seeded(spec) => {
                let path = at!["nodes", node, "clock", "seeded", "offset_max"];
                let offset_max = self.within(path, "the largest offset", spec.offset_max.0, Duration::ZERO, DELAY_MAX);
                let path = at!["nodes", node, "clock", "seeded", "drift_max"];
                let drift_max = self.within(path, "the largest drift", spec.drift_max.0, no_drift, DRIFT_MAX);
                let mut rng = random::stream(self.spec.seed, Purpose::Clock, node as u64);
                let offset = uniform_i64(&mut rng, -offset_max.as_ps(), offset_max.as_ps());
                let drift = uniform_i64(&mut rng, -drift_max.0, drift_max.0);
                ClockPlan { offset: Duration::from_ps(offset), drift: Ppm(drift) }
            }
        }
    }

    fn tasks(&mut self, node: usize, spec: &NodeSpec, network: &EthernetSegment) -> Vec<TaskPlan> {
        let cycle = network.cluster_cycle;
        let mut tasks: Vec<TaskPlan> = Vec::new();
        for (k, task) in spec.tasks.iter().enumerate() {
            let name_path = at!["nodes", node, "tasks", k, "name"];
            self.title(&task.name, name_path, "the task's name");
            if tasks.iter().any(|earlier| earlier.name == task.name) {
                self.report(
                    Code::DuplicateName,
                    name_path,
                    format!("node `{}` has two tasks named `{}`", spec.name, task.name),
                    "again here",
                    "give each its own name",
                );
            }
            let path = at!["nodes", node, "tasks", k, "period"];
            let period = self.within(path, "the task's period", task.period.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
            let period = self.dividing(path, &format!("task `{}`", task.name), period, cycle);
            let path = at!["nodes", node, "tasks", k, "wcet"];
            let wcet = self.within(path, "the task's execution time", task.wcet.0, Duration::ZERO, period);
            tasks.push(TaskPlan { name: task.name.clone(), period, wcet });
        }
        let runs: u64 = tasks.iter().map(|task| cycle.div_floor(task.period) as u64).sum();
        if runs > SLOTS_MAX {
            self.report(
                Code::TooManySlots,
                at!["nodes", node, "tasks"],
                format!("the tasks of `{}` run {runs} times in one cluster cycle", spec.name),
                "too often",
                format!("a schedule holds at most {SLOTS_MAX}: write longer periods"),
            );
        }
        tasks
    }

    /// `period`, or the whole cluster cycle if it does not divide that.
    pub(super) fn dividing(
        &mut self,
        path: &[crate::source::Step<'_>],
        what: &str,
        period: Duration,
        cycle: Duration,
    ) -> Duration {
        if !self.cycle_is_known || cycle.rem_floor(period) == Duration::ZERO {
            return period;
        }
        self.report_both(
            Code::PeriodNotDividing,
            (path, "does not divide it"),
            (at!["network", "time_triggered_ethernet", "cluster_cycle"], "the cluster cycle"),
            format!("the period {period} of {what} does not divide the cluster cycle {cycle}"),
            divisors_help(period, cycle),
        );
        cycle
    }
}
