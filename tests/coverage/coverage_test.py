"""The tool of `./run coverage`: what it joins, what it misses, and how it names it."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import analysis
import measure

SOURCE = """int f(int a, int b) {
  return a > 0 && b > 0 ? 1 : 2;
}
"""
DECISION = [2, 10, 2, 24]
CONDITIONS = ([2, 10, 2, 15], [2, 19, 2, 24])


def function(counts, shown, name="f"):
    branches = [[*place, *count, 0, 0, 6] for place, count in zip(CONDITIONS, counts)]
    return {"name": name, "filenames": [os.path.join(ROOT, "lib/src/f.cc")], "regions": [[1, 21, 3, 2, 1, 0, 0, 0]], "branches": branches,
            "mcdc_records": [[*DECISION, 0, 5, shown]]}


class Analysis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        global ROOT
        cls.folder = tempfile.TemporaryDirectory()
        ROOT = cls.folder.name
        os.makedirs(os.path.join(ROOT, "lib/src"))
        cls.write(SOURCE)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, text):
        with open(os.path.join(ROOT, "lib/src/f.cc"), "w", encoding="utf-8") as stream:
            stream.write(text)

    def explained(self, *entries):
        path = os.path.join(ROOT, "unreached.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump({"unreached": list(entries)}, stream)
        return analysis.Explained(path, ROOT)

    def test_what_is_not_reached_is_named_by_its_text(self):
        gaps = analysis.Coverage([function([(5, 1), (5, 0)], [True, False])], ROOT).gaps()
        self.assertEqual([gap.describe() for gap in gaps], ["lib/src/f.cc:2: b > 0: never false",
                                                            "lib/src/f.cc:2: b > 0: never shown to decide by itself"])

    def test_instantiations_add_up(self):
        both = [function([(5, 1), (5, 0)], [True, False]), function([(0, 3), (0, 2)], [False, True])]
        coverage = analysis.Coverage(both, ROOT)
        self.assertEqual(coverage.gaps(), [])
        self.assertEqual(analysis.counts_of(coverage, {}, "lib/src/f.cc")["mcdc"], (2, 2))
        self.assertEqual(analysis.counts_of(coverage, {}, "lib/src/f.cc")["branches"], (4, 4))

    def test_an_explanation_survives_a_move_and_not_a_change(self):
        entry = {"file": "lib/src/f.cc", "kind": "branch", "line": "return a > 0 && b > 0 ? 1 : 2;", "condition": "b > 0", "side": "false",
                 "reason": "no such b"}
        explained = self.explained(entry)
        gap = analysis.Gap("lib/src/f.cc", 77, "branch", entry["line"], "b > 0", "false")
        self.assertEqual(explained.reason(gap), "no such b")
        self.assertIsNone(explained.reason(analysis.Gap("lib/src/f.cc", 2, "branch", "return a > 0 || b > 0 ? 1 : 2;", "b > 0", "false")))
        self.assertEqual(explained.stale([gap]), [])
        self.assertEqual(len(explained.stale([])), 1)

    def test_an_explanation_may_be_of_all_that_is_within_a_function(self):
        gap = analysis.Gap("lib/src/f.cc", 2, "branch", "return a > 0;", "a > 0", "false")
        self.assertEqual(self.explained({"file": "lib/src/f.cc", "within": ["f"], "reason": "no such a"}).reason(gap), "no such a")
        other = self.explained({"file": "lib/src/f.cc", "within": ["g"], "reason": "no such a"})
        self.assertIsNone(other.reason(gap))
        self.assertEqual(other.stale([gap]), [("lib/src/f.cc", "g")])

    def test_each_explanation_of_today_speaks_of_a_line_that_its_file_has(self):
        here = os.path.dirname(os.path.abspath(__file__))
        sources = os.path.dirname(os.path.dirname(here))
        explained = analysis.Explained(os.path.join(here, "unreached.json"), sources)
        self.assertEqual([key for key in explained.stale([]) if len(key) == 2], [])
        for file, line in explained.lines():
            with open(os.path.join(sources, file), encoding="utf-8") as stream:
                self.assertIn(line, [one.strip() for one in stream], file)

    def test_lines_of_a_backend_that_cannot_run_here_do_not_count(self):
        coverage = analysis.Coverage([], ROOT)
        self.assertEqual(analysis.counts_of(coverage, {"lib/src/f.cc": {1: 0, 2: 4}}, "lib/src/f.cc")["lines"], (1, 1))
        self.assertTrue(measure.runs_here("_ZN9kvwitness6detail6N_AVX24markE", {"avx2"}))
        self.assertFalse(measure.runs_here("_ZN9kvwitness6detail6N_AVX34markE", {"avx2"}))
        self.assertTrue(measure.runs_here("_ZN9kvwitness5applyE", set()))

    def test_the_table_is_aligned(self):
        counts = {"lines": (1, 2), "branches": (10, 10), "mcdc": (0, 0)}
        text = analysis.table({"a": counts, "total": analysis.add([counts, counts])})
        self.assertEqual(text.splitlines()[1], "a        1/2  50.0%     10/10  100.0%      -")
        self.assertEqual(text.splitlines()[2], "total    2/4  50.0%     20/20  100.0%      -")


if __name__ == "__main__":
    unittest.main()
