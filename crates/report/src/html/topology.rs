//! A network drawn from top to bottom: each switch or shared medium with what hangs on it alone, gateways between them, and the
//! links that join these as arcs at the left. Whatever the network, nothing lies on anything else, and the same network has the
//! same drawing. Each is drawn twice, for a desktop and for a phone.

use std::fmt::Write;

use super::escape;
use super::table::one_table;
use crate::document::{STEPS, Topology, TopologyLink, step_of_share};

/// Width of the drawing, columns of stations beside a hub, and width of each `[pixel]`.
struct Form {
    class: &'static str,
    width: f64,
    columns: usize,
    /// Room for arcs at the left, and distance of two of them.
    arcs: f64,
    arc_step: f64,
    /// Width of the box of a hub.
    hub: f64,
}

const FORMS: [Form; 2] = [
    Form { class: "wide", width: 1000.0, columns: 3, arcs: 150.0, arc_step: 26.0, hub: 150.0 },
    Form { class: "narrow", width: 345.0, columns: 1, arcs: 62.0, arc_step: 13.0, hub: 96.0 },
];

/// Height of a station, and of the space between two hubs `[pixel]`.
const ROW_PX: f64 = 24.0;
const SPACE_PX: f64 = 22.0;
/// Width of a character of the labels, about `[pixel]`.
const DIGIT_PX: f64 = 7.0;

/// A hub, or a node with several links, and the stations that hang on it alone.
struct Place {
    node: usize,
    /// By number of the link: the station at its other end.
    leaves: Vec<(usize, usize)>,
}

pub(super) fn topology(out: &mut String, topology: &Topology) {
    let places = places(topology);
    let _ = write!(out, "<figure class=\"topology\"><figcaption>{}</figcaption>", escape(&topology.caption));
    for form in &FORMS {
        draw(out, topology, &places, form);
    }
    legend(out, topology);
    for note in &topology.footnotes {
        let _ = write!(out, "<p class=\"footnote\">{}</p>", escape(note));
    }
    let table = topology.table();
    if !table.rows.is_empty() {
        out.push_str("<details><summary>Links of this drawing</summary>");
        one_table(out, &table);
        out.push_str("</details>");
    }
    out.push_str("</figure>");
}

/// Hubs and gateways in the order in which they are met from the first hub on, so that neighbours stand near each other.
fn places(topology: &Topology) -> Vec<Place> {
    let count = |node: usize| topology.links.iter().filter(|link| link.ends.contains(&node)).count();
    let is_hub = |node: usize| topology.nodes[node].is_hub;
    // A station with one link to a hub hangs on that; two stations without a hub are a place each.
    let is_leaf = |node: usize| {
        let mut others = topology.links.iter().filter(|link| link.ends.contains(&node)).map(|link| other(link, node));
        !is_hub(node) && count(node) == 1 && others.all(is_hub)
    };
    let starts = (0..topology.nodes.len()).filter(|node| is_hub(*node)).chain(0..topology.nodes.len());
    let mut found: Vec<usize> = Vec::new();
    for start in starts.filter(|node| count(*node) > 0 && !is_leaf(*node)) {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            if found.contains(&node) {
                continue;
            }
            found.push(node);
            let links = topology.links.iter().filter(|link| link.ends.contains(&node));
            let mut next: Vec<usize> = links.map(|link| other(link, node)).filter(|node| !is_leaf(*node)).collect();
            // What hangs on nothing else comes first, then by number; taken from the end.
            next.sort_by_key(|node| std::cmp::Reverse((count(*node), *node)));
            waiting.extend(next);
        }
    }
    let leaves = |node: usize| {
        let links = topology.links.iter().enumerate().filter(|(_, link)| link.ends.contains(&node));
        links.map(|(number, link)| (number, other(link, node))).filter(|(_, leaf)| is_leaf(*leaf)).collect()
    };
    found.into_iter().map(|node| Place { node, leaves: leaves(node) }).collect()
}

fn other(link: &TopologyLink, node: usize) -> usize {
    if link.ends[0] == node { link.ends[1] } else { link.ends[0] }
}

