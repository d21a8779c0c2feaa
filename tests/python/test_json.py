"""Every command's JSON fits its schema, and a program that knows only the schemas gets its answers."""

import json
import os
import signal
import subprocess

import heed
import jsonschema
import pytest

HEED = os.environ["HEED_COMMAND"]

CONFIG = """name = "small"
[task]
kind = "reverse"
[model]
width = 16
heads = 2
layers = 1
[train]
steps = 30
batch = 4
checkpoint_every = 30
[sweep]
seeds = 2
[[sweep.block]]
grid = { "attention.score" = ["dot"] }
"""


def schema(name):
    return json.loads(subprocess.run([HEED, "schema", name], check=True, capture_output=True, text=True).stdout)


SCHEMAS = subprocess.run([HEED, "schema"], check=True, capture_output=True, text=True).stdout.split()


def validate(value, name):
    of = schema(name)
    jsonschema.Draft202012Validator.check_schema(of)
    jsonschema.Draft202012Validator(of).validate(value)


def ask(folder, *words, status=0, stdin=None):
    """The envelope that a command says, which fits the command's schema."""
    done = subprocess.run([HEED, *words, "--json"], cwd=folder, capture_output=True, text=True, input=stdin)
    said = done.stdout.splitlines()[-1] if words[0] == "run" else done.stdout
    assert said, done
    envelope = json.loads(said)
    validate(envelope, words[0])
    assert (done.returncode, envelope["status"]) == (status, status), (words, done.stderr)
    assert (envelope["result"] is None) == (status == 2), envelope
    assert envelope["command"] == words[0] and envelope["heed"] == heed.__version__
    if words[0] == "run":
        for line in done.stdout.splitlines()[:-1]:
            validate(json.loads(line), "run-line")
    return envelope


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("json")
    (place / "small.toml").write_text(CONFIG)
    (place / "table.csv").write_text("model,seed,acc\n" + "".join(f"{m},{s},0.{s + 1}\n" for m in "ab" for s in range(6)))
    return place


@pytest.fixture(scope="module")
def run(folder):
    return ask(folder, "run", "small.toml")["result"]["report"]["arms"][0]["runs"][0]["id"]


def test_every_command_fits_its_schema(folder, run):
    asked = [
        ["new", "copy"], ["new", "text", "--output", "-"], ["check", "small.toml"], ["run", "small.toml"],
        ["plan", "small.toml", "--no-probe"], ["plan", "small.toml", "sweep.match=parameters", "--no-probe"],
        ["plan", "small.toml", 'sweep.tune={seeds=[100,101],grid={"train.learning_rate"=[0.1,0.01]}}', "--no-probe"],
        ["plan", "small.toml", 'sweep.vary=["init","order"]', "--no-probe"],
        ["show", "small.toml"], ["show", run], ["show", "small.toml", "--diff-from", "reference"],
        ["show", "small.toml", "--diff-from", "defaults"], ["data", "small.toml"], ["status"], ["report"],
        ["compare", "table.csv", "--metric", "acc", "--reference", "a"], ["runs"], ["runs", "--columns", "id,seed"],
        ["diff", run, "small.toml"], ["diff", run, run], ["rerun", run], ["export", "--to", "csv"],
        ["generate", run, "--prompt", "1 2 3 |", "--tokens", "3"], ["evaluate", run], ["inspect", run, "--rows", "4"],
        ["inspect", "small.toml", "--rows", "4"], ["attend", run, "--row", "0"], ["variants"], ["variants", "score"],
        ["variants", "score", "--measure", "--lengths", "8", "--seconds", "0"], ["options"], ["options", "train"],
        ["check", "small.toml", "--picture", "mask.svg"],
    ]
    for words in asked:
        ask(folder, *words)
    assert {words[0] for words in asked} == set(SCHEMAS) - {"config", "report-document", "run-line"}


