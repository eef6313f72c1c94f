//! The rules of IEEE 802.1Q-2018 §8.6.5.1 and of MEF 10.3 §12.1, by examples worked out on paper.

use chronoseal_core::{Duration, Rate};
use proptest::prelude::*;

use super::*;

const fn at(us: i64) -> SimTime {
    SimTime::from_ps(us * 1_000_000)
}

/// What the clock of a bridge shows that counts as the run does.
const fn shown(us: i64) -> Option<Duration> {
    Some(Duration::from_us(us))
}

fn judge(psfp: &mut Psfp, now: SimTime, frame: &Arrived) -> Result<Passed, DiscardReason> {
    psfp.judge(now, Some(now.since_zero()), frame)
}

/// Stream 0 at line 0 with priority 3: an SDU of this length, untagged.
fn frame(sdu_len: u32) -> Arrived {
    let frame_len = sdu_len + 18;
    Arrived { stream: StreamId(0), line: 0, priority: 3, is_drop_eligible: false, sdu_len, frame_len }
}

/// 8 Mbit/s is a byte in a microsecond.
const METER: FlowMeterConfig = FlowMeterConfig {
    cir: Rate(8_000_000),
    cbs: 200,
    eir: Rate(4_000_000),
    ebs: 100,
    couples: false,
    is_colour_aware: false,
    drops_yellow: false,
    marks_all_red: false,
};

/// The colours of 100-byte frames that come at these times `[us]`: green, yellow, or why they are thrown away.
fn colours(config: FlowMeterConfig, times: &[i64]) -> Vec<Result<Colour, DiscardReason>> {
    let mut meter = FlowMeter::new(config);
    times.iter().map(|us| meter.mark(at(*us), 100, false)).collect()
}

const GREEN: Result<Colour, DiscardReason> = Ok(Colour::Green);
const YELLOW: Result<Colour, DiscardReason> = Ok(Colour::Yellow);
const RED: Result<Colour, DiscardReason> = Err(DiscardReason::MeteredRed);

#[test]
fn a_meter_pays_from_the_committed_bucket_then_from_the_excess_one() {
    // On paper: 200 and 100 bytes at first. 0: two green (C 0), one yellow (E 0), one red. 99: C 99, E 49.5, red. 100: C 100, green.
    // 200: C 100, E 100 (full): green, yellow, and red. 399: C 199, E 99.5: green, and red (C 99). 400: C 100: green; E 100: yellow.
    let times = [0, 0, 0, 0, 99, 100, 200, 200, 200, 399, 399, 400, 400];
    let expected = [GREEN, GREEN, YELLOW, RED, RED, GREEN, GREEN, YELLOW, RED, GREEN, RED, GREEN, YELLOW];
    assert_eq!(colours(METER, &times), expected);
}

#[test]
fn what_overflows_the_committed_bucket_is_excess_only_if_they_are_coupled() {
    // Without EIR the excess bucket is filled by nothing else. At 300 the committed one has had 100 bytes too many.
    let config = FlowMeterConfig { eir: Rate(0), ..METER };
    let times = [0, 0, 0, 300, 300, 300];
    let not_coupled = [GREEN, GREEN, YELLOW, GREEN, GREEN, RED];
    assert_eq!(colours(config, &times), not_coupled);
    let coupled = FlowMeterConfig { couples: true, ..config };
    assert_eq!(colours(coupled, &times), [GREEN, GREEN, YELLOW, GREEN, GREEN, YELLOW]);
    let one_less = [0, 0, 0, 299, 299, 299];
    assert_eq!(colours(coupled, &one_less)[5], RED);
}

#[test]
fn a_colour_aware_meter_takes_what_is_drop_eligible_from_the_excess_bucket_alone() {
    let mut blind = FlowMeter::new(METER);
    let mut aware = FlowMeter::new(FlowMeterConfig { is_colour_aware: true, ..METER });
    assert_eq!(blind.mark(at(0), 100, true), GREEN);
    assert_eq!([(); 2].map(|()| aware.mark(at(0), 100, true)), [YELLOW, RED]);
    assert_eq!(aware.mark(at(0), 100, false), GREEN, "what is not drop-eligible still has its own");
}

