//! Which hostile actions have been tried on which message while what went on.

use std::fmt;

use chronoseal_groupkey::Step;

/// What the enemy does to what a member receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Drop,
    Repeat,
    Reorder,
    Truncate,
    Mutate,
    Inject,
}

impl Action {
    pub const ALL: [Self; 6] = [Self::Drop, Self::Repeat, Self::Reorder, Self::Truncate, Self::Mutate, Self::Inject];
}

/// Steps: hostile actions that changed what a member, or the orchestrator, received.
#[derive(Clone, Default)]
pub struct Coverage {
    /// By message, action, and whether a run was under way.
    cells: [[[u64; 2]; 6]; 12],
}

impl Coverage {
    pub fn count(&mut self, step: Step, action: Action, is_busy: bool) {
        self.cells[step as usize][action as usize][usize::from(is_busy)] += 1;
    }

    pub fn add(&mut self, other: &Self) {
        let cells = self.cells.iter_mut().flatten().flatten();
        cells.zip(other.cells.iter().flatten().flatten()).for_each(|(cell, more)| *cell += more);
    }

    pub fn cell(&self, step: Step, action: Action, is_busy: bool) -> u64 {
        self.cells[step as usize][action as usize][usize::from(is_busy)]
    }

    pub fn steps(&self) -> u64 {
        self.cells.iter().flatten().flatten().sum()
    }

    /// Of all steps, those while a run was under way.
    pub fn busy_share(&self) -> f64 {
        let busy: u64 = self.cells.iter().flatten().map(|cell| cell[1]).sum();
        busy as f64 / self.steps().max(1) as f64
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:20}", "idle / in a run")?;
        Action::ALL.iter().try_for_each(|action| write!(f, "{:>18}", format!("{action:?}")))?;
        for step in Step::ALL {
            write!(f, "\n{:20}", format!("{step:?}"))?;
            for action in Action::ALL {
                let cell = self.cells[step as usize][action as usize];
                write!(f, "{:>18}", format!("{} / {}", cell[0], cell[1]))?;
            }
        }
        write!(f, "\n{} steps, {:.0} % in a run", self.steps(), 100.0 * self.busy_share())
    }
}
