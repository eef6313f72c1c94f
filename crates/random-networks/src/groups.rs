//! A group key on the buses of a network, what changes the group, and clusters that make their own time.

use super::chance::Chance;
use super::redundancy::without_slots;
use super::{Kind, Network};

/// The nodes of a network that are on a segment and no gateway.
fn stations(network: &Network, on: usize) -> Vec<usize> {
    let is_there = |node: &usize| network.nodes[*node].on == [on];
    (0..network.nodes.len()).filter(is_there).collect()
}

/// A group on the first bus that has stations enough: its table, if there is one.
pub(super) fn group(chance: &mut Chance, network: &Network) -> Option<String> {
    let mut buses = (0..network.segments.len()).filter(|on| network.segments[*on].kind != Kind::Ethernet);
    let own = buses.find_map(|on| Some(stations(network, on)).filter(|own| own.len() > 2))?;
    let (orchestrator, members) = own.split_first()?;
    // One of four comes in later.
    let late = if members.len() > 2 { members.last() } else { None };
    let founders: Vec<String> =
        members.iter().filter(|member| late != Some(member)).map(|member| format!("\"n{member}\"")).collect();
    let scheme = chance.one(&["full-tree", "without-orchestrator", "symmetric"]);
    let suite = chance.one(&["fourq", "fourq", "p-256", "x25519-ed25519"]);
    let mut changes: Vec<String> = late.iter().map(|late| format!("merge = [\"n{late}\"]")).collect();
    if members.len() > 2 && chance.percent(50) {
        let out = chance.one(members);
        changes.push(chance.one(&["revoke", "remove"]).to_owned() + &format!(" = \"n{out}\""));
    }
    let changes: Vec<String> =
        changes.iter().zip([150, 250]).map(|(change, at)| format!("{{ at = \"{at}ms\", {change} }}")).collect();
    Some(format!(
        "[keys.common.group]\norchestrator = \"n{orchestrator}\"\nmembers = [{}]\nscheme = \"{scheme}\"\n\
         suite = \"{suite}\"\nchanges = [{}]\n",
        founders.join(", "),
        changes.join(", ")
    ))
}

/// Makes a segment a cluster of AS6802, with or without slots, if all of its streams can be there.
pub(super) fn cluster(chance: &mut Chance, on: usize, network: &mut Network) {
    let masters: Vec<String> = stations(network, on).iter().map(|node| format!("\"n{node}\"")).collect();
    let goes_on = |stream: &super::Stream| stream.tables.len() > 1;
    let in_slots =
        |stream: &super::Stream| stream.tables.get(&on).is_some_and(|table| table.contains("\"time-triggered\""));
    // What a gateway carries into slots has no bound.
    let has_slots = chance.percent(88) && !network.streams.iter().any(|stream| in_slots(stream) && goes_on(stream));
    if has_slots {
        // A cluster with an attacker has no bounds, wherever its slots are hit.
        if !Chance::new(network.seed, 63).percent(20) {
            network.threats.clear();
        }
        let precision = chance.one(&["20us", "30us", "8us"]);
        let lines = network.segments[on].table.lines().filter(|line| !line.starts_with("precision = "));
        let table: String = lines.map(|line| format!("{line}\n")).collect();
        network.segments[on].table = table.replace("dispatch = \"immediate\"", "dispatch = \"scheduled\"")
            + &format!("precision = \"{precision}\"\nmax_transmission_delay = \"4ms\"\n");
    }
    for stream in network.streams.iter_mut().filter(|_| !has_slots) {
        if let Some(table) = stream.tables.get_mut(&on).filter(|table| table.contains("\"time-triggered\"")) {
            *table = format!("s{on} = {{ class = {{ best_effort = {{}} }} }}\n");
            if stream.from == on {
                stream.is_slotted = false;
            }
        }
    }
    // Beside control frames streams are bounded where processors take no time, and hardly ever behind host interfaces.
    for node in network.nodes.iter_mut().filter(|node| node.on.contains(&on)) {
        node.mac_ns = (0, 0);
        if let Some(gateway) = node.gateway.as_mut().filter(|_| chance.percent(80)) {
            let queue = gateway.split_once("queue = ").map_or("", |(_, queue)| queue);
            *gateway = format!("delay = \"0us\", queue = {queue}");
        }
        let keeps_host = chance.percent(15);
        let stays =
            |line: &&str| !line.starts_with("tasks = ") && (keeps_host || !line.starts_with("host_interface = "));
        let lines = node.table.lines().filter(stays).map(|line| format!("{line}\n"));
        node.table = lines.collect();
    }
    let sync = format!("sync = {{ as6802 = {{ masters = [{}] }} }}", masters.join(", "));
    let table = &mut network.segments[on].table;
    // A start needs time between two integration frames.
    for short in ["5ms", "2500us"] {
        *table = table.replace(&format!("integration_cycle = \"{short}\""), "integration_cycle = \"10ms\"");
    }
    for other in ["sync = \"beacon\"", "sync = \"ideal\""] {
        *table = table.replace(other, &sync);
    }
}

