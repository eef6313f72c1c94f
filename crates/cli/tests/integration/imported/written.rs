//! What an imported scenario says of its streams, read from its text.

/// A `[[streams]]`.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) name: String,
    /// The class that it stands for: `can0:0x123`, or what its comment says that was seen.
    pub(super) key: String,
    pub(super) period_s: f64,
    pub(super) count: u64,
    /// What it carries `[byte]`.
    length: u64,
    is_on_bus: bool,
    has_tag: bool,
    has_number: bool,
    /// It is no stream: the frames themselves are replayed, each round of them within the period.
    pub(super) is_recording: bool,
    /// From the beginning of the run to the first of a recording.
    pub(super) start_s: f64,
}

impl Stream {
    /// Frames at once, of which a message has several.
    pub(super) fn frames(&self) -> u64 {
        self.count * self.fragments()
    }

    fn fragments(&self) -> u64 {
        let is_message = !self.is_on_bus && self.length + u64::from(self.has_number) > 1_500;
        if is_message { (self.length + 8).div_ceil(1_480) } else { 1 }
    }

    /// Of what is sent at once, for one of `count`: data on a bus, frames without checksums on Ethernet `[byte]`.
    pub(super) fn frame_len(&self) -> u64 {
        let tag = if self.has_tag { 4 } else { 0 };
        match self.fragments() {
            _ if self.is_on_bus => self.length,
            1 => (self.length + 14 + tag + u64::from(self.has_number)).max(60),
            fragments => self.length + 8 + fragments * (34 + tag),
        }
    }

    /// Names of the streams that it stands for.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let numbered = (0..self.count).filter(|_| self.count > 1).map(|i| format!("{}.{i}", self.name));
        numbered.chain((self.count == 1).then(|| self.name.clone()))
    }
}

/// The streams of a scenario.
pub(super) fn streams(text: &str) -> Vec<Stream> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut seen = String::new();
    for line in text.lines() {
        if let Some(what) = line.strip_prefix("# Seen: ") {
            let what = what.split_once(" frames, ").or_else(|| what.split_once(" datagrams in fragments, "));
            seen = what.map_or(String::new(), |(_, key)| key.trim_end_matches('.').to_owned());
        } else if line == "[[recordings]]" {
            streams.push(Stream { key: std::mem::take(&mut seen), count: 1, is_recording: true, ..Stream::default() });
        } else if line == "[[streams]]" {
            streams.push(Stream { key: std::mem::take(&mut seen), count: 1, ..Stream::default() });
        }
        let (Some(stream), Some((key, value))) = (streams.last_mut(), line.split_once(" = ")) else { continue };
        let quoted = value.trim_matches('"');
        match key {
            "name" => stream.name = quoted.to_owned(),
            "length" => stream.length = quoted.trim_end_matches('B').parse().unwrap(),
            "period" => stream.period_s = seconds(value),
            "count" => stream.count = value.split_whitespace().next().unwrap().parse().unwrap(),
            "every" => stream.period_s = seconds(value),
            "start" => stream.start_s = seconds(value),
            "from" | "to" | "offset" | "protection" | "traffic" | "segment" => {}
            segment if value.contains("id = \"0x") => {
                let id = value.split('"').nth(1).unwrap();
                let extended = if value.contains("extended = true") { "x" } else { "" };
                stream.key = format!("{segment}:{id}{extended}");
                stream.is_on_bus = true;
            }
            _ => {
                stream.has_tag = value.contains("vlan = {");
                stream.has_number = value.contains("bag = ");
            }
        }
    }
    streams
}

/// A quoted time with its unit.
pub(super) fn seconds(quoted: &str) -> f64 {
    let time = quoted.split('"').nth(1).unwrap();
    let digits = time.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &time[digits.len()..] {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        other => panic!("{other}"),
    };
    digits.parse::<f64>().unwrap() * unit
}
