#!/usr/bin/env python3
"""Counts the instructions that scatter executes a token: the figure that does not depend on what else the machine does.

    instructions.py PROBE --baseline FILE --compiler NAME [--update]

PROBE is kvwitness_instruction_probe. Each backend up to AVX2 that this machine can run is counted on each pattern under callgrind, and the
functions that ran are checked to be that backend's. AVX-512, which callgrind cannot run, is counted by disassembly, on any machine: the
instructions of each hot loop over the tokens of one turn. A count more than 5% above the baseline's of the same compiler fails, and so does a
baseline that misses one; with --update the baseline is written instead. A compiler that the baseline lacks is reported and skipped (exit
status 77), as is a machine without valgrind or objdump.
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

# The loops of AVX-512: marking, without and with a search for tokens past the end, by each reciprocal; hunting for runs and by table.
MARKING = [f"mark_blocks<{past_end}, {segments}Segments>" for past_end in ("false", "true") for segments in ("Narrow", "Wide")]
HUNTING = ["found_in_blocks<1, false>", "found_in_blocks<2, false>", "found_in_blocks<0, true>", "found_in_blocks<1, true>",
           "found_in_blocks_by_table"]
LOOPS = {"avx512": ("N_AVX3", MARKING + HUNTING),
         "avx512_ifma": ("N_AVX3_IFMA", ["mark_blocks<false, IfmaSegments>", "mark_blocks<true, IfmaSegments>"] + MARKING + HUNTING)}


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


def disassemble(probe):
    """{function: [(address, instruction)]}, template arguments and all."""
    text = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", "-w", probe], capture_output=True, text=True, check=True).stdout
    functions, body = {}, None
    for line in text.splitlines():
        title = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if title:
            body = functions.setdefault(title.group(1), [])
        instruction = re.match(r"^\s*([0-9a-f]+):\s+(\S.*)$", line)
        if instruction and body is not None:
            body.append((int(instruction.group(1), 16), instruction.group(2)))
    return functions


def loops_of(body):
    """The instructions of each stretch that a conditional jump back to its start closes and that moves on through the slots."""
    position = {address: index for index, (address, _) in enumerate(body)}
    loops = []
    for index, (_, instruction) in enumerate(body):
        jump = re.match(r"j(?!mp)\w+\s+([0-9a-f]+)\b", instruction)
        start = position.get(int(jump.group(1), 16)) if jump else None
        if start is not None and start <= index:
            loops.append([text for _, text in body[start:index + 1]])
    return [loop for loop in loops if tokens_of(loop) > 0]


def tokens_of(loop):
    """The tokens of one turn, by how far the pointer to the slots moves: the largest constant that is added to a register."""
    steps = []
    for instruction in loop:
        step = re.match(r"(add|sub)\s+\$(0x[0-9a-f]+),%r", instruction)
        if step:
            value = int(step.group(2), 16)
            value -= 1 << 64 if value >> 63 else 0
            steps.append(value if step.group(1) == "add" else -value)
    return max(steps, default=0) // 4


def measure_loops(probe):
    functions = disassemble(probe)
    counts = {}
    for backend, (namespace, loops) in LOOPS.items():
        for loop_name in loops:
            signature = re.sub(r"(\w+Segments)", lambda match: f"kvwitness::detail::{namespace}::{match.group(1)}", loop_name)
            wanted = f"kvwitness::detail::{namespace}::{signature}("
            bodies = [body for name, body in functions.items() if wanted in name]
            if not bodies:
                sys.exit(f"{backend}: the program holds no {loop_name}")
            loops_found = [loop for body in bodies for loop in loops_of(body)]
            if len(loops_found) != 1 or not any("%zmm" in instruction for instruction in loops_found[0]):
                sys.exit(f"{backend}: no single loop on vectors of 512 bits in {loop_name}")
            counts[f"{backend}/loop {loop_name}"] = round(len(loops_found[0]) / tokens_of(loops_found[0]), 4)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    for tool in ("valgrind", "objdump"):
        if shutil.which(tool) is None:
            print(f"SKIPPED: {tool} is not installed")
            sys.exit(SKIPPED)
    with open(options.baseline, encoding="utf-8") as file:
        baselines = json.load(file)
    if options.compiler not in baselines and not options.update:
        print(f"SKIPPED: no baseline for {options.compiler}; there are {', '.join(baselines) or 'none'}")
        sys.exit(SKIPPED)
    counts = measure_loops(options.probe) | measure(options.probe)
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
        print(f"{name:52s} {value:8.4f} instructions a token, baseline {before}{note}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
