"""What is mutated, and by which tests it is judged."""

import dataclasses
import fnmatch
import hashlib
import os
import pathlib
import random
import re
import subprocess

# What kills most of the mutants comes first.
UNIT_TESTS_OF_THE_LIBRARY = ["lib_kvwitness_test", "lib_witness_test", "lib_select_test", "lib_nulls_test",
                             "lib_metrics_test", "lib_gate_test", "lib_backend_test"]

@dataclasses.dataclass(frozen=True)
class Program:
    """A program that kills a mutant by its exit status."""
    target: str                # as the build names it
    arguments: tuple = ()
    environment: tuple = ()    # pairs
    compiled: str = ""         # its one source, where that includes what is mutated and must be compiled again

    @property
    def name(self):
        return " ".join((self.target, *self.arguments))


def verify(*names, cases=40, backend=""):
    chosen = [word for name in names for word in ("--impl", name)]
    return Program("kvwitness_program", ("verify", *chosen, "--cases-per-property", str(cases), "--quiet"),
                   (("KVWITNESS_BACKEND", backend),) if backend else ())


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to compile what holds the mutant, and the programs that judge it then."""
    programs: tuple
    flags: tuple = ()


@dataclasses.dataclass(frozen=True)
class Area:
    name: str
    files: tuple
    # The sources whose objects hold the mutant; one that the build does not know is compiled as `like`.
    sources: tuple
    # A mutant is judged by the first variant in which its object code is not the original's.
    variants: tuple
    like: str = ""
    sampled: bool = False

    @property
    def programs(self):
        return tuple(dict.fromkeys(program for variant in self.variants for program in variant.programs))


def only(*programs):
    return (Variant(programs),)


# Backends, the targets of Highway that they need, and what the processor must have. The check for AVX-512 asks the one for AVX2.
VECTOR_TARGETS = ((("avx2",), ("HWY_AVX2",), "avx2"), (("sse4",), ("HWY_SSE4",), "sse4_2"),
                  (("avx512", "avx512_ifma"), ("HWY_AVX3", "HWY_AVX2"), "avx512ifma"))


def vector_variants():
    """The vector body for one instruction set at a time, which takes a second each; the others' own lines count where this machine runs them."""
    variants = []
    for names, targets, flag in VECTOR_TARGETS:
        if flag in processor_flags():
            enabled = "|".join(["HWY_SCALAR", "HWY_EMU128", *targets])
            # That the build has every backend is true of no variant.
            backends = Program("lib_backends_test", ("--gtest_filter=-Backends.VectorBackendsAreAmongThoseThatCanRunHere",))
            programs = (backends, verify(*names), verify(*names, cases=150))
            variants.append(Variant(programs, (f"-DHWY_DISABLED_TARGETS=(~({enabled}))",)))
    return tuple(variants)


def processor_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            return set(re.search(r"^flags\s*:(.*)$", stream.read(), re.MULTILINE).group(1).split())
    except (OSError, AttributeError):
        return set()


def areas(root):
    whole = [
        Area("arithmetic", ("lib/include/kvwitness/segments.h",), ("tests/mutants/segments_surface.cc",),
             only(Program("lib_segments_test", compiled="tests/lib/segments_test.cc"),
                  Program("lib_narrow_reciprocal_test", compiled="tests/lib/simd/narrow_reciprocal_test.cc"),
                  Program("lib_reciprocal_52_test", compiled="tests/lib/simd/reciprocal_52_test.cc"),
                  Program("segment_arithmetic_test", compiled="tests/kernels/segment_arithmetic_test.cc")),
             like="tests/kernels/segment_arithmetic_test.cc"),
        Area("rows", ("lib/src/row.h", "lib/src/scalar.cc"), ("lib/src/scalar.cc",),
             only(Program("lib_witness_test", environment=(("KVWITNESS_BACKEND", "scalar"),)), Program("lib_backends_test"), verify("scalar"))),
        Area("passes", ("lib/src/row_pass.cc",), ("lib/src/row_pass.cc",),
             only(Program("lib_witness_test"), Program("lib_kvwitness_test"), verify("c-abi"))),
        Area("vectors", ("lib/src/simd/vector_row_pass-inl.h",), ("lib/src/simd/vector_row_pass.cc",), vector_variants()),
        Area("dispatch", ("lib/src/simd/vector_row_pass.cc",), ("lib/src/simd/vector_row_pass.cc",),
             only(Program("lib_backends_test"), Program("lib_backend_test"),
                  verify(*(name for names, _, flag in VECTOR_TARGETS if flag in processor_flags() for name in names)))),
        Area("device", ("kernels/include/kvwitness/witness.cuh",), ("properties/implementations/cuda_emulated.cc",),
             only(Program("collectives_test", compiled="tests/kernels/collectives_test.cc"),
                  verify("cuda-emulated-warp", "cuda-emulated-block", cases=20),
                  verify("cuda-emulated-warp", "cuda-emulated-block", cases=120))),
    ]
    taken = {file for area in whole for file in area.files}
    return whole + [elsewhere(root, file) for file in files_elsewhere(root) if file not in taken]


