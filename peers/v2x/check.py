#!/usr/bin/env python3
"""Has other people's decoders read what chronoseal-v2x encodes, and encode it again.

    check.py CORPUS [--ieee FOLDER]

CORPUS holds files NAME.TYPE.oer, TYPE an ASN.1 type. Decoders: pycrate with the IEEE 1609.2 modules it brings, and
asn1tools with IEEE1609dot2.asn and IEEE1609dot2BaseTypes.asn of FOLDER and the modules beside this script; pycrate compiles
ts103759.asn with those of FOLDER, too. Prints a line
for each file and decoder: `same`, `differs`, `refused`, `no type`, or `older schema` where the decoder's modules lack what was
added to the standard since; exit status 1 if any differs or is refused.
"""
import argparse
import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def pycrate_reports(ieee):
    """The types of ts103759.asn, compiled with the IEEE modules of `ieee`; none if those are not there."""
    from pycrate_asn1c.asnproc import PycrateGenerator, compile_text, generate_modules

    names = [ieee / "IEEE1609dot2.asn", ieee / "IEEE1609dot2BaseTypes.asn"]
    if not all(name.exists() for name in names):
        return None
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        compile_text([name.read_text() for name in [*names, HERE / "ts103759.asn"]])
        generate_modules(PycrateGenerator, f"{folder}/reports.py")
        found = importlib.util.spec_from_file_location("reports", f"{folder}/reports.py")
        modules = importlib.util.module_from_spec(found)
        found.loader.exec_module(modules)
    return modules.Ts103759Flat


def pycrate_types(ieee):
    try:
        from pycrate_asn1dir import ITS_IEEE1609_2 as modules
    except ImportError:
        return None
    base, data, reports = modules.Ieee1609Dot2BaseTypes, modules.Ieee1609Dot2, pycrate_reports(ieee)

    def code(name, octets):
        kind = getattr(data, name, None) or getattr(base, name, None) or getattr(reports, name, None)
        if kind is None:
            return None
        kind.from_coer(octets)
        return kind.to_coer()

    return code


def asn1tools_types(ieee):
    try:
        import asn1tools
    except ImportError:
        return None
    names = [ieee / "IEEE1609dot2.asn", ieee / "IEEE1609dot2BaseTypes.asn"]
    if not all(name.exists() for name in names):
        return None
    modules = asn1tools.compile_files([str(name) for name in [*names, HERE / "ts102941.asn", HERE / "ts103759.asn"]], "oer")

    def code(name, octets):
        if name not in modules.types:
            return None
        return modules.encode(name, modules.decode(name, octets))

    return code


def is_of_older_schema(octets, again):
    """True if all that differs is how many additions to HeaderInfo there can be: two in the modules of 2017, four today.

    That is the number of unused bits of the presence bitmap (X.696 clause 16.4): 02 04 against 02 06.
    """
    if len(octets) != len(again):
        return False
    places = [at for at, pair in enumerate(zip(octets, again)) if pair[0] != pair[1]]
    return len(places) == 1 and octets[places[0] - 1 : places[0] + 1] == b"\x02\x04" and again[places[0]] == 6


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus", type=pathlib.Path)
    arguments.add_argument("--ieee", type=pathlib.Path, default=HERE / "ieee")
    options = arguments.parse_args()
    decoders = {"pycrate": pycrate_types(options.ieee), "asn1tools": asn1tools_types(options.ieee)}
    failed = 0
    for path in sorted(options.corpus.glob("*.oer")):
        name, kind = path.name.removesuffix(".oer").rsplit(".", 1)
        octets = path.read_bytes()
        for decoder, code in decoders.items():
            if code is None:
                print(f"{decoder:10} {kind:24} {name:44} not installed")
                continue
            try:
                again = code(kind, octets)
                verdict = "no type" if again is None else "same" if again == octets else "differs"
                if verdict == "differs" and is_of_older_schema(octets, again):
                    verdict = "older schema"
            except Exception as error:  # Whatever a decoder raises is its refusal.
                # asn1tools reads an alternative it does not know, as NIST P-384, but cannot write it.
                is_unknown = decoder == "asn1tools" and "but got (None, None)" in str(error)
                verdict = "older schema" if is_unknown else f"refused: {type(error).__name__} {str(error)[:120]}"
            failed += verdict.startswith(("differs", "refused"))
            print(f"{decoder:10} {kind:24} {name:44} {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
