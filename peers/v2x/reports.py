#!/usr/bin/env python3
"""Has the shipped programs report misbehaviour, and pycrate encode the lies and decode the reports.

    reports.py PROGRAM --ieee FOLDER

PROGRAM is `chronoseal-v2x`, FOLDER holds IEEE1609dot2.asn and IEEE1609dot2BaseTypes.asn. Runs authorities and two stations in a
folder of its own. One station signs CAMs of pycrate's that cannot be true, a kind of lie after the other; the other one verifies
and reports them. Each report that the authority has taken is decoded, held against what the authority says it shows, and encoded
again to the same octets; so are the CAMs in its evidence. Exit status 1 if one differs or is missing.
"""
import argparse
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

from pycrate_asn1dir import ITS_CAM_2, ITS_IEEE1609_2

import check

CAM = ITS_CAM_2.CAM_PDU_Descriptions.CAM
DATA = ITS_IEEE1609_2.Ieee1609Dot2.Ieee1609Dot2Data
HERE = 487_758_459
# What is shown, by the standard's numbers of property and observation, and the CAM that shows it after the one before.
LIES = {
    "Position-ChangeTooLarge": ((3, 4), {"latitude": HERE + 180_000}),
    "Speed-ChangeTooLarge": ((4, 5), {"latitude": HERE + 180_000, "speed": 9_000}),
    "LongAcc-ValueTooLarge": ((5, 4), {"latitude": HERE + 180_000, "speed": 9_000, "acceleration": 95}),
    "Speed-ValueTooLarge-DriveDirectionReverse": ((4, 4), {"latitude": HERE + 180_000, "speed": 9_000, "drive": "backward"}),
    "Speed-ValueTooLarge-VehicleType": ((4, 3), {"latitude": HERE + 180_000, "speed": 14_100}),
}


def cam(latitude=HERE, speed=3_000, drive="forward", acceleration=0):
    ellipse = {"semiMajorConfidence": 4095, "semiMinorConfidence": 4095, "semiMajorOrientation": 3601}
    altitude = {"altitudeValue": 800_001, "altitudeConfidence": "unavailable"}
    position = {"latitude": latitude, "longitude": 91_829_321, "positionConfidenceEllipse": ellipse, "altitude": altitude}
    vehicle = {
        "heading": {"headingValue": 0, "headingConfidence": 127},
        "speed": {"speedValue": speed, "speedConfidence": 127},
        "driveDirection": drive,
        "vehicleLength": {"vehicleLengthValue": 42, "vehicleLengthConfidenceIndication": "noTrailerPresent"},
        "vehicleWidth": 18,
        "longitudinalAcceleration": {
            "longitudinalAccelerationValue": acceleration,
            "longitudinalAccelerationConfidence": 102,
        },
        "curvature": {"curvatureValue": 0, "curvatureConfidence": "unavailable"},
        "curvatureCalculationMode": "unavailable",
        "yawRate": {"yawRateValue": 0, "yawRateConfidence": "unavailable"},
    }
    parameters = {
        "basicContainer": {"stationType": 5, "referencePosition": position},
        "highFrequencyContainer": ("basicVehicleContainerHighFrequency", vehicle),
    }
    body = {"generationDeltaTime": int(time.time() * 1000) % 65_536, "camParameters": parameters}
    CAM.set_val({"header": {"protocolVersion": 2, "messageID": 2, "stationID": 7}, "cam": body})
    return CAM.to_uper()


