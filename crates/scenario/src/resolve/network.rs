//! The network.

use chronoseal_core::{Bytes, Duration};

use super::Resolver;
use crate::limits::*;
use crate::plan::{Access, Accounting, Dispatch, EthernetSegment, Jitter, Sync};
use crate::problem::Code;
use crate::source::{Step, at};
use crate::spec::{AccessSpec, AccountingSpec, DispatchSpec, JitterSpec, SyncSpec, TimeTriggeredEthernetSpec};

const NETWORK: &str = "network";
const KIND: &str = "time_triggered_ethernet";
/// Checksum 4, preamble and delimiter 8, gap 12 (IEEE 802.3) [byte].
const WIRE_OVERHEAD: u64 = 24;

impl Resolver<'_> {
    pub(super) fn network(&mut self, spec: &TimeTriggeredEthernetSpec) -> EthernetSegment {
        let path = |key: &'static str| [Step::Key(NETWORK), Step::Key(KIND), Step::Key(key)];
        let rate = self.within(&path("rate"), "the rate", spec.rate.0, RATE_MIN, RATE_MAX);
        let cycle_path = path("cluster_cycle");
        let cluster_cycle =
            self.within(&cycle_path, "the cluster cycle", spec.cluster_cycle.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
        self.cycle_is_known = cluster_cycle == spec.cluster_cycle.0;
        // Whatever is written elsewhere is not to be judged by a cycle that was not meant.
        let cluster_cycle = if self.cycle_is_known { cluster_cycle } else { CLUSTER_CYCLE_MAX };
        let integration_cycle = match spec.integration_cycle {
            None => cluster_cycle,
            Some(cycle) => self.integration_cycle(&path("integration_cycle"), cycle.0, cluster_cycle),
        };
        let mut up_to = |key, what, value, max| self.within(&path(key), what, value, Duration::ZERO, max);
        let guard_period = up_to("guard_period", "the guard period", spec.guard_period.0, cluster_cycle);
        let precision = up_to("precision", "the precision", spec.precision.0, DELAY_MAX);
        let propagation_delay =
            up_to("propagation_delay", "the propagation delay", spec.propagation_delay.0, DELAY_MAX);
        let forwarding_delay = up_to("forwarding_delay", "the forwarding delay", spec.forwarding_delay.0, DELAY_MAX);
        let max_transmission_delay = match spec.max_transmission_delay {
            None => Duration::ZERO,
            Some(delay) => up_to("max_transmission_delay", "the largest transmission delay", delay.0, DELAY_MAX),
        };
        let queue_len_max = self.within(
            &path("queue_len_max"),
            "the length of a queue",
            spec.queue_len_max.0,
            Bytes(u64::from(FRAME_LEN_MAX)),
            Bytes(QUEUE_LEN_MAX),
        );
        EthernetSegment {
            rate,
            cluster_cycle,
            sync: match spec.sync {
                SyncSpec::Beacon => Sync::Beacon,
                SyncSpec::Ideal => Sync::Ideal,
            },
            integration_cycle,
            guard_period,
            accounting: match spec.accounting {
                AccountingSpec::OnWire => Accounting::OnWire,
                AccountingSpec::AsPublished => Accounting::AsPublished,
            },
            access: match spec.access {
                AccessSpec::SharedSlots => Access::SharedSlots,
                AccessSpec::PerLink => Access::PerLink,
            },
            precision,
            max_transmission_delay,
            sync_id: spec.sync_id,
            ct_marker: self.marker(&spec.ct_marker, &path("ct_marker")),
            propagation_delay,
            dispatch: match spec.dispatch {
                DispatchSpec::Scheduled => Dispatch::Scheduled,
                DispatchSpec::Immediate => Dispatch::Immediate,
            },
            forwarding_delay,
            forwarding_jitter: self.jitter(&path("forwarding_jitter"), "the forwarding jitter", spec.forwarding_jitter),
            queue_len_max: queue_len_max.0,
            sniffing_switch: spec.sniffing_switch,
        }
    }

    /// Fills in the largest transmission delay of a beacon: it waits for one longest frame at its sender and at the
    /// switch, and takes its own time on two links.
    pub(super) fn with_transmission_delay(
        spec: &TimeTriggeredEthernetSpec,
        mut network: EthernetSegment,
        longest_driver: Duration,
    ) -> EthernetSegment {
        if spec.max_transmission_delay.is_none() {
            let wire_time = |len: u32| network.rate.time_of(u64::from(len) + WIRE_OVERHEAD);
            let hop = wire_time(FRAME_LEN_MAX) + wire_time(FRAME_LEN_MIN) + network.propagation_delay;
            network.max_transmission_delay =
                hop * 2 + network.forwarding_delay + network.forwarding_jitter.max + longest_driver;
        }
        network
    }

    fn integration_cycle(&mut self, path: &[Step<'_>], cycle: Duration, cluster_cycle: Duration) -> Duration {
        let cycle = self.within(path, "the integration cycle", cycle, PERIOD_MIN, CLUSTER_CYCLE_MAX);
        if !self.cycle_is_known || cluster_cycle.rem_floor(cycle) == Duration::ZERO {
            return cycle;
        }
        self.report_both(
            Code::IntegrationCycleNotDividing,
            (path, "does not divide it"),
            (at![NETWORK, KIND, "cluster_cycle"], "the cluster cycle"),
            format!("the integration cycle {cycle} does not divide the cluster cycle {cluster_cycle}"),
            divisors_help(cycle, cluster_cycle),
        );
        cluster_cycle
    }

    fn marker(&mut self, text: &str, path: &[Step<'_>]) -> [u8; 4] {
        let fallback = [3, 4, 5, 6];
        let parts: Vec<&str> = text.split(':').collect();
        let bytes: Option<Vec<u8>> = parts
            .iter()
            .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2 && !part.starts_with('+')))
            .collect();
        let Some(Ok(marker)) = bytes.map(<[u8; 4]>::try_from) else {
            self.report(
                Code::BadMarker,
                path,
                "the critical-traffic marker is not four bytes",
                "not four bytes",
                "write four bytes in hexadecimal, such as `\"03:04:05:06\"`",
            );
            return fallback;
        };
        if marker[0] & 1 == 0 {
            let group = format!("{:02x}", marker[0] | 1);
            self.report(
                Code::BadMarker,
                path,
                "the critical-traffic marker is no group address, so a switch could not send it to several",
                "the first byte is even",
                format!("make the first byte odd, such as `{group}`"),
            );
            return fallback;
        }
        marker
    }

    pub(super) fn jitter(&mut self, path: &[Step<'_>], what: &str, spec: JitterSpec) -> Jitter {
        let mut part = |key: &'static str, value: Duration| {
            let path: Vec<Step<'_>> = path.iter().copied().chain([Step::Key(key)]).collect();
            self.within(&path, &format!("{what}: {key}"), value, Duration::ZERO, DELAY_MAX)
        };
        let jitter =
            Jitter { min: part("min", spec.min.0), mean: part("mean", spec.mean.0), max: part("max", spec.max.0) };
        if jitter.min <= jitter.mean && jitter.mean <= jitter.max {
            return jitter;
        }
        self.report(
            Code::JitterOrder,
            path,
            format!("{what} has minimum {}, mean {} and maximum {}", jitter.min, jitter.mean, jitter.max),
            "out of order",
            "the minimum is at most the mean, and the mean at most the maximum",
        );
        Jitter::default()
    }
}

/// The periods nearest to `period` that divide `cycle`; both positive.
pub(super) fn divisors_help(period: Duration, cycle: Duration) -> String {
    /// Further away than this nobody would look.
    const TRIES: i64 = 10_000;
    if period >= cycle {
        return format!("the largest that does is {cycle}");
    }
    let divides = |count: &i64| *count > 0 && cycle.as_ps() % count == 0;
    let count = cycle.div_floor(period);
    let longer = (1..=count).rev().take(TRIES as usize).find(divides).map(|count| cycle / count);
    let shorter = (count + 1..).take(TRIES as usize).find(divides).map(|count| cycle / count);
    match (shorter, longer) {
        (Some(shorter), Some(longer)) => format!("the nearest that do are {shorter} and {longer}"),
        (Some(one), None) | (None, Some(one)) => format!("the nearest that does is {one}"),
        (None, None) => format!("write a whole fraction of {cycle}"),
    }
}
