//! Where the kinds of segments read and report.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::iter::once;
use std::ops::Deref;

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, StreamId};
use chronoseal_plan::{PlatformId, PlatformPlan};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::SegmentKind;
use crate::limits::{DELAY_MAX, NAME_LEN_MAX};
use crate::near::suggest;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;
use crate::source::{Step, at};
use crate::spec::{JitterSpec, Spec};

/// A scenario while it is resolved, and the problems found so far. A part that is wrong is replaced by one that is
/// possible, so that the rest can be checked.
pub struct Context<'s> {
    pub(crate) spec: &'s Spec,
    pub(crate) kinds: &'s [&'s dyn SegmentKind],
    pub(crate) problems: Problems,
    pub(crate) notes: Vec<String>,
    /// A value that cannot be used has another in its place: figures that follow from it are nobody's.
    pub(crate) has_stand_ins: bool,
}

/// A place in a scenario: the way to something in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place<'a>(Vec<Step<'a>>);

impl<'a> Place<'a> {
    /// A key of the scenario as a whole.
    pub fn new(key: &'a str) -> Self {
        Self(vec![Step::Key(key)])
    }

    /// A key of what is here.
    #[must_use]
    pub fn key(mut self, key: &'a str) -> Self {
        self.0.push(Step::Key(key));
        self
    }

    /// An entry of the list that is here, from 0.
    #[must_use]
    pub fn entry(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }
}

impl<'a> Deref for Place<'a> {
    type Target = [Step<'a>];
    fn deref(&self) -> &[Step<'a>] {
        &self.0
    }
}

/// A table of keys that only one kind of segment has.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    json: Option<&'a Json>,
    place: Place<'a>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(json: Option<&'a Json>, place: Place<'a>) -> Self {
        Self { json, place }
    }

    /// True if the scenario has it.
    pub fn is_written(&self) -> bool {
        self.json.is_some()
    }

    /// True if the scenario writes one of its keys.
    pub fn has(&self, key: &str) -> bool {
        self.json.is_some_and(|table| table.get(key).is_some())
    }

    /// Where one of its keys stands.
    pub fn at(&self, key: &'a str) -> Place<'a> {
        self.place.clone().key(key)
    }

    /// Its content, with the defaults of what is not written. `None` if it is no such table; that has been reported then.
    pub fn read<T: DeserializeOwned>(&self, context: &mut Context<'_>) -> Option<T> {
        let empty = Json::Object(serde_json::Map::new());
        match T::deserialize(self.json.unwrap_or(&empty)) {
            Ok(content) => Some(content),
            Err(error) => {
                // That a table is missing has been reported already, and what is in it fits its schema.
                if self.is_written() || context.problems.is_empty() {
                    context.report(
                        Code::WrongType,
                        &self.place,
                        error.to_string(),
                        "cannot be read",
                        "see the file format",
                    );
                }
                None
            }
        }
    }
}

impl<'s> Context<'s> {
    pub(crate) fn new(spec: &'s Spec, kinds: &'s [&'s dyn SegmentKind]) -> Self {
        let problems = Problems::new(&spec.source.name, &spec.source.text);
        Self { spec, kinds, problems, notes: Vec::new(), has_stand_ins: false }
    }

    /// The scenario as it was written.
    pub fn spec(&self) -> &'s Spec {
        self.spec
    }

    /// Which entry of the scenario a stream of the plan is of: one with a `count` makes several.
    pub fn entry_of(&self, stream: StreamId) -> usize {
        let mut behind = 0;
        let ends = self.spec.streams.iter().map(|spec| {
            behind += spec.count.unwrap_or(1) as usize;
            behind
        });
        ends.take_while(|end| *end <= stream.index()).count()
    }

