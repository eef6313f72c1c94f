//! Where the agents of a run are: a table with a line for each node.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::authority::is_name;

/// The agent of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentEntry {
    /// Where it listens: a host and a port.
    pub control: String,
    /// The name in its certificate.
    pub name: String,
    /// The address that messages go through, if not the one it was started with.
    pub data: Option<Ipv4Addr>,
}

/// The agents of a run, by the names of its nodes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Agents(pub BTreeMap<String, AgentEntry>);

/// A line, as it is written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"host:port\", or a table with `control` and, if need be, `agent` and `data`")]
enum Written {
    Control(String),
    Table(WrittenTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTable {
    control: String,
    agent: Option<String>,
    data: Option<Ipv4Addr>,
}

/// Why the table cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentsError {
    /// The file.
    #[error("cannot read {}: {reason}. It has a line for each node, such as robot = \"10.0.0.1:7600\"", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// As the host put it.
        reason: std::io::Error,
    },
    /// Its text.
    #[error("{}: {reason}", path.display())]
    Text {
        /// Which.
        path: PathBuf,
        /// Where, and what to write.
        reason: String,
    },
}

impl Agents {
    /// Reads a table.
    ///
    /// # Errors
    /// [`AgentsError`]
    pub fn read(path: &Path) -> Result<Self, AgentsError> {
        let text =
            std::fs::read_to_string(path).map_err(|reason| AgentsError::Read { path: path.to_owned(), reason })?;
        Self::parse(&text).map_err(|reason| AgentsError::Text { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let written: BTreeMap<String, Written> = toml::from_str(text)
            .map_err(|error| format!("{error}a line for each node is expected, such as robot = \"10.0.0.1:7600\""))?;
        let mut agents = BTreeMap::new();
        for (node, written) in written {
            let WrittenTable { control, agent, data } = match written {
                Written::Control(control) => WrittenTable { control, agent: None, data: None },
                Written::Table(table) => table,
            };
            let port = control.rsplit_once(':').and_then(|(host, port)| (!host.is_empty()).then_some(port));
            if port.and_then(|port| port.parse::<u16>().ok()).is_none() {
                return Err(format!(
                    "{node}: `{control}` is no address with a port; write for example \"10.0.0.1:7600\""
                ));
            }
            let name = agent.unwrap_or_else(|| node.clone());
            if !is_name(&name) {
                return Err(format!(
                    "{node}: no certificate can have the name `{name}`; write {node} = {{ control = \"{control}\", agent = \"NAME\" }} with the \
                     name that the agent was enrolled with"
                ));
            }
            agents.insert(node, AgentEntry { control, name, data });
        }
        Ok(Self(agents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_address_or_says_more() {
        let text = "robot = \"10.0.0.1:7600\"\nstation = { control = \"bench:7600\", agent = \"bench-2\", data = \"10.1.0.2\" }";
        let Agents(agents) = Agents::parse(text).unwrap();
        let entry = |control: &str, name: &str, data| AgentEntry { control: control.into(), name: name.into(), data };
        assert_eq!(agents["robot"], entry("10.0.0.1:7600", "robot", None));
        assert_eq!(agents["station"], entry("bench:7600", "bench-2", Some(Ipv4Addr::new(10, 1, 0, 2))));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, says) in [
            ("robot = \"10.0.0.1\"", "robot: `10.0.0.1` is no address with a port"),
            ("robot = \":7600\"", "no address with a port"),
            ("robot = 5", "line 1"),
            ("robot = { control = \"a:1\", agents = \"x\" }", "line 1"),
            ("\"left arm\" = \"a:1\"", "no certificate can have the name `left arm`"),
            ("robot = { control = \"a:1\", data = \"bench\" }", "line 1"),
        ] {
            let error = Agents::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
