#!/usr/bin/env python3
"""A pipe program that answers by the rule, and misbehaves in the way that its argument names."""
import os
import signal
import struct
import sys
import time

MAGIC = 0x5057564B
NEVER = 1 << 30


def witnesses(row, context_len, num_segments):
    segments = min(num_segments, max(context_len, 0))
    found = [-1] * num_segments
    for s in range(segments):
        found[s] = -(-s * context_len // segments)
    for token in row:
        if token >= 0 and segments > 0:
            found[min(token * segments // context_len, num_segments - 1)] = -1
    return found


def answer(operation, rows, topk, row_stride, num_segments, learned_keep, max_replacements, lengths, data):
    stride = row_stride if rows > 1 else topk
    if operation == 0:
        return [w for r in range(rows) for w in witnesses(data[r * stride:r * stride + topk], lengths[r], num_segments)]
    keep, budget = (learned_keep, max_replacements) if operation == 1 else (max(0, topk - num_segments), num_segments)
    result = list(data)
    for r in range(rows):
        if topk == 0 or num_segments == 0:
            break
        found = [w for w in witnesses(data[r * stride:r * stride + topk], lengths[r], num_segments) if w >= 0]
        found = found[:min(budget, topk - keep)]
        result[r * stride + keep:r * stride + keep + len(found)] = found
    return result


def read(size):
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        sys.exit(0)
    return data


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main():
    way = sys.argv[1] if len(sys.argv) > 1 else "right"
    if way == "no-hello":
        return
    if way == "mute":
        time.sleep(NEVER)
    name = b"answer.py" if way != "long-name" else b"x" * 5000
    write(struct.pack("<III", MAGIC if way != "wrong-hello" else 7, 2 if way == "wrong-version" else 1, len(name)) + name)
    count = 0
    kept = []
    while True:
        _, sequence, operation, _ = struct.unpack("<IIII", read(16))
        rows, topk, stride, segments, keep, budget, _, data_len = struct.unpack("<8q", read(64))
        lengths = struct.unpack(f"<{rows}i", read(4 * rows))
        data = struct.unpack(f"<{data_len}i", read(4 * data_len))
        count += 1
        # The first context length asks for the misdeed, so that other calls are answered well.
        act = way if lengths and lengths[0] == 1001 else "right"
        status, magic, zero = 0, MAGIC, 0
        result = answer(operation, rows, topk, stride, segments, keep, budget, lengths, data)
        if way == "raises":
            raise ValueError("no such width")
        if act == "exit":
            sys.exit(3)
        if act == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if act == "silent":
            time.sleep(NEVER)
        if act == "close":
            os.close(1)
            time.sleep(NEVER)
        if act == "magic":
            magic = 9
        if act == "sequence":
            sequence += 1
        if act == "zero":
            zero = 1
        if act == "count":
            result = result[:-1]
        if act == "unsupported":
            status, result = -1, []
        if act == "refuses":
            status, result = 2, []
        if act == "refuses-with-rows":
            status = 2
        if act == "spare":
            result[topk] ^= 1
        if act == "counts":
            result[0] = count
        frame = struct.pack("<IIiIq", magic, sequence, status, zero, len(result)) + struct.pack(f"<{len(result)}i", *result)
        if act == "short":
            write(frame[:-3])
            time.sleep(NEVER)
        if act == "short-end":
            write(frame[:-3])
            return
        if act == "long":
            frame += b"more"
        if act == "long-late":
            write(frame)
            time.sleep(0.05)
            frame = b"more"
        if way == "fours":
            kept.append(frame)
            if len(kept) < 4:
                continue
            frame = b"".join(kept)
            kept.clear()
        write(frame)


if __name__ == "__main__":
    main()
