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
import equivalence_rules
import judge
import results

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NO_RULES = equivalence_rules.Rules(ROOT, ())
AREA = areas.Area("rows", ("lib/src/f.cc",), ("lib/src/f.cc",), areas.only(areas.Program("unit"), areas.Program("verify")))


def mutant(before="  return a + b;\n", after="  return a - b;\n", line=2, previous="int f() {\n"):
    return areas.Mutant(AREA, "lib/src/f.cc", line, before, after, previous)


def stripped_lines(file):
    path = os.path.join(ROOT, file)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return [line.strip() for line in stream]


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
        self.assertIn("lib/src/witness.cc", areas.including(ROOT, "lib/src/checks.h", areas.files_elsewhere(ROOT)))
        self.assertIn("lib/src/kvwitness.cc", areas.including(ROOT, "lib/src/plain_call.h", areas.files_elsewhere(ROOT)))

    def test_the_judge_is_mutated_where_its_files_are_named(self):
        by_file = {area.files[0]: area for area in areas.judge_areas(ROOT)}
        for file in ("properties/rules/batch_relations.cc", "properties/run/counterexample_search.cc", "properties/run/case_judge.cc",
                     "properties/run/implementation_run.h", "properties/sandbox/call_frame.cc", "properties/shrinking/shrinking.cc"):
            self.assertIn(file, by_file)
        self.assertIn("properties/run/case_judge.cc", by_file["properties/run/implementation_run.h"].sources)
        self.assertTrue(all(area.sources for area in by_file.values() if not area.files[0].endswith(".h")))

        def mutate(lines):
            return [(line, "X\n") for line in range(1, len(lines) + 1)]
        chosen = areas.chosen_mutants(ROOT, mutate, "properties/rules/*", 100000, 1)[0]
        self.assertEqual({one.area.name for one in chosen}, {"judge"})
        self.assertTrue(all(one.file.startswith("properties/rules/") for one in chosen))
        self.assertEqual(len(areas.chosen_mutants(ROOT, mutate, "properties/*", 40, 1)[0]), 40)
        self.assertFalse(any(one.area.name == "judge" for one in areas.chosen_mutants(ROOT, mutate, "*", 10, 1)[0]))

    def test_a_verdict_that_holds_and_one_that_is_never_silent_need_no_entry(self):
        def reason(file, before, after):
            return NO_RULES.reason(areas.Mutant(AREA, file, 2, before, after))
        relations = "properties/rules/batch_relations.cc"
        equal, more = (f"  if (verdict.kind {sign} Verdict::Kind::kBroken) {{\n" for sign in ("==", ">="))
        self.assertIn("{}", reason(relations, "  return Verdict::holds();\n", "  return {};\n"))
        self.assertIn("never silent", reason(relations, equal, more))
        self.assertIsNone(reason("properties/rules/judges.h", equal, more))
        self.assertIsNone(reason(relations, equal, equal.replace("==", "<=")))
        self.assertIsNone(reason(relations, "  return Verdict::silent();\n", "  return {};\n"))

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
        equivalents = results.Equivalents(self.path, NO_RULES)
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
        equivalents = results.Equivalents(self.path, NO_RULES)
        self.assertEqual(equivalents.reason(mutant()), "b is 0")
        self.assertIsNone(equivalents.reason(mutant(previous="int g() {\n")))
        self.assertEqual(len(equivalents.stale([mutant(previous="int g() {\n")], {"lib/src/f.cc"})), 1)

    def test_each_explanation_speaks_of_a_line_that_its_file_has(self):
        equivalents = results.Equivalents(os.path.join(HERE, "equivalent.json"), NO_RULES)
        gone = [(file, line) for file, line in equivalents.lines() if line not in stripped_lines(file)]
        self.assertEqual(gone, [])

    def test_the_table_is_aligned_and_scores_what_was_judged(self):
        text = results.table({"f.cc": collections.Counter(killed=3, survived=1, invalid=2, equivalent=5)}).splitlines()
        self.assertEqual(len({len(line) for line in text}), 1)
        self.assertEqual(text[1].split(), ["f.cc", "11", "2", "0", "0", "9", "3", "5", "1", "0", "75.0%"])


