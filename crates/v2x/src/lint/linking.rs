//! Which fields say that tickets are of one vehicle.
//!
//! Whoever hears two tickets of one vehicle is not to see that they belong together. A field says so if it is alike in the
//! tickets of one vehicle more often than in those of different vehicles. That can be counted where tickets of others are at
//! hand; alone it is known of the few fields whose value nobody else has, or everybody.

use crate::certificate::{DURATION, LegibleField, START, legible_fields};
use crate::types::{Certificate, CertificateId, ValidityPeriod};

use super::{Kind, Lint, Report};

const HOUR_S: u32 = 3_600;
const WEEK_S: u32 = 7 * 24 * HOUR_S;
/// A field is alike more often within a batch if it is so in more than this part of the pairs more.
const MORE: f64 = 0.05;

/// What one field says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Says {
    /// That the tickets belong together.
    Links(String),
    /// Nothing, and why.
    Nothing(String),
    /// It is alike in the batch; whether it is so in all tickets is not known.
    Open,
}

/// Looks at the tickets of one vehicle beside those of others, if there are any: a finding for each field that links, a fact for
/// each other one.
///
/// It needs two tickets; fewer are no batch, and there is a finding that says so.
pub fn linking(batch: &[Certificate<'_>], others: &[Certificate<'_>]) -> Report {
    let mut report = Report { kind: Kind::Batch, facts: Vec::new(), findings: Vec::new() };
    let mut lint = Lint { report: &mut report, prefix: String::new(), now: None, known: &[] };
    let fields = |tickets: &[Certificate<'_>]| tickets.iter().map(legible_fields).collect::<Vec<_>>();
    let (own, strange) = (fields(batch), fields(others));
    let [first, _, ..] = &own[..] else {
        lint.violation("", "one ticket is no batch; name all tickets of the vehicle");
        return report;
    };
    for (index, LegibleField { name, .. }) in first.iter().enumerate() {
        let says = match *name {
            START => start(batch, others),
            _ if first[index].is_own => keys(&own, index),
            _ if others.is_empty() => alone(&own, index, batch),
            _ => beside(&own, &strange, index),
        };
        match says {
            Says::Links(why) => lint.violation(name, why),
            Says::Nothing(why) => lint.fact(name, why),
            Says::Open => lint.fact(
                name,
                "the same in all, which links them unless it is so in tickets of others; compare with some of these",
            ),
        }
    }
    report
}

/// Shares of pairs that are alike: of two of the batch, and of one of the batch and one of another vehicle.
fn shares<T>(own: &[T], strange: &[T], alike: impl Fn(&T, &T) -> bool) -> [f64; 2] {
    let mut within = (0, 0);
    for (index, one) in own.iter().enumerate() {
        for other in &own[index + 1..] {
            within = (within.0 + usize::from(alike(one, other)), within.1 + 1);
        }
    }
    let pairs = own.iter().flat_map(|one| strange.iter().map(move |other| (one, other)));
    let across = pairs.fold((0, 0), |sum, (one, other)| (sum.0 + usize::from(alike(one, other)), sum.1 + 1));
    [within, across].map(|(alike, pairs)| alike as f64 / f64::max(1.0, pairs as f64))
}

fn compared([within, across]: [f64; 2]) -> Says {
    let counted = format!(
        "alike in {:.0} % of the pairs of this vehicle, in {:.0} % of those with another one",
        100.0 * within,
        100.0 * across
    );
    if within > across + MORE { Says::Links(counted) } else { Says::Nothing(counted) }
}

fn beside(own: &[Vec<LegibleField>], strange: &[Vec<LegibleField>], index: usize) -> Says {
    compared(shares(own, strange, |one, other| one[index].value == other[index].value))
}

/// Keys and signatures: one that comes twice is of one vehicle for certain.
fn keys(own: &[Vec<LegibleField>], index: usize) -> Says {
    let is_there = own.iter().any(|fields| !fields[index].value.is_empty());
    let [alike, _] =
        shares(own, &[], |one, other| !one[index].value.is_empty() && one[index].value == other[index].value);
    match (is_there, alike > 0.0) {
        (_, true) => Says::Links("the same in more than one ticket: each needs its own".into()),
        (true, false) => Says::Nothing("each has its own".into()),
        (false, false) => Says::Nothing("absent".into()),
    }
}

/// When tickets begin: as near each other as those of the batch are counts as alike.
fn start(batch: &[Certificate<'_>], others: &[Certificate<'_>]) -> Says {
    let starts = |tickets: &[Certificate<'_>]| -> Vec<u32> {
        tickets.iter().map(|one| one.to_be_signed.validity_period.start.0).collect()
    };
    let (own, strange) = (starts(batch), starts(others));
    let all_begin = |step_s: u32| own.iter().all(|start| start.is_multiple_of(step_s));
    let spread_s = own.iter().max().zip(own.iter().min()).map_or(0, |(last, first)| last - first);
    if !strange.is_empty() {
        return match compared(shares(&own, &strange, |one, other| one.abs_diff(*other) <= spread_s)) {
            Says::Links(counted) => Says::Links(format!("within {spread_s} s of each other: {counted}")),
            other => other,
        };
    }
    if all_begin(WEEK_S) {
        Says::Nothing("the beginning of a week, as of all tickets of that week".into())
    } else if all_begin(HOUR_S) {
        Says::Links(
            "on the hour, within that of the request: shared with those who asked in it, and with nobody else".into(),
        )
    } else {
        Says::Links(format!("to the second, all within {spread_s} s: tickets of one request tell each other"))
    }
}

/// Without others: what the profile prescribes is the same in all tickets, whosever they are.
fn alone(own: &[Vec<LegibleField>], index: usize, batch: &[Certificate<'_>]) -> Says {
    let LegibleField { name, .. } = own[0][index];
    if *name == *DURATION {
        let is_week = |period: &ValidityPeriod| {
            period.start.0.is_multiple_of(WEEK_S) && period.end().time32().0.is_multiple_of(WEEK_S)
        };
        if batch.iter().all(|ticket| is_week(&ticket.to_be_signed.validity_period)) {
            return Says::Nothing("to the end of a week, as of all tickets of that week".into());
        }
    }
    let is_prescribed = match name {
        "type" => true,
        "toBeSigned.id" => batch.iter().all(|ticket| ticket.to_be_signed.id == CertificateId::None),
        "toBeSigned.cracaId" | "toBeSigned.crlSeries" => {
            own.iter().all(|fields| fields[index].value.iter().all(|octet| *octet == 0))
        }
        "toBeSigned.certIssuePermissions" | "toBeSigned.certRequestPermissions" | "toBeSigned.canRequestRollover" => {
            own.iter().all(|fields| fields[index].value.is_empty())
        }
        _ => false,
    };
    match (is_prescribed, name) {
        (true, _) => Says::Nothing("as TS 103 097 has it in all tickets".into()),
        (false, "toBeSigned.id") => Says::Links("a name, which no ticket should have (TS 103 097 7.2.1)".into()),
        (false, _) => Says::Open,
    }
}
