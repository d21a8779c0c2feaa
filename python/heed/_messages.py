"""All that the package prints, warns of, or shows as an object's text. Texts of files and of other people's runs may have
commands for a terminal; here they become visible, as "\\x1b"."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

from . import _heed

shown = _heed.shown


def tell(text: str) -> None:
    """A line on standard error."""
    print(shown(text), file=sys.stderr, flush=True)


def redraw(lines: list[str], drawn: int) -> None:
    """Replaces the last `drawn` lines of a terminal by others."""
    over = f"\x1b[{drawn}A\x1b[J" if drawn else ""
    print(over + "".join(shown(line) + "\n" for line in lines), end="", file=sys.stderr, flush=True)


def warn(notes: Iterable[str], stacklevel: int) -> None:
    """A warning for each note. `stacklevel` counts from the caller, as in warnings.warn."""
    for note in notes:
        warnings.warn(shown(note), stacklevel=stacklevel + 1)


def text_of_error(error: BaseException) -> str:
    """The message of heed.Refused and heed.Failed, also of those that Python code raises."""
    return shown(Exception.__str__(error))
