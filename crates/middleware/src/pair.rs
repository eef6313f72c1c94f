//! A publisher and a subscriber of one configuration on an emulated network, as a scenario like any other.

use std::path::Path;

use chronoseal_core::Duration;
use chronoseal_plan::Shaper;

use crate::attack::{LATE_UNDER_ATTACK, LISTENS};
use crate::{Attack, Configuration};

/// Names of the nodes of a pair: who sends, who receives, and who stands between them where a middleware needs that.
pub(crate) const NODES: [&str; 3] = ["robot", "station", "broker"];
/// The node of an attack.
pub(crate) const STRANGER: &str = "stranger";

/// The network between the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    /// Profile of the lossy link.
    pub profile: &'static str,
    /// As read.
    pub title: &'static str,
    /// What a station may send `[bit/s]`; `None`: as fast as the host is.
    pub rate: Option<u64>,
    /// Where that rate is kept.
    pub shaper: Shaper,
}

/// The networks that the published work emulates.
pub const NETWORKS: [Network; 3] = [
    Network { profile: "localhost", title: "localhost", rate: None, shaper: Shaper::Behind },
    Network { profile: "gigabit-ethernet", title: "Ethernet", rate: Some(1_000_000_000), shaper: Shaper::Behind },
    Network { profile: "wifi", title: "Wi-Fi", rate: Some(54_000_000), shaper: Shaper::Behind },
];

impl Network {
    /// The same with its rate kept there; `None` if it has no rate.
    #[must_use]
    pub fn shaped(self, shaper: Shaper) -> Option<Self> {
        self.rate.map(|_| Self { shaper, ..self })
    }

    /// Where its rate is kept, for a reader; `None` if it has no rate.
    pub fn shaped_where(self) -> Option<String> {
        let rate = chronoseal_core::Rate(self.rate?);
        Some(format!("The rate of {rate} is kept {} (`shaper = \"{}\"`).", self.shaper.text(), self.shaper.name()))
    }
}

/// How messages become packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packets {
    /// As in the published work: one packet for up to 64 kB.
    Large,
    /// As on Ethernet and Wi-Fi: 1500 bytes.
    Real,
}

impl Packets {
    /// The longest packet `[byte]`.
    pub const fn mtu(self) -> u32 {
        match self {
            Self::Large => 65_521,
            Self::Real => 1_500,
        }
    }
}

/// What is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// Name of the stream: `laser`, `image`, `cloud`, or another. Adapters with types choose theirs by it.
    pub name: String,
    /// Length of a message `[byte]`.
    pub length: u32,
    /// From one message to the next.
    pub period: Duration,
    /// A message is too late after this.
    pub deadline: Option<Duration>,
}

impl Data {
    /// The sensors of the published work, at its sizes and rates: 2,398, 1,910 and 1,083 messages in 60 s.
    pub fn published() -> [Self; 3] {
        let sensor = |name: &str, length, messages: i64| Self {
            name: name.into(),
            length,
            period: Duration::from_us(60_000_000 / messages),
            deadline: None,
        };
        [sensor("laser", 9_000, 2_398), sensor("image", 900_000, 1_910), sensor("cloud", 9_000_000, 1_083)]
    }

    /// Recordings of such sensors, at the same rates: scans of a laser after each other, pixels of 3 bytes, and points of 32 bytes for each pixel.
    pub fn recorded() -> [Self; 3] {
        let [laser, image, cloud] = Self::published();
        [
            Self { length: 8_664, ..laser },
            Self { length: 640 * 480 * 3, ..image },
            Self { length: 640 * 480 * 32, ..cloud },
        ]
    }

    /// The same, with what tells a message that an attack holds back from others: see [`LATE_UNDER_ATTACK`].
    #[must_use]
    pub fn under_attack(self) -> Self {
        Self { deadline: Some(LATE_UNDER_ATTACK), ..self }
    }

    /// What it asks of a network, headers left out `[bit/s]`.
    pub fn load(&self) -> f64 {
        f64::from(self.length) * 8.0 / (self.period.as_ms_f64() / 1e3)
    }

