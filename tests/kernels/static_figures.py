#!/usr/bin/env python3
"""Figures of the compiled kernels that need no GPU, held against the recorded ones, and their answers.

Compiles launch.cu for each architecture of the record, disassembles it, executes the machine code of each kernel (sass.py) on rows of many shapes,
where it must leave what the rule says, and holds for a decode row of 2,048 tokens

  - warp instructions a row in all, against a limit and, where nvcc is the recorded release, against the record; so the registers,
  - 128-bit loads a thread in flight, all of which must be under way before the row's length is first used,
  - warps that a multiprocessor holds by registers, and the bytes of rows that they have in flight,
  - no spilled register and no stack,
  - no call that comes back, and no division by the reciprocal unit or in floating point anywhere in the kernel,
  - cycles of one row alone, by the latencies of sass.py: a model.

  static_figures.py --nvcc NVCC --source ROOT --record FILE [--update]

Exits 77 where no disassembler is found (a CUDA toolkit has one, or: pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump).
"""

import argparse
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import sass

SLOW = re.compile(r"\b(MUFU|I2F|F2I|I2FP|DADD|DMUL|DFMA)\b")

# Of a multiprocessor: warps, blocks, registers.
CAPACITY = {"sm_80": (64, 32, 65536), "sm_90": (64, 32, 65536), "sm_100": (64, 32, 65536), "sm_120": (48, 24, 65536)}

# Threads of a block, and of those at work on one row.
WARP_BLOCK_THREADS = 128
SEGMENTS, MANY_SEGMENTS = 64, 130


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


def threads_of(mangled):
    """Threads of a block, and those of them that one row needs."""
    match = re.search(r"BlockWitnessILi(\d+)|many_segmentsILi(\d+)", mangled)
    if match:
        return (int(match.group(1) or match.group(2)),) * 2
    return WARP_BLOCK_THREADS, sass.LANES


