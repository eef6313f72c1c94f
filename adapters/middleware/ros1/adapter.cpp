// Carries streams of a scenario over ROS 1; ../common/contract.h has what all adapters share.
//
//   adapter [--bodies FOLDER] ADDRESS tcp MASTER [QUEUE]
//
// MASTER is the address of the node on which the ROS master runs, and QUEUE how many messages may wait at either end, 1 if it is not given.
// Each stream is a topic of its own. Its type goes by its name: a laser sends LaserScan, a cloud PointCloud2, whatever else Image.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <ros/ros.h>

#include "contract.h"
#include "messages.hpp"

namespace {

constexpr const char *PORT = "11311";

/// The publisher of a stream.
class Sender {
public:
    virtual ~Sender() = default;
    virtual unsigned matched() const = 0;
    virtual void send(std::uint64_t number, std::size_t body) = 0;
};

template <typename Message>
class SenderOf : public Sender {
public:
    SenderOf(ros::NodeHandle &node, const stream &stream, const std::string &topic, std::uint32_t queue)
        : publisher(node.advertise<Timed<Message>>(topic, queue)), messages(stream.bodies_count) {
        for (std::size_t i = 0; i < messages.size(); i++) {
            messages[i].of = &stream;
            fill(messages[i].message, stream.bodies[i]);
        }
    }

    unsigned matched() const override { return publisher.getNumSubscribers(); }

    void send(std::uint64_t number, std::size_t body) override {
        set_number(messages[body].message, number);
        publisher.publish(messages[body]);
    }

private:
    ros::Publisher publisher;
    std::vector<Timed<Message>> messages;
};

/// A name that ROS takes.
std::string topic_of(const stream &stream) {
    std::string topic = stream.name;
    std::replace_if(topic.begin(), topic.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return "/" + topic;
}

template <typename Message>
void make_end(ros::NodeHandle &node, stream &stream, std::uint32_t queue, bool is_prompt) {
    if (stream.sends) {
        stream.end = static_cast<Sender *>(new SenderOf<Message>(node, stream, topic_of(stream), queue));
        return;
    }
    const boost::function<void(const boost::shared_ptr<const Timed<Message>> &)> on_message = [&stream](const auto &timed) {
        const std::int64_t at_ns = contract_now_ns();
        note_received(&stream, timed->message, at_ns);
    };
    const boost::function<boost::shared_ptr<Timed<Message>>()> make = [&stream] {
        auto timed = boost::make_shared<Timed<Message>>();
        timed->of = &stream;
        return timed;
    };
    ros::SubscribeOptions options;
    options.init<Timed<Message>>(topic_of(stream), queue, on_message, make);
    options.transport_hints = ros::TransportHints().tcpNoDelay(is_prompt);
    stream.end = new ros::Subscriber(node.subscribe(options));
}

void make_ends(call *call, ros::NodeHandle &node, std::uint32_t queue, bool is_prompt) {
    for (int i = 0; i < call->streams_count; i++) {
        stream &stream = call->streams[i];
        if (std::strstr(stream.name, "laser") != nullptr) {
            make_end<sensor_msgs::LaserScan>(node, stream, queue, is_prompt);
        } else if (std::strstr(stream.name, "cloud") != nullptr) {
            make_end<sensor_msgs::PointCloud2>(node, stream, queue, is_prompt);
        } else {
            make_end<sensor_msgs::Image>(node, stream, queue, is_prompt);
        }
    }
}

void await_master() {
    for (int waited_ms = 0; !ros::master::check() && !contract_is_stopped(); waited_ms += 20) {
        if (waited_ms > MATCH_S * 1000) {
            contract_fail(EXIT_NO_MATCH, "master", "it does not answer");
        }
        contract_sleep_ms(20);
    }
}

unsigned matched(stream *stream) { return static_cast<Sender *>(stream->end)->matched(); }

void publish(stream *stream, std::uint64_t number, const body *body) {
    static_cast<Sender *>(stream->end)->send(number, static_cast<std::size_t>(body - stream->bodies));
}

}  // namespace

int main(int count, char **words) {
    call *call = contract_open(count, words, "ADDRESS tcp|tcp-with-delay MASTER [QUEUE]", 1, 2);
    const int queue = call->words_count == 2 ? std::atoi(call->words[1]) : 1;
    const bool is_prompt = std::strcmp(call->mode, "tcp") == 0;
    if ((!is_prompt && std::strcmp(call->mode, "tcp-with-delay") != 0) || queue < 1) {
        contract_fail_usage();
    }
    std::string name = std::string("node_") + call->address;
    std::replace(name.begin(), name.end(), '.', '_');
    const ros::M_string settings = {{"__ip", call->address}, {"__master", std::string("http://") + call->words[0] + ":" + PORT}};
    // Without it, ROS makes a folder for logs in the user's home, and writes nothing there.
    setenv("ROS_LOG_DIR", "/tmp", 0);
    ros::init(settings, name, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    await_master();
    if (!contract_is_stopped()) {
        ros::NodeHandle node;
        make_ends(call, node, static_cast<std::uint32_t>(queue), is_prompt);
        ros::AsyncSpinner spinner(static_cast<std::uint32_t>(std::max(call->streams_count, 1)));
        spinner.start();
        const adapter adapter{matched, publish, nullptr};
        contract_run(call, &adapter);
    }
    std::fflush(nullptr);
    // Whoever says goodbye to a master that has ended already waits for it.
    _exit(0);
}