    /// How many times more it asks for than `network` carries; `None` if it carries it.
    pub fn overload(&self, network: Network) -> Option<f64> {
        let times = self.load() / network.rate? as f64;
        (times > 1.0).then_some(times)
    }
}

/// Everything a run of a pair is made of.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// What carries the messages.
    pub configuration: &'a Configuration,
    /// Where its adapter was built.
    pub built: &'a Path,
    /// Where its keys are, if it has any.
    pub keys: Option<&'a Path>,
    /// Where recorded messages are, if there are any.
    pub bodies: &'a Path,
    /// Over what.
    pub network: Network,
    /// In which packets.
    pub packets: Packets,
    /// What is sent.
    pub data: &'a Data,
    /// For how long, finding each other included.
    pub duration: Duration,
    /// Of losses and delays.
    pub seed: u64,
    /// What a stranger on the same link does.
    pub attack: Option<&'a Attack>,
}

impl Pair<'_> {
    /// The scenario, as TOML: anybody may run it again.
    pub fn scenario(&self) -> String {
        let Self { configuration, network, packets, data, duration, seed, .. } = self;
        let mut text = format!(
            "schema_version = 2\nname = {}\nduration = \"{duration}\"\nseed = {seed}\n\n[segments.air.link]\nprofile = \"{}\"\nmtu = \"{}B\"\n",
            quoted(&configuration.name),
            network.profile,
            packets.mtu()
        );
        if network.shaper != Shaper::default() {
            text += &format!("shaper = \"{}\"\n", network.shaper.name());
        }
        if self.attack.is_some_and(|attack| attack.through) {
            text += &format!("through = \"{STRANGER}\"\n");
        }
        let programs = [Some(&configuration.program), Some(&configuration.program), configuration.broker.as_ref()];
        let own = NODES.into_iter().zip(programs).filter_map(|(node, words)| {
            let words: Vec<String> = words?.iter().map(|word| self.filled(word, node)).collect();
            Some((node, words))
        });
        let attacker = self.attack.map(|attack| (STRANGER, self.attacking(attack)));
        for (node, words) in own.chain(attacker) {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            text += &format!("\n[[nodes]]\nname = \"{node}\"\nprogram = {{ run = [{}] }}\n", words.join(", "));
        }
        text += &format!(
            "\n[[streams]]\nname = {}\nfrom = \"robot\"\nto = [\"station\"]\nperiod = \"{}\"\nlength = \"{}B\"\n",
            quoted(&data.name),
            data.period,
            data.length
        );
        if let Some(deadline) = data.deadline {
            text += &format!("deadline = \"{deadline}\"\n");
        }
        text + "air = { transport = \"program\" }\n"
    }

    /// The program of an attack.
    fn attacking(&self, attack: &Attack) -> Vec<String> {
        let folder = attack.folder.display().to_string();
        let mut words = Vec::new();
        for word in &attack.program {
            match word.as_str() {
                // The same program as the others', with the keys that the attack has.
                "{program}" => {
                    let program = self.configuration.program.iter();
                    words.extend(program.map(|word| self.filled(&word.replace("{node}", &attack.keys), STRANGER)));
                }
                LISTENS => words.extend(self.configuration.listens.iter().map(|place| self.filled(place, STRANGER))),
                "{own_keys}" => words.extend(self.keys.map(|keys| keys.join(&attack.keys).display().to_string())),
                word => words.push(
                    self.filled(word, STRANGER)
                        .replace("{attacks}", &folder)
                        .replace("{stream}", &self.data.name)
                        .replace("{length}", &self.data.length.to_string()),
                ),
            }
        }
        words
    }

    /// A word of a program of `node`.
    fn filled(&self, word: &str, node: &str) -> String {
        Places { built: self.built, keys: self.keys, bodies: self.bodies }.filled(word, node, &|role| role.to_owned())
    }
}

