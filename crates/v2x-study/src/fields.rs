//! What each field on the air adds to what an eavesdropper links by places.

use chronoseal_report::{Cell, Evidence, Table};
use chronoseal_v2x_fleet::eavesdropper::{DECORRELATION_M, Field, Fields, SHADOWING_SIGMA_DB, TOLERANCE_DB};
use chronoseal_v2x_fleet::evaluation::{Evaluation, Interval, Trial};
use chronoseal_v2x_fleet::simulation::{FleetConfig, FleetOutcome};

/// One fleet, followed by places, by places and each field, and by everything.
#[derive(Default)]
struct Followed {
    by_places: Evaluation,
    by_field: [Evaluation; Field::ALL.len()],
    by_all: Evaluation,
}

impl Followed {
    fn add(&mut self, config: &FleetConfig, outcome: &FleetOutcome) {
        let trial = |fields| Trial::by_fields(config, outcome, fields);
        self.by_places.trials.push(trial(Fields::NONE));
        for (field, evaluation) in Field::ALL.into_iter().zip(&mut self.by_field) {
            evaluation.trials.push(trial(Fields::NONE.with(field)));
        }
        self.by_all.trials.push(trial(Fields::ALL));
    }

    fn by(&self, field: Field) -> Option<Interval> {
        self.by_field[field as usize].changes_linked()
    }
}

/// Fleets that renew what shows, and one that keeps it.
#[derive(Default)]
pub(super) struct FieldsFound {
    renewed: Followed,
    /// Tickets on the hour.
    hours: Evaluation,
    kept: Followed,
}

impl FieldsFound {
    /// A run of stations that renew everything, with tickets of the week, that do not tell their sizes.
    pub(super) fn add_renewed(&mut self, config: &FleetConfig, outcome: &FleetOutcome) {
        self.renewed.add(config, outcome);
    }

    /// The same with tickets that begin on the hour of their request.
    pub(super) fn add_hours(&mut self, config: &FleetConfig, outcome: &FleetOutcome) {
        self.hours.trials.push(Trial::by_fields(config, outcome, Fields::NONE.with(Field::Ticket)));
    }

    /// A run of stations that keep what they can, with tickets that begin in the second of their request, and tell their sizes.
    pub(super) fn add_kept(&mut self, config: &FleetConfig, outcome: &FleetOutcome) {
        self.kept.add(config, outcome);
    }

    /// What stations can renew, and do: none of it links more than places do; and kept, all of it together links everybody.
    pub(super) fn is_sound(&self) -> bool {
        let renews = [Field::Dimensions, Field::LinkAddress, Field::PacketNumber, Field::Beat, Field::Ticket];
        let Some(places) = self.renewed.by_places.changes_linked() else { return true };
        let says_nothing = |field| self.renewed.by(field).is_none_or(|linked| linked.low <= places.high);
        renews.into_iter().all(says_nothing)
            && self.kept.by_all.changes_linked().is_none_or(|linked| linked.estimate >= 0.99)
    }

