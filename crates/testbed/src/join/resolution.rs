//! Times as they are kept.
//!
//! To read a clock takes some 50 ns, and what the kernel stamps is known to 250 ns, so the last digits of a nanosecond say nothing, and kept for each
//! of the times of each frame they take as much room as all else. Times of frames, and of what nodes say of them, are rounded up to a multiple of
//! [`RESOLUTION`] before anything is made of them, so that all that is made of them is of the same. Nothing is sooner by that, and what came before
//! something else does not come after it.

use chronoseal_core::{Duration, SimTime};

use crate::emulator::EmulatorLog;
use crate::log::{AgentLog, EventRecord};

/// A power of two, which leaves nothing in the lower byte.
pub(super) const RESOLUTION: Duration = Duration::from_ns(256);

/// Rounds what agents and emulator wrote down.
pub(super) fn round_up(logs: &mut [Option<AgentLog>], emulated: &mut EmulatorLog) {
    logs.iter_mut().flatten().for_each(round_log);
    for arrival in &mut emulated.arrivals {
        // Where there are no cycles, one begins with each frame.
        let begins_at = arrival.description.cycle_start;
        if begins_at == arrival.read_at || Some(begins_at) == arrival.arrived_at {
            round(&mut arrival.description.cycle_start);
        }
        round(&mut arrival.read_at);
        arrival.arrived_at.iter_mut().for_each(round);
    }
    for departure in &mut emulated.departures {
        round(&mut departure.departed_at);
        round(&mut departure.written_at);
    }
    emulated.discards.iter_mut().for_each(|discard| round(&mut discard.at));
    emulated.events.iter_mut().for_each(|event| round(&mut event.time));
    for release in &mut emulated.releases {
        release.error = Duration::from_ps(rounded(release.error.as_ps()));
    }
}

fn round_log(log: &mut AgentLog) {
    log.events.iter_mut().for_each(round_event);
    log.sent.iter_mut().for_each(|sent| round_ps(&mut sent.at_ps));
    for received in &mut log.received {
        round_ps(&mut received.at_ps);
        received.verdict.iter_mut().for_each(round_event);
    }
    log.connected_sent.iter_mut().for_each(|sent| round_ps(&mut sent.at_ps));
    log.connected_received.iter_mut().for_each(|(record, _)| round_event(record));
}

fn round_event(record: &mut EventRecord) {
    record.move_to(rounded(record.at().as_ps()));
}

fn round(at: &mut SimTime) {
    *at = SimTime::from_ps(rounded(at.as_ps()));
}

fn round_ps(at_ps: &mut i64) {
    *at_ps = rounded(*at_ps);
}

const fn rounded(ps: i64) -> i64 {
    let step = RESOLUTION.as_ps();
    (ps + step - 1).div_euclid(step) * step
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Event, EventKind, StreamId};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_sooner_and_the_order_stays(one in -1_000_000i64..1_000_000_000, later in 0i64..1_000_000) {
            let (first, second) = (rounded(one), rounded(one + later));
            prop_assert!(first >= one && first - one < RESOLUTION.as_ps() && first % RESOLUTION.as_ps() == 0);
            prop_assert!(first <= second && rounded(first) == first);
        }

        #[test]
        fn when_a_frame_was_due_stays(at in 1_000_000i64..1_000_000_000, late in 1i64..1_000_000) {
            for kind in [EventKind::Sent, EventKind::Delivered, EventKind::Withheld] {
                let event = Event { value: late, ..Event::of(kind, StreamId(1), 0) };
                let mut record = EventRecord::new(SimTime::from_ps(at), &event);
                round_event(&mut record);
                let value = record.event().map_or(0, |event| event.value);
                prop_assert_eq!((record.at().as_ps(), record.at().as_ps() - value), (rounded(at), at - late));
            }
        }
    }
}