/// Where what a program needs is on this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    /// Its adapter, built.
    pub(crate) built: &'a Path,
    /// Its keys, if it has any.
    pub(crate) keys: Option<&'a Path>,
    /// Recorded messages, if there are any.
    pub(crate) bodies: &'a Path,
}

impl Places<'_> {
    /// A word of the program of who is `own` in a pair, as a scenario has it. Addresses are left to the scenario, which has them by the names of
    /// its nodes: `node_of` says which node is what in a pair.
    pub(crate) fn filled(self, word: &str, own: &str, node_of: &dyn Fn(&str) -> String) -> String {
        // A scenario writes a brace twice.
        let path = |path: &Path| path.display().to_string().replace('{', "{{").replace('}', "}}");
        let (mut filled, mut rest) = (String::new(), word);
        while let Some((before, behind)) = rest.split_once('{') {
            filled += before;
            let Some((name, behind)) = behind.split_once('}') else {
                filled.push('{');
                rest = behind;
                continue;
            };
            rest = behind;
            filled += &match name {
                "built" => path(self.built),
                "keys" => self.keys.map(path).unwrap_or_default(),
                "bodies" => path(self.bodies),
                "node" => own.to_owned(),
                "self" => format!("{{{}}}", node_of(own)),
                role if NODES.contains(&role) => format!("{{{}}}", node_of(role)),
                other => format!("{{{other}}}"),
            };
        }
        filled + rest
    }
}

