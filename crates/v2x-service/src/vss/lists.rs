//! Trust lists and revocation lists of a station: where they come from, and where they are kept.
//!
//! Each list that is taken is written down as it came, so that a station that starts without a network knows what it knew, and
//! takes nothing older.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use chronoseal_v2x::certificate::{CertificateError, CertificateForm};
use chronoseal_v2x::coer::DecodeErrorKind;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{HeldLists, ListName, ListRefusal, Taken};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Time64};
use chronoseal_v2x::verify::{TrustStore, Verifier};

use super::VssError;
use super::config::{Lists, Trust};
use super::server::lock;
use super::service::Vss;
use super::statistics::Record;
use crate::pki::{CRL_TYPE, CTL_TYPE, Clock, HttpClient, ServiceError};
use crate::private::{private_folder, replace};

/// How long a distribution centre may take for a list.
const FETCH_TIME_MAX: Duration = Duration::from_secs(10);
/// So many changes of a trust list are put together before it is fetched whole.
const CHANGES_MAX: usize = 16;
/// Extension of the files lists are kept in.
const EXTENSION: &str = "list";

/// A list that came from somewhere, or why it did not.
#[derive(Debug)]
pub struct Offered {
    /// Where from: a file or an address.
    pub from: String,
    /// The list, signed.
    pub list: Result<Vec<u8>, ServiceError>,
    /// The list it changes, if what changed was asked for. If it does not fit, the whole list is wanted.
    pub changes: Option<ListName>,
}

impl Offered {
    /// A list that nobody asked the changes of.
    #[must_use]
    pub fn new(from: impl Into<String>, list: Result<Vec<u8>, ServiceError>) -> Self {
        Self { from: from.into(), list, changes: None }
    }
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
            Offered::new(file.display().to_string(), list)
        };
        self.files.iter().map(read).collect()
    }

    /// Fetches the trust list manager's list, or what changed since the one that is held.
    #[must_use]
    pub fn fetch_ectl(&self, wanted: &Wanted) -> Vec<Offered> {
        let held = wanted.ectl.map(|(manager, number)| (ListName::Ectl(manager), number));
        self.ectl.iter().map(|url| self.fetch_list(url.clone(), held)).collect()
    }

    /// Fetches both lists of each root, from the centres of the configuration and those that lists name for it; of a trust list that
    /// is held, what changed since.
    #[must_use]
    pub fn fetch_lists(&self, wanted: &Wanted) -> Vec<Offered> {
        let mut offered = Vec::new();
        for root in &wanted.roots {
            let held = wanted.numbers.get(root).map(|number| (ListName::Ctl(*root), *number));
            for centre in self.centres_of(*root, wanted) {
                offered.push(self.fetch_list(format!("{centre}/getctl/{root}"), held));
                let from = format!("{centre}/getcrl/{root}");
                let list = self.http.get(&from, CRL_TYPE);
                offered.push(Offered::new(from, list));
            }
        }
        offered
    }

    /// Fetches the trust lists that the changes which came did not lead to.
    #[must_use]
    pub fn fetch_whole(&self, wanted: &Wanted) -> Vec<Offered> {
        let mut offered = Vec::new();
        for name in &wanted.whole {
            match name {
                ListName::Ectl(_) => offered.extend(self.ectl.iter().map(|url| self.fetch_list(url.clone(), None))),
                ListName::Ctl(root) => {
                    let centres = self.centres_of(*root, wanted).into_iter();
                    offered.extend(centres.map(|centre| self.fetch_list(format!("{centre}/getctl/{root}"), None)));
                }
                ListName::Crl(_) => {}
            }
        }
        offered
    }

    /// Fetches all lists and has the station take them: from files, then the trust list manager's, which may name roots whose lists are
    /// wanted, too, then the roots'. What cannot be written down is fetched again the next time, and not used before.
    pub fn refresh(&self, vss: &Mutex<Vss>, clock: &Clock) {
        let wanted = || lock(vss).wanted_lists();
        let take = |offered: Vec<Offered>| drop(lock(vss).take_lists(offered, clock.now()));
        let of_manager = self.fetch_ectl(&wanted());
        take(self.read_files().into_iter().chain(of_manager).collect());
        take(self.fetch_lists(&wanted()));
        // Asked for one more time only: the next refresh is soon enough for what fails now.
        take(self.fetch_whole(&wanted()));
    }

    fn centres_of<'a>(&'a self, root: HashedId8, wanted: &'a Wanted) -> BTreeSet<&'a String> {
        let named = wanted.centres.iter().filter(|(_, roots)| roots.contains(&root)).map(|(url, _)| url);
        self.centres.iter().chain(named).collect()
    }

    /// A trust list, or what changed since the number that is held.
    fn fetch_list(&self, url: String, held: Option<(ListName, u8)>) -> Offered {
        let from = held.map_or(url.clone(), |(_, number)| format!("{url}/{number}"));
        let list = self.http.get(&from, CTL_TYPE);
        Offered { from, list, changes: held.map(|(name, _)| name) }
    }
}

