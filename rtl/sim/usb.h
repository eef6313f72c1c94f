// What a request and its answer take on USB, by declaration: no time is measured anywhere.
//
// Each direction waits for one whole (micro)frame, the longest a transfer that has just been queued can wait on an idle
// bus, and then moves its packets at the most bulk packets of full size that fit into a (micro)frame: USB 2.0 tables 5-9
// and 5-10. Work of the host's driver is not in it.
#pragma once

#include <cstddef>
#include <cstdint>

enum class Link : uint8_t { none = 0, usb_full = 1, usb_high = 2 };

struct LinkTiming {
    uint64_t interval_ns;
    unsigned packets_per_interval;
    unsigned packet_len;  // [byte]
};

constexpr LinkTiming timing_of(Link link) {
    return link == Link::usb_full ? LinkTiming{1'000'000, 19, 64} : LinkTiming{125'000, 13, 512};
}

// One direction [ns].
constexpr uint64_t transfer_ns(Link link, size_t len) {
    if (link == Link::none) return 0;
    LinkTiming timing = timing_of(link);
    uint64_t packets = (len + timing.packet_len - 1) / timing.packet_len;
    return timing.interval_ns + packets * timing.interval_ns / timing.packets_per_interval;
}
