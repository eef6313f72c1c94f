#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chronoseal_fuzz::measured_middleware(data));
