#!/usr/bin/env python3
"""Counts the instructions that scatter executes a token, under callgrind: the figure that does not depend on what else the machine does.

    instructions.py PROBE --baseline FILE --compiler NAME [--update]

PROBE is kvwitness_instruction_probe. Each backend up to AVX2 that this machine can run is counted on each pattern, and the functions that ran
are checked to be that backend's. A count more than 5% above the baseline's of the same compiler fails, and so does a baseline that misses one; with
--update the baseline is written instead. A compiler that the baseline lacks is reported and skipped (exit status 77), as is a machine
without valgrind. AVX-512 is not run by callgrind; see the disassembled counts in README.md.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
TOLERANCE = 1.05
TIMES = 20
BACKENDS = {"scalar": None, "ssse3": "N_SSSE3", "sse4": "N_SSE4", "avx2": "N_AVX2"}
CASES = [(pattern, segments) for pattern in ("real", "alternate", "one_segment", "one_missing", "spread") for segments in (8, 64)]


def count(probe, backend, pattern, segments, times):
    """Instructions inside kvw_scatter and what it calls, the functions' names, and the tokens of one call; None where it cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=kvw_scatter", probe, backend,
                   pattern, str(segments), str(times)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 3:
            return None
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")
        with open(out, encoding="utf-8") as file:
            text = file.read()
    total = int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1))
    return total, re.findall(r"^c?fn=\(\d+\) (.+)$", text, re.MULTILINE), int(done.stdout)


def check_functions(backend, namespace, functions):
    """The namespaces of the vector bodies that ran: the backend's own, or none for scalar."""
    ran = {match for name in functions for match in re.findall(r"N_[A-Z0-9_]+?(?=::|\b)", name)}
    expected = {namespace} if namespace else set()
    if ran != expected:
        sys.exit(f"forced {backend}, but the bodies that ran are {sorted(ran) or 'none'}")


def measure(probe):
    counts = {}
    for backend, namespace in BACKENDS.items():
        for pattern, segments in CASES:
            counted = count(probe, backend, pattern, segments, TIMES)
            if counted is None:
                print(f"{backend}: cannot run here, not counted")
                break
            total, functions, tokens = counted
            check_functions(backend, namespace, functions)
            counts[f"{backend}/{pattern}/S:{segments}"] = round(total / (TIMES * tokens), 4)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("SKIPPED: valgrind is not installed")
        sys.exit(SKIPPED)
    with open(options.baseline, encoding="utf-8") as file:
        baselines = json.load(file)
    if options.compiler not in baselines and not options.update:
        print(f"SKIPPED: no baseline for {options.compiler}; there are {', '.join(baselines) or 'none'}")
        sys.exit(SKIPPED)
    counts = measure(options.probe)
    if options.update:
        baselines[options.compiler] = counts
        with open(options.baseline, "w", encoding="utf-8") as file:
            json.dump(baselines, file, indent=1, sort_keys=True)
            file.write("\n")
    failed = False
    for name, value in counts.items():
        before = baselines[options.compiler].get(name)
        regressed = before is None or value > before * TOLERANCE
        failed |= regressed
        note = "" if not regressed else "  <-- no baseline" if before is None else "  <-- more than 5% above the baseline"
        print(f"{name:32s} {value:8.4f} instructions a token, baseline {before}{note}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
