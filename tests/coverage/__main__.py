"""Coverage of the library and the kernels by the tests: lines, branches and MC/DC.

Ends with 1 where a side of a branch or a condition of the library is not reached that unreached.json does not explain, or where an explanation speaks
of nothing that is unreached; 2 on a usage error or where the tests do not run; else 0.
"""

import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import analysis
import measure

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./run coverage", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/coverage"), metavar="DIR", help="the instrumented build (build/coverage)")
    parser.add_argument("--profile", metavar="FILE", help="a merged profile of an earlier run, instead of running the tests")
    parser.add_argument("--targets", action="store_true", help="print the build's targets that are run, and leave")
    return parser.parse_args(arguments)


def write_html(options, profile, programs):
    folder = os.path.join(options.build, "html")
    measure.llvm_cov("show", ROOT, profile, programs, "-format=html", f"-output-dir={folder}", "-show-branches=count", "-show-mcdc",
                     "-show-instantiations=false")
    return os.path.join(folder, "index.html")


def report(coverage, lines, explained, path):
    """Writes the JSON, prints the table and what is unreached; the exit status."""
    gaps = coverage.gaps()
    files = sorted({place.file for place in [*coverage.branches, *coverage.decisions]} | set(lines))
    rows = {file: analysis.counts_of(coverage, lines, file) for file in files}
    for name, prefix in (("lib", "lib/"), ("kernels", "kernels/")):
        rows[f"total of {name}"] = analysis.add([counts for file, counts in rows.items() if file.startswith(prefix)])
    print(analysis.table(rows))
    unexplained = [gap for gap in gaps if gap.file.startswith("lib/") and explained.reason(gap) is None]
    stale = explained.stale(gaps)
    for gap in gaps:
        reason = explained.reason(gap)
        print(gap.describe() + (f" ({reason})" if reason else ""))
    for key in stale:
        print(f"explained, but reached or gone: {'  '.join(key)}")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"kvwitness_coverage": 1, "files": rows,
                   "unreached": [{"file": gap.file, "line": gap.line, "kind": gap.kind, "condition": gap.what, "side": gap.side,
                                  "source": gap.text, "reason": explained.reason(gap)} for gap in gaps],
                   "stale": [list(key) for key in stale]}, stream, indent=1)
    verdict = "kept" if not unexplained and not stale else "MISSED"
    print(f"{verdict}: every branch and every condition of lib, but for {sum(explained.reason(gap) is not None for gap in gaps)} that "
          f"tests/coverage/unreached.json explains; {len(unexplained)} unexplained, {len(stale)} stale")
    return 1 if unexplained or stale else 0


def main(arguments):
    options = parse(arguments)
    options.build = os.path.abspath(options.build)
    if options.targets:
        print(" ".join(program[0] for program in measure.PROGRAMS))
        return 0
    try:
        if options.profile:
            profile, programs = options.profile, sorted({measure.executable(options.build, program[0]) for program in measure.PROGRAMS})
        else:
            profile, programs = measure.run_tests(options.build, lambda line: print(line, file=sys.stderr, flush=True))
        runnable = measure.backends_here(options.build)
        functions = [one for one in measure.functions_of(ROOT, profile, programs) if measure.runs_here(one["name"], runnable)]
        lines = measure.lines_of(ROOT, profile, programs)
        index = write_html(options, profile, programs)
    except (measure.MeasureError, OSError, subprocess.CalledProcessError) as error:
        print(f"coverage: {error}", file=sys.stderr)
        return 2
    explained = analysis.Explained(os.path.join(HERE, "unreached.json"), ROOT)
    path = os.path.join(options.build, "coverage.json")
    status = report(analysis.Coverage(functions, ROOT), lines, explained, path)
    print(f"{os.path.relpath(index)}  {os.path.relpath(path)}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
