//! What a robot middleware was measured to take, from a file that a link names as `measured`.

use chronoseal_plan::{Charged, Link, LinkHop, MeasuredLength, Plan, SegmentId};
use chronoseal_scenario::Problems;

use crate::{One, check_outcome};

/// A stream of the middleware of the seeds whose messages are as long as the shortest or the longest that were measured, or lie between.
const SCENARIO: &str = r#"
schema_version = 2
name = "over"
duration = "1s"
[segments.air.link]
measured = "measured.toml"
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "25ms"
length = "LENGTH"
air = { over = "raw-udp" }
"#;

/// A file is refused with a reason, or what a stream is charged lies between what was measured of its neighbours, rises, and has frames.
pub fn measured_middleware(data: &[u8]) {
    for length in [1_000, 4_500, 9_000] {
        let outcome = load_measured(data, length);
        if let Ok(plan) = &outcome {
            let link = Link::of(plan, SegmentId(0)).expect("its only segment is one");
            for measured in &link.segment.measured {
                assert!(measured.lengths.is_sorted_by(|one, next| one.length < next.length));
                for one in &measured.lengths {
                    assert_eq!(measured.charged(one.length).map(|charged| charged.wire), Some(one.wire));
                }
            }
            let (_, _, _, hop): (_, _, _, &LinkHop) = link.streams().next().expect("there is one");
            let over = hop.over.as_ref().expect("it goes over a middleware");
            let known = link.segment.measured.iter().find(|one| one.configuration == over.configuration);
            let charged = over.charged.as_ref();
            assert_eq!(charged, known.and_then(|known| known.charged(length)).as_ref());
            if let (Some(charged), Some(known)) = (charged, known) {
                holds(charged, &known.lengths);
                assert!(hop.cut.fragments() > 0 && hop.cut.datagram_len >= hop.padding(length as usize));
            }
        }
        check_outcome(outcome);
    }
}

fn holds(charged: &Charged, lengths: &[MeasuredLength]) {
    let of = |least: bool| {
        let wires = lengths.iter().map(|one| one.wire);
        if least { wires.min() } else { wires.max() }
    };
    assert!(of(true) <= Some(charged.wire) && Some(charged.wire) <= of(false));
    assert_eq!(charged.times.len(), MeasuredLength::QUANTILES);
    assert!(charged.times.is_sorted() && charged.times.iter().all(|time| !time.is_negative()));
    let most = lengths.iter().filter_map(|one| one.times.last()).max();
    assert!(charged.times.last() <= most);
}

/// A stream over `raw-udp` with messages of so many bytes, on a link with this file.
///
/// # Errors
/// Why the file cannot be used.
pub fn load_measured(file: &[u8], length: u32) -> Result<Plan, Problems> {
    let text = SCENARIO.replace("LENGTH", &format!("{length}B"));
    chronoseal_scenario::load("fuzz.toml", text.as_bytes(), &[], &One(file))
}
