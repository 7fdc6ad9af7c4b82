"""What is known of each mutant: kept from run to run, and reported."""

import collections
import hashlib
import json
import os

def key_of(mutant, text):
    """The same for the same source: the mutated file as a whole."""
    return hashlib.sha256(f"{mutant.area.name} {mutant.file}\n{text}".encode()).hexdigest()


class Results:
    """Verdicts on disk, one line each, so that a run that is killed loses one a job. A verdict holds while the tests that it rests on are the
    same: the one that killed the mutant, or all of them where it survived."""

    def __init__(self, path):
        self._path, self._known = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                for line in stream:
                    try:
                        entry = json.loads(line)
                        self._known[entry["key"]] = entry
                    except (ValueError, KeyError):
                        pass  # a line that a kill has cut short

    def find(self, key, digests):
        entry = self._known.get(key)
        if entry is None:
            return None
        rests_on = [entry["by"]] if entry["status"] == "killed" else list(digests) if entry["status"] == "survived" else []
        if any(entry["tests"].get(name) != digests.get(name) for name in rests_on):
            return None
        return entry

    def keep(self, key, verdict, digests):
        entry = {"key": key, "status": verdict.status, "by": verdict.by, "how": verdict.how, "tests": digests}
        self._known[key] = entry
        with open(self._path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")
        return entry


class Equivalents:
    """What explains a survivor: an entry of the checked-in list of mutants that no test can kill, or a rule. Entries are by file, original line and
    mutated line, never by number; where the same line stands in several places, by the line before it too."""

    def __init__(self, path, rules):
        with open(path, encoding="utf-8") as stream:
            entries = json.load(stream)["equivalent"]
        self._rules, self._reasons = rules, {}
        for entry in entries:
            for mutated in entry["mutated"]:
                self._reasons[(entry["file"], entry.get("after", ""), entry["line"].strip(), mutated.strip())] = entry["reason"]

    @staticmethod
    def _keys(mutant):
        """The ways to speak of a mutant, the more exact one first."""
        return [(mutant.file, previous, mutant.before.strip(), mutant.after.strip()) for previous in (mutant.previous.strip(), "")]

    def reason(self, mutant):
        by_entry = next((self._reasons[key] for key in self._keys(mutant) if key in self._reasons), None)
        return by_entry or self._rules.reason(mutant)

    def names(self, mutant):
        """Whether an entry says that no test can kill this very mutant. A rule says so of none: what is killed counts."""
        return any(key in self._reasons for key in self._keys(mutant))

    def stale(self, generated, files):
        """Entries of these files that belong to no mutant, because the line they speak of has changed; and what rules name in vain."""
        present = {key for mutant in generated for key in self._keys(mutant)}
        return [key for key in self._reasons if key[0] in files and key not in present] + [one for one in self._rules.stale() if one[0] in files]

    def lines(self):
        """(file, line) of each entry."""
        return sorted({(file, line) for file, _, line, _ in self._reasons})


def table(rows):
    """Aligned: the mutants of each file by what became of them."""
    heads = ("file", "generated", "invalid", "equal", "duplicate", "judged", "killed", "equivalent", "survived", "left", "score")
    lines = [heads]
    total = collections.Counter()
    for file, counts in rows.items():
        total.update(counts)
        lines.append(row_of(file, counts))
    lines.append(row_of("total", total))
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def row_of(name, counts):
    judged = counts["killed"] + counts["equivalent"] + counts["survived"]
    mutants = counts["killed"] + counts["survived"]
    score = f"{100 * counts['killed'] / mutants:.1f}%" if mutants else "-"
    numbers = [sum(counts.values()), *(counts[status] for status in ("invalid", "equal", "duplicate")), judged,
               *(counts[status] for status in ("killed", "equivalent", "survived", "left"))]
    return (name, *(str(number) for number in numbers), score)
