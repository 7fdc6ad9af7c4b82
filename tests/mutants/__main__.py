"""Mutation testing: does a test fail where the code is changed?

Mutates the segment arithmetic, what is done to a row, the vector body and the device collectives as a whole, and a seeded sample elsewhere in the
library; with a --file of properties/, a seeded sample of the judge: rules, runner, sandbox and shrinking. A mutant that does not compile, or whose object code is the original's or an earlier mutant's, says nothing and is not judged. Ends with
1 where a mutant survives that neither equivalent.json nor a rule explains, 2 on a usage error, 3 where some are left to judge, else 0.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import io
import json
import os
import queue
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import areas
import equivalence_rules
import judge
import results

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--file", default="*", metavar="GLOB", help="the files to mutate, by path from the repository's root")
    parser.add_argument("--sample", type=count, default=300, metavar="N", help="mutants elsewhere in the library, or of the judge (300)")
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="of that sample (0)")
    parser.add_argument("--jobs", type=positive, default=2, metavar="N", help="mutants judged at a time (2)")
    parser.add_argument("--limit", type=positive, metavar="MINUTES", help="begin no mutant after so long; a later run takes up what is left")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"), metavar="DIR", help="the configured build (build/release)")
    parser.add_argument("--out", default=os.path.join(ROOT, "build/mutants"), metavar="DIR", help="scratch copies, results, report (build/mutants)")
    parser.add_argument("--targets", action="store_true", help="print the build's targets that judge, and leave")
    return parser.parse_args(arguments)


def count(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def positive(text):
    if count(text) == 0:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return int(text)


def mutate(lines):
    """(line, its mutated text) for each mutant of a source."""
    from universalmutator import mutator
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(lines, ruleFiles=[os.path.join(HERE, "operators.rules")], ignorePatterns=[], ignoreStringOnly=True)
    return [(line, after) for line, after, *_ in made]


class Progress:
    """A bar on a terminal; a line now and then in a log."""

    def __init__(self, total):
        self._total, self._done, self._counts = total, 0, collections.Counter()
        self._start, self._said = time.monotonic(), 0.0
        self._terminal = sys.stderr.isatty()

    def step(self, mutant, status):
        self._done += 1
        self._counts[status] += 1
        if status == "survived":
            self._say(f"survived  {mutant.place}  {mutant.before.strip()}  ->  {mutant.after.strip()}", keep=True)
        elapsed = time.monotonic() - self._start
        if self._terminal or elapsed - self._said >= 30 or self._done == self._total:
            self._said = elapsed
            left = elapsed / self._done * (self._total - self._done)
            counts = ", ".join(f"{number} {status}" for status, number in sorted(self._counts.items()))
            bar = "#" * (24 * self._done // self._total)
            self._say(f"[{bar:<24}] {self._done}/{self._total} {counts}; {elapsed / 60:.1f} min, about {left / 60:.1f} left", keep=False)

    def _say(self, line, keep):
        end = "\n" if keep or not self._terminal or self._done == self._total else ""
        print(("\r\x1b[K" if self._terminal else "") + line, end=end, file=sys.stderr, flush=True)


class Run:
    def __init__(self, options, equivalents):
        self.options, self.equivalents = options, equivalents
        self.build = judge.Build(ROOT, options.build)
        self.judge = judge.Judge(self.build, options.out)
        self.results = results.Results(os.path.join(options.out, "results.jsonl"))
        self.deadline = time.monotonic() + 60 * options.limit if options.limit else float("inf")
        self._texts, self._digests = {}, {}
        self._scratches = queue.Queue()
        for number in range(options.jobs):
            self._scratches.put(judge.Scratch(ROOT, os.path.join(options.out, f"scratch-{number}")))

    def text(self, mutant):
        if mutant.file not in self._texts:
            with open(os.path.join(ROOT, mutant.file), encoding="utf-8") as stream:
                self._texts[mutant.file] = stream.readlines()
        return mutant.text(self._texts[mutant.file])

    def digests(self, area):
        """Of each program that judges the area."""
        for program in area.programs:
            if program.name not in self._digests:
                sources = (lambda _, program=program: [program.compiled]) if program.compiled else self.build.sources_of
                self._digests[program.name] = areas.digest_of_program(ROOT, program, sources)
        return {program.name: self._digests[program.name] for program in area.programs}

    def known(self, mutant):
        return self.results.find(results.key_of(mutant, self.text(mutant)), self.digests(mutant.area))

    def judge_one(self, mutant):
        """The mutant's entry; None where the time is up."""
        if time.monotonic() > self.deadline:
            return None
        scratch = self._scratches.get()
        try:
            verdict = self.judge.judge(scratch, mutant, self.text(mutant))
            return self.results.keep(results.key_of(mutant, self.text(mutant)), verdict, self.digests(mutant.area))
        finally:
            self._scratches.put(scratch)

    def judge_all(self, mutants):
        entries = {index: self.known(mutant) for index, mutant in enumerate(mutants)}
        to_do = [index for index, entry in entries.items() if entry is None]
        random.Random(self.options.seed).shuffle(to_do)  # what a run that is cut short has judged is then a sample of everything
        print(f"{len(mutants)} mutants, {len(mutants) - len(to_do)} of them judged before", file=sys.stderr)
        if not to_do:
            return entries
        self.judge.precompile()
        progress = Progress(len(to_do))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = {pool.submit(self.judge_one, mutants[index]): index for index in to_do}
            try:
                for future in concurrent.futures.as_completed(futures):
                    index = futures[future]
                    entries[index] = future.result()
                    status = entries[index]["status"] if entries[index] else "left"
                    explained = status == "survived" and self.equivalents.reason(mutants[index]) is not None
                    progress.step(mutants[index], "equivalent" if explained else status)
            except BaseException:
                self.deadline = 0.0
                raise
        return entries