fn draw(out: &mut String, topology: &Topology, places: &[Place], form: &Form) {
    let rows = |place: &Place| place.leaves.len().div_ceil(form.columns);
    let mut tops = Vec::new();
    let mut y = 10.0;
    for place in places {
        tops.push(y);
        y += ROW_PX * rows(place).max(1) as f64 + SPACE_PX;
    }
    let _ = write!(
        out,
        "<svg class=\"plot {}\" viewBox=\"0 0 {} {y:.0}\" role=\"img\" aria-label=\"{}\">",
        form.class,
        form.width,
        escape(&topology.caption)
    );
    let place_of = |node: usize| places.iter().position(|place| place.node == node);
    let between: Vec<(&TopologyLink, usize, usize)> = (topology.links.iter())
        .filter_map(|link| {
            let [one, other] = [place_of(link.ends[0])?, place_of(link.ends[1])?];
            Some((link, one.min(other), one.max(other)))
        })
        .collect();
    arcs(out, topology, &between, &tops, form);
    for (place, top) in places.iter().zip(&tops) {
        hub(out, topology, place, *top, form);
    }
    out.push_str("</svg>");
}

/// The links between places: the longer one reaches over, the farther it stands at the left. Each has a lane of its own as long as
/// it needs one.
fn arcs(out: &mut String, topology: &Topology, between: &[(&TopologyLink, usize, usize)], tops: &[f64], form: &Form) {
    let mut order: Vec<usize> = (0..between.len()).collect();
    order.sort_by_key(|number| (between[*number].2 - between[*number].1, between[*number].1, *number));
    let mut lanes: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut lane_of = vec![0; between.len()];
    for number in order {
        let (_, from, to) = between[number];
        let is_free = |lane: &Vec<(usize, usize)>| lane.iter().all(|(begins, ends)| to <= *begins || from >= *ends);
        let lane = lanes.iter().position(is_free).unwrap_or_else(|| {
            lanes.push(Vec::new());
            lanes.len() - 1
        });
        lanes[lane].push((from, to));
        lane_of[number] = lane;
    }
    // Of many lanes each is narrower, so that all have room.
    let room = form.arcs - 18.0;
    let step = form.arc_step.min(room / lanes.len().max(1) as f64);
    let mut ports = vec![0usize; tops.len()];
    for (number, (link, from, to)) in between.iter().enumerate() {
        // Ends at one place stand below each other.
        let mut end = |place: usize| {
            ports[place] += 1;
            let total = between.iter().filter(|(_, from, to)| *from == place || *to == place).count();
            tops[place] + ROW_PX * ports[place] as f64 / (total + 1) as f64
        };
        let (y1, y2) = (end(*from), end(*to));
        let x = form.arcs - 14.0 - step * (lane_of[number] as f64 + 0.5);
        let r = 6.0f64.min((y2 - y1) / 2.0).max(0.0);
        let path = format!(
            "M{0:.1} {y1:.1}H{1:.1}Q{x:.1} {y1:.1} {x:.1} {2:.1}V{3:.1}Q{x:.1} {y2:.1} {1:.1} {y2:.1}H{0:.1}",
            form.arcs,
            x + r,
            y1 + r,
            y2 - r
        );
        let title = escape(&topology.words(link));
        let _ =
            write!(out, "<g class=\"tp-link\"><title>{title}</title><path class=\"{}\" d=\"{path}\"/>", class_of(link));
        let label = short(link);
        if form.columns > 1 && !label.is_empty() {
            let width = DIGIT_PX * label.chars().count() as f64;
            let _ = write!(
                out,
                "<text class=\"tp-use end\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                (form.arcs - 6.0).max(width),
                y2 - 4.0
            );
        }
        out.push_str("</g>");
    }
}

/// What there is room for beside a link.
fn short(link: &TopologyLink) -> String {
    match (link.busiest(), &link.fails_at) {
        (_, Some(_)) => "fails".to_owned(),
        (Some(share), None) => format!("{:.0} %", 100.0 * share),
        (None, None) => String::new(),
    }
}

fn class_of(link: &TopologyLink) -> String {
    let shade = link.busiest().map_or_else(|| "tp-plain".to_owned(), |share| format!("tp-u{}", step_of_share(share)));
    if link.fails_at.is_some() { format!("{shade} tp-fails") } else { shade }
}

