"""Which tests a change can affect. Usage: changed.py BUILD BASE

Changed is what differs from the commit BASE, and what git does not know. The rules:

  a source or header of the program   the tests whose own sources include its room, or a room above it, and the scripts
                                      that run the program
  the file of a variant               of these, only the test files and scripts that name it, or that go over all of its
                                      family, where they try what has it (HEED_VARIANTS), and the guide's generated
                                      pages; but if it is some option's default, as for other files
  a test file in C++                  its own cases
  a script, or what it imports        the script
  pages, configurations, fixtures     the tests that read them, by the table READS, or that name the file
  anything else                       all tests

Prints `NAME=VALUE` for the environment, then the names of the tests, a line each; or `all`. On the standard error it
prints the reasons, each with its tests.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from sources import ROOT, included, included_at_once  # noqa: E402

PROGRAM = ("autograd", "options", "layers", "experiments")

# Tests that read files of the checkout that nothing else shows: names of tests or suites, and how the paths begin.
READS = {
    "architecture": [""],
    "guide": ["docs/", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "configs/"],
    "install": ["docs/", "configs/", "README.md"],
    "browser": ["configs/"],
    "launcher": ["heed", "tests/count.py", "tests/targets.py", "tests/changed.py", "tests/sources.py",
                 "tests/ccache_clang"],
    "benchmarks": ["benchmarks/"],
    "mutation": ["tests/mutation/"],
    "fuzz": ["tests/fuzz/corpus/"],
    "completion": ["configs/"],
}
# What no test of these reads.
UNREAD = (".ci/", "python/", "tests/python/", ".clang", ".git", "LICENSE", "tests/tidy.py", "tests/style.py", "tests/coverage.py", "tests/peers/",
          "benchmarks/")


class Unsure(Exception):
    """All tests have to run; the reason."""


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"heed: git says of --changed: {done.stderr.strip()}")
    return done.stdout.splitlines()


def changed_files(base):
    return sorted({*git("diff", "--name-only", "--no-renames", base, "--"),
                   *git("ls-files", "--others", "--exclude-standard")})


def room(file):
    """The room of a file of the program, such as `layers` or `experiments/report`; None of other files."""
    parts = pathlib.PurePath(file).parts
    if not parts or parts[0] not in PROGRAM:
        return None
    return "/".join(parts[:2]) if parts[0] == "experiments" and len(parts) > 2 else parts[0]


@functools.cache
def rooms_below():
    """{room: the rooms that it includes, directly or not, and itself}"""
    direct = {}
    for top in PROGRAM:
        for file in (ROOT / top).rglob("*.?pp"):
            here = room(file.relative_to(ROOT))
            direct.setdefault(here, set()).update(
                room(header.relative_to(ROOT)) or here for header in included_at_once(file, ()))
    for here in list(direct):
        seen, left = set(), [here]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += direct.get(one, ())
        direct[here] = seen
    return direct


class Test:
    """One of Meson's tests: the files that are its own, and the rooms of the program that it goes through."""

    def __init__(self, described, build, programs):
        self.name, self.suite = described["name"], described["suite"][0].partition(":")[2]
        own = [programs[target] for target in described["depends"] if target in programs]
        self.runs_heed = build / "heed" in own
        words = [pathlib.Path(build, word).resolve() for word in described["cmd"]]
        scripts = [word for word in words if word.is_file() and word.is_relative_to(ROOT / "tests")]
        self.files = set()
        for script in scripts:
            self.files |= imports(script)
        self.sources = set()
        if not scripts:
            for program in own:
                self.sources |= sources_of(program, build)
        self.files |= self.sources
        for source in self.sources:
            self.files |= {file for file in included(source, [build]) if file.is_relative_to(ROOT)}
        self.rooms = set(rooms_below()) if self.runs_heed else set()
        for file in self.files:
            self.rooms |= rooms_below().get(room(file.relative_to(ROOT)), set())

    @functools.cached_property
    def text(self):
        """Of its own files in tests/."""
        return {file: file.read_text(encoding="utf-8", errors="replace") for file in sorted(self.files)
                if file.is_relative_to(ROOT / "tests")}

    def naming(self, word, more="(?!)"):
        return [file for file, text in self.text.items() if re.search(rf"\b{re.escape(word)}\b|{more}", text)]

    def reads(self, name):
        return any(name.startswith(start) for key in (self.name, self.suite) for start in READS.get(key, ()))


def imports(script):
    """A script and the modules of tests/ that it imports, directly or not."""
    found, left = set(), [script]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            text = file.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(r"^\s*(?:from|import) (\w+)", text, re.M):
                left += [place for folder in (file.parent, ROOT / "tests", ROOT / "tests" / "endurance")
                         if (place := folder / f"{name}.py").is_file()][:1]
    return found


