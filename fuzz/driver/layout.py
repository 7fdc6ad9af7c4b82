"""Where things lie, and the building of them."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
TARGETS = ROOT / "fuzz" / "targets"

# Presets of CMakePresets.json by the sanitizers of a campaign.
PRESETS = {"address": "fuzz", "thread": "fuzz-thread", "none": "fuzz-plain"}


class DriverError(Exception):
    """Something that a person must put right; the message says what."""


@dataclass(frozen=True)
class Descriptor:
    """What a target's descriptor says (fuzz/target.h), read from its file: it is needed before anything is built."""

    name: str
    form: str
    has_mutator: bool
    has_threads: bool
    finds: tuple[str, ...]
    control_runs: int
    is_control: bool

    @property
    def dictionary(self) -> Path | None:
        file = TARGETS / f"{self.name}.dict"
        return file if file.exists() else None


def descriptor_of(name: str) -> Descriptor:
    text = (TARGETS / f"{name}.cc").read_text()
    text = text[text.index(f"extern const Target {name} = {{"):]

    def field(pattern: str, default: str) -> str:
        found = re.search(rf"^ +\.{pattern},", text, re.MULTILINE)
        return found.group(1) if found else default

    return Descriptor(name, field(r"form = &(\w+)", ""), bool(field(r"mutator = &(\w+)", "")), field(r"has_threads = (\w+)", "") == "true",
                      tuple(re.findall(r"\w+", field(r"finds =([^,]*)", ""))), int(field(r"control_runs = (\d+)", "100000")),
                      field(r"is_control = (\w+)", "") == "true")


def descriptors() -> dict[str, Descriptor]:
    """Of all targets and controls."""
    return {file.stem: descriptor_of(file.stem) for file in sorted(TARGETS.glob("*.cc"))}


def target_names() -> list[str]:
    """The targets that a build would have."""
    return [name for name, each in descriptors().items() if not each.is_control]


def dictionary_of(target: str) -> Path | None:
    described = descriptors().get(target)
    return described.dictionary if described else None


class Build:
    """A build folder with fuzz programs in it."""

    def __init__(self, folder: Path):
        # Programs run in folders of their own, so that a relative path would lead elsewhere.
        self.folder = folder = folder.resolve()
        self.tool = folder / "kvwitness_fuzz"
        self.targets_folder = folder / "fuzz" / "targets"
        self.seeds_folder = folder / "fuzz" / "seeds"

    def target(self, name: str) -> Path:
        return self.targets_folder / name

    def target_limits(self) -> dict[str, int]:
        """The targets' names with the largest input worth trying, in bytes."""
        listed = run_tool(self.tool, "targets").stdout
        return {line.split()[0]: int(line.split()[1]) for line in listed.splitlines()}

    def make_seeds(self) -> None:
        run_tool(self.tool, "seeds", str(self.seeds_folder), str(CORPUS))


def run_tool(tool: Path, *arguments: str) -> subprocess.CompletedProcess:
    done = subprocess.run([str(tool), *arguments], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise DriverError(f"{tool.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return done


def build_preset(preset: str, *targets: str) -> Build:
    """Configures and builds below build/; quiet unless it fails."""
    folder = ROOT / "build" / preset
    say(f"building ({preset})")
    log = ROOT / "build" / f"build-{preset}.log"
    log.parent.mkdir(exist_ok=True)
    jobs = str(len(os.sched_getaffinity(0)))
    for command in (["cmake", "--preset", preset], ["cmake", "--build", str(folder), "-j", jobs, "--target", *targets]):
        with log.open("w") as out:
            if subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False).returncode != 0:
                sys.stderr.write("".join(log.read_text(errors="replace").splitlines(True)[-30:]))
                raise DriverError(f"`{' '.join(command)}` failed; its whole output is in {log}")
    return Build(folder)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def sanitizer_environment() -> dict[str, str]:
    """The environment of a run under sanitizers: what they find ends the run, with symbols."""
    environment = dict(os.environ)
    environment.setdefault("ASAN_OPTIONS", "abort_on_error=0:detect_leaks=1:symbolize=1")
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    environment.setdefault("TSAN_OPTIONS", "halt_on_error=0:exitcode=66")
    return environment
