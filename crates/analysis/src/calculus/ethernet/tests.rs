use super::super::{
    ArrivalCurve, Combination, CrossTraffic, Delayed, Flow, Grid, Multiplexing, Network, Rational, Server,
    ServiceCurve, Settings, Unbounded, flow, ratio, whole,
};
use super::*;

fn bucket(rate: Rational, burst: i64) -> ArrivalCurve {
    ArrivalCurve::bucket(rate, whole(burst)).unwrap()
}

fn frames(longest: i64, shortest: i64) -> Frames {
    Frames { longest: whole(longest), shortest: whole(shortest) }
}

fn window(from: i64, length: i64) -> Window {
    Window { from: whole(from), length: whole(length) }
}

fn class(name: &str, rate: Rational, longest: i64) -> Class {
    Class {
        name: name.to_owned(),
        arrival: bucket(rate, longest),
        frames: frames(longest, longest),
        idle_slope: None,
        gates: None,
        is_preemptable: false,
    }
}

fn latency(port: &Port, index: usize) -> Rational {
    port.service(index).unwrap().latency().clone()
}

/// The latest end of a frame that comes alone, over all whole instants of a cycle, by the rule for gates itself.
fn longest_wait(cycle: i64, windows: &[(i64, i64)], frame: i64) -> i64 {
    let starts = |at: i64| {
        let fits = |at: i64| {
            windows.iter().any(|(from, length)| {
                let into = (at - from).rem_euclid(cycle);
                into + frame <= *length
            })
        };
        (at..).find(|at| fits(*at)).unwrap()
    };
    (0..cycle).map(|at| starts(at) + frame - at).max().unwrap()
}

#[test]
fn the_delay_through_gates_is_the_longest_wait_of_a_frame() {
    for (cycle, windows, frame) in
        [(500, vec![(250, 10)], 3), (100, vec![(0, 20), (50, 5), (60, 31)], 5), (100, vec![(90, 30), (40, 9)], 7)]
    {
        let gates =
            Gates::new(whole(cycle), windows.iter().map(|(from, length)| window(*from, *length)).collect()).unwrap();
        // A frame that comes just after the last whole instant at which it could start waits one instant longer.
        let exact = gates.delay(&bucket(whole(0), frame), &whole(1), &frames(frame, frame)).unwrap();
        assert_eq!(exact, whole(longest_wait(cycle, &windows, frame) + 1), "{windows:?}");
        // The hull may say more, never less.
        let hull = gates.service("c", &whole(1), &frames(frame, frame), &whole(0), true).unwrap();
        assert!(hull.carries(&whole(frame)).unwrap() >= exact);
        assert_eq!(*hull.rate() <= whole(1), *hull.rate() > whole(0));
    }
}

#[test]
fn a_window_of_just_one_frame_carries_one_a_cycle() {
    let gates = Gates::new(whole(100), vec![window(10, 12)]).unwrap();
    let one = gates.service("c", &whole(1), &frames(12, 12), &whole(0), true).unwrap();
    assert_eq!((one.rate(), one.latency()), (&ratio(12, 100), &whole(100)));
    // What shares the window may use it up.
    let shared = gates.service("c", &whole(1), &frames(12, 12), &whole(0), false);
    assert!(matches!(shared, Err(Unbounded::NoRoomInWindows { .. })), "{shared:?}");
    let late = gates.service("c", &whole(1), &frames(12, 12), &whole(1), true);
    let message = late.unwrap_err().to_string();
    assert_eq!(
        message,
        "the windows of `c` have no room for one frame of 12 at this rate: the longest would have to last 13, and lasts 12"
    );
}

