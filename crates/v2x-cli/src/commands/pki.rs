//! `chronoseal pki`: authorities of TS 102 941, and a station at those of any vendor.

use core::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chronoseal_v2x::coer::Decode;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    AuthorizationResponseCode, AuthorizationValidationResponseCode, CtlCommand, CtlDelete, CtlEntry,
    EnrolmentResponseCode, ListKind, Permissions, PkiError, Station, TicketPeriods, check_issued_by, read_trust_list,
};
use chronoseal_v2x::types::{
    CertificateBuf, CertificateId, Duration, HashedId8, Ieee1609Dot2Data, IssuerIdentifier, ValidityPeriod,
};
use chronoseal_v2x_service::hsm::BackEnd;
use chronoseal_v2x_service::pki::{
    CTL_TYPE, Client, Endpoint, Faults, HttpClient, KeyDevice, Server, ServerOptions, ServiceError, TicketOptions,
    TrustStore, now, read_certificate, read_public_key,
};
use chronoseal_v2x_service::store::Store;
use clap::{Args, Subcommand, ValueEnum};

use chronoseal_console::{Printer, Status, Trouble, files};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal pki serve --dir pki --port 8080
  chronoseal pki keygen --dir car
  chronoseal pki register --dir pki --id c0ffee01 --key car/canonical.pub.pem
  chronoseal pki enrol --dir car --id c0ffee01 --url http://127.0.0.1:8080/ea --ea pki/ea.oer --rca pki/rca.oer
  chronoseal pki authorize --dir car --url http://127.0.0.1:8080/aa --aa pki/aa.oer --ea pki/ea.oer --count 20

Exit status: 0 done, 1 the other side refuses, 2 could not run. More in docs/guide/pki.md.")]
pub(crate) struct Pki {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a root, EA, AA, misbehaviour authority, trust list manager and distribution centre behind one port
    Serve(Serve),
    /// Tell an EA about a station: its canonical identifier, key and permissions
    Register(Register),
    /// End a station, or put an authority on the revocation list
    Revoke(Revoke),
    /// Accept the authorities of another vendor's root
    Trust(Trust),
    /// Make the canonical key of a station
    Keygen(Keygen),
    /// Ask for the first enrolment credential
    Enrol(Enrol),
    /// Ask for a new enrolment credential with the one there is
    Reenrol(Reenrol),
    /// Ask for authorization tickets
    Authorize(Authorize),
    /// List the misbehaviour reports that were taken
    Reports(Reports),
    /// Fetch a root's or a trust list manager's trust list, verify it and say what is in it
    FetchCtl(FetchCtl),
    /// Say what is in a certificate or message
    Show(Show),
}

/// Curves, as they are typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum CurveName {
    Nistp256,
    Nistp384,
    Brainpoolp256r1,
    Brainpoolp384r1,
}

impl From<CurveName> for Curve {
    fn from(name: CurveName) -> Self {
        match name {
            CurveName::Nistp256 => Self::NistP256,
            CurveName::Nistp384 => Self::NistP384,
            CurveName::Brainpoolp256r1 => Self::BrainpoolP256r1,
            CurveName::Brainpoolp384r1 => Self::BrainpoolP384r1,
        }
    }
}

/// Curves that messages can be encrypted for (IEEE 1609.2, clause 5.3.5: those of 256 bits).
#[derive(ValueEnum, Clone, Copy, Debug)]
enum EncryptionCurveName {
    Nistp256,
    Brainpoolp256r1,
}

impl From<EncryptionCurveName> for Curve {
    fn from(name: EncryptionCurveName) -> Self {
        match name {
            EncryptionCurveName::Nistp256 => Self::NistP256,
            EncryptionCurveName::Brainpoolp256r1 => Self::BrainpoolP256r1,
        }
    }
}

