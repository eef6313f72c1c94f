//! Which messages gateways carry from one bus to another.

use std::collections::BTreeSet;
use std::ops::Range;

use super::node_name;
use crate::import::rows::{Layout, Row};
use crate::near::suggest;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;

/// Rows of a table.
const ROUTES_MAX: usize = 10_000;

const LAYOUT: Layout = Layout {
    required: &["message", "from", "to", "gateway"],
    optional: &[],
    what: "routes",
    rows_max: ROUTES_MAX,
    example: "write `message,from,to,gateway` and, for each message that goes on, `BrakeRequest,front,rear,zone`",
};

/// One message from one bus to one other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) message: String,
    /// Of the buses, by their place.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) gateway: String,
    /// Its row.
    pub(super) span: Range<usize>,
}

/// A message on its way: where it begins, and the routes that carry it on, each after the one it follows.
#[derive(Debug)]
pub(super) struct Carried<'r> {
    pub(super) message: &'r str,
    pub(super) origin: usize,
    pub(super) routes: Vec<&'r Route>,
}

/// The routes of a table between `buses`.
pub(super) fn read(text: &str, buses: &[&str], problems: &mut Problems) -> Result<Vec<Route>, Problems> {
    let mut routes: Vec<Route> = Vec::new();
    for row in LAYOUT.rows(text, problems)? {
        let Some(route) = route(&row, buses, problems) else { continue };
        let is_known =
            |other: &Route| (&other.message, other.to) == (&route.message, route.to) && other.from == route.from;
        if routes.iter().any(is_known) {
            problems.push(
                problem(
                    &route,
                    format!(
                        "`{}` goes from `{}` to `{}` already",
                        shortened(&route.message),
                        row.fields[1],
                        row.fields[2]
                    ),
                )
                .help("leave the row out"),
            );
            continue;
        }
        routes.push(route);
    }
    Ok(routes)
}

fn problem(route: &Route, message: String) -> Problem {
    Problem::new(Code::ImportCsv, message).label(route.span.clone(), "")
}

fn route(row: &Row, buses: &[&str], problems: &mut Problems) -> Option<Route> {
    let before = problems.count();
    let mut wrong = |message: String, help: String| {
        problems.push(Problem::new(Code::ImportCsv, message).label(row.span.clone(), "").help(help));
    };
    for (name, field) in LAYOUT.required.iter().zip(&row.fields) {
        if field.is_empty() {
            wrong(format!("`{name}` is empty"), LAYOUT.example.into());
        }
    }
    let [message, from, to, gateway] = &row.fields[..] else { return None };
    for bus in [from, to] {
        if !bus.is_empty() && !buses.contains(&bus.as_str()) {
            let help = suggest(bus, buses, "buses, by the names of their databases");
            wrong(format!("there is no bus `{}`", shortened(bus)), help);
        }
    }
    if from == to && !from.is_empty() {
        wrong(format!("the message goes from `{}` to itself", shortened(from)), "name another bus in `to`".into());
    }
    if !gateway.is_empty() && node_name(gateway).as_ref() != Some(gateway) {
        wrong(
            format!("the gateway `{}` is no plain name", shortened(gateway)),
            "begin with a letter or digit; go on with letters, digits, `-`, `_`, `.`".into(),
        );
    }
    if problems.count() > before {
        return None;
    }
    let place = |name: &str| buses.iter().position(|bus| *bus == name);
    Some(Route {
        message: message.clone(),
        from: place(from)?,
        to: place(to)?,
        gateway: gateway.clone(),
        span: row.span.clone(),
    })
}

/// The ways of all messages. `has` tells whether a bus has a message of its own; `messages` are the names of a bus.
pub(super) fn ways<'r>(
    routes: &'r [Route],
    buses: &[&str],
    messages: &dyn Fn(usize) -> Vec<String>,
    problems: &mut Problems,
) -> Vec<Carried<'r>> {
    let mut carried: Vec<Carried<'r>> = Vec::new();
    let mut passed: BTreeSet<usize> = BTreeSet::new();
    for (index, route) in routes.iter().enumerate() {
        let arrives = routes.iter().any(|other| other.message == route.message && other.to == route.from);
        let is_begun = carried.iter().any(|other| other.message == route.message && other.origin == route.from);
        if arrives || is_begun {
            continue;
        }
        let names = messages(route.from);
        if !names.contains(&route.message) {
            passed.insert(index);
            let near: Vec<&str> = names.iter().map(String::as_str).collect();
            problems.push(
                problem(route, format!("`{}` has no message `{}`", buses[route.from], shortened(&route.message)))
                    .help(suggest(&route.message, &near, "messages")),
            );
            continue;
        }
        let mut way = Carried { message: &route.message, origin: route.from, routes: Vec::new() };
        let mut reached = vec![route.from];
        let mut next = 0;
        while let Some(&bus) = reached.get(next) {
            next += 1;
            for (index, onward) in routes.iter().enumerate() {
                if onward.message != route.message || onward.from != bus {
                    continue;
                }
                if reached.contains(&onward.to) || !passed.insert(index) {
                    passed.insert(index);
                    problems.push(
                        problem(
                            onward,
                            format!("`{}` comes to `{}` twice", shortened(&onward.message), buses[onward.to]),
                        )
                        .help("keep one of its ways: a message comes to each bus once"),
                    );
                    continue;
                }
                reached.push(onward.to);
                way.routes.push(onward);
            }
        }
        carried.push(way);
    }
    if let Some((_, lost)) = routes.iter().enumerate().find(|(index, _)| !passed.contains(index)) {
        problems.push(
            problem(lost, format!("`{}` goes round in a circle and begins nowhere", shortened(&lost.message)))
                .help("leave out the row that brings it back to the bus of its sender"),
        );
    }
    carried
}
