"""Long campaigns: rounds of every target, resumed where the last one stopped."""

import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import corpora
from crashes import CrashStore, KnownFailures
from layout import Build, DriverError, dictionary_of, sanitizer_environment, say

# "#123: cov: 10 ft: 20 corp: 3 exec/s: 40 oom/timeout/crash: 0/0/1 time: 5s ..." in fork mode, "#123\tNEW    cov: 10 ft: 20 ..." otherwise.
PROGRESS = re.compile(r"^#(\d+)(?::|\s+\w+)\s+cov: (\d+) ft: (\d+) corp: (\d+)")
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s+(\d+)")

ROUND_SECONDS = 600
STATUS_SECONDS = 60
STOP_SECONDS = 20


@dataclass
class Progress:
    """One target's share of the campaign."""

    executions: int = 0
    seconds: float = 0.0
    edges: int = 0
    features: int = 0
    corpus_files: int = 0
    corpus_bytes: int = 0
    rounds: int = 0
    crashes_new: int = 0
    crashes_seen: int = 0
    crashes_known: int = 0

    @property
    def speed(self) -> float:
        return self.executions / self.seconds if self.seconds else 0.0


class State:
    """The folder that a campaign lives in: corpus/, artifacts/, crashes/, logs/ and status.json."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # Held until the process ends. Two campaigns in one folder would take each other's artifacts and status for their own.
        self.lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DriverError(f"another campaign lives in {folder}; give this one a folder of its own with --state") from None
        for part in ("corpus", "artifacts", "crashes", "logs"):
            (folder / part).mkdir(parents=True, exist_ok=True)

    def corpus(self, target: str) -> Path:
        return self._made("corpus", target)

    def artifacts(self, target: str) -> Path:
        return self._made("artifacts", target)

    def log(self, target: str) -> Path:
        return self.folder / "logs" / f"{target}.log"

    def _made(self, part: str, target: str) -> Path:
        folder = self.folder / part / target
        folder.mkdir(exist_ok=True)
        return folder


class Round:
    """One run of a target's program."""

    def __init__(self, build: Build, state: State, target: str, limit: int, progress: Progress, corpus: Path):
        self.build, self.state, self.target, self.limit, self.progress, self.corpus = build, state, target, limit, progress, corpus
        self.process: subprocess.Popen | None = None
        self.executions_before = progress.executions
        self.seconds_before = progress.seconds
        self.started = 0.0

    def arguments(self) -> list[str]:
        arguments = [f"-max_len={self.limit}", "-timeout=25", "-rss_limit_mb=4096", "-print_final_stats=1",
                     f"-artifact_prefix={self.state.artifacts(self.target)}{os.sep}"]
        if dictionary := dictionary_of(self.target):
            arguments.append(f"-dict={dictionary}")
        return arguments

    def run(self, *extra: str) -> int:
        """Until the program ends by itself or by stop(); its exit status."""
        folders = [str(self.corpus), str(self.build.seeds_folder / self.target)]
        command = [str(self.build.target(self.target)), *self.arguments(), *extra, *folders]
        self.started = time.monotonic()
        with self.state.log(self.target).open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=sanitizer_environment(),
                                            start_new_session=True, cwd=self.state.folder)
            for line in self.process.stdout:
                log.write(line)
                self._read(line.decode(errors="replace"))
        status = self.process.wait()
        self._read_time()
        self.progress.rounds += 1
        self.progress.corpus_files, self.progress.corpus_bytes = corpora.size_of(self.corpus)
        return status

    def stop(self) -> None:
        """Interrupts the whole process group, and kills what is left of it after a while."""
        process = self.process
        if process is None or process.poll() is not None:
            return
        for number, patience in ((signal.SIGINT, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
            try:
                os.killpg(process.pid, number)
                process.wait(timeout=patience)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    def _read(self, line: str) -> None:
        self._read_time()
        executed = EXECUTED.match(line)
        if executed:
            self.progress.executions = self.executions_before + int(executed.group(1))
            return
        progress = PROGRESS.match(line)
        if progress:
            executions, edges, features, files = map(int, progress.groups())
            self.progress.executions = max(self.progress.executions, self.executions_before + executions)
            self.progress.edges = max(self.progress.edges, edges)
            self.progress.features = max(self.progress.features, features)
            self.progress.corpus_files = files

    def _read_time(self) -> None:
        self.progress.seconds = self.seconds_before + time.monotonic() - self.started


class Campaign:
    def __init__(self, build: Build, state: State, targets: dict[str, int]):
        self.build, self.state, self.targets = build, state, targets
        self.progress = {target: Progress() for target in targets}
        self.store = CrashStore(state.folder / "crashes", KnownFailures())
        self.started = time.monotonic()
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.rounds: set[Round] = set()
        self.failure: str | None = None

    # ---- Ways to run

    def run_for_hours(self, hours: float, jobs: int) -> int:
        """Every target in turn, `jobs` processes at a time, until the time is over or somebody stops it."""
        seconds = hours * 3600
        width = jobs if len(self.targets) == 1 else 1
        slots = 1 if len(self.targets) == 1 else min(jobs, len(self.targets))
        share = max(1, int(seconds * slots / len(self.targets)))
        end = self.started + seconds
        queue = self._endless(list(self.targets))

        def work() -> None:
            while not self.stopping.is_set() and self.failure is None and end - time.monotonic() >= 1:
                with self.lock:
                    target = next(queue)
                left = max(1, int(end - time.monotonic()))
                self._round(target, self.state.corpus(target), f"-fork={width}", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1",
                            f"-max_total_time={min(left, share, ROUND_SECONDS)}")

        self._in_threads(work, slots)
        self._finish()
        return 1 if any(progress.crashes_new for progress in self.progress.values()) else 0

    def run_for_executions(self, runs: int, seed: int, jobs: int) -> int:
        """Every target once, `runs` executions each from a fixed seed and the seeds only: the same each time on the same build."""
        queue = iter(self.targets)

        def work() -> None:
            while not self.stopping.is_set() and self.failure is None:
                with self.lock:
                    target = next(queue, None)
                if target is None:
                    return
                with tempfile.TemporaryDirectory() as corpus:
                    self._round(target, Path(corpus), f"-runs={runs}", f"-seed={seed}")

        self._in_threads(work, min(jobs, len(self.targets)))
        self._finish()
        # A check, not a search: what an earlier run has seen is as wrong as before.
        return 1 if any(progress.crashes_new + progress.crashes_seen for progress in self.progress.values()) else 0

    def stop(self, *_: object) -> None:
        if self.stopping.is_set():
            return
        say("stopping; what was found so far is kept")
        self.stopping.set()
        for each in list(self.rounds):
            threading.Thread(target=each.stop, daemon=True).start()

    # ---- The parts of a run

    @staticmethod
    def _endless(targets: list[str]):
        while True:
            yield from targets

    def _in_threads(self, work, count: int) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        threads = [threading.Thread(target=self._guarded, args=(work,)) for _ in range(count)]
        for thread in threads:
            thread.start()
        next_status = time.monotonic() + STATUS_SECONDS
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if time.monotonic() >= next_status:
                next_status += STATUS_SECONDS
                self.write_status("running")
                self.print_status()

    def _guarded(self, work) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001: said at the end, with an exit status of its own
            self.failure = f"{type(error).__name__}: {error}"

    def _round(self, target: str, corpus: Path, *arguments: str) -> None:
        each = Round(self.build, self.state, target, self.targets[target], self.progress[target], corpus)
        self.rounds.add(each)
        status = each.run(*arguments)
        self.rounds.discard(each)
        found = self._take_artifacts(target)
        if status not in (0, -signal.SIGINT, 72) and found == 0 and not self.stopping.is_set():
            raise DriverError(f"{target} ended with {status} and left no artifact; see {self.state.log(target)}")

    def _take_artifacts(self, target: str) -> int:
        artifacts = [file for file in sorted(self.state.artifacts(target).iterdir()) if file.is_file()]
        for artifact in artifacts:
            taken = self.store.take(self.build, target, artifact)
            artifact.unlink()
            if taken is None:
                say(f"{target}: {artifact.name} does not fail again; kept under not-again")
                continue
            signature, kind = taken
            progress = self.progress[target]
            setattr(progress, f"crashes_{kind}", getattr(progress, f"crashes_{kind}") + 1)
            if kind == "new":
                say(f"NEW CRASH in {target}: {signature.what}\n  kept in {self.state.folder / 'crashes' / target / signature.number}; "
                    f"`./run fuzz adopt` makes a regression of an input there")
        return len(artifacts)

    def _finish(self) -> None:
        self.write_status("failed" if self.failure else "stopped" if self.stopping.is_set() else "done")
        self.print_status()
        if self.failure:
            raise DriverError(self.failure)

    # ---- Saying how it goes

    def status(self, state: str) -> dict:
        return {"kvwitness_fuzz_status": 1, "state": state, "seconds": round(time.monotonic() - self.started, 1),
                "targets": {target: {**asdict(progress), "seconds": round(progress.seconds, 1),
                                     "executions_per_second": round(progress.speed, 1)}
                            for target, progress in self.progress.items()},
                "crashes": self.store.records()}

    def write_status(self, state: str) -> None:
        file = self.state.folder / "status.json"
        fresh = file.with_suffix(".tmp")
        fresh.write_text(json.dumps(self.status(state), indent=1) + "\n")
        fresh.replace(file)

    def print_status(self) -> None:
        say(f"{'target':18} {'executions':>11} {'a second':>9} {'edges':>6} {'features':>8} {'corpus':>7} {'new':>4} {'seen':>5} {'known':>5}")
        for target, progress in self.progress.items():
            say(f"{target:18} {progress.executions:11} {progress.speed:9.0f} {progress.edges:6} {progress.features:8} "
                f"{progress.corpus_files:7} {progress.crashes_new:4} {progress.crashes_seen:5} {progress.crashes_known:5}")
