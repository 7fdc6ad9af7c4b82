#!/usr/bin/env python3
"""A right program at the other end of a pipe, with one fault: the one that its argument names. Without an argument it lists them: name, property, what
it does.

    kvwitness verify --pipe 'python3 tests/faults/faulty_pipe.py answers_twice'

Names that begin with `right` are no faults: they must pass.
"""
import os
import pathlib
import signal
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "properties" / "pipes"))
import answer as right  # noqa: E402

FAULTS = {
    # Wrong results.
    "edges_in_single_precision": ("round_trip", "results pass through float32"),
    "products_in_32_bits": ("oracle_equality", "x * S wraps at 2^32"),
    "edges_cached_by_length": ("oracle_equality", "edges are cached by the length only"),
    "stride_ignored": ("oracle_equality", "rows are taken as packed"),
    "spare_cleared": ("bounds", "spare columns come back as -1"),
    "base_offset_skipped": ("oracle_equality", "the data is taken to begin base_offset elements late"),
    "every_97th_call": ("oracle_equality", "every 97th call is wrong"),
    "last_row_missing": ("oracle_equality", "the last of eight rows and more is left out"),
    # Wrong frames.
    "answers_twice": ("bounds", "three rows are answered twice"),
    "answers_ahead": ("bounds", "after two rows an answer comes before its request"),
    "answers_half": ("bounds", "three rows get half an answer"),
    "count_of_all_ones": ("bounds", "three rows get an answer of 2^63 - 1 elements"),
    "count_of_minus_one": ("bounds", "three rows get an answer of -1 elements"),
    "count_of_packed": ("bounds", "strided rows come back packed"),
    "status_with_rows": ("bounds", "topk = 5 is declined, with rows"),
    "sequence_stuck": ("bounds", "the sequence number is that of the first request"),
    "big_endian": ("bounds", "the answer's head is big-endian"),
    "declines_at_times": ("determinism", "every second call of four rows is declined"),
    "refuses_no_rows": ("oracle_equality", "a call without rows is refused"),
    # Endings.
    "dies_on_fifth_call": ("bounds", "the fifth request ends it"),
    "killed_by_three_rows": ("bounds", "three rows end it by a signal"),
    "exits_by_no_rows": ("bounds", "no rows end it with status 0"),
    "closes_output": ("bounds", "three rows close its output"),
    "silent_on_33": ("bounds", "S = 33 is never answered"),
    "answer_not_flushed": ("bounds", "the answer of three rows stays in a buffer"),
    # No faults.
    "right": ("", "no fault at all"),
    "right_in_single_bytes": ("", "the hello and the first answers come byte by byte"),
    "right_that_compiles": ("", "the first call of a width and S takes 20 milliseconds"),
    "right_of_model_widths": ("", "declines other widths than 512, 1,024 and 2,048"),
    "right_and_chatty": ("", "a line on standard error in every call"),
}
FAULT = sys.argv[1] if len(sys.argv) > 1 else None
calls = 0
edges_of_length = {}
shapes = set()


class Request:
    """The fields of a request, by the names of the protocol."""

    def __init__(self, head):
        (_, self.sequence, self.operation, _, self.rows, self.topk, self.row_stride, self.num_segments, self.learned_keep,
         self.max_replacements, self.base_offset, self.data_len) = head
        self.strided = self.rows > 1 and self.row_stride > self.topk > 0


def single_precision(number):
    return min(int(struct.unpack("<f", struct.pack("<f", number))[0]), 2**31 - 1)


