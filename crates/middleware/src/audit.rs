//! What the documents of DDS Security in a folder, or in a keystore of SROS 2, allow: read, not run.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use quick_xml::Reader;
use quick_xml::events::Event;

/// Names of files of one participant: as SROS 2 has them, and as the adapters here do.
const IDENTITY_CA: [&str; 2] = ["identity_ca.cert.pem", "identity_ca.pem"];
const PERMISSIONS_CA: [&str; 2] = ["permissions_ca.cert.pem", "permissions_ca.pem"];
const KEYS: [&str; 2] = ["key.pem", "identity.key.pem"];
const GOVERNANCE: &str = "governance.p7s";
const PERMISSIONS: &str = "permissions.p7s";

/// What a governance document has to decide (DDS Security 9.4.1.2); of what it leaves out nobody knows what it allows.
const GOVERNED: [&str; 8] = [
    "allow_unauthenticated_participants",
    "enable_join_access_control",
    "discovery_protection_kind",
    "rtps_protection_kind",
    "enable_read_access_control",
    "enable_write_access_control",
    "metadata_protection_kind",
    "data_protection_kind",
];

/// What a kind of protection can be (DDS Security 9.4.1.2.3 and following); of payloads one of the first three.
const KINDS: [&str; 5] =
    ["NONE", "SIGN", "ENCRYPT", "SIGN_WITH_ORIGIN_AUTHENTICATION", "ENCRYPT_WITH_ORIGIN_AUTHENTICATION"];

/// Folders are looked into so deep.
const DEPTH_MAX: usize = 8;
/// A longer file is no document of DDS Security `[byte]`.
const FILE_LEN_MAX: u64 = 1 << 20;

/// Something that an attacker can use.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// Whose documents: a folder below the one that was given.
    pub place: String,
    /// What is so, and what it allows.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

/// What was looked at, and what was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Audit {
    /// Folders of participants, below the one that was given.
    pub participants: Vec<String>,
    /// By place.
    pub findings: Vec<Finding>,
    /// What could not be looked at, with the reason.
    pub unread: Vec<String>,
}

/// Looks at every participant below `folder`. Whether signatures are right and certificates still hold is not checked.
///
/// # Errors
/// As [`std::fs::read_dir`].
pub fn audit(folder: &Path) -> std::io::Result<Audit> {
    let mut found = Vec::new();
    participants(folder, 0, &mut found)?;
    found.sort();
    let mut audit = Audit::default();
    for place in found {
        let name = place.strip_prefix(folder).unwrap_or(&place).display().to_string();
        let name = if name.is_empty() { ".".to_owned() } else { name };
        look_at(&place, &name, &mut audit);
        audit.participants.push(name);
    }
    audit.findings.sort();
    audit.findings.dedup();
    Ok(audit)
}

/// Every folder with a governance document.
fn participants(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.join(GOVERNANCE).exists() {
        found.push(folder.to_owned());
    }
    if depth < DEPTH_MAX {
        for entry in folder.read_dir()? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                participants(&entry.path(), depth + 1, found)?;
            }
        }
    }
    Ok(())
}

fn look_at(folder: &Path, name: &str, audit: &mut Audit) {
    let mut report = |what: &str, mend: &str| {
        audit.findings.push(Finding { place: name.into(), what: what.into(), mend: mend.into() });
    };
    match (first_of(folder, IDENTITY_CA), first_of(folder, PERMISSIONS_CA)) {
        (Some(identity), Some(permissions)) => {
            let keys = [identity, permissions]
                .map(|pem| certificate(&pem).and_then(|der| public_key(&der).map(<[u8]>::to_vec)));
            match keys {
                [Some(identity), Some(permissions)] if identity == permissions => report(
                    "one authority signs identities and permissions: whoever has an identity can sign permissions of its own and is \
                     obeyed, so there is no access control (CVE-2023-24010, CVE-2023-24011)",
                    "make a second authority, sign governance and permissions with it, and give participants its certificate as permissions CA",
                ),
                [Some(_), Some(_)] => {}
                _ => audit
                    .unread
                    .push(format!("{name}: a certificate of an authority is no PEM with an X.509 certificate")),
            }
        }
        _ => audit.unread.push(format!("{name}: there are no certificates of the two authorities beside {GOVERNANCE}")),
    }
    for key in KEYS {
        let is_open = |known: std::fs::Metadata| known.permissions().mode() & 0o077 != 0;
        if std::fs::metadata(folder.join(key)).is_ok_and(is_open) {
            report("others may read its private key", "chmod 600 on the key, 700 on its folder");
        }
    }
    match document(&folder.join(GOVERNANCE)) {
        Ok(elements) => {
            governance(&elements, &mut report);
            let missing = GOVERNED.iter().filter(|element| !elements.contains_key(**element));
            audit.unread.extend(missing.map(|element| format!("{name}: {GOVERNANCE} has no <{element}>")));
            audit.unread.extend(meaningless(&elements).map(|why| format!("{name}: {GOVERNANCE}: {why}")));
        }
        Err(why) => audit.unread.push(format!("{name}: {GOVERNANCE}: {why}")),
    }
    let mut report = |what: &str, mend: &str| {
        audit.findings.push(Finding { place: name.into(), what: what.into(), mend: mend.into() });
    };
    match document(&folder.join(PERMISSIONS)) {
        Ok(elements) => permissions(&elements, &mut report),
        Err(why) => audit.unread.push(format!("{name}: {PERMISSIONS}: {why}")),
    }
}

