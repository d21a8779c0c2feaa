"""Sequence mixers, forward and backward, against Heed's causal attention, and against PyTorch by chunks."""

import tables
from shared import Tools, cell, in_turns, progress, ratio, say, say_table

WIDTH, HEADS, TOKENS = 128, 4, 8192
LENGTHS = [64, 512, 2048, 8192]
KINDS = ["linear_attention", "retention", "gla", "hgrn2", "mamba2", "delta_net", "gated_delta_net", "kda", "gdn2",
         "delta_product"]
# The decays and the strengths of the erase of a token and head, of keys as wide as those of attention: none, of the
# head, of each channel.
CHANNELS = WIDTH // HEADS
OPERATIONS = {"no decay": (0, 0), "decay by head": (1, 0), "decay by channel": (CHANNELS, 0), "erase": (0, 1),
              "erase, decay by head": (1, 1), "erase, decay by channel": (CHANNELS, 1),
              "both by channel": (CHANNELS, CHANNELS)}


def measure(tools: Tools) -> list[dict]:
    """Mixers of a block, with their maps, and operations alone, at lengths of which 8,192 tokens are a batch."""
    say(f"Sequence mixers of width {WIDTH} with {HEADS} heads, forward and backward to inputs and parameters; {TOKENS:,}")
    say("tokens in sequences of a length. `of attention`: the time in that of softmax attention with its projections.")
    mixers = records(tools, {kind: ["mixer", kind] for kind in ["attention", *KINDS]}, [WIDTH, HEADS], peer=True)
    say_table(["length", "threads", "mixer", "Heed ms", "of attention", "PyTorch ms", "to PyTorch"],
              [[str(r["length"]), str(r["threads"]), r["mixer"], cell(r["heed"]), tables.times(r["of_attention"]),
                cell(r.get("chunks")), tables.times(ratio(r.get("chunks"), r["heed"]))] for r in mixers])
    say("\nThe operations alone, from queries, keys and values:")
    operations = records(tools, {"attention": ["attention", "scaled_dot"],
                                 **{name: ["recurrence", *numbers] for name, numbers in OPERATIONS.items()}}, [])
    say_table(["length", "threads", "operation", "Heed ms", "of attention"],
              [[str(r["length"]), str(r["threads"]), r["mixer"], cell(r["heed"]), tables.times(r["of_attention"])]
               for r in operations])
    return mixers + [{**r, "alone": True} for r in operations]


def records(tools: Tools, ours: dict[str, list], sizes: list, peer: bool = False) -> list[dict]:
    out = []
    for threads in tools.threads:
        for length in LENGTHS:
            progress(f"length {length}, {threads} threads")
            batch, width = TOKENS // length, WIDTH // HEADS
            words = {name: [*start, batch, length, *sizes, threads] if start[0] == "mixer" else
                     [*start, batch, HEADS, length, width, *(["causal", threads, 0] if start[0] == "attention" else
                                                            [width, threads])]
                     for name, start in ours.items()}
            theirs = {"chunks": ["mixer", threads, batch, length, *sizes]} if peer else {}
            _, results = in_turns(tools, f"length {length}", words, theirs)
            base = results["attention"]["milliseconds"]
            for name in ours:
                record = {"length": length, "threads": threads, "mixer": name, "heed": results[name],
                          "of_attention": results[name]["milliseconds"] / base}
                if name == "gla" and "chunks" in results:
                    record["chunks"] = results["chunks"]
                out.append(record)
    return out
