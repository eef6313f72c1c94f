//! Groups of 2 to 32 units: figure 15 by the source's formulas, and the same groups executed.

use std::collections::BTreeMap;

use chronoseal_analysis::group_key::{BusCosts, PartyCosts, bus_time, exchanges, group, orchestration};
use chronoseal_core::Duration;
use chronoseal_groupkey::frame_count::frames_of_group;
use chronoseal_groupkey::{Profile, Scheme, Transport};
use chronoseal_report::{Axis, Cell, Chart, Evidence, Mark, Series, SeriesKind, Table};
use chronoseal_results::rows::STRANGER_FRAMES;
use chronoseal_runner::Run;

use super::published::{CLASSICAL_BUS, Platform, Tables};
use super::scenarios::Group;
use crate::StudyError;

/// The largest group of the source.
const N_MAX: u32 = 32;

/// As the source names its schemes.
const fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::FullTree => "full tree",
        Scheme::WithoutOrchestrator => "tree without the orchestrator in each logical ECU",
        Scheme::Symmetric => "symmetric distribution",
    }
}

/// An executed group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Executed {
    /// From the start to the last node with the key.
    pub(super) time: Duration,
    /// Frames of the exchange on the bus.
    pub(super) frames: u64,
    /// True if every node had the key.
    pub(super) complete: bool,
}

/// Frames of key exchanges: those that belong to no stream.
fn key_frames(run: &Run) -> Option<u64> {
    let series = run.summary.segments.first()?.series(STRANGER_FRAMES)?;
    u64::try_from(series.total).ok()
}

/// Executes one group.
pub(super) fn execute(setting: &Group<'_>) -> Result<Executed, StudyError> {
    let run = setting.simulate()?;
    let (Some(meta), Some(found), Some(frames)) = (&run.meta.group, &run.summary.group, key_frames(&run)) else {
        return Err(StudyError::Scenario("the simulated run had no group".into()));
    };
    let complete_ns = found.keys.first().map_or(0, |key| key.complete_ns());
    Ok(Executed { time: Duration::from_ns(complete_ns - meta.start_ns), frames, complete: found.is_established(meta) })
}

/// An executed group and the removal of one member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    /// From the start to the last node with the first key.
    pub(super) established: Duration,
    /// Frames of the removal.
    pub(super) frames: u64,
    /// From the removal to the last node with the new key.
    pub(super) time: Duration,
}

/// Executes a group and the removal of one member.
pub(super) fn execute_removal(setting: &Group<'_>) -> Result<Removed, StudyError> {
    const AT: (&str, Duration) = ("10s", Duration::from_s(10));
    let established = execute(setting)?;
    let setting = Group { removal: Some(AT.0), ..setting.clone() };
    let run = setting.simulate()?;
    let renewed = run.summary.group.as_ref().and_then(|group| group.keys.get(1));
    let (Some(renewed), Some(frames)) = (renewed, key_frames(&run)) else {
        return Err(StudyError::Scenario("a removal gave no new key".into()));
    };
    Ok(Removed {
        established: established.time,
        frames: frames - established.frames,
        time: Duration::from_ns(renewed.complete_ns()) - AT.1,
    })
}

/// Every scheme at every size, executed over FourQ on TC297 and CAN-FD.
pub(super) type Sweep = BTreeMap<(Scheme, u32), Executed>;

/// Sizes that are executed: every one of the source's range that a reader looks for, odd and even.
const SIZES: [u32; 10] = [2, 3, 4, 5, 8, 12, 16, 24, 31, 32];

pub(super) fn sweep(seed: u64) -> Result<Sweep, StudyError> {
    let mut sweep = Sweep::new();
    for scheme in Scheme::ALL {
        for n in SIZES {
            sweep.insert((scheme, n), execute(&Group { n, scheme, seed, ..Group::SOURCE })?);
        }
    }
    Ok(sweep)
}

/// The formulas with one platform, curve and bus.
struct Model {
    costs: PartyCosts,
    bus: BusCosts,
}

impl Model {
    fn of(platform: Platform) -> Self {
        let tables = Tables::read();
        Self { costs: tables.party_in_exchange(platform), bus: tables.infineon_bus() }
    }

    fn total(&self, scheme: Scheme, n: u32) -> Duration {
        group(scheme, n, &self.costs, &self.bus) + orchestration(scheme, n, self.costs.sign, &self.bus)
    }

    fn curve(&self, scheme: Scheme, of: impl Fn(&Self, Scheme, u32) -> Duration) -> Vec<(f64, f64)> {
        (2..=N_MAX).map(|n| (f64::from(n), of(self, scheme, n).as_ms_f64())).collect()
    }
}

