//! Reading.

use super::{Decode, DecodeError, DecodeErrorKind, Deviation, DeviationKind, FieldPath, Segment};

/// What is done with encodings that can be understood but are not canonical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Canonical {
    /// They are errors.
    #[default]
    Strict,
    /// They are read and noted as [`Deviation`]s.
    Lenient,
}

/// Limits and strictness of a [`Reader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Strict or lenient.
    pub canonical: Canonical,
    /// Deepest nesting of structures that can contain themselves.
    pub depth_max: u8,
    /// Most elements of one list.
    pub elements_max: usize,
    /// Most deviations noted; further ones are let pass unnoted.
    pub deviations_max: usize,
}

impl Rules {
    /// Strict, with the limits of [`Rules::default`].
    pub const STRICT: Self =
        Self { canonical: Canonical::Strict, depth_max: 8, elements_max: 10_000, deviations_max: 64 };
    /// Lenient, with the limits of [`Rules::default`].
    pub const LENIENT: Self = Self { canonical: Canonical::Lenient, ..Self::STRICT };
}

impl Default for Rules {
    fn default() -> Self {
        Self::STRICT
    }
}

/// Steps of a path that are kept; deeper ones are left out of messages.
const PATH_MAX: usize = 24;

/// Reads COER from a slice, front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// End of the innermost open type, at most `bytes.len()`.
    end: usize,
    rules: Rules,
    depth: u8,
    path: [Segment; PATH_MAX],
    path_len: usize,
    deviations: Vec<Deviation>,
}

/// The presence bits in front of a `SEQUENCE`, X.696 clause 16.2: bit by bit in the order of the components.
#[derive(Clone, Copy, Debug)]
pub struct Preamble {
    /// Left-aligned, the extension bit already taken out.
    bits: u32,
    /// Whether an extension presence bitmap follows the root components.
    pub is_extended: bool,
}

