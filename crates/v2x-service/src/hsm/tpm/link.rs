//! Ways to a TPM: a socket of a software TPM, or the kernel's device.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::hsm::{HsmError, read_once};

/// Longest response this crate reads `[byte]`; the specification's own limit for commands and responses is 4096.
const RESPONSE_LEN_MAX: usize = 4096;
/// Tag, length, code.
const HEADER_LEN: usize = 10;
/// A hardware TPM takes below a second for the slowest command used here.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a software TPM may take to open its socket.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the TPM is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TpmEndpoint {
    /// The kernel's device with its resource manager: `/dev/tpmrm0`.
    Device(PathBuf),
    /// A software TPM's data socket, as `127.0.0.1:2321`.
    Tcp(String),
    /// A software TPM's data socket in the file system.
    Unix(PathBuf),
    /// A folder in which this crate starts `swtpm` as a process of its own, and starts it again when it was lost.
    Swtpm(PathBuf),
}

/// An open way.
pub(super) struct Link {
    stream: Stream,
    /// The software TPM, if it is ours.
    process: Option<Process>,
}

enum Stream {
    Device(File),
    Tcp(TcpStream),
    Unix(UnixStream),
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Link {
    pub(super) fn open(endpoint: &TpmEndpoint) -> Result<Self, HsmError> {
        let no_device = |what: &dyn std::fmt::Display, e: io::Error| HsmError::NoDevice(format!("{what}: {e}"));
        let (stream, process) = match endpoint {
            TpmEndpoint::Device(path) => {
                let device = OpenOptions::new().read(true).write(true).open(path);
                (Stream::Device(device.map_err(|e| no_device(&path.display(), e))?), None)
            }
            TpmEndpoint::Tcp(address) => (Stream::Tcp(tcp(address).map_err(|e| no_device(address, e))?), None),
            TpmEndpoint::Unix(path) => (Stream::Unix(unix(path).map_err(|e| no_device(&path.display(), e))?), None),
            TpmEndpoint::Swtpm(folder) => {
                let (stream, process) = start(folder).map_err(|e| no_device(&"swtpm", e))?;
                (Stream::Unix(stream), Some(process))
            }
        };
        Ok(Self { stream, process })
    }

    /// Whether the TPM may end with this program or its connection. The kernel's goes on, and the kernel shuts it down.
    pub(super) fn may_end(&self) -> bool {
        !matches!(self.stream, Stream::Device(_))
    }

    /// The software TPM's process, if it is ours.
    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.0.id())
    }

    /// One command, one response, header included.
    pub(super) fn exchange(&mut self, command: &[u8]) -> io::Result<Vec<u8>> {
        match &mut self.stream {
            // The kernel gives a response whole, to one call.
            Stream::Device(device) => {
                device.write_all(command)?;
                let mut response = vec![0; RESPONSE_LEN_MAX];
                let len = read_once(device, &mut response)?;
                response.truncate(len);
                Ok(response)
            }
            Stream::Tcp(stream) => over_stream(stream, command),
            Stream::Unix(stream) => over_stream(stream, command),
        }
    }
}

fn over_stream(mut stream: impl Read + Write, command: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(command)?;
    let mut response = vec![0; HEADER_LEN];
    stream.read_exact(&mut response)?;
    let len = response[2..6].iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
    if !(HEADER_LEN..=RESPONSE_LEN_MAX).contains(&len) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a response of {len} bytes")));
    }
    response.resize(len, 0);
    stream.read_exact(&mut response[HEADER_LEN..])?;
    Ok(response)
}

fn tcp(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    Ok(stream)
}

fn unix(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    Ok(stream)
}

/// Starts a software TPM on the state in `folder` and connects to it. It ends with the connection.
fn start(folder: &Path) -> io::Result<(UnixStream, Process)> {
    std::fs::create_dir_all(folder)?;
    let socket = folder.join("socket");
    // One that a killed TPM left behind would refuse connections until the new TPM has bound its own.
    match std::fs::remove_file(&socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let child = Command::new("swtpm")
        .args(["socket", "--tpm2", "--terminate", "--flags", "not-need-init"])
        .arg("--tpmstate")
        .arg(format!("dir={}", folder.display()))
        .arg("--server")
        .arg(format!("type=unixio,path={}", socket.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut process = Process(child);
    let since = Instant::now();
    loop {
        if let Ok(stream) = unix(&socket) {
            return Ok((stream, process));
        }
        if process.0.try_wait()?.is_some() || since.elapsed() > START_TIMEOUT {
            return Err(io::Error::other(last_words(&mut process)));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What the process wrote before it ended.
fn last_words(process: &mut Process) -> String {
    let _ = process.0.kill();
    let mut said = String::new();
    if let Some(stderr) = process.0.stderr.take() {
        // What cannot be read was not said.
        let _ = stderr.take(1000).read_to_string(&mut said);
    }
    let said = said.trim();
    if said.is_empty() { "it opened no socket".into() } else { said.replace('\n', "; ") }
}
