//! A scenario with everything it refers to: enough to build the same plan in another process.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chronoseal_analysis::Infeasible;
use chronoseal_catalog::{Kinds, PrepareError, Prepared};
use chronoseal_plan::Plan;
use chronoseal_scenario::{FileError, Files, Problems, load_with, parse_with};
use serde::{Deserialize, Serialize};

/// A checked scenario, and the texts it was made from.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it says.
    pub plan: Plan,
    pub(crate) sources: Sources,
    kinds: Kinds,
}

/// What a plan is made from. Two processes with the same sources have the same plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sources {
    name: String,
    text: Vec<u8>,
    sets: Vec<(String, String)>,
    attached: BTreeMap<String, Vec<u8>>,
}

impl Scenario {
    /// Reads a scenario, as [`chronoseal_scenario::load`] does, and remembers the files it refers to.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(name: &str, text: &[u8], sets: &[(String, String)], files: &dyn Files) -> Result<Self, Problems> {
        Self::load_with(Kinds::BUILT_IN, name, text, sets, files)
    }

    /// [`Self::load`] with other kinds of segments than [`Kinds::BUILT_IN`]. All that is made of the scenario has these
    /// kinds; agents of live runs are processes of their own and need [`crate::agent_main_with`] the same.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load_with(
        kinds: Kinds,
        name: &str,
        text: &[u8],
        sets: &[(String, String)],
        files: &dyn Files,
    ) -> Result<Self, Problems> {
        let remember = Remember { files, seen: RefCell::default() };
        let plan = load_with(kinds.scenario(), name, text, sets, &remember)?;
        let sources =
            Sources { name: name.into(), text: text.into(), sets: sets.into(), attached: remember.seen.into_inner() };
        Ok(Self { plan, sources, kinds })
    }

    /// The same scenario with more overrides.
    ///
    /// # Errors
    /// Everything that is wrong with it then.
    pub fn with(&self, sets: &[(&str, &str)]) -> Result<Self, Problems> {
        let mut sources = self.sources.clone();
        sources.sets.extend(sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())));
        sources.scenario(self.kinds)
    }

    /// The plan with what its segments work out before a run, such as schedule tables.
    ///
    /// # Errors
    /// What does not fit, and with what.
    pub fn prepare(&self) -> Result<Prepared<'_>, PrepareError> {
        Prepared::with_kinds(&self.plan, self.kinds)
    }

    /// The kinds of segments that it can have.
    pub const fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// Why something does not fit, at its place in the text.
    pub fn does_not_fit(&self, infeasible: &Infeasible) -> Problems {
        let Sources { name, text, sets, .. } = &self.sources;
        let message = infeasible.to_string();
        let message = message.strip_suffix(&infeasible.advice).unwrap_or(&message).trim_end_matches(['.', ' ']);
        match parse_with(self.kinds.scenario(), name, text, sets) {
            Ok(spec) => chronoseal_scenario::does_not_fit(&spec, &infeasible.name, message, &infeasible.advice),
            Err(problems) => problems,
        }
    }
}

impl Sources {
    pub(crate) fn scenario(self, kinds: Kinds) -> Result<Scenario, Problems> {
        let plan = load_with(kinds.scenario(), &self.name, &self.text, &self.sets, &Attached(&self.attached))?;
        Ok(Scenario { plan, sources: self, kinds })
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
