//! What the link does to packets, through its seam.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId, PortId, Priority, Rate, SimTime, StreamId};
use chronoseal_wire::ethernet::{HEADER_LEN, Header, TypeOrLength};
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, PROTOCOL_UDP};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::{udp, virtual_link};

use super::*;
use crate::medium::{Attachment, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};

const STREAM: StreamId = StreamId(0);

fn end(node: u16) -> Attachment {
    Attachment { node: NodeId(node), port: PortId(0) }
}

fn laws(delay: DelayLaw) -> LinkLaws {
    LinkLaws {
        rate: None,
        queue: 1000,
        shaper: Shaper::Behind,
        delay,
        loss: Loss::Independent(0.0),
        duplicate: 0.0,
        corrupt: 0.0,
        order: Order::AsDelayed,
    }
}

fn link(laws: LinkLaws) -> LossyLink {
    LossyLink::new(LinkConfig {
        ends: vec![end(0), end(1)],
        groups: vec![vec![NodeId(1)]],
        node: NodeId(2),
        through: None,
        laws,
        seed: 7,
        number: 0,
    })
}

const WIFI: DelayLaw = DelayLaw::Normal { mean: Duration::from_ms(13), deviation: Duration::from_ms(22) };

/// The frames of a message of the test bed with so much data.
fn frames(sequence: u32, data_len: usize) -> Vec<Vec<u8>> {
    let mut datagram = vec![0; udp::HEADER_LEN + data_len];
    udp::emit(&mut datagram);
    TestBedHeader { stream: STREAM, sequence }.emit(&mut datagram[udp::HEADER_LEN..]);
    let cut = Cut::new(datagram.len(), 1500);
    let header = ipv4::Header {
        source: virtual_link::station_ip(NodeId(0)),
        destination: virtual_link::stream_ip(STREAM),
        identification: sequence as u16,
        protocol: PROTOCOL_UDP,
    };
    let mut all = Vec::new();
    let mut offset = 0;
    while offset < datagram.len() {
        let len = cut.len_at(offset);
        let mut frame = vec![0; HEADER_LEN + ipv4::HEADER_LEN + len];
        Header {
            destination: virtual_link::stream_address(STREAM),
            source: virtual_link::station_address(NodeId(0)),
            type_or_length: TypeOrLength::EtherType(ETHERTYPE_IPV4),
        }
        .emit(&mut frame);
        header.emit((offset, len), !cut.is_last(offset), &mut frame[HEADER_LEN..]);
        frame[HEADER_LEN + ipv4::HEADER_LEN..].copy_from_slice(&datagram[offset..offset + len]);
        all.push(frame);
        offset += len;
    }
    all
}

/// What came out: when, and the number of the message, or `None` for one that was lost.
type Came = Vec<(SimTime, Option<u32>)>;

/// Sends frames, each at its time, and lets all of them arrive.
fn run(link: &mut LossyLink, sent: &[(SimTime, Vec<u8>)]) -> Came {
    let mut store = FrameStore::new();
    let mut timers: Vec<(SimTime, MediumTimer)> = Vec::new();
    let mut came = Came::new();
    let mut pending = sent.iter();
    let mut next = pending.next();
    loop {
        timers.sort_by_key(|(at, timer)| (*at, timer.number));
        let mut out = Vec::new();
        let at = match (next, timers.first().copied()) {
            (Some((at, bytes)), timer) if timer.is_none_or(|(due, _)| *at < due) => {
                let frame = store.allocate(FrameLabel::default());
                store.buffer(frame)[..bytes.len()].copy_from_slice(bytes);
                store.set_len(frame, bytes.len());
                link.handle_frame(*at, end(0), Priority(0), frame, &mut store, &mut out);
                next = pending.next();
                *at
            }
            (_, Some((at, timer))) => {
                timers.remove(0);
                link.handle_timer(at, timer, &mut store, &mut out);
                at
            }
            (_, None) => break,
        };
        for output in out {
            match output {
                MediumOutput::Timer { at, timer } => timers.push((at, timer)),
                MediumOutput::Deliver { to, frame, .. } => {
                    assert_eq!(to, end(1));
                    let data = &store.bytes(frame)[HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN..];
                    came.push((at, TestBedHeader::parse(data).ok().map(|header| header.sequence)));
                    store.release(frame);
                }
                MediumOutput::Discard { frame, .. } => {
                    came.push((at, None));
                    store.release(frame);
                }
                _ => panic!("a link says nothing else"),
            }
        }
    }
    assert_eq!(store.in_flight(), 0, "each frame ends once");
    came
}

fn every(us: i64, count: u32) -> Vec<(SimTime, Vec<u8>)> {
    let at = |number: u32| SimTime::ZERO + Duration::from_us(us * i64::from(number));
    (0..count).map(|number| (at(number), frames(number, 100).remove(0))).collect()
}

