"""Campaigns that must find something: the canary and the planted faults. And what the mutators buy."""

import math
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from crashes import signature_of
from layout import Build, DriverError, descriptors, dictionary_of, sanitizer_environment, say

EXECUTED = re.compile(r"^stat::number_of_executed_units:\s+(\d+)", re.MULTILINE)
EDGES = re.compile(r"cov: (\d+)")
SEED = 20260731

DEFAULT_EXECUTIONS = 100000


def planted_faults() -> dict[str, list[str]]:
    """The faults that each target must find."""
    return {name: list(each.finds) for name, each in descriptors().items() if not each.is_control}


def sharing_seeds_with(target: str) -> str:
    """The target whose seeds and limit a campaign takes: its own, or for a control those of a target that reads the same form of input."""
    described = descriptors()
    if not described[target].is_control:
        return target
    return next(name for name, each in described.items() if not each.is_control and each.form == described[target].form)


@dataclass
class Hunt:
    """One bounded campaign from the seeds: what it found, after how many executions, and how many edges it reached."""

    found: str
    executions: int
    edges: int


def hunt(build: Build, program: Path, target: str, limit: int, bound: str, fault: str | None, from_seeds: bool = True) -> Hunt:
    """`bound` is the engine's option that ends the campaign: -runs=N or -max_total_time=SECONDS."""
    environment = sanitizer_environment()
    if fault:
        environment["KVWITNESS_PLANTED_FAULT"] = fault
    with tempfile.TemporaryDirectory() as temporary:
        corpus = Path(temporary) / "corpus"
        corpus.mkdir()
        seeds = build.seeds_folder / sharing_seeds_with(target)
        command = [str(program), bound, f"-seed={SEED}", f"-max_len={limit}", "-len_control=0", "-print_final_stats=1", "-timeout=25",
                   f"-artifact_prefix={temporary}{os.sep}", str(corpus), *([str(seeds)] if from_seeds else [])]
        if (dictionary := dictionary_of(target)) and not program.name.endswith("_by_bytes"):
            command.insert(1, f"-dict={dictionary}")
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode == 2:
        raise DriverError(f"{program.name}: {output.strip()[-300:]}")
    executed = EXECUTED.search(output)
    edges = [int(number) for number in EDGES.findall(output)]
    found = "" if done.returncode == 0 else signature_of(target, output).what
    return Hunt(found, int(executed.group(1)) if executed else 0, max(edges, default=0))


def check(build: Build, target: str, limit: int, fault: str | None, runs: int | None) -> str:
    """Runs one control; a line for a person. An error where a finding is missing, or is no finding of the target's own."""
    program = build.folder / "fuzz" / "controls" / (f"planted_{target}" if fault else target)
    runs = runs or descriptors()[target].control_runs
    result = hunt(build, program, target, limit, f"-runs={runs}", fault)
    name = fault or "the claim"
    if not result.found:
        raise DriverError(f"{target}: {name} was not found in {runs} executions")
    if not result.found.startswith("target="):
        raise DriverError(f"{target}: {name} ended the run by something else than a finding: {result.found}")
    return f"{target}: {name} found after {result.executions} executions: {result.found}"


@dataclass
class Comparison:
    """A target's hunts without and with its mutator or dictionary, at the same time and under the same bound."""

    build: Build
    target: str
    limit: int
    bound: str

    def pair(self, fault: str | None) -> tuple[Hunt, Hunt]:
        """From nothing: from the seeds most faults are found at once, whatever mutates them."""
        controls = self.build.folder / "fuzz" / "controls"
        prefix = "planted_" if fault else ""
        programs = (controls / f"{prefix}{self.target}_by_bytes", controls / f"planted_{self.target}" if fault else self.build.target(self.target))
        with ThreadPoolExecutor(2) as pool:
            hunts = [pool.submit(hunt, self.build, program, self.target, self.limit, self.bound, fault, False) for program in programs]
            return hunts[0].result(), hunts[1].result()

    def row(self) -> str:
        faults = planted_faults()[self.target]
        reached = self.pair(None)
        pairs = [self.pair(fault) for fault in faults]
        cells = [f"`{self.target}`", self.bound.partition("=")[2] + (" s" if "time" in self.bound else " executions")]
        cells += [str(each.edges) for each in reached]
        cells += [f"{sum(bool(pair[side].found) for pair in pairs)} of {len(faults)}" for side in (0, 1)]
        cells += [self._median([pair[side] for pair in pairs]) for side in (0, 1)]
        return f"| {' | '.join(cells)} |"

    @staticmethod
    def _median(hunts: list[Hunt]) -> str:
        """The executions after which half of the faults were found."""
        executions = sorted(each.executions if each.found else math.inf for each in hunts)[(len(hunts) - 1) // 2]
        return "never" if executions == math.inf else str(executions)


def compare_mutators(build: Build, limits: dict[str, int], runs: int, seconds: int) -> str:
    """What mutating cases and raw calls (where there is no mutator: the dictionary) buys, in equal executions and in equal time. A table."""
    rows = ["| target | bound | edges without | edges with | faults without | faults with | executions to half of the faults, without | with |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for target, described in descriptors().items():
        if described.is_control or not (described.has_mutator or described.dictionary):
            continue
        for bound in (f"-runs={min(runs, described.control_runs)}", f"-max_total_time={seconds}"):
            rows.append(Comparison(build, target, limits[target], bound).row())
            say(rows[-1])
    return "\n".join(rows)
