// Bodies of a stream as the messages that robots send. The bytes of a body are those of the readings, pixels or points.
//
// The number of a message is its time stamp, which ROS leaves alone; the frame that it names has the checksum and the length.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <sensor_msgs/Image.h>
#include <sensor_msgs/LaserScan.h>
#include <sensor_msgs/PointCloud2.h>

#include "contract.h"

inline std::string frame_of(const body &body) {
    char text[24];
    std::snprintf(text, sizeof text, "%08x %u", body.checksum, body.length);
    return text;
}

/// 32-bit readings; the last is filled up with zeros where the body ends within it.
inline void fill(sensor_msgs::LaserScan &scan, const body &body) {
    scan.header.frame_id = frame_of(body);
    scan.angle_min = -2.35619449f;
    scan.angle_max = 2.35619449f;
    scan.range_max = 30.0f;
    scan.ranges.assign((body.length + sizeof(float) - 1) / sizeof(float), 0.0f);
    scan.angle_increment = scan.ranges.empty() ? 0.0f : (scan.angle_max - scan.angle_min) / static_cast<float>(scan.ranges.size());
    std::memcpy(scan.ranges.data(), body.bytes, body.length);
}

inline void fill(sensor_msgs::Image &image, const body &body) {
    image.header.frame_id = frame_of(body);
    image.encoding = "rgb8";
    image.width = 640;
    image.step = 3 * image.width;
    image.height = body.length / image.step;
    image.data.assign(body.bytes, body.bytes + body.length);
}

inline void fill(sensor_msgs::PointCloud2 &cloud, const body &body) {
    cloud.header.frame_id = frame_of(body);
    for (const char *name : {"x", "y", "z", "rgb"}) {
        sensor_msgs::PointField field;
        field.name = name;
        field.offset = static_cast<std::uint32_t>(sizeof(float) * cloud.fields.size());
        field.datatype = sensor_msgs::PointField::FLOAT32;
        field.count = 1;
        cloud.fields.push_back(field);
    }
    cloud.point_step = 16;
    cloud.height = 1;
    cloud.width = body.length / cloud.point_step;
    cloud.row_step = body.length;
    cloud.data.assign(body.bytes, body.bytes + body.length);
}

struct Bytes {
    const void *at;
    std::size_t length;
};
inline Bytes bytes_of(const sensor_msgs::LaserScan &scan) { return {scan.ranges.data(), scan.ranges.size() * sizeof(float)}; }
inline Bytes bytes_of(const sensor_msgs::Image &image) { return {image.data.data(), image.data.size()}; }
inline Bytes bytes_of(const sensor_msgs::PointCloud2 &cloud) { return {cloud.data.data(), cloud.data.size()}; }

template <typename Message>
void set_number(Message &message, std::uint64_t number) {
    message.header.stamp.sec = static_cast<std::uint32_t>(number);
    message.header.stamp.nsec = static_cast<std::uint32_t>(number >> 32);
}

/// A message that says to which stream it belongs, and so what ROS takes to serialize it or to deserialize it. On the wire it is the message.
template <typename Message>
struct Timed {
    Message message;
    const stream *of = nullptr;
};

namespace ros {
namespace message_traits {
template <typename Message> struct IsMessage<Timed<Message>> : IsMessage<Message> {};
template <typename Message> struct HasHeader<Timed<Message>> : HasHeader<Message> {};
template <typename Message> struct MD5Sum<Timed<Message>> {
    static const char *value() { return MD5Sum<Message>::value(); }
    static const char *value(const Timed<Message> &) { return value(); }
};
template <typename Message> struct DataType<Timed<Message>> {
    static const char *value() { return DataType<Message>::value(); }
    static const char *value(const Timed<Message> &) { return value(); }
};
template <typename Message> struct Definition<Timed<Message>> {
    static const char *value() { return Definition<Message>::value(); }
    static const char *value(const Timed<Message> &) { return value(); }
};
}  // namespace message_traits

namespace serialization {
template <typename Message>
struct Serializer<Timed<Message>> {
    template <typename Stream>
    static void write(Stream &to, const Timed<Message> &timed) {
        const std::int64_t begin_ns = contract_now_ns();
        serialize(to, timed.message);
        contract_serialized(timed.of, contract_now_ns() - begin_ns);
    }
    template <typename Stream>
    static void read(Stream &from, Timed<Message> &timed) {
        const std::int64_t begin_ns = contract_now_ns();
        deserialize(from, timed.message);
        contract_serialized(timed.of, contract_now_ns() - begin_ns);
    }
    static std::uint32_t serializedLength(const Timed<Message> &timed) { return serializationLength(timed.message); }
};
}  // namespace serialization
}  // namespace ros

/// Writes down a message that was received at a time.
template <typename Message>
void note_received(const stream *stream, const Message &message, std::int64_t at_ns) {
    const std::uint64_t number = message.header.stamp.sec | static_cast<std::uint64_t>(message.header.stamp.nsec) << 32;
    const Bytes bytes = bytes_of(message);
    unsigned checksum = 0, length = 0;
    // Whoever forges one need not keep to this: what does not fit is altered.
    if (std::sscanf(message.header.frame_id.c_str(), "%8x %u", &checksum, &length) != 2 || length > bytes.length) {
        length = static_cast<unsigned>(bytes.length);
    }
    contract_received(stream, number, bytes.at, length, checksum, at_ns);
}
