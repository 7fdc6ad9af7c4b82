"""Campaigns that must find something: the canary and the planted faults. And what the mutators buy."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from crashes import signature_of
from layout import ROOT, Build, DriverError, sanitizer_environment, say

FAULT = re.compile(r'^\s*X\((\w+), "([\w ]+)", "([^"]+)"\)', re.MULTILINE)
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s+(\d+)", re.MULTILINE)
EDGES = re.compile(r"cov: (\d+)")
SEED = 20260731

# The bound on a planted fault's executions. The executor runs each of 256 threads of a kernel, so its target gets fewer.
MOST_EXECUTIONS = {"cuda_differential": 20000}
DEFAULT_EXECUTIONS = 100000


def planted_faults() -> dict[str, list[str]]:
    """Each target's faults, from the one list."""
    faults: dict[str, list[str]] = {}
    for name, targets, _ in FAULT.findall((ROOT / "fuzz" / "planted_faults.h").read_text()):
        for target in targets.split():
            faults.setdefault(target, []).append(name)
    return faults


@dataclass
class Hunt:
    """One bounded campaign from the seeds: what it found, after how many executions, and how many edges it reached."""

    found: str
    executions: int
    edges: int


def hunt(build: Build, program: Path, target: str, limit: int, runs: int, fault: str | None, from_seeds: bool = True) -> Hunt:
    environment = sanitizer_environment()
    if fault:
        environment["KVWITNESS_PLANTED_FAULT"] = fault
    with tempfile.TemporaryDirectory() as temporary:
        corpus = Path(temporary) / "corpus"
        corpus.mkdir()
        seeds = build.seeds_folder / ("differential" if target == "canary" else target)
        command = [str(program), f"-runs={runs}", f"-seed={SEED}", f"-max_len={limit}", "-len_control=0", "-print_final_stats=1", "-timeout=25",
                   f"-artifact_prefix={temporary}{os.sep}", str(corpus), *([str(seeds)] if from_seeds else [])]
        dictionary = ROOT / "fuzz" / f"{target}.dict"
        if dictionary.exists() and not program.name.endswith("_by_bytes"):
            command.insert(1, f"-dict={dictionary}")
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode == 2:
        raise DriverError(f"{program.name}: {output.strip()[-300:]}")
    executed = EXECUTED.search(output)
    edges = [int(number) for number in EDGES.findall(output)]
    found = "" if done.returncode == 0 else signature_of(target, output).what
    return Hunt(found, int(executed.group(1)) if executed else runs, max(edges, default=0))


def check(build: Build, target: str, limit: int, fault: str | None, runs: int | None) -> str:
    """Runs one control; a line for a person. An error where a finding is missing, or is no finding of the target's own."""
    program = build.folder / "fuzz" / "controls" / (f"planted_{target}" if fault else target)
    runs = runs or MOST_EXECUTIONS.get(target, DEFAULT_EXECUTIONS)
    result = hunt(build, program, target, limit, runs, fault)
    name = fault or "the canary's claim"
    if not result.found:
        raise DriverError(f"{target}: {name} was not found in {runs} executions")
    if not result.found.startswith("target="):
        raise DriverError(f"{target}: {name} ended the run by something else than a finding: {result.found}")
    return f"{target}: {name} found after {result.executions} executions: {result.found}"


def compare_mutators(build: Build, limits: dict[str, int], runs: int) -> str:
    """With and without the mutation of cases (or the dictionary), in equal executions: edges, and planted faults found. A table. Both start from
    nothing: from the seeds most faults are found at once, whatever mutates them."""
    rows = ["| target | executions | edges, bytes alone | edges, cases | faults found, bytes alone | faults found, cases | median executions to a fault, bytes alone | cases |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    controls = build.folder / "fuzz" / "controls"
    for target in ("differential", "invariants", "cuda_differential", "refusals", "case_file"):
        bounded = min(runs, MOST_EXECUTIONS.get(target, runs))
        faults = planted_faults()[target]
        plain = hunt(build, controls / f"{target}_by_bytes", target, limits[target], bounded, None, False)
        ours = hunt(build, build.target(target), target, limits[target], bounded, None, False)
        by_bytes = [hunt(build, controls / f"planted_{target}_by_bytes", target, limits[target], bounded, fault, False) for fault in faults]
        by_cases = [hunt(build, controls / f"planted_{target}", target, limits[target], bounded, fault, False) for fault in faults]
        found = [sum(bool(each.found) for each in hunts) for hunts in (by_bytes, by_cases)]
        medians = [sorted(each.executions if each.found else bounded for each in hunts)[len(faults) // 2] for hunts in (by_bytes, by_cases)]
        rows.append(f"| `{target}` | {bounded} | {plain.edges} | {ours.edges} | {found[0]} of {len(faults)} | {found[1]} of {len(faults)} | {medians[0]} | {medians[1]} |")
        say(rows[-1])
    return "\n".join(rows)
