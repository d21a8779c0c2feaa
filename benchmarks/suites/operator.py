"""Heed's attention as an operator of PyTorch (heed.torch) against the same in PyTorch, in turns."""

import contextlib
import json

import tables
from rounds import Failure, Subject, take_turns
from shared import SERVE, Tools, best, cell, progress, ratio, say, say_table, with_memory

WAYS = {"heed.torch": {"compiled": False, "operator": True}, "eager": {"compiled": False},
        "compiled": {"compiled": True}}
# By score and length: the batch, and the width of a head. Composed scores need memory for all pairs and features.
SHAPES = {"additive": {128: (16, 32), 512: (4, 32), 2048: (1, 32)},
          "scaled_dot": {128: (16, 64), 512: (4, 64), 2048: (1, 64)}}


def measure(tools: Tools) -> list[dict]:
    say("Attention in PyTorch, forward and backward: heed.torch against the same composed in PyTorch (additive), or "
        "against scaled_dot_product_attention (scaled_dot). Memory is what the process needs beyond its inputs, in MB.")
    if not tools.torch_python:
        return []
    records = []
    for threads in tools.threads:
        rows = []
        for score, shapes in SHAPES.items():
            for length, (batch, width) in shapes.items():
                for causal in (True, False):
                    case = {"score": score, "batch": batch, "heads": 4, "length": length, "width": width,
                            "causal": causal}
                    progress(f"{score}, length {length}, {threads} threads")
                    results = one_case(tools, case, threads)
                    if results is None:
                        return records
                    records.append({**case, "threads": threads, **results})
                    rows.append(row_of(case, results))
        say_table([f"{threads} thread{'s' * (threads > 1)}", "heed.torch ms", "MB", "eager ms", "MB", "to eager",
                   "compiled ms", "to compiled"], rows)
    return records


def one_case(tools: Tools, case: dict, threads: int) -> dict | None:
    """A process for each way, as the memory of each is measured; None where heed.torch can't be imported."""
    environment = {**tools.environment, "OMP_NUM_THREADS": str(threads),
                   "PYTHONPATH": str(tools.build / "python" / "package")}
    with contextlib.ExitStack() as stack:
        subjects = {}
        for way, options in WAYS.items():
            if way == "compiled" and case["score"] == "scaled_dot":
                continue  # there is nothing to fuse
            subject = Subject([tools.torch_python, str(SERVE), "attention", str(threads)], environment)
            stack.callback(subject.close)
            try:
                subject.ask(json.dumps({**case, **options}))
            except Failure as failure:
                say(f"  left out: {way}: {failure}")
                if way == "heed.torch":
                    return None
                continue
            subjects[way] = subject
        return take_turns(subjects, tools.rounds, 0.25, 20)


def row_of(case: dict, results: dict) -> list[str]:
    heed, eager, compiled = (results.get(way) for way in WAYS)
    shape = f"{case['batch']} x {case['heads']} x {case['length']} x {case['width']}"
    return [f"{case['score']}, {shape}, {'causal' if case['causal'] else 'full'}", *with_memory(heed),
            *with_memory(eager), tables.times(ratio(best(eager), heed)), cell(compiled), tables.times(ratio(best(compiled), heed))]
