//! Every frame has one end at each receiver, and an attack explains only what its own frames displaced.

use chronoseal_core::{AttackKind, DiscardReason, Event, EventKind, NodeId, StreamId};
use chronoseal_results::{
    Absence, Account, Allowance, EventRow, FrameRow, Outcome, RunMeta, RunRows, RunSummary, StreamMeta, summarise,
};

use crate::sample::{CYCLE_US, SLOT_US, acquired, delivered, meta, spoofed, us};

/// `cycles` frames that the sender tells of, each delivered.
fn rows(cycles: i64) -> RunRows {
    let sent = |k: i64| EventRow {
        time: us(k * CYCLE_US + SLOT_US - 5),
        node: NodeId(0),
        event: Event::of(EventKind::Sent, StreamId(0), k as u64),
    };
    let events = [acquired(0, 0), acquired(1, 0)].into_iter().chain((0..cycles).map(sent)).collect();
    RunRows { frames: (0..cycles).map(delivered).collect(), events, ..RunRows::default() }
}

fn missing(k: i64) -> FrameRow {
    FrameRow {
        sequence: 900,
        outcome: Outcome::Missing,
        sent_at: None,
        arrived_at: None,
        departed_at: None,
        received_at: None,
        due_at: None,
        accepted_at: None,
        ..delivered(k)
    }
}

/// The only account, which adds up.
fn account(summary: &RunSummary) -> &Account {
    let account = &summary.streams[0].receivers[0];
    assert_eq!(account.balance(), 0, "{account:?}");
    assert!(summary.unbalanced().is_none());
    account
}

fn attacked(meta: &mut RunMeta, on_link: bool) {
    meta.nodes[2].on_link_of = on_link.then_some(0);
}

#[test]
fn every_frame_is_counted_once_by_how_it_ended() {
    let mut rows = rows(400);
    rows.frames[10].outcome = Outcome::Late;
    rows.frames[20].outcome = Outcome::Discarded(DiscardReason::TagMismatch);
    rows.frames[30] = missing(30);
    rows.frames.remove(40);
    let summary = summarise(&meta(), &rows);
    let account = account(&summary);
    assert_eq!((account.receiver.as_str(), account.sent, account.in_time), ("ecu2", 400, 396));
    assert_eq!((account.late, account.missing, account.unaccounted), (1, 1, 1));
    assert_eq!(account.discarded.iter().collect::<Vec<_>>(), [(&"tag-mismatch".to_owned(), &1)]);
    assert_eq!(summary.streams[0].failed(), 4);
    assert!(!summary.deadlines_held());
}

#[test]
fn only_the_last_frames_can_be_under_way_when_the_run_ends() {
    let mut rows = rows(400);
    rows.frames.remove(399);
    let summary = summarise(&meta(), &rows);
    assert_eq!((account(&summary).in_flight, account(&summary).unaccounted), (1, 0));
    assert!(summary.deadlines_held());
    // The frame before is just as young as its period, but one sent later has arrived.
    let mut rows = self::rows(400);
    rows.frames.remove(398);
    let summary = summarise(&meta(), &rows);
    assert_eq!((account(&summary).in_flight, account(&summary).unaccounted), (0, 1));
    assert!(!summary.deadlines_held());
}

#[test]
fn a_frame_is_under_way_by_the_planned_end_of_a_run_that_goes_on_recording() {
    let mut meta = meta();
    meta.streams[0].deadline_ns = Some(1_000_000);
    let mut rows = rows(400);
    let sent_at_us = 399 * CYCLE_US + SLOT_US - 5;
    // The last frame never left its sender, and the switch was heard 50 ms later.
    rows.frames.remove(399);
    rows.events.push(EventRow { time: us(sent_at_us + 50_000), ..acquired(1, 0) });
    let mut ended = |duration_us: i64| {
        meta.duration_ns = duration_us * 1_000;
        let summary = summarise(&meta, &rows);
        (account(&summary).in_flight, account(&summary).unaccounted, summary.deadlines_held())
    };
    assert_eq!(ended(sent_at_us + 999), (1, 0, true));
    assert_eq!(ended(sent_at_us + 1_000), (0, 1, false), "its deadline was over");
    assert_eq!(ended(sent_at_us + 100_000), (0, 1, false), "the run was cut off after that");
    assert_eq!(ended(0), (0, 1, false), "nobody said how long it was to last");
}

