"""What `./heed bench` measures. Each suite prints its tables and returns what goes into the JSON."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import data as large_data
import scale as folders
import sweeps as of_sweeps
import tables
from rounds import Failure, Subject, take_turns

HERE = pathlib.Path(__file__).resolve().parent
RECIPE = HERE.parent / "configs" / "papers" / "nanogpt-char.toml"
SERVE, TRAIN = HERE / "peers" / "serve.py", HERE / "peers" / "train.py"


@dataclasses.dataclass
class Tools:
    """What is measured with: the build folder, a Python with PyTorch (or none), how long to take, of how many run
    folders the suite scale is, and of what size the data of the suite data."""

    build: pathlib.Path
    torch_python: str | None
    threads: list[int]
    rounds: int
    text: pathlib.Path
    memory: float
    folders: int
    megabytes: int
    pairs: int

    @property
    def engine(self) -> str:
        return str(self.build / "benchmarks" / "bench_engine")

    def peer(self, what: str, threads: int, *words) -> Subject:
        return Subject([self.torch_python, str(SERVE), what, str(threads), *map(str, words)],
                       {"OMP_NUM_THREADS": str(threads)})


@dataclasses.dataclass
class Size:
    """A model of nanoGPT's recipe."""

    layers: int
    width: int
    heads: int
    block: int
    batch: int

    def overrides(self) -> dict:
        return {"model.layers": self.layers, "model.width": self.width, "model.heads": self.heads,
                "task.text.block": self.block, "train.batch": self.batch}

    def words(self) -> list[int]:
        return [self.layers, self.width, self.heads, self.block, self.batch]


ODD = Size(4, 96, 3, 77, 12)
SIZES = {"S": Size(2, 64, 2, 32, 32), "M": Size(4, 128, 4, 64, 12), "L": Size(8, 256, 4, 128, 16)}


def say(text: str = ""):
    progress()
    print(text, flush=True)


