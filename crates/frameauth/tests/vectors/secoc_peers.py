#!/usr/bin/env python3
"""Secured PDUs by two other implementations of SecOC: makes our test vectors, and checks what we made.

Development only. Nothing here is part of a build or a test; neither peer is shipped.

* scapy 2.8, contrib/automotive/autosar/secoc_canfd.py (GPL-2.0-only): `pip install scapy==2.8.0 cryptography`.
  Its MAC covers payload and freshness value only; `get_secoc_payload`, the hook it documents for customization, puts
  the data identifier in front here. Its frame is profile 1's; a subclass replaces the trailer for profiles 2 and 3.
* opendbc, opendbc/car/secoc.py (MIT, commaai/opendbc at 559d291cfa27c3500e5fa3105ffdea809bdd1b27): `add_mac` and
  `build_sync_mac`, as spoken by vehicles; needs `pip install pycryptodome` and a path to that file.

    secoc_peers.py generate PATH_OF_OPENDBC_SECOC_PY > secoc_peers.json
    cargo run -q -p chronoseal-frameauth --example secoc_frames | secoc_peers.py check
"""
import importlib.util
import json
import logging
import random
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.contrib.automotive.autosar.secoc import PduPayloadField  # noqa: E402
from scapy.contrib.automotive.autosar.secoc_canfd import SecOC_CANFD  # noqa: E402
from scapy.fields import BitField, XStrFixedLenField  # noqa: E402
from scapy.packet import Raw  # noqa: E402


class Profile1(SecOC_CANFD):
    """Scapy's own frame; key, freshness value and data identifier come from the instance."""

    name = "Profile1"
    sec = None  # (key, data_id, freshness bytes)

    def get_secoc_key(self):
        return Profile1.sec[0]

    def get_secoc_freshness_value(self):
        return Profile1.sec[2]

    def get_secoc_payload(self):
        # Scapy reads an empty payload as None.
        return Profile1.sec[1].to_bytes(2, "big") + bytes(self.pdu_payload or b"")


class Profile2(Profile1):
    """No freshness value: three bytes of tag."""

    name = "Profile2"
    fields_desc = SecOC_CANFD.fields_desc[:-3] + [
        PduPayloadField("pdu_payload", Raw(), guess_pkt_cls=lambda pkt, data: Raw(data), length_from=lambda pkt: pkt.length - 3),
        XStrFixedLenField("tmac", None, length=3),
    ]

    def secoc_authenticate(self):
        self.tmac = self.get_message_authentication_code()[:3]


class Profile3(Profile1):
    """Four bits of freshness value, 28 of tag."""

    name = "Profile3"
    fields_desc = SecOC_CANFD.fields_desc[:-2] + [BitField("tfv", 0, 4), BitField("tmac", 0, 28)]

    def tag_28(self):
        return int.from_bytes(self.get_message_authentication_code()[:4], "big") >> 4

    def secoc_authenticate(self):
        self.tfv = self.get_secoc_freshness_value()[-1] & 0xF
        self.tmac = self.tag_28()

    def secoc_verify(self):
        return self.tag_28() == self.tmac


FRAMES = {"profile-1": (Profile1, 4), "profile-2": (Profile2, 3), "profile-3": (Profile3, 4)}


def frame_of(profile, identifier, payload):
    frame, trailer_len = FRAMES[profile]
    return frame(identifier=identifier, length=len(payload) + trailer_len, pdu_payload=Raw(payload))


def scapy_case(rng, profile, payload_len):
    key, data_id, payload = rng.randbytes(16), rng.randrange(1 << 16), rng.randbytes(payload_len)
    freshness = {"profile-1": rng.randbytes(rng.choice([1, 4, 8])), "profile-2": b"", "profile-3": rng.randbytes(8)}[profile]
    if profile == "profile-3":
        # The lowest two bits, the reset flag, are those of the reset counter: bits 28..48 of 16 + 20 + 26 + 2.
        value = int.from_bytes(freshness, "big")
        freshness = (value & ~3 | value >> 28 & 3).to_bytes(8, "big")
    Profile1.sec = (key, data_id, freshness)
    frame = frame_of(profile, rng.randrange(1 << 11), payload)
    frame.secoc_authenticate()
    assert frame.secoc_verify()
    return {
        "profile": profile,
        "key": key.hex(),
        "data_id": data_id,
        "payload": payload.hex(),
        "freshness": freshness.hex(),
        "pdu": bytes(frame)[8:].hex(),
    }


