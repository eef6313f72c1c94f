//! The scenario as it is written, with what was assumed marked where it stands.

use chronoseal_core::{Duration, Rate};

use super::Network;
use super::observation::{Observation, show_ip, show_mac};
use super::rate::shown;
use super::recorded::{self, Recorded};
use super::stream::{Class, Stream};
use crate::import::capture::dissect::{Secured, Station};
use crate::import::{plain_name, recorded_length, run_length, schedulable, warning_line};

/// Slots begin when a station has taken some beacons.
const DURATION_SLOTS: Duration = Duration::from_s(2);
/// No run is longer only for a recording that begins late.
const DURATION_BEGUN_MAX: Duration = Duration::from_s(600);
/// Clocks take some seconds to agree on a grandmaster.
const DURATION_CLOCKS: Duration = Duration::from_s(20);
/// The identifier of beacons, which no stream may have.
const SYNC_ID: u16 = 4_043;

pub(super) fn write(source_name: &str, seen: &Observation, networks: &[&Network], warnings: &[String]) -> String {
    let streams: usize = networks.iter().map(|network| network.streams.len()).sum();
    let nodes: usize = networks.iter().map(|network| network.nodes.len()).sum();
    let clocks = networks.iter().filter_map(|network| network.clocks.as_ref()).count();
    let recordings: usize = networks.iter().map(|network| network.recordings.len()).sum();
    let and = if recordings > 0 { format!(" and {recordings} recordings") } else { String::new() };
    let mut text = comment(&format!("{streams} streams{and} of {nodes} nodes, from {source_name}."));
    text += &comment(&format!("{} Ethernet frames were read, of {}.", seen.frames, shown(seen.length_ns())));
    for (what, count) in &seen.left_out {
        text += &comment(&format!("{count} {what}."));
    }
    if seen.beacons > 0 {
        text += &comment(&format!(
            "{} frames of clock synchronisation were left out: the bench sends its own.",
            seen.beacons
        ));
    }
    if let Some(damage) = &seen.damage {
        text += &warning_line(&format!("the capture is damaged behind these frames: {damage}"));
    }
    text += &warnings.iter().map(|warning| warning_line(warning)).collect::<String>();
    for (station, name) in networks.iter().flat_map(|network| &network.nodes) {
        text += &comment(&match station {
            Some(Station::Mac(mac)) => format!("{name}: {}", show_mac(mac)),
            Some(Station::Ip(ip)) => format!("{name}: {}", show_ip(ip)),
            Some(Station::Host) => format!("{name}: the host that captured"),
            Some(Station::Group) => format!("{name}: whoever sent what names no sender"),
            None => format!("{name}: assumed, for somebody has to receive"),
        });
    }
    text += &format!(
        "\nschema_version = 2\nname = {}\nduration = \"{}\"    # assumed: as long as you want to look at it\n",
        quoted(&plain_name(source_name)),
        duration(seen, networks, clocks > 0),
    );
    for network in networks {
        text += &segment(network, seen.beacons > 0);
    }
    for network in networks {
        for (_, name) in &network.nodes {
            text += &format!("\n[[nodes]]\nname = {}\n", quoted(name));
            if networks.len() > 1 {
                text += &format!("on = [{}]\n", quoted(&network.name));
            }
        }
    }
    for network in networks {
        text += &network.streams.iter().map(|one| stream(one, &network.name)).collect::<String>();
    }
    let every = recorded::every(seen);
    for network in networks {
        for one in &network.recordings {
            text += &recording(one, (networks.len() > 1).then_some(&network.name), &file_name(source_name, one), every);
        }
    }
    text
}

/// The file of a recording, beside the scenario.
pub(super) fn file_name(source_name: &str, recorded: &Recorded) -> String {
    format!("{}-{}.pcap", plain_name(source_name), recorded.name)
}