    /// What seeds all chance of the run.
    pub fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// The platform of a name; that it is not there is a problem at `place`. Where it is not, everything is free.
    pub fn platform(&mut self, name: &str, place: &[Step<'_>]) -> PlatformId {
        let names: Vec<&str> =
            once(PlatformPlan::FREE).chain(self.spec.platforms.iter().map(|spec| spec.name.as_str())).collect();
        PlatformId(self.find(name, &names, place, "platform", "platforms").unwrap_or(0) as u16)
    }

    /// A sentence that a reader of the results has to know.
    pub fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// A problem at a place: what is wrong, what the place is, and what to write instead.
    pub fn report(
        &mut self,
        code: Code,
        place: &[Step<'_>],
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) {
        let span = self.spec.source.span(place);
        self.problems.push(Problem::new(code, message).label(span, label).help(help));
    }

    /// A problem at a place that has to do with another place too, each with what it is.
    pub fn report_both(
        &mut self,
        code: Code,
        (place, label): (&[Step<'_>], &str),
        (other, other_label): (&[Step<'_>], &str),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (span, other_span) = (self.spec.source.span(place), self.spec.source.span(other));
        let mut problem = Problem::new(code, message).label(span.clone(), label);
        if span != other_span {
            problem = problem.label(other_span, other_label);
        }
        self.problems.push(problem.help(help));
    }

    /// `value`, held between `min` and `max`; outside it is a problem.
    pub fn within<T: Ord + Copy + Display>(&mut self, place: &[Step<'_>], what: &str, value: T, min: T, max: T) -> T {
        if value >= min && value <= max {
            return value;
        }
        let label = if value < min { "too small" } else { "too large" };
        self.report(
            Code::OutOfRange,
            place,
            format!("{what} is {value}"),
            label,
            format!("write a value from {min} to {max}"),
        );
        self.has_stand_ins = true;
        value.clamp(min, max)
    }

    /// A random time, checked.
    pub fn jitter(&mut self, place: &[Step<'_>], what: &str, spec: JitterSpec) -> Jitter {
        let mut part = |key: &'static str, value: Duration| {
            let place: Vec<Step<'_>> = place.iter().copied().chain([Step::Key(key)]).collect();
            self.within(&place, &format!("{what}: {key}"), value, Duration::ZERO, DELAY_MAX)
        };
        let jitter =
            Jitter { min: part("min", spec.min.0), mean: part("mean", spec.mean.0), max: part("max", spec.max.0) };
        if jitter.min <= jitter.mean && jitter.mean <= jitter.max {
            return jitter;
        }
        self.report(
            Code::JitterOrder,
            place,
            format!("{what} has minimum {}, mean {} and maximum {}", jitter.min, jitter.mean, jitter.max),
            "out of order",
            "the minimum is at most the mean, and the mean at most the maximum",
        );
        Jitter::default()
    }

    /// The position of `name` among `names`; that it is not there is a problem at `place`. `what` is one of `all`.
    pub fn find(&mut self, name: &str, names: &[&str], place: &[Step<'_>], what: &str, all: &str) -> Option<usize> {
        let found = names.iter().position(|candidate| *candidate == name);
        if found.is_none() {
            let help = if self.problems.is_full() { String::new() } else { suggest(name, names, all) };
            self.report(
                Code::UnknownName,
                place,
                format!("there is no {what} named `{}`", shortened(name)),
                &format!("no such {what}"),
                help,
            );
        }
        found
    }

    /// That no stream called `name` is on `segment`, where `names` are, is a problem at `place`; but not a second one if the stream
    /// exists and a way was not found.
    pub fn not_on(&mut self, segment: &str, name: &str, names: &[&str], place: &[Step<'_>]) {
        let exists = self.spec.streams.iter().any(|stream| stream.name == name);
        if exists && self.problems.list().iter().any(|problem| problem.code == Code::NoWay) {
            return;
        }
        self.find(name, names, place, &format!("stream on `{segment}`"), &format!("streams on `{segment}`"));
    }

    /// Checks a name that becomes part of file and interface names.
    pub fn identifier(&mut self, name: &str, place: &[Step<'_>], what: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.len() <= NAME_LEN_MAX
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(plain)
        {
            return;
        }
        self.report(
            Code::BadName,
            place,
            format!("{what} `{}` is no plain name", shortened(name)),
            "not a plain name",
            format!("begin with a letter or digit; go on with letters, digits, `-`, `_`, `.`; at most {NAME_LEN_MAX}"),
        );
    }

    /// Checks a name that is only shown.
    pub fn title(&mut self, name: &str, place: &[Step<'_>], what: &str) {
        if !name.trim().is_empty() && name.len() <= NAME_LEN_MAX && !name.chars().any(char::is_control) {
            return;
        }
        self.report(
            Code::BadName,
            place,
            format!("{what} `{}` is no name", shortened(name)),
            "not a name",
            format!("write 1 to {NAME_LEN_MAX} bytes of text on one line"),
        );
    }

    /// Reports every name of the list `table` that an earlier entry has.
    pub(crate) fn unique<'n>(&mut self, table: &str, names: impl IntoIterator<Item = &'n str>) {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, name) in names.into_iter().enumerate() {
            let Some(&earlier) = first.get(name) else {
                first.insert(name, i);
                continue;
            };
            self.report_both(
                Code::DuplicateName,
                (at![table, i, "name"], "again here"),
                (at![table, earlier, "name"], "first here"),
                format!("two of the {table} are named `{}`", shortened(name)),
                "give each its own name",
            );
        }
    }
}
