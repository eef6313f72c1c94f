//! The tables and pictures of the study.

use chronoseal_middleware::{
    Adapter, Configuration, Data, Measured, NETWORKS, Network, Packets, alone, beside, costs, loss_cell, plain_of,
    range_row, rates, taken,
};
use chronoseal_report::{Cell, Evidence, Mark, Ranges, Table};

use super::cells::Cells;
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
        "Network alone: the mean of the emulated delay and the bits of the message at the link's rate, where a message is one datagram. \
         Overload: how many times more the data ask for than the link carries.",
    );
    for configuration in ordered(all, printed) {
        for network in NETWORKS {
            let mut row = vec![configuration.cell(), Cell::text(network.title)];
            row.extend(printed_cells(configuration, printed_of(printed, configuration, &data.name, network)));
            row.extend(measured_cells(cells.get(&configuration.name, &data.name, network.profile)));
            row.push(match alone(data, network, Packets::Large) {
                Err(why) => Cell::na(why.to_string()),
                Ok((mean, _)) => Cell::number(mean / 1e3, 0).from(Evidence::Recomputed),
            });
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
            let mut row = vec![configuration.cell(), Cell::text(&data.name)];
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
        lines: rates(),
        is_log: true,
    }
}

/// What security alone costs, of these data over this network; `None` if no pair of configurations was asked for.
pub(super) fn security(all: &[Adapter], data: &Data, network: Network, cells: &Cells) -> Option<Table> {
    let pairs = all.iter().flat_map(|adapter| {
        let of = move |one| plain_of(adapter, one).map(|plain| (one, plain));
        adapter.configurations.iter().filter_map(of)
    });
    let what = format!("{} over {}", data.name, network.title);
    costs(&what, data.length, pairs, &cells.repetitions(&data.name, network.profile))
}

/// What latency is made of, with these data over a network.
pub(super) fn shares(all: &[Adapter], data: &Data, network: Network, cells: &Cells) -> Option<Table> {
    let chosen = all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one)));
    let of = |network: Network| cells.repetitions(&data.name, network.profile);
    let what = format!("{} over {}", data.name, network.title);
    chronoseal_middleware::shares(&what, chosen, &of(NETWORKS[0]), Some(&of(network)))
}

/// What was measured over a network beside what that alone takes, for the configurations that were.
pub(super) fn beside_network(all: &[Adapter], data: &Data, network: Network, cells: &Cells) -> Option<Table> {
    let get = |one: &Configuration, network: Network| cells.get(&one.name, &data.name, network.profile).ok();
    let measured: Vec<_> = all
        .iter()
        .flat_map(|adapter| &adapter.configurations)
        .filter_map(|one| Some((one, get(one, network)?, get(one, NETWORKS[0]))))
        .collect();
    let rows = measured.iter().map(|(one, measured, host)| (*one, Ok(measured), host.as_ref()));
    beside(data, network, Packets::Large, rows).filter(|table| !table.rows.is_empty())
}

/// Processor time and memory of the programs, with these data over a link that takes no time.
pub(super) fn programs(all: &[Adapter], data: &Data, cells: &Cells) -> Table {
    let configurations: Vec<&Configuration> = all.iter().flat_map(|adapter| &adapter.configurations).collect();
    let measured: Vec<_> =
        configurations.iter().map(|one| cells.get(&one.name, &data.name, NETWORKS[0].profile)).collect();
    let answers = measured.iter().map(|measured| measured.as_ref().map_err(|why| *why));
    let mut table = taken(configurations.iter().copied().zip(answers));
    table.caption = format!("{}: {}", table.caption, data.name);
    table
}
