"""Says what has to be built for some of the tests: one target of ninja a line.

Usage: targets.py BUILD WORD ...     suites and names of tests; words that are neither don't count
Prints nothing where that is unknown, so that everything is to be built: no word is a suite or a test.
"""

import json
import pathlib
import sys


def main(build, words):
    info = pathlib.Path(build, "meson-info")
    tests = json.loads((info / "intro-tests.json").read_text(encoding="utf-8"))
    files = {t["id"]: t["filename"] for t in json.loads((info / "intro-targets.json").read_text(encoding="utf-8"))}
    wanted = [t for t in tests if t["name"] in words or any(f"heed:{word}" in t["suite"] for word in words)]
    needed = {file for test in wanted for target in test["depends"] for file in files[target]}
    # Without a target ninja would build everything; a test that needs nothing built gets its folder's own file.
    for file in sorted(needed) or (["build.ninja"] if wanted else []):
        print(pathlib.Path(file).relative_to(pathlib.Path(build).resolve()) if pathlib.Path(file).is_absolute() else file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
