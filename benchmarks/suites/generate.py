"""Generation of one sequence, and prompts, against PyTorch with a cache."""

import dataclasses

import tables
from shared import Size, Tools, cell, in_turns, progress, ratio, say, say_table

GENERATING = {"4 x 128": Size(4, 128, 4, 1024, 2), "6 x 384": Size(6, 384, 6, 1024, 2)}
# A prompt's tokens, and how many are generated after it; a prompt's last token is the first that is asked for more.
GENERATED = [(1, 512), (1000, 1)]


def measure(tools: Tools) -> list[dict]:
    """One sequence, one thread, keys and values kept on either side; PyTorch's as torch.inference_mode has it."""
    say("Generation of one sequence on one thread, keys and values kept. PyTorch is eager: lengths change with every "
        "token.")
    found = records(tools)
    rows = []
    for record in found:
        heed, eager, prompt, tokens = record["heed"], record.get("eager"), record["prompt"], record["tokens"]
        each = tokens if tokens > 1 else prompt
        what = f"{tokens} tokens" if tokens > 1 else f"a prompt of {prompt}"
        rows.append([f"{record['size']}, {what}", cell(heed), f"{1000 * each / heed['milliseconds']:.0f}", cell(eager),
                     tables.times(ratio(eager, heed))])
    say_table(["generation", "Heed ms", "tokens/s", "eager ms", "to eager"], rows)
    return found


def records(tools: Tools) -> list[dict]:
    out = []
    for name, size in GENERATING.items():
        for prompt, tokens in GENERATED:
            progress(f"generation, {name}, a prompt of {prompt}")
            _, results = in_turns(tools, name, {"heed": ["generate", prompt, tokens, *size.config_words(tools)]},
                                  {"eager": ["generate", 1, prompt, tokens, 65, *size.words()[:4]]})
            out.append({"size": name, "prompt": prompt, "tokens": tokens, **dataclasses.asdict(size), **results})
    return out
