use chronoseal_core::Rate;

use super::*;

const NS: fn(i64) -> Duration = Duration::from_ns;
const GIGABIT: Rate = Rate(1_000_000_000);
/// Preamble, check sum and gap.
const OVERHEAD: u64 = 24;

/// Switches 10 and 11 with a link between them; stations 0 and 1 at the first, 2 at the second. All links of 1 Gbit/s with a
/// propagation of 5 ns; a switch takes 1000 ns.
fn two_switches(jitter: i64) -> Routed {
    let link = |from: u16, to: u16| RoutedLink {
        from: NodeId(from),
        to: NodeId(to),
        speed: LineSpeed::new(GIGABIT, OVERHEAD, 12, NS(5)),
        enters_switch: to >= 10,
        closed: Vec::new(),
        port: RoutedPort::default(),
    };
    Routed {
        overhead: OVERHEAD,
        cycle: Duration::from_ms(1),
        forwarding: Span { min: NS(1_000), max: NS(1_000 + jitter) },
        links: vec![link(0, 10), link(1, 10), link(10, 11), link(11, 2)],
        streams: Vec::new(),
        preemptable: BTreeSet::new(),
        regulated: BTreeSet::new(),
    }
}

/// A stream of frames of one length over these links, one after the other, to station 2.
fn sent(number: u16, priority: u8, len: u64, period_us: i64, links: &[usize]) -> RoutedStream {
    RoutedStream {
        name: format!("stream {number}"),
        stream: Some(StreamId(number)),
        priority,
        at: Ok(Span::DUE),
        distance: Duration::from_us(period_us),
        committed: None,
        regulated: None,
        sharers: Vec::new(),
        counted_len: len,
        len_max: len,
        len_min: len,
        hops: links.iter().enumerate().map(|(at, link)| (*link, at.checked_sub(1))).collect(),
        ends: vec![(NodeId(2), links.len() - 1)],
    }
}

fn spans(routed: &Routed) -> Vec<Result<Span, Why>> {
    routed.bounds().into_iter().map(|hop| hop.received).collect()
}

#[test]
fn a_frame_alone_takes_its_links_and_switches_and_nothing_else() {
    let mut routed = two_switches(0);
    routed.streams.push(sent(0, 5, 100, 1_000, &[0, 2, 3]));
    // 112 bytes until the last bit on each of three links, 5 ns each, and two switches.
    let exact = NS(3 * (896 + 5) + 2 * 1_000);
    assert_eq!(spans(&routed), [Ok(Span { min: exact, max: exact })]);
    // What a switch takes longer, and when it comes to the first queue, adds to the latest instant.
    let mut routed = two_switches(300);
    routed
        .streams
        .push(RoutedStream { at: Ok(Span { min: NS(40), max: NS(70) }), ..sent(0, 5, 100, 1_000, &[0, 2, 3]) });
    let span = spans(&routed)[0].unwrap();
    // A bucket says a little more than one frame in a time that is shorter than the period.
    let latest = exact + NS(70 + 2 * 300);
    assert!(span.min == exact + NS(40) && span.max >= latest && span.max < latest + NS(5), "{span:?}");
}

#[test]
fn others_of_the_class_those_above_and_one_frame_below_are_in_the_way() {
    let mut routed = two_switches(0);
    routed.streams.push(sent(0, 5, 100, 1_000, &[0, 2, 3]));
    let alone = spans(&routed)[0].unwrap();
    routed.streams.push(sent(1, 0, 1_000, 1_000, &[1, 2, 3]));
    let below = spans(&routed)[0].unwrap();
    // A lower frame of 1024 bytes on both links that it shares.
    assert_eq!((below.min, below.max), (alone.min, alone.max + NS(2 * 1_024 * 8)));
    for priority in [5, 6, 8] {
        routed.streams[1].priority = priority;
        let met = spans(&routed)[0].unwrap();
        // It comes from another link, so the two meet. Both come over one link then, and the long frame has begun on the next
        // by as much as the short one lasts; frames of two classes are counted as if they met once more.
        let again = if priority == 5 { (1_024 - 124) * 8 + 100 } else { 1_024 * 8 + 600 };
        assert!(met.max >= alone.max + NS(1_024 * 8), "{priority}: {met:?}");
        assert!(met.max < alone.max + NS(1_024 * 8 + again), "{priority}: {met:?}");
    }
    // The higher one meets only a frame that has begun, of 124 bytes.
    let higher = spans(&routed)[1].unwrap();
    routed.streams.remove(0);
    assert_eq!(higher.max, spans(&routed)[0].unwrap().max + NS(2 * 992));
}

