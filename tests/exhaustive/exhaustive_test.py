"""The program of `./run exhaustive`: what it says, how it ends, and that a killed run is taken up."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, FAULTY = sys.argv.pop(1), sys.argv.pop(1)
UNITS_A_BLOCK = 64


def run(program, out, *arguments):
    return subprocess.run([program, "--out", out, *arguments], capture_output=True, text=True, check=False)


class Exhaustive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name

    def result(self):
        with open(os.path.join(self.out, "result.json"), encoding="utf-8") as stream:
            return json.load(stream)

    def units_on_disk(self):
        try:
            with open(os.path.join(self.out, "progress.txt"), encoding="utf-8") as stream:
                return len(stream.read().splitlines()) - 1
        except FileNotFoundError:
            return 0

    def begin_and_end(self, signal_number):
        """Starts a run of four blocks and ends it in its midst."""
        process = subprocess.Popen([PROGRAM, "--out", self.out, "--to", str(1 << 22)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.units_on_disk() < 3:
            time.sleep(0.02)
        process.send_signal(signal_number)
        return process.wait()

    def test_a_slice_passes_and_is_not_checked_twice(self):
        first = run(PROGRAM, self.out, "--from", "1", "--to", "1000")
        self.assertEqual((first.returncode, self.result()["verdict"]), (0, "pass"), first.stderr)
        self.assertEqual((self.result()["units"], self.result()["units_now"]), (UNITS_A_BLOCK, UNITS_A_BLOCK))
        self.assertIn("million lengths a second", first.stderr)
        self.assertEqual(run(PROGRAM, self.out, "--to", "1000").returncode, 0)
        self.assertEqual((self.result()["units_before"], self.result()["units_now"]), (UNITS_A_BLOCK, 0))

    def test_a_killed_run_is_taken_up(self):
        self.begin_and_end(signal.SIGKILL)
        finished = self.units_on_disk()
        with open(os.path.join(self.out, "progress.txt"), "a", encoding="utf-8") as stream:
            stream.write("0 6")  # a line that the kill cut short
        self.assertEqual(run(PROGRAM, self.out, "--to", "1000").returncode, 0)
        self.assertEqual(self.result()["units_before"], min(finished, UNITS_A_BLOCK))
        self.assertEqual(self.result()["units_before"] + self.result()["units_now"], UNITS_A_BLOCK)

    def test_an_interrupted_run_says_so(self):
        self.assertEqual(self.begin_and_end(signal.SIGINT), 3)
        self.assertEqual(self.result()["verdict"], "unfinished")

    def test_other_sources_begin_anew(self):
        run(PROGRAM, self.out, "--to", "1000")
        path = os.path.join(self.out, "progress.txt")
        with open(path, encoding="utf-8") as stream:
            lines = stream.read()
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("sources of another day\n" + lines.split("\n", 1)[1])
        run(PROGRAM, self.out, "--to", "1000")
        self.assertEqual(self.result()["units_before"], 0)

    def test_edges_rounded_down_are_found(self):
        found = run(FAULTY, self.out, "--to", "1000")
        self.assertEqual((found.returncode, self.result()["verdict"]), (1, "fail"))
        self.assertRegex(self.result()["message"], r"SegmentEdges at L = \d+, S = \d+, segment \d+")
        self.assertIn(self.result()["message"], found.stdout)

    def test_usage_errors(self):
        for arguments in (["--to", "0"], ["--from", "9", "--to", "9"], ["--to", "x"], ["--to"], ["--jobs", "0"], ["--nonsense", "1"],
                          ["--to", str((1 << 31) + 1)]):
            ended = run(PROGRAM, self.out, *arguments)
            self.assertEqual(ended.returncode, 2, arguments)
            self.assertIn("usage:", ended.stderr)


if __name__ == "__main__":
    unittest.main()
