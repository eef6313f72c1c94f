//! What is written of a CAN segment, to what will be run.

use chronoseal_core::Rate;
use chronoseal_plan::{CanSegment, Facet};
use chronoseal_wire::can::timing::Phase;
use chronoseal_wire::can::{BitTiming, BitTimingConfig, BitTimingError};

use super::spec::{CanSegmentSpec, MailboxesSpec};
use crate::kinds::{Context, SegmentParts, SegmentRequest};
use crate::problem::Code;

/// A segment with its defaults filled in.
pub(super) fn resolve(request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
    let spec: CanSegmentSpec = request.table.read(context)?;
    let (bits, timing) = timing(request, &spec, context);
    let segment = CanSegment {
        bits,
        timing,
        has_data_phase: spec.data_bit_rate.is_some(),
        fifo_mailboxes: spec.mailboxes == MailboxesSpec::Fifo,
    };
    Some(SegmentParts::new(Facet::new(segment)))
}

/// The bits as asked for and as controllers make them; usual ones if these cannot be made.
fn timing(
    request: &SegmentRequest<'_>,
    spec: &CanSegmentSpec,
    context: &mut Context<'_>,
) -> (BitTimingConfig, BitTiming) {
    let mut bits = BitTimingConfig::new(spec.bit_rate.0, spec.data_bit_rate.map_or(spec.bit_rate.0, |rate| rate.0));
    // Controllers are set to thousandths of a bit.
    bits.nominal_sample_point_permille = (spec.sample_point.0.0 / 10).min(1000) as u16;
    bits.data_sample_point_permille = match spec.data_bit_rate {
        Some(_) => (spec.data_sample_point.0.0 / 10).min(1000) as u16,
        None => bits.nominal_sample_point_permille,
    };
    let error = match BitTiming::new(&bits) {
        Ok(timing) => return (bits, timing),
        Err(error) => error,
    };
    let key = match error {
        BitTimingError::RateOutOfRange { phase: Phase::Data, .. }
        | BitTimingError::RateNotReachable { phase: Phase::Data, .. }
        | BitTimingError::DataBelowNominal { .. } => "data_bit_rate",
        BitTimingError::SamplePointNotReachable { phase: Phase::Nominal, .. }
        | BitTimingError::RoundTripBeyondSamplePoint { .. } => "sample_point",
        BitTimingError::SamplePointNotReachable { .. } => "data_sample_point",
        _ => "bit_rate",
    };
    context.report(
        Code::BadBitTiming,
        &request.table.at(key),
        error.to_string(),
        "cannot be timed",
        "500kbit/s with 2Mbit/s in the data phase and sample points of 80% always work",
    );
    let usual = BitTimingConfig::new(Rate(500_000), Rate(2_000_000));
    (usual, BitTiming::new(&usual).expect("a clock of 80 MHz makes 500 kbit/s and 2 Mbit/s"))
}
