"""JSON Schemas of configs, reports and of what commands say."""

from __future__ import annotations

import json
from typing import Any

from . import _arguments, _heed


def schema(name: str = "config") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of configs ("config"), of a report's `document` ("report-document"), or of what a
    command says with --json ("check", "plan", "run", ...), where "../report.schema.json" is "report-document".

    Raises heed.Refused for another name; the message lists all names."""
    found: dict[str, Any] = json.loads(_heed.schema(_arguments.text("name", name)))
    return found
