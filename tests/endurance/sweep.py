"""What tests of endurance share: a small sweep that tunes and compares, what it comes to, and what may not be left."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from small_config import SMALL  # noqa: E402
from tap import run  # noqa: E402

LONG = bool(os.environ.get("HEED_LONG"))

SWEEP = SMALL + """shards = 2
checkpoint_every = 7
evaluate_every = 20
[sweep]
seeds = {seeds}
[sweep.tune]
seeds = [100]
grid = {{ "train.learning_rate" = [1e-3, 1e-2] }}
[[sweep.block]]
grid = {{ "attention.score" = ["additive"] }}
"""


def written(folder, steps, seeds):
    """The sweep's file: four trials, then two arms with each seed."""
    file = folder / "endurance.toml"
    file.write_text(SWEEP.format(steps=steps, seeds=list(range(seeds))))
    return str(file)


def result(out):
    """All that a sweep came to but for its times: metrics, last checkpoints, choices, plan."""
    found = {}
    for file in out.glob("*/metrics.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        found[file.parent.name, "metrics"] = [
            {key: value for key, value in line.items() if key not in ("seconds", "step_seconds")} for line in lines]
        # Times are in its metadata, so that only what follows the header is compared.
        checkpoint = max(file.parent.glob("checkpoint-*.safetensors")).read_bytes()
        found[file.parent.name, "checkpoint"] = checkpoint[8 + int.from_bytes(checkpoint[:8], "little"):]
    for file in [*out.glob("sweeps/*/tuned.json"), *out.glob("sweeps/*/plan.json")]:
        found[file.name] = file.read_bytes()
    plan = json.loads(found["plan.json"])
    for key in ("frozen", "checksum"):  # when that was, and what had been finished; and a checksum of all
        del plan[key]
    found["plan.json"] = json.dumps(plan)
    return found


def expected(heed, config, folder, runs):
    """What nothing disturbed."""
    out = folder / "undisturbed"
    run([heed, "run", config, "--out", str(out)])
    whole = result(out)
    assert sum(key[-1] == "metrics" for key in whole) == runs, "the sweep is not as large as it should be"
    return whole


def replicates(out):
    """Folders of the runs that are compared, not of those that the arms were tuned with."""
    return sorted(file.parent for file in out.glob("*/config.toml") if "\nseed = 100\n" not in file.read_text())


def require_clean(out):
    """No file that a writer left aside, or that is there only while a run goes on, and no process that still works
    there."""
    stray = [path.name for pattern in (".*", "progress.json") for path in out.rglob(pattern)]
    assert not stray, f"left behind: {stray}"
    assert not processes(out), f"still there: {processes(out)}"


def processes(out):
    """Command lines of processes that name the folder."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(word.startswith(str(out)) for word in words):
            found[int(entry.parent.name)] = " ".join(words)
    return found
