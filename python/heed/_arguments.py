"""Checks arguments before they reach the library, so that errors name them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _heed


def folder(name: str, value: Any) -> Path:
    """The folder's path. Raises TypeError for another type, and heed.Refused for an empty text, which would be the
    working directory."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is {value!r}; it must be a folder's path")
    if not os.fspath(value):
        raise _heed.Refused(f"{name} is an empty text; it must be a folder, such as \"runs\"")
    return Path(value)


def text(name: str, value: Any) -> str:
    """The text. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a text")
    return value


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value)


def whole(name: str, value: Any, least: int = 0) -> int:
    """The whole number. Raises TypeError for another type, and heed.Refused for a number out of bounds."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    number = int(value.__index__())
    if not least <= number < 2**63:
        raise _heed.Refused(f"{name} is {number}; it must be at least {least} and below 2^63")
    return number


def whole_or_none(name: str, value: Any, least: int = 0) -> int | None:
    return None if value is None else whole(name, value, least)


def number_or_none(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    return float(value)
