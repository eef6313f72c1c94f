//! What the order of a file's entries changes, which is nothing, and what taking a stream out changes, which is no bound for the
//! worse: over the networks of the other tests.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, Bounds, bounds};
use chronoseal_analysis::synthesize;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, load};

use super::switched::below;
use super::{from_environment, ports, switched};
use chronoseal_random_networks::{Network, Scope};

/// So many networks of each of three kinds.
const NETWORKS: u64 = 24;

/// The networks of the other tests, by a number.
fn text(number: u64) -> String {
    match number % 3 {
        0 => Network::of(number / 3, Scope::Lossless).text(),
        1 => switched::network(number / 3),
        _ => ports::network(number / 3, &ports::ALL),
    }
}

fn numbers() -> std::ops::Range<u64> {
    match from_environment("ORDER_NUMBER") {
        Some(number) => number..number + 1,
        None => 0..3 * from_environment("ORDER_NETWORKS").unwrap_or(NETWORKS),
    }
}

fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(rng, at + 1));
    }
}

/// What stands before the first entry of a list, and each entry with what belongs to it. A table of a segment stays where it
/// is: before all of them.
fn parts(text: &str) -> (String, Vec<String>) {
    let (mut head, mut entries, mut in_entry) = (String::new(), Vec::new(), false);
    for line in text.split_inclusive('\n') {
        if line.starts_with("[[") {
            entries.push(String::new());
            in_entry = true;
        } else if line.starts_with("[segments") {
            in_entry = false;
        }
        match entries.last_mut().filter(|_| in_entry) {
            Some(entry) => entry.push_str(line),
            None => head.push_str(line),
        }
    }
    (head, entries)
}

/// The same file in another order: its entries, and links one by one. Of switches the first is where beacons begin, and where a
/// ring has two ways of one length a beacon takes that over the one that stands first: so they change places only where there
/// are no beacons.
fn in_another_order(rng: &mut ChaCha8Rng, text: &str) -> String {
    let (head, mut entries) = parts(text);
    shuffle(rng, &mut entries);
    let mut lines: Vec<String> = head.split_inclusive('\n').map(str::to_owned).collect();
    let has_no_beacon = !text.contains("sync = \"beacon\"") && text.contains("sync = ");
    let is_link = |line: &String| line.starts_with("  { between");
    let mut links: Vec<String> = lines.iter().filter(|line| is_link(line)).cloned().collect();
    shuffle(rng, &mut links);
    for line in &mut lines {
        if is_link(line) {
            *line = links.pop().expect("as many as before");
        } else if let Some(list) =
            Some(&*line).filter(|_| has_no_beacon).and_then(|line| line.strip_prefix("switches = ["))
            && let Some(list) = list.strip_suffix("]\n")
        {
            let mut switches: Vec<&str> = list.split(", ").collect();
            shuffle(rng, &mut switches);
            *line = format!("switches = [{}]\n", switches.join(", "));
        }
    }
    lines.concat() + &entries.concat()
}

/// A table as its names say it: slots by stream with their times, and tasks.
type Slots = Vec<(String, u32, Duration, Duration, Duration)>;

/// What is known on paper, by names.
#[derive(PartialEq, Debug)]
struct Known {
    /// By stream and receiver: the earliest and the latest, or why nothing bounds it.
    bounds: BTreeMap<(String, String), Result<(Duration, Duration), String>>,
    risks: Vec<(String, String)>,
    slots: Vec<Slots>,
}

fn node_name(plan: &Plan, node: NodeId) -> String {
    plan.node_name(node)
}

/// The tables of a plan; nothing if its frames do not fit its slots.
fn tables(plan: &Plan) -> Option<Vec<Option<ScheduleTable>>> {
    plan.segment_ids().map(|id| Ethernet::of(plan, id).map(synthesize).transpose().ok()).collect()
}

fn known(plan: &Plan, tables: &[Option<ScheduleTable>]) -> Known {
    let Bounds { streams, risks } = bounds(plan, tables, BOUNDS);
    let stream_name = |id: StreamId| plan.streams[id.index()].name.clone();
    let mut found = BTreeMap::new();
    for stream in &streams {
        for end in &stream.ends {
            let bound = end.latency.map(|span| (span.min, span.max));
            let bound = bound.map_err(|missing| format!("{}: {}", missing.place.name(plan), missing.why.text(plan)));
            found.insert((stream_name(stream.stream), node_name(plan, end.receiver)), bound);
        }
    }
    let mut risks: Vec<(String, String)> =
        risks.iter().map(|risk| (risk.stream.map(stream_name).unwrap_or_default(), risk.cause.text(plan))).collect();
    risks.sort();
    let slots_of = |table: &ScheduleTable| {
        let slots = table.slots.iter();
        let slots =
            slots.map(|slot| (stream_name(slot.stream), slot.instance, slot.release, slot.start, slot.dispatch));
        let tasks = table.tasks.iter().map(|task| {
            (format!("a task of {}", node_name(plan, task.node)), 0, task.start, task.start, task.start + task.length)
        });
        let mut all: Slots = slots.chain(tasks).collect();
        all.sort();
        all
    };
    Known { bounds: found, risks, slots: tables.iter().flatten().map(slots_of).collect() }
}

