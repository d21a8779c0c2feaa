"""Recurrent decoders with attention, step by step, against Heed's own kernel on the same pairs, and PyTorch."""

import tables
from shared import Tools, alone, cell, in_turns, progress, ratio, say

# Attentions, each with its authors' score, at widths and lengths, with 32 rows: what it is called here and by the peer,
# and the options that make it.
DECODERS = [("bahdanau", "additive", "bahdanau", "bahdanau", []),
            ("luong", "dot", "luong", "luong", []),
            ("luong without feeding", "dot", "luong_without_feeding", "luong", ["recurrent.input_feeding=false"])]
DECODED = [(64, 64), (64, 256), (256, 64), (256, 256)]


def measure(tools: Tools) -> list[dict]:
    """Above the same decoder without attention, against Heed's own kernel on the same pairs: what going step by step
    costs."""
    say("Recurrent decoders (GRU, 32 rows) over a source as long, forward and backward, on one thread. `pairs` is")
    say("attention of the same queries, keys and values at once; `over` what attention adds, in times of that.")
    found = records(tools)
    say()
    say(tables.table(["decoder", "Heed ms", "without", "pairs", "over", "eager ms", "to eager"],
                     [[f"{r['attention']}, {r['score']}, width {r['width']}, length {r['length']}", cell(r["heed"]),
                       cell(r["alone"]), cell(r["pairs"]), tables.times(r["over"]), cell(r.get("eager")),
                       tables.times(ratio(r.get("eager"), r["heed"]))] for r in found]))
    return found


def records(tools: Tools) -> list[dict]:
    out = []
    for width, length in DECODED:
        size = [width, 32, length]
        _, without = alone(tools, "a decoder without attention", ["decoder", "none", *size])
        for name, score, peer, attention, options in DECODERS:
            progress(f"{name}, width {width}, length {length}")
            _, results = in_turns(tools, name,
                                  {"heed": ["decoder", attention, *size, f"attention.score={score}", *options]},
                                  {"eager": ["decoder", 1, peer, *size]})
            _, pairs = alone(tools, name, ["attention", score, 32, 1, length, width, "full", 1, 0], seconds=0.2)
            over = (results["heed"]["milliseconds"] - without["milliseconds"]) / pairs["milliseconds"]
            out.append({"attention": name, "score": score, "width": width, "length": length, "alone": without,
                        "pairs": pairs, "over": over, **results})
    return out
