//! Gate control lists for the queueing discipline `taprio` of Linux, as a shell script of `tc` with a case for each node.
//!
//! Source: `tc-taprio(8)` of iproute2, and `net/sched/sch_taprio.c` of Linux for what it refuses. A gate mask has a bit for each traffic
//! class there as in IEEE 802.1Q, and `map` says the traffic class of each priority of a packet.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Refusal;
use super::qcw::{Whole, whole};
use crate::gates::GateList;
use crate::network::Network;

/// The traffic class of eight that each priority code point has by table 8-5 of IEEE 802.1Q-2022.
pub const RECOMMENDED: [u8; 8] = [1, 0, 2, 3, 4, 5, 6, 7];
/// A frame of this length has to fit into every entry, or `taprio` refuses the list `[byte]`.
const FRAME_MIN: u64 = 60;

/// What a port is given.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// Its list.
    pub list: &'a GateList,
    /// The traffic class of each priority code point.
    pub class_of: [u8; 8],
}

/// The script.
///
/// # Errors
/// A time that is no whole number of nanoseconds, and an entry that is too short for `taprio`.
pub fn write(network: &Network, ports: &[Port<'_>]) -> Result<String, Refusal> {
    let name = |node: usize| network.nodes()[node].name.as_str();
    let nodes: BTreeSet<usize> = ports.iter().map(|port| network.links()[port.list.link].from).collect();
    let mut cases = String::new();
    for &node in &nodes {
        let mut variables = BTreeSet::new();
        let _ = writeln!(cases, "{})", quoted(name(node)));
        for port in ports.iter().filter(|port| network.links()[port.list.link].from == node) {
            let to = plain(name(network.links()[port.list.link].to), "_.-");
            let variable = variable(&to, &variables);
            line(&mut cases, network, *port, (&to, &variable))?;
            variables.insert(variable);
        }
        cases += "  ;;\n";
    }
    let names: Vec<&str> = nodes.iter().map(|node| name(*node)).collect();
    Ok(format!(
        "#!/bin/sh\n\
         # Gate control lists for Linux. On the host of a node, as root, with the name of each interface:\n\
         #   to_NEIGHBOUR=INTERFACE sh taprio.sh NODE\n\
         # A packet's priority is the priority code point of its VLAN tag: `egress-qos-map` of the VLAN interface says which.\n\
         # Base times count from the epoch of CLOCK_TAI, which has to be kept together on all hosts (`phc2sys`, `ptp4l`).\n\
         # A card that opens the gates by itself takes `flags 0x2` in the place of `clockid CLOCK_TAI`.\n\
         set -eu\n\
         case \"${{1-}}\" in\n\
         {cases}\
         *)\n  \
           echo 'write one of these nodes behind the name of the script:' {} >&2\n  \
           exit 2\n  \
         ;;\n\
         esac\n",
        names.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
    ))
}

/// The same list with its cycle begun earlier, where its end and its beginning are one window: cut in two, its parts may be too short.
fn joined(mut list: Whole) -> Whole {
    let ends = (list.entries.first().copied(), list.entries.last().copied());
    let (Some((first, _)), Some((last, before))) = ends else { return list };
    if list.entries.len() > 1 && first == last {
        list.entries.pop();
        list.entries[0].1 += before;
        list.base = if list.base >= before { list.base - before } else { list.base + list.cycle - before };
    }
    list
}

/// The line of one port.
fn line(text: &mut String, network: &Network, port: Port<'_>, (to, variable): (&str, &str)) -> Result<(), Refusal> {
    let list = joined(whole(network, port.list)?);
    let rate = network.links()[port.list.link].rate;
    let shortest = rate.time_of(FRAME_MIN).as_ps();
    let classes = port.class_of.iter().max().map_or(1, |class| u32::from(*class) + 1);
    // A class that no priority goes to is there too if an entry opens its gate.
    let opened = port.list.entries.iter().map(|entry| entry.gates).filter(|gates| *gates != u8::MAX);
    let classes = opened.map(|gates| u8::BITS - gates.leading_zeros()).max().unwrap_or(0).max(classes).clamp(1, 8);
    let mask = u8::MAX >> (u8::BITS - classes);
    if let Some((_, interval)) = list.entries.iter().find(|(_, interval)| interval.saturating_mul(1000) < shortest) {
        return Err(Refusal::new(
            "the schedule",
            None,
            format!(
                "port {}: an entry of the list lasts {interval} ns, and taprio takes none in which {FRAME_MIN} bytes have no room, \
                 which take {} ns at {rate}",
                list.port,
                (shortest + 999) / 1000
            ),
            "join windows that are so close to each other, or write the lists as yang-json for a bridge that takes them",
        ));
    }
    let map = port.class_of.iter().chain([&port.class_of[0]; 8]).map(u8::to_string).collect::<Vec<_>>().join(" ");
    let queues = (0..classes).map(|class| format!("1@{class}")).collect::<Vec<_>>().join(" ");
    let _ = write!(
        text,
        "  # to {to}: {rate}, a cycle of {} ns\n  \
         tc qdisc replace dev \"${{{variable}:?name the interface that leads to {to}, such as {variable}=eth0}}\" parent root handle 100: \
         taprio \\\n    num_tc {classes} map {map} queues {queues} \\\n    base-time {} \\\n",
        list.cycle, list.base
    );
    for (gates, interval) in &list.entries {
        let _ = writeln!(text, "    sched-entry S {:02x} {interval} \\", gates & mask);
    }
    text.push_str("    clockid CLOCK_TAI\n");
    Ok(())
}

/// A word of the shell.
fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "'\\''"))
}

/// A name of letters, digits and some other signs, in which nothing means anything to the shell.
fn plain(name: &str, others: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || others.contains(*letter);
    name.chars().map(|letter| if is_plain(&letter) { letter } else { '_' }).collect()
}

/// A variable of the shell for the interface that leads to a node, which none of the others is called.
fn variable(to: &str, others: &BTreeSet<String>) -> String {
    let mut name = format!("to_{}", plain(to, "_"));
    while others.contains(&name) {
        name.push('_');
    }
    name
}
