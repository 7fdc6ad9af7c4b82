"""Within which functions and classes each line of a C++ source is: so the tools of mutants/ and coverage/ speak of lines that may move and change."""

import re


def enclosing_definitions(lines):
    """For each line, the names of the functions and classes that it is within."""
    found, open_names, head = [], [], ""
    for line in lines:
        code = "" if line.lstrip().startswith("#") else re.sub(r"//.*", "", line)
        names = set(open_names)
        for character in code:
            if character == "{":
                head = re.sub(r"\btemplate\s*<[^>]*>", "", head)
                named = re.search(r"\b(?:class|struct|namespace)\s+(\w+)|(\w+)\s*\(", head)
                open_names.append((named[1] or named[2]) if named else "")
                names.update(open_names)
            elif character == "}" and open_names:
                open_names.pop()
            head = "" if character in "{};" else head + character
        head += " "
        found.append(names - {""})
    return found