#[test]
fn windows_that_are_none_are_refused_and_those_that_touch_are_one() {
    let refused = |cycle: i64, windows: Vec<Window>| Gates::new(whole(cycle), windows).unwrap_err().to_string();
    assert!(refused(0, vec![window(0, 1)]).starts_with("a cycle of 0 is none"));
    assert!(refused(10, vec![]).starts_with("there is no window"));
    assert!(refused(10, vec![window(10, 1)]).starts_with("window 0 lasts from 10 for 1"));
    assert!(refused(10, vec![window(1, 11)]).contains("in a cycle of 10"));
    assert!(refused(10, vec![window(4, 1), window(1, 4)]).starts_with("the windows from 1 and from 4 overlap"));
    assert!(refused(10, vec![window(1, 2), window(8, 4)]).starts_with("the windows from 8 and from 1 overlap"));
    let touching = Gates::new(whole(10), vec![window(0, 2), window(8, 2), window(2, 1)]).unwrap();
    assert_eq!(touching, Gates::new(whole(10), vec![window(8, 5)]).unwrap());
    assert_eq!(touching.complement(), Some(Gates::new(whole(10), vec![window(3, 5)]).unwrap()));
    assert_eq!(Gates::new(whole(10), vec![window(3, 10)]).unwrap().complement(), None);
}

#[test]
fn a_class_waits_for_those_above_and_one_frame_below() {
    let classes = vec![class("a", ratio(1, 4), 10), class("b", ratio(1, 4), 20), class("c", ratio(1, 4), 30)];
    let port = Port::new("p", whole(1), None, classes.clone()).unwrap();
    assert_eq!(port.service(0).unwrap(), ServiceCurve::rate_latency(whole(1), whole(30)).unwrap());
    // 30 of c, 10 of a, and what comes of a meanwhile.
    assert_eq!(port.service(1).unwrap(), ServiceCurve::rate_latency(ratio(3, 4), ratio(160, 3)).unwrap());
    assert_eq!(port.service(2).unwrap(), ServiceCurve::rate_latency(ratio(1, 2), whole(60)).unwrap());
    let mut too_many = classes;
    too_many.push(class("d", ratio(1, 3), 10));
    let port = Port::new("p", whole(1), None, too_many).unwrap();
    assert_eq!(
        port.service(3).unwrap_err().to_string(),
        "server `p, class d` is asked for 13/12 for each unit of time in the long run and has 1; take flows off it, lower their rates or make it faster"
    );
}

#[test]
fn what_waits_above_a_closed_gate_goes_first_when_it_opens() {
    let gates = |windows: &[(i64, i64)]| {
        Some(Gates::new(whole(100), windows.iter().map(|(from, length)| window(*from, *length)).collect()).unwrap())
    };
    // One frame of 4 each 25 instants waits for a window of 40 in 100: up to three of them, and one that comes.
    let above = |windows| Class { gates: gates(windows), ..class("a", ratio(4, 25), 4) };
    let waits = |windows, own: Option<Gates>| {
        let below = Class { gates: own, ..class("b", ratio(1, 50), 2) };
        let port = Port::new("p", whole(1), None, vec![above(windows), below]).unwrap();
        port.service(1).unwrap().carries(&whole(2)).unwrap()
    };
    // From the end of the window to where the next begins 64 pass, in which 2.56 frames come, and a whole one was there.
    let held = waits(&[(0, 40)], None);
    assert!(held >= whole(14 + 2), "{held}");
    // Both open together: it cannot have waited longer than this class does, and what came meanwhile counts.
    let together = waits(&[(0, 40)], gates(&[(0, 40)]));
    assert!(together >= whole(64), "{together}");
    // A window of its own, in which nothing above is sent.
    let apart = waits(&[(0, 40)], gates(&[(40, 60)]));
    assert!(apart >= whole(42), "{apart}");
}

#[test]
fn a_frame_above_that_does_not_fit_ends_a_window_for_all() {
    // With a frame of 7 that waits, the class above leaves all but the first 3 of a window of 10 unused: its 7 and the 2 of this one
    // take three windows, not two.
    let gates = || Some(Gates::new(whole(100), vec![window(0, 10)]).unwrap());
    let above = Class { gates: gates(), ..class("a", ratio(1, 1000), 7) };
    let below = Class { gates: gates(), ..class("b", ratio(1, 1000), 2) };
    let beside = Port::new("p", whole(1), None, vec![above, below]).unwrap().service(1).unwrap();
    assert!(beside.carries(&whole(2)).unwrap() >= whole(250), "{:?}", beside.carries(&whole(2)));
}

