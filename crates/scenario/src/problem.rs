//! What is wrong with a text: every problem at once, each with a stable code, a place and what to write instead.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use serde_json::json;

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// The kind of a problem. Its text never changes meaning.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// As shown and as listed in `docs/reference/errors.md`.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The file is longer than a scenario can be.
    FileTooLong = "scenario::file-too-long",
    /// The file is not UTF-8 text.
    NotUtf8 = "scenario::not-utf-8",
    /// The file ends in the middle of something.
    Truncated = "scenario::truncated",
    /// The text is no TOML or JSON.
    Syntax = "scenario::syntax",
    /// A `--set` cannot be applied.
    Override = "scenario::override",
    /// A scenario of an earlier version of the format.
    OldVersion = "scenario::old-version",
    /// A key that does not exist.
    UnknownKey = "scenario::unknown-key",
    /// A key that has to be there is not.
    MissingKey = "scenario::missing-key",
    /// A text where a number belongs, a table where a text belongs, and so on.
    WrongType = "scenario::wrong-type",
    /// None of the values possible here.
    UnknownValue = "scenario::unknown-value",
    /// A quantity without its unit.
    MissingUnit = "scenario::missing-unit",
    /// A quantity that cannot be read.
    BadQuantity = "scenario::bad-quantity",
    /// A number or quantity that is too small or too large.
    OutOfRange = "scenario::out-of-range",
    /// More entries than a list can hold.
    TooMany = "scenario::too-many",
    /// A text that is no name.
    BadName = "scenario::bad-name",
    /// Two things of one kind with one name.
    DuplicateName = "scenario::duplicate-name",
    /// A name that nothing has.
    UnknownName = "scenario::unknown-name",
    /// Not exactly one of several keys.
    ChooseOne = "scenario::choose-one",
    /// A period that does not divide the cluster cycle.
    PeriodNotDividing = "scenario::period-not-dividing",
    /// An integration policy, or a way of passing frames on, that the segment's other keys do not allow.
    BadIntegration = "scenario::bad-integration",
    /// An integration cycle that does not divide the cluster cycle.
    IntegrationCycleNotDividing = "scenario::integration-cycle-not-dividing",
    /// A cluster whose clocks its masters cannot keep together.
    BadClockTree = "scenario::bad-clock-tree",
    /// Minimum, mean and maximum out of order.
    JitterOrder = "scenario::jitter-order",
    /// No four bytes, or no group address.
    BadMarker = "scenario::bad-marker",
    /// A tag shorter or longer than its algorithm allows.
    TagLength = "scenario::tag-length",
    /// A freshness value of which not as much can be sent.
    FreshnessLength = "scenario::freshness-length",
    /// Freshness from the cycle counter on a stream that has no slot.
    FreshnessWithoutSlot = "scenario::freshness-without-slot",
    /// A key that is not as many hexadecimal digits as its algorithm takes.
    BadKey = "scenario::bad-key",
    /// A payload that a frame on its way does not hold, its protection counted.
    FrameTooLong = "scenario::frame-too-long",
    /// A protection that a frame on its way does not hold, even without a payload.
    ProtectionTooLong = "scenario::protection-too-long",
    /// A deadline that is over before the frame can be received.
    DeadlineTooShort = "scenario::deadline-too-short",
    /// A recording whose samples do not fit the frame.
    RecordingTooLong = "scenario::recording-too-long",
    /// A recording that cannot be read.
    BadRecording = "scenario::bad-recording",
    /// A platform that cannot be read.
    BadPlatform = "scenario::bad-platform",
    /// A stream without a receiver.
    NoReceivers = "scenario::no-receivers",
    /// A stream that its sender receives.
    SenderReceives = "scenario::sender-receives",
    /// A fixed slot for several streams.
    OffsetOfMany = "scenario::offset-of-many",
    /// A critical-traffic identifier that is taken, reserved or not used.
    BadCtId = "scenario::bad-ct-id",
    /// More slots in a cluster cycle than a schedule can hold.
    TooManySlots = "scenario::too-many-slots",
    /// More frames in a run than anybody waits for.
    TooManyFrames = "scenario::too-many-frames",
    /// An attacker where it cannot do this.
    ThreatPlace = "scenario::threat-place",
    /// An attack from a port of its own on a stream that has no slot.
    ThreatWithoutSlot = "scenario::threat-without-slot",
    /// An attack where no bytes exist.
    ThreatAtTiming = "scenario::threat-at-timing",
    /// An attack after the end of the run.
    ThreatTooLate = "scenario::threat-too-late",
    /// Something that this kind of segment does not have.
    WrongNetwork = "scenario::wrong-network",
    /// Something that can be written and is not there yet.
    NotYet = "scenario::not-yet",
    /// A table of a segment that is not crossed, or of a segment of another kind.
    SegmentTable = "scenario::segment-table",
    /// Two nodes that no gateway joins, or no way over the switches that a stream may pass.
    NoWay = "scenario::no-way",
    /// Two nodes that several ways of one length join.
    SeveralWays = "scenario::several-ways",
    /// A link that joins nothing or what is joined already, or one that is missing.
    BadLink = "scenario::bad-link",
    /// A port that cannot do what is written, or not for the streams that leave by it.
    BadPort = "scenario::bad-port",
    /// A stream filter, stream gate or flow meter that cannot do what is written.
    BadStreamFilter = "scenario::bad-stream-filter",
    /// A virtual link that ARINC 664 part 7 does not allow, or that cannot carry its stream.
    BadVirtualLink = "scenario::bad-virtual-link",
    /// Networks A and B that are none, or a stream that cannot go over them so.
    BadNetworks = "scenario::bad-networks",
    /// A stream that cannot be sent several times so.
    BadReplication = "scenario::bad-replication",
    /// Gateways that a stream cannot pass so.
    BadVia = "scenario::bad-via",
    /// A gateway that cannot forward so.
    BadGateway = "scenario::bad-gateway",
    /// No CAN identifier, or one that is taken.
    BadCanId = "scenario::bad-can-id",
    /// A message in several frames with several receivers.
    SegmentedToMany = "scenario::segmented-to-many",
    /// Bits that cannot be timed so.
    BadBitTiming = "scenario::bad-bit-timing",
    /// An address of a key exchange that is reserved or taken.
    BadAddress = "scenario::bad-address",
    /// A group that cannot exchange a key so.
    BadGroup = "scenario::bad-group",
    /// Trips and resets that nobody counts, or not everybody can follow.
    BadFreshness = "scenario::bad-freshness",
    /// A schedule that does not fit the cluster cycle.
    DoesNotFit = "scenario::does-not-fit",
    /// A table of streams that cannot be read.
    ImportCsv = "import::csv",
    /// A capture that cannot be read.
    ImportCapture = "import::capture",
    /// A recording of a CAN bus that cannot be read.
    ImportRecording = "import::recording",
    /// A database of CAN messages that cannot be read.
    ImportDatabase = "import::database",
    /// What is to be imported is nothing that is read.
    ImportFormat = "import::format",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Its kind.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the text; the first is the place itself. Empty if the text as a whole is meant.
    pub labels: Vec<(Range<usize>, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), labels: Vec::new(), help: None }
    }
    /// Points at a place and says what it is.
    pub(crate) fn label(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }
    /// Says what to write.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() {
            return None;
        }
        Some(Box::new(self.labels.iter().map(|(span, text)| {
            LabeledSpan::new_with_span(
                Some(text.clone()).filter(|text| !text.is_empty()),
                SourceSpan::from(span.clone()),
            )
        })))
    }
}

