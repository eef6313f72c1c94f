//! Which middleware there is: a folder each, described by its `adapter.toml`.

use std::path::{Path, PathBuf};

use chronoseal_report::Cell;
use serde::Deserialize;

use crate::MiddlewareError;

/// The file that makes a folder an adapter.
const DESCRIPTION: &str = "adapter.toml";
/// Longer ones are not read `[byte]`.
const DESCRIPTION_LEN_MAX: u64 = 1 << 20;

/// A middleware, and the program that carries streams over it.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// The name of its folder.
    pub name: String,
    /// Where `build.sh` and the rest of it are.
    pub folder: PathBuf,
    /// As read.
    pub title: String,
    /// A command that prints the installed version, and fails where it is not installed. It is run in the folder.
    pub version: Vec<String>,
    /// What an installed version begins with that its README and figures are of, if it says so.
    pub tried: Option<String>,
    /// Debian's packages that build it and run it.
    pub packages: Vec<String>,
    /// What else it needs, and where that is to be had.
    pub needs: Option<String>,
    /// What is known to be wrong with figures of it, one sentence each.
    pub limits: Vec<String>,
    /// Other folders that its program is built of, from its own.
    pub sources: Vec<String>,
    /// The ways to run it.
    pub configurations: Vec<Configuration>,
}

/// One way to run a middleware.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// As typed; no two adapters have the same.
    pub name: String,
    /// As read.
    pub title: String,
    /// Its row in the tables of the published work, if it is one of those.
    pub published: Option<String>,
    /// What protects its messages, in a word: `none`, `authenticated`, `encrypted`.
    pub security: String,
    /// The configuration of the same adapter that differs in its protection only, with which it is compared.
    pub plain: Option<String>,
    /// A variant that only thorough comparisons measure.
    #[serde(default)]
    pub variant: bool,
    /// What `keys.sh` is to make, if it needs keys.
    pub keys: Option<String>,
    /// Where its programs take datagrams and connections from anybody: `udp ADDRESS PORT`, `tcp ADDRESS PORT`, or `rtps PUBLISHER SUBSCRIBER OWN`,
    /// which is announced. Addresses are words in braces, as in programs.
    #[serde(default)]
    pub listens: Vec<String>,
    /// Whether its messages go over the network; those through shared memory do not, and nothing of them is a figure of a network.
    #[serde(default)]
    pub wire: Wire,
    /// The program of both ends. Words in braces are filled in: see [`crate::Pair`].
    pub program: Vec<String>,
    /// The program of a third node, if it needs one.
    pub broker: Option<Vec<String>>,
}

/// Whether messages go over the network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// They do.
    #[default]
    Yes,
    /// They take another way from process to process of one host.
    No,
}

impl Configuration {
    /// Its name, with what has to be said wherever a figure of it is shown.
    pub fn shown(&self) -> String {
        match self.wire {
            Wire::Yes => self.name.clone(),
            Wire::No => format!("{} (not on the wire)", self.name),
        }
    }

    /// The cell of a table that names it.
    pub fn cell(&self) -> Cell {
        Cell::text(self.shown()).titled(&self.title)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    title: String,
    version: Vec<String>,
    tried: Option<String>,
    packages: Vec<String>,
    needs: Option<String>,
    #[serde(default)]
    limits: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    configurations: Vec<Configuration>,
}

/// The configuration of this name, with its adapter.
pub(crate) fn named<'a>(all: &'a [Adapter], name: &str) -> Option<(&'a Adapter, &'a Configuration)> {
    let of = |adapter: &'a Adapter| adapter.configurations.iter().map(move |one| (adapter, one));
    all.iter().flat_map(of).find(|(_, one)| one.name == name)
}

