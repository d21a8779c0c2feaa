"""`heed mcp`: Heed's commands as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ._heed import version as _whole_version
from ._program import PROGRAM
from ._toml import config_text

_VERSION = _whole_version().split()[1]

_INSTRUCTIONS = """Heed compares attention variants: a config in TOML says the arms and seeds, a sweep trains them, and
a report has an answer for each arm, with p and an interval. Write a config, call check until it has no errors (they
say where, what was found, what is allowed and the nearest name), call plan to see the number of runs, their time and
the power, then run. run returns when the sweep is done, or after wait_seconds while it continues; status shows its
progress, and run with the same arguments waits for it again. A finished run is never trained twice. State the margin
and the number of seeds before the first run, and do not change them after you have seen results."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_CONFIG = {"type": ["string", "object"],
           "description": "the config: its text in TOML, a path that ends in .toml, or its tables as an object. "
                          "The tool options has every option; variants has the words of a family."}
_OVERRIDES = {**_TEXTS, "description": "options that override the config's: \"attention.score=dot\", "
                                       "\"sweep.seeds=6\", 'sweep.block=[{ grid = { \"model.width\" = [32, 64] } }]'"}
_OUT = {"type": "string", "description": "the folder of runs and sweeps", "default": "runs"}


@dataclass(frozen=True)
class _Tool:
    summary: str
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ()
    annotations: types.ToolAnnotations | None = None


_READS = types.ToolAnnotations(read_only_hint=True)
_OF_CONFIG = {"config": _CONFIG, "overrides": _OVERRIDES, "out": _OUT}

_TOOLS = {
    "check": _Tool("Check a config, its data and every arm's model. Trains nothing.", _OF_CONFIG, ("config",), _READS),
    "plan": _Tool("The runs of a config before training: their number, parameters, FLOPs, memory, time, and the seeds "
                  "that an effect needs.",
                  {**_OF_CONFIG, "probe": {"type": "boolean", "default": True,
                                           "description": "whether to measure the time, which takes some seconds"}},
                  ("config",), _READS),
    "run": _Tool("Train the missing runs of a config, and report the results. Finished runs are not repeated, and "
                 "interrupted ones resume.",
                 {**_OF_CONFIG,
                  "jobs": {"type": "integer", "minimum": 1, "description": "runs at the same time"},
                  "threads": {"type": "integer", "minimum": 1, "description": "threads of each run"},
                  "wait_seconds": {"type": "number", "minimum": 0, "default": 50,
                                   "description": "return after this time, also if the sweep continues"}},
                 ("config",)),
    "status": _Tool("The sweeps of a folder, their runs' states, and the progress of those that train now.",
                    {"out": _OUT}, (), _READS),
    "report": _Tool("The report of a sweep, finished or not: each arm's answer, p, interval, and notes.",
                    {"out": _OUT, "sweep": {"type": "string", "description": "its name [the latest]"}}),
    "options": _Tool("Options of a config: meaning, default, bounds, unit, words.",
                     {"table": {"type": "string", "description": "a table, an option, or a word: train, clip"}}, (),
                     _READS),
    "variants": _Tool("Variants: formula, paper, options, what they exclude.",
                      {"family": {"type": "string", "description": "attention.score, score, position, ..."}}, (),
                      _READS),
    "compare": _Tool("Report results that were made elsewhere, from a table (CSV, TSV, JSON lines).",
                     {"file": {"type": "string"}, "metric": {**_TEXTS, "description": "columns"},
                      "reference": {"type": "string", "description": "the arm that the others are compared with"},
                      "margin": {"type": "number", "description": "differences up to this are the same"},
                      "arm": {**_TEXTS, "description": "columns of what is compared"},
                      "group": {**_TEXTS, "description": "columns; arms are compared within each group"}},
                     ("file", "metric"), _READS),
}


def _said(*words: str) -> str:
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def _output_schema(name: str) -> dict[str, Any]:
    """The schema of a command's JSON, in which a report is any object: its own schema is long."""
    schema: dict[str, Any] = json.loads(_said("schema", name).replace('"$ref": "#/$defs/report"', '"type": "object"'))
    schema.pop("$defs", None)
    return schema


def _tools() -> list[types.Tool]:
    return [types.Tool(name=name, description=tool.summary, annotations=tool.annotations,
                       input_schema={"type": "object", "properties": dict(tool.properties),
                                     "required": list(tool.required), "additionalProperties": False},
                       output_schema=_output_schema(name))
            for name, tool in _TOOLS.items()]


