"""Recurrences over a matrix of state in PyTorch, by their definition over chunks: what a user of a CPU has."""

import math

import torch
from torch import nn

CHUNK = 64


def recurrence(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """S_t = diag(exp(g_t)) S_(t-1) + k_t v_t^T, o_t = S_t^T q_t: q, k, g [B, H, T, K], v [B, H, T, V].

    The decay by channel stands in sums of logarithms that are halved at the chunk's middle, so that nothing overflows
    with decays as near to 1 as those of gated linear attention.
    """
    batch, heads, length, keys = q.shape
    state = q.new_zeros(batch, heads, keys, v.shape[3])
    lower = torch.ones(CHUNK, CHUNK, dtype=torch.bool).tril()
    out = []
    for begin in range(0, length, CHUNK):
        here = slice(begin, begin + CHUNK)
        qs, ks, vs, total = q[:, :, here], k[:, :, here], v[:, :, here], g[:, :, here].cumsum(2)
        middle, end = total[:, :, total.shape[2] // 2, None], total[:, :, -1:]
        pairs = (qs * (total - middle).exp()) @ (ks * (middle - total).exp()).transpose(2, 3)
        pairs = pairs.masked_fill(~lower[:qs.shape[2], :qs.shape[2]], 0)
        out.append(pairs @ vs + (qs * total.exp()) @ state)
        state = end.exp().transpose(2, 3) * state + (ks * (end - total).exp()).transpose(2, 3) @ vs
    return torch.cat(out, 2)


class GatedLinearAttention(nn.Module):
    """As mixer.kind = "gla" (Yang et al. 2023, arXiv 2312.06635)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.keys = heads, width // (2 * heads)
        self.qkv = nn.Linear(width, 2 * width, bias=False)
        self.low, self.high = nn.Linear(width, 16, bias=False), nn.Linear(16, width // 2)
        self.gate, self.output = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.norm = nn.RMSNorm(width // heads, eps=1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split([width // 2, width // 2, width], 2)
        g = nn.functional.logsigmoid(self.high(self.low(x))) / 16
        q, k, v, g = (y.view(batch, length, self.heads, -1).transpose(1, 2) for y in (q, k, v, g))
        y = self.norm(recurrence(q / math.sqrt(self.keys), k, v, g)).transpose(1, 2).reshape(batch, length, width)
        return self.output(y * nn.functional.silu(self.gate(x)))


class Mixer:
    """Forward and backward of a mixer, to its input and its parameters."""

    def __init__(self, batch: int, length: int, width: int, heads: int):
        self.mixer = GatedLinearAttention(width, heads)
        self.x = torch.randn(batch, length, width, requires_grad=True)
        self.upstream = torch.randn(batch, length, width)

    def step(self):
        self.x.grad = None
        self.mixer.zero_grad()
        self.mixer(self.x).backward(self.upstream)
