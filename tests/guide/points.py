"""Prints the points of a test in the Test Anything Protocol."""

import contextlib
import subprocess


class Points:
    def __init__(self):
        self.count = 0

    @contextlib.contextmanager
    def point(self, what):
        """One point: it holds unless its body raises."""
        self.count += 1
        try:
            yield
            print(f"ok {self.count} - {what}", flush=True)
        except (AssertionError, ValueError, OSError, KeyError, subprocess.SubprocessError) as problem:
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


def run(command, **options):
    """Runs a command and returns what it printed; fails with its outputs unless its status is 0."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240, **options).stdout
