"""Writes a configuration that is given as a dict."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arguments
from ._heed import Refused

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def value_text(value: Any, where: str) -> str:
    """A value in TOML. Raises TypeError, with the option's name, for what no configuration can have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    elif hasattr(value, "tolist"):  # a number or an array of NumPy
        value = value.tolist()
    if isinstance(value, str):
        # JSON's escapes are those of TOML, but for the surrogate pairs of characters that JSON need not escape.
        return json.dumps(_arguments.text(where, value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {value_text(v, f'{where}.{k}')}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(value_text(item, where) for item in value) + "]"
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        number = float(value)
        return repr(number) if math.isfinite(number) else ("nan" if math.isnan(number) else
                                                           "inf" if number > 0 else "-inf")
    raise TypeError(f"{where} is of type {type(value).__name__}; it can be a text, a number, a bool, a list or a dict")


def config_text(config: Mapping[str, Any]) -> str:
    """A configuration in TOML. Names with dots ("train.steps") and nested dicts mean the same."""
    tables: dict[str, Any] = {}
    for name, value in _flat(config, ""):
        path = name.split(".")
        if value == {}:  # an empty table, whose name is checked, too
            _table(tables, path, name)
            continue
        inner = _table(tables, path[:-1], name)
        if path[-1] in inner:
            raise Refused(f"config: {name} is given twice, by its full name and within a table; leave one out")
        inner[path[-1]] = value
    lines: list[str] = []
    _write(lines, tables, [])
    return "\n".join(lines) + "\n"


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for name, value in table.items():
        if not isinstance(name, str):
            raise TypeError(f"{prefix}{name!r} is of type {type(name).__name__}; names of options are texts")
        # The tables within [sweep] are no options: their keys are names of options, with dots.
        if isinstance(value, Mapping) and value and not (prefix + name).startswith("sweep"):
            out += _flat(value, f"{prefix}{name}.")
        else:
            out.append((prefix + name, dict(value) if isinstance(value, Mapping) else value))
    return out


def _table(tables: dict[str, Any], path: list[str], option: str) -> dict[str, Any]:
    for name in path:
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            raise Refused(f"config: {option} is an option of {name}, which has a value itself")
    return tables


def _write(lines: list[str], table: Mapping[str, Any], path: list[str]) -> None:
    inner: list[tuple[str, Any]] = []
    for name, value in table.items():
        where = ".".join([*path, name])
        if isinstance(value, Mapping):
            inner.append((name, value))
        elif isinstance(value, Sequence) and not isinstance(value, str) and value and all(
                isinstance(item, Mapping) for item in value):
            inner.append((name, value))
        else:
            lines.append(f"{_key(name)} = {value_text(value, where)}")
    for name, value in inner:
        header = ".".join(map(_key, [*path, name]))
        if isinstance(value, Mapping):
            lines.append(f"[{header}]")
            _write(lines, value, [*path, name])
        else:
            for item in value:
                lines.append(f"[[{header}]]")
                lines += [f"{_key(k)} = {value_text(v, k)}" for k, v in item.items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(_arguments.text(name, name), ensure_ascii=False)
