//! Segments.

use chronoseal_plan::{NodePlan, SegmentId};

use crate::kinds::{Context, Place, Segment, SegmentRequest, Table, named};
use crate::load::Files;
use crate::problem::Code;
use crate::schema::Schema;
use crate::source::at;
use crate::spec::StreamProtectionSpec;

impl<'s> Context<'s> {
    /// The names of the segments, in the order of the text.
    pub(super) fn segment_names(&mut self) -> Vec<&'s str> {
        let names: Vec<&str> = self.spec.segments_in_order().iter().map(|(name, _)| *name).collect();
        let schema = Schema::of(self.kinds);
        for &name in &names {
            self.identifier(name, at!["segments", name], "the segment's name");
            let of_protection = (name == StreamProtectionSpec::END_TO_END).then_some("protections of streams");
            if let Some(what) = schema.has_key_beside_segments(name).or(of_protection) {
                self.report(
                    Code::BadName,
                    at!["segments", name],
                    format!("`{name}` is a key of {what}, where the names of segments stand"),
                    "taken",
                    "give the segment another name",
                );
            }
        }
        names
    }

    /// The segments, each resolved by its kind.
    pub(super) fn segments(&mut self, nodes: &[NodePlan], files: &dyn Files) -> Vec<Segment<'s>> {
        let written = self.spec.segments_in_order();
        let mut segments = Vec::new();
        for (i, (name, spec)) in written.iter().enumerate() {
            // Another kind is a problem of shape.
            let Some(kind) = named(self.kinds, spec.kind()) else { continue };
            let place = Place::new("segments").key(name).key(spec.kind());
            let table = Table::new(Some(spec.table()), place);
            let request = SegmentRequest {
                id: SegmentId(i as u16),
                name,
                table: table.clone(),
                nodes,
                is_only_one: written.iter().filter(|(_, other)| other.kind() == spec.kind()).count() == 1,
                files,
            };
            let parts = kind.resolve_segment(&request, self);
            let required = kind.stream_schema()["required"].as_array().cloned().unwrap_or_default();
            segments.push(Segment {
                id: request.id,
                name,
                kind,
                table,
                parts,
                is_only_one: request.is_only_one,
                brought: 0..0,
                needs_table: !required.is_empty(),
            });
        }
        segments
    }
}