def progress(text: str = ""):
    """A line that is drawn again, where there is a terminal; with no text it goes."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def ratio(peer: dict | None, heed: dict) -> float | None:
    """How many times faster Heed is."""
    if not peer or "milliseconds" not in peer or "milliseconds" not in heed:
        return None
    return peer["milliseconds"] / heed["milliseconds"]


def best(*peers: dict | None) -> dict | None:
    return min((p for p in peers if p and "milliseconds" in p), key=lambda p: p["milliseconds"], default=None)


def cell(result: dict | None, kind=tables.milliseconds, key: str = "milliseconds") -> str:
    return "failed" if result and "error" in result else kind(result.get(key) if result else None)


def note_failures(results: dict[str, dict], where: str):
    for name, result in results.items():
        if "error" in result:
            say(f"  left out: {name}, {where}: {result['error']}")


# ---- steps ----------------------------------------------------------------------------------------------------------


def steps(tools: Tools) -> list[dict]:
    say("Whole training steps: batch, forward, backward, clipping, AdamW. The peak is sgemm of 384 x 384 x 128,")
    say("single-threaded calls from as many threads, measured in turns with the steps.")
    records, rows = [], []
    for name, size in SIZES.items():
        for threads in tools.threads:
            progress(f"{name}, {threads} threads" + (": PyTorch compiles" if tools.torch_python else ""))
            record = one_step(tools, name, size, threads)
            records.append(record)
            eager, compiled, heed = (record.get(key) for key in ("eager", "compiled", "heed"))
            rows.append([f"{name}, {threads} thread{'s' * (threads > 1)}", cell(heed),
                         f"{record['gflops']:.0f}", f"{record['peak_gflops']:.0f}", tables.percent(record["of_peak"]),
                         cell(eager), cell(compiled), tables.times(ratio(eager, heed)),
                         tables.times(ratio(best(eager, compiled), heed))])
    say()
    say(tables.table(["step", "Heed ms", "GFLOP/s", "peak", "of peak", "eager ms", "compiled ms", "to eager",
                      "to best"], rows))
    records += odd_sizes(tools, records)
    for name in SIZES:
        mine = {r["threads"]: r["heed"]["milliseconds"] for r in records if r["size"] == name}
        if {1, 2} <= mine.keys():
            say(f"{name}: two threads are {mine[1] / mine[2]:.2f} times as fast as one")
    return records


def odd_sizes(tools: Tools, neighbours: list[dict]) -> list[dict]:
    """A model whose extents are no multiples of vectors or blocks, per operation against the sizes around it."""
    threads = min(tools.threads)
    record = heed_step(tools, "odd", ODD, threads)
    around = {r["size"]: r["gflops"] / record["gflops"] for r in neighbours
              if r["threads"] == threads and r["size"] != "L"}
    say(f"Width {ODD.width}, {ODD.heads} heads, block {ODD.block}: {record['gflops']:.0f} GFLOP/s on {threads} "
        f"thread{'s' * (threads > 1)}; " + ", ".join(f"{name} is {value:.2f} times as fast for each operation"
                                                     for name, value in around.items()))
    return [record]


def heed_step(tools: Tools, name: str, size: Size, threads: int) -> dict:
    overrides = [f"{key}={value}" for key, value in size.overrides().items()]
    subject = Subject([tools.engine, "steps", str(threads), str(RECIPE), f"data.path={tools.text}", *overrides])
    try:
        result = take_turns({"heed": subject}, tools.rounds, 0.5)["heed"]
    finally:
        subject.close()
    if "error" in result:
        raise Failure(f"{name}: {result['error']}")
    return {"size": name, "threads": threads, **dataclasses.asdict(size), "flops": subject.about["flops"],
            "gflops": subject.about["flops"] / result["milliseconds"] / 1e6, "heed": result}


def in_turns(tools: Tools, what: str, name: str, size: Size, threads: int, others: dict[str, list[str]]) \
        -> tuple[dict[str, dict], dict[str, dict]]:
    """Other programs, Heed, and PyTorch eager and compiled at one size, in turns: what they say of themselves, and their
    results, by name."""
    overrides = [f"{key}={value}" for key, value in size.overrides().items()]
    commands = others | {"heed": [tools.engine, what, str(threads), str(RECIPE), f"data.path={tools.text}", *overrides]}
    with contextlib.ExitStack() as stack:
        def started(subject: Subject) -> Subject:
            stack.callback(subject.close)
            return subject

        subjects = {key: started(Subject(command)) for key, command in commands.items()}
        for mode in ("eager", "compiled") if tools.torch_python else ():
            try:
                subjects[mode] = started(tools.peer(what, threads, mode, tools.text, *size.words()))
            except Failure as failure:
                say(f"  left out: PyTorch {mode}, {name}: {failure}")
        about = {key: subject.about for key, subject in subjects.items()}
        results = take_turns(subjects, tools.rounds, 0.5)
    note_failures(results, name)
    for needed in commands:
        if "error" in results[needed]:
            raise Failure(f"{name}: {results[needed]['error']}")
    return about, results


def one_step(tools: Tools, name: str, size: Size, threads: int) -> dict:
    about, results = in_turns(tools, "steps", name, size, threads, {"peak": [tools.engine, "peak", str(threads)]})
    gflops = about["heed"]["flops"] / results["heed"]["milliseconds"] / 1e6
    peak = about["peak"]["flops"] / results["peak"]["milliseconds"] / 1e6
    return {"size": name, "threads": threads, **dataclasses.asdict(size), "parameters": about["heed"]["parameters"],
            "flops": about["heed"]["flops"], "gflops": gflops, "peak_gflops": peak, "of_peak": gflops / peak, **results}


# ---- evaluation -----------------------------------------------------------------------------------------------------

EVALUATED = {"M": SIZES["M"], "block 1024": Size(4, 128, 4, 1024, 4)}


def evaluate(tools: Tools) -> list[dict]:
    """The validation split of the text, a tenth of it: PyTorch without gradients, its batches training's."""
    say("The whole validation split, 20,000 characters. Memory is what the process needs beyond the model, in MB.")
    records, rows = [], []
    for name, size in EVALUATED.items():
        for threads in tools.threads:
            progress(f"evaluation, {name}, {threads} threads")
            _, results = in_turns(tools, "evaluate", name, size, threads, {})
            record = {"size": name, "threads": threads, **dataclasses.asdict(size), **results}
            records.append(record)
            eager, compiled, heed = (record.get(key) for key in ("eager", "compiled", "heed"))
            rows.append([f"{name}, {threads} thread{'s' * (threads > 1)}", cell(heed),
                         cell(heed, tables.megabytes, "peak_bytes"), cell(eager),
                         cell(eager, tables.megabytes, "peak_bytes"), cell(compiled),
                         tables.times(ratio(best(eager, compiled), heed))])
    say()
    say(tables.table(["evaluation", "Heed ms", "MB", "eager ms", "MB", "compiled ms", "to best"], rows))
    return records