#[test]
fn a_meter_can_drop_yellow_and_can_mark_all_red_after_one() {
    let drops = FlowMeterConfig { drops_yellow: true, ..METER };
    assert_eq!(colours(drops, &[0, 0, 0])[2], Err(DiscardReason::MeteredYellow));
    let all = FlowMeterConfig { marks_all_red: true, ..METER };
    let marked = colours(all, &[0, 0, 0, 0, 1_000_000]);
    assert_eq!(marked[3..], [RED, Err(DiscardReason::AllFramesMarkedRed)]);
}

#[test]
fn a_bucket_pays_to_the_last_token_and_holds_no_more_than_its_size() {
    // A picosecond at 8 Mbit/s is eight million tokens of 10^-12 bit.
    let mut meter = FlowMeter::new(FlowMeterConfig { ebs: 0, ..METER });
    let almost = at(100) - Duration::from_ps(1);
    assert_eq!(meter.mark(at(0), 200, false), GREEN);
    assert_eq!(meter.mark(almost, 100, false), RED);
    assert_eq!(meter.mark(at(100), 100, false), GREEN);
    let day = SimTime::ZERO + Duration::from_s(86_400);
    assert_eq!([(); 3].map(|()| meter.mark(day, 100, false)), [GREEN, GREEN, RED]);
}

fn open(lasts: i64, octets_max: Option<u64>) -> StreamGateEntry {
    StreamGateEntry { is_open: true, ipv: None, lasts: Duration::from_us(lasts), octets_max }
}

fn closed(lasts: i64) -> StreamGateEntry {
    StreamGateEntry { is_open: false, ..open(lasts, None) }
}

fn gate(entries: Vec<StreamGateEntry>) -> StreamGateConfig {
    let list = StreamGateList { base_time: Duration::from_us(50), cycle: Duration::from_us(1_000), entries };
    StreamGateConfig { list, closes_on_invalid_rx: false, closes_on_octets_exceeded: false }
}

#[test]
fn a_gate_is_open_from_the_first_instant_of_its_interval_and_closed_from_that_of_the_next() {
    let mut gate = StreamGate::new(&gate(vec![open(300, None), closed(200), open(1, None)]));
    let shut = Err(DiscardReason::StreamGateClosed);
    // The last entry goes on until the end of the cycle, which began 50 us into the run.
    for (us, expected) in [(0, Ok(None)), (50, Ok(None)), (349, Ok(None)), (350, shut), (549, shut), (550, Ok(None))] {
        for cycle in [0, 1, 1_000_000] {
            assert_eq!(gate.pass(shown(us + 1_000 * cycle), 46), expected, "{us}us of cycle {cycle}");
        }
    }
    assert_eq!(gate.pass(shown(350).map(|at| at - Duration::from_ps(1)), 46), Ok(None));
}

#[test]
fn a_gate_whose_bridge_has_no_clock_yet_is_open_and_leaves_frames_their_priority() {
    let other = StreamGateEntry { ipv: Some(Priority(6)), octets_max: Some(10), ..closed(1_000) };
    let mut gate = StreamGate::new(&gate(vec![other]));
    assert_eq!(gate.pass(None, 1_000), Ok(None));
    assert_eq!(gate.pass(shown(0), 46), Err(DiscardReason::StreamGateClosed));
}

#[test]
fn an_interval_lets_as_many_octets_pass_as_it_has_and_the_next_begins_anew() {
    let mut gate = StreamGate::new(&gate(vec![open(500, Some(150)), open(500, Some(100))]));
    let full = Err(DiscardReason::IntervalOctetsExceeded);
    let came = [(100, 100), (110, 51), (120, 50), (130, 1), (550, 100), (560, 1), (1_050, 150), (1_060, 1)];
    let passed = came.map(|(us, len)| gate.pass(shown(us), len));
    assert_eq!(passed, [Ok(None), full, Ok(None), full, Ok(None), full, Ok(None), full]);
}