/// Lets the clocks of a segment follow a grandmaster (IEEE 802.1AS), most often with all of its streams without slots.
pub(super) fn time_aware(chance: &mut Chance, on: usize, network: &mut Network) {
    // What an attacker sends beside these messages has no bound, nor has what is in slots.
    if !Chance::new(network.seed, 64).percent(60) {
        network.threats.clear();
    }
    if chance.percent(88) {
        without_slots(chance, on, network);
        // How far clocks are apart has no bound either.
        let table = &mut network.segments[on].table;
        let lines = table.lines().filter(|line| !line.starts_with("precision = "));
        *table = lines.map(|line| format!("{line}\n")).collect::<String>() + "precision = \"1ms\"\n";
        for node in network.nodes.iter_mut().filter(|node| node.on.contains(&on)) {
            node.table = node
                .table
                .lines()
                .filter(|line| !line.starts_with("tasks = "))
                .map(|line| format!("{line}\n"))
                .collect();
        }
    }
    // A start needs two measurements, four Announces and two Syncs, and most often has time.
    let (sync, announce) = chance.one(&[
        ("31250us", "31250us"),
        ("15625us", "31250us"),
        ("62500us", "31250us"),
        ("31250us", "15625us"),
        ("125ms", "62500us"),
    ]);
    let mut keys =
        format!("sync_interval = \"{sync}\", announce_interval = \"{announce}\", pdelay_interval = \"{announce}\"");
    keys += chance.one(&["", ", granularity = \"0s\"", ", granularity = \"40ns\""]);
    keys +=
        chance.one(&["", ", bridge_drift = \"10ppm\"", ", sync_receipt_timeout = 5", ", announce_receipt_timeout = 2"]);
    keys += chance.one(&["", ", mean_link_delay_thresh = \"2us\"", ", mean_link_delay_thresh = \"20us\""]);
    if chance.percent(50) {
        let best = chance.one(&stations(network, on));
        keys += &format!(", systems = [{{ names = [\"n{best}\"], priority1 = 100, clock_class = 6, priority2 = 1 }}]");
    }
    let table = &mut network.segments[on].table;
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with("integration_cycle = ")).collect();
    *table = lines.join("\n") + "\n";
    for other in ["sync = \"beacon\"", "sync = \"ideal\""] {
        *table = table.replace(other, &format!("sync = {{ gptp = {{ {keys} }} }}"));
    }
}

/// Lets a link of a segment fail that no stream goes over: that of a node that is there for nothing else, or one to a switch without
/// stations.
pub(super) fn failure(chance: &mut Chance, on: usize, idle: usize, network: &mut Network) {
    let (at, to_switch) = (chance.range(0, 380), chance.percent(60));
    // Clocks that keep each other have no bounds beside a link that fails.
    let keeps = |clocks: &str| network.segments[on].table.contains(clocks);
    if (keeps("as6802 = ") || keeps("gptp = ")) && chance.percent(90) {
        return;
    }
    let is_only_one = network.segments.iter().filter(|segment| segment.kind == Kind::Ethernet).count() == 1;
    let table = &mut network.segments[on].table;
    let first = format!("\"s{on}w0\"");
    if to_switch && table.contains(&format!("switches = [{first}, ")) {
        let stub = format!("\"s{on}w9\"");
        *table = table.replace(&format!("switches = [{first}"), &format!("switches = [{first}, {stub}"));
        *table = table.replace("links = [", &format!("links = [\n  {{ between = [{first}, {stub}] }},"));
        *table += &format!("failures = [{{ link = [{stub}, {first}], at = \"{at}ms\" }}]\n");
        return;
    }
    // A node whose link fails loses the clock that a beacon brings it.
    if table.contains("sync = \"beacon\"") && chance.percent(80) {
        return;
    }
    let of_idle = format!("\"n{idle}\"");
    let link = table.lines().find(|line| line.starts_with("  { between = [") && line.contains(&of_idle));
    let name = link.and_then(|link| link.split('"').skip(1).step_by(2).find(|part| part.contains('w')));
    let known = table.lines().find_map(|line| line.strip_prefix("switches = [\"")?.split('"').next());
    let switch = match name.or(known) {
        Some(name) => name.to_owned(),
        None if is_only_one => "switch".to_owned(),
        None => format!("switch-s{on}"),
    };
    *table += &format!("failures = [{{ link = [{of_idle}, \"{switch}\"], at = \"{at}ms\" }}]\n");
}
