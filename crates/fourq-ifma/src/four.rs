//! Four elements of GF(p^2) side by side, p = 2^127 - 1.
//!
//! A vector has eight lanes of 64 bits, two for each element: its real part, then its imaginary part. A part is three limbs
//! of 43 bits, one in each of three vectors. As 2^129 = 4 modulo p, the limbs of a product that lie above the third come back
//! at the bottom, four times.
//!
//! The instructions multiply the low 52 bits of two lanes and add the low or the high 52 bits of the product. The high ones
//! stand 9 bits above the next limb: they are summed by themselves and shifted once.
//!
//! Sums and differences are not carried. What a limb may hold is said where it matters: *carried* limbs, those of a product,
//! are below 2^43 + 2^17, and a product takes limbs below 2^46 - 32.

use core::arch::x86_64::{
    __m256i, __m512i, __mmask8, _mm256_loadu_si256, _mm256_set_epi64x, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_inserti64x4, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_add_epi64,
    _mm512_mask_sub_epi64, _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_shuffle_epi32, _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srli_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

/// Bits of a limb.
const LIMB_BITS: u32 = 43;
/// The bits of a limb.
const LIMB: u64 = (1 << LIMB_BITS) - 1;
/// The lanes of real parts.
const REAL: __mmask8 = 0b0101_0101;

/// Four elements.
#[derive(Clone, Copy)]
pub(crate) struct Four([__m512i; 3]);

/// The lanes of elements by their numbers.
pub(crate) const fn lanes(elements: &[u8]) -> __mmask8 {
    let (mut mask, mut i) = (0, 0);
    while i < elements.len() {
        mask |= 0b11 << (2 * elements[i]);
        i += 1;
    }
    mask
}

/// The order of elements as an instruction takes it.
pub(crate) const fn order(elements: [u8; 4]) -> i32 {
    (elements[0] | elements[1] << 2 | elements[2] << 4 | elements[3] << 6) as i32
}

impl Four {
    /// The elements of the words.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn from_words(words: &[u64; 16]) -> Self {
        Self::from_halves([pair(words, 0), pair(words, 8)])
    }

    /// Two elements, 2, and the third one.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn from_words_around_two(words: &[u64; 12]) -> Self {
        let two = _mm256_set_epi64x(0, 0, 0, 2);
        let second = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two), load(words, 8));
        Self::from_halves([pair(words, 0), second])
    }

    /// The elements in two vectors of eight words.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn from_halves([first, second]: [__m512i; 2]) -> Self {
        let low = _mm512_permutex2var_epi64(first, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), second);
        let high = _mm512_permutex2var_epi64(first, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), second);
        let limb = _mm512_set1_epi64(LIMB as i64);
        let middle = _mm512_or_si512(_mm512_srli_epi64::<LIMB_BITS>(low), _mm512_slli_epi64::<21>(high));
        Self([_mm512_and_si512(low, limb), _mm512_and_si512(middle, limb), _mm512_srli_epi64::<22>(high)])
    }

    /// The words of the elements, whose limbs are carried.
    #[target_feature(enable = "avx512ifma")]
    pub(crate) fn to_words(self) -> [u64; 16] {
        let mut limbs = [[0u64; 8]; 3];
        for (limbs, vector) in limbs.iter_mut().zip(self.0) {
            // SAFETY: a vector is eight words.
            #[allow(unsafe_code)]
            let words = unsafe { core::mem::transmute::<__m512i, [u64; 8]>(vector) };
            *limbs = words;
        }
        let mut words = [0; 16];
        for (lane, word) in words.chunks_exact_mut(2).enumerate() {
            let [low, middle, high] = limbs.map(|limbs| u128::from(limbs[lane]));
            // 41 bits of the third limb lie below 2^127, and the sum below 2^127 + 2^88.
            let value = low + (middle << LIMB_BITS) + ((high & (LIMB as u128 >> 2)) << (2 * LIMB_BITS)) + (high >> 41);
            let value = (value & (u128::MAX >> 1)) + (value >> 127);
            word[0] = value as u64;
            word[1] = (value >> 64) as u64;
        }
        words
    }

    /// The elements of these limbs.
    #[cfg(test)]
    pub(crate) fn from_limbs(limbs: [__m512i; 3]) -> Self {
        Self(limbs)
    }

    /// The limbs.
    #[cfg(test)]
    pub(crate) fn limbs(self) -> [__m512i; 3] {
        self.0
    }

    /// The elements in another order.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn shuffle<const ORDER: i32>(self) -> Self {
        Self(self.0.map(|limb| _mm512_shuffle_i64x2::<ORDER>(limb, limb)))
    }

    /// This, with `other` added in `lanes`.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn add_in(self, lanes: __mmask8, other: Self) -> Self {
        self.with(other, |limb, other| _mm512_mask_add_epi64(limb, lanes, limb, other))
    }

    /// The sum.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn add(self, other: Self) -> Self {
        self.with(other, |limb, other| _mm512_add_epi64(limb, other))
    }

    /// The negative in `lanes`, where no limb may exceed 2^(43 + `BITS`) - 2^(`BITS` + 2); there, limbs become
    /// less than 2^(43 + `BITS`).
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn negate_in<const BITS: u32>(self, lanes: __mmask8) -> Self {
        let [first, others] = multiple_of_p::<BITS>();
        let negated = |multiple, limb| _mm512_mask_sub_epi64(limb, lanes, multiple, limb);
        Self([negated(first, self.0[0]), negated(others, self.0[1]), negated(others, self.0[2])])
    }

    /// The products, carried.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn mul(self, other: Self) -> Self {
        // re re' - im im', re im' + im re'.
        let re = Self(self.0.map(|limb| _mm512_unpacklo_epi64(limb, limb)));
        let im = Self(self.0.map(|limb| _mm512_unpackhi_epi64(limb, limb))).negate_in::<3>(REAL);
        Columns::zero().plus_products(re, other).plus_products(im, other.exchange()).carry()
    }

    /// The squares, carried. No limb may exceed 2^45 - 16.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    pub(crate) fn square(self) -> Self {
        // (re + im) (re - im), (re + re) im.
        let exchanged = self.exchange();
        let re = Self(self.0.map(|limb| _mm512_unpacklo_epi64(limb, limb)));
        let difference = self.add_in(REAL, exchanged.negate_in::<2>(REAL));
        Columns::zero().plus_products(re.add(exchanged), difference).carry()
    }

    /// Imaginary parts for real ones, and real ones for imaginary ones.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn exchange(self) -> Self {
        Self(self.0.map(|limb| _mm512_shuffle_epi32::<0b01_00_11_10>(limb)))
    }

    /// What `operation` makes of each pair of limbs.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn with(self, other: Self, operation: impl Fn(__m512i, __m512i) -> __m512i) -> Self {
        Self([operation(self.0[0], other.0[0]), operation(self.0[1], other.0[1]), operation(self.0[2], other.0[2])])
    }
}

