"""Reads the project's Markdown: its fenced code and its links."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass
class Block:
    """A fenced piece of code. ```cpp xor.cpp has the language cpp and the title xor.cpp."""
    document: pathlib.Path
    line: int
    language: str
    title: str
    text: str

    @property
    def place(self):
        return f"{self.document.name}:{self.line}"


def blocks(document):
    """All fenced code of a document, in order."""
    found = []
    opened = None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"```(\S*)\s*(.*?)\s*$", line)
        if fence and opened is None:
            opened = Block(document, number, fence[1], fence[2], "")
        elif fence:
            found.append(opened)
            opened = None
        elif opened is not None:
            opened.text += line + "\n"
    if opened is not None:
        raise ValueError(f"{opened.place}: this code is not closed")
    return found


def titled(document, title):
    """The one piece of code that has the title."""
    having = [block for block in blocks(document) if block.title == title]
    if len(having) != 1:
        raise ValueError(f"{document.name} must have one piece of code called {title}, it has {len(having)}")
    return having[0]


def following(document, block):
    """The piece of code after `block`: what a program prints, by this project's habit."""
    every = blocks(document)
    return every[every.index(block) + 1]


def commands(block, program):
    """The block's lines that call `program`, without comments; lines that end in a backslash go on in the next."""
    text = block.text.replace("\\\n", " ")
    lines = (re.sub(r"\s+#.*", "", line).removeprefix("$ ").strip() for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line == program or line.startswith(program + " ")]


def links(document):
    """Paths that the document links to within the project, without what stands behind a #."""
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.split("#")[0] for target in targets if not target.startswith(("http:", "https:", "#"))]
