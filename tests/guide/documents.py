"""Reads the project's Markdown: its fenced code, its links, and what its text calls code."""

import dataclasses
import os
import pathlib
import re


@dataclasses.dataclass
class Block:
    """A fenced piece of code. ```cpp xor.cpp has the language cpp and the title xor.cpp, which readers don't see."""
    document: pathlib.Path
    section: str
    line: int
    language: str
    title: str
    text: str

    @property
    def place(self):
        return f"{self.document.parent.name}/{self.document.name}:{self.line}"


def markdown(checkout):
    """Every Markdown file of the project; folders that git doesn't know, such as builds and runs, are left out."""
    left_out = {"build", "runs", "release"}
    found = []
    for folder, folders, files in os.walk(checkout):
        folders[:] = sorted(name for name in folders
                            if not name.startswith((".", "build")) and name not in left_out)
        found += [pathlib.Path(folder) / name for name in sorted(files) if name.endswith(".md")]
    return found


def lines_with_sections(document):
    """(number, line, the heading above it, is it within fenced code?) for each line."""
    section, fenced = "", False
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fence = line.startswith("```")
        if not fenced and re.match(r"#{2,} ", line):
            section = line.lstrip("# ")
        yield number, line, section, fenced or fence
        fenced ^= fence


def blocks(document):
    """All fenced code of a document, in order."""
    found = []
    opened = None
    for number, line, section, _ in lines_with_sections(document):
        fence = re.match(r"```(\S*)\s*(.*?)\s*$", line)
        if fence and opened is None:
            opened = Block(document, section, number, fence[1], fence[2], "")
        elif fence:
            found.append(opened)
            opened = None
        elif opened is not None:
            opened.text += line + "\n"
    if opened is not None:
        raise ValueError(f"{opened.place}: this code is not closed")
    return found


def commands(block):
    """The commands of a block of shell lines, without comments; lines that end in a backslash go on in the next."""
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in block.text.replace("\\\n", " ").splitlines())
    return [" ".join(line.split()) for line in lines if line]


def prose(document):
    """The text of each section, without its fenced code."""
    sections = {}
    for _, line, section, fenced in lines_with_sections(document):
        if not fenced:
            sections[section] = sections.get(section, "") + line + "\n"
    return sections


def code_words(document):
    """What the text puts between backticks."""
    return [" ".join(word.split()) for text in prose(document).values() for word in re.findall(r"`([^`]+)`", text)]


def anchors(document):
    """What a link to a heading of the document ends with: its words, or an <a id> that keeps a former heading's."""
    lines = [line for _, line, _, fenced in lines_with_sections(document) if not fenced]
    headings = (line for line in lines if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower()).replace(" ", "-") for heading in headings} | {
        former for line in lines for former in re.findall(r'^<a id="([\w-]+)"></a>$', line)}


def links(document):
    """(path, anchor) of each link to somewhere within the project; a link within the document has no path."""
    text = "\n".join(re.sub(r"`[^`]*`", "", text) for text in prose(document).values())
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.partition("#")[::2] for target in targets if not target.startswith(("http:", "https:"))]
