"""The replayer's own promises, asked of the program and of the same over planted faults: tool_check.py PROGRAM PLANTED_PROGRAM CORPUS."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzz" / "driver"))
import crashes
import layout

TOOL, PLANTED_TOOL, CORPUS = sys.argv[1:4]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False, timeout=120)


class ToolTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_replay_of_an_empty_folder_of_nothing_and_of_other_targets_bytes_is_an_error(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.assertEqual(run("replay", "differential", str(empty)).returncode, 2)
        self.assertEqual(run("replay", "differential", str(self.folder / "missing")).returncode, 2)
        (empty / "refusals-x.bytes").write_bytes(b"")
        self.assertEqual(run("replay", "differential", str(empty)).returncode, 2)
        self.assertEqual(run("replay", "refusals", str(empty)).returncode, 0)

    def test_a_replay_of_an_input_without_an_end_ends_at_the_limit_and_names_it(self):
        hang, no_hang = self.folder / "metrics_nulls-hang.bytes", self.folder / "metrics_nulls-other.bytes"
        hang.write_bytes(bytes([0, 20, *[0] * 7, 14, *[0] * 15]))  # a random null of 20 tokens with a budget of 7
        no_hang.write_bytes(bytes([0, 20, *[0] * 7, 12, *[0] * 15]))
        environment = {**os.environ, "KVWITNESS_PLANTED_FAULT": "null_without_end"}
        for path, status in ((no_hang, 0), (hang, 1), (self.folder, 1)):
            done = subprocess.run([PLANTED_TOOL, "replay", "metrics_nulls", "--limit", "1", str(path)], capture_output=True, text=True,
                                  check=False, timeout=60, env=environment)
            self.assertEqual(done.returncode, status, done.stderr)
            if status:
                self.assertIn(f"timeout after 1 seconds; the target has not ended on {hang}", done.stderr)
                self.assertEqual(crashes.signature_of("metrics_nulls", done.stderr).what, "libFuzzer: timeout")

    def test_unknown_commands_and_targets_are_usage_errors(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("replay", "nonsense", "x").returncode, 2)
        self.assertEqual(run("minimise", "canary", "x", "y", "many").returncode, 2)
        self.assertEqual(run("replay", "canary", "--limit", "0", "x").returncode, 2)

    def test_the_driver_reads_in_the_targets_files_what_their_descriptors_say(self):
        listed = run("targets").stdout.splitlines()
        described = [each for each in layout.descriptors().values() if not each.is_control]
        self.assertEqual([line.split()[0] for line in listed], [each.name for each in described])
        for line, each in zip(listed, described):
            self.assertIn(f"; finds {len(each.finds)} planted faults in at most {each.control_runs} executions each", line)

    def test_the_readme_names_no_target_that_is_gone(self):
        table = re.findall(r"^ *\| `(\w+)` \|", (layout.ROOT / "fuzz" / "README.md").read_text(), re.MULTILINE)
        self.assertLessEqual({name for name in table if name.islower()}, set(layout.target_names()))

    def test_a_case_file_becomes_inputs_and_an_input_a_case_with_its_answer(self):
        file = self.folder / "case.jsonl"
        file.write_text('{"kvwitness_case":1,"operation":"scatter","topk":8,"num_segments":4,"context_lens":[16],"learned":[[0,1,2,3,12,-1,-1,-1]]}\n')
        for target, count in (("differential", 1), ("cuda_differential", 2)):
            inputs = self.folder / target
            self.assertEqual(run("encode", target, str(file), str(inputs)).returncode, 0)
            self.assertEqual(len(list(inputs.iterdir())), count)
            case = json.loads(run("json", target, str(inputs / "0")).stdout)
            self.assertEqual(case["expect"], {"rows": [[0, 1, 2, 3, 4, 8, -1, -1]]})
        self.assertEqual(run("json", "refusals", str(file)).returncode, 3)

    def test_the_canary_is_minimised_to_the_least_row_that_refutes_it(self):
        file = self.folder / "case.jsonl"
        file.write_text('{"kvwitness_case":1,"operation":"scatter","topk":8,"num_segments":4,"context_lens":[16,400],"base_offset":3,'
                        '"learned":[[0,1,2,3,12,-1,-1,-1],[0,100,200,300,5,6,7,8]]}\n')
        run("encode", "canary", str(file), str(self.folder / "inputs"))
        done = run("minimise", "canary", str(self.folder / "inputs" / "0"), str(self.folder / "small"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("target=canary invariant=scatter_is_idempotent subject=c-abi\n"), done.stdout)
        case = json.loads(run("json", "canary", str(self.folder / "small")).stdout)
        self.assertEqual(len(case["context_lens"]), 1)
        self.assertLessEqual(case["topk"], 5)
        self.assertNotIn("base_offset", case)

    def test_seeds_are_the_same_each_time(self):
        contents = []
        for name in ("one", "two"):
            self.assertEqual(run("seeds", str(self.folder / name), CORPUS).returncode, 0)
            contents.append({file.relative_to(self.folder / name): file.read_bytes() for file in (self.folder / name).rglob("*") if file.is_file()})
        self.assertGreater(len(contents[0]), 1000)
        self.assertEqual(contents[0], contents[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
