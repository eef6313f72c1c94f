//! What is to be known of a lossy link.

use chronoseal_analysis::segment::{BOUNDS, SegmentBounds};
use chronoseal_plan::{Link, LinkTransport, Plan, SegmentId};
use chronoseal_report::{Block, Cell, Evidence, Section, Table};

/// Of the times that messages take: their names, and the share of messages that has come by then.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// The messages on a link, and what each sender asks of it.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Vec<Section>> {
    let view = Link::of(plan, segment)?;
    let laws = &view.segment.laws;
    let (mean, deviation) = laws.delay.moments_ns();
    let text = format!(
        "Delays have a mean of {:.3} ms and a deviation of {:.3} ms; {:.2} % of packets never come.",
        mean / 1e6,
        deviation / 1e6,
        laws.loss.share() * 100.0,
    );
    let mut messages = Table::new("Messages")
        .words("stream")
        .words("over")
        .numbers("message", "B")
        .numbers("packets", "")
        .numbers("at the rate", "us")
        .numbers("all of it comes", "%");
    let mut times = Table::new("What the link alone takes of a message that comes")
        .words("stream")
        .numbers("mean", "ms")
        .numbers("deviation", "ms");
    for (name, _) in QUANTILES {
        times = times.numbers(name, "ms");
    }
    times = times.footnote(
        "Until the last of its packets has come, sent to an idle interface: no other message waits there, and no kernel or processor takes time. \
         A percentile is no bound: the rest of the messages takes longer.",
    );
    for (_, stream, _, facet) in view.streams() {
        let packets = facet.cut.fragments();
        let whole = match facet.transport {
            LinkTransport::Udp => match view.whole(facet) {
                Ok(share) => Cell::number(share * 100.0, 2),
                Err(why) => Cell::na(why.to_string()),
            },
            over @ (LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic) => {
                Cell::na(format!("over {} what is lost is sent again, and takes longer", over.title()))
            }
            LinkTransport::Program => Cell::na("what programs do with a packet that is lost is theirs"),
        };
        let law = view.last_packet(stream, facet);
        let mut row = vec![Cell::text(&stream.name)];
        match &law {
            Ok(_) if view.whole(facet) == Ok(0.0) => row.extend((0..5).map(|_| Cell::na("no message comes"))),
            Err(why) => row.extend((0..5).map(|_| Cell::na(why.to_string()))),
            Ok(law) => {
                let (mean, deviation) = law.moments_ns();
                let quantiles = QUANTILES.map(|(_, share)| law.quantile_ns(share));
                row.extend(
                    [mean, deviation]
                        .into_iter()
                        .chain(quantiles)
                        .map(|ns| Cell::number(ns / 1e6, 3).from(Evidence::Recomputed)),
                );
            }
        }
        times.push(row);
        messages.push(vec![
            Cell::text(&stream.name),
            Cell::text(facet.carrier()),
            Cell::count(stream.length.into()),
            Cell::count(packets as u64),
            Cell::number(view.sending_time(facet).as_us_f64(), 3),
            whole,
        ]);
    }
    let mut section = Section::new("Link").with(Block::Text(text)).with(Block::Table(messages));
    let row: &&dyn SegmentBounds = BOUNDS.iter().find(|row| row.kind() == plan.segments[segment.index()].kind)?;
    let loads = row.loads(plan, segment);
    if laws.rate.is_some() && !loads.is_empty() {
        let mut table =
            Table::new("What each station sends, of what the link carries").words("station").numbers("load", "%");
        for load in loads {
            let from = load.ends.map_or_else(String::new, |[from, _]| plan.node_name(from));
            table.push(vec![Cell::text(from), Cell::number(load.share.ppm() as f64 / 1e4, 1)]);
        }
        section = section.with(Block::Table(table));
    }
    Some(vec![section.with(Block::Table(times))])
}
