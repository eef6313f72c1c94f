//! Protections: what they become, on which stations, and what a person sees where one cannot be.

use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, MacAlgorithm, Profile, TripResetLayout};
use chronoseal_plan::{Identity, KeySource, Plan, ProtectionId, ProtectionKind};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

pub(crate) const VEHICLE: &str = include_str!("vehicle.toml");
/// The protection of the vehicle's streams that stay on one segment, to be changed.
pub(crate) const SEALED: &str = "secoc = { profile = 1 }";

/// The vehicle without its recording, which takes a while to read.
fn quick(text: &str) -> String {
    text.replace(
        "[[recordings]]\nname = \"a car\"\ntraffic = { builtin = \"car-busmaster\" }\nfrom = \"pedal\"\n\n",
        "",
    )
}

pub(crate) fn plan(text: &str) -> Plan {
    load("vehicle.toml", quick(text).as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn problems(text: &str) -> Problems {
    match load("vehicle.toml", quick(text).as_bytes(), &[], &NoFiles) {
        Ok(_) => panic!("nothing is wrong with {text}"),
        Err(problems) => problems,
    }
}

/// The vehicle with another protection called `sealed`, and FD frames wherever that is sent, so that there is room.
pub(crate) fn sealed(protection: &str) -> String {
    VEHICLE
        .replace(SEALED, protection)
        .replace("body = { id = \"0x100\" }", "body = { id = \"0x100\", format = \"fd\" }")
}

/// The same on a stream of the backbone instead.
fn sealed_on_ethernet(protection: &str) -> String {
    let text =
        VEHICLE.replace(SEALED, protection).replace("length = \"4B\"\nprotection = \"sealed\"", "length = \"4B\"");
    text.replace("length = \"1000B\"\nprotection = \"tagged\"", "length = \"1000B\"\nprotection = \"sealed\"")
}

fn secured(plan: &Plan, name: &str) -> (Profile, KeySource, Identity) {
    match &plan.protections.iter().find(|protection| protection.name == name).expect("it is there").kind {
        ProtectionKind::Secured { profile, key, identity } => (*profile, key.clone(), *identity),
        other => panic!("no tag: {other:?}"),
    }
}

/// The one problem of a text: code, the texts that its labels point at, message and help.
#[track_caller]
pub(crate) fn only_problem(text: &str) -> (Code, Vec<String>, String, String) {
    let text = quick(text);
    let problems = problems(&text);
    let [problem] = problems.list() else { panic!("{}", problems.render()) };
    let labels = problem.labels.iter().map(|(span, _)| text[span.clone()].to_owned()).collect();
    (problem.code, labels, problem.message.clone(), problem.help.clone().expect("it says what to do"))
}

#[test]
fn any_mac_goes_with_any_freshness_on_every_kind_of_segment() {
    let freshness = [
        ("\"full\"", Freshness::Full),
        ("\"none\"", Freshness::None),
        ("{ truncated = \"2B\" }", Freshness::Truncated { bits: 16 }),
        ("{ truncated = \"12bit\" }", Freshness::Truncated { bits: 12 }),
        ("{ rising = { sent = \"1B\" } }", Freshness::Rising { bits: 64, sent_bits: 8 }),
        ("{ rising = { counter = \"4B\", sent = \"4bit\" } }", Freshness::Rising { bits: 32, sent_bits: 4 }),
    ];
    for mac in MacAlgorithm::ALL {
        for (written, freshness) in freshness {
            if mac.needs_nonce() && !freshness.is_nonce() {
                continue;
            }
            let tag_bits = mac.tag_bits_min().max(64);
            let table = format!(
                "mac = {{ algorithm = \"{mac}\", tag = \"{tag_bits}bit\", freshness = {written}, replay_window = 3 }}"
            );
            for text in [sealed(&table), sealed_on_ethernet(&table)] {
                let plan = plan(&text);
                let (profile, key, identity) = secured(&plan, "sealed");
                assert_eq!(profile, Profile::new(mac, tag_bits, freshness, 3).expect("a legal profile"));
                assert!(matches!(key, KeySource::Shared(key) if mac.takes_key_len(key.expose().len())));
                assert_eq!(identity, Identity::Name);
                assert_eq!(plan.streams.iter().filter(|stream| stream.protection == ProtectionId(2)).count(), 1);
            }
        }
    }
}

/// A scenario with a protection, and a `[freshness]` of these lines.
fn counted(protection: &str, freshness: &str) -> String {
    let master = format!("[freshness]\nmaster = \"brake-rear\"\n{freshness}\n\n[[recordings]]");
    sealed(protection).replace("[[recordings]]", &master)
}

#[test]
fn secoc_has_lengths_of_its_own_to_the_bit() {
    let of = |text: &str| secured(&plan(text), "sealed").0;
    let profile = |tag, freshness| Profile::new(MacAlgorithm::CmacAes128, tag, freshness, 1).expect("a profile");
    for (written, tag, freshness) in [
        (
            "authenticator = \"10bit\", freshness = { rising = { counter = \"12bit\", sent = \"6bit\" } }",
            10,
            Freshness::Rising { bits: 12, sent_bits: 6 },
        ),
        (
            "authenticator = \"1bit\", freshness = { rising = { counter = \"1bit\", sent = \"0bit\" } }",
            1,
            Freshness::Rising { bits: 1, sent_bits: 0 },
        ),
        (
            "authenticator = \"20bit\", freshness = { rising = { sent = \"63bit\" } }",
            20,
            Freshness::Rising { bits: 64, sent_bits: 63 },
        ),
        ("authenticator = \"8B\", freshness = \"none\"", 64, Freshness::None),
    ] {
        assert_eq!(of(&sealed(&format!("secoc = {{ {written} }}"))), profile(tag, freshness), "{written}");
    }
    let hmac = "secoc = { algorithm = \"hmac-sha-256\", authenticator = \"33bit\", freshness = \"none\" }";
    assert_eq!(of(&sealed(hmac)).mac(), MacAlgorithm::HmacSha256);
    // Counters of a master, and its message.
    let own = "secoc = { authenticator = \"21bit\", freshness = { trip_reset = { sent = \"11bit\" } } }";
    let text = counted(
        own,
        "counters = { trip = \"8bit\", reset = \"16bit\", message = \"9bit\" }\nauthenticator = \"20bit\"",
    );
    let layout = TripResetLayout { trip_bits: 8, reset_bits: 16, message_bits: 9 };
    assert_eq!(of(&text), profile(21, Freshness::TripReset { layout, sent_bits: 11 }));
    let plan = plan(&text);
    let freshness = plan.freshness.as_ref().expect("somebody counts");
    assert_eq!((freshness.layout, freshness.tag_bits), (layout, 20));
    let message = &plan.streams[freshness.stream.index()];
    assert_eq!(message.hops[0].frame_len, 6, "44 bits");
}

#[test]
fn lengths_that_cannot_be_are_refused_with_what_to_write() {
    let counters = "counters = { trip = \"8bit\", reset = \"16bit\", message = \"9bit\" }";
    let trips = "secoc = { authenticator = \"21bit\", freshness = { trip_reset = { sent = \"11bit\" } } }";
    for (text, code, message) in [
        (
            sealed("secoc = { profile = 1, authenticator = \"24bit\" }"),
            Code::ChooseOne,
            "profile 1 of SecOC has its own lengths",
        ),
        (sealed("secoc = { authenticator = \"24bit\" }"), Code::ChooseOne, "SecOC needs a profile, or lengths"),
        (sealed("secoc = {}"), Code::ChooseOne, "SecOC needs a profile, or lengths"),
        (
            sealed("secoc = { authenticator = \"24bit\", freshness = \"full\" }"),
            Code::BadFreshness,
            "SecOC counts messages",
        ),
        (sealed("secoc = { authenticator = \"0bit\", freshness = \"none\" }"), Code::TagLength, "a tag of 0B is none"),
        (
            sealed("secoc = { authenticator = \"129bit\", freshness = \"none\" }"),
            Code::TagLength,
            "longer than the 16B",
        ),
        (
            sealed(
                "secoc = { authenticator = \"24bit\", freshness = { rising = { counter = \"65bit\", sent = \"1bit\" } } }",
            ),
            Code::FreshnessLength,
            "a counter of 65bit cannot be kept",
        ),
        (
            sealed(
                "secoc = { authenticator = \"24bit\", freshness = { rising = { counter = \"12bit\", sent = \"13bit\" } } }",
            ),
            Code::FreshnessLength,
            "13bit of this freshness value cannot be sent",
        ),
        (
            counted("secoc = { profile = 3 }", counters),
            Code::BadFreshness,
            "profile 3 of SecOC has a freshness value of 64 bits",
        ),
        (
            counted(trips, "counters = { trip = \"25bit\", reset = \"16bit\", message = \"9bit\" }"),
            Code::BadFreshness,
            "a trip counter of 25bit",
        ),
        (
            counted(trips, "counters = { trip = \"20bit\", reset = \"20bit\", message = \"23bit\" }"),
            Code::BadFreshness,
            "counters of 63 bits",
        ),
        (counted(trips, "authenticator = \"29bit\""), Code::BadFreshness, "the synchronisation message has 9B"),
        (
            counted(trips, &format!("{counters}\nauthenticator = \"65bit\"")),
            Code::BadFreshness,
            "the synchronisation message has 11B",
        ),
    ] {
        let problems = problems(&quick(&text));
        let is_it = |problem: &&chronoseal_scenario::Problem| problem.code == code && problem.message.contains(message);
        assert!(problems.list().iter().any(|problem| is_it(&problem)), "{message}: {}", problems.render());
    }
}

#[test]
fn presets_are_profiles_that_can_be_written_out() {
    let counter = secoc::profile_1(FreshnessFormat::Counter { bits: 64 }).expect("a profile");
    for (preset, written, profile) in [
        ("secoc = { profile = 1 }", "24bit\", freshness = { rising = { sent = \"1B\" } }, replay_window = 1", counter),
        ("secoc = { profile = 2 }", "24bit\", freshness = \"none\", replay_window = 1", secoc::profile_2()),
    ] {
        let mac = format!("mac = {{ algorithm = \"cmac-aes-128\", tag = \"{written} }}");
        assert_eq!(secured(&plan(&sealed(preset)), "sealed").0, profile);
        assert_eq!(secured(&plan(&sealed(&mac)), "sealed").0, profile);
    }
    let master = "[freshness]\nmaster = \"brake-rear\"\n\n[[recordings]]";
    let counted = |protection: &str| secured(&plan(&sealed(protection).replace("[[recordings]]", master)), "sealed").0;
    assert_eq!(counted("secoc = { profile = 3 }"), secoc::profile_3());
    let written = "mac = { algorithm = \"cmac-aes-128\", tag = \"28bit\", replay_window = 1, \
                   freshness = { trip_reset = { sent = \"4bit\" } } }";
    assert_eq!(counted(written), secoc::profile_3());
    // The preset with an HMAC has keys and identities of its own, and the same profile.
    let hmac = secured(&plan(VEHICLE), "tagged");
    let written = "mac = { algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\" }";
    let mac = secured(
        &plan(&VEHICLE.replace("hmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }", written)),
        "tagged",
    );
    assert_eq!((hmac.0, hmac.2, mac.2), (mac.0, Identity::Number, Identity::Name));
    assert_ne!(hmac.1, mac.1);
}

#[test]
fn a_key_is_drawn_written_or_agreed_on() {
    let with_key = |algorithm: &str, key: &str| {
        sealed(&format!("mac = {{ algorithm = \"{algorithm}\", tag = \"4B\", freshness = \"none\", key = \"{key}\" }}"))
    };
    let key_of = |text: &str| match secured(&plan(text), "sealed").1 {
        KeySource::Shared(key) => key.expose().to_vec(),
        other => panic!("{other:?}"),
    };
    let (cmac, hmac) = ("cmac-aes-128", "hmac-sha-512");
    assert_eq!(key_of(&with_key(cmac, &"5A".repeat(16))), [0x5a; 16]);
    assert_eq!(key_of(&with_key(hmac, "0aff")), [0x0a, 0xff]);
    let drawn = key_of(&with_key(cmac, "pre-shared"));
    assert_eq!(drawn.len(), 16);
    assert_eq!(key_of(&with_key(hmac, "pre-shared")).len(), 64);
    assert_ne!(key_of(&with_key(cmac, "pre-shared").replace("duration", "seed = 2\nduration")), drawn);
    let group = "[keys.vehicle.group]\norchestrator = \"zone-rear\"\nmembers = [\"brake-rear\", \"other\"]\n\
                 scheme = \"symmetric\"\n\n[[nodes]]\nname = \"other\"\non = [\"body\"]\n\n[[recordings]]";
    assert_eq!(
        secured(&plan(&with_key(cmac, "vehicle").replace("[[recordings]]", group)), "sealed").1,
        KeySource::Group
    );
    // What cannot be read may be a key, and is not shown.
    for secret in ["5a".repeat(15), "5a".repeat(17), format!("{}5", "5a".repeat(15)), format!("5x{}", "5a".repeat(15))]
    {
        let text = with_key(cmac, &secret);
        let (code, labels, message, help) = only_problem(&text);
        assert_eq!((code, labels), (Code::BadKey, vec![format!("\"{secret}\"")]));
        assert_eq!(message, "the key cannot be read: cmac-aes-128 takes 32 hexadecimal digits, two for each byte");
        assert!(help.contains("the name of a key") && !message.contains("5a"), "{help}");
    }
    assert_eq!(only_problem(&with_key(hmac, "")).0, Code::BadKey);
    assert_eq!(only_problem(&with_key(hmac, &"00".repeat(65))).0, Code::BadKey);
    let (code, _, _, help) = only_problem(&with_key(cmac, "pre-shard"));
    assert_eq!((code, help.as_str()), (Code::UnknownName, "did you mean `pre-shared`?"));
}

#[test]
fn what_makes_no_profile_is_refused_where_it_is_written() {
    let mac = |algorithm: &str, tag: &str, freshness: &str| {
        sealed(&format!("mac = {{ algorithm = \"{algorithm}\", tag = \"{tag}\", freshness = {freshness} }}"))
    };
    for (text, code, place, message, help) in [
        (
            mac("hmac-sha-256", "31bit", "\"full\""),
            Code::TagLength,
            "\"31bit\"",
            "a tag of 31bit is guessed too soon",
            "write 4B to 32B",
        ),
        (
            mac("hmac-sha-1", "21B", "\"full\""),
            Code::TagLength,
            "\"21B\"",
            "a tag of 21B is longer than the 20B of hmac-sha-1",
            "write 4B to 20B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ truncated = \"8B\" }"),
            Code::FreshnessLength,
            "\"8B\"",
            "a freshness value of 8B cannot be truncated to 8B",
            "\"7B\"",
        ),
        (
            mac("cmac-aes-128", "4B", "{ rising = { counter = \"9B\", sent = \"1B\" } }"),
            Code::FreshnessLength,
            "\"9B\"",
            "a counter of 9B cannot be kept",
            "write 1bit to 8B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ rising = { counter = \"1B\", sent = \"9bit\" } }"),
            Code::FreshnessLength,
            "\"9bit\"",
            "9bit of this freshness value cannot be sent",
            "write 0bit to 1B",
        ),
        (
            mac("cmac-aes-128", "4B", "{ trip_reset = { sent = \"1bit\" } }"),
            Code::FreshnessLength,
            "\"1bit\"",
            "1bit of this freshness value cannot be sent",
            "write 2bit to 28bit",
        ),
        (
            mac("gmac-aes-128", "8B", "\"full\""),
            Code::TagLength,
            "\"8B\"",
            "a tag of 8B of gmac-aes-128 is for applications that limit messages and forgeries (NIST SP 800-38D, appendix C)",
            "write 12B to 16B",
        ),
        (
            mac("gmac-aes-256", "100bit", "\"full\""),
            Code::TagLength,
            "\"100bit\"",
            "gmac-aes-256 has no tag of 100bit",
            "write 12B to 16B",
        ),
        (
            mac("gmac-aes-128", "12B", "\"none\""),
            Code::FreshnessLength,
            "\"none\"",
            "gmac-aes-128 needs a nonce for each message and takes the freshness value for it",
            "choose another freshness",
        ),
        (
            mac("gmac-aes-128", "12B", "\"cycle-counter\""),
            Code::FreshnessLength,
            "\"cycle-counter\"",
            "gmac-aes-128 needs a nonce that never comes twice under a key",
            "choose another freshness",
        ),
        (
            mac("gmac-aes-128", "12B", &format!("\"full\", key = \"{}\"", "5a".repeat(16))),
            Code::BadKey,
            &format!("\"{}\"", "5a".repeat(16)),
            "a key of gmac-aes-128 cannot be written: senders count from the beginning in each run",
            "leave `key` out",
        ),
        (
            mac("md5", "4B", "\"full\""),
            Code::UnknownValue,
            "\"md5\"",
            "`algorithm` cannot be `md5`",
            "`\"cmac-aes-128\"`",
        ),
        (
            mac("cmac-aes-128", "32", "\"full\""),
            Code::MissingUnit,
            "\"32\"",
            "`tag` is no length in bits: ",
            "`\"32bit\"`",
        ),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels[0].as_str()), (code, place));
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
}

