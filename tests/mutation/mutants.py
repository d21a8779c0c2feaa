#!/usr/bin/env python3
"""Mutation testing: exchanges single tokens of the program, one at a time, and counts how many the tests notice.

    tests/mutation/mutants.py --count 200 --seed 1 --build build-mutants

Draws as many places from each of FOLDERS, builds one copy of the checkout with all of them, in which the environment
chooses one (switch.hpp), and runs the tests of the suites that concern it and evaluate it, the shortest first, until one
fails. BUILD/mutants.json holds what was found. `--again survivors` runs the tests for those only that were not caught,
after tests were added; `--again 17,23` for these.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import sources  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "tests/mutation/switch.hpp"

# The suites of each folder's mutants, those that catch most of them first.
FOLDERS = {
    "autograd": ["autograd", "layers", "models"],
    "layers": ["layers", "models"],
    "experiments/statistics": ["statistics"],
    "experiments/sweep": ["sweep", "command_line"],
    "experiments/runs": ["runs", "sweep", "command_line"],
}
LONGEST = 300  # seconds; tests that take longer are left out
MEMORY = 8 << 20  # KiB of addresses for a test


# ---- mutants -------------------------------------------------------------------------------------------------------

class Drawing:
    """Mutants of one seed: for each folder, its places in random order."""

    def __init__(self, root, folders, seed):
        self.sources, self.order, self.places = {}, {}, {}
        for folder in folders:
            found = []
            for path in sorted((root / folder).rglob("*.[ch]pp")):
                name = str(path.relative_to(root))
                self.sources[name] = sources.Source(name, path.read_text(encoding="utf-8"))
                found += self.sources[name].mutants()
            random.Random(f"{seed} {folder}").shuffle(found)
            self.order[folder], self.places[folder] = found, len(found)
        self.dropped = []

    def first(self, count):
        """The first `count` of each folder that are not dropped, numbered from 1."""
        dropped = {(m.file, m.token) for m in self.dropped}
        chosen = []
        for places in self.order.values():
            chosen += [m for m in places if (m.file, m.token) not in dropped][:count]
        for number, mutant in enumerate(chosen, 1):
            mutant.number = number
        return chosen

    def written(self, mutants):
        """{file: text} of the files with mutants."""
        by_file = {}
        for mutant in mutants:
            by_file.setdefault(mutant.file, []).append(mutant)
        return {file: self.sources[file].switched(some, HEADER) for file, some in by_file.items()}

    def blamed(self, mutants, output, tree):
        """The mutants that a compiler's errors are about: at their place or, else, at one that led there."""
        at = {}
        for mutant in mutants:
            for line in self.sources[mutant.file].lines_of(mutant):
                at.setdefault((mutant.file, line), []).append(mutant)
        blamed, context = {}, []
        for path, line, kind in re.findall(r"^(\S+?):(\d+):(?:\d+:)? +(.*)", output, re.M):
            file = os.path.relpath(os.path.normpath(os.path.join(tree.parent / "build", path)), tree)
            if kind.startswith(("note:", "warning:")):
                continue
            here = at.get((file, int(line)), [])
            context += here
            if "error:" in kind:
                for mutant in here or context:
                    blamed[mutant.number] = mutant
                context = []
        return list(blamed.values())


def folder_of(mutant):
    return next(folder for folder in FOLDERS if mutant.file.startswith(folder + "/"))


# ---- build ---------------------------------------------------------------------------------------------------------

def put(path, content):
    """Writes a file unless it is so already, so that ninja compiles what changed."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree(root, tree, changed):
    """The checkout's files, those with mutants changed."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    names = {name for name in listed if name and (root / name).is_file()}
    for name in names:
        put(tree / name, changed[name].encode() if name in changed else (root / name).read_bytes())
        shutil.copymode(root / name, tree / name)
    for path in [p for p in tree.rglob("*") if p.is_file() and str(p.relative_to(tree)) not in names]:
        path.unlink()


def tests_of(build, suites):
    """Meson's records of the suites' tests, in the suites' order."""
    tests = json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    return [test for suite in suites for test in tests if any(s.endswith(":" + suite) for s in test["suite"])]


def built(build, suites, jobs):
    """Builds what the suites need; returns the compiler's output where that fails."""
    files = {t["id"]: t["filename"] for t in json.loads((build / "meson-info/intro-targets.json").read_text())}
    needed = {os.path.relpath(file, build) for test in tests_of(build, suites)
              for target in test["depends"] for file in files[target]}
    done = subprocess.run(["ninja", "-C", build, "-j", str(jobs), "-k", "0", *sorted(needed)], capture_output=True,
                          text=True, check=False)
    return done.stdout if done.returncode else None


