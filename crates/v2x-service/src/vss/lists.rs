//! Trust lists and revocation lists of a station: where they come from, and where they are kept.
//!
//! Each list that is taken is written down as it came, so that a station that starts without a network knows what it knew, and
//! takes nothing older.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronoseal_v2x::certificate::{CertificateError, CertificateForm};
use chronoseal_v2x::coer::DecodeErrorKind;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{HeldLists, ListName, ListRefusal, Taken};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Time64};
use chronoseal_v2x::verify::Verifier;

use super::VssError;
use super::config::{Lists, Trust};
use super::service::Vss;
use super::statistics::Record;
use crate::pki::{CRL_TYPE, CTL_TYPE, HttpClient, ServiceError};
use crate::private::{private_folder, replace};

/// How long a distribution centre may take for a list.
const FETCH_TIME_MAX: Duration = Duration::from_secs(10);
/// Extension of the files lists are kept in.
const EXTENSION: &str = "list";

/// A list that came from somewhere, or why it did not.
#[derive(Debug)]
pub struct Offered {
    /// Where from: a file or an address.
    pub from: String,
    /// The list, signed.
    pub list: Result<Vec<u8>, ServiceError>,
}

/// Where lists come from.
#[derive(Clone, Debug)]
pub struct ListSource {
    files: Vec<PathBuf>,
    centres: Vec<String>,
    ectl: Option<String>,
    every: Duration,
    http: HttpClient,
}

impl ListSource {
    /// As configured.
    #[must_use]
    pub fn new(lists: &Lists) -> Self {
        Self {
            files: lists.files.clone(),
            centres: lists.centres.iter().map(|centre| centre.trim_end_matches('/').to_owned()).collect(),
            ectl: lists.ectl.clone(),
            every: Duration::from_secs(lists.refresh_s),
            http: HttpClient::new(FETCH_TIME_MAX),
        }
    }

    /// Gives up a distribution centre that takes longer.
    #[must_use]
    pub fn with_time_max(mut self, time_max: Duration) -> Self {
        self.http = HttpClient::new(time_max);
        self
    }

    /// How often lists are fetched; none if there is nothing to fetch.
    #[must_use]
    pub fn every(&self) -> Option<Duration> {
        let has_any = !self.files.is_empty() || !self.centres.is_empty() || self.ectl.is_some();
        has_any.then_some(self.every)
    }

    /// Reads the files.
    #[must_use]
    pub fn read_files(&self) -> Vec<Offered> {
        let read = |file: &PathBuf| {
            let list = fs::read(file).map_err(|source| ServiceError::File { path: file.clone(), source });
            Offered { from: file.display().to_string(), list }
        };
        self.files.iter().map(read).collect()
    }

    /// Fetches the trust list manager's list.
    #[must_use]
    pub fn fetch_ectl(&self) -> Vec<Offered> {
        let fetch = |url: &String| Offered { from: url.clone(), list: self.http.get(url, CTL_TYPE) };
        self.ectl.iter().map(fetch).collect()
    }

    /// Fetches both lists of each root, from the centres of the configuration and those that lists name for it.
    #[must_use]
    pub fn fetch_lists(&self, wanted: &Wanted) -> Vec<Offered> {
        let mut offered = Vec::new();
        for root in &wanted.roots {
            let named = wanted.centres.iter().filter(|(_, roots)| roots.contains(root)).map(|(url, _)| url);
            let centres: BTreeSet<&String> = self.centres.iter().chain(named).collect();
            for centre in centres {
                for (what, content_type) in [("getctl", CTL_TYPE), ("getcrl", CRL_TYPE)] {
                    let from = format!("{centre}/{what}/{root}");
                    let list = self.http.get(&from, content_type);
                    offered.push(Offered { from, list });
                }
            }
        }
        offered
    }
}

/// Whose lists are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Every root that is trusted.
    pub roots: Vec<HashedId8>,
    /// Distribution centres that lists name, and the roots whose lists they have.
    pub centres: BTreeMap<String, Vec<HashedId8>>,
}

/// The lists of a station, in its folder.
#[derive(Debug)]
pub(super) struct StoredLists {
    held: HeldLists,
    folder: PathBuf,
    /// What was wrong with what came from where, the last time.
    refusals: BTreeMap<String, String>,
    overdue: BTreeSet<ListName>,
}

impl StoredLists {
    /// Takes up the lists that were written down. What is wrong with a file is said, and the file left.
    pub(super) fn open(
        held: HeldLists,
        station: &Path,
        now: Time64,
        warnings: &mut Vec<String>,
    ) -> Result<Self, VssError> {
        let folder = station.join("lists");
        private_folder(&folder).map_err(|error| VssError::io(&folder, error))?;
        let mut lists = Self { held, folder, refusals: BTreeMap::new(), overdue: BTreeSet::new() };
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&lists.folder).map_err(|error| VssError::io(&lists.folder, error))? {
            let file = entry.map_err(|error| VssError::io(&lists.folder, error))?.path();
            if file.extension().is_some_and(|extension| extension == EXTENSION) {
                files.push(file);
            }
        }
        // The trust list manager's first: the roots it names sign the others.
        files.sort_by_key(|file| !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ectl")));
        for file in files {
            let bytes = fs::read(&file).map_err(|error| VssError::io(&file, error))?;
            for message in messages(&bytes) {
                if let Err(refusal) = lists.held.offer(message, now) {
                    warnings.push(format!("{} is not used: {refusal}", file.display()));
                    break;
                }
            }
        }
        Ok(lists)
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted { roots: self.held.roots().into_keys().collect(), centres: self.held.centres() }
    }

