"""Runs the tests of an instrumented build, and reads what they reached from LLVM's export."""

import json
import os
import shutil
import subprocess

# The small CUDA files of tests/kernels/strangers that need nothing beyond the executor.
STRANGERS = ("launch", "host_memory", "symbols", "launch_errors", "streams", "qualifiers", "conversions", "integers", "lanes", "clock", "scoped_atomics",
             "barrier_by_number", "dynamic_at_file_scope", "groups_block", "fp16", "bf16", "null_kernel")
# The test programs of what is measured, by target, with arguments. The harness is one of them: it runs every implementation.
PROGRAMS = [
    ("lib_segments_test",), ("lib_witness_test",), ("lib_select_test",), ("lib_nulls_test",), ("lib_metrics_test",), ("lib_gate_test",),
    ("lib_backend_test",), ("lib_kvwitness_test",), ("lib_backends_test",), ("lib_narrow_reciprocal_test",), ("lib_reciprocal_52_test",), ("plan_test",),
    ("collectives_test",), ("segment_arithmetic_test",), ("emulated_corpus_test",), ("small_scope_test",),
    # A test of the stack's limit counts on frames of optimised code.
    ("simt_executor_test", "--gtest_filter=-SimtBounds.MoreLocalVariablesThanAStackHoldsIsAFault"),
    ("simt_runtime_test",), ("simt_half_test",),
    *((f"simt.strangers.{name}",) for name in STRANGERS),
    ("kvwitness_program", "verify", "--quiet", "--cases-per-property", "40"),
]
SOURCES = ("lib/include", "lib/src", "kernels/include", "kernels/src", "kernels/simt/src", "kernels/simt/include")
# Highway's namespaces by the backends that they are.
BACKEND_OF_NAMESPACE = {"N_SSSE3": "ssse3", "N_SSE4": "sse4", "N_AVX2": "avx2", "N_AVX3": "avx512", "N_AVX3_IFMA": "avx512_ifma"}


class MeasureError(Exception):
    pass


def executable(build, target):
    name = "kvwitness" if target == "kvwitness_program" else target
    for folder, folders, files in os.walk(build):
        folders[:] = [one for one in folders if one != "CMakeFiles"]
        if name in files and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise MeasureError(f"{target} is not built in {build}")


def run_tests(build, say):
    """Runs every program; returns the merged profile and the executables."""
    profiles = os.path.join(build, "profiles")
    shutil.rmtree(profiles, ignore_errors=True)
    os.makedirs(profiles)
    programs = [executable(build, program[0]) for program in PROGRAMS]
    for number, (program, path) in enumerate(zip(PROGRAMS, programs), 1):
        say(f"[{number}/{len(PROGRAMS)}] {' '.join(program)}")
        environment = {**os.environ, "LLVM_PROFILE_FILE": os.path.join(profiles, f"{number}-%2m.profraw")}
        ended = subprocess.run([path, *program[1:]], env=environment, cwd=profiles, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise MeasureError(f"{' '.join(program)} fails (exit status {ended.returncode}): {(ended.stdout + ended.stderr)[-3000:]}")
    merged = os.path.join(build, "tests.profdata")
    raw = [os.path.join(profiles, name) for name in sorted(os.listdir(profiles)) if name.endswith(".profraw")]
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-o", merged, *raw], check=True)
    shutil.rmtree(profiles)
    return merged, sorted(set(programs))


def llvm_cov(command, root, profile, programs, *arguments):
    objects = [word for program in programs[1:] for word in ("-object", program)]
    sources = [os.path.join(root, source) for source in SOURCES]
    ended = subprocess.run(["llvm-cov-19", command, f"-instr-profile={profile}", programs[0], *objects, *arguments, "-sources", *sources],
                           check=True, capture_output=True, text=True)
    return ended.stdout


def functions_of(root, profile, programs):
    """The functions of the measured sources. Each program is asked by itself: of a function that several hold, LLVM sees only one record, which may
    be that of a program that never calls it."""
    found = []
    for program in programs:
        for function in json.loads(llvm_cov("export", root, profile, [program], "-format=text"))["data"][0]["functions"]:
            if os.path.relpath(function["filenames"][0], root).startswith(SOURCES):
                found.append(function)
    return found


def lines_of(root, profile, programs):
    """{file: {line: count}}, by LLVM's own rules."""
    found, lines = {}, {}
    for program in programs:
        for record in llvm_cov("export", root, profile, [program], "-format=lcov").splitlines():
            if record.startswith("SF:"):
                lines = found.setdefault(os.path.relpath(record[3:], root), {})
            elif record.startswith("DA:"):
                line, count = record[3:].split(",")[:2]
                lines[int(line)] = max(lines.get(int(line), 0), int(count))
    return found


def backends_here(build):
    """The backends that this machine can run; code for others cannot be reached here."""
    listed = subprocess.run([executable(build, "kvwitness_program"), "list", "--json"], check=True, capture_output=True, text=True,
                            env={**os.environ, "LLVM_PROFILE_FILE": os.devnull}).stdout
    return {one["name"] for one in json.loads(listed)["implementations"] if one["can_run"]}


def runs_here(function_name, runnable):
    """Whether a function belongs to no backend, or to one that runs here."""
    return all(backend in runnable for namespace, backend in BACKEND_OF_NAMESPACE.items() if f"{len(namespace)}{namespace}" in function_name)
