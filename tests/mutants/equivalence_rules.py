"""Which mutants need no entry of equivalent.json where they survive: rules in place of entries, each with its reason.

A rule speaks of lines of one file: those within some definitions, and those that name something. Its mutants are judged as all others are, so that
what a test kills counts. Two are of every file: a loop that counts up from 0, and the verdict that holds."""

import dataclasses
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from enclosing_definitions import enclosing_definitions

VECTOR_BODY = "lib/src/simd/vector_row_pass-inl.h"


@dataclasses.dataclass(frozen=True)
class Rule:
    file: str
    reason: str
    within: tuple = ()    # functions and classes
    naming: tuple = ()    # identifiers


RULES = (
    Rule(VECTOR_BODY, "What is fetched ahead changes no result.",
         within=("prefetch", "distance_to_fetch"), naming=("kNearBytes", "ahead")),
    Rule(VECTOR_BODY, "A row's occupancy is a set: in which stretches and in which order it is read decides about speed only.",
         naming=("kEndVisits", "kFewSegments", "kMarkedStretch", "kFirstHuntedStretch", "hunted_stretch", "visits_", "visits_end", "at_end_")),
    Rule(VECTOR_BODY, "Whether a stretch is hunted decides about speed only: one that is not hunted is marked.",
         naming=("kRareNews", "kMaxHuntedRuns", "shown", "plan_hunt_by_runs", "plan_hunt_by_table")),
    Rule(VECTOR_BODY, "A hunt that finds more than there is has a stretch marked needlessly. One that misses something gives a wrong row.",
         within=("floor_of_ratio", "SegmentTable", "fit_bytes", "tabulate", "look_up", "found_in_blocks", "plan_hunt_by_table", "take_run",
                 "plan_hunt_by_runs")),
    Rule(VECTOR_BODY, "Each of the merges gives the same row.", naming=("kLongRun", "kFewWitnesses")),
    Rule("lib/src/simd/vector_row_pass.cc", "It asks what the processor has. What another one lacks, this machine cannot show.",
         within=("why_not_ssse3", "why_not_sse4", "has_avx2", "why_not_avx2", "has_avx512", "why_not_avx512", "why_not_avx512_ifma")),
)

COUNTING_UP = re.compile(r"for \(.*\b(\w+) = 0; \1 (<|!=) (.*; \+\+\1\) \{)")


def counts_up(before, after):
    """Whether the mutant ends a count from 0 at the same number by != in place of <."""
    matches = COUNTING_UP.search(before), COUNTING_UP.search(after)
    return all(matches) and before == after.replace(" != ", " < ", 1) and matches[0][2] == "<"


def returns_what_holds(before, after):
    return before.strip() == "return Verdict::holds();" and after.strip() == "return {};"


# Where every verdict is that of compare_runs(), which holds or is broken and never silent.
ONLY_COMPARISONS = ("properties/rules/batch_relations.cc",)


def asks_for_more_than_broken(file, before, after):
    return file in ONLY_COMPARISONS and before.replace("kind == Verdict::Kind::kBroken", "kind >= Verdict::Kind::kBroken") == after


class Rules:
    def __init__(self, root, rules=RULES):
        self._root, self._rules, self._definitions = root, rules, {}

    def reason(self, mutant):
        if counts_up(mutant.before, mutant.after):
            return "The count goes up by one from 0."
        if returns_what_holds(mutant.before, mutant.after):
            return "Verdict::holds() is {}."
        if mutant.before != mutant.after and asks_for_more_than_broken(mutant.file, mutant.before, mutant.after):
            return "A comparison holds or is broken; it is never silent, which would be more."
        return next((rule.reason for rule in self._rules if rule.file == mutant.file and self._speaks_of(rule, mutant)), None)

    def _speaks_of(self, rule, mutant):
        if any(re.search(rf"\b{name}\b", mutant.before.split("//")[0]) for name in rule.naming):
            return True
        return bool(self.definitions(rule.file)[mutant.line - 1] & set(rule.within))

    def definitions(self, file):
        if file not in self._definitions:
            with open(os.path.join(self._root, file), encoding="utf-8") as stream:
                self._definitions[file] = enclosing_definitions(stream.readlines())
        return self._definitions[file]

    def stale(self):
        """(file, name) for what a rule names and its file no longer has."""
        missing = []
        for rule in self._rules:
            with open(os.path.join(self._root, rule.file), encoding="utf-8") as stream:
                text = stream.read()
            known = set().union(*self.definitions(rule.file))
            missing += [(rule.file, name) for name in rule.within if name not in known]
            missing += [(rule.file, name) for name in rule.naming if not re.search(rf"\b{name}\b", text)]
        return missing
