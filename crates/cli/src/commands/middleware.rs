//! `chronoseal middleware`

mod profile;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_core::{Bytes, Duration};
use chronoseal_media::link::Shaper;
use chronoseal_middleware::{
    Adapter, Answer, Cache, Configuration, Data, Host, NETWORKS, Network, Packets, Question, Recording, Repetitions,
    Row, Trial, adapters, attack_matrix, attacked, attacks, audit, costs, document, harmed, plain_of, shares,
};
use chronoseal_report::{Block, Cell, Document, Section, Table, Verdict, Word, csv, html, json, run_report};
use chronoseal_results::disk::Filling;
use chronoseal_runner::LiveOptions;
use chronoseal_testbed::interrupt;
use clap::{Args, Subcommand, ValueEnum};

/// Where the adapters are in a checkout.
pub(crate) const ADAPTERS: &str = "adapters/middleware";

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal middleware list
  chronoseal middleware run cyclone-dds-reliable cyclone-dds-reliable-encrypted --data laser --network gigabit-ethernet
  chronoseal middleware run --all --data image --network wifi --deadline 33ms

Each adapter is a folder in adapters/middleware; its README says how to add one.")]
pub(crate) struct Middleware {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Which robot middleware there are adapters for, what of it is installed, and what installs the rest
    List(List),
    /// Run a publisher and a subscriber of each configuration live over an emulated network, and rank them
    Run(Run),
    /// Measure what configurations take of messages, for simulations of scenarios whose streams go over them
    Profile(profile::Options),
    /// Attack configurations by a stranger on the same link, and count what gets through and what is lost
    Attack(AttackOptions),
    /// Read a keystore of SROS 2 or a folder of DDS Security, and say what it leaves open
    Audit(AuditOptions),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal middleware audit ~/sros2_keystore
  chronoseal middleware audit keys --format json

Nothing is run and nothing is sent. Signatures and dates are not checked.

Exit status: 0 if nothing was found, 1 if something was, 3 if a document could not be read.")]
struct AuditOptions {
    /// The folder; every participant below it is looked at
    folder: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal middleware attack fast-dds-reliable fast-dds-reliable-encrypted
  chronoseal middleware attack --all --out attacks

Everything stays within network namespaces that the run makes. Each attack is tried on a link that loses nothing.

Exit status: 1 if a forged or repeated message was accepted, a message was read or a genuine one was lost or late, else 3: an attack that was stopped is one attack.")]
struct AttackOptions {
    /// Configurations, as `middleware list` shows them
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// All that are installed
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// One attack only
    #[arg(long, value_name = "NAME")]
    attack: Option<String>,
    /// For how long each runs, finding each other included
    #[arg(long, default_value = "6s")]
    duration: Duration,
    /// Folder of the adapters
    #[arg(long, default_value = ADAPTERS)]
    adapters: PathBuf,
    /// Folder for the report [default: results/attacks, with a number behind it if that exists]
    #[arg(long)]
    out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Args, Debug)]
struct List {
    /// Folder of the adapters
    #[arg(long, default_value = ADAPTERS)]
    adapters: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal middleware run raw-tcp raw-tls --data image --repeat 10
  chronoseal middleware run --all --network wifi --length 2kB --period 10ms --deadline 50ms
  chronoseal middleware run ros-1 raw-tls --data cloud --recording drive.bag --topic /velodyne_points

Adapters are programs of this project's sources; they are built when they are used for the first time, and run as you.

Exit status: 3, since a run shows that a deadline was missed and never that it cannot be; 1 if no configuration keeps it.")]
struct Run {
    /// Configurations, as `middleware list` shows them
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// All that are installed
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// What is sent: 9 kB at 40 Hz, 900 kB at 32 Hz, or 9 MB at 18 Hz
    #[arg(long, value_enum, default_value = "laser")]
    data: DataName,
    /// Send recordings of real sensors in place of made-up bytes: 8,664 B, 921,600 B or 9,830,400 B
    #[arg(long, conflicts_with_all = ["length", "bodies"])]
    recorded: bool,
    /// Length of a message, in place of that of the data
    #[arg(long)]
    length: Option<Bytes>,
    /// From one message to the next, in place of that of the data
    #[arg(long)]
    period: Option<Duration>,
    /// A message is too late after this
    #[arg(long)]
    deadline: Option<Duration>,
    /// The network between the two: `localhost`, `gigabit-ethernet` or `wifi`
    #[arg(long, default_value = "gigabit-ethernet", value_parser = network)]
    network: Network,
    /// Where the rate of the network is kept: behind the sender's device, so that what is too much is lost, or on the sender's own device, which holds
    /// it back, so that it is late
    #[arg(long, value_enum, default_value = "behind")]
    shaper: ShaperName,
    /// The longest packet: 1500 B, or 64 kB as a host alone with itself has them
    #[arg(long, value_enum, default_value = "real")]
    packets: PacketsName,
    /// Run each over localhost too, and subtract what it takes there where it is held beside the network alone
    #[arg(long)]
    minus_localhost: bool,
    /// For how long each runs, finding each other included
    #[arg(long, default_value = "8s")]
    duration: Duration,
    /// Of losses and delays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often each is run, all of them in turn; from 10 on the report says what security costs, with intervals
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    repeat: u16,
    /// Send a recording of your own, at its own rate: a ROS 1 bag, MCAP, PCD, PNG images or the datagrams of a lidar in a pcap. `--data` says as
    /// what it is sent by middlewares that have types
    #[arg(long, value_name = "FILE", conflicts_with_all = ["length", "bodies", "recorded"])]
    recording: Option<PathBuf>,
    /// Which of several topics of the recording; of a pcap the UDP port
    #[arg(long, requires = "recording")]
    topic: Option<String>,
    /// Folder with recorded messages: NAME.bodies for the stream of that name, as adapters/middleware/README.md describes it
    #[arg(long)]
    bodies: Option<PathBuf>,
    /// Folder of the adapters
    #[arg(long, default_value = ADAPTERS)]
    adapters: PathBuf,
    /// Folder for the report of all and of each [default: results/middleware, with a number behind it if that exists]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Do without SCHED_FIFO even where it is granted
    #[arg(long)]
    no_fifo: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum DataName {
    Laser,
    Image,
    Cloud,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum PacketsName {
    Real,
    Large,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum ShaperName {
    Behind,
    Sender,
}

fn network(text: &str) -> Result<Network, String> {
    let names: Vec<&str> = NETWORKS.iter().map(|network| network.profile).collect();
    let found = NETWORKS.into_iter().find(|network| network.profile == text);
    found.ok_or_else(|| format!("write one of {}", names.join(", ")))
}

pub(crate) fn run(options: &Middleware, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        Action::List(options) => list(options, printer),
        Action::Run(options) => compare(options, printer),
        Action::Profile(options) => profile::run(options, printer),
        Action::Attack(options) => attack(options, printer),
        Action::Audit(options) => audited(options, printer),
    }
}

fn list(options: &List, printer: &Printer) -> Result<Status, Trouble> {
    let all = adapters(&options.adapters)?;
    let mut table =
        Table::new("Configurations").words("configuration").words("what").words("security").words("installed");
    let (mut missing, mut others) = (Vec::new(), Vec::new());
    for adapter in &all {
        let version = adapter.version();
        others.extend(adapter.other_version());
        if version.is_none() {
            missing.push(format!("{}: {}", adapter.title, adapter.install_command()));
        }
        for configuration in &adapter.configurations {
            let installed = version.clone().map_or_else(|| Cell::na("not installed"), Cell::text);
            let words = [&configuration.name, &configuration.title, &configuration.security].map(Cell::text);
            table.push(words.into_iter().chain([installed]).collect());
        }
    }
    let (word, text) = match missing.is_empty() {
        true => (Word::Held, "All of it is installed.".to_owned()),
        false => (Word::NotChecked, format!("{} of {} middlewares are not installed.", missing.len(), all.len())),
    };
    let document = Document {
        title: "Robot middleware".into(),
        subtitle: String::new(),
        verdict: Verdict { word, text, points: missing.into_iter().chain(others).collect() },
        sections: vec![Section::new("Configurations").with(Block::Table(table))],
        environment: Vec::new(),
    };
    printer.document(&document, options.format);
    Ok(Status::Held)
}

fn compare(options: &Run, printer: &Printer) -> Result<Status, Trouble> {
    let network = match options.shaper {
        ShaperName::Behind => options.network,
        ShaperName::Sender => options.network.shaped(Shaper::Sender).ok_or_else(|| {
            Trouble(format!(
                "error: {} has no rate at which a sender could be held back\nhelp: name another network, or leave `--shaper` out",
                options.network.profile
            ))
        })?,
    };
    let all = adapters(&options.adapters)?;
    let chosen = chosen(&all, &options.names)?;
    let cache = Cache::of_user()?;
    let bodies = match options.recorded {
        true => Some(cache.bodies(&options.adapters)?),
        false => options.bodies.clone(),
    };
    let [laser, image, cloud] = if options.recorded { Data::recorded() } else { Data::published() };
    let mut data = match options.data {
        DataName::Laser => laser,
        DataName::Image => image,
        DataName::Cloud => cloud,
    };
    data.deadline = options.deadline;
    if let Some(length) = options.length {
        data.length =
            u32::try_from(length.0).map_err(|_| Trouble(format!("error: {length} are too many for a message")))?;
    }
    let folder = options.out.clone().unwrap_or_else(|| files::fresh_folder("middleware"));
    files::claim(&folder)?;
    let filling = Filling::begin(&folder)?;
    let recording = options.recording.as_deref().map(|file| {
        let to = folder.join("messages");
        Recording::read(&options.adapters, file, options.topic.as_deref(), &mut data, &to)
    });
    let recording = recording.transpose()?;
    data.period = options.period.unwrap_or(data.period);
    let bodies = recording.as_ref().map(|recording| recording.bodies.clone()).or(bodies);
    let stop = interrupt::flag();
    let rounds = usize::from(options.repeat);
    let bar = printer.progress((rounds * chosen.len()) as u64, "middleware");
    let packets = match options.packets {
        PacketsName::Real => Packets::Real,
        PacketsName::Large => Packets::Large,
    };
    let duration = options.duration;
    let live = LiveOptions { no_fifo: options.no_fifo, ..LiveOptions::default() };
    let mut host = Host::new(cache, bodies);
    let mut repetitions = Repetitions::default();
    let mut answers: Vec<Vec<Answer>> = vec![Vec::new(); chosen.len()];
    let mut hosts = answers.clone();
    for round in 0..rounds {
        let seed = options.seed + round as u64;
        let question = Question { data: &data, network, packets, duration, seed, attack: None };
        for (place, (adapter, configuration)) in chosen.iter().enumerate() {
            bar.set_position((round * chosen.len() + place) as u64);
            bar.set_message(configuration.name.clone());
            if stop.load(Ordering::Relaxed) {
                answers[place].push(Answer::Not("it was stopped".into()));
                continue;
            }
            let (answer, ran) = host.answer(adapter, configuration, question, &live, stop);
            if let Some((scenario, run)) = ran {
                let folder = match rounds {
                    1 => folder.join(&configuration.name),
                    _ => folder.join(&configuration.name).join(round.to_string()),
                };
                files::claim(&folder)?;
                files::write(&folder.join("scenario.toml"), &scenario)?;
                files::write(&folder.join("report.html"), &html(&run_report(&run.meta, &run.summary, &run.rows)))?;
            }
            if let Answer::Measured(measured) = &answer {
                repetitions.add(&configuration.name, round, measured);
            }
            answers[place].push(answer);
            if options.minus_localhost {
                let question = Question { network: NETWORKS[0], ..question };
                hosts[place].push(host.answer(adapter, configuration, question, &live, stop).0);
            }
        }
    }
    let rows: Vec<Row<'_>> = chosen
        .iter()
        .zip(answers.iter().zip(&hosts))
        .map(|((_, configuration), (answers, hosts))| {
            let host = match Answer::pooled(hosts) {
                Answer::Measured(measured) => Some(*measured),
                Answer::Not(_) => None,
            };
            Row { configuration, answer: Answer::pooled(answers), host }
        })
        .collect();
    let is_chosen = |one: &Configuration| chosen.iter().any(|(_, chosen)| chosen.name == one.name);
    let pairs =
        chosen.iter().filter_map(|(adapter, one)| Some((*one, plain_of(adapter, one).filter(|one| is_chosen(one))?)));
    let shares = shares(&format!("{} over {}", data.name, network.title), chosen.iter().copied(), &repetitions, None);
    let costs = costs(&format!("{} over {}", data.name, network.title), data.length, pairs, &repetitions);
    bar.finish_and_clear();
    let mut document = document(&rows, &data, (network, packets), costs);
    if let Some(shares) = shares {
        // Before what is to be known of all.
        let place = document.sections.len().saturating_sub(1);
        document.sections.insert(place, Section::new("What latency is made of").with(Block::Table(shares)));
    }
    document.verdict.points.extend(other_versions(&chosen));
    document.verdict.points.splice(0..0, recording.into_iter().flat_map(|recording| recording.notes));
    keep(&folder, filling, &document, options.format, printer)
}

fn attack(options: &AttackOptions, printer: &Printer) -> Result<Status, Trouble> {
    let all = adapters(&options.adapters)?;
    let mut known = attacks(&options.adapters)?;
    if let Some(name) = &options.attack {
        let names: Vec<String> = known.iter().map(|attack| attack.name.clone()).collect();
        known.retain(|attack| attack.name == *name);
        if known.is_empty() {
            return Err(Trouble(format!(
                "error: there is no attack named {name}\nhelp: write one of {}",
                names.join(", ")
            )));
        }
    }
    let chosen = chosen(&all, &options.names)?;
    let folder = options.out.clone().unwrap_or_else(|| files::fresh_folder("attacks"));
    files::claim(&folder)?;
    let filling = Filling::begin(&folder)?;
    let stop = interrupt::flag();
    let laser = Data::published()[0].clone().under_attack();
    let mut host = Host::new(Cache::of_user()?, None);
    let tried: Vec<_> = chosen
        .iter()
        .flat_map(|(adapter, one)| {
            known.iter().filter(|attack| attack.is_on(adapter, one)).map(move |attack| (*adapter, *one, attack))
        })
        .collect();
    let bar = printer.progress(tried.len() as u64, "attacks");
    let mut trials = Vec::new();
    for (place, (adapter, configuration, attack)) in tried.into_iter().enumerate() {
        bar.set_position(place as u64);
        bar.set_message(format!("{} on {}", attack.name, configuration.name));
        let answer = match stop.load(Ordering::Relaxed) {
            true => Answer::Not("it was stopped".into()),
            false => {
                let question = Question {
                    data: &laser,
                    network: NETWORKS[0],
                    packets: Packets::Real,
                    duration: options.duration,
                    seed: 1,
                    attack: Some(attack),
                };
                host.answer(adapter, configuration, question, &LiveOptions::default(), stop).0
            }
        };
        trials.push(Trial { attack, configuration, answer });
    }
    bar.finish_and_clear();
    let matrix = attack_matrix(chosen.iter().copied(), &known, &trials);
    let mut document = attack_document(&trials, matrix);
    document.verdict.points.extend(other_versions(&chosen));
    keep(&folder, filling, &document, options.format, printer)
}

/// Writes a report into its folder, and shows it.
fn keep(
    folder: &Path,
    filling: Filling,
    document: &Document,
    format: Format,
    printer: &Printer,
) -> Result<Status, Trouble> {
    files::write(&folder.join("report.html"), &html(document))?;
    files::write(&folder.join("tables.csv"), &csv(document))?;
    files::write(&folder.join("report.json"), &json(document))?;
    filling.finish()?;
    printer.document(document, format);
    printer.hint(&format!("results: {}  report: {}", folder.display(), folder.join("report.html").display()));
    Ok(document.verdict.word.status())
}

fn attack_document(trials: &[Trial<'_>], matrix: Table) -> Document {
    let all = trials.len();
    let (word, text) = match harmed(trials) {
        (0, _) => (Word::NotChecked, "No attack was tried.".to_owned()),
        (tried, 0) => (Word::NotProven, format!("{tried} of {all} attacks were tried, and none did any harm.")),
        (tried, harmed) => {
            let text = format!(
                "{harmed} of the {tried} attacks that were tried did harm: forged or repeated messages were accepted, messages were read, or genuine ones were lost or late."
            );
            (Word::Failed, text)
        }
    };
    let points = trials.iter().filter_map(|trial| match &trial.answer {
        Answer::Not(why) => {
            Some(format!("{} on {}: not tried, because {why}", trial.attack.name, trial.configuration.name))
        }
        Answer::Measured(measured) if measured.attacker.is_none() && measured.harm() == 0 => Some(format!(
            "{} on {}: not checked, because its program left no word",
            trial.attack.name, trial.configuration.name
        )),
        Answer::Measured(_) => None,
    });
    Document {
        title: "Robot middleware under attack".into(),
        subtitle: "A stranger on the same link, with keys of another authority where there are keys; or one through whom all packets go.".into(),
        verdict: Verdict { word, text, points: points.collect() },
        sections: vec![Section::new("Attacks").with(Block::Table(matrix)).with(Block::Table(attacked(trials)))],
        environment: Vec::new(),
    }
}

fn audited(options: &AuditOptions, printer: &Printer) -> Result<Status, Trouble> {
    let unreadable =
        |error: std::io::Error| Trouble(format!("error: cannot read {}: {error}", options.folder.display()));
    let found = audit(&options.folder).map_err(unreadable)?;
    if found.participants.is_empty() {
        return Err(Trouble(format!(
            "error: no folder below {} has a governance.p7s\nhelp: name a keystore as `ros2 security create_keystore` makes it, or a folder with the \
             documents of a participant",
            options.folder.display()
        )));
    }
    let mut table = Table::new("What an attacker can use").words("participant").words("what").words("how to mend it");
    for finding in &found.findings {
        table.push([&finding.place, &finding.what, &finding.mend].map(Cell::text).to_vec());
    }
    let participants = found.participants.len();
    let (word, text) = match (found.findings.len(), found.unread.len()) {
        (0, 0) => (Word::Held, format!("Nothing was found in the documents of {participants} participants.")),
        (0, unread) => (Word::NotChecked, format!("Nothing was found, but {unread} documents could not be read.")),
        (findings, _) => {
            (Word::Failed, format!("{findings} things were found in the documents of {participants} participants."))
        }
    };
    let mut points = found.unread;
    points.push("Not checked: signatures, dates, and what the names in certificates and permissions are.".into());
    let document = Document {
        title: "Audit of DDS Security".into(),
        subtitle: options.folder.display().to_string(),
        verdict: Verdict { word, text, points },
        sections: vec![Section::new("Findings").with(Block::Table(table))],
        environment: Vec::new(),
    };
    printer.document(&document, options.format);
    Ok(document.verdict.word.status())
}

/// Of each of these adapters once.
fn other_versions(chosen: &[(&Adapter, &Configuration)]) -> Vec<String> {
    let mut adapters: Vec<&Adapter> = chosen.iter().map(|(adapter, _)| *adapter).collect();
    adapters.dedup_by(|one, other| one.name == other.name);
    adapters.into_iter().filter_map(Adapter::other_version).collect()
}

/// The configurations of these names, or all.
fn chosen<'a>(all: &'a [Adapter], names: &[String]) -> Result<Vec<(&'a Adapter, &'a Configuration)>, Trouble> {
    let every = || all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one)));
    if names.is_empty() {
        return Ok(every().collect());
    }
    let find = |name: &String| {
        every().find(|(_, configuration)| configuration.name == *name).ok_or_else(|| {
            let known: Vec<&str> = every().map(|(_, configuration)| configuration.name.as_str()).collect();
            Trouble(format!("error: there is no configuration named {name}\nhelp: write one of {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}
