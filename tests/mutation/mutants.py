#!/usr/bin/env python3
"""Mutation testing: exchanges single tokens of the program, one at a time, and counts how many the tests notice.

    tests/mutation/mutants.py --count 200 --seed 1 --build build-mutants

Draws as many places from each of FOLDERS, builds one copy of the checkout with all of them, in which the environment
chooses one (switch.hpp), and runs the tests of the suites that concern it and evaluate it, the shortest first, until one
fails. BUILD/mutants.json holds what was found. What is known there already is not tried
again, unless `--again` says so: `survivors`, after tests were added; `17,23` or `all`.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
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
COPY = "autograd/mutation_switch.hpp"  # where it is in the copy: the program's rooms include none of the tests'

# The suites of each folder's mutants, those that catch most of them first.
FOLDERS = {
    "autograd": ["autograd", "layers", "models"],
    "layers": ["layers", "models"],
    "experiments/statistics": ["statistics"],
    "experiments/metrics": ["metrics", "runs", "sweep", "report"],
    "experiments/sweep": ["sweep", "command_line"],
    "experiments/launch": ["launch", "sweep", "command_line"],
    "experiments/runs": ["runs", "launch", "sweep", "command_line"],
    "experiments/index": ["index", "sweep", "command_line"],
}
LONG = 5  # seconds: tests that take longer are run later
MEMORY = 8 << 20  # KiB of addresses for a test


# ---- mutants -------------------------------------------------------------------------------------------------------

class Drawing:
    """Mutants of one seed: for each folder, its places in random order."""

    def __init__(self, root, folders, seed):
        self.sources, self.identities, self.order, self.places = {}, {}, {}, {}
        for folder in folders:
            found = []
            for path in sorted((root / folder).rglob("*.[ch]pp")):
                name = str(path.relative_to(root))
                self.sources[name] = sources.Source(name, path.read_text(encoding="utf-8"))
                found += self.sources[name].mutants()
            self.order[folder], self.places[folder] = self._drawn(found, seed), len(found)
        self.dropped, self.absent = [], []  # those that don't compile, and those of which no program has code

    def known(self, identities):
        return [m for some in self.order.values() for m in some if self.identity(m) in set(identities)]

    def _drawn(self, found, seed):
        """In an order by chance, with exchanges by chance, that edits of other places don't change."""
        keys, seen = {}, {}
        for mutant in found:
            place = f"{mutant.file}: {self.sources[mutant.file].place(mutant)}"
            seen[place] = seen.get(place, 0) + 1
            key = hashlib.sha256(f"{seed} {place} {seen[place]}".encode()).digest()
            mutant.after = mutant.choices[key[-1] % len(mutant.choices)]
            what = f"{mutant.file}: {self.sources[mutant.file].mutated(mutant)}"
            seen[what] = seen.get(what, 0) + 1
            keys[mutant.token, mutant.file] = key
            self.identities[mutant.file, mutant.token] = f"{what} ({seen[what]})"
        return sorted(found, key=lambda m: keys[m.token, m.file])

    def identity(self, mutant):
        """What a mutant is recognised by when others have been edited."""
        return self.identities[mutant.file, mutant.token]

    def first(self, count):
        """The first `count` of each folder but those that are dropped. Each has a number of its own."""
        dropped = {(m.file, m.token) for m in self.dropped}
        chosen = []
        for folder, places in enumerate(self.order.values(), 1):
            for rank, mutant in enumerate(places[:count]):
                mutant.number = rank * len(self.order) + folder
                chosen += [mutant] if (mutant.file, mutant.token) not in dropped else []
        return chosen

    def written(self, mutants):
        """{file: text} of the files with mutants."""
        by_file = {}
        for mutant in mutants:
            by_file.setdefault(mutant.file, []).append(mutant)
        return {file: self.sources[file].switched(some, COPY) for file, some in by_file.items()}

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
    put(tree / COPY, (root / HEADER).read_bytes())
    for name in names:
        put(tree / name, changed[name].encode() if name in changed else (root / name).read_bytes())
        shutil.copymode(root / name, tree / name)
    for path in [p for p in tree.rglob("*") if p.is_file() and str(p.relative_to(tree)) not in {*names, COPY}]:
        path.unlink()