def opendbc_cases(rng, path):
    spec = importlib.util.spec_from_file_location("secoc", path)
    secoc = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(secoc)
    data, sync = [], []
    for _ in range(32):
        key, trip, reset, message = rng.randbytes(16), rng.randrange(1 << 16), rng.randrange(1 << 20), rng.randrange(256)
        data_id, payload = rng.randrange(1 << 11), rng.randbytes(4)
        _, pdu, _ = secoc.add_mac(key, trip, reset, message, (data_id, payload + bytes(4), 0))
        counters = {"key": key.hex(), "trip": trip, "reset": reset}
        data.append(counters | {"message": message, "data_id": data_id, "payload": payload.hex(), "pdu": pdu.hex()})
        sync.append(counters | {"data_id": 0xF, "tag": f"{secoc.build_sync_mac(key, trip, reset):07x}"})
    return data, sync


def generate(path):
    rng = random.Random(654)
    # Every PDU has a length that a CAN FD frame can have: scapy pads the others behind the tag.
    lengths = {"profile-1": [0, 1, 4, 8, 12, 28, 44, 60], "profile-2": [0, 5, 61], "profile-3": [0, 4, 8, 28, 60]}
    scapy = [scapy_case(rng, profile, n) for profile, ns in lengths.items() for n in ns for _ in range(4)]
    data, sync = opendbc_cases(rng, path)
    source = (
        "Made with secoc_peers.py beside this file. scapy: scapy 2.8.0 contrib/automotive/autosar/secoc_canfd.py, data "
        "identifier in the MAC input through its hook get_secoc_payload. opendbc_*: commaai/opendbc (MIT) "
        "opendbc/car/secoc.py at 559d291cfa27c3500e5fa3105ffdea809bdd1b27."
    )
    lines = ",\n".join(
        f'  "{name}": [\n' + ",\n".join("    " + json.dumps(case) for case in cases) + "\n  ]"
        for name, cases in [("scapy", scapy), ("opendbc_data", data), ("opendbc_sync", sync)]
    )
    print(f'{{\n  "source": {json.dumps(source)},\n{lines}\n}}')


def check(lines):
    """Each line: profile, key, data identifier, complete freshness value (`-`: none) and PDU, in hexadecimal."""
    counts, refused = {}, 0
    for line in lines:
        profile, key, data_id, freshness, pdu = line.split()
        pdu = bytes.fromhex(pdu)
        Profile1.sec = (bytes.fromhex(key), int(data_id, 16), bytes.fromhex(freshness.strip("-")))
        frame, trailer_len = FRAMES[profile]
        header = bytes(frame_of(profile, 0x123, pdu[:-trailer_len]))[:8]
        received = frame(header + pdu)
        assert bytes(received) == header + pdu, line
        assert received.secoc_verify(), f"scapy refuses {line}"
        if profile != "profile-2":
            mask = 0xFF if profile == "profile-1" else 0xF
            assert received.tfv == Profile1.sec[2][-1] & mask, line
        changed = bytearray(header + pdu)
        changed[-1] ^= 1
        refused += not frame(bytes(changed)).secoc_verify()
        counts[profile] = counts.get(profile, 0) + 1
    assert counts and refused == sum(counts.values())
    print(f"scapy takes {counts} and refuses each with one bit changed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["generate"] and len(sys.argv) == 3:
        generate(sys.argv[2])
    elif sys.argv[1:] == ["check"]:
        check(sys.stdin)
    else:
        sys.exit(__doc__)
