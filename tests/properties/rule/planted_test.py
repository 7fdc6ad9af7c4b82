"""Each of the five named invariants finds a planted fault as a RapidCheck property, shrinks it to a case that a person can check, and
prints what brings it back: RapidCheck's reproduce string, and the command that replays the case.

usage: planted_test.py RULE_PROPERTIES FAULTY_PLUGIN WORK_FOLDER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

# The property and a fault of the catalogue that breaks it.
PLANTED = {
    "disjointness": "zero_is_padding",
    "distinctness": "witness_repeated",
    "coverage": "mask_full_but_one",
    "budget": "budget_one_more",
    "permutation": "padding_ends_row",
}
MOST_TOKENS = 8  # of a minimal case


def check(program, plugin, name, parameters):
    environment = dict(os.environ, RC_PARAMS=parameters)
    return subprocess.run([program, "--plugin", str(plugin), f"--gtest_filter=Rule.{name}"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)


def faults_of(program, plugin, name):
    """What is wrong with how the property reports the plug-in's fault; empty where nothing is."""
    first = check(program, plugin, name, "seed=1 max_success=1000")
    if first.returncode != 1 or "Falsifiable after" not in first.stdout:
        return f"the fault is not found (exit status {first.returncode})\n{first.stdout}"
    shrinks = re.search(r"Falsifiable after \d+ tests?(?: and (\d+) shrinks?)?", first.stdout).group(1)
    if shrinks is None:
        return f"nothing was shrunk\n{first.stdout}"
    learned = re.findall(r'"learned":(\[.*?\]\]|\[\])', first.stdout)
    tokens = len(re.findall(r"-?\d+", learned[0])) if learned else 0
    if not learned or tokens > MOST_TOKENS:
        return f"the minimal case has {tokens} tokens\n{first.stdout}"
    reproduce = re.search(r'RC_PARAMS="(reproduce=\S+)"', first.stdout)
    if reproduce is None:
        return f"no reproduce string is printed\n{first.stdout}"
    again = check(program, plugin, name, reproduce.group(1))
    if again.returncode != 1 or "Falsifiable after" not in again.stdout:
        return f"the reproduce string does not fail again\n{again.stdout}"
    replay = re.search(r"^replay: (printf .*)$", first.stdout, re.MULTILINE)
    if replay is None:
        return f"no replay command is printed\n{first.stdout}"
    replayed = subprocess.run(["sh", "-c", replay.group(1)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    if replayed.returncode != 1:
        return f"the replay command exits with {replayed.returncode}\n{replayed.stdout}"
    print(f"{name}: {plugin.stem} found, {shrinks} shrinks, {tokens} tokens left")
    return ""


def main():
    program, faulty, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, fault in PLANTED.items():
        plugin = folder / f"{fault}.so"
        shutil.copyfile(faulty, plugin)
        if complaint := faults_of(program, plugin, name):
            print(f"FAIL {name}, {fault}: {complaint}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
