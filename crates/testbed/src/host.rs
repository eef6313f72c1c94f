//! What this host can do.

use chronoseal_core::{Duration, SimTime};
use serde::Serialize;

use crate::clock::{RunClock, SPIN, monotonic_ns};
use crate::clock_sources::{ClockSource, Skew, clock_skew, clock_sources};
use crate::config::LiveConfig;
use crate::live;
use crate::process::RUN_FIFO;
use crate::ptp::Ptp;
use crate::sys;

/// What a live run would find here.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct HostReport {
    /// As `uname -r` says.
    pub kernel: String,
    /// The kernel's clock source, such as `tsc`.
    pub clocksource: String,
    /// Processors this process may use.
    pub cpus: usize,
    /// Processor model.
    pub cpu_model: String,
    /// A hypervisor is underneath: its stalls cannot be prevented, only seen.
    pub virtualised: bool,
    /// Runs as root.
    pub root: bool,
    /// What stands in the way of a live run; `None` if nothing does.
    pub live_refused: Option<String>,
    /// Agents need user namespaces, because this process may not make network namespaces itself.
    pub user_namespace: Option<bool>,
    /// `SCHED_FIFO` is granted.
    pub fifo: bool,
    /// Smallest step of the monotonic clock seen `[ns]`.
    pub clock_resolution_ns: i64,
    /// Lateness of sleeping until a time, half of all wake-ups `[ns]`.
    pub wake_up_error_p50_ns: i64,
    /// Lateness of sleeping until a time, 99 of 100 wake-ups `[ns]`.
    pub wake_up_error_p99_ns: i64,
    /// Lateness of sleeping and then looking at the clock, 99 of 100 wake-ups `[ns]`.
    pub precise_wake_up_error_p99_ns: i64,
    /// Wake-ups more than 1 ms late among those measured.
    pub stalls: usize,
    /// Wake-ups measured for each kind.
    pub samples: usize,
    /// The kernel offers SocketCAN; where it does not, CAN is emulated only.
    pub socket_can: bool,
    /// Who may open `/dev/net/tun`, on which stations stand.
    pub tun: TunAccess,
    /// How processors choose their speed; empty where the kernel does not say.
    pub governor: String,
    /// Processes that wanted a processor in the last minute, on average.
    pub load: f64,
    /// The largest receive buffer that a program may ask for without privileges `[byte]`.
    pub receive_buffer_max: u64,
    /// What reading each clock takes.
    pub clocks: Vec<ClockSource>,
    /// How far apart processors see the time.
    pub skew: Vec<Skew>,
    /// What keeps a clock of this host by IEEE 1588, if something does.
    pub ptp: Ptp,
}

/// What figures of a host depend on, beside what is measured.
#[derive(Clone, PartialEq, Serialize, Debug, Default)]
pub struct HostState {
    /// As `uname -r` says.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// How processors choose their speed; empty where the kernel does not say.
    pub governor: String,
    /// Processes that wanted a processor in the last minute, on average.
    pub load: f64,
    /// A hypervisor is underneath.
    pub virtualised: bool,
}

impl HostState {
    /// What the kernel says now.
    pub fn read() -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':')).map_or(String::new(), |(_, value)| value.trim().to_owned())
        };
        Self {
            kernel: read("/proc/sys/kernel/osrelease"),
            cpu_model: field("model name"),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
            virtualised: field("flags").split(' ').any(|flag| flag == "hypervisor"),
        }
    }

    /// The same for a reader of results, with what each is called.
    pub fn facts(&self) -> Vec<(String, String)> {
        let Self { kernel, cpu_model, governor, load, virtualised } = self;
        let of = if *virtualised { ", virtual" } else { "" };
        let governor = if governor.is_empty() { "not told by the kernel" } else { governor };
        vec![
            ("processor".into(), format!("{cpu_model}{of}")),
            ("kernel".into(), format!("Linux {kernel}")),
            ("frequency governor".into(), governor.into()),
            ("load when it began".into(), format!("{load:.2}")),
        ]
    }
}

/// A file of the kernel, or nothing.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Who may open `/dev/net/tun`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum TunAccess {
    /// Everybody.
    Everybody,
    /// Its owner and group only.
    Privileged,
    /// There is none.
    Missing,
}

