//! Gates by a clock that is set while frames wait.

use super::*;

/// What a clock shows that is ahead of the run by so much.
fn ahead(us: i64) -> Option<Oscillator> {
    Some(Oscillator::through(SimTime::ZERO, LocalTime::ZERO + Duration::from_us(us), RateDeviation::ZERO))
}

/// Plays frames of class 0 to a port whose clock is set at these times `[us]`: how far ahead it is then, or nothing. When each started
/// `[us]`.
fn played(config: &PortConfig, coming_us: &[i64], set: &[(i64, Option<i64>)]) -> Vec<f64> {
    let (mut port, mut frames, mut looks) = (port(config), FrameStore::new(), std::collections::BTreeSet::new());
    port.gates_follow(SimTime::ZERO, None);
    let at = |us: &i64| SimTime::ZERO + Duration::from_us(*us);
    let mut times: Vec<SimTime> = coming_us.iter().map(at).chain(set.iter().map(|(us, _)| at(us))).collect();
    let mut started = Vec::new();
    while let Some(now) = times.iter().chain(&looks).min().copied() {
        times.retain(|time| *time != now);
        looks.remove(&now);
        for (_, ahead_us) in set.iter().filter(|(us, _)| at(us) == now) {
            port.gates_follow(now, ahead_us.and_then(ahead));
        }
        let mut steps = Vec::new();
        for _ in coming_us.iter().filter(|us| at(us) == now) {
            let frame = frames.allocate(FrameLabel::default());
            let offer = Offer { frame, len: 1000, priority: Priority(0), due: None };
            steps.push(port.offer(now, offer, StreamId(0)).unwrap());
        }
        steps.push(port.step(now));
        for step in steps {
            started.extend(step.left.map(|left| (left.started_at - SimTime::ZERO).as_us_f64()));
            looks.extend(step.look_again_at);
        }
        assert!(now < at(&10_000), "it looks again and again");
    }
    started
}

/// A frame takes 8.192 us, and class 0 has [100, 200) us of 500.
fn config() -> PortConfig {
    gated(&[(0, 100), (1, 100), (0, 300)], 500)
}

#[test]
fn before_a_clock_shows_anything_gates_are_open_and_then_they_are_what_the_list_says() {
    assert_eq!(played(&config(), &[10], &[]), [10.0]);
    assert_eq!(played(&config(), &[10], &[(0, Some(0))]), [100.0]);
    assert_eq!(played(&config(), &[10, 60], &[(50, Some(0))]), [10.0, 100.0]);
    assert_eq!(played(&gated(&[(0, 500)], 500), &[10, 60], &[(50, Some(0))]), [10.0], "a gate that never opens");
    assert_eq!(played(&config(), &[10, 60], &[(5, Some(0)), (50, None)]), [50.0, 60.0], "it has none any more");
}

#[test]
fn a_clock_that_is_ahead_opens_its_gate_earlier_by_as_much() {
    assert_eq!(played(&config(), &[10], &[(0, Some(50))]), [50.0]);
    assert_eq!(played(&config(), &[10], &[(0, Some(-50))]), [150.0]);
    // Its last bit is no longer on the wire when the gate closes.
    assert_eq!(played(&config(), &[141, 142], &[(0, Some(50))]), [141.0, 550.0]);
}

#[test]
fn a_clock_that_is_set_over_the_start_of_an_entry_is_in_that_entry_at_once() {
    // Forth over the opening, just before it and long before it.
    assert_eq!(played(&config(), &[10], &[(0, Some(0)), (90, Some(20))]), [90.0]);
    assert_eq!(played(&config(), &[10], &[(0, Some(0)), (20, Some(170))]), [20.0]);
    // Forth over the closing: what has not begun waits for the next cycle.
    assert_eq!(played(&config(), &[195], &[(0, Some(-50)), (200, Some(0))]), [195.0]);
    assert_eq!(played(&config(), &[205], &[(0, Some(-50)), (200, Some(0))]), [600.0]);
    // Back over the opening, before and behind it: the window comes again, and no cycle is added.
    assert_eq!(played(&config(), &[10, 250], &[(0, Some(0)), (90, Some(-20))]), [120.0, 620.0]);
    assert_eq!(played(&config(), &[100, 106], &[(0, Some(0)), (105, Some(-20))]), [100.0, 120.0]);
    // Back over the closing: the gate is open again until then.
    assert_eq!(played(&config(), &[198, 250], &[(0, Some(0)), (205, Some(-20))]), [205.0, 620.0]);
    // Over a whole window, which is then over.
    assert_eq!(played(&config(), &[10], &[(0, Some(0)), (90, Some(120))]), [480.0]);
}

#[test]
fn a_frame_that_has_begun_ends_whatever_its_gate_does() {
    assert_eq!(played(&config(), &[110, 112], &[(0, Some(0)), (111, Some(95))]), [110.0, 505.0]);
}

#[test]
fn credit_is_earned_by_the_gates_as_they_were() {
    let mut config = config();
    config.classes[0].selection = Selection::CreditBased { idle_slope: Rate(500_000_000), changed: None };
    // A frame of 1024 bytes on the wire costs 512 bytes of credit, which takes 8.192 us of an open gate to earn.
    let all = played(&config, &[110, 110], &[(0, Some(0))]);
    assert_eq!(all, [110.0, 126.384]);
    // The gate is closed for 10 us meanwhile.
    let set = played(&config, &[110, 110], &[(0, Some(0)), (120, Some(100)), (130, Some(0))]);
    assert_eq!(set, [110.0, 136.384]);
}

#[test]
fn the_idle_slope_is_that_of_the_list_whose_time_the_clock_shows() {
    let mut config = gated(&[(1, 500)], 500);
    config.gates.as_mut().unwrap().change = change(&[(1, 200)], 100, 0);
    config.classes[0].selection = shaped(500_000_000, 250_000_000);
    // A frame of 8.192 us costs 4096 bits, and the clock shows 100 us at 50 us. 904 of them have been earned by then, and the other 3192 take
    // 12.768 us.
    assert_eq!(played(&config, &[40, 40], &[(0, Some(50))]), [40.0, 62.768]);
    // In the middle of a frame: 2000 bits by 50 us, and 3144 more by 54.192 us.
    assert_eq!(played(&config, &[46, 46], &[(0, Some(50))]), [46.0, 74.768]);
    // It is set back over the change at 55 us: 1250 bits were earned since, and the old slope earns the other 1942 in 3.884 us.
    assert_eq!(played(&config, &[40, 40], &[(0, Some(50)), (55, Some(0))]), [40.0, 58.884]);
    // It is set forth over the change at 55 us: 3404 bits were earned by the old slope, and the new one takes 2.768 us for the other 692.
    assert_eq!(played(&config, &[40, 40], &[(0, Some(0)), (55, Some(50))]), [40.0, 57.768]);
}
