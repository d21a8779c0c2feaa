"""Queries, keys, values and parameters that the tests of heed.torch share."""

import torch
from heed.torch import attention, parameter_shapes

HEADS, QUERIES, KEYS, WIDTH = 4, 37, 37, 8


def inputs(dtype, key_heads=HEADS, queries=QUERIES, keys=KEYS, batch=3, seed=0):
    draw = torch.Generator().manual_seed(seed)
    shapes = (batch, HEADS, queries, WIDTH), (batch, key_heads, keys, WIDTH), (batch, key_heads, keys, 6)
    return [torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype).requires_grad_() for shape in shapes]


def drawn(shapes, dtype, seed=1):
    draw = torch.Generator().manual_seed(seed)
    return {name: (torch.randn(shape, generator=draw, dtype=torch.float64) / 2).to(dtype).requires_grad_()
            for name, shape in shapes.items()}


def additive_call(dtype=torch.float64, batch=2, queries=5):
    q, k, v = inputs(dtype, queries=queries, keys=queries, batch=batch)
    parameters = list(drawn(parameter_shapes(HEADS, WIDTH, score="additive"), dtype).values())

    def call(q, k, v, query, key, w):
        return attention(q, k, v, score="additive", query=query, key=key, v=w, causal=True)

    return call, [q, k, v, *parameters]