# ---- generation -----------------------------------------------------------------------------------------------------

GENERATING = {"4 x 128": Size(4, 128, 4, 1024, 2), "6 x 384": Size(6, 384, 6, 1024, 2)}
# A prompt's tokens, and how many are generated after it; the last token of a prompt is the first that is asked for more.
GENERATED = [(1, 512), (1000, 1)]


def pair_in_turns(tools: Tools, heed: list, peer: list, what: str) -> dict[str, dict]:
    """Heed's and PyTorch's results for one thing, on one thread."""
    with contextlib.ExitStack() as stack:
        subjects = {"heed": Subject([tools.engine, *map(str, heed)])}
        stack.callback(subjects["heed"].close)
        if tools.torch_python:
            subjects["eager"] = tools.peer(peer[0], 1, *peer[1:])
            stack.callback(subjects["eager"].close)
        results = take_turns(subjects, tools.rounds, 0.5)
    note_failures(results, what)
    if "error" in results["heed"]:
        raise Failure(f"{what}: {results['heed']['error']}")
    return results


def generate(tools: Tools) -> list[dict]:
    """One row, one thread, keys and values kept on either side; PyTorch's as torch.inference_mode has it."""
    say("Generation of one row on one thread, keys and values kept. PyTorch is eager: lengths change with every token.")
    records, rows = [], []
    for name, size in GENERATING.items():
        for prompt, tokens in GENERATED:
            progress(f"generation, {name}, a prompt of {prompt}")
            overrides = [f"{key}={value}" for key, value in size.overrides().items()]
            results = pair_in_turns(tools, ["generate", prompt, tokens, RECIPE, f"data.path={tools.text}", *overrides],
                                    ["generate", prompt, tokens, 65, *size.words()[:4]], name)
            record = {"size": name, "prompt": prompt, "tokens": tokens, **dataclasses.asdict(size), **results}
            records.append(record)
            heed, eager = results["heed"], results.get("eager")
            each = tokens if tokens > 1 else prompt
            rows.append([f"{name}, " + (f"{tokens} tokens" if tokens > 1 else f"a prompt of {prompt}"), cell(heed),
                         f"{1000 * each / heed['milliseconds']:.0f}", cell(eager), tables.times(ratio(eager, heed))])
    say()
    say(tables.table(["generation", "Heed ms", "tokens/s", "eager ms", "to eager"], rows))
    return records


# ---- recurrent decoders ---------------------------------------------------------------------------------------------

# Attentions, each with its authors' score, at widths and lengths, with 32 rows: what it is called here and by the peer,
# and the options that make it.
DECODERS = [("bahdanau", "additive", "bahdanau", "bahdanau", []),
            ("luong", "dot", "luong", "luong", []),
            ("luong without feeding", "dot", "luong_without_feeding", "luong", ["recurrent.input_feeding=false"])]
DECODED = [(64, 64), (64, 256), (256, 64), (256, 256)]


def recurrent(tools: Tools) -> list[dict]:
    """Above the same decoder without attention, against Heed's own kernel on the same pairs: what going step by step
    costs."""
    say("Recurrent decoders (GRU, 32 rows) over a source as long, forward and backward, on one thread. `pairs` is")
    say("attention of the same queries, keys and values at once; `over` what attention adds, in times of that.")
    records, rows = [], []
    for width, length in DECODED:
        alone = pair_in_turns(tools, ["decoder", "none", width, 32, length], ["decoder", "none", width, 32, length],
                              "a decoder without attention")
        for name, score, peer, attention, options in DECODERS:
            progress(f"{name}, width {width}, length {length}")
            size = [width, 32, length]
            results = pair_in_turns(tools, ["decoder", attention, *size, f"attention.score={score}", *options],
                                    ["decoder", peer, *size], name)
            pairs = take_one(tools, ["attention", score, 32, 1, length, width, "full", 1, 0])
            over = (results["heed"]["milliseconds"] - alone["heed"]["milliseconds"]) / pairs["milliseconds"]
            records.append({"attention": name, "score": score, "width": width, "length": length,
                            "alone": alone["heed"], "pairs": pairs, "over": over, **results})
            rows.append([f"{name}, {score}, width {width}, length {length}", cell(results["heed"]),
                         cell(alone["heed"]), cell(pairs), tables.times(over), cell(results.get("eager")),
                         tables.times(ratio(results.get("eager"), results["heed"]))])
    say()
    say(tables.table(["decoder", "Heed ms", "without", "pairs", "over", "eager ms", "to eager"], rows))
    return records


