"""Stand-ins for the programs that the driver runs: a build folder whose engine and tool are small scripts."""

import stat
import sys
import tempfile
from pathlib import Path

DRIVER = Path(__file__).resolve().parents[2] / "fuzz" / "driver"
sys.path.insert(0, str(DRIVER))

# An engine that knows the options the driver uses. Inputs that start with "bad" fail, each in the way that its name says.
ENGINE = r'''#!/usr/bin/env -S python3 -I -S
import os, signal, sys, time
from pathlib import Path
options = dict(a.lstrip("-").split("=", 1) for a in sys.argv[1:] if a.startswith("-"))
paths = [Path(a) for a in sys.argv[1:] if not a.startswith("-")]

def fail(text):
    if text.startswith("bad finding"):
        print("kvwitness-finding target=toy invariant=" + text.split()[2] + " subject=here: row 3 is wrong", file=sys.stderr)
        os.abort()
    if text.startswith("bad memory"):
        where = text.split()[2]
        print("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6020 at pc 0x55")
        print("    #0 0x5566 in __asan_memcpy (toy+0x1)")
        print(f"    #1 0x5567 in kvwitness::{where}(int) /src/lib/src/x.cc:{text.split()[3]}:3")
        print("    #2 0x5568 in fuzz_toy /src/fuzz/toy.cc:9:1")
        print(f"SUMMARY: AddressSanitizer: heap-buffer-overflow /src/lib/src/x.cc:{text.split()[3]}:3 in kvwitness::{where}(int)")
        sys.exit(1)

def covered(folders):
    return len({file.read_text()[:1] for folder in folders for file in folder.iterdir()})

if len(paths) == 1 and paths[0].is_file():
    fail(paths[0].read_text())
    sys.exit(0)
if options.get("merge") == "1":
    seen = set()
    lossy = (Path(sys.argv[0]).parent / "lossy").exists()
    for folder in paths[1:]:
        for file in sorted(folder.iterdir()):
            if file.read_text()[:1] not in seen and not (lossy and seen):
                seen.add(file.read_text()[:1])
                (paths[0] / file.name).write_text(file.read_text())
    sys.exit(0)
if options.get("runs") == "0":
    print(f"#9\tINITED cov: {10 * covered(paths)} ft: {covered(paths)} corp: 1/1b")
    sys.exit(0)
plan = Path(sys.argv[0]).parent / "plan"
todo = plan.read_text().split("\n") if plan.exists() else []
for number, text in enumerate(filter(None, todo)):
    if text == "wait":
        print("#5: cov: 20 ft: 30 corp: 2 exec/s: 4 oom/timeout/crash: 0/0/0 time: 1s job: 1 dft_time: 0", flush=True)
        signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
        time.sleep(30)
    elif text == "die":
        sys.exit(3)
    elif text.startswith("bad"):
        Path(options["artifact_prefix"] + f"crash-{number}").write_text(text)
    else:
        (paths[0] / f"kept-{number}").write_text(text)
print("#40\tDONE   cov: 50 ft: 60 corp: 3/9b exec/s: 4 rss: 1Mb")
print("stat::number_of_executed_units: 42")
sys.exit(77 if any(text.startswith("bad") for text in todo) else 0)
'''

# A replayer with one target, whose inputs fail as the engine's do; a case's input is its JSON text.
TOOL = r'''#!/usr/bin/env -S python3 -I -S
import json, subprocess, sys
from pathlib import Path
engine = Path(sys.argv[0]).parent / "fuzz" / "targets" / "toy"
command, *rest = sys.argv[1:]

def ending(file):
    text = Path(file).read_text()
    return "target=toy invariant=" + text.split()[2] + " subject=here" if text.startswith("bad finding") else ""

if command == "targets":
    print("toy 100")
elif command == "seeds":
    folder = Path(rest[0]) / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seed").write_text("a seed")
elif command == "replay":
    for path in rest[1:]:
        done = subprocess.run([str(engine), path])
        if done.returncode != 0:
            sys.exit(1)
    print(f"toy: {len(rest) - 1} inputs")
elif command == "ending":
    print(ending(rest[1]))
elif command == "minimise":
    if not ending(rest[1]):
        print("kvwitness_fuzz: the run returns", file=sys.stderr)
        sys.exit(2)
    text = Path(rest[1]).read_text()
    Path(rest[2]).write_text(" ".join(text.split()[:4]))
    print(ending(rest[1]))
    print("9 -> 4 bytes in 3 runs")
elif command == "json":
    if "no-case" in Path(rest[1]).read_text():
        print("kvwitness_fuzz: no case", file=sys.stderr)
        sys.exit(3)
    print(json.dumps({"text": Path(rest[1]).read_text(), "expect": {"refused": "rows mismatch"}}))
elif command == "encode":
    folder = Path(rest[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0").write_text(json.loads(Path(rest[1]).read_text())["text"])
'''


def make_build(plan: str = "") -> Path:
    """A build folder in a temporary one; the engine finds what `plan` says, a line an input."""
    folder = Path(tempfile.mkdtemp(prefix="kvwitness-driver-"))
    targets = folder / "fuzz" / "targets"
    targets.mkdir(parents=True)
    for file, text in ((targets / "toy", ENGINE), (folder / "kvwitness_fuzz", TOOL)):
        file.write_text(text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    (targets / "plan").write_text(plan)
    return folder
