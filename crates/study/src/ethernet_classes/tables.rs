//! The tables of the report, and which cells have to agree.

use chronoseal_core::Duration;
use chronoseal_report::{Cell, Evidence, Mark, Table};

use super::model::{Basis, LINKS, Model, Modelled};
use super::published::{Latencies, Protocol, table1, table2};
use super::runs;

/// A cell of Table 3, from all sides.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) printed: Latencies,
    pub(super) modelled: Modelled,
    /// `None` if the study was stopped before.
    pub(super) simulated: Option<runs::Cell>,
}

/// How near a simulated value has to be to the printed one `[1]`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tolerance {
    pub(super) mean: f64,
    pub(super) sd: Option<f64>,
}

impl Compared {
    /// What is asked of this cell; `None` where nothing is.
    pub(super) fn tolerance(&self) -> Option<Tolerance> {
        let Latencies { protocol, payload, saturation, .. } = self.printed;
        match (protocol, saturation) {
            // The printed mean lies 27 us off the line that the eleven other saturated cells are on.
            (Protocol::Rc, 100) if payload == 1472 => None,
            // The noise of an idle network is one number for all sizes here, fitted to the median of the six.
            (Protocol::Rc, 0) => Some(Tolerance { mean: 0.05, sd: None }),
            (Protocol::Rc, _) => Some(Tolerance { mean: 0.05, sd: Some(0.03) }),
            (Protocol::Tte, _) => Some(Tolerance { mean: 0.15, sd: Some(0.10) }),
            (Protocol::Be, 50 | 100) => Some(Tolerance { mean: 0.20, sd: None }),
            (Protocol::Be | Protocol::Udp, _) => None,
        }
    }

    /// How far the simulated mean and standard deviation are off the printed ones `[1]`.
    pub(super) fn deviations(&self) -> Option<(f64, f64)> {
        let cell = self.simulated.as_ref()?;
        let off = |value: f64, printed: f64| value / printed - 1.0;
        Some((off(cell.mean()?, self.printed.mean), off(cell.sd()?, self.printed.sd)))
    }

    /// True if messages are lost as in the source: none, or of best effort most at the same sizes.
    pub(super) fn loses_alike(&self) -> Option<bool> {
        let cell = self.simulated.as_ref()?;
        let share = |lost: u64, n: u64| lost as f64 / n.max(1) as f64;
        let (printed, simulated) = (share(self.printed.lost, self.printed.n), share(cell.lost, cell.n()));
        // Only best effort loses any in the source: there the same sizes have to lose most of theirs.
        let is_best_effort = self.printed.protocol == Protocol::Be;
        Some(if is_best_effort {
            (printed > 0.5) == (simulated > 0.5)
        } else {
            self.printed.lost > 0 || cell.lost == 0
        })
    }

    /// What is asked of this cell and does not hold, in words.
    pub(super) fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let (Some(tolerance), Some((mean, sd))) = (self.tolerance(), self.deviations()) else { return misses };
        let Latencies { protocol, payload, saturation, .. } = self.printed;
        let place = format!("{} {payload} B at {saturation} %", protocol.name());
        if mean.abs() > tolerance.mean {
            misses.push(format!("{place}: mean {:+.1} %", mean * 100.0));
        }
        if tolerance.sd.is_some_and(|most| sd.abs() > most) {
            misses.push(format!("{place}: s.d. {:+.1} %", sd * 100.0));
        }
        if self.loses_alike() == Some(false) {
            let lost = self.simulated.as_ref().map_or(0, |cell| cell.lost);
            misses.push(format!("{place}: {lost} lost, printed {}", self.printed.lost));
        }
        misses
    }
}

/// A time; there is none where no message came.
pub(super) fn microseconds(value: Option<f64>, kind: Evidence) -> Cell {
    value.map_or_else(|| Cell::na("no message came"), |value| Cell::number(value, 1).from(kind))
}

fn stopped() -> Cell {
    Cell::na("the study was stopped before this was simulated")
}

fn modelled(value: Option<f64>, basis: Basis) -> Cell {
    let Some(value) = value else { return Cell::na("the model says nothing of this cell") };
    let title = if basis == Basis::Fitted { "fitted to this cell and its neighbours" } else { "predicted" };
    let text = if basis == Basis::Fitted { format!("({value:.1})") } else { format!("{value:.1}") };
    Cell { text, ..Cell::number(value, 1).from(Evidence::Derived).titled(title) }
}

fn judged(value: f64, within: Option<f64>) -> Cell {
    let cell =
        Cell { text: format!("{:+.1}", value * 100.0), ..Cell::number(value * 100.0, 1).from(Evidence::Simulated) };
    match within {
        Some(most) if value.abs() <= most => cell.marked(Mark::Good),
        Some(_) => cell.marked(Mark::Bad),
        None => cell,
    }
}