#[test]
fn a_stream_that_branches_has_a_bound_at_each_end() {
    let mut routed = two_switches(0);
    let mut tree = sent(0, 3, 100, 1_000, &[0, 2, 3]);
    routed.links.push(RoutedLink { from: NodeId(10), to: NodeId(1), enters_switch: false, ..routed.links[0].clone() });
    tree.hops.push((4, Some(0)));
    tree.ends.push((NodeId(1), 3));
    routed.streams.push(tree);
    let found = routed.bounds();
    assert_eq!(found.iter().map(|hop| hop.receiver).collect::<Vec<_>>(), [NodeId(2), NodeId(1)]);
    assert_eq!(found[1].received.unwrap().max, NS(2 * 901 + 1_000));
    // An end that another hop follows is none.
    routed.streams[0].ends[1].1 = 0;
    assert_eq!(spans(&routed)[1], Err(Why::NotReached));
}

#[test]
fn too_much_for_a_link_is_said_with_the_link_and_the_load() {
    let mut routed = two_switches(0);
    // 1524 bytes every 20 us from each of two stations: 61 % of the link that both share, twice.
    routed.streams.extend([sent(0, 4, 1_500, 20, &[0, 2, 3]), sent(1, 4, 1_500, 20, &[1, 2, 3])]);
    routed.streams.push(sent(2, 6, 100, 1_000, &[0, 2, 3]));
    routed.streams.push(sent(3, 1, 100, 1_000, &[3]));
    let found = spans(&routed);
    let Err(Why::Link(problem)) = found[0] else { panic!("{found:?}") };
    assert_eq!((problem.from, problem.to), (NodeId(10), NodeId(11)));
    assert_eq!(problem.reason, LinkReason::Overload { load_ppm: 1_219_200 + 992 });
    assert!(
        problem.to_string().starts_with("the link from node 10 to node 11 is overloaded: this stream,"),
        "{problem}"
    );
    assert_eq!(found[1], found[0]);
    assert!(found[2].is_ok(), "a class above is not affected");
    assert_eq!(found[3], Err(Why::ArrivalUnbounded), "and one below, further on, is");
}

#[test]
fn what_comes_from_somewhere_without_a_bound_spoils_its_class_and_those_below() {
    let mut routed = two_switches(0);
    routed.streams.extend([5, 5, 4, 6].map(|priority| sent(u16::from(priority), priority, 100, 1_000, &[0, 2, 3])));
    routed.streams[0].at = Err(Why::Radio);
    let found = spans(&routed);
    assert_eq!(found[..3], [Err(Why::Radio), Err(Why::ArrivalUnbounded), Err(Why::ArrivalUnbounded)]);
    assert!(found[3].is_ok());
}

/// Four switches in a ring, with a stream from each over all four links.
fn ring(distance: Duration) -> Routed {
    let mut routed = two_switches(0);
    let link = |from: u16, to: u16| RoutedLink { from: NodeId(from), to: NodeId(to), ..routed.links[0].clone() };
    routed.links = vec![link(10, 11), link(11, 12), link(12, 13), link(13, 10)];
    let around = |from: usize| [from, (from + 1) % 4, (from + 2) % 4, (from + 3) % 4];
    routed.streams =
        (0..4).map(|at| RoutedStream { distance, ..sent(at, 4, 1_000, 1, &around(usize::from(at))) }).collect();
    routed
}

#[test]
fn a_circle_of_streams_settles_or_is_said() {
    let light = spans(&ring(Duration::from_us(200)));
    let one = light[0].unwrap();
    assert!(light.iter().all(|span| *span == light[0]) && one.max < Duration::from_us(200), "{light:?}");
    // 98 % of each link are asked for.
    let heavy = spans(&ring(NS(33_400)));
    let Err(Why::Link(problem)) = heavy[0] else { panic!("{heavy:?}") };
    assert_eq!(problem.reason, LinkReason::Circle, "{problem}");
}

