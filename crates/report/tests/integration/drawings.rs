//! Drawings of networks, and of where latencies go.

use chronoseal_report::{
    Block, Divided, DividedRow, Document, Evidence, Piece, Section, TerminalStyle, Topology, TopologyLink,
    TopologyNode, Verdict, Word, csv, html, terminal,
};

fn document(block: Block) -> Document {
    let verdict = Verdict { word: Word::Held, text: "Held.".into(), points: vec![] };
    let sections = vec![Section::new("Drawing").with(block)];
    Document { title: "Drawings".into(), subtitle: String::new(), verdict, sections, environment: vec![] }
}

fn link(ends: [usize; 2]) -> TopologyLink {
    TopologyLink { ends, rate: "100 Mbit/s".into(), used: Some([0.05, 0.4]), fails_at: None }
}

/// So many switches, each with so many stations, in a row or in a ring.
fn network(switches: usize, stations: usize, is_ring: bool) -> Topology {
    let node = |name: String, what: &str| TopologyNode { name, what: what.into(), is_hub: what == "switch" };
    let mut nodes: Vec<_> = (0..switches).map(|number| node(format!("switch-{number}"), "switch")).collect();
    let mut links: Vec<_> = (1..switches).map(|number| link([number - 1, number])).collect();
    links.extend((is_ring && switches > 2).then(|| link([switches - 1, 0])));
    for switch in 0..switches {
        for station in 0..stations {
            nodes.push(node(format!("station with a long name {switch}-{station}"), "station"));
            links.push(link([nodes.len() - 1, switch]));
        }
    }
    Topology {
        caption: "Who is linked to whom".into(),
        nodes,
        links,
        evidence: Some(Evidence::Simulated),
        footnotes: vec![],
    }
}

/// What stands in an attribute of an element.
fn attribute(element: &str, name: &str) -> f64 {
    let from = element.find(&format!(" {name}=\"")).expect("it has the attribute") + name.len() + 3;
    let value = &element[from..from + element[from..].find('"').expect("it ends")];
    value.trim_end_matches('%').parse().expect("it is a number")
}

/// Each drawing with its width, height and boxes.
fn drawings(page: &str) -> Vec<(f64, f64, Vec<[f64; 4]>)> {
    let figure = &page[page.find("<figure class=\"topology\">").expect("it is drawn")..];
    let figure = &figure[..figure.find("</figure>").expect("it ends")];
    let drawing = |svg: &str| {
        let size: Vec<f64> = svg["viewBox=\"0 0 ".len() + svg.find("viewBox=\"0 0 ").expect("it has a size")..]
            .split(['"', ' '])
            .take(2)
            .map(|side| side.parse().expect("a size"))
            .collect();
        let boxes = svg.split("<rect class=\"tp-box").skip(1);
        let sides = ["x", "y", "width", "height"];
        (size[0], size[1], boxes.map(|one| sides.map(|side| attribute(one, side))).collect())
    };
    figure.split("<svg class=\"plot").skip(1).map(drawing).collect()
}

#[test]
fn whatever_the_network_no_box_lies_on_another_one_and_all_are_inside() {
    for (switches, stations, is_ring) in [(1, 1, false), (1, 60, false), (4, 15, true), (12, 5, true), (30, 1, false)] {
        let topology = network(switches, stations, is_ring);
        let page = html(&document(Block::Topology(topology.clone())));
        assert_eq!(page, html(&document(Block::Topology(topology))), "the same network, the same drawing");
        let drawings = drawings(&page);
        assert_eq!(drawings.len(), 2, "one for a desktop, one for a phone");
        for (width, height, boxes) in drawings {
            assert_eq!(boxes.len(), switches * (stations + 1));
            for (number, [x, y, w, h]) in boxes.iter().enumerate() {
                assert!(
                    *x >= 0.0 && *y >= 0.0 && x + w <= width && y + h <= height,
                    "{x} {y} {w} {h} in {width} x {height}"
                );
                for [ox, oy, ow, oh] in &boxes[number + 1..] {
                    let is_apart = x + w <= *ox || ox + ow <= *x || y + h <= *oy || oy + oh <= *y;
                    assert!(is_apart, "{switches} switches: {:?} and {:?}", [x, y, w, h], [ox, oy, ow, oh]);
                }
            }
        }
    }
}

