#!/usr/bin/env python3
"""Runs kvwitness_bench and shows what it measured: one table, a plot of ratio against rows, and a JSON.

    report.py BENCH [--out FOLDER] [--quick] [--library LIBKVWITNESS.so]

BENCH is the program kvwitness_bench. FOLDER (default: bench-report) gets bench*.json, report.json and ratio.svg. The best backend here is
measured on every shape, the others on some of them. --quick leaves out the batches above 512 rows and the other backends. With --library
and PyTorch installed, torch_rule.py is run too. The environment variable KVWITNESS_BENCH_PREFIX holds words to put before each run of BENCH.
"""

import argparse
import json
import os
import re
import subprocess
import sys

PATTERNS = ["real", "alternate", "one_segment", "one_missing", "spread"]
COLOURS = {"real": "#c0392b", "alternate": "#8e44ad", "one_segment": "#2c3e50", "one_missing": "#2980b9", "spread": "#27ae60",
           "read": "#999999"}
NAME = re.compile(r"scatter/(?P<pattern>\w+)/rows:(?P<rows>\d+)/topk:(?P<topk>\d+)/S:(?P<S>\d+)/L:(?P<L>\d+)/offset:(?P<offset>\d+)")
COUNTERS = ("us", "copy_us", "ratio", "ratio_of_least", "read_ratio", "naive_ratio", "call_ns")
QUICK = [r"rows:(1|2|4|8|32|128|512)/"]
# In parts, so that no run of the program is long.
WHOLE = [r"rows:(1|2|4|8|32|128)/", r"rows:512/", r"rows:2048/", r"(real|alternate)/rows:8192/", r"one.*/rows:8192/", r"spread/rows:8192/"]
OTHERS = [r"^others/"]
OTHER_BACKENDS = [r"(real|alternate|spread)/rows:(1|8|32|512)/topk:2048/S:64/L:131072/offset:0"]


def run_bench(bench, out, name, filters, backend):
    """What the program measured of the shapes that the filters name, on a backend."""
    measured = None
    for part, shapes in enumerate(filters):
        path = os.path.join(out, f"{name}.{part}.json")
        command = [*os.environ.get("KVWITNESS_BENCH_PREFIX", "").split(), bench, f"--benchmark_out={path}",
                   "--benchmark_out_format=json", f"--benchmark_filter={shapes}"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, env=os.environ | {"KVWITNESS_BACKEND": backend})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
        with open(path, encoding="utf-8") as file:
            this = json.load(file)
        measured = measured or this | {"benchmarks": []}
        measured["benchmarks"] += this["benchmarks"]
    return measured


def backends_here(bench):
    return subprocess.run([bench, "--list_backends"], capture_output=True, text=True, check=True).stdout.split()


def results_of(measured):
    """One dict a shape: the parts of its name and its counters."""
    results = []
    for benchmark in measured["benchmarks"]:
        match = NAME.match(benchmark["name"])
        if match:
            shape = {key: value if key == "pattern" else int(value) for key, value in match.groupdict().items()}
            results.append(shape | {key: benchmark[key] for key in COUNTERS})
    return sorted(results, key=lambda result: [PATTERNS.index(result["pattern"]), *(result[key] for key in ("topk", "S", "L", "offset", "rows"))])


def others_of(measured):
    return [{"name": benchmark["name"].split("/iterations")[0]} | {key: benchmark[key] for key in ("us", "yardstick_us", "ratio")}
            for benchmark in measured["benchmarks"] if benchmark["name"].startswith("others/")]


def print_others(results):
    print("\nnull models, masks and metrics, against what memory alone costs them")
    for result in results:
        print(f"{result['name'][len('others/'):]:66s} {result['us']:11.3f} us, yardstick {result['yardstick_us']:11.3f} us, {result['ratio']:7.2f}")


def is_main(result):
    return (result["topk"], result["S"], result["L"], result["offset"]) == (2048, 64, 131072, 0)


def print_results(title, results):
    print(f"\n{title}")
    print(f"{'pattern':12s} {'rows':>5s} {'topk':>5s} {'S':>3s} {'L':>8s} {'offset':>6s} {'us':>11s} {'memcpy us':>11s} {'ratio':>6s}"
          f" {'of least':>8s} {'read':>5s} {'naive':>6s} {'call ns':>7s}")
    for result in results:
        # Beyond a few rows the difference of two large times says nothing.
        call = f"{result['call_ns']:7.1f}" if result["rows"] <= 8 else ""
        length = "own" if result["pattern"] == "real" else str(result["L"])
        print(f"{result['pattern']:12s} {result['rows']:5d} {result['topk']:5d} {result['S']:3d} {length:>8s} {result['offset']:6d}"
              f" {result['us']:11.3f} {result['copy_us']:11.3f} {result['ratio']:6.2f} {result['ratio_of_least']:8.2f}"
              f" {result['read_ratio']:5.2f} {result['naive_ratio']:6.1f} {call}")


