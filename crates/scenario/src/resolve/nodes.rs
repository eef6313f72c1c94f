//! Stations.

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Bytes, Duration, NodeId, Ppm};
use chronoseal_media::host::HostConfig;
use chronoseal_plan::{ClockPlan, GatewayPlan, NodePlan, PlatformId, PlatformPlan, ProgramPlan, SegmentId, TaskPlan};
use chronoseal_wire::virtual_link::station_ip;

use crate::kinds::ethernet::divisors_help;
use crate::kinds::{Context, Cycle, Segment};
use crate::limits::*;
use crate::problem::Code;
use crate::quantity::Frames;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{ClockSpec, HostInterfaceSpec, NodeSpec, ProgramSpec};

impl Context<'_> {
    /// The stations, without what depends on the kinds of their segments.
    pub(super) fn nodes(&mut self, segments: &[&str], platforms: &[PlatformPlan]) -> Vec<NodePlan> {
        let specs = &self.spec.nodes;
        self.unique("nodes", specs.iter().map(|spec| spec.name.as_str()));
        let platform_names: Vec<&str> = platforms.iter().map(|platform| platform.name.as_str()).collect();
        let mut nodes = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.identifier(&spec.name, at!["nodes", i, "name"], "the node's name");
            let platform = spec.platform.as_ref().and_then(|name| {
                self.find(name, &platform_names, at!["nodes", i, "platform"], "platform", "platforms")
            });
            let interfaces = self.interfaces(i, spec, segments);
            nodes.push(NodePlan {
                name: spec.name.clone(),
                clock: self.clock(i, spec.clock),
                platform: PlatformId(platform.unwrap_or(0) as u16),
                driver: self.jitter(at!["nodes", i, "driver"], "the driver's time", spec.driver),
                host_interface: spec.host_interface.map(|spec| self.host_interface(i, spec)),
                tasks: Vec::new(),
                address: 0,
                gateway: self.gateway(i, spec, &interfaces),
                program: spec.program.as_ref().and_then(|spec| self.program(i, spec)),
                interfaces,
            });
        }
        nodes
    }

    /// The segments a node is on.
    fn interfaces(&mut self, node: usize, spec: &NodeSpec, segments: &[&str]) -> Vec<SegmentId> {
        let Some(names) = &spec.on else {
            if segments.len() > 1 {
                self.report(
                    Code::MissingKey,
                    at!["nodes", node],
                    format!(
                        "node `{}` does not say on which of the {} segments it is",
                        shortened(&spec.name),
                        segments.len()
                    ),
                    "`on` is missing",
                    format!("add `on = [\"{}\"]`", segments[0]),
                );
            }
            return segments.first().map(|_| SegmentId(0)).into_iter().collect();
        };
        let mut interfaces = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let path = at!["nodes", node, "on", k];
            let Some(found) = self.find(name, segments, path, "segment", "segments") else { continue };
            let id = SegmentId(found as u16);
            if interfaces.contains(&id) {
                self.report(
                    Code::DuplicateName,
                    path,
                    format!("node `{}` is twice on `{name}`", shortened(&spec.name)),
                    "again here",
                    "name each segment once",
                );
                continue;
            }
            interfaces.push(id);
        }
        interfaces
    }

    fn host_interface(&mut self, node: usize, spec: HostInterfaceSpec) -> HostConfig {
        let path = at!["nodes", node, "host_interface", "base"];
        let base = self.within(path, "the host interface's time for a frame", spec.base.0, Duration::ZERO, DELAY_MAX);
        let path = at!["nodes", node, "host_interface", "per_byte"];
        let what = "the host interface's time for a byte";
        let per_byte = self.within(path, what, spec.per_byte.0, Duration::ZERO, PER_BYTE_MAX);
        let path = at!["nodes", node, "host_interface", "buffer"];
        let (least, most) = (Bytes(u64::from(FRAME_LEN_MAX)), Bytes(QUEUE_LEN_MAX));
        let buffer = self.within(path, "the host interface's buffer", spec.buffer.0, least, most);
        HostConfig { base, per_byte, buffer: buffer.0 }
    }

    fn gateway(&mut self, node: usize, spec: &NodeSpec, interfaces: &[SegmentId]) -> Option<GatewayPlan> {
        let gateway = spec.gateway.as_ref()?;
        let path = at!["nodes", node, "gateway", "delay"];
        let delay = self.within(path, "the gateway's delay", gateway.delay.0, Duration::ZERO, DELAY_MAX);
        let path = at!["nodes", node, "gateway", "queue"];
        let queue = self.within(path, "the gateway's queue", gateway.queue.0, Frames(1), Frames(GATEWAY_QUEUE_MAX));
        let reboot = gateway.reboot.as_ref().map(|spec| self.reboot(node, spec));
        // A segment that does not exist is a problem of its own.
        if interfaces.len() < 2 && spec.on.as_ref().is_none_or(|names| names.len() < 2) {
            self.report(
                Code::BadGateway,
                at!["nodes", node, "gateway"],
                format!("node `{}` is on one segment, and a gateway forwards between several", shortened(&spec.name)),
                "nowhere to forward to",
                "name another segment in `on`, or leave `gateway` out",
            );
        }
        Some(GatewayPlan { delay, queue_len_max: queue.0 as usize, reboot, bridges: Vec::new() })
    }

    /// A program, with addresses in the places of `{node}`.
    fn program(&mut self, node: usize, spec: &ProgramSpec) -> Option<ProgramPlan> {
        let path = at!["nodes", node, "program", "from"];
        let from = self.within(path, "the start of the program", spec.from.0, Duration::ZERO, DURATION_MAX);
        let names: Vec<&str> = self.spec.nodes.iter().map(|spec| spec.name.as_str()).collect();
        let mut command = Vec::new();
        for (k, word) in spec.run.iter().enumerate() {
            match with_addresses(word, &names) {
                Ok(word) => command.push(word),
                Err(name) => {
                    let path = at!["nodes", node, "program", "run", k];
                    self.find(&name, &names, path, "node", "nodes");
                }
            }
        }
        if spec.run.first().is_none_or(String::is_empty) {
            self.report(
                Code::MissingKey,
                at!["nodes", node, "program", "run"],
                "the program of a node has no name",
                "nothing to run",
                "write the program and its arguments, `run = [\"iperf3\", \"-s\"]`",
            );
        }
        Some(ProgramPlan { command, from })
    }

    /// What of the stations depends on the kinds of their segments: names, addresses, tasks.
    pub(super) fn judge_nodes(&mut self, nodes: &mut [NodePlan], segments: &[Segment<'_>]) {
        self.free_names(segments);
        let addresses = self.addresses(nodes, segments);
        for (i, node) in nodes.iter_mut().enumerate() {
            let spec = &self.spec.nodes[i];
            let on: Vec<&Segment<'_>> =
                segments.iter().filter(|segment| node.interfaces.contains(&segment.id)).collect();
            let has = |rule: fn(&crate::kinds::Rules) -> bool| on.iter().any(|segment| rule(&segment.kind.rules()));
            let cycles: Vec<(&Segment<'_>, Cycle)> =
                on.iter().filter_map(|segment| Some((*segment, segment.parts.as_ref()?.cycle?))).collect();
            let misplaced = [
                ("address", spec.address.is_some() && !has(|rules| rules.has_addresses), "carry key exchanges"),
                (
                    "host_interface",
                    spec.host_interface.is_some() && !has(|rules| rules.has_host_interfaces),
                    "are Ethernets",
                ),
                ("program", spec.program.is_some() && !has(|rules| rules.has_programs), "are lossy links"),
                ("station", spec.station.is_some() && !has(|rules| rules.has_stations), "have stations"),
                ("tasks", !spec.tasks.is_empty() && cycles.is_empty(), "have a cycle that tasks are scheduled in"),
            ];
            // What a segment has is not known if its kind could not say.
            let are_known = !on.is_empty() && on.iter().all(|segment| segment.parts.is_some());
            for (key, _, what) in misplaced.into_iter().filter(|(_, is_misplaced, _)| *is_misplaced && are_known) {
                self.report(
                    Code::WrongNetwork,
                    at!["nodes", i, key],
                    format!("`{key}` is for nodes on segments that {what}, and `{}` is on none", shortened(&spec.name)),
                    "not on this segment",
                    "leave it out",
                );
            }
            node.address = addresses[i];
            if !cycles.is_empty() {
                node.tasks = self.tasks(i, spec, &cycles);
            }
        }
    }

    /// Puts the nodes that come with segments behind those of the scenario. Satellites keep their clocks.
    pub(super) fn bring_nodes(&mut self, nodes: &mut Vec<NodePlan>, segments: &mut [Segment<'_>]) {
        for segment in segments {
            let Some(parts) = &segment.parts else { continue };
            let first = nodes.len();
            if first + parts.brought.len() > STATIONS_MAX as usize {
                self.report(
                    Code::TooMany,
                    at!["segments", segment.name],
                    format!("{} nodes come with `{}`", parts.brought.len(), segment.name),
                    "too many",
                    format!("all nodes together are at most {STATIONS_MAX}"),
                );
                continue;
            }
            nodes.extend(parts.brought.iter().map(|name| NodePlan {
                name: name.clone(),
                clock: ClockPlan { offset: Duration::ZERO, drift: Ppm(0), drift_max: Ppm(0) },
                platform: parts.brought_platform,
                driver: Default::default(),
                host_interface: None,
                tasks: Vec::new(),
                address: 0,
                interfaces: vec![segment.id],
                gateway: None,
                program: None,
            }));
            segment.brought = first as u16..nodes.len() as u16;
        }
        if nodes.is_empty() {
            self.report(
                Code::MissingKey,
                at!["nodes"],
                "the scenario has no node",
                "`nodes` is missing",
                "add `[[nodes]]` with a `name`",
            );
        }
    }

    /// Refuses names that the bench itself gives.
    fn free_names(&mut self, segments: &[Segment<'_>]) {
        for (i, spec) in self.spec.nodes.iter().enumerate() {
            let mut parts = segments.iter().flat_map(|segment| &segment.parts);
            if parts.any(|parts| parts.own_nodes.contains(&spec.name) || parts.brought.contains(&spec.name)) {
                self.taken_name(i, "a part of the bench itself");
            }
        }
    }

    /// Refuses the name of a node, which something else has.
    pub(super) fn taken_name(&mut self, node: usize, by: &str) {
        self.report(
            Code::BadName,
            at!["nodes", node, "name"],
            format!("`{}` is the name of {by}", self.spec.nodes[node].name),
            "taken",
            "give the node another name",
        );
    }

    /// The addresses written, and the free ones in order for the other nodes that have one; 0 for those that have none.
    fn addresses(&mut self, nodes: &[NodePlan], segments: &[Segment<'_>]) -> Vec<u8> {
        let specs = &self.spec.nodes;
        let has_address = |node: &NodePlan| {
            segments.iter().any(|segment| segment.kind.rules().has_addresses && node.interfaces.contains(&segment.id))
        };
        let mut taken: Vec<(u8, usize)> = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let Some(address) = spec.address.map(|address| address.clamp(1, 255) as u8) else { continue };
            if let Some((_, earlier)) = taken.iter().find(|(other, _)| *other == address) {
                self.report_both(
                    Code::BadAddress,
                    (at!["nodes", i, "address"], "again here"),
                    (at!["nodes", *earlier, "address"], "first here"),
                    format!("two nodes have address {address}"),
                    "give each its own, 1 to 255; 0 is reserved",
                );
            }
            taken.push((address, i));
        }
        let mut without = None;
        let mut free = (1..=255u8).filter(|address| !taken.iter().any(|(other, _)| other == address));
        let address = |(i, node): (usize, &NodePlan)| match taken.iter().find(|(_, of)| *of == i) {
            _ if !has_address(node) => 0,
            Some((address, _)) => *address,
            None => free.next().unwrap_or_else(|| {
                without.get_or_insert(i);
                0
            }),
        };
        let addresses = nodes.iter().enumerate().map(address).collect();
        if let Some(first) = without {
            self.report(
                Code::TooMany,
                at!["nodes", first, "name"],
                format!("`{}` has no address left for key exchanges", shortened(&specs[first].name)),
                "one too many",
                "at most 255 nodes can be on segments that carry key exchanges: split the scenario",
            );
        }
        addresses
    }

    fn clock(&mut self, node: usize, spec: ClockSpec) -> ClockPlan {
        let no_drift = Ppm(0);
        match spec {
            ClockSpec::Ideal => ClockPlan { offset: Duration::ZERO, drift: no_drift, drift_max: no_drift },
            ClockSpec::Fixed(spec) => {
                let path = at!["nodes", node, "clock", "fixed", "offset"];
                let offset = self.within(path, "the clock's offset", spec.offset.0, -DELAY_MAX, DELAY_MAX);
                let path = at!["nodes", node, "clock", "fixed", "drift"];
                let drift = self.within(path, "the clock's drift", spec.drift.0, Ppm(-DRIFT_MAX.0), DRIFT_MAX);
                ClockPlan { offset, drift, drift_max: Ppm(drift.0.abs()) }
            }
            ClockSpec::Seeded(spec) => {
                let path = at!["nodes", node, "clock", "seeded", "offset_max"];
                let offset_max = self.within(path, "the largest offset", spec.offset_max.0, Duration::ZERO, DELAY_MAX);
                let path = at!["nodes", node, "clock", "seeded", "drift_max"];
                let drift_max = self.within(path, "the largest drift", spec.drift_max.0, no_drift, DRIFT_MAX);
                let mut rng = random::stream(self.spec.seed, Purpose::Clock, node as u64);
                let offset = uniform_i64(&mut rng, -offset_max.as_ps(), offset_max.as_ps());
                let drift = uniform_i64(&mut rng, -drift_max.0, drift_max.0);
                ClockPlan { offset: Duration::from_ps(offset), drift: Ppm(drift), drift_max }
            }
        }
    }

    fn tasks(&mut self, node: usize, spec: &NodeSpec, cycles: &[(&Segment<'_>, Cycle)]) -> Vec<TaskPlan> {
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
            for (segment, cycle) in cycles {
                self.dividing(path, &task.name, period, segment, *cycle);
            }
            let path = at!["nodes", node, "tasks", k, "wcet"];
            let wcet = self.within(path, "the task's execution time", task.wcet.0, Duration::ZERO, period);
            tasks.push(TaskPlan { name: task.name.clone(), period, wcet });
        }
        let longest = cycles.iter().map(|(_, cycle)| cycle.length).max().unwrap_or(Duration::ZERO);
        let runs: u64 = tasks.iter().map(|task| longest.div_floor(task.period) as u64).sum();
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

    /// Reports a task whose period does not divide the cycle of a segment of its node.
    fn dividing(
        &mut self,
        path: &[crate::source::Step<'_>],
        task: &str,
        period: Duration,
        segment: &Segment<'_>,
        cycle: Cycle,
    ) {
        if !cycle.is_certain || cycle.length.rem_floor(period) == Duration::ZERO {
            return;
        }
        self.report_both(
            Code::PeriodNotDividing,
            (path, "does not divide it"),
            (&segment.table.at(cycle.key), "the cluster cycle"),
            format!("the period {period} of task `{task}` does not divide the cluster cycle {}", cycle.length),
            divisors_help(period, cycle.length),
        );
    }
}

/// A word of a command with the address of a node in the place of each `{name}`, and a brace for each `{{` and `}}`; or the name that no
/// node has.
fn with_addresses(word: &str, names: &[&str]) -> Result<String, String> {
    let mut written = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        written += before;
        rest = if let Some(doubled) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            written.push_str(&from[..1]);
            doubled
        } else {
            let inner = from[1..].split_once('}').filter(|_| from.starts_with('{'));
            let (name, behind) = inner.ok_or_else(|| from.to_owned())?;
            let node = names.iter().position(|known| *known == name).ok_or_else(|| name.to_owned())?;
            written += &station_ip(NodeId(node as u16)).map(|byte| byte.to_string()).join(".");
            behind
        };
    }
    Ok(written + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_braces_is_the_address_of_its_node() {
        let names = ["robot", "station"];
        let address = station_ip(NodeId(1)).map(|byte| byte.to_string()).join(".");
        let of = |word| with_addresses(word, &names);
        assert_eq!(of("udp://{station}:7400"), Ok(format!("udp://{address}:7400")));
        assert_eq!(of("{{\"a\": 1}}"), Ok("{\"a\": 1}".into()));
        assert_eq!(of("plain"), Ok("plain".into()));
        assert_eq!(of("{nobody}"), Err("nobody".into()));
        assert_eq!(of("{station"), Err("{station".into()));
        assert_eq!(of("station}"), Err("}".into()));
    }
}
