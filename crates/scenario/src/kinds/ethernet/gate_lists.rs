//! Gate control lists of ports: what was written of them, checked; and what replaces one of them during a run.

use chronoseal_core::Duration;
use chronoseal_media::port::{GateControlList, GateEntry, ListChange, PortConfig};

use super::port_spec::{AdminGatesSpec, GateEntrySpec, GatesSpec};
use super::ports::known;
use crate::kinds::{Context, Place};
use crate::limits::*;
use crate::problem::Code;

/// Of a port: how many classes it has, and what these are.
type Classes<'a> = (usize, &'a PortConfig);

/// What the times of a list are multiples of.
#[derive(Clone, Copy)]
struct Grain(Duration);

impl Grain {
    fn check(self, at: &Place<'_>, what: &str, time: Duration, context: &mut Context<'_>) {
        if time.rem_floor(self.0) == Duration::ZERO {
            return;
        }
        let near = self.0 * time.div_floor(self.0);
        context.report(
            Code::BadPort,
            at,
            format!("{what} {time} is no whole multiple of the granularity {}", self.0),
            "between two ticks",
            format!("write {near} or {}", near + self.0),
        );
    }
}

fn grain(place: &Place<'_>, spec: &GatesSpec, cycle: Duration, context: &mut Context<'_>) -> Grain {
    Grain(spec.granularity.map_or(Duration::from_ps(1), |grain| {
        let at = place.clone().key("granularity");
        context.within(&at, "the granularity", grain.0, Duration::from_ps(1), cycle)
    }))
}

