#!/usr/bin/env python3
"""Finds headers that no source of the repository includes.

  headers.py ROOT FOLDER...     prints each such header below the folders (relative to ROOT); ends with 1 where there is any

Installed headers count as used: others include them.
"""

import os
import re
import sys

HEADERS = (".h", ".hpp", ".cuh")
SOURCES = HEADERS + (".c", ".cc", ".cpp", ".cu")
INSTALLED = re.compile(r"(^|/)include/|^kernels/simt/cuda/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def files_below(root, folder, endings):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(name for name in folders if name not in (".git", "build") and not name.startswith("build-"))
        yield from (os.path.relpath(os.path.join(path, name), root).replace(os.sep, "/") for name in sorted(names) if name.endswith(endings))


def is_meant(header, includer, target):
    """Whether `target`, as `includer` writes it, is the header: by its path from the root, by the end of it, or by its name in one folder."""
    if "/" not in target:
        return header == "/".join([*includer.split("/")[:-1], target])
    return header == target or header.endswith("/" + target)


def unused(root, folders):
    includes = []
    for file in files_below(root, ".", SOURCES):
        with open(os.path.join(root, file), encoding="utf-8", errors="replace") as stream:
            includes += [(file, target) for target in INCLUDE.findall(stream.read())]
    headers = [header for folder in folders for header in files_below(root, folder, HEADERS) if not INSTALLED.search(header)]
    return [header for header in headers
            if not any(file != header and is_meant(header, file, target) for file, target in includes)]


def main(root, *folders):
    found = unused(root, folders)
    for header in found:
        print(f"{header}: no source includes it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