#[test]
fn an_express_frame_waits_for_a_fragment_and_costs_one_more() {
    let preemptable = |one: Class| Class { is_preemptable: true, ..one };
    let classes = vec![
        preemptable(class("high", ratio(1, 10), 1000)),
        class("express", ratio(1, 10), 100),
        preemptable(class("low", ratio(1, 10), 2000)),
    ];
    let fragments = Fragments { blocking: whole(143), overhead: whole(24) };
    let with = Port::new("p", whole(1), Some(fragments), classes.clone()).unwrap();
    let without = Port::new("p", whole(1), None, classes).unwrap();
    assert_eq!(latency(&with, 1), whole(143));
    // Without preemption the class above and one frame of that below.
    assert_eq!(latency(&without, 1), (whole(2000 + 1000)) / ratio(9, 10));
    // Preemptable frames do not interrupt one another, and are interrupted whatever their priority.
    assert_eq!(latency(&with, 0), (whole(2000) + whole(124)) / (whole(1) - ratio(124, 1000)));
    assert_eq!(latency(&without, 0), whole(2000));
    assert_eq!(Fragments::bytes(&whole(8)), Fragments { blocking: whole(1144), overhead: whole(192) });
}

#[test]
fn credit_grows_with_what_goes_before() {
    let shaped = |one: Class, slope: Rational| Class { idle_slope: Some(slope), ..one };
    let classes = vec![
        shaped(class("a", ratio(1, 4), 10), ratio(1, 4)),
        shaped(class("b", ratio(1, 4), 20), ratio(1, 4)),
        class("rest", ratio(1, 10), 40),
    ];
    let port = Port::new("p", whole(1), None, classes.clone()).unwrap();
    // The highest class: one lower frame, and then what its slope earned.
    assert_eq!(port.service(0).unwrap(), ServiceCurve::rate_latency(ratio(1, 4), whole(40)).unwrap());
    // The next: L_A / C more by its own slope, and the lower frame longer since A's credit grew too.
    let second = (whole(40) + whole(10) * ratio(3, 4)) / ratio(3, 4);
    assert_eq!(port.service(1).unwrap(), ServiceCurve::rate_latency(ratio(1, 4), second).unwrap());
    // What is not shaped gets the rest.
    assert_eq!(*port.service(2).unwrap().rate(), ratio(1, 2));
    let mut greedy = classes;
    greedy[1].idle_slope = Some(ratio(3, 4));
    let port = Port::new("p", whole(1), None, greedy.clone()).unwrap();
    assert_eq!(
        port.service(1).unwrap_err().to_string(),
        "the classes down to `b` reserve 1 of a link of 1; their idle slopes must add up to less"
    );
    greedy[1].idle_slope = Some(whole(0));
    let refused = Port::new("p", whole(1), None, greedy).unwrap_err().to_string();
    assert_eq!(
        refused,
        "port `p`, class `b`: an idle slope of 0 earns no credit; give it one above zero, or no shaper"
    );
}

#[test]
fn combinations_without_a_bound_get_a_reason() {
    let gates = Gates::new(whole(1000), vec![window(0, 500)]).unwrap();
    let mut classes = vec![class("a", ratio(1, 4), 10), class("b", ratio(1, 4), 20)];
    classes[0].idle_slope = Some(ratio(1, 4));
    classes[0].gates = Some(gates.clone());
    let port = Port::new("p", whole(1), None, classes.clone()).unwrap();
    for one in [0, 1] {
        assert_eq!(port.service(one), Err(Unbounded::Combination(Combination::CreditUnderGates)));
    }
    classes[0] = class("a", ratio(1, 4), 10);
    classes[1].gates = Some(gates);
    classes[1].is_preemptable = true;
    let fragments = Some(Fragments { blocking: whole(14), overhead: whole(2) });
    let port = Port::new("p", whole(1), fragments, classes).unwrap();
    assert_eq!(port.service(1), Err(Unbounded::Combination(Combination::InterruptedUnderGates)));
    assert!(port.service(0).is_ok());
}

