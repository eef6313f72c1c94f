//! When two copies of a node did the same.

use super::failure::Breach;
use super::script::{Conduct, Deed};
use chronoseal_core::{Event, EventKind, LocalTime};

/// The same deeds at the same times.
pub(super) fn same(exact: &Conduct, varied: &Conduct) -> Result<(), Breach> {
    agree(exact, varied, |a, b| a == b)
}

/// The same deeds in the same order. Whatever is a time or a span may differ.
pub(super) fn same_but_for_times(exact: &Conduct, varied: &Conduct) -> Result<(), Breach> {
    agree(exact, varied, |(_, a), (_, b)| timeless(a) == timeless(b))
}

/// Frames and events of `inner` are there in `outer` in their order, but for what was thrown away.
pub(super) fn contains(outer: &Conduct, inner: &Conduct) -> Result<(), Breach> {
    let mut rest = outer.deeds.iter();
    for (after, deed) in inner.deeds.iter().enumerate() {
        let is_it = match &deed.1 {
            Deed::Work(_) | Deed::Event(Event { kind: EventKind::Discarded(_), .. }) => continue,
            Deed::Event(event) => rest.any(|(_, other)| is_alike(event, other)),
            Deed::Transmit { port, bytes, .. } => rest.any(|(_, other)| match other {
                Deed::Transmit { port: other_port, bytes: other_bytes, .. } => {
                    (port, bytes) == (other_port, other_bytes)
                }
                Deed::Work(_) | Deed::Event(_) => false,
            }),
        };
        if !is_it {
            return Err(Breach::Differs { after, expected: Some(Box::new(deed.clone())), got: None });
        }
    }
    Ok(())
}

fn is_alike(event: &Event, other: &Deed) -> bool {
    matches!(other, Deed::Event(other) if (other.kind, other.stream) == (event.kind, event.stream))
}

fn agree(
    exact: &Conduct,
    varied: &Conduct,
    is_same: impl Fn(&(LocalTime, Deed), &(LocalTime, Deed)) -> bool,
) -> Result<(), Breach> {
    let pairs = exact.deeds.iter().zip(&varied.deeds);
    let after = pairs.take_while(|(a, b)| is_same(a, b)).count();
    if after == exact.deeds.len() && after == varied.deeds.len() {
        return Ok(());
    }
    let [expected, got] = [exact, varied].map(|conduct| conduct.deeds.get(after).cloned().map(Box::new));
    Err(Breach::Differs { after, expected, got })
}

fn timeless(deed: &Deed) -> Deed {
    match deed.clone() {
        Deed::Work(work) => Deed::Work(work),
        Deed::Event(event) => Deed::Event(Event { value: 0, ..event }),
        Deed::Transmit { port, priority, bytes, token, origins, .. } => {
            Deed::Transmit { port, priority, launch_at: LocalTime::ZERO, bytes, token, origins }
        }
    }
}
