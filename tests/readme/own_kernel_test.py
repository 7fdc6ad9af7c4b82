"""Follows the README's section about the reader's own kernel word for word, and compares what is printed with what stands there.

usage: own_kernel_test.py CHECKOUT KVWITNESS FOLDER
Each shell block runs in FOLDER, where `./run verify` calls KVWITNESS; the block of output behind it must be printed, line after line, whatever
stands in between. Counts and times may differ.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

checkout, program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), Path(sys.argv[3])
text = (checkout / "README.md").read_text()
section = text[text.index("## Your own kernel\n"):]
section = section[:section.index("\n## ", 1)]
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
assert [kind for kind, _ in blocks] == ["sh", "", "sh", ""], [kind for kind, _ in blocks]

shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
(folder / "properties").symlink_to(checkout / "properties")
(folder / "run").write_text(f"#!/bin/sh\nexec '{program}' \"$@\"\n")
(folder / "run").chmod(0o755)


def comparable(line: str) -> str:
    """Without the figures of a last line."""
    return re.sub(r"\d[\d.]*", "N", line) if line.startswith(("PASS", "FAIL 1")) else line


for (_, commands), (_, expected), status in zip(blocks[::2], blocks[1::2], (0, 1)):
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}"
    printed = iter(comparable(line) for line in done.stdout.splitlines())
    for line in expected.splitlines():
        assert comparable(line) in printed, f"not printed, or not in this order: {line}\n{done.stdout}"
