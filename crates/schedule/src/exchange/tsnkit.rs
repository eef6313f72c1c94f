//! The CSV tables of tsnkit (github.com/ChuanyuXue/tsnkit, its documentation of inputs and outputs): networks and streams
//! in, schedules in and out.
//!
//! Its times are nanoseconds, its lengths bytes, and its rates nanoseconds for one bit. A frame takes its length on the
//! wire and nothing more. Each stream has one offset there, so streams are read without jitter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use chronoseal_core::{Duration, Rate};

use super::{Refusal, text};
use crate::gates::{GateEntry, GateList};
use crate::network::{Link, LinkProtection, Network, Node, Security, Stream};
use crate::replay::{PortLists, Told};
use crate::schedule::Schedule;

/// Rows of a table, at most.
const ROWS_MAX: usize = 1_000_000;
/// Frames that are replayed, at most.
const FRAMES_MAX: i64 = 2_000_000;
/// The longest time a table may hold `[ns]`: an hour.
const TIME_MAX: i64 = 3_600_000_000_000;

/// The columns of each table.
const TOPOLOGY: &[&str] = &["link", "q_num", "rate", "t_proc", "t_prop"];
const STREAMS: &[&str] = &["stream", "src", "dst", "size", "period", "deadline", "jitter"];
const GATES: &[&str] = &["link", "queue", "start", "end", "cycle"];
const OFFSETS: &[&str] = &["stream", "frame", "offset"];
const ROUTES: &[&str] = &["stream", "link"];
const QUEUES: &[&str] = &["stream", "frame", "link", "queue"];
/// The highest queue of a port.
const QUEUE_MAX: i64 = 7;

/// A row: its line and its fields in the order of the columns asked for.
struct Row {
    line: usize,
    fields: Vec<String>,
}

/// A table that is being read.
struct Table<'a> {
    source: &'a str,
    columns: &'static [&'static str],
}

impl Table<'_> {
    fn refuse(&self, line: usize, message: impl Into<String>) -> Refusal {
        let help = format!("write rows with the columns {}", self.columns.join(","));
        Refusal::new(self.source, Some(line), message, help)
    }

    fn rows(&self, bytes: &[u8]) -> Result<Vec<Row>, Refusal> {
        let text = text(self.source, bytes)?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let (mut places, mut rows) = (None, Vec::new());
        for record in reader.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, |position| position.line() as usize);
                self.refuse(line, format!("the table cannot be read: {error}"))
            })?;
            let line = record.position().map_or(1, |position| position.line() as usize);
            let Some(places) = &places else {
                let mut found = Vec::new();
                for column in self.columns {
                    // tsnkit takes `id` for `stream` as well.
                    let place = record.iter().position(|name| name == *column || (*column == "stream" && name == "id"));
                    found.push(place.ok_or_else(|| self.refuse(line, format!("there is no column `{column}`")))?);
                }
                places = Some(found);
                continue;
            };
            if rows.len() == ROWS_MAX {
                return Err(self.refuse(line, format!("the table has more than {ROWS_MAX} rows")));
            }
            let field = |place: &usize| record.get(*place).unwrap_or_default().to_owned();
            rows.push(Row { line, fields: places.iter().map(field).collect() });
        }
        if places.is_none() {
            return Err(self.refuse(1, "the table is empty"));
        }
        Ok(rows)
    }

    fn number(&self, row: &Row, column: usize, max: i64) -> Result<i64, Refusal> {
        let field = &row.fields[column];
        let number = field.parse::<i64>().ok().filter(|number| (0..=max).contains(number));
        number.ok_or_else(|| {
            self.refuse(
                row.line,
                format!(
                    "`{}` is `{}` and has to be a whole number from 0 to {max}",
                    self.columns[column],
                    short(field)
                ),
            )
        })
    }

    fn time(&self, row: &Row, column: usize) -> Result<Duration, Refusal> {
        self.number(row, column, TIME_MAX).map(Duration::from_ns)
    }

    /// The two nodes of `(0, 1)`.
    fn ends(&self, row: &Row, column: usize) -> Result<[u32; 2], Refusal> {
        numbers(&row.fields[column], '(', ')').and_then(|ends| ends.try_into().ok()).ok_or_else(|| {
            self.refuse(
                row.line,
                format!("the link is `{}` and has to be two nodes such as `(0, 1)`", short(&row.fields[column])),
            )
        })
    }

    fn link(&self, row: &Row, column: usize, network: &Network) -> Result<usize, Refusal> {
        let [from, to] = self.ends(row, column)?;
        let link = network.node(&from.to_string()).zip(network.node(&to.to_string()));
        let link = link.and_then(|(from, to)| network.link(from, to));
        link.ok_or_else(|| self.refuse(row.line, format!("the network has no link ({from}, {to})")))
    }
}

