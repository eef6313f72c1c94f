//! What the source wished for, suspected or left open, simulated.

use std::sync::atomic::AtomicBool;

use chronoseal_report::{Cell, Evidence, Table};

use super::model::{LINKS, Model};
use super::published::{PAYLOADS, Protocol, SATURATIONS};
use super::runs::{self, Class, Question};
use super::tables::Compared;
use crate::StudyError;

/// Data ready 10 us before the slot, which is at 100 us.
const IN_STEP: &[(&str, &str)] =
    &[("streams.message.application.phase", "90us"), ("streams.message.application.drift", "0ppm")];
/// Data oftener than there are slots.
const TOO_OFTEN: &[(&str, &str)] = &[("streams.message.application.period", "900us")];
/// Data ready 10 us before the window, which is at 100 us.
const GATED_IN_STEP: &[(&str, &str)] = &[("streams.message.offset", "90us"), ("nodes.es1.clock", "ideal")];
/// Every byte made, and a tag on each message.
const TAGGED: &[(&str, &str)] = &[("fidelity", "bytes"), ("streams.message.protection", "tagged")];
const TAGGED_IN_STEP: &[(&str, &str)] = &[TAGGED[0], TAGGED[1], IN_STEP[0], IN_STEP[1]];
/// Keys on every link.
const LINKS_KEYED: (&str, &str) =
    ("segments.network.ethernet.macsec", "{ protect = { base = \"500ns\" }, check = { base = \"500ns\" } }");
const KEYED: &[(&str, &str)] = &[LINKS_KEYED];
/// A slot has to stay open for as much longer: `check` says by how much.
const KEYED_IN_STEP: &[(&str, &str)] =
    &[LINKS_KEYED, ("segments.network.ethernet.guard_period", "3us"), IN_STEP[0], IN_STEP[1]];

/// Payloads for the tables beside Table 3 `[byte]`.
const SOME: [u32; 3] = [64, 512, 1024];

