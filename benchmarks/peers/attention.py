"""The five scores in PyTorch, attention forward and backward, as a good user would write them."""

import torch
import torch.nn.functional as F


def additive_eager(q, k, v, parameters, causal):
    """v . tanh(Wq q + Wk k), composed, since there is no fused kernel.

    The product with w is a GEMV over what tanh gave.
    """
    wq, wk, w = parameters
    hidden = torch.tanh((q @ wq).unsqueeze(3) + (k @ wk).unsqueeze(2))
    batch, heads, queries, keys, width = hidden.shape
    w = w.view(1, heads, width, 1).expand(batch, heads, width, 1)
    scores = (hidden.view(batch, heads, queries * keys, width) @ w).view(batch, heads, queries, keys)
    return weigh(scores, v, causal)


def additive_compiled(q, k, v, parameters, causal):
    """The same for torch.compile, which fuses a sum and not a GEMV."""
    wq, wk, w = parameters
    hidden = torch.tanh((q @ wq).unsqueeze(3) + (k @ wk).unsqueeze(2))
    return weigh((hidden * w.view(1, w.shape[0], 1, 1, w.shape[1])).sum(-1), v, causal)


def weigh(scores, v, causal):
    if causal:
        shape = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(shape, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


def dot(q, k, v, parameters, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=1.0)


def scaled_dot(q, k, v, parameters, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def cosine(q, k, v, parameters, causal):
    return F.scaled_dot_product_attention(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, is_causal=causal,
                                          scale=10.0)


def multiplicative(q, k, v, parameters, causal):
    return F.scaled_dot_product_attention(q @ parameters[0], k, v, is_causal=causal, scale=1.0)


def formula(name: str, heads: int, length: int):
    """Scaled dot products that become something else, with all scores in memory. Gives the function, and parameters."""
    i = torch.arange(length)
    distances = i[:, None] - i[None, :]
    hidden = {"window": distances.abs() > 256}.get(name, torch.zeros((), dtype=torch.bool)) | (distances < 0)
    slopes = [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]
    parameters = [torch.tensor(slopes).view(heads, 1, 1).requires_grad_()] if name == "alibi" else []
    far = distances.abs().float()

    def attend(q, k, v, parameters, causal):
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        if name == "soft capping":
            scores = 30 * torch.tanh(scores / 30)
        if name == "alibi":
            scores = scores - parameters[0] * far
        return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ v

    return attend, parameters


def heeds(score):
    """Heed's operator: the same arguments as those of the functions above."""
    from heed.torch import attention, parameter_shapes

    def attend(q, k, v, parameters, causal):
        names = parameter_shapes(q.shape[1], q.shape[3], score=score)
        return attention(q, k, v, score=score, causal=causal, parameters=dict(zip(names, parameters)))

    return attend


class Case:
    """Attention of one shape; `run` is forward and backward to queries, keys, values and the score's parameters."""

    def __init__(self, score: str, batch: int, heads: int, length: int, width: int, causal: bool, compiled: bool,
                 formula_name: str = "", operator: bool = False):
        q, k, v = (torch.randn(batch, heads, length, width, requires_grad=True) for _ in range(3))
        matrix = lambda: (0.1 * torch.randn(heads, width, width)).requires_grad_()
        parameters = {
            "additive": lambda: [matrix(), matrix(), (0.1 * torch.randn(heads, width)).requires_grad_()],
            "multiplicative": lambda: [matrix()],
        }.get(score, list)()
        functions = {
            "additive": additive_compiled if compiled else additive_eager,
            "dot": dot, "scaled_dot": scaled_dot, "cosine": cosine, "multiplicative": multiplicative,
        }
        function = functions[score]
        if formula_name:
            function, parameters = formula(formula_name, heads, length)
        if operator:
            function = heeds(score)
        if compiled:
            torch._dynamo.reset()
            function = torch.compile(function, dynamic=False)
        self.call = lambda: function(q, k, v, parameters, causal)
        self.inputs = [q, k, v, *parameters]
        self.upstream = torch.randn(batch, heads, length, width)

    def run(self):
        torch.autograd.grad(self.call(), self.inputs, self.upstream)