fn short(field: &str) -> String {
    field.chars().take(40).collect()
}

/// The numbers of a list in brackets.
fn numbers(field: &str, open: char, close: char) -> Option<Vec<u32>> {
    let inside = field.trim().strip_prefix(open)?.strip_suffix(close)?;
    inside.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// A network from a table with the columns `link,q_num,rate,t_proc,t_prop`. A node with several neighbours is a bridge.
///
/// # Errors
/// The first row that cannot be read, or what is wrong with the network.
pub fn read_network(source: &str, bytes: &[u8]) -> Result<Network, Refusal> {
    let table = Table { source, columns: TOPOLOGY };
    let mut ends = Vec::new();
    let mut neighbours: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in table.rows(bytes)? {
        let [from, to] = table.ends(&row, 0)?;
        let bit = table.number(&row, 2, 1_000_000)?;
        if bit == 0 {
            return Err(table.refuse(
                row.line,
                format!("the link ({from}, {to}) has the rate 0 and needs at least 1 ns for a bit"),
            ));
        }
        neighbours.entry(from).or_default().push(to);
        neighbours.entry(to).or_default().push(from);
        ends.push(([from, to], Rate(1_000_000_000 / bit as u64), table.time(&row, 3)?, table.time(&row, 4)?));
    }
    let names: Vec<u32> = neighbours.keys().copied().collect();
    let nodes = neighbours.values_mut().zip(&names).map(|(others, name)| {
        others.sort_unstable();
        others.dedup();
        Node { name: name.to_string(), is_bridge: others.len() > 1 }
    });
    let nodes: Vec<Node> = nodes.collect();
    let place = |name: u32| names.binary_search(&name).unwrap_or(usize::MAX);
    let links = ends.into_iter().map(|([from, to], rate, processing, propagation)| Link {
        from: place(from),
        to: place(to),
        rate,
        propagation,
        processing,
        protection: LinkProtection::default(),
        gate_entries_max: None,
    });
    let mut network = Network::new(nodes, links.collect())
        .map_err(|faults| Refusal::new(source, None, faults[0].to_string(), "mend the rows of this link"))?;
    network.overhead = 0;
    network.granularity = Duration::from_ns(1);
    Ok(network)
}

/// Streams from a table with the columns `stream,src,dst,size,period,deadline,jitter`.
///
/// # Errors
/// The first row that cannot be read.
pub fn read_streams(source: &str, bytes: &[u8], network: &Network) -> Result<Vec<Stream>, Refusal> {
    let table = Table { source, columns: STREAMS };
    let mut streams = Vec::new();
    for row in table.rows(bytes)? {
        let node = |name: u32| {
            let node = network.node(&name.to_string());
            node.ok_or_else(|| table.refuse(row.line, format!("the network has no node {name}")))
        };
        let name = table.number(&row, 0, i64::MAX)?.to_string();
        let listeners = numbers(&row.fields[2], '[', ']').ok_or_else(|| {
            table.refuse(
                row.line,
                format!("`dst` is `{}` and has to be a list of nodes such as `[8]`", short(&row.fields[2])),
            )
        })?;
        let stream = Stream {
            name,
            from: node(table.number(&row, 1, u32::MAX.into())? as u32)?,
            to: listeners.into_iter().map(node).collect::<Result<_, _>>()?,
            len: table.number(&row, 3, 1_000_000)? as u32,
            period: table.time(&row, 4)?,
            deadline: table.time(&row, 5)?,
            jitter: Duration::ZERO,
            offset: None,
            route: None,
            security: Security::default(),
        };
        table.time(&row, 6)?;
        crate::network::check(network, &stream).map_err(|fault| table.refuse(row.line, fault.to_string()))?;
        streams.push(stream);
    }
    Ok(streams)
}

/// The tables of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    /// `link,queue,start,end,cycle`
    pub gates: String,
    /// `stream,frame,offset`
    pub offsets: String,
    /// `stream,link`
    pub routes: String,
    /// `stream,frame,link,queue`
    pub queues: String,
    /// `stream,frame,delay`
    pub delays: String,
}