/// Figure 15, (i) to (v), with executed points where there are some.
pub(super) fn figure_15(sweep: &Sweep) -> Vec<Chart> {
    let tables = Tables::read();
    let fourq = Model::of(Platform::Tc297);
    let p256 = Model { costs: tables.party_with_p256(Platform::Tc297), bus: tables.infineon_bus() };
    let classical = Model { bus: CLASSICAL_BUS, ..Model::of(Platform::Tc297) };
    let total = |model: &Model, scheme, n| model.total(scheme, n);
    let line = |name: &str, points| Series { name: name.into(), kind: SeriesKind::Line, points };
    let executed = |scheme: Scheme| Series {
        name: format!("{}, executed", name(scheme)),
        kind: SeriesKind::Points,
        points: sweep
            .iter()
            .filter(|((known, _), _)| *known == scheme)
            .map(|((_, n), executed)| (f64::from(*n), executed.time.as_ms_f64()))
            .collect(),
    };
    let axes = |caption: &str, y: &str, series| Chart {
        caption: caption.into(),
        x: Axis::linear("ECUs", ""),
        y: Axis::linear(y, "ms"),
        series,
    };
    let chart = |caption: &str, series| axes(caption, "time to the group key", series);
    let full = Scheme::FullTree;
    let tree = Scheme::WithoutOrchestrator;
    let mut by_scheme: Vec<Series> =
        Scheme::ALL.into_iter().map(|scheme| line(name(scheme), fourq.curve(scheme, total))).collect();
    by_scheme.extend(Scheme::ALL.into_iter().map(executed));
    vec![
        chart(
            "Figure 15 (i): the curve (full tree, TC297, orchestration included)",
            vec![line("FourQ", fourq.curve(full, total)), line("P-256", p256.curve(full, total))],
        ),
        chart("Figure 15 (ii): the scheme (FourQ, TC297, orchestration included)", by_scheme),
        chart(
            "Figure 15 (iii): the board (tree without the orchestrator in each logical ECU, orchestration included)",
            vec![
                line("TC297, 24 ms an exchange", fourq.curve(tree, total)),
                line("TC224, 60 ms an exchange", Model::of(Platform::Tc224).curve(tree, total)),
            ],
        ),
        chart(
            "Figure 15 (iv): the bus (full tree, FourQ, TC297, orchestration included)",
            vec![line("CAN-FD", fourq.curve(full, total)), line("CAN", classical.curve(full, total))],
        ),
        axes(
            "Figure 15 (v): time on the bus alone (full tree, orchestration included)",
            "time on the bus, orchestration included",
            vec![
                line("CAN-FD", fourq.curve(full, |model, scheme, n| bus_time(scheme, n, &model.bus))),
                line("CAN", classical.curve(full, |model, scheme, n| bus_time(scheme, n, &model.bus))),
            ],
        ),
    ]
}

/// Every executed group against the source's bound.
pub(super) fn bounds(sweep: &Sweep) -> Table {
    let model = Model::of(Platform::Tc297);
    let mut table = Table::new("Time to the group key: the source's bound, and executed (FourQ, TC297, CAN-FD)")
        .words("scheme")
        .numbers("ECUs", "")
        .numbers("bound", "ms")
        .numbers("executed", "ms")
        .numbers("executed / bound", "")
        .words("within")
        .footnote(
            "The bound is the source's formula with its measured costs, orchestration included. Executed: from the start \
             to the last node with the key, every message and signature made and checked, the costs of the platform \
             charged, the bus exact to the bit. Members that only listen compute too; the formula does not count them, \
             and on a chain of logical ECUs they are on the critical path.",
        );
    for ((scheme, n), executed) in sweep {
        let bound = model.total(*scheme, *n);
        let ratio = executed.time.as_ms_f64() / bound.as_ms_f64();
        table.push(vec![
            Cell::text(name(*scheme)),
            Cell::count(u64::from(*n)),
            Cell::number(bound.as_ms_f64(), 3).from(Evidence::Recomputed),
            if executed.complete {
                Cell::number(executed.time.as_ms_f64(), 3).from(Evidence::Simulated)
            } else {
                Cell::text("no key").marked(Mark::Bad)
            },
            Cell::number(ratio, 3).from(Evidence::Simulated),
            if ratio <= 1.0 { Cell::text("yes").marked(Mark::Good) } else { Cell::text("no").marked(Mark::Warn) },
        ]);
    }
    table
}

