"""Takes part by way of the middleware itself: outsider.py listen|forge STREAM LENGTH OTHER ADAPTER [WORDS].

Runs the adapter as if the bench had given it the stream (its name and the length of its messages), to receive it from OTHER or to send messages
of that name to OTHER. Their numbers begin with 1,000,000,000, so that they can be told from others. Says at the end what came of it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

FIRST_FORGED = 1_000_000_000
PERIOD_NS = 100_000_000
RECORD_LENGTH = 32


def main():
    what, name, length, other, *adapter = sys.argv[1:]
    stream = {"number": 0, "name": name, "sends": what == "forge", "peers": [other], "period_ns": PERIOD_NS, "offset_ns": 0}
    stream["length"] = int(length)
    with tempfile.NamedTemporaryFile() as records:
        environment = {
            **os.environ,
            "CHRONOSEAL_STREAMS": json.dumps([stream], separators=(",", ":")),
            "CHRONOSEAL_EPOCH_NS": str(time.clock_gettime_ns(time.CLOCK_MONOTONIC)),
            "CHRONOSEAL_RECORDS": records.name,
            "CHRONOSEAL_FIRST_NUMBER": str(FIRST_FORGED),
        }
        child = subprocess.Popen(adapter, env=environment, stdout=subprocess.DEVNULL)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: child.terminate())
        status = child.wait()
        count = os.path.getsize(records.name) // RECORD_LENGTH
        print(f"{what}: {count} messages {'sent' if what == 'forge' else 'read'}, exit status {status}")


if __name__ == "__main__":
    main()
