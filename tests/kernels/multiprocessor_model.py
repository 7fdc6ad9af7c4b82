#!/usr/bin/env python3
"""A model of how long a launch takes by rows, for the choice between a block and a warp to a row (choose_variant). No measurement.

Takes the instructions that the compiled kernels execute for one row (sass.py) and lets warps with these run on one multiprocessor of an H200: four
schedulers, each of which issues one instruction a cycle of a warp whose operands are there, as many blocks at a time as registers allow, and memory
that delivers a fixed number of bytes a cycle after a fixed latency. The rows are spread evenly over the multiprocessors. Launch and instruction
fetch take no time here.

  multiprocessor_model.py --nvcc NVCC --source ROOT [--topk N]
"""

import argparse
import heapq
import os
import sys
import tempfile

import sass
import static_figures

MULTIPROCESSORS, SCHEDULERS, GHZ = 132, 4, 1.755
BYTES_A_CYCLE = 24  # of one multiprocessor: between its share of the memory's 4.8 TB/s and that of the second-level cache
SECTOR = 32
ROWS = (1, 32, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192)


def bytes_of(code):
    """What a memory instruction of a whole warp moves."""
    if code.op not in ("LDG", "STG", "ST"):
        return 0
    return 16 * sass.LANES if code.has("128") else SECTOR if code.op == "LDG" else 4 * SECTOR


def cycles(traces, blocks, resident):
    """Until `blocks` blocks, whose warps execute `traces`, have run on one multiprocessor, `resident` of them at a time."""
    ready, at, arrived, running = {}, {}, {}, {}
    scheduler_free, memory_free, finished, started = [0] * SCHEDULERS, 0.0, 0, 0
    queue = []

    def start(time):
        nonlocal started
        block = started
        started += 1
        arrived[block], running[block] = [], len(traces)
        for warp in range(len(traces)):
            at[block, warp], ready[block, warp] = 0, {}
            heapq.heappush(queue, (time, block, warp))

    for _ in range(min(resident, blocks)):
        start(0)
    while queue:
        time, block, warp = heapq.heappop(queue)
        scheduler = (block * len(traces) + warp) % SCHEDULERS
        if scheduler_free[scheduler] > time:
            heapq.heappush(queue, (scheduler_free[scheduler], block, warp))
            continue
        code, is_active = traces[warp][at[block, warp]]
        scheduler_free[scheduler] = time + 1
        at[block, warp] += 1
        known = ready[block, warp]
        done = time + code.latency
        moved = bytes_of(code) if is_active else 0
        if moved:
            memory_free = max(memory_free, time) + moved / BYTES_A_CYCLE
            done = max(done, int(memory_free) + code.latency) if code.op == "LDG" else done
        for name in code.writes:
            known[name] = done
        if at[block, warp] == len(traces[warp]):
            running[block] -= 1
            finished = max(finished, time)
            if running[block] == 0 and started < blocks:
                start(time + 1)
            continue
        following = traces[warp][at[block, warp]][0]
        earliest = max([time + 1] + [known[name] for name in following.reads if name in known])
        if code.op != "BAR":
            heapq.heappush(queue, (earliest, block, warp))
            continue
        arrived[block].append((earliest, block, warp))
        if len(arrived[block]) == len(traces):
            for waiting in arrived[block]:
                heapq.heappush(queue, (max(waiting[0], time + sass.LATENCIES["BAR"]), block, waiting[2]))
            arrived[block] = []
    return max(finished, int(memory_free))


def microseconds(block, rows_of_block, threads, registers, rows, architecture="sm_90"):
    """For a launch of so many rows whose blocks take rows_of_block, each as `block` took one."""
    share = -(-rows // MULTIPROCESSORS)
    traces = [warp.trace for warp in block.warps] * rows_of_block
    resident = static_figures.resident_warps(architecture, registers, threads) // (threads // sass.LANES)
    return cycles(traces, -(-share // rows_of_block), resident) / GHZ / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--topk", type=int, default=2048)
    arguments = parser.parse_args()
    path = static_figures.find_tools(arguments.nvcc, arguments.source)
    if path is None:
        sys.exit("cuobjdump and nvdisasm were not found; pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump")
    with tempfile.TemporaryDirectory() as folder:
        listing, log = static_figures.compiled(arguments.nvcc, arguments.source, "sm_90", path, os.path.join(folder, "launch.cubin"))
    call = static_figures.Call(arguments.topk, 40000)
    print(f"microseconds of a launch over rows of {arguments.topk} tokens by the model of an H200")
    print(f"{'rows':<18}" + "".join(f"{rows:>8}" for rows in ROWS))
    for mangled, code in sass.kernels(listing):
        name = static_figures.kernel_name(mangled)
        if name.startswith("witnesses"):
            continue
        block, _ = call.run("sm_90", mangled, code)
        threads, of_row = static_figures.threads_of(mangled)
        times = [microseconds(block, threads // of_row, threads, static_figures.resources(log)[name]["registers"], rows) for rows in ROWS]
        print(f"{name:<18}" + "".join(f"{time:>8.2f}" for time in times))


if __name__ == "__main__":
    main()