def take_one(tools: Tools, words: list) -> dict:
    subject = Subject([tools.engine, *map(str, words)])
    try:
        return take_turns({"heed": subject}, tools.rounds, 0.2)["heed"]
    finally:
        subject.close()


# ---- attention ------------------------------------------------------------------------------------------------------

SCORES = ["dot", "scaled_dot", "cosine", "multiplicative", "additive"]


def attention_cases() -> list[dict]:
    """Every score at width 32, and the inner product's longest case and other width."""
    shapes = [(16, 4, 128), (4, 4, 512), (1, 4, 2048)]
    cases = [(score, *shape, 32) for score in SCORES for shape in shapes]
    cases += [("dot", *shape, 64) for shape in shapes] + [("dot", 1, 4, 8192, width) for width in (32, 64)]
    return [dict(zip(("score", "batch", "heads", "length", "width"), case), causal=causal)
            for case in cases for causal in (False, True)]


def attention(tools: Tools) -> list[dict]:
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
        say()
        say(tables.table([f"{threads} thread{'s' * (threads > 1)}", "Heed ms", "MB", "eager ms", "MB", "compiled ms",
                          "to best"], rows))
    return records + long_rows(tools) + formula_rows(tools)


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
                    words = [score, "1", "4", str(length), "32", "causal", "1", "0"]
                    subjects = {"heed": Subject([tools.engine, "attention", *words, *formula]),
                                "without": Subject([tools.engine, "attention", *words, *without])}
                    case = dict(zip(("score", "batch", "heads", "length", "width"), (score, 1, 4, length, 32)),
                                causal=True)
                    try:
                        if peer and score == "scaled_dot":
                            peer.ask(json.dumps({**case, "compiled": False, "formula_name": name}))
                            subjects["eager"] = peer
                        turns = take_turns(subjects, tools.rounds, 0.15, enough=10)
                    finally:
                        for subject in subjects.values():
                            if subject is not peer:
                                subject.close()
                    note_failures(turns, f"{name}, {score}, length {length}")
                    records.append({**case, "formula": formula, "without": without, "threads": 1, **turns})
                    eager = turns.get("eager")
                    rows.append([f"{name}, {score}, T = {length}", cell(turns["heed"]),
                                 cell(turns["heed"], tables.megabytes, "peak_bytes"),
                                 tables.times(ratio(turns["heed"], turns["without"])), cell(eager),
                                 cell(eager, tables.megabytes, "peak_bytes"),
                                 tables.times(ratio(eager, turns["heed"]) if eager else None)])
    finally:
        if peer:
            peer.close()
    say()
    say(tables.table(["by formula, 1 x 4 x T x 32, causal, 1 thread", "Heed ms", "MB", "to without", "eager ms", "MB",
                      "eager to Heed"], rows))
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
            words = [*map(str, list(case.values())[:5]), "causal", "1", "0", *overrides]
            heed = Subject([tools.engine, "attention", *words])
            try:
                result = take_turns({"heed": heed}, 1, 0.01, enough=1)["heed"]
            finally:
                heed.close()
            if "error" in result:
                raise Failure(f"attention {name}, length {length}: {result['error']}")
            records.append({**case, "overrides": overrides, "threads": 1, "heed": result})
        bytes_at = [r["heed"]["peak_bytes"] for r in records[-len(lengths):]]
        times_at = [r["heed"]["milliseconds"] for r in records[-len(lengths):]]
        rows.append([name, *(tables.megabytes(b) for b in bytes_at), tables.times(bytes_at[-1] / bytes_at[0]),
                     *(tables.milliseconds(t) for t in times_at)])
    say()
    say(tables.table(["1 x 4 x T x 32, causal, 1 thread", *(f"MB, T = {n}" for n in lengths), "grows",
                      *(f"ms, T = {n}" for n in lengths)], rows))
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
    return [f"{record['score']}, {shape}, {'causal' if record['causal'] else 'full'}", cell(heed),
            cell(heed, tables.megabytes, "peak_bytes"), cell(eager), cell(eager, tables.megabytes, "peak_bytes"),
            cell(compiled), tables.times((best(eager, compiled) or {}).get("times_heed"))]