/// Values of which nobody knows what a middleware makes of them.
fn meaningless(elements: &Elements) -> impl Iterator<Item = String> {
    let of_element = |element: &'static str| {
        let known: &[&str] = match element {
            "data_protection_kind" => &KINDS[..3],
            _ if element.ends_with("_kind") => &KINDS,
            _ => &["true", "false"],
        };
        let values = elements.get(element).into_iter().flatten();
        values
            .filter(|value| !known.contains(&value.as_str()))
            .map(move |value| format!("<{element}> is `{value}`, and can be {}", known.join(", ")))
    };
    GOVERNED.into_iter().flat_map(of_element)
}

fn governance(elements: &Elements, report: &mut impl FnMut(&str, &str)) {
    let has = |name: &str, value: &str| elements.get(name).is_some_and(|values| values.iter().any(|one| one == value));
    let all = |name: &str, value: &str| elements.get(name).is_some_and(|values| values.iter().all(|one| one == value));
    if has("allow_unauthenticated_participants", "true") {
        report(
            "participants without an identity are let in",
            "<allow_unauthenticated_participants>false</allow_unauthenticated_participants>",
        );
    }
    if has("enable_join_access_control", "false") {
        report(
            "whoever has an identity may join the domain",
            "<enable_join_access_control>true</enable_join_access_control>",
        );
    }
    let (whole, data) = ("rtps_protection_kind", "data_protection_kind");
    if all(whole, "NONE") && all(data, "NONE") && all("metadata_protection_kind", "NONE") {
        report(
            "messages are not protected: only participants prove who they are, and a datagram in the name of one is accepted",
            "<rtps_protection_kind>ENCRYPT</rtps_protection_kind> and <data_protection_kind>ENCRYPT</data_protection_kind>",
        );
    } else if all(whole, "NONE") && all("metadata_protection_kind", "NONE") {
        report(
            "only payloads are protected: an old one under a new number is accepted, and heartbeats can be forged",
            "<rtps_protection_kind>SIGN</rtps_protection_kind> or ENCRYPT beside it",
        );
    } else if has(data, "NONE") && !has(whole, "SIGN") {
        report(
            "payloads in protected messages have no protection of their own: Fast DDS 2.9.1 accepts plain datagrams in the name of a known \
             participant all the same",
            "<data_protection_kind>ENCRYPT</data_protection_kind>, or a version that refuses them: chronoseal middleware attack shows it",
        );
    }
    let kinds = [whole, "metadata_protection_kind", data];
    let is_none = kinds.iter().all(|kind| all(kind, "NONE"));
    let encrypts =
        |kind: &&str| elements.get(*kind).is_some_and(|values| values.iter().all(|one| one.starts_with(KINDS[2])));
    if !is_none && !kinds.iter().any(encrypts) {
        report(
            "not all messages are encrypted: whoever is on the network can read some",
            "<rtps_protection_kind>ENCRYPT</rtps_protection_kind>, if nobody else may read them",
        );
    }
    if has("discovery_protection_kind", "NONE") {
        report(
            "who publishes what can be read and forged",
            "<discovery_protection_kind>ENCRYPT</discovery_protection_kind>",
        );
    }
    for (name, what) in [
        ("enable_read_access_control", "whoever is in the domain may subscribe to some topics"),
        ("enable_write_access_control", "whoever is in the domain may publish on some topics"),
    ] {
        if has(name, "false") {
            report(what, &format!("<{name}>true</{name}>"));
        }
    }
}

