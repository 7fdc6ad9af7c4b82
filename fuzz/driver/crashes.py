"""What a crash is: its signature, whether it is known, and how it is kept."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from layout import CORPUS, Build, DriverError, run_tool, sanitizer_environment

FINDING = re.compile(r"^kvwitness-finding (target=\S+ invariant=\S+ subject=\S+): (.*)$", re.MULTILINE)
SUMMARY = re.compile(r"^SUMMARY: (\w+): (\S+)", re.MULTILINE)
ENGINE_ERROR = re.compile(r"^==\d+== ?ERROR: (?:libFuzzer|kvwitness_fuzz): ([a-z-]+)", re.MULTILINE)
FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (.+?) (\S+?)(?::\d+)*$", re.MULTILINE)
UNDEFINED = re.compile(r"^\S+:\d+:\d+: runtime error: (.*)$", re.MULTILINE)

# Frames that every crash has, and those of the runtimes.
BORING_FRAME = re.compile(r"LLVMFuzzer|fuzzer::|__sanitizer|__asan|__ubsan|__tsan|__interceptor|^(main|abort|raise|_start)$|fuzz::report|libc")
FRAMES_IN_A_SIGNATURE = 3


@dataclass(frozen=True)
class Signature:
    """Two crashes with the same signature are one: the failed invariant, else the kind of fault and the innermost frames."""

    target: str
    what: str

    @property
    def number(self) -> str:
        return hashlib.sha256(f"{self.target}: {self.what}".encode()).hexdigest()[:12]


def signature_of(target: str, output: str) -> Signature:
    """The signature of a run that ended badly, from what it printed."""
    finding = FINDING.search(output)
    if finding:
        return Signature(target, finding.group(1))
    kind = "ended without a word"
    summary, engine, undefined = SUMMARY.search(output), ENGINE_ERROR.search(output), UNDEFINED.search(output)
    if undefined:
        kind = "runtime error: " + re.sub(r"0x[0-9a-f]+|-?\d+", "N", undefined.group(1))
    elif engine:
        kind = "libFuzzer: " + engine.group(1)
    elif summary:
        kind = f"{summary.group(1)}: {summary.group(2)}"
    frames = [re.sub(r"\(.*", "", name.replace("(anonymous namespace)::", "")) for name, _ in FRAME.findall(output) if not BORING_FRAME.search(name)]
    return Signature(target, " < ".join([kind, *frames[:FRAMES_IN_A_SIGNATURE]]))


def replay(program: Path, artifact: Path, seconds: int = 60) -> tuple[int, str]:
    """One run of a target's program on one file: exit status (-1 for no end) and what it printed."""
    command = [str(program), "-timeout=25", "-rss_limit_mb=4096", str(artifact)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, env=sanitizer_environment(), check=False)
    except subprocess.TimeoutExpired as expired:
        return -1, ((expired.stderr or b"") + b"\n==0== ERROR: libFuzzer: timeout").decode(errors="replace")
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def ending_in_tool(tool: Path, target: str, file: Path) -> str:
    """What failed when the replayer runs a target on a file; "" where the run returns."""
    done = subprocess.run([str(tool), "replay", target, str(file)], capture_output=True, timeout=120, env=sanitizer_environment(), check=False)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode == 2 and "kvwitness_fuzz: " in output:
        raise DriverError(output.strip())
    return "" if done.returncode == 0 else signature_of(target, output).what


class KnownFailures:
    """corpus/known_failures.json: faults that are known and not fixed yet, each with the input that shows it."""

    def __init__(self, file: Path = CORPUS / "known_failures.json"):
        self.file = file
        try:
            read = json.loads(file.read_text())
        except json.JSONDecodeError as error:
            raise DriverError(f"{file}: {error}") from None
        if set(read) != {"kvwitness_known_failures", "failures"} or read["kvwitness_known_failures"] != 1:
            raise DriverError(f"{file}: must be {{\"kvwitness_known_failures\": 1, \"failures\": [...]}}")
        self.failures = read["failures"]
        for number, failure in enumerate(self.failures):
            keys = set(failure)
            if not {"target", "what", "why"} <= keys or len(keys & {"case", "bytes"}) != 1 or keys - {"target", "what", "why", "case", "bytes"}:
                raise DriverError(f"{file}: failure {number}: the keys are target, what, why and one of case and bytes")

    def holds(self, signature: Signature) -> bool:
        return any(f["target"] == signature.target and f["what"] == signature.what for f in self.failures)

    def check(self, tool: Path) -> list[str]:
        """Why the list is wrong: failures that no longer fail, or fail in another way. Empty where it is right."""
        return [why for failure in self.failures if (why := self._check_one(tool, failure))]

    def _check_one(self, tool: Path, failure: dict) -> str:
        with tempfile.TemporaryDirectory() as temporary:
            endings = {ending_in_tool(tool, failure["target"], file) for file in self._inputs(tool, failure, Path(temporary))}
        name = f"{failure['target']}: {failure['what']}"
        if failure["what"] in endings:
            return ""
        if endings == {""}:
            return f"{name}: passes now; take it out of {self.file.name} and put its input into corpus/regressions"
        return f"{name}: ends otherwise now: {', '.join(sorted(endings - {''}))}"

    @staticmethod
    def _inputs(tool: Path, failure: dict, temporary: Path) -> list[Path]:
        if "bytes" in failure:
            file = temporary / "input"
            file.write_bytes(base64.b64decode(failure["bytes"], validate=True))
            return [file]
        case = temporary / "case.json"
        case.write_text(json.dumps(failure["case"]))
        run_tool(tool, "encode", failure["target"], str(case), str(temporary / "inputs"))
        return sorted((temporary / "inputs").iterdir())


class CrashStore:
    """The crashes of a campaign, one folder a signature: the first inputs, what they printed, how often it happened."""

    KEPT_INPUTS = 3

    def __init__(self, folder: Path, known: KnownFailures):
        self.folder = folder
        self.known = known

    def take(self, build: Build, target: str, artifact: Path) -> tuple[Signature, str] | None:
        """Files one artifact away. Its signature and 'new', 'seen' or 'known'; nothing where it does not fail again."""
        status, output = replay(build.target(target), artifact)
        if status == 0:
            self._keep(self.folder / target / "not-again", artifact, "")
            return None
        signature = signature_of(target, output)
        home = self.folder / target / signature.number
        first = not home.exists()
        self._keep(home, artifact, output)
        record = {"target": target, "what": signature.what, "known": self.known.holds(signature), "count": self.count(home) + 1}
        (home / "crash.json").write_text(json.dumps(record, indent=1) + "\n")
        return signature, "known" if record["known"] else "new" if first else "seen"

    @staticmethod
    def count(home: Path) -> int:
        record = home / "crash.json"
        return json.loads(record.read_text())["count"] if record.exists() else 0

    def _keep(self, home: Path, artifact: Path, output: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        inputs = [file for file in home.iterdir() if file.suffix == ".input"]
        if len(inputs) < self.KEPT_INPUTS:
            shutil.copyfile(artifact, home / f"{artifact.name}.input")
        if output and not (home / "output.txt").exists():
            (home / "output.txt").write_text(output)

    def records(self) -> list[dict]:
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("*/*/crash.json"))]
