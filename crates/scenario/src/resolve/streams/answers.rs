//! Streams that answer others, and closed loops.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{NodePlan, Trigger};

use super::ends::Ends;
use super::{Streams, World};
use crate::kinds::Context;
use crate::limits::DURATION_MAX;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::StreamSpec;

/// A stream that stands for itself, by its entry: those of `count` are not asked and answer nothing.
fn plan_of(streams: &Streams, entry: usize) -> Option<usize> {
    streams.entries.iter().position(|known| *known == entry)
}

impl<'s> Context<'s> {
    /// The entry of the stream that one answers, if it is there. Whether it can be answered is looked at when all are known.
    pub(super) fn asked(&self, spec: &StreamSpec) -> Option<(usize, &'s StreamSpec)> {
        let name = spec.answers.as_ref()?;
        self.spec.streams.iter().enumerate().find(|(_, asked)| asked.name == *name && asked.answers.is_none())
    }

    /// Whom an answer goes to that does not say.
    pub(super) fn asker(&self, spec: &StreamSpec, sender: Option<usize>, nodes: &[NodePlan]) -> Ends {
        let asker = self.asked(spec).and_then(|(_, asked)| nodes.iter().position(|node| node.name == asked.from));
        let receivers: Vec<NodeId> =
            asker.filter(|asker| Some(*asker) != sender).map(|asker| NodeId(asker as u16)).into_iter().collect();
        let are_known = sender.is_some() && !receivers.is_empty();
        Ends { sender: NodeId(sender.unwrap_or(0) as u16), sent_by: None, receivers, are_known }
    }

    /// The period of an answer: that of what it answers.
    pub(super) fn period_of_answer(&mut self, i: usize, spec: &StreamSpec) -> Duration {
        let of_time = [
            ("period", spec.period.is_some()),
            ("on_change", spec.on_change.is_some()),
            ("offset", spec.offset.is_some()),
            ("application", spec.application.is_some()),
            ("closed_loop", spec.closed_loop.is_some()),
        ];
        for (key, _) in of_time.into_iter().filter(|(_, is_written)| *is_written) {
            self.report(
                Code::ChooseOne,
                at!["streams", i, key],
                format!("stream `{}` is sent when it answers, and also says when by `{key}`", shortened(&spec.name)),
                "not chosen here",
                format!("leave `{key}` out, or `answers`"),
            );
        }
        let period = self.asked(spec).and_then(|(_, asked)| {
            let on_change = asked.on_change.map(|on_change| on_change.min_distance.0);
            asked.period.map(|period| period.0).or(on_change)
        });
        period.unwrap_or(DURATION_MAX).clamp(crate::limits::PERIOD_MIN, DURATION_MAX)
    }

    /// Joins each answer with what it answers, and each closed loop with its answers.
    pub(super) fn triggers(&mut self, streams: &mut Streams, world: &World<'_>) {
        let specs = &self.spec.streams;
        let mut answered: Vec<Vec<usize>> = vec![Vec::new(); specs.len()];
        for (i, spec) in specs.iter().enumerate() {
            let Some(asked) = self.answer(i, spec, streams, world) else { continue };
            answered[asked].push(i);
        }
        for (i, spec) in specs.iter().enumerate() {
            let Some(closed) = spec.closed_loop.filter(|_| spec.answers.is_none()) else { continue };
            let Some(index) = plan_of(streams, i) else { continue };
            let least = streams.plans[index].period;
            let path = at!["streams", i, "closed_loop"];
            let timeout = self.within(
                at!["streams", i, "closed_loop", "timeout"],
                "the timeout",
                closed.timeout.0,
                least,
                DURATION_MAX,
            );
            if spec.on_change.is_some() {
                self.report(
                    Code::ChooseOne,
                    at!["streams", i, "on_change"],
                    format!("stream `{}` waits for answers, and is sent on change", shortened(&spec.name)),
                    "not in a closed loop",
                    "write a `period`, the least distance of two messages, or leave `closed_loop` out",
                );
            }
            match answered[i][..] {
                [answer] if streams.plans[index].receivers.len() == 1 => {
                    let Some(answer) = plan_of(streams, answer) else { continue };
                    streams.plans[index].trigger =
                        Some(Trigger::ClosedLoop { answer: StreamId(answer as u16), timeout });
                }
                _ => self.report(
                    Code::MissingKey,
                    path,
                    format!(
                        "stream `{}` waits for its answers, and has {} receivers and {} streams that answer it",
                        shortened(&spec.name),
                        streams.plans[index].receivers.len(),
                        answered[i].len()
                    ),
                    "a closed loop",
                    format!(
                        "let it have one receiver, and give that a stream with `answers = \"{}\"`",
                        shortened(&spec.name)
                    ),
                ),
            }
        }
    }

    /// Joins an answer with what it answers, whose entry it gives.
    fn answer(&mut self, i: usize, spec: &StreamSpec, streams: &mut Streams, world: &World<'_>) -> Option<usize> {
        let name = spec.answers.as_ref()?;
        let path = at!["streams", i, "answers"];
        let names: Vec<&str> = self.spec.streams.iter().map(|stream| stream.name.as_str()).collect();
        let asked = self.find(name, &names, path, "stream", "streams")?;
        let other = &self.spec.streams[asked];
        let (own, question) = (plan_of(streams, i)?, plan_of(streams, asked)?);
        let mut refuse = |message: String, help: &str| {
            self.report_both(
                Code::NotYet,
                (path, "answers it"),
                (at!["streams", asked, "name"], "asked"),
                message,
                help,
            );
            None
        };
        if other.answers.is_some() {
            return refuse(
                format!("`{}` is itself an answer, and answers are not answered", shortened(name)),
                "answer a stream that has a `period`",
            );
        }
        if spec.count.is_some() || other.count.is_some() {
            return refuse(
                format!("`{}` and its answer must each be one stream, and one of them has a `count`", shortened(name)),
                "write them one by one",
            );
        }
        let (answer, question_plan) = (&streams.plans[own], &streams.plans[question]);
        let (from, asker) = (answer.sender, question_plan.sender);
        let relays = |index: usize| match &streams.plans[index].hops[..] {
            [only] => world.segments.get(only.segment.index()).is_some_and(|on| on.kind.rules().relays),
            _ => false,
        };
        let are_there = streams.are_on_their_way[own] && streams.are_on_their_way[question];
        if are_there && !(relays(own) && relays(question)) {
            return refuse(
                format!("`{}` cannot be answered: messages are answered on a segment of kind `link`", shortened(name)),
                "leave `answers` out, and give the stream a `period`",
            );
        }
        if are_there && (!question_plan.receivers.contains(&from) || answer.receivers != [asker]) {
            let name_of = |node: NodeId| world.nodes.get(node.index()).map_or("", |node| &node.name);
            return refuse(
                format!(
                    "an answer to `{}` goes from one of its receivers back to `{}`, and `{}` does not",
                    shortened(name),
                    name_of(asker),
                    shortened(&spec.name)
                ),
                "let `from` be a receiver of what it answers, and leave `to` out",
            );
        }
        let plan = &mut streams.plans[own];
        plan.trigger = Some(Trigger::Answers(StreamId(question as u16)));
        plan.offset = None;
        Some(asked)
    }
}