/// Thirty-two units on one bus, on two across a gateway, and as two groups side by side (figure 3).
pub(super) fn sub_buses(sweep: &Sweep, seed: u64) -> Result<Table, StudyError> {
    let mut table = Table::new("32 ECUs on one bus or on two (FourQ, TC297, CAN-FD, executed)")
        .words("scheme")
        .numbers("one bus", "ms")
        .numbers("two buses, one group across a gateway", "ms")
        .numbers("two buses, a group each, side by side", "ms")
        .footnote(
            "The gateway stores every frame and passes it on after 50 us. Side by side, each bus has an orchestrator and a \
             key of its own; they do not wait for each other, so it takes as long as 16 ECUs on one bus.",
        );
    for scheme in Scheme::ALL {
        let across = execute(&Group { n: N_MAX, scheme, buses: 2, seed, ..Group::SOURCE })?;
        let on_one_bus = |n: u32| match sweep.get(&(scheme, n)) {
            Some(executed) => Cell::number(executed.time.as_ms_f64(), 3).from(Evidence::Simulated),
            None => Cell::na("not executed at this size"),
        };
        table.push(vec![
            Cell::text(name(scheme)),
            on_one_bus(N_MAX),
            if across.complete {
                Cell::number(across.time.as_ms_f64(), 3).from(Evidence::Simulated)
            } else {
                Cell::text("no key").marked(Mark::Bad)
            },
            on_one_bus(N_MAX / 2),
        ]);
    }
    Ok(table)
}

/// How many executed groups lie within the source's bound, and how many there are.
pub(super) fn within_bound(sweep: &Sweep) -> (usize, usize) {
    let model = Model::of(Platform::Tc297);
    let within =
        sweep.iter().filter(|((scheme, n), executed)| executed.complete && executed.time <= model.total(*scheme, *n));
    (within.count(), sweep.len())
}

/// Frames of a group of 32: printed, by the closed form, and counted on the bus.
pub(super) struct Frames {
    pub(super) table: Table,
    /// True if every count on the bus equals the form.
    pub(super) agree: bool,
}

pub(super) fn frames(seed: u64) -> Result<Frames, StudyError> {
    const PRINTED: [[u64; 3]; 2] = [[315, 160, 224], [2016, 1024, 1408]];
    let mut table =
        Table::new("Frames until 32 ECUs and the orchestrator share a key, confirmation by the group apart")
            .words("scheme")
            .words("bus")
            .words("profile")
            .numbers("exchanges", "")
            .numbers("source's count at n = 32", "")
            .numbers("closed form", "")
            .numbers("counted on the bus", "")
            .words("equal")
            .footnote(
                "The source's general forms are 10n - 5, 5n, 7n and 64n - 32, 32n, 44n. The hardened profile sends its \
             epoch with each orchestration and a tag with each confirmation; its group confirmation, a tag from each \
             member and one signed word of the orchestrator, is counted on the bus and not in the form.",
            );
    let mut agree = true;
    for (transport, printed) in [Transport::Fd, Transport::Classical].into_iter().zip(PRINTED) {
        for profile in Profile::ALL {
            for (scheme, printed) in Scheme::ALL.into_iter().zip(printed) {
                let setting = Group { scheme, transport, profile, seed, ..Group::SOURCE };
                let counted = execute(&setting)?;
                let form = u64::from(frames_of_group(scheme, profile, transport, 32, N_MAX));
                let confirmation = match profile {
                    Profile::AsPublished => 0,
                    Profile::Hardened => u64::from(chronoseal_groupkey::frame_count::frames_of_group_confirmation(
                        profile, transport, N_MAX,
                    )),
                };
                let equal = counted.complete && counted.frames == form + confirmation;
                agree &= equal && (profile == Profile::Hardened || form == printed);
                table.push(vec![
                    Cell::text(name(scheme)),
                    Cell::text(transport.name()),
                    Cell::text(profile.name()),
                    Cell::count(u64::from(exchanges(scheme, N_MAX))),
                    match profile {
                        Profile::AsPublished => Cell::count(printed).from(Evidence::Printed),
                        Profile::Hardened => Cell::na("the source has no hardened profile"),
                    },
                    Cell::count(form).from(Evidence::Recomputed),
                    Cell::count(counted.frames).from(Evidence::Simulated),
                    if equal { Cell::text("yes").marked(Mark::Good) } else { Cell::text("no").marked(Mark::Bad) },
                ]);
            }
        }
    }
    Ok(Frames { table, agree })
}

