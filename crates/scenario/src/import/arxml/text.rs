//! The scenario as it is written, with what was assumed marked where it stands.

use chronoseal_core::Rate;
use chronoseal_recordings::arxml::{ChannelKind, SystemDescription};

use super::network::{Addressed, Network, Segment, Stream};
use crate::import::can::{self, BIT_RATE, BIT_RATE_EXTENDED, DATA_BIT_RATE};
use crate::import::{plain_name, warning_line};

/// The rate of an Ethernet of which nothing is written `[bit/s]`.
const RATE: u64 = 100_000_000;

pub(super) fn write(source_name: &str, found: &SystemDescription, network: &Network) -> String {
    let gateways = network.streams.iter().filter(|stream| !stream.via.is_empty()).count();
    let mut text = format!(
        "# {} frames of {} nodes on {} segments, {gateways} of them carried on by gateways; from {}.\n",
        network.streams.len(),
        network.nodes.len(),
        network.segments.len(),
        source_name.replace(char::is_control, " "),
    );
    let counted = found.left_out.iter().map(|(what, count)| format!("{count} {what}"));
    for warning in counted.chain(network.warnings.iter().cloned()) {
        text += &warning_line(&warning);
    }
    text += &format!(
        "\nschema_version = 2\nname = {}\nduration = \"10s\"    # assumed: as long as you want to look at it\n",
        quoted(&plain_name(source_name))
    );
    for (number, one) in network.segments.iter().enumerate() {
        text += &segment(network, number, one);
    }
    for protection in &network.protections {
        text += &format!(
            "\n# {}.\n[[protections]]\nname = {}\n{}\n",
            protection.comment.trim_end_matches('.'),
            quoted(&protection.name),
            protection.table
        );
    }
    let is_several = network.segments.len() > 1;
    for node in &network.nodes {
        text += &format!("\n[[nodes]]\nname = {}\n", quoted(&node.name));
        if is_several {
            text += &format!("on = [{}]\n", list(node.on.iter().map(|segment| &network.segments[*segment].name)));
        }
        if node.is_gateway {
            text += "gateway = { delay = \"50us\", queue = \"64 frames\" }    # assumed: write yours\n";
        }
    }
    network.streams.iter().for_each(|one| text += &stream(network, one));
    text
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

/// A rate that is written, or assumed.
fn rate(key: &str, written: Option<u64>, assumed: u64) -> String {
    match written {
        Some(rate) => format!("{key} = \"{}\"\n", Rate(rate)),
        None => format!("{key} = \"{}\"    # assumed: the file says nothing of it\n", Rate(assumed)),
    }
}

fn segment(network: &Network, number: usize, segment: &Segment) -> String {
    match segment.kind {
        ChannelKind::Can { bit_rate, data_bit_rate } => {
            let on_it = network.streams.iter().flat_map(|stream| &stream.on).filter(|(on, _)| *on == number);
            let is_extended = on_it.clone().all(|(_, it)| matches!(it, Addressed::Can(id, _) if id.is_extended()));
            let assumed = if is_extended { BIT_RATE_EXTENDED } else { BIT_RATE };
            let mut text = format!("\n[segments.{}.can]\n{}", segment.name, rate("bit_rate", bit_rate, assumed));
            if segment.has_fd {
                text += &rate("data_bit_rate", data_bit_rate, DATA_BIT_RATE);
            }
            text
        }
        ChannelKind::Ethernet { bit_rate } => format!(
            "\n[segments.{}.ethernet]\n\
             # assumed: one switch with a link to each node, and priority 0 for all. Write your own `switches`, `links` and classes.\n\
             {}class = {{ best_effort = {{ priority = 0 }} }}\n",
            segment.name,
            rate("rate", bit_rate, RATE)
        ),
    }
}

fn stream(network: &Network, stream: &Stream) -> String {
    let names = |nodes: &[usize]| list(nodes.iter().map(|node| &network.nodes[*node].name));
    let mut text = String::from("\n");
    stream.comments.iter().for_each(|comment| text += &format!("# {comment}.\n"));
    text += &format!(
        "[[streams]]\nname = {}\nfrom = {}\nto = [{}]\nlength = \"{}B\"\nperiod = \"{}\"{}\n",
        quoted(&stream.name),
        quoted(&network.nodes[stream.from].name),
        names(&stream.to),
        stream.len,
        stream.period,
        stream.period_assumed.map(|why| format!("    # assumed: {why}")).unwrap_or_default(),
    );
    if !stream.via.is_empty() {
        text += &format!("via = [{}]\n", names(&stream.via));
    }
    let name = |place: &usize| quoted(&network.protections[*place].name);
    let of_segments: Vec<String> = stream
        .protections
        .iter()
        .map(|(segment, place)| format!("{} = {}", quoted(&network.segments[*segment].name), name(place)))
        .collect();
    let first = stream.protections.values().next();
    let is_whole =
        stream.protections.len() == stream.on.len() && stream.protections.values().all(|it| Some(it) == first);
    match first {
        Some(place) if is_whole => text += &format!("protection = {}\n", name(place)),
        Some(_) => text += &format!("protection = {{ {} }}\n", of_segments.join(", ")),
        None => {}
    }
    for (segment, addressed) in &stream.on {
        let name = &network.segments[*segment].name;
        match addressed {
            Addressed::Can(id, kind) => text += &format!("{name} = {}\n", can::table(*id, *kind)),
            Addressed::Ethernet(Some(vlan)) => {
                text += &format!(
                    "{name} = {{ class = {{ vlan = {{ pcp = 0, vid = {vlan} }} }} }}    # assumed: priority 0\n"
                );
            }
            Addressed::Ethernet(None) => {}
        }
    }
    text
}
