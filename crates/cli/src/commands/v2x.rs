//! `chronoseal v2x`

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use chronoseal_recordings::content::{Purpose, expect};
use chronoseal_recordings::{CaptureItem, CaptureReader, CapturedPacket, Format as Recorded};
use chronoseal_v2x::coer::{DecodeError, Rules};
use chronoseal_v2x::lint::{
    BatchTicket, Finding, Kind, LINKS, Other, Report, SecuredPacket, Severity, linking, lint_among, lint_packet,
    of_old_standard, secured_packet,
};
use chronoseal_v2x::types::{Certificate, CertificateBuf, Time64};
use clap::{Args, Subcommand};
use serde_json::json;

use super::fleet::{self, Fleet};
use super::foreign;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal v2x lint ticket.oer                         one certificate
  chronoseal v2x lint ectl.oer --facts                   a trust list, and what is in it
  chronoseal v2x lint drive.pcapng                       every secured packet of a capture
  chronoseal v2x lint *.oer --format json                for a program
  chronoseal v2x lint --batch mine/*.oer --others theirs/*.oer   which values link the tickets of one vehicle?
  chronoseal v2x fleet --policy silent                   how well does a pseudonym policy hide a car?")]
pub(crate) struct V2x {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Name every deviation of certificates, messages, trust lists and captures, with its field and its clause
    Lint {
        /// Files: COER, or pcap and pcapng
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Say what is in them, too
        #[arg(long)]
        facts: bool,
        /// The files are the tickets of one vehicle: name the values by which whoever hears two of them sees that they belong together,
        /// and the files that have them
        #[arg(long)]
        batch: bool,
        /// Tickets of other vehicles, of the same authority and time, to compare the batch with
        #[arg(long, value_name = "FILES", num_args = 1.., requires = "batch")]
        others: Vec<PathBuf>,
        /// How it is written
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Let vehicles drive and change their pseudonyms: what does an eavesdropper link, and what does it cost in safety?
    Fleet(Box<Fleet>),
}

/// What the system's clock says.
fn now() -> Time64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time64::from_unix_us(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// What became of one thing that was looked at.
struct Examined {
    name: String,
    result: Result<Report, String>,
}

/// The longest file that is looked at `[byte]`: captures of hours are far below it.
const LINTED_LEN_MAX: u64 = 1_000_000_000;

pub(crate) fn run(options: &V2x, printer: &Printer) -> Result<Status, Trouble> {
    let (files, facts, format) = match &options.action {
        Action::Lint { files, batch: true, others, facts, format } => {
            let one = examine_batch(files, others)?;
            return Ok(show(&[one], *facts, *format, printer));
        }
        Action::Lint { files, facts, format, .. } => (files, facts, format),
        Action::Fleet(options) => return fleet::run(options, printer),
    };
    let mut all = Vec::new();
    let (mut unread, mut read) = (Vec::new(), Vec::new());
    for file in files {
        // One that cannot be read says so, and the others are looked at.
        let bytes = match files::read_limited(file, LINTED_LEN_MAX) {
            Ok(bytes) => foreign::unpacked(file, bytes),
            Err(error) => Err(Trouble(format!("error: cannot read {}: {error}", file.display()))),
        };
        match bytes {
            Ok(bytes) => read.push((file, bytes)),
            Err(Trouble(reason)) => unread.push(reason),
        }
    }
    // What one file was signed with may be in another one.
    let lenient = |bytes: &[u8]| CertificateBuf::with_rules(bytes, Rules::LENIENT).ok();
    let certificates: Vec<CertificateBuf> = read.iter().filter_map(|(_, bytes)| lenient(bytes)).collect();
    let known = views(&certificates);
    for (file, bytes) in &read {
        if let Err(Trouble(reason)) = examine_file(file, bytes, &known, &mut all, printer) {
            unread.push(reason);
        }
    }
    if all.is_empty() {
        return Err(Trouble(unread.join("\n")));
    }
    let status = show(&all, *facts, *format, printer);
    if !unread.is_empty() {
        return Err(Trouble(unread.join("\n")));
    }
    Ok(status)
}

fn show(all: &[Examined], facts: bool, format: Format, printer: &Printer) -> Status {
    match format {
        Format::Human => printer.data(&human(all, facts)),
        Format::Json => printer.data(&in_json(all)),
        Format::Csv => printer.data(&csv(all)),
    }
    let are = |so: fn(&Report) -> bool| all.iter().all(|one| one.result.as_ref().is_ok_and(so));
    match (are(Report::is_clean), are(Report::is_checked)) {
        (false, _) => Status::Failed,
        (true, false) => Status::Unproven,
        (true, true) => Status::Held,
    }
}

/// Tickets of one vehicle beside those of others.
fn examine_batch(files: &[PathBuf], others: &[PathBuf]) -> Result<Examined, Trouble> {
    let read = |files: &[PathBuf]| files.iter().map(|file| read_ticket(file)).collect::<Result<Vec<_>, _>>();
    let (batch, strange) = (read(files)?, read(others)?);
    if batch.len() < 2 {
        let help = "name two tickets of the vehicle at least, as `--batch car/at/*.oer`";
        return Err(Trouble(format!("error: one ticket is no batch\nhelp: {help}")));
    }
    let name = match others.len() {
        0 => format!("{} tickets of one vehicle", files.len()),
        count => format!("{} tickets of one vehicle beside {count} of others", files.len()),
    };
    let named: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let tickets = named.iter().zip(views(&batch)).map(|(name, certificate)| BatchTicket { name, certificate });
    let report = linking(&tickets.collect::<Vec<_>>(), &views(&strange));
    Ok(Examined { name, result: Ok(report) })
}

fn views(tickets: &[CertificateBuf]) -> Vec<Certificate<'_>> {
    tickets.iter().map(CertificateBuf::view).collect()
}

fn read_ticket(file: &Path) -> Result<CertificateBuf, Trouble> {
    let bytes = files::read_limited(file, LINTED_LEN_MAX)
        .map_err(|error| Trouble(format!("error: cannot read {}: {error}", file.display())))?;
    CertificateBuf::new(bytes).map_err(|error| {
        let help = "a batch is of authorization tickets, one a file, in COER";
        Trouble(format!("error: {} is no certificate: {error}\nhelp: {help}", file.display()))
    })
}

fn examine_file(
    file: &Path,
    bytes: &[u8],
    known: &[Certificate<'_>],
    all: &mut Vec<Examined>,
    printer: &Printer,
) -> Result<(), Trouble> {
    match Recorded::detect(bytes) {
        Some(Recorded::Pcap | Recorded::Pcapng) => {
            let capture = CaptureReader::new(bytes)
                .map_err(|problem| Trouble(format!("error: {}: {problem}", file.display())))?;
            examine_capture(file, capture, known, all, printer)
        }
        _ => {
            expect(bytes, Purpose::Credentials)
                .map_err(|error| Trouble(format!("error: {}: {error}", file.display())))?;
            let result = lint_among(bytes, now(), known);
            let result = result.map_err(|error| match of_old_standard(bytes) {
                Some(old) => not_of_1609_2(old),
                None => format!("neither a certificate nor a message: {error}"),
            });
            all.push(Examined { name: file.display().to_string(), result });
            Ok(())
        }
    }
}

/// How many packets a capture holds.
#[derive(Default)]
struct Count {
    secured: usize,
    /// Packets without a secured one, by what they are.
    others: BTreeMap<Other, usize>,
    /// Packets of links that are not looked into, by link type.
    of_unknown_link: BTreeMap<u32, usize>,
}

/// Packets are numbered as Wireshark does.
fn examine_capture(
    file: &Path,
    capture: CaptureReader<'_>,
    known: &[Certificate<'_>],
    all: &mut Vec<Examined>,
    printer: &Printer,
) -> Result<(), Trouble> {
    let mut count = Count::default();
    let mut number = 0;
    for item in capture {
        let packet = match item {
            Ok(CaptureItem::Interface(_)) => continue,
            Ok(CaptureItem::Packet(packet)) => packet,
            Err(problem) => {
                all.push(Examined { name: file.display().to_string(), result: Err(problem.to_string()) });
                break;
            }
        };
        number += 1;
        match secured_packet(packet.link_type, &packet.data) {
            SecuredPacket::Secured { bytes, .. } => {
                count.secured += 1;
                let name = format!("{}, packet {number}", file.display());
                all.push(Examined {
                    name,
                    result: lint_packet(bytes, known).map_err(|error| not_read(&error, bytes, &packet)),
                });
            }
            SecuredPacket::Other(other) => *count.others.entry(other).or_default() += 1,
            SecuredPacket::UnknownLink => *count.of_unknown_link.entry(packet.link_type).or_default() += 1,
        }
    }
    printer.hint(&format!("{}: {count}", file.display()));
    if count.secured == 0 {
        let help = if count.of_unknown_link.is_empty() {
            "secured GeoNetworking packets have EtherType 0x8947 and next header 2".to_owned()
        } else {
            format!("links looked into are {LINKS}")
        };
        return Err(Trouble(format!("error: {} has no secured packet; {count}\nhelp: {help}", file.display())));
    }
    Ok(())
}

/// Why a packet is no message.
fn not_read(error: &DecodeError, bytes: &[u8], packet: &CapturedPacket<'_>) -> String {
    let (captured, sent) = (packet.data.len(), packet.original_len);
    if captured < sent as usize {
        format!("only {captured} of {sent} bytes were captured; capture with a longer snap length, as `tcpdump -s 0`")
    } else if let Some(old) = of_old_standard(bytes) {
        not_of_1609_2(old)
    } else {
        format!("no message: {error}")
    }
}

/// Why what is of an older standard is not looked at.
fn not_of_1609_2(what: &str) -> String {
    format!(
        "this is {what}, whose formats ended with V1.3.1 in 2017; those of IEEE 1609.2 (protocol version 3) are read. Have its sender speak \
         TS 103 097 V1.3.1 or later"
    )
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secured packets", self.secured)?;
        for (other, count) in &self.others {
            write!(f, ", {count} {other}")?;
        }
        for (link_type, count) in &self.of_unknown_link {
            write!(f, ", {count} of link type {link_type}")?;
        }
        Ok(())
    }
}

fn human(all: &[Examined], facts: bool) -> String {
    let mut text = String::new();
    for Examined { name, result } in all {
        match result {
            Err(reason) => {
                let _ = writeln!(text, "{name}: {reason}");
            }
            Ok(report) => {
                let [violations, notes, unchecked] = counts(report);
                let _ = match (violations, notes) {
                    (0, _) if report.kind == Kind::Batch && unchecked > 0 => {
                        writeln!(text, "{name}: no value is known to link them, and not all were checked")
                    }
                    (0, _) if report.kind == Kind::Batch => writeln!(text, "{name}: no value links them"),
                    (1, _) if report.kind == Kind::Batch => writeln!(text, "{name}: one value links some of them"),
                    (count, _) if report.kind == Kind::Batch => {
                        writeln!(text, "{name}: {count} values link some of them")
                    }
                    (0, 0) if unchecked > 0 => {
                        writeln!(text, "{name}: a {}, not all of it checked", report.kind.name())
                    }
                    (0, 0) => writeln!(text, "{name}: a {}, nothing to say", report.kind.name()),
                    _ => writeln!(text, "{name}: a {}, {violations} violations, {notes} notes", report.kind.name()),
                };
                if facts {
                    for (fact, value) in &report.facts {
                        let _ = writeln!(text, "    {fact}: {value}");
                    }
                }
                for finding in &report.findings {
                    let _ =
                        writeln!(text, "  {}{finding}", if finding.severity == Severity::Note { "note: " } else { "" });
                }
            }
        }
    }
    if all.len() > 1 {
        let clean = all.iter().filter(|one| one.result.as_ref().is_ok_and(Report::is_clean)).count();
        let _ = writeln!(text, "{clean} of {} without a violation", all.len());
    }
    text
}

/// How many findings are violations, notes, and what was not checked.
fn counts(report: &Report) -> [usize; 3] {
    let are = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    [are(Severity::Violation), are(Severity::Note), are(Severity::NotChecked)]
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Certificate => "certificate",
        Kind::Message => "message",
        Kind::TrustList => "trust-list",
        Kind::Batch => "batch",
    }
}

fn severity_of(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Note => "note",
        Severity::NotChecked => "not-checked",
        Severity::Violation => "violation",
    }
}

fn in_json(all: &[Examined]) -> String {
    let list: Vec<_> = all
        .iter()
        .map(|Examined { name, result }| match result {
            Err(reason) => json!({ "name": name, "error": reason }),
            Ok(report) => json!({
                "name": name,
                "kind": kind_of(report.kind),
                "facts": report.facts.iter().map(|(fact, value)| json!({ "field": fact, "value": value })).collect::<Vec<_>>(),
                "findings": report.findings.iter().map(|finding| json!({
                    "severity": severity_of(finding),
                    "offset": finding.offset,
                    "path": finding.path,
                    "what": finding.what,
                })).collect::<Vec<_>>(),
            }),
        })
        .collect();
    json!(list).to_string()
}

fn csv(all: &[Examined]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = "name,severity,offset,path,what\n".to_owned();
    for Examined { name, result } in all {
        match result {
            Err(reason) => {
                let _ = writeln!(text, "{},violation,,,{}", quoted(name), quoted(reason));
            }
            Ok(report) => {
                for finding in &report.findings {
                    let offset = finding.offset.map(|offset| offset.to_string()).unwrap_or_default();
                    let (path, what) = (quoted(&finding.path), quoted(&finding.what));
                    let _ = writeln!(text, "{},{},{offset},{path},{what}", quoted(name), severity_of(finding));
                }
            }
        }
    }
    text
}
