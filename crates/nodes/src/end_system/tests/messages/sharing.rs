//! Messages of several frames as a sub-virtual link: each of them goes at its turn, and a receiver knows whose each is.

use super::*;

/// What shares the virtual link of the image.
const OTHER: StreamId = StreamId(4);
const GAP: Duration = Duration::from_ms(4);

fn cut_for(sub_link: u8) -> Option<DatagramConfig> {
    let ends = udp::Ends { destination: virtual_link::critical_traffic_ip(CT_ID), ..datagram(1_499).unwrap().ends };
    datagram(1_499).map(|datagram| DatagramConfig { ends, sub_link: Some(sub_link), ..datagram })
}

/// The image and another stream, whose messages are as long or a frame each.
fn shared(is_other_long: bool) -> (Bench, Hearing) {
    let link =
        VirtualLinkConfig { ct_id: CT_ID, bag: GAP, priority: Priority::RATE_CONSTRAINED_LOW, is_replicated: false };
    let image = TalkerConfig { virtual_link: Some(link), datagram: cut_for(0), ..image() };
    let other_cut = if is_other_long { cut_for(1) } else { None };
    let frame_len = if is_other_long { image.frame_len } else { FRAME_LEN };
    let other = TalkerConfig { stream: OTHER, datagram: other_cut, frame_len, ..image.clone() };
    let listener = |stream, datagram| ListenerConfig {
        datagram,
        is_virtual_link: true,
        ..ListenerConfig::new(stream, Some(CT_ID), Vec::new(), hmac(Freshness::Full, 1))
    };
    let listeners = vec![listener(STREAM, cut_for(0)), listener(OTHER, other_cut)];
    let camera = Bench::started(EndSystemConfig { talkers: vec![image, other], ..config(0) });
    (camera, Bench::started(EndSystemConfig { listeners, ..config(1) }).into())
}

/// All frames of the first messages, as they leave.
fn sent(camera: &mut Bench) -> Vec<(LocalTime, Vec<u8>)> {
    let mut now = at(PHASE);
    let mut frames = Vec::new();
    while now < at(PHASE + PERIOD) {
        let told = camera.wake(now);
        frames.extend(told.sent.into_iter().map(|(launch_at, _, bytes)| (launch_at, bytes)));
        now = told.wake.unwrap().max(now + Duration::from_ps(1));
    }
    frames
}

fn heard(fusion: &mut Hearing, frames: &[(LocalTime, Vec<u8>)]) -> Vec<(StreamId, EventKind)> {
    let step = |(_, bytes): &(LocalTime, Vec<u8>)| {
        fusion.now += Duration::from_us(10);
        fusion.bench.0.handle_input(fusion.now, Input::Frame { port: PortId(0), rx_at: fusion.now, bytes }).unwrap();
        let (mut events, mut frame) = (Vec::new(), [0; chronoseal_core::node::FRAME_LEN_MAX]);
        loop {
            match fusion.bench.0.poll_output(fusion.now, &mut frame) {
                Output::Event(event) => events.push((event.stream, event.kind)),
                Output::Timeout(_) => return events,
                _ => {}
            }
        }
    };
    frames.iter().flat_map(step).collect()
}

#[test]
fn frames_of_a_message_take_turns_with_other_streams_and_count_with_them() {
    let (mut camera, mut fusion) = shared(false);
    let frames = sent(&mut camera);
    let left: Vec<(LocalTime, bool, u8)> =
        frames.iter().map(|(launch_at, bytes)| (*launch_at, bytes.len() < 200, *bytes.last().unwrap())).collect();
    let expected: Vec<_> = [false, true, false, false].into_iter().zip(0..).collect();
    let expected: Vec<_> =
        expected.into_iter().map(|(is_short, place)| (at(PHASE + GAP * i64::from(place)), is_short, place)).collect();
    assert_eq!(left, expected);
    let told = [(STREAM, EventKind::TransferBegan), (OTHER, EventKind::Delivered), (STREAM, EventKind::Delivered)];
    assert_eq!(heard(&mut fusion, &frames), told);
}

#[test]
fn messages_that_share_a_virtual_link_are_put_together_each_by_itself() {
    let (mut camera, mut fusion) = shared(true);
    let frames = sent(&mut camera);
    assert_eq!(frames.len(), 2 * FRAGMENTS);
    let (began, delivered) = (EventKind::TransferBegan, EventKind::Delivered);
    let told = [(STREAM, began), (OTHER, began), (STREAM, delivered), (OTHER, delivered)];
    assert_eq!(heard(&mut fusion, &frames), told);
}

#[test]
fn a_lost_frame_costs_its_own_message_and_no_other() {
    let (mut camera, mut fusion) = shared(true);
    let mut frames = sent(&mut camera);
    frames.remove(2);
    let (began, lost) = (EventKind::TransferBegan, EventKind::Discarded(DiscardReason::WrongSequence));
    let told = [(STREAM, began), (OTHER, began), (STREAM, lost), (OTHER, EventKind::Delivered)];
    assert_eq!(heard(&mut fusion, &frames), told);
}

#[test]
fn what_only_counts_frames_sees_the_same_ones() {
    let (mut camera, mut fusion) = shared(true);
    (camera.0.config.real_bytes, fusion.bench.0.config.real_bytes) = (false, false);
    let frames = sent(&mut camera);
    let lens: Vec<usize> = frames.iter().map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(lens, sent(&mut shared(true).0).iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>());
    let delivered = heard(&mut fusion, &frames).into_iter().filter(|(_, kind)| *kind == EventKind::Delivered);
    assert_eq!(delivered.map(|(stream, _)| stream).collect::<Vec<_>>(), [STREAM, OTHER]);
}
