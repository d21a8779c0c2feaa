"""Which of the project's files a source includes."""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def included_by_name(file):
    """What a file's lines `#include` name, as they are written."""
    return re.findall(r'^#include ["<](.*)[">]', file.read_text(encoding="utf-8", errors="replace"), re.M)


def included(file, folders=()):
    """Files that a file includes, directly or not, where they are found: beside the one that includes them, in the
    checkout, or in one of the folders, such as those of generated files. Libraries are not looked for."""
    found, open_files = set(), [file]
    while open_files:
        one = open_files.pop()
        for name in included_by_name(one):
            for folder in (one.parent, ROOT, *folders):
                header = folder / name
                if header.is_file():
                    if header not in found:
                        found.add(header)
                        open_files.append(header)
                    break
    return found