#[test]
fn a_gate_closes_for_good_only_if_it_is_told_to() {
    let lists = [vec![open(500, Some(10)), closed(500)], vec![open(500, Some(10)), closed(500)]];
    let [mut on_rx, mut on_octets] = lists.map(gate);
    on_rx.closes_on_invalid_rx = true;
    on_octets.closes_on_octets_exceeded = true;
    let [mut on_rx, mut on_octets] = [on_rx, on_octets].map(|config| StreamGate::new(&config));
    let full = Err(DiscardReason::IntervalOctetsExceeded);
    let shut = Err(DiscardReason::StreamGateClosed);
    let came = [(100, 11), (600, 1), (1_100, 1)];
    assert_eq!(
        came.map(|(us, len)| on_rx.pass(shown(us), len)),
        [full, shut, Err(DiscardReason::GateClosedDueToInvalidRx)]
    );
    let for_good = Err(DiscardReason::GateClosedDueToOctetsExceeded);
    assert_eq!(came.map(|(us, len)| on_octets.pass(shown(us), len)), [full, for_good, for_good]);
}

#[test]
fn an_open_interval_gives_its_internal_priority() {
    let entry = |ipv| StreamGateEntry { ipv: Some(Priority(ipv)), ..open(500, None) };
    let mut gate = StreamGate::new(&gate(vec![entry(5), entry(2)]));
    assert_eq!([100, 600].map(|us| gate.pass(shown(us), 46)), [Ok(Some(Priority(5))), Ok(Some(Priority(2)))]);
}

fn psfp(filters: Vec<StreamFilterConfig>) -> Psfp {
    let gates = vec![gate(vec![open(500, None), closed(500)])];
    let meters = vec![FlowMeterConfig { ebs: 0, ..METER }];
    Psfp::new(&PsfpConfig { filters, gates, meters })
}

#[test]
fn the_first_filter_that_matches_judges_and_a_frame_that_none_matches_passes() {
    let max = |max_sdu| StreamFilterConfig { max_sdu: Some(max_sdu), ..StreamFilterConfig::default() };
    let of_stream = StreamFilterConfig { streams: Some(vec![StreamId(1), StreamId(0)]), ..max(60) };
    let of_priority = StreamFilterConfig { priority: Some(5), ..max(50) };
    let of_line = StreamFilterConfig { lines: Some(vec![2]), ..max(40) };
    let mut psfp = psfp(vec![of_stream, of_priority, of_line]);
    let long = |stream, priority, line| Arrived { stream: StreamId(stream), priority, line, ..frame(61) };
    let refused = Err(DiscardReason::MaxSduExceeded);
    assert_eq!(judge(&mut psfp, at(100), &long(0, 5, 2)), refused);
    assert_eq!(judge(&mut psfp, at(100), &long(7, 5, 2)), refused);
    assert_eq!(judge(&mut psfp, at(100), &long(7, 4, 2)), refused);
    assert_eq!(judge(&mut psfp, at(100), &long(7, 4, 3)), Ok(Passed::default()));
    let matched: Vec<u64> = psfp.counters().map(|counters| counters.matching_frames).collect();
    assert_eq!(matched, [1, 1, 1]);
}

#[test]
fn counters_follow_a_frame_through_size_gate_and_meter() {
    let filter = StreamFilterConfig { max_sdu: Some(82), gate: Some(0), meter: Some(0), ..Default::default() };
    let mut psfp = psfp(vec![filter]);
    // 100 bytes each with header and checksum: two fit the bucket, the third is red; then one too long, and one too early.
    let came =
        [(100, 82), (100, 82), (100, 82), (100, 83), (600, 46)].map(|(us, len)| judge(&mut psfp, at(us), &frame(len)));
    let ok = Ok(Passed::default());
    let [red, long, shut] =
        [DiscardReason::MeteredRed, DiscardReason::MaxSduExceeded, DiscardReason::StreamGateClosed].map(Err);
    assert_eq!(came, [ok, ok, red, long, shut]);
    let counted: Vec<u64> = psfp.counters().flat_map(|counters| counters.named().map(|(_, count)| count)).collect();
    assert_eq!(counted, [5, 3, 1, 4, 1, 1]);
}