#[derive(Args, Debug)]
struct Keys {
    /// Device of the keys, a JSON file such as { "kind": "pkcs11", "module": "…", "token": "…" }; key files in DIR/keys
    /// if not given
    #[arg(long, value_name = "FILE", requires = "pin_file")]
    hsm: Option<PathBuf>,
    /// File with the device's PIN
    #[arg(long, value_name = "FILE")]
    pin_file: Option<PathBuf>,
}

impl Keys {
    fn open(&self, directory: &Path, printer: &Printer) -> Result<KeyDevice, Trouble> {
        let (Some(hsm), Some(pin_file)) = (&self.hsm, &self.pin_file) else {
            return in_files(directory, printer);
        };
        warn_of_pin(pin_file, printer);
        let text = std::fs::read(hsm).map_err(|error| Trouble(format!("error: {}: {error}", hsm.display())))?;
        let back_end: BackEnd =
            serde_json::from_slice(&text).map_err(|error| Trouble(format!("error: {}: {error}", hsm.display())))?;
        Ok(KeyDevice::open(&back_end, pin_file)?)
    }
}

/// The key files of a folder.
fn in_files(directory: &Path, printer: &Printer) -> Result<KeyDevice, Trouble> {
    warn_of_pin(&KeyDevice::pin_file(directory), printer);
    Ok(KeyDevice::software(directory)?)
}

fn warn_of_pin(pin_file: &Path, printer: &Printer) {
    if let Some(warning) = KeyDevice::pin_warning(pin_file) {
        printer.note(&format!("warning: {warning}"));
    }
}

#[derive(Args, Debug)]
struct Authority {
    /// Folder of the authorities
    #[arg(long)]
    dir: PathBuf,
    /// What they remember: a file, or postgresql://user@host/database; DIR/store.sqlite if not given
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl Authority {
    fn open_store(&self) -> Result<Store, Trouble> {
        std::fs::create_dir_all(&self.dir)?;
        Ok(match &self.store {
            Some(url) => Store::open(url)?,
            None => Store::sqlite(&self.dir.join("store.sqlite"))?,
        })
    }
}

#[derive(Args, Debug)]
struct Serve {
    #[command(flatten)]
    authority: Authority,
    /// Port to listen at; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Address to listen at
    #[arg(long, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Where others reach it, such as `http://pki.example:8080`: what trust lists say; the address it listens at if not given
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// What the authorities are called
    #[arg(long, default_value = "chronoseal")]
    name: String,
    /// Curve of EA and AA, to whose keys messages are encrypted
    #[arg(long, value_enum, default_value = "nistp256")]
    curve: EncryptionCurveName,
    /// Curve of root and trust list manager
    #[arg(long, value_enum, default_value = "nistp256")]
    root_curve: CurveName,
    /// When tickets begin and end: `weeks`, which all stations have in common, whatever is asked; `hours`, on the hour before;
    /// `as-asked`, to the second, which links those of one request
    #[arg(long, value_name = "PERIODS", default_value = "weeks", value_parser = ticket_periods)]
    ticket_periods: TicketPeriods,
    /// How long an enrolment credential is valid: a number with y, h, min or s, such as `3y` or `720h`
    #[arg(long, value_name = "TIME", default_value = "3y", value_parser = validity)]
    credential_validity: Duration,
    /// Answer enrolment requests with this code, such as `baditsstatus`
    #[arg(long, value_name = "CODE", value_parser = enrolment_fault)]
    enrolment_fault: Option<EnrolmentResponseCode>,
    /// Answer authorization requests with this code, such as `its-aa-unknownea`
    #[arg(long, value_name = "CODE", value_parser = authorization_fault)]
    authorization_fault: Option<AuthorizationResponseCode>,
    /// Answer authorization validation requests with this code, such as `deniedtoomanycerts`
    #[arg(long, value_name = "CODE", value_parser = validation_fault)]
    validation_fault: Option<AuthorizationValidationResponseCode>,
    #[command(flatten)]
    keys: Keys,
}

fn ticket_periods(text: &str) -> Result<TicketPeriods, String> {
    let found = TicketPeriods::ALL.into_iter().find(|periods| periods.name() == text);
    found.ok_or_else(|| format!("one of {}", TicketPeriods::ALL.map(TicketPeriods::name).join(", ")))
}

fn validity(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: fn(u16) -> Duration = match &text[digits.len()..] {
        "y" => Duration::Years,
        "h" => Duration::Hours,
        "min" => Duration::Minutes,
        "s" => Duration::Seconds,
        _ => return Err("a number with y, h, min or s, such as 3y or 720h".to_owned()),
    };
    match digits.parse() {
        Ok(count) if count > 0 => Ok(unit(count)),
        _ => Err(format!("1 to {} of a unit", u16::MAX)),
    }
}

macro_rules! fault_parser {
    ($name:ident, $code:ty) => {
        fn $name(text: &str) -> Result<$code, String> {
            let refusals = || <$code>::ALL.iter().filter(|code| !code.is_ok());
            <$code>::from_name(text)
                .filter(|code| !code.is_ok())
                .ok_or_else(|| format!("one of {}", refusals().map(ToString::to_string).collect::<Vec<_>>().join(", ")))
        }
    };
}
fault_parser!(enrolment_fault, EnrolmentResponseCode);
fault_parser!(authorization_fault, AuthorizationResponseCode);
fault_parser!(validation_fault, AuthorizationValidationResponseCode);

#[derive(Args, Debug)]
struct Register {
    #[command(flatten)]
    authority: Authority,
    /// Canonical identifier in hexadecimal
    #[arg(long, value_parser = octets)]
    id: Octets,
    /// Canonical public key, PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// What its tickets may allow, such as 36:01ffff; everything there is if not given
    #[arg(long = "permission", value_name = "PSID:BITMAP")]
    permissions: Vec<String>,
    /// Replace the key of a station that is registered already, or bring back one that was revoked
    #[arg(long)]
    replace: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false, id = "whom")]
