"""All that the package prints, warns of, or shows as an object's text. Texts of files and of other people's runs may have
commands for a terminal; here they become visible, as "\\x1b"."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from . import _heed

shown = _heed.shown


def _write(text: str) -> None:
    """Writes to standard error, if there is one. A program may have none (None), have closed it, or have put an object
    with few methods in its place. A sweep does not end for that reason."""
    stream: Any = sys.stderr
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError as error:
            stream.write(text.encode(error.encoding, "replace").decode(error.encoding))
        stream.flush()
    except (AttributeError, OSError, TypeError, ValueError):  # TypeError: it is of bytes; ValueError: it is closed
        pass


def tell(text: str) -> None:
    """A line on standard error."""
    _write(shown(text) + "\n")


def redraw(lines: list[str], drawn: int) -> None:
    """Replaces the last `drawn` lines of a terminal by others."""
    over = f"\x1b[{drawn}A\x1b[J" if drawn else ""
    _write(over + "".join(shown(line) + "\n" for line in lines))


def warn(notes: Iterable[str], stacklevel: int) -> None:
    """A warning for each note. `stacklevel` counts from the caller, as in warnings.warn."""
    for note in notes:
        warnings.warn(shown(note), stacklevel=stacklevel + 1)


def text_of_error(error: BaseException) -> str:
    """The message of heed.Refused and heed.Failed, also of those that Python code raises."""
    return shown(Exception.__str__(error))
