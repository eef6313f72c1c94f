//! A scenario with everything it refers to: enough to make the same plan in another process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use chronoseal_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::kinds::{KINDS, SegmentKind};
use crate::load::{FileError, Files, does_not_fit, load_with, parse_with};
use crate::problem::Problems;
use crate::protected::protected;

/// A checked scenario, and the texts it was made from.
#[derive(Clone)]
pub struct Scenario {
    /// What it says.
    pub plan: Plan,
    texts: Texts,
    kinds: &'static [&'static dyn SegmentKind],
}

/// What a plan is made from. Two processes with the same texts have the same plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Texts {
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
    pub(crate) sets: Vec<(String, String)>,
    attached: BTreeMap<String, Vec<u8>>,
}

impl Scenario {
    /// Reads a scenario, as [`load`](crate::load()) does, and remembers the files it refers to.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(name: &str, text: &[u8], sets: &[(String, String)], files: &dyn Files) -> Result<Self, Problems> {
        Self::load_with(KINDS, name, text, sets, files)
    }

    /// [`Self::load`] with other kinds of segments than [`KINDS`].
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load_with(
        kinds: &'static [&'static dyn SegmentKind],
        name: &str,
        text: &[u8],
        sets: &[(String, String)],
        files: &dyn Files,
    ) -> Result<Self, Problems> {
        let remember = Remember { files, seen: RefCell::default() };
        let plan = load_with(kinds, name, text, sets, &remember)?;
        let texts =
            Texts { name: name.into(), text: text.into(), sets: sets.into(), attached: remember.seen.into_inner() };
        Ok(Self { plan, texts, kinds })
    }

    /// The same scenario with more overrides.
    ///
    /// # Errors
    /// Everything that is wrong with it then.
    pub fn with(&self, sets: &[(&str, &str)]) -> Result<Self, Problems> {
        let mut texts = self.texts.clone();
        texts.sets.extend(sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())));
        Ok(Self { plan: texts.plan_with(self.kinds)?, texts, kinds: self.kinds })
    }

    /// What it means with the protection of this name on all its streams that can have it, and the names of those that keep their own.
    ///
    /// # Errors
    /// What is wrong with it if none can have it.
    pub fn protected(&self, protection: &str) -> Result<(Plan, Vec<String>), Problems> {
        protected(self.kinds, &self.texts, protection)
    }

    /// What it was made from.
    pub const fn texts(&self) -> &Texts {
        &self.texts
    }

    /// A schedule that does not fit, found after the scenario was read: points at the stream, or the task `node/task`, that finds
    /// no place. `message` says why, and may end with `advice`.
    pub fn does_not_fit(&self, name: &str, message: &str, advice: &str) -> Problems {
        let Texts { name: source_name, text, sets, .. } = &self.texts;
        let message = message.strip_suffix(advice).unwrap_or(message).trim_end_matches(['.', ' ']);
        match parse_with(self.kinds, source_name, text, sets) {
            Ok(spec) => does_not_fit(&spec, name, message, advice),
            Err(problems) => problems,
        }
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("plan", &self.plan).field("texts", &self.texts).finish_non_exhaustive()
    }
}

impl Texts {
    /// The plan, made again.
    ///
    /// # Errors
    /// Everything that is wrong with them: nothing, if a plan was made of them before.
    pub fn plan(&self) -> Result<Plan, Problems> {
        self.plan_with(KINDS)
    }

    /// [`Self::plan`] with other kinds of segments than [`KINDS`]: those that the scenario was loaded with.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_with(&self, kinds: &[&dyn SegmentKind]) -> Result<Plan, Problems> {
        load_with(kinds, &self.name, &self.text, &self.sets, &Attached(&self.attached))
    }
}

/// Hands files through and keeps what was read.
struct Remember<'a> {
    files: &'a dyn Files,
    seen: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl Files for Remember<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let bytes = self.files.read(path)?;
        self.seen.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// Files read before.
struct Attached<'a>(&'a BTreeMap<String, Vec<u8>>);

impl Files for Attached<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        self.0.get(path).cloned().ok_or(FileError::Unknown)
    }
}