#[test]
fn stations_refuse_what_they_cannot_do_where_the_stream_names_it() {
    let mac = |rest: &str| format!("mac = {{ algorithm = \"cmac-aes-128\", tag = \"4B\", {rest} }}");
    let group = |text: String| {
        let keys = "[keys.vehicle.group]\norchestrator = \"zone-rear\"\nmembers = [\"brake-rear\", \"other\"]\n\
                    scheme = \"symmetric\"\n\n[[nodes]]\nname = \"other\"\non = [\"body\"]\n\n[[recordings]]";
        text.replace("[[recordings]]", keys)
    };
    for (text, code, message, help) in [
        (
            sealed(&mac("freshness = \"cycle-counter\"")),
            Code::FreshnessWithoutSlot,
            "`sealed` cannot be used on `body`: a CAN bus has no slots",
            "rising",
        ),
        (
            sealed_on_ethernet(&mac("freshness = \"cycle-counter\"")),
            Code::FreshnessWithoutSlot,
            "`sealed` takes freshness from the cycle counter, but best-effort frames",
            "`freshness = \"full\"`",
        ),
        (
            group(sealed_on_ethernet(&mac("freshness = \"full\", key = \"vehicle\""))),
            Code::WrongNetwork,
            "`sealed` cannot be used on `backbone`: a station on Ethernet has no group key",
            "`key = \"pre-shared\"`",
        ),
    ] {
        let (found, labels, told, advice) = only_problem(&text);
        assert_eq!((found, labels), (code, vec!["\"sealed\"".to_owned()]));
        assert!(told.starts_with(message) && advice.contains(help), "{told}: {advice}");
    }
    // Nobody counts trips and resets for a station on Ethernet, and it says so itself.
    let counted = problems(&sealed_on_ethernet("secoc = { profile = 3 }"));
    let told: Vec<&str> = counted.list().iter().map(|problem| problem.message.as_str()).collect();
    assert!(told.iter().any(|told| told.starts_with("`sealed` cannot be used on `backbone`: ")), "{told:?}");
    assert!(counted.list().iter().all(|problem| problem.code == Code::BadFreshness), "{told:?}");
}
