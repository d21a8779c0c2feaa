#!/usr/bin/env python3
"""Logs Heed's runs to MLflow, through MLflow's own client.

    python experiments/exports/to_mlflow.py runs --heed ./heed --tracking-uri sqlite:///mlflow.db
    python experiments/exports/to_mlflow.py runs --where "name = 'which score'" --experiment scores

A run is named by the label of its arm (or the config's name), its seed and its ID. Options become parameters, every
line of metrics.jsonl metrics with their steps and times, and the manifest and the arm's label tags. Which runs there
are is asked of `heed runs`, so that damaged folders are left out. A run that was logged before is skipped
where it was finished then, and logged anew where it was not.

Needs MLflow (pip install mlflow) in the Python that runs this, and Python 3.11.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import subprocess
import sys

from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

STATUS = {"finished": "FINISHED", "failed": "FAILED", "running": "RUNNING", "interrupted": "KILLED",
          "missing": "SCHEDULED"}
ABOUT_RUN = ("id", "name", "arm", "state", "seed", "created", "ended", "seconds", "step", "parameters", "threads",
             "starts", "heed", "compiler", "flags", "kernels", "blas", "numerics", "host", "cpu", "data", "failure")
METRICS_AT_ONCE, PARAMETERS_AT_ONCE = 1000, 100  # MLflow's limits of a batch
LONGEST_VALUE = 6000  # and of a parameter


def mlflow_name(name: str) -> str:
    """MLflow's names have letters, digits, and _ - . : / and spaces: block[2].residual becomes block.2.residual."""
    return re.sub(r"[^\w\-. :/]", "_", re.sub(r"\[([\w.]+)\]", r".\1", name))


def milliseconds(utc: str) -> int:
    return int(datetime.datetime.fromisoformat(utc).timestamp() * 1000)


def listed_runs(heed: str, out: str, where: str | None) -> list[dict]:
    command = [heed, "runs", out, "--json", *(["--where", where] if where else [])]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if listed.returncode != 0:
        sys.exit(listed.returncode)
    return json.loads(listed.stdout)["result"]["runs"]


def metrics_of(folder: pathlib.Path, start: int) -> list[Metric]:
    """All values of metrics.jsonl; those of parts, such as attention_entropy, by name and part."""
    path, found = folder / "metrics.jsonl", []
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # cut off by a kill, or being written
        values = json.loads(line)
        step, seconds = values.pop("step"), values.pop("seconds")
        values.pop("step_seconds", None)  # a measure of the line, as seconds are
        flat = {}
        for name, value in values.items():
            parts = value.items() if isinstance(value, dict) else [(None, value)]
            for part, number in parts:
                flat[name if part is None else f"{name}/{part}"] = math.nan if number is None else number
        at = start + int(seconds * 1000)
        found += [Metric(mlflow_name(name), float(value), at, step) for name, value in flat.items()]
    return found


def logged_before(client: MlflowClient, experiment: str, run: str):
    found = client.search_runs([experiment], f"tags.`heed.run` = '{run}'", max_results=1)
    return found[0] if found else None


def log(client: MlflowClient, experiment: str, out: pathlib.Path, run: dict) -> bool:
    """Whether there was anything to log."""
    before = logged_before(client, experiment, run["id"])
    if before:
        if before.info.status == "FINISHED":
            return False
        client.delete_run(before.info.run_id)
    start = milliseconds(run["created"]) if "created" in run else 0
    metrics = metrics_of(out / run["id"], start)
    measured = {metric.key.replace("/", ".") for metric in metrics}
    tags = {f"heed.{key}": str(run[key]) for key in ABOUT_RUN if key in run}
    tags["heed.run"] = tags.pop("heed.id")
    parameters = {mlflow_name(key): str(value)[:LONGEST_VALUE] for key, value in run.items()
                  if key in ("name", "seed") or (key not in ABOUT_RUN and mlflow_name(key) not in measured)}
    label = run.get("arm", run.get("name", ""))
    name = f"{label}, seed {run['seed']} ({run['id']})" if label and "seed" in run else f"{label} {run['id']}".strip()
    new = client.create_run(experiment, start_time=start, tags=tags, run_name=name).info
    values = [Param(key, value) for key, value in parameters.items()]
    client.log_batch(new.run_id, tags=[RunTag("mlflow.source.name", str(out / run["id"]))])
    for at in range(0, len(values), PARAMETERS_AT_ONCE):
        client.log_batch(new.run_id, params=values[at:at + PARAMETERS_AT_ONCE])
    for at in range(0, len(metrics), METRICS_AT_ONCE):
        client.log_batch(new.run_id, metrics=metrics[at:at + METRICS_AT_ONCE])
    end = milliseconds(run["ended"]) if "ended" in run else None
    client.set_terminated(new.run_id, STATUS[run["state"]], end)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", default="runs", help="the folder that runs were written to [runs]")
    parser.add_argument("--where", help="which runs: see `heed runs --help`")
    parser.add_argument("--experiment", default="heed", help="MLflow's experiment [heed]")
    parser.add_argument("--tracking-uri", help="where MLflow keeps its runs [as MLflow is set up]")
    parser.add_argument("--heed", default="./heed", help="the program [./heed]")
    chosen = parser.parse_args()

    client = MlflowClient(tracking_uri=chosen.tracking_uri)
    known = client.get_experiment_by_name(chosen.experiment)
    experiment = known.experiment_id if known else client.create_experiment(chosen.experiment)
    runs = listed_runs(chosen.heed, chosen.out, chosen.where)
    logged = sum(log(client, experiment, pathlib.Path(chosen.out), run) for run in runs)
    print(f"{logged} of {len(runs)} runs logged, {len(runs) - logged} were there before")


if __name__ == "__main__":
    main()