def _repeated(option: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _command(name: str, given: Mapping[str, Any]) -> tuple[list[str], str]:
    """The words of the command line, and its standard input."""
    words, text = [name], ""
    if "config" in given:
        config = given["config"]
        if isinstance(config, str) and config.endswith(".toml") and "\n" not in config:
            words.append(config)
        else:
            words.append("-")
            text = config if isinstance(config, str) else config_text(config)
    words += [given[key] for key in ("file", "table", "family") if key in given]
    words += given.get("overrides", [])
    for option in ("out", "jobs", "threads", "sweep", "reference", "margin"):
        if option in given:
            words += [f"--{option}", str(given[option])]
    for option in ("metric", "arm", "group"):
        words += _repeated(f"--{option}", given.get(option, []))
    if given.get("probe") is False:
        words.append("--no-probe")
    return [*words, "--json"], text


def _envelope(name: str, notes: list[str]) -> dict[str, Any]:
    """The answer of a command that goes on."""
    empty = dict.fromkeys(("file", "line", "column", "option", "found", "allowed", "nearest", "hint"))
    return {"heed": _VERSION, "command": name, "status": 0, "result": None,
            "diagnostics": [{"severity": "note", "message": note, **empty, "words": []} for note in notes]}


class _Commands:
    """The commands that run, and the sweeps that continue after their tool has returned."""

    def __init__(self) -> None:
        self.sweeps: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.processes: set[asyncio.subprocess.Process] = set()
        self.newest: dict[str, str] = {}

    async def answer(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        words, text = _command(name, {key: value for key, value in given.items() if key != "wait_seconds"})
        if name != "run":
            return await self._say(words, text, name)
        key = json.dumps([words, text])
        if key not in self.sweeps:
            self.sweeps[key] = asyncio.create_task(self._say(words, text, key))
        sweep = self.sweeps[key]
        done, _ = await asyncio.wait([sweep], timeout=given.get("wait_seconds", 50))
        if done:
            del self.sweeps[key]
            return sweep.result()
        progress = self.newest.get(key, "it has just begun")
        return _envelope(name, [f"the sweep continues: {progress}; status shows more, and run with the same arguments "
                                "waits again"])

    async def _say(self, words: list[str], text: str, key: str) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            PROGRAM, *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=1 << 30)
        self.processes.add(process)
        try:
            assert process.stdin and process.stdout
            process.stdin.write(text.encode())
            with contextlib.suppress(ConnectionError):  # it has refused before it read
                await process.stdin.drain()
            process.stdin.close()
            whole = b""
            async for line in process.stdout:
                if words[0] == "run" and b'"event"' in line[:16]:
                    told = json.loads(line)
                    self.newest[key] = f"{told['done']} of {told['runs']} runs are done"
                else:
                    whole += line
            await process.wait()
        finally:
            self.processes.discard(process)
            self.newest.pop(key, None)
        answer: dict[str, Any] = json.loads(whole)
        return answer

    async def stop(self) -> None:
        """Sweeps save a checkpoint and stop."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        await asyncio.gather(*self.sweeps.values(), return_exceptions=True)


async def _serve() -> None:
    commands, tools = _Commands(), _tools()

    async def listed(_: ServerRequestContext[Any], __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def called(_: ServerRequestContext[Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
        known = _TOOLS.get(asked.name)
        given = asked.arguments or {}
        wrong = [] if known is None else [name for name in given if name not in known.properties]
        missing = [] if known is None else [name for name in known.required if name not in given]
        if known is None or wrong or missing:
            told = (f"there is no tool {asked.name}; tools: {', '.join(_TOOLS)}" if known is None else
                    f"{asked.name} has no argument {wrong[0]}" if wrong else f"{asked.name} needs {missing[0]}")
            return types.CallToolResult(content=[types.TextContent(type="text", text=told)], is_error=True)
        answer = await commands.answer(asked.name, given)
        return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(answer))],
                                    structured_content=answer, is_error=answer["status"] != 0)

    server: Server[Any] = Server("heed", version=_VERSION, instructions=_INSTRUCTIONS, on_list_tools=listed,
                                 on_call_tool=called)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await commands.stop()


def main() -> None:
    asyncio.run(_serve())