/// Looks around, and measures wake-ups for about 0.3 s and clocks for a second or two. `config` says how agents are started and what their ports are;
/// without agents, an agent with a TAP interface is tried.
pub fn probe(config: &LiveConfig) -> HostReport {
    let HostState { kernel, cpu_model, governor, load, virtualised } = HostState::read();
    let (live_refused, user_namespace) = match live::trial(config) {
        Ok(facts) => (None, Some(facts.user_namespace)),
        Err(error) => (Some(error.to_string()), None),
    };
    let measured = std::thread::spawn(measure).join().unwrap_or_default();
    HostReport {
        kernel,
        clocksource: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cpus: sys::allowed_cpus().len(),
        cpu_model,
        virtualised,
        root: nix::unistd::geteuid().is_root(),
        live_refused,
        user_namespace,
        fifo: measured.fifo,
        clock_resolution_ns: measured.resolution_ns,
        wake_up_error_p50_ns: measured.sleep.p50_ns,
        wake_up_error_p99_ns: measured.sleep.p99_ns,
        precise_wake_up_error_p99_ns: measured.precise.p99_ns,
        stalls: measured.sleep.stalls + measured.precise.stalls,
        samples: SAMPLES,
        socket_can: has_socket_can(),
        tun: tun_access(),
        governor,
        load,
        receive_buffer_max: read("/proc/sys/net/core/rmem_max").parse().unwrap_or(0),
        clocks: clock_sources(CLOCK_READINGS),
        skew: clock_skew(),
        ptp: Ptp::read(),
    }
}

/// Readings of each clock: a second or two for all of them.
const CLOCK_READINGS: usize = 1_000_000;

fn tun_access() -> TunAccess {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata("/dev/net/tun") {
        Err(_) => TunAccess::Missing,
        Ok(known) if known.permissions().mode() & 0o006 == 0o006 => TunAccess::Everybody,
        Ok(_) => TunAccess::Privileged,
    }
}

const SAMPLES: usize = 150;

#[derive(Default)]
struct Measured {
    fifo: bool,
    resolution_ns: i64,
    sleep: Lateness,
    precise: Lateness,
}

#[derive(Default)]
struct Lateness {
    p50_ns: i64,
    p99_ns: i64,
    stalls: usize,
}

impl Lateness {
    /// Of so many waits for a time a millisecond ahead.
    fn measure(clock: RunClock, wait: impl Fn(SimTime)) -> Self {
        let mut late: Vec<i64> = (0..SAMPLES)
            .map(|_| {
                let at = clock.now() + Duration::from_ms(1);
                wait(at);
                (clock.now() - at).as_ns()
            })
            .collect();
        late.sort_unstable();
        let stalls = late.iter().filter(|late| **late > 1_000_000).count();
        Self { p50_ns: late[SAMPLES / 2], p99_ns: late[SAMPLES * 99 / 100], stalls }
    }
}

/// How exactly the thread of a live switch can wait for a time on this host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waits {
    /// Waits that were measured.
    pub count: usize,
    /// One in a hundred ended so late, or later `[ns]`.
    pub late_p99_ns: i64,
}

impl Waits {
    /// Waits as the emulator does, for about 0.15 s, as `SCHED_FIFO` if that is wished for and granted.
    pub fn measure(fifo: bool) -> Self {
        let measured = std::thread::spawn(move || {
            let _ = sys::tighten_timers();
            if fifo {
                sys::try_fifo(RUN_FIFO);
            }
            let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
            Lateness::measure(clock, |at| clock.wait_until(at))
        });
        Self { count: SAMPLES, late_p99_ns: measured.join().unwrap_or_default().p99_ns }
    }
}

/// In a thread of its own, whose scheduling nobody else shares.
fn measure() -> Measured {
    let _ = sys::tighten_timers();
    let fifo = sys::try_fifo(RUN_FIFO);
    let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
    let steps = (0..10_000).map(|_| -monotonic_ns() + monotonic_ns());
    Measured {
        fifo,
        resolution_ns: steps.filter(|step| *step > 0).min().unwrap_or(0),
        sleep: Lateness::measure(clock, |at| {
            clock.poll_until(&mut [], Some(at + SPIN));
        }),
        precise: Lateness::measure(clock, |at| clock.wait_until(at)),
    }
}

fn has_socket_can() -> bool {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    socket(AddressFamily::Can, SockType::Raw, SockFlag::empty(), None).is_ok()
}