struct Revoked {
    /// Canonical identifier of a station, in hexadecimal
    #[arg(long, value_parser = octets)]
    id: Option<Octets>,
    /// Certificate of an authority
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Revoke {
    #[command(flatten)]
    authority: Authority,
    #[command(flatten)]
    whom: Revoked,
}

#[derive(Args, Debug)]
struct Trust {
    #[command(flatten)]
    authority: Authority,
    /// Root certificate to trust
    #[arg(long, value_name = "FILE", requires = "dc", conflicts_with = "tlm", required_unless_present = "tlm")]
    rca: Option<PathBuf>,
    /// Distribution centre of that root
    #[arg(long, value_name = "URL")]
    dc: Option<String>,
    /// Certificate of a trust list manager, all of whose roots are to be trusted
    #[arg(long, value_name = "FILE", requires = "ectl")]
    tlm: Option<PathBuf>,
    /// Where its list is
    #[arg(long, value_name = "URL")]
    ectl: Option<String>,
}

#[derive(Args, Debug)]
struct Reports {
    #[command(flatten)]
    authority: Authority,
}

#[derive(Args, Debug)]
struct StationFolder {
    /// Folder of the station
    #[arg(long)]
    dir: PathBuf,
    /// Curve of the new key
    #[arg(long, value_enum, default_value = "nistp256")]
    curve: CurveName,
    #[command(flatten)]
    keys: Keys,
    /// Keys of tickets in files, whatever device the others are in: for one that is slow or has room for few
    #[arg(long)]
    ticket_keys_in_files: bool,
}

impl StationFolder {
    fn client(&self, printer: &Printer) -> Result<Client, Trouble> {
        let client = Client::new(&self.dir, self.keys.open(&self.dir, printer)?);
        if self.ticket_keys_in_files && self.keys.hsm.is_some() {
            return Ok(client.with_ticket_device(in_files(&self.dir, printer)?));
        }
        Ok(client)
    }
}

#[derive(Args, Debug)]
struct Keygen {
    #[command(flatten)]
    station: StationFolder,
}

#[derive(Args, Debug)]
struct EnrolmentEndpoint {
    /// Where the EA is
    #[arg(long)]
    url: String,
    /// Certificate of the EA
    #[arg(long, value_name = "FILE")]
    ea: PathBuf,
    /// Certificate of its root, to check that
    #[arg(long, value_name = "FILE")]
    rca: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Enrol {
    #[command(flatten)]
    station: StationFolder,
    #[command(flatten)]
    endpoint: EnrolmentEndpoint,
    /// Canonical identifier in hexadecimal
    #[arg(long, value_parser = octets)]
    id: Octets,
}

#[derive(Args, Debug)]
struct Reenrol {
    #[command(flatten)]
    station: StationFolder,
    #[command(flatten)]
    endpoint: EnrolmentEndpoint,
}

#[derive(Args, Debug)]
struct Authorize {
    #[command(flatten)]
    station: StationFolder,
    /// Where the AA is
    #[arg(long)]
    url: String,
    /// Certificate of the AA
    #[arg(long, value_name = "FILE")]
    aa: PathBuf,
    /// Certificate of the EA that issued the credential; it may be another vendor's
    #[arg(long, value_name = "FILE")]
    ea: PathBuf,
    /// Certificate of the AA's root, to check that
    #[arg(long, value_name = "FILE")]
    rca: Option<PathBuf>,
    /// How many tickets
    #[arg(long, default_value_t = 1)]
    count: u32,
    /// What they are to allow, such as 36:01ffff; CAM and DENM if not given
    #[arg(long = "permission", value_name = "PSID:BITMAP")]
    permissions: Vec<String>,
    /// Tickets for later: they are to begin so many hours from now
    #[arg(long, value_name = "HOURS", default_value_t = 0)]
    start_in: u16,
}

#[derive(Args, Debug)]
struct FetchCtl {
    /// Address of the list, such as http://host/getctl/0123456789ABCDEF or http://host/getectl
    #[arg(long)]
    url: String,
    /// Root whose list it is
    #[arg(long, value_name = "FILE", conflicts_with = "tlm", required_unless_present = "tlm")]
    rca: Option<PathBuf>,
    /// Trust list manager whose list it is
    #[arg(long, value_name = "FILE")]
    tlm: Option<PathBuf>,
    /// Folder to write the certificates into
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Show {
    /// Certificate or message, COER
    file: PathBuf,
}

#[derive(Clone, Debug)]
struct Octets(Vec<u8>);

fn octets(text: &str) -> Result<Octets, String> {
    let digits = text.as_bytes();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err("an even number of hexadecimal digits".to_owned());
    }
    let pair = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16).map_err(|error| error.to_string());
    digits.chunks(2).map(pair).collect::<Result<_, _>>().map(Octets)
}

pub(crate) fn run(options: &Pki, printer: &Printer) -> Result<Status, Trouble> {
    match &options.command {
        Command::Serve(options) => serve(options, printer),
        Command::Register(options) => register(options),
        Command::Revoke(options) => revoke(options),
        Command::Trust(options) => trust(options, printer),
        Command::Reports(options) => reports(options, printer),
        Command::Keygen(options) => keygen(options, printer),
        Command::Enrol(options) => enrol(options, printer),
        Command::Reenrol(options) => reenrol(options, printer),
        Command::Authorize(options) => authorize(options, printer),
        Command::FetchCtl(options) => fetch_ctl(options, printer),
        Command::Show(options) => show(options, printer),
    }
}

fn serve(options: &Serve, printer: &Printer) -> Result<Status, Trouble> {
    let mut server = ServerOptions::new(&options.authority.dir);
    server.address = SocketAddr::from((options.bind, options.port));
    server.public_url.clone_from(&options.public_url);
    server.name.clone_from(&options.name);
    server.curve = options.curve.into();
    server.root_curve = options.root_curve.into();
    server.ticket_periods = options.ticket_periods;
    server.credential_validity = options.credential_validity;
    server.faults = Faults {
        enrolment: options.enrolment_fault,
        authorization: options.authorization_fault,
        validation: options.validation_fault,
    };
    let store = options.authority.open_store()?.for_server()?;
    let server = Server::start(&server, &options.keys.open(&options.authority.dir, printer)?, store)?;
    if options.bind.is_unspecified() && options.public_url.is_none() {
        let url = server.public_url();
        printer
            .note(&format!("warning: trust lists say {url}, where nobody else finds it; say where with --public-url"));
    }
    printer.data(&format!("listening {}", server.url()));
    server.wait();
    Ok(Status::Held)
}

fn register(options: &Register) -> Result<Status, Trouble> {
    let permissions = permissions(&options.permissions)?.unwrap_or_else(Permissions::tickets);
    let station = Station {
        canonical_id: options.id.0.clone(),
        canonical_key: read_public_key(&options.key)?,
        permissions,
        is_revoked: false,
    };
    let mut store = options.authority.open_store()?;
    if options.replace {
        store.replace_station(&station)?
    } else {
        store.register(&station)?
    }
    Ok(Status::Held)
}

fn revoke(options: &Revoke) -> Result<Status, Trouble> {
    let mut store = options.authority.open_store()?;
    if let Some(id) = &options.whom.id
        && !store.revoke_station(&id.0)?
    {
        return Err(Trouble("error: no such station".to_owned()));
    }
    if let Some(certificate) = &options.whom.certificate {
        store.revoke_authority(read_certificate(certificate)?.id())?;
    }
    Ok(Status::Held)
}

fn trust(options: &Trust, printer: &Printer) -> Result<Status, Trouble> {
    let store = Arc::new(Mutex::new(options.authority.open_store()?));
    let trust = TrustStore::new(store, HttpClient::default());
    if let (Some(root), Some(centre)) = (&options.rca, &options.dc) {
        return judged(trust.add(&read_certificate(root)?, centre), printer, |()| String::new());
    }
    match (&options.tlm, &options.ectl) {
        (Some(tlm), Some(url)) => judged(trust.add_listed(&read_certificate(tlm)?, url), printer, |roots| {
            roots.iter().map(|id| format!("rca {id}\n")).collect()
        }),
        _ => Err(Trouble("error: --rca and --dc, or --tlm and --ectl".to_owned())),
    }
}

fn reports(options: &Reports, printer: &Printer) -> Result<Status, Trouble> {
    for report in options.authority.open_store()?.reports()? {
        let (what, date) = (report.observations.join(" "), report.made_at.date());
        printer.data(&format!("{}  {what}  made {date} UTC by {}", report.subject, report.reporter));
    }
    Ok(Status::Held)
}

fn keygen(options: &Keygen, printer: &Printer) -> Result<Status, Trouble> {
    options.station.client(printer)?.canonical_key(options.station.curve.into())?;
    Ok(Status::Held)
}

fn enrol(options: &Enrol, printer: &Printer) -> Result<Status, Trouble> {
    let ea = authority(&options.endpoint.ea, options.endpoint.rca.as_deref())?;
    let endpoint = Endpoint { certificate: &ea, url: &options.endpoint.url };
    let granted = options.station.client(printer)?.enrol(&options.id.0, endpoint, options.station.curve.into());
    judged(granted, printer, |id| format!("ec {id}"))
}

fn reenrol(options: &Reenrol, printer: &Printer) -> Result<Status, Trouble> {
    let ea = authority(&options.endpoint.ea, options.endpoint.rca.as_deref())?;
    let endpoint = Endpoint { certificate: &ea, url: &options.endpoint.url };
    let granted = options.station.client(printer)?.renew(endpoint, options.station.curve.into());
    judged(granted, printer, |id| format!("ec {id}"))
}

fn authorize(options: &Authorize, printer: &Printer) -> Result<Status, Trouble> {
    let aa = authority(&options.aa, options.rca.as_deref())?;
    let ea = read_certificate(&options.ea)?;
    let client = options.station.client(printer)?;
    let mut wish = TicketOptions { curve: options.station.curve.into(), ..TicketOptions::default() };
    if options.start_in > 0 {
        let start = now().plus_us(u64::from(options.start_in) * 3_600_000_000).time32();
        wish.validity_period = Some(ValidityPeriod { start, duration: Duration::Hours(168) });
    }
    if let Some(permissions) = permissions(&options.permissions)? {
        wish.permissions = permissions;
    }
    let endpoint = Endpoint { certificate: &aa, url: &options.url };
    // Other tickets whose answer was lost: they were granted, and count. If that fails, so does what follows, and says why.
    for id in client.settle(endpoint, Some((&ea, &wish))).unwrap_or_default() {
        printer.note(&format!("at {id} has come, which was asked for before"));
    }
    for _ in 0..options.count {
        let granted = client.authorize(endpoint, &ea, &wish);
        let status = judged(granted, printer, |id| format!("at {id}"))?;
        if status != Status::Held {
            return Ok(status);
        }
    }
    Ok(Status::Held)
}

fn fetch_ctl(options: &FetchCtl, printer: &Printer) -> Result<Status, Trouble> {
    let (kind, signer) = match (&options.rca, &options.tlm) {
        (Some(root), None) => (ListKind::Root, root),
        (None, Some(tlm)) => (ListKind::TrustListManager, tlm),
        _ => return Err(Trouble("error: --rca or --tlm".to_owned())),
    };
    let signer = read_certificate(signer)?;
    let message = HttpClient::default().get(&options.url, CTL_TYPE)?;
    let list = match read_trust_list(&message, kind, &signer, now()) {
        Ok(list) => list,
        Err(error) => return judged::<()>(Err(error.into()), printer, |()| String::new()),
    };
    let full = if list.is_full_ctl { "full" } else { "delta" };
    let mut text = format!("{full} list {} of {}\n", list.ctl_sequence, signer.id());
    for command in &list.ctl_commands {
        text += &describe(command)?;
        if let (Some(folder), CtlCommand::Add(entry)) = (&options.dir, command)
            && let Some(certificate) = entry.certificate()
        {
            std::fs::create_dir_all(folder)?;
            let id = SignerCertificate::new(CertificateBuf::new(certificate.received.0)?)?.id();
            files::write_bytes(&folder.join(format!("{id}.oer")), certificate.received.0)?;
        }
    }
    printer.data(&text);
    Ok(Status::Held)
}

fn describe(command: &CtlCommand<'_>) -> Result<String, Trouble> {
    let id = |certificate: &chronoseal_v2x::types::Certificate<'_>| {
        chronoseal_v2x::certificate::hashed_id8(certificate).map_err(Trouble::from)
    };
    Ok(match command {
        CtlCommand::Add(CtlEntry::Rca(entry)) => format!("add rca {}\n", id(&entry.self_signed_root_ca)?),
        CtlCommand::Add(CtlEntry::Ea(entry)) => {
            let station = entry.its_access_point.unwrap_or(entry.aa_access_point);
            format!("add ea {} {station}\n", id(&entry.ea_certificate)?)
        }
        CtlCommand::Add(CtlEntry::Aa(entry)) => {
            format!("add aa {} {}\n", id(&entry.aa_certificate)?, entry.access_point)
        }
        CtlCommand::Add(CtlEntry::Dc(entry)) => {
            let roots: Vec<String> = entry.cert.iter().map(ToString::to_string).collect();
            format!("add dc {} for {}\n", entry.url, roots.join(" "))
        }
        CtlCommand::Add(CtlEntry::Tlm(entry)) => {
            format!("add tlm {} {}\n", id(&entry.self_signed_tlm_certificate)?, entry.access_point)
        }
        CtlCommand::Delete(CtlDelete::Cert(id)) => format!("delete certificate {id}\n"),
        CtlCommand::Delete(CtlDelete::Dc(url)) => format!("delete dc {url}\n"),
        _ => "something newer\n".to_owned(),
    })
}