SOURCE = """\
template <class T>
class Reader {
  int next(int most) {
    return most + kStretch;
  }
};

constexpr int kStretch = 4;  // of kOther
int hunt(const Reader& reader,
         int count) {
#if X
  return count + 1;
#endif
}
int mark(int count) {
  return count + 1;
}
"""


class Rules(unittest.TestCase):
    """A rule speaks of the lines within some definitions, and of those that name something."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        with open(os.path.join(self.root, "f.cc"), "w", encoding="utf-8") as stream:
            stream.write(SOURCE)
        self.path = os.path.join(self.root, "list.json")
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.write('{"equivalent": [{"file": "f.cc", "line": "return count + 1;", "mutated": ["return count * 1;"], "reason": "listed"}]}')

    def rules(self, **chosen):
        return equivalence_rules.Rules(self.root, (equivalence_rules.Rule("f.cc", "speed", **chosen),))

    def reasons(self, rules, file="f.cc"):
        lines = SOURCE.splitlines()
        return [number for number, line in enumerate(lines, 1) if rules.reason(areas.Mutant(AREA, file, number, line, "")) == "speed"]

    def test_of_what_is_within_a_function_or_a_class(self):
        self.assertEqual(self.reasons(self.rules(within=("hunt",))), [10, 11, 12, 13, 14])
        self.assertEqual(self.reasons(self.rules(within=("Reader",))), [2, 3, 4, 5, 6])
        self.assertEqual(self.reasons(self.rules(within=("hunt",)), "another.cc"), [])

    def test_of_what_names_something_in_code(self):
        self.assertEqual(self.reasons(self.rules(naming=("kStretch",))), [4, 8])
        self.assertEqual(self.reasons(self.rules(naming=("kOther", "Stretch"))), [])

    def test_an_entry_comes_first_and_only_an_entry_is_contradicted(self):
        equivalents = results.Equivalents(self.path, self.rules(within=("hunt",)))
        by_rule = areas.Mutant(AREA, "f.cc", 12, "  return count + 1;\n", "  return count - 1;\n")
        listed = areas.Mutant(AREA, "f.cc", 12, "  return count + 1;\n", "  return count * 1;\n")
        self.assertEqual([equivalents.reason(one) for one in (by_rule, listed)], ["speed", "listed"])
        self.assertEqual([equivalents.names(one) for one in (by_rule, listed)], [False, True])

    def test_what_a_rule_names_in_vain_is_stale(self):
        rules = self.rules(within=("hunt", "gone"), naming=("kStretch", "kGone"))
        self.assertEqual(rules.stale(), [("f.cc", "gone"), ("f.cc", "kGone")])
        self.assertEqual(results.Equivalents(self.path, rules).stale([], {"another.cc"}), [])
        self.assertIn(("f.cc", "gone"), results.Equivalents(self.path, rules).stale([], {"f.cc"}))

    def test_what_the_rules_of_today_name_is_there(self):
        self.assertEqual(equivalence_rules.Rules(ROOT).stale(), [])

    def test_a_count_from_0_may_end_by_either_comparison(self):
        loop = "  for (int row = 0; row < rows; ++row) {\n"
        self.assertTrue(equivalence_rules.counts_up(loop, loop.replace("<", "!=")))
        self.assertFalse(equivalence_rules.counts_up(loop, loop.replace("<", "<=")))
        self.assertFalse(equivalence_rules.counts_up(loop, loop.replace("0;", "(0 + 1);")))
        for other in (loop.replace("= 0", "= 1"), loop.replace("++row", "row += 2")):
            self.assertFalse(equivalence_rules.counts_up(other, other.replace("<", "!=")))


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