    /// Takes what is newer than what is held, all of it at once: first on the disk, then into use.
    pub(super) fn take(
        &mut self,
        offered: Vec<Offered>,
        now: Time64,
        verifier: &mut Verifier,
        record: &mut Record,
    ) -> Result<(), VssError> {
        let mut held = self.held.clone();
        let mut new = BTreeSet::new();
        for Offered { from, list } in offered {
            let taken = list.map_err(|error| error.to_string());
            let taken =
                taken.and_then(|list| held.offer(&list, now).map_err(|refusal: ListRefusal| refusal.to_string()));
            match taken {
                Ok(taken) => {
                    self.refusals.remove(&from);
                    if let Taken::New(name) | Taken::Renewed(name) = taken {
                        new.insert(name);
                    }
                    if let Taken::New(name) = taken {
                        record.note(now, &format!("{name} taken from {from}{}", number(&held, name)));
                    }
                }
                Err(reason) if self.refusals.get(&from) == Some(&reason) => {}
                Err(reason) => {
                    record.statistics.count("lists", "refused");
                    record.note(now, &format!("no list from {from}, the one that is held stays: {reason}"));
                    self.refusals.insert(from, reason);
                }
            }
        }
        for name in &new {
            let file = self.folder.join(format!("{name}.{EXTENSION}"));
            let bytes = framed(&held.messages(*name));
            replace(&file, &bytes).map_err(|error| VssError::io(&file, error))?;
            record.statistics.count("lists", "taken");
        }
        self.held = held;
        if !new.is_empty() {
            self.trust(verifier, now, record);
        }
        let overdue: BTreeSet<ListName> = self.held.overdue(now).into_iter().collect();
        for name in overdue.difference(&self.overdue) {
            record.note(now, &format!("{name} should have been replaced by now"));
        }
        self.overdue = overdue;
        Ok(())
    }

    /// Puts into use what is held.
    pub(super) fn trust(&self, verifier: &mut Verifier, now: Time64, record: &mut Record) -> Vec<String> {
        let (trust, problems) = self.held.trust();
        *verifier.trust_mut() = trust;
        let problems: Vec<String> =
            problems.into_iter().map(|(id, error)| format!("certificate {id} is not trusted: {error}")).collect();
        problems.iter().for_each(|problem| record.note(now, problem));
        problems
    }
}

fn number(held: &HeldLists, name: ListName) -> String {
    held.number(name).map(|number| format!(", number {number}")).unwrap_or_default()
}

/// Messages one after the other, each with its length in front.
fn framed(messages: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        bytes.extend(u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(message);
    }
    bytes
}

/// What [`framed`] put together; the rest of a damaged file is one message that nobody signed.
fn messages(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let whole = bytes.split_first_chunk::<4>().and_then(|(len, rest)| {
            rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX))
        });
        let (message, rest) = whole.unwrap_or((bytes, &[]));
        messages.push(message);
        bytes = rest;
    }
    messages
}

impl Vss {
    /// Whose lists are wanted.
    pub fn wanted_lists(&self) -> Wanted {
        self.lists.wanted()
    }

    /// Takes those of the lists that are newer than what is held, all at once. Why one is refused is in the log, once.
    ///
    /// # Errors
    /// [`VssError::Io`] if one cannot be written down; then none is taken.
    pub fn take_lists(&mut self, offered: Vec<Offered>, now: Time64) -> Result<(), VssError> {
        self.lists.take(offered, now, &mut self.verifier, &mut self.record)
    }

    /// Whether the authority of the ticket in use is revoked, and which it is.
    pub(super) fn revoked_authority(&self) -> Option<HashedId8> {
        let issuer = self.station.certificate()?.certificate().view().issuer.digest()?;
        self.verifier.trust().is_authority_revoked(issuer).then_some(issuer)
    }
}

/// Whom the configuration trusts, before any list.
pub(super) fn trusted(trust: &Trust) -> Result<HeldLists, VssError> {
    let read = |file: &PathBuf| -> Result<CertificateBuf, VssError> {
        let bytes = fs::read(file).map_err(|error| VssError::io(file, error))?;
        CertificateBuf::with_rules(bytes.as_slice(), trust.rules()).map_err(|reason| match reason.kind {
            DecodeErrorKind::NotCanonical(_) => VssError::NotCanonical { file: file.clone(), reason },
            _ => VssError::Corrupt { file: file.clone(), reason: reason.to_string() },
        })
    };
    let signer = |file: &PathBuf| {
        let corrupt = |error: CertificateError| VssError::Corrupt { file: file.clone(), reason: error.to_string() };
        SignerCertificate::new(read(file)?).map_err(corrupt)
    };
    let roots = trust.roots.iter().map(signer).collect::<Result<Vec<_>, _>>()?;
    let authorities = trust.authorities.iter().map(read).collect::<Result<_, _>>()?;
    let manager = trust.tlm.as_ref().map(signer).transpose()?;
    Ok(HeldLists::new(roots, authorities, manager, (trust.rules(), CertificateForm::Canonical)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_framed_comes_apart_and_what_is_damaged_is_no_list() {
        let bytes = framed(&[b"one", b"", b"three"]);
        assert_eq!(messages(&bytes), [&b"one"[..], b"", b"three"]);
        assert_eq!(messages(&bytes[..5]), [&bytes[..5]]);
        assert!(messages(&[]).is_empty());
    }
}
