//! Our bytes beside those of others.

mod recorded_frames;
mod tshark;
