//! What the host knows of a device's keys: enough to say what was lost with it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::key::{KeyHandle, KeyInfo, Persistence};
use super::{HsmError, Recovery, random};

/// Keys of a device as its host last saw them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    keys: BTreeMap<KeyHandle, Persistence>,
}

impl Ledger {
    pub(super) fn insert(&mut self, handle: KeyHandle, persistence: Persistence) {
        self.keys.insert(handle, persistence);
    }

    pub(super) fn remove(&mut self, handle: KeyHandle) {
        self.keys.remove(&handle);
    }

    pub(super) fn forget_volatile(&mut self) {
        self.keys.retain(|_, persistence| *persistence == Persistence::Persistent);
    }

    /// The error that names every key by its fate.
    pub(super) fn device_lost(&self) -> HsmError {
        let of = |wanted: Persistence| {
            self.keys.iter().filter(|(_, persistence)| **persistence == wanted).map(|(handle, _)| *handle).collect()
        };
        HsmError::DeviceLost { persistent: of(Persistence::Persistent), volatile: of(Persistence::Volatile) }
    }

    /// Takes over what the device lists after it was found again.
    pub(super) fn recover(&mut self, present: &[KeyInfo]) -> Recovery {
        let before = std::mem::take(&mut self.keys);
        self.keys = present.iter().map(|key| (key.handle, key.persistence)).collect();
        let (kept, lost) = before.into_keys().partition(|handle| self.keys.contains_key(handle));
        Recovery { kept, lost }
    }
}

/// A handle nobody has, drawn from the half its persistence names and outside `predefined`.
///
/// Random instead of the next free number: a handle in a file about a deleted key should not come to mean another key.
pub(super) fn draw_handle(
    persistence: Persistence,
    predefined: Option<&RangeInclusive<u32>>,
    is_taken: impl Fn(KeyHandle) -> bool,
) -> Result<KeyHandle, HsmError> {
    loop {
        let mut bytes = [0; 4];
        random(&mut bytes)?;
        let number = u32::from_be_bytes(bytes);
        let handle = KeyHandle(match persistence {
            Persistence::Volatile => number | KeyHandle::VOLATILE,
            Persistence::Persistent => number & !KeyHandle::VOLATILE,
        });
        if !is_taken(handle) && !predefined.is_some_and(|range| range.contains(&handle.0)) {
            return Ok(handle);
        }
    }
}

/// Refuses a range of predefined handles that reaches into the volatile half.
pub(super) fn check_predefined(range: Option<&RangeInclusive<u32>>) -> Result<(), HsmError> {
    let Some(range) = range else { return Ok(()) };
    if range.is_empty() || *range.end() >= KeyHandle::VOLATILE {
        return Err(HsmError::InvalidArgument(format!(
            "predefined keys {:08x}..={:08x}: first must not exceed last, and last not 7fffffff",
            range.start(),
            range.end()
        )));
    }
    if range.end() - range.start() >= PREDEFINED_MAX {
        return Err(HsmError::InvalidArgument(format!("at most {PREDEFINED_MAX} keys are predefined")));
    }
    Ok(())
}

/// Most keys a predefined range may hold.
const PREDEFINED_MAX: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hsm::{Curve, KeyKind};

    fn info(handle: u32, persistence: Persistence) -> KeyInfo {
        let kind = KeyKind::Pair(Curve::NistP256);
        KeyInfo { handle: KeyHandle(handle), kind, persistence, label: String::new() }
    }

    #[test]
    fn tells_fates_apart_and_reports_what_did_not_come_back() {
        let mut ledger = Ledger::default();
        ledger.insert(KeyHandle(1), Persistence::Persistent);
        ledger.insert(KeyHandle(2), Persistence::Persistent);
        ledger.insert(KeyHandle(0x8000_0003), Persistence::Volatile);
        let lost = HsmError::DeviceLost {
            persistent: vec![KeyHandle(1), KeyHandle(2)],
            volatile: vec![KeyHandle(0x8000_0003)],
        };
        assert_eq!(ledger.device_lost(), lost);
        // Key 2 was promised and is not there: it is among the lost, whatever it was called.
        let recovery = ledger.recover(&[info(1, Persistence::Persistent)]);
        assert_eq!(recovery.kept, [KeyHandle(1)]);
        assert_eq!(recovery.lost, [KeyHandle(2), KeyHandle(0x8000_0003)]);
    }

    #[test]
    fn handles_keep_to_their_half_and_off_the_predefined_range() {
        let low = 0..=0x3FFF_FFFF;
        for _ in 0..100 {
            assert!(draw_handle(Persistence::Volatile, None, |_| false).unwrap().is_volatile());
            let handle = draw_handle(Persistence::Persistent, Some(&low), |_| false).unwrap();
            assert!(!handle.is_volatile() && handle.0 > 0x3FFF_FFFF, "{handle}");
        }
    }

    #[test]
    fn refuses_predefined_ranges_that_make_no_sense() {
        assert_eq!(check_predefined(Some(&(0..=4095))), Ok(()));
        assert!(check_predefined(Some(&(0..=4096))).is_err());
        assert!(check_predefined(Some(&(0x7FFF_FFFF..=0x8000_0000))).is_err());
        #[allow(clippy::reversed_empty_ranges, reason = "the range under test")]
        let reversed = 5..=4;
        assert!(check_predefined(Some(&reversed)).is_err());
    }
}