/// As a basic string of TOML, which JSON's are.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    fn configuration(broker: Option<Vec<String>>) -> Configuration {
        Configuration {
            name: "own".into(),
            title: "Own".into(),
            published: None,
            security: "none".into(),
            plain: None,
            variant: false,
            keys: None,
            wire: Wire::Yes,
            listens: vec!["udp {station} 6000".into(), "rtps {self}".into()],
            program: ["{built}/adapter", "{self}", "{station}", "{keys}/{node}", "a \"b\""].map(Into::into).to_vec(),
            broker,
        }
    }

    fn scenario(broker: Option<Vec<String>>, data: &Data) -> String {
        let configuration = configuration(broker);
        let pair = Pair {
            configuration: &configuration,
            built: Path::new("/built"),
            keys: Some(Path::new("/keys")),
            bodies: Path::new("/bodies"),
            network: NETWORKS[2],
            packets: Packets::Real,
            data,
            duration: Duration::from_s(3),
            seed: 7,
            attack: None,
        };
        pair.scenario()
    }

    #[test]
    fn a_stranger_has_the_program_of_the_others_and_keys_of_its_own() {
        let configuration = configuration(None);
        let attack = Attack {
            name: "forge".into(),
            title: String::new(),
            threat: String::new(),
            adapters: Vec::new(),
            keys: "insider".into(),
            needs_keys: true,
            tcp: false,
            through: true,
            program: ["{attacks}/forge", "{stream}", "{length}", "{own_keys}", "{listens}", "{program}"]
                .map(Into::into)
                .to_vec(),
            folder: "/attacks".into(),
        };
        let pair = Pair {
            configuration: &configuration,
            built: Path::new("/built"),
            keys: Some(Path::new("/keys")),
            bodies: Path::new("/bodies"),
            network: NETWORKS[0],
            packets: Packets::Real,
            data: &Data::published()[0],
            duration: Duration::from_s(3),
            seed: 7,
            attack: Some(&attack),
        };
        let text = pair.scenario();
        let plan = chronoseal_scenario::load("pair.toml", text.as_bytes(), &[], &chronoseal_scenario::NoFiles).unwrap();
        let stranger = plan.nodes.iter().find(|node| node.name == "stranger").unwrap();
        let words = &stranger.program.as_ref().unwrap().command;
        let expected = [
            "/attacks/forge",
            "laser",
            "9000",
            "/keys/insider",
            "udp 10.0.0.2 6000",
            "rtps 10.0.0.3",
            "/built/adapter",
            "10.0.0.3",
            "10.0.0.2",
            "/keys/insider",
        ];
        assert_eq!(words[..10], expected);
        assert!(text.contains("through = \"stranger\"\n"), "{text}");
    }

    #[test]
    fn the_scenario_of_a_pair_can_be_loaded_and_is_checked_as_any_other() {
        let data = Data { deadline: Some(Duration::from_ms(100)), ..Data::published()[0].clone() };
        let text = scenario(Some(vec!["{built}/broker".into(), "{self}".into()]), &data);
        let plan = chronoseal_scenario::load("pair.toml", text.as_bytes(), &[], &chronoseal_scenario::NoFiles).unwrap();
        let programs: Vec<Vec<String>> =
            plan.nodes.iter().filter_map(|node| Some(node.program.as_ref()?.command.clone())).collect();
        assert_eq!(programs[0], ["/built/adapter", "10.0.0.1", "10.0.0.2", "/keys/robot", "a \"b\""]);
        assert_eq!(programs[1], ["/built/adapter", "10.0.0.2", "10.0.0.2", "/keys/station", "a \"b\""]);
        assert_eq!(programs[2], ["/built/broker", "10.0.0.3"]);
        assert_eq!((plan.streams[0].length, plan.seed), (9_000, 7));
    }

    #[test]
    fn where_the_rate_is_kept_is_in_the_scenario_and_in_words() {
        let [localhost, _, wifi] = NETWORKS;
        assert_eq!((localhost.shaped(Shaper::Sender), localhost.shaped_where()), (None, None));
        let held = wifi.shaped(Shaper::Sender).unwrap();
        let text = |network: Network| {
            let configuration = configuration(None);
            let places = [Path::new("/built"), Path::new("/bodies")];
            Pair {
                configuration: &configuration,
                built: places[0],
                keys: None,
                bodies: places[1],
                network,
                packets: Packets::Real,
                data: &Data::published()[0],
                duration: Duration::from_s(3),
                seed: 7,
                attack: None,
            }
            .scenario()
        };
        let plan = |network| {
            chronoseal_scenario::load("pair.toml", text(network).as_bytes(), &[], &chronoseal_scenario::NoFiles)
                .unwrap()
        };
        let shaper = |network| {
            let plan = plan(network);
            chronoseal_plan::Link::of(&plan, chronoseal_plan::SegmentId(0)).unwrap().segment.laws.shaper
        };
        assert_eq!([shaper(wifi), shaper(held)], [Shaper::Behind, Shaper::Sender]);
        let said = [wifi, held].map(|network| network.shaped_where().unwrap());
        assert!(said[0].contains("is lost (`shaper = \"behind\"`)"), "{}", said[0]);
        assert!(said[1].contains("54Mbit/s") && said[1].contains("is late (`shaper = \"sender\"`)"), "{}", said[1]);
    }

    #[test]
    fn the_largest_messages_in_the_largest_packets_can_be_loaded() {
        let [.., cloud] = Data::published();
        let text = scenario(None, &cloud).replace("1500B", &format!("{}B", Packets::Large.mtu()));
        let plan = chronoseal_scenario::load("pair.toml", text.as_bytes(), &[], &chronoseal_scenario::NoFiles).unwrap();
        assert_eq!(plan.streams[0].length, 9_000_000);
    }

    #[test]
    fn overloads_are_those_of_the_published_work() {
        let [laser, image, cloud] = Data::published();
        let [localhost, ethernet, wifi] = NETWORKS;
        let overloads = [(&laser, wifi), (&image, ethernet), (&cloud, localhost)];
        assert!(overloads.iter().all(|(data, network)| data.overload(*network).is_none()));
        // 229.2 Mbit/s into 54, 1299.6 into 1000 and into 54.
        let times = [(&image, wifi, 4.24), (&cloud, ethernet, 1.30), (&cloud, wifi, 24.07)];
        for (data, network, expected) in times {
            let times = data.overload(network).unwrap();
            assert!((times / expected - 1.0).abs() < 0.01, "{}: {times}", data.name);
        }
    }
}
