//! Which values say that tickets are of one vehicle.
//!
//! Whoever hears two tickets of one vehicle is not to see that they belong together. A value says so if it is in the tickets of
//! one vehicle more often than in those of others. That can be counted where tickets of others are at hand; alone it is known
//! only of values that nobody else has, or everybody.

mod shares;

use std::collections::BTreeMap;

use crate::certificate::{DURATION, LegibleField, START, legible_fields};
use crate::types::{Certificate, CertificateId, ValidityPeriod};

use super::{Kind, Lint, Report};
use shares::{FALSE_ALARMS, Shares, chance_of_span};

const HOUR_S: u32 = 3_600;
const WEEK_S: u32 = 7 * 24 * HOUR_S;
/// In place of the beginnings of weeks: a station has tickets of more than one ahead of time, and nobody hears two weeks at once.
const WEEK: &[u8] = b"the beginning of a week";
/// Most octets of a value that are written out.
const SHOWN_LEN: usize = 20;

/// A ticket of the batch.
#[derive(Clone, Debug)]
pub struct BatchTicket<'a> {
    /// By what findings name it: its file.
    pub name: &'a str,
    /// The ticket.
    pub certificate: Certificate<'a>,
}

/// What a field says.
#[derive(Debug, Default)]
struct Says {
    /// Why tickets belong together.
    links: Vec<String>,
    /// What one ticket has alone, which links none of the batch.
    alone: Vec<String>,
    /// What was counted.
    counted: Option<String>,
    /// True if only tickets of others could say it.
    is_open: bool,
}

impl Says {
    fn links(why: String) -> Self {
        Self { links: vec![why], ..Self::default() }
    }

    fn nothing(why: impl Into<String>) -> Self {
        Self { counted: Some(why.into()), ..Self::default() }
    }
}

/// Looks at the tickets of one vehicle beside those of others, if there are any: a finding for each value that links, and for
/// fields of which it was not checked; a fact for each other field.
///
/// With tickets of others, a value links if two tickets of the batch have it and none of the others, or if so many have it that
/// tickets dealt at random would in one of a hundred batches (Fisher's exact test, divided by the number of values that are
/// not in all tickets). It needs two tickets; fewer are no batch, and there is a finding that says so.
pub fn linking(batch: &[BatchTicket<'_>], others: &[Certificate<'_>]) -> Report {
    let mut report = Report { kind: Kind::Batch, facts: Vec::new(), findings: Vec::new() };
    let mut lint = Lint { report: &mut report, prefix: String::new(), now: None, known: &[] };
    let own: Vec<_> = batch.iter().map(|ticket| legible_fields(&ticket.certificate)).collect();
    let strange: Vec<_> = others.iter().map(legible_fields).collect();
    let [first, _, ..] = &own[..] else {
        lint.violation("", "one ticket is no batch; name all tickets of the vehicle");
        return report;
    };
    let columns: Vec<Column<'_>> = (0..first.len()).map(|index| Column::new(&own, &strange, index)).collect();
    // Each value that is not in all tickets is one more chance to be wrong.
    let tried = columns.iter().map(Column::tried).sum::<usize>() + 1;
    let most = FALSE_ALARMS / tried as f64;
    let mut open = Vec::new();
    for (LegibleField { name, is_own, .. }, column) in first.iter().zip(&columns) {
        let says = match *name {
            START => start(batch, others, column, most),
            _ if *is_own => keys(batch, column),
            _ if others.is_empty() => alone(batch, column),
            _ => column.beside(batch, most),
        };
        if says.is_open {
            open.push(*name);
        }
        if let Some(counted) = says.counted {
            lint.fact(name, counted);
        }
        says.links.into_iter().for_each(|why| lint.violation(name, why));
        says.alone.into_iter().for_each(|why| lint.note(name, why));
    }
    if !open.is_empty() {
        lint.not_checked(
            "",
            &format!(
                "only tickets of other vehicles say whether these fields are alike in theirs: {}",
                open.join("; ")
            ),
        );
    }
    report
}

/// The values of one field, each with the tickets of the batch that have it and the number of others.
struct Column<'f> {
    name: &'static str,
    values: BTreeMap<&'f [u8], (Vec<usize>, usize)>,
    of_own: usize,
    of_strange: usize,
}

