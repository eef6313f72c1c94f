//! Which cells are asked for.

use chronoseal_middleware::{Adapter, Data, NETWORKS};

use crate::StudyError;

/// Configurations, data and networks by their names; of a kind of which none is named, all.
#[derive(Clone, Debug, Default)]
pub(super) struct Only {
    configurations: Vec<String>,
    data: Vec<String>,
    networks: Vec<String>,
}

impl Only {
    /// What these names mean.
    ///
    /// # Errors
    /// [`StudyError::Only`] for the first that means nothing.
    pub(super) fn of(names: &[String], all: &[Adapter]) -> Result<Self, StudyError> {
        let configurations: Vec<String> =
            all.iter().flat_map(|adapter| &adapter.configurations).map(|one| one.name.clone()).collect();
        let data: Vec<String> = Data::recorded().map(|data| data.name).into();
        let networks: Vec<String> = NETWORKS.map(|network| network.profile.to_owned()).into();
        let mut only = Self::default();
        for name in names {
            let kinds =
                [(&configurations, &mut only.configurations), (&data, &mut only.data), (&networks, &mut only.networks)];
            let Some((_, named)) = kinds.into_iter().find(|(known, _)| known.contains(name)) else {
                let known = [networks, data, configurations].concat();
                return Err(StudyError::Only { name: name.clone(), known });
            };
            named.push(name.clone());
        }
        Ok(only)
    }

    pub(super) fn has_configuration(&self, name: &str) -> bool {
        has(&self.configurations, name)
    }

    pub(super) fn has(&self, configuration: &str, data: &str, network: &str) -> bool {
        self.has_configuration(configuration) && has(&self.data, data) && has(&self.networks, network)
    }
}

fn has(named: &[String], name: &str) -> bool {
    named.is_empty() || named.iter().any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_of_each_kind_leave_the_others_of_that_kind_out() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware");
        let all = chronoseal_middleware::adapters(&folder).unwrap();
        let only = |names: &[&str]| Only::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), &all);
        let every = only(&[]).unwrap();
        assert!(every.has("raw-udp", "cloud", "wifi"));
        let some = only(&["raw-udp", "raw-tcp", "laser"]).unwrap();
        assert!(some.has("raw-tcp", "laser", "wifi") && some.has_configuration("raw-udp"));
        assert!(!some.has("raw-tcp", "image", "wifi") && !some.has("ros-1", "laser", "wifi"));
        let error = only(&["lasers"]).unwrap_err().to_string();
        assert!(error.contains("--only lasers") && error.contains("wifi, laser"), "{error}");
    }
}