    /// One line a field.
    pub(super) fn table(&self, policy: &str) -> Table {
        let mut table = Table::new("What each field on the air adds to places")
            .words("changes linked by places and")
            .words("as our stations have it")
            .numbers("then", "%")
            .words("as it could be")
            .numbers("then", "%");
        let linked = |share: Option<Interval>| {
            share.map_or_else(
                || Cell::na("the run was stopped before"),
                |share| {
                    let Interval { estimate, low, high } = share.scaled(100.0);
                    Cell::estimate(estimate, [low, high], 1).from(Evidence::Simulated)
                },
            )
        };
        let mut row = |name: &str, ours: &str, then: Cell, other: &str, there: Cell| {
            table.push(vec![Cell::text(name), Cell::text(ours), then, Cell::text(other), there]);
        };
        let places = |followed: &Followed| linked(followed.by_places.changes_linked());
        row("nothing else", "", places(&self.renewed), "", places(&self.kept));
        for (field, ours, other) in [
            (Field::Dimensions, "not told", "told"),
            (Field::LinkAddress, "renewed", "kept"),
            (Field::Beat, "renewed", "kept"),
            (Field::Ticket, "valid for the week", "valid from the second of the request"),
        ] {
            row(field.name(), ours, linked(self.renewed.by(field)), other, linked(self.kept.by(field)));
        }
        let hours = linked(self.hours.changes_linked());
        let again = linked(self.renewed.by(Field::Ticket));
        row(Field::Ticket.name(), "valid for the week", again, "valid from the hour of the request", hours);
        let none = || Cell::na("CAMs are single-hop broadcasts, which carry none");
        row(Field::PacketNumber.name(), "begins anew", none(), "goes on", none());
        for (field, ours, other) in [
            (Field::FrameLength, "the same for all", "the same for all"),
            (Field::Power, "as the radio has it", "as the radio has it"),
        ] {
            row(field.name(), ours, linked(self.renewed.by(field)), other, linked(self.kept.by(field)));
        }
        let all = |followed: &Followed| linked(followed.by_all.changes_linked());
        row("all of these", "", all(&self.renewed), "", all(&self.kept));
        table
            .footnote(format!("The road and the runs of the first table, signed, an eavesdropper that hears everything; {policy}, since places tell least then."))
            .footnote("It pairs by places first, and learns from the pairs how often each field agrees in one vehicle and how often in two; the logarithm of the ratio is added to what places say, and it pairs again (Fellegi and Sunter, 1969).")
            .footnote(format!("Received power: mean over a pseudonym of what exceeds the path loss, with log-normal shadowing of {SHADOWING_SIGMA_DB:.0} dB that is 1/e after {DECORRELATION_M:.0} m (3GPP TR 36.885, clause A.1.4), Nakagami fading m = 3, and stations that radiate up to {TOLERANCE_DB:.0} dB more or less than they should (3GPP TS 36.101, table 6.2.2-1). Both documents are quoted at second hand."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_v2x_fleet::eavesdropper::Score;
    use chronoseal_v2x_fleet::simulation::Safety;

    /// Two hundred changes, of which so many are linked.
    fn evaluation(changes_linked: u64) -> Evaluation {
        let score = Score { changes: 200, changes_linked, ..Score::default() };
        Evaluation { trials: vec![Trial { score, safety: Safety::default(), messages: 0 }] }
    }

    fn followed(by_places: u64, by_beat: u64, by_all: u64) -> Followed {
        let mut followed =
            Followed { by_places: evaluation(by_places), by_all: evaluation(by_all), ..Followed::default() };
        followed.by_field = core::array::from_fn(|_| evaluation(by_places));
        followed.by_field[Field::Beat as usize] = evaluation(by_beat);
        followed
    }

    #[test]
    fn what_is_renewed_has_to_say_nothing_and_what_is_kept_everything() {
        let sound = |by_beat, by_all| {
            let hours = evaluation(190);
            FieldsFound { renewed: followed(120, by_beat, 125), hours, kept: followed(120, 200, by_all) }.is_sound()
        };
        assert!(sound(120, 200) && sound(124, 199));
        assert!(!sound(170, 200), "a beat that links although it is renewed");
        assert!(!sound(120, 190), "an eavesdropper that makes nothing of what is kept");
        assert!(FieldsFound::default().is_sound(), "a run that was stopped before says nothing");
    }

    #[test]
    fn every_field_has_its_line() {
        let (renewed, kept) = (followed(120, 121, 125), followed(120, 200, 200));
        let table = FieldsFound { renewed, hours: evaluation(190), kept }.table("all are silent");
        for field in Field::ALL {
            assert!(table.rows.iter().any(|row| row[0].text == field.name()), "{}", field.name());
        }
        let beat = table.rows.iter().find(|row| row[0].text == Field::Beat.name()).expect("a line");
        assert!(beat[2].text.starts_with("60.5 [") && beat[4].text.starts_with("100.0 ["), "{beat:?}");
    }
}