/// Messages without and with something that protects them: class, load, payload.
type Pair = (&'static str, u32, u32, [Option<runs::Cell>; 2]);

/// What was asked besides.
pub(super) struct Further {
    /// By load and payload.
    in_step: Vec<(u32, u32, Option<runs::Cell>)>,
    /// By load and payload: the application by its own time, and in step.
    gated: Vec<(u32, u32, [Option<runs::Cell>; 2])>,
    /// Without and with a tag, and without and with keys on every link.
    tagged: Vec<Pair>,
    keyed: Vec<Pair>,
    too_often: Option<runs::Cell>,
}

impl Further {
    pub(super) fn ask(seed: u64, stop: &AtomicBool, progress: &mut dyn FnMut(f64, &str)) -> Result<Self, StudyError> {
        let ask = |class, payload, saturation, sets| Question { class, payload, saturation, seed, sets }.ask(stop);
        progress(0.0, "simulating TTE with the application in step");
        let mut in_step = Vec::new();
        for saturation in SATURATIONS {
            for payload in PAYLOADS {
                in_step.push((saturation, payload, ask(Class::Printed(Protocol::Tte), payload, saturation, IN_STEP)?));
            }
        }
        progress(0.3, "simulating TSN in place of TTE");
        let mut gated = Vec::new();
        for saturation in SATURATIONS {
            for payload in PAYLOADS {
                let both =
                    [ask(Class::Tsn, payload, saturation, &[])?, ask(Class::Tsn, payload, saturation, GATED_IN_STEP)?];
                gated.push((saturation, payload, both));
            }
        }
        progress(0.7, "simulating authentication");
        let (mut tagged, mut keyed) = (Vec::new(), Vec::new());
        let classes: [(&'static str, Protocol, [&[_]; 3]); 3] = [
            ("TTE, in step", Protocol::Tte, [IN_STEP, TAGGED_IN_STEP, KEYED_IN_STEP]),
            ("RC", Protocol::Rc, [&[], TAGGED, KEYED]),
            ("BE", Protocol::Be, [&[], TAGGED, KEYED]),
        ];
        for (name, protocol, [plain, with_tag, with_keys]) in classes {
            let class = Class::Printed(protocol);
            for saturation in [0, 100] {
                for payload in SOME {
                    let plain = ask(class, payload, saturation, plain)?;
                    let both = |with| Ok::<_, StudyError>([plain.clone(), ask(class, payload, saturation, with)?]);
                    tagged.push((name, saturation, payload, both(with_tag)?));
                    keyed.push((name, saturation, payload, both(with_keys)?));
                }
            }
        }
        progress(0.95, "simulating data oftener than slots");
        let too_often = ask(Class::Printed(Protocol::Tte), 512, 0, TOO_OFTEN)?;
        Ok(Self { in_step, gated, tagged, keyed, too_often })
    }

    /// Table 3 of TTE once more.
    pub(super) fn synchronised(&self) -> Table {
        let mut table = Table::new("TTE with the application in step with its slots, simulated")
            .numbers("load", "%")
            .numbers("payload", "B")
            .numbers("N", "")
            .numbers("lost", "")
            .numbers("mean", "us")
            .numbers("s.d.", "us")
            .numbers("least", "us")
            .numbers("greatest", "us")
            .footnote("The latency counts from when the data were ready. What is left of the spread on a saturated network is the flood frame that the host interface is copying, on the receiver's side of a network that is exact to the nanosecond.");
        for (saturation, payload, cell) in &self.in_step {
            let mut row = vec![Cell::count(u64::from(*saturation)), Cell::count(u64::from(*payload))];
            row.extend(of_cell(cell.as_ref()));
            table.push(row);
        }
        table
    }

    /// Gates in place of slots, beside the simulated slots.
    pub(super) fn gated(&self, cells: &[Compared]) -> Table {
        let mut table = Table::new("Class 7 behind gates, simulated, beside TTE")
            .numbers("load", "%")
            .numbers("payload", "B")
            .numbers("N", "")
            .numbers("lost", "")
            .numbers("mean", "us")
            .numbers("s.d.", "us")
            .numbers("mean of TTE", "us")
            .numbers("s.d. of TTE", "us")
            .numbers("lost in step", "")
            .numbers("mean in step", "us")
            .numbers("s.d. in step", "us")
            .footnote("TTE is simulated, too, with an application that keeps its own time. Both spread by the same cause: what carries the frame does not know when the application has it.");
        for (saturation, payload, [own, in_step]) in &self.gated {
            let tte = cells.iter().find(|cell| {
                let row = &cell.printed;
                (row.protocol, row.saturation, row.payload) == (Protocol::Tte, *saturation, *payload)
            });
            let tte = of_cell(tte.and_then(|cell| cell.simulated.as_ref()));
            let mut row = vec![Cell::count(u64::from(*saturation)), Cell::count(u64::from(*payload))];
            row.extend(of_cell(own.as_ref()).into_iter().take(4));
            row.extend(tte.into_iter().skip(2).take(2));
            row.extend(of_cell(in_step.as_ref()).into_iter().skip(1).take(3));
            table.push(row);
        }
        table
    }

    /// What a tag adds.
    pub(super) fn authenticated(&self) -> Table {
        compared("Without and with a tag on each message, simulated", &self.tagged)
    }

    /// What MACsec adds.
    pub(super) fn protected_links(&self) -> Table {
        compared("Without and with MACsec on each link, simulated", &self.keyed)
    }

    /// What the source says about causes, and what is found.
    pub(super) fn explanations(&self, cells: &[Compared], model: &Model) -> Table {
        let mut table = Table::new("What the source explains or suspects, and what the figures say")
            .words("the source")
            .words("found");
        let mean_of = |protocol: Protocol, saturation: u32, of: &dyn Fn(&runs::Cell) -> Option<f64>| {
            let all: Vec<f64> = cells
                .iter()
                .filter(|cell| cell.printed.protocol == protocol && cell.printed.saturation == saturation)
                .filter_map(|cell| of(cell.simulated.as_ref()?))
                .collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let text = |value: Option<f64>| value.map_or("(stopped)".to_owned(), |value| format!("{value:.1}"));
        let free = self.in_step.iter().filter(|(saturation, ..)| *saturation == 0);
        let in_step: Vec<f64> = free.filter_map(|(.., cell)| cell.as_ref()?.sd()).collect();
        let in_step = (!in_step.is_empty()).then(|| in_step.iter().sum::<f64>() / in_step.len() as f64);
        let added = mean_of(Protocol::Rc, 100, &runs::Cell::mean)
            .zip(mean_of(Protocol::Rc, 0, &runs::Cell::mean))
            .map(|(full, idle)| full - idle);
        let replaced = self.too_often.as_ref().map(|cell| 100.0 * cell.lost as f64 / cell.n().max(1) as f64);
        let udp = cells.iter().filter(|cell| cell.printed.protocol == Protocol::Udp && cell.printed.saturation == 100);
        let udp_lost: u64 = udp.filter_map(|cell| Some(cell.simulated.as_ref()?.lost)).sum();
        let rows = [
            (
                "RC and BE grow with the payload because the raster leaves them every second cycle of the switch.",
                format!(
                    "No. Every second cycle would double the {LINKS:.3} us/B of the links; the slope is {:.4} us/B, twelve times as much.",
                    model.rc.slope
                ),
            ),
            (
                "TTE spreads because application and network are not synchronised.",
                format!(
                    "Yes. Simulated standard deviations of an idle network: {} us on average, and {} us with the application in step.",
                    text(mean_of(Protocol::Tte, 0, &runs::Cell::sd)),
                    text(in_step)
                ),
            ),
            (
                "If the application sends several messages in one cycle, only the last is transmitted.",
                format!("Yes. With data every 900 us and slots every 1000 us, {} % are replaced by newer ones.", text(replaced)),
            ),
            (
                "Saturation adds to RC about half of the BAG of 1 ms.",
                format!(
                    "It adds {} us simulated, and 176 to 210 us printed: half of the copy of one flood frame, {:.0} us, whatever the BAG is.",
                    text(added),
                    model.copy() / 2.0
                ),
            ),
            (
                "Saturation takes TTE to the period of its virtual link, its theoretical maximum.",
                "The maximum of the wait for a slot is the period; the copy on both sides of the network comes on top, with or without load.".into(),
            ),
            (
                "The cause of the high latency of BE on a saturated network is open.",
                format!(
                    "The buffer of the host interface is full: {:.0} flood frames of {:.0} us are before each message that finds room.",
                    model.queue / model.copy(),
                    model.copy()
                ),
            ),
            (
                "A plain switch may serve its incoming buffers in turn, so that UDP loses nothing at 100 %.",
                format!(
                    "Not needed: a switch with one queue loses {udp_lost} of 6000 simulated messages as long as flood and messages together fit on the link, which 97 % and 0.6 % do."
                ),
            ),
        ];
        for (said, found) in rows {
            table.push(vec![Cell::text(said), Cell::text(found)]);
        }
        table
    }
}

fn of_cell(cell: Option<&runs::Cell>) -> Vec<Cell> {
    let stopped = || Cell::na("the study was stopped before this was simulated");
    let Some(cell) = cell else { return (0..6).map(|_| stopped()).collect() };
    let number = |value: Option<f64>| {
        let none = || Cell::na("nothing was accepted");
        value.map_or_else(none, |value| Cell::number(value, 1).from(Evidence::Simulated))
    };
    let count = |value| Cell::count(value).from(Evidence::Simulated);
    vec![
        count(cell.n()),
        count(cell.lost),
        number(cell.mean()),
        number(cell.sd()),
        number(cell.latencies.iter().copied().min_by(f64::total_cmp)),
        number(cell.latencies.iter().copied().max_by(f64::total_cmp)),
    ]
}

fn compared(title: &str, pairs: &[Pair]) -> Table {
    let mut table = Table::new(title)
        .words("class")
        .numbers("load", "%")
        .numbers("payload", "B")
        .numbers("mean without", "us")
        .numbers("mean with", "us")
        .numbers("added", "us")
        .numbers("s.d. without", "us")
        .numbers("s.d. with", "us")
        .numbers("lost without", "")
        .numbers("lost with", "");
    let number = |value: Option<f64>| {
        let stopped = || Cell::na("the study was stopped before this was simulated");
        value.map_or_else(stopped, |value| Cell::number(value, 1).from(Evidence::Simulated))
    };
    for (name, saturation, payload, [plain, secured]) in pairs {
        let mean = |cell: &Option<runs::Cell>| cell.as_ref().and_then(runs::Cell::mean);
        let sd = |cell: &Option<runs::Cell>| cell.as_ref().and_then(runs::Cell::sd);
        let lost = |cell: &Option<runs::Cell>| match cell {
            Some(cell) => Cell::count(cell.lost).from(Evidence::Simulated),
            None => number(None),
        };
        table.push(vec![
            Cell::text(*name),
            Cell::count(u64::from(*saturation)),
            Cell::count(u64::from(*payload)),
            number(mean(plain)),
            number(mean(secured)),
            number(mean(secured).zip(mean(plain)).map(|(with, without)| with - without)),
            number(sd(plain)),
            number(sd(secured)),
            lost(plain),
            lost(secured),
        ]);
    }
    table
}
