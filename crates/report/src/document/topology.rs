//! Who is linked to whom.

use serde::Serialize;

use super::{Cell, Evidence, Mark, Table, number_text};

/// A network to be drawn.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Topology {
    /// What it shows.
    pub caption: String,
    /// By number.
    pub nodes: Vec<TopologyNode>,
    /// In any order.
    pub links: Vec<TopologyLink>,
    /// Where the use of links comes from, if it is known.
    pub evidence: Option<Evidence>,
    /// Remarks below it.
    pub footnotes: Vec<String>,
}

/// A station, a switch, or a medium that several share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TopologyNode {
    /// Its name.
    pub name: String,
    /// What it is, in a word or two: `switch`, `CAN bus`.
    pub what: String,
    /// Others are linked to it: a switch, or a medium that several share. It is drawn with what hangs on it.
    pub is_hub: bool,
}

/// A link between two nodes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TopologyLink {
    /// Indices into [`Topology::nodes`].
    pub ends: [usize; 2],
    /// What it carries, with its unit; empty for a port to a medium that all share.
    pub rate: String,
    /// The share of the time that it is used, from its first end to the second and back.
    pub used: Option<[f64; 2]>,
    /// It fails, with when: `300 ms`.
    pub fails_at: Option<String>,
}

/// Shares from which on a link is drawn in the next colour, the first below all of them.
pub(crate) const STEPS: [f64; 4] = [0.1, 0.3, 0.6, 0.9];

/// Which colour a share has: 0 is the least used.
pub(crate) fn step_of_share(share: f64) -> usize {
    STEPS.iter().filter(|step| share >= **step).count()
}

impl TopologyLink {
    /// The greater of its two shares.
    pub fn busiest(&self) -> Option<f64> {
        self.used.map(|[there, back]| there.max(back))
    }
}

impl Topology {
    /// The name of a node.
    pub fn name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", |node| node.name.as_str())
    }

    /// A line for each link with a rate.
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.caption.clone()).words("link").words("rate");
        if let Some(evidence) = self.evidence {
            let what = format!("used, {}", evidence.name());
            table = table.numbers(format!("{what}, there"), "%").numbers(format!("{what}, back"), "%");
        }
        table = table.words("fails at");
        for link in self.links.iter().filter(|link| !link.rate.is_empty()) {
            let [one, other] = link.ends.map(|end| self.name(end));
            let mut cells = vec![Cell::text(format!("{one} \u{2013} {other}")), Cell::text(link.rate.clone())];
            if let Some(evidence) = self.evidence {
                let share = |direction: usize| match link.used {
                    Some(used) => Cell { kind: evidence, ..Cell::number(100.0 * used[direction], 2) },
                    None => Cell::na("nobody watched it"),
                };
                cells.extend([share(0), share(1)]);
            }
            let fails = link.fails_at.clone();
            cells.push(fails.map_or_else(|| Cell::text(""), |at| Cell::text(at).marked(Mark::Warn)));
            table.push(cells);
        }
        table.footnotes.clone_from(&self.footnotes);
        table
    }

    /// All that is to say of a link, in a line.
    pub(crate) fn words(&self, link: &TopologyLink) -> String {
        let [one, other] = link.ends.map(|end| self.name(end));
        let mut words = format!("{one} \u{2013} {other}");
        if !link.rate.is_empty() {
            words += &format!(": {}", link.rate);
        }
        if let Some([there, back]) = link.used {
            let percent = |share: f64| number_text(100.0 * share, 1);
            words += &format!(", used {} % to {other}, {} % to {one}", percent(there), percent(back));
        }
        if let Some(at) = &link.fails_at {
            words += &format!(", fails at {at}");
        }
        words
    }
}
