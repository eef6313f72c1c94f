//! The tables and pictures of the study.

use chronoseal_middleware::{Adapter, Configuration, Data, Measured, NETWORKS, Network, Packets, loss_cell, range_row};
use chronoseal_report::{Cell, Evidence, Mark, Ranges, Table};

use super::cells::Cells;
use super::law;
use super::published::Printed;

/// The configurations of the source in its order, then those of today.
fn ordered<'a>(all: &'a [Adapter], printed: &[Printed]) -> Vec<&'a Configuration> {
    let mut found: Vec<&Configuration> = all.iter().flat_map(|adapter| &adapter.configurations).collect();
    let place = |configuration: &Configuration| {
        let name = configuration.published.as_deref();
        printed.iter().position(|cell| Some(cell.configuration) == name).unwrap_or(usize::MAX)
    };
    found.sort_by_key(|configuration| place(configuration));
    found
}

fn printed_of<'a>(printed: &'a [Printed], one: &Configuration, data: &str, network: Network) -> Option<&'a Printed> {
    let name = one.published.as_deref()?;
    printed.iter().find(|cell| (cell.configuration, cell.data, cell.network) == (name, data, network.profile))
}

/// Tables 1 to 3: mean and deviation printed and measured, with what the network alone takes.
pub(super) fn latency(all: &[Adapter], data: &Data, cells: &Cells, printed: &[Printed]) -> Table {
    let mut table = Table::new(format!("Latency of {} B every {:.2}", data.length, data.period))
        .words("configuration")
        .words("network");
    for name in ["printed mean", "printed s.d.", "mean", "s.d.", "p50", "p99", "network alone"] {
        table = table.numbers(name, "us");
    }
    table = table.numbers("overload", "times").footnote(
        "Network alone: the mean of the emulated delay and the bits of the message at the link's rate, where a message is one packet. \
         Overload: how many times more the data ask for than the link carries.",
    );
    for configuration in ordered(all, printed) {
        for network in NETWORKS {
            let mut row = vec![Cell::text(&configuration.name).titled(&configuration.title), Cell::text(network.title)];
            row.extend(printed_cells(configuration, printed_of(printed, configuration, &data.name, network)));
            row.extend(measured_cells(cells.get(&configuration.name, &data.name, network.profile)));
            row.push(law::mean(data, network, Packets::Large).map_or_else(
                || Cell::na("the network adds nothing, or a message is several packets"),
                |mean| Cell::number(mean, 0).from(Evidence::Recomputed),
            ));
            row.push(data.overload(network).map_or_else(
                || Cell::na("the link carries it"),
                |times| Cell::number(times, 2).from(Evidence::Recomputed).marked(Mark::Warn),
            ));
            table.push(row);
        }
    }
    table
}

fn printed_cells(configuration: &Configuration, printed: Option<&Printed>) -> [Cell; 2] {
    match (printed, &configuration.published) {
        (_, None) => [0; 2].map(|_| Cell::na("the source has no such configuration")),
        (None, Some(_)) => [0; 2].map(|_| Cell::na("the source has no such row")),
        (Some(printed), Some(_)) => match printed.latency {
            None => [0; 2].map(|_| Cell::na("printed as not available")),
            Some((mean, deviation)) => [mean, deviation].map(|value| Cell::number(value, 0).from(Evidence::Printed)),
        },
    }
}

fn measured_cells(measured: Result<Measured, &str>) -> [Cell; 4] {
    let measured = match measured {
        Ok(measured) => measured,
        Err(why) => return [0; 4].map(|_| Cell::na(why)),
    };
    let Some(latency) = &measured.latency else {
        let why = measured.trouble.clone().unwrap_or_else(|| "nothing came".into());
        return [0; 4].map(|_| Cell::na(why.as_str()).marked(Mark::Bad));
    };
    let us = |ns: Option<f64>| match ns {
        Some(ns) => Cell::number(ns / 1e3, 0).from(Evidence::Measured),
        None => Cell::na("too few messages for it"),
    };
    let cells = [
        us(Some(latency.mean_ns)),
        us(measured.deviation_ns),
        us(latency.p50_ns.map(|ns| ns as f64)),
        us(latency.p99_ns.map(|ns| ns as f64)),
    ];
    match &measured.trouble {
        None => cells,
        Some(trouble) => cells.map(|cell| cell.marked(Mark::Warn).titled(trouble)),
    }
}

