"""`heed mcp`: Heed's commands as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ._heed import Refused
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
                     {"table": {"type": "string", "description": "a table, an option, or a word: train, clip"}},
                     ("table",), _READS),
    "variants": _Tool("Variants: formula, paper, options, what they exclude.",
                      {"family": {"type": "string", "description": "attention.score, score, position, ..."}},
                      ("family",), _READS),
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


_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
                                       "object": (dict,)}


def _complaint(name: str, given: Any) -> str:
    """What is wrong with the arguments of a tool; empty if nothing is. Clients need not check the schema."""
    tool = _TOOLS.get(name)
    if tool is None:
        return f"there is no tool {name}; tools: {', '.join(_TOOLS)}"
    for argument in given:
        if argument not in tool.properties:
            return f"{name} has no argument {argument}; arguments: {', '.join(tool.properties)}"
    for argument in tool.required:
        if argument not in given:
            return f"{name} needs {argument}"
    for argument, value in given.items():
        kind = tool.properties[argument]["type"]
        if kind == "array":
            right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        else:
            kinds = [kind] if isinstance(kind, str) else kind
            right = any(isinstance(value, _TYPES[one]) for one in kinds) and ("boolean" in kinds) == isinstance(value, bool)
        if not right:
            return f"{argument} of {name} must be {'a list of texts' if kind == 'array' else kind}"
        if any(isinstance(text, str) and "\0" in text for text in (value if isinstance(value, list) else [value])):
            return f"{argument} of {name} has a NUL character"
    return ""


def _command(name: str, given: Mapping[str, Any]) -> tuple[list[str], str]:
    """The words of the command line, and its standard input. No text of the caller can be an option."""
    options, text = [], ""
    positional: list[str] = [given[key] for key in ("file", "table", "family") if key in given]
    if "config" in given:
        config = given["config"]
        if isinstance(config, str) and config.endswith(".toml") and "\n" not in config:
            positional.append(config)
        else:
            positional.append("-")
            text = config if isinstance(config, str) else config_text(config)
    positional += given.get("overrides", [])
    for option in ("out", "jobs", "threads", "sweep", "reference", "margin"):
        if option in given:
            options.append(f"--{option}={given[option]}")
    for option in ("metric", "arm", "group"):
        options += [f"--{option}={value}" for value in given.get(option, [])]
    if given.get("probe") is False:
        options.append("--no-probe")
    return [name, *options, "--json", "--", *positional], text


def _envelope(name: str, status: int, message: str) -> dict[str, Any]:
    """An answer without a result: of a command that continues, or that ended without an answer."""
    empty = dict.fromkeys(("file", "line", "column", "option", "found", "allowed", "nearest", "hint"))
    note: dict[str, Any] = {"severity": "error" if status else "note", "message": message, **empty, "words": []}
    return {"heed": _VERSION, "command": name, "status": status, "result": None, "diagnostics": [note]}


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
        # Files that the config names may have changed since the last call, and the plan's name tells.
        planned = await self._say(*_command("plan", {**{key: given[key] for key in _OF_CONFIG if key in given},
                                                     "probe": False}), "plan")
        if planned["status"] != 0:
            return {**planned, "command": name}
        key = json.dumps([planned["result"]["sweep"], words])
        if key not in self.sweeps or self.sweeps[key].done():
            self.sweeps[key] = asyncio.create_task(self._say(words, text, key))
        sweep = self.sweeps[key]
        done, _ = await asyncio.wait([sweep], timeout=given.get("wait_seconds", 50))
        if done:
            return sweep.result()
        progress = self.newest.get(key, "it has just begun")
        return _envelope(name, 0, f"the sweep continues: {progress}; status shows more, and run with the same arguments "
                                  "waits again")

    async def _say(self, words: list[str], text: str, key: str) -> dict[str, Any]:
        with tempfile.TemporaryFile() as errors:
            process = await asyncio.create_subprocess_exec(
                PROGRAM, *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
                limit=1 << 30)
            self.processes.add(process)
            try:
                assert process.stdin and process.stdout
                with contextlib.suppress(ConnectionError):  # it has refused before it read
                    process.stdin.write(text.encode())
                    await process.stdin.drain()
                    process.stdin.close()
                lines: list[bytes] = []
                async for line in process.stdout:
                    if words[0] == "run" and b'"event"' in line[:16]:
                        told = json.loads(line)
                        self.newest[key] = f"{told['done']} of {told['runs']} runs are done"
                    else:
                        lines.append(line)
                await process.wait()
            finally:
                self.newest.pop(key, None)
                if process.returncode is None:  # the call was cancelled
                    process.terminate()
                    await process.wait()
                self.processes.discard(process)
            try:
                answer: dict[str, Any] = json.loads(b"".join(lines))
            except ValueError:
                errors.seek(0)
                said = errors.read()[-2000:].decode(errors="replace").strip()
                status = process.returncode or 0
                how = f"by signal {-status}" if status < 0 else f"with status {status}"
                return _envelope(words[0], 1, f"heed ended {how} and without an answer; it said: {said}")
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
        given = asked.arguments or {}
        if wrong := _complaint(asked.name, given):
            return types.CallToolResult(content=[types.TextContent(type="text", text=wrong)], is_error=True)
        try:
            answer = await commands.answer(asked.name, given)
        except (Refused, TypeError) as error:  # of a config that is no config
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
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
