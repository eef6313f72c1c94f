//! Messages in several frames, by hand: a full classical frame of 8 bytes takes 270 us with interframe space and every stuff
//! bit, of which the interframe space is 6.

use chronoseal_wire::can::iso_tp::SeparationTime;

use super::*;

/// A message of 20 bytes in three frames, with one answer, identifiers 0x20 and 0x21; and others of one frame each.
fn with(others: &[(u16, Duration)], change: impl FnOnce(&mut SegmentedPlan)) -> Plan {
    let mut plan = segments(2, 1);
    let id = CanId::standard(0x20).unwrap();
    let mut segmented = SegmentedPlan {
        flow_control: CanId::standard(0x21).unwrap(),
        block_size: 0,
        separation_time: SeparationTime::ZERO,
        n_bs: Duration::from_s(1),
        n_cr: Duration::from_s(1),
    };
    change(&mut segmented);
    let stream = add_message(&mut plan, 0x20, 20, MS(50), &[(0, 0, 1)]);
    let facet = CanHop::Message { id, kind: FrameKind::Classical, segmented: Some(segmented) };
    stream.hops[0].facet = Facet::new(facet);
    for (id, period) in others {
        add_message(&mut plan, *id, 8, *period, &[(0, 0, 1)]);
    }
    plan
}

fn same(_: &mut SegmentedPlan) {}

#[test]
fn alone_it_takes_all_of_its_frames() {
    assert_eq!(worst(&with(&[], same), true), [Ok(US(4 * 270))]);
    // Each frame has its driver, the answer that of the receiver.
    let mut plan = with(&[], same);
    (plan.nodes[0].driver.max, plan.nodes[1].driver.max) = (US(5), US(3));
    assert_eq!(worst(&plan, true), [Ok(US(4 * 270 + 3 * 5 + 3))]);
    // After each consecutive frame another answer, or a pause.
    assert_eq!(worst(&with(&[], |it| it.block_size = 1), true), [Ok(US(5 * 270))]);
    let plan = with(&[], |it| it.separation_time = SeparationTime::at_least(US(700)).unwrap());
    assert_eq!(worst(&plan, true), [Ok(US(4 * 270 + 700))]);
    let (view, hop) = (Can::first(&plan).unwrap(), &plan.streams[0].hops[0]);
    // 108 bits of each frame without stuffing and interframe space.
    assert_eq!(response_min(view, StreamId(0), hop), US(4 * 216 + 700));
}

#[test]
fn its_processors_are_waited_for_at_every_turn() {
    let plan = with(&[], same);
    let view = Can::first(&plan).unwrap();
    let busy = |stream| Release::at_sender(view, stream).map(|release| Release { busy: [US(10), US(100)], ..release });
    let bounds = message_bounds(view, true, busy);
    // The receiver answers once; the sender takes that, and hears once that a frame has left before the next.
    assert_eq!(bounds[0].1.as_ref().unwrap().worst(), US(4 * 270 + 100 + 10 + 10));
}

#[test]
fn it_waits_once_for_what_loses_and_for_all_that_wins() {
    // First frame and answer can each find the other frame on the wire; what follows at once cannot.
    assert_eq!(worst(&with(&[(0x30, MS(20))], same), true)[0], Ok(US(4 * 270 + 3 * 270)));
    // One instance in all its time.
    assert_eq!(worst(&with(&[(0x10, MS(20))], same), true)[0], Ok(US(4 * 270 + 270)));
}

#[test]
fn others_meet_its_burst() {
    // Its three frames and the answer, and one frame that was on the wire.
    assert_eq!(worst(&with(&[(0x30, MS(20))], same), true)[1], Ok(US(5 * 270)));
    // What wins meets one frame of it.
    assert_eq!(worst(&with(&[(0x10, MS(20))], same), true)[1], Ok(US(2 * 270)));
    // Where STmin keeps its frames apart, two of them and the answer at once; the last comes too late to matter.
    let apart = with(&[(0x30, MS(20))], |it| it.separation_time = SeparationTime::at_least(MS(10)).unwrap());
    assert_eq!(worst(&apart, true)[1], Ok(US(4 * 270)));
}

#[test]
fn where_the_oldest_frame_goes_first_it_waits_for_all_others() {
    let mut plan = with(&[(0x10, MS(20)), (0x30, MS(20))], same);
    plan.segments[0].facet.get_mut::<CanSegment>().unwrap().fifo_mailboxes = true;
    assert_eq!(worst(&plan, true), [Ok(US(6 * 270)), Ok(US(6 * 270)), Ok(US(6 * 270))]);
}

#[test]
fn what_its_ends_do_not_wait_for_has_no_bound_and_spoils_others() {
    let others = [(0x10, MS(20)), (0x30, MS(20))];
    let mut plan = with(&others, same);
    plan.streams[0].period = MS(2);
    let bounds = worst(&plan, true);
    let why = NoBound::TransferTooLong { takes: US(4 * 270 + 3 * 270 + 270 - 6), distance: MS(2) };
    assert_eq!((&bounds[0], &bounds[1]), (&Err(why), &Ok(US(2 * 270))));
    assert_eq!(bounds[2], Err(NoBound::ArrivalUnbounded));

    let bounds = worst(&with(&others, |it| it.n_bs = US(500)), true);
    assert!(matches!(bounds[0], Err(NoBound::TransferTimeout { name: "N_Bs", .. })), "{:?}", bounds[0]);
    let bounds = worst(&with(&others, |it| it.n_cr = US(500)), true);
    assert!(matches!(bounds[0], Err(NoBound::TransferTimeout { name: "N_Cr", .. })), "{:?}", bounds[0]);
    assert!(worst(&with(&others, |it| it.n_cr = MS(3)), true)[0].is_ok());
}

#[test]
fn one_that_fits_a_frame_asks_for_no_answer() {
    let mut plan = with(&[(0x30, MS(20))], same);
    (plan.streams[0].hops[0].frame_len, plan.streams[0].length) = (7, 7);
    assert_eq!(worst(&plan, true), [Ok(US(2 * 270)), Ok(US(2 * 270))]);
}