/// The limbs of 2^(`BITS` + 2) p: the first one, and the two others.
#[target_feature(enable = "avx512ifma")]
#[inline]
fn multiple_of_p<const BITS: u32>() -> [__m512i; 2] {
    // 4 p = 2^129 - 4.
    let of_4p = [LIMB - 3, LIMB];
    of_4p.map(|limb| _mm512_set1_epi64((limb << BITS) as i64))
}

/// Sums of products, by what they count: the low halves of a limb's products, and the high halves, 9 bits above the next limb.
struct Columns {
    low: [__m512i; 3],
    high: [__m512i; 3],
}

impl Columns {
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn zero() -> Self {
        Self { low: [_mm512_setzero_si512(); 3], high: [_mm512_setzero_si512(); 3] }
    }

    /// With the products of two lanes each, added.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn plus_products(mut self, x: Four, y: Four) -> Self {
        let four_times = [y.0[1], y.0[2]].map(|limb| _mm512_slli_epi64::<2>(limb));
        for column in 0..3 {
            for limb in 0..3 {
                let other = if limb <= column { y.0[column - limb] } else { four_times[column + 2 - limb] };
                self.low[column] = _mm512_madd52lo_epu64(self.low[column], x.0[limb], other);
                self.high[column] = _mm512_madd52hi_epu64(self.high[column], x.0[limb], other);
            }
        }
        self
    }

    /// The elements that the columns count. Each is a sum of six products of limbs below 2^46 and 2^48, one of them four times
    /// the other's limb, at most: what is carried to the next limb is below 2^15.
    #[target_feature(enable = "avx512ifma")]
    #[inline]
    fn carry(self) -> Four {
        let Self { low, high } = self;
        let limbs = [
            _mm512_add_epi64(low[0], _mm512_slli_epi64::<11>(high[2])),
            _mm512_add_epi64(low[1], _mm512_slli_epi64::<9>(high[0])),
            _mm512_add_epi64(low[2], _mm512_slli_epi64::<9>(high[1])),
        ];
        let mask = _mm512_set1_epi64(LIMB as i64);
        let carries = limbs.map(|limb| _mm512_srli_epi64::<LIMB_BITS>(limb));
        let rests = limbs.map(|limb| _mm512_and_si512(limb, mask));
        Four([
            _mm512_add_epi64(rests[0], _mm512_slli_epi64::<2>(carries[2])),
            _mm512_add_epi64(rests[1], carries[0]),
            _mm512_add_epi64(rests[2], carries[1]),
        ])
    }
}

/// Two elements, loaded one by one: that is how a table look-up has just written them.
#[target_feature(enable = "avx512ifma")]
#[inline]
fn pair(words: &[u64], first: usize) -> __m512i {
    let (low, high) = (load(words, first), load(words, first + 4));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// The element whose words begin at `first`.
#[target_feature(enable = "avx512ifma")]
#[inline]
fn load(words: &[u64], first: usize) -> __m256i {
    let words = &words[first..first + 4];
    // SAFETY: four words, for a load that needs no alignment.
    #[allow(unsafe_code)]
    unsafe {
        _mm256_loadu_si256(words.as_ptr().cast())
    }
}
