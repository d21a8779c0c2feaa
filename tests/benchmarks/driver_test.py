#!/usr/bin/env python3
"""The benchmarks' driver, with stand-ins for what it measures. Prints TAP. Usage: driver_test.py BENCHMARKS"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], str(pathlib.Path(__file__).resolve().parents[1])]

import goals  # noqa: E402
import shared  # noqa: E402
import tables  # noqa: E402
from goals import Goal, Missing  # noqa: E402
from rounds import Failure, Subject, take_turns  # noqa: E402
from suites import attention, sweeps  # noqa: E402
from tap import run_case  # noqa: E402


def subject(answers: str, first: str = '{"ready": true, "flops": 3}') -> Subject:
    """A process that answers a line with the next of `answers`, lines themselves, and then ends."""
    program = ("import sys\nprint(sys.argv[1], flush=True)\n"
               "for answer in sys.argv[2].splitlines():\n"
               "  sys.stdin.readline()\n  print(answer, flush=True)\n"
               "print('out of luck', file=sys.stderr)\nsys.exit(3)\n")
    return Subject([sys.executable, "-c", program, first, answers])


class Driver(unittest.TestCase):
    def test_medians_are_over_all_repetitions_of_all_rounds(self):
        a = subject('{"milliseconds": [1, 2], "peak_bytes": 5}\n{"milliseconds": [9], "peak_bytes": 7}')
        self.addCleanup(a.close)
        result = take_turns({"a": a}, 2, 0.1)["a"]
        self.assertEqual((result["milliseconds"], result["repetitions"], result["peak_bytes"]), (2, 3, 7))
        self.assertEqual((result["lowest_round"], result["highest_round"]), (1.5, 9))

    def test_what_fails_is_left_out_and_the_others_go_on(self):
        answer = '{"milliseconds": [1], "peak_bytes": 0}'
        good, bad = subject("\n".join([answer] * 3)), subject(answer)
        self.addCleanup(good.close)
        self.addCleanup(bad.close)
        results = take_turns({"good": good, "bad": bad}, 3, 0.1)
        self.assertEqual(results["good"]["repetitions"], 3)
        self.assertEqual(results["bad"], {"error": "out of luck"})

    def test_a_subject_that_cannot_start_says_why(self):
        with self.assertRaisesRegex(Failure, "no compiler"):
            subject("", '{"error": "no compiler"}')

    def test_ratios_are_to_the_faster_of_the_peers(self):
        heed, eager, compiled = {"milliseconds": 2.0}, {"milliseconds": 6.0}, {"error": "it did not compile"}
        self.assertEqual(shared.ratio(shared.best(eager, compiled), heed), 3.0)
        self.assertEqual(shared.ratio(shared.best(eager, {"milliseconds": 5.0}), heed), 2.5)
        self.assertIsNone(shared.ratio(shared.best(None, compiled), heed))

    def test_every_score_is_measured_full_and_causal_at_every_length(self):
        cases = attention.attention_cases()
        for score in attention.SCORES:
            for length in (128, 512, 2048):
                found = [c["causal"] for c in cases if (c["score"], c["length"], c["width"]) == (score, length, 32)]
                self.assertEqual(found, [False, True])
        self.assertEqual({c["width"] for c in cases if c["length"] == 8192}, {32, 64})

    def test_calls_that_wait_for_the_disk_are_added_up(self):
        summary = ("% time     seconds  usecs/call     calls    errors syscall\n"
                   "------ ----------- ----------- --------- --------- ----------------\n"
                   " 93.71    0.004527           7       601           fsync\n"
                   "  3.29    0.000159           4        33         2 fdatasync\n"
                   "  3.00    0.000145           1       100           read\n"
                   "------ ----------- ----------- --------- --------- ----------------\n"
                   "100.00    0.004831           6       734         2 total\n")
        self.assertEqual(sweeps.synchronised(summary), 634)
        self.assertEqual(sweeps.synchronised(""), 0)

    def test_a_hundred_arms_are_as_many_models(self):
        values = [line.split("=")[1].count('"') // 2 for line in sweeps.MODELS.splitlines()]
        self.assertEqual(values[0] * values[1] * values[2], 100)

    def test_commands_say_what_they_took(self):
        program = "import time\nx = bytearray(60_000_000)\ntime.sleep(0.3)"
        took = shared.taken([sys.executable, "-c", program], watched=True)
        self.assertGreater(took.wall, 0.3)
        self.assertGreater(min(took.peak, took.memory, took.own), 60_000_000)
        self.assertEqual(shared.taken(["true"]).memory, 0)
        with self.assertRaisesRegex(Failure, "ended with 1: no way"):
            shared.taken([sys.executable, "-c", "raise SystemExit('no way')"])

    def test_goals_are_met_or_not_or_missing(self):
        made_up = {
            "decoders": [
                {"attention": "luong", "width": 64, "length": 256, "own": 2.5, "heed": {"milliseconds": 10.0},
                 "eager": {"milliseconds": 61.0}},
                {"attention": "luong", "width": 256, "length": 64, "own": 1.0, "heed": {"milliseconds": 10.0}}],
            "sweeps": {"commands": [{"what": "heed report", "cpu": 0.3}], "run": {"synchronised": None}},
            "evaluation": {"missing": "an evaluation failed"}}
        some = [Goal("attention's own", "12x", 2, goals.own_attention("luong", 256)),
                Goal("to PyTorch", "3.8x", 6, goals.decoder_to_peer("luong", 64, 256), larger=True),
                Goal("a bar that is just met", "-", 0.3, goals.command("heed report"), goals.SECONDS),
                Goal("without PyTorch", "-", 2.5, goals.decoder_to_peer("luong", 256, 64), larger=True),
                Goal("without a tool", "7", 7, goals.count_of_run("synchronised"), goals.COUNT),
                Goal("of another size", "-", 2, goals.own_attention("luong", 64)),
                Goal("one that failed", "0.8x", 1.3, goals.evaluation_to_peer, larger=True)]
        rows = [goal.row(made_up) for goal in some]
        self.assertEqual([row["met"] for row in rows], [False, True, True, None, None, None, None])
        self.assertEqual([row["measured"] for row in rows], [2.5, 6.1, 0.3, None, None, None, None])
        self.assertEqual(
            goals.table(rows, some),
            "what                    before            goal    here  met\n"
            "----------------------  ------  --------------  ------  ---\n"
            "attention's own            12x     up to 2.00x   2.50x   no\n"
            "to PyTorch                3.8x      from 6.00x   6.10x  yes\n"
            "a bar that is just met       -  up to 0.30 s *  0.30 s  yes\n"
            "without PyTorch              -      from 2.50x     (1)    -\n"
            "without a tool               7         up to 7     (2)    -\n"
            "of another size              -     up to 2.00x     (3)    -\n"
            "one that failed           0.8x      from 1.30x     (4)    -\n"
            "* Said of a core of a Zen 3; on another CPU the same share of the time before counts.\n"
            "(1) PyTorch's side is missing\n(2) there is no strace\n(3) it was not measured\n(4) an evaluation failed")

    def test_every_goal_has_a_figure_or_says_why_not(self):
        self.assertEqual({row["met"] for row in goals.rows({})}, {None})
        self.assertTrue(all(row["why"] for row in goals.rows({})))
        self.assertEqual(len({goal.what for goal in goals.GOALS}), len(goals.GOALS))

    def test_the_slower_mask_and_the_slowest_size_count(self):
        made_up = {
            "variants": [{"variant": "sum", "mask": "causal", "to_reference": 1.1},
                         {"variant": "sum", "mask": "full", "to_reference": 1.4}],
            "layers": [{"cell": "gru", "once": {"milliseconds": 2.0}, "eager": {"milliseconds": peer}}
                       for peer in (6.0, 3.0)],
            "planned memory": [{"planned": 95.0, "measured": 100.0}, {"planned": 150.0, "measured": 100.0}]}
        self.assertEqual(goals.to_reference("sum")(made_up), 1.4)
        self.assertEqual(goals.slowest_to_peer("gru", "layers")(made_up), 1.5)
        self.assertEqual(goals.furthest_memory(made_up), 0.5)
        with self.assertRaises(Missing):
            goals.to_reference("hard")(made_up)

    def test_tables_stand_in_columns(self):
        self.assertEqual(tables.table(["what", "ms"], [["a", "1.0"], ["longer", "22.0"]]),
                         "what      ms\n------  ----\na        1.0\nlonger  22.0")


if __name__ == "__main__":
    run_case(Driver)
