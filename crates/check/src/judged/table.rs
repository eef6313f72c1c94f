//! What is judged, as tables.

use chronoseal_report::{Block, Cell, Evidence, Mark, Section, Table, Word};

use super::{Judged, Judgement, PartReport, QueueReport, shown};

impl Judgement {
    /// The pages of a document.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut sections = vec![
            Section::new("From end to end")
                .with(Block::Text(
                    "From the instant at which a frame is due, or its slot starts, to the instant at which the \
                     receiver's application has it, checked. Processors are never idle while they have work, and serve in \
                     any order; clocks drift as the scenario says. Key exchanges, errors of the wire, and attackers but \
                     those that babble or delay on the links of an Ethernet are left out of the figures: simulate for those."
                        .into(),
                ))
                .with(Block::Table(self.table())),
        ];
        if !self.queues.is_empty() {
            sections.push(Section::new("Queues of gateways").with(Block::Table(self.queue_table())));
        }
        sections
    }

    fn table(&self) -> Table {
        let mut table = Table::new("Every stream at each of its receivers, in the worst case")
            .words("stream")
            .words("receiver")
            .numbers("bound", "us")
            .numbers("deadline", "us")
            .words("holds")
            .words("where the time goes, in us")
            .footnote("A segment counts with the driver of the node that sends there, and with the wait for a slot.");
        if self.ends.iter().any(|end| end.deadline_kind == "age") {
            table = table.footnote(
                "A deadline marked `age` limits how old the receiver's value becomes: the bound and a period more.",
            );
        }
        if self.ends.iter().any(|end| end.by_radio && end.parts.len() > 1) {
            table = table
                .footnote("What is behind a radio is bounded from the instant at which the radio received a message.");
        }
        for assumption in &self.assumptions {
            table = table.footnote(assumption);
        }
        for end in &self.ends {
            table.push(end.row());
        }
        table
    }

    fn queue_table(&self) -> Table {
        let mut table = Table::new("Frames that wait in a gateway for a segment, at most")
            .words("gateway")
            .words("segment")
            .numbers("waiting", "")
            .numbers("room", "")
            .words("holds");
        for queue in &self.queues {
            table.push(queue.row());
        }
        table
    }
}

/// The word in a row; only what is held is marked as good.
fn word_cell(word: Word, why: Option<&str>) -> Cell {
    let mark = match word {
        Word::Held => Mark::Good,
        Word::NotChecked | Word::NotProven => Mark::Warn,
        Word::Worse | Word::Broken | Word::Failed => Mark::Bad,
    };
    Cell::text(shown(word)).marked(mark).titled(why.unwrap_or_default())
}

impl Judged {
    fn row(&self) -> Vec<Cell> {
        let bound = match self.bound_ns {
            Some(ns) => Cell::number(ns / 1e3, 1).from(Evidence::Bounded),
            None => Cell::na(self.why.clone().or(self.no_bound.clone()).unwrap_or_default()),
        };
        let no_deadline = || Cell::na(self.no_deadline.clone().unwrap_or_default());
        let mut deadline = self.deadline_ns.map_or_else(no_deadline, |ns| Cell::number(ns / 1e3, 1));
        if self.deadline_ns.is_some() && self.deadline_kind == "age" {
            deadline.text += " (age)";
        }
        let word = word_cell(self.word, self.why.as_deref());
        vec![Cell::text(&self.stream), Cell::text(&self.receiver), bound, deadline, word, Cell::text(self.way())]
    }

    /// Why it is not held, and where its time goes.
    fn way(&self) -> String {
        let listed = |parts: &mut dyn Iterator<Item = &PartReport>| -> Vec<String> {
            let parts = parts.filter(|part| part.max_ns > 0.0);
            parts.map(|part| format!("{} {:.1}", part.place, part.max_ns / 1e3)).collect()
        };
        // The first part is the sender's, and a radio comes right after it.
        let behind = listed(&mut self.parts.iter().skip(1).filter(|_| self.by_radio)).join(" + ");
        let way = match &self.no_bound {
            Some(why) if !behind.is_empty() => format!("no bound: {why}; behind it {behind}"),
            Some(why) => format!("no bound: {why}"),
            None => listed(&mut self.parts.iter()).join(" + "),
        };
        match &self.why {
            Some(why) if self.no_bound.as_ref().is_none_or(|known| !why.contains(known.as_str())) => match way.as_str()
            {
                "" => why.clone(),
                way => format!("{why}; {way}"),
            },
            _ => way,
        }
    }
}

impl QueueReport {
    fn row(&self) -> Vec<Cell> {
        let waiting = match self.frames_max {
            Some(frames) => Cell::count(frames).from(Evidence::Bounded),
            None => Cell::na("a stream that waits in it has no bound"),
        };
        let word = word_cell(self.word, self.why.as_deref());
        vec![Cell::text(&self.gateway), Cell::text(&self.segment), waiting, Cell::count(self.room_frames), word]
    }
}
