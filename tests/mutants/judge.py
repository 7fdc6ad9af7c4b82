"""Compiles a mutant in a scratch copy, tells it from the original and from others by its object code, and runs the tests on it."""

import dataclasses
import hashlib
import json
import os
import resource
import shlex
import shutil
import subprocess
import threading

FOLDERS = ("lib", "kernels", "properties", "tests")
# Optimised enough to tell equal code, and quick.
COMPILER_FLAGS = ["-O1", "-w", "-frandom-seed=0"]
COMPILER_CPU_SECONDS = 300


@dataclasses.dataclass
class Verdict:
    # killed, survived, or no mutant: "invalid" does not compile, "equal" has the original's object code, "duplicate" an earlier mutant's.
    status: str
    by: str = ""      # the program that killed it, or whose twin it is
    how: str = ""


class BuildError(Exception):
    pass


class Build:
    """The configured build folder: how each source is compiled and each program linked."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as stream:
            self._commands = {}
            for entry in json.load(stream):
                self._commands.setdefault(os.path.relpath(entry["file"], root), entry["command"])
        self._links = {}

    def knows(self, source):
        return source in self._commands

    def object_of(self, source):
        words = shlex.split(self._commands[source])
        return words[words.index("-o") + 1]

    def compile_command(self, source, scratch, output, like="", extra=()):
        """The source's own command, turned towards a scratch copy; `like` names the source to take it from."""
        words = shlex.split(self._commands[like or source])
        kept, skip = [], 0
        for word in words:
            if skip:
                skip -= 1
            elif word in ("-MF", "-MT", "-o", "-c"):
                skip = 1
            elif word not in ("-MD", "-Werror", "ccache"):
                kept.append(word)
        kept = [word.replace(self.root, scratch) if word.startswith("-I") else word for word in kept]
        return [*kept, *COMPILER_FLAGS, f"-ffile-prefix-map={scratch}=.", *extra, "-o", output, "-c", os.path.join(scratch, source)]

    def link_command(self, target, output, replaced):
        """The target's link, with objects put in the place of its own or, where those lie in an archive, before it."""
        if target not in self._links:
            printed = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], check=True, capture_output=True,
                                     text=True).stdout
            lines = [line for line in printed.splitlines() if line.startswith(": && ")]
            words = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
            self._links[target] = [word for word in words if word != "ccache"]
        words = list(self._links[target])
        words[words.index("-o") + 1] = output
        for own, instead in replaced.items():
            if own in words:
                words[words.index(own)] = instead
            else:
                words.insert(next(index for index, word in enumerate(words) if word.endswith(".a")), instead)
        return words

    def sources_of(self, target):
        """The sources whose objects the target's link names."""
        by_object = {self.object_of(source): source for source in self._commands}
        return [by_object[word] for word in self.link_command(target, "x", {}) if word in by_object]


def run(command, folder, cpu_seconds, environment=None):
    """Exit status, output, CPU seconds. The limit is of processor time, so that a busy machine kills no mutant; a wait without end is cut too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(["prlimit", f"--cpu={cpu_seconds}:{cpu_seconds + 5}", "--core=0", *command], cwd=folder,
                               env={**os.environ, **(environment or {})}, start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=60 * max(cpu_seconds, 5))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process.returncode, output, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


class Scratch:
    """A copy of the sources in which one file at a time is a mutant's, with a folder for what is made of it."""

    def __init__(self, root, folder):
        self.root, self.sources, self.products = root, os.path.join(folder, "sources"), os.path.join(folder, "products")
        shutil.rmtree(folder, ignore_errors=True)
        for name in FOLDERS:
            shutil.copytree(os.path.join(root, name), os.path.join(self.sources, name))
        os.makedirs(self.products)

    def write(self, file, text):
        with open(os.path.join(self.sources, file), "w", encoding="utf-8") as stream:
            stream.write(text)

    def restore(self, file):
        shutil.copyfile(os.path.join(self.root, file), os.path.join(self.sources, file))

    def product(self, name):
        return os.path.join(self.products, name.replace("/", "_"))


