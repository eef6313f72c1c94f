#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chronoseal_fuzz::stream_table(data));