def one_attention(tools: Tools, peer: Subject | None, case: dict, threads: int) -> dict:
    words = [str(case[key]) for key in ("score", "batch", "heads", "length", "width")]
    heed = Subject([tools.engine, "attention", *words, "causal" if case["causal"] else "full", str(threads), "0"])
    results = {}
    try:
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
            turns = take_turns({"heed": heed, mode: peer}, tools.rounds, 0.15, enough=10)
            note_failures(turns, where)
            results.setdefault("heed", turns["heed"])
            results[mode] = {**turns[mode], "times_heed": ratio(turns[mode], turns["heed"])}
            if mode == "compiled":
                results[mode].pop("peak_bytes", None)  # the compiler's own memory is in it
        if "heed" not in results:
            results = take_turns({"heed": heed}, tools.rounds, 0.15)
    finally:
        heed.close()
    if "error" in results["heed"]:
        raise Failure(f"attention {' '.join(words)}: {results['heed']['error']}")
    return {**case, "threads": threads, **results}


# ---- streaming ------------------------------------------------------------------------------------------------------

COMPOSED = {"64 queries": 64, "an entry": None}  # at a time; None: all of the length


def streaming(tools: Tools) -> list[dict]:
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
                words = [score, str(batch), "4", str(length), "32", mask, "1"]
                subjects = {}
                try:
                    for way, queries in {"streams": 0, **COMPOSED}.items():
                        number = str(length if queries is None else queries)
                        subjects[way] = Subject([tools.engine, "attention", *words, number, *overrides])
                    turns = take_turns(subjects, tools.rounds, 0.15)
                finally:
                    for subject in subjects.values():
                        subject.close()
                note_failures(turns, name)
                records.append({"score": score, "overrides": overrides, "batch": batch, "length": length,
                                "mask": mask, **turns})
                row = [name, cell(turns["streams"]), cell(turns["streams"], tables.megabytes, "peak_bytes")]
                for way in COMPOSED:
                    row += [tables.times(ratio(turns[way], turns["streams"])),
                            cell(turns[way], tables.megabytes, "peak_bytes")]
                rows.append(row)
    say()
    say(tables.table(["", "streams, ms", "MB", *(word for way in COMPOSED for word in (f"to {way}", "MB"))], rows))
    return records


# ---- sweep ----------------------------------------------------------------------------------------------------------

RUNS, STEPS = 20, 200