fn hub(out: &mut String, topology: &Topology, place: &Place, top: f64, form: &Form) {
    let node = &topology.nodes[place.node];
    let class = match (node.is_hub, node.what.as_str()) {
        (true, "switch") => "switch",
        (true, _) => "medium",
        (false, _) => "gateway",
    };
    let what = if node.is_hub { node.what.as_str() } else { "on several segments, or linked several times" };
    let y = top + 2.0;
    let _ = write!(
        out,
        "<g><title>{}: {}, {} linked to it alone</title><rect class=\"tp-box tp-{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"20\" \
         rx=\"4\"/><text class=\"name mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        escape(&node.name),
        escape(what),
        place.leaves.len(),
        form.arcs,
        form.hub,
        form.arcs + form.hub / 2.0,
        y + 14.0,
        escape(&cut(&node.name, form.hub - 8.0))
    );
    let rows = place.leaves.len().div_ceil(form.columns);
    let left = form.arcs + form.hub;
    let room = (form.width - left) / form.columns as f64;
    for column in 0..form.columns {
        let leaves = place.leaves.iter().skip(column * rows).take(rows);
        let count = leaves.len();
        if count == 0 {
            continue;
        }
        // From the hub along its first row, then down in front of each column.
        let x = left + room * column as f64 + 12.0;
        let (from, middle) = (if column == 0 { left } else { x - room }, top + 12.0);
        let bottom = top + 12.0 + ROW_PX * (count - 1) as f64;
        let run = if column == 0 {
            format!("M{from:.1} {middle:.1}H{x:.1}V{bottom:.1}")
        } else {
            let above = top - 4.0;
            format!("M{from:.1} {middle:.1}V{above:.1}H{x:.1}V{bottom:.1}")
        };
        let _ = write!(out, "<path class=\"tp-rail\" d=\"{run}\"/>");
        for (row, (number, leaf)) in leaves.enumerate() {
            station(out, topology, (*number, *leaf), (x, top + 12.0 + ROW_PX * row as f64), room - 16.0);
        }
    }
}

/// A station at the end of its link: the upper line leads to the hub, the lower one to the station.
fn station(out: &mut String, topology: &Topology, (number, leaf): (usize, usize), (x, y): (f64, f64), room: f64) {
    const LINE: f64 = 46.0;
    let link = &topology.links[number];
    let node = &topology.nodes[leaf];
    let _ = write!(out, "<g class=\"tp-link\"><title>{}</title>", escape(&topology.words(link)));
    match link.used {
        Some(used) => {
            let [to_hub, from_hub] = if link.ends[0] == leaf { used } else { [used[1], used[0]] };
            let fails = if link.fails_at.is_some() { " tp-fails" } else { "" };
            for (share, y) in [(to_hub, y - 2.5), (from_hub, y + 2.5)] {
                let _ =
                    write!(out, "<path class=\"tp-u{}{fails}\" d=\"M{x:.1} {y:.1}h{LINE}\"/>", step_of_share(share));
            }
        }
        None => {
            let _ = write!(out, "<path class=\"{}\" d=\"M{x:.1} {y:.1}h{LINE}\"/>", class_of(link));
        }
    }
    let label = short(link);
    let use_px = if label.is_empty() { 0.0 } else { 38.0 };
    let name = cut(&node.name, room - LINE - use_px - 12.0);
    let width = DIGIT_PX * name.chars().count() as f64 + 12.0;
    let attacker = if node.what == "attacker" { " tp-attacker" } else { "" };
    let _ = write!(
        out,
        "<rect class=\"tp-box{attacker}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"18\" rx=\"3\"/>\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        x + LINE,
        y - 9.0,
        x + LINE + 6.0,
        y + 4.0,
        escape(&name)
    );
    if !label.is_empty() {
        let _ = write!(
            out,
            "<text class=\"tp-use\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            x + LINE + width + 5.0,
            y + 4.0
        );
    }
    out.push_str("</g>");
}

/// A name that fits into so many pixels.
fn cut(name: &str, room: f64) -> String {
    let most = (room / DIGIT_PX).max(3.0) as usize;
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().take(most - 1).collect();
    format!("{kept}\u{2026}")
}

fn legend(out: &mut String, topology: &Topology) {
    out.push_str("<ul class=\"legend\">");
    let mut entry = |class: &str, text: &str| {
        let _ = write!(
            out,
            "<li><svg viewBox=\"0 0 24 10\" aria-hidden=\"true\"><path class=\"{class}\" d=\"M0 5h24\"/></svg><span>{}</span></li>",
            escape(text)
        );
    };
    if topology.evidence.is_some() {
        let bounds: Vec<f64> = std::iter::once(0.0).chain(STEPS).collect();
        for (step, from) in bounds.iter().enumerate() {
            let to = bounds.get(step + 1).map_or_else(|| "and more".to_owned(), |to| format!("to {:.0} %", 100.0 * to));
            entry(&format!("tp-u{step}"), &format!("{:.0} % {to}", 100.0 * from));
        }
    }
    if topology.links.iter().any(|link| link.fails_at.is_some()) {
        entry("tp-plain tp-fails", "fails in the run");
    }
    out.push_str("</ul>");
    if let Some(evidence) = topology.evidence {
        let _ = write!(
            out,
            "<p class=\"footnote\">Colours and figures are the share of the run in which a link was used, gaps between frames included \
             ({}). Of the two lines of a station the upper one leads away from it; a figure is the greater of both directions.</p>",
            evidence.name()
        );
    }
}