def tests_of(build, suites):
    """Meson's records of the suites' tests, in the suites' order."""
    tests = json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    return [test for suite in suites for test in tests if any(s.endswith(":" + suite) for s in test["suite"])]


def programs_of(build, suites):
    """What the suites need, as paths within the build folder."""
    files = {t["id"]: t["filename"] for t in json.loads((build / "meson-info/intro-targets.json").read_text())}
    return sorted({os.path.relpath(file, build) for test in tests_of(build, suites)
                   for target in test["depends"] for file in files[target]})


def built(build, programs, jobs):
    """The compiler's output where it fails, else None."""
    done = subprocess.run(["ninja", "-C", build, "-j", str(jobs), "-k", "0", *programs], capture_output=True, text=True,
                          check=False)
    return done.stdout if done.returncode else None


def present(build, programs):
    """The numbers of the mutants that the programs have code of (switch.hpp)."""
    numbers = set()
    for program in programs:
        shown = subprocess.run(["objdump", "-s", "-j", ".heed_mutants", build / program], capture_output=True, text=True,
                               check=False).stdout
        rows = re.findall(r"^ [0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", shown, re.M)
        numbers.update(map(int, bytes.fromhex("".join(rows).replace(" ", "")).split()))
    return numbers


def prepare(drawing, count, place, jobs):
    """Builds the first `count` mutants of each folder that compile to anything, and returns them."""
    tree, build = place / "tree", place / "build"
    suites = sorted({suite for folder in FOLDERS.values() for suite in folder})
    drawn = count + count // 4 + 1  # some more, since some don't compile
    while True:
        mutants = drawing.first(drawn)
        some = [[m for m in mutants if folder_of(m) == folder and m not in drawing.absent][:count]
                for folder in FOLDERS]
        if min(map(len, some)) < count and drawn < max(drawing.places.values()):
            drawn += 1
            continue
        copy_tree(ROOT, tree, drawing.written(mutants))
        if not (build / "build.ninja").exists():
            say("setting up the build folder")
            subprocess.run(["meson", "setup", build, tree, "-Dcpp_args=-Wno-narrowing -Werror=vla"], check=True,
                           capture_output=True)
        programs = programs_of(build, suites)
        say(f"building {len(mutants)} mutants")
        output = built(build, programs, jobs)
        if output is None:
            there = present(build, programs)
            absent = [m for m in mutants if m.number not in there and m not in drawing.absent]
            if not absent:
                return sum(some, [])
            say(f"no program has code of {len(absent)} of them:")
            drawing.absent += absent
        else:
            absent = drawing.blamed(mutants, output, tree)
            if not absent:
                sys.exit(output + "\nThe build failed, and none of the mutants is the reason.")
            say(f"{len(absent)} of them do not compile:")
            drawing.dropped += absent
        for mutant in absent:
            say(f"  {where(mutant)}")


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
        program = next((word for word in reversed(command) if word.startswith(str(build) + "/") and
                        os.access(word, os.X_OK) and pathlib.Path(word).suffix != ".py"), None)
        if program is None:
            continue  # a test of scripts
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


def fence_works():
    """Whether this system lets us have what a test runs in."""
    with tempfile.TemporaryDirectory(prefix="heed-mutant-") as folder:
        return not subprocess.run([*FENCE, "sh", "-c", FENCED, str(MEMORY), "true"], check=False, capture_output=True,
                                  env=os.environ | {"TMPDIR": folder}).returncode


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


def reached(build, mutants, jobs, longest):
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
        if entry and entry["stamp"] == stamps[test.program] and (entry["passed"] or entry["longest"] >= longest):
            test.seconds, test.reaches = entry["seconds"], set(entry["reaches"])
            return entry["passed"]
        passed, test.seconds, test.reaches = run(test, build, longest, count=count)
        return passed

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(noted, tests))
    for test, passed in zip(tests, results):
        if passed:
            good.append(test)
        else:
            say(f"left out, since it fails or takes {longest} s without a mutant: {test.name}")
    notes.write_text(json.dumps({test.name: {
        "stamp": stamps[test.program], "seconds": test.seconds, "reaches": sorted(test.reaches), "passed": passed,
        "longest": longest}
        for test, passed in zip(tests, results)}), encoding="utf-8")
    return good