def sweep(tools: Tools) -> dict:
    size = SIZES["S"]
    say(f"A sweep: {RUNS} runs of S, {STEPS} steps each, two processes at a time, start-up, evaluation and checkpoints")
    say("included.")
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as place:
        folder = pathlib.Path(place)
        config = folder / "sweep.toml"
        config.write_text(sweep_config(size, tools.text))
        seconds: dict[str, list[float]] = {
            "heed": [], "a process for each run": [], "two processes, ten runs each": []}
        for turn in range(2):
            out = folder / f"runs-{turn}"
            progress(f"turn {turn + 1} of 2")
            seconds["heed"].append(timed(lambda: checked(
                [str(tools.build / "heed"), "run", str(config), "--jobs", "2", "--threads", "1", "--out", str(out)])))
            if not tools.torch_python:
                continue
            try:
                seconds["a process for each run"].append(timed(lambda: peers(tools, folder, size, 1)))
                seconds["two processes, ten runs each"].append(timed(lambda: peers(tools, folder, size, RUNS // 2)))
            except Failure as failure:
                say(f"  left out: {failure}")
    starts = [timed(lambda: checked([str(tools.build / "heed"), "--version"])) for _ in range(30)]
    medians = {name: statistics.median(values) for name, values in seconds.items() if values}
    rows = [["Heed" if name == "heed" else f"PyTorch, {name}", f"{value:.1f}",
             "" if name == "heed" else tables.times(value / medians["heed"])] for name, value in medians.items()]
    say()
    say(tables.table(["sweep", "seconds", "to Heed"], rows))
    say(f"heed --version takes {1e3 * statistics.median(starts):.1f} ms")
    return {"runs": RUNS, "steps": STEPS, **dataclasses.asdict(size), "seconds": seconds,
            "start_milliseconds": 1e3 * statistics.median(starts)}


def sweep_config(size: Size, text: pathlib.Path) -> str:
    values = {"data.path": str(text), **size.overrides(), "train.steps": STEPS, "sweep.seeds": list(range(RUNS))}
    # Dotted keys, so that one list of values serves here as on a command line; strings are written as TOML's are.
    return "\n".join([f"extends = [{json.dumps(str(RECIPE))}]", 'name = "bench"',
                      *(f"{key} = {json.dumps(value)}" for key, value in values.items())]) + "\n"


def timed(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def checked(command: list[str]):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        raise Failure(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")


def peers(tools: Tools, folder: pathlib.Path, size: Size, each: int):
    """The sweep's runs in PyTorch, `each` to a process, two processes at a time."""
    waiting = [range(first, first + each) for first in range(0, RUNS, each)]
    running: list[subprocess.Popen] = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                words = [tools.torch_python, TRAIN, tools.text, folder, *size.words(), STEPS, *waiting.pop(0)]
                running.append(subprocess.Popen(list(map(str, words)), env=environment, stdin=subprocess.DEVNULL,
                                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            ended = [process for process in running if process.poll() is not None]
            if any(process.returncode for process in ended):
                raise Failure(f"PyTorch's sweep: a run ended with {max(abs(p.returncode) for p in ended)}")
            running = [process for process in running if process not in ended]
            time.sleep(0.005)
    finally:
        for process in running:
            process.kill()
            process.wait()


# ---- processes and instructions ---------------------------------------------------------------------------------------

# Steps that take some seconds on a slow machine; the first half is not counted.
STEPS_OF_RUN = {"S": 1000, "M": 400, "L": 40}


def processes(tools: Tools) -> list[dict] | None:
    if not shutil.which("mpirun") or not (tools.build / "libheed_mpi.so").exists():
        say("Processes are left out: they need mpirun, and Heed built with Boost.MPI (Debian: libboost-mpi-dev,")
        say("openmpi-bin).")
        return None
    say("Training steps on two threads of a process, and by two processes of a thread each (mpirun -np 2), in turns.")
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    heed = str(tools.build / "heed")
    return steps_by_way(tools, {"two threads": ([heed], ["--threads", "2"]),
                                "two processes": (["mpirun", *root, "-np", "2", heed], ["--threads", "1"])})


def instructions(tools: Tools) -> list[dict]:
    heed = str(tools.build / "heed")
    ways, refused = {"the build's": ([heed], ["--threads", "2"])}, []
    for kernels in ("avx512", "avx2", "baseline"):
        words = [f"engine.kernels={kernels}", "--threads", "2"]
        check = subprocess.run([heed, "check", str(RECIPE), f"data.path={tools.text}", words[0]], capture_output=True,
                               text=True, env={**os.environ, "HEED_LAUNCHER": str(HERE.parent / "heed")})
        if check.returncode == 0:
            ways[kernels] = ([heed], words)
        else:
            refused.append(check.stderr.strip().splitlines()[0])
    say("Training steps on two threads with the build's own instructions, and with those of a name (engine.kernels), in")
    say("turns.")
    for why in refused:
        say(f"Left out: {why}")
    return steps_by_way(tools, ways)


def steps_by_way(tools: Tools, ways: dict[str, tuple[list[str], list[str]]]) -> list[dict]:
    """Milliseconds of a training step in runs that are started in several ways: words before `run` and at its end."""
    results = []
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as place:
        for name, size in SIZES.items():
            config = str(config_of_steps(place, name, size, tools.text))
            seconds: dict[str, list[float]] = {way: [] for way in ways}
            for turn in range(tools.rounds):
                for number, (way, (before, after)) in enumerate(ways.items()):
                    progress(f"{name}: turn {turn + 1} of {tools.rounds}")
                    out = pathlib.Path(place) / f"{name}-{number}-{turn}"
                    checked([*before, "run", config, "--out", str(out), *after])
                    seconds[way].append(step_seconds(out))
            milliseconds = {way: 1e3 * statistics.median(values) for way, values in seconds.items()}
            results.append({"size": name, **dataclasses.asdict(size), "milliseconds": milliseconds, "seconds": seconds})
    first, *others = ways
    say()
    say(tables.table(["step", *(f"{way}, ms" for way in ways), *(f"{way}: ratio" for way in others)],
                     [[result["size"], *(f"{result['milliseconds'][way]:.2f}" for way in ways),
                       *(f"{result['milliseconds'][way] / result['milliseconds'][first]:.2f}" for way in others)]
                      for result in results]))
    return results


def config_of_steps(place: str, name: str, size: Size, text: pathlib.Path) -> pathlib.Path:
    steps = STEPS_OF_RUN[name]
    values = {"data.path": str(text), **size.overrides(), "train.steps": steps, "train.log_every": steps // 2,
              "train.evaluate_every": 0, "train.evaluate_batches": 1, "train.checkpoint_every": 0}
    file = pathlib.Path(place) / f"{name}.toml"
    file.write_text("\n".join([f"extends = [{json.dumps(str(RECIPE))}]", 'name = "steps"',
                               *(f"{key} = {json.dumps(value)}" for key, value in values.items())]) + "\n")
    return file


def step_seconds(out: pathlib.Path) -> float:
    """Of a step in the second half of the run."""
    lines = [json.loads(line) for line in next(out.glob("*/metrics.jsonl")).read_text().splitlines()]
    half, whole = [line for line in lines if "train_loss" in line][-2:]
    return (whole["step_seconds"] - half["step_seconds"]) / (whole["step"] - half["step"])


# ---- scale ----------------------------------------------------------------------------------------------------------


def scale(tools: Tools) -> list[dict]:
    say(f"A folder with {tools.folders} finished runs; CPU time, user's and system's.")
    figures = folders.measure(str(tools.build / "heed"), tools.folders, progress)
    say()
    say(folders.table(figures))
    return [dataclasses.asdict(figure) for figure in figures]


# ---- sweeps ---------------------------------------------------------------------------------------------------------


def sweeps(tools: Tools) -> dict:
    say("What a sweep costs beside its training. Run folders are written, not trained.")
    figures, cost = of_sweeps.measure(str(tools.build / "heed"), progress)
    say()
    say(of_sweeps.table(figures, cost))
    return {"commands": [dataclasses.asdict(figure) for figure in figures], "run": dataclasses.asdict(cost)}


# ---- data -----------------------------------------------------------------------------------------------------------


def data(tools: Tools) -> list[dict]:
    say(f"Data made for it: a text of {tools.megabytes} MB, and {tools.pairs} lines with their translations.")
    figures = large_data.measure(str(tools.build / "heed"), tools.megabytes, tools.pairs, progress)
    say()
    say(large_data.table(figures))
    return [dataclasses.asdict(figure) for figure in figures]


# ---- kernels --------------------------------------------------------------------------------------------------------


def kernels(tools: Tools) -> dict | None:
    program = tools.build / "benchmarks" / "bench_kernels"
    if not program.exists():
        say("Kernels are left out: they need Google Benchmark (Debian: libbenchmark-dev) when Heed is built.")
        return None
    say("Kernels, on one thread, in CPU time; all but gemm and adamw forward and backward.")
    progress("about a minute")
    done = subprocess.run([str(program), "--benchmark_format=json", "--benchmark_min_time=0.2"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"bench_kernels ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    result = json.loads(done.stdout)
    rows = []
    for b in result["benchmarks"]:
        gflops, bandwidth = b.get("FLOPS"), b.get("bytes_per_second")
        rate = f"{gflops / 1e9:.1f} GFLOP/s" if gflops else f"{bandwidth / 1e9:.1f} GB/s" if bandwidth else \
            f"{1e9 / b['elements']:.2f} ns an element" if b.get("elements") else ""
        rows.append([b["name"], f"{b['cpu_time'] / 1e3:.1f}", rate])
    say()
    say(tables.table(["kernel", "microseconds", "rate"], rows))
    return result
