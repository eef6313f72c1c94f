//! What an agent takes part in, whoever asks.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, NodeId};
use chronoseal_testbed::{HostLink, PortLink};
use serde::Deserialize;

/// The limits of an agent, as its file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The longest run.
    pub longest_run: Duration,
    /// The most messages that its station sends and gets, by their periods `[1/s]`.
    pub messages_per_second: u64,
    /// Streams in datagrams of UDP.
    pub udp: bool,
    /// Streams over connections of TCP.
    pub tcp: bool,
    /// Addresses of this host that a run may use beside that of `--data`.
    pub addresses: Vec<Ipv4Addr>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            longest_run: Duration::from_s(60),
            messages_per_second: 10_000,
            udp: true,
            tcp: true,
            addresses: Vec::new(),
        }
    }
}

/// A file with limits, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    longest_run: Option<String>,
    messages_per_second: Option<u64>,
    transports: Option<Vec<Transport>>,
    addresses: Option<Vec<Ipv4Addr>>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Transport {
    Udp,
    Tcp,
}

/// Why limits cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// The file.
    #[error("cannot read {}: {reason}", path.display())]
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

impl Limits {
    /// Reads a file of limits; what it leaves out is as in [`Limits::default`].
    ///
    /// # Errors
    /// [`LimitsError`]
    pub fn read(path: &Path) -> Result<Self, LimitsError> {
        let text =
            std::fs::read_to_string(path).map_err(|reason| LimitsError::Read { path: path.to_owned(), reason })?;
        Self::parse(&text).map_err(|reason| LimitsError::Text { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut limits = Self::default();
        if let Some(longest) = written.longest_run {
            let wrong = |error: &dyn std::fmt::Display| {
                format!("longest_run = \"{longest}\": {error}; write a time with its unit, such as \"60s\"")
            };
            limits.longest_run = longest.parse().map_err(|error| wrong(&error))?;
            if limits.longest_run <= Duration::ZERO {
                return Err(wrong(&"it is not above zero"));
            }
        }
        limits.messages_per_second = written.messages_per_second.unwrap_or(limits.messages_per_second);
        if let Some(transports) = written.transports {
            limits.udp = transports.contains(&Transport::Udp);
            limits.tcp = transports.contains(&Transport::Tcp);
        }
        limits.addresses = written.addresses.unwrap_or_default();
        Ok(limits)
    }

    /// Why a station of a plan is not for an agent that sends from `data`; `None` if it is.
    pub(crate) fn refusal(
        &self,
        prepared: &Prepared<'_>,
        node: NodeId,
        port: &PortLink,
        data: Ipv4Addr,
    ) -> Option<String> {
        let plan = prepared.plan();
        if plan.duration > self.longest_run {
            return Some(format!(
                "the run lasts {}, and this agent allows {} (longest_run)",
                plan.duration, self.longest_run
            ));
        }
        let PortLink::Host(HostLink { address, datagrams, connections, .. }) = port else {
            return Some("its station does not speak through the host's network".into());
        };
        let mut rate = 0;
        let is_its = |stream: &&chronoseal_plan::StreamPlan| stream.sender == node || stream.receivers.contains(&node);
        for stream in plan.streams.iter().filter(is_its) {
            let copies = if stream.sender == node { stream.receivers.len() as u64 } else { 1 };
            // What has no period of a nanosecond is more than anybody allows.
            rate += copies * 1_000_000_000 / stream.period.as_ns().max(1).unsigned_abs();
        }
        let most = self.messages_per_second;
        if rate > most {
            return Some(format!(
                "its station sends and gets {rate} messages a second, and this agent allows {most} (messages_per_second)"
            ));
        }
        let not_allowed = [(self.udp, datagrams.is_empty(), "udp"), (self.tcp, connections.is_empty(), "tcp")];
        if let Some((.., name)) = not_allowed.iter().find(|(is_allowed, is_unused, _)| !is_allowed && !is_unused) {
            return Some(format!("it has streams over {name}, which this agent does not allow (transports)"));
        }
        let address = Ipv4Addr::from(*address);
        (address != data && !self.addresses.contains(&address)).then(|| {
            format!(
                "its messages are to go through {address}, and this agent allows only {data} and its list (addresses)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_leaves_out_is_as_usual() {
        assert_eq!(Limits::parse("").unwrap(), Limits::default());
        let limits = Limits::parse("longest_run = \"2s\"\ntransports = [\"tcp\"]\naddresses = [\"10.0.0.9\"]").unwrap();
        assert_eq!((limits.longest_run, limits.udp, limits.tcp), (Duration::from_s(2), false, true));
        assert_eq!(limits.addresses, [Ipv4Addr::new(10, 0, 0, 9)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, says) in [
            ("longest_run = \"2\"", "longest_run = \"2\""),
            ("longest_run = \"0s\"", "not above zero"),
            ("programs = true", "line 1"),
            ("transports = [\"quic\"]", "line 1"),
            ("messages_per_second = -1", "line 1"),
        ] {
            let error = Limits::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
