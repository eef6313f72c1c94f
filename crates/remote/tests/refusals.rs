//! Who is let in, and what an agent does not take part in: each with words that say why, on both sides, and it goes on serving.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chronoseal_core::Duration as Time;
use chronoseal_remote::{Identity, IdentityError, Limits, Role, VirtualClock};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use crate::bench::{Agent, Bench, SCENARIO, drive, options, two, workers};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_controller_of_another_authority_is_refused", a_controller_of_another_authority_is_refused),
    (
        "a_certificate_that_has_expired_is_refused_on_either_side",
        a_certificate_that_has_expired_is_refused_on_either_side,
    ),
    ("an_agent_cannot_command_agents", an_agent_cannot_command_agents),
    ("a_controller_is_no_agent_and_one_agent_is_not_another", a_controller_is_no_agent_and_one_agent_is_not_another),
    ("who_shows_no_certificate_or_speaks_no_tls_is_refused", who_shows_no_certificate_or_speaks_no_tls_is_refused),
    ("another_build_is_refused", another_build_is_refused),
    (
        "what_is_above_the_limits_is_refused_before_anything_starts",
        what_is_above_the_limits_is_refused_before_anything_starts,
    ),
    ("what_several_hosts_cannot_run_is_refused", what_several_hosts_cannot_run_is_refused),
    ("keys_are_for_their_owner_only", keys_are_for_their_owner_only),
];

/// What the controller says when it cannot run.
fn refusal(text: &str, identity: &Identity, agents: &[(&str, &Agent)]) -> String {
    match drive(text, identity, &options(agents)) {
        Ok(_) => panic!("it ran"),
        Err(error) => error.to_string(),
    }
}

/// The agents still take part in a run.
fn go_on(bench: &Bench, [robot, station]: &[Agent; 2]) {
    let controller = bench.identity("bench", Role::Controller);
    let text = SCENARIO.replace("\"1s\"", "\"100ms\"");
    let run = drive(&text, &controller, &options(&[("robot", robot), ("station", station)])).unwrap();
    assert!(run.meta.lost.is_none(), "{:?}", run.meta.lost);
    assert_eq!(workers(), 0);
}

