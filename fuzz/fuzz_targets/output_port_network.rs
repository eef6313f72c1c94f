#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chronoseal_fuzz::output_port_network(data));