def test_results_say_what_files_have(folder, run):
    shown = ask(folder, "show", run)["result"]
    assert shown["run"]["state"] == "finished" and shown["options"]["attention.score"] == '"scaled_dot"'
    assert shown["toml"] == (folder / "runs" / run / "config.toml").read_text()
    last = json.loads((folder / "runs" / run / "metrics.jsonl").read_text().splitlines()[-1])
    by_name = {metric["name"]: metric for metric in shown["run"]["metrics"]}
    assert by_name["val_loss"]["last"] == last["val_loss"] and by_name["val_loss"]["step"] == 30
    assert ask(folder, "evaluate", run)["result"]["metrics"]["val_loss"] == pytest.approx(last["val_loss"], abs=1e-6)
    status = ask(folder, "status")["result"]
    assert status["runs"] == 4 and [(s["runs"], s["finished"]) for s in status["sweeps"]] == [(4, 4)]
    differences = ask(folder, "show", "small.toml", "--diff-from", "reference")["result"]["differences"]
    assert differences == [
        {"arm": "score = dot", "option": "attention.score", "from": '"scaled_dot"', "to": '"dot"'},
        {"arm": "score = dot", "option": "attention.scaled_dot.scale", "from": '"sqrt"', "to": None}]
    rerun = ask(folder, "rerun", run)["result"]
    assert rerun["same"] and rerun["numbers"] > 1000 and rerun["differences"] == []
    data = ask(folder, "data", "small.toml")["result"]
    assert data["training"] is None and data["chance"]["accuracy"] == 0.125  # 1 of 8 symbols
    printed = subprocess.run([HEED, "data", "small.toml"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert f"validation {data['validation']}; test {data['test']}\n" in printed.replace(",", "")
    text = ask(folder, "generate", run, "--prompt", "1 2 3 |", "--tokens", "3")["result"]["text"]
    assert text + "\n" == subprocess.run([HEED, "generate", run, "--prompt", "1 2 3 |", "--tokens", "3"], cwd=folder,
                                         check=True, capture_output=True, text=True).stdout


def test_a_file_has_the_result_without_envelope(folder, run):
    done = subprocess.run([HEED, "status", "--format", "json", "--output", "status.json"], cwd=folder, check=True,
                          capture_output=True, text=True)
    assert done.stdout == "status.json\n"
    assert json.loads((folder / "status.json").read_text()) == ask(folder, "status")["result"]


@pytest.mark.parametrize("words, expected", [
    (["check", "small.toml", "attention.score=addtive"], {"option": "attention.score", "nearest": "additive"}),
    (["check", "small.toml", "--pictur", "x"], {"nearest": "--picture", "hint": "heed check --help lists what is available"}),
    (["evaluate", "zzzz"], {"file": None, "nearest": None}),
    (["show", "nothing.toml"], {"file": "nothing.toml"}),
    (["compare", "table.csv", "--metric", "ac", "--reference", "a"], {"nearest": "acc"}),
    (["report", "--sweep", "large"], {"option": None}),
    (["run", "small.toml", "train.steps=many"], {"option": "train.steps", "file": "command line", "line": None}),
    (["data", "small.toml", "task.kind=text"], {"option": "data.path"}),
    (["options", "trian"], {"nearest": "train"}),
])
def test_errors_are_data(folder, run, words, expected):
    (error,) = [d for d in ask(folder, *words, status=2)["diagnostics"] if d["severity"] == "error"]
    assert {key: error[key] for key in expected} == expected
    assert error["message"] and error["found"]


def test_json_is_utf8_whatever_names_are(folder):
    name = os.fsencode(folder) + b"/r\xff"
    os.mkdir(name)
    for words in (["status", name], ["status", name + b"x"], ["run", "small.toml", "train.steps=2", "--out", name]):
        done = subprocess.run([HEED, *words, "--json"], cwd=folder, capture_output=True)
        assert done.returncode == (2 if words[-1].endswith(b"x") else 0)
        for line in done.stdout.decode().splitlines() if words[0] == "run" else [done.stdout.decode()]:
            assert json.loads(line)


def test_notes_are_diagnostics(folder, run):
    (folder / "runs" / "0123456789abcdef").mkdir()
    try:
        (note,) = ask(folder, "runs")["diagnostics"]
        assert note["severity"] == "note" and "0123456789abcdef is excluded" in note["message"]
    finally:
        (folder / "runs" / "0123456789abcdef").rmdir()


def test_configs_come_from_standard_input(folder, run):
    assert ask(folder, "check", "-", stdin=CONFIG)["result"]["arms"] == ["reference", "score = dot"]
    done = ask(folder, "run", "-", stdin=CONFIG)["result"]
    assert done["runs"] == 4 and done["finished"] == 0  # they are there
    (error,) = ask(folder, "check", "-", status=2, stdin="[model]\nwidht = 3\n")["diagnostics"]
    assert (error["file"], error["line"], error["nearest"]) == ("standard input", 2, "width")
    for words in (["check", "-"], ["show", "-"], ["diff", "-", run]):
        (error,) = ask(folder, *words, status=2, stdin="")["diagnostics"]
        assert error["found"].startswith("standard input is empty")
    assert ask(folder, "show", "-", "--diff-from", "reference", stdin=CONFIG)["result"]["differences"]
    assert ask(folder, "diff", "-", run, stdin=CONFIG)["result"]["options"] == []
    with subprocess.Popen([HEED, "check", "-"], stdin=os.open(folder, os.O_RDONLY),
                          stderr=subprocess.PIPE, text=True) as process:
        assert "standard input can't be read" in process.stderr.read()
    assert process.returncode == 2
    blocks = 'sweep.block=[{ grid = { "model.width" = [8, 24] } }]'
    assert len(ask(folder, "check", "-", blocks, stdin=CONFIG)["result"]["arms"]) == 3


def test_lines_say_which_sweep_is_superseded(folder, run):
    done = subprocess.run([HEED, "run", "small.toml", "sweep.seeds=3", "--json"], cwd=folder, check=True,
                          capture_output=True, text=True)
    messages = [line["text"] for line in map(json.loads, done.stdout.splitlines()[:-1]) if line["event"] == "message"]
    assert messages[0].startswith("a new sweep: the configuration differs from the one of "), messages
    assert "4 of its 4 runs are in this one, too, 4 of them finished" in messages[1]
    refused = subprocess.run([HEED, "run", "small.toml", "--json", "--format", "terminal"], cwd=folder,
                             capture_output=True, text=True)
    assert refused.returncode == 2 and "--json is short for --format json" in refused.stderr


def test_a_stopped_sweep_says_so(folder):
    with subprocess.Popen([HEED, "run", "small.toml", "train.steps=1000000", "--json", "--out", "long"], cwd=folder,
                          stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if json.loads(line)["event"] == "progress":
                break
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout
    envelope = json.loads(last)
    validate(envelope, "run")
    assert process.returncode == envelope["status"] == 130
    result = envelope["result"]
    assert result["report"] is None and (result["runs"], result["to_do"]) == (4, 4) and result["interrupted"] >= 1
    (error,) = [d for d in envelope["diagnostics"] if d["severity"] == "error"]
    assert error["found"].startswith("stopped with 0 of 4 runs done; ") and error["allowed"] is None
    assert "run small.toml" in error["hint"]


def test_a_program_with_the_schemas_only(tmp_path):
    """Writes a config from the schema, mends two mistakes by the diagnostics, runs it, and reads the answers."""
    config = schema("config")
    tasks = config["properties"]["task"]["properties"]["kind"]["enum"]
    settings = {"task.kind": next(task for task in tasks if task == "reverse"), "attention.score": "addtive",
                "model.width": "wide", "train.steps": 30, "model.layers": 1}
    sweep = ['sweep.seeds=6', 'sweep.block=[{ grid = { "position.kind" = ["none"] } }]']
    mended = set()
    for _ in range(5):
        words = [f"{key}={value}" for key, value in settings.items()] + sweep
        envelope = json.loads(subprocess.run([HEED, "check", "-", *words, "--json"], cwd=tmp_path, capture_output=True,
                                             text=True, input="#\n").stdout)
        errors = [d for d in envelope["diagnostics"] if d["severity"] == "error"]
        for error in errors:
            table, name = error["option"].split(".")
            of = config["properties"][table]["properties"][name]
            settings[error["option"]] = error["nearest"] or of["default"]
            mended.add(error["option"])
        if envelope["status"] == 0:
            break
    assert mended == {"attention.score", "model.width"} and settings["attention.score"] == "additive"
    result = ask(tmp_path, "run", "-", *words, stdin="#")["result"]
    arms = {arm["label"]: arm["answer"] for arm in result["report"]["arms"]}
    assert list(arms) == ["reference (position = sinusoidal)", "position = none"]
    assert arms["position = none"] in ("better", "worse", "same", "undecided")
    assert ask(tmp_path, "status")["result"]["sweeps"][0]["finished"] == 12


def test_the_same_in_python(tmp_path):
    """The loop of `test_a_program_with_the_schemas_only` without a process for each command."""
    assert heed.schema() == schema("config") and heed.schema("check") == schema("check")
    with pytest.raises(heed.Refused, match="did you mean 'check'"):
        heed.schema("chek")
    config = {"task": {"kind": "reverse"}, "attention": {"score": "addtive"}, "model": {"width": "wide", "layers": 1},
              "train": {"steps": 30}, "sweep": {"seeds": 6, "block": [{"grid": {"position.kind": ["none"]}}]}}
    with pytest.raises(heed.Refused) as refused:
        heed.check(config)
    for mistake in refused.value.mistakes:
        table, name = mistake.option.split(".")
        config[table][name] = mistake.nearest or heed.schema()["properties"][table]["properties"][name]["default"]
    assert [mistake.option for mistake in refused.value.mistakes] == ["attention.score", "model.width"]
    heed.check(config)
    sweep = heed.run(config, out=tmp_path / "runs", progress=False)
    assert sweep.answers["position = none"] in ("better", "worse", "same", "undecided")
    validate_document(sweep.report.document)


def validate_document(document):
    jsonschema.Draft202012Validator(schema("report-document")).validate(document)


def test_the_schema_sees_into_lists_of_arms():
    validator = jsonschema.Draft202012Validator(schema("config"))

    def wrong(arm):
        block = {"kind": "list", "arms": [arm]}
        return [error.message for error in validator.iter_errors({"sweep": {"block": [block]}})]

    for arm in ({"attention.score": "dot"}, {"attention": {"score": "dot"}}, {"block[1].attention.window": 4},
                {"block.override": [{"layers": [0], "norm": "post"}]}, {"attention": {"cosine": {"temperature": 2.0}}}):
        assert wrong(arm) == [], arm
    for arm in ({"attention.score": "flash"}, {"attention": {"scroe": "dot"}}, {"block[1].attention.window": "x"},
                {"attention": {"score": "flash"}}, {"block.override": [{"layers": [0], "norm": "no"}]}):
        assert wrong(arm), arm