def ask(path, operation, body):
    """Has the daemon at a socket do something; docs/reference/vss-protocol.md."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(path)
        request = bytes([1, operation, 0, 0, 0, 7]) + body
        stream.sendall(struct.pack(">I", len(request)) + request)
        with stream.makefile("rb") as answers:
            answer = answers.read(struct.unpack(">I", answers.read(4))[0])
    assert answer[0] == 0, answer[5:]
    return answer[5:]


def wait(what, holds):
    until = time.monotonic() + 60
    while not holds():
        if time.monotonic() > until:
            sys.exit(f"{what}: not within a minute")
        time.sleep(0.1)


def lie(program, processes):
    """Runs the programs in this folder until each lie is reported."""

    def run(*arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout

    def start(*arguments):
        processes.append(subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True))
        return processes[-1]

    url = start("pki", "serve", "--dir", "pki", "--port", "0").stdout.readline().split()[1]
    reports = f'[misbehaviour]\nurl = "{url}/uploadMR-v1"\nma = "pki/ma.oer"\n'
    permissions = 'permissions = ["36:01ffff", "37:01ffffff", "38"]\n'
    for number, (name, wanted, more) in enumerate([("car", permissions, reports), ("liar", "", "")]):
        at_ea = ["--url", f"{url}/ea", "--ea", "pki/ea.oer", "--rca", "pki/rca.oer"]
        run("pki", "keygen", "--dir", name)
        run("pki", "register", "--dir", "pki", "--id", f"c0ffee0{number}", "--key", f"{name}/canonical.pub.pem")
        run("pki", "enrol", "--dir", name, "--id", f"c0ffee0{number}", *at_ea)
        pathlib.Path(f"{name}.toml").write_text(
            f'folder = "{name}"\npin_file = "{name}/pin"\nhsm = {{ kind = "software", folder = "{name}/keys" }}\n'
            '[trust]\nroots = ["pki/rca.oer"]\nauthorities = ["pki/aa.oer"]\n'
            f'[authority]\nurl = "{url}/aa"\naa = "pki/aa.oer"\nea = "pki/ea.oer"\n{wanted}'
            f'[pseudonyms]\nlow_water = 2\npreload = 2\n[logging]\nfile = "{name}.log"\n{more}'
        )
        start("vss", "serve", f"{name}.toml", "--socket", f"{name}.socket")
        log = pathlib.Path(f"{name}.log")
        wait("tickets", lambda log=log: log.exists() and log.read_text().count("ticket added") >= 2)
    for message in [cam(), *(cam(**values) for _, values in LIES.values())]:
        signed = ask("liar.socket", 1, struct.pack(">IB", 36, 0) + message)
        assert ask("car.socket", 2, b"\x01" + b"\xff" * 8 + signed)[0] == 0, "it is genuine"
        time.sleep(0.3)
    wait("reports", lambda: run("pki", "reports", "--dir", "pki").count("\n") >= len(LIES))


def payload(data):
    return data["content"][1]["tbsData"]["payload"]["data"]["content"][1]


def differences(reports):
    """What is wrong with the reports in the store."""
    wrong, missing = [], set(LIES)
    for signed, shown in sqlite3.connect("pki/store.sqlite").execute("SELECT signed, observations FROM reports"):
        DATA.from_coer(signed)
        octets = payload(DATA.get_val())
        reports.from_coer(octets)
        if reports.to_coer() != octets:
            wrong.append(f"{shown}: encoded again it differs")
        observed = reports.get_val()["report"]["content"][1]
        found = [(one["tgtId"], of[1]["obsId"]) for one in observed["observations"] for of in one["observations"]]
        if found != [LIES[shown][0]]:
            wrong.append(f"{shown}: decoded as {found}")
        messages = [message[1] for stream in observed["v2xPduEvidence"] for message in stream["v2xPdus"]]
        for message in messages:
            CAM.from_uper(payload(message))
            if CAM.to_uper() != payload(message):
                wrong.append(f"{shown}: a CAM of the evidence differs")
        missing.discard(shown)
        print(f"{shown:44} {found} with {len(messages)} CAMs: same")
    return wrong + [f"{shown}: not reported" for shown in sorted(missing)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--ieee", type=pathlib.Path, required=True)
    options = arguments.parse_args()
    reports = check.pycrate_reports(options.ieee.resolve())
    if reports is None:
        sys.exit(f"IEEE1609dot2.asn and IEEE1609dot2BaseTypes.asn are needed in {options.ieee}")
    program, processes = str(options.program.resolve()), []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            lie(program, processes)
            wrong = differences(reports.EtsiTs103759Mbr)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
            os.chdir("/")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
