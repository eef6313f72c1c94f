//! The scenarios of the study, as they stand in `studies/tte-hmac/scenarios`.

use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_wire::ethernet::HEADER_LEN;

use crate::StudyError;

macro_rules! scenario {
    ($file:literal) => {
        ($file, include_str!(concat!("../../../../studies/tte-hmac/scenarios/", $file)))
    };
}

pub(super) const CLUSTER: (&str, &str) = scenario!("cluster.toml");
pub(super) const FORGER: (&str, &str) = scenario!("forger.toml");
pub(super) const FULL: (&str, &str) = scenario!("full.toml");
pub(super) const FULL_4: (&str, &str) = scenario!("full-4.toml");
pub(super) const RATE: (&str, &str) = scenario!("rate.toml");
pub(super) const SLOTS: (&str, &str) = scenario!("slots.toml");
pub(super) const SWITCH: (&str, &str) = scenario!("switch.toml");
pub(super) const SWITCH_MODEL: (&str, &str) = scenario!("switch-model.toml");

/// The `length` of a stream whose frames are so long with their header `[byte]`.
pub(super) fn length(frame_len: u32) -> String {
    format!("{}B", frame_len - HEADER_LEN as u32)
}

/// Loads one of them with overrides.
pub(super) fn load((name, text): (&str, &str), sets: &[(&str, &str)]) -> Result<Scenario, StudyError> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scenario::load(name, text.as_bytes(), &sets, &NoFiles).map_err(|problems| StudyError::Scenario(problems.render()))
}

#[cfg(test)]
mod tests {
    use chronoseal_catalog::Prepared;

    use super::*;

    #[test]
    fn every_scenario_of_the_study_loads_and_has_a_schedule() {
        for scenario in [CLUSTER, FORGER, FULL, FULL_4, RATE, SLOTS, SWITCH, SWITCH_MODEL] {
            let loaded = load(scenario, &[]).unwrap_or_else(|error| panic!("{error}"));
            if let Err(error) = Prepared::new(&loaded.plan) {
                panic!("{}: {error}", scenario.0);
            }
        }
    }
}
