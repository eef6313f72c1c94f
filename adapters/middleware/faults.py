#!/usr/bin/env python3
"""Breaks what security needs, and checks that a run names it: faults.py [NAMES] [--only FAULT].

    CHRONOSEAL=target/release/chronoseal adapters/middleware/faults.py fast-dds-reliable-encrypted mqtt-tls

For each configuration with keys it breaks those of the subscriber: a certificate that has expired, one of another identity, permissions signed by the wrong
authority or changed after signing, documents that contradict those of the publisher. Nothing may be delivered then, and one of the programs must print what is
wrong and what mends it. A message over the limit, a handshake that does not fit and a receive buffer that is too small are tried with the configurations that have such
limits. Exits with 1 if a check failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import conformance
from conformance import LASER, Bench, Checks, Stream

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["raw-udp", "fast-dds-best-effort", "fast-dds-reliable-encrypted", "cyclone-dds-reliable-encrypted", "ice-ssl", "ice-ssl-trust-only", "mqtt-tls", "nats-tls", "raw-tls", "raw-dtls", "ros-2-encrypted", "iceoryx2"]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def name_of(folder, *names):
    return next(folder / name for name in names if (folder / name).exists())


def certificate_of(folder):
    return name_of(folder, "identity.pem", "cert.pem", "certificate.pem")


def expired(keys):
    """The certificate of the subscriber ended years ago."""
    ca, place = keys / "ca", name_of(keys / "ca", "identity.pem", "authority.pem")
    (ca / "index.txt").write_text("")
    (ca / "serial").write_text("77\n")
    settings = f"[ca]\ndefault_ca=c\n[c]\ndatabase={ca}/index.txt\nserial={ca}/serial\nnew_certs_dir={ca}\ndefault_md=sha256\npolicy=p\n"
    (ca / "expired.cnf").write_text(settings + "[p]\ncommonName=supplied\norganizationName=optional\n")
    words = ["ca", "-batch", "-notext", "-config", ca / "expired.cnf", "-cert", place, "-keyfile", place.with_suffix(".key"), "-in", ca / "station.csr"]
    extensions = ["-extfile", ca / "holder.cnf"] if (ca / "holder.cnf").exists() else []
    openssl(*words, *extensions, "-out", certificate_of(keys / "station"), "-startdate", "20200101000000Z", "-enddate", "20200201000000Z")


def other_identity(keys):
    """The subscriber has certificate and key of another."""
    shutil.copy(certificate_of(keys / "insider"), certificate_of(keys / "station"))
    shutil.copy(keys / "insider" / "key.pem", keys / "station" / "key.pem")


def sign(keys, text, document, authority):
    openssl("smime", "-sign", "-text", "-in", text, "-out", document, "-signer", keys / f"ca/{authority}.pem", "-inkey", keys / f"ca/{authority}.key")


def wrong_authority(keys):
    sign(keys, keys / "ca/station.xml", keys / "station/permissions.p7s", "strange")


def changed(keys):
    document = keys / "station/permissions.p7s"
    document.write_bytes(document.read_bytes().replace(b"<default>DENY", b"<default>ALLOW"))


def contradiction(keys):
    """The subscriber's governance only signs what the publisher's encrypts."""
    text = re.sub("ENCRYPT(_WITH_ORIGIN_AUTHENTICATION)?<", "SIGN<", (keys / "ca/governance.xml").read_text())
    (keys / "ca/contradiction.xml").write_text(text)
    sign(keys, keys / "ca/contradiction.xml", keys / "station/governance.p7s", "permissions")


def has_documents(configuration, keys):
    return (keys / "station/permissions.p7s").exists()


def has_holders(configuration, keys):
    """Its broker lets in whom it knows, by the name in a certificate."""
    return configuration["name"] in ("mqtt-tls", "nats-tls", "ice-ssl-trust-only")


# What breaks, where, and what has to be printed.
FAULTS = {
    "expired": (expired, lambda configuration, keys: (keys / "ca/station.csr").exists(), r"ended on Feb +1 00:00:00 2020"),
    "other-identity": (other_identity, has_documents, r"has no grant for CN=insider"),
    "other-holder": (other_identity, has_holders, r"of CN=insider,O=chronoseal.*: see whether the other end lets this holder in"),
    "wrong-authority": (wrong_authority, has_documents, r"signed by another authority than permissions_ca"),
    "changed": (changed, has_documents, r"permissions\.p7s was changed after it was signed"),
    "contradiction": (contradiction, has_documents, r"rtps SIGN: the other end's must say the same"),
}


def words_of(manifest):
    return "\n".join(program["printed"] for program in manifest["run"]["programs"])


def check_keys(bench, configuration, only):
    name = configuration["name"]
    good = bench.folder / "keys" / name
    for fault, (breaks, is_on, expected) in FAULTS.items():
        if only not in (None, fault) or not is_on(configuration, good):
            continue
        kept = bench.folder / "good"
        shutil.copytree(good, kept)
        breaks(good)
        manifest = bench.run(configuration, [LASER], "13s")
        shutil.rmtree(good)
        kept.rename(good)
        delivered, printed = manifest["summary"]["streams"][0]["delivered"], words_of(manifest)
        bench.checks.check(delivered == 0, f"{name}: {fault}: nothing is delivered", f"{delivered} messages")
        line = next((line for line in printed.splitlines() if re.search(expected, line)), None)
        bench.checks.check(line is not None, f"{name}: {fault}: it is named ({line})", printed[-600:])


def check_over_limit(bench, configuration):
    """A message in a file of bodies that is longer than adapters take, 64 MiB."""
    huge = Stream("huge", "1s", [9_000_000])
    conformance.write_bodies(bench.bodies / "huge.bodies", [70 << 20])
    manifest = bench.run(configuration, [huge], "4s")
    (bench.bodies / "huge.bodies").unlink()
    publisher = manifest["run"]["programs"][0]
    said = publisher["printed"].strip()[-120:]
    is_named = publisher["how"] == "exit status 65" and "takes" in said
    bench.checks.check(is_named, f"{configuration['name']}: over the limit: it is named ({said})", publisher["how"])


def check_buffers(bench, configuration):
    """A subscriber that may not go beyond the kernel's limit, and a message of half of that: four of them are wanted."""
    limit = int(pathlib.Path("/proc/sys/net/core/rmem_max").read_text())
    burst = Stream("burst", "100ms", [min(limit // 2, 9_000_000)])
    if 4 * burst.lengths[0] <= limit:
        bench.checks.note(f"{configuration['name']}: small buffers: not tried, because this kernel grants {limit} B")
        return
    station = ["setpriv", "--bounding-set", "-net_admin", *bench.program(configuration, "program", "station")]
    printed = words_of(bench.run(configuration, [burst], "4s", station=station))
    line = next((line for line in printed.splitlines() if "limit: the kernel grants" in line), None)
    bench.checks.check(line is not None and "rmem_max=" in line, f"{configuration['name']}: small buffers: it is named ({line})", printed[-600:])


def check_handshake(bench, configuration):
    """Packets of which the interface takes less than a handshake over datagrams needs."""
    printed = words_of(bench.run(configuration, [LASER], "13s", link=['mtu = "260B"']))
    line = next((line for line in printed.splitlines() if "too short" in line), None)
    bench.checks.check(line is not None, f"{configuration['name']}: short packets: it is named ({line})", printed[-600:])


def check_stale(bench, configuration):
    """Both ends are killed, and what they left of shared memory is in the way of nobody."""
    killed = {node: ["timeout", "-s", "KILL", "2", *bench.program(configuration, "program", node)] for node in ("robot", "station")}
    before = set(os.listdir("/dev/shm"))
    bench.run(configuration, [LASER], "4s", **killed)
    left = set(os.listdir("/dev/shm")) - before
    delivered = bench.run(configuration, [LASER], "5s")["summary"]["streams"][0]["delivered"]
    still = left & set(os.listdir("/dev/shm"))
    what = f"{configuration['name']}: stale memory: {len(left)} segments of a killed run are gone after the next, which delivered {delivered} messages"
    bench.checks.check(delivered > 0 and not still, what, ", ".join(sorted(still)))


# The configurations that each is tried on.
TRIALS = {
    "over-limit": (check_over_limit, ["raw-udp", "raw-tcp", "nats", "sealed-udp", "zenoh-tcp"]),
    "small-buffers": (check_buffers, ["raw-udp", "raw-dtls", "fast-dds-best-effort", "fast-dds-best-effort-encrypted", "cyclone-dds-best-effort", "sealed-udp"]),
    "short-packets": (check_handshake, ["raw-dtls"]),
    "stale-memory": (check_stale, ["iceoryx2", "fast-dds-reliable-encrypted", "cyclone-dds-reliable-encrypted"]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAMES")
    parser.add_argument("--only", choices=[*FAULTS, *TRIALS])
    options = parser.parse_args()
    if shutil.which(conformance.CHRONOSEAL) is None:
        parser.error(f"there is no {conformance.CHRONOSEAL}: let the environment variable CHRONOSEAL name it")
    checks, known = Checks(), {}
    for file in sorted(HERE.glob("*/adapter.toml")):
        for one in tomllib.loads(file.read_text())["configurations"]:
            known[one["name"]] = (file.parent, one)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: write configurations of `chronoseal middleware list`")
    with tempfile.TemporaryDirectory(prefix="faults") as place:
        for adapter in sorted({known[name][0] for name in options.names}):
            folder = pathlib.Path(place) / adapter.name
            folder.mkdir()
            bench = Bench(folder, adapter, checks)
            built = bench.build()
            if built.returncode != 0:
                checks.note(f"{adapter.name}: not tried, because it is not built: {built.stderr.strip()[-300:]}")
                continue
            for name in options.names:
                if known[name][0] != adapter:
                    continue
                configuration = known[name][1]
                if bench.make_keys(configuration) is not None:
                    check_keys(bench, configuration, options.only)
                for trial, (tries, adapters) in TRIALS.items():
                    if options.only in (None, trial) and name in adapters:
                        tries(bench, configuration)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main())
