"""The finders of damaged comments and of headers that nobody includes: what they find, and what they pass."""

import os
import re
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import comments
import headers


def kinds(source):
    return [fault for _, fault in comments.faults(textwrap.dedent(source))]


class Damage(unittest.TestCase):
    def expect(self, fault, source):
        self.assertIn(fault, kinds(source))

    def test_columns_that_were_joined(self):
        self.expect("columns of a table in prose", """\
            /* Each row gets every edge. learned       [rows, topk] token offsets learned_len   elements of
             * learned; must be rows * topk. */
            """)
        self.expect("columns of a table in prose", "//     witnesses: entry (r, s) is e_s;     apply:   the first of them; scatter:   apply in place\n")

    def test_entries_and_bullets_in_the_middle_of_a_line(self):
        self.expect("an entry in the middle of a line", "// Adds. @param a  the first\n")
        self.expect("a bullet in the middle of a line", "// Conventions. - Buffers are row-major.\n")
        self.expect("a bullet in the middle of a line", "// The steps: 1. add the tokens. 2. combine them.\n")

    def test_continuations_that_lost_their_indentation(self):
        for mark in ("- Buffers are", "2. Buffers are", "@param rows  how many"):
            self.expect("a list entry whose continuation has lost its indentation", f"// {mark} row-major and start\n// anywhere.\n")
        self.expect("indentation in the middle of a sentence", "// offsets in tokens from its own context. The\n//   number of rows is n.\n")

    def test_broken_formulas(self):
        self.expect("a formula broken behind an operator", "// The sum of x, where L =\n// a + b.\n")
        self.expect("a formula broken behind an operator", "//     edge e_s       (that is, s * L /\n//     S)\n")
        self.expect("a formula broken before an operator", "// For 1 <= n\n// <= 64.\n")

    def test_broken_phrases(self):
        line = "// " + "word " * 20
        self.expect("a line broken in the middle of a phrase", f"{line}\n// and then\n{line}\n")

    def test_entries_that_a_formatter_would_break(self):
        self.expect("an entry or a table wider than 110 columns", "// @param rows  " + "word " * 21 + "\n")

    def test_trailing_and_indented_comments_are_read_too(self):
        self.assertEqual(comments.faults("int a;  // Steps. - One.\n\n  /* - One\n   * two. */\n"),
                         [(1, "a bullet in the middle of a line"), (4, "a list entry whose continuation has lost its indentation")])

    def test_the_sample_is_found_in_every_comment_that_was_run_together(self):
        with open(os.path.join(HERE, "run_together.h.txt"), encoding="utf-8") as stream:
            source = stream.read()
        numbers = [number for number, _ in comments.faults(source)]
        lines = source.splitlines()
        for function in ("kvw_witness_indices(", "kvw_apply(", "kvw_scatter(", "kvw_context_lens_from_windows(",
                         "kvw_context_lens_from_requests(", "kvw_select_mask_random("):
            declared = next(index for index, line in enumerate(lines, 1) if function in line and not line.startswith((" *", "/*")))
            begins = max(index for index, line in enumerate(lines[:declared], 1) if line.startswith("/*"))
            self.assertTrue(any(begins <= number < declared for number in numbers), function)
        self.assertGreaterEqual(len(numbers), 30)


class Whole(unittest.TestCase):
    def test_the_style_of_the_tree_is_passed(self):
        self.assertEqual(kinds("""\
            // Copies the rows, one after
            // the other:
            //
            //     out[r] = in[r * stride]    for every row
            //
            // - The first.
            // - The second, which goes on
            //   here.
            //
            // @param in      [rows] elements; what is said of them goes on
            //                here
            // @param stride  from row to row
            // @return how many
            //
            // O(rows).
            int copy(const int* in, int stride);  // a - b, 3.5 of 4; c * d
            """), [])
        self.assertEqual(kinds("""\
            /* Copies.
             *
             * @param in   elements
             * @param out  elements
             */
            int copy(const int* in, int* out);
            const char* text = "// - no comment.  - and no bullet";
            char quote = '"';  /* a comment */
            """), [])


class Declarations(unittest.TestCase):
    def test_the_c_headers_say_of_each_parameter_what_it_is(self):
        root = os.path.dirname(os.path.dirname(HERE))
        seen = 0
        for header in ("lib/include/kvwitness/kvwitness.h", "kernels/include/kvwitness/kvwitness_cuda.h"):
            with open(os.path.join(root, header), encoding="utf-8") as stream:
                source = stream.read()
            for comment, name, parameters in re.findall(r"/\*((?:[^*]|\*(?!/))*)\*/\s*\n[\w ]+[ *]+(kvw_\w+)\(([^)]*)\);", source):
                names = re.findall(r"(\w+)(?:,|$)", " ".join(parameters.split()))
                if len(names) > 1:
                    seen += 1
                    self.assertEqual(re.findall(r"@param (\w+)", comment), names, name)
        self.assertGreaterEqual(seen, 15)


class Headers(unittest.TestCase):
    def unused(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
            return headers.unused(root, ["lib"])

    def test_a_header_that_nobody_includes_is_found(self):
        self.assertEqual(self.unused({"lib/src/a.h": '#include "lib/src/a.h"\n', "lib/src/b.h": "", "b/b.cc": '#include "b.h"\n'}),
                         ["lib/src/a.h", "lib/src/b.h"])

    def test_a_header_is_used_by_each_way_to_write_its_name(self):
        self.assertEqual(self.unused({"lib/src/a.h": "", "lib/src/b.h": "", "lib/src/c.cuh": "", "lib/include/kvwitness/d.h": "",
                                      "lib/src/use.cc": '#include "b.h"\n  #  include <src/c.cuh>\n', "tests/t.cc": '#include "lib/src/a.h"\n'}), [])


if __name__ == "__main__":
    unittest.main()
