//! What is printed: ten runs a platform, averages below them, and what each function had come to.

const RUNS: &str = include_str!("../../../studies/v2x-vss/published/sign_verify_runs.csv");
const AVERAGES: &str = include_str!("../../../studies/v2x-vss/published/sign_verify_averages.csv");
const FUNCTIONS: &str = include_str!("../../../studies/v2x-vss/published/vss_functions.csv");
const TEST_CASES: &str = include_str!("../../../studies/v2x-vss/published/vss_test_cases.csv");

/// One of tables 4.1 to 4.7.
pub(super) struct Printed {
    /// As numbered.
    pub(super) number: &'static str,
    /// What ran.
    pub(super) processor: &'static str,
    /// `Os`, `O3` or the firmware.
    pub(super) build: &'static str,
    /// Sign and verify of each run `[ms]`.
    pub(super) runs: Vec<[f64; 2]>,
    /// Averages as printed `[ms]`.
    pub(super) averages_ms: [f64; 2],
    /// Rates as printed `[1/s]`.
    pub(super) rates_per_s: [f64; 2],
}

impl Printed {
    /// Mean of the printed runs `[ms]`.
    pub(super) fn mean_ms(&self, column: usize) -> f64 {
        self.runs.iter().map(|run| run[column]).sum::<f64>() / self.runs.len().max(1) as f64
    }
}

/// All seven.
pub(super) fn tables() -> Vec<Printed> {
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
    AVERAGES
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&'static str> = line.split(',').collect();
            let rows = RUNS.lines().skip(1).map(|line| line.split(',').collect::<Vec<&'static str>>());
            let of_table: Vec<_> = rows.filter(|row| row[0] == cells[0]).collect();
            let value = |column: usize| number(cells.get(column).copied());
            Printed {
                number: cells[0],
                processor: of_table.first().map_or("", |row| row[2]),
                build: cells[2],
                runs: of_table.iter().map(|row| [number(row.get(5).copied()), number(row.get(6).copied())]).collect(),
                averages_ms: [value(3), value(4)],
                rates_per_s: [value(5), value(6)],
            }
        })
        .collect()
}

/// Tables of software: of the accelerator a firmware is named.
fn of_software() -> impl Iterator<Item = Printed> {
    tables().into_iter().filter(|table| !table.build.starts_with("fw "))
}

/// The processors of the software, each once.
pub(super) fn processors() -> String {
    let mut names: Vec<&str> = of_software().map(|table| table.processor).collect();
    names.dedup();
    names.join(", ")
}

/// The compiler's options it was built with.
pub(super) fn builds() -> String {
    let mut names: Vec<String> = of_software().map(|table| format!("-{}", table.build)).collect();
    names.sort();
    names.dedup();
    names.reverse();
    format!("gcc {}", names.join(" and "))
}

/// Name, status in the source, remark.
pub(super) fn functions() -> impl Iterator<Item = [&'static str; 3]> {
    rows(FUNCTIONS)
}

/// Name, purpose, context.
pub(super) fn test_cases() -> impl Iterator<Item = [&'static str; 3]> {
    rows(TEST_CASES)
}

fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    text.lines().skip(1).map(|line| {
        let mut cells = line.splitn(3, ',');
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_average_is_that_of_its_runs() {
        let tables = tables();
        assert_eq!(tables.len(), 7);
        for table in &tables {
            assert_eq!(table.runs.len(), 10, "table {}", table.number);
            for column in [0, 1] {
                assert!((table.mean_ms(column) - table.averages_ms[column]).abs() < 0.051, "table {}", table.number);
            }
        }
    }

    #[test]
    fn processors_and_builds_are_those_of_the_tables() {
        let expected = "Asus Eee PC with Atom N270 1.6 GHz, MPC5200B PowerPC 400 MHz, ARM11 533 MHz";
        assert_eq!(processors(), expected);
        assert_eq!(builds(), "gcc -Os and -O3");
    }

    #[test]
    fn all_cases_and_functions_are_there() {
        assert_eq!((test_cases().count(), functions().count()), (15, 9));
        assert!(functions().any(|[name, status, _]| name == "changePseudonym" && status == "not tested"));
    }
}
