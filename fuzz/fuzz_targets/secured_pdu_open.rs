#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chronoseal_fuzz::secured_pdu_open(data));
