//! Identifiers that gateways pass on by.

use chronoseal_wire::can::IdFilter;

use super::messages::can_id;
use crate::kinds::{Context, Place};
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::BridgedFramesSpec;

/// The identifiers that an entry of `bridges` means.
pub(crate) fn filter(at: &Place<'_>, spec: &BridgedFramesSpec, context: &mut Context<'_>) -> IdFilter {
    let id = can_id(&at.clone().key("id"), &spec.id, spec.extended, context);
    let Some(text) = &spec.mask else { return IdFilter::exactly(id) };
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let mask = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')));
    let largest: u32 = if spec.extended { 0x1fff_ffff } else { 0x7ff };
    let mask = mask.filter(|mask| *mask <= largest).unwrap_or_else(|| {
        context.report(
            Code::BadCanId,
            &at.clone().key("mask"),
            format!("`{}` is no mask of {} bits", shortened(text), if spec.extended { 29 } else { 11 }),
            "no mask",
            format!("write it in hexadecimal, at most {largest:#X}: each bit that is 1 has to agree with `id`"),
        );
        largest
    });
    IdFilter { id, mask }
}