/// Table 3 of one protocol.
pub(super) fn third(protocol: Protocol, all: &[Compared]) -> Table {
    let mut table = Table::new(format!(
        "Table 3, {}: one-way latencies, printed (P), modelled (D; in brackets where parameters were fitted to the cell) and simulated (S)",
        protocol.name()
    ))
    .numbers("load", "%")
    .numbers("payload", "B")
    .numbers("N P", "")
    .numbers("N S", "")
    .numbers("lost P", "")
    .numbers("lost S", "")
    .numbers("mean P", "us")
    .numbers("mean D", "us")
    .numbers("mean S", "us")
    .numbers("S to P", "%")
    .numbers("s.d. P", "us")
    .numbers("s.d. D", "us")
    .numbers("s.d. S", "us")
    .numbers("S to P", "%");
    for note in notes(protocol) {
        table = table.footnote(*note);
    }
    let mut rows: Vec<&Compared> = all.iter().filter(|cell| cell.printed.protocol == protocol).collect();
    rows.sort_by_key(|cell| (cell.printed.saturation, cell.printed.payload));
    for cell in rows {
        table.push(row(cell));
    }
    table
}

fn row(cell: &Compared) -> Vec<Cell> {
    let (printed, simulated) = (&cell.printed, cell.simulated.as_ref());
    let (tolerance, deviations) = (cell.tolerance(), cell.deviations());
    let number =
        |value: Option<f64>| value.map_or_else(stopped, |value| Cell::number(value, 1).from(Evidence::Simulated));
    let lost = simulated.map_or_else(stopped, |simulated| {
        let found = Cell::count(simulated.lost).from(Evidence::Simulated);
        match cell.loses_alike().filter(|_| tolerance.is_some()) {
            Some(true) => found.marked(Mark::Good),
            Some(false) => found.marked(Mark::Bad),
            None => found,
        }
    });
    vec![
        Cell::count(u64::from(printed.saturation)),
        Cell::count(u64::from(printed.payload)),
        Cell::count(printed.n).from(Evidence::Printed),
        simulated.map_or_else(stopped, |cell| Cell::count(cell.n()).from(Evidence::Simulated)),
        Cell::count(printed.lost).from(Evidence::Printed),
        lost,
        Cell::number(printed.mean, 2).from(Evidence::Printed),
        modelled(cell.modelled.mean, cell.modelled.mean_basis),
        number(simulated.and_then(runs::Cell::mean)),
        deviations.map_or_else(stopped, |(mean, _)| judged(mean, tolerance.map(|tolerance| tolerance.mean))),
        Cell::number(printed.sd, 2).from(Evidence::Printed),
        modelled(cell.modelled.sd, cell.modelled.sd_basis),
        number(simulated.and_then(runs::Cell::sd)),
        deviations.map_or_else(stopped, |(_, sd)| judged(sd, tolerance.and_then(|tolerance| tolerance.sd))),
    ]
}

fn notes(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::Tte => &[
            "Nothing is fitted to this table but the drift of the application, 500 ppm, by which a thousand messages meet the slots in every phase. The source names no drift.",
            "Not explained: 64 B at 50 % lies 117 us above the model, and the means of an idle network 27 us above it on average; the standard error of a mean is 9 us.",
        ],
        Protocol::Rc => &[
            "A virtual link with a bandwidth allocation gap of 1 ms, regulated and policed, and a message in every second gap. The last byte of each message is its sequence number.",
            "The host interface's times and the driver's noise are fitted to the idle network. All that is saturated is predicted. The 6.01 us of 1472 B on an idle network and the mean of 1472 B at 100 %, 27 us below all others, are not explained.",
        ],
        Protocol::Be => &[
            "The host interface's time for a frame is fitted to the idle network, its buffer of 85 kB to the saturated means. Which sizes are lost follows.",
            "The sizes that lose most of their messages are those of the source. How many of the others are lost depends on what is left of the buffer when no further flood frame fits, and so on its size to the byte, and on the gaps in the flood; neither is known. The source lost none up to 256 B and 3 % at 512 B, and here it is more. That a size counts as lost where more than half of its messages are, the buffer within 78 to 92 kB, and that no thread oversleeps by more than 300 us, were chosen after both tables had been seen.",
            "The flood comes of three threads that oversleep by 60 us on average, as the source says of nanosleep(); here each packet of a burst is late by itself, and theirs were late together. Of the sizes up to 512 B that spreads the latencies 1.0 to 1.8 times as much as the source's. Of the longer ones few find room, some of them in the first milliseconds while the buffer fills; their spread is not explained.",
        ],
        Protocol::Udp => &[
            "The driver's time is fitted to 64 B on an idle network; it is a delay that keeps no other frame, and it takes no time for a byte. A store-and-forward switch adds 0.016 us for each byte, and the source measured 0.008 us: its switch may cut through.",
            "Not explained: latencies on a saturated network, which have two levels, and are below those of an idle one up to 256 B at 100 %.",
        ],
    }
}