def prepare(drawing, count, place, jobs):
    """Builds the first `count` mutants of each folder that compile, and returns them."""
    tree, build = place / "tree", place / "build"
    suites = sorted({suite for folder in FOLDERS.values() for suite in folder})
    mutants = drawing.first(count + count // 5 + 1)  # some more, since some don't compile
    while True:
        copy_tree(ROOT, tree, drawing.written(mutants))
        if not (build / "build.ninja").exists():
            say("setting up the build folder")
            subprocess.run(["meson", "setup", build, tree, "-Dcpp_args=-Wno-narrowing -Werror=vla"], check=True,
                           capture_output=True)
        say(f"building {len(mutants)} mutants")
        output = built(build, suites, jobs)
        if output is None:
            break
        wrong = drawing.blamed(mutants, output, tree)
        if not wrong:
            sys.exit(output + "\nThe build failed, and none of the mutants is the reason.")
        say(f"{len(wrong)} of them do not compile:")
        for mutant in wrong:
            say(f"  {where(mutant)}")
        drawing.dropped += wrong
        mutants = [m for m in mutants if m not in wrong]
        for folder in FOLDERS:
            if sum(folder_of(m) == folder for m in mutants) < count:
                mutants = drawing.first(count + count // 5 + 1)
                break
    return [m for folder in FOLDERS for m in [m for m in mutants if folder_of(m) == folder][:count]]


# ---- tests ---------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Test:
    """A test case of Catch2, or a script."""
    suite: str
    name: str
    command: list
    environment: dict
    program: str  # what it is compiled to
    seconds: float = 0
    reaches: set = dataclasses.field(default_factory=set)


def tests_in(build, suite):
    """The tests of a suite, each a process of its own."""
    for record in tests_of(build, [suite]):
        environment = {"MALLOC_PERTURB_": "165"} | record["env"]
        command = [str(build / word) if word.startswith("./") else word for word in record["cmd"]]
        program = next(word for word in reversed(command) if word.startswith(str(build) + "/") and os.access(word, os.X_OK)
                       and pathlib.Path(word).suffix != ".py")
        if record["protocol"] == "tap":
            yield Test(suite, record["name"], command, environment, program)
            continue
        for name in test_cases(command[0]):
            only = re.sub(r'([\\,\[\]"*])', r"\\\1", name)
            yield Test(suite, f"{record['name']}: {name}", [*command, only, "--abort"], environment, program)


def test_cases(program):
    """The names of a Catch2 program's test cases, by version 2's words or version 3's."""
    for words in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        listed = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        names = [line.strip() for line in listed.stdout.splitlines() if line.strip()]
        if names:
            return [name for name in names if not name.startswith("[.")]
    sys.exit(f"{program} lists no tests")


# A test has processes of its own, and can write to a folder of its own only: a mutant may kill or delete anything.
FENCE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"] + \
    (["--map-root-user"] if os.geteuid() else [])
FENCED = """mount -o remount,bind,ro / && mount --bind "$TMPDIR" "$TMPDIR" && mount -o remount,bind,rw "$TMPDIR" &&
ulimit -v "$0" && exec "$@" """


def run(test, build, seconds, mutant=0, count=0):
    """Whether the test passes in this time, how long it took and, without a mutant, which of `count` it evaluates."""
    with tempfile.TemporaryDirectory(prefix="heed-mutant-") as folder:
        marks, output = pathlib.Path(folder, "reached"), pathlib.Path(folder, "output")
        marks.write_bytes(bytes(count + 1))
        switch = {"HEED_MUTANT": str(mutant)} if mutant else {"HEED_MUTANTS_REACHED": str(marks)}
        begin = time.monotonic()
        with output.open("w") as out:
            process = subprocess.Popen(
                [*FENCE, "sh", "-c", FENCED, str(MEMORY), *test.command], cwd=build, start_new_session=True,
                env=os.environ | test.environment | switch | {"TMPDIR": folder, "HOME": folder},
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
            try:
                passed = process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                passed = False
        passed = passed and not re.search(r"^not ok", output.read_text(errors="replace"), re.M)  # a script's point
        return passed, time.monotonic() - begin, {i for i, byte in enumerate(marks.read_bytes()) if byte}


def reached(build, mutants, jobs):
    """All tests of the suites that pass, with which mutants they evaluate. What was noted holds while a program does."""
    notes = build.parent / "reached.json"
    known = json.loads(notes.read_text(encoding="utf-8")) if notes.exists() else {}
    key = [[m.number, m.file, m.token, m.after] for m in mutants]
    tests = [test for suite in dict.fromkeys(sum(FOLDERS.values(), [])) for test in tests_in(build, suite)]
    stamps = {test.program: [os.stat(test.program).st_mtime_ns, key] for test in tests}
    count = max(m.number for m in mutants)
    good = []
    say(f"running {len(tests)} tests without mutants")

    def noted(test):
        entry = known.get(test.name)
        if entry and entry["stamp"] == stamps[test.program]:
            test.seconds, test.reaches = entry["seconds"], set(entry["reaches"])
            return entry["passed"]
        passed, test.seconds, test.reaches = run(test, build, LONGEST, count=count)
        return passed

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(noted, tests))
    for test, passed in zip(tests, results):
        if passed:
            good.append(test)
        else:
            say(f"left out, since it fails or takes {LONGEST} s without a mutant: {test.name}")
    notes.write_text(json.dumps({test.name: {
        "stamp": stamps[test.program], "seconds": test.seconds, "reaches": sorted(test.reaches), "passed": passed}
        for test, passed in zip(tests, results)}), encoding="utf-8")
    return good


def caught_by(mutant, tests, build):
    """The name of the first test that notices the mutant, or None, and how many evaluate it."""
    suites = FOLDERS[folder_of(mutant)]
    some = [test for test in tests if mutant.number in test.reaches and test.suite in suites]
    for test in sorted(some, key=lambda test: (suites.index(test.suite), test.seconds)):
        if not run(test, build, 30 + 10 * test.seconds, mutant.number)[0]:
            return test.name, len(some)
    return None, len(some)


# ---- what came out -------------------------------------------------------------------------------------------------

def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def where(mutant):
    return f"{mutant.file}:{mutant.line}:{mutant.column}: {mutant.before} -> {mutant.after or '(nothing)'}"


def report(results, places, dropped):
    print("| folder | places | tried | caught | |\n|---|---|---|---|---|")
    for folder in [*FOLDERS, "all"]:
        some = [r for r in results if folder in ("all", folder_of(r["mutant"]))]
        caught = sum(r["caught"] is not None for r in some)
        number = sum(places.values()) if folder == "all" else places[folder]
        if some:
            print(f"| `{folder}/` | {number} | {len(some)} | {caught} | {100 * caught / len(some):.1f} % |"
                  .replace("`all/`", "all"))
    print(f"{len(dropped)} more did not compile.")
    for r in results:
        if r["caught"] is None:
            print(f"survived: {r['mutant'].number} {where(r['mutant'])}, evaluated by {r['tests']} tests\n    {r['text']}")


def main(arguments=None):
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=200, help="how many mutants, an equal share of each folder")
    words.add_argument("--seed", type=int, default=1, help="another seed draws others")
    words.add_argument("--build", default="build-mutants", help="a folder for the copy, the build and the results")
    words.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    words.add_argument("--again", help="`survivors`, or numbers of mutants")
    asked = words.parse_args(arguments)
    place = pathlib.Path(asked.build).resolve()
    record = place / "mutants.json"
    place.mkdir(parents=True, exist_ok=True)
    if subprocess.run([*FENCE, "true"], check=False).returncode:
        sys.exit("mutants.py runs tests in namespaces of their own (unshare), which this system does not allow here")

    drawing = Drawing(ROOT, FOLDERS, asked.seed)
    past = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    if past.get("seed") == asked.seed:
        dropped = {(d["file"], d["line"], d["column"]) for d in past["dropped"]}
        drawing.dropped = [m for some in drawing.order.values() for m in some if (m.file, m.line, m.column) in dropped]
    mutants = prepare(drawing, asked.count // len(FOLDERS), place, asked.jobs)

    old = {where(sources.Mutant(**r["mutant"])): r for r in past.get("results", [])} if asked.again else {}
    numbers = asked.again.split(",") if asked.again and asked.again != "survivors" else []
    tests = reached(place / "build", mutants, asked.jobs)
    results = []

    def tried(mutant):
        before = old.get(where(mutant))
        wanted = str(mutant.number) in numbers if numbers else not before or before["caught"] is None
        if before and not wanted:
            return before | {"mutant": mutant}
        name, count = caught_by(mutant, tests, place / "build")
        say(f"{mutant.number} {where(mutant)}: {'caught by ' + name if name else 'survived'}")
        return {"mutant": mutant, "caught": name, "tests": count,
                "text": drawing.sources[mutant.file].mutated(mutant)}

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for result in pool.map(tried, mutants):
            results.append(result)
    record.write_text(json.dumps({
        "seed": asked.seed, "dropped": [dataclasses.asdict(m) for m in drawing.dropped],
        "results": [r | {"mutant": dataclasses.asdict(r["mutant"])} for r in results]}, indent=1), encoding="utf-8")
    report(results, drawing.places, drawing.dropped)


if __name__ == "__main__":
    main()