fn show(options: &Show, printer: &Printer) -> Result<Status, Trouble> {
    let bytes =
        std::fs::read(&options.file).map_err(|error| Trouble(format!("error: {}: {error}", options.file.display())))?;
    match CertificateBuf::new(bytes.as_slice()) {
        Ok(certificate) => printer.data(&show_certificate(certificate)?),
        Err(as_certificate) => match Ieee1609Dot2Data::from_coer(&bytes) {
            Ok(message) => printer.data(&format!("{message:#?}")),
            Err(as_message) => {
                return Err(Trouble(format!(
                    "error: {} is no certificate ({as_certificate}) and no message ({as_message})",
                    options.file.display()
                )));
            }
        },
    }
    Ok(Status::Held)
}

fn show_certificate(certificate: CertificateBuf) -> Result<String, Trouble> {
    let certificate = SignerCertificate::new(certificate)?;
    let view = certificate.certificate().view();
    let tbs = &view.to_be_signed;
    let issuer = match view.issuer {
        IssuerIdentifier::SelfSigned(_) => "itself".to_owned(),
        other => other.digest().as_ref().map(HashedId8::to_string).unwrap_or_default(),
    };
    let name = match tbs.id {
        CertificateId::Name(name) => format!("name {name}\n"),
        _ => String::new(),
    };
    let permissions = match tbs.app_permissions.as_deref().map(Permissions::from_certificate) {
        Some(Ok(permissions)) => format!("permissions {permissions}\n"),
        Some(Err(_)) => "permissions that are no bitmaps\n".to_owned(),
        None => String::new(),
    };
    Ok(format!(
        "hashedid8 {}\n{name}issuer {issuer}\ncurve {}\nvalid from {} to {} UTC\n{permissions}",
        certificate.id(),
        certificate.curve(),
        tbs.validity_period.start.time64().date(),
        tbs.validity_period.end().date(),
    ))
}

