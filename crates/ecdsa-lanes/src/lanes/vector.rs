//! Where vectors meet memory: loads, stores and gathers. The rest of the lanes is arithmetic that the compiler knows
//! to be safe once the processor has the instructions.
#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_i64gather_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi64,
    _mm512_permutex2var_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_slli_epi64, _mm512_storeu_si512,
    _mm512_test_epi64_mask,
};

/// Eight lanes of memory.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference names 64 readable bytes, and the load has no alignment to keep.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Eight lanes to memory.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn store(lanes: __m512i) -> [u64; 8] {
    let mut out = [0; 8];
    // SAFETY: `out` is 64 writable bytes, and the store has no alignment to keep.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), lanes) };
    out
}

/// The same value in every lane.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn splat(value: u64) -> __m512i {
    _mm512_set1_epi64(value.cast_signed())
}

/// Word `at` of each lane's entry of 8 words. An index is a digit of a public scalar: the addresses read depend on it.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn gather_shared_vartime(table: &[[u64; 8]], at: usize, entry: __m512i) -> __m512i {
    assert!(at < 8 && table.len().is_power_of_two());
    let entry = _mm512_and_si512(entry, splat(table.len() as u64 - 1));
    let index = _mm512_slli_epi64::<3>(entry);
    // SAFETY: an entry's number was cut to less than the table's length, a power of two, and `at` is less than 8, so
    // that `8 * entry + at` is a word of the table.
    unsafe { _mm512_i64gather_epi64::<8>(index, table.as_ptr().cast::<i64>().add(at)) }
}

/// Row `at` of each lane's own entry of 10 rows of lanes. As above, the addresses read depend on the index.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn gather_own_vartime<const ENTRIES: usize>(
    table: &[[__m512i; 10]; ENTRIES],
    at: usize,
    entry: __m512i,
) -> __m512i {
    const { assert!(ENTRIES.is_power_of_two()) }
    assert!(at < 10);
    let entry = _mm512_and_si512(entry, splat(ENTRIES as u64 - 1));
    // 80 words an entry: 64 and 16.
    let words = _mm512_add_epi64(_mm512_slli_epi64::<6>(entry), _mm512_slli_epi64::<4>(entry));
    let index = _mm512_add_epi64(words, _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    // SAFETY: an entry's number was cut to less than the table's length, a power of two, `at` is less than 10 and the
    // lane less than 8, so that `80 * entry + 8 * at + lane` is a word of the table.
    unsafe { _mm512_i64gather_epi64::<8>(index, table.as_ptr().cast::<i64>().add(8 * at)) }
}

/// Word `at` of an entry of 8 words of each lane's own table, counted from entry `first`. As above, the addresses read
/// depend on the index.
#[cfg(feature = "signer-tables")]
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn gather_of_each_vartime<const ENTRIES: usize>(
    tables: &[&[[u64; 8]; ENTRIES]; 8],
    first: usize,
    at: usize,
    entry: __m512i,
) -> __m512i {
    const { assert!(ENTRIES.is_power_of_two()) }
    assert!(at < 8);
    let mut addresses = [0; 8];
    for (address, table) in addresses.iter_mut().zip(tables) {
        *address = table.as_ptr().expose_provenance() as u64;
    }
    let entry = _mm512_and_si512(_mm512_add_epi64(entry, splat(first as u64)), splat(ENTRIES as u64 - 1));
    let offset = _mm512_add_epi64(_mm512_slli_epi64::<6>(entry), splat(8 * at as u64));
    let address = _mm512_add_epi64(load(&addresses), offset);
    // SAFETY: an entry's number was cut to less than the tables' length, a power of two, and `at` is less than 8, so
    // that `64 * entry + 8 * at` bytes from a table's start lies a word of it; the tables live through the call.
    unsafe { _mm512_i64gather_epi64::<1>(address, core::ptr::null()) }
}

/// Each lane's entry of 32, all of them read whatever the index.
#[target_feature(enable = "avx512ifma")]
#[inline]
pub(super) fn select_from_32(entries: &[[u64; 8]; 4], entry: __m512i) -> __m512i {
    // The permutation reads the low four bits of an index.
    let low = _mm512_permutex2var_epi64(load(&entries[0]), entry, load(&entries[1]));
    let high = _mm512_permutex2var_epi64(load(&entries[2]), entry, load(&entries[3]));
    _mm512_mask_blend_epi64(_mm512_test_epi64_mask(entry, splat(16)), low, high)
}