#[test]
fn a_last_frame_that_lost_copies_is_under_way_by_another() {
    let mut meta = meta();
    meta.streams[0].is_replicated = true;
    let lost_at = |k: usize| {
        let mut rows = rows(400);
        rows.frames[k] =
            FrameRow { at: NodeId(3), outcome: Outcome::Discarded(DiscardReason::LinkDown), ..rows.frames[k] };
        // Another one is lost on the next segment, which sent two of the one that was left.
        rows.frames.push(rows.frames[k]);
        let summary = summarise(&meta, &rows);
        let account = account(&summary);
        (account.in_flight, account.discarded.values().sum::<u64>(), summary.deadlines_held())
    };
    assert_eq!(lost_at(399), (1, 0, true));
    assert_eq!(lost_at(398), (0, 1, false), "one sent later has arrived");
}

#[test]
fn a_frame_can_be_under_way_until_its_deadline_or_its_bound_is_over() {
    let mut rows = rows(400);
    rows.frames.truncate(395);
    let mut meta = meta();
    let open = |meta: &RunMeta| {
        let summary = summarise(meta, &rows);
        (account(&summary).in_flight, account(&summary).unaccounted)
    };
    assert_eq!(open(&meta), (2, 3), "as long as any took, and a period");
    meta.streams[0].bound = Some(chronoseal_results::BoundMeta { total_ns: 35_000_000, parts: Vec::new() });
    assert_eq!(open(&meta), (4, 1));
    meta.streams[0].deadline_ns = Some(5_000_000);
    assert_eq!(open(&meta), (1, 4));
}

#[test]
fn a_frame_that_a_receiver_waits_for_is_not_missing_before_it_has_taken_as_long_as_it_may() {
    let mut rows = rows(400);
    rows.frames.truncate(397);
    // Of those that have no slot: the receiver knows the number of the next one, and has waited long for it.
    let awaited = |k: i64| FrameRow { sequence: k as u64, slot_start: None, ..missing(k) };
    rows.frames.push(awaited(397));
    rows.frames[100] = awaited(100);
    let mut meta = meta();
    meta.streams[0].bound = Some(chronoseal_results::BoundMeta { total_ns: 35_000_000, parts: Vec::new() });
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).in_flight, account(&summary).missing, account(&summary).unaccounted), (3, 1, 0));
    meta.streams[0].deadline_ns = Some(15_000_000);
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).in_flight, account(&summary).missing), (2, 2), "its deadline is over");
}

#[test]
fn a_frame_that_its_receiver_was_too_busy_to_see_in_time_is_not_missing_as_well() {
    let mut rows = rows(400);
    rows.frames.push(missing(7));
    let summary = summarise(&meta(), &rows);
    assert_eq!((account(&summary).in_time, account(&summary).missing, account(&summary).not_sent), (400, 0, 0));
    assert!(summary.deadlines_held());
}

#[test]
fn a_receiver_that_saw_a_frame_of_an_attack_in_a_slot_has_not_seen_nothing() {
    let mut rows = rows(400);
    rows.frames[9] = missing(9);
    rows.frames.push(spoofed(9, Outcome::Discarded(DiscardReason::TagMismatch)));
    let found = summarise(&meta(), &rows);
    assert_eq!((account(&found).missing, account(&found).unaccounted), (0, 1));
    // What the schedule stopped was never seen in the slot.
    rows.frames[400].outcome = Outcome::Discarded(DiscardReason::WrongPort);
    let found = summarise(&meta(), &rows);
    assert_eq!((account(&found).missing, account(&found).unaccounted), (1, 0));
}

