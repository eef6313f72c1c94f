//! Counters of the hardware.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The processor's time-stamp counter, read when all before it is done; `None` where a program cannot read one.
pub(crate) fn counter() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: every x86-64 processor has both instructions, and they touch no memory.
        unsafe {
            _mm_lfence();
            Some(_rdtsc())
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The clock of a network interface (PHC).
pub(crate) struct HardwareClock(File);

/// The first of them.
pub(crate) fn hardware_clock() -> io::Result<HardwareClock> {
    Ok(HardwareClock(File::open("/dev/ptp0")?))
}

impl HardwareClock {
    /// Its time `[ns]`.
    pub(crate) fn read(&self) -> Option<i64> {
        // As the kernel's header has it: CLOCKFD is 3, above it the complement of the descriptor.
        let clock = (!self.0.as_raw_fd() << 3) | 3;
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is valid for writing through the call.
        let result = unsafe { libc::clock_gettime(clock, &raw mut now) };
        (result == 0).then(|| now.tv_sec * 1_000_000_000 + now.tv_nsec)
    }
}