/// A line that is longer is shown in parts `[byte]`.
const LINE_LEN_MAX: usize = 2_000;

/// The last boundary of a character up to a place in a text.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Everything wrong with one text, in the order of the text.
#[derive(Clone, Debug)]
pub struct Problems {
    source: NamedSource<String>,
    list: Vec<Problem>,
    left_out: usize,
}

impl Problems {
    /// So many are kept; the others are counted.
    pub const KEPT_MAX: usize = 100;

    /// None yet.
    pub(crate) fn new(source_name: &str, text: &str) -> Self {
        Self { source: NamedSource::new(source_name, text.to_owned()), list: Vec::new(), left_out: 0 }
    }

    /// A single problem.
    pub(crate) fn one(source_name: &str, text: &str, problem: Problem) -> Self {
        let mut problems = Self::new(source_name, text);
        problems.push(problem);
        problems
    }

    pub(crate) fn push(&mut self, mut problem: Problem) {
        if self.list.len() >= Self::KEPT_MAX {
            self.left_out += 1;
            return;
        }
        let text_len = self.source.inner().len();
        for (span, _) in &mut problem.labels {
            span.end = span.end.min(text_len);
            span.start = span.start.min(span.end);
        }
        // A parser that recovers may stumble twice over one thing.
        if self.list.last() != Some(&problem) {
            self.list.push(problem);
        }
    }