fn recording(recorded: &Recorded, segment: Option<&String>, file: &str, every: Duration) -> String {
    let to: Vec<String> = recorded.to.iter().map(|name| quoted(name)).collect();
    let mut text = String::from("\n");
    text += &recorded.comment.iter().map(|line| comment(line)).collect::<String>();
    text += &format!(
        "[[recordings]]\nname = {}\ntraffic = {{ file = {} }}\nfrom = {}\nto = [{}]\n",
        quoted(&recorded.name),
        quoted(file),
        quoted(&recorded.from),
        to.join(", "),
    );
    if let Some(segment) = segment {
        text += &format!("segment = {}\n", quoted(segment));
    }
    text + &format!(
        "start = \"{}\"\nevery = \"{every}\"    # as long as the capture; assumed: all of it comes again and again\n",
        recorded.start
    )
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn comment(text: &str) -> String {
    format!("# {}\n", text.replace(char::is_control, " "))
}

/// As long as the capture, or so long that clocks and slots begin.
fn duration(seen: &Observation, networks: &[&Network], has_clocks: bool) -> Duration {
    let periods = networks.iter().flat_map(|network| &network.streams).map(|stream| stream.period);
    let least = match () {
        () if has_clocks => DURATION_CLOCKS,
        () if seen.beacons > 0 => DURATION_SLOTS,
        () => Duration::ZERO,
    };
    let starts = networks.iter().flat_map(|network| &network.recordings).map(|recorded| recorded.start);
    let begun = starts.max().map_or(least, |latest| (latest * 2).min(recorded::every(seen)).min(DURATION_BEGUN_MAX));
    let least = least.max(begun);
    run_length(recorded_length(seen.length_ns(), seen.frames), periods.max().unwrap_or(Duration::ZERO)).max(least)
}

fn segment(network: &Network, has_slots: bool) -> String {
    let mut text = format!(
        "\n[segments.{}.ethernet]\n\
         # assumed: one switch with a link to each station. Write your own `switches` and `links`.\n\
         rate = \"{}\"    # assumed: no link is busy for more than half of the time with these streams. Write yours\n\
         queue_len_max = \"{}B\"    # assumed: more than can come at once. Write what your switch has\n",
        network.name,
        Rate(network.rate),
        network.queue,
    );
    let slotted = network.streams.iter().filter(|stream| stream.class == Class::TimeTriggered);
    if let Some(cycle) = schedulable(slotted.map(|stream| stream.period)).filter(|_| has_slots) {
        text += &format!(
            "cluster_cycle = \"{cycle}\"    # assumed: the shortest one that suits all time-triggered streams\n\
             guard_period = \"20us\"    # assumed\n"
        );
    }
    if network.virtual_links {
        text += "ct_marker = \"03:00:00:00\"\n\
                 virtual_links = { standard = false }    # assumed: end systems may be later than 500us\n";
    }
    let identifiers: Vec<u16> = network.streams.iter().filter_map(Stream::virtual_link).collect();
    if identifiers.contains(&SYNC_ID) {
        let free = (1..SYNC_ID).rev().find(|id| !identifiers.contains(id)).unwrap_or_default();
        text += &format!("sync_id = {free}    # assumed: {SYNC_ID} is a virtual link\n");
    }
    if let Some(clocks) = &network.clocks {
        text += &clocks.text(super::node_of(&network.nodes, clocks.grandmaster).unwrap_or(super::LISTENER));
    }
    if let Some((secured, stations)) = &network.macsec {
        text += &macsec(network, *secured, stations);
    }
    text
}

/// On the links of the stations whose frames have it.
fn macsec(network: &Network, secured: Secured, stations: &[String]) -> String {
    let confidentiality = if secured.encrypted { "offset-0" } else { "none" };
    let switch = format!("{}-switch", network.name);
    let mut text = format!(
        "# Seen: MACsec on frames of {}. assumed: on all frames of their links, and on no other link; its suite, since no\n\
         # frame names it.\n\
         macsec = {{ cipher_suite = \"gcm-aes-128\", include_sci = {}, confidentiality = \"{confidentiality}\" }}\n\
         switches = [\"{switch}\"]\nlinks = [\n",
        stations.join(" and "),
        secured.has_sci,
    );
    for (_, node) in &network.nodes {
        let without = if stations.contains(node) { "" } else { ", macsec = false" };
        text += &format!("    {{ between = [{}, \"{switch}\"]{without} }},\n", quoted(node));
    }
    text + "]\n"
}

fn stream(stream: &Stream, segment: &str) -> String {
    let to: Vec<String> = stream.to.iter().map(|name| quoted(name)).collect();
    let class = match stream.class {
        Class::BestEffort => "class = { best_effort = { priority = 0 } }".into(),
        Class::Vlan { pcp, vid } => format!("class = {{ vlan = {{ pcp = {pcp}, vid = {vid} }} }}"),
        Class::VirtualLink { identifier, gap_ms } => {
            format!("class = {{ rate_constrained = {{ bag = \"{gap_ms}ms\" }} }}, ct_id = {identifier}")
        }
        Class::TimeTriggered => "class = \"time-triggered\"".into(),
    };
    let mut text = String::from("\n");
    text += &stream.comment.iter().map(|line| comment(line)).collect::<String>();
    text += &format!(
        "[[streams]]\nname = {}\nfrom = {}\nto = [{}]\nperiod = \"{}\"\n",
        quoted(&stream.name),
        quoted(&stream.from),
        to.join(", "),
        stream.period,
    );
    if stream.rate.count > 1 {
        text += &format!("count = {}    # at once: the burst that was counted\noffset = \"0s\"\n", stream.rate.count);
    }
    text + &format!("length = \"{}B\"\n{segment} = {{ {class} }}\n", stream.length)
}
