//! Stations and posts keep the contract of nodes, with what two stations really say to each other.

use std::sync::Arc;

use chronoseal_core::testing::{Conduct, Contract, Script, bus, record};
use chronoseal_core::{DiscardReason, Duration, EventKind, LocalTime, Node};

use super::tests::{at, config, office, station_of};
use super::{Credentials, FrameTable, Hazard, ItsStation, ItsStationConfig, Mobility, STATIONARY_VEHICLE};
use crate::office::Office;
use crate::road::State;
use crate::simulation::Post;

const END: LocalTime = LocalTime::from_ps(850_000_000_000);
/// Shorter than the resolution of the time in a message.
const LATE_BY: Duration = Duration::from_ns(1);

/// The one of index 1 has a hazard to report. They look around at different times.
fn signed(office: &Arc<Office>, index: u64) -> Box<ItsStation> {
    let hazard = Hazard { at: at(270), every: Duration::from_ms(500), cause_code: STATIONARY_VEHICLE };
    let hazard = (index == 1).then_some(hazard);
    let first_look_at = at(30 * index as i64);
    Box::new(station_of(office, ItsStationConfig { hazard, first_look_at, ..config() }, 7 + index))
}

fn unsigned(index: u64) -> Box<ItsStation> {
    let numbers = chronoseal_core::random::stream(9, chronoseal_core::random::Purpose::Medium, index);
    let mobility = Mobility::Straight(State { speed_m_s: 50.0, ..State::default() });
    let config = ItsStationConfig { first_look_at: at(30 * index as i64), ..config() };
    Box::new(ItsStation::new(config, Credentials::unsigned(numbers), mobility, FrameTable::new(None), None))
}

fn on_the_air(mut nodes: Vec<Box<dyn Node>>) -> Vec<(Script, Conduct)> {
    let count = nodes.len();
    let mut nodes: Vec<&mut dyn Node> = nodes.iter_mut().map(|node| &mut **node as &mut dyn Node).collect();
    record(&mut nodes, bus(count), END)
}

fn count(conduct: &Conduct, kind: EventKind) -> usize {
    conduct.events().filter(|event| event.kind == kind).count()
}

#[test]
fn stations_that_sign_keep_it() {
    let office = office();
    let recorded = on_the_air(vec![signed(&office, 0), signed(&office, 1)]);
    for (index, (script, conduct)) in recorded.into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || signed(&office, index as u64)).late_by(LATE_BY).check();
        assert_eq!(checked, conduct, "alone station {index} does what it did with the other");
        assert!(count(&checked, EventKind::Sent) >= 9, "station {index}");
        assert!(count(&checked, EventKind::Delivered) >= 8, "station {index}");
    }
}

#[test]
fn stations_and_posts_that_ask_for_no_signature_keep_it() {
    let recorded = on_the_air(vec![unsigned(0), unsigned(1), Box::new(Post::default())]);
    for (index, (script, conduct)) in recorded.into_iter().enumerate() {
        let checked = match index {
            2 => Contract::new(0..1, script, || Box::new(Post::default())).check(),
            _ => Contract::new(0..1, script, || unsigned(index as u64)).late_by(LATE_BY).check(),
        };
        assert_eq!(checked, conduct, "alone node {index} does what it did with the others");
        let heard = count(&checked, EventKind::Delivered);
        assert_eq!((heard, checked.work().count()), if index == 2 { (18, 0) } else { (9, 0) }, "node {index}");
        assert_eq!(count(&checked, EventKind::Discarded(DiscardReason::Malformed)), 0);
    }
}