#[test]
fn a_slot_for_which_nothing_was_sent_fails_the_run() {
    let mut rows = rows(400);
    rows.frames[7] = missing(7);
    rows.events.retain(|row| row.event.kind != EventKind::Sent || row.event.sequence != 7);
    let summary = summarise(&meta(), &rows);
    let account = account(&summary);
    assert_eq!((account.sent, account.in_time, account.missing, account.not_sent), (399, 399, 0, 1));
    assert!(!summary.deadlines_held());
    // Before the first cycle nobody could make a frame for its first slot.
    let mut rows = self::rows(400);
    rows.frames[0] = missing(0);
    rows.events.retain(|row| row.event.kind != EventKind::Sent || row.event.sequence != 0);
    assert!(summarise(&meta(), &rows).deadlines_held());
}

#[test]
fn a_loss_in_the_cycle_of_a_harmless_attack_is_still_a_loss() {
    let mut rows = rows(400);
    rows.frames[1].outcome = Outcome::Discarded(DiscardReason::OutsideWindow);
    rows.frames.push(spoofed(1, Outcome::Discarded(DiscardReason::WrongPort)));
    let summary = summarise(&meta(), &rows);
    assert_eq!((account(&summary).replaced, account(&summary).discarded_total()), (0, 1));
    assert!(!summary.deadlines_held());
}

#[test]
fn a_frame_of_an_attack_that_had_the_slot_displaced_the_genuine_one() {
    // The forged frame passed the switch and was stopped by its tag; the genuine one came second at the switch.
    let mut rows = rows(400);
    rows.frames[1].outcome = Outcome::Discarded(DiscardReason::DuplicateInWindow);
    rows.frames[1].at = NodeId(3);
    rows.frames.push(spoofed(1, Outcome::Discarded(DiscardReason::TagMismatch)));
    let summary = summarise(&meta(), &rows);
    assert_eq!((account(&summary).replaced, account(&summary).discarded_total()), (1, 0));
    assert!(!summary.deadlines_held());
    let mut allowing = meta();
    allowing.streams[0].allowances = vec![Allowance { reason: "replaced".into(), copies: 1 }];
    assert!(summarise(&allowing, &rows).deadlines_held());
    // The same in a slot of which no attack had anything.
    rows.frames[2].outcome = Outcome::Discarded(DiscardReason::DuplicateInWindow);
    assert!(!summarise(&allowing, &rows).deadlines_held());
}

#[test]
fn a_frame_that_an_attacker_on_the_link_changed_is_replaced() {
    let mut rows = rows(400);
    rows.frames[9] = FrameRow {
        sender: NodeId(2),
        attack: Some(AttackKind::Tamper),
        outcome: Outcome::Discarded(DiscardReason::TagMismatch),
        ..delivered(9)
    };
    let event = Event::of(EventKind::Attacked(AttackKind::Tamper), StreamId(0), 0);
    rows.events.push(EventRow { time: us(9 * CYCLE_US + SLOT_US), node: NodeId(2), event });
    let mut meta = meta();
    attacked(&mut meta, true);
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).replaced, account(&summary).unaccounted), (1, 0));
    assert_eq!(summary.streams[0].losses().collect::<Vec<_>>(), [("replaced", 1)]);
    assert!(!summary.deadlines_held());
    // Who is on a port of its own has no frame in its hands.
    attacked(&mut meta, false);
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).replaced, account(&summary).unaccounted), (0, 1));
    assert!(!summary.deadlines_held());
}

#[test]
fn a_frame_of_which_one_copy_was_changed_has_its_end_by_the_other() {
    let mut rows = rows(400);
    // One copy of frame 9 was changed, the other one came. Frame 7 was lost without a trace.
    rows.frames.push(FrameRow {
        sender: NodeId(2),
        attack: Some(AttackKind::Tamper),
        outcome: Outcome::Discarded(DiscardReason::TagMismatch),
        ..delivered(9)
    });
    rows.frames.remove(7);
    let event = Event::of(EventKind::Attacked(AttackKind::Tamper), StreamId(0), 0);
    rows.events.push(EventRow { time: us(9 * CYCLE_US + SLOT_US), node: NodeId(2), event });
    let mut meta = meta();
    meta.streams[0].is_replicated = true;
    attacked(&mut meta, true);
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).in_time, account(&summary).replaced, account(&summary).unaccounted), (399, 0, 1));
}