def sources_of(program, build):
    """The sources in tests/ that a program is linked from."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "inputs", str(program.relative_to(build))], check=True,
                            capture_output=True, text=True).stdout
    found = set()
    for line in listed.splitlines():
        file = (build / line).resolve()
        if file.suffix == ".cpp" and file.is_relative_to(build):        # joined sources
            found |= {ROOT / name for name in re.findall(r'^#include "(tests/.*\.cpp)"', file.read_text(encoding="utf-8"),
                                                         re.M)}
        elif file.suffix == ".cpp" and file.is_relative_to(ROOT / "tests"):
            found.add(file)
    return found


@functools.cache
def variants(build):
    """{file: (its word, the function that lists its family)} of variants that are no option's default."""
    heed = build / "heed"
    if not heed.is_file():
        return {}
    stated = subprocess.run([str(heed), "options", "--json"], capture_output=True, text=True, check=False).stdout
    defaults = set(re.findall(r'"default": ?"(\w+)"', stated))
    found = {}
    for table in [*(build / "layers").glob("*_table.cpp"), *(build / "experiments").glob("*_table.cpp")]:
        text = table.read_text(encoding="utf-8")
        header = re.search(r'#include "(.*)"', text)[1]
        function = re.search(r"> (\w+)\(\) {", text)[1]
        for record in re.findall(r"^extern const \w+ (\w+);", text, re.M):
            for file in (ROOT / header).parent.rglob("*.cpp"):
                if record.endswith("_" + file.stem) and file.stem not in defaults:
                    found[str(file.relative_to(ROOT))] = (file.stem, function)
    return found


def affected(tests, changed, build):
    """({test: why}, the words of variants, the test files of which only these cases count)"""
    why, words, files = {}, set(), set()
    of_variants = variants(build) if any(room(name) for name in changed) else {}
    narrow = all(name in of_variants or name.endswith("_test.cpp") or not room(name) and not name.startswith("tests/")
                 for name in changed)
    for name in changed:
        path = ROOT / name
        if path.name == "meson.build" or path.parent.name == "pch":
            raise Unsure(f"{name} is a part of many programs")
        for test in tests:
            reason = None
            if test.reads(name):
                reason = f"{name} is read by"
            elif name in of_variants and narrow:
                word, function = of_variants[name]
                words.add(word)
                naming = test.naming(word, rf"\b{function}\(\)|\b(?:family_places|\w*families)\(\)")
                if test.name == "guide":
                    reason = f"{word} has a page, which is held to the program by"
                elif test.suite == room(name):
                    reason = f"{word} is tried beside all others by"
                elif naming:
                    reason = f"{word} is named by"
                if reason and test.sources:
                    named = {file.stem for file in naming if file.suffix == ".cpp"}
                    files |= {file.stem for file in test.sources} if test.suite == room(name) or not named else named
            elif room(name):
                if room(name) in test.rooms:
                    reason = f"{name} is of the room {room(name)}, which is used by"
            elif path in test.files:
                reason = f"{name} is a part of"
                if narrow and name.endswith("_test.cpp"):
                    files.add(path.stem)
            elif name.startswith("tests/fixtures/"):
                if test.naming(path.stem) or test.naming(path.parent.name):
                    reason = f"{path.stem} is named by"
            if reason:
                why.setdefault(test, reason)
        known = (room(name) or name.startswith(UNREAD) or any(test.reads(name) and test.suite != "architecture" or
                                                              path in test.files for test in tests)
                 or name.startswith("tests/fixtures/") and any(test.naming(path.stem) for test in tests)
                 or path.suffix == ".md" or not path.exists() and path.suffix in (".cpp", ".hpp", ".py"))
        if not known:
            raise Unsure(f"nothing says which tests {name} can affect")
    return why, words, files if narrow else set()


def tests_of(build):
    """Those of a build folder, but for the Python package's, which only run where their suite is named."""
    info = build / "meson-info"
    programs = {target["id"]: pathlib.Path(target["filename"][0])
                for target in json.loads((info / "intro-targets.json").read_text(encoding="utf-8"))
                if target["type"] == "executable"}
    tests = [Test(described, build, programs)
             for described in json.loads((info / "intro-tests.json").read_text(encoding="utf-8"))]
    return [test for test in tests if test.suite != "python"]


def main(build, base):
    build = pathlib.Path(build).resolve()
    changed = changed_files(base)
    if not changed:
        print(f"heed: nothing has changed since {base}; --changed COMMIT compares with another commit", file=sys.stderr)
        return
    tests = tests_of(build)
    if any(name.startswith(("python/", "tests/python/", *PROGRAM)) for name in changed):
        print("heed: the Python package may be affected, too: ./heed test python", file=sys.stderr)
    try:
        why, words, files = affected(tests, changed, build)
    except Unsure as unsure:
        print(f"heed: all tests: {unsure}", file=sys.stderr)
        print("all")
        return
    print(f"heed: {len(why)} of {len(tests)} tests, for {len(changed)} changed files", file=sys.stderr)
    for reason in dict.fromkeys(why.values()):
        names = ", ".join(test.name for test in why if why[test] == reason)
        print(f"heed:   {reason}: {names}", file=sys.stderr)
    if words:
        print("HEED_VARIANTS=" + " ".join(sorted(words)))
    if files:
        print("HEED_TEST_FILES=" + " ".join(sorted(files)))
    for test in why:
        print(test.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
