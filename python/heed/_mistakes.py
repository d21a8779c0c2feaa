"""The mistakes in a configuration, one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ._messages import shown

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)", re.DOTALL)
_NEAREST = re.compile(r"; did you mean (?:'(?P<word>[^']*)'|(?P<table>\[[^]]*\]))\?")


@dataclass(frozen=True)
class Mistake:
    """A mistake in a configuration: where it is, what was found, what is allowed, and the nearest name."""

    file: str
    """The file; "config" for a dict, "overrides" for overrides."""
    line: int | None
    """Counted from 1; None where there are no lines."""
    column: int | None
    """Counted from 1; None where there are no lines."""
    found: str
    """What was found: "model.width is the text 'x'"."""
    allowed: str | None
    """What is allowed: "it must be an integer, for example: width = 64"; None if the message does not say it."""
    nearest: str | None
    """The nearest name that is allowed, if there is one that was probably meant."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"
        nearest = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return shown(f"{place}: {self.found}{f'; {self.allowed}' if self.allowed else ''}{nearest}")


def mistakes_of(error: BaseException) -> list[Mistake]:
    """The mistakes of a refused configuration; empty for other errors."""
    return [_mistake(problem) for problem in getattr(error, "problems", [])]


def _mistake(problem: str) -> Mistake:
    placed = _PLACE.match(problem)
    file, _, text = problem.partition(": ")
    if placed:
        file, text = placed["file"], placed["text"]
    near = _NEAREST.search(text)
    if near:
        text = text[:near.start()] + text[near.end():]
    found, _, allowed = text.partition("; ")
    return Mistake(file, int(placed["line"]) if placed else None, int(placed["column"]) if placed else None, found,
                   allowed or None, (near["word"] or near["table"]) if near else None)