/// The parameters of model and simulation, and where they come from.
pub(super) fn parameters(model: &Model) -> Table {
    let mut table = Table::new("Parameters of the model, and what they were fitted to")
        .words("parameter")
        .numbers("value", "")
        .words("unit")
        .words("from");
    let slope = |of: f64| (of, "us/B");
    let rows: [(&str, (f64, &str), &str); 10] = [
        ("L(n) of RC, for any message", (model.rc.base, "us"), "fitted to 6 means: RC, idle"),
        ("L(n) of RC, for each byte", slope(model.rc.slope), "fitted to the same"),
        ("L(n) of BE, for any message", (model.be.base, "us"), "fitted to 6 means: BE, idle"),
        ("L(n) of BE, for each byte", slope(model.be.slope), "fitted to the same"),
        ("L(n) of UDP, for any message", (model.udp.base, "us"), "fitted to 6 means: UDP, idle"),
        ("L(n) of UDP, for each byte", slope(model.udp.slope), "fitted to the same"),
        ("noise of an idle network (s.d.)", (model.noise, "us"), "the median of 6 standard deviations: RC, idle"),
        ("copy of a flood frame W", (model.copy(), "us"), "predicted: 1518 B at the slope of RC without the links"),
        (
            "a thread of the flood oversleeps by, mean",
            (60.0, "us"),
            "printed: the overhead of nanosleep(), with us in place of ms",
        ),
        ("queue of a full buffer Q", (model.queue, "us"), "fitted to 12 means: BE, saturated"),
    ];
    for (name, (value, unit), from) in rows {
        table.push(vec![
            Cell::text(name),
            Cell::number(value, if unit == "us" { 1 } else { 4 }).from(Evidence::Derived),
            Cell::text(unit),
            Cell::text(from),
        ]);
    }
    table.footnote(format!(
        "Three store-and-forward links of 1 Gbit/s take {LINKS:.3} us for a byte, twice that if only every second cycle were for the message, as the source suspects. \
         The rest, {:.4} us/B, is {:.2} us for a word of 32 bits: the cost of reads across PCIe, one by one.",
        model.rc.slope - LINKS,
        4.0 * (model.rc.slope - LINKS)
    ))
}

/// Table 1, of which nothing can be computed.
pub(super) fn first() -> Table {
    let mut table = Table::new("Table 1: what reading a clock takes on the source's test master, a million times")
        .words("clock source")
        .numbers("mean", "ns")
        .numbers("median", "ns")
        .numbers("s.d.", "ns")
        .numbers("min", "ns")
        .numbers("max", "ns")
        .footnote("Measured by the source with a thread of high priority on a processor of its own, as its footnote to the mean says. A simulation has no such clock.");
    for source in table1() {
        let mut row = vec![Cell::text(source.name)];
        row.extend(source.latencies.map(|value| Cell::number(value, 0).from(Evidence::Printed)));
        table.push(row);
    }
    table
}

/// Table 2 with its intervals recomputed.
pub(super) fn second() -> Table {
    let mut table = Table::new("Table 2: the flood, printed (P) and recomputed (R) from 1538 bytes a packet at 1 Gbit/s")
        .numbers("load", "%")
        .numbers("rate P", "Mbit/s")
        .numbers("interval P", "us")
        .numbers("interval R", "us")
        .numbers("burst of ten P", "us")
        .numbers("burst of ten R", "us")
        .footnote("1472 bytes, 8 of UDP, 20 of IPv4, 38 of Ethernet. At 100 % the recomputed interval is the wire's own: with messages besides, it is asked for more than it carries. Each thread of the simulated flood leaves a burst every 381 us, which is 97 %.");
    for row in table2() {
        // A packet with all that it keeps the wire for, in picoseconds of one at full rate.
        let interval = Duration::from_ns(1538 * 8).as_us_f64() * 1000.0 / row.rate;
        table.push(vec![
            Cell::count(u64::from(row.percent)),
            Cell::number(row.rate, 0).from(Evidence::Printed),
            Cell::number(row.interval, 1).from(Evidence::Printed),
            Cell::number(interval, 3).from(Evidence::Recomputed),
            Cell::number(row.burst, 0).from(Evidence::Printed),
            Cell::number(interval * 10.0, 1).from(Evidence::Recomputed),
        ]);
    }
    table
}
