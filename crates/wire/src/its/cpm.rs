//! The collective perception message (ETSI TS 103 324 V2.1.1): what a station's sensors see of others.

use super::perceived::{Estimate, PerceivedObject};
use super::position::ReferencePosition;
use super::uper::{self, Coder, Content, Message, UperError, integer};

/// A CPM. Message segments, rates, trailers, maps and perception regions are never written; a message with a container that
/// is not known here is read over it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cpm {
    /// StationId: changes with the pseudonym.
    pub station_id: u32,
    /// TimestampIts at which objects were where they are said to be `[ms since 2004-01-01, TAI]`.
    pub reference_time_ms: u64,
    /// What places of objects are relative to.
    pub position: ReferencePosition,
    /// Who sees.
    pub origin: CpmOrigin,
    /// Its sensors, at most [`Cpm::SENSORS_MAX`]; sent once a second.
    pub sensors: List<Sensor, { Cpm::SENSORS_MAX }>,
    /// What it sees.
    pub perceived: Option<Perceived>,
}

/// Who sends a CPM: OriginatingVehicleContainer or OriginatingRsuContainer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CpmOrigin {
    /// A vehicle, and where it points, from north and clockwise `[0.1 degree]`: 0 to 3601 (unavailable); confidence 1 to 127
    /// (unavailable).
    Vehicle(Estimate<u16>),
    /// A station at the roadside.
    #[default]
    Roadside,
}

/// SensorInformation, with its region as part of a circle about the reference position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sensor {
    /// sensorId.
    pub id: u8,
    /// SensorType: 1 radar, 2 lidar, 12 local aggregation.
    pub kind: u8,
    /// How far it sees `[dm]`, 0 to 4095, and between which angles from the x axis `[0.1 degree]`.
    pub region: Option<(u16, [u16; 2])>,
    /// How sure it is that nothing in its region is missed `[%]`, 1 to 101 (unavailable).
    pub confidence: Option<u8>,
    /// True if what stands behind something is not seen.
    pub is_shadowed: bool,
}

/// PerceivedObjectContainer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Perceived {
    /// How many things the station sees, those that this message leaves out included.
    pub total: u8,
    /// Those in this message, at most [`Cpm::OBJECTS_MAX`].
    pub objects: List<PerceivedObject, { Cpm::OBJECTS_MAX }>,
}

/// At most `N` things, in order.
#[derive(Clone, Debug)]
pub struct List<T, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    /// The first `N` of `items`.
    pub fn new(items: &[T]) -> Self {
        let mut list = Self { len: items.len().min(N), ..Self::default() };
        list.items[..list.len].copy_from_slice(&items[..list.len]);
        list
    }
}

impl<T, const N: usize> List<T, N> {
    /// The things.
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.len]
    }
}

impl<T: Copy + Default, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl<T: Eq, const N: usize> Eq for List<T, N> {}

/// protocolVersion and messageId.
const HEADER: (i64, i64) = (2, 14);
/// TimestampIts has 42 bits.
const TIMESTAMP_MAX_MS: i64 = 4_398_046_511_103;
/// CpmContainerId.
const VEHICLE: i64 = 1;
const ROADSIDE: i64 = 2;
const SENSORS: i64 = 3;
const OBJECTS: i64 = 5;

impl Cpm {
    /// Most sensors that are written or read.
    pub const SENSORS_MAX: usize = 8;
    /// Most objects that are written or read: what fits into one packet.
    pub const OBJECTS_MAX: usize = 32;
    /// Longest message that [`Self::emit`] writes, all sensors and objects included `[byte]`.
    pub const LEN_MAX: usize = 1_100;

    /// Writes the message to the front of `buf`; returns its length `[byte]`.
    ///
    /// # Errors
    /// [`UperError`] for a value out of range or a buffer too short.
    pub fn emit(&self, buf: &mut [u8]) -> Result<usize, UperError> {
        uper::emit(self.clone(), buf)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`UperError`] if it is cut off, holds a value out of range, an element that is not known here, or more than
    /// [`Self::OBJECTS_MAX`] objects.
    pub fn parse(bytes: &[u8]) -> Result<Self, UperError> {
        uper::parse(bytes)
    }
}

impl Message for Cpm {
    fn code(&mut self, coder: &mut impl Coder) -> Result<bool, UperError> {
        uper::header(coder, HEADER, &mut self.station_id)?;
        coder.fixed("payload", 0, 1)?;
        coder.fixed("managementContainer", 0, 1)?;
        coder.fixed("segmentationInfo, messageRateRange", 0, 2)?;
        let mut wide = i64::try_from(self.reference_time_ms).unwrap_or(i64::MAX);
        coder.integer("referenceTime", &mut wide, 0, TIMESTAMP_MAX_MS)?;
        self.reference_time_ms = wide as u64;
        self.position.code(coder)?;
        self.code_containers(coder)?;
        Ok(true)
    }
}