/// The tables of a schedule, scheduled frames in `queue`.
///
/// # Errors
/// A stream whose name is no number, that is not strictly periodic, or that is not at whole nanoseconds.
pub fn write(schedule: &Schedule, queue: u8) -> Result<Tables, Refusal> {
    let network = schedule.network();
    let refuse = |message: String, help: &str| Refusal::new("the schedule", None, message, help);
    let ns = |what: &str, time: Duration| {
        let whole = time.rem_floor(Duration::from_ns(1)) == Duration::ZERO;
        let refusal = || {
            refuse(
                format!("{what} is at {time}, and the tables hold whole nanoseconds"),
                "schedule with a granularity of 1ns and lengths that are whole nanoseconds on each link",
            )
        };
        if whole { Ok(time.as_ns()) } else { Err(refusal()) }
    };
    let link_name = |link: usize| {
        let link = &network.links()[link];
        format!("\"({}, {})\"", network.nodes()[link.from].name, network.nodes()[link.to].name)
    };
    let mut tables = Tables {
        gates: "link,queue,start,end,cycle\n".into(),
        offsets: "stream,frame,offset\n".into(),
        routes: "stream,link\n".into(),
        queues: "stream,frame,link,queue\n".into(),
        delays: "stream,frame,delay\n".into(),
    };
    if let Some(node) = network.nodes().iter().find(|node| node.name.parse::<u32>().is_err()) {
        return Err(refuse(
            format!("the node `{}` has a name, and the tables number nodes", node.name),
            "name nodes 0, 1, 2 and so on",
        ));
    }
    let cycle = ns("the end of the cycle", schedule.cycle())?;
    for link in 0..network.links().len() {
        for (start, end) in schedule.windows(link) {
            let [start, end] = [start, end].map(Duration::from_ps);
            let (start, end) = (ns("a window", start)?, ns("a window", end)?);
            let _ = writeln!(tables.gates, "{},{queue},{start},{end},{cycle}", link_name(link));
        }
    }
    for stream in schedule.streams() {
        let name = &stream.name;
        if name.parse::<u64>().is_err() {
            return Err(refuse(
                format!("the stream `{name}` has a name, and the tables number streams"),
                "name streams 0, 1, 2 and so on",
            ));
        }
        let planned = schedule.planned(name).unwrap_or_else(|| unreachable!("it is in the schedule"));
        let first = planned.starts[0];
        let is_strict = planned.starts.iter().zip(0..).all(|(start, k)| *start == first + stream.period * k);
        if !is_strict {
            return Err(refuse(
                format!("the frames of stream {name} are not one period apart"),
                "schedule it with a jitter of 0",
            ));
        }
        let _ = writeln!(tables.offsets, "{name},0,{}", ns(&format!("stream {name}"), first)?);
        for link in &planned.route {
            let _ = writeln!(tables.routes, "{name},{}", link_name(*link));
            let _ = writeln!(tables.queues, "{name},0,{},{queue}", link_name(*link));
        }
        // tsnkit counts a delay from when the talker has sent the whole frame.
        let sent = planned.route.first().map_or(0, |link| network.wire_time(*link, stream.secured_len()));
        let delay = planned.latency - Duration::from_ps(sent);
        let _ = writeln!(tables.delays, "{name},0,{}", ns(&format!("the delay of stream {name}"), delay)?);
    }
    Ok(tables)
}