#[test]
fn a_lower_frame_on_the_wire_shortens_a_window_that_opens_upon_it() {
    let open = |from, length| Some(Gates::new(whole(100), vec![window(from, length)]).unwrap());
    let mut classes = vec![class("a", ratio(1, 100), 10), class("b", ratio(1, 100), 20)];
    classes[0].gates = open(50, 50);
    let port = |classes: &[Class]| Port::new("p", whole(1), None, classes.to_vec()).unwrap();
    classes[1].gates = open(0, 50);
    let apart = latency(&port(&classes), 0);
    classes[1].gates = open(0, 60);
    let over = latency(&port(&classes), 0);
    classes[1].gates = None;
    assert_eq!((apart, over.clone()), (whole(60 + 20), whole(60 + 20 + 20)));
    assert_eq!(latency(&port(&classes), 0), over);
}

fn ring(rate: Rational) -> Network {
    let servers =
        ["a", "b", "c"].map(|name| Server::new(name, ServiceCurve::rate_latency(whole(1), whole(1)).unwrap()));
    let flows =
        (0..3).map(|at| Flow::along(format!("f{at}"), bucket(rate.clone(), 2), &[at, (at + 1) % 3, (at + 2) % 3]));
    Network::new(servers.to_vec(), flows.collect()).unwrap()
}

#[test]
fn a_circle_of_flows_has_a_bound_on_a_grid_or_by_regulators_or_a_reason() {
    let light = ring(ratio(1, 10));
    let exact = Delayed::new(&light, Multiplexing::Fifo, Settings::default()).unwrap_err();
    assert!(matches!(&exact, Unbounded::Cycle { servers } if servers.len() == 3), "{exact}");
    assert_eq!(exact.to_string(), "the flows close a circle over `b`, `c`, `a`; send one of them another way");
    let grid = || Settings { uses_links: false, grid: Grid::new(ratio(1, 1000), ratio(1, 1000)) };
    let mut settled = Delayed::new(&light, Multiplexing::Fifo, grid()).unwrap();
    let delay = settled.server(0).delay.unwrap();
    // d = 1 + (6 + 3 d / 10) / 1 with the bursts of flows that were delayed once and twice.
    assert!(delay >= whole(10) && delay <= whole(10) + ratio(1, 50), "{delay}");
    let heavy = ring(ratio(1, 3));
    let mut diverging = Delayed::new(&heavy, Multiplexing::Fifo, grid()).unwrap();
    let why = diverging.server(0).delay.unwrap_err();
    assert!(matches!(why, Unbounded::Diverges { .. }), "{why}");

    let mut conditions =
        Conditions { is_behind_replication: false, keeps_order: true, clocks_apart: whole(0), margin: whole(0) };
    let mut shaped = Regulated::new(&heavy, &conditions).unwrap();
    assert_eq!(flow::total_flow(&mut shaped, 0, 2).delay, Ok(whole(3 * 7)));
    // A regulator holds frames back, so servers around it are not one: no analysis says less than their sum.
    assert_eq!(flow::separate_flow(&mut shaped, 0, 2).delay, Ok(whole(3 * 7)));
    assert_eq!(flow::pay_multiplexing_once(&mut shaped, 0, 2).delay, Ok(whole(3 * 7)));
    conditions.clocks_apart = ratio(1, 5000);
    let why = |conditions: &Conditions| Regulated::new(&light, conditions).map(|_| ()).unwrap_err();
    assert_eq!(why(&conditions), Unbounded::Combination(Combination::AsynchronousClocks));
    conditions.margin = ratio(1, 5000);
    let mut shaped = Regulated::new(&light, &conditions).unwrap();
    assert!(flow::total_flow(&mut shaped, 0, 2).delay.unwrap() > whole(3 * 7));
    conditions.keeps_order = false;
    assert_eq!(why(&conditions), Unbounded::Combination(Combination::AsynchronousWithoutOrder));
    conditions.is_behind_replication = true;
    assert_eq!(why(&conditions), Unbounded::Combination(Combination::AsynchronousAfterReplication));
}

