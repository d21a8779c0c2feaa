"""Which of the project's files a source includes."""

import functools
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def included_at_once(file, folders):
    """The files that a file's lines `#include` name, where they are found."""
    found = []
    for name in re.findall(r'^#include ["<]([^">]+)[">]', file.read_text(encoding="utf-8", errors="replace"), re.M):
        for folder in (file.parent, ROOT, *folders):
            header = pathlib.Path(os.path.normpath(folder / name))
            if header.is_relative_to(ROOT) and header.is_file():
                found.append(header)
                break
    return found


def included(file, folders=()):
    """Files that a file includes, directly or not, where they are found: beside the one that includes them, in the
    checkout, or in one of the folders, such as those of generated files. Libraries are not looked for."""
    found, open_files = set(), [file]
    while open_files:
        for header in included_at_once(open_files.pop(), tuple(folders)):
            if header not in found:
                found.add(header)
                open_files.append(header)
    return found