/// Table 4.
pub(super) fn loss(all: &[Adapter], cells: &Cells, printed: &[Printed]) -> Table {
    let mut table = Table::new("Messages lost, and what was due").words("configuration").words("data");
    for network in NETWORKS {
        table = table
            .numbers(format!("{}, printed", network.title), "%")
            .numbers(format!("{}, measured", network.title), "%")
            .words(format!("{}, came of due", network.title));
    }
    table = table.footnote(
        "Measured: never came and a later one did, was altered, or was not sent because its publisher was held up. What was under way when a run \
         ended counts neither way.",
    );
    for configuration in ordered(all, printed) {
        for data in Data::recorded() {
            let mut row = vec![Cell::text(&configuration.name).titled(&configuration.title), Cell::text(&data.name)];
            for network in NETWORKS {
                row.push(printed_of(printed, configuration, &data.name, network).map_or_else(
                    || Cell::na("the source has no such configuration"),
                    |printed| Cell::number(printed.loss, 2).from(Evidence::Printed),
                ));
                row.extend(loss_cells(cells.get(&configuration.name, &data.name, network.profile)));
            }
            table.push(row);
        }
    }
    table
}

fn loss_cells(measured: Result<Measured, &str>) -> [Cell; 2] {
    match measured {
        Err(why) => [Cell::na(why), Cell::na(why)],
        Ok(measured) => [
            loss_cell(&measured),
            Cell::text(format!("{} of {}", measured.came, measured.due)).from(Evidence::Measured),
        ],
    }
}

/// One picture: every configuration that was measured with these data over this network.
pub(super) fn ranges(all: &[Adapter], data: &Data, network: Network, cells: &Cells) -> Ranges {
    let row = |configuration: &Configuration| {
        range_row(configuration, &cells.get(&configuration.name, &data.name, network.profile).ok()?, None)
    };
    Ranges {
        caption: format!("{} over {}", data.name, network.title),
        quantity: "latency".into(),
        unit: "us".into(),
        hops: Vec::new(),
        rows: all.iter().flat_map(|adapter| &adapter.configurations).filter_map(row).collect(),
        footnotes: Vec::new(),
    }
}

/// What security alone costs: each secured configuration against the plain one of the same adapter that its name begins with.
pub(super) fn security(all: &[Adapter], cells: &Cells) -> Table {
    let mut table = Table::new("Median latency with security, less that without")
        .words("configuration")
        .words("against")
        .words("data");
    for network in NETWORKS {
        table = table.numbers(network.title, "us");
    }
    for adapter in all {
        let plain = |secured: &Configuration| {
            let of_same = adapter.configurations.iter().filter(|one| one.security == "none");
            let of_same = of_same.filter(|one| secured.name.starts_with(&one.name));
            of_same
                .max_by_key(|one| one.name.len())
                .or_else(|| adapter.configurations.iter().rev().find(|one| one.security == "none"))
        };
        for secured in adapter.configurations.iter().filter(|one| one.security != "none") {
            let Some(plain) = plain(secured) else { continue };
            for data in Data::recorded() {
                let mut row = vec![Cell::text(&secured.name), Cell::text(&plain.name), Cell::text(&data.name)];
                for network in NETWORKS {
                    let medians = |one: &Configuration| cells.medians(&one.name, &data.name, network.profile);
                    row.push(difference(&medians(secured), &medians(plain)));
                }
                table.push(row);
            }
        }
    }
    table
}

/// The difference of the means of medians; with its interval of 95 % where there are several.
fn difference(secured: &[f64], plain: &[f64]) -> Cell {
    if secured.is_empty() || plain.is_empty() {
        return Cell::na("one of the two was not measured, or has too few messages for a median");
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let us = (mean(secured) - mean(plain)) / 1e3;
    if secured.len() < 5 || plain.len() < 5 {
        return Cell::number(us, 0).from(Evidence::Derived).titled("one run of each: it has no interval");
    }
    let variance = |values: &[f64]| {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64 / values.len() as f64
    };
    // Of ten runs each, Student's factor for 95 % is at most 2.26.
    let half = 2.26 * (variance(secured) + variance(plain)).sqrt() / 1e3;
    Cell::estimate(us, [us - half, us + half], 0).from(Evidence::Derived)
}
