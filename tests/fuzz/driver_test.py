"""The driver of campaigns: signatures, deduplication, status, merging, adoption, known failures, exit statuses."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from stand_ins import DRIVER, make_build

import adopt
import campaign
import controls
import corpora
import coverage
import crashes
import layout


def run_driver(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(DRIVER), *arguments], capture_output=True, text=True, check=False, timeout=120)


class WithBuild(unittest.TestCase):
    plan = ""

    def setUp(self):
        self.folder = make_build(self.plan)
        self.build = layout.Build(self.folder)
        self.state = self.folder / "state"
        self.addCleanup(shutil.rmtree, self.folder)

    def plan_to_find(self, *inputs: str) -> None:
        (self.folder / "fuzz" / "targets" / "plan").write_text("\n".join(inputs))

    def campaign(self, *arguments: str) -> subprocess.CompletedProcess:
        return run_driver("toy", "--build", str(self.folder), "--state", str(self.state), *arguments)

    def status(self) -> dict:
        return json.loads((self.state / "status.json").read_text())


class SignatureTest(unittest.TestCase):
    def test_a_finding_is_its_target_invariant_and_subject(self):
        one = crashes.signature_of("toy", "noise\nkvwitness-finding target=toy invariant=coverage subject=avx2: row 3 is wrong\n#0 0x1 in f x.cc:1\n")
        other = crashes.signature_of("toy", "kvwitness-finding target=toy invariant=coverage subject=avx2: row 9 is wrong\n")
        self.assertEqual(one.what, "target=toy invariant=coverage subject=avx2")
        self.assertEqual(one.number, other.number)
        third = crashes.signature_of("toy", "kvwitness-finding target=toy invariant=budget subject=avx2: row 9\n")
        self.assertNotEqual(one.number, third.number)

    def test_a_sanitizers_report_is_its_kind_and_the_innermost_frames_without_lines(self):
        report = ("==1==ERROR: AddressSanitizer: heap-buffer-overflow\n    #0 0x55 in __asan_memcpy (t+0x1)\n"
                  "    #1 0x56 in kvwitness::merge(int, int) /r/lib/src/a.cc:{0}:7\n    #2 0x57 in kvwitness::apply /r/lib/src/b.cc:3:1\n"
                  "    #3 0x58 in fuzzer::Fuzzer::ExecuteCallback /llvm/f.cpp:6:15\n"
                  "SUMMARY: AddressSanitizer: heap-buffer-overflow /r/lib/src/a.cc:{0}:7 in kvwitness::merge\n")
        one = crashes.signature_of("toy", report.format(10))
        self.assertEqual(one.what, "AddressSanitizer: heap-buffer-overflow < kvwitness::merge < kvwitness::apply")
        self.assertEqual(one, crashes.signature_of("toy", report.format(99)))

    def test_undefined_behaviour_is_told_apart_by_its_kind_not_by_its_values(self):
        text = "/r/a.cc:3:9: runtime error: signed integer overflow: {} + 1 cannot be represented in type 'int'\nSUMMARY: UndefinedBehaviorSanitizer: undefined-behavior /r/a.cc:3:9\n"
        self.assertEqual(crashes.signature_of("toy", text.format(2147483647)), crashes.signature_of("toy", text.format(-5)))
        self.assertNotEqual(crashes.signature_of("toy", text.format(1)),
                            crashes.signature_of("toy", "/r/a.cc:3:9: runtime error: shift exponent 32 is too large\n"))

    def test_undefined_behaviour_at_two_addresses_is_one_crash(self):
        text = "/r/a.cc:3:9: runtime error: pointer index expression with base {} overflowed to {}\n"
        self.assertEqual(crashes.signature_of("toy", text.format("0x7fcbaf912010", "0xbc007fcbaf912010")).what,
                         crashes.signature_of("toy", text.format("0x7f803aa09fd0", "0x80007f807ea09fcc")).what)

    def test_a_timeout_is_the_engines(self):
        self.assertEqual(crashes.signature_of("toy", "==9== ERROR: libFuzzer: timeout after 11 seconds\n").what, "libFuzzer: timeout")


class CampaignTest(WithBuild):
    def test_nothing_found_is_exit_0_and_a_status_that_says_so(self):
        self.plan_to_find("fine", "also fine")
        done = self.campaign("--runs", "42")
        self.assertEqual(done.returncode, 0, done.stderr)
        status = self.status()
        self.assertEqual(status["kvwitness_fuzz_status"], 1)
        self.assertEqual(status["state"], "done")
        toy = status["targets"]["toy"]
        self.assertEqual((toy["executions"], toy["edges"], toy["features"], toy["rounds"]), (42, 50, 60, 1))
        self.assertEqual((toy["crashes_new"], toy["crashes_known"], status["crashes"]), (0, 0, []))

    def test_crashes_of_one_invariant_are_one_crash_and_exit_1(self):
        self.plan_to_find("bad finding coverage 1", "bad finding coverage 2", "bad finding budget 1", "bad memory merge 10", "bad memory merge 20")
        done = self.campaign("--runs", "42")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.status()["targets"]["toy"]["crashes_new"], 3)
        counts = sorted(crash["count"] for crash in self.status()["crashes"])
        self.assertEqual(counts, [1, 2, 2])
        kept = list((self.state / "crashes" / "toy").glob("*/*.input"))
        self.assertEqual(len(kept), 5)
        self.assertEqual(done.stderr.count("NEW CRASH"), 3)

    def test_a_crash_of_an_earlier_campaign_is_not_new_to_a_search(self):
        self.plan_to_find("bad finding coverage 1")
        self.assertEqual(self.campaign("--runs", "42").returncode, 1)
        done = self.campaign("--hours", "0.0003")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.status()["targets"]["toy"]["crashes_new"], 0)
        self.assertGreater(self.status()["targets"]["toy"]["crashes_seen"], 0)

    def test_a_crash_of_an_earlier_run_fails_a_bounded_run_again(self):
        self.plan_to_find("bad finding coverage 1")
        self.assertEqual(self.campaign("--runs", "42").returncode, 1)
        self.assertEqual(self.campaign("--runs", "42").returncode, 1)
        self.assertEqual(self.status()["crashes"][0]["count"], 2)

    def test_an_artifact_that_does_not_fail_again_is_kept_and_no_crash(self):
        self.plan_to_find("bad weather")
        done = self.campaign("--runs", "42")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.state / "crashes" / "toy" / "not-again").iterdir())), 1)

    def test_an_engine_that_dies_without_an_artifact_is_an_error(self):
        self.plan_to_find("die")
        done = self.campaign("--runs", "42")
        self.assertEqual(done.returncode, 2)
        self.assertIn("left no artifact", done.stderr)
        self.assertEqual(self.status()["state"], "failed")

    def test_a_signal_stops_it_cleanly_and_keeps_what_it_knows(self):
        self.plan_to_find("wait")
        process = subprocess.Popen([sys.executable, str(DRIVER), "toy", "--build", str(self.folder), "--state", str(self.state), "--hours", "1"],
                                   stderr=subprocess.PIPE, text=True)
        log = self.state / "logs" / "toy.log"
        for _ in range(400):
            if log.exists() and b"cov: 20" in log.read_bytes():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.status()["state"], "stopped")
        self.assertEqual(self.status()["targets"]["toy"]["executions"], 5)

    def test_a_second_campaign_in_the_same_folder_is_refused(self):
        self.plan_to_find("fine")
        first = campaign.State(self.state)
        second = self.campaign("--runs", "42")
        self.assertEqual(second.returncode, 2)
        self.assertIn("another campaign", second.stderr)
        first.lock.close()
        self.assertEqual(self.campaign("--runs", "42").returncode, 0)

    def test_a_relative_build_folder_serves_as_well(self):
        self.plan_to_find("fine")
        done = run_driver("toy", "--build", os.path.relpath(self.folder), "--state", str(self.state), "--runs", "42")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_misspelt_is_refused_before_anything_is_built(self):
        for arguments, words in ((["tooy"], "case_file"), (["control", "tooy"], "case_file"), (["control", "refusals", "toy_fault"], "product_wraps"),
                                 (["adopt", "/no/such/file"], "no such file"), (["adopt", "--target", "tooy", __file__], "case_file")):
            done = run_driver(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
            self.assertNotIn("building", done.stderr)

    def test_what_the_system_refuses_is_no_crash(self):
        done = run_driver("toy", "--build", str(self.folder), "--state", "/proc/campaign", "--runs", "3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/proc/campaign", done.stderr)
        self.assertEqual(run_driver("known", "--list", "/no/such/list", "--build", str(self.folder)).returncode, 2)

    def test_unknown_targets_and_meaningless_numbers_are_usage_errors(self):
        for arguments in (["tooy"], ["toy", "--hours", "0"], ["toy", "--jobs", "-1"], ["toy", "--hours", "1", "--runs", "2"], ["--sanitizer", "thread"]):
            done = run_driver(*arguments, "--build", str(self.folder), "--state", str(self.state))
            self.assertEqual(done.returncode, 2, arguments)


class KnownFailuresTest(WithBuild):
    def listed(self, *failures: dict) -> Path:
        file = self.folder / "known.json"
        file.write_text(json.dumps({"kvwitness_known_failures": 1, "failures": list(failures)}))
        return file

    def failure(self, text: str, what: str = "target=toy invariant=coverage subject=here") -> dict:
        return {"target": "toy", "what": what, "why": "a test", "bytes": base64.b64encode(text.encode()).decode()}

    def known(self, file: Path) -> subprocess.CompletedProcess:
        return run_driver("known", "--list", str(file), "--build", str(self.folder))

    def test_one_that_fails_as_listed_is_right(self):
        done = self.known(self.listed(self.failure("bad finding coverage 1")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 known failures, 0 listed wrongly", done.stdout)

    def test_one_that_passes_is_an_error(self):
        done = self.known(self.listed(self.failure("fine")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("passes now", done.stderr)

    def test_one_that_fails_otherwise_is_an_error(self):
        done = self.known(self.listed(self.failure("bad finding budget 1")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ends otherwise", done.stderr)

    def test_a_case_serves_as_well_as_bytes(self):
        failure = self.failure("")
        del failure["bytes"]
        failure["case"] = {"text": "bad finding coverage 1"}
        self.assertEqual(self.known(self.listed(failure)).returncode, 0)

    def test_a_misspelt_list_is_refused(self):
        failure = self.failure("fine")
        failure["reason"] = failure.pop("why")
        done = self.known(self.listed(failure))
        self.assertEqual(done.returncode, 2)
        self.assertIn("failure 0", done.stderr)

    def test_a_known_crash_is_reported_and_not_fatal(self):
        store = crashes.CrashStore(self.folder / "crashes", crashes.KnownFailures(self.listed(self.failure("bad finding coverage 1"))))
        artifact = self.folder / "crash-1"
        artifact.write_text("bad finding coverage 9")
        signature, kind = store.take(self.build, "toy", artifact)
        self.assertEqual(kind, "known")
        self.assertTrue(store.records()[0]["known"])
        artifact.write_text("bad finding budget 9")
        self.assertEqual(store.take(self.build, "toy", artifact)[1], "new")

    def test_the_shipped_list_is_well_formed(self):
        crashes.KnownFailures()


class PruneTest(WithBuild):
    def setUp(self):
        super().setUp()
        self.build.make_seeds()
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir()
        for name, text in (("1", "b1"), ("2", "b2"), ("3", "c3")):
            (self.corpus / name).write_text(text)

    def test_a_merge_keeps_what_the_corpus_reaches_in_fewer_files(self):
        said = corpora.prune(self.build, "toy", 100, self.corpus)
        self.assertIn("30 edges kept", said)
        self.assertEqual(sorted(file.read_text()[0] for file in self.corpus.iterdir()), ["a", "b", "c"])

    def test_a_merge_that_would_lose_an_edge_is_thrown_away(self):
        (self.folder / "fuzz" / "targets" / "lossy").touch()
        said = corpora.prune(self.build, "toy", 100, self.corpus)
        self.assertIn("kept as it is", said)
        self.assertEqual(len(list(self.corpus.iterdir())), 3)
        self.assertEqual([folder.name for folder in self.folder.glob("corpus*")], ["corpus"])


class AdoptTest(WithBuild):
    def setUp(self):
        super().setUp()
        self.regressions = self.folder / "regressions"
        self.regressions.mkdir()
        (self.regressions / "README.md").write_text("| kind | file |\n")
        self.crash = self.folder / "toy" / "crash"
        self.crash.parent.mkdir()

    def adopt(self, text: str, *arguments: str) -> subprocess.CompletedProcess:
        self.crash.write_text(text)
        return run_driver("adopt", str(self.crash), "--build", str(self.folder), "--regressions", str(self.regressions), *arguments)

    def test_what_a_case_file_can_say_becomes_one_with_a_row_in_the_table(self):
        done = self.adopt("bad finding coverage 1 and much more")
        self.assertEqual(done.returncode, 0, done.stderr)
        written = self.regressions / "found_coverage_here.jsonl"
        record = json.loads(written.read_text())
        self.assertEqual(record["text"], "bad finding coverage 1")
        self.assertIn("invariant=coverage", record["note"])
        self.assertIn("`found_coverage_here.jsonl`", (self.regressions / "README.md").read_text())
        self.assertIn("git add", done.stdout)

    def test_a_second_case_joins_the_file_and_the_table_stays(self):
        self.adopt("bad finding coverage 1")
        self.adopt("bad finding coverage 2")
        self.assertEqual(len((self.regressions / "found_coverage_here.jsonl").read_text().splitlines()), 2)
        self.assertEqual((self.regressions / "README.md").read_text().count("found_coverage_here"), 1)

    def test_what_no_case_file_can_say_stays_bytes_named_after_target_and_fault(self):
        done = self.adopt("bad finding coverage no-case and more")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.regressions / "toy-coverage_here.bytes").read_text(), "bad finding coverage no-case")
        again = self.adopt("bad finding coverage no-case and more")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--name", again.stderr)
        self.assertEqual(self.adopt("bad finding coverage no-case", "--name", "another").returncode, 0)

    def test_an_input_that_passes_cannot_be_adopted(self):
        done = self.adopt("fine")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(list(self.regressions.iterdir())), 1)

    def test_a_name_says_what_a_sanitizer_saw_and_in_which_file_but_not_in_which_line(self):
        self.assertEqual(adopt.what_failed("UndefinedBehaviorSanitizer: undefined-behavior ../../kernels/src/kernels.cuh:86:51"),
                         "undefined_behavior_in_kernels_cuh")
        self.assertEqual(adopt.what_failed("AddressSanitizer: heap-buffer-overflow /r/lib/src/a.cc:10:7 in kvwitness::merge(int)"),
                         "heap_buffer_overflow_in_a_cc")
        self.assertEqual(adopt.what_failed("AddressSanitizer: SEGV (/r/build/kvwitness_fuzz+0x1f) (BuildId: 12)"), "segv_in_kvwitness_fuzz")
        self.assertEqual(adopt.what_failed("no end within 10 s"), "no_end_within_10")

    def test_a_file_that_belongs_to_no_target_needs_the_option(self):
        with self.assertRaises(layout.DriverError):
            adopt.target_of(Path("/tmp/some-file"), {"differential": 1})
        self.assertEqual(adopt.target_of(Path("/x/crashes/cuda_differential/ab/c.input"), {"differential": 1, "cuda_differential": 1}), "cuda_differential")
        self.assertEqual(adopt.target_of(Path("/x/refusals-null.bytes"), {"refusals": 1}), "refusals")


class ListsTest(unittest.TestCase):
    def test_descriptors_are_read_from_the_targets_files(self):
        described = layout.descriptors()
        self.assertEqual(described["canary"], layout.Descriptor("canary", "kCaseForm", True, False, (), 100000, True))
        self.assertEqual(controls.sharing_seeds_with("canary"), "differential")
        self.assertNotIn("canary", layout.target_names())
        threaded = described["cuda_differential"]
        self.assertEqual((threaded.has_threads, threaded.control_runs, threaded.dictionary), (True, 20000, None))
        self.assertIn("no_barrier_before_read", threaded.finds)
        self.assertTrue(described["case_file"].dictionary.exists())

    def test_uncovered_lines_are_read_from_a_trace(self):
        trace = "SF:/r/a.cc\nDA:1,5\nDA:2,0\nDA:3,0\nDA:5,0\nend_of_record\nSF:/r/b.cc\nDA:1,1\nend_of_record\n"
        self.assertEqual(coverage.uncovered_lines(trace), {"/r/a.cc": [2, 3, 5]})
        self.assertEqual(coverage.as_ranges([2, 3, 5]), "2-3, 5")

    def test_progress_is_read_in_both_modes(self):
        self.assertEqual(campaign.PROGRESS.match("#2428\tNEW    cov: 1553 ft: 5449 corp: 385/131Kb lim: 4096").groups(), ("2428", "1553", "5449", "385"))
        self.assertEqual(campaign.PROGRESS.match("#77: cov: 10 ft: 20 corp: 3 exec/s: 40 oom/timeout/crash: 0/0/1 time: 5s").groups(), ("77", "10", "20", "3"))

    def test_names_are_plain(self):
        self.assertEqual(adopt.what_failed("target=toy invariant=oracle_equality subject=c-abi"), "oracle_equality_c_abi")


if __name__ == "__main__":
    unittest.main()