fn permissions(elements: &Elements, report: &mut impl FnMut(&str, &str)) {
    let has = |name: &str, value: &str| elements.get(name).is_some_and(|values| values.iter().any(|one| one == value));
    if has("default", "ALLOW") {
        report("what its permissions do not name is allowed", "<default>DENY</default>");
    }
    if has("topic", "*") {
        report("it may use every topic", "name the topics that it needs");
    }
}

/// Texts of elements, by name, in their order.
type Elements = BTreeMap<String, Vec<String>>;

/// The XML in a signed document, which is in clear in it (S/MIME).
fn document(file: &Path) -> Result<Elements, String> {
    let len = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if len > FILE_LEN_MAX {
        return Err(format!("it has {len} bytes, and at most {FILE_LEN_MAX} are read"));
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let begin = text.find("<dds").ok_or("its text is not in clear: there is no <dds in it")?;
    let end = text[begin..].find("</dds>").ok_or("it has no end: </dds>")? + begin + "</dds>".len();
    let mut reader = Reader::from_str(&text[begin..end]);
    let (mut elements, mut open) = (Elements::new(), Vec::new());
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => open.push(start.local_name().as_ref().to_owned()),
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                // A boolean of XML Schema may be a digit, and implementations take any case.
                let text = match text.trim() {
                    "0" => "false".into(),
                    "1" => "true".into(),
                    text if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
                        text.to_ascii_lowercase()
                    }
                    text => text.to_owned(),
                };
                if let Some(name) = open.last().filter(|_| !text.is_empty()) {
                    elements.entry(name.clone()).or_default().push(text);
                }
            }
            Event::Eof => return Ok(elements),
            _ => {}
        }
    }
}

fn first_of(folder: &Path, names: [&str; 2]) -> Option<String> {
    names.iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok())
}

/// The first certificate of a PEM (RFC 7468), as DER.
fn certificate(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once("-----BEGIN CERTIFICATE-----")?;
    let (body, _) = rest.split_once("-----END CERTIFICATE-----")?;
    let body: String = body.chars().filter(|symbol| !symbol.is_ascii_whitespace()).collect();
    Base64::decode_vec(&body).ok()
}

/// The subject's public key of a certificate: its SubjectPublicKeyInfo (RFC 5280 §4.1).
fn public_key(der: &[u8]) -> Option<&[u8]> {
    let (whole, _) = element(der)?;
    let (mut fields, _) = element(whole.content)?;
    // Version, if it is there; then serial number, signature, issuer, validity, subject.
    let (first, _) = element(fields.content)?;
    let skipped = if first.tag == 0xa0 { 6 } else { 5 };
    for _ in 0..skipped {
        let (_, rest) = element(fields.content)?;
        fields.content = rest;
    }
    let (key, rest) = element(fields.content)?;
    (key.tag == 0x30).then(|| &fields.content[..fields.content.len() - rest.len()])
}

struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