/// A schedule that some tool made, as talkers and ports are told it for `cycles` cycles: gates open for the queues that they name, and a
/// stream waits at each of its links in the queue that its table names. Without that table it is the one queue that has windows there.
///
/// # Errors
/// The first row that cannot be read, windows of a port that overlap, or a stream without an offset, a route or a queue.
pub fn read_schedule(
    network: &Network,
    streams: &[Stream],
    [gates, offsets, routes]: [(&str, &[u8]); 3],
    queues: Option<(&str, &[u8])>,
    cycles: i64,
) -> Result<(Vec<Told>, PortLists), Refusal> {
    let named = |name: &str| streams.iter().position(|stream| stream.name == name);
    let table = Table { source: routes.0, columns: ROUTES };
    let mut route = vec![Vec::new(); streams.len()];
    for row in table.rows(routes.1)? {
        let stream = named(&row.fields[0])
            .ok_or_else(|| table.refuse(row.line, format!("there is no stream `{}`", short(&row.fields[0]))))?;
        route[stream].push(table.link(&row, 1, network)?);
    }
    for (stream, route) in streams.iter().zip(&route) {
        if crate::route::in_order(network, stream, route).is_none() {
            let message = format!(
                "the route of stream {} is no tree of links from its talker to all of its listeners",
                stream.name
            );
            return Err(Refusal::new(routes.0, None, message, "write one row for each link it takes"));
        }
    }
    let table = Table { source: gates.0, columns: GATES };
    let mut windows: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    let mut cycle = None;
    for row in table.rows(gates.1)? {
        let link = table.link(&row, 0, network)?;
        let queue = table.number(&row, 1, QUEUE_MAX)? as u8;
        let [start, end, length] = [table.time(&row, 2)?, table.time(&row, 3)?, table.time(&row, 4)?];
        let is_first = *cycle.get_or_insert(length) == length;
        let (of_link, first) = (network.link_name(link), cycle.unwrap_or(length));
        let wrong = if !is_first {
            Some((format!("has a cycle of {length}"), format!("write {first} as in the first row")))
        } else if start >= end {
            Some(("is empty".into(), "write an end that is later than its start, or leave the row out".into()))
        } else if end > length {
            let over = end - length;
            Some((
                format!("leaves its cycle of {length} by {over}"),
                "close it with the cycle, or write a longer cycle".into(),
            ))
        } else {
            None
        };
        if let Some((what, help)) = wrong {
            let message = format!("the window of {of_link} from {start} to {end} {what}");
            return Err(Refusal::new(gates.0, Some(row.line), message, &help));
        }
        windows.entry(link).or_default().push(Span { from: start.as_ps(), until: end.as_ps(), queue, line: row.line });
    }
    let cycle = cycle.ok_or_else(|| table.refuse(1, "no window is there"))?;
    let mut lists = PortLists::new();
    for (link, rows) in &mut windows {
        rows.sort_unstable();
        if let Some(pair) = rows.windows(2).find(|pair| pair[1].from < pair[0].until) {
            let by = Duration::from_ps(pair[0].until - pair[1].from);
            let message = format!(
                "this window of {} begins {by} before the one of line {} is over",
                network.link_name(*link),
                pair[0].line
            );
            let help = format!("begin it {by} later, or end the other so much earlier");
            return Err(Refusal::new(gates.0, Some(pair[1].line), message, &help));
        }
        lists.insert(*link, vec![(Duration::ZERO, list_of(*link, cycle, rows))]);
    }
    let queues = queues_of(network, streams, &route, &windows, queues)?;
    let table = Table { source: offsets.0, columns: OFFSETS };
    let mut offset = vec![None; streams.len()];
    for row in table.rows(offsets.1)? {
        let stream = named(&row.fields[0])
            .ok_or_else(|| table.refuse(row.line, format!("there is no stream `{}`", short(&row.fields[0]))))?;
        offset[stream] = Some(table.time(&row, 2)?);
    }
    let frames: i64 = streams.iter().map(|stream| (cycle.div_floor(stream.period) * cycles).max(1)).sum();
    if frames > FRAMES_MAX {
        let message =
            format!("{frames} frames are sent in {cycles} cycles of {cycle}, and at most {FRAMES_MAX} are replayed");
        return Err(Refusal::new(
            gates.0,
            None,
            message,
            "write the cycle in which the periods repeat, and no longer one",
        ));
    }
    let mut told = Vec::new();
    for (((stream, route), queues), offset) in streams.iter().zip(route).zip(queues).zip(offset) {
        let Some(offset) = offset else {
            let message = format!("stream {} has no offset", stream.name);
            return Err(Refusal::new(offsets.0, None, message, "write one row for each stream"));
        };
        let count = (cycle.div_floor(stream.period) * cycles).max(1);
        let sends = (0..count).map(|k| (k, offset + stream.period * k)).collect();
        told.push(Told { stream: stream.clone(), route, queues, sends, checks: Vec::new() });
    }
    Ok((told, lists))
}

