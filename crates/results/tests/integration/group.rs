//! The key that a group comes to.

use chronoseal_core::{AbortReason, Event, EventKind, NodeId, StreamId};
use chronoseal_results::{ChangeMeta, EventRow, GroupMeta, GroupSummary, RunMeta, RunRows, summarise};

use crate::sample::{meta, us};

fn event(at_us: i64, node: u16, kind: EventKind, sequence: u64) -> EventRow {
    EventRow { time: us(at_us), node: NodeId(node), event: Event::of(kind, StreamId::NONE, sequence) }
}

/// Orchestrator 0, members 1 and 2, who begin after 100 us; 2 is removed after a second.
fn group() -> GroupMeta {
    GroupMeta {
        orchestrator: 0,
        members: vec![1, 2],
        suite: "p256".into(),
        scheme: "full-tree".into(),
        profile: "hardened".into(),
        start_ns: 100_000,
        changes: vec![ChangeMeta {
            at_ns: 1_000_000_000,
            member: 2,
            others: vec![],
            admits: false,
            revokes: false,
            merges: false,
        }],
    }
}

fn summary(events: &[EventRow]) -> GroupSummary {
    let meta = RunMeta { group: Some(group()), ..meta() };
    summarise(&meta, &RunRows { events: events.to_vec(), ..RunRows::default() }).group.expect("the run has a group")
}

fn first_key() -> Vec<EventRow> {
    [(0, 300), (1, 350), (2, 340)].map(|(node, at)| event(at, node, EventKind::KeyInstalled, 1)).to_vec()
}

#[test]
fn a_group_is_established_when_the_last_of_it_has_the_first_key() {
    let mut events = first_key();
    // Who takes a key into use a second time had it before.
    events.push(event(900, 1, EventKind::KeyInstalled, 1));
    let found = summary(&events);
    assert!(found.is_established(&group()));
    assert_eq!(found.established_after_ns(&group()), Some(250_000));
    assert_eq!(found.keys[0].complete_ns(), 350_000);
    let found = summary(&events[..2]);
    assert_eq!((found.is_established(&group()), found.established_after_ns(&group())), (false, None));
}

#[test]
fn changes_hold_when_each_of_them_does() {
    let mut events = first_key();
    assert!(!summary(&events).changes_held(), "the removal has not come about");
    events.extend([0, 1].map(|node| event(1_000_200, node, EventKind::KeyInstalled, 2)));
    assert!(summary(&events).changes_held());
}

#[test]
fn exchanges_failures_and_messages_withheld_are_counted() {
    let mut events = first_key();
    events.extend((0..3).map(|at| event(at, 1, EventKind::ExchangeDone, 0)));
    events.extend((0..2).map(|at| event(at, 1, EventKind::Withheld, 0)));
    events.extend((0..2).map(|at| event(at, 2, EventKind::ExchangeAborted(AbortReason::ShareMissing), 0)));
    events.push(event(400, 0, EventKind::KeyRefused(AbortReason::ReadyMissing), 0));
    let found = summary(&events);
    assert_eq!((found.exchanges_done, found.withheld), (3, 2));
    assert_eq!(found.aborted.into_iter().collect::<Vec<_>>(), [(AbortReason::ShareMissing.name().to_owned(), 2)]);
    assert_eq!(found.refused.into_iter().collect::<Vec<_>>(), [(AbortReason::ReadyMissing.name().to_owned(), 1)]);
}
