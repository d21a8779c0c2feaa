"""`heed mcp`, asked by the protocol's own client."""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import jsonschema
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

HEED = os.environ["HEED_COMMAND"]
CONFIG = """name = "by an agent"
[task]
kind = "reverse"
[model]
width = 16
heads = 2
layers = 1
[train]
steps = 30
batch = 4
[sweep]
seeds = 6
[[sweep.block]]
grid = { "attention.score" = ["dot"] }
"""


@contextlib.asynccontextmanager
async def session(folder):
    server = StdioServerParameters(command=sys.executable, args=["-c", "import sys; sys.argv = ['heed', 'mcp']; "
                                                                      "from heed._program import main; main()"],
                                   cwd=folder, env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        yield client


def ask(folder, *calls):
    """The answers of tools, one after the other in one session."""
    async def all_answers():
        async with session(folder) as client:
            return [await client.call_tool(name, given) for name, given in calls]
    return asyncio.run(all_answers())


def test_tools_have_the_schemas_of_the_commands(tmp_path):
    async def told():
        async with session(tmp_path) as client:
            return (await client.list_tools()).tools
    tools = {tool.name: tool for tool in asyncio.run(told())}
    assert set(tools) == {"check", "plan", "run", "status", "report", "options", "variants", "compare"}
    for name, tool in tools.items():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.output_schema["properties"]["command"]["const"] == name
        assert len(json.dumps(tool.input_schema)) < 4000, "an agent reads all of them"
    assert tools["check"].annotations.read_only_hint and tools["run"].annotations is None


def test_an_agent_mends_a_config_runs_it_and_reads_the_answers(tmp_path):
    wrong = CONFIG.replace('"dot"', '"dott"').replace("width = 16", 'width = "wide"')
    (refused,) = ask(tmp_path, ("check", {"config": wrong}))
    assert refused.is_error
    errors = {d["option"]: d for d in refused.structured_content["diagnostics"] if d["severity"] == "error"}
    assert errors["attention.score"]["nearest"] == "dot" and errors["model.width"]["line"] == 5
    mended = wrong.replace("dott", errors["attention.score"]["nearest"]).replace('"wide"', "16")
    checked, planned, ran, status, report = ask(
        tmp_path, ("check", {"config": mended}), ("plan", {"config": mended, "probe": False}),
        ("run", {"config": mended, "jobs": 2}), ("status", {}), ("report", {}))
    for answer in (checked, planned, ran, status, report):
        assert not answer.is_error, answer
        assert json.loads(answer.content[0].text) == answer.structured_content
    assert checked.structured_content["result"]["arms"] == ["reference", "score = dot"]
    assert planned.structured_content["result"]["to_do"] == 12
    arms = ran.structured_content["result"]["report"]["arms"]
    assert [arm["n"] for arm in arms] == [6, 6] and arms[1]["answer"]
    assert status.structured_content["result"]["sweeps"][0]["finished"] == 12
    assert report.structured_content["result"]["arms"][1]["comparison"] == arms[1]["comparison"]


def test_a_config_may_be_a_path_or_an_object(tmp_path):
    (tmp_path / "a.toml").write_text(CONFIG)
    tables = {"task": {"kind": "reverse"}, "sweep": {"seeds": 2, "block": [{"grid": {"model.width": [8]}}]}}
    file, thing, none = ask(tmp_path, ("check", {"config": "a.toml", "overrides": ["sweep.seeds=3"]}),
                            ("check", {"config": tables}), ("check", {"config": "no.toml"}))
    assert file.structured_content["result"]["seeds"] == [0, 1, 2]
    assert thing.structured_content["result"]["arms"] == ["reference", "width = 8"]
    assert none.is_error and none.structured_content["diagnostics"][0]["file"] == "no.toml"


def test_a_long_sweep_continues_and_is_waited_for_again(tmp_path):
    long = {"config": CONFIG, "overrides": ["train.steps=400", "train.batch=16"], "jobs": 1}
    first, status, second = ask(tmp_path, ("run", {**long, "wait_seconds": 0.5}), ("status", {}),
                                ("run", {**long, "wait_seconds": 300}))
    assert not first.is_error and first.structured_content["result"] is None
    assert "the sweep continues" in first.structured_content["diagnostics"][0]["message"]
    assert status.structured_content["result"]["sweeps"][0]["finished"] < 12
    assert second.structured_content["result"]["report"]["arms"][0]["n"] == 6


def test_at_the_end_a_sweep_saves_a_checkpoint_and_stops(tmp_path):
    async def until_it_trains():
        async with session(tmp_path) as client:
            await client.call_tool("run", {"config": CONFIG, "overrides": ["train.steps=1000000"], "jobs": 1,
                                           "wait_seconds": 0})
            for _ in range(600):
                told = (await client.call_tool("status", {})).structured_content["result"]
                if told and told["sweeps"] and any(run["step"] > 0 for run in told["sweeps"][0]["running_now"]):
                    return
                await asyncio.sleep(0.1)
    asyncio.run(until_it_trains())
    status = json.loads(subprocess.run([HEED, "status", "--json"], cwd=tmp_path, check=True, capture_output=True,
                                       text=True).stdout)["result"]["sweeps"][0]
    assert status["running"] == 0 and status["interrupted"] == 1, status


@pytest.mark.parametrize("name, given, words", [
    ("train", {}, "there is no tool train"), ("check", {}, "check needs config"),
    ("check", {"config": "a.toml", "overide": []}, "check has no argument overide"),
    ("check", {"config": 3}, "config of check must be"), ("plan", {"config": "#", "probe": 1}, "probe of plan must be"),
    ("check", {"config": "#", "overrides": "sweep.seeds=6"}, "overrides of check must be a list of texts"),
    ("run", {"config": "#", "jobs": True}, "jobs of run must be"), ("run", {"config": "#", "wait_seconds": "5"}, "must be"),
    ("check", {"config": "#", "overrides": ["name=\0"]}, "NUL")])
def test_wrong_calls_are_refused(tmp_path, name, given, words):
    (answer,) = ask(tmp_path, (name, given))
    assert answer.is_error and words in answer.content[0].text


def test_texts_are_never_options(tmp_path):
    (tmp_path / "a.toml").write_text(CONFIG)
    for words in (["--output", "planted.json", "--force"], ["--picture", "planted.svg"], ["--on", "slurm"]):
        for name in ("check", "run"):
            (answer,) = ask(tmp_path, (name, {"config": "a.toml", "overrides": words}))
            assert answer.is_error and "is not an assignment" in answer.content[0].text, answer
    (answer,) = ask(tmp_path, ("options", {"table": "--help"}))
    assert answer.is_error and answer.structured_content["status"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml"]


def test_an_edited_file_is_another_sweep_and_equal_calls_share_one(tmp_path):
    (tmp_path / "base.toml").write_text(CONFIG)
    (tmp_path / "a.toml").write_text('extends = "base.toml"\n')
    run = {"config": "a.toml", "overrides": ["train.steps=100"], "jobs": 1}

    async def calls():
        async with session(tmp_path) as client:
            await client.call_tool("run", {**run, "wait_seconds": 0})
            (tmp_path / "base.toml").write_text(CONFIG.replace("seeds = 6", "seeds = 5"))
            edited = await client.call_tool("run", {**run, "wait_seconds": 300})
            (tmp_path / "base.toml").write_text(CONFIG)
            both = await asyncio.gather(*(client.call_tool("run", {**run, "wait_seconds": 300}) for _ in range(2)))
            return edited, *both
    edited, first, second = (answer.structured_content["result"] for answer in asyncio.run(calls()))
    assert edited["report"]["seeds"] == [0, 1, 2, 3, 4] and first["report"]["seeds"] == [0, 1, 2, 3, 4, 5]
    assert first["sweep"] == second["sweep"] != edited["sweep"]


def test_a_program_that_dies_is_an_error_with_the_reason(tmp_path):
    async def call():
        async with session(tmp_path) as client:
            long = {"config": CONFIG, "overrides": ["train.steps=1000000"], "jobs": 1}
            await client.call_tool("run", {**long, "wait_seconds": 2})
            waiting = asyncio.create_task(client.call_tool("run", {**long, "wait_seconds": 60}))
            while not waiting.done():
                await asyncio.sleep(0.5)
                for process in pathlib.Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError):
                        words = (process / "cmdline").read_bytes().split(b"\0")
                        if os.readlink(process / "cwd") == str(tmp_path) and words[1:2] == [b"run"]:
                            os.kill(int(process.name), signal.SIGKILL)
            return await waiting
    answer = asyncio.run(call())
    assert answer.is_error and "heed ended by signal 9" in answer.structured_content["diagnostics"][0]["message"]


def test_tables_made_elsewhere_options_and_variants(tmp_path):
    (tmp_path / "t.csv").write_text("model,seed,acc\n" + "".join(f"{m},{s},0.{s + k}\n" for k, m in enumerate("ab")
                                                                 for s in range(6)))
    compared, options, variants = ask(
        tmp_path, ("compare", {"file": "t.csv", "metric": ["acc"], "reference": "a", "margin": 0.01}),
        ("options", {"table": "train.clip"}), ("variants", {"family": "attention.score"}))
    assert compared.structured_content["result"]["arms"][1]["answer"] == "better"
    assert options.structured_content["result"]["tables"][0]["options"][0]["key"] == "train.clip"
    assert "dot" in [v["name"] for v in variants.structured_content["result"]["families"][0]["variants"]]


def test_without_the_package_heed_says_how_to_get_it(tmp_path):
    told = subprocess.run([HEED, "mcp"], capture_output=True, text=True)
    assert told.returncode == 2 and "pip install '.[mcp]'" in told.stderr
    without = subprocess.run([sys.executable, "-c", "import sys, importlib.util as u; u.find_spec = lambda name: None\n"
                                                    "sys.argv = ['heed', 'mcp']\n"
                                                    "from heed._program import main; main()"],
                             capture_output=True, text=True)
    assert without.returncode == 1 and "pip install 'mcp" in without.stderr
