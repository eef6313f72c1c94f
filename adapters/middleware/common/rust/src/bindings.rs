//! `../contract.h` and `bindings.c`, as they are.

use std::ffi::{c_char, c_int, c_uint, c_void};

#[repr(C)]
pub(crate) struct Call {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(crate) struct Stream {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(crate) struct Body {
    _opaque: [u8; 0],
}

pub(crate) type Matched = unsafe extern "C" fn(*mut Stream) -> c_uint;
pub(crate) type Send = unsafe extern "C" fn(*mut Stream, u64, *const Body);
pub(crate) type Receive = unsafe extern "C" fn(*mut Stream);

unsafe extern "C" {
    pub(crate) fn contract_open(
        count: c_int,
        words: *mut *mut c_char,
        usage: *const c_char,
        min: c_int,
        max: c_int,
    ) -> *mut Call;
    pub(crate) fn contract_limit(call: *const Call, length_max: u32);
    pub(crate) fn contract_fail_usage() -> !;
    pub(crate) fn contract_fail(status: c_int, what: *const c_char, why: *const c_char) -> !;
    pub(crate) fn contract_received(
        stream: *const Stream,
        number: u64,
        bytes: *const c_void,
        length: u32,
        checksum: u32,
        at_ns: i64,
    );
    pub(crate) fn contract_is_stopped() -> bool;
    pub(crate) fn contract_now_ns() -> i64;

    pub(crate) fn binding_address(call: *const Call) -> *const c_char;
    pub(crate) fn binding_mode(call: *const Call) -> *const c_char;
    pub(crate) fn binding_words_count(call: *const Call) -> c_int;
    pub(crate) fn binding_word(call: *const Call, place: c_int) -> *const c_char;
    pub(crate) fn binding_streams_count(call: *const Call) -> c_int;
    pub(crate) fn binding_stream(call: *mut Call, place: c_int) -> *mut Stream;

    pub(crate) fn binding_name(stream: *const Stream) -> *const c_char;
    pub(crate) fn binding_number(stream: *const Stream) -> u16;
    pub(crate) fn binding_sends(stream: *const Stream) -> bool;
    pub(crate) fn binding_peers_count(stream: *const Stream) -> c_uint;
    pub(crate) fn binding_peer(stream: *const Stream, place: c_uint) -> *const c_char;
    pub(crate) fn binding_bodies_count(stream: *const Stream) -> u32;
    pub(crate) fn binding_body(stream: *const Stream, place: u32) -> *const Body;
    pub(crate) fn binding_end(stream: *const Stream) -> *mut c_void;
    pub(crate) fn binding_set_end(stream: *mut Stream, end: *mut c_void);

    pub(crate) fn binding_bytes(body: *const Body) -> *const u8;
    pub(crate) fn binding_length(body: *const Body) -> u32;
    pub(crate) fn binding_checksum(body: *const Body) -> u32;

    pub(crate) fn binding_say(stream: *const Stream, text: *const c_char);
    pub(crate) fn binding_run(call: *mut Call, matched: Matched, send: Send, receive: Receive);

    pub(crate) fn _exit(status: c_int) -> !;
}