#[test]
fn of_frames_sent_at_once_an_attacker_took_those_that_did_not_come() {
    for is_replicated in [false, true] {
        let mut rows = rows(400);
        // A busy sender is late with frames 8 and 9, and sends them with frame 10.
        let sent_at = us(10 * CYCLE_US + SLOT_US);
        for k in [8, 9, 10] {
            rows.events[2 + k].time = sent_at;
            rows.frames[k].sent_at = Some(sent_at);
        }
        rows.frames.drain(8..10);
        // Frame 11 has been sent when the attacker comes to them.
        let at = us(11 * CYCLE_US + SLOT_US);
        let event = Event::of(EventKind::Attacked(AttackKind::Replay), StreamId(0), 0);
        let event = Event { value: (at - sent_at).as_ps(), ..event };
        rows.events.extend([EventRow { time: at, node: NodeId(2), event }; 2]);
        let mut meta = meta();
        meta.streams[0].is_replicated = is_replicated;
        attacked(&mut meta, true);
        let summary = summarise(&meta, &rows);
        assert_eq!((account(&summary).in_time, account(&summary).replaced, account(&summary).unaccounted), (398, 2, 0));
    }
}

#[test]
fn two_ends_of_one_frame_are_told_and_fail_the_run() {
    let mut rows = rows(400);
    rows.frames.push(delivered(5));
    let summary = summarise(&meta(), &rows);
    assert_eq!(
        summary.unbalanced().map(|(stream, account)| (stream.name.as_str(), account.balance())),
        Some(("speed", -1))
    );
    assert!(!summary.deadlines_held());
}

#[test]
fn what_is_thrown_away_before_it_is_copied_is_lost_to_every_receiver() {
    let mut meta = meta();
    meta.streams[0].receivers = vec![1, 2];
    let mut rows = rows(10);
    rows.frames.extend((0..10).filter(|k| *k != 4).map(|k| FrameRow { at: NodeId(2), ..delivered(k) }));
    rows.frames[4] = FrameRow { at: NodeId(3), outcome: Outcome::Discarded(DiscardReason::QueueFull), ..delivered(4) };
    let summary = summarise(&meta, &rows);
    for account in &summary.streams[0].receivers {
        assert_eq!((account.balance(), account.in_time, account.discarded_total()), (0, 9, 1), "{account:?}");
    }
    assert_eq!(summary.streams[0].discarded["queue-full"], 2);
}

#[test]
fn a_loss_of_a_stream_without_a_deadline_fails_the_run_unless_its_segment_loses_frames_by_nature() {
    let mut meta = meta();
    meta.streams[0].is_judged = false;
    let mut rows = rows(400);
    rows.frames[4].outcome = Outcome::Discarded(DiscardReason::QueueFull);
    assert!(!summarise(&meta, &rows).deadlines_held());
    meta.streams[0].is_lossy = true;
    assert!(summarise(&meta, &rows).deadlines_held());
}

#[test]
fn an_allowance_covers_so_many_losses_for_one_reason_and_no_more() {
    let allowed = |reason: &str, copies| StreamMeta {
        allowances: vec![Allowance { reason: reason.into(), copies }],
        ..meta().streams.remove(0)
    };
    let mut rows = rows(400);
    rows.frames[4].outcome = Outcome::Discarded(DiscardReason::QueueFull);
    rows.frames[5].outcome = Outcome::Discarded(DiscardReason::QueueFull);
    let summary = |reason, copies| summarise(&RunMeta { streams: vec![allowed(reason, copies)], ..meta() }, &rows);
    let exact = summary("queue-full", 2);
    assert!(exact.deadlines_held() && exact.has_allowances());
    assert_eq!((exact.allowed(), exact.streams[0].failed()), (2, 0));
    let exceeded = summary("queue-full", 1);
    assert_eq!((exceeded.allowed(), exceeded.streams[0].failed()), (0, 2));
    assert!(!exceeded.deadlines_held());
    assert!(!summary("late", 2).deadlines_held());
}

