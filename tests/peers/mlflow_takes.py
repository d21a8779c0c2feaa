#!/usr/bin/env python3
"""experiments/exports/to_mlflow.py gives MLflow all metrics and options of a run, once.

Usage: mlflow_takes.py [HEED]
"""

import pathlib
import subprocess
import sys
import tempfile

from mlflow.tracking import MlflowClient

import trained

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "exports" / "to_mlflow.py"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        run = trained.train(place)
        uri = f"sqlite:///{place / 'mlflow.db'}"
        command = [sys.executable, SCRIPT, place / "runs", "--heed", trained.HEED, "--tracking-uri", uri]

        def logged() -> str:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        assert logged() == "1 of 1 runs logged, 0 were there before"
        assert logged() == "0 of 1 runs logged, 1 were there before"

        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name("heed").experiment_id
        [taken] = client.search_runs([experiment])
        assert taken.info.status == "FINISHED"
        assert taken.data.tags["heed.run"] == run.name
        assert taken.data.params["attention.score"] == "scaled_dot"
        assert taken.data.params["train.learning_rate"] == "0.003"
        wanted = trained.metrics(run)
        assert sorted(taken.data.metrics) == sorted([*wanted, "tokens"]), f"{sorted(taken.data.metrics)}"
        for key, values in wanted.items():
            history = sorted((metric.step, metric.value)
                             for metric in client.get_metric_history(taken.info.run_id, key))
            assert history == sorted(values), f"{key}: {history} instead of {values}"
    print(f"ok: MLflow has {len(wanted)} metrics and {len(taken.data.params)} parameters of the run")


main()
