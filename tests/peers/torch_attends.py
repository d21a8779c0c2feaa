#!/usr/bin/env python3
"""A checkpoint's attention in torch.nn.MultiheadAttention: the same outputs as Heed's.

The model around it is written in PyTorch as well. Two things that Heed measures hang on attention's outputs and
weights, and are compared: the validation loss, and the entropy of every head (`heed inspect --json`).

Usage: torch_attends.py [HEED]
"""

import json
import pathlib
import tempfile

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

import trained

LAYERS, WIDTH, HEADS, BLOCK = 2, 32, 4, 24


def attention_from(weights: dict[str, torch.Tensor], prefix: str) -> nn.MultiheadAttention:
    """docs/how-to/other-tools.md has this map as a table."""
    attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    attention.load_state_dict({"in_proj_weight": weights[prefix + ".qkv.weight"],
                               "in_proj_bias": weights[prefix + ".qkv.bias"],
                               "out_proj.weight": weights[prefix + ".output.weight"],
                               "out_proj.bias": weights[prefix + ".output.bias"]})
    return attention.double().eval()


def logits_and_weights(weights: dict[str, torch.Tensor], tokens: torch.Tensor):
    """tokens: [B, T]. Logits [B, T, V], and for each block attention's weights [B, H, T, T]."""
    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, [WIDTH], weights[name + ".weight"], weights[name + ".bias"])

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, weights[name + ".weight"], weights[name + ".bias"])

    length = tokens.shape[1]
    ahead = torch.ones(length, length, dtype=torch.bool).triu(1)  # PyTorch's masks say where not to look
    x = weights["embedding.weight"][tokens] + weights["position.weight"][:length]
    seen = []
    for block in range(LAYERS):
        name = f"blocks.{block}"
        normed = norm(x, name + ".attention_norm")
        attended, of_heads = attention_from(weights, name + ".attention")(
            normed, normed, normed, attn_mask=ahead, average_attn_weights=False)
        seen.append(of_heads)
        x = x + attended
        x = x + linear(F.gelu(linear(norm(x, name + ".ffn_norm"), name + ".ffn.expand")), name + ".ffn.project")
    return F.linear(norm(x, "final_norm"), weights["embedding.weight"]), seen


def validation_windows(text: str):
    """The last tenth in windows that don't overlap: (tokens, targets), the last one shorter."""
    alphabet = {character: i for i, character in enumerate(sorted(set(text)))}
    tokens = torch.tensor([alphabet[character] for character in text])
    part = tokens[int(0.9 * len(tokens)):]
    for begin in range(0, len(part) - 1, BLOCK):
        size = min(BLOCK, len(part) - 1 - begin)
        yield part[begin:begin + size][None], part[begin + 1:begin + 1 + size][None]


def main() -> None:
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        place = pathlib.Path(name)
        run = trained.train(place)
        weights = {key: value.double() for key, value in load_file(max(run.glob("*.safetensors"))).items()}
        loss = count = 0
        entropy = torch.zeros(LAYERS, HEADS, dtype=torch.float64)
        for tokens, targets in validation_windows((place / "text.txt").read_text()):
            logits, seen = logits_and_weights(weights, tokens)
            loss += F.cross_entropy(logits[0], targets[0], reduction="sum").item()
            count += targets.numel()
            entropy += torch.stack([torch.special.entr(w).sum((0, 2, 3)) for w in seen])
        entropy /= count
        measured = trained.metrics(run)["val_loss"][-1][1]
        assert abs(loss / count - measured) < 1e-5, f"val_loss {loss / count} in PyTorch, {measured} in Heed"
        heads = json.loads(trained.heed("inspect", run, "--json"))["result"]["heads"]
        assert len(heads) == LAYERS * HEADS
        for head in heads:
            block = int(head["attention"].split(".")[1])
            theirs = entropy[block, head["head"]].item()
            assert abs(theirs - head["entropy"]) < 1e-4, f"{head}: {theirs} in PyTorch"
    print(f"ok: val_loss {measured:.6f} and the entropies of {len(heads)} heads are PyTorch's, over {count} tokens")


main()