class Call:
    """A call of one row: the row and its length, as they lie in memory, and what the rule makes of them."""

    def __init__(self, topk, context_len, offset=0, next_n=1, starts=None, seed=1):
        draw = random.Random(seed)
        self.topk, self.context_len, self.offset, self.next_n, self.starts = topk, context_len, offset, next_n, starts
        most = max(context_len // 3, 1)
        self.tokens = [draw.randrange(most) if draw.random() < 0.9 else draw.choice((-1, -7, -2**31, 2**31 - 1, context_len)) for _ in range(topk)]

    def __str__(self):
        return (f"topk {self.topk}, length {self.context_len}, {self.offset} bytes past a boundary, next_n {self.next_n}"
                f"{'' if self.starts is None else ', a window'}")

    def witnesses(self, num_segments):
        """Each segment's edge where the row has no token in it, else -1."""
        segments = max(min(num_segments, self.context_len), 0)
        occupied = {min(token * segments // self.context_len, num_segments - 1) for token in self.tokens if token >= 0} if segments else set()
        edges = [-(-s * self.context_len // segments) if s not in occupied else -1 for s in range(segments)]
        return edges + [-1] * (num_segments - segments)

    def run(self, architecture, mangled, code):
        """The block after its run, and whether the answer is right."""
        row, lens, starts, output = 0x7F0000000000 + self.offset, 0x7F1000000000, 0x7F2000000000, 0x7F3000000000 + (self.offset * 2) % 16
        memory = sass.Memory()
        memory.allocate(row, self.tokens)
        # The row is the first of its request, which is next_n - 1 tokens before the request's end.
        memory.allocate(lens, [self.context_len + self.next_n - 1 + (self.starts or 0)])
        if self.starts is not None:
            memory.allocate(starts, [self.starts])
        many, indices, copies = "many_segments" in mangled, "witness_indices" in mangled, "Lb1E" in mangled
        num_segments = MANY_SEGMENTS if many else SEGMENTS
        requests = min(self.next_n, 1)
        arguments = struct.pack("<QqqQQqqQQq", row, self.topk, self.topk, lens, starts if self.starts is not None else 0, 1, self.next_n, requests,
                                (2**64 - 1) // requests, 1)
        count = struct.pack("<III", num_segments, (2**32 - 1) // num_segments, (1 << 18) // num_segments + 1)
        expected = self.witnesses(num_segments)
        target = output
        if many:
            arguments += struct.pack("<QQQ", num_segments, (2**64 - 1) // num_segments, output)
        elif indices:
            arguments += count + bytes(4) + struct.pack("<Q", output)
        else:
            target = output if copies else row
            keep = max(self.topk - SEGMENTS, 0)
            budget = min(self.topk - keep, SEGMENTS)
            arguments += struct.pack("<qi", keep, budget) + count + struct.pack("<Qq", target, self.topk)
            found = [edge for edge in expected if edge >= 0][:budget]
            expected = self.tokens[:keep] + found + self.tokens[keep + len(found):]
        if target == output:
            memory.allocate(output, [-77] * len(expected))
        block = sass.Block(architecture, code, threads_of(mangled)[1], arguments, memory, (lens, lens + 4))
        block.run()
        return block, memory.read(target, len(expected)) == expected


# The row that is counted, and rows whose answers are checked.
COUNTED = Call(2048, 40000)
CHECKED = [Call(1100, 40000, offset=4), Call(515, 1000, offset=8), Call(700, 64, offset=12), Call(516, 131072, next_n=3), Call(130, 5),
           Call(3, 900, offset=4), Call(1, 1), Call(66, 0), Call(66, -3), Call(131, 2**31 - 1), Call(130, 3000000, starts=17), Call(0, 777)]


def resident_warps(architecture, registers, threads):
    """How many warps a multiprocessor holds, by registers, warps and blocks."""
    warps, blocks, file = CAPACITY[architecture]
    warps_of_block = threads // sass.LANES
    of_warp = -(-registers // 8) * 8 * sass.LANES
    return min(file // of_warp // warps_of_block, warps // warps_of_block, blocks) * warps_of_block


def figures_of(architecture, mangled, code, registers):
    """What a row costs, and what is wrong with the kernel."""
    block, right = COUNTED.run(architecture, mangled, code)
    problems = [f"a slow division: {text}" for text in code.values() if SLOW.search(text)]
    problems += [f"{block.calls()} calls"] if block.calls() else []
    problems += [] if right else [f"a wrong answer: {COUNTED}"]
    problems += [f"a wrong answer: {call}" for call in CHECKED if not call.run(architecture, mangled, code)[1]]
    loads = block.wide_loads_in_flight()
    before = block.wide_loads_before_length_is_used()
    if before != loads:
        problems.append(f"{before} of the {loads} loads in flight come before the first use of the length")
    warps = resident_warps(architecture, registers, threads_of(mangled)[0])
    return {"warp_instructions": block.issued(), "loads_in_flight": loads, "resident_warps": warps, "kib_in_flight": warps * loads * 16 * sass.LANES // 1024,
            "cycles_of_one_row": block.cycles()}, problems


def compiled(nvcc, source, architecture, path, cubin):
    """The machine code of launch.cu as cuobjdump lists it, and what ptxas says of it."""
    includes = [f"-I{source}", f"-I{source}/lib/include", f"-I{source}/kernels/include"]
    log = run([nvcc, "-std=c++17", "-O3", f"-arch={architecture}", "-cubin", "-Xptxas=-v", "-o", cubin, *includes, f"{source}/kernels/src/launch.cu"])
    return run(["cuobjdump", "-sass", cubin], path), log


def measure(nvcc, source, architecture, path):
    with tempfile.TemporaryDirectory() as folder:
        listing, log = compiled(nvcc, source, architecture, path, os.path.join(folder, "launch.cubin"))
    measured, problems = resources(log), {}
    for mangled, code in sass.kernels(listing):
        name = kernel_name(mangled)
        found, problems[name] = figures_of(architecture, mangled, code, measured[name]["registers"])
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
    if measured["loads_in_flight"] != recorded["loads_in_flight"]:
        said.append(f"loads_in_flight is {measured['loads_in_flight']}, not {recorded['loads_in_flight']}")
    if same_release:
        said += [f"{key} is {measured.get(key)}, and {value} is recorded: run with --update"
                 for key, value in recorded.items() if measured.get(key) != value]
    return [f"{architecture} {name}: {sentence}" for sentence in said]


def show(architecture, measured):
    for name, values in sorted(measured.items()):
        print(f"{architecture:<7} {name:<25} {values['warp_instructions']:>5} warp instructions a row, {values['registers']:>3} registers, "
              f"{values['spilled_bytes']} bytes spilled, {values['loads_in_flight']} loads of 128 bits before the length, {values['resident_warps']:>2} warps "
              f"and {values['kib_in_flight']:>3} KiB in flight a multiprocessor, {values['cycles_of_one_row']:>4} cycles a row (model)")


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