impl Preamble {
    /// Whether the next optional component is there.
    #[allow(clippy::should_implement_trait, reason = "no iterator: it never ends")]
    pub fn next(&mut self) -> bool {
        let is_present = self.bits & 0x8000_0000 != 0;
        self.bits <<= 1;
        is_present
    }
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`.
    pub fn new(bytes: &'a [u8], rules: Rules) -> Self {
        Self {
            bytes,
            position: 0,
            end: bytes.len(),
            rules,
            depth: 0,
            path: [Segment::Index(0); PATH_MAX],
            path_len: 0,
            deviations: Vec::new(),
        }
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The rules in force.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Bytes left in the innermost open type, or at all.
    pub fn left(&self) -> usize {
        self.end - self.position
    }

    /// Bytes from `start`, an earlier [`Reader::position`], to here: what a signature is about.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start.min(self.position)..self.position]
    }

    /// The deviations let pass so far.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// The deviations let pass.
    pub fn into_deviations(self) -> Vec<Deviation> {
        self.deviations
    }

    /// Says that nothing more is expected.
    ///
    /// # Errors
    /// [`DecodeErrorKind::TrailingBytes`].
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.left() {
            0 => Ok(()),
            count => Err(self.error(DecodeErrorKind::TrailingBytes { count })),
        }
    }

    /// An error here.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        self.error_at(self.position, kind)
    }

    #[cold]
    fn error_at(&self, offset: usize, kind: DecodeErrorKind) -> DecodeError {
        DecodeError { offset, path: self.field_path(), kind }
    }

    /// Notes something that is not canonical at `offset`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::NotCanonical`] under strict rules.
    #[cold]
    pub fn deviation_at(&mut self, offset: usize, kind: DeviationKind) -> Result<(), DecodeError> {
        if self.rules.canonical == Canonical::Strict {
            return Err(self.error_at(offset, DecodeErrorKind::NotCanonical(kind)));
        }
        if self.deviations.len() < self.rules.deviations_max {
            self.deviations.push(Deviation { offset, path: self.field_path(), kind });
        }
        Ok(())
    }

    fn field_path(&self) -> FieldPath {
        FieldPath(self.path[..self.path_len.min(PATH_MAX)].into())
    }

    fn enter(&mut self, segment: Segment) {
        if let Some(slot) = self.path.get_mut(self.path_len) {
            *slot = segment;
        }
        self.path_len += 1;
    }

    /// Reads a component under its name.
    ///
    /// # Errors
    /// Those of `read`.
    #[inline]
    pub fn field<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.enter(Segment::Field(name));
        let value = read(self)?;
        self.path_len -= 1;
        Ok(value)
    }

    /// Reads a component of a type that knows how, under its name.
    ///
    /// # Errors
    /// Those of the type.
    #[inline]
    pub fn component<T: Decode<'a>>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        self.field(name, T::decode)
    }

    /// Reads an optional component, if its presence bit says that it is there.
    ///
    /// # Errors
    /// Those of the type.
    #[inline]
    pub fn optional<T: Decode<'a>>(
        &mut self,
        preamble: &mut Preamble,
        name: &'static str,
    ) -> Result<Option<T>, DecodeError> {
        preamble.next().then(|| self.component(name)).transpose()
    }

    /// Reads inside a structure that can contain itself.
    ///
    /// # Errors
    /// [`DecodeErrorKind::TooDeep`], or those of `read`.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        if self.depth >= self.rules.depth_max {
            return Err(self.error(DecodeErrorKind::TooDeep { depth_max: self.rules.depth_max }));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        if count > self.left() {
            return Err(self.error(DecodeErrorKind::Truncated { needed: count, left: self.left() }));
        }
        let start = self.position;
        self.position += count;
        Ok(&self.bytes[start..self.position])
    }

    /// An `OCTET STRING` of fixed size.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let Some(array) = self.bytes[self.position..self.end].first_chunk() else {
            return Err(self.error(DecodeErrorKind::Truncated { needed: N, left: self.left() }));
        };
        self.position += N;
        Ok(*array)
    }

    /// `INTEGER (0..255)`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take(1)?[0])
    }

    /// `INTEGER (0..65535)`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    /// `INTEGER (0..4294967295)`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    /// `INTEGER (0..18446744073709551615)`.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`].
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    /// A bounded `INTEGER` of four octets with a sign.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], [`DecodeErrorKind::OutOfRange`].
    pub fn i32_in(&mut self, min: i32, max: i32) -> Result<i32, DecodeError> {
        let start = self.position;
        let value = self.array().map(i32::from_be_bytes)?;
        if value < min || value > max {
            let kind = DecodeErrorKind::OutOfRange { value: value.into(), min: min.into(), max: max.into() };
            return Err(self.error_at(start, kind));
        }
        Ok(value)
    }

    /// A length determinant, X.696 clause 8.6.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], [`DecodeErrorKind::NumberTooLarge`], or a deviation under strict rules.
    #[inline]
    pub fn length(&mut self) -> Result<usize, DecodeError> {
        let first = self.u8()?;
        if first < 0x80 { Ok(first.into()) } else { self.long_length(first) }
    }

    fn long_length(&mut self, first: u8) -> Result<usize, DecodeError> {
        let start = self.position - 1;
        let digits = self.take(usize::from(first & 0x7f))?;
        let length = magnitude(digits).filter(|length| *length <= u64::from(u32::MAX));
        let Some(length) = length else { return Err(self.error_at(start, DecodeErrorKind::NumberTooLarge)) };
        if length < 0x80 || digits[0] == 0 {
            self.deviation_at(start, DeviationKind::LengthNotMinimal)?;
        }
        usize::try_from(length).map_err(|_| self.error_at(start, DecodeErrorKind::NumberTooLarge))
    }

    /// `INTEGER (0..MAX)`, as far as 64 bits hold it.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], [`DecodeErrorKind::NumberTooLarge`], or a deviation under strict rules.
    pub fn unsigned(&mut self) -> Result<u64, DecodeError> {
        let start = self.position;
        let length = self.length()?;
        let digits = self.take(length)?;
        if digits.is_empty() {
            return Err(self.error_at(start, DecodeErrorKind::Constraint("integer without octets")));
        }
        let Some(value) = magnitude(digits) else { return Err(self.error_at(start, DecodeErrorKind::NumberTooLarge)) };
        if digits.len() > 1 && digits[0] == 0 {
            self.deviation_at(start, DeviationKind::IntegerNotMinimal)?;
        }
        Ok(value)
    }

    /// `INTEGER`, as far as 64 bits hold it.
    ///
    /// # Errors
    /// As [`Reader::unsigned`].
    pub fn signed(&mut self) -> Result<i64, DecodeError> {
        let start = self.position;
        let length = self.length()?;
        let digits = self.take(length)?;
        if digits.is_empty() {
            return Err(self.error_at(start, DecodeErrorKind::Constraint("integer without octets")));
        }
        let sign = if digits[0] & 0x80 == 0 { 0 } else { 0xff };
        let zeros = digits.len().saturating_sub(8);
        if digits[..zeros].iter().any(|digit| *digit != sign) {
            return Err(self.error_at(start, DecodeErrorKind::NumberTooLarge));
        }
        let seed = if sign == 0 { 0_i64 } else { -1 };
        let value = digits[zeros..].iter().fold(seed, |value, digit| value << 8 | i64::from(*digit));
        if zeros > 0 && (value < 0) != (sign == 0xff) {
            return Err(self.error_at(start, DecodeErrorKind::NumberTooLarge));
        }
        if digits.len() > 1 && digits[0] == sign && (digits[1] & 0x80 == sign & 0x80) {
            self.deviation_at(start, DeviationKind::IntegerNotMinimal)?;
        }
        Ok(value)
    }

    /// An `OCTET STRING` of any size.
    ///
    /// # Errors
    /// As [`Reader::length`].
    #[inline]
    pub fn octets(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.length()?;
        self.take(length)
    }

    /// An `OCTET STRING` of `min..=max` octets that carries its length.
    ///
    /// # Errors
    /// As [`Reader::length`], and [`DecodeErrorKind::OutOfRange`].
    pub fn octets_in(&mut self, min: usize, max: usize) -> Result<&'a [u8], DecodeError> {
        let start = self.position;
        let octets = self.octets()?;
        self.check_size(start, octets.len(), min, max)?;
        Ok(octets)
    }

    /// A `UTF8String` of at most `max` octets.
    ///
    /// # Errors
    /// As [`Reader::octets_in`], and [`DecodeErrorKind::NotUtf8`].
    pub fn text(&mut self, max: usize) -> Result<&'a str, DecodeError> {
        let start = self.position;
        let octets = self.octets_in(0, max)?;
        str::from_utf8(octets).map_err(|_| self.error_at(start, DecodeErrorKind::NotUtf8))
    }

    fn check_size(&self, offset: usize, size: usize, min: usize, max: usize) -> Result<(), DecodeError> {
        if (min..=max).contains(&size) {
            return Ok(());
        }
        let as_i64 = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let kind = DecodeErrorKind::OutOfRange { value: as_i64(size), min: as_i64(min), max: as_i64(max) };
        Err(self.error_at(offset, kind))
    }

    /// The tag of a `CHOICE` under automatic tagging: the alternative's number.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnknownTag`] for other classes and for numbers above 62.
    #[inline]
    pub fn tag(&mut self) -> Result<u8, DecodeError> {
        let tag = self.u8()?;
        if tag & 0xc0 == 0x80 && tag != 0xbf { Ok(tag & 0x3f) } else { Err(self.unknown_tag(tag)) }
    }

    /// The error for alternative `number`, just read, that the choice does not have.
    #[cold]
    pub fn unknown_alternative(&self, number: u8) -> DecodeError {
        self.unknown_tag(0x80 | number)
    }

    #[cold]
    fn unknown_tag(&self, tag: u8) -> DecodeError {
        self.error_at(self.position.saturating_sub(1), DecodeErrorKind::UnknownTag { tag })
    }

    /// The number of an `ENUMERATED` item, at most 255.
    ///
    /// # Errors
    /// [`DecodeErrorKind::UnknownItem`] for the long form with larger numbers, or a deviation under strict rules.
    pub fn enumerated(&mut self) -> Result<u8, DecodeError> {
        let start = self.position;
        let first = self.u8()?;
        if first < 0x80 {
            return Ok(first);
        }
        let digits = self.take(usize::from(first & 0x7f))?;
        // With a sign: 128 to 255 take two octets.
        let value = match *digits {
            [value] if value < 0x80 => {
                self.deviation_at(start, DeviationKind::EnumeratedLongForm)?;
                value
            }
            [0, value] if value >= 0x80 => value,
            _ => return Err(self.error_at(start, DecodeErrorKind::UnknownItem { value: first })),
        };
        Ok(value)
    }

    /// The presence bits of a `SEQUENCE` with `optional_count` optional components, at most 15.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`], or a deviation under strict rules.
    #[inline]
    pub fn preamble(&mut self, is_extensible: bool, optional_count: u32) -> Result<Preamble, DecodeError> {
        let bit_count = optional_count + u32::from(is_extensible);
        debug_assert!(bit_count <= 16);
        let start = self.position;
        let bits = match bit_count {
            0 => 0,
            1..=8 => u32::from(self.u8()?) << 24,
            _ => u32::from(self.u16()?) << 16,
        };
        if bit_count > 0 && bits & (u32::MAX >> bit_count) != 0 {
            self.deviation_at(start, DeviationKind::UnusedBitsSet)?;
        }
        let is_extended = is_extensible && bits & 0x8000_0000 != 0;
        Ok(Preamble { bits: if is_extensible { bits << 1 } else { bits }, is_extended })
    }

    /// An open type: a length, and a value that fills it.
    ///
    /// # Errors
    /// As [`Reader::length`], those of `read`, or a deviation under strict rules.
    pub fn open_type<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        let length = self.length()?;
        if length > self.left() {
            return Err(self.error(DecodeErrorKind::Truncated { needed: length, left: self.left() }));
        }
        let outer_end = core::mem::replace(&mut self.end, self.position + length);
        let value = read(self)?;
        if self.position != self.end {
            self.deviation_at(self.position, DeviationKind::OpenTypeNotFilled)?;
            self.position = self.end;
        }
        self.end = outer_end;
        Ok(value)
    }

    /// A `SEQUENCE OF` with `min..` elements.
    ///
    /// # Errors
    /// As [`Reader::unsigned`], those of `read`, [`DecodeErrorKind::TooManyElements`].
    pub fn list<T>(
        &mut self,
        min: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.element_count(min)?;
        // The claimed count is not believed: elements that would take no bytes at all do not exist in these types,
        // so the list cannot grow beyond the bytes that are there.
        let mut elements = Vec::new();
        for index in 0..count {
            self.enter(Segment::Index(u32::try_from(index).unwrap_or(u32::MAX)));
            elements.push(read(self)?);
            self.path_len -= 1;
        }
        Ok(elements)
    }

    /// The number of elements in front of a `SEQUENCE OF`.
    ///
    /// # Errors
    /// As [`Reader::unsigned`], [`DecodeErrorKind::TooManyElements`], [`DecodeErrorKind::OutOfRange`] below `min`.
    pub fn element_count(&mut self, min: usize) -> Result<usize, DecodeError> {
        let start = self.position;
        let elements_max = self.rules.elements_max;
        let count = usize::try_from(self.unsigned()?).unwrap_or(usize::MAX);
        if count > elements_max {
            return Err(self.error_at(start, DecodeErrorKind::TooManyElements { elements_max }));
        }
        self.check_size(start, count, min, elements_max)?;
        Ok(count)
    }
}

/// The value of big-endian `digits`, if 64 bits hold it.
fn magnitude(digits: &[u8]) -> Option<u64> {
    let zeros = digits.len().saturating_sub(8);
    if digits[..zeros].iter().any(|digit| *digit != 0) {
        return None;
    }
    Some(digits[zeros..].iter().fold(0, |value, digit| value << 8 | u64::from(*digit)))
}
