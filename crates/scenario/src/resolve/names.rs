//! Names: their form, their uniqueness, and what they refer to.

use std::collections::BTreeMap;

use super::Resolver;
use crate::limits::NAME_LEN_MAX;
use crate::near::suggest;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::{Step, at};

impl Resolver<'_> {
    /// A name that becomes part of file and interface names.
    pub(super) fn identifier(&mut self, name: &str, path: &[Step<'_>], what: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.len() <= NAME_LEN_MAX
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(plain)
        {
            return;
        }
        self.report(
            Code::BadName,
            path,
            format!("{what} `{}` is no plain name", shortened(name)),
            "not a plain name",
            format!("begin with a letter or digit; go on with letters, digits, `-`, `_`, `.`; at most {NAME_LEN_MAX}"),
        );
    }

    /// A name that is only shown.
    pub(super) fn title(&mut self, name: &str, path: &[Step<'_>], what: &str) {
        if !name.trim().is_empty() && name.len() <= NAME_LEN_MAX && !name.chars().any(char::is_control) {
            return;
        }
        self.report(
            Code::BadName,
            path,
            format!("{what} `{}` is no name", shortened(name)),
            "not a name",
            format!("write 1 to {NAME_LEN_MAX} bytes of text on one line"),
        );
    }

    /// Reports every name of the list `table` that an earlier entry has.
    pub(super) fn unique<'n>(&mut self, table: &str, names: impl IntoIterator<Item = &'n str>) {
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

    /// The position of `name` among `names`; that it is not there is a problem at `path`.
    pub(super) fn find(
        &mut self,
        name: &str,
        names: &[&str],
        path: &[Step<'_>],
        what: &str,
        all: &str,
    ) -> Option<usize> {
        let found = names.iter().position(|candidate| *candidate == name);
        if found.is_none() {
            let help = if self.problems.is_full() { String::new() } else { suggest(name, names, all) };
            self.report(
                Code::UnknownName,
                path,
                format!("there is no {what} named `{}`", shortened(name)),
                &format!("no such {what}"),
                help,
            );
        }
        found
    }
}
