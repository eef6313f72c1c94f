//! The scenarios of the study: one text with the parts that vary.

use chronoseal_catalog::Prepared;
use chronoseal_core::NodeId;
use chronoseal_groupkey::{Profile, Scheme, Transport};
use chronoseal_plan::Plan;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, load};

use crate::StudyError;

/// A group on a bus, as the source reckons with it.
#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    /// Members; the orchestrator is one node more.
    pub(super) n: u32,
    pub(super) scheme: Scheme,
    pub(super) profile: Profile,
    pub(super) transport: Transport,
    pub(super) suite: &'a str,
    /// A built-in platform for each member in turn; the first one is the orchestrator's too.
    pub(super) platforms: &'a [&'a str],
    /// A built-in recording that is replayed meanwhile.
    pub(super) background: Option<&'a str>,
    /// Buses with a gateway between them, the members on them in turn.
    pub(super) buses: usize,
    /// Nominal bit rate.
    pub(super) bit_rate: &'a str,
    /// When the exchange begins.
    pub(super) start: &'a str,
    /// When the first member is thrown out, if it is.
    pub(super) removal: Option<&'a str>,
    /// How long the run lasts.
    pub(super) duration: &'a str,
    /// Of all chance in it: keys, nonces, phases.
    pub(super) seed: u64,
}

impl Group<'_> {
    /// The fastest setting of the source: TC297, FourQ, CAN-FD at 1 and 2 Mbit/s, as published.
    pub(super) const SOURCE: Group<'static> = Group {
        n: 32,
        scheme: Scheme::FullTree,
        profile: Profile::AsPublished,
        transport: Transport::Fd,
        suite: "fourq",
        platforms: &["tc297"],
        background: None,
        buses: 1,
        bit_rate: "1Mbit/s",
        start: "0s",
        removal: None,
        duration: "20s",
        seed: 1,
    };

    /// Its scenario, as a user would write it.
    pub(super) fn text(&self) -> String {
        let mut text =
            format!("schema_version = 2\nname = \"group\"\nseed = {}\nduration = \"{}\"\n", self.seed, self.duration);
        let bus = |index: usize| if self.buses > 1 { format!("bus-{}", index % self.buses + 1) } else { "bus".into() };
        for index in 0..self.buses {
            text += &format!("\n[segments.{}.can]\nbit_rate = \"{}\"\n", bus(index), self.bit_rate);
            if self.transport == Transport::Fd {
                text += "data_bit_rate = \"2Mbit/s\"\n";
            }
        }
        text += &format!(
            "\n[keys.bus.group]\norchestrator = \"soecu\"\nsuite = \"{}\"\nscheme = \"{}\"\nprofile = \"{}\"\nstart = \"{}\"\n",
            self.suite,
            self.scheme.name(),
            self.profile.name(),
            self.start
        );
        if self.profile == Profile::AsPublished {
            // Where the source ends.
            text += "installation = \"unconfirmed\"\n";
        }
        if self.buses > 1 {
            let members: Vec<String> = (1..=self.n).map(|member| format!("\"ecu{member}\"")).collect();
            text += &format!("members = [{}]\n", members.join(", "));
        }
        if let Some(at) = self.removal {
            text += &format!("changes = [{{ at = \"{at}\", remove = \"ecu1\" }}]\n");
        }
        let mut platforms: Vec<&str> = self.platforms.to_vec();
        platforms.sort_unstable();
        platforms.dedup();
        for platform in platforms {
            text += &format!("\n[[platforms]]\nname = \"{platform}\"\nbuiltin = \"{platform}\"\n");
            if self.profile == Profile::Hardened {
                // The source measured no CMAC, by which this profile confirms keys: free here, and said to be.
                text += "costs = [{ operation = \"cmac-aes-128\", base = \"0s\" }]\n";
            }
        }
        let node = |name: String, platform: &str| {
            format!("\n[[nodes]]\nname = \"{name}\"\nplatform = \"{platform}\"\nclock = \"ideal\"\n")
        };
        let on = |index: usize| if self.buses > 1 { format!("on = [\"{}\"]\n", bus(index)) } else { String::new() };
        text += &(node("soecu".into(), self.platforms[0]) + &on(0));
        for member in 0..self.n as usize {
            text += &node(format!("ecu{}", member + 1), self.platforms[member % self.platforms.len()]);
            text += &on(member);
        }
        if self.buses > 1 {
            let names: Vec<String> = (0..self.buses).map(|index| format!("\"{}\"", bus(index))).collect();
            // It holds all messages that an orchestrator sends at once.
            text += &format!(
                "\n[[nodes]]\nname = \"gateway\"\non = [{}]\nclock = \"ideal\"\n\
                 gateway = {{ delay = \"50us\", queue = \"2048 frames\", bridges = [{{ key = \"bus\" }}] }}\n",
                names.join(", ")
            );
        }
        if let Some(background) = self.background {
            text += "\n[[nodes]]\nname = \"rest-of-the-bus\"\nclock = \"ideal\"\n";
            text += &format!(
                "\n[[recordings]]\nname = \"{background}\"\nfrom = \"rest-of-the-bus\"\ntraffic = {{ builtin = \"{background}\" }}\n"
            );
        }
        text
    }

    pub(super) fn plan(&self) -> Result<Plan, StudyError> {
        load("can-group-key", self.text().as_bytes(), &[], &NoFiles)
            .map_err(|problems| StudyError::Scenario(problems.render()))
    }

    /// Executes it in virtual time.
    pub(super) fn simulate(&self) -> Result<Run, StudyError> {
        let plan = self.plan()?;
        Ok(simulate(&Prepared::new(&plan)?, false, &mut |_| true)?)
    }
}

/// The node of the `index`-th member.
pub(super) const fn member(index: u16) -> NodeId {
    NodeId(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_part_of_the_scenario() {
        let seed = |group: &Group<'_>| group.plan().unwrap_or_else(|error| panic!("{error}")).seed;
        assert_eq!(seed(&Group { n: 2, ..Group::SOURCE }), 1);
        assert_eq!(seed(&Group { n: 2, seed: 7, ..Group::SOURCE }), 7);
    }

    #[test]
    fn every_kind_of_group_loads() {
        for scheme in Scheme::ALL {
            for profile in Profile::ALL {
                for transport in Transport::ALL {
                    for background in [None, Some("car-busmaster")] {
                        let group = Group { scheme, profile, transport, background, n: 5, ..Group::SOURCE };
                        let plan = group.plan().unwrap_or_else(|error| panic!("{error}"));
                        assert_eq!(plan.group_key.map(|group| group.members.len()), Some(5));
                    }
                }
            }
        }
    }
}
