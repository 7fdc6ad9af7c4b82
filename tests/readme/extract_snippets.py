#!/usr/bin/env python3
"""Writes each fenced C and C++ block of a Markdown file to a source file of its own.

usage: extract_snippets.py MARKDOWN FOLDER
Prints the names of the files, separated by semicolons; a Markdown file without a block is an error.
"""
import pathlib
import re
import sys

SUFFIXES = {"c": ".c", "cpp": ".cc"}


def main(markdown: str, folder: str) -> int:
    text = pathlib.Path(markdown).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(c|cpp)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    if not blocks:
        print(f"{markdown}: no ```c or ```cpp block", file=sys.stderr)
        return 1
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    names = []
    for number, (language, source) in enumerate(blocks, start=1):
        path = target / f"snippet_{number}{SUFFIXES[language]}"
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            path.write_text(source, encoding="utf-8")
        names.append(path.name)
    print(";".join(names), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
