#!/usr/bin/env python3
"""Keeps the direction of includes: which room of the tree may include which other one.

    includes_test.py [REPOSITORY]   exit status 1 where a file includes what it may not, with file, line and rule

A room is a folder. Standard and third-party headers are no room's. Every file must belong to a room, so that a new room
gets its line here. properties/README.md describes the rooms of properties/ and is checked against ROOMS.
"""

import os
import re
import sys
import tempfile

ASSERTIONS = {"lib/assertions"}
LIBRARY = {"lib"} | ASSERTIONS
KERNELS = {"kernels/include", "kernels/src", "kernels/simt"}
PROPERTIES = {"properties/" + room for room in (
    "case", "oracle", "rules", "shrinking", "sandbox", "implementations", "generators", "run", "report", "cli", "include")}

BELOW_FUZZ = LIBRARY | KERNELS | PROPERTIES

# What each room may include besides itself. The files of a folder without a line belong to the folder above.
ROOMS = {
    "lib/assertions": set(),  # one header, which any room but the oracle may include
    "lib": ASSERTIONS,
    "kernels/include": LIBRARY,
    "kernels/simt": set(),
    "kernels/src": LIBRARY | {"kernels/include"},
    "kernels/bench": LIBRARY | KERNELS,
    "properties/include": {"properties/case", "properties/oracle"},  # the plug-in's header; the others have rooms
    "properties/case": ASSERTIONS,
    "properties/oracle": {"properties/case"},
    "properties/rules": ASSERTIONS | {"properties/case", "properties/oracle"},
    "properties/shrinking": ASSERTIONS | {"properties/case", "properties/oracle"},
    "properties/sandbox": ASSERTIONS | {"properties/case", "properties/oracle"},
    "properties/implementations":
        LIBRARY | KERNELS | {"properties/include", "properties/case", "properties/oracle", "properties/sandbox"},
    "properties/generators":
        ASSERTIONS | {"properties/case", "properties/oracle", "properties/rules", "properties/shrinking"},
    "properties/run": ASSERTIONS | {
        "properties/case", "properties/oracle", "properties/rules", "properties/shrinking", "properties/sandbox",
        "properties/implementations", "properties/generators"},
    "properties/report": LIBRARY | {"properties/case", "properties/oracle", "properties/rules", "properties/run"},
    "properties/cli": LIBRARY | PROPERTIES,
    "fuzz/inputs": BELOW_FUZZ,
    "fuzz/under_test": BELOW_FUZZ,  # the seam that planted faults replace
    "fuzz/c_functions": BELOW_FUZZ | {"fuzz/inputs", "fuzz/under_test"},
    "fuzz/mutators": BELOW_FUZZ | {"fuzz/inputs", "fuzz/c_functions"},
    "fuzz": BELOW_FUZZ | {"fuzz/inputs", "fuzz/under_test", "fuzz/c_functions", "fuzz/mutators"},
    "fuzz/planted_faults": BELOW_FUZZ | {"fuzz/inputs", "fuzz/under_test", "fuzz/c_functions", "fuzz", "tests/rule"},
    "fuzz/targets": BELOW_FUZZ | {"fuzz/inputs", "fuzz/under_test", "fuzz/c_functions", "fuzz/mutators", "fuzz"},
    "tests/rule": {"properties/case", "properties/oracle"},  # the rule with faults to plant, which fuzzing plants too
    "tests": BELOW_FUZZ | {"fuzz", "fuzz/under_test", "fuzz/inputs", "fuzz/c_functions", "fuzz/mutators", "fuzz/planted_faults", "tests/rule"},
}

# Files that belong to another room than their folder's.
HOMES = {
    "lib/include/kvwitness/assertions.h": "lib/assertions",
    "fuzz/under_test.h": "fuzz/under_test",
    "fuzz/under_test.cc": "fuzz/under_test",
    "properties/include/kvwitness/case.h": "properties/case",
    "properties/include/kvwitness/domain.h": "properties/case",
    "properties/include/kvwitness/legality.h": "properties/case",
    "properties/include/kvwitness/oracle.h": "properties/oracle",
    "properties/include/kvwitness/rapidcheck.h": "properties/generators",
}

