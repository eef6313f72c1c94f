//! The source's test cases by name, and the nine services.

use chronoseal_report::{Cell, Evidence, Mark, Table};
use chronoseal_v2x_service::trial::{Case, Outcome, Trial};

use super::published::{functions, test_cases};

/// How many passed, failed, and could not be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) not_applicable: usize,
}

impl Count {
    pub(super) fn of(cases: &[Case]) -> Self {
        let mut count = Self::default();
        for case in cases {
            match case.outcome {
                Outcome::Passed(_) => count.passed += 1,
                Outcome::Failed(_) => count.failed += 1,
                Outcome::NotApplicable(_) => count.not_applicable += 1,
            }
        }
        count
    }
}

fn verdict(case: Option<&Case>, why_none: &str) -> [Cell; 3] {
    let Some(case) = case else { return [Cell::na(why_none), Cell::text(""), Cell::text(why_none)] };
    let evidence = if case.is_simulated { Evidence::Simulated } else { Evidence::Measured };
    let (verdict, seen) = match &case.outcome {
        Outcome::Passed(seen) => (Cell::text("passed").from(evidence).marked(Mark::Good), seen),
        Outcome::Failed(seen) => (Cell::text("failed").from(evidence).marked(Mark::Bad), seen),
        Outcome::NotApplicable(seen) => (Cell::na(seen.clone()), seen),
    };
    [verdict, Cell::text(case.device.clone()), Cell::text(seen.clone())]
}

/// The 15 test cases.
pub(super) fn table(trial: Option<&Trial>, why_none: &str) -> Table {
    let mut table = Table::new("The 15 test cases of section 2.2, by name; `same` is as the one before")
        .words("test case")
        .words("what it is about")
        .words("source")
        .words("here")
        .words("keys in")
        .words("seen");
    for [name, what, context] in test_cases() {
        let case = trial.and_then(|trial| trial.cases.iter().find(|case| case.name == name));
        let [verdict, device, seen] = verdict(case, why_none);
        let passed = Cell::text("passed").from(Evidence::Printed);
        table.push(vec![Cell::text(name), Cell::text(format!("{what} ({context})")), passed, verdict, device, seen]);
    }
    table
        .footnote(match trial {
            Some(trial) => format!("PKI A: chronoseal's own authorities, over HTTP. PKI B: {}.", trial.second_vendor),
            None => why_none.to_owned(),
        })
        .footnote("The source's hardware was an FPGA on USB. Here it is the RTL of rtl/, simulated in the loop: functions are real, times are not this host's.")
        .footnote("A station's time runs at 10 messages a second in the cases of 200 messages, however fast they go.")
}

/// The nine services.
pub(super) fn services(trial: Option<&Trial>, why_none: &str) -> Table {
    let mut table = Table::new("The nine services offered to applications (section 2.3)")
        .words("service")
        .words("source")
        .words("here")
        .words("keys in")
        .words("seen");
    for [name, status, _] in functions() {
        let case = trial.and_then(|trial| trial.services.iter().find(|case| case.name == name));
        let [verdict, device, seen] = verdict(case, why_none);
        let mark = if status == "not tested" { Mark::Warn } else { Mark::None };
        let status = Cell::text(status).from(Evidence::Printed).marked(mark);
        table.push(vec![Cell::text(name), status, verdict, device, seen]);
    }
    table
}
