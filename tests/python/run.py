"""Runs pytest on the tests of the Python package, and prints a point for each in the Test Anything Protocol.

Usage: run.py torch|others [ARGUMENT OF PYTEST ...]      torch: the files test_torch*.py
"""

import collections
import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from tap import timed  # noqa: E402


class Points:
    """A pytest plugin: one point for each test of a group."""

    def __init__(self, group):
        self.count = 0
        self.group = group

    def pytest_ignore_collect(self, collection_path):
        is_torch = collection_path.name.startswith("test_torch")
        return True if collection_path.is_file() and is_torch != (self.group == "torch") else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        with timed():
            return (yield)

    def _print(self, kind, name, detail=""):
        self.count += 1
        print(f"{kind} {self.count} - {name}", flush=True)
        for line in detail.splitlines():
            print("# " + line, flush=True)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.replace("#", "")
        if report.failed:
            self._print("not ok", f"{name} ({report.when})", str(report.longrepr))
        elif report.skipped:
            self._print("ok", f"{name} # SKIP {report.longrepr[2] if isinstance(report.longrepr, tuple) else ''}")
        elif report.when == "call":
            self._print("ok", name)

    def pytest_collection_modifyitems(self, config, items):
        """Under sanitizers, which make code ten times as slow, a test with many cases runs one in eight of them. Notebooks
        and figures, which are not Heed's, are left out."""
        if "HEED_INSTRUMENTED" in os.environ:
            not_ours = ("test_docs", "test_figures")
            items[:] = [item for item in items if not item.path.stem.startswith(not_ours)]
            cases, chosen, others = collections.Counter(), [], []
            for item in items:
                test = item.nodeid.split("[")[0]
                (others if cases[test] % 8 else chosen).append(item)
                cases[test] += 1
            items[:] = chosen
            config.hook.pytest_deselected(items=others)

    def pytest_collectreport(self, report):
        if report.failed:
            self._print("not ok", f"{report.nodeid} (read)", str(report.longrepr))


def main(group, *arguments):
    points = Points(group)
    folder = pathlib.Path(__file__).parent
    status = pytest.main([str(folder), "-p", "no:terminal", "-p", "no:cacheprovider", f"--rootdir={folder}", *arguments],
                         plugins=[points])
    print(f"1..{points.count}")
    return 0 if status in (0, 1) and points.count else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