def witnesses(row, context_len, num_segments):
    found = rule(row, context_len, num_segments)
    segments = min(num_segments, max(context_len, 0))
    if FAULT == "products_in_32_bits":
        for token in row:
            if token >= 0 and segments > 0:
                found[min(token * segments % 2**32 // context_len, num_segments - 1)] = -1
    if FAULT == "edges_in_single_precision":
        found = [single_precision(edge) for edge in found]
    if FAULT == "edges_cached_by_length" and segments > 0:
        edges = edges_of_length.setdefault(context_len, rule((), context_len, num_segments))
        found = [edges[s] if edge >= 0 and s < len(edges) else edge for s, edge in enumerate(found)]
    return found


rule, right.witnesses = right.witnesses, witnesses


def result_of(request, lengths, data):
    stride, offset = request.row_stride, request.base_offset
    if FAULT == "every_97th_call" and calls % 97 == 0:
        lengths = [min(length, 1) for length in lengths]
    if FAULT == "last_row_missing" and request.rows >= 8:
        lengths = [*lengths[:-1], 0]
    if FAULT == "stride_ignored":
        stride = request.topk
    if FAULT == "base_offset_skipped" and data:
        data = data[offset % len(data):] + data[:offset % len(data)]
    result = right.answer(request.operation, request.rows, request.topk, stride, request.num_segments, request.learned_keep,
                          request.max_replacements, lengths, data)
    if request.strided and request.operation != 0:
        rows = [result[row * stride:row * stride + request.topk] for row in range(request.rows)]
        if FAULT == "count_of_packed":
            result = [token for row in rows for token in row]
        if FAULT == "spare_cleared":
            spare = [-1] * (stride - request.topk)
            result = [token for row in rows for token in [*row, *spare]][:len(result)]
    return result


def write(content):
    out = sys.stdout.buffer
    step = 1 if FAULT == "right_in_single_bytes" and calls < 3 else max(len(content), 1)
    for begin in range(0, len(content), step):
        out.write(content[begin:begin + step])
        out.flush()


def declined(request):
    return ((FAULT == "right_of_model_widths" and request.topk not in (512, 1024, 2048))
            or (FAULT == "declines_at_times" and request.rows == 4 and calls % 2 == 0))


def frame(request, lengths, data):
    sequence, status, three = request.sequence, 0, request.rows == 3
    result = result_of(request, lengths, data)
    if declined(request):
        status, result = -1, []
    if FAULT == "refuses_no_rows" and request.rows == 0:
        status, result = 1, []
    count = len(result)
    if FAULT == "status_with_rows" and request.topk == 5:
        status = -1
    if FAULT == "count_of_all_ones" and three:
        count = 2**63 - 1
    if FAULT == "count_of_minus_one" and three:
        count = -1
    if FAULT == "sequence_stuck":
        sequence = 1
    head = struct.pack("<IIiIq" if FAULT != "big_endian" else ">IIiIq", right.MAGIC, sequence, status, 0, count)
    return head + struct.pack(f"<{len(result)}i", *result)


def misbehave(request):
    if FAULT == "dies_on_fifth_call" and calls == 5:
        sys.exit(3)
    if FAULT == "killed_by_three_rows" and request.rows == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "exits_by_no_rows" and request.rows == 0:
        sys.exit(0)
    if FAULT == "closes_output" and request.rows == 3:
        os.close(1)
        time.sleep(3600)
    if FAULT == "silent_on_33" and request.num_segments == 33:
        time.sleep(3600)
    if FAULT == "right_that_compiles" and (request.topk, request.num_segments) not in shapes:
        time.sleep(0.02)
        shapes.add((request.topk, request.num_segments))
    if FAULT == "right_and_chatty":
        print("call", calls, file=sys.stderr)


def main():
    global calls
    write(struct.pack("<III", right.MAGIC, 1, len(FAULT)) + FAULT.encode())
    while True:
        request = Request(struct.unpack("<IIIIqqqqqqqq", right.read(80)))
        lengths = struct.unpack(f"<{request.rows}i", right.read(4 * request.rows))
        data = struct.unpack(f"<{request.data_len}i", right.read(4 * request.data_len))
        calls += 1
        misbehave(request)
        content = frame(request, lengths, data)
        if FAULT == "answer_not_flushed" and request.rows == 3:
            sys.stdout.buffer.write(content)
            continue
        if FAULT == "answers_half" and request.rows == 3:
            content = content[:len(content) // 2]
        if FAULT == "answers_twice" and request.rows == 3:
            content += content
        if FAULT == "answers_ahead" and request.rows == 2:
            request.sequence += 1
            content += frame(request, lengths, data)
        write(content)  # at once, so that what is too much has arrived when the harness looks


if FAULT is None:
    for name, (kind, what) in FAULTS.items():
        print(name, kind or "-", what, sep="\t")
else:
    main()
