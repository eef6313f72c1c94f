// Carries streams of a scenario over ZeroC Ice with IceStorm; ../common/contract.h has what all adapters share.
//
//   adapter [--bodies FOLDER] ADDRESS tcp BROKER
//   adapter [--bodies FOLDER] ADDRESS ssl BROKER KEYS [TRUSTED]
//
// BROKER is the address of the node on which IceStorm runs, KEYS the folder of a certificate, and TRUSTED the holders of certificates with
// whom it speaks, as IceSSL.TrustOnly has them. Each stream is a topic and has a connection of its own, as if it had a process of its own.
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

#include <Ice/Ice.h>
#include <IceStorm/IceStorm.h>

#include "contract.h"
#include "message.h"

namespace {

constexpr const char *PORT = "10000";

class Receiver : public chronoseal::Sink {
public:
    explicit Receiver(const stream &stream) : received(stream) {}

    void take(long long number, int checksum, std::pair<const Ice::Byte *, const Ice::Byte *> bytes, const Ice::Current &) override {
        const std::int64_t at_ns = contract_now_ns();
        const auto length = static_cast<std::uint32_t>(bytes.second - bytes.first);
        contract_received(&received, static_cast<std::uint64_t>(number), bytes.first, length, static_cast<std::uint32_t>(checksum), at_ns);
    }

private:
    const stream &received;
};

/// The publisher of a stream.
struct Sender {
    std::shared_ptr<IceStorm::TopicPrx> topic;
    std::shared_ptr<chronoseal::SinkPrx> sink;
};

Ice::PropertiesPtr properties_of(const call *call) {
    const Ice::PropertiesPtr properties = Ice::createProperties();
    // By default Ice refuses messages above 1 MiB.
    properties->setProperty("Ice.MessageSizeMax", "0");
    properties->setProperty("Ice.Default.Host", call->address);
    if (call->words_count > 1) {
        properties->setProperty("Ice.Plugin.IceSSL", "IceSSL:createIceSSL");
        properties->setProperty("IceSSL.DefaultDir", call->words[1]);
        properties->setProperty("IceSSL.CAs", "ca.pem");
        properties->setProperty("IceSSL.CertFile", "certificate.pem");
        properties->setProperty("IceSSL.KeyFile", "key.pem");
        properties->setProperty("IceSSL.VerifyPeer", "2");
    }
    if (call->words_count > 2) {
        properties->setProperty("IceSSL.TrustOnly", call->words[2]);
    }
    return properties;
}

/// Both ends may come first.
std::shared_ptr<IceStorm::TopicPrx> topic_of(const std::shared_ptr<IceStorm::TopicManagerPrx> &manager, const stream &stream) {
    for (;;) {
        try {
            return manager->retrieve(stream.name);
        } catch (const IceStorm::NoSuchTopic &) {
        }
        try {
            return manager->create(stream.name);
        } catch (const IceStorm::TopicExists &) {
        }
    }
}

/// Waits until the broker answers; NULL if the run is over before.
std::shared_ptr<IceStorm::TopicManagerPrx> await_broker(const Ice::CommunicatorPtr &communicator, const call *call) {
    const std::string proxy = std::string("IceStorm/TopicManager:") + call->mode + " -h " + call->words[0] + " -p " + PORT;
    std::string why;
    for (int waited_ms = 0; waited_ms <= MATCH_S * 1000 && !contract_is_stopped(); waited_ms += 50) {
        try {
            return Ice::checkedCast<IceStorm::TopicManagerPrx>(communicator->stringToProxy(proxy));
        } catch (const Ice::SecurityException &exception) {
            contract_fail(EXIT_REFUSED, "broker", exception.reason.c_str());
        } catch (const Ice::LocalException &exception) {
            why = exception.what();
        }
        contract_sleep_ms(50);
    }
    if (!contract_is_stopped()) {
        contract_fail(EXIT_NO_MATCH, "broker", why.c_str());
    }
    return nullptr;
}

void make_sender(stream &stream, const std::shared_ptr<IceStorm::TopicPrx> &topic) {
    const auto publisher = topic->getPublisher()->ice_oneway()->ice_connectionId(stream.name);
    stream.end = new Sender{topic, Ice::uncheckedCast<chronoseal::SinkPrx>(publisher)};
}

/// With a thread of its own, which keeps the order.
void make_receiver(const Ice::CommunicatorPtr &communicator, const call *call, stream &stream,
                   const std::shared_ptr<IceStorm::TopicPrx> &topic) {
    const std::string name = std::string("Stream") + std::to_string(stream.number);
    communicator->getProperties()->setProperty(name + ".ThreadPool.Size", "1");
    communicator->getProperties()->setProperty(name + ".MessageSizeMax", "0");
    const auto adapter = communicator->createObjectAdapterWithEndpoints(name, std::string(call->mode) + " -h " + call->address);
    const auto proxy = adapter->addWithUUID(std::make_shared<Receiver>(stream));
    adapter->activate();
    topic->subscribeAndGetPublisher(IceStorm::QoS(), proxy->ice_oneway());
}

unsigned matched(stream *stream) {
    try {
        return static_cast<unsigned>(static_cast<Sender *>(stream->end)->topic->getSubscribers().size());
    } catch (const Ice::Exception &exception) {
        contract_fail(EXIT_OTHER, stream->name, exception.what());
    }
}

void publish(stream *stream, std::uint64_t number, const body *body) {
    try {
        static_cast<Sender *>(stream->end)
            ->sink->take(static_cast<long long>(number), static_cast<int>(body->checksum), {body->bytes, body->bytes + body->length});
    } catch (const Ice::Exception &exception) {
        contract_say(stream, "message %llu: %s", static_cast<unsigned long long>(number), exception.what());
    }
}

}  // namespace

int main(int count, char **words) {
    call *call = contract_open(count, words, "ADDRESS tcp BROKER | ADDRESS ssl BROKER KEYS [TRUSTED]", 1, 3);
    const bool is_ssl = std::strcmp(call->mode, "ssl") == 0;
    if ((!is_ssl && std::strcmp(call->mode, "tcp") != 0) || is_ssl != (call->words_count > 1)) {
        contract_fail_usage();
    }
    Ice::InitializationData data;
    data.properties = properties_of(call);
    Ice::CommunicatorPtr communicator;
    try {
        communicator = Ice::initialize(data);
    } catch (const Ice::Exception &exception) {
        contract_fail(is_ssl ? EXIT_REFUSED : EXIT_OTHER, "Ice", exception.what());
    }
    try {
        const auto manager = await_broker(communicator, call);
        for (int i = 0; i < call->streams_count && manager; i++) {
            stream &stream = call->streams[i];
            const auto topic = topic_of(manager, stream);
            stream.sends ? make_sender(stream, topic) : make_receiver(communicator, call, stream, topic);
        }
    } catch (const Ice::Exception &exception) {
        contract_fail(EXIT_OTHER, "Ice", exception.what());
    }
    const adapter adapter{matched, publish, nullptr};
    contract_run(call, &adapter);
    std::fflush(nullptr);
    // The broker may have ended already, and a farewell would wait for it.
    _exit(0);
}
