#!/usr/bin/env python3
"""A program behind the pipe: the three operations with NumPy, nothing to compile or link.

    kvwitness verify --pipe 'python3 tests/examples/pipe_numpy.py'

Replace the body of `witnesses` by a launch of your kernel (Triton, a remote GPU behind ssh). Standard output belongs to the protocol: print
messages to standard error.
"""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("this example needs NumPy")

MAGIC, VERSION, NAME = 0x5057564B, 1, b"numpy"
WITNESSES, APPLY, SCATTER = 0, 1, 2
HEADER = np.dtype([("magic", "<u4"), ("sequence", "<u4"), ("operation", "<u4"), ("zero", "<u4"), ("rows", "<i8"),
                   ("topk", "<i8"), ("row_stride", "<i8"), ("num_segments", "<i8"), ("learned_keep", "<i8"),
                   ("max_replacements", "<i8"), ("base_offset", "<i8"), ("data_len", "<i8")])
ANSWER = np.dtype([("magic", "<u4"), ("sequence", "<u4"), ("status", "<i4"), ("zero", "<u4"), ("count", "<i8")])


def witnesses(row, context_len, num_segments):
    """e_s for each segment s < S_eff that no token of the row marks, ascending, and the segments themselves."""
    segments = min(num_segments, context_len)
    if segments <= 0:
        return np.empty(0, "<i4"), np.empty(0, np.int64)
    tokens = row[row >= 0].astype(np.int64)
    marked = np.minimum(tokens * segments // context_len, num_segments - 1)
    unoccupied = np.setdiff1d(np.arange(segments), marked)
    return ((unoccupied * context_len + segments - 1) // segments).astype("<i4"), unoccupied


def merge(row, context_len, keep, num_segments, max_replacements):
    """The row's first witnesses overwrite its slots from `keep` on."""
    edges, _ = witnesses(row, context_len, num_segments)
    edges = edges[:max(min(max_replacements, len(row) - keep), 0)]
    row[keep:keep + len(edges)] = edges


def answer(request, context_lens, data):
    """The result of one request: entries for witnesses, else the data with its spare columns."""
    rows, topk, stride, num_segments = (int(request[key]) for key in ("rows", "topk", "row_stride", "num_segments"))
    row_at = [data[r * stride:r * stride + topk] for r in range(rows)]
    if request["operation"] == WITNESSES:
        entries = np.full((rows, num_segments), -1, "<i4")
        for row, context_len, out in zip(row_at, context_lens, entries):
            edges, segments = witnesses(row, int(context_len), num_segments)
            out[segments] = edges
        return entries.reshape(-1)
    keep, budget = int(request["learned_keep"]), int(request["max_replacements"])
    if request["operation"] == SCATTER:
        keep, budget = max(0, topk - num_segments), num_segments
    for row, context_len in zip(row_at, context_lens):
        merge(row, int(context_len), keep, num_segments, budget)
    return data


def read(dtype, count):
    """`count` values from standard input, or None at its end."""
    size = np.dtype(dtype).itemsize * count
    content = sys.stdin.buffer.read(size)
    return np.frombuffer(content, dtype).copy() if len(content) == size else None


def main():
    out = sys.stdout.buffer
    out.write(np.array([MAGIC, VERSION, len(NAME)], "<u4").tobytes() + NAME)
    out.flush()
    while (header := read(HEADER, 1)) is not None:
        request = header[0]
        context_lens, data = read("<i4", int(request["rows"])), read("<i4", int(request["data_len"]))
        result = answer(request, context_lens, data)
        head = np.array([(MAGIC, request["sequence"], 0, 0, len(result))], ANSWER)
        out.write(head.tobytes() + result.tobytes())
        out.flush()


if __name__ == "__main__":
    main()