def plot(results, backend):
    """Ratio against rows, both on logarithmic axes, as SVG."""
    width, height, left, top, right, bottom = 760, 460, 60, 40, 140, 50
    series = {pattern: [(result["rows"], result["ratio"]) for result in results if result["pattern"] == pattern and is_main(result)]
              for pattern in PATTERNS}
    series["read"] = [(result["rows"], result["read_ratio"]) for result in results if result["pattern"] == "spread" and is_main(result)]
    points = [point for line in series.values() for point in line]
    if not points:
        return None
    import math
    x_low, x_high = 0.0, math.log2(max(max(rows for rows, _ in points), 2))
    y_low = math.floor(math.log2(max(min(ratio for _, ratio in points), 0.01)))
    y_high = math.ceil(math.log2(max(ratio for _, ratio in points)))
    y_high = max(y_high, y_low + 1)

    def x_of(rows):
        return left + (math.log2(rows) - x_low) / (x_high - x_low) * (width - left - right)

    def y_of(ratio):
        return top + (y_high - math.log2(max(ratio, 0.01))) / (y_high - y_low) * (height - top - bottom)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="22" font-size="14">scatter as a multiple of memcpy: topk 2048, S 64, backend {backend}</text>']
    for exponent in range(y_low, y_high + 1):
        y = y_of(2.0**exponent)
        svg.append(f'<line x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        svg.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{2.0**exponent:g}</text>')
    for rows in sorted({rows for rows, _ in points}):
        svg.append(f'<text x="{x_of(rows):.1f}" y="{height - bottom + 18}" text-anchor="middle">{rows}</text>')
    svg.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">rows</text>')
    for index, (name, line) in enumerate((name, line) for name, line in series.items() if line):
        path = " ".join(f"{x_of(rows):.1f},{y_of(ratio):.1f}" for rows, ratio in line)
        dash = ' stroke-dasharray="4 3"' if name == "read" else ""
        svg.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"{dash}/>')
        y = top + 10 + 20 * index
        svg.append(f'<line x1="{width - right + 15}" x2="{width - right + 40}" y1="{y}" y2="{y}" stroke="{COLOURS[name]}" stroke-width="2"{dash}/>')
        svg.append(f'<text x="{width - right + 46}" y="{y + 4}">{name}</text>')
    svg.append("</svg>")
    return "\n".join(svg) + "\n"


def run_torch(library, out):
    path = os.path.join(out, "torch.json")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_rule.py")
    print("\nA vectorised PyTorch statement of the rule, one thread; the library is called through ctypes")
    sys.stdout.flush()
    done = subprocess.run([sys.executable, script, library, "--json", path])
    if done.returncode == 77:
        return None
    if done.returncode != 0:
        sys.exit(f"torch_rule.py: exit status {done.returncode}")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--out", default="bench-report")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--library")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    best, *others = backends_here(options.bench)
    if os.environ.get("KVWITNESS_BACKEND"):
        best, others = os.environ["KVWITNESS_BACKEND"], []
    measured = run_bench(options.bench, options.out, "bench", QUICK if options.quick else WHOLE, best)
    results = results_of(measured)
    if not results:
        sys.exit("kvwitness_bench measured nothing")
    backend = measured["context"].get("backend", "?")
    print(f"backend {backend}; medians of interleaved rounds; load {measured['context'].get('load_avg')}")
    print_results("topk 2048, S 64: how cost grows with rows", [result for result in results if is_main(result)])
    print_results("other widths, segment counts, lengths and alignments", [result for result in results if not is_main(result)])
    others_results = {}
    for other in [] if options.quick else others:
        others_results[other] = results_of(run_bench(options.bench, options.out, f"bench-{other}", OTHER_BACKENDS, other))
        print_results(f"backend {other}", others_results[other])
    others_measured = others_of(run_bench(options.bench, options.out, "others", OTHERS, best))
    print_others(others_measured)
    report = {"kvwitness_bench": 1, "backend": backend, "context": measured["context"], "results": results,
              "other_backends": others_results, "others": others_measured}
    if options.library:
        report["torch"] = run_torch(options.library, options.out)
    with open(os.path.join(options.out, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    picture = plot(results, backend)
    if picture:
        with open(os.path.join(options.out, "ratio.svg"), "w", encoding="utf-8") as file:
            file.write(picture)
    print(f"\nwritten: {options.out}/report.json, {options.out}/ratio.svg")


if __name__ == "__main__":
    main()