/// A gate control list of a port with so many classes.
pub(super) fn list(
    place: &Place<'_>,
    spec: &GatesSpec,
    classes: Classes<'_>,
    hold_advance: Duration,
    context: &mut Context<'_>,
) -> GateControlList {
    let at_cycle = place.clone().key("cycle");
    let cycle = context.within(&at_cycle, "the cycle of the gates", spec.cycle.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    let at_base = place.clone().key("base_time");
    let base_time = context.within(&at_base, "the base time", spec.base_time.0, Duration::ZERO, CLUSTER_CYCLE_MAX);
    let room = spec.list_len_max.unwrap_or(GATE_ENTRIES_MAX);
    has_room(place, spec.entries.len(), room, context);
    let grain = grain(place, spec, cycle, context);
    grain.check(&at_cycle, "the cycle", cycle, context);
    grain.check(&at_base, "the base time", base_time, context);
    let entries = entries(place, &spec.entries, classes, (&at_cycle, cycle), grain, context);
    if spec.admin.is_none() && spec.cycle_time_extension.0 != Duration::ZERO {
        context.report(
            Code::BadPort,
            &place.clone().key("cycle_time_extension"),
            "a cycle is extended only before another list begins, and there is none (IEEE 802.1Q-2022 §8.6.9.1.1)",
            "extends nothing",
            "write the list that begins then as `admin`, or leave `cycle_time_extension` out",
        );
    }
    GateControlList { base_time, cycle, entries, hold_advance, change: None }
}

/// What replaces a list of a port; `longest` is what its longest frame takes.
pub(super) fn change(
    place: &Place<'_>,
    spec: &GatesSpec,
    admin: &AdminGatesSpec,
    classes: Classes<'_>,
    (list, longest): (&GateControlList, Duration),
    context: &mut Context<'_>,
) -> ListChange {
    let at_extension = place.clone().key("cycle_time_extension");
    let extension = spec.cycle_time_extension.0;
    let extension = context.within(&at_extension, "the extension", extension, Duration::ZERO, CLUSTER_CYCLE_MAX);
    let grain = grain(place, spec, list.cycle, context);
    let place = place.clone().key("admin");
    let at_cycle = place.clone().key("cycle_time");
    let cycle = context.within(&at_cycle, "the cycle of the gates", admin.cycle_time.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    let at_base = place.clone().key("base_time");
    let base_time = context.within(&at_base, "the base time", admin.base_time.0, Duration::ZERO, DURATION_MAX);
    let at_change = place.clone().key("config_change");
    let requested_at = admin.config_change.0;
    let requested_at = context.within(&at_change, "the request", requested_at, Duration::ZERO, DURATION_MAX);
    has_room(&place, admin.entries.len(), spec.list_len_max.unwrap_or(GATE_ENTRIES_MAX), context);
    grain.check(&at_cycle, "the cycle", cycle, context);
    grain.check(&at_base, "the base time", base_time, context);
    let entries = entries(&place, &admin.entries, classes, (&at_cycle, cycle), grain, context);
    let change = ListChange { requested_at, extension, base_time, cycle, entries };
    let begins = change.begins();
    if begins < requested_at + longest {
        context.report(
            Code::BadPort,
            &at_base,
            format!(
                "the list begins at {begins}, requested at {requested_at}: the longest frame, which takes {longest}, may have begun \
                 before and not be over when its gate closes (IEEE 802.1Q-2022 §8.6.8.4)"
            ),
            "too soon",
            format!("write at least {}, or an earlier `config_change`", requested_at + longest),
        );
    }
    change
}

fn has_room(place: &Place<'_>, len: usize, room: u32, context: &mut Context<'_>) {
    if len > room as usize {
        context.report(
            Code::BadPort,
            &place.clone().key("entries"),
            format!(
                "the list has {len} entries, and the port has room for {room} (IEEE 802.1Q-2022 §12.29.1, SupportedListMax)"
            ),
            "too long",
            format!("join entries until there are {room}, or write a larger `list_len_max`"),
        );
    }
}

fn entries(
    place: &Place<'_>,
    written: &[GateEntrySpec],
    (count, port): Classes<'_>,
    (at_cycle, cycle): (&Place<'_>, Duration),
    grain: Grain,
    context: &mut Context<'_>,
) -> Vec<GateEntry> {
    let has_preemptable = port.classes.iter().any(|class| class.is_preemptable);
    let (mut total, mut entries) = (Duration::ZERO, Vec::new());
    for (i, entry) in written.iter().enumerate() {
        let at = place.clone().key("entries").entry(i);
        let at_lasts = at.clone().key("lasts");
        let lasts = context.within(&at_lasts, "the entry", entry.lasts.0, Duration::from_ps(1), CLUSTER_CYCLE_MAX);
        grain.check(&at_lasts, "the entry", lasts, context);
        if total <= cycle && total + lasts > cycle {
            context.report_both(
                Code::BadPort,
                (&at_lasts, "ends after the cycle"),
                (at_cycle, "the cycle"),
                format!(
                    "the entries up to this one last {}, and the cycle is {cycle} (IEEE 802.1Q-2022 §8.6.9.1)",
                    total + lasts
                ),
                format!("shorten the entries by {}, or write a longer cycle", total + lasts - cycle),
            );
        }
        total += lasts;
        if entry.hold && !has_preemptable {
            context.report(
                Code::BadPort,
                &at.clone().key("hold"),
                "nothing is held where no traffic class is preemptable (IEEE 802.1Q-2022 §8.6.8.4)",
                "holds nothing",
                "leave `hold` out, or write `preemptable = true` for a class",
            );
        }
        let mut open = 0;
        for (k, class) in entry.open.iter().enumerate() {
            let at = at.clone().key("open").entry(k);
            open |= known(&at, *class, count, context).map_or(0, |class| 1 << class);
        }
        entries.push(GateEntry { open, hold: entry.hold, lasts });
    }
    entries
}

/// How long each entry of a list lasts, those of two cycles after each other, with whether the gate of a class is open then.
fn two_cycles(list: &GateControlList, class: usize) -> impl Iterator<Item = (bool, Duration)> + '_ {
    (0..2).flat_map(move |_| {
        let mut rest = list.cycle;
        list.entries.iter().enumerate().map(move |(i, entry)| {
            let lasts = if i + 1 == list.entries.len() { rest } else { entry.lasts.min(rest) };
            rest -= lasts;
            (entry.open >> class & 1 == 1, lasts)
        })
    })
}

/// The longest time for which the gate of a class is open at a stretch, by the list or by the one that replaces it; `None`: always.
pub(super) fn longest_window(port: &PortConfig, class: u8) -> Option<Duration> {
    let list = port.gates.as_ref()?;
    let of_list = longest_window_of(list, class)?;
    match list.changed() {
        None => Some(of_list),
        Some(changed) => Some(of_list.max(longest_window_of(&changed, class)?)),
    }
}

fn longest_window_of(list: &GateControlList, class: u8) -> Option<Duration> {
    if list.entries.iter().all(|entry| entry.open >> class & 1 == 1) {
        return None;
    }
    let (mut longest, mut window) = (Duration::ZERO, Duration::ZERO);
    // Twice, since a window may go on into the next cycle.
    for (is_open, lasts) in two_cycles(list, usize::from(class)) {
        window = if is_open { window + lasts } else { Duration::ZERO };
        longest = longest.max(window);
    }
    Some(longest)
}
