"""Recurrent decoders with attention, step by step, against Heed's own kernel on the same pairs, and PyTorch."""

import tables
from shared import Tools, cell, in_turns, progress, ratio, say, say_table

# Attentions, each with its authors' score, at widths and lengths, with 32 sequences: what it is called here and by the
# peer, and the options that make it.
DECODERS = [("bahdanau", "additive", "bahdanau", "bahdanau", []),
            ("luong", "dot", "luong", "luong", []),
            ("luong without feeding", "dot", "luong_without_feeding", "luong", ["recurrent.input_feeding=false"])]
DECODED = [(64, 64), (64, 256), (256, 64), (256, 256)]


def measure(tools: Tools) -> list[dict]:
    """Attention within a decoder against Heed's own kernel on the same pairs: what going step by step costs."""
    say("Recurrent decoders (GRU, 32 sequences) over a source as long, forward and backward, on one thread.")
    say("`of one` is the same decoder over a source of one state, with its readout and feeding. `pairs` is attention of")
    say("the same queries, keys and values at once. `own` is what attention to the whole source adds to `of one`, in times")
    say("of `pairs`.")
    found = records(tools)
    say_table(["decoder", "Heed ms", "of one", "pairs", "own", "eager ms", "to eager"],
              [[f"{r['attention']}, {r['score']}, width {r['width']}, length {r['length']}", cell(r["heed"]),
                cell(r["of_one"]), cell(r["pairs"]), tables.times(r["own"]), cell(r.get("eager")),
                tables.times(ratio(r.get("eager"), r["heed"]))] for r in found])
    return found


def records(tools: Tools) -> list[dict]:
    out = []
    for width, length in DECODED:
        for name, score, peer, attention, options in DECODERS:
            progress(f"{name}, width {width}, length {length}")
            size, score_option = [width, 32, length], f"attention.score={score}"
            ours = {key: ["decoder", attention, *size, source, score_option, *options]
                    for key, source in (("heed", length), ("of_one", 1))}
            ours["pairs"] = ["attention", score, 32, 1, length, width, "full", 1, 0]
            _, results = in_turns(tools, name, ours, {"eager": ["decoder", 1, peer, *size]})
            added = results["heed"]["milliseconds"] - results["of_one"]["milliseconds"]
            out.append({"attention": name, "score": score, "width": width, "length": length,
                        "own": added / results["pairs"]["milliseconds"], **results})
    return out
