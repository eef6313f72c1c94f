//! Applications with timers of their own: their data wait for the next slot, and newer data take the place of older ones.

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer};

/// A stream with a slot each millisecond.
fn plan(application: &str) -> Plan {
    let text = format!(
        r#"
schema_version = 2
name = "application"
duration = "2s"
fidelity = "timing"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "1ms"
sync = "ideal"
[[nodes]]
name = "sender"
clock = "ideal"
[[nodes]]
name = "receiver"
clock = "ideal"
[[streams]]
name = "state"
from = "sender"
to = ["receiver"]
period = "1ms"
offset = "100us"
length = "92B"
{application}
"#
    );
    load("application.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// What became of the data, by number: how long they had waited when their frame was handed over, or that newer ones came.
#[derive(Default)]
struct Seen {
    waited: Vec<Duration>,
    delivered: usize,
    replaced: Vec<u64>,
}

impl Observer for Seen {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Sent => self.waited.push(Duration::from_ps(event.value)),
            EventKind::Delivered => self.delivered += 1,
            EventKind::Discarded(DiscardReason::Superseded) => self.replaced.push(event.sequence),
            EventKind::Missing => assert_ne!(node, NodeId(1), "to its receiver a slot without data is no loss"),
            _ => {}
        }
    }
}

fn seen(application: &str) -> Seen {
    let plan = plan(application);
    let prepared = Prepared::new(&plan).expect("one slot fits");
    chronoseal_sim::run(&prepared, Seen::default(), &mut |_| true).expect("every part can be built").observer
}

#[test]
fn data_wait_for_the_next_slot_and_a_drift_sweeps_all_phases() {
    // Each next datum is 500 ns earlier against the slots: once through all phases in 2000 of them.
    let seen = seen("application = { period = \"2ms\", phase = \"600us\", drift = \"500ppm\" }");
    assert!((999..=1001).contains(&seen.delivered), "{}", seen.delivered);
    assert!(seen.replaced.is_empty());
    let first = seen.waited[0];
    assert_eq!(first, Duration::from_us(500), "from 600 us to the slot at 1100 us");
    let steps: Vec<Duration> = seen.waited.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 2 ms / 1.0005 is 999.5 ns less.
    assert!(
        steps.iter().filter(|step| (**step - Duration::from_ps(999_501)).abs() > Duration::from_ps(1)).count() <= 1
    );
    let (least, most) = (seen.waited.iter().min().unwrap(), seen.waited.iter().max().unwrap());
    assert!(*least < Duration::from_us(1) && *most > Duration::from_us(999) && *most <= Duration::from_ms(1));
}

#[test]
fn an_application_in_step_with_the_network_waits_the_same_each_time() {
    let seen = seen("application = { period = \"2ms\", phase = \"50us\" }");
    assert!(seen.waited.iter().all(|waited| *waited == Duration::from_us(50)), "{:?}", &seen.waited[..3]);
}

#[test]
fn of_data_that_come_between_two_slots_the_newest_go() {
    let seen = seen("application = { period = \"400us\", phase = \"0s\" }");
    // The slots begin at 100, 1100, 2100, 3100 us: the data of 0, 800, 2000 and 2800 us go.
    assert!((1999..=2000).contains(&seen.delivered), "{}", seen.delivered);
    assert_eq!(seen.replaced[..4], [1, 3, 4, 6]);
    assert!(seen.waited.iter().all(|waited| *waited <= Duration::from_us(400)));
}
