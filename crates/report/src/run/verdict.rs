//! The answer of a run in plain words: did every deadline hold, on every segment, and did any attack get through?

use chronoseal_core::AttackKind;
use chronoseal_results::{
    Account, Allowance, AttackSummary, ClockSummary, PrecisionSummary, RunMeta, RunSummary, STARTUP_CYCLES_MAX,
    SegmentSummary, StreamSummary,
};

use super::{group, programs};
use crate::counted::{counted, were};
use crate::document::Verdict;
use crate::word::Word;

/// Attacks, and clocks that failed, the verdict names one by one.
const NAMED_MAX: usize = 8;

/// What to do about a run of which only the host is to blame.
const IN_STALLS: &str = " Run it again while nothing else runs; `chronoseal doctor` shows what this host can keep.";

/// How the host alone is to blame for what failed.
#[derive(Clone, Copy)]
enum Host {
    /// All of it met a stall.
    Stalled,
    /// So much met stalls that nothing is known of time: so many of a hundred frames.
    Unfit(u64),
}

impl Host {
    fn of(summary: &RunSummary) -> Option<Self> {
        if summary.failed_in_stalls() {
            return Some(Self::Stalled);
        }
        summary.unfit().filter(|_| summary.failed_while_unfit()).map(Self::Unfit)
    }
}

pub(crate) fn verdict(meta: &RunMeta, summary: &RunSummary) -> Verdict {
    if let Some(lost) = &meta.lost {
        let text = format!("Not checked, because {lost}. What is below is what the others wrote down.");
        return Verdict { word: Word::NotChecked, text, points: points(meta, summary) };
    }
    let key = group::answer(meta, summary);
    let (deadlines, forged) = (summary.deadlines_held(), summary.forged_accepted());
    let mut text = key.as_ref().map_or_else(String::new, |(_, text)| format!("{text}; "));
    let programs = programs::failed(meta);
    text += &programs.first().map_or_else(String::new, |first| format!("{first}; "));
    let is_keyed = key.is_none_or(|(is_keyed, _)| is_keyed);
    // Nothing failed but what only the host may be to blame for.
    let host = Host::of(summary).filter(|_| is_keyed && forged == 0 && programs.is_empty());
    text += &on_unchecked(meta, summary, host);
    text += &on_exceptions(summary, deadlines);
    text += &on_attacks(summary, deadlines);
    let word = match deadlines && is_keyed {
        false if host.is_some() => Word::NotChecked,
        false => Word::Failed,
        true if forged > 0 || !programs.is_empty() => Word::Failed,
        true if summary.interrupted || unjudged(summary).is_some() => Word::NotChecked,
        true if !meta.unchecked.is_empty() => Word::NotChecked,
        true => Word::Held,
    };
    if word == Word::NotChecked && summary.interrupted {
        text = format!("not checked, because the run was interrupted; until then: {text}");
    }
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Verdict { word, text, points: points(meta, summary) }
}

/// The same, behind what could not be judged if nothing failed.
fn on_unchecked(meta: &RunMeta, summary: &RunSummary, host: Option<Host>) -> String {
    let others = on_deadlines(summary, host);
    match meta.unchecked.first().filter(|_| summary.deadlines_held()) {
        None => others,
        Some(first) if !summary.has_deadlines() => format!("not checked, because {first}"),
        Some(first) => format!("not checked, because {first}; of what was checked, {others}"),
    }
}

/// Frames that came in time, and frames that did not and had to.
#[derive(Clone, Copy, Default)]
struct Came {
    delivered: u64,
    failed: u64,
}

impl Came {
    fn of<'s>(streams: impl Iterator<Item = &'s StreamSummary>) -> Self {
        streams.fold(Self::default(), |Self { delivered, failed }, stream| Self {
            delivered: delivered + stream.delivered,
            failed: failed + stream.failed(),
        })
    }

    /// Of streams with deadlines.
    fn with_deadline(summary: &RunSummary) -> Self {
        Self::of(summary.streams.iter().filter(|stream| stream.is_judged))
    }

    /// Of streams without, which have to come all the same.
    fn without_deadline(summary: &RunSummary) -> Self {
        Self::of(summary.streams.iter().filter(|stream| !stream.is_judged && !stream.is_lossy))
    }

    const fn all(self) -> u64 {
        self.delivered + self.failed
    }
}

