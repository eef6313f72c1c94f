//! `chronoseal v2x`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use chronoseal_v2x::lint::{Finding, Kind, Report, SecuredPacket, Severity, lint, secured_packet};
use clap::{Args, Subcommand};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::json;

use super::fleet::{self, Fleet};
use crate::arguments::Format;
use crate::printer::Printer;
use crate::{Status, Trouble};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal v2x lint ticket.oer                         one certificate
  chronoseal v2x lint ectl.oer --facts                   a trust list, and what is in it
  chronoseal v2x lint drive.pcapng                       every secured packet of a capture
  chronoseal v2x lint *.oer --format json                for a program
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
        /// How it is written
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Let vehicles drive and change their pseudonyms: what does an eavesdropper link, and what does it cost in safety?
    Fleet(Box<Fleet>),
}

/// What became of one thing that was looked at.
struct Examined {
    name: String,
    result: Result<Report, String>,
}

pub(crate) fn run(options: &V2x, printer: &Printer) -> Result<Status, Trouble> {
    let (files, facts, format) = match &options.action {
        Action::Lint { files, facts, format } => (files, facts, format),
        Action::Fleet(options) => return fleet::run(options, printer),
    };
    let mut all = Vec::new();
    for file in files {
        let bytes =
            std::fs::read(file).map_err(|error| Trouble(format!("error: cannot read {}: {error}", file.display())))?;
        match packets(&bytes) {
            None => all.push(examine(file.display().to_string(), &bytes)),
            Some(packets) => examine_capture(file, packets, &mut all, printer)?,
        }
    }
    match format {
        Format::Human => printer.data(&human(&all, *facts)),
        Format::Json => printer.data(&in_json(&all)),
        Format::Csv => printer.data(&csv(&all)),
    }
    let is_clean = |one: &Examined| one.result.as_ref().is_ok_and(Report::is_clean);
    Ok(if all.iter().all(is_clean) { Status::Held } else { Status::Failed })
}

fn examine(name: String, bytes: &[u8]) -> Examined {
    Examined { name, result: lint(bytes).map_err(|error| format!("neither a certificate nor a message: {error}")) }
}

fn examine_capture(
    file: &Path,
    packets: Vec<Result<Vec<u8>, String>>,
    all: &mut Vec<Examined>,
    printer: &Printer,
) -> Result<(), Trouble> {
    let (mut secured, mut other) = (0, 0);
    for (index, packet) in packets.into_iter().enumerate() {
        let name = format!("{}, packet {}", file.display(), index + 1);
        let packet = match packet {
            Ok(packet) => packet,
            Err(reason) => {
                all.push(Examined { name, result: Err(format!("the capture ends badly: {reason}")) });
                break;
            }
        };
        match secured_packet(&packet) {
            SecuredPacket::Secured { bytes, .. } => {
                secured += 1;
                all.push(examine(name, bytes));
            }
            SecuredPacket::Unsecured | SecuredPacket::Other => other += 1,
        }
    }
    printer.hint(&format!("{}: {secured} secured packets, {other} others", file.display()));
    if secured == 0 {
        let help = "secured GeoNetworking packets have EtherType 0x8947 and next header 2";
        return Err(Trouble(format!("error: {} has no secured packet\nhelp: {help}", file.display())));
    }
    Ok(())
}

/// The packets of a capture; none if it is none. A torn end is the last one.
fn packets(bytes: &[u8]) -> Option<Vec<Result<Vec<u8>, String>>> {
    const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
    const PCAP: [[u8; 4]; 4] =
        [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];
    let magic: [u8; 4] = *bytes.first_chunk()?;
    let mut packets = Vec::new();
    if magic == PCAPNG {
        let mut reader = match PcapNgReader::new(bytes) {
            Ok(reader) => reader,
            Err(error) => return Some(vec![Err(error.to_string())]),
        };
        while let Some(block) = reader.next_block() {
            match block {
                Ok(Block::EnhancedPacket(packet)) => packets.push(Ok(packet.data.into_owned())),
                Ok(Block::SimplePacket(packet)) => packets.push(Ok(packet.data.into_owned())),
                Ok(_) => {}
                Err(error) => {
                    packets.push(Err(error.to_string()));
                    break;
                }
            }
        }
        return Some(packets);
    }
    if !PCAP.contains(&magic) {
        return None;
    }
    let mut reader = match PcapReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return Some(vec![Err(error.to_string())]),
    };
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => packets.push(Ok(packet.data.into_owned())),
            Err(error) => {
                packets.push(Err(error.to_string()));
                break;
            }
        }
    }
    Some(packets)
}

fn human(all: &[Examined], facts: bool) -> String {
    let mut text = String::new();
    for Examined { name, result } in all {
        match result {
            Err(reason) => {
                let _ = writeln!(text, "{name}: {reason}");
            }
            Ok(report) => {
                let (violations, notes) = counts(report);
                let _ = match (violations, notes) {
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

fn counts(report: &Report) -> (usize, usize) {
    let violations = report.findings.iter().filter(|finding| finding.severity == Severity::Violation).count();
    (violations, report.findings.len() - violations)
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Certificate => "certificate",
        Kind::Message => "message",
        Kind::TrustList => "trust-list",
    }
}

fn severity_of(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Note => "note",
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