/// The first element of DER, and what is behind it.
fn element(der: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut len = usize::from(first);
    if first >= 0x80 {
        let octets = usize::from(first & 0x7f);
        if octets == 0 || octets > 4 || rest.len() < octets {
            return None;
        }
        len = rest[..octets].iter().fold(0, |len, octet| len << 8 | usize::from(*octet));
        rest = &rest[octets..];
    }
    if rest.len() < len {
        return None;
    }
    let (content, rest) = rest.split_at(len);
    Some((Element { tag, content }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Self-signed certificates of nobody: the first and the third are of one key.
    const ONE: &str = "-----BEGIN CERTIFICATE-----\n\
        MIIBcTCCARegAwIBAgIUbFKA2+pItvvbS6HUHnH6nTSXWvswCgYIKoZIzj0EAwIw\n\
        DjEMMAoGA1UEAwwDb25lMB4XDTI2MTEyODEyMTU0NVoXDTM2MTEyNTEyMTU0NVow\n\
        DjEMMAoGA1UEAwwDb25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAemS2Z8V\n\
        gcdS4YcHrVSr7vX8Qbige5jYnt+Zmgp/wKnKHUuoTuPXDXGAR2lrMNBts1+Lu4bd\n\
        6z973jgVOAFdpKNTMFEwHQYDVR0OBBYEFAN7nI0tsCbPE+n3AFnlhKozAPSkMB8G\n\
        A1UdIwQYMBaAFAN7nI0tsCbPE+n3AFnlhKozAPSkMA8GA1UdEwEB/wQFMAMBAf8w\n\
        CgYIKoZIzj0EAwIDSAAwRQIhAJk1HFrTfZW7Mb3FxfY55nZvFXRaRlkAMb927qEK\n\
        i5dBAiAUqHFjevhYodwsAwVEpFL2J7wfYIonR1jqP61giK1fAQ==\n\
        -----END CERTIFICATE-----";
    const TWO: &str = "-----BEGIN CERTIFICATE-----\n\
        MIIBcjCCARegAwIBAgIUC8WgnJmD8Ehk2xHlz1jsACXZq8YwCgYIKoZIzj0EAwIw\n\
        DjEMMAoGA1UEAwwDdHdvMB4XDTI2MTEyODEyMTU0NVoXDTM2MTEyNTEyMTU0NVow\n\
        DjEMMAoGA1UEAwwDdHdvMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEElEv8g0F\n\
        MJDfCXtd3L8fM/xmesVfbAd8fCErFtHibLGssReK8yqwGPJaQI4pddHpCqomRAm9\n\
        BTTEPr1wusbELaNTMFEwHQYDVR0OBBYEFLNroapEesYrEu9uXojcBWMPH0XhMB8G\n\
        A1UdIwQYMBaAFLNroapEesYrEu9uXojcBWMPH0XhMA8GA1UdEwEB/wQFMAMBAf8w\n\
        CgYIKoZIzj0EAwIDSQAwRgIhAIgiy1dcZXLpoDhjFrKzJe1jpafgOSpIEiK4icWw\n\
        cMs4AiEA1RpmOOcCzuZExC7tciFAgYBwaDIPfsoWb+P+BnnbqkY=\n\
        -----END CERTIFICATE-----";
    const AGAIN: &str = "-----BEGIN CERTIFICATE-----\n\
        MIIBdTCCARugAwIBAgIUIBtAHJPlvSa+Blivfl9uWRa2HcowCgYIKoZIzj0EAwIw\n\
        EDEOMAwGA1UEAwwFYWdhaW4wHhcNMjYxMTI4MTIxNTQ1WhcNMjYxMjI4MTIxNTQ1\n\
        WjAQMQ4wDAYDVQQDDAVhZ2FpbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAHp\n\
        ktmfFYHHUuGHB61Uq+71/EG4oHuY2J7fmZoKf8Cpyh1LqE7j1w1xgEdpazDQbbNf\n\
        i7uG3es/e944FTgBXaSjUzBRMB0GA1UdDgQWBBQDe5yNLbAmzxPp9wBZ5YSqMwD0\n\
        pDAfBgNVHSMEGDAWgBQDe5yNLbAmzxPp9wBZ5YSqMwD0pDAPBgNVHRMBAf8EBTAD\n\
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIGGZGAcfhkefrjrM6MWqW0msAn5RsolX4hV1\n\
        YVCgCQVlAiEAy9pmXA+jDxzmuUkZP8M7CVnJM8r4mmv/JrJvtlqHqjM=\n\
        -----END CERTIFICATE-----";

    const GOVERNANCE_TEXT: &str = "MIME-Version: 1.0\n\n<?xml version=\"1.0\"?>\n<dds><domain_access_rules><domain_rule>\
        <allow_unauthenticated_participants>false</allow_unauthenticated_participants>\
        <enable_join_access_control>true</enable_join_access_control>\
        <discovery_protection_kind>ENCRYPT</discovery_protection_kind><rtps_protection_kind>WHOLE</rtps_protection_kind>\
        <topic_access_rules><topic_rule><enable_read_access_control>true</enable_read_access_control>\
        <enable_write_access_control>true</enable_write_access_control><metadata_protection_kind>NONE</metadata_protection_kind>\
        <data_protection_kind>DATA</data_protection_kind></topic_rule></topic_access_rules></domain_rule></domain_access_rules></dds>\n----";
    const PERMISSIONS_TEXT: &str = "<dds><permissions><grant><allow_rule><publish><topics><topic>laser</topic></topics></publish></allow_rule>\
        <default>DENY</default></grant></permissions></dds>";

    fn keystore(authorities: [&str; 2], [whole, data]: [&str; 2]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let robot = folder.path().join("enclaves/robot");
        std::fs::create_dir_all(&robot).unwrap();
        let governance = GOVERNANCE_TEXT.replace("WHOLE", whole).replace("DATA", data);
        let [identity, permissions] = authorities;
        let files = [
            (IDENTITY_CA[0], identity),
            (PERMISSIONS_CA[0], permissions),
            (GOVERNANCE, &governance),
            (PERMISSIONS, PERMISSIONS_TEXT),
        ];
        for (name, text) in files {
            std::fs::write(robot.join(name), text).unwrap();
        }
        folder
    }

    fn found(authorities: [&str; 2], kinds: [&str; 2]) -> Vec<String> {
        let folder = keystore(authorities, kinds);
        let audit = audit(folder.path()).unwrap();
        assert_eq!((audit.participants, audit.unread), (vec!["enclaves/robot".to_owned()], Vec::new()));
        audit.findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn two_authorities_and_protected_payloads_leave_nothing_to_say() {
        assert_eq!(found([ONE, TWO], ["ENCRYPT", "ENCRYPT"]), Vec::<String>::new());
    }

    #[test]
    fn one_key_under_two_names_is_one_authority() {
        for second in [ONE, AGAIN] {
            let found = found([ONE, second], ["ENCRYPT", "ENCRYPT"]);
            assert!(found.len() == 1 && found[0].contains("CVE-2023-24010"), "{found:?}");
        }
    }

    #[test]
    fn what_a_governance_leaves_open_is_named() {
        assert!(found([ONE, TWO], ["NONE", "NONE"])[0].starts_with("messages are not protected"));
        assert!(found([ONE, TWO], ["NONE", "ENCRYPT"])[0].starts_with("only payloads are protected"));
        assert!(found([ONE, TWO], ["ENCRYPT", "NONE"])[0].contains("Fast DDS 2.9.1"));
    }

    #[test]
    fn what_a_governance_does_not_decide_is_not_checked_and_a_digit_is_a_boolean() {
        let folder = keystore([ONE, TWO], ["ENCRYPT", "ENCRYPT"]);
        let governance = folder.path().join("enclaves/robot").join(GOVERNANCE);
        let text = GOVERNANCE_TEXT.replace("WHOLE", "ENCRYPT").replace("DATA", "ENCRYPT");
        let text = text.replace("participants>false<", "participants>1<").replace("rtps_protection_kind", "rtps");
        std::fs::write(governance, text).unwrap();
        let audit = audit(folder.path()).unwrap();
        assert_eq!(audit.unread, ["enclaves/robot: governance.p7s has no <rtps_protection_kind>"]);
        assert!(audit.findings.iter().any(|finding| finding.what.contains("without an identity")));
    }

    #[test]
    fn a_kind_of_protection_that_is_none_is_not_checked_and_signed_messages_can_be_read() {
        for kind in ["OFF", "none", "ENCRYPTED"] {
            let folder = keystore([ONE, TWO], [kind, "ENCRYPT"]);
            let audit = audit(folder.path()).unwrap();
            let why =
                format!("enclaves/robot: governance.p7s: <rtps_protection_kind> is `{kind}`, and can be NONE, SIGN,");
            assert!(audit.unread.len() == 1 && audit.unread[0].starts_with(&why), "{:?}", audit.unread);
        }
        let signed = found([ONE, TWO], ["SIGN", "SIGN"]);
        assert!(signed.len() == 1 && signed[0].contains("can read some"), "{signed:?}");
    }

    #[test]
    fn what_cannot_be_read_is_said_and_is_no_success() {
        let folder = keystore(["nothing", TWO], ["ENCRYPT", "ENCRYPT"]);
        let robot = folder.path().join("enclaves/robot");
        std::fs::write(robot.join(PERMISSIONS), "MIME-Version: 1.0\n\nMIIB").unwrap();
        std::fs::write(robot.join("key.pem"), "").unwrap();
        std::fs::set_permissions(robot.join("key.pem"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let audit = audit(folder.path()).unwrap();
        assert_eq!(audit.unread.len(), 2, "{:?}", audit.unread);
        assert_eq!(audit.findings[0].what, "others may read its private key");
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = certificate(ONE).unwrap();
        for len in 0..whole.len() {
            let _ = public_key(&whole[..len]);
        }
        for byte in 0..=255 {
            let _ = public_key(&[byte; 9]);
        }
        assert!(public_key(&whole).is_some_and(|key| key.len() > 60));
    }
}