def report(mutants, entries, equivalents, stale, path):
    """Writes the JSON, prints the table and the survivors; the exit status."""
    rows, listed, survivors, contradicted = {}, [], [], []
    for index, mutant in enumerate(mutants):
        entry = entries[index]
        status = entry["status"] if entry else "left"
        explanation = equivalents.reason(mutant)
        if explanation is not None and status == "survived":
            status = "equivalent"
        if status == "killed" and equivalents.names(mutant):
            contradicted.append(mutant)
        if status == "survived":
            survivors.append(mutant)
        rows.setdefault(mutant.file, collections.Counter())[status] += 1
        listed.append({"file": mutant.file, "line": mutant.line, "before": mutant.before.strip(), "after": mutant.after.strip(),
                       "area": mutant.area.name, "status": status, "by": entry["by"] if entry else "", "how": entry["how"] if entry else "",
                       "reason": explanation if status == "equivalent" else ""})
    total = sum(rows.values(), collections.Counter())
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"kvwitness_mutants": 1, "total": dict(total), "files": {file: dict(counts) for file, counts in rows.items()},
                   "stale": ["  ".join(key) for key in stale], "mutants": listed}, stream, indent=1)
    print(results.table(rows))
    for mutant in survivors:
        print(f"survived  {mutant.place}\n    - {mutant.before.strip()}\n    + {mutant.after.strip()}")
    for mutant in contradicted:
        print(f"listed as equivalent, but killed: {mutant.place}  {mutant.after.strip()}")
    for key in stale:
        print(f"said to be equivalent, but nothing of today: {'  '.join(key)}")
    print(f"the report: {os.path.relpath(path)}")
    if survivors or stale or contradicted:
        return 1
    return 3 if total["left"] else 0


def main(arguments):
    options = parse(arguments)
    options.out, options.build = os.path.abspath(options.out), os.path.abspath(options.build)
    if options.targets:
        programs = {program.target for area in areas.areas(ROOT) + areas.judge_areas(ROOT) for program in area.programs}
        print(" ".join(sorted(programs)))
        return 0
    mutants, generated = areas.chosen_mutants(ROOT, mutate, options.file, options.sample, options.seed)
    if not mutants:
        print(f"mutants: no mutated file matches {options.file!r}", file=sys.stderr)
        return 2
    os.makedirs(options.out, exist_ok=True)
    lock = open(os.path.join(options.out, "lock"), "w", encoding="utf-8")  # held until the end of the process
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print(f"mutants: another run works in {options.out}", file=sys.stderr)
        return 2
    equivalents = results.Equivalents(os.path.join(HERE, "equivalent.json"), equivalence_rules.Rules(ROOT))
    try:
        entries = Run(options, equivalents).judge_all(mutants)
    except judge.BuildError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    stale = equivalents.stale(generated, {mutant.file for mutant in generated})
    return report(mutants, entries, equivalents, stale, os.path.join(options.out, "report.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