/// A window of a port, from the start of the cycle `[ps]`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    from: i64,
    until: i64,
    queue: u8,
    line: usize,
}

/// A list that opens the gate of one queue in each window, and none between them.
fn list_of(link: usize, cycle: Duration, windows: &[Span]) -> GateList {
    let (mut entries, mut at) = (Vec::new(), 0);
    let closing = Span { from: cycle.as_ps(), until: cycle.as_ps(), queue: 0, line: 0 };
    for window in windows.iter().chain([&closing]) {
        for (gates, interval) in [(0, window.from - at), (1 << window.queue, window.until - window.from)] {
            if interval > 0 {
                entries.push(GateEntry { gates, interval: Duration::from_ps(interval) });
            }
        }
        at = window.until;
    }
    GateList { link, base: Duration::ZERO, cycle, entries }
}

/// By stream, the queue in which its frames wait at each link of its route.
fn queues_of(
    network: &Network,
    streams: &[Stream],
    routes: &[Vec<usize>],
    windows: &BTreeMap<usize, Vec<Span>>,
    written: Option<(&str, &[u8])>,
) -> Result<Vec<BTreeMap<usize, u8>>, Refusal> {
    let mut found = vec![BTreeMap::new(); streams.len()];
    let Some((source, bytes)) = written else {
        for (found, (stream, route)) in found.iter_mut().zip(streams.iter().zip(routes)) {
            for link in route {
                let queues: BTreeSet<u8> = windows.get(link).into_iter().flatten().map(|window| window.queue).collect();
                if queues.len() > 1 {
                    let (link, name) = (network.link_name(*link), &stream.name);
                    let message = format!(
                        "there are windows of several queues at {link}, and no QUEUE.csv says in which stream {name} waits"
                    );
                    return Err(Refusal::new("GCL.csv", None, message, "give QUEUE.csv beside the other tables"));
                }
                found.extend(queues.first().map(|queue| (*link, *queue)));
            }
        }
        return Ok(found);
    };
    let table = Table { source, columns: QUEUES };
    for row in table.rows(bytes)? {
        let stream = streams.iter().position(|stream| stream.name == row.fields[0]);
        let stream =
            stream.ok_or_else(|| table.refuse(row.line, format!("there is no stream `{}`", short(&row.fields[0]))))?;
        let (link, queue) = (table.link(&row, 2, network)?, table.number(&row, 3, QUEUE_MAX)? as u8);
        if let Some(earlier) = found[stream].insert(link, queue).filter(|earlier| *earlier != queue) {
            let message = format!(
                "stream {} is in queue {queue} at {} here, and in queue {earlier} above",
                streams[stream].name,
                network.link_name(link)
            );
            return Err(table.refuse(row.line, message));
        }
    }
    for (queues, (stream, route)) in found.iter().zip(streams.iter().zip(routes)) {
        if let Some(link) = route.iter().find(|link| !queues.contains_key(link)) {
            let message = format!("stream {} has no queue at {}", stream.name, network.link_name(*link));
            return Err(Refusal::new(source, None, message, "write one row for each link of its route"));
        }
    }
    Ok(found)
}
