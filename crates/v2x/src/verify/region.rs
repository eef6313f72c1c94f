//! Regions along the chain: each has to lie in the next one above, and the message's place in all of them.

use std::sync::Arc;

use super::ResultCode;
use super::check::{Outcome, SkipReason};
use super::config::{Context, PsidPolicy, VerifierConfig};
use super::progress::{PASSED, skipped};
use super::station::CertificateSummary;
use super::trust::Chain;
use crate::region::{Containment, Geography, NoGeography, region_contains, region_within};
use crate::types::{GeographicRegion, TwoDLocation};

/// Regions of certificates, the signer's first, and of the chain above them.
pub(super) fn regions<'a>(
    own: &'a [CertificateSummary],
    chain: Option<&'a Chain>,
) -> impl Iterator<Item = &'a Arc<GeographicRegion>> {
    own.iter().filter_map(|summary| summary.region.as_ref()).chain(chain.into_iter().flat_map(|chain| &chain.regions))
}

/// Whether a region lies in the next one above, if there is one: without any, a certificate is valid everywhere.
pub(super) fn fit_below(
    region: &GeographicRegion,
    above: Option<&Arc<GeographicRegion>>,
    geography: &dyn Geography,
) -> Containment {
    // [IEEE 1609.2-2022 §6.4.17] No part of a region lies outside that of the issuer.
    above.map_or(Containment::Inside, |above| region_within(region, above, geography))
}

/// Finds out of certificates that are new, each the issuer of the one before, whether their regions lie in the next.
pub(super) fn fit_new(new: &mut [CertificateSummary], chain: &Chain) {
    let mut above = chain.regions.first();
    for summary in new.iter_mut().rev() {
        if let Some(region) = &summary.region {
            summary.fit = fit_below(region, above, &NoGeography);
            above = Some(region);
        }
    }
}

/// Whether each region on the way up lies in the next; those in doubt are held against the map.
pub(super) fn fit(own: &[CertificateSummary], chain: &Chain, geography: &dyn Geography) -> Containment {
    let known = own.iter().fold(chain.fit, |fit, summary| fit.and(summary.fit));
    if known != Containment::Undecided {
        return known;
    }
    let above = regions(own, Some(chain)).skip(1);
    let pairs = regions(own, Some(chain)).zip(above);
    pairs.fold(Containment::Inside, |fit, (region, above)| fit.and(fit_below(region, Some(above), geography)))
}

/// Whether the message was made in all `regions`, of which `fit` says whether they lie in each other.
pub(super) fn validity_region<'a>(
    regions: impl Iterator<Item = &'a Arc<GeographicRegion>>,
    fit: Containment,
    location: Option<TwoDLocation>,
    (policy, config): (&PsidPolicy, &VerifierConfig),
    context: &Context<'_>,
) -> Result<((), Outcome), ResultCode> {
    let mut regions = regions.peekable();
    if regions.peek().is_none() {
        return Ok(skipped(SkipReason::NothingToCheck));
    }
    let Some(location) = location else {
        return if policy.is_location_needed {
            Err(ResultCode::SpduConsistencyNoGenerationLocation)
        } else {
            Ok(skipped(SkipReason::NoLocation))
        };
    };
    let mut doubt = (fit != Containment::Inside).then_some(SkipReason::RegionsNotComparable);
    for region in regions {
        match region_contains(region, location, context.geography) {
            Some(true) => {}
            Some(false) => return Err(ResultCode::SpduConsistencyGenerationLocationOutsideValidityRegion),
            None => doubt = Some(SkipReason::NoGeography),
        }
    }
    match doubt {
        None => Ok(PASSED),
        // [IEEE 1609.2-2022 §6.4.17] Whose region is not understood has no validity that could be established.
        Some(_) if config.is_region_doubt_refused => Err(ResultCode::SpduParsingUnsupportedCriticalInformationField),
        Some(reason) => Ok(skipped(reason)),
    }
}
