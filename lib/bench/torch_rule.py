#!/usr/bin/env python3
"""Times a vectorised PyTorch statement of scatter on one thread, and the library beside it in the same rounds.

    torch_rule.py LIBRARY [--json FILE]

LIBRARY is libkvwitness.so. Both must give the same rows, else the exit status is 1; without PyTorch it is 77. Rows are the synthetic
ones of kvwitness_bench: evenly spread, and with one segment empty.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

try:
    import torch
except ImportError:
    print("SKIPPED: PyTorch is not installed")
    sys.exit(77)

TOPK, NUM_SEGMENTS, CONTEXT_LEN = 2048, 64, 131072
ROUNDS = 15


def scatter(rows, lens, num_segments):
    """The rule by whole-tensor operations, in place: rows is int32 [rows, topk], lens int32 [rows]."""
    topk = rows.shape[1]
    length = lens.to(torch.int64).clamp(min=1)[:, None]
    segments = length.clamp(max=num_segments)
    token = rows.to(torch.int64)
    segment = torch.div(token * segments, length, rounding_mode="floor").clamp(max=num_segments - 1)
    occupied = torch.zeros(rows.shape[0], num_segments + 1, dtype=torch.bool)
    occupied.scatter_(1, torch.where(token >= 0, segment, num_segments), True)  # the last column takes the padding
    index = torch.arange(num_segments)[None, :]
    missing = ~occupied[:, :num_segments] & (index < segments) & (lens > 0)[:, None]
    edge = torch.div(index * length + segments - 1, segments, rounding_mode="floor").to(torch.int32)
    keep = max(0, topk - num_segments)
    slot = keep + missing.cumsum(1) - 1
    written = missing & (slot < topk)
    row = torch.arange(rows.shape[0])[:, None].expand_as(slot)
    rows[row[written], slot[written]] = edge[written]


def draw(rows, spare_one):
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(0, CONTEXT_LEN, (rows, TOPK), generator=generator, dtype=torch.int32)
    if spare_one:
        width = CONTEXT_LEN // NUM_SEGMENTS
        tokens = torch.where(tokens // width == 17, tokens + width, tokens)
    return tokens, torch.full((rows,), CONTEXT_LEN, dtype=torch.int32)


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(library, rows, spare_one):
    tokens, lens = draw(rows, spare_one)
    by_torch, by_library, copied = tokens.clone(), tokens.clone(), tokens.clone()
    pointer = ctypes.POINTER(ctypes.c_int32)

    def call_library():
        status = library.kvw_scatter(ctypes.cast(by_library.data_ptr(), pointer), rows * TOPK, TOPK,
                                     ctypes.cast(lens.data_ptr(), pointer), rows, NUM_SEGMENTS)
        if status != 0:
            raise RuntimeError(f"kvw_scatter: status {status}")

    samples = {"torch": [], "library": [], "copy": []}
    for _ in range(ROUNDS):
        by_torch.copy_(tokens)
        by_library.copy_(tokens)
        samples["torch"].append(seconds_of(lambda: scatter(by_torch, lens, NUM_SEGMENTS)))
        samples["library"].append(seconds_of(call_library))
        samples["copy"].append(seconds_of(lambda: copied.copy_(tokens)))
        if not torch.equal(by_torch, by_library):
            sys.exit(f"the library's rows differ from PyTorch's at {rows} rows")
    median = {name: statistics.median(values) * 1e6 for name, values in samples.items()}
    return {"pattern": "one_missing" if spare_one else "spread", "rows": rows, "torch_us": median["torch"],
            "library_us": median["library"], "copy_us": median["copy"], "torch_to_library": median["torch"] / median["library"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    library = ctypes.CDLL(options.library)
    pointer = ctypes.POINTER(ctypes.c_int32)
    library.kvw_scatter.argtypes = [pointer, ctypes.c_int64, ctypes.c_int64, pointer, ctypes.c_int64, ctypes.c_int64]
    results = [compare(library, rows, spare_one) for spare_one in (False, True) for rows in (1, 8, 32, 512)]
    print(f"{'pattern':12s} {'rows':>5s} {'PyTorch us':>12s} {'library us':>11s} {'copy us':>9s} {'PyTorch / library':>18s}")
    for result in results:
        print(f"{result['pattern']:12s} {result['rows']:5d} {result['torch_us']:12.1f} {result['library_us']:11.2f}"
              f" {result['copy_us']:9.2f} {result['torch_to_library']:18.0f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
