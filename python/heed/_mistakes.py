"""The mistakes in a configuration, one by one."""

from __future__ import annotations

import json
from dataclasses import dataclass

from . import _heed
from ._messages import shown


@dataclass(frozen=True)
class Mistake:
    """A mistake in a configuration: where it is, what was found, what is allowed, and the nearest name."""

    file: str
    """The file; "config" for a dict, "overrides" for overrides."""
    line: int | None
    """Counted from 1; None where there are no lines."""
    column: int | None
    """Counted from 1; None where there are no lines."""
    option: str | None
    """The option's full name, such as "model.width"; None if it is of no option."""
    found: str
    """What was found: "model.width is the text 'x'"."""
    allowed: str | None
    """What is allowed: "it must be an integer, for example: width = 64"; None if the message does not say it."""
    words: tuple[str, ...]
    """The allowed words, if the value must be one of some."""
    nearest: str | None
    """The nearest name that is allowed, if there is one that was probably meant."""
    hint: str | None
    """What Heed calls what was probably meant; None if it is not known."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"
        nearest = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        hint = f"; {self.hint}" if self.hint else ""
        return shown(f"{place}: {self.found}{f'; {self.allowed}' if self.allowed else ''}{nearest}{hint}")


def mistakes_of(error: BaseException) -> list[Mistake]:
    """The mistakes of a refused configuration; empty for other errors."""
    return [_mistake(problem) for problem in getattr(error, "problems", [])]


def _mistake(problem: str) -> Mistake:
    parts = json.loads(_heed.diagnostic(problem))
    return Mistake(parts["file"] or "", parts["line"], parts["column"], parts["option"], parts["found"] or "",
                   parts["allowed"], tuple(parts["words"]), parts["nearest"], parts["hint"])