/// Reads an authority's certificate, and checks it if its root is given.
fn authority(path: &Path, root: Option<&Path>) -> Result<SignerCertificate, Trouble> {
    let certificate = read_certificate(path)?;
    if let Some(root) = root {
        check_issued_by(&certificate, &read_certificate(root)?, now()).map_err(|error| {
            let (path, root) = (path.display(), root.display());
            Trouble(format!(
                "error: {path}, checked against {root}: {error}\nhelp: --rca is the root of {path}'s authority"
            ))
        })?;
    }
    Ok(certificate)
}

fn permissions(words: &[String]) -> Result<Option<Permissions>, Trouble> {
    if words.is_empty() { Ok(None) } else { Ok(Some(words.join(" ").parse()?)) }
}

/// What the other side says is a result; that it cannot be asked is trouble.
fn judged<T>(
    result: Result<T, ServiceError>,
    printer: &Printer,
    say: impl FnOnce(T) -> String,
) -> Result<Status, Trouble> {
    match result {
        Ok(granted) => {
            let text = say(granted);
            if !text.is_empty() {
                printer.data(&text);
            }
            Ok(Status::Held)
        }
        Err(ServiceError::Pki(error @ (PkiError::EnrolmentRefused(_) | PkiError::AuthorizationRefused(_)))) => {
            printer.note(&format!("refused: {error}"));
            Ok(Status::Failed)
        }
        Err(error) => Err(error.into()),
    }
}