fn a_controller_of_another_authority_is_refused() {
    let (bench, other) = (Bench::new(), Bench::new());
    let agents @ [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let stranger = other.identity("bench", Role::Controller);
    // It does not trust the agents either, and sees that first.
    let error = refusal(SCENARIO, &stranger, &[("robot", robot), ("station", station)]);
    assert!(
        error.contains("the agent of robot") && error.contains("its certificate is of another authority"),
        "{error}"
    );
    // One that trusts them has no certificate that they trust.
    let mixed = bench.path("mixed");
    other.authority.enroll("bench", Role::Controller, 1, &mixed).unwrap();
    bench.identity("bench", Role::Controller);
    std::fs::copy(bench.path("bench-Controller/ca.pem"), mixed.join("ca.pem")).unwrap();
    let error = refusal(SCENARIO, &Identity::read(&mixed).unwrap(), &[("robot", robot), ("station", station)]);
    assert!(error.contains("it refuses our certificate, which is of another authority"), "{error}");
    robot.said("its certificate is of another authority");
    go_on(&bench, agents);
}

fn a_certificate_that_has_expired_is_refused_on_either_side() {
    let bench = Bench::new();
    let agents @ [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let expired = |name: &str, role| {
        let folder = bench.path(&format!("expired-{name}"));
        let until = SystemTime::now() - Duration::from_secs(60);
        bench.authority.enroll_until(name, role, until, &folder).unwrap();
        Identity::read(&folder).unwrap()
    };
    let error = refusal(SCENARIO, &expired("bench", Role::Controller), &[("robot", robot), ("station", station)]);
    assert!(error.contains("it refuses our certificate, which has expired"), "{error}");
    robot.said("its certificate has expired");
    let old = Agent::start(expired("old", Role::Agent), 23, Limits::default(), VirtualClock::default());
    let text = SCENARIO.replace("robot", "old");
    let error = refusal(&text, &bench.identity("bench", Role::Controller), &[("old", &old), ("station", station)]);
    assert!(error.contains("the agent of old") && error.contains("its certificate has expired"), "{error}");
    go_on(&bench, agents);
}

fn an_agent_cannot_command_agents() {
    let bench = Bench::new();
    let agents @ [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let agent = bench.identity("station", Role::Agent);
    let error = refusal(SCENARIO, &agent, &[("robot", robot), ("station", station)]);
    assert!(error.contains("which is not that of a controller"), "{error}");
    robot.said("its certificate is not that of a controller");
    go_on(&bench, agents);
}

fn a_controller_is_no_agent_and_one_agent_is_not_another() {
    let bench = Bench::new();
    let controller = bench.identity("bench", Role::Controller);
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let false_agent =
        Agent::start(bench.identity("robot", Role::Controller), 24, Limits::default(), VirtualClock::default());
    let error = refusal(SCENARIO, &controller, &[("robot", &false_agent), ("station", station)]);
    assert!(error.contains("its certificate is not that of an agent"), "{error}");
    let error = refusal(SCENARIO, &controller, &[("robot", station), ("station", robot)]);
    assert!(error.contains("its certificate is of `station`, and `robot` is expected there"), "{error}");
    let error = refusal(SCENARIO, &controller, &[("robot", robot)]);
    assert!(error.contains("no agent is given for node station"), "{error}");
    let error = refusal(SCENARIO, &controller, &[("robot", robot), ("station", station), ("left", robot)]);
    assert!(error.contains("there is an agent for left, and the scenario's nodes are robot, station"), "{error}");
}

/// A client of TLS that trusts the authority, with a certificate or without.
fn client(bench: &Bench, agent: &Agent, folder: Option<&str>) -> (ClientConnection, TcpStream) {
    bench.identity("bench", Role::Controller);
    let certificate = |path: &str| CertificateDer::from_pem_file(bench.path(path)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate("bench-Controller/ca.pem")).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match folder {
        None => builder.with_no_client_auth(),
        Some(folder) => {
            let key = PrivateKeyDer::from_pem_file(bench.path(&format!("{folder}/key.pem"))).unwrap();
            builder.with_client_auth_cert(vec![certificate(&format!("{folder}/certificate.pem"))], key).unwrap()
        }
    };
    let name = ServerName::try_from("robot").unwrap();
    (ClientConnection::new(Arc::new(config), name).unwrap(), TcpStream::connect(agent.address).unwrap())
}

fn who_shows_no_certificate_or_speaks_no_tls_is_refused() {
    let bench = Bench::new();
    let agents @ [robot, _] = &two(&bench, [VirtualClock::default(); 2]);
    let (mut tls, mut tcp) = client(&bench, robot, None);
    let error = Stream::new(&mut tls, &mut tcp).read(&mut [0; 8]).unwrap_err();
    assert!(error.to_string().contains("CertificateRequired"), "{error}");
    robot.said("it shows no certificate, and only a controller of this test bed may connect");
    let mut plain = TcpStream::connect(robot.address).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    robot.said("what it says is no TLS");
    go_on(&bench, agents);
}

fn another_build_is_refused() {
    let bench = Bench::new();
    let agents @ [robot, _] = &two(&bench, [VirtualClock::default(); 2]);
    let says = |message: &str| {
        let (mut tls, mut tcp) = client(&bench, robot, Some("bench-Controller"));
        let mut stream = Stream::new(&mut tls, &mut tcp);
        stream.write_all(&(message.len() as u64).to_le_bytes()).unwrap();
        stream.write_all(message.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let answer = says(r#"{"Hello":{"build":{"protocol":1,"version":"9.9.9","commit":"other"}}}"#);
    assert!(answer.contains("install the same on both"), "{answer}");
    robot.said("the controller is chronoseal 9.9.9 (commit other, protocol 1)");
    says(r#"{"Ask":{"t1":1}}"#);
    robot.said("it did not say first which build it is");
    says(r#"{"Sing":{}}"#);
    robot.said("no message of this protocol");
    go_on(&bench, agents);
}

fn what_is_above_the_limits_is_refused_before_anything_starts() {
    let bench = Bench::new();
    let controller = bench.identity("bench", Role::Controller);
    let cases = [
        (
            Limits { longest_run: Time::from_ms(500), ..Limits::default() },
            "the run lasts 1s, and this agent allows 500ms",
        ),
        (
            Limits { messages_per_second: 249, ..Limits::default() },
            "sends and gets 250 messages a second, and this agent allows 249",
        ),
        (Limits { udp: false, ..Limits::default() }, "it has streams over udp, which this agent does not allow"),
    ];
    for (limits, says) in cases {
        let robot = Agent::start(bench.identity("robot", Role::Agent), 21, limits, VirtualClock::default());
        let station =
            Agent::start(bench.identity("station", Role::Agent), 22, Limits::default(), VirtualClock::default());
        let error = refusal(SCENARIO, &controller, &[("robot", &robot), ("station", &station)]);
        assert!(error.contains("the agent of robot") && error.contains(says), "{error}");
        robot.said(says);
        assert_eq!(workers(), 0);
    }
    // Another address than that of the agent.
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let mut asked = options(&[("robot", robot), ("station", station)]);
    asked.agents.0.get_mut("robot").unwrap().data = Some([127, 0, 0, 77].into());
    let error = drive(SCENARIO, &controller, &asked).map(drop).unwrap_err().to_string();
    assert!(error.contains("through 127.0.0.77, and this agent allows only 127.0.0.21"), "{error}");
}

fn what_several_hosts_cannot_run_is_refused() {
    let bench = Bench::new();
    let controller = bench.identity("bench", Role::Controller);
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let agents = [("robot", robot), ("station", station)];
    let network = "[segments.air.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"20ms\"\nguard_period = \"200us\"";
    let bus = SCENARIO.replace("[segments.air.link]", network).replace("9kB", "900B").replace("offset = \"1ms\"\n", "");
    let error = refusal(&bus, &controller, &agents);
    assert!(error.contains("segment air is of the kind ethernet") && error.contains("--engine live"), "{error}");
    let program = SCENARIO.replace("name = \"robot\"\n", "name = \"robot\"\nprogram = { run = [\"true\"] }\n");
    let error = refusal(&program, &controller, &agents);
    assert!(error.contains("node robot runs a program"), "{error}");
}

fn keys_are_for_their_owner_only() {
    let bench = Bench::new();
    bench.identity("robot", Role::Agent);
    let (folder, key) = (bench.path("robot-Agent"), bench.path("robot-Agent/key.pem"));
    for key in [&key, &bench.path("ca/ca-key.pem")] {
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(Identity::read(&folder), Err(IdentityError::Readable { mode: 0o640, .. })));
    std::fs::remove_file(&key).unwrap();
    assert!(matches!(Identity::read(&folder), Err(IdentityError::Read { .. })));
}
