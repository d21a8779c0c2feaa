"""Checks arguments before they reach the library, so that errors name them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _heed


def folder(name: str, value: Any) -> Path:
    """The folder's absolute path: it stays the same folder when the process changes its working directory. Raises
    TypeError for another type, and heed.Refused for an empty text, which would be the working directory."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise TypeError(f"{name} is {value!r}; it must be a folder's path")
    if not os.fspath(value):
        raise _heed.Refused(f"{name} is an empty text; it must be a folder, such as \"runs\"")
    if "\0" in os.fspath(value):
        raise _heed.Refused(f"{name} is {value!r}; a path has no zero bytes")
    try:
        return Path(value).absolute()
    except FileNotFoundError:
        raise _heed.Refused(f"{name} is {value!r}, a relative path, and the working directory was removed; give an "
                            "absolute path, or change to another directory") from None


def working_folder() -> Path:
    """The working directory now, as an absolute path; "." if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def text(name: str, value: Any) -> str:
    """The text. Raises TypeError for anything else, and heed.Refused for one that is not UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _heed.Refused(f"{name} is {value!r}, which is not UTF-8; texts, and the names of files in a config, must be "
                            "UTF-8: rename the file, or remove these characters") from None
    return value


def texts(name: str, values: Any) -> list[str]:
    """A text, or a sequence of texts, as a list."""
    return [text(name, value) for value in ([values] if isinstance(values, str) else values)]


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value)


def whole(name: str, value: Any, least: int = 0, bits: int = 31) -> int:
    """The whole number. Raises TypeError for another type, and heed.Refused for a number out of bounds."""
    if isinstance(value, bool) or not (isinstance(value, int) or hasattr(value, "__index__")):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    number = value if isinstance(value, int) else int(value.__index__())  # torch.compile traces the first one
    if number < least or number >= 2**bits:
        raise _heed.Refused(f"{name} is {number}; it must be at least {least} and below 2^{bits}")
    return number


def whole_or_none(name: str, value: Any, least: int = 0, bits: int = 31) -> int | None:
    return None if value is None else whole(name, value, least, bits)


def number_or_none(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    return float(value)