def files_in(root, folder):
    return sorted(f"{folder}/{name}" for name in os.listdir(os.path.join(root, folder)) if re.search(r"\.(cc|h)$", name))


def files_elsewhere(root):
    return files_in(root, "lib/src")


def elsewhere(root, file):
    programs = (*(Program(target) for target in UNIT_TESTS_OF_THE_LIBRARY), verify("c-abi"))
    return Area("elsewhere", (file,), including(root, file, files_elsewhere(root)) if file.endswith(".h") else (file,), only(*programs), sampled=True)


# ---- The judge itself: rules, relations, runner, sandbox, counterexample search.

# What needs many seconds is only for the runner's own files, and comes last.
QUICK_RUNNER_TESTS = ("CounterexampleSearch.*:KeptFailures*:Runner/PlantedFaults.*:*HangingImplementation*:Runner.KeepsOnePriorCall*:Runner.Names*:"
                      "Runner.TakesOver*:Runner.Prefers*:Runner.MakesACase*-KeptFailures.AreWhereLongCases*")
INVARIANTS = Program("invariants_test", ("--gtest_filter=-Properties.HoldOfEveryImplementationThatRunsHere",))
RUNNER = (Program("runner_test", (f"--gtest_filter={QUICK_RUNNER_TESTS}",)), Program("runner_test"))
JUDGE = {
    "properties/rules": (INVARIANTS, RUNNER[0]),
    "properties/run": (RUNNER[0], Program("ration_test"), Program("likely_cause_test"), Program("domain_test"), RUNNER[1]),
    "properties/sandbox": (Program("worker_test"), Program("implementations_test"), Program("plugin_test")),
    "properties/shrinking": (Program("shrinking_test"), RUNNER[0]),
}


def judge_areas(root):
    everything = [file for folder in JUDGE for file in files_in(root, folder)]
    return [Area("judge", (file,), including(root, file, everything) if file.endswith(".h") else (file,), only(*programs), sampled=True)
            for folder, programs in JUDGE.items() for file in files_in(root, folder)]


def including(root, header, files):
    """The sources among the files, but for the vector body, that include a header by themselves or by another header."""
    names = {header}
    everything = {file: pathlib.Path(root, file).read_text(encoding="utf-8") for file in files}
    while True:
        more = {file for file, text in everything.items() if any(f'"{name}"' in text for name in names)} - names
        if not more:
            return tuple(sorted(name for name in names if name.endswith(".cc")))
        names |= more


def files_of(root, pattern):
    listed = subprocess.run(["find", *pattern, "-type", "f"], cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(listed.split())


def digest_of_files(root, files):
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.encode())
        with open(os.path.join(root, file), "rb") as stream:
            digest.update(hashlib.sha256(stream.read()).digest())
    return digest.hexdigest()


def digest_of_program(root, program, sources_of_target):
    """What a verdict by the program rests on, the mutated file aside."""
    if program.target == "kvwitness_program":
        files = files_of(root, ["properties", "corpus/golden", "corpus/real", "corpus/regressions"])
    else:
        folders = sorted({os.path.dirname(source) for source in sources_of_target(program.target)} | {"tests/rule"})
        headers = [file for folder in folders for file in files_of(root, [folder, "-maxdepth", "1", "-name", "*.h"])]
        files = sorted({*sources_of_target(program.target), *headers})
    return hashlib.sha256(f"{program} {digest_of_files(root, files)}".encode()).hexdigest()


@dataclasses.dataclass
class Mutant:
    area: Area
    file: str
    line: int
    before: str
    after: str
    previous: str = ""  # the line before

    @property
    def place(self):
        return f"{self.file}:{self.line}"

    def text(self, lines):
        return "".join([*lines[:self.line - 1], self.after, *lines[self.line:]])


def mutants_of(root, area, file, mutate):
    with open(os.path.join(root, file), encoding="utf-8") as stream:
        lines = stream.readlines()
    made = [Mutant(area, file, line, lines[line - 1], after, lines[line - 2] if line > 1 else "") for line, after in mutate(lines)]
    return sorted(made, key=lambda mutant: (mutant.line, mutant.after))


def chosen_mutants(root, mutate, pattern, sample, seed):
    """The mutants of whole areas and of the sample elsewhere, as far as their file matches; and all that the files have, sampled or not. Of the judge
    only a sample, and only where the pattern names its files. The
    sample is drawn before the pattern narrows it, so that a mutant is in it or not whatever the pattern."""
    kept, population = [], []
    for area in judge_areas(root) if pattern.startswith("properties/") else areas(root):
        for file in area.files:
            (population if area.sampled else kept).extend(mutants_of(root, area, file, mutate))
    drawn = random.Random(seed).sample(range(len(population)), min(sample, len(population)))
    chosen = kept + [population[index] for index in sorted(drawn)]
    return tuple([mutant for mutant in mutants if fnmatch.fnmatch(mutant.file, pattern)] for mutants in (chosen, kept + population))
