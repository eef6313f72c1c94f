//! What the ports of a segment do, as [`super::routed`] wants it.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_media::port::{GateControlList, PortConfig, Selection, TRAFFIC_CLASSES};
use chronoseal_plan::{Ethernet, EthernetStream, PortEnd, StreamClass};

use super::routed::RoutedPort;
use crate::calculus::ethernet::{Gates, Wander, Window};
use crate::calculus::{Bucket, Rational, ratio, whole};

/// What all ports have in common.
pub(super) struct Classes {
    /// By priority: its traffic class.
    pub(super) of_priority: [u8; TRAFFIC_CLASSES],
    pub(super) preemptable: BTreeSet<u8>,
    pub(super) regulated: BTreeSet<u8>,
}

/// The ports by which frames of streams leave. By the others only control frames do, which no port treats unlike another.
pub(super) fn used_ends(view: Ethernet<'_>) -> BTreeSet<PortEnd> {
    view.streams().flat_map(|stream| view.ports_passed(&stream)).collect()
}

/// The classes of a segment; `None` if those of its ports that are used put frames into different orders.
pub(super) fn classes(view: Ethernet<'_>) -> Option<Classes> {
    let plain = PortConfig::default();
    let ports = &view.segment.ports;
    let ends = used_ends(view);
    let port = |end: &PortEnd| ports.of(*end).unwrap_or(&plain);
    let of_priority = ends.first().map_or(plain.class_of, |end| port(end).class_of);
    if ends.iter().any(|end| port(end).class_of != of_priority) {
        return None;
    }
    let preemptable_at = |end: &PortEnd| those(|class| port(end).classes[class].is_preemptable);
    let preemptable: BTreeSet<u8> = ends.iter().map(preemptable_at).find(|set| !set.is_empty()).unwrap_or_default();
    let used: BTreeSet<u8> = used(view, of_priority);
    let is_lowest = preemptable.iter().filter(|class| used.contains(class)).max()
        < used.iter().filter(|class| !preemptable.contains(class)).min()
        || preemptable.is_superset(&used);
    let same = |end: &PortEnd| match preemptable_at(end) {
        set if set.is_empty() => preemptable.is_empty() || is_lowest,
        set => set == preemptable,
    };
    if !ends.iter().all(same) {
        return None;
    }
    let is_first = |end: &&PortEnd| matches!(end, PortEnd::Station(_));
    let regulated_at = |end: &PortEnd| those(|class| port(end).classes[class].selection == Selection::Asynchronous);
    let mut of_switches = ends.iter().filter(|end| !is_first(end)).map(regulated_at);
    let regulated = of_switches.next().unwrap_or_default();
    if of_switches.any(|set| set != regulated) {
        return None;
    }
    // A station's own shaper holds its frames back as long as it likes unless they keep to its bucket, as they have to.
    if ends.iter().filter(is_first).any(|end| !regulated_at(end).is_subset(&regulated)) {
        return None;
    }
    Some(Classes { of_priority, preemptable, regulated })
}

/// The traffic classes for which something is so.
fn those(is_so: impl Fn(usize) -> bool) -> BTreeSet<u8> {
    (0..TRAFFIC_CLASSES).filter(|class| is_so(*class)).map(|class| class as u8).collect()
}

/// Traffic classes in which something is sent; control frames are above all.
fn used(view: Ethernet<'_>, of_priority: [u8; TRAFFIC_CLASSES]) -> BTreeSet<u8> {
    let class = |stream: EthernetStream<'_>| match stream.class {
        StreamClass::BestEffort { priority } => Some(of_priority[usize::from(priority.min(7))]),
        StreamClass::TimeTriggered { .. } | StreamClass::RateConstrained(_) => None,
    };
    view.streams().filter_map(class).collect()
}

/// What a port does with each class, if its gates go by a clock that may be so far from true time.
pub(super) fn port(view: Ethernet<'_>, end: PortEnd, wander: Option<&Wander>) -> RoutedPort {
    let Some(config) = view.segment.ports.of(end) else { return RoutedPort::default() };
    let holds = config.gates.as_ref().is_some_and(|list| list.entries.iter().any(|entry| entry.hold));
    let changes = config.gates.as_ref().is_some_and(|list| list.change.is_some());
    let mut port = RoutedPort { holds, changes, ..RoutedPort::default() };
    for (number, class) in (0u8..).zip(&config.classes) {
        if let Selection::CreditBased { idle_slope, .. } = class.selection {
            port.idle_slopes.insert(number, bytes_a_ps(idle_slope.0));
        }
        port.preempts |= class.is_preemptable;
        port.rooms.extend(class.room.map(|room| (number, room)));
        let windows = config.gates.as_ref().and_then(|list| windows(list, number));
        port.gates.extend(windows.map(|windows| (number, windows.by(wander.cloned()))));
    }
    port
}

/// The windows of a class; `None` if its gate is always open, or never, which nothing that leaves there has.
///
/// A frame leaves the wire free one gap after its window at the latest. All windows are later by that gap then, and no less
/// apart: nothing else changes.
fn windows(list: &GateControlList, class: u8) -> Option<Gates> {
    let (mut at, mut windows) = (Duration::ZERO, Vec::new());
    for (index, entry) in list.entries.iter().enumerate() {
        let is_last = index + 1 == list.entries.len();
        let end = if is_last { list.cycle } else { (at + entry.lasts).min(list.cycle) };
        if entry.open >> class & 1 == 1 && end > at {
            windows.push(Window { from: whole(at.as_ps()), length: whole((end - at).as_ps()) });
        }
        at = end;
    }
    let open: Rational = windows.iter().map(|window| window.length.clone()).sum();
    let cycle = whole(list.cycle.as_ps());
    if open == cycle { None } else { Gates::new(cycle, windows).ok() }
}

/// What asynchronous shapers hold a stream to.
pub(super) fn bucket(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Bucket {
    let committed = view.committed_of(stream);
    let burst = whole(i64::try_from(committed.burst).unwrap_or(i64::MAX));
    Bucket { rate: bytes_a_ps(committed.rate.0), burst }
}

/// A rate in bits a second.
fn bytes_a_ps(rate: u64) -> Rational {
    ratio(i64::try_from(rate).unwrap_or(i64::MAX), 8_000_000_000_000)
}