/// How many came after one that was sent later (RFC 4737 §3.3).
fn reordered(came: &Came) -> usize {
    let mut highest = None;
    came.iter()
        .filter(|(_, number)| {
            let is_late = *number < highest;
            highest = highest.max(*number);
            is_late
        })
        .count()
}

#[test]
fn delays_have_the_moments_of_their_law() {
    let sent = every(1000, 50_000);
    let came = run(&mut link(laws(WIFI)), &sent);
    let delays: Vec<f64> =
        came.iter().map(|(at, number)| (*at - sent[number.unwrap() as usize].0).as_us_f64() * 1e3).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let deviation = (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64).sqrt();
    let (exact, exact_deviation) = WIFI.moments_ns();
    assert!((mean / exact - 1.0).abs() < 0.015, "{mean} {exact}");
    assert!((deviation / exact_deviation - 1.0).abs() < 0.015, "{deviation} {exact_deviation}");
}

#[test]
fn two_of_three_packets_of_a_kilohertz_are_overtaken_on_wifi_and_none_in_strict_order() {
    let sent = every(1000, 10_000);
    let share = |order| {
        let came = run(&mut link(LinkLaws { order, ..laws(WIFI) }), &sent);
        assert_eq!(came.len(), sent.len());
        reordered(&came) as f64 / came.len() as f64
    };
    assert!((0.60..0.74).contains(&share(Order::AsDelayed)), "{}", share(Order::AsDelayed));
    assert_eq!(share(Order::Strict), 0.0);
}

/// Connections are made before a run begins.
#[test]
fn what_is_sent_before_zero_does_not_wait_for_it() {
    for order in [Order::Strict, Order::AsDelayed] {
        let at = SimTime::ZERO - Duration::from_ms(500);
        let sent = vec![(at, frames(0, 100).remove(0))];
        let mut link = link(LinkLaws { order, ..laws(DelayLaw::Constant(Duration::from_ms(1))) });
        assert_eq!(run(&mut link, &sent), [(at + Duration::from_ms(1), Some(0))]);
        assert_eq!(link.counts.overtaken, 0);
    }
}

#[test]
fn what_becomes_of_a_message_does_not_depend_on_what_else_is_sent() {
    let laws = LinkLaws { loss: Loss::Independent(0.3), ..laws(WIFI) };
    let sent = every(1000, 2000);
    let all = run(&mut link(laws.clone()), &sent);
    let every_third: Vec<_> = sent.iter().step_by(3).cloned().collect();
    let some = run(&mut link(laws), &every_third);
    let lost = |came: &Came| came.iter().filter(|(_, number)| number.is_none()).map(|(at, _)| *at).collect::<Vec<_>>();
    let lost_of_all = lost(&all);
    let mut of_these = every_third.iter().map(|(at, _)| *at).filter(|at| lost_of_all.contains(at)).collect::<Vec<_>>();
    of_these.sort();
    assert_eq!(lost(&some), of_these);
    for came in some.iter().filter(|(_, number)| number.is_some()) {
        assert!(all.contains(came), "{came:?}");
    }
}

#[test]
fn losses_come_as_often_and_in_bursts_as_long_as_they_were_asked_for() {
    let sent = every(1000, 50_000);
    let gilbert = Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, good: 0.0, bad: 1.0 };
    for (loss, burst) in [(Loss::Independent(0.05), 1.05), (gilbert, 4.0)] {
        let came = run(&mut link(LinkLaws { loss, ..laws(DelayLaw::Constant(Duration::ZERO)) }), &sent);
        let lost = came.iter().filter(|(_, number)| number.is_none()).count() as f64;
        let share = lost / came.len() as f64;
        assert!((share / loss.share() - 1.0).abs() < 0.1, "{share} {}", loss.share());
        let is_lost: Vec<bool> = came.iter().map(|(_, number)| number.is_none()).collect();
        let bursts = is_lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((lost / bursts / burst - 1.0).abs() < 0.1, "{}", lost / bursts);
    }
}

#[test]
fn as_many_messages_come_whole_as_the_law_of_loss_says() {
    const PACKETS: usize = 7;
    let gilbert = Loss::GilbertElliott { to_bad: 0.02, to_good: 0.3, good: 0.001, bad: 0.6 };
    for loss in [Loss::Independent(0.05), gilbert] {
        let mut link = link(LinkLaws { loss, ..laws(DelayLaw::Constant(Duration::ZERO)) });
        let messages = 6000;
        let at = |number: i64| SimTime::ZERO + Duration::from_ms(number);
        let long = |number: u32| frames(number, 7 * 1480 - 8).into_iter().map(move |frame| (at(number.into()), frame));
        let sent: Vec<_> = (0..messages).flat_map(long).collect();
        assert_eq!(sent.len(), messages as usize * PACKETS);
        let came = run(&mut link, &sent);
        let lost: BTreeSet<SimTime> = came.iter().filter(|(_, number)| number.is_none()).map(|(at, _)| *at).collect();
        let whole = (0..messages).filter(|number| !lost.contains(&at((*number).into()))).count() as f64;
        let law = loss.passes(PACKETS);
        assert!((whole / f64::from(messages) / law - 1.0).abs() < 0.03, "{} {law}", whole / f64::from(messages));
    }
}

