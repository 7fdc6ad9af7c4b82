"""The acceptance check of fuzzing services, made here: an engine-neutral build for each sanitizer, then what they ask of its output."""

import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from layout import ROOT, DriverError, say

COMMON_FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"
UNDEFINED_CHECKS = ("array-bounds,bool,builtin,enum,function,integer-divide-by-zero,null,object-size,return,returns-nonnull-attribute,shift,"
                    "signed-integer-overflow,unsigned-integer-overflow,unreachable,vla-bound,vptr")
NOT_RECOVERED = UNDEFINED_CHECKS.replace("unsigned-integer-overflow,", "")
SANITIZER_FLAGS = {
    "address": "-fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link",
    "undefined": f"-fsanitize={UNDEFINED_CHECKS} -fno-sanitize-recover={NOT_RECOVERED} -fsanitize=fuzzer-no-link",
    "coverage": "-fprofile-instr-generate -fcoverage-mapping",
    "none": "",
}
FEWEST_EDGES = 100
INSTRUMENTED = {"address": ("__asan", 1000, "__ubsan", 200), "undefined": ("__ubsan", 168, "__asan", 0)}


def profiled_functions(profile: Path) -> int:
    """How many functions a run counted; 0 where it wrote no profile."""
    if not profile.exists():
        return 0
    shown = subprocess.run(["llvm-profdata-19", "show", str(profile)], capture_output=True, text=True, check=False).stdout
    total = re.search(r"^Total functions: (\d+)", shown, re.MULTILINE)
    return int(total.group(1)) if total else 0


