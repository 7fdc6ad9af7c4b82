"""`./run COMMAND --help` and a wrong option are answered before anything is installed or built, and the help is true.

usage: run_help_test.py CHECKOUT KVWITNESS EXHAUSTIVE
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT, KVWITNESS, EXHAUSTIVE = Path(sys.argv[1]).resolve(), *map(os.path.abspath, sys.argv[2:4])
SHELL_TOOLS = ("bash", "cat", "dirname", "env", "grep", "nproc", "readlink", "sed")  # all that a help may need
failures = []


def check(holds: bool, what: str) -> None:
    if not holds:
        failures.append(what)


def run(tools: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In an environment that has a shell and little else: what would install or build is not there."""
    return subprocess.run([str(CHECKOUT / "run"), *arguments], env={"PATH": tools}, capture_output=True, text=True, check=False)


def options_of(text: str) -> set[str]:
    return set(re.findall(r"^ +(?:-\w, ?)?(--[\w-]+)", text, re.MULTILINE))


def output(*command: str) -> str:
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as tools:
    for tool in SHELL_TOOLS:
        found = next(Path(folder) / tool for folder in os.environ["PATH"].split(":") if (Path(folder) / tool).exists())
        (Path(tools) / tool).symlink_to(found)

    usage = run(tools, "--help").stdout
    commands = [command for command in re.findall(r"^  (\w+) ", usage, re.MULTILINE) if command != "help"]
    check(len(commands) == 9, f"`./run --help` names {commands}")
    others = re.search(r"each with --help: ([\w, ]+)\.", run(tools, "fuzz", "--help").stdout)
    subcommands = [["fuzz", name] for name in others.group(1).split(", ")] if others else []
    check(len(subcommands) == 8, f"`./run fuzz --help` names {subcommands}")

    helps = {}
    for words in [[command] for command in commands] + subcommands:
        name = " ".join(words)
        asked = run(tools, *words, "--help")
        helps[name] = asked.stdout
        check(asked.returncode == 0 and "sage: " in asked.stdout, f"{name} --help: {asked}")
        check(run(tools, *words, "-h").stdout == asked.stdout, f"{name} -h is another text than --help")
        wrong = run(tools, *words, "--no-such-option")
        check(wrong.returncode == 2 and "'--no-such-option'" in wrong.stderr, f"{name} --no-such-option: {wrong}")
        for option, kind in re.findall(r"^  (--[\w-]+) ([A-Z]+)", asked.stdout, re.MULTILINE):
            bare = run(tools, *words, option)
            check(bare.returncode == 2 and option in bare.stderr, f"{name} {option} without its value: {bare}")
            if kind in ("N", "L", "H", "MINUTES", "SECONDS"):
                for given in ([option, "many"], [f"{option}=many"]):
                    text = run(tools, *words, *given)
                    check(text.returncode == 2 and "'many'" in text.stderr, f"{name} {given}: {text}")
    for words, names in ((["test", "everything"], "'everything'"), (["bench", "--quick=1"], "--quick"), (["gpu", "now"], "'now'"),
                         (["coverage", "-x"], "'-x'")):
        wrong = run(tools, *words)
        check(wrong.returncode == 2 and names in wrong.stderr, f"{words}: {wrong}")
    # What is no option of any command goes to the command, which has its own words for it.
    check("no file 'nowhere.cc'" in run(tools, "lint", "nowhere.cc").stderr, "lint nowhere.cc")

# The programs behind the commands have the same options.
program = {"verify": (KVWITNESS, "verify"), "exhaustive": (EXHAUSTIVE,), "fuzz": (sys.executable, "fuzz/driver"),
           "coverage": (sys.executable, "tests/coverage"), "mutants": (sys.executable, "tests/mutants"),
           "bench": (sys.executable, "lib/bench/report.py")}
for words in subcommands:
    program[" ".join(words)] = (sys.executable, "fuzz/driver", words[1])
hidden = {"bench": {"--out", "--library"}}  # set by `./run bench`
for name, command in program.items():
    theirs = output(*command, "--help")
    wanted = set(re.findall(r"--[\w-]+", theirs.splitlines()[0])) if name == "exhaustive" else options_of(theirs)
    ours = options_of(helps[name])
    check(ours - {"--help"} == wanted - {"--help"} - hidden.get(name, set()), f"{name}: {ours} in `run`, {wanted} in the program")
verify = output(KVWITNESS, "verify", "--help")
check(verify.rstrip() == helps["verify"].rstrip(), "properties/cli/verify_help.txt is not what `kvwitness verify --help` prints: write that there")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
