#!/usr/bin/env python3
"""Measures the build: CPU seconds of a clean build of `heed`, by room, and of what an edit of one file builds anew.

Usage: benchmarks/build.py [--against REVISION] [--edits] [FILE ...]

  --against REVISION  the same of another revision, in turns, with the ratio
  --edits             also touch the files below (or FILE ...), one after the other, and build `heed` again

Everything happens in temporary folders, without ccache, one compiler at a time. CPU seconds (user and system) depend
little on what else the machine does; still, leave it idle.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Those that people edit: a leaf, a kernel, a seam of layers, the configuration, the base of all variants.
EDITED = ["layers/attention/scores/cosine.cpp", "experiments/report/latex.cpp", "autograd/kernels/heads.hpp",
          "layers/attention/score.hpp", "experiments/config/config.hpp", "options/variant.hpp"]
LIBRARIES = ["autograd/libautograd_f32.a", "layers/liblayers_f32.a", "experiments/libexperiments_f32.a",
             "experiments/libexperiments_system.a", "experiments/libexperiments_data.a",
             "experiments/libexperiments.a", "experiments/libcommand_line.a", "heed"]
ENVIRONMENT = dict(os.environ, CCACHE_DISABLE="1")


def program(name):
    """Debian's own first: another Python's meson does not know Debian's Python."""
    return f"/usr/bin/{name}" if os.path.exists(f"/usr/bin/{name}") else name


def cpu_seconds(command, folder):
    """User and system seconds of a command with all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed in {folder}:\n{done.stdout[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Tree:
    """A copy of a checkout, so that touching its files disturbs nobody."""

    def __init__(self, place, revision):
        self.name = revision or "this tree"
        self.folder = place / (revision or "tree").replace("/", "_")
        self.folder.mkdir()
        if revision:
            archive = subprocess.run(["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        else:
            files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                   stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
            existing = b"\0".join(f for f in files if f and (ROOT / os.fsdecode(f)).exists())
            archive = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=existing,
                                     stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=self.folder, input=archive, check=True)
        self.build = self.folder / "build"
        cpu_seconds([program("meson"), "setup", str(self.build)], self.folder)

    def make(self, target):
        return cpu_seconds([program("ninja"), "-C", str(self.build), "-j1", target], self.folder)

    def clean_build(self):
        """CPU seconds by library, those of what none of them holds with `heed` itself."""
        known = subprocess.run([program("ninja"), "-C", str(self.build), "-t", "targets", "all"], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        return {library: self.make(library) for library in LIBRARIES if f"\n{library}: " in known}

    def edit(self, file):
        path = self.folder / file
        if not path.exists():
            return None
        os.utime(path)
        return self.make("heed")


def row(name, seconds):
    """One line: the seconds of each tree, and this one's share of the other's."""
    cells = "".join(f"{s:10.1f}" if s is not None else f"{'-':>10}" for s in seconds)
    both = len(seconds) == 2 and None not in seconds
    return f"  {name:<40}{cells}{seconds[0] / seconds[1]:10.2f}" if both else f"  {name:<40}{cells}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--edits", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE", default=EDITED)
    arguments = parser.parse_intermixed_args()
    if shutil.which("git") is None:
        sys.exit("git is needed, to copy the tree")
    with tempfile.TemporaryDirectory(prefix="heed-build-") as place:
        trees = [Tree(pathlib.Path(place), r) for r in [None] + ([arguments.against] if arguments.against else [])]
        print("CPU seconds" + " " * 31 + "".join(f"{t.name:>10}" for t in trees) +
              (f"{'ratio':>10}" if len(trees) == 2 else ""))
        clean = [tree.clean_build() for tree in trees]
        for library in LIBRARIES:
            print(row(library, [c.get(library) for c in clean]), flush=True)
        print(row("a clean build of heed", [sum(c.values()) for c in clean]), flush=True)
        if arguments.edits:
            for file in arguments.files:
                print(row(f"after an edit of {file}" if len(file) < 24 else file, [t.edit(file) for t in trees]),
                      flush=True)


if __name__ == "__main__":
    main()
