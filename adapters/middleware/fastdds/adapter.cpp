// Carries streams of a scenario over eProsima Fast DDS; ../common/contract.h has what all adapters share.
//
//   adapter [--bodies FOLDER] ADDRESS best-effort|reliable [SECURITY_FOLDER [authenticated]]
//
// Each stream is a topic of its own. With a folder of keys and documents it speaks DDS Security with all three plugins; with
// `authenticated` behind it, with that of authentication alone.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include "contract.h"
#include "message.hpp"

using namespace eprosima::fastdds::dds;

namespace {

constexpr std::uint32_t BUFFER = 4 << 20;       // of a socket [byte]
constexpr std::uint32_t DATAGRAM_MAX = 65'500;  // [byte]
constexpr std::int32_t HISTORY = 16;            // messages

template <typename Entity>
Entity *must(const char *what, Entity *entity) {
    if (entity == nullptr) {
        contract_fail(EXIT_OTHER, what, "Fast DDS refused it");
    }
    return entity;
}

void set_security(DomainParticipantQos &qos, const std::string &folder, bool is_encrypted) {
    auto &properties = qos.properties().properties();
    const std::string authentication = "dds.sec.auth.builtin.PKI-DH.", access = "dds.sec.access.builtin.Access-Permissions.";
    const std::string file = "file://" + folder + "/";
    properties.emplace_back("dds.sec.auth.plugin", "builtin.PKI-DH");
    properties.emplace_back(authentication + "identity_ca", file + "identity_ca.pem");
    properties.emplace_back(authentication + "identity_certificate", file + "identity.pem");
    properties.emplace_back(authentication + "private_key", file + "key.pem");
    if (is_encrypted) {
        properties.emplace_back("dds.sec.access.plugin", "builtin.Access-Permissions");
        properties.emplace_back(access + "permissions_ca", file + "permissions_ca.pem");
        properties.emplace_back(access + "governance", file + "governance.p7s");
        properties.emplace_back(access + "permissions", file + "permissions.p7s");
        properties.emplace_back("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC");
    }
}

DomainParticipant *make_participant(const call *call) {
    DomainParticipantQos qos;
    auto transport = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    transport->sendBufferSize = BUFFER;
    transport->receiveBufferSize = BUFFER;
    transport->maxMessageSize = DATAGRAM_MAX;
    transport->interfaceWhiteList.emplace_back(call->address);
    // One transport: whatever shares memory is left out.
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(transport);
    // A missed announcement would wait for the next period, which is 3 s.
    auto &announcements = qos.wire_protocol().builtin.discovery_config.initial_announcements;
    announcements.count = 50;
    announcements.period = {0, 100'000'000};
    if (call->words_count > 0) {
        set_security(qos, call->words[0], call->words_count == 1);
    }
    DomainParticipant *participant = DomainParticipantFactory::get_instance()->create_participant(0, qos);
    if (participant == nullptr) {
        contract_fail(call->words_count > 0 ? EXIT_REFUSED : EXIT_OTHER, "participant", "Fast DDS refused it");
    }
    return participant;
}

// Writers and readers have the same settings under the same names.
template <typename Qos>
Qos end_qos(bool is_reliable) {
    Qos qos;
    qos.reliability().kind = is_reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    qos.history().kind = KEEP_LAST_HISTORY_QOS;
    qos.history().depth = HISTORY;
    qos.resource_limits().allocated_samples = HISTORY;
    qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.data_sharing().off();
    return qos;
}

void make_ends(call *call, DomainParticipant *participant, bool is_reliable) {
    std::uint32_t length_max = 0;
    for (int i = 0; i < call->streams_count; i++) {
        length_max = std::max(length_max, call->streams[i].length);
    }
    TypeSupport type(new MessageType(length_max));
    type.register_type(participant);
    auto writer_qos = end_qos<DataWriterQos>(is_reliable);
    writer_qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
    const auto reader_qos = end_qos<DataReaderQos>(is_reliable);
    Publisher *publisher = must("publisher", participant->create_publisher(PUBLISHER_QOS_DEFAULT));
    Subscriber *subscriber = must("subscriber", participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT));
    for (int i = 0; i < call->streams_count; i++) {
        stream &stream = call->streams[i];
        Topic *topic = must(stream.name, participant->create_topic(stream.name, type.get_type_name(), TOPIC_QOS_DEFAULT));
        if (stream.sends) {
            stream.end = must(stream.name, publisher->create_datawriter(topic, writer_qos));
        } else {
            stream.end = must(stream.name, subscriber->create_datareader(topic, reader_qos));
        }
    }
}

unsigned matched(stream *stream) {
    PublicationMatchedStatus status;
    static_cast<DataWriter *>(stream->end)->get_publication_matched_status(status);
    return static_cast<unsigned>(status.current_count);
}

void publish(stream *stream, std::uint64_t number, const body *body) {
    Outgoing message{stream, number, body};
    if (!static_cast<DataWriter *>(stream->end)->write(&message)) {
        contract_say(stream, "message %llu: Fast DDS did not take it", static_cast<unsigned long long>(number));
    }
}

void subscribe(stream *stream) {
    auto *reader = static_cast<DataReader *>(stream->end);
    Incoming message{};
    message.of = stream;
    SampleInfo info;
    while (!contract_is_stopped()) {
        if (!reader->wait_for_unread_message({0, 100'000'000})) {
            continue;
        }
        while (reader->take_next_sample(&message, &info) == ReturnCode_t::RETCODE_OK) {
            const std::int64_t at_ns = contract_now_ns();
            if (info.valid_data) {
                contract_received(stream, message.number, message.bytes.data(), static_cast<std::uint32_t>(message.bytes.size()),
                                  message.checksum, at_ns);
            }
        }
    }
}

}  // namespace

int main(int count, char **words) {
    call *call = contract_open(count, words, "ADDRESS best-effort|reliable [SECURITY_FOLDER [authenticated]]", 0, 2);
    const bool is_reliable = std::strcmp(call->mode, "reliable") == 0;
    const bool is_known = call->words_count < 2 || std::strcmp(call->words[1], "authenticated") == 0;
    if (!is_known || (!is_reliable && std::strcmp(call->mode, "best-effort") != 0)) {
        contract_fail_usage();
    }
    DomainParticipant *participant = make_participant(call);
    make_ends(call, participant, is_reliable);
    const adapter adapter{matched, publish, subscribe};
    contract_run(call, &adapter);
    participant->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant);
    return 0;
}
