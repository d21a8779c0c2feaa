"""A small trained run for the tools of others to read. The scripts here are called with the `heed` program."""

import json
import pathlib
import random
import subprocess
import sys

HEED = sys.argv[1] if len(sys.argv) > 1 else "./heed"
CONFIG = """name = "for others"
[task]
kind = "text"
[task.text]
block = 24
[model]
layers = 2
width = 32
heads = 4
init_std = 0.2
[position]
kind = "learned"
[train]
steps = 30
batch = 16
learning_rate = 3e-3
evaluate_every = 10
inspect = "attention"
"""


def heed(*words: str) -> str:
    return subprocess.run([HEED, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


def train(place: pathlib.Path) -> pathlib.Path:
    """The folder of a run, in `place`/runs; its text is `place`/text.txt."""
    draw = random.Random(0)
    words = ["the", "a", "query", "key", "value", "attends", "to", "and", "looks", "up"]
    (place / "text.txt").write_text(" ".join(draw.choice(words) for _ in range(3000)) + "\n")
    (place / "others.toml").write_text(CONFIG)
    heed("run", place / "others.toml", f"data.path={place / 'text.txt'}", "--out", place / "runs")
    return next((place / "runs").glob("*/manifest.json")).parent


def metrics(folder: pathlib.Path) -> dict[str, list[tuple[int, float]]]:
    """All (step, value) of each metric, those of parts named "metric/part"."""
    found: dict[str, list[tuple[int, float]]] = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        values = json.loads(line)
        step = values.pop("step")
        for key in ("seconds", "step_seconds", "tokens"):
            values.pop(key, None)
        for name, value in values.items():
            parts = {f"{name}/{part}": v for part, v in value.items()} if isinstance(value, dict) else {name: value}
            for key, number in parts.items():
                found.setdefault(key, []).append((step, number))
    return found
