//! Whether ptp4l (linuxptp) keeps a clock of this host, and what it says of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::clock::realtime_ns;

/// Where ptp4l listens to pmc, unless its configuration says otherwise.
pub const PTP_SOCKET: &str = "/var/run/ptp4l";

/// What asks it; both programs come in one package.
const ASKED: &str = "pmc";
const PROGRAM: &str = "ptp4l";

/// One that is to say how far a clock is from another is asked so often; each time it answers within a tenth of a second.
const ASKED_TIMES: usize = 8;

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
    /// When that was, by its clock `[ns]`.
    pub looked_at_ns: Option<i64>,
    /// What a message takes from there to here, as it found out by messages both ways `[ns]`.
    pub path_delay_ns: Option<i64>,
    /// The identity of its own clock.
    pub own: Option<String>,
    /// Its time stamps are the kernel's, so that its clock is `CLOCK_REALTIME` and not that of a network interface.
    pub is_software: bool,
}

/// `CLOCK_REALTIME` of this host beside the clock that a ptp4l follows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct PtpReading {
    /// The identity of that clock, the same on all hosts that follow it.
    pub grandmaster: String,
    /// What `CLOCK_REALTIME` showed `[ns]`.
    pub realtime_ns: i64,
    /// What the other clock showed then `[ns]`.
    pub grandmaster_ns: i64,
    /// More or less `[ns]`.
    pub uncertainty_ns: i64,
    /// It is the same clock.
    pub is_own: bool,
}

/// Why a ptp4l does not say what time it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PtpRefusal {
    /// Nothing answers at its socket.
    #[error("no ptp4l answers at {}", .0.display())]
    Silent(PathBuf),
    /// It sets another clock.
    #[error("ptp4l keeps the clock of a network interface there, and not that of the host")]
    OfInterface,
    /// It has no identity.
    #[error("ptp4l does not say which clock it is")]
    Nameless,
    /// It has found no better clock.
    #[error("ptp4l follows no other clock there")]
    Alone,
    /// It found another one while it was asked.
    #[error("ptp4l changed the clock that it follows")]
    Changed,
}

impl PtpReading {
    /// Asks the ptp4l that listens at a socket, for about a second.
    ///
    /// A way takes no less than no time, so that what ptp4l takes for the delay of its path is what it can be wrong by where the ways there and back
    /// differ. What its offsets differ by in this time comes on top.
    ///
    /// # Errors
    /// Why it says nothing.
    pub fn take(socket: &Path) -> Result<Self, PtpRefusal> {
        let ask = || match Ptp::ask(socket) {
            Ptp::Running(status) => Ok(status),
            _ => Err(PtpRefusal::Silent(socket.to_owned())),
        };
        let mut status = ask()?;
        if !status.is_software {
            return Err(PtpRefusal::OfInterface);
        }
        if status.grandmaster.is_none() && status.ports.iter().any(|port| port == "MASTER" || port == "GRAND_MASTER") {
            let own = status.own.ok_or(PtpRefusal::Nameless)?;
            let now_ns = realtime_ns();
            return Ok(Self {
                grandmaster: own,
                realtime_ns: now_ns,
                grandmaster_ns: now_ns,
                uncertainty_ns: 0,
                is_own: true,
            });
        }
        let (mut least, mut most, mut delay) = (i64::MAX, i64::MIN, 0);
        for _ in 0..ASKED_TIMES {
            let known =
                status.offset_ns.zip(status.path_delay_ns).filter(|_| status.looked_at_ns.is_some_and(|at| at != 0));
            let (offset_ns, delay_ns) = known.ok_or(PtpRefusal::Alone)?;
            (least, most, delay) = (least.min(offset_ns), most.max(offset_ns), delay.max(delay_ns.max(0)));
            let next = ask()?;
            if next.grandmaster != status.grandmaster {
                return Err(PtpRefusal::Changed);
            }
            status = next;
        }
        let (Some(grandmaster), Some(offset_ns), Some(realtime_ns)) =
            (status.grandmaster, status.offset_ns, status.looked_at_ns)
        else {
            return Err(PtpRefusal::Alone);
        };
        let grandmaster_ns = realtime_ns.saturating_sub(offset_ns);
        let uncertainty_ns = delay.saturating_add(most.saturating_sub(least));
        Ok(Self { grandmaster, realtime_ns, grandmaster_ns, uncertainty_ns, is_own: false })
    }
}