impl<'f> Column<'f> {
    fn new(own: &'f [Vec<LegibleField>], strange: &'f [Vec<LegibleField>], index: usize) -> Self {
        let mut values: BTreeMap<&[u8], (Vec<usize>, usize)> = BTreeMap::new();
        let value = |fields: &'f Vec<LegibleField>| match &fields[index] {
            LegibleField { name: START, value, .. } if is_week(value) => WEEK,
            LegibleField { value, .. } => value,
        };
        for (ticket, fields) in own.iter().enumerate() {
            values.entry(value(fields)).or_default().0.push(ticket);
        }
        for fields in strange {
            values.entry(value(fields)).or_default().1 += 1;
        }
        Self { name: own[0][index].name, values, of_own: own.len(), of_strange: strange.len() }
    }

    fn shares(&self, tickets: &[usize], strange: usize) -> Shares {
        Shares { own: tickets.len(), of_own: self.of_own, strange, of_strange: self.of_strange }
    }

    /// A value of this field as people read it.
    fn shown(&self, value: &[u8]) -> String {
        match (self.name, value.try_into()) {
            ("length", Ok(octets)) => format!("{} octets", usize::from_be_bytes(octets)),
            _ => shown(value),
        }
    }

    /// How many values chance could bring together in this batch.
    fn tried(&self) -> usize {
        let shared = |(tickets, strange): &&(Vec<usize>, usize)| tickets.len() > 1 && *strange > 0;
        self.values.values().filter(shared).filter(|(own, strange)| !self.shares(own, *strange).is_everywhere()).count()
    }

    /// Counted against tickets of others: value by value.
    fn beside(&self, batch: &[BatchTicket<'_>], most: f64) -> Says {
        let mut says = Says::default();
        let mut counted = Vec::new();
        // Where others have values of their own as well, one more is nothing special.
        let others_share = self.values.values().all(|(_, strange)| *strange != 1);
        for (value, (tickets, strange)) in &self.values {
            if tickets.is_empty() {
                continue;
            }
            let shares = self.shares(tickets, *strange);
            let Shares { own, of_own, of_strange, .. } = shares;
            let value = self.shown(value);
            let among =
                format!("{value} in {own} of {of_own} tickets of this vehicle, in {strange} of {of_strange} of others");
            if shares.is_unique() {
                says.links.push(format!("{among}; nobody else has it: {}", named(batch, tickets)));
            } else if own > 1 && shares.chance() <= most && shares.posterior() > 0.5 {
                let posterior = 100.0 * shares.posterior();
                let files = named(batch, tickets);
                says.links.push(format!(
                    "{among}; two tickets with it are both of this vehicle in {posterior:.0} % of cases, where chance is 50 %: \
                     {files}"
                ));
            } else if own == 1 && *strange == 0 && others_share && of_strange > 1 {
                says.alone.push(format!(
                    "{among}: it links no two of these, but every further one: {}",
                    named(batch, tickets)
                ));
            } else {
                counted.push(among);
            }
        }
        if !counted.is_empty() {
            says.counted = Some(counted.join("; "));
        }
        says
    }
}

/// Whether a time begins a week.
fn is_week(start: &[u8]) -> bool {
    start.try_into().is_ok_and(|octets| u32::from_be_bytes(octets).is_multiple_of(WEEK_S))
}

