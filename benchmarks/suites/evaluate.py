"""Evaluation of a validation split: time and memory, against PyTorch."""

import dataclasses

import tables
from shared import SIZES, Size, Tools, beside_both, best, cell, on_threads, ratio, say, say_table, with_memory

EVALUATED = {"M": SIZES["M"], "block 1024": Size(4, 128, 4, 1024, 4)}


def measure(tools: Tools) -> list[dict]:
    """The validation split of the text, a tenth of it: PyTorch without gradients, its batches training's."""
    say("The whole validation split, 20,000 characters. Memory is what the process needs beyond the model, in MB.")
    records, rows = [], []
    for name in EVALUATED:
        for threads in tools.threads:
            record = one(tools, name, threads)
            records.append(record)
            eager, compiled, heed = (record.get(key) for key in ("eager", "compiled", "heed"))
            rows.append([on_threads(name, threads), *with_memory(heed), *with_memory(eager), cell(compiled),
                         tables.times(ratio(best(eager, compiled), heed))])
    say_table(["evaluation", "Heed ms", "MB", "eager ms", "MB", "compiled ms", "to best"], rows)
    return records


def one(tools: Tools, name: str, threads: int) -> dict:
    size = EVALUATED[name]
    _, results = beside_both(tools, "evaluate", name, size, threads)
    return {"size": name, "threads": threads, **dataclasses.asdict(size), **results}
