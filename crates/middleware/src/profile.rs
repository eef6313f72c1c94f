//! What a configuration takes of messages of several lengths, written down for simulations of scenarios whose streams go over it.

use std::fmt::Write as _;

use chronoseal_core::Duration;
use chronoseal_plan::MeasuredLength;

use crate::pair::quoted;
use crate::{Answer, Configuration, Data, Measured};

/// A configuration has to have so many messages through for a hundred percentiles of their times to mean anything.
const MESSAGES_MIN: usize = 100;

/// What was measured of one configuration.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    /// Which.
    pub configuration: &'a Configuration,
    /// Its middleware with its version, and the host.
    pub source: String,
    /// By length of a message `[byte]`, rising.
    pub lengths: Vec<(u32, Answer)>,
}

impl Data {
    /// Messages of a length, as that sensor of the published work has them whose are nearest; its name and period are theirs.
    pub fn of_length(length: u32) -> Self {
        let [laser, image, cloud] = Self::published();
        let is_nearer =
            |one: &Self, next: &Self| u64::from(length).pow(2) < u64::from(one.length) * u64::from(next.length);
        let nearest = if is_nearer(&laser, &image) {
            laser
        } else if is_nearer(&image, &cloud) {
            image
        } else {
            cloud
        };
        Self { length, ..nearest }
    }
}

impl Profile<'_> {
    /// Why a length says nothing a simulation could use, if so.
    pub fn unfit(answer: &Answer) -> Option<String> {
        match answer {
            Answer::Not(why) => Some(why.clone()),
            Answer::Measured(measured) => match measured.trouble.clone() {
                Some(trouble) => Some(trouble),
                None if measured.latencies_ns.len() < MESSAGES_MIN => Some(format!(
                    "{} messages came, and {MESSAGES_MIN} are needed for percentiles: give it a longer --duration",
                    measured.latencies_ns.len()
                )),
                None if measured.gone() > 0 => {
                    Some(format!("{} of {} messages did not come", measured.gone(), measured.due))
                }
                None => None,
            },
        }
    }

    /// Its entry in a file that scenarios name as `measured`; `None` if no length can be used.
    pub fn entry(&self) -> Option<String> {
        let mut text = format!(
            "\n[[configurations]]\nname = {}\nsource = {}\n",
            quoted(&self.configuration.name),
            quoted(&self.source)
        );
        let mut count = 0;
        for (length, answer) in &self.lengths {
            let Answer::Measured(measured) = answer else { continue };
            let (None, Some(wire)) = (Self::unfit(answer), measured.wire) else { continue };
            let times: Vec<String> = quantiles(measured).map(|time| quoted(&time.to_string())).collect();
            let _ = write!(
                text,
                "\n[[configurations.lengths]]\nlength = \"{length}B\"\nwire = \"{:.0}B\"\nmessages = {}\ntimes = [{}]\n",
                (wire * f64::from(*length)).max(1.0),
                measured.latencies_ns.len(),
                times.join(", ")
            );
            count += 1;
        }
        (count > 0).then_some(text)
    }
}

/// The least time, each percentile and the longest.
fn quantiles(measured: &Measured) -> impl Iterator<Item = Duration> {
    let sorted = &measured.latencies_ns;
    let last = sorted.len() - 1;
    let all = MeasuredLength::QUANTILES - 1;
    (0..=all).map(move |place| Duration::from_ns(sorted[(place * last + all / 2) / all].max(0)))
}

#[cfg(test)]
mod tests {
    use chronoseal_plan::{Link, LinkHop, SegmentId};
    use chronoseal_scenario::{FileError, Files, load};

    use super::*;
    use crate::Wire;

    struct One(String);

    impl Files for One {
        fn read(&self, _: &str) -> Result<Vec<u8>, FileError> {
            Ok(self.0.clone().into_bytes())
        }
    }

    fn configuration() -> Configuration {
        Configuration {
            name: "own".into(),
            title: "Own".into(),
            published: None,
            security: "none".into(),
            plain: None,
            variant: false,
            keys: None,
            wire: Wire::Yes,
            listens: Vec::new(),
            program: Vec::new(),
            broker: None,
        }
    }

    fn measured(messages: i64, first_us: i64) -> Measured {
        let latencies_ns = (0..messages).map(|number| (first_us + number) * 1_000).collect();
        Measured { due: messages as u64, came: messages as u64, wire: Some(1.5), latencies_ns, ..Measured::default() }
    }

    fn profile(configuration: &Configuration, lengths: Vec<(u32, Measured)>) -> Profile<'_> {
        let lengths = lengths.into_iter().map(|(length, one)| (length, Answer::Measured(Box::new(one)))).collect();
        Profile { configuration, source: "Own 1.2 on \"some\" host".into(), lengths }
    }

    #[test]
    fn a_scenario_charges_what_was_written_down() {
        let configuration = configuration();
        let entry = profile(&configuration, vec![(1_000, measured(201, 100)), (3_000, measured(201, 300))]).entry();
        let scenario = "schema_version = 2\nname = \"any\"\nduration = \"1s\"\n[segments.air.link]\nmeasured = \"own.toml\"\n\
            [[nodes]]\nname = \"robot\"\n[[nodes]]\nname = \"station\"\n[[streams]]\nname = \"laser\"\nfrom = \"robot\"\n\
            to = [\"station\"]\nperiod = \"25ms\"\nlength = \"2kB\"\nair = { over = \"own\" }\n";
        let files = One(entry.expect("two lengths"));
        let plan = load("any.toml", scenario.as_bytes(), &[], &files)
            .unwrap_or_else(|problems| panic!("{}", problems.render()));
        let link = Link::of(&plan, SegmentId(0)).expect("a link");
        let (_, _, _, hop): (_, _, _, &LinkHop) = link.streams().next().expect("a stream");
        let charged = hop.over.as_ref().and_then(|over| over.charged.as_ref()).expect("it is charged");
        let us: Vec<i64> = charged.times.iter().map(|time| time.as_ns() / 1_000).collect();
        assert_eq!((us.len(), us[0], us[50], us[100]), (101, 200, 300, 400));
        assert_eq!(charged.wire, 3_000);
        // Two frames of 34 B of headers each, and one of UDP.
        assert_eq!(hop.cut.datagram_len, 3_000 - 2 * 34);
        assert!(plan.notes[0].contains("charged what `own` took"), "{:?}", plan.notes);
    }

    #[test]
    fn what_lost_messages_or_had_too_few_is_left_out_with_the_reason() {
        let configuration = configuration();
        let lossy = Measured { lost: 2, ..measured(200, 100) };
        let all = profile(&configuration, vec![(1_000, lossy), (2_000, measured(99, 5)), (3_000, measured(100, 5))]);
        let why: Vec<_> = all.lengths.iter().map(|(_, answer)| Profile::unfit(answer).unwrap_or_default()).collect();
        assert_eq!(why[0], "2 of 200 messages did not come");
        assert!(why[1].starts_with("99 messages came, and 100 are needed"), "{}", why[1]);
        assert_eq!(why[2], "");
        let entry = all.entry().expect("one is left");
        assert_eq!(entry.matches("length = ").count(), 1);
        assert!(profile(&configuration, vec![(1_000, measured(3, 5))]).entry().is_none());
    }

    #[test]
    fn messages_of_any_length_are_those_of_the_nearest_sensor() {
        let names = [64, 20_000, 100_000, 900_000, 5_000_000].map(|length| Data::of_length(length).name);
        assert_eq!(names, ["laser", "laser", "image", "image", "cloud"]);
        assert_eq!(Data::of_length(64).length, 64);
    }
}
