#!/usr/bin/env python3
"""TensorBoard's own reader finds every metric of a run in what `heed export --to tensorboard` wrote.

Usage: tensorboard_reads.py [HEED]
"""

import pathlib
import tempfile

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import trained


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        run = trained.train(place)
        trained.heed("export", "--to", "tensorboard", "--out", place / "runs", "--into", place / "board")
        board = EventAccumulator(str(next((place / "board").glob(f"*_{run.name}"))))
        board.Reload()
        wanted = trained.metrics(run)
        found = board.Tags()["scalars"]
        assert sorted(found) == sorted(wanted), f"{sorted(found)} instead of {sorted(wanted)}"
        for tag, values in wanted.items():
            scalars = [(scalar.step, scalar.value) for scalar in board.Scalars(tag)]
            assert scalars == [(step, float(numpy.float32(value))) for step, value in values], tag
    print(f"ok: TensorBoard reads {len(wanted)} metrics, {sum(map(len, wanted.values()))} values")


main()
