//! Any frame, for properties.

use proptest::prelude::*;

use super::{CanFrame, CanId, Dlc, FrameKind};

/// Every identifier, kind, code and content; runs of equal bits more often than chance has them.
pub(crate) fn any_frame() -> impl Strategy<Value = CanFrame> {
    let id = prop_oneof![
        (0u16..=0x7ff).prop_map(|raw| CanId::standard(raw).unwrap()),
        (0u32..=0x1fff_ffff).prop_map(|raw| CanId::extended(raw).unwrap()),
    ];
    let kind = prop_oneof![
        Just(FrameKind::Classical),
        Just(FrameKind::Remote),
        (any::<bool>(), any::<bool>()).prop_map(|(brs, esi)| FrameKind::Fd { brs, esi }),
    ];
    let byte = prop_oneof![any::<u8>(), Just(0x00), Just(0xff), Just(0xf0), Just(0x0f), Just(0xf8), Just(0x07)];
    (id, kind, 0u8..16, proptest::collection::vec(byte, 64))
        .prop_map(|(id, kind, dlc, data)| CanFrame::new(id, kind, Dlc::new(dlc).unwrap(), &data))
}
