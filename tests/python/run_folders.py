"""Run folders for tests, made by the command, and readers of their files that share no code with Heed."""

import json
import math
import os
import pathlib
import struct
import subprocess

import pandas

HEED = os.environ["HEED_COMMAND"]

COPY = """
name = "copies"
[task]
kind = "copy"
validation = 64
[task.copy]
length = 4
[model]
kind = "decoder"
layers = 2
width = 16
heads = 2
dropout = 0.0
[train]
steps = 30
batch = 16
evaluate_every = 10
checkpoint_every = 10
keep_checkpoints = 3
[sweep]
seeds = [0, 1]
[[sweep.block]]
grid = { "attention.score" = ["additive"] }
"""

PAIRS = """
name = "pairs"
[task]
kind = "reverse"
validation = 40
[task.reverse]
length = 4
[model]
kind = "encoder_decoder"
layers = 1
width = 16
heads = 2
dropout = 0.0
[train]
steps = 20
batch = 16
evaluate_every = 20
"""

TEXT = """
name = "Texte, größer"
precision = "float64"
[task]
kind = "text"
[task.text]
block = 16
[data]
path = "тексты 文.txt"
[model]
kind = "decoder"
layers = 1
width = 16
heads = 2
dropout = 0.0
[train]
steps = 40
batch = 8
evaluate_every = 20
"""

CLASSES = """
name = "classes"
[task]
kind = "listops"
validation = 40
[task.listops]
length = 24
[model]
kind = "encoder"
layers = 1
width = 16
heads = 2
dropout = 0.0
[train]
steps = 5
batch = 8
evaluate_every = 5
"""

# An evaluation takes minutes.
LONG = """
name = "long"
[task]
kind = "copy"
validation = 400000
[task.copy]
length = 12
[model]
kind = "decoder"
layers = 8
width = 64
heads = 8
dropout = 0.0
[train]
steps = 1
batch = 4
evaluate_every = 1
evaluate_batches = 1
"""


def heed(*words, cwd, status=0):
    """What the command prints."""
    told = subprocess.run([HEED, *map(str, words)], cwd=cwd, capture_output=True)
    assert told.returncode == status, told.stderr.decode()
    return told.stdout.decode() if status == 0 else told.stderr.decode()


def command(place, *words, **more):
    """What the command prints of the folder `runs` in `place`."""
    return heed(*words, "--out", "runs", cwd=place, **more)


def same(a, b):
    """A value of a data frame, and one of JSON."""
    if b is None:
        return a is None or a is pandas.NA or a is pandas.NaT or (isinstance(a, float) and math.isnan(a))
    return a == b


def make_runs(folder):
    """A folder `runs` with runs of all configurations above except LONG, made in `folder`."""
    lines = "".join(f"Öl und {i % 7} Äpfel, 文字.\n" for i in range(300))
    pathlib.Path(folder, "тексты 文.txt").write_text(lines, encoding="utf-8")
    for name, config in (("copy", COPY), ("pairs", PAIRS), ("text", TEXT), ("classes", CLASSES)):
        pathlib.Path(folder, f"{name}.toml").write_text(config, encoding="utf-8")
        heed("run", f"{name}.toml", "--out", "runs", cwd=folder)
    return pathlib.Path(folder, "runs")


def ids_of(out, name):
    """The IDs of the runs whose config.toml has this name, by the files only."""
    import tomllib

    found = []
    for file in sorted(pathlib.Path(out).glob("*/config.toml")):
        if tomllib.loads(file.read_text(encoding="utf-8"))["name"] == name:
            found.append(file.parent.name)
    return found


def read_safetensors(path):
    """{name: (type, shape, bytes)} of a file."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    return {name: (entry["dtype"], tuple(entry["shape"]),
                   data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]])
            for name, entry in header.items()}


def flat_metrics(path):
    """The lines of metrics.jsonl, with names of parts joined by dots."""
    lines = []
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        flat = {}
        for name, value in json.loads(line).items():
            flat.update({f"{name}.{part}": one for part, one in value.items()} if isinstance(value, dict)
                        else {name: value})
        lines.append(flat)
    return lines
