#!/usr/bin/env python3
"""Has pycrate read the CAMs, DENMs, CPMs and VAMs that chronoseal writes, and write them again.

    cargo run -p chronoseal-wire --example its_messages 10000 1 > messages.jsonl
    messages.py messages.jsonl --modules FOLDER

FOLDER holds the ASN.1 modules of CPM and VAM, as ETSI publishes them under BSD-3-Clause: CPM-PDU-Descriptions.asn with its
four container modules (TS 103 324 V2.1.1), VAM-PDU-Descriptions.asn with motorcyclist-special-container.asn (TS 103 300-3
V2.3.1), and the common data dictionary (TS 102 894-2 V2.4.1). Vanetza has them in asn1/release2. CAM and DENM come with
pycrate 0.8.1; its VAM is of an earlier version with other elements.

Each message is decoded, every value compared with the one that was written, and encoded again, which has to give the same
octets. Prints a line for each type; exit status 1 if any message differs or is refused. Without --modules CPMs and VAMs are
counted as not checked, and the exit status is 2.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

# Constraints of inner types are not visible to PER (X.691 clause 10.3), and pycrate's compiler stops at some of them. These
# are written so that what is visible stays: the range of a union is from its least to its largest value.
REPLACED = [
    ("(unknown|passengerCar..tram|agricultural)", "(0..14)"),
    # A polygon, which none of the messages has.
    ("(SIZE(3..16,...))", ""),
]


def without_inner_constraints(text):
    kept, at = [], 0
    while at < len(text):
        if text[at] != "(":
            kept.append(text[at])
            at += 1
            continue
        depth, end = 0, at
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        part = text[at:end]
        if "WITH COMPONENT" not in part:
            kept.append(part)
        at = end
    return "".join(kept)


def compiled(folder):
    from pycrate_asn1c.asnproc import compile_text, generate_modules
    from pycrate_asn1c.generator import PycrateGenerator

    sys.setrecursionlimit(10_000)
    names = sorted(path for path in folder.rglob("*.asn") if re.search(r"CPM|VAM|CDD|motorcyclist", path.name, re.I))
    texts = []
    for path in names:
        text = path.read_text(encoding="latin-1")
        text = re.sub(r"--.*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        for old, new in REPLACED:
            text = text.replace(old, new)
        text = re.sub(r"\(\s*(\d+)\s*\.\.\s*(\d+)\s*,\s*\.\.\.\s*,\s*\d+\s*\.\.\s*\d+\)", r"(\1..\2,...)", text)
        texts.append(without_inner_constraints(text))
    compile_text(texts)
    out = pathlib.Path(sys.path[0]) / "__pycache__" / "its_modules.py"
    out.parent.mkdir(exist_ok=True)
    generate_modules(PycrateGenerator, str(out))
    sys.path.insert(0, str(out.parent))
    import its_modules

    return {
        "CPM": its_modules.CPM_PDU_Descriptions.CollectivePerceptionMessage,
        "VAM": its_modules.VAM_PDU_Descriptions.VAM,
    }


def at_path(value, path):
    for step in path.split("."):
        # A choice is a pair of its name and value; a list has numbers for names.
        if isinstance(value, tuple):
            name, value = value
            if name != step:
                raise KeyError(f"{step} of {path}: it is {name}")
        elif isinstance(value, list):
            value = value[int(step)]
        else:
            value = value[step]
    return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("messages", type=pathlib.Path)
    parser.add_argument("--modules", type=pathlib.Path)
    arguments = parser.parse_args()

    from pycrate_asn1dir import ITS_CAM_2, ITS_DENM_3

    types = {
        "CAM": ITS_CAM_2.CAM_PDU_Descriptions.CAM,
        "DENM": ITS_DENM_3.DENM_PDU_Descriptions.DENM,
    }
    if arguments.modules:
        types |= compiled(arguments.modules)
    counts = collections.defaultdict(collections.Counter)
    for number, line in enumerate(arguments.messages.open(), 1):
        message = json.loads(line)
        kind, octets = message["type"], bytes.fromhex(message["hex"])
        pdu = types.get(kind)
        if pdu is None:
            counts[kind]["not checked"] += 1
            continue
        try:
            pdu.from_uper(octets)
            value = pdu.get_val()
            wrong = [path for path, said in message["values"].items() if at_path(value, path) != said]
            again = pdu.to_uper()
        except Exception as error:  # noqa: BLE001: whatever the decoder says is the finding
            counts[kind]["refused"] += 1
            print(f"line {number}: {kind} refused: {error!r}", file=sys.stderr)
            continue
        if wrong or again != octets:
            counts[kind]["differs"] += 1
            print(f"line {number}: {kind} differs: {', '.join(wrong) or 'its octets'}", file=sys.stderr)
        else:
            counts[kind]["same"] += 1
        counts[kind]["values"] += len(message["values"])
    for kind, count in sorted(counts.items()):
        print(f"{kind}: " + ", ".join(f"{number} {what}" for what, number in count.items()))
    if any(count["refused"] or count["differs"] for count in counts.values()):
        return 1
    return 2 if any(count["not checked"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
