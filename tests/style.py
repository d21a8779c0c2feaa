"""Holds the C++ sources to .clang-format, and their comments and names, and the documentation, to plain words
(prose.py). Exit status: 0 if nothing is to be mended, 1 if something is.

Usage: style.py CLANG_FORMAT [FILE ...]     all sources and pages, where none is named

Versions of clang-format format the same settings differently. So only Debian 12's version checks the format; another
says that it does not.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import prose

VERSION = "14"
ROOT = pathlib.Path(__file__).resolve().parent.parent


PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md",  # git's * goes through folders
         "experiments/*.js"]


def known_to_git(*patterns):
    """What git knows, and what it is to know."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard", *patterns], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout.split("\0")
    return [str(ROOT / file) for file in listed if file and (ROOT / file).exists()]


def first_places(program, files):
    """Where each of the files that are formatted otherwise first is so: {file: line}."""
    run = subprocess.run([program, "--style=file", "--dry-run", "--Werror", *files], capture_output=True, text=True,
                         check=False)
    places = re.findall(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", run.stderr, re.M)
    if run.returncode and not places:
        sys.exit(run.stderr)
    return {file: line for file, line in reversed(places)}


def plain_words(files):
    """Whether prose.py finds nothing; prints what it finds."""
    found = [f"{os.path.relpath(file)}:{line}: {what}" for file in files
             for line, what in prose.findings(os.path.relpath(file, ROOT),
                                              pathlib.Path(file).read_text(encoding="utf-8"))]
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} lines to be put in plain words (tests/prose.py says which words, and why)")
    return not found


def main(program, *named):
    right = formatted_and_plain(program, *named)
    print("style: " + ("all is right" if right else "the lines above are to be mended"))
    return 0 if right else 1


def formatted_and_plain(program, *named):
    """Prints what is to be mended; true if nothing is."""
    files = [file for file in named or known_to_git("*.hpp", "*.cpp") if not file.endswith((".md", ".js"))]
    pages = [file for file in named if file.endswith((".md", ".js"))] if named else known_to_git(*PAGES)
    plain = plain_words(files + pages)
    stated = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)", stated).group(1)
    if version != VERSION:
        print(f"skipped: this is clang-format {version}, which formats otherwise than {VERSION}, which counts")
        return plain
    cores = len(os.sched_getaffinity(0))
    parts = [files[i::cores] for i in range(cores) if files[i::cores]]
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        wrong = {file: line for part in pool.map(lambda some: first_places(program, some), parts)
                 for file, line in part.items()}
    for file, line in sorted(wrong.items()):
        print(f"{os.path.relpath(file)}:{line}: not formatted as .clang-format has it")
    if wrong:
        print(f"{len(wrong)} of {len(files)} files; to mend them:")
        print("  clang-format -i " + " ".join(sorted(map(os.path.relpath, wrong))))
        return False
    print(f"{len(files)} files are formatted")
    return plain


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
