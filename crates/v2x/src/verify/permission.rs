//! Whether permissions were passed on rightly: IEEE 1609.2 clauses 6.4.28 to 6.4.35.

use crate::types::{
    BitmapSspRange, EndEntityType, PsidGroupPermissions, PsidSsp, PsidSspRange, ServiceSpecificPermissions, SspRange,
    SubjectPermissions,
};

/// Whether a bitmap of permissions has every bit that is needed; the first octet is the version and has to be equal.
pub fn ssp_contains(granted: &[u8], needed: &[u8]) -> bool {
    match (granted, needed) {
        (_, []) => true,
        ([version, granted @ ..], [version_needed, needed @ ..]) => {
            version == version_needed
                && needed.iter().enumerate().all(|(i, bits)| granted.get(i).copied().unwrap_or(0) & bits == *bits)
        }
        ([], _) => false,
    }
}

/// Whether an issuer with `issue_permissions` may issue a certificate with `app_permissions`, `chain_length` steps below
/// itself (1: directly).
pub fn app_permissions_covered(
    issue_permissions: &[PsidGroupPermissions<'_>],
    app_permissions: &[PsidSsp<'_>],
    chain_length: u32,
) -> bool {
    app_permissions.iter().all(|wanted| {
        issue_permissions.iter().any(|group| {
            is_long_enough(group, i64::from(chain_length))
                && group.ee_type.0 & EndEntityType::APP.0 != 0
                && match &group.subject_permissions {
                    SubjectPermissions::All => true,
                    SubjectPermissions::Explicit(ranges) => ranges.iter().any(|range| range_covers(range, wanted)),
                    SubjectPermissions::Unknown(_) => false,
                }
        })
    })
}

fn is_long_enough(group: &PsidGroupPermissions<'_>, chain_length: i64) -> bool {
    // [IEEE 1609.2-2022 §6.4.30] A range of -1 sets no upper end.
    chain_length >= group.min_chain_length
        && (group.chain_length_range == -1
            || chain_length <= group.min_chain_length.saturating_add(group.chain_length_range))
}

fn range_covers(range: &PsidSspRange<'_>, wanted: &PsidSsp<'_>) -> bool {
    if range.psid != wanted.psid {
        return false;
    }
    match (&range.ssp_range, &wanted.ssp) {
        (Some(SspRange::All), _) | (None, None) => true,
        (Some(SspRange::Opaque(list)), Some(ServiceSpecificPermissions::Opaque(ssp))) => list.contains(ssp),
        // [IEEE 1609.2-2022 §6.4.28] No SSP is the same as an empty opaque one.
        (Some(SspRange::Opaque(list)), None) => list.contains(&&[][..]),
        (None, Some(ServiceSpecificPermissions::Opaque(ssp))) => ssp.is_empty(),
        (Some(SspRange::Bitmap(range)), Some(ServiceSpecificPermissions::Bitmap(ssp))) => bitmap_covers(range, ssp),
        _ => false,
    }
}

/// [IEEE 1609.2-2022 §6.4.33] All three of one length, and equal where the mask is 1.
fn bitmap_covers(range: &BitmapSspRange<'_>, ssp: &[u8]) -> bool {
    let BitmapSspRange { ssp_value, ssp_bitmask } = range;
    ssp.len() == ssp_value.len()
        && ssp.len() == ssp_bitmask.len()
        && ssp.iter().zip(*ssp_value).zip(*ssp_bitmask).all(|((bits, value), mask)| bits & mask == value & mask)
}

/// Whether an issuer with `outer` may pass on `inner` to an issuer directly below itself.
///
/// Each group of `inner` has to lie in one of `outer`'s: areas and permissions, kinds of end entities, and lengths of
/// chains, which are one longer seen from above.
pub fn issue_permissions_covered(outer: &[PsidGroupPermissions<'_>], inner: &[PsidGroupPermissions<'_>]) -> bool {
    inner.iter().all(|group| match &group.subject_permissions {
        SubjectPermissions::All => outer
            .iter()
            .any(|above| chains_within(above, group) && matches!(above.subject_permissions, SubjectPermissions::All)),
        SubjectPermissions::Explicit(ranges) => ranges.iter().all(|range| {
            outer.iter().any(|above| {
                chains_within(above, group)
                    && match &above.subject_permissions {
                        SubjectPermissions::All => true,
                        SubjectPermissions::Explicit(list) => list.iter().any(|outer| range_within(outer, range)),
                        SubjectPermissions::Unknown(_) => false,
                    }
            })
        }),
        SubjectPermissions::Unknown(_) => false,
    })
}

fn chains_within(outer: &PsidGroupPermissions<'_>, inner: &PsidGroupPermissions<'_>) -> bool {
    let min = inner.min_chain_length.saturating_add(1);
    let is_end_within = match (outer.chain_length_range, inner.chain_length_range) {
        (-1, _) => true,
        (_, -1) => false,
        (outer_range, inner_range) => {
            min.saturating_add(inner_range) <= outer.min_chain_length.saturating_add(outer_range)
        }
    };
    min >= outer.min_chain_length && is_end_within && inner.ee_type.0 & !outer.ee_type.0 == 0
}

fn range_within(outer: &PsidSspRange<'_>, inner: &PsidSspRange<'_>) -> bool {
    if outer.psid != inner.psid {
        return false;
    }
    match (&outer.ssp_range, &inner.ssp_range) {
        (Some(SspRange::All), _) | (None, None) => true,
        (Some(SspRange::Opaque(outer)), Some(SspRange::Opaque(inner))) => inner.iter().all(|ssp| outer.contains(ssp)),
        (Some(SspRange::Bitmap(outer)), Some(SspRange::Bitmap(inner))) => {
            bitmap_covers(outer, inner.ssp_value)
                && inner.ssp_bitmask.len() == outer.ssp_bitmask.len()
                && inner.ssp_bitmask.iter().zip(outer.ssp_bitmask).all(|(inner, outer)| outer & !inner == 0)
        }
        _ => false,
    }
}
