"""Attention by itself: every score, long rows, and formulas, against PyTorch."""

import json

import tables
from rounds import Failure, Subject
from shared import Tools, alone, best, cell, in_turns, progress, ratio, say, say_table, with_memory

SCORES = ["dot", "scaled_dot", "cosine", "multiplicative", "additive"]


def attention_cases() -> list[dict]:
    """Every score at width 32, and the inner product's longest case and other width."""
    shapes = [(16, 4, 128), (4, 4, 512), (1, 4, 2048)]
    cases = [(score, *shape, 32) for score in SCORES for shape in shapes]
    cases += [("dot", *shape, 64) for shape in shapes] + [("dot", 1, 4, 8192, width) for width in (32, 64)]
    return [dict(zip(("score", "batch", "heads", "length", "width"), case), causal=causal)
            for case in cases for causal in (False, True)]


def measure(tools: Tools) -> list[dict]:
    say("Attention by itself, forward and backward. Memory is what the process needs beyond its inputs, in MB.")
    records = []
    for threads in tools.threads:
        peer = attention_peer(tools, threads)
        rows = []
        try:
            for case in attention_cases():
                progress(f"{case['score']}, length {case['length']}, {threads} threads")
                record = one_attention(tools, peer, case, threads)
                if peer and peer.process.poll() is not None:  # out of memory, for one
                    peer.close()
                    peer = attention_peer(tools, threads)
                records.append(record)
                rows.append(attention_row(record))
        finally:
            if peer:
                peer.close()
        say_table([f"{threads} thread{'s' * (threads > 1)}", "Heed ms", "MB", "eager ms", "MB", "compiled ms",
                   "to best"], rows)
    return records + long_rows(tools) + formula_rows(tools) + rule_rows(tools)


ALIBI = ["attention.score_mod=s - slope * abs(i - j)", "attention.parameters.slope.per=head",
         "attention.parameters.slope.start=2 ^ (-8 * (h + 1) / heads)"]
# A formula, and the same without it: its name, its options, those that it is held against.
FORMULAS = [("soft capping", ["attention.score_mod=30 * tanh(s / 30)"], []),
            ("alibi", ALIBI, []),
            ("window", ["attention.mask_mod=i - j <= 256"], ["attention.window=256"])]


def formula_rows(tools: Tools) -> list[dict]:
    """Formulas against the same attention without them, and composed in PyTorch with all scores in memory."""
    records, rows = [], []
    peer = attention_peer(tools, 1)
    try:
        for name, formula, without in FORMULAS:
            for score in ("scaled_dot", "additive"):
                for length in (512, 2048):
                    progress(f"{name} by formula, {score}, length {length}")
                    case = dict(zip(("score", "batch", "heads", "length", "width"), (score, 1, 4, length, 32)),
                                causal=True)
                    begun = {}
                    if peer and score == "scaled_dot":
                        peer.ask(json.dumps({**case, "compiled": False, "formula_name": name}))
                        begun["eager"] = peer
                    ours = {"heed": words_of(case, 1) + formula, "without": words_of(case, 1) + without}
                    _, turns = in_turns(tools, f"{name}, {score}, length {length}", ours, begun=begun, needed=(),
                                        seconds=0.15, enough=10)
                    records.append({**case, "formula": formula, "without": without, "threads": 1, **turns})
                    eager = turns.get("eager")
                    rows.append([f"{name}, {score}, T = {length}", *with_memory(turns["heed"]),
                                 tables.times(ratio(turns["heed"], turns["without"])), *with_memory(eager),
                                 tables.times(ratio(eager, turns["heed"]) if eager else None)])
    finally:
        if peer:
            peer.close()
    say_table(["by formula, 1 x 4 x T x 32, causal, 1 thread", "Heed ms", "MB", "to without", "eager ms", "MB",
               "eager to Heed"], rows)
    return records


def long_rows(tools: Tools) -> list[dict]:
    """Memory as the length grows sixteenfold, Heed alone."""
    lengths = (1024, 4096, 16384)
    records, rows = [], []
    kinds = [(score, []) for score in SCORES]
    kinds += [("dot", ["attention.normalizer=sparsemax"]), ("scaled_dot", ["position.kind=shaw"]),
              ("scaled_dot", ["attention.normalizer=sparsemax", "position.kind=shaw"])]
    for score, overrides in kinds:
        name = " ".join([score, *(word.split("=")[1] for word in overrides)])
        for length in lengths:
            progress(f"{name}, length {length}")
            case = dict(zip(("score", "batch", "heads", "length", "width"), (score, 1, 4, length, 32)), causal=True)
            _, result = alone(tools, f"attention {name}, length {length}", words_of(case, 1) + overrides, rounds=1,
                              seconds=0.01)
            records.append({**case, "overrides": overrides, "threads": 1, "heed": result})
        bytes_at = [r["heed"]["peak_bytes"] for r in records[-len(lengths):]]
        times_at = [r["heed"]["milliseconds"] for r in records[-len(lengths):]]
        rows.append([name, *(tables.megabytes(b) for b in bytes_at), tables.times(bytes_at[-1] / bytes_at[0]),
                     *(tables.milliseconds(t) for t in times_at)])
    say_table(["1 x 4 x T x 32, causal, 1 thread", *(f"MB, T = {n}" for n in lengths), "grows",
               *(f"ms, T = {n}" for n in lengths)], rows)
    return records