#[test]
fn a_clock_that_joins_after_the_stated_number_of_cycles_breaks_the_verdict() {
    let mut rows = rows(400);
    rows.events[1] = acquired(1, 10 * CYCLE_US);
    assert!(summarise(&meta(), &rows).deadlines_held());
    rows.events[1] = acquired(1, 11 * CYCLE_US);
    let summary = summarise(&meta(), &rows);
    assert!(summary.clocks[1].joined_late() && !summary.deadlines_held());
}

#[test]
fn where_receivers_count_by_themselves_a_lost_frame_is_found_by_when_it_was_sent() {
    let mut meta = meta();
    meta.streams[0].is_numbered = false;
    let mut rows = rows(400);
    rows.frames.remove(100);
    // The receiver numbers what it gets.
    rows.frames.iter_mut().enumerate().for_each(|(number, row)| row.sequence = number as u64);
    let summary = summarise(&meta, &rows);
    assert_eq!((account(&summary).in_flight, account(&summary).unaccounted), (0, 1));
}

#[test]
fn a_frame_without_a_trace_from_before_the_end_of_start_up_is_not_held_against_the_stream() {
    let mut rows = rows(400);
    rows.events[1] = acquired(1, 20_000);
    // The third cycle begins when start-up is over.
    rows.frames.drain(..3);
    let summary = summarise(&meta(), &rows);
    assert_eq!(summary.streams[0].ready_ns, 20_000_000);
    assert_eq!((account(&summary).startup, account(&summary).unaccounted), (2, 1));
}

#[test]
fn what_is_sent_while_a_receiver_is_out_of_the_group_is_not_meant_for_it() {
    let sent_at = |k: i64| us(k * CYCLE_US + SLOT_US - 5);
    let mut rows = rows(400);
    rows.frames.drain(4..=10);
    let of = |rows: &RunRows| {
        let summary = summarise(&meta(), rows);
        let account = account(&summary);
        (account.sent, account.in_time, account.unaccounted)
    };
    assert_eq!(of(&rows), (400, 393, 7));
    let absence = |node: u16, stream: u16| {
        let (node, stream) = (NodeId(node), StreamId(stream));
        vec![Absence { node, stream, from: sent_at(5), until: sent_at(10) }]
    };
    rows.absences = absence(1, 0);
    assert_eq!(of(&rows), (395, 393, 2), "from the time on, and not at its end");
    rows.absences = absence(2, 0);
    assert_eq!(of(&rows), (400, 393, 7), "somebody else was out");
    rows.absences = absence(1, 1);
    assert_eq!(of(&rows), (400, 393, 7), "the key is not that of this stream");
}

#[test]
fn where_everybody_sends_to_everybody_else_each_frame_has_a_copy_for_each_other() {
    let mut meta = meta();
    meta.segments.iter_mut().for_each(|segment| segment.clocks = None);
    let all_to_all = StreamMeta { senders: Some((0, 3)), receivers: vec![0, 1, 2], ..meta.streams.remove(0) };
    meta.streams.push(all_to_all);
    let sent = |node: u16| EventRow {
        time: us(1_000),
        node: NodeId(node),
        event: Event::of(EventKind::Sent, StreamId(0), u64::from(node)),
    };
    let copy = |from: u16, to: u16| FrameRow { sender: NodeId(from), at: NodeId(to), ..delivered(0) };
    let rows = RunRows {
        events: (0..3).map(sent).collect(),
        frames: [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0)].map(|(from, to)| copy(from, to)).to_vec(),
        ..RunRows::default()
    };
    let summary = summarise(&meta, &rows);
    let account = account(&summary);
    assert_eq!((account.receiver.as_str(), account.sent), ("all 3", 6));
    assert_eq!((account.in_time, account.unaccounted), (5, 1), "nobody tells of the copy from 2 to 1");
}
