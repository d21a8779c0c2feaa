"""What tests in Python share: they print their points in the Test Anything Protocol, and run commands."""

import contextlib
import os
import subprocess
import sys
import time
import unittest

HANG = 1800  # seconds after which a command hangs, on whatever machine and whatever else that does


def until(holds, what):
    """Waits until `holds()` is true, and returns what it gave."""
    begin = time.monotonic()
    while not (found := holds()):
        assert time.monotonic() - begin < HANG, f"{what} did not come about in {HANG} s"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def timed():
    """With HEED_PROFILE set, prints how many CPU seconds its body takes, the processes that end in it included."""
    begin = os.times()
    yield
    if "HEED_PROFILE" in os.environ:
        print(f"# took {sum(os.times()[:4]) - sum(begin[:4]):.2f} s", flush=True)


class Points:
    def __init__(self):
        self.count = self.failed = 0

    @contextlib.contextmanager
    def point(self, what):
        """One point: it holds unless its body raises."""
        with timed():
            yield from self._point(what)

    def _point(self, what):
        self.count += 1
        try:
            yield
            print(f"ok {self.count} - {what}", flush=True)
        except (AssertionError, ValueError, OSError, KeyError, subprocess.SubprocessError) as problem:
            self.failed += 1
            print(f"not ok {self.count} - {what}")
            for line in explained(problem).splitlines():
                print("# " + line)

    def plan(self):
        print(f"1..{self.count}")


def explained(problem):
    text = f"{type(problem).__name__}: {problem}"
    for output in (getattr(problem, "stdout", None), getattr(problem, "stderr", None)):
        if output:
            text += "\n" + output
    return text


def run(command, timeout=HANG, **options):
    """Runs a command and returns what it printed; fails with its outputs unless its status is 0."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=timeout, **options).stdout


def attempt(command, **options):
    """Runs a command that may fail, and returns its status and outputs."""
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG, **options)


def run_case(case):
    """Runs the tests of a unittest.TestCase, a point each, and ends the program."""
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    failed = 0
    for number, test in enumerate(suite, 1):
        with timed():
            result = unittest.TestResult()
            test.run(result)
            good = result.wasSuccessful()
            failed += not good
            name = test.id().split(".")[-1].removeprefix("test_").replace("_", " ")
            print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
            for _, text in result.failures + result.errors:
                print("\n".join("# " + line for line in text.splitlines()))
    print(f"1..{suite.countTestCases()}")
    sys.exit(1 if failed else 0)
