"""What the tests reached, joined over everything that one piece of source was compiled into.

A template, an inline function and the vector body exist many times in the machine code. A side of a branch counts as taken, and a condition as
shown to decide by itself (MC/DC), where one of these showed it; what is compiled only for one instruction set has that one to show it.
"""

import collections
import dataclasses
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from enclosing_definitions import enclosing_definitions


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclasses.dataclass
class Branch:
    place: Place
    taken: int = 0
    passed: int = 0

    def uncovered(self):
        return [side for side, count in (("true", self.taken), ("false", self.passed)) if count == 0]


@dataclasses.dataclass
class Decision:
    place: Place
    shown: list   # by condition, in the order of the source


@dataclasses.dataclass(frozen=True)
class Gap:
    """Something that no test reached. Named by text, so that it keeps its name when lines move."""
    file: str
    line: int
    kind: str        # "branch" or "mcdc"
    text: str        # the source line
    what: str        # the condition
    side: str        # of a branch

    @property
    def key(self):
        return (self.file, self.kind, self.text, self.what, self.side)

    def describe(self):
        missing = f"never {self.side}" if self.kind == "branch" else "never shown to decide by itself"
        return f"{self.file}:{self.line}: {self.what}: {missing}"


class Coverage:
    """`functions` as LLVM exports them, the sources below `root`."""

    def __init__(self, functions, root):
        self._root, self._texts = root, {}
        self.branches, self.decisions, self._conditions = {}, {}, collections.defaultdict(set)
        self.reachable_lines = collections.defaultdict(set)
        for function in functions:
            files = [os.path.relpath(name, root) for name in function["filenames"]]
            self._take_branches(function, files)
            self._take_decisions(function, files)
            for first, _, last, *_, file, _, kind in function["regions"]:
                if kind == 0:
                    self.reachable_lines[files[file]].update(range(first, last + 1))

    def _take_branches(self, function, files):
        for line, column, end_line, end_column, taken, passed, file, _, _ in function["branches"]:
            if files[file].startswith(".."):
                continue  # of a system header's macro
            place = Place(files[file], line, column, end_line, end_column)
            branch = self.branches.setdefault(place, Branch(place))
            branch.taken += taken
            branch.passed += passed
            self._conditions[files[file]].add(place)

    def _take_decisions(self, function, files):
        for line, column, end_line, end_column, _, _, shown in function["mcdc_records"]:
            place = Place(files[0], line, column, end_line, end_column)
            decision = self.decisions.setdefault(place, Decision(place, [False] * len(shown)))
            decision.shown = [old or new for old, new in zip(decision.shown, shown)]

    def source(self, place):
        """The text between two places of a file, in one line."""
        if place.file not in self._texts:
            with open(os.path.join(self._root, place.file), encoding="utf-8") as stream:
                self._texts[place.file] = stream.read().split("\n")
        lines = self._texts[place.file][place.line - 1:place.end_line]
        lines[-1] = lines[-1][:place.end_column - 1]
        lines[0] = lines[0][place.column - 1:]
        return " ".join(" ".join(lines).split())

    def line(self, place):
        return self.source(Place(place.file, place.line, 1, place.line, 10000))

    def conditions_of(self, decision):
        """The places of a decision's conditions, in the order of the source."""
        place = decision.place
        inside = [one for one in self._conditions[place.file]
                  if (place.line, place.column) <= (one.line, one.column) and (one.end_line, one.end_column) <= (place.end_line, place.end_column)]
        return sorted(inside)

    def gaps(self):
        found = []
        for place, branch in sorted(self.branches.items()):
            for side in branch.uncovered():
                found.append(Gap(place.file, place.line, "branch", self.line(place), self.source(place), side))
        for place, decision in sorted(self.decisions.items()):
            conditions = self.conditions_of(decision)
            for number, shown in enumerate(decision.shown):
                if not shown:
                    named = conditions[number] if len(conditions) == len(decision.shown) else None
                    what = self.source(named) if named else f"condition {number + 1} of {self.source(place)}"
                    found.append(Gap(place.file, named.line if named else place.line, "mcdc", self.line(named or place), what, ""))
        return found


class Explained:
    """The checked-in list of what no test of this machine can reach, each with its reason: by file, kind, source line and condition, or all that is
    within some functions of a file."""

    def __init__(self, path, root):
        with open(path, encoding="utf-8") as stream:
            entries = json.load(stream)["unreached"]
        named = [one for one in entries if "line" in one]
        self._reasons = {(one["file"], one["kind"], one["line"], one["condition"], one.get("side", "")): one["reason"] for one in named}
        # Another machine may reach it.
        self._of_this_machine = {key for key, one in zip(self._reasons, named) if one.get("machine")}
        self._within = [one for one in entries if "within" in one]
        self._definitions = {}
        for file in {one["file"] for one in self._within}:
            with open(os.path.join(root, file), encoding="utf-8") as stream:
                self._definitions[file] = enclosing_definitions(stream.readlines())

    def reason(self, gap):
        for one in self._within:
            if one["file"] == gap.file and self._definitions[gap.file][gap.line - 1] & set(one["within"]):
                return one["reason"]
        return self._reasons.get(gap.key)

    def stale(self, gaps):
        """Entries that speak of nothing uncovered, and functions that are gone."""
        present = {gap.key for gap in gaps}
        gone = [(one["file"], name) for one in self._within for name in one["within"] if name not in set().union(*self._definitions[one["file"]])]
        return gone + [key for key in self._reasons if key not in present and key not in self._of_this_machine]

    def lines(self):
        """(file, line) of each entry."""
        return sorted({(file, line) for file, _, line, _, _ in self._reasons})


def counts_of(coverage, lines, file):
    """(reached, all) for lines, sides of branches and conditions of one file."""
    reachable = coverage.reachable_lines[file]
    counted = {line: count for line, count in lines.get(file, {}).items() if count > 0 or line in reachable}
    branches = [branch for branch in coverage.branches.values() if branch.place.file == file]
    conditions = [shown for decision in coverage.decisions.values() if decision.place.file == file for shown in decision.shown]
    return {"lines": (sum(count > 0 for count in counted.values()), len(counted)),
            "branches": (sum(2 - len(branch.uncovered()) for branch in branches), 2 * len(branches)),
            "mcdc": (sum(conditions), len(conditions))}


def table(rows):
    """Aligned: a file a line, then the totals; `rows` is {name: counts}."""
    heads = ("file", "lines", "", "branches", "", "MC/DC", "")
    lines = [heads, *((name, *(cell for kind in ("lines", "branches", "mcdc") for cell in cells(counts[kind]))) for name, counts in rows.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def cells(count):
    reached, total = count
    return (f"{reached}/{total}", f"{100 * reached / total:.1f}%") if total else ("-", "")


def add(rows):
    return {kind: (sum(counts[kind][0] for counts in rows), sum(counts[kind][1] for counts in rows)) for kind in ("lines", "branches", "mcdc")}
