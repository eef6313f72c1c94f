//! Where more pseudonyms come from: an authorization authority of any vendor.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chronoseal_v2x::pki::PermissionsError;
use chronoseal_v2x::vss::PseudonymOrder;

use super::VssError;
use super::config::Authority;
use super::credential::CredentialKeeper;
use super::server::PseudonymSource;
use super::service::Vss;
use crate::hsm::SharedHsm;
use crate::pki::{Client, Clock, Endpoint, KeyDevice, TicketOptions, read_certificate};

/// Requests tickets with the credential in the station's folder and has the station take them up. Requests are dated by `clock`.
///
/// # Errors
/// [`VssError::Authority`] if a certificate cannot be read, [`VssError::Config`] for permissions that are none.
pub fn pseudonym_source(
    folder: &Path,
    authority: &Authority,
    hsm: SharedHsm,
    clock: &Clock,
) -> Result<PseudonymSource, VssError> {
    let client = Client::new(folder, KeyDevice::new(hsm)).with_clock(clock.clone());
    source_of(client, folder, authority, clock)
}

/// As [`pseudonym_source`], beside a keeper of the credential: neither ends a key that the other is signing with.
///
/// # Errors
/// As [`pseudonym_source`].
pub fn pseudonym_source_beside(
    keeper: &CredentialKeeper,
    folder: &Path,
    authority: &Authority,
    clock: &Clock,
) -> Result<PseudonymSource, VssError> {
    source_of(keeper.client(), folder, authority, clock)
}

fn source_of(client: Client, folder: &Path, authority: &Authority, clock: &Clock) -> Result<PseudonymSource, VssError> {
    let (aa, ea) = (read_certificate(&authority.aa)?, read_certificate(&authority.ea)?);
    let mut options = TicketOptions::default();
    if !authority.permissions.is_empty() {
        let text = authority.permissions.join(" ");
        let refused = |error: PermissionsError| VssError::Config { file: folder.to_owned(), reason: error.into() };
        options.permissions = text.parse().map_err(refused)?;
    }
    let (url, clock) = (authority.url.clone(), clock.clone());
    Ok(Box::new(move |vss: &Mutex<Vss>, order: &PseudonymOrder| {
        let options = TicketOptions { validity_period: order.period, ..options.clone() };
        let endpoint = Endpoint { certificate: &aa, url: &url };
        let adopt = |id| vss.lock().unwrap_or_else(PoisonError::into_inner).adopt_ticket(id, clock.now());
        // Tickets whose answer was lost, maybe before a restart: they were granted, and count.
        let settled = client.settle(endpoint, None)?;
        let missing = order.count.saturating_sub(settled.len());
        settled.into_iter().try_for_each(adopt)?;
        for _ in 0..missing {
            adopt(client.authorize(endpoint, &ea, &options)?)?;
        }
        Ok(())
    }))
}