#[test]
fn a_rate_lets_packets_leave_one_by_one_and_a_full_queue_refuses() {
    // 100 B of data: 142 B and 24 B on the wire, which is 1.328 us at 1 Gbit/s.
    let rate = Some(Rate(1_000_000_000));
    let laws = LinkLaws { rate, queue: 3, ..laws(DelayLaw::Constant(Duration::from_us(10))) };
    let burst: Vec<_> = every(0, 5);
    let came = run(&mut link(laws), &burst);
    let at = |ns: i64| SimTime::ZERO + Duration::from_ns(ns);
    let expected = [(at(0), None), (at(0), None), (at(11_328), Some(0)), (at(12_656), Some(1)), (at(13_984), Some(2))];
    assert_eq!(came, expected);
}

#[test]
fn copies_come_beside_the_first_and_altered_packets_differ_in_one_bit() {
    let sent = every(1000, 2000);
    let doubled = LinkLaws { duplicate: 0.1, ..laws(WIFI) };
    let came = run(&mut link(doubled), &sent);
    let copies = came.len() - sent.len();
    assert!((150..250).contains(&copies), "{copies}");
    let altered = LinkLaws { corrupt: 1.0, ..laws(DelayLaw::Constant(Duration::ZERO)) };
    let mut link = link(altered);
    let mut store = FrameStore::new();
    let mut out = Vec::new();
    let bytes = &sent[0].1;
    let frame = store.allocate(FrameLabel::default());
    store.buffer(frame)[..bytes.len()].copy_from_slice(bytes);
    store.set_len(frame, bytes.len());
    link.handle_frame(SimTime::ZERO, end(0), Priority(0), frame, &mut store, &mut out);
    let differing: u32 = store.bytes(frame).iter().zip(bytes).map(|(one, other)| (one ^ other).count_ones()).sum();
    assert_eq!(differing, 1);
    assert_eq!(store.bytes(frame)[..HEADER_LEN], bytes[..HEADER_LEN], "addresses stay, or it would go elsewhere");
}

#[test]
fn what_goes_through_an_end_comes_to_others_only_from_there() {
    let mut link = LossyLink::new(LinkConfig {
        ends: vec![end(0), end(1), end(2)],
        groups: vec![vec![NodeId(1)]],
        node: NodeId(3),
        through: Some(end(2)),
        laws: laws(DelayLaw::Constant(Duration::ZERO)),
        seed: 7,
        number: 0,
    });
    let mut store = FrameStore::new();
    let mut receivers = |from: Attachment, bytes: &[u8]| {
        let frame = store.allocate(FrameLabel::default());
        store.buffer(frame)[..bytes.len()].copy_from_slice(bytes);
        store.set_len(frame, bytes.len());
        let mut out = Vec::new();
        link.handle_frame(SimTime::ZERO, from, Priority(0), frame, &mut store, &mut out);
        let Some(MediumOutput::Timer { timer, .. }) = out.pop() else { panic!("it is on its way") };
        link.handle_timer(SimTime::ZERO, timer, &mut store, &mut out);
        let to = out.iter().map(|output| match output {
            MediumOutput::Deliver { to, .. } => to.node.0,
            _ => panic!("it arrives"),
        });
        to.collect::<Vec<u16>>()
    };
    let message = frames(0, 100).remove(0);
    assert_eq!(receivers(end(0), &message), [2]);
    assert_eq!(receivers(end(2), &message), [1]);
    // To a group that nobody knows, in the name of node 0: it does not go back there.
    let mut foreign = message;
    let header = ipv4::Header {
        source: virtual_link::station_ip(NodeId(0)),
        destination: [239, 255, 0, 1],
        identification: 0,
        protocol: PROTOCOL_UDP,
    };
    let len = foreign.len() - HEADER_LEN - ipv4::HEADER_LEN;
    header.emit((0, len), false, &mut foreign[HEADER_LEN..]);
    assert_eq!(receivers(end(0), &foreign), [2]);
    assert_eq!(receivers(end(2), &foreign), [1]);
}

#[test]
fn fragments_have_the_name_of_their_message_and_foreign_packets_are_counted() {
    let mut namer = Namer::default();
    let names: Vec<Name> = frames(9, 4000).iter().map(|frame| namer.name(frame)).collect();
    let fragments: Vec<u16> = names.iter().map(|name| name.fragment).collect();
    assert_eq!(fragments, [0, 185, 370]);
    assert!(names.iter().all(|name| (name.stream, name.sequence) == (STREAM, 9)));
    let foreign: Vec<u64> = [&[][..], &[1; 60]].map(|frame| namer.name(frame).sequence).into();
    assert_eq!(foreign, [0, 1]);
}