    /// True if nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if more problems would only be counted, so that their wording need not be worked out.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Self::KEPT_MAX
    }

    /// `value` if there are none.
    pub(crate) fn or<T>(mut self, value: T) -> Result<T, Self> {
        if self.list.is_empty() {
            return Ok(value);
        }
        self.list.sort_by_key(|problem| problem.labels.first().map_or(0, |(span, _)| span.start));
        Err(self)
    }

    /// The first of them in one sentence.
    pub fn first(&self) -> String {
        self.list.first().map(|problem| problem.message.clone()).unwrap_or_default()
    }

    /// The problems, at most [`Self::KEPT_MAX`].
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// How many there are, those not kept included.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// The name of the text.
    pub fn source_name(&self) -> &str {
        self.source.name()
    }

    /// As text with carets, without colour, 110 columns wide.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(110)
            .with_context_lines(1)
            .without_cause_chain();
        match handler.render_report(&mut text, &self.with_short_lines()) {
            Ok(()) => text,
            Err(_) => self.list.iter().map(|problem| format!("{}: {problem}\n", problem.code)).collect(),
        }
    }

    /// The same problems over a text without long lines, which nobody could read and the renderer has no room for: of a line
    /// that is longer than [`LINE_LEN_MAX`], what is around the places that are named.
    fn with_short_lines(&self) -> Self {
        let (name, whole) = (self.source.name().to_owned(), self.source.inner());
        if whole.split('\n').all(|line| line.len() <= LINE_LEN_MAX) {
            return self.clone();
        }
        let mut marks: Vec<usize> =
            self.list.iter().flat_map(|problem| &problem.labels).map(|(span, _)| span.start).collect();
        marks.sort_unstable();
        // Each kept piece: where it lies in the whole text, and where in the short one.
        let (mut short, mut kept, mut from) = (String::new(), Vec::<(Range<usize>, usize)>::new(), 0);
        let mut keep = |piece: Range<usize>, short: &mut String| {
            kept.push((piece.clone(), short.len()));
            short.push_str(&whole[piece]);
        };
        for line in whole.split_inclusive('\n') {
            let all = from..from + line.len();
            from = all.end;
            if line.len() <= LINE_LEN_MAX {
                keep(all, &mut short);
                continue;
            }
            let end = if line.ends_with('\n') { all.end - 1 } else { all.end };
            let mut done = all.start;
            for mark in marks.iter().filter(|mark| (all.start + 1..=end).contains(*mark)) {
                let begin = boundary(whole, mark.saturating_sub(LINE_LEN_MAX / 4).max(done).min(end));
                let stop = boundary(whole, (mark + LINE_LEN_MAX / 4).min(end));
                if stop <= done {
                    continue;
                }
                if begin > done {
                    short.push('\u{2026}');
                }
                keep(begin..stop, &mut short);
                done = stop;
            }
            if done < end {
                short.push('\u{2026}');
            }
            if end < all.end {
                keep(end..all.end, &mut short);
            }
        }
        let place = |at: usize| {
            let piece = kept.iter().rev().find(|(piece, _)| piece.start <= at);
            piece.map_or(0, |(piece, to)| to + (at - piece.start).min(piece.len()))
        };
        let mut problems = self.clone();
        for (span, _) in problems.list.iter_mut().flat_map(|problem| &mut problem.labels) {
            let start = place(span.start).min(short.len());
            *span = start..place(span.end).clamp(start, (start + LINE_LEN_MAX / 4).min(short.len()));
        }
        problems.source = NamedSource::new(name, short);
        problems
    }

    /// For programs: code, message, line and column (from 1), byte offset and length, labels, help.
    pub fn to_json(&self) -> serde_json::Value {
        let problems: Vec<_> = self
            .list
            .iter()
            .map(|problem| {
                let labels: Vec<_> = problem.labels.iter().map(|(span, text)| self.place(span, text)).collect();
                json!({
                    "code": problem.code.text(),
                    "message": problem.message,
                    "labels": labels,
                    "help": problem.help,
                })
            })
            .collect();
        json!({ "source": self.source.name(), "count": self.count(), "problems": problems })
    }

    fn place(&self, span: &Range<usize>, text: &str) -> serde_json::Value {
        let before = &self.source.inner().as_bytes()[..span.start];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        json!({ "line": line, "column": column, "offset": span.start, "len": span.len(), "text": text })
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        let s = if count == 1 { "" } else { "s" };
        write!(f, "{}: {count} problem{s}", self.source.name())?;
        if self.left_out > 0 {
            write!(f, ", the first {} shown", self.list.len())?;
        }
        Ok(())
    }
}
impl std::error::Error for Problems {}

impl Diagnostic for Problems {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.list.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}