/// Every adapter in `folder`, by name.
///
/// # Errors
/// [`MiddlewareError`] if there is none, if a description is wrong, or if two configurations have the same name.
pub fn adapters(folder: &Path) -> Result<Vec<Adapter>, MiddlewareError> {
    let no_folder =
        |error: std::io::Error| MiddlewareError::NoAdapters { folder: folder.into(), reason: error.to_string() };
    let mut folders = Vec::new();
    for entry in folder.read_dir().map_err(no_folder)? {
        let path = entry.map_err(no_folder)?.path();
        if path.join(DESCRIPTION).is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() {
        let reason = format!("no folder in it has an {DESCRIPTION}");
        return Err(MiddlewareError::NoAdapters { folder: folder.into(), reason });
    }
    let mut found: Vec<Adapter> = Vec::new();
    for folder in folders {
        let adapter = read(&folder)?;
        let known = found.iter().flat_map(|known| &known.configurations);
        let names: Vec<&str> = known.map(|configuration| configuration.name.as_str()).collect();
        if let Some(twice) = adapter.configurations.iter().find(|one| names.contains(&one.name.as_str())) {
            let what = format!("another adapter has a configuration named `{}`", twice.name);
            return Err(MiddlewareError::Description { file: folder.join(DESCRIPTION), what });
        }
        found.push(adapter);
    }
    Ok(found)
}

fn read(folder: &Path) -> Result<Adapter, MiddlewareError> {
    let file = folder.join(DESCRIPTION);
    let wrong = |what: String| MiddlewareError::Description { file: file.clone(), what };
    let len = file.metadata().map_err(|error| wrong(error.to_string()))?.len();
    if len > DESCRIPTION_LEN_MAX {
        return Err(wrong(format!("it has {len} bytes, and at most {DESCRIPTION_LEN_MAX} are read")));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    let Description { title, version, tried, packages, needs, limits, sources, configurations } =
        toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if version.is_empty() {
        return Err(wrong("`version` has no words: write a command that prints the installed version".into()));
    }
    if configurations.is_empty() {
        return Err(wrong("it has no `[[configurations]]`".into()));
    }
    for (place, configuration) in configurations.iter().enumerate() {
        let programs = std::iter::once(&configuration.program).chain(&configuration.broker);
        if programs.into_iter().any(Vec::is_empty) {
            return Err(wrong(format!("a program of `{}` has no words", configuration.name)));
        }
        let is_plain = |one: &Configuration| Some(&one.name) == configuration.plain.as_ref() && one.security == "none";
        if let Some(plain) = &configuration.plain
            && !configurations.iter().any(is_plain)
        {
            let what = format!(
                "`{}` is compared with `{plain}`, and no configuration without security has that name",
                configuration.name
            );
            return Err(wrong(what));
        }
        if configurations[..place].iter().any(|known| known.name == configuration.name) {
            return Err(wrong(format!("two configurations are named `{}`", configuration.name)));
        }
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Adapter { name, folder: folder.into(), title, version, tried, packages, needs, limits, sources, configurations })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = r#"
        title = "Sockets"
        version = ["true"]
        packages = ["gcc"]
        [[configurations]]
        name = "raw-udp"
        title = "UDP"
        security = "none"
        program = ["{built}/adapter", "{self}", "udp"]
    "#;

    fn folder_of(adapters: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in adapters {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join(DESCRIPTION), text).unwrap();
        }
        folder
    }

    fn refusal(adapters: &[(&str, &str)]) -> String {
        super::adapters(folder_of(adapters).path()).unwrap_err().to_string()
    }

    #[test]
    fn a_folder_with_a_description_is_an_adapter() {
        let folder = folder_of(&[("raw", RAW)]);
        std::fs::create_dir(folder.path().join("common")).unwrap();
        let found = adapters(folder.path()).unwrap();
        assert_eq!((found.len(), found[0].name.as_str()), (1, "raw"));
        assert_eq!(found[0].configurations[0].program, ["{built}/adapter", "{self}", "udp"]);
    }

    #[test]
    fn a_wrong_description_is_named_with_its_place() {
        let unknown = RAW.replace("security", "safety");
        assert!(refusal(&[("raw", &unknown)]).contains("safety"));
        assert!(refusal(&[("raw", &RAW.replace("[\"true\"]", "[]"))]).contains("prints the installed version"));
        assert!(
            refusal(&[("raw", RAW), ("other", RAW)]).contains("another adapter has a configuration named `raw-udp`")
        );
        assert!(refusal(&[]).contains("no folder in it"));
        let compared = RAW.replace("security =", "plain = \"raw-tcp\"\n security =");
        assert!(refusal(&[("raw", &compared)]).contains("`raw-udp` is compared with `raw-tcp`"));
        let empty = RAW.replace("[\"{built}/adapter\", \"{self}\", \"udp\"]", "[]");
        assert!(refusal(&[("raw", &empty)]).contains("a program of `raw-udp` has no words"));
    }

    #[test]
    fn the_adapters_of_this_tree_can_be_read() {
        let found = adapters(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware")).unwrap();
        assert!(found.iter().any(|adapter| adapter.name == "cyclonedds"));
        for adapter in found {
            assert!(adapter.folder.join("build.sh").is_file(), "{}", adapter.name);
            let has_keys = adapter.configurations.iter().any(|configuration| configuration.keys.is_some());
            assert!(!has_keys || adapter.folder.join("keys.sh").is_file(), "{}", adapter.name);
        }
    }
}