#[test]
fn one_oversize_frame_blocks_a_filter_that_is_told_to() {
    let filter = |blocks_after_oversize| StreamFilterConfig {
        max_sdu: Some(100),
        blocks_after_oversize,
        ..StreamFilterConfig::default()
    };
    for (blocks, last) in [(false, Ok(Passed::default())), (true, Err(DiscardReason::StreamBlocked))] {
        let mut psfp = psfp(vec![filter(blocks)]);
        assert_eq!(judge(&mut psfp, at(0), &frame(100)), Ok(Passed::default()));
        assert_eq!(judge(&mut psfp, at(1), &frame(101)), Err(DiscardReason::MaxSduExceeded));
        assert_eq!(judge(&mut psfp, at(2), &frame(46)), last);
    }
}

proptest! {
    /// What a meter lets pass keeps to its buckets between any two instants, and what keeps to the committed one is green.
    #[test]
    fn what_a_meter_lets_pass_keeps_to_its_profile(
        gaps in prop::collection::vec((0i64..400, 64u32..400), 1..60),
        cir in 1u64..20, eir in 0u64..20, cbs in 0u64..1_000, ebs in 0u64..1_000, couples: bool,
    ) {
        let config = FlowMeterConfig { cir: Rate(cir * 1_000_000), eir: Rate(eir * 1_000_000), cbs, ebs, couples, ..METER };
        let mut meter = FlowMeter::new(config);
        let (mut now, mut green, mut all) = (0, Vec::new(), Vec::new());
        for (gap, len) in gaps {
            now += gap;
            let marked = meter.mark(at(now), len, false);
            green.extend((marked == GREEN).then_some((now, u64::from(len))));
            all.extend(marked.is_ok().then_some((now, u64::from(len))));
        }
        // Bits in a microsecond are Mbit/s.
        let holds = |passed: &[(i64, u64)], rate: u64, burst: u64| {
            (0..passed.len()).all(|first| {
                let mut sum = 0;
                passed[first..].iter().all(|(us, len)| {
                    sum += 8 * len;
                    sum <= 8 * burst + rate * (us - passed[first].0) as u64
                })
            })
        };
        prop_assert!(holds(&green, cir, cbs));
        prop_assert!(holds(&all, cir + eir, cbs + ebs));
    }
}

proptest! {
    #[test]
    fn the_first_filter_that_matches_judges_whatever_others_there_are(
        filters in proptest::collection::vec(
            (
                proptest::option::of(proptest::collection::vec(0u16..5, 0..3)),
                proptest::option::of(0u8..10),
                proptest::option::of(proptest::collection::vec(0usize..3, 0..3)),
            ),
            0..8,
        ),
        frames in proptest::collection::vec((prop_oneof![0u16..7, Just(u16::MAX)], 0u8..12, 0usize..3), 1..40),
    ) {
        let filter = |(streams, priority, lines): &(Option<Vec<u16>>, Option<u8>, Option<Vec<usize>>)| StreamFilterConfig {
            streams: streams.as_ref().map(|streams| streams.iter().copied().map(StreamId).collect()),
            priority: *priority,
            lines: lines.clone(),
            ..StreamFilterConfig::default()
        };
        let filters: Vec<StreamFilterConfig> = filters.iter().map(filter).collect();
        let mut psfp = Psfp::new(&PsfpConfig { filters: filters.clone(), ..PsfpConfig::default() });
        let mut expected = vec![0; filters.len()];
        for (stream, priority, line) in frames {
            let arrived = Arrived { stream: StreamId(stream), line, priority, ..frame(100) };
            prop_assert_eq!(judge(&mut psfp, at(0), &arrived), Ok(Passed::default()));
            let judges = filters.iter().position(|filter| filter.matches(&arrived));
            judges.into_iter().for_each(|filter| expected[filter] += 1);
        }
        let counted: Vec<u64> = psfp.counters().map(|counters| counters.matching_frames).collect();
        prop_assert_eq!(counted, expected);
    }
}
