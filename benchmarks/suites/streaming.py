"""What streams against the same composed of operations."""

import tables
from shared import Tools, cell, in_turns, progress, ratio, say, say_table, with_memory

COMPOSED = {"64 queries": 64, "an entry": None}  # at a time; None: all of the length


def measure(tools: Tools) -> list[dict]:
    say("What streams against the same composed of operations, so many queries of a batch entry at a time: forward and")
    say("backward, 4 heads of width 32, 1 thread. Memory is what the process needs beyond its inputs.")
    kinds = [("dot", [f"attention.normalizer={name}"]) for name in ("softmax", "sigmoid", "sparsemax", "hard")]
    kinds.append(("scaled_dot", ["position.kind=skewed"]))
    records, rows = [], []
    for score, overrides in kinds:
        for batch, length in ((16, 128), (4, 512), (1, 2048)):
            for mask in ("causal", "full")[: 1 if "skewed" in overrides[0] else 2]:
                name = f"{overrides[0].split('=')[1]}, {batch} x {length}, {mask}"
                progress(name)
                words = ["attention", score, batch, 4, length, 32, mask, 1]
                ours = {way: [*words, length if queries is None else queries, *overrides]
                        for way, queries in {"streams": 0, **COMPOSED}.items()}
                _, turns = in_turns(tools, name, ours, needed=(), seconds=0.15)
                records.append({"score": score, "overrides": overrides, "batch": batch, "length": length,
                                "mask": mask, **turns})
                row = [name, *with_memory(turns["streams"])]
                for way in COMPOSED:
                    row += [tables.times(ratio(turns[way], turns["streams"])),
                            cell(turns[way], tables.megabytes, "peak_bytes")]
                rows.append(row)
    say_table(["", "streams, ms", "MB", *(word for way in COMPOSED for word in (f"to {way}", "MB"))], rows)
    return records