#[test]
fn a_virtual_link_sends_a_frame_a_gap_and_what_its_jitter_adds() {
    let mut link = VirtualLink {
        name: "v".to_owned(),
        bag: whole(2000),
        longest: whole(200),
        jitter: whole(500),
        hops: vec![super::super::Hop { server: 0, after: None }],
    };
    assert_eq!(link.flow().unwrap().arrival, ArrivalCurve::bucket(ratio(1, 10), whole(250)).unwrap());
    link.bag = whole(0);
    assert!(link.flow().unwrap_err().to_string().starts_with("virtual link `v` has a BAG of 0"));
    link.bag = whole(1);
    link.longest = whole(0);
    assert!(link.flow().unwrap_err().to_string().starts_with("virtual link `v` has frames of 0"));
}

/// A clock with steps, as [`Wander`] has it: what it shows at every whole instant.
fn corrected(length: usize, between: i64, most: i64, steps: &[i64], phases: &[i64]) -> Vec<i64> {
    let (mut shown, mut next, mut ahead) = (Vec::new(), 0, 0);
    let mut steps = steps.iter().zip(phases).cycle();
    for at in 0..length as i64 {
        if at == next
            && let Some((step, phase)) = steps.next()
        {
            ahead += step.clamp(&-most, &most);
            next += between + phase;
        }
        shown.push(at + ahead);
    }
    shown
}

proptest::proptest! {
    /// Whatever a clock does that is corrected by at most `p` at most once in `q`: in no interval a gate is open for less time than the
    /// windows that are certain are where they are least open, and no whole frame fits less often.
    #[test]
    fn windows_that_are_certain_are_open_no_longer_than_those_of_any_clock(
        lasts in proptest::collection::vec(1i64..40, 2..7), most in 0i64..6, between in 60i64..200,
        steps in proptest::collection::vec(-6i64..=6, 1..9), phases in proptest::collection::vec(0i64..50, 9),
        from in 0usize..400,
    ) {
        let cycle: i64 = lasts.iter().sum();
        let mut windows = Vec::new();
        let mut at = 0;
        for (index, lasts) in lasts.iter().enumerate() {
            if index % 2 == 1 {
                windows.push((at, *lasts));
            }
            at += lasts;
        }
        let shown = corrected(2_000, between, most, &steps, &phases);
        let is_open = |shown: i64| {
            windows.iter().any(|(opens, lasts)| (shown - opens).rem_euclid(cycle) < *lasts)
        };
        let open: Vec<i64> = shown.iter().map(|shown| i64::from(is_open(*shown))).collect();
        let rate = ratio(most, between);
        let gates = Gates::new(whole(cycle), windows.iter().map(|(from, length)| window(*from, *length)).collect()).unwrap();
        // Half of a correction, and the instant that an open one is counted for.
        let wander = Wander { shift: ratio(most, 2) + whole(1), rate };
        let certain = gates.clone().by(Some(wander)).certain();
        let mut sum = 0;
        for (until, open) in open.iter().enumerate().take(1_900).skip(from) {
            sum += open;
            if (until - from) % 37 != 0 {
                continue;
            }
            let least = certain.as_ref().map_or_else(|| whole(0), |certain| least_open(certain, &whole((until - from + 1) as i64)));
            proptest::prop_assert!(whole(sum) >= least, "open for {sum} from {from} to {until}, {least} is certain: {gates:?}");
        }
    }
}

/// The least time for which windows are open in an interval of this length: one that begins as one of them ends.
fn least_open(gates: &Gates, length: &Rational) -> Rational {
    let service = gates.service("c", &whole(1), &frames(0, 0), &whole(0), false);
    let Ok(service) = service else { return whole(0) };
    // The service of frames without a length is the convex curve below it.
    service.at(length)
}