class Judge:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self._lock = threading.Lock()
        self._baselines = threading.Lock()
        self._seen = {}      # (sources, variant, digest of the objects): the first mutant with it
        self._originals = {}
        self._limits = {}

    def _compile(self, scratch, area, variant, source, extra=()):
        output = scratch.product(source + ".o")
        like = "" if self.build.knows(source) else area.like
        command = self.build.compile_command(source, scratch.sources, output, like, [*variant.flags, *extra])
        status, printed, _ = run(command, self.build.folder, COMPILER_CPU_SECONDS, {"CCACHE_DISABLE": "1"})
        return (output, printed) if status == 0 else (None, printed)

    def _objects(self, scratch, area, variant):
        """The objects of the area's sources by source, and their digest; None where one does not compile."""
        made, digest = {}, hashlib.sha256()
        for source in area.sources:
            output, printed = self._compile(scratch, area, variant, source)
            if output is None:
                return None, printed
            made[source] = output
            with open(output, "rb") as stream:
                digest.update(stream.read())
        return made, digest.hexdigest()

    def _run_program(self, scratch, area, variant, program, objects):
        """Exit status, output and CPU seconds of the program on what the scratch copy holds."""
        replaced = {self.build.object_of(source): output for source, output in objects.items() if self.build.knows(source)}
        if program.compiled:
            header = ["-include", os.path.join(self.folder, "gtest.h")]
            output, printed = self._compile(scratch, area, variant, program.compiled, header)
            if output is None:
                return 1, printed, 0.0  # the mutant compiles; so an assertion at compile time kills it
            replaced = {self.build.object_of(program.compiled): output}  # it holds the mutant itself
        executable = scratch.product(program.target)
        link = self.build.link_command(program.target, executable, replaced)
        status, printed, _ = run(link, self.build.folder, COMPILER_CPU_SECONDS)
        if status != 0:
            raise BuildError(f"{program.target} does not link: {printed[-2000:]}")
        environment = {"GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", **dict(program.environment)}
        return run([executable, *program.arguments], scratch.products, self._limits.get((area.name, program.name), 600), environment)

    def precompile(self):
        """GoogleTest's header, which takes most of the time of compiling a test."""
        with open(os.path.join(self.folder, "gtest.h"), "w", encoding="utf-8") as stream:
            stream.write("#include <gtest/gtest.h>\n#include <algorithm>\n#include <limits>\n#include <random>\n#include <vector>\n")
        for source in ("tests/kernels/segment_arithmetic_test.cc",):
            command = self.build.compile_command(source, self.build.root, os.path.join(self.folder, "gtest.h.gch"))
            command[command.index("-c") + 1] = os.path.join(self.folder, "gtest.h")
            status, printed, _ = run([*command[:1], "-x", "c++-header", *command[1:]], self.build.folder, COMPILER_CPU_SECONDS)
            if status != 0:
                raise BuildError(f"GoogleTest's header does not compile: {printed[-2000:]}")

    def _prepare(self, scratch, area, variant):
        """The original must compile, and pass; its object code and its times are what mutants are measured by. The scratch copy holds it."""
        with self._baselines:
            if (area.sources, variant) in self._originals:
                return
            objects, digest = self._objects(scratch, area, variant)
            if objects is None:
                raise BuildError(f"the original of {area.name} does not compile: {digest[-2000:]}")
            for program in variant.programs:
                if (area.name, program.name) in self._limits:
                    continue
                status, printed, seconds = self._run_program(scratch, area, variant, program, objects)
                if status != 0:
                    raise BuildError(f"the original fails {program.name} (exit status {status}): {printed[-2000:]}")
                self._limits[(area.name, program.name)] = 10 + int(4 * seconds)
            self._originals[(area.sources, variant)] = digest

    def judge(self, scratch, mutant, text):
        area = mutant.area
        for variant in area.variants:
            self._prepare(scratch, area, variant)
            scratch.write(mutant.file, text)
            try:
                objects, digest = self._objects(scratch, area, variant)
                if objects is None:
                    return Verdict("invalid")
                if digest != self._originals[(area.sources, variant)]:
                    return self._judge_objects(scratch, mutant, variant, objects, digest)
            finally:
                scratch.restore(mutant.file)
        return Verdict("equal")

    def _judge_objects(self, scratch, mutant, variant, objects, digest):
        with self._lock:
            twin = self._seen.setdefault((mutant.area.sources, variant, digest), mutant)
        if twin is not mutant:
            return Verdict("duplicate", twin.place)
        for program in variant.programs:
            status, printed, _ = self._run_program(scratch, mutant.area, variant, program, objects)
            if status != 0:
                return Verdict("killed", program.name, reason(status, printed))
        return Verdict("survived")


def reason(status, printed):
    """The line of a failing program's output that says most, for the report."""
    if status < 0:
        return f"signal {-status}"
    for mark in ("[  FAILED  ]", "FAIL ", "error:", "Failure"):
        for line in printed.splitlines():
            if mark in line:
                return line.strip()[:160]
    return f"exit status {status}"
