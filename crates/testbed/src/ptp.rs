//! Whether ptp4l (linuxptp) keeps a clock of this host, and what it says of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

/// Where ptp4l listens to pmc, unless its configuration says otherwise.
const SOCKET: &str = "/var/run/ptp4l";

/// What asks it; both programs come in one package.
const ASKED: &str = "pmc";
const PROGRAM: &str = "ptp4l";

/// ptp4l on this host.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Ptp {
    /// It is not installed.
    Absent,
    /// It is installed, and does not run.
    Idle,
    /// It runs, and nobody here may ask it, or it does not answer.
    Silent,
    /// It runs.
    Running(PtpStatus),
}

/// What a ptp4l that runs says.
#[derive(Clone, PartialEq, Eq, Serialize, Debug, Default)]
pub struct PtpStatus {
    /// The states of its ports, such as `SLAVE`.
    pub ports: Vec<String>,
    /// The identity of the clock that it follows; `None` if it follows none.
    pub grandmaster: Option<String>,
    /// How far its clock was ahead of that when it last looked `[ns]`.
    pub offset_ns: Option<i64>,
}

impl Ptp {
    /// Looks for it, and asks it if it runs.
    pub fn read() -> Self {
        if !runs() {
            return if is_installed() { Self::Idle } else { Self::Absent };
        }
        Self::ask(Path::new(SOCKET))
    }

    /// Asks one that listens at a socket.
    fn ask(socket: &Path) -> Self {
        let asked = Command::new(ASKED)
            .args(["-u", "-b", "0", "-s"])
            .arg(socket)
            .args(["GET TIME_STATUS_NP", "GET PORT_DATA_SET"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let answer = asked.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        answer.and_then(|answer| PtpStatus::parse(&answer)).map_or(Self::Silent, Self::Running)
    }
}

impl PtpStatus {
    /// Of the answers that pmc prints; `None` if nobody answered.
    fn parse(text: &str) -> Option<Self> {
        let values = |name: &'static str| {
            let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            words.filter_map(move |words| match words[..] {
                [key, value] if key == name => Some(value.to_owned()),
                _ => None,
            })
        };
        let ports: Vec<String> = values("portState").collect();
        let has_grandmaster = values("gmPresent").next()? == "true";
        Some(Self {
            ports,
            grandmaster: values("gmIdentity").next().filter(|_| has_grandmaster),
            offset_ns: values("master_offset")
                .next()
                .and_then(|offset| offset.parse().ok())
                .filter(|_| has_grandmaster),
        })
    }
}

/// Some process has its name.
fn runs() -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = processes.filter_map(|process| std::fs::read_to_string(process.path().join("comm")).ok());
    names.into_iter().any(|name| name.trim() == PROGRAM)
}

/// It is where programs are. Users have no `sbin` among their paths, where it is.
fn is_installed() -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::split_paths(&paths).collect::<Vec<PathBuf>>();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    own.into_iter().chain(usual).any(|folder| folder.join(PROGRAM).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As pmc of linuxptp 3.1.1 printed it, over a pair of interfaces with software time stamps.
    const ANSWER: &str = "\
sending: GET TIME_STATUS_NP
sending: GET PORT_DATA_SET
\taac616.fffe.5edc85-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
\t\tmaster_offset              79
\t\tingress_time               1795963929006441478
\t\tgmPresent                  true
\t\tgmIdentity                 22c014.fffe.416826
\taac616.fffe.5edc85-1 seq 1 RESPONSE MANAGEMENT PORT_DATA_SET
\t\tportIdentity            aac616.fffe.5edc85-1
\t\tportState               UNCALIBRATED
\t\tpeerMeanPathDelay       0
";

    #[test]
    fn what_it_says_is_read() {
        let status = PtpStatus::parse(ANSWER).expect("it answered");
        let (grandmaster, offset_ns) = (Some("22c014.fffe.416826".to_owned()), Some(79));
        assert_eq!(status, PtpStatus { ports: vec!["UNCALIBRATED".into()], grandmaster, offset_ns });
        let alone = PtpStatus::parse(&ANSWER.replace("true", "false")).expect("it answered");
        assert_eq!((alone.grandmaster, alone.offset_ns), (None, None));
        // It runs, and does not answer.
        assert_eq!(PtpStatus::parse("sending: GET TIME_STATUS_NP\nsending: GET PORT_DATA_SET\n"), None);
    }

    #[test]
    fn one_that_cannot_be_asked_is_silent() {
        assert_eq!(Ptp::ask(Path::new("/nowhere/ptp4l")), Ptp::Silent);
    }
}