SOURCE = re.compile(r"\.(c|cc|cu|cuh|h|hpp)$")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
TOP_FOLDERS = ("lib", "kernels", "properties", "fuzz", "tests")


def sources(root):
    found = []
    for top in TOP_FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names if SOURCE.search(name)]
    return sorted(found)


def room_of(path):
    """The room of a file: the longest of ROOMS that holds it; None where there is none."""
    if path in HOMES:
        return HOMES[path]
    rooms = [room for room in ROOMS if path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def target_of(path, header, files, public):
    """The file of the repository that an include names; None for others'."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
    return next((name for name in (public.get(header), header, beside) if name in files), None)


def violations(root):
    files = set(sources(root))
    public = {path.split("/include/", 1)[1]: path for path in sorted(files) if "/include/" in path}
    found = []
    for path in sorted(files):
        room = room_of(path)
        if room is None:
            found.append(f"{path}:1: the folder has no line in ROOMS of tests/repository/includes_test.py")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                match = INCLUDE.match(line)
                target = target_of(path, match.group(1), files, public) if match else None
                other = (room_of(target) or os.path.dirname(target)) if target else room
                if other != room and other not in ROOMS[room]:
                    found.append(f"{path}:{number}: includes {match.group(1)}; {room}/ may not include {other}/")
    return found


def undocumented(root):
    """Differences between the table of rooms in properties/README.md and ROOMS."""
    with open(os.path.join(root, "properties/README.md"), encoding="utf-8") as stream:
        rows = re.findall(r"^\| `(\w+)/` \| .* \|(.*)\|$", stream.read(), re.MULTILINE)
    written, above = {}, set()
    for room, names in rows:
        written[room] = above.copy() if names.strip() == "all above" else set(re.findall(r"\w+", names))
        above.add(room)
    kept = {room.split("/")[1]: {name.split("/")[1] for name in allowed if name.startswith("properties/")} - {"include"}
            for room, allowed in ROOMS.items() if room.startswith("properties/") and room != "properties/include"}
    kept["cli"].discard("cli")
    return [f"properties/README.md: {room}/ may include {sorted(written.get(room, {'nothing said'}))}, in ROOMS "
            f"{sorted(kept.get(room, {'no line'}))}"
            for room in sorted(written.keys() | kept.keys()) if written.get(room) != kept.get(room)]


def cycle():
    """The rooms that include each other in a circle by ROOMS."""
    left = {room: set(allowed) & ROOMS.keys() - {room} for room, allowed in ROOMS.items()}
    while free := [room for room, allowed in left.items() if not allowed]:
        for room in free:
            del left[room]
        for allowed in left.values():
            allowed.difference_update(free)
    return sorted(left)


def check_itself():
    """Planted includes, backward and forward, in a tree of their own."""
    planted = {
        "lib/include/kvwitness/segments.h": "",
        "lib/src/row.cc": "#include <kvwitness/segments.h>\n#include <vector>\n",
        "kernels/src/plan.h": '#include "kvwitness/segments.h"\n',
        "properties/include/kvwitness/case.h": "",
        "properties/case/status.h": '#include <kvwitness/case.h>\n  #  include "properties/run/runner.h"\n',
        "properties/run/runner.h": '#include "properties/case/status.h"\n',
        "properties/oracle/oracle.cc": "#include <kvwitness/segments.h>\n",
        "properties/rules/beside.h": '#include "../run/runner.h"\n',
        "lib/src/back.cc": '\n\n#include "kernels/src/plan.h"\n',
        "properties/attic/old.h": "",
    }
    wanted = ["lib/src/back.cc:3", "properties/attic/old.h:1", "properties/case/status.h:2",
              "properties/oracle/oracle.cc:1", "properties/rules/beside.h:1"]
    with tempfile.TemporaryDirectory() as root:
        for path, text in planted.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        found = [violation.split(": ")[0] for violation in violations(root)]
    return [] if found == wanted else [f"the test itself finds {found} in the planted tree, not {wanted}"]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    wrong = check_itself() + violations(root) + undocumented(root)
    if rooms := cycle():
        wrong.append(f"ROOMS has a circle among {', '.join(rooms)}")
    print("\n".join(wrong) or "every include goes one way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
