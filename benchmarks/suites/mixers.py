"""Sequence mixers, forward and backward, against Heed's causal attention, and against PyTorch by chunks."""

import tables
from shared import Tools, cell, in_turns, progress, ratio, say, say_table

WIDTH, HEADS, TOKENS = 128, 4, 8192
LENGTHS = [64, 512, 2048, 8192]
KINDS = ["linear_attention", "retention", "gla", "hgrn2", "mamba2"]


def measure(tools: Tools) -> list[dict]:
    """Mixers of a block, with their maps, at lengths of which 8,192 tokens are a batch."""
    say(f"Sequence mixers of width {WIDTH} with {HEADS} heads, forward and backward to inputs and parameters; {TOKENS:,}")
    say("tokens in sequences of a length. `of attention`: the time in that of softmax attention with its projections.")
    found = records(tools)
    say_table(["length", "threads", "mixer", "Heed ms", "of attention", "PyTorch ms", "to PyTorch"],
              [[r["length"], r["threads"], r["mixer"], cell(r["heed"]), tables.times(r["of_attention"]),
                cell(r.get("chunks")), tables.times(ratio(r.get("chunks"), r["heed"]))] for r in found])
    return found


def records(tools: Tools) -> list[dict]:
    out = []
    for threads in tools.threads:
        for length in LENGTHS:
            progress(f"length {length}, {threads} threads")
            size = [TOKENS // length, length, WIDTH, HEADS]
            ours = {kind: ["mixer", kind, *size, threads] for kind in ["attention", *KINDS]}
            _, results = in_turns(tools, f"length {length}", ours, {"chunks": ["mixer", threads, *size]})
            base = results["attention"]["milliseconds"]
            for kind in ours:
                record = {"length": length, "threads": threads, "mixer": kind, "heed": results[kind],
                          "of_attention": results[kind]["milliseconds"] / base}
                if kind == "gla" and "chunks" in results:
                    record["chunks"] = results["chunks"]
                out.append(record)
    return out