def caught_by(mutant, tests, build, long):
    """The name of the first test that notices the mutant, or None: of those that take long, or of the others."""
    suites = FOLDERS[folder_of(mutant)]
    some = [test for test in concerning(mutant, tests) if (test.seconds > LONG) == long]
    for test in sorted(some, key=lambda test: (suites.index(test.suite), test.seconds)):
        if not run(test, build, 10 + 10 * test.seconds, mutant.number)[0]:
            return test.name
    return None


def concerning(mutant, tests):
    return [test for test in tests if mutant.number in test.reaches and test.suite in FOLDERS[folder_of(mutant)]]


# ---- what came out -------------------------------------------------------------------------------------------------

def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def where(mutant):
    return f"{mutant.file}:{mutant.line}:{mutant.column}: {mutant.before} -> {mutant.after or '(nothing)'}"


def report(mutants, fates, drawing):
    print("| folder | places | tried | caught | |\n|---|---|---|---|---|")
    for folder in [*FOLDERS, "all"]:
        some = [m for m in mutants if folder in ("all", folder_of(m))]
        caught = sum(fates[m.number]["caught"] is not None for m in some)
        places = sum(drawing.places.values()) if folder == "all" else drawing.places[folder]
        name = "all" if folder == "all" else f"`{folder}/`"
        print(f"| {name} | {places} | {len(some)} | {caught} | {100 * caught / max(len(some), 1):.1f} % |")
    print(f"{len(drawing.dropped)} more did not compile, and no program has code of {len(drawing.absent)}.")
    for mutant in mutants:
        if not fates[mutant.number]["caught"]:
            print(f"survived: {mutant.number} {where(mutant)}, evaluated by {fates[mutant.number]['tests']} tests\n"
                  f"    {drawing.sources[mutant.file].mutated(mutant)}")


def main(arguments=None):
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=200, help="how many mutants, an equal share of each folder")
    words.add_argument("--seed", type=int, default=1, help="another seed draws others")
    words.add_argument("--build", default="build-mutants", help="a folder for the copy, the build and the results")
    words.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    words.add_argument("--longest", type=int, default=300, help="tests that take more seconds are left out")
    words.add_argument("--again", default="", help="`survivors`, `all` or numbers of mutants: tests are run once more")
    asked = words.parse_args(arguments)
    place = pathlib.Path(asked.build).resolve()
    record = place / "mutants.json"
    place.mkdir(parents=True, exist_ok=True)
    if not fence_works():
        sys.exit("mutants.py runs tests in namespaces of their own (unshare), which this system does not allow here")

    drawing = Drawing(ROOT, FOLDERS, asked.seed)
    past = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    drawing.dropped = drawing.known(past.get("dropped", []))
    mutants = prepare(drawing, asked.count // len(FOLDERS), place, asked.jobs)
    tests = reached(place / "build", mutants, asked.jobs, asked.longest)

    # What is known of each: the test that caught it, or which of the short and the long tests did not.
    fates = {}
    for mutant in mutants:
        before = past.get("fates", {}).get(drawing.identity(mutant))
        again = asked.again == "all" or str(mutant.number) in asked.again.split(",") or \
            asked.again == "survivors" and before and before["caught"] is None
        fates[mutant.number] = before if before and not again else {"caught": None, "passed": []}
        fates[mutant.number] |= {"tests": len(concerning(mutant, tests))}

    def written():
        record.write_text(json.dumps({
            "dropped": [drawing.identity(m) for m in drawing.dropped],
            "absent": [drawing.identity(m) for m in drawing.absent],
            "fates": past.get("fates", {}) | {drawing.identity(m): fates[m.number] for m in mutants}}, indent=1),
            encoding="utf-8")

    def tried(mutant, long):
        fate = fates[mutant.number]
        fate["caught"] = caught_by(mutant, tests, place / "build", long)
        fate["passed"].append(long)
        if fate["caught"] or long:
            say(f"{mutant.number} {where(mutant)}: {'caught by ' + fate['caught'] if fate['caught'] else 'survived'}")

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for long in (False, True):
            some = [m for m in mutants if not fates[m.number]["caught"] and long not in fates[m.number]["passed"]]
            say(f"running the {'long' if long else 'short'} tests of {len(some)} mutants")
            for _ in concurrent.futures.as_completed([pool.submit(tried, mutant, long) for mutant in some]):
                written()
    written()
    report(mutants, fates, drawing)


if __name__ == "__main__":
    main()