@dataclass
class Rehearsal:
    """One build and its check."""

    name: str
    sanitizer: str
    folder: Path
    engine: str = "-fsanitize=fuzzer"
    wrong: list[str] = field(default_factory=list)

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def environment(self, standard_library: str) -> dict[str, str]:
        flags = f"{COMMON_FLAGS} {SANITIZER_FLAGS[self.sanitizer]}".strip()
        # A distribution builds libFuzzer for libstdc++, so beside libc++ it needs that one too (by its file: clang++ takes -lstdc++ for libc++ then).
        linker_flags = "-l:libstdc++.so.6" if standard_library and self.engine == "-fsanitize=fuzzer" else ""
        return dict(os.environ, LDFLAGS=linker_flags, SRC=str(ROOT.parent), OUT=str(self.out), WORK=str(self.folder / "work"), FUZZING_ENGINE="libfuzzer",
                    SANITIZER=self.sanitizer, ARCHITECTURE="x86_64", FUZZING_LANGUAGE="c++", CC="clang-19", CXX="clang++-19", CFLAGS=flags,
                    CXXFLAGS=f"{flags} {standard_library}".strip(), LIB_FUZZING_ENGINE=self.engine)

    def build(self, standard_library: str) -> None:
        for folder in (self.out, self.folder / "work"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        log = self.folder / "build.log"
        with log.open("w") as out:
            done = subprocess.run(["bash", "-eux", str(ROOT / ".clusterfuzzlite" / "build.sh")], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT,
                                  env=self.environment(standard_library), check=False)
        if done.returncode != 0:
            raise DriverError(f"build.sh failed for {self.name}; its output is in {log}")

    @property
    def profile(self) -> Path:
        return self.folder / "rehearsal.profraw"

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(f"{self.name}: {what}")

    # ---- The check

    def check(self) -> None:
        moved = self.folder / "elsewhere"
        shutil.rmtree(moved, ignore_errors=True)
        self.out.rename(moved)
        try:
            names = {file.name for file in moved.iterdir()}
            targets = sorted(name for name in names if "." not in name and not name.endswith("_seed_corpus"))
            self.expect(len(targets) >= 6, f"only {len(targets)} targets")
            for name in targets:
                say(f"  {self.name}: {name}")
                self.expect(re.fullmatch(r"[A-Za-z0-9_-]+", name) is not None, f"{name} is no name for a target")
                self.expect({f"{name}_seed_corpus.zip", f"{name}.options"} <= names, f"{name} lacks seeds or options")
                self._check_target(moved, name)
            programs = {name for name in names if os.access(moved / name, os.X_OK) and (moved / name).is_file()}
            self.expect(programs == set(targets), f"other programs in OUT: {sorted(programs - set(targets))}")
        finally:
            shutil.rmtree(self.out, ignore_errors=True)
            moved.rename(self.out)

    def _check_target(self, moved: Path, name: str) -> None:
        seeds = self.folder / "seeds" / name
        shutil.rmtree(seeds, ignore_errors=True)
        seeds.mkdir(parents=True)
        with zipfile.ZipFile(moved / f"{name}_seed_corpus.zip") as archive:
            archive.extractall(seeds)
        self.expect(any(seeds.iterdir()), f"{name} has no seed")
        if self.engine != "-fsanitize=fuzzer":
            status, output = self._run(moved / name, str(seeds))
            self.expect(status == 0 and "replayed" in output, f"{name} does not replay its seeds: {output[-300:]}")
            return
        self._check_libfuzzer(moved / name, seeds)
        if self.sanitizer in INSTRUMENTED:
            self._check_instrumentation(moved / name)

    def _check_libfuzzer(self, program: Path, seeds: Path) -> None:
        self.profile.unlink(missing_ok=True)
        status, output = self._run(program, "-seed=1337", "-runs=4")
        self.expect(status == 0 and "Done 4 runs" in output, f"{program.name} -runs=4 ends with {status}: {output[-300:]}")
        if self.sanitizer == "coverage":
            # The engine sees no edge of such a build, and says so; what counts is the profile that it writes.
            self.expect(profiled_functions(self.profile) >= FEWEST_EDGES, f"{program.name} writes no profile of its functions")
        else:
            self.expect("no interesting inputs" not in output.lower(), f"{program.name} finds no interesting input")
            counters = re.search(r"Loaded \d+ modules\s+\((\d+) inline 8-bit counters\)", output)
            edges = int(counters.group(1)) if counters else 0
            self.expect(edges >= FEWEST_EDGES, f"{program.name} has {edges} edges")
        status, output = self._run(program, "-runs=0", str(seeds))
        self.expect(status == 0, f"{program.name} fails on its seeds: {output[-600:]}")

    def _check_instrumentation(self, program: Path) -> None:
        wanted, fewest, unwanted, most = INSTRUMENTED[self.sanitizer]
        listing = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", str(program)], capture_output=True, text=True, check=True).stdout
        calls = re.findall(r"call\S*\s.*<(__\w+?san)\w*", listing)
        self.expect(calls.count(wanted) >= fewest, f"{program.name} has {calls.count(wanted)} calls of {wanted}, fewer than {fewest}")
        self.expect(calls.count(unwanted) <= most, f"{program.name} has {calls.count(unwanted)} calls of {unwanted}, more than {most}")

    def _run(self, program: Path, *arguments: str) -> tuple[int, str]:
        environment = {key: value for key, value in os.environ.items() if key not in ("OUT", "SRC", "WORK")}
        environment["LLVM_PROFILE_FILE"] = str(self.profile)
        done = subprocess.run([str(program), *arguments], capture_output=True, cwd="/", env=environment, timeout=900, check=False)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def archive_engine(folder: Path, standard_library: str) -> str:
    """The project's own least engine, as an archive."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for name in ("replay_engine", "replay_files"):
        made = folder / f"{name}.o"
        command = f"clang++-19 -std=c++23 -O1 {standard_library} -I{ROOT} -c {ROOT}/fuzz/engine/{name}.cc -o {made}"
        subprocess.run(command.split(), check=True)
        objects.append(str(made))
    archive = folder / "libengine.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["llvm-ar-19", "rcs", str(archive), *objects], check=True)
    return str(archive)


def rehearse(folder: Path, only: str | None) -> list[str]:
    """What is wrong, in words; nothing where a fuzzing service would take the builds."""
    folder = folder.resolve()
    libcxx = subprocess.run(["clang++-19", "-stdlib=libc++", "-x", "c++", "-fsyntax-only", "-"], input="#include <vector>\n", text=True,
                            capture_output=True, check=False).returncode == 0
    standard_library = "-stdlib=libc++" if libcxx else ""
    say("with libc++, as fuzzing services do" if libcxx else "libc++ is missing here (libc++-19-dev, libc++abi-19-dev): with the default library")
    builds = [Rehearsal("address", "address", folder / "address"), Rehearsal("undefined", "undefined", folder / "undefined"),
              Rehearsal("coverage", "coverage", folder / "coverage"), Rehearsal("archive", "none", folder / "archive")]
    wrong: list[str] = []
    for each in builds:
        if only not in (None, each.name):
            continue
        say(f"rehearsing {each.name}")
        if each.name == "archive":
            each.engine = archive_engine(folder / "engine", standard_library)
        each.build(standard_library)
        each.check()
        wrong += each.wrong
    return wrong
