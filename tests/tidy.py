"""Has clang-tidy look at the program's sources, in float32. Exit status: 0 where it finds nothing, else 1.

Usage: tidy.py CLANG_TIDY BUILD

Most of clang-tidy's time goes into headers, which it walks through anew for each source. So sources are read together,
many as one, where no names of their own collide.
A source in which nothing was found is not read again until something changes: the source, what it includes, the packages
of libraries, or what is looked for. The record is ~/.cache/heed/tidy.txt; without it, all sources are read.
Versions of clang-tidy differ in what they find. So another than Debian 12's checks nothing, and says so.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from sources import ROOT, included  # noqa: E402

VERSION = "14"
RECORDS = 20000                 # lines of the record, at most; the oldest go first
TOGETHER = 16                   # sources read as one, at most


def of_the_program(build):
    """The program's sources, and the options that they are compiled with, taken together."""
    files, options = [], []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        words = shlex.split(entry["command"])
        if any(re.match(r"-DHEED_REAL=(?!f32$)", word) for word in words):
            continue
        if "nanobind" in file.parts:
            continue
        joined = re.findall(r'^#include "(.*\.cpp)"', file.read_text(encoding="utf-8"), re.M)
        if not joined and file.is_relative_to(ROOT) and not file.is_relative_to(build):
            joined = [str(file.relative_to(ROOT))]
        joined = [file for file in joined if not file.startswith(("tests/", "benchmarks/")) and "float64" not in file]
        if not joined:
            continue
        files += joined
        options += [word for word in words if re.match(r"-(I|D|isystem|std=|march=)", word) and not re.match(r"-I.*\.p$", word)]
    return list(dict.fromkeys(files)), list(dict.fromkeys(options))


def declared(line):
    """Names that a line which begins in the first column declares."""
    plain = re.match(r"(?:#define |using (?!namespace))(\w+)", line)
    if plain:
        return [plain.group(1)]
    if not re.match(r"\w", line) or line.startswith(("namespace", "using", "extern", "return")):
        return []
    line = re.sub(r"^template <.*?> (?=\w)", "", line)
    if line.startswith("constexpr "):
        return re.findall(r"\w+(?= = )", line)
    return re.findall(r"\w+(?=(?:\[\w*\])*\s*(?:,|$))", re.split(r"[({=;]| : | final", line)[0])


@functools.cache
def declared_in(header):
    return set().union(*map(declared, header.read_text(encoding="utf-8").splitlines()))


@functools.cache
def header_names(file):
    """Names that the project's headers declare which a file includes, directly or not."""
    return set().union(*map(declared_in, included(ROOT / file)))


def own_names(file):
    """Names in a source's unnamed namespaces, and what else it has for itself alone."""
    names, unnamed = set(), False
    text = re.sub(r",\n +", ", ", (ROOT / file).read_text(encoding="utf-8"))
    for line in text.splitlines():
        if line.startswith(("namespace {", "} // namespace")):
            unnamed = line.startswith("namespace {")
        elif unnamed or line.startswith(("static ", "constexpr ", "using ", "#define ")):
            names.update(declared(line))
        elif line.startswith("#include") and "blas" in line:
            names.add("blas")       # two declarations of one library, which exclude each other
    return names - header_names(file)


def batches(files):
    """Few lists of sources that can be read as one."""
    lists = []
    for file in sorted(files):      # neighbours read the same headers
        own, headers = own_names(file), header_names(file)
        for batch in lists:
            if len(batch.files) < TOGETHER and not own & (batch.own | batch.headers) and not batch.own & headers:
                break
        else:
            batch = types.SimpleNamespace(files=[], own=set(), headers=set())
            lists.append(batch)
        batch.files.append(file)
        batch.own |= own
        batch.headers |= headers
    return [batch.files for batch in lists]


class Record:
    """The sources in which nothing was found, each by the hash of all that was read for it."""

    def __init__(self, build, options, stated):
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.file = cache / "heed" / "tidy.txt"
        # A checkout may be anywhere.
        words = [word.replace(str(build), "BUILD").replace(str(ROOT), "ROOT") for word in options]
        self.folders = [folder for word in options if word.startswith("-I")
                        if (folder := (build / word[2:]).resolve()).is_relative_to(ROOT)]
        packages = []           # libraries are known by their packages
        if shutil.which("dpkg-query"):
            listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n"], check=True,
                                    capture_output=True, text=True).stdout
            packages = [line for line in listed.splitlines() if re.match(r"\S+-dev(:\S+)? ", line)]
        self.usable = bool(packages)
        self.common = "\n".join([stated, *words, *packages, (ROOT / ".clang-tidy").read_text(encoding="utf-8"),
                                 pathlib.Path(__file__).read_text(encoding="utf-8")])
        self.clean = []
        if self.usable and self.file.is_file():
            self.clean = self.file.read_text(encoding="utf-8").split()
        self.known = set(self.clean)

    @functools.cache
    def key(self, file):
        whole = hashlib.sha256(self.common.encode())
        for part in [ROOT / file, *sorted(included(ROOT / file, self.folders))]:
            whole.update(part.name.encode() + b"\0" + self.digest(part))
        return whole.hexdigest()

    @functools.cache
    def digest(self, file):
        return hashlib.sha256(file.read_bytes()).digest()

    def is_clean(self, file):
        return self.usable and self.key(file) in self.known

    def add(self, files):
        """To be called for sources in which nothing was found."""
        if self.usable:
            new = [self.key(file) for file in files]
            self.clean = ([key for key in self.clean if key not in set(new)] + new)[-RECORDS:]
            self.file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self.file.with_suffix(f".{os.getpid()}")
            temporary.write_text("\n".join(self.clean) + "\n", encoding="utf-8")
            temporary.replace(self.file)


def findings(program, build, options, number, files):
    """What is found in some sources: {first line: all lines}."""
    whole = build / "tidy" / f"{number}.cpp"
    whole.parent.mkdir(exist_ok=True)
    whole.write_text("".join(f'#include "{ROOT / file}"\n' for file in files), encoding="utf-8")
    run = subprocess.run([program, f"--config-file={ROOT / '.clang-tidy'}", "--quiet", str(whole), "--", *options],
                         cwd=build, capture_output=True, text=True, check=False)
    if run.returncode and not run.stdout:
        sys.exit(run.stderr)
    text = run.stdout.replace(f"{ROOT}/", "").replace("../", "")
    parts = re.split(r"^(?=\S+?:\d+:\d+: (?:warning|error): )", text, flags=re.M)
    return {part.split("\n", 1)[0]: part for part in parts if part.strip()}


def main(program, build):
    stated = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)", stated).group(1)
    if version != VERSION:
        print(f"skipped: this is clang-tidy {version}, which finds other things than {VERSION}, which counts")
        return 0
    build = pathlib.Path(build).resolve()
    every, options = of_the_program(build)
    record = Record(build, options, stated)
    files = [file for file in every if not record.is_clean(file)]
    found = {}
    together = batches(files)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for batch, some in zip(together, pool.map(lambda pair: findings(program, build, options, *pair),
                                                  enumerate(together)), strict=True):
            found |= some           # of a header's, which several report, one
            if not some:
                record.add(batch)   # at once: the others may have findings, or be interrupted
    record.add([file for file in every if record.is_clean(file)])  # the oldest go first
    print("".join(found.values()), end="")
    print(f"{len(every)} sources, {len(every) - len(files)} of them unchanged since nothing was found in them, "
          f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
