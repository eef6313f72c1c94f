//! A body as the message that robots send. Its bytes are those of the pixels.
//!
//! The number of a message is its time stamp; the frame that it names has the checksum.

use chronoseal_contract::{Body, Stream};
use serde::{Deserialize, Serialize};

/// Pixels in a row, and bytes of a pixel.
const WIDTH: u32 = 640;
const PIXEL: u32 = 3;

/// `builtin_interfaces/Time`.
#[derive(Serialize, Deserialize)]
struct Time {
    sec: i32,
    nanosec: u32,
}

/// `std_msgs/Header`.
#[derive(Serialize, Deserialize)]
struct Header {
    stamp: Time,
    frame_id: String,
}

/// `sensor_msgs/Image`.
#[derive(Serialize, Deserialize)]
pub struct Image {
    header: Header,
    height: u32,
    width: u32,
    encoding: String,
    is_bigendian: u8,
    step: u32,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

impl Image {
    /// The message of this number.
    pub fn of(number: u64, body: Body) -> Self {
        let [low, high] = [number, number >> 32].map(|part| (part & u64::from(u32::MAX)) as u32);
        let step = WIDTH * PIXEL;
        let stamp = Time { sec: low.cast_signed(), nanosec: high };
        Self {
            header: Header { stamp, frame_id: format!("{:08x}", body.checksum) },
            height: u32::try_from(body.bytes.len()).unwrap_or(u32::MAX) / step,
            width: WIDTH,
            encoding: "rgb8".into(),
            is_bigendian: 0,
            step,
            data: body.bytes.to_vec(),
        }
    }

    /// Writes down that it was received. Who forges one need not keep to this: what does not fit is altered.
    pub fn received(&self, stream: &Stream, at_ns: i64) {
        let Time { sec, nanosec } = self.header.stamp;
        let number = u64::from(sec.cast_unsigned()) | u64::from(nanosec) << 32;
        let checksum = u32::from_str_radix(&self.header.frame_id, 16).unwrap_or_default();
        stream.received(number, &self.data, checksum, at_ns);
    }
}