# What stands in softmax's place, or is added to it: rules that see a row once, ordered ones, others; biases.
RULES = ["none", "softmax_one", "softmax_sink", "scalable_softmax", "clipped_softmax", "softpick", "sigmoid", "sum",
         "stick_breaking", "sparsemax", "entmax15", "top_k", "hard"]
BIASES = ["alibi", "kerple", "t5"]


def rule_rows(tools: Tools) -> list[dict]:
    """Normalisers, biases, a formula and two maps for each head against softmax alone. The two maps have the heads and
    the width of values of the other rows; v1 has queries and keys of half that width."""
    words = {**{name: [f"attention.normalizer={name}"] for name in RULES},
             **{name: [f"position.kind={name}"] for name in BIASES},
             "relu(s) / seen": ["attention.normalizer=none", "attention.score_mod=relu(s) / seen"],
             "forget gates": ["attention.forget_gate=true"],
             **{f"two maps, {name}": [f"attention.differential={name}"] for name in ("v1", "v2")}}
    records, rows = [], []
    for name, overrides in words.items():
        row = [name]
        for score, length in (("scaled_dot", 512), ("scaled_dot", 2048), ("additive", 512)):
            progress(f"{name}, {score}, length {length}")
            case = dict(zip(("score", "batch", "heads", "length", "width"), (score, 1, 4, length, 32)), causal=True)
            _, turns = in_turns(tools, f"{name}, {score}, length {length}",
                                {"this": words_of(case, 1) + overrides, "softmax": words_of(case, 1)}, seconds=0.15,
                                enough=10)
            records.append({**case, "overrides": overrides, "threads": 1, **turns})
            row += [cell(turns["this"]), tables.times(ratio(turns["this"], turns["softmax"]))]
        rows.append(row)
    say_table(["1 x 4 x T x 32, causal, 1 thread", "scaled_dot 512, ms", "to softmax", "2048, ms", "to softmax",
               "additive 512, ms", "to softmax"], rows)
    return records


def attention_peer(tools: Tools, threads: int) -> Subject | None:
    if not tools.torch_python:
        return None
    try:
        return tools.peer("attention", threads)
    except Failure as failure:
        say(f"  left out: PyTorch: {failure}")
        return None


def attention_row(record: dict) -> list[str]:
    heed, eager, compiled = (record.get(key) for key in ("heed", "eager", "compiled"))
    shape = f"{record['batch']} x {record['heads']} x {record['length']} x {record['width']}"
    return [f"{record['score']}, {shape}, {'causal' if record['causal'] else 'full'}", *with_memory(heed),
            *with_memory(eager), cell(compiled), tables.times((best(eager, compiled) or {}).get("times_heed"))]


def words_of(case: dict, threads: int) -> list:
    """A case, as bench_engine takes it."""
    return ["attention", *(case[key] for key in ("score", "batch", "heads", "length", "width")),
            "causal" if case["causal"] else "full", threads, 0]


def one_attention(tools: Tools, peer: Subject | None, case: dict, threads: int) -> dict:
    words = words_of(case, threads)
    name = " ".join(map(str, words))
    results = {}
    # Compilation is tried where there is something to fuse around or instead of the attention kernel.
    compilable = case["score"] in ("additive", "cosine")
    for mode in ["eager"] + ["compiled"] * compilable if peer else []:
        where = f"PyTorch {mode}, {case['score']}, length {case['length']}"
        # Composed scores keep several arrays of [batch, heads, length, length, width].
        composed = 4.0 * case["batch"] * case["heads"] * case["length"] ** 2 * case["width"] * 3.5
        if case["score"] == "additive" and composed > 0.8 * tools.memory:
            say(f"  left out: {where}: it needs about {composed / 1e9:.1f} GB of memory")
            continue
        try:
            peer.ask(json.dumps({**case, "compiled": mode == "compiled"}))
        except Failure as failure:
            say(f"  left out: {where}: {failure}")
            continue
        _, turns = in_turns(tools, name, {"heed": words}, begun={mode: peer}, seconds=0.15, enough=10)
        results.setdefault("heed", turns["heed"])
        results[mode] = {**turns[mode], "times_heed": ratio(turns[mode], turns["heed"])}
        if mode == "compiled":
            results[mode].pop("peak_bytes", None)  # the compiler's own memory is in it
    if "heed" not in results:
        _, results["heed"] = alone(tools, name, words, seconds=0.15)
    return {**case, "threads": threads, **results}
