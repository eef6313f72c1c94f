//! Networks of ports with several classes, really sent through: strict priority, frames that have begun are not interrupted.

use chronoseal_analysis::calculus::ethernet::{ClassPlan, PortPlan, StreamPlan, Switches};
use chronoseal_analysis::calculus::{Grid, ratio, whole};

use super::simulated::{Case, Kind, case};
use super::simulation::{Chance, Order, simulate};

const CASES: u64 = 400;
const CLASSES: i64 = 3;

fn switches(case: &Case) -> Switches {
    let class = |index: i64| ClassPlan { name: format!("c{index}"), is_preemptable: false, is_regulated: false };
    let port = |(index, station): (usize, &super::simulation::Station)| PortPlan {
        varying: whole(station.varying),
        ..PortPlan::plain(format!("p{index}"), ratio(1, station.unit))
    };
    let flows = case.network(false).flows().to_vec();
    let stream = |(flow, source): (_, &super::simulation::Source)| StreamPlan {
        flow,
        shortest: whole(1),
        class: source.class,
        is_unknown: false,
    };
    Switches {
        classes: (0..CLASSES).map(class).collect(),
        preemption: None,
        ports: case.stations.iter().enumerate().map(port).collect(),
        streams: flows.into_iter().zip(&case.sources).map(stream).collect(),
    }
}

fn send_through(is_ring: bool) {
    let (mut bounded, mut near) = (0, 0);
    for seed in 0..CASES {
        let mut chance = Chance(seed);
        let kind = Kind { longest: 6, is_constant: false, is_varying: seed % 4 == 0, is_ring, classes: CLASSES };
        let case = case(&mut chance, kind);
        let grid = Grid::new(ratio(1, 10), ratio(1, 10)).unwrap();
        let found = switches(&case).bounds(&grid).unwrap();
        let victim = chance.within(0, case.sources.len() as i64 - 1) as usize;
        for run in case.runs(&mut chance, Order::Classes, victim) {
            let seen = simulate(&case.stations, &case.sources, &run, chance.clone());
            for (stream, source) in case.sources.iter().enumerate() {
                let is_end = |hop: &usize| source.hops.iter().all(|other| other.1 != Some(*hop));
                for end in (0..source.hops.len()).filter(is_end) {
                    let Ok(delay) = found.delay(stream, end) else { continue };
                    let took = seen.delay[stream][end];
                    assert!(
                        whole(took) <= delay,
                        "f{stream} to {end}: {took}, and at most {delay}\nseed {seed}, {run:?}\n{case:?}"
                    );
                    bounded += 1;
                    near += u64::from(whole(took) >= delay * ratio(3, 4));
                }
            }
        }
    }
    assert!(bounded >= 9 * CASES && near >= CASES / 2, "{bounded} ways bounded, {near} of them used to 75 %");
}

#[test]
fn no_frame_of_a_class_exceeds_its_bound() {
    send_through(false);
}

#[test]
fn no_frame_of_a_class_on_a_circle_exceeds_its_bound() {
    send_through(true);
}

#[test]
fn a_port_that_is_asked_for_too_much_spoils_what_is_below_and_behind_and_nothing_else() {
    use chronoseal_analysis::calculus::{Flow, Unbounded};

    let class = |name: &str| ClassPlan { name: name.to_owned(), is_preemptable: false, is_regulated: false };
    let stream = |name: &str, class: usize, spaced: i64, ports: &[usize]| StreamPlan {
        flow: Flow {
            longest_frame: whole(10),
            ..Flow::along(name, super::bucket(ratio(10, spaced), whole(10)), ports)
        },
        shortest: whole(10),
        class,
        is_unknown: false,
    };
    let port = |name: &str| PortPlan::plain(name, whole(1));
    let mut switches = Switches {
        classes: vec![class("high"), class("low")],
        preemption: None,
        ports: vec![port("a"), port("b"), port("c")],
        streams: vec![
            stream("first", 0, 40, &[0]),
            stream("greedy", 1, 11, &[0, 1]),
            stream("behind", 1, 100, &[1]),
            stream("high behind", 0, 100, &[1]),
            stream("elsewhere", 1, 100, &[2]),
        ],
    };
    let grid = Grid::new(ratio(1, 1000), ratio(1, 1000)).unwrap();
    let found = switches.bounds(&grid).unwrap();
    // One frame below, then its own.
    assert_eq!(found.delay(0, 0), Ok(whole(20)));
    let why = found.delay(1, 1).unwrap_err();
    assert_eq!(
        why.to_string(),
        "server `a, class low` is asked for 51/44 for each unit of time in the long run and has 1; take flows off it, lower their rates or make it faster"
    );
    assert!(matches!(found.delay(2, 0), Err(Unbounded::Upstream { .. })));
    assert_eq!((found.delay(3, 0), found.delay(4, 0)), (Ok(whole(20)), Ok(whole(10))));
    // What nobody knows spoils its class and those below it, where it comes.
    switches.streams[1] = stream("greedy", 1, 100, &[0, 1]);
    switches.streams[0].is_unknown = true;
    let found = switches.bounds(&grid).unwrap();
    let text = |stream: usize, end: usize| found.delay(stream, end).unwrap_err().to_string();
    assert_eq!(text(0, 0), "nothing bounds what `first` sends");
    assert_eq!(text(1, 1), "what comes to server `a, class low` has no bound: nothing bounds what `first` sends");
    assert!(found.delay(2, 0).is_err() && found.delay(3, 0).is_ok() && found.delay(4, 0).is_ok());
    switches.streams[0].class = 2;
    assert_eq!(
        switches.bounds(&grid).unwrap_err().to_string(),
        "stream `first` is of class 2; there are 2, counted from 0"
    );
}