impl Cpm {
    fn code_containers(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let own = if matches!(self.origin, CpmOrigin::Vehicle(_)) { VEHICLE } else { ROADSIDE };
        let written =
            [Some(own), (self.sensors.len > 0).then_some(SENSORS), self.perceived.is_some().then_some(OBJECTS)];
        let mut written = written.into_iter().flatten();
        let mut count = written.clone().count() as i64;
        coder.fixed("cpmContainers", 0, 1)?;
        coder.integer("cpmContainers", &mut count, 1, 8)?;
        for _ in 0..count {
            let mut id = written.next().unwrap_or_default();
            coder.integer("containerId", &mut id, 1, 16)?;
            let field = "containerData";
            match id {
                VEHICLE => {
                    let mut angle =
                        if let CpmOrigin::Vehicle(angle) = self.origin { angle } else { Estimate::default() };
                    coder.open_type(field, &mut Orientation(&mut angle))?;
                    self.origin = CpmOrigin::Vehicle(angle);
                }
                ROADSIDE => {
                    coder.open_type(field, &mut Nothing)?;
                    self.origin = CpmOrigin::Roadside;
                }
                SENSORS => {
                    let mut sensors = if coder.writes() { self.sensors.clone() } else { List::default() };
                    coder.open_type(field, &mut sensors)?;
                    self.sensors = sensors;
                }
                OBJECTS => {
                    // What is read begins with nothing, also where a container is there twice.
                    let mut perceived = self.perceived.take().filter(|_| coder.writes()).unwrap_or_default();
                    coder.open_type(field, &mut perceived)?;
                    self.perceived = Some(perceived);
                }
                _ => coder.open_type(field, &mut Skipped)?,
            }
        }
        Ok(())
    }
}

/// What is read over.
struct Skipped;

impl Content for Skipped {
    fn code(&mut self, _: &mut impl Coder) -> Result<(), UperError> {
        Ok(())
    }
}

/// OriginatingRsuContainer without a map.
struct Nothing;

impl Content for Nothing {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        coder.fixed("originatingRsuContainer", 0, 2)
    }
}

/// OriginatingVehicleContainer without pitch, roll and trailers.
struct Orientation<'a>(&'a mut Estimate<u16>);

impl Content for Orientation<'_> {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        coder.fixed("originatingVehicleContainer", 0, 4)?;
        integer!(coder, "orientationAngle", self.0.value, 0, 3601);
        integer!(coder, "orientationConfidence", self.0.confidence, 1, 127);
        Ok(())
    }
}

impl Content for List<Sensor, { Cpm::SENSORS_MAX }> {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        coder.fixed("sensorInformationContainer", 0, 1)?;
        let mut len = self.len as i64;
        coder.integer("sensorInformationContainer", &mut len, 1, 128)?;
        self.len = within(len, Cpm::SENSORS_MAX, "sensorInformationContainer")?;
        self.items[..self.len].iter_mut().try_for_each(|sensor| sensor.code(coder))
    }
}

impl Sensor {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let (mut has_region, mut has_confidence) = (self.region.is_some(), self.confidence.is_some());
        coder.fixed("sensorInformation", 0, 1)?;
        coder.flag("perceptionRegionShape", &mut has_region)?;
        coder.flag("perceptionRegionConfidence", &mut has_confidence)?;
        integer!(coder, "sensorId", self.id, 0, 255);
        integer!(coder, "sensorType", self.kind, 0, 31);
        if has_region {
            let (range, angles) = self.region.get_or_insert_default();
            // The fifth of six shapes, radial, without a middle of its own and without vertical angles.
            coder.fixed("perceptionRegionShape", 0, 1)?;
            coder.fixed("perceptionRegionShape", 4, 3)?;
            coder.fixed("radial", 0, 3)?;
            integer!(coder, "range", *range, 0, 4095);
            for angle in angles {
                integer!(coder, "horizontalOpeningAngle", *angle, 0, 3601);
            }
        }
        if has_confidence {
            integer!(coder, "perceptionRegionConfidence", *self.confidence.get_or_insert_default(), 1, 101);
        }
        coder.flag("shadowingApplies", &mut self.is_shadowed)
    }
}

impl Content for Perceived {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        coder.fixed("perceivedObjectContainer", 0, 1)?;
        integer!(coder, "numberOfPerceivedObjects", self.total, 0, 255);
        coder.fixed("perceivedObjects", 0, 1)?;
        let mut len = self.objects.len as i64;
        coder.integer("perceivedObjects", &mut len, 0, 255)?;
        self.objects.len = within(len, Cpm::OBJECTS_MAX, "perceivedObjects")?;
        self.objects.items[..self.objects.len].iter_mut().try_for_each(|object| object.code(coder))
    }
}

/// More than are kept are refused.
fn within(len: i64, most: usize, field: &'static str) -> Result<usize, UperError> {
    let len = len as usize;
    if len > most { Err(UperError::Unknown { field }) } else { Ok(len) }
}
