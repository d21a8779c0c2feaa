"""Counts test cases in Meson's logs of test runs, and ends with the line `N passed, N failed`.

Usage: count.py TESTLOG.json ...

A Catch2 program counts as the test cases that its last line states, a TAP script as its points; a program that ended
without stating any (it crashed, or ran out of time) as one failure, and any other test as one.
The points of a TAP script that failed come before it, too, with what they say of why.
With HEED_LONG set, tables in the comments of TAP scripts (`# | ... |`) come before it.
With HEED_PROFILE set, so do the seconds that suites and the longest cases took: of Catch2 by the clock, of TAP scripts of
CPU time.
Exit status: 0 where something passed and nothing failed, else 1.
"""

import json
import os
import re
import sys


def catch2_counts(output):
    """(passed, failed) as a Catch2 program's summary states them, or None where there is no summary."""
    summaries = re.findall(r"^All tests passed \(.* in (\d+) test cases?\)", output, re.M)
    if summaries:
        return int(summaries[-1]), 0
    if re.search(r"^No tests ran", output, re.M):
        return 0, 1
    lines = re.findall(r"^test cases:(.*)$", output, re.M)
    if not lines:
        return None
    failed = re.search(r"(\d+) failed(?! as expected)", lines[-1])
    failed = int(failed.group(1)) if failed else 0
    total = int(re.search(r"\d+", lines[-1]).group())
    return total - failed, failed


def tap_counts(output):
    """(passed, failed) of a TAP script's points, or None where it has none."""
    points = re.findall(r"^(not ok|ok) \d+", output, re.M)
    return (points.count("ok"), points.count("not ok")) if points else None


def tables(output):
    """The lines of tables in a TAP script's comments, and the free lines between them."""
    lines = re.findall(r"^# ?(\|.*\||)$", output, re.M)
    return lines if any(lines) else []


def profile(test):
    """[(seconds, case)] of one entry of Meson's log."""
    output = test.get("stdout", "")
    cases = re.findall(r"^([\d.]+) s: (.*)", output, re.M)
    cases += [(seconds, case) for case, seconds in
              re.findall(r"^(?:not )?ok \d+ - (.*)(?:\n#.*)*?\n# took ([\d.]+) s$", output, re.M)]
    return [(float(seconds), case) for seconds, case in cases] or [(test["duration"], "as a whole")]


def print_profile(tests, longest=60):
    """By test program or script, and by case."""
    name_of = lambda test: test["name"].split(" / ")[-1]  # noqa: E731
    # Catch2 states sections as well, which are parts of their cases.
    total = lambda test: (test["duration"] if catch2_counts(test.get("stdout", "")) else  # noqa: E731
                          sum(seconds for seconds, _ in profile(test)))
    programs = sorted(((total(test), test["duration"], name_of(test), sum(counts(test))) for test in tests), reverse=True)
    print("seconds  by the clock  cases  test")
    for seconds, clock, name, count in programs:
        print(f"{seconds:7.1f}  {clock:12.1f}  {count:5}  {name}")
    cases = sorted(((seconds, name_of(test), case) for test in tests for seconds, case in profile(test)), reverse=True)
    print("seconds  case")
    for seconds, name, case in cases[:longest]:
        print(f"{seconds:7.1f}  {name}: {case}")


def failed_points(output):
    """The points of a TAP script that failed, each with the reason, which Meson doesn't print."""
    points = re.findall(r"^not ok .*(?:\n#.*)*", output, re.M)
    return [line for point in points for line in point.splitlines()[:40]]


def counts(test):
    """(passed, failed) of one entry of Meson's log."""
    output = test.get("stdout", "")
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if test["result"] == "SKIP":
        return 0, 0
    stated = catch2_counts(output) or tap_counts(output)
    if stated is None:
        return (1, 0) if good else (0, 1)
    passed, failed = stated
    # Passed every case, and failed after that: the failure has to be seen.
    return passed, failed if good or failed else 1


def main(logs):
    passed = failed = 0
    every = []
    for log in logs:
        try:
            with open(log, encoding="utf-8") as lines:
                tests = [json.loads(line) for line in lines if line.strip()]
        except OSError as problem:
            print(f"heed: no tests ran: {problem}", file=sys.stderr)
            return 1
        every += tests
        for test in tests:
            if os.environ.get("HEED_LONG"):
                for line in tables(test.get("stdout", "")):
                    print(line)
            ok, bad = counts(test)
            passed, failed = passed + ok, failed + bad
            if bad:
                print(f"failed: {test['name']} ({bad} of {ok + bad})")
                for line in failed_points(test.get("stdout", "")):
                    print(line)
    if os.environ.get("HEED_PROFILE"):
        print_profile(every)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