/// The files of these tickets.
fn named(batch: &[BatchTicket<'_>], tickets: &[usize]) -> String {
    let names: Vec<&str> = tickets.iter().map(|ticket| batch[*ticket].name).collect();
    names.join(", ")
}

/// A value as people read it.
fn shown(value: &[u8]) -> String {
    use std::fmt::Write as _;
    if value.is_empty() {
        return "absent".to_owned();
    }
    if value == WEEK {
        return String::from_utf8_lossy(value).into_owned();
    }
    let mut text = "0x".to_owned();
    for octet in &value[..value.len().min(SHOWN_LEN)] {
        let _ = write!(text, "{octet:02x}");
    }
    if value.len() > SHOWN_LEN {
        let _ = write!(text, "… ({} octets)", value.len());
    }
    text
}

/// Keys and signatures: one that comes twice is of one vehicle for certain.
fn keys(batch: &[BatchTicket<'_>], column: &Column<'_>) -> Says {
    let own = column.values.iter().filter(|(value, _)| !value.is_empty());
    let mut says = Says::default();
    let mut is_there = false;
    for (value, (tickets, _)) in own {
        is_there |= !tickets.is_empty();
        if tickets.len() > 1 {
            let (value, files) = (shown(value), named(batch, tickets));
            says.links.push(format!("{value} in more than one ticket, and each needs its own: {files}"));
        }
    }
    if says.links.is_empty() {
        says.counted = Some(if is_there { "each has its own" } else { "absent" }.into());
    }
    says
}

/// When tickets begin: as near each other as those of a request are counts as alike.
fn start(batch: &[BatchTicket<'_>], others: &[Certificate<'_>], column: &Column<'_>, most: f64) -> Says {
    let start = |ticket: &Certificate<'_>| ticket.to_be_signed.validity_period.start.0;
    let own: Vec<u32> = batch.iter().map(|ticket| start(&ticket.certificate)).collect();
    let all_begin = |step_s: u32| own.iter().all(|start| start.is_multiple_of(step_s));
    if all_begin(WEEK_S) && others.is_empty() {
        return Says::nothing("the beginning of a week, as of all tickets of that week");
    }
    let range = own.iter().min().zip(own.iter().max());
    let (first, last) = range.map_or((0, 0), |(first, last)| (*first, *last));
    let spread_s = last - first;
    if others.is_empty() {
        return Says::links(if all_begin(HOUR_S) {
            "on the hour, within that of the request: shared with those who asked in it, and with nobody else".into()
        } else {
            format!("to the second, all within {spread_s} s: tickets of one request tell each other")
        });
    }
    let mut says = column.beside(batch, most);
    // Each its own second: what links them is how near they are.
    says.alone.clear();
    if all_begin(WEEK_S) {
        return says;
    }
    let between = others.iter().filter(|other| (first..=last).contains(&start(other))).count();
    if says.links.is_empty() && spread_s > 0 && chance_of_span(own.len(), others.len(), between) <= most {
        let of = others.len();
        let files = named(batch, &(0..own.len()).collect::<Vec<_>>());
        says.links.push(format!("all within {spread_s} s, where {between} of {of} tickets of others begin: {files}"));
    }
    says
}

/// Without others: what the profile prescribes is the same in all tickets, whosever they are.
fn alone(batch: &[BatchTicket<'_>], column: &Column<'_>) -> Says {
    let all = |is_so: &dyn Fn(&Certificate<'_>) -> bool| batch.iter().all(|ticket| is_so(&ticket.certificate));
    let is_absent = || column.values.keys().all(|value| value.is_empty());
    if column.name == DURATION {
        let is_week = |period: &ValidityPeriod| {
            period.start.0.is_multiple_of(WEEK_S) && period.end().time32().0.is_multiple_of(WEEK_S)
        };
        if all(&|ticket| is_week(&ticket.to_be_signed.validity_period)) {
            return Says::nothing("to the end of a week, as of all tickets of that week");
        }
    }
    let is_prescribed = match column.name {
        "type" => column.values.len() == 1,
        "toBeSigned.id" => all(&|ticket| ticket.to_be_signed.id == CertificateId::None),
        "toBeSigned.cracaId" | "toBeSigned.crlSeries" => {
            column.values.keys().all(|value| value.iter().all(|octet| *octet == 0))
        }
        "toBeSigned.certIssuePermissions" | "toBeSigned.certRequestPermissions" | "toBeSigned.canRequestRollover" => {
            is_absent()
        }
        _ => false,
    };
    match (is_prescribed, column.name) {
        (true, _) => Says::nothing("as TS 103 097 has it in all tickets"),
        (false, "toBeSigned.id") => Says::links("a name, which no ticket should have (TS 103 097 7.2.1)".into()),
        (false, _) => {
            let parts = column.values.iter().map(|(value, (tickets, _))| match column.values.len() {
                1 => format!("{} in all", column.shown(value)),
                _ => format!("{} in {}", column.shown(value), named(batch, tickets)),
            });
            Says { is_open: true, counted: Some(parts.collect::<Vec<_>>().join("; ")), ..Says::default() }
        }
    }
}