#[test]
fn every_link_says_what_it_is_and_one_that_fails_is_dashed() {
    let mut topology = network(3, 2, true);
    topology.links[1].fails_at = Some("300 ms".into());
    let page = html(&document(Block::Topology(topology.clone())));
    for link in &topology.links {
        let [one, other] = link.ends.map(|end| topology.nodes[end].name.as_str());
        let title = format!("<title>{one} \u{2013} {other}: 100 Mbit/s, used 5.0 % to {other}, 40.0 % to {one}");
        assert_eq!(page.matches(&title).count(), 2, "{title}");
    }
    assert_eq!(page.matches(", fails at 300 ms</title><path class=\"tp-u2 tp-fails\"").count(), 2);
    assert!(page.contains("fails in the run"));
    let text = terminal(&document(Block::Topology(topology.clone())), TerminalStyle::default());
    assert!(text.contains("switch-1 \u{2013} switch-2") && text.contains("300 ms"), "{text}");
    // Nobody knows how much the links of a live run were used.
    topology.evidence = None;
    topology.links.iter_mut().for_each(|link| link.used = None);
    let page = html(&document(Block::Topology(topology)));
    let is_coloured = (0..5).any(|step| page.contains(&format!("class=\"tp-u{step}")));
    assert!(!is_coloured && page.contains("class=\"tp-plain"), "no colour says what nobody knows");
}

fn divided(rows: usize) -> Divided {
    let piece = |kind, place: &str, longest, mean| Piece { kind, place: place.into(), longest, mean };
    let row = |number: usize| DividedRow {
        name: format!("stream <{number}>"),
        note: "brake".into(),
        longest: "frame 17".into(),
        n: 100,
        bound: Some(200.0 + number as f64),
        pieces: vec![
            piece(0, "a \u{2192} switch", 30.0, 10.0),
            piece(1, "brake", 70.0, 40.0),
            piece(2, "brake", 0.0, 0.0),
        ],
    };
    Divided {
        caption: "Where latencies go".into(),
        unit: "us".into(),
        kinds: ["queueing", "cryptography", "gateway"].map(str::to_owned).to_vec(),
        rows: (0..rows).map(row).collect(),
        footnotes: vec![],
    }
}

#[test]
fn pieces_of_a_bar_lie_side_by_side_and_end_where_the_frame_does() {
    let page = html(&document(Block::Divided(divided(1))));
    let rects: Vec<[f64; 2]> = page
        .split("<rect class=\"k")
        .skip(1)
        .take(4)
        .map(|one| ["x", "width"].map(|side| attribute(one, side)))
        .collect();
    // 30 and 70 of a bound of 200, then the means.
    assert_eq!(rects, [[0.0, 15.0], [15.0, 35.0], [0.0, 5.0], [5.0, 20.0]]);
    assert!(
        page.contains("<title>queueing, a \u{2192} switch: 30.00 us, 30 % of 100.0 us of frame 17</title>"),
        "{page}"
    );
    assert!(page.contains("stream &lt;0&gt;") && page.contains("x1=\"100.00%\""), "the bound is the right end");
    let legend = &page[page.find("<ul class=\"legend\">").expect("it has a legend")..];
    assert!(!legend[..legend.find("</ul>").expect("it ends")].contains("gateway"), "what takes no time has no entry");
}

#[test]
fn the_numbers_of_bars_add_up_and_none_is_left_out_of_the_data() {
    let data = csv(&document(Block::Divided(divided(50))));
    assert_eq!(data.lines().filter(|line| line.contains("frame 17")).count(), 50);
    assert!(data.contains("30,simulated,70,simulated,100,simulated,200,bounded"), "{data}");
    let page = html(&document(Block::Divided(divided(50))));
    assert!(page.contains("10 more are left out"), "of many rows the worst are drawn");
    let text = terminal(&document(Block::Divided(divided(1))), TerminalStyle::default());
    assert!(text.contains("mean of 100") && text.contains("queueing [us]"), "{text}");
}