#[cfg(test)]
mod tests {
    use chronoseal_catalog::{Prepared, can};
    use chronoseal_core::{Event, EventKind, NodeId, Priority, SimTime};
    use chronoseal_groupkey::{Identifier, Step};
    use chronoseal_media::can::CanBus;
    use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer};
    use chronoseal_plan::SegmentId;
    use chronoseal_sim::{FrameContext, Observer};
    use chronoseal_wire::can::{CanFrameView, CanId};

    use super::*;

    /// A bus that changes one bit of one confirmation, an encrypted signature, before it is sent.
    struct Corrupting {
        bus: CanBus,
        is_done: bool,
    }

    impl Medium for Corrupting {
        fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
            self.bus.start(now, frames, out);
        }

        fn handle_frame(
            &mut self,
            now: SimTime,
            from: Attachment,
            priority: Priority,
            frame: FrameId,
            frames: &mut FrameStore,
            out: &mut Vec<MediumOutput>,
        ) {
            let step = CanFrameView::new_checked(frames.bytes(frame)).ok().and_then(|view| match view.id() {
                CanId::Extended(id) => Identifier::from_can_id(id).map(|identifier| identifier.step),
                CanId::Standard(_) => None,
            });
            if step == Some(Step::ConfirmationFirst) && !self.is_done {
                self.is_done = true;
                frames.buffer(frame)[20] ^= 1;
            }
            self.bus.handle_frame(now, from, priority, frame, frames, out);
        }

        fn handle_timer(
            &mut self,
            now: SimTime,
            timer: MediumTimer,
            frames: &mut FrameStore,
            out: &mut Vec<MediumOutput>,
        ) {
            self.bus.handle_timer(now, timer, frames, out);
        }
    }

    #[derive(Default)]
    struct Counted {
        frames: u64,
        refused: u64,
    }

    impl Observer for Counted {
        fn event(&mut self, _: SimTime, _: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
            if let EventKind::ExchangeAborted(_) = event.kind {
                self.refused += 1;
            }
        }
        fn transmit(&mut self, _: SimTime, _: NodeId, _: FrameContext<'_>) {
            self.frames += 1;
        }
    }

    #[test]
    fn one_corrupted_signature_makes_its_row_fail() {
        let setting = Group { n: 4, scheme: Scheme::WithoutOrchestrator, ..Group::SOURCE };
        let plan = setting.plan().unwrap_or_else(|error| panic!("{error}"));
        let form = u64::from(frames_of_group(setting.scheme, setting.profile, setting.transport, 32, 4));
        for corrupt in [false, true] {
            let prepared = Prepared::new(&plan).unwrap_or_else(|error| panic!("{error}"));
            let bus = can::bus(&prepared, SegmentId(0), &[]).unwrap_or_else(|error| panic!("{error}"));
            let bus = Corrupting { bus, is_done: !corrupt };
            let counted = chronoseal_sim::run_on(&prepared, bus, Counted::default(), &mut |_| true)
                .unwrap_or_else(|error| panic!("{error}"))
                .observer;
            assert_eq!(counted.refused > 0, corrupt, "refused {}", counted.refused);
            assert_eq!(counted.frames == form, !corrupt, "{} frames for {form}", counted.frames);
        }
    }

    #[test]
    fn an_executed_group_takes_the_frames_of_the_closed_form() {
        for scheme in Scheme::ALL {
            let setting = Group { n: 5, scheme, transport: Transport::Classical, ..Group::SOURCE };
            let executed = execute(&setting).unwrap_or_else(|error| panic!("{error}"));
            assert!(executed.complete);
            let form = frames_of_group(scheme, setting.profile, setting.transport, 32, 5);
            assert_eq!(executed.frames, u64::from(form), "{scheme:?}");
        }
    }

    #[test]
    fn another_seed_makes_other_messages_and_the_same_seed_the_same() {
        let time = |seed| {
            let setting = Group { n: 2, scheme: Scheme::WithoutOrchestrator, seed, ..Group::SOURCE };
            execute(&setting).unwrap_or_else(|error| panic!("{error}")).time
        };
        assert_eq!(time(1), time(1));
        // Other keys and signatures take another number of stuff bits.
        assert!((2..6).any(|seed| time(seed) != time(1)));
    }

    #[test]
    fn a_group_across_a_gateway_comes_to_its_key() {
        let setting = Group { n: 4, scheme: Scheme::FullTree, buses: 2, ..Group::SOURCE };
        let executed = execute(&setting).unwrap_or_else(|error| panic!("{error}"));
        assert!(executed.complete, "{executed:?}");
    }
}