/// The clocks that did not join or did not stay.
fn failed_clocks(summary: &RunSummary) -> impl Iterator<Item = &ClockSummary> {
    summary.clocks.iter().filter(|clock| !clock.held())
}

fn what_failed(clock: &ClockSummary) -> String {
    let ClockSummary { node, segment, lost, .. } = clock;
    match (clock.acquired_ns, lost) {
        (None, _) => format!("the clock of {node} never joined on segment {segment}"),
        (_, 0) => format!(
            "the clock of {node} joined after {} on segment {segment}, and has {} for that",
            counted(clock.acquired_cycles.unwrap_or_default().unsigned_abs(), "cycle"),
            clock.startup_cycles_max()
        ),
        (_, 1) => format!("the clock of {node} was lost on segment {segment}"),
        (_, times) => format!("the clock of {node} was lost {times} times on segment {segment}"),
    }
}

/// Clocks of switches that were lost when the network of these had failed.
fn on_spared(summary: &RunSummary) -> Option<String> {
    let spared: Vec<&ClockSummary> = summary.clocks.iter().filter(|clock| clock.spared > 0).collect();
    let named: Vec<&str> = spared.iter().take(NAMED_MAX).map(|clock| clock.node.as_str()).collect();
    let more = if spared.len() > NAMED_MAX { format!(" and {} more", spared.len() - NAMED_MAX) } else { String::new() };
    (!spared.is_empty()).then(|| {
        format!(
            "Behind a link that failed switches lost their clocks ({}{more}); nobody relied on them, since the other network went on.",
            named.join(", ")
        )
    })
}

