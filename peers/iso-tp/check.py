#!/usr/bin/env python3
"""Exchanges messages between chronoseal's ISO-TP and the Python package can-isotp, in both directions.

    check.py PROGRAM

PROGRAM is the binary of this folder. Frames go through its standard input and output, so no CAN interface is needed.
Prints a line for each setting; exit status 1 if a message did not arrive as it was sent or an end said something else
than expected.
"""
import queue
import subprocess
import sys
import threading
import time

import isotp

TX_ID, RX_ID = 0x7E0, 0x7E8
# Around every limit: the single frame of classical and FD frames, the sequence number's end, the escape form.
LENGTHS = [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 60, 61, 62, 63, 64, 65, 111, 112, 118, 119, 124, 125, 126,
           1000, 4094, 4095, 4096, 4097, 5000]
PATIENCE_S = 20


def message(length, salt):
    return bytes((i * 37 + i // 251 + salt) & 0xFF for i in range(length))


class Connection:
    """The program on one side, a stack of can-isotp on the other."""

    def __init__(self, program, tx_data_length, addressing, block_size, st_min, limit=1 << 20, **parameters):
        ours, theirs = ("-", "-")
        if addressing == "extended":
            # Each direction names its target.
            mode, ours, theirs = isotp.AddressingMode.Extended_11bits, "17", "34"
            address = isotp.Address(mode, txid=TX_ID, rxid=RX_ID, source_address=17, target_address=34)
        elif addressing == "mixed":
            mode, ours, theirs = isotp.AddressingMode.Mixed_11bits, "51", "51"
            address = isotp.Address(mode, txid=TX_ID, rxid=RX_ID, address_extension=51)
        else:
            address = isotp.Address(isotp.AddressingMode.Normal_11bits, txid=TX_ID, rxid=RX_ID)
        arguments = [program, str(tx_data_length), ours, theirs, str(block_size), str(st_min), str(limit)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.is_fd = tx_data_length > 8
        self.to_stack, self.said, self.errors, self.frames = [], [], [], 0
        self.stack = isotp.TransportLayerLogic(
            rxfn=self.receive, txfn=self.transmit, address=address, error_handler=self.errors.append,
            params={"tx_data_length": tx_data_length, "can_fd": self.is_fd, "blocksize": block_size, "stmin": st_min,
                    "tx_padding": 0xCC, "max_frame_size": 1 << 20, **parameters})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put("end")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self, timeout):
        if not self.to_stack:
            return None
        return isotp.CanMessage(arbitration_id=RX_ID, data=self.to_stack.pop(0), is_fd=self.is_fd)

    def transmit(self, frame):
        self.frames += 1
        self.say("frame " + bytes(frame.data).hex())

    def pump(self, is_done):
        deadline = time.monotonic() + PATIENCE_S
        while not is_done() and time.monotonic() < deadline:
            try:
                line = self.lines.get(timeout=0.0005)
                while True:
                    word, _, rest = line.partition(" ")
                    if word == "frame":
                        self.frames += 1
                        self.to_stack.append(bytes.fromhex(rest))
                    else:
                        self.said.append(line)
                    line = self.lines.get_nowait()
            except queue.Empty:
                pass
            self.stack.process()
        return is_done()

    def to_us(self, data):
        self.stack.send(data)
        self.pump(lambda: self.said)
        return self.said == ["received " + data.hex()] and not self.errors

    def from_us(self, data):
        self.say("send " + data.hex())
        received = []

        def is_done():
            if self.stack.available():
                received.append(self.stack.recv())
            return received and "sent" in self.said
        self.pump(is_done)
        return received == [data] and self.said == ["sent"] and not self.errors

    def forget(self):
        self.said, self.errors = [], []

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def exchange(program, tx_data_length, addressing, block_size, st_min):
    """Every length in both directions; the lengths that failed."""
    connection = Connection(program, tx_data_length, addressing, block_size, st_min)
    failed, count = [], 0
    # With 5 ms between frames, long messages take long.
    lengths = LENGTHS if st_min != 5 else [length for length in LENGTHS if length <= 126]
    for length in lengths:
        for way, name in [(connection.to_us, "to us"), (connection.from_us, "from us")]:
            count += 1
            connection.forget()
            if not way(message(length, count)):
                failed.append((length, name, [line[:80] for line in connection.said], connection.errors))
                connection.close()
                connection = Connection(program, tx_data_length, addressing, block_size, st_min)
    frames = connection.frames
    connection.close()
    kind = "FD" if tx_data_length > 8 else "classical"
    verdict = f"{len(failed)} failed: {failed}" if failed else "same"
    print(f"{kind:9} tx_dl {tx_data_length:2} {addressing:8} BS {block_size} STmin {st_min:#04x}: "
          f"{count} messages, {frames} frames, {verdict}", flush=True)
    return not failed


def refusals(program):
    """What must not arrive, and what both ends say of it."""
    good = True

    def judge(name, is_good, said):
        nonlocal good
        good = good and bool(is_good)
        print(f"{name}: {'as expected' if is_good else 'NOT as expected'}, {said}", flush=True)

    connection = Connection(program, 8, "normal", 0, 0, limit=100)
    connection.stack.send(message(101, 0))
    connection.pump(lambda: connection.said and connection.errors)
    said = (connection.said, [type(error).__name__ for error in connection.errors])
    judge("too long for us", "Refused" in str(said[0]) and said[1] == ["OverflowError"], said)
    connection.forget()
    judge("as long as we take", connection.to_us(message(100, 0)), "received")
    connection.close()

    connection = Connection(program, 8, "normal", 0, 0, max_frame_size=100)
    connection.say("send " + message(101, 0).hex())
    connection.pump(lambda: connection.said)
    said = (connection.said, [type(error).__name__ for error in connection.errors])
    judge("too long for can-isotp", connection.said == ["event Aborted(Overflow)"], said)
    connection.close()

    connection = Connection(program, 8, "normal", 4, 0, wftmax=5)
    connection.say("busy 1")
    connection.stack.send(message(60, 0))
    begin = time.monotonic()
    connection.pump(lambda: time.monotonic() > begin + 0.25)
    connection.say("busy 0")
    connection.pump(lambda: connection.said)
    waited = time.monotonic() - begin
    arrived = connection.said == ["received " + message(60, 0).hex()] and not connection.errors
    judge("we ask to wait", arrived and waited > 0.25, f"received after {waited:.2f} s")
    connection.close()

    connection = Connection(program, 8, "normal", 0, 0)
    connection.say("send " + message(60, 0).hex())
    time.sleep(1.3)
    connection.pump(lambda: connection.said)
    judge("no answer to us", connection.said[:1] == ["event Aborted(FlowControlMissing)"], connection.said)
    connection.close()

    connection = Connection(program, 8, "normal", 0, 0)
    connection.say("frame 1014" + "11" * 6)
    connection.pump(lambda: connection.said)
    expected = ["event Aborted { reason: ConsecutiveFrameMissing, received: 6 }"]
    judge("nothing after a first frame", connection.said == expected, connection.said)
    connection.close()
    return good


def main():
    program = sys.argv[1]
    print(f"can-isotp {isotp.__version__ if hasattr(isotp, '__version__') else ''}".strip())
    good = True
    for tx_data_length in [8, 12, 16, 20, 24, 32, 48, 64]:
        for addressing in ["normal", "extended", "mixed"]:
            good &= exchange(program, tx_data_length, addressing, 0, 0)
    for tx_data_length in [8, 64]:
        for block_size, st_min in [(1, 0), (7, 0), (255, 0), (0, 0xF1), (3, 0xF9), (2, 5)]:
            good &= exchange(program, tx_data_length, "normal", block_size, st_min)
    good &= refusals(program)
    print("all as expected" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