impl Ptp {
    /// Looks for it, and asks it if it runs.
    pub fn read() -> Self {
        if !runs() {
            return if is_installed() { Self::Idle } else { Self::Absent };
        }
        Self::ask(Path::new(PTP_SOCKET))
    }

    /// Asks one that listens at a socket.
    fn ask(socket: &Path) -> Self {
        let asked = Command::new(ASKED)
            .args(["-u", "-b", "0", "-s"])
            .arg(socket)
            .args([
                "GET TIME_STATUS_NP",
                "GET PORT_DATA_SET",
                "GET CURRENT_DATA_SET",
                "GET DEFAULT_DATA_SET",
                "GET PORT_PROPERTIES_NP",
            ])
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
        // Of a whole number and of one with a fraction.
        let number = |name| {
            let text = values(name).next()?;
            text.split('.').next().and_then(|whole| whole.parse::<i64>().ok())
        };
        // Each port says its state in both of the answers about it.
        let states = text.split("MANAGEMENT PORT_PROPERTIES_NP").next().unwrap_or_default();
        let states = states.lines().filter_map(|line| line.trim().strip_prefix("portState"));
        let ports: Vec<String> = states.map(|state| state.trim().to_owned()).collect();
        let has_grandmaster = values("gmPresent").next()? == "true";
        let (mut kinds, grandmaster) = (values("timestamping"), values("gmIdentity").next());
        Some(Self {
            ports,
            grandmaster: grandmaster.filter(|_| has_grandmaster),
            offset_ns: number("master_offset").filter(|_| has_grandmaster),
            looked_at_ns: number("ingress_time").filter(|_| has_grandmaster),
            path_delay_ns: number("meanPathDelay").filter(|_| has_grandmaster),
            own: values("clockIdentity").next(),
            is_software: kinds.next().is_some_and(|first| first == "SOFTWARE") && kinds.all(|kind| kind == "SOFTWARE"),
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
\taac616.fffe.5edc85-0 seq 2 RESPONSE MANAGEMENT CURRENT_DATA_SET
\t\tstepsRemoved     1
\t\toffsetFromMaster 79.0
\t\tmeanPathDelay    1793.5
sending: GET PORT_PROPERTIES_NP
\taac616.fffe.5edc85-0 seq 3 RESPONSE MANAGEMENT DEFAULT_DATA_SET
\t\tclockIdentity           aac616.fffe.5edc85
\taac616.fffe.5edc85-1 seq 4 RESPONSE MANAGEMENT PORT_PROPERTIES_NP
\t\tportIdentity            aac616.fffe.5edc85-1
\t\tportState               UNCALIBRATED
\t\ttimestamping            SOFTWARE
\t\tinterface               eth0
";

    #[test]
    fn what_it_says_is_read() {
        let status = PtpStatus::parse(ANSWER).expect("it answered");
        let (grandmaster, offset_ns) = (Some("22c014.fffe.416826".to_owned()), Some(79));
        let expected = PtpStatus {
            ports: vec!["UNCALIBRATED".into()],
            grandmaster,
            offset_ns,
            looked_at_ns: Some(1_795_963_929_006_441_478),
            path_delay_ns: Some(1_793),
            own: Some("aac616.fffe.5edc85".into()),
            is_software: true,
        };
        assert_eq!(status, expected);
        let of_a_card = PtpStatus::parse(&ANSWER.replace("SOFTWARE", "HARDWARE")).expect("it answered");
        assert!(!of_a_card.is_software);
        let alone = PtpStatus::parse(&ANSWER.replace("true", "false")).expect("it answered");
        assert_eq!((alone.grandmaster, alone.offset_ns), (None, None));
        // It runs, and does not answer.
        assert_eq!(PtpStatus::parse("sending: GET TIME_STATUS_NP\nsending: GET PORT_DATA_SET\n"), None);
    }

    #[test]
    fn one_that_cannot_be_asked_is_silent() {
        let nowhere = Path::new("/nowhere/ptp4l");
        assert_eq!(Ptp::ask(nowhere), Ptp::Silent);
        assert_eq!(PtpReading::take(nowhere), Err(PtpRefusal::Silent(nowhere.to_owned())));
    }
}
