"""The tool of `./run mutants`: what it makes, keeps, explains and tells apart."""

import collections
import os
import signal
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import areas
import judge
import results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AREA = areas.Area("rows", ("lib/src/f.cc",), ("lib/src/f.cc",), areas.only(areas.Program("unit"), areas.Program("verify")))


def mutant(before="  return a + b;\n", after="  return a - b;\n", line=2, previous="int f() {\n"):
    return areas.Mutant(AREA, "lib/src/f.cc", line, before, after, previous)


class Mutants(unittest.TestCase):
    def test_the_files_are_those_of_the_areas(self):
        files = [file for area in areas.areas(ROOT) for file in area.files]
        self.assertEqual(len(files), len(set(files)))
        for file in ("lib/include/kvwitness/segments.h", "lib/src/row.h", "lib/src/simd/vector_row_pass-inl.h", "kernels/include/kvwitness/witness.cuh"):
            self.assertIn(file, files)
        for file in files:
            self.assertTrue(os.path.exists(os.path.join(ROOT, file)), file)

    def test_whole_areas_are_kept_and_the_rest_is_sampled_by_its_seed(self):
        def mutate(lines):
            return [(line, "X\n") for line in range(1, len(lines) + 1)]
        chosen = areas.chosen_mutants(ROOT, mutate, "*", 10, 1)[0]
        self.assertEqual(sum(one.area.sampled for one in chosen), 10)
        with open(os.path.join(ROOT, "lib/src/row.h"), encoding="utf-8") as stream:
            self.assertEqual(sum(one.file == "lib/src/row.h" for one in chosen), len(stream.readlines()))
        self.assertEqual(chosen, areas.chosen_mutants(ROOT, mutate, "*", 10, 1)[0])
        self.assertNotEqual(chosen, areas.chosen_mutants(ROOT, mutate, "*", 10, 2)[0])
        self.assertEqual(areas.chosen_mutants(ROOT, mutate, "no/such*", 10, 1), ([], []))

    def test_a_header_is_judged_by_the_sources_that_include_it(self):
        self.assertIn("lib/src/witness.cc", areas.including(ROOT, "lib/src/checks.h"))
        self.assertIn("lib/src/kvwitness.cc", areas.including(ROOT, "lib/src/plain_call.h"))

    def test_a_mutant_is_the_source_with_one_line_changed(self):
        self.assertEqual(mutant().text(["int f() {\n", "  return a + b;\n", "}\n"]), "int f() {\n  return a - b;\n}\n")


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "results.jsonl")

    def test_a_kill_holds_while_its_killer_is_the_same(self):
        results.Results(self.path).keep("k", judge.Verdict("killed", "unit"), {"unit": "1", "verify": "1"})
        self.assertIsNotNone(results.Results(self.path).find("k", {"unit": "1", "verify": "2"}))
        self.assertIsNone(results.Results(self.path).find("k", {"unit": "2", "verify": "1"}))

    def test_a_survivor_holds_while_every_test_is_the_same(self):
        results.Results(self.path).keep("s", judge.Verdict("survived"), {"unit": "1", "verify": "1"})
        self.assertIsNotNone(results.Results(self.path).find("s", {"unit": "1", "verify": "1"}))
        self.assertIsNone(results.Results(self.path).find("s", {"unit": "1", "verify": "2"}))

    def test_a_line_that_a_kill_cut_short_is_passed_over(self):
        results.Results(self.path).keep("k", judge.Verdict("equal"), {})
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write('{"key": "x", "sta')
        self.assertIsNotNone(results.Results(self.path).find("k", {}))
        self.assertIsNone(results.Results(self.path).find("x", {}))

    def test_the_key_is_of_the_whole_source(self):
        self.assertNotEqual(results.key_of(mutant(), "a"), results.key_of(mutant(), "b"))

    def test_an_explanation_survives_a_move_and_not_a_change(self):
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.write('{"equivalent": [{"file": "lib/src/f.cc", "line": "return a + b;", "mutated": ["return a - b;"], "reason": "b is 0"}]}')
        equivalents = results.Equivalents(self.path)
        self.assertEqual(equivalents.reason(mutant(line=99)), "b is 0")
        self.assertIsNone(equivalents.reason(mutant(after="  return a * b;\n")))
        self.assertIsNone(equivalents.reason(mutant(before="  return a + c;\n")))
        self.assertEqual(equivalents.stale([mutant()], {"lib/src/f.cc"}), [])
        self.assertEqual(len(equivalents.stale([], {"lib/src/f.cc"})), 1)
        self.assertEqual(equivalents.stale([], {"another"}), [])

    def test_an_explanation_may_be_of_one_of_several_equal_lines(self):
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.write('{"equivalent": [{"file": "lib/src/f.cc", "after": "int f() {", "line": "return a + b;", "mutated": ["return a - b;"],'
                         ' "reason": "b is 0"}]}')
        equivalents = results.Equivalents(self.path)
        self.assertEqual(equivalents.reason(mutant()), "b is 0")
        self.assertIsNone(equivalents.reason(mutant(previous="int g() {\n")))
        self.assertEqual(len(equivalents.stale([mutant(previous="int g() {\n")], {"lib/src/f.cc"})), 1)

    def test_an_explanation_may_be_of_every_mutant_of_a_line(self):
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.write('{"equivalent": [{"file": "lib/src/f.cc", "line": "return a + b;", "mutated": ["*"], "reason": "speed alone"}]}')
        equivalents = results.Equivalents(self.path)
        self.assertEqual(equivalents.reason(mutant(after="  return a * b;\n")), "speed alone")
        self.assertIsNone(equivalents.reason(mutant(before="  return a + c;\n")))
        self.assertFalse(equivalents.names(mutant()))  # so one that is killed contradicts nothing
        self.assertEqual(equivalents.stale([mutant()], {"lib/src/f.cc"}), [])
        self.assertEqual(len(equivalents.stale([mutant(before="  return a + c;\n")], {"lib/src/f.cc"})), 1)

    def test_the_table_is_aligned_and_scores_what_was_judged(self):
        text = results.table({"f.cc": collections.Counter(killed=3, survived=1, invalid=2, equivalent=5)}).splitlines()
        self.assertEqual(len({len(line) for line in text}), 1)
        self.assertEqual(text[1].split(), ["f.cc", "11", "2", "0", "0", "9", "3", "5", "1", "0", "75.0%"])


class Judging(unittest.TestCase):
    def test_a_program_without_end_is_cut_by_its_processor_time(self):
        status, _, _ = judge.run([sys.executable, "-c", "while True: pass"], "/", 1)
        self.assertIn(status, (-signal.SIGXCPU, -signal.SIGKILL))

    def test_the_object_of_a_mutant_takes_the_place_of_its_archive_member(self):
        build = types.SimpleNamespace(_links={"t": ["c++", "t.o", "-o", "t", "lib.a"]})
        link = judge.Build.link_command(build, "t", "out", {"t.o": "mutant.o", "other.o": "changed.o"})
        self.assertEqual(link, ["c++", "mutant.o", "-o", "out", "changed.o", "lib.a"])

    def test_the_line_that_says_why(self):
        self.assertEqual(judge.reason(1, "ok\n[  FAILED  ] Segments.Edges\n"), "[  FAILED  ] Segments.Edges")
        self.assertEqual(judge.reason(-11, ""), "signal 11")


if __name__ == "__main__":
    unittest.main()
