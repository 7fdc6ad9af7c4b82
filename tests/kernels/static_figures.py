#!/usr/bin/env python3
"""Figures of the compiled kernels that need no GPU, held against the recorded ones.

Compiles launch.cu for each architecture of the record, disassembles it, and for each kernel checks

  - registers a thread and instructions per 8 tokens of the hot loop, against limits and, where nvcc is the recorded release, against the
    recorded figures,
  - no spilled register and no stack,
  - 128-bit loads in the hot loop, as many as the thread's vectors in flight,
  - no call in the hot loop, and no division by the reciprocal unit or in floating point anywhere in the kernel. (On sm_80 ptxas leaves a
    loop by a CALL to the instruction behind it, and keeps warp collectives in subroutines: neither is a call in the loop.)

The hot loop is the one whose loads keep a row in flight and which spends the least on a token: rows that the narrow reciprocal covers.

  static_figures.py --nvcc NVCC --source ROOT --record FILE [--update]

Exits 77 where no disassembler is found (a CUDA toolkit has one, or: pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump).
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOKENS_PER_LOAD = 4
SLOW = re.compile(r"\b(MUFU|I2F|F2I|I2FP|DADD|DMUL|DFMA)\b")
CALL = re.compile(r"\bCALL\S*\s+.*0x([0-9a-f]+)")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
BRANCH = re.compile(r"\bBRA\S*\s+(?:\S+,\s*)*0x([0-9a-f]+)")


def kernel_name(mangled):
    """`scatter block`, `apply warp`, ...: the operation and the variant."""
    variant = "warp" if "WarpWitness" in mangled else "block"
    if "many_segments" in mangled:
        return "witnesses-above-64 block"
    if "witness_indices" in mangled:
        return f"witnesses {variant}"
    return f"{'apply' if 'Lb1E' in mangled else 'scatter'} {variant}"


def find_tools(nvcc, source):
    """A PATH on which cuobjdump and nvdisasm are found, or None: beside nvcc, from PyPI, or from PyPI by way of ./run test."""
    folders = [os.path.dirname(os.path.realpath(nvcc))]
    for root in sys.path + glob.glob(os.path.join(source, "build", "cuda-tools", "lib", "python3*", "site-packages")):
        folders += glob.glob(os.path.join(root, "nvidia", "cu*", "bin"))
    path = os.pathsep.join(folders + [os.environ.get("PATH", "")])
    both = all(shutil.which(tool, path=path) for tool in ("cuobjdump", "nvdisasm"))
    return path if both else None


def run(command, path=None):
    environment = dict(os.environ, PATH=path) if path else None
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def resources(log):
    """Registers, spilled bytes and stack bytes of each kernel, from what ptxas says."""
    found = {}
    name = None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)'", line):
            name = kernel_name(match.group(1))
            found[name] = {"spilled_bytes": 0, "stack_bytes": 0}
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            found[name]["stack_bytes"] = int(match.group(1))
            found[name]["spilled_bytes"] = int(match.group(2)) + int(match.group(3))
        elif match := re.search(r"Used (\d+) registers", line):
            found[name]["registers"] = int(match.group(1))
    return found


def functions(listing):
    """(name, [(address, text)]) of each kernel in a cuobjdump listing."""
    for part in listing.split("Function : ")[1:]:
        lines = part.splitlines()
        code = [(int(match.group(1), 16), match.group(2)) for match in map(INSTRUCTION.match, lines) if match]
        yield kernel_name(lines[0].strip()), code


def loops(code):
    """The loops with loads of 128 bits that hold no other such loop."""
    index = {address: i for i, (address, _) in enumerate(code)}
    spans = []
    for i, (address, text) in enumerate(code):
        match = BRANCH.search(text)
        if match and int(match.group(1), 16) <= address and int(match.group(1), 16) in index:
            spans.append((index[int(match.group(1), 16)], i))
    loading = [s for s in spans if any("LDG.E.128" in text for _, text in code[s[0]:s[1] + 1])]
    return [
        code[begin:end + 1]
        for begin, end in loading
        if not any(other != (begin, end) and begin <= other[0] and other[1] <= end for other in loading)
    ]


def calls_in(loop):
    """The calls to anywhere but the instruction behind the loop."""
    behind = loop[-1][0] + 16
    return [text for _, text in loop if (match := CALL.search(text)) and int(match.group(1), 16) != behind]


def figures_of(code):
    """What the hot loop of one kernel costs, and what is wrong with the kernel."""
    bodies = loops(code)
    if not bodies:
        return {}, ["no loop has 128-bit loads"]
    loads = [sum("LDG.E.128" in text for _, text in body) for body in bodies]
    costs = [len(body) * 8 / (count * TOKENS_PER_LOAD) for body, count in zip(bodies, loads)]
    hot = costs.index(min(costs))
    problems = [f"a slow division: {text}" for _, text in code if SLOW.search(text)]
    problems += [f"the hot loop calls: {text}" for text in calls_in(bodies[hot])]
    return {"instructions_per_8_tokens": round(costs[hot], 1), "loads_in_flight": loads[hot]}, problems


def measure(nvcc, source, architecture, path):
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "launch.cubin")
        includes = [f"-I{source}", f"-I{source}/lib/include", f"-I{source}/kernels/include"]
        log = run([nvcc, "-std=c++17", "-O3", f"-arch={architecture}", "-cubin", "-Xptxas=-v", "-o", cubin, *includes,
                   f"{source}/kernels/src/launch.cu"])
        measured = resources(log)
        problems = {}
        for name, code in functions(run(["cuobjdump", "-sass", cubin], path)):
            found, problems[name] = figures_of(code)
            measured[name].update(found)
    return measured, problems


def hold(architecture, name, measured, recorded, limits, same_release):
    """The sentences that say what of one kernel is not as it should be."""
    said = []
    for key in ("spilled_bytes", "stack_bytes"):
        if measured[key] != 0:
            said.append(f"{key} is {measured[key]}, not 0")
    for key, limit in limits.items():
        if measured.get(key, limit + 1) > limit:
            said.append(f"{key} is {measured.get(key)}, above the limit of {limit}")
    if measured.get("loads_in_flight") != recorded["loads_in_flight"]:
        said.append(f"loads_in_flight is {measured.get('loads_in_flight')}, not {recorded['loads_in_flight']}")
    if same_release:
        said += [f"{key} is {measured.get(key)}, and {value} is recorded: run with --update"
                 for key, value in recorded.items() if measured.get(key) != value]
    return [f"{architecture} {name}: {sentence}" for sentence in said]


def show(architecture, measured):
    for name, values in sorted(measured.items()):
        print(f"{architecture:<7} {name:<25} {values['registers']:>3} registers, {values['spilled_bytes']} bytes spilled, "
              f"{values.get('instructions_per_8_tokens', 0):>6} instructions per 8 tokens, "
              f"{values.get('loads_in_flight', 0)} loads of 128 bits in flight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--record", required=True)
    parser.add_argument("--update", action="store_true", help="write the measured figures into the record; limits stay")
    arguments = parser.parse_args()

    path = find_tools(arguments.nvcc, arguments.source)
    if path is None:
        print("skipped: cuobjdump and nvdisasm were not found; pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump")
        return 77
    with open(arguments.record, encoding="utf-8") as file:
        record = json.load(file)
    release = re.search(r"release (\S+),", run([arguments.nvcc, "--version"])).group(1)
    failures = []
    for architecture, recorded in record["figures"].items():
        measured, problems = measure(arguments.nvcc, arguments.source, architecture, path)
        show(architecture, measured)
        if arguments.update:
            record["figures"][architecture] = measured
            continue
        if sorted(measured) != sorted(recorded):
            failures.append(f"{architecture}: the kernels are {sorted(measured)}, and {sorted(recorded)} are recorded")
            continue
        for name in sorted(recorded):
            failures += [f"{architecture} {name}: {problem}" for problem in problems[name]]
            failures += hold(architecture, name, measured[name], recorded[name], record["limits"][name],
                             release == record["nvcc_release"])
    if arguments.update:
        record["nvcc_release"] = release
        with open(arguments.record, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2, sort_keys=True)
            file.write("\n")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
