"""Shows the progress of a sweep: on a terminal, in a notebook, or as lines of a file."""

from __future__ import annotations

import html
import shutil
import sys
import time
from typing import Any, Protocol

from . import _arguments
from ._messages import redraw, tell


class Progress(Protocol):
    """What a sweep tells. An exception of a method stops the sweep as Ctrl-C does."""

    def begin(self, text: str) -> None: ...
    def draw(self, lines: list[str], line: str, done: int, total: int) -> None: ...
    def say(self, text: str) -> None: ...


class Checked:
    """A display of the caller's: what it lacks is said before the sweep starts, and a wrong width when it is used."""

    def __init__(self, display: Any) -> None:
        for method in ("begin", "draw", "say"):
            if not callable(getattr(display, method, None)):
                raise TypeError(f"progress is {display!r}, without a method {method}; it must be True, False, or an object "
                                "with the methods begin, draw and say")
        self._display = display
        self.width  # raises an error if it is wrong

    @property
    def width(self) -> int:
        """Columns of the lines."""
        return _arguments.whole("progress.width", getattr(self._display, "width", 100), 1, bits=63)

    def begin(self, text: str) -> None:
        self._display.begin(text)

    def draw(self, lines: list[str], line: str, done: int, total: int) -> None:
        self._display.draw(lines, line, done, total)

    def say(self, text: str) -> None:
        self._display.say(text)

    def clear(self) -> None:
        if hasattr(self._display, "clear"):
            self._display.clear()


class Lines:
    """A line on standard error every 30 seconds."""

    width = 100

    def __init__(self) -> None:
        self._next = time.monotonic() + 30

    def begin(self, text: str) -> None:
        tell(text)

    def draw(self, lines: list[str], line: str, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 30
            tell(line)

    def say(self, text: str) -> None:
        tell(text)


class Terminal:
    """Lines on standard error that are redrawn in place."""

    def __init__(self) -> None:
        self._drawn = 0

    @property
    def width(self) -> int:
        """Columns of the lines, so that none of them wraps."""
        return max(20, shutil.get_terminal_size().columns - 1)

    def begin(self, text: str) -> None:
        tell(text)

    def draw(self, lines: list[str], line: str, done: int, total: int) -> None:
        redraw(lines, self._drawn)
        self._drawn = len(lines)

    def say(self, text: str) -> None:
        self.clear()
        tell(text)

    def clear(self) -> None:
        if self._drawn:
            redraw([], self._drawn)
            self._drawn = 0


class Notebook:
    """A bar in a notebook's cell."""

    width = 100

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._said: list[str] = []

    def begin(self, text: str) -> None:
        self._said.append(text)
        self._handle = self._display.display(self._page([], 0, 0), display_id=True)

    def draw(self, lines: list[str], line: str, done: int, total: int) -> None:
        self._handle.update(self._page(lines[1:] or [line], done, total))

    def say(self, text: str) -> None:
        self._said.append(text)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update(self._page([], 0, 0))

    def _page(self, lines: list[str], done: int, total: int) -> Any:
        said = "".join(f"<div>{html.escape(text)}</div>" for text in self._said)
        bar = f'<progress value="{done}" max="{total}" style="width: 24em"></progress> {done} of {total} runs' if total else ""
        return self._display.HTML(f"{said}{bar}<pre>{html.escape(chr(10).join(lines))}</pre>" if lines or bar else said)


def is_terminal(stream: Any) -> bool:
    """Whether text of this stream reaches a terminal. A stream may be None, closed, or an object with few methods."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def progress_here() -> Any:
    """The display that fits: a notebook's, a terminal's, or plain lines."""
    if "ipykernel" in sys.modules:
        try:
            import IPython

            if IPython.get_ipython() is not None:  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
                return Notebook(IPython.display)  # type: ignore[attr-defined, unused-ignore]
        except (ImportError, AttributeError):
            pass
    return Terminal() if is_terminal(sys.stderr) else Lines()
