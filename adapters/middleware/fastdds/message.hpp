// What the adapter sends for a message of a stream: number, checksum, bytes, in CDR. Debian has no generator of Fast DDS types.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastdds/dds/topic/TopicDataType.hpp>

#include "contract.h"

struct Outgoing {
    const stream *of;
    std::uint64_t number;
    const body *content;
};

struct Incoming {
    const stream *of;
    std::uint64_t number;
    std::uint32_t checksum;
    std::vector<std::uint8_t> bytes;
};

/// Serializes an `Outgoing`, and deserializes to an `Incoming`.
class MessageType : public eprosima::fastdds::dds::TopicDataType {
public:
    /// With room for a message of this length; longer ones are given more.
    explicit MessageType(std::uint32_t length) {
        setName("chronoseal::Message");
        m_typeSize = HEAD + length;
        m_isGetKeyDefined = false;
    }

    bool serialize(void *data, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override {
        const std::int64_t begin_ns = contract_now_ns();
        const auto &message = *static_cast<const Outgoing *>(data);
        eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload->data), payload->max_size);
        eprosima::fastcdr::Cdr cdr(buffer, ENDIANNESS, eprosima::fastcdr::Cdr::DDS_CDR);
        payload->encapsulation = CDR_LE;
        try {
            cdr.serialize_encapsulation();
            cdr << message.number << message.content->checksum << message.content->length;
            cdr.serializeArray(message.content->bytes, message.content->length);
        } catch (const eprosima::fastcdr::exception::Exception &) {
            return false;
        }
        payload->length = static_cast<std::uint32_t>(cdr.getSerializedDataLength());
        contract_serialized(message.of, contract_now_ns() - begin_ns);
        return true;
    }

    bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload, void *data) override {
        const std::int64_t begin_ns = contract_now_ns();
        auto &message = *static_cast<Incoming *>(data);
        eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload->data), payload->length);
        eprosima::fastcdr::Cdr cdr(buffer, ENDIANNESS, eprosima::fastcdr::Cdr::DDS_CDR);
        try {
            cdr.read_encapsulation();
            cdr >> message.number >> message.checksum >> message.bytes;
        } catch (const eprosima::fastcdr::exception::Exception &) {
            return false;
        }
        if (message.of != nullptr) {
            contract_serialized(message.of, contract_now_ns() - begin_ns);
        }
        return true;
    }

    std::function<std::uint32_t()> getSerializedSizeProvider(void *data) override {
        const std::uint32_t length = static_cast<const Outgoing *>(data)->content->length;
        return [length] { return HEAD + length; };
    }

    void *createData() override { return new Incoming{}; }

    void deleteData(void *data) override { delete static_cast<Incoming *>(data); }

    bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }

private:
    static constexpr auto ENDIANNESS = eprosima::fastcdr::Cdr::LITTLE_ENDIANNESS;
    /// Encapsulation, number, checksum, count of bytes.
    static constexpr std::uint32_t HEAD = 4 + 8 + 4 + 4;
};
