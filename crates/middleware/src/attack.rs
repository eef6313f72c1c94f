//! What a stranger does to a pair: a program of a further node of the run.

use std::path::{Path, PathBuf};

use chronoseal_core::Duration;
use serde::Deserialize;

use crate::{Adapter, Configuration, MiddlewareError};

/// The folder of attacks, beside the adapters, and its table.
const FOLDER: &str = "attacks";
const TABLE: &str = "attacks.toml";
/// The word of a program that stands for the places of a configuration.
pub(crate) const LISTENS: &str = "{listens}";
/// On a link that delays nothing a genuine message that is older than this when it comes is late by the attack; a host that is busy is
/// seldom as slow.
pub const LATE_UNDER_ATTACK: Duration = Duration::from_ms(250);

/// An attack.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// As typed.
    pub name: String,
    /// What it does, as read.
    pub title: String,
    /// Its category of STRIDE, such as `spoofing`.
    pub threat: String,
    /// The adapters that it can be tried on; all if there are none.
    #[serde(default)]
    pub adapters: Vec<String>,
    /// Whose keys it has: those of another authority, or of `insider`.
    #[serde(default = "stranger")]
    pub keys: String,
    /// It is there only where a configuration has keys.
    #[serde(default)]
    pub needs_keys: bool,
    /// It is made of what TCP is, so that it can be tried only where messages go over that.
    #[serde(default)]
    pub tcp: bool,
    /// All packets of the link go through the stranger, which sees them; else it sees what is for it and for all.
    #[serde(default)]
    pub through: bool,
    /// Its program. Words in braces are those of [`crate::Pair`], and `{attacks}`, `{stream}`, `{length}`; `{program}` stands for the adapter's own
    /// program with its words, `{own_keys}` for the folder of its keys, where there are any, and `{listens}` for the places that the configuration
    /// names.
    pub program: Vec<String>,
    /// The folder of attacks.
    #[serde(skip)]
    pub folder: PathBuf,
}

fn stranger() -> String {
    "stranger".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attacks {
    attacks: Vec<Attack>,
}

/// Every attack, as the table beside the adapters in `folder` has them.
///
/// # Errors
/// [`MiddlewareError::Description`] if there is no table, or if it is wrong.
pub fn attacks(folder: &Path) -> Result<Vec<Attack>, MiddlewareError> {
    let folder = folder.join(FOLDER);
    let folder = folder.canonicalize().unwrap_or(folder);
    let file = folder.join(TABLE);
    let wrong = |what: String| MiddlewareError::Description { file: file.clone(), what };
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    let Attacks { mut attacks } = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    for place in 0..attacks.len() {
        if attacks[place].program.is_empty() {
            return Err(wrong(format!("the program of `{}` has no words", attacks[place].name)));
        }
        if attacks[..place].iter().any(|known| known.name == attacks[place].name) {
            return Err(wrong(format!("two attacks are named `{}`", attacks[place].name)));
        }
        attacks[place].folder.clone_from(&folder);
    }
    Ok(attacks)
}

impl Attack {
    /// It can be tried on this configuration of an adapter.
    pub fn is_on(&self, adapter: &Adapter, configuration: &Configuration) -> bool {
        self.why_not(adapter, configuration).is_none()
    }

    /// Why it cannot.
    pub fn why_not(&self, adapter: &Adapter, configuration: &Configuration) -> Option<String> {
        let needs_places = self.program.iter().any(|word| word == LISTENS);
        if !self.adapters.is_empty() && !self.adapters.contains(&adapter.name) {
            return Some(format!("it is an attack on {}", self.adapters.join(", ")));
        }
        if self.needs_keys && configuration.keys.is_none() {
            return Some("nobody has keys here, so nobody is an insider".into());
        }
        if self.tcp && !configuration.listens.iter().any(|place| place.starts_with("tcp ")) {
            return Some("its messages do not go over TCP".into());
        }
        (needs_places && configuration.listens.is_empty()).then(|| "it does not say where its programs listen".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attacks_of_this_tree_can_be_read_and_name_adapters_that_there_are() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware");
        let (attacks, adapters) = (attacks(&folder).unwrap(), crate::adapters(&folder).unwrap());
        assert!(attacks.iter().any(|attack| attack.name == "forge" && attack.adapters.is_empty()));
        for attack in &attacks {
            for name in &attack.adapters {
                assert!(adapters.iter().any(|adapter| adapter.name == *name), "{}: {name}", attack.name);
            }
        }
    }
}
