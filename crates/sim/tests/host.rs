//! Host interfaces in the simulator: what they delay, what they lose, and what they leave alone.

use std::collections::BTreeMap;

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer};

/// One sender of a flood, one of a stream above it and one of a stream beside it, on a switch of 1 Gbit/s.
fn plan(host: &str) -> Plan {
    let text = format!(
        r#"
schema_version = 2
name = "host"
duration = "40ms"
fidelity = "timing"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = {{ best_effort = {{}} }}
[[nodes]]
name = "receiver"
clock = "ideal"
{host}
[[nodes]]
name = "flood"
clock = "ideal"
[[nodes]]
name = "sender"
clock = "ideal"
[[streams]]
name = "flood"
from = "flood"
to = ["receiver"]
period = "20us"
length = "1500B"
[[streams]]
name = "urgent"
from = "sender"
to = ["receiver"]
period = "2ms"
offset = "1037us"
length = "92B"
network = {{ class = {{ best_effort = {{ priority = 7 }} }} }}
[[streams]]
name = "beside"
from = "sender"
to = ["receiver"]
period = "2ms"
offset = "1537us"
length = "1500B"
"#
    );
    load("host.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// By stream: between the last bit of a frame and its place with the application, and how many found no room.
#[derive(Default)]
struct Seen(BTreeMap<u16, (Vec<Duration>, u64)>);

impl Observer for Seen {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let seen = self.0.entry(event.stream.0).or_default();
        match event.kind {
            EventKind::Delivered => {
                let received = frame.and_then(|frame| frame.received_at).expect("an event of a frame has its frame");
                seen.0.push(at - received);
            }
            EventKind::Discarded(reason) => {
                assert_eq!((reason, node), (DiscardReason::HostBufferFull, NodeId(0)));
                assert!(frame.is_some(), "a lost frame is known");
                seen.1 += 1;
            }
            _ => {}
        }
    }
}

fn seen(host: &str) -> Seen {
    let plan = plan(host);
    let prepared = Prepared::new(&plan).expect("nothing is in slots");
    chronoseal_sim::run(&prepared, Seen::default(), &mut |_| true).expect("every part can be built").observer
}

#[test]
fn without_a_host_interface_an_application_has_a_frame_with_its_last_bit() {
    for (waits, lost) in seen("").0.values() {
        assert!(!waits.is_empty() && waits.iter().all(|wait| *wait == Duration::ZERO) && *lost == 0);
    }
}

#[test]
fn a_flood_delays_what_is_above_it_by_no_more_than_one_frame_and_fills_its_own_buffer_alone() {
    let seen = seen("host_interface = { base = \"10us\", per_byte = \"270ns\", buffer = \"60kB\" }").0;
    let service = |len: i64| Duration::from_us(10) + Duration::from_ns(270) * len;
    let (urgent, lost) = &seen[&1];
    assert_eq!((urgent.len(), *lost), (20, 0));
    let (first, last) = (urgent.iter().min().unwrap(), urgent.iter().max().unwrap());
    assert!(*first >= service(106), "{first}");
    assert!(*last > service(106) + Duration::from_us(100) && *last <= service(106) + service(1514), "{last}");
    // Of the flood one frame in twenty finds room; what is beside it shares its buffer, and its lot.
    let (flood, lost) = &seen[&0];
    let served = 40_000 / 418;
    assert!((served - 2..=served).contains(&(flood.len() as i64)), "{}", flood.len());
    assert!(*lost > 1_800, "{lost}");
    let longest = flood.iter().max().unwrap();
    // 39 frames fit, the one that is being copied among them.
    // What is above it goes before it, up to nine times in that time.
    assert!(*longest > service(1514) * 38 && *longest <= service(1514) * 39 + service(106) * 9, "{longest}");
    assert!(seen[&2].1 >= 15, "{}", seen[&2].1);
}