/// Clocks that failed and that no frame goes by.
fn on_unused(summary: &RunSummary) -> Option<String> {
    let failed = summary.clocks.iter().filter(|clock| clock.is_unused && !clock.has_kept());
    let names: Vec<String> = failed.map(|clock| format!("{} on {}", clock.node, clock.segment)).collect();
    let names = named(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    Some(format!("Clocks that no frame goes by did not join in time, or were lost: {names}. Nothing fails for them."))
}

/// The segments whose clocks were further apart than they may be.
fn imprecise(summary: &RunSummary) -> impl Iterator<Item = String> {
    summary.segments.iter().filter(|segment| !segment.kept_precision()).filter_map(|segment| {
        let PrecisionSummary { measured_ns, allowed_ns } = segment.precision?;
        let us = |ns: i64| ns as f64 / 1e3;
        Some(format!(
            "the clocks of segment {} were up to {:.3} us apart, and its precision is {:.3} us",
            segment.name,
            us(measured_ns),
            us(allowed_ns)
        ))
    })
}

fn on_deadlines(summary: &RunSummary, host: Option<Host>) -> String {
    if let Some((stream, account)) = summary.unbalanced() {
        return unbalanced(stream, account);
    }
    let (own, others) = (Came::with_deadline(summary), Came::without_deadline(summary));
    let failed = own.failed + others.failed;
    let mut clocks = failed_clocks(summary);
    let clock = clocks.next().map(|first| match clocks.count() {
        0 => what_failed(first),
        1 => format!("{}, and another clock failed", what_failed(first)),
        others => format!("{}, and {others} other clocks failed", what_failed(first)),
    });
    let clock = clock.or_else(|| imprecise(summary).next());
    match (clock, failed) {
        (None, 0) => match unjudged(summary) {
            Some(because) => format!("not checked, because {because}"),
            None if !summary.has_deadlines() => "no stream of this run has a deadline to hold".into(),
            None => "every deadline held".into(),
        },
        (clock, failed) if let Some(host) = host => {
            on_host(host, clock, own.all() + if others.failed > 0 { others.all() } else { 0 }, failed)
        }
        (Some(clock), 0) => format!("it cannot be said that deadlines held: {clock}"),
        (clock, _) => {
            let because = clock.map_or_else(String::new, |clock| format!(", and {clock}"));
            let replaced = match summary.replaced() {
                0 => "",
                _ => ", or replaced by an attack",
            };
            let of_all = |came: Came, frames: &str| format!("{} of {}", came.failed, counted(came.all(), frames));
            let without = || {
                let frames = of_all(others, "frame");
                format!("{frames} of streams without a deadline {} lost or thrown away", were(others.failed))
            };
            let late = || format!("{} {} late or lost", of_all(own, "frame"), were(own.failed));
            match (own.failed, others.failed) {
                (_, 0) => format!("deadlines did not hold: {}{replaced}{because}", late()),
                (0, _) if !summary.has_deadlines() => {
                    let frames = of_all(others, "frame");
                    format!("{frames} {} lost or thrown away{replaced}{because}", were(others.failed))
                }
                (0, _) if because.is_empty() => format!("every deadline held, but {}{replaced}", without()),
                (0, _) => format!("{}{replaced}{because}", without()),
                _ => format!("deadlines did not hold: {}, and {}{replaced}{because}", late(), without()),
            }
        }
    }
}

/// What was not in time, where only the host may be to blame for it.
fn on_host(host: Host, clock: Option<String>, all: u64, failed: u64) -> String {
    let frames = format!("the {failed} of {} that {} late or lost", counted(all, "frame"), were(failed));
    let on_way = format!("{} due or on {} way", were(failed), if failed == 1 { "its" } else { "their" });
    match (host, clock, failed) {
        (Host::Stalled, None, _) => {
            format!("not checked, because this host was stalled while {frames} {on_way}; the others were in time")
        }
        (Host::Stalled, Some(clock), 0) => {
            format!("not checked, because this host was stalled: {clock}; every frame was in time")
        }
        (Host::Stalled, Some(clock), _) => format!(
            "not checked, because this host was stalled: {clock}, and {frames} {on_way} then, or until clocks were back; the others were \
             in time"
        ),
        (Host::Unfit(percent), clock, failed) => {
            let frames = format!("{failed} of {} {} late or lost", counted(all, "frame"), were(failed));
            let what = match (clock, failed) {
                (Some(clock), 0) => clock,
                (Some(clock), _) => format!("{frames}, and {clock}"),
                (None, _) => frames,
            };
            format!(
                "not checked, because this host was stalled while {percent} % of all frames were due or on their way, which is too much to \
                 say why {what}"
            )
        }
    }
}

/// Attacks of the scenario that never happened, so that the run says nothing of them. Who changes what clocks are told, and finds no such
/// message or none that can be read, has had no chance.
fn never_attacked(summary: &RunSummary) -> Option<String> {
    let never = summary.attacks.iter().filter(|attack| attack.attempts == 0 && !attack.is_on_clocks());
    let shown = |attack: &AttackSummary| match attack.stream.as_str() {
        "none" => format!("{} by {}", attack.attack, attack.attacker),
        stream => format!("{} on {stream} by {}", attack.attack, attack.attacker),
    };
    let names: Vec<String> = never.map(shown).collect();
    let names = named(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.map(|names| format!("attacks of the scenario never happened ({names})"))
}

/// Why streams could not be judged, by name.
fn unjudged(summary: &RunSummary) -> Option<String> {
    let names = |was_due: bool| {
        let some = summary.unjudged().filter(|stream| !stream.is_under_way() && (stream.startup > 0) == was_due);
        named(&some.map(|stream| stream.name.as_str()).collect::<Vec<_>>())
    };
    let waiting = summary.unjudged().filter(|stream| stream.is_under_way());
    let waiting: Vec<String> = waiting
        .map(|stream| format!("{} of {} of {}", stream.in_flight, counted(stream.due, "frame"), stream.name))
        .collect();
    let waiting = named(&waiting.iter().map(String::as_str).collect::<Vec<_>>());
    let waiting = waiting.map(|some| format!("{some} were still under way when the run was over"));
    let early =
        names(true).map(|some| format!("every frame of {some} was due before clocks and keys were ready for it"));
    let over = names(false).map(|some| format!("the run was over before a frame of {some} could be judged"));
    let not_carried = (summary.not_carried > 0).then(|| {
        let (frames, were) = (counted(summary.not_carried, "frame"), were(summary.not_carried));
        format!("{frames} that belong to no stream, as those of a recording, {were} thrown away by gateways that had no room for them")
    });
    let both: Vec<String> =
        early.into_iter().chain(over).chain(waiting).chain(not_carried).chain(never_attacked(summary)).collect();
    (!both.is_empty()).then(|| both.join(", and "))
}

/// The first of some names, and how many there are beside.
fn named(names: &[&str]) -> Option<String> {
    let more = names.len().saturating_sub(NAMED_MAX);
    let first = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| if more == 0 { first } else { format!("{first} and {more} more") })
}

/// What went wrong if the ends of a stream's frames are not as many as its frames.
fn unbalanced(stream: &StreamSummary, account: &Account) -> String {
    let ends = (account.due as i64 - account.balance()).unsigned_abs();
    if stream.is_by_programs() && ends > account.due {
        let more = counted(ends - account.due, "message");
        return format!(
            "it cannot be said that deadlines held: the program of {} reports {more} of stream {} more than were sent, \
             because some came twice or were never reported as sent",
            account.receiver, stream.name,
        );
    }
    format!(
        "it cannot be said that deadlines held: the account of stream {} at {} does not add up, {} {} due and {} \
         {} recorded; please report this with the scenario and the seed",
        stream.name,
        account.receiver,
        counted(account.due, "frame"),
        were(account.due),
        counted(ends, "end"),
        if ends == 1 { "is" } else { "are" },
    )
}

/// Frames that were not in time and break nothing: since the scenario allows them, or since a link loses frames by its own laws.
fn on_exceptions(summary: &RunSummary, deadlines: bool) -> String {
    let by_law = |allowance: &Allowance| allowance.copies >= u64::from(u32::MAX);
    let (mut allowed, mut lost, mut named) = (0, 0, Vec::new());
    for stream in &summary.streams {
        let used = |reason: &str| stream.losses().find(|(known, _)| *known == reason).map_or(0, |(_, count)| count);
        for allowance in &stream.allowances {
            match used(&allowance.reason) {
                count if by_law(allowance) => lost += count,
                count if count <= allowance.copies => {
                    allowed += count;
                    named.push(format!("{} {}: {count} of {}", stream.name, allowance.reason, allowance.copies));
                }
                // What is beyond it has failed the run.
                _ => {}
            }
        }
    }
    let mut text = String::new();
    if !named.is_empty() {
        let but = if deadlines { "but for" } else { "beside" };
        text += &format!(" {but} {} that the scenario allows ({})", counted(allowed, "loss"), named.join(", "));
    }
    if lost > 0 {
        text += &format!(
            "; {} {} lost by the laws of lossy links, which fail no stream without a deadline",
            counted(lost, "message"),
            were(lost)
        );
    }
    text
}

/// Allowances of which a run used more than there is: all of those losses count.
fn on_exceeded(summary: &RunSummary) -> Option<String> {
    let of_stream = |stream: &StreamSummary| {
        let used = |allowance: &Allowance| stream.losses().find(|(known, _)| *known == allowance.reason);
        let beyond = stream.allowances.iter().filter_map(|allowance| {
            let (reason, count) = used(allowance).filter(|(_, count)| *count > allowance.copies)?;
            Some(format!("{} {reason}: {count} of {}", stream.name, allowance.copies))
        });
        beyond.collect::<Vec<_>>()
    };
    let beyond: Vec<String> = summary.streams.iter().flat_map(of_stream).collect();
    let beyond = named(&beyond.iter().map(String::as_str).collect::<Vec<_>>())?;
    Some(format!("More was lost than the scenario allows, so all of it counts: {beyond}."))
}

/// Frames of which a copy came too late to be known as one.
fn on_repeated(summary: &RunSummary) -> Option<String> {
    let of_stream = |stream: &StreamSummary| {
        let repeated = stream.receivers.iter().filter(|account| account.copies.repeated > 0);
        let shown = |account: &Account| {
            format!("{} at {}: {} of {}", stream.name, account.receiver, account.copies.repeated, account.in_time)
        };
        repeated.map(shown).collect::<Vec<_>>()
    };
    let repeated: Vec<String> = summary.streams.iter().flat_map(of_stream).collect();
    let repeated = named(&repeated.iter().map(String::as_str).collect::<Vec<_>>())?;
    Some(format!("Frames were delivered twice, since a copy came too late to be known as one: {repeated}."))
}

/// Attempts of attacks of one kind.
fn attempts(summary: &RunSummary, kind: AttackKind) -> u64 {
    summary.attacks.iter().filter(|attack| attack.attack == kind.name()).map(|attack| attack.attempts).sum()
}

fn on_attacks(summary: &RunSummary, deadlines: bool) -> String {
    // What is kept back or delayed cannot be accepted or refused.
    let (kept_back, delayed) = (attempts(summary, AttackKind::Withhold), attempts(summary, AttackKind::Delay));
    let held = match (kept_back, delayed) {
        (0, 0) => None,
        (kept_back, 0) => Some(format!("attacks kept back {}", counted(kept_back, "frame"))),
        (0, delayed) => Some(format!("attacks delayed {}", counted(delayed, "frame"))),
        (kept_back, delayed) => {
            Some(format!("attacks kept back {} and delayed {delayed}", counted(kept_back, "frame")))
        }
    };
    // Nor are messages of an exchange of keys: its outcome is the answer.
    let on_keys: u64 = summary.attacks.iter().filter(|attack| attack.is_on_keys()).map(|attack| attack.attempts).sum();
    let keys = (on_keys > 0).then(|| format!("attacks sent {} into the exchange of keys", counted(on_keys, "frame")));
    let sent = match (summary.attack_attempts() - kept_back - delayed - on_keys, summary.forged_accepted()) {
        (0, _) if held.is_some() || keys.is_some() => None,
        (0, _) => return "; nothing attacked this run.".to_owned(),
        (1, 0) => Some(", and the only attack was not accepted".to_owned()),
        (attempts, 0) => Some(format!(", and none of {attempts} attacks was accepted")),
        (_, forged) => {
            let but = if deadlines { "but" } else { "and" };
            let only_clocks = summary.attacks.iter().all(|attack| attack.accepted == 0 || attack.is_on_clocks());
            Some(match only_clocks {
                true => format!(", {but} what attacks say of the time was believed {}", counted(forged, "time")),
                false if forged == 1 => format!(", {but} 1 forged, changed or repeated frame was accepted"),
                false => format!(", {but} {forged} forged, changed or repeated frames were accepted"),
            })
        }
    };
    let others = held.into_iter().chain(keys).map(|text| format!("; {text}"));
    let text: String = sent.into_iter().chain(others).collect();
    format!("{text}.")
}

fn points(meta: &RunMeta, summary: &RunSummary) -> Vec<String> {
    let mut points = Vec::new();
    if summary.interrupted {
        points.push("The run was interrupted; what is here is what there was until then.".into());
    }
    if summary.clocks.iter().any(|clock| !clock.is_unused) {
        points.push(on_startup(summary));
    }
    points.extend(on_counters(meta, summary));
    points.extend(on_failed_streams(summary));
    points.extend(on_unaccounted(meta, summary));
    if summary.has_deadlines() {
        let Came { delivered, failed } = Came::with_deadline(summary);
        let judged = summary.streams.iter().filter(|stream| stream.is_judged);
        let allowed = match judged.map(StreamSummary::allowed).sum::<u64>() {
            0 => String::new(),
            allowed => format!("; so {} {allowed} more, as the scenario allows", were(allowed)),
        };
        points.push(format!(
            "{} {} delivered in time; {failed} {} late, missing, lost or thrown away after start-up{allowed}.",
            counted(delivered, "frame with a deadline"),
            were(delivered),
            were(failed)
        ));
    }
    let is_first_said = usize::from(summary.deadlines_held());
    points.extend(meta.unchecked.iter().skip(is_first_said).map(|text| format!("Not checked, because {text}.")));
    points.extend(programs::failed(meta).into_iter().skip(1).map(|text| format!("Also, {text}.")));
    points.extend(failed_clocks(summary).skip(1).take(NAMED_MAX).map(|clock| format!("Also, {}.", what_failed(clock))));
    if failed_clocks(summary).next().is_some() {
        points.extend(imprecise(summary).map(|text| format!("Also, {text}.")));
    }
    points.extend(on_exceeded(summary));
    points.extend(on_repeated(summary));
    points.extend(on_spared(summary));
    points.extend(on_unused(summary));
    points.extend(group::points(meta, summary));
    points.extend(on_load(&summary.segments));
    if summary.replaced() > 0 {
        points.push(format!(
            "Attacks kept {} genuine frames from their receivers: they took their slot or their place in a queue, changed them, \
             or put others in their place. Authentication detects that, it cannot prevent it.",
            summary.replaced()
        ));
    }
    for attack in summary.attacks.iter().filter(|attack| attack.accepted > 0).take(NAMED_MAX) {
        let why = match (attack.authenticated, attack.replayable) {
            _ if attack.is_on_clocks() => {
                let what = match attack.attack == AttackKind::RogueGrandmaster.name() {
                    true => "clocks took it for their grandmaster",
                    false => "messages were used as those of an honest clock",
                };
                points.push(format!(
                    "{} by {}: {} {what}, because messages of clocks carry no tag.",
                    attack.attack, attack.attacker, attack.accepted
                ));
                continue;
            }
            (false, _) => "its stream carries no tag that is checked".into(),
            (true, true) if attack.attack == "replay" => {
                "its stream carries no freshness value, so a repeated frame has a valid tag".into()
            }
            (true, _) if let Some(bits) = attack.guessed_bits => format!("a tag of {bits} bits is guessed"),
            (true, _) if attack.by_segment && attack.attack == "replay" => {
                "who had not heard the original takes a copy as long as it is fresh, which is a property of the standard".into()
            }
            (true, _) if attack.is_opened_on_way => {
                "gateways open its stream and seal it again, so one that was taken over has the keys".into()
            }
            _ => String::from("its stream is authenticated, so this should not happen"),
        };
        points.push(format!(
            "{} on {} by {}: {} accepted, because {why}.",
            attack.attack,
            attack.stream,
            attack.attacker,
            counted(attack.accepted, "copy")
        ));
    }
    if let Some(percent) = summary.unfit() {
        points.push(format!(
            "This run is unfit for saying how long anything takes: the host had the processor elsewhere while {percent} % of all frames \
             were due or on their way. Use the stall-free figures, or run it again on a quieter host."
        ));
    }
    if summary.stalls.count > 0 {
        points.push(format!(
            "The host took the processor away {}, {:.1} ms together; {} {} on the way meanwhile and told apart below.{}",
            counted(summary.stalls.count, "time"),
            summary.stalls.total_ns as f64 / 1e6,
            counted(summary.stalls.frames, "frame"),
            were(summary.stalls.frames),
            if Host::of(summary).is_some() { IN_STALLS } else { "" },
        ));
    }
    points.extend(meta.warnings.iter().map(|warning| format!("Check before trusting: {warning}")));
    points
}

/// The streams that failed, with what became of their frames; the worst first.
fn on_failed_streams(summary: &RunSummary) -> Vec<String> {
    let mut failed: Vec<&StreamSummary> = summary.streams.iter().filter(|stream| !stream.held()).collect();
    failed.sort_by_key(|stream| std::cmp::Reverse(stream.failed()));
    let more = failed.len().saturating_sub(NAMED_MAX);
    let of_stream = |stream: &&StreamSummary| {
        let losses: Vec<String> = stream.losses().map(|(reason, count)| format!("{count} {reason}")).collect();
        format!("{}: of {}, {}.", stream.name, counted(stream.due, "frame due"), losses.join(", "))
    };
    let mut points: Vec<String> = failed.iter().take(NAMED_MAX).map(of_stream).collect();
    if more > 0 {
        let streams = if more == 1 { "stream" } else { "streams" };
        points.push(format!("{more} more {streams} failed; the account of every frame has them."));
    }
    points
}

/// A simulated frame is always somewhere.
fn on_unaccounted(meta: &RunMeta, summary: &RunSummary) -> Option<String> {
    let lost = |stream: &&StreamSummary| stream.unaccounted > 0 && !stream.is_lossy;
    let names: Vec<&str> = summary.streams.iter().filter(lost).map(|stream| stream.name.as_str()).collect();
    let names = named(&names).filter(|_| meta.engine == chronoseal_results::Engine::Sim)?;
    Some(format!(
        "Nobody can say where frames of {names} are. That is a defect of this program: please report it with the scenario and the seed."
    ))
}

/// When start-up was over, and how long it may take.
fn on_startup(summary: &RunSummary) -> String {
    let used = summary.clocks.iter().filter(|clock| !clock.is_unused);
    let cycles = used.filter_map(|clock| clock.acquired_cycles).max().unwrap_or(0);
    let at_most = summary.clocks.iter().map(ClockSummary::startup_cycles_max).max().unwrap_or(STARTUP_CYCLES_MAX);
    let excused: u64 = summary.streams.iter().map(|stream| stream.startup).sum();
    format!(
        "Start-up ended {:.3} ms after the run began, in integration cycle {cycles} of at most {at_most}; {}",
        summary.ready_ns() as f64 / 1e6,
        excused_text(excused, "")
    )
}

/// Frames that are not judged, since they were not in time before a run was ready.
fn excused_text(excused: u64, which: &str) -> String {
    let are = if excused == 1 { "is" } else { "are" };
    format!(
        "{} {} not in time before that and {are} not judged.",
        counted(excused, &format!("frame{which}")),
        were(excused)
    )
}

/// When frames could be checked for the first time, and how long that may take, where it takes counters that a master tells.
fn on_counters(meta: &RunMeta, summary: &RunSummary) -> Option<String> {
    let counted: Vec<_> =
        meta.streams.iter().zip(&summary.streams).filter(|(stream, _)| stream.counters.is_some()).collect();
    let told = counted.first().and_then(|(stream, _)| meta.streams.get(usize::from(stream.counters?)))?;
    let ready_ns = counted.iter().map(|(_, counts)| counts.ready_ns).max().unwrap_or(0);
    let excused: u64 = counted.iter().map(|(_, counts)| counts.startup).sum();
    Some(format!(
        "Trip and reset counters had been told {:.3} ms after the run began, of at most {:.3} ms; {}",
        ready_ns as f64 / 1e6,
        told.period_ns as f64 / 1e6,
        excused_text(excused, " that they check")
    ))
}

/// How much of the time segments were used, in one sentence.
fn on_load(segments: &[SegmentSummary]) -> Option<String> {
    let used = |segment: &SegmentSummary| {
        let load = segment.load()?;
        let busiest = load.share_max.zip(load.window_ns).map_or_else(String::new, |(share, window_ns)| {
            format!(", {:.1} % in its busiest {:.0} ms", 100.0 * share, window_ns as f64 / 1e6)
        });
        Some(format!("{} ({}) {:.1} % of the time{busiest}", segment.name, load.name, 100.0 * load.share?))
    };
    let used: Vec<String> = segments.iter().filter_map(used).collect();
    (!used.is_empty()).then(|| format!("How much segments were used: {}.", used.join("; ")))
}
