"""What fuzzing reaches, without any test, of the library and of the kernels."""

import os
import re
import subprocess
from pathlib import Path

from layout import CORPUS, ROOT, Build, DriverError, say

# The code under test, as paths below the repository.
JUDGED = ("lib/src", "lib/include", "kernels/src", "kernels/include")


def run(*command: str, **keywords) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, **keywords)
    if done.returncode != 0:
        raise DriverError(f"`{command[0]}` ended with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def uncovered_lines(lcov: str) -> dict[str, list[int]]:
    """The lines of each file that no run reached, from an lcov trace."""
    uncovered: dict[str, list[int]] = {}
    file = ""
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            file = line[3:]
        elif (hit := re.match(r"DA:(\d+),0$", line)):
            uncovered.setdefault(file, []).append(int(hit.group(1)))
    return uncovered


def as_ranges(lines: list[int]) -> str:
    """"3-5, 9" for 3, 4, 5, 9."""
    ranges: list[list[int]] = []
    for line in sorted(lines):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def report(build: Build, corpora: Path) -> str:
    """Replays seeds, corpora and regressions, and says which lines of the judged code they never reach. A table of llvm-cov, then the lines."""
    build.make_seeds()
    profiles = build.folder / "profiles"
    profiles.mkdir(exist_ok=True)
    for old in profiles.iterdir():
        old.unlink()
    for target in build.target_limits():
        say(f"replaying {target}")
        folders = [build.seeds_folder / target, corpora / target]
        paths = [str(folder) for folder in folders if folder.is_dir() and any(folder.iterdir())]
        environment = dict(os.environ, LLVM_PROFILE_FILE=str(profiles / f"{target}.profraw"))
        run(str(build.tool), "replay", target, *paths, env=environment)
    merged = profiles / "all.profdata"
    run("llvm-profdata-19", "merge", "-sparse", *[str(file) for file in profiles.glob("*.profraw")], "-o", str(merged))
    sources = [str(ROOT / folder) for folder in JUDGED]
    arguments = [str(build.tool), f"-instr-profile={merged}", *sources]
    table = run("llvm-cov-19", "report", *arguments)
    uncovered = uncovered_lines(run("llvm-cov-19", "export", "-format=lcov", *arguments))
    lines = [f"{Path(file).relative_to(ROOT)}: {as_ranges(numbers)}" for file, numbers in sorted(uncovered.items())]
    text = table + "\nLines that fuzzing never reaches:\n" + ("\n".join(lines) or "none") + "\n"
    (build.folder / "uncovered.txt").write_text(text)
    return text
