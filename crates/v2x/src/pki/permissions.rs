//! Permissions that are owned, compared and written down.

use core::fmt;
use core::str::FromStr;

use super::PkiError;
use crate::types::{
    BitmapSspRange, EndEntityType, Psid, PsidGroupPermissions, PsidSsp, PsidSspRange, ServiceSpecificPermissions,
    SspRange, SubjectPermissions,
};

/// Applications, each with a bitmap of what is allowed in it; empty for an application without such.
///
/// In ETSI's use the first octet of a bitmap is its version, and every bit after it a permission of its own. Written as
/// `36:01ffff 37:01ffffff`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    psid: Psid,
    ssp: Vec<u8>,
    /// Of an issuer: 1 where the bitmap is prescribed.
    mask: Vec<u8>,
}

impl Entry {
    fn new(psid: Psid, ssp: &[u8]) -> Self {
        let mask = ssp.iter().enumerate().map(|(index, octet)| if index == 0 { 0xff } else { !octet }).collect();
        Self { psid, ssp: ssp.to_vec(), mask }
    }

    fn contains(&self, wanted: &Self) -> bool {
        self.psid == wanted.psid
            && self.ssp.len() == wanted.ssp.len()
            && self.ssp.first() == wanted.ssp.first()
            && self.ssp.iter().zip(&wanted.ssp).skip(1).all(|(granted, wanted)| wanted & !granted == 0)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.psid.0)?;
        if !self.ssp.is_empty() {
            f.write_str(":")?;
        }
        self.ssp.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl Permissions {
    /// What an enrolment credential is for: to ask for enrolment (80) and for authorization (40). [TS 102 941 annex B]
    pub fn enrolment_credential() -> Self {
        Self::of(&[(623, &[0x01, 0xc0])])
    }

    /// Of an enrolment authority: answers to stations and to authorization authorities, requests to its root.
    pub fn enrolment_authority() -> Self {
        Self::of(&[(623, &[0x01, 0x0e])])
    }

    /// Of an authorization authority: questions to enrolment authorities, answers to stations, requests to its root.
    pub fn authorization_authority() -> Self {
        Self::of(&[(623, &[0x01, 0x32])])
    }

    /// Of a root: revocation lists; trust list entries of EA, AA and DC.
    pub fn root() -> Self {
        Self::of(&[(622, &[0x01]), (624, &[0x01, 0x38])])
    }

    /// Of a misbehaviour authority: reports.
    pub fn misbehaviour_authority() -> Self {
        Self::of(&[(38, &[])])
    }

    /// Of a trust list manager: entries of TLM, RCA and DC.
    pub fn trust_list_manager() -> Self {
        Self::of(&[(624, &[0x01, 0xc8])])
    }

    /// All that a ticket can have from an authorization authority here: CAM, DENM, traffic light and road topology,
    /// in-vehicle information, GeoNetworking management, vulnerable road users, collective perception, and misbehaviour
    /// reports.
    pub fn tickets() -> Self {
        Self::of(&[
            (36, &[0x01, 0xff, 0xff]),
            (37, &[0x01, 0xff, 0xff, 0xff]),
            (38, &[]),
            (137, &[0x01, 0xe0]),
            (138, &[0x01, 0xc0]),
            (139, &[0x01, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (140, &[0x02, 0xff, 0xff, 0xe0]),
            (141, &[0x01, 0xc0]),
            (638, &[0x01, 0xff]),
            (639, &[0x01, 0xff]),
        ])
    }

    fn of(entries: &[(u64, &[u8])]) -> Self {
        Self { entries: entries.iter().map(|(psid, ssp)| Entry::new(Psid(*psid), ssp)).collect() }
    }

    /// Those of a certificate or a request.
    ///
    /// # Errors
    /// [`PkiError::Permission`] for one that is not a bitmap.
    pub fn from_certificate(permissions: &[PsidSsp<'_>]) -> Result<Self, PkiError> {
        let entries = permissions.iter().map(|permission| match &permission.ssp {
            None => Ok(Entry::new(permission.psid, &[])),
            Some(ServiceSpecificPermissions::Bitmap(ssp)) => Ok(Entry::new(permission.psid, ssp)),
            Some(_) => Err(PkiError::Permission(format!("{} without a bitmap", permission.psid.0))),
        });
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// As a certificate or a request carries them.
    pub fn to_certificate(&self) -> Vec<PsidSsp<'_>> {
        let ssp = |entry: &Entry| (!entry.ssp.is_empty()).then_some(());
        self.entries
            .iter()
            .map(|entry| PsidSsp {
                psid: entry.psid,
                ssp: ssp(entry).map(|()| ServiceSpecificPermissions::Bitmap(&entry.ssp)),
            })
            .collect()
    }

    /// The right to issue them, to certificates `min_chain_length` below.
    pub fn to_issuing(&self, min_chain_length: i64, ee_type: EndEntityType) -> PsidGroupPermissions<'_> {
        let ranges = self.entries.iter().map(|entry| PsidSspRange {
            psid: entry.psid,
            ssp_range: (!entry.ssp.is_empty())
                .then(|| SspRange::Bitmap(BitmapSspRange { ssp_value: &entry.ssp, ssp_bitmask: &entry.mask })),
        });
        let subject_permissions = SubjectPermissions::Explicit(ranges.collect());
        PsidGroupPermissions { subject_permissions, min_chain_length, chain_length_range: 0, ee_type }
    }

    /// Checks that there are some and that `granted` has them all.
    ///
    /// # Errors
    /// [`PkiError::Permission`] with the first that it has not.
    pub fn check_within(&self, granted: &Self) -> Result<(), PkiError> {
        if self.entries.is_empty() {
            return Err(PkiError::Incomplete("appPermissions"));
        }
        let excess = |wanted: &&Entry| !granted.entries.iter().any(|entry| entry.contains(wanted));
        match self.entries.iter().find(excess) {
            Some(entry) => Err(PkiError::Permission(entry.to_string())),
            None => Ok(()),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            write!(f, "{}{entry}", if index == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// Most octets of a bitmap in a request or a certificate.
const SSP_LEN_MAX: usize = 31;

/// Text that is no list of permissions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionsError {
    /// What stands before the colon, or alone, is no number.
    #[error("`{word}` does not begin with a PSID, a decimal number; write PSID or PSID:HEX, for example 36:01ffff")]
    Psid {
        /// The whole entry.
        word: String,
    },
    /// What stands behind the colon is no whole number of octets.
    #[error("the bitmap of `{word}` is not hexadecimal with two digits for each octet, for example 36:01ffff")]
    Bitmap {
        /// The whole entry.
        word: String,
    },
    /// The bitmap is longer than a certificate holds.
    #[error("the bitmap of `{word}` has {len} octets; a certificate holds at most {SSP_LEN_MAX}")]
    TooLong {
        /// The whole entry.
        word: String,
        /// Length of the bitmap `[octet]`.
        len: usize,
    },
}

impl FromStr for Permissions {
    type Err = PermissionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut permissions = Self::default();
        for word in text.split_whitespace() {
            let (psid, ssp) = word.split_once(':').unwrap_or((word, ""));
            let named = || word.to_owned();
            let psid = psid.parse().map_err(|_| PermissionsError::Psid { word: named() })?;
            let ssp = octets(ssp).ok_or_else(|| PermissionsError::Bitmap { word: named() })?;
            if ssp.len() > SSP_LEN_MAX {
                return Err(PermissionsError::TooLong { word: named(), len: ssp.len() });
            }
            permissions.entries.push(Entry::new(Psid(psid), &ssp));
        }
        permissions.entries.sort_by_key(|entry| entry.psid.0);
        Ok(permissions)
    }
}

fn octets(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_list_names_the_entry_and_what_is_wrong_with_it() {
        let refused = |text: &str| text.parse::<Permissions>().expect_err("it is no list");
        let word = |text: &str| text.to_owned();
        assert_eq!(refused("36:01 cam:01"), PermissionsError::Psid { word: word("cam:01") });
        assert_eq!(refused("36:01f"), PermissionsError::Bitmap { word: word("36:01f") });
        assert_eq!(refused("36:0x"), PermissionsError::Bitmap { word: word("36:0x") });
        let longest = format!("36:{}", "00".repeat(SSP_LEN_MAX));
        assert!(longest.parse::<Permissions>().is_ok());
        let longer = format!("{longest}00");
        assert_eq!(refused(&longer), PermissionsError::TooLong { len: SSP_LEN_MAX + 1, word: longer });
    }
}
