"""Says which lines and branches of each room a coverage build's programs went through, by gcovr.

Usage: coverage.py --suites BUILD          the suites of C++ programs, one a line
       coverage.py GCOVR ROOT BUILD        a table; the pages with all lines are BUILD/coverage/index.html
Branches that only exceptions take don't count: the compiler makes one of nearly every call.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

FOLDERS = ["autograd", "options", "layers", "experiments"]


def suites(build):
    """Suites with a test whose command is one of the build's programs test_NAME."""
    tests = json.loads(pathlib.Path(build, "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    programs = [t for t in tests if pathlib.Path(t["cmd"][0]).name.startswith("test_")]
    return list(dict.fromkeys(suite.removeprefix("heed:") for test in programs for suite in test["suite"]))


def room(file):
    """The room that a file stands in, as docs/architecture.md lists them."""
    parts = pathlib.PurePath(file).parts
    return parts[0] + "/" if parts[0] != "experiments" else parts[1] + ("/" if len(parts) > 2 else "")


def measure(gcovr, root, build):
    """gcovr's summary of all files, as it writes it in JSON; beside it the pages."""
    pages = pathlib.Path(build, "coverage")
    pages.mkdir(exist_ok=True)
    summary = pages / "summary.json"
    subprocess.run(
        [gcovr, "--root", ".", "-j", str(len(os.sched_getaffinity(0))), "--filter", f"({'|'.join(FOLDERS)})/",
         "--exclude-throw-branches", "--exclude-unreachable-branches", "--json-summary", str(summary),
         "--html-details", str(pages / "index.html"), "--html-title", "Heed", build],
        cwd=root, check=True, stdout=subprocess.DEVNULL)
    return json.loads(summary.read_text(encoding="utf-8"))["files"]


def share(covered, total):
    return f"{100 * covered / total:6.1f} % of {total:6}" if total else f"{'none':>18}"


def main(gcovr, root, build):
    kinds = ["line_covered", "line_total", "branch_covered", "branch_total"]
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in measure(gcovr, root, build):
        for name in (room(file["filename"]), "all"):
            rooms[name] = [sum(pair) for pair in zip(rooms[name], (file[kind] for kind in kinds))]
    everything = rooms.pop("all", [0, 0, 0, 0])
    print(f"{'room':16}{'lines':>18}{'branches':>20}")
    for name, counts in sorted(rooms.items()) + [("all", everything)]:
        print(f"{name:16}{share(*counts[:2])}  {share(*counts[2:])}")
    print(f"{pathlib.Path(build, 'coverage', 'index.html')}")
    return 0 if everything[0] else 1


if __name__ == "__main__":
    if sys.argv[1] == "--suites":
        print("\n".join(suites(sys.argv[2])))
    else:
        sys.exit(main(*sys.argv[1:4]))
