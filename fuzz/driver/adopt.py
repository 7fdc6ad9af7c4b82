"""Making a regression of a crash."""

import json
import re
import shutil
import tempfile
from pathlib import Path

from layout import CORPUS, ROOT, Build, DriverError, run_tool

FOUND_TABLE_ROW = "| found by the fuzz target {target}: {what} | `{name}` |\n"


def target_of(file: Path, targets: dict[str, int]) -> str:
    """The target that a file belongs to, by the folders it lies in and by its name."""
    parts = [part.name for part in file.resolve().parents]
    for target in sorted(targets, key=len, reverse=True):
        if target in parts or file.name.startswith(target + "-"):
            return target
    raise DriverError(f"{file}: say which target it is for, --target one of {', '.join(sorted(targets))}")


def plain_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def what_failed(ending: str) -> str:
    """A few words for a file's name: the invariant and its subject, what a sanitizer saw and in which file, else the beginning of the ending."""
    found = re.search(r"invariant=(\S+) subject=(\S+)", ending)
    if found:
        return plain_name(f"{found.group(1)} {found.group(2)}")
    seen = re.match(r"\w+Sanitizer: (\S+) \(?([^\s:)+]+)", ending)
    return plain_name(f"{seen.group(1)} in {Path(seen.group(2)).name}" if seen else " ".join(ending.split()[:4]))


class Adoption:
    def __init__(self, build: Build, target: str, regressions: Path = CORPUS / "regressions"):
        self.tool, self.target, self.regressions = build.tool, target, regressions

    def adopt(self, file: Path, name: str | None) -> str:
        """Minimises the input and writes it as a regression; what to commit, in words."""
        with tempfile.TemporaryDirectory() as temporary:
            small = Path(temporary) / "minimised"
            ending, work = run_tool(self.tool, "minimise", self.target, str(file), str(small)).stdout.splitlines()[:2]
            after = run_tool(self.tool, "ending", self.target, str(small)).stdout.strip()
            if after != ending:
                raise DriverError(f"the minimised input ends otherwise ({after or 'it returns'}) than the original ({ending})")
            what = name or what_failed(ending)
            written = self._as_case(small, ending, what, Path(temporary)) or self._as_bytes(small, what)
        shown = written.relative_to(ROOT) if written.is_relative_to(ROOT) else written
        if written.suffix == ".bytes":
            advice, table = "No case file says all of this input, so it stays as it is. After the fix:", ""
        else:
            advice = ("Work the answer out from the rule, compare it with the case's `expect`, and say how it follows in its `note`. "
                      "Then, after the fix:")
            table = f" {shown.with_name('README.md')}"
        return f"{ending}\n{work}\nwritten to {shown}\n{advice}\n  git add {shown}{table} && git commit -m 'Regression: {what.replace('_', ' ')}'"

    def _as_case(self, small: Path, ending: str, what: str, temporary: Path) -> Path | None:
        """As a case file, where a case file says all of it: the case, made an input again, must end in the same way."""
        case = temporary / "case.jsonl"
        try:
            case.write_text(run_tool(self.tool, "json", self.target, str(small)).stdout)
            run_tool(self.tool, "encode", self.target, str(case), str(temporary / "inputs"))
        except DriverError:
            return None
        endings = [run_tool(self.tool, "ending", self.target, str(file)).stdout.strip() for file in (temporary / "inputs").iterdir()]
        if ending not in endings:
            return None
        record = json.loads(case.read_text())
        record["note"] = f"{self.target}: {ending}"
        home = self.regressions / f"found_{plain_name(what)}.jsonl"
        is_new = not home.exists()
        with home.open("a") as stream:
            stream.write(json.dumps(record, separators=(",", ":")) + "\n")
        if is_new:
            self._add_to_table(home.name, what)
        return home

    def _as_bytes(self, small: Path, what: str) -> Path:
        home = self.regressions / f"{self.target}-{plain_name(what)}.bytes"
        if home.exists():
            raise DriverError(f"{home} exists; give another name with --name")
        shutil.copyfile(small, home)
        return home

    def _add_to_table(self, name: str, what: str) -> None:
        readme = self.regressions / "README.md"
        text = readme.read_text()
        if not text.endswith("\n"):
            text += "\n"
        readme.write_text(text + FOUND_TABLE_ROW.format(target=self.target, what=what.replace("_", " "), name=name))
