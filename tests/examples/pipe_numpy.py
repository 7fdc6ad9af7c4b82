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


def witnesses(learned, context_lens, num_segments):
    """[rows, num_segments]: the edge e_s of each segment s < S_eff that no token of its row marks, else -1."""
    lens = context_lens.astype(np.int64)[:, None]
    effective = np.clip(lens, 0, num_segments)
    row, slot = np.nonzero(learned >= 0)
    marked = learned[row, slot] * effective[row, 0] // np.maximum(lens, 1)[row, 0]
    occupied = np.zeros((len(learned), num_segments), bool)
    occupied[row, np.minimum(marked, num_segments - 1)] = True
    segment = np.arange(num_segments)
    edges = (segment * lens + effective - 1) // np.maximum(effective, 1)
    return np.where((segment < effective) & ~occupied, edges, -1).astype("<i4")


def merge(learned, edges, keep, max_replacements):
    """The first witnesses of each row overwrite its slots from `keep` on."""
    missing = edges >= 0
    rank = np.cumsum(missing, axis=1) - 1
    row, segment = np.nonzero(missing & (rank < min(max_replacements, learned.shape[1] - keep)))
    learned[row, keep + rank[row, segment]] = edges[row, segment]


def answer(request, context_lens, data):
    """The result of one request: entries for witnesses, else the data with its spare columns."""
    rows, topk, stride, num_segments = (int(request[key]) for key in ("rows", "topk", "row_stride", "num_segments"))
    if num_segments == 0 or (len(data) == 0 and request["operation"] != WITNESSES):
        return data  # scatter is switched off, or there is no slot (an empty shape may be of any width)
    topk = topk if rows > 0 else 0
    stride = stride if rows > 1 and topk > 0 else topk  # elsewhere it may be any number
    learned = np.lib.stride_tricks.as_strided(data, (rows, topk), (4 * stride, 4))
    edges = witnesses(learned.astype(np.int64), context_lens, num_segments)
    if request["operation"] == WITNESSES:
        return edges.reshape(-1)
    if request["operation"] == SCATTER:
        merge(learned, edges, max(0, topk - num_segments), num_segments)
    else:
        merge(learned, edges, int(request["learned_keep"]), int(request["max_replacements"]))
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