#[test]
fn around_a_scheduled_frame_a_link_is_closed() {
    let mut routed = two_switches(0);
    routed.streams.push(sent(0, 3, 100, 1_000, &[2, 3]));
    let free = spans(&routed)[0].unwrap().max;
    // 20 us for a scheduled frame in each millisecond: a frame of 992 ns that does not end before it waits until it is over.
    let closed = |from: i64| Closed { from: Duration::from_us(from), until: Duration::from_us(from + 20) };
    routed.links[2].closed = vec![closed(990)];
    let once = spans(&routed)[0].unwrap().max;
    // The curve is convex, and the link does 979 us of work in a millisecond.
    let exact = free + Duration::from_us(20) + NS(992);
    assert!(once >= exact && once < exact + NS(22), "{once} for {exact}");
    // A longer frame of a class above begins to wait earlier, and this one behind it.
    routed.streams.push(sent(1, 5, 1_500, 1_000, &[2, 3]));
    let behind = spans(&routed)[0].unwrap().max;
    routed.links[2].closed.clear();
    let without = spans(&routed)[0].unwrap().max;
    assert!(behind >= without + Duration::from_us(20) + NS(12_192), "{behind} {without}");
    // Two that overlap, the second over the end of the cycle, are one.
    let overlapping = [closed(985), closed(990), Closed { from: Duration::from_us(2), until: Duration::from_us(4) }];
    let expected = Closed { from: Duration::from_us(985), until: Duration::from_us(1_010) };
    assert_eq!(merged(&overlapping, Duration::from_ms(1)), [expected]);
    // Closed all of the cycle, nothing gets through.
    routed.links[2].closed = vec![Closed { from: Duration::ZERO, until: Duration::from_ms(1) }];
    let Err(Why::Link(problem)) = spans(&routed)[0] else { panic!("a closed link has no bound") };
    assert_eq!(problem.reason, LinkReason::NoRoom);
}

/// What is written of a class for other tools is bounded as the class is here: by no less, and by hardly more.
#[test]
fn a_class_that_is_written_for_others_and_read_again_has_the_bounds_it_has_here() {
    use crate::calculus::saihu::{read_network, write_network};
    use crate::calculus::{Multiplexing, Settings, best};
    use crate::segment::ethernet::exported::named;

    let mut compared = 0;
    for (seed, len) in (0..6u16).zip([64u64, 100, 333, 700, 1_000, 1_500]) {
        let mut routed = two_switches(0);
        for number in 0..5 {
            let way = if (number + seed) % 2 == 0 { &[0, 2, 3][..] } else { &[1, 2, 3] };
            let period = 500 + i64::from(number * seed) * 70;
            routed.streams.push(sent(
                number,
                [5, 5, 3, 7, 3][usize::from(number)],
                len + u64::from(number),
                period,
                way,
            ));
        }
        routed.links[2].closed = vec![Closed { from: Duration::from_us(10), until: Duration::from_us(30) }];
        let found = routed.switches().unwrap().bounds(&grid().unwrap()).unwrap();
        for class in [3, 5, 7] {
            let network = routed.network_of(class).unwrap();
            let network = named(&|node| format!("n{}", node.0), &routed, &network);
            let text = write_network("class", Multiplexing::Fifo, &network).unwrap();
            let read = read_network("class.json", text.as_bytes()).unwrap();
            let settings = Settings { uses_links: true, grid: None };
            let bounds = best(&read.network, read.multiplexing, settings, 0).unwrap();
            let own = routed.streams.iter().enumerate().filter(|(_, sent)| sent.priority == class);
            for ((index, sent), bound) in own.zip(bounds) {
                assert_eq!(read.network.flows()[bound.flow].name, sent.name);
                let (seconds, _) = bound.delay.unwrap();
                let (there, here) = (seconds * whole(1_000_000_000_000), found.delay(index, sent.ends[0].1).unwrap());
                // The grid rounds up at each of three links, by a picosecond and a millionth of a byte.
                assert!(&there + whole(6) >= here, "{}: {there} there, {here} here", sent.name);
                assert!(there <= &here + whole(100), "{}: {there} there, {here} here", sent.name);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 30);
}

/// A window for each of two frames, as a schedule makes them: whether they come in time nothing here knows, but nothing says that they
/// do not.
#[test]
fn windows_that_are_long_enough_together_are_no_overload() {
    let us = |time: i64| whole(Duration::from_us(time).as_ps());
    let reason = |period_us: i64| {
        let mut routed = two_switches(0);
        routed.streams.extend([sent(0, 5, 100, 100, &[0, 2, 3]), sent(1, 5, 300, period_us, &[1, 2, 3])]);
        let window = |from: i64, length: i64| Window { from: us(from), length: us(length) };
        let gates = Gates::new(us(100), vec![window(0, 1), window(50, 3)]).unwrap();
        routed.links[2].port.gates.insert(5, gates);
        let Err(Why::Link(LinkProblem { reason, .. })) = spans(&routed)[1] else { panic!("{:?}", spans(&routed)) };
        reason
    };
    assert_eq!(reason(100), LinkReason::Windows);
    assert!(matches!(reason(50), LinkReason::Overload { .. }), "more comes than is open");
}