/// What differs first.
fn difference(here: Option<&Known>, there: Option<&Known>) -> String {
    let (Some(here), Some(there)) = (here, there) else { return "only one of them fits its slots".to_owned() };
    let slots = here.slots.iter().flatten().zip(there.slots.iter().flatten());
    let bounds = here.bounds.iter().map(|(end, bound)| (end, bound, there.bounds.get(end)));
    if let Some((one, other)) = slots.into_iter().find(|(one, other)| one != other) {
        return format!("{one:?} and {other:?}");
    }
    if let Some((end, one, other)) = bounds.into_iter().find(|(_, one, other)| Some(*one) != *other) {
        return format!("{end:?}: {one:?} and {other:?}");
    }
    format!("{:?} and {:?}", here.risks, there.risks)
}

fn loaded(text: &str) -> Option<Plan> {
    load("any.toml", text.as_bytes(), &[], &NoFiles).ok()
}

/// `ORDER_NUMBER=17` tries that network alone, `ORDER_NETWORKS=2000` more of them.
#[test]
fn the_order_of_entries_changes_nothing() {
    let (mut compared, mut tried, mut different) = (0, 0, Vec::new());
    for number in numbers() {
        let text = text(number);
        let rng = &mut random::stream(number, Purpose::Medium, 7);
        let other = in_another_order(rng, &text);
        let [one, other_plan] = [&text, &other]
            .map(|text| loaded(text).unwrap_or_else(|| panic!("number {number}: the file cannot be read\n{text}")));
        let [here, there] = [&one, &other_plan].map(|plan| tables(plan).map(|tables| known(plan, &tables)));
        if here != there {
            different.push(format!("number {number}: {}", difference(here.as_ref(), there.as_ref())));
            if from_environment("ORDER_NUMBER").is_some() {
                println!("{text}\n\n{other}");
            }
        }
        compared += here.map_or(0, |known| known.bounds.len());
        tried += 1;
    }
    assert!(different.is_empty(), "{} networks differ\n{}", different.len(), different.join("\n"));
    println!("{compared} ends of {tried} networks");
    if from_environment("ORDER_NUMBER").is_none() {
        assert!(compared > 200 && tried > 20, "too few to tell: {compared}, {tried}");
    }
}

/// With the schedule and the ways as they are. A stream goes that has no slots, and that nothing else names.
#[test]
fn taking_a_stream_out_raises_no_bound() {
    let (mut compared, mut lower) = (0, 0);
    for number in numbers() {
        let text = text(number);
        let rng = &mut random::stream(number, Purpose::Medium, 8);
        let (head, mut entries) = parts(&text);
        let streams: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].starts_with("[[streams]]")).collect();
        let goes = entries.remove(streams[below(rng, streams.len())]);
        let Some(less) = loaded(&(head.clone() + &entries.concat())) else { continue };
        // As the last one it has the last number, so that all others keep theirs.
        let Some(all) = loaded(&(head + &entries.concat() + &goes)) else { continue };
        let last = StreamId(all.streams.len() as u16 - 1);
        if all.streams.iter().take(last.index()).map(|one| &one.name).ne(less.streams.iter().map(|one| &one.name)) {
            continue;
        }
        let Some(tables) = tables(&all) else { continue };
        if tables.iter().flatten().any(|table| table.of(last).next().is_some()) {
            continue;
        }
        let [before, after] = [&all, &less].map(|plan| known(plan, &tables));
        for (end, bound) in &after.bounds {
            let latest = |bound: &Result<(Duration, Duration), String>| bound.as_ref().map(|(_, max)| *max).ok();
            let (before, after) = (latest(&before.bounds[end]), latest(bound));
            let is_no_higher = before.is_none_or(|before| after.is_some_and(|after| after <= before));
            assert!(is_no_higher, "number {number}, {end:?}: {before:?} with it, {after:?} without\n{goes}\n{text}");
            compared += 1;
            lower += usize::from(after.is_some() && after != before);
        }
    }
    println!("{compared} ends compared, {lower} lower without the stream");
    if from_environment("ORDER_NUMBER").is_none() {
        assert!(compared > 200 && lower > 20, "too few to tell: {compared}, {lower}");
    }
}