/// Whose lists are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Every root that is trusted.
    pub roots: Vec<HashedId8>,
    /// Distribution centres that lists name, and the roots whose lists they have.
    pub centres: BTreeMap<String, Vec<HashedId8>>,
    /// Numbers of the roots' trust lists that are held, of which the changes will do.
    pub numbers: BTreeMap<HashedId8, u8>,
    /// The trust list manager and the number of its list, if the changes will do.
    pub ectl: Option<(HashedId8, u8)>,
    /// Trust lists that are wanted whole, since the changes that came did not fit.
    pub whole: BTreeSet<ListName>,
}

/// The lists of a station, in its folder.
#[derive(Debug)]
pub(super) struct StoredLists {
    held: HeldLists,
    folder: PathBuf,
    /// What was wrong with what came from where, the last time.
    refusals: BTreeMap<String, String>,
    overdue: BTreeSet<ListName>,
    /// Trust lists whose changes did not fit.
    whole: BTreeSet<ListName>,
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
        let mut lists =
            Self { held, folder, refusals: BTreeMap::new(), overdue: BTreeSet::new(), whole: BTreeSet::new() };
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
        let roots: Vec<HashedId8> = self.held.roots().into_keys().collect();
        // A list of many changes is fetched whole again, so that it does not take ever longer to start with.
        let number = |name: ListName| {
            let has_few = self.held.messages(name).len() <= CHANGES_MAX;
            self.held.number(name).filter(|_| has_few && !self.whole.contains(&name))
        };
        let ectl = self.held.manager().and_then(|manager| Some((manager, number(ListName::Ectl(manager))?)));
        let numbers = roots.iter().filter_map(|root| Some((*root, number(ListName::Ctl(*root))?))).collect();
        Wanted { roots, centres: self.held.centres(), numbers, ectl, whole: self.whole.clone() }
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
        for Offered { from, list, changes } in offered {
            let taken = match list {
                Ok(list) => held.offer(&list, now).map_err(Refused::List),
                Err(error) => Err(Refused::NotFetched(error)),
            };
            match taken {
                Err(refused) if changes.is_some() && refused.is_no_fault() => self.whole.extend(changes),
                Ok(taken) => {
                    self.refusals.remove(&from);
                    self.whole.remove(&taken.name());
                    if let Taken::New(name) | Taken::Renewed(name) = taken {
                        new.insert(name);
                    }
                    if let Taken::New(name) = taken {
                        record.note(now, &format!("{name} taken from {from}{}", number(&held, name)));
                    }
                }
                Err(refused) => {
                    self.whole.extend(changes);
                    let reason = refused.to_string();
                    if self.refusals.get(&from) == Some(&reason) {
                        continue;
                    }
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

    /// Whom to trust by these lists, and who cannot be, with the reason.
    pub(super) fn trusted(&self) -> (TrustStore, Vec<String>) {
        let (trust, problems) = self.held.trust();
        let told = problems.into_iter().map(|(id, error)| format!("certificate {id} is not trusted: {error}"));
        (trust, told.collect())
    }

    /// Puts into use what is held.
    pub(super) fn trust(&self, verifier: &mut Verifier, now: Time64, record: &mut Record) -> Vec<String> {
        let (trust, problems) = self.trusted();
        *verifier.trust_mut() = trust;
        problems.iter().for_each(|problem| record.note(now, problem));
        problems
    }
}

/// Why a list is not taken.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    NotFetched(ServiceError),
    #[error(transparent)]
    List(ListRefusal),
}

impl Refused {
    /// Whether a good centre answers so when it is asked what changed: it does not say what changed since that number, or more than
    /// one list came since.
    fn is_no_fault(&self) -> bool {
        match self {
            Self::NotFetched(error) => error.is_not_found(),
            Self::List(refusal) => matches!(refusal, ListRefusal::Gap { .. }),
        }
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
    /// Whose lists are wanted, and which of them whole.
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
