//! can-utils: the log of `candump -l` in and out, and what `candump` shows on its console in.
//!
//! Source: `lib.h` and `candump.c` of can-utils 2023.03; the log's flags of FD frames are those of `struct canfd_frame`.

mod console;
mod log;
mod write;

pub(crate) use console::{is_console_line, read as read_console};
pub(crate) use log::{is_log_line, read as read_log};
pub use write::write as write_candump;

/// `CAN_ERR_FLAG`: the identifier is the class of an error.
const ERROR_FLAG: u32 = 0x2000_0000;
/// `CAN_ERR_MASK`.
const ERROR_MASK: u32 = 0x1fff_ffff;
/// `CANFD_BRS`, `CANFD_ESI`, `CANFD_FDF`.
const BRS_FLAG: u32 = 0x1;
const ESI_FLAG: u32 = 0x2;
const FDF_FLAG: u32 = 0x4;
